//! Conflicts of a pair in runs of the executable semantics: what enumeration has no values for, since it depends on more
//! than the numbers of turns (variables that move geometrically, what loops leave behind, what was read).
//!
//! Launches are those of the enumeration. Deliberately absent: the relations of a pair's meeting; two accesses with no
//! barrier between them conflict whatever their turns.

use super::Subject;
use super::enumeration::launches;
use raceproof::calculus::Geometry;
use raceproof::calculus::eval::{Blocks, Contents, Event, History, Program, Setup, run};
use raceproof::memory_model::{Level, both_atomic};
use raceproof::prove::Pair;

/// What memory, and a variable without a value, holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nobody knows; what depends on it shows nothing.
    Unknown,
    /// Anything, fixed by a number.
    Anything,
}

/// A conflict of the accesses of `pair` in one of a few launches in which nothing undefined happens; those in which
/// something wraps do not count if that was assumed away.
pub(crate) fn conflict(
    subject: &Subject,
    pair: &Pair,
    start: Start,
    assumes_no_wrap: bool,
    seed: u64,
) -> Option<String> {
    let program = Program::new(&subject.kernel);
    let sites = [pair.first, pair.second].map(|access| subject.protocol.accesses[access].site);
    launches(subject, seed).iter().enumerate().find_map(|(number, launch)| {
        let extents = |extents: [i128; 3]| extents.map(|extent| u32::try_from(extent).expect("small"));
        let geometry = Geometry { block: extents(launch.block), grid: extents(launch.grid) };
        let params: Vec<Option<i128>> = launch.params.iter().copied().map(Some).collect();
        let contents = match start {
            Start::Unknown => Contents::Unknown,
            Start::Anything => Contents::Seeded(seed.wrapping_mul(100).wrapping_add(number as u64)),
        };
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 40_000 };
        let mut history = History::default();
        let outcome = run(&program, &setup, &mut history);
        let wrapped = !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
        let is_defined = outcome.traps.is_empty() && outcome.misaligned_since.is_none();
        if !outcome.finished || outcome.vacuous || !is_defined || assumes_no_wrap && wrapped {
            return None;
        }
        let of = |wanted| {
            let events = history.accesses.iter().map(|recorded| &recorded.event);
            events.filter(move |event| event.site == wanted && event.exact).collect::<Vec<&Event>>()
        };
        let (first, second) = (of(sites[0]), of(sites[1]));
        let accesses = [pair.first, pair.second].map(|access| &subject.protocol.accesses[access]);
        let are_atomics = both_atomic(accesses[0].kind, accesses[1].kind, pair.level);
        let mut both = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let is_exempt =
            |one: &Event, other: &Event| are_atomics && (one.offset, one.bytes) == (other.offset, other.bytes);
        let found = both.find(|(one, other)| meet(one, other, pair.level) && !is_exempt(one, other))?;
        Some(format!("{geometry:?} {params:?}: {found:?}"))
    })
}

/// Whether two accesses touch a common byte and nothing orders them.
fn meet(one: &Event, other: &Event, level: Level) -> bool {
    let (Some(start), Some(other_start)) = (one.offset, other.offset) else { return false };
    let overlap = start < other_start + i64::from(other.bytes) && other_start < start + i64::from(one.bytes);
    let apart = if level == Level::Grid {
        one.thread.block != other.thread.block
    } else {
        let same_interval = one.stamp.block == other.stamp.block;
        one.thread.block == other.thread.block && one.thread.thread != other.thread.thread && same_interval
    };
    overlap && apart
}
