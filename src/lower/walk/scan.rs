//! Questions about the source that are answered before it is lowered: which variables change, where a
//! function returns.

use crate::builtins::{Builtin, Claim};
use crate::resolve::program::visit::{any_within, each_expr, each_stmt, push_operands};
use crate::resolve::program::{
    Expr, ExprKind, FunctionId, Program, Stmt, StmtKind, Storage, Type, Variable, VariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The set of variables that a function may change after their declaration.
pub(in crate::lower) type Assigned = Rc<FxHashSet<VariableId>>;

/// Answers by function, computed once in a pass.
#[derive(Default)]
pub(in crate::lower) struct Scans {
    assigned: FxHashMap<FunctionId, Assigned>,
    anywhere: Option<Assigned>,
    function_wide: FxHashMap<FunctionId, bool>,
    globals: Option<Rc<[VariableId]>>,
    numbers_of_addresses: Option<bool>,
}

impl Scans {
    /// Whether a function makes claims at the heads of all its loops.
    pub(in crate::lower) fn claims_everywhere(&mut self, program: &Program, function: FunctionId) -> bool {
        let body = program.functions[function].body.as_deref().unwrap_or_default();
        *self.function_wide.entry(function).or_insert_with(|| !function_wide(body).is_empty())
    }

    /// The global variables of the program.
    pub(in crate::lower) fn globals(&mut self, program: &Program) -> Rc<[VariableId]> {
        let is_global = |variable: &Variable| variable.storage == Storage::Global;
        let find = || program.variables.iter().filter(|(_, it)| is_global(it)).map(|(id, _)| id).collect();
        Rc::clone(self.globals.get_or_insert_with(find))
    }

    /// Whether some function of the program makes a number of an address, which then may be in any number.
    pub(in crate::lower) fn numbers_of_addresses(&mut self, program: &Program) -> bool {
        let bodies = || program.functions.iter().filter_map(|(_, function)| function.body.as_deref());
        *self.numbers_of_addresses.get_or_insert_with(|| {
            let may_hold_one = |ty| {
                !matches!(program.types[ty], Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Vector { .. })
            };
            let mut found = program
                .records
                .iter()
                .any(|(_, record)| record.is_union && record.fields.iter().any(|field| may_hold_one(field.ty)));
            bodies().for_each(|body| each_expr(body, |expr| found |= is_number_of_address(program, expr)));
            found
        })
    }

    /// Variables that any function of the program changes.
    pub(in crate::lower) fn assigned_anywhere(&mut self, program: &Program) -> Assigned {
        let bodies = || program.functions.iter().filter_map(|(_, function)| function.body.as_deref());
        Rc::clone(
            self.anywhere
                .get_or_insert_with(|| Rc::new(bodies().flat_map(|body| assigned_in(program, body)).collect())),
        )
    }

    /// Variables that `function` assigns, steps, or takes the address of (a reference counts as that).
    pub(in crate::lower) fn assigned(&mut self, program: &Program, function: FunctionId) -> Assigned {
        let body = program.functions[function].body.as_deref().unwrap_or_default();
        Rc::clone(self.assigned.entry(function).or_insert_with(|| Rc::new(assigned_in(program, body))))
    }
}

/// Whether a number is made of an address, or a pointer is looked at as something else.
fn is_number_of_address(program: &Program, expr: &Expr) -> bool {
    let pointee = |ty| match program.types[ty] {
        Type::Pointer { to, .. } => Some(&program.types[to]),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Builtin(Builtin::SharedAddress, ..) => true,
        ExprKind::Convert(inner) => match (pointee(inner.ty), pointee(expr.ty)) {
            (Some(_), None) => !matches!(program.types[expr.ty], Type::Bool),
            // A base of a class is seen as what it is.
            (Some(Type::Pointer { .. } | Type::Record(_)), Some(to)) => {
                pointee(inner.ty) != Some(to) && !matches!(to, Type::Record(_))
            }
            _ => false,
        },
        _ => false,
    }
}

fn assigned_in(program: &Program, body: &[Stmt]) -> FxHashSet<VariableId> {
    let mut assigned = FxHashSet::default();
    let mut only_read: FxHashSet<*const Expr> = FxHashSet::default();
    each_expr(body, |expr| {
        if let (ExprKind::Construct(parts), Type::Record(record)) = (&expr.kind, &program.types[expr.ty])
            && program.records[*record].is_fixed
        {
            let read =
                parts.iter().enumerate().filter(|(at, _)| crate::lower::closure::only_reads(program, *record, *at));
            only_read.extend(read.map(|(_, part)| std::ptr::from_ref(part)));
        }
        if only_read.contains(&std::ptr::from_ref(expr)) {
            return;
        }
        let root = match &expr.kind {
            ExprKind::AddressOf(target) if is_fixed(program, target) => return,
            ExprKind::Assign(target, _)
            | ExprKind::CompoundAssign { target, .. }
            | ExprKind::Step { target, .. }
            | ExprKind::AddressOf(target) => root_variables(target),
            // A parameter of the function may be a reference.
            ExprKind::CallThrough(_, args) => args.iter().flat_map(root_variables).collect(),
            _ => return,
        };
        assigned.extend(root);
    });
    each_stmt(body, |stmt| {
        if let StmtKind::Asm { outputs, .. } = &stmt.kind {
            assigned.extend(outputs.iter().flat_map(root_variables));
        }
    });
    assigned
}

/// Whether nothing changes an object once it is made.
fn is_fixed(program: &Program, object: &Expr) -> bool {
    matches!(program.types[object.ty], Type::Record(record) if program.records[record].is_fixed)
}

/// Claims that a function makes at the heads of all its loops: the calls.
pub(in crate::lower) fn function_wide(body: &[Stmt]) -> Vec<&Expr> {
    let mut found = Vec::new();
    each_expr(body, |expr| {
        let wide =
            |builtin: &Builtin| matches!(builtin, Builtin::Claim(Claim::FunctionWide | Claim::FunctionWideCandidate));
        if matches!(&expr.kind, ExprKind::Builtin(builtin, ..) if wide(builtin)) {
            found.push(expr);
        }
    });
    found
}

/// Whether nothing but annotations stands in a body, and among them one that says what the function accesses.
pub(in crate::lower) fn is_specification(body: &[Stmt]) -> bool {
    let mut only_annotations = true;
    let mut specified = false;
    each_stmt(body, |stmt| match &stmt.kind {
        StmtKind::Expr(expr) => match annotation(expr) {
            Some(builtin) => specified |= *builtin == Builtin::Specified,
            None => only_annotations = false,
        },
        StmtKind::Block(_) | StmtKind::Return(_) => {}
        _ => only_annotations = false,
    });
    only_annotations && specified
}

fn annotation(expr: &Expr) -> Option<&Builtin> {
    match &expr.kind {
        ExprKind::Builtin(builtin, ..) => {
            use Builtin::{Assume, Claim, Nothing, Require, Specified};
            let is_one = matches!(builtin, Assume | Require | Claim(_) | Specified | Nothing);
            is_one.then_some(builtin)
        }
        ExprKind::Convert(inner) => annotation(inner),
        _ => None,
    }
}

/// Variables that an expression mentions.
pub(in crate::lower) fn variables(expr: &Expr) -> Vec<VariableId> {
    let (mut stack, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = stack.pop() {
        if let ExprKind::Variable(variable) = &expr.kind {
            found.push(*variable);
        }
        push_operands(expr, &mut stack);
    }
    found
}

/// The variables whose bytes an object expression may denote.
fn root_variables(expr: &Expr) -> Vec<VariableId> {
    let mut stack = vec![expr];
    let mut found = Vec::new();
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Variable(variable) => found.push(*variable),
            ExprKind::Element(base, _) | ExprKind::Field(base, _) | ExprKind::Lanes(base, _) => stack.push(base),
            ExprKind::Assign(target, _)
            | ExprKind::CompoundAssign { target, .. }
            | ExprKind::Step { target, .. }
            | ExprKind::Comma(_, target)
            | ExprKind::Load(target) => stack.push(target),
            ExprKind::Conditional(_, a, b) => stack.extend([&**a, &**b]),
            _ => {}
        }
    }
    found
}

