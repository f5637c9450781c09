//! What the tree of a function holds: the tokens that a node carries or excuses, and how many nodes there are of each
//! sort.
//!
//! Every `match` here names all variants: a new one does not compile before it is said what it holds.

use super::places::Places;
use crate::source::Span;
use crate::syntax::{
    BinaryOp, Capture, CastKind, Designator, Enum, Expr, ExprKind, FoldOp, Function, Init, Item, ItemKind, Lambda,
    Name, Param, Path, PathSegment, PostfixOp, Qualifier, Record, Stmt, StmtKind, TemplateArg, TemplateParam,
    TemplateParamKind, Type, TypeKind, UnaryOp, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a token needs no node of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Cover {
    #[default]
    Nothing,
    /// It lies in inline assembly, of which constraints, clobbers and names of operands are not kept.
    Assembly,
    /// It may be the message of a `static_assert`.
    Message,
    /// A node carries it, or says that it is not understood.
    Node,
}

/// What a tree holds.
pub(super) struct Held {
    covers: Vec<Cover>,
    counts: FxHashMap<&'static str, usize>,
    /// Qualifiers that are kept by name.
    others: FxHashSet<String>,
}

impl Held {
    pub(super) fn of(function: &Function, places: &Places) -> Held {
        let covers = vec![Cover::Nothing; places.count];
        let held = Held { covers, counts: FxHashMap::default(), others: FxHashSet::default() };
        let mut walk = Walk { held, places };
        walk.function(function);
        walk.held
    }

    pub(super) fn covers(&self, at: usize) -> bool {
        self.covers[at] == Cover::Node
    }

    pub(super) fn is_assembly(&self, at: usize) -> bool {
        self.covers[at] == Cover::Assembly
    }

    pub(super) fn is_message(&self, at: usize) -> bool {
        self.covers[at] == Cover::Message
    }

    pub(super) fn has_qualifier(&self, name: &str) -> bool {
        self.others.contains(name)
    }

    pub(super) fn count(&self, word: &str) -> usize {
        self.counts.get(word).copied().unwrap_or(0)
    }
}

struct Walk<'a> {
    held: Held,
    places: &'a Places,
}

