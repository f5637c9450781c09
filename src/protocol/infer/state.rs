//! The state of symbolic execution: what each variable stands for, what is known, and where we are.

use super::assigned::Assignments;
use crate::arena::Handle;
use crate::calculus::statements::every;
use crate::calculus::{
    self, Among, BinaryOp, Expr, ExprId, Exprs, Function, HavocReason, Kernel, ScalarType, SiteId, Space, Stmt,
    UnaryOp, VarId, Variable,
};
use crate::protocol::{Count, Guard, LoopId, Opaque, OpaqueId, Origin, Protocol, Role, Step, Ticket};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most distinct subexpressions that the value of a variable may have.
const MAX_NODES: u32 = 400;

/// Whether execution emits nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It does.
    Emit,
    /// It only finds out how the variables of a loop move.
    Trial,
}

/// Which arm of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    /// The condition holds.
    Holds,
    /// It does not.
    Fails,
}

impl Polarity {
    fn flip(self) -> Self {
        if self == Polarity::Holds { Polarity::Fails } else { Polarity::Holds }
    }
}

/// A place to return to with [`State::leave`].
pub(super) struct Context {
    guards: usize,
    trail: usize,
}

/// See the module.
pub(super) struct State<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) out: Protocol,
    /// What each variable of the kernel stands for, by its index.
    pub(super) env: Vec<ExprId>,
    pub(super) mode: Mode,
    pub(super) guards: Vec<Guard>,
    pub(super) loops: Vec<LoopId>,
    pub(super) assignments: Assignments,
    /// Boolean expressions whose value is known here.
    known: FxHashMap<ExprId, bool>,
    /// The keys of `known`, in the order in which they were added.
    trail: Vec<ExprId>,
    /// Variables that barriers name their threads by.
    pub(super) names: FxHashSet<VarId>,
    /// Results of [`State::simplify`] under the current `known`.
    simplified: FxHashMap<ExprId, ExprId>,
    /// What each atomic adds, of those that were emitted; see [`super::tickets`].
    pub(super) additions: FxHashMap<SiteId, Option<Step>>,
    functions: FxHashMap<(Function, Vec<ExprId>, ScalarType), VarId>,
    complex: FxHashMap<ExprId, VarId>,
    /// For each expression, a bound from above on its distinct subexpressions.
    sizes: Vec<u32>,
}

/// The variables that barriers name their threads by.
fn names(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut names = FxHashSet::default();
    every(&kernel.body, |stmt| {
        if let Stmt::Sync { among: Among::Named(cond), .. } = stmt {
            kernel.exprs.visit(*cond, |_, node| {
                if let Expr::Var(var) = node {
                    names.insert(*var);
                }
            });
        }
    });
    names
}

