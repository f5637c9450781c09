//! Channels: objects that threads arrive at one after the other, in a circle.

use super::numbers::{Known, MOST_OBJECTS, Threads};
use super::steps::{Found, Step};
use super::{Order, Placed, Refusal, Role};
use crate::calculus::{self, ArrayId, Arrivals, Count, SiteId};

/// One channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    array: ArrayId,
    /// The offsets of its objects, in the order in which a thread arrives at them.
    objects: Vec<i128>,
    /// Whether threads go round them of themselves: [`Arrivals::circle`].
    goes_round: bool,
    count: Count,
    pub(super) users: Vec<User>,
    site: SiteId,
}

/// What the threads of a role do at a channel.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) role: usize,
    pub(super) arrivals: Uses,
    pub(super) waits: Uses,
    /// How the numbers of its waits are known.
    numbers: Numbered,
}

/// For which arrivals a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbered {
    /// It has not waited.
    Open,
    /// For its own one.
    Own,
    /// For the one whose number is that of the wait.
    Alike,
    /// For the one of an object's phase before.
    Before,
}

/// Steps of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    /// Those before the loop.
    pub(super) before: Vec<Use>,
    /// That in every turn.
    pub(super) turn: Option<Use>,
    /// Those behind the loop.
    pub(super) behind: Vec<Use>,
    /// The objects of those before the loop, of that in the loop in its turns, and of those behind it.
    offsets: [Vec<i128>; 3],
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) order: u32,
    pub(super) site: SiteId,
}

/// A number of an arrival: so much, and what the place adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) least: i64,
    pub(super) more: More,
}

/// What is added to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Nothing,
    /// The number of the turn that it is in.
    Turn,
    /// The number of all turns.
    Turns,
}

/// The last wait before a place.
#[derive(Clone, Copy, Debug)]
struct Waited {
    number: Number,
    /// Whether it is there in the first turn, too, or behind a loop without turns.
    always: bool,
}

/// What a channel orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handed {
    /// The first access always happens before the second one.
    Always,
    /// It does where its turn is at most so many ahead.
    Until(i64),
}

impl Uses {
    /// How many there are before the loop.
    pub(super) fn number_before(&self) -> i64 {
        self.before.len() as i64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.turn.is_none() && self.behind.is_empty()
    }

    fn add(&mut self, own: Use, part: Part, offsets: &[i128]) -> Result<(), &'static str> {
        match part {
            Part::Before => self.before.push(own),
            Part::Turn if self.turn.is_some() => return Err("its threads arrive or wait twice in one turn"),
            Part::Turn => self.turn = Some(own),
            Part::Behind => self.behind.push(own),
        }
        self.offsets[part as usize].extend(offsets);
        Ok(())
    }

    /// The number of the one behind the loop that stands there.
    fn behind(&self, at: usize) -> Number {
        let more = if self.turn.is_some() { More::Turns } else { More::Nothing };
        Number { least: self.number_before() + at as i64, more }
    }
}

impl User {
    /// Its steps in every turn.
    pub(super) fn turns(&self) -> impl Iterator<Item = Use> + '_ {
        self.arrivals.turn.into_iter().chain(self.waits.turn)
    }

    /// The number of the arrival that a wait in turn 0 is for.
    pub(super) fn waited_in_turn(&self, objects: i64) -> i64 {
        match self.numbers {
            Numbered::Own => self.arrivals.number_before(),
            _ => self.waits.number_before() - self.lag(objects),
        }
    }

    /// The number of the arrival that a wait before the loop is for; it may be below 0, and then it is for none.
    pub(super) fn waited_before(&self, at: usize, objects: i64) -> i64 {
        match self.numbers {
            Numbered::Own => {
                let site = self.waits.before[at].site;
                self.arrivals.before.iter().position(|arrival| arrival.site == site).map_or(-1, |at| at as i64)
            }
            _ => at as i64 - self.lag(objects),
        }
    }

    /// The same for one behind the loop.
    pub(super) fn waited_behind(&self, at: usize, objects: i64) -> Number {
        match self.numbers {
            Numbered::Own => {
                let site = self.waits.behind[at].site;
                let at = self.arrivals.behind.iter().position(|arrival| arrival.site == site);
                at.map_or(Number { least: -1, more: More::Nothing }, |at| self.arrivals.behind(at))
            }
            _ => {
                let number = self.waits.behind(at);
                Number { least: number.least - self.lag(objects), ..number }
            }
        }
    }

    fn lag(&self, objects: i64) -> i64 {
        if self.numbers == Numbered::Before { objects } else { 0 }
    }
}

