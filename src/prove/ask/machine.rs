//! Expressions of a protocol as bit-vectors: what the machine computes, bit for bit.
//!
//! Integers have their width, unsigned arithmetic wraps, division truncates. What is unknown is an
//! uninterpreted function of what it depends on: equal arguments, equal values. Values without arithmetic
//! (floating point) are carriers of 64 bits about which only that is known. So whatever a thread computes in
//! a run is a model, and `unsat` needs no assumption but that no signed operation overflows, which is undefined.
//!
//! Deliberately absent: which places there are and what holds there ([`super::setting`]).

use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, ScalarType, UnaryOp, VarId};
use crate::memory_model::Level;
use crate::protocol::{LoopId, OpaqueId, Origin, Protocol, Role};
use crate::prove::state::poly::Side;
use crate::prove::{Assumption, Scope};
use crate::smt::{FunctionId, Op, Sort, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Unknown values inside unknown values beyond which one is taken as it comes.
const DEPTH: u32 = 60;
/// Width of a value without arithmetic.
const CARRIER: u32 = 64;

/// What variables stand for at one place of one thread.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The thread.
    pub(super) side: Side,
    /// Iteration numbers of the loops around it.
    pub(super) iterations: Vec<(LoopId, TermId)>,
    /// Values that loops carry.
    pub(super) carried: Vec<(VarId, TermId)>,
}

/// Position of a place in [`Machine::places`].
pub(super) type PlaceId = usize;

/// What a function stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    /// An unknown value, of one thread if a side is given.
    Opaque(OpaqueId, Option<Side>),
    Unary(UnaryOp, ScalarType),
    Binary(BinaryOp, ScalarType),
    Convert(ScalarType, ScalarType),
    Call(String, ScalarType),
    Text(String, ScalarType),
}

/// Symbols for what has a meaning of its own, wherever it is computed.
#[derive(Default)]
struct Symbols {
    functions: FxHashMap<(Meaning, Vec<Sort>), FunctionId>,
    constants: FxHashMap<Meaning, TermId>,
}

/// A translation under way.
pub(super) struct Machine<'a> {
    pub(super) protocol: &'a Protocol,
    pub(super) scope: &'a Scope,
    pub(super) level: Level,
    /// How close the two threads are, where more is known than the level: those of one warp are of one block.
    pub(super) closest: Level,
    pub(super) terms: &'a mut Terms,
    pub(super) places: Vec<Place>,
    /// What holds.
    pub(super) facts: Vec<TermId>,
    pub(super) assumptions: BTreeSet<Assumption>,
    pub(super) geometry: FxHashMap<(GeometryVar, Option<Side>), TermId>,
    pub(super) params: FxHashMap<usize, TermId>,
    values: FxHashMap<(ExprId, PlaceId), TermId>,
    strays: FxHashMap<(VarId, PlaceId), TermId>,
    symbols: Symbols,
    defined: FxHashSet<(ExprId, PlaceId)>,
    depth: u32,
}

impl<'a> Machine<'a> {
    pub(super) fn new(protocol: &'a Protocol, scope: &'a Scope, level: Level, terms: &'a mut Terms) -> Self {
        Machine {
            protocol,
            scope,
            level,
            closest: level,
            terms,
            places: Vec::new(),
            facts: Vec::new(),
            assumptions: BTreeSet::new(),
            geometry: FxHashMap::default(),
            params: FxHashMap::default(),
            values: FxHashMap::default(),
            strays: FxHashMap::default(),
            symbols: Symbols::default(),
            defined: FxHashSet::default(),
            depth: 0,
        }
    }

    pub(super) fn ty(&self, expr: ExprId) -> ScalarType {
        self.protocol.exprs.ty(expr)
    }

    /// The value of `root` at a place.
    pub(super) fn value(&mut self, root: ExprId, place: PlaceId) -> TermId {
        if let Some(&known) = self.values.get(&(root, place)) {
            return known;
        }
        let mut order = Vec::new();
        let protocol = self.protocol;
        protocol.exprs.visit(root, |id, _| order.push(id));
        for id in order {
            if !self.values.contains_key(&(id, place)) {
                let value = self.compute(id, place);
                self.values.insert((id, place), value);
            }
        }
        self.values[&(root, place)]
    }

