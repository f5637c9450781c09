//! What is said about the two places of a finding, alike in every format for people.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Finding, Place, PlaceAccess, WitnessThread};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::source::{SourceMap, Span};

/// What happens at the primary place: "write by thread (0,0,0) of block (0,0,0)".
pub(super) fn primary_label(finding: &Finding, words: &Vocabulary) -> String {
    if finding.rule == RuleId::RedundantBarrier {
        return format!("nothing that two {}s do is ordered only by this", words.thread);
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
        PlaceAccess::Atomic => format!("atomic by {who}"),
        PlaceAccess::Read | PlaceAccess::Write => format!("{} by {who}", access.name()),
    }
}

/// The macro expansions behind a place, as a sentence; `None` outside macros.
pub(super) fn expansion_note(sources: &SourceMap, place: Place) -> Option<String> {
    let span = place.span;
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

/// `path:line:column` of the visible start of a span.
pub(super) fn location(sources: &SourceMap, span: Span) -> String {
    let at = sources.start_position(span);
    format!("{}:{}:{}", sources.file(sources.visible(span).file).path.display(), at.line, at.column)
}
