//! `cuda::atomic` and `cuda::atomic_ref`: atomics that are objects, with orders and scopes of their own, and the fences
//! beside them.
//!
//! An object is kept as a structure with its value, or with the address of what it refers to. What is done to it stands as
//! the builtin that functions stand for, too, with the order that the call names and the scope of the type; where nothing is
//! named, they are sequentially consistent and for the system, as the library's are.
//!
//! `wait(old)` is a loop that loads until the value is another one: who waits may wake up at any time (C++,
//! [atomics.wait]), so that `notify_one` and `notify_all` say nothing about order.
//!
//! Deliberately absent: the scope of one thread, which is a type that is not known; an order that is no constant; a wait
//! that is part of an expression; the value of `object = v`, `object += v` and `++object`.

use super::context::{Resolver, expr};
use super::conversion::has_effect;
use super::copies::last_name;
use super::program::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, Type, TypeId};
use crate::builtins::{Builtin, FenceCall, atomics, scopes};
use crate::calculus::{AtomicOp, MemoryOrder, SyncScope};
use crate::source::Span;
use crate::syntax::{self, TemplateArg};

/// The names under which the objects are kept: the class of one, and its scope.
const KEPT: [(&str, atomics::Class, SyncScope); 6] = [
    ("cuda::atomic of a block", atomics::Class::Object, SyncScope::Block),
    ("cuda::atomic of the device", atomics::Class::Object, SyncScope::Grid),
    ("cuda::atomic of the system", atomics::Class::Object, SyncScope::System),
    ("cuda::atomic_ref of a block", atomics::Class::Reference, SyncScope::Block),
    ("cuda::atomic_ref of the device", atomics::Class::Reference, SyncScope::Grid),
    ("cuda::atomic_ref of the system", atomics::Class::Reference, SyncScope::System),
];

/// What an atomic object is kept as, and its class; `None` if it is not followed.
pub(super) fn kept(name: &str, args: &[TemplateArg]) -> Option<(&'static str, atomics::Class)> {
    let class = atomics::Class::named(name)?;
    let scope = match args {
        [_] => SyncScope::System,
        [_, scope] => scopes::scope(last_name(scope)?)?,
        _ => return None,
    };
    KEPT.iter().find(|known| (known.1, known.2) == (class, scope)).map(|known| (known.0, class))
}

impl<'u> Resolver<'u> {
    /// The class of an object of the type, and its scope; `None` if it is no atomic.
    fn atomic_of(&self, ty: TypeId) -> Option<(atomics::Class, SyncScope)> {
        let Type::Record(record) = self.types[ty] else { return None };
        let name = self.records[record].name.split('<').next()?;
        KEPT.iter().find(|known| known.0 == name).map(|known| (known.1, known.2))
    }

    /// Whether objects of the type are atomics.
    pub(super) fn is_atomic_object(&self, ty: TypeId) -> bool {
        self.atomic_of(ty).is_some()
    }

    /// Whether objects of the type are atomics that refer to others.
    pub(super) fn is_atomic_reference(&self, ty: TypeId) -> bool {
        self.atomic_of(ty).is_some_and(|(class, _)| class == atomics::Class::Reference)
    }

    /// `cuda::atomic_ref<T>(object)`; `None` if it is no such object or no such argument.
    pub(super) fn atomic_reference(&mut self, ty: TypeId, args: &[Expr], span: Span) -> Option<Expr> {
        let [object] = args else { return None };
        if !self.is_atomic_reference(ty) || !self.is_object(object) {
            return None;
        }
        let address = self.address_of(object.clone());
        Some(expr(ExprKind::Construct(vec![address]), ty, span))
    }

    /// A method of an atomic object; `None` if the object is none or the method is not followed.
    pub(super) fn atomic_method(
        &mut self,
        object: &Expr,
        name: &str,
        args: &'u [syntax::Expr],
        span: Span,
    ) -> Option<Expr> {
        let (class, scope) = self.atomic_of(object.ty)?;
        let method = atomics::Method::named(name)?;
        if method == atomics::Method::Notify && args.is_empty() {
            // What is done to find the object is done.
            let found = has_effect(object).then(|| self.address_of(object.clone()));
            let args = found.into_iter().collect();
            return Some(expr(ExprKind::Builtin(Builtin::Hint, name.to_owned(), args), self.types.common.void, span));
        }
        let op = match method {
            atomics::Method::CompareAndExchange { weak } => {
                return self.atomic_exchange((object, class), (name, weak, scope), args, span);
            }
            atomics::Method::Operation(op) => op,
            // A wait is a statement of its own.
            atomics::Method::Notify | atomics::Method::Wait => return None,
        };
        let operands = args.get(..atomics::operand_count(op))?;
        let order = match &args[operands.len()..] {
            [] => MemoryOrder::SequentiallyConsistent,
            [order] => order_named(order)?,
            _ => return None,
        };
        let operands = self.arguments(operands);
        self.atomic_access((op, order, scope), object, class, operands, name, span)
    }

