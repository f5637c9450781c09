//! The report of one run: plain data that every renderer takes.
//!
//! One [`FileReport`] for every file that was looked at, one [`KernelReport`] for every kernel (every
//! instance, for templates). Positions are [`Span`]s into the file's own [`SourceMap`]; renderers turn them
//! into lines and columns. The numbers of [`Summary`] are computed from the report and are never stored.
//!
//! Deliberately absent: how verdicts are reached, how they look, and any iteration order that is not the
//! order of files, of kernels in a file, and of findings as `check` sorted them.

use super::suppression::{Comment, Hidden, HiddenCounts};
use super::{Diagnostic, RuleId, Severity};
use crate::source::{Language, SourceMap, Span};
use crate::work::Spent;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;
use std::path::PathBuf;

/// Everything that one run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Every file that was looked at, sorted by path, with or without kernels.
    pub files: Vec<FileReport>,
}

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileReport {
    /// Its path as the user wrote it.
    pub path: PathBuf,
    /// The language it was read as.
    pub language: Language,
    /// The front end that answered.
    pub front: Front,
    /// How much of it could be read.
    pub parse: Parse,
    /// Its kernels, in source order; instances of one template in the order in which they are found.
    pub kernels: Vec<KernelReport>,
    /// What concerns the file rather than one kernel: parse problems, above all.
    pub diagnostics: Vec<Diagnostic>,
    /// The comments in its text, and in what that includes, that suppress findings.
    pub comments: Vec<Comment>,
    /// Names of its kernels that were not asked for, for whoever asked for one that there is not.
    pub unasked: Vec<String>,
    /// What it took beside its kernels; nothing unless timings were asked for.
    #[serde(skip)]
    pub spent: Spent,
    /// The files and macro expansions that all spans of this report point into. The main file is the first.
    #[serde(skip)]
    pub sources: SourceMap,
}

/// Front ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Front {
    /// The built-in one.
    TreeSitter,
    /// libclang.
    Clang,
}

/// How much of a file could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parse {
    /// All of it.
    Ok,
    /// Parts could not be read; kernels that overlap them are `unknown`.
    Partial,
    /// None of it.
    Failed,
}

/// The verdict on one kernel, with its grounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelReport {
    /// Its name as in the source.
    pub name: String,
    /// Line of its name in the visible text, from 1.
    pub line: u32,
    /// The file of that line, where it is not the one that was checked: a header.
    pub path: Option<PathBuf>,
    /// The front end that read it.
    pub front: Front,
    /// Template arguments as text, if it is an instance.
    pub template_args: Vec<String>,
    /// Names of its scalar parameters, as `--param` takes them.
    pub params: Vec<String>,
    /// Whether threads race.
    pub race: Race,
    /// Whether threads disagree about barriers.
    pub divergence: Divergence,
    /// For which launches the verdict holds; `None` if none was reached.
    pub scope: Option<Scope>,
    /// Whether every schedule gives the same result.
    pub determinism: Determinism,
    /// What decides where it accesses memory.
    pub deciding: Deciding,
    /// What the verdict relies on.
    pub assumptions: Vec<Assumption>,
    /// What it took; nothing unless timings were asked for.
    #[serde(skip)]
    pub spent: Spent,
    /// Of a kernel that is not free for all launches: under which condition on them it is, if one was found.
    pub contract: Option<Contract>,
    /// What was found: one finding for each cause.
    pub findings: Vec<Finding>,
    /// What was not decided or not understood.
    pub unknowns: Vec<Unknown>,
}

/// What decides where a kernel accesses memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deciding {
    /// Whether no array content flows into an address or guard; `None` if that is not known.
    pub access_invariant: Option<bool>,
    /// Names of the inputs that flow into addresses and guards: scalars, and arrays whose content does.
    pub inputs: Vec<String>,
}

/// The word before what a verdict relies on.
pub const ASSUMING: &str = "assuming";

/// Something that a verdict relies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// What it is about.
    pub kind: AssumptionKind,
    /// The assumption as one line.
    pub text: String,
}

