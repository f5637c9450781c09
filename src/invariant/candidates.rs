//! Candidates for the loops of a kernel.
//!
//! - **Range**: a lost variable against 0 and 1, its value before the loop, constants that it is set to, and values
//!   that the loop compares it with.
//! - **Stride**: what moves a tested variable on is what it was before the loop, in every turn: the last one may have made it
//!   smaller.
//! - **Remainder**: modulo the greatest common divisor of the constants that are added to it.
//! - **Power of two**: where it is only doubled and halved.
//! - **Pair**: the sum, the difference and the linear relation of two variables stay; they differ; one is at most
//!   the other, or less.
//! - **Scales**: of two variables of which one is multiplied and the other divided by a power of two, the product does
//!   not shrink, as far as quotients are whole; the other is not zero in any turn, or can be divided once more; and the
//!   loop ends where its test fails.
//! - **The user's**: claims and candidates at the start of a body.
//!
//! Which of these hold is not known here. Variables that reads, atomics or unknown calls set get none, nor do those
//! that no access, barrier or claim depends on.

use super::{Plan, relevant};
use crate::calculus::{Basis, BinaryOp, Expr, ExprId, Exprs, Kernel, ScalarType, SiteId, Stmt, Test, VarId, Variable};
use crate::protocol::{Origin, Protocol};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Candidates of one loop, and of a kernel.
const MOST_OF_LOOP: usize = 60;
const MOST_OF_KERNEL: usize = 160;
/// Variables of a loop that are looked at in pairs.
const MOST_IN_PAIRS: usize = 5;
/// Constants and bounds of a variable that are looked at.
const MOST_BOUNDS: usize = 6;
/// Statements nested deeper than this are not looked at.
const MAX_NESTING: usize = 64;

/// A loop as it is looked at.
struct Found<'k> {
    site: SiteId,
    /// The outermost loop around it, or itself.
    nest: SiteId,
    body: &'k [Stmt],
    /// Its own variable and its step, if it is counted.
    counted: Option<(VarId, ExprId)>,
    /// How it scales its own variable, if it is counted and does.
    scales: Option<(VarId, Scale)>,
    tests: Vec<ExprId>,
    goes_on: GoesOn,
}

/// What lets a turn begin.
#[derive(Clone, Copy)]
enum GoesOn {
    /// A variable, compared with a value.
    Compared(BinaryOp, VarId, ExprId),
    /// A condition.
    Holds(ExprId),
    /// The first turn begins in any case.
    Anyway,
}

impl GoesOn {
    /// The condition of a turn, if there is one.
    fn test(self, kernel: &mut Kernel) -> Option<ExprId> {
        match self {
            GoesOn::Compared(op, var, bound) => {
                let value = kernel.exprs.var(var, kernel.vars[var].ty);
                Some(kernel.exprs.binary(op, value, bound))
            }
            GoesOn::Holds(test) => Some(test),
            GoesOn::Anyway => None,
        }
    }
}

/// A variable is multiplied, or divided, by a power of two in every turn.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Scale {
    grows: bool,
    factor: i128,
}

impl Scale {
    /// `by` times, divided by it, or shifted by it.
    fn of(op: BinaryOp, by: i128) -> Option<Scale> {
        let (grows, factor) = match op {
            BinaryOp::Mul => (true, by),
            BinaryOp::Div => (false, by),
            BinaryOp::Shl | BinaryOp::Shr if (1..16).contains(&by) => (op == BinaryOp::Shl, 1 << by),
            _ => return None,
        };
        (factor > 1 && factor & (factor - 1) == 0).then_some(Scale { grows, factor })
    }
}

/// Plans for the loops of `kernel` that change variables in ways without a closed form, or that carry claims. Copies
/// of variables are added to the kernel.
pub(super) fn plans(kernel: &mut Kernel, protocol: &Protocol) -> Vec<Plan> {
    let relevant: FxHashSet<VarId> = relevant::variables(kernel).into_iter().collect();
    let lost = lost(protocol, kernel, &relevant);
    let body = std::mem::take(&mut kernel.body);
    let mut loops = Vec::new();
    find_loops(&kernel.exprs, &body, (None, 0), &mut loops);
    let mut plans = Vec::new();
    let mut total = 0;
    for found in &loops {
        let plan = plan(kernel, found, &lost, &relevant);
        total += plan.candidates.len();
        if total <= MOST_OF_KERNEL && !plan.candidates.is_empty() {
            plans.push(plan);
        }
    }
    kernel.body = body;
    plans
}

