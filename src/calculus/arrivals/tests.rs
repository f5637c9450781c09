//! What objects order, by the turns of two accesses.

use super::{Apart, order};
use crate::calculus::{BinaryOp, ExprId, Exprs, Part, ScalarType, SiteId, text};

/// Two roles with two objects that are filled and two that are empty; `@2` writes, and `@9` reads.
fn two_buffers(writer: &str, reader: &str) -> String {
    format!(
        "kernel k(n: i32) {{ shared s: element 4 shared bar: element 8 var i: i32 var j: i32
  if tid.x < 32 {{
    for i = 0 while i < n step + 1 @0 {{ {writer} }}
  }} else {{
    sync block shared global arrives bar[0] @5
    sync block shared global arrives bar[8] @6
    for j = 0 while j < n step + 1 @7 {{ {reader} }}
  }} }}"
    )
}

const EMPTY: &str = "sync block shared global meets bar[convert<i64>(i % 2) * 8] @1";
const WRITE: &str = "write s[convert<i64>(i % 2) * 4; 4] @2";
const FILLED: &str = "sync block shared global arrives bar[16 + convert<i64>(i % 2) * 8] @3";
const WAIT: &str = "sync block shared global meets bar[16 + convert<i64>(j % 2) * 8] @8";
const READ: &str = "write s[convert<i64>(j % 2) * 4; 4] @9";
const BACK: &str = "sync block shared global arrives bar[convert<i64>(j % 2) * 8] @10";

/// The least and the greatest number of turns that the first access is ahead where the two meet, or why that is not known;
/// and why it is not known that nobody waits for ever.
fn told(source: &str, one: usize, other: usize) -> (Result<[Option<i64>; 2], &'static str>, Option<&'static str>) {
    let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let order = match order(&kernel) {
        Ok(order) => order.expect("there are steps"),
        Err(refusal) => return (Err(refusal.reason), None),
    };
    let apart = order.apart(SiteId::from_index(one), SiteId::from_index(other));
    let bounds = apart.map_or([None; 2], |Apart { least, most, .. }| [least, most]);
    (Ok(bounds), order.completes(&kernel).err().map(|refusal| refusal.reason))
}

#[test]
fn the_writer_is_one_turn_ahead_at_most() {
    let source = two_buffers(&[EMPTY, WRITE, FILLED].join(" "), &[WAIT, READ, BACK].join(" "));
    assert_eq!(told(&source, 2, 9), (Ok([Some(1), Some(1)]), None));
    assert_eq!(told(&source, 9, 2), (Ok([Some(-1), Some(-1)]), None));
    // Threads of one role meet in one turn only: each waits for all others to have come so far.
    assert_eq!(told(&source, 2, 2), (Ok([Some(0), Some(0)]), None));
}

#[test]
fn what_stands_on_the_wrong_side_is_not_ordered() {
    let late = two_buffers(&[EMPTY, FILLED, WRITE].join(" "), &[WAIT, READ, BACK].join(" "));
    assert_eq!(told(&late, 2, 9), (Ok([Some(0), Some(1)]), None));
    let early = two_buffers(&[EMPTY, WRITE, FILLED].join(" "), &[WAIT, BACK, READ].join(" "));
    assert_eq!(told(&early, 2, 9), (Ok([Some(1), Some(2)]), None));
}

#[test]
fn circles_are_found() {
    // The reader gives back before it waits: one buffer more is free.
    let free = two_buffers(&[EMPTY, WRITE, FILLED].join(" "), &[BACK, WAIT, READ].join(" "));
    assert_eq!(told(&free, 2, 9).0, Err("a thread may arrive again before all have arrived"));
    let source = two_buffers(&[EMPTY, WRITE, FILLED].join(" "), &[WAIT, READ, BACK].join(" "));
    let nothing_free = source
        .replace("sync block shared global arrives bar[0] @5", "")
        .replace("sync block shared global arrives bar[8] @6", "");
    assert_eq!(told(&nothing_free, 2, 9).1, Some("threads may wait for each other for ever"));
    let longer = source.replace("j < n", "j < n + 1");
    assert_eq!(told(&longer, 2, 9).1, Some("its loop may run more often than that of the other threads"));
}

