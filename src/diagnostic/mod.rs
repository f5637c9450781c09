//! What users are told: [`Diagnostic`]s with rule, severity, labelled spans and notes.
//!
//! A diagnostic is data; how it looks is decided in [`render`], one file per output format.
//! Messages are lower case without a full stop, in the language of the source being checked, and name
//! arrays, variables and lines of the user, never handles.
//!
//! Deliberately absent: any knowledge of how a finding was made.

pub mod merge;
pub mod render;
pub mod report;
pub mod shard;
pub mod spans;
pub mod statement;
pub mod suppression;
pub mod vocabulary;

use crate::source::Span;
use report::Fix;
use serde::{Deserialize, Serialize};
use suppression::Hidden;

/// A finding or note about source text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The rule.
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// One line that reads well alone.
    pub message: String,
    /// The place that the user should look at first.
    pub primary: Label,
    /// Further places, in the order in which they should be read.
    pub secondary: Vec<Label>,
    /// Notes below, in order; each may have several lines (a witness as a table).
    pub notes: Vec<String>,
    /// What ends it, if that is known for certain.
    pub fix: Option<Fix>,
    /// Who does not want to be told of it.
    pub hidden: Option<Hidden>,
}

impl Diagnostic {
    /// Whether it is a finding that is to be told.
    pub fn is_finding(&self) -> bool {
        self.rule.is_of_comments() && self.hidden.is_none()
    }
}

/// A place with a short text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to see there.
    pub text: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// A suggestion.
    Hint,
    /// Something that was not decided.
    Note,
    /// A possible defect.
    Warning,
    /// A proved defect.
    Error,
}

impl Severity {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// What stands in the place of a rule where something is told that is no finding: what was not decided.
pub const UNKNOWN: &str = "unknown";

/// The user-visible rules. Each has a page under `check/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RuleId {
    /// Two threads touch one location, at least one writes, nothing orders them.
    DataRace,
    /// A race that lock-step execution of a warp would hide.
    WarpSynchronous,
    /// A race between writes of the same value.
    SameValueWrite,
    /// Two threads of a block disagree about reaching a barrier.
    BarrierDivergence,
    /// A possible race whose index depends on what memory holds.
    DataDependentIndex,
    /// A possible race under a condition that depends on what memory holds.
    DataDependentControl,
    /// A barrier that the kernel is proved to do without.
    RedundantBarrier,
    /// An access outside its array.
    ArrayBounds,
    /// A condition that the user claims and that does not hold.
    Assertion,
    /// A launch that no device runs.
    ImpossibleLaunch,
    /// A stated contract that the kernel, or a launch of it, does not keep.
    BrokenContract,
    /// A contract that some launch is not shown to keep, or that nobody is seen to.
    OpenContract,
    /// A comment that suppresses findings, without one that it would suppress.
    UnusedSuppression,
    /// A comment that is meant to suppress findings and does not say what, or why.
    InvalidSuppression,
    /// A construct that is not modelled.
    Unsupported,
    /// Text that could not be read.
    Parse,
}

impl RuleId {
    /// All rules, in the order in which they are listed.
    pub const ALL: [RuleId; 16] = [
        RuleId::DataRace,
        RuleId::WarpSynchronous,
        RuleId::SameValueWrite,
        RuleId::BarrierDivergence,
        RuleId::DataDependentIndex,
        RuleId::DataDependentControl,
        RuleId::RedundantBarrier,
        RuleId::ArrayBounds,
        RuleId::Assertion,
        RuleId::ImpossibleLaunch,
        RuleId::BrokenContract,
        RuleId::OpenContract,
        RuleId::UnusedSuppression,
        RuleId::InvalidSuppression,
        RuleId::Unsupported,
        RuleId::Parse,
    ];

    /// The name users type and see.
    pub fn name(self) -> &'static str {
        match self {
            RuleId::DataRace => "data-race",
            RuleId::WarpSynchronous => "warp-synchronous",
            RuleId::SameValueWrite => "same-value-write",
            RuleId::BarrierDivergence => "barrier-divergence",
            RuleId::DataDependentIndex => "data-dependent-index",
            RuleId::DataDependentControl => "data-dependent-control",
            RuleId::RedundantBarrier => "redundant-barrier",
            RuleId::ArrayBounds => "array-bounds",
            RuleId::Assertion => "assertion",
            RuleId::ImpossibleLaunch => "impossible-launch",
            RuleId::BrokenContract => "broken-contract",
            RuleId::OpenContract => "open-contract",
            RuleId::UnusedSuppression => "unused-suppression",
            RuleId::InvalidSuppression => "invalid-suppression",
            RuleId::Unsupported => "unsupported",
            RuleId::Parse => "parse",
        }
    }

    /// Whether it is about comments that suppress findings, and so a finding on a file.
    pub fn is_of_comments(self) -> bool {
        matches!(self, RuleId::UnusedSuppression | RuleId::InvalidSuppression)
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<RuleId> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}
