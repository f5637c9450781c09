//! A witness as a small table: one row for each of the two threads.

use crate::diagnostic::render::places::launch;
use crate::diagnostic::report::{Finding, PlaceAccess, WitnessReport, WitnessThread};
use crate::diagnostic::vocabulary::{Vocabulary, triple};

/// More columns than this do not fit beside each other; JSON has them all.
const MAX_LOCALS: usize = 6;

/// The table with a line above it that says where the two threads meet and under which launch.
pub(super) fn table(finding: &Finding, witness: &WitnessReport, words: &Vocabulary) -> String {
    let mut lines = vec![headline(finding, witness, words)];
    lines.extend(aligned(&rows(finding, witness, words)));
    lines.join("\n")
}

/// `witness: y[1] (byte 4), with n = 2, blockDim = (64,1,1), gridDim = (1,1,1)`
fn headline(finding: &Finding, witness: &WitnessReport, words: &Vocabulary) -> String {
    let mut place = witness.element.clone().or_else(|| finding.array.clone()).unwrap_or_default();
    if let Some(offset) = witness.byte_offset {
        // Within an element says less than within the array.
        let element = place.rsplit_once(" (byte ").map_or(place.as_str(), |(element, _)| element);
        place = format!("{element} (byte {offset}), ").trim_start().to_string();
    } else if !place.is_empty() {
        place.push_str(", ");
    }
    format!("witness: {place}{}", launch(witness, words))
}

fn rows(finding: &Finding, witness: &WitnessReport, words: &Vocabulary) -> Vec<Vec<String>> {
    let names = local_names(&witness.threads);
    let shown = &names[..names.len().min(MAX_LOCALS)];
    let mut header = vec![String::new(), words.block.to_string(), words.thread.to_string()];
    header.extend(shown.iter().map(ToString::to_string));
    let mut rows = vec![header];
    let accesses = [Some(finding.primary.access), finding.secondary.map(|place| place.access)];
    let mut threads: Vec<_> = witness.threads.iter().zip(accesses).collect();
    if let [(first, _), (second, None)] = threads[..]
        && first == second
    {
        // It executes what is not for it; nobody else has a part in that.
        threads.pop();
    }
    for (thread, access) in threads {
        let mut row = vec![doing(access).to_string(), triple(thread.block), triple(thread.thread)];
        row.extend(shown.iter().map(|name| local(thread, name)));
        rows.push(row);
    }
    rows
}

fn doing(access: Option<PlaceAccess>) -> &'static str {
    match access {
        Some(PlaceAccess::Barrier) => "waits",
        Some(PlaceAccess::Claim) => "fails",
        Some(access) => access.name(),
        None => "does not come",
    }
}

/// Names that either thread has a value for, in the order of the first, then of the second.
fn local_names(threads: &[WitnessThread]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in threads.iter().flat_map(|thread| &thread.locals) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn local(thread: &WitnessThread, name: &str) -> String {
    let found = thread.locals.iter().find(|(known, _)| known == name);
    found.map_or_else(|| "-".to_string(), |(_, value)| value.to_string())
}

/// Columns padded to equal width, indented under the headline, without blanks at line ends.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
