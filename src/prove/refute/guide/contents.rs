//! Reads of memory whose contents may be chosen, as free values of a sketch: the same for all reads of one place.

use super::{Apart, Class, LARGE, Launch, Reading, Sketch, Taste, sketch_with};
use crate::calculus::{ArrayId, BinaryOp, ScalarType, VarId};
use crate::protocol::{Guard, LoopId, Origin, Protocol, Role};
use crate::prove::Pair;
use crate::prove::domains::{NodeId, Op, Range};
use crate::prove::refute::space::Space;
use std::collections::BTreeSet;

/// Reads that lead to each other (`col[row[i]]`) that are followed.
const READS_IN_A_ROW: u32 = 4;
/// Reads of one array that are compared with each other.
const MOST_READS: usize = 12;

/// A number that was chosen for a place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove::refute) struct Placed {
    pub(in crate::prove::refute) array: ArrayId,
    pub(in crate::prove::refute) offset: i64,
    pub(in crate::prove::refute) bytes: u32,
    pub(in crate::prove::refute) number: i64,
}

/// A launch, and contents of the arrays `free`, with which `pair` may conflict; `None` if none was found.
pub(in crate::prove::refute) fn conflict_with_contents(
    protocol: &Protocol,
    pair: &Pair,
    choices: &Space,
    free: &BTreeSet<ArrayId>,
) -> Option<(Launch, Vec<Placed>)> {
    let accesses = [&protocol.accesses[pair.first], &protocol.accesses[pair.second]];
    sketch_with(protocol, choices, pair.level, Apart::Distinct, free, &|sketch| {
        sketch.enter_loops(&accesses[0].loops, &accesses[1].loops, &pair.meeting.relations)?;
        for (env, access) in accesses.iter().enumerate() {
            sketch.hold_what_is_known(env, &access.loops, &access.guards);
        }
        let offsets = [sketch.expr(accesses[0].offset, 0)?, sketch.expr(accesses[1].offset, 1)?];
        for offset in offsets {
            sketch.problem.require(offset, Range { low: 0, high: i64::MAX });
        }
        sketch.overlap(offsets, accesses.map(|access| i64::from(access.bytes)));
        Some(())
    })
}

impl Sketch<'_> {
    /// The thread of `env` satisfies those of these guards and of the tests of these loops that can be expressed: the run
    /// finds out about the others.
    fn hold_what_is_known(&mut self, env: usize, loops: &[LoopId], guards: &[Guard]) {
        let protocol = self.protocol;
        let tests = loops.iter().map(|&id| protocol.loops[id].guard);
        for cond in guards.iter().map(|guard| guard.cond).chain(tests) {
            if let Some(node) = self.expr(cond, env) {
                self.problem.require(node, Range::TRUE);
            }
        }
    }

    /// What a read of an array finds whose contents may be chosen.
    pub(super) fn reading(&mut self, var: VarId, env: usize) -> Option<NodeId> {
        let protocol = self.protocol;
        let Some(&Role::Opaque(id)) = protocol.roles.get(var) else { return None };
        // What is read may have been written since: the run finds out.
        let Origin::Read { array, offset, bytes, .. } = protocol.opaques[id].origin else { return None };
        let range = Range::of(protocol.vars[var].ty);
        let is_number = protocol.vars[var].ty.range().is_some();
        if !self.contents.contains(&array) || !is_number || self.depth >= READS_IN_A_ROW {
            return None;
        }
        self.depth += 1;
        let offset = self.expr(offset, env);
        self.depth -= 1;
        let offset = offset?;
        let alike = |known: &&Reading| known.array == array && known.bytes == bytes;
        if let Some(known) = self.reads.iter().filter(alike).find(|known| known.offset == offset) {
            return Some(known.value);
        }
        self.problem.require(offset, Range { low: 0, high: i64::MAX });
        let low = if self.taste == Taste::Natural { 0 } else { range.low };
        let value = self.free(Class::Contents, Range { low, high: range.high.min(LARGE) });
        let others: Vec<[NodeId; 2]> =
            self.reads.iter().filter(alike).map(|known| [known.offset, known.value]).take(MOST_READS).collect();
        for [other_offset, other_value] in others {
            let apart = self.problem.wide(BinaryOp::Ne, offset, other_offset);
            let equal = self.problem.wide(BinaryOp::Eq, value, other_value);
            let either = self.problem.node(Op::Binary(BinaryOp::Or, apart, equal, ScalarType::Bool));
            self.problem.require(either, Range::TRUE);
        }
        self.reads.push(Reading { array, bytes, offset, value });
        Some(value)
    }

    /// The numbers of a solution.
    pub(super) fn placed(&self, values: &[i64]) -> Vec<Placed> {
        let placed = self.reads.iter().map(|read| Placed {
            array: read.array,
            offset: values[read.offset as usize],
            bytes: read.bytes,
            number: values[read.value as usize],
        });
        placed.collect()
    }
}
