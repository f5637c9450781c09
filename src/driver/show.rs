//! What a pass makes of a file, as text: for people who want to see why a verdict came out as it did.
//!
//! The passes are those of a check, with the same options; nothing is computed in another way to be shown.

mod flow;
mod intervals;
mod places;

use super::options::Options;
use super::{Model, model, selected};
use crate::judge::conditions;
use crate::launch::{self, Launched};
use crate::resolve::program::FunctionId;
use crate::{calculus, protocol, syntax};
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
    /// The inputs that decide where a kernel accesses memory.
    Flow,
    /// Conflict conditions and how each was decided.
    Conditions,
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The file has no kernel, or none of the wanted names.
    #[error("no kernel to show in {0}")]
    NoKernel(String),
}

/// The text of `stage` for the file, or for its kernels.
pub fn show(stage: Stage, path: &Path, text: &str, options: &Options) -> Result<String, ShowError> {
    if stage == Stage::Syntax {
        return Ok(syntax::print(&super::front::read(path, text, options, None).unit));
    }
    let file = super::read(path, text, options).launched;
    let kernels: Vec<FunctionId> = selected(&file.program, options).collect();
    if kernels.is_empty() {
        return Err(ShowError::NoKernel(path.display().to_string()));
    }
    let shown: Vec<String> = kernels.into_iter().map(|kernel| of_kernel(stage, &file, kernel, options)).collect();
    Ok(shown.join("\n"))
}

fn of_kernel(stage: Stage, file: &Launched, function: FunctionId, options: &Options) -> String {
    let Model { kernel, protocol, .. } = model(file, function, options, None);
    let program = &file.program;
    let places = Places::new(&program.sources, &kernel);
    match stage {
        Stage::Syntax | Stage::Calculus => calculus::text::print(&kernel),
        Stage::Protocol => protocol::text::print(&protocol),
        Stage::Flow => flow::text(&kernel, &crate::flow::analyze(&kernel), &program.sources),
        Stage::Intervals => intervals::text(&kernel, &protocol, &places),
        Stage::Conditions => {
            let (launches, _) = launch::facts(file, function);
            let place = |site| places.name(site);
            conditions::text(&kernel, &protocol, &launches, program.language, &options.judging, &place)
        }
    }
}