/// Conditions on launches under which a kernel is free of races.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// The conditions, all of which have to hold.
    pub conjuncts: Vec<Conjunct>,
    /// Whether it admits launches that somebody would make, and each of its conditions is needed. One that is not plausible
    /// excuses no race.
    pub is_plausible: bool,
    /// What its proof relies on besides.
    pub assumptions: Vec<Assumption>,
    /// What the launches that were found say of it, in the order of their places.
    pub launches: Vec<CheckedLaunch>,
    /// Where somebody states it; `None` if it was inferred.
    pub stated: Option<StatedAt>,
}

/// A line of a file of contracts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedAt {
    /// The file, as the user wrote it.
    pub path: PathBuf,
    /// The line.
    pub line: u32,
}

impl fmt::Display for StatedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// One condition of a contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conjunct {
    /// The condition, in the language of the source: `pitch >= gridDim.x * blockDim.x`.
    pub text: String,
    /// What it is about.
    pub kind: ContractKind,
    /// A race that the other conditions do not exclude, if one was replayed.
    pub necessary: Option<WitnessReport>,
}

/// What a condition of a contract is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContractKind {
    /// Sizes of blocks and of the grid alone.
    Geometry,
    /// Scalar parameters, too.
    Scalar,
    /// What memory holds at the launch.
    Data,
    /// An extent along this axis (0 is x) that the kernel never reads: it has to be 1.
    Unread(usize),
}

/// A launch, and what it says of the contract of its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedLaunch {
    /// Where it stands.
    pub span: Span,
    /// Whether it keeps the contract.
    pub keeping: Keeping,
    /// The conditions that are not shown to hold.
    pub missing: Vec<String>,
}

/// Whether a launch keeps a contract, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Keeping {
    /// Proved: the kernel is free there.
    Kept,
    /// Not shown either way.
    Open,
    /// Proved: it breaks a condition, and a run of it shows the race.
    Broken,
}

/// What assumptions are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssumptionKind {
    /// Unsigned arithmetic does not wrap.
    NoUnsignedWrap,
    /// A dimension that the kernel never reads is 1; it also stands in the scope.
    DimensionIsOne,
    /// Which text the preprocessor left, where it asks for what is not known.
    Text,
    /// A function that is not defined here gives what hangs on its arguments alone, and does nothing else.
    External,
    /// Anything else.
    Other,
}

/// Whether threads race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Race {
    /// Proved: no two threads do, within the scope.
    RaceFree,
    /// Proved: two threads do; the witness was replayed.
    Racy,
    /// Two threads may, as far as can be seen without the contents of memory.
    PossiblyRacy,
    /// Not decided.
    Unknown,
}

/// Whether threads of a block disagree about reaching a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Divergence {
    /// Proved: they never do, within the scope.
    Uniform,
    /// Proved: they do; the witness was replayed.
    Divergent,
    /// They may, as far as can be seen without the contents of memory.
    PossiblyDivergent,
    /// Not decided.
    Unknown,
}

/// For which launches a verdict holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The set of launches.
    pub kind: ScopeKind,
    /// What it fixes, each as an equation: `blockDim.x = 256`, `gridDim.z = 1`, `n = 4096`.
    pub fixes: Vec<String>,
}

/// Sets of launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeKind {
    /// Every launch (dimensions that the kernel never reads are 1; they stand in [`Scope::fixes`]).
    AllGeometries,
    /// The launches found in the file.
    Launch,
    /// Every launch that keeps the contract of the kernel.
    Contract,
    /// What the command line gives.
    Given,
    /// Another set, by its name.
    Other(String),
}

impl ScopeKind {
    /// The word that users and programs see.
    pub fn name(&self) -> &str {
        match self {
            ScopeKind::AllGeometries => "all-geometries",
            ScopeKind::Launch => "launch",
            ScopeKind::Contract => "contract",
            ScopeKind::Given => "given",
            ScopeKind::Other(name) => name,
        }
    }
}

