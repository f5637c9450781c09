//! Which launches are to show what `check` says of a kernel: geometries, values of parameters, sizes of buffers.
//!
//! What a launch needs is found by running the kernel in raceproof's own semantics first: a launch that breaks an
//! assumption, leaves an array or does not end is none that a verdict speaks of.

use raceproof::calculus::eval::{self, Blocks, Contents, Event, Program, Setup, Sink, Value};
use raceproof::calculus::{Array, Geometry, Kernel, ScalarType, Space};
use raceproof::diagnostic::report::{
    Assumption, AssumptionKind, Certainty, Divergence, Finding, KernelReport, Race, ScopeKind,
};
use raceproof::driver::options::Levels;
use raceproof::driver::run::{Head, ParameterKind};
use std::fmt::Write;

/// Instructions of one run of a kernel.
const BUDGET: u64 = 2_000_000;
/// Bytes on both sides of what an access with an address from memory may reach.
const ROOM: u64 = 64 * 1024;
/// Valuations that are tried for each geometry.
const TRIALS: u64 = 24;
/// Those where the launches of the file say how sizes and parameters are related.
const RELATED_TRIALS: u64 = 600;
/// Accesses of a launch above which a smaller one is preferred.
const MANY: u64 = 40_000;
/// Bytes of a buffer above which a launch is not tried.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of dynamic shared memory that the back end gives to a block.
const MAX_SHARED: u64 = 227 * 1024;

/// One launch of a kernel, and what it must show.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The kernel as the launch names it.
    pub(super) kernel: String,
    /// Buffers and launch of a description.
    pub(super) description: String,
    /// What must be seen.
    pub(super) expected: Expected,
    /// Whether something else is wrong with the kernel, so that the program may fail.
    pub(super) may_fail: bool,
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

/// What a run in raceproof's semantics shows of a launch.
struct Trial {
    /// First byte and the one past the last, by array.
    reach: Vec<Option<(i64, i64)>>,
    /// Whether addresses that are not known may reach further.
    open: Vec<bool>,
    accesses: u64,
}

#[derive(Default)]
struct Reach {
    reach: Vec<Option<(i64, i64)>>,
    open: Vec<bool>,
    accesses: u64,
}

impl Sink for Reach {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        self.accesses += 1;
        let array = event.array.index();
        match event.offset {
            Some(offset) => {
                let end = offset + i64::from(event.bytes);
                let (low, high) = self.reach[array].unwrap_or((offset, end));
                self.reach[array] = Some((low.min(offset), high.max(end)));
            }
            None => self.open[array] = true,
        }
    }
}

/// Runs the kernel; the error says why the launch is not one that a verdict speaks of.
fn trial(
    subject: &Subject<'_>,
    program: &Program,
    geometry: Geometry,
    params: &[Option<i128>],
) -> Result<Trial, String> {
    let kernel = subject.kernel;
    let mut sink = Reach {
        reach: vec![None; kernel.arrays.iter().count()],
        open: vec![false; kernel.arrays.iter().count()],
        accesses: 0,
    };
    let setup = Setup { geometry, params, blocks: Blocks::All, contents: Contents::Unknown, budget: BUDGET };
    let run = eval::run(program, &setup, &mut sink);
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
        None => Ok(Trial { reach: sink.reach, open: sink.open, accesses: sink.accesses }),
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
    let program = Program::new(subject.kernel);
    let mut cases: Vec<Case> = Vec::new();
    for finding in &subject.report.findings {
        let is_race = finding.array.is_some() && finding.secondary.is_some();
        let Some(witness) = finding.witness.as_ref().filter(|_| finding.certainty == Certainty::Proved && is_race)
        else {
            continue;
        };
        let geometry = Geometry { block: witness.block_dim, grid: witness.grid_dim };
        let value = |name: &str| witness.params.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let params: Vec<Option<i128>> =
            subject.kernel.params.iter().map(|(_, param)| value(&param.name).or(default(param.ty))).collect();
        // What the race itself breaks does not count here; it was replayed.
        let reached = trial(subject, &program, geometry, &params).ok();
        let expected = Expected::Conflict((subject.line)(finding));
        let far = witness.byte_offset.unwrap_or(0);
        cases.push(case(subject, geometry, &params, reached.as_ref(), far, 0, expected)?);
    }
    if cases.is_empty() { Err("no race of it has a witness".to_owned()) } else { Ok(cases) }
}

