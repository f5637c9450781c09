//! What the launches that were found say of a contract.
//!
//! A launch *keeps* it if the kernel is proved free for that launch, by its own constants and what host code says of it, or
//! if every condition is true of its constants; a launch of constants alone is run first. It *breaks* it if its constants make a condition false, or leave an extent
//! open that the contract wants to be one, and a run of that launch shows the race. Otherwise it is *open*.
//!
//! Deliberately absent: launches that nobody found.

use super::vocabulary::{Condition, Leaf};
use crate::calculus::eval::{Program, WARP};
use crate::calculus::{Param, ScalarType, SiteId};
use crate::check::verdict::{CheckedLaunch, Keeping};
use crate::diagnostic::report::ScopeKind;
use crate::judge::attempt::{Case, Persistence};
use crate::judge::scopes::{Candidate, Candidates};
use crate::prove::{Conflict, Pair};
use crate::work;

/// A launch, and races that a run of it shows if it breaks the contract.
pub(super) struct Looked {
    pub(super) said: CheckedLaunch,
    pub(super) conflicts: Vec<Conflict>,
    /// Whether it is free, though its constants make a condition false: then the contract asks for more than it takes.
    pub(super) is_free_without: bool,
    /// Threads of a block, if that is known.
    threads: Option<u64>,
}

impl Looked {
    /// Whether it shows that somebody keeps the contract, with blocks of a warp or more.
    pub(super) fn is_of_use(&self) -> bool {
        self.said.keeping == Keeping::Kept && self.threads.is_some_and(|threads| threads >= u64::from(WARP))
    }
}

/// Each set of launches, in order, or the one that the user gives.
pub(super) fn launches<'a>(
    case: &Case<'a>,
    conditions: &[Condition],
    candidates: &Candidates,
    program: &'a Program,
) -> Vec<Looked> {
    let Some(stated) = candidates.proofs.last() else { return Vec::new() };
    if stated.parts.iter().any(|part| part.kind == ScopeKind::AllGeometries) {
        return Vec::new();
    }
    let mut looked = Vec::new();
    for part in &stated.parts {
        let varies = |leaf: Leaf| match leaf {
            Leaf::Block(axis) => part.varies[0][axis.index()],
            Leaf::Grid(axis) => part.varies[1][axis.index()],
            Leaf::Param(_) => false,
        };
        let value = |leaf: Leaf| match leaf {
            Leaf::Block(_) | Leaf::Grid(_) if varies(leaf) => None,
            Leaf::Block(axis) => part.scope.block[axis.index()].map(i128::from),
            Leaf::Grid(axis) => part.scope.grid[axis.index()].map(i128::from),
            Leaf::Param(param) => part.scope.params.get(param.index()).copied().flatten(),
        };
        let says = |condition: &Condition| match condition.holds(&value) {
            None if condition.extent_that_is_one().is_some_and(varies) => Some(false),
            said => said,
        };
        let missing: Vec<usize> = (0..conditions.len()).filter(|&at| says(&conditions[at]) != Some(true)).collect();
        let is_false = missing.iter().any(|&at| says(&conditions[at]) == Some(false));
        let attempt = super::alone(part, stated.starts);
        let rest = case.prove_by_rules(&attempt, (program, &[]), Persistence::AskAll);
        let shown = if is_of_constants(case, part) { case.run(&part.scope) } else { Vec::new() };
        // A run that was cut off leaves open whether numbers go around.
        let is_cut = work::is_over();
        let (keeping, missing, conflicts) = if !shown.is_empty() {
            // Numbers go around in it, which the proof took for granted that they do not.
            (Keeping::Broken, if missing.is_empty() { (0..conditions.len()).collect() } else { missing }, shown)
        } else if !is_cut && (missing.is_empty() || rest.is_empty()) {
            (Keeping::Kept, Vec::new(), Vec::new())
        } else if is_false {
            let pairs: Vec<Pair> = rest.pairs.iter().map(|(pair, _)| pair.clone()).collect();
            let sites: Vec<(SiteId, SiteId)> = pairs.iter().map(|pair| case.sites(pair)).collect();
            let outcomes = case
                .hunts(&attempt, program)
                .into_iter()
                .map(|hunt| hunt.finish(Some((case.protocol, &pairs)), &sites));
            let conflicts: Vec<Conflict> = outcomes.flat_map(|outcome| outcome.conflicts).collect();
            (if conflicts.is_empty() { Keeping::Open } else { Keeping::Broken }, missing, conflicts)
        } else {
            (Keeping::Open, missing, Vec::new())
        };
        let races = conflicts.iter().map(|conflict| conflict.witness.clone()).collect();
        let said = CheckedLaunch { launches: part.launches.clone(), keeping, missing, races };
        let threads = part.scope.block.iter().map(|extent| extent.map(u64::from)).product();
        let is_free_without = is_false && said.keeping == Keeping::Kept;
        looked.push(Looked { said, conflicts, is_free_without, threads });
    }
    looked
}

/// Whether a launch leaves nothing open that a run depends on, but what memory holds.
fn is_of_constants(case: &Case<'_>, part: &Candidate) -> bool {
    let is_known = |at: usize| part.scope.params.get(at).is_some_and(Option::is_some);
    let is_number = |param: &Param| !matches!(param.ty, ScalarType::Opaque { .. });
    part.scope.block.iter().chain(&part.scope.grid).all(Option::is_some)
        && !part.varies.iter().flatten().any(|&varies| varies)
        && case.kernel.params.iter().enumerate().all(|(at, (_, param))| !is_number(param) || is_known(at))
}
