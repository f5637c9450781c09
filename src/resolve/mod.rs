//! From the untyped surface tree to a typed program: names, types, usual conversions, overloads and
//! template substitution, once, for both front ends.
//!
//! The result is a [`Program`](program::Program): monomorphic functions whose expressions have types,
//! whose conversions are explicit, and whose names are handles. A kernel template appears once for every
//! set of arguments that an explicit instantiation or a launch in the unit gives it; one without any
//! appears with its type parameters left as unknown types of unknown size (and is then at best `unknown`
//! where that matters) and its value parameters as uniform parameters.
//!
//! What cannot be resolved is an [`ExprKind::Unsupported`](program::ExprKind::Unsupported) or
//! [`StmtKind::Unsupported`](program::StmtKind::Unsupported) with its span and a reason, never dropped.
//! Only what kernels reach is resolved: a host function may hold any C++.
//!
//! Deliberately absent: control flow, memory, aliasing.

mod associated;
mod atomics;
mod bases;
mod bit_fields;
mod builtin_call;
mod call;
mod classes;
mod collectives;
mod complex;
mod constant;
mod context;
mod conversion;
mod copies;
mod declare;
mod decltype;
mod dependent;
mod dispatch;
mod expr;
mod function;
mod function_value;
mod groups;
mod hidden;
mod host;
mod host_calls;
mod host_cases;
mod host_escapes;
mod host_fields;
mod host_flow;
mod host_loops;
mod host_mentions;
mod host_parts;
mod host_relations;
mod host_uses;
mod implicit;
mod initial;
mod kernel;
mod lambda;
mod launch_call;
mod launch_site;
mod layout;
mod library_types;
mod members;
mod names;
mod operators;
mod outside;
mod overload;
mod phases;
mod pipelines;
mod print;
pub mod program;
mod qualified;
mod range_for;
mod ranks;
mod record_layout;
mod records;
mod referee;
mod scope;
mod sequence;
mod stmt;
mod template;
mod template_use;
mod type_functions;
mod types;
mod undeclared;
mod unknown_call;
mod visible;

use crate::calculus::Platform;
use crate::diagnostic::Diagnostic;
use crate::source::{Dialect, OpenClVersion};
use crate::syntax;

/// A typed program and what was noticed on the way.
#[derive(Debug)]
pub struct Resolved {
    /// The program.
    pub program: program::Program,
    /// Items at namespace scope that are not understood.
    pub diagnostics: Vec<Diagnostic>,
    /// How often something that a kernel reaches was not understood: a name, a call, a type.
    pub missed: usize,
}

/// Resolves a unit.
pub fn resolve(unit: syntax::Unit) -> Resolved {
    let syntax::Unit { dialect, sources, items, known, mentions } = unit;
    let language = dialect.language();
    let (parts, platform, diagnostics, missed, told) = {
        let mut resolver = context::Resolver::new(dialect, &sources);
        resolver.run(&items, &mentions);
        let context::Resolver {
            types,
            records,
            variables,
            functions,
            kernels,
            launches,
            numbers,
            diagnostics,
            missed,
            told,
            uses_opencl_2,
            ..
        } = resolver;
        (
            (types, records, variables, functions, kernels, launches, numbers),
            platform(dialect, uses_opencl_2),
            diagnostics,
            missed,
            told,
        )
    };
    let (types, records, variables, functions, kernels, launches, numbers) = parts;
    let mut program = program::Program {
        language,
        platform,
        sources,
        types,
        records,
        variables,
        functions,
        kernels,
        launches,
        numbers,
    };
    referee::compare(&mut program, &known, &told);
    Resolved { program, diagnostics, missed: missed.get() }
}

/// Whose rules launches obey: where nobody states the version of OpenCL C, a program that uses what came with 2.0 shows it.
fn platform(dialect: Dialect, uses_opencl_2: bool) -> Platform {
    match dialect {
        Dialect::OpenCl(OpenClVersion::Unstated) if uses_opencl_2 => Platform::OpenCl2,
        stated => stated.into(),
    }
}
