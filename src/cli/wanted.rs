//! Which kernels and parameters that were asked for by name there are none of.
//!
//! Deliberately absent: what is said of them, which depends on whether the report is the whole one.

use crate::diagnostic::report::{KernelReport, Report};
use crate::driver::Options;

/// Names of `--kernel` that no kernel of the report has.
pub(super) fn kernels_missing<'a>(report: &'a Report, options: &'a Options) -> impl Iterator<Item = &'a String> {
    options.kernels.iter().filter(|wanted| !kernels(report).any(|kernel| is_named(&kernel.name, wanted)))
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

/// `wanted` may leave out namespaces.
fn is_named(name: &str, wanted: &str) -> bool {
    name == wanted || name.strip_suffix(wanted).is_some_and(|rest| rest.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_may_be_named_without_their_namespace() {
        assert!(is_named("a::b::k", "k") && is_named("a::b::k", "b::k") && is_named("k", "k"));
        assert!(!is_named("a::bk", "k") && !is_named("k", "a::k"));
    }
}
