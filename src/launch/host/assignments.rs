//! Assignments of host code: what they give to the variables that are followed.
//!
//! An assignment of its own (`n = 4`, `block.x = 32`, `a = b = 1`, `n *= 2`, `n++`) gives its variable a value; whatever else
//! may change a variable makes it unknown.
//!
//! Deliberately absent: the constants that `n *= 2` and `n++` give, for `n` may be looked at again in a loop.

use super::api::addressed;
use super::changes::root_name;
use super::place::Place;
use super::sums::{Sum, Symbol};
use super::values::{Source, source_of};
use crate::builtins::host;
use crate::resolve::program::{self as resolved, BinaryOp, Expr, Type, VariableId};
use crate::syntax::parts::path_text;
use crate::syntax::{self, ExprKind, UnaryOp};

impl<'u> Place<'_, 'u> {
    /// Follows what an expression does to variables.
    pub(super) fn follow(&mut self, value: &'u syntax::Expr) {
        let changes = self.changes_in(None, Some(value));
        let rows = self.allocated_rows(value);
        let given_here = self.given(value);
        let (mut targets, mut given) = (Vec::new(), value);
        while let ExprKind::Assign(None, target, right) = &given.kind {
            targets.push(&**target);
            given = right;
        }
        let is_plain = !targets.is_empty() && self.changes_in(None, Some(given)).is_empty();
        let (mut held, mut types) = (Vec::new(), Vec::new());
        if is_plain {
            for target in targets {
                self.attach(target, given);
                // The other parts of a structure keep what they hold.
                let whole = root_name(target).and_then(|name| self.names.variable_named(name));
                let parts = whole.map(|whole| self.prepared.parts(whole)).unwrap_or_default();
                held.extend(parts.into_iter().map(|part| (part, self.values.held(self.names, part))));
                if let Some((variable, lane)) = self.followed_target(target) {
                    held.push((variable, self.assigned(variable, lane, given)));
                    types.push(self.names.variable(variable).ty);
                }
            }
            // `a = b = 300` gives `a` what is left of it in `b`.
            if types.windows(2).any(|pair| pair[0] != pair[1]) {
                held.clear();
            }
        }
        match given_here {
            Some((target, pinned)) => {
                self.values.forget_but(self.names, &changes, Some(target));
                self.reader().give_all(target, pinned);
            }
            None => self.forget(&changes),
        }
        self.values.restore(self.names, held);
        self.assume_rows(rows);
    }

    /// The variable, or the part of one, that an expression changes and nothing else, and what it gives it, as it is before.
    fn given(&mut self, value: &'u syntax::Expr) -> Option<(Source, Vec<Option<Symbol>>)> {
        use syntax::ExprKind as Kind;
        let (target, right) = match &value.kind {
            Kind::Assign(_, target, right) => (target, Some(right)),
            Kind::Postfix(_, target) | Kind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, target) => {
                (target, None)
            }
            _ => return None,
        };
        let is_plain = matches!(&target.kind, Kind::Path(_))
            || matches!(&target.kind, Kind::Member { object, arrow: false, .. } if matches!(object.kind, Kind::Path(_)));
        let changes_more = right.is_some_and(|right| !self.changes_in(None, Some(&**right)).is_empty());
        if !is_plain || changes_more {
            return None;
        }
        if let Some(part) = self.config_part(target) {
            let ty = self.names.variable(part).ty;
            let value = self.names.value_as(right.filter(|_| matches!(value.kind, Kind::Assign(None, ..)))?, ty);
            return Some((Source { variable: part, part: None }, self.reader().pinned(&value)));
        }
        let assigned = self.names.value(value);
        let (object, value) = assigned_value(assigned)?;
        let source = source_of(&object).filter(|source| self.values.constraints.follows(source.variable))?;
        let is_union = match *self.names.ty(self.names.variable(source.variable).ty) {
            Type::Record(record) => self.names.class(record).is_union,
            _ => false,
        };
        (!is_union).then(|| (source, self.reader().pinned(&value)))
    }

    /// The variable that stands for a field of a configuration.
    fn config_part(&mut self, target: &'u syntax::Expr) -> Option<VariableId> {
        let ExprKind::Member { object, member, arrow: false, .. } = &target.kind else { return None };
        let config = self.variable_of(object)?;
        self.prepared.field(config, &member.name.text)
    }

    /// The distances of rows that an expression is given whatever happens, by the allocation of these, and what they are no
    /// less than: of `cudaMallocPitch(&p, &pitch, width, height)` that `pitch` is at least `width`, if it allocates anything.
    pub(super) fn allocated_rows(&mut self, value: &'u syntax::Expr) -> Vec<(&'u syntax::Expr, Symbol)> {
        let mut found = Vec::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match &value.kind {
                ExprKind::Call(callee, args) => {
                    let is_it = matches!(&callee.kind, ExprKind::Path(path) if host::allocates_rows(&path_text(path)));
                    if let ([_, pitch, width, ..], true) = (args.as_slice(), is_it)
                        && let Some(pitch) = addressed(pitch)
                    {
                        let width = self.names.value(width);
                        let width = self.names.converted(width, self.names.common().ulong);
                        found.extend(
                            self.reader().pinned(&width).into_iter().next().flatten().map(|width| (pitch, width)),
                        );
                    }
                    open.extend(args);
                }
                // What stands there is evaluated with the whole.
                ExprKind::Assign(_, _, inner) | ExprKind::Cast(_, _, inner) | ExprKind::Unary(_, inner) => {
                    open.push(inner)
                }
                ExprKind::Binary(op, one, other) if !matches!(op, syntax::BinaryOp::And | syntax::BinaryOp::Or) => {
                    open.extend([&**one, &**other]);
                }
                _ => {}
            }
        }
        found
    }

    /// Takes note of the distances of rows.
    pub(super) fn assume_rows(&mut self, rows: Vec<(&'u syntax::Expr, Symbol)>) {
        for (pitch, least) in rows {
            if let Some(variable) = self.variable_of(pitch)
                && self.values.constraints.follows(variable)
            {
                let pitch = Sum::symbol(Symbol::Variable(Source { variable, part: None }));
                let more = pitch.minus(&Sum::symbol(least));
                more.into_iter().for_each(|sum| self.values.constraints.add(sum));
            }
            self.values.constraints.project(least);
        }
    }

    /// The variable that an assignment changes, and the lane if it is one: `n`, `size.x`, `config.gridDim`.
    fn followed_target(&mut self, target: &'u syntax::Expr) -> Option<(VariableId, Option<usize>)> {
        if let Some(whole) = self.followed_object(target) {
            return Some((whole, None));
        }
        let ExprKind::Member { object, member, arrow: false, .. } = &target.kind else { return None };
        let lane = ["x", "y", "z"].iter().position(|lane| *lane == member.name.text)?;
        Some((self.followed_object(object)?, Some(lane)))
    }

    /// A variable that is followed, or a field of a configuration.
    fn followed_object(&mut self, value: &'u syntax::Expr) -> Option<VariableId> {
        let found = match &value.kind {
            ExprKind::Member { object, member, arrow: false, .. } => match self.variable_of(object) {
                Some(config) => self.prepared.field(config, &member.name.text)?,
                None => self.cluster_object(value)?,
            },
            _ => self.variable_of(value)?,
        };
        self.values.tracked.contains(&found).then_some(found)
    }
}

