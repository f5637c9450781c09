//! Solvers against the rules, against each other, and against enumeration, on edited idioms.
//!
//! Seeds are printed: `RACEPROOF_SEED=<n>` starts there, `RACEPROOF_CONDITIONS=<n>` asks for as many.
//! Where no solver is found these tests say that they are skipped, unless `RACEPROOF_NEED_SOLVERS` is set.

use super::Subject;
use super::catalogue::idioms;
use super::enumeration::{Random, conflict, edited};
use raceproof::memory_model::Level;
use raceproof::prove::ask::{Asker, Budget, Reply, Suspects, View};
use raceproof::prove::{Assumption, Pair};
use raceproof::smt::{Answer, Session, SolverKind, find};
use std::time::{Duration, Instant};

/// Conditions that are asked about.
const CONDITIONS: usize = 10_500;

/// The solver, or a word about its absence.
fn session(kind: SolverKind) -> Option<Session> {
    let found = find(kind);
    if found.is_none() {
        let needed = std::env::var_os("RACEPROOF_NEED_SOLVERS").is_some();
        assert!(!needed, "{} is missing, and RACEPROOF_NEED_SOLVERS is set", kind.name());
        eprintln!("skipped: {} is not on this machine", kind.name());
    }
    found.map(Session::new)
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Small budgets: what is not decided soon is not decided here.
fn budget() -> Budget {
    Budget { questions: u32::MAX, integers: 20_000, bits: 20_000 }
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(3_600)
}

/// Kernels made from the catalogue by a few edits, with the seed of each.
struct Kernels {
    texts: Vec<(String, usize)>,
    seed: u64,
}

impl Kernels {
    fn from(seed: u64) -> Kernels {
        let texts = include_str!("idioms.txt").split("\nidiom: ").skip(1).flat_map(|idiom| {
            let (head, text) = idiom.split_once('\n').expect("a head and a kernel");
            let dimensions = head.rsplit(" | ").next().expect("dimensions").len();
            let (kernel, near_miss) = text.split_once("\nnear miss: ").expect("a near miss");
            let near_miss = near_miss.split_once('\n').expect("a level and a kernel").1;
            [(kernel.to_owned(), dimensions), (near_miss.to_owned(), dimensions)]
        });
        Kernels { texts: texts.collect(), seed }
    }
}

impl Iterator for Kernels {
    type Item = (u64, String, Subject);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.seed += 1;
            let mut random = Random(self.seed);
            let (text, dimensions) = &self.texts[random.below(self.texts.len() as u64) as usize];
            let mut text = text.clone();
            for _ in 0..random.below(4) {
                text = edited(&text, &mut random);
            }
            if let Some(mut subject) = Subject::try_read(&text, *dimensions) {
                if random.below(3) == 0 {
                    // A stated launch.
                    for axis in 0..3 {
                        let sizes = [2, 3, 4, 8];
                        subject.scope.block[axis].get_or_insert(sizes[random.below(4) as usize]);
                        subject.scope.grid[axis].get_or_insert(sizes[random.below(2) as usize]);
                    }
                }
                return Some((self.seed, text, subject));
            }
        }
    }
}

fn assumes_no_wrap<'a>(mut assumptions: impl Iterator<Item = &'a Assumption>) -> bool {
    assumptions.any(|assumption| matches!(assumption, Assumption::NoUnsignedWrap { .. }))
}

/// What was asked and answered.
#[derive(Debug, Default)]
struct Tally {
    conditions: usize,
    proved_by_rules: usize,
    confirmed: usize,
    confirmed_by_bits: usize,
    proved_by_solver_only: usize,
    possible: usize,
}

