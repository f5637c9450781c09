//! Contents with which pairs conflict: each replays with exactly what it lists, needs all of it, and is of parameters.

use raceproof::calculus::eval::Program;
use raceproof::calculus::{Kernel, intervals, text, validate};
use raceproof::memory_model::Level;
use raceproof::protocol;
use raceproof::prove::refute::{Levels, free_arrays, replay_with_contents, with_contents};
use raceproof::prove::{DataConflict, Scope, condition};

/// What is found for the pairs of a kernel within blocks, by the sites of each pair.
fn found(source: &str) -> Vec<(Kernel, [raceproof::calculus::SiteId; 2], DataConflict)> {
    let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(validate::validate(&kernel), []);
    let protocol = protocol::infer::infer(&kernel);
    let pairs = condition::pairs(&protocol, &intervals::analyze(&kernel, &|_| true), Level::Block);
    let levels = Levels { block: true, grid: false };
    let program = Program::new(&kernel);
    let search = || with_contents(&kernel, &program, &protocol, &pairs, &Scope::default(), levels);
    assert_eq!(search(), search(), "equal inputs, equal outcomes");
    let sites = |pair: &raceproof::prove::Pair| [pair.first, pair.second].map(|id| protocol.accesses[id].site);
    let each = pairs.iter().zip(search()).filter_map(|(pair, found)| Some((kernel.clone(), sites(pair), found?)));
    each.collect()
}

/// Each replays, and does not once any number is struck off or a listed one is another where that matters.
fn check(source: &str) -> Vec<Vec<i128>> {
    let all = found(source);
    for (kernel, sites, conflict) in &all {
        assert!(replay_with_contents(kernel, conflict, *sites), "{conflict:?}");
        let free = free_arrays(kernel);
        assert!(conflict.contents.iter().all(|held| free.contains(&held.array)), "{conflict:?}");
        for index in 0..conflict.contents.len() {
            let mut fewer = conflict.clone();
            fewer.contents.remove(index);
            assert!(!replay_with_contents(kernel, &fewer, *sites), "{index} is not needed in {conflict:?}");
        }
    }
    all.iter().map(|(_, _, conflict)| conflict.contents.iter().map(|held| held.value).collect()).collect()
}

#[test]
fn an_index_that_was_read_meets_itself() {
    let source = "kernel k() { global param key: element 4 global param bins: element 4 var j: i32 var unread: i32
      let j = read key[convert<i64>(tid.x) * 4; 4] @0
      let unread = read key[convert<i64>(tid.x) * 4 + 400; 4] @1
      write bins[convert<i64>(j) * 4; 4] @2 }";
    assert_eq!(check(source), [vec![0, 0]]);
    let (kernel, sites, conflict) = found(source).remove(0);
    let mut apart = conflict.clone();
    apart.contents[1].value = 1;
    assert!(!replay_with_contents(&kernel, &apart, sites), "two places do not conflict");
    apart.contents[0].value = 1;
    apart.witness.byte_offset = 4;
    assert!(replay_with_contents(&kernel, &apart, sites), "one place does, whichever it is");
}

#[test]
fn a_number_that_no_pattern_has_is_solved_for() {
    let guarded = "kernel k() { global param code: element 4 global param out: element 4 var c: i32
      let c = read code[convert<i64>(tid.x) * 4; 4] @0
      if c == convert<i32>(tid.x) + 1234 { write out[0; 4] @1 } }";
    assert_eq!(check(guarded), [vec![1234, 1235]]);
}

#[test]
fn of_arrays_that_are_written_it_is_chosen_what_they_hold_at_the_launch() {
    let kernel = |before: &str, behind: &str| {
        format!(
            "kernel k() {{ global param key: element 4 global param bins: element 4 var j: i32
      {before}
      let j = read key[convert<i64>(tid.x) * 4; 4] @8
      write bins[convert<i64>(j) * 4; 4] @9
      {behind} }}"
        )
    };
    let own = "write key[convert<i64>(tid.x) * 4; 4] := convert<i32>(tid.x) * 3 @0";
    assert_eq!(check(&kernel("", own)), [vec![0, 0]], "written later");
    assert_eq!(
        check(&kernel("", "write key[convert<i64>(tid.x) * 4 + 4096; 4] @0")),
        [vec![0, 0]],
        "written elsewhere"
    );
    assert_eq!(check(&kernel(own, "")), Vec::<Vec<i128>>::new(), "written before");
    let by_another = "write key[convert<i64>(bdim.x - 1u32 - tid.x) * 4; 4] @0 sync block shared global @1";
    assert_eq!(check(&kernel(by_another, "")), Vec::<Vec<i128>>::new(), "written by another thread");
    // A block that is not run may have written before the barrier.
    assert_eq!(check(&kernel("", &format!("sync grid shared global @1 {own}"))), Vec::<Vec<i128>>::new());
}

