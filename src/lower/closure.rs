//! What the body of a lambda does with the variables that it holds by reference.

use crate::resolve::program::visit::each_expr;
use crate::resolve::program::{Expr, ExprKind, Program, RecordId, Type, VariableId};

/// Lambdas in lambdas that are looked into.
const MAX_DEPTH: u32 = 8;

/// Whether the call operators of a lambda only read what the address in a field leads to. One that is never called
/// here may be called by what is not known.
pub(super) fn only_reads(program: &Program, closure: RecordId, field: usize) -> bool {
    reads_to(program, closure, field, 0)
}

fn reads_to(program: &Program, closure: RecordId, field: usize, depth: u32) -> bool {
    let mut operators = program.functions.iter().filter_map(|(_, function)| {
        let &this = function.params.first()?;
        let Type::Pointer { to, .. } = program.types[program.variables[this].ty] else { return None };
        (program.types[to] == Type::Record(closure)).then_some((this, function.body.as_deref()?))
    });
    let Some(first) = operators.next() else { return false };
    depth < MAX_DEPTH
        && std::iter::once(first).chain(operators).all(|(this, body)| {
            let (mut uses, mut reads) = (0, 0);
            each_expr(body, |expr| {
                let is_held = |expr: &Expr| matches!(&expr.kind, ExprKind::Load(held) if is_field(held, this, field));
                match &expr.kind {
                    ExprKind::Field(..) => uses += usize::from(is_field(expr, this, field)),
                    ExprKind::Load(object) => reads += usize::from(pointer_of(object).is_some_and(is_held)),
                    ExprKind::Construct(parts) => {
                        if let Type::Record(inner) = program.types[expr.ty]
                            && program.records[inner].is_fixed
                        {
                            let held = parts.iter().enumerate().filter(|(_, part)| is_held(part));
                            reads += held.filter(|(at, _)| reads_to(program, inner, *at, depth + 1)).count();
                        }
                    }
                    _ => {}
                }
            });
            uses == reads
        })
}

/// `this->field`, as an object.
fn is_field(expr: &Expr, this: VariableId, field: usize) -> bool {
    if let ExprKind::Field(closure, index) = &expr.kind
        && let ExprKind::Deref(pointer) = &closure.kind
        && let ExprKind::Load(variable) = &pointer.kind
        && let ExprKind::Variable(variable) = variable.kind
    {
        return variable == this && *index == field;
    }
    false
}

/// The pointer behind which an object, or the whole that it is a part of, lies.
fn pointer_of(object: &Expr) -> Option<&Expr> {
    let mut object = object;
    loop {
        match &object.kind {
            ExprKind::Deref(pointer) => return Some(pointer),
            ExprKind::Field(whole, _) | ExprKind::Lanes(whole, _) | ExprKind::Element(whole, _) => object = whole,
            _ => return None,
        }
    }
}