fn hold_against_rules(asker: &mut Asker<'_>, subject: &Subject, pair: &Pair, seed: u64, text: &str, tally: &mut Tally) {
    tally.conditions += 1;
    let ask = |asker: &mut Asker<'_>, view| asker.view(&subject.protocol, pair, &subject.scope, view);
    match subject.prove(pair) {
        Ok(proof) => {
            tally.proved_by_rules += 1;
            match ask(asker, View::Rules) {
                Ok(Answer::Sat) => {
                    panic!("seed {seed}: the solver contradicts a proof\n{pair:?}\n{text}\n{}", proof.derivation)
                }
                Ok(Answer::Unsat) => tally.confirmed += 1,
                _ => {}
            }
            if !assumes_no_wrap(proof.assumptions.iter()) && seed % 4 == 0 {
                match ask(asker, View::Machine) {
                    Ok(Answer::Sat) => {
                        panic!("seed {seed}: bit-vectors contradict a proof\n{pair:?}\n{text}\n{}", proof.derivation)
                    }
                    Ok(Answer::Unsat) => tally.confirmed_by_bits += 1,
                    _ => {}
                }
            }
        }
        Err(_) => match asker.pair(&subject.protocol, pair, &subject.scope, Suspects::Unwanted) {
            Reply::Proved(assumptions) => {
                tally.proved_by_solver_only += 1;
                if let Some(found) = conflict(subject, pair, assumes_no_wrap(assumptions.iter()), seed) {
                    panic!(
                        "seed {seed}: enumeration contradicts the solver\n{pair:?}\n{found}\n{text}\n{assumptions:?}"
                    );
                }
            }
            _ => tally.possible += 1,
        },
    }
}

#[test]
fn rules_and_solver_agree_on_generated_conditions() {
    let Some(mut session) = session(SolverKind::Z3) else { return };
    let (seed, conditions) = (number("RACEPROOF_SEED", 0) as u64, number("RACEPROOF_CONDITIONS", CONDITIONS));
    let mut tally = Tally::default();
    for (seed, text, subject) in Kernels::from(seed) {
        let mut asker = Asker::new(&mut session, budget(), far_away());
        for level in [Level::Block, Level::Grid] {
            for pair in subject.pairs(level) {
                hold_against_rules(&mut asker, &subject, &pair, seed, &text, &mut tally);
            }
        }
        if tally.conditions >= conditions {
            println!("seeds up to {seed}: {tally:?}");
            break;
        }
    }
    assert!(tally.confirmed * 2 > tally.proved_by_rules, "the solver confirms too little to mean anything: {tally:?}");
    assert!(tally.proved_by_solver_only > 0 && tally.confirmed_by_bits > 0, "{tally:?}");
}

#[test]
fn two_solvers_agree_on_a_sample() {
    let (Some(mut z3), Some(mut cvc5)) = (session(SolverKind::Z3), session(SolverKind::Cvc5)) else { return };
    let seed = number("RACEPROOF_SEED", 500_000) as u64;
    let mut both = 0;
    for (seed, text, subject) in Kernels::from(seed).take(60) {
        for level in [Level::Block, Level::Grid] {
            for pair in subject.pairs(level).into_iter().take(2) {
                for view in [View::Rules, View::Machine] {
                    let answers = [&mut z3, &mut cvc5].map(|session| {
                        Asker::new(session, budget(), far_away()).view(&subject.protocol, &pair, &subject.scope, view)
                    });
                    let [Ok(one), Ok(other)] = answers else { continue };
                    match (&one, &other) {
                        (Answer::Sat, Answer::Unsat) | (Answer::Unsat, Answer::Sat) => {
                            panic!("seed {seed}: Z3 says {one:?}, cvc5 {other:?}\n{view:?} {pair:?}\n{text}")
                        }
                        (Answer::Unknown(_), _) | (_, Answer::Unknown(_)) => {}
                        _ => both += 1,
                    }
                }
            }
        }
    }
    println!("seeds from {seed}: both solvers answer {both} questions, alike");
    assert!(both > 40, "only {both} questions were answered by both");
}

#[test]
fn no_solver_proves_a_near_miss() {
    let Some(mut session) = session(SolverKind::Z3) else { return };
    for idiom in idioms() {
        let near_miss = &idiom.near_miss;
        let mut asker = Asker::new(&mut session, budget(), far_away());
        let mut pairs = idiom.near_miss_levels.iter().flat_map(|&level| near_miss.pairs(level));
        let proved = pairs.all(|pair| {
            let reply = asker.pair(&near_miss.protocol, &pair, &near_miss.scope, Suspects::Unwanted);
            matches!(reply, Reply::Proved(_))
        });
        assert!(!proved, "{}: every pair of the near miss is proved", idiom.name);
    }
}
