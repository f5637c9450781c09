//! `assertion`: claims of the source that do not hold, or may not.

use super::causes::{Found, Kind};
use super::possible_race::{because, reasons};
use super::verdict::PossibleClaim;
use super::{Context, listed, witness};
use crate::calculus::{Claimed, SiteId};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess, Telling};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::prove::refute::FailedAssertion;
use crate::source::Span;

/// Conditions are quoted up to this length.
const LONGEST: usize = 80;

/// Claims that fail in a run.
pub(super) fn failed(context: &Context<'_>, failed: &[FailedAssertion]) -> Vec<Found> {
    let mut places = Vec::new();
    let asserted = failed.iter().filter(|failed| context.claimed(failed.site) == Claimed::Asserted);
    let news = asserted.filter(|failed| is_new(context, failed.site, &mut places));
    news.map(|failed| Found::new(Kind::Claim, failed_finding(context, failed))).collect()
}

fn failed_finding(context: &Context<'_>, failed: &FailedAssertion) -> Finding {
    let mut notes = Vec::new();
    if failed.after_earlier {
        notes.push("this one counts once the earlier finding of this kernel is mended".to_owned());
    }
    notes.push(advice(context));
    Finding {
        rule: RuleId::Assertion,
        certainty: if failed.after_earlier { Certainty::Possible } else { Certainty::Proved },
        level: Level::Thread,
        array: None,
        message: failed_message(context, failed),
        primary: place(context, failed.site),
        secondary: failed.with.as_ref().map(|_| place(context, failed.site)),
        reasons: Vec::new(),
        witness: Some(witness::incident(&failed.incident, failed.with.as_ref())),
        contents: Vec::new(),
        notes,
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

/// "assertion fails: one thread gets here, and `n % 4 == 0` is false for n = 1".
fn failed_message(context: &Context<'_>, failed: &FailedAssertion) -> String {
    let thread = context.words().thread;
    let who = match &failed.with {
        None => format!("one {thread} gets here"),
        Some(_) => format!("two {thread}s get here"),
    };
    let text = context.sources.text(context.sources.visible(context.span_of(failed.site)));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = if text.is_empty() || text.chars().count() > LONGEST {
        "the condition".to_owned()
    } else {
        format!("`{text}`")
    };
    let witness = witness::incident(&failed.incident, failed.with.as_ref());
    let values: Vec<String> = witness.values().collect();
    let values = if values.is_empty() { String::new() } else { format!(" for {}", listed(&values)) };
    format!("assertion fails: {who}, and {what} does not hold{values}")
}

/// Claims about what memory holds.
pub(super) fn possible(context: &Context<'_>, claims: &[PossibleClaim]) -> Vec<Found> {
    let mut places = Vec::new();
    let asserted = claims.iter().filter(|claim| context.claimed(claim.site) == Claimed::Asserted);
    let news = asserted.filter(|claim| is_new(context, claim.site, &mut places));
    news.map(|claim| Found::new(Kind::Claim, possible_finding(context, claim))).collect()
}

fn possible_finding(context: &Context<'_>, claim: &PossibleClaim) -> Finding {
    let why = claim.reasons.first().map_or_else(String::new, |reason| because(context, reason));
    Finding {
        rule: RuleId::Assertion,
        certainty: Certainty::Possible,
        level: Level::Thread,
        array: None,
        message: format!("assertion may fail: {why}"),
        primary: place(context, claim.site),
        secondary: None,
        reasons: reasons(&claim.reasons),
        witness: None,
        contents: Vec::new(),
        notes: vec![advice(context)],
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

/// Whether nothing was said yet of the place of a claim: what stands at the head of a loop is claimed in its turns
/// and behind it, and what stands in a function in each call.
fn is_new(context: &Context<'_>, site: SiteId, places: &mut Vec<Span>) -> bool {
    let span = context.sources.visible(context.span_of(site));
    let is_new = !places.contains(&span);
    places.push(span);
    is_new
}

fn place(context: &Context<'_>, site: SiteId) -> Place {
    Place { span: context.span_of(site), access: PlaceAccess::Claim }
}

fn advice(context: &Context<'_>) -> String {
    let assume = Vocabulary::of(context.language).assuming("…");
    format!("if callers see to it, say so at the start of the kernel with {assume}; if not, test it with an if")
}
