//! What a question says beyond values: loops, guards, facts, syncs that were passed, and the conflict itself.
//!
//! It says what [`condition`](crate::prove::condition) says of the same pair or sync, about bit-vectors instead of
//! polynomials, and is written apart from it, so that one can be held against the other.

use super::machine::{Machine, Place, PlaceId, sort_of};
use crate::calculus::eval::WARP;
use crate::calculus::intervals::{Relation, SyncInstance, Turn};
use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, ScalarType};
use crate::memory_model::{Level, both_atomic};
use crate::protocol::{Carried, Claim, Fact, Guard, LoopId, Protocol, Relational, Role, Sync};
use crate::prove::condition::Question;
use crate::prove::program_point::{self, ProgramPoint, relations, relations_at, stated_relation};
use crate::prove::state::poly::Side;
use crate::prove::{Groups, MOST_ITERATIONS, Pair, Scope, SyncQuestion};
use crate::smt::{Op, Sort, TermId, Terms};

/// The question whether the accesses of `pair` can conflict.
pub(super) fn conflict<'a>(protocol: &'a Protocol, pair: &Pair, scope: &'a Scope, terms: &'a mut Terms) -> Machine<'a> {
    let mut machine = Machine::new(protocol, scope, pair.level, terms);
    machine.closest = pair.groups.closest(pair.level);
    machine.two_threads();
    let accesses = [&protocol.accesses[pair.first], &protocol.accesses[pair.second]];
    machine.enter_loops(pair, [&accesses[0].loops, &accesses[1].loops]);
    machine.launch();
    machine.are_two();
    machine.groups(pair.groups);
    for (place, (access, id)) in accesses.into_iter().zip([pair.first, pair.second]).enumerate() {
        machine.state_facts(place, ProgramPoint::Access(id), &access.loops, &access.guards);
        machine.guards(place, &access.loops, &access.guards);
        machine.is_defined(access.offset, place);
    }
    machine.relate(&relations(protocol, pair));
    for instance in &pair.meeting.between {
        machine.passed(pair, instance);
    }
    machine.be_apart(pair);
    machine.common_byte(pair);
    machine
}

/// The question whether two threads of a block, or of two blocks, can disagree; `None` if the values are plainly the
/// same.
pub(super) fn disagreement<'a>(
    protocol: &'a Protocol,
    (question, asked): (&Question, SyncQuestion),
    scope: &'a Scope,
    terms: &'a mut Terms,
) -> Option<Machine<'a>> {
    let mut machine = Machine::new(protocol, scope, asked.level, terms);
    machine.closest = asked.groups.closest(asked.level);
    machine.two_threads();
    for &id in &question.loops {
        machine.enter_together(id, Relation::Same);
    }
    let values = [0, 1].map(|place| machine.value(question.cond, place));
    let among = protocol.syncs[asked.sync].among;
    if values[0] == values[1] && !question.names {
        return None;
    }
    machine.launch();
    machine.are_two();
    machine.groups(asked.groups);
    if let Some(threads) = among.tile() {
        let same = machine.in_one_group(threads);
        machine.facts.push(same);
    }
    let fails = machine.terms.not(values[1]);
    machine.facts.push(fails);
    // Who is not named may be there alone.
    for place in if question.names { 1..2 } else { 0..2 } {
        machine.state_facts(place, ProgramPoint::Sync(asked.sync), &question.loops, &question.before);
        machine.guards(place, &[], &question.before);
        machine.is_defined(question.cond, place);
        if let Some(cond) = among.named().filter(|_| !question.names) {
            machine.require(cond, place);
        }
    }
    if !question.names {
        machine.relate(&relations_at(protocol, ProgramPoint::Sync(asked.sync), (&question.loops, &question.before)));
        machine.facts.push(values[0]);
    }
    Some(machine)
}

/// Of whom it is asked whether a claim can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parties {
    /// One thread.
    One,
    /// Two that stand to each other like this.
    Two(Level),
}

