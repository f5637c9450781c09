//! Relations between the sizes of a launch and its arguments: `k<<<width / 32, 32>>>(width)` has no more than
//! `width / 32` blocks.
//!
//! A size and an argument are related if both come from one host variable that does not change between the two,
//! through divisions by constants alone; what variables come from is found when they are given it
//! (see [`super::host_flow`]). A variable that a loop counts lies between the loop's bounds.

use super::context::Resolver;
use super::host::Walk;
use super::launch_site::Measured;
use super::program::{BinaryOp, Expr, ExprKind, Relation, Term, Type, VariableId};
use crate::calculus::{Axis, GeometryVar};
use crate::source::Span;

/// Operations in a value beyond which none is followed, and variables that a value is said to come from.
const DEPTH: usize = 8;

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
    divisor: i128,
    /// Where the variable was looked at, if that was before the launch.
    since: Option<Span>,
}

impl<'u> Resolver<'u> {
    /// The relations between the sizes and the arguments of a launch.
    pub(super) fn relations(&mut self, sizes: [&Measured; 2], args: &[Expr], walk: &Walk<'u>) -> Vec<Relation> {
        let mut relations = Vec::new();
        let quotients: Vec<Vec<Quotient>> = args.iter().map(|arg| self.quotients(arg, DEPTH)).collect();
        let makes: [fn(Axis) -> GeometryVar; 2] = [GeometryVar::GridDim, GeometryVar::BlockDim];
        for (size, make) in sizes.into_iter().zip(makes) {
            if let Some(value) = &size.value {
                self.counted_term(Term::Size(make(Axis::X)), value, &quotients, walk, &mut relations);
            }
            for (axis, sizes) in Axis::ALL.into_iter().zip(&size.sources) {
                for (position, args) in quotients.iter().enumerate() {
                    if let Some((size, arg)) = self.related(sizes, args, walk) {
                        let times = size.divisor / arg.divisor;
                        let (size, arg_term) = (Term::Size(make(axis)), Term::Param(position));
                        relations.push(Relation { left: size, times, right: arg_term, right_times: 1, plus: 0 });
                        // What the division cut off is less than the divisor.
                        let plus = times - 1;
                        relations.push(Relation { left: arg_term, times: 1, right: size, right_times: times, plus });
                    }
                }
            }
        }
        for (position, arg) in args.iter().enumerate() {
            self.counted_term(Term::Param(position), arg, &quotients, walk, &mut relations);
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
        load_source(value).filter(|_| self.is_pointer(value.ty))
    }

    /// The variable that both a size and an argument come from.
    fn related(&self, sizes: &[Quotient], args: &[Quotient], walk: &Walk<'u>) -> Option<(Quotient, Quotient)> {
        let pairs = sizes.iter().flat_map(|size| args.iter().map(move |arg| (*size, *arg)));
        pairs.into_iter().find(|(size, arg)| self.are_related(size, arg, walk))
    }

    /// Whether a size divides what an argument is, and nothing changes it in between; what is followed does not.
    fn are_related(&self, size: &Quotient, arg: &Quotient, walk: &Walk<'u>) -> bool {
        let name = &self.variables[size.source.variable].name;
        // Other functions may change a variable at namespace scope at any time.
        let is_global = self.globals.iter().any(|global| global.variable == Some(size.source.variable));
        let stays = walk.tracked.contains(&size.source.variable)
            || earlier(size.since, arg.since).is_none_or(|since| !is_global && !walk.changed.after(name, since));
        let is_leaked = walk.leaked.contains(&size.source.variable);
        size.source == arg.source && size.divisor % arg.divisor == 0 && stays && !is_leaked
    }

    /// What the lanes of a size come from; nothing for those that are constants.
    pub(super) fn lanes_of_size(&mut self, size: &Expr) -> Vec<Vec<Quotient>> {
        match &size.kind {
            _ if self.is_integral(size.ty) => vec![self.sources(size)],
            ExprKind::Construct(parts) => parts.iter().map(|part| self.sources(part)).collect(),
            ExprKind::Convert(inner) => self.lanes_of_size(inner),
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Variable(variable) => self.host_values.get(variable).cloned().unwrap_or_default(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What a value comes from, unless it is a constant.
    pub(super) fn sources(&mut self, value: &Expr) -> Vec<Quotient> {
        if self.constant(value).is_some() { Vec::new() } else { self.quotients(value, DEPTH) }
    }

    /// What a variable that is given a value at `place` comes from, by lane.
    pub(super) fn sources_at(&mut self, value: &Expr, place: Span) -> Vec<Vec<Quotient>> {
        let mut lanes = match &value.kind {
            ExprKind::Construct(parts) => parts.iter().map(|part| self.sources(part)).collect(),
            _ if self.is_integral(value.ty) => vec![self.sources(value)],
            _ => self.lanes_of_size(value),
        };
        for quotient in lanes.iter_mut().flatten() {
            quotient.since = earlier(quotient.since, Some(place));
        }
        lanes
    }

    /// The variables that a value is, divided by a constant: what the variable in it was given first, then it itself.
    fn quotients(&mut self, value: &Expr, depth: usize) -> Vec<Quotient> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        match &value.kind {
            // A narrower type would cut off what matters.
            ExprKind::Convert(inner) if matches!(self.types[value.ty], Type::Int { width: 32 | 64, .. }) => {
                if self.is_integral(inner.ty) { self.quotients(inner, depth) } else { Vec::new() }
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Shr), left, right) => {
                let Some(by) = self.constant(right) else { return Vec::new() };
                let by = match op {
                    BinaryOp::Div => Some(by),
                    _ => u32::try_from(by).ok().filter(|&by| by < 31).map(|by| 1 << by),
                };
                let divided = |left: Quotient| {
                    let divisor = left.divisor.checked_mul(by?)?;
                    (1..1 << 31).contains(&divisor).then_some(Quotient { divisor, ..left })
                };
                self.quotients(left, depth).into_iter().filter_map(divided).collect()
            }
            ExprKind::Load(object) => {
                let Some(source) = source_of(object) else { return Vec::new() };
                let lane = source.part.unwrap_or(0);
                let given = self.host_values.get(&source.variable).and_then(|lanes| lanes.get(lane));
                let mut found = given.cloned().unwrap_or_default();
                found.truncate(DEPTH);
                found.push(Quotient { source, divisor: 1, since: None });
                found
            }
            _ => Vec::new(),
        }
    }

    /// What is known of a size or an argument that a loop counts, perhaps moved by a constant.
    fn counted_term(
        &mut self,
        this: Term,
        value: &Expr,
        others: &[Vec<Quotient>],
        walk: &Walk<'u>,
        relations: &mut Vec<Relation>,
    ) {
        let Some((variable, moved)) = self.moved_variable(value, DEPTH) else { return };
        let Some(counted) = walk.counted.get(&variable) else { return };
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
            if this != Term::Param(other) && self.related(&below, &undivided(quotients), walk).is_some() {
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
            ExprKind::Convert(inner) if matches!(self.types[value.ty], Type::Int { width: 32 | 64, .. }) => {
                self.moved_variable(inner, depth)
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let by = self.constant(right).filter(|by| (0..1 << 31).contains(by))?;
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
fn earlier(a: Option<Span>, b: Option<Span>) -> Option<Span> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.start < a.start { b } else { a }),
        (a, b) => a.or(b),
    }
}
