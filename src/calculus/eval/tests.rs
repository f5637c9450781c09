//! What runs show.

use super::{Blocks, Chosen, Contents, History, Kind, Program, Rest, Run, Setup, run};
use crate::calculus::arithmetic::Trap;
use crate::calculus::{Among, ArrayId, Geometry, SyncScope, text};
use std::collections::BTreeSet;

fn execute(source: &str, block: [u32; 3], grid: [u32; 3], params: &[i128], contents: Contents) -> (Run, History) {
    let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let program = Program::new(&kernel);
    let params: Vec<_> = params.iter().copied().map(Some).collect();
    let geometry = Geometry { block, grid };
    let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 100_000 };
    let mut history = History::default();
    let run = run(&program, &setup, &mut history);
    (run, history)
}

fn unknown(source: &str, threads: u32, params: &[i128]) -> (Run, History) {
    execute(source, [threads, 1, 1], [1, 1, 1], params, Contents::Unknown)
}

/// `site:thread@offset`, with `?` for what is not exact, separated by `|` where the phase changes.
fn summary(history: &History) -> String {
    let mut words = Vec::new();
    for phase in history.phases() {
        let accesses = phase.accesses.iter().map(|recorded| {
            let event = recorded.event;
            let offset = event.offset.map_or("?".to_owned(), |offset| offset.to_string());
            let mark = if event.exact { "" } else { "?" };
            format!("{}:{}@{offset}{mark}", event.site.index(), event.thread.thread)
        });
        words.push(accesses.collect::<Vec<_>>().join(" "));
    }
    words.join(" | ")
}

const REDUCTION: &str = "kernel k() {
  shared s: element 4
  var t: i64  var v: opaque4  var w: opaque4  var step: u32
  let t = convert<i64>(tid.x) * 4
  write s[t; 4] @0
  sync block shared global @1
  for step = bdim.x >> 1 while step > 0 step >> 1 @2 {
    if tid.x < step {
      let v = read s[t; 4] @3
      let w = read s[t + convert<i64>(step) * 4; 4] @4
      write s[t; 4] := v @5
    }
    sync block shared global @6
  }
}";

#[test]
fn phases_end_at_barriers() {
    let (run, history) = unknown(REDUCTION, 4, &[]);
    assert!(run.finished && !run.inexact && run.divergences.is_empty());
    let expected = "0:0@0 0:1@4 0:2@8 0:3@12 | 3:0@0 4:0@8 5:0@0 3:1@4 4:1@12 5:1@4 | 3:0@0 4:0@4 5:0@0";
    assert_eq!(summary(&history), expected);
}

#[test]
fn seeded_contents_remember_writes() {
    // The value written before the barrier comes back after it, and decides the branch.
    let source = "kernel k() {
      shared s: element 4
      var v: i32
      write s[convert<i64>(tid.x) * 4; 4] := convert<i32>(tid.x) + 7 @0
      sync block shared @1
      let v = read s[convert<i64>(bdim.x - 1u32 - tid.x) * 4; 4] @2
      if v == 7 { write s[100; 4] @3 }
    }";
    let (run, history) = execute(source, [3, 1, 1], [1, 1, 1], &[], Contents::Seeded(5));
    assert!(run.finished && !run.inexact);
    assert_eq!(summary(&history), "0:0@0 0:1@4 0:2@8 | 2:0@8 2:1@4 2:2@0 3:2@100");
    let (run, history) = unknown(source, 2, &[]);
    assert!(run.inexact);
    assert_eq!(summary(&history), "0:0@0 0:1@4 | 2:0@4 3:0@100? 2:1@0 3:1@100?");
}

#[test]
fn a_write_in_the_same_phase_is_seen_by_its_own_thread_only() {
    let source = "kernel k() {
      shared s: element 4
      var v: i32
      write s[0; 4] := convert<i32>(tid.x) @0
      let v = read s[0; 4] @1
      assert v == convert<i32>(tid.x) @2
    }";
    let (run, _) = execute(source, [8, 1, 1], [1, 1, 1], &[], Contents::Seeded(1));
    assert_eq!(run.failed_assertions, []);
}

#[test]
fn an_unknown_branch_runs_both_arms_and_merges() {
    let source = "kernel k() {
      global y: element 4
      var v: i32  var a: i64  var b: i64
      let v = read y[0; 4] @0
      let a = 4
      if v > 0 { let a = 8 let b = 16 write y[a; 4] @1 } else { let b = 16 write y[a; 4] @2 }
      write y[b; 4] @3
      write y[a; 4] @4
    }";
    assert_eq!(summary(&unknown(source, 1, &[]).1), "0:0@0 1:0@8? 2:0@4? 3:0@16 4:0@??");
}

