//! What host code does to its variables: which it changes, and which it hands to something that may change them.
//!
//! A variable that is only read keeps what it holds. Everything else is a change: an assignment changes it where it
//! stands, and a reference or an address that is taken of it lets others change it from there on, whoever they are.
//! That an argument is only read, the declaration of what is called says, or the lists of libraries
//! ([`host`]); a call of anything else may keep a reference to each variable that it is given. So may a
//! constructor.
//!
//! Guarantees: a variable that is not named here is changed by nothing but what [`ANYTHING`] stands for.
//!
//! Deliberately absent: the types of expressions. A variable is known by its name, and those of one name share what is
//! done to each of them.

use super::api::addressed;
use super::changes::{ANYTHING, Changes, is_for_launches, roots};
use crate::builtins::host::{self, Takes};
use crate::resolve::program::{RecordId, Type, TypeId};
use crate::resolve::{Declared, FunctionDecl, Undeclared};
use crate::source::Span;
use crate::syntax::parts::{init_parts, parts_of, parts_of_stmt, path_text, stmts_of_lambda};
use crate::syntax::{self, BinaryOp, ExprKind, Item, ItemKind, StmtKind, TemplateArg, TypeKind, UnaryOp};
use crate::work;
use rustc_hash::FxHashMap;

/// Records inside of records beyond which nothing is claimed.
const NESTING: usize = 6;

/// What is not read, and changes no variable: the operands of most of it are not evaluated.
const HARMLESS: [&str; 7] = ["delete", "throw", "typeid", "alignof", "offsetof", "noexcept", "requires"];

/// What a place does with the object that an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It takes its value.
    Read,
    /// It may keep a reference to it, and change it from here on.
    Bind,
}

impl Use {
    fn of_all(uses: impl IntoIterator<Item = Use>) -> Use {
        if uses.into_iter().any(|it| it == Use::Bind) { Use::Bind } else { Use::Read }
    }
}

/// The methods that a unit declares, by name.
pub(super) type Methods<'u> = FxHashMap<&'u str, Vec<&'u syntax::Function>>;

/// What is needed to see what a place does to variables.
pub(super) struct Effects<'a, 'u> {
    pub(super) names: &'a mut Declared<'u>,
    pub(super) methods: &'a Methods<'u>,
}

