//! The worker process: one job, from the driver to the log.
//!
//! A launch that makes more records than its buffer holds is run again, the contents of all buffers restored: with a
//! larger buffer up to [`MOST_RECORDS`], what [`RECORDS_VARIABLE`] says or what the device allows, then in slices of its work-groups, of which each run
//! logs one. A kernel whose accesses depend on the schedule may do something else in each of these runs; every
//! work-group is logged from one of them.

use super::device::{Buffer, Device, DeviceError, Kernel, Program};
use super::job::{self, Answer, Job, Launch, Value};
use super::records::{BYTES, Divergence, Group, Ranges, Record, Seen, groups};
use crate::trace::format::write::{Segment, Writer};
use crate::trace::format::{self, Allocation, Space, sites};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Bytes before the records of the device's log.
const HEAD: usize = 4096;
/// Where the sizes of variables stand in it, those of the program behind those of the kernel.
const SIZES: usize = 200;
const PROGRAM_SIZES: usize = 228;
/// Records that there is room for at first, by how much that grows, and where it ends (512 MiB).
const FIRST_RECORDS: u64 = 1 << 19;
const GROWTH: u64 = 8;
const MOST_RECORDS: u64 = 1 << 24;
/// The variable by which there is room for fewer, where the device's memory is scarce.
const RECORDS_VARIABLE: &str = "RACEPROOF_OPENCL_RECORDS";
/// Runs of one launch.
const MOST_RUNS: usize = 4096;
/// Accesses of one chunk of the log.
const CHUNK: usize = 1 << 18;

/// Does the job that the file at `path` holds, and writes the answer beside it.
pub fn serve(path: &Path) -> ExitCode {
    // A kernel that never ends would otherwise outlive whoever started it and was killed.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let answer = match job::read::<Job>(path) {
        Ok(job) => run(&job).unwrap_or_else(|answer| answer),
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
    let mut log = Log::new(job)?;
    for launch in &job.launches {
        log.tell("launch", launch, &launch.place, "")?;
        let mut run = Run { job, device: &device, buffers: &buffers, launch, log: &mut log, is_whole: true };
        run.launch(&program)?;
    }
    log.close()?;
    Ok(Answer::Done)
}

/// The log on disk, and what is told besides.
struct Log {
    /// The log, and where it goes; nothing if nothing is logged.
    writer: Option<(Writer, File)>,
    report: File,
    told: BTreeSet<String>,
    /// Allocations so far, and where the next one lies.
    allocations: u32,
    next_base: u64,
    /// The allocation of each buffer.
    buffers: Vec<u32>,
}

impl Log {
    fn new(job: &Job) -> Result<Log, Answer> {
        let report = OpenOptions::new().create(true).append(true).open(&job.report).map_err(failed)?;
        let writer = match &job.log {
            None => None,
            Some(path) => {
                let file = File::create(path).map_err(|cause| failed(format!("{}: {cause}", path.display())))?;
                let mut writer = Writer::new();
                writer.sites(&sites::parse(&job.sites).0);
                Some((writer, file))
            }
        };
        let (told, buffers) = (BTreeSet::new(), Vec::new());
        let mut log = Log { writer, report, told, allocations: 0, next_base: 1 << 20, buffers };
        for buffer in &job.buffers {
            let allocation = log.allocation(&buffer.name, buffer.contents.len() as u64, Space::Global);
            log.buffers.push(allocation);
        }
        // Whatever becomes of the run, this is a log, and it has no end yet.
        log.flush()?;
        Ok(log)
    }

    /// Addresses of a device are nobody's concern; those in the log only keep allocations apart.
    fn allocation(&mut self, name: &str, bytes: u64, space: Space) -> u32 {
        let base = self.next_base;
        self.next_base += bytes.next_multiple_of(4096) + 4096;
        self.allocations += 1;
        if let Some((writer, _)) = &mut self.writer {
            return writer.allocation(&Allocation { base, bytes, space, name: name.to_owned() });
        }
        self.allocations - 1
    }