#[test]
fn what_has_another_shape_is_refused() {
    let source = two_buffers(&[EMPTY, WRITE, FILLED].join(" "), &[WAIT, READ, BACK].join(" "));
    for (was, is, why) in [
        ("tid.x < 32", "tid.x < 32 && n > 3", "who arrives depends on more than the number of the thread"),
        ("(i % 2) * 8] @1", "(i % 3) * 8] @1", "which of several objects it is has no order that is known"),
        ("(i % 2) * 8] @1", "((i + 1) % 2) * 8] @1", "its threads use the objects in different orders"),
        ("(i % 2) * 8] @1", "(i) * 8] @1", "which of several objects it is is not known"),
        ("(i % 2) * 8] @1", "(i % 2) * 8] of 32 @1", "which of several objects it is has no order that is known"),
        ("step + 1 @0", "step + 2 @0", "its loop does not count up in steps of one"),
        ("else {", "if tid.x < 64 {", "its threads arrive in several loops"),
        ("else {", "if tid.x >= 64 {", "it waits for all threads of the block, and not all of them arrive"),
    ] {
        let changed = source.replacen(was, is, 1).replace("} if", "} if");
        assert_ne!(changed, source);
        assert_eq!(told(&changed, 2, 9).0, Err(why), "{is}");
    }
}

/// All threads fill and empty the two stages of a pipeline, one ahead: `@4` fills, `@8` reads in the loop, and `@12` behind it.
const AHEAD: &str = "kernel k(n: i32) { shared s: element 4 shared bar: element 8 var i: i32
  sync block shared global waits_before bar[16] round 2 @0
  sync block shared global arrives bar[0] round 2 @1
  for i = 0 while i < n step + 1 @2 {
    sync block shared global waits_before bar[16] round 2 @3
    write s[convert<i64>(i) * 4; 4] @4
    sync block shared global arrives bar[0] round 2 @5
    sync block shared global waits bar[0] round 2 @6
    write s[convert<i64>(i) * 4; 4] @8
    sync block shared global arrives bar[16] round 2 @9
  }
  sync block shared global waits bar[0] round 2 @10
  write s[0; 4] @12
  sync block shared global arrives bar[16] round 2 @13 }";

#[test]
fn a_stage_is_filled_while_another_one_is_read() {
    // What is filled in one turn is read in the next one, and filled again in the one after that.
    assert_eq!(told(AHEAD, 4, 8), (Ok([Some(0), Some(0)]), None));
    let early = AHEAD.replace("sync block shared global waits bar[0] round 2 @6", "");
    assert_eq!(told(&early, 4, 8).0, Err("a thread may arrive again before all have arrived"));
}

#[test]
fn what_stands_behind_the_loop_is_behind_all_its_turns() {
    let order = |source: &str| order(&text::parse(source).expect("it can be read")).expect("it is understood");
    let apart = |source: &str, one: usize, other: usize| {
        order(source).expect("there are steps").apart(SiteId::from_index(one), SiteId::from_index(other))
    };
    assert!(apart(AHEAD, 4, 12).is_some_and(|apart| apart.is_empty()));
    assert!(apart(AHEAD, 12, 12).is_none(), "nothing stands between");
    let not_waited = AHEAD.replace("sync block shared global waits bar[0] round 2 @10", "");
    assert!(apart(&not_waited, 4, 12).is_none_or(|apart| !apart.is_empty()), "the last stage may be under way");
}

/// One thread arrives where the others do not, and all wait: `@1` fills, `@4` reads.
const FOR_ALL: &str = "kernel k() { shared s: element 4 shared bar: element 8
  if tid.x == 0 {
    write s[0; 4] @1
    sync block shared global arrives bar[0] of 1 @2
  }
  sync block shared global waits bar[0] of 1 @3
  write s[4; 4] @4 }";

#[test]
fn all_wait_for_what_one_thread_arrives_for() {
    let apart = |source: &str| {
        let order = order(&text::parse(source).expect("it can be read")).expect("it is understood");
        order.expect("there are steps").apart(SiteId::from_index(1), SiteId::from_index(4))
    };
    assert!(apart(FOR_ALL).is_some_and(|apart| apart.is_empty()));
    // Who does not wait is not ordered, whatever the thread does that arrives.
    let alone = FOR_ALL.replace("@2\n  }\n  sync", "@2\n  sync").replace("of 1 @3", "of 1 @3 }");
    assert!(apart(&alone).is_none());
    let late = FOR_ALL.replace("write s[0; 4] @1\n", "").replace("of 1 @2", "of 1 @2 write s[0; 4] @1");
    assert!(apart(&late).is_none());
}

