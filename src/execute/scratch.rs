//! A directory for one run, which is removed with everything in it when the run is over, or when the process is about to end
//! whatever its threads still do ([`remove_all`]).

use super::ExecuteError;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary directories that are there.
static LIVING: Mutex<Living> = Mutex::new(Living { is_over: false, paths: BTreeSet::new() });

struct Living {
    is_over: bool,
    paths: BTreeSet<PathBuf>,
}

/// How often it is tried to remove a directory into which somebody who is about to end still writes.
const TRIES: usize = 5;

/// The directory. Dropping it removes it, unless it is the user's.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    keep: Keep,
}

/// What becomes of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Remove,
    Keep,
}

impl Scratch {
    /// A new directory among the system's temporary ones, for this user only.
    pub fn temporary() -> Result<Scratch, ExecuteError> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let parent = std::env::temp_dir();
        let mut living = living();
        if living.is_over {
            return Err(ExecuteError::Interrupted);
        }
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("raceproof-{}-{number}", std::process::id()));
            match create(&path) {
                Ok(()) => {
                    living.paths.insert(path.clone());
                    return Ok(Scratch { path, keep: Keep::Remove });
                }
                // Left over from a process of that number that was killed.
                Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(ExecuteError::Write { path, cause }),
            }
        }
    }

    /// A directory of the user's, made if it is not there, and left.
    pub fn kept(path: &Path) -> Result<Scratch, ExecuteError> {
        fs::create_dir_all(path).map_err(|cause| ExecuteError::Write { path: path.to_path_buf(), cause })?;
        let path = path.canonicalize().map_err(|cause| ExecuteError::Write { path: path.to_path_buf(), cause })?;
        Ok(Scratch { path, keep: Keep::Keep })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file below it, with the directories on the way.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, ExecuteError> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|cause| ExecuteError::Write { path: path.clone(), cause })?;
        Ok(path)
    }
}

/// Removes all temporary directories; none is made after that.
pub fn remove_all() {
    let mut living = living();
    living.is_over = true;
    living.paths.iter().for_each(|path| remove(path));
}

fn living() -> MutexGuard<'static, Living> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whatever is left then is in the system's temporary directory; there is nobody to tell.
fn remove(path: &Path) {
    let is_gone = |_: &usize| fs::remove_dir_all(path).is_ok() || !path.exists();
    let _ = (0..TRIES).find(is_gone);
}

#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> std::io::Result<()> {
    fs::create_dir(path)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.keep == Keep::Remove {
            remove(&self.path);
            living().paths.remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_directory_is_gone_with_its_files_and_a_kept_one_is_not() {
        let scratch = Scratch::temporary().unwrap();
        let file = scratch.write("a/b.txt", "text").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        let path = scratch.path().to_path_buf();
        let kept = Scratch::kept(&path.join("kept")).unwrap();
        drop(kept);
        assert!(path.join("kept").is_dir());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn two_directories_are_never_the_same() {
        let (one, other) = (Scratch::temporary().unwrap(), Scratch::temporary().unwrap());
        assert_ne!(one.path(), other.path());
    }
}
