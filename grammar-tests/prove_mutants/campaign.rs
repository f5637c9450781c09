//! Mutants of proved kernels, judged again, and what was still proved of them enumerated.
//!
//! A mutant that is not proved any more is *found*: somebody would have been told. One that is must be free in fact:
//! its derivations are replayed by their checker on the way, and [`oracle`] looks for a conflict. Nothing here
//! decides what a mutant ought to give; only a proof that is refuted is wrong.

use super::handed::locks;
use super::mutation::{Class, Dice, index_mutant};
use super::oracle::{self, Claim, Shown};
use raceproof::calculus::barriers::{barriers, without};
use raceproof::calculus::{Kernel, text};
use raceproof::diagnostic::report::{Assumption, AssumptionKind, Determinism, Divergence, KernelReport, Race};
use raceproof::driver::Options;
use raceproof::driver::isolate::Panic;
use raceproof::driver::options::{Proofs, Settings};
use raceproof::driver::subjects::{Judged, Subject, Subjects};
use raceproof::memory_model::clocks::Receiving;
use raceproof::source::{Language, SourceMap, Span};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Whoever judges a kernel: raceproof, or in a test of this test somebody who is easily content.
pub(crate) type Judge<'j> = &'j (dyn Fn(Subject<'_>, Kernel, &Options) -> Result<Judged, Panic> + Sync);

/// What was judged.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// The kernel as it is.
    Unchanged,
    /// The kernel without the barrier at the place.
    Barrier,
    /// The kernel with an index changed.
    Index(Class, String),
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It is not proved: the verdict in words.
    Found(&'static str),
    /// It is proved, for these launches; what runs say to that, and what else changed.
    Proved { scope: String, shown: Shown, remark: String },
    /// raceproof fails on it, or its checker rejects a derivation.
    Failed(String),
}

/// One line of the result.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// File and line.
    pub(crate) place: String,
    /// The kernel.
    pub(crate) kernel: String,
    pub(crate) what: What,
    pub(crate) outcome: Outcome,
}

impl Row {
    /// Whether it shows a bug in raceproof.
    pub(crate) fn is_wrong(&self) -> bool {
        match &self.outcome {
            Outcome::Found(_) => false,
            Outcome::Proved { shown, .. } => matches!(shown, Shown::Refutation(_)),
            Outcome::Failed(_) => true,
        }
    }
}

/// A kernel that is proved free of races and uniform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proved {
    /// Its position among the kernels of its file.
    pub(crate) position: usize,
    /// Of what it is but for its name and place.
    pub(crate) hash: u64,
    pub(crate) has_barriers: bool,
    pub(crate) has_indices: bool,
}

/// The options of a check, with every derivation replayed and no solver, which gives none.
pub(crate) fn strict(options: Options) -> Options {
    let judging = Settings { proofs: Proofs::Recheck, solver: None, ..options.judging };
    Options { judging, ..options }
}

/// The raceproof that is tested.
pub(crate) fn raceproof(subject: Subject<'_>, kernel: Kernel, options: &Options) -> Result<Judged, Panic> {
    subject.judge(kernel, options)
}

/// The proved kernels of a file, and how many it has.
pub(crate) fn proved(path: &Path, text: &str, options: &Options) -> (Vec<Proved>, usize) {
    let Ok(subjects) = Subjects::read(path, text, options) else { return (Vec::new(), 0) };
    let (mut found, mut kernels) = (Vec::new(), 0);
    for (position, subject) in subjects.selected(options).enumerate() {
        kernels += 1;
        let Ok(kernel) = subject.lower(options) else { continue };
        let Ok(judged) = subject.judge(kernel.clone(), options) else { continue };
        if finding(&judged.report).is_some() {
            continue;
        }
        let has_indices = index_mutant(&kernel, &mut Dice(0)).is_some();
        found.push(Proved { position, hash: hash(&kernel), has_barriers: !barriers(&kernel).is_empty(), has_indices });
    }
    (found, kernels)
}

fn hash(kernel: &Kernel) -> u64 {
    let nameless = Kernel { name: String::new(), template_args: Vec::new(), ..kernel.clone() };
    let mut hasher = DefaultHasher::new();
    text::print(&nameless).hash(&mut hasher);
    hasher.finish()
}

/// A kernel of a file that was read, and all that judging it takes.
pub(crate) struct Trial<'a> {
    subject: Subject<'a>,
    sources: &'a SourceMap,
    language: Language,
    options: &'a Options,
    judge: Judge<'a>,
    kernel: Kernel,
    before: Judged,
    seed: u64,
}

