//! What the declarations of a unit say that matters for accesses: which names are memory, which parameters are
//! references, which members are fields.
//!
//! Names are taken by their last part, without namespaces: of two entities of one name the facts of both hold, and
//! where they differ the answer is the one that logs more. A record without a name goes by that of its alias, or by its
//! place.

use crate::syntax::{
    ExprKind, Function, Item, ItemKind, Param, Qualifier, Record, Stmt, StmtKind, TemplateParam, TemplateParamKind,
    Type, TypeKind, UnaryOp, Unit, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// How a function takes one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// By value: the argument is read at the call.
    Value,
    /// By reference: what happens to it is seen in the body.
    Reference,
}

/// What a call may call.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) params: Vec<Passing>,
    /// How many arguments must be given.
    pub(super) required: usize,
    pub(super) variadic: bool,
    pub(super) returns_reference: bool,
    pub(super) has_body: bool,
    pub(super) is_device: bool,
}

impl Callable {
    fn takes(&self, count: usize) -> bool {
        self.variadic || (self.required..=self.params.len()).contains(&count)
    }
}

/// Where a variable at namespace scope lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobalHome {
    /// `__device__`, `__constant__`, `__managed__`.
    Device,
    /// A constant of device memory that no thread can change, of scalar type: its reads order nothing.
    Fixed,
    /// `__shared__`.
    Shared,
    /// `extern __shared__`.
    DynamicShared,
    /// Of the host.
    Host,
}

/// A variable at namespace scope.
#[derive(Clone, Debug)]
pub(super) struct Global {
    pub(super) home: GlobalHome,
    pub(super) ty: Type,
}

/// A data member of a record.
#[derive(Clone, Debug)]
struct Field {
    ty: Type,
    /// Whether it is a bit-field, which has no address.
    has_bits: bool,
}

/// What a record holds.
#[derive(Clone, Debug, Default)]
struct RecordFacts {
    fields: FxHashMap<String, Field>,
    bases: Vec<String>,
}

impl RecordFacts {
    fn add(&mut self, variable: &Variable) {
        let field = Field { ty: variable.ty.clone(), has_bits: variable.bits.is_some() };
        let has_bits = self.fields.get(&variable.name.text).is_some_and(|known| known.has_bits);
        self.fields.insert(variable.name.text.clone(), Field { has_bits: field.has_bits || has_bits, ..field });
    }
}

/// The facts of a unit.
#[derive(Debug, Default)]
pub(super) struct Facts {
    functions: FxHashMap<String, Vec<Callable>>,
    records: FxHashMap<String, RecordFacts>,
    globals: FxHashMap<String, Global>,
    aliases: FxHashMap<String, Type>,
    /// Names that are a bit-field of some record.
    bit_fields: FxHashSet<String>,
    /// Aliases and template parameters: a call of one makes an object.
    type_names: FxHashSet<String>,
}

/// Aliases of aliases are followed this far.
const ALIASES: usize = 16;

impl Facts {
    pub(super) fn collect(unit: &Unit) -> Facts {
        let mut facts = Facts::default();
        facts.items(&unit.items, None);
        facts
    }

    fn items(&mut self, items: &[Item], record: Option<&str>) {
        for item in items {
            match &item.kind {
                ItemKind::Function(function) => self.function(function, record),
                ItemKind::Variables(variables) => variables.iter().for_each(|it| self.variable(it, record)),
                ItemKind::Record(inner) => self.record(inner, &inner.name.text),
                ItemKind::Alias { name, ty, .. } => {
                    match &ty.kind {
                        TypeKind::Record(inner) if inner.name.text.is_empty() => self.record(inner, &name.text),
                        _ => self.record_in(ty),
                    }
                    self.type_names.insert(name.text.clone());
                    self.aliases.insert(name.text.clone(), ty.clone());
                }
                ItemKind::Namespace { items, .. } => self.items(items, None),
                _ => {}
            }
        }
    }

