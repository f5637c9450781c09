//! Kernels that could not be read. They must be listed, or it would look as if they had been checked.

use super::{Function, Item, ItemKind, Name, Path, PathSegment, Qualifier, Stmt, StmtKind};
use crate::source::Span;
use std::ops::Range;

/// A kernel of which only the name is known, with a body that says why.
pub fn lost_kernel(name: Name, reason: &str, span: Span) -> Item {
    let body = Stmt { kind: StmtKind::Unsupported(reason.to_owned()), span };
    let function = Function {
        path: Path { global: false, segments: vec![PathSegment { name, args: None }] },
        template: None,
        qualifiers: vec![Qualifier::Kernel],
        result: None,
        params: Vec::new(),
        variadic: false,
        is_const: false,
        called_on: None,
        initializers: Vec::new(),
        body: Some(vec![body]),
    };
    Item { kind: ItemKind::Function(Box::new(function)), span }
}

/// The token among `tokens` that names a kernel: the first identifier behind the kernel's word that is called or
/// declared there. `text` and `is_identifier` tell about the token at a position.
pub fn lost_name<'t>(
    tokens: Range<usize>,
    text: impl Fn(usize) -> &'t str,
    is_identifier: impl Fn(usize) -> bool,
) -> Option<usize> {
    let kernel = tokens.clone().find(|&at| matches!(text(at), "__global__" | "__kernel" | "kernel"))?;
    let is_attribute = |at| matches!(text(at), "__launch_bounds__" | "__attribute__" | "__cluster_dims__");
    (kernel + 1..tokens.end).find(|&at| is_identifier(at) && text(at + 1) == "(" && !is_attribute(at))
}
