//! Small damage to a kernel of the calculus: one index changed. (Barriers are taken out by [`raceproof::calculus::barriers`].)
//!
//! Guarantees: what is changed is one thing; the result is well-formed; equal seeds give equal mutants.
//!
//! Deliberately absent: changes of guards and of what is stored, and whether a change matters.

use raceproof::calculus::validate::validate;
use raceproof::calculus::{
    Axis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, Kernel, ScalarType, SiteId, Space, Stmt, VarId, operands, text,
};
use raceproof::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A sequence of numbers that the seed fixes.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit.max(1) as u64) as usize
    }
}

pub(super) fn each_stmt<'k>(body: &'k [Stmt], visit: &mut impl FnMut(&'k Stmt)) {
    for stmt in body {
        visit(stmt);
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                each_stmt(then, visit);
                each_stmt(otherwise, visit);
            }
            Stmt::For(each) => each_stmt(&each.body, visit),
            Stmt::Loop { body, .. } => each_stmt(body, visit),
            _ => {}
        }
    }
}

/// What is done to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// It is one more or one less.
    OffByOne,
    /// A factor or a step is another.
    Stride,
    /// An id or a size is another one, or a constant.
    Swap,
}

impl Class {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::OffByOne => "off by one",
            Class::Stride => "stride",
            Class::Swap => "swapped ids",
        }
    }
}

/// A kernel with one index changed.
pub(crate) struct IndexMutant {
    pub(crate) kernel: Kernel,
    pub(crate) class: Class,
    /// The expression before and after.
    pub(crate) change: String,
    /// Where the expression stands, as far as that is known.
    pub(crate) span: Option<Span>,
}

#[derive(Clone, Copy)]
enum Change {
    Plus(i128),
    /// The product, or the whole expression, twice.
    Double(ExprId),
    /// One time its left factor less.
    OneLess(ExprId),
    Exchange(GeometryVar, GeometryVar),
    Fix(GeometryVar, i128),
}

impl Change {
    fn class(self) -> Class {
        match self {
            Change::Plus(_) => Class::OffByOne,
            Change::Double(_) | Change::OneLess(_) => Class::Stride,
            Change::Exchange(..) | Change::Fix(..) => Class::Swap,
        }
    }
}

/// Where an index is computed.
#[derive(Clone, Copy)]
struct Slot {
    root: ExprId,
    /// What one more means there.
    unit: i128,
    /// Whether it is the step of a loop.
    is_step: bool,
    site: Option<SiteId>,
}

/// One mutant of a kernel, chosen by the dice; `None` if the kernel has no index to change.
pub(crate) fn index_mutant(kernel: &Kernel, dice: &mut Dice) -> Option<IndexMutant> {
    let slots = slots(kernel);
    let mut choices: BTreeMap<Class, Vec<(usize, Change)>> = BTreeMap::new();
    for (number, slot) in slots.iter().enumerate() {
        for change in changes(kernel, slot) {
            choices.entry(change.class()).or_default().push((number, change));
        }
    }
    // Some change nothing (`1 * x` for `x * 1`), so that several are tried.
    for _ in 0..20 {
        let class = *choices.keys().nth(dice.below(choices.len()))?;
        let (number, change) = choices[&class][dice.below(choices[&class].len())];
        let mut mutant = kernel.clone();
        let before = slots[number].root;
        let after = changed(&mut mutant.exprs, before, change);
        if after == before {
            continue;
        }
        put(&mut mutant, number, after);
        let violations = validate(&mutant);
        assert!(violations.is_empty(), "{}: {violations:?}", kernel.name);
        let change = format!("{} -> {}", text::print_expr(kernel, before), text::print_expr(&mutant, after));
        let site_span = slots[number].site.and_then(|site| kernel.sites[site].span);
        let span = site_span.or_else(|| kernel.spans.get(before).copied());
        return Some(IndexMutant { kernel: mutant, class, change, span });
    }
    None
}

/// What can be done to an expression.
fn changes(kernel: &Kernel, slot: &Slot) -> Vec<Change> {
    let exprs = &kernel.exprs;
    let mut found = vec![Change::Plus(slot.unit), Change::Plus(-slot.unit)];
    if slot.is_step {
        found = vec![Change::Double(slot.root)];
    }
    exprs.visit(slot.root, |id, node| match node {
        Expr::Binary(BinaryOp::Mul, _, _) => found.extend([Change::Double(id), Change::OneLess(id)]),
        Expr::Binary(BinaryOp::Shl, _, _) => found.push(Change::Double(id)),
        Expr::Geometry(var) => found.extend(exchanges(*var)),
        _ => {}
    });
    found
}

fn exchanges(var: GeometryVar) -> Vec<Change> {
    use GeometryVar::{BlockDim, BlockIdx, GridDim, ThreadIdx};
    let next = |axis| if axis == Axis::X { Axis::Y } else { Axis::X };
    match var {
        ThreadIdx(axis) => {
            vec![Change::Exchange(var, ThreadIdx(next(axis))), Change::Exchange(var, BlockIdx(axis))]
        }
        BlockIdx(axis) => vec![Change::Exchange(var, BlockIdx(next(axis))), Change::Exchange(var, ThreadIdx(axis))],
        BlockDim(axis) => vec![
            Change::Fix(var, 16),
            Change::Fix(var, 256),
            Change::Exchange(var, BlockDim(next(axis))),
            Change::Exchange(var, GridDim(axis)),
        ],
        GridDim(axis) => vec![Change::Fix(var, 1), Change::Exchange(var, BlockDim(axis))],
    }
}

