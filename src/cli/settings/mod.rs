//! `raceproof.toml`: settings of a tree, as ruff has them.
//!
//! - [`table`]: the keys.
//! - [`file`]: a file as it is read.
//! - [`show`]: `--show-settings`, `--settings-schema`.
//!
//! Of each file that is checked the nearest `raceproof.toml` counts, upward from its directory; of the run as a whole (`fail-on`,
//! `baseline`, `format`, `output`, `jobs`) that of the working directory. `--config` stands above it, and what is typed above that. A key that
//! stands for an option is read as if that option had been typed: what it means is said once, in [`super::options`].
//!
//! Guarantees: an error names the file, the line and the column. Deliberately absent: inheritance between files.

mod file;
mod show;
mod table;

pub(super) use show::{schema, show};

use super::args::{CheckArgs, Cli, Command as Typed, Destination};
use super::geometry;
use super::options::{integer, spoken_language};
use crate::diagnostic::{RuleId, Severity};
use crate::driver::contract_file;
use crate::driver::kernel_settings::{Given, KernelSettings, OfKernels, Says};
use crate::driver::rules::RuleSettings;
use crate::source::Language;
use anyhow::{Context, Result, anyhow};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use file::{Setting, Settings, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use table::{KEYS, Reach, named};

/// The name of a file of settings.
const NAME: &str = "raceproof.toml";

/// All that says how a run is done: what was typed, and the files that are read when they are asked for.
pub(super) struct Sources {
    arguments: Vec<OsString>,
    command: Command,
    matches: ArgMatches,
    is_isolated: bool,
    /// The file that `--config` names.
    named: Option<Rc<Settings>>,
    /// The keys that `--config` sets.
    above: Settings,
    read: RefCell<BTreeMap<PathBuf, Rc<Settings>>>,
}

/// How a file is checked: files with equal manners are checked together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Manner {
    file: Option<PathBuf>,
    language: Option<String>,
}

impl Sources {
    /// Those of a command line.
    pub(super) fn of(args: &CheckArgs, arguments: Vec<OsString>) -> Result<Sources> {
        let mut command = Cli::command();
        let matches = command.try_get_matches_from_mut(&arguments)?;
        let (_, matches) = matches.subcommand().context("there is a command")?;
        let matches = matches.clone();
        let command = command.find_subcommand("check").context("there is a command check")?.clone();
        let (named, above) = file::of_options(&args.settings.config, &command)?;
        let is_isolated = args.settings.isolated;
        Ok(Sources {
            arguments,
            command,
            matches,
            is_isolated,
            named: named.map(Rc::new),
            above,
            read: RefCell::default(),
        })
    }

    /// The settings of a file, or of a directory.
    fn settings_at(&self, path: &Path) -> Result<Rc<Settings>> {
        if let Some(named) = &self.named {
            return Ok(Rc::new(named.as_ref().clone().under(&self.above)));
        }
        let absolute = std::path::absolute(path)?;
        let directory = if absolute.is_dir() { absolute.as_path() } else { absolute.parent().unwrap_or(&absolute) };
        let nearest = directory.ancestors().map(|directory| directory.join(NAME)).find(|path| path.is_file());
        let Some(nearest) = nearest.filter(|_| !self.is_isolated) else { return Ok(Rc::new(self.above.clone())) };
        if let Some(known) = self.read.borrow().get(&nearest) {
            return Ok(Rc::clone(known));
        }
        let here = std::env::current_dir()?;
        let shown = nearest.strip_prefix(&here).unwrap_or(&nearest);
        let settings = Rc::new(file::read(shown, &self.command)?.under(&self.above));
        self.read.borrow_mut().insert(nearest, Rc::clone(&settings));
        Ok(settings)
    }

