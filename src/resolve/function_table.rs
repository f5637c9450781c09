//! All functions of a program, instances of templates each by itself, and what is known of them beside their bodies.
//!
//! Deliberately absent: how instances are made and resolved ([`super::function`]).

use super::entities::{ScopeId, TemplateValue};
use super::packs::Packs;
use super::program::{Function, FunctionId, TypeId, VariableId};
use crate::arena::Arena;
use crate::syntax;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// Identity of a function instance: its syntax by address, the scope that it stands in (each instance of a class
/// template has its own), its template arguments, and the groups of threads that are given for parameters that take
/// any.
pub(super) type InstanceKey = (usize, ScopeId, Vec<TemplateValue>, Vec<(usize, TypeId)>);

/// What is known of a function beside its [`Function`].
#[derive(Clone, Debug)]
pub(super) struct FunctionInfo<'u> {
    /// Its syntax.
    pub(super) syntax: &'u syntax::Function,
    /// The scope that holds its parameters.
    pub(super) scope: ScopeId,
    /// The parameter `this`.
    pub(super) this: Option<VariableId>,
    /// Whether it returns a reference.
    pub(super) returns_reference: bool,
    /// Whether its result type is written `auto`.
    pub(super) result_is_auto: bool,
    /// Whether its body has been resolved, or is being.
    pub(super) started: bool,
}

/// All functions of a program.
pub(super) struct Functions<'u> {
    all: Arena<Function>,
    /// Templates with packs, without these.
    pub(super) packs: Packs<'u>,
    /// What is known of them beside their bodies, by index.
    pub(super) infos: Vec<FunctionInfo<'u>>,
    /// Those that have been made of declarations.
    pub(super) instances: FxHashMap<InstanceKey, FunctionId>,
    /// How many of them are not simply written in a namespace.
    pub(super) of_templates: usize,
    /// Those whose bodies have not been resolved yet.
    pub(super) queue: VecDeque<FunctionId>,
}

impl<'u> Functions<'u> {
    /// None yet.
    pub(super) fn new(packs: Packs<'u>) -> Self {
        Functions {
            all: Arena::default(),
            packs,
            infos: Vec::new(),
            instances: FxHashMap::default(),
            of_templates: 0,
            queue: VecDeque::new(),
        }
    }
}

impl Index<FunctionId> for Functions<'_> {
    type Output = Function;

    fn index(&self, function: FunctionId) -> &Function {
        &self.all[function]
    }
}

impl IndexMut<FunctionId> for Functions<'_> {
    fn index_mut(&mut self, function: FunctionId) -> &mut Function {
        &mut self.all[function]
    }
}

impl Functions<'_> {
    /// All of them, for the program.
    pub(super) fn into_all(self) -> Arena<Function> {
        self.all
    }

    /// Adds one of which nothing else is known.
    pub(super) fn add(&mut self, function: Function) -> FunctionId {
        self.all.push(function)
    }
}
