//! Places that were looked up: a kernel may have a hundred thousand pairs of a few hundred accesses.
//!
//! Deliberately absent: how a place is found, which whoever asks says.

use crate::calculus::SiteId;
use crate::diagnostic::report::Place;
use crate::protocol::{AccessId, Protocol};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};

/// What stands at the sites of one kernel, as far as it was asked for.
#[derive(Default)]
pub struct Known {
    accesses: OnceCell<FxHashMap<SiteId, AccessId>>,
    places: RefCell<FxHashMap<SiteId, Place>>,
}

impl Known {
    /// The first access with that site.
    pub(super) fn access_at(&self, protocol: &Protocol, site: SiteId) -> Option<AccessId> {
        let accesses = self.accesses.get_or_init(|| {
            let mut accesses = FxHashMap::default();
            protocol.accesses.iter().for_each(|(id, access)| _ = accesses.entry(access.site).or_insert(id));
            accesses
        });
        accesses.get(&site).copied()
    }

    /// The place of a site, which is found where it is not known.
    pub(super) fn place_at(&self, site: SiteId, find: impl FnOnce() -> Place) -> Place {
        if let Some(&place) = self.places.borrow().get(&site) {
            return place;
        }
        let place = find();
        self.places.borrow_mut().insert(site, place);
        place
    }
}
