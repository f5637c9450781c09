//! Groups: what it means for two threads of a block to be of one warp, or of two, and for blocks to be of one cluster.
//!
//! The number of a thread within its block is `x + dx*(y + dy*z)`, its warp that number divided by the size of
//! a warp. Threads of one warp have equal quotients. Threads of two warps have different ones, so that the
//! quotients alone tell them apart and serve as coordinates.
//!
//! A cluster is a box of neighbouring blocks (CUDA programming guide, "Thread Block Clusters"): along each axis the
//! quotient of `blockIdx` by the cluster's extent says which cluster, the remainder which block of it. Blocks of one
//! cluster have equal quotients and are told apart by the remainders, those of two clusters by the quotients.
//!
//! Deliberately absent: OpenCL's sub-groups, whose size is the device's; nobody asks about them here.

use crate::calculus::Axis;
use crate::calculus::GeometryVar::{BlockDim, BlockIdx, ThreadIdx};
use crate::calculus::eval::WARP;
use crate::memory_model::Level;
use crate::prove::Groups;
use crate::prove::condition::draft::atoms::Named;
use crate::prove::condition::draft::division::Rounding;
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::environments::EnvId;
use crate::prove::state::poly::{Poly, Side};
use crate::prove::state::{Alternative, Literal};

/// Adds what is known of the warps or clusters of the two threads; after the guards, which bound quotients.
pub(in crate::prove::condition) fn assume_groups(builder: &mut Builder<'_>, groups: Groups) -> Option<()> {
    match (groups, builder.launch.level) {
        (Groups::Any, _) => Some(()),
        (_, Level::Grid) => assume_clusters(builder, groups),
        _ => assume_warps(builder, groups),
    }
}

fn assume_warps(builder: &mut Builder<'_>, groups: Groups) -> Option<()> {
    let (first, second) = (warp(builder, 0)?, warp(builder, 1)?);
    let (first, second) = (builder.draft.normal(&first)?, builder.draft.normal(&second)?);
    match groups {
        Groups::Any => {}
        Groups::Same => builder.draft.literal(Literal::Zero(first.minus(&second)?)),
        Groups::Different if first == second => builder.draft.state.facts.push(Poly::constant(-1)),
        Groups::Different => builder.draft.state.coordinates = vec![(first, second)],
    }
    Some(())
}

/// Where the extents of clusters are not known, nothing is known of clusters either.
fn assume_clusters(builder: &mut Builder<'_>, groups: Groups) -> Option<()> {
    let Some(extents) = builder.protocol.geometry.clusters() else { return Some(()) };
    let mut coordinates = Vec::new();
    for axis in Axis::ALL {
        let extent = Poly::constant(i64::from(extents[axis.index()]));
        let mut digits = Vec::new();
        for (env, side) in Side::BOTH.into_iter().enumerate() {
            let block = builder.geometry(BlockIdx(axis), side)?;
            digits.push(builder.draft.divide(
                Named::Block(axis),
                builder.environments.thread(env),
                &block,
                &extent,
                Rounding::Down,
                0,
            )?);
        }
        let [first, second] = [0, 1].map(|side: usize| builder.draft.normal(&digits[side].0));
        let (first, second) = (first?, second?);
        if groups == Groups::Same {
            builder.draft.literal(Literal::Zero(first.minus(&second)?));
            let [first, second] = [0, 1].map(|side: usize| builder.draft.normal(&digits[side].1));
            coordinates.push((first?, second?));
        } else {
            coordinates.push((first, second));
        }
    }
    coordinates.retain(|(first, second)| first != second);
    if coordinates.is_empty() {
        builder.draft.state.facts.push(Poly::constant(-1));
    }
    builder.draft.state.coordinates = coordinates;
    Some(())
}

/// The ways in which the two threads are in different aligned groups of so many.
pub(in crate::prove::condition) fn apart(builder: &mut Builder<'_>, threads: u32) -> Option<Vec<Alternative>> {
    let (first, second) = (group(builder, 0, threads)?, group(builder, 1, threads)?);
    let difference = builder.draft.normal(&first)?.minus(&builder.draft.normal(&second)?)?;
    let (above, below) = (difference.plus_constant(-1)?, difference.negated()?.plus_constant(-1)?);
    Some(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]])
}

/// Says that the two threads are in one aligned group of so many.
pub(in crate::prove::condition) fn assume_one_group(builder: &mut Builder<'_>, threads: u32) -> Option<()> {
    let (first, second) = (group(builder, 0, threads)?, group(builder, 1, threads)?);
    let difference = builder.draft.normal(&first)?.minus(&builder.draft.normal(&second)?)?;
    builder.draft.literal(Literal::Zero(difference));
    Some(())
}

/// The number of the warp of the thread of `env`.
fn warp(builder: &mut Builder<'_>, env: EnvId) -> Option<Poly> {
    group(builder, env, WARP)
}

/// The number of the aligned group of so many threads that the thread of `env` is in.
fn group(builder: &mut Builder<'_>, env: EnvId, size: u32) -> Option<Poly> {
    let side = builder.environments[env].side;
    let (mut number, mut threads) = (Poly::ZERO, Poly::constant(1));
    for axis in Axis::ALL {
        let (id, extent) = (builder.geometry(ThreadIdx(axis), side)?, builder.geometry(BlockDim(axis), side)?);
        number = number.plus(&threads.times(&id)?)?;
        threads = threads.times(&extent)?;
        if threads.as_constant() != Some(1) {
            // So that 32 divides by way of a row of 16 threads.
            builder.draft.note_digit(side, threads.clone(), number.clone());
        }
    }
    Some(
        builder
            .draft
            .divide(
                Named::Thread,
                builder.environments.thread(env),
                &number,
                &Poly::constant(i64::from(size)),
                Rounding::Down,
                0,
            )?
            .0,
    )
}