/// The names of variables that matter and have no closed form in or after a loop, with the loop.
fn lost(protocol: &Protocol, kernel: &Kernel, relevant: &FxHashSet<VarId>) -> FxHashSet<(SiteId, String)> {
    let relevant: FxHashSet<&str> = relevant.iter().map(|&var| kernel.vars[var].name.as_str()).collect();
    let origins = protocol.opaques.iter().filter_map(|(_, opaque)| match &opaque.origin {
        Origin::Loop { site, name, .. } if relevant.contains(name.as_str()) => Some((*site, name.clone())),
        _ => None,
    });
    origins.collect()
}

fn find_loops<'k>(exprs: &Exprs, body: &'k [Stmt], (nest, depth): (Option<SiteId>, usize), found: &mut Vec<Found<'k>>) {
    if depth > MAX_NESTING {
        return;
    }
    for stmt in body {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                find_loops(exprs, then, (nest, depth + 1), found);
                find_loops(exprs, otherwise, (nest, depth + 1), found);
            }
            Stmt::For(each) => {
                let (site, nest) = (each.site, nest.unwrap_or(each.site));
                let counted = Some((each.var, each.step.by));
                let by = exprs.as_int(each.step.by);
                let scales = by.and_then(|by| Scale::of(each.step.op, by)).map(|scale| (each.var, scale));
                let goes_on = GoesOn::Compared(each.cmp, each.var, each.bound);
                found.push(Found { site, nest, body: &each.body, counted, scales, tests: Vec::new(), goes_on });
                find_loops(exprs, &each.body, (Some(nest), depth + 1), found);
            }
            Stmt::Loop { test, body, site } => {
                let (site, nest) = (*site, nest.unwrap_or(*site));
                let goes_on = match test {
                    Test::Before(test) => GoesOn::Holds(*test),
                    Test::After(_) => GoesOn::Anyway,
                };
                let (Test::Before(test) | Test::After(test)) = test;
                found.push(Found { site, nest, body, counted: None, scales: None, tests: vec![*test], goes_on });
                find_loops(exprs, body, (Some(nest), depth + 1), found);
            }
            _ => {}
        }
    }
}

/// What a loop does to its variables.
#[derive(Default)]
struct Effects {
    /// Variables and what they are set to, in program order.
    lets: Vec<(VarId, ExprId)>,
    /// Variables that take what nobody knows.
    unknown: FxHashSet<VarId>,
    /// Expressions that the loop evaluates.
    roots: Vec<ExprId>,
}

impl Effects {
    fn of(found: &Found<'_>) -> Effects {
        let mut effects = Effects { roots: found.tests.clone(), ..Effects::default() };
        effects.block(found.body, 0);
        effects
    }

    fn block(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body.iter().filter(|_| depth <= MAX_NESTING) {
            match stmt {
                Stmt::Let { var, value } => {
                    self.lets.push((*var, *value));
                    self.roots.push(*value);
                }
                Stmt::Read { var, .. } | Stmt::Havoc { var, .. } | Stmt::Atomic { var: Some(var), .. } => {
                    self.unknown.insert(*var);
                }
                Stmt::If { cond, then, otherwise } => {
                    self.roots.push(*cond);
                    self.block(then, depth + 1);
                    self.block(otherwise, depth + 1);
                }
                Stmt::For(each) => {
                    self.unknown.insert(each.var);
                    self.block(&each.body, depth + 1);
                }
                Stmt::Loop { test: Test::Before(test) | Test::After(test), body, .. } => {
                    self.roots.push(*test);
                    self.block(body, depth + 1);
                }
                _ => {}
            }
        }
    }

    /// Variables that are set once in a turn, and scaled there. (Where they are set under a condition, no candidate is
    /// shown.)
    fn scaled<'e>(&'e self, exprs: &'e Exprs, found: &'e Found<'_>) -> impl Iterator<Item = (VarId, Scale)> + 'e {
        let own = found.scales.filter(|(var, _)| !self.lets.iter().any(|(set, _)| set == var));
        let moved = self.lets.iter().filter_map(|&(var, value)| {
            let once = self.lets.iter().filter(|(set, _)| *set == var).count() == 1 && !self.unknown.contains(&var);
            let Expr::Binary(op, a, by) = exprs[value] else { return None };
            let scale = Scale::of(op, exprs.as_int(by)?)?;
            (once && exprs[a] == Expr::Var(var)).then_some((var, scale))
        });
        own.into_iter().chain(moved)
    }

