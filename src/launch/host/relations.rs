//! Relations between the sizes of a launch and its arguments: `k<<<width / 32, 32>>>(width)` has no more than
//! `width / 32` blocks.
//!
//! What is known of variables at the launch ([`super::constraints`]), with what sizes and arguments are as sums
//! ([`super::forms`]), is made free of everything but these: what is left is what the launch says. That it runs says that no
//! size is zero, or larger than any device allows.
//!
//! Deliberately absent: how what is known came about.

use super::forms::Reader;
use super::inequalities::{self, Inequalities};
use super::sums::{Sum, Symbol};
use super::values::{Source, load_source};
use crate::calculus::{Axis, GeometryVar};
use crate::launch::{Given, Relation, Term};
use crate::resolve::program::{Expr, ExprKind};
use crate::syntax;

/// Blocks along an axis, and threads, that no launch has more of.
const MOST: i128 = (1 << 31) - 1;
/// Bounds from which on numbers are no more than those of types, and bounds of sizes no more than what is left of them.
const FAR: i128 = 1 << 30;
const FAR_FOR_SIZES: i128 = 1 << 20;
/// Values of a launch that one relation speaks of, at most.
const MOST_TERMS: usize = 3;
/// Relations of one launch, at most.
const MOST_RELATIONS: usize = 12;

/// A size of a launch, as far as it is known.
pub(super) struct Measured {
    pub(super) lanes: [Option<u64>; 3],
    /// How the lanes are given that are not known.
    pub(super) given: Given,
    /// What they are, as far as something is known of that.
    pub(super) pinned: Vec<Option<Symbol>>,
}

/// What the variables around a launch say of it.
pub(super) struct Said {
    pub(super) relations: Vec<Relation>,
    /// Sizes of the grid and of a block that can only have one value.
    pub(super) sizes: [[Option<u64>; 3]; 2],
    /// Arguments that can only have one value.
    pub(super) args: Vec<Option<i128>>,
}

impl Reader<'_, '_> {
    /// What is said of a launch with these sizes and these arguments, in the types of the kernel's parameters.
    pub(super) fn said(&mut self, sizes: [&Measured; 2], args: &[Expr]) -> Said {
        let makes: [fn(Axis) -> GeometryVar; 2] = [GeometryVar::GridDim, GeometryVar::BlockDim];
        for (size, make) in sizes.into_iter().zip(makes) {
            for axis in Axis::ALL {
                let known = size.lanes[axis.index()].map(|lane| Sum::number(i128::from(lane)));
                let pinned = size.pinned.get(axis.index()).copied().flatten().map(Sum::symbol);
                let symbol = Symbol::Launch(Term::Size(make(axis)));
                self.constraints.set_range(symbol, Some((1, MOST)));
                if let Some(sum) = known.or(pinned) {
                    self.equate(symbol, &sum);
                    self.constraints.add(Sum::symbol(symbol).plus_number(-1));
                }
            }
        }
        self.constraints.settle_all();
        self.name_arguments(args);
        let value = |this: &Self, term: Term| match this.constraints.bounds(&Sum::symbol(Symbol::Launch(term))) {
            (Some(least), Some(most)) if least == most => Some(least),
            _ => None,
        };
        let found = makes.map(|make| Axis::ALL.map(|axis| value(self, Term::Size(make(axis)))));
        Said {
            sizes: found.map(|lanes| lanes.map(|lane| lane.and_then(|lane| u64::try_from(lane).ok()))),
            args: (0..args.len()).map(|position| value(self, Term::Param(position))).collect(),
            relations: self.left_relations(),
        }
    }

    /// How the arguments of a call are related.
    pub(super) fn relations_of(&mut self, args: &[Expr]) -> Vec<Relation> {
        self.name_arguments(args);
        self.left_relations()
    }

    fn name_arguments(&mut self, args: &[Expr]) {
        for (position, arg) in args.iter().enumerate() {
            let range = self.int_type(arg.ty).map(|ty| ty.range());
            if let Some(sum) = self.sum_of(arg) {
                let symbol = Symbol::Launch(Term::Param(position));
                self.constraints.set_range(symbol, range);
                self.equate(symbol, &sum);
            }
        }
        self.constraints.settle_all();
    }

    /// Takes note of how the parameters of a function are related in the calls that it is looked at for.
    pub(super) fn take_relations(&mut self, function: &syntax::Function, relations: &[Relation]) {
        let mut variable = |term: &Term| {
            let Term::Param(position) = *term else { return None };
            let variable = self.names.variable_named(&function.params.get(position)?.name.text)?;
            let symbol = Symbol::Variable(Source { variable, part: None });
            self.constraints.follows(variable).then_some(symbol)
        };
        let mut found = Vec::new();
        for relation in relations {
            found.push(match relation {
                Relation::NotNegative { .. } => sum_of(relation, &mut variable).map(|sum| (Some(sum), None)),
                Relation::Power(term) => variable(term).map(|symbol| (None, Some(symbol))),
                Relation::Multiple(..) => None,
            });
        }
        for (sum, power) in found.into_iter().flatten() {
            sum.into_iter().for_each(|sum| self.constraints.add(sum));
            if let Some(symbol) = power {
                self.constraints.add(Sum::symbol(symbol));
                self.constraints.add_power(symbol);
            }
        }
    }