/// Whether every schedule gives the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Determinism {
    /// It does.
    Deterministic,
    /// That was not shown; what stands in the way ("the atomic on count at line 9").
    NotShown(String),
}

/// One defect, proved or possible.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// Whether it is proved.
    pub certainty: Certainty,
    /// Where the two threads stand to each other.
    pub level: Level,
    /// The array, if it is about one.
    pub array: Option<String>,
    /// One line that reads well alone: lower case, no full stop, in the language of the source.
    pub message: String,
    /// The place to look at first.
    pub primary: Place,
    /// The other place; `None` if there is none. It may equal the first one (an access against itself).
    pub secondary: Option<Place>,
    /// Why it is only possible; empty if it is proved.
    pub reasons: Vec<FindingReason>,
    /// Two threads and values that make it happen.
    pub witness: Option<WitnessReport>,
    /// The launch that makes it happen, if one of the program does.
    pub launch: Option<BreakingLaunch>,
    /// What memory must hold for the witness, if that matters: the race is shown for these contents only. Sorted by
    /// array; empty if the witness needs none.
    pub contents: Vec<ArrayContents>,
    /// Further notes in order; the last one says what can be done about it.
    pub notes: Vec<String>,
    /// The program that shows it, if programs were asked for and it is a race that is proved.
    pub reproduction: Option<Reproduction>,
    /// What ends it, if that is known for certain.
    pub fix: Option<Fix>,
    /// Others of its kernel that have the same cause; this one speaks for them. None of them has others of its own.
    pub related: Vec<Finding>,
    /// Whether it is told, where, and as how grave.
    pub telling: Telling,
}

/// Whether a finding is told, where, and as how grave. The verdict on its kernel is what it is, whatever stands here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    /// Where else the same is found: in other kernels.
    pub same: Same,
    /// Who does not want to be told of it.
    pub hidden: Option<Hidden>,
    /// What the settings make of its rule.
    pub severity: Option<Severity>,
}

/// A launch of the program that does not keep the contract of its kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakingLaunch {
    /// Where it stands.
    pub span: Span,
    /// The conditions that it breaks.
    pub breaks: Vec<String>,
}

impl BreakingLaunch {
    /// "this launch breaks the contract: pitch >= width"
    pub fn told(&self) -> String {
        format!("this launch breaks the contract: {}", self.breaks.join(" and "))
    }
}

/// Where else the same is found: in other instances of a template, or other files that include a header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Same {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Also in these kernels, in their order.
    Also(Vec<Instance>),
    /// In this kernel, with which it is told; lists of findings leave it out.
    Told(Instance),
}

/// A kernel of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// The file that was checked.
    pub path: PathBuf,
    /// Its name, with template arguments.
    pub kernel: String,
    /// Line of its name.
    pub line: u32,
}

/// Edits of the main file with which the kernel is proved. They insert, or write the flags of a barrier anew, and belong
/// together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What is to be done: "insert `__syncthreads();` before line 6".
    pub message: String,
    /// The edits, in the order of their places.
    pub edits: Vec<FixEdit>,
}

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixEdit {
    /// The text that goes; empty where text is only inserted.
    pub span: Span,
    /// The text that comes.
    pub text: String,
}

impl Finding {
    /// Whether another kernel has the same finding, and it is told there.
    pub fn is_told_elsewhere(&self) -> bool {
        matches!(self.telling.same, Same::Told(_))
    }

    /// Whether somebody does not want to be told of it.
    pub fn is_hidden(&self) -> bool {
        self.telling.hidden.is_some()
    }

    /// Whether it is to be told, and here.
    pub fn is_told(&self) -> bool {
        !self.is_told_elsewhere() && !self.is_hidden()
    }

    /// This one and those that it speaks for.
    pub fn each(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(self).chain(&self.related)
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        if let Some(severity) = self.telling.severity {
            return severity;
        }
        match (self.rule, self.certainty) {
            (RuleId::RedundantBarrier, _) => Severity::Hint,
            (_, Certainty::Proved) => Severity::Error,
            (_, Certainty::Possible) => Severity::Warning,
        }
    }
}

