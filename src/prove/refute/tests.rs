//! What a search finds, and what it must not say.

use super::{Budget, Levels, Outcome, replay, search};
use crate::calculus::{SiteId, text};
use crate::memory_model::Level;
use crate::prove::Scope;

const ALL: Levels = Levels { block: true, grid: true };

fn refute_in(source: &str, scope: &Scope) -> Outcome {
    let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(crate::calculus::validate::validate(&kernel), []);
    let outcome = search(&kernel, &[], scope, ALL, &Budget::default());
    for conflict in &outcome.conflicts {
        assert!(replay(&kernel, &conflict.witness, conflict.sites), "{conflict:?}");
        let mut elsewhere = conflict.witness.clone();
        elsewhere.byte_offset += 1 << 20;
        assert!(!replay(&kernel, &elsewhere, conflict.sites));
    }
    outcome
}

fn refute(source: &str) -> Outcome {
    refute_in(source, &Scope::default())
}

/// `first-second level` and marks, for each conflict.
fn summary(outcome: &Outcome) -> Vec<String> {
    let text = |conflict: &crate::prove::Conflict| {
        let marks = [
            (conflict.after_earlier, " later"),
            (conflict.same_value, " same"),
            (conflict.warp_synchronous, " lockstep"),
        ];
        let marks: String = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
        format!("{}-{} {:?}{marks}", conflict.sites[0].index(), conflict.sites[1].index(), conflict.level)
    };
    outcome.conflicts.iter().map(text).collect()
}

#[test]
fn a_shifted_read_races_with_a_write() {
    let outcome = refute(
        "kernel k() { shared s: element 4 var t: i64 var v: opaque4
          let t = convert<i64>(tid.x) * 4
          write s[t; 4] @0
          let v = read s[t + 4; 4] @1 }",
    );
    assert_eq!(summary(&outcome), ["0-1 Block"]);
    let witness = &outcome.conflicts[0].witness;
    assert_eq!((witness.geometry.block, witness.geometry.grid), ([2, 1, 1], [1, 1, 1]));
    assert_eq!(witness.threads.clone().map(|thread| thread.thread), [[1, 0, 0], [0, 0, 0]]);
    assert_eq!(witness.byte_offset, 4);
    assert_eq!(witness.threads[0].locals, [("t".to_owned(), 4)]);
    assert!(!outcome.decided);
}

#[test]
fn a_barrier_between_ends_it() {
    let outcome = refute(
        "kernel k() { shared s: element 4 var t: i64 var v: opaque4
          let t = convert<i64>(tid.x) * 4
          write s[t; 4] @0
          sync block shared @2
          let v = read s[t + 4; 4] @1 }",
    );
    assert_eq!(summary(&outcome), Vec::<String>::new());
    assert!(outcome.runs > 10);
}

#[test]
fn parameters_are_searched_and_named() {
    // Only a pitch smaller than the width lets rows overlap.
    let outcome = refute(
        "kernel k(width: i32, pitch: i32) { global y: element 4
          assume width > 2
          if convert<i32>(tid.x) < width {
            write y[convert<i64>(convert<i32>(bid.x) * pitch + convert<i32>(tid.x)) * 4; 4] @0
          } }",
    );
    assert_eq!(summary(&outcome), ["0-0 Grid"]);
    let witness = &outcome.conflicts[0].witness;
    assert_eq!(witness.geometry.grid, [2, 1, 1]);
    assert_eq!(witness.params.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["width", "pitch"]);
    assert!(witness.params[0].1 > 2);
}

