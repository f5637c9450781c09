//! Calls: of functions and methods of the unit, of builtins, of types, and of what is not known.

use super::associated::{Lookup, is_in_parentheses};
use super::classes::is_defaulted;
use super::context::{Resolver, expr};
use super::dispatch::Dispatch;
use super::entities::{Entity, Found, FunctionDecl};
use super::overload::Operator;
use super::program::{Callee, Expr, ExprKind, FunctionId, RecordId, Type};
use crate::builtins::namespaces::without_namespaces;
use crate::source::Span;
use crate::syntax::parts::path_text;
use crate::syntax::{self, Binding, PathSegment, TemplateArg, TypeKind};

impl<'u> Resolver<'u> {
    /// `callee(args)`
    pub(super) fn call(&mut self, callee: &'u syntax::Expr, args: &'u [syntax::Expr], span: Span) -> Expr {
        match &callee.kind {
            syntax::ExprKind::Path(path) => {
                let lookup =
                    if is_in_parentheses(self.sources, callee, path) { Lookup::Ordinary } else { Lookup::ByArguments };
                self.path_call(path, lookup, args, span)
            }
            syntax::ExprKind::Member { object, arrow, member } => {
                let object = self.expr(object);
                let object = if *arrow { self.arrow(object) } else { object };
                self.method_call(object, member, args, span)
            }
            _ => {
                let callee = self.expr(callee);
                let args = self.arguments(args);
                self.object_call(callee, args, span)
            }
        }
    }

    /// Arguments as objects or values.
    pub(super) fn arguments(&mut self, args: &'u [syntax::Expr]) -> Vec<Expr> {
        let mut resolved = Vec::with_capacity(args.len());
        for argument in args {
            resolved.push(match self.library_function_value(argument) {
                Some(function) => function,
                None => self.expr(argument),
            });
        }
        resolved
    }

    /// Arguments of one of these functions; the type of the parameter says what an initialiser list is.
    pub(super) fn arguments_of(&mut self, functions: &[FunctionDecl<'u>], args: &'u [syntax::Expr]) -> Vec<Expr> {
        let mut resolved = Vec::with_capacity(args.len());
        for (position, argument) in args.iter().enumerate() {
            let is_list = matches!(argument.kind, syntax::ExprKind::InitList(_));
            let is_referred = |decl: &FunctionDecl<'u>| {
                let params = &decl.syntax.params;
                let param = params.get(position).or_else(|| params.last().filter(|param| param.pack));
                param.is_some_and(|param| matches!(param.ty.kind, TypeKind::Reference(..)))
            };
            let may_be_referred = functions.iter().any(is_referred);
            let listed = if is_list { self.common_param_type(functions, args.len(), position) } else { None };
            resolved.push(match listed {
                Some(ty) => self.initial(argument, ty),
                None => match self.library_function_value(argument) {
                    Some(function) => function,
                    None if may_be_referred => self.object(argument),
                    None => self.expr(argument),
                },
            });
        }
        resolved
    }

    /// A call through a name.
    fn path_call(&mut self, path: &'u syntax::Path, lookup: Lookup, args: &'u [syntax::Expr], span: Span) -> Expr {
        let template_args = path.segments.last().and_then(|segment| segment.args.as_deref());
        let entities = match self.find(path) {
            Found::Entities(entities) => entities,
            Found::External(name) => {
                if let Some(limit) = self.numeric_limit(path, &name, span) {
                    return limit;
                }
                let last = path.segments.last();
                if let Some(ty) = self.library_type(&name, last) {
                    let args = self.arguments(args);
                    return self.construct_from(ty, args, span);
                }
                return self.external_call(&name, template_args, lookup, args, span);
            }
        };
        let mut functions = functions_of(&entities);
        // The name of a class inside of it, which its constructors share.
        if matches!(entities.first(), Some(Entity::Record(_))) && functions.iter().all(|decl| decl.record.is_some()) {
            functions.clear();
        }
        if !functions.is_empty() {
            let args = self.arguments_of(&functions, args);
            let is_bare = path.segments.len() == 1 && !path.global && lookup == Lookup::ByArguments;
            if is_bare && functions.iter().all(|decl| self.lets_arguments_lead(*decl)) {
                let name = &path.segments[0].name.text;
                self.add_associated(name, &args, &mut functions);
            }
            let dispatch = if path.segments.len() > 1 { Dispatch::Named } else { Dispatch::ByObject };
            return self.dispatched_call(&functions, template_args, None, args, dispatch, span);
        }
        let last = path.segments.last();
        let ty = entities
            .iter()
            .find_map(|entity| last.and_then(|last| self.written_of_entity(entity, last)))
            .map(|written| written.ty);
        if let Some(ty) = ty {
            let args = self.arguments(args);
            return self.construct_from(ty, args, span);
        }
        let callee = match entities.first().cloned() {
            Some(entity @ (Entity::Variable(_) | Entity::Global(_) | Entity::Field(..) | Entity::FunctionValue(_))) => {
                self.entity(&entity, path, span)
            }
            _ => {
                let args = self.arguments(args);
                return self.unknown_call(&path_text(path), args, span);
            }
        };
        let args = self.arguments(args);
        self.object_call(callee, args, span)
    }