    /// `object.wait(old)` as `while (object.load() == old);`, where object and `old` are found once. `None` if it is no
    /// such call, or its order is not known.
    pub(super) fn atomic_wait(&mut self, call: &'u syntax::Expr) -> Option<StmtKind> {
        let syntax::ExprKind::Call(callee, args) = &call.kind else { return None };
        let syntax::ExprKind::Member { object, arrow, member } = &callee.kind else { return None };
        let [old, order @ ..] = args.as_slice() else { return None };
        let name = member.name.text.as_str();
        if atomics::Method::named(name) != Some(atomics::Method::Wait) {
            return None;
        }
        let order = match order {
            [] => MemoryOrder::SequentiallyConsistent,
            [order] => order_named(order)?,
            _ => return None,
        };
        let span = call.span;
        let object = self.expr(object);
        let mut object = if *arrow { self.arrow(object) } else { object };
        let (class, scope) = self.atomic_of(object.ty)?;
        let mut stmts = Vec::new();
        if has_effect(&object) {
            let address = self.address_of(object);
            let address = self.kept_once(address, &mut stmts);
            object = self.deref(address);
        }
        let what = (AtomicOp::Load, order, scope);
        let found = self.atomic_access(what, &object, class, Vec::new(), name, span)?;
        let old = self.expr(old);
        let old = self.load(old);
        let mut old = self.convert(old, found.ty);
        if has_effect(&old) {
            old = self.kept_once(old, &mut stmts);
        }
        let same = expr(ExprKind::Binary(BinaryOp::Eq, Box::new(found), Box::new(old)), self.types.common.bool, span);
        let nothing = Stmt { kind: StmtKind::Block(Vec::new()), span };
        stmts.push(Stmt { kind: StmtKind::While(same, Box::new(nothing)), span });
        Some(StmtKind::Block(stmts))
    }

    /// A value that is computed here, and used again and again behind it.
    fn kept_once(&mut self, value: Expr, stmts: &mut Vec<Stmt>) -> Expr {
        let (ty, span) = (value.ty, value.span);
        let variable = self.temporary(ty, span);
        let object = expr(ExprKind::Variable(variable), ty, span);
        let store = expr(ExprKind::Assign(Box::new(object.clone()), Box::new(value)), ty, span);
        stmts.push(Stmt { kind: StmtKind::Expr(store), span });
        self.load(object)
    }

    /// `cuda::atomic_thread_fence(order, scope)`; `None` if it is none, or order or scope is not named.
    pub(super) fn atomic_fence(&mut self, name: &str, args: &'u [syntax::Expr], span: Span) -> Option<Expr> {
        let (order, scope) = match (atomics::Fence::named(name)?, args) {
            (_, [order]) => (order_named(order)?, SyncScope::System),
            (atomics::Fence::OfScope, [order, scope]) => (order_named(order)?, scope_named(scope)?),
            (atomics::Fence::OfScope | atomics::Fence::OfSystem, _) => return None,
        };
        let builtin = Builtin::Fence(FenceCall::All { order, scope });
        Some(expr(ExprKind::Builtin(builtin, name.to_owned(), Vec::new()), self.types.common.void, span))
    }

