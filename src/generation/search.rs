//! The search: which case comes next, after what those before it told.

use super::approach::{Knob, Turn, along, copied, moved};
use super::case::{Case, Contents};
use super::signature::Signature;
use super::values::{self, contents, geometries, numbers, ordinary};
use super::{DataContract, Goal, Near, corpus};
use crate::execute::launch::{Number, Random, Values};
use crate::syntax::BinaryOp;
use std::collections::{BTreeMap, BTreeSet};

/// Memory that a case reached beside: which, and the byte from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// By its place in [`Signature::memories`].
    pub memory: usize,
    /// Below 0 it lies before the memory.
    pub byte: i64,
}

/// What became of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Why it is no case that anybody would keep: it crashed, hung, waited for ever.
    pub failed: Option<String>,
    /// Of one that crashed beside memory: where.
    pub missed: Option<Miss>,
    /// What it reached.
    pub reached: BTreeSet<Goal>,
    /// Of comparisons, by number of the point and outcome.
    pub near: BTreeMap<(usize, bool), Near>,
}

/// What there is to reach.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// What is in the kernel itself.
    pub goals: BTreeSet<Goal>,
    /// What is in functions that it may call, each for itself: they count once the kernel has come to one.
    pub callees: Vec<BTreeSet<Goal>>,
    /// What need not be reached: other launches do, or nobody can.
    pub spared: BTreeSet<Goal>,
    /// The comparisons of conditions: their point, the branch or loop that they decide, and the operator.
    pub comparisons: Vec<(usize, usize, BinaryOp)>,
    /// Numbers of the text.
    pub dictionary: Vec<i128>,
    /// What the kernel asks of the contents of memory.
    pub contracts: Vec<DataContract>,
}

/// How long to search.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Cases that are tried at most.
    pub most: usize,
    /// Cases at random that may follow each other without anything new.
    pub patience: usize,
    /// Whether time is over; asked before each case.
    pub is_over: &'a dyn Fn() -> bool,
    /// Decides what is drawn.
    pub seed: u64,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// As few cases as reach all that was reached, with what each reaches.
    pub kept: Vec<(Case, BTreeSet<Goal>)>,
    /// The same for what only cases reach that break a contract on contents.
    pub breaking: Vec<(Case, BTreeSet<Goal>)>,
    /// What all of them reach.
    pub reached: BTreeSet<Goal>,
    /// How many cases were run.
    pub tried: usize,
    /// Why cases failed, and how often.
    pub failures: BTreeMap<String, usize>,
    /// What is proved that nobody can reach.
    pub impossible: BTreeSet<Goal>,
}

/// Elements that memory may have.
const MOST_BYTES: u64 = 16 << 20;
/// Times that the memory of one case is made larger.
const MOST_GROWTHS: usize = 24;
/// Cases that are varied, number by number.
const MOST_VARIED: usize = 4;
/// Rounds of the search along comparisons.
const MOST_ROUNDS: usize = 6;

/// What somebody who reasons about the kernel says of a goal.
#[derive(Clone, Debug, PartialEq)]
pub enum Reasoned {
    /// Nobody can reach it.
    Impossible,
    /// This launch might.
    Try(Box<Case>),
    /// Nothing.
    Open,
}

/// Who runs cases, and knows more of the kernel than runs tell.
pub trait Oracle {
    /// Why a case could not be run at all.
    type Error;

    /// Runs a case and says what became of it.
    fn run(&mut self, case: &Case) -> Result<Answer, Self::Error>;

    /// Says of a goal that no case has reached whether it can be; a launch begins from `case`.
    fn reason(&mut self, goal: Goal, case: &Case) -> Reasoned;
}

