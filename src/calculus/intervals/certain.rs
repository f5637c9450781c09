//! Sync instances that two threads certainly execute, because their accesses happen.

use super::places::{Around, Place, Places};
use super::{Relation, SyncInstance, Turn};
use crate::calculus::SiteId;

/// Two accesses and how the turns of their common loops are related.
pub(super) struct Case<'c> {
    pub(super) places: &'c Places,
    pub(super) one: &'c Place,
    pub(super) two: &'c Place,
    pub(super) relations: &'c [(SiteId, Relation)],
    pub(super) apart: Apart,
}

/// How far the turns that [`Relation::Next`] relates are apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// One turn.
    AsRelated,
    /// Two turns or more.
    AtLeastTwo,
}

/// A turn of a loop, seen from the turn in which a thread's access happens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It is that turn.
    Own,
    /// It is not later, and exists.
    NotLater,
    /// It may be later, or not exist.
    Uncertain,
}

/// One thread on the way from the kernel's entry to the sync.
struct Way<'c> {
    around: &'c [Around],
    /// Whether everything so far is also around its access, in the turns of its access.
    in_step: bool,
}

impl Way<'_> {
    fn is_around(&self, depth: usize, around: Around) -> bool {
        self.in_step && self.around.get(depth) == Some(&around)
    }
}

/// Whether both threads certainly execute `instance` of `sync`.
///
/// Relies on loops around the sync running equally often in all threads that reach them.
pub(super) fn both_execute(case: &Case<'_>, sync: &Place, instance: &SyncInstance) -> bool {
    let mut first = Way { around: &case.one.around, in_step: true };
    let mut second = Way { around: &case.two.around, in_step: true };
    // Loops so far whose turn is followed by another one that happens.
    let mut followed: Vec<SiteId> = Vec::new();
    for (depth, &around) in sync.around.iter().enumerate() {
        first.in_step = first.is_around(depth, around);
        second.in_step = second.is_around(depth, around);
        match around {
            Around::Arm(_) if first.in_step && second.in_step => {}
            Around::Arm(arm) if followed.iter().any(|&each| case.places.is_taken_unless_ended(arm, each)) => {}
            Around::Arm(_) => return false,
            Around::Loop(each) => {
                let turn =
                    instance.iterations.iter().find(|(site, _)| *site == each).map_or(Turn::Zero, |(_, turn)| *turn);
                let relation = case.relations.iter().find(|(site, _)| *site == each).map(|(_, relation)| *relation);
                let (one, two) =
                    (seen_from_first(turn, relation, case.apart), seen_from_second(turn, relation, case.apart));
                let happens = (first.in_step && one != Seen::Uncertain) || (second.in_step && two != Seen::Uncertain);
                if !happens {
                    return false;
                }
                if is_followed(turn, relation, case.apart) {
                    followed.push(each);
                }
                first.in_step &= one == Seen::Own;
                second.in_step &= two == Seen::Own;
            }
        }
    }
    true
}

/// Whether another turn comes after that one, since it is, or comes before, the turn of an access that happens later.
fn is_followed(turn: Turn, relation: Option<Relation>, apart: Apart) -> bool {
    match (turn, relation) {
        (Turn::First | Turn::BeforeSecond, Some(Relation::Next))
        | (Turn::Second | Turn::BeforeFirst, Some(Relation::Previous)) => true,
        (Turn::AfterFirst, Some(Relation::Next)) | (Turn::AfterSecond, Some(Relation::Previous)) => {
            apart == Apart::AtLeastTwo
        }
        _ => false,
    }
}

fn seen_from_first(turn: Turn, relation: Option<Relation>, apart: Apart) -> Seen {
    match (turn, relation) {
        (Turn::First, _) | (Turn::Second, Some(Relation::Same)) => Seen::Own,
        (Turn::AfterSecond, Some(Relation::Previous)) if apart == Apart::AsRelated => Seen::Own,
        (Turn::Zero, _) | (Turn::Second | Turn::AfterSecond, Some(Relation::Previous)) => Seen::NotLater,
        _ => Seen::Uncertain,
    }
}

fn seen_from_second(turn: Turn, relation: Option<Relation>, apart: Apart) -> Seen {
    match (turn, relation) {
        (Turn::Second, _) | (Turn::First, Some(Relation::Same)) => Seen::Own,
        (Turn::AfterFirst, Some(Relation::Next)) if apart == Apart::AsRelated => Seen::Own,
        (Turn::Zero, _) | (Turn::First | Turn::AfterFirst, Some(Relation::Next)) => Seen::NotLater,
        _ => Seen::Uncertain,
    }
}
