//! Which conflicts are one finding: those of the same two places of the text, on the same array, between threads that
//! stand alike to each other. A place may be reached in several ways, by turns of an unrolled loop or by calls of one
//! function; to its reader it is one.
//!
//! Deliberately absent: the places themselves; two macro calls that write the same text are two places.

use super::Context;
use crate::calculus::{ArrayId, SiteId};
use crate::diagnostic::report::PlaceAccess;
use crate::memory_model::Level;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What two conflicts share that are one finding.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct SamePlaces {
    level: Level,
    array: Option<ArrayId>,
    /// In the order of the text.
    places: [(Span, PlaceAccess); 2],
}

impl SamePlaces {
    /// Of accesses at two sites.
    pub(super) fn new(context: &Context<'_>, level: Level, sites: [SiteId; 2]) -> SamePlaces {
        let mut places = sites.map(|site| context.place_of(site)).map(|place| (place.span, place.access));
        places.sort_unstable();
        SamePlaces { level, array: context.access_at(sites[0]).map(|access| access.array), places }
    }
}

/// The items with equal keys together, in the order of the first of each.
pub(super) fn grouped<T, K: Eq + Hash>(items: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    let mut numbers: FxHashMap<K, usize> = FxHashMap::default();
    for item in items {
        let number = *numbers.entry(key(item)).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}
