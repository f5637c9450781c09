//! Where an editor opens the page of a rule: files that are there while the session is.

use super::uri;
use crate::diagnostic::RuleId;
use crate::driver::rule_page;
use lsp_types::Uri;
use tempfile::TempDir;

/// The pages of all rules.
pub(super) struct Pages(Option<TempDir>);

impl Pages {
    /// Writes them; where nothing can be written, nothing is linked.
    pub(super) fn write() -> Pages {
        let written = || {
            let place = tempfile::Builder::new().prefix("raceproof-rules-").tempdir()?;
            for rule in RuleId::ALL {
                std::fs::write(place.path().join(format!("{}.md", rule.name())), rule_page(rule))?;
            }
            std::io::Result::Ok(place)
        };
        Pages(written().ok())
    }

    /// The page of a rule.
    pub(super) fn of(&self, rule: RuleId) -> Option<Uri> {
        let place = self.0.as_ref()?;
        Some(uri::of_path(&place.path().join(format!("{}.md", rule.name()))))
    }
}
