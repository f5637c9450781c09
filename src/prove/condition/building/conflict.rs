//! The condition that two accesses conflict.

use super::facts;
use super::groups;
use super::meeting;
use super::tickets;
use crate::calculus::{Expr, ExprId, Space};
use crate::memory_model::{Level, both_atomic};
use crate::protocol::{Fact, LoopId, Protocol, Relational};
use crate::prove::condition::asking::oracle::Oracle;
use crate::prove::condition::asking::sampling;
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::condition::values::builder::Builder;
use crate::prove::hand_over::Order;
use crate::prove::program_point::{ProgramPoint, relations};
use crate::prove::state::poly::{Atom, IDS, Monomial, PIECES, Poly, Side, gcd_of};
use crate::prove::state::{Alternative, Literal};
use crate::prove::words::words;
use crate::prove::{Assumption, Open, Pair, Scope};

/// Whether the state is for a search, or for the checker, which has no use for hints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::prove::condition) enum Hints {
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

pub(in crate::prove::condition) fn build<'a>(
    protocol: &'a Protocol,
    pair: &Pair,
    scope: &'a Scope,
    order: &Order,
    oracle: Oracle<'a>,
    hints: Hints,
) -> Result<Builder<'a>, Open> {
    let mut builder = Builder::new(protocol, pair.level, scope, oracle);
    builder.launch.closest = pair.groups.closest(pair.level);
    let accesses = [&protocol.accesses[pair.first], &protocol.accesses[pair.second]];
    let cells = match order {
        // They cannot conflict, whatever else holds.
        Order::Always(assumptions) => {
            builder.draft.assumptions.extend(assumptions.iter().cloned());
            builder.is_ordered = true;
            builder.draft.disjunction(Vec::new());
            return Ok(builder);
        }
        Order::Unless(cells) => cells,
    };
    facts::assume_launch(&mut builder);
    enter_loops(&mut builder, pair, [&accesses[0].loops, &accesses[1].loops]).ok_or_else(out_of_range)?;
    for (env, (access, id)) in accesses.iter().zip([pair.first, pair.second]).enumerate() {
        facts::assume(&mut builder, env, ProgramPoint::Access(id), &access.loops, &access.guards);
    }
    builder.launch_bounds().ok_or_else(out_of_range)?;
    builder.coordinates().ok_or_else(out_of_range)?;
    for (env, access) in accesses.iter().enumerate() {
        facts::assume_guards(&mut builder, env, &access.loops, &access.guards);
    }
    if builder.has_wrapped {
        // What a later guard or the test of a loop says may show that it did not wrap: `i < n` that `n - i` did not.
        builder.memoised.forget_values();
        for (env, access) in accesses.iter().enumerate() {
            facts::assume_guards(&mut builder, env, &access.loops, &access.guards);
        }
    }
    builder.draft.look_beyond_extrema().ok_or_else(out_of_range)?;
    for fact in relations(protocol, pair) {
        facts::relate(&mut builder, fact);
    }
    tickets::assume(&mut builder, pair);
    for each in cells {
        facts::tell_apart(&mut builder, each);
    }
    builder.draft.promote_signs();
    groups::assume_groups(&mut builder, pair.groups).ok_or_else(out_of_range)?;
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
    builder.draft.state.equations.insert(0, equation);
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
        let known = (builder.draft.canonical.len(), builder.draft.aliases.len());
        for (env, expr) in exprs.into_iter().enumerate() {
            offsets[env] = builder.value(expr, env)?;
        }
        if known == (builder.draft.canonical.len(), builder.draft.aliases.len()) && !builder.memoised.values.is_empty()
        {
            break;
        }
        builder.memoised.forget_values();
    }
    let normal = [builder.draft.settled(&offsets[0])?, builder.draft.settled(&offsets[1])?];
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
    builder.draft.literal(Literal::Zero(first.minus(&second)?));
    Some([one, other])
}

/// Drops disjunctions that only say what a piece is that occurs nowhere else: an offset is read several times,
/// until its digits are settled, and its pieces are made anew each time. What HULL says of such a piece goes with it.
fn drop_unused_pieces(builder: &mut Builder) {
    let hulls: Vec<Poly> = builder.draft.pieces.hulls.iter().filter_map(|fact| builder.draft.normal(fact)).collect();
    let state = &builder.draft.state;
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
    builder.draft.state.early = keep[..builder.draft.state.early].iter().filter(|kept| **kept).count();
    let mut keep = keep.into_iter();
    builder.draft.state.disjunctions.retain(|_| keep.next().unwrap_or(true));
    let is_of_dropped = |fact: &Poly| dropped.iter().flatten().any(|&atom| fact.mentions(atom));
    builder.draft.state.facts.retain(|fact| !(hulls.contains(fact) && is_of_dropped(fact)));
}

fn mentions(disjunction: &[Alternative], atom: Atom) -> bool {
    disjunction.iter().flatten().any(|literal| literal.poly().mentions(atom))
}

/// Equations of digits, everything in normal form, hints.
pub(in crate::prove::condition) fn finish(builder: &mut Builder, hints: Hints) -> Option<()> {
    let mut twins = Vec::new();
    let mut single = Vec::new();
    for definition in builder.draft.digits.definitions.values() {
        let normal = |side: usize| definition[side].as_ref().map(|poly| builder.draft.normal(poly));
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
        if !equation.is_zero() && !builder.draft.state.equations.contains(&equation) {
            builder.draft.state.equations.push(equation);
        }
    }
    relate_guards(builder)?;
    note_toggles(builder)?;
    if hints == Hints::Wanted {
        builder.draft.state.orders = orders(builder)?;
        builder.draft.state.samples = sampling::draw(&builder.draft, &[], ROUNDS);
    }
    Some(())
}

