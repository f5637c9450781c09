//! Launches that a logged run made, in the place of those that host code states.
//!
//! A log names the kernel of a launch, its extents and the values of its parameters that are numbers; so such a launch is known
//! where text only says `n`. What a verdict says of it holds for that run.
//!
//! Guarantees: a launch counts for a kernel only if no other one can be meant: the log has the kernel's name, without template
//! arguments, and the files in which kernels of that name access memory. What is left out is told.
//!
//! Deliberately absent: members of structs, which a log has as bytes; accesses, which are for the check of the log.

use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::launch::{Given, Launch, Launched};
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Program, Type};
use crate::source::{FileId, Span};
use crate::trace::format::chunk::HeadError;
use crate::trace::format::{self, Log, read_log};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The launches of a log.
#[derive(Debug)]
pub struct LoggedLaunches {
    path: PathBuf,
    launches: Vec<format::Launch>,
    /// A line for each launch, and its bytes: what places of launches lead to.
    listing: Arc<str>,
    lines: Vec<Range<usize>>,
    /// The files in which functions access memory, by their names.
    files: BTreeMap<String, Vec<PathBuf>>,
    /// What the log lacks.
    pub problems: Vec<String>,
}

/// Why no launch of a log counts for a kernel that it names.
enum Ambiguous {
    Files,
    Instances,
}

impl LoggedLaunches {
    /// Reads a log.
    pub fn read(path: &Path) -> Result<LoggedLaunches, HeadError> {
        let log = read_log(File::open(path)?)?;
        let mut listing = String::new();
        let mut lines = Vec::new();
        for (id, launch) in &log.launches {
            let start = listing.len();
            write_launch(*id, launch, &mut listing);
            lines.push(start..listing.len());
            listing.push('\n');
        }
        Ok(LoggedLaunches {
            path: path.to_path_buf(),
            files: files_of(&log),
            problems: log.problems.iter().map(ToString::to_string).collect(),
            launches: log.launches.into_values().collect(),
            listing: listing.into(),
            lines,
        })
    }