    /// A call of something that the unit does not declare: a builtin type or function, or unknown.
    fn external_call(
        &mut self,
        name: &str,
        template_args: Option<&'u [TemplateArg]>,
        lookup: Lookup,
        args: &'u [syntax::Expr],
        span: Span,
    ) -> Expr {
        if let Some(fence) = self.atomic_fence(name, args, span) {
            return fence;
        }
        let short = without_namespaces(name);
        let args = self.arguments(args);
        if short == name && lookup == Lookup::ByArguments {
            let mut functions = Vec::new();
            self.add_associated(name, &args, &mut functions);
            if !functions.is_empty() {
                return self.function_call(&functions, template_args, None, args, span);
            }
        }
        if let Some(ty) = self.types.builtin_type(short) {
            return self.construct_from(ty, args, span);
        }
        if let Some(object) = self.library_function_object(name, &args, span) {
            return object;
        }
        if matches!(
            name,
            "std::forward" | "std::move" | "cuda::std::forward" | "cuda::std::move" | "thrust::raw_pointer_cast"
        ) && let [only] = args.as_slice()
        {
            return if name.ends_with("move") { self.given_up(only.clone()) } else { only.clone() };
        }
        if let Some(value) = self.hinted(name, &args) {
            return value;
        }
        if let Some(value) = self.complex_function(name, &args, span) {
            return value;
        }
        if let Some(copying) = self.copying_function(name, template_args, &args, span) {
            return copying;
        }
        if let Some(phase) = self.phase_function(name, &args, span) {
            return phase;
        }
        self.builtin_call(name, template_args, args, span)
    }

    /// `__builtin_expect(e, c)` and its kin, which are their first argument, and tell the compiler what to expect of it.
    fn hinted(&mut self, name: &str, args: &[Expr]) -> Option<Expr> {
        let (first, hints) = args.split_first()?;
        let is_hint = |hint: &Expr| matches!(hint.kind, ExprKind::Int(_));
        match (name, hints) {
            ("__builtin_expect", [hint]) | ("__builtin_expect_with_probability", [hint, _]) if is_hint(hint) => {
                let value = self.load(first.clone());
                Some(self.convert(value, self.types.common.long))
            }
            ("__builtin_assume_aligned", [bytes]) if is_hint(bytes) => {
                let value = self.load(first.clone());
                let pointer = self.types.pointer(self.types.common.void, None);
                Some(self.convert(value, pointer))
            }
            _ => None,
        }
    }

    /// A call of an object: `operator()` of a record, otherwise a function pointer, which is not followed.
    pub(super) fn object_call(&mut self, callee: Expr, args: Vec<Expr>, span: Span) -> Expr {
        if let Type::Record(record) = self.types[callee.ty] {
            let methods = self.methods(record, "operator()");
            if !methods.is_empty() {
                return self.function_call(&methods, None, Some(callee), args, span);
            }
        }
        if let Some(value) = self.called_function_object(&callee, &args, span) {
            return value;
        }
        if let Some(name) = self.library_function_of(&callee) {
            return self.builtin_call(&name, None, args, span);
        }
        if let Some(call) = self.call_through(&callee, &args, span) {
            return call;
        }
        if matches!(callee.kind, ExprKind::Unsupported(_)) {
            return self.unsupported_with(span, "call of what is not understood".to_owned(), once(callee, args));
        }
        let name = match &self.types[callee.ty] {
            Type::Unknown(name) if !name.is_empty() => name.clone(),
            _ => "function pointer".to_owned(),
        };
        self.unknown_method(&name, once(callee, args), span)
    }

