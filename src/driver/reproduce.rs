//! Programs that show the races which were proved: drawn up file by file, written when all files are checked.
//!
//! Races of one kernel that the same launch shows share a program. Names depend on nothing but the report, so the same
//! input gives the same files whatever the number of threads.

use super::Options;
use super::described::{Head, heads, kind_of};
use super::front::{preprocessing, seeking};
use super::options::ProjectHeaders;
use crate::calculus::eval::Chosen;
use crate::calculus::{Kernel, Space};
use crate::check::contents::chosen;
use crate::diagnostic::report::{Finding, KernelReport, Reproduction, WitnessReport};
use crate::diagnostic::vocabulary::{Vocabulary, triple};
use crate::execute::launch::host::ParameterKind;
use crate::front::tree_sitter;
use crate::instrument::numbered;
use crate::launch::Launched;
use crate::preprocess::{self, Output};
use crate::reproduce::{
    Draft, DraftError, Origin, Plan, RaceText, Slice, Subject, Unit, draft, launch_of, shown_race, slice,
};
use crate::resolve::program::{FunctionId, Program};
use crate::source::{Dialect, FileId, SourceMap, Span};
use crate::syntax::Item;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use super::parallel::Run;
pub use crate::reproduce::{Store, StoreError};

/// A program, and what it shows: the numbers of a kernel in its file and of a finding of it.
#[derive(Clone, Debug)]
pub struct Drafted {
    draft: Draft,
    shows: Vec<[usize; 2]>,
}

/// Writes all programs of a run and notes in each finding where its program is. What could not be written is given back.
pub fn write_all(run: &mut Run, store: &mut Store) -> Vec<StoreError> {
    let mut errors = Vec::new();
    for (file, drafts) in run.report.files.iter_mut().zip(&run.drafts) {
        for drafted in drafts {
            let written = store.write(&drafted.draft);
            for (&[kernel, finding], shown) in drafted.shows.iter().zip(drafted.draft.shown()) {
                let reproduction = match &written {
                    Ok(path) => Reproduction::Written { path: path.clone(), lines: shown.lines },
                    Err(error) => Reproduction::Refused(error.to_string()),
                };
                file.kernels[kernel].findings[finding].reproduction = Some(reproduction);
            }
            errors.extend(written.err());
        }
    }
    errors
}

/// A file as the text of its programs is taken from it.
struct Text {
    output: Output,
    items: Vec<Item>,
    main: FileId,
    defines: Vec<(String, String)>,
    heads: Vec<Head>,
    is_hip: bool,
}

impl Text {
    fn read(path: &Path, text: &str, options: &Options, headers: Option<&Arc<ProjectHeaders>>) -> Text {
        let mut sources = SourceMap::new();
        let main = sources.add_file(path, text);
        let told = seeking(preprocessing(path, text, options), path, (headers, options));
        let output = preprocess::preprocess(sources, main, &told);
        let items = tree_sitter::read(numbered(&output), main, &told).unit.items;
        let heads = heads(path, text, options);
        Text { output, items, main, defines: told.defines, heads, is_hip: told.dialect == Dialect::Hip }
    }

    fn unit(&self) -> Unit<'_> {
        Unit { output: &self.output, items: &self.items, main: self.main, defines: &self.defines }
    }
}

/// The programs of a file. A finding that gets none is told why. `headers` are those of the project, if the file was
/// read with them.
pub(super) fn drafts(
    (path, text): (&Path, &str),
    options: &Options,
    headers: Option<&Arc<ProjectHeaders>>,
    file: &Launched,
    judged: &[(FunctionId, Kernel)],
    reports: &mut [KernelReport],
) -> Vec<Drafted> {
    if !reports.iter().flat_map(|report| &report.findings).any(|finding| shown_race(finding).is_some()) {
        return Vec::new();
    }
    let text = Text::read(path, text, options, headers);
    let mut drafts = Vec::new();
    for (number, ((function, kernel), report)) in judged.iter().zip(reports).enumerate() {
        let job = Job { text: &text, file, program: &file.program, function: *function, kernel, number };
        drafts.extend(job.drafts(report));
    }
    drafts
}

/// The programs of one kernel.
struct Job<'a> {
    text: &'a Text,
    file: &'a Launched,
    program: &'a Program,
    function: FunctionId,
    kernel: &'a Kernel,
    /// The number of the kernel in its file.
    number: usize,
}

/// Findings that one launch shows.
struct Group {
    plan: Plan,
    findings: Vec<usize>,
}

