//! Witnesses in the words of the report.

use super::{Context, element};
use crate::calculus::ArrayId;
use crate::diagnostic::report::{WitnessReport, WitnessThread};
use crate::prove::Witness;

/// A witness of a conflict on `array`, or of a divergence if there is no array.
pub(super) fn report(context: &Context<'_>, witness: &Witness, array: Option<ArrayId>) -> WitnessReport {
    let thread = |thread: &crate::prove::WitnessThread| WitnessThread {
        block: thread.block,
        thread: thread.thread,
        locals: thread.locals.clone(),
    };
    let [first, second] = &witness.threads;
    WitnessReport {
        block_dim: witness.geometry.block,
        grid_dim: witness.geometry.grid,
        threads: [thread(first), thread(second)],
        params: witness.params.clone(),
        byte_offset: array.map(|_| witness.byte_offset),
        element: array.map(|array| element::name(&context.kernel.arrays[array], witness.byte_offset)),
    }
}
