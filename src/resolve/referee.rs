//! What resolution found against what a compiler knows ([`Known`]): a function in which they differ is `unknown`.
//!
//! Compared are the functions that calls are of, the types of variables as far as memory is concerned, and the values of
//! constants. A difference is an error of resolution, or of what it takes libraries for; either way nothing is proved with it.
//!
//! Deliberately absent: calls here that are none to a compiler; calls of a function whose declaration depends on template
//! parameters; destructors, and what the compiler calls in functions that it makes. Objects of libraries
//! go by a model of their own, whose type is another.

use super::program::visit::{each_expr, each_stmt};
use super::program::{ExprKind, FunctionId, Program, StmtKind, Type, TypeId, VariableId};
use crate::source::{Language, Span};
use crate::syntax::Shape;
use crate::syntax::known::{Call, Known};
use rustc_hash::{FxHashMap, FxHashSet};

/// A place at which there is a difference, and the difference.
type Difference = (Span, String);

/// What resolution tells beside the program.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The constants of enumerations, by the span of the name.
    pub(super) enumerators: Vec<(Span, i128)>,
    /// Constructors whose calls are left out, since they copy what the compiler would: the spans of their names.
    pub(super) silent: FxHashSet<Span>,
}

/// Marks the functions in which something differs.
pub(super) fn compare(program: &mut Program, known: &Known, told: &Told) {
    if known.types.is_empty() && known.values.is_empty() && known.calls.is_empty() {
        return;
    }
    let mut found: Vec<(FunctionId, Difference)> = Vec::new();
    let everywhere = value_differences(program, known, &told.enumerators);
    let bodies: Vec<FunctionId> =
        program.functions.iter().filter(|(_, function)| function.body.is_some()).map(|(id, _)| id).collect();
    for &id in &bodies {
        found.extend(everywhere.iter().map(|difference| (id, difference.clone())));
    }
    found.extend(type_differences(program, known, &bodies));
    found.extend(call_differences(program, known, told, &bodies));
    for (id, difference) in found {
        let unsupported = &mut program.functions[id].unsupported;
        if !unsupported.contains(&difference) {
            unsupported.push(difference);
        }
    }
}

/// Constants that have another value.
fn value_differences(program: &Program, known: &Known, enumerators: &[(Span, i128)]) -> Vec<Difference> {
    let mut ours: FxHashMap<Span, Option<i128>> = FxHashMap::default();
    let constants = program.variables.iter().filter_map(|(_, variable)| Some((variable.span, variable.constant?)));
    for (span, value) in constants.chain(enumerators.iter().copied()) {
        // An instance of a template has its own.
        ours.entry(span).and_modify(|known| *known = known.filter(|known| *known == value)).or_insert(Some(value));
    }
    let differs = |&(span, theirs): &(Span, i128)| {
        let value = (*ours.get(&span)?)?;
        let name = program.sources.text(span);
        (value != theirs).then(|| (span, format!("`{name}` was read as {value}, and is {theirs} to libclang")))
    };
    known.values.iter().filter_map(differs).collect()
}

/// Variables of functions that have another type.
fn type_differences(program: &Program, known: &Known, bodies: &[FunctionId]) -> Vec<(FunctionId, Difference)> {
    let shapes: FxHashMap<Span, &Shape> = known.types.iter().map(|(span, shape)| (*span, shape)).collect();
    let mut found = Vec::new();
    for &id in bodies {
        for variable in variables_of(program, id) {
            let variable = &program.variables[variable];
            let Some(shape) = shapes.get(&variable.span) else { continue };
            // What stands for a part of a structure that host code fills has no declaration of its own.
            if variable.name.contains('.') || is_alike(program, variable.ty, shape) {
                continue;
            }
            let (name, ty) = (&variable.name, program.type_name(variable.ty));
            let text = format!("`{name}` was read as {ty}, and is {shape} to libclang");
            found.push((id, (variable.span, text)));
        }
    }
    found
}

fn variables_of(program: &Program, id: FunctionId) -> FxHashSet<VariableId> {
    let function = &program.functions[id];
    let body = function.body.as_deref().unwrap_or_default();
    let mut variables: FxHashSet<VariableId> = function.params.iter().copied().collect();
    each_stmt(body, |stmt| {
        if let StmtKind::Declare(variable, _) = stmt.kind {
            variables.insert(variable);
        }
    });
    each_expr(body, |expr| {
        if let ExprKind::Variable(variable) = expr.kind {
            variables.insert(variable);
        }
    });
    variables
}