/// Searches.
pub fn search<O: Oracle>(
    signature: &Signature,
    wanted: &Wanted,
    budget: Budget<'_>,
    oracle: &mut O,
) -> Result<Found, O::Error> {
    let counts = signature.memories.iter().map(|memory| values::FIRST_COUNT * memory.together).collect();
    let mut search = Search {
        signature,
        wanted,
        budget,
        oracle,
        spared: wanted.spared.clone(),
        counts,
        random: Random(budget.seed),
        seen: Vec::new(),
        near: BTreeMap::new(),
        found: Found::default(),
    };
    let outcome = search.all();
    let mut found = std::mem::take(&mut search.found);
    let seen = std::mem::take(&mut search.seen);
    outcome?;
    let keeps = |case: &Case| wanted.contracts.iter().all(|contract| contract.is_kept(signature, case));
    let (keeping, mut breaking): (Vec<_>, Vec<_>) = seen.into_iter().partition(|(case, _)| keeps(case));
    let of_keeping: BTreeSet<Goal> = keeping.iter().flat_map(|(_, goals)| goals.iter().copied()).collect();
    breaking.iter_mut().for_each(|(_, goals)| goals.retain(|goal| !of_keeping.contains(goal)));
    found.kept = fewest(keeping);
    found.breaking = fewest(breaking);
    Ok(found)
}

/// As few of the cases as reach the same.
fn fewest(cases: Vec<(Case, BTreeSet<Goal>)>) -> Vec<(Case, BTreeSet<Goal>)> {
    let sizes: Vec<_> = cases.iter().map(|(case, goals)| (case.size(), goals.clone())).collect();
    corpus::fewest(&sizes).into_iter().map(|number| cases[number].clone()).collect()
}

struct Search<'s, O> {
    signature: &'s Signature,
    wanted: &'s Wanted,
    budget: Budget<'s>,
    oracle: &'s mut O,
    /// What need not be reached, with what was proved to be impossible since.
    spared: BTreeSet<Goal>,
    /// Elements that the memories have needed so far.
    counts: Vec<u64>,
    random: Random,
    /// Cases that reached something new, or the same with less.
    seen: Vec<(Case, BTreeSet<Goal>)>,
    /// Of comparisons, by outcome: the nearest operands so far with their case, and the first, which no number that ran over its type has brought.
    near: BTreeMap<(usize, bool), [(Near, Case); 2]>,
    found: Found,
}

