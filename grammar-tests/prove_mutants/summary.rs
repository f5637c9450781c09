//! The result in words: counts, what is wrong, and the barriers that are redundant.

use super::campaign::{Outcome, Row, What};
use super::oracle::Shown;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One mutant.
pub(crate) fn line(row: &Row) -> String {
    let Row { place, kernel, what, outcome } = row;
    let what = match what {
        What::Unchanged => "as it is".to_owned(),
        What::Barrier => "without the barrier".to_owned(),
        What::Index(class, change) => format!("{}: {change}", class.name()),
    };
    let outcome = match outcome {
        Outcome::Found(word) => (*word).to_owned(),
        Outcome::Proved { scope, shown, remark } => format!("proved for {scope}; {}; {remark}", shown_in_words(shown)),
        Outcome::Failed(message) => message.clone(),
    };
    format!("{place}: {kernel}: {what}: {outcome}")
}

fn shown_in_words(shown: &Shown) -> String {
    match shown {
        Shown::Refutation(how) => format!("REFUTED: {how}"),
        Shown::Nothing { geometries, runs, accesses, why_fewer } => {
            let why = why_fewer.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("free in {runs} runs of {geometries} geometries, {accesses} accesses{why}")
        }
    }
}

/// All of it.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let kinds: [(&str, fn(&What) -> bool); 3] = [
        ("kernels as they are", |what| matches!(what, What::Unchanged)),
        ("barriers removed", |what| matches!(what, What::Barrier)),
        ("indices changed", |what| matches!(what, What::Index(..))),
    ];
    for (title, is_it) in kinds {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| is_it(&row.what)).collect();
        let _ = writeln!(text, "{title}: {}", of_kind.len());
        for (word, count) in counts(&of_kind) {
            let _ = writeln!(text, "  {count:5}  {word}");
        }
        for (why, count) in reasons(&of_kind) {
            let _ = writeln!(text, "         fewer geometries ({count}): {why}");
        }
        let _ = writeln!(text);
    }
    list(&mut text, "wrong", rows.iter().filter(|row| row.is_wrong()));
    let is_redundant = |row: &&Row| matches!((&row.what, &row.outcome), (What::Barrier, Outcome::Proved { .. }));
    list(&mut text, "barriers proved redundant", rows.iter().filter(is_redundant));
    let is_free = |row: &&Row| matches!((&row.what, &row.outcome), (What::Index(..), Outcome::Proved { .. }));
    list(&mut text, "proved with an index changed", rows.iter().filter(is_free));
    text
}

fn list<'r>(text: &mut String, title: &str, rows: impl Iterator<Item = &'r Row>) {
    let mut lines: Vec<String> = rows.map(line).collect();
    lines.sort();
    let _ = writeln!(text, "{title}: {}", lines.len());
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text);
}

fn counts(rows: &[&Row]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let word = match (&row.outcome, &row.what) {
            (Outcome::Found(word), _) => format!("found: {word}"),
            (Outcome::Failed(_), _) => "WRONG: raceproof fails".to_owned(),
            (Outcome::Proved { shown: Shown::Refutation(_), .. }, _) => "WRONG: proved, and refuted".to_owned(),
            (Outcome::Proved { shown: Shown::Nothing { geometries, .. }, scope, .. }, _) => {
                let enough = if *geometries >= 5 { "five geometries or more" } else { "fewer" };
                format!("proved for {scope}, derivations checked, free in {enough}")
            }
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Why fewer than five geometries could be run.
fn reasons(rows: &[&Row]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for row in rows {
        if let Outcome::Proved { shown: Shown::Nothing { why_fewer: Some(why), geometries, .. }, .. } = &row.outcome {
            let words: Vec<&str> = why.split(", ").map(|part| part.split(':').next().unwrap_or(part)).collect();
            *reasons.entry(format!("{geometries}: {}", words.join(", "))).or_default() += 1;
        }
    }
    reasons
}
