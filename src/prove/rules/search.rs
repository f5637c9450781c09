//! The search for a derivation (docs/RULES.md, "4. The procedure").
//!
//! Rules that need no choice run to a fixed point: contradiction, SUBST of twins and zeros, SUM, SPLIT, NEVER on
//! equations, XOR, SUBST of linear equations; then NEVER on facts; then cases. Passes differ in what they
//! may spend. Every budget is a count, so that the same condition always gets the same answer.
//!
//! What is found is no proof because this module found it: [`super::check`] replays it.

use super::cases;
use super::chain;
use super::derivation::{Branch, Close, Step};
use super::divides;
use super::model;
use super::monotone;
use super::never;
use super::order;
use super::pinch;
use super::round;
use super::split;
use super::subst::{self, Form};
use super::sum;
use super::xor;
use crate::prove::state::least::Least;
use crate::prove::state::poly::{Atom, Monomial, Poly, Side};
use crate::prove::state::sign::{Effort, Preference};
use crate::prove::state::{Alternative, Literal, State};
use crate::work;
use rustc_hash::FxHashSet;

/// What a proof may cost: counted, and so the same on every machine.
///
/// The units are a little more than what the dearest proofs took that the same passes found in a public tree (0.05, 0.14 and
/// 1.8 million, docs/ARCHITECTURE.md, "What may be spent"); searches that found nothing took up to 0.2, 3.6 and 6 million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Cancellations that the most expensive pass may spend; passes that want more are left out.
    pub cancellations: u32,
    /// What the most expensive pass might spend that was tried before, in vain; passes that want no more are left out.
    pub tried: u32,
    /// Units of [`work`] in all.
    pub units: u64,
}

impl Budget {
    /// All passes.
    pub const FULL: Budget = Budget { cancellations: 30_000, tried: 0, units: 2_000_000 };
    /// Leaves the two most expensive passes out.
    pub const MIDDLE: Budget = Budget { cancellations: 6_000, tried: 0, units: 200_000 };
    /// The first pass only, which finds nearly all proofs.
    pub const SMALL: Budget = Budget { cancellations: PASSES[0].total, tried: 0, units: 60_000 };
}

impl Default for Budget {
    fn default() -> Self {
        Budget::FULL
    }
}

impl Budget {
    /// What is left of the passes of this budget after those of `tried` failed.
    pub fn after(self, tried: Budget) -> Budget {
        Budget { tried: tried.cancellations, ..self }
    }

    /// The same passes, whatever they take.
    #[must_use]
    pub fn patient(self) -> Budget {
        Budget { units: u64::MAX, ..self }
    }
}

/// Definitions on one side, and relations between parameters, are never contradictory by themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    LeaveOut,
    Try,
}

/// Values that ORDER may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    /// The first coordinate in which the threads may still differ.
    Coordinate,
    NamedValuesToo,
    /// The other coordinates, and digits that are multiplied with each other; before any equation is solved.
    Others,
}

/// Whether facts are divided, and those about uniform values looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    No,
    Yes,
}

/// When disjunctions that are worth a split before anything else get one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Early {
    AsOthers,
    First,
}

/// What comes first of rules that may both apply.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Haste {
    /// Equations are split before they are solved.
    Split,
    /// Where a value is greater in one thread, no equation splits, and each try is expensive.
    Solve,
}

struct Pass {
    per_goal: u32,
    total: u32,
    orders: Orders,
    idle: Idle,
    rounding: Rounding,
    early: Early,
    /// Whether quotients are ordered.
    monotone: bool,
    /// Whether facts are added up.
    chain: bool,
    preference: Preference,
}

