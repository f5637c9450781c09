//! Relations between the sizes of a launch and its arguments: `k<<<width / 32, 32>>>(width)` has no more than
//! `width / 32` blocks.
//!
//! A size and an argument are related if both come from one host variable that does not change between the two,
//! through divisions by constants alone. A variable that a loop counts lies between the loop's bounds.

use super::context::Resolver;
use super::host::Walk;
use super::host_parts::{ANYTHING, Changes, changed_in_stmt};
use super::program::{BinaryOp, Expr, ExprKind, Relation, Term, Type, VariableId};
use crate::calculus::{Axis, GeometryVar};
use crate::source::Span;
use crate::syntax::{self, PostfixOp, StmtKind, UnaryOp};

/// Initial values inside initial values beyond which none is followed.
const DEPTH: usize = 8;

/// A host variable, or a lane or field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    variable: VariableId,
    part: Option<usize>,
}

/// A host variable divided by a constant, rounded towards zero.
#[derive(Clone, Copy, Debug)]
struct Quotient {
    source: Source,
    divisor: i128,
    /// Where the variable was looked at, if that was before the launch.
    since: Option<Span>,
}

/// What a loop says of the variable that it counts, as long as its body runs.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    least: Option<i128>,
    greatest: Option<i128>,
    /// A value that it stays below, and where the loop starts.
    below: Option<(Expr, Span)>,
}

