//! What the launches in a file say about a kernel: facts about geometry and arguments.
//!
//! `resolve` evaluates what host code around a launch says, because template arguments need the same
//! constants; here the launches of one kernel become sets of facts, each once, in the order in which they
//! first appear. A size or argument that is not a constant is no fact, never a guess. That other launches
//! may exist elsewhere is for the caller to say.
//!
//! Deliberately absent: relations between sizes and arguments (`grid = (n + 255) / 256`).

use crate::calculus::Geometry;
use crate::resolve::program::{FunctionId, Launch, Program, Type};
use crate::source::Span;

/// What one or more equal launches say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Threads of a block, where they are known.
    pub block: [Option<u32>; 3],
    /// Blocks of the grid, where they are known.
    pub grid: [Option<u32>; 3],
    /// Scalar parameters whose arguments are constants, by name, in the order of the parameters.
    pub params: Vec<(String, i128)>,
    /// Bytes of dynamically sized shared memory, if they are known.
    pub shared_bytes: Option<u64>,
    /// The launches, in source order.
    pub spans: Vec<Span>,
}

/// Why a launch can never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// A block has more threads than any device allows.
    #[error("a block of {0} threads is larger than any device allows")]
    Block(u64),
    /// The grid is larger than any device allows.
    #[error("a grid of {0} blocks along one axis is larger than any device allows")]
    Grid(u64),
}

/// The sets of facts that the launches of `kernel` state, and the launches that can never run.
pub fn facts(program: &Program, kernel: FunctionId) -> (Vec<Facts>, Vec<(Span, Impossible)>) {
    let mut found: Vec<Facts> = Vec::new();
    let mut impossible = Vec::new();
    for launch in program.launches.iter().filter(|launch| launch.kernel == kernel) {
        let made = match facts_of(program, launch) {
            Ok(made) => made,
            Err(reason) => {
                impossible.push((launch.span, reason));
                continue;
            }
        };
        match found.iter_mut().find(|known| same(known, &made)) {
            Some(known) => known.spans.extend(made.spans),
            None => found.push(made),
        }
    }
    (found, impossible)
}

/// Whether two sets of facts differ in their places only.
fn same(a: &Facts, b: &Facts) -> bool {
    a.block == b.block && a.grid == b.grid && a.params == b.params && a.shared_bytes == b.shared_bytes
}

fn facts_of(program: &Program, launch: &Launch) -> Result<Facts, Impossible> {
    let threads = launch.block.iter().flatten().try_fold(1_u64, |product, &size| product.checked_mul(size));
    match threads {
        Some(threads) if threads <= Geometry::MAX_BLOCK_THREADS => {}
        other => return Err(Impossible::Block(other.unwrap_or(u64::MAX))),
    }
    let too_long = |(&size, &most): (&Option<u64>, &u32)| size.filter(|&size| size > u64::from(most));
    if let Some(size) = launch.grid.iter().zip(&Geometry::MAX_GRID).find_map(too_long) {
        return Err(Impossible::Grid(size));
    }
    let params = program.functions[launch.kernel].params.iter().zip(&launch.args).filter_map(|(&param, value)| {
        let declared = &program.variables[param];
        let is_scalar = matches!(program.types[declared.ty], Type::Int { .. } | Type::Bool);
        value.filter(|_| is_scalar).map(|value| (declared.name.clone(), value))
    });
    let narrow = |sizes: [Option<u64>; 3]| sizes.map(|size| size.and_then(|size| u32::try_from(size).ok()));
    Ok(Facts {
        block: narrow(launch.block),
        grid: narrow(launch.grid),
        params: params.collect(),
        shared_bytes: launch.shared_bytes,
        spans: vec![launch.span],
    })
}