impl<'u> Effects<'_, 'u> {
    /// Collects the names of variables that a statement may change.
    pub(super) fn changed_in_stmt(&mut self, stmt: &'u syntax::Stmt, changed: &mut Changes<'u>) {
        let mut open = vec![stmt];
        while let Some(stmt) = open.pop() {
            let (exprs, stmts) = parts_of_stmt(stmt);
            match &stmt.kind {
                StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) => {
                    variables.iter().for_each(|variable| self.changed_in_variable(variable, changed));
                }
                StmtKind::RangeFor { variable, range, .. } => {
                    // The elements are named by the variable; a copy of them changes nothing.
                    let wanted = match variable.ty.kind {
                        TypeKind::Reference(..) | TypeKind::Unsupported(_) => Use::Bind,
                        _ => Use::Read,
                    };
                    self.changed_by(range, wanted, changed);
                }
                StmtKind::Asm { outputs, inputs, .. } => {
                    outputs.iter().for_each(|value| self.changed_by(value, Use::Bind, changed));
                    inputs.iter().for_each(|value| self.changed_by(value, Use::Read, changed));
                }
                StmtKind::Unsupported(reason) => {
                    changed.has_jumps |= reason.contains("goto");
                    self.changed_unread(reason, stmt.span, changed);
                }
                StmtKind::Item(Item { kind: ItemKind::Unsupported(_), .. }) => changed.add(ANYTHING, stmt.span),
                _ => exprs.into_iter().for_each(|value| self.changed_by(value, Use::Read, changed)),
            }
            open.extend(stmts);
        }
    }

    /// Collects the names of variables that the initialiser of a variable may change.
    pub(super) fn changed_in_variable(&mut self, variable: &'u syntax::Variable, changed: &mut Changes<'u>) {
        let wanted = self.initial_use(variable, changed);
        for value in init_parts(variable.init.as_ref()) {
            if !is_for_launches(variable, changed) {
                self.changed_by(value, wanted, changed);
            }
        }
    }

    /// Collects the names of variables that the evaluation of an expression may change.
    pub(super) fn changed_in_expr(&mut self, value: &'u syntax::Expr, changed: &mut Changes<'u>) {
        self.changed_by(value, Use::Read, changed);
    }

    fn changed_by(&mut self, value: &'u syntax::Expr, wanted: Use, changed: &mut Changes<'u>) {
        let mut open = vec![(value, wanted)];
        while let Some((value, wanted)) = open.pop() {
            work::spend(1);
            match &value.kind {
                // An object as a whole is read by a function of its class, which may change it.
                ExprKind::Path(path) => {
                    let is_bound = wanted == Use::Bind || self.may_be_object(value, changed);
                    if let Some(last) = path.segments.last().filter(|_| is_bound) {
                        changed.leak(&last.name.text, value.span);
                    }
                }
                ExprKind::Unary(UnaryOp::AddressOf, target) => {
                    let is_read = roots(target).iter().any(|name| changed.is_for_launches(name));
                    open.push((target, if is_read { Use::Read } else { Use::Bind }));
                }
                ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, target)
                | ExprKind::Postfix(_, target) => {
                    changed.add_target(target, value.span);
                    open.push((target, wanted));
                }
                ExprKind::Assign(_, target, given) => {
                    changed.add_target(target, value.span);
                    open.push((target, wanted));
                    open.push((given, if self.may_be_object(target, changed) { Use::Bind } else { Use::Read }));
                }
                ExprKind::Binary(op, left, right) => {
                    let (one, other) = (self.may_be_object(left, changed), self.may_be_object(right, changed));
                    let reads_into = *op == BinaryOp::Shr && may_be_stream(left, changed);
                    open.push((left, if other { Use::Bind } else { Use::Read }));
                    open.push((right, if one || reads_into { Use::Bind } else { Use::Read }));
                }
                ExprKind::Conditional(cond, one, other) => {
                    open.extend([(&**cond, Use::Read), (&**one, wanted), (&**other, wanted)]);
                }
                ExprKind::Comma(first, last) => {
                    let calls = self.may_be_object(first, changed) || self.may_be_object(last, changed);
                    open.extend([(&**first, Use::Read), (&**last, if calls { Use::Bind } else { wanted })]);
                }
                ExprKind::Index(array, index) => {
                    let calls = self.may_be_object(array, changed);
                    open.extend([(&**array, wanted), (&**index, if calls { Use::Bind } else { Use::Read })]);
                }
                // A field that is read changes nothing of the object that it is of.
                ExprKind::Member { object, arrow, .. } => {
                    let own = if *arrow { Use::Read } else { wanted };
                    if own == Use::Bind || !matches!(object.kind, ExprKind::Path(_)) {
                        open.push((object, own));
                    }
                }
                ExprKind::Cast(_, ty, inner) => {
                    let own = self.cast_use(ty, changed);
                    open.push((inner, own));
                }
                ExprKind::Construct(ty, args) => {
                    let own = self.type_use(ty, changed);
                    open.extend(args.iter().map(|argument| (argument, own)));
                }
                ExprKind::InitList(entries) => open.extend(entries.iter().map(|(_, value)| (value, wanted))),
                ExprKind::Call(callee, args) if stores(callee) => {
                    for argument in args {
                        match addressed(argument) {
                            Some(target) => {
                                changed.add_target(target, value.span);
                                open.push((target, Use::Read));
                            }
                            None => open.push((argument, Use::Read)),
                        }
                    }
                }
                ExprKind::Call(callee, args) => {
                    let uses = self.argument_uses(callee, args, wanted, changed);
                    open.extend(args.iter().zip(uses));
                    // A method may change its object, and give a reference to it.
                    match &callee.kind {
                        ExprKind::Member { object, arrow: false, .. } => open.push((object, Use::Bind)),
                        _ => open.push((callee, Use::Read)),
                    }
                }
                ExprKind::Lambda(_) | ExprKind::Statements(_) => self.changed_by_lambda(value, changed),
                ExprKind::Unsupported(reason) => self.changed_unread(reason, value.span, changed),
                ExprKind::Expansion(_) => self.changed_unread("pack expansion", value.span, changed),
                ExprKind::Fold(_) => self.changed_unread("fold expression", value.span, changed),
                _ => open.extend(parts_of(value).into_iter().map(|part| (part, Use::Read))),
            }
        }
    }

    /// What a lambda changes it may change whenever it is called, and it may be called before it stands again.
    fn changed_by_lambda(&mut self, value: &'u syntax::Expr, changed: &mut Changes<'u>) {
        let (ExprKind::Lambda(lambda) | ExprKind::Statements(lambda)) = &value.kind else { return };
        let named = lambda.captures.iter().filter(|capture| capture.init.is_some());
        named.for_each(|capture| changed.expose(&capture.name.text));
        let mut inside = changed.none_of();
        for capture in lambda.captures.iter().filter_map(|capture| capture.init.as_ref()) {
            // `[&x = n]`: what is named so is another name of the variable.
            self.changed_by(capture, Use::Bind, &mut inside);
        }
        for item in lambda.closure.members.iter().flatten() {
            let ItemKind::Function(function) = &item.kind else { continue };
            function.params.iter().for_each(|param| changed.expose(&param.name.text));
            function.body.iter().flatten().for_each(|stmt| self.changed_in_stmt(stmt, &mut inside));
        }
        for stmt in stmts_of_lambda(value) {
            match &stmt.kind {
                StmtKind::Unsupported(reason) => self.changed_unread(reason, stmt.span, changed),
                // What is declared inside is another variable than one of its name outside.
                StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) => {
                    variables.iter().for_each(|variable| changed.expose(&variable.name.text));
                }
                StmtKind::RangeFor { variable, .. } => changed.expose(&variable.name.text),
                _ => {}
            }
        }
        inside.names().for_each(|name| changed.expose(name));
        changed.has_jumps |= inside.has_jumps;
    }

    /// What text may change that is not read: `new float[n]` changes nothing, but `new Reader(n)` keeps what it is
    /// given, and so may whoever is given `args...`. What is thrown is for who catches it, and that is not read.
    fn changed_unread(&mut self, reason: &str, span: Span, changed: &mut Changes<'u>) {
        let text = self.names.sources().text(span);
        let is_plain = span.expansion.is_none();
        let is_new = is_plain && reason.contains("new");
        let is_harmless = HARMLESS.iter().any(|harmless| reason.contains(harmless));
        if is_harmless || is_new && !text.contains(['(', '{']) {
            return;
        }
        match is_new || is_plain && reason.contains("pack") {
            true => words(text).for_each(|name| changed.leak(name, span)),
            false => changed.add(ANYTHING, span),
        }
    }

    /// What a call does with its arguments; `wanted` is what is done with its result.
    fn argument_uses(
        &mut self,
        callee: &'u syntax::Expr,
        args: &'u [syntax::Expr],
        wanted: Use,
        changed: &mut Changes<'u>,
    ) -> Vec<Use> {
        let all = |it: Use| vec![it; args.len()];
        match &callee.kind {
            ExprKind::Member { member, .. } => {
                let declared = self.methods.get(member.name.text.as_str()).cloned().unwrap_or_default();
                if declared.is_empty() {
                    return all(if host::is_method(&member.name.text) { Use::Read } else { Use::Bind });
                }
                (0..args.len()).map(|at| Use::of_all(declared.iter().map(|it| self.param_use(it, at)))).collect()
            }
            ExprKind::Path(path) if !changed.is_declared(path) && !has_reference_argument(path) => {
                self.named_uses(path, args, wanted, changed)
            }
            _ => all(Use::Bind),
        }
    }

    /// What the call of something by its name does with its arguments.
    fn named_uses(
        &mut self,
        path: &'u syntax::Path,
        args: &'u [syntax::Expr],
        wanted: Use,
        changed: &mut Changes<'u>,
    ) -> Vec<Use> {
        let all = |it: Use| vec![it; args.len()];
        match self.names.named(path) {
            Err(Undeclared(name)) => match host::takes(&name) {
                Some(Takes::Values) => all(Use::Read),
                Some(Takes::Through) => all(wanted),
                Some(Takes::Exchanged) => {
                    args.iter().for_each(|value| changed.add_all(roots(value), value.span));
                    all(Use::Read)
                }
                None => all(self.path_type_use(path, changed)),
            },
            Ok(named) if named.has_class || named.functions.is_empty() => all(self.path_type_use(path, changed)),
            Ok(named) => {
                let used = |at| Use::of_all(named.functions.iter().map(|decl| self.declared_use(*decl, at)));
                (0..args.len()).map(used).collect()
            }
        }
    }

    /// What a function that is declared somewhere does with its argument at `position`.
    fn declared_use(&mut self, decl: FunctionDecl<'u>, position: usize) -> Use {
        let outer = self.names.enter(decl.scope);
        let found = self.param_use(decl.syntax, position);
        self.names.leave(outer);
        found
    }

    /// What a function does with its argument at `position`.
    fn param_use(&mut self, function: &'u syntax::Function, position: usize) -> Use {
        // A pack takes any number of arguments, and what stands behind it those that are left.
        let pack = function.params.iter().position(|param| param.pack);
        if pack.is_some_and(|pack| position >= pack) {
            return Use::Bind;
        }
        let Some(param) = function.params.get(position) else { return Use::Read };
        let written = self.names.declared_type(&param.ty, &param.qualifiers);
        match *self.names.ty(written.ty) {
            _ if written.is_reference && !written.is_const => Use::Bind,
            Type::Record(record) => self.record_use(record, 0),
            _ => Use::Read,
        }
    }

    /// What a variable does with what it is initialised by.
    fn initial_use(&mut self, variable: &'u syntax::Variable, changed: &Changes<'u>) -> Use {
        let ty = match &variable.ty.kind {
            TypeKind::Array(inner, _) => inner,
            _ => &variable.ty,
        };
        match &ty.kind {
            TypeKind::Auto | TypeKind::Builtin(_) | TypeKind::Pointer(_) | TypeKind::Enum(_) => Use::Read,
            TypeKind::Reference(..)
            | TypeKind::Decltype(_)
            | TypeKind::DecltypeOfValue(_)
            | TypeKind::Unsupported(_) => Use::Bind,
            _ => self.type_use(ty, changed),
        }
    }

    /// What a cast does with its operand.
    fn cast_use(&mut self, ty: &'u syntax::Type, changed: &Changes<'u>) -> Use {
        match &ty.kind {
            TypeKind::Named(path) if !has_reference_argument(path) && !changed.is_type_parameter(path) => {
                let written = self.names.resolve_type(ty);
                if written.is_reference { Use::Bind } else { self.made_use(written.ty, Use::Read) }
            }
            TypeKind::Reference(..)
            | TypeKind::Decltype(_)
            | TypeKind::DecltypeOfValue(_)
            | TypeKind::Unsupported(_) => Use::Bind,
            _ => Use::Read,
        }
    }

    /// What an object of a type does with what it is made from.
    fn type_use(&mut self, ty: &'u syntax::Type, changed: &Changes<'u>) -> Use {
        match &ty.kind {
            TypeKind::Builtin(_) | TypeKind::Pointer(_) | TypeKind::Enum(_) | TypeKind::Function(..) => Use::Read,
            TypeKind::Array(inner, _) => self.type_use(inner, changed),
            TypeKind::Named(path) => self.path_type_use(path, changed),
            _ => Use::Bind,
        }
    }

    fn path_type_use(&mut self, path: &'u syntax::Path, changed: &Changes<'u>) -> Use {
        if has_reference_argument(path) {
            return Use::Bind;
        }
        if changed.is_type_parameter(path) || host::keeps_nothing(&path_text(path)) {
            return Use::Read;
        }
        match self.names.type_named(path) {
            Some(written) if written.is_reference => Use::Bind,
            Some(written) => self.made_use(written.ty, Use::Bind),
            None => Use::Bind,
        }
    }

    /// What an object of a type does with what it is made from; `otherwise` if the type is not known.
    fn made_use(&mut self, ty: TypeId, otherwise: Use) -> Use {
        match *self.names.ty(ty) {
            Type::Record(record) => self.record_use(record, 0),
            Type::Unknown(_) => otherwise,
            _ => Use::Read,
        }
    }

    /// What a record does with what it is made from: it may have a constructor that takes a reference, or a member that
    /// is one.
    fn record_use(&mut self, record: RecordId, depth: usize) -> Use {
        let class = self.names.class(record);
        if depth > NESTING || class.has_unknown_base || class.has_references {
            return Use::Bind;
        }
        let keeps = |decl: &FunctionDecl<'u>| {
            decl.syntax
                .params
                .iter()
                .any(|param| (param.pack || takes_variable(&param.ty)) && !names_class(&param.ty, class.name))
        };
        if class.constructors.iter().any(keeps) {
            return Use::Bind;
        }
        let fields: Vec<RecordId> = class.fields.iter().filter_map(|&field| self.record_in(field)).collect();
        Use::of_all(class.bases.into_iter().chain(fields).map(|part| self.record_use(part, depth + 1)))
    }

    fn record_in(&self, ty: TypeId) -> Option<RecordId> {
        match *self.names.ty(ty) {
            Type::Record(record) => Some(record),
            Type::Array { of, .. } => self.record_in(of),
            _ => None,
        }
    }

    /// Whether an operand may be an object of a class of the program, whose operators may keep the other one.
    fn may_be_object(&mut self, value: &'u syntax::Expr, changed: &Changes<'u>) -> bool {
        let ExprKind::Path(path) = &value.kind else { return false };
        let types = changed.types_of(path);
        if !types.is_empty() {
            return types.iter().any(|ty| self.is_object_type(ty, changed));
        }
        let globals = self.names.named(path).map(|named| named.globals).unwrap_or_default();
        globals.into_iter().any(|global| self.is_object_type(&global.ty, changed))
    }

    fn is_object_type(&mut self, ty: &'u syntax::Type, changed: &Changes<'u>) -> bool {
        match &ty.kind {
            TypeKind::Reference(inner, _) => self.is_object_type(inner, changed),
            TypeKind::Record(_) => true,
            TypeKind::Named(path) if changed.is_type_parameter(path) => false,
            TypeKind::Named(path) if host::keeps_nothing(&path_text(path)) => false,
            TypeKind::Named(_) => {
                let ty = self.names.resolve_type(ty).ty;
                matches!(self.names.ty(ty), Type::Record(_) | Type::Unknown(_))
            }
            _ => false,
        }
    }
}

