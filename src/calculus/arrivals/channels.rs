//! Channels: objects that threads arrive at one after the other, in a circle.

use super::numbers::{Known, MOST_OBJECTS, Threads};
use super::steps::{Found, Step};
use super::{Order, Placed, Refusal, Role};
use crate::calculus::{ArrayId, Part, SiteId};

/// Size of an object.
const BYTES: i128 = 8;

/// One channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    array: ArrayId,
    /// The offsets of its objects, in the order in which a thread arrives at them.
    objects: Vec<i128>,
    count: Option<u32>,
    pub(super) users: Vec<User>,
    site: SiteId,
}

/// What the threads of a role do at a channel.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) role: usize,
    /// Its steps before the loop.
    pub(super) before: Vec<Use>,
    /// Its step in every turn.
    pub(super) turn: Option<Use>,
    /// The offsets of the objects of these steps.
    offsets: (Vec<i128>, Vec<i128>),
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) order: u32,
    pub(super) waits: bool,
    pub(super) site: SiteId,
}

impl User {
    /// How often its threads arrive before the loop.
    pub(super) fn number_before(&self) -> i64 {
        self.before.len() as i64
    }
}

/// The roles of the threads, and the channels that they use.
pub(super) fn of(found: &Found<'_>) -> Result<(Vec<Role>, Vec<Channel>), Refusal> {
    let steps: Vec<Step> = found.steps.iter().cloned().collect::<Result<_, _>>()?;
    let steps: Vec<Step> = steps.into_iter().filter(|step| !step.at.threads.is_empty()).collect();
    let roles = roles(&steps)?;
    let circles: Vec<Vec<i128>> = steps.iter().map(|step| circle(found, step)).collect::<Result<_, _>>()?;
    let mut channels: Vec<Channel> = Vec::new();
    // Those that are used in turns have several objects; what is done before the loop belongs to one of them.
    let in_turns = steps.iter().zip(&circles).filter(|(step, _)| step.at.outer.is_some());
    let straight = steps.iter().zip(&circles).filter(|(step, _)| step.at.outer.is_none());
    for (step, circle) in in_turns.chain(straight) {
        let refuse = |reason| Refusal { site: step.at.site, reason };
        let touches = |channel: &Channel| {
            channel.array == step.what.array && circle.iter().any(|at| channel.objects.contains(at))
        };
        let role = roles.iter().position(|role| role.threads == step.at.threads).unwrap_or_default();
        let touched: Vec<usize> = (0..channels.len()).filter(|&at| touches(&channels[at])).collect();
        let at = match touched[..] {
            [at] => at,
            [] => {
                let (array, count, site) = (step.what.array, step.what.count, step.at.site);
                channels.push(Channel { array, objects: circle.clone(), count, users: Vec::new(), site });
                channels.len() - 1
            }
            _ => return Err(refuse("which of several objects it is has no order that is known")),
        };
        let channel = &mut channels[at];
        let is_whole = step.at.outer.is_none() || circle.len() == channel.objects.len();
        if channel.count != step.what.count || !is_whole {
            return Err(refuse("which of several objects it is has no order that is known"));
        }
        channel.add(step, role, circle).map_err(refuse)?;
    }
    for channel in &mut channels {
        let site = channel.site;
        let refuse = |reason| Refusal { site, reason };
        channel.turn_into_order().map_err(refuse)?;
        channel.counts_all(&roles).map_err(refuse)?;
    }
    Ok((roles, channels))
}

fn roles(steps: &[Step]) -> Result<Vec<Role>, Refusal> {
    let mut roles: Vec<Role> = Vec::new();
    for step in steps {
        let refuse = |reason| Err(Refusal { site: step.at.site, reason });
        let turns = step.at.outer.map(|each| (each, step.at.order));
        let mut meeting = roles.iter_mut().filter(|role| !role.threads.and(&step.at.threads).is_empty());
        match (meeting.next(), turns) {
            (None, _) => roles.push(Role { threads: step.at.threads, turns }),
            (Some(role), _) if role.threads != step.at.threads => {
                return refuse("some of the threads that arrive here arrive elsewhere, and others do not");
            }
            (Some(Role { turns: None, .. }), None) => {}
            (Some(role @ Role { turns: None, .. }), Some(_)) => role.turns = turns,
            (Some(Role { turns: Some(_), .. }), None) => return refuse("it stands behind a loop with arrivals"),
            (Some(Role { turns: Some((known, _)), .. }), Some((each, _))) if *known == each => {}
            (Some(_), Some(_)) => return refuse("its threads arrive in several loops"),
        }
    }
    Ok(roles)
}

