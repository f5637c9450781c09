//! Barrier intervals: which two accesses can happen without a common barrier between them.
//!
//! Answers are structural and say under which circumstances two accesses meet ([`Meeting`]); whether these
//! circumstances are possible is for [`crate::prove`] to find out. The definition is
//! docs/SEMANTICS.md, "Barrier intervals" (after docs/PAPERS.md, "Donaldson 2014, section 3.1", and
//! docs/PAPERS.md, "Tripakis 2010, section 3"):
//!
//! - All threads of a block run the same sync *instances* in program order; an instance is a sync and the
//!   iteration number of every loop around it. Two accesses of two threads share an interval unless an
//!   instance that **both** threads execute lies between them in program order. So each instance between
//!   them contributes the circumstance "its guard fails for one of the two threads".
//! - A sync inside a loop whose trip count was not shown to be the same for all threads that reach the
//!   loop orders nothing. The caller of [`analyze`] says which syncs order.
//! - What two threads share in a loop around a sync is the iteration number, never the variable.
//! - A loop that may run zero times joins its surroundings: a sync in it counts for accesses outside only
//!   through the guard of its first (or next) iteration.
//!
//! # Why the answer is complete
//! Let access `a` happen in thread 1 and `b` in thread 2, in one interval. Either all common loops are in the
//! same turn, or there is an outermost common loop `L` in which the turns differ.
//! - *Same turns.* If `a` stands first, then every sync that stands between them, in the turns that
//!   [`between`] gives it, is an instance between the two events in program order: loops around it and
//!   around only one of the accesses are still in (or about to start) the turn of that access, loops around
//!   neither have at least begun with turn 0 if the sync is reached at all.
//! - *Different turns of `L`.* If no ordering sync stands in `L`, the meeting is unrestricted. Otherwise let
//!   thread 1 be in the earlier turn. What stands in `L` after `a` is an instance between the events in the
//!   turn of `a`, what stands before `b` in the turn of `b`. If the turns are two or more apart, a whole turn
//!   of `L` lies between as well.
//! - An instance that both threads certainly execute ([`certain`]) rules the case out. Certainty climbs down
//!   the loops and arms around the sync: an arm that also holds the access in the same turns was taken; a
//!   turn not later than that of the access in the same loop has happened; and a turn that one thread
//!   certainly executes is executed by the other one too, once it reaches the loop, since loops around
//!   ordering syncs run equally often in all threads that reach them. An arm that is not taken only once the loop has ended
//!   ([`endings`]) was taken in each turn that is followed by another one.
//!
//! A sync that is for some threads of its scope, or for groups of them, is never certain in this sense: whom it is for
//! is a guard like any other.
//!
//! All other instances are handed out as circumstances. An instance is *executed* by a thread if its guards
//! hold there, and the turn exists: [`Turn::BeforeSecond`] needs a turn before; [`Turn::AfterFirst`] needs that
//! the loop goes on after the turn of the first access (likewise with first and second exchanged), which for loops that end by `break` is more than the
//! test at the start of the next turn.
//!
//! # Objects that count arrivals
//! What they order is no matter of where they stand ([`arrivals`](super::arrivals)). [`Intervals::with_objects`] takes from
//! the meetings those that they rule out, and says of the others by how much the turns may differ.
//!
//! Deliberately absent: the values of guards, memory spaces, levels.

mod between;
mod certain;
mod endings;
mod places;
#[cfg(test)]
mod tests;

use super::arrivals::{self, Apart};
use super::{Kernel, SiteId};
use places::{Place, Places};

/// How the iteration number of a common loop in the second access relates to that in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same iteration.
    Same,
    /// The second access happens one iteration later.
    Next,
    /// The second access happens one iteration earlier.
    Previous,
    /// No relation that is known: the iteration numbers are private to each thread, and may be equal.
    Any,
}

