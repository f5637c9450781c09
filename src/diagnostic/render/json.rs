//! JSON for programs: the contract `raceproof.check.v2` (docs/ARCHITECTURE.md, "Contracts").
//!
//! Field names and their order are fixed; the structs below *are* the contract. Fields may only be added with
//! a new version. Lines and columns count from 1, ends are exclusive.
//!
//! - [`lines`]: the same findings, a line each.

pub mod lines;

use crate::diagnostic::Diagnostic;
use crate::diagnostic::report::{
    self, AssumptionKind, Determinism, FileReport, Finding, Instance, KernelReport, Place, Report, Same,
};
use crate::diagnostic::shard::{self, Shard};
use crate::diagnostic::suppression::{Hidden, HiddenCounts};
use crate::source::{SourceMap, Span};
use crate::work::{Spent, Stage, Tally};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::io::{self, Write};

/// The version of the contract.
pub const SCHEMA: &str = "raceproof.check.v2";

/// Writes `report` as one object on one line.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Check::of(report))?;
    writeln!(out)
}

/// Writes the report of a shard, which is no whole report and has a schema of its own: the same, and what the shard carries.
pub fn render_shard(report: &Report, shard: &Shard, out: &mut dyn Write) -> io::Result<()> {
    let check = Check { schema: shard::SCHEMA, shard: Some(shard), ..Check::of(report) };
    serde_json::to_writer(&mut *out, &check)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Check<'a> {
    schema: &'static str,
    files: Vec<File<'a>>,
    summary: SummaryJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a Shard>,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    front: &'static str,
    parse: &'static str,
    /// What it took beside its kernels; only there if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageJson>,
    kernels: Vec<Kernel<'a>>,
    /// What is wrong with comments of the file; only there if something is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FileFindingJson<'a>>,
    /// What is said of the file and nobody wants to be told of; only there if there is something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedJson<'a, FileFindingJson<'a>>>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: &'a str,
    line: u32,
    /// The file of that line, where it is not the file that was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The front end that read it, where it is not the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    front: Option<&'static str>,
    template_args: &'a [String],
    race: &'static str,
    divergence: &'static str,
    scope: Option<&'a str>,
    deterministic: bool,
    access_invariant: Option<bool>,
    integrity_inputs: &'a [String],
    #[serde(flatten)]
    assumptions: AssumptionsJson<'a>,
    #[serde(flatten)]
    spent: SpentJson,
    /// Only there if one was found.
    #[serde(flatten)]
    contract: Option<ContractJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    #[serde(flatten)]
    not_told: NotToldJson<'a>,
    unknowns: Vec<UnknownJson<'a>>,
}

/// Findings of a kernel that are not told with it.
#[derive(Serialize)]
struct NotToldJson<'a> {
    /// Findings that are told with other kernels; only there if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<RepeatJson<'a>>,
    /// Findings that nobody wants to be told of; only there if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedJson<'a, FindingJson<'a>>>,
}

/// What a kernel took.
#[derive(Serialize)]
struct SpentJson {
    time_ms: u128,
    /// Only there if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageJson>,
}

impl SpentJson {
    fn of(spent: &Spent) -> Self {
        SpentJson { time_ms: spent.all().time.as_millis(), stages: spent.stages().map(StageJson::of).collect() }
    }
}

/// What a stage took.
#[derive(Serialize)]
struct StageJson {
    stage: &'static str,
    time_ms: f64,
    /// Units of work, which are the same on every machine.
    work: u64,
}

impl StageJson {
    fn of((stage, tally): (Stage, Tally)) -> Self {
        let time_ms = (tally.time.as_secs_f64() * 1e5).round() / 100.0;
        StageJson { stage: stage.name(), time_ms, work: tally.units }
    }
}

/// The contract of a kernel: its conditions, and beside them what is said of them.
#[derive(Serialize)]
struct ContractJson<'a> {
    contract: Vec<ConjunctJson<'a>>,
    contract_plausible: bool,
    contract_assumptions: Vec<&'a str>,
    /// Only there if somebody states it: `contracts.txt:3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    contract_stated: Option<String>,
    launches: Vec<LaunchJson<'a>>,
}

/// A condition of the contract of a kernel.
#[derive(Serialize)]
struct ConjunctJson<'a> {
    text: &'a str,
    kind: &'static str,
    necessary: Option<Witness<'a>>,
}

/// A launch, and whether it keeps the contract.
#[derive(Serialize)]
struct LaunchJson<'a> {
    path: String,
    line: u32,
    contract: &'static str,
    missing: Vec<&'a str>,
}

