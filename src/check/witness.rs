//! Witnesses in the words of the report.

use super::{Context, element};
use crate::calculus::{ArrayId, is_implicit};
use crate::diagnostic::report::{WitnessReport, WitnessThread};
use crate::prove::Witness;
use crate::prove::refute::Incident;

/// A witness of a conflict on `array`, or of a divergence if there is no array.
pub(super) fn report(context: &Context<'_>, witness: &Witness, array: Option<ArrayId>) -> WitnessReport {
    WitnessReport {
        block_dim: witness.geometry.block,
        grid_dim: witness.geometry.grid,
        threads: witness.threads.iter().map(thread).collect(),
        params: told(&witness.params),
        byte_offset: array.map(|_| witness.byte_offset),
        element: array.map(|array| element::name(&context.kernel.arrays[array], witness.byte_offset)),
    }
}

/// What a single thread shows, or one with another.
pub(super) fn incident(incident: &Incident, with: Option<&crate::prove::WitnessThread>) -> WitnessReport {
    WitnessReport {
        block_dim: incident.geometry.block,
        grid_dim: incident.geometry.grid,
        threads: [&incident.thread].into_iter().chain(with).map(thread).collect(),
        params: told(&incident.params),
        byte_offset: None,
        element: None,
    }
}

/// The values of parameters, without what nobody states.
fn told(params: &[(String, i128)]) -> Vec<(String, i128)> {
    params.iter().filter(|(name, value)| *value != 0 || !is_implicit(name)).cloned().collect()
}

fn thread(thread: &crate::prove::WitnessThread) -> WitnessThread {
    WitnessThread { block: thread.block, thread: thread.thread, locals: thread.locals.clone() }
}
