//! What a test needs of the machine beside Rust and a C compiler.
//!
//! In the tier `quick` no such tool is used, even where it is there, so that its result is the same everywhere. In the
//! others each must be there: `scripts/test` installs them, and a test whose tool is missing fails.

use super::tier::Tier;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether this tier uses tools that not every machine has.
pub(crate) fn are_used() -> bool {
    Tier::current() > Tier::Quick
}

/// What was found of a tool, where this tier uses any; fails where it is missing.
pub(crate) fn used<T, E: std::fmt::Debug>(tool: &str, find: impl FnOnce() -> Result<T, E>) -> Option<T> {
    if !are_used() {
        eprintln!("not in this tier: {tool}");
        return None;
    }
    Some(find().unwrap_or_else(|missing| panic!("{tool} is missing ({missing:?}); scripts/test installs it")))
}

/// Whether there is a C++ compiler, which `quick` does without where only C is there.
pub(crate) fn has_cxx() -> bool {
    let is_there = Command::new(cxx()).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(is_there || !are_used(), "there is no C++ compiler; scripts/test installs one");
    if !is_there {
        eprintln!("not tried: there is no C++ compiler");
    }
    is_there
}

/// The C++ compiler: that of `CXX`, or `c++`.
pub(crate) fn cxx() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// The program that a variable names, or the one of that name on the PATH.
pub(crate) fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = || {
        let directories = std::env::var_os("PATH")?;
        std::env::split_paths(&directories).map(|at| at.join(name)).find(|program| program.is_file())
    };
    named.or_else(found)
}

/// The PATH, with the binary under test first.
pub(crate) fn path() -> std::ffi::OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_raceproof")).parent().unwrap().to_path_buf();
    let known = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&known))).unwrap()
}
