//! What was not decided or not understood, each with a line and a reason.

use super::barrier_divergence;
use super::possible_race::because;
use super::verdict::{Undecided, Verdict};
use super::{Context, listed, report_level};
use crate::calculus::eval::WARP;
use crate::calculus::{Claimed, SyncScope, Unsupported};
use crate::diagnostic::report::{self, Unknown};
use crate::prove::Open;
use crate::source::{Language, Span};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// At most this many unknowns of a kernel are listed; the rest is counted.
const LISTED: usize = 12;
/// At most this many functions that are not defined are named.
const NAMED: usize = 6;

/// All unknowns of a kernel, in source order; what is said of several lines is said once, with the lines.
pub(super) fn unknowns(context: &Context<'_>, verdict: &Verdict) -> Vec<Unknown> {
    let is_pair = |undecided: &&Undecided| matches!(undecided, Undecided::Pair { .. });
    let (calls, others): (Vec<_>, Vec<_>) =
        context.kernel.unsupported.iter().partition(|unsupported| unsupported.undefined_function().is_some());
    let all: Vec<Unknown> = others
        .into_iter()
        .map(|unsupported| unknown(context, unsupported.span, unsupported.reason.clone()))
        .chain(undefined(context, &calls))
        .chain(pairs(context, &verdict.undecided))
        .chain(verdict.undecided.iter().filter(|it| !is_pair(it)).map(|undecided| describe(context, undecided)))
        .collect();
    let mut unknowns = together(all);
    unknowns.sort_by_key(|unknown| unknown.line);
    if unknowns.len() > LISTED {
        let more = unknowns.len() - LISTED;
        unknowns.truncate(LISTED);
        unknowns.push(unknown(context, None, format!("{more} more questions of this kernel stay open")));
    }
    unknowns
}

/// Calls of functions that are not defined as one: what defines one of them, a header mostly, defines the others, too.
fn undefined(context: &Context<'_>, calls: &[&Unsupported]) -> Option<Unknown> {
    let mut names: Vec<String> = Vec::new();
    let mut lines: BTreeMap<u32, Option<Span>> = BTreeMap::new();
    for call in calls {
        let name = format!("'{}'", call.undefined_function()?);
        if !names.contains(&name) {
            names.push(name);
        }
        lines.entry(context.line(call.span)).or_insert(call.span);
    }
    let [first, _, ..] = calls else { return calls.first().map(|it| unknown(context, it.span, it.reason.clone())) };
    if let [_] = names[..] {
        return Some(with_lines(context, first.reason.clone(), lines));
    }
    if names.len() > NAMED {
        let more = names.len() - NAMED;
        names.truncate(NAMED);
        names.push(format!("{more} more"));
    }
    Some(with_lines(context, format!("calls of {}, which are not defined", listed(&names)), lines))
}

/// What is said of several lines, at the first of them.
fn with_lines(context: &Context<'_>, mut reason: String, lines: BTreeMap<u32, Option<Span>>) -> Unknown {
    let mut all = lines.into_iter();
    let (line, span) = all.next().unwrap_or((context.line(None), None));
    let also: Vec<u32> = all.map(|(line, _)| line).collect();
    reason.push_str(&further(&also));
    Unknown { line, also, span, reason }
}

/// Those of one reason as one, at the first of their lines.
fn together(unknowns: Vec<Unknown>) -> Vec<Unknown> {
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut lines: Vec<BTreeSet<u32>> = Vec::new();
    let mut merged: Vec<Unknown> = Vec::new();
    for unknown in unknowns {
        let at = *places.entry(unknown.reason.clone()).or_insert(merged.len());
        if at == merged.len() {
            lines.push(BTreeSet::new());
            merged.push(unknown.clone());
        }
        lines[at].insert(unknown.line);
        lines[at].extend(&unknown.also);
        if unknown.line < merged[at].line {
            merged[at] = unknown;
        }
    }
    for (unknown, lines) in merged.iter_mut().zip(lines) {
        let names_lines = !unknown.also.is_empty();
        unknown.also = lines.into_iter().filter(|line| *line != unknown.line).collect();
        if !names_lines {
            unknown.reason.push_str(&further(&unknown.also));
        }
    }
    merged
}

/// Further lines in words.
fn further(lines: &[u32]) -> String {
    let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match lines.len() {
        0 => String::new(),
        1 => format!(" (also at line {})", listed(&words)),
        _ => format!(" (also at lines {})", listed(&words)),
    }
}

fn unknown(context: &Context<'_>, span: Option<Span>, reason: String) -> Unknown {
    Unknown { line: context.line(span), also: Vec::new(), span, reason }
}

