//! What loops of host code say of the variables that they count: `for (int threads = 64; threads <= 512; threads *=
//! 2)`.
//!
//! While the body of a `for` runs, a variable that only its step changes lies between the loop's bounds. Where sizes of
//! launches depend on it and it takes few values, all of them constants, the body is looked at once for each.

use super::changes::{ANYTHING, root_name};
use super::place::Place;
use super::sums::{Sum, Symbol};
use super::values::{Counted, Source, load_source};
use crate::resolve::program::VariableId;
use crate::syntax::parts::{exprs_of_stmt, init_parts, stmts_in, visit};
use crate::syntax::{self, Item, ItemKind, PostfixOp, StmtKind, UnaryOp};
use rustc_hash::FxHashSet;

/// Times that a body is looked at, those by loops around it included.
const VALUES: usize = 16;

impl<'u> Place<'_, 'u> {
    /// What a `for` says of the variable that it counts.
    pub(super) fn counted(&mut self, stmt: &'u syntax::Stmt) -> Option<(VariableId, Counted)> {
        let StmtKind::For { init, cond: Some(cond), step: Some(step), body } = &stmt.kind else { return None };
        let syntax::ExprKind::Binary(op, left, right) = &cond.kind else { return None };
        let (name, direction) = (name_of(left)?, direction(step, left)?);
        let changed = self.changes_in(Some(&**body), None);
        // What others have got hold of before the loop, they may change in it.
        let is_of_the_loop = matches!(init.as_deref().map(|init| &init.kind), Some(StmtKind::Item(_)));
        let is_exposed = !is_of_the_loop && self.changed.is_exposed(name);
        if changed.has(name) || changed.has(ANYTHING) || is_exposed {
            return None;
        }
        let start = init.as_deref().and_then(|init| self.first_value(init, name));
        let counter = self.names.value(left);
        let Source { variable, part: None } = load_source(&counter)? else { return None };
        if self.values.leaked.contains(&variable) {
            return None;
        }
        let bound = self.names.value(right);
        let limit = self.names.constant(&bound);
        use syntax::BinaryOp::{Ge, Gt, Le, Lt, Ne};
        // Factors move a variable one way only while it is positive.
        let is_sound = match direction {
            Direction { by_factor: true, is_up: true, .. } => *op != Ne && start.is_some_and(|start| start > 0),
            Direction { by_factor: true, is_up: false, .. } => *op != Ne && limit.is_some_and(|limit| limit >= 0),
            Direction { by_factor: false, .. } => true,
        };
        if !is_sound {
            return None;
        }
        let found = match (op, direction.is_up) {
            (Lt | Ne, true) => Counted { least: start, greatest: limit.map(|limit| limit - 1) },
            (Le, true) => Counted { least: start, greatest: limit },
            (Gt | Ne, false) => Counted { least: limit.map(|limit| limit + 1), greatest: start },
            (Ge, false) => Counted { least: limit, greatest: start },
            _ => return None,
        };
        // `i != n` says nothing of an `i` that starts beyond `n`.
        if *op == Ne && (start.is_none() || limit.is_none() || found.least > found.greatest) {
            return None;
        }
        Some((variable, found))
    }

    /// The variable that the step of a `for` moves, what it holds before the loop, and how it moves, if nothing else changes
    /// it.
    pub(super) fn stepped(&mut self, stmt: &'u syntax::Stmt) -> Option<Stepped> {
        let StmtKind::For { cond, step: Some(step), body, .. } = &stmt.kind else { return None };
        let target = target_of(step)?;
        let (name, direction) = (name_of(target)?, direction(step, target)?);
        if self.changes_in(Some(&**body), cond).may_change(name) {
            return None;
        }
        let variable = self.variable_of(target)?;
        let ty = self.names.variable(variable).ty;
        let ty = self.reader().int_type(ty)?;
        let is_below = cond.as_ref().is_some_and(|cond| match &cond.kind {
            syntax::ExprKind::Binary(syntax::BinaryOp::Lt, left, _) => name_of(left) == Some(name),
            _ => false,
        });
        if !self.values.constraints.follows(variable) {
            return None;
        }
        let before = self.names.value(target);
        let start = self.reader().pinned(&before).into_iter().next().flatten()?;
        Some(Stepped { variable, start, direction, goes_around: !ty.signed || ty.width < 32, is_below })
    }

    /// What a loop's step says of its variable wherever an iteration starts.
    ///
    /// - What grows is no less than it was at first, what shrinks no more, as long as it does not go around: numbers with a
    ///   sign do not, and those without one do not where they are divided, or counted up by one to a bound.
    /// - A power of two that is multiplied or divided by one stays one, or becomes zero.
    pub(super) fn assume_stepped(&mut self, stepped: &Stepped) {
        let Stepped { variable, start, direction: Direction { is_up, by_factor, by }, goes_around, is_below } =
            *stepped;
        let now = Symbol::Variable(Source { variable, part: None });
        let constraints = &mut self.values.constraints;
        let (start, value) = (Sum::symbol(start), Sum::symbol(now));
        let is_one_way = match (is_up, by_factor) {
            (true, true) => !goes_around && constraints.implies(&start),
            (false, true) => constraints.implies(&start),
            (true, false) => !goes_around || by == 1 && is_below,
            (false, false) => !goes_around,
        };
        let moved = if is_up { value.minus(&start) } else { start.minus(&value) };
        moved.filter(|_| is_one_way).into_iter().for_each(|moved| constraints.add(moved));
        if is_one_way && !is_up && by_factor {
            constraints.add(value);
        }
        if by_factor && by.is_power_of_two() && constraints.is_power(&start) {
            constraints.add_power(now);
        }
    }

    /// The constant that the first part of a `for` gives its variable.
    fn first_value(&mut self, init: &'u syntax::Stmt, name: &str) -> Option<i128> {
        let value = match &init.kind {
            StmtKind::Item(syntax::Item { kind: syntax::ItemKind::Variables(variables), .. }) => {
                let variable = variables.iter().find(|variable| variable.name.text == name)?;
                match variable.init.as_ref()? {
                    syntax::Init::Value(value) => value,
                    _ => return None,
                }
            }
            StmtKind::Expr(syntax::Expr { kind: syntax::ExprKind::Assign(None, target, value), .. })
                if name_of(target) == Some(name) =>
            {
                value
            }
            _ => return None,
        };
        let value = self.names.value(value);
        self.names.constant(&value)
    }

    /// The values of the variable that a `for` counts, if they are few and sizes of launches in its body depend on it.
    pub(super) fn counted_values(&mut self, stmt: &'u syntax::Stmt) -> Option<(VariableId, Vec<i128>)> {
        let StmtKind::For { cond: Some(cond), step: Some(step), body, .. } = &stmt.kind else { return None };
        let syntax::ExprKind::Binary(_, left, _) = &cond.kind else { return None };
        let name = name_of(left)?;
        if !sizes_depend_on(body, name) {
            return None;
        }
        let (variable, Counted { least: Some(least), greatest: Some(greatest) }) = self.counted(stmt)? else {
            return None;
        };
        // What is not followed would keep its last value for good.
        if !self.values.tracked.contains(&variable) {
            return None;
        }
        let direction = direction(step, left)?;
        let mut value = if direction.is_up { least } else { greatest };
        let mut values = Vec::new();
        while (least..=greatest).contains(&value) {
            values.push(value);
            if values.len() * self.repeated > VALUES {
                return None;
            }
            value = direction.stepped(value)?;
        }
        (!values.is_empty()).then_some((variable, values))
    }
}