/// A launch that breaks a contract.
#[derive(Serialize)]
struct BreakingJson<'a> {
    path: String,
    line: u32,
    breaks: &'a [String],
}

#[derive(Serialize)]
struct FindingJson<'a> {
    rule: &'static str,
    certainty: &'static str,
    level: &'static str,
    array: Option<&'a str>,
    message: &'a str,
    primary: Primary,
    secondary: Option<Secondary>,
    reasons: Vec<Reason<'a>>,
    witness: Option<Witness<'a>>,
    /// The launch of the program that makes it happen; only there if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<BreakingJson<'a>>,
    /// Only there if the witness needs them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contents: Vec<ContentsJson<'a>>,
    /// Only there if reproductions were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    reproduction: Option<ReproductionJson<'a>>,
    /// Only there if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
    /// Others of the same cause; only there if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<FindingJson<'a>>,
    /// Other kernels that have the same; only there if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<InstanceJson<'a>>,
}

/// A finding on a file.
#[derive(Serialize)]
struct FileFindingJson<'a> {
    rule: &'static str,
    severity: &'static str,
    message: &'a str,
    primary: RangeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

/// A range of a file.
#[derive(Serialize)]
struct RangeJson {
    path: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

/// A finding that somebody does not want to be told of.
#[derive(Serialize)]
struct SuppressedJson<'a, T> {
    suppression: SuppressionJson<'a>,
    #[serde(flatten)]
    finding: T,
}

/// Who does not want to be told of something.
#[derive(Serialize)]
struct SuppressionJson<'a> {
    by: &'static str,
    /// The place of the comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<RangeJson>,
    /// Why: what the comment says, the file of the baseline, the place in the settings.
    reason: Cow<'a, str>,
}

/// A finding that is told with another kernel.
#[derive(Serialize)]
struct RepeatJson<'a> {
    of: InstanceJson<'a>,
    #[serde(flatten)]
    finding: FindingJson<'a>,
}

/// A kernel.
#[derive(Serialize)]
pub(in crate::diagnostic) struct InstanceJson<'a> {
    path: String,
    kernel: &'a str,
    line: u32,
}

/// Edits that end the finding.
#[derive(Serialize)]
struct FixJson<'a> {
    message: &'a str,
    edits: Vec<EditJson<'a>>,
}

/// The text between two places is replaced by another.
#[derive(Serialize)]
struct EditJson<'a> {
    path: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    text: &'a str,
}

/// What an array holds.
#[derive(Serialize)]
struct ContentsJson<'a> {
    array: &'a str,
    elements: Vec<ElementJson>,
}

/// An element, or some bytes of one from the byte `byte` on.
#[derive(Serialize)]
struct ElementJson {
    index: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u32>,
    value: i128,
}

/// Either the file with its lines, or why there is none.
#[derive(Serialize)]
struct ReproductionJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
}

#[derive(Serialize)]
struct Primary {
    path: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    access: &'static str,
}

#[derive(Serialize)]
struct Secondary {
    path: String,
    line: u32,
    column: u32,
    access: &'static str,
}

#[derive(Serialize)]
struct Reason<'a> {
    kind: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct Witness<'a> {
    block_dim: [u32; 3],
    grid_dim: [u32; 3],
    threads: Vec<Thread<'a>>,
    params: Values<'a>,
    byte_offset: Option<i128>,
}

#[derive(Serialize)]
struct Thread<'a> {
    block: [u32; 3],
    #[serde(rename = "thread")]
    id: [u32; 3],
    locals: Values<'a>,
}

#[derive(Serialize)]
struct UnknownJson<'a> {
    line: u32,
    /// Further lines of which the same is to be said; only there if there are some.
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    also: &'a [u32],
    reason: &'a str,
}

#[derive(Default, Serialize, Deserialize)]
pub(in crate::diagnostic) struct SummaryJson {
    files: usize,
    kernels: usize,
    race_free: usize,
    racy: usize,
    possibly_racy: usize,
    unknown: usize,
    /// Findings that nobody wants to be told of; only there if there are some.
    #[serde(default, skip_serializing_if = "SuppressedCounts::is_empty")]
    suppressed: SuppressedCounts,
}

/// How many findings nobody wants to be told of, by who does not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SuppressedCounts {
    comment: usize,
    baseline: usize,
    settings: usize,
}

impl SuppressedCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn of(counts: HiddenCounts) -> Self {
        SuppressedCounts { comment: counts.comments, baseline: counts.baseline, settings: counts.settings }
    }

    fn and(self, other: Self) -> Self {
        SuppressedCounts {
            comment: self.comment + other.comment,
            baseline: self.baseline + other.baseline,
            settings: self.settings + other.settings,
        }
    }
}

