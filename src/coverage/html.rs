//! Coverage as one page that needs no network: the source with what was reached and what was missed, and by whom.
//!
//! Each line has how often it was executed; beside it stands what is missed there, in the words of the report for people
//! ([`text`](super::text)). What is reached and what is not is told by a mark and a word, too, and not by colour alone.
//!
//! Deliberately absent: source that is not at hand, of which the points alone are listed.

use super::text::{missed_at, missed_of, share};
use super::{Coverage, lines};
use crate::diagnostic::render::xml::escaped;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The page's own style, for light and dark screens, and for paper.
pub(crate) const STYLE: &str = "
:root { color-scheme: light dark; --good: #1a7f37; --bad: #cf222e; --quiet: #656d76; --line: #d0d7de; --hit: #dafbe1; --miss: #ffebe9; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #f85149; --quiet: #8d96a0; --line: #30363d; --hit: #12261e; --miss: #25171c; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: 0 .6rem; text-align: left; vertical-align: top; }
table.totals td, table.totals th { border-top: 1px solid var(--line); padding: .2rem .6rem; }
table.source { font: 13px/1.45 ui-monospace, monospace; width: 100%; } table.source td { white-space: pre-wrap; }
td.number, td.times { color: var(--quiet); text-align: right; white-space: pre; user-select: none; }
tr.hit td.code { background: var(--hit); } tr.miss td.code { background: var(--miss); }
p.missed { color: var(--bad); margin: 0; white-space: normal; } h2 { border-bottom: 1px solid var(--line); }
";

/// Writes the page; `source` gives the text of a file of the report.
pub fn write<'s>(coverage: &Coverage, source: &dyn Fn(&str) -> Option<&'s str>, out: &mut dyn Write) -> io::Result<()> {
    let files = missed_by_line(coverage);
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(
        out,
        "<title>Coverage of kernels</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Coverage of kernels</h1>"
    )?;
    writeln!(out, "<table class=\"totals\">")?;
    for (name, total) in coverage.totals.named() {
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", share(total).trim())?;
    }
    writeln!(out, "</table>\n<nav aria-label=\"Files\"><ul>")?;
    for (number, file) in files.keys().enumerate() {
        writeln!(out, "<li><a href=\"#file{number}\">{}</a></li>", escaped(file))?;
    }
    writeln!(out, "</ul></nav>")?;
    let executed = lines(&coverage.points);
    for (number, (file, missed)) in files.iter().enumerate() {
        writeln!(out, "<h2 id=\"file{number}\">{}</h2>", escaped(file))?;
        match source(file) {
            Some(text) => {
                writeln!(out, "<table class=\"source\">")?;
                for (at, code) in (1..).zip(text.lines()) {
                    line((at, code), executed.get(&(file, at)).copied(), missed.get(&at), out)?;
                }
                writeln!(out, "</table>")?;
            }
            None => {
                writeln!(out, "<p>The source is not at hand.</p>\n<ul>")?;
                for (at, whats) in missed {
                    whats.iter().try_for_each(|what| writeln!(out, "<li>line {at}: {}</li>", escaped(what)))?;
                }
                writeln!(out, "</ul>")?;
            }
        }
    }
    writeln!(out, "</body>\n</html>")
}

/// What is missed on each line of each file that has something which counts.
fn missed_by_line(coverage: &Coverage) -> BTreeMap<&str, BTreeMap<u32, Vec<String>>> {
    let mut files: BTreeMap<&str, BTreeMap<u32, Vec<String>>> = BTreeMap::new();
    for point in &coverage.points {
        files.entry(&point.file).or_default().entry(point.line).or_default().extend(missed_at(point));
    }
    for (place, what) in coverage.data_flow.iter().flat_map(missed_of) {
        files.entry(&place.file).or_default().entry(place.line).or_default().push(what);
    }
    files
}

/// A line of source: its number, how often it was executed, and what is missed there.
fn line(
    (number, code): (u32, &str),
    times: Option<u64>,
    missed: Option<&Vec<String>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (class, mark) = match times {
        None => ("", String::new()),
        Some(0) => (" class=\"miss\"", "✗ never".to_owned()),
        Some(times) => (" class=\"hit\"", format!("✓ {times}")),
    };
    let code = escaped(&code.replace('\t', "    "));
    write!(
        out,
        "<tr{class}><td class=\"number\">{number}</td><td class=\"times\">{mark}</td><td class=\"code\">{code}"
    )?;
    for what in missed.into_iter().flatten() {
        write!(out, "<p class=\"missed\">✗ {}</p>", escaped(what))?;
    }
    writeln!(out, "</td></tr>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::{Seen, point_of_k};

    #[test]
    fn the_source_is_shown_with_what_is_missed_beside_it() {
        let point = |line, seen| point_of_k("a.cu", (line, 1), seen);
        let coverage = Coverage::of([
            point(1, Seen::Run { lines: vec![1], times: 7 }),
            point(2, Seen::Run { lines: vec![2], times: 0 }),
            point(1, Seen::Branch { holds: 0, fails: 7, diverged_warps: 0, uniform_warps: 1 }),
        ]);
        let page = |source: Option<&str>| {
            let mut text = Vec::new();
            write(&coverage, &|_| source, &mut text).expect("memory can be written");
            String::from_utf8(text).expect("UTF-8")
        };
        let shown = page(Some("if (a < b)\n\tx = 1;\n}\n"));
        for wanted in [
            "<tr class=\"hit\"><td class=\"number\">1</td><td class=\"times\">✓ 7</td><td class=\"code\">if (a &lt; b)<p class=\"missed\">✗ branch never true</p></td></tr>",
            "<tr class=\"miss\"><td class=\"number\">2</td><td class=\"times\">✗ never</td><td class=\"code\">    x = 1;</td></tr>",
            "<tr><td class=\"number\">3</td><td class=\"times\"></td><td class=\"code\">}</td></tr>",
            "<td>50.0 % (1 of 2)</td>",
        ] {
            assert!(shown.contains(wanted), "no `{wanted}`: {shown}");
        }
        assert!(page(None).contains("<li>line 1: branch never true</li>"));
    }
}
