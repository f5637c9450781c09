//! Nothing that is proved of a fixture may be refuted: for every pair and barrier with a proof, launches are
//! looked for that contradict it, both those that the condition asks for and enumerated ones.

use crate::support::draw::part;
use crate::support::tier::tiers;
use raceproof::calculus::eval::Program;
use raceproof::calculus::intervals::{self, Intervals};
use raceproof::calculus::{Expr, Geometry, GeometryVar, Kernel, SiteId, Space};
use raceproof::front::tree_sitter;
use raceproof::memory_model::{self, Level};
use raceproof::preprocess::Options;
use raceproof::protocol::infer::infer;
use raceproof::protocol::{Protocol, SyncId};
use raceproof::prove::condition;
use raceproof::prove::premises::{Budget, Premises};
use raceproof::prove::refute::{self, Hunt, Levels};
use raceproof::prove::{Assumption, Groups, Pair, Returned, Scope, SyncQuestion};
use raceproof::settle::Unsettled;
use raceproof::source::{Language, SourceMap};
use raceproof::{launch, lower};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the proofs of a kernel cover.
#[derive(Default)]
struct Proved {
    pairs: Vec<Pair>,
    /// Sites between which some question stayed open, with the level.
    open: BTreeSet<(SiteId, SiteId, Level)>,
    assumptions: BTreeSet<Assumption>,
}

/// Kernels of a fixture, with the language.
fn kernels(path: &Path) -> (Language, Vec<Kernel>) {
    let text = std::fs::read_to_string(path).unwrap();
    let language =
        if path.extension().is_some_and(|extension| extension == "cl") { Language::OpenCl } else { Language::Cuda };
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let answer = tree_sitter::parse(sources, main, &Options::new(language));
    let lowered = lower::kernels(&launch::resolve(answer.unit).launched.program);
    (language, lowered.into_iter().map(Unsettled::settled).collect())
}

/// Every launch in which the dimensions that the kernel never reads are 1.
fn scope_of(kernel: &Kernel) -> Scope {
    let mut scope = Scope { block: [Some(1); 3], grid: [Some(1); 3], ..Scope::default() };
    for (_, node) in kernel.exprs.iter() {
        match node {
            Expr::Geometry(GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis)) => {
                scope.block[axis.index()] = None
            }
            Expr::Geometry(GeometryVar::BlockIdx(axis) | GeometryVar::GridDim(axis)) => scope.grid[axis.index()] = None,
            _ => {}
        }
    }
    scope
}

fn intervals_of(kernel: &Kernel, protocol: &Protocol, uniform: &[SyncId], space: Space, level: Level) -> Intervals {
    let orders = |site: SiteId| {
        uniform.iter().any(|&id| {
            let sync = &protocol.syncs[id];
            sync.site == site && memory_model::orders(sync.scope, sync.memory, space, level)
        })
    };
    intervals::analyze(kernel, &orders)
}

fn key(protocol: &Protocol, pair: &Pair) -> (SiteId, SiteId, Level) {
    let [one, other] = [pair.first, pair.second].map(|access| protocol.accesses[access].site);
    (one.min(other), one.max(other), pair.level)
}

fn prove(kernel: &Kernel, protocol: &Protocol, premises: &Premises<'_>, uniform: &[SyncId]) -> Proved {
    let mut proved = Proved::default();
    // Two blocks are of one cluster or of two, where the kernel says how large clusters are.
    let has_clusters = kernel.geometry.clusters().is_some();
    let levels = [Level::Block, Level::Cluster, Level::Grid];
    for level in levels.into_iter().filter(|level| has_clusters || *level != Level::Cluster) {
        for space in [Space::Shared, Space::Distributed, Space::Global, Space::Image] {
            let intervals = intervals_of(kernel, protocol, uniform, space, level);
            for pair in condition::pairs(protocol, &intervals, level) {
                if kernel.arrays[protocol.accesses[pair.first].array].space != space {
                    continue;
                }
                match premises.prove_pair(&pair, &Budget::SMALL) {
                    Ok(proof) => {
                        proved.assumptions.extend(proof.assumptions);
                        proved.pairs.push(pair);
                    }
                    Err(_) => drop(proved.open.insert(key(protocol, &pair))),
                }
            }
        }
    }
    proved.pairs.retain(|pair| !proved.open.contains(&key(protocol, pair)));
    proved
}

