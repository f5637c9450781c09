//! Barriers in two steps: `cuda::barrier` and the halves of a group's barrier.
//!
//! A `cuda::barrier` is a structure of eight bytes. What is done to it stands as a builtin with its address, so that
//! `lower` may ask who arrives.
//!
//! Deliberately absent: barriers of one thread, which order nothing between threads, and barriers with a function that
//! runs when all have arrived, both of which are types that are not known; `arrive_and_drop`, arrivals that count several times, transactions of bytes
//! (`barrier_arrive_tx`); they stay calls that are not known.

use super::context::{Resolver, expr};
use super::copies::last_name;
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::builtins::{Builtin, Phase};
use crate::calculus::SyncScope;
use crate::source::Span;
use crate::syntax::TemplateArg;

/// The name of a barrier that is an object.
pub(super) const BARRIER: &str = "cuda::barrier";

/// Whether a barrier with these template arguments is one that is followed.
pub(super) fn is_followed(args: &[TemplateArg]) -> bool {
    let [scope] = args else { return false };
    matches!(last_name(scope), Some("thread_scope_block" | "thread_scope_device" | "thread_scope_system"))
}

impl Resolver<'_> {
    /// Whether a value is a `cuda::barrier`.
    pub(super) fn is_barrier(&self, value: &Expr) -> bool {
        self.is_barrier_type(value.ty)
    }

    fn is_barrier_type(&self, ty: TypeId) -> bool {
        let Type::Record(record) = self.types[ty] else { return false };
        self.records[record].name.split('<').next() == Some(BARRIER)
    }

    /// `init(&barrier, number)`, `__mbarrier_init(&barrier, number)` and its kin; `None` if it is none of them.
    pub(super) fn phase_function(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let pointer = args.first()?;
        let (phase, ty) = match (name, args.len()) {
            ("init" | "cuda::init", 2) if self.points_to_barrier(pointer) => (Phase::Init, self.types.common.void),
            ("__mbarrier_init", 2) => (Phase::Init, self.types.common.void),
            ("__mbarrier_arrive", 1) => (Phase::Arrive, self.types.common.ulong),
            ("__mbarrier_test_wait", 2) => (Phase::Test, self.types.common.bool),
            _ => return None,
        };
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        Some(expr(ExprKind::Builtin(Builtin::Phase(phase, None), name.to_owned(), args), ty, span))
    }

    fn points_to_barrier(&self, pointer: &Expr) -> bool {
        matches!(self.types[pointer.ty], Type::Pointer { to, .. } if self.is_barrier_type(to))
    }

    /// A method of a `cuda::barrier`; `None` if the object is none or the method is not followed.
    pub(super) fn phase_method(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        if !self.is_barrier(object) {
            return None;
        }
        let (phase, ty) = match (name, args) {
            ("arrive", []) => (Phase::Arrive, self.types.common.ulong),
            ("wait", [_]) => (Phase::Wait, self.types.common.void),
            ("arrive_and_wait", []) => (Phase::ArriveAndWait, self.types.common.void),
            ("try_wait_for" | "try_wait_until", [_, _]) => (Phase::Test, self.types.common.bool),
            ("wait_parity", [_]) => (Phase::WaitParity, self.types.common.void),
            ("try_wait_parity_for" | "try_wait_parity_until", [_, _]) => (Phase::TestParity, self.types.common.bool),
            _ => return None,
        };
        let mut all = vec![self.address_of(object.clone())];
        all.extend(args.iter().map(|argument| self.load(argument.clone())));
        Some(expr(ExprKind::Builtin(Builtin::Phase(phase, None), name.to_owned(), all), ty, span))
    }

    /// `group.barrier_arrive()` and `group.barrier_wait(token)`
    pub(super) fn group_phase(&mut self, name: &str, scope: SyncScope, span: Span) -> Expr {
        let (phase, ty) = match name {
            "barrier_arrive" => (Phase::Arrive, self.types.common.ulong),
            _ => (Phase::Wait, self.types.common.void),
        };
        expr(ExprKind::Builtin(Builtin::Phase(phase, Some(scope)), name.to_owned(), Vec::new()), ty, span)
    }
}
