//! The condition that two accesses conflict.

use super::builder::Key;
use super::builder::{Builder, Env, EnvId};
use super::meeting;
use super::oracle::Oracle;
use super::sampling;
use super::sampling::Source;
use super::readings::Reading;
use super::tickets;
use super::truth::Polarity;
use crate::calculus::{Expr, ExprId, Space};
use crate::memory_model::{Level, both_atomic};
use crate::protocol::{Fact, Guard, LoopId, Protocol, Relational};
use crate::prove::hand_over::{Cells, Order};
use crate::prove::state::poly::{Atom, IDS, Monomial, PIECES, Poly, Side, gcd_of};
use crate::prove::state::{Alternative, Literal};
use crate::prove::program_point::{ProgramPoint, relations, stated, stated_relation};
use crate::prove::words::words;
use crate::prove::{Assumption, Open, Pair, Scope};

/// Whether the state is for a search, or for the checker, which has no use for hints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hints {
    Wanted,
    Unwanted,
}

/// Passes over the expressions until every value is read in the digits that it was divided into.
const PASSES: usize = 4;
/// Rounds of points for the search.
const ROUNDS: u64 = 8;
/// Rounds of points before assumptions are taken to be contradictory.
const VACUITY_ROUNDS: u64 = 400;

fn out_of_range() -> Open {
    Open::NotExpressible("numbers or terms out of range".to_owned())
}

pub(super) fn build<'a>(
    protocol: &'a Protocol,
    pair: &Pair,
    scope: &'a Scope,
    order: &Order,
    oracle: Oracle<'a>,
    hints: Hints,
) -> Result<Builder<'a>, Open> {
    let mut builder = Builder::new(protocol, pair.level, scope, oracle);
    builder.closest = pair.groups.closest(pair.level);
    let accesses = [&protocol.accesses[pair.first], &protocol.accesses[pair.second]];
    for side in Side::BOTH {
        builder.environments.push(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true });
    }
    let cells = match order {
        // They cannot conflict, whatever else holds.
        Order::Always(assumptions) => {
            builder.assumptions.extend(assumptions.iter().cloned());
            builder.is_ordered = true;
            builder.disjunction(Vec::new());
            return Ok(builder);
        }
        Order::Unless(cells) => cells,
    };
    builder.assume_launch_facts();
    enter_loops(&mut builder, pair, [&accesses[0].loops, &accesses[1].loops]).ok_or_else(out_of_range)?;
    for (env, (access, id)) in accesses.iter().zip([pair.first, pair.second]).enumerate() {
        builder.assume_facts(env, ProgramPoint::Access(id), &access.loops, &access.guards);
    }
    builder.launch_bounds().ok_or_else(out_of_range)?;
    builder.coordinates().ok_or_else(out_of_range)?;
    for (env, access) in accesses.iter().enumerate() {
        builder.assume_guards(env, &access.loops, &access.guards);
    }
    if builder.has_wrapped {
        // What a later guard or the test of a loop says may show that it did not wrap: `i < n` that `n - i` did not.
        builder.values.clear();
        builder.residues.clear();
        for (env, access) in accesses.iter().enumerate() {
            builder.assume_guards(env, &access.loops, &access.guards);
        }
    }
    builder.look_beyond_extrema().ok_or_else(out_of_range)?;
    for fact in relations(protocol, pair) {
        builder.relate(fact);
    }
    tickets::assume(&mut builder, pair);
    for each in cells {
        builder.tell_apart(each);
    }
    builder.promote_signs();
    builder.assume_groups(pair.groups).ok_or_else(out_of_range)?;
    meeting::assume(&mut builder, pair);
    meeting::assume_apart(&mut builder, pair);
    let offsets = offsets(&mut builder, [accesses[0].offset, accesses[1].offset])
        .ok_or_else(|| Open::NotExpressible(words(protocol, accesses[0].offset)))?;
    let offsets = match protocol.arrays[accesses[0].array].space {
        Space::Distributed => one_home(&mut builder, &offsets).ok_or_else(out_of_range)?,
        _ => offsets,
    };
    finish(&mut builder, hints).ok_or_else(out_of_range)?;
    let equation = conflict(&mut builder, pair, &offsets).ok_or_else(out_of_range)?;
    builder.state.equations.insert(0, equation);
    drop_unused_pieces(&mut builder);
    Ok(builder)
}

