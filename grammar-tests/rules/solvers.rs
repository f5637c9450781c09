//! Solvers against the rules, against each other, and against enumeration, on edited idioms.

use super::Subject;
use super::catalogue::idioms;
use super::enumeration::{conflict, edited};
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::solvers::session;
use crate::support::tier::tiers;
use raceproof::calculus::{BinaryOp, Expr, ExprId};
use raceproof::memory_model::Level;
use raceproof::protocol::{Protocol, Role};
use raceproof::prove::ask::{Asker, Budget, Reply, Suspects, View};
use raceproof::prove::rules::{check, search};
use raceproof::prove::state::poly::{Atom, IDS, LOOPS, Poly, Side};
use raceproof::prove::state::{Literal, State};
use raceproof::prove::{Assumption, Pair};
use raceproof::smt::{Answer, Session, SolverKind};
use std::time::Duration;

/// States that are made up.
const STATES: Law = Law::new("solver_states", tiers(0, 2_000, 40_000));
/// Conditions of edited idioms that are asked about.
const CONDITIONS: Law = Law::new("solver_conditions", tiers(0, 150, 3_000));
/// Kernels about which two solvers are asked.
const KERNELS: Law = Law::new("two_solvers", tiers(0, 25, 500));

/// Small budgets: what is not decided soon is not decided here.
fn budget() -> Budget {
    Budget { questions: u32::MAX, integers: 20_000, bits: 20_000, ..Budget::default() }
}

/// No question of these budgets takes so long.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// Kernels made from the catalogue by a few edits, with the seed of each.
struct Kernels {
    texts: Vec<(String, usize)>,
    /// Those that a law keeps, and then all from the first that it draws.
    seeds: Box<dyn Iterator<Item = u64>>,
}

impl Kernels {
    fn of(law: &Law) -> Kernels {
        let texts = include_str!("idioms.txt").split("\nidiom: ").skip(1).flat_map(|idiom| {
            let (head, text) = idiom.split_once('\n').expect("a head and a kernel");
            let dimensions = head.rsplit(" | ").next().expect("dimensions").len();
            let (kernel, near_miss) = text.split_once("\nnear miss: ").expect("a near miss");
            let near_miss = near_miss.split_once('\n').expect("a level and a kernel").1;
            [(kernel.to_owned(), dimensions), (near_miss.to_owned(), dimensions)]
        });
        let seeds = law.kept().into_iter().chain(law.drawn().start..);
        Kernels { texts: texts.collect(), seeds: Box::new(seeds) }
    }
}

impl Iterator for Kernels {
    type Item = (u64, String, Subject);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let seed = self.seeds.next()?;
            let mut random = Dice(seed);
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
                return Some((seed, text, subject));
            }
        }
    }
}

fn assumes_no_wrap<'a>(mut assumptions: impl Iterator<Item = &'a Assumption>) -> bool {
    assumptions.any(|assumption| matches!(assumption, Assumption::NoUnsignedWrap { .. }))
}

