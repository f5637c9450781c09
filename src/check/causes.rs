//! Which findings of a kernel have one cause: its reader mends them together, so they are one finding, and the others
//! stand inside it.
//!
//! A finding names by keys what it may have in common with others ([`Key`]); findings with a common key are one, and so on
//! from one to the next. The head is the one that tells most: proved before possible, seen in a launch that nobody would
//! call odd, of the graver rule, then the earliest in the text.
//!
//! Guarantees: nothing is dropped; a proved finding never stands inside a possible one, nor a divergence inside a race.
//! Deliberately absent: other kernels (`driver/repeats.rs`), and equal places (`places.rs`), which were one finding before.

use super::Context;
use crate::calculus::{ExprId, SyncScope};
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess};
use crate::source::{FileId, SourceMap, Span};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A finding with what its maker knows of its cause.
pub(super) struct Found {
    pub(super) finding: Finding,
    pub(super) kind: Kind,
    /// Whether its witness is a launch that nobody may have meant.
    pub(super) is_odd: bool,
    /// Of a sync: the condition that threads disagree about.
    pub(super) under: Option<ExprId>,
    /// What is to be done about it alone, such as a fence that is missing: only equal ones are one with it.
    pub(super) remedy: Option<String>,
}

/// Findings of two kinds are never one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Race,
    Divergence,
    Agreement,
    Claim,
}

impl Found {
    pub(super) fn new(kind: Kind, finding: Finding) -> Found {
        Found { finding, kind, is_odd: false, under: None, remedy: None }
    }
}

/// Where a statement begins.
type Line = (FileId, u32);

/// How many barriers stand before the two accesses of a pair, in the text.
type Intervals = [usize; 2];

/// What findings of one cause share.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The same two statements, between whatever threads: both halves of `x += 1`, within a block and between two.
    Statements([Line; 2]),
    /// One statement that accesses the array, with the same barriers around both accesses.
    Statement(Option<String>, Intervals, Line),
    /// One barrier would end them: the number of the gap in the text.
    Gap(Intervals, usize),
    /// The same two threads meet in the same way, each time in one statement: `x[i] = 0; y[i] = 0`.
    SameThreads(String),
    /// What was read from memory, or is not known, decides about both.
    Read(Span),
    /// It decides about them among other things, and they are of one array.
    ReadOf(Span, Option<String>),
    /// The condition that threads disagree about.
    Under(ExprId),
    /// One remedy.
    Remedy(String),
}

/// The findings of a kernel, one for each cause, proved before possible and then by place.
pub(super) fn grouped(context: &Context<'_>, found: Vec<Found>) -> Vec<Finding> {
    let barriers = barriers(context);
    let mut groups = Groups::new(found.len());
    for (number, item) in found.iter().enumerate() {
        for key in keys(context.sources, &barriers, item) {
            groups.join(number, (item.kind, key));
        }
    }
    join_gaps(context.sources, &barriers, &found, &mut groups);
    let mut causes: FxHashMap<usize, Vec<Found>> = FxHashMap::default();
    for (number, item) in found.into_iter().enumerate() {
        causes.entry(groups.root(number)).or_default().push(item);
    }
    let mut heads: Vec<Finding> = causes.into_values().map(|members| head(context.sources, members)).collect();
    heads.sort_by_key(|finding| order(context.sources, finding));
    heads
}

/// The one that speaks for all, with the others in it.
fn head(sources: &SourceMap, mut members: Vec<Found>) -> Finding {
    members.sort_by_key(|item| {
        let Finding { certainty, rule, level, witness, .. } = &item.finding;
        let is_possible = *certainty == Certainty::Possible;
        // The narrower the two threads stand, the easier it is to see; and a witness shows more than none.
        (is_possible, item.is_odd, witness.is_none(), *rule, place_order(sources, item.finding.primary), *level)
    });
    let mut members = members.into_iter().map(|item| item.finding);
    let mut head = members.next().expect("a cause has a finding");
    head.related = members.collect();
    head.related.sort_by_key(|finding| order(sources, finding));
    head
}

/// In which order findings are told.
fn order(sources: &SourceMap, finding: &Finding) -> impl Ord + use<> {
    let second = finding.secondary.map(|place| place_order(sources, place));
    let is_possible = finding.certainty == Certainty::Possible;
    (is_possible, place_order(sources, finding.primary), second, finding.rule, finding.level)
}

fn place_order(sources: &SourceMap, place: Place) -> (FileId, u32, u32) {
    let visible = sources.visible(place.span);
    (visible.file, visible.start, visible.end)
}

