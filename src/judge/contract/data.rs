//! What a contract may say of memory: `distinct(idx)`, that no two elements of an array are equal, of those that threads
//! get to read.
//!
//! It is put into the kernel behind each read of `idx`: what two threads get there differs, or they have read the same
//! element, in whatever iterations they are.
//!
//! Deliberately absent: bounds, order, elements that are equal within a block, and arrays that the kernel writes.

use crate::calculus::statements::every;
use crate::calculus::{Access, ArrayId, Basis, BinaryOp, Kernel, ScalarType, Stmt, VarId, Variable};
use crate::check::verdict::{Conjunct, ContractKind};
use crate::protocol::Protocol;
use crate::prove::Assumption;
use crate::prove::program_point::stated_relation;
use std::collections::BTreeSet;

/// The condition in words.
pub(super) fn conjunct(kernel: &Kernel, array: ArrayId) -> Conjunct {
    let text = format!("distinct({})", kernel.arrays[array].name);
    Conjunct { text, kind: ContractKind::Data, necessary: None }
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