const PASSES: [Pass; 13] = [
    Pass::new(24, 2_500, Orders::Coordinate, Idle::LeaveOut, Rounding::No),
    Pass { early: Early::First, ..Pass::new(24, 3_000, Orders::Coordinate, Idle::LeaveOut, Rounding::No) },
    Pass::new(24, 3_000, Orders::Coordinate, Idle::Try, Rounding::No),
    Pass::new(24, 3_000, Orders::Coordinate, Idle::LeaveOut, Rounding::Yes),
    Pass { chain: true, ..Pass::new(24, 3_000, Orders::Coordinate, Idle::LeaveOut, Rounding::No) },
    Pass { preference: Preference::Fewest, ..Pass::new(24, 3_000, Orders::Coordinate, Idle::LeaveOut, Rounding::No) },
    Pass::new(24, 6_000, Orders::NamedValuesToo, Idle::LeaveOut, Rounding::No),
    Pass { monotone: true, ..Pass::new(24, 6_000, Orders::Coordinate, Idle::Try, Rounding::No) },
    Pass::new(24, 9_000, Orders::Others, Idle::LeaveOut, Rounding::No),
    Pass::new(150, 30_000, Orders::Coordinate, Idle::Try, Rounding::No),
    Pass::new(150, 30_000, Orders::NamedValuesToo, Idle::Try, Rounding::No),
    Pass::new(150, 30_000, Orders::Coordinate, Idle::Try, Rounding::Yes),
    Pass { monotone: true, ..Pass::new(150, 30_000, Orders::Coordinate, Idle::Try, Rounding::No) },
];

impl Pass {
    const fn new(per_goal: u32, total: u32, orders: Orders, idle: Idle, rounding: Rounding) -> Pass {
        let (early, preference) = (Early::AsOthers, Preference::Covered);
        Pass { per_goal, total, orders, idle, rounding, early, monotone: false, chain: false, preference }
    }
}

/// Named values of the two threads, a quotient and a remainder each, where one thread divides twice.
const TWO_QUOTIENTS: usize = 8;

/// Values that are ordered which are no coordinates.
const MOST_OTHERS: usize = 3;

/// Case splits inside each other.
const DEPTH: u32 = 5;
/// Branches that one pass may open.
const BRANCHES: u32 = 120;
/// Sums of facts that one branch makes.
const CHAINS: usize = 8;
/// Rounds of the fixed point within one branch.
const ROUNDS: u32 = 200;

/// From so many facts on, a round is paid for, at the price of one cancellation for so many facts.
const MANY_FACTS: usize = 96;
const FACTS_PER_CANCELLATION: usize = 16;

/// What a search came to.
pub enum Outcome {
    /// A derivation's tree.
    Proved(Branch),
    /// No rule applies any more.
    Stuck,
    /// A budget ran out.
    Spent,
}

/// Searches a contradiction in `state`. Whether there can be one is looked at after the cheapest pass.
pub fn search(state: &State, budget: &Budget) -> Outcome {
    work::within(budget.units, || tried_in_turn(state, budget))
}

fn tried_in_turn(state: &State, budget: &Budget) -> Outcome {
    let mut spent = false;
    for (number, pass) in PASSES.iter().enumerate() {
        if pass.total <= budget.tried || pass.total > budget.cancellations {
            continue;
        }
        if work::is_over() {
            return Outcome::Spent;
        }
        if number == 1 && model::exists(state) {
            return Outcome::Stuck;
        }
        if pass.orders == Orders::NamedValuesToo && state.orders.is_empty() {
            continue;
        }
        if pass.early == Early::First && state.early == 0 {
            continue;
        }
        if pass.monotone && state.named.iter().count() < TWO_QUOTIENTS {
            continue;
        }
        if pass.chain && !chain::applies(state) {
            continue;
        }
        let mut start = state.clone();
        start.orders = match pass.orders {
            Orders::Coordinate => Vec::new(),
            Orders::NamedValuesToo => start.orders,
            Orders::Others => others(state),
        };
        if pass.orders == Orders::Others && start.orders.is_empty() {
            continue;
        }
        let effort = Effort { preference: pass.preference, ..Effort::new(pass.per_goal, pass.total) };
        let &Pass { orders, idle, rounding, early, monotone, chain, .. } = pass;
        let mut prover =
            Prover { effort, orders, haste: Haste::Split, idle, rounding, early, monotone, chain, branches: BRANCHES };
        if let Some(branch) = prover.prove(start, DEPTH) {
            return Outcome::Proved(branch);
        }
        spent = prover.effort.left == 0 || prover.branches == 0;
    }
    if spent { Outcome::Spent } else { Outcome::Stuck }
}

