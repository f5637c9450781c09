//! Which reports make the exit code 1, and what problems make of it.

use super::Exit;
use super::args::FailOn;
use crate::diagnostic::report::{
    Certainty, Divergence, FileReport, Finding, KernelReport, Parse, Race, Report, leaves_open,
};
use crate::diagnostic::{RuleId, Severity};
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
        || (wanted.contains(&FailOn::Unread) && report.files.iter().any(leaves_kernels_unread))
        || report.files.iter().any(|file| file_fails(file, wanted))
        || report.files.iter().flat_map(|file| &file.kernels).any(|kernel| kernel_fails(kernel, wanted))
}

/// Whether a file could not be read where a kernel may be, or is.
fn leaves_kernels_unread(file: &FileReport) -> bool {
    match file.parse {
        Parse::Ok => false,
        Parse::Partial => file.kernels.iter().any(is_unknown),
        Parse::Failed => true,
    }
}

fn is_unknown(kernel: &KernelReport) -> bool {
    kernel.race == Race::Unknown || kernel.divergence == Divergence::Unknown
}

/// Whether a file has what is wrong with its comments. What could not be read is counted by the kernels that it leaves open.
fn file_fails(file: &FileReport, wanted: &[FailOn]) -> bool {
    file.diagnostics.iter().filter(|it| it.is_finding()).any(|it| match it.severity {
        Severity::Error => wanted.contains(&FailOn::Racy),
        Severity::Warning => wanted.contains(&FailOn::Possible),
        Severity::Note | Severity::Hint => false,
    })
}

fn kernel_fails(kernel: &KernelReport, wanted: &[FailOn]) -> bool {
    wanted.iter().any(|wish| match wish {
        FailOn::Racy => {
            (kernel.race == Race::Racy && is_open_about(kernel, is_race))
                || (has(kernel, Certainty::Proved) && !is_divergent(kernel))
        }
        FailOn::Divergent => is_divergent(kernel) && is_open_about(kernel, is_divergence),
        FailOn::Possible => {
            (kernel.race == Race::PossiblyRacy && is_open_about(kernel, is_race))
                || (kernel.divergence == Divergence::PossiblyDivergent && is_open_about(kernel, is_divergence))
                || has(kernel, Certainty::Possible)
        }
        FailOn::Unknown => is_unknown(kernel),
        FailOn::OpenContract => leaves_open(kernel),
        FailOn::Unread | FailOn::Never => false,
    })
}

/// Whether a verdict on a kernel counts: not where all findings behind it are hidden, or settings make no more of them than a note.
fn is_open_about(kernel: &KernelReport, is_behind: fn(RuleId) -> bool) -> bool {
    let mut behind = kernel.each_finding().filter(|finding| is_behind(finding.rule)).peekable();
    behind.peek().is_none() || behind.any(counts)
}

fn is_race(rule: RuleId) -> bool {
    matches!(
        rule,
        RuleId::DataRace
            | RuleId::WarpSynchronous
            | RuleId::SameValueWrite
            | RuleId::DataDependentIndex
            | RuleId::DataDependentControl
            | RuleId::BrokenContract
    )
}

fn is_divergence(rule: RuleId) -> bool {
    rule == RuleId::BarrierDivergence
}

fn is_divergent(kernel: &KernelReport) -> bool {
    kernel.divergence == Divergence::Divergent
}

/// Findings of rules without a verdict of their own (`array-bounds`, `assertion`) count, too; hints do not.
fn has(kernel: &KernelReport, certainty: Certainty) -> bool {
    kernel.each_finding().any(|finding| finding.certainty == certainty && counts(finding))
}

fn counts(finding: &Finding) -> bool {
    finding.severity() > Severity::Note && !finding.is_hidden()
}