/// What an array holds at the start of a run, as far as that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayContents {
    /// The array.
    pub array: String,
    /// Elements, sorted by place.
    pub elements: Vec<ElementContents>,
}

/// An element of an array, or a part of one, and the number that it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementContents {
    /// In the user's words: `idx[0]`.
    pub name: String,
    /// The number of the element.
    pub index: i128,
    /// The first byte within the element and the number of bytes, if it is a part of one.
    pub part: Option<[u32; 2]>,
    /// The number.
    pub value: i128,
}

/// A program that shows a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reproduction {
    /// It is there.
    Written {
        /// The file to run.
        path: PathBuf,
        /// The lines of the two accesses in it.
        lines: [u32; 2],
    },
    /// There is none, and why.
    Refused(String),
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Certainty {
    /// Replayed through the executable semantics.
    Proved,
    /// Not excluded.
    Possible,
}

/// Where two threads stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// They are one.
    Thread,
    /// In one warp.
    Warp,
    /// In one block.
    Block,
    /// In two blocks.
    Grid,
}

/// A place in the source and what happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where, with its macro expansion chain.
    pub span: Span,
    /// What happens there.
    pub access: PlaceAccess,
}

/// What happens at a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PlaceAccess {
    /// Memory is read.
    Read,
    /// Memory is written.
    Write,
    /// Memory is read and written in one step.
    Atomic,
    /// Threads wait for each other.
    Barrier,
    /// Something is claimed.
    Claim,
    /// A kernel is launched.
    Launch,
    /// A kernel begins.
    Kernel,
}

/// Why a finding is only possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingReason {
    /// In which way: `data-dependent index`, `data-dependent guard`, `unknown loop count`, `unsupported call`.
    pub kind: String,
    /// The place that makes it so.
    pub span: Option<Span>,
}

/// A concrete run that shows a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessReport {
    /// Threads per block.
    pub block_dim: [u32; 3],
    /// Blocks.
    pub grid_dim: [u32; 3],
    /// The threads at the primary and at the secondary place; one alone for what a single thread shows.
    pub threads: Vec<WitnessThread>,
    /// Values of scalar parameters, by name.
    pub params: Vec<(String, i128)>,
    /// The common byte, as an offset into the array; `None` if the finding is not about memory.
    pub byte_offset: Option<i128>,
    /// The element that the byte lies in, in the user's words: `y[1]`, `tile[2][0]`.
    pub element: Option<String>,
}

impl WitnessReport {
    /// The values of parameters in words: `n = 8`; of what the kernel asks about a pointer, `p != 0` or `p == 0`.
    pub fn values(&self) -> impl Iterator<Item = String> {
        self.params.iter().map(|(name, value)| match (name.split_once(" != "), value) {
            (Some((pointer, null)), 0) => format!("{pointer} == {null}"),
            (Some(_), _) => name.clone(),
            (None, _) => format!("{name} = {value}"),
        })
    }
}

/// A thread of a witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessThread {
    /// Block id.
    pub block: [u32; 3],
    /// Thread id within the block.
    pub thread: [u32; 3],
    /// Values of its variables at the place, by name, in order of declaration.
    pub locals: Vec<(String, i128)>,
}

/// Something that was not decided or not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// Its line in the visible text, from 1; the kernel's own line if there is no better place.
    pub line: u32,
    /// Further lines of which the same is to be said, in order.
    pub also: Vec<u32>,
    /// Where, if there is a place.
    pub span: Option<Span>,
    /// Why; one line that ends with what can be done about it.
    pub reason: String,
}

/// The counts of a report. Every kernel counts once under its race verdict and once under its divergence verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files looked at.
    pub files: usize,
    /// Files of which parts or all could not be read.
    pub unread: usize,
    /// Kernels.
    pub kernels: usize,
    /// Kernels proved free of races.
    pub race_free: usize,
    /// Kernels with a proved race.
    pub racy: usize,
    /// Kernels with a possible race.
    pub possibly_racy: usize,
    /// Kernels without a race verdict.
    pub unknown: usize,
    /// Kernels with a proved barrier divergence.
    pub divergent: usize,
    /// Kernels with a possible barrier divergence.
    pub possibly_divergent: usize,
    /// Kernels without a divergence verdict.
    pub divergence_unknown: usize,
}

