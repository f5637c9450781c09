//! Conflicts as findings with places in the source.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess, Telling, WitnessReport, WitnessThread};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::memory_model;
use crate::source::discover::language_of;
use crate::source::{FileId, Language, SourceMap, Span};
use crate::trace::check::{Conflict, Observed, Outcome};
use crate::trace::format::{Kind, Launch, Log, Site, Space};
use std::collections::HashMap;
use std::path::Path;

/// Conflicts with the files that they point into.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The files, as they are now.
    pub sources: SourceMap,
    /// One for each conflict, in the same order.
    pub findings: Vec<Located>,
}

/// A finding, and whether its places are in [`Findings::sources`].
#[derive(Clone, Debug)]
pub struct Located {
    /// The finding. Without sources its spans are empty.
    pub finding: Finding,
    /// Whether both files could be read and have these places.
    pub has_source: bool,
    /// The sites of the two threads, as far as the table has them.
    pub sites: [Option<Site>; 2],
    /// The kernel that was launched.
    pub kernel: String,
    /// The language of its source.
    pub language: Language,
}

/// Makes findings of the conflicts of a check; reads the files that the sites name.
pub fn findings(outcome: &Outcome) -> Findings {
    let mut sources = Sources::default();
    let findings = outcome.conflicts.iter().map(|conflict| located(conflict, &outcome.log, &mut sources)).collect();
    Findings { sources: sources.map, findings }
}

/// Source files, read once.
#[derive(Default)]
struct Sources {
    map: SourceMap,
    files: HashMap<String, Option<FileId>>,
}

impl Sources {
    fn file(&mut self, path: &str) -> Option<FileId> {
        if let Some(&known) = self.files.get(path) {
            return known;
        }
        let bytes = std::fs::read(path).ok();
        let file = bytes.map(|bytes| self.map.add_file(path, String::from_utf8_lossy(&bytes).into_owned()));
        self.files.insert(path.to_owned(), file);
        file
    }

    /// The span of a site, if its file is there and has these lines.
    fn span(&mut self, site: &Site) -> Option<Span> {
        let file = self.file(&site.path)?;
        let source = self.map.file(file);
        let offset = |(line, column): (u32, u32)| {
            let start = source.lines.line_start(line)?;
            let rest = &source.text[start..];
            let rest = rest.split('\n').next().unwrap_or_default();
            let before = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            before.clone().nth((column as usize).checked_sub(1)?).map(|at| start + at)
        };
        let (start, end) = (offset(site.start)?, offset(site.end)?);
        (start <= end).then(|| Span::new(file, start, end))
    }
}

fn located(conflict: &Conflict, log: &Log, sources: &mut Sources) -> Located {
    let [first, second] = conflict.witness.accesses;
    let sites = [first, second].map(|access| log.sites.get(&access.site).cloned());
    let spans = sites.each_ref().map(|site| site.as_ref().and_then(|site| sources.span(site)));
    let launch = &log.launches[&conflict.witness.launch];
    let language = sites.iter().flatten().find_map(|site| language_of(Path::new(&site.path))).unwrap_or(Language::Cuda);
    let words = Vocabulary::of(language);
    let array = array(&sites, log, conflict);
    let place = |at: usize, access: &Observed| Place {
        span: spans[at].unwrap_or_else(|| nowhere(sources)),
        access: place_access(access.kind),
    };
    let finding = Finding {
        rule: RuleId::DataRace,
        certainty: Certainty::Proved,
        level: level(conflict.level),
        message: message(conflict, &array, words),
        array: Some(array),
        primary: place(0, &first),
        secondary: Some(place(1, &second)),
        reasons: Vec::new(),
        witness: Some(witness(conflict, launch)),
        contents: Vec::new(),
        notes: notes(conflict, log, words),
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    };
    let has_source = spans.iter().all(Option::is_some);
    Located { finding, has_source, sites, kernel: launch.kernel.clone(), language }
}

/// A span for places that are nowhere; it is never shown.
fn nowhere(sources: &Sources) -> Span {
    let file = sources.map.files().next().map(|(id, _)| id);
    let file = file.unwrap_or_else(|| SourceMap::new().add_file("", ""));
    Span::new(file, 0, 0)
}

fn array(sites: &[Option<Site>; 2], log: &Log, conflict: &Conflict) -> String {
    let written = sites.iter().flatten().map(|site| site.array.clone()).find(|array| !array.is_empty());
    let allocation = log.allocations.get(&conflict.witness.allocation);
    let told = || allocation.map(|allocation| allocation.name.clone());
    // Who reaches the memory of another block calls it by what gave the pointer.
    let declared = allocation.filter(|_| is_of_cluster(log, conflict)).map(|allocation| allocation.name.clone());
    declared.or(written).or_else(told).filter(|name| !name.is_empty()).unwrap_or_else(|| "memory".to_owned())
}

