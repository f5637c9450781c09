//! `data-race`, `warp-synchronous` and `same-value-write`: conflicts that were found by running the kernel.

use super::causes::{Found, Kind, is_one_statement};
use super::places::{SamePlaces, grouped};
use super::{Context, listed, report_level, verb, witness};
use crate::calculus::SiteId;
use crate::calculus::eval::WARP;
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Place, PlaceAccess, Telling};
use crate::memory_model::Level;
use crate::prove::Conflict;
use crate::source::Span;

/// One finding for each rule and pair of places, with a witness that needs nothing mended before, if there is one.
pub(super) fn findings(context: &Context<'_>, conflicts: &[Conflict]) -> Vec<Found> {
    let key = |conflict: &Conflict| (rule(conflict), SamePlaces::new(context, conflict.level, conflict.sites));
    let groups = grouped(conflicts, key);
    let chosen = groups.iter().filter_map(|group| group.iter().min_by_key(|conflict| conflict.after_earlier));
    let found = |conflict: &Conflict| Found {
        is_odd: conflict.after_earlier
            || conflict.misaligned
            || !conflict.degenerate.is_empty()
            || conflict.is_far_fetched,
        ..Found::new(Kind::Race, finding(context, conflict))
    };
    chosen.map(|conflict| found(conflict)).collect()
}

fn finding(context: &Context<'_>, conflict: &Conflict) -> Finding {
    let [first, second] = conflict.sites;
    let (primary, secondary) = (context.place_of(first), context.place_of(second));
    let array = context.access_at(first).map(|access| access.array);
    let witness = witness::report(context, &conflict.witness, array);
    let name = array.map(|array| context.kernel.arrays[array].name.clone());
    let rule = rule(conflict);
    let element = witness.element.clone().unwrap_or_default();
    let what = match (primary.access, secondary.access) {
        (one, other) if one == other => format!("both {} {element}", plural(verb(one))),
        (one, other) => format!("one {} {element} while the other {} it", verb(one), verb(other)),
    };
    let message = format!(
        "{} on {}: of {}, {what}",
        title(rule),
        name.as_deref().unwrap_or("memory"),
        context.parties(conflict.level)
    );
    let mut notes = Vec::new();
    if conflict.misaligned {
        notes.push(format!(
            "it needs an access at an address that its type does not admit, which is undefined: if sizes are always \
             multiples of what is accessed at once, say so, as with {}",
            context.words().assuming("n % 8 == 0")
        ));
    } else if let Some(site) = conflict.out_of_bounds {
        let line = context.line(Some(context.span_of(site)));
        notes.push(format!(
            "before it, line {line} has left its array in this launch, which is undefined: this one counts if the launch \
             is meant, and once that is mended"
        ));
    } else if conflict.after_earlier {
        notes.push("this one counts once the earlier finding of this kernel is mended".to_owned());
    } else if let [first, ..] = &conflict.degenerate[..] {
        let value = |name: &String| conflict.witness.params.iter().find(|(known, _)| known == name);
        let values: Vec<String> =
            conflict.degenerate.iter().filter_map(value).map(|(name, value)| format!("{name} = {value}")).collect();
        let values = if values.is_empty() { format!("{} < 1", listed(&conflict.degenerate)) } else { listed(&values) };
        notes.push(format!(
            "it was seen only with {values}: if that never happens, say so with {}",
            context.words().assuming(&format!("{first} > 0"))
        ));
    } else if conflict.is_far_fetched {
        notes.push(far_fetched(context, conflict));
    } else {
        notes.extend(ragged(context, conflict));
    }
    notes.push(advice(context, conflict, rule, [primary, secondary]));
    Finding {
        rule,
        certainty: match conflict.after_earlier || conflict.is_far_fetched {
            true => Certainty::Possible,
            false => Certainty::Proved,
        },
        level: report_level(conflict.level),
        array: name,
        message,
        primary,
        secondary: Some(secondary),
        reasons: Vec::new(),
        witness: Some(witness),
        contents: Vec::new(),
        notes,
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

/// That a conflict needs sizes that do not cover the threads of a launch.
fn far_fetched(context: &Context<'_>, conflict: &Conflict) -> String {
    let least = i128::from(conflict.witness.geometry.block.into_iter().max().unwrap_or(1));
    let is_small =
        |param: &&(String, i128)| param.1 < least && context.kernel.params.iter().any(|(_, it)| it.name == param.0);
    let values: Vec<String> =
        conflict.witness.params.iter().filter(is_small).map(|(name, value)| format!("{name} = {value}")).collect();
    let with = if values.is_empty() { String::new() } else { format!(" with {}", listed(&values)) };
    format!(
        "it was seen only{with}: launches whose sizes are no less than their {}s are wide get here without it; what always \
         holds of the sizes, say with {}",
        context.words().block,
        context.words().assuming("…")
    )
}

/// That a conflict was seen in blocks alone that nobody would choose.
fn ragged(context: &Context<'_>, conflict: &Conflict) -> Option<String> {
    let threads = conflict.witness.geometry.block_threads();
    let words = context.words();
    let (block, thread) = (words.block, words.thread);
    let warp = u64::from(WARP);
    match threads {
        _ if conflict.is_natural => None,
        _ if !threads.is_multiple_of(warp) => {
            Some(format!("it was seen only in {block}s that are no multiple of {warp} {thread}s"))
        }
        _ if threads == warp => Some(format!("it was seen only in {block}s of {warp} {thread}s")),
        _ => None,
    }
}

fn rule(conflict: &Conflict) -> RuleId {
    if conflict.warp_synchronous {
        RuleId::WarpSynchronous
    } else if conflict.same_value {
        RuleId::SameValueWrite
    } else {
        RuleId::DataRace
    }
}

fn title(rule: RuleId) -> &'static str {
    match rule {
        RuleId::WarpSynchronous => "race that relies on lock-step execution",
        RuleId::SameValueWrite => "race between writes of the same value",
        _ => "data race",
    }
}

/// Whether a plain read meets an atomic that is made in a loop, and is made again after it.
fn is_retry(context: &Context<'_>, conflict: &Conflict, places: [Place; 2]) -> bool {
    let is_looped = |site: SiteId| context.access_at(site).is_some_and(|access| !access.loops.is_empty());
    match places.map(|place| place.access) {
        [PlaceAccess::Atomic, PlaceAccess::Read] => is_looped(conflict.sites[0]),
        [PlaceAccess::Read, PlaceAccess::Atomic] => is_looped(conflict.sites[1]),
        _ => false,
    }
}

fn plain_read(places: [Place; 2]) -> Span {
    let read = places.into_iter().find(|place| place.access == PlaceAccess::Read);
    read.unwrap_or(places[0]).span
}

/// What one statement does at both places; nothing can be put between a statement and itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statement {
    /// The places are of two statements.
    Two,
    /// It reads and writes one place: `x += 1`.
    Updates,
    /// It writes.
    Writes,
    /// It reads what another thread writes in it.
    ReadsOthers,
}