/// A part of the code of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Before,
    Turn,
    Behind,
}

/// More roles are not looked at.
const MOST_ROLES: usize = 16;
/// Bytes of an object.
const BYTES: i128 = Arrivals::BYTES as i128;

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
        let touched: Vec<usize> = (0..channels.len()).filter(|&at| touches(&channels[at])).collect();
        let at = match touched[..] {
            [at] => at,
            [] => {
                let (array, count, site) = (step.what.array, step.what.count, step.at.site);
                let (objects, goes_round) = (circle.clone(), step.what.circle > 1);
                channels.push(Channel { array, objects, goes_round, count, users: Vec::new(), site });
                channels.len() - 1
            }
            _ => return Err(refuse("which of several objects it is has no order that is known")),
        };
        let channel = &mut channels[at];
        let goes_round = step.what.circle > 1;
        let is_whole = step.at.outer.is_none() && !goes_round || circle.len() == channel.objects.len();
        if channel.count != step.what.count || channel.goes_round != goes_round || !is_whole {
            return Err(refuse("which of several objects it is has no order that is known"));
        }
        for (number, role) in roles.iter().enumerate().filter(|(_, role)| role.threads.is_within(&step.at.threads)) {
            channel.add(step, part_of(role, step), number, circle).map_err(refuse)?;
        }
    }
    for channel in &mut channels {
        let site = channel.site;
        let refuse = |reason| Refusal { site, reason };
        channel.turn_into_order().map_err(refuse)?;
        channel.counts_all(&roles).map_err(refuse)?;
    }
    Ok((roles, channels))
}

/// Threads that come to the same steps.
fn roles(steps: &[Step]) -> Result<Vec<Role>, Refusal> {
    let mut sets: Vec<Threads> = Vec::new();
    for Step { at, .. } in steps {
        let known = sets.iter().fold(Threads::NONE, |all, set| all.or(set));
        let others = at.threads.complement();
        sets = sets.iter().flat_map(|set| [set.and(&at.threads), set.and(&others)]).collect();
        sets.push(at.threads.and(&known.complement()));
        sets.retain(|set| !set.is_empty());
        if sets.len() > MOST_ROLES {
            return Err(Refusal { site: at.site, reason: "there are too many roles of threads" });
        }
    }
    let mut roles: Vec<Role> = sets.into_iter().map(|threads| Role { threads, turns: None }).collect();
    for Step { at, .. } in steps {
        let Some(each) = at.outer else { continue };
        for role in roles.iter_mut().filter(|role| role.threads.is_within(&at.threads)) {
            match role.turns {
                None => role.turns = Some((each, at.order)),
                Some((known, _)) if known == each => {}
                Some(_) => return Err(Refusal { site: at.site, reason: "its threads arrive in several loops" }),
            }
        }
    }
    Ok(roles)
}

fn part_of(role: &Role, step: &Step) -> Part {
    match role.turns {
        _ if step.at.outer.is_some() => Part::Turn,
        Some((_, in_turn)) if in_turn < step.at.order => Part::Behind,
        _ => Part::Before,
    }
}

/// The values until they come again.
fn shortest(all: Vec<i128>) -> Vec<i128> {
    let number = all.len();
    let comes_again =
        |turns: usize| number.is_multiple_of(turns) && (0..number).all(|turn| all[turn] == all[turn % turns]);
    let turns = (1..=number).find(|&turns| comes_again(turns)).unwrap_or(number);
    all[..turns].to_vec()
}

/// The offsets of the objects of a step, in the order of turns.
pub(super) fn circle(found: &Found<'_>, step: &Step) -> Result<Vec<i128>, Refusal> {
    let refuse = |reason| Refusal { site: step.at.site, reason };
    let unknown = || refuse("which of several objects it is is not known");
    let offset = step.what.offset;
    let offsets: Vec<i128> = match step.at.outer {
        _ if step.what.circle > 1 => {
            let start = found.numbers.value(offset, Known::default()).ok_or_else(unknown)?;
            let circle = u64::from(step.what.circle);
            if circle > MOST_OBJECTS {
                return Err(unknown());
            }
            (0..circle).map(|at| start + i128::from(at) * BYTES).collect()
        }
        Some(each) if !found.heads.contains_key(&each) => {
            return Err(refuse("its loop does not count up in steps of one"));
        }
        _ => shortest(found.values_at(offset, &step.at).ok_or_else(unknown)?),
    };
    let is_twice = (1..offsets.len()).any(|at| offsets[..at].contains(&offsets[at]));
    if is_twice || offsets.iter().any(|offset| offset % BYTES != 0) {
        return Err(unknown());
    }
    Ok(offsets)
}