impl Parties {
    /// Of all these.
    pub(super) fn of(protocol: &Protocol, claim: &Claim) -> &'static [Parties] {
        match protocol.relates_threads(claim.cond) {
            true => &[Parties::Two(Level::Block), Parties::Two(Level::Grid)],
            false => &[Parties::One],
        }
    }
}

/// The question whether a claim can fail in one thread, or in two in the same iterations of the loops around it.
pub(super) fn failure<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    parties: Parties,
    scope: &'a Scope,
    terms: &'a mut Terms,
) -> Machine<'a> {
    let (level, places) = match parties {
        Parties::One => (Level::Block, 0..1),
        Parties::Two(level) => (level, 0..2),
    };
    let mut machine = Machine::new(protocol, scope, level, terms);
    machine.two_threads();
    for &id in &claim.loops {
        match parties {
            Parties::One => machine.enter_privately(id, 0),
            Parties::Two(_) => machine.enter_together(id, Relation::Same),
        }
    }
    machine.launch();
    let point = ProgramPoint::Claim(claim.before);
    if parties != Parties::One {
        machine.are_two();
        machine.relate(&relations_at(protocol, point, (&claim.loops, &claim.guards)));
    }
    for place in places {
        machine.state_facts(place, point, &claim.loops, &claim.guards);
        machine.guards(place, &claim.loops, &claim.guards);
        machine.is_defined(claim.cond, place);
    }
    let holds = machine.value(claim.cond, 0);
    let fails = machine.terms.not(holds);
    machine.facts.push(fails);
    machine
}

/// What the source states about every launch, and about two threads of it if it does, without any conflict.
pub(super) fn stated<'a>(protocol: &'a Protocol, level: Level, scope: &'a Scope, terms: &'a mut Terms) -> Machine<'a> {
    let mut machine = Machine::new(protocol, scope, level, terms);
    machine.two_threads();
    machine.state_facts(0, ProgramPoint::Entry, &[], &[]);
    let is_formula = |fact: &&Fact| matches!(protocol.relation(fact.cond), Some(Relational::Formula(_)));
    let stated = protocol.facts.iter().filter(|fact| fact.basis.is_told());
    let formulas: Vec<&Fact> = stated.filter(is_formula).collect();
    if !formulas.is_empty() {
        machine.are_two();
        machine.state_facts(1, ProgramPoint::Entry, &[], &[]);
        machine.relate(&formulas);
    }
    machine
}

