//! The sites of a log, with their places in the text.

use crate::coverage::data_flow::Place;
use crate::driver::Options;
use crate::driver::instrument::InstrumentedFile;
use crate::instrument::SiteKind;
use crate::memory_model::AccessKind;
use crate::source::{Language, SourceMap, Span};
use std::collections::BTreeMap;

/// A file whose sites stand in a log, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) file: &'a InstrumentedFile,
    pub(super) options: &'a Options,
    pub(super) language: Language,
}

/// Where something stands: file, and line and column of its start.
type Start = (String, u32, u32);

/// All sites, by the numbers of the log: those of one file behind those of another.
pub(super) struct Sites {
    all: Vec<(Place, SiteKind, Language)>,
    by_start: BTreeMap<Start, Vec<usize>>,
}

impl Sites {
    pub(super) fn of(subjects: &[Subject<'_>]) -> Sites {
        let mut sites = Sites { all: Vec::new(), by_start: BTreeMap::new() };
        for Subject { file, language, .. } in subjects {
            for site in &file.unit.sites {
                let start = start_of(&file.sources, site.span);
                sites.by_start.entry(start.clone()).or_default().push(sites.all.len());
                let (file, line, column) = start;
                let place = Place { file, line, column, function: site.function.clone(), array: one_line(&site.array) };
                sites.all.push((place, site.kind, *language));
            }
        }
        sites
    }

    pub(super) fn knows_site(&self, site: usize) -> bool {
        site < self.all.len()
    }

    pub(super) fn place_of_site(&self, site: usize) -> Place {
        self.all[site].0.clone()
    }

    pub(super) fn kind_of_site(&self, site: usize) -> SiteKind {
        self.all[site].1
    }

    pub(super) fn language_of_site(&self, site: usize) -> Language {
        self.all[site].2
    }

    /// The sites that log an access of the model: those that begin where it does, or else the first ones within it.
    pub(super) fn that_log(&self, sources: &SourceMap, span: Span, kind: AccessKind) -> Vec<usize> {
        let start = start_of(sources, span);
        let end = sources.end_position(span);
        let fits = |site: &&usize| does(self.all[**site].1, kind);
        let at_start = self.by_start.get(&start).into_iter().flatten().filter(fits).copied().collect::<Vec<_>>();
        if !at_start.is_empty() {
            return at_start;
        }
        let last = (start.0.clone(), end.line, end.column);
        if start > last {
            return Vec::new();
        }
        let within = self.by_start.range(start..last).map(|(_, sites)| sites.iter().filter(fits).copied());
        within.map(Iterator::collect::<Vec<_>>).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Whether a site logs such accesses.
fn does(site: SiteKind, kind: AccessKind) -> bool {
    match kind {
        AccessKind::Read => matches!(site, SiteKind::Read | SiteKind::ReadWrite),
        AccessKind::Write => matches!(site, SiteKind::Write | SiteKind::ReadWrite),
        AccessKind::Atomic { .. } => site == SiteKind::Atomic,
    }
}

fn start_of(sources: &SourceMap, span: Span) -> Start {
    let position = sources.start_position(span);
    let file = sources.file(sources.visible(span).file).path.display().to_string();
    (file, position.line, position.column)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
