//! The source of a kernel: its lines with the barrier interval that each is in, its accesses marked by what they do.
//!
//! Places elsewhere (in device functions, headers, host code) that the kernel or its findings have to do with are shown with a few
//! lines around them.
//!
//! Deliberately absent: intervals of turns of loops. A line is in the interval of the text; in a loop around a barrier the one
//! behind it is followed by the one before it.

use super::{Subject, kernel::anchor};
use crate::diagnostic::render::editor::Remark;
use crate::diagnostic::render::xml::escaped;
use crate::driver::details::{OfAccess, OfKernel};
use crate::memory_model::AccessKind;
use crate::source::{FileId, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines around a place that stands elsewhere.
const AROUND: u32 = 2;
/// Colours of intervals, which repeat.
const COLOURS: usize = 6;

/// The part of the page with the source.
pub(super) fn section(body: &mut String, subject: &Subject<'_>, remarks: &[Remark]) {
    let sources = &subject.file.sources;
    let none = OfKernel { name: String::new(), accesses: Vec::new(), barriers: Vec::new() };
    let details = subject.pictured.and_then(|pictured| pictured.details.as_ref()).unwrap_or(&none);
    let mut lines: BTreeMap<FileId, BTreeSet<u32>> = BTreeMap::new();
    let home = of_body(subject, sources);
    if let Some((file, first, last)) = home {
        lines.entry(file).or_default().extend(first..=last);
    }
    let said = remarks.iter().flat_map(|remark| remark.span.into_iter().chain(remark.related.iter().map(|it| it.0)));
    let touched = details.accesses.iter().map(|access| access.span).chain(details.barriers.iter().map(|it| it.span));
    for span in said.chain(touched) {
        let visible = sources.visible(span);
        let line = sources.start_position(visible).line;
        let known = lines.entry(visible.file).or_default();
        if !known.contains(&line) {
            known.extend(line.saturating_sub(AROUND).max(1)..=line + AROUND);
        }
    }
    if lines.is_empty() {
        return;
    }
    body.push_str("<section aria-labelledby=\"source\"><h2 id=\"source\">Source</h2>\n");
    if !details.barriers.is_empty() {
        body.push_str("<p>The number beside a line is its barrier interval: accesses in different ones are ordered by a barrier.</p>\n");
    }
    // The file of the kernel comes first.
    let first = home.map(|(file, ..)| file);
    let mut files: Vec<FileId> = lines.keys().copied().collect();
    files.sort_by_key(|file| (Some(*file) != first, *file));
    for file in files {
        let marks = Marks::of(details, remarks, sources, file);
        let intervals = home.filter(|home| home.0 == file).map(|home| intervals(details, sources, home));
        table(body, (file, &lines[&file]), sources, &marks, intervals.as_ref());
    }
    body.push_str("</section>\n");
}

/// The lines of a kernel, from the one before its name, where its template parameters or attributes stand, to the one behind its
/// last statement.
fn of_body(subject: &Subject<'_>, sources: &SourceMap) -> Option<(FileId, u32, u32)> {
    let body = sources.visible(subject.pictured?.body?);
    let last = sources.end_position(body).line + 1;
    Some((body.file, subject.kernel.line.min(last).saturating_sub(1).max(1), last))
}

/// The interval of each line of a kernel, as far as its barriers stand in its own text.
fn intervals(details: &OfKernel, sources: &SourceMap, (file, first, last): (FileId, u32, u32)) -> BTreeMap<u32, usize> {
    let mut ends: Vec<u32> = details
        .barriers
        .iter()
        .map(|barrier| sources.visible(barrier.span))
        .filter(|span| span.file == file)
        .map(|span| sources.end_position(span).line)
        .filter(|line| (first..=last).contains(line))
        .collect();
    ends.sort_unstable();
    ends.dedup();
    if ends.is_empty() {
        return BTreeMap::new();
    }
    (first..=last).map(|line| (line, 1 + ends.iter().filter(|&&end| end < line).count())).collect()
}

/// What is marked in a file: ranges of bytes with a class and what is said of them, none within the middle of another.
struct Marks(Vec<(u32, u32, &'static str, String)>);

impl Marks {
    fn of(details: &OfKernel, remarks: &[Remark], sources: &SourceMap, file: FileId) -> Marks {
        let mut found: BTreeMap<(u32, u32), (&'static str, Vec<String>)> = BTreeMap::new();
        let mut mark = |span: Span, class: &'static str, said: String| {
            let visible = sources.visible(span);
            if visible.file == file && visible.start < visible.end {
                let (known, all) = found.entry((visible.start, visible.end)).or_insert((class, Vec::new()));
                *known = graver(known, class);
                if !all.contains(&said) {
                    all.push(said);
                }
            }
        };
        for access in &details.accesses {
            mark(access.span, class(access), told(access));
        }
        for barrier in &details.barriers {
            mark(barrier.span, "barrier", format!("barrier for {}", barrier.among));
        }
        for remark in remarks {
            if let Some(span) = remark.span {
                let first = remark.message.lines().next().unwrap_or_default();
                mark(span, "found", format!("{}: {first}", remark.severity.name()));
            }
            for (span, what) in &remark.related {
                mark(*span, "found", what.clone());
            }
        }
        let marks = found.into_iter().map(|((start, end), (class, said))| (start, end, class, said.join("\n")));
        Marks(marks.collect())
    }

    /// Those that begin in a range of bytes, the widest of those at one place first.
    fn within(&self, start: u32, end: u32) -> Vec<&(u32, u32, &'static str, String)> {
        let mut within: Vec<_> = self.0.iter().filter(|mark| (start..end).contains(&mark.0)).collect();
        within.sort_by_key(|mark| (mark.0, std::cmp::Reverse(mark.1)));
        within
    }
}

fn class(access: &OfAccess) -> &'static str {
    match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic { .. } => "atomic",
    }
}

/// The class of a range that several things are said of.
fn graver(one: &'static str, other: &'static str) -> &'static str {
    let order = ["found", "write", "atomic", "read", "barrier"];
    let rank = |class: &str| order.iter().position(|it| *it == class);
    if rank(one) <= rank(other) { one } else { other }
}

