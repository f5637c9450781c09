//! What the variables of a function hold at the place at hand, and what they come from.
//!
//! What may be changed by whoever got hold of a variable is unknown for good ([`Values::forget`]); what two ways to a
//! place agree on stays known after them ([`Values::agree`]). A variable is told apart from what it comes from: `n /
//! 64` comes from `n`, whatever `n` is, as long as neither is given another value.
//!
//! Guarantees: only what was said of a variable since the last place that may have changed it is held for true.
//!
//! Deliberately absent: which places change which variables ([`super::effects`]).

use super::changes::Changes;
use crate::resolve::program::{BinaryOp, Expr, ExprKind, Type, TypeId, VariableId};
use crate::resolve::{Declared, Lanes};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Operations in a value beyond which none is followed, and variables that a value is said to come from.
pub(super) const DEPTH: usize = 8;

/// A host variable, or a lane or field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) variable: VariableId,
    pub(super) part: Option<usize>,
}

/// A host variable divided by a constant, rounded towards zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quotient {
    pub(super) source: Source,
    pub(super) divisor: i128,
    /// Where the variable was looked at, if that was before the launch.
    pub(super) since: Option<Span>,
}

/// What a variable holds, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// The constant of an integer.
    pub(super) constant: Option<i128>,
    /// The constants of a vector's lanes.
    pub(super) lanes: Option<Lanes>,
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

/// What a loop says of the variable that it counts, as long as its body runs.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) least: Option<i128>,
    pub(super) greatest: Option<i128>,
    /// What it stays below.
    pub(super) below: Vec<Quotient>,
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
    /// What variables come from: of a `dim3`, its lanes.
    sources: FxHashMap<VariableId, Vec<Vec<Quotient>>>,
    /// Variables that the function changes at places that are known.
    pub(super) tracked: Vec<VariableId>,
    /// Variables that others have got hold of by now, and may change at any time.
    pub(super) leaked: FxHashSet<VariableId>,
    /// Parameters and locals of the function that nothing outside of it can change.
    pub(super) own: FxHashSet<VariableId>,
    /// Parameters that nothing changes, of a function that nothing in the unit calls: who calls it decides.
    pub(super) from_elsewhere: FxHashSet<VariableId>,
    /// Variables of the loops around, and what these say of them.
    pub(super) counted: FxHashMap<VariableId, Counted>,
    /// Locals that can be looked at again where more is known.
    pub(super) made: Vec<Made>,
}

/// What is held.
impl Values {
    /// Gives a variable what it holds from here on; what was given its value before no longer comes from it.
    pub(super) fn set(&mut self, names: &mut Declared<'_>, variable: VariableId, held: Held) {
        for sources in self.sources.values_mut().flatten() {
            sources.retain(|quotient| quotient.source.variable != variable);
        }
        names.set_constant(variable, held.constant);
        names.set_lanes(variable, held.lanes);
        let mut sources = held.sources;
        for lane in &mut sources {
            lane.retain(|quotient| quotient.source.variable != variable);
        }
        if sources.iter().all(Vec::is_empty) {
            self.sources.remove(&variable);
        } else {
            self.sources.insert(variable, sources);
        }
    }

    /// What a variable holds.
    pub(super) fn held(&self, names: &Declared<'_>, variable: VariableId) -> Held {
        Held {
            constant: names.variable(variable).constant,
            lanes: names.lanes(variable).cloned(),
            sources: self.sources.get(&variable).cloned().unwrap_or_default(),
        }
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
        for (variable, held) in self.snapshot(names, changes) {
            let lanes = changes.lanes_of(&names.variable(variable).name);
            self.set(names, variable, lanes.map(|lanes| held.without(lanes)).unwrap_or_default());
        }
        let is_leaked = |variable: &VariableId| changes.leaks(whole_of(&names.variable(*variable).name));
        let leaked: Vec<VariableId> = self.tracked.iter().copied().filter(is_leaked).collect();
        self.tracked.retain(|variable| !leaked.contains(variable));
        self.leaked.extend(leaked);
    }

