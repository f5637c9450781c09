//! Contracts about what memory holds: `distinct(idx)`, of a kernel that scatters through `idx`.
//!
//! `out[idx[i]] = in[i]` is free of races if no two elements of `idx` are equal. That is put into the kernel behind each read
//! of `idx`: what two threads get there differs, or they have read the same element.
//!
//! Guarantees: the contract is enough by a proof that the checker accepts, and needed: contents at which the kernel races
//! without it were found and run. Who writes a place for itself alone scatters. Who reads what it writes (`bins[v[i]]++`), or
//! writes the same value whoever it is (`seen[v[i]] = 1`), expects several threads there: of that it is no excuse.
//!
//! Deliberately absent: bounds, order, elements that are equal within a block, and arrays that the kernel writes.

use super::terms::Terms;
use crate::calculus::statements::every;
use crate::calculus::{Access, ArrayId, Basis, BinaryOp, Expr, Kernel, ScalarType, Stmt, VarId, Variable};
use crate::check::verdict::{
    CheckedLaunch, Conjunct, Contract, ContractKind, Keeping, PossibleRace, Standing, Verdict,
};
use crate::diagnostic::report::{Race, ScopeKind};
use crate::judge::attempt::Case;
use crate::judge::scopes::Candidates;
use crate::judge::settings;
use crate::memory_model::AccessKind;
use crate::protocol::Protocol;
use crate::prove::Assumption;
use crate::prove::program_point::stated_relation;
use std::collections::BTreeSet;

/// Puts the contract of a kernel that scatters into its verdict, if it has one of this kind.
pub(super) fn settle(case: &Case<'_>, candidates: &Candidates, verdict: &mut Verdict) -> bool {
    if verdict.race != Race::PossiblyRacy || !verdict.possible.iter().all(|race| scatters(case, race)) {
        return false;
    }
    let arrays: BTreeSet<ArrayId> = verdict.possible.iter().flat_map(indices).collect();
    let readable = read_only(case.kernel);
    for array in arrays.into_iter().filter(|array| readable.contains(array)) {
        let is_about = |race: &&PossibleRace| indices(race).any(|read| read == array);
        let contents = verdict.possible.iter().filter(is_about).find_map(|race| race.contents.as_ref());
        let Some(witness) = contents.map(|contents| contents.witness.clone()) else { continue };
        let terms = Terms { conditions: Vec::new(), distinct: vec![array] };
        let kernel = terms.stated_in(case.kernel);
        let proved = |attempt| super::proved(case, attempt, &kernel, &terms);
        if let Some(proved) = candidates.proofs.iter().find_map(proved) {
            let conjunct = Conjunct { necessary: Some(witness), ..conjunct(case.kernel, array) };
            take(case, verdict, conjunct, (candidates, proved));
            return true;
        }
    }
    false
}

/// Puts the contract into the verdict, and the verdict under it in the place of the one without where contracts count.
fn take(case: &Case<'_>, verdict: &mut Verdict, conjunct: Conjunct, (candidates, proved): (&Candidates, Verdict)) {
    // What memory holds, no launch says.
    let stated = candidates.proofs.last().into_iter().flat_map(|attempt| &attempt.parts);
    let launches = stated.filter(|part| part.kind != ScopeKind::AllGeometries).map(|part| CheckedLaunch {
        launches: part.launches.clone(),
        keeping: Keeping::Open,
        missing: vec![0],
        races: Vec::new(),
    });
    let launches = launches.collect();
    let assumptions = proved.assumptions.clone();
    if case.settings.launches == settings::Launches::OfContracts {
        let Verdict { failed_claims, possible_claims, .. } = std::mem::replace(verdict, proved);
        verdict.failed_claims = failed_claims;
        verdict.possible_claims = possible_claims;
        verdict.scope.iter_mut().for_each(|scope| scope.kind = ScopeKind::Contract);
    }
    let standing = Standing::Plausible;
    verdict.contract = Some(Contract { conjuncts: vec![conjunct], standing, assumptions, launches });
}

