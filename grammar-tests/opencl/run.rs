//! `raceproof run` and `amplify` on a real OpenCL driver: results, findings, bad weather.

use crate::cli::Place;
use crate::support::tools;
use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a run gave.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

/// Runs a command without input.
pub(super) fn seen_of(command: &mut Command) -> Seen {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Seen { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs `raceproof run` with a directory of its own for temporary files, which must be empty afterwards.
pub(super) fn run_in(place: &Place, arguments: &[&str]) -> Seen {
    let temporary = place.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let seen = seen_of(place.command(&["run"]).args(arguments).env("TMPDIR", &temporary));
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}\n{seen:?}");
    seen
}

/// Whether tests run on a driver: in tiers that use any.
pub(super) fn has_driver() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let asked = || {
            let place = Place::with(&[
                ("k.cl", "kernel void k(int n) { }\n"),
                ("l.toml", &launch_text("k", [1; 3], [1; 3], &[arg("n", "1")])),
            ]);
            let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
            if seen.err.contains("no OpenCL driver found") { Err(seen) } else { Ok(()) }
        };
        tools::used("an OpenCL driver", asked).is_some()
    })
}

pub(super) fn arg(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// A launch of a description.
pub(super) fn launch_text(kernel: &str, grid: [u32; 3], block: [u32; 3], arguments: &[(String, String)]) -> String {
    let mut text =
        format!("[[launch]]\nkernel = \"{kernel}\"\ngrid = {grid:?}\nblock = {block:?}\n[launch.arguments]\n");
    for (name, value) in arguments {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

const BUFFERS: &str = "[[buffer]]\nname = \"x\"\ntype = \"float4\"\ncount = 64\nvalues = { range = [0, 256] }\n\
                       [[buffer]]\nname = \"y\"\ntype = \"int\"\ncount = 1024\n";

fn described(launches: &[String]) -> String {
    format!("{BUFFERS}{}", launches.concat())
}

/// Kernels with a wrong result print a line with `wrong`.
const EVERYTHING: &str = r#"
typedef struct { int a; float4 v; float m[3]; } cell;
typedef enum { up, down } direction;
#define AT(i) y[(i)]
float pick(__global const float4 *x, __local const float *t, int i) { return x[i].w + t[i]; }
void set(__private int *own, __global int *shared, int value) { *own = value; shared[get_global_id(0)] = value; }
__kernel void offsets(__global int * const y, __constant float4 *x) {
  y[get_global_id(0)] = (int)x[get_global_id(0)].x;
}
__kernel void results(__global float4 *restrict x, __global int *y, float scale, int2 pair, direction d, __local float *t) {
  __local cell cells[8];
  __local int total;
  int i = get_global_id(0), l = get_local_id(0), own = 0;
  t[l] = l;
  cells[l].v = (float4)(1, 2, 3, 4);
  cells[l].v.s13 += (float2)(10, 20);
  cells[l].m[l % 3] = l;
  cells[l].a = AT(i)++;
  if (l == 0) total = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&total, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  set(&own, y, i + pair.y);
  float4 loaded = vload4(i, (__global float *)x);
  vstore2(loaded.hi, i, (__global float *)(y + 512));
  int next = (l + 1) % 8;
  if (pick(x, t, l) != x[l].w + l) printf("wrong pick\n");
  if (cells[next].v.y != 12 || cells[next].v.w != 24 || cells[next].m[next % 3] != next) printf("wrong cell\n");
  if (total != 28 || own != i - 1 || y[i] != i - 1 || scale != 0.5f || d != down) printf("wrong value\n");
  if (((__global float *)(y + 512))[2 * i] != 4 * i + 2) printf("wrong store\n");
}
__kernel void copies(__global const float4 *x, __global int *y, __local float4 *t) {
  event_t e = async_work_group_copy(t, x, 8, 0);
  e = async_work_group_strided_copy(t + 8, x, 4, 2, e);
  wait_group_events(1, &e);
  int l = get_local_id(0);
  if (t[7 - l].x != 4 * (7 - l) || t[8 + l / 2].x != 8 * (l / 2)) printf("wrong copy\n");
  y[get_global_id(0)] = 0;
}
__kernel void checks(__global int *y) {
  if (y[get_global_id(0)] != (int)get_global_id(0) + 1) printf("wrong sum %d\n", y[get_global_id(0)]);
}
__kernel void many(__global int *y) {
  for (int k = 0; k < 1000; k++) { y[get_global_id(0)] += 1; y[get_global_id(0)] -= 1; }
  y[get_global_id(0)] += get_global_id(0) + 1;
}
"#;

#[test]
fn logged_kernels_compute_what_they_always_do() {
    if !has_driver() {
        return;
    }
    let (x, y) = (arg("x", "{ buffer = \"x\" }"), arg("y", "{ buffer = \"y\" }"));
    let behind = arg("y", "{ buffer = \"y\", offset = 256 }");
    let results =
        [x.clone(), y.clone(), arg("scale", "0.5"), arg("pair", "[3, -1]"), arg("d", "1"), arg("t", "{ local = 32 }")];
    let last = arg("y", "{ buffer = \"y\", offset = 1008 }");
    let launches = [
        launch_text("offsets", [2, 1, 1], [8, 1, 1], &[behind, x.clone()]),
        launch_text("results", [2, 1, 1], [8, 1, 1], &results),
        launch_text("copies", [2, 1, 1], [8, 1, 1], &[x, y, arg("t", "{ local = 256 }")]),
        launch_text("many", [2, 1, 1], [8, 1, 1], &[last.clone()]),
        launch_text("checks", [2, 1, 1], [8, 1, 1], &[last]),
    ];
    let place = Place::with(&[("k.cl", EVERYTHING), ("l.toml", &described(&launches))]);
    // There is room for 1024 records: `many` is run again and again, in slices of its work-groups, and must count once.
    let small = EVERYTHING.replace("k < 1000", "k < 20");
    let few = Place::with(&[("k.cl", &small), ("l.toml", &described(&launches))]);
    for (place, records) in [(&place, "16777216"), (&few, "1024")] {
        let mut command = place.command(&["run", "k.cl", "--launch", "l.toml"]);
        let seen = seen_of(command.env("RACEPROOF_OPENCL_RECORDS", records));
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(!seen.out.contains("wrong"), "{seen:?}");
        assert!(seen.out.contains("no conflict in this run"), "{seen:?}");
        assert!(seen.err.contains("`wait_group_events`, which is taken for a barrier"), "{seen:?}");
        assert!(seen.err.contains("executing the program"), "{seen:?}");
    }
    let mut command = place.command(&["run", "k.cl", "--launch", "l.toml"]);
    let seen = self::seen_of(command.env("RACEPROOF_OPENCL_RECORDS", "1024"));
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("many: one work-group makes more than 1024 accesses"), "{seen:?}");
}

const STRUCTS: &str = r#"typedef struct { int width, height; } extent;
typedef struct { char low; float3 shift; extent size; short list[3]; union { float real; int whole; }; } settings;
kernel void filled(global int *y, settings s) {
  int i = get_global_id(0);
  if (i < s.size.width) y[i] = s.list[i % 3];
  if (i == 0) printf("%d %g %g %d %d %d\n", s.low, s.shift.y, s.shift.z, s.size.height, s.list[2], s.whole);
}
"#;

#[test]
fn structs_are_passed_by_value() {
    let settings =
        "{ low = -3, shift = [0.5, 1.5, 2.5], size = { width = 6, height = 5 }, list = [7, 8, 9], whole = 11 }";
    let told = |settings: &str| {
        let launch = launch_text("filled", [1; 3], [8, 1, 1], &[arg("y", "{ buffer = \"y\" }"), arg("s", settings)]);
        let place = Place::with(&[("k.cl", STRUCTS), ("l.toml", &described(&[launch]))]);
        run_in(&place, &["k.cl", "--launch", "l.toml"])
    };
    let wrong = [
        (settings.replace("low = -3", "low = 300"), "launch.arguments.s.low: 300 is no value of type char"),
        (settings.replace(", whole = 11", ""), "launch.arguments.s.real: missing; write real = 1.0"),
        (settings.replace("width = 6", "widht = 6"), "extent has no such member (did you mean `width`?)"),
        ("3".to_owned(), "launch.arguments.s: expected { low = …, shift = …"),
    ];
    for (given, wanted) in wrong {
        let seen = told(&given);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains(wanted), "{given}: {seen:?}");
    }
    if has_driver() {
        let seen = told(settings);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        assert!(seen.out.contains("-3 1.5 2.5 5 9 11"), "{seen:?}");
        assert!(seen.out.contains("filled (1 launch, 6 accesses)"), "{seen:?}");
    }
}

const RACY: &str = r#"kernel void racy(global int *y, local int *t) {
  t[get_local_id(0)] = 1;
  y[get_global_id(0)] = t[(get_local_id(0) + 1) % 8];
}
kernel void early(global const float4 *x, global int *y, local float4 *t) {
  event_t e = async_work_group_copy(t, x, 8, 0);
  y[get_global_id(0)] = t[7 - get_local_id(0)].x;
  wait_group_events(1, &e);
}
kernel void outside(global int *y, int far, local int *t) {
  y[get_global_id(0) + far] = 3;
  t[get_local_id(0) * 4096] = 2;
  global int *none = 0;
  y[get_global_id(0)] = none[0];
}
kernel void apart(global int *y) {
  y[get_global_id(0)] = 0;
  while (y[get_global_id(0)] == 0) ;
}
"#;