    /// The kernels that are launched, without namespaces and template arguments.
    pub fn kernels(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.launches.iter().map(|launch| short(&launch.kernel)).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// The name that a scope has which is of these launches.
    pub(super) fn scope(&self) -> String {
        format!("the launches in {}", self.path.display())
    }

    /// Whether launches of a kernel count.
    pub(super) fn has(&self, program: &Program, function: FunctionId) -> bool {
        matches!(self.of(program, function), Ok(launches) if !launches.is_empty())
    }

    /// The launches of a kernel, by position.
    fn of(&self, program: &Program, function: FunctionId) -> Result<Vec<usize>, Ambiguous> {
        let kernel = &program.functions[function];
        let is_it = |launch: &(usize, &format::Launch)| is_named(&kernel.name, &launch.1.kernel);
        let launches: Vec<usize> = self.launches.iter().enumerate().filter(is_it).map(|(at, _)| at).collect();
        let Some(&first) = launches.first() else { return Ok(launches) };
        let files = self.files.get(short(&self.launches[first].kernel)).map_or(&[][..], Vec::as_slice);
        let own = &program.sources.file(program.sources.visible(kernel.span).file).path;
        match files {
            [only] if !is_same_file(only, own) => return Ok(Vec::new()),
            [] | [_] => {}
            _ => return Err(Ambiguous::Files),
        }
        let alike = program.kernels.iter().filter(|&&other| is_named(&program.functions[other].name, &kernel.name));
        if alike.count() > 1 { Err(Ambiguous::Instances) } else { Ok(launches) }
    }

    /// Puts the launches of the log in the place of those that were found, of kernels that it launches; notes on what that
    /// leaves out.
    pub(super) fn put(&self, file: &mut Launched) -> Vec<Diagnostic> {
        let kernels = file.program.kernels.clone();
        let mut notes = Vec::new();
        let mut made: Vec<Launch> = Vec::new();
        let mut taken: Vec<FunctionId> = Vec::new();
        let mut listing = None;
        for kernel in kernels {
            match self.of(&file.program, kernel) {
                Ok(launches) if launches.is_empty() => {}
                Ok(launches) => {
                    let file_id = *listing
                        .get_or_insert_with(|| file.program.sources.add_file(&self.path, Arc::clone(&self.listing)));
                    made.extend(launches.iter().map(|&at| self.launch((&file.program, kernel), at, file_id)));
                    notes.extend(self.without_scalars(&file.program, kernel, &launches));
                    notes.extend(self.in_one_allocation(&file.program, kernel, &launches));
                    taken.push(kernel);
                }
                Err(why) => notes.push(self.left_out(&file.program, kernel, &why)),
            }
        }
        let others = file.launches().iter().filter(|launch| !taken.contains(&launch.kernel)).cloned();
        let all = others.chain(made).collect();
        file.replace(all);
        notes
    }

    fn launch(&self, (program, kernel): (&Program, FunctionId), at: usize, listing: FileId) -> Launch {
        let logged = &self.launches[at];
        let params = &program.functions[kernel].params;
        let given = |at: usize| {
            let name = &program.variables[params[at]].name;
            logged.arguments.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
        };
        let is_pointer = |at: usize| given(at).is_some_and(|value| value.starts_with('@'));
        let pairs = (0..params.len()).flat_map(|one| (one + 1..params.len()).map(move |other| (one, other)));
        let Range { start, end } = self.lines[at].clone();
        Launch {
            kernel,
            grid: logged.grid.map(|extent| Some(extent.into())),
            block: logged.block.map(|extent| Some(extent.into())),
            args: (0..params.len()).map(|at| given(at)?.parse().ok()).collect(),
            shared_bytes: Some(logged.dynamic_shared),
            relations: Vec::new(),
            same_pointers: pairs.filter(|&(one, other)| is_pointer(one) && given(one) == given(other)).collect(),
            given: [Given::ByAxis; 2],
            span: Span::new(listing, start, end),
        }
    }

    /// That only the geometry of launches is known, of a kernel with parameters that are numbers.
    fn without_scalars(&self, program: &Program, kernel: FunctionId, launches: &[usize]) -> Option<Diagnostic> {
        let function = &program.functions[kernel];
        let is_number = |name: &str| {
            let mut of_it = function.params.iter().map(|&param| &program.variables[param]);
            of_it.any(|param| param.name == name && matches!(program.types[param.ty], Type::Int { .. } | Type::Bool))
        };
        let numbers: Vec<&str> = function
            .params
            .iter()
            .map(|&param| program.variables[param].name.as_str())
            .filter(|name| is_number(name))
            .collect();
        let has_value = |name: &str| {
            launches.iter().any(|&at| {
                self.launches[at].arguments.iter().any(|(other, value)| other == name && value.parse::<i128>().is_ok())
            })
        };
        let missing: Vec<&str> = numbers.into_iter().filter(|name| !has_value(name)).collect();
        let said = format!("{} has no values of {}", self.path.display(), missing.join(", "));
        (!missing.is_empty()).then(|| {
            note(program, kernel, format!("{said}: only the geometry of launches of {} is known", function.name))
        })
    }

    /// That pointers of a launch lead into one allocation, at different places: that what they lead to is apart is assumed, and
    /// nothing that is read of the log says it.
    fn in_one_allocation(&self, program: &Program, kernel: FunctionId, launches: &[usize]) -> Option<Diagnostic> {
        let into = |value: &str| Some(value.strip_prefix('@')?.split_once('+')?.0.to_owned());
        let found = launches.iter().find_map(|&at| {
            let pointers = &self.launches[at].arguments;
            let pairs =
                pointers.iter().enumerate().flat_map(|(at, one)| pointers[at + 1..].iter().map(move |it| (one, it)));
            let is_one = |(one, other): &(&(String, String), &(String, String))| {
                one.1 != other.1 && into(&one.1).is_some() && into(&one.1) == into(&other.1)
            };
            pairs.into_iter().find(is_one).map(|((one, _), (other, _))| (at, one.clone(), other.clone()))
        });
        let (at, one, other) = found?;
        let place = format!("{}:{}", self.path.display(), at + 1);
        let name = &program.functions[kernel].name;
        Some(note(
            program,
            kernel,
            format!(
                "{one} and {other} of {name} point into one allocation at {place}: that they do not overlap is assumed; \
                 `raceproof trace check` tells of the log itself"
            ),
        ))
    }

    fn left_out(&self, program: &Program, kernel: FunctionId, why: &Ambiguous) -> Diagnostic {
        let (path, name) = (self.path.display(), &program.functions[kernel].name);
        let why = match why {
            Ambiguous::Files => "which of several files' kernels of that name they are of",
            Ambiguous::Instances => "which of the kernels of that name, or instances of the template, they are of",
        };
        note(program, kernel, format!("launches of {name} in {path} are left out: the log does not say {why}"))
    }
}

fn note(program: &Program, kernel: FunctionId, message: String) -> Diagnostic {
    Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Note,
        message,
        primary: Label { span: program.functions[kernel].span, text: String::new() },
        secondary: Vec::new(),
        notes: Vec::new(),
        fix: None,
        hidden: None,
    }
}