/// The object that an assignment changes, and the value that it gives it.
fn assigned_value(assigned: Expr) -> Option<(Expr, Expr)> {
    use resolved::ExprKind as Kind;
    let Expr { kind, ty, span } = assigned;
    let load = |target: &Expr| Expr { kind: Kind::Load(Box::new(target.clone())), ty: target.ty, span };
    let as_type = |value: Expr, ty| Expr { kind: Kind::Convert(Box::new(value)), ty, span };
    let computed = |op, left: Expr, right: Expr, compute, ty| {
        let value = Kind::Binary(op, Box::new(as_type(left, compute)), Box::new(right));
        as_type(Expr { kind: value, ty: compute, span }, ty)
    };
    match kind {
        Kind::Load(inner) | Kind::Convert(inner) => assigned_value(*inner),
        Kind::Assign(target, value) => Some((*target, *value)),
        Kind::CompoundAssign { target, op, value, compute } => {
            let made = computed(op, load(&target), *value, compute, target.ty);
            Some((*target, made))
        }
        Kind::Step { target, up, .. } => {
            let one = Expr { kind: Kind::Int(1), ty: target.ty, span };
            let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
            let made = computed(op, load(&target), one, target.ty, ty);
            Some((*target, made))
        }
        _ => None,
    }
}