    fn compute(&mut self, expr: ExprId, place: PlaceId) -> TermId {
        let ty = self.ty(expr);
        let protocol = self.protocol;
        let of = |machine: &Self, id: ExprId| machine.values[&(id, place)];
        match &protocol.exprs[expr] {
            Expr::Int(value, _) => self.literal(*value, ty),
            Expr::Opaque(text, _) => self.constant(Meaning::Text(text.clone(), ty), text, ty),
            Expr::Var(var) => self.variable(*var, place),
            Expr::Param(param) => self.param(param.index()),
            Expr::Geometry(var) => self.geometry(*var, self.places[place].side),
            Expr::Unary(op, a) => {
                let value = of(self, *a);
                self.unary(*op, value, self.ty(*a))
            }
            Expr::Binary(op, a, b) => {
                let values = [of(self, *a), of(self, *b)];
                self.binary(*op, values, [self.ty(*a), self.ty(*b)], ty)
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (of(self, *c), of(self, *a), of(self, *b));
                self.terms.ite(c, a, b)
            }
            Expr::Convert(_, a) => {
                let value = of(self, *a);
                self.convert(value, self.ty(*a), ty)
            }
            Expr::Call(function, args, _) => {
                let args = args.iter().map(|&arg| of(self, arg)).collect();
                self.apply_unknown(Meaning::Call(function.to_string(), ty), function.name(), args, ty)
            }
        }
    }

    // ---- leaves

    pub(super) fn literal(&mut self, value: i128, ty: ScalarType) -> TermId {
        match sort_of(ty) {
            Sort::Bits(width) => self.terms.bits(value, width),
            _ => self.terms.bool(value != 0),
        }
    }

    fn constant(&mut self, meaning: Meaning, name: &str, ty: ScalarType) -> TermId {
        if let Some(&known) = self.symbols.constants.get(&meaning) {
            return known;
        }
        let term = self.terms.symbol(name, sort_of(ty));
        self.symbols.constants.insert(meaning, term);
        term
    }

    fn param(&mut self, index: usize) -> TermId {
        if let Some(&known) = self.params.get(&index) {
            return known;
        }
        let Some((_, param)) = self.protocol.params.iter().nth(index) else { return self.terms.bool(false) };
        let fixed = self.scope.params.get(index).copied().flatten().filter(|_| param.ty.range().is_some());
        let term = match fixed {
            Some(value) => self.literal(value, param.ty),
            None => self.terms.symbol(&param.name, sort_of(param.ty)),
        };
        self.params.insert(index, term);
        term
    }

    pub(super) fn geometry(&mut self, var: GeometryVar, side: Side) -> TermId {
        let shared = match var {
            GeometryVar::ThreadIdx(_) => false,
            GeometryVar::BlockIdx(_) => self.level != Level::Grid,
            _ => true,
        };
        let key = (var, (!shared).then_some(side));
        if let Some(&known) = self.geometry.get(&key) {
            return known;
        }
        let term = self.make_geometry(var, side);
        self.geometry.insert(key, term);
        term
    }

    fn make_geometry(&mut self, var: GeometryVar, side: Side) -> TermId {
        let (name, axis, extent) = match var {
            GeometryVar::ThreadIdx(axis) => ("threadIdx", axis, Some(GeometryVar::BlockDim(axis))),
            GeometryVar::BlockIdx(axis) => ("blockIdx", axis, Some(GeometryVar::GridDim(axis))),
            GeometryVar::BlockDim(axis) => ("blockDim", axis, None),
            GeometryVar::GridDim(axis) => ("gridDim", axis, None),
        };
        if let Some(fixed) = self.fixed(var) {
            return self.terms.bits(i128::from(fixed), 32);
        }
        let name = format!("{name}.{}", ["x", "y", "z"][axis.index()]);
        match extent {
            Some(extent) => {
                let count = self.geometry(extent, side);
                let one = self.terms.bits(1, 32);
                if count == one {
                    return self.terms.bits(0, 32);
                }
                let term = self.terms.symbol(name, Sort::Bits(32));
                let below = self.terms.apply(Op::BvUlt, vec![term, count]);
                self.facts.push(below);
                term
            }
            None => {
                let term = self.terms.symbol(name, Sort::Bits(32));
                let rules = self.protocol.geometry.platform.rules();
                let greatest = match var {
                    GeometryVar::GridDim(_) => rules.grid[axis.index()],
                    _ => rules.block[axis.index()],
                };
                let (one, greatest) = (self.terms.bits(1, 32), self.terms.bits(i128::from(greatest), 32));
                let low = self.terms.apply(Op::BvUle, vec![one, term]);
                let high = self.terms.apply(Op::BvUle, vec![term, greatest]);
                self.facts.extend([low, high]);
                term
            }
        }
    }