fn changed(exprs: &mut Exprs, root: ExprId, change: Change) -> ExprId {
    match change {
        Change::Plus(by) => {
            let by = exprs.int(by, exprs.ty(root));
            exprs.binary(BinaryOp::Add, root, by)
        }
        Change::Double(product) => {
            let two = exprs.int(2, exprs.ty(product));
            let doubled = exprs.binary(BinaryOp::Mul, product, two);
            replaced(exprs, root, product, doubled)
        }
        Change::OneLess(product) => {
            let Expr::Binary(_, left, _) = exprs[product] else { return root };
            let less = exprs.binary(BinaryOp::Sub, product, left);
            replaced(exprs, root, product, less)
        }
        Change::Exchange(from, to) => {
            let (from, to) = (exprs.geometry(from), exprs.geometry(to));
            replaced(exprs, root, from, to)
        }
        Change::Fix(from, value) => {
            let (from, value) = (exprs.geometry(from), exprs.int(value, ScalarType::U32));
            replaced(exprs, root, from, value)
        }
    }
}

/// `root`, with `to` wherever it holds `from`.
fn replaced(exprs: &mut Exprs, root: ExprId, from: ExprId, to: ExprId) -> ExprId {
    let mut order = Vec::new();
    exprs.visit(root, |id, _| order.push(id));
    let mut done: BTreeMap<ExprId, ExprId> = BTreeMap::new();
    for id in order {
        let node = exprs[id].clone();
        let is_same = id != from && operands(&node).iter().all(|operand| done[operand] == *operand);
        let copy = match node {
            _ if id == from => to,
            _ if is_same => id,
            Expr::Unary(op, a) => exprs.unary(op, done[&a]),
            Expr::Binary(op, a, b) => exprs.binary(op, done[&a], done[&b]),
            Expr::Select(c, a, b) => exprs.select(done[&c], done[&a], done[&b]),
            Expr::Convert(ty, a) => exprs.convert(ty, done[&a]),
            Expr::Call(name, args, ty) => exprs.call(name, args.iter().map(|arg| done[arg]).collect(), ty),
            Expr::Int(..) | Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => id,
        };
        done.insert(id, copy);
    }
    done[&root]
}

/// The expressions that offsets are made of, in program order.
fn slots(kernel: &Kernel) -> Vec<Slot> {
    let (mut body, mut found) = (kernel.body.clone(), Vec::new());
    each_slot(kernel, &index_variables(kernel), &mut body, &mut |slot, _| found.push(slot));
    found
}

/// Puts an expression where the slot of this number has its own.
fn put(kernel: &mut Kernel, number: usize, expr: ExprId) {
    let mut body = std::mem::take(&mut kernel.body);
    let (variables, mut next) = (index_variables(&Kernel { body: body.clone(), ..kernel.clone() }), 0);
    each_slot(kernel, &variables, &mut body, &mut |_, place| {
        if next == number {
            *place = expr;
        }
        next += 1;
    });
    kernel.body = body;
}

fn each_slot(
    kernel: &Kernel,
    variables: &BTreeSet<VarId>,
    body: &mut [Stmt],
    visit: &mut impl FnMut(Slot, &mut ExprId),
) {
    let is_integer = |expr: ExprId| matches!(kernel.exprs.ty(expr), ScalarType::Int { .. });
    for stmt in body {
        match stmt {
            Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                let array = &kernel.arrays[access.array];
                if matches!(array.space, Space::Global | Space::Shared) {
                    let (root, unit) = (access.offset, i128::from(array.element_bytes));
                    visit(Slot { root, unit, is_step: false, site: Some(access.site) }, &mut access.offset);
                }
            }
            Stmt::Let { var, value } if variables.contains(var) && is_integer(*value) => {
                visit(Slot { root: *value, unit: 1, is_step: false, site: None }, value);
            }
            Stmt::If { then, otherwise, .. } => {
                each_slot(kernel, variables, then, visit);
                each_slot(kernel, variables, otherwise, visit);
            }
            Stmt::For(each) => {
                if variables.contains(&each.var) {
                    let site = Some(each.site);
                    visit(Slot { root: each.start, unit: 1, is_step: false, site }, &mut each.start);
                    visit(Slot { root: each.step.by, unit: 1, is_step: true, site }, &mut each.step.by);
                }
                each_slot(kernel, variables, &mut each.body, visit);
            }
            Stmt::Loop { body, .. } => each_slot(kernel, variables, body, visit),
            _ => {}
        }
    }
}

/// Variables that offsets are computed from, directly or through others.
fn index_variables(kernel: &Kernel) -> BTreeSet<VarId> {
    let mut roots: Vec<ExprId> = Vec::new();
    let mut assigned: Vec<(VarId, ExprId)> = Vec::new();
    each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
            if matches!(kernel.arrays[access.array].space, Space::Global | Space::Shared) {
                roots.push(access.offset);
            }
        }
        Stmt::Let { var, value } => assigned.push((*var, *value)),
        Stmt::For(each) => assigned.extend([(each.var, each.start), (each.var, each.step.by)]),
        _ => {}
    });
    let mut found = BTreeSet::new();
    while let Some(root) = roots.pop() {
        kernel.exprs.visit(root, |_, node| {
            if let Expr::Var(var) = node
                && found.insert(*var)
            {
                roots.extend(assigned.iter().filter(|(to, _)| to == var).map(|(_, value)| *value));
            }
        });
    }
    found
}
