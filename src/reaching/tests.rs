//! Small kernels, and the ways that are possible in them.

use super::reaching;
use crate::calculus::text::parse;
use crate::memory_model::ways::Way::{self, BetweenBlocks, HandedOver, Own, OwnAcrossBarrier};
use crate::protocol::infer::infer;

/// Pairs by the numbers of their sites, and the sites that leave and that enter.
type Found = (Vec<(usize, usize, Way)>, Vec<usize>, Vec<usize>);

fn found(body: &str) -> Found {
    found_for([None; 3], body)
}

fn found_for(block: [Option<u32>; 3], body: &str) -> Found {
    let text = format!(
        "kernel k(n: i32) {{\n  global param a: element 4\n  shared s: element 4, size 256\n  var t: i32\n  var g: i32\n  \
         var v: i32\n  var k: i32\n  let t = convert<i32>(tid.x)\n  let g = convert<i32>(bid.x * 64 + tid.x)\n{body}\n}}\n"
    );
    let kernel = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let protocol = infer(&kernel);
    let reaching = reaching(&kernel, &protocol, block);
    assert!(!reaching.is_cut);
    let site = |id| protocol.accesses[id].site.index();
    let pairs = reaching.pairs.iter().map(|&(store, load, way)| (site(store), site(load), way));
    let sites = |ids: &[_]| ids.iter().map(|&id| site(id)).collect();
    (pairs.collect(), sites(&reaching.leaving), sites(&reaching.entering))
}

fn pairs(body: &str) -> Vec<(usize, usize, Way)> {
    found(body).0
}

#[test]
fn what_a_barrier_stands_between_is_handed_over_and_nothing_else_is() {
    let with = "write s[convert<i64>(t) * 4; 4] := 0 @0\nsync block shared global @1\nlet v = read s[convert<i64>(62 - t) * 4; 4] @2";
    assert_eq!(pairs(with), [(0, 2, OwnAcrossBarrier), (0, 2, HandedOver)]);
    // Without one there is no way to another thread, and with one that may be skipped there are all.
    let without = "write s[convert<i64>(t) * 4; 4] := 0 @0\nlet v = read s[convert<i64>(62 - t) * 4; 4] @1";
    assert_eq!(pairs(without), [(0, 1, Own)]);
    let perhaps = "write s[convert<i64>(t) * 4; 4] := 0 @0\nif n > 0 {\nsync block shared global @1\n}\n\
                   let v = read s[convert<i64>(62 - t) * 4; 4] @2";
    assert_eq!(pairs(perhaps), [(0, 2, Own), (0, 2, OwnAcrossBarrier), (0, 2, HandedOver)]);
    // One of a warp is none for the interval, and hands over all the same.
    let warp = "write s[convert<i64>(t) * 4; 4] := 0 @0\nsync warp shared global @1\nlet v = read s[convert<i64>(62 - t) * 4; 4] @2";
    assert_eq!(pairs(warp), [(0, 2, Own), (0, 2, HandedOver)]);
    // What orders shared memory alone is none for global memory.
    let shared =
        "write a[convert<i64>(t) * 4; 4] := 0 @0\nsync block shared @1\nlet v = read a[convert<i64>(62 - t) * 4; 4] @2";
    assert_eq!(pairs(shared), [(0, 2, Own)]);
}

#[test]
fn addresses_that_are_never_the_same_make_no_pair() {
    // Each thread has its own element.
    let own = "write s[convert<i64>(t) * 4; 4] := 0 @0\nsync block shared global @1\nlet v = read s[convert<i64>(t) * 4; 4] @2";
    assert_eq!(pairs(own), [(0, 2, OwnAcrossBarrier)]);
    let next = "write s[convert<i64>(t) * 4; 4] := 0 @0\nsync block shared global @1\nlet v = read s[convert<i64>(t + 1) * 4; 4] @2";
    assert_eq!(pairs(next), [(0, 2, HandedOver)]);
    // In a later turn the constant may be made up for.
    let turns = "for k = 0 while k < n step + 1 @3 {\nwrite s[convert<i64>(t + k) * 4; 4] := 0 @0\nsync block shared global @1\n\
                 let v = read s[convert<i64>(t + k + 1) * 4; 4] @2\nsync block shared global @4\n}";
    assert!(pairs(turns).contains(&(0, 2, OwnAcrossBarrier)), "{:?}", pairs(turns));
}