    fn record_in(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Record(record) => self.record(record, &record_name(record, ty)),
            TypeKind::Array(inner, _) | TypeKind::Pointer(inner) => self.record_in(inner),
            _ => {}
        }
    }

    fn record(&mut self, record: &Record, name: &str) {
        self.type_parameters(record.template.as_deref());
        let Some(members) = &record.members else { return };
        let known = self.records.entry(name.to_owned()).or_default();
        known.bases.extend(record.bases.iter().filter_map(last_name));
        self.items(members, Some(name));
    }

    fn variable(&mut self, variable: &Variable, record: Option<&str>) {
        self.record_in(&variable.ty);
        if variable.bits.is_some() {
            self.bit_fields.insert(variable.name.text.clone());
        }
        let is = |wanted: fn(&Qualifier) -> bool| variable.qualifiers.iter().any(wanted);
        let is_static = is(|qualifier| matches!(qualifier, Qualifier::Static | Qualifier::Constexpr));
        if let Some(record) = record.filter(|_| !is_static) {
            self.records.entry(record.to_owned()).or_default().add(variable);
            // The members of an anonymous union are members of what it stands in.
            if let TypeKind::Record(inner) = &variable.ty.kind
                && variable.name.text.is_empty()
            {
                self.lift(inner, record);
            }
            return;
        }
        let home = home_of(&variable.qualifiers, &variable.ty);
        let name = variable.name.text.clone();
        let global = Global { home, ty: variable.ty.clone() };
        let known = self.globals.entry(name).or_insert_with(|| global.clone());
        if known.home == GlobalHome::Host {
            *known = global;
        }
    }

    fn lift(&mut self, inner: &Record, record: &str) {
        for item in inner.members.iter().flatten() {
            if let ItemKind::Variables(variables) = &item.kind {
                let known = self.records.entry(record.to_owned()).or_default();
                variables.iter().for_each(|variable| known.add(variable));
            }
        }
    }

    fn function(&mut self, function: &Function, record: Option<&str>) {
        self.type_parameters(function.template.as_deref());
        let Some(last) = function.path.segments.last() else { return };
        self.local_records(function.body.as_deref().unwrap_or_default());
        let callable = callable(function, self);
        let name = if Some(last.name.text.as_str()) == record {
            format!("new {}", last.name.text)
        } else {
            last.name.text.clone()
        };
        self.functions.entry(name).or_default().push(callable);
    }

    /// Records that are defined in the body of a function.
    fn local_records(&mut self, body: &[Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Block(inner) => self.local_records(inner),
                StmtKind::Item(item) => match &item.kind {
                    ItemKind::Record(record) => self.record(record, &record.name.text),
                    ItemKind::Variables(variables) => variables.iter().for_each(|it| self.record_in(&it.ty)),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn type_parameters(&mut self, params: Option<&[TemplateParam]>) {
        let types = params.into_iter().flatten().filter(|param| !matches!(param.kind, TemplateParamKind::Value(..)));
        self.type_names.extend(types.map(|param| param.name.text.clone()));
    }

    pub(super) fn is_type_name(&self, name: &str) -> bool {
        self.type_names.contains(name)
    }

    /// The functions and methods of that name that may be called with so many arguments.
    pub(super) fn callables(&self, name: &str, count: usize) -> Vec<&Callable> {
        self.functions.get(name).into_iter().flatten().filter(|callable| callable.takes(count)).collect()
    }

    pub(super) fn is_record(&self, name: &str) -> bool {
        self.records.contains_key(name)
    }

    pub(super) fn global(&self, name: &str) -> Option<&Global> {
        self.globals.get(name)
    }

    /// Whether a member is a bit-field: of a record that is known to have it, whether it is there; otherwise whether
    /// any has one of that name.
    pub(super) fn is_bit_field(&self, record: Option<&str>, name: &str) -> bool {
        let known = record.and_then(|record| self.member(record, name));
        known.map_or_else(|| self.bit_fields.contains(name), |field| field.has_bits)
    }

    /// Whether a member is a reference, so that it leads out of the object: of a record that is not known, whether any has
    /// one of that name.
    pub(super) fn is_reference_member(&self, record: Option<&str>, name: &str) -> bool {
        match record.and_then(|record| self.member(record, name)) {
            Some(field) => self.is_reference(&field.ty),
            None => {
                let mut all = self.records.values().filter_map(|record| record.fields.get(name));
                all.any(|field| self.is_reference(&field.ty))
            }
        }
    }

    /// The type of a field of a record or of its bases.
    pub(super) fn field(&self, record: &str, name: &str) -> Option<&Type> {
        self.member(record, name).map(|field| &field.ty)
    }

    fn member(&self, record: &str, name: &str) -> Option<&Field> {
        let mut waiting = vec![record];
        let mut seen: Vec<&str> = Vec::new();
        while let Some(next) = waiting.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            let Some(facts) = self.records.get(next) else { continue };
            if let Some(field) = facts.fields.get(name) {
                return Some(field);
            }
            waiting.extend(facts.bases.iter().map(String::as_str));
        }
        None
    }

    /// A type without its aliases.
    pub(super) fn resolved<'t>(&'t self, ty: &'t Type) -> &'t Type {
        let mut ty = ty;
        for _ in 0..ALIASES {
            match last_name(ty).and_then(|name| self.aliases.get(&name)) {
                Some(next) => ty = next,
                None => break,
            }
        }
        ty
    }

    pub(super) fn is_reference(&self, ty: &Type) -> bool {
        match &self.resolved(ty).kind {
            TypeKind::Reference(..) => true,
            TypeKind::DecltypeOfValue(value) => match value.kind {
                ExprKind::Path(_) | ExprKind::Member { .. } => true,
                _ => is_place(value),
            },
            // Of an lvalue that is no name, `decltype` is a reference.
            TypeKind::Decltype(value) => is_place(value),
            _ => false,
        }
    }
}

fn is_place(value: &crate::syntax::Expr) -> bool {
    matches!(value.kind, ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _))
}

