//! Variables of a protocol: iteration numbers, values that loops carry, unknown values.
//!
//! What both threads share is the iteration number of a loop around a barrier, and what is computed from it
//! and from uniform values alone (docs/RULES.md, "2.7 LOOPS"). Everything else is private.

use super::builder::Builder;
use super::environments::EnvId;
use super::numbered_iterations;
use crate::calculus::intervals::Relation;
use crate::calculus::{BinaryOp, Expr, HavocReason, ScalarType, VarId};
use crate::memory_model::Level;
use crate::protocol::{Carried, LoopId, Opaque, OpaqueId, Origin, Role};
use crate::prove::MOST_ITERATIONS;
use crate::prove::condition::asking::sameness;
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::state::poly::{LOOPS, PIECES, Poly, Side, UNKNOWN};

impl Builder<'_> {
    pub(in crate::prove::condition) fn variable(&mut self, var: VarId, env: EnvId) -> Option<Poly> {
        match *self.protocol.roles.get(var)? {
            Role::Iteration(id) => self.iteration(id, env),
            Role::Geometric(id) | Role::Toggle(id) => {
                let known = self.environments[env].carried(var).cloned();
                known.or_else(|| self.stray(var, id, env))
            }
            Role::Opaque(id) => self.opaque(id, env),
        }
    }

    fn iteration(&mut self, id: LoopId, env: EnvId) -> Option<Poly> {
        if let Some(number) = self.environments[env].iteration(id) {
            return Some(number.clone());
        }
        let var = self.protocol.loops[id].iteration;
        self.stray(var, id, env)
    }

    /// A loop's variable at a place that the loop is not around: some value of one thread.
    fn stray(&mut self, var: VarId, _of: LoopId, env: EnvId) -> Option<Poly> {
        let (side, variable) = (self.environments[env].side, &self.protocol.vars[var]);
        self.draft.unknown_atom(
            Key::Carried(var),
            vec![Poly::constant(env as i64)],
            Some(side),
            variable.ty,
            &variable.name,
        )
    }

    // ---- loops

    /// Gives a loop that is around the place of `env` a private iteration number and private carried values.
    pub(in crate::prove::condition) fn enter_privately(&mut self, id: LoopId, depth: usize, env: EnvId) -> Option<()> {
        self.enter_at((LOOPS + depth.min(5) as u8).min(PIECES - 1), id, env)
    }

    /// The same, with the level of the atoms that this makes.
    pub(in crate::prove::condition) fn enter_at(&mut self, level: u8, id: LoopId, env: EnvId) -> Option<()> {
        let number = self.count(id, level, self.environments[env].side)?;
        self.environments[env].iterations.push((id, number));
        self.carry_privately(id, env)
    }

    fn carry_privately(&mut self, id: LoopId, env: EnvId) -> Option<()> {
        let side = self.environments[env].side;
        for carried in &self.protocol.loops[id].carried {
            let value = self.carried_atom(carried, UNKNOWN, side, env)?;
            self.environments[env].carried.push((carried.var, value));
        }
        Some(())
    }

    /// Whether the loop around the place of `env` has an iteration number.
    pub(in crate::prove::condition) fn has_entered(&self, id: LoopId, env: EnvId) -> bool {
        self.environments[env].iteration(id).is_some()
    }

    /// A loop around each place, where the first one's iteration number is so much more than the second one's.
    pub(in crate::prove::condition) fn enter_apart(&mut self, ids: [LoopId; 2], difference: i64) -> Option<()> {
        let number = self.count(ids[0], 0, Side::First)?;
        let numbers = match difference {
            0.. => [number.plus_constant(difference)?, number],
            _ => [number.clone(), number.plus_constant(difference.checked_neg()?)?],
        };
        for (env, (id, number)) in ids.into_iter().zip(numbers).enumerate() {
            self.environments[env].iterations.push((id, number));
            self.carry_privately(id, env)?;
        }
        Some(())
    }

    /// A loop around both places, with this relation of iteration numbers.
    pub(in crate::prove::condition) fn enter_together(
        &mut self,
        id: LoopId,
        relation: Relation,
        depth: usize,
    ) -> Option<()> {
        if relation == Relation::Any {
            for env in [0, 1] {
                self.enter_privately(id, depth, env)?;
            }
            return Some(());
        }
        let number = self.count(id, 0, Side::First)?;
        let later = number.plus_constant(1)?;
        let (first, second) = match relation {
            Relation::Next => (number, later),
            Relation::Previous => (later, number),
            Relation::Same | Relation::Any => (number.clone(), number),
        };
        self.environments[0].iterations.push((id, first.clone()));
        self.environments[1].iterations.push((id, second));
        for carried in &self.protocol.loops[id].carried {
            self.carry_together(carried, relation)?;
        }
        numbered_iterations::tell_apart(self, id, &first, 0);
        Some(())
    }

    fn carry_together(&mut self, carried: &Carried, relation: Relation) -> Option<()> {
        if !sameness::of_iterations(self, carried) {
            for (env, side) in Side::BOTH.into_iter().enumerate() {
                let value = self.carried_atom(carried, UNKNOWN, side, env)?;
                self.environments[env].carried.push((carried.var, value));
            }
            return Some(());
        }
        let earlier = usize::from(relation == Relation::Previous);
        let value = self.carried_atom(carried, 0, Side::First, earlier)?;
        self.environments[earlier].carried.push((carried.var, value.clone()));
        let other = 1 - earlier;
        let value = if relation == Relation::Same { value } else { self.value(carried.next, earlier)? };
        let value = self.draft.settled(&value)?;
        self.environments[other].carried.push((carried.var, value));
        Some(())
    }

    fn count(&mut self, id: LoopId, level: u8, side: Side) -> Option<Poly> {
        let name = self.protocol.vars[self.protocol.loops[id].iteration].name.clone();
        let atom = self.draft.atom(level, Key::Iteration(id), side, &name, Source::Count)?;
        self.draft.set_non_negative(atom);
        self.draft.bound(atom, Some(0), Some(MOST_ITERATIONS));
        Some(Poly::atom(atom))
    }

    /// An atom for a carried value, with what holds of it in every iteration.
    fn carried_atom(&mut self, carried: &Carried, level: u8, side: Side, env: EnvId) -> Option<Poly> {
        let variable = &self.protocol.vars[carried.var];
        let toggles = matches!(self.protocol.roles.get(carried.var), Some(Role::Toggle(_)));
        let source = if toggles { Source::Toggle } else { Source::Size };
        let atom = self.draft.atom(level, Key::Carried(carried.var), side, &variable.name, source)?;
        self.draft.typed(atom, variable.ty);
        let value = Poly::atom(atom);
        if toggles {
            self.draft.set_non_negative(atom);
            self.draft.bound(atom, Some(0), Some(1));
            self.draft.fact(Poly::constant(1).minus(&value)?);
            if level == 0 {
                self.draft.state.toggles.push(value.clone());
            }
        } else {
            self.invariant(carried, &value, env);
        }
        Some(value)
    }

    /// Inductive bounds of a geometric variable: it grows from its start, or shrinks from it.
    fn invariant(&mut self, carried: &Carried, value: &Poly, env: EnvId) -> Option<()> {
        let at = match self.protocol.exprs[carried.next] {
            Expr::Convert(_, inner) => inner,
            _ => carried.next,
        };
        let Expr::Binary(op, _, by) = self.protocol.exprs[at] else { return None };
        let factor = self.protocol.exprs.as_int(by)?;
        let least = i128::from(matches!(op, BinaryOp::Mul | BinaryOp::Div));
        if factor < least {
            return None;
        }
        let start = self.value(carried.start, env)?;
        let is_power = match op {
            BinaryOp::Mul | BinaryOp::Div => factor & (factor - 1) == 0,
            _ => true,
        };
        let atom = value.as_atom()?;
        if is_power && self.draft.is_power(&start) {
            self.draft.powers.push(value.clone());
        }
        match op {
            BinaryOp::Mul | BinaryOp::Shl if self.draft.shows_positive(&start) => {
                if !self.stays_in_range(carried, value, factor, op, env) {
                    self.assume_no_wrap(carried.next);
                }
                self.draft.set_non_negative(atom);
                self.draft.fact(value.minus(&start)?);
                self.draft.fact(value.plus_constant(-1)?);
            }
            BinaryOp::Div | BinaryOp::Shr if self.draft.shows(&start) => {
                self.draft.set_non_negative(atom);
                self.draft.fact(start.minus(value)?);
            }
            _ => {}
        }
        Some(())
    }

    /// Whether a growing value cannot leave its type in an iteration that its loop's test lets follow: `s < bound` with
    /// a bound that is small enough, or a signed type, whose overflow is undefined (a narrow one is computed as `int`
    /// and cut, which is defined).
    fn stays_in_range(&mut self, carried: &Carried, value: &Poly, factor: i128, op: BinaryOp, env: EnvId) -> bool {
        let Some((least, greatest)) = self.protocol.vars[carried.var].ty.range() else { return false };
        if least < 0 && greatest >= i128::from(i32::MAX) && op == BinaryOp::Mul {
            return true;
        }
        let growth = if op == BinaryOp::Shl { 1i128.checked_shl(factor as u32).unwrap_or(i128::MAX) } else { factor };
        let Some(Role::Geometric(id)) = self.protocol.roles.get(carried.var).copied() else { return false };
        let mut tests = vec![self.protocol.loops[id].guard];
        while let Some(test) = tests.pop() {
            match self.protocol.exprs[test] {
                Expr::Binary(BinaryOp::And, a, b) => tests.extend([a, b]),
                Expr::Binary(BinaryOp::Lt | BinaryOp::Le, a, b)
                    if self.protocol.exprs[a] == Expr::Var(carried.var)
                        && !self.protocol.exprs.mentions(b, carried.var) =>
                {
                    let Some(bound) = self.value(b, env).filter(|bound| bound != value) else { continue };
                    let high = self.draft.interval(&bound).1;
                    if high.and_then(|high| high.checked_mul(growth)).is_some_and(|most| most <= greatest) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    // ---- unknown values

    /// What there is to say at the place of the other thread, which need not evaluate anything there. The first two
    /// places are those of the two threads that a condition is about.
    pub(in crate::prove::condition) fn in_other_place<R>(
        &mut self,
        env: EnvId,
        say: impl FnOnce(&mut Self, EnvId) -> Option<R>,
    ) -> Option<R> {
        let other = 1usize.checked_sub(env)?;
        let certain = std::mem::replace(&mut self.environments[other].certain, false);
        let said = say(self, other);
        self.environments[other].certain = certain;
        said
    }

    fn opaque(&mut self, id: OpaqueId, env: EnvId) -> Option<Poly> {
        let opaque = &self.protocol.opaques[id];
        let ty = self.protocol.vars[opaque.var].ty;
        if opaque.is_same_block() {
            return Some(Poly::constant(i64::from(self.launch.level != Level::Grid)));
        }
        if let Some(value) = opaque.in_other() {
            return self.in_other_place(env, |builder, place| builder.value(value, place));
        }
        if let Origin::Complex { value } = opaque.origin
            && !matches!(ty, ScalarType::Opaque { .. })
            && let Some(value) = self.value(value, env)
        {
            return Some(value);
        }
        ty.range()?;
        if let Some(number) = numbered_iterations::left(self, id, env) {
            return Some(Poly::constant(number));
        }
        let side = self.environments[env].side;
        let name = self.protocol.vars[opaque.var].name.clone();
        if let Some((alike, loops)) = self.handed(id) {
            // Whoever reads it, and wherever: it is the value of one store.
            let identity = self.environments.numbers(&loops, env);
            let shared = self.launch.level.is_one_block() && self.environments.happen_together(&loops);
            return self.draft.unknown_atom(Key::Opaque(alike), identity, (!shared).then_some(side), ty, &name);
        }
        let mut identity = self.iterations_of(id, env);
        let (key, arguments, shared) = match &opaque.origin {
            Origin::Function { args, .. } => (Key::Function(self.first_alike(id)), Some(args.clone()), true),
            Origin::Read { offset, stable, constant, .. } if *constant || *stable => {
                let steady = *constant && (self.launch.level == Level::Block || self.is_seen_by_all_blocks(id));
                let shared = steady || self.launch.level == Level::Block && self.happens_together(id);
                (
                    if *constant { Key::Function(self.first_alike(id)) } else { Key::Opaque(id) },
                    Some(vec![*offset]),
                    shared,
                )
            }
            Origin::Loop { .. } | Origin::Havoc(HavocReason::Common(..)) if opaque.is_uniform(self.launch.closest) => {
                (Key::Opaque(id), Some(Vec::new()), self.happens_together(id))
            }
            _ => (Key::Opaque(id), None, false),
        };
        let Some(arguments) = arguments else {
            return self.draft.unknown_atom(key, identity, Some(side), ty, &name);
        };
        let values: Option<Vec<Poly>> = arguments.into_iter().map(|argument| self.value(argument, env)).collect();
        let Some(values) = values else {
            return self.draft.unknown_atom(Key::Opaque(id), identity, Some(side), ty, &name);
        };
        let uniform = shared && values.iter().all(|value| !value.is_private());
        if matches!(key, Key::Function(_)) {
            identity.clear();
        }
        identity.extend(values);
        self.draft.unknown_atom(key, identity, (!uniform).then_some(side), ty, &name)
    }

    /// The first read that sees the same store as this one, and the loops around the store.
    fn handed(&self, id: OpaqueId) -> Option<(OpaqueId, Vec<LoopId>)> {
        let protocol = self.protocol;
        let wanted = &protocol.opaques[id];
        let store = wanted.handed?;
        let ty = |opaque: &Opaque| protocol.vars[opaque.var].ty;
        let is_alike = |opaque: &Opaque| opaque.handed == Some(store) && ty(opaque) == ty(wanted);
        let (alike, _) = protocol.opaques.iter().find(|(_, opaque)| is_alike(opaque))?;
        Some((alike, protocol.accesses[store].loops.clone()))
    }

    fn is_seen_by_all_blocks(&self, id: OpaqueId) -> bool {
        use crate::calculus::Space;
        matches!(&self.protocol.opaques[id].origin, Origin::Read { array, .. }
            if matches!(self.protocol.arrays[*array].space, Space::Global | Space::Constant))
    }

    /// The first unknown value that is the same function, or a read of the same constant array.
    fn first_alike(&self, id: OpaqueId) -> OpaqueId {
        let wanted = &self.protocol.opaques[id];
        let alike = |origin: &Origin| match (origin, &wanted.origin) {
            (Origin::Function { function, args }, Origin::Function { function: other, args: others }) => {
                function == other && args.len() == others.len()
            }
            (
                Origin::Read { array, bytes, constant: true, .. },
                Origin::Read { array: other, bytes: others, constant: true, .. },
            ) => array == other && bytes == others,
            _ => false,
        };
        let ty = self.protocol.vars[wanted.var].ty;
        let found = self
            .protocol
            .opaques
            .iter()
            .find(|(_, opaque)| self.protocol.vars[opaque.var].ty == ty && alike(&opaque.origin));
        found.map_or(id, |(found, _)| found)
    }

    /// Whether both threads read it in the same iterations of all loops around the read.
    fn happens_together(&self, id: OpaqueId) -> bool {
        self.environments.happen_together(&self.protocol.opaques[id].loops)
    }

    /// Iteration numbers at which a value arose; a place outside of one of its loops has a value of its own.
    fn iterations_of(&self, id: OpaqueId, env: EnvId) -> Vec<Poly> {
        self.environments.numbers(&self.protocol.opaques[id].loops, env)
    }
}
