//! `raceproof schedule --opencl-host`: what orders of work-groups and work-items show on a real driver, and what they leave as it is.

use super::host::{alone, assert_told, program, run_as};
use super::run::{Seen, has_driver};
use crate::cli::Place;
use serde_json::Value;
use std::fs;

fn schedule(place: &Place, options: &[&str]) -> Seen {
    run_as(place, &[&["schedule", "--opencl-host"], options].concat(), &[], &[])
}

/// The report of a program, and its exit code.
fn report(place: &Place, options: &[&str]) -> (Option<i32>, Value) {
    let seen = schedule(place, &[&["--format", "json"], options].concat());
    let report = serde_json::from_str(&seen.out).unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    (seen.code, report)
}

fn only_finding(report: &Value) -> &Value {
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report:#}");
    &findings[0]
}

/// The last work-group that is done adds up what all have written, but its number, not a counter, says which one that is.
const SUMS: &str = "int sum_of(global const int *part, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += part[i];
  return sum;
}

kernel void sums(global int *part, global int *out) {
  if (get_local_id(0) == 0) part[get_group_id(0)] = get_group_id(0) + 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_group_id(0) == get_num_groups(0) - 1 && get_local_id(0) == 0) *out = sum_of(part, get_num_groups(0));
}

kernel void idle(global int *part) { part[100 + get_global_id(0)] = 1; }
";

const SUMS_MAIN: &str = r#"
  handle part = buffer(4096), out = buffer(4), program = built(text_of("k.cl"), "");
  handle k = kernel_of(program, "sums"), idle = kernel_of(program, "idle");
  fill(part, 1024); fill(out, 1);
  give(idle, 0, part); launch(idle, 64, 8);
  give(k, 0, part); give(k, 1, out); launch(k, 64, 8);
  print(out, 1);"#;

#[test]
fn a_planted_race_between_work_groups_is_revealed_reduced_and_replayed() {
    if !has_driver() {
        return;
    }
    let place = program(SUMS, SUMS_MAIN);
    assert_eq!(alone(&place, &[]), "36 \n");
    let (code, report_of_all) = report(&place, &[]);
    assert_eq!(code, Some(1), "{report_of_all:#}");
    assert_eq!(report_of_all["schedules"], 20);
    let finding = only_finding(&report_of_all);
    // One work-group of one launch is enough, and it is held against the baseline.
    let smallest = finding["schedule"].as_str().unwrap();
    assert_eq!((smallest, &finding["against"]), ("front=2@7", &Value::from("baseline")), "{finding:#}");
    assert_eq!(finding["is_minimal"], true);
    assert_eq!(finding["kernel"], "sums");
    assert_eq!(finding["changes"][0]["text"], "work-group 7 of launch 2 comes first");
    let differs = finding["differs"].as_array().unwrap();
    assert!(differs[0].as_str().unwrap().contains("; in the baseline `36 `"), "{finding:#}");
    let behind = "behind launch 2, of sums, `out` holds something else: 1 of its 4 bytes, the first of them byte 0";
    assert!(differs.iter().any(|line| line == behind), "{finding:#}");
    let accesses = finding["conflicts"][0]["accesses"].as_array().unwrap();
    let places: Vec<&str> = accesses.iter().map(|access| access["place"].as_str().unwrap()).collect();
    assert!(places[0].starts_with("k.cl:8:") && places[1].starts_with("k.cl:3:"), "{finding:#}");
    // Replayed, it is the same difference, told to people in their words.
    let seen = schedule(&place, &["--replay", smallest]);
    let told = [
        behind,
        "write by work-item (0,0,0) of work-group",
        "again:    raceproof schedule --opencl-host --replay 'front=2@7' -- PROGRAM…",
        "1 schedule tried beside the baseline: 1 order of work-groups (1 differ)",
    ];
    assert_told(&seen, 1, &told);
    // The same seed tries the same schedules; another launch, or the order of the numbers, shows nothing.
    assert_eq!(report(&place, &[]).1, report_of_all);
    for harmless in ["front=1@7", "baseline", "threads=reversed"] {
        assert_told(
            &schedule(&place, &["--replay", harmless]),
            0,
            &["no difference in exit status, output and memory"],
        );
    }
}

