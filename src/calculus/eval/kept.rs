//! What the threads of a block have written to its shared memory, under chosen contents.
//!
//! A value is known to who reads it in a later phase, and to who has written it, as long as nobody else writes there in
//! between. That holds where every sync is one of all threads of the block and orders shared memory
//! ([`Program`](super::Program) says whether): then phases order what they separate, and nothing else does.
//!
//! Guarantees: a value that is given is what the read finds in every run with these contents, unless two threads touch
//! its place unordered. Where that shows after the read, the phase is *contested*: what happens in it is not certain.
//!
//! Deliberately absent: atomics, and writes of which it is not certain that they happen or where. Of an array that they
//! may touch, nothing is known until it is written in a later phase. Where a thread may not keep up with the barriers,
//! nothing is known of the block any more.

use super::memory::At;
use super::value::Value;
use crate::calculus::ArrayId;
use rustc_hash::{FxHashMap, FxHashSet};

type Place = (u32, ArrayId, i64);

#[derive(Default)]
pub(super) struct Kept {
    written: FxHashMap<Place, Written>,
    /// The last phase in which a place was read, and by whom.
    read: FxHashMap<Place, (u32, Reader)>,
    /// The last phase in which something of an array was read, by block.
    used: FxHashMap<(u32, ArrayId), u32>,
    /// The last phase in which an array was written nobody knows where.
    clouded: FxHashMap<(u32, ArrayId), u32>,
    /// Blocks of which nothing is known any more.
    given_up: FxHashSet<u32>,
}

#[derive(Clone, Copy)]
struct Written {
    phase: u32,
    /// Who; `None` after several threads in one phase.
    thread: Option<u32>,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    One(u32),
    Several,
}

impl Kept {
    /// What a read in `phase` finds.
    pub(super) fn value(&mut self, at: At, phase: u32) -> Value {
        let block = at.thread.block;
        let place = (block, at.array, at.offset);
        let is_clouded =
            |written: &Written| self.clouded.get(&(block, at.array)).is_some_and(|&clouded| clouded >= written.phase);
        let sees = |written: &&Written| {
            (written.phase < phase || written.thread == Some(at.thread.thread))
                && !is_clouded(written)
                && !self.given_up.contains(&block)
        };
        let Some(value) = self.written.get(&place).filter(sees).map(|written| written.value) else {
            return Value::UNKNOWN;
        };
        let own = Reader::One(at.thread.thread);
        let reader = match self.read.get(&place) {
            Some(&(last, reader)) if last == phase && reader != own => Reader::Several,
            _ => own,
        };
        self.read.insert(place, (phase, reader));
        self.used.insert((block, at.array), phase);
        value
    }

    /// A write that certainly happens; whether that contests what was read in this phase.
    pub(super) fn write(&mut self, at: At, phase: u32, value: Value) -> bool {
        let place = (at.thread.block, at.array, at.offset);
        let own = at.thread.thread;
        let met = self.written.get(&place).is_some_and(|last| last.phase == phase && last.thread != Some(own));
        let written = Written { phase, thread: (!met).then_some(own), value: if met { Value::UNKNOWN } else { value } };
        self.written.insert(place, written);
        self.read.get(&place).is_some_and(|&(last, reader)| last == phase && reader != Reader::One(own))
    }

    /// A write nobody knows where, or whether; whether that contests what was read in this phase.
    pub(super) fn cloud(&mut self, block: u32, array: ArrayId, phase: u32) -> bool {
        self.clouded.insert((block, array), phase);
        self.used.get(&(block, array)) == Some(&phase)
    }

    /// Whether something was read in this phase.
    pub(super) fn is_used(&self, block: u32, phase: u32) -> bool {
        self.used.iter().any(|(&(of, _), &last)| of == block && last == phase)
    }

    /// A thread of the block may have missed a barrier.
    pub(super) fn give_up(&mut self, block: u32) {
        self.given_up.insert(block);
    }
}
