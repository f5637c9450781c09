//! The only place that composes passes: from the text of one file to its report.
//!
//! [`check_source`] runs the whole path for one file: front end, resolution, lowering, and for every kernel
//! the judgement of [`judge`]. It never executes any of the code that it looks at and never aborts: what a
//! pass could not do is in the report.
//!
//! Deliberately absent: arguments as typed, output formats, files that are not handed in (`cli` and
//! [`parallel`] read them).

pub mod adequacy;
pub mod amplify;
mod architecture;
pub mod asked;
mod cache;
pub mod changed;
pub mod contract_file;
mod contracts;
pub mod cover;
pub mod crash;
pub mod data_flow;
mod described;
pub mod details;
mod dialect;
mod dictionary;

pub mod flows;
mod front;
pub mod generate;
mod given;
mod hints;
pub mod hosted;
pub mod instrument;
pub mod isolate;
pub mod kernel_settings;
mod launched;
mod lines;
pub mod live;
pub mod logged;
mod memo;
pub mod mend;
mod missing;
mod modelled;
pub mod mutate;
pub mod options;
mod own_options;
pub mod parallel;
pub mod passes;
pub mod pictured;
mod prepared;
mod read_units;
pub mod repeats;
pub mod reproduce;
pub mod run;
pub mod schedule;
pub mod show;
pub mod stand_in;
mod stated;
pub mod stated_contracts;
pub mod store;
pub mod subjects;
mod told;
pub mod trace;
mod units;
mod unlinked;
pub mod words;

pub use crate::calculus::platform as limits;
pub use crate::check::pages::{page as rule_page, page_of};
pub use crate::front::clang::{Limits, Misled, Pool, Start, locate, misled, serve};
pub use crate::preprocess::commands::CompileCommands;
pub use crate::suppress::{baseline, rules};
pub use dialect::language_of;
pub use front::FrontEnd;
pub use options::Options;

use crate::calculus::Kernel;
use crate::check;
use crate::check::verdict::Verdict;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::report::{
    Assumption, AssumptionKind, Deciding, Determinism, Divergence, FileReport, Finding, Front, KernelReport, Parse,
    Race, Scope, ScopeKind, Unknown,
};
use crate::judge;
use crate::launch::{self, Facts, Launched};
use crate::preprocess::{MissingInclude, ModelledHeader, SoughtBy, SoughtHeader, Uses, normalized};
use crate::protocol::Protocol;
use crate::resolve::program::{FunctionId, Program};
use crate::source::{Dialect, Language, Span, embedded};
use crate::suppress;
use crate::work::{self, Spent, Stage, watched};
use asked::is_named;
use front::Kept;
use memo::{Memo, Subject};
use options::{OpenContracts, Pictures, ProjectHeaders, Reproductions, Timings};
use own_options::options_for;
use passes::{Model, Relations, counts_relations, in_step, model_with};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A file that has been read and resolved.
struct ReadFile {
    launched: Launched,
    diagnostics: Vec<Diagnostic>,
    parse: Parse,
    front: Front,
    /// The names of functions that the other front end read.
    exceptions: Vec<Span>,
    /// How often something that a kernel reaches was not understood.
    missed: usize,
    /// Headers that were not found.
    missing: Vec<MissingInclude>,
    /// Headers that were found by a search.
    sought: Vec<SoughtHeader>,
    /// Headers for which a model stands in.
    modelled: Vec<ModelledHeader>,
    /// What the preprocessor took by default.
    uses: Uses,
    /// Text that `#if` leaves out.
    left_out: Vec<Span>,
    /// Macros that other files of the project state.
    stated: Vec<stated::Found>,
}

/// The report of one file, and panics that were met on the way.
#[derive(Debug)]
pub struct Checked {
    /// The report; a kernel in which raceproof panicked is `unknown` in it.
    pub report: FileReport,
    /// The message and place of each panic: bugs in raceproof.
    pub bugs: Vec<String>,
    /// Whether no kernel was left for want of memory.
    pub is_whole: bool,
    /// Programs that show its races, if they were asked for.
    pub drafts: Vec<reproduce::Drafted>,
    /// What there is to see of each of its kernels, if that was asked for.
    pub pictured: Vec<pictured::Pictured>,
    /// Whether something that a kernel reaches was not understood: what declares it may stand in another file.
    pub incomplete: bool,
    /// Whether a launch of some kernel of it is known.
    pub launches: bool,
    /// What is stated of its kernels, or given for their parameters, and does not fit them.
    pub misfits: Vec<String>,
}

