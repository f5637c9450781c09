//! The worker process that tries many launches of the same kernels: both of their texts are built once.
//!
//! Each launch runs twice. The first run logs: an access that lies outside of a buffer is found before it does harm, and how much a buffer
//! needs is known. If all accesses lie in what the launch says that buffers have, a second run counts what is reached. Buffers of the
//! device are larger than that, so that an access somewhat behind the end is told with its place.
//!
//! Guarantees: what is counted is of a launch that touches nothing but its own memory, in the run before; buffers hold in both runs what
//! the launch says.
//!
//! Deliberately absent: launches whose log has no room. They are told as such, and counted as failures.

use super::device::{Buffer, Device, DeviceError, Kernel, Program};
use super::job::{self, Answer, Became, Launch, Offer, Try, Value};
use super::records::{BYTES, Record, Touched};
use super::worker::{HEAD, head, set_arguments, words_of};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

/// Bytes of memory behind each buffer.
const BEHIND: usize = 1 << 20;
/// Records that there is room for.
const ROOM: u64 = 1 << 18;
/// Groups that part of which it is kept which work-items do not come.
const PARTED: usize = 64;

/// Tries launches as long as there are lines on standard input.
pub(super) fn serve(path: &Path, offer: &Offer) -> Result<Answer, Answer> {
    let device = Device::open().map_err(|error| Answer::NoDriver(error.to_string()))?;
    let build = |number: usize| {
        let built = device.build(&offer.texts[number], &offer.options[number]);
        built.map_err(|error| Answer::Refused(error.to_string()))
    };
    let programs = [build(0)?, build(1)?];
    let failed = |error: &dyn std::fmt::Display| Answer::Failed(error.to_string());
    let room = ROOM.min(device.largest_buffer() / BYTES as u64);
    let log = device.buffer(HEAD + room as usize * BYTES).map_err(|error| failed(&error))?;
    job::write(&path.with_extension("answer"), &Answer::Ready).map_err(|error| failed(&error))?;
    let mut trier = Trier { device: &device, programs, kernels: BTreeMap::new(), log, room, words: offer.words };
    for line in std::io::stdin().lock().lines() {
        let path = line.map_err(|error| failed(&error))?;
        let path = Path::new(&path);
        let became = match job::read::<Try>(path) {
            Ok(given) => trier.attempt(&given).unwrap_or_else(|error| Became::Failed(error.to_string())),
            Err(error) => Became::Failed(format!("the launch cannot be read: {error}")),
        };
        job::write(&path.with_extension("answer"), &became).map_err(|error| failed(&error))?;
    }
    Ok(Answer::Done)
}

/// Who tries launches.
struct Trier<'d> {
    device: &'d Device,
    /// The one that logs, and the one that counts.
    programs: [Program; 2],
    kernels: BTreeMap<String, [Kernel; 2]>,
    log: Buffer,
    room: u64,
    words: usize,
}

impl Trier<'_> {
    fn attempt(&mut self, given: &Try) -> Result<Became, DeviceError> {
        let name = &given.launch.kernel;
        if !self.kernels.contains_key(name) {
            let made = [self.programs[0].kernel(name)?, self.programs[1].kernel(name)?];
            self.kernels.insert(name.clone(), made);
        }
        let [logging, counting] = &self.kernels[name];
        let buffers = given.buffers.iter().map(|contents| self.device.buffer(contents.len() + BEHIND));
        let buffers = buffers.collect::<Result<Vec<Buffer>, DeviceError>>()?;
        if let Some(became) = self.fails(logging, given, &buffers)? {
            return Ok(became);
        }
        self.fill(given, &buffers)?;
        set_arguments(counting, &given.launch, &buffers)?;
        let items: u64 = given.launch.extents.block.iter().map(|&extent| u64::from(extent)).product();
        let of_parted = 2 + items.div_ceil(32) as usize;
        let mut words = vec![0; self.words + PARTED * of_parted];
        (words[1], words[2]) = (PARTED as u32, of_parted as u32);
        let counts = self.device.buffer(4 * words.len())?;
        let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
        self.device.write(&counts, 0, &bytes)?;
        self.run(counting, &given.launch, &counts)?;
        let mut bytes = bytes;
        self.device.read(&counts, 0, &mut bytes)?;
        let word = |bytes: &[u8]| u32::from_ne_bytes(std::array::from_fn(|at| bytes[at]));
        Ok(Became::Counted(bytes.chunks_exact(4).map(word).collect()))
    }

    /// Why a launch is none that anybody would keep, by a run that logs.
    fn fails(&self, kernel: &Kernel, given: &Try, buffers: &[Buffer]) -> Result<Option<Became>, DeviceError> {
        let launch = &given.launch;
        self.fill(given, buffers)?;
        set_arguments(kernel, launch, buffers)?;
        let bytes_of = |number: usize| (given.buffers[number].len() + BEHIND) as u64;
        self.device.write(&self.log, 0, &head(launch, (0, u64::MAX), self.room, &bytes_of))?;
        self.run(kernel, launch, &self.log)?;
        let mut head = vec![0; HEAD];
        self.device.read(&self.log, 0, &mut head)?;
        let made = words_of(&head)[0] & u64::from(u32::MAX);
        if made >= self.room {
            return Ok(Some(Became::Failed("more accesses than there is room for".to_owned())));
        }
        let mut records = vec![0; made as usize * BYTES];
        self.device.read(&self.log, HEAD, &mut records)?;
        let touched = Touched::by(&Record::read_all(&records));
        let pointers = launch.arguments.iter().filter_map(|argument| match argument.value {
            Value::Buffer { number, .. } => Some(Some(number)),
            Value::Null => Some(None),
            Value::Local(_) | Value::Bytes(..) => None,
        });
        for (range, number) in (0..).zip(pointers) {
            let (Some(&bytes), Some(buffer)) = (touched.global.get(&range), number) else { continue };
            if bytes > given.buffers[buffer].len() as u64 {
                return Ok(Some(Became::Needs { buffer, bytes }));
            }
        }
        Ok(match touched {
            Touched { is_outside: true, .. } => Some(Became::Failed("an access outside of its memory".to_owned())),
            Touched { is_parted: true, .. } => Some(Became::Failed("barrier divergence".to_owned())),
            _ => None,
        })
    }

    /// Gives buffers what the launch says, and zeros behind it.
    fn fill(&self, given: &Try, buffers: &[Buffer]) -> Result<(), DeviceError> {
        let zeros = vec![0; BEHIND];
        given.buffers.iter().zip(buffers).try_for_each(|(contents, buffer)| {
            self.device.write(buffer, 0, contents)?;
            self.device.write(buffer, contents.len(), &zeros)
        })
    }

    /// Runs a kernel to its end, with a buffer for what it records.
    fn run(&self, kernel: &Kernel, launch: &Launch, into: &Buffer) -> Result<(), DeviceError> {
        kernel.set_buffer(launch.arguments.len(), into)?;
        self.device.run(kernel, launch.extents.grid, launch.extents.block)
    }
}
