//! Contracts around a check: those that a file states ([`file`]), and those that launches seen by raceproof leave untold.
//!
//! A kernel of which a contract is stated is judged under it, whatever its launches say, and these are held against it
//! ([`check_under`]). For a table of contracts, a kernel that is only proved for the launches that were found is judged for
//! all, too ([`infer`]).
//!
//! Guarantees: a stated contract that does not fit its kernel is told, and no verdict relies on it. Deliberately absent: how
//! kernels are judged under conditions ([`judge::contract`]), and how tables look.

pub mod file;

use super::{Options, passes, reported};
use crate::calculus::Kernel;
use crate::check::broken_contract::{self, StatedOf};
use crate::diagnostic::report::{
    Certainty, CheckedLaunch, FileReport, Finding, Keeping, KernelReport, Race, Report, ScopeKind, StatedAt, Unknown,
};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::judge::contract::{Subject, Terms, Under, Unfit, judge_under, that_numbers_fit};
use crate::judge::judge;
use crate::launch::{self, Facts, Launched};
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Program};
use crate::source::Span;
use file::{Entry, Place, Unreadable};
use std::path::{Path, PathBuf};

/// What a file states of kernels.
#[derive(Clone, Debug)]
pub struct StatedContracts {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// Why a file of contracts is not used.
#[derive(Debug, thiserror::Error)]
pub enum ContractsError {
    /// The system did not give it.
    #[error("cannot read {}: {cause}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Lines of it cannot be read.
    #[error("{}", told(path, unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The lines.
        unreadable: Vec<Unreadable>,
    },
}

/// `a.txt:3: …; a.txt:7: …`
fn told(path: &Path, unreadable: &[Unreadable]) -> String {
    let lines = unreadable.iter().map(|it| format!("{}:{}: {}", path.display(), it.line, it.cause));
    lines.collect::<Vec<_>>().join("; ")
}

/// A kernel, as contracts name it.
struct Named {
    /// The file of its name, and the one that was checked: absolute paths.
    own: PathBuf,
    unit: PathBuf,
    name: String,
    instance: String,
    /// Which of its file's kernels of that instance it is, from 1.
    overload: usize,
}

impl StatedContracts {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<StatedContracts, ContractsError> {
        let unread = |cause| ContractsError::Unread { path: path.to_path_buf(), cause };
        let text = std::fs::read(path).map_err(unread)?;
        StatedContracts::of_text(path, &String::from_utf8_lossy(&text))
    }

    /// Reads the text of a file that stands at `path`.
    pub fn of_text(path: &Path, text: &str) -> Result<StatedContracts, ContractsError> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let unreadable = |unreadable| ContractsError::Unreadable { path: path.to_path_buf(), unreadable };
        let entries = file::read(text, directory).map_err(unreadable)?;
        Ok(StatedContracts { path: path.to_path_buf(), entries })
    }

    /// What is stated of a kernel; what names it most exactly counts.
    fn entry(&self, kernel: &Named) -> Option<&Entry> {
        let ranked = self.entries.iter().filter_map(|entry| Some((rank(entry, kernel)?, entry)));
        // Of equals the first: `max_by_key` takes the last.
        ranked.rev().max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
    }

    fn of(&self, program: &Program, function: FunctionId) -> Option<&Entry> {
        let kernel = named(program, function)?;
        self.entry(&kernel)
    }

    fn at(&self, entry: &Entry) -> StatedAt {
        StatedAt { path: self.path.clone(), line: entry.line }
    }

    /// What is stated of kernels that a run did not meet: a line for each that stands in a file that was checked or is not
    /// there, and the number of the others.
    pub fn unmet(&self, report: &Report) -> (Vec<String>, usize) {
        let kernels: Vec<Named> = report.files.iter().flat_map(|file| kernels_of(file)).collect();
        let checked: Vec<PathBuf> = report.files.iter().map(|file| absolute(&file.path)).collect();
        let is_met = |entry: &&Entry| {
            kernels.iter().any(|kernel| self.entry(kernel).is_some_and(|other| other.line == entry.line))
        };
        let may_be_elsewhere = |entry: &Entry| match &entry.place {
            Place::At(paths) => {
                paths.iter().any(|path| path.is_file()) && !paths.iter().any(|path| checked.contains(path))
            }
            Place::EndsIn(_) => false,
        };
        let unmet: Vec<&Entry> = self.entries.iter().filter(|entry| !is_met(entry)).collect();
        let (elsewhere, gone): (Vec<&Entry>, Vec<&Entry>) =
            unmet.into_iter().partition(|entry| may_be_elsewhere(entry));
        let line = |entry: &Entry| {
            let why = if self.is_shadowed(entry, &kernels) {
                "others name its kernels more exactly"
            } else {
                "there is no such kernel in what was checked"
            };
            format!("{}: {}: {why}", self.at(entry), entry.text)
        };
        (gone.into_iter().map(line).collect(), elsewhere.len())
    }

    fn is_shadowed(&self, entry: &Entry, kernels: &[Named]) -> bool {
        kernels.iter().any(|kernel| rank(entry, kernel).is_some())
    }

    /// Why what is stated of these kernels does not fit them, a line for each.
    pub(super) fn misfits(&self, file: &Launched, kernels: &[FunctionId], options: &Options) -> Vec<String> {
        let misfit = |&function: &FunctionId| {
            let entry = self.of(&file.program, function)?;
            let kernel = passes::lowered_for_any_launch(file, function, options);
            let error = Terms::of(&entry.phrases, &kernel.params).err()?;
            Some(format!("{}: {}: {error}", self.at(entry), entry.text))
        };
        kernels.iter().filter_map(misfit).collect()
    }
}

