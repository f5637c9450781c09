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
//! The way to a program goes through [`Declared`]: first what a unit declares, then what host code gives to its
//! kernels, which [`launch::host`](crate::launch::host) finds, then the kernels.
//!
//! Deliberately absent: control flow, memory, aliasing, and host code.

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
mod declared;
mod decltype;
mod dependent;
mod dispatch;
mod entities;
mod expr;
mod function;
mod function_table;
mod function_value;
mod groups;
mod implicit;
mod initial;
mod kernel;
mod lambda;
mod layout;
mod library_types;
mod members;
mod names;
mod numbers;
mod operators;
mod outside;
mod overload;
mod packs;
mod phases;
mod pipelines;
mod print;
pub mod program;
mod qualified;
mod range_for;
mod ranks;
mod record_layout;
mod record_table;
mod records;
mod referee;
mod scope;
mod sequence;
mod stmt;
mod template;
mod template_use;
mod type_functions;
mod type_table;
mod types;
mod undeclared;
mod unknown_call;
mod variable_table;
mod visible;

pub(crate) use declared::{Declared, Lanes, Undeclared};
pub(crate) use entities::{FunctionDecl, ScopeId, TemplateValue};
pub(crate) use type_table::Common;

use crate::arena::Arena;
use crate::calculus::Platform;
use crate::diagnostic::Diagnostic;
use crate::source::{Dialect, Language, OpenClVersion, SourceMap};
use crate::syntax::known::Known;
use rustc_hash::FxHashSet;

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

/// A program before it owns its files.
pub(crate) struct Parts {
    language: Language,
    platform: Platform,
    types: Arena<program::Type>,
    records: Arena<program::Record>,
    variables: Arena<program::Variable>,
    functions: Arena<program::Function>,
    kernels: Vec<program::FunctionId>,
    numbers: FxHashSet<program::TypeId>,
    diagnostics: Vec<Diagnostic>,
    missed: usize,
    told: referee::Told,
}

impl Parts {
    /// The program, held against what a compiler knows of it.
    pub(crate) fn program(self, sources: SourceMap, known: &Known) -> Resolved {
        let mut program = program::Program {
            language: self.language,
            platform: self.platform,
            sources,
            types: self.types,
            records: self.records,
            variables: self.variables,
            functions: self.functions,
            kernels: self.kernels,
            numbers: self.numbers,
        };
        referee::compare(&mut program, known, &self.told);
        Resolved { program, diagnostics: self.diagnostics, missed: self.missed }
    }
}

/// Whose rules launches obey: where nobody states the version of OpenCL C, a program that uses what came with 2.0 shows
/// it.
fn platform(dialect: Dialect, uses_opencl_2: bool) -> Platform {
    match dialect {
        Dialect::OpenCl(OpenClVersion::Unstated) if uses_opencl_2 => Platform::OpenCl2,
        stated => stated.into(),
    }
}
