//! Conflict conditions and how each was decided: what the judgement of a kernel works on.

use super::places::Places;
use crate::calculus::eval;
use crate::driver::attempt::{Case, Persistence};
use crate::driver::scopes::{self, Candidates};
use crate::memory_model::AccessKind;
use crate::memory_model::Level;
use crate::protocol::AccessId;
use crate::prove::{Groups, Pair, condition};
use std::fmt::Write as _;

/// The conditions of a kernel as text, attempt after attempt until one succeeds.
pub(super) fn text(case: &Case<'_>, places: &Places<'_>, candidates: &Candidates) -> String {
    let mut out = format!("kernel {}\n", case.kernel.name);
    let program = eval::Program::new(case.kernel);
    for attempt in &candidates.proofs {
        let scope = scopes::describe(case.kernel, attempt);
        let _ = writeln!(out, "  scope {} {}", scope.kind.name(), scope.fixes.join(", "));
        let mut hunts = case.hunts(attempt, &program);
        let rest = case.prove(attempt, (&mut hunts, Persistence::AskAll), None, &mut |part, pair, outcome| {
            let (first, second) = (access(case, places, pair.first), access(case, places, pair.second));
            let _ = writeln!(out, "\n  {first} against {second}, {}", level(pair));
            let _ = match outcome {
                Ok(proof) => writeln!(out, "    proved\n{}", proof.derivation),
                Err(open) => match condition::build(case.protocol, pair, &part.scope) {
                    Ok(condition) => writeln!(out, "    open: {open:?}\n{condition}"),
                    Err(_) => writeln!(out, "    open: {open:?}"),
                },
            };
        });
        for (sync, why) in &rest.syncs {
            let place = places.name(case.protocol.syncs[*sync].site);
            let _ = writeln!(out, "\n  barrier at {place} is not proved uniform: {why:?}");
        }
        if rest.is_empty() {
            break;
        }
    }
    out
}

/// "Block level, same warp".
fn level(pair: &Pair) -> &'static str {
    match (pair.level, pair.groups) {
        (Level::Grid, Groups::Any) => "Grid level",
        (Level::Grid, Groups::Same) => "Grid level, same cluster",
        (Level::Grid, Groups::Different) => "Grid level, different clusters",
        (_, Groups::Any) => "Block level",
        (_, Groups::Same) => "Block level, same warp",
        (_, Groups::Different) => "Block level, different warps",
    }
}

/// "write of y at 7:12".
fn access(case: &Case<'_>, places: &Places<'_>, access: AccessId) -> String {
    let access = &case.protocol.accesses[access];
    let kind = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic { .. } => "atomic",
    };
    format!("{kind} of {} at {}", case.kernel.arrays[access.array].name, places.name(access.site))
}
