//! The first pass: what names the items of a scope declare. Bodies, types of variables and values of
//! initialisers are left for their first use; enumerators get their values here, in order.

use super::context::Resolver;
use super::entities::{Entity, FunctionDecl, Global, Outside, RecordDecl, Scope, ScopeId};
use super::program::Type;
use super::qualified::Written;
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::source::Language;
use crate::syntax::{self, Item, ItemKind, Qualifier, TypeKind};
use rustc_hash::FxHashMap;

impl<'u> Resolver<'u> {
    /// Declares what `items` name in the current scope.
    pub(super) fn declare_items(&mut self, items: &'u [Item]) {
        for item in items {
            self.declare_item(item);
        }
    }

    /// Declares what one item names in the current scope.
    pub(super) fn declare_item(&mut self, item: &'u Item) {
        match &item.kind {
            ItemKind::Function(function) => self.declare_function(function),
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.declare_inside(&variable.ty);
                    self.declare_global(variable);
                }
            }
            ItemKind::Record(record) => self.declare_named_record(record),
            ItemKind::Enum(definition) => {
                self.declare_enum(definition);
            }
            ItemKind::Alias { name, template, ty } => {
                self.declare_inside(ty);
                if !is_same_name(ty, &name.text) {
                    self.declare(&name.text, Entity::Alias(template, ty, self.scope));
                }
            }
            ItemKind::Namespace { name, inline, items } => self.declare_namespace(name, *inline, items),
            ItemKind::UsingNamespace(path) => {
                self.visible.note_order(path);
                self.scopes[self.scope.0].pending_using.push(path);
            }
            ItemKind::UsingName { name, path } => {
                self.visible.note_order(path);
                self.declare(&name.text, Entity::Path(path, self.scope));
            }
            ItemKind::ExplicitInstantiation { .. } | ItemKind::RecordInstantiation(_) | ItemKind::StaticAssert(_) => {}
            ItemKind::Unsupported(reason) => self.diagnostics.push(Diagnostic {
                rule: RuleId::Unsupported,
                severity: Severity::Note,
                message: format!("{reason} is not understood here"),
                primary: Label { span: item.span, text: reason.clone() },
                secondary: Vec::new(),
                notes: Vec::new(),
                fix: None,
                hidden: None,
            }),
        }
    }

    /// Declares a function, or remembers the definition of a member outside of its record.
    fn declare_function(&mut self, function: &'u syntax::Function) {
        let Some((last, outer)) = function.path.segments.split_last() else {
            return;
        };
        self.visible.note_order(function);
        let record = self.scopes[self.scope.0].record;
        let decl = FunctionDecl { syntax: function, scope: self.scope, record };
        if outer.is_empty() {
            let is_friend = function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Friend));
            if is_friend && record.is_some() {
                let decl = FunctionDecl { record: None, ..decl };
                self.scopes[self.scope.0].friends.push((&last.name.text, decl));
                return;
            }
            let home = self.home_of(self.scope, function);
            self.within(home, |this| this.declare(&last.name.text, Entity::Function(decl)));
            return;
        }
        match self.owner(outer) {
            Some(Owner::Record(index)) => self.records.decls[index].outside.push(Outside::Function(function)),
            Some(Owner::Namespace(namespace)) => {
                let decl = FunctionDecl { scope: namespace, record: None, ..decl };
                let home = self.home_of(namespace, function);
                self.within(home, |this| this.declare(&last.name.text, Entity::Function(decl)));
            }
            None => self.declare_inner(function, outer),
        }
    }

    /// Remembers the definition of a member of a class that is a member of another, unless it has template parameters, of which
    /// it does not show whose they are.
    fn declare_inner(&mut self, function: &'u syntax::Function, outer: &'u [syntax::PathSegment]) {
        let has_params = function.template.as_ref().is_some_and(|params| !params.is_empty());
        if let ([owner, _], false) = (outer, has_params)
            && let Some(Owner::Record(index)) = self.owner(std::slice::from_ref(owner))
        {
            self.records.decls[index].outside.push(Outside::Inner(function));
        }
    }

    /// Where a function is declared that stands in a scope: a specialisation belongs to its template, which may be in an inline
    /// namespace.
    fn home_of(&self, scope: ScopeId, function: &syntax::Function) -> ScopeId {
        let name = function.path.segments.last().map_or("", |last| last.name.text.as_str());
        let mut open = match function.template.as_deref() {
            Some([]) => vec![scope],
            _ => Vec::new(),
        };
        while let Some(at) = open.pop() {
            if self.scopes[at.0].names.contains_key(name) {
                return at;
            }
            open.extend(&self.scopes[at.0].inline);
        }
        scope
    }

    /// Declares a variable at namespace scope, or remembers the definition of a static member outside of its class.
    fn declare_global(&mut self, variable: &'u syntax::Variable) {
        self.visible.note_order(variable);
        let global = Global::new(variable, self.scope);
        let scope = match (variable.outer.last(), self.owner(&variable.outer)) {
            (Some(last), Some(Owner::Record(index))) => {
                self.records.decls[index].outside.push(Outside::Variable(last, variable));
                return;
            }
            (_, Some(Owner::Namespace(namespace))) => namespace,
            _ => self.scope,
        };
        self.globals.push(Global { scope, ..global });
        let entity = Entity::Global(self.globals.len() - 1);
        self.within(scope, |this| this.declare(&variable.name.text, entity));
    }

    /// Declares a record where its name says.
    fn declare_named_record(&mut self, record: &'u syntax::Record) {
        match (record.outer.last(), self.owner(&record.outer)) {
            (Some(last), Some(Owner::Record(index))) => {
                self.records.decls[index].outside.push(Outside::Record(last, record));
            }
            (_, Some(Owner::Namespace(namespace))) => self.within(namespace, |this| this.declare_record(record)),
            _ => self.declare_record(record),
        }
    }

    /// The class or namespace that stands before a name; `None` if there is none, or none that is known.
    fn owner(&mut self, outer: &'u [syntax::PathSegment]) -> Option<Owner> {
        let (owner, before) = outer.split_last()?;
        let mut scope = self.scope;
        for segment in before {
            scope = self.namespace_in(scope, &segment.name.text)?;
        }
        let entities = self.within(scope, |this| this.lookup(&owner.name.text));
        entities.into_iter().find_map(|entity| match entity {
            Entity::Record(index) => Some(Owner::Record(index)),
            Entity::Namespace(namespace) => Some(Owner::Namespace(namespace)),
            _ => None,
        })
    }

    /// The namespace of that name.
    fn namespace_in(&mut self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        self.within(scope, |this| this.lookup(name)).into_iter().find_map(|entity| match entity {
            Entity::Namespace(namespace) => Some(namespace),
            _ => None,
        })
    }

    /// Declares a namespace, or adds to one; an unnamed one shares the names of the scope around it.
    fn declare_namespace(&mut self, name: &'u syntax::Name, inline: bool, items: &'u [Item]) {
        if name.text.is_empty() {
            self.declare_items(items);
            return;
        }
        let known = self.scopes[self.scope.0].names.get(&name.text).and_then(|entities| {
            entities.iter().find_map(|entity| match entity {
                Entity::Namespace(scope) => Some(*scope),
                _ => None,
            })
        });
        let scope = known.unwrap_or_else(|| {
            let prefix = format!("{}{}::", self.scopes[self.scope.0].prefix, name.text);
            let scope = self.add_scope(Scope { prefix, is_namespace: true, ..Scope::inside(self.scope) });
            self.declare(&name.text, Entity::Namespace(scope));
            if inline {
                self.scopes[scope.0].is_inline = true;
                self.scopes[self.scope.0].inline.push(scope);
            }
            scope
        });
        self.within(scope, |this| this.declare_items(items));
    }

    /// Declares a record, adds a specialisation to its template or completes a forward declaration.
    pub(super) fn declare_record(&mut self, record: &'u syntax::Record) {
        self.visible.note_order(record);
        let name = &record.name.text;
        let entities = match record.specialization {
            // The template may stand in an inline namespace.
            Some(_) if self.scopes[self.scope.0].is_namespace => self.declared_in(self.scope, name),
            _ => self.scopes[self.scope.0].names.get(name).cloned().unwrap_or_default(),
        };
        let known = entities.iter().find_map(|entity| match entity {
            Entity::Record(index) => Some(*index),
            _ => None,
        });
        if let Some(index) = known {
            let decl = &mut self.records.decls[index];
            if record.specialization.is_some() {
                decl.specializations.push(record);
            } else if decl.primary.members.is_none() {
                decl.primary = record;
            }
            return;
        }
        if record.name.text.is_empty() {
            return;
        }
        let index = self.add_record_decl(record);
        self.declare(&record.name.text, Entity::Record(index));
    }

    /// Adds a declaration of a record that no name in scope refers to yet.
    pub(super) fn add_record_decl(&mut self, record: &'u syntax::Record) -> usize {
        self.records.decls.push(RecordDecl {
            name: &record.name.text,
            scope: self.scope,
            primary: record,
            specializations: Vec::new(),
            outside: Vec::new(),
            instances: FxHashMap::default(),
        });
        self.records.decls.len() - 1
    }

    /// Declares records and enums that are defined inside the type of another declaration.
    pub(super) fn declare_inside(&mut self, ty: &'u syntax::Type) {
        let mut ty = ty;
        loop {
            match &ty.kind {
                TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) => ty = inner,
                TypeKind::Record(record) => {
                    if !record.name.text.is_empty() && record.specialization.is_none() {
                        self.declare_record(record);
                    }
                    return;
                }
                TypeKind::Enum(definition) => {
                    let enumeration = self.declare_enum(definition);
                    let key = (std::ptr::from_ref(&**definition) as usize, self.scope);
                    self.inline_types.insert(key, enumeration);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Declares an enumeration with its constants and returns its type.
    pub(super) fn declare_enum(&mut self, definition: &'u syntax::Enum) -> Written {
        let underlying = definition.underlying.as_ref().map(|ty| self.resolve_type(ty).ty);
        let mut ty = underlying.unwrap_or(self.types.common.int);
        let constants = self.add_scope(Scope::inside(self.scope));
        let mut next = Some(0_i128);
        let mut values = Vec::new();
        for (name, value) in &definition.constants {
            if let Some(value) = value {
                // Constants may use the ones before them.
                next = self.within(constants, |this| this.constant_of(value));
            }
            // A constant whose value is not known leaves those after it unknown, too, and undeclared.
            let Some(value) = next else { continue };
            if underlying.is_none() && !(-(1 << 31)..1 << 31).contains(&value) {
                let signed = value < 0;
                let width = if value < 1 << 32 && !signed { 32 } else { 64 };
                ty = self.types.intern(Type::Int { width, signed });
            }
            self.within(constants, |this| this.declare(&name.text, Entity::Constant(value, ty)));
            values.push((&name.text, value));
            self.told.enumerators.push((name.span, value));
            next = value.checked_add(1);
        }
        let integer = ty;
        // In C the constants are of type `int`, and every compiler of OpenCL makes an enumeration unsigned if it can.
        let is_unsigned = self.language == Language::OpenCl && values.iter().all(|&(_, value)| value >= 0);
        if is_unsigned && underlying.is_none() && ty == self.types.common.int {
            ty = self.types.common.uint;
        }
        // In C++ they are of the enumeration's type behind its end.
        let ty = self.types.enumeration(ty, definition.scoped, self.scope);
        let of_constants = if self.language == Language::OpenCl { integer } else { ty };
        for &(name, value) in &values {
            self.within(constants, |this| this.declare(name, Entity::Constant(value, of_constants)));
            if !definition.scoped {
                self.declare(name, Entity::Constant(value, of_constants));
            }
        }
        self.declare(&definition.name.text, Entity::Enum(ty, constants));
        // In C, and with a fixed underlying type, an enumeration has all values of an integer type.
        let is_limited = self.language == Language::Cuda && underlying.is_none() && !definition.scoped;
        let range =
            if is_limited && values.len() == definition.constants.len() { Some(values_of(&values)) } else { None };
        if let Some(range) = range {
            self.enum_ranges.insert(constants, range);
        }
        Written { range, ..Written::plain(ty) }
    }
}

/// What stands before the name of something that is declared.
enum Owner {
    Record(usize),
    Namespace(ScopeId),
}

/// The values of an enumeration without a fixed underlying type: those of the narrowest integer type that holds
/// its constants (C++17, [dcl.enum] paragraph 8), so that flags can be combined.
fn values_of(constants: &[(&String, i128)]) -> (i128, i128) {
    let values = || constants.iter().map(|&(_, value)| value);
    let least = values().min().unwrap_or(0);
    let magnitude = values().map(|value| if value < 0 { -(value + 1) } else { value }).max().unwrap_or(0);
    let mut greatest = 1_i128;
    while greatest < magnitude {
        greatest = 2 * greatest + 1;
    }
    (if least < 0 { -greatest - 1 } else { 0 }, greatest)
}

/// Whether `typedef struct S S;` gives a type its own name again.
fn is_same_name(ty: &syntax::Type, name: &str) -> bool {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.len() == 1 && path.segments[0].name.text == name,
        TypeKind::Record(record) => record.name.text == name,
        TypeKind::Enum(definition) => definition.name.text == name,
        _ => false,
    }
}
