//! Addresses in the window of shared memory, as `__cvta_generic_to_shared` gives: numbers that PTX takes for addresses.
//!
//! Where an array lies in the window is not known, so an address is an unknown number plus an offset. A variable that
//! holds an address has another one beside it that holds the offset, assigned right before it; so it may be moved in loops
//! and in any branch.
//!
//! # Guarantees
//! A variable is taken to hold an address in one array only while everything that is assigned to it is one. If that turns
//! out wrong after an access has relied on it, the access is named as not modelled ([`Pass::windows_at_the_end`]).
//!
//! Deliberately absent: addresses that are changed otherwise than by adding and subtracting, and those in memory.

use super::facts::TargetId;
use crate::calculus::{BinaryOp, Expr as Node, ExprId, HavocReason, ScalarType, Space, Stmt, VarId};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Pointer, Value};
use crate::resolve::program::Expr;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of numbers that are addresses in the window.
#[derive(Debug, Default)]
pub(in crate::lower) struct Windows {
    /// Where targets begin.
    roots: FxHashMap<ExprId, TargetId>,
    holders: FxHashMap<VarId, Holder>,
    /// Variables that were computed from addresses and are none.
    mixed: FxHashSet<VarId>,
    /// Whether some variable holds an address and something else.
    is_refuted: bool,
    /// Accesses through such addresses.
    used: Vec<Span>,
}

/// A variable that holds addresses.
#[derive(Clone, Copy, Debug)]
struct Holder {
    target: TargetId,
    /// The variable that holds the offset, of type `I64`.
    offset: VarId,
}

/// An address: in what, and how far from its start.
type Address = (TargetId, ExprId);