    /// `object.compare_exchange_strong(expected, desired)`, with the orders that follow or those of the library.
    fn atomic_exchange(
        &mut self,
        (object, class): (&Expr, atomics::Class),
        (name, weak, scope): (&str, bool, SyncScope),
        args: &'u [syntax::Expr],
        span: Span,
    ) -> Option<Expr> {
        let [expected, desired, orders @ ..] = args else { return None };
        let orders = match orders {
            [] => [MemoryOrder::SequentiallyConsistent; 2],
            [both] => [order_named(both)?, without_release(order_named(both)?)],
            [exchanged, failed] => [order_named(exchanged)?, order_named(failed)?],
            _ => return None,
        };
        let pointer = self.atomic_address(object, class, span);
        let Type::Pointer { to, .. } = self.types[pointer.ty] else { return None };
        let expected = self.expr(expected);
        if !self.is_object(&expected) {
            return None;
        }
        let expected = self.address_of(expected);
        let desired = self.expr(desired);
        let desired = self.load(desired);
        let desired = self.convert(desired, to);
        let builtin = Builtin::CompareAndExchange { orders, scope, weak };
        let args = vec![pointer, expected, desired];
        Some(expr(ExprKind::Builtin(builtin, name.to_owned(), args), self.types.common.bool, span))
    }

    /// An operator of an atomic object with one operand: `object = value`, `object += value`; its value is what was there.
    pub(super) fn atomic_operator(&mut self, op: AtomicOp, object: &Expr, operand: &Expr, span: Span) -> Option<Expr> {
        let (class, scope) =
            self.atomic_of(object.ty).filter(|_| self.types.plain(object.ty) != self.types.plain(operand.ty))?;
        let what = (op, MemoryOrder::SequentiallyConsistent, scope);
        let operand = self.load(operand.clone());
        self.atomic_access(what, object, class, vec![operand], "operator", span)
    }

    /// What an atomic object holds, where it is an argument of a function that takes numbers; anything else as it is.
    pub(super) fn held_value(&mut self, value: Expr) -> Expr {
        if !self.is_atomic_object(value.ty) {
            return value;
        }
        let loaded = self.load(value);
        self.atomic_load(&loaded).unwrap_or(loaded)
    }

    /// What an atomic object holds, where a value of it is converted.
    pub(super) fn atomic_load(&mut self, value: &Expr) -> Option<Expr> {
        let (class, scope) = self.atomic_of(value.ty)?;
        let ExprKind::Load(object) = &value.kind else { return None };
        let what = (AtomicOp::Load, MemoryOrder::SequentiallyConsistent, scope);
        self.atomic_access(what, object, class, Vec::new(), "operator", value.span)
    }

    /// The address of what an atomic object holds or refers to.
    fn atomic_address(&mut self, object: &Expr, class: atomics::Class, span: Span) -> Expr {
        match class {
            atomics::Class::Reference => {
                let address = self.member(object.clone(), "object", span);
                self.load(address)
            }
            atomics::Class::Object => {
                let value = self.member(object.clone(), "value", span);
                self.address_of(value)
            }
        }
    }

    fn atomic_access(
        &mut self,
        (op, order, scope): (AtomicOp, MemoryOrder, SyncScope),
        object: &Expr,
        class: atomics::Class,
        operands: Vec<Expr>,
        name: &str,
        span: Span,
    ) -> Option<Expr> {
        let pointer = self.atomic_address(object, class, span);
        let Type::Pointer { to, .. } = self.types[pointer.ty] else { return None };
        let mut all = vec![pointer];
        all.extend(operands);
        let mut builtin = Builtin::Atomic { op, order, scope };
        if let Some(problem) = self.atomic(&mut builtin, name, &mut all, span) {
            return Some(problem);
        }
        let ty = if op == AtomicOp::Store { self.types.common.void } else { to };
        Some(expr(ExprKind::Builtin(builtin, name.to_owned(), all), ty, span))
    }
}

/// The order of a compare-exchange that exchanges nothing, where one order is stated (C++, [atomics.types.operations]).
fn without_release(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::AcquireRelease => MemoryOrder::Acquire,
        MemoryOrder::Release => MemoryOrder::Relaxed,
        other => other,
    }
}

/// The order that an argument names: `cuda::memory_order_acquire`, `cuda::std::memory_order::acquire`.
fn order_named(argument: &syntax::Expr) -> Option<MemoryOrder> {
    let syntax::ExprKind::Path(path) = &argument.kind else { return None };
    let (last, outer) = path.segments.split_last()?;
    scopes::order(&last.name.text, outer.last().map(|outer| outer.name.text.as_str()))
}

/// The scope that an argument names: `cuda::thread_scope_device`, `cuda::thread_scope::thread_scope_device`.
fn scope_named(argument: &syntax::Expr) -> Option<SyncScope> {
    let syntax::ExprKind::Path(path) = &argument.kind else { return None };
    scopes::scope(&path.segments.last()?.name.text)
}
