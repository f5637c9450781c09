//! Where headers come from.

use std::path::{Component, Path, PathBuf};

/// Reads headers; an editor puts its unsaved text here.
pub trait FileAccess {
    /// The text of the file, or `None` if there is none.
    fn read(&self, path: &Path) -> Option<String>;
}

/// The files on disk.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl FileAccess for Disk {
    fn read(&self, path: &Path) -> Option<String> {
        // Only regular files: a directory or a device is no header.
        if !path.is_file() {
            return None;
        }
        std::fs::read(path).ok().map(decode)
    }
}

/// The text of `bytes`; every byte that is not UTF-8 becomes a `?`, so that offsets hold.
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut text = String::with_capacity(error.as_bytes().len());
        for chunk in error.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        text
    })
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
