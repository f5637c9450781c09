//! What the variables of host code hold at each place: `threads = dim3(64); k<<<n / 64, threads>>>(…)`.
//!
//! Host code is walked in source order. An assignment of its own (`n = 4`, `block.x = 32`, `a = b = 1`) gives its
//! variable a value; whatever else may change a variable makes it unknown. What a loop changes is unknown where an
//! iteration starts and after the loop, what a branch changes is known after it if both ways agree, and what a `switch`
//! changes is unknown after it (for its labels see [`super::host_cases`]). What others may change from a place on, as they got
//! its address or a reference to it, is unknown from there on, and stays so; variables that may change at places that
//! cannot be told (in a lambda, in a macro) are never known.
//!
//! Deliberately absent: the iterations of loops one by one, and `n *= 2`.

use super::context::Resolver;
use super::host::Walk;
use super::host_parts::{Changes, root_name, stmts_in};
use super::host_relations::Quotient;
use super::program::{Expr, Type, TypeId, VariableId};
use crate::source::Span;
use crate::syntax::{self, StmtKind};

/// What a variable holds, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// The constant of an integer.
    pub(super) constant: Option<i128>,
    /// The constants of a vector's lanes.
    pub(super) lanes: Option<Vec<Option<i128>>>,
    /// The variables that it comes from, by lane.
    pub(super) sources: Vec<Vec<Quotient>>,
}

impl Held {
    /// What is left where some lanes may hold anything.
    fn without(mut self, changed: [bool; 3]) -> Held {
        for (lane, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            self.lanes.iter_mut().filter_map(|lanes| lanes.get_mut(lane)).for_each(|lane| *lane = None);
            self.sources.iter_mut().skip(lane).take(1).for_each(Vec::clear);
        }
        self
    }

    /// What two ways to a place have in common, lane by lane.
    fn agreed(self, other: Held) -> Held {
        let lanes = self.lanes.zip(other.lanes).filter(|(one, other)| one.len() == other.len());
        let same = |(one, other): (Option<i128>, Option<i128>)| one.filter(|_| one == other);
        let both = |(one, other): (Vec<Quotient>, Vec<Quotient>)| if one == other { one } else { Vec::new() };
        Held {
            constant: same((self.constant, other.constant)),
            lanes: lanes.map(|(one, other)| one.into_iter().zip(other).map(same).collect()),
            sources: self.sources.into_iter().zip(other.sources).map(both).collect(),
        }
    }
}

/// What the variables hold that a statement may change.
pub(super) type Snapshot = Vec<(VariableId, Held)>;

impl<'u> Resolver<'u> {
    /// What a variable of a type holds that is given a value at a place.
    pub(super) fn held_from(&mut self, value: &Expr, ty: TypeId, place: Span) -> Held {
        let is_integral = self.is_integral(ty);
        Held {
            constant: if is_integral { self.constant(value) } else { None },
            lanes: if is_integral { None } else { self.constant_lanes(value) },
            sources: self.sources_at(value, place),
        }
    }

    /// What `dim3 size;` holds: ones.
    pub(super) fn held_at_first(&self, ty: TypeId) -> Held {
        match self.is_dim3(ty) {
            true => Held { lanes: Some(vec![Some(1); 3]), ..Held::default() },
            false => Held::default(),
        }
    }

    /// Gives a variable what it holds from here on; what was given its value before no longer comes from it.
    pub(super) fn set_held(&mut self, variable: VariableId, held: Held) {
        for sources in self.host_values.values_mut().flatten() {
            sources.retain(|quotient| quotient.source.variable != variable);
        }
        self.variables[variable].constant = held.constant;
        match held.lanes {
            Some(lanes) => drop(self.vector_constants.insert(variable, lanes)),
            None => drop(self.vector_constants.remove(&variable)),
        }
        let mut sources = held.sources;
        for lane in &mut sources {
            lane.retain(|quotient| quotient.source.variable != variable);
        }
        if sources.iter().all(Vec::is_empty) {
            self.host_values.remove(&variable);
        } else {
            self.host_values.insert(variable, sources);
        }
    }

