//! Which reports make the exit code 1, and what problems make of it.

use super::Exit;
use super::args::FailOn;
use crate::diagnostic::Severity;
use crate::diagnostic::report::{Certainty, Divergence, Finding, Keeping, KernelReport, Parse, Race, Report};
use crate::driver::parallel::Problem;

/// What a problem does to the exit code.
pub(super) fn exit_of(problem: &Problem) -> Exit {
    match problem {
        Problem::Unreadable { .. } | Problem::TooLarge { .. } | Problem::Misfit(_) => Exit::Usage,
        Problem::Bug { .. } => Exit::Bug,
    }
}

/// Whether `report` holds anything that the user wants to fail on.
pub(super) fn fails(report: &Report, wanted: &[FailOn]) -> bool {
    let unread = report.files.iter().any(|file| file.parse != Parse::Ok);
    (unread && wanted.contains(&FailOn::Unknown))
        || report.files.iter().flat_map(|file| &file.kernels).any(|kernel| kernel_fails(kernel, wanted))
}

fn kernel_fails(kernel: &KernelReport, wanted: &[FailOn]) -> bool {
    wanted.iter().any(|wish| match wish {
        FailOn::Racy => kernel.race == Race::Racy || (has(kernel, Certainty::Proved) && !is_divergent(kernel)),
        FailOn::Divergent => is_divergent(kernel),
        FailOn::Possible => {
            kernel.race == Race::PossiblyRacy
                || kernel.divergence == Divergence::PossiblyDivergent
                || has(kernel, Certainty::Possible)
        }
        FailOn::Unknown => kernel.race == Race::Unknown || kernel.divergence == Divergence::Unknown,
        FailOn::OpenContract => is_open(kernel),
        FailOn::Never => false,
    })
}

/// Whether the contract of a kernel is left to whoever launches it: one that is stated may be kept by all launches.
fn is_open(kernel: &KernelReport) -> bool {
    let launches = kernel.launches();
    let are_kept = !launches.is_empty() && launches.iter().all(|launch| launch.keeping == Keeping::Kept);
    kernel.leaves_a_contract() && !are_kept
}

fn is_divergent(kernel: &KernelReport) -> bool {
    kernel.divergence == Divergence::Divergent
}

/// Findings of rules without a verdict of their own (`array-bounds`, `assertion`) count, too; hints do not.
fn has(kernel: &KernelReport, certainty: Certainty) -> bool {
    let counts = |finding: &Finding| finding.certainty == certainty && finding.severity() > Severity::Hint;
    kernel.each_finding().any(|finding| counts(finding))
}
