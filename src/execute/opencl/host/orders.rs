//! Programs whose work-groups and work-items take the ids that they are given, so that they run in the order that is wanted, and what
//! their buffers hold behind each launch.
//!
//! The driver is asked to run one work-group at a time where that is known (PoCL: `POCL_MAX_PTHREAD_COUNT`); in which order they begin
//! does not depend on that (`instrument/runtime/opencl/orders.cl`).
//!
//! Guarantees: equal orders give equal runs, as far as host code and driver do; what is launched as it is is named, with the reason.
//!
//! Deliberately absent: which order is wanted, which whoever runs the program says; what a log would have.

use super::messages::{LaunchHead, Message, Number, Text};
use super::session::{answer, refusal};
use super::{DIRECTORY, DUMP, Instrument, Instrumented, ORDERS, READER, attended, command, library};
use crate::execute::ExecuteError;
use crate::execute::program::{Stop, Tried, observed};
use crate::execute::scheduled::{Contents, Launched, Scheduled};
use crate::execute::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// How many threads PoCL runs work-groups in: it has named that in two ways.
const THREADS: [&str; 2] = ["POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"];
/// How many it has at least.
const LEAST_THREADS: &str = "POCL_PTHREAD_MIN_THREADS";

/// Work-groups and work-items of a launch that are put in order; there would be no room for the ids of more.
const MOST: u64 = 1 << 22;

/// How programs are started whose ids are given to them.
#[derive(Debug)]
pub struct Scheduling<'s> {
    library: PathBuf,
    /// What the driver keeps of its builds, for all runs.
    scratch: &'s Scratch,
    program: Vec<OsString>,
}

/// A launch whose order is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedLaunch {
    /// Its number, from 1.
    pub number: u64,
    /// Work-groups.
    pub groups: u64,
    /// Work-items of each.
    pub items: u64,
}

/// The ids that a launch takes: linear numbers, in the order in which the driver has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Of work-groups.
    pub groups: Vec<u64>,
    /// Of the work-items of each.
    pub items: Vec<u64>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct OrderedTrial {
    /// Where its output goes: `stdout`, `stderr`, `memory`.
    pub directory: PathBuf,
    /// When the program is ended.
    pub timeout: Duration,
    /// The buffer whose bytes are kept in `memory`: that of a parameter of a launch.
    pub dumped: Option<(u64, u64)>,
}

impl<'s> Scheduling<'s> {
    /// For a program: its path, and its arguments.
    pub fn of(program: &[OsString], scratch: &'s Scratch, stop: Stop<'_>) -> Result<Scheduling<'s>, ExecuteError> {
        Ok(Scheduling { library: library(scratch, stop)?, scratch, program: program.to_vec() })
    }

    /// The program, with one work-group at a time.
    fn command(&self) -> Result<Command, ExecuteError> {
        let mut command = command(&self.program, &self.library, self.scratch)?;
        THREADS.into_iter().for_each(|variable| _ = command.env(variable, "1"));
        command.env_remove(LEAST_THREADS);
        Ok(command)
    }

    /// Runs the program with its own kernels and the driver's ids.
    pub fn as_it_is(&self, trial: &OrderedTrial, stop: Stop<'_>) -> Result<Tried, ExecuteError> {
        observed(self.command()?, &trial.directory, trial.timeout, stop)
    }

    /// Runs it with the ids that it is given.
    pub fn try_out(
        &self,
        trial: &OrderedTrial,
        instrument: Instrument<'_>,
        ids: &(dyn Fn(&OrderedLaunch) -> Ids + Sync),
        stop: Stop<'_>,
    ) -> Result<Scheduled, ExecuteError> {
        let messages = trial.directory.join("messages");
        let _ = fs::remove_dir_all(&messages);
        fs::create_dir_all(&messages).map_err(|cause| ExecuteError::Write { path: messages.clone(), cause })?;
        let memory = trial.directory.join("memory");
        let _ = fs::remove_file(&memory);
        let mut command = self.command()?;
        command.env(DIRECTORY, &messages).env(READER, std::process::id().to_string());
        command.env(ORDERS, "1").env(DUMP, &memory);
        let mut launches = Launches { dumped: trial.dumped, ..Launches::new(instrument, ids) };
        let take = |process: u64, bytes: &[u8]| launches.take(process, bytes);
        let tried = attended(&messages, take, || observed(command, &trial.directory, trial.timeout, stop))?;
        let Launches { ran, as_they_are, .. } = launches;
        Ok(Scheduled { tried, launches: ran, done: Vec::new(), as_they_are: as_they_are.into_iter().collect() })
    }
}

