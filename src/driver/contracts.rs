//! Contracts around a check: those that a file states ([`stated_contracts`](super::stated_contracts)), and those that a
//! verdict on the launches that were found leaves untold.
//!
//! A kernel of which a contract is stated is judged under it, whatever its launches say, and these are held against it
//! ([`check_under`]). For a table of contracts, a kernel that is only proved for the launches that were found is judged for
//! all, too ([`infer`]).
//!
//! Guarantees: a stated contract that does not fit its kernel is told, and no verdict relies on it. Deliberately absent: how
//! kernels are judged under conditions ([`judge::contract`]), and how tables look.

use super::contract_file::Entry;
use super::own_options::options_for;
use super::{Options, passes, read, reported, selected};
use crate::calculus::Kernel;
use crate::check::broken_contract::{self, StatedOf};
use crate::check::verdict::Verdict;
use crate::diagnostic::report::{
    Certainty, CheckedLaunch, Finding, Keeping, KernelReport, Race, ScopeKind, StatedAt, Unknown,
};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::judge::contract::{
    Subject, Terms, Under, Unfit, are_contradicted, broken_by_hosts, judge_under, that_numbers_fit,
};
use crate::judge::{self, judge};
use crate::launch::{self, Facts, Launched};
use crate::resolve::program::FunctionId;
use crate::source::Span;
use std::path::Path;

/// Why what is stated of these kernels does not fit them, a line for each.
pub(super) fn misfits(file: &Launched, kernels: &[FunctionId], options: &Options) -> Vec<String> {
    let misfit = |&function: &FunctionId| {
        let options = &*options_for(options, &file.program, function);
        let contracts = options.contracts.stated.as_ref()?;
        let entry = contracts.of(&file.program, function)?;
        let kernel = passes::lowered_for_any_launch(file, function, options);
        let error = Terms::of(&entry.phrases, &kernel).err()?;
        let (at, text) = (contracts.at(entry), &entry.text);
        Some(format!("{at}: {text}: {error}; it is judged as if nothing were stated"))
    };
    kernels.iter().filter_map(misfit).collect()
}

/// The kernels of a text, judged with nothing of what launches in host code say of them. Where contracts are made, it is part of
/// them that extents are 1 which a proof takes as 1; where they are not, a claim holds whatever the extents are that a kernel never reads.
pub(super) fn judged_for_any_launch(path: &Path, text: &str, options: &Options) -> Vec<KernelReport> {
    let file = read(path, text, options).launched;
    let of_any = |function| {
        let (model, mut verdict) = of_any_launch(&file, function, options);
        if options.judging.contracts_excuse() {
            judge::scopes::withhold(&mut verdict, &[], &options.judging);
        }
        reported(&file, function, (&model.kernel, &model.protocol), (&[], &verdict), options)
    };
    selected(&file.program, options).map(of_any).collect()
}

/// A kernel, judged with nothing of what launches in host code say of it.
fn of_any_launch(file: &Launched, function: FunctionId, options: &Options) -> (passes::Model<'static>, Verdict) {
    let kernel = passes::lowered_for_any_launch(file, function, options);
    let model = passes::strengthened(kernel, options, None);
    let mut verdict = judge(&model.kernel, &model.protocol, &[], file.program.language, &options.judging);
    verdict.assumptions.extend(model.assumptions.iter().cloned());
    verdict.reject(model.rejected.clone());
    (model, verdict)
}

/// Judges a kernel under what is stated of it; `None` if nothing is, or it does not fit.
pub(super) fn check_under(file: &Launched, function: FunctionId, options: &Options) -> Option<(KernelReport, Kernel)> {
    let contracts = options.contracts.stated.as_ref()?;
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
    let terms = Terms::of(&entry.phrases, &bare)?;
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
    let (model, verdict) = of_any_launch(file, function, options);
    let other = reported(file, function, (&model.kernel, &model.protocol), (&[], &verdict), options);
    let language = file.program.language;
    let (launches, _) = launch::facts(file, function);
    let asks_for_more = verdict.contract.as_ref().is_some_and(|contract| {
        let conditions: Vec<&str> = contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect();
        let subject = Subject { kernel: &model.kernel, protocol: &model.protocol };
        are_contradicted(&conditions, subject, (&launches, language), &options.judging)
    });
    match other.contract {
        // The launches that were found do without.
        Some(_) if asks_for_more => {}
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

/// The report on a kernel some launch of which breaks the contract that it has whatever launches say, by what host code says of
/// its sizes.
pub(super) fn broken(
    file: &Launched,
    function: FunctionId,
    options: &Options,
    alone: &KernelReport,
) -> Option<(KernelReport, Kernel)> {
    let contract = alone.contract.as_ref().filter(|contract| contract.is_plausible)?;
    if !options.judging.contracts_excuse() || contract.launches.iter().all(|launch| launch.keeping != Keeping::Open) {
        return None;
    }
    let conditions: Vec<&str> = contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect();
    let model = passes::model(file, function, options);
    let (launches, _) = launch::facts(file, function);
    let subject = Subject { kernel: &model.kernel, protocol: &model.protocol };
    let language = file.program.language;
    let mut verdict = broken_by_hosts(&conditions, subject, (&launches, language), &options.judging)?;
    verdict.assumptions.extend(model.assumptions.clone());
    let subject = (&model.kernel, &model.protocol);
    let report = reported(file, function, subject, (&launches, &verdict), options);
    Some((report, model.kernel))
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
    options.contracts.stated.as_ref().is_some_and(|contracts| contracts.of(&file.program, function).is_some())
}
