//! Conditions against the meaning of the protocol, at concrete points.
//!
//! The translator that makes conditions is the same for prover and checker. So the checker also holds its result
//! against [`crate::protocol::instance`], which gives expressions their values without it: at small launches in
//! which both threads reach their accesses and no sync that both executed stands between them, everything that
//! the condition says must be true, and its first equation must say how far apart the two offsets are. A
//! condition that says too much, and would prove too much, shows at such a point.
//!
//! Points are few and drawn from a fixed sequence: this is a net under the translator, not a proof of it.
//! Deliberately absent: values that the protocol does not know. What is said of them is not looked at.

use crate::calculus::eval::WARP;
use crate::calculus::intervals::{Relation, SyncInstance, Turn};
use crate::calculus::platform::BLOCK_THREADS;
use crate::calculus::{Basis, Expr, ExprId, Geometry, GeometryFacts, GeometryVar, ScalarType, Space, arithmetic};
use crate::memory_model::Level;
use crate::protocol::instance::{Point, Valuation, Value};
use crate::protocol::{AccessId, Carried, Fact, LoopId};
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::condition::values::builder::Builder;
use crate::prove::state::Literal;
use crate::prove::state::poly::{Atom, Poly, Side};
use crate::prove::{Assumption, Groups, Pair};
use rustc_hash::FxHashMap;

/// Launches that are drawn.
const DRAWS: u64 = 160;
/// Turns of loops that are looked at.
const TURNS: u64 = 4;

/// A fixed pseudo-random sequence (splitmix64).
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % limit.max(1)
    }
}

/// Two threads of a launch.
struct Case {
    geometry: Geometry,
    params: Vec<Option<i128>>,
    blocks: [[u32; 3]; 2],
    threads: [[u32; 3]; 2],
    /// Turns of the loops around each access.
    turns: [Vec<(LoopId, u64)>; 2],
}

/// What the condition says that is not so, in words; `None` if no point shows anything.
pub(in crate::prove::condition) fn disagreement(builder: &Builder, pair: &Pair) -> Option<String> {
    let mut sequence = Sequence(1);
    (0..DRAWS).find_map(|_| {
        let case = Case::draw(builder, pair, &mut sequence)?;
        let valuations = case.reached(builder, pair)?;
        let values = Values::of(builder, &case, &valuations);
        values.complaint(builder, pair, &valuations)
    })
}

impl Case {
    fn draw(builder: &Builder, pair: &Pair, sequence: &mut Sequence) -> Option<Case> {
        let required = builder.protocol.geometry.required_block;
        let extent = |sequence: &mut Sequence, fixed: Option<u32>, axis: usize| match fixed {
            Some(extent) => extent,
            None if axis == 0 && sequence.below(4) == 0 => 33 + sequence.below(40) as u32,
            None => 1 + sequence.below(5) as u32,
        };
        let block = [0, 1, 2].map(|axis| {
            extent(sequence, builder.launch.scope.block[axis].or(required.map(|extents| extents[axis])), axis)
        });
        let grid = [0, 1, 2].map(|axis| extent(sequence, builder.launch.scope.grid[axis], 3));
        let most = u64::from(builder.protocol.geometry.max_threads.unwrap_or(BLOCK_THREADS));
        let geometry = Geometry { block, grid };
        if geometry.block_threads() > most {
            return None;
        }
        let any =
            |sequence: &mut Sequence, extents: [u32; 3]| extents.map(|extent| sequence.below(extent.into()) as u32);
        let threads = [any(sequence, block), any(sequence, block)];
        let first = any(sequence, grid);
        let second = if pair.level == Level::Grid { any(sequence, grid) } else { first };
        let params = builder.protocol.params.iter().map(|(id, param)| {
            let (least, greatest) = param.ty.range()?;
            let free = if sequence.below(4) == 0 { sequence.below(90) } else { sequence.below(9) };
            let fixed = builder.launch.scope.params.get(id.index()).copied().flatten();
            Some(fixed.unwrap_or((i128::from(free) - 1).clamp(least, greatest)))
        });
        let params = params.collect();
        let turns = draw_turns(builder, pair, sequence)?;
        let case = Case { geometry, params, blocks: [first, second], threads, turns };
        case.is_of_the_pair(pair, &builder.protocol.geometry).then_some(case)
    }

