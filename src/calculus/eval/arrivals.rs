//! Objects that count arrivals, as they are used in a run.
//!
//! Deliberately absent: who is ordered with whom; whoever listens is told of each arrival and each wait that comes to an end
//! ([`Meeting`]).

use super::machine::Machine;
use super::schedule::{Block, Status, is_ordered};
use super::{Meeting, Sink};
use crate::calculus::{ArrayId, Part};
use std::collections::BTreeMap;

/// The objects of a block.
#[derive(Default)]
pub(super) struct Objects {
    known: BTreeMap<(ArrayId, i64), Object>,
    /// The phases that threads wait for: the object, the phase, and the number that it is told by.
    awaited: BTreeMap<usize, ((ArrayId, i64), u32, u32)>,
    /// Phases that began.
    begun: u32,
}

struct Object {
    arrived: u32,
    phase: u32,
    /// The number that the phase is told by.
    told: u32,
}

impl Objects {
    fn phase_begins(&mut self) -> u32 {
        self.begun += 1;
        self.begun
    }

    /// Forgets who waits for what.
    pub(super) fn give_up(&mut self) {
        self.awaited.clear();
    }
}

impl Block {
    /// Lets threads arrive, and those go on whose phase is complete; whether there were any.
    pub(super) fn release_arrivals<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> bool {
        let mut released = false;
        for thread in 0..self.status.len() {
            let Status::Waiting(sync) = self.status[thread] else { continue };
            let shape = machine.program.syncs[sync as usize];
            let Some(what) = shape.among.arrivals() else { continue };
            if !self.objects.awaited.contains_key(&thread) {
                released = true;
                let Some(offset) = self.value(machine, what.offset, thread).bits() else {
                    // Nobody knows at which object it arrives.
                    self.doubt = true;
                    machine.run.inexact = true;
                    self.status[thread] = Status::Ready;
                    continue;
                };
                let (program, block) = (machine.program, self.index);
                machine.memory.publish(
                    |other| other.block == block && other.thread as usize == thread,
                    |array| is_ordered(program, shape.memory, array),
                );
                let count = what.count.unwrap_or(self.status.len() as u32);
                let place = (what.array, offset);
                let told = self.arrive(place, count, |told| Meeting::Arrives(thread as u32, told), machine);
                if what.part == Part::Meets {
                    self.objects.awaited.insert(thread, (place, told.0, told.1));
                } else {
                    self.status[thread] = Status::Ready;
                }
            }
        }
        let is_over = |objects: &Objects, (place, phase, _): &((ArrayId, i64), u32, u32)| {
            objects.known.get(place).is_some_and(|object| object.phase > *phase)
        };
        let over: Vec<usize> =
            self.objects.awaited.iter().filter(|(_, what)| is_over(&self.objects, what)).map(|(at, _)| *at).collect();
        for thread in over {
            if let Some((_, _, told)) = self.objects.awaited.remove(&thread) {
                self.met += 1;
                machine.sink.met(self.index, Meeting::Passes(thread as u32, told));
                self.status[thread] = Status::Ready;
                released = true;
            }
        }
        released
    }

    /// Gives the phase that it was, and the number that this is told by.
    fn arrive<S: Sink>(
        &mut self,
        place: (ArrayId, i64),
        count: u32,
        meeting: impl FnOnce(u32) -> Meeting<'static>,
        machine: &mut Machine<'_, S>,
    ) -> (u32, u32) {
        if !self.objects.known.contains_key(&place) {
            let told = self.objects.phase_begins();
            self.objects.known.insert(place, Object { arrived: 0, phase: 0, told });
        }
        let next = self.objects.begun + 1;
        let Some(object) = self.objects.known.get_mut(&place) else { return (0, 0) };
        let now = (object.phase, object.told);
        object.arrived += 1;
        if object.arrived >= count {
            *object = Object { arrived: 0, phase: object.phase + 1, told: next };
            self.objects.begun = next;
        }
        self.met += 1;
        machine.sink.met(self.index, meeting(now.1));
        now
    }

    /// Whether some thread waits at an object.
    pub(super) fn waits_at_objects<S>(&self, machine: &Machine<'_, S>) -> bool {
        let at_object = |status: &Status| match status {
            Status::Waiting(sync) => machine.program.syncs[*sync as usize].among.arrivals().is_some(),
            Status::Ready | Status::Ended => false,
        };
        self.status.iter().any(at_object)
    }
}
