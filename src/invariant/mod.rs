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
use crate::prove::premises::{Budget, Premises, Proofs, rejection};
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
    /// Those of the candidates that are about turns alone: where the test of the loop lets one follow.
    of_turns: Vec<ExprId>,
    /// The test of the loop, if it matters: it holds where a turn begins, and has failed behind the loop.
    test: Option<ExprId>,
}

/// A kernel with invariants.
#[derive(Clone)]
pub struct Strengthened {
    /// The kernel; each invariant is a `proved` statement of it.
    pub kernel: Kernel,
    /// What the proofs rely on, besides what is stated where the invariants are.
    pub assumptions: BTreeSet<Assumption>,
    /// Derivations that the checker did not accept: a bug in raceproof.
    pub rejected: Vec<String>,
}

/// What the proofs of candidates come to.
#[derive(Default)]
struct Support {
    assumptions: BTreeSet<Assumption>,
    rejected: Vec<String>,
}

/// `kernel`, from which `protocol` was inferred, with the invariants that were proved of it; `None` if there are none.
///
/// Nests of loops are settled one after the other: what is kept of one is known in those behind it.
pub fn strengthen(kernel: &Kernel, protocol: &Protocol, proofs: Proofs) -> Option<Strengthened> {
    let mut kernel = kernel.clone();
    let plans = candidates::plans(&mut kernel, protocol);
    let (mut kept, mut support) = (Vec::new(), Support::default());
    for nest in plans.chunk_by(|one, other| one.nest == other.nest) {
        if let Some((plans, more)) = settled(&kernel, &kept, nest.to_vec(), proofs) {
            kept.extend(plans);
            support.assumptions.extend(more.assumptions);
            support.rejected.extend(more.rejected);
        }
    }
    let Support { assumptions, rejected } = support;
    (!kept.is_empty()).then(|| Strengthened { kernel: plant::invariants(kernel, &kept), assumptions, rejected })
}

/// The candidates of one nest that are invariants, and what their proofs rely on; `kept` are those of nests before it.
fn settled(kernel: &Kernel, kept: &[Plan], mut plans: Vec<Plan>, proofs: Proofs) -> Option<(Vec<Plan>, Support)> {
    // Most candidates fail here, where there is little to be looked at; supposed all at once, they contradict each other.
    if plans.first().is_some_and(|plan| plan.site == plan.nest) {
        let _ = proved(kernel, kept, &mut plans, Stage::Entry, Proofs::Trust);
    }
    for _ in 0..MOST_ROUNDS {
        plans.retain(|plan| !plan.candidates.is_empty());
        if plans.is_empty() {
            return None;
        }
        if let Some(support) = proved(kernel, kept, &mut plans, Stage::Turns, proofs) {
            candidates::drop_implied(kernel, &mut plans);
            return Some((plans, support));
        }
    }
    None
}

