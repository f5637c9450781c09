//! The page of a kernel: verdict and what it relies on, findings, launches, source.
//!
//! Deliberately absent: words of its own for findings; they are those that editors show.

use super::index::{divergence, race};
use super::{Subject, launches, page, source};
use crate::diagnostic::render::editor::{Remark, known, remarks_of};
use crate::diagnostic::render::xml::escaped;
use crate::diagnostic::{RuleId, UNKNOWN};
use crate::driver;
use crate::source::{SourceMap, Span};
use std::fmt::Write;

/// The page; `around` are the kernels before and behind it.
pub(super) fn page_of(subject: &Subject<'_>, around: (Option<&Subject<'_>>, Option<&Subject<'_>>)) -> String {
    let Subject { file, kernel, .. } = subject;
    let name = kernel.instance();
    let place = format!("{}:{}", subject.path().display(), kernel.line);
    let mut body = format!(
        "<header><nav aria-label=\"Pages\"><a href=\"../index.html\">All kernels</a>{}</nav>\n",
        neighbours(around)
    );
    let (race, divergence) = (race(kernel.race).0, divergence(kernel.divergence).0);
    let _ = writeln!(
        body,
        "<h1><code>{}</code></h1>\n<p class=\"place\">{}</p>\n<p><span class=\"verdict {race}\">{}</span> \
         <span class=\"verdict {divergence}\">{}</span></p></header>\n<main>\n<section aria-labelledby=\"known\">\
         <h2 id=\"known\">Verdict</h2>\n<ul>",
        escaped(&name),
        escaped(&place),
        spelt(race),
        spelt(divergence),
    );
    for line in known(kernel, &file.sources) {
        let _ = writeln!(body, "<li>{}</li>", escaped(&line));
    }
    body.push_str("</ul></section>\n");
    let remarks = remarks_of(file, kernel);
    if !remarks.is_empty() {
        body.push_str("<section aria-labelledby=\"findings\"><h2 id=\"findings\">Findings</h2>\n");
        for remark in &remarks {
            finding(&mut body, remark, &file.sources);
        }
        body.push_str("</section>\n");
    }
    source::section(&mut body, subject, &remarks);
    launches::section(&mut body, subject);
    rules(&mut body, &remarks);
    body.push_str("</main>");
    page((&format!("{name} – raceproof"), "../"), &body)
}

fn spelt(verdict: &str) -> String {
    match verdict {
        "unknown" => "not decided".to_owned(),
        "race-free" => verdict.to_owned(),
        other => other.replace('-', " "),
    }
}

fn neighbours((before, behind): (Option<&Subject<'_>>, Option<&Subject<'_>>)) -> String {
    let link = |subject: Option<&Subject<'_>>, relation: &str, word: &str| {
        subject.map_or_else(String::new, |subject| {
            let (page, name) = (escaped(&subject.page()), escaped(&subject.kernel.instance()));
            format!(" <a rel=\"{relation}\" href=\"{page}\" title=\"{name}\">{word}</a>")
        })
    };
    link(before, "prev", "Previous") + &link(behind, "next", "Next")
}

fn finding(body: &mut String, remark: &Remark, sources: &SourceMap) {
    let rule = remark.rule.map_or(UNKNOWN, RuleId::name);
    let mut lines = remark.message.lines();
    let _ = writeln!(
        body,
        "<article class=\"finding {severity}\"><h3>{severity}: {}</h3>\n<p class=\"rule\"><a href=\"#rule-{rule}\">{rule}</a>",
        escaped(lines.next().unwrap_or_default()),
        severity = remark.severity.name(),
    );
    if let Some(span) = remark.span {
        let _ = write!(body, " at {}", place(sources, span));
    }
    body.push_str("</p>\n");
    for line in lines {
        let _ = writeln!(body, "<p>{}</p>", escaped(line));
    }
    if !remark.related.is_empty() {
        body.push_str("<ul>\n");
        for (span, what) in &remark.related {
            let _ = writeln!(body, "<li>{}: {}</li>", place(sources, *span), escaped(what));
        }
        body.push_str("</ul>\n");
    }
    if let Some(table) = &remark.witness {
        let _ = writeln!(body, "<pre class=\"witness\">{}</pre>", escaped(table));
    }
    if let Some(fix) = &remark.fix {
        let _ = writeln!(body, "<p class=\"fix\">Proved to end it: {}</p>", escaped(&fix.message));
    }
    body.push_str("</article>\n");
}

/// A place as a link to its line on the page.
pub(super) fn place(sources: &SourceMap, span: Span) -> String {
    let visible = sources.visible(span);
    let line = sources.start_position(visible).line;
    let name = sources.file(visible.file).path.display().to_string();
    format!("<a href=\"#{}\">{}:{line}</a>", anchor(sources, visible), escaped(&name))
}

/// The name of the line of a place on the page.
pub(super) fn anchor(sources: &SourceMap, visible: Span) -> String {
    let number = sources.files().position(|(file, _)| file == visible.file).unwrap_or(0);
    format!("f{number}l{}", sources.start_position(visible).line)
}

/// What the rules of the page's findings mean.
fn rules(body: &mut String, remarks: &[Remark]) {
    let mut rules: Vec<Option<RuleId>> = remarks.iter().map(|remark| remark.rule).collect();
    if rules.is_empty() {
        return;
    }
    // What is unknown comes last.
    rules.sort_by_key(|rule| (rule.is_none(), *rule));
    rules.dedup();
    body.push_str("<section aria-labelledby=\"rules\"><h2 id=\"rules\">Rules</h2>\n");
    for rule in rules {
        let name = rule.map_or(UNKNOWN, RuleId::name);
        let _ = writeln!(
            body,
            "<details id=\"rule-{name}\"><summary>{name}</summary><pre class=\"page\">{}</pre></details>",
            escaped(driver::page_of(rule).trim())
        );
    }
    body.push_str("</section>\n");
}