/// The offsets of the objects of a step, in the order of turns.
pub(super) fn circle(found: &Found<'_>, step: &Step) -> Result<Vec<i128>, Refusal> {
    let refuse = |reason| Refusal { site: step.at.site, reason };
    let unknown = || refuse("which of several objects it is is not known");
    let offset = step.what.offset;
    let offsets: Vec<i128> = match step.at.outer {
        None => vec![found.numbers.value(offset, Known::default()).ok_or_else(unknown)?],
        Some(each) => {
            let head = found.heads.get(&each).ok_or_else(|| refuse("its loop does not count up in steps of one"))?;
            let period = found.numbers.period(offset, head.var, head.signed).ok_or_else(unknown)?;
            let at = |turn: u64| {
                let turn = Some((head.var, head.start + i128::from(turn)));
                found.numbers.value(offset, Known { number: None, turn })
            };
            let all: Vec<i128> = (0..period.min(MOST_OBJECTS)).map(at).collect::<Option<_>>().ok_or_else(unknown)?;
            let shortest = (1..=all.len())
                .find(|&turns| all.len() % turns == 0 && (0..all.len()).all(|turn| all[turn] == all[turn % turns]));
            all[..shortest.unwrap_or(all.len())].to_vec()
        }
    };
    let is_twice = (1..offsets.len()).any(|at| offsets[..at].contains(&offsets[at]));
    if is_twice || offsets.iter().any(|offset| offset % BYTES != 0) {
        return Err(unknown());
    }
    Ok(offsets)
}

impl Channel {
    fn add(&mut self, step: &Step, role: usize, circle: &[i128]) -> Result<(), &'static str> {
        let waits = step.what.part == Part::Meets;
        let own = Use { order: step.at.order, waits, site: step.at.site };
        let at = match self.users.iter().position(|user| user.role == role) {
            Some(at) => at,
            None => {
                self.users.push(User { role, before: Vec::new(), turn: None, offsets: (Vec::new(), Vec::new()) });
                self.users.len() - 1
            }
        };
        let user = &mut self.users[at];
        if step.at.outer.is_none() {
            user.before.push(own);
            user.offsets.0.extend(circle);
        } else if user.turn.is_some() {
            return Err("its threads arrive twice in one turn");
        } else {
            user.turn = Some(own);
            user.offsets.1 = circle.to_vec();
        }
        Ok(())
    }

    /// Puts the objects in the order of the arrivals of all its users.
    fn turn_into_order(&mut self) -> Result<(), &'static str> {
        let number = self.objects.len();
        if let Some(user) = self.users.iter().find(|user| user.turn.is_some()) {
            let before = user.before.len();
            let mut objects = vec![0; number];
            for (turn, &offset) in user.offsets.1.iter().enumerate() {
                objects[(before + turn) % number] = offset;
            }
            self.objects = objects;
        }
        let agrees = |user: &User| {
            let (before, turns) = (&user.offsets.0, &user.offsets.1);
            before.iter().chain(turns).enumerate().all(|(arrival, &offset)| self.objects[arrival % number] == offset)
        };
        if self.users.iter().all(agrees) { Ok(()) } else { Err("its threads use the objects in different orders") }
    }

    /// Whether it waits for one arrival of each of its threads.
    fn counts_all(&self, roles: &[Role]) -> Result<(), &'static str> {
        let threads = self.threads(roles);
        match self.count {
            None if threads == Threads::ALL => Ok(()),
            None => Err("it waits for all threads of the block, and not all of them arrive"),
            Some(count) if count == threads.len() => Ok(()),
            Some(_) => Err("it does not wait for as many arrivals as there are threads that arrive"),
        }
    }

    fn threads(&self, roles: &[Role]) -> Threads {
        self.users.iter().fold(Threads::NONE, |all, user| all.or(&roles[user.role].threads))
    }

    /// The threads that a block has at least where nobody waits in vain.
    pub(super) fn least_threads(&self, roles: &[Role]) -> u32 {
        self.count.map_or(0, |_| self.threads(roles).end())
    }

    /// Whether some thread arrives and goes on in every turn.
    pub(super) fn has_arrivals_alone(&self) -> bool {
        self.users.iter().any(|user| user.turn.is_some_and(|step| !step.waits))
    }

    pub(super) fn user(&self, role: usize) -> Option<&User> {
        self.users.iter().find(|user| user.role == role)
    }

    /// The number of its objects.
    pub(super) fn number(&self) -> i64 {
        self.objects.len() as i64
    }

    /// The greatest difference of the turns of two accesses, first less second, at which the first certainly happens before
    /// the second.
    pub(super) fn hands_over(&self, first: Placed, second: Placed) -> Option<i64> {
        let arrival = self.first_arrival_behind(first)?;
        let (wait, exists_in_turn) = self.last_wait_before(second)?;
        // In the turns before the wait exists, the sum must promise nothing.
        (exists_in_turn == 0 || wait < arrival).then_some(wait - arrival)
    }

    /// The number of the first arrival behind an access in turn 0 of the loop; in turn `i` it is `i` more.
    fn first_arrival_behind(&self, access: Placed) -> Option<i64> {
        let user = self.user(access.role)?;
        let before = user.number_before();
        match access.turns {
            Some(_) => user.turn.map(|step| before + i64::from(step.order < access.order)),
            None if access.is_behind => None,
            None => {
                let earlier = user.before.iter().filter(|step| step.order < access.order).count() as i64;
                (earlier < before || user.turn.is_some()).then_some(earlier)
            }
        }
    }

    /// The number of the last arrival that a thread has waited for before an access in turn 0 of the loop, and in which
    /// turn there is such a wait first. In turn `j` it is `j` more.
    fn last_wait_before(&self, access: Placed) -> Option<(i64, i64)> {
        let user = self.user(access.role)?;
        if access.turns.is_some()
            && let Some(step) = user.turn.filter(|step| step.waits)
        {
            let is_before = step.order < access.order;
            return Some(if is_before { (user.number_before(), 0) } else { (user.number_before() - 1, 1) });
        }
        if access.turns.is_some() {
            return None;
        }
        let earlier = |step: &Use| step.waits && step.order < access.order;
        user.before.iter().rposition(earlier).map(|arrival| (arrival as i64, 0))
    }
}

