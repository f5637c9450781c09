//! What is found in host code: launches, kernels of which not all launches are seen, and what was understood on the
//! way.

use crate::launch::{Given, Relation};
use crate::resolve::{FunctionDecl, ScopeId, TemplateValue};
use crate::source::Span;
use crate::syntax;
use rustc_hash::{FxHashMap, FxHashSet};

/// Kernels by their syntax, and where their address is taken.
pub(super) type Escaped = FxHashMap<*const syntax::Function, Span>;

/// What is found in the host code of a unit.
#[derive(Default)]
pub(super) struct Found<'u> {
    /// Launches so far.
    pub(super) seen: Vec<Seen<'u>>,
    /// Kernels of which not all launches are seen.
    pub(super) escaped: Escaped,
    /// What has been understood of the places that name kernels.
    pub(super) understood: Understood,
    /// How often something that a launch needs was not understood, perhaps because its declaration was not read.
    pub(super) missed: usize,
}

/// A launch as it was found.
pub(super) struct Seen<'u> {
    pub(super) decl: FunctionDecl<'u>,
    pub(super) values: Vec<TemplateValue>,
    pub(super) grid: [Option<u64>; 3],
    pub(super) block: [Option<u64>; 3],
    pub(super) args: Vec<Option<i128>>,
    pub(super) shared_bytes: Option<u64>,
    pub(super) relations: Vec<Relation>,
    pub(super) same_pointers: Vec<(usize, usize)>,
    pub(super) cluster: Option<[u32; 3]>,
    /// How the sizes of the grid and of a block are given.
    pub(super) given: [Given; 2],
    pub(super) span: Span,
}

/// The name of a kernel, with the scope that it is looked up in where that is another than the one at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'u> {
    pub(super) path: &'u syntax::Path,
    pub(super) scope: Option<ScopeId>,
}

impl PartialEq for Target<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.path, other.path) && self.scope == other.scope
    }
}

impl Eq for Target<'_> {}

/// What the walk through host code has understood.
#[derive(Default)]
pub(super) struct Understood {
    /// The names of kernels in launches.
    pub(super) names: FxHashSet<Span>,
    /// Names that are given to functions which were looked at with them.
    pub(super) given: FxHashSet<Span>,
    /// Launches.
    pub(super) launches: Vec<Span>,
    /// Statements that no way led to when they were looked at.
    pub(super) dead: Vec<Span>,
    /// Statements that a way led to: a function is looked at once for each set of arguments.
    pub(super) reached: FxHashSet<Span>,
}
