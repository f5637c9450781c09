//! The files on disk, as analysis reads them: everything that it sees of them is recorded ([`super::dependencies`]).
//!
//! A text that somebody writes, and has not saved, stands in for its file ([`stand_in`]).
//!
//! Deliberately absent: walking directories ([`super::discover`], [`super::headers`]), and what is read beside analysis:
//! options, logs, programs that are run.

use super::dependencies::{Content, Dependency, Stamp, record};
use super::fingerprint::Fingerprint;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Larger files are refused: offsets are 32 bits wide, and no kernel is that long.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Why a source file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The system did not give it.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It has so many bytes.
    #[error("{0} bytes are more than the {MAX_FILE_BYTES} that a source file may have")]
    TooLarge(u64),
}

/// Texts that stand in for files.
static UNSAVED: RwLock<BTreeMap<PathBuf, Arc<str>>> = RwLock::new(BTreeMap::new());

/// From now on the text stands in for the file; without one, the file is itself again.
pub fn stand_in(path: &Path, text: Option<Arc<str>>) {
    let mut unsaved = UNSAVED.write().unwrap_or_else(PoisonError::into_inner);
    match text {
        Some(text) => unsaved.insert(absolute(path), text),
        None => unsaved.remove(&absolute(path)),
    };
}

/// What stands in for a file.
fn unsaved(path: &Path) -> Option<Arc<str>> {
    let unsaved = UNSAVED.read().unwrap_or_else(PoisonError::into_inner);
    if unsaved.is_empty() {
        return None;
    }
    unsaved.get(&absolute(path)).cloned()
}

/// The path from the root, normalized: one name for one file, whatever the working directory.
pub fn absolute(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// `path` without `.` and, where a name precedes it, without `..`: one name for one file.
pub fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// The bytes of a source file.
///
/// # Errors
/// It cannot be read, or is too large.
pub fn read_source(path: &Path) -> Result<Vec<u8>, Unread> {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size > MAX_FILE_BYTES { Err(Unread::TooLarge(size)) } else { Ok(read(path)?) }
}

/// Text of the same length: every byte that is not part of UTF-8 becomes `?`, so that offsets hold.
pub fn decode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// The bytes of a file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if let Some(text) = unsaved(path) {
        record(|| {
            let content = Content { bytes: Fingerprint::of(text.as_bytes()), stamp: None };
            Dependency::File(path.to_path_buf(), Some(content))
        });
        return Ok(text.as_bytes().to_vec());
    }
    // Before it is read: whoever changes it in between leaves a stamp that is no longer true.
    let stamp = Stamp::of(path);
    let bytes = std::fs::read(path);
    record(|| {
        let content = |bytes| Content { bytes: Fingerprint::of(bytes), stamp: stamp.filter(Stamp::is_steady) };
        Dependency::File(path.to_path_buf(), bytes.as_deref().ok().map(content))
    });
    bytes
}

/// Whether there is a file at the path.
pub fn is_file(path: &Path) -> bool {
    let is_file = unsaved(path).is_some() || path.is_file();
    record(|| Dependency::Presence(path.to_path_buf(), is_file));
    is_file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_in_for_its_file_until_it_is_taken_away() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.cu");
        std::fs::write(&path, "saved").unwrap();
        let seen = || read(&place.path().join("sub/../a.cu")).map(|bytes| String::from_utf8(bytes).unwrap()).unwrap();
        std::fs::create_dir(place.path().join("sub")).unwrap();
        stand_in(&path, Some("written".into()));
        assert_eq!(seen(), "written");
        stand_in(&path, None);
        assert_eq!(seen(), "saved");
    }

    #[test]
    fn decoding_keeps_offsets() {
        let bytes = b"ab\xffc\xc3\xa9\xc3";
        let text = decode(bytes);
        assert_eq!(text, "ab?cé?");
        assert_eq!(text.len(), bytes.len());
    }
}
