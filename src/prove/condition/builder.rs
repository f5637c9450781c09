//! The state under construction: atoms, what they stand for, and what was said about them.
//!
//! A polynomial that this room hands out is the exact value of an expression in one thread, as a
//! mathematical integer; what had to be assumed for that is in `assumptions`. Everything that is put into
//! the state follows from the protocol and those assumptions.

use super::last_iteration::LastTurn;
use super::oracle::Oracle;
use super::sampling::Source;
use super::whole_numbers::in_whole_numbers;
use crate::prove::words::words;
use crate::calculus::{Axis, BinaryOp, ExprId, GeometryVar, ScalarType, VarId};
use crate::memory_model::Level;
use crate::protocol::{LoopId, OpaqueId, Protocol};
use super::readings::Reading;
use crate::prove::state::poly::{Atom, IDS, Poly, Side};
use crate::prove::state::{Alternative, Literal, State, bounded_below};
use crate::prove::{Assumption, Scope};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Position of an environment in [`Builder::environments`].
pub(super) type EnvId = usize;

/// What variables of the protocol stand for at one place of one thread.
#[derive(Clone)]
pub(super) struct Env {
    /// The thread.
    pub(super) side: Side,
    /// Iteration numbers; a loop without one is not around the place.
    pub(super) iterations: Vec<(LoopId, Poly)>,
    /// Values of variables that loops carry; one without a value is unknown here.
    pub(super) carried: Vec<(VarId, Poly)>,
    /// Whether everything translated here is evaluated by the thread.
    pub(super) certain: bool,
}

/// A value that both threads have and that may be divided into digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Named {
    /// An expression of the protocol.
    Expr(ExprId),
    /// The number of the thread within its block.
    Thread,
    /// The position of the block along an axis.
    Block(Axis),
}

impl From<ExprId> for Named {
    fn from(expr: ExprId) -> Self {
        Named::Expr(expr)
    }
}

/// What an atom was made for; equal keys give the two threads' copies one number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Geometry(GeometryVar),
    Param(usize),
    Iteration(LoopId),
    Carried(VarId),
    Opaque(OpaqueId),
    Quotient(Named),
    Remainder(Named),
    Value(ExprId),
    Power(ExprId),
    Function(OpaqueId),
    Byte,
}

/// What was divided, by what and whether rounded down; the quotient and the remainder.
pub(super) type Digits = ((Poly, Poly, bool), (Poly, Poly));

/// A divisor of a value and the digit that it left.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) side: Side,
    pub(super) divisor: Poly,
    pub(super) remainder: Poly,
}

