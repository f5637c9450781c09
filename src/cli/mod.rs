//! The command line: `raceproof check`, `merge`, `contracts`, `show`, `instrument`, `run` and `explain`.
//!
//! What was typed ([`args`]) is kept apart from what is meant ([`options`], which also says what is wrong with
//! it). Results go to standard output, everything about the run itself to standard error. Exit codes are a
//! contract (docs/ARCHITECTURE.md, "Contracts"): 0 nothing found, 1 findings, 2 usage or input errors, 101 a bug in raceproof;
//! 130, 143 and 129, as shells have them, where the user or the system ended the run.
//!
//! Deliberately absent: any knowledge of passes; the edges only know the driver and reports.

mod adequacy;
mod amplify;
mod args;
mod baseline;
mod cache;
mod changed;
mod check;
mod contracts;
mod cover;
mod estimate;
mod explain;
mod failing;
mod fix;
mod front;
mod generate;
mod geometry;
mod header;
mod hosted;
mod instrument;
mod interrupt;
mod keeping;
mod lsp;
mod memory;
mod merge;
mod mutate;
mod nvcc;
mod options;
mod output;
mod outputs;
mod paragraphs;
mod plan;
mod progress;
mod run;
mod schedule;
mod settings;
mod shard;
mod shell;
mod show;
mod step_summary;
mod trace;
mod version;
mod wanted;
mod watch;

use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    /// Nothing was found.
    Clean,
    /// There are findings.
    Findings,
    /// The command line or an input was wrong.
    Usage,
    /// raceproof failed.
    Bug,
    /// A compiler that ran in this program's place ended so.
    Compiler(u8),
    /// The user, or the system, ended the run: the exit code for the signal.
    Interrupted(u8),
}

impl Exit {
    /// The exit code.
    fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Bug => 101,
            Exit::Compiler(code) | Exit::Interrupted(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Runs the command line `arguments` (the program's name first).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = nvcc::named(arguments).into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors and go to standard output; a closed pipe is nobody's concern here.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Clean.into() };
        }
    };
    let Some(command) = cli.command else {
        if cli.version {
            let length = if cli.verbose { version::Length::Long } else { version::Length::Short };
            return version::print(length).unwrap_or_else(|error| output::failed(&error)).into();
        }
        return header::print_directory().unwrap_or_else(|error| output::failed(&error)).into();
    };
    let outcome = match command {
        Command::Check(args) => check::run(&args, arguments),
        Command::Show(args) => show::run(&args),
        Command::Instrument(args) => instrument::run(&args),
        Command::Run(args) => run::run(args),
        Command::Nvcc(args) => nvcc::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Amplify(args) => amplify::run(args),
        Command::Cover(args) => cover::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Mutate(args) => mutate::run(args),
        Command::Schedule(args) => schedule::run(args),
        Command::Adequacy(args) => adequacy::run(args),
        Command::Merge(args) => merge::run(&args),
        Command::Lsp(args) => lsp::run(&args, arguments),
        Command::Contracts(args) => contracts::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Header => header::run(),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::pages(&args),
        Command::Clean(args) => cache::run(&args),
        Command::ClangWorker => return crate::driver::serve(),
        Command::OpenclProbe => version::probe(),
        Command::OpenclWorker { job } => return crate::driver::run::serve_opencl(&job),
    };
    outcome.unwrap_or_else(|error| output::failed(&error)).into()
}
