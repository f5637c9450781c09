//! `data-dependent-index` and `data-dependent-control`: pairs that nothing excludes because an index or a
//! condition depends on what memory holds or on what is not modelled. Where contents of memory were found with which they
//! conflict, these are told, too.

use super::causes::{Found, Kind, is_one_statement};
use super::places::{SamePlaces, grouped};
use super::verdict::PossibleRace;
use super::{Context, contents, report_level, witness};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, FindingReason, Place, PlaceAccess, Telling};
use crate::protocol::{AccessId, Reason, ReasonKind};
use crate::prove::hand_over::{HandOver, MissingFence};
use crate::source::Language;
use rustc_hash::FxHashSet;

/// Findings of one kernel, at most one for each pair of places; it has the reasons of all ways in which they are reached.
pub(super) fn findings(context: &Context<'_>, possible: &[PossibleRace]) -> Vec<Found> {
    let site = |access| context.protocol.accesses[access].site;
    let groups = grouped(possible, |race| {
        SamePlaces::new(context, race.pair.level, [race.pair.first, race.pair.second].map(site))
    });
    let found = |group: &Vec<&PossibleRace>| {
        let race = together(group);
        Found { remedy: remedy(&race), ..Found::new(Kind::Race, finding(context, &race, group)) }
    };
    groups.iter().map(found).collect()
}

/// A fence or a lock that is missing is a cause of its own, whatever else decides.
fn remedy(race: &PossibleRace) -> Option<String> {
    let fence = race.fence.as_ref().map(|missing| format!("{missing:?}"));
    fence.or_else(|| race.locks.as_ref().map(|locks| format!("{locks:?}")))
}

fn together(group: &[&PossibleRace]) -> PossibleRace {
    let mut seen = FxHashSet::default();
    let all = group.iter().flat_map(|race| &race.reasons);
    let reasons = all.filter(|reason| seen.insert(*reason)).cloned().collect();
    // The one with contents speaks for all.
    let first = group.iter().find(|race| race.contents.is_some()).unwrap_or(&group[0]);
    PossibleRace { reasons, ..(*first).clone() }
}

