//! Types that nothing in the unit declares, because their header is missing.
//!
//! In C++ an operator on an object of such a type, and its construction, may be a function: it may change what it is
//! handed by reference, and wait for other threads. So it is a call of one that is not defined; where an operator only computes,
//! as `+` does, `lower::undefined` takes it for a function of its operands, which is an assumption. Members are data inside of
//! their objects, which is one, too: they are read with all of the object, and only those of the thread's own objects are written.
//! What may be a mere `typedef` is copied, assigned and made without arguments as a number is, and types whose names end in `_t`
//! are numbers by convention: that is another assumption, which the verdict prints
//! ([`Program::numbers`](super::program::Program::numbers)).
//!
//! A name that is no type at all may be a macro whose header is missing: `PRAGMA put(s);` reads as the declaration of an
//! object `put`. Where the declared name stands for something already, or a function is declared in a function, the
//! statement is not understood.
//!
//! Deliberately absent: the types of CUDA's, HIP's and the standard library, whose operators do what they say.

use super::context::{Resolver, expr};
use super::entities::Entity;
use super::program::{Callee, Expr, ExprKind, Stmt, StmtKind, Storage, Type, TypeId, VariableId};
use super::qualified::Written;
use super::unknown_call::RESULT;
use crate::builtins::external::{is_member_name, member_name};
use crate::builtins::namespaces::is_of_a_library;
use crate::source::{Language, Span};
use crate::syntax::parts::path_text;
use crate::syntax::{self, Init, Qualifier, TypeKind};

impl<'u> Resolver<'u> {
    /// Remembers that nothing declares the type of that path, whose full name is `name`.
    pub(super) fn note_undeclared(&mut self, path: &syntax::Path, name: &str, ty: TypeId) {
        let is_unknown = self.language == Language::Cuda && matches!(self.types[ty], Type::Unknown(_));
        // What hangs on a parameter of a template is whatever its argument makes it.
        if is_unknown && !is_of_a_library(name) && self.lookup(&path.segments[0].name.text).is_empty() {
            let taken = if name.ends_with("_t") { &mut self.types.numbers } else { &mut self.types.undeclared };
            taken.insert(ty);
        }
    }

