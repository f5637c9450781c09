//! Expressions: names, literals, operators on them, casts. Calls, members and initialisers have files of
//! their own.

use super::classes::Asked;
use super::context::{DEPTH_LIMIT, Resolver, expr};
use super::conversion::has_effect;
use super::entities::{Entity, Found, Global};
use super::operators::Step;
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::builtins::functions::{Meaning, function};
use crate::builtins::namespaces::without_namespaces;
use crate::builtins::variables::{Variable as BuiltinVariable, variable};
use crate::builtins::{Builtin, Formula, LaneFunction};
use crate::calculus::{Axis, GeometryVar};
use crate::source::{Dialect, Language, Span};
use crate::syntax::literals::{CharacterType, string};
use crate::syntax::parts::path_text;
use crate::syntax::{self, Binding, unpack};
use crate::work::memory::look;

/// Instances of variable templates beyond which no more are made.
const MOST_INSTANCES: usize = 10_000;

/// Operators in a row beyond which an expression is not resolved: everything after this pass recurs on them.
const CHAIN_LIMIT: usize = 1_000;

impl<'u> Resolver<'u> {
    /// The expression, as an object where it denotes one.
    pub(super) fn expr(&mut self, value: &'u syntax::Expr) -> Expr {
        if self.depth > DEPTH_LIMIT {
            return self.unsupported(value.span, "expression nested too deeply");
        }
        look();
        self.depth += 1;
        let result = self.expr_kind(value);
        self.depth -= 1;
        result
    }

    /// The value of the expression.
    pub(super) fn value(&mut self, value: &'u syntax::Expr) -> Expr {
        let value = self.expr(value);
        self.load(value)
    }

    /// An expression whose value nobody asks for: no object is loaded for it.
    pub(super) fn effect(&mut self, value: &'u syntax::Expr) -> Expr {
        if self.depth > DEPTH_LIMIT {
            return self.unsupported(value.span, "expression nested too deeply");
        }
        self.depth += 1;
        let span = value.span;
        let result = match &value.kind {
            syntax::ExprKind::Comma(first, second) => {
                let first = self.effect(first);
                let second = self.effect(second);
                if let Some(result) = self.overloaded_comma(&first, &second, span) {
                    self.depth -= 1;
                    return result;
                }
                let ty = second.ty;
                expr(ExprKind::Comma(Box::new(first), Box::new(second)), ty, span)
            }
            syntax::ExprKind::Conditional(cond, then, otherwise) => {
                let cond = self.expr(cond);
                let cond = self.truth(cond);
                let then = self.effect(then);
                let otherwise = self.effect(otherwise);
                let kind = ExprKind::Conditional(Box::new(cond), Box::new(then), Box::new(otherwise));
                expr(kind, self.types.common.void, span)
            }
            // A name alone is no value that someone wants: it may stand for statements.
            syntax::ExprKind::Path(_) => match self.expr_kind(value) {
                Expr { kind: ExprKind::Builtin(Builtin::Undeclared, name, _), .. } => {
                    self.unsupported(span, format!("unknown name `{name}`"))
                }
                named => named,
            },
            syntax::ExprKind::Cast(_, ty, operand) if self.resolve_type(ty).ty == self.types.common.void => {
                self.effect(operand)
            }
            _ => self.expr_kind(value),
        };
        self.depth -= 1;
        result
    }

    /// The value of an expression that is never evaluated, or only by the compiler.
    pub(super) fn unevaluated(&mut self, value: &'u syntax::Expr) -> Expr {
        let temporaries = self.frame.temporaries.len();
        let value = self.value(value);
        self.frame.temporaries.truncate(temporaries);
        value
    }

