//! Which launches are to show what `check` says of a kernel: geometries, values of parameters, sizes of buffers.
//!
//! What a launch needs is found by running the kernel in raceproof's own semantics first: a launch that breaks an
//! assumption, leaves an array or does not end is none that a verdict speaks of.

use crate::prove_mutants::handed::locks;
use raceproof::calculus::eval::{Blocks, Chosen, Contents, Program};
use raceproof::calculus::{Geometry, Kernel, ScalarType};
use raceproof::diagnostic::report::{Assumption, AssumptionKind, Divergence, Finding, KernelReport, Race, ScopeKind};
use raceproof::driver::options::Levels;
use raceproof::driver::run::Head;
use raceproof::memory_model::clocks::Receiving;
use raceproof::reproduce::{self, Needs, Plan, default, launch_of, measure, plan, proved_race};

/// Instructions of one run of a kernel.
const BUDGET: u64 = 2_000_000;
/// Valuations that are tried for each geometry.
const TRIALS: u64 = 24;
/// Those where the launches of the file say how sizes and parameters are related.
const RELATED_TRIALS: u64 = 600;
/// Accesses of a launch above which a smaller one is preferred.
const MANY: u64 = 40_000;
/// Bytes of dynamic shared memory that the back end gives to a block.
const MAX_SHARED: u64 = 227 * 1024;

/// One launch of a kernel, and what it must show.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The launch, with its memory.
    pub(super) plan: Plan,
    /// The values of the kernel's parameters, where they were chosen here.
    pub(super) params: Option<Vec<Option<i128>>>,
    /// What must be seen.
    pub(super) expected: Expected,
    /// Whether something else is wrong with the kernel, so that the program may fail.
    pub(super) may_fail: bool,
    /// What the proof assumes of draws.
    pub(super) receiving: Receiving,
}

/// What a launch must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A conflict of accesses on these lines.
    Conflict([u32; 2]),
    /// No conflict.
    Nothing,
}

/// A kernel in all forms that are needed.
pub(super) struct Subject<'a> {
    pub(super) report: &'a KernelReport,
    pub(super) kernel: &'a Kernel,
    pub(super) head: &'a Head,
    pub(super) levels: Levels,
    /// The line of a place of a finding.
    pub(super) line: &'a dyn Fn(&Finding) -> [u32; 2],
}

/// Runs the kernel; the error says why the launch is not one that a verdict speaks of.
fn trial(
    subject: &Subject<'_>,
    program: &Program,
    geometry: Geometry,
    params: &[Option<i128>],
) -> Result<Needs, String> {
    let (needs, run) = measure(subject.kernel, program, geometry, params, Contents::Unknown, (Blocks::All, BUDGET));
    let wraps = !run.wrapped.is_empty() || !run.wrapped_loops.is_empty();
    let is_wrap = |each: &Assumption| each.kind == AssumptionKind::NoUnsignedWrap;
    let may_not_wrap = subject.report.assumptions.iter().any(is_wrap);
    let broken = [
        (run.vacuous, "an assumption does not hold"),
        (!run.finished, "it does not end"),
        (!run.traps.is_empty(), "it has an undefined operation"),
        (!run.out_of_bounds.is_empty(), "it leaves an array"),
        // A launch of the file itself may wrap where the verdict does not rely on it.
        (may_not_wrap && wraps && !is_related(subject), "unsigned arithmetic wraps"),
    ];
    match broken.into_iter().find(|(is_broken, _)| *is_broken) {
        Some((_, why)) => Err(why.to_owned()),
        None => Ok(needs),
    }
}

/// The launches of a kernel about which something is claimed; an error says why there is none.
pub(super) fn cases(subject: &Subject<'_>) -> Result<Vec<Case>, String> {
    match subject.report.race {
        Race::Racy => racy(subject),
        Race::RaceFree => free(subject),
        Race::PossiblyRacy | Race::Unknown => Ok(Vec::new()),
    }
}

/// One launch for each race that is proved, at its witness.
fn racy(subject: &Subject<'_>) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    for finding in subject.report.each_finding() {
        let Some(witness) = proved_race(finding) else { continue };
        let plan = launch_of(&subject.callee(), witness, &Chosen::default()).map_err(|error| error.to_string())?;
        cases.push(case(subject, plan, Expected::Conflict((subject.line)(finding))));
    }
    if cases.is_empty() { Err("no race of it has a witness".to_owned()) } else { Ok(cases) }
}

