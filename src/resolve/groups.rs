//! CUDA's cooperative groups: objects of library types whose methods mean ids, sizes and barriers.
//!
//! Groups have types that are not modelled, known by the last part of their names. A thread block and the
//! grid are understood; of tiles only those of a constant size. A variable of type `thread_group` is the group that it is
//! initialised with, and a parameter the one that is given for it.

use super::context::{Resolver, expr};
use super::entities::FunctionDecl;
use super::operators::binary_op;
use super::program::{BinaryOp, Expr, ExprKind, Type, TypeId};
use crate::builtins::groups::{ANY_GROUP, Function, Group, MULTI_GRID, Method, Partition};
use crate::builtins::namespaces::without_namespaces;
use crate::builtins::{Builtin, InCluster, InGroup, Made, Phase, PureFunction, Together, collectives};
use crate::calculus::{Axis, GeometryVar, SyncMemory, SyncScope};
use crate::source::Span;
use crate::syntax::{self, TemplateArg, TypeKind};

/// Whether a parameter takes any group, by value or by reference.
fn takes_any_group(ty: &syntax::Type) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().is_some_and(|segment| segment.name.text == ANY_GROUP),
        TypeKind::Reference(inner, _) => takes_any_group(inner),
        _ => false,
    }
}

impl<'u> Resolver<'u> {
    /// The group that an expression denotes, by the name of its type.
    fn group(&self, object: &Expr) -> Option<Group> {
        self.group_of(object.ty)
    }

    /// Whether a type is that of any group, of which only a value tells which one it is.
    pub(super) fn is_any_group(&self, ty: TypeId) -> bool {
        matches!(&self.types[ty], Type::Unknown(name) if without_namespaces(name) == ANY_GROUP)
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
        Group::named(without_namespaces(name))
    }

