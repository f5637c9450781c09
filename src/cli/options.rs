//! What is meant by what was typed, or what is wrong with it.
//!
//! Every error names the argument and says what to write instead.

use super::args::{
    self, AmplifyArgs, CheckArgs, ContractsArgs, Headers, InstrumentArgs, JudgingArgs, Lang, LaunchArgs, Level,
    RunArgs, ShowArgs, Solver, SourceArgs,
};
use super::geometry;
use crate::driver::CompileCommands;
use crate::driver::baseline::Baseline;
use crate::driver::logged::LoggedLaunches;
use crate::driver::options::{
    self, Device, Effort, Evidence, Externals, Fixes, GlobalOffset, Hints, Launches, Levels, Models, Options, Pictures,
    ProjectHeaders, Proofs, Reproductions, Settings, SolverKind, Timings, Told,
};
use crate::driver::stated_contracts::StatedContracts;
use crate::source::discover::language_of;
use crate::source::patterns::NamePattern;
use crate::source::{Dialect, Language, OpenClVersion};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Nobody waits longer than this for one kernel.
const MAX_SECONDS: f64 = 1e6;

/// The options of `check`.
pub(super) fn for_check(args: &CheckArgs) -> Result<Options> {
    let mut options = common(&args.source, &args.launch, spoken_language(&args.source, &args.paths))?;
    judging(&args.judging, &mut options)?;
    options.judging.levels = match args.proof.level {
        Level::Block => Levels::Block,
        Level::Grid => Levels::Grid,
        Level::All => Levels::All,
    };
    options.judging.launches = if args.proof.any_launch { Launches::All } else { Launches::OfContracts };
    options.workload.timings = if args.timings { Timings::Measure } else { Timings::Omit };
    options.judging.proofs = if args.proof.check_proofs { Proofs::Recheck } else { Proofs::Trust };
    options.workload.jobs = args.work.jobs.map(usize::from);
    options.workload.memory = Some(usize::try_from(super::memory::bytes(&args.work.memory)?)?);
    // Of standard input nothing is kept.
    if args.paths.iter().any(|path| path.as_os_str() != "-") {
        options.workload.cache = super::cache::store(&args.work.cache)?;
    }
    options.headers.project = headers(args.source.headers, &args.paths);
    options.fixes = Fixes::Suggest;
    options.hints = if args.proof.hints { Hints::Give } else { Hints::Omit };
    options.evidence = Evidence {
        reproductions: if args.reproduce.is_some() { Reproductions::Draft } else { Reproductions::Omit },
        pictures: if args.html.is_some() { Pictures::Draw } else { Pictures::Omit },
    };
    let contracts = args.proof.contracts.as_deref().map(StatedContracts::read).transpose();
    options.contracts.stated = contracts.context("--contracts")?.map(Arc::new);
    if let Some(path) = &args.proof.launches {
        let logged = LoggedLaunches::read(path);
        let about = || format!("--launches: cannot read {}", path.display());
        options.contracts.logged = Some(Arc::new(logged.with_context(about)?));
        // What launches that were made keep is the question.
        options.contracts.told = Told::Contracts;
    }
    options.telling.baseline = args.baseline.baseline.as_deref().map(baseline).transpose()?.map(Arc::new);
    Ok(options)
}

fn baseline(path: &Path) -> Result<Baseline> {
    let about = || format!("--baseline: {}", path.display());
    let text = std::fs::read_to_string(path).with_context(about)?;
    Baseline::parse(path, &text).with_context(about)
}

/// The options of `contracts`.
pub(super) fn for_contracts(args: &ContractsArgs) -> Result<Options> {
    let launch = LaunchArgs { kernels: args.kernels.clone(), ..LaunchArgs::default() };
    let mut options = common(&args.source, &launch, spoken_language(&args.source, &args.paths))?;
    judging(&args.judging, &mut options)?;
    options.workload.jobs = args.jobs.map(usize::from);
    options.headers.project = headers(args.source.headers, &args.paths);
    options.contracts.told = Told::Contracts;
    Ok(options)
}