    /// The files that were read, in the order of their paths.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let named = self.named.iter().filter_map(|settings| settings.path.clone());
        named.chain(self.read.borrow().keys().cloned()).collect()
    }

    /// The arguments of the run as a whole.
    pub(super) fn of_run(&self) -> Result<CheckArgs> {
        self.arguments_of(&*self.settings_at(Path::new("."))?, None)
    }

    /// How a file is checked.
    pub(super) fn manner(&self, path: &Path) -> Result<Manner> {
        let settings = self.settings_at(path)?;
        let language = match settings.get("dialects").map(|setting| &setting.value) {
            Some(Value::ByPattern(all)) => {
                let meant = all.iter().rev().find(|(pattern, _)| pattern.matches(path));
                meant.and_then(|(_, language)| language.first().cloned())
            }
            _ => None,
        };
        Ok(Manner { file: settings.path.clone(), language })
    }

    /// Whether a file that was found below a directory is left out.
    pub(super) fn excludes(&self, path: &Path) -> Result<bool> {
        let settings = self.settings_at(path)?;
        let Some(Setting { value: Value::Patterns(all), .. }) = settings.get("exclude") else { return Ok(false) };
        Ok(all.iter().any(|pattern| pattern.matches(path)))
    }

    /// The arguments for files that are checked in one manner, one of which is given.
    pub(super) fn of_files(&self, manner: &Manner, path: &Path) -> Result<CheckArgs> {
        self.arguments_of(&*self.settings_at(path)?, manner.language.as_deref())
    }

    /// What settings make of rules, for files that are checked in one manner.
    pub(super) fn rules(&self, files: &[&Path]) -> Result<RuleSettings> {
        let mut rules = RuleSettings::default();
        let Some(first) = files.first() else { return Ok(rules) };
        let settings = self.settings_at(first)?;
        if let Some(Setting { value: Value::Rules(selected), place, .. }) = settings.get("select") {
            let others = RuleId::ALL.into_iter().filter(|rule| !selected.contains(rule));
            rules.left_out.extend(others.map(|rule| (rule, place.clone())));
        }
        if let Some(Setting { value: Value::Rules(ignored), place, .. }) = settings.get("ignore") {
            rules.left_out.extend(ignored.iter().map(|&rule| (rule, place.clone())));
        }
        if let Some(Setting { value: Value::Levels(levels), place, .. }) = settings.get("rules") {
            for (rule, level) in levels {
                match level.as_str() {
                    "error" => drop(rules.levels.insert(*rule, Severity::Error)),
                    "warning" => drop(rules.levels.insert(*rule, Severity::Warning)),
                    "note" => drop(rules.levels.insert(*rule, Severity::Note)),
                    _ => drop(rules.left_out.insert(*rule, place.clone())),
                }
            }
        }
        if let Some(Setting { value: Value::ByPattern(all), place, .. }) = settings.get("per-file-ignores") {
            for file in files {
                let ignored = all.iter().filter(|(pattern, _)| pattern.matches(file)).flat_map(|(_, names)| names);
                let ignored: BTreeMap<RuleId, String> =
                    ignored.filter_map(|name| Some((RuleId::from_name(name)?, place.clone()))).collect();
                if !ignored.is_empty() {
                    rules.left_out_in.insert(file.to_path_buf(), ignored);
                }
            }
        }
        Ok(rules)
    }

    /// What settings say of kernels by their names, for files that are checked in one manner. What is typed stands above it.
    pub(super) fn kernels(&self, args: &CheckArgs, files: &[&Path]) -> Result<KernelSettings> {
        let Some(first) = files.first() else { return Ok(KernelSettings::default()) };
        let settings = self.settings_at(first)?;
        let Some(Setting { value: Value::Kernels(all), .. }) = settings.get("kernels") else {
            return Ok(KernelSettings::default());
        };
        let paths: Vec<PathBuf> = files.iter().map(|path| path.to_path_buf()).collect();
        let spoken = spoken_language(&args.source, &paths);
        let of = |it: &file::OfKernels| {
            let says = self.said(&it.says, spoken).with_context(|| it.at.to_string())?;
            Ok(OfKernels { name: it.name.clone(), files: it.files.clone(), at: it.at.clone(), says })
        };
        all.iter().map(of).collect::<Result<_>>().map(KernelSettings)
    }

    /// What is left of it beside what is typed.
    fn said(&self, says: &file::Typed, spoken: Option<Language>) -> Result<Says> {
        let is_over = |ids: &[&str]| ids.iter().any(|id| self.is_typed(id));
        match says {
            file::Typed::Contract(_) if self.is_overruled("contracts") => Ok(Says::Nothing),
            file::Typed::Contract(conditions) => Ok(Says::Contract(contract_file::conditions(conditions)?)),
            file::Typed::Launch { .. } if is_over(&["contracts", "launches"]) => Ok(Says::Nothing),
            file::Typed::Launch { block, grid, params } => {
                let block = block.as_ref().filter(|_| !self.is_overruled("block_dim"));
                let grid = grid.as_ref().filter(|_| !self.is_overruled("grid_dim"));
                let block = block.map(|typed| geometry::block(typed, spoken)).transpose().context("block-dim")?;
                let grid = grid.map(|typed| geometry::grid(typed, spoken)).transpose().context("grid-dim")?;
                let params = params.iter().filter(|_| !self.is_overruled("params"));
                let params = params.map(|(name, value)| {
                    Ok((name.clone(), integer(value).with_context(|| format!("params: `{value}` is no integer"))?))
                });
                Ok(Says::Launch(Given { block, grid, params: params.collect::<Result<_>>()? }))
            }
        }
    }

    fn is_typed(&self, id: &str) -> bool {
        self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Whether `--output FORMAT=-` says what standard output gets.
    fn types_standard_output(&self) -> bool {
        let mut typed = self.matches.get_many::<Destination>("output").into_iter().flatten();
        self.is_typed("output") && typed.any(|destination| destination.path.as_os_str() == "-")
    }

    /// Whether something else that is typed takes the place of an option.
    fn is_overruled(&self, id: &str) -> bool {
        let typed = |ids: &[&str]| ids.iter().any(|id| self.is_typed(id));
        match id {
            // Options that are lists are joined.
            "defines" | "include_dirs" | "models" | "externals" | "refused_externals" => false,
            "contracts" => typed(&["contracts", "any_launch", "block_dim", "grid_dim", "params"]),
            "any_launch" => typed(&["any_launch", "contracts"]),
            "block_dim" | "grid_dim" | "params" => typed(&[id, "contracts", "launches"]),
            "baseline" => typed(&["baseline", "write_baseline"]),
            "format" => typed(&["format"]) || self.types_standard_output(),
            _ => self.is_typed(id),
        }
    }

    /// The arguments as they would be if the settings had been typed before them.
    fn arguments_of(&self, settings: &Settings, language: Option<&str>) -> Result<CheckArgs> {
        let mut tokens: Vec<OsString> = Vec::new();
        let (mut directories, mut models) = (0, 0);
        for setting in &settings.all {
            let Some(option) = named(setting.key).and_then(|key| key.option) else { continue };
            if self.is_overruled(option) || (option == "lang" && language.is_some()) {
                continue;
            }
            let words = self.words(option, &setting.value);
            match option {
                "include_dirs" => directories = words.len(),
                "models" => models = words.len(),
                _ => {}
            }
            tokens.extend(words.into_iter().map(OsString::from));
        }
        if let Some(language) = language.filter(|_| !self.is_typed("lang")) {
            tokens.push(format!("--lang={language}").into());
        }
        // The name of the program and of the command.
        let (head, typed) = self.arguments.split_at(self.arguments.len().min(2));
        let all = [head, &tokens, typed].concat();
        let about = || match &settings.path {
            Some(path) => format!("{}, with what is typed", path.display()),
            None => "--config".to_owned(),
        };
        let matches = Cli::command().try_get_matches_from(all);
        let matches = matches.map_err(|error| anyhow!("{}: {}", about(), told(&error)))?;
        let cli = Cli::from_arg_matches(&matches).map_err(|error| anyhow!("{}: {}", about(), told(&error)))?;
        let Some(Typed::Check(mut args)) = cli.command else { return Err(anyhow!("there is no command check")) };
        // Directories that are typed are searched first.
        args.source.include_dirs.rotate_left(directories);
        args.source.models.rotate_left(models);
        Ok(args)
    }

    /// A key as it would be typed.
    fn words(&self, option: &str, value: &Value) -> Vec<String> {
        let argument = self.command.get_arguments().find(|argument| argument.get_id() == option);
        let Some(argument) = argument else { return Vec::new() };
        let with = |value: &str| match (argument.get_long(), argument.get_short()) {
            (Some(long), _) => format!("--{long}={value}"),
            (None, Some(short)) => format!("-{short}{value}"),
            (None, None) => value.to_owned(),
        };
        match value {
            Value::Text(text) => vec![with(text)],
            Value::Switch(true) => argument.get_long().map(|long| format!("--{long}")).into_iter().collect(),
            Value::Texts(texts) if option == "fail_on" => vec![with(&texts.join(","))],
            Value::Texts(texts) => texts.iter().map(|text| with(text)).collect(),
            Value::Pairs(pairs) | Value::Paths(pairs) => {
                pairs.iter().map(|(name, value)| with(&format!("{name}={value}"))).collect()
            }
            Value::Switch(false) | Value::Patterns(_) | Value::Rules(_) | Value::Levels(_) => Vec::new(),
            Value::ByPattern(_) | Value::Kernels(_) => Vec::new(),
        }
    }

    /// The keys of the run, or of files.
    fn reaching(reach: Reach) -> impl Iterator<Item = &'static table::Key> {
        KEYS.iter().filter(move |key| key.reach == reach)
    }
}

/// What the grammar of the command line says, on one line and without the usage.
fn told(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    first.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}
