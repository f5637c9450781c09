//! A place in a function of the host: what its names mean there, and what its variables hold.
//!
//! Whoever walks through the function moves the place along, and says what it changes on the way; whoever wants to know
//! a size or an argument asks it here.
//!
//! Deliberately absent: the way itself ([`super::flow`]), and launches.

use super::api::{Prepared, simple_name};
use super::changes::Changes;
use super::effects::Effects;
use super::forms::Reader;
use super::found::Target;
use super::unit::Code;
use super::values::{Held, Values, held_from};
use crate::resolve::Declared;
use crate::resolve::program::{Type, VariableId};
use crate::syntax;

/// A place in a function of the host.
pub(super) struct Place<'w, 'u> {
    /// What names mean.
    pub(super) names: &'w mut Declared<'u>,
    /// What is known of the unit's host code as a whole.
    pub(super) code: &'w Code<'u>,
    /// Names that the function may change.
    pub(super) changed: Changes<'u>,
    /// What its variables hold.
    pub(super) values: Values,
    /// Arguments and configurations that are prepared for launches.
    pub(super) prepared: Prepared<'u>,
    /// The kernels that its pointers may point to.
    pub(super) pointers: Vec<(&'u str, Target<'u>)>,
    /// Whether the function is one of a class.
    pub(super) is_method: bool,
    /// How often the place is looked at, for other values of variables that loops count.
    pub(super) repeated: usize,
}

impl<'u> Place<'_, 'u> {
    /// The variable that a name means here.
    pub(super) fn variable_of(&mut self, value: &'u syntax::Expr) -> Option<VariableId> {
        self.names.variable_named(simple_name(value)?)
    }

    /// The kernels that a local or parameter of this name may point to.
    pub(super) fn targets_of(&self, path: &syntax::Path) -> Vec<Target<'u>> {
        match path.segments.as_slice() {
            [only] => {
                let of_name = self.pointers.iter().filter(|(name, _)| *name == only.name.text);
                of_name.map(|&(_, target)| target).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The variables that statements and expressions may change.
    pub(super) fn changes_in(
        &mut self,
        stmts: impl IntoIterator<Item = &'u syntax::Stmt>,
        exprs: impl IntoIterator<Item = &'u syntax::Expr>,
    ) -> Changes<'u> {
        let mut changes = self.changed.none_of();
        let mut effects = self.effects();
        stmts.into_iter().for_each(|stmt| effects.changed_in_stmt(stmt, &mut changes));
        exprs.into_iter().for_each(|value| effects.changed_in_expr(value, &mut changes));
        changes
    }

    /// What the initialiser of a variable may change.
    pub(super) fn changes_in_variable(&mut self, variable: &'u syntax::Variable) -> Changes<'u> {
        let mut changes = self.changed.none_of();
        self.effects().changed_in_variable(variable, &mut changes);
        changes
    }

    /// What values are here.
    pub(super) fn reader(&mut self) -> Reader<'_, 'u> {
        Reader { names: self.names, constraints: &mut self.values.constraints }
    }

    fn effects(&mut self) -> Effects<'_, 'u> {
        Effects { names: self.names, methods: &self.code.methods }
    }

    /// Makes unknown what `changes` names, for good if others got hold of it.
    pub(super) fn forget(&mut self, changes: &Changes<'u>) {
        self.values.forget(self.names, changes);
    }

    /// Gives a variable what it holds from here on.
    pub(super) fn set(&mut self, variable: VariableId, held: Held) {
        self.values.constraints.forget(|source| source.variable == variable);
        self.values.set(self.names, variable, held);
    }

    /// The value of a condition, if it is a constant: the other branch is never taken.
    pub(super) fn condition(&mut self, cond: &'u syntax::Expr) -> Option<i128> {
        let cond = self.names.value(cond);
        if self.names.is_integral(cond.ty) { self.names.constant(&cond) } else { None }
    }

    /// What a variable holds after an assignment.
    pub(super) fn assigned(&mut self, variable: VariableId, lane: Option<usize>, given: &'u syntax::Expr) -> Held {
        let ty = self.names.variable(variable).ty;
        match (self.names.ty(ty), lane) {
            (&Type::Vector { of, lanes }, Some(lane)) if lane < usize::from(lanes) => {
                let made = self.names.value_as(given, of);
                let made = held_from(self.names, &made, of);
                let mut held = self.values.held(self.names, variable);
                let constants = held.lanes.get_or_insert_with(|| vec![None; usize::from(lanes)]);
                constants[lane] = made.constant;
                held
            }
            (Type::Vector { .. }, None) => {
                let made = self.names.value_as(given, ty);
                held_from(self.names, &made, ty)
            }
            (_, None) if self.names.is_integral(ty) => {
                let made = self.names.value_as(given, ty);
                held_from(self.names, &made, ty)
            }
            _ => Held::default(),
        }
    }
}