/// What contradicts the proofs of a kernel.
fn contradictions(kernel: &Kernel, language: Language) -> (usize, Vec<String>) {
    let protocol = infer(kernel);
    let scope = scope_of(kernel);
    let returned = if language == Language::Cuda { Returned::ReleaseBarriers } else { Returned::StillCount };
    let premises = Premises::new(&protocol, &scope);
    let asked = |sync: SyncId| SyncQuestion { sync, level: Level::Block, groups: Groups::Any };
    let is_uniform = |&sync: &SyncId| premises.prove_sync_uniform(asked(sync), returned, &Budget::SMALL).is_ok();
    let uniform: Vec<SyncId> = protocol.syncs.handles().filter(is_uniform).collect();
    let proved = prove(kernel, &protocol, &premises, &uniform);
    let program = Program::new(kernel);
    let levels = Levels { block: true, grid: true };
    let mut hunt = Hunt::new(kernel, &program, &scope, levels, &refute::Budget { steps: 20_000 });
    let mut found = Vec::new();
    for &sync in &uniform {
        if hunt.diverges(&protocol, asked(sync), returned) {
            found.push(format!("{}: barrier {sync:?}", kernel.name));
        }
    }
    for pair in &proved.pairs {
        hunt.conflicts(&protocol, pair);
    }
    let sites: Vec<(SiteId, SiteId)> =
        proved.pairs.iter().map(|pair| key(&protocol, pair)).map(|key| (key.0, key.1)).collect();
    if sites.is_empty() {
        return (uniform.len(), found);
    }
    let outcome = hunt.finish(None, &sites);
    // A proof may rely on arithmetic that does not wrap.
    let wraps = !outcome.wraps.is_empty() || !outcome.wrapped_loops.is_empty();
    let excused = wraps && proved.assumptions.iter().any(|one| matches!(one, Assumption::NoUnsignedWrap { .. }));
    for conflict in outcome.conflicts {
        let [one, other] = conflict.sites;
        let level = if conflict.level == Level::Grid { Level::Grid } else { Level::Block };
        let claimed = !proved.open.contains(&(one.min(other), one.max(other), level));
        let asked = proved.pairs.iter().any(|pair| key(&protocol, pair) == (one.min(other), one.max(other), level));
        // Ids that do not fit into an `int` wrap where they are kept in one.
        let Geometry { block, grid } = conflict.witness.geometry;
        let fits = block.iter().zip(grid).all(|(&block, grid)| u64::from(block) * u64::from(grid) < 1 << 31);
        if claimed && asked && !conflict.after_earlier && !excused && fits {
            found.push(format!("{}: {conflict:?}", kernel.name));
        }
    }
    (uniform.len() + proved.pairs.len(), found)
}

#[test]
fn nothing_proved_of_a_fixture_is_refuted() {
    let (files, _) = raceproof::source::discover::discover(&[PathBuf::from("fixtures")]);
    let judge = |path: &PathBuf| {
        let (language, kernels) = kernels(path);
        let each = kernels.iter().map(|kernel| contradictions(kernel, language));
        let mut sum = (0, Vec::new());
        for (proofs, found) in each {
            sum.0 += proofs;
            sum.1.extend(found.into_iter().map(|what| format!("{}: {what}", path.display())));
        }
        sum
    };
    let files = part("fixtures to refute", files, tiers(4, 2, 1), |path| path.display().to_string());
    let all: Vec<(usize, Vec<String>)> = files.par_iter().map(judge).collect();
    let found: Vec<&String> = all.iter().flat_map(|(_, found)| found).collect();
    assert!(found.is_empty(), "{found:#?}");
    let proofs: usize = all.iter().map(|(proofs, _)| proofs).sum();
    assert!(proofs > files.len(), "only {proofs} proofs were tried");
}