impl<O: Oracle> Search<'_, O> {
    fn all(&mut self) -> Result<(), O::Error> {
        self.boundaries()?;
        self.reasoned()?;
        self.one_by_one()?;
        self.towards()?;
        self.at_random()
    }

    fn is_over(&self) -> bool {
        self.found.tried >= self.budget.most || self.is_complete() || (self.budget.is_over)()
    }

    fn is_complete(&self) -> bool {
        self.missed().next().is_none()
    }

    /// What is not reached, and wanted.
    fn missed(&self) -> impl Iterator<Item = Goal> + '_ {
        let reached = &self.found.reached;
        let entered = |callee: &&BTreeSet<Goal>| !callee.is_disjoint(reached);
        let of_callees = self.wanted.callees.iter().filter(entered).flatten();
        let all = self.wanted.goals.iter().chain(of_callees).copied();
        all.filter(move |goal| !reached.contains(goal) && !self.spared.contains(goal))
    }

    /// Asks about what is missed, and tries what is answered.
    fn reasoned(&mut self) -> Result<(), O::Error> {
        let missed: Vec<Goal> = self.missed().collect();
        for goal in missed {
            if self.is_over() || self.found.reached.contains(&goal) {
                continue;
            }
            let Some(case) = self.best().into_iter().next() else { return Ok(()) };
            match self.oracle.reason(goal, &case) {
                Reasoned::Impossible => {
                    self.spared.insert(goal);
                    self.found.impossible.insert(goal);
                }
                Reasoned::Try(case) => _ = self.attempt(&case)?,
                Reasoned::Open => {}
            }
        }
        self.towards()
    }

    /// Runs a case, with more memory if it needs it; whether it reached something new.
    fn attempt(&mut self, case: &Case) -> Result<bool, O::Error> {
        let mut case = case.clone();
        for (extents, ones) in [&mut case.grid, &mut case.block].into_iter().zip(self.signature.ones) {
            extents.iter_mut().zip(ones).filter(|(_, is_one)| *is_one).for_each(|(extent, _)| *extent = 1);
        }
        for (memory, &count) in case.memories.iter_mut().zip(&self.counts) {
            if memory.count < count {
                resize(memory, count);
            }
        }
        for _ in 0..MOST_GROWTHS {
            if self.is_over() {
                return Ok(false);
            }
            self.found.tried += 1;
            let answer = self.oracle.run(&case)?;
            self.learn(&case, &answer);
            let Some(reason) = answer.failed else { return Ok(self.keep(case, answer.reached)) };
            if !answer.missed.is_some_and(|missed| self.grow(&mut case, missed)) {
                *self.found.failures.entry(reason).or_default() += 1;
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Gives memory as much as an access beside it needs; whether that can be.
    fn grow(&mut self, case: &mut Case, missed: Miss) -> bool {
        let memory = &self.signature.memories[missed.memory];
        let bytes = memory.element.bytes(self.signature.language);
        let Some(least) = u64::try_from(missed.byte).ok().map(|byte| byte / bytes + 1) else { return false };
        // Together with what else the access reads.
        let count = (least + 16 / bytes).next_power_of_two().next_multiple_of(memory.together);
        if count * bytes > MOST_BYTES || count <= case.memories[missed.memory].count {
            return false;
        }
        resize(&mut case.memories[missed.memory], count);
        // Only what a single case reaches far away is not for all others.
        if count * bytes <= 1 << 16 {
            self.counts[missed.memory] = self.counts[missed.memory].max(count);
        }
        true
    }

    fn learn(&mut self, case: &Case, answer: &Answer) {
        for (&which, &near) in &answer.near {
            match self.near.get_mut(&which) {
                None => _ = self.near.insert(which, [(near, case.clone()), (near, case.clone())]),
                Some([nearest, _]) if near.apart() < nearest.0.apart() => *nearest = (near, case.clone()),
                Some(_) => {}
            }
        }
    }

    fn keep(&mut self, case: Case, reached: BTreeSet<Goal>) -> bool {
        let is_new = !reached.is_subset(&self.found.reached);
        let is_smaller = || {
            let same = self.seen.iter().find(|(_, goals)| *goals == reached);
            same.is_some_and(|(other, _)| case.size() < other.size())
        };
        if is_new || is_smaller() {
            self.found.reached.extend(&reached);
            self.seen.push((case, reached));
        }
        is_new
    }

    fn boundaries(&mut self) -> Result<(), O::Error> {
        let extents: Vec<u32> = self
            .wanted
            .dictionary
            .iter()
            .filter(|number| (2..=1024).contains(*number))
            .map(|&number| number as u32)
            .collect();
        for shape in geometries(self.signature.axes, &extents) {
            let first = ordinary(self.signature, shape, 1);
            let (threads, block) = (i128::from(first.threads()), i128::from(first.block[0]));
            for size in [threads, block, 16, threads - 1, 2 * threads + 1, 1, 0] {
                self.attempt(&ordinary(self.signature, shape, size))?;
                if self.signature.numbers.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The cases that reach most, each something else.
    fn best(&self) -> Vec<Case> {
        let mut order: Vec<&(Case, BTreeSet<Goal>)> = self.seen.iter().collect();
        order.sort_by_key(|(case, goals)| (std::cmp::Reverse(goals.len()), case.size()));
        order.into_iter().take(MOST_VARIED).map(|(case, _)| case.clone()).collect()
    }

    fn one_by_one(&mut self) -> Result<(), O::Error> {
        for case in self.best() {
            for (at, slot) in self.signature.numbers.iter().enumerate() {
                for number in numbers(slot.scalar, &case, &self.wanted.dictionary) {
                    let mut varied = case.clone();
                    varied.numbers[at] = number;
                    self.attempt(&varied)?;
                }
            }
            for (at, memory) in self.signature.memories.iter().enumerate() {
                for values in contents(memory, case.memories[at].count, &self.wanted.dictionary) {
                    let mut varied = case.clone();
                    varied.memories[at].values = values;
                    self.attempt(&varied)?;
                }
            }
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn towards(&mut self) -> Result<(), O::Error> {
        for _ in 0..MOST_ROUNDS {
            let before = self.found.reached.len();
            for &(comparison, of, op) in &self.wanted.comparisons {
                for outcome in [true, false] {
                    let is_missed = self.missed().any(|goal| goal.point == of);
                    if is_missed && !self.is_over() {
                        self.approach(comparison, (op, outcome))?;
                    }
                }
            }
            if self.found.reached.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Tries to make a comparison come out as `outcome`.
    fn approach(&mut self, comparison: usize, (op, outcome): (BinaryOp, bool)) -> Result<(), O::Error> {
        let Some([nearest, first]) = self.near.get(&(comparison, !outcome)).cloned() else { return Ok(()) };
        let is_one = nearest == first;
        for (near, case) in [Some(nearest), Some(first).filter(|_| !is_one)].into_iter().flatten() {
            if self.approach_from(comparison, Turn { op, outcome, near }, &case)? {
                break;
            }
        }
        Ok(())
    }

    /// The same from one case; whether something new was reached.
    fn approach_from(&mut self, comparison: usize, turn: Turn, case: &Case) -> Result<bool, O::Error> {
        let Turn { outcome, near, .. } = turn;
        let lacking = turn.lacks();
        for &lack in &lacking {
            for case in copied(self.signature, case, near, lack) {
                if self.attempt(&case)? {
                    return Ok(true);
                }
            }
        }
        for knob in Knob::all(case, self.signature.axes) {
            let Some((beside, step)) = moved(self.signature, case, knob) else { continue };
            if self.is_over() {
                return Ok(false);
            }
            self.found.tried += 1;
            let answer = self.oracle.run(&beside)?;
            self.learn(&beside, &answer);
            let there = answer.near.get(&(comparison, !outcome)).filter(|_| answer.failed.is_none());
            let Some(there) = there else { continue };
            let slope = ((there.a - there.b) - (near.a - near.b)) / step;
            for &lack in &lacking {
                for case in along(self.signature, case, knob, (lack, slope)) {
                    if self.attempt(&case)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn at_random(&mut self) -> Result<(), O::Error> {
        let shapes = geometries(self.signature.axes, &[]);
        let mut fruitless = 0;
        while fruitless < self.budget.patience && !self.is_over() {
            let mut case = match self.random.below(3) {
                0 if !self.seen.is_empty() => {
                    let at = self.random.below(self.seen.len());
                    self.seen[at].0.clone()
                }
                _ => ordinary(self.signature, self.random.one(&shapes), 8),
            };
            for (at, slot) in self.signature.numbers.iter().enumerate() {
                if self.random.below(2) == 0 {
                    case.numbers[at] = self.random.one(&numbers(slot.scalar, &case, &self.wanted.dictionary));
                }
            }
            for (at, memory) in self.signature.memories.iter().enumerate() {
                if self.random.below(2) == 0 {
                    let pool = contents(memory, case.memories[at].count, &self.wanted.dictionary);
                    case.memories[at].values = pool[self.random.below(pool.len())].clone();
                }
            }
            fruitless = if self.attempt(&case)? { 0 } else { fruitless + 1 };
            // What is nearer now than before may be reached from there.
            if fruitless > 0 && fruitless % 64 == 0 {
                self.towards()?;
            }
        }
        Ok(())
    }
}

/// Gives memory another number of elements, of the same kind; numbers that are listed go on with zeros.
fn resize(memory: &mut Contents, count: u64) {
    match &mut memory.values {
        Values::Range(_, Number::Integer(high)) if *high == i128::from(memory.count) => *high = i128::from(count),
        Values::List(numbers) => {
            let lanes = numbers.len() / (memory.count.max(1) as usize);
            let zero = match numbers.first() {
                Some(Number::Float(_)) => Number::Float(0.0),
                Some(Number::Truth(_)) => Number::Truth(false),
                _ => Number::Integer(0),
            };
            numbers.resize(lanes * count as usize, zero);
        }
        _ => {}
    }
    memory.count = count;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::launch::Scalar;
    use crate::generation::{Shape, Slot};
    use crate::source::Language;

    fn signature(numbers: usize) -> Signature {
        let scalar = Scalar::Integer { bytes: 4, signed: true };
        let slots: Vec<Slot> = (0..numbers).map(|at| Slot { name: format!("n{at}"), scalar }).collect();
        Signature {
            kernel: "k".to_owned(),
            parameters: slots.iter().enumerate().map(|(at, slot)| (slot.name.clone(), Shape::Number(at))).collect(),
            numbers: slots,
            memories: Vec::new(),
            axes: 1,
            has_dynamic_shared: false,
            is_cooperative: false,
            ones: [[false; 3]; 2],
            language: Language::Cuda,
        }
    }

    /// Of which nothing is known but what runs tell.
    struct Program<F>(F);

    impl<F: Fn(&Case) -> Answer> Oracle for Program<F> {
        type Error = std::convert::Infallible;

        fn run(&mut self, case: &Case) -> Result<Answer, Self::Error> {
            Ok((self.0)(case))
        }

        fn reason(&mut self, _: Goal, _: &Case) -> Reasoned {
            Reasoned::Open
        }
    }

    /// A branch of which both sides are wanted, decided by comparison 1.
    fn branch(op: BinaryOp) -> Wanted {
        let goals = [0, 1].map(|side| Goal { point: 0, side }).into();
        Wanted { goals, comparisons: vec![(1, 0, op)], ..Wanted::default() }
    }

    fn budget(most: usize) -> Budget<'static> {
        Budget { most, patience: 200, is_over: &|| false, seed: 1 }
    }

    /// A program with `if (f(numbers) == wanted)`.
    fn searched(count: usize, value: impl Fn(&[i128]) -> i128, wanted: i128) -> Found {
        let run = |case: &Case| {
            let numbers: Vec<i128> = case
                .numbers
                .iter()
                .map(|number| match number {
                    Number::Integer(value) => *value,
                    _ => unreachable!("all are whole"),
                })
                .collect();
            let holds = value(&numbers) == wanted;
            let near = Near { a: value(&numbers) as f64, b: wanted as f64 };
            let reached = [Goal { point: 0, side: u8::from(holds) }].into();
            Answer { reached, near: [((1, holds), near)].into(), ..Answer::default() }
        };
        search(&signature(count), &branch(BinaryOp::Eq), budget(2000), &mut Program(run)).expect("it runs")
    }

    #[test]
    fn a_number_that_is_compared_is_given_the_value_that_is_wanted() {
        let found = searched(2, |numbers| numbers[1], 123_456);
        assert_eq!(found.reached.len(), 2);
        assert!(found.tried < 200, "{}", found.tried);
        assert_eq!(found.kept.len(), 2);
    }

    #[test]
    fn a_number_that_is_computed_from_the_input_is_reached_along_its_slope() {
        let found = searched(2, |numbers| 3 * numbers[0] - 7, 299_993);
        assert_eq!(found.reached.len(), 2, "{found:?}");
    }

    #[test]
    fn memory_is_made_as_large_as_a_case_needs() {
        let mut with_memory = signature(0);
        let element = crate::execute::launch::ElementType { scalar: Scalar::Float { bytes: 4 }, lanes: 1 };
        with_memory.memories.push(crate::generation::Memory { name: "x".to_owned(), element, together: 1 });
        let run = |case: &Case| {
            let bytes = case.memories[0].count as i64 * 4;
            if bytes < 5000 {
                Answer {
                    failed: Some("crash".to_owned()),
                    missed: Some(Miss { memory: 0, byte: bytes }),
                    ..Answer::default()
                }
            } else {
                Answer { reached: [Goal { point: 0, side: 0 }, Goal { point: 0, side: 1 }].into(), ..Answer::default() }
            }
        };
        let found = search(&with_memory, &branch(BinaryOp::Eq), budget(100), &mut Program(run)).expect("it runs");
        assert_eq!(found.kept[0].0.memories[0].count, 2048);
        assert!(found.failures.is_empty());
    }
}
