//! Whether nobody waits in vain.

use super::channels::{Channel, Use, User};
use super::steps::Head;
use super::{Order, Refusal};
use crate::calculus::definitions::Definitions;
use crate::calculus::{Expr, Exprs, GeometryVar, Kernel, SiteId};

/// A wait that every thread of a role makes, before its loop or in each of its turns.
struct Wait<'o> {
    channel: &'o Channel,
    user: &'o User,
    step: Use,
    /// The number of the arrival that it waits for; in turn `j` it is `j` more.
    number: i64,
    in_turns: bool,
}

impl Order {
    /// Whether every wait comes to an end.
    ///
    /// # Errors
    /// Where that is not shown.
    pub fn completes(&self, kernel: &Kernel) -> Result<(), Refusal> {
        self.run_equally_often(kernel)?;
        let waits = self.waits();
        for wait in &waits {
            let refuse = |reason| Err(Refusal { site: wait.step.site, reason });
            for other in &wait.channel.users {
                let enough = if wait.in_turns {
                    other.turn.is_some() && other.number_before() >= wait.number
                } else {
                    other.number_before() > wait.number
                };
                if !enough {
                    return refuse("it may wait for more arrivals than there are");
                }
            }
        }
        let number = waits.len();
        // By how many turns later, at most, another wait may come on which one depends.
        let mut later: Vec<Vec<Option<i64>>> =
            waits.iter().map(|one| waits.iter().map(|other| depends(one, other)).collect()).collect();
        for over in 0..number {
            for from in 0..number {
                for to in 0..number {
                    if let (Some(first), Some(second)) = (later[from][over], later[over][to]) {
                        let sum = (first + second).min(MOST);
                        later[from][to] = Some(later[from][to].map_or(sum, |known| known.max(sum)));
                    }
                }
            }
        }
        match (0..number).find(|&at| later[at][at].is_some_and(|turns| turns >= 0)) {
            Some(at) => Err(Refusal { site: waits[at].step.site, reason: "threads may wait for each other for ever" }),
            None => Ok(()),
        }
    }

    fn waits(&self) -> Vec<Wait<'_>> {
        let mut waits = Vec::new();
        for channel in &self.channels {
            for user in &channel.users {
                for (number, &step) in user.before.iter().enumerate().filter(|(_, step)| step.waits) {
                    waits.push(Wait { channel, user, step, number: number as i64, in_turns: false });
                }
                if let Some(step) = user.turn.filter(|step| step.waits) {
                    waits.push(Wait { channel, user, step, number: user.number_before(), in_turns: true });
                }
            }
        }
        waits
    }

    /// Whether all loops with steps have as many turns, in all threads.
    fn run_equally_often(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let definitions = Definitions::of(kernel);
        let mut exprs = kernel.exprs.clone();
        let mut known: Option<(i128, crate::calculus::BinaryOp, crate::calculus::ExprId)> = None;
        for (each, step) in self.loops() {
            let refuse = |reason| Err(Refusal { site: step, reason });
            let Some(&Head { start, cmp, bound, .. }) = self.heads.get(&each) else {
                return refuse("how often its loop runs is not known");
            };
            let bound = definitions.inlined(&mut exprs, bound);
            if !is_uniform(&exprs, bound) {
                return refuse("its loop may run more often in one thread than in another");
            }
            if *known.get_or_insert((start, cmp, bound)) != (start, cmp, bound) {
                return refuse("its loop may run more often than that of the other threads");
            }
        }
        Ok(())
    }

    /// The loops with steps, and one step of each.
    fn loops(&self) -> Vec<(SiteId, SiteId)> {
        let mut loops = Vec::new();
        for (number, role) in self.roles.iter().enumerate() {
            let Some((each, _)) = role.turns else { continue };
            let users = self.channels.iter().filter_map(|channel| channel.user(number));
            loops.extend(users.filter_map(|user| user.turn).next().map(|step| (each, step.site)));
        }
        loops
    }
}

/// Differences of turns are not counted further.
const MOST: i64 = 1 << 20;

/// Whether a wait depends on another one that its own thread, or one that arrives where it waits, makes before: by how many
/// turns later at most.
fn depends(one: &Wait<'_>, other: &Wait<'_>) -> Option<i64> {
    let arriving = one.channel.users.iter().filter(|user| user.role == other.user.role).filter_map(|user| {
        // The arrival that is waited for, and its turn if it is in the loop.
        let turn = if one.in_turns || one.number >= user.number_before() { user.turn } else { None };
        let arrival = match turn {
            Some(step) => (step.order, Some(one.number - user.number_before())),
            None => (user.before.get(usize::try_from(one.number).ok()?)?.order, None),
        };
        before(arrival, other)
    });
    let own = (one.user.role == other.user.role)
        .then(|| before((one.step.order, one.in_turns.then_some(0)), other))
        .flatten();
    arriving.chain(own).max()
}

/// The last turn of a wait before a step at this place and in this turn of the loop.
fn before((order, turn): (u32, Option<i64>), wait: &Wait<'_>) -> Option<i64> {
    match (turn, wait.in_turns) {
        (Some(turn), true) => Some(turn - i64::from(wait.step.order >= order)),
        // The turns start behind.
        (Some(_), false) => Some(0),
        (None, false) => (wait.step.order < order).then_some(0),
        (None, true) => None,
    }
}

fn is_uniform(exprs: &Exprs, value: crate::calculus::ExprId) -> bool {
    let mut uniform = true;
    exprs.visit(value, |_, node| {
        uniform &= !matches!(
            node,
            Expr::Var(_) | Expr::Opaque(..) | Expr::Call(..) | Expr::Geometry(GeometryVar::ThreadIdx(_))
        );
    });
    uniform
}
