//! Coverage for people: what is missed, by file and line, and how much is reached.

use super::data_flow::{DataFlow, Place};
use super::{Coverage, Missing, Point, Seen, Total, lines};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::memory_model::ways::Way;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Writes what is missed, and the totals.
pub fn write(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    missed(coverage, out)?;
    totals(coverage, out)
}

/// Writes what is missed.
pub fn missed(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    let mut missed: BTreeMap<(&str, u32, u32), (&str, String)> = BTreeMap::new();
    for point in &coverage.points {
        if let Some(what) = missed_at(point) {
            missed.insert((&point.file, point.line, point.column), (&point.function, what));
        }
    }
    for ((file, line, column), (function, what)) in missed {
        writeln!(out, "{file}:{line}:{column}: {what} (in {function})")?;
    }
    for (file, ranges) in unreached(&coverage.points) {
        writeln!(out, "{file}: never executed: {ranges}")?;
    }
    if let Some(flow) = &coverage.data_flow {
        for (place, what) in missed_of(flow) {
            writeln!(out, "{}: {what} (in {})", at(place), place.function)?;
        }
        let unmade = unmade_pairs(flow);
        if unmade > 0 {
            let pairs = if unmade == 1 { "pair is" } else { "pairs are" };
            writeln!(out, "{unmade} more {pairs} missed with accesses that no thread made")?;
        }
    }
    Ok(())
}

/// Writes how much is reached.
pub fn totals(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    for (name, total) in coverage.totals.named() {
        // Names of eight letters leave room for three digits.
        let share = share(total);
        match name.len() {
            ..9 => writeln!(out, "{name:<9}{share}")?,
            _ => writeln!(out, "{name} {}", share.trim_start())?,
        }
    }
    Ok(())
}

fn at(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line, place.column)
}

/// Accesses that no thread makes.
fn unmade(flow: &DataFlow) -> BTreeSet<&Place> {
    flow.accesses.iter().filter(|access| !access.is_made()).map(|access| &access.place).collect()
}

/// How many pairs are missed because one of their two is never made.
fn unmade_pairs(flow: &DataFlow) -> usize {
    let unmade = unmade(flow);
    let is_of_unmade = |ends: [&Place; 2]| ends.iter().any(|end| unmade.contains(end));
    flow.pairs.iter().filter(|pair| pair.bytes == 0 && is_of_unmade([&pair.store, &pair.load])).count()
}

/// What is missed of accesses and of pairs both of which are made, and what was read without an order, by place.
pub(super) fn missed_of(flow: &DataFlow) -> Vec<(&Place, String)> {
    let never = |access: &str| match access {
        "read" => "is never read here",
        "write" => "is never written here",
        _ => "is never updated here",
    };
    let unmade = unmade(flow);
    let accesses = flow.accesses.iter().filter(|access| !access.is_made());
    let accesses = accesses.map(|access| (&access.place, format!("{} {}", access.place.array, never(&access.access))));
    let is_missed = |ends: [&Place; 2], bytes| bytes == 0 && !ends.iter().any(|end| unmade.contains(end));
    let pairs = flow.pairs.iter().filter(|pair| is_missed([&pair.store, &pair.load], pair.bytes)).map(|pair| {
        let who = by_whom(pair.way, Vocabulary::of(pair.language));
        (&pair.load, format!("{} is never read here as stored {who} at {}", pair.load.array, at(&pair.store)))
    });
    let unordered = flow.unordered.iter().map(|pair| {
        let (array, store) = (&pair.load.array, at(&pair.store));
        (&pair.load, format!("{array} is read here as stored at {store} with nothing that orders the two: not counted"))
    });
    let mut all: Vec<(&Place, String)> = accesses.chain(pairs).chain(unordered).collect();
    all.sort();
    all
}

