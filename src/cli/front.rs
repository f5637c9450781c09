//! `--front`: which libclang is there, and how its workers are started.
//!
//! Guarantees: who sets `LIBCLANG_PATH` is told if no libclang is read through it ([`unread`]). Deliberately absent: where a libclang may
//! be (`front::clang::locate`).

use super::args::FrontEnd as Typed;
use super::version::at;
use crate::diagnostic::report::{Front, Report};
use crate::driver::{FrontEnd, Limits, Pool, Start, locate, misled};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
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
                if let Some(misled) = misled(&environment) {
                    bail!("--front clang: {misled}; name another, or unset it, or use --front tree-sitter");
                }
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

/// What to tell who set `LIBCLANG_PATH` and is read by tree-sitter all the same; nothing if it was not set, or serves.
///
/// A worker may be started, which takes as long as the library takes to load.
pub(super) fn unread(front: &FrontEnd) -> Option<String> {
    let reads = "; all files are read by tree-sitter (unset it, and libclang is sought in other places)";
    match front {
        FrontEnd::TreeSitter => misled(&environment).map(|misled| format!("{misled}{reads}")),
        FrontEnd::Clang(_) => None,
        FrontEnd::Auto(pool) => {
            environment("LIBCLANG_PATH").filter(|named| !named.is_empty())?;
            let failure = pool.try_out().err()?;
            Some(format!("LIBCLANG_PATH: {failure}{reads}"))
        }
    }
}

/// The same after a run, in which a worker was started if one was needed; and where tree-sitter is what was asked for, nothing.
pub(super) fn unread_by(typed: Typed, front: &FrontEnd, report: &Report) -> Option<String> {
    let is_served = report.files.is_empty() || report.files.iter().any(|file| file.front == Front::Clang);
    if typed == Typed::Auto && !is_served { unread(front) } else { None }
}

/// The libclang that `--front auto` takes, with its path, or what is wrong with it.
pub(super) fn found() -> Option<String> {
    let Some(pool) = pool() else {
        return misled(&environment).map(|misled| format!("none is read; {misled}; tree-sitter reads"));
    };
    let said = match pool.try_out() {
        Ok(()) => pool.version().unwrap_or("libclang").to_owned(),
        Err(failure) => failure.to_string(),
    };
    Some(at(&said, pool.library()))
}

fn pool() -> Option<Pool> {
    let library = locate(&environment)?;
    let program = std::env::current_exe().ok()?;
    Some(Pool::new(Start { program, arguments: vec![WORKER.into()], library }, Limits::default()))
}

fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