/// Whether a call writes through the addresses that it is given only while it runs.
fn stores(callee: &syntax::Expr) -> bool {
    matches!(&callee.kind, ExprKind::Path(path) if host::stores(&path_text(path)))
}

/// Whether `value >> n` may read `n` from a stream.
fn may_be_stream(value: &syntax::Expr, changed: &Changes<'_>) -> bool {
    match &value.kind {
        ExprKind::Path(path) => {
            let types = changed.types_of(path);
            let is_number = |ty: &&syntax::Type| matches!(ty.kind, TypeKind::Builtin(_));
            types.is_empty() || !types.iter().all(is_number)
        }
        ExprKind::Binary(BinaryOp::Shr, left, _) => may_be_stream(left, changed),
        ExprKind::Call(..) | ExprKind::Member { .. } | ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _) => true,
        ExprKind::Conditional(..) | ExprKind::Comma(..) => true,
        _ => false,
    }
}

/// The words of a text that may be names.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.split(move |it| !is_part(it)).filter(|word| word.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_'))
}

/// Whether a parameter of a type takes a reference to a variable that it may change.
fn takes_variable(ty: &syntax::Type) -> bool {
    match &ty.kind {
        TypeKind::Reference(inner, _) => !inner.qualifiers.iter().any(|it| matches!(it, syntax::Qualifier::Const)),
        TypeKind::Unsupported(_) => true,
        _ => false,
    }
}

/// Whether a parameter takes an object of the class itself.
fn names_class(ty: &syntax::Type, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Reference(inner, _) => names_class(inner, name),
        TypeKind::Named(path) => path.segments.last().is_some_and(|last| last.name.text == name),
        _ => false,
    }
}

/// Whether a template argument of a name is a reference: `Holder<int &>`.
fn has_reference_argument(path: &syntax::Path) -> bool {
    let args = path.segments.iter().flat_map(|segment| segment.args.iter().flatten());
    args.into_iter().any(|argument| match argument {
        TemplateArg::Type(ty) => match &ty.kind {
            TypeKind::Reference(..) | TypeKind::Decltype(_) | TypeKind::DecltypeOfValue(_) => true,
            TypeKind::Named(path) => has_reference_argument(path),
            _ => false,
        },
        TemplateArg::Value(_) => false,
        // What the pack holds may be one.
        TemplateArg::Expansion(_) => true,
    })
}
