//! Printing expressions, with definitions where the tree of a shared expression would be large or deep.

use super::words::{INFIX, distinct, geometry_text, is_plain_name, quoted, type_text};
use crate::calculus::{BinaryOp, Expr, ExprId, Exprs, ScalarType, UnaryOp, operands};

/// Greatest size at which a shared subexpression is written out wherever it is used.
const GREATEST_REPEATED: u32 = 24;
/// Greatest depth that is written without a definition; well below what the parser accepts.
const GREATEST_DEPTH: u32 = 40;
/// Binding strength of operands that need no parentheses anywhere.
const ATOM: u8 = 20;
const PREFIX: u8 = 15;

/// How parameters and variables are written.
pub(crate) struct Names {
    pub(super) params: Vec<String>,
    pub(super) vars: Vec<String>,
}

impl Names {
    pub(crate) fn of(kernel: &crate::calculus::Kernel) -> Self {
        let params = kernel.params.iter().map(|(_, param)| param.name.as_str());
        let vars = kernel.vars.iter().map(|(_, var)| var.name.as_str());
        let mut all = distinct(params.chain(vars));
        let vars = all.split_off(kernel.params.len());
        Names { params: all, vars }
    }
}

pub(crate) struct Printer<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) names: &'a Names,
    /// The number of the definition of each expression that has one.
    definitions: Vec<Option<u32>>,
    order: Vec<ExprId>,
}

impl<'a> Printer<'a> {
    /// A printer that writes everything out; for one expression of bounded size.
    pub(super) fn plain(exprs: &'a Exprs, names: &'a Names) -> Self {
        Printer { exprs, names, definitions: Vec::new(), order: Vec::new() }
    }

    /// A printer for the expressions below `roots` (repeated as often as they are used).
    pub(super) fn new(exprs: &'a Exprs, names: &'a Names, roots: &[ExprId]) -> Self {
        let mut printer = Printer { exprs, names, definitions: vec![None; exprs.len()], order: Vec::new() };
        printer.choose_definitions(roots);
        printer
    }

    fn choose_definitions(&mut self, roots: &[ExprId]) {
        let count = self.exprs.len();
        let mut uses = vec![0u32; count];
        for root in roots {
            uses[root.index()] += 1;
        }
        for (id, node) in self.exprs.iter().rev() {
            if uses[id.index()] > 0 {
                for operand in operands(node) {
                    uses[operand.index()] += 1;
                }
            }
        }
        let (mut size, mut depth) = (vec![1u32; count], vec![1u32; count]);
        for (id, node) in self.exprs.iter().filter(|(id, _)| uses[id.index()] > 0) {
            let below = operands(node);
            let own_size = below.iter().fold(1u32, |sum, operand| sum.saturating_add(size[operand.index()]));
            let own_depth = 1 + below.iter().map(|operand| depth[operand.index()]).max().unwrap_or(0);
            if own_depth > GREATEST_DEPTH || (uses[id.index()] > 1 && own_size > GREATEST_REPEATED) {
                self.definitions[id.index()] = Some(self.order.len() as u32);
                self.order.push(id);
            } else {
                size[id.index()] = own_size;
                depth[id.index()] = own_depth;
            }
        }
    }

    /// The definitions, in order: number and right-hand side.
    pub(super) fn definitions(&self) -> impl Iterator<Item = String> {
        self.order.iter().enumerate().map(|(number, &id)| {
            let mut text = format!("define %{number} = ");
            self.node(&mut text, id, 0, ScalarType::I32);
            text
        })
    }

    /// `id` where a literal would take the type `context`.
    pub(super) fn expr(&self, id: ExprId, context: ScalarType) -> String {
        let mut text = String::new();
        self.operand(&mut text, id, 0, context);
        text
    }

    fn operand(&self, out: &mut String, id: ExprId, strength: u8, context: ScalarType) {
        match self.definitions.get(id.index()).copied().flatten() {
            Some(number) => out.push_str(&format!("%{number}")),
            None => self.node(out, id, strength, context),
        }
    }