/// `group` is all that the finding stands for.
fn finding(context: &Context<'_>, race: &PossibleRace, group: &[&PossibleRace]) -> Finding {
    let array = context.protocol.accesses[race.pair.first].array;
    let name = context.kernel.arrays[array].name.clone();
    let rule = rule(&race.reasons);
    let mut message = format!(
        "possible data race on {name} between {}: {}",
        context.parties(race.pair.level),
        race.reasons.first().map_or_else(String::new, |reason| because(context, reason))
    );
    if let Some(missing) = &race.fence {
        let fence = fence_name(context);
        let (after, before) = (line_of(context, missing.after), line_of(context, missing.before));
        message.push_str(&match missing.at {
            HandOver::Draw => format!("; no `{fence}` stands before the draw at line {before}"),
            HandOver::Release => format!("; no `{fence}` stands before the lock is given back at line {before}"),
            HandOver::Take => format!("; no `{fence}` stands behind the lock that is taken at line {after}"),
            HandOver::Set => format!("; no `{fence}` stands before the flag is set at line {before}"),
            HandOver::Look => format!("; no `{fence}` stands behind the wait for the flag at line {after}"),
        });
    }
    if let Some(locks) = &race.locks {
        message.push_str(&match locks.takes.map(|take| take.map(|take| line_of(context, take))) {
            [Some(one), Some(other)] if one != other => {
                format!("; the locks that are taken at lines {one} and {other} may be two")
            }
            [Some(line), Some(_)] => format!("; the lock that is taken at line {line} may not be one for both"),
            [Some(line), None] | [None, Some(line)] => {
                format!("; only one of them is made under the lock that is taken at line {line}")
            }
            [None, None] => String::new(),
        });
    }
    let (primary, secondary) = (place(context, race.pair.first), place(context, race.pair.second));
    let shown = race.contents.as_ref();
    let contents = shown.map_or_else(Vec::new, |shown| contents::report(context, &shown.contents));
    let mut notes = Vec::new();
    if let Some(shown) = shown {
        message.push_str(&format!("; racy for these contents: {}", contents::in_words(&contents)));
        if shown.same_value {
            notes.push("with these contents, both write the same value".to_owned());
        }
        notes.push(contents::contract(context, rule, race, group));
    }
    notes.push(match &race.fence {
        Some(missing) => fence_advice(context, missing),
        None if race.locks.is_some() => "make both accesses under one lock".to_owned(),
        None => advice(context, rule, [primary, secondary]),
    });
    Finding {
        rule,
        certainty: Certainty::Possible,
        level: report_level(race.pair.level),
        array: Some(name),
        message,
        primary,
        secondary: Some(secondary),
        reasons: reasons(&race.reasons),
        witness: shown.map(|shown| witness::report(context, &shown.witness, Some(array))),
        contents,
        notes,
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

fn place(context: &Context<'_>, access: AccessId) -> Place {
    context.place_of_access(&context.protocol.accesses[access])
}

pub(super) fn rule(reasons: &[Reason]) -> RuleId {
    let is_index = |kind| matches!(kind, ReasonKind::DataDependentIndex | ReasonKind::UnknownPointer);
    if reasons.iter().any(|reason| is_index(reason.kind)) {
        RuleId::DataDependentIndex
    } else if reasons.iter().all(|reason| reason.kind == ReasonKind::UnpromisedOrder) {
        RuleId::DataRace
    } else {
        RuleId::DataDependentControl
    }
}

pub(super) fn reasons(reasons: &[Reason]) -> Vec<FindingReason> {
    reasons
        .iter()
        .map(|reason| FindingReason { kind: reason_name(reason.kind).to_owned(), span: reason.span })
        .collect()
}

/// The words that reports have for a reason.
pub fn reason_name(kind: ReasonKind) -> &'static str {
    match kind {
        // That memory holds the pointer makes the index data.
        ReasonKind::DataDependentIndex | ReasonKind::UnknownPointer => "data-dependent index",
        ReasonKind::DataDependentGuard => "data-dependent guard",
        ReasonKind::UnknownLoopCount => "unknown loop count",
        ReasonKind::UnsupportedCall => "unsupported call",
        ReasonKind::UnpromisedOrder => "unpromised order",
        ReasonKind::TooComplex => "expression too complex",
    }
}

/// The reason as a clause: "the index depends on idx, read at line 5".
pub(super) fn because(context: &Context<'_>, reason: &Reason) -> String {
    let at = reason.span.map_or_else(String::new, |span| format!(" at line {}", context.line(Some(span))));
    let array = reason.array.map(|array| context.kernel.arrays[array].name.as_str());
    match (reason.kind, array) {
        (ReasonKind::DataDependentIndex, Some(array)) => format!("the index depends on {array}, read{at}"),
        (ReasonKind::DataDependentIndex, None) => format!("the index depends on a value that is not known{at}"),
        (ReasonKind::DataDependentGuard, Some(array)) => format!("a condition depends on {array}, read{at}"),
        (ReasonKind::DataDependentGuard, None) => format!("a condition depends on a value that is not known{at}"),
        (ReasonKind::UnknownLoopCount, _) => format!("the number of turns of the loop{at} is not known"),
        (ReasonKind::UnknownPointer, _) => {
            format!("it is not known where the pointer{} leads", at.replace(" at ", " of "))
        }
        (ReasonKind::UnsupportedCall, _) => format!("a value that is computed{at} is not modelled"),
        (ReasonKind::UnpromisedOrder, _) => {
            format!("only the collective{at} stands between, whose documentation promises no order of other memory")
        }
        (ReasonKind::TooComplex, _) => format!("the expression{at} is too complex"),
    }
}

/// The fence of device scope, by the name that users know.
fn fence_name(context: &Context<'_>) -> &'static str {
    match context.language {
        Language::Cuda => "__threadfence()",
        Language::OpenCl => "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)",
    }
}

fn line_of(context: &Context<'_>, access: AccessId) -> u32 {
    context.line(Some(context.span_of(context.protocol.accesses[access].site)))
}

/// What is to be done about a fence that is missing.
fn fence_advice(context: &Context<'_>, missing: &MissingFence) -> String {
    let name = |access: AccessId| &context.kernel.arrays[context.protocol.accesses[access].array].name;
    let (block, fence) = (context.words().block, fence_name(context));
    let (after, before) = (line_of(context, missing.after), line_of(context, missing.before));
    let (need, place) = match missing.at {
        HandOver::Draw => (
            format!(
                "the {block} that draws the last number from {} need not see what was done at line {after}",
                name(missing.before)
            ),
            format!("between it and the draw at line {before}"),
        ),
        HandOver::Release => (
            format!("whoever takes {} next need not see what was done at line {after}", name(missing.before)),
            format!("between it and line {before}, where the lock is given back"),
        ),
        HandOver::Take => (
            format!("line {before} need not see what was done under {} before", name(missing.after)),
            format!("between line {after}, where the lock is taken, and it"),
        ),
        HandOver::Set => (
            format!("whoever waits for {} need not see what was done at line {after}", name(missing.before)),
            format!("between it and line {before}, where the flag is set"),
        ),
        HandOver::Look => (
            format!("line {before} need not see what was done before {} was set", name(missing.after)),
            format!("between line {after}, where the {} waits for the flag, and it", context.words().thread),
        ),
    };
    match missing.too_narrow {
        Some(narrow) => {
            let at = context.line(Some(context.span_of(narrow)));
            format!("the fence at line {at} orders for its own {block} only, and {need}: `{fence}` orders for all")
        }
        None => format!("{need}: put `{fence}` {place}"),
    }
}

/// What can be done about it; nothing can be put between a statement and itself.
fn advice(context: &Context<'_>, rule: RuleId, places: [Place; 2]) -> String {
    let words = context.words();
    let is_mixed = matches!(
        places.map(|place| place.access),
        [PlaceAccess::Atomic, PlaceAccess::Read] | [PlaceAccess::Read, PlaceAccess::Atomic]
    );
    let is_one = is_one_statement(context, places);
    match rule {
        _ if is_mixed && !is_one => {
            "one access is atomic and the other a plain read: load it atomically; where a loop around a compare-exchange \
             tries again, the result is right on today's hardware even so"
                .to_owned()
        }
        RuleId::DataDependentIndex if is_one => format!(
            "if the values differ between {}s, the accesses are disjoint; if not, use an atomic: a barrier does not help \
             within one statement",
            words.thread
        ),
        RuleId::DataDependentIndex => format!(
            "if the values differ between {}s, the accesses are disjoint; if not, use an atomic or a barrier",
            words.thread
        ),
        RuleId::DataRace => format!("put a {} between them, which promises it", words.barrier),
        _ if is_one => format!(
            "if no two {}s can get here together, there is no race; otherwise let one alone execute it, or use an atomic",
            words.thread
        ),
        _ => format!("if no two {}s can get here together, there is no race; otherwise synchronise", words.thread),
    }
}
