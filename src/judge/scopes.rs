//! For which launches a kernel is judged: the sets that are tried, the widest first
//! (docs/SEMANTICS.md, "What a verdict means").
//!
//! Geometry comes from the command line, else from `reqd_work_group_size`, else from the launches in the
//! translation unit, else it is free. A dimension that the kernel never reads is taken as 1 when nothing
//! says otherwise ([`extents`]); that is part of the scope and printed. A launch says otherwise if it has another extent there,
//! or one that is not known (`dim3(8, n)`); where it gives the size as a whole that is not understood, or the kernel is named
//! in a way that is not followed, a proof that needs the 1 does not count ([`withhold`]).

use super::Settings;
use super::settings::{GlobalOffset, Launches, Levels};
use crate::calculus::{Kernel, Param, extents, is_offset};
use crate::check::verdict::{CheckedLaunch, Conjunct, Contract, ContractKind, Keeping, Standing, Undecided, Verdict};
use crate::diagnostic::report::{self, Race, ScopeKind};
use crate::launch::{Facts, Given};
use crate::prove::{Assumption, Scope};
use std::collections::BTreeSet;

/// One set of launches.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What it fixes.
    pub(super) scope: Scope,
    /// How it is named.
    pub(super) kind: ScopeKind,
    /// What it takes for granted.
    pub(super) assumptions: BTreeSet<Assumption>,
    /// The extents of blocks and of the grid that the launch gives and that are not known.
    pub(super) varies: [[bool; 3]; 2],
    /// Which of the launches that were found these are, by position.
    pub(super) launches: Vec<usize>,
}

/// The sets for which a kernel is judged.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Sets for which freedom is to be proved, the widest first; each holds all stated launches. The last one,
    /// in which conflicts are looked for too, holds exactly the stated launches, or all if none is stated.
    pub(super) proofs: Vec<Attempt>,
    /// Whether a conflict where global ids start elsewhere than at 0 is none: who gives a launch and no offset means none.
    pub(super) offsets_are_left_out: bool,
}

impl Candidates {
    /// Without the wider sets, if what is assumed is seen to exclude a stated launch: what is proved of other launches says
    /// nothing of that one.
    pub(super) fn keep_those_of_stated_launches(&mut self, excludes: impl Fn(&Scope) -> bool) {
        let stated = self.proofs.last().filter(|_| self.proofs.len() > 1);
        if stated.is_some_and(|stated| stated.parts.iter().any(|part| excludes(&part.scope))) {
            self.proofs.drain(..self.proofs.len() - 1);
        }
    }
}

/// One attempt at a proof: it succeeds if all its parts do.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// Parts, each a set of launches that is proved by itself.
    pub(super) parts: Vec<Candidate>,
    /// Where global ids start in them.
    pub(super) starts: Starts,
}

/// Where global ids start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// Where the launch says, which is anywhere if it does not.
    AsStated,
    /// At 0: the same launches stand before it without that.
    AtZero,
}

/// The sets for `kernel`, given the command line and the launches of it in its file.
pub(super) fn candidates(kernel: &Kernel, launches: &[Facts], settings: &Settings) -> Candidates {
    let mut read = extents::that_matter(kernel);
    // Who asks about threads of two blocks alone means grids that have two.
    read[1][0] |= settings.levels == Levels::Grid;
    let params = fixed_params(kernel, settings);
    let mut stated = stated_launches(kernel, launches, settings, &params);
    let all = all_geometries(kernel, &read, &params, &stated);
    let everywhere = where_sizes_are_open(launches, settings, read)
        .map(|read| vec![all_geometries(kernel, &read, &params, &stated)]);
    for launch in &mut stated {
        let varies = launch.varies;
        take_as_one(launch, |at| !read[0][at] && !varies[0][at], |at| !read[1][at] && !varies[1][at]);
    }
    let sets = everywhere.into_iter().chain([vec![all], stated]).filter(|parts| !parts.is_empty());
    let mut candidates = Candidates { proofs: Vec::new(), offsets_are_left_out: false };
    for parts in sets {
        let is_given = parts.iter().any(|part| part.kind == ScopeKind::Given);
        let mut attempts = with_and_without_offsets(kernel, parts);
        if settings.device.global_offset == GlobalOffset::Any {
            attempts.truncate(1);
        } else if is_given {
            attempts.drain(..attempts.len() - 1);
            candidates.offsets_are_left_out = true;
        }
        candidates.proofs.extend(attempts);
    }
    candidates
}