    fn expr_kind(&mut self, value: &'u syntax::Expr) -> Expr {
        use syntax::ExprKind as Kind;
        let span = value.span;
        match &value.kind {
            Kind::Int { value, suffix, decimal } => {
                let ty = self.types.integer_literal_type(*value, suffix, *decimal);
                expr(ExprKind::Int(i128::from(*value)), ty, span)
            }
            Kind::Float(text) => {
                let ty = self.types.float_literal_type(text);
                expr(ExprKind::Float(text.clone()), ty, span)
            }
            Kind::Char(code, ty) => expr(ExprKind::Int(i128::from(*code)), self.types.character_type(*ty), span),
            Kind::String(text) => self.string(text, span),
            Kind::Bool(value) => expr(ExprKind::Int(i128::from(*value)), self.types.common.bool, span),
            Kind::Null => {
                let ty = self.types.pointer(self.types.common.void, None);
                expr(ExprKind::Null, ty, span)
            }
            Kind::This => self.this(span),
            Kind::Path(path) => self.path(path, span),
            Kind::Unary(op, operand) => self.unary(*op, operand, span),
            Kind::Postfix(op, operand) => {
                let target = self.expr(operand);
                self.step(target, Step { up: *op == syntax::PostfixOp::Increment, postfix: true }, span)
            }
            Kind::Binary(..) => self.chain(value),
            Kind::Assign(op, target, value) => self.assign(*op, target, value, span),
            Kind::Conditional(cond, then, otherwise) => {
                let cond = self.expr(cond);
                let then = self.expr(then);
                let otherwise = self.expr(otherwise);
                self.conditional(cond, then, otherwise, span)
            }
            Kind::Comma(first, second) => {
                let first = self.effect(first);
                let second = self.expr(second);
                if let Some(result) = self.overloaded_comma(&first, &second, span) {
                    return result;
                }
                // An object stays one: whoever copies it does so by its constructor. So do the arrays of C++.
                let is_whole = match self.types[second.ty] {
                    Type::Array { .. } => self.language == Language::Cuda,
                    Type::Record(_) => true,
                    _ => false,
                };
                let second = if is_whole { second } else { self.load(second) };
                self.comma(first, second, span)
            }
            Kind::Call(callee, args) => self.call(callee, args, span),
            Kind::Index(array, index) => {
                let array = self.expr(array);
                let index = self.expr(index);
                self.index(array, index, span)
            }
            Kind::Member { object, arrow, member } => {
                let object = self.expr(object);
                let object = if *arrow { self.arrow(object) } else { object };
                self.member(object, &member.name.text, span)
            }
            Kind::Cast(kind, ty, operand) => self.written_cast(*kind, ty, operand, span),
            Kind::Construct(ty, parts) => self.construct(ty, parts, span),
            Kind::SizeofType(ty) => {
                let ty = self.resolve_type(ty).ty;
                self.size_of(ty, span)
            }
            Kind::SizeofExpr(operand) => {
                if let Some(ty) = self.type_of_name(operand) {
                    return self.size_of(ty, span);
                }
                let temporaries = self.frame.temporaries.len();
                let operand = self.expr(operand);
                self.frame.temporaries.truncate(temporaries);
                self.size_of(operand.ty, span)
            }
            Kind::InitList(entries) if entries.len() == 1 && entries[0].0.is_none() => self.expr(&entries[0].1),
            Kind::InitList(_) => self.unsupported(span, "initialiser list without a type"),
            Kind::Launch { .. } => self.unsupported(span, "kernel launch"),
            Kind::Lambda(lambda) => self.lambda(lambda, span),
            Kind::Expansion(_) => self.unsupported(span, "pack expansion"),
            Kind::Fold(_) => self.unsupported(span, "fold expression"),
            Kind::SizeofPack(_) => self.unsupported(span, "sizeof of a pack"),
            Kind::Statements(lambda) => self.statement_expression(lambda, span),
            Kind::Unsupported(reason) => self.unsupported(span, reason.clone()),
        }
    }

    /// A string literal: an array of constant characters. Of one that is malformed the length is not known.
    fn string(&mut self, text: &str, span: Span) -> Expr {
        let (ty, len) = string(text).unzip();
        let of = match ty.unwrap_or(CharacterType::Char) {
            CharacterType::Char => self.types.common.char,
            ty => self.types.character_type(ty),
        };
        let of = self.types.with_const(of);
        let ty = self.types.intern(Type::Array { of, len });
        expr(ExprKind::String(text.to_owned()), ty, span)
    }

    /// `this`
    pub(super) fn this(&mut self, span: Span) -> Expr {
        if let Some(captured) = self.captured_this(span) {
            return captured;
        }
        match self.frame.this {
            Some(this) => {
                let ty = self.variables[this].ty;
                let this = expr(ExprKind::Variable(this), ty, span);
                expr(ExprKind::Load(Box::new(this)), ty, span)
            }
            None => self.unsupported(span, "`this` outside of a method"),
        }
    }