/// Iteration numbers of the loops around either access.
fn enter_loops(builder: &mut Builder, pair: &Pair, loops: [&Vec<LoopId>; 2]) -> Option<()> {
    meeting::enter_exactly_apart(builder, pair, loops)?;
    for (depth, &id) in loops[0].iter().enumerate() {
        let site = builder.protocol.loops[id].site;
        if builder.has_entered(id, 0) {
            continue;
        }
        let relation = pair.meeting.relations.iter().find(|entry| entry.0 == site).map(|entry| entry.1);
        match relation {
            Some(relation) if loops[1].contains(&id) => builder.enter_together(id, relation, depth)?,
            _ => builder.enter_privately(id, depth, 0)?,
        }
    }
    for (depth, &id) in loops[1].iter().enumerate() {
        if !builder.has_entered(id, 1) {
            builder.enter_privately(id, depth, 1)?;
        }
    }
    Some(())
}

/// Offsets of both accesses; repeated until every value is read in its digits.
fn offsets(builder: &mut Builder, exprs: [ExprId; 2]) -> Option<[Poly; 2]> {
    let mut offsets = [Poly::ZERO, Poly::ZERO];
    for _ in 0..PASSES {
        let known = (builder.canonical.len(), builder.aliases.len());
        for (env, expr) in exprs.into_iter().enumerate() {
            offsets[env] = builder.value(expr, env)?;
        }
        if known == (builder.canonical.len(), builder.aliases.len()) && !builder.values.is_empty() {
            break;
        }
        builder.values.clear();
        builder.residues.clear();
    }
    let normal = [builder.settled(&offsets[0])?, builder.settled(&offsets[1])?];
    Some(normal)
}

/// HOMES: an array that a cluster shares has one copy for each block, [`Space::HOME`] bytes apart, which is more than any
/// offset into one. So two accesses touch a common byte only if they are to one copy, at offsets into it that overlap.
///
/// *Use.* `tile[threadIdx.x]` written by all blocks of a cluster: the ranks differ, whatever the offsets are.
/// *Trap.* An offset that leaves the copy: what lies there is no part of the array, and nothing is said of it.
fn one_home(builder: &mut Builder, offsets: &[Poly; 2]) -> Option<[Poly; 2]> {
    let home = i64::try_from(Space::HOME).ok()?;
    let split = |offset: &Poly| {
        let (homes, rest): (Vec<_>, Vec<_>) = offset.terms().iter().partition(|(_, factor)| factor % home == 0);
        let homes = homes.into_iter().map(|(monomial, factor)| (monomial, factor / home)).collect();
        Some((Poly::from_terms(homes)?, Poly::from_terms(rest)?))
    };
    let [(first, one), (second, other)] = [split(&offsets[0])?, split(&offsets[1])?];
    builder.literal(Literal::Zero(first.minus(&second)?));
    Some([one, other])
}