#[test]
fn a_race_that_lock_step_hides_is_named() {
    // Within a warp neighbours race; between warps a barrier stands.
    let source = "kernel k() { shared s: element 4 var t: i64 var v: opaque4
          let t = convert<i64>(tid.x) * 4
          if tid.x < 32u32 {
            let v = read s[t + 4; 4] @0
            write s[t; 4] := v @1
          } }";
    let launch = Scope { block: [Some(96), Some(1), Some(1)], grid: [Some(1); 3], ..Scope::default() };
    assert_eq!(summary(&refute_in(source, &launch)), ["1-0 Warp lockstep"]);
    // Of launches that were not run nothing is said.
    assert_eq!(summary(&refute(source)), ["1-0 Block"]);
    // Without the guard, thread 31 reads what thread 32 writes.
    let across = source.replace("tid.x < 32u32", "true");
    assert_eq!(summary(&refute(&across)), ["1-0 Block"]);
    // A warp sync orders the warp.
    let ordered = source.replace("write s", "sync warp shared global @2 write s");
    assert_eq!(summary(&refute(&ordered)), Vec::<String>::new());
}

#[test]
fn same_values_are_told_from_equal_looking_ones() {
    let source = "kernel k(n: i32) { shared s: element 4 var t: i32
      let t = convert<i32>(tid.x)
      write s[0; 4] := n + 1 @0
      sync block shared @1
      write s[4; 4] := t @2 }";
    assert_eq!(summary(&refute(source)), ["0-0 Block same", "2-2 Block later"]);
}

#[test]
fn atomics_exempt_each_other_only() {
    let source = "kernel k() { global y: element 4 var v: u32
      let v = atomic add y[0; 4](1u32) relaxed grid @0
      if tid.x == 0u32 { let v = read y[bid.x == 99u32 ? 4 : 0; 4] @1 } }"
        .replace("y[bid.x == 99u32 ? 4 : 0; 4]", "y[(bid.x == 99u32 ? 4i64 : 0i64); 4]");
    assert_eq!(summary(&refute(&source)), ["0-1 Block", "0-1 Grid"]);
    let narrow = source.replace("relaxed grid", "relaxed block").replace("tid.x == 0u32", "false");
    assert_eq!(summary(&refute(&narrow)), ["0-0 Grid"]);
}

#[test]
fn an_earlier_finding_makes_later_ones_depend_on_it() {
    let source = "kernel k(n: i32) { shared s: element 4 var t: i64 var v: opaque4
      let t = convert<i64>(tid.x) * 4
      if convert<i32>(tid.x) < n { sync block shared @0 }
      sync block shared @3
      write s[t; 4] @1
      let v = read s[t + 4; 4] @2 }";
    let outcome = refute(source);
    // Some launches reach the race without divergence.
    assert_eq!(summary(&outcome), ["1-2 Block"]);
    assert_eq!(outcome.divergences.len(), 1);
    assert_eq!(outcome.divergences[0].sync, SiteId::from_index(0));
    let stuck = source.replace("< n", "< 1");
    assert_eq!(summary(&refute(&stuck)), Vec::<String>::new());
}

#[test]
fn a_fixed_scope_is_decided() {
    let source = "kernel k(n: i32) { global y: element 4 var i: i32
      let i = convert<i32>(bid.x * bdim.x + tid.x)
      if i < n { write y[convert<i64>(i) * 4; 4] @0 } }";
    let one = Some(1);
    let params = vec![Some(2000)];
    let scope = Scope { block: [Some(1024), one, one], grid: [Some(2), one, one], params, ..Scope::default() };
    let outcome = refute_in(source, &scope);
    assert!(outcome.decided && outcome.conflicts.is_empty());
    assert_eq!(outcome.runs, 1);
    // Extents that the kernel does not mention and the scope leaves open are not searched, and not decided.
    let narrowed = Scope { block: [Some(1024), None, one], ..scope.clone() };
    assert!(!refute_in(source, &narrowed).decided);
    let open = Scope { params: vec![None], ..scope };
    assert!(!refute_in(source, &open).decided);
    let unknown = source.replace("write y[convert", "let i = read y[0; 4] @1 write y[convert");
    assert!(!refute_in(&unknown, &Scope { params: vec![Some(2000)], ..open }).decided);
}

#[test]
fn inexact_accesses_are_never_reported() {
    let outcome = refute(
        "kernel k() { global y: element 4 var v: i32
          let v = read y[convert<i64>(tid.x) * 4; 4] @0
          if v > 0 { write y[400; 4] @1 }
          write y[convert<i64>(v); 4] @2 }",
    );
    assert_eq!(summary(&outcome), Vec::<String>::new());
}