    /// Tells something once.
    fn tell(&mut self, kind: &str, launch: &Launch, place: &(String, u32), text: &str) -> Result<(), Answer> {
        let line = format!("{kind}\t{}\t{}\t{}\t{text}\n", launch.kernel, place.0, place.1);
        if self.told.insert(line.clone()) {
            self.report.write_all(line.as_bytes()).map_err(failed)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Answer> {
        match &mut self.writer {
            Some((writer, file)) => file.write_all(&writer.take()).map_err(|cause| failed(format!("the log: {cause}"))),
            None => Ok(()),
        }
    }

    fn close(mut self) -> Result<(), Answer> {
        self.flush()?;
        match self.writer {
            Some((writer, mut file)) => {
                file.write_all(&writer.close(0)).map_err(|cause| failed(format!("the log: {cause}")))
            }
            None => Ok(()),
        }
    }
}

/// A launch being run.
struct Run<'a> {
    job: &'a Job,
    device: &'a Device,
    buffers: &'a [Buffer],
    launch: &'a Launch,
    log: &'a mut Log,
    /// Whether all that the launch did is in the log.
    is_whole: bool,
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
        self.set_arguments(&kernel).map_err(|error| self.failed(error))?;
        let all = self.launch.grid.iter().fold(1u64, |product, &extent| product.saturating_mul(extent.into()));
        // A record has 32 bits for its work-group.
        if all > u64::from(u32::MAX) {
            return Err(self.failed("more than 4,294,967,295 work-groups cannot be logged"));
        }
        if self.log.writer.is_none() {
            let (_, head) = self.run(&kernel, (0, 0), 1)?;
            return if head.is_empty() { Err(failed("the device gave no log back")) } else { Ok(()) };
        }
        let before = self.contents()?;
        let mut started: Option<(u32, Ranges)> = None;
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
                    let (id, ranges) = started.get_or_insert_with(|| self.begin(&head));
                    let (id, ranges) = (*id, ranges.clone());
                    self.keep(id, &ranges, records)?;
                    if last == all {
                        return self.finish(id);
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

    fn set_arguments(&self, kernel: &Kernel) -> Result<(), DeviceError> {
        for (position, argument) in self.launch.arguments.iter().enumerate() {
            match &argument.value {
                Value::Buffer { number, .. } => kernel.set_buffer(position, &self.buffers[*number])?,
                Value::Null => kernel.set_null(position)?,
                Value::Local(bytes) => kernel.set_local(position, *bytes)?,
                Value::Bytes(bytes, _) => kernel.set_value(position, bytes)?,
            }
        }
        Ok(())
    }

    /// Runs the kernel once; work-groups from `first` to before `last` log. Gives the head back, too.
    fn run(&self, kernel: &Kernel, (first, last): (u64, u64), room: u64) -> Result<(Records, Vec<u64>), Answer> {
        let (device, failed) = (self.device, |error: DeviceError| self.failed(error));
        let log = device.buffer(HEAD + room as usize * BYTES).map_err(failed)?;
        let head: Vec<u8> = self.head(first, last, room).iter().flat_map(|word| word.to_ne_bytes()).collect();
        device.write(&log, 0, &head).map_err(failed)?;
        kernel.set_buffer(self.launch.arguments.len(), &log).map_err(failed)?;
        device.run(kernel, self.launch.grid, self.launch.block).map_err(failed)?;
        let mut head = vec![0; HEAD];
        device.read(&log, 0, &mut head).map_err(failed)?;
        let head: Vec<u64> =
            head.chunks_exact(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|at| word[at]))).collect();
        let made = head[0] & u64::from(u32::MAX);
        if made >= room && first < last {
            return Ok((Records::TooMany, head));
        }
        let mut records = vec![0; made.min(room) as usize * BYTES];
        device.read(&log, HEAD, &mut records).map_err(failed)?;
        Ok((Records::All(Record::read_all(&records)), head))
    }

