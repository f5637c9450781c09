//! `barrier-divergence` where threads that call something together give it different arguments.
//!
//! OpenCL wants one copy of a work-group to be called by all its work-items with the same arguments, and one wait with the
//! same events; otherwise the behaviour is undefined, as with a barrier that only some of them reach.

use super::causes::{Found, Kind};
use super::possible_race::{because, reasons};
use super::verdict::PossibleClaim;
use super::{Context, witness};
use crate::calculus::{Claimed, SiteId};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess, Telling};
use crate::prove::refute::FailedAssertion;

/// Arguments that differ in a run.
pub(super) fn failed(context: &Context<'_>, failed: &[FailedAssertion]) -> Vec<Found> {
    failed
        .iter()
        .filter(|failed| is_agreement(context, failed.site))
        .map(|failed| Found::new(Kind::Agreement, differ(context, failed)))
        .collect()
}

fn differ(context: &Context<'_>, failed: &FailedAssertion) -> Finding {
    let words = context.words();
    let mut notes = Vec::new();
    if failed.after_earlier {
        notes.push("this one counts once the earlier finding of this kernel is mended".to_owned());
    }
    notes.push(advice(context));
    Finding {
        rule: RuleId::BarrierDivergence,
        certainty: if failed.after_earlier { Certainty::Possible } else { Certainty::Proved },
        level: Level::Block,
        array: None,
        message: format!(
            "{}s of one {} make this call together and give it different arguments",
            words.thread, words.block
        ),
        primary: call(context, failed.site),
        secondary: failed.with.as_ref().map(|_| call(context, failed.site)),
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

/// Arguments that depend on what memory holds.
pub(super) fn possible(context: &Context<'_>, claims: &[PossibleClaim]) -> Vec<Found> {
    claims
        .iter()
        .filter(|claim| is_agreement(context, claim.site))
        .map(|claim| Found::new(Kind::Agreement, may_differ(context, claim)))
        .collect()
}

fn may_differ(context: &Context<'_>, claim: &PossibleClaim) -> Finding {
    let words = context.words();
    let why = claim.reasons.first().map_or_else(String::new, |reason| because(context, reason));
    Finding {
        rule: RuleId::BarrierDivergence,
        certainty: Certainty::Possible,
        level: Level::Block,
        array: None,
        message: format!(
            "{}s of one {} make this call together and may give it different arguments: {why}",
            words.thread, words.block
        ),
        primary: call(context, claim.site),
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

fn is_agreement(context: &Context<'_>, site: SiteId) -> bool {
    context.claimed(site) == Claimed::Agreement
}

fn call(context: &Context<'_>, site: SiteId) -> Place {
    Place { span: context.span_of(site), access: PlaceAccess::Barrier }
}

fn advice(context: &Context<'_>) -> String {
    let words = context.words();
    format!("compute the arguments from what all {}s of the {} share", words.thread, words.block)
}
