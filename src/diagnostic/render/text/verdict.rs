//! The verdict line of a kernel and the summary line of a run.

use super::Detail;
use crate::diagnostic::render::counted;
use crate::diagnostic::render::places::listed;
use crate::diagnostic::report::{
    ASSUMING, Assumption, AssumptionKind, Conjunct, Determinism, Divergence, FileReport, Instance, Keeping,
    KernelReport, Parse, Race, Report, Same, Scope, ScopeKind,
};
use crate::diagnostic::suppression::{Hidden, HiddenCounts};
use crate::source::{SourceMap, Span};
use crate::work::Spent;

/// What a verdict relies on is said in full up to this length; beyond it, how much it is.
const SHORT: usize = 80;
/// Launches that a line names.
const MOST_LAUNCHES: usize = 8;
/// Kernels that a line names.
const MOST_NAMED: usize = 2;

/// `saxpy (a.cu:3): race-free for all geometries; uniform; deterministic; assuming …`
pub(super) fn verdict_line(kernel: &KernelReport, file: &FileReport, detail: Detail) -> String {
    let path = kernel.path.as_ref().unwrap_or(&file.path);
    format!("{} ({}:{}): {}", kernel.instance(), path.display(), kernel.line, verdict_words(kernel, detail))
}

/// `race-free for all geometries; uniform; deterministic; assuming …`
pub(super) fn verdict_words(kernel: &KernelReport, detail: Detail) -> String {
    let Relied { clause, rest } = relied(kernel, detail);
    let mut parts = vec![format!("{}{clause}", race_words(kernel)), divergence_words(kernel.divergence).into()];
    // Of a defect nobody expects one result; saying so again would only add to the noise.
    match &kernel.determinism {
        _ if kernel.race != Race::RaceFree || kernel.divergence == Divergence::Divergent => {}
        it @ Determinism::Deterministic => parts.push(it.name().into()),
        it @ Determinism::NotShown(obstacle) => parts.push(format!("{} ({obstacle})", it.name())),
    }
    parts.extend(rest);
    parts.extend(told_with(kernel));
    parts.extend(hidden_words(kernel.hidden().map(|(_, hidden)| hidden)));
    if kernel.spent != Spent::default() {
        parts.push(format!("{} ms", kernel.spent.all().time.as_millis()));
    }
    parts.join("; ")
}

/// What a verdict relies on: behind its word, and at the end of the line.
struct Relied {
    clause: String,
    rest: Option<String>,
}

/// A proof is worth what it rests on: its launches, sizes and assumptions, in full where that is short or asked for. Of a race
/// little is assumed, since it was run; but it is one of the text that was read.
fn relied(kernel: &KernelReport, detail: Detail) -> Relied {
    if kernel.race == Race::Racy {
        let is_of_text = |kind| matches!(kind, AssumptionKind::Text | AssumptionKind::External);
        let of_text = kernel.assumptions.iter().filter(|assumption| is_of_text(assumption.kind));
        return Relied { clause: String::new(), rest: assumption_words(&of_text.cloned().collect::<Vec<_>>(), detail) };
    }
    if kernel.race != Race::RaceFree {
        return Relied { clause: String::new(), rest: None };
    }
    let launches = kernel.scope.as_ref().map_or_else(String::new, |scope| format!(" {}", launch_words(scope, kernel)));
    let fixes = kernel.scope.as_ref().map_or(&[][..], |scope| scope.fixes.as_slice());
    let (sizes, rest) = (fixes_in_words(fixes), assumption_words(&kernel.assumptions, detail));
    let length = sizes.chars().count() + rest.as_ref().map_or(0, |rest| rest.chars().count());
    if detail != Detail::Verbose && length > SHORT {
        // What the scope fixes is assumed, too.
        let others = kernel.assumptions.iter().filter(|it| it.kind != AssumptionKind::DimensionIsOne).count();
        let count = counted(fixes.len() + others, "assumption");
        return Relied { clause: format!("{launches} under {count} (--verbose)"), rest: None };
    }
    let sizes = if sizes.is_empty() { sizes } else { format!(" with {sizes}") };
    Relied { clause: format!("{launches}{sizes}"), rest }
}