/// Named values as an object in their order. A name that occurs again is written with a number (`i#2`), since
/// an object must not repeat a key.
struct Values<'a>(&'a [(String, i128)]);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().enumerate().map(|(at, (name, value))| {
            let earlier = self.0[..at].iter().filter(|(other, _)| other == name).count();
            let key = if earlier == 0 { name.clone() } else { format!("{name}#{}", earlier + 1) };
            (key, value)
        }))
    }
}

impl SummaryJson {
    fn of(report: &Report) -> SummaryJson {
        let counts = report.summary();
        SummaryJson {
            files: counts.files,
            kernels: counts.kernels,
            race_free: counts.race_free,
            racy: counts.racy,
            possibly_racy: counts.possibly_racy,
            unknown: counts.unknown,
            suppressed: SuppressedCounts::of(report.hidden()),
        }
    }

    /// The counts of both.
    pub(in crate::diagnostic) fn and(self, other: &SummaryJson) -> SummaryJson {
        SummaryJson {
            files: self.files + other.files,
            kernels: self.kernels + other.kernels,
            race_free: self.race_free + other.race_free,
            racy: self.racy + other.racy,
            possibly_racy: self.possibly_racy + other.possibly_racy,
            unknown: self.unknown + other.unknown,
            suppressed: self.suppressed.and(other.suppressed),
        }
    }
}

impl<'a> Check<'a> {
    fn of(report: &'a Report) -> Self {
        Check {
            schema: SCHEMA,
            files: report.files.iter().map(File::of).collect(),
            summary: SummaryJson::of(report),
            shard: None,
        }
    }
}

impl<'a> File<'a> {
    fn of(file: &'a FileReport) -> Self {
        let sources = &file.sources;
        File {
            path: file.path.to_string_lossy().into_owned(),
            front: file.front.name(),
            parse: file.parse.name(),
            stages: file.spent.stages().map(StageJson::of).collect(),
            kernels: file.kernels.iter().map(|kernel| Kernel::of(kernel, file)).collect(),
            findings: {
                let findings = file.diagnostics.iter().filter(|it| it.is_finding());
                findings.map(|it| FileFindingJson::of(it, sources)).collect()
            },
            suppressed: {
                let hidden = file.diagnostics.iter().filter_map(|it| Some((it.hidden.as_ref()?, it)));
                let of = |(hidden, it)| SuppressedJson::of(hidden, FileFindingJson::of(it, sources), sources);
                hidden.map(of).collect()
            },
        }
    }
}

impl<'a> Kernel<'a> {
    fn of(kernel: &'a KernelReport, file: &FileReport) -> Self {
        let sources = &file.sources;
        Kernel {
            name: &kernel.name,
            line: kernel.line,
            path: kernel.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            front: (kernel.front != file.front).then(|| kernel.front.name()),
            template_args: &kernel.template_args,
            race: kernel.race.name(),
            divergence: kernel.divergence.name(),
            scope: kernel.scope.as_ref().map(|scope| scope.kind.name()),
            deterministic: kernel.determinism == Determinism::Deterministic,
            access_invariant: kernel.deciding.access_invariant,
            integrity_inputs: &kernel.deciding.inputs,
            assumptions: AssumptionsJson::of(kernel),
            spent: SpentJson::of(&kernel.spent),
            contract: kernel.contract.as_ref().map(|contract| ContractJson::of(contract, sources)),
            findings: kernel.told().map(|finding| FindingJson::of(finding, kernel, sources)).collect(),
            not_told: NotToldJson {
                repeats: kernel
                    .findings
                    .iter()
                    .filter_map(|finding| RepeatJson::of(finding, kernel, sources))
                    .collect(),
                suppressed: {
                    let hidden = kernel.findings.iter().filter_map(|it| Some((it.telling.hidden.as_ref()?, it)));
                    let of = |(hidden, it)| SuppressedJson::of(hidden, FindingJson::of(it, kernel, sources), sources);
                    hidden.map(of).collect()
                },
            },
            unknowns: kernel.unknowns.iter().map(|u| UnknownJson::of(u)).collect(),
        }
    }
}

impl<'a> ContractJson<'a> {
    fn of(contract: &'a report::Contract, sources: &SourceMap) -> Self {
        ContractJson {
            contract: contract.conjuncts.iter().map(ConjunctJson::of).collect(),
            contract_plausible: contract.is_plausible,
            contract_assumptions: contract.assumptions.iter().map(|assumption| assumption.text.as_str()).collect(),
            contract_stated: contract.stated.as_ref().map(ToString::to_string),
            launches: contract.launches.iter().map(|launch| LaunchJson::of(launch, sources)).collect(),
        }
    }
}

