//! Conflicts between blocks: the spans of each partition, sorted by address and swept.

use super::CheckError;
use super::budget::Budget;
use super::cell::access_kind;
use super::found::{Found, Observed, Witness};
use super::frame::Frame;
use super::partition::{Partition, Partitions};
use super::plan::Plan;
use super::span::Span;
use super::sweep::kind_of;
use crate::memory_model::{ByteRange, Level, conflict};
use crate::trace::format::Kind;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

/// Parts into which a partition is split that does not fit into memory.
const SPLIT: u64 = 16;

/// Sweeps all partitions of a launch.
pub(super) fn sweep_all(plan: &Plan<'_>, partitions: Partitions<'_>, budget: &Budget) -> Result<Found, CheckError> {
    let partitions = partitions.finish()?;
    partitions
        .into_par_iter()
        .filter(|partition| !partition.is_empty())
        .map(|partition| sweep(plan, partition, budget))
        .try_reduce(Found::default, Found::joined)
}

fn sweep(plan: &Plan<'_>, mut partition: Partition, budget: &Budget) -> Result<Found, CheckError> {
    let window = partition.window.clone();
    let mut limit = budget.spans();
    let mut spans: Vec<Span> = Vec::with_capacity(limit.min(partition.spans as usize + 1));
    let mut parts: Option<(Partitions<'_>, Vec<Frame>)> = None;
    partition.each(|span| {
        if let Some((parts, staged)) = &mut parts {
            return parts.put(&clipped(span, &window), staged);
        }
        spans.push(span);
        if spans.len() >= limit {
            reduce(&mut spans);
            if spans.len() > limit / 2 && window.end - window.start > 1 {
                let smaller = Partitions::over(plan, window.clone(), SPLIT, budget);
                let mut staged = Vec::new();
                spans.drain(..).for_each(|span| smaller.put(&clipped(span, &window), &mut staged));
                spans = Vec::new();
                parts = Some((smaller, staged));
            } else {
                // One place alone cannot be split; it has few spans that differ.
                limit = limit.max(2 * spans.len());
            }
        }
    })?;
    if let Some((parts, mut staged)) = parts {
        parts.unstage(&mut staged);
        return sweep_all(plan, parts, budget);
    }
    reduce(&mut spans);
    let mut found = Found::default();
    sweep_spans(&spans, plan, &window, &mut found);
    Ok(found)
}

/// The elements of a span that reach into the window.
fn clipped(span: Span, window: &Range<u64>) -> Span {
    let before = window.start.saturating_sub(span.start) / span.bytes();
    let until = window.end.saturating_sub(span.start).div_ceil(span.bytes()).min(span.count.into());
    let before = before.min(until.saturating_sub(1)) as u32;
    let thread = i64::from(span.thread) + i64::from(before) * i64::from(span.step);
    let start = span.start + u64::from(before) * span.bytes();
    Span { start, thread: thread as u32, count: (until as u32).max(before + 1) - before, ..span }
}

/// Sorts, and leaves of equal spans those of the two lowest blocks: whoever conflicts with a third conflicts
/// with one of them.
fn reduce(spans: &mut Vec<Span>) {
    let alike = |span: &Span| (span.grid, span.start, span.count, span.site, span.manner);
    spans.sort_unstable_by_key(|span| (alike(span), span.block, span.thread, span.step));
    spans.dedup();
    let mut last = None;
    let mut blocks = [0; 2];
    spans.retain(|span| {
        if last != Some(alike(span)) {
            last = Some(alike(span));
            blocks = [span.block; 2];
        }
        if blocks[0] == blocks[1] {
            blocks[1] = span.block;
        }
        blocks.contains(&span.block)
    });
}

/// Sweeps spans sorted by syncs of the grid and place.
fn sweep_spans(spans: &[Span], plan: &Plan<'_>, window: &Range<u64>, found: &mut Found) {
    let mut rest = spans;
    while !rest.is_empty() {
        let (cluster, others) = rest.split_at(cluster(rest));
        rest = others;
        if cluster.len() > 1 && is_suspect(cluster) {
            judge(cluster, plan, &plan.within(window, cluster[0].end()), found);
        }
    }
}

/// How many spans from the first on overlap each other, directly or through others.
fn cluster(sorted: &[Span]) -> usize {
    let mut end = sorted[0].end();
    let mut length = 1;
    while let Some(next) = sorted.get(length)
        && next.grid == sorted[0].grid
        && next.start < end
    {
        end = end.max(next.end());
        length += 1;
    }
    length
}

/// Whether there may be a conflict: two blocks, one of them writing, not all the same atomic.
fn is_suspect(cluster: &[Span]) -> bool {
    let first = cluster[0];
    let writes = cluster.iter().any(|span| kind_of(span.manner) != Kind::Read);
    let same_block = cluster.iter().all(|span| span.block == first.block);
    let same_atomic = kind_of(first.manner) >= Kind::AtomicDevice
        && cluster
            .iter()
            .all(|span| span.manner == first.manner && (span.start - first.start).is_multiple_of(first.bytes()));
    writes && !same_block && !same_atomic
}

/// Accesses that are alike wherever they are: site, bytes and kind, and for atomics where their elements begin.
type Class = (u32, u32, u64);

fn class(span: &Span) -> Class {
    let phase = if kind_of(span.manner) >= Kind::AtomicBlock { span.start % span.bytes() } else { 0 };
    (span.site, span.manner, phase)
}

/// The spans that touch a place, by class; positions in the cluster, by block.
#[derive(Default)]
struct Active {
    numbers: FxHashMap<Class, usize>,
    classes: Vec<BTreeSet<(u64, usize)>>,
    ends: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl Active {
    fn enter(&mut self, span: &Span, at: usize) {
        let count = self.numbers.len();
        let number = *self.numbers.entry(class(span)).or_insert(count);
        if number == self.classes.len() {
            self.classes.push(BTreeSet::new());
        }
        self.classes[number].insert((span.block, at));
        self.ends.push(Reverse((span.end(), number, at)));
    }

    fn leave_before(&mut self, place: u64, cluster: &[Span]) {
        while let Some(&Reverse((end, number, at))) = self.ends.peek()
            && end <= place
        {
            self.ends.pop();
            self.classes[number].remove(&(cluster[at].block, at));
        }
    }
}

/// Judges each stretch of a cluster that the same spans touch.
fn judge(cluster: &[Span], plan: &Plan<'_>, window: &Range<u64>, found: &mut Found) {
    let mut bounds: Vec<u64> = cluster.iter().flat_map(|span| [span.start, span.end()]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut active = Active::default();
    let mut next = 0;
    for stretch in bounds.windows(2) {
        active.leave_before(stretch[0], cluster);
        while next < cluster.len() && cluster[next].start <= stretch[0] {
            active.enter(&cluster[next], next);
            next += 1;
        }
        let (start, end) = (stretch[0].max(window.start), stretch[1].min(window.end));
        if start < end {
            judge_stretch(&active, cluster, start, end - start, plan, found);
        }
    }
}

fn judge_stretch(active: &Active, cluster: &[Span], place: u64, bytes: u64, plan: &Plan<'_>, found: &mut Found) {
    let present: Vec<&BTreeSet<(u64, usize)>> = active.classes.iter().filter(|class| !class.is_empty()).collect();
    if present.len() == 1 && present[0].len() == 1 {
        return;
    }
    let mut counted: Vec<[u32; 2]> = Vec::new();
    for (at, one) in present.iter().enumerate() {
        for other in &present[at..] {
            let Some(witness) = witness(one, other, cluster, place, plan) else { continue };
            let mut sites = witness.accesses.map(|access| access.site);
            sites.sort_unstable();
            if counted.contains(&sites) {
                found.add_witness(Level::Grid, witness);
            } else {
                counted.push(sites);
                found.add(Level::Grid, bytes, witness);
            }
        }
    }
}

/// The first conflict of two classes at a place.
fn witness(
    one: &BTreeSet<(u64, usize)>,
    other: &BTreeSet<(u64, usize)>,
    cluster: &[Span],
    place: u64,
    plan: &Plan<'_>,
) -> Option<Witness> {
    let (&(low, first), &(high, second)) = (one.first()?, other.last()?);
    let side = |at: usize| {
        let span = &cluster[at];
        let range = ByteRange { start: span.element(place).0.into(), bytes: span.bytes() as u32 };
        (access_kind(kind_of(span.manner)), range)
    };
    let is_one_block = low == high && one.last()?.0 == low && other.first()?.0 == low;
    if is_one_block || !conflict(side(first), side(second), Level::Grid) {
        return None;
    }
    let watched = plan.watched_at(place);
    let observed = |set| lowest_two(set, cluster, place, plan);
    let (ones, others) = (observed(one), observed(other));
    let pairs = ones.iter().flat_map(|one| others.iter().map(move |other| [*one.min(other), *one.max(other)]));
    let accesses = pairs.filter(|[one, other]| one.block != other.block).min()?;
    Some(Witness { launch: plan.id, allocation: watched.allocation, byte: watched.offset(place), accesses })
}

/// The lowest threads of the two lowest blocks.
fn lowest_two(set: &BTreeSet<(u64, usize)>, cluster: &[Span], place: u64, plan: &Plan<'_>) -> Vec<Observed> {
    let mut lowest: Vec<Observed> = Vec::new();
    for &(block, at) in set {
        let span = &cluster[at];
        let (start, thread) = span.element(place);
        let offset = plan.watched_at(place).offset(start);
        let (kind, bytes) = (kind_of(span.manner), span.bytes() as u32);
        let seen = Observed { block, thread, site: span.site, kind, offset, bytes };
        let known = lowest.len();
        match lowest.last_mut() {
            Some(last) if last.block == block => *last = (*last).min(seen),
            _ if known == 2 => break,
            _ => lowest.push(seen),
        }
    }
    lowest
}
