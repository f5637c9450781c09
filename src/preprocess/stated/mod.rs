//! Macros that are stated outside of the source text: in the build files beside it, and in the options that host
//! code hands to OpenCL's compiler.
//!
//! A kernel whose `BLOCK_SIZE` nobody declares gets it from `-DBLOCK_SIZE=16` in a `Makefile`, or from
//! `sprintf(options, "-DBLOCK_SIZE=%d", BLOCK_SIZE)` in the program that builds it. [`of_build_file`] and
//! [`of_host_code`] read such statements.
//!
//! Where a build says that headers are, [`include_dirs`] reads.
//!
//! Guarantees: nothing is executed; what stands under a condition of a build file is not read, and a value that is
//! not known is said to be so ([`Stated::value`]), so that whoever chooses between statements sees all of them.
//!
//! Deliberately absent: which file is near enough, and which of several statements counts (`driver`); shell scripts,
//! generated build files, and host code that is not C or C++.

mod build_file;
mod host_code;
mod script;

pub use build_file::{include_dirs, is_build_file, of_build_file};
pub use host_code::of_host_code;

/// One macro that a text outside of the source states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stated {
    /// The name of the macro.
    pub name: String,
    /// Its value as the compiler gets it; `None`: that is not known.
    pub value: Option<String>,
    /// The line of the statement, from 1.
    pub line: u32,
}

/// The name and the value of `NAME=VALUE` or `NAME`, if it is a name.
fn name_and_value(definition: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = match definition.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (definition, None),
    };
    is_name(name).then_some((name, value))
}

fn is_name(text: &str) -> bool {
    let is_first = |first: char| first.is_ascii_alphabetic() || first == '_';
    text.starts_with(is_first) && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}
