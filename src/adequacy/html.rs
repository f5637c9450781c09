//! The report as one page that needs no network: the figures, then what is missed, with what would do.

use super::text::{reached, summary};
use super::{Adequacy, Fault};
use crate::coverage::html::STYLE;
use crate::diagnostic::render::xml::escaped;
use std::io::{self, Write};

/// Writes the page.
pub fn write(adequacy: &Adequacy, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>How good the tests are</title>\n<style>{STYLE}</style>\n</head>\n<body>")?;
    writeln!(out, "<h1>How good the tests are</h1>\n<table class=\"totals\">")?;
    for (name, value) in summary(adequacy) {
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escaped(value.trim()))?;
    }
    writeln!(out, "</table>")?;
    gaps(adequacy, out)?;
    faults(&adequacy.faults, out)?;
    schedules(adequacy, out)?;
    for remark in &adequacy.remarks {
        writeln!(out, "<p>{}</p>", escaped(remark))?;
    }
    writeln!(out, "</body>\n</html>")
}

fn gaps(adequacy: &Adequacy, out: &mut dyn Write) -> io::Result<()> {
    if adequacy.gaps.is_empty() && adequacy.unlaunched.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>What no test reaches</h2>\n<table class=\"totals\">")?;
    writeln!(
        out,
        "<tr><th scope=\"col\">place</th><th scope=\"col\">missed</th><th scope=\"col\">launches that do</th></tr>"
    )?;
    for gap in &adequacy.gaps {
        let launches: Vec<String> = gap
            .reached_by
            .iter()
            .map(|added| {
                let words = format!("{} by launch {} of {}: {}", reached(gap), added.launch, added.file, added.words);
                escaped(&words)
            })
            .collect();
        let launches = if launches.is_empty() { "none was found".to_owned() } else { launches.join("<br>") };
        let place = format!("{}:{}:{}", gap.file, gap.line, gap.column);
        writeln!(
            out,
            "<tr><td>{}</td><td>{} (in {})</td><td>{launches}</td></tr>",
            escaped(&place),
            escaped(&gap.what),
            escaped(&gap.function)
        )?;
    }
    for silent in &adequacy.unlaunched {
        let file = silent.file.as_deref().unwrap_or("none was found");
        writeln!(
            out,
            "<tr><td>{}</td><td>no test launches it</td><td>{}</td></tr>",
            escaped(&silent.kernel),
            escaped(file)
        )?;
    }
    writeln!(out, "</table>")
}

fn faults(faults: &[Fault], out: &mut dyn Write) -> io::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Faults that no test tells apart</h2>\n<table class=\"totals\">")?;
    writeln!(
        out,
        "<tr><th scope=\"col\">place</th><th scope=\"col\">fault</th><th scope=\"col\">launches that do</th></tr>"
    )?;
    for Fault { mutant, told_apart_by } in faults {
        let launches = if told_apart_by.is_empty() { "none was found".to_owned() } else { told_apart_by.join(", ") };
        writeln!(
            out,
            "<tr><td>{}</td><td>{}: {} ({})</td><td>{}</td></tr>",
            escaped(&mutant.place()),
            mutant.operator.name(),
            escaped(&mutant.change()),
            mutant.status.name(),
            escaped(&launches)
        )?;
    }
    writeln!(out, "</table>")
}

fn schedules(adequacy: &Adequacy, out: &mut dyn Write) -> io::Result<()> {
    let findings = adequacy.schedules.iter().flat_map(|report| &report.findings);
    let mut lines = Vec::new();
    for finding in findings {
        let what = finding.differs.first().map_or("no thread can go on", String::as_str);
        lines.push(format!("<li><code>{}</code>: {}</li>", escaped(&finding.schedule), escaped(what)));
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>What depends on the schedule</h2>\n<ul>{}</ul>", lines.concat())
}
