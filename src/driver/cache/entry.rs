//! A report as it is kept: without the text of its sources, which is on disk, and with those macro expansions alone that its
//! places lie in.
//!
//! Guarantees: what is restored shows what the report showed. A text that is no longer what it was is no text: nothing is restored
//! then.

use super::world::{Held, World};
use crate::diagnostic::report::FileReport;
use crate::diagnostic::spans::each_span;
use crate::source::disk::decode;
use crate::source::fingerprint::Fingerprint;
use crate::source::{Expansion, ExpansionId, FileId, SourceMap, Span};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What is kept of one file.
#[derive(Serialize, Deserialize)]
pub(super) struct Entry {
    /// What the report depends on.
    pub(super) dependencies: Vec<Held>,
    /// The report.
    pub(super) report: Kept,
}

/// A report without its sources.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    report: FileReport,
    files: Vec<KeptFile>,
    expansions: Vec<Expansion>,
}

#[derive(Serialize, Deserialize)]
struct KeptFile {
    path: PathBuf,
    text: KeptText,
}

/// The text of a source.
#[derive(Serialize, Deserialize)]
enum KeptText {
    /// That of the file at its path, which has this fingerprint.
    OnDisk(Fingerprint),
    /// It is on no disk.
    Here(String),
}

impl Kept {
    /// A report with what its places need of its sources.
    pub(super) fn of(report: &FileReport) -> Kept {
        let mut report = report.clone();
        let sources = std::mem::take(&mut report.sources);
        let needed = Needed::by(&mut report, &sources);
        let (files, expansions) = (numbered(&needed.files), numbered(&needed.expansions));
        let moved = |span: &mut Span| {
            span.file = FileId::from_index(files[&span.file]);
            span.expansion = span.expansion.map(|id| ExpansionId::from_index(expansions[&id]));
        };
        each_span(&mut report, &mut |span| moved(span));
        let expansion = |&id: &ExpansionId| {
            let mut expansion = sources.expansion(id).clone();
            moved(&mut expansion.call_site);
            expansion
        };
        let file = |&id: &FileId| {
            let file = sources.file(id);
            let on_disk = std::fs::read(&file.path).is_ok_and(|bytes| decode(&bytes) == *file.text);
            let text = match on_disk {
                true => KeptText::OnDisk(Fingerprint::of(file.text.as_bytes())),
                false => KeptText::Here(file.text.to_string()),
            };
            KeptFile { path: file.path.clone(), text }
        };
        Kept {
            files: needed.files.iter().map(file).collect(),
            expansions: needed.expansions.iter().map(expansion).collect(),
            report,
        }
    }

    /// The report with its sources, if their texts are still the same.
    pub(super) fn restored(self, world: &World) -> Option<FileReport> {
        let mut sources = SourceMap::new();
        for KeptFile { path, text } in self.files {
            let text: Arc<str> = match text {
                KeptText::Here(text) => text.into(),
                KeptText::OnDisk(fingerprint) => {
                    let text = world.text_of(&path)?;
                    (Fingerprint::of(text.as_bytes()) == fingerprint).then_some(text)?
                }
            };
            sources.add_file(path, text);
        }
        for Expansion { name, call_site } in self.expansions {
            sources.add_expansion(name, call_site);
        }
        Some(FileReport { sources, ..self.report })
    }
}

/// The sources that a report needs.
struct Needed {
    files: BTreeSet<FileId>,
    expansions: BTreeSet<ExpansionId>,
}

impl Needed {
    /// The main file, and all that places lie in and come from.
    fn by(report: &mut FileReport, sources: &SourceMap) -> Needed {
        let main = sources.files().next().map(|(main, _)| main);
        let mut needed = Needed { files: main.into_iter().collect(), expansions: BTreeSet::new() };
        each_span(report, &mut |span| needed.need(*span, sources));
        needed
    }

    fn need(&mut self, span: Span, sources: &SourceMap) {
        let mut next = Some(span);
        while let Some(span) = next {
            self.files.insert(span.file);
            let expansion = span.expansion.filter(|&id| self.expansions.insert(id));
            next = expansion.map(|id| sources.expansion(id).call_site);
        }
    }
}

fn numbered<T: Copy + Ord>(all: &BTreeSet<T>) -> BTreeMap<T, usize> {
    all.iter().copied().zip(0..).collect()
}