impl<'a> Trial<'a> {
    /// The kernel at a position of a file; `None` if it is not proved as it is.
    pub(crate) fn new(
        subjects: &'a Subjects,
        position: usize,
        options: &'a Options,
        judge: Judge<'a>,
        seed: u64,
    ) -> Option<Trial<'a>> {
        let subject = subjects.selected(options).nth(position)?;
        let kernel = subject.lower(options).ok()?;
        let before = subject.judge(kernel.clone(), options).ok()?;
        let seed = seed ^ hash(&kernel);
        let (sources, language) = (subjects.sources(), subjects.written_in());
        finding(&before.report).is_none().then_some(Trial {
            subject,
            sources,
            language,
            options,
            judge,
            kernel,
            before,
            seed,
        })
    }

    /// The kernel as it is, enumerated.
    pub(crate) fn unchanged(&self) -> Row {
        self.row(What::Unchanged, None, &self.kernel)
    }

    /// Each barrier taken out in turn.
    pub(crate) fn without_barriers(&self) -> Vec<Row> {
        barriers(&self.kernel)
            .iter()
            .map(|barrier| {
                let place = barrier.span.or(barrier.inlined.last().copied());
                self.row(What::Barrier, place, &without(&self.kernel, [barrier]))
            })
            .collect()
    }

    /// One index changed; the round makes it another one.
    pub(crate) fn with_an_index_changed(&self, round: u64) -> Option<Row> {
        let mutant = index_mutant(&self.kernel, &mut Dice(self.seed.wrapping_add(round)))?;
        Some(self.row(What::Index(mutant.class, mutant.change), mutant.span, &mutant.kernel))
    }

    fn row(&self, what: What, span: Option<Span>, kernel: &Kernel) -> Row {
        let line = span.map_or_else(
            || (self.sources.files().next(), self.before.report.line),
            |span| {
                let file = self.sources.visible(span).file;
                (Some((file, self.sources.file(file))), self.sources.start_position(span).line)
            },
        );
        let path = line.0.map(|(_, file)| file.path.display().to_string()).unwrap_or_default();
        let place = format!("{path}:{}", line.1);
        Row { place, kernel: self.kernel.name.clone(), what, outcome: self.outcome(kernel) }
    }

    fn outcome(&self, kernel: &Kernel) -> Outcome {
        let judged = match (self.judge)(self.subject, kernel.clone(), self.options) {
            Ok(judged) => judged,
            Err(panic) => return Outcome::Failed(panic.to_string()),
        };
        let rejected = judged.report.unknowns.iter().find(|unknown| unknown.reason.contains("bug in raceproof"));
        if let Some(rejected) = rejected {
            return Outcome::Failed(rejected.reason.clone());
        }
        if let Some(word) = finding(&judged.report) {
            return Outcome::Found(word);
        }
        let assumes_no_wrap = |report: &KernelReport| {
            report.assumptions.iter().any(|assumption| assumption.kind == AssumptionKind::NoUnsignedWrap)
        };
        let claim = Claim {
            scopes: &judged.scopes,
            levels: self.options.judging.levels,
            no_wrap: assumes_no_wrap(&judged.report),
            returned_counts: self.language == Language::OpenCl,
            counters: [counters(&judged.report), locks(kernel)].concat(),
            receiving: receiving(&judged.report),
        };
        let shown = oracle::enumerate(kernel, &claim, &mut Dice(self.seed));
        let scope = judged.report.scope.as_ref().map_or("nothing", |scope| scope.kind.name()).to_owned();
        Outcome::Proved { scope, shown, remark: self.remark(&judged) }
    }

    /// What a change costs besides: without a barrier results of atomics may come in another order.
    fn remark(&self, after: &Judged) -> String {
        match (&self.before.report.determinism, &after.report.determinism) {
            (Determinism::Deterministic, Determinism::NotShown(why)) => format!("no longer deterministic: {why}"),
            (Determinism::NotShown(why), _) => format!("not shown to be deterministic: {why}"),
            _ => String::new(),
        }
    }
}

/// What a verdict says against a kernel; `None` if it is proved free of races and uniform.
fn finding(report: &KernelReport) -> Option<&'static str> {
    Some(match (report.race, report.divergence) {
        (Race::RaceFree, Divergence::Uniform) => return None,
        (Race::Racy, _) => "racy",
        (_, Divergence::Divergent) => "divergent",
        (Race::PossiblyRacy, _) => "possibly racy",
        (_, Divergence::PossiblyDivergent) => "possibly divergent",
        (Race::Unknown, _) => "unknown",
        (_, Divergence::Unknown) => "divergence unknown",
    })
}

/// The counters that a proof takes to be 0 at the start.
fn counters(report: &KernelReport) -> Vec<String> {
    let name = |text: &str| text.strip_suffix(" is 0 when the kernel starts").map(str::to_owned);
    report.assumptions.iter().filter_map(|assumption| name(&assumption.text)).collect()
}

/// Whether a proof takes what is handed over to be seen.
fn receiving(report: &KernelReport) -> Receiving {
    let assumes = |assumption: &Assumption| assumption.text.contains("without a fence after the draw");
    if report.assumptions.iter().any(assumes) { Receiving::Always } else { Receiving::InOrder }
}
