//! The tree as text, for `raceproof show syntax` and for comparing trees.
//!
//! The text looks like C, with every grouping in parentheses, one statement a line, and types written with
//! everything behind the element (`const float*[4]` is an array of pointers). What was not understood stands in
//! `«»` with its reason. Spans are left out, so that equal programs give equal text.

mod expr;
mod ty;

use super::{Binding, Function, Init, Item, ItemKind, Param, Record, Stmt, StmtKind, TemplateParam, TemplateParamKind};
use super::{TemplateArg, Type, Unit, Variable};
use expr::{expr, list};
use ty::{arguments, declared, path, qualifiers, ty};

/// The type as text, the same for types that are written alike.
pub fn type_text(of: &Type) -> String {
    ty(of)
}

/// An argument of a template as text.
pub fn argument_text(of: &TemplateArg) -> String {
    arguments(std::slice::from_ref(of))
}

/// The declaration of a variable as text.
pub fn variable_text(of: &Variable) -> String {
    let mut out = Out::default();
    variable(of, &mut out);
    out.text
}

/// Prints `unit`.
pub fn print(unit: &Unit) -> String {
    let mut out = Out::default();
    items(&unit.items, &mut out);
    out.text
}

/// Lines with their indentation.
#[derive(Default)]
struct Out {
    text: String,
    depth: usize,
}

/// Deeper lines are not indented further: the text of a deep tree would be quadratic in its depth.
const MAX_INDENT: usize = 40;

impl Out {
    fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.depth.min(MAX_INDENT)));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// `head {`, what `body` writes, `}`.
    fn block(&mut self, head: &str, body: impl FnOnce(&mut Out)) {
        self.line(format!("{head} {{").trim_start());
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }
}

/// What was not understood.
fn unsupported(reason: &str) -> String {
    format!("«{reason}»")
}

fn items(items: &[Item], out: &mut Out) {
    for each in items {
        item(each, out);
    }
}

fn item(item: &Item, out: &mut Out) {
    match &item.kind {
        ItemKind::Function(each) => function(each, out),
        ItemKind::Variables(variables) => {
            for each in variables {
                variable(each, out);
            }
        }
        ItemKind::Record(each) => record(each, out),
        ItemKind::Enum(each) => out.line(&format!("{};", ty::enumeration(each))),
        ItemKind::Alias { name, template, ty: aliased } => {
            let head = if template.is_empty() { String::new() } else { template_head(template) };
            out.line(&format!("{head}using {} = {};", name.text, ty(aliased)));
        }
        ItemKind::Namespace { name, inline, items: inner } => {
            let word = if *inline { "inline namespace" } else { "namespace" };
            out.block(format!("{word} {}", name.text).trim_end(), |out| items(inner, out));
        }
        ItemKind::UsingNamespace(used) => out.line(&format!("using namespace {};", path(used))),
        ItemKind::UsingName { name, path: used } => out.line(&format!("using {} = {};", name.text, path(used))),
        ItemKind::ExplicitInstantiation { path: template, params: written } => {
            out.line(&format!("template {}({});", path(template), params(written)));
        }
        ItemKind::RecordInstantiation(template) => out.line(&format!("template struct {};", path(template))),
        ItemKind::StaticAssert(claim) => out.line(&format!("static_assert({});", expr(claim))),
        ItemKind::Unsupported(reason) => out.line(&unsupported(reason)),
    }
}

fn function(function: &Function, out: &mut Out) {
    let template = function.template.as_ref().map(|params| template_head(params)).unwrap_or_default();
    let result = function.result.as_ref().map(|result| ty(result) + " ").unwrap_or_default();
    let mut parameters = params(&function.params);
    if function.variadic {
        parameters += ", ...";
    }
    let is_const = if function.is_const { " const" } else { "" };
    let called_on = match function.called_on {
        None => "",
        Some(Binding::Lvalue) => " &",
        Some(Binding::Rvalue) => " &&",
    };
    let initializers: Vec<String> =
        function.initializers.iter().map(|(name, values)| format!("{}({})", name.text, list(values))).collect();
    let initializers = if initializers.is_empty() { String::new() } else { format!(" : {}", initializers.join(", ")) };
    let quals = qualifiers(&function.qualifiers);
    let head =
        format!("{template}{quals}{result}{}({parameters}){is_const}{called_on}{initializers}", path(&function.path));
    match &function.body {
        Some(body) => out.block(&head, |out| stmts(body, out)),
        None => out.line(&format!("{head};")),
    }
}

