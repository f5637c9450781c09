//! `generate`: launch descriptions for the kernels of a file that reach as much of them as can be reached.
//!
//! 1. The file is built once, with counters, comparisons that tell how near they come to another outcome
//!    ([`Purpose::Search`](crate::instrument::Purpose)) and a program that takes its launches from a file ([`cases`](crate::execute::launch::cases)); its own `main` is set aside.
//! 2. For each kernel [`generation::search`](crate::generation::search) says what to try next, and [`Trials`](trials::Trials) runs it. Of what no case reaches
//!    the checker is asked ([`questions`]) whether it can be reached, and by which launch.
//! 3. What is kept is run once more, for the report on coverage.
//!
//! Guarantees: what a description is said to reach was reached when it was run; equal texts, seeds and numbers of tries give equal descriptions, as long as
//! time does not end the search.
//!
//! Kernels of OpenCL are tried on a device of the machine in the same way, twice each: once logged, so that nothing is kept that reaches beside its memory, and
//! once counted ([`opencl`]). Their comparisons tell nothing.
//!
//! Deliberately absent: templates that the file does not launch, kernels that take textures, images or pointers to pointers; what several launches reach one
//! after the other through what they leave in memory.

mod opencl;
mod questions;
mod report;
mod trials;

pub use report::{Description, Generated, SCHEMA, Searched, Skipped, Written, json, text};

use super::asked::{NoKernel, is_named};
use super::described::{self, plain};
use super::dictionary::Dictionary;
use super::prepared::{Prepared, PreparedFile, guarded};
use super::run::{Request, RunError, Stop, build, is_opencl};
use crate::diagnostic::report::WitnessReport;
use crate::execute::launch::cases;
use crate::execute::launch::host::{Parameter, ParameterKind, Target};
use crate::generation::case::whole;
use crate::generation::{Answer, Budget, Case, DataContract, Found, Goal, Oracle, Reasoned, Signature, Wanted, search};
use crate::launch::Launch;
use crate::source::Language;
use opencl::Texts;
use questions::{Questions, Said};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use trials::Trials;

/// Cases at random that may follow each other without anything new.
const PATIENCE: usize = 400;

/// What to search for.
#[derive(Clone, Debug)]
pub struct Search {
    /// Kernels, as descriptions name them or without their template arguments; none: all.
    pub kernels: Vec<String>,
    /// Time for the search of one kernel.
    pub time: Duration,
    /// Cases of one kernel at most.
    pub tries: usize,
    /// Decides what is drawn.
    pub seed: u64,
    /// When one case is ended.
    pub timeout: Duration,
}

/// A kernel that is searched.
struct Subject {
    signature: Signature,
    target: Target,
    /// Sizes of blocks, and numbers, that its launches in host code give.
    dictionary: Vec<i128>,
}

/// What is searched, and what is not.
#[derive(Default)]
struct Collected {
    subjects: Vec<Subject>,
    skipped: Vec<Skipped>,
    /// The numbers of the text.
    of_text: Vec<i128>,
    /// The names of all kernels.
    known: Vec<String>,
    /// The file as it is written.
    written: Option<(PathBuf, String)>,
}