/// `launch 3: rows<<<(4,4,1), (16,16,1)>>> pitch = 100`
fn write_launch(id: u32, launch: &format::Launch, out: &mut String) {
    let format::Launch { kernel, grid, block, arguments, .. } = launch;
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    // Writing to a string cannot fail.
    let _ = write!(out, "launch {id}: {kernel}<<<{}, {}>>>", triple(*grid), triple(*block));
    let numbers = arguments.iter().filter(|(_, value)| value.parse::<i128>().is_ok());
    let numbers: Vec<String> = numbers.map(|(name, value)| format!("{name} = {value}")).collect();
    if !numbers.is_empty() {
        let _ = write!(out, " {}", numbers.join(", "));
    }
}

/// The files in which each function accesses memory.
fn files_of(log: &Log) -> BTreeMap<String, Vec<PathBuf>> {
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for site in log.sites.values() {
        let known = files.entry(short(&site.function).to_owned()).or_default();
        let path = PathBuf::from(&site.path);
        if !known.contains(&path) {
            known.push(path);
        }
    }
    files
}

/// A name without namespaces and template arguments.
fn short(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// Whether a log means a kernel by a name, which may lack namespaces.
pub(super) fn is_named(kernel: &str, logged: &str) -> bool {
    let logged = logged.split('<').next().unwrap_or(logged);
    let ends = |long: &str, end: &str| long.strip_suffix(end).is_some_and(|rest| rest.ends_with("::"));
    kernel == logged || ends(kernel, logged) || ends(logged, kernel)
}

/// Whether two paths, each relative to a directory of its own, may lead to one file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let (one, other) = (normalized(one), normalized(other));
    let without_parents = |path: &Path| path.components().filter(|it| it.as_os_str() != "..").collect::<PathBuf>();
    let (one, other) = (without_parents(&one), without_parents(&other));
    one.ends_with(&other) || other.ends_with(&one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::report::{FileReport, Keeping, ScopeKind};
    use crate::driver::check_source;
    use crate::driver::options::{Contracts, Options, Told};

    fn launch(kernel: &str, grid: [u32; 3], arguments: &[(&str, &str)]) -> format::Launch {
        let arguments = arguments.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (kernel, block) = (kernel.to_owned(), [64, 1, 1]);
        format::Launch { kernel, grid, block, dynamic_shared: 0, arguments, finished: None }
    }

    /// A file that is checked with launches of a log, in which kernels access memory in that file.
    fn checked(text: &str, launches: Vec<format::Launch>, accessing: &str) -> FileReport {
        let mut listing = String::new();
        let mut lines = Vec::new();
        for (id, launch) in (0..).zip(&launches) {
            let start = listing.len();
            write_launch(id, launch, &mut listing);
            lines.push(start..listing.len());
            listing.push('\n');
        }
        let files = launches.iter().map(|it| (short(&it.kernel).to_owned(), vec![PathBuf::from(accessing)])).collect();
        let path = PathBuf::from("run.trace");
        let logged = LoggedLaunches { path, launches, listing: listing.into(), lines, files, problems: Vec::new() };
        let contracts = Contracts { logged: Some(Arc::new(logged)), told: Told::Contracts, ..Contracts::default() };
        check_source(Path::new("src/k.cu"), text, &Options { contracts, ..Options::default() }).report
    }

    fn notes(report: &FileReport) -> Vec<&str> {
        report.diagnostics.iter().map(|note| note.message.as_str()).collect()
    }

    const ROWS: &str =
        "__global__ void k(int *o, int n) { o[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";

    #[test]
    fn launches_of_a_log_take_the_place_of_those_in_the_text() {
        let text = format!("{ROWS}void host(int *o, int n) {{ k<<<dim3(2, 2), 64>>>(o, n); }}\n");
        let launches =
            vec![launch("k", [2, 2, 1], &[("o", "@0+0"), ("n", "128")]), launch("k", [2, 2, 1], &[("n", "256")])];
        let report = checked(&text, launches, "k.cu");
        let kernel = &report.kernels[0];
        let scope = kernel.scope.as_ref().map(|scope| scope.kind.clone());
        assert_eq!(scope, Some(ScopeKind::Other("the launches in run.trace".to_owned())));
        let lines: Vec<u32> =
            kernel.launches().iter().map(|launch| report.sources.start_position(launch.span).line).collect();
        assert_eq!(lines, [1, 2]);
        assert!(kernel.launches().iter().all(|launch| launch.keeping == Keeping::Kept));
        assert!(notes(&report).is_empty());
    }

    #[test]
    fn without_scalars_only_the_geometry_is_known() {
        let report = checked(ROWS, vec![launch("k", [2, 2, 1], &[("o", "@0+0")])], "src/k.cu");
        assert_eq!(notes(&report), ["run.trace has no values of n: only the geometry of launches of k is known"]);
        let said: Vec<Keeping> = report.kernels[0].launches().iter().map(|launch| launch.keeping).collect();
        assert_eq!(said, [Keeping::Open]);
    }

    #[test]
    fn launches_of_other_kernels_of_the_name_are_left_out() {
        let logged = || vec![launch("k", [2, 2, 1], &[("n", "1")])];
        let report = checked(ROWS, logged(), "other/k.cu");
        assert!(report.kernels[0].launches().is_empty() && notes(&report).is_empty());
        let template = "template <class T> __global__ void k(T *o, int n) { o[blockIdx.y * n + blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n\
                        void host(int *i, float *f) { k<<<dim3(2, 2), 64>>>(i, 128); k<<<dim3(2, 2), 64>>>(f, 128); }\n";
        let report = checked(template, logged(), "src/k.cu");
        assert!(notes(&report).iter().all(|note| note.contains("launches of k in run.trace are left out")));
        assert_eq!(notes(&report).len(), 2);
        assert!(report.kernels.iter().all(|kernel| kernel.launches().iter().all(|it| it.keeping == Keeping::Kept)));
    }

    #[test]
    fn names_and_paths_are_compared_as_far_as_they_are_written() {
        assert!(is_named("a::k", "k") && is_named("k", "a::k") && is_named("k", "k<int>") && !is_named("bk", "k"));
        let same = |one: &str, other: &str| is_same_file(Path::new(one), Path::new(other));
        assert!(same("k.cu", "src/k.cu") && same("../src/k.cu", "./src/k.cu") && !same("a/k.cu", "b/k.cu"));
        assert!(!same("k.cu", "src/bk.cu"));
    }
}