/// `contract: pitch >= gridDim.x * blockDim.x (kept at line 12, open at line 40: …)`; of a kernel that races,
/// `help: race-free if gridDim.x == 1, assuming …`
pub(super) fn contract_line(kernel: &KernelReport, sources: &SourceMap, detail: Detail) -> Option<String> {
    let contract = kernel.contract.as_ref()?;
    let stated = contract.stated.as_ref().map(|at| format!("stated in {at}"));
    let is_told = |conjunct: &&Conjunct| stated.is_some() || contract.to_keep().any(|kept| kept == *conjunct);
    let conditions: Vec<&str> =
        contract.conjuncts.iter().filter(is_told).map(|conjunct| conjunct.text.as_str()).collect();
    if conditions.is_empty() {
        return None;
    }
    let conditions = conditions.join(" and ");
    if kernel.race != Race::RaceFree && stated.is_none() {
        let is_short = |words: &String| detail == Detail::Verbose || words.chars().count() <= SHORT;
        let counted = || format!("under {} (--verbose)", counted(contract.assumptions.len(), "assumption"));
        let assuming = assumption_words(&contract.assumptions, detail);
        let assuming = assuming.map(|words| format!(", {}", if is_short(&words) { words } else { counted() }));
        return Some(format!("  help: race-free if {conditions}{}", assuming.unwrap_or_default()));
    }
    let at = |keeping: Keeping| {
        let of_it = contract.launches.iter().filter(move |launch| launch.keeping == keeping);
        let places: Vec<Span> = of_it.map(|launch| launch.span).collect();
        let launches = if places.len() == 1 { "launch" } else { "launches" };
        let told = || format!("{} at the {launches} in {}", keeping.name(), launches_in(&places, sources));
        (!places.is_empty()).then(told)
    };
    let said: Vec<String> = [Keeping::Kept, Keeping::Broken, Keeping::Open].into_iter().filter_map(at).collect();
    let said = if said.is_empty() { vec!["no launch of it was found".to_owned()] } else { said };
    let said: Vec<String> = stated.into_iter().chain(said).collect();
    Some(format!("  contract: {conditions} ({})", said.join("; ")))
}

/// `lines 12, 40, host.cu:7`; of many how many more there are.
fn launches_in(places: &[Span], sources: &SourceMap) -> String {
    let main = sources.files().next().map(|(main, _)| main);
    let (here, there): (Vec<Span>, Vec<Span>) =
        places.iter().partition(|span| main == Some(sources.visible(**span).file));
    let line = |span: &Span| sources.start_position(*span).line.to_string();
    let mut words: Vec<String> = here.iter().map(line).collect();
    if let Some(first) = words.first_mut() {
        first.insert_str(0, if here.len() == 1 { "line " } else { "lines " });
    }
    words.extend(
        there.iter().map(|span| format!("{}:{}", sources.file(sources.visible(*span).file).path.display(), line(span))),
    );
    let more = words.len().saturating_sub(MOST_LAUNCHES);
    words.truncate(MOST_LAUNCHES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", words.join(", "))
}

/// Each assumption but those that the scope names already; many of one kind are counted (JSON lists them all).
fn assumption_words(assumptions: &[Assumption], detail: Detail) -> Option<String> {
    let of_kind = |kind| assumptions.iter().filter(move |assumption| assumption.kind == kind);
    let is_told = |assumption: &&Assumption| {
        matches!(assumption.kind, AssumptionKind::Text | AssumptionKind::External | AssumptionKind::Other)
    };
    let mut words: Vec<String> = assumptions.iter().filter(is_told).map(|assumption| assumption.text.clone()).collect();
    let wraps: Vec<&Assumption> = of_kind(AssumptionKind::NoUnsignedWrap).collect();
    match wraps.as_slice() {
        [] => {}
        [only] => words.push(only.text.clone()),
        all if detail == Detail::Verbose => words.extend(all.iter().map(|assumption| assumption.text.clone())),
        many => words.push(format!("no unsigned wrap in {} expressions", many.len())),
    }
    (!words.is_empty()).then(|| format!("{ASSUMING} {}", words.join(", ")))
}

/// Where the findings of a kernel are told that are not told with it: "told with k<float> (a.cu:3)".
fn told_with(kernel: &KernelReport) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for finding in &kernel.findings {
        let Same::Told(Instance { path, kernel, line }) = &finding.telling.same else { continue };
        let place = format!("{kernel} ({}:{line})", path.display());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    (!places.is_empty()).then(|| format!("told with {}", listed(&places, MOST_NAMED)))
}

/// How many findings nobody wants to be told of, by who does not: "1 finding suppressed", "2 findings in the baseline".
fn hidden_words<'a>(hidden: impl Iterator<Item = &'a Hidden>) -> Vec<String> {
    let mut counts = HiddenCounts::default();
    hidden.for_each(|hidden| counts.count(hidden));
    let HiddenCounts { comments, baseline, settings } = counts;
    let all = [(comments, "suppressed"), (baseline, "in the baseline"), (settings, "left out by settings")];
    all.iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, by)| format!("{} {by}", counted(*count, "finding")))
        .collect()
}