/// Whether an expression mentions one of these variables.
pub(in crate::lower) fn mentions(expr: &Expr, variables: &FxHashSet<VariableId>) -> bool {
    any_within(expr, |expr| matches!(&expr.kind, ExprKind::Variable(variable) if variables.contains(variable)))
}

/// Whether a `return` stands where something of the function may follow it.
pub(in crate::lower) fn has_early_return(body: &[Stmt]) -> bool {
    // Statements after which the function ends are looked into; any other `return` is early.
    let mut tails: Vec<&[Stmt]> = vec![body];
    while let Some(list) = tails.pop() {
        let Some((last, before)) = list.split_last() else { continue };
        let mut returns = false;
        each_stmt(before, |stmt| returns |= matches!(stmt.kind, StmtKind::Return(_)));
        if returns {
            return true;
        }
        match &last.kind {
            StmtKind::Return(_) => {}
            StmtKind::Block(inner) => tails.push(inner),
            StmtKind::If(_, then, otherwise) => {
                tails.push(std::slice::from_ref(then));
                tails.extend(otherwise.as_deref().map(std::slice::from_ref));
            }
            _ => {
                each_stmt(std::slice::from_ref(last), |stmt| returns |= matches!(stmt.kind, StmtKind::Return(_)));
                if returns {
                    return true;
                }
            }
        }
    }
    false
}

/// Whether the only `return` of the function is its last statement.
pub(in crate::lower) fn returns_once_at_end(body: &[Stmt]) -> bool {
    let mut returns = 0;
    each_stmt(body, |stmt| returns += usize::from(matches!(stmt.kind, StmtKind::Return(_))));
    let mut list = body;
    loop {
        match list.last().map(|stmt| &stmt.kind) {
            Some(StmtKind::Return(_)) => return returns == 1,
            Some(StmtKind::Block(inner)) => list = inner,
            _ => return false,
        }
    }
}
