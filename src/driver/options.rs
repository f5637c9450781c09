//! What a run is asked to do, after the command line has been understood.
//!
//! Deliberately absent: how it was typed (`cli`), how results look (`diagnostic::render`).

use super::front::FrontEnd;
use crate::preprocess::commands::CompileCommands;
use crate::source::Dialect;

pub use crate::prove::rules::Proofs;
pub use crate::smt::{Solver, SolverKind, find as find_solver};
pub use crate::source::headers::ProjectHeaders;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Fixed extents of the block; either all are fixed or none is.
    pub block: [Option<u32>; 3],
    /// Fixed extents of the grid, in blocks; either all are fixed or none is.
    pub grid: [Option<u32>; 3],
    /// Fixed values of scalar parameters, by name. A kernel without a parameter of that name ignores it.
    pub params: Vec<(String, i128)>,
    /// Kernels to look at, by name; empty means all.
    pub kernels: Vec<String>,
    /// Macros to define: name and replacement (`1` if none was given).
    pub defines: Vec<(String, String)>,
    /// Names that are not defined, whatever predefines them.
    pub undefined: Vec<String>,
    /// Directories to search for quoted includes, after the including file's own.
    pub include_dirs: Vec<PathBuf>,
    /// Where headers are sought that no include path leads to, if they matter to a kernel.
    pub headers: Option<Arc<ProjectHeaders>>,
    /// How a build compiles the files; what is typed precedes it.
    pub commands: Option<Arc<CompileCommands>>,
    /// The front end that reads the files.
    pub front: FrontEnd,
    /// What files are read as; `None` means what the build, their extension or their headers say.
    pub dialect: Option<Dialect>,
    /// Between which threads races are sought.
    pub levels: Levels,
    /// How many threads of a warp run in lock-step, if they do: on hardware before Volta.
    pub lockstep: Option<u32>,
    /// What is stated of the devices that run the kernels.
    pub device: Device,
    /// The net under the counted budgets, per kernel.
    pub time_limit: Duration,
    /// Whether wall times are reported.
    pub timings: Timings,
    /// Whether derivations are replayed by the checker.
    pub proofs: Proofs,
    /// The solver that is asked what rules and runs leave open, if there is one.
    pub solver: Option<Solver>,
    /// Whether programs are drawn up that show the races which are proved.
    pub reproductions: Reproductions,
    /// Whether barriers that are not needed are named.
    pub hints: Hints,
    /// Whether barriers are sought that end races.
    pub fixes: Fixes,
    /// Worker threads over files; `None` means one for each core.
    pub jobs: Option<usize>,
}

/// What is stated of devices and launches where their platform leaves it open. What is not stated is assumed, and printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Device {
    /// Where global ids start.
    pub global_offset: GlobalOffset,
    /// The most work-items of a work-group.
    pub most_work_items: Option<u32>,
    /// Whether work-groups are all of one size.
    pub uniform_work_groups: bool,
    /// The lanes of a wavefront of HIP, 32 or 64.
    pub wave: Option<u32>,
}

/// Where global ids of OpenCL start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GlobalOffset {
    /// Anywhere; that it is 0 is assumed where a proof needs it.
    #[default]
    Unstated,
    /// At 0.
    Zero,
    /// Anywhere, for all proofs.
    Any,
}

/// Between which threads races are sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Levels {
    /// Threads of one block.
    Block,
    /// Threads of different blocks.
    Grid,
    /// Both.
    #[default]
    All,
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
            block: [None; 3],
            grid: [None; 3],
            params: Vec::new(),
            kernels: Vec::new(),
            defines: Vec::new(),
            undefined: Vec::new(),
            include_dirs: Vec::new(),
            headers: None,
            commands: None,
            front: FrontEnd::TreeSitter,
            dialect: None,
            levels: Levels::All,
            lockstep: None,
            device: Device::default(),
            time_limit: Duration::from_secs(10),
            timings: Timings::Omit,
            proofs: Proofs::Trust,
            solver: None,
            reproductions: Reproductions::Omit,
            hints: Hints::Omit,
            fixes: Fixes::Omit,
            jobs: None,
        }
    }
}
