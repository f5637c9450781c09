//! Coverage of device code: what tests reach of kernels, and what they miss.
//!
//! After docs/PAPERS.md, "Peng 2019" (CLTestCheck): barriers, branches and loops count, besides lines. What is counted where
//! is said in `instrument/coverage.rs`; this room joins the points with their counts ([`counts`]), adds runs up,
//! and writes reports ([`text`], [`html`], [`lcov`], [`cobertura`]; JSON is [`Coverage`] itself).
//!
//! | what | reached when | of |
//! |---|---|---|
//! | barrier | all threads of a block come to it in one round | 1 |
//! | branch | the condition was true for some thread; false for some | 2 |
//! | loop | some execution of it had no turn; one; several | 3; 2 of `do` and `for (;;)` |
//! | line | a statement that begins on it was executed | 1 |
//!
//! Where they are asked for, accesses to memory and pairs of stores and loads count, too ([`data_flow`]).
//!
//! Guarantees: points of one place are one point, whichever units of the program and runs it is of; the order is that of the
//! files' names and places, and equal counts give equal reports.
//!
//! Deliberately absent: running anything, and what is reached of host code.

pub mod cobertura;
pub mod counts;
pub mod data_flow;
pub mod html;
pub mod lcov;
pub mod text;

use crate::source::Language;
use data_flow::DataFlow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A language as reports have it.
mod language {
    use crate::source::Language;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn cuda() -> Language {
        Language::Cuda
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(super) fn is_cuda(language: &Language) -> bool {
        *language == Language::Cuda
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(super) fn serialize<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
        let name = match language {
            Language::Cuda => "cuda",
            Language::OpenCl => "opencl",
        };
        name.serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Language, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(if name == "opencl" { Language::OpenCl } else { Language::Cuda })
    }
}

/// The version of the JSON form.
pub const SCHEMA: &str = "raceproof-coverage/1";

/// What tests reach.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// [`SCHEMA`].
    pub schema: String,
    /// How much of what there is.
    pub totals: Totals,
    /// All points, by file and place.
    pub points: Vec<Point>,
    /// Accesses and pairs, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_flow: Option<DataFlow>,
}

/// A point of coverage with its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The path of its file, as the program's files were named.
    pub file: String,
    /// Where, from 1.
    pub line: u32,
    /// Where, from 1.
    pub column: u32,
    /// The kernel or device function around it.
    pub function: String,
    /// What it is written in; left out of JSON for CUDA.
    #[serde(with = "language", default = "language::cuda", skip_serializing_if = "language::is_cuda")]
    pub language: Language,
    /// What it is, and what was counted there.
    #[serde(flatten)]
    pub seen: Seen,
    /// What of it is proved that nobody can reach, by number: of a branch 0 is false and 1 true, of a loop 0, 1 and 2 are no turn, one, and
    /// several. It is not missed and does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impossible: Vec<u8>,
}

/// What was counted at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Seen {
    /// Statements of which all are executed if the first is.
    Run {
        /// The lines on which they begin, from 1.
        lines: Vec<u32>,
        /// Executions, by all threads.
        times: u64,
    },
    /// A condition.
    Branch {
        /// How often it was true.
        holds: u64,
        /// How often it was false.
        fails: u64,
        /// Warps whose threads found different things, each counted once for a block.
        diverged_warps: u64,
        /// Warps whose threads found the same.
        uniform_warps: u64,
    },
    /// A loop.
    Loop {
        /// Whether it may be executed without a turn, as `do` cannot.
        may_be_skipped: bool,
        /// Executions without a turn.
        none: u64,
        /// Executions of one turn.
        one: u64,
        /// Executions of several turns.
        several: u64,
        /// Turns of all executions.
        turns: u64,
    },
    /// A barrier.
    Barrier {
        /// Rounds to which all threads of the block came.
        whole: u64,
        /// Rounds to which only some came.
        partial: u64,
        /// Threads that came, over all rounds.
        arrivals: u64,
        /// Of a round to which only some came: who did not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        missing: Option<Missing>,
    },
}

