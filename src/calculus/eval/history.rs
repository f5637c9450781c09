//! All accesses of a run, in phases.

use super::{Event, Sink, Value};
use crate::calculus::Space;

/// An access with the variables of its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The access.
    pub event: Event,
    /// The variables just before it, by handle.
    pub locals: Vec<Value>,
}

/// The accesses of one block between two block syncs, thread after thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// The block, as a position among those that were run.
    pub block: u32,
    /// Number of block syncs before.
    pub number: u32,
    /// The accesses.
    pub accesses: Vec<Recorded>,
}

/// A sink that keeps everything; for tests and small geometries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The accesses in the order in which they were run.
    pub accesses: Vec<Recorded>,
}

impl Sink for History {
    fn access(&mut self, event: &Event, locals: &[Value]) {
        self.accesses.push(Recorded { event: *event, locals: locals.to_vec() });
    }
}

impl History {
    /// The accesses by block and phase, in order.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases: std::collections::BTreeMap<(u32, u32), Phase> = std::collections::BTreeMap::new();
        for recorded in &self.accesses {
            let (block, number) = (recorded.event.thread.block, recorded.event.phase);
            let phase = phases.entry((block, number)).or_insert_with(|| Phase { block, number, accesses: Vec::new() });
            phase.accesses.push(recorded.clone());
        }
        phases.into_values().collect()
    }
}

/// Whether threads share memory of this space, so that accesses to it are reported.
pub(super) fn is_reported(space: Space) -> bool {
    space != Space::Private
}
