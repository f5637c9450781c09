//! What tells a run from the baseline: how it ends, what it writes, which launches there are, and what memory holds behind each.
//!
//! The baseline runs twice. What is not alike in both is not compared: allocations with addresses in them, lines with times.
//! Lines that speak of time are left out as well.

use crate::driver::lines::{ended, is_of_time};
use crate::execute::process::Ended;
use crate::execute::scheduled::{Launched, Scheduled};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is compared.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    /// Numbers of the output may differ by so much, relatively; then memory is not compared.
    pub(super) tolerance: Option<f64>,
    /// Whether memory is.
    pub(super) compares_memory: bool,
    /// Files that the program writes.
    pub(super) files: Vec<PathBuf>,
}

/// A run as it is compared.
#[derive(Clone, Debug)]
pub(super) struct Gave {
    ended: Ended,
    lines: Vec<String>,
    files: Vec<Option<Vec<u8>>>,
    launched: Vec<String>,
    memory: BTreeMap<(u64, u64), String>,
}

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dissent {
    /// What users see.
    Seen(String),
    /// An allocation behind a launch.
    Memory { launch: u64, allocation: u64 },
}

impl Gave {
    pub(super) fn of(run: &Scheduled, compared: &Compared) -> Gave {
        let memory = |launch: &Launched| {
            let number = launch.number;
            let contents = launch.memory.iter().map(move |(&id, of)| ((number, id), of.digest.clone()));
            contents.collect::<Vec<_>>()
        };
        Gave {
            ended: run.tried.ended,
            lines: run.tried.output.lines().map(str::to_owned).collect(),
            files: compared.files.iter().map(|path| read(path)).collect(),
            launched: run.launches.iter().map(|launch| launch.kernel.clone()).collect(),
            memory: run.launches.iter().flat_map(memory).collect(),
        }
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

/// The baseline.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    gave: Gave,
    /// Lines that are not compared; `None`: no line is.
    passed_over: Option<BTreeSet<usize>>,
    compared: Compared,
}

impl Measure {
    /// Learns from two runs of the baseline.
    pub(super) fn learn(first: Gave, second: &Gave, compared: Compared) -> Measure {
        let passed_over = (first.lines.len() == second.lines.len()).then(|| {
            let of_line = first.lines.iter().zip(&second.lines).enumerate();
            of_line.filter(|(_, (a, b))| a != b || is_of_time(a)).map(|(at, _)| at).collect()
        });
        let mut gave = first;
        gave.memory.retain(|at, digest| second.memory.get(at) == Some(digest));
        let is_steady = gave.files.iter().zip(&second.files).map(|(a, b)| a == b).collect::<Vec<_>>();
        for (file, is_steady) in gave.files.iter_mut().zip(is_steady) {
            if !is_steady {
                *file = None;
            }
        }
        Measure { gave, passed_over, compared }
    }

    /// Whether memory is compared.
    pub(super) fn compares_memory(&self) -> bool {
        self.compared.compares_memory && self.compared.tolerance.is_none()
    }

