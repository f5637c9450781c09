//! Blocks that wait for each other, as those of a cluster and of a cooperative grid do.

use super::machine::Machine;
use super::schedule::{Block, Outcome, Status, is_ordered, report_divergence};
use super::{Sink, ThreadId};
use crate::calculus::{ArrayId, Space, SyncScope};

/// Runs all blocks up to each sync that waits for other blocks: first those of a cluster as far as its syncs let them,
/// then all of the grid. False if the budget ran out or an assumption failed.
pub(super) fn run_together<S: Sink>(machine: &mut Machine<'_, S>, ids: &[[u32; 3]]) -> bool {
    machine.run.blocks = ids.to_vec();
    let facts = &machine.program.geometry;
    let clusters: Vec<[u32; 3]> = ids.iter().map(|&id| facts.cluster_of(id)).collect();
    let mut blocks: Vec<_> = ids.iter().enumerate().map(|(index, &id)| Block::new(machine, index as u32, id)).collect();
    for block in &mut blocks {
        let first = clusters.iter().position(|cluster| *cluster == clusters[block.index as usize]);
        block.cluster = first.unwrap_or(0) as u32;
    }
    let mut at: Vec<Outcome> = vec![Outcome::Runs; blocks.len()];
    loop {
        for (block, at) in blocks.iter_mut().zip(&mut at) {
            if *at == Outcome::Runs {
                *at = block.run(machine);
            }
            if *at == Outcome::Aborted {
                return false;
            }
        }
        let mut goes_on = false;
        for cluster in 0..blocks.len() as u32 {
            let members: Vec<usize> = (0..blocks.len()).filter(|&index| blocks[index].cluster == cluster).collect();
            goes_on |= meet(machine, SyncScope::Cluster, &mut blocks, &mut at, &members);
        }
        if goes_on {
            continue;
        }
        let all: Vec<usize> = (0..blocks.len()).collect();
        if !meet(machine, SyncScope::Grid, &mut blocks, &mut at, &all) {
            return true;
        }
    }
}

/// Lets those blocks of a cluster or of the grid go on that wait for each other; whether there are any. Where not all of
/// them wait at one sync, that is a divergence, and nobody knows what follows.
fn meet<S: Sink>(
    machine: &mut Machine<'_, S>,
    scope: SyncScope,
    blocks: &mut [Block],
    at: &mut [Outcome],
    members: &[usize],
) -> bool {
    let program = machine.program;
    let reach = |sync: u32| program.reach(program.syncs[sync as usize].scope);
    let waits = |at: Outcome| match at {
        // Who waits for the whole grid is missing where its cluster waits; not the other way round.
        Outcome::AtBlocks(sync) if reach(sync) == scope => Some(sync),
        _ => None,
    };
    let Some((first, sync)) = members.iter().find_map(|&index| waits(at[index]).map(|sync| (index, sync))) else {
        return false;
    };
    let other = members.iter().copied().find(|&index| at[index] != Outcome::AtBlocks(sync));
    if let Some(other) = other {
        let witness = |index: usize| {
            let block = &blocks[index];
            let thread = block.status.iter().position(|status| matches!(status, Status::Waiting(_))).unwrap_or(0);
            (ThreadId { block: index as u32, thread: thread as u32 }, block, thread)
        };
        report_divergence(machine, sync, witness(first), witness(other));
    }
    let apart =
        members.iter().any(|&index| !matches!(at[index], Outcome::Ended) && at[index] != Outcome::AtBlocks(sync));
    let doubt = apart || members.iter().any(|&index| blocks[index].doubt);
    let shape = program.syncs[sync as usize];
    let is_member = |block: u32| members.contains(&(block as usize));
    machine.memory.publish(|thread| is_member(thread.block), |array| is_ordered(program, shape.memory, array));
    if scope == SyncScope::Cluster {
        // What blocks have in shared memory of their own is nobody else's.
        let is_common = |array: ArrayId| program.arrays[array.index()].space != Space::Shared;
        let is_passed_on = |array| is_common(array) && is_ordered(program, shape.memory, array);
        machine.memory.publish_to_cluster(is_member, blocks[first].cluster, is_passed_on);
    } else if shape.memory.global {
        machine.memory.publish_to_grid(|array| program.arrays[array.index()].space == Space::Global);
    }
    for &index in members {
        let block = &mut blocks[index];
        machine.sink.sync(block.index, shape.scope, shape.memory);
        block.doubt |= doubt;
        block.release_with_others(program, scope, shape.memory);
        if at[index] != Outcome::Ended {
            at[index] = Outcome::Runs;
        }
    }
    true
}
