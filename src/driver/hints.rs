//! Barriers that are not needed: what `check --hints` adds to the verdicts of a file.
//!
//! A barrier is redundant if the kernel without it is proved free of races, uniform and deterministic, for the same
//! launches and without assuming more. *Proof.* Every run of the kernel is one of the kernel without the barrier, which
//! has one result for all its runs. Barriers are taken out one after the other, and stay out where that is proved: so
//! all that are named can go together.
//!
//! A barrier in a function that several kernels call is named where all kernels of the file that pass it can do
//! without it.
//!
//! Deliberately absent: barriers of warps, which cost next to nothing; barriers that give a value
//! (`__syncthreads_or`); kernels with atomics, whose results a barrier may order though nothing races.

use super::contracts;
use super::options::{Launches, Levels, Settings};
use super::own_options::options_for;
use super::passes::{lowered, strengthened};
use super::{Options, check, parallel, report_on, selected};
use crate::builtins::functions::function;
use crate::builtins::{Builtin, groups};
use crate::calculus::barriers::{Barrier, barriers, without};
use crate::calculus::{Kernel, SyncScope};
use crate::diagnostic::report::{
    AssumptionKind, Determinism, Divergence, Finding, KernelReport, Race, Scope, ScopeKind,
};
use crate::launch::Launched;
use crate::resolve::program::FunctionId;
use crate::source::{Language, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A barrier of the source: every call that it is inlined from.
type Places = BTreeMap<Span, Vec<Barrier>>;

/// The findings that each kernel gets in addition; `reports` are those of `kernels`.
pub(super) fn redundant_barriers(
    file: &Launched,
    kernels: &[FunctionId],
    reports: &[KernelReport],
    options: &Options,
) -> Vec<Vec<Finding>> {
    let subjects: Vec<_> = kernels.iter().copied().zip(reports).collect();
    let found = parallel::each(&subjects, |&(function, report)| {
        let own = options_for(options, &file.program, function);
        let judging = Settings { levels: Levels::All, launches: Launches::All, ..own.judging.clone() };
        let options = &Options { judging, ..own.into_owned() };
        super::isolate::isolated(|| of_kernel(file, function, report, options)).unwrap_or_default()
    });
    let is_whole = selected(&file.program, &Options::default()).all(|kernel| kernels.contains(&kernel));
    let needed: BTreeSet<Span> = found.iter().flat_map(|of| of.needed.iter().copied()).collect();
    let named = |of: Of| {
        let is_named = |barrier: &&Unneeded| !needed.contains(&barrier.span) && (is_whole || !barrier.is_inlined);
        let words =
            check::redundant_barrier::Setting { sources: &file.program.sources, language: file.program.language };
        of.unneeded.iter().filter(is_named).map(|it| words.finding(it.span, it.scope, it.is_inlined)).collect()
    };
    found.into_iter().map(named).collect()
}

/// What was found of the barriers of one kernel.
#[derive(Default)]
struct Of {
    unneeded: Vec<Unneeded>,
    /// Barriers that it cannot be shown to do without.
    needed: BTreeSet<Span>,
}

struct Unneeded {
    span: Span,
    scope: SyncScope,
    is_inlined: bool,
}

fn of_kernel(file: &Launched, function: FunctionId, report: &KernelReport, options: &Options) -> Of {
    let mut of = Of::default();
    let mut kernel = lowered(file, function, options);
    // What is proved under a stated contract is not judged anew without a barrier.
    let is_stated = contracts::is_stated(file, function, options);
    let is_proved = report.race == Race::RaceFree && report.divergence == Divergence::Uniform && !is_stated;
    for (span, places) in places(&kernel) {
        let can_go = is_proved
            && is_plain(file.program.language, &file.program.sources, span)
            && places.iter().all(|it| it.scope > SyncScope::Warp);
        let less = can_go.then(|| without(&kernel, &places));
        match less.filter(|less| is_as_good(file, function, less.clone(), report, options)) {
            None => _ = of.needed.insert(span),
            Some(less) => {
                let is_inlined = places.iter().any(|it| !it.inlined.is_empty());
                of.unneeded.push(Unneeded { span, scope: places[0].scope, is_inlined });
                kernel = less;
            }
        }
    }
    of
}

fn places(kernel: &Kernel) -> Places {
    let mut places = Places::new();
    for barrier in barriers(kernel) {
        if let Some(span) = barrier.span {
            places.entry(span).or_default().push(barrier);
        }
    }
    places
}

/// Whether the kernel is proved to have one result, with no more said of its launches than `before`.
fn is_as_good(file: &Launched, function: FunctionId, kernel: Kernel, before: &KernelReport, options: &Options) -> bool {
    let (after, _) = report_on(file, function, strengthened(kernel, options, None), options);
    after.race == Race::RaceFree
        && after.divergence == Divergence::Uniform
        && after.determinism == Determinism::Deterministic
        && says_no_less(after.scope.as_ref(), before.scope.as_ref())
        && relied_on(&after).is_subset(&relied_on(before))
}

/// Whether a verdict holds for the launches of another one; that is free of contracts, which the other may have.
fn says_no_less(after: Option<&Scope>, before: Option<&Scope>) -> bool {
    let kind = |scope: Option<&Scope>| scope.map(|scope| scope.kind.clone());
    kind(after) == Some(ScopeKind::AllGeometries) || kind(after) == kind(before)
}

/// What a verdict says of launches, and what else it relies on. That an extent is 1 which the kernel never reads is fixed by the
/// scope of a verdict on all launches, and a condition of the contract else.
fn relied_on(report: &KernelReport) -> BTreeSet<String> {
    let fixes = report.scope.iter().flat_map(|scope| scope.fixes.iter().cloned());
    let conditions = report.contract.iter().flat_map(|contract| &contract.conjuncts);
    let conditions = conditions.map(|conjunct| conjunct.text.replace(" == ", " = "));
    let assumptions = report.assumptions.iter().filter(|each| each.kind != AssumptionKind::DimensionIsOne);
    fixes.chain(conditions).chain(assumptions.map(|assumption| assumption.text.clone())).collect()
}

/// Whether the text at a barrier is a call that only waits. Others give a value, or do more.
fn is_plain(language: Language, sources: &SourceMap, span: Span) -> bool {
    let text = sources.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("");
    let callee = text.split('(').next().unwrap_or("").trim();
    let name = callee.rsplit(['.', ':', '>']).next().unwrap_or("");
    let meaning = function(language, name).map(|known| known.builtin);
    matches!(meaning, Some(Builtin::Barrier { scope: SyncScope::Block, .. }))
        || groups::Method::named(name) == Some(groups::Method::Sync)
}