fn race_words(kernel: &KernelReport) -> &'static str {
    match kernel.race {
        Race::RaceFree => "race-free",
        Race::Racy => "racy",
        Race::PossiblyRacy => "possibly racy",
        Race::Unknown => "unknown whether it races",
    }
}

/// `for all launches in two dimensions`, with the sizes that it fixes beside those that the kernel never reads; nothing without a
/// verdict.
pub(super) fn scope_words(kernel: &KernelReport) -> String {
    let Some(scope) = &kernel.scope else { return String::new() };
    let is_unread = |fix: &&String| {
        let says_so = |assumption: &Assumption| {
            assumption.kind == AssumptionKind::DimensionIsOne && assumption.text.starts_with(fix.as_str())
        };
        kernel.assumptions.iter().any(says_so)
    };
    let fixes: Vec<String> = scope.fixes.iter().filter(|fix| !is_unread(fix)).cloned().collect();
    let sizes = fixes_in_words(&fixes);
    let launches = launch_words(scope, kernel);
    if sizes.is_empty() { launches } else { format!("{launches} with {sizes}") }
}

fn launch_words(scope: &Scope, kernel: &KernelReport) -> String {
    match &scope.kind {
        ScopeKind::AllGeometries => "for all geometries".to_string(),
        // It is free for all that are flat, and not only for those that were found to be so.
        ScopeKind::Launch | ScopeKind::Contract if kernel.asks_for_flat_launches() => {
            format!("for all launches {}", axes_in_words(kernel))
        }
        ScopeKind::Launch => "for the launches in this file".to_string(),
        ScopeKind::Contract => "for all launches that keep its contract".to_string(),
        ScopeKind::Given => "for the given geometry".to_string(),
        ScopeKind::Other(name) => format!("for {name}"),
    }
}

/// Along which axes launches may extend of a kernel that reads nothing along the others.
fn axes_in_words(kernel: &KernelReport) -> &'static str {
    let is_flat_along = |axis| kernel.contract.as_ref().is_some_and(|contract| contract.is_flat_along(axis));
    match [1, 2].map(is_flat_along) {
        [true, true] => "in one dimension",
        [false, true] => "in two dimensions",
        [true, false] => "that are flat along y",
        [false, false] => "that keep its contract",
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
    let hidden = hidden_words(report.files.iter().flat_map(FileReport::hidden).map(|(_, hidden)| hidden));
    if !hidden.is_empty() {
        line = format!("{line}; {}", hidden.join(", "));
    }
    line
}
