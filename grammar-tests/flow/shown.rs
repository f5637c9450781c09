//! What `raceproof show flow` prints.

use raceproof::driver::options::Options;
use raceproof::driver::show::{Stage, show};
use std::path::Path;

const TEXT: &str = "\
__global__ void scatter(float *out, const int *idx, int n, int unused) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int j = idx[i] + 1;
    out[j] = unused;
  }
}
__global__ void order(int *key) {
  int i = 2 * threadIdx.x;
  if (key[i] > key[i + 1]) {
    int t = key[i];
    key[i] = key[i + 1];
    key[i + 1] = t;
  }
}
__global__ void append(int *out, int *next) { out[atomicAdd(next, 1)] = int(sinf(threadIdx.x)); }
__global__ void plain(float *a) { a[threadIdx.x] = 0; }
";

#[test]
fn chains_lead_from_inputs_to_accesses() {
    let shown = show(Stage::Flow, Path::new("k.cu"), TEXT, &Options::default()).unwrap();
    insta::assert_snapshot!("flow", shown);
}