#[derive(Clone)]
pub(super) struct Builder<'a> {
    pub(super) protocol: &'a Protocol,
    pub(super) scope: &'a Scope,
    pub(super) level: Level,
    /// How close the two threads are, where more is known than the level: those of one warp are of one block.
    pub(super) closest: Level,
    pub(super) oracle: Oracle<'a>,
    pub(super) state: State,
    pub(super) names: BTreeMap<Atom, String>,
    pub(super) assumptions: BTreeSet<Assumption>,
    pub(super) environments: Vec<Env>,
    /// The last turns of loops that stand before a place.
    pub(super) last_turns: FxHashMap<(LoopId, EnvId), LastTurn>,
    /// Numbers that loops leave behind.
    pub(super) turned: FxHashMap<OpaqueId, Option<i64>>,
    /// Values of expressions, by environment.
    pub(super) values: FxHashMap<(ExprId, EnvId), Option<Poly>>,
    /// Values modulo two to the width of the type.
    pub(super) residues: FxHashMap<(ExprId, EnvId), Option<Poly>>,
    /// Atoms that were replaced, in order.
    pub(super) aliases: Vec<(Atom, Poly)>,
    /// Values that are to be read as `m*q + r` from now on.
    pub(super) canonical: Vec<(Poly, Poly)>,
    /// Equations that define digits, by the value that was divided.
    pub(super) definitions: BTreeMap<Named, [Option<Poly>; 2]>,
    pub(super) digits: Vec<Digits>,
    pub(super) records: Vec<Record>,
    /// Rules that said something about this condition.
    pub(super) readings: BTreeSet<Reading>,
    /// Values that are powers of two, or zero.
    pub(super) powers: Vec<Poly>,
    pub(super) sources: Vec<(Atom, Source)>,
    pub(super) bounds: FxHashMap<Atom, (Option<i128>, Option<i128>)>,
    /// Atoms for values that are not understood, by expression and what its leaves are.
    pub(super) unknowns: FxHashMap<(Key, Vec<Poly>, Option<Side>), Poly>,
    pub(super) orders: BTreeMap<ExprId, [Option<Poly>; 2]>,
    /// Ids and sizes, as they were made; digits may have replaced them since.
    pub(super) geometry: FxHashMap<(GeometryVar, Option<Side>), Poly>,
    pub(super) params: FxHashMap<usize, Poly>,
    numbers: FxHashMap<(u8, Key), u16>,
    used: [u16; 16],
    taken: BTreeSet<Atom>,
    /// Atoms that are the smaller, or the greater, of two values.
    pub(super) extrema: Vec<(Atom, BinaryOp, [Poly; 2])>,
    /// What HULL says of pieces.
    pub(super) hulls: Vec<Poly>,
    /// Whether some value was read as one that may have wrapped.
    pub(super) has_wrapped: bool,
    /// Whether fences and atomics order the two accesses where points know nothing of it.
    pub(super) is_ordered: bool,
    /// How many bytes apart two offsets are that the equation of the conflict says are 1 apart.
    pub(super) unit: i64,
    pub(super) depth: u32,
}

impl<'a> Builder<'a> {
    pub(super) fn new(protocol: &'a Protocol, level: Level, scope: &'a Scope, oracle: Oracle<'a>) -> Self {
        Builder {
            protocol,
            scope,
            level,
            closest: level,
            oracle,
            state: State::default(),
            names: BTreeMap::new(),
            assumptions: BTreeSet::new(),
            environments: Vec::new(),
            last_turns: FxHashMap::default(),
            turned: FxHashMap::default(),
            values: FxHashMap::default(),
            residues: FxHashMap::default(),
            aliases: Vec::new(),
            canonical: Vec::new(),
            definitions: BTreeMap::new(),
            digits: Vec::new(),
            records: Vec::new(),
            readings: BTreeSet::new(),
            powers: Vec::new(),
            sources: Vec::new(),
            bounds: FxHashMap::default(),
            unknowns: FxHashMap::default(),
            orders: BTreeMap::new(),
            geometry: FxHashMap::default(),
            params: FxHashMap::default(),
            numbers: FxHashMap::default(),
            used: [0; 16],
            taken: BTreeSet::new(),
            extrema: Vec::new(),
            hulls: Vec::new(),
            has_wrapped: false,
            is_ordered: false,
            unit: 1,
            depth: 0,
        }
    }

    // ---- atoms

    /// A new atom; at level 0 both threads share it.
    pub(super) fn atom(&mut self, level: u8, key: Key, side: Side, name: &str, source: Source) -> Option<Atom> {
        let atom = if level == 0 {
            let atom = Atom::uniform(self.used[0]).filter(|_| self.used[0] < 100)?;
            self.used[0] += 1;
            atom
        } else {
            let used = &mut self.used[usize::from(level)];
            let mut number = *self.numbers.entry((level, key.clone())).or_insert_with(|| {
                *used += 1;
                *used - 1
            });
            if Atom::private(level, number, side).is_some_and(|atom| self.taken.contains(&atom)) {
                // A second value of one expression in one thread: its copy in the other is not its twin.
                number = *used;
                *used += 1;
                self.numbers.insert((level, key), number);
            }
            Atom::private(level, number, side)?
        };
        self.taken.insert(atom);
        let mark = ["", ".1", ".2"][if level == 0 { 0 } else { side as usize + 1 }];
        self.names.insert(atom, format!("{name}{mark}"));
        self.sources.push((atom, source));
        Some(atom)
    }

