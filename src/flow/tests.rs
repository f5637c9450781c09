//! Flow on kernels in the calculus.

use super::{Decides, Flow, Selection, Source, analyze};
use crate::calculus::text::{parse, parse_with};
use crate::calculus::{Kernel, Nature};

fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn inputs(text: &str) -> (Vec<String>, Option<bool>) {
    let kernel = kernel(text);
    let flow = analyze(&kernel);
    (flow.input_names(&kernel), flow.access_invariant())
}

fn flow(text: &str) -> Flow {
    analyze(&kernel(text))
}

#[test]
fn only_what_reaches_an_access_is_an_input() {
    let found = inputs(
        "kernel k(rows: i32, height: i32, cols: i32, go: bool) {
           global a: element 4 global b: element 4 var i: i32 var v: i32 var w: i32
           let w = read b[convert<i64>(cols); 4] @0
           for i = 0 while i < rows step + 1 @1 { let v = read a[convert<i64>(i); 4] @2 let w = w + 1 }
           if go { write b[0; 4] := v + height @3 } }",
    );
    assert_eq!(found, (vec!["rows".to_owned(), "cols".to_owned(), "go".to_owned()], Some(true)));
}

#[test]
fn the_number_of_turns_flows_on() {
    let text = "kernel k(n: i32) { global a: element 4 var i: i32 var v: i32
           let v = read a[0; 4] @0
           for i = 0 while i < v step + 1 @1 { let i = i }
           write a[convert<i64>(i); 4] @2 }";
    // `i` may not be assigned in the loop; the loop is what matters here.
    let text = text.replace("let i = i ", "");
    assert_eq!(inputs(&text), (vec!["a".to_owned()], Some(false)));
}

#[test]
fn a_branch_without_accesses_is_no_sink_but_flows_on() {
    let silent = "kernel k() { global a: element 4 var v: i32 var x: i32
           let v = read a[0; 4] @0
           if v < 3 { let x = 1 }
           write a[convert<i64>(tid.x) * 4; 4] := x @1 }";
    assert_eq!(inputs(silent), (Vec::new(), Some(true)));
    let index = silent.replace("convert<i64>(tid.x) * 4", "convert<i64>(x)");
    assert_eq!(inputs(&index), (vec!["a".to_owned()], Some(false)));
}

#[test]
fn an_array_that_holds_ids_is_no_data_where_it_was_written() {
    let handed = "kernel k(n: i32) { global a: element 4 shared s: element 4 var v: i32
           if tid.x == 0u32 { write s[0; 4] := n @0 }
           sync block shared global @1
           let v = read s[0; 4] @2
           write a[convert<i64>(v + convert<i32>(tid.x)) * 4; 4] @3 }";
    assert_eq!(inputs(handed), (vec!["n".to_owned()], Some(true)));
    for (from, to) in [
        // Without the barrier, from a thread that may not exist, or at another place: what `s` held counts.
        ("sync block shared global @1", "sync warp shared global @1"),
        ("sync block shared global @1", "sync block global @1"),
        ("tid.x == 0u32", "tid.x == 7u32"),
        ("read s[0; 4]", "read s[4; 4]"),
    ] {
        let changed = handed.replace(from, to);
        assert_eq!(inputs(&changed).1, Some(false), "{changed}");
    }
}

#[test]
fn a_thread_may_have_returned_before_it_hands_a_value_on() {
    let text = "kernel k(n: i32) { global a: element 4 shared s: element 4 var v: i32 var returned: bool
           let returned = false
           if convert<i32>(tid.x) < n { let returned = true }
           if !returned {
             if tid.x == 0u32 { write s[0; 4] := n @0 }
             sync block shared global @1
             let v = read s[0; 4] @2
             write a[convert<i64>(v + convert<i32>(tid.x)) * 4; 4] @3 } }";
    assert_eq!(inputs(text).1, Some(false));
    assert_eq!(inputs(&text.replace("convert<i32>(tid.x) < n", "convert<i32>(bid.x) < n")).1, Some(true));
}

#[test]
fn what_a_thread_wrote_itself_it_finds_again() {
    let own = "kernel k() { global a: element 4 shared s: element 4 var i: i64 var v: i32
           let i = convert<i64>(tid.x) * 4
           write s[i; 4] := convert<i32>(tid.x) @0
           let v = read s[i; 4] @1
           write a[convert<i64>(v) * 4; 4] @2 }";
    assert_eq!(inputs(own), (Vec::new(), Some(true)));
    let moved = own.replace("let v =", "let i = i + 4 let v =");
    assert_eq!(inputs(&moved), (vec!["s".to_owned()], Some(false)));
}

