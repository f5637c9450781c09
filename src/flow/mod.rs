//! Information flow: which inputs decide where a kernel accesses memory
//! (docs/SEMANTICS.md, "Access invariance and amplification"; after
//! docs/PAPERS.md, "Leung 2012, section 3.4", docs/PAPERS.md, "Leung 2012, section 4.1"
//! and docs/PAPERS.md, "Leung 2012, section 5.2").
//!
//! # The story
//! [`build`] walks a kernel once and makes a graph of values: every definition of a private variable, every
//! condition, every write is a node that points at what it is computed from, explicitly (operands) and
//! implicitly (the conditions that decide which definition counts, or whether a write happens). Inputs are
//! the leaves ([`Source`]). Indices of accesses, and the conditions around accesses and barriers, are the
//! [`Sink`]s. What can be reached from them are the **property-integrity inputs**, each with the shortest chain
//! of statements that leads from it to a sink ([`graph`]).
//!
//! - Private variables are flow-sensitive (each definition has a node of its own). Arrays are one node each:
//!   a read may give whatever any thread of the launch writes to the array anywhere, and, unless the location
//!   is known to have been written before ([`covered`]), what the array held at the start.
//! - Points-to is by allocation: the calculus names the array of every access. Two arrays are taken to be
//!   disjoint, which is an assumption for pointer parameters.
//! - A branch or loop without accesses or barriers in it is no sink; the variables that it assigns depend on it.
//! - The id of a thread and the extents of the launch are always inputs, and are never listed.
//!
//! # Guarantees
//! For a kernel without a race, two terminating runs of one launch under one schedule that agree on all listed
//! inputs make the same accesses, thread by thread and in order (a property test, `grammar-tests/flow`).
//! A run that does not terminate makes a part of them.
//!
//! # What counts as what
//! - *Data*: contents of arrays at the start (parameters, `__device__`, shared memory that may be read before it
//!   is written), of `__constant__` arrays, and of textures.
//! - *Configuration*: scalar parameters, single scalars or structs in `__constant__` memory, addresses.
//! - *Schedule sources*: results of atomics, contents of arrays that atomics change, clocks, active masks, loops
//!   that wait for another thread. They are no data.
//! - *Unknown*: results of calls that are not followed (shuffles and votes among them), values that lowering
//!   lost. Nobody knows whether these hold data: a kernel that they reach is neither called access-invariant
//!   nor not ([`Flow::access_invariant`]).
//! - An uninitialised variable is assumed not to be read, as everywhere in raceproof; it is listed.
//!
//! Deliberately absent: values (that `x * 0` depends on nothing), paths, what memory holds.

mod branches;
mod build;
mod covered;
mod graph;
mod spin;
mod uniform;
mod uses;
pub mod words;

#[cfg(test)]
mod tests;

pub use branches::{Branch, Selection};

use graph::Reaching;

use crate::calculus::{Array, ArrayId, Kernel, ParamId, SiteId, Space};
use crate::source::Span;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A scalar parameter.
    Param(ParamId),
    /// A single object in constant memory.
    Symbol(ArrayId),
    /// Anything else that is equal for all threads of a launch, by its text: the address of an array.
    Named(String),
    /// What an array held at the start.
    Content(ArrayId),
    /// What a texture or image holds, by its name.
    Texture(String),
    /// Something that depends on the order in which threads run.
    Schedule {
        /// What: `atomic`, `clock64`, `loop that waits for another thread`.
        what: String,
        /// Where.
        span: Option<Span>,
    },
    /// A value that is not followed.
    Unknown {
        /// What, in words.
        what: String,
        /// Where.
        span: Option<Span>,
    },
    /// A variable before anything was assigned to it, by its name.
    Unset {
        /// Its name.
        name: String,
        /// Where it is declared.
        span: Option<Span>,
    },
    /// Floating-point arithmetic, whose results differ from one compiler and device to another.
    Floating,
}

impl Source {
    /// Whether it is the content of memory.
    pub fn is_data(&self) -> bool {
        matches!(self, Source::Content(_) | Source::Texture(_))
    }

    /// Whether it is fixed by the program that launches the kernel, and no content of memory.
    pub fn is_configuration(&self) -> bool {
        matches!(self, Source::Param(_) | Source::Symbol(_) | Source::Named(_))
    }

