//! Logs of accesses, kept: statements that note which access was made, and forget it at barriers that order its memory.
//!
//! A log is about any of several accesses, chosen freely, so that what is proved of the log is proved of them all. Atomics are
//! not logged.

use super::notes::{Direction, Log};
use crate::calculus::{
    ArrayId, BinaryOp, ExprId, HavocReason, Kernel, ScalarType, Space, Stmt, SyncMemory, SyncScope, VarId,
};

/// Keeps the logs in a complete kernel.
pub(super) fn keep(kernel: &mut Kernel, logs: &[Log]) {
    if logs.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    keep_in(kernel, logs, &mut body);
    let mut start: Vec<Stmt> = logs.iter().map(|log| cleared(kernel, log)).collect();
    let zero = kernel.exprs.int(0, ScalarType::U64);
    start.extend(logs.iter().map(|log| Stmt::Let { var: log.offset, value: zero }));
    start.extend(body);
    kernel.body = start;
}

fn keep_in(kernel: &mut Kernel, logs: &[Log], body: &mut Vec<Stmt>) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body) {
        let mut after = Vec::new();
        match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                keep_in(kernel, logs, then);
                keep_in(kernel, logs, otherwise);
            }
            Stmt::For(counted) => keep_in(kernel, logs, &mut counted.body),
            Stmt::Loop { body, .. } => keep_in(kernel, logs, body),
            Stmt::Read { access, .. } => note(kernel, logs, (access.array, Direction::Read), access.offset, &mut after),
            Stmt::Write { access, .. } => {
                note(kernel, logs, (access.array, Direction::Write), access.offset, &mut after);
            }
            Stmt::Sync { scope, memory, among, .. } if *scope >= SyncScope::Block && among.arrivals().is_none() => {
                let (memory, arrays) = (*memory, &kernel.arrays);
                let ordered: Vec<Log> =
                    logs.iter().copied().filter(|log| orders(memory, arrays[log.array].space)).collect();
                after.extend(ordered.iter().map(|log| cleared(kernel, log)));
            }
            _ => {}
        }
        // A read may set the variable that its own offset mentions: where it was made is noted before.
        let reads = matches!(stmt, Stmt::Read { .. });
        if reads {
            kept.extend(after);
            kept.push(stmt);
        } else {
            kept.push(stmt);
            kept.extend(after);
        }
    }
    *body = kept;
}

fn orders(memory: SyncMemory, space: Space) -> bool {
    match space {
        Space::Shared => memory.shared,
        Space::Global => memory.global,
        Space::Image => memory.images,
        Space::Distributed | Space::Constant | Space::Private => false,
    }
}

fn cleared(kernel: &mut Kernel, log: &Log) -> Stmt {
    Stmt::Let { var: log.made, value: kernel.exprs.bool(false) }
}

/// An access is made: the log may be about this one from now on.
fn note(kernel: &mut Kernel, logs: &[Log], of: (ArrayId, Direction), offset: ExprId, noted: &mut Vec<Stmt>) {
    let Some(log) = logs.iter().find(|log| (log.array, log.direction) == of) else { return };
    let value = |kernel: &mut Kernel, var: VarId| {
        let ty = kernel.vars[var].ty;
        kernel.exprs.var(var, ty)
    };
    let (chosen, made, before) = (value(kernel, log.chosen), value(kernel, log.made), value(kernel, log.offset));
    let made = kernel.exprs.binary(BinaryOp::Or, chosen, made);
    let here = kernel.exprs.convert(ScalarType::U64, offset);
    let offset = kernel.exprs.select(chosen, here, before);
    noted.extend([
        Stmt::Havoc { var: log.chosen, reason: HavocReason::Choice, span: None },
        Stmt::Let { var: log.offset, value: offset },
        Stmt::Let { var: log.made, value: made },
    ]);
}