impl<'k> State<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Self {
        let out = Protocol {
            name: kernel.name.clone(),
            params: kernel.params.clone(),
            arrays: kernel.arrays.clone(),
            sites: kernel.sites.clone(),
            geometry: kernel.geometry.clone(),
            unsupported: kernel.unsupported.clone(),
            ..Protocol::default()
        };
        let mut state = State {
            kernel,
            out,
            env: Vec::new(),
            mode: Mode::Emit,
            guards: Vec::new(),
            loops: Vec::new(),
            assignments: Assignments::default(),
            known: FxHashMap::default(),
            names: names(kernel),
            trail: Vec::new(),
            simplified: FxHashMap::default(),
            additions: FxHashMap::default(),
            functions: FxHashMap::default(),
            complex: FxHashMap::default(),
            sizes: Vec::new(),
        };
        state.env = kernel.vars.handles().map(|var| state.havoc_value(var, HavocReason::Uninitialized, None)).collect();
        state
    }

    /// Notes which variables each loop assigns.
    pub(super) fn note_assignments(&mut self) {
        self.assignments = Assignments::of(&self.kernel.body);
    }

    // ---- values ----

    /// Makes `var` stand for `value` from here on.
    pub(super) fn assign(&mut self, var: VarId, value: ExprId) {
        let value = self.cap(value);
        self.env[var.index()] = value;
    }

    /// A new variable of the protocol and the expression that mentions it.
    pub(super) fn fresh(&mut self, name: &str, ty: ScalarType) -> (VarId, ExprId) {
        let var = self.out.vars.push(Variable { name: name.to_owned(), ty });
        (var, self.out.exprs.var(var, ty))
    }

    fn unknown(&mut self, name: &str, ty: ScalarType, origin: Origin, span: Option<Span>) -> (OpaqueId, ExprId) {
        let (var, value) = self.fresh(name, ty);
        let loops = self.loops.clone();
        let opaque =
            self.out.opaques.push(Opaque { var, origin, loops, uniform: None, handed: None, counted: None, span });
        self.out.roles.insert(var, Role::Opaque(opaque));
        (opaque, value)
    }

    fn unknown_for(&mut self, var: VarId, origin: Origin, span: Option<Span>) -> (OpaqueId, ExprId) {
        let variable = &self.kernel.vars[var];
        self.unknown(&variable.name, variable.ty, origin, span)
    }

    /// What a read binds to `var`.
    pub(super) fn read_value(&mut self, var: VarId, access: &calculus::Access, offset: ExprId) -> ExprId {
        let &calculus::Access { array, bytes, site, .. } = access;
        let origin = Origin::Read { array, site, offset, bytes, stable: false, constant: false };
        self.unknown_for(var, origin, self.kernel.sites[site].span).1
    }

    /// What an atomic binds to `var`.
    pub(super) fn atomic_value(
        &mut self,
        var: VarId,
        access: &calculus::Access,
        ticket: Option<Ticket>,
        count: Option<Count>,
    ) -> ExprId {
        let &calculus::Access { array, site, .. } = access;
        let origin = if self.kernel.arrays[array].space == Space::Private {
            Origin::Havoc(HavocReason::Other("an atomic on private memory".to_owned()))
        } else {
            Origin::Atomic { array, site, ticket, count }
        };
        self.unknown_for(var, origin, self.kernel.sites[site].span).1
    }

    /// A value of `var` that nothing is known about.
    pub(super) fn havoc_value(&mut self, var: VarId, reason: HavocReason, span: Option<Span>) -> ExprId {
        self.unknown_for(var, Origin::Havoc(reason), span).1
    }

    /// A value of `var` in or after the loop at `site`; what it is computed from is filled in later.
    pub(super) fn loop_value(&mut self, var: VarId, site: SiteId) -> (OpaqueId, ExprId) {
        let name = self.kernel.vars[var].name.clone();
        self.unknown_for(var, Origin::Loop { site, name, from: Vec::new() }, self.kernel.sites[site].span)
    }

    /// The number of turns that the loop at `site` has run.
    pub(super) fn turns_value(&mut self, site: SiteId) -> ExprId {
        let origin = Origin::Loop { site, name: "turns".to_owned(), from: Vec::new() };
        self.unknown("turns", ScalarType::I64, origin, self.kernel.sites[site].span).1
    }

    /// Whether the turn of the loop at `site` before the current one let it go on; what it is computed from is
    /// filled in later.
    pub(super) fn going_value(&mut self, site: SiteId) -> (OpaqueId, ExprId) {
        let origin = Origin::Loop { site, name: "going".to_owned(), from: Vec::new() };
        self.unknown("going", ScalarType::Bool, origin, self.kernel.sites[site].span)
    }

    fn function_value(&mut self, function: &Function, args: Vec<ExprId>, ty: ScalarType, span: Option<Span>) -> ExprId {
        if let Some(counted) = self.out.exprs.counted(function, &args) {
            return self.out.exprs.int(counted, ty);
        }
        let key = (function.clone(), args, ty);
        if let Some(&var) = self.functions.get(&key) {
            return self.out.exprs.var(var, ty);
        }
        let loops = self.loops_of(&key.1);
        let origin = Origin::Function { function: function.clone(), args: key.1.clone() };
        let (opaque, value) = self.unknown(function.name(), ty, origin, span);
        self.out.opaques[opaque].loops = loops;
        self.functions.insert(key, self.out.opaques[opaque].var);
        value
    }

    /// `value`, or a name for it if it is too large.
    pub(super) fn cap(&mut self, value: ExprId) -> ExprId {
        if self.size_bound(value) <= MAX_NODES {
            return value;
        }
        let ty = self.out.exprs.ty(value);
        if let Some(&var) = self.complex.get(&value) {
            return self.out.exprs.var(var, ty);
        }
        if !self.out.exprs.is_larger_than(value, MAX_NODES) {
            return value;
        }
        let loops = self.loops_of(&[value]);
        let span = self.out.spans.get(value).copied();
        let (opaque, named) = self.unknown("complex", ty, Origin::Complex { value }, span);
        self.out.opaques[opaque].loops = loops;
        self.complex.insert(value, self.out.opaques[opaque].var);
        named
    }

    fn size_bound(&mut self, value: ExprId) -> u32 {
        for index in self.sizes.len()..self.out.exprs.len() {
            let operands = calculus::operands(&self.out.exprs[Handle::from_index(index)]);
            let size = operands.iter().fold(1_u32, |sum, operand| sum.saturating_add(self.sizes[operand.index()]));
            self.sizes.push(size);
        }
        self.sizes[value.index()]
    }

    /// The loops around here whose iteration the values depend on.
    fn loops_of(&self, values: &[ExprId]) -> Vec<LoopId> {
        let mut found = Vec::new();
        for &value in values {
            self.out.exprs.visit(value, |_, node| {
                if let &Expr::Var(var) = node {
                    match self.out.roles.get(var) {
                        Some(&(Role::Iteration(id) | Role::Geometric(id) | Role::Toggle(id))) => found.push(id),
                        Some(&Role::Opaque(id)) => found.extend(&self.out.opaques[id].loops),
                        None => {}
                    }
                }
            });
        }
        self.loops.iter().copied().filter(|id| found.contains(id)).collect()
    }

    /// The value of an expression of the kernel here.
    pub(super) fn evaluate(&mut self, root: ExprId) -> ExprId {
        let kernel = self.kernel;
        let mut order = Vec::new();
        kernel.exprs.visit(root, |id, _| order.push(id));
        let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in order {
            let node = &kernel.exprs[id];
            let ty = kernel.exprs.ty(id);
            let span = kernel.spans.get(id).copied();
            let value = match node {
                Expr::Var(var) => self.simplify(self.env[var.index()]),
                Expr::Call(name, args, ty) => {
                    let args = args.iter().map(|arg| done[arg]).collect();
                    self.function_value(name, args, *ty, span)
                }
                _ if calculus::operands(node).is_empty() => self.out.exprs.intern(node.clone(), ty),
                _ => rebuild(&mut self.out.exprs, node, |operand| done[&operand]),
            };
            let value = self.known_value(value);
            if let Some(span) = span
                && self.out.spans.get(value).is_none()
            {
                self.out.spans.insert(value, span);
            }
            done.insert(id, value);
        }
        self.cap(done[&root])
    }

    /// The value of a condition in any thread, wherever that is: nothing that is known here is used.
    pub(super) fn evaluate_anywhere(&mut self, cond: ExprId) -> ExprId {
        let (known, simplified) = (std::mem::take(&mut self.known), std::mem::take(&mut self.simplified));
        let value = self.evaluate(cond);
        (self.known, self.simplified) = (known, simplified);
        value
    }

    /// Assigns a variable that says whether a barrier is for this thread: false in those that do not get here.
    pub(super) fn assign_name(&mut self, var: VarId, value: ExprId) {
        let mut value = self.evaluate_anywhere(value);
        for at in (0..self.guards.len()).rev() {
            let cond = self.guards[at].cond;
            value = self.out.exprs.and(cond, value);
        }
        let value = self.cap(value);
        self.assign(var, value);
    }

    // ---- what is known ----

    /// The constant that a boolean expression is known to be here, or the expression.
    fn known_value(&mut self, value: ExprId) -> ExprId {
        match self.known.get(&value) {
            Some(&truth) => self.out.exprs.bool(truth),
            None => value,
        }
    }

    /// `root` with every boolean subexpression replaced whose value is known here.
    pub(super) fn simplify(&mut self, root: ExprId) -> ExprId {
        if self.known.is_empty() {
            return root;
        }
        if let Some(&done) = self.simplified.get(&root) {
            return done;
        }
        let mut order = Vec::new();
        self.out.exprs.visit_within(root, |id| !self.simplified.contains_key(&id), |id, _| order.push(id));
        for id in order {
            let node = self.out.exprs[id].clone();
            let value = match self.known.get(&id) {
                Some(&truth) => self.out.exprs.bool(truth),
                None if calculus::operands(&node).is_empty() => id,
                None => {
                    let simplified = &self.simplified;
                    let value = rebuild(&mut self.out.exprs, &node, |operand| simplified[&operand]);
                    self.known_value(value)
                }
            };
            self.simplified.insert(id, value);
        }
        self.simplified[&root]
    }

    /// Takes note that `fact` holds until the current context is left.
    pub(super) fn learn(&mut self, fact: ExprId) {
        let mut pending = vec![(fact, true)];
        while let Some((fact, truth)) = pending.pop() {
            match (self.out.exprs[fact].clone(), truth) {
                (Expr::Int(..), _) => {}
                (Expr::Unary(UnaryOp::Not, inner), _) => pending.push((inner, !truth)),
                (Expr::Binary(BinaryOp::And, a, b), true) | (Expr::Binary(BinaryOp::Or, a, b), false) => {
                    pending.extend([(b, truth), (a, truth)]);
                }
                _ => {
                    let opposite = self.out.exprs.not(fact);
                    self.note(fact, truth);
                    self.note(opposite, !truth);
                }
            }
        }
    }

    fn note(&mut self, fact: ExprId, truth: bool) {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(fact) {
            entry.insert(truth);
            self.trail.push(fact);
            self.simplified.clear();
        }
    }

    // ---- where we are ----

    /// Opens a context.
    pub(super) fn enter(&self) -> Context {
        Context { guards: self.guards.len(), trail: self.trail.len() }
    }

    /// Closes a context: its guards and what was learned in it are forgotten.
    pub(super) fn leave(&mut self, context: Context) {
        self.guards.truncate(context.guards);
        for fact in self.trail.drain(context.trail..) {
            self.known.remove(&fact);
        }
        self.simplified.clear();
    }

    /// The parts of a condition of the kernel that all hold where it has the given polarity.
    pub(super) fn conjuncts(&self, cond: ExprId, polarity: Polarity) -> Vec<(ExprId, Polarity)> {
        let mut parts = Vec::new();
        let mut pending = vec![(cond, polarity)];
        while let Some((cond, polarity)) = pending.pop() {
            match (&self.kernel.exprs[cond], polarity) {
                (&Expr::Unary(UnaryOp::Not, inner), _) => pending.push((inner, polarity.flip())),
                (&Expr::Binary(BinaryOp::And, a, b), Polarity::Holds)
                | (&Expr::Binary(BinaryOp::Or, a, b), Polarity::Fails) => {
                    pending.extend([(b, polarity), (a, polarity)]);
                }
                _ => parts.push((cond, polarity)),
            }
        }
        parts
    }

    /// The value of a condition of the kernel, or of its negation.
    pub(super) fn evaluate_as(&mut self, cond: ExprId, polarity: Polarity) -> ExprId {
        let value = self.evaluate(cond);
        if polarity == Polarity::Holds { value } else { self.out.exprs.not(value) }
    }

    /// Whether the condition is "this thread has not returned".
    pub(super) fn says_not_returned(&self, cond: ExprId, polarity: Polarity) -> bool {
        let &Expr::Var(var) = &self.kernel.exprs[cond] else { return false };
        polarity == Polarity::Fails && self.kernel.returned == Some(var)
    }

    /// Makes a condition of the kernel a guard of what follows in this context.
    pub(super) fn guard_by(&mut self, cond: ExprId, polarity: Polarity, of_loop: Option<LoopId>) {
        for (cond, polarity) in self.conjuncts(cond, polarity) {
            let value = self.evaluate_as(cond, polarity);
            let not_returned = self.says_not_returned(cond, polarity);
            self.push_guard(Guard { cond: value, not_returned, of_loop });
        }
    }

    /// Makes a guard, part by part, and learns it.
    pub(super) fn push_guard(&mut self, guard: Guard) {
        let mut pending = vec![guard.cond];
        while let Some(cond) = pending.pop() {
            match self.out.exprs[cond] {
                Expr::Binary(BinaryOp::And, a, b) => pending.extend([b, a]),
                Expr::Int(1, _) => {}
                _ => self.guards.push(Guard { cond, ..guard }),
            }
        }
        self.learn(guard.cond);
    }

    /// Joins the environment at the end of the arm where `test` held with the current one, where it did not.
    pub(super) fn join(&mut self, test: ExprId, held: &[ExprId]) {
        for (index, &value) in held.iter().enumerate() {
            let other = self.env[index];
            if value != other {
                let joined = self.out.exprs.select(test, value, other);
                self.env[index] = self.cap(joined);
            }
        }
    }
}