/// Searches inputs for the kernels of the request's file; `tell` is given a line for each kernel that is begun.
pub fn generate(
    mut prepared: Prepared,
    request: &Request,
    plan: &Search,
    tell: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Generated, RunError> {
    if request.files.iter().any(|path| is_opencl(path)) {
        return of_device(prepared, request, plan, tell, stop);
    }
    let collected = collected(&mut prepared, request, plan)?;
    are_there(plan, &collected.known)?;
    if collected.subjects.is_empty() {
        return Ok(Generated { skipped: collected.skipped, ..Generated::default() });
    }
    let built = build(prepared, request, stop)?;
    let targets: Vec<Target> = collected.subjects.iter().map(|subject| subject.target.clone()).collect();
    let Some(trials) = Trials::of_program(&built, targets, plan.timeout) else {
        unreachable!("what is searched is built for the CPU")
    };
    let notes = built.uncounted();
    Ok(Generated { notes, ..all_searched(collected, &trials, (request, plan), tell, stop)? })
}

/// The same for OpenCL kernels, on a device of the machine.
fn of_device(
    prepared: Prepared,
    request: &Request,
    plan: &Search,
    tell: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Generated, RunError> {
    let Prepared { files, scratch, .. } = prepared;
    let Some(PreparedFile { path, text: Some(text) }) = files.into_iter().next() else {
        return Ok(Generated::default());
    };
    let kernels = guarded(&path, || described::kernels(&path, &text, &request.options))?;
    let texts = Texts::read(&path, &text, &request.options, scratch)?;
    let known: Vec<String> = kernels.names().map(str::to_owned).collect();
    are_there(plan, &known)?;
    let local = |kernel: &str| (Language::OpenCl, texts.local(kernel));
    let (subjects, skipped) = guarded(&path, || subjects_of(&kernels, plan, &local))?;
    if subjects.is_empty() {
        return Ok(Generated { skipped, ..Generated::default() });
    }
    let names = kernels.names().map(|name| plain(name).to_owned()).collect();
    let trials = Trials::of_device(&texts, names, opencl::timeout(plan), stop)?;
    let of_text = kernels.dictionary.numbers.clone();
    let collected = Collected { subjects, skipped, of_text, known, written: Some((path, text)) };
    let notes = texts.notes();
    Ok(Generated { notes, ..all_searched(collected, &trials, (request, plan), tell, stop)? })
}

/// The kernels of the files that are searched. Behind the file that has them stands what launches them, in the place of its own `main`.
fn collected(prepared: &mut Prepared, request: &Request, plan: &Search) -> Result<Collected, RunError> {
    let mut collected = Collected::default();
    for file in &mut prepared.files {
        let Some(text) = &mut file.text else { continue };
        let kernels = guarded(&file.path, || described::kernels(&file.path, text, &request.options))?;
        collected.known.extend(kernels.names().map(str::to_owned));
        let cuda = |_: &str| (Language::Cuda, Vec::new());
        let (found, not) = guarded(&file.path, || subjects_of(&kernels, plan, &cuda))?;
        collected.skipped.extend(not);
        let own = text.clone();
        if let Some(without) = kernels.without_main(text) {
            *text = without;
        }
        if found.is_empty() {
            continue;
        }
        // One program runs the kernels of one file.
        if collected.subjects.is_empty() {
            collected.of_text.clone_from(&kernels.dictionary.numbers);
            collected.written = Some((file.path.clone(), own));
            let targets: Vec<Target> = found.iter().map(|subject| subject.target.clone()).collect();
            text.push_str(&cases::program(&targets));
            collected.subjects = found;
            continue;
        }
        for subject in found {
            let kernel = subject.signature.kernel;
            let reason = format!("it stands in {}; name that file first", file.path.display());
            collected.skipped.push(Skipped { kernel, reason });
        }
    }
    Ok(collected)
}

/// Searches inputs for all subjects.
fn all_searched(
    collected: Collected,
    trials: &Trials<'_>,
    (request, plan): (&Request, &Search),
    tell: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Generated, RunError> {
    let Collected { mut subjects, skipped, of_text, known: _, written } = collected;
    let mut generated = Generated { skipped, ..Generated::default() };
    let mut questions = match &written {
        Some((path, text)) => Some(guarded(path, || Questions::new(path, text, &request.options))?),
        None => None,
    };
    let mut reached_so_far: BTreeSet<Goal> = BTreeSet::new();
    let mut impossible: BTreeSet<Goal> = BTreeSet::new();
    for (number, subject) in subjects.iter_mut().enumerate() {
        if let Some(questions) = &questions {
            subject.signature.ones = questions.ones(&subject.signature.kernel);
        }
        tell(&format!("searching inputs for {}", subject.signature.kernel));
        let (goals, callees) = trials.goals(&subject.signature.kernel);
        let mut dictionary = subject.dictionary.clone();
        dictionary.extend(of_text.iter().filter(|number| !subject.dictionary.contains(number)));
        let asked =
            questions.as_ref().map_or_else(Vec::new, |questions| questions.asks_of_contents(&subject.signature.kernel));
        let contracts = asked.iter().filter_map(|text| DataContract::named(text, &subject.signature)).collect();
        // What one instance of a template reaches, another has yet to reach by itself.
        let spared = reached_so_far.difference(&goals).copied().collect();
        let wanted = Wanted { goals, callees, spared, comparisons: trials.comparisons(), dictionary, contracts };
        let found = searched((number, subject), &wanted, plan, (trials, questions.as_mut()), stop)?;
        reached_so_far.extend(&found.reached);
        impossible.extend(&found.impossible);
        let breaking: Vec<&Case> = found.breaking.iter().map(|(case, _)| case).collect();
        let breaking = (!breaking.is_empty()).then(|| Case::description(&subject.signature, &breaking));
        let cases: Vec<&Case> = found.kept.iter().map(|(case, _)| case).collect();
        let mut launches = Vec::new();
        for case in &cases {
            let coverage = trials.coverage(number, &subject.signature, case, stop)?;
            launches.push((case.words(&subject.signature), coverage));
        }
        let description = (!cases.is_empty()).then(|| Case::description(&subject.signature, &cases));
        generated.kernels.push(Searched {
            kernel: subject.signature.kernel.clone(),
            launches,
            tried: found.tried,
            failures: found.failures,
            description,
            breaking,
            contract: asked,
        });
    }
    generated.conclude(trials.untouched(&impossible));
    Ok(generated)
}

fn searched(
    (number, subject): (usize, &Subject),
    wanted: &Wanted,
    plan: &Search,
    (trials, questions): (&Trials<'_>, Option<&mut Questions>),
    stop: Stop<'_>,
) -> Result<Found, RunError> {
    let start = Instant::now();
    let is_over = || stop() || start.elapsed() >= plan.time;
    let budget = Budget { most: plan.tries, patience: PATIENCE, is_over: &is_over, seed: plan.seed };
    // Runs need their share of the time.
    let mut knowing = Knowing { number, subject, trials, questions, stop, left: plan.time / 2 };
    search(&subject.signature, wanted, budget, &mut knowing)
}

/// Who runs cases of a kernel, and asks the checker.
struct Knowing<'s, 't> {
    number: usize,
    subject: &'s Subject,
    trials: &'s Trials<'t>,
    questions: Option<&'s mut Questions>,
    stop: Stop<'s>,
    /// How long the checker may still be asked.
    left: Duration,
}

impl Oracle for Knowing<'_, '_> {
    type Error = RunError;

    fn run(&mut self, case: &Case) -> Result<Answer, RunError> {
        self.trials.answer(self.number, &self.subject.signature, case, self.stop)
    }

    fn reason(&mut self, goal: Goal, case: &Case) -> Reasoned {
        let Some(questions) = self.questions.as_deref_mut() else { return Reasoned::Open };
        let Some((kind, place)) = self.trials.place(goal, questions.path()) else { return Reasoned::Open };
        let kernel = described::plain(&self.subject.signature.kernel);
        if self.left.is_zero() {
            return Reasoned::Open;
        }
        let start = Instant::now();
        // A checker that fails leaves the search as it was.
        let said = guarded(&questions.path().to_path_buf(), || questions.ask(kernel, place, kind, goal.side));
        self.left = self.left.saturating_sub(start.elapsed());
        match said {
            Ok(Some(Said::Impossible)) => Reasoned::Impossible,
            Ok(Some(Said::Launch(witness))) => {
                Reasoned::Try(Box::new(launched(&self.subject.signature, case, &witness)))
            }
            _ => Reasoned::Open,
        }
    }
}

/// The launch of a witness; what it says nothing of stays as it is in `case`.
fn launched(signature: &Signature, case: &Case, witness: &WitnessReport) -> Case {
    let mut case = case.clone();
    case.grid = witness.grid_dim;
    case.block = witness.block_dim;
    for (slot, number) in signature.numbers.iter().zip(&mut case.numbers) {
        let given = witness.params.iter().find(|(name, _)| *name == slot.name);
        if let Some(value) = given.and_then(|(_, value)| whole(slot.scalar, *value)) {
            *number = value;
        }
    }
    case
}

/// Whether a kernel, or an instance of it, is the one that is asked for.
fn is_meant(kernel: &str, wanted: &str) -> bool {
    kernel == wanted || is_named(described::split(kernel).0, wanted)
}

/// Whether each kernel that is asked for is among those that there are.
fn are_there(plan: &Search, known: &[String]) -> Result<(), NoKernel> {
    // An instance is sought under the name of its template.
    let is_there = |wanted: &str| known.iter().any(|name| is_meant(name, described::split(wanted).0));
    match plan.kernels.iter().find(|wanted| !is_there(wanted)) {
        Some(wanted) => Err(NoKernel::new(wanted, "in the files given", known.iter().map(String::as_str))),
        None => Ok(()),
    }
}

/// The kernels of a file that are searched, and why others are not.
/// `local` says which language a kernel is in, and which of its parameters are pointers to local memory.
fn subjects_of(
    kernels: &described::Kernels,
    plan: &Search,
    local: &(dyn Fn(&str) -> (Language, Vec<String>) + Sync),
) -> (Vec<Subject>, Vec<Skipped>) {
    let is_wanted = |kernel: &str| plan.kernels.is_empty() || plan.kernels.iter().any(|it| is_meant(kernel, it));
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    let instances = kernels.instances();
    for instance in &instances {
        let kernel = &instance.kernel;
        if !is_wanted(kernel) {
            continue;
        }
        let (language, local) = local(kernel);
        let signature = Signature::of(&instance.target, kernel, (language, &local));
        let signature = signature.filter(|_| cases::is_givable(&instance.target));
        let Some(mut signature) = signature else {
            let what = instance.target.parameters.iter().find_map(ungivable);
            let reason = what.unwrap_or_else(|| "it takes what no launch description can give".to_owned());
            skipped.push(Skipped { kernel: kernel.clone(), reason });
            continue;
        };
        let Dictionary { axes, has_dynamic_shared, waits_for_the_grid, .. } = kernels.dictionary;
        signature.axes = axes;
        // In OpenCL it is a parameter.
        signature.has_dynamic_shared = has_dynamic_shared && language == Language::Cuda;
        signature.is_cooperative = waits_for_the_grid;
        let dictionary = instance.launches.iter().flat_map(|launch| of_launch(launch)).collect();
        found.push(Subject { signature, target: instance.target.clone(), dictionary });
    }
    for name in kernels.names().filter(|name| is_wanted(name)) {
        if !instances.iter().any(|instance| described::split(&instance.kernel).0 == name) {
            let reason = "it is a template, and nothing in the file launches an instance of it".to_owned();
            skipped.push(Skipped { kernel: name.to_owned(), reason });
        }
    }
    (found, skipped)
}

fn ungivable(parameter: &Parameter) -> Option<String> {
    match &parameter.kind {
        ParameterKind::Other(what) => Some(format!("its parameter `{}` is {what}", parameter.name)),
        ParameterKind::Texture => Some(format!("its parameter `{}` is a texture object", parameter.name)),
        _ => None,
    }
}

/// The constants of a launch in host code.
fn of_launch(launch: &Launch) -> impl Iterator<Item = i128> + '_ {
    let extents = launch.block.iter().flatten().map(|&extent| i128::from(extent));
    extents.chain(launch.args.iter().flatten().copied()).filter(|&number| number > 1)
}
