//! One run, amplified to all data inputs (docs/SEMANTICS.md, "Access invariance and amplification"; after
//! docs/PAPERS.md, "Leung 2012, section 3.3" and docs/PAPERS.md, "Leung 2012, section 3.4").
//!
//! # The argument
//! [`flow`](crate::flow) says which inputs decide the accesses of a kernel. If no content of memory and nothing that
//! depends on the schedule is among them, every launch that agrees with a logged one on them makes the same accesses
//! between the same barriers, unless it raced before, and then so did the logged one. So if the log is complete and
//! holds no conflict, no such launch races, whatever arrays hold and in whatever order threads run.
//!
//! # What is checked before anything is said
//! - The run: complete ([`Run::problems`]), without a conflict in the kernel's launches, without barriers that
//!   threads met differently and accesses outside of all allocations ([`Run::events`]). Of a run that was ended, the
//!   launches that had come to their end count, if all of them is in the log ([`Extent::Whole`]).
//! - The kernel: nothing that is not understood, no content of memory that decides more than which elements are
//!   read of arrays that nothing writes, no schedule source.
//! - The pointers: flow takes pointer parameters to be disjoint. Where two of a launch point into one allocation,
//!   the kernel writes through one of them, and something that was read through them decides an access, the
//!   launch is not amplified.
//!
//! # What is said
//! "no race for any input with `n = 4096, blockDim = 256, …`", what that covers and what it does not. Where
//! floating-point arithmetic or `__CUDA_ARCH__` decides an access, for the back end of the run only.
//!
//! Deliberately absent: how a run comes about, and barrier divergence (`check` proves that).

mod json;
mod kernel;
mod pointers;
#[cfg(test)]
mod tests;
mod text;

pub use json::json;
pub use kernel::amplify;
pub use text::text;

use crate::calculus::Kernel;
use crate::flow::Flow;
use crate::source::SourceMap;

/// One run of a program, as far as amplification looks at it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The back end: `cpu`.
    pub back_end: String,
    /// What makes the log incomplete, or the run an unfinished one; empty if nothing does.
    pub problems: Vec<String>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
    /// The conflicts in the log.
    pub conflicts: Vec<Conflict>,
    /// What the runtime met in kernels: divergent barriers, wild accesses, failed assertions.
    pub events: Vec<Event>,
}

/// A launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The name of the kernel, without template arguments.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Parameters by name.
    pub arguments: Vec<(String, Argument)>,
    /// Whether all of it is in the log.
    pub extent: Extent,
}

/// How much of a launch is in the log of a run that is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Nobody knows.
    #[default]
    Unknown,
    /// It came to its end before the run was ended, and all its accesses are there.
    Whole,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, as text.
    Value(String),
    /// A pointer into an allocation.
    Pointer {
        /// The number of the allocation.
        allocation: u32,
        /// Bytes from its start.
        offset: u64,
    },
    /// Anything else: a null pointer, a struct, a pointer that leads nowhere known.
    Other(String),
}

impl Argument {
    /// Reads the form in which a log has it.
    pub fn parse(text: &str) -> Argument {
        let pointer = text.strip_prefix('@').and_then(|rest| rest.split_once('+'));
        if let Some((allocation, offset)) = pointer
            && let (Ok(allocation), Ok(offset)) = (allocation.parse(), offset.parse())
        {
            return Argument::Pointer { allocation, offset };
        }
        match text.parse::<f64>() {
            Ok(_) => Argument::Value(text.to_owned()),
            Err(_) => Argument::Other(text.to_owned()),
        }
    }
}

/// Two accesses of a run that conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The launch, by position.
    pub launch: usize,
    /// Where the two accesses stand, and what they do.
    pub places: [Place; 2],
    /// Who made them: block and thread, linear.
    pub threads: [(u64, u32); 2],
    /// Bytes at which these two places conflict.
    pub bytes: u64,
}

/// A place in the source where memory is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// `read`, `write` or `atomic`.
    pub access: String,
    /// The array, as the user wrote it.
    pub array: String,
}

/// Something that the runtime met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kernel; empty if it is not known.
    pub kernel: String,
    /// What happened, in one line.
    pub text: String,
}

/// A kernel of the program.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// What decides its accesses.
    pub flow: &'a Flow,
    /// The files that its spans point into.
    pub sources: &'a SourceMap,
    /// Where the files name `__CUDA_ARCH__`, so that a back end may see another text.
    pub architecture: Option<&'a str>,
}

/// What is said of all kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amplified {
    /// The back end of the run.
    pub back_end: String,
    /// What makes the run incomplete.
    pub problems: Vec<String>,
    /// The kernels, in the order of the source; those that only the run knows at the end.
    pub kernels: Vec<Answer>,
}

/// What is said of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its name.
    pub name: String,
    /// In short.
    pub verdict: Verdict,
    /// How often the run launched it.
    pub launches: usize,
    /// What holds, for each set of launches that agree on all that decides accesses; empty unless amplified.
    pub statements: Vec<Statement>,
    /// What may be anything: "every content of x".
    pub covers: Vec<String>,
    /// What the statements say nothing about.
    pub excludes: Vec<String>,
    /// What they rely on besides the run.
    pub relies_on: Vec<String>,
    /// Why they hold for the back end of the run only; empty if they hold everywhere.
    pub restrictions: Vec<String>,
    /// Why there is no statement.
    pub obstacles: Vec<Obstacle>,
    /// The races that the run shows.
    pub races: Vec<Conflict>,
}

/// The verdict on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No race for any data.
    Amplified,
    /// The run has a race.
    Race,
    /// The run has no race, and says nothing about others.
    ThisRunOnly,
    /// The run is incomplete, or the kernel was not launched.
    NotShown,
}

impl Verdict {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Amplified => "race-free-for-all-data",
            Verdict::Race => "racy",
            Verdict::ThisRunOnly => "this-run-only",
            Verdict::NotShown => "not-shown",
        }
    }
}

/// "No race for any input with …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// The property-integrity inputs and their values; `None` for what the log does not tell.
    pub fixed: Vec<(String, Option<String>)>,
    /// The launches of the run that agree on these.
    pub launches: usize,
}

/// Why a run is not amplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// In which way.
    pub kind: ObstacleKind,
    /// In one line.
    pub message: String,
    /// The lines from the source of the trouble to the access that it decides.
    pub chain: Vec<String>,
}

/// The ways in which a run is not amplified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// The log is not complete, or the run did not end.
    Incomplete,
    /// The kernel was not launched.
    NotLaunched,
    /// The runtime met something that voids the order of accesses.
    Event,
    /// Content of memory decides an access.
    Data,
    /// The schedule decides an access.
    Schedule,
    /// Nobody knows what decides an access.
    Unknown,
    /// Pointers overlap.
    Overlap,
    /// The kernel is not in the files that were read.
    NoSource,
}

impl ObstacleKind {
    /// The word that programs see.
    pub fn name(self) -> &'static str {
        match self {
            ObstacleKind::Incomplete => "incomplete-run",
            ObstacleKind::NotLaunched => "not-launched",
            ObstacleKind::Event => "runtime-event",
            ObstacleKind::Data => "data-dependent-access",
            ObstacleKind::Schedule => "schedule-dependent-access",
            ObstacleKind::Unknown => "not-understood",
            ObstacleKind::Overlap => "overlapping-pointers",
            ObstacleKind::NoSource => "no-source",
        }
    }
}
