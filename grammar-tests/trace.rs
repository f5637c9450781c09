//! Logs of runs: the C++ writer against the reader, damage, the command line.
//!
//! - [`cpp`]: what `log.hpp` writes is what is read, for random programs.
//! - [`damage`]: truncation and corruption never pass as complete.
//! - [`command`]: `raceproof trace` on logs that the C++ writer made.
//! - `export`: tables of logs, and the query for conflicts on DuckDB, where this is built with `parquet`.
//! - [`shards`]: `raceproof trace split` and `merge` on the logs of fixtures.

mod command;
mod cpp;
mod damage;
#[cfg(feature = "parquet")]
mod export;
mod shards;
