//! What builtins become in the calculus.

use super::pass::Pass;
use super::storage::access::{Atomic, Touch};
use super::storage::facts::TargetId;
use super::storage::home::Home;
use super::value::{Base, Place, Pointer, Value};
use super::votes::Vote;
use crate::builtins::{Builtin, Claim, Dynamic, Formula, Made, WorkItem};
use crate::calculus::{
    Axis, BinaryOp, Claimed, ExprId, Function, GeometryVar, HavocReason, Platform, Relied, ScalarType, Stmt,
    SyncMemory, SyncScope, offset_name,
};
use crate::resolve::program::{Expr, TypeId};
use crate::source::{Language, Span};

/// Whether anything looks at the value of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its value is needed.
    Needed,
    /// It is called for its effect.
    Discarded,
}

impl Pass<'_> {
    /// A call of a builtin.
    pub(super) fn builtin(&mut self, builtin: &Builtin, name: &str, args: &[Expr], call: &Expr, used: Use) -> Value {
        let span = call.span;
        match builtin {
            Builtin::Pure => self.pure(&Function::from(name), args, call),
            Builtin::PureFunction(function) => self.pure(&Function::new(name, function.nature()), args, call),
            Builtin::Min => self.extremum(BinaryOp::Min, args, call),
            Builtin::Max => self.extremum(BinaryOp::Max, args, call),
            Builtin::Abs => self.absolute(args, call),
            Builtin::Lanes(function) => self.lane_function(*function, name, args, call),
            Builtin::Mul24 => self.product_of_24_bits(args, call),
            Builtin::MulAdd24 => self.product_of_24_bits_and_more(args, call),
            Builtin::WorkItem(item) => self.work_item(*item, args, call),
            Builtin::Barrier { scope, memory } => {
                self.barrier(*scope, *memory, args, span);
                self.unknown_value(call.ty, &HavocReason::Common(*scope, name.to_owned()), span)
            }
            Builtin::VotingBarrier(made) => {
                let scope = SyncScope::Block;
                let own = self.barrier(scope, Some(SyncMemory::BOTH), args, span);
                // It tells all the same.
                let given = self.unknown_value(call.ty, &HavocReason::Common(scope, name.to_owned()), span);
                if let Some((vote, own)) = Vote::of(*made, None).zip(own) {
                    self.note_vote(vote, own, &given, Some(scope), span);
                }
                given
            }
            Builtin::TileBarrier(threads) => self.tile_barrier(*threads, args, span),
            Builtin::Fence(call) => self.fence(*call, args, span),
            Builtin::Hint => self.ignore(args),
            Builtin::Atomic { scope: SyncScope::Cluster, .. }
            | Builtin::CompareAndExchange { scope: SyncScope::Cluster, .. }
                if self.kernel.geometry.cluster.is_none() =>
            {
                let reason = format!("`{name}` for a cluster whose size the kernel does not state");
                self.give_up_call(reason, args, call)
            }
            Builtin::Atomic { op, order, scope } => {
                let atomic = Atomic { op: *op, operands: Vec::new(), order: *order, scope: *scope };
                self.atomic_call(atomic, args, call, used)
            }
            Builtin::CompareAndExchange { orders, scope, weak } => {
                self.compare_and_exchange(*orders, (*scope, *weak), args, call)
            }
            Builtin::CopyMemory => self.copy_memory(args, call),
            Builtin::SetMemory => self.set_memory(args, call),
            Builtin::Print => {
                self.ignore(args);
                self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), span)
            }
            Builtin::Assert => self.assertion(args, span),
            Builtin::End => {
                self.ignore(args);
                self.end_thread();
                Value::Void
            }
            Builtin::Claim(claim) => {
                self.annotated_claim(*claim, name, args, span);
                Value::Void
            }
            Builtin::Nothing => Value::Void,
            // A function that another one calls requires something of that one.
            Builtin::Require if self.frames.len() > 1 => {
                self.annotated_claim(Claim::Asserted, name, args, span);
                Value::Void
            }
            Builtin::Assume | Builtin::Require => {
                for arg in args {
                    self.assume(arg);
                }
                Value::Void
            }
            Builtin::Formula(formula) => self.formula(*formula, (name, args), call),
            // GPUVerify's name for a formula is that of a vote.
            Builtin::Unmasked(Made::All) if self.annotation.is_open => self.formula(Formula::Both, (name, args), call),
            Builtin::Unmasked(Made::Ballot) => self.votes(name, args, call),
            Builtin::Unmasked(_) => self.unknown_call_without_effect(name, args, call),
            Builtin::Specified => self.specified(name, args, span),
            Builtin::Running => self.threads_together(name, args, call),
            Builtin::Together(whom, made) => self.together((*whom, *made), name, args, call),
            Builtin::InGroup(what) => self.in_group(*what, name, args, call),
            Builtin::Schedule => {
                self.ignore(args);
                self.unknown_value(call.ty, &HavocReason::Schedule(name.to_owned()), span)
            }
            Builtin::VectorLoad(lanes) => self.vector_load(*lanes, args, call),
            Builtin::VectorStore(lanes) => self.vector_store(*lanes, args, call),
            Builtin::HalfLoad { lanes, stride } => self.half_load((*lanes, *stride), name, args, call),
            Builtin::HalfStore { lanes, stride } => self.half_store((*lanes, *stride), args, call),
            Builtin::MakeVector(_) => self.construct(args, call.ty),
            Builtin::CachedLoad => self.cached_load(args, call),
            Builtin::CachedStore => self.cached_store(args, call),
            Builtin::Undeclared => {
                // A macro has no `::` in its name.
                let defined = if name.contains("::") { String::new() } else { format!(" or `-D {name}=…`") };
                self.note_once(
                    span,
                    format!("`{name}` is not declared, and nothing is proved with it: a header{defined} would say what it is"),
                );
                self.unknown_value(call.ty, &HavocReason::Undeclared(name.to_owned()), span)
            }
            Builtin::Random(random) => self.random(*random, name, args, call),
            Builtin::Fragment(fragment) => self.fragment(*fragment, name, args, call),
            Builtin::Surface(direction, coordinates) => {
                self.surface(*direction, usize::from(*coordinates), (name, args), call)
            }
            Builtin::Image(direction) => self.image(*direction, (name, args), call),
            Builtin::Copying(copying) => self.copying(*copying, args, call),
            Builtin::Phase(phase, scope) => self.phase(*phase, *scope, args, name, call),
            Builtin::Pipeline(pipeline) => self.pipeline(*pipeline, name, args, call),
            Builtin::Cluster(what) => self.in_cluster(*what, name, args, call),
            Builtin::Collective(group) => self.collective(*group, name, args, call),
            Builtin::Dynamic(Dynamic::Allocate) if matches!(args, [_]) => self.allocate(args, call),
            Builtin::Dynamic(Dynamic::Free) if matches!(args, [_]) => self.release(name, args, call),
            Builtin::Dynamic(_) => self.give_up_call(format!("{} ('{name}')", Dynamic::REASON), args, call),
            Builtin::SharedAddress => self.shared_address(args, call),
            Builtin::Unmodelled { reason, touches_memory: true } => {
                self.give_up_call(format!("{reason} ('{name}')"), args, call)
            }
            Builtin::Unmodelled { touches_memory: false, .. } => self.unknown_call_without_effect(name, args, call),
        }
    }

    pub(super) fn ignore(&mut self, args: &[Expr]) -> Value {
        for arg in args {
            self.value(arg);
        }
        Value::Void
    }

    pub(super) fn missing(&mut self, call: &Expr) -> Value {
        let reason = "call of a builtin with unexpected arguments".to_owned();
        self.unsupported(call.span, reason.clone());
        self.unknown_value(call.ty, &HavocReason::Other(reason), call.span)
    }

    /// A pure function; one with pointer arguments (`sincosf`, `modf`) writes its results through them.
    pub(super) fn pure(&mut self, function: &Function, args: &[Expr], call: &Expr) -> Value {
        let mut scalars = Vec::new();
        let mut pointers = Vec::new();
        for arg in args {
            match self.value(arg) {
                Value::Scalar(expr) => scalars.push(expr),
                // Nothing is written through the argument of `nan("")`.
                Value::Pointer(pointer) if pointer.is_string() => {}
                Value::Pointer(pointer) => pointers.push((pointer, arg.ty)),
                Value::Aggregate(parts) => scalars.extend(parts.into_iter().filter_map(|part| match part {
                    Value::Scalar(expr) => Some(expr),
                    _ => None,
                })),
                Value::Void => {}
            }
        }
        for (index, (pointer, ty)) in pointers.into_iter().enumerate() {
            let Some(pointee) = self.layout.pointee(ty) else { continue };
            let result = self.function_value(&function.part(format_args!("out{index}")), &scalars, pointee);
            let place = Place { pointer, ty: pointee, bits: None };
            self.store(&place, result, call.span);
        }
        self.function_value(function, &scalars, call.ty)
    }

    /// The result of an uninterpreted function, of any type without pointers.
    pub(super) fn function_value(&mut self, function: &Function, args: &[ExprId], ty: TypeId) -> Value {
        if let Some(scalar) = self.layout.scalar(ty) {
            return Value::Scalar(self.exprs().call(function, args.to_vec(), scalar));
        }
        let Some(leaves) = self.layout.leaves(ty) else { return Value::Void };
        let parts = leaves.into_iter().enumerate().map(|(lane, leaf)| match self.layout.scalar(leaf.ty) {
            Some(scalar) => Value::Scalar(self.exprs().call(function.part(lane), args.to_vec(), scalar)),
            None => Value::Pointer(self.unknown_pointer("the result of a call")),
        });
        let parts = parts.collect();
        self.regroup(parts, ty)
    }

    fn extremum(&mut self, op: BinaryOp, args: &[Expr], call: &Expr) -> Value {
        self.arithmetic(&[op], args, call)
    }

    /// Folds operators over the arguments, converted to the type of the call.
    fn arithmetic(&mut self, ops: &[BinaryOp], args: &[Expr], call: &Expr) -> Value {
        let mut values = Vec::new();
        for arg in args {
            let value = self.value(arg);
            values.push(self.convert(value, arg.ty, call.ty, arg.span));
        }
        if values.len() != ops.len() + 1 {
            return self.missing(call);
        }
        let mut values = values.into_iter();
        let Some(mut result) = values.next() else { return self.missing(call) };
        for (op, value) in ops.iter().zip(values) {
            result = self.binary(*op, result, value, call.ty, call.span);
        }
        result
    }

    /// `mul24(a, b)`: CUDA cuts larger numbers off; OpenCL leaves open what their product is (OpenCL C 3.0, 6.15.3), GPUs cut
    /// them off, CPUs do not.
    fn product_of_24_bits(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [a, b] = args else { return self.missing(call) };
        let [a, b] = [a, b].map(|arg| {
            let value = self.value(arg);
            self.convert(value, arg.ty, call.ty, arg.span)
        });
        self.lanes_of_product(a, b, call)
    }

    /// `mad24(a, b, c)`
    fn product_of_24_bits_and_more(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [factors @ .., more] = args else { return self.missing(call) };
        let product = self.product_of_24_bits(factors, call);
        let value = self.value(more);
        let more = self.convert(value, more.ty, call.ty, more.span);
        self.binary(BinaryOp::Add, product, more, call.ty, call.span)
    }

    fn lanes_of_product(&mut self, a: Value, b: Value, call: &Expr) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => self.scalar_product_of_24_bits(a, b, call),
            (Value::Aggregate(a), Value::Aggregate(b)) if a.len() == b.len() => {
                Value::Aggregate(a.into_iter().zip(b).map(|(a, b)| self.lanes_of_product(a, b, call)).collect())
            }
            _ => self.missing(call),
        }
    }

    fn scalar_product_of_24_bits(&mut self, a: ExprId, b: ExprId, call: &Expr) -> Value {
        let ty = self.kernel.exprs.ty(a);
        let ScalarType::Int { signed, .. } = ty else { return self.missing(call) };
        let factors = if signed { Factors::Signed } else { Factors::Unsigned };
        if self.program.language == Language::OpenCl {
            let ranges = [a, b].map(|factor| self.range(factor));
            if ranges.iter().flatten().any(|range| factors.are_outside(*range)) {
                let reason = "what `mul24` makes of numbers of more than 24 bits".to_owned();
                return Value::Scalar(self.havoc(ty, HavocReason::Implementation(reason), call.span));
            }
            if !ranges.iter().all(|range| range.is_some_and(|range| factors.fit(range))) {
                self.rely(Some(call.span), Relied::FactorsOf24Bits);
            }
        }
        let wide = ScalarType::Int { width: 64, signed };
        let [a, b] = [a, b].map(|factor| {
            let low = self.low_24_bits(factor, factors);
            self.exprs().convert(wide, low)
        });
        let product = self.exprs().binary(BinaryOp::Mul, a, b);
        self.note_span(product, call.span);
        let product = self.exprs().convert(ty, product);
        self.note_span(product, call.span);
        Value::Scalar(product)
    }

    /// The low bits of a factor, which are all of it where it is known to fit.
    fn low_24_bits(&mut self, factor: ExprId, factors: Factors) -> ExprId {
        let fits = self.range(factor).is_some_and(|range| factors.fit(range));
        let signed = factors == Factors::Signed;
        if fits { factor } else { self.exprs().convert(ScalarType::Int { width: 24, signed }, factor) }
    }

    fn absolute(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [arg] = args else { return self.missing(call) };
        let value = self.value(arg);
        self.magnitude(value, call.ty, call)
    }

    fn assertion(&mut self, args: &[Expr], span: Span) -> Value {
        let Some(arg) = args.first() else { return Value::Void };
        let cond = self.condition(arg);
        let site = self.site(span);
        self.emit(Stmt::Assert { cond, claimed: Claimed::Asserted, site });
        Value::Void
    }

    fn work_item(&mut self, item: WorkItem, args: &[Expr], call: &Expr) -> Value {
        let mut axis = Some(0);
        for arg in args {
            axis = match self.value(arg) {
                Value::Scalar(expr) => self.kernel.exprs.as_int(expr),
                _ => None,
            };
        }
        let Some(axis) = axis else {
            let reason = HavocReason::Other("work-item function whose dimension is not a constant".to_owned());
            return self.unknown_value(call.ty, &reason, call.span);
        };
        let value = self.work_item_value(item, axis);
        self.note_span(value, call.span);
        self.fit_value(Value::Scalar(value), call.ty)
    }

    fn work_item_value(&mut self, item: WorkItem, dimension: i128) -> ExprId {
        let Some(&axis) = usize::try_from(dimension).ok().and_then(|at| Axis::ALL.get(at)) else {
            // Dimensions that do not exist have size 1 and id 0.
            let size = matches!(item, WorkItem::GlobalSize | WorkItem::LocalSize | WorkItem::NumGroups);
            return self.exprs().int(i128::from(size), ScalarType::U64);
        };
        match item {
            WorkItem::WorkDim => self.exprs().opaque("get_work_dim()", ScalarType::U32),
            WorkItem::GlobalId => self.global_id(axis),
            WorkItem::GlobalSize => {
                self.rely_on_one_size();
                let (groups, size) = (self.wide(GeometryVar::GridDim(axis)), self.wide(GeometryVar::BlockDim(axis)));
                self.exprs().binary(BinaryOp::Mul, groups, size)
            }
            WorkItem::LocalId => self.wide(GeometryVar::ThreadIdx(axis)),
            WorkItem::LocalSize => {
                self.rely_on_one_size();
                self.wide(GeometryVar::BlockDim(axis))
            }
            WorkItem::GroupId => self.wide(GeometryVar::BlockIdx(axis)),
            WorkItem::NumGroups => self.wide(GeometryVar::GridDim(axis)),
            WorkItem::GlobalOffset => self.global_offset(axis),
            WorkItem::LocalLinearId => {
                self.rely_on_one_size();
                self.number_in_block()
            }
            WorkItem::GlobalLinearId => {
                self.rely_on_one_size();
                // It is counted from the offset on.
                let ids = Axis::ALL.map(|axis| self.place_in_grid(axis));
                let sizes = Axis::ALL.map(|axis| {
                    let (groups, size) =
                        (self.wide(GeometryVar::GridDim(axis)), self.wide(GeometryVar::BlockDim(axis)));
                    self.exprs().binary(BinaryOp::Mul, groups, size)
                });
                self.linear(ids, sizes)
            }
        }
    }

    /// From OpenCL 2 on the last work-groups may be smaller than the others.
    fn rely_on_one_size(&mut self) {
        if self.program.platform == Platform::OpenCl2 {
            self.rely(None, Relied::BlocksOfOneSize);
        }
    }

    /// The number of the thread in its block, as 64 bits.
    pub(super) fn number_in_block(&mut self) -> ExprId {
        let ids = Axis::ALL.map(|axis| self.wide(GeometryVar::ThreadIdx(axis)));
        let sizes = Axis::ALL.map(|axis| self.wide(GeometryVar::BlockDim(axis)));
        self.linear(ids, sizes)
    }

    fn wide(&mut self, var: GeometryVar) -> ExprId {
        let value = self.exprs().geometry(var);
        self.exprs().convert(ScalarType::U64, value)
    }

    fn global_id(&mut self, axis: Axis) -> ExprId {
        let place = self.place_in_grid(axis);
        let offset = self.global_offset(axis);
        self.exprs().binary(BinaryOp::Add, place, offset)
    }

    /// Where the ids of a launch begin: a number that the launch states, in 32 bits, since larger ones only move all ids.
    fn global_offset(&mut self, axis: Axis) -> ExprId {
        if !self.program.platform.rules().has_offset {
            return self.exprs().int(0, ScalarType::U64);
        }
        let value = self.implicit_param(offset_name(axis), ScalarType::U32);
        self.exprs().convert(ScalarType::U64, value)
    }

    fn place_in_grid(&mut self, axis: Axis) -> ExprId {
        let group = self.wide(GeometryVar::BlockIdx(axis));
        let size = self.wide(GeometryVar::BlockDim(axis));
        let local = self.wide(GeometryVar::ThreadIdx(axis));
        let first = self.exprs().binary(BinaryOp::Mul, group, size);
        self.exprs().binary(BinaryOp::Add, first, local)
    }

    /// `(z * size.y + y) * size.x + x`
    fn linear(&mut self, [x, y, z]: [ExprId; 3], [width, height, _]: [ExprId; 3]) -> ExprId {
        let planes = self.exprs().binary(BinaryOp::Mul, z, height);
        let rows = self.exprs().binary(BinaryOp::Add, planes, y);
        let before = self.exprs().binary(BinaryOp::Mul, rows, width);
        self.exprs().binary(BinaryOp::Add, before, x)
    }

    fn vector_load(&mut self, lanes: u8, args: &[Expr], call: &Expr) -> Value {
        let [offset, pointer] = args else { return self.missing(call) };
        let places = self.vector_places((lanes, lanes), offset, pointer, call);
        if let Some(place) = whole_vector(&places, call.ty, self.layout.size(call.ty)) {
            return self.load(&place, call.span);
        }
        Value::Aggregate(places.iter().map(|(place, _)| self.load(place, call.span)).collect())
    }

    fn vector_store(&mut self, lanes: u8, args: &[Expr], call: &Expr) -> Value {
        let [value, offset, pointer] = args else { return self.missing(call) };
        let stored = self.value(value);
        let places = self.vector_places((lanes, lanes), offset, pointer, call);
        if let Some(place) = whole_vector(&places, value.ty, self.layout.size(value.ty)) {
            self.store(&place, stored, call.span);
        } else {
            let parts = self.flatten(stored, value.ty);
            for ((place, _), part) in places.iter().zip(parts) {
                self.store(place, part, call.span);
            }
        }
        Value::Void
    }

    /// Lanes of 16 bits, each converted.
    fn half_load(&mut self, lanes: (u8, u8), name: &str, args: &[Expr], call: &Expr) -> Value {
        let [offset, pointer] = args else { return self.missing(call) };
        let places = self.vector_places(lanes, offset, pointer, call);
        let loaded: Vec<Value> = places.iter().map(|(place, _)| self.load(place, call.span)).collect();
        let scalar = |value: Value| if let Value::Scalar(expr) = value { Some(expr) } else { None };
        let scalars: Vec<ExprId> = loaded.into_iter().filter_map(scalar).collect();
        self.function_value(&Function::from(name), &scalars, call.ty)
    }

    fn half_store(&mut self, lanes: (u8, u8), args: &[Expr], call: &Expr) -> Value {
        let [value, offset, pointer] = args else { return self.missing(call) };
        self.effect(value);
        for (place, _) in self.vector_places(lanes, offset, pointer, call) {
            let rounded = self.unknown_value(place.ty, &HavocReason::Other("a rounded value".to_owned()), call.span);
            self.store(&place, rounded, call.span);
        }
        Value::Void
    }

    /// The lanes at `pointer + offset * stride`, with the distance of their ends from the first in bytes.
    fn vector_places(
        &mut self,
        (lanes, stride): (u8, u8),
        offset: &Expr,
        pointer: &Expr,
        call: &Expr,
    ) -> Vec<(Place, u64)> {
        let element = self.layout.pointee(pointer.ty).unwrap_or(call.ty);
        let count = self.scalar(offset);
        let start = self.pointer(pointer);
        let count = self.exprs().convert(ScalarType::I64, count);
        let width = self.exprs().int(i128::from(stride), ScalarType::I64);
        let first = self.exprs().binary(BinaryOp::Mul, count, width);
        let start = self.move_pointer(start, first, element, call.span);
        let size = self.layout.size(element);
        (0..u64::from(lanes))
            .map(|lane| {
                let delta = self.offset(lane * size);
                let offset = self.exprs().binary(BinaryOp::Add, start.offset, delta);
                let pointer = Pointer { base: start.base.clone(), offset };
                (Place { pointer, ty: element, bits: None }, (lane + 1) * size)
            })
            .collect()
    }

    fn cached_load(&mut self, args: &[Expr], call: &Expr) -> Value {
        let Some(arg) = args.first() else { return self.missing(call) };
        let pointer = self.pointer(arg);
        for other in &args[1..] {
            self.effect(other);
        }
        let ty = self.layout.pointee(arg.ty).unwrap_or(call.ty);
        let value = self.load(&Place { pointer, ty, bits: None }, call.span);
        self.convert(value, ty, call.ty, call.span)
    }

    fn copy_memory(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [to, from, bytes, ..] = args else { return self.missing(call) };
        let (to, from, bytes) = (self.pointer(to), self.pointer(from), self.scalar(bytes));
        self.move_bytes(&from, Touch::Read, bytes, call.span);
        self.move_bytes(&to, Touch::Write, bytes, call.span);
        Value::Pointer(to)
    }

    fn set_memory(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [to, value, bytes, ..] = args else { return self.missing(call) };
        let to = self.pointer(to);
        self.effect(value);
        let bytes = self.scalar(bytes);
        self.move_bytes(&to, Touch::Write, bytes, call.span);
        Value::Pointer(to)
    }

    /// Touches `bytes` bytes at `pointer`: one access if their number is a constant, else one for each byte.
    pub(super) fn move_bytes(&mut self, pointer: &Pointer, touch: Touch, bytes: ExprId, span: Span) {
        match &pointer.base {
            Base::Target(target) => self.move_bytes_of(*target, pointer.offset, touch, bytes, span),
            Base::OneOf { tag, targets } => {
                let arms = self.arms(*tag, targets, |pass, target| {
                    pass.move_bytes_of(target, pointer.offset, touch, bytes, span);
                    Value::Void
                });
                self.choose(arms);
            }
            Base::Unknown(reason) => self.unsupported(span, format!("memory function on {reason}")),
        }
    }

    fn move_bytes_of(&mut self, target: TargetId, offset: ExprId, touch: Touch, bytes: ExprId, span: Span) {
        self.ensure_home(target);
        let array = match self.homes.get(target) {
            Some(Home::Array(array)) => *array,
            Some(Home::Slots(_)) if touch == Touch::Read => return,
            Some(Home::Slots(_)) => {
                let pointer = Pointer { base: Base::Target(target), offset };
                return self.clobber(&pointer, &HavocReason::Other("a memory function".to_owned()), span);
            }
            Some(Home::Null) | None => return,
        };
        match self.kernel.exprs.as_int(bytes).map(u32::try_from) {
            Some(Ok(0)) => {}
            Some(Ok(count)) => self.touch(array, offset, count, touch, span),
            _ => {
                let bytes = self.exprs().convert(ScalarType::I64, bytes);
                let bytes = self.snapshot(bytes);
                let offset = self.snapshot(offset);
                self.turns("byte", bytes, span, |pass, byte| {
                    let at = pass.exprs().binary(BinaryOp::Add, offset, byte);
                    pass.touch(array, at, 1, touch, span);
                });
            }
        }
    }

    fn unknown_call_without_effect(&mut self, name: &str, args: &[Expr], call: &Expr) -> Value {
        let reason = HavocReason::Call(name.to_owned());
        for arg in args {
            let value = self.value(arg);
            self.clobber_value(&value, &reason, call.span);
        }
        self.unknown_value(call.ty, &reason, call.span)
    }

    /// The value that the last statement of the open block gives to `var`, if that is a `let`.
    pub(super) fn last_let(&self, var: crate::calculus::VarId) -> Option<ExprId> {
        match self.blocks.last_statement() {
            Some(&Stmt::Let { var: assigned, value }) if assigned == var => Some(value),
            _ => None,
        }
    }
}

/// The vector as one place, if its lanes fill the type.
fn whole_vector(lanes: &[(Place, u64)], ty: TypeId, size: u64) -> Option<Place> {
    let (first, _) = lanes.first()?;
    let (_, end) = lanes.last()?;
    (*end == size).then(|| Place { pointer: first.pointer.clone(), ty, bits: None })
}

/// The factors of a product of 24 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Factors {
    Signed,
    Unsigned,
}

impl Factors {
    /// Whether numbers of a range are of 24 bits.
    fn fit(self, (least, greatest): (i128, i128)) -> bool {
        let (lowest, highest) = self.numbers();
        lowest <= least && greatest <= highest
    }

    /// Whether no number of a range is of 24 bits.
    fn are_outside(self, (least, greatest): (i128, i128)) -> bool {
        let (lowest, highest) = self.numbers();
        greatest < lowest || highest < least
    }

    fn numbers(self) -> (i128, i128) {
        match self {
            Factors::Signed => (-(1 << 23), (1 << 23) - 1),
            Factors::Unsigned => (0, (1 << 24) - 1),
        }
    }
}
