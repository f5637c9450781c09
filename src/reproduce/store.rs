//! Names of reproductions, and their files.

use super::draft::{Draft, MARK};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a reproduction was not written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The directory or a file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Unwritable {
        /// What.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file of somebody else's.
    #[error("{} is not overwritten: it is no reproduction of raceproof's; move it, or name another directory", .0.display())]
    NotOurs(PathBuf),
}

/// A directory for reproductions.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    /// Names that this run has used, in small letters: some file systems know no others.
    used: BTreeSet<String>,
}

impl Store {
    /// Makes the directory if it is not there.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let failed = |cause| StoreError::Unwritable { path: directory.to_path_buf(), cause };
        fs::create_dir_all(directory).map_err(failed)?;
        Ok(Store { directory: directory.to_path_buf(), used: BTreeSet::new() })
    }

    /// Writes the files of a reproduction. Gives the path of the one to run.
    pub fn write(&mut self, draft: &Draft) -> Result<PathBuf, StoreError> {
        let name = self.fresh(&draft.stem);
        let path = |extension: &str| self.directory.join(format!("{name}.{extension}"));
        let files = draft.files(&name);
        for (extension, _) in &files {
            let path = path(extension);
            if !may_overwrite(&path, &self.directory.join(format!("{name}.{}", draft.extension()))) {
                return Err(StoreError::NotOurs(path));
            }
        }
        for (extension, text) in &files {
            let path = path(extension);
            fs::write(&path, text).map_err(|cause| StoreError::Unwritable { path, cause })?;
        }
        Ok(path(draft.extension()))
    }

    /// A name that no other reproduction of this run has.
    fn fresh(&mut self, stem: &str) -> String {
        let mut number = 1;
        loop {
            let name = if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
            if self.used.insert(name.to_lowercase()) {
                return name;
            }
            number += 1;
        }
    }
}

/// Whether there is nothing at a path, or a file that an earlier run has written. A file without room for the mark goes
/// with the one to run, `main`.
fn may_overwrite(path: &Path, main: &Path) -> bool {
    let is_ours = |path: &Path| {
        let mut start = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
        read.is_ok() && String::from_utf8_lossy(&start).lines().next().is_some_and(|line| line.contains(MARK))
    };
    match fs::symlink_metadata(path) {
        Err(_) => true,
        Ok(found) if !found.is_file() => false,
        Ok(_) => is_ours(path) || path.extension().is_some_and(|extension| extension == "sim") && is_ours(main),
    }
}
