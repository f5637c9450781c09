//! Objects that count arrivals, as they are used in a run.
//!
//! Deliberately absent: who is ordered with whom; whoever listens is told of each arrival and each wait that comes to an end
//! ([`Meeting`]).

use super::machine::Machine;
use super::schedule::{Block, Status, is_ordered};
use super::{Meeting, Sink};
use crate::calculus::{ArrayId, Arrivals, Count, Part};
use std::collections::BTreeMap;

/// Where an object is.
type Place = (ArrayId, i64);

/// The objects of a block.
#[derive(Default)]
pub(super) struct Objects {
    known: BTreeMap<Place, Object>,
    /// The phases that threads wait for.
    awaited: BTreeMap<usize, Awaited>,
    /// How often a thread has arrived at the objects that lie here, and how often it has waited there.
    uses: BTreeMap<(usize, Place), [u64; 2]>,
    /// Phases that began.
    begun: u32,
}

/// A phase of an object.
#[derive(Clone, Copy)]
struct Awaited {
    place: Place,
    phase: usize,
}

/// An object.
struct Object {
    arrived: u32,
    /// The numbers that its phases are told by; the last one is not complete.
    phases: Vec<u32>,
}

impl Objects {
    /// Forgets who waits for what.
    pub(super) fn give_up(&mut self) {
        self.awaited.clear();
    }

    fn object(&mut self, place: Place) -> &mut Object {
        let begun = &mut self.begun;
        self.known.entry(place).or_insert_with(|| {
            *begun += 1;
            Object { arrived: 0, phases: vec![*begun] }
        })
    }

    /// The object of the next use of a thread, and the number of its earlier uses of that object.
    fn turn(&mut self, thread: usize, what: Arrivals, offset: i64) -> (Place, u64) {
        let waits = matches!(what.part, Part::Waits | Part::WaitsBefore);
        let uses = &mut self.uses.entry((thread, (what.array, offset))).or_default()[usize::from(waits)];
        let (number, circle) = (*uses, u64::from(what.circle.max(1)));
        *uses += 1;
        let at = i64::from(Arrivals::BYTES).wrapping_mul((number % circle) as i64);
        ((what.array, offset.wrapping_add(at)), number / circle)
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
            if self.objects.awaited.contains_key(&thread) {
                continue;
            }
            released = true;
            let Some(offset) = self.value(machine, what.offset, thread).bits() else {
                // Nobody knows at which object it is.
                self.doubt = true;
                machine.run.inexact = true;
                self.status[thread] = Status::Ready;
                continue;
            };
            let awaited = match what.part {
                Part::Arrives | Part::Meets => {
                    let (program, block) = (machine.program, self.index);
                    machine.memory.publish(
                        |other| other.block == block && other.thread as usize == thread,
                        |array| is_ordered(program, shape.memory, array),
                    );
                    let (place, _) = self.objects.turn(thread, what, offset);
                    let phase = self.arrive(place, what.count, (thread as u32, (what.array, offset)), machine);
                    (what.part == Part::Meets).then_some(Awaited { place, phase })
                }
                Part::Waits | Part::WaitsBefore => {
                    let (place, number) = self.objects.turn(thread, what, offset);
                    self.objects.object(place);
                    let before = u64::from(what.part == Part::WaitsBefore);
                    number.checked_sub(before).map(|phase| Awaited { place, phase: phase as usize })
                }
            };
            match awaited {
                Some(awaited) => _ = self.objects.awaited.insert(thread, awaited),
                None => self.status[thread] = Status::Ready,
            }
        }
        let told = |objects: &Objects, awaited: &Awaited| {
            let object = objects.known.get(&awaited.place)?;
            // The phase that is not complete is the last one.
            (object.phases.len() > awaited.phase + 1).then(|| object.phases[awaited.phase])
        };
        let over: Vec<(usize, u32)> = self
            .objects
            .awaited
            .iter()
            .filter_map(|(&thread, awaited)| Some((thread, told(&self.objects, awaited)?)))
            .collect();
        for (thread, told) in over {
            self.objects.awaited.remove(&thread);
            self.met += 1;
            machine.sink.met(self.index, Meeting::Passes(thread as u32, told));
            self.status[thread] = Status::Ready;
            released = true;
        }
        released
    }

    /// Gives the phase that it was.
    fn arrive<S: Sink>(
        &mut self,
        place: Place,
        count: Count,
        (thread, at): (u32, Place),
        machine: &mut Machine<'_, S>,
    ) -> usize {
        let threads = self.status.len() as u32;
        let count = match count {
            // What is not settled is not run but in tests.
            Count::Block | Count::Open => threads,
            Count::Number(count) => count,
            Count::Range(from, to) => to.min(threads).saturating_sub(from),
        };
        let object = self.objects.object(place);
        let phase = object.phases.len() - 1;
        let told = object.phases[phase];
        object.arrived += 1;
        if object.arrived >= count {
            object.arrived = 0;
            self.objects.begun += 1;
            let next = self.objects.begun;
            self.objects.object(place).phases.push(next);
        }
        self.met += 1;
        machine.sink.met(self.index, Meeting::Arrives { thread, phase: told, at });
        phase
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
