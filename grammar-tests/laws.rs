//! Laws that hold for every kernel, tried on random ones.
//!
//! - [`generate`]: random kernels; [`arrivals`]: kernels that hand over by objects which count arrivals.
//! - [`calculus`]: text round trips, validity, evaluation.
//! - [`claims`]: what is proved of claims holds in runs; [`invariants`]: what is kept of candidates does.
//! - [`meaning`]: what lowering makes of C++ is what a compiler makes of it; [`cpp`], [`classes`] and [`packs`]: random kernels of that.
//! - [`proofs`]: what is proved holds in runs; [`source`]: random kernels as text.
//! - [`clusters`]: blocks that share memory and wait for each other, judged by their steps alone.
//! - [`last_block`]: blocks that draw from a counter, in runs whose fences are watched.
//! - [`locks`]: critical sections, and [`flags`], likewise; [`handed`] holds what is called race-free against runs.
//! - [`tables`]: local arrays that are filled once, read as formulas.
//! - [`tickets`]: numbers drawn from counters, in runs that know what memory holds.
//! - [`contracts`]: launches that a contract admits, and those that it excludes.
//! - [`refute`]: concrete searches; [`contents`]: contents of memory that they choose; [`trace`]: runs written as logs and checked.

mod arrivals;
mod calculus;
mod chosen;
mod claims;
mod classes;
mod clusters;
mod contents;
mod contracts;
mod cpp;
mod flags;
pub(crate) mod generate;
pub(crate) mod handed;
mod invariants;
mod last_block;
mod locks;
mod maker;
mod meaning;
mod packs;
mod proofs;
mod refute;
mod scales;
mod scatters;
mod segments;
mod source;
mod tables;
mod tickets;
mod trace;
