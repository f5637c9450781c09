//! Results of earlier runs: what is known of a file is not found again as long as nothing changes that it depends on.
//!
//! - [`key`]: what a result hangs on beside files: options, tools, the program itself.
//! - [`entry`]: a report without the text of its sources, as it is kept.
//! - [`world`]: whether what was read and asked once would give the same today.
//!
//! Guarantees: a hit gives the report that a miss would give: it is of the same text, of all that was included, of all that the
//! project was asked, of the same options, of the same program and tools, by their contents. Several processes may share a
//! directory, and one that is killed leaves nothing that another one takes for a result. What a clock has cut short, and a file
//! on which something went wrong, is not kept.
//!
//! Deliberately absent: the directory that they are in ([`store`](super::store)); results of kernels (within a run, [`memo`](super::memo) shares these), standard input, runs that
//! measure or write programs, and launches of logs.

mod entry;
mod key;
mod world;

use super::options::Options;
use super::store::Store;
use super::units::Units;
use crate::diagnostic::report::FileReport;
use crate::source::dependencies::{Dependencies, a_clock_decided};
use crate::source::fingerprint::Fingerprint;
use entry::Entry;
use std::path::Path;
use std::sync::Arc;
use world::World;

/// The results that count for a run.
pub(super) struct Cache {
    store: Arc<Store>,
    key: Fingerprint,
    world: World,
}

impl Cache {
    /// Those for these options, if results are kept at all.
    pub(super) fn of(options: &Options) -> Option<Cache> {
        let store = Arc::clone(options.workload.cache.as_ref()?);
        let key = key::of(options, &store)?;
        Some(Cache { store, key, world: World::new(options.headers.clone()) })
    }

    /// The report on a file, if it is kept and would be the same today.
    pub(super) fn look_up(&self, path: &Path, units: &Units) -> Option<FileReport> {
        let entry: Entry = self.store.read(&self.name_of(path))?;
        let holds = entry.dependencies.iter().all(|held| self.world.holds(held, units));
        if holds { entry.report.restored(&self.world) } else { None }
    }

    /// Keeps the report on a file. What cannot be written costs the next run its time, and nobody anything else.
    pub(super) fn keep(&self, path: &Path, report: &FileReport, dependencies: Dependencies) {
        if a_clock_decided() || !dependencies.can_be_kept() {
            return;
        }
        let entry = Entry { dependencies: self.world.held(dependencies), report: entry::Kept::of(report) };
        let _ = self.store.write(&self.name_of(path), &entry);
    }

    fn name_of(&self, path: &Path) -> Fingerprint {
        Fingerprint::of_value(&(self.key, path))
    }
}
