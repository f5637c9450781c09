//! What a pass makes of a file, as text: for people who want to see why a verdict came out as it did.
//!
//! The passes are those of a check, with the same options; nothing is computed in another way to be shown.

mod intervals;
mod places;

use super::language_of;
use super::options::Options;
use crate::calculus::{self, Kernel};
use crate::front::tree_sitter;
use crate::protocol::infer;
use crate::resolve::program::{FunctionId, Program};
use crate::source::SourceMap;
use crate::{lower, preprocess, resolve, syntax};
use places::Places;
use std::path::Path;

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The surface tree.
    Syntax,
    /// The calculus.
    Calculus,
    /// The memory access protocols.
    Protocol,
    /// Pairs of accesses that share an interval.
    Intervals,
    /// Conflict conditions and how each was decided.
    Conditions,
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The file has no kernel, or none of the wanted names.
    #[error("no kernel to show in {0}")]
    NoKernel(String),
    /// The pass is not composed yet.
    #[error("this build cannot show {0:?} yet")]
    NotComposed(Stage),
}

/// The text of `stage` for the file, or for its kernels.
pub fn show(stage: Stage, path: &Path, text: &str, options: &Options) -> Result<String, ShowError> {
    let unit = parsed(path, text, options);
    if stage == Stage::Syntax {
        return Ok(syntax::print(&unit));
    }
    let program = resolve::resolve(unit).program;
    let kernels: Vec<FunctionId> = selected(&program, options).collect();
    if kernels.is_empty() {
        return Err(ShowError::NoKernel(path.display().to_string()));
    }
    let shown: Result<Vec<String>, ShowError> =
        kernels.into_iter().map(|kernel| of_kernel(stage, &program, kernel)).collect();
    Ok(shown?.join("\n"))
}

fn of_kernel(stage: Stage, program: &Program, function: FunctionId) -> Result<String, ShowError> {
    let kernel: Kernel = lower::lower(program, function);
    let places = Places::new(&program.sources, &kernel);
    match stage {
        Stage::Calculus => Ok(calculus::text::print(&kernel)),
        Stage::Intervals => Ok(intervals::text(&kernel, &infer::infer(&kernel), &places)),
        Stage::Syntax | Stage::Protocol | Stage::Conditions => Err(ShowError::NotComposed(stage)),
    }
}

fn parsed(path: &Path, text: &str, options: &Options) -> syntax::Unit {
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let preprocessing = preprocess::Options {
        defines: options.defines.clone(),
        include_dirs: options.include_dirs.clone(),
        language: language_of(path, options),
    };
    tree_sitter::parse(sources, main, &preprocessing).unit
}

fn selected<'a>(program: &'a Program, options: &'a Options) -> impl Iterator<Item = FunctionId> + 'a {
    program.kernels.iter().copied().filter(|&kernel| {
        let name = &program.functions[kernel].name;
        let last = name.rsplit("::").next().unwrap_or(name);
        options.kernels.is_empty() || options.kernels.iter().any(|wanted| wanted == name || wanted == last)
    })
}