/// A program, and why the driver does not take it.
struct Known {
    unit: Instrumented,
    refused: Option<String>,
}

/// What is known of a run.
struct Launches<'a> {
    instrument: Instrument<'a>,
    ids: &'a (dyn Fn(&OrderedLaunch) -> Ids + Sync),
    dumped: Option<(u64, u64)>,
    units: Vec<Known>,
    by_text: BTreeMap<Text, usize>,
    /// Launches that are under way, by process and number, with their units.
    under_way: BTreeMap<(u64, Number), (usize, Launched)>,
    /// How many have begun.
    begun: u64,
    ran: Vec<Launched>,
    as_they_are: BTreeSet<String>,
}

impl<'a> Launches<'a> {
    fn new(instrument: Instrument<'a>, ids: &'a (dyn Fn(&OrderedLaunch) -> Ids + Sync)) -> Launches<'a> {
        Launches {
            instrument,
            ids,
            dumped: None,
            units: Vec::new(),
            by_text: BTreeMap::new(),
            under_way: BTreeMap::new(),
            begun: 0,
            ran: Vec::new(),
            as_they_are: BTreeSet::new(),
        }
    }

    /// Takes a message of a process, and gives the answer if it wants one.
    fn take(&mut self, process: u64, bytes: &[u8]) -> Option<String> {
        // Whoever sent what is not understood may wait.
        let Some(message) = Message::parse(bytes) else { return Some(String::new()) };
        match message {
            Message::Build(text) => {
                let unit = self.unit(text);
                return Some(answer(unit, &self.units[unit].unit));
            }
            Message::Refused { unit, messages } => {
                if let Some(known) = self.units.get_mut(unit) {
                    known.refused = Some(refusal(&messages));
                }
            }
            Message::Order(head) => return Some(self.order(process, &head)),
            Message::Ran { launch, held } => {
                let Some((unit, mut ran)) = self.under_way.remove(&(process, launch)) else { return None };
                for held in held {
                    let name = self.parameter(unit, &ran.kernel, held.parameter);
                    let contents = Contents { bytes: held.bytes, name, digest: held.digest };
                    ran.memory.insert(held.parameter as u64, contents);
                }
                self.ran.push(ran);
            }
            Message::Plain { unit, kernel, reason } => {
                let known = unit.and_then(|unit| self.units.get(unit));
                let of_unit = known.and_then(|known| {
                    known.unit.as_ref().err().map(ToString::to_string).or_else(|| known.refused.clone())
                });
                let reason = of_unit.unwrap_or(reason);
                self.as_they_are.insert(format!("{kernel} is launched as it is, in the driver's order: {reason}"));
            }
            // Of logs and counts nothing is said here.
            _ => {}
        }
        None
    }

    fn unit(&mut self, text: Text) -> usize {
        if let Some(&known) = self.by_text.get(&text) {
            return known;
        }
        self.units.push(Known { unit: (self.instrument)(&text), refused: None });
        self.by_text.insert(text, self.units.len() - 1);
        self.units.len() - 1
    }

    fn parameter(&self, unit: usize, kernel: &str, number: usize) -> String {
        let unit = self.units.get(unit).and_then(|known| known.unit.as_ref().ok());
        let kernel = unit.and_then(|unit| unit.shared.kernels.iter().find(|known| known.name == kernel));
        let parameter = kernel.and_then(|kernel| kernel.parameters.get(number));
        parameter.map_or_else(String::new, |parameter| parameter.name.clone())
    }

    /// The ids of a launch, as the library reads them.
    fn order(&mut self, process: u64, head: &LaunchHead) -> String {
        self.begun += 1;
        let block = head.block.map(|extent| u64::from(extent.max(1)));
        let of_axis = |axis: usize| head.items[axis].div_ceil(block[axis]);
        let (groups, items) = (of_axis(0) * of_axis(1) * of_axis(2), block.iter().product::<u64>());
        let launch = OrderedLaunch { number: self.begun, groups, items };
        let mut ids = (self.ids)(&launch);
        let kernel = &head.kernel;
        if (0..3).any(|axis| head.items[axis] % block[axis] != 0) {
            ids = Ids::default();
            self.note(kernel, "keep their places: the last ones of a launch are smaller than the others");
        } else if groups + items > MOST {
            ids = Ids::default();
            self.note(kernel, "keep their places: there are too many");
        }
        let placed = self.units.get(head.unit).and_then(|known| known.unit.as_ref().ok()?.shared.placed.clone());
        if let Some(placed) = placed {
            ids.items.clear();
            let what = format!("of each work-group keep their places: `{placed}` depends on them");
            self.as_they_are.insert(format!("the work-items {what} (in {kernel})"));
        }
        if head.units > 1 {
            let what = format!("the device runs up to {} work-groups at once", head.units);
            self.as_they_are.insert(format!("{what}: which of them begins first is kept to, not how they overlap"));
        }
        let launched = Launched {
            number: launch.number,
            kernel: kernel.clone(),
            blocks: if ids.groups.is_empty() { 1 } else { groups },
            threads: if ids.items.is_empty() { 1 } else { items },
            at_once: u64::from(head.units),
            ..Launched::default()
        };
        self.under_way.insert((process, head.number), (head.unit, launched));
        let dumped = self.dumped.filter(|(number, _)| *number == launch.number);
        let dumped = dumped.map_or_else(|| "-1".to_owned(), |(_, parameter)| parameter.to_string());
        let mut answer = format!("{} {} {dumped}", ids.groups.len(), ids.items.len());
        for id in ids.groups.iter().chain(&ids.items) {
            // Writing to a string cannot fail.
            let _ = write!(answer, " {id}");
        }
        answer
    }

    fn note(&mut self, kernel: &str, what: &str) {
        self.as_they_are.insert(format!("the work-groups and work-items of {kernel} {what}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::opencl::host::{NotInstrumented, Unit};
    use crate::instrument::opencl::Shared;

    fn answered(message: &str) -> (String, Vec<String>) {
        let refuse = |_: &Text| -> Instrumented { Err(NotInstrumented("it is none".into())) };
        let reversed = |launch: &OrderedLaunch| Ids {
            groups: (0..launch.groups).rev().collect(),
            items: (0..launch.items).collect(),
        };
        let mut launches = Launches::new(&refuse, &reversed);
        let answer = launches.take(7, message.as_bytes()).unwrap();
        (answer, launches.as_they_are.into_iter().collect())
    }

    fn order(global: &str, local: &str, units: u32) -> String {
        format!("order\t0\t0\tk\nglobal\t{global}\nlocal\t{local}\nunits\t{units}\ndevice\tcpu\n\n")
    }

    #[test]
    fn a_launch_is_answered_with_its_ids() {
        let (answer, told) = answered(&order("4\t2\t1", "2\t1\t1", 1));
        assert_eq!((answer.as_str(), told.len()), ("4 2 -1 3 2 1 0 0 1", 0));
    }

    #[test]
    fn work_items_whose_places_count_keep_them() {
        let instrument = |_: &Text| -> Instrumented {
            let shared = Shared { placed: Some("sub_group_all".to_owned()), ..Shared::default() };
            Ok(Unit { text: String::new(), shared, kernels: Vec::new(), barriers: Vec::new() })
        };
        let ids = |launch: &OrderedLaunch| Ids {
            groups: (0..launch.groups).collect(),
            items: (0..launch.items).rev().collect(),
        };
        let mut launches = Launches::new(&instrument, &ids);
        launches.take(1, b"build\nbytes\t1\n\nk");
        assert_eq!(launches.take(1, order("4\t1\t1", "2\t1\t1", 1).as_bytes()).as_deref(), Some("2 0 -1 0 1"));
        assert!(launches.as_they_are.iter().any(|line| line.contains("`sub_group_all` depends on them")));
        launches.take(1, b"ran\t0\nheld\t3\t8\tff\n\n");
        let ran = &launches.ran[0];
        assert_eq!((ran.number, ran.blocks, ran.threads, ran.memory[&3].digest.as_str()), (1, 2, 1, "ff"));
    }

    #[test]
    fn what_has_no_order_of_its_own_keeps_its_places_and_is_told() {
        let (answer, told) = answered(&order("5\t1\t1", "2\t1\t1", 1));
        assert_eq!(answer, "0 0 -1");
        assert!(told[0].contains("are smaller than the others"), "{told:?}");
        let (answer, told) = answered(&order("16777216\t1\t1", "1\t1\t1", 4));
        assert_eq!(answer, "0 0 -1");
        assert!(
            told.concat().contains("too many") && told.concat().contains("up to 4 work-groups at once"),
            "{told:?}"
        );
    }
}