    fn fixed(&self, var: GeometryVar) -> Option<u32> {
        self.scope.fixed(var, self.protocol.geometry.required_block)
    }

    /// `__launch_bounds__`, or the limit of all devices where the launches are those within it.
    pub(super) fn launch(&mut self) {
        let stated = self.protocol.geometry.max_threads;
        let Some(most) = stated.or(self.scope.most_threads) else { return };
        if stated.is_none() {
            self.assumptions.insert(Assumption::BlockLimit(most));
        }
        let within = self.has_at_most(most);
        self.facts.push(within);
    }

    /// That a block has at most so many threads.
    pub(super) fn has_at_most(&mut self, threads: u32) -> TermId {
        let mut product = self.terms.bits(1, 64);
        for axis in Axis::ALL {
            let extent = self.geometry(GeometryVar::BlockDim(axis), Side::First);
            let extent = self.terms.apply(Op::ZeroExtend(32), vec![extent]);
            product = self.terms.apply(Op::BvMul, vec![product, extent]);
        }
        let most = self.terms.bits(i128::from(threads), 64);
        self.terms.apply(Op::BvUle, vec![product, most])
    }

    /// The two threads are distinct.
    pub(super) fn are_two(&mut self) {
        let of = |axis| match self.level {
            Level::Grid => GeometryVar::BlockIdx(axis),
            _ => GeometryVar::ThreadIdx(axis),
        };
        let mut apart = Vec::new();
        for var in Axis::ALL.map(of) {
            let (first, second) = (self.geometry(var, Side::First), self.geometry(var, Side::Second));
            let same = self.terms.eq(first, second);
            apart.push(self.terms.not(same));
        }
        let apart = self.terms.or(apart);
        self.facts.push(apart);
    }

    fn variable(&mut self, var: VarId, place: PlaceId) -> TermId {
        match self.protocol.roles.get(var).copied() {
            Some(Role::Iteration(id)) => {
                let known = self.places[place].iterations.iter().find(|entry| entry.0 == id).map(|entry| entry.1);
                known.unwrap_or_else(|| self.stray(var, place))
            }
            Some(Role::Geometric(_) | Role::Toggle(_)) => {
                let known = self.places[place].carried.iter().find(|entry| entry.0 == var).map(|entry| entry.1);
                known.unwrap_or_else(|| self.stray(var, place))
            }
            Some(Role::Opaque(id)) => self.opaque(id, place),
            None => self.stray(var, place),
        }
    }

    /// A variable of which nothing is known here.
    fn stray(&mut self, var: VarId, place: PlaceId) -> TermId {
        if let Some(&known) = self.strays.get(&(var, place)) {
            return known;
        }
        let variable = &self.protocol.vars[var];
        let term = self.terms.symbol(&variable.name, sort_of(variable.ty));
        self.strays.insert((var, place), term);
        term
    }

    // ---- unknown values

    fn opaque(&mut self, id: OpaqueId, place: PlaceId) -> TermId {
        let protocol = self.protocol;
        let opaque = &protocol.opaques[id];
        if self.depth > DEPTH {
            return self.stray(opaque.var, place);
        }
        self.depth += 1;
        let term = self.opaque_within_depth(id, place);
        self.depth -= 1;
        term
    }

