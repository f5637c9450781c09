//! Loop invariants: what holds of variables whose movement has no closed form.
//!
//! Where inference finds no closed form for a variable that a loop changes (it moves under a condition, or in a way
//! of its own), the protocol knows nothing of its value. Here such variables get *candidates*: ranges, remainders,
//! powers of two, sums and differences of two variables ([`candidates`]), and what the user claims at the start of
//! a loop's body. Candidates are kept in the manner of Houdini: all are supposed to hold at the start of every turn
//! and after the loop; each must then be shown to hold when the loop is entered, and at the end of a turn; one
//! that is not shown is dropped, until all that remain are. They become `proved` statements of the kernel.
//!
//! Guarantees: what is kept holds in every run that satisfies what is stated before it and in which nothing wraps that
//! is said not to, whatever memory holds. Every proof is one of the rules, and uses only what stands before in program
//! order; so the induction is over the steps of a run. Kernels without such variables are left alone.
//!
//! Deliberately absent: invariants about the contents of arrays, and relations between threads.

mod candidates;
mod plant;
mod relevant;

use crate::calculus::{ExprId, Kernel, SiteId};
use crate::protocol::{Protocol, infer};
use crate::prove::rules::{Budget, Premises};
use crate::prove::{Assumption, Scope};
use plant::{Part, Stage};
use std::collections::BTreeSet;

/// Rounds after which nothing is kept.
const MOST_ROUNDS: usize = 16;

/// The candidates of one loop.
#[derive(Clone, Debug)]
struct Plan {
    /// The loop.
    site: SiteId,
    /// The outermost loop around it, or itself.
    nest: SiteId,
    /// Conditions over the kernel's variables, as they are at the start of a turn.
    candidates: Vec<ExprId>,
    /// Variables that hold what others had before the loop: the copy and the original.
    copies: Vec<(crate::calculus::VarId, crate::calculus::VarId)>,
}

/// A kernel with invariants.
#[derive(Clone)]
pub struct Strengthened {
    /// The kernel; each invariant is a `proved` statement of it.
    pub kernel: Kernel,
    /// What the proofs rely on, besides what is stated where the invariants are.
    pub assumptions: BTreeSet<Assumption>,
}

/// `kernel`, from which `protocol` was inferred, with the invariants that were proved of it; `None` if there are none.
///
/// Nests of loops are settled one after the other: what is kept of one is known in those behind it.
pub fn strengthen(kernel: &Kernel, protocol: &Protocol) -> Option<Strengthened> {
    let mut kernel = kernel.clone();
    let plans = candidates::plans(&mut kernel, protocol);
    let (mut kept, mut assumptions) = (Vec::new(), BTreeSet::new());
    for nest in plans.chunk_by(|one, other| one.nest == other.nest) {
        if let Some((plans, more)) = settled(&kernel, &kept, nest.to_vec()) {
            kept.extend(plans);
            assumptions.extend(more);
        }
    }
    (!kept.is_empty()).then(|| Strengthened { kernel: plant::invariants(kernel, &kept), assumptions })
}

/// The candidates of one nest that are invariants, and what their proofs rely on; `kept` are those of nests before it.
fn settled(kernel: &Kernel, kept: &[Plan], mut plans: Vec<Plan>) -> Option<(Vec<Plan>, BTreeSet<Assumption>)> {
    // Most candidates fail here, where there is little to be looked at; supposed all at once, they contradict each other.
    if plans.first().is_some_and(|plan| plan.site == plan.nest) {
        let _ = proved(kernel, kept, &mut plans, Stage::Entry);
    }
    for _ in 0..MOST_ROUNDS {
        plans.retain(|plan| !plan.candidates.is_empty());
        if plans.is_empty() {
            return None;
        }
        if let Some(assumptions) = proved(kernel, kept, &mut plans, Stage::Turns) {
            candidates::drop_implied(kernel, &mut plans);
            return Some((plans, assumptions));
        }
    }
    None
}

/// What the proofs of all candidates rely on; if some are not proved, these are dropped instead.
fn proved(kernel: &Kernel, kept: &[Plan], plans: &mut [Plan], stage: Stage) -> Option<BTreeSet<Assumption>> {
    let (trial, parts) = plant::obligations(kernel, kept, plans, stage);
    let protocol = infer::infer(&trial);
    let scope = Scope::default();
    let premises = Premises::new(&protocol, &scope);
    let mut failed: Vec<Part> = Vec::new();
    let mut assumptions = BTreeSet::new();
    for claim in &protocol.claims {
        let Some(&part) = parts.get(&claim.site) else { continue };
        if failed.contains(&part) {
            continue;
        }
        match premises.prove_claim(claim, &Budget::SMALL) {
            // Where an invariant may be used, what is stated before it holds and is named anyway.
            Ok(proof) => {
                assumptions.extend(proof.assumptions.into_iter().filter(|each| !matches!(each, Assumption::Stated(_))))
            }
            Err(_) => failed.push(part),
        }
    }
    // From the back, so that positions stay what they are.
    failed.sort_unstable_by(|one, other| other.cmp(one));
    for part in &failed {
        plans[part.plan].candidates.remove(part.candidate);
    }
    failed.is_empty().then_some(assumptions)
}