#[test]
fn of_variables_of_the_device_it_is_chosen_what_others_fill_them_with() {
    let kernel = |key: &str, behind: &str| {
        format!(
            "kernel k() {{ global key: element 4{key} global param bins: element 4 var j: i32
      let j = read key[convert<i64>(tid.x) * 4; 4] @0
      write bins[convert<i64>(j) * 4; 4] @1
      {behind} }}"
        )
    };
    assert!(check(&kernel("", "")).is_empty(), "it may have an initialiser");
    assert_eq!(check(&kernel(", filled elsewhere", "")), [vec![0, 0]]);
    let own = "write key[convert<i64>(tid.x) * 4; 4] := convert<i32>(tid.x) @2";
    assert!(check(&kernel(", filled elsewhere", own)).is_empty(), "what an earlier launch of it has left");
}

/// What threads put into shared memory follows from what was chosen.
#[test]
fn what_a_block_has_written_is_known_behind_the_barrier() {
    let kernel = |written: &str, barrier: &str, behind: &str| {
        format!(
            "kernel k() {{ global param key: element 4 global param bins: element 4 shared s: element 4
      var j: i32 var v: i32 var i: i32
      let v = read key[convert<i64>(tid.x) * 4; 4] @0
      {written}
      {barrier}
      let j = read s[convert<i64>(tid.x ^ 1) * 4; 4] @8
      {behind}
      write bins[convert<i64>(j) * 4; 4] @9 }}"
        )
    };
    let (own, all) = ("write s[convert<i64>(tid.x) * 4; 4] := v + 5 @1", "sync block shared @2");
    let none = Vec::<Vec<i128>>::new();
    assert_eq!(check(&kernel(own, all, "")), [vec![0, 0]]);
    let each = "for i = convert<i32>(tid.x) while i < 64 step + convert<i32>(bdim.x) @3 {
        let v = read key[convert<i64>(i) * 4; 4] @4
        write s[convert<i64>(i) * 4; 4] := v @1 }";
    assert_eq!(check(&kernel(each, all, "")), [vec![0, 0]], "of many, those that are read");
    assert_eq!(check(&kernel(own, "sync block global @2", "")), none, "not ordered");
    assert_eq!(check(&kernel(own, "sync warp shared @2", "")), none, "of a warp alone");
    let counted = "atomic add s[convert<i64>(tid.x) * 4; 4](1) relaxed block @3";
    assert_eq!(check(&kernel(&format!("{own} {counted}"), all, "")), none, "changed by an atomic");
    let somewhere = "write s[convert<i64>(v * v * v + 9) * 4; 4] @3";
    let unknown = check(&kernel(&format!("{own} if tid.x == 7 {{ {somewhere} }}"), all, ""));
    assert_eq!(unknown.last(), Some(&vec![0, 0]), "by others than are there");
    // The last thread may come before the others.
    let overwritten = "if tid.x == bdim.x - 1u32 { write s[0; 4] := 1 @3 write s[4; 4] := 2 @4 }";
    let meet = |source: &str| found(source).iter().any(|(_, sites, _)| sites.iter().all(|site| site.index() == 9));
    assert!(meet(&kernel(own, all, "")));
    assert!(!meet(&kernel(own, all, overwritten)), "contested");
}

#[test]
fn one_place_holds_one_number() {
    let both = "kernel k() { global param flag: element 4 global param out: element 4 var c: i32
      let c = read flag[0; 4] @0
      if c > 5 && tid.x == 0 { write out[0; 4] @1 }
      if c < 5 && tid.x == 1 { write out[0; 4] @2 } }";
    assert!(check(both).is_empty());
}
