//! What macros stand for, and which of them are being read.

use super::Token;
use super::interner::Symbol;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A macro definition.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) params: Option<Params>,
    pub(super) body: Rc<[Token]>,
}

/// The parameters of a function-like macro.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) names: Vec<Symbol>,
    /// Whether the last parameter takes all remaining arguments.
    pub(super) variadic: bool,
}

/// The definitions that hold.
#[derive(Debug, Default)]
pub(super) struct Macros {
    definitions: Vec<Option<Rc<Macro>>>,
    /// The definitions that `#pragma push_macro` keeps, the last one on top.
    pushed: FxHashMap<Symbol, Vec<Option<Rc<Macro>>>>,
    /// How many expansions of each macro are being read.
    busy: Vec<u32>,
}

impl Macros {
    pub(super) fn definition(&self, name: Symbol) -> Option<Rc<Macro>> {
        self.definitions.get(name.index())?.clone()
    }

    pub(super) fn define(&mut self, name: Symbol, definition: Macro) {
        self.set(name, Some(Rc::new(definition)));
    }

    pub(super) fn undefine(&mut self, name: Symbol) {
        if let Some(slot) = self.definitions.get_mut(name.index()) {
            *slot = None;
        }
    }

    fn set(&mut self, name: Symbol, definition: Option<Rc<Macro>>) {
        if self.definitions.len() <= name.index() {
            self.definitions.resize(name.index() + 64, None);
        }
        self.definitions[name.index()] = definition;
    }

    /// `#pragma push_macro`
    pub(super) fn push(&mut self, name: Symbol) {
        let definition = self.definition(name);
        self.pushed.entry(name).or_default().push(definition);
    }

    /// `#pragma pop_macro`
    pub(super) fn pop(&mut self, name: Symbol) {
        if let Some(definition) = self.pushed.get_mut(&name).and_then(Vec::pop) {
            self.set(name, definition);
        }
    }

    /// Whether an expansion of the macro is being read.
    pub(super) fn is_busy(&self, name: Symbol) -> bool {
        self.busy.get(name.index()).is_some_and(|&expansions| expansions > 0)
    }

    /// One more expansion of the macro is being read.
    pub(super) fn begin(&mut self, name: Symbol) {
        if self.busy.len() <= name.index() {
            self.busy.resize(name.index() + 64, 0);
        }
        self.busy[name.index()] += 1;
    }

    /// An expansion of the macro has been read.
    pub(super) fn end(&mut self, name: Symbol) {
        self.busy[name.index()] -= 1;
    }
}
