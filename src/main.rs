//! The entry point; everything is in `raceproof::cli`.

use std::process::ExitCode;

/// A third of the prover's time goes into small allocations; this allocator halves that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    raceproof::cli::main(std::env::args_os())
}
