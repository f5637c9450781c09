//! How good the tests of kernels are, all in one: what they reach, which faults they tell apart, whether what they compute depends on the
//! schedule, and which inputs to add.
//!
//! After docs/PAPERS.md, "Peng 2019" (CLTestCheck), which measures these apart. This room joins a report on coverage, one on mutants and one on schedules with launches
//! that were found by a search ([`Offer`]): for each thing that is missed ([`Gap`]) and each fault that no test tells apart ([`Fault`]) it names the launch
//! that would do, if one was found.
//!
//! Guarantees: equal reports give an equal one; a launch is named for what it was seen to reach, or to tell apart.
//!
//! Deliberately absent: running anything; a grade. What is enough is for whoever sets `--fail-under` to say.

pub mod html;
pub mod text;

use crate::coverage::text::missed_at;
use crate::coverage::{Coverage, Point, Seen, Totals};
use crate::mutation::{Campaign, Mutant, Status};
use crate::schedule::report::Report;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The version of the JSON form.
pub const SCHEMA: &str = "raceproof-adequacy/1";

/// All that is said of the tests.
#[derive(Clone, Debug, Serialize)]
pub struct Adequacy {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// How much of what there is the tests reach.
    pub totals: Totals,
    /// What they do not.
    pub gaps: Vec<Gap>,
    /// Kernels that no test launches.
    pub unlaunched: Vec<Unlaunched>,
    /// How many mutants became what.
    pub mutants: BTreeMap<&'static str, usize>,
    /// The mutation score, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Mutants that no test tells apart.
    pub faults: Vec<Fault>,
    /// What depends on the schedule; nothing if that was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Report>,
    /// What was not done, and why.
    pub remarks: Vec<String>,
}

/// Something that no test reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The file.
    pub file: String,
    /// Where, from 1.
    pub line: u32,
    /// Where, from 1.
    pub column: u32,
    /// The kernel or device function around it.
    pub function: String,
    /// What, in the words of the report on coverage.
    pub what: String,
    /// Launches that reach it together; none if no search found any.
    pub reached_by: Vec<Added>,
    /// Whether these reach all of it.
    pub is_filled: bool,
}

/// A kernel that no test launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unlaunched {
    /// Its name.
    pub kernel: String,
    /// The file of launches that were found for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A launch to add.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Added {
    /// The launch description.
    pub file: String,
    /// Which of its launches, from 1.
    pub launch: usize,
    /// The launch in words.
    pub words: String,
}

/// A mutant that no test tells apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// It.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// Files of launches that tell it apart.
    pub told_apart_by: Vec<String>,
}

/// Launches that a search found for a kernel.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The kernel, without namespaces and template arguments.
    pub kernel: String,
    /// Their file.
    pub file: Option<String>,
    /// Each in words, with what it reaches.
    pub launches: Vec<(String, Coverage)>,
    /// Mutants that they tell apart, by number.
    pub killed: BTreeSet<usize>,
}

impl Adequacy {
    /// Of these reports.
    pub fn of(coverage: &Coverage, mutation: &Campaign, schedules: Option<Report>, offers: &[Offer]) -> Adequacy {
        let unlaunched = unlaunched(coverage, offers);
        let is_launched = |point: &&Point| unlaunched.iter().all(|other| other.kernel != point.function);
        let gaps = coverage.points.iter().filter(is_launched).filter_map(|point| gap(point, offers)).collect();
        let counted = Status::ALL.into_iter().map(|status| (status.name(), mutation.with(status).count()));
        let missed = mutation.mutants.iter().filter(|mutant| mutant.status.is_missed());
        let fault = |mutant: &Mutant| Fault {
            mutant: mutant.clone(),
            told_apart_by: offers
                .iter()
                .filter(|offer| offer.killed.contains(&mutant.id))
                .filter_map(|offer| offer.file.clone())
                .collect(),
        };
        Adequacy {
            schema: SCHEMA,
            totals: coverage.totals,
            gaps,
            unlaunched,
            mutants: counted.filter(|(_, count)| *count > 0).collect(),
            score: mutation.score(),
            faults: missed.map(fault).collect(),
            schedules,
            remarks: Vec::new(),
        }
    }
}

