//! What a pass makes of a file, as text: for people who want to see why a verdict came out as it did.
//!
//! The passes are those of a check, with the same options; nothing is computed in another way to be shown.

mod flow;
mod intervals;
mod places;

use super::asked::{NoKernel, is_named};
use super::options::{Options, Timings};
use super::passes::{Course, INVARIANTS, Model, Pass, model};
use super::selected;
use crate::calculus::Kernel;
use crate::judge::conditions;
use crate::launch::{self, Launched};
use crate::protocol::Protocol;
use crate::resolve::program::FunctionId;
use crate::{calculus, protocol, syntax};
use places::Places;
use std::path::Path;

/// What can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The surface tree.
    Syntax,
    /// The calculus, as it is judged.
    Calculus,
    /// The calculus after a pass.
    After(Pass),
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
    /// The file has no kernel.
    #[error("no kernel to show in {0}")]
    NoKernel(String),
    /// None has a name that was asked for.
    #[error("--kernel: {0}")]
    NotNamed(#[from] NoKernel),
}

/// The text of `stage` for the file, or for its kernels.
pub fn show(stage: Stage, path: &Path, text: &str, options: &Options) -> Result<String, ShowError> {
    if stage == Stage::Syntax {
        return Ok(syntax::print(&super::front::read(path, text, options, None).unit));
    }
    let file = super::read(path, text, options).launched;
    let known = || file.program.kernels.iter().map(|&kernel| file.program.functions[kernel].name.as_str());
    for wanted in options.kernels.iter().filter(|_| known().next().is_some()) {
        if !known().any(|name| is_named(name, wanted)) {
            return Err(NoKernel::new(wanted, &format!("in {}", path.display()), known()).into());
        }
    }
    let kernels: Vec<FunctionId> = selected(&file.program, options).collect();
    if kernels.is_empty() {
        return Err(ShowError::NoKernel(path.display().to_string()));
    }
    let shown: Vec<String> = kernels.into_iter().map(|kernel| of_kernel(stage, &file, kernel, options)).collect();
    Ok(shown.join("\n"))
}

/// A kernel after a pass; with what each pass took, if that is asked for.
fn calculus(pass: Pass, file: &Launched, function: FunctionId, options: &Options) -> String {
    let mut course = Course::until(pass);
    let mut text = calculus::text::print(&course.kernel(file, function, options));
    if options.workload.timings == Timings::Measure {
        for (pass, time) in course.taken() {
            text.push_str(&format!("// {}: {:.3} ms\n", pass.name, time.as_secs_f64() * 1e3));
        }
    }
    text
}

fn of_kernel(stage: Stage, file: &Launched, function: FunctionId, options: &Options) -> String {
    let program = &file.program;
    let of_model = |show: &dyn Fn(&Kernel, &Protocol, &Places<'_>) -> String| {
        let Model { kernel, protocol, .. } = model(file, function, options);
        show(&kernel, &protocol, &Places::new(&program.sources, &kernel))
    };
    match stage {
        Stage::Syntax | Stage::Calculus => calculus(INVARIANTS, file, function, options),
        Stage::After(pass) => calculus(pass, file, function, options),
        Stage::Protocol => of_model(&|_, protocol, _| protocol::text::print(protocol)),
        Stage::Flow => of_model(&|kernel, _, _| flow::text(kernel, &crate::flow::analyze(kernel), &program.sources)),
        Stage::Intervals => of_model(&|kernel, protocol, places| intervals::text(kernel, protocol, places)),
        Stage::Conditions => of_model(&|kernel, protocol, places| {
            let (launches, _) = launch::facts(file, function);
            let place = |site| places.name(site);
            conditions::text(kernel, protocol, &launches, program.language, &options.judging, &place)
        }),
    }
}
