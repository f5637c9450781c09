//! Which kernels and parameters that were asked for by name there are none of.
//!
//! Deliberately absent: what is said of them, which depends on whether the report is the whole one.

use crate::diagnostic::report::{KernelReport, Report};
use crate::driver::Options;
use crate::driver::asked::{NoKernel, is_named};
use std::path::Path;

/// Names of `--kernel` that no kernel of the report has.
pub(super) fn kernels_missing<'a>(report: &'a Report, options: &'a Options) -> impl Iterator<Item = &'a String> {
    options.kernels.iter().filter(|wanted| !kernels(report).any(|kernel| is_named(&kernel.name, wanted)))
}

/// What is said of a name that no kernel of the whole report has.
pub(super) fn no_kernel(wanted: &str, report: &Report) -> NoKernel {
    let files: Vec<&Path> = report.files.iter().map(|file| file.path.as_path()).take(2).collect();
    let place = match files[..] {
        [file] => format!("in {}", file.display()),
        _ => "in the files given".to_owned(),
    };
    let asked = kernels(report).map(|kernel| kernel.name.as_str());
    let others = report.files.iter().flat_map(|file| &file.unasked).map(String::as_str);
    NoKernel::new(wanted, &place, asked.chain(others))
}

/// Names of `--param` that no kernel of the report has a parameter of.
pub(super) fn params_missing<'a>(report: &'a Report, options: &'a Options) -> impl Iterator<Item = &'a String> {
    let params = options.judging.params.iter().map(|(name, _)| name);
    params.filter(|wanted| !kernels(report).any(|kernel| kernel.params.contains(wanted)))
}

/// All kernels of a report.
pub(super) fn kernels(report: &Report) -> impl Iterator<Item = &KernelReport> {
    report.files.iter().flat_map(|file| &file.kernels)
}