    /// Its name as the user knows it, where it is an input.
    pub fn input_name<'k>(&'k self, kernel: &'k Kernel) -> Option<&'k str> {
        match self {
            Source::Param(param) => Some(&kernel.params[*param].name),
            Source::Symbol(array) | Source::Content(array) => Some(&kernel.arrays[*array].name),
            Source::Named(name) | Source::Texture(name) => Some(name),
            Source::Schedule { .. } | Source::Unknown { .. } | Source::Unset { .. } | Source::Floating => None,
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both in one step.
    Atomic,
}

/// Something that decides which accesses happen, or which barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// The index of an access.
    Index(AccessKind, ArrayId, SiteId),
    /// A condition around an access.
    GuardOfAccess(AccessKind, ArrayId, SiteId),
    /// A condition around a barrier.
    GuardOfSync(SiteId),
}

/// What a sink can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decides {
    /// Accesses to arrays that the kernel writes, or barriers: whether threads race.
    Conflicts,
    /// Only which elements are read of arrays that the kernel never writes.
    Reads,
}

/// One statement on the way from a source to a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub span: Option<Span>,
    /// What happens there.
    pub kind: StepKind,
}

/// What happens at a [`Step`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A variable is assigned.
    Assigned(String),
    /// An array is read.
    Read(ArrayId),
    /// An array is changed in one step, which gives its old value.
    Atomic(ArrayId),
    /// An array is written.
    Written(ArrayId),
    /// A condition is evaluated.
    Condition,
    /// The test of a loop is evaluated.
    LoopTest,
}

/// A source that reaches a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The source.
    pub source: Source,
    /// What it can change, at most.
    pub decides: Decides,
    /// The sink that it reaches in the fewest steps.
    pub sink: Sink,
    /// The statements from the source to the sink.
    pub steps: Vec<Step>,
}

/// Everything that reaches the accesses of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// All sources that reach a sink: configuration in the order of declaration, data, and the rest.
    pub reached: Vec<Reached>,
    /// Arrays that some value which reaches a sink was read from, in order. Where two pointers lead to one place, what
    /// is said of these arrays does not hold.
    pub read_for_sinks: Vec<ArrayId>,
    /// Whether the kernel holds parts that may make accesses, or pass barriers, that nobody knows.
    pub is_partial: bool,
    /// Branches on data whose accesses could be made without a branch (docs/PAPERS.md, "Leung 2012, figure 6").
    pub branches: Vec<Branch>,
    /// Whether those branches are all by which data reaches an access.
    pub is_correctable: bool,
}

impl Flow {
    /// Whether no content of memory reaches a sink; `None` if that is not known.
    pub fn access_invariant(&self) -> Option<bool> {
        let any = |wanted: fn(&Source) -> bool| self.reached.iter().any(|each| wanted(&each.source));
        if any(Source::is_data) {
            return Some(false);
        }
        let unknown = any(|source| matches!(source, Source::Unknown { .. }));
        (!unknown && !self.is_partial).then_some(true)
    }

    /// The property-integrity inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &Reached> {
        self.reached.iter().filter(|each| each.source.is_configuration() || each.source.is_data())
    }

    /// Names of the property-integrity inputs.
    pub fn input_names(&self, kernel: &Kernel) -> Vec<String> {
        let mut names: Vec<String> =
            self.inputs().filter_map(|each| each.source.input_name(kernel)).map(str::to_owned).collect();
        let mut seen = rustc_hash::FxHashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// What depends on the schedule and reaches a sink.
    pub fn schedule(&self) -> impl Iterator<Item = &Reached> {
        self.reached.iter().filter(|each| matches!(each.source, Source::Schedule { .. }))
    }
}

/// The flow of inputs to the accesses of `kernel`.
pub fn analyze(kernel: &Kernel) -> Flow {
    let is_partial =
        kernel.unsupported.iter().any(|entry| entry.barriers || entry.arrays.as_ref() != Some(&Vec::new()));
    let Some(built) = build::build(kernel) else {
        return Flow { is_partial: true, ..Flow::default() };
    };
    let Reaching { mut reached, arrays: read_for_sinks } = built.graph.reach(kernel, &built.sinks);
    reached.sort_by(|a, b| a.source.cmp(&b.source));
    let has_data = |reached: &[Reached]| reached.iter().any(|each| each.source.is_data());
    let sinks_that_stay: Vec<_> = built
        .sinks
        .iter()
        .filter(|sink| !built.branches.iter().any(|branch| branch.cond == sink.node))
        .copied()
        .collect();
    let is_correctable = has_data(&reached) && !has_data(&built.graph.reach(kernel, &sinks_that_stay).reached);
    let on_data = built.branches.iter().filter(|branch| has_data(&built.graph.reach_from(kernel, branch.cond).reached));
    let branches = if is_correctable { on_data.map(|branch| branch.branch.clone()).collect() } else { Vec::new() };
    Flow { reached, read_for_sinks, is_partial, branches, is_correctable }
}

/// What the content of an array at the start is, as a source.
fn content_of(array: ArrayId, declared: &Array) -> Source {
    match declared.space {
        Space::Private => Source::Unset { name: declared.name.clone(), span: declared.span },
        Space::Constant if declared.bytes == Some(declared.element_bytes.into()) => Source::Symbol(array),
        _ => Source::Content(array),
    }
}