    /// What is not compared, for the user.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        match self.passed_over.as_ref().map(BTreeSet::len) {
            None => remarks
                .push("the program writes another number of lines each time; its output is not compared".to_owned()),
            Some(0) => {}
            Some(1) => remarks.push(
                "1 line of the output differs between equal runs or speaks of time, and is not compared".to_owned(),
            ),
            Some(left) => {
                remarks.push(format!(
                    "{left} lines of the output differ between equal runs or speak of time, and are not compared"
                ));
            }
        }
        if self.compared.tolerance.is_some() && self.compared.compares_memory {
            remarks.push("memory is not compared, since --tolerance is for numbers of the output".to_owned());
        }
        remarks
    }

    /// What users see that differs first, of a run of which no launches are known.
    pub(super) fn differs_in_output(&self, other: &Gave) -> Option<String> {
        self.seen(other).into_iter().next()
    }

    /// What users see that differs.
    fn seen(&self, other: &Gave) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = |text: String| found.push(text);
        if other.ended != self.gave.ended {
            seen(format!("the program {}; in the baseline it {}", ended(other.ended), ended(self.gave.ended)));
        }
        if let Some(passed_over) = &self.passed_over {
            let (was, is) = (&self.gave.lines, &other.lines);
            let differs = |at: &usize| !passed_over.contains(at) && !self.is_alike(&was[*at], &is[*at]);
            if was.len() != is.len() {
                seen(format!("the program writes {} lines; in the baseline {}", is.len(), was.len()));
            } else if let Some(at) = (0..was.len()).find(differs) {
                let (was, is) = (shortened(&was[at]), shortened(&is[at]));
                seen(format!("line {} of the output is `{is}`; in the baseline `{was}`", at + 1));
            }
        }
        for ((path, was), is) in self.compared.files.iter().zip(&self.gave.files).zip(&other.files) {
            if was.is_some() && was != is {
                seen(format!("the program writes something else to {}", path.display()));
            }
        }
        found
    }

    /// What differs, the most telling first.
    pub(super) fn differs(&self, other: &Gave) -> Vec<Dissent> {
        let mut found: Vec<Dissent> = self.seen(other).into_iter().map(Dissent::Seen).collect();
        if self.gave.launched != other.launched {
            let (is, was) = (other.launched.len(), self.gave.launched.len());
            let text =
                format!("the program launches other kernels: {is} launches come to their end; in the baseline {was}");
            found.push(Dissent::Seen(text));
        } else if self.compares_memory() {
            let alike =
                |(at, digest): &(&(u64, u64), &String)| other.memory.get(at).is_none_or(|other| other == *digest);
            let first = self.gave.memory.iter().find(|pair| !alike(pair));
            found.extend(first.map(|(&(launch, allocation), _)| Dissent::Memory { launch, allocation }));
        }
        found
    }

    /// Whether two lines are alike, but for numbers that are nearly so.
    fn is_alike(&self, was: &str, is: &str) -> bool {
        let Some(tolerance) = self.compared.tolerance.filter(|_| was != is) else { return was == is };
        let (was, is) = (words(was), words(is));
        was.len() == is.len()
            && was.iter().zip(&is).all(|(was, is)| {
                was == is
                    || matches!((was.parse::<f64>(), is.parse::<f64>()),
                        (Ok(a), Ok(b)) if (a - b).abs() <= tolerance * a.abs().max(b.abs()))
            })
    }
}

/// Words and what stands between them.
fn words(line: &str) -> Vec<&str> {
    let is_of_number = |c: char| c.is_alphanumeric() || "+-.".contains(c);
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_of_number(c) != is_of_number(first)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

fn shortened(line: &str) -> String {
    const MOST: usize = 80;
    let shown: String = line.chars().take(MOST).collect();
    if shown.len() < line.len() { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gave(output: &str) -> Gave {
        Gave {
            ended: Ended::Exited(0),
            lines: output.lines().map(str::to_owned).collect(),
            files: Vec::new(),
            launched: vec!["k".to_owned()],
            memory: BTreeMap::new(),
        }
    }

    fn measure(tolerance: Option<f64>, first: &Gave, second: &Gave) -> Measure {
        let compared = Compared { tolerance, compares_memory: true, files: Vec::new() };
        Measure::learn(first.clone(), second, compared)
    }

    #[test]
    fn numbers_may_differ_by_the_tolerance() {
        let baseline = gave("sum=10.000, at 0x1\nn 3\n");
        let exact = measure(None, &baseline, &baseline);
        let near = measure(Some(1e-3), &baseline, &baseline);
        for (other, is_near) in [
            ("sum=10.001, at 0x1\nn 3\n", true),
            ("sum=10.1, at 0x1\nn 3\n", false),
            ("sum=10.000, at 0x2\nn 3\n", false),
        ] {
            assert_eq!(exact.differs(&gave(other)).len(), 1, "{other}");
            assert_eq!(near.differs(&gave(other)).is_empty(), is_near, "{other}");
        }
    }

    #[test]
    fn what_equal_runs_do_not_agree_on_is_not_compared() {
        let mut first = gave("at 0x1\nran 3 ms\nsum 4\n");
        let mut second = gave("at 0x2\nran 3 ms\nsum 4\n");
        first.memory = BTreeMap::from([((1, 0), "a".to_owned()), ((1, 1), "c".to_owned())]);
        second.memory = BTreeMap::from([((1, 0), "b".to_owned()), ((1, 1), "c".to_owned())]);
        let measure = measure(None, &first, &second);
        let mut other = gave("at 0x3\nran 4 ms\nsum 4\n");
        other.memory = BTreeMap::from([((1, 0), "x".to_owned()), ((1, 1), "c".to_owned())]);
        assert_eq!(measure.differs(&other), []);
        other.memory.insert((1, 1), "d".to_owned());
        assert_eq!(measure.differs(&other), [Dissent::Memory { launch: 1, allocation: 1 }]);
        other.lines[2] = "sum 5".to_owned();
        assert_eq!(measure.differs(&other).len(), 2);
        assert_eq!(measure.remarks().len(), 1);
    }
}
