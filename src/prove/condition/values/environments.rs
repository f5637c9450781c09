//! Environments: what the variables of a protocol stand for at one place of one thread.

use crate::calculus::VarId;
use crate::protocol::LoopId;
use crate::prove::state::poly::{Poly, Side};
use std::ops::{Index, IndexMut};

/// Position of an environment in [`Environments`]. The first two are those of the two threads that a condition is about.
pub(in crate::prove::condition) type EnvId = usize;

/// What variables of the protocol stand for at one place of one thread.
#[derive(Clone)]
pub(in crate::prove::condition) struct Env {
    /// The thread.
    pub(in crate::prove::condition) side: Side,
    /// Iteration numbers; a loop without one is not around the place.
    pub(in crate::prove::condition) iterations: Vec<(LoopId, Poly)>,
    /// Values of variables that loops carry; one without a value is unknown here.
    pub(in crate::prove::condition) carried: Vec<(VarId, Poly)>,
    /// Whether everything translated here is evaluated by the thread.
    pub(in crate::prove::condition) certain: bool,
}

impl Env {
    /// A place that no loop is around.
    pub(in crate::prove::condition) fn outside(side: Side) -> Env {
        Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true }
    }

    /// The number of the iteration of a loop around the place.
    pub(in crate::prove::condition) fn iteration(&self, id: LoopId) -> Option<&Poly> {
        self.iterations.iter().find(|entry| entry.0 == id).map(|entry| &entry.1)
    }

    /// The value of a variable that a loop carries.
    pub(in crate::prove::condition) fn carried(&self, var: VarId) -> Option<&Poly> {
        self.carried.iter().find(|entry| entry.0 == var).map(|entry| &entry.1)
    }
}

/// Who evaluates something, and whether it surely does.
#[derive(Clone, Copy)]
pub(in crate::prove::condition) struct Thread {
    /// The thread.
    pub(in crate::prove::condition) side: Side,
    /// Whether what is translated is evaluated.
    pub(in crate::prove::condition) certain: bool,
}

/// The environments of a condition.
#[derive(Clone)]
pub(in crate::prove::condition) struct Environments(Vec<Env>);

impl Environments {
    /// Those of two threads outside of all loops.
    pub(in crate::prove::condition) fn of_two() -> Environments {
        Environments(Side::BOTH.map(Env::outside).into())
    }

    /// One more.
    pub(in crate::prove::condition) fn add(&mut self, env: Env) -> EnvId {
        self.0.push(env);
        self.0.len() - 1
    }

    /// How many there are.
    pub(in crate::prove::condition) fn count(&self) -> usize {
        self.0.len()
    }

    /// The thread of one.
    pub(in crate::prove::condition) fn thread(&self, env: EnvId) -> Thread {
        Thread { side: self.0[env].side, certain: self.0[env].certain }
    }

    /// Whether both threads are in the same iterations of these loops.
    pub(in crate::prove::condition) fn happen_together(&self, loops: &[LoopId]) -> bool {
        loops.iter().all(|around| {
            let numbers = [0, 1].map(|env: EnvId| self.0[env].iteration(*around));
            matches!(numbers, [Some(first), Some(second)] if first == second && !first.is_private())
        })
    }

    /// The numbers of the iterations of these loops; a place outside of one of them has numbers of its own.
    pub(in crate::prove::condition) fn numbers(&self, loops: &[LoopId], env: EnvId) -> Vec<Poly> {
        let numbers = loops.iter().map(|around| self.0[env].iteration(*around).cloned());
        numbers.collect::<Option<Vec<_>>>().unwrap_or_else(|| vec![Poly::constant(-1 - env as i64)])
    }
}

impl Index<EnvId> for Environments {
    type Output = Env;

    fn index(&self, env: EnvId) -> &Env {
        &self.0[env]
    }
}

impl IndexMut<EnvId> for Environments {
    fn index_mut(&mut self, env: EnvId) -> &mut Env {
        &mut self.0[env]
    }
}
