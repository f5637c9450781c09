//! Warps that run in lock-step, as they did before Volta: a barrier of the warp between every two accesses.
//!
//! Such hardware runs one statement for all threads of a warp that take the same way, and takes the arms of a
//! conditional one after the other. So before every statement that touches memory that threads share stands a barrier
//! that orders whoever is there together ([`Among::InStep`]). At the end of every turn of a loop, where threads that took
//! different ways meet again, stands one that orders nothing: who left the loop may have gone on before.
//! Nor does one stand before what `break`, `continue` or `return` leave to the others: those that jump are not there, and
//! nothing says which of both goes first. What that says:
//!
//! - Two accesses of different statements, of two threads that both execute what stands between, are ordered. All
//!   threads read before one writes, in `s[t] += s[t + 16]`.
//! - One statement orders nothing: two threads that store to one place at once race, whatever the hardware.
//! - The arms of a conditional order nothing towards each other, and a thread that has ended nothing that comes later.
//! - Turns of a loop are in step if all threads of the warp that reach it run it equally often.
//!
//! A statement that begins an asynchronous copy is over before the copy is. In a kernel with copies that something tells of
//! ([`Told`](crate::calculus::Told)) the steps order nothing.
//!
//! Deliberately absent: compilers, which may keep in a register what is not `volatile`, or take accesses in another
//! order. That they do not is part of the assumption, and told with it.

use crate::calculus::{Among, Expr, Kernel, Site, Space, Stmt, SyncMemory, SyncScope, VarId, eval};
use rustc_hash::FxHashSet;

/// The kernel on hardware where so many neighbouring threads, a power of two, run in lock-step; `jumps` are the variables that
/// say that the thread has jumped, or fallen through to a label.
pub fn in_step(kernel: &mut Kernel, threads: u32, jumps: &FxHashSet<VarId>) {
    let has_copies = kernel.sites.iter().any(|(_, site)| site.told.is_some());
    let memory = if has_copies { SyncMemory::NONE } else { SyncMemory::BOTH };
    let steps = Steps { threads, memory, jumps };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(kernel, body, steps);
}

/// How threads are in step.
#[derive(Clone, Copy)]
struct Steps<'n> {
    threads: u32,
    /// What a step orders.
    memory: SyncMemory,
    /// Variables that say that the thread has jumped.
    jumps: &'n FxHashSet<VarId>,
}

fn block(kernel: &mut Kernel, body: Vec<Stmt>, steps: Steps<'_>) -> Vec<Stmt> {
    let mut made = Vec::with_capacity(body.len());
    for mut stmt in body {
        if !touches(kernel, &stmt) {
            made.push(stmt);
            continue;
        }
        if !is_way_on(kernel, &stmt, steps.jumps) {
            made.push(step(kernel, steps.threads, steps.memory));
        }
        match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                for arm in [then, otherwise] {
                    *arm = block(kernel, std::mem::take(arm), steps);
                }
            }
            Stmt::For(each) => each.body = turn(kernel, std::mem::take(&mut each.body), steps),
            Stmt::Loop { body, .. } => *body = turn(kernel, std::mem::take(body), steps),
            _ => {}
        }
        made.push(stmt);
    }
    made
}

fn turn(kernel: &mut Kernel, body: Vec<Stmt>, steps: Steps<'_>) -> Vec<Stmt> {
    let mut body = block(kernel, body, steps);
    body.push(step(kernel, steps.threads, SyncMemory::NONE));
    body
}

/// Whether a statement is what is left for those that have not jumped: a condition on a flag.
fn is_way_on(kernel: &Kernel, stmt: &Stmt, jumps: &FxHashSet<VarId>) -> bool {
    let Stmt::If { cond, .. } = stmt else { return false };
    let mut has_flag = false;
    kernel.exprs.visit(*cond, |_, node| {
        has_flag |= matches!(node, Expr::Var(var) if kernel.returned == Some(*var) || jumps.contains(var));
    });
    has_flag
}

fn step(kernel: &mut Kernel, threads: u32, memory: SyncMemory) -> Stmt {
    let site = kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
    let scope = if threads > eval::WARP { SyncScope::Block } else { SyncScope::Warp };
    Stmt::Sync { scope, memory, among: Among::InStep(threads), site }
}

/// Whether a statement touches memory that threads share.
fn touches(kernel: &Kernel, stmt: &Stmt) -> bool {
    let any = |body: &[Stmt]| body.iter().any(|stmt| touches(kernel, stmt));
    match stmt {
        Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
            matches!(kernel.arrays[access.array].space, Space::Shared | Space::Distributed | Space::Global)
        }
        Stmt::If { then, otherwise, .. } => any(then) || any(otherwise),
        Stmt::For(each) => any(&each.body),
        Stmt::Loop { body, .. } => any(body),
        _ => false,
    }
}