fn racy(launch: &str) -> Place {
    Place::with(&[("k.cl", RACY), ("l.toml", &described(&[launch.to_owned()]))])
}

#[test]
fn races_and_wild_accesses_are_told_with_their_lines() {
    if !has_driver() {
        return;
    }
    let (x, y, t) = (arg("x", "{ buffer = \"x\" }"), arg("y", "{ buffer = \"y\" }"), arg("t", "{ local = 256 }"));
    let place = racy(&launch_text("racy", [2, 1, 1], [8, 1, 1], &[y.clone(), t.clone()]));
    let seen = run_in(&place, &["k.cl", "--launch", "l.toml", "--backend", "opencl"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    assert!(seen.out.contains("data race on t") && seen.out.contains("k.cl:2:3"), "{seen:?}");
    assert!(seen.out.contains("1 pair of places conflicts"), "{seen:?}");
    let place = racy(&launch_text("early", [1, 1, 1], [8, 1, 1], &[x, y.clone(), t.clone()]));
    let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
    assert_eq!(seen.code, Some(1), "a copy that is not waited for: {seen:?}");
    let place = racy(&launch_text("outside", [2, 1, 1], [8, 1, 1], &[y, arg("far", "100000"), t]));
    let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    for told in
        ["k.cl:11:3: error: access outside of all allocations through `y`", "k.cl:12:3: error: ", "k.cl:14:25: error: "]
    {
        assert!(seen.out.contains(told), "no `{told}`: {seen:?}");
    }
    assert!(seen.out.contains("the log is complete"), "{seen:?}");
}

/// Kernels in which some work-item does not come to a barrier, with the line of the barrier and those that come and part. The
/// driver would hang on some, crash on others, and let the rest pass.
const DIVERGENT: [(&str, &str, u32, [u32; 2]); 11] = [
    ("if", "if (l < 5)\nbarrier(CLK_LOCAL_MEM_FENCE);", 3, [0, 5]),
    ("else", "if (l < 5) y[l] = 1;\nelse barrier(CLK_LOCAL_MEM_FENCE);", 3, [5, 0]),
    ("two", "if (l < 5) barrier(CLK_LOCAL_MEM_FENCE);\nelse barrier(CLK_LOCAL_MEM_FENCE);", 2, [0, 5]),
    ("loop", "for (int i = 0; i < l; i++)\nbarrier(CLK_LOCAL_MEM_FENCE);", 3, [1, 0]),
    ("until", "int i = 0; do {\nbarrier(CLK_LOCAL_MEM_FENCE); } while (++i < 8 - l);", 3, [0, 7]),
    ("while", "int i = l; while (i++ < 3)\nbarrier(CLK_LOCAL_MEM_FENCE);", 3, [0, 3]),
    ("return", "if (l > 2) return;\nbarrier(CLK_LOCAL_MEM_FENCE);", 3, [0, 3]),
    ("first_returns", "if (l < 2) { y[l] = 1; return; }\nbarrier(CLK_LOCAL_MEM_FENCE);", 3, [2, 0]),
    ("break", "for (int i = 0; i < 4; i++) { if (i + l == 6) break;\nbarrier(CLK_LOCAL_MEM_FENCE); }", 3, [0, 6]),
    ("switch", "switch (l / 4) { case 0:\nbarrier(CLK_LOCAL_MEM_FENCE); break; default: y[l] = 2; }", 3, [0, 4]),
    ("call", "if (y[l] == 0 && l != 3)\nwaits(y);", 3, [0, 3]),
];

#[test]
fn work_items_that_part_before_a_barrier_are_told_with_its_line() {
    if !has_driver() {
        return;
    }
    for (name, statement, line, [comes, parts]) in DIVERGENT {
        let text = format!(
            "void waits(__global int *y) {{ barrier(CLK_GLOBAL_MEM_FENCE); }} __kernel void k(__global int *y) {{ int l = get_local_id(0);\n\
             {statement}\ny[get_global_id(0)] += 1; }}\n"
        );
        let launch = launch_text("k", [2, 1, 1], [8, 1, 1], &[arg("y", "{ buffer = \"y\" }")]);
        let place = Place::with(&[("k.cl", &text), ("l.toml", &described(&[launch]))]);
        let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
        let told = format!(
            "error: divergent barriers in k: work-item {comes} of work-group 0 comes to this barrier and work-item {parts} does not"
        );
        assert_eq!(seen.code, Some(1), "{name}: {seen:?}");
        // A call stands for the barrier in it until it is come to.
        let line = if name == "call" { 1 } else { line };
        assert!(
            seen.err.contains(&format!("k.cl:{line}: {told}")) || seen.out.contains(&format!("k.cl:{line}: {told}")),
            "{name}: {seen:?}"
        );
        assert!(!seen.err.contains("signal"), "{name}: {seen:?}");
    }
}

/// Kernels whose work-items agree at each branch before a barrier; each sets `y[i]` to `i + 1`.
const UNIFORM: [(&str, &str); 10] = [
    (
        "reduction",
        "t[l] = 1; for (int s = 4; s > 0; s >>= 1) { barrier(CLK_LOCAL_MEM_FENCE); if (l < s) t[l] += t[l + s]; }
      barrier(CLK_LOCAL_MEM_FENCE); y[i] = i + t[0] - 7;",
    ),
    // PoCL 3.1 gave this one up when what is asked before a barrier had branches.
    (
        "halving",
        "y[i] = i + 1; t[l] = 1;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (size_t s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) t[l] += t[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (l == 0) y[i] = i + t[0] - 7;",
    ),
    (
        "guarded",
        "if (n > 3) { t[l] = i; barrier(CLK_LOCAL_MEM_FENCE); y[i] = t[(l + 1) % 8] + 1 - (l == 7 ? -7 : 1) ; }",
    ),
    ("returns", "if (n < 3) return; if (get_group_id(0) == 9) { return; } barrier(CLK_LOCAL_MEM_FENCE); y[i] = i + 1;"),
    (
        "alone",
        "for (int j = 0; j < l; j++) { if (j == 3) break; if (j == 9) return; t[l] = j; } barrier(CLK_LOCAL_MEM_FENCE); y[i] = i + 1;",
    ),
    ("last", "barrier(CLK_LOCAL_MEM_FENCE); if (l > 9) return; y[i] = i + 1;"),
    ("switched", "switch (n) { case 5: barrier(CLK_LOCAL_MEM_FENCE); y[i] = i + 1; break; default: return; }"),
    (
        "endless",
        "int j = 0; for (;;) { barrier(CLK_LOCAL_MEM_FENCE); if (++j == n) break; if (j == 2) continue; t[l] = j; } y[i] = i + j - 4;",
    ),
    (
        "chosen",
        "for (int j = 0; j < 3; j++) { switch (l % 2) { case 0: t[l] = j; break; default: t[l] = 0; }
           barrier(CLK_LOCAL_MEM_FENCE); } y[i] = i + 1;",
    ),
    ("pointer", "__global int *p = y; if (p) { waits(y); y[i] = i + 1; }"),
];

#[test]
fn work_items_that_agree_compute_what_they_always_do() {
    if !has_driver() {
        return;
    }
    for (name, statements) in UNIFORM {
        let text = format!(
            "void waits(__global int *y) {{ barrier(CLK_GLOBAL_MEM_FENCE); }}
             __kernel void k(__global int *y, int n, __local int *t) {{
               int l = get_local_id(0), i = get_global_id(0);
               {statements}
             }}
             __kernel void checks(__global int *y) {{
               int i = get_global_id(0);
               if (y[i] != i + 1) printf(\"wrong %d at %d\\n\", y[i], i);
             }}"
        );
        let buffer = arg("y", "{ buffer = \"y\" }");
        let of_k = [buffer.clone(), arg("n", "5"), arg("t", "{ local = 64 }")];
        let launches =
            [launch_text("k", [2, 1, 1], [8, 1, 1], &of_k), launch_text("checks", [2, 1, 1], [8, 1, 1], &[buffer])];
        let place = Place::with(&[("k.cl", &text), ("l.toml", &described(&launches))]);
        let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
        assert!(!seen.out.contains("wrong") && !seen.err.contains("wrong"), "{name}: {seen:?}");
        assert_eq!(seen.code, Some(0), "{name}: {seen:?}");
        assert!(seen.out.contains("the log is complete"), "{name}: {seen:?}");
    }
}

#[test]
fn an_order_that_a_driver_does_not_take_is_refused() {
    let place = Place::with(&[("k.cl", "kernel void k(int n) { }\n")]);
    for flags in [["--seed", "3"], ["--jobs", "1"]] {
        let seen = run_in(&place, &[&["k.cl", "--launch", "l.toml"][..], &flags].concat());
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains("an OpenCL driver has an order of its own"), "{seen:?}");
    }
}

#[test]
fn a_kernel_that_hangs_is_ended() {
    if !has_driver() {
        return;
    }
    let place = racy(&launch_text("apart", [1, 1, 1], [1, 1, 1], &[arg("y", "{ buffer = \"y\" }")]));
    let start = Instant::now();
    let seen = run_in(&place, &["k.cl", "--launch", "l.toml", "--timeout", "3", "--log", "cut.trace"]);
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("ended after 3 seconds"), "{seen:?}");
    assert!(seen.out.contains("cut off"), "{seen:?}");
}