/// Drops disjunctions that only say what a piece is that occurs nowhere else: an offset is read several times,
/// until its digits are settled, and its pieces are made anew each time. What HULL says of such a piece goes with it.
fn drop_unused_pieces(builder: &mut Builder) {
    let hulls: Vec<Poly> = builder.hulls.iter().filter_map(|fact| builder.normal(fact)).collect();
    let state = &builder.state;
    let mentioned = |atom: Atom| state.disjunctions.iter().filter(|each| mentions(each, atom)).count();
    let elsewhere = |atom: Atom| {
        let facts = state.facts.iter().filter(|fact| !hulls.contains(fact));
        let equations = state.equations.iter().chain(facts);
        equations
            .chain(state.xors.iter().flat_map(|xor| [&xor.value, &xor.argument, &xor.mask]))
            .any(|poly| poly.mentions(atom))
    };
    let is_unused = |atom: Atom| atom.level() == PIECES && mentioned(atom) == 1 && !elsewhere(atom);
    let unused = |disjunction: &Vec<Alternative>| {
        let atoms = disjunction.iter().flatten().flat_map(|literal| literal.poly().atoms());
        atoms.filter(|&atom| is_unused(atom)).collect::<Vec<Atom>>()
    };
    let dropped: Vec<Vec<Atom>> = state.disjunctions.iter().map(unused).collect();
    let keep: Vec<bool> = dropped.iter().map(Vec::is_empty).collect();
    builder.state.early = keep[..builder.state.early].iter().filter(|kept| **kept).count();
    let mut keep = keep.into_iter();
    builder.state.disjunctions.retain(|_| keep.next().unwrap_or(true));
    let is_of_dropped = |fact: &Poly| dropped.iter().flatten().any(|&atom| fact.mentions(atom));
    builder.state.facts.retain(|fact| !(hulls.contains(fact) && is_of_dropped(fact)));
}

fn mentions(disjunction: &[Alternative], atom: Atom) -> bool {
    disjunction.iter().flatten().any(|literal| literal.poly().mentions(atom))
}

/// Equations of digits, everything in normal form, hints.
pub(super) fn finish(builder: &mut Builder, hints: Hints) -> Option<()> {
    let mut twins = Vec::new();
    let mut single = Vec::new();
    for definition in builder.definitions.values() {
        let normal = |side: usize| definition[side].as_ref().map(|poly| builder.normal(poly));
        let (first, second) = (normal(0), normal(1));
        if let (Some(first), Some(second)) = (&first, &second) {
            let (first, second) = (first.as_ref()?, second.as_ref()?);
            twins.push(first.minus(second)?);
        }
        for definition in [first, second].into_iter().flatten() {
            single.push(definition?);
        }
    }
    for equation in twins.into_iter().chain(single) {
        if !equation.is_zero() && !builder.state.equations.contains(&equation) {
            builder.state.equations.push(equation);
        }
    }
    relate_guards(builder)?;
    note_toggles(builder)?;
    if hints == Hints::Wanted {
        builder.state.orders = orders(builder)?;
        builder.state.samples = sampling::draw(builder, &[], ROUNDS);
    }
    Some(())
}

/// What both threads find equal to one value is equal: of two equations that are alike but for the thread, and that share
/// a value of all threads, the difference is an equation between the threads, which splits.
///
/// *Use.* `index == half` after a loop that leaves `index` at another place in each thread.
fn relate_guards(builder: &mut Builder) -> Option<()> {
    let equations = &builder.state.equations;
    let mut related = Vec::new();
    for first in equations.iter().filter(|equation| shares_a_value(equation)) {
        let terms = first.terms().iter().map(|&(monomial, coefficient)| Some((other_side(monomial)?, coefficient)));
        let second = Poly::from_terms(terms.collect::<Option<Vec<_>>>()?)?;
        if equations.contains(&second) {
            related.push(first.minus(&second)?);
        }
    }
    related.retain(|equation| !builder.state.has_equation(equation));
    builder.state.equations.extend(related);
    Some(())
}

/// Whether an equation is one of the first thread's values and of values of all threads.
fn shares_a_value(equation: &Poly) -> bool {
    let private: Vec<Atom> = equation.atoms().into_iter().filter(|atom| atom.is_private()).collect();
    let is_shared = |monomial: Monomial| monomial != Monomial::ONE && monomial.private_part() == Monomial::ONE;
    private.len() > 1
        && private.iter().all(|atom| atom.side() == Some(Side::First))
        && equation.terms().iter().any(|term| is_shared(term.0))
}

/// The same product of the other thread's values.
fn other_side(monomial: Monomial) -> Option<Monomial> {
    monomial.atoms().try_fold(Monomial::ONE, |product, atom| {
        product.times(Monomial::of(if atom.is_private() { atom.twin() } else { atom }))
    })
}

