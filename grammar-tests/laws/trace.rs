//! A run of the executable semantics, written as a log: its check finds the conflicts of the definition.

use super::generate::kernels;
use super::refute::conflicts_by_definition;
use crate::support::draw::proptest;
use crate::support::tier::tiers;
use proptest::prelude::*;
use raceproof::calculus::eval::{Blocks, Contents, Event, History, Kind, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel, SiteId, Space, SyncScope, text};
use raceproof::memory_model::Level;
use raceproof::memory_model::met::Met;
use raceproof::trace::check::{Options, check};
use raceproof::trace::format::write::{Segment, Writer, shape};
use raceproof::trace::format::{self, Allocation, Epochs, Launch};
use std::collections::BTreeSet;

/// Offsets may be negative in the calculus, and are not in a log.
const BIAS: i64 = 1 << 20;

fn kind(event: &Event) -> format::Kind {
    match event.kind {
        Kind::Read => format::Kind::Read,
        Kind::Write => format::Kind::Write,
        Kind::Atomic { scope: SyncScope::System, .. } => format::Kind::AtomicSystem,
        Kind::Atomic { scope: SyncScope::Grid, .. } => format::Kind::AtomicDevice,
        Kind::Atomic { .. } => format::Kind::AtomicBlock,
    }
}

fn segment(event: &Event) -> Segment {
    let stamp = event.stamp;
    let offset = (event.offset.expect("an exact access has an offset") + BIAS) as u64;
    Segment {
        thread: event.thread.thread,
        epochs: Epochs { grid: stamp.grid, block: stamp.block, tile: [stamp.warp; 5], shared_only: 0, synchronised: 0 },
        accesses: vec![(
            shape(event.site.index() as u32, kind(event), event.array.index() as u32, event.bytes),
            offset,
        )],
    }
}

fn log(kernel: &Kernel, geometry: Geometry, events: &[Event]) -> Vec<u8> {
    let mut writer = Writer::new();
    for (_, array) in kernel.arrays.iter() {
        let space = match array.space {
            Space::Distributed | Space::Shared => format::Space::Shared,
            Space::Constant => format::Space::Constant,
            Space::Global | Space::Image | Space::Private => format::Space::Global,
        };
        writer.allocation(&Allocation { base: 0, bytes: 2 * BIAS as u64, space, name: array.name.clone() });
    }
    let launch = writer.launch(&Launch {
        kernel: "k".into(),
        grid: geometry.grid,
        block: geometry.block,
        dynamic_shared: 0,
        arguments: Vec::new(),
        finished: None,
    });
    for block in 0..geometry.blocks() {
        let segments: Vec<Segment> =
            events.iter().filter(|event| u64::from(event.thread.block) == block).map(segment).collect();
        let (first, second) = segments.split_at(segments.len() / 2);
        writer.block(launch, block, &[first, second]);
    }
    writer.finished(launch);
    writer.close(0)
}

fn checked(kernel: &Kernel, bytes: &[u8]) -> BTreeSet<(SiteId, SiteId, Level)> {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    std::fs::write(file.path(), bytes).expect("a file can be written");
    let outcome = check(file.path(), &Options { jobs: Some(1), ..Options::default() }).expect("the log can be checked");
    assert_eq!(outcome.log.problems, []);
    let sites: Vec<SiteId> = kernel.sites.handles().collect();
    let named = outcome.conflicts.iter().map(|conflict| {
        let [one, other] = conflict.sites.map(|site| sites[site as usize]);
        (one, other, if conflict.level == Level::Grid { Level::Grid } else { Level::Block })
    });
    named.collect()
}

proptest! {
    #![proptest_config(proptest(tiers(30, 150, 3_000)))]

    #[test]
    fn a_logged_run_has_the_conflicts_of_the_definition(
        kernel in kernels(), threads in prop::sample::select(vec![1u32, 2, 3, 5, 34]), n in -1i128..6, m in 0i128..4
    ) {
        let geometry = Geometry { block: [threads, 1, 1], grid: [2, 1, 1] };
        let params = [Some(n), Some(m)];
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents: Contents::Seeded(7), budget: 1_000_000 };
        let mut history = History::default();
        let outcome = run(&Program::new(&kernel), &setup, &mut history);
        prop_assume!(outcome.finished);
        let events: Vec<Event> = history.accesses.iter().map(|seen| seen.event).filter(|event| event.exact).collect();
        let found = checked(&kernel, &log(&kernel, geometry, &events));
        prop_assert_eq!(found, conflicts_by_definition(&kernel, &events, &Met::default()), "{}", text::print(&kernel));
    }
}