/// The condition in words.
pub(super) fn conjunct(kernel: &Kernel, array: ArrayId) -> Conjunct {
    let text = format!("distinct({})", kernel.arrays[array].name);
    Conjunct { text, kind: ContractKind::Data, necessary: None }
}

/// Whether a race that may be is between threads that each write a place for themselves, and not the same value whoever
/// they are.
fn scatters(case: &Case<'_>, race: &PossibleRace) -> bool {
    [race.pair.first, race.pair.second].into_iter().all(|access| {
        let access = &case.protocol.accesses[access];
        let mut is_own = access.value.is_none();
        if let Some(value) = access.value {
            case.protocol.exprs.visit(value, |_, node| is_own |= is_of_a_thread(node));
        }
        access.kind == AccessKind::Write && is_own
    })
}

/// Whether that may differ between threads.
fn is_of_a_thread(node: &Expr) -> bool {
    matches!(node, Expr::Geometry(_) | Expr::Var(_) | Expr::Call(..) | Expr::Opaque(..))
}

/// The arrays that a race depends on.
fn indices(race: &PossibleRace) -> impl Iterator<Item = ArrayId> {
    race.reasons.iter().filter_map(|reason| reason.array)
}

/// Arrays of integers that the kernel is given, reads, and never writes.
pub(super) fn read_only(kernel: &Kernel) -> Vec<ArrayId> {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    every(&kernel.body, |stmt| match stmt {
        Stmt::Read { var, access } if is_element(kernel, *var, access) => _ = read.insert(access.array),
        Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => _ = written.insert(access.array),
        _ => {}
    });
    let is_given = |id: &ArrayId| kernel.arrays[*id].is_given() && !written.contains(id);
    read.into_iter().filter(is_given).collect()
}

/// Whether a read gives one element, which is an integer.
fn is_element(kernel: &Kernel, var: VarId, access: &Access) -> bool {
    matches!(kernel.vars[var].ty, ScalarType::Int { .. }) && access.bytes == kernel.arrays[access.array].element_bytes
}

/// Puts it into a kernel that no two elements of an array are equal.
pub(super) fn state(kernel: &mut Kernel, array: ArrayId) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = stating(kernel, body, array);
}

fn stating(kernel: &mut Kernel, body: Vec<Stmt>, array: ArrayId) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for mut stmt in body {
        let within: Vec<&mut Vec<Stmt>> = match &mut stmt {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For(counted) => vec![&mut counted.body],
            Stmt::Loop { body, .. } => vec![body],
            _ => Vec::new(),
        };
        within.into_iter().for_each(|block| *block = stating(kernel, std::mem::take(block), array));
        match &stmt {
            Stmt::Read { var, access } if access.array == array && is_element(kernel, *var, access) => {
                let (var, offset) = (*var, access.offset);
                let ty = kernel.exprs.ty(offset);
                // What is read may change what the offset is made of.
                let place = kernel.vars.push(Variable { name: format!("place of {}", kernel.vars[var].name), ty });
                out.extend([Stmt::Let { var: place, value: offset }, stmt]);
                let [differ, are_one] = [(var, BinaryOp::Ne), (place, BinaryOp::Eq)].map(|(var, op)| {
                    let own = kernel.exprs.var(var, kernel.vars[var].ty);
                    let other = kernel.exprs.other(own);
                    kernel.exprs.binary(op, own, other)
                });
                let cond = kernel.exprs.or(differ, are_one);
                out.push(Stmt::Assume { cond, basis: Basis::Held, span: None });
            }
            _ => out.push(stmt),
        }
    }
    out
}

/// What a proof of a kernel that states it takes for granted of these arrays.
pub(super) fn assumptions(protocol: &Protocol, distinct: &[ArrayId]) -> Vec<Assumption> {
    if distinct.is_empty() {
        return Vec::new();
    }
    let is_own = |fact: &&crate::protocol::Fact| fact.basis == Basis::Held;
    protocol.facts.iter().filter(is_own).map(|fact| stated_relation(protocol, fact)).collect()
}
