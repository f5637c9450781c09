//! Clusters of blocks: positions in them, and shared memory that the blocks of a cluster reach.
//!
//! How many blocks a cluster has is known where the kernel says so (`__cluster_dims__`): position, rank and number of
//! blocks are arithmetic on `blockIdx` then. A shared array that `map_shared_rank` names is one array for the whole cluster,
//! in which the copy of each block starts [`Space::HOME`] bytes after that of the block before it by rank: an access that
//! names no rank is one to the copy of the thread's own block.
//!
//! Deliberately absent: sizes that only the launch says (positions are unknown values then, and memory of other blocks is
//! not modelled); whether the other block still runs, or has begun to, which the programmer has to see to by barriers.

use super::pass::Pass;
use super::storage::facts::{Target, TargetId};
use super::value::{Base, Pointer, Value};
use crate::builtins::InCluster;
use crate::calculus::{ArrayId, Axis, BinaryOp, ExprId, GeometryVar, HavocReason, ScalarType, Space};
use crate::resolve::program::{Expr, Storage};

impl Pass<'_> {
    /// A question about the cluster that the thread's block lies in.
    pub(super) fn in_cluster(&mut self, what: InCluster, name: &str, args: &[Expr], call: &Expr) -> Value {
        match (what, args) {
            (InCluster::Position(axis), []) => self.of_cluster(call, |pass, extents| pass.position(axis, extents)),
            (InCluster::Extent(axis), []) => self
                .of_cluster(call, |pass, extents| pass.exprs().int(i128::from(extents[axis.index()]), ScalarType::U32)),
            (InCluster::Map, [pointer, rank]) => self.map_shared(pointer, rank, name, call),
            _ => self.missing(call),
        }
    }

    /// A number that follows from the extents of clusters, if these are known.
    fn of_cluster(&mut self, call: &Expr, value: impl FnOnce(&mut Self, [u32; 3]) -> ExprId) -> Value {
        match self.kernel.geometry.cluster {
            Some(extents) => Value::Scalar(value(self, extents)),
            None => {
                let reason = HavocReason::Other("the size of a cluster that the kernel does not state".to_owned());
                self.unknown_value(call.ty, &reason, call.span)
            }
        }
    }

    /// Which block of its cluster the thread's block is, along an axis.
    fn position(&mut self, axis: Axis, extents: [u32; 3]) -> ExprId {
        match extents[axis.index()] {
            0 | 1 => self.exprs().int(0, ScalarType::U32),
            extent => {
                let block = self.exprs().geometry(GeometryVar::BlockIdx(axis));
                let extent = self.exprs().int(i128::from(extent), ScalarType::U32);
                self.exprs().binary(BinaryOp::Rem, block, extent)
            }
        }
    }

    /// The rank of the thread's block in its cluster, as 64 bits.
    fn own_rank(&mut self, extents: [u32; 3]) -> ExprId {
        let mut rank = self.exprs().int(0, ScalarType::I64);
        for axis in [Axis::Z, Axis::Y, Axis::X] {
            let position = self.position(axis, extents);
            let position = self.exprs().convert(ScalarType::I64, position);
            let extent = self.exprs().int(i128::from(extents[axis.index()]), ScalarType::I64);
            let rows = self.exprs().binary(BinaryOp::Mul, rank, extent);
            rank = self.exprs().binary(BinaryOp::Add, rows, position);
        }
        rank
    }

    /// `map_shared_rank(pointer, rank)`: the same place in the copy of the block of that rank.
    fn map_shared(&mut self, pointer: &Expr, rank: &Expr, name: &str, call: &Expr) -> Value {
        let Some(extents) = self.kernel.geometry.cluster else {
            let reason = "shared memory of another block of a cluster whose size the kernel does not state";
            return self.give_up_call(format!("{reason} ('{name}')"), &[pointer.clone(), rank.clone()], call);
        };
        let of = self.pointer(pointer);
        let rank = self.scalar(rank);
        let targets = match &of.base {
            Base::Target(target) => vec![*target],
            Base::OneOf { targets, .. } => targets.clone(),
            Base::Unknown(reason) => {
                let reason = format!("`{name}` of {reason}");
                self.unsupported(call.span, reason.clone());
                return Value::Pointer(self.unknown_pointer(&reason));
            }
        };
        if !targets.iter().all(|&target| self.lies_in_shared_memory(target)) {
            let reason = format!("`{name}` of what is not shared memory");
            self.unsupported(call.span, reason.clone());
            return Value::Pointer(self.unknown_pointer(&reason));
        }
        for target in targets {
            self.facts.distribute(target);
        }
        let rank = self.exprs().convert(ScalarType::I64, rank);
        let own = self.own_rank(extents);
        let ranks = self.exprs().binary(BinaryOp::Sub, rank, own);
        let home = self.exprs().int(Space::HOME, ScalarType::I64);
        let bytes = self.exprs().binary(BinaryOp::Mul, ranks, home);
        let offset = self.exprs().binary(BinaryOp::Add, of.offset, bytes);
        Value::Pointer(Pointer { base: of.base, offset })
    }

    /// Whether a target lies in shared memory.
    fn lies_in_shared_memory(&self, target: TargetId) -> bool {
        match *self.facts.key(target) {
            Target::Variable(_, variable) => self.program.variables[variable].storage == Storage::Shared,
            Target::ExternShared => true,
            _ => false,
        }
    }

    /// The offset of an access as arrays count it: in an array that a cluster shares from the copy of its first block.
    pub(super) fn placed(&mut self, array: ArrayId, offset: ExprId) -> ExprId {
        let (Space::Distributed, Some(extents)) = (self.kernel.arrays[array].space, self.kernel.geometry.cluster)
        else {
            return offset;
        };
        let own = self.own_rank(extents);
        let home = self.exprs().int(Space::HOME, ScalarType::I64);
        let start = self.exprs().binary(BinaryOp::Mul, own, home);
        self.exprs().binary(BinaryOp::Add, start, offset)
    }
}