    /// Makes everything unknown that the function changes anywhere.
    pub(super) fn forget_all(&mut self, names: &mut Declared<'_>) {
        for variable in self.tracked.clone() {
            self.set(names, variable, Held::default());
        }
    }
}

/// What values are and come from.
impl Values {
    /// What a variable of a type holds that is given a value at a place.
    pub(super) fn held_from(&self, names: &mut Declared<'_>, value: &Expr, ty: TypeId, place: Span) -> Held {
        let is_integral = names.is_integral(ty);
        Held {
            constant: if is_integral { names.constant(value) } else { None },
            lanes: if is_integral { None } else { names.constant_lanes(value) },
            sources: self.sources_at(names, value, place),
        }
    }

    /// What the lanes of a size come from; nothing for those that are constants.
    pub(super) fn lanes_of_size(&self, names: &mut Declared<'_>, size: &Expr) -> Vec<Vec<Quotient>> {
        match &size.kind {
            _ if names.is_integral(size.ty) => vec![self.sources_of(names, size)],
            ExprKind::Construct(parts) => parts.iter().map(|part| self.sources_of(names, part)).collect(),
            ExprKind::Convert(inner) => self.lanes_of_size(names, inner),
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Variable(variable) => self.sources.get(variable).cloned().unwrap_or_default(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What a value comes from, unless it is a constant.
    pub(super) fn sources_of(&self, names: &mut Declared<'_>, value: &Expr) -> Vec<Quotient> {
        if names.constant(value).is_some() { Vec::new() } else { self.quotients(names, value, DEPTH) }
    }

    /// What a variable that is given a value at `place` comes from, by lane.
    pub(super) fn sources_at(&self, names: &mut Declared<'_>, value: &Expr, place: Span) -> Vec<Vec<Quotient>> {
        let mut lanes = match &value.kind {
            ExprKind::Construct(parts) => parts.iter().map(|part| self.sources_of(names, part)).collect(),
            _ if names.is_integral(value.ty) => vec![self.sources_of(names, value)],
            _ => self.lanes_of_size(names, value),
        };
        for quotient in lanes.iter_mut().flatten() {
            quotient.since = earlier(quotient.since, Some(place));
        }
        lanes
    }

    /// The variables that a value is, divided by a constant: what the variable in it was given first, then it itself.
    pub(super) fn quotients(&self, names: &mut Declared<'_>, value: &Expr, depth: usize) -> Vec<Quotient> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        match &value.kind {
            // A narrower type would cut off what matters.
            ExprKind::Convert(inner) if matches!(names.ty(value.ty), Type::Int { width: 32 | 64, .. }) => {
                if names.is_integral(inner.ty) { self.quotients(names, inner, depth) } else { Vec::new() }
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Shr), left, right) => {
                let Some(by) = names.constant(right) else { return Vec::new() };
                let by = match op {
                    BinaryOp::Div => Some(by),
                    _ => u32::try_from(by).ok().filter(|&by| by < 31).map(|by| 1 << by),
                };
                let divided = |left: Quotient| {
                    let divisor = left.divisor.checked_mul(by?)?;
                    (1..1 << 31).contains(&divisor).then_some(Quotient { divisor, ..left })
                };
                self.quotients(names, left, depth).into_iter().filter_map(divided).collect()
            }
            ExprKind::Load(object) => {
                let Some(source) = source_of(object) else { return Vec::new() };
                let lane = source.part.unwrap_or(0);
                let given = self.sources.get(&source.variable).and_then(|lanes| lanes.get(lane));
                let mut found = given.cloned().unwrap_or_default();
                found.truncate(DEPTH);
                found.push(Quotient { source, divisor: 1, since: None });
                found
            }
            _ => Vec::new(),
        }
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

fn source_of(object: &Expr) -> Option<Source> {
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

/// The earlier of two places of one function.
pub(super) fn earlier(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.start < a.start { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The structure that a variable stands for a part of; a part changes with it.
fn whole_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(whole, _)| whole)
}