    /// Whether the two threads are distinct, and of the warps or clusters that the pair is about.
    fn is_of_the_pair(&self, pair: &Pair, facts: &GeometryFacts) -> bool {
        if pair.level == Level::Grid {
            let [one, other] = self.blocks.map(|block| facts.cluster_of(block));
            return self.blocks[0] != self.blocks[1]
                && match pair.groups {
                    Groups::Any => true,
                    Groups::Same => one == other,
                    Groups::Different => one != other,
                };
        }
        let [one, other] = self.threads.map(|thread| self.number(thread) / WARP);
        self.threads[0] != self.threads[1]
            && match pair.groups {
                Groups::Any => true,
                Groups::Same => one == other,
                Groups::Different => one != other,
            }
    }

    /// The number of a thread within its block.
    fn number(&self, thread: [u32; 3]) -> u32 {
        let [x, y, _] = self.geometry.block;
        thread[0] + x * (thread[1] + y * thread[2])
    }

    fn valuation<'a>(&'a self, builder: &Builder<'a>, side: usize) -> Valuation<'a> {
        let (geometry, block, thread) = (self.geometry, self.blocks[side], self.threads[side]);
        Valuation::new(builder.protocol, Point { geometry, block, thread, params: &self.params })
    }

    /// Values of both threads at their accesses, if both get there, nothing orders them, and nothing that was
    /// assumed away happens.
    fn reached<'a>(&'a self, builder: &Builder<'a>, pair: &Pair) -> Option<[Valuation<'a>; 2]> {
        let accesses = [pair.first, pair.second].map(|access| &builder.protocol.accesses[access]);
        let ids = [pair.first, pair.second];
        let [one, other] = [0, 1].map(|side| self.arrive(builder, ids[side], side));
        let (one, other) = (one?, other?);
        let ordered = |instance: &SyncInstance| self.both_execute(builder, instance);
        let unordered = pair.meeting.between.iter().all(|instance| ordered(instance) == Some(false));
        let unordered = unordered && self.are_apart(builder, pair);
        let reached = [one, other];
        let homes =
            |side: usize| known(reached[side].value(accesses[side].offset)).map(|at| at.div_euclid(Space::HOME));
        let is_shared_by_a_cluster = builder.protocol.arrays[accesses[0].array].space == Space::Distributed;
        // The condition is about accesses to the copy of one block.
        let is_one_copy = !is_shared_by_a_cluster || homes(0) == homes(1);
        (unordered && is_one_copy).then_some(reached)
    }

    /// Whether the iterations differ as objects that count arrivals let them.
    fn are_apart(&self, builder: &Builder, pair: &Pair) -> bool {
        let Some(apart) = pair.meeting.apart else { return true };
        let turn = |side: usize| match apart.loops[side] {
            None => Some(0),
            Some(site) => {
                let turns = &self.turns[side];
                turns.iter().find(|entry| builder.protocol.loops[entry.0].site == site).map(|entry| entry.1)
            }
        };
        let difference = turn(0).zip(turn(1)).and_then(|(first, second)| {
            let difference = i128::from(first) - i128::from(second);
            i64::try_from(difference).ok()
        });
        difference.is_none_or(|difference| apart.admits(difference))
    }

    fn arrive<'a>(&'a self, builder: &Builder<'a>, id: AccessId, side: usize) -> Option<Valuation<'a>> {
        let access = &builder.protocol.accesses[id];
        let mut valuation = self.valuation(builder, side);
        let no_wrap = builder
            .draft
            .assumptions
            .iter()
            .any(|each| matches!(each, Assumption::NoUnsignedWrap { .. } | Assumption::FitsInto { .. }));
        let is_sound = |valuation: &Valuation<'_>, expr: ExprId| !(no_wrap && wraps(builder, valuation, expr));
        for &id in &access.loops {
            let turn = self.turns[side].iter().find(|entry| entry.0 == id)?.1;
            // What a loop carries may wrap where no test and no address shows it any more: `(1 << 31) >> 1`.
            let carried = |valuation: &Valuation<'_>, value: fn(&Carried) -> ExprId| {
                builder.protocol.loops[id].carried.iter().all(|each| is_sound(valuation, value(each)))
            };
            enter(builder, &mut valuation, id, turn, carried).filter(|exists| *exists)?;
        }
        let tests = access.loops.iter().map(|&id| builder.protocol.loops[id].guard);
        let guards = access.guards.iter().map(|guard| guard.cond).chain(tests);
        // What is proved is looked at like everything else that the condition says.
        // A thread that has ended on the path is not one that gets there.
        let has_passed = |fact: &Fact| {
            fact.basis == Basis::Passed && fact.holds_at_access(id) && fact.is_passed(&access.loops, &access.guards)
        };
        let restricting = |fact: &&Fact| fact.basis.is_told() || has_passed(fact);
        let facts = builder.protocol.facts.iter().filter(restricting).map(|fact| fact.cond);
        let conditions: Vec<ExprId> = guards.chain(facts).collect();
        let sound = |expr: ExprId| is_sound(&valuation, expr);
        let holds = conditions.iter().all(|&cond| is_true(valuation.value(cond)) == Some(true) && sound(cond));
        // A thread that divides by zero on the path to the address is not one that gets there.
        let holds = holds && valuation.value(access.offset) != Value::Trapped;
        (holds && sound(access.offset)).then_some(valuation)
    }

    /// Whether both threads execute the instance; `None` if that is not known.
    fn both_execute(&self, builder: &Builder, instance: &SyncInstance) -> Option<bool> {
        let sync = builder.protocol.syncs.iter().find(|(_, sync)| sync.site == instance.sync)?.1;
        let mut both = true;
        for side in [0, 1] {
            let mut valuation = self.valuation(builder, side);
            for &id in &sync.loops {
                let Some(turn) = self.turn_of(builder, instance, id)? else { return Some(false) };
                both &= enter(builder, &mut valuation, id, turn, |_, _| true)?;
            }
            for guard in &sync.guards {
                both &= is_true(valuation.value(guard.cond))?;
            }
        }
        if let Some(threads) = sync.among.tile() {
            let [one, other] = self.threads.map(|thread| self.number(thread) / threads);
            both &= one == other;
        }
        Some(both)
    }

    /// The iteration of a loop around an instance; an inner `None` if there is none.
    #[expect(clippy::option_option, reason = "not known, or no such turn")]
    fn turn_of(&self, builder: &Builder, instance: &SyncInstance, id: LoopId) -> Option<Option<u64>> {
        let site = builder.protocol.loops[id].site;
        let turn = instance.iterations.iter().find(|entry| entry.0 == site)?.1;
        let own = |side: usize| self.turns[side].iter().find(|entry| entry.0 == id).map(|entry| entry.1);
        Some(match turn {
            Turn::First => Some(own(0)?),
            Turn::AfterFirst => Some(own(0)? + 1),
            Turn::BeforeFirst => own(0)?.checked_sub(1),
            Turn::Second => Some(own(1)?),
            Turn::AfterSecond => Some(own(1)? + 1),
            Turn::BeforeSecond => own(1)?.checked_sub(1),
            Turn::Zero => Some(0),
        })
    }
}

