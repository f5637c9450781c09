//! A campaign as one page that needs no network: the source, and at each line the mutants of it, those that no test tells apart
//! open to see. What became of a mutant is told by a word, and not by colour alone.
//!
//! Deliberately absent: source that is not at hand, of which the mutants alone are listed.

use super::text::score;
use super::{Campaign, Mutant, Status};
use crate::diagnostic::render::xml::escaped;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The page's own style, for light and dark screens, and for paper.
const STYLE: &str = "
:root { color-scheme: light dark; --good: #1a7f37; --bad: #cf222e; --quiet: #656d76; --line: #d0d7de; --miss: #ffebe9; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #f85149; --quiet: #8d96a0; --line: #30363d; --miss: #25171c; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: 0 .6rem; text-align: left; vertical-align: top; }
table.totals td, table.totals th { border-top: 1px solid var(--line); padding: .2rem .6rem; }
table.source { font: 13px/1.45 ui-monospace, monospace; width: 100%; } table.source td { white-space: pre-wrap; }
td.number { color: var(--quiet); text-align: right; white-space: pre; user-select: none; }
tr.miss td.code { background: var(--miss); } h2 { border-bottom: 1px solid var(--line); }
details { font: 13px/1.45 system-ui, sans-serif; color: var(--quiet); white-space: normal; }
details pre { font: 12px/1.4 ui-monospace, monospace; margin: .3rem 0 .6rem 1rem; white-space: pre-wrap; }
.missed { color: var(--bad); } .detected { color: var(--good); }
";

/// Writes the page; `source` gives the text of a file of the program.
pub fn write<'s>(campaign: &Campaign, source: &dyn Fn(&str) -> Option<&'s str>, out: &mut dyn Write) -> io::Result<()> {
    let mut files: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
    for mutant in &campaign.mutants {
        files.entry(&mutant.file).or_default().push(mutant);
    }
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>Mutants</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Mutants</h1>")?;
    writeln!(out, "<p>{}</p>\n<table class=\"totals\">", escaped(&score(campaign)))?;
    for status in Status::ALL {
        let count = campaign.with(status).count();
        if count > 0 {
            writeln!(out, "<tr><th scope=\"row\">{}</th><td>{count}</td></tr>", status.name())?;
        }
    }
    writeln!(out, "</table>\n<nav aria-label=\"Files\"><ul>")?;
    for (number, file) in files.keys().enumerate() {
        writeln!(out, "<li><a href=\"#file{number}\">{}</a></li>", escaped(file))?;
    }
    writeln!(out, "</ul></nav>")?;
    for (number, (file, mutants)) in files.iter().enumerate() {
        writeln!(out, "<h2 id=\"file{number}\">{}</h2>", escaped(file))?;
        writeln!(out, "<table class=\"source\">")?;
        match source(file) {
            Some(text) => {
                for (at, code) in (1..).zip(text.lines()) {
                    let here: Vec<&&Mutant> = mutants.iter().filter(|mutant| mutant.start.line == at).collect();
                    line((at, code), &here, out)?;
                }
            }
            None => {
                let listed: Vec<&&Mutant> = mutants.iter().collect();
                line((0, ""), &listed, out)?;
            }
        }
        writeln!(out, "</table>")?;
    }
    writeln!(out, "</body>\n</html>")
}

fn line((at, code): (u32, &str), mutants: &[&&Mutant], out: &mut dyn Write) -> io::Result<()> {
    let missed = mutants.iter().filter(|mutant| mutant.status.is_missed()).count();
    let class = if missed > 0 { " class=\"miss\"" } else { "" };
    write!(out, "<tr{class}><td class=\"number\">{at}</td><td class=\"code\">{}", escaped(code))?;
    for mutant in mutants {
        let (open, class) = match mutant.status {
            status if status.is_missed() => (" open", "missed"),
            status if status.is_detected() => ("", "detected"),
            _ => ("", "apart"),
        };
        let reason = mutant.reason.as_ref().map_or_else(String::new, |reason| format!(": {}", escaped(reason)));
        let (status, operator) = (mutant.status.name(), mutant.operator.name());
        let change = escaped(&mutant.change());
        write!(
            out,
            "<details{open}><summary><span class=\"{class}\">{status}</span>{reason} – {operator}: {change}</summary>"
        )?;
        write!(out, "<pre>{}</pre></details>", escaped(&mutant.diff))?;
    }
    writeln!(out, "</td></tr>")
}