/// One way for two accesses to share an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Meeting {
    /// The loops around both accesses, outermost first, with the relation of their iteration numbers.
    /// After the first relation other than `Same`, all further ones are `Any` (iteration numbers of an
    /// inner loop in different turns of an outer one are unrelated).
    pub relations: Vec<(SiteId, Relation)>,
    /// Sync instances between the two accesses. For each, the guard fails in at least one thread.
    pub between: Vec<SyncInstance>,
    /// By how much turns of different loops, or of one in any turns, may differ.
    pub apart: Option<Apart>,
}

/// One instance of a sync, between a first and a second access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyncInstance {
    /// The sync.
    pub sync: SiteId,
    /// For every loop around it, outermost first, which iteration it is.
    pub iterations: Vec<(SiteId, Turn)>,
}

/// An iteration of a loop around a sync instance, seen from two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The iteration of the first access.
    First,
    /// The one after that of the first access, if the loop goes on after that.
    AfterFirst,
    /// The iteration of the second access.
    Second,
    /// The one after that of the second access, if the loop goes on after that.
    AfterSecond,
    /// The one before that of the first access, if that is not the first turn.
    BeforeFirst,
    /// The one before that of the second access, if that is not the first turn.
    BeforeSecond,
    /// The iteration number 0.
    Zero,
}

/// Where the accesses and syncs of a kernel stand, and which syncs order.
#[derive(Clone, Debug)]
pub struct Intervals {
    places: Places,
    /// The syncs that order, in program order.
    ordering: Vec<SiteId>,
    /// What objects that count arrivals order.
    objects: Option<arrivals::Order>,
}

/// Finds the intervals of `kernel`.
///
/// `orders` must be false for a sync of insufficient scope or memory for the question at hand, and for a sync
/// within a loop that was not shown to run equally often in all threads that reach it.
pub fn analyze(kernel: &Kernel, orders: &dyn Fn(SiteId) -> bool) -> Intervals {
    let places = Places::of(kernel);
    let ordering = places.syncs().filter(|&site| orders(site)).collect();
    Intervals { places, ordering, objects: None }
}

impl Intervals {
    /// The ways in which `first`, in one thread, and `second`, in another one, share an interval. Either may
    /// stand first. Sites that the kernel does not have meet nothing.
    pub fn meetings(&self, first: SiteId, second: SiteId) -> Vec<Meeting> {
        let meetings = self.by_barriers(first, second);
        match self.objects.as_ref().and_then(|objects| objects.apart(first, second)) {
            Some(apart) => meetings.into_iter().filter_map(|meeting| limited(meeting, apart)).collect(),
            None => meetings,
        }
    }

    /// The same intervals, as far as these objects do not order what happens in them; for threads of one block.
    pub fn with_objects(self, objects: Option<arrivals::Order>) -> Self {
        Intervals { objects, ..self }
    }

    /// The meetings that barriers leave.
    fn by_barriers(&self, first: SiteId, second: SiteId) -> Vec<Meeting> {
        let (Some(one), Some(two)) = (self.places.get(first), self.places.get(second)) else { return Vec::new() };
        let common = places::common_loops(one, two);
        let mut meetings = Vec::new();
        for (depth, &each) in common.iter().enumerate() {
            if !self.holds_ordering_sync(each) {
                let mut relations = same(&common[..depth]);
                relations.extend(common[depth..].iter().map(|&each| (each, Relation::Any)));
                meetings.push(Meeting { relations, between: Vec::new(), apart: None });
                return meetings;
            }
            for relation in [Relation::Next, Relation::Previous] {
                meetings.extend(self.in_different_turns(one, two, &common, depth, relation));
            }
        }
        meetings.extend(self.in_the_same_turns(one, two, &common));
        meetings
    }

    /// Whether the two share an interval at all.
    pub fn meet(&self, first: SiteId, second: SiteId) -> bool {
        !self.meetings(first, second).is_empty()
    }

    fn holds_ordering_sync(&self, each: SiteId) -> bool {
        self.ordering().any(|place| place.is_in_loop(each))
    }