    /// What is known of the launch alone.
    fn left_relations(&mut self) -> Vec<Relation> {
        let mut relations = Vec::new();
        let terms: Vec<Symbol> = self.constraints.spoken_of().into_iter().filter(is_of_launch).collect();
        for &symbol in &terms {
            let Symbol::Launch(term) = symbol else { continue };
            // Who knows a number needs no relation to others.
            if has_one_value(self.constraints.bounds(&Sum::symbol(symbol))) {
                self.constraints.project(symbol);
                continue;
            }
            let divisor = self.constraints.divisor(symbol);
            if divisor > 1 {
                relations.push(Relation::Multiple(term, divisor));
            }
        }
        while let Some(symbol) = self.next_to_leave() {
            self.constraints.project(symbol);
        }
        let constraints = &self.constraints;
        for symbol in constraints.powers() {
            let Symbol::Launch(term) = symbol else { continue };
            if constraints.implies(&Sum::symbol(symbol)) {
                relations.push(Relation::Power(term));
            }
        }
        let mut sums: Vec<Sum> = constraints.all().to_vec();
        sums.sort_by_key(|sum| std::cmp::Reverse((sum.terms().len(), sum.plus.abs())));
        let mut at = 0;
        while at < sums.len() {
            let sum = sums.remove(at);
            // Numbers are compared in 64 bits with a sign.
            let largest = Sum::number(i128::from(i64::MAX));
            let fits = sum.symbols().all(|symbol| {
                largest.minus(&Sum::symbol(symbol)).is_some_and(|distance| constraints.implies(&distance))
            });
            if says_something(&sum) && fits && !constraints.implied_by(&Inequalities::from(sums.clone()), &sum) {
                sums.insert(at, sum);
                at += 1;
            }
        }
        sums.reverse();
        sums.truncate(MOST_RELATIONS);
        relations.extend(sums.iter().filter_map(relation));
        relations
    }

    /// A symbol that is none of the launch, first one that is equal to something.
    fn next_to_leave(&self) -> Option<Symbol> {
        let open: Vec<Symbol> =
            self.constraints.spoken_of().into_iter().filter(|symbol| !is_of_launch(symbol)).collect();
        let equal = open.iter().find(|&&symbol| self.constraints.has_equal(symbol));
        equal.or(open.first()).copied()
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
}

fn is_of_launch(symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Launch(_))
}

/// Whether a sum is short, and more than what types say.
fn says_something(sum: &Sum) -> bool {
    let is_of_size = matches!(sum.multiple_of(), Some(Symbol::Launch(Term::Size(_))));
    let far = if is_of_size { FAR_FOR_SIZES } else { FAR };
    sum.terms().len() <= MOST_TERMS && sum.plus.abs() < far
}

fn has_one_value(bounds: (Option<i128>, Option<i128>)) -> bool {
    matches!(bounds, (Some(least), Some(most)) if least == most)
}

/// Whether a relation holds wherever others do, of a launch whose known sizes and arguments `value` gives.
pub(in crate::launch) fn implies(all: &[Relation], relation: &Relation, value: impl Fn(Term) -> Option<i128>) -> bool {
    let Some(goal) = sum_of(relation, &mut |term| Some(Symbol::Launch(*term))) else { return false };
    let mut sums: Vec<Sum> = all.iter().filter_map(|it| sum_of(it, &mut |term| Some(Symbol::Launch(*term)))).collect();
    for symbol in goal.symbols().collect::<Vec<_>>() {
        let Symbol::Launch(term) = symbol else { continue };
        let number = value(term).map(Sum::number);
        let apart = number.and_then(|number| Sum::symbol(symbol).minus(&number));
        sums.extend(apart.iter().cloned().chain(apart.iter().filter_map(|apart| apart.times(-1))));
        if matches!(term, Term::Size(_)) {
            sums.push(Sum::symbol(symbol).plus_number(-1));
        }
    }
    inequalities::implies(&Inequalities::from(sums).alone(), &goal)
}

/// The sum that a relation says is not negative.
fn sum_of(relation: &Relation, symbol: &mut impl FnMut(&Term) -> Option<Symbol>) -> Option<Sum> {
    let Relation::NotNegative { terms, plus } = relation else { return None };
    let mut sum = Sum::number(*plus);
    for (factor, product) in terms {
        let mut made = Sum::number(*factor);
        for term in product {
            made = made.product(&Sum::symbol(symbol(term)?))?;
        }
        sum = sum.plus(&made)?;
    }
    Some(sum)
}

/// A sum of values of the launch that is not negative.
fn relation(sum: &Sum) -> Option<Relation> {
    let term = |symbol: Symbol| match symbol {
        Symbol::Launch(term) => Some(term),
        _ => None,
    };
    let terms = sum
        .terms()
        .iter()
        .map(|&(product, factor)| Some((factor, product.symbols().map(term).collect::<Option<_>>()?)));
    Some(Relation::NotNegative { terms: terms.collect::<Option<_>>()?, plus: sum.plus })
}
