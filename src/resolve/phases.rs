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
use crate::builtins::phases::{self, BARRIER, Function};
use crate::builtins::{Builtin, Phase, scopes};
use crate::calculus::SyncScope;
use crate::source::Span;
use crate::syntax::TemplateArg;

/// Whether a barrier with these template arguments is one that is followed.
pub(super) fn is_followed(args: &[TemplateArg]) -> bool {
    let [scope] = args else { return false };
    last_name(scope).and_then(scopes::scope).is_some()
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
        let phase = match Function::named(name, args.len())? {
            Function::OfObject(phase) => self.points_to_barrier(pointer).then_some(phase)?,
            Function::OfAny(phase) => phase,
        };
        let ty = self.result_of(phase);
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        Some(expr(ExprKind::Builtin(Builtin::Phase(phase, None), name.to_owned(), args), ty, span))
    }

    /// What a step at a barrier gives: an arrival its token, a question a truth.
    fn result_of(&self, phase: Phase) -> TypeId {
        match phase {
            Phase::Arrive => self.types.common.ulong,
            Phase::Test | Phase::TestParity => self.types.common.bool,
            Phase::Init | Phase::Wait | Phase::ArriveAndWait | Phase::WaitParity => self.types.common.void,
        }
    }

    fn points_to_barrier(&self, pointer: &Expr) -> bool {
        matches!(self.types[pointer.ty], Type::Pointer { to, .. } if self.is_barrier_type(to))
    }

    /// A method of a `cuda::barrier`; `None` if the object is none or the method is not followed.
    pub(super) fn phase_method(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        if !self.is_barrier(object) {
            return None;
        }
        let phase = phases::method(name, args.len())?;
        let ty = self.result_of(phase);
        let mut all = vec![self.address_of(object.clone())];
        all.extend(args.iter().map(|argument| self.load(argument.clone())));
        Some(expr(ExprKind::Builtin(Builtin::Phase(phase, None), name.to_owned(), all), ty, span))
    }

    /// `group.barrier_arrive()` and `group.barrier_wait(token)`
    pub(super) fn group_phase(&mut self, phase: Phase, name: &str, scope: SyncScope, span: Span) -> Expr {
        let ty = self.result_of(phase);
        expr(ExprKind::Builtin(Builtin::Phase(phase, Some(scope)), name.to_owned(), Vec::new()), ty, span)
    }
}