impl<'a> ConjunctJson<'a> {
    fn of(conjunct: &'a report::Conjunct) -> Self {
        let necessary = conjunct.necessary.as_ref().map(Witness::of);
        ConjunctJson { text: &conjunct.text, kind: conjunct.kind.name(), necessary }
    }
}

impl<'a> LaunchJson<'a> {
    fn of(launch: &'a report::CheckedLaunch, sources: &SourceMap) -> Self {
        LaunchJson {
            path: path_of(sources, launch.span),
            line: sources.start_position(launch.span).line,
            contract: launch.keeping.name(),
            missing: launch.missing.iter().map(String::as_str).collect(),
        }
    }
}

impl<'a> UnknownJson<'a> {
    fn of(unknown: &'a report::Unknown) -> Self {
        UnknownJson { line: unknown.line, also: &unknown.also, reason: &unknown.reason }
    }
}

/// What is assumed.
#[derive(Serialize)]
struct AssumptionsJson<'a> {
    assumptions: Vec<&'a str>,
    /// Those of kinds of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<AssumedJson<'a>>,
}

impl<'a> AssumptionsJson<'a> {
    fn of(kernel: &'a KernelReport) -> Self {
        let assumed = kernel.assumptions.iter().filter_map(AssumedJson::of).collect();
        AssumptionsJson { assumptions: assumptions(kernel), assumed }
    }
}

/// An assumption that is of a kind of its own.
#[derive(Serialize)]
struct AssumedJson<'a> {
    kind: &'static str,
    text: &'a str,
}

impl<'a> AssumedJson<'a> {
    fn of(assumption: &'a report::Assumption) -> Option<Self> {
        (assumption.kind == AssumptionKind::External).then(|| AssumedJson { kind: "external", text: &assumption.text })
    }
}

/// What the scope fixes is assumed, too: a program that only reads `assumptions` must not miss it.
fn assumptions(kernel: &KernelReport) -> Vec<&str> {
    let fixes = kernel.scope.iter().flat_map(|scope| &scope.fixes);
    let others = kernel.assumptions.iter().filter(|assumption| assumption.kind != AssumptionKind::DimensionIsOne);
    fixes.map(String::as_str).chain(others.map(|assumption| assumption.text.as_str())).collect()
}

impl<'a> FindingJson<'a> {
    fn of(finding: &'a Finding, kernel: &KernelReport, sources: &SourceMap) -> Self {
        FindingJson {
            rule: finding.rule.name(),
            certainty: finding.certainty.name(),
            level: finding.level.name(),
            array: finding.array.as_deref(),
            message: &finding.message,
            primary: Primary::of(finding.primary, sources),
            secondary: finding.secondary.map(|place| Secondary::of(place, sources)),
            reasons: finding.reasons.iter().map(|reason| Reason::of(reason, kernel, sources)).collect(),
            witness: finding.witness.as_ref().map(Witness::of),
            launch: finding.launch.as_ref().map(|launch| BreakingJson::of(launch, sources)),
            contents: finding.contents.iter().map(ContentsJson::of).collect(),
            reproduction: finding.reproduction.as_ref().map(ReproductionJson::of),
            fix: finding.fix.as_ref().map(|fix| FixJson::of(fix, sources)),
            also_in: match &finding.telling.same {
                Same::Also(instances) => instances.iter().map(InstanceJson::of).collect(),
                Same::Nowhere | Same::Told(_) => Vec::new(),
            },
            related: finding.related.iter().map(|it| FindingJson::of(it, kernel, sources)).collect(),
        }
    }
}

impl<'a> BreakingJson<'a> {
    fn of(launch: &'a report::BreakingLaunch, sources: &SourceMap) -> Self {
        let line = sources.start_position(launch.span).line;
        BreakingJson { path: path_of(sources, launch.span), line, breaks: &launch.breaks }
    }
}

