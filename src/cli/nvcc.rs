//! `raceproof nvcc`: one command of a build, with the objects that it makes logged.
//!
//! It is called in the place of nvcc, or in front of it and of other compilers, whose paths are then the first argument;
//! as `raceproof-nvcc`, too, for builds that want the name of one program. What it makes and its exit status are nvcc's.
//! Nothing goes to standard output but what nvcc says, which builds read.

use super::Exit;
use super::args::NvccArgs;
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note};
use crate::driver::stand_in::{Request, StandInError, Unlogged, stand_in};
use anyhow::{Result, anyhow};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// The name under which this program is `raceproof nvcc`.
const NAME: &str = "raceproof-nvcc";
/// The only option that is not nvcc's, anywhere among its arguments.
const KEEP_GOING: &str = "--raceproof-keep-going";

/// The arguments with the command in them where the program's name says it.
pub(super) fn named(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let is_nvcc = arguments.first().is_some_and(|first| Path::new(first).file_stem().is_some_and(|stem| stem == NAME));
    if is_nvcc {
        arguments.insert(1, "nvcc".into());
    }
    arguments
}

/// Runs the command.
pub(super) fn run(args: &NvccArgs) -> Result<Exit> {
    let mut words = Vec::new();
    for word in &args.words {
        words.push(word.to_str().ok_or_else(|| anyhow!("an argument is not UTF-8: {}", word.display()))?.to_owned());
    }
    let unlogged = if words.iter().any(|word| word == KEEP_GOING) { Unlogged::Compile } else { Unlogged::Refuse };
    words.retain(|word| word != KEEP_GOING);
    let compiler = words.first().filter(|first| is_program(first)).cloned();
    if compiler.is_some() {
        words.remove(0);
    }
    interruptible(move |interrupt| {
        let store = super::cache::of_user();
        let request = Request { compiler, words, unlogged, store: store.as_ref() };
        Ok(carried_out(&request, interrupt))
    })
}

/// Whether the first argument is a compiler, and no file for one.
fn is_program(word: &str) -> bool {
    let has_kind = Path::new(word).extension().is_some_and(|kind| kind.to_str().is_some_and(|kind| !is_number(kind)));
    !word.starts_with('-') && !has_kind
}

/// As in `g++-12.3`.
fn is_number(text: &str) -> bool {
    text.chars().all(|character| character.is_ascii_digit())
}

fn carried_out(request: &Request<'_>, interrupt: &Interrupt) -> Exit {
    let stop = || interrupt.is_pressed();
    match stand_in(request, &|line| note(line), &stop) {
        Ok(status) => Exit::Compiler(u8::try_from(status).unwrap_or(1)),
        Err(error) => failed(&error, interrupt),
    }
}

fn failed(error: &StandInError, interrupt: &Interrupt) -> Exit {
    if let Some(messages) = error.compiler_messages() {
        let _ = std::io::stderr().lock().write_all(messages.as_bytes());
    }
    complain(&error.to_string());
    match error {
        StandInError::Run(error) => super::run::exit_of(error, interrupt),
        StandInError::NotLogged { .. } => Exit::Usage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_from_a_file() {
        for program in ["/usr/local/cuda/bin/nvcc", "g++", "/usr/bin/g++-12", "clang++-18", "x86_64-linux-gnu-g++-12.3"]
        {
            assert!(is_program(program), "{program}");
        }
        for file in ["a.cu", "-c", "src/b.cpp", "libk.a", "--version"] {
            assert!(!is_program(file), "{file}");
        }
    }

    #[test]
    fn the_name_of_the_program_says_the_command() {
        let given = |name: &str| named(["/bin/".to_owned() + name, "-c".to_owned()].map(OsString::from)).len();
        assert_eq!((given("raceproof"), given("raceproof-nvcc")), (2, 3));
    }
}
