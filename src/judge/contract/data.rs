//! What a contract may say of memory: `distinct(idx)`, that no two elements of an array are equal, of those that threads
//! get to read, and `monotone(row)`, that no element is less than one before it.
//!
//! It is put into the kernel behind each read of the array. What two threads get there differs, or they have read the same
//! element; or it is ordered as the places are, also with what was read before: where segments `row[r] .. row[r + 1]`
//! begin is no less than where those before them end. Either holds in whatever iterations the threads are.
//!
//! Deliberately absent: bounds, elements that are equal within a block, and arrays that the kernel writes.

use crate::calculus::statements::{each_expr, every};
use crate::calculus::{Access, ArrayId, Basis, BinaryOp, Expr, ExprId, Kernel, ScalarType, Stmt, VarId, Variable};
use crate::check::verdict::{Conjunct, ContractKind};
use crate::protocol::Protocol;
use crate::prove::Assumption;
use crate::prove::program_point::stated_relation;
use std::collections::BTreeSet;

/// What was read before in a block and those around it is related to what is read, up to so many reads.
const MOST_RELATED: usize = 4;

/// Something that is said of what an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datum {
    /// The array.
    pub(super) array: ArrayId,
    /// What its elements are.
    pub(super) says: Says,
}

/// What is said of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// No two are equal.
    Distinct,
    /// None is less than one before it.
    Monotone,
}

impl Says {
    /// All that can be said, by the word for it.
    pub(super) const WORDS: [(&'static str, Says); 2] = [("distinct", Says::Distinct), ("monotone", Says::Monotone)];

    fn word(self) -> &'static str {
        Self::WORDS.into_iter().find(|(_, says)| *says == self).map_or("", |(word, _)| word)
    }
}

/// The condition in words.
pub(super) fn conjunct(kernel: &Kernel, datum: Datum) -> Conjunct {
    let text = format!("{}({})", datum.says.word(), kernel.arrays[datum.array].name);
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

/// Whether a kernel reads elements at two places, as the ends of a segment are.
pub(super) fn bounds_segments(kernel: &Kernel, array: ArrayId) -> bool {
    let mut places = BTreeSet::new();
    every(&kernel.body, |stmt| {
        if let Stmt::Read { var, access } = stmt
            && access.array == array
            && is_element(kernel, *var, access)
        {
            places.insert(access.offset);
        }
    });
    places.len() > 1
}

/// Puts into a kernel what is said of an array.
pub(super) fn state(kernel: &mut Kernel, datum: Datum) {
    let mut used = BTreeSet::new();
    each_expr(&kernel.body, &mut |expr| {
        kernel.exprs.visit(expr, |_, node| {
            if let Expr::Var(var) = node {
                used.insert(*var);
            }
        });
    });
    let body = std::mem::take(&mut kernel.body);
    kernel.body = Stating { kernel, datum, used, known: Vec::new() }.block(body);
}

/// A kernel into which it is put.
struct Stating<'k> {
    kernel: &'k mut Kernel,
    datum: Datum,
    /// Variables that something depends on.
    used: BTreeSet<VarId>,
    /// What was read on the way.
    known: Vec<Element>,
}

/// What was read, and at which offset.
#[derive(Clone, Copy)]
struct Element {
    value: ExprId,
    place: ExprId,
}

impl Stating<'_> {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let known = self.known.len();
        let mut out = Vec::with_capacity(body.len());
        for mut stmt in body {
            let within: Vec<&mut Vec<Stmt>> = match &mut stmt {
                Stmt::If { then, otherwise, .. } => vec![then, otherwise],
                Stmt::For(counted) => vec![&mut counted.body],
                Stmt::Loop { body, .. } => vec![body],
                _ => Vec::new(),
            };
            within.into_iter().for_each(|block| *block = self.block(std::mem::take(block)));
            match &stmt {
                Stmt::Read { var, access } if self.is_about(*var, access) => {
                    let (var, offset) = (*var, access.offset);
                    // What is read may change what the offset is made of, and the variable take something else later.
                    let (place, mut before) = self.kept("place of", var, offset);
                    out.append(&mut before);
                    out.push(stmt);
                    let own = self.kernel.exprs.var(var, self.kernel.vars[var].ty);
                    let (value, mut after) = self.kept("value of", var, own);
                    out.append(&mut after);
                    out.extend(self.relations(Element { value, place }));
                }
                _ => out.push(stmt),
            }
        }
        self.known.truncate(known);
        out
    }

    fn is_about(&self, var: VarId, access: &Access) -> bool {
        access.array == self.datum.array && self.used.contains(&var) && is_element(self.kernel, var, access)
    }

    /// A variable of its own for a value.
    fn kept(&mut self, what: &str, var: VarId, value: ExprId) -> (ExprId, Vec<Stmt>) {
        let ty = self.kernel.exprs.ty(value);
        let name = format!("{what} {}", self.kernel.vars[var].name);
        let var = self.kernel.vars.push(Variable { name, ty });
        (self.kernel.exprs.var(var, ty), vec![Stmt::Let { var, value }])
    }

    /// What holds of an element and of those that were read before it.
    fn relations(&mut self, element: Element) -> Vec<Stmt> {
        let told = match self.datum.says {
            Says::Distinct => vec![self.differ(element)],
            Says::Monotone => {
                let mut told = Vec::new();
                // What one of two reads gives in two threads bounds no segment, and numbers of two types have no order.
                let ty = |element: Element| self.kernel.exprs.ty(element.value);
                let comparable: Vec<Element> =
                    self.known.iter().copied().filter(|&other| ty(other) == ty(element)).collect();
                for other in comparable {
                    told.extend([self.ordered(element, other), self.ordered(other, element)]);
                }
                if self.known.len() < MOST_RELATED {
                    self.known.push(element);
                }
                told
            }
        };
        told.into_iter().map(|cond| Stmt::Assume { cond, basis: Basis::Held, span: None }).collect()
    }

    /// Another thread has another element, or has read the same place.
    fn differ(&mut self, element: Element) -> ExprId {
        let differ = self.compared(BinaryOp::Ne, element.value, element.value);
        let are_one = self.compared(BinaryOp::Eq, element.place, element.place);
        self.kernel.exprs.or(differ, are_one)
    }

    /// What another thread has read at that place or behind it is no less.
    fn ordered(&mut self, own: Element, others: Element) -> ExprId {
        let is_behind = self.compared(BinaryOp::Gt, own.place, others.place);
        let is_no_less = self.compared(BinaryOp::Le, own.value, others.value);
        self.kernel.exprs.or(is_behind, is_no_less)
    }

    /// A value, compared with one of another thread.
    fn compared(&mut self, op: BinaryOp, own: ExprId, others: ExprId) -> ExprId {
        let other = self.kernel.exprs.other(others);
        self.kernel.exprs.binary(op, own, other)
    }
}

/// What a proof of a kernel that states it takes for granted of these arrays.
pub(super) fn assumptions(protocol: &Protocol, data: &[Datum]) -> Vec<Assumption> {
    if data.is_empty() {
        return Vec::new();
    }
    let is_own = |fact: &&crate::protocol::Fact| fact.basis == Basis::Held;
    protocol.facts.iter().filter(is_own).map(|fact| stated_relation(protocol, fact)).collect()
}
