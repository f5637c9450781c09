//! Programs that are started with another text in the place of one that they build, and with their own kernels otherwise.
//!
//! Guarantees: it is known whether a program built the other text, and whether the driver's compiler took it.
//!
//! Deliberately absent: what a driver says of builds that go on while the program does something else.

use super::{command, library};
use crate::execute::ExecuteError;
use crate::execute::program::{Stop, Trial, Tried, observed};
use crate::execute::scratch::Scratch;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// How programs are started with another text.
#[derive(Debug)]
pub struct Substitutions {
    library: PathBuf,
    /// What the driver keeps of its builds.
    scratch: Scratch,
    program: Vec<OsString>,
}

/// A text, and what takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Replaced<'t> {
    /// As the program has it.
    pub text: &'t str,
    /// What is built.
    pub by: &'t str,
}

/// What became of the other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// The program did not build the text.
    NotWanted,
    /// The driver's compiler does not take it.
    Refused,
    /// It was built.
    Built,
}

impl Substitutions {
    /// For a program: its path, and its arguments.
    pub fn of(program: &[OsString], stop: Stop<'_>) -> Result<Substitutions, ExecuteError> {
        let scratch = Scratch::temporary()?;
        Ok(Substitutions { library: library(&scratch, stop)?, scratch, program: program.to_vec() })
    }

    /// Runs the program with nobody looking.
    pub fn try_out(
        &self,
        replaced: Option<Replaced<'_>>,
        trial: &Trial<'_>,
        stop: Stop<'_>,
    ) -> Result<(Tried, Substitution), ExecuteError> {
        let mut command = command(&self.program, &self.library, &self.scratch)?;
        let taken = trial.directory.join("taken");
        if let Some(Replaced { text, by }) = replaced {
            let made = fs::create_dir_all(&trial.directory);
            made.map_err(|cause| ExecuteError::Write { path: trial.directory.clone(), cause })?;
            let _ = fs::remove_file(&taken);
            for (variable, name, contents) in
                [("RACEPROOF_HOST_TEXT", "text.cl", text), ("RACEPROOF_HOST_REPLACEMENT", "mutant.cl", by)]
            {
                let path = trial.directory.join(name);
                fs::write(&path, contents).map_err(|cause| ExecuteError::Write { path: path.clone(), cause })?;
                command.env(variable, path);
            }
            command.env("RACEPROOF_HOST_TAKEN", &taken);
        }
        let tried = observed(command, &trial.directory, trial.timeout, stop)?;
        let told = fs::read_to_string(&taken).unwrap_or_default();
        let substitution = match told.lines().any(|line| line == "refused") {
            true => Substitution::Refused,
            false if told.is_empty() => Substitution::NotWanted,
            false => Substitution::Built,
        };
        Ok((tried, substitution))
    }
}