/// Uniform values that are 0 or 1 can be split into two cases.
fn note_toggles(builder: &mut Builder) -> Option<()> {
    for index in 0..builder.state.facts.len() {
        let value = Poly::constant(1).minus(&builder.state.facts[index])?;
        let Some(atom) = value.as_atom() else { continue };
        let known = builder.state.toggles.contains(&value);
        if !atom.is_private() && builder.state.non_negative.contains(atom) && !known {
            builder.state.toggles.push(value);
        }
    }
    Some(())
}

/// Named values that both threads have, shortest first.
fn orders(builder: &Builder) -> Option<Vec<(Poly, Poly)>> {
    let mut orders: Vec<(Poly, Poly)> = Vec::new();
    for pair in builder.orders.values() {
        if let [Some(first), Some(second)] = pair {
            let pair = (builder.normal(first)?, builder.normal(second)?);
            let plain = |atom: &Atom| !atom.is_private() || atom.level() == IDS;
            if !orders.contains(&pair) && pair.0.is_private() && pair.0.atoms().iter().all(plain) {
                orders.push(pair);
            }
        }
    }
    orders.sort_by_key(|pair| pair.0.size());
    orders.truncate(3);
    Some(orders)
}

/// BYTES (docs/RULES.md, "2.1 BYTES"): the equation that says that some byte is in both ranges.
///
/// It is about units of as many bytes as divide both sizes and the difference of the offsets: where that is the size of
/// both accesses, equal bytes mean equal elements. The difference is known to be a multiple by the coefficients of
/// the offsets, or, ALIGNED, because both types ask for it: accesses at other addresses are undefined, and the address that the
/// array begins at does not count in a difference. That is assumed only where a launch can choose sizes and
/// arguments for which it holds.
///
/// *Use.* `*(float4 *)&p[row * pitch + 4 * t]`, whose rows can overlap only where `pitch` is no multiple of 4.
/// *Trap.* A `float4` stored at element `i` rather than `4*i`, and seen as a `float` by another thread; no launch makes
/// `*(float4 *)&p[t]` defined for two threads, and nothing is to be proved of it.
fn conflict(builder: &mut Builder, pair: &Pair, offsets: &[Poly; 2]) -> Option<Poly> {
    let accesses = [pair.first, pair.second].map(|id| &builder.protocol.accesses[id]);
    let sizes = accesses.map(|access| i64::from(access.bytes));
    let by_form = offsets.iter().map(Poly::content).fold(0, gcd_of);
    let asked = accesses.iter().map(|access| i64::from(access.align)).fold(0, gcd_of);
    let by_type = if offsets.iter().all(|offset| may_be_multiple(offset, asked)) { asked } else { 1 };
    let among_sizes = |multiple: i64| sizes.into_iter().fold(multiple, gcd_of);
    let unit = among_sizes(if by_form == 0 { 0 } else { by_form / gcd_of(by_form, by_type) * by_type });
    if unit > among_sizes(by_form) {
        builder.readings.insert(Reading::Aligned);
        builder.assumptions.insert(Assumption::Aligned(builder.protocol.arrays[accesses[0].array].name.clone()));
        if sizes == [unit; 2] && both_atomic(accesses[0].kind, accesses[1].kind, pair.level) {
            // Atomics that touch a common byte are to one cell.
            builder.is_ordered = true;
            builder.disjunction(Vec::new());
        }
    }
    let difference = offsets[0].minus(&offsets[1])?;
    let is_whole = offsets.iter().all(|offset| offset.content() % unit == 0);
    builder.unit = if is_whole { unit } else { 1 };
    let mut equation = difference.divide_exactly(&Poly::constant(builder.unit))?;
    for (side, size) in Side::BOTH.into_iter().zip(sizes) {
        let units = size / unit;
        if units == 1 {
            continue;
        }
        let limit = Poly::constant(units);
        let byte = builder.atom(IDS, Key::Byte, side, "byte", Source::Below(limit.clone()))?;
        builder.set_non_negative(byte);
        builder.fact(limit.plus_constant(-1)?.minus(&Poly::atom(byte))?);
        let sign = if side == Side::First { 1 } else { -1 };
        equation = equation.plus(&Poly::atom(byte).scaled(sign * unit / builder.unit)?)?;
    }
    // The points know nothing of the bytes; they can be anything in range, and 0 is.
    for side in Side::BOTH {
        if let Some(byte) =
            builder.names.iter().find(|entry| entry.0.side() == Some(side) && entry.1.starts_with("byte."))
        {
            let byte = *byte.0;
            builder.state.samples.define(byte, &Poly::ZERO);
        }
    }
    Some(equation)
}

