//! The worker process: one job, from the driver to the log.
//!
//! A launch that makes more records than its buffer holds is run again, the contents of all buffers restored: with a
//! larger buffer up to [`MOST_RECORDS`], what [`RECORDS_VARIABLE`] says or what the device allows, then in slices of its work-groups, of which each run
//! logs one. A kernel whose accesses depend on the schedule may do something else in each of these runs; every
//! work-group is logged from one of them.

use super::device::{Buffer, Device, DeviceError, Kernel, Program};
use super::job::{self, Answer, Job, Launch, Value, Work};
use super::log::{Begun, Log, Told, VARIABLES};
use super::records::{BYTES, Record};
use super::tried;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Bytes before the records of the device's log.
pub(super) const HEAD: usize = 4096;
/// Records that there is room for at first, by how much that grows, and where it ends (512 MiB).
const FIRST_RECORDS: u64 = 1 << 19;
const GROWTH: u64 = 8;
const MOST_RECORDS: u64 = 1 << 24;
/// The variable by which there is room for fewer, where the device's memory is scarce.
pub(super) const RECORDS_VARIABLE: &str = "RACEPROOF_OPENCL_RECORDS";
/// Runs of one launch.
const MOST_RUNS: usize = 4096;

/// Does the job that the file at `path` holds, and writes the answer beside it.
pub fn serve(path: &Path) -> ExitCode {
    // A kernel that never ends would otherwise outlive whoever started it and was killed.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let answer = match job::read::<Work>(path) {
        Ok(Work::Run(job)) => run(&job).unwrap_or_else(|answer| answer),
        Ok(Work::Trials(offer)) => tried::serve(path, &offer).unwrap_or_else(|answer| answer),
        Err(error) => Answer::Failed(format!("the job cannot be read: {error}")),
    };
    match job::write(&path.with_extension("answer"), &answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn failed(error: impl std::fmt::Display) -> Answer {
    Answer::Failed(error.to_string())
}

fn run(job: &Job) -> Result<Answer, Answer> {
    let device = Device::open().map_err(|error| Answer::NoDriver(error.to_string()))?;
    // Whoever reads the log of a run wants to know on what it was made; it goes where all such notes go.
    let _ = writeln!(std::io::stderr(), "note: the kernels run on {}", device.name());
    let program = device.build(&job.text, &job.options).map_err(|error| Answer::Refused(error.to_string()))?;
    let buffers: Vec<Buffer> = job
        .buffers
        .iter()
        .map(|described| {
            let buffer = device.buffer(described.contents.len())?;
            device.write(&buffer, 0, &described.contents)?;
            Ok(buffer)
        })
        .collect::<Result<_, DeviceError>>()
        .map_err(failed)?;
    let mut log = Log::new(&job.report, job.log.as_deref()).map_err(failed)?;
    log.sites(&job.sites).map_err(failed)?;
    for buffer in &job.buffers {
        log.buffer(&buffer.name, buffer.contents.len() as u64);
    }
    // Whatever becomes of the run, this is a log, and it has no end yet.
    log.flush().map_err(failed)?;
    for launch in &job.launches {
        log.tell(&Told::Launch(launch)).map_err(failed)?;
        let mut run = Run { job, device: &device, buffers: &buffers, launch, log: &mut log };
        run.launch(&program)?;
    }
    log.close(0).map_err(failed)?;
    Ok(Answer::Done)
}

/// A launch being run.
struct Run<'a> {
    job: &'a Job,
    device: &'a Device,
    buffers: &'a [Buffer],
    launch: &'a Launch,
    log: &'a mut Log,
}

/// The records of one run.
enum Records {
    All(Vec<Record>),
    /// There were more than there was room for.
    TooMany,
}

