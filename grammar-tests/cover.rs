//! `raceproof cover`: what a run of a program reaches, on programs whose counts are known.

use crate::cli::{Place, Seen};
use crate::support::tools;
use serde_json::Value;

fn cover(place: &Place, arguments: &[&str]) -> Seen {
    place.run(&[&["cover"], arguments].concat())
}

/// Whether programs are run in this tier.
fn runs() -> bool {
    tools::are_used()
}

/// One launch of two blocks of 64 threads for the number that the program is given.
fn program(device: &str) -> String {
    format!(
        "#include <cstdio>\n#include <cstdlib>\n{device}
int main(int argc, char **argv) {{
  int n = argc > 1 ? atoi(argv[1]) : 0, *out;
  cudaMalloc(&out, 128 * sizeof(int));
  k<<<2, 64>>>(out, n);
  printf(\"ended %d\\n\", (int)cudaDeviceSynchronize());
}}\n"
    )
}

const COUNTED: &str = "__global__ void k(int *out, int n) {
  int t = threadIdx.x, w = 0;
  for (int i = 0; i < n; i++)
    w += i;
  if (n > 3)
    w++;
  else if (t < 32) {
    w--;
  }
  if (t == 63 && n > 100) return;
  do w++; while (w < 0);
  out[blockIdx.x * 64 + t] = t % 2 ? w : -w;
  __syncthreads();
}";

fn points(json: &str, kind: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(json).unwrap();
    let points = report["points"].as_array().unwrap();
    points.iter().filter(|point| point["kind"] == kind).cloned().collect()
}

fn numbers(point: &Value, names: &[&str]) -> Vec<u64> {
    names.iter().map(|name| point[*name].as_u64().unwrap_or_else(|| panic!("{name} of {point}"))).collect()
}

