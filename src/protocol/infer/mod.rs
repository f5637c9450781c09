//! Inference of a protocol: symbolic execution of the kernel's tree, once, without forking.
//!
//! Every private variable stands for an expression over parameters, ids and the protocol's own variables
//! ([`state`]). An `if` executes both arms on copies of that environment and joins them with `select`; the
//! protocol keeps one `if` node. A loop's body is executed twice: first on fresh symbols, to see how each
//! variable moves in one turn ([`induction`]), then on the closed forms, which emits the nodes ([`loops`]).
//! At the end everything that nothing refers to is dropped and reasons are computed ([`finish`], [`reasons`]).
//!
//! Guarantees: the cost is polynomial (an inner loop's trial run is not repeated by outer trial runs);
//! expressions stay below a budget, past which they become [`Origin::Complex`](super::Origin::Complex);
//! recursion is bounded, and a kernel nested deeper is reported as unsupported.
//!
//! Deliberately absent: what arrays hold. A read gives a fresh unknown value, always.

mod assigned;
mod exits;
pub(super) mod finish;
mod induction;
mod loops;
mod orders;
mod reasons;
mod state;
#[cfg(test)]
mod tests;
mod tickets;

use super::{Access, Before, Claim, Fact, Fence, Guard, Lock, Node, Protocol, Step, Sync, Ticket};
use crate::calculus::{self, AtomicOp, Basis, ExprId, Kernel, Space, Stmt, Unsupported};
use crate::memory_model::AccessKind;
use crate::work::memory::look;
use state::{Mode, State};

/// Statements nested deeper than this are not executed; recursive passes over the tree rely on the bound.
const MAX_NESTING: usize = 400;

/// The protocol of `kernel`.
pub fn infer(kernel: &Kernel) -> Protocol {
    let mut state = State::new(kernel);
    if calculus::nesting(&kernel.body) > MAX_NESTING {
        let reason = format!("statements nested more than {MAX_NESTING} deep");
        state.out.unsupported.push(Unsupported {
            span: None,
            reason,
            arrays: None,
            barriers: true,
            is_of_thread: false,
        });
    } else {
        state.note_assignments();
        state.out.body = statements(&mut state, &kernel.body);
    }
    tickets::keep(&mut state);
    let mut protocol = finish::compact(&state.out);
    super::stability::mark(&mut protocol, kernel);
    super::uniform::mark(&mut protocol);
    super::handed::mark(&mut protocol);
    super::counted::mark(&mut protocol);
    tickets::confirm(&mut protocol);
    reasons::fill(&mut protocol);
    protocol
}

/// Executes statements in order.
fn statements(state: &mut State<'_>, body: &[Stmt]) -> Vec<Node> {
    let mut nodes = Vec::new();
    for statement in body {
        look();
        execute(state, statement, &mut nodes);
    }
    nodes
}

fn execute(state: &mut State<'_>, statement: &Stmt, nodes: &mut Vec<Node>) {
    match statement {
        Stmt::Let { var, value } if state.names.contains(var) => state.assign_name(*var, *value),
        Stmt::Let { var, value } => {
            let value = state.evaluate(*value);
            state.assign(*var, value);
        }
        Stmt::Read { var, access } => {
            let offset = touch(state, access, AccessKind::Read, None, nodes);
            let value = state.read_value(*var, access, offset);
            state.assign(*var, value);
        }
        Stmt::Write { access, value } => {
            touch(state, access, AccessKind::Write, *value, nodes);
        }
        Stmt::Atomic { var, access, op, operands, order, scope } => {
            let kind = AccessKind::Atomic { writes: *op != AtomicOp::Load, order: *order, scope: *scope };
            let offset = touch(state, access, kind, None, nodes);
            let lock = lock(state, *op, operands);
            if let Some(&Node::Access(id)) = nodes.last()
                && state.out.accesses[id].site == access.site
            {
                state.out.accesses[id].lock = lock;
            }
            let step = tickets::note(state, access.site, *op, operands);
            let count = tickets::count(state, *op, operands, (offset, step.and_then(Step::constant)));
            if let Some(var) = *var {
                let ticket = step.map(|step| Ticket { offset, step });
                let value = state.atomic_value(var, access, ticket, count);
                state.assign(var, value);
            }
        }
        Stmt::If { cond, then, otherwise } => branch(state, *cond, then, otherwise, nodes),
        Stmt::For(each) => loops::execute(state, loops::Head::For(each), &each.body, each.site, nodes),
        Stmt::Loop { test, body, site } => loops::execute(state, loops::Head::Test(*test), body, *site, nodes),
        Stmt::Sync { scope, memory, among, site } => {
            if state.mode == Mode::Emit {
                let among = among.with(|cond| state.evaluate_anywhere(cond));
                let (mut guards, loops) = (state.guards.clone(), state.loops.clone());
                guards.extend(among.named().map(|cond| Guard { cond, not_returned: false, of_loop: None }));
                let (site, scope, memory) = (*site, *scope, *memory);
                let sync = Sync { site, scope, memory, among, guards, loops, reasons: Vec::new() };
                nodes.push(Node::Sync(state.out.syncs.push(sync)));
            }
        }
        Stmt::Fence { order, scope, memory, site } => {
            if state.mode == Mode::Emit {
                let (guards, loops, after) = (state.guards.clone(), state.loops.clone(), state.out.accesses.len());
                let (site, order, scope, memory) = (*site, *order, *scope, *memory);
                let fence = Fence { site, order, scope, memory, guards, loops, after };
                nodes.push(Node::Fence(state.out.fences.push(fence)));
            }
        }
        Stmt::Havoc { var, reason, span } => {
            let value = state.havoc_value(*var, reason.clone(), *span);
            state.assign(*var, value);
        }
        Stmt::Assume { basis: Basis::Candidate, .. } => {}
        Stmt::Assume { cond, basis, span } => {
            if let Some(cond) = condition(state, *cond) {
                let (guards, loops, before) = (state.guards.clone(), state.loops.clone(), before(state));
                state.out.facts.push(Fact { cond, basis: *basis, guards, loops, before, span: *span });
            }
        }
        Stmt::Assert { cond, claimed, site } => {
            if let Some(cond) = condition(state, *cond) {
                let (guards, loops, before) = (state.guards.clone(), state.loops.clone(), before(state));
                let claim = Claim { site: *site, claimed: *claimed, cond, guards, loops, before, reasons: Vec::new() };
                state.out.claims.push(claim);
            }
        }
    }
}