    pub(super) fn held(&self, variable: VariableId) -> Held {
        Held {
            constant: self.variables[variable].constant,
            lanes: self.vector_constants.get(&variable).cloned(),
            sources: self.host_values.get(&variable).cloned().unwrap_or_default(),
        }
    }

    /// What the variables hold now that `changes` names.
    pub(super) fn snapshot(&self, changes: &Changes<'u>, walk: &Walk<'u>) -> Snapshot {
        let is_changed = |variable: &&VariableId| changes.may_change(whole_of(&self.variables[**variable].name));
        walk.tracked.iter().filter(is_changed).map(|&variable| (variable, self.held(variable))).collect()
    }

    pub(super) fn restore(&mut self, snapshot: Snapshot, walk: &Walk<'u>) {
        for (variable, held) in snapshot {
            if !walk.leaked.contains(&variable) {
                self.set_held(variable, held);
            }
        }
    }

    /// Keeps of what variables hold now what they held in another snapshot of the same variables, too.
    pub(super) fn agree(&mut self, other: Snapshot, walk: &Walk<'u>) {
        for (variable, held) in other {
            let now = self.held(variable);
            if walk.leaked.contains(&variable) {
                self.set_held(variable, Held::default());
            } else if now != held {
                self.set_held(variable, now.agreed(held));
            }
        }
    }

    /// Makes unknown what `changes` names, for good if others got hold of it.
    pub(super) fn forget(&mut self, changes: &Changes<'u>, walk: &mut Walk<'u>) {
        for (variable, held) in self.snapshot(changes, walk) {
            let lanes = changes.lanes_of(&self.variables[variable].name);
            self.set_held(variable, lanes.map(|lanes| held.without(lanes)).unwrap_or_default());
        }
        let is_leaked = |variable: &VariableId| changes.leaks(whole_of(&self.variables[*variable].name));
        let leaked: Vec<VariableId> = walk.tracked.iter().copied().filter(is_leaked).collect();
        walk.tracked.retain(|variable| !leaked.contains(variable));
        walk.leaked.extend(leaked);
    }

    /// Makes everything unknown that the function changes anywhere.
    pub(super) fn forget_all(&mut self, walk: &Walk<'u>) {
        for &variable in &walk.tracked {
            self.set_held(variable, Held::default());
        }
    }