/// Threads that do not come to a barrier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missing {
    /// The launch of the program, from 1.
    pub launch: u64,
    /// The kernel.
    pub kernel: String,
    /// Their block.
    pub block: [u64; 3],
    /// The block's extents along x and y.
    pub extents: [u64; 2],
    /// Ranges of their numbers within the block, x fastest, the last one included.
    pub threads: Vec<[u64; 2]>,
}

/// How much of something is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// What is reached.
    pub reached: u64,
    /// What there is.
    pub all: u64,
}

/// [`Total`]s by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Barriers.
    pub barriers: Total,
    /// Sides of branches.
    pub branches: Total,
    /// Kinds of executions of loops.
    pub loops: Total,
    /// Lines.
    pub lines: Total,
    /// Accesses to memory that threads share, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<Total>,
    /// Pairs of stores and loads, each way for itself, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_flow: Option<Total>,
}

impl Total {
    /// In percent; of nothing all is reached.
    pub fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.reached as f64 / self.all as f64 }
    }

    /// Both together.
    fn and(self, other: Total) -> Total {
        Total { reached: self.reached + other.reached, all: self.all + other.all }
    }

    fn add(&mut self, reached: impl IntoIterator<Item = bool>) {
        for reached in reached {
            self.reached += u64::from(reached);
            self.all += 1;
        }
    }
}

impl Totals {
    /// Barriers, branches and loops together, and accesses and data flow where these were asked for.
    pub fn structure(&self) -> Total {
        let asked = [self.accesses, self.data_flow].into_iter().flatten();
        asked.fold(self.barriers.and(self.branches).and(self.loops), Total::and)
    }

    /// Each kind by its name, in the order of the reports.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Total)> {
        let always = [
            ("barriers", Some(self.barriers)),
            ("branches", Some(self.branches)),
            ("loops", Some(self.loops)),
            ("lines", Some(self.lines)),
            ("accesses", self.accesses),
            ("data flow", self.data_flow),
        ];
        always.into_iter().filter_map(|(name, total)| Some((name, total?)))
    }

    fn of(points: &[Point]) -> Totals {
        let mut totals = Totals::default();
        for point in points {
            let sides = point.sides().map(|(_, is_reached)| is_reached);
            match &point.seen {
                Seen::Run { .. } => {}
                Seen::Branch { .. } => totals.branches.add(sides),
                Seen::Loop { .. } => totals.loops.add(sides),
                // What only warps or clusters wait at has no rounds of the block.
                Seen::Barrier { whole, partial, arrivals, .. } => {
                    totals.barriers.add([*whole > 0 || *partial == 0 && *arrivals > 0]);
                }
            }
        }
        totals.lines.add(lines(points).values().map(|times| *times > 0));
        totals
    }
}

/// How often each line was executed: as often as the statement on it that was executed most.
pub fn lines(points: &[Point]) -> BTreeMap<(&str, u32), u64> {
    let mut found: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    for point in points {
        let Seen::Run { lines, times } = &point.seen else { continue };
        for &line in lines {
            let known = found.entry((&point.file, line)).or_default();
            *known = (*known).max(*times);
        }
    }
    found
}

impl Point {
    /// The sides of a branch, or the kinds of executions of a loop, that can be reached, by number, and whether they are.
    pub fn sides(&self) -> impl Iterator<Item = (u8, bool)> + '_ {
        let all = match self.seen {
            Seen::Branch { holds, fails, .. } => [Some(fails > 0), Some(holds > 0), None],
            Seen::Loop { may_be_skipped, none, one, several, .. } => {
                [may_be_skipped.then_some(none > 0), Some(one > 0), Some(several > 0)]
            }
            Seen::Run { .. } | Seen::Barrier { .. } => [None; 3],
        };
        let sides = (0..).zip(all).filter_map(|(side, is_reached)| Some((side, is_reached?)));
        sides.filter(|(side, is_reached)| *is_reached || !self.impossible.contains(side))
    }

    /// Whether a side of it can be reached and is not.
    pub fn misses(&self, side: u8) -> bool {
        self.sides().any(|(number, is_reached)| number == side && !is_reached)
    }
}