#[test]
fn a_role_of_one_number_has_one_thread_in_blocks_of_one_row() {
    let elsewhere = "kernel k() { shared s: element 4 shared bar: element 8
  if tid.x == 0 { sync block shared global arrives bar[0] @1 } else { sync block shared global arrives bar[0] @2 }
  sync block shared global waits bar[0] @3
  write s[0; 4] @4 }";
    let order = order(&text::parse(elsewhere).expect("it can be read")).expect("it is understood");
    assert!(order.expect("there are steps").needs().line);
}

/// Three objects in turn, with a stage and a phase that are carried from turn to turn.
const CARRIED: &str = "kernel k(n: i32) { shared bar: element 8 var i: i32 var stage: i32 var phase: i32
  let stage = 0
  let phase = 0
  if tid.x < 32 {
    for i = 0 while i < n step + 1 @0 {
      sync block shared global waits bar[convert<i64>(stage) * 8] of 32 @1
      let stage = stage + 1
      if stage == 3 { let stage = 0 let phase = 1 - phase }
    }
  } else {
    if tid.x < 64 {
      for i = 0 while i < n step + 1 @2 {
        sync block shared global meets bar[convert<i64>(i % 3) * 8] of 32 @3
      }
    }
  } }";

/// Whether the wait of `CARRIED` is for the phases of these parities; `None` if they are not known.
fn has_parities(source: &str, parity: impl Fn(&mut Exprs, ExprId, ExprId) -> ExprId) -> Option<bool> {
    let mut kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let [turn, phase] = ["i", "phase"].map(|name| {
        let (var, _) = kernel.vars.iter().find(|(_, var)| var.name == name).expect("it is declared");
        kernel.exprs.var(var, ScalarType::I32)
    });
    let waits = [(SiteId::from_index(1), parity(&mut kernel.exprs, turn, phase))];
    let parts = super::parts(&kernel, &waits).ok()?;
    assert_eq!(parts.len(), 1);
    let found = order(&kernel).expect("it is understood").expect("there are steps");
    Some(parts[0].1 == Part::Waits && found.has_parities(&kernel, &waits).is_ok())
}

#[test]
fn parities_are_those_of_phases() {
    let constant = |value| move |exprs: &mut Exprs, _, _| exprs.int(value, ScalarType::I32);
    let of_turn = |by, bits| {
        move |exprs: &mut Exprs, turn, _| {
            let (by, bits) = (exprs.int(by, ScalarType::I32), exprs.int(bits, ScalarType::I32));
            let round = exprs.binary(BinaryOp::Div, turn, by);
            exprs.binary(BinaryOp::BitAnd, round, bits)
        }
    };
    assert_eq!(has_parities(CARRIED, |_, _, phase| phase), Some(true));
    assert_eq!(has_parities(CARRIED, of_turn(3, 1)), Some(true));
    assert_eq!(has_parities(CARRIED, of_turn(1, 1)), Some(false));
    assert_eq!(has_parities(CARRIED, of_turn(2, 1)), Some(false));
    assert_eq!(has_parities(CARRIED, constant(0)), Some(false));
    // The phase before, of which there is none at first.
    assert_eq!(has_parities(CARRIED, constant(1)), Some(false));
    let in_every_turn = CARRIED.replace("let stage = 0 let phase = 1 - phase", "let stage = 0");
    let in_every_turn = in_every_turn.replace("let stage = stage + 1", "let stage = stage + 1 let phase = 1 - phase");
    assert_eq!(has_parities(&in_every_turn, |_, _, phase| phase), Some(false));
    let by_a_value = CARRIED.replace("1 - phase", "n - phase");
    assert_eq!(has_parities(&by_a_value, |_, _, phase| phase), None);
}

#[test]
fn a_copy_is_ordered_by_what_tells_of_it() {
    // Who fills a stage has seen all give back what they read before, which says nothing of copies that they have begun.
    let plain = told(AHEAD, 4, 4).0;
    let copy = told(&AHEAD.replace("var i: i32", "var i: i32 told @4 by bar[0]"), 4, 4).0;
    assert_eq!(plain, Ok([Some(0), Some(0)]));
    assert_eq!(copy, Ok([Some(-1), Some(1)]));
}
