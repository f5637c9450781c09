//! Logs of runs: their format, their check, and what is told of it.
//!
//! - [`format`]: the log that an instrumented program writes, byte by byte, and its reader.
//! - [`check`]: which accesses conflict; out of core, on all cores.
//! - [`shards`]: a log by address in several, which can be checked on separate machines, and back.
//! - `export`: a log as tables for databases, where this is built with `parquet`.
//! - [`pairs`]: which stores loads have read from, for data-flow coverage.
//! - [`report`]: conflicts in the words and places of the user's source.
//!
//! Invariants: nothing incomplete passes as complete; the same log gives the same report, whatever the memory
//! and the number of threads.
//!
//! Deliberately absent: running programs, and any statement about other inputs than those of the run.

pub mod check;
#[cfg(feature = "parquet")]
pub mod export;
pub mod format;
pub mod pairs;
pub mod report;
pub mod shards;