impl Seen {
    fn kind(&self) -> u8 {
        match self {
            Seen::Run { .. } => 0,
            Seen::Branch { .. } => 1,
            Seen::Loop { .. } => 2,
            Seen::Barrier { .. } => 3,
        }
    }

    /// Adds what was counted at the same place.
    fn add(&mut self, other: Seen) {
        match (self, other) {
            (Seen::Run { times, .. }, Seen::Run { times: more, .. }) => *times += more,
            (
                Seen::Branch { holds, fails, diverged_warps, uniform_warps },
                Seen::Branch { holds: a, fails: b, diverged_warps: c, uniform_warps: d },
            ) => [(holds, a), (fails, b), (diverged_warps, c), (uniform_warps, d)]
                .into_iter()
                .for_each(|(it, more)| *it += more),
            (
                Seen::Loop { none, one, several, turns, .. },
                Seen::Loop { none: a, one: b, several: c, turns: d, .. },
            ) => {
                [(none, a), (one, b), (several, c), (turns, d)].into_iter().for_each(|(it, more)| *it += more);
            }
            (
                Seen::Barrier { whole, partial, arrivals, missing },
                Seen::Barrier { whole: a, partial: b, arrivals: c, missing: other },
            ) => {
                [(whole, a), (partial, b), (arrivals, c)].into_iter().for_each(|(it, more)| *it += more);
                *missing = [missing.take(), other].into_iter().flatten().min();
            }
            // Places of different kinds are different ones.
            _ => {}
        }
    }
}

impl Coverage {
    /// Of these points, those of one place added up.
    pub fn of(points: impl IntoIterator<Item = Point>) -> Coverage {
        let mut found: BTreeMap<(String, u32, u32, u8, String), Point> = BTreeMap::new();
        for point in points {
            let key = (point.file.clone(), point.line, point.column, point.seen.kind(), point.function.clone());
            match found.entry(key) {
                std::collections::btree_map::Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.seen.add(point.seen);
                    known.impossible.extend(point.impossible);
                    known.impossible.sort_unstable();
                    known.impossible.dedup();
                }
                std::collections::btree_map::Entry::Vacant(place) => _ = place.insert(point),
            }
        }
        let points: Vec<Point> = found.into_values().collect();
        Coverage { schema: SCHEMA.to_owned(), totals: Totals::of(&points), points, data_flow: None }
    }

    /// The same with accesses and pairs.
    pub fn with_data_flow(self, data_flow: Option<DataFlow>) -> Coverage {
        let of_accesses = data_flow.as_ref().map(DataFlow::of_accesses);
        let of_pairs = data_flow.as_ref().map(DataFlow::of_pairs);
        Coverage { totals: Totals { accesses: of_accesses, data_flow: of_pairs, ..self.totals }, data_flow, ..self }
    }

    /// The same where what `proved` says to be impossible is so here, too. Points that are not here are left out.
    pub fn sparing(mut self, proved: &Coverage) -> Coverage {
        for point in &mut self.points {
            let is_same = |other: &&Point| {
                let place = |point: &Point| (point.line, point.column, point.seen.kind());
                place(other) == place(point) && other.file == point.file && other.function == point.function
            };
            if let Some(other) = proved.points.iter().find(is_same) {
                point.impossible.clone_from(&other.impossible);
            }
        }
        Coverage::of(self.points)
    }

    /// What several runs reach together.
    pub fn together(runs: impl IntoIterator<Item = Coverage>) -> Coverage {
        let (mut points, mut flows) = (Vec::new(), Vec::new());
        for run in runs {
            points.extend(run.points);
            flows.extend(run.data_flow);
        }
        let flow = (!flows.is_empty()).then(|| DataFlow::of(flows));
        Coverage::of(points).with_data_flow(flow)
    }
}

