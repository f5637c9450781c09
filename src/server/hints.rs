//! Notes at the ends of lines, for who wants them: which barrier interval begins, and what a kernel asks of its launches.

use super::positions::Encoding;
use super::texts::Text;
use crate::diagnostic::render::editor::contract;
use crate::diagnostic::report::FileReport;
use crate::driver::details::Details;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Position, Range};
use std::collections::BTreeSet;

/// Which notes are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Where barrier intervals begin.
    pub(super) intervals: bool,
    /// Contracts of kernels.
    pub(super) contracts: bool,
}

/// The notes of a part of a text.
pub(super) fn hints(
    text: &Text,
    part: Range,
    wanted: Wanted,
    (file, details): (&FileReport, &Details),
    encoding: Encoding,
) -> Vec<InlayHint> {
    let mut found: BTreeSet<(u32, String, &str)> = BTreeSet::new();
    if wanted.contracts {
        for kernel in file.kernels.iter().filter(|kernel| kernel.path.is_none()) {
            let conditions = contract(kernel);
            if !conditions.is_empty() {
                let note = format!("requires {}", conditions.join(" and "));
                let line = encoding.line_of_report(&text.text, &text.lines, kernel.line).end.line;
                found.insert((line, note, "the launches for which the kernel is free of races"));
            }
        }
    }
    if wanted.intervals {
        for barrier in details.kernels.iter().flat_map(|kernel| &kernel.barriers) {
            let span = details.sources.visible(barrier.span);
            if details.sources.files().next().is_some_and(|(main, _)| main == span.file) {
                let line = encoding.range(&details.sources, span).end.line;
                let note = format!("interval {}", barrier.interval + 1);
                found.insert((line, note, "accesses of two threads are not ordered within an interval"));
            }
        }
    }
    let is_within = |line: &u32| (part.start.line..=part.end.line).contains(line);
    let hint = |(line, note, why): (u32, String, &str)| InlayHint {
        position: end_of(text, line, encoding),
        label: InlayHintLabel::String(note),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(why.to_owned())),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    found.into_iter().filter(|(line, ..)| is_within(line)).map(hint).collect()
}

fn end_of(text: &Text, line: u32, encoding: Encoding) -> Position {
    let line = text.lines.within(&text.text, line as usize);
    encoding.position(&text.text, &text.lines, line.end)
}
