//! The verdict line of a kernel and the summary line of a run.

use super::Detail;
use crate::diagnostic::render::counted;
use crate::diagnostic::render::places::listed;
use crate::diagnostic::report::{
    Assumption, AssumptionKind, Determinism, Divergence, FileReport, Instance, Keeping, KernelReport, Parse, Race, Report, Same,
    Scope, ScopeKind,
};
use crate::source::SourceMap;

/// What a verdict relies on is said in full up to this length; beyond it, how much it is.
const SHORT: usize = 80;
/// Kernels that a line names.
const MOST_NAMED: usize = 2;

/// `saxpy (a.cu:3): race-free for all geometries; uniform; deterministic; assuming …`
pub(super) fn verdict_line(kernel: &KernelReport, file: &FileReport, detail: Detail) -> String {
    let mut parts = vec![race_words(kernel, detail), divergence_words(kernel.divergence).into()];
    // Of a defect nobody expects one result; saying so again would only add to the noise.
    match &kernel.determinism {
        _ if kernel.race != Race::RaceFree || kernel.divergence == Divergence::Divergent => {}
        Determinism::Deterministic => parts.push("deterministic".into()),
        Determinism::NotShown(obstacle) => parts.push(format!("not shown deterministic ({obstacle})")),
    }
    // A proof is worth what it rests on. Of a race little is assumed: it was run. But it is one of the text that was read.
    match kernel.race {
        Race::RaceFree => parts.extend(assumption_words(&kernel.assumptions, detail)),
        Race::Racy => {
            let of_text = kernel.assumptions.iter().filter(|assumption| assumption.kind == AssumptionKind::Text);
            parts.extend(assumption_words(&of_text.cloned().collect::<Vec<_>>(), detail));
        }
        Race::PossiblyRacy | Race::Unknown => {}
    }
    parts.extend(told_with(kernel));
    if kernel.time_ms > 0 {
        parts.push(format!("{} ms", kernel.time_ms));
    }
    let path = kernel.path.as_ref().unwrap_or(&file.path);
    format!("{} ({}:{}): {}", kernel.instance(), path.display(), kernel.line, parts.join("; "))
}

/// `contract: pitch >= gridDim.x * blockDim.x (kept at line 12, open at line 40: …)`; of a kernel that races,
/// `help: race-free if gridDim.x == 1, assuming …`
pub(super) fn contract_line(kernel: &KernelReport, sources: &SourceMap, detail: Detail) -> Option<String> {
    let contract = kernel.contract.as_ref()?;
    let conditions: Vec<&str> = contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect();
    let conditions = conditions.join(" and ");
    if kernel.race != Race::RaceFree {
        let assuming = assumption_words(&contract.assumptions, detail).map(|words| format!(", {words}"));
        return Some(format!("  help: race-free if {conditions}{}", assuming.unwrap_or_default()));
    }
    let at = |keeping: Keeping| {
        let of_it = kernel.launches.iter().filter(move |launch| launch.keeping == keeping);
        let lines: Vec<String> =
            of_it.map(|launch| sources.start_position(launch.span).line.to_string()).collect();
        (!lines.is_empty()).then(|| format!("{} at the launch in line {}", keeping.name(), lines.join(", ")))
    };
    let said: Vec<String> = [Keeping::Kept, Keeping::Broken, Keeping::Open].into_iter().filter_map(at).collect();
    let said = if said.is_empty() { "no launch of it was found".to_owned() } else { said.join("; ") };
    Some(format!("  contract: {conditions} ({said})"))
}

/// Each assumption but those that the scope names already; if that is long, how many there are (JSON lists them all).
fn assumption_words(assumptions: &[Assumption], detail: Detail) -> Option<String> {
    let of_all =
        |assumptions: &[Assumption]| assumptions.iter().filter(|it| it.kind != AssumptionKind::DimensionIsOne).count();
    let of_kind = |kind| assumptions.iter().filter(move |assumption| assumption.kind == kind);
    let is_told = |assumption: &&Assumption| matches!(assumption.kind, AssumptionKind::Text | AssumptionKind::Other);
    let mut words: Vec<String> = assumptions.iter().filter(is_told).map(|assumption| assumption.text.clone()).collect();
    let wraps: Vec<&Assumption> = of_kind(AssumptionKind::NoUnsignedWrap).collect();
    match wraps.as_slice() {
        [] => {}
        [only] => words.push(only.text.clone()),
        many => words.push(format!("no unsigned wrap in {} expressions", many.len())),
    }
    if words.is_empty() {
        return None;
    }
    let (text, count) = (words.join(", "), of_all(assumptions));
    let is_short = detail == Detail::Verbose || count == 1 || text.chars().count() <= SHORT;
    Some(if is_short { format!("assuming {text}") } else { format!("under {count} assumptions (--verbose has them)") })
}