/// A point of a kernel `k` of CUDA, for tests of what is said of points.
#[cfg(test)]
pub(crate) fn point_of_k(file: &str, (line, column): (u32, u32), seen: Seen) -> Point {
    let (file, function) = (file.to_owned(), "k".to_owned());
    Point { file, line, column, function, language: Language::Cuda, seen, impossible: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(line: u32, seen: Seen) -> Point {
        point_of_k("k.cu", (line, 3), seen)
    }

    fn branch(holds: u64, fails: u64) -> Seen {
        Seen::Branch { holds, fails, diverged_warps: 0, uniform_warps: 1 }
    }

    #[test]
    fn runs_add_up_and_each_side_of_a_branch_counts() {
        let first = Coverage::of([point(4, branch(3, 0)), point(5, Seen::Run { lines: vec![5, 6], times: 0 })]);
        assert_eq!(first.totals.branches, Total { reached: 1, all: 2 });
        assert_eq!(first.totals.lines, Total { reached: 0, all: 2 });
        let second = Coverage::of([point(4, branch(0, 2)), point(5, Seen::Run { lines: vec![5, 6], times: 1 })]);
        let both = Coverage::together([first, second]);
        assert_eq!(both.points[0].seen, Seen::Branch { holds: 3, fails: 2, diverged_warps: 0, uniform_warps: 2 });
        assert_eq!(both.totals.branches, Total { reached: 2, all: 2 });
        assert_eq!(both.totals.lines, Total { reached: 2, all: 2 });
    }

    #[test]
    fn what_nobody_can_reach_does_not_count_unless_somebody_does() {
        let with = |impossible: Vec<u8>| Coverage::of([Point { impossible, ..point(4, branch(3, 0)) }]).totals.branches;
        assert_eq!(with(vec![0]), Total { reached: 1, all: 1 });
        assert_eq!(with(vec![1]), Total { reached: 1, all: 2 });
        let turns = Seen::Loop { may_be_skipped: true, none: 0, one: 0, several: 2, turns: 9 };
        let coverage = Coverage::of([Point { impossible: vec![0, 1], ..point(4, turns) }]);
        assert_eq!(coverage.totals.loops, Total { reached: 1, all: 1 });
    }

    #[test]
    fn a_barrier_is_reached_when_all_threads_come_in_one_round() {
        let barrier = |whole, partial, arrivals| point(7, Seen::Barrier { whole, partial, arrivals, missing: None });
        let reached = |seen| Coverage::of([seen]).totals.barriers.reached;
        assert_eq!(reached(barrier(1, 1, 40)), 1);
        assert_eq!(reached(barrier(0, 2, 10)), 0);
        assert_eq!(reached(barrier(0, 0, 0)), 0);
        // Of a warp's barrier there are no rounds of the block.
        assert_eq!(reached(barrier(0, 0, 32)), 1);
    }

    #[test]
    fn the_form_for_programs_comes_back_as_it_was() {
        let missing =
            Missing { launch: 1, kernel: "k".to_owned(), block: [1, 0, 0], extents: [32, 1], threads: vec![[5, 31]] };
        let barrier = Seen::Barrier { whole: 0, partial: 1, arrivals: 5, missing: Some(missing) };
        let of_opencl = Point { language: Language::OpenCl, ..point(5, branch(0, 1)) };
        let coverage = Coverage::of([point(4, branch(1, 0)), of_opencl, point(9, barrier)]);
        let json = serde_json::to_string(&coverage).expect("it can be written");
        assert_eq!(json.matches("language").count(), 1, "{json}");
        assert_eq!(serde_json::from_str::<Coverage>(&json).expect("it can be read"), coverage);
    }
}