impl Pass<'_> {
    /// `__cvta_generic_to_shared(pointer)`
    pub(in crate::lower) fn shared_address(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [pointer] = args else { return self.missing(call) };
        let value = self.value(pointer);
        self.escape(&value);
        let Value::Pointer(pointer) = value else { return self.missing(call) };
        match self.address_in_window(&pointer) {
            Some(address) => self.fit_value(Value::Scalar(address), call.ty),
            None => {
                let reason = HavocReason::Other("an address in a window of memory".to_owned());
                self.unknown_value(call.ty, &reason, call.span)
            }
        }
    }

    /// The address in the window that a pointer to shared memory has, of type `U64`.
    pub(in crate::lower) fn address_in_window(&mut self, pointer: &Pointer) -> Option<ExprId> {
        let Base::Target(target) = pointer.base else { return None };
        self.ensure_home(target);
        let array = self.array_of(target).filter(|&array| self.kernel.arrays[array].space == Space::Shared)?;
        let text = format!("shared address of {} ({})", self.kernel.arrays[array].name, target.index());
        let start = self.exprs().opaque(text, ScalarType::U64);
        self.windows.roots.insert(start, target);
        let offset = self.exprs().convert(ScalarType::U64, pointer.offset);
        Some(self.exprs().binary(BinaryOp::Add, start, offset))
    }

    /// The pointer that an operand for shared memory is, if that is known.
    pub(in crate::lower) fn pointer_in_window(&mut self, number: ExprId, span: Span) -> Option<Pointer> {
        let (target, offset) = self.in_window(number)?;
        self.windows.used.push(span);
        Some(Pointer { base: Base::Target(target), offset })
    }

    /// What a number is the address of.
    fn in_window(&mut self, number: ExprId) -> Option<Address> {
        if let Some(&target) = self.windows.roots.get(&number) {
            return Some((target, self.offset(0)));
        }
        let ty = self.kernel.exprs.ty(number);
        match self.kernel.exprs[number].clone() {
            Node::Var(var) => {
                let holder = *self.windows.holders.get(&var)?;
                Some((holder.target, self.var(holder.offset)))
            }
            Node::Convert(to, inner) if is_wide(to) && is_wide(self.kernel.exprs.ty(inner)) => self.in_window(inner),
            Node::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => match (self.in_window(a), op) {
                (Some(from), _) => self.moved_in_window(from, op, b, ty),
                (None, BinaryOp::Add) => {
                    let from = self.in_window(b)?;
                    self.moved_in_window(from, op, a, ty)
                }
                (None, _) => None,
            },
            Node::Select(cond, a, b) => {
                let ((target, a), (other, b)) = (self.in_window(a)?, self.in_window(b)?);
                (target == other).then(|| (target, self.exprs().select(cond, a, b)))
            }
            _ => None,
        }
    }

    /// An address plus or minus a number of type `ty`. In 32 bits a sum wraps, and what it stands for is near, so that the
    /// number counts with its sign.
    fn moved_in_window(&mut self, from: Address, op: BinaryOp, by: ExprId, ty: ScalarType) -> Option<Address> {
        if self.is_from_address(by) {
            return None;
        }
        let by = match (ty, self.kernel.exprs[by].clone()) {
            (ScalarType::Int { width: 64, .. }, _) => by,
            (_, Node::Convert(_, inner)) if self.kernel.exprs.ty(inner) == ScalarType::I32 => inner,
            _ => self.exprs().convert(ScalarType::I32, by),
        };
        let by = self.exprs().convert(ScalarType::I64, by);
        Some((from.0, self.exprs().binary(op, from.1, by)))
    }

    /// Whether a number was computed from addresses.
    fn is_from_address(&self, number: ExprId) -> bool {
        let mut found = false;
        self.kernel.exprs.visit(number, |part, node| {
            found |= self.windows.roots.contains_key(&part);
            if let Node::Var(var) = node {
                found |= self.windows.holders.contains_key(var) || self.windows.mixed.contains(var);
            }
        });
        found
    }

    /// A variable is about to be assigned, perhaps an address.
    pub(in crate::lower) fn hold_address(&mut self, var: VarId, value: ExprId) {
        if self.windows.roots.is_empty() {
            return;
        }
        let known = self.windows.holders.get(&var).copied();
        match (self.in_window(value), known) {
            (Some((target, offset)), Some(holder)) if holder.target == target => {
                self.emit(Stmt::Let { var: holder.offset, value: offset });
            }
            (Some((target, offset)), None) => {
                let name = format!("{}.offset", self.kernel.vars[var].name);
                let holder = Holder { target, offset: self.variable(name, ScalarType::I64) };
                self.windows.holders.insert(var, holder);
                self.emit(Stmt::Let { var: holder.offset, value: offset });
            }
            (_, Some(_)) => self.windows.is_refuted = true,
            (None, None) if self.is_from_address(value) => _ = self.windows.mixed.insert(var),
            (None, None) => {}
        }
    }

    /// The kernel is complete: whether all variables that were taken to hold addresses do.
    pub(in crate::lower) fn windows_at_the_end(&mut self) {
        let windows = std::mem::take(&mut self.windows);
        if windows.used.is_empty() || !windows.is_refuted && windows.is_kept(&self.kernel.body) {
            return;
        }
        for span in windows.used {
            let reason = "access at an address in a variable that holds something else, too".to_owned();
            self.unsupported(span, reason);
        }
    }
}

impl Windows {
    /// Whether each variable that holds addresses is assigned right behind its offset, and nowhere else.
    fn is_kept(&self, block: &[Stmt]) -> bool {
        let mut before = None;
        block.iter().all(|stmt| {
            let last = before.replace(stmt);
            let is_held = |var: &VarId| self.holders.contains_key(var);
            match stmt {
                Stmt::Let { var, .. } => self.holders.get(var).is_none_or(
                    |holder| matches!(last, Some(Stmt::Let { var: offset, .. }) if *offset == holder.offset),
                ),
                // A variable is not read before it has a value.
                Stmt::Havoc { reason: HavocReason::Uninitialized, .. } => true,
                Stmt::Read { var, .. } | Stmt::Havoc { var, .. } | Stmt::Atomic { var: Some(var), .. } => !is_held(var),
                Stmt::If { then, otherwise, .. } => self.is_kept(then) && self.is_kept(otherwise),
                Stmt::For(counted) => !is_held(&counted.var) && self.is_kept(&counted.body),
                Stmt::Loop { body, .. } => self.is_kept(body),
                _ => true,
            }
        })
    }
}

/// Whether a type can hold an address in the window: those are of 32 bits.
fn is_wide(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int { width: 32 | 64, .. })
}