#[test]
fn a_build_error_is_told_in_the_lines_of_the_user() {
    if !has_driver() {
        return;
    }
    let text = "#define ONE 1\nkernel void k(global int *y) {\n  y[0] = ONE;\n  y[1] = nonsense;\n}\n";
    let launch = launch_text("k", [1; 3], [1; 3], &[arg("y", "{ buffer = \"y\" }")]);
    let place = Place::with(&[("k.cl", text), ("l.toml", &described(&[launch]))]);
    let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("k.cl:4:") && seen.err.contains("nonsense"), "{seen:?}");
    assert!(seen.err.contains("does not compile"), "{seen:?}");
}

#[test]
fn one_run_is_amplified() {
    if !has_driver() {
        return;
    }
    let text = "kernel void k(global int *y, int n) {\n  int i = get_global_id(0);\n  if (i < n) y[i] = y[i] + 1;\n}\n";
    let launch = launch_text("k", [2, 1, 1], [8, 1, 1], &[arg("y", "{ buffer = \"y\" }"), arg("n", "13")]);
    let place = Place::with(&[("k.cl", text), ("l.toml", &described(&[launch]))]);
    let seen = seen_of(&mut place.command(&["amplify", "k.cl", "--launch", "l.toml"]));
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(
        seen.out.contains(
            "no race for any input with n = 13, get_global_offset(0) as in this run, blockDim = 8, gridDim = 2"
        ),
        "{seen:?}"
    );
}

