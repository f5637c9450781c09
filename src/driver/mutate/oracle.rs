//! What tells a mutant from the program: how it ends, what it writes to standard output, and what the runtime meets.
//!
//! Programs write what no two runs have alike: times, addresses, rates. A line that differs between runs of the program
//! itself is not compared, nor is one with a number that speaks of time, which may be alike by chance. If runs differ in how
//! many lines they write, none is compared.

use super::plan::MutateError;
use crate::driver::lines::{ended, is_of_time};
use crate::execute::process::Ended;
use crate::execute::program::Tried;
use crate::execute::report::{Event, EventKind};
use std::collections::BTreeSet;
use std::time::Duration;

/// What the program always does.
#[derive(Debug)]
pub(super) struct Oracle {
    /// Its lines; `None` for those that are not compared. `None` altogether: no line is.
    lines: Option<Vec<Option<String>>>,
    met: BTreeSet<String>,
    slowest: Duration,
}

/// What the runtime met that a test would fail for.
fn met(events: &[Event]) -> BTreeSet<String> {
    let failing = events.iter().filter_map(|event| {
        let what = match event.kind {
            EventKind::Divergence => "divergent barriers",
            EventKind::Assertion => "a failed assertion",
            EventKind::Crash => "a crash",
            EventKind::Wild => "an access outside of all allocations",
            _ => return None,
        };
        Some(format!("{what} in {}", event.kernel))
    });
    failing.collect()
}

impl Oracle {
    /// Learns from runs of the program itself; says what is wrong with them if they are no measure.
    pub(super) fn learn(runs: &[Tried]) -> Result<Oracle, MutateError> {
        if let Some(failed) = runs.iter().find(|run| run.ended != Ended::Exited(0)) {
            return Err(MutateError::Fails(ended(failed.ended)));
        }
        let outputs: Vec<Vec<&str>> = runs.iter().map(|run| run.output.lines().collect()).collect();
        let first = outputs.first().cloned().unwrap_or_default();
        let is_steady = outputs.iter().all(|lines| lines.len() == first.len());
        let line = |at: usize| {
            let is_alike = outputs.iter().all(|lines| lines[at] == first[at]);
            (is_alike && !is_of_time(first[at])).then(|| first[at].to_owned())
        };
        Ok(Oracle {
            lines: is_steady.then(|| (0..first.len()).map(line).collect()),
            met: runs.iter().flat_map(|run| met(&run.events)).collect(),
            slowest: runs.iter().map(|run| run.took).max().unwrap_or_default(),
        })
    }

    /// How long the slowest run took.
    pub(super) fn slowest(&self) -> Duration {
        self.slowest
    }

    /// What is not compared, for the user.
    pub(super) fn remarks(&self) -> Vec<String> {
        match &self.lines {
            None => vec!["the program writes another number of lines each time; its output is not compared".to_owned()],
            Some(lines) => {
                let left = lines.iter().filter(|line| line.is_none()).count();
                let many = if left == 1 { "1 line".to_owned() } else { format!("{left} lines") };
                let says = format!("{many} of the output differ between runs or speak of time, and are not compared");
                if left > 0 { vec![says] } else { Vec::new() }
            }
        }
    }

    /// What tells a run from those of the program, if anything does.
    pub(super) fn told_apart_by(&self, run: &Tried) -> Option<String> {
        if run.ended != Ended::Exited(0) {
            return Some(format!("it {}", ended(run.ended)));
        }
        if let Some(new) = met(&run.events).difference(&self.met).next() {
            return Some(format!("the run meets {new}"));
        }
        let lines = self.lines.as_ref()?;
        let written: Vec<&str> = run.output.lines().collect();
        if written.len() != lines.len() {
            return Some(format!("it writes {} lines, and the program {}", written.len(), lines.len()));
        }
        let differs = |(line, written): &(&Option<String>, &str)| line.as_ref().is_some_and(|line| line != written);
        let at = lines.iter().zip(written).position(|pair| differs(&pair))?;
        Some(format!("line {} of the output is another one", at + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(output: &str) -> Tried {
        let (events, took) = (Vec::new(), Duration::from_millis(10));
        Tried { ended: Ended::Exited(0), output: output.to_owned(), events, took }
    }

    #[test]
    fn lines_that_differ_or_speak_of_time_tell_nothing_apart() {
        let oracle = Oracle::learn(&[run("a 1\nat 0x12\nTime: 3 ms\n"), run("a 1\nat 0x34\nTime: 3 ms\n")]).unwrap();
        assert_eq!(oracle.told_apart_by(&run("a 1\nat 0x56\nTime: 4 ms\n")), None);
        assert_eq!(
            oracle.told_apart_by(&run("a 2\nat 0x12\nTime: 3 ms\n")).unwrap(),
            "line 1 of the output is another one"
        );
        assert!(oracle.told_apart_by(&run("a 1\nat 0x12\n")).unwrap().contains("writes 2 lines"));
        assert_eq!(oracle.remarks().len(), 1);
    }

    #[test]
    fn output_of_another_length_each_time_is_not_compared() {
        let oracle = Oracle::learn(&[run("a\n"), run("a\nb\n")]).unwrap();
        assert_eq!(oracle.told_apart_by(&run("c\n")), None);
        let failed = Tried { ended: Ended::Exited(3), ..run("a\n") };
        assert_eq!(oracle.told_apart_by(&failed).unwrap(), "it exits with status 3");
    }

    #[test]
    fn a_program_that_fails_is_no_measure() {
        let failed = Tried { ended: Ended::Signalled(11), ..run("") };
        assert!(Oracle::learn(&[run(""), failed]).unwrap_err().to_string().contains("is ended by signal 11"));
    }
}