struct Prover {
    effort: Effort,
    orders: Orders,
    haste: Haste,
    idle: Idle,
    rounding: Rounding,
    early: Early,
    monotone: bool,
    chain: bool,
    branches: u32,
}

/// What was tried in a branch, and in vain.
#[derive(Default)]
struct Tried {
    split: FxHashSet<Poly>,
    never: FxHashSet<(Poly, usize)>,
    round: FxHashSet<Poly>,
    monotone: FxHashSet<(Poly, usize)>,
}

enum Round {
    Step(Step),
    Closed(Close),
    Fixed,
    OutOfRange,
}

impl Prover {
    fn prove(&mut self, mut state: State, depth: u32) -> Option<Branch> {
        self.branches = self.branches.checked_sub(1)?;
        let (mut steps, mut tried) = (Vec::new(), Tried::default());
        if let Some(close) = never::opposed(&state) {
            return Some(Branch { steps, close });
        }
        let worth = (self.early == Early::First && state.early > 0).then_some(0);
        if let Some(disjunction) = forced(&state).or(worth) {
            let close = self.alternatives(&state, disjunction, depth)?;
            return Some(Branch { steps, close });
        }
        // No equation is split twice, so what SPLIT may need of facts stands before it.
        if self.chain {
            steps.extend(std::iter::from_fn(|| chain::apply(&mut state)).take(CHAINS));
        }
        for _ in 0..ROUNDS {
            self.pay_for_round(&state)?;
            match self.round(&mut state, &mut tried, depth) {
                Round::Step(step) => steps.push(step),
                Round::Closed(close) => return Some(Branch { steps, close }),
                Round::OutOfRange => return None,
                Round::Fixed => {
                    if self.monotone
                        && let Some(step) = monotone::apply(&mut state, &mut tried.monotone, &mut self.effort)
                    {
                        steps.push(step);
                        continue;
                    }
                    if let Some(close) = self.never_facts(&state) {
                        return Some(Branch { steps, close });
                    }
                    let Some(step) = self.divide_facts(&mut state, &mut tried) else {
                        let close = self.cases(&state, depth)?;
                        return Some(Branch { steps, close });
                    };
                    steps.push(step);
                    if let Some(close) = self.never_last_fact(&state) {
                        return Some(Branch { steps, close });
                    }
                }
            }
        }
        None
    }

    /// Conditions of long kernels have hundreds of facts, and a round over them costs whatever it finds.
    fn pay_for_round(&mut self, state: &State) -> Option<()> {
        if work::is_over() {
            return None;
        }
        if state.facts.len() >= MANY_FACTS {
            let price = state.facts.len() / FACTS_PER_CANCELLATION;
            self.effort.left = self.effort.left.checked_sub(price as u32)?;
        }
        Some(())
    }

    fn round(&mut self, state: &mut State, tried: &mut Tried, depth: u32) -> Round {
        state.equations.retain(|equation| !equation.is_zero());
        for equation in &mut state.equations {
            if equation.content() > 1 {
                *equation = equation.primitive();
            }
        }
        if let Some(close) = never::at_once(state).or_else(|| divides::at_once(state)) {
            return Round::Closed(close);
        }
        if let Some(round) = solve(state, 0..state.equations.len(), Form::Twins) {
            return round;
        }
        if let Some(step) = pinch::apply(state) {
            return Round::Step(step);
        }
        if self.haste == Haste::Solve {
            if let Some(close) = self.never(state, tried) {
                return Round::Closed(close);
            }
            if let Some(round) = solve_linear(state, self.idle, self.haste) {
                return round;
            }
        }
        let relations: Vec<usize> =
            (0..state.equations.len()).filter(|&position| sides(&state.equations[position]) == 2).collect();
        if let Some(step) = sum::apply(state, &relations) {
            return Round::Step(step);
        }
        if let Some(step) = self.split(state, tried) {
            return Round::Step(step);
        }
        if let Some(close) = self.never(state, tried) {
            return Round::Closed(close);
        }
        if let Some(step) = xor::apply(state) {
            return Round::Step(step);
        }
        if self.orders == Orders::Others && depth == DEPTH {
            // An equation that is solved for a digit is none that splits, once a coordinate is known to be equal.
            return Round::Fixed;
        }
        solve_linear(state, self.idle, self.haste).unwrap_or(Round::Fixed)
    }