/// Emits an access and returns its offset.
fn touch(
    state: &mut State<'_>,
    access: &calculus::Access,
    kind: AccessKind,
    value: Option<ExprId>,
    nodes: &mut Vec<Node>,
) -> ExprId {
    let offset = state.evaluate(access.offset);
    if state.mode == Mode::Emit && state.kernel.arrays[access.array].space != Space::Private {
        let value = value.map(|value| state.evaluate(value));
        let access = Access {
            site: access.site,
            array: access.array,
            offset,
            bytes: access.bytes,
            align: access.align,
            kind,
            value,
            lock: None,
            guards: state.guards.clone(),
            loops: state.loops.clone(),
            reasons: Vec::new(),
        };
        nodes.push(Node::Access(state.out.accesses.push(access)));
    }
    offset
}

/// What an atomic does to its cell, if that is a lock or a flag: `atomicCAS(&cell, 0, 1)`, `atomicExch(&cell, 1)`,
/// `atomicExch(&cell, 0)`, `atomicOr(&cell, 1)`, `atomicAdd(&cell, 0)`.
fn lock(state: &mut State<'_>, op: AtomicOp, operands: &[ExprId]) -> Option<Lock> {
    let mut number = |operand: &ExprId| {
        let value = state.evaluate(*operand);
        state.out.exprs.as_int(value)
    };
    let numbers: Vec<Option<i128>> = operands.iter().map(&mut number).collect();
    Some(match (op, numbers.as_slice()) {
        (AtomicOp::CompareExchange, [Some(expected), Some(desired)]) if expected == desired => Lock::Look,
        (AtomicOp::CompareExchange, [Some(0), Some(_)]) => Lock::Take,
        (AtomicOp::Exchange, [Some(0)]) => Lock::Release,
        (AtomicOp::Exchange, [Some(_)]) => Lock::Take,
        (AtomicOp::Store, [Some(0)]) => Lock::Clear,
        (AtomicOp::Store | AtomicOp::Or, [Some(1..)]) => Lock::Set,
        (AtomicOp::Load, _) | (AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor, [Some(0)]) => Lock::Look,
        _ => return None,
    })
}

/// A condition that is stated or claimed here; `None` if it says nothing, and in trial runs.
fn condition(state: &mut State<'_>, cond: ExprId) -> Option<ExprId> {
    if state.mode == Mode::Trial {
        return None;
    }
    let cond = state.evaluate(cond);
    let says_nothing = state.out.exprs.as_int(cond) == Some(1);
    (!says_nothing).then_some(cond)
}

/// What was emitted so far.
fn before(state: &State<'_>) -> Before {
    let Protocol { accesses, syncs, facts, .. } = &state.out;
    Before { accesses: accesses.len(), syncs: syncs.len(), facts: facts.len() }
}

/// Executes both arms of an `if` and joins their environments.
fn branch(state: &mut State<'_>, cond: ExprId, then: &[Stmt], otherwise: &[Stmt], nodes: &mut Vec<Node>) {
    let test = state.evaluate(cond);
    match state.out.exprs.as_int(test) {
        Some(0) => return nodes.extend(statements(state, otherwise)),
        Some(_) => return nodes.extend(statements(state, then)),
        None => {}
    }
    let before = state.env.clone();
    let then = arm(state, cond, state::Polarity::Holds, then);
    let after_then = std::mem::replace(&mut state.env, before);
    let otherwise = arm(state, cond, state::Polarity::Fails, otherwise);
    state.join(test, &after_then);
    if !then.is_empty() || !otherwise.is_empty() {
        nodes.push(Node::If { cond: test, then, otherwise });
    }
}

fn arm(state: &mut State<'_>, cond: ExprId, polarity: state::Polarity, body: &[Stmt]) -> Vec<Node> {
    if body.is_empty() {
        return Vec::new();
    }
    let context = state.enter();
    state.guard_by(cond, polarity, None);
    let nodes = statements(state, body);
    state.leave(context);
    nodes
}