/// Whether an offset is a multiple of `unit` wherever what all threads have in common is.
fn may_be_multiple(offset: &Poly, unit: i64) -> bool {
    let is_shared = |monomial: Monomial| monomial.atoms().any(|atom| !atom.is_private());
    offset.terms().iter().all(|&(monomial, coefficient)| coefficient % unit == 0 || is_shared(monomial))
}

impl Builder<'_> {
    /// Facts that hold for every thread: those that are stated without guards over uniform values.
    pub(super) fn assume_launch_facts(&mut self) {
        for fact in &self.protocol.facts {
            if self.is_of_the_launch(fact) {
                self.state_fact(fact, 0);
            }
        }
    }

    fn is_of_the_launch(&mut self, fact: &Fact) -> bool {
        fact.basis.is_told() && fact.guards.is_empty() && fact.loops.is_empty() && self.is_uniform(fact.cond, None)
    }

    /// Facts that stand on the path to a program point.
    pub(super) fn assume_facts(&mut self, env: EnvId, point: ProgramPoint, loops: &[LoopId], guards: &[Guard]) {
        for (index, fact) in self.protocol.facts.iter().enumerate() {
            if point.may_use(index, fact) && fact.is_passed(loops, guards) && !self.is_of_the_launch(fact) {
                self.state_fact(fact, env);
            }
        }
    }

    pub(super) fn state_fact(&mut self, fact: &Fact, env: EnvId) {
        let relates = self.protocol.relation(fact.cond).is_some();
        if relates || matches!(self.protocol.exprs[fact.cond], Expr::Int(1, _)) {
            return;
        }
        if fact.basis.is_told() && !self.is_of_fixed_sizes(fact.cond) {
            self.assumptions.insert(stated(self.protocol, fact));
        }
        self.assume(fact.cond, env);
    }

    /// Whether a condition is about nothing but sizes that the launches fix: what it says of them is no assumption.
    fn is_of_fixed_sizes(&self, cond: ExprId) -> bool {
        let mut is_fixed = true;
        self.protocol.exprs.visit(cond, |_, node| {
            is_fixed &= match node {
                Expr::Geometry(var) => self.fixed(*var).is_some(),
                Expr::Int(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::Unary(..) | Expr::Select(..) => true,
                Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Call(..) => false,
            };
        });
        is_fixed
    }

    /// The cells of two flags differ.
    fn tell_apart(&mut self, cells: &Cells) {
        let Some(difference) = self.difference(cells) else { return };
        let (above, below) = (difference.plus_constant(-1), difference.negated().and_then(|it| it.plus_constant(-1)));
        let (Some(above), Some(below)) = (above, below) else { return };
        self.disjunction(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]]);
        self.assumptions.extend(cells.assumptions.iter().cloned());
        self.is_ordered = true;
    }

    fn difference(&mut self, cells: &Cells) -> Option<Poly> {
        self.value(cells.set, cells.setter)?.minus(&self.value(cells.wait, 1 - cells.setter)?)
    }

    /// What a fact says about the values of two threads, where both have passed it in the same turns.
    pub(super) fn relate(&mut self, fact: &Fact) {
        let said = match self.protocol.relation(fact.cond) {
            Some(Relational::Distinct(value) | Relational::Uniform(value)) => self.relate_values(value, fact.cond),
            Some(Relational::Formula(cond)) => {
                for env in [0, 1] {
                    let alternatives = self.truth(cond, env, Polarity::Holds);
                    self.disjunction(alternatives);
                }
                Some(())
            }
            None => None,
        };
        if said.is_some() && fact.basis.is_told() {
            self.assumptions.insert(stated_relation(self.protocol, fact));
        }
    }

    fn relate_values(&mut self, value: ExprId, cond: ExprId) -> Option<()> {
        let difference = self.value(value, 0)?.minus(&self.value(value, 1)?)?;
        if difference.is_zero() {
            // That a uniform value differs between threads would prove anything.
            return None;
        }
        if let Some(Relational::Uniform(_)) = self.protocol.relation(cond) {
            self.literal(Literal::Zero(difference));
            return Some(());
        }
        let above = difference.plus_constant(-1)?;
        let below = difference.negated()?.plus_constant(-1)?;
        self.disjunction(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]]);
        Some(())
    }

    /// Guards of a place, and the tests of the loops around it.
    pub(super) fn assume_guards(&mut self, env: EnvId, loops: &[LoopId], guards: &[Guard]) {
        let tests: Vec<ExprId> = loops.iter().map(|&id| self.protocol.loops[id].guard).collect();
        let conditions = guards.iter().map(|guard| guard.cond).chain(tests);
        let mut seen = Vec::new();
        for cond in conditions {
            if !seen.contains(&cond) {
                seen.push(cond);
                self.assume(cond, env);
            }
        }
    }
}

