//! CUDA's cooperative groups: objects of library types whose methods mean ids, sizes and barriers.
//!
//! Groups have types that are not modelled, known by the last part of their names. A thread block and the
//! grid are understood; of tiles only those of a constant size. A variable of type `thread_group` is the group that it is
//! initialised with, and a parameter the one that is given for it.

use super::context::{Resolver, expr};
use super::entities::FunctionDecl;
use super::operators::binary_op;
use super::program::{BinaryOp, Expr, ExprKind, Type, TypeId};
use crate::builtins::{Builtin, Gives, InCluster, InGroup, Together, collectives};
use crate::calculus::{Axis, GeometryVar, SyncMemory, SyncScope};
use crate::source::Span;
use crate::syntax::{self, TemplateArg, TypeKind};

/// A kind of group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Block,
    Cluster,
    Grid,
    /// A tile of so many neighbouring threads of a block.
    Tile(i128),
    /// Threads of a warp that happen to run together.
    Coalesced,
    /// Threads that the schedule or a type that is not known decides.
    Other,
}

/// The name of the type of any group.
const ANY_GROUP: &str = "thread_group";

/// Whether a parameter takes any group, by value or by reference.
fn takes_any_group(ty: &syntax::Type) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().is_some_and(|segment| segment.name.text == ANY_GROUP),
        TypeKind::Reference(inner, _) => takes_any_group(inner),
        _ => false,
    }
}

/// Whom a method of a tile gives the same value, if its threads call it together.
fn given_by(method: &str) -> Option<Gives> {
    Some(match method {
        "shfl" => Gives::Lane,
        "shfl_up" | "shfl_down" | "shfl_xor" | "match_any" => Gives::Each,
        "any" | "all" | "ballot" | "match_all" => Gives::All,
        _ => return None,
    })
}

impl<'u> Resolver<'u> {
    /// The group that an expression denotes, by the name of its type.
    fn group(&self, object: &Expr) -> Option<Group> {
        self.group_of(object.ty)
    }

    /// Whether a type is that of any group, of which only a value tells which one it is.
    pub(super) fn is_any_group(&self, ty: TypeId) -> bool {
        matches!(&self.types[ty], Type::Unknown(name) if name.rsplit("::").next() == Some(ANY_GROUP))
    }

    /// Whether a type tells which group it is.
    pub(super) fn is_certain_group(&self, ty: TypeId) -> bool {
        self.group_of(ty).is_some_and(|group| group != Group::Other)
    }

    /// The types of the groups that are given for parameters that take any, by the numbers of the parameters.
    pub(super) fn given_groups(&self, decl: FunctionDecl<'u>, args: &[Expr]) -> Vec<(usize, TypeId)> {
        let given = decl.syntax.params.iter().zip(args).enumerate();
        given
            .filter(|(_, (param, argument))| takes_any_group(&param.ty) && self.is_certain_group(argument.ty))
            .map(|(number, (_, argument))| (number, self.types.plain(argument.ty)))
            .collect()
    }

    /// Whether an assignment may make a group another one than its type tells.
    pub(super) fn changes_group(&self, target: &Expr, value: &Expr) -> bool {
        let is_elsewhere = matches!(target.kind, ExprKind::Deref(_)) && self.is_any_group(target.ty);
        is_elsewhere || self.is_certain_group(target.ty) && self.types.plain(target.ty) != self.types.plain(value.ty)
    }

    fn group_of(&self, ty: TypeId) -> Option<Group> {
        let Type::Unknown(name) = &self.types[ty] else {
            return None;
        };
        let short = name.rsplit("::").next().unwrap_or(name);
        Some(match short {
            "thread_block" => Group::Block,
            "grid_group" => Group::Grid,
            "coalesced_group" => Group::Coalesced,
            "cluster_group" => Group::Cluster,
            ANY_GROUP | "multi_grid_group" => Group::Other,
            _ => {
                let size = short.strip_prefix("thread_block_tile")?;
                let size = size.strip_prefix('<').and_then(|size| size.strip_suffix('>'));
                match size.and_then(|size| size.parse::<i128>().ok()) {
                    // Since CUDA 11.1 a tile may be larger than a warp, with the same ranks.
                    Some(size) if (1..=1024).contains(&size) && size.count_ones() == 1 => Group::Tile(size),
                    _ => Group::Other,
                }
            }
        })
    }

