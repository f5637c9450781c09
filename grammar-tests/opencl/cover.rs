//! `raceproof cover --opencl-host`: what host programs reach of kernels whose counts are known, on a real driver.

use super::host::{alone, assert_told, program, run_as};
use super::run::{Seen, has_driver};
use crate::cli::Place;
use serde_json::Value;

fn cover(place: &Place, options: &[&str], arguments: &[&str]) -> Seen {
    run_as(place, &[&["cover", "--opencl-host"], options].concat(), arguments, &[])
}

/// One launch of two work-groups of 64 work-items for the number that the program is given.
const MAIN: &str = r#"
  handle out = buffer(512), k = kernel_of(built(text_of("k.cl"), ""), "k");
  give(k, 0, out); give_int(k, 1, count > 1 ? atoi(words[1]) : 0);
  launch(k, 128, 64);
  print(out, 128);"#;

const COUNTED: &str = "kernel void k(global int *out, int n) {
  int t = get_local_id(0), w = 0;
  for (int i = 0; i < n; i++)
    w += i;
  if (n > 3)
    w++;
  else if (t < 32) {
    w--;
  }
  if (t == 63 && n > 100) return;
  do w++; while (w < 0);
  out[get_group_id(0) * 64 + t] = t % 2 ? w : -w;
  barrier(CLK_LOCAL_MEM_FENCE);
}
";

fn points(report: &Value, kind: &str) -> Vec<Value> {
    let points = report["points"].as_array().unwrap();
    points.iter().filter(|point| point["kind"] == kind).cloned().collect()
}

/// These fields of all points of a kind.
fn numbers(report: &Value, kind: &str, names: &[&str]) -> Vec<Vec<u64>> {
    let of = |point: &Value| names.iter().map(|name| point[*name].as_u64().unwrap()).collect();
    points(report, kind).iter().map(of).collect()
}

fn report(seen: &Seen) -> Value {
    serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}: {seen:?}"))
}

