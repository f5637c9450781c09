//! The cpu back end: any C++17 compiler and the embedded runtime.
//!
//! [`build`] writes the runtime and the instrumented units into a scratch directory and makes a program of them;
//! [`run`] runs it under a deadline. Units of plain C++ are compiled as they stand.

mod compiler;
mod refused;

pub(super) use compiler::{FLAGS, compile_library};

use super::ExecuteError;
use super::program::parent;
use super::scratch::Scratch;
use crate::instrument::runtime;

pub use super::program::{BuildOptions, Logging, Outcome, Program, RunOptions, Stop, Unit, run};

/// Builds a program of `units`.
pub fn build(
    units: &[Unit],
    options: &BuildOptions,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<Program, ExecuteError> {
    for file in runtime::cpu_files() {
        scratch.write(&format!("runtime/{}", file.path), &file.text)?;
    }
    let mut sources = Vec::new();
    let (mut first_site, mut first_point) = (0, 0);
    for (number, unit) in units.iter().enumerate() {
        let (path, directory) = match unit {
            Unit::Instrumented { text, directory, .. } => {
                (scratch.write(&format!("unit{number}.cpp"), text)?, directory.clone())
            }
            Unit::Plain(path) => (path.clone(), parent(path)),
        };
        sources.push(compiler::Source { path, directory, first_site, first_point });
        if let Unit::Instrumented { sites, points, .. } = unit {
            first_site += sites;
            first_point += points;
        }
    }
    let executable = compiler::compile(&sources, options, scratch, stop)?;
    Ok(Program { executable, report: scratch.path().join("report"), counts: scratch.path().join("counts") })
}
