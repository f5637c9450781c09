//! Assignments of host code: what they give to the variables that are followed.
//!
//! An assignment of its own (`n = 4`, `block.x = 32`, `a = b = 1`) gives its variable a value; whatever else may change
//! a variable makes it unknown.
//!
//! Deliberately absent: `n *= 2`.

use super::changes::root_name;
use super::place::Place;
use crate::resolve::program::VariableId;
use crate::syntax::{self, ExprKind};

impl<'u> Place<'_, 'u> {
    /// Follows what an expression does to variables.
    pub(super) fn follow(&mut self, value: &'u syntax::Expr) {
        if self.values.tracked.is_empty() {
            return;
        }
        let changes = self.changes_in(None, Some(value));
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
                    held.push((variable, self.assigned(variable, lane, given, value.span)));
                    types.push(self.names.variable(variable).ty);
                }
            }
            // `a = b = 300` gives `a` what is left of it in `b`.
            if types.windows(2).any(|pair| pair[0] != pair[1]) {
                held.clear();
            }
        }
        self.forget(&changes);
        self.values.restore(self.names, held);
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
