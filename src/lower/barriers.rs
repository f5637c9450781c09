//! Barriers by name and of tiles, and the values that say for whom a barrier of a warp is.
//!
//! Deliberately absent: whom a mask names (`src/settle/masks.rs`), and barriers of PTX.

use super::pass::Pass;
use super::together;
use super::value::Value;
use crate::builtins::atomics::Numbering;
use crate::calculus::{self, Among, ExprId, HavocReason, ScalarType, Stmt, SyncMemory, SyncScope, VarId};
use crate::resolve::program::Expr;
use crate::settle::notes::Source;
use crate::source::{Language, Span};

impl Pass<'_> {
    /// A barrier; the first of its arguments, if that is a number. The second one of OpenCL says for whom memory becomes
    /// visible: for fewer than those who meet, it orders nothing among them.
    pub(super) fn barrier(
        &mut self,
        scope: SyncScope,
        memory: Option<SyncMemory>,
        args: &[Expr],
        span: Span,
    ) -> Option<ExprId> {
        let numbers: Vec<Option<ExprId>> = args
            .iter()
            .map(|arg| match self.value(arg) {
                Value::Scalar(expr) => Some(expr),
                _ => None,
            })
            .collect();
        let first = numbers.first().copied().flatten();
        let is_opencl = self.program.language == Language::OpenCl;
        let visible = numbers.get(1).filter(|_| is_opencl);
        let orders_all = visible.is_none_or(|visible| {
            let stated = visible.and_then(|expr| self.kernel.exprs.as_int(expr));
            stated.and_then(|stated| Numbering::OpenCl.scope(stated)).is_some_and(|seen_by| seen_by >= scope)
        });
        let flags = first.and_then(|expr| self.kernel.exprs.as_int(expr));
        let memory = match (memory, flags) {
            _ if !orders_all => SyncMemory::NONE,
            (Some(memory), _) => memory,
            (None, Some(flags)) => SyncMemory::of_flags(flags),
            (None, None) => {
                self.unsupported(span, "barrier whose flags are not a constant".to_owned());
                return None;
            }
        };
        let names_threads = scope == SyncScope::Warp && self.program.language == Language::Cuda && !args.is_empty();
        let mut among = Among::All;
        if names_threads {
            let Some(mask) = first else {
                self.unsupported(span, "barrier of some threads of a warp".to_owned());
                return None;
            };
            among = self.named_by(mask);
        }
        let site = self.site(span);
        self.emit(Stmt::Sync { scope, memory, among, site });
        first
    }

    /// The barrier of each aligned group of so many threads.
    pub(super) fn tile_barrier(&mut self, threads: u32, args: &[Expr], span: Span) -> Value {
        self.ignore(args);
        if let Some((scope, among)) = together::tile(threads) {
            let site = self.site(span);
            self.emit(Stmt::Sync { scope, memory: SyncMemory::BOTH, among, site });
        }
        Value::Void
    }

    /// The mask of the threads that say yes, of those that run together: each keeps what it said.
    pub(super) fn votes(&mut self, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [said] = args else { return self.missing(call) };
        let said = match self.value(said) {
            Value::Scalar(own) => self.asked(own),
            other => self.is_true(other, said),
        };
        self.mask(said, &HavocReason::Call(name.to_owned()), Source::Active, call)
    }

    /// The mask, or the group, of the threads that run together here.
    pub(super) fn threads_together(&mut self, name: &str, args: &[Expr], call: &Expr) -> Value {
        self.ignore(args);
        let here = self.exprs().bool(true);
        self.mask(here, &HavocReason::Schedule(name.to_owned()), Source::Active, call)
    }

    /// An unknown mask that names this thread if `named` holds.
    pub(super) fn mask(
        &mut self,
        named: ExprId,
        reason: &HavocReason,
        source: impl FnOnce(VarId) -> Source,
        call: &Expr,
    ) -> Value {
        let var = self.temporary("named", ScalarType::Bool);
        self.emit_let(var, named);
        let mask = self.unknown_value(call.ty, reason, call.span);
        if let Value::Scalar(mask) = mask
            && let calculus::Expr::Var(holder) = self.kernel.exprs[mask]
        {
            self.notes.warps.masks.insert(holder, source(var));
        }
        mask
    }
}