fn default(ty: ScalarType) -> Option<i128> {
    matches!(ty, ScalarType::Int { .. } | ScalarType::Bool).then_some(1)
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
        let mut best: Option<(Vec<Option<i128>>, Trial)> = None;
        let is_related = is_related(subject);
        let mut tried: Vec<Vec<Option<i128>>> = Vec::new();
        for attempt in 0..if is_related { RELATED_TRIALS } else { TRIALS } {
            let params = valuation(subject, geometry, attempt);
            if tried.contains(&params) {
                continue;
            }
            tried.push(params.clone());
            match trial(subject, &program, geometry, &params) {
                Ok(trial) if dynamic_shared(subject.kernel, Some(&trial)) > MAX_SHARED => {
                    why = "it needs more shared memory than there is".to_owned();
                }
                Ok(trial) => {
                    let rank = |trial: &Trial| (trial.accesses <= MANY, trial.accesses);
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
            let seed = cases.len() as u64;
            cases.push(case(subject, geometry, &params, Some(&trial), 0, seed, Expected::Nothing)?);
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
    (geometry.block_threads() <= limit).then_some(geometry)
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
        fixes.filter_map(|fix| fix.split_once(" = ")).find(|(known, _)| *known == name)?.1.parse().ok()
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

/// The description of a launch.
fn case(
    subject: &Subject<'_>,
    geometry: Geometry,
    params: &[Option<i128>],
    trial: Option<&Trial>,
    far: i128,
    seed: u64,
    expected: Expected,
) -> Result<Case, String> {
    let kernel = instance(subject, params)?;
    let is_pattern = subject.head.template.is_some() && subject.report.template_args.is_empty();
    let mut buffers = String::new();
    let mut arguments = String::new();
    for parameter in &subject.head.parameters {
        let name = &parameter.name;
        let is_array = subject.kernel.arrays.iter().any(|(_, array)| array.is_param && array.name == *name);
        let kind = match &parameter.kind {
            ParameterKind::Dependent if is_array => &ParameterKind::Pointer,
            kind => kind,
        };
        let memory = Memory { subject, params, trial, is_pattern, far, seed };
        let value = memory.value(name, kind, &mut buffers)?;
        let _ = writeln!(arguments, "arguments.{name} = {value}");
    }
    let shared = dynamic_shared(subject.kernel, trial);
    let description = format!(
        "{buffers}[[launch]]\nkernel = \"{kernel}\"\ngrid = {:?}\nblock = {:?}\nshared = {shared}\n{arguments}\n",
        geometry.grid, geometry.block
    );
    let may_fail = !subject.report.findings.is_empty() || subject.report.divergence != Divergence::Uniform;
    Ok(Case { kernel, description, expected, may_fail })
}

/// What decides the values of parameters.
struct Memory<'a> {
    subject: &'a Subject<'a>,
    params: &'a [Option<i128>],
    trial: Option<&'a Trial>,
    is_pattern: bool,
    far: i128,
    seed: u64,
}

impl Memory<'_> {
    /// What a parameter, or a member of one, is given; buffers for it are added.
    fn value(&self, name: &str, kind: &ParameterKind, buffers: &mut String) -> Result<String, String> {
        let kernel = self.subject.kernel;
        match kind {
            ParameterKind::Other(what) => Err(format!("a launch description cannot give {what}")),
            ParameterKind::Pointer => {
                let (before, bytes, element) = extent(kernel, self.is_pattern, self.trial, name, self.far);
                let element_type = ["char", "short", "int", "long"][element.trailing_zeros() as usize];
                if bytes > MAX_BYTES {
                    return Err(format!("{name} would have to be of {bytes} bytes"));
                }
                let count = bytes.div_ceil(element);
                // The number is the case's, put in when all are together.
                let _ = write!(buffers, "[[buffer]]\nname = \"#{name}\"\ntype = \"{element_type}\"\ncount = {count}\n");
                let _ = writeln!(buffers, "values = {}", contents(self.subject, self.seed, count));
                Ok(format!("{{ buffer = \"#{name}\", offset = {} }}", before / element))
            }
            ParameterKind::Scalars { scalar, lanes } => {
                Ok(scalars(kernel, self.params, name, format!("{scalar}") == "bool", *lanes))
            }
            ParameterKind::Array { count, .. } => Ok(format!("{:?}", vec![1; *count as usize])),
            ParameterKind::Dependent => Ok(scalars(kernel, self.params, name, false, 1)),
            ParameterKind::Struct(record) => {
                let member = |member: &raceproof::execute::launch::record::Member| {
                    let value = self.value(&format!("{name}.{}", member.name), &member.kind, buffers)?;
                    Ok(format!("{} = {value}", member.name))
                };
                let members: Result<Vec<String>, String> = record.members.iter().map(member).collect();
                Ok(format!("{{ {} }}", members?.join(", ")))
            }
        }
    }
}

/// What memory holds: zeros, ones, small numbers; numbers that differ where the verdict takes that for granted.
fn contents(subject: &Subject<'_>, seed: u64, count: u64) -> String {
    let assumes = |text: &str| subject.report.assumptions.iter().any(|each| each.text.contains(text));
    if assumes("differs between any two threads") || assumes("holds for any two threads") {
        return format!("{{ range = [0, {count}] }}");
    }
    match seed {
        _ if assumes("is the same in all threads") => "{ constant = 2 }".to_owned(),
        // What data decides may divide by data.
        0 | 1 => format!("{{ constant = {seed} }}"),
        _ => format!("{{ seed = {seed}, high = 6 }}"),
    }
}

/// The kernel with the template arguments that it is checked with.
fn instance(subject: &Subject<'_>, params: &[Option<i128>]) -> Result<String, String> {
    let name = &subject.head.name;
    let Some(template) = &subject.head.template else { return Ok(name.clone()) };
    if !subject.report.template_args.is_empty() {
        return Ok(format!("{name}<{}>", subject.report.template_args.join(", ")));
    }
    let given = |(param, is_value): &(String, bool)| {
        let position = subject.kernel.params.iter().position(|(_, known)| known.name == *param);
        match position.and_then(|position| params[position]) {
            Some(value) if *is_value => value.to_string(),
            _ if *is_value => "16".to_owned(),
            _ if subject.report.assumptions.iter().any(|each| each.text.starts_with(&format!("{param} = int"))) => {
                "int".to_owned()
            }
            _ => "float".to_owned(),
        }
    };
    Ok(format!("{name}<{}>", template.iter().map(given).collect::<Vec<_>>().join(", ")))
}

/// Bytes before the pointer, bytes in all, and the size of an element.
fn extent(kernel: &Kernel, is_pattern: bool, trial: Option<&Trial>, name: &str, far: i128) -> (u64, u64, u64) {
    let found = kernel.arrays.iter().find(|(_, array)| array.is_param && array.name == name);
    // Never accessed, or one with another parameter.
    let Some((id, array)) = found else { return (ROOM, 2 * ROOM, 1) };
    let element = match array.element_bytes {
        size @ (1 | 2 | 4) => u64::from(size),
        size if size % 8 == 0 => 8,
        size if size % 4 == 0 => 4,
        _ => 1,
    };
    let far = u64::try_from(far.unsigned_abs()).unwrap_or(0);
    let (reach, is_open) = match trial {
        Some(trial) => (trial.reach[id.index()], trial.open[id.index()]),
        None => (None, true),
    };
    let (low, high) = reach.unwrap_or((0, 0));
    // A pattern knows no size of elements whose type is a parameter.
    let is_open = is_open || is_pattern;
    let room = if is_open { ROOM.max(far + 4096) } else { 0 };
    let before = (low.min(0).unsigned_abs() + room).next_multiple_of(64);
    (before, before + high.max(0).unsigned_abs() + room + 64, element)
}

/// A scalar or the lanes of a vector, as the kernel's parameters have them.
fn scalars(kernel: &Kernel, params: &[Option<i128>], name: &str, is_bool: bool, lanes: u8) -> String {
    let value = |name: &str| {
        let position = kernel.params.iter().position(|(_, param)| param.name == name);
        position.and_then(|position| params[position]).unwrap_or(1)
    };
    if lanes == 1 {
        return if is_bool { (value(name) != 0).to_string() } else { value(name).to_string() };
    }
    let each = ["x", "y", "z", "w"].iter().take(usize::from(lanes));
    let all: Vec<String> = each.map(|lane| value(&format!("{name}.{lane}")).to_string()).collect();
    format!("[{}]", all.join(", "))
}

/// Bytes of dynamic shared memory that the launch needs.
fn dynamic_shared(kernel: &Kernel, trial: Option<&Trial>) -> u64 {
    let is_dynamic = |array: &Array| array.space == Space::Shared && array.bytes.is_none();
    let of = |(id, _): (raceproof::calculus::ArrayId, &Array)| match trial {
        Some(trial) if !trial.open[id.index()] => {
            trial.reach[id.index()].map_or(0, |(_, high)| high.max(0).unsigned_abs())
        }
        _ => 16 * 1024,
    };
    kernel.arrays.iter().filter(|(_, array)| is_dynamic(array)).map(of).max().unwrap_or(0)
}