impl Walk<'_> {
    fn cover(&mut self, span: Span, cover: Cover) {
        for at in self.places.tokens_of(span) {
            self.held.covers[at] = self.held.covers[at].max(cover);
        }
    }

    fn count(&mut self, word: &'static str) {
        *self.held.counts.entry(word).or_default() += 1;
    }

    fn name(&mut self, name: &Name) {
        if !name.text.is_empty() {
            self.cover(name.span, Cover::Node);
        }
    }

    fn function(&mut self, function: &Function) {
        self.path(&function.path);
        self.callable(function);
    }

    /// What a function holds beside its name.
    fn callable(&mut self, function: &Function) {
        let Function {
            path: _,
            template,
            qualifiers,
            result,
            params,
            initializers,
            body,
            variadic: _,
            is_const: _,
            called_on: _,
        } = function;
        self.template_params(template.as_deref().unwrap_or_default());
        self.qualifiers(qualifiers);
        result.iter().for_each(|result| self.ty(result));
        self.params(params);
        for (name, values) in initializers {
            self.name(name);
            self.exprs(values);
        }
        self.stmts(body.as_deref().unwrap_or_default());
    }

    fn params(&mut self, params: &[Param]) {
        for Param { name, ty, qualifiers, default, pack: _ } in params {
            self.name(name);
            self.ty(ty);
            self.qualifiers(qualifiers);
            default.iter().for_each(|default| self.expr(default));
        }
    }

    fn template_params(&mut self, params: &[TemplateParam]) {
        for TemplateParam { name, kind, pack: _ } in params {
            self.name(name);
            match kind {
                TemplateParamKind::Type(default) | TemplateParamKind::Template(default) => {
                    default.iter().for_each(|default| self.ty(default));
                }
                TemplateParamKind::Value(ty, default) => {
                    self.ty(ty);
                    default.iter().for_each(|default| self.expr(default));
                }
            }
        }
    }

    fn qualifiers(&mut self, qualifiers: &[Qualifier]) {
        for qualifier in qualifiers {
            if let Some(word) = super::counted_qualifier(qualifier) {
                self.count(word);
            }
            if let Qualifier::Other(name) = qualifier {
                self.held.others.insert(name.clone());
            }
            if let Qualifier::Attribute(name, values) = qualifier {
                if let Some(word) = super::matters(name.trim_matches('_')) {
                    self.count(word);
                }
                self.exprs(values);
            }
        }
    }

    fn path(&mut self, path: &Path) {
        path.segments.iter().for_each(|segment| self.segment(segment));
    }

    fn segment(&mut self, PathSegment { name, args }: &PathSegment) {
        self.name(name);
        args.iter().flatten().for_each(|argument| self.template_arg(argument));
    }

    fn template_arg(&mut self, argument: &TemplateArg) {
        match argument {
            TemplateArg::Type(ty) => self.ty(ty),
            TemplateArg::Value(value) => self.expr(value),
            TemplateArg::Expansion(pattern) => self.template_arg(pattern),
        }
    }

    fn ty(&mut self, ty: &Type) {
        self.qualifiers(&ty.qualifiers);
        match &ty.kind {
            TypeKind::Builtin(_) | TypeKind::Unsupported(_) => self.cover(ty.span, Cover::Node),
            TypeKind::Named(path) => self.path(path),
            TypeKind::Auto => {}
            TypeKind::DecltypeAuto => self.count("decltype"),
            TypeKind::Decltype(value) | TypeKind::DecltypeOfValue(value) | TypeKind::Typeof(value) => {
                self.count("decltype");
                self.expr(value);
            }
            TypeKind::Record(record) => self.record(record),
            TypeKind::Enum(enumeration) => self.enumeration(enumeration),
            TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) => self.ty(inner),
            TypeKind::Array(inner, length) => {
                self.ty(inner);
                length.iter().for_each(|length| self.expr(length));
            }
            TypeKind::Function(result, params) => {
                self.ty(result);
                self.params(params);
            }
        }
    }

    fn record(&mut self, record: &Record) {
        let Record { name, outer, is_union: _, template, specialization, qualifiers, bases, members } = record;
        outer.iter().for_each(|segment| self.segment(segment));
        self.name(name);
        self.template_params(template.as_deref().unwrap_or_default());
        specialization.iter().flatten().for_each(|argument| self.template_arg(argument));
        self.qualifiers(qualifiers);
        bases.iter().for_each(|base| self.ty(base));
        members.iter().flatten().for_each(|member| self.item(member));
    }

    fn enumeration(&mut self, enumeration: &Enum) {
        let Enum { name, scoped: _, underlying, constants } = enumeration;
        self.name(name);
        underlying.iter().for_each(|underlying| self.ty(underlying));
        for (name, value) in constants {
            self.name(name);
            value.iter().for_each(|value| self.expr(value));
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Function(function) => self.function(function),
            ItemKind::Variables(variables) => variables.iter().for_each(|variable| self.variable(variable)),
            ItemKind::Record(record) => self.record(record),
            ItemKind::Enum(enumeration) => self.enumeration(enumeration),
            ItemKind::Alias { name, template, ty } => {
                self.name(name);
                self.template_params(template);
                self.ty(ty);
            }
            ItemKind::Namespace { name, items, .. } => {
                self.name(name);
                items.iter().for_each(|item| self.item(item));
            }
            ItemKind::UsingNamespace(path) | ItemKind::RecordInstantiation(path) => self.path(path),
            ItemKind::UsingName { name, path } => {
                self.name(name);
                self.path(path);
            }
            ItemKind::ExplicitInstantiation { path, params } => {
                self.path(path);
                self.params(params);
            }
            ItemKind::StaticAssert(value) => {
                self.count("static_assert");
                self.cover(item.span, Cover::Message);
                self.expr(value);
            }
            ItemKind::Unsupported(_) => self.cover(item.span, Cover::Node),
        }
    }

    fn variable(&mut self, variable: &Variable) {
        let Variable { name, outer, ty, template, qualifiers, init, bits, span: _ } = variable;
        outer.iter().for_each(|segment| self.segment(segment));
        self.name(name);
        self.ty(ty);
        self.template_params(template);
        self.qualifiers(qualifiers);
        match init {
            Some(Init::Value(value)) => self.expr(value),
            Some(Init::Call(values) | Init::List(values)) => self.exprs(values),
            None => {}
        }
        bits.iter().for_each(|bits| self.expr(bits));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Expr(value) => self.expr(value),
            StmtKind::If { init, cond, is_constexpr: _, then, otherwise } => {
                self.count("if");
                init.iter().for_each(|init| self.stmt(init));
                self.expr(cond);
                self.stmt(then);
                if let Some(otherwise) = otherwise {
                    self.count("else");
                    self.stmt(otherwise);
                }
            }
            StmtKind::For { init, cond, step, body } => {
                self.count("for");
                init.iter().for_each(|init| self.stmt(init));
                cond.iter().chain(step).for_each(|part| self.expr(part));
                self.stmt(body);
            }
            StmtKind::RangeFor { variable, range, body } => {
                self.count("for");
                self.variable(variable);
                self.expr(range);
                self.stmt(body);
            }
            StmtKind::While { cond, body } => {
                self.count("while");
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::Do { body, cond } => {
                self.count("do");
                self.count("while");
                self.stmt(body);
                self.expr(cond);
            }
            StmtKind::Switch { value, body } => {
                self.count("switch");
                self.expr(value);
                self.stmt(body);
            }
            StmtKind::Case(Some(value)) => {
                self.count("case");
                self.expr(value);
            }
            StmtKind::Case(None) => self.count("default"),
            StmtKind::Break => self.count("break"),
            StmtKind::Continue => self.count("continue"),
            StmtKind::Return(value) => {
                self.count("return");
                value.iter().for_each(|value| self.expr(value));
            }
            StmtKind::Empty => {}
            StmtKind::Asm { text: _, outputs, inputs, clobbers_memory: _ } => {
                self.count("asm");
                self.cover(stmt.span, Cover::Assembly);
                self.exprs(outputs);
                self.exprs(inputs);
            }
            StmtKind::Unsupported(_) => self.cover(stmt.span, Cover::Node),
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Char(..)
            | ExprKind::String(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Unsupported(_) => self.cover(expr.span, Cover::Node),
            ExprKind::Path(path) => self.path(path),
            ExprKind::Unary(op, operand) => {
                self.unary(*op);
                self.expr(operand);
            }
            ExprKind::Postfix(op, operand) => {
                self.count(match op {
                    PostfixOp::Increment => "++",
                    PostfixOp::Decrement => "--",
                });
                self.expr(operand);
            }
            ExprKind::Binary(op, left, right) => {
                self.binary(*op);
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Assign(op, left, right) => {
                op.iter().for_each(|op| self.compound(*op));
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(cond, yes, no) => {
                self.count("?");
                [cond, yes, no].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Comma(first, second) | ExprKind::Index(first, second) => {
                self.expr(first);
                self.expr(second);
            }
            ExprKind::Call(callee, values) => {
                self.expr(callee);
                self.exprs(values);
            }
            ExprKind::Member { object, arrow: _, member } => {
                self.expr(object);
                self.segment(member);
            }
            ExprKind::Cast(kind, ty, operand) => {
                match kind {
                    CastKind::C => {}
                    CastKind::Static => self.count("static_cast"),
                    CastKind::Reinterpret => self.count("reinterpret_cast"),
                    CastKind::Const => self.count("const_cast"),
                    CastKind::Dynamic => self.count("dynamic_cast"),
                }
                self.ty(ty);
                self.expr(operand);
            }
            ExprKind::Construct(ty, values) => {
                self.ty(ty);
                self.exprs(values);
            }
            ExprKind::SizeofType(ty) => {
                self.count("sizeof");
                self.ty(ty);
            }
            ExprKind::SizeofExpr(operand) => {
                self.count("sizeof");
                self.expr(operand);
            }
            ExprKind::InitList(entries) => {
                for (designator, value) in entries {
                    match designator {
                        Some(Designator::Field(name)) => self.name(name),
                        Some(Designator::Index(index)) => self.expr(index),
                        None => {}
                    }
                    self.expr(value);
                }
            }
            ExprKind::Launch { kernel, config, args } => {
                self.expr(kernel);
                self.exprs(config);
                self.exprs(args);
            }
            ExprKind::Lambda(lambda) | ExprKind::Statements(lambda) => self.lambda(lambda),
            ExprKind::Expansion(pattern) => self.expr(pattern),
            ExprKind::SizeofPack(name) => {
                self.count("sizeof");
                self.name(name);
            }
            ExprKind::Fold(fold) => {
                // With an operand of its own the operator stands on both sides of the dots.
                for _ in 0..1 + usize::from(fold.left.is_some() && fold.right.is_some()) {
                    match fold.op {
                        FoldOp::Binary(op) => self.binary(op),
                        FoldOp::Assign(op) => op.iter().for_each(|op| self.compound(*op)),
                        FoldOp::Comma => {}
                    }
                }
                fold.left.iter().chain(&fold.right).for_each(|part| self.expr(part));
            }
        }
    }

    fn lambda(&mut self, Lambda { default: _, captures, closure }: &Lambda) {
        for Capture { name, mode: _, init } in captures {
            self.name(name);
            init.iter().for_each(|init| self.expr(init));
        }
        for member in closure.members.iter().flatten() {
            match &member.kind {
                // Its name is not written: where it is said to stand, the whole lambda does.
                ItemKind::Function(function) => self.callable(function),
                _ => self.item(member),
            }
        }
    }

    fn unary(&mut self, op: UnaryOp) {
        match op {
            UnaryOp::Plus => self.count("+"),
            UnaryOp::Minus => self.count("-"),
            UnaryOp::Not => self.count("!"),
            UnaryOp::BitNot => self.count("~"),
            UnaryOp::PreIncrement => self.count("++"),
            UnaryOp::PreDecrement => self.count("--"),
            UnaryOp::Deref | UnaryOp::AddressOf => {}
        }
    }

    fn binary(&mut self, op: BinaryOp) {
        self.count(match op {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Or => "||",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            // Written in too many other ways to be counted.
            BinaryOp::Mul
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::BitAnd
            | BinaryOp::And
            | BinaryOp::Lt
            | BinaryOp::Gt => return,
        });
    }

    fn compound(&mut self, op: BinaryOp) {
        self.count(match op {
            BinaryOp::Add => "+=",
            BinaryOp::Sub => "-=",
            BinaryOp::Mul => "*=",
            BinaryOp::Div => "/=",
            BinaryOp::Rem => "%=",
            BinaryOp::Shl => "<<=",
            BinaryOp::Shr => ">>=",
            BinaryOp::BitAnd => "&=",
            BinaryOp::BitOr => "|=",
            BinaryOp::BitXor => "^=",
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => return,
        });
    }
}
