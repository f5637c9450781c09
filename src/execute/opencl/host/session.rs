//! From the messages of a program to the log and to what is told.

use super::messages::{Given, LaunchHead, Message, Number, Text};
use super::{Instrument, Instrumented};
use crate::execute::launch::ElementType;
use crate::execute::opencl::counts::{Counted, words};
use crate::execute::opencl::in_user_lines;
use crate::execute::opencl::job::{self, Argument, Value};
use crate::execute::opencl::log::{Begun, Log, Told};
use crate::execute::opencl::records::{Extents, Record};
use crate::instrument::opencl::{Kernel, Parameter, ParameterKind};
use crate::source::Language;
use crate::trace::pairs::HostWrite;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;

/// What is known of a run.
pub(super) struct Session<'a> {
    log: Log,
    instrument: Instrument<'a>,
    /// Programs that were instrumented, in this order.
    units: Vec<Known>,
    by_text: BTreeMap<Text, usize>,
    /// Launches that are under way, by process and number.
    launches: BTreeMap<(u64, Number), Running>,
    /// Buffers of the log, by process, by what the process calls them, and by their bytes.
    buffers: BTreeMap<(u64, String, u64), usize>,
    device: Option<String>,
    /// What the host has written to them.
    host_writes: Vec<HostWrite>,
    /// The first thing that went wrong with the log.
    failure: Option<io::Error>,
}

/// A program that was to be instrumented.
struct Known {
    unit: Instrumented,
    first_site: u32,
    /// Why the driver does not take it.
    refused: Option<String>,
    /// What its launches have counted, if they count.
    counted: Counted,
}

/// A launch that is under way.
struct Running {
    unit: usize,
    launch: job::Launch,
    begun: Option<Begun>,
}