/// A set of launches: first whatever their global ids start at, then where they start at 0, as nearly all do.
fn with_and_without_offsets(kernel: &Kernel, parts: Vec<Candidate>) -> Vec<Attempt> {
    let offsets: Vec<(usize, &str)> = kernel
        .params
        .iter()
        .filter(|(_, param)| is_offset(&param.name))
        .map(|(id, param)| (id.index(), param.name.as_str()))
        .collect();
    let any = Attempt { parts, starts: Starts::AsStated };
    let mut none = Attempt { starts: Starts::AtZero, ..any.clone() };
    for part in &mut none.parts {
        part.scope.params.resize(kernel.params.len(), None);
        for &(at, name) in &offsets {
            if part.scope.params[at].is_none() {
                part.scope.params[at] = Some(0);
                part.assumptions.insert(Assumption::NoOffset(name.to_owned()));
            }
        }
    }
    let differs = |part: &Candidate| part.assumptions.iter().any(|each| matches!(each, Assumption::NoOffset(_)));
    if none.parts.iter().any(differs) { vec![any, none] } else { vec![any] }
}

/// The sets of launches that a verdict of such a scope is about.
pub fn of_kind(kernel: &Kernel, launches: &[Facts], settings: &Settings, kind: &ScopeKind) -> Vec<Scope> {
    let attempts = candidates(kernel, launches, settings).proofs;
    let attempt = attempts.iter().find(|attempt| describe(kernel, attempt).kind == *kind);
    attempt.into_iter().flat_map(|attempt| &attempt.parts).map(|part| part.scope.clone()).collect()
}

fn fixed_params(kernel: &Kernel, settings: &Settings) -> Vec<Option<i128>> {
    // No launch gives a parameter a value that its type has not: whatever was proved of it would be about nothing.
    let value = |param: &Param| settings.given(&param.name).filter(|&value| param.ty.holds(value));
    let starts_at_zero = settings.device.global_offset == GlobalOffset::Zero;
    let offset = |name: &str| (starts_at_zero && is_offset(name)).then_some(0);
    kernel.params.iter().map(|(_, param)| value(param).or_else(|| offset(&param.name))).collect()
}

/// The launches that the user or the source states; empty if none is.
fn stated_launches(
    kernel: &Kernel,
    launches: &[Facts],
    settings: &Settings,
    params: &[Option<i128>],
) -> Vec<Candidate> {
    let given = |kind| Candidate {
        scope: Scope {
            block: or_else(settings.block, kernel.geometry.required_block.map(|block| block.map(Some))),
            grid: settings.grid,
            params: params.to_vec(),
            most_threads: None,
        },
        kind,
        assumptions: BTreeSet::new(),
        varies: [[false; 3]; 2],
        launches: Vec::new(),
    };
    let fixed = |dims: &[Option<u32>; 3]| dims.iter().any(Option::is_some);
    if fixed(&settings.block) || fixed(&settings.grid) {
        return vec![given(ScopeKind::Given)];
    }
    let mut stated: Vec<Candidate> = Vec::new();
    for (at, launch) in launches.iter().enumerate() {
        let block = or_else(launch.block, kernel.geometry.required_block.map(|block| block.map(Some)));
        let arguments = kernel.params.iter().zip(params).map(|((_, param), given)| {
            given.or_else(|| launch.params.iter().find(|(name, _)| *name == param.name).map(|&(_, value)| value))
        });
        let scope = Scope { block, grid: launch.grid, params: arguments.collect(), most_threads: None };
        let varies = [(0, scope.block), (1, scope.grid)]
            .map(|(of, extents)| extents.map(|extent| extent.is_none() && launch.given[of] == Given::ByAxis));
        match stated.iter_mut().find(|known| known.scope == scope) {
            Some(known) => {
                for (known, varies) in known.varies.iter_mut().flatten().zip(varies.iter().flatten()) {
                    *known |= varies;
                }
                known.launches.push(at);
            }
            None => stated.push(Candidate {
                scope,
                kind: ScopeKind::Launch,
                assumptions: BTreeSet::new(),
                varies,
                launches: vec![at],
            }),
        }
    }
    stated
}

fn or_else(first: [Option<u32>; 3], second: Option<[Option<u32>; 3]>) -> [Option<u32>; 3] {
    match second {
        Some(second) if first.iter().all(Option::is_none) => second,
        _ => first,
    }
}