/// `node`, which has operands, with its operands replaced; interned in `into`.
pub(super) fn rebuild(into: &mut Exprs, node: &Expr, operand: impl Fn(ExprId) -> ExprId) -> ExprId {
    match node {
        Expr::Unary(op, a) => into.unary(*op, operand(*a)),
        Expr::Binary(op, a, b) => into.binary(*op, operand(*a), operand(*b)),
        Expr::Select(c, a, b) => into.select(operand(*c), operand(*a), operand(*b)),
        Expr::Convert(ty, a) => convert(into, *ty, operand(*a)),
        Expr::Call(name, args, ty) => into.call(name.clone(), args.iter().map(|&arg| operand(arg)).collect(), *ty),
        Expr::Int(value, ty) => into.int(*value, *ty),
        Expr::Opaque(text, ty) => into.opaque(text.clone(), *ty),
        Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => unreachable!("a leaf has no operands to replace"),
    }
}

/// The conversion of `value` to `ty`; there and back between integers of one width is the value itself.
pub(super) fn convert(exprs: &mut Exprs, ty: ScalarType, value: ExprId) -> ExprId {
    if let Expr::Convert(middle, inner) = exprs[value]
        && exprs.ty(inner) == ty
        && let (ScalarType::Int { width: there, .. }, ScalarType::Int { width: back, .. }) = (middle, ty)
        && there >= back
    {
        return inner;
    }
    exprs.convert(ty, value)
}