impl<'u> Resolver<'u> {
    /// The relations between the sizes and the arguments of a launch.
    pub(super) fn relations(&mut self, sizes: [&Expr; 2], args: &[Expr], walk: &Walk<'u>) -> Vec<Relation> {
        let mut relations = Vec::new();
        let quotients: Vec<Option<Quotient>> = args.iter().map(|arg| self.quotient(arg, DEPTH)).collect();
        let makes: [fn(Axis) -> GeometryVar; 2] = [GeometryVar::GridDim, GeometryVar::BlockDim];
        for (size, make) in sizes.into_iter().zip(makes) {
            for (axis, (lane, since)) in Axis::ALL.into_iter().zip(self.lanes_of_size(size)) {
                if self.constant(&lane).is_some() {
                    continue;
                }
                let Some(size) = self.quotient(&lane, DEPTH) else { continue };
                let size = Quotient { since: earlier(size.since, since), ..size };
                let divisor = size.divisor;
                for (position, arg) in quotients.iter().enumerate() {
                    if let Some(arg) = arg
                        && self.are_related(&size, arg, &walk.changed)
                    {
                        let (size, arg_term) = (Term::Size(make(axis)), Term::Param(position));
                        let times = divisor / arg.divisor;
                        relations.push(Relation { left: size, times, right: arg_term, right_times: 1, plus: 0 });
                        // What the division cut off is less than the divisor.
                        let plus = times - 1;
                        relations.push(Relation { left: arg_term, times: 1, right: size, right_times: times, plus });
                    }
                }
            }
        }
        for (position, arg) in args.iter().enumerate() {
            self.counted_argument(position, arg, &quotients, walk, &mut relations);
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

    /// Whether a size divides what an argument is, and nothing changes it in between.
    fn are_related(&self, size: &Quotient, arg: &Quotient, changed: &Changes<'u>) -> bool {
        let name = &self.variables[size.source.variable].name;
        // Other functions may change a variable at namespace scope at any time.
        let is_global = self.globals.iter().any(|global| global.variable == Some(size.source.variable));
        let stays = earlier(size.since, arg.since).is_none_or(|since| !is_global && !changed.after(name, since));
        size.source == arg.source && size.divisor % arg.divisor == 0 && stays
    }

    /// The lanes of a size as they were written, and where, if that was before the launch.
    fn lanes_of_size(&self, size: &Expr) -> Vec<(Expr, Option<Span>)> {
        match &size.kind {
            _ if self.is_integral(size.ty) => vec![(size.clone(), None)],
            ExprKind::Construct(parts) => parts.iter().map(|part| (part.clone(), None)).collect(),
            ExprKind::Convert(inner) => self.lanes_of_size(inner),
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Variable(variable) => match self.host_values.get(variable) {
                    Some((lanes, span)) => lanes.iter().map(|lane| (lane.clone(), Some(*span))).collect(),
                    None => Vec::new(),
                },
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The variable that a value is, divided by a constant.
    fn quotient(&mut self, value: &Expr, depth: usize) -> Option<Quotient> {
        let depth = depth.checked_sub(1)?;
        match &value.kind {
            // A narrower type would cut off what matters.
            ExprKind::Convert(inner) if matches!(self.types[value.ty], Type::Int { width: 32 | 64, .. }) => {
                self.is_integral(inner.ty).then(|| self.quotient(inner, depth))?
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Shr), left, right) => {
                let right = self.constant(right)?;
                let divisor = match op {
                    BinaryOp::Div => right,
                    _ => 1_i128.checked_shl(u32::try_from(right).ok().filter(|&by| by < 31)?)?,
                };
                let left = self.quotient(left, depth)?;
                let divisor = left.divisor.checked_mul(divisor).filter(|divisor| (1..1 << 31).contains(divisor))?;
                Some(Quotient { divisor, ..left })
            }
            ExprKind::Load(object) => {
                let source = source_of(object)?;
                let lane = source.part.unwrap_or(0);
                if let Some((values, span)) = self.host_values.get(&source.variable).cloned()
                    && let Some(value) = values.get(lane)
                    && let Some(inner) = self.quotient(value, depth)
                {
                    return Some(Quotient { since: earlier(inner.since, Some(span)), ..inner });
                }
                Some(Quotient { source, divisor: 1, since: None })
            }
            _ => None,
        }
    }

    /// What a `for` says of the variable that it counts.
    pub(super) fn counted(&mut self, stmt: &'u syntax::Stmt) -> Option<(VariableId, Counted)> {
        let StmtKind::For { init, cond: Some(cond), step: Some(step), body } = &stmt.kind else { return None };
        let syntax::ExprKind::Binary(op, left, right) = &cond.kind else { return None };
        let (name, is_up) = (name_of(left)?, direction(step, left)?);
        let mut changed = Changes::default();
        changed_in_stmt(body, &mut |value| self.changed_by_call(self.scope, value), &mut changed);
        if changed.contains(name) || changed.contains(ANYTHING) {
            return None;
        }
        let start = init.as_deref().and_then(|init| self.first_value(init, name));
        let counter = self.unevaluated(left);
        let Source { variable, part: None } = load_source(&counter)? else { return None };
        let bound = self.unevaluated(right);
        let limit = self.constant(&bound);
        use syntax::BinaryOp::{Ge, Gt, Le, Lt, Ne};
        let found = match (op, is_up) {
            (Lt | Ne, true) => {
                Counted { least: start, greatest: limit.map(|limit| limit - 1), below: Some((bound, stmt.span)) }
            }
            (Le, true) => Counted { least: start, greatest: limit, below: None },
            (Gt | Ne, false) => Counted { least: limit.map(|limit| limit + 1), greatest: start, below: None },
            (Ge, false) => Counted { least: limit, greatest: start, below: None },
            _ => return None,
        };
        // `i != n` says nothing of an `i` that starts beyond `n`.
        if *op == Ne && (start.is_none() || limit.is_none() || found.least > found.greatest) {
            return None;
        }
        Some((variable, found))
    }

    /// The constant that the first part of a `for` gives its variable.
    fn first_value(&mut self, init: &'u syntax::Stmt, name: &str) -> Option<i128> {
        let value = match &init.kind {
            StmtKind::Item(syntax::Item { kind: syntax::ItemKind::Variables(variables), .. }) => {
                let variable = variables.iter().find(|variable| variable.name.text == name)?;
                match variable.init.as_ref()? {
                    syntax::Init::Value(value) => value,
                    _ => return None,
                }
            }
            StmtKind::Expr(syntax::Expr { kind: syntax::ExprKind::Assign(None, target, value), .. })
                if name_of(target) == Some(name) =>
            {
                value
            }
            _ => return None,
        };
        let value = self.unevaluated(value);
        self.constant(&value)
    }

    /// What is known of an argument that a loop counts, perhaps moved by a constant.
    fn counted_argument(
        &mut self,
        position: usize,
        arg: &Expr,
        others: &[Option<Quotient>],
        walk: &Walk<'u>,
        relations: &mut Vec<Relation>,
    ) {
        let Some((variable, moved)) = self.moved_variable(arg, DEPTH) else { return };
        let Some(counted) = walk.counted.get(&variable) else { return };
        let this = Term::Param(position);
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
        let Some((bound, start)) = counted.below.clone().filter(|_| counted.greatest.is_none()) else { return };
        let Some(bound) = self.quotient(&bound, DEPTH).filter(|bound| bound.divisor == 1) else { return };
        let bound = Quotient { since: earlier(bound.since, Some(start)), ..bound };
        for (other, quotient) in others.iter().enumerate() {
            if let Some(quotient) = quotient
                && quotient.divisor == 1
                && other != position
                && self.are_related(&bound, quotient, &walk.changed)
            {
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

fn load_source(value: &Expr) -> Option<Source> {
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

fn name_of(value: &syntax::Expr) -> Option<&str> {
    match &value.kind {
        syntax::ExprKind::Path(path) if path.segments.len() == 1 => Some(&path.segments[0].name.text),
        _ => None,
    }
}

/// Whether a step moves a variable up or down by a constant.
fn direction(step: &syntax::Expr, variable: &syntax::Expr) -> Option<bool> {
    use syntax::ExprKind as Kind;
    let (target, is_up) = match &step.kind {
        Kind::Postfix(op, target) => (target, *op == PostfixOp::Increment),
        Kind::Unary(op @ (UnaryOp::PreIncrement | UnaryOp::PreDecrement), target) => {
            (target, *op == UnaryOp::PreIncrement)
        }
        Kind::Assign(Some(op @ (syntax::BinaryOp::Add | syntax::BinaryOp::Sub)), target, by) => {
            let Kind::Int { value: 1.., .. } = by.kind else { return None };
            (target, *op == syntax::BinaryOp::Add)
        }
        _ => return None,
    };
    (name_of(target).is_some() && name_of(target) == name_of(variable)).then_some(is_up)
}
