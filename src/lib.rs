//! raceproof proves CUDA and OpenCL kernels free of data races and barrier divergence, or shows the two
//! threads and the two source lines that race.
//!
//! # Bird's-eye view
//!
//! ```text
//! path ─ source::discover ─ text ─ preprocess ─ front::tree_sitter ─▶ syntax::Unit
//!   ─ resolve ─▶ resolve::program::Program ─ lower, settle ─▶ calculus::Kernel ─ protocol::infer ─▶ protocol::Protocol
//!   ─ prove (rules, refute, ask an SMT solver) ─▶ check ─▶ diagnostic ─ render: text, gcc, json, sarif, github, gitlab
//! ```
//!
//! Data goes one way: a later room never asks an earlier one to parse, resolve, lower or infer again.
//! Which room may use which is a table in `grammar-tests/tidy.rs`, enforced there. The map of the rooms, with what each
//! knows and what it leaves out, is docs/ARCHITECTURE.md, "The rooms".

pub mod adequacy;
pub mod amplify;
pub mod arena;
pub mod builtins;
pub mod calculus;
pub mod check;
pub mod children;
pub mod cli;
pub mod coverage;
pub mod diagnostic;
pub mod driver;
pub mod edit;
pub mod execute;
pub mod fix;
pub mod flow;
pub mod front;
pub mod generation;
pub mod instrument;
pub mod invariant;
pub mod judge;
pub mod launch;
pub mod lower;
pub mod memory_model;
pub mod models;
pub mod mutation;
pub mod picture;
pub mod preprocess;
pub mod protocol;
pub mod prove;
pub mod reaching;
pub mod reproduce;
pub mod resolve;
pub mod schedule;
pub mod server;
pub mod settle;
pub mod site;
pub mod smt;
pub mod source;
pub mod suppress;
pub mod syntax;
pub mod trace;
pub mod work;
