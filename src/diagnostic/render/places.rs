//! What is said about the two places of a finding, alike in every format for people.

use super::{counted, one_line};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Finding, Instance, Place, PlaceAccess, Same, WitnessReport, WitnessThread};
use crate::diagnostic::vocabulary::{Vocabulary, triple};
use crate::source::{SourceMap, Span, own_header};
use std::collections::BTreeSet;

/// Lines that a sentence names; the rest is counted.
const MOST_LINES: usize = 8;
/// Kernels that a sentence names.
const MOST_NAMED: usize = 4;
/// More parameters than this are left to JSON.
const MAX_PARAMS: usize = 12;

/// What happens at the primary place: "write by thread (0,0,0) of block (0,0,0)".
pub(super) fn primary_label(finding: &Finding, words: &Vocabulary) -> String {
    if finding.rule == RuleId::RedundantBarrier {
        return format!("nothing that two {}s do is ordered only by this", words.thread);
    }
    if finding.rule == RuleId::BrokenContract && finding.primary.access == PlaceAccess::Launch {
        return "this launch does not keep it".to_owned();
    }
    let thread = finding.witness.as_ref().and_then(|witness| witness.threads.first());
    place_label(finding.primary.access, thread, Order::First, words)
}

/// What happens at a secondary place.
pub(super) fn secondary_label(finding: &Finding, place: Place, words: &Vocabulary) -> String {
    let thread = finding.witness.as_ref().and_then(|witness| witness.threads.get(1));
    place_label(place.access, thread, Order::Second, words)
}

/// Which of the two places it is.
#[derive(Clone, Copy)]
enum Order {
    First,
    Second,
}

fn place_label(access: PlaceAccess, thread: Option<&WitnessThread>, order: Order, words: &Vocabulary) -> String {
    let who = match (thread, order) {
        (Some(thread), _) => words.thread_at(thread.thread, thread.block),
        (None, Order::First) => format!("one {}", words.thread),
        (None, Order::Second) => format!("another {}", words.thread),
    };
    match access {
        PlaceAccess::Barrier => format!("{who} waits here"),
        PlaceAccess::Claim => format!("claimed of {who}"),
        PlaceAccess::Launch => "this launch fails".to_owned(),
        PlaceAccess::Kernel => "this kernel".to_owned(),
        PlaceAccess::Atomic => format!("atomic by {who}"),
        PlaceAccess::Read | PlaceAccess::Write => format!("{} by {who}", access.name()),
    }
}

/// The macro expansions behind a place, as a sentence; `None` outside macros. What an annotation expands to is no news.
pub(super) fn expansion_note(sources: &SourceMap, place: Place) -> Option<String> {
    let mut span = place.span;
    while let Some(expansion) = span.expansion.filter(|_| own_header::is_named(&sources.file(span.file).path)) {
        span = sources.expansion(expansion).call_site;
    }
    let chain: Vec<&str> = sources.expansion_chain(span).map(|expansion| expansion.name.as_str()).collect();
    if chain.is_empty() {
        return None;
    }
    let names = chain.join(", in expansion of macro ");
    Some(format!("the {} is in expansion of macro {names}{}", place.access.name(), body_place(sources, span)))
}

/// Where in a macro's definition a span lies: " (at a.cu:3:17)".
fn body_place(sources: &SourceMap, span: Span) -> String {
    let file = sources.file(span.file);
    if file.text.is_empty() {
        return String::new();
    }
    let at = file.lines.position(&file.text, span.start as usize);
    format!(" (at {}:{}:{})", file.path.display(), at.line, at.column)
}

/// What a place has to do with a finding that is only possible, by the kind of the reason.
pub(super) fn reason_label(kind: &str) -> &str {
    match kind {
        "data-dependent index" => "decides which element it is",
        "data-dependent guard" => "decides whether it happens",
        "unknown loop count" => "how often is not known",
        "unsupported call" => "what this gives is not known",
        "unpromised order" => "promises no order",
        other => other,
    }
}

