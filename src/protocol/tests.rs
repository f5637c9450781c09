//! What varies, what is stable, and which inputs matter, on kernels in the calculus's text.

use super::infer::infer;
use super::uniform::Uniformity;
use super::{Origin, Protocol};
use crate::calculus::Space;
use crate::calculus::text::parse;
use crate::memory_model::Level;

fn protocol(text: &str) -> Protocol {
    infer(&parse(text).unwrap_or_else(|error| panic!("{error}")))
}

/// Which loops are uniform for the threads of a block.
fn uniform_loops(protocol: &Protocol) -> Vec<bool> {
    let uniformity = Uniformity::of(protocol, Level::Block);
    protocol.loops.handles().map(|id| uniformity.holds_for_loop(id)).collect()
}

/// `(stable, constant)` of every read that something depends on.
fn reads(protocol: &Protocol) -> Vec<(bool, bool)> {
    let marks = protocol.opaques.iter().map(|(_, opaque)| match opaque.origin {
        Origin::Read { stable, constant, .. } => Some((stable, constant)),
        _ => None,
    });
    marks.flatten().collect()
}

#[test]
fn a_loop_over_a_uniform_bound_is_uniform_and_one_from_the_thread_is_not() {
    let protocol = protocol(
        "kernel k(n: i32) { global a: element 4 var i: i32
           for i = 0 while i < n step + 1 @0 { write a[0; 4] @1 }
           for i = convert<i32>(tid.x) while i < n step + 1 @2 { write a[0; 4] @3 }
           for i = convert<i32>(bid.x) while i < n step + 1 @4 { write a[0; 4] @5 } }",
    );
    assert_eq!(uniform_loops(&protocol), [true, false, true]);
    let uniformity = Uniformity::of(&protocol, Level::Grid);
    let across: Vec<_> = protocol.loops.handles().map(|id| uniformity.holds_for_loop(id)).collect();
    assert_eq!(across, [true, false, false]);
}

/// `do { s = 0; sync; if (…) s = 1; sync; go = s; sync; } while (go);`
#[test]
fn a_shared_flag_between_barriers_keeps_a_loop_uniform() {
    let kernel = |last: &str| {
        format!(
            "kernel k(n: i32) {{ shared s: element 4 var go: i32 var b: bool
               let b = true
               loop while b @0 {{
                 write s[0; 4] := 0 @1
                 sync block shared global @2
                 if convert<i32>(tid.x) < n {{ write s[0; 4] := 1 @3 }}
                 sync block shared global @4
                 let go = read s[0; 4] @5
                 let b = go != 0
                 {last} }} }}"
        )
    };
    let safe = protocol(&kernel("sync block shared global @6"));
    assert_eq!(reads(&safe), [(true, false)]);
    assert_eq!(uniform_loops(&safe), [true]);
    // Without the last sync the reset of the next turn meets the read.
    let racy = protocol(&kernel("let go = 0"));
    assert_eq!(reads(&racy), [(false, false)]);
    assert_eq!(uniform_loops(&racy), [false]);
}

#[test]
fn the_turns_of_a_uniform_loop_are_uniform() {
    let protocol = protocol(
        "kernel k(n: i32) { global a: element 4 var i: i32 var j: i32
           let i = 0 loop while i * i < n @0 { let i = i + 3 }
           write a[convert<i64>(i); 4] @1
           let j = 0 loop while j * j < convert<i32>(tid.x + bid.x) @2 { let j = j + 3 }
           write a[convert<i64>(j); 4] @3
           let j = 0 loop while j * j < convert<i32>(bid.x) @4 { let j = j + 3 }
           write a[convert<i64>(j); 4] @5 }",
    );
    let uniform: Vec<_> = protocol.opaques.iter().map(|(_, opaque)| opaque.uniform).collect();
    assert_eq!(uniform, [Some(Level::Grid), None, Some(Level::Block)]);
}

#[test]
fn an_array_that_is_never_written_is_constant() {
    let protocol = protocol(
        "kernel k() { global a: element 4 global b: element 4 private p: element 4 var n: i32 var m: i32 var q: i32
           let n = read a[0; 4] @0 let m = read b[0; 4] @1 let q = read p[0; 4] @2
           write b[convert<i64>(n + m + q); 4] @3 }",
    );
    assert_eq!(reads(&protocol), [(true, true), (false, false), (false, false)]);
}

#[test]
fn a_sync_in_a_loop_that_varies_orders_nothing() {
    let protocol = protocol(
        "kernel k(n: i32) { shared s: element 4 var i: i32
           for i = convert<i32>(tid.x) while i < n step + 1 @0 { sync block shared global @1 }
           for i = 0 while i < n step + 1 @2 { sync block shared global @3 }
           sync warp shared global @4 sync block global @5 }",
    );
    let sites = |level, space| -> Vec<usize> {
        let uniformity = Uniformity::of(&protocol, level);
        uniformity.ordering_syncs(&protocol, space).iter().map(|site| site.index()).collect()
    };
    assert_eq!(sites(Level::Block, Space::Shared), [3]);
    assert_eq!(sites(Level::Warp, Space::Shared), [3, 4]);
    assert_eq!(sites(Level::Block, Space::Global), [3, 5]);
    assert_eq!(sites(Level::Grid, Space::Global), [0; 0]);
}
