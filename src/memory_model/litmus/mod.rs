//! Tiny concurrent programs and what they may do: the scoped release/acquire model, by enumeration.
//!
//! [`outcomes`] lists what the reads of a program may find and whether it has a data race. A *candidate* says which write
//! each read reads from, and in which order the writes of each location follow each other. It counts if
//!
//! - *causality*: happens-before, which is program order, barriers of a block and synchronisation by release and acquire
//!   patterns ([`fences`](super::fences)) and phases of objects that count arrivals, has no cycle, also not with what reads and writes say about the order of writes (coherence);
//! - *atomicity*: a read-modify-write directly follows the write that it reads from;
//! - *sequential consistency*: fences of that order, and atomics of that order, that reach each other have a common order
//!   that all of this agrees with (RC11's `psc`, restricted to scopes that hold both).
//!
//! Two accesses race if they touch one location, one of them writes, they are not both atomics whose scopes hold both
//! threads, and neither happens before the other.
//!
//! As in PTX, and other than in RC11, loads may be satisfied by later stores that do not depend on them (load buffering).
//! The table of tests is the contract: what `prove` and the clocks of runs say about fences is what the table says.
//!
//! Deliberately absent: dependencies, mixed sizes, more than one address space, proxies.

#[cfg(test)]
mod tests;

use super::{Level, fences};
use crate::calculus::{MemoryOrder, SyncScope};
use std::collections::BTreeSet;

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// It reads a location.
    Read(u8, How),
    /// It writes a number to a location.
    Write(u8, i64, How),
    /// It adds a number to a location in one step and tells what it found.
    Add(u8, i64, How),
    /// A fence.
    Fence(MemoryOrder, SyncScope),
    /// A barrier of the block: every thread of the block has as many.
    Barrier,
    /// It arrives at an object that counts arrivals, in a phase that this number stands for in the block.
    Arrive(u8),
    /// It waits until that phase is complete.
    Wait(u8),
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Without any promise.
    Plain,
    /// Atomically, with that order, for that scope.
    Atomic(MemoryOrder, SyncScope),
}

/// A thread: its block and what it does.
pub type Thread<'p> = (u8, &'p [Op]);

/// What a program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// What the reads find, in order of threads and instructions.
    pub found: BTreeSet<Vec<i64>>,
    /// Whether some candidate that counts has a race.
    pub is_racy: bool,
}

/// A candidate has so many events at most; relations are rows of bits.
const MOST_EVENTS: usize = 32;

