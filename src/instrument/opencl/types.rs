//! As much of the types of OpenCL C as accesses need: what is an array, what a vector, what has which fields.

use crate::builtins::types::{NamedType, named_type};
use crate::source::Language;
use crate::syntax::{Item, ItemKind, Qualifier, Record, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Constant,
    Local,
    /// Private, or whatever a pointer of OpenCL C 2.0 may point to.
    Other,
}

/// The shape of a type.
#[derive(Clone, Debug)]
pub(super) enum Shape<'a> {
    Scalar,
    /// A vector of so many lanes.
    Vector(u8),
    Fields(&'a Record),
    Array(Rc<Shape<'a>>),
    Pointer(Rc<Shape<'a>>),
    Unknown,
}

impl<'a> Shape<'a> {
    /// What an element, or what a pointer points to, looks like.
    pub(super) fn inside(&self) -> Shape<'a> {
        match self {
            Shape::Array(inner) | Shape::Pointer(inner) => Shape::clone(inner),
            Shape::Vector(_) => Shape::Scalar,
            _ => Shape::Unknown,
        }
    }

    /// As the type of a parameter: an array is a pointer.
    pub(super) fn as_parameter(self) -> Shape<'a> {
        match self {
            Shape::Array(inner) => Shape::Pointer(inner),
            other => other,
        }
    }
}

/// The types that a unit declares.
#[derive(Debug, Default)]
pub(super) struct Types<'a> {
    records: FxHashMap<&'a str, &'a Record>,
    aliases: FxHashMap<&'a str, &'a Type>,
    /// Names of enumerations.
    enums: FxHashSet<&'a str>,
}

/// Aliases of aliases, and arrays of arrays, are followed this far.
const DEPTH: usize = 64;

