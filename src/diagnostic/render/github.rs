//! Workflow commands of GitHub Actions: findings appear at their lines in a pull request.
//!
//! `::error file=a.cu,line=6,endLine=6,col=10,endColumn=14,title=data-race::data race on y: …`. A proved finding is
//! an error, a possible one a warning, what is unknown a notice. The second access and the advice are further lines
//! of the message.
//!
//! GitHub shows the first ten errors, ten warnings and ten notices of a step, and fifty annotations of a job, and says nothing of
//! the others (the page on problem matchers of <https://github.com/actions/toolkit>, under Limitations). Of each kind the gravest ten are therefore commands; all others are plain lines of the log, and the last line counts them.
//!
//! - [`summary`]: the page of the step, in Markdown.
//!
//! Guarantees: one command a line; no text of the user can end a property or start a command of its own.

pub mod summary;

use super::one_line;
use super::said::{Place, Said, said};
use crate::diagnostic::Severity;
use crate::diagnostic::report::Report;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Annotations of one kind that GitHub shows of a step.
const MOST: usize = 10;

/// Writes what `report` says.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rest = Vec::new();
    for said in said(report) {
        let count = counts.entry(command(said.severity)).or_default();
        *count += 1;
        if *count <= MOST { annotate(&said, out)? } else { rest.push(said) }
    }
    for said in &rest {
        writeln!(out, "{}", plain(said))?;
    }
    let left_out: Vec<String> = ["error", "warning", "notice"]
        .into_iter()
        .filter_map(|kind| Some((kind, counts.get(kind)?.checked_sub(MOST).filter(|&count| count > 0)?)))
        .map(|(kind, count)| super::counted(count, kind))
        .collect();
    if left_out.is_empty() {
        return Ok(());
    }
    writeln!(out, "not annotated, for GitHub shows {MOST} of each kind: {}", left_out.join(", "))
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Hint => "notice",
    }
}

fn annotate(said: &Said<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (command, title) = (command(said.severity), property(said.rule));
    writeln!(out, "::{command} {},title={title}::{}", place(said), data(&said.lines.join("\n")))
}

/// A line of the log that is no command: those begin with `::`, or have `##[` anywhere.
fn plain(said: &Said<'_>) -> String {
    let (kind, rule) = (command(said.severity), said.rule);
    let text = one_line(&format!("not annotated: {}: {kind}: {} [{rule}]", said.location(), said.message()));
    text.replace("##[", "## [")
}

/// The visible range; columns only within one line, which is all that GitHub can show.
fn place(said: &Said<'_>) -> String {
    let (path, start) = (property(&said.path()), said.start());
    let end = match said.place {
        Place::At(span) => said.file.sources.end_position(span),
        Place::Line(line) => return format!("file={path},line={line}"),
    };
    let lines = format!("file={path},line={},endLine={}", start.line, end.line);
    if start.line == end.line { format!("{lines},col={},endColumn={}", start.column, end.column) } else { lines }
}

/// `text` as the data of a command.
fn data(text: &str) -> String {
    super::printable(text).replace('%', "%25").replace('\n', "%0A")
}

/// `text` as the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_part_of_the_command() {
        assert_eq!(data("50% ::error::\nx\ry"), "50%25 ::error::%0Ax\u{FFFD}y");
        assert_eq!(property("C:\\a,b.cu"), "C%3A\\a%2Cb.cu");
    }
}
