//! Which extents of a launch matter to a kernel: along the others it is taken to have one thread, or one block.
//!
//! Nobody launches a kernel over `y` that asks for `threadIdx.x` alone. Along `x` more is looked at, since a kernel that
//! does not ask who its threads are may be run by many all the same:
//! - one that reads no id and no extent at all is not taken to run in one thread, of which everything is true;
//! - one that lets its threads meet or count (a barrier, an atomic, a fence) has several in a block;
//! - one that fences for the whole device, takes something by an exchange in global memory or draws numbers there, or has
//!   atomics there that are such for the block alone, has several blocks.
//!
//! Deliberately absent: what a launch in the source says, which goes before all this ([`crate::driver`]).

use super::statements::every;
use super::{AtomicOp, Expr, GeometryVar, Kernel, Space, Stmt, SyncScope};

/// The extents that matter: along the axes of a block, then along those of the grid.
pub fn that_matter(kernel: &Kernel) -> [[bool; 3]; 2] {
    let mut read = [[false; 3]; 2];
    // An id that decides nothing (of an empty `if`) stands in no statement.
    for (_, expr) in kernel.exprs.iter() {
        if let Expr::Geometry(var) = expr {
            match var {
                GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis) => read[0][axis.index()] = true,
                GeometryVar::BlockIdx(axis) | GeometryVar::GridDim(axis) => read[1][axis.index()] = true,
            }
        }
    }
    for (read, numbered) in read[0].iter_mut().zip(kernel.numbered) {
        *read &= !numbered;
    }
    let asks = read.map(|axes| axes.contains(&true));
    let nobody = asks == [false, false] && kernel.numbered == [false; 3];
    read[0][0] |= nobody || (!asks[0] && has_several_threads(kernel));
    read[1][0] |= nobody || (!asks[1] && has_several_blocks(kernel));
    read
}

fn has_several_threads(kernel: &Kernel) -> bool {
    any(kernel, |stmt| match stmt {
        Stmt::Sync { among, .. } => !among.is_in_step(),
        Stmt::Atomic { .. } | Stmt::Fence { .. } => true,
        _ => false,
    })
}

fn has_several_blocks(kernel: &Kernel) -> bool {
    any(kernel, |stmt| match stmt {
        Stmt::Sync { scope, .. } | Stmt::Fence { scope, .. } => *scope >= SyncScope::Grid,
        // Numbers that are drawn from global memory share out work, and an atomic that is one for the block alone says that
        // there are others.
        Stmt::Atomic { access, op, var, scope, .. } => {
            let draws = var.is_some() && op.is_counting();
            (draws || *op == AtomicOp::CompareExchange || *scope <= SyncScope::Block)
                && kernel.arrays[access.array].space == Space::Global
        }
        _ => false,
    })
}

fn any(kernel: &Kernel, is_such: impl Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    every(&kernel.body, |stmt| found |= is_such(stmt));
    found
}