/// Every launch, but with the dimensions that the kernel never reads taken as 1 unless a stated launch contradicts.
fn all_geometries(kernel: &Kernel, read: &[[bool; 3]; 2], params: &[Option<i128>], stated: &[Candidate]) -> Candidate {
    let mut all = Candidate {
        scope: Scope { params: params.to_vec(), ..Scope::default() },
        kind: ScopeKind::AllGeometries,
        assumptions: BTreeSet::new(),
        varies: [[false; 3]; 2],
        launches: Vec::new(),
    };
    if let Some(block) = kernel.geometry.required_block {
        all.scope.block = block.map(Some);
    }
    let one = |of: usize, extent: fn(&Scope) -> [Option<u32>; 3]| {
        let is_one = |each: &Candidate, at: usize| extent(&each.scope)[at].is_none_or(|extent| extent == 1);
        [0, 1, 2].map(|at| stated.iter().all(|each| is_one(each, at) && !each.varies[of][at]))
    };
    let (block, grid) = (one(0, |scope| scope.block), one(1, |scope| scope.grid));
    // A grid consists of whole clusters, read or not.
    let clustered = kernel.geometry.clusters().unwrap_or([1; 3]).map(|blocks| blocks > 1);
    take_as_one(&mut all, |at| !read[0][at] && block[at], |at| !read[1][at] && grid[at] && !clustered[at]);
    all
}

/// The dimensions that a kernel reads, or of which a launch says something that is not understood: a proof that leaves these
/// free, too, is not taken back.
fn where_sizes_are_open(launches: &[Facts], settings: &Settings, read: [[bool; 3]; 2]) -> Option<[[bool; 3]; 2]> {
    let mut open = read;
    for launch in launches {
        for (of, extents) in [launch.block, launch.grid].into_iter().enumerate() {
            let is_open = matches!(launch.given[of], Given::AsAWhole | Given::Unread);
            for at in 0..3 {
                open[of][at] |= is_open && extents[at].is_none();
            }
        }
    }
    let is_given = settings.gives_sizes();
    (open != read && !is_given).then_some(open)
}

/// What becomes of a proof that takes extents as 1 which the kernel never reads: that they are is its contract. Where a launch says
/// something of an extent along x that is not understood, the proof is taken back: along x many launch.
pub fn withhold(verdict: &mut Verdict, launches: &[Facts], settings: &Settings) {
    if verdict.race != Race::RaceFree || settings.gives_sizes() {
        return;
    }
    let unread = unread(verdict);
    let open: Vec<(Extent, Undecided)> = unread.iter().filter_map(|&it| Some((it, it.open(launches)?))).collect();
    // What is proved of the launches that were found says so already.
    let is_of_launches = verdict.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Launch);
    let makes_contracts = settings.launches == Launches::OfContracts && !(is_of_launches && open.is_empty());
    match open.into_iter().find(|(extent, _)| !makes_contracts || extent.axis == 0) {
        Some((_, open)) => {
            verdict.race = Race::Unknown;
            verdict.undecided.push(open);
        }
        None if makes_contracts && !unread.is_empty() => want_one(verdict, &unread, launches),
        None => {}
    }
}

/// An extent of the block, or of the grid.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extent {
    /// 0 is the block, 1 the grid.
    of: usize,
    axis: usize,
}

impl Extent {
    fn all() -> impl Iterator<Item = Extent> {
        (0..2).flat_map(|of| (0..3).map(move |axis| Extent { of, axis }))
    }

    fn name(self) -> String {
        format!("{}.{}", ["blockDim", "gridDim"][self.of], ["x", "y", "z"][self.axis])
    }

    fn at(self, launch: &Facts) -> Option<u32> {
        [launch.block, launch.grid][self.of][self.axis]
    }

    /// What a launch says of it that is not understood.
    fn open(self, launches: &[Facts]) -> Option<Undecided> {
        let dimension = self.name();
        let given_as = |given: Given| {
            let launch = launches.iter().find(|launch| launch.given[self.of] == given && self.at(launch).is_none());
            launch.map(|launch| launch.spans[0])
        };
        if let Some(span) = given_as(Given::AsAWhole) {
            return Some(Undecided::Extent { dimension, span });
        }
        given_as(Given::Unread).map(|span| Undecided::Mentioned { dimension, span })
    }
}

