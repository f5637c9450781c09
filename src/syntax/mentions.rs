//! Where the tokens of a unit name a kernel or launch one: what a resolver has to have understood, or a launch is missed.
//!
//! Deliberately absent: how they are found (the front ends have the tokens), and what each of them means.

use crate::source::Span;

/// A place in the preprocessed text of a unit that names a kernel or launches one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// What stands there.
    pub kind: MentionKind,
    /// The token.
    pub span: Span,
}

/// What a [`Mention`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// The name of a kernel where the tokens around it do not show that it is no launch.
    Kernel {
        /// The name.
        name: String,
        /// Whether a declaration around the place may hide the kernel.
        hidden_by: HiddenBy,
    },
    /// `<<<`, or the name of a function that launches.
    Launch,
}

/// What may hide a kernel at a place that has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenBy {
    /// A local, a parameter or a member of the same name.
    Declarations,
    /// Nothing: the name is qualified, or it stands before `<<<`.
    Nothing,
}

/// Functions of the API that take a kernel and launch none.
const ASKING: [&str; 8] = [
    "FuncSetAttribute",
    "FuncGetAttributes",
    "FuncSetCacheConfig",
    "FuncSetSharedMemConfig",
    "FuncGetName",
    "OccupancyMaxActive",
    "OccupancyMaxPotential",
    "OccupancyAvailable",
];

/// Whether a function of this name is one of the API that asks about a kernel, or prepares it, and launches none.
pub fn asks_about_kernels(name: &str) -> bool {
    let asks = name.strip_prefix("cuda").or_else(|| name.strip_prefix("hip"));
    asks.is_some_and(|asks| ASKING.iter().any(|asking| asks.starts_with(asking)))
}
