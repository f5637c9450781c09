//! Mutants of which a proof says what a test would have to find out.
//!
//! - **Racy**: the mutant's text is checked like any other. Where a kernel is proved to race, or its barriers to diverge, and is
//!   free of that without the change, no test of values need find it: the checker does.
//! - **Equivalent, by order**: a barrier or a fence is missing, moved or weaker, and the kernels are proved free of races,
//!   uniform and deterministic with and without the change. Then every read sees the write that it saw: in a program without races the
//!   writes before a read are ordered, and the change takes orders away and adds none.
//! - **Equivalent, by value**: what an expression gives does not change. That is put into the text as a claim before the
//!   statement of the expression, and proved like any other claim; that it is understood, and threads come there at all, is
//!   shown by the opposite claim, which must not hold.
//!
//! Guarantees: what is not proved is tried. Proofs are of the launches that a check is about: those of the program where they are found, else
//! all, and for an OpenCL program all along the axes along which its launches have extents. A proof takes nothing for granted that the program's own does not, and is of no contract that a launch need not keep.
//!
//! Deliberately absent: files that are included; functions that kernels call, of whose place in a kernel nothing is said, as
//! to values.

use super::candidate::{bytes, edited};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Determinism, Divergence, FileReport, KernelReport, Race, ScopeKind};
use crate::driver::front::FrontEnd;
use crate::driver::instrument::InstrumentedFile;
use crate::driver::options::{Evidence, Fixes, Hints, Settings, Timings, Workload};
use crate::driver::{Options, check_source};
use crate::instrument::mutant::{self, Claim, ClaimPlace, Edit};
use crate::mutation::{Mutant, Status};
use crate::source::Span;
use std::path::PathBuf;

/// Work beyond which nothing more is proved of the mutants of one file, counted as `--timings` counts it: about a minute's.
/// Mutants of which nothing is proved are tried.
const MOST_WORK: u64 = 600_000_000;

/// Who proves something of the mutants of one file.
pub(super) struct Prover {
    path: PathBuf,
    text: String,
    options: Options,
    /// The report of the program itself.
    original: FileReport,
    /// Work that was done so far.
    spent: u64,
}

impl Prover {
    /// For a file of the program; nothing if no kernel of it is proved anything.
    pub(super) fn new(instrumented: &InstrumentedFile, options: &Options) -> Option<Prover> {
        let (_, main) = instrumented.sources.files().next()?;
        let judging = Settings { solver: None, ..options.judging.clone() };
        let options = Options {
            front: FrontEnd::TreeSitter,
            hints: Hints::Omit,
            fixes: Fixes::Omit,
            evidence: Evidence::default(),
            workload: Workload { timings: Timings::Measure, ..options.workload.clone() },
            judging,
            ..options.clone()
        };
        let (path, text) = (main.path.clone(), main.text.to_string());
        let original = check_source(&path, &text, &options).report;
        original.kernels.iter().any(is_proved).then_some(Prover { path, text, options, original, spent: 0 })
    }

    /// What is proved of a mutant, and how.
    pub(super) fn settled(&mut self, mutant: &Mutant, of_unit: &mutant::Mutant) -> Option<(Status, String)> {
        // The prover has the text of one file.
        if self.path.display().to_string() != mutant.file || self.spent > MOST_WORK {
            return None;
        }
        let report = self.report_with(&of_unit.edits);
        if let Some(reason) = self.new_defect(&report) {
            return Some((Status::Racy, reason));
        }
        if mutant.operator.only_orders() {
            let reason = self.still_ordered(&report, &mutant.function)?;
            return Some((Status::Equivalent, reason));
        }
        let claim = of_unit.claim.as_ref()?;
        let reason = self.same_value(claim, of_unit.span, &mutant.function)?;
        Some((Status::Equivalent, reason))
    }

    fn report_with(&mut self, edits: &[Edit]) -> FileReport {
        let report = check_source(&self.path, &edited(&self.text, edits), &self.options).report;
        self.spent += report.spent.all().units;
        report
    }

    /// A race or a divergence that is proved, of a kernel that has none without the change.
    fn new_defect(&self, report: &FileReport) -> Option<String> {
        let both = report.kernels.iter().filter_map(|kernel| Some((kernel, self.unchanged(kernel)?)));
        for (kernel, before) in both {
            let races = before.race == Race::RaceFree && kernel.race == Race::Racy;
            let diverges = before.divergence == Divergence::Uniform && kernel.divergence == Divergence::Divergent;
            let finding = kernel.each_finding().find(|finding| {
                finding.certainty == Certainty::Proved
                    && match finding.rule {
                        RuleId::BarrierDivergence => diverges,
                        RuleId::DataRace | RuleId::WarpSynchronous => races,
                        _ => false,
                    }
            });
            if let Some(finding) = finding {
                return Some(format!("{}: {}", kernel.name, finding.message));
            }
        }
        None
    }

    /// The report of the same kernel without the change.
    fn unchanged(&self, kernel: &KernelReport) -> Option<&KernelReport> {
        let is_same = |other: &&KernelReport| other.name == kernel.name && other.template_args == kernel.template_args;
        let mut same = self.original.kernels.iter().filter(is_same);
        same.next().filter(|_| same.next().is_none())
    }