    fn ordering(&self) -> impl Iterator<Item = &Place> {
        self.ordering.iter().filter_map(|&site| self.places.get(site))
    }

    fn in_the_same_turns(&self, one: &Place, two: &Place, common: &[SiteId]) -> Option<Meeting> {
        let relations = same(common);
        let between = between::in_one_turn(self.ordering(), one, two, common);
        self.meeting(one, two, relations, between)
    }

    /// The meeting in which the loop at `depth` is the outermost one whose turns differ.
    fn in_different_turns(
        &self,
        one: &Place,
        two: &Place,
        common: &[SiteId],
        depth: usize,
        relation: Relation,
    ) -> Option<Meeting> {
        let mut relations = same(&common[..depth]);
        relations.push((common[depth], relation));
        relations.extend(common[depth + 1..].iter().map(|&each| (each, Relation::Any)));
        let between = between::across_turns(self.ordering(), one, two, common, depth, relation);
        let mut meeting = self.meeting(one, two, relations, between)?;
        if !self.a_whole_turn_separates(one, two, common, depth, relation) {
            meeting.relations[depth].1 = Relation::Any;
        }
        Some(meeting)
    }

    /// Whether a sync certainly lies between the accesses if the turns of the loop at `depth` are two or more apart.
    fn a_whole_turn_separates(
        &self,
        one: &Place,
        two: &Place,
        common: &[SiteId],
        depth: usize,
        relation: Relation,
    ) -> bool {
        let (one, two) = if relation == Relation::Next { (one, two) } else { (two, one) };
        let mut relations = same(&common[..depth]);
        relations.push((common[depth], Relation::Next));
        let case =
            certain::Case { places: &self.places, one, two, relations: &relations, apart: certain::Apart::AtLeastTwo };
        let turn = between::whole_turn(self.ordering(), common, depth);
        turn.iter().any(|instance| self.is_certain(&case, instance))
    }

    fn meeting(
        &self,
        one: &Place,
        two: &Place,
        relations: Vec<(SiteId, Relation)>,
        between: Vec<SyncInstance>,
    ) -> Option<Meeting> {
        let case =
            certain::Case { places: &self.places, one, two, relations: &relations, apart: certain::Apart::AsRelated };
        if between.iter().any(|instance| self.is_certain(&case, instance)) {
            return None;
        }
        Some(Meeting { relations, between, apart: None })
    }

    fn is_certain(&self, case: &certain::Case<'_>, instance: &SyncInstance) -> bool {
        let sync = self.places.get(instance.sync);
        sync.is_some_and(|sync| sync.is_for_all && certain::both_execute(case, sync, instance))
    }
}

/// The meeting as far as turns that differ so much admit it.
fn limited(mut meeting: Meeting, apart: Apart) -> Option<Meeting> {
    if apart.is_empty() {
        return None;
    }
    let of_both = apart.loops[0].filter(|_| apart.loops[0] == apart.loops[1]);
    let relation = meeting.relations.iter_mut().find(|(each, _)| Some(*each) == of_both).map(|entry| &mut entry.1);
    let admitted = match relation {
        Some(Relation::Same) => apart.admits(0),
        Some(Relation::Next) => apart.admits(-1),
        Some(Relation::Previous) => apart.admits(1),
        Some(relation @ Relation::Any) => {
            let exactly = apart.least.filter(|_| apart.least == apart.most);
            match exactly {
                Some(0) => *relation = Relation::Same,
                Some(-1) => *relation = Relation::Next,
                Some(1) => *relation = Relation::Previous,
                _ => meeting.apart = Some(apart),
            }
            true
        }
        None => {
            meeting.apart = Some(apart);
            true
        }
    };
    admitted.then_some(meeting)
}

fn same(loops: &[SiteId]) -> Vec<(SiteId, Relation)> {
    loops.iter().map(|&each| (each, Relation::Same)).collect()
}