impl Order {
    /// Whether no thread arrives twice in one phase.
    pub(super) fn keeps_phases(&self) -> Result<(), Refusal> {
        for channel in &self.channels {
            for user in &channel.users {
                for (arrival, step) in user.before.iter().enumerate() {
                    let again = arrival.checked_sub(channel.objects.len());
                    if again.is_some_and(|earlier| !user.before[earlier..arrival].iter().any(|step| step.waits)) {
                        return Err(early(step.site));
                    }
                }
                if let Some(step) = user.turn
                    && !self.waits_for_phase(channel, user, step)
                {
                    return Err(early(step.site));
                }
            }
        }
        Ok(())
    }

    /// Whether the arrival of every turn comes only once the phase in which the object was used before is complete.
    fn waits_for_phase(&self, channel: &Channel, user: &User, step: Use) -> bool {
        let before = user.number_before();
        // The first turn in which the object has been used before, and what was then the number of that use.
        let first = (channel.number() - before).max(0);
        let used = before - channel.number();
        if step.waits {
            let in_first = first > 0 || user.before.iter().enumerate().any(|(at, own)| own.waits && at as i64 >= used);
            return in_first;
        }
        self.channels.iter().filter(|other| !std::ptr::eq(*other, channel)).any(|other| {
            let Some(own) = other.user(user.role) else { return false };
            let Some(wait) = own.turn.filter(|wait| wait.waits) else { return false };
            let late = i64::from(wait.order > step.order);
            // In turn i it has waited for this number, and i more.
            let waited = own.number_before() - late;
            other.users.iter().any(|there| {
                let Some(arrival) = there.turn else { return false };
                let Some(back) = channel.user(there.role) else { return false };
                let Some(wait) = back.turn.filter(|wait| wait.waits) else { return false };
                // The turn of that arrival, and the last one in which its thread has waited before.
                let turn = waited - there.number_before() - i64::from(wait.order > arrival.order);
                first >= late && first + turn >= 0 && turn + back.number_before() >= used
            })
        })
    }
}

fn early(site: SiteId) -> Refusal {
    Refusal { site, reason: "a thread may arrive again before all have arrived" }
}