/// What both have in common.
fn judging(args: &JudgingArgs, options: &mut Options) -> Result<()> {
    options.judging.solver_timeout = seconds("--solver-timeout", args.solver_timeout)?;
    options.judging.effort = match args.effort {
        args::Effort::Quick => Effort::Quick,
        args::Effort::Normal => Effort::Normal,
        args::Effort::Thorough => Effort::Thorough,
    };
    options.judging.lockstep = args.lockstep_warps;
    let patterns = |option, typed: &[String]| {
        let pattern = |text: &String| NamePattern::new(text).with_context(|| format!("{option} {text}"));
        typed.iter().map(pattern).collect::<Result<Vec<_>>>()
    };
    options.judging.externals = Externals {
        is_strict: args.strict_externals,
        stated: patterns("--external", &args.externals)?,
        refused: patterns("--refuse-external", &args.refused_externals)?,
    };
    options.judging.device = Device {
        global_offset: match args.global_offset {
            None => GlobalOffset::Unstated,
            Some(args::GlobalOffset::Zero) => GlobalOffset::Zero,
            Some(args::GlobalOffset::Any) => GlobalOffset::Any,
        },
        most_work_items: args.max_work_group_size,
        uniform_work_groups: args.uniform_work_groups,
        wave: args.wave,
    };
    options.judging.solver = solver(args.solver)?;
    Ok(())
}

/// The solver that is meant, if it is on this machine.
fn solver(wanted: Solver) -> Result<Option<options::Solver>> {
    let kind = match wanted {
        Solver::None => return Ok(None),
        Solver::Auto => return Ok(any_solver()),
        Solver::Z3 => SolverKind::Z3,
        Solver::Cvc5 => SolverKind::Cvc5,
        Solver::Bitwuzla => SolverKind::Bitwuzla,
    };
    let (name, variable) = (kind.name(), kind.variable());
    let missing =
        || format!("--solver {name}: there is no program {name} on the PATH; install it, or name it by {variable}");
    options::find_solver(kind).with_context(missing).map(Some)
}

/// A solver, if there is one.
pub(super) fn any_solver() -> Option<options::Solver> {
    SolverKind::ALL.into_iter().find_map(options::find_solver)
}

/// The options of `show`.
pub(super) fn for_show(args: &ShowArgs) -> Result<Options> {
    let language = args.source.lang.map(|lang| dialect(lang).language()).or_else(|| language_of(&args.file));
    let mut options = common(&args.source, &args.launch, language)?;
    options.headers.project = headers(args.source.headers, &[]);
    options.workload.timings = if args.timings { Timings::Measure } else { Timings::Omit };
    Ok(options)
}

/// Where headers are sought, for a run over `paths`.
fn headers(wanted: Headers, paths: &[PathBuf]) -> Option<Arc<ProjectHeaders>> {
    (wanted == Headers::Project).then(|| Arc::new(ProjectHeaders::new(paths)))
}

/// The options of `instrument`.
pub(super) fn for_instrument(args: &InstrumentArgs) -> Result<Options> {
    let language = args.source.lang.map(|lang| dialect(lang).language()).or_else(|| language_of(&args.file));
    common(&args.source, &LaunchArgs::default(), language)
}

/// The options of `run`: how its files are read.
pub(super) fn for_run(args: &RunArgs) -> Result<Options> {
    common(&args.source, &LaunchArgs::default(), Some(Language::Cuda))
}

/// What the flow of a program that is run is analysed with: the same text, through whichever front end reads it best.
pub(super) fn for_amplify(args: &AmplifyArgs) -> Result<Options> {
    for_run(&args.run)
}

/// A number of seconds after which something ends.
pub(super) fn seconds(name: &str, seconds: f64) -> Result<Duration> {
    ensure!(seconds > 0.0 && seconds <= MAX_SECONDS, "{name}: {seconds} is not between 0 and {MAX_SECONDS}");
    Ok(Duration::from_secs_f64(seconds))
}

