//! Conflicts that runs show.

use super::generate::kernels;
use crate::support::draw::proptest;
use crate::support::tier::tiers;
use proptest::prelude::*;
use raceproof::calculus::eval::{
    Blocks, Contents, Event, History, Kind, Meeting, Program, Setup, Sink, Value, WARP, run,
};
use raceproof::calculus::{Among, Geometry, Kernel, SiteId, Stmt, SyncScope, text};
use raceproof::memory_model::met::{Met, Stands};
use raceproof::memory_model::{AccessKind, ByteRange, Level, conflict, may_meet};
use raceproof::prove::Scope;
use raceproof::prove::refute::{Budget, Levels, replay, search};
use std::collections::BTreeSet;

const ALL: Levels = Levels { block: true, grid: true };

fn kind(event: &Event) -> AccessKind {
    match event.kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::Atomic { writes, order, scope } => AccessKind::Atomic { writes, order, scope },
    }
}

/// What a run does, and who meets at barriers that are for some threads.
#[derive(Default)]
struct Watched {
    history: History,
    met: Met,
}

impl Sink for Watched {
    fn access(&mut self, event: &Event, locals: &[Value]) {
        self.history.access(event, locals);
    }

    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }
}

/// The kernel with its barriers of warps for tiles of so many threads.
fn with_tiles(mut kernel: Kernel, threads: u32) -> Kernel {
    fn change(body: &mut [Stmt], threads: u32) {
        for stmt in body {
            match stmt {
                Stmt::Sync { scope: SyncScope::Warp, among, .. } => *among = Among::Tiles(threads),
                Stmt::If { then, otherwise, .. } => {
                    change(then, threads);
                    change(otherwise, threads);
                }
                Stmt::For(counted) => change(&mut counted.body, threads),
                Stmt::Loop { body, .. } => change(body, threads),
                _ => {}
            }
        }
    }
    change(&mut kernel.body, threads);
    kernel
}

/// The definition, word for word, for every two accesses of a run.
pub(super) fn conflicts_by_definition(
    kernel: &Kernel,
    events: &[Event],
    met: &Met,
) -> BTreeSet<(SiteId, SiteId, Level)> {
    let mut found = BTreeSet::new();
    for (index, one) in events.iter().enumerate() {
        for other in &events[index + 1..] {
            let level = match (
                one.thread.block == other.thread.block,
                one.thread.thread / WARP == other.thread.thread / WARP,
            ) {
                (false, _) => Level::Grid,
                (true, true) => Level::Warp,
                (true, false) => Level::Block,
            };
            let unordered = match level {
                Level::Warp => one.stamp.warp == other.stamp.warp,
                Level::Block => one.stamp.block == other.stamp.block,
                Level::Cluster | Level::Grid => one.stamp.grid == other.stamp.grid,
            };
            let stands = |event: &Event| Stands::of(event, &kernel.sites);
            let range = |event: &Event| ByteRange { start: event.offset.unwrap().into(), bytes: event.bytes };
            if one.thread != other.thread
                && one.array == other.array
                && may_meet(kernel.arrays[one.array].space, level)
                && unordered
                && conflict((kind(one), range(one)), (kind(other), range(other)), level)
                && (level == Level::Grid || !met.orders(one.thread.block, stands(one), stands(other)))
            {
                let name = if level == Level::Grid { Level::Grid } else { Level::Block };
                found.insert((one.site.min(other.site), one.site.max(other.site), name));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(proptest(tiers(30, 150, 3_000)))]

    /// In one launch a search finds the pairs that the definition gives, no more and no less.
    #[test]
    fn a_fixed_launch_gives_the_conflicts_of_the_definition(
        kernel in kernels(), threads in prop::sample::select(vec![1u32, 2, 3, 5, 34]), n in -1i128..6, m in 0i128..4,
        tile in prop::sample::select(vec![2u32, 4, 16, WARP, WARP])
    ) {
        let kernel = if tile == WARP { kernel } else { with_tiles(kernel, tile) };
        let geometry = Geometry { block: [threads, 1, 1], grid: [2, 1, 1] };
        let params = [Some(n), Some(m)];
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents: Contents::Unknown, budget: 1_000_000 };
        let mut watched = Watched::default();
        let outcome = run(&Program::new(&kernel), &setup, &mut watched);
        prop_assume!(outcome.finished);
        let exact: Vec<_> = watched.history.accesses.iter().map(|seen| seen.event).filter(|event| event.exact).collect();
        let scope = Scope {
            block: geometry.block.map(Some),
            grid: geometry.grid.map(Some),
            params: params.to_vec(),
            ..Scope::default()
        };
        let found = search(&kernel, &[], &scope, ALL, &Budget { steps: 10_000_000 });
        let names = found.conflicts.iter().map(|conflict| {
            let [one, other] = conflict.sites;
            let level = if conflict.level == Level::Grid { Level::Grid } else { Level::Block };
            (one.min(other), one.max(other), level)
        });
        prop_assert_eq!(names.collect::<BTreeSet<_>>(), conflicts_by_definition(&kernel, &exact, &watched.met), "{}", text::print(&kernel));
        prop_assert_eq!(found.runs, 1);
        prop_assert!(!found.decided || !outcome.inexact);
    }

    /// Every witness replays, and its threads are two.
    #[test]
    fn witnesses_replay(kernel in kernels()) {
        let found = search(&kernel, &[], &Scope::default(), ALL, &Budget { steps: 100_000 });
        for conflict in &found.conflicts {
            let [one, other] = &conflict.witness.threads;
            prop_assert!((one.block, one.thread) != (other.block, other.thread));
            prop_assert!(replay(&kernel, &conflict.witness, conflict.sites), "{conflict:?} in\n{}", text::print(&kernel));
        }
    }

    /// Equal inputs, equal outcomes; and asking for some pairs gives what the search for all gives of them,
    /// unless it gave them up.
    #[test]
    fn searches_are_deterministic_and_open_pairs_restrict(kernel in kernels()) {
        let budget = Budget { steps: 60_000 };
        let all = search(&kernel, &[], &Scope::default(), ALL, &budget);
        let again = search(&kernel, &[], &Scope::default(), ALL, &budget);
        prop_assert_eq!(format!("{all:?}"), format!("{again:?}"));
        let Some(first) = all.conflicts.first() else { return Ok(()) };
        let open = [(first.sites[0], first.sites[1])];
        let some = search(&kernel, &open, &Scope::default(), ALL, &budget);
        let asked = |sites: [SiteId; 2]| sites == first.sites || sites == [first.sites[1], first.sites[0]];
        prop_assert!(some.conflicts.iter().all(|conflict| asked(conflict.sites)));
        // After so many runs a search gives up pairs of which an access was never exact, unless something else is asked
        // for, too: then it goes on and may find more.
        let gave_up = (32..all.runs).contains(&some.runs);
        let is_grid = |level| level == Level::Grid;
        let found = some.conflicts.iter().find(|conflict| is_grid(conflict.level) == is_grid(first.level));
        let is_same = found.is_some_and(|found| found.witness == first.witness);
        prop_assert!(gave_up || is_same, "{first:?}\n{found:?}\n{}", text::print(&kernel));
    }
}