    /// A method of a group; `None` if the object is no group.
    pub(super) fn group_method(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let group = self.group(object)?;
        let result = match (group, name) {
            (_, "sync") => self.group_barrier(group, object, name, span),
            (_, "barrier_wait" | "barrier_arrive") => {
                let half = self.group_barrier(group, object, name, span);
                // The token that is waited for may be made in the call.
                match args {
                    [token] if name == "barrier_wait" => {
                        let token = self.load(token.clone());
                        self.comma_if_needed(token, half, span)
                    }
                    _ => half,
                }
            }
            (Group::Block, "thread_rank") => self.block_rank(span),
            (Group::Block, "size" | "num_threads") => self.product(GeometryVar::BlockDim, span),
            (Group::Block, "thread_index") => self.ids(GeometryVar::ThreadIdx, span),
            (Group::Block, "group_index") => self.ids(GeometryVar::BlockIdx, span),
            (Group::Block, "group_dim" | "dim_threads") => self.ids(GeometryVar::BlockDim, span),
            (Group::Cluster, "block_rank") => self.rank_in_cluster(span),
            (Group::Cluster, "num_blocks") => self.cluster_product(span),
            (Group::Cluster, "block_index") => self.cluster_ids(InCluster::Position, span),
            (Group::Cluster, "dim_blocks") => self.cluster_ids(InCluster::Extent, span),
            (Group::Cluster, "thread_rank") => {
                let (block, size) = (self.rank_in_cluster(span), self.product(GeometryVar::BlockDim, span));
                let start = self.operation(BinaryOp::Mul, block, size);
                let thread = self.block_rank(span);
                self.operation(BinaryOp::Add, start, thread)
            }
            (Group::Cluster, "size" | "num_threads") => {
                let (blocks, threads) = (self.cluster_product(span), self.product(GeometryVar::BlockDim, span));
                self.operation(BinaryOp::Mul, blocks, threads)
            }
            (Group::Cluster, "map_shared_rank") => {
                let [pointer, rank] = args else { return None };
                let (pointer, rank) = (self.load(pointer.clone()), self.load(rank.clone()));
                let ty = pointer.ty;
                expr(
                    ExprKind::Builtin(Builtin::Cluster(InCluster::Map), name.to_owned(), vec![pointer, rank]),
                    ty,
                    span,
                )
            }
            (Group::Grid, "thread_rank") => self.grid_rank(span),
            (Group::Grid, "size" | "num_threads") => {
                let (blocks, threads) =
                    (self.product(GeometryVar::GridDim, span), self.product(GeometryVar::BlockDim, span));
                let (blocks, threads) =
                    (self.convert(blocks, self.types.common.ulong), self.convert(threads, self.types.common.ulong));
                self.operation(BinaryOp::Mul, blocks, threads)
            }
            (Group::Grid, "block_rank") => self.linear_rank(GeometryVar::BlockIdx, GeometryVar::GridDim, span),
            (Group::Grid, "num_blocks") => self.product(GeometryVar::GridDim, span),
            (Group::Grid, "block_index") => self.ids(GeometryVar::BlockIdx, span),
            (Group::Grid, "group_dim" | "dim_blocks") => self.ids(GeometryVar::GridDim, span),
            (Group::Tile(size), "thread_rank") => self.by_size(BinaryOp::Rem, size, span),
            (Group::Tile(size), "meta_group_rank") => self.by_size(BinaryOp::Div, size, span),
            (Group::Tile(size), "meta_group_size") => self.tiles(size, span),
            (Group::Tile(size), "size" | "num_threads") => expr(ExprKind::Int(size), self.types.common.uint, span),
            (Group::Coalesced, "thread_rank" | "size" | "num_threads") => {
                let what = if name == "thread_rank" { InGroup::Rank } else { InGroup::Size };
                let (name, object) = (format!("coalesced_group::{name}"), self.load(object.clone()));
                return Some(expr(
                    ExprKind::Builtin(Builtin::InGroup(what), name, vec![object]),
                    self.types.common.uint,
                    span,
                ));
            }
            (_, _) if let Some(gives) = given_by(name) => {
                let ty = match name {
                    "any" | "all" => self.types.common.int,
                    "ballot" | "match_any" | "match_all" => self.types.common.uint,
                    _ => args.first().map_or(self.types.common.unknown, |value| self.types.promoted(value.ty)),
                };
                return Some(self.together(object, gives, (name, args), ty, span));
            }
            (_, "thread_rank" | "size" | "num_threads" | "meta_group_rank" | "meta_group_size" | "is_valid") => {
                let name = format!("{}::{name}", self.type_name(object.ty));
                return Some(self.unmodelled_call(
                    "group of threads",
                    false,
                    &name,
                    args,
                    self.types.common.uint,
                    span,
                ));
            }
            _ => {
                let name = format!("{}::{name}", self.type_name(object.ty));
                return Some(self.unmodelled_call(
                    "group of threads",
                    true,
                    &name,
                    args,
                    self.types.common.unknown,
                    span,
                ));
            }
        };
        // The object itself may be the result of a call.
        let object = self.load(object.clone());
        Some(self.comma_if_needed(object, result, span))
    }