    /// A name as an expression.
    pub(super) fn path(&mut self, path: &'u syntax::Path, span: Span) -> Expr {
        match self.find(path) {
            Found::Entities(entities) if has_unread(&entities) => {
                self.unsupported(span, format!("`{}`, a declaration of which was not read", path_text(path)))
            }
            Found::Entities(entities) => match self.value_of_name(path, &entities) {
                Some(entity) => self.entity(&entity, path, span),
                None => self.unsupported(span, format!("unknown name `{}`", path_text(path))),
            },
            Found::External(name) => match (self.open_class(path), self.type_trait(path, &name, span)) {
                (Some(class), _) => self.unsupported(span, format!("member of {class}")),
                (None, Some(answer)) => answer,
                (None, None) => self.external_variable(&name, span),
            },
        }
    }

    /// The entity that a name stands for as a value: a record or enumeration of that name hides none in its own scope, and in
    /// C none at all.
    fn value_of_name(&mut self, path: &'u syntax::Path, entities: &[Entity<'u>]) -> Option<Entity<'u>> {
        let first = entities.first()?;
        if first.is_ordinary() {
            return Some(first.clone());
        }
        if let Some(other) = entities.iter().find(|entity| entity.is_ordinary()) {
            return Some(other.clone());
        }
        let outer = match path.segments.as_slice() {
            [only] if self.language == Language::OpenCl => self.lookup_of(&only.name.text, Entity::is_ordinary),
            _ => Vec::new(),
        };
        outer.into_iter().next().or_else(|| Some(first.clone()))
    }

    /// An entity as an expression.
    pub(super) fn entity(&mut self, entity: &Entity<'u>, path: &'u syntax::Path, span: Span) -> Expr {
        match entity {
            Entity::Variable(variable) => self.variable(*variable, span),
            Entity::Global(index) => match self.global_instance(*index, path).and_then(|index| self.global(index)) {
                Some(variable) => self.variable(variable, span),
                None => self.unsupported(span, format!("`{}` depends on itself", path_text(path))),
            },
            Entity::Constant(value, ty) => expr(ExprKind::Int(*value), *ty, span),
            Entity::Field(record, field) if self.records.closures.contains_key(record) => {
                self.captured_field(*record, *field, span)
            }
            Entity::Field(record, field) => {
                let this = self.this(span);
                if matches!(this.kind, ExprKind::Unsupported(_)) {
                    return this;
                }
                let object = self.deref(this);
                let Type::Record(own) = self.types[object.ty] else {
                    return self.field(object, *record, *field, span);
                };
                match self.field_of_base(own, *record, *field) {
                    Some(field) => self.field(object, own, field, span),
                    None => self.unsupported(span, format!("`{}`, a member of no base", path_text(path))),
                }
            }
            Entity::Function(_) => self.named_function(path, span),
            Entity::FunctionValue(function) => self.function_value(*function, span),
            Entity::Pack => self.unsupported(span, "parameter pack"),
            Entity::Uncaptured => {
                self.unsupported(span, format!("`{}`, which the lambda does not capture", path_text(path)))
            }
            _ => self.unsupported(span, format!("`{}` is no value", path_text(path))),
        }
    }

    /// The variable that a path names: of a variable template, its instance for the arguments of the path.
    fn global_instance(&mut self, index: usize, path: &'u syntax::Path) -> Option<usize> {
        let Global { syntax, scope, .. } = &self.globals[index];
        let (syntax, scope) = (*syntax, *scope);
        if syntax.template.is_empty() {
            return Some(index);
        }
        if self.depth > DEPTH_LIMIT || self.global_instances.len() > MOST_INSTANCES {
            return None;
        }
        let args = path.segments.last().and_then(|segment| segment.args.as_deref()).unwrap_or(&[]);
        if unpack::is_open(args) {
            return None;
        }
        let syntax = self.functions.packs.variable(syntax, args)?;
        let values = self.template_values(&syntax.template, args, scope);
        let key = (index, values);
        if let Some(&known) = self.global_instances.get(&key) {
            return Some(known);
        }
        let scope = self.bind(scope, &syntax.template, &key.1);
        self.globals.push(Global::new(syntax, scope));
        let instance = self.globals.len() - 1;
        self.global_instances.insert(key, instance);
        Some(instance)
    }

    /// A variable as an object; a reference stands for what it refers to.
    pub(super) fn variable(&mut self, variable: super::program::VariableId, span: Span) -> Expr {
        let declared = &self.variables[variable];
        let ty = declared.ty;
        if !declared.is_reference {
            let ty = if self.variables.constant.contains(&variable) { self.types.with_const(ty) } else { ty };
            return expr(ExprKind::Variable(variable), ty, span);
        }
        let object = expr(ExprKind::Variable(variable), ty, span);
        let pointer = expr(ExprKind::Load(Box::new(object)), ty, span);
        self.deref(pointer)
    }

    /// A variable that the unit does not declare.
    fn external_variable(&mut self, name: &str, span: Span) -> Expr {
        let short = without_namespaces(name);
        // The lanes of a wavefront are 32 or 64: the device decides.
        if self.dialect == Dialect::Hip && short == "warpSize" {
            let reason = "size of a wavefront, which the device decides".to_owned();
            let builtin = Builtin::Unmodelled { reason, touches_memory: false };
            return expr(ExprKind::Builtin(builtin, short.to_owned(), Vec::new()), self.types.common.int, span);
        }
        if let Some(Meaning { builtin: builtin @ Builtin::Formula(Formula::SameGroup), .. }) =
            function(self.language, short)
        {
            let ty = self.types.common.bool;
            return expr(ExprKind::Builtin(builtin, short.to_owned(), Vec::new()), ty, span);
        }
        if let Some(algorithm) = self.collective_algorithm(name, span) {
            return algorithm;
        }
        // The names of a scoped enumeration mean nothing by themselves.
        let of_role = name.rfind("pipeline_role::").map(|at| &name[at..]);
        match variable(self.language, of_role.unwrap_or(short)) {
            Some(BuiltinVariable::Ids(make)) => {
                let lanes = Axis::ALL
                    .iter()
                    .map(|&axis| expr(ExprKind::Geometry(make(axis)), self.types.common.uint, span))
                    .collect();
                let ty = self.types.type_of_ids(make(Axis::X));
                expr(ExprKind::Construct(lanes), ty, span)
            }
            Some(BuiltinVariable::Constant(value, scalar)) => {
                let ty = self.types.scalar(scalar);
                expr(ExprKind::Int(value), ty, span)
            }
            Some(BuiltinVariable::Float(scalar)) => {
                let ty = self.types.scalar(scalar);
                expr(ExprKind::Float(short.to_owned()), ty, span)
            }
            None if self.in_host => self.unsupported(span, format!("unknown name `{name}`")),
            None => {
                self.miss();
                let ty = self.types.unknown(name);
                expr(ExprKind::Builtin(Builtin::Undeclared, name.to_owned(), Vec::new()), ty, span)
            }
        }
    }

    /// An id or size along an axis.
    pub(super) fn geometry(&self, variable: GeometryVar, span: Span) -> Expr {
        expr(ExprKind::Geometry(variable), self.types.common.uint, span)
    }

    /// `sizeof`
    fn size_of(&mut self, ty: TypeId, span: Span) -> Expr {
        match self.layout().size_of(ty) {
            Some(size) => expr(ExprKind::Int(i128::from(size)), self.types.common.ulong, span),
            None => {
                let name = self.type_name(ty);
                self.unsupported(span, format!("size of type {name}, which is not known"))
            }
        }
    }

    /// A row of infix operators, without recurring on its left sides.
    fn chain(&mut self, value: &'u syntax::Expr) -> Expr {
        let mut steps = Vec::new();
        let mut first = value;
        while let syntax::ExprKind::Binary(op, left, right) = &first.kind {
            steps.push((*op, &**right, first.span));
            first = left;
        }
        if steps.len() > CHAIN_LIMIT {
            return self.unsupported(value.span, format!("expression of more than {CHAIN_LIMIT} operators"));
        }
        let mut result = self.expr(first);
        for (op, right, span) in steps.into_iter().rev() {
            let right = self.expr(right);
            result = self.binary(op, result, right, span);
        }
        result
    }

    /// `a[i]`
    pub(super) fn index(&mut self, array: Expr, index: Expr, span: Span) -> Expr {
        let index = match (&self.types[array.ty], &self.types[index.ty]) {
            (Type::Array { .. } | Type::Pointer { .. }, Type::Record(_)) => self.built_in_operand(index, span),
            _ => index,
        };
        let (array, index) = match (&self.types[array.ty], &self.types[index.ty]) {
            // C allows `3[a]`.
            (Type::Int { .. }, Type::Pointer { .. } | Type::Array { .. }) => (index, array),
            _ => (array, index),
        };
        let array = if let ExprKind::String(_) = array.kind { self.load(array) } else { array };
        match self.types[array.ty].clone() {
            Type::Array { of, .. } if self.is_object(&array) => {
                let index = self.load(index);
                let index = self.convert(index, self.types.common.long);
                let is_given_up = self.types.is_given_up(&array);
                let element = expr(ExprKind::Element(Box::new(array), Box::new(index)), of, span);
                if is_given_up { self.given_up(element) } else { element }
            }
            Type::Pointer { .. } => {
                let pointer = self.load(array);
                let moved = self.pointer_add(pointer, index, span);
                self.deref(moved)
            }
            Type::Vector { of, lanes } => {
                let index = self.load(index);
                match self.constant(&index) {
                    Some(lane) if (0..i128::from(lanes)).contains(&lane) => {
                        expr(ExprKind::Lanes(Box::new(array), vec![lane as u8]), of, span)
                    }
                    _ if self.is_object(&array) => {
                        let space = self.space_of_object(&array);
                        let address = self.address_of(array);
                        let ty = self.types.pointer(of, space);
                        let first = self.convert(address, ty);
                        let moved = self.pointer_add(first, index, span);
                        self.deref(moved)
                    }
                    _ => self.unsupported_with(
                        span,
                        "lane of a vector value by a variable".to_owned(),
                        vec![array, index],
                    ),
                }
            }
            Type::Record(_) => match self.operator_call("operator[]", vec![array.clone(), index.clone()], span) {
                Some(result) => result,
                None => {
                    let converted = self.built_in_operand(array, span);
                    match self.types[converted.ty] {
                        Type::Record(_) => {
                            self.unsupported_with(span, "subscript of a record".to_owned(), vec![converted, index])
                        }
                        _ => self.index(converted, index, span),
                    }
                }
            },
            _ => {
                let name = self.type_name(array.ty);
                self.unsupported_with(span, format!("subscript of a value of type {name}"), vec![array, index])
            }
        }
    }

    /// A pointer moved by an index of any integer type.
    pub(super) fn pointer_add(&mut self, pointer: Expr, index: Expr, span: Span) -> Expr {
        let index = self.load(index);
        let index = self.convert(index, self.types.common.long);
        let ty = pointer.ty;
        expr(ExprKind::PointerAdd(Box::new(pointer), Box::new(index)), ty, span)
    }

    /// `c ? a : b` as a value.
    pub(super) fn conditional(&mut self, cond: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
        if let Type::Vector { .. } = self.types[cond.ty] {
            return self.select(cond, then, otherwise, span);
        }
        let cond = self.truth(cond);
        if self.has_unlike_categories(&then, &otherwise) {
            let reason = "conditional between objects of which one is given up, or a value".to_owned();
            return self.unsupported_with(span, reason, vec![cond, then, otherwise]);
        }
        // What C++ chooses between two objects is one of them, `const` if either is.
        let is_kept = self.copies_by_code(then.ty)
            || self.language == Language::Cuda
                && !self.in_host
                && matches!(self.types[then.ty], Type::Array { .. } | Type::Record(_))
                && !self.types.is_given_up(&then)
                && !self.types.is_given_up(&otherwise);
        if self.types.is_alike(then.ty, otherwise.ty) && is_kept && self.is_object(&then) && self.is_object(&otherwise)
        {
            return self.chosen_object(cond, then, otherwise, span);
        }
        let (then, otherwise) = (self.copy(then, span), self.copy(otherwise, span));
        let (then, otherwise) = match self.types.is_alike(then.ty, otherwise.ty) && self.language == Language::Cuda {
            true => (then, otherwise),
            false => (self.operand(then), self.operand(otherwise)),
        };
        let Some(ty) = self.merged_type(&then, &otherwise) else {
            return self.unsupported_with(
                span,
                "conditional between unlike types".to_owned(),
                vec![cond, then, otherwise],
            );
        };
        let (then, otherwise) = (self.convert(then, ty), self.convert(otherwise, ty));
        expr(ExprKind::Conditional(Box::new(cond), Box::new(then), Box::new(otherwise)), ty, span)
    }

    /// Whether two objects of one class are chosen between that are not of one category, so that the result is a value of its own
    /// ([expr.cond] paragraph 4): where one is given up, or `const` differs between an object and a value.
    pub(super) fn has_unlike_categories(&mut self, then: &Expr, otherwise: &Expr) -> bool {
        let [then, otherwise] = &[then, otherwise].map(|side| self.as_returned(side));
        let is_of_class = |side: &Expr| matches!(self.types[side.ty], Type::Record(_));
        if self.language == Language::OpenCl || self.in_host || !is_of_class(then) || !is_of_class(otherwise) {
            return false;
        }
        let differ = |of: &dyn Fn(&Expr) -> bool| of(then) != of(otherwise);
        differ(&|side| self.types.is_given_up(side))
            || differ(&|side| self.is_object(side)) && differ(&|side| self.types.is_const(side.ty))
    }

    /// `c ? a : b` as an object.
    pub(super) fn chosen_object(&mut self, cond: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
        let is_given_up = self.types.is_given_up(&then) && self.types.is_given_up(&otherwise);
        let (then, otherwise) = (self.address_of(then), self.address_of(otherwise));
        let ty = if self.types.points_to_const(otherwise.ty) { otherwise.ty } else { then.ty };
        let (then, otherwise) = (self.convert(then, ty), self.convert(otherwise, ty));
        let address = expr(ExprKind::Conditional(Box::new(cond), Box::new(then), Box::new(otherwise)), ty, span);
        let chosen = self.deref(address);
        if is_given_up { self.given_up(chosen) } else { chosen }
    }

    /// OpenCL's lane-wise conditional, which evaluates all its parts.
    fn select(&mut self, cond: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
        let (cond, then, otherwise) = (self.load(cond), self.load(then), self.load(otherwise));
        let common = match self.types[then.ty] == self.types[otherwise.ty] {
            true => Some(then.ty),
            false => self.types.common_type(then.ty, otherwise.ty),
        };
        let ty = match (common.map(|ty| (ty, self.types[ty].clone())), &self.types[cond.ty]) {
            (Some((ty, Type::Vector { .. })), _) => ty,
            (Some((of, Type::Int { .. } | Type::Float { .. })), &Type::Vector { lanes, .. }) => {
                self.types.intern(Type::Vector { of, lanes })
            }
            _ => {
                let reason = "conditional between unlike types".to_owned();
                return self.unsupported_with(span, reason, vec![cond, then, otherwise]);
            }
        };
        let (then, otherwise) = (self.convert(then, ty), self.convert(otherwise, ty));
        let builtin = Builtin::Lanes(LaneFunction::Select);
        expr(ExprKind::Builtin(builtin, "select".to_owned(), vec![otherwise, then, cond]), ty, span)
    }

    /// The type that both sides of a conditional are brought to.
    fn merged_type(&self, then: &Expr, otherwise: &Expr) -> Option<TypeId> {
        let (a, b) = (&self.types[then.ty], &self.types[otherwise.ty]);
        match (a, b) {
            _ if self.types.is_alike(then.ty, otherwise.ty) => {
                Some(if self.types.points_to_const(otherwise.ty) { otherwise.ty } else { then.ty })
            }
            (Type::Pointer { .. }, _) if matches!(otherwise.kind, ExprKind::Null | ExprKind::Int(0)) => Some(then.ty),
            (_, Type::Pointer { .. }) if matches!(then.kind, ExprKind::Null | ExprKind::Int(0)) => Some(otherwise.ty),
            (&Type::Pointer { to, .. }, &Type::Pointer { to: other, .. }) => {
                let is_wider = to == self.types.common.void || self.is_derived(other, to);
                Some(if is_wider { then.ty } else { otherwise.ty })
            }
            (Type::Void, _) | (_, Type::Void) => Some(self.types.common.void),
            _ => self.types.common_type(then.ty, otherwise.ty),
        }
    }

    /// `a, b` where the program defines what that does.
    pub(super) fn overloaded_comma(&mut self, first: &Expr, second: &Expr, span: Span) -> Option<Expr> {
        if !self.may_be_overloaded(first.ty) && !self.may_be_overloaded(second.ty) {
            return None;
        }
        self.operator_call("operator,", vec![first.clone(), second.clone()], span)
    }

    /// `a, b`, where nothing is left of an `a` without effect. An object on the right stays one, through its address.
    pub(super) fn comma(&mut self, first: Expr, second: Expr, span: Span) -> Expr {
        if !has_effect(&first) {
            return second;
        }
        if !self.is_object(&second) {
            let ty = second.ty;
            return expr(ExprKind::Comma(Box::new(first), Box::new(second)), ty, span);
        }
        let address = self.address_of(second);
        let ty = address.ty;
        let pair = expr(ExprKind::Comma(Box::new(first), Box::new(address)), ty, span);
        self.deref(pair)
    }

    /// A cast as written.
    fn written_cast(
        &mut self,
        kind: syntax::CastKind,
        ty: &'u syntax::Type,
        operand: &'u syntax::Expr,
        span: Span,
    ) -> Expr {
        let written = self.resolve_type(ty);
        if written.is_reference {
            // `(T&)x` and `reinterpret_cast<T&>(x)` view the object as another type.
            let mut object = self.object(operand);
            if !self.is_object(&object) && (written.is_const || written.binding == Some(Binding::Rvalue)) {
                // A temporary is made of it.
                let value = self.converted_for_reference(object, written.ty, span);
                let address = self.address_of_any(value);
                object = self.deref(address);
            }
            if !self.is_object(&object) {
                return self.unsupported_with(span, "cast of a value to a reference".to_owned(), vec![object]);
            }
            if self.types.is_alike(object.ty, written.ty) {
                let ty = self.types.object_type(written);
                let object = self.seen_as(object, ty);
                return if written.binding == Some(Binding::Rvalue) { self.given_up(object) } else { object };
            }
            if kind != syntax::CastKind::Reinterpret && self.converts_to_reference(object.ty) {
                let name = self.type_name(object.ty);
                let reason = format!("reference to what {name} is converted to");
                return self.unsupported_with(span, reason, vec![object]);
            }
            let gives_up = written.binding == Some(Binding::Rvalue);
            if gives_up && kind != syntax::CastKind::Reinterpret && !self.is_derived(object.ty, written.ty) {
                let name = self.type_name(written.ty);
                return self.unsupported_with(span, format!("cast of another type to {name} &&"), vec![object]);
            }
            let space = self.space_of_object(&object);
            let address = self.address_of(object);
            let to = self.types.object_type(written);
            let to = self.types.pointer(to, space);
            let address = match kind {
                syntax::CastKind::Reinterpret => expr(ExprKind::Convert(Box::new(address)), to, span),
                _ => self.convert(address, to),
            };
            let object = self.deref(address);
            return if gives_up { self.given_up(object) } else { object };
        }
        if kind == syntax::CastKind::Dynamic {
            return self.unsupported(span, "dynamic_cast");
        }
        if let syntax::ExprKind::InitList(_) = &operand.kind {
            return self.initial(operand, written.ty);
        }
        if written.ty == self.types.common.void {
            let operand = self.effect(operand);
            return expr(ExprKind::Convert(Box::new(operand)), self.types.common.void, span);
        }
        let operand = self.expr(operand);
        if written.is_const && matches!(self.types[written.ty], Type::Record(_)) && !self.in_host {
            let reason = format!("value of type const {}", self.type_name(written.ty));
            return self.unsupported_with(span, reason, vec![operand]);
        }
        if kind == syntax::CastKind::Reinterpret
            && self.types.is_pointer(operand.ty)
            && self.types.is_pointer(written.ty)
        {
            let operand = self.load(operand);
            return expr(ExprKind::Convert(Box::new(operand)), written.ty, span);
        }
        let is_whole = matches!(self.types[operand.ty], Type::Record(_));
        let operand = if is_whole { operand } else { self.load(operand) };
        self.functional_cast(operand, written.ty, span)
    }

    /// A cast of one value, which may call a constructor or keep the bits of a vector.
    pub(super) fn functional_cast(&mut self, operand: Expr, to: TypeId, span: Span) -> Expr {
        let to = self.types.plain(to);
        if let Type::Record(_) = self.types[to] {
            return self.construct_record(to, vec![operand], Asked::Written, span);
        }
        if operand.ty != to
            && let Some(converted) = self.conversion_call(&operand, to, Asked::Written, span)
        {
            return converted;
        }
        let mut result = self.cast(operand, to);
        result.span = span;
        result
    }
}

/// Whether one of the declarations of a name could not be read.
fn has_unread(entities: &[Entity<'_>]) -> bool {
    entities.iter().any(|entity| matches!(entity, Entity::Function(decl) if decl.syntax.is_unread()))
}
