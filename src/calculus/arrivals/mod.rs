//! Objects that count arrivals: what their phases order.
//!
//! Such an object lets go on who waits for a phase once so many threads have arrived in it. Other than a barrier it is
//! used from several places: producers and consumers hand buffers to each other with it. So what it orders is no matter of
//! where it stands, but of numbers: the arrival that a thread makes in turn `i` of its loop, and the wait of another one in
//! turn `j` of another loop.
//!
//! # The shape
//! Threads have *roles*, which depend on nothing but their number in the block: threads of one role come to the same steps.
//! The objects of a *channel* are used in a
//! circle: every thread of every role that uses it arrives at its objects one after the other, first some times before the
//! loop of its role, then once in each turn, and some times behind it. The `n`-th arrival of a thread (counted from 0) is at
//! object `n mod M` of `M`, and the channel waits for one arrival of each of its threads. A thread waits for the arrival that
//! it makes there itself, or its waits are counted as well: the `n`-th is for the `n`-th arrivals, or for those of number
//! `n - M`, of which there are none in the first `M` waits. What does not have this shape is refused.
//!
//! # The proof
//! *Phases.* The `n`-th arrivals of all threads of a channel make up one phase of one object, if no thread arrives twice in
//! one phase: if the arrival `n + M` comes only once the `n`-th phase is complete. That is shown in program order, by a
//! wait of the thread itself for `n` or a later one, or, for a thread that only arrives, by a wait for another channel of
//! which some role arrives only behind its own wait for this one. By induction over the arrivals of a run this holds
//! for all of them.
//! *Order.* Let an access `a` stand before an arrival at the channel with number `n` in its thread, and let `b` stand
//! behind a wait for number `m` in another one. If `n <= m` then `a` happens before `b`: the phase `m` is complete, so that
//! the thread of `a` has arrived `m + 1` times, and its arrivals come in order. With `n = i + c` and `m = j + d`, this is a
//! bound on `i - j`. Behind the loop a number is that of all turns and a constant, the same for all roles if all loops run
//! equally often; every `i` is below it.
//! *Progress* ([`Order::completes`]). All loops with steps run equally often; every wait is for an arrival that the others
//! make; and where a wait depends on another one (its own thread's, or that of a thread before the arrival that it waits for), the turns go
//! down around every circle.
//!
//! *Copies.* An asynchronous copy is done once the arrival that tells of it ([`Told`]) is waited for, by whoever. Before another
//! access it comes only by that channel; behind another one it comes as every access where it is begun.
//!
//! Deliberately absent: several arrivals in one turn, steps under other conditions than those of a role, loops within
//! loops, several loops of a role; behind a loop, objects that an index chooses.

mod channels;
mod ends;
mod numbers;
mod parities;
mod rounds;
mod steps;
#[cfg(test)]
mod tests;

use super::definitions::Definitions;
use super::{ArrayId, ExprId, Kernel, Part, SiteId, Told, VarId};
use channels::{Channel, Handed};
pub use numbers::Threads;
pub use parities::parts;
use rustc_hash::FxHashMap;
use steps::{Head, Pass, Spot};

/// Why nothing is said of the objects of a kernel, and at which step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The step.
    pub site: SiteId,
    /// Why.
    pub reason: &'static str,
}

/// What is assumed of the block where threads are told by their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// That the block extends along its first axis only.
    pub line: bool,
    /// That it has so many threads at least.
    pub threads: u32,
}

/// What the objects of a kernel order.
#[derive(Clone, Debug)]
pub struct Order {
    channels: Vec<Channel>,
    roles: Vec<Role>,
    accesses: FxHashMap<SiteId, Spot>,
    passes: Vec<Pass>,
    told: FxHashMap<SiteId, Told>,
    heads: FxHashMap<SiteId, Head>,
    needs: Needs,
    /// Whether all loops with steps have as many turns, in all threads.
    equal: bool,
}

/// Threads that do the same at all objects.
#[derive(Clone, Debug)]
struct Role {
    threads: Threads,
    /// Its loop with steps, and the place of one of them.
    turns: Option<(SiteId, u32)>,
}