    fn comma_if_needed(&mut self, object: Expr, result: Expr, span: Span) -> Expr {
        match object.kind {
            ExprKind::Builtin(Builtin::Pure, ..) | ExprKind::Load(_) => result,
            _ => self.comma(object, result, span),
        }
    }

    /// The group that makes a copy, if it is one of those that are followed.
    pub(super) fn copying_group(&self, object: &Expr) -> Option<collectives::Group> {
        match self.group(object)? {
            Group::Block => Some(collectives::Group::Block),
            _ => None,
        }
    }

    /// A free function of cooperative groups; `None` if it is none.
    pub(super) fn group_function(
        &mut self,
        name: &str,
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
        span: Span,
    ) -> Option<Expr> {
        let ty = match name {
            "this_thread_block" => self.types.unknown("thread_block"),
            "this_grid" => self.types.unknown("grid_group"),
            "this_thread" => self.types.unknown("thread_block_tile<1>"),
            "coalesced_threads" => {
                let ty = self.types.unknown("coalesced_group");
                return Some(self.unmodelled_call("group that the schedule decides", false, name, args, ty, span));
            }
            "this_multi_grid" => self.types.unknown("multi_grid_group"),
            "this_cluster" => self.types.unknown("cluster_group"),
            "tiled_partition" | "binary_partition" | "labeled_partition" => self.tile_type(name, template_args, args),
            "sync" | "thread_rank" | "group_size" => {
                let [group] = args else { return None };
                self.group(group)?;
                let method = if name == "group_size" { "size" } else { name };
                return self.group_method(&group.clone(), method, &[], span);
            }
            "reduce" | "inclusive_scan" | "exclusive_scan" => {
                let [group, value, ..] = args else { return None };
                self.group(group)?;
                let gives = if name == "reduce" { Gives::All } else { Gives::Each };
                return Some(self.together(group, gives, (name, &args[1..]), value.ty, span));
            }
            // Function objects for `reduce`: what they compute is never an address.
            "plus" | "less" | "greater" | "bit_and" | "bit_or" | "bit_xor" if args.is_empty() => match template_args {
                Some([TemplateArg::Type(of)]) => {
                    let of = self.resolve_type(of).ty;
                    self.types.unknown(format!("{name}<{}>", self.type_name(of)))
                }
                _ => self.types.unknown(name),
            },
            "memcpy_async" | "wait" | "wait_prior" => {
                let [group, ..] = args else { return None };
                let copied = match self.group(group)? {
                    Group::Block => self.group_copy(collectives::Group::Block, name, args, span),
                    _ => None,
                };
                if copied.is_some() {
                    return copied;
                }
                return Some(self.unmodelled_call("asynchronous copy", true, name, args, self.types.common.void, span));
            }
            _ => return None,
        };
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        Some(expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), args), ty, span))
    }

    /// The type of a tile that a partition makes.
    fn tile_type(&mut self, name: &str, template_args: Option<&'u [TemplateArg]>, args: &[Expr]) -> TypeId {
        let size = match (template_args.and_then(|args| args.first()), args) {
            (Some(TemplateArg::Value(size)), _) if name == "tiled_partition" => self.constant_of(size),
            // A tile of threads that happen to run together is not one of neighbours.
            (None, [parent, size])
                if name == "tiled_partition" && matches!(self.group(parent), Some(Group::Block | Group::Tile(_))) =>
            {
                self.constant(size)
            }
            _ => None,
        };
        match size {
            Some(size) => self.types.unknown(format!("thread_block_tile<{size}>")),
            None => self.types.unknown(ANY_GROUP),
        }
    }

    /// The barrier of a group.
    fn group_barrier(&mut self, group: Group, object: &Expr, name: &str, span: Span) -> Expr {
        let memory = Some(SyncMemory::BOTH);
        let of = |scope| Builtin::Barrier { scope, memory };
        let (builtin, args) = match group {
            Group::Block if name != "sync" => return self.group_phase(name, SyncScope::Block, span),
            Group::Cluster if name != "sync" => return self.group_phase(name, SyncScope::Cluster, span),
            Group::Grid if name != "sync" => return self.group_phase(name, SyncScope::Grid, span),
            _ if name != "sync" => {
                return self.unmodelled_call(
                    "half a barrier of a group",
                    true,
                    name,
                    &[],
                    self.types.common.void,
                    span,
                );
            }
            Group::Block => (of(SyncScope::Block), Vec::new()),
            Group::Cluster => (of(SyncScope::Cluster), Vec::new()),
            Group::Grid => (of(SyncScope::Grid), Vec::new()),
            Group::Tile(size) => (Builtin::TileBarrier(u32::try_from(size).unwrap_or(u32::MAX)), Vec::new()),
            // The group stands for the mask of its threads.
            Group::Coalesced => (of(SyncScope::Warp), vec![self.load(object.clone())]),
            Group::Other => {
                let reason = "barrier of a group whose threads are not known before it runs";
                return self.unmodelled_call(reason, true, name, &[], self.types.common.void, span);
            }
        };
        expr(ExprKind::Builtin(builtin, name.to_owned(), args), self.types.common.void, span)
    }

    /// A call that the threads of a group make together.
    fn together(&mut self, group: &Expr, gives: Gives, (name, args): (&str, &[Expr]), ty: TypeId, span: Span) -> Expr {
        let mut args: Vec<Expr> = args.iter().map(|argument| self.load(argument.clone())).collect();
        let whom = match self.group(group) {
            Some(Group::Tile(size)) => Together::Tile(u32::try_from(size).unwrap_or(u32::MAX)),
            // The group stands for the mask of its threads.
            Some(Group::Coalesced) => {
                args.insert(0, self.load(group.clone()));
                Together::Named
            }
            Some(Group::Block) => Together::Group(SyncScope::Block),
            _ => Together::Some,
        };
        expr(ExprKind::Builtin(Builtin::Together(whom, gives), name.to_owned(), args), ty, span)
    }

    /// A call that is known and not modelled.
    fn unmodelled_call(
        &mut self,
        reason: &str,
        touches_memory: bool,
        name: &str,
        args: &[Expr],
        ty: super::program::TypeId,
        span: Span,
    ) -> Expr {
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        let builtin = Builtin::Unmodelled { reason: reason.to_owned(), touches_memory };
        expr(ExprKind::Builtin(builtin, name.to_owned(), args), ty, span)
    }

    /// Three ids or sizes as a vector.
    fn ids(&mut self, make: fn(Axis) -> GeometryVar, span: Span) -> Expr {
        let lanes = Axis::ALL.iter().map(|&axis| self.geometry(make(axis), span)).collect();
        let ty = self.types.type_of_ids(make(Axis::X));
        expr(ExprKind::Construct(lanes), ty, span)
    }

    /// An operator on two values of one type.
    fn operation(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (ty, span) = (left.ty, left.span);
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    /// `x * y * z` of a size.
    fn product(&mut self, make: fn(Axis) -> GeometryVar, span: Span) -> Expr {
        let [x, y, z] = Axis::ALL.map(|axis| self.geometry(make(axis), span));
        let plane = self.operation(BinaryOp::Mul, x, y);
        self.operation(BinaryOp::Mul, plane, z)
    }

    /// `(z * size.y + y) * size.x + x` of an id.
    fn linear_rank(&mut self, id: fn(Axis) -> GeometryVar, size: fn(Axis) -> GeometryVar, span: Span) -> Expr {
        let geometry = |make: fn(Axis) -> GeometryVar, axis| self.geometry(make(axis), span);
        let (z, height) = (geometry(id, Axis::Z), geometry(size, Axis::Y));
        let (y, width) = (geometry(id, Axis::Y), geometry(size, Axis::X));
        let x = geometry(id, Axis::X);
        let plane = self.operation(BinaryOp::Mul, z, height);
        let row = self.operation(binary_op(crate::syntax::BinaryOp::Add), plane, y);
        let start = self.operation(BinaryOp::Mul, row, width);
        self.operation(BinaryOp::Add, start, x)
    }

    /// A number of a block's cluster.
    fn cluster_value(&self, what: InCluster, span: Span) -> Expr {
        expr(ExprKind::Builtin(Builtin::Cluster(what), "cluster".to_owned(), Vec::new()), self.types.common.uint, span)
    }

    /// Three of them as a vector.
    fn cluster_ids(&mut self, what: fn(Axis) -> InCluster, span: Span) -> Expr {
        let lanes = Axis::ALL.iter().map(|&axis| self.cluster_value(what(axis), span)).collect();
        let ty = self.types.intern(Type::Vector { of: self.types.common.uint, lanes: 3 });
        expr(ExprKind::Construct(lanes), ty, span)
    }

    /// The number of blocks in a cluster.
    fn cluster_product(&self, span: Span) -> Expr {
        let [x, y, z] = Axis::ALL.map(|axis| self.cluster_value(InCluster::Extent(axis), span));
        let plane = self.operation(BinaryOp::Mul, x, y);
        self.operation(BinaryOp::Mul, plane, z)
    }

    /// The rank of a block in its cluster.
    fn rank_in_cluster(&self, span: Span) -> Expr {
        let of = |what: fn(Axis) -> InCluster, axis| self.cluster_value(what(axis), span);
        let plane = self.operation(BinaryOp::Mul, of(InCluster::Position, Axis::Z), of(InCluster::Extent, Axis::Y));
        let plane = self.operation(binary_op(crate::syntax::BinaryOp::Add), plane, of(InCluster::Position, Axis::Y));
        let row = self.operation(BinaryOp::Mul, plane, of(InCluster::Extent, Axis::X));
        self.operation(BinaryOp::Add, row, of(InCluster::Position, Axis::X))
    }

    /// The rank of a thread in its block.
    fn block_rank(&mut self, span: Span) -> Expr {
        self.linear_rank(GeometryVar::ThreadIdx, GeometryVar::BlockDim, span)
    }

    /// The rank of a thread in the grid, as 64 bits.
    fn grid_rank(&mut self, span: Span) -> Expr {
        let block = self.linear_rank(GeometryVar::BlockIdx, GeometryVar::GridDim, span);
        let size = self.product(GeometryVar::BlockDim, span);
        let thread = self.block_rank(span);
        let [block, size, thread] = [block, size, thread].map(|value| self.convert(value, self.types.common.ulong));
        let start = self.operation(BinaryOp::Mul, block, size);
        self.operation(BinaryOp::Add, start, thread)
    }

    /// The number of tiles of a block.
    fn tiles(&mut self, size: i128, span: Span) -> Expr {
        let threads = self.product(GeometryVar::BlockDim, span);
        let uint = self.types.common.uint;
        let up = self.operation(BinaryOp::Add, threads, expr(ExprKind::Int(size - 1), uint, span));
        self.operation(BinaryOp::Div, up, expr(ExprKind::Int(size), uint, span))
    }

    /// The rank in the block divided by the size of a tile, or its remainder.
    fn by_size(&mut self, op: BinaryOp, size: i128, span: Span) -> Expr {
        let rank = self.block_rank(span);
        let size = expr(ExprKind::Int(size), self.types.common.uint, span);
        self.operation(op, rank, size)
    }
}
