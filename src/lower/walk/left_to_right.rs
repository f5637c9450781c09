//! Operands and arguments whose order C++ leaves open ([intro.execution], [expr.call]): they are evaluated from left to right,
//! as compilers for GPUs do, and where that may decide something it is told as an assumption.
//!
//! It may where one of them assigns a variable of the thread that another reads or assigns, by itself or in a function that is
//! given its address.
//!
//! Deliberately absent: orders of accesses to memory, whose contents are no variables, and pointers to one variable in several
//! others.

use crate::calculus::Relied;
use crate::lower::pass::Pass;
use crate::resolve::program::visit::{each_expr, push_operands};
use crate::resolve::program::{Expr, ExprKind, FunctionId, Storage, VariableId};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Variables that an expression reads or assigns.
#[derive(Default)]
struct Touched {
    assigned: FxHashSet<VariableId>,
    read: FxHashSet<VariableId>,
}

impl Touched {
    fn interferes(&self, other: &Touched) -> bool {
        let met = |variable: &VariableId| other.assigned.contains(variable) || other.read.contains(variable);
        self.assigned.iter().any(met)
    }
}

impl Pass<'_> {
    /// Tells that operands or arguments are evaluated from left to right, where that may decide something.
    pub(in crate::lower) fn note_order(&mut self, operands: &[&Expr], span: Span) {
        let has_call = |expr: &&&Expr| self.may_assign(expr);
        if operands.len() < 2 || operands.iter().filter(has_call).count() == 0 {
            return;
        }
        let touched: Vec<Touched> = operands.iter().map(|operand| self.touched(operand)).collect();
        let interferes = touched.iter().enumerate().any(|(at, one)| {
            let mut others = touched.iter().enumerate().filter(|(other, _)| *other != at);
            others.any(|(_, other)| one.interferes(other))
        });
        if interferes {
            self.rely(Some(span), Relied::LeftToRight);
        }
    }

    fn touched(&mut self, expr: &Expr) -> Touched {
        let mut touched = Touched::default();
        let mut open = vec![expr];
        while let Some(part) = open.pop() {
            push_operands(part, &mut open);
            match &part.kind {
                ExprKind::Load(object) => touched.read.extend(root(object)),
                ExprKind::Assign(target, _) => touched.assigned.extend(root(target)),
                ExprKind::CompoundAssign { target, .. } | ExprKind::Step { target, .. } => {
                    touched.assigned.extend(root(target));
                }
                ExprKind::Call(function, args) => {
                    let given: Vec<VariableId> = args.iter().filter_map(|argument| self.given(argument)).collect();
                    if self.assigns_outside(*function) {
                        touched.assigned.extend(given);
                    } else {
                        touched.read.extend(given);
                    }
                }
                _ => {}
            }
        }
        touched
    }

    /// Whether a function assigns something through a pointer or a reference, or calls what may.
    fn assigns_outside(&mut self, function: FunctionId) -> bool {
        if let Some(&known) = self.assigns_outside.get(&function) {
            return known;
        }
        // One that calls itself does what the rest of it does.
        self.assigns_outside.insert(function, false);
        let body = self.program.functions[function].body.as_deref();
        let mut assigns = body.is_none();
        let mut called = Vec::new();
        each_expr(body.unwrap_or(&[]), |expr| match &expr.kind {
            ExprKind::Assign(target, _) | ExprKind::CompoundAssign { target, .. } | ExprKind::Step { target, .. } => {
                assigns |= self.is_reached(target)
            }
            ExprKind::CallThrough(..) => assigns = true,
            ExprKind::Call(callee, _) => called.push(*callee),
            _ => {}
        });
        let assigns = assigns || called.into_iter().any(|callee| self.assigns_outside(callee));
        self.assigns_outside.insert(function, assigns);
        assigns
    }

    /// The variable whose address, or that of what it refers to, an argument is.
    fn given(&self, argument: &Expr) -> Option<VariableId> {
        match &argument.kind {
            ExprKind::AddressOf(_) => root(argument),
            ExprKind::Convert(inner) => self.given(inner),
            ExprKind::Load(inner) => match inner.kind {
                ExprKind::Variable(variable) => {
                    let declared = &self.program.variables[variable];
                    (declared.is_reference || declared.name == "this").then_some(variable)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an object is no variable of the function in which it is named.
    fn is_reached(&self, object: &Expr) -> bool {
        match &object.kind {
            &ExprKind::Variable(variable) => {
                !matches!(self.program.variables[variable].storage, Storage::Local | Storage::Param)
            }
            ExprKind::Element(inner, _) | ExprKind::Field(inner, _) | ExprKind::Lanes(inner, _) => {
                self.is_reached(inner)
            }
            _ => true,
        }
    }
}

/// The variable that an object is a part of, or that leads to it.
fn root(object: &Expr) -> Option<VariableId> {
    let mut at = object;
    loop {
        at = match &at.kind {
            ExprKind::Element(inner, _)
            | ExprKind::Field(inner, _)
            | ExprKind::Lanes(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Load(inner)
            | ExprKind::Convert(inner)
            | ExprKind::AddressOf(inner)
            | ExprKind::PointerAdd(inner, _) => inner,
            &ExprKind::Variable(variable) => return Some(variable),
            _ => return None,
        };
    }
}