/// By how much the turns of two accesses of different threads may differ where nothing orders them: the number of the turn
/// of the first one less that of the second one. An access that is in none of the loops is in turn 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Apart {
    /// The loop of each.
    pub loops: [Option<SiteId>; 2],
    /// The least difference.
    pub least: Option<i64>,
    /// The greatest.
    pub most: Option<i64>,
    /// Whether something orders them in all turns.
    pub never: bool,
}

impl Apart {
    /// Whether the turns may differ by so much.
    pub fn admits(&self, difference: i64) -> bool {
        !self.never
            && self.least.is_none_or(|least| difference >= least)
            && self.most.is_none_or(|most| difference <= most)
    }

    /// What admits whatever one of the two admits; `None` if they do not speak of the same loops.
    fn or(self, other: Apart) -> Option<Apart> {
        if self.loops != other.loops {
            return None;
        }
        match (self.never, other.never) {
            (true, _) => Some(other),
            (_, true) => Some(self),
            _ => Some(Apart {
                least: self.least.zip(other.least).map(|(one, other)| one.min(other)),
                most: self.most.zip(other.most).map(|(one, other)| one.max(other)),
                ..self
            }),
        }
    }

    /// Whether there is no way.
    pub fn is_empty(&self) -> bool {
        if self.never {
            return true;
        }
        let excludes = |both: (i64, i64)| both.0 > both.1;
        let bounds = self.least.zip(self.most);
        match self.loops {
            [None, None] => !self.admits(0),
            // A turn has no number below 0.
            [Some(_), None] => self.most.is_some_and(|most| most < 0) || bounds.is_some_and(excludes),
            [None, Some(_)] => self.least.is_some_and(|least| least > 0) || bounds.is_some_and(excludes),
            [Some(_), Some(_)] => bounds.is_some_and(excludes),
        }
    }
}

/// The order of the objects of a kernel; `None` if it has none.
///
/// # Errors
/// Where they do not have the shape that the module describes.
pub fn order(kernel: &Kernel) -> Result<Option<Order>, Refusal> {
    if !steps::are_in(kernel) {
        return Ok(None);
    }
    let found = steps::collect(kernel);
    let (roles, channels) = channels::of(&found)?;
    let mut needs = found.needs();
    needs.threads = channels.iter().map(|channel| channel.least_threads(&roles)).max().unwrap_or(0);
    if channels.iter().any(Channel::has_arrivals_alone) {
        // Where they wait for each other in a circle, every role has a thread.
        needs.threads = roles.iter().map(|role| role.threads.start() + 1).fold(needs.threads, u32::max);
    }
    // Of a role of one number there is one thread only where that is the number in the block.
    let has_single_thread = roles.iter().any(|role| role.threads.len() == 1);
    needs.line &= needs.threads > 0 || found.is_mixed() || has_single_thread;
    let mut order = Order {
        channels,
        roles,
        accesses: found.accesses,
        passes: found.passes,
        told: kernel.sites.iter().filter_map(|(site, what)| Some((site, what.told?))).collect(),
        heads: found.heads,
        needs,
        equal: false,
    };
    order.keeps_phases()?;
    order.equal = order.run_equally_often(kernel).is_ok();
    Ok(Some(order))
}

/// A step at objects as it stands in a kernel.
#[derive(Clone, Debug)]
pub struct Stands {
    /// Which.
    pub site: SiteId,
    /// The array of its objects, and where they are in it.
    pub objects: (ArrayId, Vec<i128>),
    /// The threads that come there.
    pub threads: Threads,
    /// Whether they arrive.
    pub arrives: bool,
}

/// The steps of a kernel, whether or not they have an order.
///
/// # Errors
/// Where it is not known at which objects a step is, or for which threads.
pub fn steps(kernel: &Kernel) -> Result<Vec<Stands>, Refusal> {
    let found = steps::collect(kernel);
    let stands = |step: &Result<steps::Step, Refusal>| {
        let step = step.clone()?;
        let objects = (step.what.array, channels::circle(&found, &step)?);
        let arrives = matches!(step.what.part, Part::Arrives | Part::Meets);
        Ok(Stands { site: step.at.site, objects, threads: step.at.threads, arrives })
    };
    found.steps.iter().map(stands).collect()
}