/// Who stores, as seen from who reads.
fn by_whom(way: Way, spoken: &Vocabulary) -> String {
    let (thread, block) = (spoken.thread, spoken.block);
    match way {
        Way::Own => format!("by the same {thread} in the same interval"),
        Way::OwnAcrossBarrier => format!("by the same {thread} before a barrier"),
        Way::HandedOver => format!("by another {thread} of the {block}"),
        Way::BetweenBlocks => format!("by another {block}"),
        Way::BetweenLaunches => "by an earlier launch".to_owned(),
    }
}

/// `62.5 % (5 of 8)`
pub fn share(total: Total) -> String {
    match total.all {
        0 => "none".to_owned(),
        all => format!("{:5.1} % ({} of {all})", total.percent(), total.reached),
    }
}

/// What is missed at a point, in words.
pub(crate) fn missed_at(point: &Point) -> Option<String> {
    let joined = |what: &str, missed: Vec<&str>| (!missed.is_empty()).then(|| format!("{what} {}", missed.join(", ")));
    match &point.seen {
        Seen::Run { .. } => None,
        Seen::Branch { holds: 0, fails: 0, .. } => Some("branch never come to".to_owned()),
        Seen::Branch { .. } => {
            let sides = [(1, "never true"), (0, "never false")];
            joined("branch", sides.into_iter().filter(|side| point.misses(side.0)).map(|side| side.1).collect())
        }
        Seen::Loop { none: 0, one: 0, several: 0, .. } => Some("loop never come to".to_owned()),
        Seen::Loop { .. } => {
            let kinds = [(0, "never without a turn"), (1, "never of one turn"), (2, "never of several turns")];
            joined("loop", kinds.into_iter().filter(|kind| point.misses(kind.0)).map(|kind| kind.1).collect())
        }
        Seen::Barrier { whole: 0, partial: 0, arrivals: 0, .. } => Some("barrier never come to".to_owned()),
        Seen::Barrier { whole: 0, partial: 1.., missing, .. } => {
            let spoken = Vocabulary::of(point.language);
            let who = missing.as_ref().map_or_else(String::new, |missing| format!(": {}", words(missing, spoken)));
            Some(format!("barrier never reached by all {}s of a {}{who}", spoken.thread, spoken.block))
        }
        Seen::Barrier { .. } => None,
    }
}

/// Who does not come to a barrier.
fn words(missing: &Missing, spoken: &Vocabulary) -> String {
    let [wide, high] = missing.extents.map(|extent| extent.max(1));
    let place = |number: u64| {
        let (x, y, z) = (number % wide, number / wide % high, number / wide / high);
        format!("({x},{y},{z})")
    };
    let ranges = missing.threads.iter().map(|&[first, last]| match last - first {
        0 => place(first),
        _ => format!("{} to {}", place(first), place(last)),
    });
    let shown: Vec<String> = ranges.take(4).collect();
    let more = if missing.threads.len() > shown.len() { " and others" } else { "" };
    let [x, y, z] = missing.block;
    let (block, threads, launch) = (spoken.block, spoken.thread, missing.launch);
    format!("in {block} ({x},{y},{z}) of launch {launch}, {threads}s {}{more} do not come", shown.join(", "))
}

/// Lines of each file that were never executed, as ranges of those that can be.
fn unreached(points: &[Point]) -> Vec<(&str, String)> {
    let mut files: BTreeMap<&str, Vec<(u32, u64)>> = BTreeMap::new();
    for ((file, line), times) in lines(points) {
        files.entry(file).or_default().push((line, times));
    }
    let ranges = |lines: &[(u32, u64)]| {
        let parts = lines.chunk_by(|one, other| (one.1 == 0) == (other.1 == 0)).filter(|part| part[0].1 == 0);
        let text = |part: &[(u32, u64)]| match (part[0].0, part[part.len() - 1].0) {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first} to {last}"),
        };
        parts.map(text).collect::<Vec<_>>().join(", ")
    };
    let found = files.into_iter().map(|(file, lines)| (file, ranges(&lines)));
    found.filter(|(_, ranges)| !ranges.is_empty()).collect()
}
