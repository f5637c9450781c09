//! What the tests with real editors have in common.

use std::path::{Path, PathBuf};

/// A race that a barrier ends, in line 3.
pub(super) const CUDA: &str = "__global__ void halves(float *y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() { halves<<<1, 64>>>(0); }
";

/// A race in line 1.
pub(super) const OPENCL: &str = "__kernel void k(__global int *y) { y[get_global_id(0) / 2] = 1; }\n";

/// The program that a variable names, or the one of that name on the PATH.
pub(super) fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = || {
        let directories = std::env::var_os("PATH")?;
        std::env::split_paths(&directories).map(|at| at.join(name)).find(|program| program.is_file())
    };
    named.or_else(found)
}

/// The PATH, with the binary under test first.
pub(super) fn path() -> std::ffi::OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_raceproof")).parent().unwrap().to_path_buf();
    let known = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&known))).unwrap()
}
