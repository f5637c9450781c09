//! `raceproof amplify` on whole programs, through the machine's own compiler: one build for all that a run shows.

use crate::cli::Place;
use serde_json::Value;
use std::process::Stdio;

const PROGRAM: &str = r#"
#include <cstdio>
#include <cstdlib>
__global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void scatter(float *y, const int *idx) { y[idx[threadIdx.x]] = 1; }
__global__ void gather(float *y, const float *x, const int *idx) { y[threadIdx.x] = x[idx[threadIdx.x]]; }
__global__ void append(int *out, int *next) { out[atomicAdd(next, 1)] = threadIdx.x; }
__global__ void racy(float *y) { y[threadIdx.x / 2] = threadIdx.x; }
__global__ void never(float *y) { y[threadIdx.x] = 0; }
__global__ void in_place(int *to, const int *from) { to[from[threadIdx.x] & 0] = 1; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100;
  float *x, *y;
  int *idx;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMalloc(&idx, 256 * sizeof(int));
  int host[256];
  for (int i = 0; i < 256; i++) host[i] = i;
  cudaMemcpy(idx, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(x, 0, 256 * sizeof(float));
  cudaMemset(y, 0, 256 * sizeof(float));
  saxpy<<<4, 32>>>(y, x, 2.0f, n);
  saxpy<<<4, 32>>>(x, y, 3.0f, n);
  scatter<<<1, 32>>>(y, idx);
  gather<<<1, 32>>>(y, x, idx);
  gather<<<1, 32>>>(y, y + 128, idx);
  append<<<1, 1>>>(idx, idx + 200);
  racy<<<1, 32>>>(y);
  return 0;
}
"#;

fn answer<'v>(said: &'v Value, name: &str) -> &'v Value {
    let kernels = said["kernels"].as_array().expect("kernels");
    kernels.iter().find(|kernel| kernel["name"] == name).unwrap_or_else(|| panic!("no {name} in {said}"))
}

#[test]
fn one_run_says_of_each_kernel_what_it_shows() {
    let place = Place::with(&[("program.cu", PROGRAM)]);
    let mut command = place.command(&["amplify", "--backend", "cpu", "--format", "json", "program.cu", "--", "120"]);
    let output = command.stdin(Stdio::null()).output().expect("raceproof runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("executing the program"), "{err}");
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    let said: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}{err}"));
    assert_eq!(said["schema"], "raceproof.amplify.v1");
    assert_eq!(said["run"]["complete"], true, "{said:#}");
    let saxpy = answer(&said, "saxpy");
    assert_eq!(saxpy["verdict"], "race-free-for-all-data", "{said:#}");
    assert_eq!(saxpy["statements"][0]["fixed"][0]["value"], "120", "{saxpy:#}");
    assert_eq!(saxpy["statements"][0]["launches"], 2, "{saxpy:#}");
    assert_eq!(saxpy["statements"][0]["block_dim"][0], 32, "{saxpy:#}");
    assert_eq!(saxpy["this_back_end_only"].as_array().map(Vec::len), Some(0), "{saxpy:#}");
    for (name, kind) in [("scatter", "data-dependent-access"), ("gather", "overlapping-pointers")] {
        assert_eq!(answer(&said, name)["verdict"], "this-run-only", "{said:#}");
        assert_eq!(answer(&said, name)["obstacles"][0]["kind"], kind, "{said:#}");
    }
    let append = answer(&said, "append")["obstacles"].to_string();
    assert!(append.contains("schedule-dependent-access"), "{append}");
    let racy = answer(&said, "racy");
    assert_eq!((&racy["verdict"], &racy["races"][0]["primary"]["line"]), (&"racy".into(), &11.into()), "{racy:#}");
    for name in ["never", "in_place"] {
        assert_eq!(answer(&said, name)["obstacles"][0]["kind"], "not-launched", "{said:#}");
    }
}

/// Runs a fixture that is a whole program; its answer, its output, and the lines that have this comment.
fn whole_program(name: &str) -> (Value, String, String) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/amplification").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let place = Place::with(&[(name, &text)]);
    let mut command = place.command(&["amplify", "--backend", "cpu", "--format", "json", name]);
    let output = command.stdin(Stdio::null()).output().expect("raceproof runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    // What the program prints is no part of the report.
    let said = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}{err}"));
    (said, err.into_owned(), text)
}

/// The line on which `code` stands first behind `from`.
fn line(text: &str, from: &str, code: &str) -> usize {
    let start = text.find(from).unwrap_or_else(|| panic!("no `{from}`"));
    let at = start + text[start..].find(code).unwrap_or_else(|| panic!("no `{code}`"));
    text[..at].lines().count().max(1) + usize::from(text[..at].ends_with('\n'))
}