#[test]
fn every_execution_of_every_work_item_is_counted() {
    if !has_driver() {
        return;
    }
    let place = program(COUNTED, MAIN);
    let own = alone(&place, &["2"]);
    let seen = cover(&place, &["--format", "json"], &["2"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains(&own), "the program's own output stands aside: {seen:?}");
    let report = report(&seen);
    let sides = numbers(&report, "branch", &["line", "holds", "fails", "diverged_warps", "uniform_warps"]);
    assert_eq!(sides, [[5, 0, 128, 0, 0], [7, 64, 64, 0, 0], [10, 0, 128, 0, 0], [12, 64, 64, 0, 0]].map(Vec::from));
    let loops = numbers(&report, "loop", &["line", "none", "one", "several", "turns"]);
    assert_eq!(loops, [[3, 0, 0, 128, 256], [11, 0, 128, 0, 128]].map(Vec::from));
    let barriers = numbers(&report, "barrier", &["line", "whole", "partial", "arrivals"]);
    assert_eq!(barriers, [[13, 2, 0, 128]].map(Vec::from));
    let of_line = |line: u64| {
        let runs = points(&report, "run");
        let at = runs.iter().find(|run| run["lines"].as_array().unwrap().contains(&line.into()));
        at.unwrap_or_else(|| panic!("line {line}"))["times"].as_u64().unwrap()
    };
    assert_eq!([2, 4, 6, 8, 11, 13].map(of_line), [128, 256, 0, 64, 128, 128]);
    assert!(points(&report, "run").iter().all(|run| run["file"] == "k.cl" && run["language"] == "opencl"));
}

#[test]
fn runs_are_added_up_and_what_none_reaches_is_told() {
    if !has_driver() {
        return;
    }
    let place = program(COUNTED, MAIN);
    let own = alone(&place, &["0"]);
    let first = cover(&place, &[], &["0"]);
    let told = [
        "k.cl:3:3: loop never of one turn, never of several turns (in k)",
        "k.cl:5:7: branch never true (in k)",
        "k.cl: never executed: line 4, line 6",
        "barriers 100.0 % (1 of 1)",
    ];
    assert_told(&first, 0, &told);
    assert!(first.out.starts_with(&own), "{first:?}");
    for number in ["0", "1", "5"] {
        let seen = cover(&place, &["--format", "json", "--output", &format!("{number}.json")], &[number]);
        assert_told(&seen, 0, &[]);
    }
    let all = cover(&place, &["--with", "0.json", "--with", "1.json", "--with", "5.json"], &["0"]);
    assert_told(&all, 0, &["branches  87.5 % (7 of 8)", "lines    100.0 %", "loops     80.0 % (4 of 5)"]);
    // The last side is that of work-items that leave before the barrier.
    let seen = cover(&place, &["--format", "json"], &["200"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    let report = report(&seen);
    assert_eq!(numbers(&report, "barrier", &["whole", "partial", "arrivals"]), [[0, 2, 126]].map(Vec::from));
    assert_eq!(points(&report, "barrier")[0]["missing"]["threads"], serde_json::json!([[63, 63]]));
}

#[test]
fn a_barrier_that_some_work_items_miss_is_not_reached_and_they_are_named() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *out, int n) {
  int t = get_local_id(0);
  if (t < n) barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = 0;
}
";
    let place = program(kernels, MAIN);
    let told = [
        "k.cl:3:14: barrier never reached by all work-items of a work-group: in work-group (0,0,0) of launch 1, \
         work-items (5,0,0) to (63,0,0) do not come (in k)",
        "k.cl:3: error: divergent barriers in k: work-item 0 of work-group 0 comes to this barrier and work-item 5 does not",
        "barriers   0.0 % (0 of 1)",
    ];
    assert_told(&cover(&place, &[], &["5"]), 1, &told);
    assert_told(&cover(&place, &[], &["64"]), 0, &["barriers 100.0 % (1 of 1)"]);
    assert_told(&cover(&place, &[], &["0"]), 0, &["k.cl:3:14: barrier never come to (in k)"]);
}

/// Both branches have a barrier, a loop has one and work-items that turn differently often, one stands in a function.
#[test]
fn who_misses_a_barrier_is_told_wherever_it_stands() {
    if !has_driver() {
        return;
    }
    let kernels = "void meet(local int *x) {
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_local_id(0)]++;
}
kernel void k(global int *out, int n) {
  local int x[64];
  int t = get_local_id(0), w = 0;
  x[t] = t;
  if (n == 1) {
    for (int i = 0; i < 2 + t / 60; i++) barrier(CLK_LOCAL_MEM_FENCE);
  } else if (n == 2) {
    if (t >= 3) barrier(CLK_LOCAL_MEM_FENCE); else barrier(CLK_LOCAL_MEM_FENCE);
  } else {
    if (t > 1) meet(x);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = x[t];
}
";
    let place = program(kernels, MAIN);
    let of = |number: &str, line: u64| {
        let seen = cover(&place, &["--format", "json"], &[number]);
        assert_eq!(seen.code, Some(1), "{seen:?}");
        let barriers = points(&report(&seen), "barrier");
        let at = barriers.into_iter().find(|point| point["line"] == line).unwrap();
        let counts = ["whole", "partial", "arrivals"].map(|name| at[name].as_u64().unwrap());
        (counts, at["missing"]["threads"].clone())
    };
    // Two rounds of all, and one of four work-items, in each of two groups.
    assert_eq!(of("1", 10), ([4, 2, 264], serde_json::json!([[0, 59]])));
    assert_eq!(of("2", 12), ([0, 2, 122], serde_json::json!([[0, 2]])));
    assert_eq!(of("3", 2), ([0, 2, 124], serde_json::json!([[0, 1]])));
}

