//! The page of a step of GitHub Actions: all counts and a table of what is said, as Markdown that GitHub renders.
//!
//! <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary>: the page of a step
//! may have 1 MiB, and one that is larger is not shown at all.
//!
//! Guarantees: no more bytes than asked for; the gravest rows come first, and those for which there is no room are counted. No
//! text of the user is markup. Deliberately absent: where the page is kept, and how much of it is taken.

use crate::diagnostic::render::said::{Said, said};
use crate::diagnostic::render::{one_line, text};
use crate::diagnostic::report::Report;

/// The most bytes that GitHub shows of a step.
pub const MOST_BYTES: usize = 1 << 20;

/// What the line takes that counts the rows that are left out.
const LAST_LINE: usize = 80;

/// A message is cut behind so many characters; GitHub's table has no room for more.
const MOST_CHARACTERS: usize = 300;

/// The page in no more than `room` bytes; nothing if not even its head fits.
pub fn page(report: &Report, room: usize) -> Option<String> {
    let counts = report.summary();
    let mut page = format!(
        "### raceproof\n\n| race-free | racy | possibly racy | unknown |\n|--:|--:|--:|--:|\n| {} | {} | {} | {} |\n\n{}\n",
        counts.race_free,
        counts.racy,
        counts.possibly_racy,
        counts.unknown,
        escaped(&text::summary(report))
    );
    if page.len() + LAST_LINE > room {
        return None;
    }
    let mut rows = said(report).map(|said| row(&said)).peekable();
    if rows.peek().is_some() {
        page.push_str("\n| | rule | place | kernel | |\n|---|---|---|---|---|\n");
    }
    let mut left_out = 0;
    for row in rows {
        if left_out == 0 && page.len() + row.len() + LAST_LINE <= room {
            page.push_str(&row);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        page.push_str(&format!("\n{left_out} more are in the log.\n"));
    }
    Some(page)
}

fn row(said: &Said<'_>) -> String {
    let message: String = said.message().chars().take(MOST_CHARACTERS).collect();
    let ellipsis = if message.len() < said.message().len() { "…" } else { "" };
    let kernel = said.kernel.as_deref().map(escaped).unwrap_or_default();
    let (severity, place, rule) = (said.severity.name(), escaped(&said.location()), said.rule);
    format!("| {severity} | {rule} | {place} | {kernel} | {}{ellipsis} |\n", escaped(&message))
}

/// `text` as text of Markdown: whatever may be markup is a reference to a character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if "&<>|`*_~[]()\\!#@$".contains(c) {
            escaped.push_str(&format!("&#{};", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("a|b\n<img>"), "a&#124;b &#60;img&#62;");
        assert_eq!(escaped("plain: 1/2, y = x + 1"), "plain: 1/2, y = x + 1");
    }

    #[test]
    fn a_page_that_does_not_fit_is_none() {
        let report = Report::default();
        let whole = page(&report, MOST_BYTES).expect("there is room");
        assert!(whole.ends_with("no kernel in 0 files\n"), "{whole}");
        assert_eq!(page(&report, whole.len() + LAST_LINE), Some(whole.clone()));
        assert_eq!(page(&report, whole.len() + LAST_LINE - 1), None);
    }
}