/// The lines of each race, the lower one first.
fn races(kernel: &Value) -> Vec<[usize; 2]> {
    let races = kernel["races"].as_array().expect("races");
    let lines = |race: &Value| {
        let mut lines = ["primary", "secondary"].map(|side| race[side]["line"].as_u64().expect("a line") as usize);
        lines.sort_unstable();
        lines
    };
    races.iter().map(lines).collect()
}

#[test]
fn a_product_without_a_barrier_behind_it_is_shown_to_race() {
    let (said, _, text) = whole_program("scalar_product_program.cu");
    let (next, tree) = (line(&text, "_bad(", "partial[i] = sum"), line(&text, "_bad(", "partial[i] += partial"));
    let old = answer(&said, "product_without_barrier_bad");
    assert_eq!((&old["verdict"], races(old)), (&"racy".into(), vec![[next, tree]]), "{old:#}");
    let mended = answer(&said, "product_ok");
    assert_eq!(mended["verdict"], "race-free-for-all-data", "{mended:#}");
}

#[test]
fn a_sum_that_relies_on_lock_step_is_shown_to_race_and_to_be_wrong() {
    let (said, out, text) = whole_program("reduction_program.cu");
    let tail = line(&text, "_bad(", "cell[t] += cell[t + distance]");
    let old = answer(&said, "volatile_tail_bad");
    assert_eq!(old["verdict"], "racy", "{old:#}");
    assert!(races(old).iter().all(|race| *race == [tail, tail]) && !races(old).is_empty(), "{old:#}");
    let mended = answer(&said, "synchronized_tail_ok");
    assert_eq!(mended["verdict"], "race-free-for-all-data", "{mended:#}");
    // The threads of the CPU run one after the other, and no warp keeps them in step.
    assert!(out.contains("without barriers of the warp 4 of 4 are wrong, with them 0"), "{out}");
}

#[test]
fn bins_that_rely_on_lock_step_are_shown_to_race() {
    let (said, _, text) = whole_program("histogram_program.cu");
    let (read, write) = (line(&text, "add_tagged", "count = tag"), line(&text, "add_tagged", "bins[bin] = count"));
    let old = answer(&said, "tagged_bad");
    assert_eq!(old["verdict"], "racy", "{old:#}");
    for race in [[read, write], [write, write], [write, write + 1]] {
        assert!(races(old).contains(&race), "no {race:?}: {old:#}");
    }
    let mended = answer(&said, "atomic_ok");
    assert_eq!(mended["verdict"], "this-run-only", "{mended:#}");
    assert_eq!(mended["obstacles"][0]["kind"], "data-dependent-access", "{mended:#}");
}

#[test]
fn a_program_that_fails_is_no_clean_run() {
    let program = |status: u8| {
        format!(
            "#include <cstdio>\n__global__ void one(int *x) {{ x[threadIdx.x] = 1; }}\nint main() {{\n  int *x;\n  cudaMalloc(&x, \
             4096);\n  one<<<1, 64>>>(x);\n  puts(\"{{\");\n  return {status};\n}}\n"
        )
    };
    for (status, code) in [(0, 0), (3, 2)] {
        let place = Place::with(&[("one.cu", &program(status))]);
        let mut command = place.command(&["amplify", "--backend", "cpu", "--format", "json", "one.cu"]);
        let output = command.stdin(Stdio::null()).output().expect("raceproof runs");
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        // The brace that the program prints is no part of the report.
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(answer(&said, "one")["verdict"], "race-free-for-all-data", "{said:#}");
    }
}

#[test]
fn no_barrier_is_advised_within_one_statement() {
    let two = "x[threadIdx.x] = 1;\n  y[threadIdx.x] = x[threadIdx.x ^ 1];";
    for (statement, advised) in [("x[0] = threadIdx.x;", false), (two, true)] {
        let program = format!(
            "__global__ void k(int *x, int *y) {{\n  {statement}\n}}\nint main() {{\n  int *x, *y;\n  cudaMalloc(&x, 4096);\n  \
             cudaMalloc(&y, 4096);\n  k<<<1, 64>>>(x, y);\n}}\n"
        );
        let place = Place::with(&[("k.cu", &program)]);
        let out = place.run(&["run", "k.cu", "--backend", "cpu"]).expect(1).out;
        assert_eq!(out.contains("put __syncthreads() between the two accesses"), advised, "{out}");
        assert_eq!(out.contains("no barrier helps within one statement"), !advised, "{out}");
    }
}
