//! Expressions as text, every grouping in parentheses.

use super::ty::{member, path, ty};
use super::unsupported;
use crate::syntax::literals::CharacterType;
use crate::syntax::{
    BinaryOp, CaptureMode, CastKind, Designator, Expr, ExprKind, Fold, FoldOp, Lambda, PostfixOp, UnaryOp,
};

/// `a, b, c`
pub(super) fn list(values: &[Expr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(", ")
}

/// An expression without parentheses around it.
pub(super) fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Unary(op, inner) => format!("{}{}", unary(*op), operand(inner)),
        ExprKind::Postfix(op, inner) => format!("{}{}", operand(inner), postfix(*op)),
        ExprKind::Binary(op, left, right) => format!("{} {} {}", operand(left), binary(*op), operand(right)),
        ExprKind::Assign(op, left, right) => {
            format!("{} {}= {}", operand(left), op.map(binary).unwrap_or_default(), operand(right))
        }
        ExprKind::Conditional(cond, yes, no) => format!("{} ? {} : {}", operand(cond), operand(yes), operand(no)),
        ExprKind::Comma(left, right) => format!("{}, {}", operand(left), operand(right)),
        ExprKind::Cast(kind, to, inner) => cast(*kind, &ty(to), inner),
        ExprKind::SizeofExpr(inner) => format!("sizeof({})", expr(inner)),
        _ => primary(value),
    }
}

/// An expression as an operand: in parentheses unless it stands for itself.
fn operand(value: &Expr) -> String {
    let compound = matches!(
        value.kind,
        ExprKind::Unary(..)
            | ExprKind::Postfix(..)
            | ExprKind::Binary(..)
            | ExprKind::Assign(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::Cast(CastKind::C, ..)
    );
    if compound { format!("({})", expr(value)) } else { expr(value) }
}

fn primary(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Int { value, suffix, decimal: true } => format!("{value}{suffix}"),
        ExprKind::Int { value, suffix, decimal: false } => format!("0x{value:x}{suffix}"),
        ExprKind::Float(text) | ExprKind::String(text) => text.clone(),
        ExprKind::Char(code, CharacterType::Char) => format!("char({code})"),
        ExprKind::Char(code, ty) => format!("char({code}, {ty:?})"),
        ExprKind::Bool(truth) => truth.to_string(),
        ExprKind::Null => "nullptr".into(),
        ExprKind::This => "this".into(),
        ExprKind::Path(named) => path(named),
        ExprKind::Call(callee, args) => format!("{}({})", operand(callee), list(args)),
        ExprKind::Index(base, index) => format!("{}[{}]", operand(base), expr(index)),
        ExprKind::Member { object, arrow, member: named } => {
            format!("{}{}{}", operand(object), if *arrow { "->" } else { "." }, member(named))
        }
        ExprKind::Construct(of, args) => format!("{}{{{}}}", ty(of), list(args)),
        ExprKind::SizeofType(of) => format!("sizeof({})", ty(of)),
        ExprKind::InitList(entries) => {
            let one =
                |(named, value): &(Option<Designator>, Expr)| format!("{}{}", designator(named.as_ref()), expr(value));
            format!("{{{}}}", entries.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Launch { kernel, config, args } => {
            format!("{}<<<{}>>>({})", operand(kernel), list(config), list(args))
        }
        ExprKind::Lambda(written) => lambda(written),
        ExprKind::Expansion(pattern) => format!("{}...", operand(pattern)),
        ExprKind::SizeofPack(name) => format!("sizeof...({})", name.text),
        ExprKind::Fold(of) => fold(of),
        ExprKind::Statements(written) => format!("({{{}}})", body(written)),
        ExprKind::Unsupported(reason) => unsupported(reason),
        _ => unreachable!("compound expressions are printed by `expr`"),
    }
}

/// `(e + ...)`, `(... + e)`, `(e + ... + e)`
fn fold(of: &Fold) -> String {
    let op = match of.op {
        FoldOp::Binary(op) => binary(op).to_owned(),
        FoldOp::Assign(op) => format!("{}=", op.map(binary).unwrap_or_default()),
        FoldOp::Comma => ",".to_owned(),
    };
    let sides = [&of.left, &of.right].map(|side| side.as_ref().map(operand));
    match sides {
        [Some(left), Some(right)] => format!("({left} {op} ... {op} {right})"),
        [left, right] => {
            let side = |side: Option<String>| side.unwrap_or_else(|| "...".to_owned());
            format!("({} {op} {})", side(left), side(right))
        }
    }
}

/// `[=, &x](int i) { return i; }`, on one line.
fn lambda(written: &Lambda) -> String {
    let mode = |mode| if mode == CaptureMode::Reference { "&" } else { "" };
    let default = written.default.map(|default| if default == CaptureMode::Copy { "=" } else { "&" });
    let captures = written.captures.iter().map(|capture| {
        let init = capture.init.as_ref().map(|value| format!(" = {}", expr(value))).unwrap_or_default();
        format!("{}{}{init}", mode(capture.mode), capture.name.text)
    });
    let captures: Vec<String> = default.map(str::to_owned).into_iter().chain(captures).collect();
    format!("[{}]{}", captures.join(", "), body(written))
}

/// The call operator of a closure on one line.
fn body(written: &Lambda) -> String {
    let lines = super::members(&written.closure);
    let words: Vec<&str> = lines.split_whitespace().collect();
    words.join(" ")
}

fn designator(named: Option<&Designator>) -> String {
    match named {
        None => String::new(),
        Some(Designator::Field(name)) => format!(".{} = ", name.text),
        Some(Designator::Index(index)) => format!("[{}] = ", expr(index)),
    }
}

fn cast(kind: CastKind, to: &str, inner: &Expr) -> String {
    let word = match kind {
        CastKind::C => return format!("({to}){}", operand(inner)),
        CastKind::Static => "static_cast",
        CastKind::Reinterpret => "reinterpret_cast",
        CastKind::Const => "const_cast",
        CastKind::Dynamic => "dynamic_cast",
    };
    format!("{word}<{to}>({})", expr(inner))
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
        UnaryOp::Deref => "*",
        UnaryOp::AddressOf => "&",
        UnaryOp::PreIncrement => "++",
        UnaryOp::PreDecrement => "--",
    }
}

fn postfix(op: PostfixOp) -> &'static str {
    match op {
        PostfixOp::Increment => "++",
        PostfixOp::Decrement => "--",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
    }
}