impl<'a> Types<'a> {
    /// Takes what an item declares.
    pub(super) fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Record(record) => self.record(record),
            ItemKind::Enum(declared) => {
                self.enums.insert(&declared.name.text);
            }
            ItemKind::Alias { name, ty, .. } => {
                self.within(ty);
                self.aliases.insert(&name.text, ty);
            }
            ItemKind::Variables(variables) => variables.iter().for_each(|variable| self.within(&variable.ty)),
            ItemKind::Function(function) => function.result.iter().for_each(|result| self.within(result)),
            _ => {}
        }
    }

    fn record(&mut self, record: &'a Record) {
        let Some(members) = &record.members else { return };
        self.records.insert(&record.name.text, record);
        members.iter().for_each(|member| self.item(member));
    }

    /// A record that is defined inside a declaration.
    fn within(&mut self, ty: &'a Type) {
        match &ty.kind {
            TypeKind::Record(record) => self.record(record),
            TypeKind::Enum(declared) => {
                self.enums.insert(&declared.name.text);
            }
            TypeKind::Array(inner, _) | TypeKind::Pointer(inner) => self.within(inner),
            _ => {}
        }
    }

    /// A type without its aliases.
    pub(super) fn resolved(&self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        for _ in 0..DEPTH {
            match name_of(ty).filter(|name| !self.records.contains_key(name)).and_then(|name| self.aliases.get(name)) {
                Some(next) => ty = next,
                None => break,
            }
        }
        ty
    }

    /// The shape of a type.
    pub(super) fn shape(&self, ty: &'a Type) -> Shape<'a> {
        self.shape_within(ty, DEPTH)
    }

    fn shape_within(&self, ty: &'a Type, depth: usize) -> Shape<'a> {
        if depth == 0 {
            return Shape::Unknown;
        }
        let ty = self.resolved(ty);
        let inner = |inner: &'a Type| Rc::new(self.shape_within(inner, depth - 1));
        match &ty.kind {
            TypeKind::Array(of, _) => Shape::Array(inner(of)),
            TypeKind::Pointer(to) => Shape::Pointer(inner(to)),
            TypeKind::Enum(_) => Shape::Scalar,
            TypeKind::Record(record) if record.members.is_some() => Shape::Fields(record),
            TypeKind::Builtin(words) => builtin(words),
            _ if name_of(ty).is_some_and(|name| self.enums.contains(name)) => Shape::Scalar,
            _ => match name_of(ty).and_then(|name| self.records.get(name)) {
                Some(record) => Shape::Fields(record),
                None => name_of(ty).map_or(Shape::Unknown, builtin),
            },
        }
    }

    /// The type of a field, also of one in an anonymous member.
    pub(super) fn field(&self, record: &'a Record, name: &str) -> Option<&'a Type> {
        let mut waiting = vec![record];
        while let Some(record) = waiting.pop() {
            for item in record.members.iter().flatten() {
                match &item.kind {
                    ItemKind::Variables(variables) => {
                        for variable in variables {
                            if variable.name.text == name {
                                return Some(&variable.ty);
                            }
                            if let (true, TypeKind::Record(inner)) = (variable.name.text.is_empty(), &variable.ty.kind)
                            {
                                waiting.push(inner);
                            }
                        }
                    }
                    ItemKind::Record(inner) if inner.name.text.is_empty() => waiting.push(inner),
                    _ => {}
                }
            }
        }
        None
    }

    /// Whether some record has a field of this name.
    pub(super) fn is_field(&self, name: &str) -> bool {
        self.records.values().any(|record| self.field(record, name).is_some())
    }

    /// The space that a pointer points into.
    pub(super) fn pointee_space(&self, ty: &'a Type) -> Option<Space> {
        match &self.resolved(ty).kind {
            TypeKind::Pointer(to) | TypeKind::Array(to, _) => {
                let found = space(&to.qualifiers);
                let of_alias = space(&self.resolved(to).qualifiers);
                Some(if found == Space::Other { of_alias } else { found })
            }
            _ => None,
        }
    }

    /// The words of a scalar or vector type that OpenCL itself has.
    pub(super) fn value_words(&self, ty: &'a Type) -> Result<String, NoValue> {
        let ty = self.resolved(ty);
        let words = match &ty.kind {
            TypeKind::Builtin(words) => words.as_str(),
            TypeKind::Enum(_) => "int",
            TypeKind::Record(_) => return Err(NoValue::Structure),
            TypeKind::Unsupported(reason) => return Err(NoValue::Unsupported(reason.clone())),
            _ => name_of(ty).unwrap_or(""),
        };
        if self.enums.contains(words) {
            return Ok("int".to_owned());
        }
        match named_type(Language::OpenCl, words) {
            Some(NamedType::Scalar(_) | NamedType::Vector(..)) => Ok(words.to_owned()),
            _ if self.records.contains_key(words) => Err(NoValue::Structure),
            _ => Err(NoValue::Other(words.to_owned())),
        }
    }
}

/// Why a kernel cannot be given a value of a type.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoValue {
    #[error("a structure")]
    Structure,
    #[error("{0}")]
    Unsupported(String),
    #[error("of type `{0}`")]
    Other(String),
}

fn builtin(words: &str) -> Shape<'static> {
    match named_type(Language::OpenCl, words) {
        Some(NamedType::Vector(_, lanes)) => Shape::Vector(lanes),
        Some(NamedType::Scalar(_)) => Shape::Scalar,
        _ => Shape::Unknown,
    }
}

fn name_of(ty: &Type) -> Option<&str> {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().map(|segment| segment.name.text.as_str()),
        TypeKind::Record(record) => Some(record.name.text.as_str()),
        _ => None,
    }
}

/// The space that qualifiers name.
pub(super) fn space(qualifiers: &[Qualifier]) -> Space {
    let is = |wanted: fn(&Qualifier) -> bool| qualifiers.iter().any(wanted);
    if is(|it| matches!(it, Qualifier::Shared)) {
        Space::Local
    } else if is(|it| matches!(it, Qualifier::Constant)) {
        Space::Constant
    } else if is(|it| matches!(it, Qualifier::Global)) {
        Space::Global
    } else {
        Space::Other
    }
}