/// The extents that a proof takes as 1.
fn unread(verdict: &Verdict) -> Vec<Extent> {
    let is_one = |extent: &Extent| verdict.assumptions.contains(&Assumption::DimensionIsOne(extent.name()));
    Extent::all().filter(is_one).collect()
}

/// Makes it a part of the contract that these extents are 1, which launches that leave them open are not shown to keep.
fn want_one(verdict: &mut Verdict, extents: &[Extent], launches: &[Facts]) {
    let names: Vec<String> = extents.iter().map(|extent| extent.name()).collect();
    let is_own = |assumption: &Assumption| match assumption {
        Assumption::DimensionIsOne(dimension) => names.contains(dimension),
        _ => false,
    };
    verdict.assumptions.retain(|assumption| !is_own(assumption));
    let assumptions = verdict.assumptions.clone();
    let standing = Standing::Plausible;
    let none = || Contract { conjuncts: Vec::new(), standing, assumptions, launches: Vec::new() };
    let contract = verdict.contract.get_or_insert_with(none);
    contract.assumptions.retain(|assumption| !is_own(assumption));
    let first = contract.conjuncts.len();
    contract.conjuncts.extend(extents.iter().map(|extent| Conjunct {
        text: format!("{} == 1", extent.name()),
        kind: ContractKind::Unread(extent.axis),
        necessary: None,
    }));
    for (at, launch) in launches.iter().enumerate() {
        let open = extents.iter().enumerate().filter(|(_, extent)| extent.at(launch).is_none());
        let missing: Vec<usize> = open.map(|(index, _)| first + index).collect();
        let keeping = if missing.is_empty() { Keeping::Kept } else { Keeping::Open };
        match contract.launches.iter_mut().find(|known| known.launches.contains(&at)) {
            Some(known) => {
                known.keeping = known.keeping.max(keeping);
                known.missing.extend(missing);
            }
            // Of the other conditions nobody has asked it.
            None => {
                let missing: Vec<usize> = (0..first).chain(missing).collect();
                let keeping = if missing.is_empty() { Keeping::Kept } else { Keeping::Open };
                contract.launches.push(CheckedLaunch { launches: vec![at], keeping, missing, races: Vec::new() });
            }
        }
    }
    let is_kept = !contract.launches.is_empty() && contract.launches.iter().all(|it| it.keeping == Keeping::Kept);
    if let Some(scope) = &mut verdict.scope {
        scope.kind = if is_kept { ScopeKind::Launch } else { ScopeKind::Contract };
        scope.fixes.retain(|fix| !names.iter().any(|name| *fix == format!("{name} = 1")));
    }
}

/// Fixes the free dimensions that are asked for at 1, and says so.
fn take_as_one(candidate: &mut Candidate, of_block: impl Fn(usize) -> bool, of_grid: impl Fn(usize) -> bool) {
    for (at, letter) in ["x", "y", "z"].into_iter().enumerate() {
        if of_block(at) && candidate.scope.block[at].is_none() {
            candidate.scope.block[at] = Some(1);
            candidate.assumptions.insert(Assumption::DimensionIsOne(format!("blockDim.{letter}")));
        }
        if of_grid(at) && candidate.scope.grid[at].is_none() {
            candidate.scope.grid[at] = Some(1);
            candidate.assumptions.insert(Assumption::DimensionIsOne(format!("gridDim.{letter}")));
        }
    }
}

/// The scope in words, over all parts of an attempt.
pub(super) fn describe(kernel: &Kernel, attempt: &Attempt) -> report::Scope {
    let mut fixes = Vec::new();
    for part in &attempt.parts {
        let mut text = Vec::new();
        for (dims, name) in [(&part.scope.block, "blockDim"), (&part.scope.grid, "gridDim")] {
            for (extent, letter) in dims.iter().zip(["x", "y", "z"]) {
                text.extend(extent.map(|extent| format!("{name}.{letter} = {extent}")));
            }
        }
        // What is assumed of offsets is told among the assumptions.
        let params = kernel.params.iter().zip(&part.scope.params).filter(|((_, param), _)| !is_offset(&param.name));
        for ((_, param), value) in params {
            text.extend(value.map(|value| format!("{} = {value}", param.name)));
        }
        fixes.extend(text.into_iter().filter(|fix| !fixes.contains(fix)).collect::<Vec<_>>());
    }
    let kind = attempt.parts.first().map_or(ScopeKind::AllGeometries, |part| part.kind.clone());
    report::Scope { kind, fixes }
}