    pub(super) fn set_non_negative(&mut self, atom: Atom) {
        self.state.non_negative.insert(atom);
    }

    pub(super) fn bound(&mut self, atom: Atom, least: Option<i128>, greatest: Option<i128>) {
        self.bounds.insert(atom, (least, greatest));
    }

    // ---- facts

    /// Adds a fact, unless it says nothing new.
    pub(super) fn fact(&mut self, fact: Poly) {
        if let Some(atom) = bounded_below(&fact) {
            self.set_non_negative(atom);
        }
        let trivial = fact
            .terms()
            .iter()
            .all(|&(monomial, coefficient)| coefficient > 0 && self.state.non_negative.contains_all(monomial));
        if !trivial && !self.state.facts.contains(&fact) {
            let whole = in_whole_numbers(&fact);
            self.state.facts.push(fact);
            if let Some(whole) = whole.filter(|whole| !self.state.facts.contains(whole)) {
                self.readings.insert(Reading::Whole);
                self.state.facts.push(whole);
            }
        }
    }

    /// Whether `goal >= 0` is shown.
    pub(super) fn shows(&mut self, goal: &Poly) -> bool {
        if let Some(value) = goal.as_constant() {
            return value >= 0;
        }
        let plain = goal
            .terms()
            .iter()
            .all(|&(monomial, coefficient)| coefficient > 0 && self.state.non_negative.contains_all(monomial));
        plain || self.oracle.shows(goal, &self.state)
    }

    /// Whether `goal >= 1` is shown.
    pub(super) fn shows_positive(&mut self, goal: &Poly) -> bool {
        goal.plus_constant(-1).is_some_and(|goal| self.shows(&goal))
    }

    /// Notes which uniform values are not negative because guards say so: `rows > k` for some `k >= 0`.
    pub(super) fn promote_signs(&mut self) {
        let atoms: Vec<Atom> = self.sources.iter().map(|source| source.0).collect();
        for atom in atoms {
            let open = !atom.is_private() && !self.state.non_negative.contains(atom);
            let replaced = self.aliases.iter().any(|alias| alias.0 == atom);
            if open && !replaced && self.shows(&Poly::atom(atom)) {
                self.set_non_negative(atom);
            }
        }
    }

    /// Adds what a literal says; an equation between uniform values is solved at once.
    pub(super) fn literal(&mut self, literal: Literal) {
        match literal {
            Literal::NonNegative(poly) => self.fact(poly),
            Literal::Zero(poly) => {
                if poly.is_zero() || self.state.equations.contains(&poly) {
                    return;
                }
                if !poly.is_private() && self.solve_uniform(&poly).is_some() {
                    return;
                }
                self.state.equations.push(poly);
            }
        }
    }

    fn solve_uniform(&mut self, equation: &Poly) -> Option<()> {
        let alone = |atom: Atom| equation.terms().iter().filter(|term| term.0.contains(atom)).count() == 1;
        let (atom, coefficient) = equation.terms().iter().find_map(|&(monomial, coefficient)| {
            let atom = monomial.atoms().next().filter(|_| monomial.degree() == 1 && coefficient.abs() == 1)?;
            alone(atom).then_some((atom, coefficient))
        })?;
        let rest = equation.minus(&Poly::atom(atom).scaled(coefficient)?)?;
        let value = rest.scaled(-coefficient)?;
        if let Some(source) = self.sources.iter_mut().find(|source| source.0 == atom) {
            source.1 = Source::Defined(value.clone());
        }
        self.replace(atom, value)
    }

    /// Reads `atom` as `value` from now on, in the state as well.
    pub(super) fn replace(&mut self, atom: Atom, value: Poly) -> Option<()> {
        self.state.substitute(atom, &value)?;
        self.state.facts.retain(|fact| fact.as_constant().is_none_or(|value| value < 0));
        self.aliases.push((atom, value));
        Some(())
    }