/// How exactly an entry names a kernel; `None` if it means others.
fn rank(entry: &Entry, kernel: &Named) -> Option<(u8, bool, bool, usize)> {
    let place = match &entry.place {
        // Of a kernel in a header, what is stated of one unit that includes it goes first.
        Place::At(paths) if paths.contains(&kernel.unit) => 2,
        Place::At(paths) if paths.contains(&kernel.own) => 1,
        Place::EndsIn(end) if kernel.own.ends_with(end) || kernel.unit.ends_with(end) => 0,
        _ => return None,
    };
    if entry.overload.is_some_and(|overload| overload != kernel.overload) {
        return None;
    }
    let wanted = squeezed(&entry.kernel);
    let is_named = |name: &str| {
        let name = squeezed(name);
        name == wanted || name.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with("::"))
    };
    let is_instance = entry.kernel.contains('<');
    let is_it = if is_instance { is_named(&kernel.instance) } else { is_named(&kernel.name) };
    is_it.then_some((place, entry.overload.is_some(), is_instance, wanted.len()))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn absolute(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

fn named(program: &Program, function: FunctionId) -> Option<Named> {
    let instance = |function: FunctionId| {
        let function = &program.functions[function];
        match function.template_args.as_slice() {
            [] => function.name.clone(),
            arguments => format!("{}<{}>", function.name, arguments.join(", ")),
        }
    };
    let path = |function: FunctionId| {
        &program.sources.file(program.sources.visible(program.functions[function].span).file).path
    };
    let (_, unit) = program.sources.files().next()?;
    let alike = |&other: &FunctionId| instance(other) == instance(function) && path(other) == path(function);
    let overload = program.kernels.iter().copied().filter(alike).position(|other| other == function)? + 1;
    let name = program.functions[function].name.clone();
    let (own, unit) = (absolute(path(function)), absolute(&unit.path));
    Some(Named { own, unit, name, instance: instance(function), overload })
}

/// The kernels of a report, as contracts name them.
fn kernels_of(file: &FileReport) -> Vec<Named> {
    let path = |kernel: &KernelReport| kernel.path.clone().unwrap_or_else(|| file.path.clone());
    let alike =
        |one: &KernelReport, other: &KernelReport| one.instance() == other.instance() && path(one) == path(other);
    let named = |(at, kernel): (usize, &KernelReport)| Named {
        own: absolute(&path(kernel)),
        unit: absolute(&file.path),
        name: kernel.name.clone(),
        instance: kernel.instance(),
        overload: file.kernels[..=at].iter().filter(|other| alike(other, kernel)).count(),
    };
    file.kernels.iter().enumerate().map(named).collect()
}

/// Judges a kernel under what is stated of it; `None` if nothing is, or it does not fit.
pub(super) fn check_under(file: &Launched, function: FunctionId, options: &Options) -> Option<(KernelReport, Kernel)> {
    let contracts = options.contracts.as_ref()?;
    let entry = contracts.of(&file.program, function)?;
    under(file, function, options, (entry, &contracts.at(entry))).ok()
}

fn under(
    file: &Launched,
    function: FunctionId,
    options: &Options,
    (entry, at): (&Entry, &StatedAt),
) -> Result<(KernelReport, Kernel), Unfit> {
    let bare = passes::lowered_for_any_launch(file, function, options);
    let terms = Terms::of(&entry.phrases, &bare.params)?;
    let (launches, _) = launch::facts(file, function);
    let (mut model, mut under) = judged(file, function, options, (&bare, &launches), (&terms, &terms));
    if let Some((more, assumptions)) = that_numbers_fit(&terms, &under.besides, &bare) {
        let (other, others) = judged(file, function, options, (&bare, &launches), (&terms, &more));
        if others.is_enough {
            (model, under) = (other, others);
            under.verdict.assumptions.extend(assumptions);
        }
    }
    let Under { mut verdict, is_enough, besides, broken } = under;
    verdict.assumptions.extend(model.assumptions);
    verdict.reject(model.rejected);
    let subject = (&model.kernel, &model.protocol);
    let mut report = reported(file, function, subject, (&launches, &verdict), options);
    let words = Vocabulary::of(file.program.language);
    let conditions: Vec<String> = entry.phrases.iter().map(|phrase| words.in_source(&phrase.to_string())).collect();
    let kernel = report.instance();
    let stated = StatedOf { kernel: &kernel, span: file.program.functions[function].span, conditions: &conditions, at };
    let besides: Vec<String> = besides.iter().map(|conjunct| words.in_source(&conjunct.text)).collect();
    report.findings.extend(at_kernel(&report, is_enough, stated, &besides));
    if !is_enough && verdict.race == Race::Unknown {
        report.unknowns.push(not_shown(&report, stated));
    }
    if let Some(contract) = &mut report.contract {
        contract.stated = Some(at.clone());
    }
    for (launch, broken) in broken {
        let broken: Vec<String> = broken.iter().map(|text| words.in_source(text)).collect();
        let at = |&span: &Span| broken_contract::at_launch(stated, span, &broken);
        report.findings.extend(launches[launch].spans.iter().map(at));
    }
    Ok((report, model.kernel))
}

/// The kernel with these terms, judged, and its launches held against those of them that are stated.
fn judged(
    file: &Launched,
    function: FunctionId,
    options: &Options,
    (bare, launches): (&Kernel, &[Facts]),
    (stated, terms): (&Terms, &Terms),
) -> (passes::Model<'static>, Under) {
    let stating = passes::strengthened(terms.stated_in(bare), options, None);
    let found = passes::model(file, function, options);
    let subject = |kernel, protocol| Subject { kernel, protocol };
    let subjects = (subject(&stating.kernel, &stating.protocol), subject(&found.kernel, &found.protocol));
    let under = judge_under((stated, terms), subjects, launches, file.program.language, &options.judging);
    (stating, under)
}

/// The finding that a kernel races under what is stated of it.
fn at_kernel(report: &KernelReport, is_enough: bool, stated: StatedOf<'_>, besides: &[String]) -> Option<Finding> {
    let certainty = match report.race {
        Race::Racy => Certainty::Proved,
        Race::PossiblyRacy => Certainty::Possible,
        Race::RaceFree | Race::Unknown => return None,
    };
    (!is_enough).then(|| broken_contract::at_kernel(stated, certainty, besides))
}

fn not_shown(report: &KernelReport, stated: StatedOf<'_>) -> Unknown {
    let reason = format!("whether its stated contract ({}) is enough", stated.at);
    Unknown { line: report.line, also: Vec::new(), span: Some(stated.span), reason }
}

/// Puts into a report what the kernel asks of launches that nobody found, where the verdict is about those that were, and
/// keep it.
pub(super) fn infer(file: &Launched, function: FunctionId, options: &Options, report: &mut KernelReport) {
    let is_told = report.contract.as_ref().is_some_and(|contract| contract.stated.is_some());
    let relies = file.launches_of(function).any(|launch| !launch.relations.is_empty());
    let is_of_all = report.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::AllGeometries);
    let is_whole = report.contract.is_some() || is_of_all;
    if report.race != Race::RaceFree || is_told || (is_whole && !relies) {
        return;
    }
    let kernel = passes::lowered_for_any_launch(file, function, options);
    let model = passes::strengthened(kernel, options, None);
    let language = file.program.language;
    let verdict = judge(&model.kernel, &model.protocol, &[], language, &options.judging);
    let subject = (&model.kernel, &model.protocol);
    let other = reported(file, function, subject, (&[], &verdict), options);
    match other.contract {
        Some(mut contract) => {
            contract.launches = match report.contract.take() {
                Some(own) => own.launches,
                None => all_kept(file, function),
            };
            report.contract = Some(contract);
        }
        // It is free for the launches that were found, and nobody knows under what.
        None if verdict.race != Race::RaceFree && is_of_all => {
            report.scope.iter_mut().for_each(|scope| scope.kind = ScopeKind::Launch);
        }
        None => {}
    }
}

/// Every launch that was found, for which the kernel is proved.
fn all_kept(file: &Launched, function: FunctionId) -> Vec<CheckedLaunch> {
    let (launches, _) = launch::facts(file, function);
    let mut spans: Vec<Span> = launches.into_iter().flat_map(|facts| facts.spans).collect();
    spans.sort_by_key(|span| (span.file.index(), span.start));
    let kept = |span| CheckedLaunch { span, keeping: Keeping::Kept, missing: Vec::new() };
    spans.into_iter().map(kept).collect()
}

/// Whether a contract is stated of a kernel.
pub(super) fn is_stated(file: &Launched, function: FunctionId, options: &Options) -> bool {
    options.contracts.as_ref().is_some_and(|contracts| contracts.of(&file.program, function).is_some())
}
