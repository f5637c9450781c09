//! The typed program as text, for tests and for reading: every load, conversion and type is written out.
//!
//! ```text
//! kernel k(float * a, int n)
//!   i: int = <int>(bid.x * bdim.x + tid.x)
//! ```

use super::program::{Expr, ExprKind, Function, Program, Stmt, StmtKind, VariableId};
use crate::calculus::{BinaryOp, GeometryVar, UnaryOp};
use std::fmt::Write as _;

impl Program {
    /// All functions with bodies, one statement a line.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for (_, function) in self.functions.iter() {
            self.print_function(function, &mut out);
        }
        out
    }

    fn print_function(&self, function: &Function, out: &mut String) {
        let word = if function.is_kernel { "kernel" } else { "function" };
        let params: Vec<String> = function.params.iter().map(|&param| self.print_declared(param)).collect();
        let args = match function.template_args.as_slice() {
            [] => String::new(),
            args => format!("<{}>", args.join(", ")),
        };
        let result = self.type_name(function.result);
        let _ = writeln!(out, "{word} {result} {}{args}({})", function.name, params.join(", "));
        for stmt in function.body.iter().flatten() {
            self.print_nested(stmt, 1, out);
        }
    }

    fn print_declared(&self, variable: VariableId) -> String {
        let declared = &self.variables[variable];
        format!("{}: {}", declared.name, self.type_name(declared.ty))
    }

    /// One statement, with those inside it on lines of their own.
    pub fn print_stmt(&self, stmt: &Stmt) -> String {
        let mut out = String::new();
        self.print_nested(stmt, 0, &mut out);
        out
    }

    fn print_nested(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let mut line = |text: String| {
            let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
        };
        let value = |value: &Option<Expr>| value.as_ref().map_or_else(String::new, |value| self.print_expr(value));
        match &stmt.kind {
            StmtKind::Block(stmts) => {
                line("{".to_owned());
                for stmt in stmts {
                    self.print_nested(stmt, depth + 1, out);
                }
                let _ = writeln!(out, "{}}}", "  ".repeat(depth));
            }
            StmtKind::Declare(variable, init) => {
                let storage = self.variables[*variable].storage;
                let init = init.as_ref().map_or_else(String::new, |init| format!(" = {}", self.print_expr(init)));
                line(format!("{storage:?} {}{init}", self.print_declared(*variable)));
            }
            StmtKind::Expr(value) => line(self.print_expr(value)),
            StmtKind::If(cond, then, otherwise) => {
                line(format!("if {}", self.print_expr(cond)));
                self.print_nested(then, depth + 1, out);
                if let Some(otherwise) = otherwise {
                    let _ = writeln!(out, "{}else", "  ".repeat(depth));
                    self.print_nested(otherwise, depth + 1, out);
                }
            }
            StmtKind::For { init, cond, step, body } => {
                line(format!("for ; {}; {}", value(cond), value(step)));
                if let Some(init) = init {
                    self.print_nested(init, depth + 1, out);
                }
                self.print_nested(body, depth + 1, out);
            }
            StmtKind::While(cond, body) => {
                line(format!("while {}", self.print_expr(cond)));
                self.print_nested(body, depth + 1, out);
            }
            StmtKind::Do(body, cond) => {
                line(format!("do while {}", self.print_expr(cond)));
                self.print_nested(body, depth + 1, out);
            }
            StmtKind::Switch(of, body) => {
                line(format!("switch {}", self.print_expr(of)));
                self.print_nested(body, depth + 1, out);
            }
            StmtKind::Case(Some(constant)) => line(format!("case {constant}")),
            StmtKind::Case(None) => line("default".to_owned()),
            StmtKind::Break => line("break".to_owned()),
            StmtKind::Continue => line("continue".to_owned()),
            StmtKind::Return(of) => line(format!("return {}", value(of))),
            StmtKind::Asm { text, .. } => line(format!("asm {text}")),
            StmtKind::Unsupported(reason) => line(format!("unsupported: {reason}")),
        }
    }

    /// One expression: `*e` loads, `[e]` dereferences, `<T>` converts.
    pub fn print_expr(&self, value: &Expr) -> String {
        let print = |inner: &Expr| self.print_expr(inner);
        let list = |values: &[Expr]| values.iter().map(print).collect::<Vec<_>>().join(", ");
        match &value.kind {
            ExprKind::Int(constant) => format!("{constant}"),
            ExprKind::Float(text) | ExprKind::String(text) => text.clone(),
            ExprKind::Null => "null".to_owned(),
            ExprKind::Function(function) => format!("&{}", self.functions[*function].name),
            ExprKind::CallThrough(pointer, args) => format!("(*{})({})", self.print_expr(pointer), list(args)),
            ExprKind::Geometry(id) => geometry(*id),
            ExprKind::Variable(variable) => self.variables[*variable].name.clone(),
            ExprKind::Deref(pointer) => format!("[{}]", print(pointer)),
            ExprKind::Element(array, index) => format!("{}[{}]", print(array), print(index)),
            ExprKind::Field(object, index) => format!("{}.{index}", print(object)),
            ExprKind::Lanes(object, lanes) => {
                let lanes: Vec<String> = lanes.iter().map(ToString::to_string).collect();
                format!("{}.s{}", print(object), lanes.join("_"))
            }
            ExprKind::Load(object) => format!("*{}", print(object)),
            ExprKind::AddressOf(object) => format!("&{}", print(object)),
            ExprKind::PointerAdd(pointer, index) => format!("({} @+ {})", print(pointer), print(index)),
            ExprKind::PointerDifference(a, b) => format!("({} @- {})", print(a), print(b)),
            ExprKind::Convert(inner) => format!("<{}>{}", self.type_name(value.ty), print(inner)),
            ExprKind::Unary(op, inner) => format!("{}{}", unary(*op), print(inner)),
            ExprKind::Binary(op, a, b) => format!("({} {} {})", print(a), binary(*op), print(b)),
            ExprKind::And(a, b) => format!("({} && {})", print(a), print(b)),
            ExprKind::Or(a, b) => format!("({} || {})", print(a), print(b)),
            ExprKind::Conditional(cond, a, b) => format!("({} ? {} : {})", print(cond), print(a), print(b)),
            ExprKind::Comma(a, b) => format!("({}, {})", print(a), print(b)),
            ExprKind::Assign(target, of) => format!("{} = {}", print(target), print(of)),
            ExprKind::CompoundAssign { target, op, value, compute } => {
                format!("{} {}=<{}> {}", print(target), binary(*op), self.type_name(*compute), print(value))
            }
            ExprKind::Step { target, up, postfix } => {
                let op = if *up { "++" } else { "--" };
                if *postfix { format!("{}{op}", print(target)) } else { format!("{op}{}", print(target)) }
            }
            ExprKind::Call(function, args) => {
                let function = &self.functions[*function];
                let template = match function.template_args.as_slice() {
                    [] => String::new(),
                    args => format!("<{}>", args.join(", ")),
                };
                format!("{}{template}({})", function.name, list(args))
            }
            ExprKind::Builtin(_, name, args) => format!("{name}!({})", list(args)),
            ExprKind::UnknownCall(name, args, _) => format!("{name}?({})", list(args)),
            ExprKind::Construct(parts) => format!("{}{{{}}}", self.type_name(value.ty), list(parts)),
            ExprKind::Unsupported(reason) => format!("unsupported({reason})"),
        }
    }
}

fn geometry(id: GeometryVar) -> String {
    let (name, axis) = match id {
        GeometryVar::ThreadIdx(axis) => ("tid", axis),
        GeometryVar::BlockIdx(axis) => ("bid", axis),
        GeometryVar::BlockDim(axis) => ("bdim", axis),
        GeometryVar::GridDim(axis) => ("gdim", axis),
    };
    format!("{name}.{}", ["x", "y", "z"][axis.index()])
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
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
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
