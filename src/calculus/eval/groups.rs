//! Barriers that are for some threads of their scope: who has met there, and who goes on.
//!
//! Whoever listens to a run is told of each such meeting ([`Sink::met`]), since no number of barriers that a thread has
//! passed could say with whom. A meeting of whole warps counts as every barrier of a warp does; it is told as well where
//! other meetings may carry its order on.
//!
//! Deliberately absent: what a barrier orders; every one of these orders all memory, or none.

use super::machine::Machine;
use super::program::SyncShape;
use super::relate;
use super::schedule::{Block, Status, count, is_ordered};
use super::value::Value;
use super::{Meeting, Sink, WARP};
use crate::calculus::{Among, ExprId, SyncMemory, SyncScope};
use std::ops::Range;

impl Block {
    /// Lets those go on that lock-step hardware runs next: of each group those that stand at the first place in the
    /// program. Whether there were any.
    pub(super) fn release_in_step<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> bool {
        let Some(size) = machine.program.step else { return false };
        let mut released = false;
        for group in groups(self.status.len(), size as usize) {
            let in_step = |status: &Status| match status {
                Status::Waiting(sync) => Some(*sync).filter(|&sync| is_in_step(machine, sync)),
                _ => None,
            };
            let Some(sync) = self.status[group.clone()].iter().filter_map(in_step).min() else { continue };
            let there = group.clone().filter(|&thread| self.status[thread] == Status::Waiting(sync)).collect();
            let whole = size == WARP;
            self.meet(machine, sync, there, whole.then_some(group));
            released = true;
        }
        released
    }

    /// Lets groups go on that have met; whether there were any.
    pub(super) fn release_groups<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> bool {
        let mut released = false;
        for thread in 0..self.status.len() {
            let Status::Waiting(sync) = self.status[thread] else { continue };
            let shape = machine.program.syncs[sync as usize];
            if shape.among.arrivals().is_some() {
                continue;
            }
            let is_for_some = !shape.among.is_everyone() && !shape.among.is_in_step();
            if shape.scope != SyncScope::Warp && !is_for_some {
                continue;
            }
            let Some(members) = self.members(machine, shape, thread) else {
                // Nobody knows whom it is for.
                self.doubt = true;
                machine.run.inexact = true;
                self.status[thread] = Status::Ready;
                released = true;
                continue;
            };
            let has_met = |&member: &usize| match self.status[member] {
                Status::Waiting(other) => other == sync,
                // A barrier of some threads of a block counts arrivals; one of a warp does not wait for who has ended.
                Status::Ended => shape.scope == SyncScope::Warp,
                Status::Ready => false,
            };
            if members.contains(&thread) && members.iter().all(has_met) {
                let whole = shape.among.is_everyone().then(|| self.warp_of(thread));
                let is_there = |&member: &usize| self.status[member] != Status::Ended;
                let gone = |&member: &usize| !is_there(&member);
                let without_a_word = |member: &usize| gone(member) && !self.has_returned(machine.program, *member);
                let missed = members.iter().copied().find(without_a_word);
                if let Some(missed) = missed.or_else(|| members.iter().copied().find(gone)) {
                    self.report(machine, sync, thread, missed);
                }
                let there = members.into_iter().filter(is_there).collect();
                self.meet(machine, sync, there, whole);
                released = true;
            }
        }
        released
    }

    /// Lets warps go on in which some threads wait for others that are elsewhere, and reports them; whether there were
    /// any.
    pub(super) fn release_stuck_warps<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> bool {
        let mut released = false;
        for warp in groups(self.status.len(), WARP as usize) {
            let waits = |thread: usize| {
                let Status::Waiting(sync) = self.status[thread] else { return None };
                let shape = machine.program.syncs[sync as usize];
                (shape.scope == SyncScope::Warp && !shape.among.is_in_step()).then_some((thread, sync, shape))
            };
            // Who waits at what is not for it is told of first: that others do not wait for it follows from that.
            let is_unnamed = |&(thread, _, shape): &(usize, u32, SyncShape)| {
                self.members(machine, shape, thread).is_some_and(|members| !members.contains(&thread))
            };
            let mut waiting = warp.clone().filter_map(waits);
            let stuck = waiting.clone().find(is_unnamed).or_else(|| waiting.next());
            let Some((waiting, sync, shape)) = stuck else { continue };
            let members = self.members(machine, shape, waiting).unwrap_or_default();
            let elsewhere = |thread: &usize| matches!(self.status[*thread], Status::Waiting(other) if other != sync);
            let other = if members.contains(&waiting) {
                members.iter().copied().find(elsewhere).or_else(|| warp.clone().find(elsewhere))
            } else {
                Some(waiting)
            };
            self.report(machine, sync, waiting, other.unwrap_or(waiting));
            self.doubt = true;
            released = true;
            let number = warp.start / WARP as usize;
            self.release_warp(machine, number, shape, warp);
        }
        released
    }

