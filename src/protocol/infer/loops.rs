//! Execution of loops: a trial turn to see how variables move, then the body on their closed forms.

use super::exits;
use super::induction::{self, Induction, Trial};
use super::orders;
use super::state::{Mode, Polarity, State, convert};
use crate::calculus::{BinaryOp, Expr, ExprId, For, ScalarType, SiteId, Stmt, Test};
use crate::protocol::{Carried, Guard, Loop, LoopId, Node, OpaqueId, Origin, Role};

/// What decides whether a loop goes on.
#[derive(Clone, Copy)]
pub(super) enum Head<'k> {
    /// The test of a counted loop.
    For(&'k For),
    /// A test before or after each turn.
    Test(Test),
}

/// Executes a loop and leaves the environment as it is after it.
pub(super) fn execute(state: &mut State<'_>, head: Head<'_>, body: &[Stmt], site: SiteId, nodes: &mut Vec<Node>) {
    let ordered = match head {
        Head::For(each) => orders::ordered(state, each),
        Head::Test(_) => None,
    };
    let head = ordered.as_ref().map_or(head, Head::For);
    if let Head::For(each) = head {
        let start = state.evaluate(each.start);
        state.assign(each.var, start);
    }
    if never_runs(state, head) {
        return;
    }
    let turn = trial_turn(state, head, body, site);
    let inductions = induction::classify(state, &turn.trials, turn.mark);
    let ends = if state.mode == Mode::Emit {
        emit(state, head, body, site, &turn, &inductions, nodes)
    } else {
        turn.trials.iter().map(|trial| trial.end).collect()
    };
    let mut after = exits::After::new(head, site, &turn.trials);
    for ((trial, induction), end) in turn.trials.iter().zip(&inductions).zip(ends) {
        let value = after.value(state, *trial, induction, end);
        state.assign(trial.var, value);
    }
}

/// Whether the first test is known to fail.
fn never_runs(state: &mut State<'_>, head: Head<'_>) -> bool {
    let test = match head {
        Head::For(each) => for_test(state, each),
        Head::Test(Test::Before(cond)) => state.evaluate(cond),
        Head::Test(Test::After(_)) => return false,
    };
    state.out.exprs.as_int(test) == Some(0)
}

/// The test of a counted loop in the current environment.
fn for_test(state: &mut State<'_>, each: &For) -> ExprId {
    let value = state.simplify(state.env[each.var.index()]);
    let bound = state.evaluate(each.bound);
    state.out.exprs.binary(each.cmp, value, bound)
}

// ---- the trial turn ----

/// What a trial turn showed.
struct TrialTurn {
    trials: Vec<Trial>,
    /// The parts of the test at the end of the turn, in the order of [`State::conjuncts`].
    tests: Vec<ExprId>,
    /// Variables of the protocol from here on were made in the turn.
    mark: usize,
}

/// Executes the body once on a symbol for each variable that it assigns, and leaves the environment alone.
fn trial_turn(state: &mut State<'_>, head: Head<'_>, body: &[Stmt], site: SiteId) -> TrialTurn {
    let mark = state.out.vars.len();
    let before = state.env.clone();
    let mode = std::mem::replace(&mut state.mode, Mode::Trial);
    let context = state.enter();
    let mut trials = Vec::new();
    for var in state.assignments.of_loop(site) {
        let variable = &state.kernel.vars[var];
        let symbol = state.fresh(&variable.name, variable.ty).1;
        trials.push(Trial { var, start: before[var.index()], symbol, next: symbol, end: symbol });
    }
    for trial in &trials {
        state.env[trial.var.index()] = trial.symbol;
    }
    learn_test(state, head, &before);
    super::statements(state, body);
    for trial in &mut trials {
        trial.end = state.simplify(state.env[trial.var.index()]);
    }
    let tests = learn_that_it_goes_on(state, head);
    for trial in &mut trials {
        trial.next = state.simplify(state.env[trial.var.index()]);
    }
    if let Head::For(each) = head {
        for trial in trials.iter_mut().filter(|trial| trial.var == each.var) {
            let by = state.evaluate(each.step.by);
            trial.next = state.out.exprs.binary(each.step.op, trial.symbol, by);
        }
    }
    state.leave(context);
    state.mode = mode;
    state.env = before;
    TrialTurn { trials, tests, mark }
}