/// Checks the text of one file. A panic in one kernel leaves the verdicts of the others.
pub fn check_source(path: &Path, text: &str, options: &Options) -> Checked {
    check_source_of_many(path, text, options, None, None)
}

/// Checks the text of one file of a run over several, which share what they know: all its kernels, or those that
/// stand in a file that it includes.
fn check_source_of_many(
    path: &Path,
    text: &str,
    options: &Options,
    memo: Option<&Memo>,
    inside: Option<&Path>,
) -> Checked {
    let check = || work::measured(|| check_text(path, text, options, memo, inside));
    let (mut checked, spent) = watched::at(&path.to_string_lossy(), check);
    if options.workload.timings == Timings::Measure {
        checked.report.spent = spent;
    }
    checked
}

fn check_text(path: &Path, text: &str, options: &Options, memo: Option<&Memo>, inside: Option<&Path>) -> Checked {
    let text = &*embedded::out_of_strings(text);
    let ReadFile {
        launched: mut file,
        mut diagnostics,
        parse,
        front,
        exceptions,
        missed,
        missing,
        sought,
        modelled,
        uses,
        left_out,
        stated,
    } = work::during(Stage::Read, || read(path, text, options));
    diagnostics.extend(modelled::problems(path, &missing, options, &mut file.program.sources));
    let options = &stated::with(options, &stated);
    let wanted: Vec<FunctionId> =
        selected(&file.program, options).filter(|&kernel| stands_in(&file.program, kernel, inside)).collect();
    let mut outcomes = checked(&file, &wanted, options, memo);
    let is_logged = |kernel: &FunctionId| is_logged(&file.program, *kernel, options);
    let open: Vec<FunctionId> = unsettled(&wanted, &outcomes).into_iter().filter(|it| !is_logged(it)).collect();
    let add = || launched::add(&mut file, path, &open, options, memo.map(|memo| &memo.units));
    let elsewhere = work::during(Stage::Read, add);
    let again: Vec<FunctionId> = elsewhere.keys().copied().collect();
    for (kernel, outcome) in again.iter().zip(checked(&file, &again, options, memo)) {
        if let Some(at) = wanted.iter().position(|wanted| wanted == kernel) {
            outcomes[at] = outcome.map(of_the_project);
        }
    }
    let program = &file.program;
    architecture::look_aside((path, text), program, (&wanted, &again), options, &mut outcomes);
    if options.contracts.told == options::Told::Contracts {
        infer_contracts(&file, &wanted, options, &mut outcomes);
    }
    let mut misfits = contracts::misfits(&file, &wanted, options);
    let (mut bugs, mut is_whole) = (Vec::new(), true);
    let mut kernels = Vec::new();
    let mut judged = Vec::new();
    for (&function, outcome) in wanted.iter().zip(outcomes) {
        let (mut report, kernel) = outcome.unwrap_or_else(|panic| {
            let report = unjudged(program, function, &panic);
            bugs.extend(panic.bug());
            is_whole &= !panic.is_of_memory();
            (report, Kernel::default())
        });
        let is_exception = exceptions.contains(&program.functions[function].span);
        report.assumptions.extend(sought.iter().map(assumed_header));
        report.assumptions.extend(modelled::assumptions(&modelled));
        report.assumptions.extend(stated.iter().map(stated::Found::assumption));
        report.assumptions.extend(chosen(&uses, &file, function, &report));
        report.assumptions.extend(elsewhere.get(&function).into_iter().flatten().cloned());
        report.front = if is_exception { Front::TreeSitter } else { front };
        name_log(&mut report, program, function, options);
        kernels.push(report);
        judged.push((function, kernel));
    }
    misfits.extend(given::misfits(program, &judged, options));
    if options.hints == options::Hints::Give {
        let hints = hints::redundant_barriers(&file, &wanted, &kernels, options);
        kernels.iter_mut().zip(hints).for_each(|(kernel, hints)| kernel.findings.extend(hints));
    }
    if options.fixes == options::Fixes::Suggest && kernels.iter().any(mend::is_mendable) {
        crash::entering("fix");
        mend::suggest((path, text), options, program, &wanted, &mut kernels);
    }
    for (report, &function) in kernels.iter_mut().zip(&wanted) {
        report.findings.extend(impossible_launches(&file, function));
        if options.contracts.open == OpenContracts::AsFindings {
            let open = check::open_contract::finding(report, program.functions[function].span);
            report.findings.extend(open);
        }
    }
    let drafts = match options.evidence.reproductions {
        Reproductions::Omit => Vec::new(),
        Reproductions::Draft => {
            crash::entering("reproduce");
            let headers = options.headers.project.as_ref().filter(|_| !sought.is_empty() || !modelled.is_empty());
            isolate::isolated(|| reproduce::drafts((path, text), options, headers, &file, &judged, &mut kernels))
                .unwrap_or_else(|panic| {
                    bugs.extend(panic.bug());
                    Vec::new()
                })
        }
    };
    let pictured = match options.evidence.pictures {
        Pictures::Omit => Vec::new(),
        Pictures::Draw => {
            crash::entering("pictures");
            pictured::pictured(&file, &judged, &kernels, options)
        }
    };
    if missed > 0 {
        diagnostics.extend(missing::headers(&missing, &modelled, &kernels));
    }
    let launches = file.launches().iter().any(|launch| wanted.contains(&launch.kernel));
    let comments = suppress::comments(&file.program.sources, program.language, &kernel_names(program), &left_out);
    let report = FileReport {
        path: path.to_path_buf(),
        language: program.language,
        front,
        parse,
        kernels,
        diagnostics,
        comments,
        unasked: unasked(program, options),
        spent: Spent::default(),
        sources: file.program.sources,
    };
    Checked { report, bugs, is_whole, drafts, pictured, incomplete: missed > 0, launches, misfits }
}