    /// A method of a group; `None` if the object is no group.
    pub(super) fn group_method(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let group = self.group(object)?;
        let method = Method::named(name);
        let result = match (group, method) {
            (_, Some(Method::Sync)) => self.group_barrier(group, object, name, span),
            (_, Some(half @ (Method::Wait | Method::Arrive))) => {
                let done = self.half_a_barrier(group, half, name, span);
                // The token that is waited for may be made in the call.
                match args {
                    [token] if half == Method::Wait => {
                        let token = self.load(token.clone());
                        self.comma_if_needed(token, done, span)
                    }
                    _ => done,
                }
            }
            (Group::Block, Some(Method::Rank)) => self.block_rank(span),
            (Group::Block, Some(Method::Size)) => self.product(GeometryVar::BlockDim, span),
            (Group::Block, Some(Method::ThreadIndex)) => self.ids(GeometryVar::ThreadIdx, span),
            (Group::Block, Some(Method::GroupIndex)) => self.ids(GeometryVar::BlockIdx, span),
            (Group::Block, Some(Method::Extents | Method::ThreadExtents)) => self.ids(GeometryVar::BlockDim, span),
            (Group::Cluster, Some(Method::BlockRank)) => self.rank_in_cluster(span),
            (Group::Cluster, Some(Method::BlockCount)) => self.cluster_product(span),
            (Group::Cluster, Some(Method::BlockIndex)) => self.cluster_ids(InCluster::Position, span),
            (Group::Cluster, Some(Method::BlockExtents)) => self.cluster_ids(InCluster::Extent, span),
            (Group::Cluster, Some(Method::Rank)) => {
                let (block, size) = (self.rank_in_cluster(span), self.product(GeometryVar::BlockDim, span));
                let start = self.operation(BinaryOp::Mul, block, size);
                let thread = self.block_rank(span);
                self.operation(BinaryOp::Add, start, thread)
            }
            (Group::Cluster, Some(Method::Size)) => {
                let (blocks, threads) = (self.cluster_product(span), self.product(GeometryVar::BlockDim, span));
                self.operation(BinaryOp::Mul, blocks, threads)
            }
            (Group::Cluster, Some(Method::MapSharedRank)) => {
                let [pointer, rank] = args else { return None };
                let (pointer, rank) = (self.load(pointer.clone()), self.load(rank.clone()));
                let ty = pointer.ty;
                expr(
                    ExprKind::Builtin(Builtin::Cluster(InCluster::Map), name.to_owned(), vec![pointer, rank]),
                    ty,
                    span,
                )
            }
            (Group::Grid, Some(Method::Rank)) => self.grid_rank(span),
            (Group::Grid, Some(Method::Size)) => {
                let (blocks, threads) =
                    (self.product(GeometryVar::GridDim, span), self.product(GeometryVar::BlockDim, span));
                let (blocks, threads) =
                    (self.convert(blocks, self.types.common.ulong), self.convert(threads, self.types.common.ulong));
                self.operation(BinaryOp::Mul, blocks, threads)
            }
            (Group::Grid, Some(Method::BlockRank)) => {
                self.linear_rank(GeometryVar::BlockIdx, GeometryVar::GridDim, span)
            }
            (Group::Grid, Some(Method::BlockCount)) => self.product(GeometryVar::GridDim, span),
            (Group::Grid, Some(Method::BlockIndex)) => self.ids(GeometryVar::BlockIdx, span),
            (Group::Grid, Some(Method::Extents | Method::BlockExtents)) => self.ids(GeometryVar::GridDim, span),
            (Group::Tile(size), Some(Method::Rank)) => self.by_size(BinaryOp::Rem, size, span),
            (Group::Tile(size), Some(Method::TileRank)) => self.by_size(BinaryOp::Div, size, span),
            (Group::Tile(size), Some(Method::TileCount)) => self.tiles(size, span),
            (Group::Tile(size), Some(Method::Size)) => expr(ExprKind::Int(size), self.types.common.uint, span),
            (Group::Coalesced, Some(what @ (Method::Rank | Method::Size))) => {
                let what = if what == Method::Rank { InGroup::Rank } else { InGroup::Size };
                let (name, object) = (format!("coalesced_group::{name}"), self.load(object.clone()));
                return Some(expr(
                    ExprKind::Builtin(Builtin::InGroup(what), name, vec![object]),
                    self.types.common.uint,
                    span,
                ));
            }
            (_, Some(Method::Together(made))) => {
                let ty = match made {
                    Made::Any | Made::All => self.types.common.int,
                    Made::Ballot | Made::MatchAny | Made::MatchAll => self.types.common.uint,
                    Made::Shuffle(_)
                    | Made::Broadcast
                    | Made::Unanimous
                    | Made::Count
                    | Made::Reduced(_)
                    | Made::ReducedBy
                    | Made::Scan => {
                        args.first().map_or(self.types.common.unknown, |value| self.types.promoted(value.ty))
                    }
                };
                return Some(self.together(object, made, (name, args), ty, span));
            }
            (_, Some(Method::Rank | Method::Size | Method::TileRank | Method::TileCount | Method::IsValid)) => {
                let name = format!("{}::{name}", self.type_name(object.ty));
                let args = args.iter().map(|argument| self.load(argument.clone())).collect();
                let builtin = Builtin::Unmodelled { reason: "group of threads".to_owned(), touches_memory: false };
                return Some(expr(ExprKind::Builtin(builtin, name, args), self.types.common.uint, span));
            }
            (
                _,
                Some(
                    Method::ThreadIndex
                    | Method::GroupIndex
                    | Method::Extents
                    | Method::ThreadExtents
                    | Method::BlockExtents
                    | Method::BlockRank
                    | Method::BlockCount
                    | Method::BlockIndex
                    | Method::MapSharedRank
                    | Method::QuerySharedRank,
                )
                | None,
            ) => {
                let name = format!("{}::{name}", self.type_name(object.ty));
                return Some(self.unmodelled_call("group of threads", &name, args, self.types.common.unknown, span));
            }
        };
        // The object itself may be the result of a call.
        let object = self.load(object.clone());
        Some(self.comma_if_needed(object, result, span))
    }