    /// Adds a disjunction; one alternative is a conjunction, none a contradiction.
    pub(super) fn disjunction(&mut self, mut alternatives: Vec<Alternative>) {
        for alternative in &mut alternatives {
            // What was made of them since they were read; a literal that grew out of range is dropped.
            *alternative = alternative.iter().filter_map(|literal| literal.map(|poly| self.normal(poly))).collect();
        }
        if alternatives.iter().any(Vec::is_empty) {
            return;
        }
        match alternatives.len() {
            0 => self.state.facts.push(Poly::constant(-1)),
            1 => alternatives.remove(0).into_iter().for_each(|literal| self.literal(literal)),
            _ if self.state.disjunctions.contains(&alternatives) => {}
            _ => self.state.disjunctions.push(alternatives),
        }
    }

    /// Adds a disjunction of which a proof is likely to need every alternative by itself.
    pub(super) fn early_disjunction(&mut self, alternatives: Vec<Alternative>) {
        let known = self.state.disjunctions.len();
        self.disjunction(alternatives);
        if self.state.disjunctions.len() > known
            && let Some(added) = self.state.disjunctions.pop()
        {
            self.state.disjunctions.insert(self.state.early, added);
            self.state.early += 1;
        }
    }

    /// `poly` with every replaced atom read as what it is.
    pub(super) fn normal(&self, poly: &Poly) -> Option<Poly> {
        let mut poly = poly.clone();
        for (atom, value) in &self.aliases {
            if poly.mentions(*atom) {
                poly = poly.substitute(*atom, value)?;
            }
        }
        Some(poly)
    }

    /// A radix worth trying.
    pub(super) fn hint(&mut self, radix: &Poly) {
        if radix.as_constant().is_none() && !radix.is_private() && !self.state.pool.contains(radix) {
            self.state.pool.push(radix.clone());
        }
    }

    /// The proof relies on `expr` not wrapping.
    pub(super) fn assume_no_wrap(&mut self, expr: ExprId) {
        let expression = words(self.protocol, expr);
        let span = self.protocol.spans.get(expr).copied();
        self.assumptions.insert(Assumption::NoUnsignedWrap { expression, span });
    }

    /// The proof relies on `expr`, which is made of ids and sizes, fitting into a narrow type.
    pub(super) fn assume_fits(&mut self, expr: ExprId, bits: u8) {
        let expression = words(self.protocol, expr);
        let span = self.protocol.spans.get(expr).copied();
        self.assumptions.insert(Assumption::FitsInto { expression, bits, span });
    }

    // ---- leaves

    pub(super) fn fixed(&self, var: GeometryVar) -> Option<u32> {
        self.scope.fixed(var, self.protocol.geometry.required_block)
    }

    /// The value of an id or a size in a thread, with its facts.
    pub(super) fn geometry(&mut self, var: GeometryVar, side: Side) -> Option<Poly> {
        let shared = match var {
            GeometryVar::ThreadIdx(_) => false,
            GeometryVar::BlockIdx(_) => self.level != Level::Grid,
            _ => true,
        };
        let key = (var, (!shared).then_some(side));
        if let Some(known) = self.geometry.get(&key) {
            let known = known.clone();
            return self.normal(&known);
        }
        let value = self.make_geometry(var, side, shared)?;
        self.geometry.insert(key, value.clone());
        self.normal(&value)
    }

