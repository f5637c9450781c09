//! Clusters of blocks on the cpu back end: who waits for whom, whose shared memory is reached, what launches are refused.

use super::{run, seen};
use crate::cli::Place;
use std::process::Command;

/// Each block leaves numbers in the shared memory of the next, which reads them; positions in clusters; both halves.
const PROGRAM: &str = r#"#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
constexpr int WIDE = 2;
// What lies between the variables of the next kernel and those of raceproof: shared memory is thread-local, and the array of
// one thread comes near to another thread.
__global__ void apart(int *out) {
  __shared__ int wide[3 << 20];
  wide[threadIdx.x] = 1;
  out[threadIdx.x] = wide[threadIdx.x];
}
template <int High> __global__ void __cluster_dims__(WIDE, High) ring(int *out, int steps) {
  __shared__ int inbox[32];
  extern __shared__ int sums[];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int block = blockIdx.y * gridDim.x + blockIdx.x, sum = 0;
  for (int step = 0; step < steps; step++) {
    cluster.map_shared_rank(inbox, next)[threadIdx.x] = 1000 * cluster.block_rank() + threadIdx.x + step;
    cluster.sync();
    sum += inbox[threadIdx.x];
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
  }
  sums[threadIdx.x] = sum;
  cluster.sync();
  int *first = cluster.map_shared_rank(sums, 0);
  out[block * blockDim.x + threadIdx.x] = first[threadIdx.x];
  if (cluster.query_shared_rank(first) != 0) out[0] = -1;
  cluster.sync();
}
// A launch says how large clusters are.
__global__ void ranks(int *out) {
  cg::cluster_group cluster = cg::this_cluster();
  int thread = cluster.thread_rank();
  if (threadIdx.x == 0)
    out[blockIdx.x] = 100 * cluster.block_rank() + 10 * cluster.dim_blocks().x + thread / blockDim.x +
                      1000 * __clusterIdx().x;
}
// What CUDA has for kernels without the header of groups.
__global__ void __cluster_dims__(3, 1, 2) by_functions(int *out) {
  __shared__ int own[1];
  own[0] = __clusterRelativeBlockRank();
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  int *last = __cluster_map_shared_rank(own, 5);
  dim3 at = __clusterRelativeBlockIdx(), of = __clusterDim(), all = __clusterGridDimInClusters();
  bool is_right = __clusterDimIsSpecified() && __clusterSizeInBlocks() == 6 && *last == 5 &&
                  __cluster_query_shared_rank(last) == 5 && at.x == blockIdx.x % 3 && at.z == blockIdx.z && of.x == 3 &&
                  of.z == 2 && all.x == 2 && all.z == 1 && __clusterIdx().x == blockIdx.x / 3;
  out[blockIdx.x + gridDim.x * blockIdx.z] = is_right;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
static int failures = 0;
static void expect(const char *what, int found, int wanted) {
  if (found == wanted) return;
  failures++;
  printf("%s: %d, not %d\n", what, found, wanted);
}
static cudaError_t launch(int *out, unsigned blocks, unsigned of_cluster) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = of_cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 8;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, ranks, out);
}
int main() {
  int *out, host[12 * 32];
  cudaMalloc(&out, sizeof host);
  // Four blocks of a cluster are no neighbours in the order of blocks.
  ring<2><<<dim3(4, 2), 32, 32 * sizeof(int)>>>(out, 3);
  expect("ring", cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 8 * 32; i++) expect("sum", host[i], 3 * 3000 + 3 * (i % 32) + 3);
  by_functions<<<dim3(6, 1, 2), 1>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 12; i++) expect("by functions", host[i], 1);
  expect("by the launch", launch(out, 12, 3), cudaSuccess);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 12; i++) expect("rank", host[i], 1000 * (i / 3) + 100 * (i % 3) + 30 + i % 3);
  expect("by nobody", (ranks<<<4, 8>>>(out), cudaGetLastError()), cudaSuccess);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; i++) expect("alone", host[i], 1000 * i + 10);
  expect("no whole clusters", launch(out, 7, 3), cudaErrorInvalidClusterSize);
  cudaGetLastError();
  expect("too large", launch(out, 32, 32), cudaErrorInvalidClusterSize);
  printf("%d failures\n", failures);
  return failures;
}
"#;