    fn sets(&self, var: VarId) -> bool {
        self.unknown.contains(&var) || self.lets.iter().any(|(set, _)| *set == var)
    }
}

fn plan(
    kernel: &mut Kernel,
    found: &Found<'_>,
    lost: &FxHashSet<(SiteId, String)>,
    relevant: &FxHashSet<VarId>,
) -> Plan {
    let (candidates, copies) = (Vec::new(), Vec::new());
    let mut plan = Plan { site: found.site, nest: found.nest, candidates, copies, of_turns: Vec::new(), test: None };
    add_scales(kernel, found, relevant, &mut plan);
    if lost.iter().any(|(site, _)| *site == found.site) {
        add_families(kernel, found, lost, &mut plan);
    }
    // After the ranges, which say what remainders of values that may be negative mean.
    for cond in of_the_user(kernel, found.body) {
        if !plan.candidates.contains(&cond) {
            plan.candidates.push(cond);
        }
    }
    plan
}

fn add_families(kernel: &mut Kernel, found: &Found<'_>, lost: &FxHashSet<(SiteId, String)>, plan: &mut Plan) {
    let effects = Effects::of(found);
    let is_lost = |kernel: &Kernel, var: VarId| lost.contains(&(found.site, kernel.vars[var].name.clone()));
    let mut moved: Vec<VarId> = Vec::new();
    for &(var, _) in &effects.lets {
        let plain = matches!(kernel.vars[var].ty, ScalarType::Int { .. }) && !effects.unknown.contains(&var);
        if plain && !moved.contains(&var) {
            moved.push(var);
        }
    }
    let mut all: Vec<VarId> = found.counted.iter().map(|(var, _)| *var).chain(moved.iter().copied()).collect();
    // What decides whether the loop goes on is more likely to say something of others than what a turn puts aside.
    let is_tested = |var: VarId| found.tests.iter().any(|&test| kernel.exprs.mentions(test, var));
    all.sort_by_key(|&var| !is_tested(var));
    let singles: Vec<VarId> = moved.into_iter().filter(|&var| is_lost(kernel, var)).collect();
    let moves_on = |kernel: &Kernel, var: VarId| {
        effects.lets.iter().any(|&(set, to)| set != var && is_tested(set) && kernel.exprs.mentions(to, var))
    };
    let strides: Vec<VarId> = singles.iter().copied().filter(|&var| moves_on(kernel, var)).collect();
    if !strides.is_empty() && plan.test.is_none() {
        plan.test = found.goes_on.test(kernel);
    }
    let mut maker = Maker { kernel, effects: &effects, plan };
    for var in strides {
        maker.stride(var);
    }
    for &var in &singles {
        maker.single(var);
    }
    for &one in singles.iter().take(MOST_IN_PAIRS) {
        for &other in all.iter().take(MOST_IN_PAIRS).filter(|&&other| other != one) {
            let again = singles.contains(&other) && other.index() < one.index();
            if !again {
                maker.pair(one, other, found.counted);
            }
        }
    }
    plan.candidates.truncate(MOST_OF_LOOP);
}

/// Of a variable that grows and one that shrinks by one factor: what is known of their product.
fn add_scales(kernel: &mut Kernel, found: &Found<'_>, relevant: &FxHashSet<VarId>, plan: &mut Plan) {
    let effects = Effects::of(found);
    let scaled: Vec<(VarId, Scale)> = effects.scaled(&kernel.exprs, found).collect();
    let scaled: Vec<(VarId, Scale)> = scaled
        .into_iter()
        .filter(|(var, _)| relevant.contains(var) && matches!(kernel.vars[*var].ty, ScalarType::Int { width: 32, .. }))
        .take(MOST_IN_PAIRS)
        .collect();
    let is_pair = |one: &Scale, other: &Scale| one.grows != other.grows && one.factor == other.factor;
    if !scaled.iter().any(|(_, one)| scaled.iter().any(|(_, other)| is_pair(one, other))) {
        return;
    }
    plan.test = found.goes_on.test(kernel);
    let mut maker = Maker { kernel, effects: &effects, plan };
    for &(large, grows) in scaled.iter().filter(|(_, scale)| scale.grows) {
        for &(small, _) in scaled.iter().filter(|(_, scale)| !scale.grows && scale.factor == grows.factor) {
            maker.scales(large, small, grows.factor);
        }
    }
}

