//! The checker refuses derivations that were tampered with, whatever was changed.

use super::Subject;
use super::catalogue::idioms;
use raceproof::memory_model::Level;
use raceproof::prove::premises::{Derivation, check_pair};
use raceproof::prove::rules::derivation::{Branch, Close, Step};
use raceproof::prove::state::poly::{Atom, Monomial, Poly};
use raceproof::prove::state::sign::{Certificate, Part};
use raceproof::prove::{Pair, Proof};

/// Every derivation of the catalogue.
fn proofs(mut visit: impl FnMut(&Subject, &Pair, Proof)) {
    for idiom in idioms() {
        for &level in idiom.levels {
            for pair in idiom.subject.pairs(level) {
                let proof = idiom.subject.prove(&pair).expect("the catalogue is proved");
                visit(&idiom.subject, &pair, proof);
            }
        }
    }
}

/// Every certificate of a branch, with the number of steps that stand before it.
fn certificates(branch: &mut Branch, visit: &mut dyn FnMut(&mut Certificate)) {
    for step in &mut branch.steps {
        match step {
            Step::Split { positive, above, below, .. } => [positive, above, below].into_iter().for_each(&mut *visit),
            Step::Round { positive, above, .. } | Step::Monotone { positive, above, .. } => {
                [positive, above].into_iter().for_each(&mut *visit)
            }
            _ => {}
        }
    }
    match &mut branch.close {
        Close::NeverEquation { certificate, .. } | Close::NeverFact { certificate, .. } => visit(certificate),
        close => inner(close).iter_mut().for_each(|branch| certificates(branch, visit)),
    }
}

fn inner(close: &mut Close) -> &mut [Branch] {
    match close {
        Close::Toggle { branches, .. } | Close::Cases { branches, .. } | Close::Order { branches, .. } => branches,
        _ => &mut [],
    }
}

fn steps(branch: &mut Branch, visit: &mut dyn FnMut(&mut Step)) {
    branch.steps.iter_mut().for_each(&mut *visit);
    inner(&mut branch.close).iter_mut().for_each(|branch| steps(branch, visit));
}

fn closes(branch: &mut Branch, visit: &mut dyn FnMut(&mut Close)) {
    inner(&mut branch.close).iter_mut().for_each(|branch| closes(branch, visit));
    visit(&mut branch.close);
}

/// Applies `change` at each place in turn where it says that it changed something; all must be refused.
fn refuses_each(name: &str, least: usize, change: &dyn Fn(&mut Derivation, usize) -> bool) {
    let mut refused = 0;
    proofs(|subject, pair, proof| {
        for place in 0.. {
            let mut derivation = proof.derivation.clone();
            if !change(&mut derivation, place) {
                break;
            }
            let verdict = check_pair(&subject.protocol, pair, &subject.scope, &derivation);
            assert!(verdict.is_err(), "{name} at place {place} was accepted:\n{}", proof.derivation);
            refused += 1;
        }
    });
    assert!(refused >= least, "{name}: only {refused} places");
}

/// Changes the certificate at `place` among those that have parts.
fn at_certificate(derivation: &mut Derivation, place: usize, change: &dyn Fn(&mut Certificate)) -> bool {
    let mut seen = 0;
    certificates(&mut derivation.refutations[0].root, &mut |certificate| {
        if !certificate.parts.is_empty() {
            if seen == place {
                change(certificate);
            }
            seen += 1;
        }
    });
    place < seen
}

fn at_step(derivation: &mut Derivation, place: usize, change: &dyn Fn(&mut Step) -> bool) -> bool {
    let mut seen = 0;
    steps(&mut derivation.refutations[0].root, &mut |step| {
        let mut changed = step.clone();
        if change(&mut changed) {
            if seen == place {
                *step = changed;
            }
            seen += 1;
        }
    });
    place < seen
}

fn at_close(derivation: &mut Derivation, place: usize, change: &dyn Fn(&mut Close) -> bool) -> bool {
    let mut seen = 0;
    closes(&mut derivation.refutations[0].root, &mut |close| {
        let mut changed = close.clone();
        if change(&mut changed) {
            if seen == place {
                *close = changed;
            }
            seen += 1;
        }
    });
    place < seen
}

#[test]
fn changed_certificates_are_refused() {
    let unknown = Atom::uniform(99).expect("an atom that no condition uses");
    let changes: [(&str, &dyn Fn(&mut Certificate)); 6] = [
        ("no facts", &|certificate| certificate.parts.clear()),
        ("no scale", &|certificate| certificate.scale = 0),
        ("negative scale", &|certificate| certificate.scale = -1),
        ("negative multiple", &|certificate| certificate.parts[0].factor = -1),
        ("no such fact", &|certificate| certificate.parts[0].fact = 10_000),
        ("multiplier of unknown sign", &|certificate| {
            certificate.parts.push(Part { factor: 1, monomial: Monomial::of(unknown), fact: 0 });
        }),
    ];
    for (name, change) in changes {
        refuses_each(name, 100, &|derivation, place| at_certificate(derivation, place, change));
    }
}

