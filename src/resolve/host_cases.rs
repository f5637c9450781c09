//! What a way through host code says of a variable: in `case 9:` of `switch (bits)` and behind `if (bits == 9)` it is 9,
//! and so is what was made of it before, `threads = 1 << (bits - 4)`.
//!
//! Guarantees: only the function's own variables count, whose changes are all seen, and of what was made of them only locals
//! that nothing changes, from values that nothing changes. Where the way ends, nothing that it said is left.
//!
//! Deliberately absent: `!=`, `<`, and labels that control falls into.

use super::context::Resolver;
use super::host::Walk;
use super::host_flow::leaves;
use super::host_parts::{ANYTHING, stmts_in, visit};
use super::program::{Expr, TypeId, VariableId};
use crate::syntax::{self, BinaryOp, ExprKind, StmtKind};

/// A local that nothing changes, made of values that nothing changes.
pub(super) struct Made {
    variable: VariableId,
    value: Expr,
    ty: TypeId,
}

/// What is taken to be known on a way, and has to be forgotten at its end.
#[derive(Default)]
pub(super) struct Taken {
    /// Variables and their values, of which nothing was known.
    constants: Vec<(VariableId, i128)>,
    /// Vectors and what was known of their lanes.
    lanes: Vec<(VariableId, Option<Vec<Option<i128>>>)>,
}

impl<'u> Resolver<'u> {
    /// Remembers what a local was made of, if that can be looked at again.
    pub(super) fn note_made(
        &self,
        variable: VariableId,
        (init, value, ty): (&'u [syntax::Expr], &Expr, TypeId),
        walk: &mut Walk<'u>,
    ) {
        let mut is_fixed = !walk.changed.may_change(&self.variables[variable].name);
        for part in init {
            visit(part, |part| {
                if let ExprKind::Path(path) = &part.kind {
                    is_fixed &= path.segments.last().is_some_and(|last| !walk.changed.may_change(&last.name.text));
                }
            });
        }
        if is_fixed {
            walk.made.push(Made { variable, value: value.clone(), ty });
        }
    }

    /// Takes for known what a condition says of variables, where it holds.
    pub(super) fn take_condition(&mut self, cond: &'u syntax::Expr, walk: &Walk<'u>) -> Taken {
        let mut taken = Taken::default();
        let mut open = vec![cond];
        while let Some(part) = open.pop() {
            match &part.kind {
                ExprKind::Binary(BinaryOp::And, one, other) => open.extend([&**one, &**other]),
                ExprKind::Binary(BinaryOp::Eq, one, other) => {
                    for (name, value) in [(one, other), (other, one)] {
                        let value = self.unevaluated(value);
                        if let Some(value) = self.constant(&value) {
                            self.take(name, value, walk, &mut taken);
                        }
                    }
                }
                _ => {}
            }
        }
        taken
    }

    /// Takes the variable `name` to be `value`, with what was made of it.
    fn take(&mut self, name: &'u syntax::Expr, value: i128, walk: &Walk<'u>, taken: &mut Taken) {
        let Some(variable) = self.host_name(name) else { return };
        let known = &self.variables[variable];
        let is_changed = walk.changed.may_change(&known.name);
        let fits = (0..=i128::from(i32::MAX)).contains(&value) && self.is_integral(known.ty);
        // Others may be changed by whatever is called on the way.
        let is_own = walk.own.contains(&variable) && !known.is_volatile;
        let is_followed = is_own && (walk.tracked.contains(&variable) || !is_changed);
        if !is_followed || !fits || known.constant.is_some() || walk.changed.contains(ANYTHING) {
            return;
        }
        self.variables[variable].constant = Some(value);
        taken.constants.push((variable, value));
        if is_changed {
            return;
        }
        for made in &walk.made {
            if self.is_integral(made.ty) {
                if self.variables[made.variable].constant.is_none()
                    && let Some(value) = self.constant(&made.value)
                {
                    self.variables[made.variable].constant = Some(value);
                    taken.constants.push((made.variable, value));
                }
            } else if let Some(lanes) = self.constant_lanes(&made.value) {
                taken.lanes.push((made.variable, self.vector_constants.insert(made.variable, lanes)));
            }
        }
    }

    /// Forgets what was taken for known.
    pub(super) fn forget_taken(&mut self, taken: Taken) {
        for (variable, value) in taken.constants {
            // What the way itself has given the variable stays.
            if self.variables[variable].constant == Some(value) {
                self.variables[variable].constant = None;
            }
        }
        for (variable, lanes) in taken.lanes.into_iter().rev() {
            match lanes {
                Some(lanes) => drop(self.vector_constants.insert(variable, lanes)),
                None => drop(self.vector_constants.remove(&variable)),
            }
        }
    }

    /// The cases of a `switch`, each from what was known before it.
    pub(super) fn host_cases(&mut self, value: &'u syntax::Expr, body: &'u syntax::Stmt, walk: &mut Walk<'u>) {
        let stmts = match &body.kind {
            StmtKind::Block(stmts) if !stmts.iter().any(has_label) => stmts,
            _ => {
                let changes = self.changes_in(walk, Some(body), Some(value));
                self.forget(&changes, walk);
                return self.in_block(|this| this.host_stmt(body, walk));
            }
        };
        let changes = self.changes_in(walk, Some(body), None);
        let head = self.snapshot(&changes, walk);
        let mut taken = Taken::default();
        self.in_block(|this| {
            let mut comes_from_above = false;
            for stmt in stmts {
                if let StmtKind::Case(label) = &stmt.kind {
                    this.forget_taken(std::mem::take(&mut taken));
                    if comes_from_above {
                        this.agree(head.clone(), walk);
                    } else {
                        this.restore(head.clone(), walk);
                        let label = label.as_ref().map(|label| this.unevaluated(label));
                        if let Some(label) = label.and_then(|label| this.constant(&label)) {
                            this.take(value, label, walk, &mut taken);
                        }
                    }
                } else {
                    this.host_stmt(stmt, walk);
                }
                comes_from_above = !leaves(stmt);
            }
        });
        self.forget_taken(taken);
        self.forget(&changes, walk);
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
