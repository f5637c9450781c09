//! Witnesses are launches that somebody would make: whole warps, several blocks, sizes that cover them. Where only others
//! race, that is said.

use raceproof::diagnostic::report::{Finding, KernelReport, WitnessReport};
use raceproof::driver::{Options, check_source};
use raceproof::judge::settings::Launches;
use std::path::Path;

fn checked(path: &str, text: &str) -> Vec<KernelReport> {
    let mut options = Options::default();
    options.judging.launches = Launches::All;
    let report = check_source(Path::new(path), text, &options).report;
    assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
    report.kernels
}

/// The first finding of a kernel in CUDA.
fn finding(text: &str) -> Finding {
    checked("a.cu", text)[0].findings[0].clone()
}

fn witness(text: &str) -> WitnessReport {
    finding(text).witness.unwrap_or_else(|| panic!("{text}: no witness"))
}

/// What is said of blocks that nobody would choose.
fn said(finding: &Finding) -> Vec<&str> {
    finding.notes.iter().map(String::as_str).filter(|note| note.contains("seen only")).collect()
}

#[test]
fn two_warps_and_two_blocks_show_what_two_threads_do() {
    let witness = witness(
        "__global__ void k(int *a, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) a[i] = a[i + 1];\n}\n",
    );
    assert_eq!((witness.block_dim, witness.grid_dim), ([64, 1, 1], [2, 1, 1]));
    assert_eq!(witness.params, [("n".to_owned(), 128)]);
}

#[test]
fn planes_are_tiles_of_the_size_that_the_kernel_names() {
    let tile = |size: u32| {
        witness(&format!(
            "__global__ void k(float *a) {{\n  __shared__ float s[{size} * {size}];\n  s[threadIdx.y * {size} + threadIdx.x] = \
             a[threadIdx.x];\n  a[blockIdx.x] = s[threadIdx.x * {size} + threadIdx.y];\n}}\n"
        ))
        .block_dim
    };
    assert_eq!(tile(16), [16, 16, 1]);
    assert_eq!(tile(32), [32, 32, 1]);
}

#[test]
fn barriers_and_contents_are_shown_like_this_too() {
    let divergent = witness("__global__ void k(int n) {\n  if (threadIdx.x < n) __syncthreads();\n}\n");
    assert_eq!(divergent.block_dim, [64, 1, 1]);
    let counted = witness(
        "__global__ void k(int *bins, const int *v, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) \
         bins[v[i]] = i;\n}\n",
    );
    assert_eq!((counted.block_dim, counted.grid_dim), ([64, 1, 1], [2, 1, 1]));
}

#[test]
fn what_races_in_ragged_blocks_alone_says_so() {
    let body = "  __shared__ int s[1024];\n  if (blockDim.x % 32 != 0) s[0] = threadIdx.x;\n  x[threadIdx.x] = s[0];";
    let ragged = finding(&format!("__global__ void k(int *x) {{\n{body}\n}}\n"));
    assert_eq!(said(&ragged), ["it was seen only in blocks that are no multiple of 32 threads"]);
    let any =
        finding(&format!("__global__ void k(int *x) {{\n{}\n}}\n", body.replace("if (blockDim.x % 32 != 0) ", "")));
    assert!(said(&any).is_empty(), "{:?}", any.notes);
}

#[test]
fn work_groups_are_called_that() {
    let text = "__kernel void k(__global int *x, __local int *s) {\n  if (get_local_size(0) % 32 != 0) s[0] = get_local_id(0);\n  \
                x[get_global_id(0)] = s[0];\n}\n";
    let finding = checked("a.cl", text)[0].findings[0].clone();
    assert_eq!(said(&finding), ["it was seen only in work-groups that are no multiple of 32 work-items"]);
}

#[test]
fn what_the_source_fixes_is_not_unnatural() {
    let text = "__global__ void __launch_bounds__(32) k(int *x) {\n  __shared__ int s[32];\n  s[threadIdx.x] = 1;\n  \
                x[threadIdx.x] = s[31 - threadIdx.x];\n}\n";
    let finding = finding(text);
    assert_eq!(finding.witness.as_ref().map(|witness| witness.block_dim), Some([32, 1, 1]));
    assert!(said(&finding).is_empty(), "{:?}", finding.notes);
}
