//! What the value of an expression is computed from, and what library calls read besides their arguments.

use super::graph::{Graph, NodeId};
use super::{Source, content_of};
use crate::calculus::{BinaryOp, Expr, ExprId, Kernel, Nature, ScalarType, VarId};

/// Appends the nodes that the value of `root` is computed from, where `env` says what variables are.
pub(super) fn uses(kernel: &Kernel, graph: &mut Graph, env: &[NodeId], root: ExprId, into: &mut Vec<NodeId>) {
    let mut leaves = Vec::new();
    kernel.exprs.visit(root, |_, node| match node {
        Expr::Var(var) => leaves.push(Leaf::Var(*var)),
        Expr::Param(param) => leaves.push(Leaf::Source(Source::Param(*param))),
        // Constants of floating-point type, and handles of textures, which matter where they are fetched from.
        Expr::Opaque(_, ScalarType::Opaque { .. }) => {}
        Expr::Opaque(text, _) => leaves.push(Leaf::Source(Source::Named(text.clone()))),
        Expr::Call(function, args, ty) => {
            let source = match function.nature() {
                Nature::Fetches => {
                    Some(Source::Texture(handle_name(kernel, args).unwrap_or(function.name()).to_owned()))
                }
                Nature::Queries => Some(Source::Named(format!("{function} of an image"))),
                Nature::Computes | Nature::Counts(_) => is_floating(kernel, args, *ty).then_some(Source::Floating),
                Nature::Exact => None,
            };
            leaves.extend(source.map(Leaf::Source));
        }
        Expr::Binary(op, a, _) if !is_comparison(*op) && is_opaque(kernel.exprs.ty(*a)) => {
            leaves.push(Leaf::Source(Source::Floating));
        }
        _ => {}
    });
    for leaf in leaves {
        let node = match leaf {
            Leaf::Var(var) => env[var.index()],
            Leaf::Source(source) => graph.source(source),
        };
        if !into.contains(&node) {
            into.push(node);
        }
    }
}

enum Leaf {
    Var(VarId),
    Source(Source),
}

/// The name of the texture among the arguments of a fetch.
fn handle_name<'k>(kernel: &'k Kernel, args: &[ExprId]) -> Option<&'k str> {
    args.iter().find_map(|&arg| match &kernel.exprs[arg] {
        Expr::Opaque(text, ScalarType::Opaque { .. }) if text.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            Some(text.as_str())
        }
        Expr::Param(param) => Some(kernel.params[*param].name.as_str()),
        _ => None,
    })
}

/// Whether a call computes with floating-point numbers, so that its result depends on who compiled it.
fn is_floating(kernel: &Kernel, args: &[ExprId], ty: ScalarType) -> bool {
    is_opaque(ty) || args.iter().any(|&arg| is_opaque(kernel.exprs.ty(arg)))
}

fn is_opaque(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Opaque { .. })
}

fn is_comparison(op: BinaryOp) -> bool {
    op.is_boolean()
}

/// The source that the content of an array is at the start.
pub(super) fn content(kernel: &Kernel, graph: &mut Graph, array: crate::calculus::ArrayId) -> NodeId {
    graph.source(content_of(array, &kernel.arrays[array]))
}