    fn opaque_within_depth(&mut self, id: OpaqueId, place: PlaceId) -> TermId {
        let protocol = self.protocol;
        let opaque = &protocol.opaques[id];
        let variable = &protocol.vars[opaque.var];
        let side = self.places[place].side;
        if opaque.is_same_block() {
            return self.terms.bool(self.level != Level::Grid);
        }
        if let Some(value) = opaque.in_other() {
            // The first two places are those of the two threads.
            return match 1usize.checked_sub(place) {
                Some(other) => self.value(value, other),
                None => self.stray(opaque.var, place),
            };
        }
        match &opaque.origin {
            Origin::Complex { value } => return self.value(*value, place),
            Origin::Function { function, args } => {
                let args = args.iter().map(|&arg| self.value(arg, place)).collect();
                let meaning = Meaning::Call(function.to_string(), variable.ty);
                return self.apply_unknown(meaning, function.name(), args, variable.ty);
            }
            Origin::Read { offset, constant: true, .. } => {
                let shared = self.level == Level::Block || self.is_seen_by_all_blocks(id);
                let meaning = Meaning::Opaque(self.first_alike(id), (!shared).then_some(side));
                let offset = self.value(*offset, place);
                return self.apply_unknown(meaning, &variable.name, vec![offset], variable.ty);
            }
            _ => {}
        }
        let mut arguments = self.turns(id, place);
        let mut shared = opaque.is_uniform(self.closest);
        if let Origin::Read { offset, stable: true, .. } = &opaque.origin {
            arguments.push(self.value(*offset, place));
            shared = self.level == Level::Block;
        }
        let meaning = Meaning::Opaque(id, (!shared).then_some(side));
        self.apply_unknown(meaning, &variable.name, arguments, variable.ty)
    }

    /// Iteration numbers at which a value arises.
    fn turns(&mut self, id: OpaqueId, place: PlaceId) -> Vec<TermId> {
        let protocol = self.protocol;
        let loops = &protocol.opaques[id].loops;
        loops.iter().map(|&around| self.variable(protocol.loops[around].iteration, place)).collect()
    }

    fn is_seen_by_all_blocks(&self, id: OpaqueId) -> bool {
        use crate::calculus::Space;
        matches!(&self.protocol.opaques[id].origin, Origin::Read { array, .. }
            if matches!(self.protocol.arrays[*array].space, Space::Global | Space::Constant))
    }

    /// The first unknown value that is a read of the same constant array, of the same type.
    fn first_alike(&self, id: OpaqueId) -> OpaqueId {
        let of = |id: OpaqueId| match &self.protocol.opaques[id].origin {
            Origin::Read { array, bytes, constant: true, .. } => {
                Some((*array, *bytes, self.protocol.vars[self.protocol.opaques[id].var].ty))
            }
            _ => None,
        };
        let wanted = of(id);
        self.protocol.opaques.handles().find(|&other| wanted.is_some() && of(other) == wanted).unwrap_or(id)
    }

    fn apply_unknown(&mut self, meaning: Meaning, name: &str, arguments: Vec<TermId>, ty: ScalarType) -> TermId {
        if arguments.is_empty() {
            return self.constant(meaning, name, ty);
        }
        let sorts: Vec<Sort> = arguments.iter().map(|&argument| self.terms.sort(argument)).collect();
        let key = (meaning, sorts.clone());
        let function = match self.symbols.functions.get(&key) {
            Some(&known) => known,
            None => {
                let function = self.terms.function(name, sorts, sort_of(ty));
                self.symbols.functions.insert(key, function);
                function
            }
        };
        self.terms.call(function, arguments)
    }

    // ---- operators

    fn unary(&mut self, op: UnaryOp, a: TermId, ty: ScalarType) -> TermId {
        match (op, ty) {
            (UnaryOp::Not, ScalarType::Bool) => self.terms.not(a),
            (UnaryOp::Neg, ScalarType::Int { .. }) => self.terms.apply(Op::BvNeg, vec![a]),
            (UnaryOp::BitNot, ScalarType::Int { .. }) => self.terms.apply(Op::BvNot, vec![a]),
            _ => self.apply_unknown(Meaning::Unary(op, ty), "operator", vec![a], ty),
        }
    }