/// What both threads find equal to one value is equal: of two equations that are alike but for the thread, and that share
/// a value of all threads, the difference is an equation between the threads, which splits.
///
/// *Use.* `index == half` after a loop that leaves `index` at another place in each thread.
fn relate_guards(builder: &mut Builder) -> Option<()> {
    let equations = &builder.draft.state.equations;
    let mut related = Vec::new();
    for first in equations.iter().filter(|equation| shares_a_value(equation)) {
        let terms = first.terms().iter().map(|&(monomial, coefficient)| Some((other_side(monomial)?, coefficient)));
        let second = Poly::from_terms(terms.collect::<Option<Vec<_>>>()?)?;
        if equations.contains(&second) {
            related.push(first.minus(&second)?);
        }
    }
    related.retain(|equation| !builder.draft.state.has_equation(equation));
    builder.draft.state.equations.extend(related);
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
    for index in 0..builder.draft.state.facts.len() {
        let value = Poly::constant(1).minus(&builder.draft.state.facts[index])?;
        let Some(atom) = value.as_atom() else { continue };
        let known = builder.draft.state.toggles.contains(&value);
        if !atom.is_private() && builder.draft.state.non_negative.contains(atom) && !known {
            builder.draft.state.toggles.push(value);
        }
    }
    Some(())
}

/// Named values that both threads have, shortest first.
fn orders(builder: &Builder) -> Option<Vec<(Poly, Poly)>> {
    let mut orders: Vec<(Poly, Poly)> = Vec::new();
    for pair in builder.orders.values() {
        if let [Some(first), Some(second)] = pair {
            let pair = (builder.draft.normal(first)?, builder.draft.normal(second)?);
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
        builder.draft.readings.insert(Reading::Aligned);
        builder.draft.assumptions.insert(Assumption::Aligned(builder.protocol.arrays[accesses[0].array].name.clone()));
        if sizes == [unit; 2] && both_atomic(accesses[0].kind, accesses[1].kind, pair.level) {
            // Atomics that touch a common byte are to one cell.
            builder.is_ordered = true;
            builder.draft.disjunction(Vec::new());
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
        let byte = builder.draft.atom(IDS, Key::Byte, side, "byte", Source::Below(limit.clone()))?;
        builder.draft.set_non_negative(byte);
        builder.draft.fact(limit.plus_constant(-1)?.minus(&Poly::atom(byte))?);
        let sign = if side == Side::First { 1 } else { -1 };
        equation = equation.plus(&Poly::atom(byte).scaled(sign * unit / builder.unit)?)?;
    }
    // The points know nothing of the bytes; they can be anything in range, and 0 is.
    for side in Side::BOTH {
        if let Some(byte) =
            builder.draft.atoms.names.iter().find(|entry| entry.0.side() == Some(side) && entry.1.starts_with("byte."))
        {
            let byte = *byte.0;
            builder.draft.state.samples.define(byte, &Poly::ZERO);
        }
    }
    Some(equation)
}

/// Whether an offset is a multiple of `unit` wherever what all threads have in common is.
fn may_be_multiple(offset: &Poly, unit: i64) -> bool {
    let is_shared = |monomial: Monomial| monomial.atoms().any(|atom| !atom.is_private());
    offset.terms().iter().all(|&(monomial, coefficient)| coefficient % unit == 0 || is_shared(monomial))
}

/// What is assumed of launches, said of one thread.
pub(in crate::prove::condition) fn assumed<'p>(protocol: &'p Protocol, scope: &'p Scope) -> Builder<'p> {
    let mut builder = Builder::new(protocol, Level::Block, scope, Oracle::searching());
    facts::assume_launch(&mut builder);
    facts::assume(&mut builder, 0, ProgramPoint::Entry, &[], &[]);
    builder
}

pub(in crate::prove::condition) fn has_a_point(protocol: &Protocol, scope: &Scope) -> bool {
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
    sampling::draw(&builder.draft, &constants, VACUITY_ROUNDS).count() > 0 && has_a_pair(protocol, scope, &constants)
}

/// Whether two distinct threads, of one block or of two, can satisfy the formulas about two threads that are stated.
fn has_a_pair(protocol: &Protocol, scope: &Scope, constants: &[i64]) -> bool {
    let is_formula = |fact: &&Fact| matches!(protocol.relation(fact.cond), Some(Relational::Formula(_)));
    let formulas: Vec<&Fact> = protocol.facts.iter().filter(|fact| fact.basis.is_told()).filter(is_formula).collect();
    formulas.is_empty()
        || [Level::Block, Level::Grid].into_iter().any(|level| {
            let mut builder = Builder::new(protocol, level, scope, Oracle::searching());
            facts::assume_launch(&mut builder);
            for env in [0, 1] {
                facts::assume(&mut builder, env, ProgramPoint::Entry, &[], &[]);
            }
            formulas.iter().for_each(|fact| facts::relate(&mut builder, fact));
            builder.coordinates().is_some() && sampling::has_two_threads(&builder.draft, constants, VACUITY_ROUNDS)
        })
}
