//! Relations between the sizes of a launch and its arguments: `k<<<width / 32, 32>>>(width)` has no more than
//! `width / 32` blocks.
//!
//! A size and an argument are related if both come from one host variable that does not change between the two,
//! through divisions by constants alone; what variables come from is found when they are given it
//! ([`super::values`]). A variable that a loop counts lies between the loop's bounds.

use super::place::Place;
use super::values::{DEPTH, Quotient, Source, earlier, load_source};
use crate::calculus::{Axis, GeometryVar};
use crate::launch::{Given, Relation, Term};
use crate::resolve::program::{BinaryOp, Expr, ExprKind, Type, VariableId};

/// A size of a launch, as far as it is known.
pub(super) struct Measured {
    pub(super) lanes: [Option<u64>; 3],
    /// How the lanes are given that are not known.
    pub(super) given: Given,
    /// What the lanes come from.
    pub(super) sources: Vec<Vec<Quotient>>,
    /// The size as one number, if it is one.
    pub(super) value: Option<Expr>,
}

/// That `part` is `whole / times`: what the division cut off is less than the divisor.
fn divided(part: Term, whole: Term, times: i128) -> [Relation; 2] {
    let no_more = Relation { left: part, times, right: whole, right_times: 1, plus: 0 };
    [no_more, Relation { left: whole, times: 1, right: part, right_times: times, plus: times - 1 }]
}

impl Place<'_, '_> {
    /// The relations between the sizes and the arguments of a launch.
    pub(super) fn relations(&mut self, sizes: [&Measured; 2], args: &[Expr]) -> Vec<Relation> {
        let mut relations = Vec::new();
        let quotients: Vec<Vec<Quotient>> =
            args.iter().map(|arg| self.values.quotients(self.names, arg, DEPTH)).collect();
        let makes: [fn(Axis) -> GeometryVar; 2] = [GeometryVar::GridDim, GeometryVar::BlockDim];
        for (size, make) in sizes.into_iter().zip(makes) {
            if let Some(value) = &size.value {
                self.counted_term(Term::Size(make(Axis::X)), value, &quotients, &mut relations);
            }
            for (axis, sizes) in Axis::ALL.into_iter().zip(&size.sources) {
                for (position, args) in quotients.iter().enumerate() {
                    if let Some((size, arg)) = self.related(sizes, args) {
                        let times = size.divisor / arg.divisor;
                        relations.extend(divided(Term::Size(make(axis)), Term::Param(position), times));
                    }
                }
            }
        }
        // One value that is passed twice: `k<<<…>>>(y, width, width)`. Parts of a value are left out, which may be negative.
        for (first, second) in (0..args.len()).flat_map(|second| (0..second).map(move |first| (first, second))) {
            let is_one = |(one, other): &(Quotient, Quotient)| one.divisor == other.divisor;
            if self.related(&quotients[first], &quotients[second]).filter(is_one).is_some() {
                relations.extend(divided(Term::Param(first), Term::Param(second), 1));
            }
        }
        for (position, arg) in args.iter().enumerate() {
            self.counted_term(Term::Param(position), arg, &quotients, &mut relations);
        }
        relations
    }

    /// The pairs of arguments that are the same pointer.
    pub(super) fn same_pointers(&self, args: &[Expr]) -> Vec<(usize, usize)> {
        let sources: Vec<Option<Source>> = args.iter().map(|arg| self.pointer_source(arg)).collect();
        let pairs = (0..args.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
        pairs.filter(|&(earlier, later)| sources[later].is_some() && sources[earlier] == sources[later]).collect()
    }

    /// The variable that holds a pointer, through casts to other pointers.
    fn pointer_source(&self, value: &Expr) -> Option<Source> {
        let mut value = value;
        while let ExprKind::Convert(inner) = &value.kind {
            value = inner;
        }
        load_source(value).filter(|_| self.names.is_pointer(value.ty))
    }

    /// The variable that both a size and an argument come from.
    fn related(&self, sizes: &[Quotient], args: &[Quotient]) -> Option<(Quotient, Quotient)> {
        let pairs = sizes.iter().flat_map(|size| args.iter().map(move |arg| (*size, *arg)));
        pairs.into_iter().find(|(size, arg)| self.are_related(size, arg))
    }

    /// Whether a size divides what an argument is, and nothing changes it in between; what is followed does not.
    fn are_related(&self, size: &Quotient, arg: &Quotient) -> bool {
        let name = &self.names.variable(size.source.variable).name;
        // Other functions may change a variable at namespace scope at any time.
        let is_global = self.names.is_global(size.source.variable);
        let stays = self.values.tracked.contains(&size.source.variable)
            || earlier(size.since, arg.since).is_none_or(|since| !is_global && !self.changed.after(name, since));
        let is_leaked = self.values.leaked.contains(&size.source.variable);
        size.source == arg.source && size.divisor % arg.divisor == 0 && stays && !is_leaked
    }

    /// What is known of a size or an argument that a loop counts, perhaps moved by a constant.
    fn counted_term(&mut self, this: Term, value: &Expr, others: &[Vec<Quotient>], relations: &mut Vec<Relation>) {
        let Some((variable, moved)) = self.moved_variable(value, DEPTH) else { return };
        let Some(counted) = self.values.counted.get(&variable) else { return };
        if let Some(least) = counted.least {
            relations.push(Relation {
                left: Term::Zero,
                times: 1,
                right: this,
                right_times: 1,
                plus: -(least + moved),
            });
        }
        if let Some(greatest) = counted.greatest {
            relations.push(Relation {
                left: this,
                times: 1,
                right: Term::Zero,
                right_times: 1,
                plus: greatest + moved,
            });
        }
        if counted.greatest.is_some() {
            return;
        }
        let undivided = |all: &[Quotient]| -> Vec<Quotient> {
            all.iter().filter(|quotient| quotient.divisor == 1).copied().collect()
        };
        let below = undivided(&counted.below);
        for (other, quotients) in others.iter().enumerate() {
            if this != Term::Param(other) && self.related(&below, &undivided(quotients)).is_some() {
                relations.push(Relation {
                    left: this,
                    times: 1,
                    right: Term::Param(other),
                    right_times: 1,
                    plus: moved - 1,
                });
            }
        }
    }

    /// `i`, `i + 1`, `i - 2` of a variable.
    fn moved_variable(&mut self, value: &Expr, depth: usize) -> Option<(VariableId, i128)> {
        let depth = depth.checked_sub(1)?;
        match &value.kind {
            ExprKind::Convert(inner) if matches!(self.names.ty(value.ty), Type::Int { width: 32 | 64, .. }) => {
                self.moved_variable(inner, depth)
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let by = self.names.constant(right).filter(|by| (0..1 << 31).contains(by))?;
                let (variable, moved) = self.moved_variable(left, depth)?;
                Some((variable, if *op == BinaryOp::Add { moved + by } else { moved - by }))
            }
            _ => match load_source(value)? {
                Source { variable, part: None } => Some((variable, 0)),
                Source { .. } => None,
            },
        }
    }
}