/// Whether a product with the number of a loop's turn says where an access of the pair is. What a loop adds up in many turns is
/// written like that in a protocol and may go around, so that bit-vectors let such products do so; that one of the source's does is
/// undefined, on which the rules rely.
fn multiplies_turns(protocol: &Protocol, pair: &Pair) -> bool {
    let is_turn = |mut id: ExprId| {
        while let Expr::Convert(_, inner) = protocol.exprs[id] {
            id = inner;
        }
        matches!(protocol.exprs[id], Expr::Var(var) if matches!(protocol.roles.get(var), Some(Role::Iteration(_))))
    };
    let mut found = false;
    for access in [pair.first, pair.second].map(|id| &protocol.accesses[id]) {
        for root in access.guards.iter().map(|guard| guard.cond).chain([access.offset]) {
            protocol.exprs.visit(root, |_, node| {
                found |= matches!(node, Expr::Binary(BinaryOp::Mul, a, b) if is_turn(*a) || is_turn(*b));
            });
        }
    }
    found
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
            let is_exact = !assumes_no_wrap(proof.assumptions.iter()) && !multiplies_turns(&subject.protocol, pair);
            if is_exact && seed % 4 == 0 {
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

/// A made-up state: two threads compute an index from their ids, a loop's turns and uniform values, and the
/// indices, or some of their parts, are equal.
fn state(random: &mut Dice) -> Option<State> {
    let mut state = State::default();
    let uniform: Vec<Poly> = (0..3).map(|number| Atom::uniform(number).map(Poly::atom)).collect::<Option<_>>()?;
    let mut private = Vec::new();
    for (number, level) in [(0, IDS), (1, IDS), (0, LOOPS)] {
        let twins = Side::BOTH.map(|side| Atom::private(level, number, side));
        let twins = [twins[0]?, twins[1]?];
        twins.into_iter().for_each(|atom| state.non_negative.insert(atom));
        private.push(twins.map(Poly::atom));
    }
    for atom in &uniform {
        state.non_negative.insert(atom.as_atom()?);
        state.facts.push(atom.plus_constant(-1)?);
    }
    // Ids are below a size, which is a symbol or a number.
    for (at, twins) in private.iter().take(2).enumerate() {
        let size = match random.below(3) {
            0 => Poly::constant(1 + random.below(9) as i64),
            _ => uniform[at].clone(),
        };
        for twin in twins {
            state.facts.push(size.plus_constant(-1)?.minus(twin)?);
        }
    }
    let coefficient = |random: &mut Dice| match random.below(5) {
        0 => Poly::constant(1 << random.below(5)),
        1 => Poly::constant(random.below(7) as i64 - 2),
        2 => uniform[random.below(3) as usize].clone(),
        3 => uniform[0].times(&uniform[1]).unwrap_or(Poly::ZERO),
        _ => Poly::constant(1),
    };
    let index = |random: &mut Dice| -> Option<[Poly; 2]> {
        let mut sums = [Poly::ZERO, Poly::ZERO];
        for twins in &private {
            let factor = coefficient(random);
            for (sum, twin) in sums.iter_mut().zip(twins) {
                *sum = sum.plus(&factor.times(twin)?)?;
            }
        }
        Some(sums)
    };
    let [first, second] = index(random)?;
    let apart = Poly::constant(if random.below(3) == 0 { random.below(5) as i64 - 2 } else { 0 });
    state.equations.push(first.minus(&second)?.plus(&apart)?);
    for _ in 0..random.below(3) {
        let [first, second] = index(random)?;
        let other = coefficient(random);
        match random.below(4) {
            0 => state.facts.push(other.minus(&first)?.plus_constant(-1)?),
            1 => state.facts.push(second.minus(&other)?),
            2 => state.equations.push(first.minus(&second)?),
            _ => state
                .disjunctions
                .push(vec![vec![Literal::NonNegative(first.minus(&other)?)], vec![Literal::Zero(second)]]),
        }
    }
    let told_apart = 1 + random.below(2) as usize;
    state.coordinates = private[..told_apart].iter().map(|twins| (twins[0].clone(), twins[1].clone())).collect();
    if random.below(2) == 0 {
        // The same turn of a loop around a barrier, as a uniform number.
        state.equations.push(private[2][0].minus(&private[2][1])?);
    }
    Some(state)
}

/// Asks about the states of these seeds.
fn hold_states(session: &mut Session, seeds: &[u64]) -> Tally {
    // The dearest passes of the search add little here and cost most of the time.
    let effort = search::Budget::MIDDLE;
    let mut tally = Tally::default();
    for chunk in seeds.chunks(500) {
        let mut asker = Asker::new(session, Budget { integers: 6_000, ..budget() }, PATIENCE);
        for &seed in chunk {
            let Some(state) = state(&mut Dice(seed)) else { continue };
            tally.conditions += 1;
            let answer = asker.state(&state);
            match (search::search(&state, &effort), answer) {
                (search::Outcome::Proved(root), answer) => {
                    tally.proved_by_rules += 1;
                    STATES.watched(seed, || {
                        assert_ne!(answer, Answer::Sat, "seed {seed}: the solver contradicts {root:?}");
                        check::check(&root, &state).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                    });
                    tally.confirmed += usize::from(answer == Answer::Unsat);
                }
                (_, Answer::Unsat) => tally.proved_by_solver_only += 1,
                (_, Answer::Sat) => tally.possible += 1,
                _ => {}
            }
        }
    }
    tally
}

#[test]
fn rules_and_solver_agree_on_made_up_states() {
    let (Some(mut one), Some(mut other)) = (session(SolverKind::Z3), session(SolverKind::Z3)) else { return };
    let seeds = STATES.seeds();
    let (first_half, second_half) = seeds.split_at(seeds.len() / 2);
    let [left, right] = std::thread::scope(|scope| {
        let left = scope.spawn(|| hold_states(&mut one, first_half));
        let right = hold_states(&mut other, second_half);
        [left.join().expect("the other half holds as well"), right]
    });
    println!("{left:?} and {right:?}");
    let sum = |of: fn(&Tally) -> usize| of(&left) + of(&right);
    let (conditions, proved) = (sum(|tally| tally.conditions), sum(|tally| tally.proved_by_rules));
    assert!(conditions * 20 > seeds.len() * 19, "{conditions} states");
    assert!(proved > conditions / 20, "too few proofs to mean anything");
    assert!(sum(|tally| tally.confirmed) * 3 > proved, "the solver confirms too little");
    assert!(sum(|tally| tally.possible) > conditions / 20, "too few states have points");
}

#[test]
fn rules_and_solver_agree_on_edited_idioms() {
    let Some(mut session) = session(SolverKind::Z3) else { return };
    let mut tally = Tally::default();
    for (seed, text, subject) in Kernels::of(&CONDITIONS) {
        let mut asker = Asker::new(&mut session, budget(), PATIENCE);
        for level in [Level::Block, Level::Grid] {
            for pair in subject.pairs(level) {
                let hold = || hold_against_rules(&mut asker, &subject, &pair, seed, &text, &mut tally);
                CONDITIONS.watched(seed, hold);
            }
        }
        if tally.conditions as u64 >= CONDITIONS.cases() {
            println!("seeds up to {seed}: {tally:?}");
            break;
        }
    }
    assert!(tally.confirmed * 3 > tally.proved_by_rules, "the solver confirms too little to mean anything: {tally:?}");
    assert!(is_enough(tally.confirmed_by_bits, tally.conditions, 30), "bit-vectors confirm nothing: {tally:?}");
}

#[test]
fn two_solvers_agree_on_a_sample() {
    let (Some(mut z3), Some(mut cvc5)) = (session(SolverKind::Z3), session(SolverKind::Cvc5)) else { return };
    let mut both = 0;
    // A solver that takes longer than this has its say some other time.
    let soon = Duration::from_millis(300);
    for (seed, text, subject) in Kernels::of(&KERNELS).take(KERNELS.cases() as usize) {
        for level in [Level::Block, Level::Grid] {
            for pair in subject.pairs(level).into_iter().take(2) {
                for view in [View::Rules, View::Machine] {
                    let answers = [&mut z3, &mut cvc5].map(|session| {
                        Asker::new(session, budget(), soon).view(&subject.protocol, &pair, &subject.scope, view)
                    });
                    let [Ok(one), Ok(other)] = answers else { continue };
                    match (&one, &other) {
                        (Answer::Sat, Answer::Unsat) | (Answer::Unsat, Answer::Sat) => {
                            KERNELS.failed(seed);
                            panic!("seed {seed}: Z3 says {one:?}, cvc5 {other:?}\n{view:?} {pair:?}\n{text}")
                        }
                        (Answer::Unknown(_), _) | (_, Answer::Unknown(_)) => {}
                        _ => both += 1,
                    }
                }
            }
        }
    }
    println!("both solvers answer {both} questions, alike");
    assert!(both * 3 > KERNELS.cases(), "only {both} questions were answered by both");
}

#[test]
fn no_solver_proves_a_near_miss() {
    let Some(mut session) = session(SolverKind::Z3) else { return };
    for idiom in idioms() {
        let near_miss = &idiom.near_miss;
        let mut asker = Asker::new(&mut session, budget(), PATIENCE);
        let mut pairs = idiom.near_miss_levels.iter().flat_map(|&level| near_miss.pairs(level));
        let proved = pairs.all(|pair| {
            let reply = asker.pair(&near_miss.protocol, &pair, &near_miss.scope, Suspects::Unwanted);
            matches!(reply, Reply::Proved(_))
        });
        assert!(!proved, "{}: every pair of the near miss is proved", idiom.name);
    }
}

/// Claims that a solver must not prove: they fail for a block of one thread, for the first thread, when a loop ends.
#[test]
fn a_solver_proves_claims_of_single_threads_and_no_others() {
    use raceproof::calculus::text::parse;
    use raceproof::protocol::infer::infer;
    let kernel = "kernel k(n: i32) { var i: i32 var j: i32
      assert bdim.x * bdim.y * bdim.z > 1 @0
      assert convert<i32>(tid.x) != 0 @1
      assert convert<i32>(tid.x * 2) % 2 == 0 @2
      for i = 0 while i < n step + 1 @3 { assert i * i >= i @4 assert i < 3 @5 } }";
    let protocol = infer(&parse(kernel).unwrap());
    for kind in [SolverKind::Z3, SolverKind::Cvc5] {
        let Some(mut session) = session(kind) else { continue };
        let scope = raceproof::prove::Scope::default();
        let mut asker = Asker::new(&mut session, budget(), PATIENCE);
        let proved: Vec<usize> = protocol
            .claims
            .iter()
            .filter(|claim| matches!(asker.claim(&protocol, claim, &scope), Reply::Proved(_)))
            .map(|claim| claim.site.index())
            .collect();
        assert!(proved.contains(&2), "{proved:?} by {}", kind.name());
        assert!(proved.iter().all(|site| [2, 4].contains(site)), "{proved:?} by {}", kind.name());
    }
}