/// How a function is called, from its declaration.
pub(super) fn callable(function: &Function, facts: &Facts) -> Callable {
    let is = |wanted: fn(&Qualifier) -> bool| function.qualifiers.iter().any(wanted);
    Callable {
        returns_reference: function.result.as_ref().is_some_and(|result| facts.is_reference(result)),
        has_body: function.body.is_some(),
        is_device: is(|qualifier| matches!(qualifier, Qualifier::Device | Qualifier::Kernel)),
        ..passing(&function.params, function.variadic, facts)
    }
}

/// How parameters are passed.
pub(super) fn passing(params: &[Param], variadic: bool, facts: &Facts) -> Callable {
    let is_pack = |param: &Param| param.pack;
    let passing = |param: &Param| {
        if facts.is_reference(&param.ty) && !param.pack { Passing::Reference } else { Passing::Value }
    };
    Callable {
        params: params.iter().map(passing).collect(),
        required: params.iter().filter(|param| param.default.is_none() && !is_pack(param)).count(),
        variadic: variadic || params.iter().any(is_pack),
        returns_reference: false,
        has_body: true,
        is_device: true,
    }
}

/// The last part of the name of a named type.
pub(super) fn last_name(ty: &Type) -> Option<String> {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().map(|segment| segment.name.text.clone()),
        TypeKind::Record(record) => Some(record.name.text.clone()),
        _ => None,
    }
}

/// The name by which a record that is defined in a type is known.
pub(super) fn record_name<'a>(record: &'a Record, ty: &Type) -> Cow<'a, str> {
    if record.name.text.is_empty() { format!("{:?}", ty.span).into() } else { record.name.text.as_str().into() }
}

/// Where a variable with these qualifiers lives.
pub(super) fn home_of(qualifiers: &[Qualifier], ty: &Type) -> GlobalHome {
    let is = |wanted: fn(&Qualifier) -> bool| qualifiers.iter().any(wanted);
    let is_extern = is(|qualifier| matches!(qualifier, Qualifier::Extern));
    if is(|qualifier| matches!(qualifier, Qualifier::Shared)) {
        let unsized_array = matches!(&ty.kind, TypeKind::Array(_, None));
        return if is_extern && unsized_array { GlobalHome::DynamicShared } else { GlobalHome::Shared };
    }
    if !is(|qualifier| matches!(qualifier, Qualifier::Device | Qualifier::Constant | Qualifier::Managed)) {
        return GlobalHome::Host;
    }
    let fixed = is(|qualifier| matches!(qualifier, Qualifier::Const | Qualifier::Constexpr));
    let is_scalar = matches!(ty.kind, TypeKind::Builtin(_));
    if fixed && is_scalar { GlobalHome::Fixed } else { GlobalHome::Device }
}
