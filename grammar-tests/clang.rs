//! The libclang front end: what it reads as tree-sitter does, what it refuses, and bad weather.
//!
//! These tests need a libclang. Without one they pass and say so, unless `RACEPROOF_NEED_LIBCLANG` is set, as
//! `scripts/test` does.

pub(crate) mod agreement;
mod builds;
mod traps;
mod types;

use raceproof::driver::{FrontEnd, Limits, Pool, Start, locate};
use std::sync::{Arc, OnceLock};

/// How this program is made a worker.
pub(crate) fn start(library: std::path::PathBuf) -> Start {
    let program = env!("CARGO_BIN_EXE_raceproof").into();
    Start { program, arguments: vec!["__clang-worker".into()], library }
}

/// The workers that all tests share; `None` without a libclang.
pub(crate) fn pool() -> Option<Arc<Pool>> {
    static POOL: OnceLock<Option<Arc<Pool>>> = OnceLock::new();
    POOL.get_or_init(|| {
        let required = std::env::var_os("RACEPROOF_NEED_LIBCLANG").is_some();
        let library = locate(&|name| std::env::var_os(name));
        let pool = library.map(|library| Pool::new(start(library), Limits::default()));
        let usable = pool.filter(|pool| match pool.try_out() {
            Ok(()) => true,
            Err(failure) if required => panic!("{failure}"),
            Err(failure) => {
                eprintln!("skipped: {failure}");
                false
            }
        });
        assert!(usable.is_some() || !required, "RACEPROOF_NEED_LIBCLANG is set and no libclang is found");
        usable.map(Arc::new)
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
