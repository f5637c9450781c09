//! What a run is asked to do, after the command line has been understood.
//!
//! Deliberately absent: how it was typed (`cli`), how results look (`diagnostic::render`).

use super::front::FrontEnd;
use super::kernel_settings::KernelSettings;
use super::logged::LoggedLaunches;
use super::stated_contracts::StatedContracts;
use super::store::Store;
use crate::preprocess::commands::CompileCommands;
use crate::source::Dialect;
use crate::suppress::baseline::Baseline;
use crate::suppress::rules::RuleSettings;

pub use crate::judge::Effort;
pub use crate::judge::settings::{Device, Externals, GlobalOffset, Launches, Levels, Settings};
pub use crate::models::Models;
pub use crate::prove::premises::Proofs;
pub use crate::smt::{Solver, SolverKind, find as find_solver};
pub use crate::source::headers::ProjectHeaders;

use std::path::PathBuf;
use std::sync::Arc;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the judgement of each kernel is told.
    pub judging: Settings,
    /// Kernels to look at, by name; empty means all.
    pub kernels: Vec<String>,
    /// Macros to define: name and replacement (`1` if none was given).
    pub defines: Vec<(String, String)>,
    /// Names that are not defined, whatever predefines them.
    pub undefined: Vec<String>,
    /// Directories to search for quoted includes, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// What is asked for headers that no include path leads to.
    pub headers: Headers,
    /// How a build compiles the files; what is typed precedes it.
    pub commands: Option<Arc<CompileCommands>>,
    /// The front end that reads the files.
    pub front: FrontEnd,
    /// What files are read as; `None` means what the build, their extension or their headers say.
    pub dialect: Option<Dialect>,
    /// What is made beside the report, to show what it says.
    pub evidence: Evidence,
    /// Whether barriers that are not needed are named.
    pub hints: Hints,
    /// Whether barriers are sought that end races.
    pub fixes: Fixes,
    /// Contracts and launches beside the text, and what is told of them.
    pub contracts: Contracts,
    /// Which findings are told.
    pub telling: Telling,
    /// Who does which part of the work.
    pub workload: Workload,
}

/// What is asked for headers that no include path leads to.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    /// Where they are sought, if they matter to a kernel.
    pub project: Option<Arc<ProjectHeaders>>,
    /// What stands in for those that are found nowhere.
    pub models: Models,
}

/// Which findings are told. No verdict hangs on it, and nothing that is kept of earlier runs.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    /// Those that are known already.
    pub baseline: Option<Arc<Baseline>>,
    /// What settings make of rules.
    pub rules: Arc<RuleSettings>,
}

/// Who does which part of the work.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Worker threads over files; `None` means one for each core.
    pub jobs: Option<usize>,
    /// Bytes that may be held while files are checked; as many as there are without a number.
    pub memory: Option<usize>,
    /// Which files of the run the inputs are.
    pub part: Part,
    /// Where results of earlier runs are; `None` if none are kept.
    pub cache: Option<Arc<Store>>,
    /// Whether wall times are reported.
    pub timings: Timings,
}

/// Which files of a run its inputs are.
#[derive(Clone, Debug, Default)]
pub enum Part {
    /// All.
    #[default]
    All,
    /// A part of these, of which other processes check the rest.
    Shard(Arc<[PathBuf]>),
    /// A part of these, of which nobody checks the rest.
    Chosen(Arc<[PathBuf]>),
    /// A part of these, of which this process checks the rest with other options.
    Group(Arc<[PathBuf]>),
}

impl Part {
    /// All files of the run, if there are others beside the inputs.
    pub fn of(&self) -> Option<&[PathBuf]> {
        match self {
            Part::All => None,
            Part::Shard(all) | Part::Chosen(all) | Part::Group(all) => Some(all),
        }
    }
}

/// Whether wall times are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timings {
    /// They are left 0, so that equal input gives equal output.
    #[default]
    Omit,
    /// They are measured.
    Measure,
}

/// Whether programs are drawn up that show the races which are proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reproductions {
    /// They are not.
    #[default]
    Omit,
    /// They are, and wait to be written.
    Draft,
}

/// Whether small launches of kernels are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pictures {
    /// They are not.
    #[default]
    Omit,
    /// They are.
    Draw,
}

/// What is made beside the report, to show what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Programs that show races.
    pub reproductions: Reproductions,
    /// Pictures of small launches.
    pub pictures: Pictures,
}

/// Contracts and launches beside the text, and what is told of them.
#[derive(Clone, Debug, Default)]
pub struct Contracts {
    /// Those that kernels are judged under, where some are stated.
    pub stated: Option<Arc<StatedContracts>>,
    /// What settings say of kernels by their names; it stands above what is said of all.
    pub by_name: Arc<KernelSettings>,
    /// Launches of a logged run, in the place of those that host code states.
    pub logged: Option<Arc<LoggedLaunches>>,
    /// What is told of kernels that are proved.
    pub told: Told,
    /// Whether contracts that launches leave open are findings.
    pub open: OpenContracts,
}

/// Whether contracts that launches leave open are findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenContracts {
    /// They are told with the verdict alone.
    #[default]
    WithVerdicts,
    /// They are.
    AsFindings,
}

/// What is told of kernels that are proved for the launches that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// That they are.
    #[default]
    Verdicts,
    /// What they ask of all other launches, too.
    Contracts,
}

/// Whether barriers that are not needed are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hints {
    /// They are not.
    #[default]
    Omit,
    /// They are.
    Give,
}

/// Whether barriers are sought that end races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fixes {
    /// They are not.
    #[default]
    Omit,
    /// They are.
    Suggest,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            judging: Settings::default(),
            kernels: Vec::new(),
            defines: Vec::new(),
            undefined: Vec::new(),
            include_dirs: Vec::new(),
            headers: Headers::default(),
            commands: None,
            front: FrontEnd::TreeSitter,
            dialect: None,
            evidence: Evidence::default(),
            hints: Hints::Omit,
            fixes: Fixes::Omit,
            contracts: Contracts::default(),
            telling: Telling::default(),
            workload: Workload::default(),
        }
    }
}