/// What stands at the start of a body: claims, and candidates that the user names, part by part.
fn of_the_user(kernel: &Kernel, body: &[Stmt]) -> Vec<ExprId> {
    let mut conditions = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Assert { cond, .. } | Stmt::Assume { cond, basis: Basis::Candidate, .. } => {
                let mut pending = vec![*cond];
                while let Some(cond) = pending.pop() {
                    match kernel.exprs[cond] {
                        // What is about two threads is not shown by induction over the turns of one.
                        _ if kernel.exprs.relates_threads(cond) => {}
                        Expr::Binary(BinaryOp::And, a, b) => pending.extend([b, a]),
                        _ => conditions.push(cond),
                    }
                }
            }
            // A flag that is cleared for `continue`.
            Stmt::Let { .. } => {}
            _ => break,
        }
    }
    conditions
}

struct Maker<'m> {
    kernel: &'m mut Kernel,
    effects: &'m Effects,
    plan: &'m mut Plan,
}

impl Maker<'_> {
    fn add(&mut self, cond: ExprId) {
        let trivial = self.kernel.exprs.as_int(cond).is_some();
        if !trivial && !self.plan.candidates.contains(&cond) {
            self.plan.candidates.push(cond);
        }
    }

    fn compare(&mut self, op: BinaryOp, a: ExprId, b: ExprId) {
        if self.kernel.exprs.ty(a) == self.kernel.exprs.ty(b) {
            let cond = self.kernel.exprs.binary(op, a, b);
            self.add(cond);
        }
    }

    fn value(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.kernel.exprs.var(var, ty)
    }

    /// What the variable holds before the loop.
    fn start(&mut self, var: VarId) -> ExprId {
        let known = self.plan.copies.iter().find(|(_, original)| *original == var).map(|(copy, _)| *copy);
        let copy = known.unwrap_or_else(|| {
            let Variable { name, ty } = self.kernel.vars[var].clone();
            let copy = self.kernel.vars.push(Variable { name: format!("{name}.before"), ty });
            self.plan.copies.push((copy, var));
            copy
        });
        self.value(copy)
    }

    fn single(&mut self, var: VarId) {
        let ty = self.kernel.vars[var].ty;
        let (value, start) = (self.value(var), self.start(var));
        let (zero, one) = (self.kernel.exprs.int(0, ty), self.kernel.exprs.int(1, ty));
        for (op, bound) in [(BinaryOp::Ge, zero), (BinaryOp::Ge, start), (BinaryOp::Le, start), (BinaryOp::Ge, one)] {
            self.compare(op, value, bound);
        }
        for bound in self.bounds(var, value) {
            for op in [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Ge, BinaryOp::Gt] {
                self.compare(op, value, bound);
            }
        }
        self.compare(BinaryOp::Le, value, one);
        self.remainder(var, value, start);
        self.power(var, value, one);
    }

    /// What the loop moves on by stays what it was, as long as there is another turn.
    fn stride(&mut self, var: VarId) {
        if self.plan.test.is_none() {
            return;
        }
        let (value, start) = (self.value(var), self.start(var));
        let cond = self.kernel.exprs.binary(BinaryOp::Eq, value, start);
        self.add(cond);
        self.plan.of_turns.push(cond);
    }

    /// Constants that the variable is set to, and values that do not change in the loop and that it is compared with.
    fn bounds(&mut self, var: VarId, value: ExprId) -> Vec<ExprId> {
        let mut bounds = BTreeSet::new();
        for &(set, to) in &self.effects.lets {
            if set == var && self.kernel.exprs.as_int(to).is_some() {
                bounds.insert(to);
            }
        }
        let mut compared = Vec::new();
        for &root in &self.effects.roots {
            self.kernel.exprs.visit(root, |_, node| match *node {
                Expr::Binary(op, a, b) if op.is_boolean() && a == value => compared.push(b),
                Expr::Binary(op, a, b) if op.is_boolean() && b == value => compared.push(a),
                _ => {}
            });
        }
        // What is compared after the step: `x + 1 == n`.
        for &root in &self.effects.roots {
            self.kernel.exprs.visit(root, |_, node| {
                if let Expr::Binary(op, a, b) = *node
                    && op.is_boolean()
                    && matches!(self.kernel.exprs[a], Expr::Binary(BinaryOp::Add | BinaryOp::Sub, x, _) if x == value)
                {
                    compared.push(b);
                }
            });
        }
        bounds.extend(compared.into_iter().filter(|&bound| self.stays(bound)));
        bounds.into_iter().take(MOST_BOUNDS).collect()
    }

    /// Whether nothing that the loop sets occurs in an expression.
    fn stays(&self, root: ExprId) -> bool {
        let mut stays = true;
        self.kernel.exprs.visit(root, |_, node| {
            stays &= !matches!(node, Expr::Var(var) if self.effects.sets(*var));
        });
        stays
    }

    /// The constants that are added to the variable; `None` if it is set in another way too.
    fn steps(&self, var: VarId) -> Option<Vec<i128>> {
        let exprs = &self.kernel.exprs;
        let step = |value: ExprId| match exprs[value] {
            Expr::Binary(BinaryOp::Add, a, b) if exprs[a] == Expr::Var(var) => exprs.as_int(b),
            Expr::Binary(BinaryOp::Add, a, b) if exprs[b] == Expr::Var(var) => exprs.as_int(a),
            Expr::Binary(BinaryOp::Sub, a, b) if exprs[a] == Expr::Var(var) => exprs.as_int(b).map(|by| -by),
            _ => None,
        };
        self.effects.lets.iter().filter(|(set, _)| *set == var).map(|(_, value)| step(*value)).collect()
    }

    fn remainder(&mut self, var: VarId, value: ExprId, start: ExprId) {
        let Some(steps) = self.steps(var) else { return };
        let modulus = steps.iter().fold(0, |sum, &step| gcd(sum, step.abs()));
        if !(2..=1 << 20).contains(&modulus) {
            return;
        }
        let ty = self.kernel.vars[var].ty;
        let modulus = self.kernel.exprs.int(modulus, ty);
        let left = self.kernel.exprs.binary(BinaryOp::Rem, value, modulus);
        let right = self.kernel.exprs.binary(BinaryOp::Rem, start, modulus);
        let zero = self.kernel.exprs.int(0, ty);
        self.compare(BinaryOp::Eq, left, right);
        self.compare(BinaryOp::Eq, left, zero);
    }

    fn power(&mut self, var: VarId, value: ExprId, one: ExprId) {
        use BinaryOp::{Div, Mul, Shl, Shr};
        let exprs = &self.kernel.exprs;
        let scales = |to: ExprId| match exprs[to] {
            Expr::Binary(Mul | Div | Shl | Shr, a, _) => exprs[a] == Expr::Var(var),
            Expr::Int(value, _) => value & (value - 1) == 0,
            _ => false,
        };
        if self.effects.lets.iter().filter(|(set, _)| *set == var).all(|(_, to)| scales(*to)) {
            let ty = self.kernel.vars[var].ty;
            let less = self.kernel.exprs.binary(BinaryOp::Sub, value, one);
            let common = self.kernel.exprs.binary(BinaryOp::BitAnd, value, less);
            let zero = self.kernel.exprs.int(0, ty);
            self.compare(BinaryOp::Eq, common, zero);
        }
    }

    /// `large` is multiplied by what divides `small`. Rounded down, `large * (small + 1)` does not shrink; nor does the
    /// product itself where nothing is lost in rounding, as of powers of two.
    fn scales(&mut self, large: VarId, small: VarId, factor: i128) {
        let wide = ScalarType::Int { width: 64, signed: true };
        for (var, least) in [(small, 0), (large, 1)] {
            let (ty, value) = (self.kernel.vars[var].ty, self.value(var));
            let (one, least) = (self.kernel.exprs.int(1, ty), self.kernel.exprs.int(least, ty));
            self.compare(BinaryOp::Ge, value, least);
            self.power(var, value, one);
        }
        let now = [self.value(large), self.value(small)];
        let before = [self.start(large), self.start(small)];
        let [now, before] = [now, before].map(|values| values.map(|value| self.kernel.exprs.convert(wide, value)));
        for more in [1, 0] {
            let more = self.kernel.exprs.int(more, wide);
            let mut product = |[large, small]: [ExprId; 2]| {
                let small = self.kernel.exprs.binary(BinaryOp::Add, small, more);
                self.kernel.exprs.binary(BinaryOp::Mul, large, small)
            };
            let (now, before) = (product(now), product(before));
            self.compare(BinaryOp::Ge, now, before);
        }
        if self.plan.test.is_some() {
            let (ty, value) = (self.kernel.vars[small].ty, self.value(small));
            for least in [1, factor] {
                let least = self.kernel.exprs.int(least, ty);
                let cond = self.kernel.exprs.binary(BinaryOp::Ge, value, least);
                self.add(cond);
                self.plan.of_turns.push(cond);
            }
        }
    }

    fn pair(&mut self, one: VarId, other: VarId, counted: Option<(VarId, ExprId)>) {
        let ty = self.kernel.vars[one].ty;
        if self.kernel.vars[other].ty != ty {
            return;
        }
        let (a, b) = (self.value(one), self.value(other));
        let (a0, b0) = (self.start(one), self.start(other));
        for op in [BinaryOp::Add, BinaryOp::Sub] {
            let (now, before) = (self.kernel.exprs.binary(op, a, b), self.kernel.exprs.binary(op, a0, b0));
            self.compare(BinaryOp::Eq, now, before);
        }
        self.compare(BinaryOp::Ne, a, b);
        for op in [BinaryOp::Le, BinaryOp::Ge, BinaryOp::Lt, BinaryOp::Gt] {
            self.compare(op, a, b);
        }
        if let (Some(x), Some(y)) = (self.only_step(one, counted), self.only_step(other, counted))
            && (x.abs() > 1 || y.abs() > 1)
        {
            let (x, y) = (self.kernel.exprs.int(x, ty), self.kernel.exprs.int(y, ty));
            let mut relation = |a: ExprId, b: ExprId| {
                let (left, right) =
                    (self.kernel.exprs.binary(BinaryOp::Mul, a, y), self.kernel.exprs.binary(BinaryOp::Mul, b, x));
                self.kernel.exprs.binary(BinaryOp::Sub, left, right)
            };
            let (now, before) = (relation(a, b), relation(a0, b0));
            self.compare(BinaryOp::Eq, now, before);
        }
    }

    /// The only constant that is ever added to a variable.
    fn only_step(&self, var: VarId, counted: Option<(VarId, ExprId)>) -> Option<i128> {
        if let Some((_, by)) = counted.filter(|(own, _)| *own == var) {
            return self.kernel.exprs.as_int(by);
        }
        let steps = self.steps(var)?;
        steps.iter().all(|step| *step == steps[0]).then(|| steps.first().copied())?
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Drops constant bounds that others imply: `x >= 0` beside `x >= 4`.
pub(super) fn drop_implied(kernel: &Kernel, plans: &mut [Plan]) {
    let exprs = &kernel.exprs;
    let bound = |cond: ExprId| match exprs[cond] {
        Expr::Binary(op @ (BinaryOp::Ge | BinaryOp::Gt), a, b) => {
            Some((a, true, exprs.as_int(b)? + i128::from(op == BinaryOp::Gt)))
        }
        Expr::Binary(op @ (BinaryOp::Le | BinaryOp::Lt), a, b) => {
            Some((a, false, -exprs.as_int(b)? + i128::from(op == BinaryOp::Lt)))
        }
        _ => None,
    };
    for plan in plans {
        let of_turns = &plan.of_turns;
        let anywhere = |cond: ExprId| (!of_turns.contains(&cond)).then_some(cond);
        let bounds: Vec<_> = plan.candidates.iter().map(|&cond| anywhere(cond).and_then(bound)).collect();
        let implied = |index: usize| {
            let Some((value, lower, limit)) = bounds[index] else { return false };
            bounds.iter().enumerate().any(|(other, entry)| {
                let alike = entry.filter(|(a, l, _)| other != index && *a == value && *l == lower);
                alike.is_some_and(|(_, _, b)| b > limit || (b == limit && other < index))
            })
        };
        let keep: Vec<bool> = (0..bounds.len()).map(|index| !implied(index)).collect();
        let mut keep = keep.into_iter();
        plan.candidates.retain(|_| keep.next().unwrap_or(true));
    }
}