impl Channel {
    fn add(&mut self, step: &Step, part: Part, role: usize, circle: &[i128]) -> Result<(), &'static str> {
        let own = Use { order: step.at.order, site: step.at.site };
        let at = match self.users.iter().position(|user| user.role == role) {
            Some(at) => at,
            None => {
                let (arrivals, waits) = (Uses::default(), Uses::default());
                self.users.push(User { role, arrivals, waits, numbers: Numbered::Open });
                self.users.len() - 1
            }
        };
        let user = &mut self.users[at];
        let numbers = match step.what.part {
            calculus::Part::Arrives => Numbered::Open,
            calculus::Part::Meets => Numbered::Own,
            calculus::Part::Waits => Numbered::Alike,
            calculus::Part::WaitsBefore => Numbered::Before,
        };
        if matches!(numbers, Numbered::Open | Numbered::Own) {
            user.arrivals.add(own, part, circle)?;
        }
        if numbers != Numbered::Open {
            if user.numbers != Numbered::Open && user.numbers != numbers {
                return Err("its threads wait in different ways");
            }
            user.numbers = numbers;
            user.waits.add(own, part, circle)?;
        }
        Ok(())
    }

    /// Puts the objects in the order of the arrivals of all its users.
    fn turn_into_order(&mut self) -> Result<(), &'static str> {
        let number = self.objects.len();
        if self.goes_round || number == 1 {
            return Ok(());
        }
        let all = || self.users.iter().flat_map(|user| [&user.arrivals, &user.waits]);
        if let Some(uses) = all().find(|uses| uses.turn.is_some()) {
            let before = uses.before.len();
            let mut objects = vec![0; number];
            for (turn, &offset) in uses.offsets[Part::Turn as usize].iter().enumerate() {
                objects[(before + turn) % number] = offset;
            }
            self.objects = objects;
        }
        let all = || self.users.iter().flat_map(|user| [&user.arrivals, &user.waits]);
        let agrees = |uses: &Uses| {
            let [before, turns, behind] = &uses.offsets;
            // How many turns there are is not known.
            let is_known = behind.is_empty() || turns.is_empty();
            let is_next = |(step, &offset): (usize, &i128)| self.objects[step % number] == offset;
            is_known && before.iter().chain(turns).chain(behind).enumerate().all(is_next)
        };
        if all().all(agrees) { Ok(()) } else { Err("its threads use the objects in different orders") }
    }

    /// Whether it waits for one arrival of each of its threads.
    fn counts_all(&self, roles: &[Role]) -> Result<(), &'static str> {
        let threads = self.threads(roles);
        match self.count {
            Count::Block if threads == Threads::ALL => Ok(()),
            Count::Block => Err("it waits for all threads of the block, and not all of them arrive"),
            Count::Number(count) if count == threads.len() => Ok(()),
            Count::Number(_) => Err("it does not wait for as many arrivals as there are threads that arrive"),
            Count::Range(from, to) if threads == Threads::range(from, to) => Ok(()),
            Count::Range(..) => Err("the threads that arrive are not those that it waits for"),
            Count::Open => Err("it is not known for how many arrivals it waits"),
        }
    }

    /// The threads that arrive.
    fn threads(&self, roles: &[Role]) -> Threads {
        let arriving = self.users.iter().filter(|user| !user.arrivals.is_empty());
        arriving.fold(Threads::NONE, |all, user| all.or(&roles[user.role].threads))
    }

    /// The threads that a block has at least where nobody waits in vain.
    pub(super) fn least_threads(&self, roles: &[Role]) -> u32 {
        match self.count {
            Count::Block | Count::Open => 0,
            Count::Number(_) => self.threads(roles).end(),
            Count::Range(from, _) => from + 1,
        }
    }

    /// Whether some thread arrives and goes on in every turn.
    pub(super) fn has_arrivals_alone(&self) -> bool {
        self.users.iter().any(|user| user.arrivals.turn.is_some() && user.arrivals.turn != user.waits.turn)
    }

    /// Whether its objects start there.
    pub(super) fn starts_at(&self, array: ArrayId, start: i128) -> bool {
        self.array == array && self.objects.first() == Some(&start)
    }

    pub(super) fn user(&self, role: usize) -> Option<&User> {
        self.users.iter().find(|user| user.role == role)
    }

    /// The number of its objects.
    pub(super) fn number(&self) -> i64 {
        self.objects.len() as i64
    }

    /// Where the first of two accesses certainly happens before the second; `equal` says whether all loops with steps have as many
    /// turns.
    pub(super) fn hands_over(&self, first: Placed, second: Placed, equal: bool) -> Option<Handed> {
        let arrival = self.first_arrival_behind(first)?;
        let Waited { number: wait, always } = self.last_wait_before(second)?;
        let ahead = wait.least - arrival.least;
        let is_always = match (arrival.more, wait.more) {
            // In the turns before the wait is there, the sum must promise nothing.
            (More::Turn, More::Turn) => return (always || ahead < 0).then_some(Handed::Until(ahead)),
            (More::Nothing, More::Turn) if first.turns.is_none() => {
                return (always || ahead < 0).then_some(Handed::Until(ahead));
            }
            (More::Turn, More::Nothing) if second.turns.is_none() && !second.is_behind => {
                return always.then_some(Handed::Until(ahead));
            }
            (More::Nothing, More::Nothing) => always && ahead >= 0,
            (More::Nothing, More::Turns) => always && ahead >= 0,
            // It is in some turn, so that there is one; its number is below that of all.
            (More::Turn, More::Turns) => equal && ahead >= -1,
            (More::Turns, More::Turns) => equal && always && ahead >= 0,
            (More::Turns | More::Nothing | More::Turn, _) => false,
        };
        is_always.then_some(Handed::Always)
    }

    /// The number of the first arrival behind an access.
    fn first_arrival_behind(&self, access: Placed) -> Option<Number> {
        let uses = &self.user(access.role)?.arrivals;
        let before = uses.number_before();
        let fixed = |least| Number { least, more: More::Nothing };
        let behind = |order: Option<u32>| {
            let is_later = |step: &Use| order.is_none_or(|order| step.order > order);
            uses.behind.iter().position(is_later).map(|at| uses.behind(at))
        };
        match access.turns {
            Some(_) => match uses.turn {
                Some(step) => {
                    let late = i64::from(step.order < access.order);
                    Some(Number { least: before + late, more: More::Turn })
                }
                None => behind(None),
            },
            None if access.is_behind => behind(Some(access.order)),
            None => {
                let earlier = uses.before.iter().filter(|step| step.order < access.order).count() as i64;
                let in_loop = (earlier < before || uses.turn.is_some()).then_some(fixed(earlier));
                in_loop.or_else(|| behind(None))
            }
        }
    }

    /// The number of the last arrival that a thread has waited for before an access.
    fn last_wait_before(&self, access: Placed) -> Option<Waited> {
        let user = self.user(access.role)?;
        if access.turns.is_some() {
            return self.waited_in_turn(user, access.order);
        }
        if !access.is_behind {
            return self.waited_before(user, access.order);
        }
        self.waited_behind(user, access.order)
    }

    fn waited_before(&self, user: &User, order: u32) -> Option<Waited> {
        let at = user.waits.before.iter().rposition(|step| step.order < order)?;
        let number = Number { least: user.waited_before(at, self.number()), more: More::Nothing };
        Some(Waited { number, always: true })
    }

    fn waited_in_turn(&self, user: &User, order: u32) -> Option<Waited> {
        let step = user.waits.turn?;
        let (number, is_before) = (user.waited_in_turn(self.number()), step.order < order);
        let number = Number { least: number - i64::from(!is_before), more: More::Turn };
        Some(Waited { number, always: is_before })
    }

    fn waited_behind(&self, user: &User, order: u32) -> Option<Waited> {
        if let Some(at) = user.waits.behind.iter().rposition(|step| step.order < order) {
            return Some(Waited { number: user.waited_behind(at, self.number()), always: true });
        }
        if user.waits.turn.is_some() {
            let least = user.waited_in_turn(self.number()) - 1;
            return Some(Waited { number: Number { least, more: More::Turns }, always: false });
        }
        self.waited_before(user, order)
    }
}