/// Whether sizes of launches in a statement depend on a variable, perhaps through others that it gives values.
fn sizes_depend_on(stmt: &syntax::Stmt, name: &str) -> bool {
    let mut sizes: FxHashSet<&str> = FxHashSet::default();
    let mut given: Vec<(&str, &syntax::Expr)> = Vec::new();
    for value in exprs_of_stmt(stmt) {
        visit(value, |part| match &part.kind {
            syntax::ExprKind::Launch { config, .. } => config.iter().for_each(|size| add_names(size, &mut sizes)),
            syntax::ExprKind::Assign(_, target, value) => given.extend(root_name(target).map(|name| (name, &**value))),
            _ => {}
        });
    }
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                given.extend(init_parts(variable.init.as_ref()).iter().map(|value| (&*variable.name.text, value)));
            }
        }
        open.extend(stmts_in(stmt));
    }
    loop {
        let before = sizes.len();
        for (target, value) in &given {
            if sizes.contains(target) {
                add_names(value, &mut sizes);
            }
        }
        if sizes.len() == before {
            return sizes.contains(name);
        }
    }
}

fn add_names<'u>(value: &'u syntax::Expr, names: &mut FxHashSet<&'u str>) {
    visit(value, |part| {
        names.extend(name_of(part));
    });
}

