//! What objects of classes do by themselves: conversions, construction, copies, and the end of their lives.
//!
//! Deliberately absent: which function of several is called ([`super::overload`]), and destructors that do something, which are
//! not modelled.

use super::call::functions_of;
use super::context::{DEPTH_LIMIT, Resolver, expr};
use super::program::{Expr, ExprKind, RecordId, Type, TypeId};
use super::scope::FunctionDecl;
use crate::source::Span;
use crate::syntax;

impl<'u> Resolver<'u> {
    /// A call of a record's conversion operator to a type.
    pub(super) fn conversion_call(&mut self, value: &Expr, to: TypeId, span: Span) -> Option<Expr> {
        let operators = self.conversion_operators(value.ty);
        let (decl, _) = operators.into_iter().find(|&(_, ty)| self.plain(ty) == self.plain(to))?;
        let call = self.function_call(&[decl], None, Some(value.clone()), Vec::new(), span);
        Some(self.load(call))
    }

    /// An operand of a built-in operator: a record that converts to one built-in type alone is converted to it.
    pub(super) fn built_in_operand(&mut self, value: Expr, span: Span) -> Expr {
        let loaded = self.load(value.clone());
        if let Some(held) = self.atomic_load(&loaded) {
            return held;
        }
        let mut types: Vec<TypeId> = self.conversion_operators(value.ty).into_iter().map(|(_, ty)| ty).collect();
        types.dedup();
        match types.as_slice() {
            &[only] if self.is_pointer(only) || self.is_arithmetic(only) => {
                self.conversion_call(&value, only, span).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// Whether objects of the type convert to numbers or pointers in more ways than one.
    pub(super) fn converts_somehow(&mut self, ty: TypeId) -> bool {
        let types: Vec<TypeId> = self.conversion_operators(ty).into_iter().map(|(_, ty)| ty).collect();
        types.iter().any(|&ty| self.is_pointer(ty) || self.is_arithmetic(ty))
    }

    /// The conversion operators of a record and what they convert to, in the order in which they are preferred.
    fn conversion_operators(&mut self, from: TypeId) -> Vec<(FunctionDecl<'u>, TypeId)> {
        let Type::Record(record) = self.types[from] else {
            return Vec::new();
        };
        let scope = self.record_scopes[record.index()];
        let names = self.scopes[scope.0].names.keys();
        let is_conversion = |name: &&String| name.strip_prefix("operator").is_some_and(|rest| rest.starts_with(' '));
        let mut names: Vec<String> = names.filter(is_conversion).cloned().collect();
        names.sort();
        let mut operators: Vec<FunctionDecl<'u>> = names.iter().flat_map(|name| self.methods(record, name)).collect();
        // Types here do not know `const`, for which C++ has two operators side by side.
        operators.sort_by_key(|decl| decl.syntax.is_const);
        let mut found = Vec::new();
        for decl in operators {
            let Some(function) = self.instance(decl, Vec::new()) else { continue };
            let result = self.functions[function].result;
            let ty = match self.types[result] {
                Type::Pointer { to, .. } if self.infos[function.index()].returns_reference => to,
                _ => result,
            };
            found.push((decl, ty));
        }
        found
    }

    /// Whether a record has constructors of its own.
    pub(super) fn has_constructor(&mut self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Record(record) => !self.constructors(record).is_empty(),
            _ => false,
        }
    }

    /// The constructors of a record.
    pub(super) fn constructors(&mut self, record: RecordId) -> Vec<FunctionDecl<'u>> {
        let name = self.record_decls[self.record_origins[record.index()].0].name;
        let scope = self.record_scopes[record.index()];
        let entities = self.scopes[scope.0].names.get(name).cloned().unwrap_or_default();
        let all = functions_of(&entities);
        // `S() = default;` and `S(const S &) = default;` have no body and do what a record without them does.
        let has_body = |decl: &FunctionDecl<'u>| {
            all.iter().any(|other| {
                other.syntax.body.is_some()
                    && other.syntax.params.len() == decl.syntax.params.len()
                    && is_copy(other.syntax, name) == is_copy(decl.syntax, name)
            })
        };
        let is_defaulted =
            |decl: &FunctionDecl<'u>| !has_body(decl) && (decl.syntax.params.is_empty() || is_copy(decl.syntax, name));
        all.iter().filter(|decl| !is_defaulted(decl)).copied().collect()
    }

    /// Whether copying a record runs code of the program.
    fn has_copy_constructor(&mut self, record: RecordId) -> bool {
        let name = self.record_decls[self.record_origins[record.index()].0].name;
        self.constructors(record).iter().any(|decl| is_copy(decl.syntax, name))
    }