/// Sets of numbers that grow together.
struct Groups {
    parents: Vec<usize>,
    first: FxHashMap<(Kind, Key), usize>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups { parents: (0..count).collect(), first: FxHashMap::default() }
    }

    /// Joins a number with the first that had the key.
    fn join(&mut self, number: usize, key: (Kind, Key)) {
        let first = *self.first.entry(key).or_insert(number);
        let (one, other) = (self.root(first), self.root(number));
        // The smaller one stays, so that the sets do not depend on the order of keys.
        self.parents[one.max(other)] = one.min(other);
    }

    fn root(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }
}

fn keys(sources: &SourceMap, barriers: &[Line], item: &Found) -> Vec<Key> {
    let finding = &item.finding;
    if let Some(remedy) = &item.remedy {
        return vec![Key::Remedy(remedy.clone())];
    }
    let lines = lines(sources, finding);
    let mut keys = vec![Key::Statements(lines)];
    if item.kind == Kind::Claim {
        return keys;
    }
    keys.extend(item.under.map(Key::Under));
    let array = &finding.array;
    let reasons = finding.reasons.iter().filter_map(|reason| reason.span).map(|span| sources.visible(span));
    for (number, span) in reasons.enumerate() {
        if number == 0 {
            keys.push(Key::Read(span));
        }
        keys.push(Key::ReadOf(span, array.clone()));
    }
    if item.kind == Kind::Race && finding.reasons.is_empty() {
        let intervals = if finding.level == Level::Grid { [0, 0] } else { intervals(barriers, lines) };
        keys.extend(lines.map(|line| Key::Statement(array.clone(), intervals, line)));
        keys.extend(Some(finding).filter(|_| lines[0] == lines[1]).and_then(same_threads).map(Key::SameThreads));
    }
    keys
}

/// The threads of the witness, its launch and the subscripts of the element.
fn same_threads(finding: &Finding) -> Option<String> {
    let witness = finding.witness.as_ref()?;
    let array = finding.array.as_deref().unwrap_or_default();
    let subscripts = witness.element.as_deref()?.strip_prefix(array)?;
    let threads: Vec<_> = witness.threads.iter().map(|thread| (thread.block, thread.thread)).collect();
    let launch = (witness.block_dim, witness.grid_dim, &witness.params);
    let accesses = (finding.primary.access, finding.secondary.map(|place| place.access));
    Some(format!("{:?} {subscripts} {threads:?} {launch:?} {accesses:?}", finding.rule))
}

/// The lines of the two places, in the order of the text.
fn lines(sources: &SourceMap, finding: &Finding) -> [Line; 2] {
    let line = |place: Place| (sources.visible(place.span).file, sources.start_position(place.span).line);
    let first = line(finding.primary);
    let second = finding.secondary.map_or(first, line);
    [first.min(second), first.max(second)]
}

/// Where threads of a block wait for each other, in the order of the text.
fn barriers(context: &Context<'_>) -> Vec<Line> {
    let syncs = context.protocol.syncs.iter().map(|(_, sync)| sync);
    let waits = syncs.filter(|sync| sync.scope >= SyncScope::Block && !sync.memory.orders_nothing());
    let mut lines: Vec<Line> = waits
        .map(|sync| context.span_of(sync.site))
        .map(|span| (context.sources.visible(span).file, context.sources.start_position(span).line))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn intervals(barriers: &[Line], lines: [Line; 2]) -> Intervals {
    lines.map(|line| barriers.partition_point(|barrier| *barrier < line))
}

/// Joins pairs, of whatever arrays, that one barrier between the two accesses of each would end: sorted by where they
/// end, the first pair that is left takes all that begin before its end.
fn join_gaps(sources: &SourceMap, barriers: &[Line], found: &[Found], groups: &mut Groups) {
    let mut pairs: Vec<(Intervals, [Line; 2], usize)> = Vec::new();
    for (number, item) in found.iter().enumerate() {
        let finding = &item.finding;
        let lines = lines(sources, finding);
        let is_exact = item.kind == Kind::Race && finding.reasons.is_empty() && item.remedy.is_none();
        if is_exact && finding.level < Level::Grid && lines[0] != lines[1] {
            pairs.push((intervals(barriers, lines), lines, number));
        }
    }
    pairs.sort_unstable_by_key(|&(intervals, [first, last], number)| (intervals, last, Reverse(first), number));
    let mut gap: Option<(Intervals, Line)> = None;
    let mut gaps = 0;
    for (intervals, [first, last], number) in pairs {
        if gap.is_none_or(|(known, end)| known != intervals || first >= end) {
            gap = Some((intervals, last));
            gaps += 1;
        }
        groups.join(number, (Kind::Race, Key::Gap(intervals, gaps)));
    }
}

/// Whether both places are one statement, as far as its line tells: nothing can be put between them.
pub(super) fn is_one_statement(context: &Context<'_>, places: [Place; 2]) -> bool {
    let line = |place: Place| (context.sources.visible(place.span).file, context.line(Some(place.span)));
    let [first, second] = places;
    line(first) == line(second) && first.access != PlaceAccess::Barrier
}