fn name_of(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        syntax::ExprKind::Path(path) if path.segments.len() == 1 => Some(&path.segments[0].name.text),
        _ => None,
    }
}

/// A variable that the step of a loop moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    variable: VariableId,
    /// What it holds before the loop.
    start: Symbol,
    direction: Direction,
    /// Whether its type has no sign.
    goes_around: bool,
    /// Whether an iteration starts only while it is less than something.
    is_below: bool,
}

/// How a step moves a variable.
#[derive(Clone, Copy, Debug)]
struct Direction {
    is_up: bool,
    by_factor: bool,
    by: u64,
}

impl Direction {
    /// The value after one step.
    fn stepped(self, value: i128) -> Option<i128> {
        let by = i128::from(self.by);
        match (self.by_factor, self.is_up) {
            (false, true) => value.checked_add(by),
            (false, false) => value.checked_sub(by),
            (true, true) => value.checked_mul(by),
            (true, false) => Some(value / by),
        }
    }
}

/// How a step moves a variable by a constant.
fn direction(step: &syntax::Expr, variable: &syntax::Expr) -> Option<Direction> {
    use syntax::BinaryOp as Op;
    use syntax::ExprKind as Kind;
    let (target, op, by) = match &step.kind {
        Kind::Postfix(op, target) => (target, if *op == PostfixOp::Increment { Op::Add } else { Op::Sub }, 1),
        Kind::Unary(UnaryOp::PreIncrement, target) => (target, Op::Add, 1),
        Kind::Unary(UnaryOp::PreDecrement, target) => (target, Op::Sub, 1),
        Kind::Assign(Some(op), target, by) => (target, *op, literal(by)?),
        // `n = n * 2`
        Kind::Assign(None, target, value) => match &value.kind {
            Kind::Binary(op, left, by) if name_of(left) == name_of(target) => (target, *op, literal(by)?),
            _ => return None,
        },
        _ => return None,
    };
    let (is_up, by_factor, by) = match (op, by) {
        (Op::Add | Op::Sub, 1..) => (op == Op::Add, false, by),
        (Op::Mul | Op::Div, 2..=65_536) => (op == Op::Mul, true, by),
        (Op::Shl | Op::Shr, 1..=16) => (op == Op::Shl, true, 1 << by),
        _ => return None,
    };
    let is_same = name_of(target).is_some() && name_of(target) == name_of(variable);
    is_same.then_some(Direction { is_up, by_factor, by })
}

/// What a step changes.
fn target_of(step: &syntax::Expr) -> Option<&syntax::Expr> {
    use syntax::ExprKind as Kind;
    match &step.kind {
        Kind::Postfix(_, target)
        | Kind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, target)
        | Kind::Assign(_, target, _) => Some(target),
        _ => None,
    }
}

fn literal(value: &syntax::Expr) -> Option<u64> {
    match value.kind {
        syntax::ExprKind::Int { value, .. } => Some(value),
        _ => None,
    }
}
