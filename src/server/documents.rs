//! Open texts: what is known of each, what waits for more, and how more is found out.
//!
//! Deliberately absent: who asks, and who is answered ([`super::session`]).

use super::analyst::Version;
use super::texts::Text;
use crate::diagnostic::render::editor::Remark;
use crate::diagnostic::report::{Fix, Report};
use crate::driver::details::{Details, details};
use crate::driver::live;
use crate::driver::options::Options;
use lsp_server::RequestId;
use lsp_types::{Diagnostic, Position, Range, Uri};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open text, and what is known of it.
pub(super) struct Document {
    pub(super) uri: Uri,
    pub(super) text: Text,
    pub(super) version: Version,
    pub(super) options: Arc<Options>,
    pub(super) known: Option<Known>,
    pub(super) details: Option<(Version, Details)>,
    /// Fixes that were sought for findings of this version, by kernel and line.
    pub(super) fixes: BTreeMap<(String, u32), Option<Fix>>,
    /// What was asked of those who answer, for this version.
    pub(super) asked: BTreeSet<Wanting>,
    pub(super) waiting: Vec<(RequestId, Asked)>,
}

/// What came of the last check of a text.
pub(super) struct Known {
    pub(super) version: Version,
    pub(super) report: Report,
    pub(super) found: BTreeMap<PathBuf, Vec<(Remark, Diagnostic)>>,
}

/// What is asked of a text.
pub(super) enum Asked {
    Findings { before: Option<String> },
    Hover(Position),
    Actions(Range),
    Lenses,
    Hints(Range),
}

/// What an answer needs that is not known yet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanting {
    Verdicts,
    Details,
    Fix(String, u32),
}

/// What those who answer found out.
pub(super) enum Answer {
    Details(PathBuf, Version, Details),
    Fix(PathBuf, Version, (String, u32), Option<Fix>),
    /// Of no text: what the user is to be warned of, if anything.
    Warning(Option<String>),
}

/// A piece of work beside checks.
pub(super) type Errand = Box<dyn FnOnce() -> Answer + Send>;

/// What is done to know what is wanted; verdicts come by themselves.
pub(super) fn errand(path: &Path, document: &Document, wanting: Wanting) -> Option<Errand> {
    let (path, version) = (path.to_path_buf(), document.version);
    let (text, options) = (Arc::clone(&document.text.text), Arc::clone(&document.options));
    match wanting {
        Wanting::Verdicts => None,
        Wanting::Details => Some(Box::new(move || {
            let found = details(&path, &text, &options);
            Answer::Details(path, version, found)
        })),
        Wanting::Fix(kernel, line) => Some(Box::new(move || {
            let fix = live::fix(&path, &text, &options, (&kernel, line));
            Answer::Fix(path, version, (kernel, line), fix)
        })),
    }
}