    /// The kernels that a function is, or may be part of.
    fn concerned<'r>(&self, report: &'r FileReport, function: &str) -> Vec<&'r KernelReport> {
        let is_kernel = self.original.kernels.iter().any(|kernel| kernel.name == function);
        report.kernels.iter().filter(|kernel| !is_kernel || kernel.name == function).collect()
    }

    /// Whether the kernels are proved with the change as they are without it.
    fn still_ordered(&self, report: &FileReport, function: &str) -> Option<String> {
        let concerned = self.concerned(report, function);
        let is_settled = |kernel: &&KernelReport| {
            let is_repeatable_before = self.unchanged(kernel).is_some_and(is_repeatable);
            self.is_proved_alike(kernel) && is_repeatable_before && is_repeatable(kernel)
        };
        let is_whole = concerned.len() == self.concerned(&self.original, function).len();
        (!concerned.is_empty() && is_whole && concerned.iter().all(is_settled)).then(|| {
            let names: Vec<&str> = concerned.iter().map(|kernel| kernel.name.as_str()).collect();
            format!("{} proved free of races with the change, too{}", names.join(", "), assuming(&concerned))
        })
    }

    /// Whether an expression is proved to give the same.
    fn same_value(&mut self, claim: &Claim, span: Span, function: &str) -> Option<String> {
        let is_free = |kernel: &KernelReport| kernel.name == function && is_proved(kernel);
        if !self.original.kernels.iter().any(is_free) || !self.is_proved_of(claim, function)? {
            return None;
        }
        // Where nobody comes, everything holds; so does a claim that was left out since it reads memory.
        let opposite = Claim { condition: format!("!({})", claim.condition), place: claim.place.clone() };
        if self.is_proved_of(&opposite, function)? {
            return None;
        }
        let report = self.report_with(&inserted(claim));
        let concerned = self.concerned(&report, function);
        if !concerned.iter().all(|kernel| self.is_proved_alike(kernel)) {
            return None;
        }
        let assumptions = assuming(&concerned);
        let text = self.text.get(bytes(span)).unwrap_or_default();
        Some(format!("`{text}` is proved to give the same: {}{assumptions}", claim.condition))
    }

    /// Whether a kernel is proved, as it is without the change, and from nothing more.
    fn is_proved_alike(&self, kernel: &KernelReport) -> bool {
        let is_new = |before: &KernelReport, text: &str| before.assumptions.iter().all(|known| known.text != text);
        self.unchanged(kernel).is_some_and(|before| {
            is_proved(kernel)
                && is_proved(before)
                && kernel.assumptions.iter().all(|assumption| !is_new(before, &assumption.text))
        })
    }

    /// Whether a claim is proved of the kernel of that name; nothing if the kernel is not decided with it.
    fn is_proved_of(&mut self, claim: &Claim, function: &str) -> Option<bool> {
        let report = self.report_with(&inserted(claim));
        let kernels: Vec<&KernelReport> = report.kernels.iter().filter(|kernel| kernel.name == function).collect();
        let is_refuted =
            |kernel: &&KernelReport| kernel.each_finding().any(|finding| matches!(finding.rule, RuleId::Assertion));
        if kernels.is_empty() || kernels.iter().any(|kernel| kernel.race == Race::Unknown) {
            return None;
        }
        Some(!kernels.iter().any(is_refuted) && kernels.iter().all(|kernel| kernel.unknowns.is_empty()))
    }
}

/// The text that makes a claim.
fn inserted(claim: &Claim) -> Vec<Edit> {
    let at = |span: Span, byte: u32| Span::new(span.file, byte as usize, byte as usize);
    let put = |span: Span, byte: u32, text: String| Edit { span: at(span, byte), text };
    let condition = &claim.condition;
    match &claim.place {
        ClaimPlace::Before(span) => vec![put(*span, span.start, format!("__assert({condition}); "))],
        ClaimPlace::Around(span) => {
            vec![put(*span, span.start, format!("{{ __assert({condition}); ")), put(*span, span.end, " }".to_owned())]
        }
        ClaimPlace::Test(span) => vec![put(*span, span.start, format!("__invariant({condition}), "))],
    }
}

/// Whether a kernel is proved to be free of races and divergence, and nothing is open about it, nor about its launches.
fn is_proved(kernel: &KernelReport) -> bool {
    let is_of_launches = kernel.scope.as_ref().is_some_and(|scope| scope.kind != ScopeKind::Contract);
    let is_free = kernel.race == Race::RaceFree && kernel.divergence == Divergence::Uniform;
    is_free && is_of_launches && kernel.unknowns.is_empty()
}

/// Whether every schedule gives the same.
fn is_repeatable(kernel: &KernelReport) -> bool {
    kernel.determinism == Determinism::Deterministic
}

/// What the proofs of kernels take for granted.
fn assuming(kernels: &[&KernelReport]) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for assumption in kernels.iter().flat_map(|kernel| &kernel.assumptions) {
        if !texts.contains(&assumption.text.as_str()) {
            texts.push(&assumption.text);
        }
    }
    if texts.is_empty() { String::new() } else { format!("; assuming {}", texts.join("; ")) }
}
