//! Units of a run that are asked for their launches, each of which is read once for whoever asks.
//!
//! Guarantees: what is kept of a unit does not depend on who asked first, and everybody who asks depends on all that it was
//! read from. Deliberately absent: how units are read, and which
//! launches count for a kernel ([`launched`](super::launched)).

use super::options::Options;
use crate::launch::Launch;
use crate::preprocess::normalized;
use crate::source::dependencies::{Dependencies, record_all, recording};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The launches in a unit, as those ask who define its kernels.
pub(super) struct OfUnit {
    /// The text of the unit.
    pub(super) text: Arc<str>,
    /// What it launches, in source order.
    pub(super) launches: Vec<InUnit>,
}

/// A launch in a unit.
pub(super) struct InUnit {
    /// The name of the kernel.
    pub(super) name: String,
    /// How many parameters it has.
    pub(super) params: usize,
    /// Whether it is an instance of a template.
    pub(super) is_instance: bool,
    /// Whether the unit has its body.
    pub(super) has_body: bool,
    /// The file that it stands in.
    pub(super) path: Option<PathBuf>,
    /// The launch, in the words of the unit.
    pub(super) launch: Launch,
    /// The bytes of the call in the text of the unit, if it stands there.
    pub(super) place: Option<Range<usize>>,
}

/// Units that were read for their launches: many a header asks the same ones.
#[derive(Default)]
pub(super) struct ReadUnits(Mutex<FxHashMap<(PathBuf, String), (Arc<OfUnit>, Arc<Dependencies>)>>);

impl ReadUnits {
    /// Forgets what was read.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A unit, which is read unless it was with the same options.
    pub(super) fn unit(
        &self,
        path: &Path,
        options: &Options,
        read: impl FnOnce() -> Option<OfUnit>,
    ) -> Option<Arc<OfUnit>> {
        let Options { defines, undefined, include_dirs, .. } = options;
        let key = (normalized(path), format!("{defines:?}{undefined:?}{include_dirs:?}"));
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some((known, dependencies)) = known {
            record_all(&dependencies);
            return Some(known);
        }
        let (made, dependencies) = recording(read);
        record_all(&dependencies);
        let made = Arc::new(made?);
        let kept = (Arc::clone(&made), Arc::new(dependencies));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, kept);
        Some(made)
    }
}
