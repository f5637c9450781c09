//! Names in scope while a function is walked, and as much of their types as accesses need.

use super::facts::{Callable, Facts, last_name, record_name};
use crate::builtins::{atomics, phases};
use crate::syntax::{Qualifier, Type, TypeKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The shape of a type: how many steps lead to an object, and whether they cross memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Array(Rc<Shape>),
    Pointer(Rc<Shape>),
    /// A record of the unit, by name.
    Record(String),
    /// An object of the library that threads synchronise by: it makes its accesses itself and is told where.
    Object,
    Scalar,
    Unknown,
}

/// Whether threads synchronise by the objects of a class, which is named without its namespace.
fn is_synchronising(class: &str) -> bool {
    atomics::Class::in_library(class).is_some() || phases::is_barrier(class)
}

impl Shape {
    pub(super) fn of(ty: &Type, facts: &Facts) -> Shape {
        if let Some(name) = last_name(ty).filter(|name| facts.is_record(name)) {
            return Shape::Record(name);
        }
        match &facts.resolved(ty).kind {
            TypeKind::Array(of, _) => Shape::Array(Rc::new(Shape::of(of, facts))),
            TypeKind::Pointer(to) => Shape::Pointer(Rc::new(Shape::of(to, facts))),
            TypeKind::Reference(to, _) => Shape::of(to, facts),
            TypeKind::Builtin(_) | TypeKind::Enum(_) => Shape::Scalar,
            TypeKind::Record(record) if facts.is_record(&record_name(record, ty)) => {
                Shape::Record(record_name(record, ty).into_owned())
            }
            _ => match last_name(facts.resolved(ty)) {
                Some(name) if facts.is_record(&name) => Shape::Record(name),
                Some(name) if is_synchronising(&name) => Shape::Object,
                _ => Shape::Unknown,
            },
        }
    }

    /// What an element, or what a pointer points to, looks like.
    pub(super) fn inside(&self) -> Shape {
        match self {
            Shape::Array(inner) | Shape::Pointer(inner) => Shape::clone(inner),
            _ => Shape::Unknown,
        }
    }

    /// As the type of a parameter: an array is a pointer.
    pub(super) fn as_parameter(self) -> Shape {
        match self {
            Shape::Array(inner) => Shape::Pointer(inner),
            other => other,
        }
    }
}

/// Where a local name lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// A variable of the thread itself.
    Own,
    /// A reference, a shared variable, a static variable: its name is an access.
    Memory,
}

/// Which memory an array or a pointer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// That of the block.
    Shared,
    /// That of the device.
    Global,
}

/// The memory that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) space: Space,
    /// The type of its elements, without aliases and qualifiers, if it is an array of one dimension, or a pointer, with elements of a type
    /// that has a name.
    pub(super) element: Option<String>,
}

impl Held {
    /// What a variable of this type names.
    pub(super) fn by(ty: &Type, space: Space, facts: &Facts) -> Held {
        let element = element_of(ty, facts).map(|element| facts.resolved(element));
        let name = |element: &Type| match &element.kind {
            TypeKind::Builtin(name) => Some(name.clone()),
            _ => last_name(element),
        };
        Held { space, element: element.and_then(name) }
    }
}

/// The type of the elements of an array, or of what a pointer points to.
fn element_of<'t>(ty: &'t Type, facts: &'t Facts) -> Option<&'t Type> {
    match &facts.resolved(ty).kind {
        TypeKind::Array(element, _) | TypeKind::Pointer(element) => Some(element),
        _ => None,
    }
}

/// The memory that the address space of OpenCL says of what a pointer points to, or of an array.
pub(super) fn stated_space(ty: &Type, facts: &Facts) -> Option<Space> {
    let mut stated = element_of(ty, facts).into_iter().flat_map(|element| &element.qualifiers);
    stated.find_map(|qualifier| match qualifier {
        Qualifier::Shared => Some(Space::Shared),
        Qualifier::Global => Some(Space::Global),
        _ => None,
    })
}

/// A local name.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) home: Home,
    pub(super) shape: Shape,
    /// What a call of it calls, if that is known.
    pub(super) callable: Option<Callable>,
    /// Whether the compiler may know its value.
    pub(super) is_constant: bool,
    /// The memory that it names, if that is known.
    pub(super) held: Option<Held>,
}

/// Nested scopes, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<FxHashMap<String, Local>>,
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.scopes.push(FxHashMap::default());
    }

    pub(super) fn close(&mut self) {
        self.scopes.pop();
    }

    pub(super) fn declare(&mut self, name: &str, local: Local) {
        if let Some(scope) = self.scopes.last_mut().filter(|_| !name.is_empty()) {
            scope.insert(name.to_owned(), local);
        }
    }

    /// The names, in the order of the alphabet, of what has elements of the same type in the other memory.
    pub(super) fn in_other_memory(&self, held: &Held) -> Vec<&str> {
        let is_other = |name: &str, local: &Local| {
            let is_seen = self.find(name).is_some_and(|seen| std::ptr::eq(seen, local));
            is_seen && local.held.as_ref().is_some_and(|it| it.element == held.element && it.space != held.space)
        };
        let locals = self.scopes.iter().flatten().filter(|_| held.element.is_some());
        let mut names: Vec<&str> =
            locals.filter(|(name, local)| is_other(name, local)).map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn find(&self, name: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }
}
