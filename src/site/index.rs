//! The table of all kernels, and what was said of files.
//!
//! Deliberately absent: sorting and filtering, which `script.js` does with the table as it stands here.

use super::{Subject, page};
use crate::diagnostic::render::editor::{contract, scope};
use crate::diagnostic::render::xml::escaped;
use crate::diagnostic::report::{Divergence, Keeping, KernelReport, Race, Report};
use std::fmt::Write;

/// The page.
pub(super) fn page_of(report: &Report, subjects: &[Subject<'_>]) -> String {
    let summary = report.summary();
    let mut body = String::from("<header><h1>raceproof</h1>\n");
    let _ = writeln!(
        body,
        "<p class=\"summary\">{} in {}: <b>{}</b> race-free, <b>{}</b> racy, <b>{}</b> possibly racy, <b>{}</b> not \
         decided; <b>{}</b> with divergent barriers, <b>{}</b> with possibly divergent ones</p></header>\n<main>",
        counted(summary.kernels, "kernel"),
        counted(summary.files, "file"),
        summary.race_free,
        summary.racy,
        summary.possibly_racy,
        summary.unknown,
        summary.divergent,
        summary.possibly_divergent,
    );
    body.push_str(FILTERS);
    body.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kernels\">\n");
    body.push_str("<table id=\"kernels\">\n<thead><tr>");
    for (name, kind) in COLUMNS {
        let _ = write!(
            body,
            "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" data-kind=\"{kind}\">{name}</button></th>"
        );
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for subject in subjects {
        row(&mut body, subject);
    }
    body.push_str("</tbody></table></div>\n");
    files(&mut body, report);
    body.push_str("</main>");
    page(("raceproof", ""), &body)
}

/// The columns, and whether they are sorted as words or as numbers.
const COLUMNS: [(&str, &str); 8] = [
    ("Kernel", "word"),
    ("Place", "word"),
    ("Races", "number"),
    ("Barriers", "number"),
    ("Scope", "word"),
    ("Contract", "word"),
    ("Open launches", "number"),
    ("Findings", "number"),
];

const FILTERS: &str = "<form id=\"filters\" role=\"search\" hidden>
<label>Filter <input type=\"search\" id=\"words\" placeholder=\"name, file, contract\" autocomplete=\"off\"></label>
<fieldset><legend>Races</legend>
<label><input type=\"checkbox\" value=\"racy\" checked> racy</label>
<label><input type=\"checkbox\" value=\"possibly-racy\" checked> possibly racy</label>
<label><input type=\"checkbox\" value=\"unknown\" checked> not decided</label>
<label><input type=\"checkbox\" value=\"race-free\" checked> race-free</label>
</fieldset>
<output id=\"count\" aria-live=\"polite\"></output>
</form>
";

fn row(body: &mut String, subject: &Subject<'_>) {
    let kernel = subject.kernel;
    let (race, rank) = race(kernel.race);
    let (barriers, barriers_rank) = divergence(kernel.divergence);
    let place = format!("{}:{}", subject.path().display(), kernel.line);
    let findings = kernel.findings.iter().filter(|finding| finding.is_told()).count();
    let _ = writeln!(
        body,
        "<tr data-race=\"{race}\"><th scope=\"row\"><a href=\"kernels/{}\">{}</a></th><td>{}</td>\
         <td data-rank=\"{rank}\"><span class=\"verdict {race}\">{}</span></td>\
         <td data-rank=\"{barriers_rank}\"><span class=\"verdict {barriers}\">{}</span></td><td>{}</td><td>{}</td>\
         <td class=\"number\" data-rank=\"{open}\">{open}</td><td class=\"number\" data-rank=\"{findings}\">{findings}</td></tr>",
        escaped(&subject.page()),
        escaped(&kernel.instance()),
        escaped(&place),
        race.replace('-', " ").replace("race free", "race-free").replace("unknown", "not decided"),
        barriers.replace('-', " ").replace("unknown", "not decided"),
        escaped(&scope(kernel)),
        escaped(&contract(kernel).join(" and ")),
        open = open_launches(kernel),
    );
}

/// The word for a verdict on races, and its place in the order: what has to be looked at comes first.
pub(super) fn race(race: Race) -> (&'static str, u8) {
    match race {
        Race::Racy => ("racy", 0),
        Race::PossiblyRacy => ("possibly-racy", 1),
        Race::Unknown => ("unknown", 2),
        Race::RaceFree => ("race-free", 3),
    }
}

/// The same for barriers.
pub(super) fn divergence(divergence: Divergence) -> (&'static str, u8) {
    match divergence {
        Divergence::Divergent => ("divergent", 0),
        Divergence::PossiblyDivergent => ("possibly-divergent", 1),
        Divergence::Unknown => ("unknown", 2),
        Divergence::Uniform => ("uniform", 3),
    }
}

fn open_launches(kernel: &KernelReport) -> usize {
    let launches = kernel.contract.iter().flat_map(|contract| &contract.launches);
    launches.filter(|launch| launch.keeping != Keeping::Kept).count()
}

/// What was said of files: what could not be read, above all.
fn files(body: &mut String, report: &Report) {
    let told: Vec<(String, &str, &str)> = report
        .files
        .iter()
        .flat_map(|file| {
            let shown = file.diagnostics.iter().filter(|diagnostic| diagnostic.hidden.is_none());
            shown.map(move |diagnostic| {
                let line = file.sources.start_position(diagnostic.primary.span).line;
                let place = format!("{}:{line}", file.path.display());
                (place, diagnostic.severity.name(), diagnostic.message.as_str())
            })
        })
        .collect();
    if told.is_empty() {
        return;
    }
    body.push_str("<h2>Files</h2>\n<ul class=\"files\">\n");
    for (place, severity, message) in told {
        let _ = writeln!(body, "<li><code>{}</code> {severity}: {}</li>", escaped(&place), escaped(message));
    }
    body.push_str("</ul>\n");
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