#[test]
fn a_store_that_is_always_stored_over_leaves_nothing() {
    let (pairs, leaving, entering) = found(
        "let v = read a[convert<i64>(g) * 4; 4] @0\nwrite a[convert<i64>(g) * 4; 4] := 0 @1\n\
         let v = read a[convert<i64>(g) * 4; 4] @2\nwrite a[convert<i64>(g) * 4; 4] := 1 @3",
    );
    assert_eq!((pairs, leaving, entering), (vec![(1, 2, Own)], vec![3], vec![0]));
    // A branch may leave the second store out.
    let (_, leaving, _) =
        found("write a[convert<i64>(g) * 4; 4] := 0 @0\nif n > 0 {\nwrite a[convert<i64>(g) * 4; 4] := 1 @1\n}");
    assert_eq!(leaving, [0, 1]);
}

#[test]
fn a_sum_in_memory_reads_itself_a_turn_later() {
    let (pairs, leaving, entering) = found(
        "write a[convert<i64>(g) * 4; 4] := 0 @0\nfor k = 0 while k < n step + 1 @1 {\nlet v = read a[convert<i64>(g) * 4; 4] @2\n\
         write a[convert<i64>(g) * 4; 4] := v @3\n}",
    );
    assert_eq!(pairs, [(0, 2, Own), (3, 2, Own)]);
    assert_eq!((leaving, entering), (vec![0, 3], vec![]));
}

#[test]
fn blocks_hand_over_by_atomics_fences_and_barriers_of_the_grid() {
    let atomic = "atomic add a[0; 4](1) relaxed grid @0";
    assert_eq!(pairs(atomic), [(0, 0, HandedOver), (0, 0, BetweenBlocks)]);
    let grid = "write a[convert<i64>(g) * 4; 4] := 0 @0\nsync grid shared global @1\nlet v = read a[0; 4] @2";
    assert_eq!(pairs(grid), [(0, 2, OwnAcrossBarrier), (0, 2, HandedOver), (0, 2, BetweenBlocks)]);
    let block = "write a[convert<i64>(g) * 4; 4] := 0 @0\nsync block shared global @1\nlet v = read a[0; 4] @2";
    assert_eq!(pairs(block), [(0, 2, OwnAcrossBarrier), (0, 2, HandedOver)]);
}

#[test]
fn one_thread_is_not_at_the_place_of_its_mirror_image() {
    // Twice a number is no 63.
    let mirror = "write s[convert<i64>(t) * 4; 4] := 0 @0\nlet v = read s[convert<i64>(63 - t) * 4; 4] @1";
    assert_eq!(pairs(mirror), []);
    let even = "write s[convert<i64>(t) * 4; 4] := 0 @0\nlet v = read s[convert<i64>(62 - t) * 4; 4] @1";
    assert_eq!(pairs(even), [(0, 1, Own)]);
}

#[test]
fn a_loop_that_has_a_turn_for_certain_is_not_skipped() {
    let with = |bound: &str| {
        found(&format!(
            "write a[convert<i64>(g) * 4; 4] := 0 @0\nfor k = 0 while k < {bound} step + 1 @1 {{\n\
             write a[convert<i64>(g) * 4; 4] := 1 @2\n}}"
        ))
        .1
    };
    assert_eq!(with("n"), [0, 2]);
    assert_eq!(with("8"), [2]);
}

#[test]
fn the_size_of_blocks_may_keep_rows_apart() {
    let body = "write s[convert<i64>(t) * 4; 4] := 0 @0\nsync block shared global @1\nlet v = read s[convert<i64>(t + 16) * 4; 4] @2";
    assert_eq!(found_for([Some(32), None, None], body).0, [(0, 2, HandedOver)]);
    assert_eq!(found_for([Some(16), Some(1), Some(1)], body).0, []);
}