fn told(access: &OfAccess) -> String {
    let guards: String = access.guards.iter().map(|guard| format!(", if {guard}")).collect();
    let reasons = if access.reasons.is_empty() {
        String::new()
    } else {
        format!(" (approximate: {})", access.reasons.join(", "))
    };
    format!("{}: {}{guards}{reasons}", access.what, access.bytes)
}

fn table(
    body: &mut String,
    (file, lines): (FileId, &BTreeSet<u32>),
    sources: &SourceMap,
    marks: &Marks,
    intervals: Option<&BTreeMap<u32, usize>>,
) {
    let about = sources.file(file);
    let name = escaped(&about.path.display().to_string());
    let _ = writeln!(
        body,
        "<h3><code>{name}</code></h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table class=\"source\"><tbody>"
    );
    let mut start = 0usize;
    let mut before: Option<u32> = None;
    for (number, text) in (1u32..).zip(about.text.split_inclusive('\n')) {
        let end = start + text.len();
        if lines.contains(&number) {
            if before.is_some_and(|before| before + 1 < number) {
                body.push_str("<tr class=\"gap\"><td colspan=\"3\">…</td></tr>\n");
            }
            before = Some(number);
            let interval = intervals.and_then(|intervals| intervals.get(&number));
            let (class, told) = match interval {
                Some(interval) => (format!("interval i{}", (interval - 1) % COLOURS + 1), interval.to_string()),
                None => ("interval".to_owned(), String::new()),
            };
            let span = Span::new(file, start, start);
            let _ = writeln!(
                body,
                "<tr id=\"{}\"><td class=\"{class}\">{told}</td><td class=\"number\">{number}</td><td class=\"code\">{}</td></tr>",
                anchor(sources, span),
                marked(text.trim_end_matches(['\n', '\r']), start as u32, marks)
            );
        }
        start = end;
    }
    body.push_str("</tbody></table></div>\n");
}

/// A line with what is marked in it. A range that goes on in the next line ends with this one.
fn marked(text: &str, start: u32, marks: &Marks) -> String {
    let end = start + text.len() as u32;
    let mut out = String::new();
    let mut at = start;
    let mut open: Vec<u32> = Vec::new();
    let slice = |from: u32, to: u32| {
        let (from, to) = ((from - start) as usize, (to - start) as usize);
        escaped(text.get(from..to).unwrap_or_default())
    };
    for (from, to, class, said) in marks.within(start, end.max(start + 1)) {
        let (from, to) = (*from, (*to).min(end));
        while let Some(&closes) = open.last().filter(|&&closes| closes <= from) {
            out.push_str(&slice(at, closes));
            out.push_str("</mark>");
            at = closes;
            open.pop();
        }
        // What would cross another range is left to that.
        let crosses = open.last().is_some_and(|&closes| closes < to);
        let is_text = text.is_char_boundary((from - start) as usize) && text.is_char_boundary((to - start) as usize);
        if crosses || !is_text {
            continue;
        }
        out.push_str(&slice(at, from));
        at = from;
        let _ = write!(out, "<mark class=\"{class}\" title=\"{}\">", escaped(said));
        open.push(to);
    }
    while let Some(closes) = open.pop() {
        out.push_str(&slice(at, closes));
        out.push_str("</mark>");
        at = closes;
    }
    out.push_str(&slice(at, end));
    out
}