#[test]
fn blocks_of_a_cluster_run_together_and_reach_each_other() {
    let place = Place::with(&[("k.cu", PROGRAM)]);
    let found = run(&place, &["k.cu", "--keep", "kept"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.out.starts_with("0 failures\n"), "{found:?}");
    assert!(found.out.contains("no conflict in this run"), "{found:?}");
    for (seed, workers) in [(0, "1"), (1, "1"), (2, "4"), (3, "16")] {
        let mut program = Command::new(place.path().join("kept/program"));
        program.env("RACEPROOF_SEED", seed.to_string()).env("RACEPROOF_WORKERS", workers);
        let found = seen(program.env("RACEPROOF_REPORT", place.path().join("report")));
        assert_eq!((found.code, &*found.out), (Some(0), "0 failures\n"), "seed {seed}: {found:?}");
    }
}

/// What is wrong with clusters, one kernel each.
const WRONG: &str = r#"#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2) relaxed(int *out) {
  __shared__ int own[32];
  own[threadIdx.x] = threadIdx.x;
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  out[blockIdx.x * 32 + threadIdx.x] = cg::this_cluster().map_shared_rank(own, 1 - cg::this_cluster().block_rank())[threadIdx.x];
  cg::this_cluster().sync();
}
__global__ void by_launch(int *out) {
  __shared__ int own[32];
  own[threadIdx.x] = threadIdx.x;
  cg::this_cluster().sync();
  out[blockIdx.x * 32 + threadIdx.x] = cg::this_cluster().map_shared_rank(own, 1)[threadIdx.x];
}
__global__ void __cluster_dims__(2) parted(int *out) {
  if (threadIdx.x < 16) cg::this_cluster().sync();
  else __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = 1;
}
__global__ void __cluster_dims__(2) early(int *out) {
  if (blockIdx.x % 2 == 1 && threadIdx.x == 3) return;
  cg::this_cluster().sync();
  out[blockIdx.x * 32 + threadIdx.x] = 1;
}
"#;

fn launch_of(kernel: &str, more: &str) -> String {
    format!(
        "[[buffer]]\nname = \"out\"\ntype = \"int\"\ncount = 128\n[[launch]]\nkernel = \"{kernel}\"\ngrid = 4\nblock = 32\n\
         {more}\narguments = {{ out = {{ buffer = \"out\" }} }}\n"
    )
}

fn told(kernel: &str, more: &str) -> super::Seen {
    let place = Place::with(&[("k.cu", WRONG), ("l.toml", &launch_of(kernel, more))]);
    run(&place, &["k.cu", "--launch", "l.toml"])
}

#[test]
fn an_arrival_that_is_relaxed_publishes_nothing() {
    let found = told("relaxed", "");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("data race on own: of threads of two blocks"), "{found:?}");
    assert!(found.out.contains("5 │   own[threadIdx.x] = threadIdx.x;"), "{found:?}");
    assert!(
        found.out.contains("put cluster.sync() between the two accesses; __syncthreads() waits for one block"),
        "{found:?}"
    );
}

#[test]
fn a_launch_description_says_how_large_clusters_are() {
    let found = told("by_launch", "cluster = [2]");
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.out.contains("by_launch (1 launch, 384 accesses): no conflict seen"), "{found:?}");
    let found = told("by_launch", "");
    assert!(found.err.contains("the shared memory of a block that its cluster does not have"), "{found:?}");
    let found = told("by_launch", "cluster = [3]");
    assert!(found.err.contains("cluster misconfiguration"), "{found:?}");
    let found = told("by_launch", "cluster = \"two\"");
    assert!(found.err.contains("launch.cluster: expected"), "{found:?}");
}

#[test]
fn threads_that_never_come_to_the_barrier_of_a_cluster_are_told() {
    let found = told("parted", "");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.out.contains("for the barrier of the cluster"), "{found:?}");
    assert!(found.out.contains("for the barrier of the block"), "{found:?}");
    // Who has returned is waited for no more.
    let found = told("early", "");
    assert_eq!(found.code, Some(0), "{found:?}");
}
