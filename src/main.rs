//! The entry point; everything is in `raceproof::cli`.

use raceproof::work::memory::Counting;
use std::process::ExitCode;

/// A third of the prover's time goes into small allocations; this allocator halves that. It is counted
/// what they hold.
#[global_allocator]
static ALLOCATOR: Counting<mimalloc::MiMalloc> = Counting(mimalloc::MiMalloc);

fn main() -> ExitCode {
    raceproof::cli::main(std::env::args_os())
}
