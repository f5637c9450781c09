//! The directory of results: one file for each, which is written beside its place and then moved there.
//!
//! Guarantees: a file that is not whole, or that another version wrote, is none. The directory is left out by git and by
//! backups, as it says itself (`.gitignore`, `CACHEDIR.TAG`). Nothing is removed that raceproof did not write.
//!
//! Deliberately absent: any limit of size; `raceproof clean` removes all of it.

use crate::check::pages::page_of;
use crate::diagnostic::{RuleId, UNKNOWN};
use crate::source::dependencies::Stamp;
use crate::source::fingerprint::Fingerprint;
use crate::source::own_header;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What tells the directory of a cache from others (<https://bford.info/cachedir/>).
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
                   # Results of raceproof, which can be found again; `raceproof clean` removes them.\n";
const TAG_FILE: &str = "CACHEDIR.TAG";
/// What git is told.
const IGNORED: &str = "# Written by raceproof.\n*\n";

/// A directory of results.
#[derive(Debug)]
pub struct Store {
    /// Where results of this version are.
    directory: PathBuf,
}

impl Store {
    /// The directory, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or what is there was not made by raceproof.
    pub fn open(directory: &Path) -> io::Result<Store> {
        if !is_ours(directory) {
            let is_taken = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
            if is_taken {
                return Err(io::Error::other(
                    "it holds other files; name an empty directory, or one that is not there",
                ));
            }
            std::fs::create_dir_all(directory)?;
            write_whole(directory, ".gitignore", IGNORED.as_bytes())?;
            // Last: who finds it finds the rest.
            write_whole(directory, TAG_FILE, TAG.as_bytes())?;
        }
        Ok(Store { directory: directory.join(env!("CARGO_PKG_VERSION")) })
    }

    /// What is kept under a name.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &Fingerprint) -> Option<T> {
        let (directory, file) = self.place(name);
        let bytes = std::fs::read(directory.join(file)).ok()?;
        let (sum, kept) = bytes.split_first_chunk::<32>()?;
        let is_whole = Fingerprint::of(kept).to_string().as_bytes() == sum;
        if is_whole { postcard::from_bytes(kept).ok() } else { None }
    }

    /// Keeps something under a name.
    pub(super) fn write(&self, name: &Fingerprint, what: &impl Serialize) -> io::Result<()> {
        let kept = postcard::to_stdvec(what).map_err(io::Error::other)?;
        let mut bytes = Fingerprint::of(&kept).to_string().into_bytes();
        bytes.extend(kept);
        let (directory, file) = self.place(name);
        std::fs::create_dir_all(&directory)?;
        write_whole(&directory, &file, &bytes)
    }

    /// The directory, for an include path of compilers, in which this version has the header of annotations; it is written where
    /// it is not there, or differs.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn include_dir(&self) -> io::Result<PathBuf> {
        self.texts("include", [(own_header::NAME.to_owned(), own_header::TEXT)])
    }

    /// The directory in which this version has the page of each rule, as `NAME.md`, and that of `unknown`; those are written that
    /// are not there, or differ.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn rule_pages(&self) -> io::Result<PathBuf> {
        let file = |rule: Option<RuleId>| format!("{}.md", rule.map_or(UNKNOWN, RuleId::name));
        self.texts("rules", RuleId::ALL.map(Some).into_iter().chain([None]).map(|rule| (file(rule), page_of(rule))))
    }

    /// A directory that has these texts.
    fn texts(&self, name: &str, texts: impl IntoIterator<Item = (String, &'static str)>) -> io::Result<PathBuf> {
        let directory = self.directory.join(name);
        for (name, text) in texts {
            if std::fs::read(directory.join(&name)).is_ok_and(|known| known == text.as_bytes()) {
                continue;
            }
            std::fs::create_dir_all(&directory)?;
            write_whole(&directory, &name, text.as_bytes())?;
        }
        Ok(directory)
    }

    /// What a tool is, by its contents, which are read again when its times have changed.
    pub(super) fn identity(&self, tool: &Path) -> Option<Fingerprint> {
        let stamp = Stamp::of(tool)?;
        let name = Fingerprint::of_value(&("tool", tool));
        if let Some((known, identity)) = self.read::<(Stamp, Fingerprint)>(&name)
            && known == stamp
        {
            return Some(identity);
        }
        let identity = Fingerprint::of(&std::fs::read(tool).ok()?);
        if stamp.is_steady() {
            let _ = self.write(&name, &(stamp, identity));
        }
        Some(identity)
    }

    fn place(&self, name: &Fingerprint) -> (PathBuf, String) {
        let name = name.to_string();
        (self.directory.join(&name[..2]), name[2..].to_owned())
    }
}

/// Writes a file so that nobody sees a part of it.
fn write_whole(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.persist(directory.join(name)).map(|_| ()).map_err(|error| error.error)
}

/// Whether raceproof made the directory.
fn is_ours(directory: &Path) -> bool {
    std::fs::read(directory.join(TAG_FILE)).is_ok_and(|tag| tag == TAG.as_bytes())
}

/// What became of a directory of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Gone,
    /// There was none.
    Nothing,
}

/// Removes a directory of results.
///
/// # Errors
/// It cannot be removed, or raceproof did not make it.
pub fn clean(directory: &Path) -> io::Result<Removed> {
    if !directory.exists() {
        return Ok(Removed::Nothing);
    }
    if !is_ours(directory) {
        return Err(io::Error::other(format!("it has no {TAG_FILE} of raceproof; remove it by hand")));
    }
    std::fs::remove_dir_all(directory).map(|()| Removed::Gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> Fingerprint {
        Fingerprint::of(b"a name")
    }

    #[test]
    fn what_is_written_is_read_and_what_is_not_whole_is_not() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(&place.path().join("cache")).unwrap();
        assert_eq!(store.read::<u32>(&name()), None);
        store.write(&name(), &7_u32).unwrap();
        assert_eq!(store.read::<u32>(&name()), Some(7));
        let (directory, file) = store.place(&name());
        let bytes = std::fs::read(directory.join(&file)).unwrap();
        for broken in [&bytes[..bytes.len() - 1], &bytes[..10], &[bytes.as_slice(), b"x"].concat()] {
            std::fs::write(directory.join(&file), broken).unwrap();
            assert_eq!(store.read::<u32>(&name()), None);
        }
    }

    #[test]
    fn pages_are_written_where_they_are_not_there_or_differ() {
        let place = tempfile::tempdir().unwrap();
        let pages = || Store::open(&place.path().join("cache")).unwrap().rule_pages().unwrap();
        let first = pages().join(format!("{}.md", RuleId::DataRace.name()));
        let written = std::fs::metadata(&first).unwrap().modified().unwrap();
        std::fs::write(pages().join("array-bounds.md"), "half").unwrap();
        assert_eq!(std::fs::read_dir(pages()).unwrap().count(), RuleId::ALL.len() + 1);
        assert_eq!(
            std::fs::read_to_string(pages().join("array-bounds.md")).unwrap(),
            page_of(Some(RuleId::ArrayBounds))
        );
        assert_eq!(std::fs::metadata(&first).unwrap().modified().unwrap(), written);
    }

    #[test]
    fn a_directory_of_others_is_neither_used_nor_removed() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("thesis.tex"), "").unwrap();
        assert!(Store::open(place.path()).is_err() && clean(place.path()).is_err());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
        let own = place.path().join("own");
        assert_eq!(clean(&own).unwrap(), Removed::Nothing);
        Store::open(&own).unwrap();
        assert_eq!(clean(&own).unwrap(), Removed::Gone);
        assert!(!own.exists());
    }
}
