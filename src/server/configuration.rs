//! How files are checked, which whoever serves knows.

use crate::driver::options::Options;
use crate::driver::parallel::Group;
use std::path::{Path, PathBuf};

/// How files are checked, as it is now: it is asked for anew when files have changed.
pub trait Configuration: Send + Sync {
    /// The options for a text.
    ///
    /// # Errors
    /// Settings cannot be used.
    fn of_text(&self, path: &Path) -> Result<Options, Unfit>;

    /// The files of directories, with the options for them.
    ///
    /// # Errors
    /// Settings cannot be used.
    fn of_project(&self, roots: &[PathBuf]) -> Result<Vec<Group>, Unfit>;

    /// The directory that has the page of each rule, as `NAME.md`, now and after the session; nothing if there is no place for it.
    fn pages(&self) -> Option<PathBuf>;

    /// What the user meant otherwise than it is, though everything can be checked. To find out may take long.
    fn warning(&self) -> Option<String>;
}

/// Settings that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);