/// What the proofs of all candidates come to; if some are not proved, these are dropped instead.
fn proved(kernel: &Kernel, kept: &[Plan], plans: &mut [Plan], stage: Stage, proofs: Proofs) -> Option<Support> {
    let (trial, parts) = plant::obligations(kernel, kept, plans, stage);
    let protocol = infer::infer(&trial);
    let scope = Scope::default();
    let premises = Premises::new(&protocol, &scope);
    let mut failed: Vec<Part> = Vec::new();
    let mut support = Support::default();
    for claim in &protocol.claims {
        let Some(&part) = parts.get(&claim.site) else { continue };
        if failed.contains(&part) {
            continue;
        }
        match premises.prove_claim(claim, &Budget::SMALL) {
            // Where an invariant may be used, what is stated before it holds and is named anyway.
            Ok(proof) => {
                support.rejected.extend(rejection(&protocol, claim, &proof, proofs));
                let relied_on = proof
                    .assumptions
                    .into_iter()
                    .filter(|each| !matches!(each, Assumption::Stated(_) | Assumption::Needed(_)));
                support.assumptions.extend(relied_on);
            }
            Err(_) => failed.push(part),
        }
    }
    // From the back, so that positions stay what they are.
    failed.sort_unstable_by(|one, other| other.cmp(one));
    for part in &failed {
        plans[part.plan].candidates.remove(part.candidate);
    }
    failed.is_empty().then_some(support)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::Stmt;
    use crate::calculus::text::{parse, print_expr};

    /// A variable that begins as 2 and may become anything, one that begins as anything, and one that stays a multiple.
    const LOOPS: &str = "kernel k(n: i32) { global y: element 4 var a: i32 var b: i32 var c: i32 var t: i32 var v: i32
        let a = 2 let b = n let c = 0 let t = 0
        loop while t < n @0 {
          let t = t + 1
          let v = read y[0; 4] @1
          if v > 0 { let a = 4 - a } else { let b = b + 2 let c = c + 4 }
          loop while v < b @2 { let v = v + 1 if v > t { let a = a + 2 } }
          write y[convert<i64>(a + b + c) * 4; 4] @3
        }
        write y[convert<i64>(b) * 4; 4] @4 }";

    fn planned() -> (Kernel, Vec<Plan>) {
        let mut kernel = parse(LOOPS).unwrap_or_else(|error| panic!("{error}"));
        let protocol = infer::infer(&kernel);
        let plans = candidates::plans(&mut kernel, &protocol);
        (kernel, plans)
    }

    fn texts(kernel: &Kernel, plan: &Plan) -> Vec<String> {
        plan.candidates.iter().map(|&cond| print_expr(kernel, cond)).collect()
    }

    #[test]
    fn at_the_entry_a_nest_is_left_out_with_all_behind_it() {
        let (kernel, plans) = planned();
        assert!(plans.iter().all(|plan| plan.nest == plans[0].site), "{plans:?}");
        let (trial, parts) = plant::obligations(&kernel, &[], &plans, Stage::Entry);
        assert!(
            !trial.body.iter().any(|stmt| matches!(stmt, Stmt::Loop { .. } | Stmt::Write { .. } | Stmt::Assume { .. }))
        );
        let claims = trial.body.iter().filter(|stmt| matches!(stmt, Stmt::Assert { .. })).count();
        assert_eq!(claims, plans[0].candidates.len(), "of the outermost loop alone");
        let is_of_outermost = |stmt: &Stmt| match stmt {
            Stmt::Assert { site, .. } => parts[site].plan == 0,
            _ => true,
        };
        assert!(trial.body.iter().all(is_of_outermost));
        let (whole, parts) = plant::obligations(&kernel, &[], &plans, Stage::Turns);
        assert!(whole.body.iter().any(|stmt| matches!(stmt, Stmt::Loop { .. })));
        let all: usize = plans.iter().map(|plan| plan.candidates.len()).sum();
        assert_eq!(parts.len(), 2 * all, "each at the entry and at the end of a turn");
    }

    #[test]
    fn what_fails_at_the_entry_alone_is_dropped_there() {
        let (kernel, mut plans) = planned();
        let before = texts(&kernel, &plans[0]);
        for wanted in ["a >= 0", "a >= 1", "b >= 0"] {
            assert!(before.iter().any(|text| text == wanted), "no `{wanted}`: {before:?}");
        }
        let inner: Vec<Vec<String>> = plans[1..].iter().map(|plan| texts(&kernel, plan)).collect();
        assert!(!inner.is_empty());
        let _ = proved(&kernel, &[], &mut plans, Stage::Entry, Proofs::Trust);
        let after = texts(&kernel, &plans[0]);
        assert!(after.iter().all(|text| before.contains(text)));
        // It holds at first and fails when a turn has made `a` of it: that is for the other stage to find.
        assert!(after.iter().any(|text| text == "a >= 1"), "{after:?}");
        assert!(!after.iter().any(|text| text == "b >= 0"), "nothing is known of n: {after:?}");
        assert_eq!(inner, plans[1..].iter().map(|plan| texts(&kernel, plan)).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_left_is_what_all_stages_leave_without_the_first() {
        let (kernel, plans) = planned();
        let (with, _) = settled(&kernel, &[], plans.clone(), Proofs::Recheck).expect("some candidates are invariants");
        let mut plans = plans;
        let without = loop {
            plans.retain(|plan| !plan.candidates.is_empty());
            assert!(!plans.is_empty());
            if proved(&kernel, &[], &mut plans, Stage::Turns, Proofs::Trust).is_some() {
                candidates::drop_implied(&kernel, &mut plans);
                break plans;
            }
        };
        let all = |plans: &[Plan]| plans.iter().map(|plan| texts(&kernel, plan)).collect::<Vec<_>>();
        assert_eq!(all(&with), all(&without));
    }
}