    fn comma_if_needed(&mut self, object: Expr, result: Expr, span: Span) -> Expr {
        match object.kind {
            ExprKind::Builtin(ref builtin, ..) if builtin.is_pure() => result,
            ExprKind::Load(_) => result,
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
        let (builtin, ty) = match Function::named(name)? {
            Function::This(group) => (Builtin::PureFunction(PureFunction::Bits), self.types.unknown(group.type_name())),
            Function::ThisMultiGrid => (Builtin::PureFunction(PureFunction::Bits), self.types.unknown(MULTI_GRID)),
            Function::Running => (Builtin::Running, self.types.unknown(Group::Coalesced.type_name())),
            Function::Partition(Partition::Tiled) => {
                (Builtin::PureFunction(PureFunction::Bits), self.tile_type(template_args, args))
            }
            Function::Partition(Partition::Binary | Partition::Labeled) => {
                (Builtin::Pure, self.types.unknown(ANY_GROUP))
            }
            Function::Method(method) => {
                let [group] = args else { return None };
                self.group(group)?;
                return self.group_method(&group.clone(), method, &[], span);
            }
            Function::Together(made) => {
                let [group, value, ..] = args else { return None };
                self.group(group)?;
                return Some(self.together(group, made, (name, &args[1..]), value.ty, span));
            }
            // What it computes is never an address.
            Function::Object(_) if args.is_empty() => match template_args {
                Some([TemplateArg::Type(of)]) => {
                    let of = self.resolve_type(of).ty;
                    (Builtin::Pure, self.types.unknown(format!("{name}<{}>", self.type_name(of))))
                }
                _ => (Builtin::Pure, self.types.unknown(name)),
            },
            Function::Object(_) => return None,
            function @ (Function::Copy | Function::Wait | Function::WaitPrior) => {
                let [group, ..] = args else { return None };
                let copied = match self.group(group)? {
                    Group::Block => self.group_copy(collectives::Group::Block, function, name, args, span),
                    _ => None,
                };
                if copied.is_some() {
                    return copied;
                }
                return Some(self.unmodelled_call("asynchronous copy", name, args, self.types.common.void, span));
            }
        };
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        Some(expr(ExprKind::Builtin(builtin, name.to_owned(), args), ty, span))
    }

    /// The type of a tile that a partition makes.
    fn tile_type(&mut self, template_args: Option<&'u [TemplateArg]>, args: &[Expr]) -> TypeId {
        let size = match (template_args.and_then(|args| args.first()), args) {
            (Some(TemplateArg::Value(size)), _) => self.constant_of(size),
            // A tile of threads that happen to run together is not one of neighbours.
            (None, [parent, size]) if matches!(self.group(parent), Some(Group::Block | Group::Tile(_))) => {
                self.constant(size)
            }
            _ => None,
        };
        match size {
            Some(size) => self.types.unknown(Group::Tile(size).type_name()),
            None => self.types.unknown(ANY_GROUP),
        }
    }

    /// The barrier of a group.
    fn group_barrier(&mut self, group: Group, object: &Expr, name: &str, span: Span) -> Expr {
        let memory = Some(SyncMemory::BOTH);
        let of = |scope| Builtin::Barrier { scope, memory };
        let (builtin, args) = match group {
            Group::Block => (of(SyncScope::Block), Vec::new()),
            Group::Cluster => (of(SyncScope::Cluster), Vec::new()),
            Group::Grid => (of(SyncScope::Grid), Vec::new()),
            Group::Tile(size) => (Builtin::TileBarrier(u32::try_from(size).unwrap_or(u32::MAX)), Vec::new()),
            // The group stands for the mask of its threads.
            Group::Coalesced => (of(SyncScope::Warp), vec![self.load(object.clone())]),
            Group::Other => {
                let reason = "barrier of a group whose threads are not known before it runs";
                return self.unmodelled_call(reason, name, &[], self.types.common.void, span);
            }
        };
        expr(ExprKind::Builtin(builtin, name.to_owned(), args), self.types.common.void, span)
    }

    /// Half of the barrier of a group.
    fn half_a_barrier(&mut self, group: Group, half: Method, name: &str, span: Span) -> Expr {
        let scope = match group {
            Group::Block => SyncScope::Block,
            Group::Cluster => SyncScope::Cluster,
            Group::Grid => SyncScope::Grid,
            Group::Tile(_) | Group::Coalesced | Group::Other => {
                return self.unmodelled_call("half a barrier of a group", name, &[], self.types.common.void, span);
            }
        };
        let phase = if half == Method::Arrive { Phase::Arrive } else { Phase::Wait };
        self.group_phase(phase, name, scope, span)
    }

    /// A call that the threads of a group make together.
    fn together(&mut self, group: &Expr, made: Made, (name, args): (&str, &[Expr]), ty: TypeId, span: Span) -> Expr {
        let mut args: Vec<Expr> = args.iter().map(|argument| self.load(argument.clone())).collect();
        let whom = match self.group(group) {
            Some(Group::Tile(size)) => Together::Tile(u32::try_from(size).unwrap_or(u32::MAX)),
            // The group stands for the mask of its threads.
            Some(Group::Coalesced) => {
                args.insert(0, self.load(group.clone()));
                Together::Coalesced
            }
            Some(Group::Block) => Together::Group(SyncScope::Block),
            _ => Together::Some,
        };
        expr(ExprKind::Builtin(Builtin::Together(whom, made), name.to_owned(), args), ty, span)
    }

    /// A call that is known and not modelled, and may touch memory.
    fn unmodelled_call(
        &mut self,
        reason: &str,
        name: &str,
        args: &[Expr],
        ty: super::program::TypeId,
        span: Span,
    ) -> Expr {
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        let builtin = Builtin::Unmodelled { reason: reason.to_owned(), touches_memory: true };
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
