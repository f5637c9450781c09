//! What a way through host code says of a variable: in `case 9:` of `switch (bits)` and behind `if (bits == 9)` it is
//! 9, and so is what was made of it before, `threads = 1 << (bits - 4)`.
//!
//! Guarantees: only the function's own variables count, whose changes are all seen, and of what was made of them only
//! locals that nothing changes, from values that nothing changes. Where the way ends, nothing that it said is left.
//!
//! What else conditions say of variables is told apart from that ([`super::conditions`]).
//!
//! Deliberately absent: labels that control falls into.

use super::changes::ANYTHING;
use super::place::Place;
use super::values::Made;
use crate::builtins::host;
use crate::resolve::Lanes;
use crate::resolve::program::{Expr, TypeId, VariableId};
use crate::syntax::parts::{path_text, stmts_in, visit};
use crate::syntax::{self, BinaryOp, ExprKind, StmtKind};

/// What is taken to be known on a way, and has to be forgotten at its end.
#[derive(Default)]
pub(super) struct Taken {
    /// Variables and their values, of which nothing was known.
    constants: Vec<(VariableId, i128)>,
    /// Vectors and what was known of their lanes.
    lanes: Vec<(VariableId, Option<Lanes>)>,
}

impl<'u> Place<'_, 'u> {
    /// Remembers what a local was made of, if that can be looked at again.
    pub(super) fn note_made(&mut self, variable: VariableId, (init, value, ty): (&'u [syntax::Expr], &Expr, TypeId)) {
        let mut is_fixed = !self.changed.may_change(&self.names.variable(variable).name);
        for part in init {
            visit(part, |part| {
                if let ExprKind::Path(path) = &part.kind {
                    is_fixed &= path.segments.last().is_some_and(|last| !self.changed.may_change(&last.name.text));
                }
            });
        }
        if is_fixed {
            self.values.made.push(Made { variable, value: value.clone(), ty });
        }
    }

    /// Takes for known what a condition says of variables, where it holds.
    pub(super) fn take_condition(&mut self, cond: &'u syntax::Expr) -> Taken {
        let mut taken = Taken::default();
        let mut open = vec![cond];
        while let Some(part) = open.pop() {
            match &part.kind {
                ExprKind::Binary(BinaryOp::And, one, other) => open.extend([&**one, &**other]),
                ExprKind::Binary(BinaryOp::Eq, one, other) => {
                    for (name, value) in [(one, other), (other, one)] {
                        let value = self.names.value(value);
                        if let Some(value) = self.names.constant(&value) {
                            self.take_to_be(name, value, &mut taken);
                        }
                    }
                }
                _ => {}
            }
        }
        taken
    }

    /// Takes the variable `name` to be `value`, with what was made of it.
    pub(super) fn take_to_be(&mut self, name: &'u syntax::Expr, value: i128, taken: &mut Taken) {
        let Some(variable) = self.variable_of(name) else { return };
        let known = self.names.variable(variable);
        let is_changed = self.changed.may_change(&known.name);
        let fits = (0..=i128::from(i32::MAX)).contains(&value) && self.names.is_integral(known.ty);
        // Others may be changed by whatever is called on the way.
        let is_own = self.values.own.contains(&variable) && !known.is_volatile;
        let is_followed = is_own && (self.values.tracked.contains(&variable) || !is_changed);
        if !is_followed || !fits || known.constant.is_some() || self.changed.has(ANYTHING) {
            return;
        }
        self.names.set_constant(variable, Some(value));
        taken.constants.push((variable, value));
        if is_changed {
            return;
        }
        for made in &self.values.made {
            if self.names.is_integral(made.ty) {
                if self.names.variable(made.variable).constant.is_none()
                    && let Some(value) = self.names.constant(&made.value)
                {
                    self.names.set_constant(made.variable, Some(value));
                    taken.constants.push((made.variable, value));
                }
            } else if let Some(lanes) = self.names.constant_lanes(&made.value) {
                taken.lanes.push((made.variable, self.names.set_lanes(made.variable, Some(lanes))));
            }
        }
    }

    /// Forgets what was taken for known.
    pub(super) fn forget_taken(&mut self, taken: Taken) {
        for (variable, value) in taken.constants {
            // What the way itself has given the variable stays.
            if self.names.variable(variable).constant == Some(value) {
                self.names.set_constant(variable, None);
            }
        }
        for (variable, lanes) in taken.lanes.into_iter().rev() {
            self.names.set_lanes(variable, lanes);
        }
    }
}

/// Whether a label of the `switch` around it stands inside of a statement of its body.
pub(super) fn has_label(stmt: &syntax::Stmt) -> bool {
    let mut open: Vec<&syntax::Stmt> = match &stmt.kind {
        StmtKind::Switch { .. } => Vec::new(),
        _ => stmts_in(stmt),
    };
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Case(_) => return true,
            StmtKind::Switch { .. } => {}
            _ => open.extend(stmts_in(stmt)),
        }
    }
    false
}

/// Whether a `break` or `continue` stands in a body, perhaps one of a loop inside of it.
pub(super) fn has_exit(body: &syntax::Stmt) -> bool {
    let mut open = vec![body];
    while let Some(stmt) = open.pop() {
        if matches!(stmt.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Case(_)) {
            return true;
        }
        open.extend(stmts_in(stmt));
    }
    false
}

/// Whether control does not come to what stands behind a statement.
pub(super) fn leaves(stmt: &syntax::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(_) => stmts_in(stmt).last().is_some_and(|last| leaves(last)),
        StmtKind::Expr(value) => never_comes_back(value),
        StmtKind::Unsupported(reason) => reason.contains("throw"),
        _ => false,
    }
}

/// Whether an expression is a call that ends the program: `exit(1)`.
pub(super) fn never_comes_back(value: &syntax::Expr) -> bool {
    match &value.kind {
        ExprKind::Call(callee, _) => match &callee.kind {
            ExprKind::Path(path) => host::never_comes_back(&path_text(path)),
            _ => false,
        },
        ExprKind::Comma(_, last) | ExprKind::Cast(_, _, last) => never_comes_back(last),
        _ => false,
    }
}
