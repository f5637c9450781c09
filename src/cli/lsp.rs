//! `raceproof lsp`: the language server, for editors.
//!
//! Its options are those of `check`, and so are the settings of files: each is checked as `check` would.

use super::Exit;
use super::args::{Cli, Command, FrontEnd as Front, LspArgs};
use super::cache;
use super::front::{front_end, unread};
use super::plan::Plan;
use super::settings::Sources;
use crate::driver::FrontEnd;
use crate::driver::options::Options;
use crate::driver::parallel::{Group, Input};
use crate::server::{Configuration, Unfit, serve};
use crate::source::discover::discover;
use anyhow::{Context, Result, anyhow};
use clap::Parser;
use std::ffi::OsString;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs the command.
pub(super) fn run(_: &LspArgs, arguments: Vec<OsString>) -> Result<Exit> {
    let typed = Typed { arguments, fronts: Mutex::default() };
    // What is wrong with the command line is told before an editor waits.
    typed.sources(Path::new("."))?;
    let configuration: Arc<dyn Configuration> = Arc::new(typed);
    serve(&configuration).context("language server")?;
    Ok(Exit::Clean)
}

/// What was typed.
struct Typed {
    arguments: Vec<OsString>,
    /// Front ends that were begun: a pool of workers serves all texts.
    fronts: Mutex<Vec<FrontEnd>>,
}

impl Typed {
    /// What says how a path is checked: the same words, typed behind `check`.
    fn sources(&self, path: &Path) -> Result<(Sources, super::args::CheckArgs)> {
        let program = self.arguments.first().cloned().unwrap_or_default();
        let options = self.arguments.iter().skip(2).filter(|word| *word != "--stdio").cloned();
        let words: Vec<OsString> = [program, "check".into()].into_iter().chain(options).chain([path.into()]).collect();
        let cli = Cli::try_parse_from(&words)?;
        let Some(Command::Check(args)) = cli.command else { return Err(anyhow!("there is no command check")) };
        Ok((Sources::of(&args, words)?, args))
    }

    fn groups(&self, root: &Path, files: Vec<PathBuf>) -> Result<Vec<Group>> {
        let (sources, _) = self.sources(root)?;
        let mut inputs = Vec::new();
        for file in files {
            if file == root || !sources.excludes(&file)? {
                inputs.push(Input::File(file));
            }
        }
        let mut plan = Plan::of(&sources, &sources.of_run()?, &inputs)?;
        let options = plan.options();
        plan.choose(&inputs, &options);
        let mut groups = plan.groups(&inputs);
        groups.iter_mut().for_each(|group| self.share(&mut group.options));
        Ok(groups)
    }

    /// Takes the front end that is there already.
    fn share(&self, options: &mut Options) {
        let mut fronts = self.fronts.lock().unwrap_or_else(PoisonError::into_inner);
        match fronts.iter().find(|front| discriminant(*front) == discriminant(&options.front)) {
            Some(front) => options.front = front.clone(),
            None => fronts.push(options.front.clone()),
        }
    }
}

impl Configuration for Typed {
    fn of_text(&self, path: &Path) -> Result<Options, Unfit> {
        let groups = self.groups(path, vec![path.to_path_buf()]).map_err(unfit)?;
        Ok(groups.into_iter().next().map(|group| group.options).unwrap_or_default())
    }

    fn of_project(&self, roots: &[PathBuf]) -> Result<Vec<Group>, Unfit> {
        let (files, _) = discover(roots);
        let Some(root) = roots.first() else { return Ok(Vec::new()) };
        self.groups(root, files).map_err(unfit)
    }

    fn pages(&self) -> Option<PathBuf> {
        cache::rule_pages()
    }

    fn warning(&self) -> Option<String> {
        let (sources, _) = self.sources(Path::new(".")).ok()?;
        let typed = sources.of_run().ok()?.source.front;
        let mut options = Options { front: front_end(typed).ok()?, ..Options::default() };
        self.share(&mut options);
        if typed == Front::Auto { unread(&options.front) } else { None }
    }
}

fn unfit(error: anyhow::Error) -> Unfit {
    Unfit(format!("{error:#}"))
}
