//! Sync instances that lie between two accesses in program order.

use super::places::{self, Place};
use super::{Relation, SyncInstance, Turn};
use crate::calculus::SiteId;

/// On which side of an access an instance lies, and how turns of the loops around that access are called.
#[derive(Clone, Copy)]
enum Side {
    /// After the first access.
    AfterFirst,
    /// Before the first access (which happens later).
    BeforeFirst,
    /// After the second access (which happens earlier).
    AfterSecond,
    /// Before the second access.
    BeforeSecond,
}

impl Side {
    fn is_after(self) -> bool {
        matches!(self, Side::AfterFirst | Side::AfterSecond)
    }

    /// The turn of the access.
    fn own(self) -> Turn {
        if matches!(self, Side::AfterFirst | Side::BeforeFirst) { Turn::First } else { Turn::Second }
    }

    /// The neighbouring turn on this side.
    fn neighbour(self) -> Turn {
        match self {
            Side::AfterFirst => Turn::AfterFirst,
            Side::AfterSecond => Turn::AfterSecond,
            Side::BeforeFirst => Turn::BeforeFirst,
            Side::BeforeSecond => Turn::BeforeSecond,
        }
    }
}

/// Instances between `one` and `two` in equal turns of all `common` loops.
pub(super) fn in_one_turn<'p>(
    syncs: impl Iterator<Item = &'p Place>,
    one: &Place,
    two: &Place,
    common: &[SiteId],
) -> Vec<SyncInstance> {
    if one.site == two.site {
        return Vec::new();
    }
    let in_order = one.order < two.order;
    let (after, before) =
        if in_order { (Side::AfterFirst, Side::BeforeSecond) } else { (Side::AfterSecond, Side::BeforeFirst) };
    let (early, late) = if in_order { (one, two) } else { (two, one) };
    let prefix: Vec<(SiteId, Turn)> = common.iter().map(|&each| (each, Turn::First)).collect();
    let mut found = Vec::new();
    for sync in syncs.filter(|sync| common.iter().all(|&each| sync.is_in_loop(each))) {
        let with_early = places::common_loops(sync, early).len() > common.len();
        let with_late = places::common_loops(sync, late).len() > common.len();
        if with_early {
            found.extend(beside(sync, early, after, &prefix));
        } else if with_late {
            found.extend(beside(sync, late, before, &prefix));
        } else if early.order < sync.order && sync.order < late.order {
            found.push(instance(sync, prefix.clone()));
        }
    }
    found
}

/// Instances between `one` and `two` if the loop at `depth` of `common` is the outermost one in different turns.
pub(super) fn across_turns<'p>(
    syncs: impl Iterator<Item = &'p Place>,
    one: &Place,
    two: &Place,
    common: &[SiteId],
    depth: usize,
    relation: Relation,
) -> Vec<SyncInstance> {
    let forward = relation == Relation::Next;
    let (after, before) =
        if forward { (Side::AfterFirst, Side::BeforeSecond) } else { (Side::AfterSecond, Side::BeforeFirst) };
    let (early, late) = if forward { (one, two) } else { (two, one) };
    let prefix = |turn: Turn| -> Vec<(SiteId, Turn)> {
        let outer = common[..depth].iter().map(|&each| (each, Turn::First));
        outer.chain([(common[depth], turn)]).collect()
    };
    let (in_early, in_late) = (prefix(after.own()), prefix(before.own()));
    let mut found = Vec::new();
    for sync in syncs.filter(|sync| sync.is_in_loop(common[depth])) {
        found.extend(beside(sync, early, after, &in_early));
        found.extend(beside(sync, late, before, &in_late));
    }
    found
}

/// Instances of the turn after that of the first access of the loop at `depth`, which lie between the accesses
/// if the second one is at least two turns later.
pub(super) fn whole_turn<'p>(
    syncs: impl Iterator<Item = &'p Place>,
    common: &[SiteId],
    depth: usize,
) -> Vec<SyncInstance> {
    let mut prefix: Vec<(SiteId, Turn)> = common[..depth].iter().map(|&each| (each, Turn::First)).collect();
    prefix.push((common[depth], Turn::AfterFirst));
    syncs.filter(|sync| sync.is_in_loop(common[depth])).map(|sync| instance(sync, prefix.clone())).collect()
}

/// The instances of `sync` that lie on one side of `access` within the turns `prefix` of the outer loops.
fn beside(sync: &Place, access: &Place, side: Side, prefix: &[(SiteId, Turn)]) -> Vec<SyncInstance> {
    let shared = places::common_loops(sync, access);
    let inner = &shared[prefix.len()..];
    let stands_there = if side.is_after() { sync.order > access.order } else { sync.order < access.order };
    let mut turns = prefix.to_vec();
    if stands_there {
        turns.extend(inner.iter().map(|&each| (each, side.own())));
        return vec![instance(sync, turns)];
    }
    let mut found = Vec::new();
    for &each in inner {
        let mut here = turns.clone();
        here.push((each, side.neighbour()));
        found.push(instance(sync, here));
        turns.push((each, side.own()));
    }
    found
}

/// The instance with the given turns of outer loops, and turn 0 of all further ones.
fn instance(sync: &Place, mut iterations: Vec<(SiteId, Turn)>) -> SyncInstance {
    iterations.extend(sync.loops().skip(iterations.len()).map(|each| (each, Turn::Zero)).collect::<Vec<_>>());
    SyncInstance { sync: sync.site, iterations }
}