    /// Remembers that what a path names is a variable or a function and no type.
    pub(super) fn note_misnamed(&mut self, path: &syntax::Path, entities: &[Entity<'u>], ty: TypeId) {
        let is_no_type =
            |entity: &Entity<'u>| matches!(entity, Entity::Variable(_) | Entity::Global(_) | Entity::Function(_));
        let is_one_word = path.segments.len() == 1;
        if self.language == Language::Cuda && is_one_word && !entities.is_empty() && entities.iter().all(is_no_type) {
            self.types.undeclared.insert(ty);
        }
    }

    /// Whether nothing declares the type.
    pub(super) fn is_undeclared(&self, ty: TypeId) -> bool {
        self.types.undeclared.contains(&ty)
    }

    /// An operator on an object of a type that nothing declares.
    pub(super) fn undeclared_operator(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Option<Expr> {
        if !args.iter().any(|argument| self.is_undeclared(argument.ty)) {
            return None;
        }
        // What it finds somewhere is none of the values of its operand.
        let is_access = args.len() == 1 && matches!(name, "operator*" | "operator&");
        let named = if is_access { format!("{name} (of an address)") } else { self.name_of_operator(name, &args) };
        let call = self.unknown_call(&named, args, span);
        // `in >> a >> b` goes on with what the first of them gives.
        if let Type::Unknown(_) = self.types[call.ty] {
            self.types.undeclared.insert(call.ty);
        }
        Some(call)
    }

    /// A plain assignment to an object of a type that nothing declares: a call if it is a class; that of a number otherwise, which
    /// is assumed.
    pub(super) fn undeclared_assignment(&mut self, target: &Expr, value: &Expr, span: Span) -> Option<Expr> {
        if !self.is_undeclared(target.ty) || self.in_host {
            return None;
        }
        if !is_named_like_class(&self.type_name(target.ty)) {
            self.types.numbers.insert(target.ty);
            return None;
        }
        Some(self.unknown_call("operator=", vec![target.clone(), value.clone()], span))
    }

    /// An operator with the type that makes it one that is not known.
    fn name_of_operator(&self, name: &str, args: &[Expr]) -> String {
        let of =
            args.iter().find(|argument| self.is_undeclared(argument.ty)).map(|argument| self.type_name(argument.ty));
        of.map_or_else(|| name.to_owned(), |of| format!("{of}::{name}"))
    }

    /// `object.name`, where nothing declares the type of the object.
    pub(super) fn undeclared_member(&mut self, object: &Expr, name: &str, span: Span) -> Option<Expr> {
        let of = match &self.types[object.ty] {
            Type::Unknown(of) if !self.in_host => of.clone(),
            _ => return None,
        };
        if !self.is_undeclared(object.ty) && !self.types.numbers.contains(&object.ty) && !of.starts_with(RESULT) {
            return None;
        }
        let of = of.strip_prefix(RESULT).unwrap_or(&of);
        let value = self.load(object.clone());
        Some(self.unknown_call_of_values(&member_name(of, name), vec![value], Callee::Undefined(Vec::new()), span))
    }

    /// `object.name = value`, where nothing declares the type of the object, which is the thread's own.
    pub(super) fn undeclared_member_assignment(&mut self, target: &Expr, value: &Expr, span: Span) -> Option<Expr> {
        let ExprKind::UnknownCall(name, args, _) = &target.kind else { return None };
        let [Expr { kind: ExprKind::Load(object), .. }] = args.as_slice() else { return None };
        let ExprKind::Variable(variable) = object.kind else { return None };
        let declared = &self.variables[variable];
        if !is_member_name(name) || declared.storage != Storage::Local || declared.is_reference {
            return None;
        }
        let parts = vec![args[0].clone(), self.load(value.clone())];
        let name = format!("{name}=");
        let call = self.unknown_call_of_values(&name, parts, Callee::Undefined(Vec::new()), span);
        Some(self.store((**object).clone(), Expr { ty: object.ty, ..call }, span))
    }

    /// `T{a, b}` of a type that nothing declares: a call of its constructor, but for what may be a number.
    pub(super) fn undeclared_object(
        &mut self,
        written: &'u syntax::Type,
        ty: TypeId,
        parts: &'u [syntax::Expr],
        span: Span,
    ) -> Option<Expr> {
        if !self.is_undeclared(ty) && !self.types.numbers.contains(&ty) || self.in_host {
            return None;
        }
        let parts: Vec<Expr> = parts.iter().map(|part| self.expr(part)).collect();
        let may_be_number = parts.iter().all(|part| {
            matches!(self.types[part.ty], Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Unknown(_))
        });
        if may_be_number && parts.len() < 2 && !is_class(written) {
            self.types.numbers.insert(ty);
            return Some(self.construct_from(ty, parts, span));
        }
        let name = self.type_name(ty);
        let call = self.unknown_call(&name, parts, span);
        Some(Expr { ty, ..call })
    }

    /// Why a declaration of a variable of that type may be another statement behind a macro, if it may.
    pub(super) fn hidden_by_macro(&mut self, syntax: &syntax::Variable, written: Written) -> Option<String> {
        let mut ty = written.ty;
        while let Type::Array { of, .. } = self.types[ty] {
            ty = of;
        }
        if !self.is_undeclared(ty) {
            return None;
        }
        let word = only_word(element(&syntax.ty))?;
        let name = &syntax.name.text;
        if !self.lookup(word).is_empty() {
            return Some(format!(
                "`{word}` is no type; if `{name}` is a macro, the header that defines it is missing (-I)"
            ));
        }
        let is_declared = self.lookup(name).iter().any(|entity| {
            matches!(entity, Entity::Variable(_) | Entity::Global(_) | Entity::Field(..) | Entity::Function(_))
        });
        is_declared.then(|| macro_before(word, name))
    }

    /// Why a function that is declared in a function may be a call behind a macro, if it may.
    pub(super) fn call_behind_macro(&mut self, function: &'u syntax::Function) -> Option<String> {
        let result = function.result.as_ref()?;
        let word = only_word(result)?;
        let ty = self.resolve_type(result).ty;
        let name = function.path.segments.last().map_or("", |segment| segment.name.text.as_str());
        self.is_undeclared(ty).then(|| macro_before(word, name))
    }

    /// Constructs a local object of a type that nothing declares; false if it is no more than a number is.
    pub(super) fn undeclared_local(
        &mut self,
        syntax: &'u syntax::Variable,
        variable: VariableId,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let ty = self.variables[variable].ty;
        let is_shared = syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Shared));
        if !self.is_undeclared(ty) || is_shared {
            if !is_shared && let Some(part) = self.undeclared_part(ty, 0) {
                self.undeclared_parts(syntax, part, out);
            }
            return false;
        }
        let args = match &syntax.init {
            Some(Init::Call(args) | Init::List(args)) => args.iter().map(|argument| self.expr(argument)).collect(),
            Some(Init::Value(value)) => {
                let value = self.expr(value);
                if matches!(self.types[value.ty], Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Unknown(_))
                {
                    self.types.numbers.insert(ty);
                    return false;
                }
                vec![value]
            }
            None if is_class(&syntax.ty) => Vec::new(),
            None => {
                self.types.numbers.insert(ty);
                return false;
            }
        };
        let span = syntax.span;
        out.push(Stmt { kind: StmtKind::Declare(variable, None), span });
        let object = expr(ExprKind::Variable(variable), ty, span);
        let name = self.type_name(ty);
        let call = self.unknown_method(&name, std::iter::once(object).chain(args).collect(), span);
        out.push(Stmt { kind: StmtKind::Expr(call), span });
        true
    }

