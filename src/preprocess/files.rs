//! Where headers come from.

use crate::source::disk;
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
        if !disk::is_file(path) {
            return None;
        }
        disk::read(path).ok().map(|bytes| disk::decode(&bytes))
    }
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