#[test]
fn changed_polynomials_are_refused() {
    let shift = |poly: &mut Poly| {
        *poly = poly.plus_constant(1).expect("in range");
        true
    };
    refuses_each("quotient", 100, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Split { quotient, .. } => shift(quotient),
            _ => false,
        })
    });
    refuses_each("rest", 100, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Split { rest, .. } => shift(rest),
            _ => false,
        })
    });
    refuses_each("radix", 100, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Split { radix, quotient, .. } if !quotient.is_zero() => shift(radix),
            _ => false,
        })
    });
    refuses_each("equation of a split", 100, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Split { equation, rest, .. } => shift(equation) && shift(rest),
            _ => false,
        })
    });
    refuses_each("value", 100, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Subst { value, .. } => shift(value),
            _ => false,
        })
    });
    refuses_each("what is pinched", 1, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Pinch { zero, .. } => shift(zero),
            _ => false,
        })
    });
    refuses_each("what is added up", 1, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Chain { sum, .. } => shift(sum),
            _ => false,
        })
    });
    refuses_each("a fact that is added up", 1, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Chain { facts, sum } => shift(&mut facts[1]) && shift(sum),
            _ => false,
        })
    });
    refuses_each("conclusion of a xor", 3, &|derivation, place| {
        at_step(derivation, place, &|step| match step {
            Step::Xor { conclusion, .. } => shift(conclusion),
            _ => false,
        })
    });
}

#[test]
fn changed_ends_are_refused() {
    refuses_each("no end", 100, &|derivation, place| {
        at_close(derivation, place, &|close| {
            *close = Close::Nothing;
            true
        })
    });
    refuses_each("a case less", 2, &|derivation, place| {
        at_close(derivation, place, &|close| match close {
            Close::Toggle { branches, .. } | Close::Cases { branches, .. } | Close::Order { branches, .. } => {
                branches.pop();
                true
            }
            _ => false,
        })
    });
    refuses_each("the same thread without steps", 50, &|derivation, place| {
        let root = &mut derivation.refutations[0].root;
        let applies = place == 0 && root.close == Close::SameThread;
        root.steps.clear();
        applies
    });
    refuses_each("an equation that is no longer there", 10, &|derivation, place| {
        at_close(derivation, place, &|close| match close {
            Close::NeverEquation { equation, .. } | Close::Divides(equation) => {
                *equation = equation.plus_constant(1).expect("in range");
                true
            }
            _ => false,
        })
    });
}

#[test]
fn changed_rulings_are_refused() {
    refuses_each("a ruling less", 50, &|derivation, place| {
        place == 0 && derivation.refutations[0].rulings.pop().is_some()
    });
    refuses_each("a ruling more", 50, &|derivation, place| {
        derivation.refutations[0].rulings.push(None);
        place == 0
    });
    refuses_each("a ruling without facts", 50, &|derivation, place| {
        let rulings = &mut derivation.refutations[0].rulings;
        let mut real = rulings.iter_mut().flatten().filter(|ruling| !ruling.parts.is_empty());
        real.nth(place).is_some_and(|ruling| {
            ruling.parts.clear();
            true
        })
    });
    refuses_each("no refutation", 50, &|derivation, place| {
        derivation.refutations.clear();
        place == 0
    });
}

#[test]
fn a_proof_of_an_idiom_is_no_proof_of_its_near_miss() {
    for idiom in idioms() {
        let refuses = |&level: &Level| {
            let (pairs, near_misses) = (idiom.subject.pairs(level), idiom.near_miss.pairs(level));
            // A near miss may race in a pair that the idiom does not have; then there is no proof to carry over.
            pairs.len() < near_misses.len()
                || pairs.iter().any(|pair| {
                    let proof = idiom.subject.prove(pair).expect("the catalogue is proved");
                    let same = |other: &&Pair| (other.first, other.second) == (pair.first, pair.second);
                    near_misses.iter().find(same).is_none_or(|other| {
                        let near_miss = &idiom.near_miss;
                        check_pair(&near_miss.protocol, other, &near_miss.scope, &proof.derivation).is_err()
                    })
                })
        };
        assert!(idiom.levels.iter().any(refuses) || idiom.levels != idiom.near_miss_levels, "{}", idiom.name);
    }
}