/// Code that counters must leave as it is: labels, jumps, statements without braces before `else`, macros, hints for loops, vectors that
/// choose, constants, functions of the unit in conditions, barriers in loops and functions.
const HARD: &str = r#"
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define UNLESS(c, what) if (!(c)) { what; }
#define MEET barrier(CLK_LOCAL_MEM_FENCE)
constant int table[4] = {1, 2, 3, 4 > 3 ? 5 : 6};
typedef struct { int it; float2 lanes; } pair;
int twice(int n) { return n > 0 ? 2 * n : 0; }
int duff(int n) {
  int done = 0, left = (n + 3) / 4;
  switch (n % 4) {
    case 0: do { done++;
    case 3: done++;
    case 2: done++;
    case 1: done++; } while (--left > 0);
  }
  return done;
}
void leaves(global int *out, int n) {
  while (true) {
    if (n-- < 0) break;
    if (n % 2) continue;
    for (;;) { if (n > 5) return; break; }
    out[get_global_id(0)] += 0;
  }
}
int summed(local int *x, int t, int size) {
  for (int step = size / 2; step > 0; step /= 2) {
    MEET;
    if (t < step) x[t] += x[t + step];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return x[0];
}
kernel void k(global int *out, const int n) {
  local int x[64];
  const int t = get_local_id(0);
  int w = 0;
  pair it = {n, (float2)(1.0f, 2.0f)};
  EACH(i, n) UNLESS(i % 2, w += i)
  if (n > 2)
    for (int i = 0; i < 2; i++)
      if (i) w += 2; else w += 3;
  else
    w = 9;
#pragma unroll
  for (int i = 0; i < 3; i++) w += table[i];
  float2 chosen = it.lanes > (float2)(1.5f) ? it.lanes : -it.lanes;
  w += (int)(chosen.x + chosen.y) + (t ? it.it : 3) + duff(n + 5);
  int at = n; while (at --> 0) w++;
  switch (n) {
    case 0: w++;
    case 3: { int more = w; w += more; break; }
    default: w--;
  }
  if (twice(w) > 4 && (w & 1 || t > 3)) w ^= 5;
  x[t] = w;
  w = summed(x, t, get_local_size(0));
  if (w) goto end;
  w = 1;
end:
  if (t == 0) leaves(out, n);
  MEET;
  out[get_global_id(0)] = w + (x[t % 16], t);
}
"#;

#[test]
fn programs_do_what_they_do_without_counters() {
    if !has_driver() {
        return;
    }
    let place = program(HARD, MAIN);
    for number in ["0", "3", "8"] {
        let own = alone(&place, &[number]);
        let seen = cover(&place, &[], &[number]);
        assert_told(&seen, 0, &["barriers 100.0 % (3 of 3)"]);
        assert!(seen.out.starts_with(&own), "{seen:?}");
        // What stands behind a label that was jumped to was executed, and what stands before it was not.
        assert!(seen.out.contains(", line 59\n"), "{seen:?}");
        for (what, function) in [
            ("a condition of `?:` that may be a vector", "k"),
            ("a loop that holds a label of a `switch` around it", "duff"),
        ] {
            let told = format!(": not counted: {what} in {function}");
            assert!(
                seen.err.lines().any(|line| line.contains("k.cl:") && line.ends_with(&told)),
                "no `{told}`: {seen:?}"
            );
        }
    }
}

#[test]
fn launches_and_builds_of_one_text_are_one_report() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(global int *y) {\n  if (get_global_id(0) < LIMIT) y[get_global_id(0)] = 1;\n}\n";
    let main = r#"
  handle y = buffer(256), some = kernel_of(built(text_of("k.cl"), "-DLIMIT=3"), "k");
  handle all = kernel_of(built(text_of("k.cl"), "-DLIMIT=99"), "k");
  give(some, 0, y); launch(some, 8, 4); launch(some, 8, 0);
  give(all, 0, y); launch(all, 10, 0);
  print(y, 8);"#;
    let place = program(kernels, main);
    let seen = cover(&place, &["--format", "json"], &[]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(numbers(&report(&seen), "branch", &["line", "holds", "fails"]), [[2, 16, 10]].map(Vec::from));
    let seen = cover(&place, &["--format", "lcov", "--output", "k.info"], &[]);
    assert_told(&seen, 0, &[]);
    let tracefile = std::fs::read_to_string(place.path().join("k.info")).unwrap();
    for line in ["SF:k.cl", "BRDA:2,0,0,16", "BRDA:2,0,1,10", "DA:2,26", "end_of_record"] {
        assert!(tracefile.lines().any(|it| it == line), "no `{line}`: {tracefile}");
    }
    for format in ["html", "cobertura"] {
        let seen = cover(&place, &["--format", format], &[]);
        assert_told(&seen, 0, &["k.cl"]);
    }
    let seen = cover(&place, &["--format", "html"], &[]);
    assert!(seen.out.contains("get_global_id(0) &lt; LIMIT"), "the page has the source: {seen:?}");
}

#[test]
fn what_is_not_counted_is_told() {
    if !has_driver() {
        return;
    }
    let kernels =
        "kernel void one(global int *y) { y[get_global_id(0)] = 4; }\nkernel void two(global int *y) { one(y); }\n";
    let main = "handle y = buffer(256), k = kernel_of(built(text_of(\"k.cl\"), \"\"), \"two\"); give(k, 0, y); launch(k, 8, 8); print(y, 8);";
    let told = [
        "note: two is launched without counters: k.cl:2: a call of the kernel `one` cannot be instrumented",
        "4 4 4 4 4 4 4 4",
        "not all launches are counted",
    ];
    assert_told(&cover(&program(kernels, main), &[], &[]), 2, &told);
    let place = Place::with(&[("k.cl", kernels)]);
    for (arguments, told) in [
        (&["cover", "--opencl-host"][..], "name the program behind --"),
        (&["cover", "--opencl-host", "--seed", "3", "--", "./p"], "an OpenCL driver has an order of its own"),
        (&["cover", "--opencl-host", "--log", "x", "--", "./p"], "cover counts and keeps no log"),
        (&["cover", "k.cl"], "`raceproof cover --opencl-host -- PROGRAM`"),
        (&["cover", "--opencl-host", "--", "true"], "launched no kernel"),
    ] {
        assert_told(&super::run::seen_of(&mut place.command(arguments)), 2, &[told]);
    }
}