/// Learns what the test says about the values at the start of a turn.
fn learn_test(state: &mut State<'_>, head: Head<'_>, before: &[ExprId]) {
    match head {
        Head::For(each) => {
            let test = for_test(state, each);
            state.learn(test);
        }
        Head::Test(Test::Before(cond)) => {
            for (part, polarity) in state.conjuncts(cond, Polarity::Holds) {
                let value = state.evaluate_as(part, polarity);
                state.learn(value);
            }
        }
        // What holds before the loop and is tested after each turn holds at the start of every turn.
        Head::Test(Test::After(cond)) => {
            for (part, polarity) in state.conjuncts(cond, Polarity::Holds) {
                let now = std::mem::replace(&mut state.env, before.to_vec());
                let at_first = state.evaluate_as(part, polarity);
                state.env = now;
                if state.out.exprs.as_int(at_first) == Some(1) {
                    let value = state.evaluate_as(part, polarity);
                    state.learn(value);
                }
            }
        }
    }
}

/// Learns, at the end of a turn, that another one follows; returns the parts of the test. (A counted loop moves
/// its variable first, and has no flags, so there is nothing that would help.)
fn learn_that_it_goes_on(state: &mut State<'_>, head: Head<'_>) -> Vec<ExprId> {
    let Head::Test(Test::Before(cond) | Test::After(cond)) = head else { return Vec::new() };
    let mut tests = Vec::new();
    for (part, polarity) in state.conjuncts(cond, Polarity::Holds) {
        let value = state.evaluate_as(part, polarity);
        state.learn(value);
        tests.push(value);
    }
    tests
}

// ---- the closed forms ----

/// Emits the loop; returns the values of the variables at the end of a turn.
fn emit(
    state: &mut State<'_>,
    head: Head<'_>,
    body: &[Stmt],
    site: SiteId,
    trial_turn: &TrialTurn,
    inductions: &[Induction],
    nodes: &mut Vec<Node>,
) -> Vec<ExprId> {
    let trials = &trial_turn.trials;
    let (iteration, turn) = state.fresh("k", ScalarType::I64);
    let always = state.out.exprs.bool(true);
    let id = state.out.loops.push(Loop {
        site,
        iteration,
        guard: always,
        continues: always,
        carried: Vec::new(),
        loops: state.loops.clone(),
        guards: state.guards.clone(),
        has_sync: false,
        reasons: Vec::new(),
    });
    state.out.roles.insert(iteration, Role::Iteration(id));
    state.loops.push(id);
    let mut forms = ClosedForms { id, site, turn, parity: None, irregular: Vec::new() };
    for (trial, induction) in trials.iter().zip(inductions) {
        let value = forms.value(state, *trial, induction);
        state.assign(trial.var, value);
    }
    let context = state.enter();
    let later = guard_turn(state, head, &forms, trial_turn);
    let syncs = state.out.syncs.len();
    let inner = super::statements(state, body);
    state.out.loops[id].has_sync = state.out.syncs.len() > syncs;
    let ends: Vec<ExprId> = trials.iter().map(|trial| state.simplify(state.env[trial.var.index()])).collect();
    continue_if(state, id, &later);
    state.leave(context);
    state.loops.pop();
    for (opaque, index) in forms.irregular_of(trials) {
        set_from(state, opaque, vec![trials[index].start, ends[index]]);
    }
    nodes.push(Node::Loop(id, inner));
    ends
}

pub(super) fn set_from(state: &mut State<'_>, opaque: OpaqueId, values: Vec<ExprId>) {
    if let Origin::Loop { from, .. } = &mut state.out.opaques[opaque].origin {
        *from = values;
    }
}

/// The loop being emitted.
struct ClosedForms {
    id: LoopId,
    site: SiteId,
    /// The iteration number.
    turn: ExprId,
    /// The parity of the iteration number, once something toggles.
    parity: Option<ExprId>,
    /// Unknown values, with the kernel's variable that each belongs to.
    irregular: Vec<(OpaqueId, ExprId)>,
}

impl ClosedForms {
    fn irregular_of<'t>(&'t self, trials: &'t [Trial]) -> impl Iterator<Item = (OpaqueId, usize)> + 't {
        self.irregular.iter().filter_map(|&(opaque, symbol)| {
            trials.iter().position(|trial| trial.symbol == symbol).map(|index| (opaque, index))
        })
    }

    fn is_irregular(&self, state: &State<'_>, value: ExprId) -> bool {
        let mut found = false;
        state.out.exprs.visit(value, |_, node| {
            if let Expr::Var(var) = node {
                found |= self.irregular.iter().any(|&(opaque, _)| state.out.opaques[opaque].var == *var);
            }
        });
        found
    }