impl<'a> Session<'a> {
    /// A session without a program yet.
    pub(super) fn new(report: &Path, log: Option<&Path>, instrument: Instrument<'a>) -> io::Result<Session<'a>> {
        let mut log = Log::new(report, log)?;
        // Whatever becomes of the run, this is a log, and it has no end yet.
        log.flush()?;
        Ok(Session {
            log,
            instrument,
            units: Vec::new(),
            by_text: BTreeMap::new(),
            launches: BTreeMap::new(),
            buffers: BTreeMap::new(),
            device: None,
            host_writes: Vec::new(),
            failure: None,
        })
    }

    /// Takes a message of a process, and gives the answer if it wants one.
    pub(super) fn take(&mut self, process: u64, bytes: &[u8]) -> Option<String> {
        // Whoever sent what is not understood may wait.
        let Some(message) = Message::parse(bytes) else { return Some(String::new()) };
        let (answer, done) = match message {
            Message::Build(text) => match self.unit(text) {
                Ok(unit) => (Some(answer(unit, &self.units[unit].unit)), Ok(())),
                Err(cause) => (Some(String::new()), Err(cause)),
            },
            Message::Refused { unit, messages } => {
                if let Some(known) = self.units.get_mut(unit) {
                    known.refused = Some(refusal(&messages));
                }
                (None, Ok(()))
            }
            Message::Launch(launch) => (None, self.launch(process, launch)),
            Message::Records { launch, variables, records } => {
                (None, self.records((process, launch), &variables, Record::read_all(records)))
            }
            Message::Counts { launch, words } => (None, self.counts((process, launch), &words)),
            Message::Finished(number) => (None, self.finished((process, number))),
            Message::Cut(number, reason) => (None, self.cut((process, number), &reason)),
            Message::Filled { name, whole, bytes } => {
                self.filled((process, name, whole), bytes);
                (None, Ok(()))
            }
            Message::Plain { unit, kernel, reason } => (None, self.plain(unit, &kernel, reason)),
            // Those are said where no log is kept; whoever asks may not wait for ever.
            Message::Order(_) => (Some(String::new()), Ok(())),
            Message::Ran { .. } => (None, Ok(())),
        };
        if let Err(cause) = done {
            self.failure.get_or_insert(cause);
        }
        answer
    }

    /// The number of a program, which is instrumented if it was not yet.
    fn unit(&mut self, text: Text) -> io::Result<usize> {
        if let Some(&known) = self.by_text.get(&text) {
            return Ok(known);
        }
        let unit = (self.instrument)(&text);
        let first_site = match &unit {
            Ok(unit) => self.log.sites(&unit.shared.sites)?,
            Err(_) => 0,
        };
        let counts = unit.as_ref().ok().and_then(|unit| unit.shared.counts.as_ref());
        let counted = counts.map(Counted::of).unwrap_or_default();
        self.units.push(Known { unit, first_site, refused: None, counted });
        self.by_text.insert(text, self.units.len() - 1);
        Ok(self.units.len() - 1)
    }

    /// A kernel of a unit, with its place.
    fn kernel(&self, unit: usize, name: &str) -> Option<(&Kernel, &(String, u32))> {
        let unit = self.units.get(unit)?.unit.as_ref().ok()?;
        let at = unit.shared.kernels.iter().position(|kernel| kernel.name == name)?;
        Some((&unit.shared.kernels[at], unit.kernels.get(at)?))
    }

    fn launch(&mut self, process: u64, from: LaunchHead) -> io::Result<()> {
        if self.device.is_none() {
            self.device = Some(from.device.clone());
            // Whoever reads the log of a run wants to know on what it was made; it goes where all such notes go.
            let _ = writeln!(io::stderr(), "note: the kernels run on {}", from.device.trim());
        }
        let Some((kernel, place)) = self.kernel(from.unit, &from.kernel) else { return Ok(()) };
        let (kernel, place) = (kernel.clone(), place.clone());
        let given = kernel.parameters.iter().zip(from.arguments);
        let arguments = given.map(|(parameter, given)| self.argument(process, parameter, given)).collect();
        let groups = |axis: usize| from.items[axis].div_ceil(u64::from(from.block[axis].max(1)));
        let launch = job::Launch {
            kernel: kernel.name,
            place,
            extents: Extents { grid: [0, 1, 2].map(|axis| groups(axis) as u32), block: from.block, items: from.items },
            arguments,
            locals: kernel.locals,
            globals: kernel.globals,
        };
        self.log.tell(&Told::Launch(&launch))?;
        self.launches.insert((process, from.number), Running { unit: from.unit, launch, begun: None });
        Ok(())
    }

    fn argument(&mut self, process: u64, parameter: &Parameter, given: Given) -> Argument {
        let name = parameter.name.clone();
        let value = match given {
            Given::Buffer { name: of_process, bytes, first_byte } => {
                let log = &mut self.log;
                let number =
                    self.buffers.entry((process, of_process, bytes)).or_insert_with(|| log.buffer(&name, bytes));
                Value::Buffer { number: *number, offset: 0, first_byte }
            }
            Given::Null => Value::Null,
            Given::Local(bytes) => Value::Local(bytes),
            Given::Value(bytes) => {
                let text = value_text(&parameter.kind, &bytes);
                Value::Bytes(bytes, text)
            }
        };
        Argument { name, value }
    }

    fn records(&mut self, launch: (u64, Number), variables: &[u64], records: Vec<Record>) -> io::Result<()> {
        let Some(running) = self.launches.get_mut(&launch) else { return Ok(()) };
        let Known { unit: Ok(unit), first_site, .. } = &self.units[running.unit] else { return Ok(()) };
        let begin = || self.log.begin(&running.launch, *first_site, variables);
        let begun = running.begun.get_or_insert_with(begin);
        self.log.keep(begun, &running.launch, &unit.barriers, records)
    }

    /// What a launch has counted; of the groups that part before a barrier the first is told.
    fn counts(&mut self, launch: (u64, Number), words: &[u32]) -> io::Result<()> {
        let Some(Running { unit, launch: of, .. }) = self.launches.get(&launch) else { return Ok(()) };
        let Known { unit: Ok(unit), counted, .. } = &mut self.units[*unit] else { return Ok(()) };
        let parted = counted.add((launch.1 + 1, &of.kernel), of.extents, words);
        for parted in parted {
            let all = of.extents.block.iter().map(|&extent| u64::from(extent)).product();
            self.log.tell(&Told::Parted(of, &unit.barriers, &parted, all))?;
        }
        Ok(())
    }

    fn finished(&mut self, launch: (u64, Number)) -> io::Result<()> {
        match self.launches.remove(&launch) {
            _ if !self.log.is_kept() => Ok(()),
            Some(Running { begun: Some(begun), .. }) => self.log.finish(&begun),
            Some(running) => self.left_open(&running),
            None => Ok(()),
        }
    }

    /// A launch of which nothing is known is in the log, too: it has no end.
    fn left_open(&mut self, running: &Running) -> io::Result<()> {
        if running.begun.is_none() {
            self.log.begin(&running.launch, self.units[running.unit].first_site, &[]);
        }
        self.log.flush()
    }

    fn cut(&mut self, launch: (u64, Number), reason: &str) -> io::Result<()> {
        let Some(running) = self.launches.remove(&launch) else { return Ok(()) };
        self.left_open(&running)?;
        let job::Launch { kernel, place, .. } = &running.launch;
        self.log.tell(&Told::Unlogged(
            kernel,
            place,
            format!(
                "a launch of {kernel} is not {} to its end: {reason}",
                if self.log.is_kept() { "logged" } else { "counted" }
            ),
        ))
    }

    /// The host writes to a buffer; one that no launch was given yet has no store in it.
    fn filled(&mut self, buffer: (u64, String, u64), bytes: Range<u64>) {
        if let Some(allocation) = self.buffers.get(&buffer).map(|&number| self.log.allocation_of(number)) {
            self.host_writes.push(HostWrite { launches: self.log.launches(), allocation, bytes });
        }
    }

    fn plain(&mut self, unit: Option<usize>, kernel: &str, reason: String) -> io::Result<()> {
        let known = unit.and_then(|unit| self.units.get(unit));
        let of_unit = known
            .and_then(|known| known.unit.as_ref().err().map(ToString::to_string).or_else(|| known.refused.clone()));
        let reason = of_unit.unwrap_or(reason);
        let place = unit.and_then(|unit| self.kernel(unit, kernel)).map(|(_, place)| place.clone());
        let place = place.unwrap_or_default();
        let what = if self.log.is_kept() { "a log" } else { "counters" };
        self.log.tell(&Told::Unlogged(kernel, &place, format!("{kernel} is launched without {what}: {reason}")))
    }

    /// Ends the log of a program that ended with this status, or that was ended; gives what its units have counted, in their
    /// order, of those that were instrumented, and what the host has written.
    pub(super) fn end(mut self, status: Option<i32>) -> io::Result<(Vec<Counted>, Vec<HostWrite>)> {
        for running in std::mem::take(&mut self.launches).into_values() {
            self.left_open(&running)?;
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match status {
            Some(status) => self.log.close(status)?,
            None => self.log.flush()?,
        }
        let units = self.units.into_iter().filter(|known| known.unit.is_ok());
        Ok((units.map(|known| known.counted).collect(), self.host_writes))
    }
}

/// What the library is told of a program.
pub(super) fn answer(number: usize, unit: &Instrumented) -> String {
    let Ok(unit) = unit else { return format!("unit\t{number}\t0\t0\n\n") };
    // What prints, and what changes variables of the program, would show that it ran twice.
    let has_variables = unit.shared.kernels.iter().any(|kernel| !kernel.globals.is_empty());
    let runs_once = u8::from(has_variables || unit.text.contains("printf"));
    let words = unit.shared.counts.as_ref().map_or(0, words);
    let mut answer = format!("unit\t{number}\t{runs_once}\t{words}\n");
    for kernel in &unit.shared.kernels {
        let letters: String = kernel.parameters.iter().map(letter).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(answer, "kernel\t{}\t{letters}", kernel.name);
    }
    answer.push('\n');
    answer.push_str(&unit.text);
    answer
}

/// The letter by which the library knows a parameter.
fn letter(parameter: &Parameter) -> char {
    match parameter.kind {
        ParameterKind::Global => 'g',
        ParameterKind::Constant => 'c',
        ParameterKind::Local => 'l',
        ParameterKind::Value(_) | ParameterKind::Unsupported(_) => 'v',
    }
}

/// How a value reads in the log: numbers, as far as its type is known.
fn value_text(kind: &ParameterKind, bytes: &[u8]) -> String {
    let ParameterKind::Value(words) = kind else { return "?".to_owned() };
    let known = ElementType::named(words).filter(|element| element.bytes(Language::OpenCl) == bytes.len() as u64);
    let Some(element) = known else {
        return bytes.iter().fold("struct:".to_owned(), |text, byte| text + &format!("{byte:02x}"));
    };
    let lanes = bytes.chunks_exact(usize::from(element.scalar.bytes())).take(usize::from(element.lanes));
    lanes.map(|lane| element.scalar.decode(lane).to_string()).collect::<Vec<_>>().join(",")
}

/// Why a driver does not take a text: the first error that it names.
pub(super) fn refusal(messages: &str) -> String {
    let messages = in_user_lines(messages);
    let mut lines = messages.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines.clone().find(|line| line.contains("error")).or_else(|| lines.next());
    match error {
        Some(error) => format!("the driver does not build the instrumented text: {error}"),
        None => "the driver does not build the instrumented text".to_owned(),
    }
}