/// The threads for which a condition holds, if it is about nothing but their number in the block, and whether that is taken for
/// the number along the first axis.
pub fn threads(kernel: &Kernel, cond: ExprId) -> Option<(Threads, bool)> {
    let numbers = numbers::Numbers::new(&kernel.exprs, Definitions::of(kernel));
    let threads = numbers.threads(cond)?;
    Some((threads, numbers.asked()[0]))
}

/// The offsets that a write before all steps at objects touches, each once and by one thread; `None` if that is not known.
pub fn written_before(kernel: &Kernel, write: SiteId, offset: ExprId) -> Option<Vec<i128>> {
    let found = steps::collect(kernel);
    let spot = found.accesses.get(&write).filter(|spot| spot.is_plain)?;
    let is_behind = |step: &Result<steps::Step, Refusal>| {
        step.as_ref()
            .is_ok_and(|step| step.at.order > spot.order && (step.at.outer.is_none() || step.at.outer != spot.outer))
    };
    if !found.steps.iter().all(is_behind) {
        return None;
    }
    let turns: Vec<Option<(VarId, i128)>> = match spot.outer {
        None => vec![None],
        Some(each) => found.heads.get(&each)?.turns(&found.numbers)?.into_iter().map(Some).collect(),
    };
    let mut offsets = Vec::new();
    for number in spot.threads.numbers() {
        for &turn in &turns {
            let offset = found.numbers.value(offset, numbers::Known { number: Some(number), turn, carried: None })?;
            if offsets.contains(&offset) {
                return None;
            }
            offsets.push(offset);
        }
    }
    Some(offsets)
}

/// What may meet an asynchronous copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meets {
    /// Where it stands.
    pub site: SiteId,
    /// What it is.
    pub what: Met,
}

/// A kind of what may meet an asynchronous copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A barrier or a fence, which orders what stands before it.
    Passes,
    /// An access of the same thread.
    Own,
}

impl Order {
    /// What stands behind the access of an asynchronous copy, in its thread or in one that it may meet, before a thread has
    /// certainly waited for the arrival that tells of it: where it may be under way.
    pub fn may_meet(&self, copy: SiteId) -> Vec<Meets> {
        let Some(spot) = self.accesses.get(&copy) else { return Vec::new() };
        let tells = |told: &Told| self.channels.iter().find(|each| each.starts_at(told.array, told.start.into()));
        let channel = self.told.get(&copy).and_then(tells);
        let is_done =
            |place: &Spot, role: usize| channel.is_some_and(|channel| self.is_done(channel, spot, place, role));
        let all_are_done = |place: &Spot, threads: Threads| {
            self.roles_of(&threads).is_some_and(|roles| roles.into_iter().all(|role| is_done(place, role)))
        };
        let own = self.accesses.values().filter(|other| {
            let both = other.threads.and(&spot.threads);
            other.site != copy && !both.is_empty() && spot.may_precede(other) && !all_are_done(other, both)
        });
        let passes = self.passes.iter().filter(|Pass { spot: other, waits }| {
            // Who has waited is enough at a place where all wait for them.
            let some_are_done = || {
                let comes = |role: &Role| role.threads.is_within(&other.threads);
                self.roles.iter().enumerate().any(|(at, role)| comes(role) && is_done(other, at))
            };
            spot.may_precede(other) && !(*waits && some_are_done() || all_are_done(other, other.threads))
        });
        let own = own.map(|other| Meets { site: other.site, what: Met::Own });
        let passes = passes.map(|other| Meets { site: other.spot.site, what: Met::Passes });
        let mut all: Vec<Meets> = own.chain(passes).collect();
        all.sort_by_key(|meets| meets.site);
        all
    }

