//! The weakest condition under which a kernel that races is free of races, through the whole of a check.

use raceproof::diagnostic::report::{KernelReport, Race, WitnessReport};
use raceproof::driver::{Options, check_source};
use std::path::Path;

fn checked(text: &str) -> KernelReport {
    check_source(Path::new("k.cu"), text, &Options::default()).report.kernels.remove(0)
}

fn extents(witness: &WitnessReport) -> [i128; 3] {
    let n = witness.params.iter().find(|(name, _)| name == "n").map_or(0, |&(_, value)| value);
    [i128::from(witness.block_dim[0]), i128::from(witness.grid_dim[0]), n]
}

/// The body of a kernel, what is said, the same as C, and the same of a launch: block, grid and `n`.
type Case = (&'static str, &'static str, &'static str, fn([i128; 3]) -> bool);

const CASES: [Case; 5] = [
    ("a[threadIdx.x] = blockIdx.x;", "gridDim.x = 1", "gridDim.x == 1", |[_, grid, _]| grid == 1),
    (
        "a[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1;",
        "n >= gridDim.x * blockDim.x",
        "n >= (long)gridDim.x * blockDim.x",
        |[block, grid, n]| n >= grid * block,
    ),
    (
        "__shared__ int s[1024]; s[threadIdx.x & (blockDim.x - 1)] = threadIdx.x;",
        "blockDim.x is a power of two",
        "(blockDim.x & (blockDim.x - 1)) == 0",
        |[block, ..]| block & (block - 1) == 0,
    ),
    (
        "__shared__ int s[2048]; s[threadIdx.x] = 1; s[threadIdx.x + 256] = 2;",
        "blockDim.x <= 256",
        "blockDim.x <= 256",
        |[block, ..]| block <= 256,
    ),
    ("*a = threadIdx.x;", "", "", |_| false),
];

#[test]
fn a_condition_suffices_and_the_witness_breaks_it() {
    for (body, said, stated, holds) in CASES {
        let kernel = |assumed: &str| format!("__global__ void k(int *a, int n) {{ {assumed} {body} }}");
        let racy = checked(&kernel(""));
        assert_eq!(racy.race, Race::Racy, "{body}");
        let condition = racy.free_if.map(|free_if| free_if.condition).unwrap_or_default();
        assert_eq!(condition, said, "{body}");
        let witnesses = racy.findings.iter().filter_map(|finding| finding.witness.as_ref());
        assert!(witnesses.map(extents).all(|extents| !holds(extents)), "{body}");
        if !said.is_empty() {
            assert_eq!(checked(&kernel(&format!("__builtin_assume({stated});"))).race, Race::RaceFree, "{body}");
        }
    }
}

#[test]
fn nothing_is_said_of_kernels_that_do_not_race() {
    for body in ["a[blockIdx.x * blockDim.x + threadIdx.x] = 1;", "a[a[threadIdx.x]] = 1;", "asm(\"what\"); a[0] = 1;"]
    {
        let text = format!("__global__ void k(int *a) {{ {body} }}");
        assert_eq!(checked(&text).free_if, None, "{body}");
    }
}
