//! Order by meetings: barriers that are for some threads of a block, which no number of passed barriers tells.
//!
//! The meetings of a block are numbered as they happen, and an access has the number of those before it. Who meets is
//! ordered with whoever was met before, so that order spreads from meeting to meeting: the accesses of two threads are
//! ordered if the meetings between them lead from the one to the other. At an object that counts arrivals who has waited
//! for a phase is ordered with those who arrived in it, and not the other way round.
//!
//! Deliberately absent: barriers of all threads of a group, which are counted ([`super::passed`]).

use crate::arena::Arena;
use crate::calculus::eval::{Event, Meeting};
use crate::calculus::{ArrayId, Site, Told};
use std::collections::BTreeMap;

/// The meetings of the blocks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    blocks: BTreeMap<u32, OfBlock>,
}

/// The meetings of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfBlock {
    all: Vec<Noted>,
    /// Phases by the order in which they came up, so that a set of them is a few words: it is asked about each pair of
    /// accesses.
    phases: BTreeMap<u32, u32>,
}

impl OfBlock {
    fn phase(&mut self, phase: u32) -> u32 {
        let next = self.phases.len() as u32;
        *self.phases.entry(phase).or_insert(next)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Noted {
    /// Threads.
    Together(Bits),
    /// A thread arrives in a phase, by its number in [`OfBlock::phases`], at objects that start there.
    Arrives(u32, u32, (ArrayId, i64)),
    /// A thread has waited for a phase, by its number.
    Passes(u32, u32),
}

/// An access as meetings see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    /// Its thread in the block.
    pub thread: u32,
    /// The number of meetings before it.
    pub met: u32,
    /// For one of an asynchronous copy, what tells that it is done.
    pub told: Option<Told>,
}

impl Stands {
    /// The access of an event; `sites` are those of its kernel.
    pub fn of(event: &Event, sites: &Arena<Site>) -> Stands {
        let told = sites.get(event.site).and_then(|site| site.told);
        Stands { thread: event.thread.thread, met: event.stamp.met, told }
    }
}

/// Small numbers as bits: of threads, of phases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn place(number: u32) -> (usize, u64) {
        (number as usize / 64, 1 << (number % 64))
    }

    fn insert(&mut self, number: u32) {
        let (word, bit) = Bits::place(number);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    fn contains(&self, number: u32) -> bool {
        let (word, bit) = Bits::place(number);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    fn extend(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(bits, more)| *bits |= more);
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Bits {
        let mut bits = Bits::default();
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }
}

impl Met {
    /// Threads of a block meet.
    pub fn note(&mut self, block: u32, meeting: Meeting<'_>) {
        let block = self.blocks.entry(block).or_default();
        let noted = match meeting {
            Meeting::Together(threads) => Noted::Together(threads.iter().copied().collect()),
            Meeting::Arrives { thread, phase, at } => Noted::Arrives(thread, block.phase(phase), at),
            Meeting::Passes(thread, phase) => Noted::Passes(thread, block.phase(phase)),
        };
        block.all.push(noted);
    }

    /// Forgets all meetings.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Whether meetings of a block stand between the accesses of two of its threads.
    pub fn orders(&self, block: u32, one: Stands, other: Stands) -> bool {
        let (first, second) = if one.met <= other.met { (one, other) } else { (other, one) };
        let (Stands { thread: first, mut told, .. }, between) = (first, first.met as usize..second.met as usize);
        let second = second.thread;
        let Some(meetings) = self.blocks.get(&block).and_then(|block| block.all.get(between)) else {
            return false;
        };
        let (mut reached, mut phases) = (Bits::default(), Bits::default());
        if told.is_none() {
            reached.insert(first);
        }
        for meeting in meetings {
            match meeting {
                Noted::Together(threads) => {
                    if threads.meets(&reached) {
                        reached.extend(threads);
                    }
                }
                Noted::Arrives(thread, phase, at) => {
                    // The arrival that tells of a copy; its thread knows no more of it than others do.
                    let tells = *thread == first && told.is_some_and(|told| (told.array, told.start) == *at);
                    if tells {
                        told = None;
                    }
                    if tells || reached.contains(*thread) {
                        phases.insert(*phase);
                    }
                }
                Noted::Passes(thread, phase) => {
                    if phases.contains(*phase) {
                        reached.insert(*thread);
                    }
                }
            }
        }
        reached.contains(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(thread: u32, met: u32) -> Stands {
        Stands { thread, met, told: None }
    }

    fn arrives(thread: u32, phase: u32) -> Meeting<'static> {
        Meeting::Arrives { thread, phase, at: (ArrayId::from_index(0), 8 * i64::from(phase / 10)) }
    }

    #[test]
    fn a_meeting_orders_who_is_there() {
        let mut met = Met::default();
        met.note(0, Meeting::Together(&[0, 1]));
        assert!(met.orders(0, at(0, 0), at(1, 1)) && met.orders(0, at(1, 1), at(0, 0)));
        assert!(!met.orders(0, at(0, 0), at(2, 1)), "the third was not there");
        assert!(!met.orders(0, at(0, 0), at(1, 0)), "both before it");
        assert!(!met.orders(1, at(0, 0), at(1, 1)), "another block");
    }

    #[test]
    fn order_spreads_from_meeting_to_meeting() {
        let mut met = Met::default();
        met.note(0, Meeting::Together(&[0, 1]));
        met.note(0, Meeting::Together(&[1, 70]));
        assert!(met.orders(0, at(0, 0), at(70, 2)));
        assert!(!met.orders(0, at(0, 1), at(70, 2)), "the first meeting is over");
        assert!(!met.orders(0, at(70, 0), at(0, 2)), "not the other way round");
    }

    #[test]
    fn who_waits_sees_what_stood_before_an_arrival() {
        let mut met = Met::default();
        met.note(0, arrives(0, 7));
        met.note(0, arrives(1, 7));
        met.note(0, Meeting::Passes(1, 7));
        assert!(met.orders(0, at(0, 0), at(1, 3)));
        assert!(!met.orders(0, at(0, 1), at(1, 3)), "behind the arrival");
        assert!(!met.orders(0, at(0, 0), at(1, 2)), "before the wait");
        assert!(!met.orders(0, at(1, 0), at(0, 3)), "who only arrives sees nothing");
        met.note(0, Meeting::Passes(2, 8));
        assert!(!met.orders(0, at(0, 0), at(2, 4)), "another phase");
    }

    #[test]
    fn a_copy_is_done_for_who_has_waited_for_what_tells_of_it() {
        let mut met = Met::default();
        let copy = |met| Stands { told: Some(Told { array: ArrayId::from_index(0), start: 8 }), ..at(0, met) };
        met.note(0, arrives(0, 5));
        met.note(0, Meeting::Passes(1, 5));
        met.note(0, arrives(0, 17));
        met.note(0, Meeting::Passes(1, 17));
        met.note(0, Meeting::Passes(0, 17));
        assert!(met.orders(0, at(0, 0), at(1, 2)) && !met.orders(0, copy(0), at(1, 2)), "another object");
        assert!(met.orders(0, copy(0), at(1, 4)) && !met.orders(0, copy(0), at(1, 3)));
        assert!(met.orders(0, copy(0), at(0, 5)) && !met.orders(0, copy(0), at(0, 4)), "its own thread waits, too");
        assert!(!met.orders(0, copy(3), at(1, 5)), "behind the arrival that would tell of it");
    }
}
