//! The libclang front end: what it reads as tree-sitter does, what it refuses, and bad weather.
//!
//! These tests need a libclang, and are not in the tier `quick`.

pub(crate) mod agreement;
mod builds;
mod traps;
mod types;

use crate::support::tools;
use raceproof::driver::{FrontEnd, Limits, Pool, Start, locate};
use std::sync::{Arc, OnceLock};

/// How this program is made a worker.
pub(crate) fn start(library: std::path::PathBuf) -> Start {
    let program = env!("CARGO_BIN_EXE_raceproof").into();
    Start { program, arguments: vec!["__clang-worker".into()], library }
}

/// The workers that all tests share; `None` in a tier without libclang.
pub(crate) fn pool() -> Option<Arc<Pool>> {
    static POOL: OnceLock<Option<Arc<Pool>>> = OnceLock::new();
    POOL.get_or_init(|| {
        tools::used("libclang", || {
            let library = locate(&|name| std::env::var_os(name)).ok_or("none is found")?;
            let pool = Pool::new(start(library), Limits::default());
            pool.try_out().map_err(|failure| failure.to_string())?;
            Ok::<_, String>(Arc::new(pool))
        })
    })
    .clone()
}

/// libclang alone, if there is one.
pub(crate) fn clang() -> Option<FrontEnd> {
    pool().map(FrontEnd::Clang)
}

/// libclang and tree-sitter, if there is a libclang.
pub(crate) fn auto() -> Option<FrontEnd> {
    pool().map(FrontEnd::Auto)
}
