//! Where headers come from.

use crate::source::disk;
use std::path::Path;

pub use crate::source::disk::normalized;

/// Reads headers.
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
