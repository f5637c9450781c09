//! The files of the project: what is known of them, and how far a run over them is.
//!
//! Deliberately absent: running ([`super::workspace`]), and who is told ([`super::session`]).

use super::findings::of_report;
use super::pages::Pages;
use super::positions::Encoding;
use crate::diagnostic::report::Report;
use crate::source::disk::absolute;
use lsp_server::RequestId;
use lsp_types::{Diagnostic, PreviousResultId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the editor is told how far a run is.
const TOLD: Duration = Duration::from_millis(200);

/// What is known of the files of the project.
#[derive(Default)]
pub(super) struct Project {
    /// What was found, by the file that was checked; nothing before the first run over them has ended.
    pub(super) found: Option<BTreeMap<PathBuf, BTreeMap<PathBuf, Vec<Diagnostic>>>>,
    /// Who asked for it, and what was known then.
    pub(super) asked: Option<(RequestId, Vec<PreviousResultId>)>,
    /// How many files a run is over, and when something was last told of it.
    pub(super) progress: Option<(usize, Instant)>,
    /// Runs so far.
    pub(super) runs: usize,
}

impl Project {
    /// Takes over what a run found; the files of which something else is to be said now.
    pub(super) fn know(&mut self, report: Report, encoding: Encoding, pages: &Pages) -> BTreeSet<PathBuf> {
        let before = self.found.take().into_iter().flatten().flat_map(|(_, found)| found.into_keys());
        let mut targets: BTreeSet<PathBuf> = before.collect();
        let mut project = BTreeMap::new();
        for file in report.files {
            let path = absolute(&file.path);
            let found = of_report(&Report { files: vec![file] }, encoding, pages);
            let found: BTreeMap<PathBuf, Vec<Diagnostic>> = found
                .into_iter()
                .map(|(target, found)| (target, found.into_iter().map(|(_, diagnostic)| diagnostic).collect()))
                .collect();
            targets.extend(found.keys().cloned());
            project.insert(path, found);
        }
        self.found = Some(project);
        targets
    }

    /// The name of the run that is under way.
    pub(super) fn token(&self) -> String {
        format!("raceproof-{}", self.runs)
    }

    /// A run over so many files begins: its name, and what is said of it.
    pub(super) fn begin(&mut self, files: usize) -> (String, Value) {
        self.runs += 1;
        self.progress = Some((files, Instant::now()));
        let message = format!("0 of {files} files");
        let said = json!({
            "kind": "begin", "title": "raceproof", "message": message, "percentage": 0, "cancellable": false,
        });
        (self.token(), said)
    }

    /// So many files of the run are done: what is said of that, if it is time to.
    pub(super) fn advance(&mut self, done: usize) -> Option<Value> {
        let (files, _) = self.progress.filter(|(_, told)| told.elapsed() >= TOLD)?;
        self.progress = Some((files, Instant::now()));
        let percentage = 100 * done / files.max(1);
        Some(json!({ "kind": "report", "message": format!("{done} of {files} files"), "percentage": percentage }))
    }
}