/// Where the findings of a kernel are told that are not told with it: "told with k<float> (a.cu:3)".
fn told_with(kernel: &KernelReport) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for finding in &kernel.findings {
        let Same::Told(Instance { path, kernel, line }) = &finding.same else { continue };
        let place = format!("{kernel} ({}:{line})", path.display());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    (!places.is_empty()).then(|| format!("told with {}", listed(&places, MOST_NAMED)))
}

fn race_words(kernel: &KernelReport, detail: Detail) -> String {
    match kernel.race {
        Race::RaceFree => match &kernel.scope {
            Some(scope) => format!("race-free {}", scope_words(scope, detail)),
            None => "race-free".into(),
        },
        Race::Racy => "racy".into(),
        Race::PossiblyRacy => "possibly racy".into(),
        Race::Unknown => "unknown whether it races".into(),
    }
}

fn scope_words(scope: &Scope, detail: Detail) -> String {
    let launches = match &scope.kind {
        ScopeKind::AllGeometries => "for all geometries".to_string(),
        ScopeKind::Launch => "for the launches in this file".to_string(),
        ScopeKind::Contract => "for all launches that keep its contract".to_string(),
        ScopeKind::Given => "for the given geometry".to_string(),
        ScopeKind::Other(name) => format!("for {name}"),
    };
    let fixes = fixes_in_words(&scope.fixes);
    if fixes.is_empty() {
        launches
    } else if detail == Detail::Verbose || fixes.chars().count() <= SHORT {
        format!("{launches} with {fixes}")
    } else {
        format!("{launches} with {} sizes (--verbose has them)", scope.fixes.len())
    }
}

/// What a scope fixes, the values of one size together: launches may give it several.
fn fixes_in_words(fixes: &[String]) -> String {
    let mut named: Vec<(&str, Vec<&str>)> = Vec::new();
    for fix in fixes {
        let (name, value) = fix.split_once(" = ").unwrap_or((fix, ""));
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => named.push((name, vec![value])),
        }
    }
    let words = named.iter().map(|(name, values)| match values.as_slice() {
        [""] => (*name).to_owned(),
        [first @ .., last] if !first.is_empty() => format!("{name} = {} or {last}", first.join(", ")),
        values => format!("{name} = {}", values.join(", ")),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn divergence_words(divergence: Divergence) -> &'static str {
    match divergence {
        Divergence::Uniform => "uniform",
        Divergence::Divergent => "divergent",
        Divergence::PossiblyDivergent => "possibly divergent",
        Divergence::Unknown => "unknown whether it diverges",
    }
}

/// `3 kernels in 1 file: 1 race-free, 1 racy, 1 possibly racy, 0 unknown; 1 divergent`
pub(super) fn summary_line(report: &Report) -> String {
    let counts = report.summary();
    let files = counted(counts.files, "file");
    let mut line = if counts.kernels == 0 {
        format!("no kernel in {files}")
    } else {
        format!(
            "{} in {files}: {} race-free, {} racy, {} possibly racy, {} unknown",
            counted(counts.kernels, "kernel"),
            counts.race_free,
            counts.racy,
            counts.possibly_racy,
            counts.unknown
        )
    };
    let divergence = [
        (counts.divergent, "divergent"),
        (counts.possibly_divergent, "possibly divergent"),
        (counts.divergence_unknown, "of unknown divergence"),
    ];
    let divergence: Vec<String> = divergence
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if !divergence.is_empty() {
        line = format!("{line}; {}", divergence.join(", "));
    }
    let failed = report.files.iter().filter(|file| file.parse == Parse::Failed).count();
    for (count, words) in [(failed, "not read"), (counts.unread - failed, "read only in part")] {
        if count > 0 {
            line = format!("{line}; {} {words}", counted(count, "file"));
        }
    }
    line
}