    /// Whether threads of a role have waited at a place for all that has been begun at another one before, in program order.
    fn is_done(&self, channel: &Channel, copy: &Spot, place: &Spot, role: usize) -> bool {
        let (Some(copies), Some(other)) = (self.places_of(copy), self.place_in(place, role)) else { return false };
        copies.into_iter().all(|copy| {
            let newest = match (copy.turns, other.turns) {
                (Some(_), Some(_)) => -i64::from(other.order < copy.order),
                _ => 0,
            };
            match channel.hands_over(copy, other, self.equal) {
                Some(Handed::Always) => true,
                Some(Handed::Until(ahead)) => ahead >= newest,
                None => false,
            }
        })
    }

    /// What is assumed of the block.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// How two accesses of different threads of one block may stand to each other; `None` if that is not known.
    pub fn apart(&self, first: SiteId, second: SiteId) -> Option<Apart> {
        let places = |site| self.places_of(self.accesses.get(site)?);
        let (ones, others) = (places(&first)?, places(&second)?);
        let mut all: Option<Apart> = None;
        for one in &ones {
            for other in &others {
                if one.role == other.role && self.roles[one.role].threads.len() == 1 {
                    continue;
                }
                let apart = self.apart_at((first, *one), (second, *other))?;
                all = match all {
                    None => Some(apart),
                    Some(all) => Some(all.or(apart)?),
                };
            }
        }
        all.filter(|all| all.never || all.least.is_some() || all.most.is_some())
    }

    /// The same for threads of two roles.
    fn apart_at(&self, (first, one): (SiteId, Placed), (second, two): (SiteId, Placed)) -> Option<Apart> {
        // What only one channel tells of is ordered by that one.
        let handed = |(site, first), second| {
            let told = self.told.get(&site).copied();
            let tells =
                move |channel: &&Channel| told.is_none_or(|told| channel.starts_at(told.array, told.start.into()));
            self.channels.iter().filter(tells).filter_map(move |channel| channel.hands_over(first, second, self.equal))
        };
        let until = |handed| match handed {
            Handed::Until(ahead) => Some(ahead),
            Handed::Always => None,
        };
        let never = handed((first, one), two).chain(handed((second, two), one)).any(|handed| handed == Handed::Always);
        let before = handed((first, one), two).filter_map(until).max();
        let behind = handed((second, two), one).filter_map(until).max();
        if !never && before.is_none() && behind.is_none() {
            return None;
        }
        Some(Apart {
            loops: [one.turns, two.turns],
            least: before.map(|before| before + 1),
            most: behind.map(|behind| -(behind + 1)),
            never,
        })
    }

    /// The place of an access for each role whose threads come there; `None` if others come there as well.
    fn places_of(&self, spot: &Spot) -> Option<Vec<Placed>> {
        self.roles_of(&spot.threads)?.into_iter().map(|role| self.place_in(spot, role)).collect()
    }

    /// The roles that threads are of; `None` if some of them are of none.
    fn roles_of(&self, threads: &Threads) -> Option<Vec<usize>> {
        let mut known = Threads::NONE;
        let mut roles = Vec::new();
        for (at, role) in self.roles.iter().enumerate().filter(|(_, role)| !role.threads.and(threads).is_empty()) {
            known = known.or(&role.threads);
            roles.push(at);
        }
        threads.is_within(&known).then_some(roles)
    }

    /// The place as it is for the threads of a role.
    fn place_in(&self, spot: &Spot, role: usize) -> Option<Placed> {
        let turns = self.roles.get(role)?.turns;
        let inside = turns.map(|(each, _)| each).filter(|each| spot.outer == Some(*each));
        let is_behind = inside.is_none() && turns.is_some_and(|(_, step)| step < spot.order);
        Some(Placed { role, turns: inside, is_behind, order: spot.order })
    }
}

/// An access in the code of a role.
#[derive(Clone, Copy, Debug)]
struct Placed {
    role: usize,
    /// The loop of the role, if it is in there.
    turns: Option<SiteId>,
    /// Whether it stands behind that loop.
    is_behind: bool,
    order: u32,
}