    /// A call of a method.
    fn method_call(&mut self, object: Expr, member: &'u PathSegment, args: &'u [syntax::Expr], span: Span) -> Expr {
        let name = &member.name.text;
        let methods = match self.types[object.ty] {
            Type::Record(record) => self.methods(record, name),
            _ => Vec::new(),
        };
        if methods.is_empty()
            && let Some(result) = self.atomic_method(&object, name, args, span)
        {
            return result;
        }
        let args = if methods.is_empty() { self.arguments(args) } else { self.arguments_of(&methods, args) };
        if let Type::Record(record) = self.types[object.ty] {
            if !methods.is_empty() {
                return self.function_call(&methods, member.args.as_deref(), Some(object), args, span);
            }
            if self.records[record].fields.iter().any(|field| field.name == *name) {
                let callee = self.member(object, name, span);
                return self.object_call(callee, args, span);
            }
        }
        if let Some(collective) = self.collective_of(object.ty) {
            return self.collective_call(&collective, object, name, args, span);
        }
        if let Some(part) = self.complex_part(&object, name, &args, span) {
            return part;
        }
        if let Some(result) = self.pipeline_method(&object, name, &args, span) {
            return result;
        }
        if let Some(result) = self.phase_method(&object, name, &args, span) {
            return result;
        }
        if let Some(result) = self.group_method(&object, name, &args, span) {
            return result;
        }
        let ty = self.type_name(object.ty);
        self.unknown_method(&format!("{ty}::{name}"), once(object, args), span)
    }

