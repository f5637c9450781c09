//! The files and projects as they are now, against what they were when a result was found.
//!
//! Guarantees: what is said to hold was read, or has the times and the size that it had then; each file is looked at once in a
//! run. What is not known to be the same counts as changed.

use crate::driver::launched::{DEFINED, LAUNCHED};
use crate::driver::options::Headers;
use crate::driver::stated::{BUILD_FILES, HOST_FILES};
use crate::driver::units::Units;
use crate::source::dependencies::{Content, Dependencies, Dependency, Question, Stamp};
use crate::source::disk::decode;
use crate::source::fingerprint::Fingerprint;
use crate::source::headers::{Kind, Words};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// All kinds of files and words that projects are asked about.
const KINDS: [Kind; 2] = [BUILD_FILES, HOST_FILES];
const WORDS: [Words; 2] = [LAUNCHED, DEFINED];

/// Something that a result depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Held {
    dependency: Dependency,
    /// Which files the project had, where the answer hangs on their names alone.
    listing: Option<Fingerprint>,
}

/// What is there now.
pub(super) struct World {
    headers: Headers,
    files: Mutex<FxHashMap<PathBuf, Arc<Now>>>,
}

/// A file as it is now.
struct Now {
    stamp: Option<Stamp>,
    bytes: OnceLock<Option<Fingerprint>>,
    text: OnceLock<Option<Arc<str>>>,
}

impl World {
    /// With the projects and the models that a run asks.
    pub(super) fn new(headers: Headers) -> World {
        World { headers, files: Mutex::default() }
    }

    /// Dependencies as they are kept, those first that are soon compared.
    pub(super) fn held(&self, dependencies: Dependencies) -> Vec<Held> {
        let rank = |held: &Held| matches!(held.dependency, Dependency::Answer(..));
        let held = dependencies.into_all().map(|it| Held { listing: self.listing(&it), dependency: it });
        let mut held: Vec<Held> = held.collect();
        held.sort_by_key(rank);
        held
    }

    /// Whether it would be the same today.
    pub(super) fn holds(&self, held: &Held, units: &Units) -> bool {
        match &held.dependency {
            Dependency::File(path, content) => self.has(path, content.as_ref()),
            Dependency::Silence => false,
            Dependency::Presence(path, is_there) => self.now(path).stamp.is_some() == *is_there,
            Dependency::Answer(Question::Including { file }, answer) => units.answer(file) == *answer,
            Dependency::Answer(Question::Models { unit }, answer) => self.headers.models.answer(unit) == *answer,
            Dependency::Answer(question, answer) => {
                let is_same_project = held.listing.is_some() && held.listing == self.listing(&held.dependency);
                is_same_project
                    || self.headers.project.as_ref().and_then(|it| it.answer(question, &KINDS, &WORDS)) == Some(*answer)
            }
        }
    }

    /// The text of a file.
    pub(super) fn text_of(&self, path: &Path) -> Option<Arc<str>> {
        let read = || Some(decode(&std::fs::read(path).ok()?).into());
        self.now(path).text.get_or_init(read).clone()
    }

    fn has(&self, path: &Path, content: Option<&Content>) -> bool {
        let now = self.now(path);
        let Some(content) = content else { return now.stamp.is_none() };
        let bytes = || std::fs::read(path).ok().map(|bytes| Fingerprint::of(&bytes));
        content.stamp.is_some() && content.stamp == now.stamp || *now.bytes.get_or_init(bytes) == Some(content.bytes)
    }

    fn now(&self, path: &Path) -> Arc<Now> {
        if let Some(known) = self.files.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Arc::clone(known);
        }
        let now = Arc::new(Now { stamp: Stamp::of(path), bytes: OnceLock::new(), text: OnceLock::new() });
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(files.entry(path.to_path_buf()).or_insert(now))
    }

    /// Which files the project has that is asked, where the answer hangs on their names, and on texts that are held of
    /// themselves.
    fn listing(&self, dependency: &Dependency) -> Option<Fingerprint> {
        let file = match dependency {
            Dependency::Answer(Question::Header { includer, .. }, _) => includer,
            Dependency::Answer(Question::Around { file, .. }, _) => file,
            _ => return None,
        };
        self.headers.project.as_ref()?.listing(file)
    }
}