    fn binary(&mut self, op: BinaryOp, [a, b]: [TermId; 2], types: [ScalarType; 2], result: ScalarType) -> TermId {
        match types {
            [ScalarType::Bool, ScalarType::Bool] => self.boolean(op, a, b, result),
            [ScalarType::Int { width, signed }, ScalarType::Int { .. }] => {
                let b = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    self.resized(b, types[1], u32::from(width))
                } else {
                    b
                };
                self.integer(op, a, b, signed)
            }
            _ => self.apply_unknown(Meaning::Binary(op, types[0]), "operator", vec![a, b], result),
        }
    }

    fn boolean(&mut self, op: BinaryOp, a: TermId, b: TermId, result: ScalarType) -> TermId {
        match op {
            BinaryOp::And | BinaryOp::BitAnd | BinaryOp::Min => self.terms.and(vec![a, b]),
            BinaryOp::Or | BinaryOp::BitOr | BinaryOp::Max => self.terms.or(vec![a, b]),
            BinaryOp::Eq => self.terms.eq(a, b),
            BinaryOp::Ne | BinaryOp::BitXor => {
                let same = self.terms.eq(a, b);
                self.terms.not(same)
            }
            _ => self.apply_unknown(Meaning::Binary(op, ScalarType::Bool), "operator", vec![a, b], result),
        }
    }

    fn integer(&mut self, op: BinaryOp, a: TermId, b: TermId, signed: bool) -> TermId {
        let plain = |signed_op: Op, unsigned_op: Op| if signed { signed_op } else { unsigned_op };
        let (less, at_most) = (plain(Op::BvSlt, Op::BvUlt), plain(Op::BvSle, Op::BvUle));
        let op = match op {
            BinaryOp::Add => Op::BvAdd,
            BinaryOp::Sub => Op::BvSub,
            BinaryOp::Mul => Op::BvMul,
            BinaryOp::Div => plain(Op::BvSdiv, Op::BvUdiv),
            BinaryOp::Rem => plain(Op::BvSrem, Op::BvUrem),
            BinaryOp::Shl => Op::BvShl,
            BinaryOp::Shr => plain(Op::BvAshr, Op::BvLshr),
            BinaryOp::BitAnd => Op::BvAnd,
            BinaryOp::BitOr => Op::BvOr,
            BinaryOp::BitXor => Op::BvXor,
            BinaryOp::Min | BinaryOp::Max => {
                let lower = self.terms.apply(less, vec![a, b]);
                return if op == BinaryOp::Min { self.terms.ite(lower, a, b) } else { self.terms.ite(lower, b, a) };
            }
            BinaryOp::Lt => less,
            BinaryOp::Le => at_most,
            BinaryOp::Gt => return self.terms.apply(less, vec![b, a]),
            BinaryOp::Ge => return self.terms.apply(at_most, vec![b, a]),
            BinaryOp::Eq => return self.terms.eq(a, b),
            BinaryOp::Ne => {
                let same = self.terms.eq(a, b);
                return self.terms.not(same);
            }
            BinaryOp::And | BinaryOp::Or => {
                let (a, b) = (self.is_set(a), self.is_set(b));
                return if op == BinaryOp::And { self.terms.and(vec![a, b]) } else { self.terms.or(vec![a, b]) };
            }
        };
        self.terms.apply(op, vec![a, b])
    }

    fn is_set(&mut self, bits: TermId) -> TermId {
        let zero = match self.terms.sort(bits) {
            Sort::Bits(width) => self.terms.bits(0, width),
            _ => return bits,
        };
        let clear = self.terms.eq(bits, zero);
        self.terms.not(clear)
    }

    fn convert(&mut self, value: TermId, from: ScalarType, to: ScalarType) -> TermId {
        match (from, to) {
            _ if from == to => value,
            (ScalarType::Bool, ScalarType::Int { width, .. }) => {
                let (one, zero) = (self.terms.bits(1, width.into()), self.terms.bits(0, width.into()));
                self.terms.ite(value, one, zero)
            }
            (ScalarType::Int { .. }, ScalarType::Bool) => self.is_set(value),
            (ScalarType::Int { .. }, ScalarType::Int { width, .. }) => self.resized(value, from, width.into()),
            _ => self.apply_unknown(Meaning::Convert(from, to), "conversion", vec![value], to),
        }
    }

    /// Bits of type `from`, cut or extended to `width`.
    pub(super) fn resized(&mut self, value: TermId, from: ScalarType, width: u32) -> TermId {
        let ScalarType::Int { width: own, signed } = from else { return value };
        let own = u32::from(own);
        match (own.cmp(&width), signed) {
            (std::cmp::Ordering::Equal, _) => value,
            (std::cmp::Ordering::Greater, _) => self.terms.apply(Op::Low(width), vec![value]),
            (std::cmp::Ordering::Less, true) => self.terms.apply(Op::SignExtend(width - own), vec![value]),
            (std::cmp::Ordering::Less, false) => self.terms.apply(Op::ZeroExtend(width - own), vec![value]),
        }
    }

    // ---- undefined behaviour

    /// Notes that no signed operation that `root` certainly evaluates at a place overflows.
    pub(super) fn is_defined(&mut self, root: ExprId, place: PlaceId) {
        let protocol = self.protocol;
        let mut stack = vec![root];
        while let Some(expr) = stack.pop() {
            if !self.defined.insert((expr, place)) {
                continue;
            }
            let signed = matches!(self.ty(expr), ScalarType::Int { signed: true, .. });
            match protocol.exprs[expr] {
                // An arm is evaluated or not.
                Expr::Select(c, ..) => stack.push(c),
                Expr::Binary(BinaryOp::And | BinaryOp::Or, a, _) => stack.push(a),
                Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                    // What a loop adds up in many iterations is not computed as a product.
                    if signed && ![expr, a, b].into_iter().any(|id| self.is_moved(id)) {
                        self.no_overflow(op, a, b, place);
                    }
                    stack.extend([a, b]);
                }
                Expr::Unary(_, a) | Expr::Convert(_, a) => stack.push(a),
                Expr::Binary(_, a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
    }

    /// Whether an expression is part of the closed form of a loop's variable.
    fn is_moved(&self, expr: ExprId) -> bool {
        let turns = |mut id: ExprId| {
            while let Expr::Convert(_, inner) = self.protocol.exprs[id] {
                id = inner;
            }
            matches!(self.protocol.exprs[id], Expr::Var(var)
                if matches!(self.protocol.roles.get(var), Some(Role::Iteration(_))))
        };
        turns(expr) || matches!(self.protocol.exprs[expr], Expr::Binary(BinaryOp::Mul, a, b) if turns(a) || turns(b))
    }

    fn no_overflow(&mut self, op: BinaryOp, a: ExprId, b: ExprId, place: PlaceId) {
        let ScalarType::Int { width, .. } = self.ty(a) else { return };
        let width = u32::from(width);
        let by = match op {
            BinaryOp::Mul => width,
            _ => 1,
        };
        if width + by > 96 && op == BinaryOp::Mul {
            // Products of 128 bits cost more than they tell.
            return;
        }
        let (a, b) = (self.value(a, place), self.value(b, place));
        let wide: Vec<TermId> =
            [a, b].into_iter().map(|value| self.terms.apply(Op::SignExtend(by), vec![value])).collect();
        let bits = match op {
            BinaryOp::Add => Op::BvAdd,
            BinaryOp::Sub => Op::BvSub,
            _ => Op::BvMul,
        };
        let narrow = self.terms.apply(bits, vec![a, b]);
        let narrow = self.terms.apply(Op::SignExtend(by), vec![narrow]);
        let wide = self.terms.apply(bits, wide);
        let fits = self.terms.eq(narrow, wide);
        self.facts.push(fits);
    }
}

/// How values of a type are represented.
pub(super) fn sort_of(ty: ScalarType) -> Sort {
    match ty {
        ScalarType::Bool => Sort::Bool,
        ScalarType::Int { width, .. } => Sort::Bits(width.into()),
        ScalarType::Opaque { .. } => Sort::Bits(CARRIER),
    }
}
