//! Whether every schedule gives the same result: a race-free, uniform kernel without atomics and schedule
//! sources is deterministic (docs/PAPERS.md, "Tripakis 2010, theorem 1").

use super::Context;
use super::verdict::Verdict;
use crate::calculus::HavocReason;
use crate::diagnostic::report::{Determinism, Divergence, Race};
use crate::memory_model::AccessKind;
use crate::protocol::Origin;

/// The statement, or the first thing that stands in its way.
pub(super) fn judge(context: &Context<'_>, verdict: &Verdict) -> Determinism {
    match obstacle(context, verdict) {
        None => Determinism::Deterministic,
        Some(obstacle) => Determinism::NotShown(obstacle),
    }
}

fn obstacle(context: &Context<'_>, verdict: &Verdict) -> Option<String> {
    if verdict.race != Race::RaceFree {
        return Some(format!("the race verdict is {}", verdict.race.name()));
    }
    if verdict.divergence != Divergence::Uniform {
        return Some(format!("the divergence verdict is {}", verdict.divergence.name()));
    }
    let atomic = context
        .protocol
        .accesses
        .iter()
        .map(|(_, access)| access)
        .find(|access| matches!(access.kind, AccessKind::Atomic { .. }));
    if let Some(atomic) = atomic {
        let name = &context.kernel.arrays[atomic.array].name;
        return Some(format!("the atomic on {name} at line {}", context.line(Some(context.span_of(atomic.site)))));
    }
    context.protocol.opaques.iter().find_map(|(_, opaque)| match &opaque.origin {
        Origin::Havoc(HavocReason::Schedule(name)) => {
            Some(format!("{name} at line {}, which depends on the schedule", context.line(opaque.span)))
        }
        Origin::Havoc(HavocReason::Call(name) | HavocReason::Common(_, name)) => {
            Some(format!("{name} at line {}, which is not known", context.line(opaque.span)))
        }
        Origin::Havoc(HavocReason::Undeclared(name)) => {
            Some(format!("`{name}` at line {}, which is not declared", context.line(opaque.span)))
        }
        Origin::Havoc(HavocReason::Uninitialized) => {
            Some(format!("an uninitialised variable at line {}", context.line(opaque.span)))
        }
        _ => None,
    })
}