/// Everything that a program may do.
///
/// # Panics
/// Where it has more than 32 instructions.
pub fn outcomes(threads: &[Thread<'_>]) -> Outcomes {
    let program = Program::of(threads);
    let mut outcomes = Outcomes::default();
    program.each_candidate(&mut |reads_from, order| {
        let candidate = Candidate::new(&program, reads_from, order);
        if let Some(found) = candidate.values().filter(|_| candidate.counts()) {
            outcomes.found.insert(found);
            outcomes.is_racy |= candidate.races();
        }
    });
    outcomes
}

struct Event {
    thread: usize,
    block: u8,
    op: Op,
}

impl Event {
    fn location(&self) -> Option<u8> {
        match self.op {
            Op::Read(at, _) | Op::Write(at, ..) | Op::Add(at, ..) => Some(at),
            Op::Fence(..) | Op::Barrier | Op::Arrive(_) | Op::Wait(_) => None,
        }
    }

    fn reads(&self) -> bool {
        matches!(self.op, Op::Read(..) | Op::Add(..))
    }

    fn writes(&self) -> bool {
        matches!(self.op, Op::Write(..) | Op::Add(..))
    }

    /// Order and scope of an atomic.
    fn atomic(&self) -> Option<(MemoryOrder, SyncScope)> {
        match self.op {
            Op::Read(_, How::Atomic(order, scope))
            | Op::Write(.., How::Atomic(order, scope))
            | Op::Add(.., How::Atomic(order, scope)) => Some((order, scope)),
            _ => None,
        }
    }

    fn is_sequential(&self) -> bool {
        let order = match self.op {
            Op::Fence(order, _) => Some(order),
            _ => self.atomic().map(|(order, _)| order),
        };
        order == Some(MemoryOrder::SequentiallyConsistent)
    }

    fn scope(&self) -> Option<SyncScope> {
        match self.op {
            Op::Fence(_, scope) => Some(scope),
            _ => self.atomic().map(|(_, scope)| scope),
        }
    }
}

struct Program {
    events: Vec<Event>,
    /// Program order and barriers.
    before: Relation,
    program_order: Relation,
}

/// Rows of bits.
#[derive(Clone)]
struct Relation(Vec<u32>);

impl Relation {
    fn empty(size: usize) -> Relation {
        Relation(vec![0; size])
    }

    fn add(&mut self, one: usize, other: usize) {
        self.0[one] |= 1 << other;
    }

    fn has(&self, one: usize, other: usize) -> bool {
        self.0[one] >> other & 1 == 1
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// One step of this, then one of `other`.
    fn then(&self, other: &Relation) -> Relation {
        let row = |row: &u32| (0..self.0.len()).filter(|at| row >> at & 1 == 1).fold(0, |bits, at| bits | other.0[at]);
        Relation(self.0.iter().map(row).collect())
    }

    fn or_same(&self) -> Relation {
        Relation(self.0.iter().enumerate().map(|(at, row)| row | 1 << at).collect())
    }

    fn closed(&self) -> Relation {
        let mut closed = self.clone();
        for middle in 0..self.0.len() {
            for one in 0..self.0.len() {
                if closed.has(one, middle) {
                    closed.0[one] |= closed.0[middle];
                }
            }
        }
        closed
    }

    fn only(&self, keep: impl Fn(usize, usize) -> bool) -> Relation {
        let size = self.0.len();
        let row =
            |one: usize| (0..size).filter(|&at| self.has(one, at) && keep(one, at)).fold(0, |row, at| row | 1 << at);
        Relation((0..size).map(row).collect())
    }

    fn has_a_loop(&self) -> bool {
        (0..self.0.len()).any(|at| self.has(at, at))
    }
}

impl Program {
    fn of(threads: &[Thread<'_>]) -> Program {
        let mut events = Vec::new();
        for (thread, &(block, ops)) in threads.iter().enumerate() {
            events.extend(ops.iter().map(|&op| Event { thread, block, op }));
        }
        assert!(events.len() <= MOST_EVENTS, "a litmus test of {} instructions", events.len());
        let mut program_order = Relation::empty(events.len());
        let mut before = Relation::empty(events.len());
        // Barriers that stand before an event in its own thread.
        let passed = |at: usize| {
            let own = events.iter().enumerate().filter(|(_, event)| event.thread == events[at].thread);
            own.filter(|(other, event)| *other < at && event.op == Op::Barrier).count()
        };
        for (one, first) in events.iter().enumerate() {
            for (other, second) in events.iter().enumerate() {
                if first.thread == second.thread && one < other {
                    program_order.add(one, other);
                    before.add(one, other);
                }
                if first.thread != second.thread && first.block == second.block && passed(one) < passed(other) {
                    before.add(one, other);
                }
                let in_one_phase = matches!((first.op, second.op), (Op::Arrive(one), Op::Wait(other)) if one == other);
                if in_one_phase && first.block == second.block {
                    before.add(one, other);
                }
            }
        }
        Program { events, before, program_order }
    }

    fn level(&self, one: usize, other: usize) -> Level {
        if self.events[one].block == self.events[other].block { Level::Block } else { Level::Grid }
    }

    /// Whether two operations of two threads have scopes that hold both.
    fn reach(&self, one: usize, other: usize) -> bool {
        let level = self.level(one, other);
        let reaches = |at: usize| self.events[at].scope().is_some_and(|scope| fences::reaches(scope, level));
        self.events[one].thread == self.events[other].thread || reaches(one) && reaches(other)
    }

    fn writes_to(&self, location: u8) -> Vec<usize> {
        let at = |index: &usize| self.events[*index].writes() && self.events[*index].location() == Some(location);
        (0..self.events.len()).filter(at).collect()
    }

    /// Calls `visit` with the source of each read (`None` is what was there at first) and the orders of writes.
    fn each_candidate(&self, visit: &mut impl FnMut(&[Option<usize>], &[Vec<usize>])) {
        let locations: BTreeSet<u8> = self.events.iter().filter_map(Event::location).collect();
        let mut orders: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
        for &location in &locations {
            let all = permutations(&self.writes_to(location));
            orders = orders
                .iter()
                .flat_map(|known| all.iter().map(|one| [&known[..], std::slice::from_ref(one)].concat()))
                .collect();
        }
        let mut sources: Vec<Vec<Option<usize>>> = vec![Vec::new()];
        for (at, event) in self.events.iter().enumerate() {
            let mut choices = vec![None];
            if let Some(location) = event.location().filter(|_| event.reads()) {
                choices.extend(self.writes_to(location).into_iter().filter(|&write| write != at).map(Some));
            }
            sources =
                sources.iter().flat_map(|known| choices.iter().map(|&one| [&known[..], &[one]].concat())).collect();
        }
        for order in &orders {
            for source in &sources {
                visit(source, order);
            }
        }
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let smaller = permutations(rest);
    let insert = |order: &Vec<usize>, at: usize| [&order[..at], &[first], &order[at..]].concat();
    smaller.iter().flat_map(|order| (0..=order.len()).map(|at| insert(order, at))).collect()
}

struct Candidate<'p> {
    program: &'p Program,
    sources: &'p [Option<usize>],
    /// From a write to the reads that read from it.
    reads_from: Relation,
    /// Modification order.
    writes: Relation,
    /// From a read to the writes that come after what it found.
    overtaken: Relation,
    happens_before: Relation,
}

impl<'p> Candidate<'p> {
    fn new(program: &'p Program, sources: &'p [Option<usize>], orders: &[Vec<usize>]) -> Self {
        let size = program.events.len();
        let (mut reads_from, mut writes) = (Relation::empty(size), Relation::empty(size));
        for order in orders {
            for (at, &one) in order.iter().enumerate() {
                order[at + 1..].iter().for_each(|&later| writes.add(one, later));
            }
        }
        let mut overtaken = Relation::empty(size);
        for (read, event) in program.events.iter().enumerate().filter(|(_, event)| event.reads()) {
            if let Some(source) = sources[read] {
                reads_from.add(source, read);
            }
            for write in event.location().map_or_else(Vec::new, |location| program.writes_to(location)) {
                if write != read && sources[read].is_none_or(|source| writes.has(source, write)) {
                    overtaken.add(read, write);
                }
            }
        }
        let happens_before = Relation::empty(size);
        let mut candidate = Candidate { program, sources, reads_from, writes, overtaken, happens_before };
        candidate.happens_before = program.before.or(&candidate.synchronises()).closed();
        candidate
    }

    /// What the reads find; `None` where numbers come from nowhere.
    fn values(&self) -> Option<Vec<i64>> {
        let events = &self.program.events;
        let mut found = Vec::new();
        for at in (0..events.len()).filter(|&at| events[at].reads()) {
            found.push(self.found(at, events.len())?);
        }
        Some(found)
    }

    fn found(&self, read: usize, depth: usize) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        let Some(source) = self.sources[read] else { return Some(0) };
        match self.program.events[source].op {
            Op::Write(_, value, _) => Some(value),
            Op::Add(_, by, _) => Some(self.found(source, depth)? + by),
            _ => None,
        }
    }

    /// Release patterns to the acquire patterns that observe them.
    fn synchronises(&self) -> Relation {
        let size = self.program.events.len();
        let mut edges = Relation::empty(size);
        for write in 0..size {
            for read in (0..size).filter(|&read| self.observes(write, read)) {
                for head in self.heads(write) {
                    for tail in self.tails(read) {
                        let level = self.program.level(head, tail);
                        let publishes = self.order_of(head, |order, scope| fences::publishes(order, scope, level));
                        let receives = self.order_of(tail, |order, scope| fences::receives(order, scope, level));
                        if publishes && receives && self.program.events[head].thread != self.program.events[tail].thread
                        {
                            edges.add(head, tail);
                        }
                    }
                }
            }
        }
        edges
    }

    fn order_of(&self, at: usize, holds: impl Fn(MemoryOrder, SyncScope) -> bool) -> bool {
        let event = &self.program.events[at];
        match event.op {
            Op::Fence(order, scope) => holds(order, scope),
            _ => event.atomic().is_some_and(|(order, scope)| holds(order, scope)),
        }
    }

    /// Whether an atomic read finds what an atomic wrote, or what a chain of read-modify-writes made of it.
    fn observes(&self, write: usize, read: usize) -> bool {
        let events = &self.program.events;
        let (mut at, mut left) = (read, events.len());
        while let Some(source) = self.sources[at].filter(|_| left > 0) {
            if events[source].atomic().is_none() || events[at].atomic().is_none() || !self.program.reach(source, at) {
                return false;
            }
            if source == write {
                return true;
            }
            if !matches!(events[source].op, Op::Add(..)) {
                return false;
            }
            (at, left) = (source, left - 1);
        }
        false
    }

    /// What publishes with a write: itself, and the fences before it in its thread.
    fn heads(&self, write: usize) -> Vec<usize> {
        let fences = self.fences().filter(|&fence| self.program.program_order.has(fence, write));
        fences.chain([write]).collect()
    }

    /// What receives with a read: itself, and the fences after it in its thread.
    fn tails(&self, read: usize) -> Vec<usize> {
        let fences = self.fences().filter(|&fence| self.program.program_order.has(read, fence));
        fences.chain([read]).collect()
    }

    fn fences(&self) -> impl Iterator<Item = usize> + '_ {
        let events = &self.program.events;
        (0..events.len()).filter(|&at| matches!(events[at].op, Op::Fence(..)))
    }

    fn counts(&self) -> bool {
        let communication = self.reads_from.or(&self.writes).or(&self.overtaken).closed();
        let is_causal = !self.happens_before.has_a_loop()
            && !self.happens_before.then(&communication).has_a_loop()
            && !communication.has_a_loop();
        is_causal && self.is_atomic() && self.is_sequential(&communication)
    }

    /// Whether nothing stands between a read-modify-write and what it reads from.
    fn is_atomic(&self) -> bool {
        let events = &self.program.events;
        let size = events.len();
        (0..size).filter(|&at| matches!(events[at].op, Op::Add(..))).all(|at| {
            let between = |other: usize| self.overtaken.has(at, other) && self.writes.has(other, at);
            let follows = self.sources[at].is_none_or(|source| self.writes.has(source, at));
            follows && !(0..size).any(between)
        })
    }

    /// RC11's `psc`, of events whose scopes hold both.
    fn is_sequential(&self, communication: &Relation) -> bool {
        let events = &self.program.events;
        let before = &self.happens_before;
        let same_place = |one: usize, other: usize| {
            events[one].location().is_some() && events[one].location() == events[other].location()
        };
        let elsewhere = self.program.program_order.only(|one, other| !same_place(one, other));
        let steps = self
            .program
            .program_order
            .or(&elsewhere.then(before).then(&elsewhere))
            .or(&before.only(same_place))
            .or(&self.writes)
            .or(&self.overtaken);
        let is_fence = |at: usize| matches!(events[at].op, Op::Fence(..));
        let near = before.or_same();
        // From a sequentially consistent access itself, or from a fence over what comes after it.
        let leave = near.only(|one, other| events[one].is_sequential() && (one == other || is_fence(one)));
        let arrive = near.only(|one, other| events[other].is_sequential() && (one == other || is_fence(other)));
        let base = leave.then(&steps).then(&arrive);
        let both_fences = |one: usize, other: usize| is_fence(one) && is_fence(other);
        let between_fences = before.or(&before.then(communication).then(before)).only(both_fences);
        let both = |one: usize, other: usize| {
            events[one].is_sequential() && events[other].is_sequential() && self.program.reach(one, other)
        };
        !base.or(&between_fences).only(both).closed().has_a_loop()
    }

    fn races(&self) -> bool {
        let events = &self.program.events;
        let conflict = |one: usize, other: usize| {
            let (first, second) = (&events[one], &events[other]);
            first.thread != second.thread
                && first.location().is_some()
                && first.location() == second.location()
                && (first.writes() || second.writes())
                && !(first.atomic().is_some() && second.atomic().is_some() && self.program.reach(one, other))
        };
        let is_free = |one: usize, other: usize| {
            !conflict(one, other) || self.happens_before.has(one, other) || self.happens_before.has(other, one)
        };
        (0..events.len()).any(|one| !(0..events.len()).all(|other| is_free(one, other)))
    }
}
