//! XOR (docs/RULES.md, "3.8 XOR").
//!
//! *Premises.* Atoms `X.1 = a.1 ^ m`, `X.2 = a.2 ^ m` with the same mask `m`.
//! *Conclusions.* `X.1 = X.2` iff `a.1 = a.2`; `X.2 = a.1` iff `X.1 = a.2`.
//! *Proof.* `^ m` is its own inverse. Nothing about powers of two.
//! *Trap.* Without `X > i` both partners write.

use super::derivation::Step;
use crate::prove::state::poly::Poly;
use crate::prove::state::{State, Xor};

/// The four pairs that may be equal, each with the pair that is equal exactly then.
pub fn implications(one: &Xor, other: &Xor) -> [((Poly, Poly), (Poly, Poly)); 4] {
    let pair = |left: &Poly, right: &Poly| (left.clone(), right.clone());
    [
        (pair(&one.value, &other.value), pair(&one.argument, &other.argument)),
        (pair(&other.value, &one.argument), pair(&one.value, &other.argument)),
        (pair(&one.value, &other.argument), pair(&other.value, &one.argument)),
        (pair(&one.argument, &other.argument), pair(&one.value, &other.value)),
    ]
}

/// Finds a conclusion that is not known yet, and adds it.
pub fn apply(state: &mut State) -> Option<Step> {
    let step = find(state)?;
    if let Step::Xor { conclusion, .. } = &step {
        state.equations.push(conclusion.clone());
    }
    Some(step)
}

fn find(state: &State) -> Option<Step> {
    for (first, one) in state.xors.iter().enumerate() {
        for (second, other) in state.xors.iter().enumerate().skip(first + 1) {
            if one.mask != other.mask {
                continue;
            }
            for (premise, conclusion) in implications(one, other) {
                let premise = premise.0.minus(&premise.1)?;
                let conclusion = conclusion.0.minus(&conclusion.1)?;
                let known = premise.is_zero() || state.has_equation(&premise);
                if known && !conclusion.is_zero() && !state.has_equation(&conclusion) {
                    return Some(Step::Xor { first, second, conclusion });
                }
            }
        }
    }
    None
}
