//! The entry point; everything is in `raceproof::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    raceproof::cli::main(std::env::args_os())
}