    /// The value of a variable at the start of the current turn.
    fn value(&mut self, state: &mut State<'_>, trial: Trial, induction: &Induction) -> ExprId {
        match induction {
            Induction::Invariant => trial.start,
            Induction::Affine { .. } | Induction::Guarded(..) => {
                induction::steady_value(state, trial.start, induction, self.turn)
                    .unwrap_or_else(|| self.irregular(state, trial))
            }
            Induction::Geometric(next) => self.geometric(state, trial, *next),
            Induction::Toggle(other) => self.toggle(state, trial.start, *other),
            Induction::Cycle(values) => self.cycle(state, values),
            Induction::Replaced(value) => {
                let first = self.is_first(state);
                state.out.exprs.select(first, trial.start, *value)
            }
            Induction::Irregular => self.irregular(state, trial),
        }
    }

    fn irregular(&mut self, state: &mut State<'_>, trial: Trial) -> ExprId {
        let (opaque, value) = state.loop_value(trial.var, self.site);
        self.irregular.push((opaque, trial.symbol));
        value
    }

    fn is_first(&self, state: &mut State<'_>) -> ExprId {
        let zero = state.out.exprs.int(0, ScalarType::I64);
        state.out.exprs.binary(BinaryOp::Eq, self.turn, zero)
    }

    fn geometric(&mut self, state: &mut State<'_>, trial: Trial, next: ExprId) -> ExprId {
        let variable = &state.kernel.vars[trial.var];
        let (var, value) = state.fresh(&variable.name, variable.ty);
        state.out.roles.insert(var, Role::Geometric(self.id));
        let symbol = state.out.exprs[trial.symbol].clone();
        let next = state.out.exprs.substitute(next, |leaf| (*leaf == symbol).then_some(value));
        state.out.loops[self.id].carried.push(Carried { var, start: trial.start, next });
        value
    }

    fn parity(&mut self, state: &mut State<'_>) -> ExprId {
        if let Some(parity) = self.parity {
            return parity;
        }
        let (var, value) = state.fresh("parity", ScalarType::I32);
        state.out.roles.insert(var, Role::Toggle(self.id));
        let start = state.out.exprs.int(0, ScalarType::I32);
        let one = state.out.exprs.int(1, ScalarType::I32);
        let next = state.out.exprs.binary(BinaryOp::Sub, one, value);
        state.out.loops[self.id].carried.push(Carried { var, start, next });
        self.parity = Some(value);
        value
    }

    /// `start`, `other`, `start`, …; constants as `start + (other - start) * parity`, which rules compute with.
    fn toggle(&mut self, state: &mut State<'_>, start: ExprId, other: ExprId) -> ExprId {
        let parity = self.parity(state);
        let ty = state.out.exprs.ty(start);
        let exprs = &mut state.out.exprs;
        if let (ScalarType::Int { .. }, Some(low), Some(high)) = (ty, exprs.as_int(start), exprs.as_int(other))
            && ty.range().is_some_and(|(least, greatest)| (least..=greatest).contains(&(high - low).abs()))
        {
            let parity = convert(exprs, ty, parity);
            let by = exprs.int((high - low).abs(), ty);
            let moved = exprs.binary(BinaryOp::Mul, by, parity);
            return exprs.binary(if high < low { BinaryOp::Sub } else { BinaryOp::Add }, start, moved);
        }
        let zero = exprs.int(0, ScalarType::I32);
        let even = exprs.binary(BinaryOp::Eq, parity, zero);
        exprs.select(even, start, other)
    }

    /// The value at the iteration number modulo the length of the cycle.
    fn cycle(&self, state: &mut State<'_>, values: &[ExprId]) -> ExprId {
        let exprs = &mut state.out.exprs;
        let length = exprs.int(values.len() as i128, ScalarType::I64);
        let phase = exprs.binary(BinaryOp::Rem, self.turn, length);
        let ty = exprs.ty(values[0]);
        let counts = values.iter().enumerate().all(|(index, &value)| exprs.as_int(value) == Some(index as i128));
        if counts && matches!(ty, ScalarType::Int { .. }) {
            return convert(exprs, ty, phase);
        }
        let mut value = values[values.len() - 1];
        for (index, &candidate) in values.iter().enumerate().rev().skip(1) {
            let index = exprs.int(index as i128, ScalarType::I64);
            let here = exprs.binary(BinaryOp::Eq, phase, index);
            value = exprs.select(here, candidate, value);
        }
        value
    }
}

/// A part of the test that is asked at the end of a turn, because no expression over the next turn says it.
struct Later {
    part: (ExprId, Polarity),
    /// What stands for its truth at the end of the turn before, in guards.
    went_on: OpaqueId,
}