#[test]
fn every_execution_of_every_thread_is_counted() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(COUNTED))]);
    let seen = cover(&place, &["k.cu", "--format", "json", "--", "2"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(seen.err.contains("ended 0"), "the program's own output stands aside: {}", seen.err);
    let branches = points(&seen.out, "branch");
    let sides = |point: &Value| numbers(point, &["line", "holds", "fails", "diverged_warps", "uniform_warps"]);
    let found: Vec<Vec<u64>> = branches.iter().map(sides).collect();
    // Two lines stand before the kernel. Only whether a number is even divides warps.
    assert_eq!(found, [[7, 0, 128, 0, 4], [9, 64, 64, 0, 4], [12, 0, 128, 0, 4], [14, 64, 64, 4, 0]].map(Vec::from));
    let loops: Vec<Vec<u64>> =
        points(&seen.out, "loop").iter().map(|it| numbers(it, &["line", "none", "one", "several", "turns"])).collect();
    assert_eq!(loops, [[5, 0, 0, 128, 256], [13, 0, 128, 0, 128]].map(Vec::from));
    let barriers = points(&seen.out, "barrier");
    assert_eq!(numbers(&barriers[0], &["line", "whole", "partial", "arrivals"]), [15, 2, 0, 128]);
    let of_line = |line: u64| {
        let runs = points(&seen.out, "run");
        let at = runs.iter().find(|run| run["lines"].as_array().unwrap().contains(&line.into()));
        at.unwrap_or_else(|| panic!("line {line}"))["times"].as_u64().unwrap()
    };
    assert_eq!([4, 6, 8, 10, 13, 15].map(of_line), [128, 256, 0, 64, 128, 128]);
}

#[test]
fn runs_are_added_up_and_what_none_reaches_is_told() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(COUNTED))]);
    let first = cover(&place, &["k.cu", "--", "0"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    for told in [
        "k.cu:5:3: loop never of one turn, never of several turns (in k)",
        "k.cu:7:7: branch never true (in k)",
        "k.cu:13:3: loop never of several turns (in k)",
        "k.cu: never executed: line 6, line 8",
        "barriers 100.0 % (1 of 1)",
    ] {
        assert!(first.out.contains(told), "no `{told}`: {}", first.out);
    }
    for (number, name) in ["0", "1", "5"].iter().zip(["0.json", "1.json", "5.json"]) {
        let seen = cover(&place, &["k.cu", "--format", "json", "--output", name, "--", number]);
        assert_eq!((seen.code, seen.out.contains("ended 0")), (Some(0), true), "{}", seen.err);
    }
    let all = cover(&place, &["k.cu", "--with", "0.json", "--with", "1.json", "--with", "5.json", "--", "200"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    assert!(all.out.contains("branches 100.0 % (8 of 8)"), "{}", all.out);
    assert!(all.out.contains("lines    100.0 %"), "{}", all.out);
    assert!(all.out.contains("loops     80.0 % (4 of 5)"), "{}", all.out);
}

#[test]
fn a_barrier_that_some_threads_miss_is_not_reached_and_they_are_named() {
    if !runs() {
        return;
    }
    let device = "__global__ void k(int *out, int n) {
  int t = threadIdx.x;
  if (t < n) __syncthreads();
  out[t] = 0;
}";
    let place = Place::with(&[("k.cu", &program(device))]);
    let seen = cover(&place, &["k.cu", "--", "5"]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.out.contains("barriers   0.0 % (0 of 1)"), "{}", seen.out);
    let told = "k.cu:5:14: barrier never reached by all threads of a block: in block (0,0,0) of launch 1, \
                threads (5,0,0) to (63,0,0) do not come (in k)";
    let other = told.replace("block (0,0,0)", "block (1,0,0)");
    assert!(seen.out.contains(told) || seen.out.contains(&other), "{}", seen.out);
    assert!(seen.out.contains("[barrier-divergence]"), "{}", seen.out);
    let whole = cover(&place, &["k.cu", "--", "64"]);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    assert!(whole.out.contains("barriers 100.0 % (1 of 1)"), "{}", whole.out);
}

#[test]
fn a_report_may_be_asked_for_more_than_is_reached() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(COUNTED))]);
    let seen = cover(&place, &["k.cu", "--fail-under", "80", "--format", "lcov", "--output", "k.info", "--", "0"]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.err.contains("barriers, branches and loops: 64.3 % (9 of 14), which is under 80 %"), "{}", seen.err);
    let enough = cover(&place, &["k.cu", "--fail-under", "64", "--", "0"]);
    assert_eq!(enough.code, Some(0), "{}", enough.err);
    let tracefile = std::fs::read_to_string(place.path().join("k.info")).unwrap();
    for line in ["SF:k.cu", "BRDA:7,0,0,0", "BRDA:7,0,1,128", "DA:8,0", "DA:15,128", "end_of_record"] {
        assert!(tracefile.lines().any(|it| it == line), "no `{line}`: {tracefile}");
    }
}

#[test]
fn other_programs_read_what_is_written_for_them() {
    if !runs() {
        return;
    }
    let place = Place::with(&[("k.cu", &program(COUNTED))]);
    for (format, name) in [("lcov", "k.info"), ("cobertura", "k.xml"), ("html", "k.html")] {
        let seen = cover(&place, &["k.cu", "--format", format, "--output", name, "--", "5"]);
        assert_eq!(seen.code, Some(0), "{format}: {}", seen.err);
    }
    let genhtml = std::process::Command::new("genhtml")
        .args(["--branch-coverage", "--output-directory", "shown", "k.info"])
        .current_dir(place.path())
        .output()
        .expect("genhtml is there (lcov)");
    let said = String::from_utf8_lossy(&genhtml.stdout).into_owned();
    assert!(genhtml.status.success(), "{said}{}", String::from_utf8_lossy(&genhtml.stderr));
    assert!(said.contains("(9 of 11 lines)") && said.contains("(4 of 8 branches)"), "{said}");
    // Python reads XML as it should be read.
    let script = "import sys, xml.etree.ElementTree as t; root = t.parse(sys.argv[1]).getroot(); \
                  print(root.get('branches-covered'), root.get('branches-valid'), [c.get('filename') for c in root.iter('class')])";
    let python = std::env::var("RACEPROOF_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let read =
        std::process::Command::new(python).args(["-c", script, "k.xml"]).current_dir(place.path()).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&read.stdout).trim(),
        "4 8 ['k.cu']",
        "{}",
        String::from_utf8_lossy(&read.stderr)
    );
    let page = std::fs::read_to_string(place.path().join("k.html")).unwrap();
    assert!(page.contains("<td class=\"code\">  if (n &gt; 3)<p class=\"missed\">✗ branch never false</p>"), "{page}");
    assert!(!page.contains("http"), "it needs no network");
}

