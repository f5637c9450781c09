//! What is said of the place under the cursor: of an access its entry in the protocol, of a barrier what it stands between, of a
//! kernel all that is known of it.

use super::positions::Encoding;
use super::texts::Text;
use crate::diagnostic::render::editor::{headline, known};
use crate::diagnostic::report::FileReport;
use crate::driver::details::{Details, OfAccess, OfBarrier, OfKernel};
use crate::source::{SourceMap, Span};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// What is said of a position of a text, in Markdown.
pub(super) fn hover(
    text: &Text,
    position: Position,
    (file, details): (&FileReport, &Details),
    encoding: Encoding,
) -> Option<Hover> {
    let offset = encoding.offset(&text.text, &text.lines, position);
    let at = |sources: &SourceMap, span: Span| covers(sources, span, offset);
    let mut parts: Vec<String> = Vec::new();
    for kernel in &details.kernels {
        let accesses = kernel.accesses.iter().filter(|it| at(&details.sources, it.span));
        // What an access stands in may be one, too: the innermost is meant.
        let narrowest = accesses.clone().map(|it| it.span.end - it.span.start).min();
        let accesses = accesses.filter(|it| Some(it.span.end - it.span.start) == narrowest);
        parts.extend(accesses.map(|access| of_access(access, kernel, file)));
        let barriers = kernel.barriers.iter().filter(|it| at(&details.sources, it.span));
        parts.extend(barriers.map(|barrier| of_barrier(barrier, kernel, file)));
    }
    let name = word(&text.text, offset);
    parts.extend(file.kernels.iter().filter(|kernel| kernel.name.rsplit("::").next() == name).map(|kernel| {
        let lines: Vec<String> = known(kernel, &file.sources).iter().map(|line| format!("- {line}")).collect();
        format!("**{}**\n\n{}", kernel.instance(), lines.join("\n"))
    }));
    parts.dedup();
    let value = parts.join("\n\n---\n\n");
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    (!parts.is_empty()).then_some(Hover { contents, range: None })
}

/// Whether a place of the main file has that byte.
fn covers(sources: &SourceMap, span: Span, offset: usize) -> bool {
    let span = sources.visible(span);
    let is_main = sources.files().next().is_some_and(|(main, _)| main == span.file);
    is_main && (span.start as usize..=span.end as usize).contains(&offset)
}

/// The identifier around a byte.
fn word(text: &str, offset: usize) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..offset].rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
    let before = (before..=offset).find(|&at| text.is_char_boundary(at))?;
    let behind = text[offset..].find(|c| !is_part(c)).map_or(text.len(), |at| offset + at);
    Some(&text[before..behind]).filter(|word| !word.is_empty())
}

fn verdict(kernel: &OfKernel, file: &FileReport) -> Option<String> {
    let report = file.kernels.iter().find(|report| report.name == kernel.name)?;
    Some(format!("{}: {}", report.instance(), headline(report)))
}

fn of_access(access: &OfAccess, kernel: &OfKernel, file: &FileReport) -> String {
    let exactness = match access.reasons.as_slice() {
        [] => "exact: every thread makes this access as it stands here".to_owned(),
        reasons => format!("approximate: {}", reasons.join(", ")),
    };
    let mut lines = vec![
        format!("**{}**, barrier interval {}", access.what, access.interval),
        String::new(),
        format!("- {}", access.bytes),
    ];
    lines.extend(access.guards.iter().map(|guard| format!("- if `{guard}`")));
    lines.push(format!("- {exactness}"));
    lines.extend(verdict(kernel, file).map(|verdict| format!("- {verdict}")));
    lines.join("\n")
}

fn of_barrier(barrier: &OfBarrier, kernel: &OfKernel, file: &FileReport) -> String {
    let (before, behind) = (barrier.interval, barrier.interval + 1);
    let mut lines = vec![
        format!("**barrier** for {}, between interval {before} and interval {behind}", barrier.among),
        String::new(),
    ];
    lines.push(match (barrier.is_redundant, barrier.between.as_slice()) {
        (true, _) => "- redundant: the kernel is proved to do without it".to_owned(),
        (false, []) => "- in the text, no array is accessed on both sides of it with a write".to_owned(),
        (false, between) => format!("- it orders accesses to {}", between.join(", ")),
    });
    lines.extend(verdict(kernel, file).map(|verdict| format!("- {verdict}")));
    lines.join("\n")
}