    /// A thread that a barrier of some threads is for and that does not get there, where a thread waits at it.
    pub(super) fn missing<S>(&self, machine: &Machine<'_, S>, sync: u32, waiting: usize) -> Option<usize> {
        let shape = machine.program.syncs[sync as usize];
        if shape.among.is_everyone() {
            return None;
        }
        let members = self.members(machine, shape, waiting)?;
        members.into_iter().find(|&member| !matches!(self.status[member], Status::Waiting(other) if other == sync))
    }

    /// The threads that a barrier is for at which this one waits; `None` if that is not known.
    pub(super) fn members<S>(&self, machine: &Machine<'_, S>, shape: SyncShape, thread: usize) -> Option<Vec<usize>> {
        let of_scope = if shape.scope == SyncScope::Warp { self.warp_of(thread) } else { 0..self.status.len() };
        match shape.among {
            Among::All | Among::Counted | Among::InStep(_) => Some(of_scope.collect()),
            Among::Arrivals(_) | Among::Placeholder(_) => None,
            Among::Tiles(size) => {
                let size = size as usize;
                let start = thread / size * size;
                Some((start..(start + size).min(self.status.len())).collect())
            }
            Among::Named(cond) => {
                let mut named = Vec::new();
                for member in of_scope {
                    match self.value(machine, cond, member).bits() {
                        Some(0) => {}
                        Some(_) => named.push(member),
                        None => return None,
                    }
                }
                Some(named)
            }
        }
    }

    /// The value of an expression in a thread, wherever that is.
    pub(super) fn value<S>(&self, machine: &Machine<'_, S>, cond: ExprId, thread: usize) -> Value {
        let geometry = machine.program.first_geometry();
        let mut leaves = machine.registers[..geometry + 12].to_vec();
        let locals = self.locals(thread);
        leaves[..locals.len()].copy_from_slice(locals);
        let [width, height, _] = self.extents;
        let linear = thread as u32;
        let position = [linear % width, linear / width % height, linear / width / height];
        for axis in 0..3 {
            leaves[geometry + axis] = Value::known(i64::from(position[axis]));
        }
        relate::value(machine.program, cond, leaves)
    }

    fn warp_of(&self, thread: usize) -> Range<usize> {
        let size = WARP as usize;
        let start = thread / size * size;
        start..(start + size).min(self.status.len())
    }

    /// These threads have met at a barrier and go on; `whole` is the warp that it may be for as a whole.
    fn meet<S: Sink>(
        &mut self,
        machine: &mut Machine<'_, S>,
        sync: u32,
        threads: Vec<usize>,
        whole: Option<Range<usize>>,
    ) {
        let program = machine.program;
        let shape = program.syncs[sync as usize];
        let index = self.index;
        machine.memory.publish(
            |thread| thread.block == index && threads.contains(&(thread.thread as usize)),
            |array| is_ordered(program, shape.memory, array),
        );
        // In lock-step nobody counts who has ended: nothing says that it did so before.
        let is_whole = whole.filter(|warp| !shape.among.is_in_step() || threads.len() == warp.len());
        if let Some(warp) = &is_whole {
            count(program, &mut self.warps[warp.start / WARP as usize], shape.memory);
        }
        if shape.memory != SyncMemory::NONE && (is_whole.is_none() || program.has_groups) {
            self.met += 1;
            let threads: Vec<u32> = threads.iter().map(|&thread| thread as u32).collect();
            machine.sink.met(index, Meeting::Together(&threads));
        }
        for thread in threads {
            self.status[thread] = Status::Ready;
        }
    }
}

fn is_in_step<S>(machine: &Machine<'_, S>, sync: u32) -> bool {
    machine.program.syncs[sync as usize].among.is_in_step()
}

/// The aligned groups of so many threads.
fn groups(threads: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..threads).step_by(size).map(move |start| start..(start + size).min(threads))
}
