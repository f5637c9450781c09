//! Which files of a run are included by which others, and what to make of a file that is no unit of its own.
//!
//! Kernels often stand in a file that another one includes after it has defined the macros, types and functions
//! that they use. Read by itself such a file holds names that nothing declares. Where something that a kernel
//! reaches is therefore not understood, the file is read again as a part of a unit of the same run that includes it,
//! and the kernels of the file are reported as that unit has them, if it has all of them; a note says so. So are those of a
//! file that launches none, if one unit of the run includes it and launches them, and less is told of them then, and nothing
//! else. Other verdicts that a file has by itself are kept.
//!
//! Deliberately absent: conditionals and macros around `#include` (a unit that turns out not to include the file
//! has no kernels of it, and is passed over), and units that are not part of the run.

use super::{Checked, Options};
use crate::diagnostic::report::{FileReport, KernelReport, Race, ScopeKind};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::normalized;
use crate::source::dependencies::{Dependency, Question, record};
use crate::source::fingerprint::Fingerprint;
use crate::source::headers::{Delimiters, included};
use crate::source::{Span, disk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Units that are tried for one file.
const MAX_UNITS: usize = 3;

/// The units that include each file of a run.
#[derive(Debug, Default)]
pub(super) struct Units {
    including: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The paths of the inputs as they were given, by their normal form.
    given: BTreeMap<PathBuf, PathBuf>,
}

impl Units {
    /// Looks at the `#include "…"` lines of `files` and of the headers that they reach.
    pub(super) fn of(files: &[&Path], options: &Options) -> Units {
        let mut units = Units::default();
        for &file in files {
            units.given.insert(normalized(file), file.to_path_buf());
        }
        let places = units.given.keys().map(|path| (disk::absolute(path), path.clone())).collect();
        let mut scan = Scan { options, places, known: BTreeMap::new() };
        for &file in files {
            let unit = normalized(file);
            for included in scan.reachable(&unit) {
                if units.given.contains_key(&included) && included != unit {
                    units.including.entry(included).or_default().insert(unit.clone());
                }
            }
        }
        units
    }

    /// The units to read `file` in, those that no other file includes first.
    pub(super) fn candidates(&self, file: &Path) -> Vec<PathBuf> {
        let Some(units) = self.including.get(&normalized(file)) else { return Vec::new() };
        let (inner, outer): (Vec<&PathBuf>, Vec<&PathBuf>) =
            units.iter().partition(|unit| self.including.contains_key(*unit));
        let given = |unit: &PathBuf| self.given.get(unit).cloned();
        outer.into_iter().chain(inner).filter_map(given).take(MAX_UNITS).collect()
    }

    /// The work at hand depends on which inputs of the run include the file.
    fn record(&self, file: &Path) {
        let question = || Question::Including { file: file.to_path_buf() };
        record(|| Dependency::Answer(question(), self.answer(file)));
    }

    /// Which inputs of the run include a file.
    pub(super) fn answer(&self, file: &Path) -> Fingerprint {
        Fingerprint::of_value(&self.candidates(file))
    }

    /// The report of a file, or a better one of a unit that includes it; `check` reads a unit and judges those of
    /// its kernels that stand in the file.
    pub(super) fn in_context(&self, own: Checked, mut check: impl FnMut(&Path, &str) -> Checked) -> Checked {
        let mut best = own;
        self.record(&best.report.path);
        if !best.incomplete {
            return self.as_launched(best, check);
        }
        for unit in self.candidates(&best.report.path.clone()) {
            let open = open_kernels(&best.report);
            if open == 0 {
                break;
            }
            let Ok(bytes) = disk::read_source(&unit) else { continue };
            let other = check(&unit, &disk::decode(&bytes));
            if open_kernels(&other.report) < open && has_all(&other.report, &best.report) {
                best = adopted(best, other, &unit, "by itself the file does not declare all that they use");
            }
        }
        best
    }

    /// The report of a file, or the one that its kernels have for the launches of the only unit that includes it. Of
    /// several units each may launch them in its own way, and none speaks for all.
    fn as_launched(&self, own: Checked, mut check: impl FnMut(&Path, &str) -> Checked) -> Checked {
        if own.launches || not_free(&own.report).is_empty() {
            return own;
        }
        let candidates = self.candidates(&own.report.path);
        let [unit] = candidates.as_slice() else { return own };
        let Ok(bytes) = disk::read_source(unit) else { return own };
        let other = check(unit, &disk::decode(&bytes));
        if other.launches && has_all(&other.report, &own.report) && alarms_less(&other.report, &own.report) {
            return adopted(own, other, unit, "the file itself launches none of them");
        }
        own
    }
}

/// The kernels of a unit's report in the place of those that a file has by itself.
fn adopted(own: Checked, other: Checked, unit: &Path, reason: &str) -> Checked {
    let FileReport { path, .. } = own.report;
    let mut report = FileReport { path, ..other.report };
    // The launches that they are judged for stand in the unit, not in this file.
    for scope in report.kernels.iter_mut().filter_map(|kernel| kernel.scope.as_mut()) {
        if scope.kind == ScopeKind::Launch {
            scope.kind = ScopeKind::Other(format!("the launches in {}", unit.display()));
        }
    }
    let file = report.sources.files().find(|(_, file)| normalized(&file.path) == normalized(&report.path));
    let message = format!("its kernels are judged as a part of {}, which includes this file", unit.display());
    report.diagnostics = file
        .map(|(file, _)| Diagnostic {
            rule: RuleId::Parse,
            severity: Severity::Note,
            message,
            primary: Label { span: Span::new(file, 0, 0), text: String::new() },
            secondary: Vec::new(),
            notes: vec![reason.to_owned()],
            fix: None,
            hidden: None,
        })
        .into_iter()
        .collect();
    Checked {
        report,
        bugs: own.bugs.into_iter().chain(other.bugs).collect(),
        is_whole: own.is_whole && other.is_whole,
        incomplete: other.incomplete,
        launches: other.launches,
        drafts: other.drafts,
        pictured: other.pictured,
        misfits: other.misfits,
    }
}

/// How many kernels are not decided or rest on what is not understood: an undeclared name is a value by itself.
fn open_kernels(report: &FileReport) -> usize {
    report.kernels.iter().filter(|kernel| kernel.race == Race::Unknown || !kernel.unknowns.is_empty()).count()
}

/// The kernels that are not shown to be free of races, whatever instances they have.
fn not_free(report: &FileReport) -> BTreeSet<(u32, &str)> {
    let is_open = |kernel: &&KernelReport| kernel.race != Race::RaceFree || kernel.leaves_a_contract();
    report.kernels.iter().filter(is_open).map(|kernel| (kernel.line, kernel.name.as_str())).collect()
}

/// What is told of kernels, and on which lines.
fn told(report: &FileReport) -> BTreeSet<(RuleId, u32, Option<u32>)> {
    let line = |span| report.sources.start_position(span).line;
    let findings = report.kernels.iter().flat_map(KernelReport::each_finding);
    findings
        .map(|finding| (finding.rule, line(finding.primary.span), finding.secondary.map(|it| line(it.span))))
        .collect()
}

/// Whether one of two reports on the same kernels leaves out something that the other tells, and tells nothing else.
fn alarms_less(one: &FileReport, other: &FileReport) -> bool {
    let (open, told_of) = (not_free(one), told(one));
    let (open_there, told_there) = (not_free(other), told(other));
    let is_less = open.len() < open_there.len() || told_of.len() < told_there.len();
    is_less && open.is_subset(&open_there) && told_of.is_subset(&told_there)
}

/// Whether every kernel of `own` stands in `other` too; a template may have other instances there.
fn has_all(other: &FileReport, own: &FileReport) -> bool {
    own.kernels.iter().all(|kernel| other.kernels.iter().any(|it| it.line == kernel.line && it.name == kernel.name))
}

/// Finds what files include, each file once.
struct Scan<'o> {
    options: &'o Options,
    /// The inputs of the run by their absolute paths.
    places: BTreeMap<PathBuf, PathBuf>,
    known: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Scan<'_> {
    /// All files that `file` includes, directly or through others.
    fn reachable(&mut self, file: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut pending = vec![file.to_path_buf()];
        while let Some(file) = pending.pop() {
            for included in self.included(&file) {
                if found.insert(included.clone()) {
                    pending.push(included);
                }
            }
        }
        found
    }

    fn included(&mut self, file: &Path) -> Vec<PathBuf> {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let bytes = disk::read_source(file).unwrap_or_default();
        let own = file.parent().map(Path::to_path_buf);
        let directories: Vec<PathBuf> = own.into_iter().chain(self.options.include_dirs.iter().cloned()).collect();
        let find = |name: &str| directories.iter().map(|at| normalized(&at.join(name))).find(|path| path.is_file());
        // As units find what no directory leads to.
        let seek = |name: &str| {
            let path = self.options.headers.project.as_ref()?.find(name, file)?.path;
            Some(self.places.get(&path).cloned().unwrap_or(path))
        };
        let names = disk::decode(&bytes);
        let names = names.lines().filter_map(quoted_include);
        let included: Vec<PathBuf> = names.filter_map(|name| find(name).or_else(|| seek(name))).collect();
        self.known.insert(file.to_path_buf(), included.clone());
        included
    }
}