    fn split(&mut self, state: &mut State, tried: &mut Tried) -> Option<Step> {
        let mut positions: Vec<usize> = (0..state.equations.len()).collect();
        positions.sort_by_key(|&position| sides(&state.equations[position]) == 1);
        for position in positions {
            let equation = &state.equations[position];
            if !is_idle(equation, state, self.idle)
                && tried.split.insert(equation.clone())
                && let Some(step) = split::apply(state, position, &mut self.effort)
            {
                return Some(step);
            }
        }
        None
    }

    fn never(&mut self, state: &State, tried: &mut Tried) -> Option<Close> {
        for equation in &state.equations {
            if !is_idle(equation, state, self.idle)
                && tried.never.insert((equation.clone(), state.facts.len()))
                && let Some(close) = never::equation(equation, state, &mut self.effort)
            {
                return Some(close);
            }
        }
        None
    }

    fn divide_facts(&mut self, state: &mut State, tried: &mut Tried) -> Option<Step> {
        (self.rounding == Rounding::Yes).then(|| round::apply(state, &mut tried.round, &mut self.effort)).flatten()
    }

    /// Facts about uniform values contradict each other where a guard fails that holds at an access; that is
    /// rare, and expensive to look for.
    fn never_facts(&mut self, state: &State) -> Option<Close> {
        let uniform_too = self.rounding == Rounding::Yes;
        let mut facts = state.facts.iter().filter(|fact| uniform_too || fact.is_private());
        facts.find_map(|fact| never::fact(fact, state, &mut self.effort))
    }

    /// What ROUND found may be about uniform values, which are not looked at otherwise.
    fn never_last_fact(&mut self, state: &State) -> Option<Close> {
        never::fact(state.facts.last()?, state, &mut self.effort)
    }

    fn cases(&mut self, state: &State, depth: u32) -> Option<Close> {
        let depth = depth.checked_sub(1)?;
        self.toggle(state, depth).or_else(|| self.disjunction(state, depth)).or_else(|| self.order(state, depth))
    }

    fn toggle(&mut self, state: &State, depth: u32) -> Option<Close> {
        let atoms: Vec<Atom> = state.toggles.iter().filter_map(Poly::as_atom).collect();
        atoms.into_iter().find_map(|atom| {
            let branches = [0, 1].map(|value| self.prove(cases::toggle(state, atom, value)?, depth));
            let branches = branches.into_iter().collect::<Option<Vec<_>>>()?;
            Some(Close::Toggle { atom, branches })
        })
    }

    fn disjunction(&mut self, state: &State, depth: u32) -> Option<Close> {
        (0..state.disjunctions.len()).find_map(|disjunction| self.alternatives(state, disjunction, depth))
    }

    fn alternatives(&mut self, state: &State, disjunction: usize, depth: u32) -> Option<Close> {
        let mut branches = Vec::new();
        for alternative in 0..state.disjunctions[disjunction].len() {
            branches.push(self.prove(cases::alternative(state, disjunction, alternative)?, depth)?);
        }
        Some(Close::Cases { disjunction, branches })
    }

    fn order(&mut self, state: &State, depth: u32) -> Option<Close> {
        let named = state.orders.iter().enumerate().map(|(position, pair)| (pair, Some(position)));
        let coordinate = state.coordinates.iter().find(|pair| pair.0 != pair.1).map(|pair| (pair, None));
        let subjects: Vec<_> = named.filter(|(pair, _)| pair.0 != pair.1).chain(coordinate).collect();
        subjects.into_iter().find_map(|(pair, position)| self.ordered(state, pair, position, depth))
    }