#[test]
fn an_unknown_loop_runs_once_and_doubts_what_follows() {
    let source = "kernel k() {
      global y: element 4
      var v: i32  var a: i64
      let a = 0
      loop while v > 0 @0 { write y[a; 4] @1 let a = a + 4 }
      write y[400; 4] @2
    }";
    assert_eq!(summary(&unknown(source, 1, &[]).1), "1:0@?? 2:0@400?");
    let counted = "kernel k() {
      global y: element 4
      var v: i32  var i: i32
      for i = 0 while i < v step + 1 @0 { write y[convert<i64>(i); 4] @1 }
      write y[400; 4] @2
    }";
    assert_eq!(summary(&unknown(counted, 1, &[]).1), "1:0@?? 2:0@400");
}

#[test]
fn a_sync_that_may_not_happen_ends_exactness() {
    let source = "kernel k() {
      global y: element 4
      var v: i32
      let v = read y[0; 4] @0
      if v > 0 { sync block shared global @1 }
      write y[4; 4] @2
    }";
    let (run, history) = unknown(source, 1, &[]);
    assert!(run.inexact && run.divergences.is_empty());
    assert_eq!(summary(&history), "0:0@0 2:0@4?");
}

#[test]
fn divergence_tells_ended_from_waiting_and_returned_from_fallen_off() {
    let at = |source: &str| {
        let (run, _) = unknown(source, 4, &[]);
        let found = run.divergences.iter().map(|seen| {
            (seen.sync.index(), seen.other.map(|site| site.index()), seen.returned, seen.threads.map(|id| id.thread))
        });
        found.collect::<Vec<_>>()
    };
    let skipped = "kernel k() { if tid.x < 2u32 { sync block shared global @0 } }";
    assert_eq!(at(skipped), [(0, None, false, [0, 2])]);
    let returned = "kernel k() { var r: bool returned r
      let r = tid.x == 1u32
      if !r { sync block shared global @0 } }";
    assert_eq!(at(returned), [(0, None, true, [0, 1])]);
    let elsewhere = "kernel k() {
      if tid.x < 2u32 { sync block shared global @0 } else { sync block shared global @1 } }";
    assert_eq!(at(elsewhere), [(0, Some(1), false, [0, 2])]);
    let same_for_all = "kernel k(n: i32) { if n < 2 { sync block shared global @0 } }";
    assert_eq!(unknown(same_for_all, 4, &[1]).0.divergences, []);
}

/// Behind a barrier that counts arrivals nobody certainly is, once a thread has ended; behind `__syncthreads` those are
/// that have not.
#[test]
fn a_thread_that_has_returned_holds_up_a_barrier_that_counts() {
    let source = |among: &str, guard: &str| {
        format!(
            "kernel k() {{
      var r: bool returned r
      shared s: element 4
      let r = {guard}
      if !r {{ sync block shared global {among}@0  write s[convert<i64>(tid.x) * 4; 4] @1 }} }}"
        )
    };
    let behind = |among: &str, guard: &str| {
        let (run, history) = unknown(&source(among, guard), 3, &[]);
        let ends: Vec<_> = run.divergences.iter().map(|seen| (seen.sync.index(), seen.other, seen.returned)).collect();
        (ends, run.inexact, summary(&history))
    };
    let all = "1:0@0 1:1@4 1:2@8";
    for among in ["", "counted "] {
        assert_eq!(behind(among, "tid.x > 2u32"), (vec![], false, all.to_owned()), "{among}");
    }
    assert_eq!(behind("", "tid.x == 1u32"), (vec![(0, None, true)], false, "1:0@0 1:2@8".to_owned()));
    assert_eq!(behind("counted ", "tid.x == 1u32"), (vec![(0, None, true)], true, "1:0@0? 1:2@8?".to_owned()));
    // The two dialects' barriers of all threads are told apart by whoever asks; one that counts is the same in both.
    assert!(Among::Counted.counts_arrivals(SyncScope::Block) && !Among::All.counts_arrivals(SyncScope::Block));
}

