//! Instrumentation: the user's own text with a call around every access that may touch memory which threads share.
//!
//! [`instrument`] walks the surface tree of a unit and makes edits on its tokens:
//!
//! - every access in a kernel or device function (`a[i]`, `*p`, `p->f`, `a[i].x`, names of `__shared__` and
//!   `__device__` variables and of references, assignments, `++`, atomics, `memcpy`) is wrapped with its site:
//!   `::raceproof::wr(3, a[i]) = ::raceproof::rd(4, b[j]) + 1` ([`expressions`], [`calls`]);
//! - a kernel becomes its own launch stub, with its body as the function of one thread ([`kernels`]); a launch
//!   becomes an ordinary call behind a configuration;
//! - shared variables belong to the OS thread that runs a block; device variables are registered ([`storage`]).
//!
//! What decides whether an access is logged is its address, at run time: the wrappers give the object back that they
//! were given, so an access that is wrapped without need (a plain local array behind a pointer, a method of a local
//! object) costs time and changes nothing. What is left out is only what cannot be shared: plain local variables and
//! what is part of them by name.
//!
//! An argument for a reference parameter is no access: the body of the function, which is instrumented, has it.
//! `&a[i]`, a cast to a reference, the object of a method call, and what a reference is bound to, likewise.
//!
//! Which of these edits are made is the [`Backend`]'s choice: nvcc needs no launch stubs and no other storage, but
//! is told where threads sync ([`native`]).
//! OpenCL C has edits of its own, and a runtime that stands before them: [`opencl`].
//!
//! # One unit instead of two
//!
//! nvcc compiles a unit once for the host and once for the device. For the CPU it is compiled once, as the device pass sees
//! it (`__CUDA_ARCH__` is defined by the first lines of the output). Device code that a conditional leaves out for
//! this configuration is not instrumented; an `#error` in it stops a compiler that decides differently. Pairs
//! of functions that differ in `__host__` and `__device__` only are treated in [`passes`].
//!
//! Guarantees: the same text gives the same output; bytes that no edit touches are unchanged; nothing is wrapped in
//! halves; what was met in device code and could not be instrumented is named in [`Instrumented::left_out`].
//!
//! Deliberately absent: meaning (types are known by their declarations only), and running anything.

mod callees;
mod calls;
pub mod coverage;
mod expressions;
mod facts;
mod guards;
mod items;
mod kernels;
pub mod mutant;
mod mutants;
mod mutation;
mod native;
mod notes;
pub mod opencl;
mod passes;
mod registered;
pub mod runtime;
mod scope;
mod sites;
mod statements;
mod storage;
mod token_edits;
mod tokens;
mod within;

pub use native::unlogged;
pub use notes::LeftOut;
pub use sites::{Site, SiteKind};
pub use tokens::{numbered, place_of};

use crate::edit::EditError;
use crate::preprocess::Output;
use crate::source::{FileId, Language, own_header};
use crate::syntax::{Aside, Unit};
use notes::Notes;
use std::fmt::Write;
use token_edits::{assemble, quoted};
use tokens::Tokens;

/// What will compile the instrumented text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A C++ compiler, with the runtime that stands in for CUDA.
    Cpu,
    /// nvcc: kernels stay kernels and launches stay launches.
    Cuda,
}

/// What instrumented text does beside what the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// It logs accesses.
    Log,
    /// It counts what a test reaches. CUDA does so on the CPU alone.
    Cover,
    /// It counts the same and tells how near comparisons come to another outcome, for whoever looks for inputs. CUDA alone.
    Search,
    /// It is a mutant of itself, if it is told to be one. For the CPU alone. OpenCL C counts, and its mutants are texts.
    /// These lines stay as they are.
    Mutate(&'a mutant::Untouched),
    /// Its work-groups and work-items take the ids that they are given, in the place of the driver's. OpenCL C alone.
    Schedule,
}

impl Purpose<'_> {
    /// Whether it counts what a test reaches.
    fn counts(self) -> bool {
        matches!(self, Purpose::Cover | Purpose::Search | Purpose::Mutate(_))
    }
}

/// A unit that has been read, in all the forms that instrumentation needs.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What the text is for.
    pub backend: Backend,
    /// Its tokens.
    pub output: &'a Output,
    /// Its surface tree, made from these tokens as [`numbered`] has them.
    pub unit: &'a Unit,
    /// What the tree has no node for.
    pub asides: &'a [Aside],
    /// The file that is compiled.
    pub main: FileId,
    /// Macros of the command line, which the output defines itself.
    pub defines: &'a [(String, String)],
    /// What the text does beside what the program does.
    pub purpose: Purpose<'a>,
}

/// The instrumented unit.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// The text to compile.
    pub text: String,
    /// The sites, by id.
    pub sites: Vec<Site>,
    /// The names of the kernels, by id.
    pub kernels: Vec<String>,
    /// Points of coverage, by id; none where none were asked for.
    pub points: Vec<coverage::Point>,
    /// Mutants, by id; none where none were asked for.
    pub mutants: Vec<mutant::Mutant>,
    /// What has no point, or no mutants, of what would have some elsewhere.
    pub uncounted: Vec<LeftOut>,
    /// What may access memory and is not instrumented, in the order of the text.
    pub left_out: Vec<LeftOut>,
    /// What orders threads and is not logged, which is so on a GPU alone: a log would show conflicts that are none.
    pub unordered: Vec<LeftOut>,
    /// What a unit of OpenCL C has to be run by; nothing for CUDA.
    pub opencl: opencl::Shared,
}