#[test]
fn descriptions_that_do_not_fit_are_refused_before_anything_runs() {
    let refused = |launch: &str, told: &str| {
        let place = racy(launch);
        let seen = run_in(&place, &["k.cl", "--launch", "l.toml"]);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains(told) && !seen.err.contains("executing"), "no `{told}`: {seen:?}");
    };
    let (y, t) = (arg("y", "{ buffer = \"y\" }"), arg("t", "{ local = 256 }"));
    let launch = |kernel: &str, arguments: &[(String, String)]| launch_text(kernel, [1; 3], [1; 3], arguments);
    refused(&launch("racing", &[]), "l.toml:11:");
    refused(&launch("race", &[]), "there is no kernel `race` (did you mean `racy`?)");
    refused(&launch("racy", &[y.clone()]), "launch.arguments.t: missing; write t = { local = 1024 }");
    refused(&launch("racy", &[y.clone(), t.clone(), arg("n", "1")]), "racy has no such parameter");
    refused(&launch("racy", &[arg("y", "3"), t.clone()]), "l.toml:15:");
    let whole = launch("racy", &[y.clone(), t.clone()]);
    let with = |line: &str| whole.replacen("block =", &format!("{line}\nblock ="), 1);
    refused(&with("cooperative = true"), "launch.cooperative: work-groups of OpenCL cannot wait for each other");
    refused(&with("cluster = [2]"), "launch.cluster: OpenCL has no clusters of work-groups");
    refused(
        &launch("outside", &[y, arg("far", "1.5"), t]),
        "launch.arguments.far: 1.5 is no value of type int, which holds",
    );
}

#[test]
fn what_opencl_cannot_run_is_told() {
    let launch = launch_text("racy", [1; 3], [1; 3], &[]);
    let place = racy(&launch);
    let refused = |arguments: &[&str], told: &str| {
        let seen = run_in(&place, arguments);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains(told), "no `{told}`: {seen:?}");
    };
    refused(&["k.cl"], "name one by --launch");
    refused(&["k.cl", "--launch", "l.toml", "--backend", "cpu"], "--backend opencl");
    refused(&["k.cl", "k.cl", "--launch", "l.toml"], "is run alone");
}

#[test]
fn a_machine_without_a_driver_is_told_what_to_install() {
    let launch = launch_text("racy", [1; 3], [8, 1, 1], &[arg("y", "{ buffer = \"y\" }"), arg("t", "{ local = 256 }")]);
    let place = racy(&launch);
    // The library that finds drivers looks there.
    let seen = seen_of(place.command(&["run", "k.cl", "--launch", "l.toml"]).env("OCL_ICD_VENDORS", "/nonexistent"));
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("no OpenCL driver found") && seen.err.contains("pocl-opencl-icd"), "{seen:?}");
}
