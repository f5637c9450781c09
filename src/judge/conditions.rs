//! Conflict conditions and how each was decided: what the judgement of a kernel works on.

use super::attempt::{Case, Persistence};
use super::{Settings, scopes};
use crate::calculus::{Kernel, SiteId, eval};
use crate::launch::Facts;
use crate::memory_model::AccessKind;
use crate::memory_model::Level;
use crate::protocol::{AccessId, Protocol};
use crate::prove::premises::Premises;
use crate::prove::{Groups, Pair};
use crate::source::Language;
use std::fmt::Write as _;

/// The conditions of a kernel as text, attempt after attempt until one succeeds; `place` names a site.
pub fn text(
    kernel: &Kernel,
    protocol: &Protocol,
    launches: &[Facts],
    language: Language,
    settings: &Settings,
    place: &dyn Fn(SiteId) -> String,
) -> String {
    let case = &Case::new(kernel, protocol, language, settings);
    let candidates = scopes::candidates(kernel, launches, settings);
    let mut out = format!("kernel {}\n", case.kernel.name);
    let program = eval::Program::new(case.kernel);
    for attempt in &candidates.proofs {
        let scope = scopes::describe(case.kernel, attempt);
        let _ = writeln!(out, "  scope {} {}", scope.kind.name(), scope.fixes.join(", "));
        let mut hunts = case.hunts(attempt, &program);
        let rest = case.prove(attempt, (&mut hunts, Persistence::AskAll), None, &mut |part, pair, outcome| {
            let (first, second) = (access(case, place, pair.first), access(case, place, pair.second));
            let _ = writeln!(out, "\n  {first} against {second}, {}", level(pair));
            let _ = match outcome {
                Ok(proof) => writeln!(out, "    proved\n{}", proof.derivation),
                Err(open) => match Premises::new(case.protocol, &part.scope).conflict(pair) {
                    Ok(condition) => writeln!(out, "    open: {open:?}\n{condition}"),
                    Err(_) => writeln!(out, "    open: {open:?}"),
                },
            };
        });
        for (sync, why) in &rest.syncs {
            let at = place(case.protocol.syncs[*sync].site);
            let _ = writeln!(out, "\n  barrier at {at} is not proved uniform: {why:?}");
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
fn access(case: &Case<'_>, place: &dyn Fn(SiteId) -> String, access: AccessId) -> String {
    let access = &case.protocol.accesses[access];
    let kind = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic { .. } => "atomic",
    };
    format!("{kind} of {} at {}", case.kernel.arrays[access.array].name, place(access.site))
}