#[test]
fn bounds_and_claims_are_reported_with_their_launch() {
    let outcome = refute(
        "kernel k(n: i32) { shared s: element 4, size 32 var i: i32
          let i = convert<i32>(tid.x)
          write s[convert<i64>(i) * 4; 4] @0
          assert n < 100 || i > 3 @1 }",
    );
    assert_eq!(outcome.out_of_bounds[0].incident.geometry.block, [16, 1, 1]);
    assert_eq!(outcome.out_of_bounds[0].byte_offset, 32);
    assert_eq!(outcome.failed_assertions[0].incident.thread.locals, [("i".to_owned(), 0)]);
    assert_eq!(outcome.conflicts.len(), 0);
}

#[test]
fn two_and_three_dimensions_are_enumerated() {
    let flat = "kernel k() { shared s: element 4
      write s[convert<i64>(tid.x + tid.y) * 4; 4] @0 }";
    let outcome = refute(flat);
    assert_eq!(summary(&outcome), ["0-0 Block"]);
    assert_eq!(outcome.conflicts[0].witness.geometry.block, [2, 2, 1]);
    let solid = flat.replace("tid.x + tid.y", "tid.x + bdim.x * tid.y + tid.z * 4u32");
    assert_eq!(summary(&refute(&solid)), ["0-0 Block"]);
}

#[test]
fn only_open_pairs_are_looked_for() {
    let source = "kernel k() { shared s: element 4 write s[0; 4] @0 write s[4; 4] @1 assume tid.x >= 0u32 }";
    let kernel = text::parse(source).unwrap();
    let site = SiteId::from_index(1);
    let outcome = search(&kernel, &[(site, site)], &Scope::default(), ALL, &Budget::default());
    assert_eq!(summary(&outcome), ["1-1 Block"]);
    assert_eq!(outcome.conflicts[0].level, Level::Block);
}

#[test]
fn a_search_for_one_pair_also_prefers_launches_in_earnest() {
    // With n = 0 it conflicts as well, and that launch is tried soon.
    let source = "kernel k(n: i32, m: i32) { shared s: element 4
        if n < m { write s[convert<i64>(convert<i32>(tid.x) / 2) * 4; 4] @0 } }";
    let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let some =
        search(&kernel, &[(SiteId::from_index(0), SiteId::from_index(0))], &Scope::default(), ALL, &Budget::default());
    let all = refute(source);
    assert_eq!(some.conflicts[0].witness, all.conflicts[0].witness);
    assert_eq!(some.conflicts[0].witness.params, [("n".to_owned(), 1), ("m".to_owned(), 2)]);
}

#[test]
fn copies_of_huge_structs_are_compared_at_once() {
    // A struct of 256 MiB, and its last byte read by the neighbour.
    let outcome = refute(
        "kernel k() { global p: element 1 var t: i64 var v: opaque4
          let t = convert<i64>(tid.x) * 268435456
          write p[t; 268435456] @0
          let v = read p[t + 536870911; 1] @1 }",
    );
    assert_eq!(summary(&outcome), ["0-1 Block"]);
    assert_eq!(outcome.conflicts[0].witness.byte_offset, 536_870_911);
}

#[test]
fn runs_with_accesses_that_no_address_admits_show_nothing() {
    let source =
        |align: &str| format!("kernel k() {{ global p: element 4 write p[convert<i64>(tid.x) * 4; 16{align}] @0 }}");
    let levels = Levels { block: true, grid: false };
    let is_proved = |align: &str| {
        let kernel = text::parse(&source(align)).unwrap_or_else(|error| panic!("{error}"));
        let outcome = search(&kernel, &[], &Scope::default(), levels, &Budget::default());
        let found = &outcome.conflicts[0];
        assert_eq!(found.misaligned, found.after_earlier);
        assert_eq!(replay(&kernel, &found.witness, found.sites), !found.misaligned);
        !found.misaligned
    };
    assert_eq!(["", " align 4", " align 16"].map(is_proved), [true, true, false]);
}
