//! `--front`: which libclang is there, and how its workers are started.

use super::args::FrontEnd as Typed;
use crate::driver::{FrontEnd, Limits, Pool, Start, locate};
use anyhow::{Context, Result, bail};
use std::sync::Arc;

/// The hidden subcommand that makes this program a worker.
pub(super) const WORKER: &str = "__clang-worker";

/// The front end that was asked for. Without a libclang, `auto` is the built-in one.
pub(super) fn front_end(typed: Typed) -> Result<FrontEnd> {
    match typed {
        Typed::TreeSitter => Ok(FrontEnd::TreeSitter),
        Typed::Auto => Ok(pool().map_or(FrontEnd::TreeSitter, |pool| FrontEnd::Auto(Arc::new(pool)))),
        Typed::Clang => {
            let Some(pool) = pool() else {
                bail!(
                    "--front clang: no libclang is found; install it (pip install libclang, apt install libclang1-19), \
                     name it in LIBCLANG_PATH, or use --front tree-sitter"
                )
            };
            pool.try_out().context("--front clang (--front tree-sitter needs no libclang)")?;
            Ok(FrontEnd::Clang(Arc::new(pool)))
        }
    }
}

fn pool() -> Option<Pool> {
    let library = locate(&|name| std::env::var_os(name))?;
    let program = std::env::current_exe().ok()?;
    Some(Pool::new(Start { program, arguments: vec![WORKER.into()], library }, Limits::default()))
}