/// What a finding speaks for: "and 3 more pairs of accesses to sums and last, at lines 12, 14 and 20".
pub(super) fn related_note(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> Option<String> {
    let related = &finding.related;
    if related.is_empty() {
        return None;
    }
    let is_at = |access| related.iter().all(|it| it.primary.access == access);
    let what = if is_at(PlaceAccess::Barrier) {
        "place where they wait"
    } else if is_at(PlaceAccess::Claim) {
        "claim"
    } else {
        "pair of accesses"
    };
    let mut arrays: Vec<String> = Vec::new();
    let mut lines: BTreeSet<u32> = BTreeSet::new();
    for it in related {
        arrays.extend(it.array.clone().filter(|array| !arrays.contains(array)));
        let places = [Some(it.primary), it.secondary].into_iter().flatten();
        lines.extend(places.map(|place| sources.start_position(place.span).line));
    }
    let noun = match (related.len(), what) {
        (1, _) => format!("1 more {what}"),
        (count, "pair of accesses") => format!("{count} more pairs of accesses"),
        (count, "place where they wait") => format!("{count} more places where they wait"),
        (count, _) => format!("{count} more {what}s"),
    };
    let to = if arrays.is_empty() { String::new() } else { format!(" to {}", listed(&arrays, arrays.len())) };
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let at = if lines.len() == 1 { "line" } else { "lines" };
    let widest = related.iter().map(|it| it.level).max().filter(|level| *level > finding.level);
    let who = widest.map_or_else(String::new, |level| format!(", also between {}", words.two_threads(level)));
    Some(format!("one cause with {noun}{to}, at {at} {}{who}", listed(&lines, MOST_LINES)))
}

/// In which other kernels the same is found.
pub(super) fn same_note(finding: &Finding) -> Option<String> {
    match &finding.telling.same {
        Same::Also(instances) => Some(same_in(instances)),
        Same::Nowhere | Same::Told(_) => None,
    }
}

/// "the same in a (x.cu) and b (y.cu)"
pub(in crate::diagnostic) fn same_in(instances: &[Instance]) -> String {
    let mut names: Vec<String> = Vec::new();
    for instance in instances {
        let name = format!("{} ({})", instance.kernel, instance.path.display());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    format!("the same in {}", listed(&names, MOST_NAMED))
}

/// "a", "a and b", "a, b and c", "a, b and 7 more".
pub(super) fn listed(items: &[String], most: usize) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        many if many.len() > most => format!("{} and {} more", many[..most].join(", "), many.len() - most),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What there is to say beside the message, a line each: the launch that shows it, what else it speaks for, what can be done.
pub(super) fn details(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(finding.witness.as_ref().map(|witness| format!("with {}", launch(witness, words))));
    lines.extend(launch_note(finding, sources));
    lines.extend(related_note(finding, sources, words));
    lines.extend(same_note(finding));
    lines.extend(finding.notes.last().cloned());
    lines.iter().map(|line| one_line(line)).collect()
}

/// The launch of a witness and the values that it needs: "blocks of (64,1,1) threads, grid of (1,1,1) blocks, n = 2".
pub(super) fn launch(witness: &WitnessReport, words: &Vocabulary) -> String {
    let mut launch = vec![
        format!("{}s of {} {}s", words.block, triple(witness.block_dim), words.thread),
        format!("{} of {} {}s", words.grid, triple(witness.grid_dim), words.block),
    ];
    launch.extend(witness.values().take(MAX_PARAMS));
    if witness.params.len() > MAX_PARAMS {
        launch.push("…".into());
    }
    launch.join(", ")
}

/// "the launch at a.cu:12:3 breaks the contract: pitch >= width"
pub(super) fn launch_note(finding: &Finding, sources: &SourceMap) -> Option<String> {
    let launch = finding.launch.as_ref()?;
    Some(launch.told().replacen("this launch", &format!("the launch at {}", location(sources, launch.span)), 1))
}

/// The message of a finding where nothing else says when it happens: with the launch, and how many it speaks for.
pub(super) fn sentence(finding: &Finding, words: &Vocabulary) -> String {
    let mut text = finding.message.clone();
    if let Some(witness) = &finding.witness {
        text = format!("{text}; with {}", launch(witness, words));
    }
    if !finding.related.is_empty() {
        text = format!("{text}; one cause with {}", counted(finding.related.len(), "more finding"));
    }
    text
}

/// `path:line:column` of the visible start of a span.
pub(super) fn location(sources: &SourceMap, span: Span) -> String {
    let at = sources.start_position(span);
    format!("{}:{}:{}", sources.file(sources.visible(span).file).path.display(), at.line, at.column)
}
