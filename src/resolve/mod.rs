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

mod layout;
mod names;
pub mod program;