impl Report {
    /// Keeps the first findings of all, the gravest first and then in the order of the files, and says how many it left out.
    pub fn keep(&mut self, most: usize) -> usize {
        let mut all = Vec::new();
        for (file, report) in self.files.iter().enumerate() {
            for (kernel, report) in report.kernels.iter().enumerate() {
                let places = report.findings.iter().enumerate().filter(|(_, finding)| finding.is_told());
                all.extend(places.map(|(at, finding)| (Reverse(finding.severity()), file, kernel, at)));
            }
        }
        all.sort_unstable();
        let mut left_out = all.split_off(most.min(all.len()));
        let count = left_out.len();
        // From the last to the first, so that places stay what they are.
        left_out.sort_unstable_by_key(|&(_, file, kernel, at)| Reverse((file, kernel, at)));
        for (_, file, kernel, at) in left_out {
            self.files[file].kernels[kernel].findings.remove(at);
        }
        count
    }

    /// Counts the findings, and what is said of files, that nobody wants to be told of.
    pub fn hidden(&self) -> HiddenCounts {
        let mut counts = HiddenCounts::default();
        self.files.iter().flat_map(FileReport::hidden).for_each(|(_, hidden)| counts.count(hidden));
        counts
    }

    /// Counts files and verdicts.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { files: self.files.len(), ..Summary::default() };
        for file in &self.files {
            summary.unread += usize::from(file.parse != Parse::Ok);
            for kernel in &file.kernels {
                summary.count(kernel);
            }
        }
        summary
    }
}

impl Summary {
    fn count(&mut self, kernel: &KernelReport) {
        self.kernels += 1;
        match kernel.race {
            Race::RaceFree => self.race_free += 1,
            Race::Racy => self.racy += 1,
            Race::PossiblyRacy => self.possibly_racy += 1,
            Race::Unknown => self.unknown += 1,
        }
        match kernel.divergence {
            Divergence::Uniform => {}
            Divergence::Divergent => self.divergent += 1,
            Divergence::PossiblyDivergent => self.possibly_divergent += 1,
            Divergence::Unknown => self.divergence_unknown += 1,
        }
    }
}

impl Determinism {
    /// The words that users see.
    pub fn name(&self) -> &'static str {
        match self {
            Determinism::Deterministic => "deterministic",
            Determinism::NotShown(_) => "not shown deterministic",
        }
    }
}

impl Race {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Race::RaceFree => "race-free",
            Race::Racy => "racy",
            Race::PossiblyRacy => "possibly-racy",
            Race::Unknown => "unknown",
        }
    }
}

impl Divergence {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Divergence::Uniform => "uniform",
            Divergence::Divergent => "divergent",
            Divergence::PossiblyDivergent => "possibly-divergent",
            Divergence::Unknown => "unknown",
        }
    }
}

impl Front {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Front::TreeSitter => "tree-sitter",
            Front::Clang => "clang",
        }
    }
}

impl Parse {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Parse::Ok => "ok",
            Parse::Partial => "partial",
            Parse::Failed => "failed",
        }
    }
}

impl Contract {
    /// Whether nothing along this axis is read, so that the kernel is for launches that are flat there. Nobody launches along y or
    /// z by chance; along x many do.
    pub fn is_flat_along(&self, axis: usize) -> bool {
        let unread = self.conjuncts.iter().filter(|conjunct| conjunct.kind == ContractKind::Unread(axis));
        axis > 0 && unread.count() == 2
    }

    /// What whoever launches the kernel has to think of: all conditions but that launches are flat along axes of which it
    /// reads nothing.
    pub fn to_keep(&self) -> impl Iterator<Item = &Conjunct> {
        let is_flat = |kind| matches!(kind, ContractKind::Unread(axis) if self.is_flat_along(axis));
        self.conjuncts.iter().filter(move |conjunct| !is_flat(conjunct.kind))
    }
}

