//! The walk through a template that expands patterns and gives names of packs their elements.

use crate::source::Span;
use crate::syntax::{
    BinaryOp, CastKind, Designator, Enum, Expr, ExprKind, Fold, FoldOp, Function, Init, Item, ItemKind, Lambda, Name,
    Param, Path, Qualifier, Record, Stmt, StmtKind, TemplateArg, TemplateParam, TemplateParamKind, Type, TypeKind,
    Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// A name for an element of a pack.
pub(super) fn element(pack: &Name, at: usize) -> Name {
    Name { text: format!("{}#{at}", pack.text), span: pack.span }
}

#[derive(Default)]
pub(super) struct Walk {
    packs: BTreeMap<String, Pack>,
    /// The packs that were met, where a pattern is only looked at.
    seen: Option<BTreeSet<String>>,
    /// Whether a name of a pack was met that means something else, or that nothing expands.
    is_confused: bool,
}

#[derive(Clone, Copy)]
struct Pack {
    length: usize,
    /// The element that it stands for, inside of a pattern.
    at: Option<usize>,
}

/// What the walk knows.
impl Walk {
    pub(super) fn add(&mut self, name: &Name, length: usize) {
        if !name.text.is_empty() {
            self.packs.insert(name.text.clone(), Pack { length, at: None });
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        !self.is_confused
    }

    /// What a pattern is for each element of the packs in it; `None` where these are not known or not equally long.
    pub(super) fn expanded<T: Clone>(&mut self, pattern: &T, visit: fn(&mut Walk, &mut T)) -> Option<Vec<T>> {
        self.seen = Some(BTreeSet::new());
        visit(self, &mut pattern.clone());
        let names = self.seen.take().unwrap_or_default();
        let lengths: BTreeSet<usize> = names.iter().map(|name| self.packs[name].length).collect();
        let &[length] = lengths.into_iter().collect::<Vec<_>>().as_slice() else { return None };
        let outer: Vec<(String, Pack)> = names.into_iter().map(|name| (name.clone(), self.packs[&name])).collect();
        let mut found = Vec::with_capacity(length);
        for at in 0..length {
            for (name, pack) in &outer {
                self.packs.insert(name.clone(), Pack { at: Some(at), ..*pack });
            }
            let mut one = pattern.clone();
            visit(self, &mut one);
            found.push(one);
        }
        self.packs.extend(outer);
        Some(found)
    }

    /// A name that is used.
    fn used(&mut self, name: &mut Name) {
        let Some(pack) = self.packs.get(&name.text) else { return };
        match (&mut self.seen, pack.at) {
            (Some(seen), _) => {
                seen.insert(name.text.clone());
            }
            (None, Some(at)) => *name = element(name, at),
            (None, None) => self.is_confused = true,
        }
    }

    /// A name that is declared inside.
    fn declared(&mut self, name: &Name) {
        self.is_confused |= self.packs.contains_key(&name.text);
    }

    fn is_looking(&self) -> bool {
        self.seen.is_some()
    }
}

/// Lists, in which patterns are expanded.
impl Walk {
    fn exprs(&mut self, values: &mut Vec<Expr>) {
        for mut value in std::mem::take(values) {
            match &value.kind {
                ExprKind::Expansion(_) if self.is_looking() => {}
                ExprKind::Expansion(pattern) => match self.expanded(&**pattern, Walk::expr) {
                    Some(expanded) => values.extend(expanded),
                    None => values.push(value),
                },
                _ => {
                    self.expr(&mut value);
                    values.push(value);
                }
            }
        }
    }

    fn args(&mut self, args: &mut Vec<TemplateArg>) {
        for mut argument in std::mem::take(args) {
            match &argument {
                TemplateArg::Expansion(_) if self.is_looking() => {}
                TemplateArg::Expansion(pattern) => match self.expanded(&**pattern, Walk::arg) {
                    Some(expanded) => args.extend(expanded),
                    None => args.push(argument),
                },
                _ => {
                    self.arg(&mut argument);
                    args.push(argument);
                }
            }
        }
    }

    fn entries(&mut self, entries: &mut Vec<(Option<Designator>, Expr)>) {
        for (mut designator, value) in std::mem::take(entries) {
            if let Some(Designator::Index(index)) = &mut designator {
                self.expr(index);
            }
            let mut values = vec![value];
            self.exprs(&mut values);
            entries.extend(values.into_iter().map(|value| (designator.clone(), value)));
        }
    }
}

/// Expressions.
impl Walk {
    pub(super) fn expr(&mut self, value: &mut Expr) {
        use ExprKind as Kind;
        let span = value.span;
        match &mut value.kind {
            Kind::Int { .. }
            | Kind::Float(_)
            | Kind::Char(..)
            | Kind::String(_)
            | Kind::Bool(_)
            | Kind::Null
            | Kind::This
            | Kind::Unsupported(_)
            // Alone it is no expression.
            | Kind::Expansion(_) => {}
            Kind::Path(path) => self.path(path),
            Kind::Unary(_, inner) | Kind::Postfix(_, inner) | Kind::SizeofExpr(inner) => self.expr(inner),
            Kind::Binary(_, left, right)
            | Kind::Assign(_, left, right)
            | Kind::Comma(left, right)
            | Kind::Index(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            Kind::Conditional(condition, yes, no) => {
                self.expr(condition);
                self.expr(yes);
                self.expr(no);
            }
            Kind::Call(callee, args) => {
                self.expr(callee);
                self.exprs(args);
            }
            Kind::Member { object, member, .. } => {
                self.expr(object);
                member.args.iter_mut().for_each(|args| self.args(args));
            }
            Kind::Cast(_, ty, inner) => {
                self.ty(ty);
                self.expr(inner);
            }
            Kind::Construct(ty, args) => {
                self.ty(ty);
                self.exprs(args);
            }
            Kind::SizeofType(ty) => self.ty(ty),
            Kind::InitList(entries) => self.entries(entries),
            Kind::Launch { kernel, config, args } => {
                self.expr(kernel);
                self.exprs(config);
                self.exprs(args);
            }
            Kind::Lambda(lambda) | Kind::Statements(lambda) => self.lambda(lambda),
            Kind::SizeofPack(name) => {
                if let Some(pack) = self.packs.get(&name.text) {
                    let value_of_it = pack.length as u64;
                    value.kind = Kind::Int { value: value_of_it, suffix: "ul".to_owned(), decimal: true };
                }
            }
            Kind::Fold(fold) => {
                // What is repeated is expanded by the fold, whatever it stands in.
                if !self.is_looking()
                    && let Some(folded) = self.folded(fold, span)
                {
                    *value = folded;
                }
            }
        }
    }

    /// A fold expression with its elements.
    fn folded(&mut self, fold: &Fold, span: Span) -> Option<Expr> {
        let [left, right] = [&fold.left, &fold.right].map(|side| {
            let pattern = side.as_ref()?;
            self.expanded(pattern, Walk::expr)
        });
        let (elements, mut init, side) = match (left, right) {
            (Some(elements), None) => (elements, fold.right.clone(), Side::Right),
            (None, Some(elements)) => (elements, fold.left.clone(), Side::Left),
            _ => return None,
        };
        init.iter_mut().for_each(|init| self.expr(init));
        combined(fold.op, elements, init, side, span)
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        for capture in &mut lambda.captures {
            match &mut capture.init {
                Some(init) => {
                    self.expr(init);
                    self.declared(&capture.name);
                }
                None => self.used(&mut capture.name),
            }
        }
        self.record(&mut lambda.closure);
    }

    fn init(&mut self, init: Option<&mut Init>) {
        match init {
            Some(Init::Value(value)) => self.expr(value),
            Some(Init::Call(values) | Init::List(values)) => self.exprs(values),
            None => {}
        }
    }
}

/// Names and types.
impl Walk {
    fn path(&mut self, path: &mut Path) {
        if let [first, ..] = path.segments.as_mut_slice()
            && !path.global
        {
            self.used(&mut first.name);
        }
        path.segments.iter_mut().filter_map(|segment| segment.args.as_mut()).for_each(|args| self.args(args));
    }

    fn arg(&mut self, argument: &mut TemplateArg) {
        match argument {
            TemplateArg::Type(ty) => self.ty(ty),
            TemplateArg::Value(value) => self.expr(value),
            TemplateArg::Expansion(_) => {}
        }
    }

    pub(super) fn ty(&mut self, ty: &mut Type) {
        self.qualifiers(&mut ty.qualifiers);
        match &mut ty.kind {
            TypeKind::Builtin(_) | TypeKind::Auto | TypeKind::DecltypeAuto | TypeKind::Unsupported(_) => {}
            TypeKind::Named(path) => self.path(path),
            TypeKind::Decltype(value) | TypeKind::DecltypeOfValue(value) | TypeKind::Typeof(value) => self.expr(value),
            TypeKind::Record(record) => self.record(record),
            TypeKind::Enum(of) => self.enumeration(of),
            TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) => self.ty(inner),
            TypeKind::Array(inner, length) => {
                self.ty(inner);
                length.iter_mut().for_each(|length| self.expr(length));
            }
            TypeKind::Function(result, params) => {
                self.ty(result);
                for mut param in std::mem::take(params) {
                    if !param.pack {
                        self.ty(&mut param.ty);
                        params.push(param);
                    } else if !self.is_looking() {
                        match self.expanded(&param.ty, Walk::ty) {
                            Some(types) => {
                                params.extend(types.into_iter().map(|ty| Param { ty, pack: false, ..param.clone() }));
                            }
                            None => params.push(param),
                        }
                    }
                }
            }
        }
    }

    fn qualifiers(&mut self, qualifiers: &mut [Qualifier]) {
        for qualifier in qualifiers {
            if let Qualifier::Attribute(_, values) = qualifier {
                self.exprs(values);
            }
        }
    }
}

/// Declarations.
impl Walk {
    pub(super) fn template_param(&mut self, param: &mut TemplateParam) {
        match &mut param.kind {
            TemplateParamKind::Type(default) | TemplateParamKind::Template(default) => {
                default.iter_mut().for_each(|default| self.ty(default));
            }
            TemplateParamKind::Value(ty, default) => {
                self.ty(ty);
                default.iter_mut().for_each(|default| self.expr(default));
            }
        }
    }

    pub(super) fn param(&mut self, param: &mut Param) {
        self.declared(&param.name);
        self.ty(&mut param.ty);
        self.qualifiers(&mut param.qualifiers);
        param.default.iter_mut().for_each(|default| self.expr(default));
    }

    /// All of a function but its parameters.
    pub(super) fn function(&mut self, function: &mut Function) {
        self.qualifiers(&mut function.qualifiers);
        function.result.iter_mut().for_each(|result| self.ty(result));
        for (_, values) in &mut function.initializers {
            self.exprs(values);
        }
        function.body.iter_mut().for_each(|body| self.stmts(body));
    }

    fn inner_function(&mut self, function: &mut Function) {
        for param in function.template.iter_mut().flatten() {
            self.declared(&param.name);
            self.template_param(param);
        }
        function.params.iter_mut().for_each(|param| self.param(param));
        self.function(function);
    }

    pub(super) fn declaration(&mut self, variable: &mut Variable) {
        self.declared(&variable.name);
        self.ty(&mut variable.ty);
        self.qualifiers(&mut variable.qualifiers);
        self.init(variable.init.as_mut());
        variable.bits.iter_mut().for_each(|bits| self.expr(bits));
    }

    fn enumeration(&mut self, of: &mut Enum) {
        self.declared(&of.name);
        for (name, value) in &mut of.constants {
            self.declared(name);
            value.iter_mut().for_each(|value| self.expr(value));
        }
    }

    fn record(&mut self, record: &mut Record) {
        self.declared(&record.name);
        record.template.iter().flatten().for_each(|param| self.declared(&param.name));
        record.bases.iter_mut().for_each(|base| self.ty(base));
        record.specialization.iter_mut().for_each(|args| self.args(args));
        record.members.iter_mut().flatten().for_each(|member| self.item(member));
    }

    fn item(&mut self, item: &mut Item) {
        match &mut item.kind {
            ItemKind::Function(function) => self.inner_function(function),
            ItemKind::Variables(variables) => variables.iter_mut().for_each(|variable| self.declaration(variable)),
            ItemKind::Record(record) => self.record(record),
            ItemKind::Enum(of) => self.enumeration(of),
            ItemKind::Alias { name, template, ty } => {
                self.declared(name);
                template.iter().for_each(|param| self.declared(&param.name));
                self.ty(ty);
            }
            ItemKind::UsingName { path, .. } | ItemKind::UsingNamespace(path) => self.path(path),
            ItemKind::StaticAssert(claim) => self.expr(claim),
            ItemKind::Namespace { .. }
            | ItemKind::ExplicitInstantiation { .. }
            | ItemKind::RecordInstantiation(_)
            | ItemKind::Unsupported(_) => {}
        }
    }
}

/// Statements.
impl Walk {
    fn stmts(&mut self, stmts: &mut [Stmt]) {
        stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Expr(value) => self.expr(value),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                init.iter_mut().for_each(|init| self.stmt(init));
                self.expr(cond);
                self.stmt(then);
                otherwise.iter_mut().for_each(|otherwise| self.stmt(otherwise));
            }
            StmtKind::For { init, cond, step, body } => {
                init.iter_mut().for_each(|init| self.stmt(init));
                cond.iter_mut().chain(step).for_each(|value| self.expr(value));
                self.stmt(body);
            }
            StmtKind::RangeFor { variable, range, body } => {
                self.declaration(variable);
                self.expr(range);
                self.stmt(body);
            }
            StmtKind::While { cond, body } | StmtKind::Do { cond, body } => {
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::Switch { value, body } => {
                self.expr(value);
                self.stmt(body);
            }
            StmtKind::Case(value) | StmtKind::Return(value) => value.iter_mut().for_each(|value| self.expr(value)),
            StmtKind::Asm { outputs, inputs, .. } => {
                outputs.iter_mut().chain(inputs).for_each(|value| self.expr(value))
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Empty | StmtKind::Unsupported(_) => {}
        }
    }
}

/// Which end of a fold expression is folded first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// `(... + e)`, `(init + ... + e)`
    Left,
    /// `(e + ...)`, `(e + ... + init)`
    Right,
}

/// Elements with an operator between them ([expr.prim.fold]); `None` of no elements where that is an error.
fn combined(op: FoldOp, elements: Vec<Expr>, init: Option<Expr>, side: Side, span: Span) -> Option<Expr> {
    let two = |left: Expr, right: Expr| {
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match op {
            FoldOp::Binary(op) => ExprKind::Binary(op, left, right),
            FoldOp::Assign(op) => ExprKind::Assign(op, left, right),
            FoldOp::Comma => ExprKind::Comma(left, right),
        };
        Expr { kind, span }
    };
    let mut operands: Vec<Expr> = match side {
        Side::Left => init.into_iter().chain(elements).collect(),
        Side::Right => elements.into_iter().chain(init).collect(),
    };
    if operands.is_empty() {
        let kind = match op {
            FoldOp::Binary(BinaryOp::And) => ExprKind::Bool(true),
            FoldOp::Binary(BinaryOp::Or) => ExprKind::Bool(false),
            FoldOp::Comma => {
                let void = Type { kind: TypeKind::Builtin("void".to_owned()), qualifiers: Vec::new(), span };
                let zero = ExprKind::Int { value: 0, suffix: String::new(), decimal: true };
                ExprKind::Cast(CastKind::C, Box::new(void), Box::new(Expr { kind: zero, span }))
            }
            _ => return None,
        };
        return Some(Expr { kind, span });
    }
    match side {
        Side::Left => operands.into_iter().reduce(two),
        Side::Right => {
            let last = operands.pop()?;
            Some(operands.into_iter().rev().fold(last, |folded, each| two(each, folded)))
        }
    }
}
