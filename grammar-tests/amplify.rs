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