fn common(source: &SourceArgs, launch: &LaunchArgs, spoken: Option<Language>) -> Result<Options> {
    let block = launch.block_dim.as_deref().map(|typed| geometry::block(typed, spoken)).transpose();
    let grid = launch.grid_dim.as_deref().map(|typed| geometry::grid(typed, spoken)).transpose();
    let judging = Settings {
        block: fixed(block.context("--block-dim")?),
        grid: fixed(grid.context("--grid-dim")?),
        params: launch.params.iter().map(|typed| param(typed)).collect::<Result<_>>()?,
        ..Settings::default()
    };
    Ok(Options {
        judging,
        commands: source.build.as_deref().map(commands).transpose()?,
        front: super::front::front_end(source.front)?,
        kernels: launch.kernels.clone(),
        undefined: Vec::new(),
        defines: source.defines.iter().map(|typed| define(typed)).collect::<Result<_>>()?,
        include_dirs: source.include_dirs.iter().map(|dir| include_dir(dir)).collect::<Result<_>>()?,
        dialect: source.lang.map(dialect),
        headers: options::Headers { project: None, models: Models::new(&models(&source.models)?) },
        ..Options::default()
    })
}

/// Directories of models that are there.
fn models(directories: &[PathBuf]) -> Result<Vec<PathBuf>> {
    for directory in directories {
        ensure!(directory.is_dir(), "--models: there is no directory {}", directory.display());
    }
    Ok(directories.to_vec())
}

fn commands(build: &Path) -> Result<Arc<CompileCommands>> {
    CompileCommands::read(build).map(Arc::new).context("-p (the directory of a build, which has compile_commands.json)")
}

fn dialect(lang: Lang) -> Dialect {
    match lang {
        Lang::Cuda => Dialect::Cuda,
        Lang::Hip => Dialect::Hip,
        Lang::Opencl => Dialect::OpenCl(OpenClVersion::Unstated),
    }
}

/// The one language of all that is checked, if there is one: it decides which limits a geometry has.
pub(super) fn spoken_language(source: &SourceArgs, paths: &[PathBuf]) -> Option<Language> {
    if let Some(lang) = source.lang {
        return Some(dialect(lang).language());
    }
    let is_opencl = |path: &PathBuf| language_of(path) == Some(Language::OpenCl);
    paths.iter().all(is_opencl).then_some(Language::OpenCl)
}

fn fixed(extents: Option<[u32; 3]>) -> [Option<u32>; 3] {
    extents.map_or([None; 3], |extents| extents.map(Some))
}

/// `NAME=VALUE` with an integer in any notation of C.
fn param(typed: &str) -> Result<(String, i128)> {
    let form = || format!("--param: `{typed}` is not of the form NAME=VALUE with an integer; write for example n=64");
    let (name, value) = typed.rsplit_once('=').with_context(form)?;
    ensure!(!name.trim().is_empty(), form());
    Ok((name.trim().to_string(), integer(value.trim()).with_context(form)?))
}

pub(super) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => match digits {
            "true" => 1,
            "false" => 0,
            _ => digits.parse::<u64>().ok()?,
        },
    };
    let value = i128::from(value);
    Some(if negative { -value } else { value })
}

/// `NAME` or `NAME=VALUE`, as compilers have it.
fn define(typed: &str) -> Result<(String, String)> {
    let (name, value) = typed.split_once('=').unwrap_or((typed, "1"));
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_');
    ensure!(is_name, "-D: `{name}` is not the name of an object-like macro; write NAME or NAME=VALUE");
    Ok((name.to_string(), value.to_string()))
}

fn include_dir(dir: &Path) -> Result<PathBuf> {
    ensure!(dir.is_dir(), "-I: {} is not a directory", dir.display());
    Ok(dir.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_integers_as_c_writes_them() {
        assert_eq!(param("n=64").unwrap(), ("n".into(), 64));
        assert_eq!(param("mask=0xff").unwrap(), ("mask".into(), 255));
        assert_eq!(param("p.width=-3").unwrap(), ("p.width".into(), -3));
        assert_eq!(param("n=18446744073709551615").unwrap().1, i128::from(u64::MAX));
        for wrong in ["n", "n=", "=3", "n=x", "n=1.5", "n=--1", "n=18446744073709551616"] {
            assert!(param(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn defines_are_one_unless_a_value_is_given() {
        assert_eq!(define("N").unwrap(), ("N".into(), "1".into()));
        assert_eq!(define("N=").unwrap(), ("N".into(), String::new()));
        assert_eq!(define("N=a=b").unwrap(), ("N".into(), "a=b".into()));
        for wrong in ["", "=1", "1N", "F(x)=x"] {
            assert!(define(wrong).is_err(), "{wrong}");
        }
    }
}