#[test]
fn what_a_program_was_ended_in_is_not_taken_for_missed_in_silence() {
    if !runs() {
        return;
    }
    let device = "__global__ void k(int *out, int n) {
  volatile int *seen = out;
  while (n > 0 && seen[100] == 0) { }
  __syncthreads();
  out[threadIdx.x] = 1;
}";
    let place = Place::with(&[("k.cu", &program(device))]);
    let seen = cover(&place, &["k.cu", "--timeout", "1", "--", "1"]);
    assert_eq!(seen.code, Some(2), "{}", seen.err);
    assert!(seen.err.contains("what the launch that was under way reached is not counted"), "{}", seen.err);
    let ended = cover(&place, &["k.cu", "--", "0"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!ended.err.contains("under way"), "{}", ended.err);
}

/// What stands behind a barrier that never opens, or behind the end of a thread, is not reached.
#[test]
fn lines_that_no_thread_comes_to_are_not_executed() {
    if !runs() {
        return;
    }
    let device = "__global__ void k(int *out, int n) {
  if (threadIdx.x < 5) {
    __syncthreads();
    out[0] = n;
  } else {
    if (n > 0) __trap();
    __syncthreads();
  }
}
__global__ void other(int *out) {
  __trap();
  out[0] = 1;
}";
    let text = program(device)
        .replace("k<<<2, 64>>>(out, n);", "if (n == 0) other<<<1, 1>>>(out); else k<<<1, 64>>>(out, n);");
    let place = Place::with(&[("k.cu", &text)]);
    let seen = cover(&place, &["k.cu", "--", "0"]);
    assert!(seen.out.contains("line 14"), "{}{}", seen.out, seen.err);
}

/// Code that counters must leave as it is: declared conditions, labels, jumps into blocks, constant expressions, macros, lambdas,
/// classes that are asked for a truth value, templates, statements without braces before `else`.
const HARD: &str = r#"
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define UNLESS(c, what) if (!(c)) { what; }
struct Maybe { int it; __device__ explicit operator bool() const { return it != 0; } };
constexpr __host__ __device__ int twice(int n) { return n > 0 ? 2 * n : 0; }
template <int N, class T> __device__ T sum(const T *from) {
  T all = 0;
  if constexpr (N > 2) { for (int i = 0; i < N; ++i) all += from[i]; } else all = from[0];
  return all;
}
__device__ int duff(int n) {
  int done = 0, left = (n + 3) / 4;
  switch (n % 4) {
    case 0: do { done++;
    case 3: done++;
    case 2: done++;
    case 1: done++; } while (--left > 0);
  }
  return done;
}
__device__ void leaves(int *out, int n) {
  while (true) {
    if (n-- < 0) break;
    if (n % 2) continue;
    for (;;) { if (n > 5) return; break; }
    out[0] += 0;
  }
}
__global__ void k(int *out, int n) {
  __shared__ int table[twice(8)];
  int t = threadIdx.x;
  static_assert(twice(3) == 6 ? true : false, "constant");
  if (t < 16) table[t] = t;
  __syncthreads();
  int w = 0;
  if (int half = n / 2) w += half; else w -= 1;
  if (Maybe m{n}; m) w += 1;
  EACH(i, n) UNLESS(i % 2, w += i)
  if (n > 2)
    for (int i = 0; i < 2; i++)
      if (i) w += 2; else w += 3;
  else
    w = 9;
  auto more = [&](int by) { return by > 1 ? w + by : w; };
  for (int each : {1, 2, 3}) w = more(each);
  int part[4] = {1, 2, 3, 4};
  w += sum<4>(part) + sum<1>(part) + duff(n + 5);
  int at = n; while (at --> 0) w++;
  if (w) goto end;
  w = 1;
end:
  if (t == 0) leaves(out, n);
  out[t] = w + (table[t % 16], t);
}
"#;