fn params(params: &[Param]) -> String {
    let one = |param: &Param| {
        let default = param.default.as_ref().map(|value| format!(" = {}", expr(value))).unwrap_or_default();
        let pack = if param.pack { "..." } else { "" };
        let text = format!("{}{pack} {}{default}", declared(&param.qualifiers, &param.ty), param.name.text);
        text.trim_end().to_string()
    };
    params.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn template_head(params: &[TemplateParam]) -> String {
    let one = |param: &TemplateParam| {
        let pack = if param.pack { "..." } else { "" };
        let name = &param.name.text;
        match &param.kind {
            TemplateParamKind::Type(default) => {
                format!(
                    "typename{pack} {name}{}",
                    default.as_ref().map(|t| format!(" = {}", ty(t))).unwrap_or_default()
                )
            }
            TemplateParamKind::Value(of, default) => {
                let default = default.as_ref().map(|value| format!(" = {}", expr(value))).unwrap_or_default();
                format!("{}{pack} {name}{default}", ty(of))
            }
            TemplateParamKind::Template(default) => {
                let default = default.as_ref().map(|template| format!(" = {}", ty(template))).unwrap_or_default();
                format!("template{pack} {name}{default}")
            }
        }
    };
    format!("template<{}> ", params.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn variable(variable: &Variable, out: &mut Out) {
    let bits = variable.bits.as_ref().map(|bits| format!(" : {}", expr(bits))).unwrap_or_default();
    let init = match &variable.init {
        None => String::new(),
        Some(Init::Value(value)) => format!(" = {}", expr(value)),
        Some(Init::Call(values)) => format!("({})", list(values)),
        Some(Init::List(values)) => format!("{{{}}}", list(values)),
    };
    if let Some(defined) = defined_record(&variable.ty) {
        record(defined, out);
    }
    let declared = declared(&variable.qualifiers, &variable.ty);
    out.line(&format!("{declared} {}{bits}{init};", variable.name.text));
}

/// The record that a type defines in place: its members are shown before the variable.
fn defined_record(of: &Type) -> Option<&Record> {
    match &of.kind {
        super::TypeKind::Record(record) if record.members.is_some() => Some(record),
        super::TypeKind::Array(inner, _) | super::TypeKind::Pointer(inner) => defined_record(inner),
        _ => None,
    }
}

fn record(record: &Record, out: &mut Out) {
    let template = record.template.as_ref().map(|params| template_head(params)).unwrap_or_default();
    let word = if record.is_union { "union" } else { "struct" };
    let special = record.specialization.as_ref().map(|args| arguments(args)).unwrap_or_default();
    let bases: Vec<String> = record.bases.iter().map(ty).collect();
    let bases = if bases.is_empty() { String::new() } else { format!(" : {}", bases.join(", ")) };
    let head = format!("{template}{}{word} {}{special}{bases}", qualifiers(&record.qualifiers), record.name.text);
    match &record.members {
        Some(members) => out.block(head.trim_end(), |out| items(members, out)),
        None => out.line(&format!("{head};")),
    }
}

/// The members of a record as text.
fn members(record: &Record) -> String {
    let mut out = Out::default();
    items(record.members.as_deref().unwrap_or_default(), &mut out);
    out.text
}

fn stmts(stmts: &[Stmt], out: &mut Out) {
    for each in stmts {
        stmt(each, out);
    }
}

fn stmt(stmt: &Stmt, out: &mut Out) {
    match &stmt.kind {
        StmtKind::Block(body) => out.block("", |out| stmts(body, out)),
        StmtKind::Item(each) => item(each, out),
        StmtKind::Expr(value) => out.line(&format!("{};", expr(value))),
        StmtKind::If { init, cond, is_constexpr, then, otherwise } => {
            let word = if *is_constexpr { "if constexpr" } else { "if" };
            with_init(init.as_deref(), out, |out| {
                out.block(&format!("{word} ({})", expr(cond)), |out| body(then, out));
                if let Some(otherwise) = otherwise {
                    out.block("else", |out| body(otherwise, out));
                }
            });
        }
        StmtKind::For { init, cond, step, body: inner } => {
            let part = |value: &Option<super::Expr>| value.as_ref().map(expr).unwrap_or_default();
            with_init(init.as_deref(), out, |out| {
                out.block(&format!("for (; {}; {})", part(cond), part(step)), |out| body(inner, out));
            });
        }
        StmtKind::RangeFor { variable, range, body: inner } => {
            let (name, ty) = (&variable.name.text, ty::ty(&variable.ty));
            out.block(&format!("for ({ty} {name} : {})", expr(range)), |out| body(inner, out));
        }
        StmtKind::While { cond, body: inner } => {
            out.block(&format!("while ({})", expr(cond)), |out| body(inner, out));
        }
        StmtKind::Do { body: inner, cond } => {
            out.block("do", |out| body(inner, out));
            out.line(&format!("while ({});", expr(cond)));
        }
        StmtKind::Switch { value, body: inner } => {
            out.block(&format!("switch ({})", expr(value)), |out| body(inner, out));
        }
        StmtKind::Case(Some(value)) => out.line(&format!("case {}:", expr(value))),
        StmtKind::Case(None) => out.line("default:"),
        StmtKind::Break => out.line("break;"),
        StmtKind::Continue => out.line("continue;"),
        StmtKind::Return(Some(value)) => out.line(&format!("return {};", expr(value))),
        StmtKind::Return(None) => out.line("return;"),
        StmtKind::Empty => out.line(";"),
        StmtKind::Asm { text, outputs, inputs, clobbers_memory } => {
            let memory = if *clobbers_memory { " : memory" } else { "" };
            out.line(&format!("asm({text} : {} : {}{memory});", list(outputs), list(inputs)));
        }
        StmtKind::Unsupported(reason) => out.line(&unsupported(reason)),
    }
}

/// A statement's own first part opens a scope around it.
fn with_init(init: Option<&Stmt>, out: &mut Out, rest: impl FnOnce(&mut Out)) {
    match init {
        None => rest(out),
        Some(init) => out.block("", |out| {
            stmt(init, out);
            rest(out);
        }),
    }
}

/// The statements of a body, without the braces that the printer writes anyway.
fn body(of: &Stmt, out: &mut Out) {
    match &of.kind {
        StmtKind::Block(inner) => stmts(inner, out),
        _ => stmt(of, out),
    }
}