/// Whether it is in memory that only blocks of one cluster reach.
fn is_of_cluster(log: &Log, conflict: &Conflict) -> bool {
    log.allocations.get(&conflict.witness.allocation).is_some_and(|of| of.space == Space::Distributed)
}

fn level(level: memory_model::Level) -> Level {
    match level {
        memory_model::Level::Warp => Level::Warp,
        memory_model::Level::Block => Level::Block,
        memory_model::Level::Cluster | memory_model::Level::Grid => Level::Grid,
    }
}

pub(super) fn place_access(kind: Kind) -> PlaceAccess {
    match kind {
        Kind::Read => PlaceAccess::Read,
        Kind::Write => PlaceAccess::Write,
        _ => PlaceAccess::Atomic,
    }
}

fn verb(kind: Kind) -> &'static str {
    match place_access(kind) {
        PlaceAccess::Atomic if kind.only_reads() => "atomically reads",
        PlaceAccess::Read => "reads",
        PlaceAccess::Write => "writes",
        _ => "atomically updates",
    }
}

fn message(conflict: &Conflict, array: &str, words: &Vocabulary) -> String {
    let [first, second] = conflict.witness.accesses;
    let byte = conflict.witness.byte;
    let what = if verb(first.kind) == verb(second.kind) {
        let plural = match place_access(first.kind) {
            PlaceAccess::Atomic => "atomically update".to_owned(),
            _ => verb(first.kind).trim_end_matches('s').to_owned(),
        };
        format!("both {plural} byte {byte} of it")
    } else {
        format!("one {} byte {byte} of it while the other {} it", verb(first.kind), verb(second.kind))
    };
    format!("data race on {array}: of {}, {what}", words.two_threads(level(conflict.level)))
}

/// Extents, as far as three dimensions hold the linear number.
pub(super) fn coordinates(linear: u64, extents: [u32; 3]) -> [u32; 3] {
    let [x, y] = [extents[0], extents[1]].map(|extent| u64::from(extent.max(1)));
    [linear % x, linear / x % y, linear / x / y].map(|coordinate| coordinate as u32)
}

fn witness(conflict: &Conflict, launch: &Launch) -> WitnessReport {
    let thread = |access: &Observed| WitnessThread {
        block: coordinates(access.block, launch.grid),
        thread: coordinates(access.thread.into(), launch.block),
        locals: Vec::new(),
    };
    let [first, second] = &conflict.witness.accesses;
    let number = |(name, value): &(String, String)| Some((name.clone(), value.parse().ok()?));
    WitnessReport {
        block_dim: launch.block,
        grid_dim: launch.grid,
        threads: vec![thread(first), thread(second)],
        params: launch.arguments.iter().filter_map(number).collect(),
        byte_offset: Some(conflict.witness.byte.into()),
        element: None,
    }
}

fn notes(conflict: &Conflict, log: &Log, words: &Vocabulary) -> Vec<String> {
    let launch = conflict.witness.launch;
    let kernel = &log.launches[&launch].kernel;
    let bytes = super::counted(conflict.bytes, "byte", "bytes");
    let mut notes = vec![format!("seen in launch {launch} of this run, of {kernel}; at {bytes} in all launches")];
    let [first, second] = conflict.witness.accesses;
    if (first.offset, first.bytes) != (second.offset, second.bytes) {
        let range = |access: Observed| format!("{} to {}", access.offset, access.offset + u64::from(access.bytes) - 1);
        notes.push(format!("one touches bytes {}, the other bytes {}", range(first), range(second)));
    }
    let both_atomic = [first.kind, second.kind].iter().all(|&kind| place_access(kind) == PlaceAccess::Atomic);
    let level = match conflict.level {
        memory_model::Level::Grid if is_of_cluster(log, conflict) => memory_model::Level::Cluster,
        level => level,
    };
    let is_one_line = conflict.sites.map(|site| log.sites.get(&site).map(|it| (&it.path, it.start.0)));
    let is_one_line =
        conflict.sites[0] == conflict.sites[1] || is_one_line[0].is_some() && is_one_line[0] == is_one_line[1];
    notes.push(advice(level, (both_atomic, is_one_line), words));
    notes
}

fn advice(level: memory_model::Level, (both_atomic, is_one_line): (bool, bool), words: &Vocabulary) -> String {
    let Vocabulary { thread, block, barrier, .. } = words;
    if both_atomic {
        return format!(
            "atomics exempt each other only at one address, with one size and a scope that holds both {thread}s"
        );
    }
    match level {
        memory_model::Level::Grid => format!(
            "{block}s cannot wait for each other within a kernel: give each its own elements, use atomics, or split the kernel"
        ),
        memory_model::Level::Cluster => {
            format!("put cluster.sync() between the two accesses; {barrier} waits for one {block}")
        }
        _ if is_one_line => format!(
            "no barrier helps within one statement: give each {thread} its own element, let one alone execute it, or use an atomic"
        ),
        _ => format!("put {barrier} between the two accesses, or give each {thread} of the {block} its own element"),
    }
}