/// The name in `#include "name"`.
fn quoted_include(line: &str) -> Option<&str> {
    included(line).filter(|(_, delimiters)| *delimiters == Delimiters::Quotes).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::parallel::{Input, Unwatched, check_all};
    use crate::source::headers::ProjectHeaders;
    use std::sync::Arc;

    #[test]
    fn a_file_without_its_macros_is_judged_in_the_unit_that_includes_it() {
        let directory = tempfile::tempdir().unwrap();
        let kernel = "__global__ void fill(float *a) {\n\
                      if (threadIdx.x < LIMIT) a[blockIdx.x * LIMIT + threadIdx.x] = 1; }\n\
                      __global__ void clash(float *a) { a[threadIdx.x / LIMIT] = threadIdx.x; }\n";
        let unit = "#define LIMIT 64\n#include \"parts.h\"\nint main() { return 0; }\n";
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        write("parts.h", "#include \"./kernel.cu\"\n");
        let (kernel, unit) = (write("kernel.cu", kernel), write("main.cu", unit));
        let races = |files: &[&PathBuf]| {
            let inputs: Vec<Input> = files.iter().map(|path| Input::File(path.to_path_buf())).collect();
            let run = check_all(&inputs, &Options::default(), &Unwatched);
            let file = run.report.files.into_iter().find(|file| file.path == kernel).unwrap();
            let notes = file.diagnostics.iter().filter(|it| it.message.contains("which includes this file")).count();
            (file.kernels.iter().map(|kernel| (kernel.line, kernel.race)).collect::<Vec<_>>(), notes)
        };
        assert_ne!(races(&[&kernel]).0, [(1, Race::RaceFree), (3, Race::Racy)]);
        assert_eq!(races(&[&kernel, &unit]), (vec![(1, Race::RaceFree), (3, Race::Racy)], 1));
    }
    #[test]
    fn a_file_of_kernels_is_judged_for_the_launches_of_the_only_unit_that_includes_it() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let kernel = write(
            "kernel.cu",
            "__global__ void fill(float *a) { a[blockIdx.x * 64 + threadIdx.x] = 1; }\n\
             __global__ void clash(float *a) { a[threadIdx.x / 64] = threadIdx.x; }\n",
        );
        let unit = |name: &str, threads: u32| {
            let calls = format!("fill<<<8, {threads}>>>(a); clash<<<1, 128>>>(a);");
            write(name, &format!("#include \"kernel.cu\"\nint main() {{ float *a = 0; {calls} }}\n"))
        };
        let (narrow, wide) = (unit("narrow.cu", 64), unit("wide.cu", 128));
        let races = |files: &[&PathBuf]| {
            let inputs: Vec<Input> = files.iter().map(|path| Input::File(path.to_path_buf())).collect();
            let run = check_all(&inputs, &Options::default(), &Unwatched);
            let file = run.report.files.into_iter().find(|file| file.path == kernel).unwrap();
            file.kernels.iter().map(|kernel| kernel.race).collect::<Vec<_>>()
        };
        let (free, racy) = (Race::RaceFree, Race::Racy);
        // By itself, `fill` is free under its contract.
        assert_eq!(races(&[&kernel]), [free, racy]);
        assert_eq!(races(&[&kernel, &narrow]), [free, racy]);
        // Its launch is a race of that unit.
        assert_eq!(races(&[&kernel, &wide]), [free, racy]);
        // Two units launch it in two ways.
        assert_eq!(races(&[&kernel, &narrow, &wide]), [free, racy]);
    }

    /// A template strides by its parameter, which is the size of a block wherever it is launched.
    #[test]
    fn a_header_that_no_directory_leads_to_is_judged_for_the_instances_of_its_only_unit() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        write(".git/HEAD", "");
        let header = write(
            "common/stride.cuh",
            "template <unsigned width> __global__ void stride(float *a) {\n\
             for (int i = threadIdx.x; i < 2048; i += width)\n  a[blockIdx.x * 2048 + i] += 1; }\n",
        );
        let unit = write(
            "cuda/stride.cu",
            "#include \"stride.cuh\"\nvoid f(float *a, int n) {\n  switch (n) {\n\
             case 256: stride<256><<<8, n>>>(a); break;\n  case 512: stride<512><<<8, n>>>(a); }\n}\n",
        );
        let options = || {
            let mut options = Options::default();
            options.headers.project = Some(Arc::new(ProjectHeaders::new(&[directory.path().to_path_buf()])));
            options
        };
        let races = |files: &[&PathBuf]| {
            let inputs: Vec<Input> = files.iter().map(|path| Input::File(path.to_path_buf())).collect();
            let run = check_all(&inputs, &options(), &Unwatched);
            let file = run.report.files.into_iter().find(|file| file.path == header).unwrap();
            file.kernels.iter().map(|kernel| (kernel.race, kernel.leaves_a_contract())).collect::<Vec<_>>()
        };
        // By itself it is free under a contract.
        assert_eq!(races(&[&header]), [(Race::RaceFree, true)]);
        assert_eq!(races(&[&header, &unit]), [(Race::RaceFree, false); 2]);
    }
}
