//! How many threads a warp has, and which axes of the block matter for nothing but the numbers of threads in their warps.
//!
//! CUDA promises 32; for HIP the device decides, and what a kernel counts on is told with its verdict. Masks, shuffles and draws
//! mention every axis of the block, since the number of a thread within its warp does; that says nothing of the axes that the
//! source uses. So they are told apart: [`unmentioned`] before such passes, [`numbered`] after them.
//!
//! Deliberately absent: sub-groups of OpenCL, of which nothing is said.

use super::masks;
use crate::calculus::statements::every;
use crate::calculus::{Axis, Expr, GeometryVar, Kernel, Platform, Reliance, Relied, Stmt, SyncScope, VarId};

/// The threads of a warp are counted where threads of one meet, and the device decides how many there are.
pub(super) fn count(kernel: &mut Kernel) {
    let is_open = kernel.geometry.platform == Platform::Hip && kernel.geometry.platform.rules().warp.is_none();
    let reliance = Reliance { what: Relied::LanesOf32, span: None };
    if is_open && has_warp_barriers(kernel) && !kernel.relies.contains(&reliance) {
        kernel.relies.push(reliance);
    }
}

/// Axes that nothing mentions yet are those that only numbers within warps will.
pub(super) fn unmentioned(kernel: &mut Kernel) {
    let mentioned = mentioned(kernel);
    for axis in [Axis::Y, Axis::Z].map(Axis::index) {
        kernel.numbered[axis] = !mentioned[axis];
    }
}

/// What the variable holds that stands for the number of the thread within its warp.
pub(super) fn number(kernel: &mut Kernel, lane: Option<VarId>) {
    if let Some(var) = lane {
        let value = masks::lane(&mut kernel.exprs);
        kernel.body.insert(0, Stmt::Let { var, value });
    }
}

/// Of these axes, those that something mentions now.
pub(super) fn numbered(kernel: &mut Kernel) {
    let mentioned = mentioned(kernel);
    for axis in [Axis::Y, Axis::Z].map(Axis::index) {
        kernel.numbered[axis] &= mentioned[axis];
    }
}

/// The axes of the block that something mentions.
pub(super) fn mentioned(kernel: &Kernel) -> [bool; 3] {
    let mut mentioned = [false; 3];
    for (_, node) in kernel.exprs.iter() {
        if let Expr::Geometry(GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis)) = node {
            mentioned[axis.index()] = true;
        }
    }
    mentioned
}

/// Whether threads of a warp meet.
fn has_warp_barriers(kernel: &Kernel) -> bool {
    let mut found = false;
    every(&kernel.body, |stmt| found |= matches!(stmt, Stmt::Sync { scope: SyncScope::Warp, .. }));
    found
}
