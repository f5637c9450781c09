//! Where an editor opens the page of a rule, or of `unknown`: files that are there for all sessions of a user.
//!
//! Guarantees: a session leaves nothing behind, however it ends, that another one does not use.
//!
//! Deliberately absent: where they are, and who writes them (`cli`).

use super::configuration::Configuration;
use super::uri;
use crate::diagnostic::{RuleId, UNKNOWN};
use lsp_types::Uri;
use std::path::PathBuf;

/// The pages of all rules; where there is no place for them, nothing is linked.
pub(super) struct Pages(Option<PathBuf>);

impl Pages {
    /// Those of a session.
    pub(super) fn of(configuration: &dyn Configuration) -> Pages {
        Pages(configuration.pages())
    }

    /// The page of a rule; without one that of `unknown`.
    pub(super) fn page(&self, rule: Option<RuleId>) -> Option<Uri> {
        let name = rule.map_or(UNKNOWN, RuleId::name);
        Some(uri::of_path(&self.0.as_ref()?.join(format!("{name}.md"))))
    }
}