/// Whether something at a point was executed at all.
fn is_executed(point: &Point) -> bool {
    match point.seen {
        Seen::Run { times, .. } => times > 0,
        Seen::Branch { holds, fails, .. } => holds + fails > 0,
        Seen::Loop { none, one, several, .. } => none + one + several > 0,
        Seen::Barrier { arrivals, .. } => arrivals > 0,
    }
}

/// Kernels of which nothing is executed.
fn unlaunched(coverage: &Coverage, offers: &[Offer]) -> Vec<Unlaunched> {
    let is_launched = |offer: &&Offer| {
        let mut points = coverage.points.iter().filter(|point| point.function == offer.kernel).peekable();
        points.peek().is_none() || points.any(is_executed)
    };
    let silent = offers.iter().filter(|offer| !is_launched(offer));
    silent.map(|offer| Unlaunched { kernel: offer.kernel.clone(), file: offer.file.clone() }).collect()
}

/// What is missed at a point, if something is, and the launches that reach it.
fn gap(point: &Point, offers: &[Offer]) -> Option<Gap> {
    let what = missed_at(point)?;
    let mut left: BTreeSet<u8> = point.sides().filter(|(_, is_reached)| !is_reached).map(|(side, _)| side).collect();
    // A barrier has one side: that all threads come to it.
    let is_barrier = matches!(point.seen, Seen::Barrier { .. });
    if is_barrier {
        left.insert(0);
    }
    let mut reached_by = Vec::new();
    for offer in offers {
        let Some(file) = &offer.file else { continue };
        for (number, (words, coverage)) in (1..).zip(&offer.launches) {
            let same = coverage.points.iter().find(|other| is_same(point, other));
            let reached: Vec<u8> = match same {
                Some(Point { seen: Seen::Barrier { whole: 1.., .. }, .. }) => vec![0],
                Some(other) => other.sides().filter(|(_, is_reached)| *is_reached).map(|(side, _)| side).collect(),
                None => continue,
            };
            let before = left.len();
            left.retain(|side| !reached.contains(side));
            if left.len() < before {
                reached_by.push(Added { file: file.clone(), launch: number, words: words.clone() });
            }
        }
    }
    let Point { file, line, column, function, .. } = point;
    Some(Gap {
        file: file.clone(),
        line: *line,
        column: *column,
        function: function.clone(),
        what,
        is_filled: left.is_empty(),
        reached_by,
    })
}

fn is_same(one: &Point, other: &Point) -> bool {
    let place = |point: &Point| (point.line, point.column);
    place(one) == place(other)
        && one.file == other.file
        && one.function == other.function
        && std::mem::discriminant(&one.seen) == std::mem::discriminant(&other.seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::point_of_k;

    fn point(function: &str, line: u32, seen: Seen) -> Point {
        Point { function: function.to_owned(), ..point_of_k("k.cu", (line, 5), seen) }
    }

    fn branch(holds: u64, fails: u64) -> Seen {
        Seen::Branch { holds, fails, diverged_warps: 0, uniform_warps: 0 }
    }

    #[test]
    fn a_gap_names_the_launches_that_fill_it_and_no_others() {
        let turns = |none, one| Seen::Loop { may_be_skipped: true, none, one, several: 1, turns: 9 };
        let tests =
            Coverage::of([point("k", 3, branch(0, 4)), point("k", 5, turns(0, 0)), point("j", 9, branch(0, 0))]);
        let launches = vec![
            ("n = 1".to_owned(), Coverage::of([point("k", 3, branch(0, 7)), point("k", 5, turns(0, 2))])),
            ("n = 7".to_owned(), Coverage::of([point("k", 3, branch(1, 7)), point("k", 5, turns(0, 2))])),
        ];
        let offer = |kernel: &str, launches| Offer {
            kernel: kernel.to_owned(),
            file: Some(format!("{kernel}.toml")),
            launches,
            ..Offer::default()
        };
        let adequacy =
            Adequacy::of(&tests, &Campaign::of(Vec::new()), None, &[offer("k", launches), offer("j", Vec::new())]);
        let gaps: Vec<_> = adequacy.gaps.iter().map(|gap| (gap.line, gap.is_filled, gap.reached_by.len())).collect();
        assert_eq!(gaps, [(3, true, 1), (5, false, 1)]);
        assert_eq!(adequacy.gaps[0].reached_by[0].words, "n = 7");
        assert_eq!(adequacy.unlaunched, [Unlaunched { kernel: "j".to_owned(), file: Some("j.toml".to_owned()) }]);
    }
}