/// Guards the body by the loop's test; returns the parts that must be asked at the end of a turn.
///
/// Values at the start of a turn were found on the assumption that the turn happens, so a flag that a `break`
/// sets is false there and says nothing. So a part that reads a boolean variable, and a part of a `do` test
/// that moves irregularly, is taken from the end of the turn before. Other parts are exact at the start of a
/// turn wherever all parts hold, by induction on how deep one part's value lies within another's.
fn guard_turn(state: &mut State<'_>, head: Head<'_>, forms: &ClosedForms, trial: &TrialTurn) -> Vec<Later> {
    let mut later = Vec::new();
    let of_loop = Some(forms.id);
    let mut all = state.out.exprs.bool(true);
    let (cond, after) = match head {
        Head::For(each) => {
            let cond = for_test(state, each);
            state.push_guard(Guard { cond, not_returned: false, of_loop });
            state.out.loops[forms.id].guard = cond;
            return later;
        }
        Head::Test(Test::Before(cond)) => (cond, false),
        Head::Test(Test::After(cond)) => (cond, true),
    };
    let parts = state.conjuncts(cond, Polarity::Holds);
    // What the test says at the end of a turn, over the turn that follows; before anything is learned of that.
    let before: Vec<Option<ExprId>> =
        trial.tests.iter().map(|&test| in_next_turn(state, test, forms.turn, trial)).collect();
    let mut asked = Vec::new();
    for (part, before) in parts.into_iter().zip(before) {
        let now = state.evaluate_as(part.0, part.1);
        let not_returned = state.says_not_returned(part.0, part.1);
        let is_flag = reads_boolean(state, part.0);
        let says_it_now = !after || (!is_flag && !forms.is_irregular(state, now));
        if says_it_now {
            let cond = if after { or_first(state, forms.turn, now) } else { now };
            state.push_guard(Guard { cond, not_returned, of_loop });
            all = state.out.exprs.and(all, cond);
        }
        if is_flag || !says_it_now {
            asked.push((part, before, not_returned));
        }
    }
    // What is known of a break comes last, so that whoever asks about it knows the other parts.
    for (part, before, not_returned) in asked {
        if let Some(before) = before {
            let cond = or_first(state, forms.turn, before);
            state.push_guard(Guard { cond, not_returned, of_loop });
            all = state.out.exprs.and(all, cond);
        } else {
            let (went_on, cond) = state.going_value(forms.site);
            state.push_guard(Guard { cond, not_returned, of_loop });
            later.push(Later { part, went_on });
        }
    }
    state.out.loops[forms.id].guard = all;
    later
}

/// A value at the end of a turn, given over the symbols of the trial turn, as an expression over the turn that
/// follows; `None` if it depends on more than the number of the turn.
fn in_next_turn(state: &mut State<'_>, end: ExprId, turn: ExprId, trial: &TrialTurn) -> Option<ExprId> {
    let starts: Vec<_> = trial.trials.iter().map(|trial| (trial.symbol, state.env[trial.var.index()])).collect();
    let closed = substitute(state, end, &starts);
    let mut depends_on_more = false;
    state.out.exprs.visit(closed, |id, node| {
        depends_on_more |= matches!(node, Expr::Var(var) if var.index() >= trial.mark && id != turn);
    });
    if depends_on_more {
        return None;
    }
    let one = state.out.exprs.int(1, ScalarType::I64);
    let previous = state.out.exprs.binary(BinaryOp::Sub, turn, one);
    Some(substitute(state, closed, &[(turn, previous)]))
}

fn substitute(state: &mut State<'_>, root: ExprId, by: &[(ExprId, ExprId)]) -> ExprId {
    let by: Vec<(Expr, ExprId)> = by.iter().map(|&(from, to)| (state.out.exprs[from].clone(), to)).collect();
    state.out.exprs.substitute(root, |leaf| by.iter().find(|(from, _)| from == leaf).map(|&(_, to)| to))
}

/// Whether a condition of the kernel reads a boolean variable.
fn reads_boolean(state: &State<'_>, cond: ExprId) -> bool {
    let mut found = false;
    state.kernel.exprs.visit(cond, |_, node| {
        found |= matches!(node, Expr::Var(var) if state.kernel.vars[*var].ty == ScalarType::Bool);
    });
    found
}

/// `turn == 0 || cond`
fn or_first(state: &mut State<'_>, turn: ExprId, cond: ExprId) -> ExprId {
    let zero = state.out.exprs.int(0, ScalarType::I64);
    let first = state.out.exprs.binary(BinaryOp::Eq, turn, zero);
    state.out.exprs.or(first, cond)
}

/// Records, at the end of a turn, what these parts of the test ask of it.
fn continue_if(state: &mut State<'_>, id: LoopId, later: &[Later]) {
    let mut all = state.out.exprs.bool(true);
    let always = all;
    for Later { part, went_on } in later {
        let value = state.evaluate_as(part.0, part.1);
        set_from(state, *went_on, vec![always, value]);
        all = state.out.exprs.and(all, value);
    }
    state.out.loops[id].continues = state.cap(all);
}