impl Run<'_> {
    fn launch(&mut self, program: &Program) -> Result<(), Answer> {
        let kernel = program.kernel(&self.launch.kernel).map_err(|error| self.failed(error))?;
        set_arguments(&kernel, self.launch, self.buffers).map_err(|error| self.failed(error))?;
        let all = self.launch.extents.grid.iter().fold(1u64, |product, &extent| product.saturating_mul(extent.into()));
        // A record has 32 bits for its work-group.
        if all > u64::from(u32::MAX) {
            return Err(self.failed("more than 4,294,967,295 work-groups cannot be logged"));
        }
        if !self.log.is_kept() {
            let (_, head) = self.run(&kernel, (0, 0), 1)?;
            return if head.is_empty() { Err(failed("the device gave no log back")) } else { Ok(()) };
        }
        let before = self.contents()?;
        let mut begun: Option<Begun> = None;
        let limit = (self.device.largest_buffer() / BYTES as u64).clamp(1 << 10, most_records());
        let (mut room, mut first, mut last) = (FIRST_RECORDS.min(limit), 0, all);
        for _ in 0..MOST_RUNS {
            let (records, head) = self.run(&kernel, (first, last), room)?;
            match records {
                Records::TooMany if room < limit => room = (room * GROWTH).min(limit),
                Records::TooMany if last - first <= 1 => {
                    return Err(
                        self.failed(format!("one work-group makes more than {room} accesses, which is the limit"))
                    );
                }
                Records::TooMany => last = first + (last - first) / 2,
                Records::All(records) => {
                    let begun = begun.get_or_insert_with(|| self.log.begin(self.launch, 0, &head[VARIABLES]));
                    self.log.keep(begun, self.launch, &self.job.barriers, records).map_err(failed)?;
                    if last == all {
                        return self.log.finish(begun).map_err(failed);
                    }
                    (first, last) = (last, (last + 2 * (last - first)).min(all));
                }
            }
            self.restore(&before)?;
        }
        Err(self.failed(format!("its log needs more than {MOST_RUNS} runs; launch fewer work-groups")))
    }

    fn failed(&self, error: impl std::fmt::Display) -> Answer {
        Answer::Failed(format!("{}: {error}", self.launch.kernel))
    }

    /// Runs the kernel once; work-groups from `first` to before `last` log. Gives the head back, too.
    fn run(&self, kernel: &Kernel, (first, last): (u64, u64), room: u64) -> Result<(Records, Vec<u64>), Answer> {
        let (device, failed) = (self.device, |error: DeviceError| self.failed(error));
        let log = device.buffer(HEAD + room as usize * BYTES).map_err(failed)?;
        let bytes_of = |number: usize| self.job.buffers[number].contents.len() as u64;
        let head = head(self.launch, (first, last), room, &bytes_of);
        device.write(&log, 0, &head).map_err(failed)?;
        kernel.set_buffer(self.launch.arguments.len(), &log).map_err(failed)?;
        device.run(kernel, self.launch.extents.grid, self.launch.extents.block).map_err(failed)?;
        let mut head = vec![0; HEAD];
        device.read(&log, 0, &mut head).map_err(failed)?;
        let head = words_of(&head);
        let made = head[0] & u64::from(u32::MAX);
        if made >= room && first < last {
            return Ok((Records::TooMany, head));
        }
        let mut records = vec![0; made.min(room) as usize * BYTES];
        device.read(&log, HEAD, &mut records).map_err(failed)?;
        Ok((Records::All(Record::read_all(&records)), head))
    }

    /// What all buffers hold.
    fn contents(&self) -> Result<Vec<Vec<u8>>, Answer> {
        let read = |(buffer, described): (&Buffer, &job::Buffer)| {
            let mut bytes = vec![0; described.contents.len()];
            self.device.read(buffer, 0, &mut bytes).map(|()| bytes)
        };
        self.buffers
            .iter()
            .zip(&self.job.buffers)
            .map(read)
            .collect::<Result<_, _>>()
            .map_err(|error| self.failed(error))
    }

    fn restore(&self, contents: &[Vec<u8>]) -> Result<(), Answer> {
        let mut pairs = self.buffers.iter().zip(contents);
        pairs.try_for_each(|(buffer, bytes)| self.device.write(buffer, 0, bytes)).map_err(|error| self.failed(error))
    }
}

/// Gives a kernel its arguments; buffers go by their numbers.
pub(super) fn set_arguments(kernel: &Kernel, launch: &Launch, buffers: &[Buffer]) -> Result<(), DeviceError> {
    for (position, argument) in launch.arguments.iter().enumerate() {
        match &argument.value {
            Value::Buffer { number, .. } => kernel.set_buffer(position, &buffers[*number])?,
            Value::Null => kernel.set_null(position)?,
            Value::Local(bytes) => kernel.set_local(position, *bytes)?,
            Value::Bytes(bytes, _) => kernel.set_value(position, bytes)?,
        }
    }
    Ok(())
}

/// The head of the device's log, in which work-groups from `first` to before `last` log; `raceproof.cl` says what stands where.
pub(super) fn head(
    launch: &Launch,
    (first, last): (u64, u64),
    room: u64,
    bytes_of_buffer: &dyn Fn(usize) -> u64,
) -> Vec<u8> {
    let mut head = vec![0; HEAD / 8];
    (head[1], head[2], head[3]) = (room, first, last);
    let pointers = launch.arguments.iter().filter_map(|argument| match &argument.value {
        Value::Buffer { number, offset, .. } => Some((*offset, bytes_of_buffer(*number))),
        Value::Null => Some((0, 0)),
        Value::Local(bytes) => Some((0, *bytes)),
        Value::Bytes(..) => None,
    });
    for (at, (offset, bytes)) in pointers.enumerate() {
        (head[8 + 2 * at], head[9 + 2 * at]) = (offset, bytes);
    }
    head.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The words of a head that the device has written to.
pub(super) fn words_of(head: &[u8]) -> Vec<u64> {
    head.chunks_exact(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at]))).collect()
}

/// Records of the largest buffer that is tried.
pub(super) fn most_records() -> u64 {
    let wanted = std::env::var(RECORDS_VARIABLE).ok().and_then(|text| text.parse().ok());
    wanted.map_or(MOST_RECORDS, |wanted: u64| wanted.clamp(1 << 10, MOST_RECORDS))
}