#[test]
fn a_sync_orders_the_memory_that_it_names() {
    let source = "kernel k() {
      global y: element 4
      shared s: element 4
      sync block shared @0
      write y[0; 4] @1
      write s[0; 4] @2
      sync warp shared global @3
      write s[0; 4] @4
    }";
    let (_, history) = unknown(source, 1, &[]);
    let stamps: Vec<_> = history.accesses.iter().map(|seen| (seen.event.stamp.warp, seen.event.stamp.block)).collect();
    assert_eq!(stamps, [(0, 0), (1, 1), (2, 1)]);
}

#[test]
fn grid_syncs_wait_for_all_blocks() {
    let source = "kernel k() {
      global y: element 4
      var v: i32
      if tid.x == 0u32 { write y[convert<i64>(bid.x) * 4; 4] := convert<i32>(bid.x) + 1 @0 }
      sync grid shared global @1
      let v = read y[convert<i64>(gdim.x - 1u32 - bid.x) * 4; 4] @2
      assert v == convert<i32>(gdim.x - bid.x) @3
    }";
    let (run, history) = execute(source, [2, 1, 1], [3, 1, 1], &[], Contents::Seeded(3));
    assert!(run.finished);
    assert_eq!((run.failed_assertions, run.divergences), (vec![], vec![]));
    assert!(history.accesses.iter().all(|seen| seen.event.stamp.grid == u32::from(seen.event.kind == Kind::Read)));
    let partly = "kernel k() { if bid.x > 0u32 { sync grid shared global @1 } }";
    let (run, _) = execute(partly, [1, 1, 1], [2, 1, 1], &[], Contents::Unknown);
    assert_eq!(run.divergences.len(), 1);
    assert_eq!(run.divergences[0].threads.map(|id| id.block), [1, 0]);
}

#[test]
fn what_was_chosen_is_known_until_it_is_written() {
    let source = |before: &str| {
        format!(
            "kernel k(n: i32) {{
      global param y: element 4
      global param z: element 4
      var v: i32
      {before}
      let v = read y[convert<i64>(tid.x) * 4; 4] @8
      write z[convert<i64>(v) * 4; 4] @9
    }}"
        )
    };
    let array = ArrayId::from_index(0);
    let chosen = Chosen::pattern(&BTreeSet::from([array]), Rest::Constant(7));
    let places = |before: &str| {
        let kernel = text::parse(&source(before)).unwrap_or_else(|error| panic!("{error}"));
        let setup = Setup {
            geometry: Geometry { block: [3, 1, 1], grid: [1, 1, 1] },
            params: &[None],
            blocks: Blocks::All,
            contents: Contents::Chosen(&chosen),
            budget: 100_000,
        };
        let mut history = History::default();
        assert!(run(&Program::new(&kernel), &setup, &mut history).finished);
        let of_writes = history.accesses.iter().filter(|seen| seen.event.site.index() == 9);
        of_writes.map(|seen| seen.event.offset).collect::<Vec<_>>()
    };
    assert_eq!(places(""), [Some(28); 3]);
    // Another thread has written there, in part, and behind a barrier, too.
    assert_eq!(places("if tid.x == 0u32 { write y[6; 1] @0 } sync block shared global @1"), [Some(28), None, Some(28)]);
    assert_eq!(places("if tid.x == 1u32 { write y[8; 4] @0 }"), [Some(28), Some(28), None]);
    // Nobody knows where, or whether.
    assert_eq!(places("write y[convert<i64>(n) * 4; 4] @0"), [None; 3]);
    assert_eq!(places("if n > 0 { if tid.x == 2u32 { write y[8; 4] @0 } }"), [Some(28), Some(28), None]);
    // An atomic writes.
    assert_eq!(places("atomic add y[4; 4](1) relaxed grid @0"), [Some(28), None, Some(28)]);
}

#[test]
fn in_an_arm_that_may_not_be_taken_what_is_written_is_not_known_as_it_was() {
    let source = "kernel k(n: i32) {
      global param y: element 4
      var v: i32
      loop while n > 0 @0 {
        let v = read y[0; 4] @1
        if v == 7 { write y[4; 4] @2 } else { write y[8; 4] @3 }
        write y[0; 4] @4
      }
    }";
    let chosen = Chosen::pattern(&BTreeSet::from([ArrayId::from_index(0)]), Rest::Constant(7));
    let (_, history) = execute(source, [1, 1, 1], [1, 1, 1], &[], Contents::Chosen(&chosen));
    let sites: Vec<usize> = history.accesses.iter().map(|seen| seen.event.site.index()).collect();
    assert_eq!(sites, [1, 2, 3, 4], "a later turn finds something else");
}