    /// The type of an element or member of objects of a type, if nothing declares it.
    fn undeclared_part(&self, ty: TypeId, depth: usize) -> Option<TypeId> {
        match &self.types[ty] {
            _ if depth > MOST_NESTED => None,
            Type::Array { of, .. } => self.undeclared_part(*of, depth + 1),
            Type::Record(record) => {
                self.records[*record].fields.iter().find_map(|field| self.undeclared_part(field.ty, depth + 1))
            }
            _ => self.is_undeclared(ty).then_some(ty),
        }
    }

    /// An object with parts of a type that nothing declares: each is made by a function that is not known, unless it is a number.
    fn undeclared_parts(&mut self, syntax: &syntax::Variable, part: TypeId, out: &mut Vec<Stmt>) {
        let name = self.type_name(part);
        if is_named_like_class(&name) {
            let reason = format!("construction of {name}, which nothing declares");
            out.push(Stmt { kind: StmtKind::Unsupported(reason), span: syntax.span });
        } else {
            self.types.numbers.insert(part);
        }
    }
}

/// Members inside of members beyond which none is looked at.
const MOST_NESTED: usize = 16;

fn macro_before(word: &str, name: &str) -> String {
    format!(
        "`{word} {name}` is no declaration if `{word}` is a macro, and nothing declares `{word}`: its header is missing (-I)"
    )
}

/// What an array consists of in the end.
fn element(ty: &syntax::Type) -> &syntax::Type {
    match &ty.kind {
        TypeKind::Array(inner, _) => element(inner),
        _ => ty,
    }
}

/// The name of a type that is written as one word.
fn only_word(ty: &syntax::Type) -> Option<&str> {
    match &ty.kind {
        TypeKind::Named(path) => match path.segments.as_slice() {
            [only] if only.args.is_none() && !path.global => Some(&only.name.text),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a type that nothing declares is named as a class is, as [`is_class`] is asked of what is written.
fn is_named_like_class(name: &str) -> bool {
    name.contains("::") || name.contains('<')
}

/// Whether a type that nothing declares is a class for certain, or nearly: an instance of a template, or a member of a
/// namespace.
fn is_class(ty: &syntax::Type) -> bool {
    matches!(&ty.kind, TypeKind::Named(path) if only_word(ty).is_none() && !path_text(path).is_empty())
}
