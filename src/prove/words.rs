//! Expressions in the user's words, for assumptions.

use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, UnaryOp};
use crate::protocol::Protocol;

/// Depth and length at which text is cut off with an ellipsis.
const DEPTH: u32 = 12;

/// The expression as text; conversions are left out.
pub(super) fn words(protocol: &Protocol, expr: ExprId) -> String {
    write(protocol, expr, 0, DEPTH)
}

fn axis(axis: Axis) -> char {
    match axis {
        Axis::X => 'x',
        Axis::Y => 'y',
        Axis::Z => 'z',
    }
}

fn geometry(var: GeometryVar) -> String {
    match var {
        GeometryVar::ThreadIdx(a) => format!("threadIdx.{}", axis(a)),
        GeometryVar::BlockIdx(a) => format!("blockIdx.{}", axis(a)),
        GeometryVar::BlockDim(a) => format!("blockDim.{}", axis(a)),
        GeometryVar::GridDim(a) => format!("gridDim.{}", axis(a)),
    }
}

fn symbol(op: BinaryOp) -> (&'static str, u32) {
    match op {
        BinaryOp::Mul => ("*", 10),
        BinaryOp::Div => ("/", 10),
        BinaryOp::Rem => ("%", 10),
        BinaryOp::Add => ("+", 9),
        BinaryOp::Sub => ("-", 9),
        BinaryOp::Shl => ("<<", 8),
        BinaryOp::Shr => (">>", 8),
        BinaryOp::Lt => ("<", 7),
        BinaryOp::Le => ("<=", 7),
        BinaryOp::Gt => (">", 7),
        BinaryOp::Ge => (">=", 7),
        BinaryOp::Eq => ("==", 6),
        BinaryOp::Ne => ("!=", 6),
        BinaryOp::BitAnd => ("&", 5),
        BinaryOp::BitXor => ("^", 4),
        BinaryOp::BitOr => ("|", 3),
        BinaryOp::And => ("&&", 2),
        BinaryOp::Or => ("||", 1),
        BinaryOp::Min => ("min", 0),
        BinaryOp::Max => ("max", 0),
    }
}

/// `outer` is the precedence of the operator around it.
fn write(protocol: &Protocol, expr: ExprId, outer: u32, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
    let inner = |id: ExprId, outer: u32| write(protocol, id, outer, depth);
    match &protocol.exprs[expr] {
        Expr::Int(value, _) => value.to_string(),
        Expr::Opaque(text, _) => text.clone(),
        Expr::Var(_) if let Some(value) = protocol.in_other(expr) => format!("other({})", inner(value, 0)),
        Expr::Var(var) => protocol.vars[*var].name.clone(),
        Expr::Param(param) => protocol.params[*param].name.clone(),
        Expr::Geometry(var) => geometry(*var),
        Expr::Unary(UnaryOp::Neg, a) => format!("-{}", inner(*a, 11)),
        Expr::Unary(UnaryOp::BitNot, a) => format!("~{}", inner(*a, 11)),
        Expr::Unary(UnaryOp::Not, a) => format!("!{}", inner(*a, 11)),
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => {
            format!("{}({}, {})", symbol(*op).0, inner(*a, 0), inner(*b, 0))
        }
        Expr::Binary(op, a, b) => {
            let (text, level) = symbol(*op);
            let joined = format!("{} {text} {}", inner(*a, level), inner(*b, level + 1));
            if level < outer { format!("({joined})") } else { joined }
        }
        Expr::Select(c, a, b) => {
            let joined = format!("{} ? {} : {}", inner(*c, 1), inner(*a, 1), inner(*b, 1));
            if outer > 0 { format!("({joined})") } else { joined }
        }
        Expr::Convert(_, a) => write(protocol, *a, outer, depth),
        Expr::Call(name, args, _) => {
            format!("{name}({})", args.iter().map(|&arg| inner(arg, 0)).collect::<Vec<_>>().join(", "))
        }
    }
}