    fn ordered(&mut self, state: &State, pair: &(Poly, Poly), position: Option<usize>, depth: u32) -> Option<Close> {
        let gap = order::fresh(state)?;
        let coordinate = position.is_none();
        let mut branches = Vec::new();
        for case in order::Case::ALL {
            let mut rest = state.clone();
            rest.orders.drain(..position.map_or(rest.orders.len(), |at| at + 1));
            let next = order::case(&rest, (&pair.0, &pair.1), coordinate, gap, case)?;
            if self.orders == Orders::Others {
                self.haste = if case == order::Case::Equal { Haste::Split } else { Haste::Solve };
            }
            let branch = self.prove(next, depth);
            self.haste = Haste::Split;
            branches.push(branch?);
        }
        Some(Close::Order { first: pair.0.clone(), second: pair.1.clone(), coordinate, gap, branches })
    }
}

/// What [`Orders::Others`] may take.
fn others(state: &State) -> Vec<(Poly, Poly)> {
    let mut found: Vec<(Poly, Poly)> = state.coordinates.iter().skip(1).cloned().collect();
    for equation in &state.equations {
        let products = equation.terms().iter().map(|term| term.0.private_part()).filter(|product| product.degree() > 1);
        let digits = products.flat_map(Monomial::atoms).filter(|&atom| state.named.contains(atom));
        for digit in digits.filter(|digit| digit.side() == Some(Side::First) && state.mentions(digit.twin())) {
            let pair = (Poly::atom(digit), Poly::atom(digit.twin()));
            if !found.contains(&pair) {
                found.push(pair);
            }
        }
    }
    found.truncate(MOST_OTHERS);
    found
}

/// A disjunction of which facts leave one alternative at most: it is no choice, and what it says may be what settles
/// the others.
fn forced(state: &State) -> Option<usize> {
    if state.disjunctions.is_empty() {
        return None;
    }
    let least = Least::of(state);
    let is_open = |alternative: &&Alternative| {
        alternative.iter().all(|literal| match literal {
            Literal::NonNegative(poly) => least.opposite(poly).is_none(),
            Literal::Zero(_) => true,
        })
    };
    state.disjunctions.iter().position(|alternatives| alternatives.iter().filter(is_open).count() <= 1)
}

/// Solves one of the equations at these positions, the first that has the form.
fn solve(state: &mut State, positions: impl IntoIterator<Item = usize>, form: Form) -> Option<Round> {
    let outcome = positions.into_iter().find_map(|position| subst::apply(state, position, form))?;
    Some(outcome.map_or(Round::OutOfRange, Round::Step))
}

/// Solves a linear equation, one of those that are no definitions of one side before others.
fn solve_linear(state: &mut State, idle: Idle, haste: Haste) -> Option<Round> {
    let mut positions: Vec<usize> = (0..state.equations.len()).collect();
    positions.sort_by_key(|&position| {
        let equation = &state.equations[position];
        (is_idle(equation, state, idle), haste == Haste::Solve && relates_digits(equation, state))
    });
    solve(state, positions, Form::Linear)
}

/// Whether an equation is what definitions of both threads say of each other: it holds all values of such a one.
fn relates_digits(equation: &Poly, state: &State) -> bool {
    state.equations.iter().filter(|definition| sides(definition) == 1).any(|definition| {
        let own = || definition.terms().iter().filter(|term| term.0.private_part() != Monomial::ONE);
        [1, -1].iter().any(|sign| own().all(|&(monomial, factor)| equation.coefficient(monomial) == sign * factor))
    })
}

/// On how many sides the private atoms of `equation` stand.
fn sides(equation: &Poly) -> usize {
    let mut seen = [false; 2];
    for side in equation.atoms().into_iter().filter_map(Atom::side) {
        seen[side as usize] = true;
    }
    usize::from(seen[0]) + usize::from(seen[1])
}

fn is_idle(equation: &Poly, state: &State, idle: Idle) -> bool {
    let defines = || equation.atoms().into_iter().any(|atom| state.named.contains(atom));
    match sides(equation) {
        0 => defines(),
        1 => idle == Idle::LeaveOut && equation.size() > 3 && defines(),
        _ => false,
    }
}