    /// The variables that statements and expressions may change.
    pub(super) fn changes_in(
        &mut self,
        walk: &Walk<'u>,
        stmts: impl IntoIterator<Item = &'u syntax::Stmt>,
        exprs: impl IntoIterator<Item = &'u syntax::Expr>,
    ) -> Changes<'u> {
        let mut changes = walk.changed.none_of();
        stmts.into_iter().for_each(|stmt| self.changed_in_stmt(stmt, &mut changes));
        exprs.into_iter().for_each(|value| self.changed_in_expr(value, &mut changes));
        changes
    }

    /// Follows what an expression does to variables.
    pub(super) fn host_effects(&mut self, value: &'u syntax::Expr, walk: &mut Walk<'u>) {
        if walk.tracked.is_empty() {
            return;
        }
        let changes = self.changes_in(walk, None, Some(value));
        let (mut targets, mut given) = (Vec::new(), value);
        while let syntax::ExprKind::Assign(None, target, right) = &given.kind {
            targets.push(&**target);
            given = right;
        }
        let is_plain = !targets.is_empty() && self.changes_in(walk, None, Some(given)).is_empty();
        let (mut held, mut types) = (Vec::new(), Vec::new());
        if is_plain {
            for target in targets {
                self.attach(target, given, walk);
                // The other parts of a structure keep what they hold.
                let whole = root_name(target).and_then(|name| self.host_variable_named(name));
                let parts = whole.map(|whole| walk.prepared.parts(whole)).unwrap_or_default();
                held.extend(parts.into_iter().map(|part| (part, self.held(part))));
                if let Some((variable, lane)) = self.host_target(target, walk) {
                    held.push((variable, self.assigned(variable, lane, given, value.span)));
                    types.push(self.variables[variable].ty);
                }
            }
            // `a = b = 300` gives `a` what is left of it in `b`.
            if types.windows(2).any(|pair| pair[0] != pair[1]) {
                held.clear();
            }
        }
        self.forget(&changes, walk);
        self.restore(held, walk);
    }

    /// Follows what the initialiser of a variable does to others.
    pub(super) fn initial_effects(&mut self, variable: &'u syntax::Variable, walk: &mut Walk<'u>) {
        let mut changes = walk.changed.none_of();
        self.changed_in_variable(variable, &mut changes);
        self.forget(&changes, walk);
    }

    /// The variable that an assignment changes, and the lane if it is one: `n`, `size.x`, `config.gridDim`.
    fn host_target(&mut self, target: &'u syntax::Expr, walk: &Walk<'u>) -> Option<(VariableId, Option<usize>)> {
        if let Some(whole) = self.host_object(target, walk) {
            return Some((whole, None));
        }
        let syntax::ExprKind::Member { object, member, arrow: false, .. } = &target.kind else { return None };
        let lane = ["x", "y", "z"].iter().position(|lane| *lane == member.name.text)?;
        Some((self.host_object(object, walk)?, Some(lane)))
    }

    /// A variable that is followed, or a field of a configuration.
    fn host_object(&mut self, value: &'u syntax::Expr, walk: &Walk<'u>) -> Option<VariableId> {
        let found = match &value.kind {
            syntax::ExprKind::Member { object, member, arrow: false, .. } => match self.host_name(object) {
                Some(config) => walk.prepared.field(config, &member.name.text)?,
                None => self.cluster_object(value, walk)?,
            },
            _ => self.host_name(value)?,
        };
        walk.tracked.contains(&found).then_some(found)
    }

    /// What a variable holds after an assignment.
    pub(super) fn assigned(
        &mut self,
        variable: VariableId,
        lane: Option<usize>,
        given: &'u syntax::Expr,
        place: Span,
    ) -> Held {
        let ty = self.variables[variable].ty;
        match (&self.types[ty], lane) {
            (&Type::Vector { of, lanes }, Some(lane)) if lane < usize::from(lanes) => {
                let made = self.unevaluated_as(given, of);
                let made = self.held_from(&made, of, place);
                let mut held = self.held(variable);
                let constants = held.lanes.get_or_insert_with(|| vec![None; usize::from(lanes)]);
                constants[lane] = made.constant;
                held.sources.resize_with(usize::from(lanes), Vec::new);
                held.sources[lane] = made.sources.into_iter().next().unwrap_or_default();
                held
            }
            (Type::Vector { .. }, None) => {
                let made = self.unevaluated_as(given, ty);
                self.held_from(&made, ty, place)
            }
            (_, None) if self.is_integral(ty) => {
                let made = self.unevaluated_as(given, ty);
                self.held_from(&made, ty, place)
            }
            _ => Held::default(),
        }
    }

    /// The value of an expression that a variable of a type is given.
    fn unevaluated_as(&mut self, value: &'u syntax::Expr, ty: TypeId) -> Expr {
        let temporaries = self.frame.temporaries.len();
        let value = self.initial(value, ty);
        self.frame.temporaries.truncate(temporaries);
        value
    }
}

/// The structure that a variable stands for a part of; a part changes with it.
fn whole_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(whole, _)| whole)
}

/// Whether control does not come to what stands behind a statement.
pub(super) fn leaves(stmt: &syntax::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(_) => stmts_in(stmt).last().is_some_and(|last| leaves(last)),
        _ => false,
    }
}