#[test]
fn traps_happen_where_a_statement_uses_them() {
    let source = "kernel k(n: i32) { var a: i32
      let a = (n != 0 ? 8 / n : 1)
      let a = 8 / n
      global_is_not_a_word }"
        .replace("      global_is_not_a_word ", "");
    assert_eq!(unknown(&source, 1, &[2]).0.traps, []);
    let (run, _) = unknown(&source, 1, &[0]);
    assert_eq!(run.traps.iter().map(|trap| trap.trap).collect::<Vec<_>>(), [Trap::DivisionByZero]);
    assert!(run.inexact);
}

#[test]
fn wraps_bounds_assumptions_and_claims_are_noticed() {
    let source = "kernel k(n: u32) {
      shared s: element 4, size 16
      var a: u32
      let a = n - 1
      write s[convert<i64>(a) * 4; 4] @0
      assert n < 3 @1
      assume n < 5
    }";
    let (run, _) = unknown(source, 1, &[0]);
    assert_eq!((run.wrapped.len(), run.out_of_bounds.len()), (1, 1));
    let (run, _) = unknown(source, 1, &[4]);
    assert_eq!((run.wrapped.len(), run.out_of_bounds.len(), run.failed_assertions.len()), (0, 0, 1));
    let (run, _) = unknown(source, 1, &[5]);
    assert!(run.vacuous && !run.finished);
}

#[test]
fn private_arrays_remember_under_unknown_contents() {
    let source = "kernel k() {
      global y: element 4
      private p: element 4
      var a: i32  var v: i32
      write p[4; 4] := 12 @0
      let a = read p[4; 4] @1
      write y[convert<i64>(a); 4] @2
      let v = read y[0; 4] @3
      write p[convert<i64>(v); 4] := 1 @4
      let a = read p[4; 4] @5
      write y[convert<i64>(a); 4] @6
    }";
    assert_eq!(summary(&unknown(source, 1, &[]).1), "2:0@12 3:0@0 6:0@??");
}

#[test]
fn private_objects_remember_fields_of_several_sizes() {
    let source = "kernel k() {
      global y: element 4
      private p: element 8
      var a: i32  var b: i16
      write p[0; 4] := 70000 @0
      write p[4; 2] := -3i16 @1
      write p[6; 2] := 5i16 @2
      let a = read p[0; 4] @3
      write y[0; 4] := a @4
      let b = read p[4; 2] @5
      write y[0; 4] := convert<i32>(b) @6
      let a = read p[4; 4] @7
      write y[0; 4] := a @8
      write p[2; 4] := 1 @9
      let b = read p[6; 2] @10
      write y[0; 4] := convert<i32>(b) @11
      let b = read p[4; 2] @12
      write y[0; 4] := convert<i32>(b) @13
      let a = read p[0; 4] @14
      write y[0; 4] := a @15
    }";
    let stored: Vec<Option<i64>> =
        unknown(source, 1, &[]).1.accesses.iter().map(|recorded| recorded.event.value).collect();
    assert_eq!(stored, [Some(70000), Some(-3), None, Some(5), None, None]);
}

#[test]
fn an_endless_loop_ends_with_the_budget() {
    let (run, _) = unknown("kernel k() { loop while true @0 { } }", 1, &[]);
    assert!(!run.finished && run.steps == 100_000);
}

#[test]
fn a_thread_that_may_never_arrive_leaves_the_others_in_doubt() {
    // Thread 1 ends, unless the unknown loop keeps it; thread 0 waits for nobody or for ever.
    let source = "kernel k() {
      global y: element 4
      var v: i32
      if tid.x == 0u32 { sync block shared global @0 write y[0; 4] @1 } else { loop while v > 0 @2 { } }
    }";
    let (run, history) = unknown(source, 2, &[]);
    assert!(run.inexact);
    assert_eq!(summary(&history), "1:0@0?");
}

#[test]
fn accesses_that_no_address_admits_are_noticed() {
    let source = "kernel k(n: i64) {
      global p: element 4
      sync block shared global @0
      write p[n * 4; 16 align 16] @1
    }";
    let since = |n| unknown(source, 1, &[n]).0.misaligned_since;
    assert_eq!([since(0), since(4), since(-4)], [None; 3]);
    assert_eq!([since(1), since(-2)], [Some(1); 2]);
}
