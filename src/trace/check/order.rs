//! What fences, atomics, barriers and meetings of a launch order: who had seen what, at every moment of every thread.
//!
//! The synchronisations of the launch are put in order and told to [`Clocks`] once; whenever a thread learned something, what
//! it knows then is kept. Clocks share their parts, so that this takes memory for what was learned, not for all threads each
//! time. There are [`synchronisations::MOST`] synchronisations at most.

use super::{CheckError, Checking};
use crate::memory_model::clocks::{Clocks, Moment, Receiving, Seen, Who};
use crate::trace::format::synchronisations::{self, Cell, Event, Synchronisation};
use rustc_hash::FxHashMap;
use std::sync::PoisonError;

/// What a synchronisation takes, with what is learned by it.
const SYNCHRONISATION: u64 = 320;

/// What a thread learned, and when.
type Learned<At> = Vec<(At, Seen)>;

/// The order of a launch.
#[derive(Default)]
pub(super) struct Order {
    /// Tickets of what each thread did, by its steps, and what it learned by that.
    threads: FxHashMap<Who, (Vec<u64>, Learned<Moment>)>,
    /// Tickets of the barriers of each block, and what all its threads learned there.
    blocks: FxHashMap<u32, (Vec<u64>, Learned<u32>)>,
}

/// The order of a launch, if the log has all that makes it.
pub(super) fn order(checking: &Checking<'_>, launch: u32) -> Result<Option<Order>, CheckError> {
    let log = checking.log;
    let chunks: Vec<_> = log.synchronisations.iter().filter(|chunk| chunk.launch == launch).collect();
    let found: u64 = chunks.iter().map(|chunk| chunk.accesses).sum();
    let made = log.launches[&launch].finished.map_or(found, |totals| totals.synchronisations);
    let has_numbers_for_all = log.launches[&launch].blocks() <= u32::MAX.into();
    if found == 0 || made > synchronisations::MOST || !has_numbers_for_all {
        return Ok(None);
    }
    let needed = found * SYNCHRONISATION;
    let allowed = checking.budget.share * checking.budget.jobs as u64;
    if needed > allowed {
        return Err(CheckError::Memory { found, needed: needed >> 20, launch });
    }
    let mut all = Vec::with_capacity(found as usize);
    for chunk in chunks {
        let payload = {
            let mut file = checking.file.lock().unwrap_or_else(PoisonError::into_inner);
            chunk.payload(&mut *file).map_err(CheckError::Read)?
        };
        all.extend(synchronisations::read(&payload).map_err(|_| CheckError::Changed)?.1);
    }
    all.sort_by_key(|one| one.ticket);
    Ok(Some(Order::of(&all, checking.receiving)))
}

/// Keeps what is known, if it is more than what was known before.
fn keep<At: Copy>(learned: &mut Learned<At>, at: At, seen: &Seen) {
    if learned.last().is_none_or(|(_, known)| !known.is_same(seen)) {
        learned.push((at, seen.clone()));
    }
}

/// What was known at a time.
fn known<At: Ord + Copy>(learned: &Learned<At>, at: At) -> Option<&Seen> {
    let after = learned.partition_point(|(when, _)| *when <= at);
    Some(&learned[after.checked_sub(1)?].1)
}

impl Order {
    fn of(all: &[Synchronisation], receiving: Receiving) -> Order {
        let mut order = Order::default();
        let mut clocks: Clocks<Cell> = Clocks::new(receiving);
        for one in all {
            let block = one.block as u32;
            let who = (block, one.thread);
            match one.event {
                Event::Barrier => {
                    clocks.barrier(block);
                    let (tickets, learned) = order.blocks.entry(block).or_default();
                    tickets.push(one.ticket);
                    if let Some((phase, seen)) = clocks.seen_by_block(block) {
                        keep(learned, phase, seen);
                    }
                }
                Event::Fence(memory, scope) => order.step(&mut clocks, who, one.ticket, |clocks| {
                    clocks.fence(who, memory, scope);
                }),
                Event::Atomic(touch, cell, memory, scope) => order.step(&mut clocks, who, one.ticket, |clocks| {
                    clocks.atomic(who, cell, touch, memory, scope);
                }),
                Event::Meeting(lanes) => {
                    let all = (0..32).filter(|lane| lanes >> lane & 1 == 1);
                    let all: Vec<Who> = all.map(|lane| (block, one.thread + lane)).collect();
                    all.iter().for_each(|&who| order.step(&mut clocks, who, one.ticket, |_| ()));
                    clocks.meeting(&all);
                    all.iter().for_each(|&who| order.learn(&clocks, who));
                }
            }
        }
        order
    }

    fn step(&mut self, clocks: &mut Clocks<Cell>, who: Who, ticket: u64, does: impl FnOnce(&mut Clocks<Cell>)) {
        clocks.step(who);
        self.threads.entry(who).or_default().0.push(ticket);
        does(clocks);
        self.learn(clocks, who);
    }

    fn learn(&mut self, clocks: &Clocks<Cell>, who: Who) {
        let Some(seen) = clocks.seen_by(who) else { return };
        let of_block = clocks.seen_by_block(who.0);
        let phase = of_block.map_or(0, |(phase, _)| phase);
        let (tickets, learned) = self.threads.entry(who).or_default();
        // What all threads of its block know is kept for the block.
        let none = Seen::default();
        if learned.is_empty() && seen.is_same(of_block.map_or(&none, |(_, known)| known)) {
            return;
        }
        keep(learned, Moment { phase, steps: tickets.len() as u32 }, seen);
    }

    /// Whether what a thread did at a moment happens before what another one did at another.
    pub(super) fn is_before(&self, (one, at): (Who, Moment), (other, then): (Who, Moment)) -> bool {
        if one == other {
            return at <= then;
        }
        let of_thread = self.threads.get(&other).and_then(|(_, learned)| known(learned, then));
        let of_block = || self.blocks.get(&other.0).and_then(|(_, learned)| known(learned, then.phase));
        let is_earlier_phase = one.0 == other.0 && at.phase < then.phase;
        is_earlier_phase
            || of_thread.is_some_and(|seen| seen.has(one, at))
            || of_block().is_some_and(|seen| seen.has(one, at))
    }

    /// A number that is smaller for what happens before: the ticket of what the thread did last.
    pub(super) fn ticket(&self, who: Who, at: Moment) -> u64 {
        let last = |tickets: &[u64], count: u32| {
            let count = tickets.len().min(count as usize);
            count.checked_sub(1).map_or(0, |last| tickets[last] + 1)
        };
        let of_thread = self.threads.get(&who).map_or(0, |(tickets, _)| last(tickets, at.steps));
        let of_block = self.blocks.get(&who.0).map_or(0, |(tickets, _)| last(tickets, at.phase));
        of_thread.max(of_block)
    }

    /// The same of an atomic: its own ticket. One that only read again what its thread had just read has none, and is put
    /// where that thread went on.
    pub(super) fn ticket_of_atomic(&self, who: Who, at: Moment) -> u64 {
        let own = self.threads.get(&who).and_then(|(tickets, _)| tickets.get(at.steps as usize));
        own.copied().unwrap_or_else(|| self.ticket(who, at))
    }
}