/// Pairs that stay open, those of one array and for one reason as one.
fn pairs(context: &Context<'_>, undecided: &[Undecided]) -> Vec<Unknown> {
    let mut open: Vec<OpenPairs> = Vec::new();
    for each in undecided {
        let Undecided::Pair { first, second, level, why } = each else { continue };
        let accesses = [*first, *second].map(|access| &context.protocol.accesses[access]);
        let array = context.kernel.arrays[accesses[0].array].name.as_str();
        let (why, level) = (explain(why), report_level(*level));
        let at = open.iter().position(|known| known.array == array && known.why == why).unwrap_or_else(|| {
            open.push(OpenPairs { array, why, ..OpenPairs::default() });
            open.len() - 1
        });
        let pairs = &mut open[at];
        pairs.levels.insert(level);
        for access in accesses {
            let span = context.span_of(access.site);
            pairs.lines.entry(context.line(Some(span))).or_insert(span);
            let reason = access.reasons.first().map(|reason| because(context, reason));
            pairs.because = pairs.because.take().or(reason);
        }
    }
    open.iter().map(|pairs| pairs.unknown(context)).collect()
}

/// Pairs of one array that stay open for one reason.
#[derive(Default)]
struct OpenPairs<'a> {
    array: &'a str,
    why: String,
    levels: BTreeSet<report::Level>,
    lines: BTreeMap<u32, Span>,
    because: Option<String>,
}

impl OpenPairs<'_> {
    fn unknown(&self, context: &Context<'_>) -> Unknown {
        let parties = self.levels.iter().map(|level| context.words().two_threads(*level));
        let lines: Vec<String> = self.lines.keys().map(ToString::to_string).collect();
        let at = if lines.len() == 1 { "line" } else { "lines" };
        let because = self.because.as_ref().map_or_else(String::new, |because| format!(" ({because})"));
        let reason = format!(
            "not decided whether {} race on {} at {at} {}: {}{because}",
            parties.collect::<Vec<_>>().join(" or "),
            self.array,
            listed(&lines),
            self.why
        );
        let mut all = self.lines.iter();
        let (line, span) = all.next().map_or((context.line(None), None), |(line, span)| (*line, Some(*span)));
        Unknown { line, also: all.map(|(line, _)| *line).collect(), span, reason }
    }
}

fn describe(context: &Context<'_>, undecided: &Undecided) -> Unknown {
    match undecided {
        // Pairs are put together before.
        Undecided::Pair { why, .. } => unknown(context, None, explain(why)),
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
        Undecided::Effort => {
            let spent = "what the effort allows was spent before every question was asked; --effort raises it";
            unknown(context, None, spent.to_owned())
        }
        Undecided::EffortOnContract => {
            let spent = "no condition on its launches was found under which it is free before what the effort allows was spent; \
                         --effort thorough looks further";
            unknown(context, None, spent.to_owned())
        }
    }
}

fn explain(why: &Open) -> String {
    const HELP: &str = "a solver, or a launch that is stated with --block-dim and --grid-dim, may decide it";
    match why {
        Open::NoRule => format!("no rule proves it and no small launch shows a conflict; {HELP}"),
        Open::Refuted => {
            "a race is likely, but not confirmed: a launch shows it, and cannot go past something that is not known"
                .to_owned()
        }
        Open::Budget => format!("the proof budget was spent; {HELP}"),
        Open::NotExpressible(what) => format!("{what} is beyond the proof rules; {HELP}"),
        Open::Solver(said) | Open::Suspected(said) => format!(
            "no rule proves it, no small launch shows a conflict, and of a solver that was asked: {said}; \
             a launch that is stated with --block-dim and --grid-dim may decide it"
        ),
        Open::Vacuous => {
            "what the source states contradicts itself or the launch, so that any proof would be empty".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::pages::page_of;

    #[test]
    fn the_page_of_unknown_has_every_cause_of_an_open_question() {
        let said = "SAID".to_owned();
        let all = [
            Open::NoRule,
            Open::Budget,
            Open::Refuted,
            Open::NotExpressible(said.clone()),
            Open::Solver(said.clone()),
            Open::Suspected(said),
            Open::Vacuous,
        ];
        for open in all {
            // Who adds a cause is led here by the compiler.
            match open {
                Open::NoRule | Open::Budget | Open::Refuted => {}
                Open::NotExpressible(_) | Open::Solver(_) | Open::Suspected(_) | Open::Vacuous => {}
            }
            let cause = explain(&open);
            let told = page_of(None).lines().any(|line| {
                let quoted = line.trim_start_matches("- ").split('`').skip(1).step_by(2);
                quoted.map(|part| part.trim_start_matches("… ")).any(|part| part.len() > 12 && cause.contains(part))
            });
            assert!(told, "no line for: {cause}");
        }
    }
}
