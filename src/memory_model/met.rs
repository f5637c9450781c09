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
use std::collections::{BTreeMap, BTreeSet};

/// The meetings of the blocks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// For each block its meetings.
    blocks: BTreeMap<u32, Vec<Noted>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Noted {
    /// Threads, as bits.
    Together(Box<[u64]>),
    /// A thread arrives in a phase, at objects that start there.
    Arrives(u32, u32, (ArrayId, i64)),
    /// A thread has waited for a phase.
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

/// Threads as bits.
fn bits_of(threads: &[u32]) -> Box<[u64]> {
    let words = threads.iter().map(|&thread| place(thread).0 + 1).max().unwrap_or(0);
    let mut bits = vec![0; words].into_boxed_slice();
    for &thread in threads {
        let (word, bit) = place(thread);
        bits[word] |= bit;
    }
    bits
}

/// The bits of a thread.
fn place(thread: u32) -> (usize, u64) {
    (thread as usize / 64, 1 << (thread % 64))
}

impl Met {
    /// Threads of a block meet.
    pub fn note(&mut self, block: u32, meeting: Meeting<'_>) {
        let noted = match meeting {
            Meeting::Together(threads) => Noted::Together(bits_of(threads)),
            Meeting::Arrives { thread, phase, at } => Noted::Arrives(thread, phase, at),
            Meeting::Passes(thread, phase) => Noted::Passes(thread, phase),
        };
        self.blocks.entry(block).or_default().push(noted);
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
        let Some(meetings) = self.blocks.get(&block).and_then(|all| all.get(between)) else {
            return false;
        };
        let mut reached: Vec<u64> = Vec::new();
        let reach = |reached: &mut Vec<u64>, word: usize, bits: u64| {
            reached.resize(reached.len().max(word + 1), 0);
            reached[word] |= bits;
        };
        if told.is_none() {
            let (word, bit) = place(first);
            reach(&mut reached, word, bit);
        }
        let has_reached = |reached: &[u64], thread: u32| {
            let (word, bit) = place(thread);
            reached.get(word).is_some_and(|bits| bits & bit != 0)
        };
        let mut phases: BTreeSet<u32> = BTreeSet::new();
        for meeting in meetings {
            let meeting = match meeting {
                Noted::Together(meeting) => meeting,
                Noted::Arrives(thread, phase, at) => {
                    // The arrival that tells of a copy; its thread knows no more of it than others do.
                    let tells = *thread == first && told.is_some_and(|told| (told.array, told.start) == *at);
                    if tells {
                        told = None;
                    }
                    if tells || has_reached(&reached, *thread) {
                        phases.insert(*phase);
                    }
                    continue;
                }
                Noted::Passes(thread, phase) => {
                    if phases.contains(phase) {
                        let (word, bit) = place(*thread);
                        reach(&mut reached, word, bit);
                    }
                    continue;
                }
            };
            if meeting.iter().zip(&reached).any(|(there, reached)| there & reached != 0) {
                meeting.iter().enumerate().for_each(|(word, &bits)| reach(&mut reached, word, bits));
            }
        }
        has_reached(&reached, second)
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
