//! How many findings of which rule each file has: a table that is read before one looks at any of them.

use crate::diagnostic::RuleId;
use crate::diagnostic::render::{counted, printable};
use crate::diagnostic::report::{FileReport, Report};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Files that are listed; those with most findings come first.
const MOST_FILES: usize = 30;

/// Findings of one file, or of all, by rule.
type Counts = BTreeMap<RuleId, usize>;

/// How many files have findings.
pub(super) fn files(report: &Report) -> usize {
    report.files.iter().filter(|file| rules(file).next().is_some()).count()
}

/// `  3  a.cu: data-race 2, barrier-divergence 1`, a line for each file, and one for all.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<(String, Counts)> = report
        .files
        .iter()
        .map(|file| (file.path.display().to_string(), counts(rules(file))))
        .filter(|(_, counts)| !counts.is_empty())
        .collect();
    rows.sort_by_key(|(_, counts)| Reverse(total(counts)));
    let all = counts(report.files.iter().flat_map(rules));
    let width = total(&all).to_string().len();
    for (path, counts) in rows.iter().take(MOST_FILES) {
        writeln!(out, "{:>width$}  {}: {}", total(counts), printable(path), words(counts))?;
    }
    if rows.len() > MOST_FILES {
        let rest = rows[MOST_FILES..].iter().map(|(_, counts)| total(counts)).sum::<usize>();
        writeln!(out, "{rest:>width$}  in {} more", counted(rows.len() - MOST_FILES, "file"))?;
    }
    let of_all = if all.is_empty() { "no finding".to_owned() } else { words(&all) };
    writeln!(out, "{:>width$}  in all: {of_all}", total(&all))
}

/// The rule of each finding.
fn rules(file: &FileReport) -> impl Iterator<Item = RuleId> {
    let of_file = file.diagnostics.iter().filter(|it| it.is_finding()).map(|it| it.rule);
    of_file.chain(file.kernels.iter().flat_map(|kernel| kernel.told()).map(|finding| finding.rule))
}

fn counts(rules: impl Iterator<Item = RuleId>) -> Counts {
    let mut counts = Counts::new();
    rules.for_each(|rule| *counts.entry(rule).or_default() += 1);
    counts
}

fn total(counts: &Counts) -> usize {
    counts.values().sum()
}

fn words(counts: &Counts) -> String {
    let mut rules: Vec<(&RuleId, &usize)> = counts.iter().collect();
    rules.sort_by_key(|(_, count)| Reverse(**count));
    rules.iter().map(|(rule, count)| format!("{} {count}", rule.name())).collect::<Vec<_>>().join(", ")
}