/// Why a unit cannot be instrumented at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstrumentError {
    /// One text stands for several.
    #[error("{0} is included more than once without a guard; its accesses would be counted as one")]
    Repeated(String),
    /// A macro call whose expansion is not in one piece.
    #[error("line {0}: the expansion of a macro cannot stand in place of its call")]
    Scattered(u32),
    /// Two edits cannot both be made.
    #[error("{path}:{line}: the code here cannot be edited: {cause}")]
    Edits {
        /// The file.
        path: String,
        /// The line.
        line: u32,
        /// The conflict.
        cause: EditError,
    },
    /// A file that no `#include` of the unit names, such as one that the command line includes.
    #[error("{0} came in without an include directive and cannot be instrumented")]
    Unplaced(String),
    /// A construct without which the rest could not run.
    #[error("{path}:{line}: {what} cannot be instrumented")]
    Unsupported {
        /// The file.
        path: String,
        /// The line.
        line: u32,
        /// What it is.
        what: String,
    },
    /// The macros of the unit expand without end.
    #[error("its macros or includes make too many tokens; the file is not read")]
    TooLarge,
}

/// Instruments a unit for its back end; OpenCL C for any driver.
pub fn instrument(source: &Source<'_>) -> Result<Instrumented, InstrumentError> {
    if source.output.gave_up {
        return Err(InstrumentError::TooLarge);
    }
    if source.unit.dialect.language() == Language::OpenCl {
        let mut unit = opencl::instrument(source)?;
        if let Purpose::Mutate(_) = source.purpose {
            let tokens = Tokens::new(source.output);
            let mut walker = items::Walker::new(&tokens, source);
            walker.unit();
            (unit.mutants, unit.uncounted) = (walker.notes.mutants, walker.notes.uncounted);
        }
        return Ok(unit);
    }
    let tokens = Tokens::new(source.output);
    let mut walker = items::Walker::new(&tokens, source);
    walker.unit();
    let guards = walker.guards();
    let items::Walker { edits, notes, registered, .. } = walker;
    let body = assemble(&tokens, &source.output.includes, &edits, guards, source.main)?;
    let text = match source.backend {
        Backend::Cpu => whole(source, &body, &notes),
        Backend::Cuda => native::whole(source, &body, &notes, &registered),
    };
    let Notes { sites, points, mutants, left_out, unordered, uncounted, .. } = notes;
    Ok(Instrumented {
        text,
        sites,
        kernels: registered.kernels,
        points,
        mutants,
        uncounted,
        left_out,
        unordered,
        opencl: opencl::Shared::default(),
    })
}

/// The body between what it needs before its first line and the table of sites.
fn whole(source: &Source<'_>, body: &str, notes: &Notes<'_>) -> String {
    let mut text = String::from("#include \"raceproof.hpp\"\n");
    // Points and mutants of all units have numbers of their own.
    let numbered = match source.purpose {
        Purpose::Log | Purpose::Schedule => None,
        Purpose::Cover => Some(("coverage_points.hpp", "points", notes.points.len())),
        Purpose::Search => Some(("comparisons.hpp", "points", notes.points.len())),
        Purpose::Mutate(_) => Some(("mutants.hpp", "mutants", notes.mutants.len())),
    };
    if let Some((header, ..)) = numbered {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#include \"{header}\"");
    }
    define_reader(&mut text);
    for (name, value) in DEVICE_PASS.into_iter().chain(defines(source)) {
        define(&mut text, name, value);
    }
    add_body(&mut text, source, body);
    text.push_str("#line 1 \"<sites>\"\nstatic ::raceproof::sites raceproof_sites(R\"raceproof(");
    text.push_str(&sites::table(&notes.sites, &source.output.sources));
    text.push_str(")raceproof\");\n");
    if let Some((_, what, count)) = numbered {
        let _ = writeln!(text, "static ::raceproof::{what} raceproof_{what}({count});");
    }
    text
}

/// The macros of the command line.
fn defines<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    source.defines.iter().map(|(name, value)| (name.as_str(), value.split('\n').next().unwrap_or("")))
}

fn define(text: &mut String, name: &str, value: &str) {
    text.extend(["#undef ", name.split('(').next().unwrap_or(name), "\n#define ", name, " ", value, "\n"]);
}

/// Makes the compiler take the branches that raceproof has read, and annotations vanish.
fn define_reader(text: &mut String) {
    define(text, own_header::READER, &own_header::version().to_string());
    define(text, own_header::INSTRUMENTED, "1");
}

/// The user's text under its own name.
fn add_body(text: &mut String, source: &Source<'_>, body: &str) {
    let path = source.output.sources.file(source.main).path.display().to_string();
    text.extend(["#line 1 ", &quoted(&path), "\n", body]);
    if !body.ends_with('\n') {
        text.push('\n');
    }
}

/// What tells the device pass from the host's, and the versions by which code decides: as `preprocess` has them, or the
/// compiler would take other branches than those that were instrumented.
const DEVICE_PASS: [(&str, &str); 6] = [
    ("__CUDA_ARCH__", "800"),
    ("__CUDACC_VER_MAJOR__", "12"),
    ("__CUDACC_VER_MINOR__", "8"),
    ("__CUDA_API_VERSION", "12080"),
    ("CUDART_VERSION", "12080"),
    ("CUDA_VERSION", "12080"),
];