/// The names of the kernels that the options do not ask for.
fn unasked(program: &Program, options: &Options) -> Vec<String> {
    let asked: Vec<FunctionId> = selected(program, options).collect();
    let others = program.kernels.iter().filter(|kernel| !asked.contains(kernel));
    let names: BTreeSet<&str> = others.map(|&kernel| program.functions[kernel].name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Where the kernels of a program are named.
fn kernel_names(program: &Program) -> Vec<Span> {
    program.kernels.iter().map(|&kernel| program.functions[kernel].span).collect()
}

/// The findings on launches of a kernel that fail on every device. OpenCL leaves its limits to devices.
fn impossible_launches(file: &Launched, function: FunctionId) -> Vec<Finding> {
    let program = &file.program;
    if program.language == Language::OpenCl {
        return Vec::new();
    }
    let (_, impossible) = launch::facts(file, function);
    let name = &program.functions[function].name;
    impossible
        .iter()
        .map(|(span, reason)| check::impossible_launch::finding(name, *span, &reason.to_string()))
        .collect()
}

/// What came of a kernel: the report and the kernel as it was judged, or a panic.
type Outcome = Result<(KernelReport, Kernel), isolate::Panic>;

/// Checks these kernels of a program.
fn checked(file: &Launched, kernels: &[FunctionId], options: &Options, memo: Option<&Memo>) -> Vec<Outcome> {
    let check = |&kernel: &FunctionId| isolate::isolated(|| check_kernel(file, kernel, options, memo));
    parallel::each(kernels, check)
}

/// Whether the launches that count for a kernel are those of a log.
fn is_logged(program: &Program, function: FunctionId, options: &Options) -> bool {
    options.contracts.logged.as_ref().is_some_and(|logged| logged.has(program, function))
}

/// Says of a verdict on the launches of a log that it is.
fn name_log(report: &mut KernelReport, program: &Program, function: FunctionId, options: &Options) {
    let Some(logged) = options.contracts.logged.as_ref().filter(|_| is_logged(program, function, options)) else {
        return;
    };
    if let Some(scope) = report.scope.as_mut().filter(|scope| scope.kind == ScopeKind::Launch) {
        scope.kind = ScopeKind::Other(logged.scope());
    }
}

/// Adds the contracts that launches which were found leave untold.
fn infer_contracts(file: &Launched, kernels: &[FunctionId], options: &Options, outcomes: &mut [Outcome]) {
    let work: Vec<(FunctionId, &Outcome)> = kernels.iter().copied().zip(outcomes.iter()).collect();
    let inferred = parallel::each(&work, |(function, outcome)| {
        let Ok((report, _)) = outcome else { return None };
        let mut report = report.clone();
        let options = &*options_for(options, &file.program, *function);
        let infer = || isolate::isolated(|| contracts::infer(file, *function, options, &mut report));
        watched::at(&instance(&file.program, *function), infer).ok().map(|()| report)
    });
    for (outcome, inferred) in outcomes.iter_mut().zip(inferred) {
        if let (Ok((report, _)), Some(inferred)) = (outcome, inferred) {
            *report = inferred;
        }
    }
}

/// A report on a kernel that other files launch, too: the launches that it is about are not only those of its file.
fn of_the_project((mut report, kernel): (KernelReport, Kernel)) -> (KernelReport, Kernel) {
    if let Some(scope) = report.scope.as_mut().filter(|scope| scope.kind == ScopeKind::Launch) {
        scope.kind = ScopeKind::Other("the launches in this project".to_owned());
    }
    (report, kernel)
}

/// The kernels that are not free of races and divergence for all launches.
fn unsettled(kernels: &[FunctionId], outcomes: &[Outcome]) -> Vec<FunctionId> {
    let is_of_launches = |report: &KernelReport| match &report.scope {
        Some(scope) if scope.kind == ScopeKind::Launch => !report.asks_for_flat_launches(),
        _ => report.leaves_a_contract(),
    };
    let is_settled = |outcome: &Outcome| match outcome {
        Ok((report, _)) => {
            let is_proved = report.race == Race::RaceFree && report.divergence == Divergence::Uniform;
            is_proved && !is_of_launches(report)
        }
        Err(_) => true,
    };
    kernels.iter().zip(outcomes).filter(|(_, outcome)| !is_settled(outcome)).map(|(&kernel, _)| kernel).collect()
}

/// What a verdict relies on that was reached through a header found by a search.
fn assumed_header(header: &SoughtHeader) -> Assumption {
    let (name, inside) = (&header.name, header.inside.display());
    let how = match header.by {
        SoughtBy::Name => "found by its name (no include path leads to it)",
        SoughtBy::Build => "where a build file lets the compiler look",
    };
    let text = format!("`{name}` is {inside} of the project, {how}");
    Assumption { kind: AssumptionKind::Other, text }
}

/// What the text of a kernel, or the launches that its verdict is about, took by default.
fn chosen(uses: &Uses, file: &Launched, function: FunctionId, report: &KernelReport) -> Vec<Assumption> {
    let program = &file.program;
    let place = program.sources.visible(program.functions[function].span);
    let mut found: BTreeSet<&str> = uses.choices_of(place).into_iter().map(|choice| choice.taken.as_str()).collect();
    if report.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Launch) {
        for launch in file.launches_of(function) {
            let place = program.sources.visible(launch.span);
            found.extend(uses.choices_at(place).map(|choice| choice.taken.as_str()));
        }
    }
    found.into_iter().map(|text| Assumption { kind: AssumptionKind::Text, text: text.to_owned() }).collect()
}

/// The report of a kernel on which raceproof failed.
fn unjudged(program: &Program, function: FunctionId, panic: &isolate::Panic) -> KernelReport {
    let (reason, determinism) = match panic {
        isolate::Panic::Bug(message) => (format!("bug in raceproof: {message}"), "raceproof failed on this kernel"),
        isolate::Panic::TooMuch(what) => (what.to_string(), "it was not judged"),
    };
    let span = program.functions[function].span;
    let line = program.sources.start_position(span).line;
    KernelReport {
        name: program.functions[function].name.clone(),
        line,
        path: None,
        front: Front::TreeSitter,
        template_args: program.functions[function].template_args.clone(),
        params: Vec::new(),
        race: Race::Unknown,
        divergence: Divergence::Unknown,
        scope: None,
        determinism: Determinism::NotShown(determinism.to_owned()),
        deciding: Deciding::default(),
        assumptions: Vec::new(),
        spent: Spent::default(),
        contract: None,
        findings: Vec::new(),
        unknowns: vec![Unknown { line, also: Vec::new(), span: Some(span), reason }],
    }
}

/// Runs the front ends and resolution; again, with the project searched for headers that were not found and for macros
/// that nothing defines, if something that a kernel reaches was not understood.
fn read_for_device(path: &Path, text: &str, options: &Options, kept: &Kept) -> ReadFile {
    let read = |options: &Options, headers| front_of(path, text, options, headers, kept);
    let first = read(options, None);
    let Some(headers) = &options.headers.project else { return resolved(first) };
    let is_better = |better: &front::ReadUnit| !better.sought.is_empty() || !better.modelled.is_empty();
    let seek = || Some(read(options, Some(headers))).filter(is_better);
    // Macros of a library may launch kernels, and nobody misses them.
    let is_modelled = |missing: &MissingInclude| options.headers.models.find(&missing.name, path).is_some();
    let seeks_anyhow = first.uses.misses_headers() || first.missing.iter().any(is_modelled);
    let mut file = match (first.missing.is_empty(), seeks_anyhow) {
        (true, _) => resolved(first),
        // It is read again whatever resolution says of it: only what stays is resolved.
        (false, true) => resolved(seek().unwrap_or(first)),
        (false, false) => {
            let file = resolved(first);
            let better = if file.missed > 0 { seek() } else { None };
            better.map_or(file, resolved)
        }
    };
    if file.missed > 0 {
        let stated = stated::sought(path, &file.launched.program, options, headers);
        let better = || resolved(read(&stated::with(options, &stated), Some(headers)));
        let better = Some(&stated).filter(|stated| !stated.is_empty()).map(|_| better());
        if let Some(better) = better.filter(|better| better.missed < file.missed) {
            file = ReadFile { stated, ..better };
        }
    }
    file
}

/// The same, with the launches that the compiler of host code sees.
fn read(path: &Path, text: &str, options: &Options) -> ReadFile {
    read_kept(path, text, options, &Kept::default())
}

/// The same for who may read the text in the same way again.
fn read_kept(path: &Path, text: &str, options: &Options, kept: &Kept) -> ReadFile {
    let mut file = read_for_device(path, text, options, kept);
    let launches = !file.launched.launches().is_empty() || text.contains("<<<");
    if launches && file.uses.depends_on_pass() {
        let headers = options.headers.project.as_ref().filter(|_| !file.sought.is_empty() || !file.modelled.is_empty());
        let mut options = stated::with(options, &file.stated);
        let names = [Dialect::Cuda, Dialect::Hip].into_iter().flat_map(Dialect::names_of_device_pass);
        options.undefined.extend(names.map(|&name| name.to_owned()));
        let there = resolved(front_of(path, text, &options, headers, kept)).launched;
        architecture::take_launches(&mut file.launched, &there);
    }
    if let Some(logged) = &options.contracts.logged {
        let notes = logged.put(&mut file.launched);
        file.diagnostics.extend(notes);
    }
    file
}

/// Runs the front ends, unless they were run for the same before.
fn front_of(
    path: &Path,
    text: &str,
    options: &Options,
    headers: Option<&Arc<ProjectHeaders>>,
    kept: &Kept,
) -> front::ReadUnit {
    crash::entering("front");
    kept.read((path, text), options, headers)
}

fn resolved(read: front::ReadUnit) -> ReadFile {
    let front::ReadUnit { unit, mut diagnostics, parse, front, exceptions, missing, sought, modelled, uses, left_out } =
        read;
    crash::entering("resolve");
    let launch::Resolved { launched, diagnostics: more, missed } = launch::resolve(unit);
    diagnostics.extend(more);
    let program = &launched.program;
    let leaves_out = program.kernels.iter().any(|&kernel| program.functions[kernel].is_left_out());
    let parse = if leaves_out && parse == Parse::Ok { Parse::Partial } else { parse };
    ReadFile {
        launched,
        diagnostics,
        parse,
        front,
        exceptions,
        missed,
        missing,
        sought,
        modelled,
        uses,
        left_out,
        stated: Vec::new(),
    }
}

/// The kernels that the options ask for.
fn selected<'a>(program: &'a Program, options: &'a Options) -> impl Iterator<Item = FunctionId> + 'a {
    program.kernels.iter().copied().filter(|&kernel| {
        let name = &program.functions[kernel].name;
        options.kernels.is_empty() || options.kernels.iter().any(|wanted| is_named(name, wanted))
    })
}

/// Whether a kernel is defined in that file.
fn stands_in(program: &Program, kernel: FunctionId, file: Option<&Path>) -> bool {
    let span = program.sources.visible(program.functions[kernel].span);
    file.is_none_or(|file| normalized(&program.sources.file(span.file).path) == normalized(file))
}

/// `reduce<256, float>`, for who waits.
fn instance(program: &Program, function: FunctionId) -> String {
    let function = &program.functions[function];
    match function.template_args.as_slice() {
        [] => function.name.clone(),
        args => format!("{}<{}>", function.name, args.join(", ")),
    }
}

/// The report on a kernel, and the kernel as it was judged.
fn check_kernel(
    file: &Launched,
    function: FunctionId,
    options: &Options,
    memo: Option<&Memo>,
) -> (KernelReport, Kernel) {
    let options = &*options_for(options, &file.program, function);
    let check = || work::measured(|| check_one(file, function, options, memo));
    let ((mut report, kernel), spent) = watched::at(&instance(&file.program, function), check);
    if options.workload.timings == Timings::Measure {
        report.spent = spent;
    }
    (report, kernel)
}

fn check_one(file: &Launched, function: FunctionId, options: &Options, memo: Option<&Memo>) -> (KernelReport, Kernel) {
    let judged = |relations| report_on(file, function, model_with(file, function, options, (relations, memo)), options);
    let says = counts_relations(options) && !launch::common_relations(file, function).is_empty();
    // What holds without what the launches say is told without it.
    let ordinary = || match says.then(|| judged(Relations::LeftOut)) {
        Some(alone) if holds_for_itself(&alone.0) => alone,
        Some((alone, _)) if let Some(broken) = contracts::broken(file, function, options, &alone) => broken,
        Some((alone, own)) => match judged(Relations::Stated) {
            (mut report, kernel) if matches!(report.race, Race::RaceFree | Race::Racy) => {
                told_of_launches(&mut report);
                (report, kernel)
            }
            // What they say decided nothing.
            _ => (alone, own),
        },
        None => judged(Relations::Stated),
    };
    contracts::check_under(file, function, options).unwrap_or_else(ordinary)
}

/// Whether nothing that launches say is needed to see that a kernel is free of races.
fn holds_for_itself(report: &KernelReport) -> bool {
    let is_free = report.race == Race::RaceFree && report.divergence == Divergence::Uniform;
    is_free && report.scope.as_ref().is_some_and(|scope| scope.kind != ScopeKind::Contract)
}

/// What is proved from what the launches say is proved of these alone. The contract that the kernel has without that is none of
/// theirs: they may be free although they break it.
fn told_of_launches(report: &mut KernelReport) {
    let is_of_all = |scope: &&mut Scope| scope.kind == ScopeKind::AllGeometries;
    if let Some(scope) = report.scope.as_mut().filter(|_| report.race == Race::RaceFree).filter(is_of_all) {
        scope.kind = ScopeKind::Launch;
    }
}

/// The report on a model of a kernel, and the kernel as it was judged.
fn report_on(file: &Launched, function: FunctionId, model: Model<'_>, options: &Options) -> (KernelReport, Kernel) {
    let program = &file.program;
    let Model { kernel, protocol, assumptions, rejected, entry } = model;
    let (launches, _) = launch::facts(file, function);
    let language = program.language;
    crash::entering("prove");
    let mut verdict = match &entry {
        Some(entry) => {
            let subject = Subject { kernel: &kernel, protocol: &protocol, launches: &launches, language };
            entry.judge(&subject, options)
        }
        None => judge::judge(&kernel, &protocol, &launches, language, &options.judging),
    };
    judge::scopes::withhold(&mut verdict, &launches, &options.judging);
    verdict.assumptions.extend(assumptions);
    verdict.reject(rejected);
    let report = reported(file, function, (&kernel, &protocol), (&launches, &verdict), options);
    (report, kernel)
}

/// The report on a verdict, and on what the kernel that it is about relies on.
fn reported(
    file: &Launched,
    function: FunctionId,
    (kernel, protocol): (&Kernel, &Protocol),
    (launches, verdict): (&[Facts], &Verdict),
    options: &Options,
) -> KernelReport {
    let program = &file.program;
    let context = check::Context {
        kernel,
        protocol,
        span: program.functions[function].span,
        sources: &program.sources,
        language: program.language,
        launches: &launches.iter().map(|facts| facts.spans.clone()).collect::<Vec<_>>(),
        known: check::Known::default(),
    };
    crash::entering("check");
    let mut report = check::report(&context, verdict);
    let assumed = program.functions[function].assumed.iter();
    report.assumptions.extend(assumed.map(|text| Assumption { kind: AssumptionKind::Other, text: text.clone() }));
    report.assumptions.extend(kernel.relies.iter().map(|reliance| check::reliance(&context, reliance)));
    report.assumptions.extend(in_step(options, program.language).map(|threads| {
        let text = format!(
            "{threads} threads of a warp run in lock-step, and accesses reach memory in program order, as with volatile"
        );
        Assumption { kind: AssumptionKind::Other, text }
    }));
    report
}