    /// The head of the device's log; `raceproof.cl` says what stands where.
    fn head(&self, first: u64, last: u64, room: u64) -> Vec<u64> {
        let mut head = vec![0; HEAD / 8];
        (head[1], head[2], head[3]) = (room, first, last);
        let pointers = self.launch.arguments.iter().filter_map(|argument| match &argument.value {
            Value::Buffer { number, offset } => Some((*offset, self.job.buffers[*number].contents.len() as u64)),
            Value::Null => Some((0, 0)),
            Value::Local(bytes) => Some((0, *bytes)),
            Value::Bytes(..) => None,
        });
        for (at, (offset, bytes)) in pointers.enumerate() {
            (head[8 + 2 * at], head[9 + 2 * at]) = (offset, bytes);
        }
        head
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

    /// Begins the launch in the log: its allocations and itself.
    fn begin(&mut self, head: &[u64]) -> (u32, Ranges) {
        let mut ranges = Ranges::default();
        let mut arguments = Vec::new();
        let mut dynamic_shared = 0;
        for argument in &self.launch.arguments {
            let text = match &argument.value {
                Value::Buffer { number, offset } => {
                    let allocation = self.log.buffers[*number];
                    ranges.global.push(allocation);
                    format!("@{allocation}+{offset}")
                }
                Value::Null => {
                    ranges.global.push(self.log.allocation(&argument.name, 0, Space::Global));
                    "null".to_owned()
                }
                Value::Local(bytes) => {
                    dynamic_shared += bytes;
                    ranges.local.push(self.log.allocation(&argument.name, *bytes, Space::Shared));
                    continue;
                }
                Value::Bytes(_, text) => text.clone(),
            };
            arguments.push((argument.name.clone(), text));
        }
        for (at, name) in self.launch.globals.iter().enumerate() {
            ranges.global.push(self.log.allocation(name, head[PROGRAM_SIZES + at], Space::Global));
        }
        for (at, name) in self.launch.locals.iter().enumerate() {
            ranges.local.push(self.log.allocation(name, head[SIZES + at], Space::Shared));
        }
        let launch = format::Launch {
            kernel: self.launch.kernel.clone(),
            grid: self.launch.grid,
            block: self.launch.block,
            dynamic_shared,
            arguments,
            finished: None,
        };
        (self.log.writer.as_mut().map_or(0, |(writer, _)| writer.launch(&launch)), ranges)
    }

    /// Puts what the work-groups of a run did into the log.
    fn keep(&mut self, id: u32, ranges: &Ranges, records: Vec<Record>) -> Result<(), Answer> {
        let items = self.launch.block.iter().fold(1u32, |product, &extent| product.saturating_mul(extent));
        for group in groups(records, ranges, items) {
            self.tell(&group)?;
            if let Some((writer, _)) = &mut self.log.writer {
                let parts = parts(&group.segments);
                writer.block(id, group.number.into(), &parts);
            }
            self.log.flush()?;
        }
        Ok(())
    }

    fn tell(&mut self, group: &Group) -> Result<(), Answer> {
        let (launch, nowhere) = (self.launch, (String::new(), 0));
        for (site, what, bytes) in &group.outside {
            self.log.tell("wild", launch, &nowhere, &format!("{site}\t{what} of {bytes} bytes"))?;
        }
        let Some(Divergence { barrier, comes, parts, seen }) = group.divergence else { return Ok(()) };
        // What the group does from there on is not in the log.
        self.is_whole &= seen == Seen::Passed;
        let place = self.job.barriers.get(barrier as usize).unwrap_or(&nowhere);
        let kind = if seen == Seen::NobodyCame { "unsupported" } else { "divergence" };
        if self.log.told.insert(format!("{kind}\t{}\t{}\t{}", launch.kernel, place.0, place.1)) {
            let number = group.number;
            let text = match seen {
                Seen::Passed => {
                    format!(
                        "work-item {comes} of work-group {number} passes this barrier and work-item {parts} does not"
                    )
                }
                Seen::Parted => {
                    format!(
                        "work-item {comes} of work-group {number} comes to this barrier and work-item {parts} does not"
                    )
                }
                Seen::NobodyCame => format!(
                    "work-items {comes} and {parts} of work-group {number} that part at a branch around this barrier, to \
                     which neither comes"
                ),
            };
            self.log.tell(kind, launch, place, &text)?;
        }
        Ok(())
    }

    fn finish(&mut self, id: u32) -> Result<(), Answer> {
        if let Some((writer, _)) = self.log.writer.as_mut().filter(|_| self.is_whole) {
            writer.finished(id);
        }
        self.log.flush()
    }
}

/// Records of the largest buffer that is tried.
fn most_records() -> u64 {
    let wanted = std::env::var(RECORDS_VARIABLE).ok().and_then(|text| text.parse().ok());
    wanted.map_or(MOST_RECORDS, |wanted: u64| wanted.clamp(1 << 10, MOST_RECORDS))
}

/// Segments in chunks of bounded size.
fn parts(segments: &[Segment]) -> Vec<&[Segment]> {
    let mut parts = Vec::new();
    let (mut start, mut held) = (0, 0);
    for (at, segment) in segments.iter().enumerate() {
        if held + segment.accesses.len() > CHUNK && at > start {
            parts.push(&segments[start..at]);
            (start, held) = (at, 0);
        }
        held += segment.accesses.len();
    }
    parts.push(&segments[start..]);
    parts
}
