//! Lambdas, and the statement expressions of GNU C, which are lambdas that are called where they stand.
//!
//! A lambda is a class with a call operator, and is kept as one: the class has no name and no member but the
//! operator, whose parameters of type `auto` have become template parameters. What it captures stands beside it.
//!
//! Deliberately absent: the members for the captures, whose types are for the resolver to say.

use super::{
    Expr, ExprKind, Function, Item, ItemKind, Name, Param, Path, PathSegment, Record, Stmt, StmtKind, TemplateParam,
    TemplateParamKind, Type, TypeKind,
};
use crate::source::Span;

/// `[captures](params) { body }`
#[derive(Clone, Debug)]
pub struct Lambda {
    /// How what is used and not listed is captured: `[=]`, `[&]`.
    pub default: Option<CaptureMode>,
    /// The captures that are listed.
    pub captures: Vec<Capture>,
    /// The class, with its call operator.
    pub closure: Record,
}

/// A capture that is listed; `this` and `*this` are names, too.
#[derive(Clone, Debug)]
pub struct Capture {
    /// What is captured, or the name of a member with a value of its own.
    pub name: Name,
    /// Whether its value or its place is kept.
    pub mode: CaptureMode,
    /// The value of `name = value`.
    pub init: Option<Expr>,
}

/// What a capture keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureMode {
    /// The value that it has where the lambda stands.
    Copy,
    /// The variable itself.
    Reference,
}

/// What stands between the brackets of a lambda.
#[derive(Clone, Debug, Default)]
pub struct CaptureList {
    /// See [`Lambda::default`].
    pub default: Option<CaptureMode>,
    /// See [`Lambda::captures`].
    pub captures: Vec<Capture>,
}

impl CaptureList {
    /// Adds an entry whose words before `=`, if there is one, are `words`; false if it is not understood.
    pub fn add(&mut self, words: &[&str], span: Span, init: Option<Expr>) -> bool {
        let (name, mode) = match (words, &init) {
            (["="], None) => return self.default.replace(CaptureMode::Copy).is_none(),
            (["&"], None) => return self.default.replace(CaptureMode::Reference).is_none(),
            (["*", "this"], None) => ("*this".to_owned(), CaptureMode::Copy),
            (["&", name], _) => ((*name).to_owned(), CaptureMode::Reference),
            ([name], _) => ((*name).to_owned(), CaptureMode::Copy),
            _ => return false,
        };
        self.captures.push(Capture { name: Name { text: name, span }, mode, init });
        true
    }
}

/// Whether a lambda may change the copies that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutability {
    /// It says `mutable`.
    Mutable,
    /// It does not.
    Fixed,
}

/// The head and the body of a lambda.
#[derive(Clone, Debug)]
pub struct CallOperator {
    /// Template parameters that are written.
    pub template: Option<Vec<TemplateParam>>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Whether it is `mutable`: it may change the copies that it holds.
    pub mutability: Mutability,
    /// The result type behind `->`.
    pub result: Option<Type>,
    /// The body.
    pub body: Vec<Stmt>,
    /// Where the lambda starts.
    pub span: Span,
}

/// A lambda from its parts.
pub fn lambda(list: CaptureList, call: CallOperator) -> ExprKind {
    ExprKind::Lambda(Box::new(closure(list, call)))
}

fn closure(list: CaptureList, call: CallOperator) -> Lambda {
    let CallOperator { mut template, mut params, mutability, result, body, span } = call;
    for (at, param) in params.iter_mut().enumerate() {
        if let Some(name) = generic(&mut param.ty, at) {
            let param = TemplateParam { name, kind: TemplateParamKind::Type(None), pack: false };
            template.get_or_insert_default().push(param);
        }
    }
    let result = result.unwrap_or(Type { kind: TypeKind::Auto, qualifiers: Vec::new(), span });
    let function = Function {
        path: one_name("operator()", span),
        template,
        qualifiers: Vec::new(),
        result: Some(result),
        params,
        variadic: false,
        is_const: mutability == Mutability::Fixed,
        called_on: None,
        initializers: Vec::new(),
        body: Some(body),
    };
    let closure = Record {
        name: Name { text: String::new(), span },
        outer: Vec::new(),
        is_union: false,
        template: None,
        specialization: None,
        qualifiers: Vec::new(),
        bases: Vec::new(),
        members: Some(vec![Item { kind: ItemKind::Function(Box::new(function)), span }]),
    };
    Lambda { default: list.default, captures: list.captures, closure }
}

fn one_name(text: &str, span: Span) -> Path {
    let name = Name { text: text.to_owned(), span };
    Path { global: false, segments: vec![PathSegment { name, args: None }] }
}

/// Puts the name of a template parameter in the place of `auto`; gives the name.
fn generic(ty: &mut Type, position: usize) -> Option<Name> {
    match &mut ty.kind {
        TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) => generic(inner, position),
        TypeKind::Auto => {
            // A space keeps it apart from all names that can be written.
            let path = one_name(&format!("auto {position}"), ty.span);
            let name = path.segments[0].name.clone();
            ty.kind = TypeKind::Named(path);
            Some(name)
        }
        _ => None,
    }
}

/// `({ … })`. A jump out of it is not understood.
pub fn statement_expression(mut body: Vec<Stmt>, span: Span) -> ExprKind {
    if body.iter().any(|stmt| jumps(stmt, Inside::Nothing)) {
        return ExprKind::Unsupported("statement expression that jumps out of itself".to_owned());
    }
    if let Some(last) = body.last_mut()
        && let StmtKind::Expr(_) = last.kind
        && let StmtKind::Expr(value) = std::mem::replace(&mut last.kind, StmtKind::Empty)
    {
        last.kind = StmtKind::Return(Some(value));
    }
    let list = CaptureList { default: Some(CaptureMode::Reference), captures: Vec::new() };
    let mutability = Mutability::Fixed;
    let call = CallOperator { template: None, params: Vec::new(), mutability, result: None, body, span };
    ExprKind::Statements(Box::new(closure(list, call)))
}

/// What a jump may end without leaving the statement expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Switch,
    Loop,
}

/// Whether control may leave a statement other than by its end. What is not understood may.
fn jumps(stmt: &Stmt, inside: Inside) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Unsupported(_) => true,
        StmtKind::Break => inside == Inside::Nothing,
        StmtKind::Continue => inside != Inside::Loop,
        StmtKind::Block(stmts) => stmts.iter().any(|stmt| jumps(stmt, inside)),
        StmtKind::If { init, then, otherwise, .. } => {
            let parts = [init, otherwise].into_iter().flatten().chain([then]);
            parts.into_iter().any(|part| jumps(part, inside))
        }
        StmtKind::For { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::Do { body, .. } => jumps(body, Inside::Loop),
        StmtKind::Switch { body, .. } => jumps(body, if inside == Inside::Loop { inside } else { Inside::Switch }),
        _ => false,
    }
}
