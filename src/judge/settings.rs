//! What a judgement is told beside the kernel: for which launches, on which devices, how hard to try, and whom it may ask.
//!
//! Deliberately absent: how it was typed (`cli`), and how files are read (`driver`).

use super::effort::Effort;
use crate::prove::premises::Proofs;
use crate::smt::Solver;
use crate::source::patterns::NamePattern;
use std::time::Duration;

/// What a judgement is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Fixed extents of the block; either all are fixed or none is.
    pub block: [Option<u32>; 3],
    /// Fixed extents of the grid, in blocks; either all are fixed or none is.
    pub grid: [Option<u32>; 3],
    /// Fixed values of scalar parameters, by name. A kernel without a parameter of that name ignores it, and so does one whose
    /// parameter cannot have that value.
    pub params: Vec<(String, i128)>,
    /// Between which threads races are sought.
    pub levels: Levels,
    /// Which launches a verdict is about, where none is given.
    pub launches: Launches,
    /// How many threads of a warp run in lock-step, if they do: on hardware before Volta.
    pub lockstep: Option<u32>,
    /// What is stated of the devices that run the kernels.
    pub device: Device,
    /// Which functions that are not defined may be taken for functions of their arguments.
    pub externals: Externals,
    /// How hard to try.
    pub effort: Effort,
    /// Whether derivations are replayed by the checker.
    pub proofs: Proofs,
    /// The solver that is asked what rules and runs leave open, if there is one.
    pub solver: Option<Solver>,
    /// After how long a silent solver counts as broken.
    pub solver_timeout: Duration,
}

impl Settings {
    /// The value that is given for parameters of that name: the last one.
    pub fn given(&self, name: &str) -> Option<i128> {
        self.params.iter().rev().find(|(given, _)| given == name).map(|&(_, value)| value)
    }

    /// Whether sizes of blocks or of grids are given.
    pub fn gives_sizes(&self) -> bool {
        self.block != [None; 3] || self.grid != [None; 3]
    }

    /// Whether contracts excuse races: not where all launches are asked about, or launches of given sizes.
    pub fn contracts_excuse(&self) -> bool {
        self.launches == Launches::OfContracts && !self.gives_sizes()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            block: [None; 3],
            grid: [None; 3],
            params: Vec::new(),
            levels: Levels::All,
            launches: Launches::OfContracts,
            lockstep: None,
            device: Device::default(),
            externals: Externals::default(),
            effort: Effort::default(),
            proofs: Proofs::Trust,
            solver: None,
            solver_timeout: Duration::from_secs(30),
        }
    }
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

/// Which functions that are not defined may be taken for functions of their arguments.
#[derive(Clone, Debug, Default)]
pub struct Externals {
    /// Whether none is, but for those that are stated.
    pub is_strict: bool,
    /// Those that are stated.
    pub stated: Vec<NamePattern>,
    /// Those that never are.
    pub refused: Vec<NamePattern>,
}

impl Externals {
    /// Whether the one of that name is.
    pub fn takes(&self, name: &str) -> bool {
        let is_among = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(name));
        !is_among(&self.refused) && (!self.is_strict || is_among(&self.stated))
    }
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

/// Which launches a verdict is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Launches {
    /// Those that were found, and all that keep the contract of their kernel: a race that the contract excludes, and that no
    /// launch is seen to make, is none.
    #[default]
    OfContracts,
    /// All that there can be: a contract is told, and excuses nothing.
    All,
}