impl Machine<'_> {
    fn two_threads(&mut self) {
        for side in Side::BOTH {
            self.places.push(Place { side, iterations: Vec::new(), carried: Vec::new() });
        }
    }

    /// What is known of the warps or clusters of the two threads.
    fn groups(&mut self, groups: Groups) {
        let same = match (groups, self.level) {
            (Groups::Any, _) => return,
            (_, Level::Grid) => self.in_one_cluster(),
            _ => self.in_one_group(WARP),
        };
        let known = if groups == Groups::Same { same } else { self.terms.not(same) };
        self.facts.push(known);
    }

    /// That the two blocks are of one cluster.
    fn in_one_cluster(&mut self) -> TermId {
        let extents = self.protocol.geometry.clusters().unwrap_or([1; 3]);
        let mut same = Vec::new();
        for axis in Axis::ALL {
            let extent = self.terms.bits(i128::from(extents[axis.index()]), 32);
            let [first, second] = Side::BOTH.map(|side| {
                let block = self.geometry(GeometryVar::BlockIdx(axis), side);
                self.terms.apply(Op::BvUdiv, vec![block, extent])
            });
            same.push(self.terms.eq(first, second));
        }
        self.terms.and(same)
    }

    /// That the two threads are in one aligned group of so many, a power of two.
    fn in_one_group(&mut self, threads: u32) -> TermId {
        let [first, second] = Side::BOTH.map(|side| self.group(side, threads));
        self.terms.eq(first, second)
    }

    /// The number of the group of a thread. No block is so large that 32 bits could overflow.
    fn group(&mut self, side: Side, threads: u32) -> TermId {
        let mut number = self.terms.bits(0, 32);
        for axis in [Axis::Z, Axis::Y, Axis::X] {
            let (id, extent) =
                (self.geometry(GeometryVar::ThreadIdx(axis), side), self.geometry(GeometryVar::BlockDim(axis), side));
            let rows = self.terms.apply(Op::BvMul, vec![number, extent]);
            number = self.terms.apply(Op::BvAdd, vec![rows, id]);
        }
        let by = self.terms.bits(i128::from(threads.trailing_zeros()), 32);
        self.terms.apply(Op::BvLshr, vec![number, by])
    }

    // ---- loops

    fn enter_loops(&mut self, pair: &Pair, loops: [&Vec<LoopId>; 2]) {
        for &id in loops[0] {
            let site = self.protocol.loops[id].site;
            let relation = pair.meeting.relations.iter().find(|entry| entry.0 == site).map(|entry| entry.1);
            match relation {
                Some(relation) if loops[1].contains(&id) => self.enter_together(id, relation),
                _ => self.enter_privately(id, 0),
            }
        }
        for &id in loops[1] {
            if !self.places[1].iterations.iter().any(|entry| entry.0 == id) {
                self.enter_privately(id, 1);
            }
        }
    }

    fn count(&mut self, id: LoopId) -> TermId {
        let name = self.protocol.vars[self.protocol.loops[id].iteration].name.clone();
        let term = self.terms.symbol(name, Sort::Bits(64));
        let most = self.terms.bits(MOST_ITERATIONS, 64);
        let within = self.terms.apply(Op::BvUle, vec![term, most]);
        self.facts.push(within);
        term
    }

    fn enter_privately(&mut self, id: LoopId, place: PlaceId) {
        let number = self.count(id);
        self.places[place].iterations.push((id, number));
        let protocol = self.protocol;
        for carried in &protocol.loops[id].carried {
            let value = self.carried_value(carried, place);
            self.places[place].carried.push((carried.var, value));
        }
    }

    fn enter_together(&mut self, id: LoopId, relation: Relation) {
        if relation == Relation::Any {
            for place in [0, 1] {
                self.enter_privately(id, place);
            }
            return;
        }
        let number = self.count(id);
        let one = self.terms.bits(1, 64);
        let later = self.terms.apply(Op::BvAdd, vec![number, one]);
        let numbers = match relation {
            Relation::Next => [number, later],
            Relation::Previous => [later, number],
            Relation::Same | Relation::Any => [number, number],
        };
        for place in [0, 1] {
            self.places[place].iterations.push((id, numbers[place]));
        }
        let protocol = self.protocol;
        for carried in &protocol.loops[id].carried {
            self.carry_together(carried, relation);
        }
    }

    fn carry_together(&mut self, carried: &Carried, relation: Relation) {
        let uniform = [carried.start, carried.next].into_iter().all(|expr| self.is_shared(expr, carried));
        if !uniform {
            for place in [0, 1] {
                let value = self.carried_value(carried, place);
                self.places[place].carried.push((carried.var, value));
            }
            return;
        }
        let earlier = usize::from(relation == Relation::Previous);
        let value = self.carried_value(carried, earlier);
        self.places[earlier].carried.push((carried.var, value));
        let value = if relation == Relation::Same { value } else { self.value(carried.next, earlier) };
        self.places[1 - earlier].carried.push((carried.var, value));
    }

    /// Whether what `expr` is made of, other than the carried value, is the same for both threads.
    fn is_shared(&mut self, expr: ExprId, carried: &Carried) -> bool {
        let mut leaves = Vec::new();
        self.protocol.exprs.visit(expr, |id, node| match node {
            Expr::Var(var) if *var == carried.var => {}
            Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => leaves.push(id),
            _ => {}
        });
        leaves.into_iter().all(|leaf| self.value(leaf, 0) == self.value(leaf, 1))
    }

    /// The value that a loop carries in some iteration, with what holds in every iteration.
    fn carried_value(&mut self, carried: &Carried, place: PlaceId) -> TermId {
        let variable = &self.protocol.vars[carried.var];
        let term = self.terms.symbol(&variable.name, sort_of(variable.ty));
        if let ScalarType::Int { width, signed } = variable.ty {
            if matches!(self.protocol.roles.get(carried.var), Some(Role::Toggle(_))) {
                let one = self.terms.bits(1, width.into());
                let within = self.terms.apply(Op::BvUle, vec![term, one]);
                self.facts.push(within);
            } else {
                self.movement(carried, term, (width.into(), signed), place);
            }
        }
        term
    }

    /// Bounds of a value that is multiplied, divided or shifted by a constant, which hold by induction.
    fn movement(&mut self, carried: &Carried, term: TermId, (width, signed): (u32, bool), place: PlaceId) {
        let protocol = self.protocol;
        let at = match protocol.exprs[carried.next] {
            Expr::Convert(_, inner) => inner,
            _ => carried.next,
        };
        let Expr::Binary(op, _, by) = protocol.exprs[at] else { return };
        let Some(factor) = protocol.exprs.as_int(by).filter(|&factor| factor > 0) else { return };
        let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let start = self.value(carried.start, place);
        let zero = self.terms.bits(0, width);
        let power = |machine: &mut Self, value: TermId| {
            let minus_one = machine.terms.bits(-1, width);
            let less = machine.terms.apply(Op::BvAdd, vec![value, minus_one]);
            let common = machine.terms.apply(Op::BvAnd, vec![value, less]);
            machine.terms.eq(common, zero)
        };
        let at_most = if signed { Op::BvSle } else { Op::BvUle };
        let start_is_sound = self.terms.apply(Op::BvSle, vec![zero, start]);
        let fails = self.terms.not(start_is_sound);
        if matches!(op, BinaryOp::Div | BinaryOp::Shr) {
            let low = self.terms.apply(Op::BvSle, vec![zero, term]);
            let high = self.terms.apply(at_most, vec![term, start]);
            let shrinks = self.terms.and(vec![low, high]);
            let shrinks = self.terms.or(vec![fails, shrinks]);
            self.facts.push(shrinks);
        }
        // A narrow type is truncated after the product, which is defined.
        let grows = op == BinaryOp::Mul && signed && at == carried.next;
        if grows {
            let high = self.terms.apply(Op::BvSle, vec![start, term]);
            let grows = self.terms.or(vec![fails, high]);
            self.facts.push(grows);
        }
        if shifts || factor & (factor - 1) == 0 {
            // Doubling and halving keep a power of two (or end in zero), wherever it started as one.
            let (before, now) = (power(self, start), power(self, term));
            let otherwise = self.terms.not(before);
            let stays = self.terms.or(vec![otherwise, fails, now]);
            self.facts.push(stays);
        }
    }

    // ---- guards and facts

    fn guards(&mut self, place: PlaceId, loops: &[LoopId], guards: &[Guard]) {
        let tests: Vec<ExprId> = loops.iter().map(|&id| self.protocol.loops[id].guard).collect();
        for cond in guards.iter().map(|guard| guard.cond).chain(tests) {
            self.require(cond, place);
        }
    }

    fn require(&mut self, cond: ExprId, place: PlaceId) {
        self.is_defined(cond, place);
        let holds = self.value(cond, place);
        if self.terms.sort(holds) == Sort::Bool && !self.facts.contains(&holds) {
            self.facts.push(holds);
        }
    }

    fn state_facts(&mut self, place: PlaceId, point: ProgramPoint, loops: &[LoopId], guards: &[Guard]) {
        let protocol = self.protocol;
        for (number, fact) in protocol.facts.iter().enumerate() {
            let says_something = protocol.exprs.as_int(fact.cond) != Some(1) && protocol.relation(fact.cond).is_none();
            if point.may_use(number, fact) && fact.is_passed(loops, guards) && says_something {
                if fact.basis.is_told() {
                    self.assumptions.insert(program_point::stated(protocol, fact));
                }
                self.require(fact.cond, place);
            }
        }
    }

    /// What is known about the values of two threads.
    fn relate(&mut self, facts: &[&Fact]) {
        for fact in facts {
            match self.protocol.relation(fact.cond) {
                Some(Relational::Distinct(value) | Relational::Uniform(value)) => {
                    let (first, second) = (self.value(value, 0), self.value(value, 1));
                    if first == second {
                        // That a uniform value differs between threads would prove anything.
                        continue;
                    }
                    self.require(fact.cond, 0);
                }
                Some(Relational::Formula(cond)) => [0, 1].into_iter().for_each(|place| self.require(cond, place)),
                None => continue,
            }
            if fact.basis.is_told() {
                self.assumptions.insert(stated_relation(self.protocol, fact));
            }
        }
    }

    // ---- syncs between

    /// The iterations differ as objects that count arrivals let them.
    fn be_apart(&mut self, pair: &Pair) {
        let Some(apart) = pair.meeting.apart else { return };
        let mut numbers = Vec::new();
        for (place, site) in apart.loops.into_iter().enumerate() {
            let number = match site {
                None => Some(self.terms.bits(0, 64)),
                Some(site) => {
                    let entered = &self.places[place].iterations;
                    entered.iter().find(|entry| self.protocol.loops[entry.0].site == site).map(|entry| entry.1)
                }
            };
            let Some(number) = number else { return };
            numbers.push(number);
        }
        let difference = self.terms.apply(Op::BvSub, numbers);
        if let Some(least) = apart.least {
            let least = self.terms.bits(least.into(), 64);
            let holds = self.terms.apply(Op::BvSle, vec![least, difference]);
            self.facts.push(holds);
        }
        if let Some(most) = apart.most {
            let most = self.terms.bits(most.into(), 64);
            let holds = self.terms.apply(Op::BvSle, vec![difference, most]);
            self.facts.push(holds);
        }
    }

    /// The sync instance does not order the two: one of the threads does not run it.
    fn passed(&mut self, pair: &Pair, instance: &SyncInstance) {
        let protocol = self.protocol;
        let Some(sync) = protocol.syncs.iter().map(|(_, sync)| sync).find(|sync| sync.site == instance.sync) else {
            return;
        };
        let Some(mut ways) = self.missing_turns(sync, instance) else { return };
        for side in Side::BOTH {
            let place = self.place_of(pair, sync, instance, side);
            for guard in &sync.guards {
                let holds = self.value(guard.cond, place);
                ways.push(self.terms.not(holds));
            }
        }
        if let Some(threads) = sync.among.tile() {
            let same = self.in_one_group(threads);
            ways.push(self.terms.not(same));
        }
        let ways = self.terms.or(ways);
        self.facts.push(ways);
    }

    /// The ways in which the iteration of the instance does not exist; `None` if that is not known.
    fn missing_turns(&mut self, sync: &Sync, instance: &SyncInstance) -> Option<Vec<TermId>> {
        let mut ways = Vec::new();
        for &id in &sync.loops {
            let around = &self.protocol.loops[id];
            match instance.iterations.iter().find(|entry| entry.0 == around.site).map(|entry| entry.1) {
                Some(turn @ (Turn::BeforeFirst | Turn::BeforeSecond)) => {
                    let number = self.known_number(id, usize::from(turn == Turn::BeforeSecond))?;
                    let zero = self.terms.bits(0, 64);
                    ways.push(self.terms.eq(number, zero));
                }
                // A `break` may end the loop after the iteration of the access.
                Some(Turn::AfterFirst | Turn::AfterSecond)
                    if self.protocol.exprs.as_int(around.continues) != Some(1) =>
                {
                    return None;
                }
                Some(_) => {}
                None => return None,
            }
        }
        Some(ways)
    }

    fn known_number(&self, id: LoopId, place: PlaceId) -> Option<TermId> {
        self.places[place].iterations.iter().find(|entry| entry.0 == id).map(|entry| entry.1)
    }

    fn moved_number(&mut self, id: LoopId, place: PlaceId, by: i128) -> Option<TermId> {
        let number = self.known_number(id, place)?;
        let by = self.terms.bits(by, 64);
        Some(self.terms.apply(Op::BvAdd, vec![number, by]))
    }

    /// What variables stand for in a thread at the instance.
    fn place_of(&mut self, pair: &Pair, sync: &Sync, instance: &SyncInstance, side: Side) -> PlaceId {
        self.places.push(Place { side, iterations: Vec::new(), carried: Vec::new() });
        let place = self.places.len() - 1;
        for &id in &sync.loops {
            let site = self.protocol.loops[id].site;
            let Some(turn) = instance.iterations.iter().find(|entry| entry.0 == site).map(|entry| entry.1) else {
                continue;
            };
            let relation = pair.meeting.relations.iter().find(|entry| entry.0 == site).map(|entry| entry.1);
            let number = match turn {
                Turn::First => self.known_number(id, 0),
                Turn::AfterFirst => self.moved_number(id, 0, 1),
                Turn::Second => self.known_number(id, 1),
                Turn::AfterSecond => self.moved_number(id, 1, 1),
                Turn::BeforeFirst => self.moved_number(id, 0, -1),
                Turn::BeforeSecond => self.moved_number(id, 1, -1),
                Turn::Zero => Some(self.terms.bits(0, 64)),
            };
            if let Some(number) = number {
                self.places[place].iterations.push((id, number));
            }
            self.carry(id, turn, relation, place);
        }
        place
    }

    /// Values that the loop carries, where they are known in that iteration.
    fn carry(&mut self, id: LoopId, turn: Turn, relation: Option<Relation>, place: PlaceId) {
        let side = self.places[place].side as usize;
        let protocol = self.protocol;
        for carried in &protocol.loops[id].carried {
            let shared = [carried.start, carried.next].into_iter().all(|expr| self.is_shared(expr, carried));
            let of = |machine: &Self, from: PlaceId| {
                let own = from == side || relation == Some(Relation::Same);
                let holder = if shared || !own { from } else { side };
                let known = machine.places[holder].carried.iter().find(|entry| entry.0 == carried.var);
                known.map(|entry| entry.1).filter(|_| shared || own)
            };
            // In iterations that are not related, a shared value is shared by the number of the iteration only.
            let related = relation.is_some_and(|relation| relation != Relation::Any);
            let value = match turn {
                Turn::First if related || side == 0 => of(self, 0),
                Turn::Second if related || side == 1 => of(self, 1),
                Turn::AfterFirst if relation == Some(Relation::Next) && shared => of(self, 1),
                Turn::BeforeSecond if relation == Some(Relation::Next) && shared => of(self, 0),
                Turn::AfterSecond if relation == Some(Relation::Previous) && shared => of(self, 0),
                Turn::BeforeFirst if relation == Some(Relation::Previous) && shared => of(self, 1),
                Turn::AfterFirst if related && shared => Some(self.value(carried.next, 0)),
                Turn::AfterSecond if related && shared => Some(self.value(carried.next, 1)),
                Turn::Zero => Some(self.value(carried.start, place)),
                _ => None,
            };
            if let Some(value) = value {
                self.places[place].carried.push((carried.var, value));
            }
        }
    }

    // ---- the conflict

    /// Some byte is in both ranges; atomics of one size exempt each other at equal offsets.
    fn common_byte(&mut self, pair: &Pair) {
        let accesses = [pair.first, pair.second].map(|id| &self.protocol.accesses[id]);
        let offsets = [0, 1].map(|place| self.value(accesses[place].offset, place));
        let sizes = accesses.map(|access| i128::from(access.bytes));
        if sizes[0] == 1 && sizes[1] == 1 {
            let same = self.terms.eq(offsets[0], offsets[1]);
            self.facts.push(same);
        } else {
            let difference = self.terms.apply(Op::BvSub, offsets.to_vec());
            let reach = self.terms.bits(sizes[0] - 1, 64);
            let moved = self.terms.apply(Op::BvAdd, vec![difference, reach]);
            let limit = self.terms.bits(sizes[0] + sizes[1] - 1, 64);
            let overlap = self.terms.apply(Op::BvUlt, vec![moved, limit]);
            self.facts.push(overlap);
        }
        if sizes[0] == sizes[1] && both_atomic(accesses[0].kind, accesses[1].kind, pair.level) {
            let same = self.terms.eq(offsets[0], offsets[1]);
            let apart = self.terms.not(same);
            self.facts.push(apart);
        }
    }
}