fn statement(context: &Context<'_>, places: [Place; 2]) -> Statement {
    let [first, second] = places.map(|place| context.sources.visible(place.span));
    match places.map(|place| place.access) {
        _ if !is_one_statement(context, places) => Statement::Two,
        [PlaceAccess::Write, PlaceAccess::Write] => Statement::Writes,
        _ if first == second => Statement::Updates,
        _ => Statement::ReadsOthers,
    }
}

/// "writes" of one is "write" of two.
fn plural(verb: &str) -> String {
    verb.strip_suffix('s').unwrap_or(verb).to_owned()
}

/// What can be done about it.
fn advice(context: &Context<'_>, conflict: &Conflict, rule: RuleId, places: [Place; 2]) -> String {
    let words = context.words();
    let statement = statement(context, places);
    match (rule, conflict.level) {
        (RuleId::WarpSynchronous, _) => match context.language {
            crate::source::Language::Cuda if statement == Statement::ReadsOthers => {
                "lock-step execution of a warp is not guaranteed: read into a variable first, and put __syncwarp() between \
                 that and the write, or check for hardware before Volta with --lockstep-warps 32"
                    .to_owned()
            }
            crate::source::Language::Cuda => {
                "lock-step execution of a warp is not guaranteed: put __syncwarp() between the two accesses, or check for \
                 hardware before Volta with --lockstep-warps 32"
                    .to_owned()
            }
            crate::source::Language::OpenCl => {
                "lock-step execution of a sub-group is not guaranteed: put a barrier between the two accesses"
                    .to_owned()
            }
        },
        (RuleId::SameValueWrite, _) => {
            format!("let one {} write, or use an atomic; compilers may assume that no race happens", words.thread)
        }
        (RuleId::DataRace, _) if is_retry(context, conflict, places) => format!(
            "line {} reads it plainly while others change it atomically: load it atomically; where a loop around a \
             compare-exchange tries again, the result is right on today's hardware even so",
            context.line(Some(plain_read(places)))
        ),
        (RuleId::DataRace, _) if statement == Statement::Updates => format!(
            "no barrier helps within one statement: use an atomic, or give each {} its own element",
            words.thread
        ),
        (_, Level::Grid) => format!(
            "{}s cannot wait for each other within a kernel: give each its own elements, use atomics, or split the kernel",
            words.block
        ),
        (RuleId::DataRace, _) if statement == Statement::Writes => format!(
            "no barrier helps within one statement: give each {} its own element, let one alone execute it, or use an \
             atomic",
            words.thread
        ),
        (RuleId::DataRace, Level::Warp | Level::Block) if statement == Statement::ReadsOthers => {
            format!("read into a variable first, and put {} between that and the write", words.barrier)
        }
        (_, Level::Cluster) => format!("put cluster.sync() between the two accesses; {} waits for one block", words.barrier),
        _ => format!(
            "put {} between the two accesses, or give each {} of the {} its own element",
            words.barrier, words.thread, words.block
        ),
    }
}