    /// Whether the end of a record's life runs code of the program: its own destructor, a base's or a field's.
    pub(super) fn has_destructor(&mut self, ty: TypeId) -> bool {
        let record = match self.types[ty] {
            Type::Record(record) => record,
            Type::Array { of, .. } => return self.has_destructor(of),
            _ => return false,
        };
        let name = format!("~{}", self.record_decls[self.record_origins[record.index()].0].name);
        let scope = self.record_scopes[record.index()];
        let own = self.scopes[scope.0].names.get(&name).cloned().unwrap_or_default();
        if functions_of(&own).iter().any(|decl| decl.syntax.body.as_ref().is_some_and(|body| !body.is_empty())) {
            return true;
        }
        let parts: Vec<TypeId> = self.records[record].fields.iter().map(|field| field.ty).collect();
        let bases: Vec<RecordId> = self.record_bases[record.index()].iter().map(|&(base, _)| base).collect();
        let bases: Vec<TypeId> = bases.into_iter().map(|base| self.intern(Type::Record(base))).collect();
        parts.into_iter().chain(bases).any(|part| self.has_destructor(part))
    }

    /// The copy of a record: its value, unless a constructor of the program makes it.
    pub(super) fn copy(&mut self, value: Expr, span: Span) -> Expr {
        let is_object = self.is_object(&value);
        if let Type::Record(record) = self.types[value.ty]
            && is_object
            && self.has_copy_constructor(record)
        {
            return self.copied(record, value, span);
        }
        self.load(value)
    }

    /// A copy that a constructor of the program makes.
    fn copied(&mut self, record: RecordId, value: Expr, span: Span) -> Expr {
        let name = self.record_decls[self.record_origins[record.index()].0].name;
        let mut copying = self.constructors(record);
        copying.retain(|decl| is_copy(decl.syntax, name));
        let ty = value.ty;
        // Types here do not tell what is copied from what is moved.
        if copying.len() != 1 || copying[0].syntax.body.is_none() || self.depth > DEPTH_LIMIT {
            let name = self.type_name(ty);
            return self.unsupported_with(span, format!("copy constructor of {name}"), vec![value]);
        }
        let temporary = self.temporary(ty, span);
        let object = expr(ExprKind::Variable(temporary), ty, span);
        let call = self.function_call(&copying, None, Some(object.clone()), vec![value], span);
        let made = expr(ExprKind::Load(Box::new(object)), ty, span);
        expr(ExprKind::Comma(Box::new(call), Box::new(made)), ty, span)
    }

    /// A record from arguments: a copy, a call of a constructor on a temporary, or its parts in order.
    pub(super) fn construct_record(&mut self, ty: TypeId, args: Vec<Expr>, span: Span) -> Expr {
        let ty = self.plain(ty);
        let Type::Record(record) = self.types[ty] else {
            return self.unsupported_with(span, "constructor".to_owned(), args);
        };
        if let [only] = args.as_slice()
            && self.plain(only.ty) == ty
        {
            return self.copy(only.clone(), span);
        }
        if let Some(reference) = self.atomic_reference(ty, &args, span) {
            return reference;
        }
        let constructors = self.constructors(record);
        if self.has_destructor(ty) {
            let name = self.type_name(ty);
            return self.unsupported_with(span, format!("destructor of {name}"), args);
        }
        if self.choose(&constructors, None, None, &args).is_some() {
            let temporary = self.temporary(ty, span);
            let object = expr(ExprKind::Variable(temporary), ty, span);
            let call = self.function_call(&constructors, None, Some(object.clone()), args, span);
            let value = expr(ExprKind::Load(Box::new(object)), ty, span);
            return expr(ExprKind::Comma(Box::new(call), Box::new(value)), ty, span);
        }
        if let [only] = args.as_slice()
            && let Type::Record(_) = self.types[only.ty]
            && let Some(converted) = self.conversion_call(only, ty, span)
        {
            return converted;
        }
        let name = self.type_name(ty);
        let fields: Vec<TypeId> = self.records[record].fields.iter().map(|field| field.ty).collect();
        let whole = self.records[record].bytes.is_some() && self.record_bases[record.index()].is_empty();
        if !constructors.is_empty() && !args.is_empty() || !whole || args.len() > fields.len() {
            return self.unsupported_with(span, format!("construction of {name}"), args);
        }
        let parts = args
            .into_iter()
            .zip(fields)
            .enumerate()
            .map(|(index, (part, field))| {
                if self.is_reference_member(record, index) {
                    return self.bound_member(part, field, span);
                }
                let part = self.load(part);
                self.implicit(part, field, span)
            })
            .collect();
        expr(ExprKind::Construct(parts), ty, span)
    }
}

/// Whether a constructor takes a reference to a record of its own kind.
fn is_copy(function: &syntax::Function, name: &str) -> bool {
    let [only] = function.params.as_slice() else {
        return false;
    };
    match &only.ty.kind {
        syntax::TypeKind::Reference(inner, _) => match &inner.kind {
            syntax::TypeKind::Named(path) => path.segments.last().is_some_and(|last| last.name.text == name),
            _ => false,
        },
        _ => false,
    }
}