    fn make_geometry(&mut self, var: GeometryVar, side: Side, shared: bool) -> Option<Poly> {
        let (letter, axis, extent) = match var {
            GeometryVar::ThreadIdx(axis) => ("threadIdx", axis, Some(GeometryVar::BlockDim(axis))),
            GeometryVar::BlockIdx(axis) => ("blockIdx", axis, Some(GeometryVar::GridDim(axis))),
            GeometryVar::BlockDim(axis) => ("blockDim", axis, None),
            GeometryVar::GridDim(axis) => ("gridDim", axis, None),
        };
        if let Some(extent) = self.fixed(var) {
            return Some(Poly::constant(i64::from(extent)));
        }
        let name = format!("{letter}.{}", ["x", "y", "z"][axis.index()]);
        let Some(extent) = extent else {
            let atom = self.atom(0, Key::Geometry(var), side, &name, Source::Size)?;
            self.set_non_negative(atom);
            self.bound(atom, Some(1), Some(self.greatest_extent(var)));
            self.fact(Poly::atom(atom).plus_constant(-1)?);
            return Some(Poly::atom(atom));
        };
        let count = self.geometry(extent, side)?;
        if count.as_constant() == Some(1) {
            return Some(Poly::ZERO);
        }
        let level = if shared { 0 } else { IDS };
        let atom = self.atom(level, Key::Geometry(var), side, &name, Source::Below(count.clone()))?;
        self.set_non_negative(atom);
        let greatest = count.as_constant().map_or_else(|| self.greatest_extent(extent), i128::from) - 1;
        self.bound(atom, Some(0), Some(greatest));
        self.fact(count.plus_constant(-1)?.minus(&Poly::atom(atom))?);
        Some(Poly::atom(atom))
    }

    /// The value of a parameter.
    pub(super) fn param(&mut self, index: usize, name: &str, ty: ScalarType) -> Option<Poly> {
        if let Some(Some(value)) = self.scope.params.get(index) {
            return i64::try_from(*value).ok().map(Poly::constant);
        }
        if let Some(known) = self.params.get(&index) {
            let known = known.clone();
            return self.normal(&known);
        }
        let atom = self.atom(0, Key::Param(index), Side::First, name, Source::Number)?;
        self.typed(atom, ty);
        self.params.insert(index, Poly::atom(atom));
        Some(Poly::atom(atom))
    }

    /// What the type of a value says about it.
    pub(super) fn typed(&mut self, atom: Atom, ty: ScalarType) {
        let Some((least, greatest)) = ty.range() else { return };
        self.bound(atom, Some(least), Some(greatest));
        if least >= 0 {
            self.set_non_negative(atom);
        }
        // Wider ranges are only ever needed against wrapping, where `bounds` has them.
        if greatest <= 0xffff {
            for fact in [
                Poly::constant(greatest as i64).minus(&Poly::atom(atom)),
                Poly::atom(atom).plus_constant(-least as i64),
            ]
            .into_iter()
            .flatten()
            {
                self.fact(fact);
            }
        }
    }

    /// What `__launch_bounds__`, or the limit of all devices, says about the block.
    pub(super) fn launch_bounds(&mut self) -> Option<()> {
        let stated = self.protocol.geometry.max_threads;
        let Some(most) = stated.or(self.scope.most_threads) else { return Some(()) };
        if stated.is_none() {
            self.assumptions.insert(Assumption::BlockLimit(most));
        }
        let most = Poly::constant(i64::from(most));
        let mut product = Poly::constant(1);
        for axis in Axis::ALL {
            let extent = self.geometry(GeometryVar::BlockDim(axis), Side::First)?;
            self.fact(most.minus(&extent)?);
            product = product.times(&extent)?;
        }
        self.fact(most.minus(&product)?);
        Some(())
    }

    /// The coordinates by which the two threads are told apart.
    pub(super) fn coordinates(&mut self) -> Option<()> {
        let of = |axis| match self.level {
            Level::Grid => GeometryVar::BlockIdx(axis),
            _ => GeometryVar::ThreadIdx(axis),
        };
        for var in Axis::ALL.map(of) {
            let (first, second) = (self.geometry(var, Side::First)?, self.geometry(var, Side::Second)?);
            if first.as_constant().is_none() || first != second {
                self.state.coordinates.push((first, second));
            }
        }
        if self.state.coordinates.is_empty() {
            // There is only one thread (or block): no two distinct ones meet.
            self.state.facts.push(Poly::constant(-1));
        }
        Some(())
    }

    /// Bounds against wrapping only; no proof about indices uses them.
    fn greatest_extent(&self, var: GeometryVar) -> i128 {
        let rules = self.protocol.geometry.platform.rules();
        match var {
            GeometryVar::BlockDim(axis) => rules.block[axis.index()].into(),
            _ => rules.grid[0].into(),
        }
    }
}