/// Whether a type may be one of this shape.
fn is_alike(program: &Program, ty: TypeId, shape: &Shape) -> bool {
    match (&program.types[ty], shape) {
        (Type::Unknown(_), _) | (_, Shape::Dependent | Shape::Other(_) | Shape::Record(None)) => true,
        (Type::Void, Shape::Void) | (Type::Bool, Shape::Bool) => true,
        (Type::Int { width, signed }, Shape::Int { width: w, signed: s }) => (u16::from(*width), signed) == (*w, s),
        // The values of an enumeration are `int` here wherever they are used, if they fit and the program does not say more.
        (Type::Int { width, signed }, Shape::Enumeration { width: w, signed: s }) => {
            u16::from(*width) == *w && (signed == s || *w == 32)
        }
        (Type::Bool, Shape::Enumeration { width, .. }) => *width == 8,
        (Type::Float { width }, Shape::Float { width: w }) => u16::from(*width) == *w,
        (Type::Pointer { to, .. }, Shape::Pointer(shape)) => is_alike(program, *to, shape),
        (Type::Array { of, len }, Shape::Array(shape, length)) => len == length && is_alike(program, *of, shape),
        (Type::Vector { of, lanes }, Shape::Vector(shape, l)) => {
            u64::from(*lanes) == *l && is_alike(program, *of, shape)
        }
        // Vectors and short floats of CUDA are structs.
        (Type::Vector { .. } | Type::Float { width: 16 }, Shape::Record(Some(measured)))
            if program.language == Language::Cuda =>
        {
            (program.size_of(ty), program.align_of(ty)) == (Some(measured.0), Some(measured.1))
        }
        (Type::Record(record), Shape::Record(Some(measured))) => {
            let record = &program.records[*record];
            // A lambda may hold more names here than it uses: nothing depends on its layout.
            record.is_fixed || record.bytes.is_none_or(|bytes| (bytes, record.align) == *measured)
        }
        // What a library declares as a class goes by what it stands for: a number, an address, its bytes.
        (_, Shape::Record(_)) | (Type::Record(_), _) => true,
        _ => false,
    }
}

/// Calls of functions that no call here is of.
fn call_differences(
    program: &Program,
    known: &Known,
    told: &Told,
    bodies: &[FunctionId],
) -> Vec<(FunctionId, Difference)> {
    let mut by_name: FxHashMap<Span, Vec<FunctionId>> = FxHashMap::default();
    for &id in bodies {
        by_name.entry(program.functions[id].span).or_default().push(id);
    }
    let mut calls: FxHashMap<Span, Vec<&Call>> = FxHashMap::default();
    let is_silent = |call: &&Call| call.function.iter().any(|name| told.silent.contains(name));
    for call in known.calls.iter().filter(|call| !is_silent(call)) {
        calls.entry(call.caller).or_default().push(call);
    }
    let mut found = Vec::new();
    for (caller, calls) in calls {
        let Some(instances) = by_name.get(&caller) else { continue };
        let Some(called) = called(program, instances, calls[0].around) else { continue };
        for call in calls.into_iter().filter(|call| !is_made(program, &called, call)) {
            let line = program.sources.start_position(call.function[1]).line;
            let text =
                format!("to libclang `{}` of line {line} is called here, which is not how it was read", call.name);
            found.extend(instances.iter().map(|&id| (id, (call.place, text.clone()))));
        }
    }
    found
}

/// Whether one of the calls is this one.
fn is_made(program: &Program, calls: &[(Span, Span)], call: &Call) -> bool {
    let place = program.sources.visible(call.place);
    let is_same = |name: Span| call.function.iter().any(|function| has_name(*function, name));
    let meets = |span: Span| span.file == place.file && span.start < place.end && place.start < span.end;
    calls.iter().any(|&(name, span)| is_same(name) && (call.constructs || meets(program.sources.visible(span))))
}

/// Whether a name stands here: of that of an operator one of several words may stand for all.
fn has_name(words: Span, name: Span) -> bool {
    let is_one_text = (words.file, words.expansion) == (name.file, name.expansion);
    is_one_text && words.start <= name.start && name.start < words.end
}

/// The calls of instances of one function, and of those that are written inside of it: the name of the function, and the
/// place. `None` if something of them is not understood anyway.
fn called(program: &Program, instances: &[FunctionId], around: Span) -> Option<Vec<(Span, Span)>> {
    let around = program.sources.visible(around);
    let is_inside = |span: Span| {
        let span = program.sources.visible(span);
        span.file == around.file && around.start <= span.start && span.end <= around.end
    };
    let mut calls = Vec::new();
    let mut met: FxHashSet<FunctionId> = instances.iter().copied().collect();
    let mut open: Vec<FunctionId> = instances.to_vec();
    while let Some(id) = open.pop() {
        let body = program.functions[id].body.as_deref().unwrap_or_default();
        let mut is_understood = program.functions[id].unsupported.is_empty();
        each_stmt(body, |stmt| is_understood &= !matches!(stmt.kind, StmtKind::Unsupported(_)));
        each_expr(body, |expr| match expr.kind {
            ExprKind::Call(callee, _) | ExprKind::Function(callee) => {
                let span = program.functions[callee].span;
                calls.push((span, expr.span));
                if is_inside(span) && met.insert(callee) {
                    open.push(callee);
                }
            }
            ExprKind::Unsupported(_) => is_understood = false,
            _ => {}
        });
        if !is_understood {
            return None;
        }
    }
    Some(calls)
}
