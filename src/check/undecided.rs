//! What was not decided or not understood, each with a line and a reason.

use super::Context;
use super::barrier_divergence;
use super::possible_race::because;
use super::verdict::{Undecided, Verdict};
use crate::calculus::eval::WARP;
use crate::calculus::{Claimed, SyncScope};
use crate::diagnostic::report::Unknown;
use crate::protocol::AccessId;
use crate::prove::Open;
use crate::source::{Language, Span};
use std::collections::BTreeSet;

/// At most this many unknowns of a kernel are listed; the rest is counted.
const LISTED: usize = 12;

/// All unknowns of a kernel, in source order, without repetition.
pub(super) fn unknowns(context: &Context<'_>, verdict: &Verdict) -> Vec<Unknown> {
    let mut seen = BTreeSet::new();
    let mut unknowns: Vec<Unknown> = context
        .kernel
        .unsupported
        .iter()
        .map(|unsupported| unknown(context, unsupported.span, unsupported.reason.clone()))
        .chain(verdict.undecided.iter().map(|undecided| describe(context, undecided)))
        .filter(|unknown| seen.insert((unknown.line, unknown.reason.clone())))
        .collect();
    unknowns.sort_by_key(|unknown| unknown.line);
    if unknowns.len() > LISTED {
        let more = unknowns.len() - LISTED;
        unknowns.truncate(LISTED);
        unknowns.push(unknown(context, None, format!("{more} more questions of this kernel stay open")));
    }
    unknowns
}

fn unknown(context: &Context<'_>, span: Option<Span>, reason: String) -> Unknown {
    Unknown { line: context.line(span), span, reason }
}

fn describe(context: &Context<'_>, undecided: &Undecided) -> Unknown {
    match undecided {
        Undecided::Pair { first, second, level, why } => pair(context, *first, *second, *level, why),
        Undecided::Sync { sync, why } => {
            let sync = &context.protocol.syncs[*sync];
            let of_sub_group = context.language == Language::OpenCl && sync.scope == SyncScope::Warp;
            let why = match why {
                Open::Refuted if of_sub_group => format!(
                    "a small launch shows it with sub-groups of {WARP} work-items, and how large they are the device decides"
                ),
                why => explain(why),
            };
            let (thread, what) = (context.words().thread, barrier_divergence::what(context, sync.site));
            let reason = format!("not decided whether all {thread}s reach this {what}: {why}");
            unknown(context, Some(context.span_of(sync.site)), reason)
        }
        Undecided::Claim { site, why } => {
            let span = context.span_of(*site);
            let question = match context.claimed(*site) {
                Claimed::Asserted => "this assertion holds".to_owned(),
                Claimed::Agreement => format!("all {}s give this call the same arguments", context.words().thread),
            };
            unknown(context, Some(span), format!("not decided whether {question}: {}", explain(why)))
        }
        Undecided::Extent { dimension, span } => unknown(
            context,
            Some(*span),
            format!(
                "free of races if {dimension} = 1, but this launch gives the size in a way that is not understood; \
                 --block-dim and --grid-dim state it"
            ),
        ),
        Undecided::Mentioned { dimension, span } => unknown(
            context,
            Some(*span),
            format!(
                "free of races if {dimension} = 1, but this may launch the kernel with another size, in a way that is not \
                 followed; --block-dim and --grid-dim state it"
            ),
        ),
        Undecided::RejectedProof(what) => unknown(
            context,
            None,
            format!("a proof was not accepted by the checker, which is a bug in raceproof: {what}"),
        ),
        Undecided::TooLarge(accesses) => unknown(
            context,
            None,
            format!("{accesses} accesses to one memory are too many to compare; split the kernel"),
        ),
        Undecided::TimeLimit => unknown(context, None, "the time limit was reached; --time-limit raises it".to_owned()),
    }
}

fn pair(
    context: &Context<'_>,
    first: AccessId,
    second: AccessId,
    level: crate::memory_model::Level,
    why: &Open,
) -> Unknown {
    let accesses = &context.protocol.accesses;
    let (one, other) = (&accesses[first], &accesses[second]);
    let span = context.span_of(one.site);
    let array = &context.kernel.arrays[one.array].name;
    let other_line = context.line(Some(context.span_of(other.site)));
    let mut reason = format!(
        "not decided whether {} race on {array} here and at line {other_line}: {}",
        context.parties(level),
        explain(why)
    );
    if let Some(because_of) = one.reasons.iter().chain(&other.reasons).next() {
        reason = format!("{reason} ({})", because(context, because_of));
    }
    unknown(context, Some(span), reason)
}

fn explain(why: &Open) -> String {
    match why {
        Open::NoRule => "no proof rule applies and no small launch shows a conflict; a solver would help".to_owned(),
        Open::Refuted => "a small launch shows it, but not that it happens first".to_owned(),
        Open::Budget => "the proof budget was spent; a solver would help".to_owned(),
        Open::NotExpressible(what) => format!("{what} is beyond the proof rules; a solver would help"),
        Open::Solver(said) => {
            format!("no proof rule applies and no small launch shows a conflict; a solver was asked: {said}")
        }
        Open::Vacuous => {
            "what the source states contradicts itself or the launch, so that any proof would be empty".to_owned()
        }
    }
}
