//! The round trip, and what the text looks like.

use super::{parse, print};
use crate::arena::SideTable;
use crate::calculus::text::parse as kernel;
use crate::protocol::Protocol;
use crate::protocol::infer::{finish, infer};

/// Everything that a protocol says but spans, with expressions numbered in one way.
fn content(protocol: &Protocol) -> String {
    let mut protocol = finish::compact(protocol);
    protocol.spans = SideTable::new();
    for id in protocol.arrays.handles().collect::<Vec<_>>() {
        protocol.arrays[id].span = None;
    }
    let exprs: Vec<_> = protocol.exprs.iter().map(|(_, node)| node.clone()).collect();
    let Protocol { name, params, arrays, sites, vars, roles, accesses, syncs, loops, opaques, .. } = &protocol;
    let Protocol { body, facts, claims, geometry, unsupported, .. } = &protocol;
    format!(
        "{name}\n{params:?}\n{arrays:?}\n{sites:?}\n{vars:?}\n{roles:?}\n{exprs:?}\n{accesses:?}\n{syncs:?}\n{loops:?}
{opaques:?}\n{body:?}\n{facts:?}\n{claims:?}\n{geometry:?}\n{unsupported:?}"
    )
}

fn round_trip(text: &str) -> String {
    let protocol = infer(&kernel(text).unwrap_or_else(|error| panic!("{error}")));
    let text = print(&protocol);
    let again = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(content(&again), content(&protocol), "{text}");
    assert_eq!(print(&again), text);
    text
}

#[test]
fn a_reduction_reads_well() {
    let text = round_trip(
        "kernel reduce(n: u32) [block 8 1 1] { shared s: element 4 global param a: element 4
           var i: u32 var x: i32 var done: bool returned done
           let done = tid.x >= n
           if !done { let x = read a[convert<i64>(tid.x) * 4; 4] @0 }
           for i = bdim.x while i > 0 step >> 1 @1 {
             if tid.x < i { write s[4 * convert<i64>(x); 4] := 1 @2 } else { let x = read s[0; 4] @3 }
             sync block shared @4
           } assume n < 7 }",
    );
    assert_eq!(
        text,
        r#"protocol reduce(n: u32) [block 8 1 1] {
  shared s: element 4
  global param a: element 4
  var x: i32
  var x#2: i32
  var k: i64
  var i: u32
  var x#3: i32
  var x#4: i32
  where x is havoc uninitialized
  where x#2 is read a[convert<i64>(tid.x) * 4; 4] @0 stable constant
  where x#3 is loop @1 "x" from ((tid.x < n ? x#2 : x), (tid.x < i ? x#3 : x#4)) in @1
  where x#4 is read s[0; 4] @3 in @1
  if tid.x < n when (tid.x < n not returned) {
    rd a[convert<i64>(tid.x) * 4; 4] @0 exact
  }
  for k @1 while i > 0 carry i = bdim.x moves i >> 1 exact {
    if tid.x < i {
      wr s[4 * convert<i64>(x#3); 4] := 1 @2 approximate: data-dependent index (a), data-dependent index (s)
    } else {
      rd s[0; 4] @3 exact
    }
    sync block shared @4 exact
  }
  assume n < 7 after 3 1 0
}
"#
    );
}

#[test]
fn everything_reads_back() {
    round_trip(
        "kernel k(n: i32, `if`: bool) { global a: element 4, size 64, inner [4] shared s: element 1
           var x: i32 var y: i32 var p: i32 var q: i32 var b: bool var r: bool returned r
           unsupported \"asm\" touches a
           let r = false let p = 0 let b = true
           havoc x call \"clock\"
           let y = atomic add a[0; 4](1) relaxed grid @0
           loop while b && !r @1 {
             let x = read s[convert<i64>(x); 1] @2
             if x < n || `if` { sync block shared global @3 } else { sync warp shared @4 if y > 2 { let r = true } }
             if !r { write a[4 * convert<i64>(p + convert<i32>(h(x):u8)); 4] @5 }
             let p = 1 - p let b = x != y
             for q = 1 while q < n step << 1 @6 { write s[convert<i64>(q); 1] := q @7 atomic min a[4; 4](1) acquire block @8 }
           }
           if !r { if x == 1 { write a[8; 4] @9 } else { assert y < 3 @13 } }
           loop @10 { let y = y + n write a[convert<i64>(y); 1] @11 } while y < 40
           if p == 3 { if q == 4 { write a[0; 4] @12 } } }",
    );
}

#[test]
fn errors_say_where() {
    let cases = [
        ("kernel k() {}", "1:1: expected `protocol`"),
        ("protocol k() { rd a[0; 4] @0 exact }", "1:19: no array `a` is declared"),
        ("protocol k() { sync block @0 perhaps }", "1:30: expected `approximate`"),
        ("protocol k() { sync block @0 approximate: sad }", "1:43: expected a reason"),
        ("protocol k() { assume true in @7 }", "1:34: no loop stands at @7"),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).map(|_| ()).expect_err(text).to_string(), message);
    }
    let deep = format!("protocol k() {{ {}", "if true { ".repeat(100_000));
    assert!(parse(&deep).map(|_| ()).expect_err("deep").message.contains("nested more than"));
}

#[test]
fn barriers_say_for_whom_they_are() {
    let text = round_trip(
        "kernel k(n: u32) { shared s: element 4
           sync block shared global counted @0
           sync block shared global named tid.x < n @1
           sync warp shared global tiles 8 @2
           sync warp shared global step 32 @3 }",
    );
    for sync in ["shared global counted @0", "named tid.x < n @1", "tiles 8 @2", "step 32 @3"] {
        assert!(text.contains(sync), "{sync}: {text}");
    }
}