    fn node(&self, out: &mut String, id: ExprId, strength: u8, context: ScalarType) {
        let own = self.strength(id);
        let wrap = own < strength;
        if wrap {
            out.push('(');
        }
        match &self.exprs[id] {
            &Expr::Int(value, ty) => literal(out, value, ty, context),
            Expr::Opaque(text, ty) => out.push_str(&format!("{}:{}", quoted(text, '"'), type_text(*ty))),
            Expr::Var(var) => out.push_str(self.names.vars.get(var.index()).map_or("?", String::as_str)),
            Expr::Param(param) => out.push_str(self.names.params.get(param.index()).map_or("?", String::as_str)),
            Expr::Geometry(var) => out.push_str(&geometry_text(*var)),
            Expr::Unary(op, a) => self.prefix(out, *op, *a),
            Expr::Binary(op, a, b) => self.binary(out, *op, *a, *b),
            &Expr::Select(c, a, b) => self.select(out, c, a, b),
            Expr::Convert(ty, a) => {
                out.push_str(&format!("convert<{}>(", type_text(*ty)));
                self.operand(out, *a, 0, ScalarType::I32);
                out.push(')');
            }
            Expr::Call(function, args, ty) => self.call(out, function.name(), args, *ty),
        }
        if wrap {
            out.push(')');
        }
    }

    fn strength(&self, id: ExprId) -> u8 {
        match &self.exprs[id] {
            Expr::Binary(op, ..) => INFIX.iter().find(|(_, entry, _)| entry == op).map_or(ATOM, |&(_, _, own)| own),
            Expr::Unary(..) => PREFIX,
            Expr::Int(value, _) if *value < 0 => PREFIX,
            _ => ATOM,
        }
    }

    fn prefix(&self, out: &mut String, op: UnaryOp, a: ExprId) {
        out.push(match op {
            UnaryOp::Neg => '-',
            UnaryOp::BitNot => '~',
            UnaryOp::Not => '!',
        });
        // `-4` is a constant, `-(4)` an operation on one; `--x` is kept apart likewise.
        let strength = if self.is_literal(a) { ATOM + 1 } else { PREFIX };
        self.operand(out, a, strength, ScalarType::I32);
    }

    /// Whether `id` is written as a number, whose type the context may give.
    fn is_literal(&self, id: ExprId) -> bool {
        let named = self.definitions.get(id.index()).copied().flatten().is_some();
        !named && matches!(self.exprs[id], Expr::Int(_, ty) if ty != ScalarType::Bool)
    }

    /// The types that literals on the left and the right of an operator are read with.
    fn contexts(&self, op: BinaryOp, a: ExprId, b: ExprId) -> (ScalarType, ScalarType) {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let left = if shift || self.is_literal(b) { ScalarType::I32 } else { self.exprs.ty(b) };
        (left, self.exprs.ty(a))
    }

    fn binary(&self, out: &mut String, op: BinaryOp, a: ExprId, b: ExprId) {
        let (left, right) = self.contexts(op, a, b);
        let Some(&(sign, _, own)) = INFIX.iter().find(|(_, entry, _)| *entry == op) else {
            out.push_str(if op == BinaryOp::Min { "min(" } else { "max(" });
            self.operand(out, a, 0, left);
            out.push_str(", ");
            self.operand(out, b, 0, right);
            out.push(')');
            return;
        };
        self.operand(out, a, own, left);
        out.push_str(&format!(" {sign} "));
        self.operand(out, b, own + 1, right);
    }

    fn select(&self, out: &mut String, c: ExprId, a: ExprId, b: ExprId) {
        out.push('(');
        self.operand(out, c, 1, ScalarType::Bool);
        out.push_str(" ? ");
        self.operand(out, a, 0, if self.is_literal(b) { ScalarType::I32 } else { self.exprs.ty(b) });
        out.push_str(" : ");
        self.operand(out, b, 0, self.exprs.ty(a));
        out.push(')');
    }

    fn call(&self, out: &mut String, name: &str, args: &[ExprId], ty: ScalarType) {
        if is_plain_name(name) {
            out.push_str(name);
        } else {
            out.push_str(&quoted(name, '`'));
        }
        out.push('(');
        for (index, arg) in args.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            self.operand(out, *arg, 0, ScalarType::I32);
        }
        out.push_str(&format!("):{}", type_text(ty)));
    }
}

fn literal(out: &mut String, value: i128, ty: ScalarType, context: ScalarType) {
    match (ty, value) {
        (ScalarType::Bool, 0) => out.push_str("false"),
        (ScalarType::Bool, 1) => out.push_str("true"),
        _ if ty == context && ty != ScalarType::Bool => out.push_str(&value.to_string()),
        _ => out.push_str(&format!("{value}{}", type_text(ty))),
    }
}
