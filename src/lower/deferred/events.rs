//! Events of asynchronous copies of OpenCL: which copies a wait for them covers.
//!
//! A copy that is begun with the null event has an event of its own; begun with another event, it joins that one. An
//! event is known by the variable of the calculus that holds it.
//!
//! # Guarantees
//! [`Events::told`] names only copies that are done once the event is waited for, in every run that gets there. Of what a
//! loop begins that is so where the variable gathers: where its event at the end of a turn is the one at the start of the
//! turn, or one that the copy was given it to make.
//!
//! Deliberately absent: events that are stored where an index chooses, and events of functions that are not inlined.

use super::under_way::CopyId;
use crate::calculus::ExprId;
use std::collections::{BTreeMap, BTreeSet};

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lower) struct EventId(usize);

/// Whether it is the null event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Null {
    Yes,
    No,
    Perhaps,
}

#[derive(Clone, Debug)]
struct Event {
    copies: BTreeSet<CopyId>,
    null: Null,
    /// The event that a copy was given to make this one.
    from: Option<EventId>,
}

/// All events of a kernel.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Events {
    known: Vec<Event>,
}

/// The events that variables hold.
pub(in crate::lower) type Held = BTreeMap<ExprId, EventId>;

impl Events {
    fn event(&mut self, copies: BTreeSet<CopyId>, null: Null, from: Option<EventId>) -> EventId {
        self.known.push(Event { copies, null, from });
        EventId(self.known.len() - 1)
    }

    /// The null event, as a variable holds it.
    pub(in crate::lower) fn null(&mut self) -> EventId {
        self.event(BTreeSet::new(), Null::Yes, None)
    }

    /// The event that a copy returns which is begun with `given`; `None` is the null event.
    pub(in crate::lower) fn begin(&mut self, copy: CopyId, given: Option<EventId>) -> EventId {
        let Some(given) = given else { return self.event(BTreeSet::from([copy]), Null::No, None) };
        let before = &mut self.known[given.0];
        if before.null == Null::No {
            before.copies.insert(copy);
            return given;
        }
        let mut copies = before.copies.clone();
        copies.insert(copy);
        self.event(copies, Null::No, Some(given))
    }

    /// The copies that a wait for the event covers.
    pub(in crate::lower) fn told(&self, event: EventId) -> &BTreeSet<CopyId> {
        &self.known[event.0].copies
    }

    /// The event and those that it was made from, the newest first.
    fn line(&self, event: EventId) -> impl Iterator<Item = EventId> + '_ {
        std::iter::successors(Some(event), |event| self.known[event.0].from)
    }

    /// The events that variables hold where two ways meet, each with the copies that are under way at its end.
    pub(in crate::lower) fn join(
        &mut self,
        one: (&Held, &BTreeSet<CopyId>),
        other: (&Held, &BTreeSet<CopyId>),
    ) -> Held {
        let mut joined = Held::new();
        for (&variable, &first) in one.0 {
            let Some(&second) = other.0.get(&variable) else { continue };
            let both = if first == second { first } else { self.either((first, one.1), (second, other.1)) };
            joined.insert(variable, both);
        }
        joined
    }

    /// An event that is one of two.
    fn either(&mut self, one: (EventId, &BTreeSet<CopyId>), other: (EventId, &BTreeSet<CopyId>)) -> EventId {
        let (first, second) = (&self.known[one.0.0], &self.known[other.0.0]);
        // What is not under way at the end of a way needs nobody to wait for it there.
        let covered = |copy: &CopyId| {
            (first.copies.contains(copy) || !one.1.contains(copy))
                && (second.copies.contains(copy) || !other.1.contains(copy))
        };
        let copies = first.copies.union(&second.copies).copied().filter(covered).collect();
        let null = if first.null == second.null { first.null } else { Null::Perhaps };
        let line: Vec<EventId> = self.line(one.0).collect();
        let from = self.line(other.0).find(|event| line.contains(event));
        self.event(copies, null, from)
    }

    /// A loop has been walked once: whatever it has begun is told only by events that gather from turn to turn.
    pub(in crate::lower) fn turn(&mut self, before: &Held, after: &Held, begun: &BTreeSet<CopyId>) {
        let gathers = |(variable, start): (&ExprId, &EventId)| {
            let end = *after.get(variable)?;
            self.line(end).any(|event| event == *start).then_some(end)
        };
        let kept: BTreeSet<EventId> = before.iter().filter_map(gathers).collect();
        for (index, event) in self.known.iter_mut().enumerate() {
            if !kept.contains(&EventId(index)) {
                event.copies.retain(|copy| !begun.contains(copy));
            }
        }
    }
}