#[test]
fn schedules_are_no_data() {
    let text = "kernel k() { global a: element 4 var v: i32 var t: i32
           havoc t schedule \"clock64\"
           write a[convert<i64>(t); 4] @1 }";
    let flow = flow(text);
    assert_eq!(flow.access_invariant(), Some(true));
    assert_eq!(flow.schedule().count(), 1);
}

#[test]
fn a_loop_that_waits_depends_on_the_schedule() {
    let waits = "kernel k() { global flag: element 4 global a: element 4 var v: i32
           write flag[0; 4] := 1 @0
           loop @2 { let v = read flag[4; 4] @1 } while v == 0
           write a[0; 4] @3 }";
    let spins = |text: &str| {
        let kernel = kernel(text);
        let flow = analyze(&kernel);
        flow.schedule().count()
    };
    // The read in the loop itself is what the loop decides.
    assert_eq!(spins(waits), 1);
    let searches = waits.replace("read flag[4; 4]", "read flag[convert<i64>(v); 4]");
    assert_eq!(spins(&searches), 0);
    let not_written = waits.replace("write flag[0; 4]", "write a[0; 4]");
    assert_eq!(spins(&not_written), 0);
}

#[test]
fn reads_of_arrays_that_nothing_writes_decide_no_race() {
    let text = "kernel k() { global table: element 4 global a: element 4 var v: i32
           let v = read a[0; 4] @0
           let v = read table[convert<i64>(v); 4] @1
           write a[0; 4] := v @2 }";
    let flow = flow(text);
    assert_eq!(flow.access_invariant(), Some(false));
    assert!(flow.reached.iter().all(|each| each.decides == Decides::Reads));
}

#[test]
fn a_swap_by_data_is_correctable() {
    let swap = "kernel k() { global a: element 4 var i: i64 var u: i32 var v: i32 var t: i32
           let i = convert<i64>(tid.x) * 8
           let u = read a[i; 4] @0
           let v = read a[i + 4; 4] @1
           if u > v { let t = u write a[i; 4] := v @2 write a[i + 4; 4] := t @3 } }";
    let found = flow(swap);
    assert!(found.is_correctable);
    assert_eq!(found.branches.iter().map(|branch| branch.selection).collect::<Vec<_>>(), [Selection::SameLocations]);
    let wider = flow(&swap.replace("write a[i + 4; 4]", "write a[i + 8; 4]"));
    assert_eq!(wider.branches[0].selection, Selection::Wider);
    let by_index = flow(&swap.replace("write a[i + 4; 4]", "write a[convert<i64>(u); 4]"));
    assert!(!by_index.is_correctable && by_index.branches.is_empty());
    let barrier = flow(&swap.replace("let t = u", "let t = u sync block shared global @4"));
    assert!(!barrier.is_correctable);
}

#[test]
fn what_is_not_understood_leaves_the_question_open() {
    let mut kernel = kernel("kernel k() { global a: element 4 write a[0; 4] @0 }");
    assert_eq!(analyze(&kernel).access_invariant(), Some(true));
    let entry = |arrays, barriers| crate::calculus::Unsupported {
        span: None,
        reason: "x".to_owned(),
        arrays,
        barriers,
        is_of_thread: false,
    };
    kernel.unsupported = vec![entry(Some(Vec::new()), false)];
    assert_eq!(analyze(&kernel).access_invariant(), Some(true));
    kernel.unsupported = vec![entry(None, true)];
    assert_eq!(analyze(&kernel).access_invariant(), None);
}

#[test]
fn textures_are_data_and_arithmetic_is_told() {
    let text = "kernel k() { global a: element 4 var v: opaque4 var i: i32
           let v = tex1Dfetch(\"image\":opaque1, convert<i32>(tid.x)):opaque4
           let i = int(v):i32
           write a[convert<i64>(i); 4] @0 }";
    let nature = |name: &str| if name == "tex1Dfetch" { Nature::Fetches } else { Nature::Computes };
    let kernel = parse_with(text, nature).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let flow = analyze(&kernel);
    let sources: Vec<&Source> = flow.reached.iter().map(|each| &each.source).collect();
    assert!(sources.contains(&&Source::Texture("image".to_owned())), "{sources:?}");
    assert!(sources.contains(&&Source::Floating), "{sources:?}");
}
