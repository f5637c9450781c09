//! What there is to see of kernels: where they access memory and wait, and pictures of small launches.
//!
//! Guarantees: of a kernel that is proved free of races no launch is drawn in which two threads collide, since such a launch is
//! none that the proof is about. A kernel of which nothing can be drawn leaves the others as they are.
//!
//! Deliberately absent: pages, which [`crate::site`] writes.

use super::details::{OfKernel, of_kernel};
use super::isolate::isolated;
use super::options::Options;
use super::own_options::options_for;
use crate::calculus::{Geometry, Kernel, is_offset};
use crate::check::contents::chosen;
use crate::diagnostic::report::{KernelReport, Race, ScopeKind, WitnessReport};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::judge::scopes;
use crate::launch::{self, Launched};
use crate::picture::Picture;
use crate::protocol::infer;
use crate::prove::Scope;
use crate::prove::refute::shown;
use crate::resolve::program::{FunctionId, Program};
use crate::source::Span;

/// Small launches that are drawn of a kernel.
const MOST_LAUNCHES: usize = 6;
/// Findings whose witnesses are drawn.
const MOST_WITNESSES: usize = 8;

/// What there is to see of a kernel.
#[derive(Debug, Default)]
pub struct Pictured {
    /// Where it accesses memory, and its barriers.
    pub details: Option<OfKernel>,
    /// Its body, from the first statement to the last one; `None` if it is empty.
    pub body: Option<Span>,
    /// Launches that witnesses name, in the order of the findings.
    pub witnesses: Vec<(WitnessReport, Picture)>,
    /// Small launches within the scope of its verdict.
    pub launches: Vec<Picture>,
}

/// What there is to see of the kernels of a file, as they were judged.
pub(super) fn pictured(
    file: &Launched,
    judged: &[(FunctionId, Kernel)],
    reports: &[KernelReport],
    options: &Options,
) -> Vec<Pictured> {
    let each = judged.iter().zip(reports);
    each.map(|((function, kernel), report)| {
        isolated(|| of(file, *function, kernel, report, options)).unwrap_or_default()
    })
    .collect()
}

fn of(file: &Launched, function: FunctionId, kernel: &Kernel, report: &KernelReport, options: &Options) -> Pictured {
    let words = Vocabulary::of(file.program.language);
    let details = Some(of_kernel(&infer::infer(kernel), words));
    let witnessed = report.each_finding().filter_map(|finding| Some((finding, finding.witness.as_ref()?)));
    let drawn = witnessed.take(MOST_WITNESSES).filter_map(|(finding, witness)| {
        let geometry = Geometry { block: witness.block_dim, grid: witness.grid_dim };
        let mut blocks: Vec<[u32; 3]> = witness.threads.iter().map(|thread| thread.block).collect();
        blocks.sort_unstable_by_key(|block| [block[2], block[1], block[0]]);
        blocks.dedup();
        let value = |name: &str| witness.params.iter().find(|(given, _)| given == name).map(|&(_, value)| value);
        let named = kernel.params.iter().map(|(_, param)| value(&param.name)).collect();
        let launch = (geometry, starting_at_zero(kernel, named));
        let run = shown::of_witness(kernel, launch, blocks, &chosen(kernel, finding))?;
        Some((witness.clone(), Picture::of(kernel, &run)))
    });
    let mut witnesses: Vec<(WitnessReport, Picture)> = Vec::new();
    for (witness, picture) in drawn {
        if !witnesses.iter().any(|(_, known)| *known == picture) {
            witnesses.push((witness, picture));
        }
    }
    let mut launches = Vec::new();
    for scope in scopes_of(file, function, kernel, report, options) {
        let most = MOST_LAUNCHES - launches.len();
        let is_wanted = |picture: &Picture| report.race != Race::RaceFree || !picture.has_collisions();
        let shown = shown::of_small_launches(kernel, &scope, 2 * MOST_LAUNCHES);
        let new = shown.iter().map(|shown| Picture::of(kernel, shown)).filter(is_wanted);
        launches.extend(new.take(most));
    }
    Pictured { details, body: body(&file.program, function), witnesses, launches }
}

/// The launches that the verdict is about: those that were found, or any.
fn scopes_of(
    file: &Launched,
    function: FunctionId,
    kernel: &Kernel,
    report: &KernelReport,
    options: &Options,
) -> Vec<Scope> {
    let facts = launch::facts(file, function).0;
    let options = &*options_for(options, &file.program, function);
    let of_kind = |kind: &ScopeKind| scopes::of_kind(kernel, &facts, &options.judging, kind);
    let kinds = report.scope.iter().map(|scope| &scope.kind);
    let found = kinds.flat_map(of_kind).next().map(|scope| vec![scope]);
    let found = found.unwrap_or_else(|| of_kind(&ScopeKind::AllGeometries));
    let given = || Scope { block: options.judging.block, grid: options.judging.grid, ..Scope::default() };
    let found = if found.is_empty() { vec![given()] } else { found };
    found.into_iter().map(|scope| Scope { params: starting_at_zero(kernel, scope.params), ..scope }).collect()
}

/// Values of parameters, where global ids start at 0 unless that is given otherwise: nearly all launches are such.
fn starting_at_zero(kernel: &Kernel, mut params: Vec<Option<i128>>) -> Vec<Option<i128>> {
    params.resize(kernel.params.len(), None);
    for (value, (_, param)) in params.iter_mut().zip(kernel.params.iter()) {
        if is_offset(&param.name) {
            value.get_or_insert(0);
        }
    }
    params
}

/// From the first statement of a kernel to its last one.
fn body(program: &Program, function: FunctionId) -> Option<Span> {
    let statements = program.functions[function].body.as_ref()?;
    let (first, last) = (statements.first()?, statements.last()?);
    Some(program.sources.join(first.span, last.span))
}