/// Some launches within the scope of the verdict, with memory of zeros and of small numbers.
fn free(subject: &Subject<'_>) -> Result<Vec<Case>, String> {
    let program = Program::new(subject.kernel);
    let mut cases = Vec::new();
    let mut why = "no geometry is within its scope".to_owned();
    let mut seen: Vec<Geometry> = Vec::new();
    for shape in SHAPES {
        let Some(geometry) = within(subject, shape) else { continue };
        if seen.contains(&geometry) {
            continue;
        }
        seen.push(geometry);
        let mut best: Option<(Vec<Option<i128>>, Needs)> = None;
        let is_related = is_related(subject);
        let mut tried: Vec<Vec<Option<i128>>> = Vec::new();
        for attempt in 0..if is_related { RELATED_TRIALS } else { TRIALS } {
            let params = valuation(subject, geometry, attempt);
            if tried.contains(&params) {
                continue;
            }
            tried.push(params.clone());
            match trial(subject, &program, geometry, &params) {
                Ok(trial) if trial.dynamic_shared(subject.kernel) > MAX_SHARED => {
                    why = "it needs more shared memory than there is".to_owned();
                }
                Ok(trial) => {
                    let rank = |trial: &Needs| (trial.accesses <= MANY, trial.accesses);
                    if best.as_ref().is_none_or(|(_, known)| rank(known) < rank(&trial)) {
                        best = Some((params, trial));
                    }
                    if is_related && attempt >= TRIALS {
                        break;
                    }
                }
                Err(cause) => why = cause,
            }
        }
        if let Some((params, trial)) = best {
            // Counters and flags that start at 0 are 0, and those that hold no negative number; locks are open.
            let words = ["is 0 when the kernel starts", "no number that is drawn"];
            let starts = |assumption: &Assumption| words.iter().any(|words| assumption.text.contains(words));
            let is_zero = subject.report.assumptions.iter().any(starts) || !locks(subject.kernel).is_empty();
            let seed = if is_zero { 0 } else { cases.len() as u64 };
            let plan = plan(&subject.callee(), (geometry, &params), &Chosen::default(), &trial, (0, seed))
                .map_err(|error| error.to_string())?;
            let case = case(subject, plan, Expected::Nothing);
            cases.push(Case { params: Some(params), ..case });
        }
    }
    if cases.is_empty() { Err(why) } else { Ok(cases) }
}

/// Whether the verdict is about the launches of the file, whose sizes and parameters go together.
fn is_related(subject: &Subject<'_>) -> bool {
    subject.report.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Launch)
}

/// Geometries that are tried: blocks, then threads of one.
const SHAPES: [([u32; 3], [u32; 3]); 6] = [
    ([2, 1, 1], [64, 1, 1]),
    ([3, 1, 1], [33, 1, 1]),
    ([2, 2, 1], [8, 4, 1]),
    ([2, 2, 1], [8, 8, 1]),
    ([2, 1, 2], [4, 3, 2]),
    ([1, 1, 1], [256, 1, 1]),
];

/// The geometry of the scope that is nearest to a shape.
fn within(subject: &Subject<'_>, (grid, block): ([u32; 3], [u32; 3])) -> Option<Geometry> {
    let mut geometry = Geometry { block, grid };
    let facts = &subject.kernel.geometry;
    if let Some(required) = facts.required_block {
        geometry.block = required;
    }
    if subject.levels == Levels::Block {
        geometry.grid = [1, 1, 1];
    }
    // Only whole clusters can be launched.
    for (blocks, of) in geometry.grid.iter_mut().zip(facts.cluster.unwrap_or([1; 3])) {
        *blocks = blocks.next_multiple_of(of);
    }
    for fix in subject.report.scope.iter().flat_map(|scope| &scope.fixes) {
        let Some((name, value)) = fix.split_once(" = ") else { continue };
        let (Some((what, axis)), Ok(value)) = (name.split_once('.'), value.parse::<u32>()) else { continue };
        let Some(axis) = ["x", "y", "z"].iter().position(|known| *known == axis) else { continue };
        match what {
            "blockDim" => geometry.block[axis] = value,
            "gridDim" => geometry.grid[axis] = value,
            _ => {}
        }
    }
    let limit = u64::from(facts.max_threads.unwrap_or(1024));
    (geometry.block_threads() <= limit && facts.has_whole_clusters(geometry.grid)).then_some(geometry)
}

/// The parameters of an attempt: what the scope fixes, then sizes that are likely, then anything small.
fn valuation(subject: &Subject<'_>, geometry: Geometry, attempt: u64) -> Vec<Option<i128>> {
    let threads = geometry.block_threads() as i128;
    let all = threads * geometry.grid.iter().map(|&extent| i128::from(extent)).product::<i128>();
    let [x, y] = [0, 1].map(|axis| i128::from(geometry.grid[axis]) * i128::from(geometry.block[axis]));
    let common = [all, threads, 16, 64, 4, all + 3, 1, 2, 8, 32, 100, 7, x, y, 8 * x, 2 * all, 4 * all];
    let mut random = attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
    let mut draw = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let fixed = |name: &str| {
        let fixes = subject.report.scope.iter().flat_map(|scope| &scope.fixes);
        // As with sizes, the last launch counts.
        fixes.filter_map(|fix| fix.split_once(" = ")).filter(|(known, _)| *known == name).last()?.1.parse().ok()
    };
    let mut value = |param: &raceproof::calculus::Param| {
        default(param.ty)?;
        if let Some(value) = fixed(&param.name) {
            return Some(value);
        }
        if param.ty == ScalarType::Bool {
            return Some(i128::from(attempt % 2 == 0));
        }
        let wanted = match common.get(attempt as usize) {
            Some(value) => *value,
            None => common[draw(common.len() as u64) as usize],
        };
        let width = if let ScalarType::Int { width, signed } = param.ty { width - u8::from(signed) } else { 31 };
        Some(wanted.min((1i128 << width.min(31)) - 1))
    };
    subject.kernel.params.iter().map(|(_, param)| value(param)).collect()
}

fn case(subject: &Subject<'_>, plan: Plan, expected: Expected) -> Case {
    let may_fail = !subject.report.findings.is_empty() || subject.report.divergence != Divergence::Uniform;
    let assumes = |assumption: &Assumption| assumption.text.contains("without a fence after the draw");
    let is_assumed = subject.report.assumptions.iter().any(assumes);
    let receiving = if is_assumed { Receiving::Always } else { Receiving::InOrder };
    Case { plan, params: None, expected, may_fail, receiving }
}

impl<'a> Subject<'a> {
    fn callee(&self) -> reproduce::Subject<'a> {
        reproduce::Subject { report: self.report, kernel: self.kernel, head: self.head, same: &[] }
    }
}
