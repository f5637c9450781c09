//! What settings make of rules: which are told, and how grave their findings are.
//!
//! Deliberately absent: files of settings.

use super::apply::regroup;
use crate::diagnostic::report::FileReport;
use crate::diagnostic::suppression::Hidden;
use crate::diagnostic::{RuleId, Severity};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What settings make of rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSettings {
    /// Rules that are not told, and where that is said.
    pub left_out: BTreeMap<RuleId, String>,
    /// The same for single files.
    pub left_out_in: BTreeMap<PathBuf, BTreeMap<RuleId, String>>,
    /// How grave their findings are.
    pub levels: BTreeMap<RuleId, Severity>,
}

impl RuleSettings {
    /// Hides and ranks what was found in a file.
    pub fn apply(&self, file: &mut FileReport) {
        let here = self.left_out_in.get(&file.path);
        let hidden = |rule: RuleId| {
            let place = here.and_then(|rules| rules.get(&rule)).or_else(|| self.left_out.get(&rule))?;
            Some(Hidden::Settings { place: place.clone() })
        };
        for diagnostic in &mut file.diagnostics {
            diagnostic.hidden = diagnostic.hidden.take().or_else(|| hidden(diagnostic.rule));
            diagnostic.severity = self.levels.get(&diagnostic.rule).copied().unwrap_or(diagnostic.severity);
        }
        for kernel in &mut file.kernels {
            regroup(kernel, |finding| hidden(finding.rule));
            for finding in &mut kernel.findings {
                finding.telling.severity = self.levels.get(&finding.rule).copied();
                for related in &mut finding.related {
                    related.telling.severity = self.levels.get(&related.rule).copied();
                }
            }
        }
    }
}
