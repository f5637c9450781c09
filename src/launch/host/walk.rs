//! A walk through a function of the host: the place that it has come to, and what it finds.

use super::calls::Calls;
use super::found::{Escaped, Found};
use super::place::Place;
use crate::resolve::{Declared, ScopeId};
use crate::source::Span;
use crate::syntax;

/// A walk through a function of the host.
pub(super) struct Walk<'w, 'u> {
    /// Where it is.
    pub(super) place: Place<'w, 'u>,
    /// The functions that it calls.
    pub(super) calls: &'w mut Calls<'u>,
    /// What it finds.
    pub(super) found: &'w mut Found<'u>,
}

/// Lets the kernels escape that a path names.
pub(super) fn escape<'u>(
    names: &mut Declared<'u>,
    (path, scope): (&'u syntax::Path, ScopeId),
    span: Span,
    escaped: &mut Escaped,
) {
    let Ok(named) = names.within(scope, |names| names.named(path)) else { return };
    for decl in named.functions.into_iter().filter(|decl| decl.syntax.is_kernel()) {
        escaped.entry(std::ptr::from_ref(decl.syntax)).or_insert(span);
    }
}
