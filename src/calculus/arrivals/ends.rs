//! Whether nobody waits in vain.

use super::channels::{Channel, More, Number, Use, User, Uses};
use super::steps::Head;
use super::{Order, Refusal};
use crate::calculus::definitions::Definitions;
use crate::calculus::{Expr, Exprs, GeometryVar, Kernel, SiteId};

/// A wait that every thread of a role makes.
struct Wait<'o> {
    channel: &'o Channel,
    user: &'o User,
    step: Use,
    place: Place,
    /// The number of the arrival that it waits for.
    number: Number,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    Turn,
    Behind,
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
            let mut arriving = wait.channel.users.iter().filter(|other| !other.arrivals.is_empty()).peekable();
            if arriving.peek().is_none() || arriving.any(|other| !wait.is_made(&other.arrivals)) {
                return refuse("it may wait for more arrivals than there are");
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
            let objects = channel.number();
            for user in &channel.users {
                let mut add = |step, place, number| waits.push(Wait { channel, user, step, place, number });
                for (at, &step) in user.waits.before.iter().enumerate() {
                    let least = user.waited_before(at, objects);
                    add(step, Place::Before, Number { least, more: More::Nothing });
                }
                if let Some(step) = user.waits.turn {
                    let least = user.waited_in_turn(objects);
                    add(step, Place::Turn, Number { least, more: More::Turn });
                }
                for (at, &step) in user.waits.behind.iter().enumerate() {
                    add(step, Place::Behind, user.waited_behind(at, objects));
                }
            }
        }
        waits
    }

    /// Whether all loops with steps have as many turns, in all threads.
    pub(super) fn run_equally_often(&self, kernel: &Kernel) -> Result<(), Refusal> {
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
            loops.extend(users.flat_map(User::turns).next().map(|step| (each, step.site)));
        }
        loops
    }
}

/// Differences of turns are not counted further.
const MOST: i64 = 1 << 20;

impl Wait<'_> {
    /// Whether those who arrive like this come to the arrival that it waits for.
    fn is_made(&self, arrivals: &Uses) -> bool {
        let (before, behind) = (arrivals.number_before(), arrivals.behind.len() as i64);
        let Number { least, more } = self.number;
        match more {
            More::Turn => arrivals.turn.is_some() && least <= before,
            More::Turns => arrivals.turn.is_some() && least < before + behind,
            More::Nothing if least < before => true,
            // Only where it stands behind the loop, whose turns there may be none of.
            More::Nothing => self.place == Place::Behind && least < before + behind,
        }
    }
}

/// A step of a thread: its place in program order, and its part of the code, with the turn in the loop.
type Step = (u32, Place, i64);

/// Whether a wait depends on another one that its own thread, or one that arrives where it waits, makes before: by how many
/// turns later at most.
fn depends(one: &Wait<'_>, other: &Wait<'_>) -> Option<i64> {
    let arriving = one.channel.users.iter().filter(|user| user.role == other.user.role);
    let arrivals = arriving.filter_map(|user| awaited(one, &user.arrivals)).filter_map(|step| before(step, other));
    let own = (one.user.role == other.user.role).then(|| before((one.step.order, one.place, 0), other)).flatten();
    arrivals.chain(own).max()
}

/// The arrival that is waited for, of those who arrive like this.
fn awaited(wait: &Wait<'_>, arrivals: &Uses) -> Option<Step> {
    let at = wait.number.least - arrivals.number_before();
    match wait.number.more {
        More::Turn => arrivals.turn.map(|step| (step.order, Place::Turn, at)),
        More::Nothing if at < 0 => {
            let at = usize::try_from(wait.number.least).ok()?;
            arrivals.before.get(at).map(|step| (step.order, Place::Before, 0))
        }
        // In the loop, which stands before all that is behind it, or behind it: the last one that it may be.
        More::Nothing | More::Turns => {
            let last = arrivals.behind.len().checked_sub(1)?;
            let step = arrivals.behind[usize::try_from(at).ok()?.min(last)];
            Some((step.order, Place::Behind, 0))
        }
    }
}

/// The last turn of a wait before a step of the same thread.
fn before((order, place, turn): Step, wait: &Wait<'_>) -> Option<i64> {
    match (place, wait.place) {
        (Place::Turn, Place::Turn) => Some(turn - i64::from(wait.step.order >= order)),
        (Place::Before, Place::Before) | (Place::Behind, Place::Behind) => (wait.step.order < order).then_some(0),
        // What stands in an earlier part has no way back.
        (Place::Turn, Place::Before) | (Place::Behind, Place::Before | Place::Turn) => Some(0),
        (Place::Before, Place::Turn | Place::Behind) | (Place::Turn, Place::Behind) => None,
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
