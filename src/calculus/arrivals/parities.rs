//! Waits that stand by themselves: for the phase of a parity, or for what the thread has arrived at last.
//!
//! An object tells only the parity of its phase. A wait for parity `p` lets a thread go on unless the phase that is not complete
//! has that parity; it is 0 or 1, and PTX leaves open what any other number asks for. So it is the wait for a phase if its
//! parity is that of the phase, and if the thread has waited for all phases before; and it comes to its end only if the
//! object cannot be two phases further by then.
//!
//! In a circle of `M` objects the wait number `n` of a thread is for phase `n / M` of an object. A thread that starts with the
//! other parity waits for the phase before, of which there is none in the first `M` waits.

use super::channels::{Channel, User, Uses};
use super::{Order, Refusal, channels, steps};
use crate::calculus::{ExprId, Kernel, Part, SiteId};

/// For waits, and the parities that they name, what they wait for if the first one of each thread at an object tells it.
///
/// # Errors
/// Where a parity is not known.
pub fn parts(kernel: &Kernel, waits: &[(SiteId, ExprId)]) -> Result<Vec<(SiteId, Part)>, Refusal> {
    let found = steps::collect(kernel);
    let mut known = Vec::new();
    for step in &found.steps {
        let step = step.clone()?;
        let Some((_, parity)) = waits.iter().find(|(site, _)| *site == step.at.site) else { continue };
        let circle = channels::circle(&found, &step)?;
        let refusal = Refusal { site: step.at.site, reason: "the parity that it waits for is not known" };
        let first = *found.values_at(*parity, &step.at).and_then(|all| all.first().copied()).as_ref().ok_or(refusal)?;
        known.push((step, circle, first));
    }
    let part = |(step, circle, _): &(steps::Step, Vec<i128>, i128)| {
        let first = known.iter().find(|(other, objects, _)| {
            other.what.array == step.what.array
                && objects.iter().any(|offset| circle.contains(offset))
                && !other.at.threads.and(&step.at.threads).is_empty()
        });
        let waits_now = first.is_none_or(|(_, _, parity)| *parity == 0);
        (step.at.site, if waits_now { Part::Waits } else { Part::WaitsBefore })
    };
    Ok(known.iter().map(part).collect())
}

/// The wait at a site, as users make it.
struct Made<'o> {
    channel: &'o Channel,
    user: &'o User,
    /// The number of the first one.
    number: i64,
    /// Whether it is made in every turn.
    turns: bool,
}

impl Order {
    /// Whether these waits are for the phases whose parities they name.
    ///
    /// # Errors
    /// At the first one that is not.
    pub fn has_parities(&self, kernel: &Kernel, waits: &[(SiteId, ExprId)]) -> Result<(), Refusal> {
        let found = steps::collect(kernel);
        for (site, parity) in waits {
            let refusal = |reason| Refusal { site: *site, reason };
            let step = found.steps.iter().flatten().find(|step| step.at.site == *site);
            let step = step.ok_or_else(|| refusal("it is in code of which nothing is known"))?;
            let values = found.values_at(*parity, &step.at);
            let values = values.ok_or_else(|| refusal("the parity that it waits for is not known"))?;
            let late = i64::from(step.what.part == Part::WaitsBefore);
            for made in self.made(*site).map_err(refusal)? {
                let objects = made.channel.number();
                // Values and phases together come again after so many turns.
                let turns = if made.turns { values.len() as i64 * objects * 2 } else { 1 };
                let is_that = |turn: i64| {
                    let phase = (made.number + turn) / objects + late;
                    values[(turn as usize) % values.len()] == i128::from(phase & 1)
                };
                if !(0..turns).all(is_that) {
                    return Err(refusal("the parity that it waits for is not that of its phase"));
                }
            }
        }
        Ok(())
    }

    /// Whether these waits are each for the arrival that their thread has made since the one before.
    ///
    /// # Errors
    /// At the first one that is not.
    pub fn waits_for_own(&self, sites: &[SiteId]) -> Result<(), Refusal> {
        for &site in sites {
            let refusal = |reason| Refusal { site, reason };
            if !self.made(site).map_err(refusal)?.iter().all(|made| alternates(made.user)) {
                return Err(refusal("its thread does not arrive once before each wait"));
            }
        }
        Ok(())
    }

    /// The waits of these by parity that a phase may pass by, so that the thread waits for the one after the next.
    pub fn may_miss(&self, waits: &[(SiteId, ExprId)]) -> Vec<SiteId> {
        let misses = |site: SiteId| {
            self.made(site).is_ok_and(|all| !all.iter().all(|made| self.keeps_up(made.channel, made.user)))
        };
        waits.iter().map(|(site, _)| *site).filter(|site| misses(*site)).collect()
    }

    fn made(&self, site: SiteId) -> Result<Vec<Made<'_>>, &'static str> {
        let mut all = Vec::new();
        for channel in &self.channels {
            for user in &channel.users {
                let Uses { before, turn, behind, .. } = &user.waits;
                let place =
                    |steps: &[channels::Use]| steps.iter().position(|step| step.site == site).map(|at| at as i64);
                let mut add = |number, turns| all.push(Made { channel, user, number, turns });
                if let Some(at) = place(before) {
                    add(at, false);
                } else if turn.is_some_and(|step| step.site == site) {
                    add(user.waits.number_before(), true);
                } else if let Some(at) = place(behind) {
                    if turn.is_some() {
                        return Err("it stands behind a loop of which is not known how often it runs");
                    }
                    add(user.waits.number_before() + at, false);
                }
            }
        }
        Ok(all)
    }

    /// Whether no phase that a thread waits for is followed by another one before the thread has seen that.
    fn keeps_up(&self, channel: &Channel, user: &User) -> bool {
        if alternates(user) {
            return true;
        }
        let mut arriving = channel.users.iter().filter(|other| !other.arrivals.is_empty());
        arriving.any(|other| {
            let Uses { before, turn, behind, .. } = &other.arrivals;
            match turn {
                _ if (before.len() + behind.len()) as i64 > channel.number() => false,
                None => true,
                Some(step) => behind.is_empty() && self.is_held_by(channel, other, *step, user.role),
            }
        })
    }
}

/// Whether a thread arrives once before each of its waits, and waits before it arrives again.
fn alternates(user: &User) -> bool {
    let (arrivals, waits) = (&user.arrivals, &user.waits);
    let one_by_one = |arrivals: &[channels::Use], waits: &[channels::Use]| {
        let pairs = || arrivals.iter().zip(waits);
        arrivals.len() == waits.len()
            && pairs().all(|(arrival, wait)| arrival.order < wait.order)
            && pairs().zip(arrivals.iter().skip(1)).all(|((_, wait), next)| wait.order < next.order)
    };
    let [in_turn, waited] = [arrivals.turn, waits.turn].map(|step| step.into_iter().collect::<Vec<_>>());
    one_by_one(&arrivals.before, &waits.before)
        && one_by_one(&in_turn, &waited)
        && one_by_one(&arrivals.behind, &waits.behind)
}
