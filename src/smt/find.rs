//! Which solvers are on this machine.
//!
//! A solver is a program named as its project names it, on the `PATH`, or the one that an environment variable
//! names (`RACEPROOF_Z3`, `RACEPROOF_CVC5`, `RACEPROOF_BITWUZLA`). Nothing is started to find out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The solvers that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolverKind {
    /// <https://github.com/Z3Prover/z3>
    Z3,
    /// <https://cvc5.github.io>
    Cvc5,
    /// <https://bitwuzla.github.io>; it knows bit-vectors, and no integers.
    Bitwuzla,
}

impl SolverKind {
    /// All of them, the preferred first.
    pub const ALL: [SolverKind; 3] = [SolverKind::Z3, SolverKind::Cvc5, SolverKind::Bitwuzla];

    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Z3 => "z3",
            SolverKind::Cvc5 => "cvc5",
            SolverKind::Bitwuzla => "bitwuzla",
        }
    }

    /// The environment variable that names its program.
    pub fn variable(self) -> &'static str {
        match self {
            SolverKind::Z3 => "RACEPROOF_Z3",
            SolverKind::Cvc5 => "RACEPROOF_CVC5",
            SolverKind::Bitwuzla => "RACEPROOF_BITWUZLA",
        }
    }

    /// Whether it decides questions about integers.
    pub fn knows_integers(self) -> bool {
        self != SolverKind::Bitwuzla
    }

    /// Arguments under which it reads SMT-LIB 2 from standard input and answers at once.
    pub(super) fn arguments(self) -> &'static [&'static str] {
        match self {
            SolverKind::Z3 => &["-in", "-smt2", "-memory:2048"],
            SolverKind::Cvc5 => &["--lang=smt2", "--incremental", "--produce-models", "--quiet", "-"],
            SolverKind::Bitwuzla => &["--lang", "smt2", "--produce-models"],
        }
    }

    /// How many bytes it wants to have read before it looks at any of them: Bitwuzla fills a buffer first.
    pub(super) fn reads_ahead(self) -> usize {
        if self == SolverKind::Bitwuzla { 16 << 10 } else { 0 }
    }

    /// What it is told before anything else.
    pub(super) fn prelude(self) -> &'static str {
        match self {
            SolverKind::Z3 => "(set-option :print-success false)\n(set-option :produce-models true)\n",
            SolverKind::Cvc5 => "(set-logic ALL)\n",
            SolverKind::Bitwuzla => "(set-logic QF_UFBV)\n",
        }
    }

    /// How the next question is limited; empty where the solver has no counter.
    pub(super) fn limit(self, resources: u64) -> String {
        match self {
            SolverKind::Z3 => format!("(set-option :rlimit {resources})\n"),
            // cvc5 takes its limit only before the first question.
            SolverKind::Cvc5 | SolverKind::Bitwuzla => String::new(),
        }
    }

    /// How all questions are limited, as an argument.
    pub(super) fn limit_argument(self, resources: u64) -> Option<String> {
        // Z3 counts in units of about a tenth of cvc5's.
        (self == SolverKind::Cvc5).then(|| format!("--rlimit-per={}", (resources / 10).max(1)))
    }
}

/// A solver's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Which one it is.
    pub kind: SolverKind,
    /// The program.
    pub program: PathBuf,
}

/// Looks for a solver of this kind.
pub fn find(kind: SolverKind) -> Option<Solver> {
    find_in(kind, std::env::var_os(kind.variable()), std::env::var_os("PATH"))
}

/// The same, given the variable that names it and the search path.
pub(super) fn find_in(kind: SolverKind, named: Option<OsString>, path: Option<OsString>) -> Option<Solver> {
    let named = named.filter(|named| !named.is_empty()).map(PathBuf::from);
    let program = match named {
        Some(named) => is_program(&named).then_some(named)?,
        None => std::env::split_paths(&path?)
            .map(|directory| directory.join(kind.name()).with_extension(std::env::consts::EXE_EXTENSION))
            .find(|program| is_program(program))?,
    };
    Some(Solver { kind, program })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