/// Everything that ids are made of, in functions and macros, too; `values` has an element for each work-item.
const IDS: &str = "#define ROW (get_global_size(0))
#define AT(d) get_global_id(d)
int place(void) { return AT(0) - get_global_offset(0) + ROW * (AT(1) - get_global_offset(1) + get_global_size(1) * (AT(2) - get_global_offset(2))); }
int of_group(int d) { return get_group_id(d) * 100 + get_local_id(d); }
kernel void ids(global int *values, local int *near, int more) {
  int linear = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
  near[linear] = of_group(0) + 3 * of_group(1) + 7 * of_group(2) + get_local_linear_id() - linear;
  barrier(CLK_LOCAL_MEM_FENCE);
  int items = get_local_size(0) * get_local_size(1) * get_local_size(2);
  values[place()] = near[items - 1 - linear] + 11 * AT(0) + 13 * AT(1) + 17 * AT(2) + more + get_global_id(3) + get_work_dim();
  values[get_global_linear_id()] += get_group_id(7) + get_local_id(9);
}
";

const IDS_MAIN: &str = r#"
  handle values = buffer(4096), k = kernel_of(built(text_of("k.cl"), "-cl-std=CL2.0"), "ids");
  fill(values, 1024);
  give(k, 0, values); give_int(k, 2, 5);
  NEED(clSetKernelArg(k, 1, 256, NULL));
  size_t offset[3] = {3, 5, 7}, global[3] = {12, 6, 4}, local[3] = {4, 2, 2};
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    NEED(clEnqueueNDRangeKernel(queue, k, dimensions, offset, global, local, 0, NULL, NULL));
    print(values, 300);
    NEED(clEnqueueNDRangeKernel(queue, k, dimensions, NULL, global, local, 0, NULL, NULL));
    print(values, 300);
  }"#;

#[test]
fn ids_are_permuted_in_all_dimensions_and_with_offsets() {
    if !has_driver() {
        return;
    }
    let place = program(IDS, IDS_MAIN);
    let own = alone(&place, &[]);
    let seen = schedule(&place, &["--keep", "kept"]);
    assert_told(
        &seen,
        0,
        &["10 orders of work-groups, 10 orders of work-items", "no difference in exit status, output and memory"],
    );
    assert!(!seen.err.contains("with its own kernels"), "{seen:?}");
    // The baseline is the program as it is.
    let kept = |name: &str| fs::read_to_string(place.path().join("kept/schedules").join(name)).unwrap();
    assert_eq!((kept("baseline/stdout"), kept("own/stdout")), (own.clone(), own));
}

#[test]
fn a_race_inside_of_work_groups_is_revealed_by_the_order_of_work_items() {
    if !has_driver() {
        return;
    }
    let kernels = |barrier: &str| {
        format!(
            "kernel void turn(global const int *x, global int *y, local int *t) {{\n  int l = get_local_id(0);\n  t[l] = x[get_global_id(0)];\n  \
             {barrier}\n  if (l > 0) y[get_global_id(0)] = t[l - 1];\n}}\n"
        )
    };
    let main = r#"
  handle x = buffer(256), y = buffer(256), k = kernel_of(built(text_of("k.cl"), ""), "turn");
  fill(x, 64); fill(y, 64);
  give(k, 0, x); give(k, 1, y); NEED(clSetKernelArg(k, 2, 64, NULL));
  launch(k, 64, 16);
  print(y, 64);"#;
    assert_eq!(report(&program(&kernels("barrier(CLK_LOCAL_MEM_FENCE);"), main), &[]).0, Some(0));
    let (code, report) = report(&program(&kernels(""), main), &[]);
    assert_eq!(code, Some(1), "{report:#}");
    let finding = only_finding(&report);
    let smallest = finding["schedule"].as_str().unwrap();
    assert!(smallest.starts_with("lead=1@") && !smallest.contains(','), "{finding:#}");
    let text = finding["changes"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("work-item ") && text.ends_with(" of each work-group of launch 1 comes first"), "{text}");
    assert!(finding["conflicts"][0]["text"].as_str().unwrap().starts_with("conflict on t: "), "{finding:#}");
}