impl Order {
    /// Whether no thread arrives twice in one phase.
    pub(super) fn keeps_phases(&self) -> Result<(), Refusal> {
        for channel in &self.channels {
            for user in &channel.users {
                let uses = &user.arrivals;
                for (arrival, step) in uses.before.iter().enumerate() {
                    let used = arrival as i64 - channel.number();
                    let waited = channel.waited_before(user, step.order);
                    if used >= 0 && waited.is_none_or(|waited| waited.number.least < used) {
                        return Err(early(step.site));
                    }
                }
                if let Some(step) = uses.turn
                    && !self.waits_for_phase(channel, user, step)
                {
                    return Err(early(step.site));
                }
                for (at, step) in uses.behind.iter().enumerate() {
                    if !channel.waits_behind(user, uses.behind(at), step.order) {
                        return Err(early(step.site));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the arrival of every turn comes only once the phase in which the object was used before is complete.
    fn waits_for_phase(&self, channel: &Channel, user: &User, step: Use) -> bool {
        let before = user.arrivals.number_before();
        // The first turn in which the object has been used before, and what was then the number of that use, less the turn.
        let first = (channel.number() - before).max(0);
        let used = before - channel.number();
        let by_itself = channel.waited_in_turn(user, step.order).is_some_and(|waited| {
            let in_first = || channel.waited_before(user, step.order).is_some_and(|waited| waited.number.least >= used);
            waited.number.least >= used && (waited.always || first > 0 || in_first())
        });
        by_itself || self.is_told_by_another(channel, user, step, (first, used), None)
    }

    /// Whether the arrival of every turn comes only once threads of that role have waited for the phase in which the object was
    /// used before.
    pub(super) fn is_held_by(&self, channel: &Channel, user: &User, step: Use, role: usize) -> bool {
        let before = user.arrivals.number_before();
        let (first, used) = ((channel.number() - before).max(0), before - channel.number());
        self.is_told_by_another(channel, user, step, (first, used), Some(role))
    }

    /// Whether another channel tells it, of which some role, or that one, arrives only behind its own wait for this one.
    fn is_told_by_another(
        &self,
        channel: &Channel,
        user: &User,
        step: Use,
        (first, used): (i64, i64),
        role: Option<usize>,
    ) -> bool {
        self.channels.iter().filter(|other| !std::ptr::eq(*other, channel)).any(|other| {
            let Some(own) = other.user(user.role) else { return false };
            let Some(waited) = other.waited_in_turn(own, step.order) else { return false };
            let late = i64::from(!waited.always);
            other.users.iter().filter(|there| role.is_none_or(|role| there.role == role)).any(|there| {
                let Some(arrival) = there.arrivals.turn else { return false };
                let Some(back) = channel.user(there.role) else { return false };
                let Some(wait) = channel.waited_in_turn(back, arrival.order) else { return false };
                // The turn of the arrival that it has waited for, less its own, and the first turn in which that has waited.
                let turn = waited.number.least - there.arrivals.number_before();
                let start = i64::from(!wait.always);
                // Ahead of its own turn, that arrival might be one behind the loop.
                let in_loop = turn <= 0 || there.arrivals.behind.is_empty();
                in_loop && first >= late && first + turn >= start && turn + wait.number.least >= used
            })
        })
    }
}

impl Channel {
    /// Whether an arrival behind the loop comes only once the phase in which its object was used before is complete.
    fn waits_behind(&self, user: &User, arrival: Number, order: u32) -> bool {
        let used = arrival.least - self.number();
        let Some(Waited { number, always }) = self.waited_behind(user, order) else {
            return arrival.more == More::Nothing && used < 0;
        };
        let is_waited = match (arrival.more, number.more) {
            (More::Turns, More::Nothing) => false,
            _ => number.least >= used,
        };
        // Where there are no turns, only what stands before the loop has been waited for.
        let without_turns = || self.waited_before(user, order).is_some_and(|waited| waited.number.least >= used);
        is_waited && (always || used < 0 || without_turns())
    }
}

fn early(site: SiteId) -> Refusal {
    Refusal { site, reason: "a thread may arrive again before all have arrived" }
}
