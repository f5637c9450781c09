//! What the variables of a function hold at the place at hand, as constants and beside these ([`super::constraints`]).
//!
//! What may be changed by whoever got hold of a variable is unknown for good ([`Values::forget`]); what two ways to a
//! place agree on stays known after them ([`Values::agree`]).
//!
//! Guarantees: only what was said of a variable since the last place that may have changed it is held for true.
//!
//! Deliberately absent: which places change which variables ([`super::effects`]).

use super::changes::Changes;
use super::constraints::Constraints;
pub(super) use super::sums::Source;
use crate::resolve::program::{Expr, ExprKind, Type, TypeId, VariableId};
use crate::resolve::{Declared, Lanes};
use rustc_hash::FxHashSet;

/// Operations in a value beyond which none is followed.
pub(super) const DEPTH: usize = 12;

/// What a variable holds, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// The constant of an integer.
    pub(super) constant: Option<i128>,
    /// The constants of a vector's lanes.
    pub(super) lanes: Option<Lanes>,
}

impl Held {
    /// What is left where some lanes may hold anything.
    fn without(mut self, changed: [bool; 3]) -> Held {
        for (lane, _) in changed.iter().enumerate().filter(|(_, changed)| **changed) {
            self.lanes.iter_mut().filter_map(|lanes| lanes.get_mut(lane)).for_each(|lane| *lane = None);
        }
        self
    }

    /// What two ways to a place have in common, lane by lane.
    fn agreed(self, other: Held) -> Held {
        let lanes = self.lanes.zip(other.lanes).filter(|(one, other)| one.len() == other.len());
        let same = |(one, other): (Option<i128>, Option<i128>)| one.filter(|_| one == other);
        Held {
            constant: same((self.constant, other.constant)),
            lanes: lanes.map(|(one, other)| one.into_iter().zip(other).map(same).collect()),
        }
    }
}

/// What the variables hold that a statement may change.
pub(super) type Snapshot = Vec<(VariableId, Held)>;

/// What a loop says of the variable that it counts, as long as its body runs.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) least: Option<i128>,
    pub(super) greatest: Option<i128>,
}

/// A local that nothing changes, made of values that nothing changes.
pub(super) struct Made {
    pub(super) variable: VariableId,
    pub(super) value: Expr,
    pub(super) ty: TypeId,
}

/// What is known of the variables of a function at the place at hand, but for the constants, which whoever evaluates
/// needs.
#[derive(Default)]
pub(super) struct Values {
    /// Variables that the function changes at places that are known.
    pub(super) tracked: Vec<VariableId>,
    /// Variables that others have got hold of by now, and may change at any time.
    pub(super) leaked: FxHashSet<VariableId>,
    /// Parameters and locals of the function that nothing outside of it can change.
    pub(super) own: FxHashSet<VariableId>,
    /// Parameters that nothing changes, of a function that nothing in the unit calls: who calls it decides.
    pub(super) from_elsewhere: FxHashSet<VariableId>,
    /// Locals that can be looked at again where more is known.
    pub(super) made: Vec<Made>,
    /// What is known of variables beside constants.
    pub(super) constraints: Constraints,
}

/// What is held.
impl Values {
    /// Gives a variable what it holds from here on.
    pub(super) fn set(&mut self, names: &mut Declared<'_>, variable: VariableId, held: Held) {
        names.set_constant(variable, held.constant);
        names.set_lanes(variable, held.lanes);
    }

    /// What a variable holds.
    pub(super) fn held(&self, names: &Declared<'_>, variable: VariableId) -> Held {
        Held { constant: names.variable(variable).constant, lanes: names.lanes(variable).cloned() }
    }

    /// What the variables hold now that `changes` names.
    pub(super) fn snapshot(&self, names: &Declared<'_>, changes: &Changes<'_>) -> Snapshot {
        let is_changed = |variable: &&VariableId| changes.may_change(whole_of(&names.variable(**variable).name));
        self.tracked.iter().filter(is_changed).map(|&variable| (variable, self.held(names, variable))).collect()
    }

    /// What all variables hold that the function changes anywhere.
    pub(super) fn snapshot_of_all(&self, names: &Declared<'_>) -> Snapshot {
        self.tracked.iter().map(|&variable| (variable, self.held(names, variable))).collect()
    }

    /// Gives variables what they held, but for those that others have got hold of.
    pub(super) fn restore(&mut self, names: &mut Declared<'_>, snapshot: Snapshot) {
        for (variable, held) in snapshot {
            if !self.leaked.contains(&variable) {
                self.set(names, variable, held);
            }
        }
    }

