//! What a pass makes of a file, as text: for people who want to see why a verdict came out as it did.

use super::options::Options;
use std::path::Path;

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The surface tree.
    Syntax,
    /// The calculus.
    Calculus,
    /// The memory access protocols.
    Protocol,
    /// Pairs of accesses that share an interval.
    Intervals,
    /// Conflict conditions and how each was decided.
    Conditions,
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The pass is not composed yet.
    #[error("this build cannot show {0:?} yet")]
    NotComposed(Stage),
}

/// The text of `stage` for the file's kernels.
pub fn show(stage: Stage, _path: &Path, _text: &str, _options: &Options) -> Result<String, ShowError> {
    Err(ShowError::NotComposed(stage))
}