/// Barriers in loops whose turns depend on the work-group, in a function, and under a condition that a whole work-group shares.
const BARRIERS: &str = "void halve(local int *t) {
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    if (get_local_id(0) < s) t[get_local_id(0)] += t[get_local_id(0) + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
kernel void rows(global const int *x, global int *y, int n) {
  local int t[16];
  int l = get_local_id(0);
  for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {
    t[l] = x[row * get_local_size(0) + l] * (l + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    halve(t);
    if (l == 0) y[row] = t[0];
    if (get_group_id(0) % 2) barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l > 3) return;
  y[64 + get_group_id(0) * 4 + l] = l;
}
kernel void turn(global const int *x, global int *y, int width) {
  local int tile[4][5];
  int column = get_global_id(0), row = get_global_id(1);
  for (int k = 0; k < 3; k++) {
    tile[get_local_id(1)][get_local_id(0)] = x[row * width + column] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    int to = get_group_id(1) * 4 + get_local_id(0), from = get_group_id(0) * 4 + get_local_id(1);
    y[256 + from * width + to] = tile[get_local_id(0)][get_local_id(1)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
";

const BARRIERS_MAIN: &str = r#"
  handle x = buffer(4096), y = buffer(4096), program = built(text_of("k.cl"), "");
  handle rows = kernel_of(program, "rows"), turn = kernel_of(program, "turn");
  fill(x, 1024); fill(y, 1024);
  give(rows, 0, x); give(rows, 1, y); give_int(rows, 2, 50);
  launch(rows, 16 * 7, 16);
  give(turn, 0, x); give(turn, 1, y); give_int(turn, 2, 16);
  size_t global[2] = {16, 16}, local[2] = {4, 4};
  NEED(clEnqueueNDRangeKernel(queue, turn, 2, NULL, global, local, 0, NULL, NULL));
  print(y, 600);"#;

#[test]
fn a_program_without_a_race_shows_no_difference() {
    if !has_driver() {
        return;
    }
    let place = program(BARRIERS, BARRIERS_MAIN);
    let own = alone(&place, &[]);
    let seen = schedule(&place, &["--keep", "kept"]);
    assert_told(
        &seen,
        0,
        &["20 schedules tried beside the baseline", "no difference in exit status, output and memory"],
    );
    assert!(!seen.err.contains("with its own kernels") && !seen.err.contains("as it is"), "{seen:?}");
    assert_eq!(fs::read_to_string(place.path().join("kept/schedules/baseline/stdout")).unwrap(), own);
    // Another seed has other orders.
    assert_told(&schedule(&place, &["--seed", "3", "--schedules", "8"]), 0, &["no difference"]);
}

#[test]
fn many_more_work_groups_than_compute_units_are_put_in_order_without_a_deadlock() {
    if !has_driver() {
        return;
    }
    // Who draws which ticket is the order in which work-groups begin.
    let kernels = "kernel void draw(global int *drawn, global int *counter) {\n  if (get_local_id(0) == 0) drawn[get_group_id(0)] = atomic_inc(counter);\n  barrier(CLK_GLOBAL_MEM_FENCE);\n}\n";
    let main = r#"
  handle drawn = buffer(16384), counter = buffer(4), k = kernel_of(built(text_of("k.cl"), ""), "draw");
  fill(drawn, 4096); fill(counter, 1);
  give(k, 0, drawn); give(k, 1, counter);
  launch(k, 8192, 2);
  int values[4096];
  NEED(clEnqueueReadBuffer(queue, drawn, 1, 0, sizeof values, values, 0, NULL, NULL));
  printf("%d %d %d %d\n", values[0], values[1], values[7], values[4095]);"#;
    let place = program(kernels, main);
    for (schedule_, order) in [
        ("baseline", "0 1 7 4095"),
        ("blocks=last", "1 2 8 0"),
        ("blocks=first:7", "1 2 0 4095"),
        ("blocks=reversed", "4095 4094 4088 0"),
    ] {
        let _ = fs::remove_dir_all(place.path().join("kept"));
        let seen = schedule(&place, &["--keep", "kept", "--replay", schedule_]);
        let kept = place.path().join("kept/schedules/told/stdout");
        let of = if schedule_ == "baseline" { place.path().join("kept/schedules/baseline/stdout") } else { kept };
        assert_eq!(fs::read_to_string(of).unwrap(), format!("{order}\n"), "{schedule_}: {seen:?}");
    }
}

#[test]
fn what_is_compared_is_what_is_asked_for() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void add(volatile global uint *sum) {\n  if (get_local_id(0) != 0) return;\n  \
                   uint known, next;\n  do {\n    known = *sum;\n    next = as_uint(as_float(known) + 1.0f / (3 + 7 * get_group_id(0)));\n  \
                   } while (atomic_cmpxchg(sum, known, next) != known);\n}\n";
    let main = |tail: &str| {
        format!(
            r#"
  handle sum = buffer(4), k = kernel_of(built(text_of("k.cl"), ""), "add");
  float value = 0;
  NEED(clEnqueueWriteBuffer(queue, sum, 1, 0, 4, &value, 0, NULL, NULL));
  give(k, 0, sum); launch(k, 96, 4);
  NEED(clEnqueueReadBuffer(queue, sum, 1, 0, 4, &value, 0, NULL, NULL));
  {tail}"#
        )
    };
    let place = program(kernels, &main(r#"printf("sum %.9g\n", value);"#));
    let seen = schedule(&place, &["--schedules", "6"]);
    assert_told(&seen, 1, &["difference in add", "line 1 of the output is `sum ", "`; in the baseline `sum "]);
    let seen = schedule(&place, &["--schedules", "6", "--tolerance", "1e-5"]);
    assert_told(&seen, 0, &["memory is not compared, since --tolerance", "no difference in exit status and output"]);
    // What stays in memory counts if nobody says otherwise, and so do files that are named.
    let main =
        main(r#"FILE* file = fopen("written", "w"); fprintf(file, "%.9g\n", value); fclose(file); printf("done\n");"#);
    let place = program(kernels, &main);
    assert_told(&schedule(&place, &["--schedules", "2"]), 1, &["behind launch 1, of add, `sum` holds something else"]);
    assert_told(
        &schedule(&place, &["--schedules", "2", "--compare", "output"]),
        0,
        &["no difference in exit status and output"],
    );
    let seen = schedule(&place, &["--schedules", "2", "--compare", "output", "--written", "written"]);
    assert_told(&seen, 1, &["the program writes something else to written"]);
}

#[test]
fn what_keeps_its_place_is_told_with_the_reason() {
    if !has_driver() {
        return;
    }
    let main = r#"
  handle y = buffer(256), k = kernel_of(built(text_of("k.cl"), ""), "k");
  fill(y, 64); give(k, 0, y); launch(k, 64, 8); print(y, 64);"#;
    let kernels = |statement: &str| {
        format!("kernel void k(global int *y) {{\n  {statement}\n  y[get_global_id(0)] += get_local_id(0);\n}}\n")
    };
    let placed = program(&kernels("int of_sub_group = get_local_id(0) / 4; y[get_global_id(0)] = of_sub_group;"), main);
    let note = "the work-items of each work-group keep their places: `of_sub_group` depends on them (in k)";
    assert_told(
        &schedule(&placed, &[]),
        0,
        &[note, "20 schedules tried beside the baseline: 20 orders of work-groups\n"],
    );
    let renamed = program(&format!("#define get_local_id(d) get_local_id(d + 0)\n{}", kernels(";")), main);
    let seen = schedule(&renamed, &[]);
    let reason = "k is launched as it is, in the driver's order: k.cl:1: a macro by the name of `get_local_id` cannot be instrumented";
    assert_told(&seen, 2, &[reason, "no launch of the program can be put in order"]);
    assert!(seen.out.is_empty(), "{seen:?}");
}

#[test]
fn a_work_group_that_waits_for_a_later_one_is_told() {
    if !has_driver() {
        return;
    }
    let kernels = "kernel void k(volatile global int *flag) {\n  if (get_group_id(0) == WAITS) while (atomic_add(flag, 0) == 0) {}\n  else atomic_inc(flag);\n}\n";
    let main = r#"
  handle flag = buffer(4), k = kernel_of(built(text_of("k.cl"), ""), "k");
  fill(flag, 1); give(k, 0, flag); launch(k, 4, 1); print(flag, 1);"#;
    let waits = |group: &str| program(&kernels.replace("WAITS", group), main);
    let seen = schedule(&waits("0"), &["--timeout", "4"]);
    assert_told(&seen, 2, &["does not end within 4 seconds (--timeout) with one work-group at a time"]);
    // Where an order makes it wait, the driver is what is slow: OpenCL promises no work-group that others run.
    let seen = schedule(&waits("3"), &["--timeout", "30", "--replay", "blocks=reversed"]);
    assert_told(&seen, 0, &["nobody was shown to be stuck: blocks=reversed", "nothing is known"]);
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let place = Place::with(&[("k.cl", "kernel void k() {}\n")]);
    let refused = |arguments: &[&str], told: &str| {
        let seen = place.run(&[&["schedule"], arguments].concat());
        assert_eq!(seen.code, Some(2), "{arguments:?}: {}", seen.err);
        assert!(seen.err.contains(told), "{arguments:?}: {}", seen.err);
    };
    refused(&["k.cl"], "`raceproof schedule --opencl-host -- PROGRAM`");
    let host = |options: &[&str], told: &str| refused(&[&["--opencl-host"], options, &["--", "./p"]].concat(), told);
    refused(&["--opencl-host"], "name the program behind --");
    host(&["--backend", "cpu"], "leave --backend out");
    host(&["--log", "x.trace"], "schedules are many runs");
    host(&["-D", "N=1"], "an OpenCL program says itself");
    host(&["-I", "."], "an OpenCL program says itself");
    host(&["-l", "m"], "-l and -L are for one that is built");
    host(&["--lang", "opencl"], "leave --lang, --front, --headers and -p out");
    host(&["--front", "tree-sitter"], "leave --lang, --front, --headers and -p out");
    for part in ["warps=reversed", "delay=1@0.0.1", "late=1@0.0.1"] {
        host(&["--replay", part], &format!("an OpenCL driver cannot keep to `{part}`"));
    }
}
