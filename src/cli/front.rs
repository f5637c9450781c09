//! `--front`: which libclang is there, and how its workers are started.

use super::args::FrontEnd as Typed;
use super::version::at;
use crate::diagnostic::report::{Front, Report};
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

/// Which libclang answered, for whom and why not, as one line.
pub(super) fn answered(typed: Typed, front: &FrontEnd, report: &Report) -> String {
    let files = report.files.len();
    let pool = match front {
        FrontEnd::Clang(pool) | FrontEnd::Auto(pool) => pool,
        FrontEnd::TreeSitter if typed == Typed::Auto => {
            return format!("no libclang was found; tree-sitter read {files} of {files} files");
        }
        FrontEnd::TreeSitter => return format!("tree-sitter read {files} of {files} files, as --front says"),
    };
    let library = pool.library().display();
    match (pool.version(), pool.unusable()) {
        (Some(version), _) => {
            let read = report.files.iter().filter(|file| file.front == Front::Clang).count();
            format!("{version} ({library}) read {read} of {files} files")
        }
        (None, Some(failure)) => format!("{failure}; tree-sitter read {files} of {files} files"),
        (None, None) => format!("the libclang {library} was not needed"),
    }
}

/// The libclang that `--front auto` takes, with its path, or what is wrong with it.
pub(super) fn found() -> Option<String> {
    let pool = pool()?;
    let said = match pool.try_out() {
        Ok(()) => pool.version().unwrap_or("libclang").to_owned(),
        Err(failure) => failure.to_string(),
    };
    Some(at(&said, pool.library()))
}

fn pool() -> Option<Pool> {
    let library = locate(&|name| std::env::var_os(name))?;
    let program = std::env::current_exe().ok()?;
    Some(Pool::new(Start { program, arguments: vec![WORKER.into()], library }, Limits::default()))
}
