//! What settings say of kernels by patterns of their names: launches that they are judged for, and contracts that they are judged
//! under.
//!
//! A launch means what `--block-dim`, `--grid-dim` and `--param` mean, and a contract what a line of `--contracts` means, for these
//! kernels alone. The options of one kernel are made of it in [`own_options`](super::own_options).
//!
//! Guarantees: of several that fit a kernel the last one counts, and stands above what is said of all kernels. Deliberately absent:
//! files of settings, and judging.

use crate::diagnostic::report::{FileReport, KernelReport, Report, StatedAt};
use crate::judge::contract::Phrase;
use crate::resolve::program::{FunctionId, Program};
use crate::source::patterns::{NamePattern, PathPattern};
use std::path::Path;

/// What settings say of kernels, in the order in which it stands there.
#[derive(Clone, Debug, Default)]
pub struct KernelSettings(pub Vec<OfKernels>);

/// What they say of kernels that a pattern fits.
#[derive(Clone, Debug)]
pub struct OfKernels {
    /// Their names.
    pub name: NamePattern,
    /// The files that they stand in; `None` means all.
    pub files: Option<PathPattern>,
    /// Where it stands.
    pub at: StatedAt,
    /// What is said.
    pub says: Says,
}

/// What is said of kernels.
#[derive(Clone, Debug)]
pub enum Says {
    /// For which launch they are judged.
    Launch(Given),
    /// Under which conditions on launches; with none for any launch.
    Contract(Vec<Phrase>),
    /// Nothing: something above settings takes its place.
    Nothing,
}

/// A launch, as far as it is given.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Threads of a block.
    pub block: Option<[u32; 3]>,
    /// Blocks.
    pub grid: Option<[u32; 3]>,
    /// Values of parameters.
    pub params: Vec<(String, i128)>,
}

impl Says {
    /// Whether what launches of the project say is not asked for.
    pub(super) fn gives_a_launch(&self) -> bool {
        matches!(self, Says::Launch(Given { block, grid, params })
            if block.is_some() || grid.is_some() || !params.is_empty())
    }
}

impl OfKernels {
    fn fits(&self, names: [&str; 2], paths: [&Path; 2]) -> bool {
        let stands_in = |files: &PathPattern| paths.into_iter().any(|path| files.matches(path));
        names.into_iter().any(|name| self.name.matches(name)) && self.files.as_ref().is_none_or(stands_in)
    }

    fn fits_report(&self, file: &FileReport, kernel: &KernelReport) -> bool {
        let own = kernel.path.as_ref().unwrap_or(&file.path);
        self.fits([&kernel.name, &kernel.instance()], [own, &file.path])
    }

    /// The kernels of these files of a report that are meant.
    pub fn kernels<'r>(&'r self, report: &'r Report, files: &[&Path]) -> Vec<&'r KernelReport> {
        let of_file = |file: &'r FileReport| file.kernels.iter().filter(move |kernel| self.fits_report(file, kernel));
        report.files.iter().filter(|file| files.contains(&file.path.as_path())).flat_map(of_file).collect()
    }
}

impl KernelSettings {
    /// What counts for a kernel.
    pub(super) fn of(&self, program: &Program, function: FunctionId) -> Option<&OfKernels> {
        if self.0.is_empty() {
            return None;
        }
        let called = &program.functions[function];
        let own = &program.sources.file(program.sources.visible(called.span).file).path;
        let (_, unit) = program.sources.files().next()?;
        let instance = match called.template_args.as_slice() {
            [] => called.name.clone(),
            arguments => format!("{}<{}>", called.name, arguments.join(", ")),
        };
        self.0.iter().rev().find(|it| it.fits([&called.name, &instance], [own, &unit.path]))
    }
}