    /// Keeps of what variables hold now what they held in another snapshot of the same variables, too.
    pub(super) fn agree(&mut self, names: &mut Declared<'_>, other: Snapshot) {
        for (variable, held) in other {
            let now = self.held(names, variable);
            if self.leaked.contains(&variable) {
                self.set(names, variable, Held::default());
            } else if now != held {
                self.set(names, variable, now.agreed(held));
            }
        }
    }

    /// Makes unknown what `changes` names, for good if others got hold of it.
    pub(super) fn forget(&mut self, names: &mut Declared<'_>, changes: &Changes<'_>) {
        self.forget_but(names, changes, None);
    }

    /// The same of an assignment that changes no more of its variable than `given`.
    pub(super) fn forget_but(&mut self, names: &mut Declared<'_>, changes: &Changes<'_>, given: Option<Source>) {
        for (variable, held) in self.snapshot(names, changes) {
            let lanes = changes.lanes_of(&names.variable(variable).name);
            self.set(names, variable, lanes.map(|lanes| held.without(lanes)).unwrap_or_default());
        }
        let is_leaked = |variable: &VariableId| changes.leaks(whole_of(&names.variable(*variable).name));
        let leaked: Vec<VariableId> = self.tracked.iter().copied().filter(is_leaked).collect();
        self.tracked.retain(|variable| !leaked.contains(variable));
        self.leaked.extend(leaked);
        self.forget_constraints(names, changes, given);
        self.constraints.lose(|variable| changes.leaks(whole_of(&names.variable(variable).name)));
    }

    /// Makes unknown what `changes` names, but for constants.
    pub(super) fn forget_constraints(&mut self, names: &Declared<'_>, changes: &Changes<'_>, given: Option<Source>) {
        self.constraints.forget(|source| {
            let variable = names.variable(source.variable);
            // Of a size, lanes may be changed by their names.
            let is_size = matches!(names.ty(variable.ty), Type::Vector { .. });
            let lanes = changes.lanes_of(&variable.name).filter(|_| is_size);
            let is_left = lanes.zip(source.part).is_some_and(|(lanes, part)| lanes.get(part) == Some(&false))
                || given.is_some_and(|given| given.is_beside(source) || are_siblings(names, given, source));
            changes.may_change(whole_of(&variable.name)) && !is_left
        });
    }

    /// Makes everything unknown that the function changes anywhere.
    pub(super) fn forget_all(&mut self, names: &mut Declared<'_>) {
        for variable in self.tracked.clone() {
            self.set(names, variable, Held::default());
        }
        self.constraints.clear();
    }
}

/// What a variable of a type holds that is given a value.
pub(super) fn held_from(names: &mut Declared<'_>, value: &Expr, ty: TypeId) -> Held {
    let is_integral = names.is_integral(ty);
    Held {
        constant: if is_integral { names.constant(value) } else { None },
        lanes: if is_integral { None } else { names.constant_lanes(value) },
    }
}

/// What `dim3 size;` holds: ones.
pub(super) fn held_at_first(names: &Declared<'_>, ty: TypeId) -> Held {
    match names.is_dim3(ty) {
        true => Held { lanes: Some(vec![Some(1); 3]), ..Held::default() },
        false => Held::default(),
    }
}

/// What the value of an object comes from, if it is read as it is.
pub(super) fn load_source(value: &Expr) -> Option<Source> {
    match &value.kind {
        ExprKind::Load(object) => source_of(object),
        _ => None,
    }
}

/// The variable, or the part of one, that an object is.
pub(super) fn source_of(object: &Expr) -> Option<Source> {
    match &object.kind {
        ExprKind::Variable(variable) => Some(Source { variable: *variable, part: None }),
        ExprKind::Lanes(inner, lanes) => match (&inner.kind, lanes.as_slice()) {
            (ExprKind::Variable(variable), &[lane]) => {
                Some(Source { variable: *variable, part: Some(usize::from(lane)) })
            }
            _ => None,
        },
        ExprKind::Field(inner, field) => match inner.kind {
            ExprKind::Variable(variable) => Some(Source { variable, part: Some(*field) }),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two variables stand for parts of one structure.
fn are_siblings(names: &Declared<'_>, one: Source, other: Source) -> bool {
    let [one, other] = [one, other].map(|source| names.variable(source.variable).name.as_str());
    one != other && whole_of(one) == whole_of(other) && whole_of(one) != one && whole_of(other) != other
}

/// The structure that a variable stands for a part of; a part changes with it.
fn whole_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(whole, _)| whole)
}