/// Goes to an iteration of a loop; whether it exists and all that is carried there is `admitted`, `None` if that is not
/// known.
fn enter(
    builder: &Builder,
    valuation: &mut Valuation<'_>,
    id: LoopId,
    turn: u64,
    admitted: impl Fn(&Valuation<'_>, fn(&Carried) -> ExprId) -> bool,
) -> Option<bool> {
    let each = &builder.protocol.loops[id];
    let mut exists = admitted(valuation, |carried| carried.start);
    valuation.enter(id);
    exists &= is_true(valuation.value(each.guard))?;
    for _ in 0..turn {
        exists &= is_true(valuation.value(each.continues))? && admitted(valuation, |carried| carried.next);
        valuation.advance(id);
        exists &= is_true(valuation.value(each.guard))?;
    }
    Some(exists)
}

fn draw_turns(builder: &Builder, pair: &Pair, sequence: &mut Sequence) -> Option<[Vec<(LoopId, u64)>; 2]> {
    let accesses = [pair.first, pair.second].map(|access| &builder.protocol.accesses[access]);
    let mut turns = accesses
        .map(|access| access.loops.iter().map(|&id| (id, sequence.below(TURNS))).collect::<Vec<(LoopId, u64)>>());
    for &(site, relation) in &pair.meeting.relations {
        let place =
            |turns: &[(LoopId, u64)]| turns.iter().position(|entry| builder.protocol.loops[entry.0].site == site);
        let (Some(first), Some(second)) = (place(&turns[0]), place(&turns[1])) else { continue };
        let turn = turns[0][first].1;
        match relation {
            Relation::Same => turns[1][second].1 = turn,
            Relation::Next => turns[1][second].1 = turn + 1,
            Relation::Previous => turns[1][second].1 = turn.checked_sub(1)?,
            Relation::Any => {}
        }
    }
    Some(turns)
}

fn is_true(value: Value) -> Option<bool> {
    match value {
        Value::Known(value) => Some(value != 0),
        Value::Unknown | Value::Trapped => None,
    }
}

fn known(value: Value) -> Option<i128> {
    match value {
        Value::Known(value) => Some(value),
        Value::Unknown | Value::Trapped => None,
    }
}

/// Whether unsigned arithmetic or a conversion leaves its type on the path to `root`.
fn wraps(builder: &Builder, valuation: &Valuation<'_>, root: ExprId) -> bool {
    let exprs = &builder.protocol.exprs;
    let value = |id: ExprId| known(valuation.value(id));
    // What stands below is known from then on.
    value(root);
    let mut wrapped = false;
    exprs.visit(root, |_, node| {
        wrapped |= match *node {
            Expr::Binary(op, a, b) => match (value(a), value(b)) {
                (Some(x), Some(y)) => arithmetic::binary(op, x, y, exprs.ty(a)).is_ok_and(|outcome| outcome.wrapped),
                _ => false,
            },
            Expr::Unary(op, a) => {
                value(a).is_some_and(|x| arithmetic::unary(op, x, exprs.ty(a)).is_ok_and(|outcome| outcome.wrapped))
            }
            Expr::Convert(ty, a) => {
                ty != ScalarType::Bool && value(a).is_some_and(|x| ty.range().is_some() && arithmetic::wrap(x, ty) != x)
            }
            _ => false,
        };
    });
    wrapped
}

/// The values of atoms at a point, as far as they are known.
struct Values<'a, 'b> {
    builder: &'a Builder<'b>,
    sources: FxHashMap<Atom, &'a Source>,
    known: FxHashMap<Atom, Option<i128>>,
}

impl<'a, 'b> Values<'a, 'b> {
    fn of(builder: &'a Builder<'b>, case: &Case, valuations: &[Valuation<'_>; 2]) -> Self {
        let sources = builder.draft.atoms.sources.iter().map(|(atom, source)| (*atom, source)).collect();
        let mut values = Values { builder, sources, known: FxHashMap::default() };
        for ((var, side), poly) in &builder.launch.geometry {
            values.learn(poly, Some(geometry(case, *var, side.unwrap_or(Side::First) as usize)));
        }
        for (index, poly) in &builder.launch.params {
            values.learn(poly, case.params.get(*index).copied().flatten());
        }
        for side in [0, 1] {
            let environment = &builder.environments[side];
            for (id, poly) in &environment.iterations {
                let turn = case.turns[side].iter().find(|entry| entry.0 == *id).map(|entry| i128::from(entry.1));
                values.learn(poly, turn);
            }
            for (var, poly) in &environment.carried {
                values.learn(poly, known(valuations[side].variable(*var)));
            }
        }
        for ((key, _, side), poly) in &builder.draft.unknowns {
            if let Key::Value(expr) = key {
                let side = side.unwrap_or(Side::First) as usize;
                values.learn(poly, known(valuations[side].value(*expr)));
            }
        }
        values
    }

    /// Notes the value of an atom, given that of the atom plus a constant.
    fn learn(&mut self, poly: &Poly, value: Option<i128>) {
        let [atom] = poly.atoms()[..] else { return };
        let Some(constant) = poly.minus(&Poly::atom(atom)).and_then(|rest| rest.as_constant()) else { return };
        if let Some(value) = value {
            self.known.entry(atom).or_insert(Some(value - i128::from(constant)));
        }
    }

    fn poly(&mut self, poly: &Poly) -> Option<i128> {
        let mut sum = 0i128;
        for &(monomial, coefficient) in poly.terms() {
            let mut product = i128::from(coefficient);
            for atom in monomial.atoms() {
                product = product.checked_mul(self.atom(atom)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    fn atom(&mut self, atom: Atom) -> Option<i128> {
        if let Some(value) = self.known.get(&atom) {
            return *value;
        }
        self.known.insert(atom, None);
        let value = self.sources.get(&atom).copied().and_then(|source| self.defined(atom, source));
        self.known.insert(atom, value);
        value
    }

    fn defined(&mut self, atom: Atom, source: &Source) -> Option<i128> {
        match source {
            Source::Defined(value) => self.poly(value),
            Source::Quotient(x, m) | Source::Remainder(x, m) => {
                let (x, m) = (self.poly(x)?, self.poly(m)?);
                let named = Poly::atom(atom);
                let mut digits = self.builder.draft.digits.divided.iter().map(|(key, digits)| (key.2, digits));
                let truncated = digits.any(|(down, digits)| !down && (digits.0 == named || digits.1 == named));
                match (source, truncated) {
                    (Source::Quotient(..), true) => x.checked_div(m),
                    (Source::Quotient(..), false) => x.checked_div_euclid(m),
                    (_, true) => x.checked_rem(m),
                    (_, false) => x.checked_rem_euclid(m),
                }
            }
            Source::Least(a, b) => Some(self.poly(a)?.min(self.poly(b)?)),
            Source::Greatest(a, b) => Some(self.poly(a)?.max(self.poly(b)?)),
            Source::Xor(a, b) => Some(self.poly(a)? ^ self.poly(b)?),
            Source::Power(exponent) => 1i128.checked_shl(u32::try_from(self.poly(exponent)?).ok()?),
            Source::Choice(choices) => {
                for (guards, value) in choices {
                    let mut holds = true;
                    for literal in guards {
                        holds &= self.literal(literal)?;
                    }
                    if holds {
                        return self.poly(value);
                    }
                }
                None
            }
            Source::Size | Source::Below(_) | Source::Count | Source::Number | Source::Toggle => None,
        }
    }

    fn literal(&mut self, literal: &Literal) -> Option<bool> {
        let value = self.poly(literal.poly())?;
        Some(match literal {
            Literal::Zero(_) => value == 0,
            Literal::NonNegative(_) => value >= 0,
        })
    }

    /// Something that the condition says and that is not so.
    fn complaint(mut self, builder: &Builder, pair: &Pair, valuations: &[Valuation<'_>; 2]) -> Option<String> {
        let state = &builder.draft.state;
        for fact in &state.facts {
            if self.poly(fact).is_some_and(|value| value < 0) {
                return Some(format!("fact {fact:?} does not hold"));
            }
        }
        for atom in state.non_negative.iter() {
            if self.atom(atom).is_some_and(|value| value < 0) {
                return Some(format!("atom {atom:?} is negative"));
            }
        }
        for equation in state.equations.iter().skip(1) {
            if self.poly(equation).is_some_and(|value| value != 0) {
                return Some(format!("equation {equation:?} does not hold"));
            }
        }
        for alternatives in &state.disjunctions {
            let mut hold = alternatives.iter().map(|alternative| {
                let literals: Option<Vec<bool>> = alternative.iter().map(|literal| self.literal(literal)).collect();
                literals.is_none_or(|literals| literals.iter().all(|holds| *holds))
            });
            if !hold.any(|holds| holds) {
                return Some(format!("none of {alternatives:?} holds"));
            }
        }
        for xor in &state.xors {
            let [value, argument, mask] = [&xor.value, &xor.argument, &xor.mask].map(|poly| self.poly(poly));
            if let (Some(value), Some(argument), Some(mask)) = (value, argument, mask)
                && value != argument ^ mask
            {
                return Some(format!("{xor:?} does not hold"));
            }
        }
        let pairs: Option<Vec<bool>> =
            (state.coordinates.iter()).map(|(first, second)| Some(self.poly(first)? == self.poly(second)?)).collect();
        if pairs.is_some_and(|pairs| !pairs.is_empty() && pairs.iter().all(|equal| *equal)) {
            return Some("the coordinates of two distinct threads are equal".to_owned());
        }
        self.offsets_differ(builder, pair, valuations)
    }

    /// Whether the conflict equation misstates how far apart the offsets are.
    fn offsets_differ(&mut self, builder: &Builder, pair: &Pair, valuations: &[Valuation<'_>; 2]) -> Option<String> {
        let accesses = [pair.first, pair.second].map(|access| &builder.protocol.accesses[access]);
        let [first, second] = [0, 1].map(|side| known(valuations[side].value(accesses[side].offset)));
        let equation = builder.draft.state.equations.first()?;
        // Bytes within an access have no value, so that an equation about them is passed over.
        let apart = self.poly(equation)?.checked_mul(i128::from(builder.unit))?;
        (first? - second? != apart).then(|| format!("equation {equation:?} is not about the offsets"))
    }
}

fn geometry(case: &Case, var: GeometryVar, side: usize) -> i128 {
    let value = match var {
        GeometryVar::ThreadIdx(axis) => case.threads[side][axis.index()],
        GeometryVar::BlockIdx(axis) => case.blocks[side][axis.index()],
        GeometryVar::BlockDim(axis) => case.geometry.block[axis.index()],
        GeometryVar::GridDim(axis) => case.geometry.grid[axis.index()],
    };
    i128::from(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::{intervals, text};
    use crate::protocol::infer::infer;
    use crate::prove::Scope;
    use crate::prove::condition::asking::oracle::Oracle;
    use crate::prove::condition::building::conflict::{self, Hints};
    use crate::prove::hand_over::Order;

    const KERNEL: &str = "kernel k(n: i32) { shared s: element 4 var t: i32 var k: i32
      let t = convert<i32>(tid.x)
      for k = 0 while k < n step + 1 @1 {
        if t < n { write s[convert<i64>(k % 3 * n + t / 4 * 4 + t % 4) * 4; 4] @0 }
        sync block shared @2
      } }";

    /// What is wrong with the condition of the first pair after `change`.
    fn after(change: impl Fn(&mut Builder)) -> Option<String> {
        let kernel = text::parse(KERNEL).unwrap();
        let protocol = infer(&kernel);
        let intervals = intervals::analyze(&kernel, &|_| true);
        let pair = &crate::prove::condition::pairs(&protocol, &intervals, Level::Block)[0];
        let scope = Scope { block: [None, Some(1), Some(1)], grid: [Some(1); 3], ..Scope::default() };
        let order = Order::Unless(Vec::new());
        let built = conflict::build(&protocol, pair, &scope, &order, Oracle::searching(), Hints::Unwanted);
        let mut builder = built.ok()?;
        change(&mut builder);
        disagreement(&builder, pair)
    }

    #[test]
    fn a_condition_follows_from_its_protocol() {
        assert_eq!(after(|_| {}), None);
    }

    #[test]
    fn a_condition_that_says_too_much_is_noticed() {
        assert!(after(|builder| builder.draft.state.facts[0] = Poly::constant(-1)).is_some());
        assert!(after(|builder| builder.draft.state.disjunctions.push(Vec::new())).is_some());
        // The two threads are taken to be one; a guard is read one too tight; offsets are one apart.
        assert!(
            after(|builder| builder.draft.state.coordinates.iter_mut().for_each(|pair| pair.1 = pair.0.clone()))
                .is_some()
        );
        let tighter = |fact: &mut Poly| *fact = fact.plus_constant(-1).unwrap();
        assert!(after(|builder| builder.draft.state.facts.iter_mut().for_each(tighter)).is_some());
        assert!(after(|builder| tighter(&mut builder.draft.state.equations[0])).is_some());
    }
}