    /// The methods of that name of a record and its bases.
    pub(super) fn methods(&mut self, record: RecordId, name: &str) -> Vec<FunctionDecl<'u>> {
        let entities = self.lookup_in(self.records.scopes[record.index()], name);
        // Those of a base that a `using` brings in come after the class's own, which hide them.
        let (brought, own): (Vec<_>, Vec<_>) =
            entities.into_iter().partition(|entity| matches!(entity, Entity::Path(..)));
        let mut methods = functions_of(&own);
        methods.extend(functions_of(&self.follow(brought).unwrap_or_default()));
        methods
    }

    /// A call of one of several functions, with its object if it is a method's.
    pub(super) fn function_call(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        object: Option<Expr>,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        self.dispatched_call(functions, template_args, object, args, Dispatch::ByObject, span)
    }

    fn dispatched_call(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        object: Option<Expr>,
        args: Vec<Expr>,
        dispatch: Dispatch,
        span: Span,
    ) -> Expr {
        let name = functions[0].syntax.path.segments.last().map_or("", |segment| segment.name.text.as_str());
        if self.in_host && !functions.iter().any(|decl| is_constexpr(decl.syntax)) {
            return self.unknown_call(name, object.into_iter().chain(args).collect(), span);
        }
        let Some(chosen) = self.choose(functions, template_args, object.as_ref(), &args) else {
            // What the unit's own functions do not fit may still be a builtin of that name.
            if object.is_none() && self.is_builtin(name) {
                return self.builtin_call(name, template_args, args, span);
            }
            if object.is_none()
                && let Some(types) = self.number_types(functions, args.len())
            {
                // Which one is called depends on a type that is not known; none of them gets an address.
                let args = args.into_iter().zip(types);
                let args = args
                    .map(|(argument, ty)| {
                        let value = self.load(argument);
                        self.convert(value, ty)
                    })
                    .collect();
                return self.unknown_call_of_values(name, args, Callee::OneOfSeveral, span);
            }
            let reason = self.why_none_fits(name, functions, &args);
            let parts = object.into_iter().chain(args).collect();
            return self.unsupported_with(span, reason, parts);
        };
        if object.is_none() && self.may_be_builtin(chosen.decl) {
            let reason = format!("which of `{name}` and the builtin of that name is called");
            return self.unsupported_with(span, reason, args);
        }
        if dispatch == Dispatch::ByObject && self.may_be_overridden(chosen.decl, object.as_ref()) {
            let parts = object.into_iter().chain(args).collect();
            return self.unsupported_with(
                span,
                format!("virtual call of `{name}`, which a derived class may override"),
                parts,
            );
        }
        if chosen.decl.syntax.is_unread() {
            let parts = object.into_iter().chain(args).collect();
            return self.unsupported_with(
                span,
                format!("call of `{name}`, a declaration of which was not read"),
                parts,
            );
        }
        let groups = self.given_groups(chosen.decl, &args);
        let Some(function) = self.instance_for(chosen.decl, chosen.values, groups) else {
            let parts = object.into_iter().chain(args).collect();
            return self.unsupported_with(span, format!("too many instances of `{name}`"), parts);
        };
        let this = match self.this_argument(function, object, span) {
            Ok(this) => this,
            Err(problem) => return problem,
        };
        self.finish_call(function, this, args, span)
    }

    /// The argument for `this`, and what has to be evaluated before a static method's call.
    fn this_argument(&mut self, function: FunctionId, object: Option<Expr>, span: Span) -> Result<Option<Expr>, Expr> {
        let Some(this) = self.functions.infos[function.index()].this else {
            return Ok(None);
        };
        let object = match object {
            Some(object) => object,
            None => {
                let this = self.this(span);
                if matches!(this.kind, ExprKind::Unsupported(_)) {
                    return Err(this);
                }
                self.deref(this)
            }
        };
        let address = self.address_of_any(object);
        let to = self.variables[this].ty;
        Ok(Some(self.convert(address, to)))
    }

    /// The address of an object, or of a temporary that holds a value.
    pub(super) fn address_of_any(&mut self, value: Expr) -> Expr {
        if self.is_object(&value) {
            return self.address_of(value);
        }
        let (ty, span) = (value.ty, value.span);
        // What nothing changes needs no variable.
        if matches!(self.types[ty], Type::Record(record) if self.records[record].is_fixed) {
            let pointer = self.types.pointer(ty, None);
            return expr(ExprKind::AddressOf(Box::new(value)), pointer, span);
        }
        let temporary = self.temporary(ty, span);
        let object = expr(ExprKind::Variable(temporary), ty, span);
        let store = expr(ExprKind::Assign(Box::new(object.clone()), Box::new(value)), ty, span);
        let address = self.address_of(object);
        let pointer = address.ty;
        expr(ExprKind::Comma(Box::new(store), Box::new(address)), pointer, span)
    }

    /// The call itself, with arguments converted, defaults added and a reference result behind its pointer.
    pub(super) fn finish_call(
        &mut self,
        function: FunctionId,
        this: Option<Expr>,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let info = self.functions.infos[function.index()].clone();
        if info.result_is_auto {
            self.ensure_body(function);
        }
        let params = self.functions[function].params.clone();
        let skip = usize::from(this.is_some());
        let mut converted: Vec<Expr> = this.into_iter().collect();
        let mut args = args.into_iter();
        for (position, &param) in params.iter().skip(skip).enumerate() {
            let argument = match args.next() {
                Some(argument) => argument,
                None => match self.default_argument(&info, position) {
                    Some(argument) => argument,
                    None => break,
                },
            };
            converted.push(self.argument(argument, param, span));
        }
        for rest in args {
            converted.push(self.load(rest));
        }
        let result = self.functions[function].result;
        let call = expr(ExprKind::Call(function, converted), result, span);
        let call = if info.returns_reference { call } else { self.destroyed(call, span) };
        if is_constexpr(info.syntax)
            && self.types.is_integral(result)
            && let Some(value) = self.constant(&call)
        {
            return expr(ExprKind::Int(value), result, span);
        }
        if !info.returns_reference {
            return call;
        }
        let object = self.deref(call);
        // `T &&` is `X &` where `T` is.
        let result = info.syntax.result.as_ref();
        let binding = result.and_then(|ty| self.within(info.scope, |this| this.resolve_type(ty).binding));
        let gives_up = binding == Some(Binding::Rvalue);
        if gives_up { self.given_up(object) } else { object }
    }

    /// An argument for a parameter: a value of its type, or an address for a reference.
    fn argument(&mut self, argument: Expr, param: super::program::VariableId, span: Span) -> Expr {
        let ty = self.variables[param].ty;
        if !self.variables[param].is_reference {
            let value = self.implicit(argument, ty, span);
            return self.destroyed(value, span);
        }
        let Type::Pointer { to, .. } = self.types[ty] else {
            return self.load(argument);
        };
        // What refers to a function holds its address.
        if matches!(argument.kind, ExprKind::Function(_)) && self.types.function_behind(argument.ty) == to {
            return Expr { ty, ..argument };
        }
        if self.types.is_alike(argument.ty, to) && self.is_object(&argument) {
            let address = self.address_of(argument);
            return self.convert(address, ty);
        }
        if self.is_derived(argument.ty, to) {
            let address = self.address_of_any(argument);
            return self.convert(address, ty);
        }
        if let Type::Unknown(_) = self.types[to]
            && self.is_object(&argument)
        {
            let address = self.address_of(argument);
            return self.convert(address, ty);
        }
        // A reference to a new object, which ends with the call.
        let is_new = self.types.plain(argument.ty) != self.types.plain(to);
        let value = self.converted_for_reference(argument, to, span);
        let value = if is_new { self.destroyed(value, span) } else { value };
        let address = self.address_of_any(value);
        self.convert(address, ty)
    }

    /// The default argument of a parameter, resolved where the function is declared.
    fn default_argument(&mut self, info: &super::function_table::FunctionInfo<'u>, position: usize) -> Option<Expr> {
        let default = match &info.syntax.params.get(position)?.default {
            Some(default) => default,
            None => self.default_elsewhere(info, position)?,
        };
        Some(self.as_seen_from(info.syntax, true, |this| this.within(info.scope, |this| this.expr(default))))
    }

    /// A default that another declaration of the function states.
    fn default_elsewhere(
        &mut self,
        info: &super::function_table::FunctionInfo<'u>,
        position: usize,
    ) -> Option<&'u syntax::Expr> {
        let name = &info.syntax.path.segments.last()?.name.text;
        let entities = self.within(info.scope, |this| this.lookup(name));
        functions_of(&entities)
            .into_iter()
            .filter(|decl| decl.syntax.params.len() == info.syntax.params.len())
            .find_map(|decl| decl.syntax.params[position].default.as_ref())
    }

    /// A call of an overloaded operator, if one is declared that fits.
    pub(super) fn operator_call(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let class = match args.first().map(|first| &self.types[first.ty]) {
            Some(&Type::Record(record)) => Some(record),
            _ => None,
        };
        let mut methods = class.map_or_else(Vec::new, |class| self.methods(class, name));
        // The assignment of a class hides those of its bases, whoever makes it.
        methods.retain(|decl| name != "operator=" || decl.record == class && !is_defaulted(decl.syntax));
        let entities = self.lookup(name);
        let mut functions: Vec<FunctionDecl<'u>> =
            functions_of(&entities).into_iter().filter(|decl| decl.record.is_none()).collect();
        self.add_associated(name, &args, &mut functions);
        if !methods.is_empty() {
            match self.operator_of(&methods, &functions, &args) {
                Some(Operator::Method) if self.choose(&methods, None, args.first(), &args[1..]).is_some() => {
                    let mut args = args.into_iter();
                    let object = args.next();
                    return Some(self.function_call(&methods, None, object, args.collect(), span));
                }
                Some(Operator::Open) => {
                    let reason = format!("`{name}`, for which a method and a function fit");
                    return Some(self.unsupported_with(span, reason, args));
                }
                _ => {}
            }
        }
        if self.choose(&functions, None, None, &args).is_none() {
            let known = self.complex_operator(name, &args, span);
            return known.or_else(|| self.undeclared_operator(name, args, span));
        }
        Some(self.function_call(&functions, None, None, args, span))
    }
}

/// The functions among entities.
pub(super) fn functions_of<'u>(entities: &[Entity<'u>]) -> Vec<FunctionDecl<'u>> {
    entities
        .iter()
        .filter_map(|entity| match entity {
            Entity::Function(decl) => Some(*decl),
            _ => None,
        })
        .collect()
}

/// Whether a function may be evaluated by the compiler.
fn is_constexpr(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, syntax::Qualifier::Constexpr))
}

/// One expression before others.
fn once(first: Expr, rest: Vec<Expr>) -> Vec<Expr> {
    std::iter::once(first).chain(rest).collect()
}