#[test]
fn programs_do_what_they_do_without_counters() {
    if !runs() {
        return;
    }
    let text = program(HARD).replace(
        "printf(\"ended %d\\n\", (int)cudaDeviceSynchronize());",
        "int all = (int)cudaDeviceSynchronize(), host[64]; cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
         for (int i = 0; i < 64; i++) all = all * 31 + host[i]; printf(\"all %d\\n\", all);",
    );
    let place = Place::with(&[("k.cu", &text)]);
    for number in ["0", "3", "8"] {
        let plain = place.command(&["run", "--backend", "cpu", "--no-log", "k.cu", "--", number]).output().unwrap();
        let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
        let line = plain.lines().find(|line| line.starts_with("all ")).unwrap_or_else(|| panic!("{plain}"));
        let seen = cover(&place, &["k.cu", "--", number]);
        assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
        assert!(seen.out.contains(line), "{line}: {}", seen.out);
        for (what, function) in [
            ("a condition that declares a variable", "k"),
            ("a function that is `constexpr`", "twice"),
            ("a loop that holds a label of a `switch` around it", "duff"),
        ] {
            let told = format!(": not counted: {what} in {function}");
            assert!(
                seen.err.lines().any(|line| line.contains("k.cu:") && line.ends_with(&told)),
                "no `{told}`: {}",
                seen.err
            );
        }
    }
}

#[test]
fn units_that_share_a_header_have_its_points_once() {
    if !runs() {
        return;
    }
    let header = "#pragma once\ntemplate <int N> __device__ int clamp(int v) { if (v > N) return N; return v; }\n";
    let unit = |name: &str, limit: u32| {
        format!(
            "#include \"clamp.cuh\"\n__global__ void {name}_kernel(int *out) {{ out[threadIdx.x] = clamp<{limit}>(threadIdx.x); }}\n\
             void {name}(int *out) {{ {name}_kernel<<<1, 8>>>(out); }}\n"
        )
    };
    let main = "void one(int *); void two(int *);
        int main() { int *out; cudaMalloc(&out, 64); one(out); two(out); return (int)cudaDeviceSynchronize(); }\n";
    let place = Place::with(&[
        ("clamp.cuh", header),
        ("one.cu", &unit("one", 100)),
        ("two.cu", &unit("two", 3)),
        ("main.cu", main),
    ]);
    let seen = cover(&place, &["main.cu", "one.cu", "two.cu", "--format", "json"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let branches = points(&seen.out, "branch");
    assert_eq!(branches.len(), 1, "{branches:?}");
    assert_eq!(branches[0]["file"], "clamp.cuh");
    assert_eq!(numbers(&branches[0], &["holds", "fails"]), [4, 12]);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let place = Place::with(&[
        ("k.cu", &program(COUNTED)),
        ("k.cl", "kernel void k(int n) { }\n"),
        (
            "old.json",
            "{\"schema\": \"raceproof-coverage/0\", \"totals\": {\"barriers\": {\"reached\": 0, \"all\": 0}, \"branches\": {\"reached\": 0, \"all\": 0}, \"loops\": {\"reached\": 0, \"all\": 0}, \"lines\": {\"reached\": 0, \"all\": 0}}, \"points\": []}",
        ),
        ("other.json", "[1]"),
    ]);
    for (arguments, told) in [
        (&["k.cu", "--log", "x"][..], "keeps no log"),
        (&["k.cl"], "OpenCL kernels are counted in a program that launches them"),
        (&["k.cu", "--backend", "cuda"], "counted by --backend cpu"),
        (&["k.cu", "--fail-under", "101"], "from 0 to 100"),
        (&["k.cu", "--with", "none.json"], "cannot read none.json"),
        (&["k.cu", "--with", "other.json"], "other.json: no coverage in JSON"),
        (&["k.cu", "--with", "old.json"], "old.json: it has the schema `raceproof-coverage/0`"),
    ] {
        let seen = cover(&place, arguments);
        assert_eq!(seen.code, Some(2), "{arguments:?}: {}", seen.err);
        assert!(seen.err.contains(told), "{arguments:?}: {}", seen.err);
    }
}