impl ContractKind {
    /// The word that programs see.
    pub fn name(self) -> &'static str {
        match self {
            ContractKind::Geometry | ContractKind::Unread(_) => "geometry",
            ContractKind::Scalar => "scalar",
            ContractKind::Data => "data",
        }
    }
}

impl Keeping {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Keeping::Kept => "kept",
            Keeping::Broken => "broken",
            Keeping::Open => "open",
        }
    }
}

impl Certainty {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Proved => "proved",
            Certainty::Possible => "possible",
        }
    }
}

impl Level {
    /// The word that programs see.
    pub fn name(self) -> &'static str {
        match self {
            Level::Thread => "thread",
            Level::Warp => "warp",
            Level::Block => "block",
            Level::Grid => "grid",
        }
    }
}

impl PlaceAccess {
    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            PlaceAccess::Read => "read",
            PlaceAccess::Write => "write",
            PlaceAccess::Atomic => "atomic",
            PlaceAccess::Barrier => "barrier",
            PlaceAccess::Claim => "claim",
            PlaceAccess::Launch => "launch",
            PlaceAccess::Kernel => "kernel",
        }
    }
}

impl FileReport {
    /// The rule of each thing that is said of the file or a kernel of it and that nobody wants to be told of, and who does not.
    pub fn hidden(&self) -> impl Iterator<Item = (RuleId, &Hidden)> {
        let diagnostics = self.diagnostics.iter().filter_map(|it| Some((it.rule, it.hidden.as_ref()?)));
        diagnostics.chain(self.kernels.iter().flat_map(KernelReport::hidden))
    }
}

/// Whether the contract of a kernel is left to whoever launches it: all launches that were found may keep it.
pub fn leaves_open(kernel: &KernelReport) -> bool {
    let launches = kernel.launches();
    let are_kept = !launches.is_empty() && launches.iter().all(|launch| launch.keeping == Keeping::Kept);
    kernel.leaves_a_contract() && !are_kept
}

impl KernelReport {
    /// The rule of each of its findings that nobody wants to be told of, and who does not.
    pub fn hidden(&self) -> impl Iterator<Item = (RuleId, &Hidden)> {
        self.each_finding().filter_map(|it| Some((it.rule, it.telling.hidden.as_ref()?)))
    }

    /// What the launches that were found say of its contract; empty if it has none.
    pub fn launches(&self) -> &[CheckedLaunch] {
        self.contract.as_ref().map_or(&[], |contract| &contract.launches)
    }

    /// Whether its contract is that launches are flat along axes of which it reads nothing, and no more.
    pub fn asks_for_flat_launches(&self) -> bool {
        self.contract.as_ref().is_some_and(|contract| contract.to_keep().next().is_none())
    }

    /// Whether it is free of races under a contract that is left to whoever launches it.
    pub fn leaves_a_contract(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Contract) && !self.asks_for_flat_launches()
    }

    /// What is to be told of it: findings that are not told with another kernel, and that nobody hides.
    pub fn told(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_told())
    }

    /// `reduce<256, float>`
    pub fn instance(&self) -> String {
        if self.template_args.is_empty() {
            return self.name.clone();
        }
        format!("{}<{}>", self.name, self.template_args.join(", "))
    }

    /// All that was found, with what other findings speak for.
    pub fn each_finding(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().flat_map(Finding::each)
    }

    /// What stays unknown, as a clause about the kernel: whether it left the verdict open, or is only a note.
    pub fn about(&self, unknown: &Unknown) -> String {
        let race = matches!(self.race, Race::RaceFree | Race::Racy);
        let divergence = matches!(self.divergence, Divergence::Uniform | Divergence::Divergent);
        let verb = if race && divergence { "is decided, but" } else { "is not decided:" };
        format!("{} {verb} {}", self.name, unknown.reason)
    }
}
