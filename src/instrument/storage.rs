//! Shared variables and variables of the device.
//!
//! A shared variable becomes one of the OS thread, which runs one block at a time, and is registered where it is
//! declared. One of unknown size becomes a pointer to the memory that the launch asked for; at namespace scope, where
//! one name may stand for different types, the declaration becomes that of a type and every use asks for the memory.
//! A variable of the device stays what it is and is registered behind its declaration.

use super::Backend;
use super::facts::{GlobalHome, home_of};
use super::items::Walker;
use super::token_edits::quoted;
use super::within::{Pass, Side, Within};
use crate::syntax::{Expr, Item, Name, Qualifier, Variable};
use std::fmt::Write;
use std::ops::Range;

impl<'a> Walker<'a> {
    /// Variables at namespace or class scope.
    pub(super) fn variables(&mut self, item: &'a Item, variables: &'a [Variable], record: Option<&str>) {
        for variable in variables {
            self.scopes.open();
            match record {
                Some(record) if self.side_of_members == Side::Device => self.default_value(variable, record),
                _ => self.initial(variable),
            }
            self.scopes.close();
        }
        if self.source.backend == Backend::Cuda {
            return;
        }
        let Some(range) = self.tokens.range(item.span) else { return };
        let is_static = |it: &Variable| it.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Static));
        let Some(first) = variables.first().filter(|first| record.is_none() || is_static(first)) else { return };
        match home_of(&first.qualifiers, &first.ty) {
            GlobalHome::DynamicShared => self.dynamic_shared_type(range, variables),
            GlobalHome::Shared => {
                self.shared_words(range);
                self.registered.shared_globals.extend(variables.iter().map(|variable| variable.name.text.clone()));
            }
            GlobalHome::Device | GlobalHome::Fixed if record.is_none() => self.register(range, variables),
            _ => {}
        }
    }

    /// What a member is initialised by where its constructor says nothing.
    fn default_value(&mut self, variable: &'a Variable, record: &str) {
        let is_static = variable.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Static));
        if is_static || self.source.backend == Backend::Cuda {
            return self.initial(variable);
        }
        let returns_reference = self.within.returns_reference;
        let constructor = Within {
            side: Side::Device,
            pass: Pass::Both,
            record: Some(record.to_owned()),
            returns_reference,
            // Nobody says that the constructor is not.
            is_constexpr: true,
            ..Within::default()
        };
        let outer = std::mem::replace(&mut self.within, constructor);
        let outer_function = self.notes.enter(format!("{record}::{record}"));
        self.initial(variable);
        self.notes.enter(outer_function);
        self.within = outer;
    }

    /// Variables of a function on the device.
    pub(super) fn local_storage(&mut self, item: &Item, variables: &[Variable]) {
        let Some(first) = variables.first() else { return };
        let is = |wanted: fn(&Qualifier) -> bool| first.qualifiers.iter().any(wanted);
        let is_constant = is(|qualifier| matches!(qualifier, Qualifier::Const | Qualifier::Constexpr));
        let home = home_of(&first.qualifiers, &first.ty);
        let is_static = is(|qualifier| matches!(qualifier, Qualifier::Static)) && !is_constant;
        if home == GlobalHome::Host && !is_static {
            return;
        }
        if self.source.backend == Backend::Cuda && home != GlobalHome::Shared {
            return;
        }
        let Some(range) = self.tokens.range(item.span) else {
            return self.notes.leave_out(item.span, "declaration in a macro that cannot be taken apart".to_owned());
        };
        match home {
            GlobalHome::Shared if self.source.backend == Backend::Cuda => self.native_shared(range, variables),
            GlobalHome::DynamicShared => self.dynamic_shared_pointer(range, variables),
            GlobalHome::Shared => {
                self.shared_words(range.clone());
                let mut text = String::new();
                for Variable { name: Name { text: name, .. }, .. } in variables {
                    // Writing to a string cannot fail.
                    let _ = write!(text, " ::raceproof::shared({}, &{name}, sizeof {name});", quoted(name));
                }
                self.edits.after(range.end - 1, text);
            }
            _ => self.register(range, variables),
        }
    }

    /// `__shared__` becomes `static thread_local`.
    fn shared_words(&mut self, range: Range<usize>) {
        let Some(word) = self.tokens.find(range.clone(), "__shared__") else { return };
        // `__shared__` is an attribute itself, and others may stand behind it; those of C++ stand before `static`.
        let mut last = word;
        while last + 2 < range.end && self.tokens.text(last + 1) == "alignas" {
            let Some(close) = self.tokens.partner(last + 2) else { break };
            last = close;
        }
        if last == word {
            self.edits.replace(word..word + 1, "static thread_local");
        } else {
            self.edits.replace(word..word + 1, "");
            self.edits.after(last, " static thread_local");
        }
        for known in ["static", "extern"] {
            if let Some(again) = self.tokens.find(range.start..range.end, known) {
                self.edits.replace(again..again + 1, "");
            }
        }
    }

    /// `extern __shared__ T s[];` becomes `T (*s) = ::raceproof::dynamic_shared<T>();`.
    fn dynamic_shared_pointer(&mut self, range: Range<usize>, variables: &[Variable]) {
        self.drop_words(range.clone(), &["extern", "__shared__"]);
        for variable in variables {
            let Some((name, open, close)) = self.declarator(variable) else {
                self.notes.leave_out(variable.span, "shared array whose declaration cannot be taken apart".to_owned());
                continue;
            };
            let text = &variable.name.text;
            self.edits.wrap(name..name + 1, "(*", ")");
            self.edits.replace(open..close + 1, "");
            let last = self.tokens.range(variable.span).map_or(close, |declarator| declarator.end - 1);
            let value = format!(" = ::raceproof::dynamic_shared<::std::remove_pointer_t<decltype({text})>>()");
            self.edits.before(last + 1, value);
        }
    }

    /// At namespace scope, `extern __shared__ T s[];` becomes `typedef T raceproof_dynamic_s[];`.
    fn dynamic_shared_type(&mut self, range: Range<usize>, variables: &[Variable]) {
        self.drop_words(range.clone(), &["__shared__"]);
        if let Some(word) = self.tokens.find(range, "extern") {
            self.edits.replace(word..word + 1, "typedef");
        }
        for variable in variables {
            if let Some(name) = self.tokens.range(variable.name.span) {
                self.edits.replace(name, format!("raceproof_dynamic_{}", variable.name.text));
            }
        }
    }

    /// A use of such a name.
    pub(super) fn name_dynamic_shared(&mut self, expr: &Expr, name: &str) {
        if !self.within.is_on_device() || self.source.backend == Backend::Cuda {
            return;
        }
        let Some(range) = self.tokens.range(expr.span) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart".to_owned());
        };
        let of = format!("::std::remove_extent_t<raceproof_dynamic_{name}>");
        self.edits.replace(range, format!("(::raceproof::dynamic_shared<{of}>())"));
    }

    fn drop_words(&mut self, range: Range<usize>, words: &[&str]) {
        for word in words {
            if let Some(at) = self.tokens.find(range.clone(), word) {
                self.edits.replace(at..at + 1, "");
            }
        }
    }

    /// The tokens of `name [ ]`.
    fn declarator(&self, variable: &Variable) -> Option<(usize, usize, usize)> {
        let name = self.tokens.range(variable.name.span)?.start;
        let open = name + 1;
        let close = self.tokens.partner(open).filter(|_| self.tokens.text(open) == "[")?;
        Some((name, open, close))
    }

    /// Registers variables of the device behind their declaration.
    fn register(&mut self, range: Range<usize>, variables: &[Variable]) {
        let is_declared_only = |variable: &Variable| {
            let is_extern = variable.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Extern));
            is_extern && variable.init.is_none()
        };
        let mut text = String::new();
        for variable in variables.iter().filter(|variable| !is_declared_only(variable)) {
            let Some(name) = self.qualified(variable) else { continue };
            let is = |wanted: fn(&Qualifier) -> bool| variable.qualifiers.iter().any(wanted);
            let space = if is(|qualifier| matches!(qualifier, Qualifier::Constant)) {
                "constant_space"
            } else if is(|qualifier| matches!(qualifier, Qualifier::Managed)) {
                "managed_space"
            } else {
                "global_space"
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                " static ::raceproof::symbol raceproof_symbol_{}({}, &{name}, sizeof {name}, ::raceproof::{space});",
                self.registered.symbol(),
                quoted(&variable.name.text),
            );
        }
        self.edits.after(range.end - 1, text);
    }

    /// A declared name with the scopes that are written before it.
    fn qualified(&self, variable: &Variable) -> Option<String> {
        let name = self.tokens.range(variable.name.span)?;
        let mut start = name.start;
        while start >= 2 && self.tokens.text(start - 1) == "::" && !matches!(self.tokens.text(start - 2), ">" | ",") {
            start -= 2;
        }
        Some(self.tokens.join(start..name.end))
    }
}