impl Job<'_> {
    fn drafts(&self, report: &mut KernelReport) -> Vec<Drafted> {
        let (groups, refused) = self.groups(report);
        for (finding, reason) in refused {
            report.findings[finding].reproduction = Some(Reproduction::Refused(reason));
        }
        let mut drafts = Vec::new();
        for group in groups {
            match self.drafted(report, &group) {
                Ok(draft) => {
                    let shows = group.findings.iter().map(|&finding| [self.number, finding]).collect();
                    drafts.push(Drafted { draft, shows });
                }
                Err(error) => {
                    for finding in group.findings {
                        report.findings[finding].reproduction = Some(Reproduction::Refused(error.to_string()));
                    }
                }
            }
        }
        drafts
    }

    /// The launches that are needed, and the findings without one.
    fn groups(&self, report: &KernelReport) -> (Vec<Group>, Vec<(usize, String)>) {
        let mut groups: Vec<Group> = Vec::new();
        let mut refused = Vec::new();
        for (number, finding) in report.findings.iter().enumerate() {
            let Some(witness) = shown_race(finding) else { continue };
            match self.plan(report, witness, &chosen(self.kernel, finding)) {
                Ok(plan) => match groups.iter_mut().find(|group| group.plan == plan) {
                    Some(group) => group.findings.push(number),
                    None => groups.push(Group { plan, findings: vec![number] }),
                },
                Err(reason) => refused.push((number, reason.to_string())),
            }
        }
        (groups, refused)
    }

    fn plan(&self, report: &KernelReport, witness: &WitnessReport, contents: &Chosen) -> Result<Plan, DraftError> {
        if self.text.is_hip {
            return Err(DraftError::Hip);
        }
        let Some(head) = self.head() else { return Err(DraftError::Head) };
        let subject = Subject { report, kernel: self.kernel, head: &head, same: &self.same_pointers() };
        Ok(launch_of(&subject, witness, contents)?)
    }

    /// How the kernel is called, with the types of its instance.
    fn head(&self) -> Option<Head> {
        let function = &self.program.functions[self.function];
        let name = &function.name;
        let params = || function.params.iter().map(|&param| &self.program.variables[param]);
        let fits = |head: &&Head| {
            let names = head.parameters.iter().map(|parameter| parameter.name.as_str());
            let is_named = head.name == *name || head.name.ends_with(&format!("::{name}"));
            is_named && names.eq(params().map(|param| param.name.as_str()))
        };
        let mut head = self.text.heads.iter().find(fits)?.clone();
        // Of a template without arguments nobody knows the types.
        if head.template.is_none() || !function.template_args.is_empty() {
            for (parameter, variable) in head.parameters.iter_mut().zip(params()) {
                parameter.kind = kind_of(self.program, variable);
            }
        }
        Some(head)
    }

    /// The names of parameters that the launches in the file give one pointer.
    fn same_pointers(&self) -> Vec<Vec<String>> {
        let launches = self.file.launches_of(self.function);
        let params = &self.program.functions[self.function].params;
        let name = |at: usize| params.get(at).map(|&param| self.program.variables[param].name.clone());
        let mut groups: Vec<Vec<String>> = Vec::new();
        for &(first, second) in launches.flat_map(|launch| &launch.same_pointers) {
            let (Some(first), Some(second)) = (name(first), name(second)) else { continue };
            let (mut joined, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|group| group.contains(&first) || group.contains(&second));
            let mut all: Vec<String> = joined.drain(..).flatten().collect();
            all.extend([first, second].into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
            groups = others;
            groups.push(all);
        }
        groups
    }

    fn drafted(&self, report: &KernelReport, group: &Group) -> Result<Draft, DraftError> {
        let span = self.program.functions[self.function].span;
        let (path, line) = self.place(span);
        // Template arguments may name types and constants of the file.
        let instance = group.plan.kernel.split_once('<').map_or("", |(_, arguments)| arguments);
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        let names: Vec<String> = instance.split(word).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let slice: Slice = slice(&self.text.unit(), (&path, line), &names)?;
        let findings = group.findings.iter().map(|&number| &report.findings[number]);
        let races = findings.map(|finding| self.race(finding)).collect();
        let kinds: Vec<ParameterKind> = self
            .head()
            .map_or_else(Vec::new, |head| head.parameters.into_iter().map(|parameter| parameter.kind).collect());
        let about = self.about(report, group, &path);
        draft((self.program.language, &report.name, about), races, &slice, &group.plan, &kinds)
    }

    fn about(&self, report: &KernelReport, group: &Group, path: &Path) -> String {
        let words = Vocabulary::of(self.program.language);
        let witness = group.findings.first().and_then(|&number| report.findings[number].witness.as_ref());
        let values = witness.into_iter().flat_map(WitnessReport::values).take(12);
        let values: String = values.map(|value| format!(", {value}")).collect();
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        format!(
            "kernel {} of {name}, line {}: {}s of {} {}s, {} of {} {}s{values}",
            group.plan.kernel,
            report.line,
            words.block,
            triple(group.plan.geometry.block),
            words.thread,
            words.grid,
            triple(group.plan.geometry.grid),
            words.block,
        )
    }

    fn place(&self, span: Span) -> (PathBuf, u32) {
        let sources = &self.program.sources;
        (sources.file(sources.visible(span).file).path.clone(), sources.start_position(span).line)
    }

    fn race(&self, finding: &Finding) -> RaceText {
        let words = Vocabulary::of(self.program.language);
        let places = [Some(finding.primary), finding.secondary];
        let threads = finding.witness.iter().flat_map(|witness| &witness.threads);
        let mut threads = threads.map(|thread| {
            format!(" by {} {} of {} {}", words.thread, triple(thread.thread), words.block, triple(thread.block))
        });
        let accesses = places.map(|place| {
            let place = place.unwrap_or(finding.primary);
            let (path, line) = self.place(place.span);
            Origin { path, line, what: format!("{}{}", place.access.name(), threads.next().unwrap_or_default()) }
        });
        let array = finding.array.as_deref().unwrap_or_default();
        let mut arrays = self.kernel.arrays.iter().map(|(_, known)| known);
        let is_shared = arrays.any(|known| known.name == array && known.space == Space::Shared);
        RaceText { message: finding.message.clone(), accesses, rule: finding.rule.name(), is_shared }
    }
}