/// What is assumed of launches, said of one thread.
pub(super) fn assumed<'p>(protocol: &'p Protocol, scope: &'p Scope) -> Builder<'p> {
    let mut builder = Builder::new(protocol, Level::Block, scope, Oracle::searching());
    for side in Side::BOTH {
        builder.environments.push(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true });
    }
    builder.assume_launch_facts();
    builder.assume_facts(0, ProgramPoint::Entry, &[], &[]);
    builder
}

pub(super) fn has_a_point(protocol: &Protocol, scope: &Scope) -> bool {
    if protocol.facts.is_empty() {
        return true;
    }
    let builder = assumed(protocol, scope);
    let mut constants = Vec::new();
    for fact in &protocol.facts {
        protocol.exprs.visit(fact.cond, |_, node| {
            if let Expr::Int(value, _) = node
                && let Ok(value) = i64::try_from(*value)
            {
                constants.extend([value, value.saturating_add(1), value.saturating_sub(1), value.saturating_mul(2)]);
            }
        });
    }
    constants.extend([16, 32, 64, 128, 256, 1024]);
    sampling::draw(&builder, &constants, VACUITY_ROUNDS).count() > 0 && has_a_pair(protocol, scope, &constants)
}

/// Whether two distinct threads, of one block or of two, can satisfy the formulas about two threads that are stated.
fn has_a_pair(protocol: &Protocol, scope: &Scope, constants: &[i64]) -> bool {
    let is_formula = |fact: &&Fact| matches!(protocol.relation(fact.cond), Some(Relational::Formula(_)));
    let formulas: Vec<&Fact> = protocol.facts.iter().filter(|fact| fact.basis.is_told()).filter(is_formula).collect();
    formulas.is_empty()
        || [Level::Block, Level::Grid].into_iter().any(|level| {
            let mut builder = Builder::new(protocol, level, scope, Oracle::searching());
            for side in Side::BOTH {
                builder.environments.push(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true });
            }
            builder.assume_launch_facts();
            for env in [0, 1] {
                builder.assume_facts(env, ProgramPoint::Entry, &[], &[]);
            }
            formulas.iter().for_each(|fact| builder.relate(fact));
            builder.coordinates().is_some() && sampling::has_two_threads(&builder, constants, VACUITY_ROUNDS)
        })
}