impl<'a> FileFindingJson<'a> {
    fn of(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Self {
        FileFindingJson {
            rule: diagnostic.rule.name(),
            severity: diagnostic.severity.name(),
            message: &diagnostic.message,
            primary: RangeJson::of(diagnostic.primary.span, sources),
            fix: diagnostic.fix.as_ref().map(|fix| FixJson::of(fix, sources)),
        }
    }
}

impl<'a, T> SuppressedJson<'a, T> {
    fn of(hidden: &'a Hidden, finding: T, sources: &SourceMap) -> Self {
        let place = match hidden {
            Hidden::Comment { span, .. } => Some(RangeJson::of(*span, sources)),
            Hidden::Baseline { .. } | Hidden::Settings { .. } => None,
        };
        SuppressedJson { suppression: SuppressionJson { by: hidden.name(), place, reason: hidden.reason() }, finding }
    }
}

impl RangeJson {
    fn of(span: Span, sources: &SourceMap) -> Self {
        let (start, end) = (sources.start_position(span), sources.end_position(span));
        RangeJson {
            path: path_of(sources, span),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl<'a> RepeatJson<'a> {
    fn of(finding: &'a Finding, kernel: &KernelReport, sources: &SourceMap) -> Option<Self> {
        let Same::Told(told) = &finding.telling.same else { return None };
        Some(RepeatJson { of: InstanceJson::of(told), finding: FindingJson::of(finding, kernel, sources) })
    }
}

impl<'a> InstanceJson<'a> {
    pub(in crate::diagnostic) fn of(instance: &'a Instance) -> Self {
        InstanceJson {
            path: instance.path.to_string_lossy().into_owned(),
            kernel: &instance.kernel,
            line: instance.line,
        }
    }
}

impl<'a> FixJson<'a> {
    fn of(fix: &'a report::Fix, sources: &SourceMap) -> Self {
        let edit = |edit: &'a report::FixEdit| {
            let (start, end) = (sources.start_position(edit.span), sources.end_position(edit.span));
            EditJson {
                path: path_of(sources, edit.span),
                line: start.line,
                column: start.column,
                end_line: end.line,
                end_column: end.column,
                text: &edit.text,
            }
        };
        FixJson { message: &fix.message, edits: fix.edits.iter().map(edit).collect() }
    }
}

impl<'a> ContentsJson<'a> {
    fn of(contents: &'a report::ArrayContents) -> Self {
        let element = |element: &report::ElementContents| ElementJson {
            index: element.index,
            byte: element.part.map(|[first, _]| first),
            bytes: element.part.map(|[_, bytes]| bytes),
            value: element.value,
        };
        ContentsJson { array: &contents.array, elements: contents.elements.iter().map(element).collect() }
    }
}

/// Contents alone, for other formats that hold JSON.
pub(super) fn contents(contents: &[report::ArrayContents]) -> Option<serde_json::Value> {
    let each: Vec<ContentsJson<'_>> = contents.iter().map(ContentsJson::of).collect();
    if each.is_empty() { None } else { serde_json::to_value(each).ok() }
}

impl<'a> ReproductionJson<'a> {
    fn of(reproduction: &'a report::Reproduction) -> Self {
        match reproduction {
            report::Reproduction::Written { path, lines } => {
                let path = Some(path.to_string_lossy().into_owned());
                ReproductionJson { path, lines: Some(*lines), refused: None }
            }
            report::Reproduction::Refused(reason) => {
                ReproductionJson { path: None, lines: None, refused: Some(reason) }
            }
        }
    }
}

impl Primary {
    fn of(place: Place, sources: &SourceMap) -> Self {
        let (start, end) = (sources.start_position(place.span), sources.end_position(place.span));
        Primary {
            path: path_of(sources, place.span),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            access: place.access.name(),
        }
    }
}

impl Secondary {
    fn of(place: Place, sources: &SourceMap) -> Self {
        let start = sources.start_position(place.span);
        Secondary {
            path: path_of(sources, place.span),
            line: start.line,
            column: start.column,
            access: place.access.name(),
        }
    }
}

impl<'a> Reason<'a> {
    fn of(reason: &'a report::FindingReason, kernel: &KernelReport, sources: &SourceMap) -> Self {
        let line = reason.span.map_or(kernel.line, |span| sources.start_position(span).line);
        Reason { kind: &reason.kind, line }
    }
}

impl<'a> Witness<'a> {
    fn of(witness: &'a report::WitnessReport) -> Self {
        Witness {
            block_dim: witness.block_dim,
            grid_dim: witness.grid_dim,
            threads: witness.threads.iter().map(Thread::of).collect(),
            params: Values(&witness.params),
            byte_offset: witness.byte_offset,
        }
    }
}

/// A witness alone, for other formats that hold JSON.
pub(super) fn witness(witness: &report::WitnessReport) -> Option<serde_json::Value> {
    serde_json::to_value(Witness::of(witness)).ok()
}

impl<'a> Thread<'a> {
    fn of(thread: &'a report::WitnessThread) -> Self {
        Thread { block: thread.block, id: thread.thread, locals: Values(&thread.locals) }
    }
}

fn path_of(sources: &SourceMap, span: Span) -> String {
    sources.file(sources.visible(span).file).path.to_string_lossy().into_owned()
}
