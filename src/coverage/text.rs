//! Coverage for people: what is missed, by file and line, and how much is reached.

use super::{Coverage, Missing, Point, Seen, Total, lines};
use crate::diagnostic::vocabulary::Vocabulary;
use std::collections::BTreeMap;
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
    Ok(())
}

/// Writes how much is reached.
pub fn totals(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    let totals = &coverage.totals;
    for (name, total) in
        [("barriers", totals.barriers), ("branches", totals.branches), ("loops", totals.loops), ("lines", totals.lines)]
    {
        writeln!(out, "{name:<9}{}", share(total))?;
    }
    Ok(())
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
