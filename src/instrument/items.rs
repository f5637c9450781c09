//! Declarations: which functions run on the device, and what is known when their bodies are walked.

use super::coverage::Counters;
use super::facts::{Facts, GlobalHome, callable, home_of};
use super::guards::guards;
use super::mutants::Mutators;
use super::notes::Notes;
use super::passes::pairs;
use super::registered::Registered;
use super::scope::{Held, Home, Local, Scopes, Shape, Space, stated_space};
use super::token_edits::TokenEdits;
use super::tokens::Tokens;
use super::within::{Side, Within, pass_of};
use super::{Backend, Purpose, Source};
use crate::source::{Language, Span};
use crate::syntax::{Aside, Function, Init, Item, ItemKind, Param, Qualifier, Record, Type, TypeKind, Variable};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What is collected, and where the walk stands.
pub(super) struct Walker<'a> {
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) source: &'a Source<'a>,
    pub(super) facts: Facts,
    /// Asides with their tokens, outer ones before inner ones.
    pub(super) asides: Vec<(Range<usize>, &'a Aside)>,
    pub(super) edits: TokenEdits,
    pub(super) notes: Notes<'a>,
    pub(super) registered: Registered,
    pub(super) scopes: Scopes,
    pub(super) within: Within<'a>,
    /// Where the members of the record at hand are initialised.
    pub(super) side_of_members: Side,
    /// Names of functions that host and device have each their own of.
    pub(super) pairs: FxHashSet<String>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(tokens: &'a Tokens<'a>, source: &'a Source<'a>) -> Walker<'a> {
        let mut asides: Vec<(Range<usize>, &Aside)> =
            source.asides.iter().filter_map(|aside| Some((tokens.range(aside.span)?, aside))).collect();
        asides.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        Walker {
            tokens,
            source,
            facts: Facts::collect(source.unit),
            asides,
            edits: TokenEdits::default(),
            notes: Notes::new(tokens),
            registered: Registered::default(),
            scopes: Scopes::default(),
            within: Within::default(),
            side_of_members: Side::Host,
            pairs: match source.backend {
                Backend::Cpu => pairs(&source.unit.items, tokens),
                // nvcc knows which of the two is meant.
                Backend::Cuda => FxHashSet::default(),
            },
        }
    }

    /// Walks the whole unit.
    pub(super) fn unit(&mut self) {
        self.items(&self.source.unit.items, None);
    }

    pub(super) fn items(&mut self, items: &'a [Item], record: Option<&str>) {
        for item in items {
            match &item.kind {
                ItemKind::Function(function) => self.function(item, function, record),
                ItemKind::Variables(variables) if variables.iter().any(|it| !it.template.is_empty()) => {
                    self.unread(item.span, "variable template");
                }
                ItemKind::Variables(variables) => self.variables(item, variables, record),
                ItemKind::Record(inner) => {
                    let name = inner.name.text.clone();
                    self.members(inner, &name);
                }
                ItemKind::Alias { name, ty, .. } => self.records_in(ty, &name.text),
                ItemKind::Namespace { items, .. } => self.items(items, record),
                ItemKind::Unsupported(reason) => self.unread(item.span, reason),
                _ => {}
            }
        }
    }

    /// The members of a record. What they are initialised by runs where its constructors do: on the device, if methods do.
    fn members(&mut self, record: &'a Record, name: &str) {
        let members = record.members.as_deref().unwrap_or_default();
        let is_of_device = members.iter().any(|member| match &member.kind {
            ItemKind::Function(function) => function.qualifiers.iter().any(|it| matches!(it, Qualifier::Device)),
            _ => false,
        });
        let side = if is_of_device { Side::Device } else { Side::Host };
        let outer = std::mem::replace(&mut self.side_of_members, side);
        self.items(members, Some(name));
        self.side_of_members = outer;
    }

    /// A record that is defined inside a declaration.
    fn records_in(&mut self, ty: &'a Type, alias: &str) {
        match &ty.kind {
            TypeKind::Record(record) => {
                let name = if record.name.text.is_empty() { alias } else { &record.name.text };
                self.members(record, name);
            }
            TypeKind::Array(inner, _) | TypeKind::Pointer(inner) => self.records_in(inner, alias),
            _ => {}
        }
    }

    /// A declaration that could not be read; what it says of the device is lost.
    fn unread(&mut self, span: Span, reason: &str) {
        let Some(range) = self.tokens.range(span) else { return };
        let is_device = |at: usize| matches!(self.tokens.text(at), "__global__" | "__device__" | "__kernel");
        if range.clone().any(is_device) {
            self.notes.leave_out(span, reason.to_owned());
        }
    }

    fn function(&mut self, item: &'a Item, function: &'a Function, record: Option<&str>) {
        self.rename_half(function);
        let Some(body) = &function.body else { return };
        let is = |wanted: fn(&Qualifier) -> bool| function.qualifiers.iter().any(wanted);
        let is_kernel = is(|qualifier| matches!(qualifier, Qualifier::Kernel));
        let on_device = is_kernel
            || is(|qualifier| matches!(qualifier, Qualifier::Device))
            || self.source.unit.dialect.language() == Language::OpenCl;
        let segments: Vec<&str> = function.path.segments.iter().map(|segment| segment.name.text.as_str()).collect();
        let outer = segments.iter().rev().nth(1).copied().filter(|name| self.facts.is_record(name));
        let record_here = outer.or(record).map(str::to_owned);
        let name = match (&record_here, outer) {
            (Some(record), None) => format!("{record}::{}", segments.join("::")),
            _ => segments.join("::"),
        };
        self.notes.enter(name);
        self.within = Within {
            side: if on_device { Side::Device } else { Side::Host },
            pass: pass_of(function),
            record: record_here,
            returns_reference: callable(function, &self.facts).returns_reference,
            is_constexpr: is(|qualifier| matches!(qualifier, Qualifier::Constexpr)),
            ..Within::default()
        };
        if self.source.purpose.counts() && on_device && self.within.is_constexpr {
            self.notes.leave_uncounted(item.span, "a function that is `constexpr`");
        }
        self.scopes.open();
        self.params(&function.params);
        self.memory_of_params(function);
        if is_kernel {
            match self.source.backend {
                Backend::Cpu => self.kernel(item, function),
                Backend::Cuda => self.native_kernel(item, function),
            }
        }
        for (name, values) in &function.initializers {
            self.initialize_member(&name.text, values);
        }
        self.block(body);
        self.scopes.close();
        self.within = Within::default();
        self.notes.enter(String::new());
    }

    /// Whether points of coverage are wanted here.
    pub(super) fn covers(&self) -> bool {
        matches!(self.source.purpose, Purpose::Cover | Purpose::Search)
            && self.within.is_on_device()
            && !self.within.is_constexpr
    }

    /// Puts points of coverage where they are wanted.
    pub(super) fn cover(&mut self, put: impl FnOnce(&mut Counters<'_, 'a>)) {
        if self.covers() {
            let language = Language::Cuda;
            let compares = self.source.purpose == Purpose::Search;
            let (edits, notes) = (&mut self.edits, &mut self.notes);
            put(&mut Counters { language, tokens: self.tokens, edits, notes, compares });
        }
    }

    /// Puts mutants where they are wanted.
    pub(super) fn mutate(&mut self, put: impl FnOnce(&mut Mutators<'_, 'a>)) {
        let is_in_function = !self.notes.function().is_empty();
        if self.within.is_on_device() && is_in_function && !self.within.is_constexpr && !self.within.is_fixed {
            self.mutate_anywhere(put);
        }
    }

    /// The same, in code of the host, too.
    pub(super) fn mutate_anywhere<T: Default>(&mut self, put: impl FnOnce(&mut Mutators<'_, 'a>) -> T) -> T {
        let Purpose::Mutate(untouched) = self.source.purpose else { return T::default() };
        let ahead = self.within.ahead;
        put(&mut Mutators {
            tokens: self.tokens,
            facts: &self.facts,
            scopes: &self.scopes,
            language: self.source.unit.dialect.language(),
            edits: &mut self.edits,
            notes: &mut self.notes,
            ahead,
            untouched,
        })
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        for param in params {
            let local = self.local_of_param(param);
            self.scopes.declare(&param.name.text, local);
        }
    }

    fn local_of_param(&self, param: &Param) -> Local {
        let local = self.local(&param.ty, Shape::as_parameter);
        // What stands for many is none of them.
        if param.pack { Local { home: Home::Own, shape: Shape::Unknown, ..local } } else { local }
    }

    /// What is known of the memory that the pointers lead to that a function takes: those of a kernel of CUDA lead to the device's, and OpenCL
    /// says it of each.
    fn memory_of_params(&mut self, function: &Function) {
        let is_of_cuda = self.source.unit.dialect.language() == Language::Cuda;
        let is_kernel = function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel));
        for param in &function.params {
            let space =
                if is_of_cuda { is_kernel.then_some(Space::Global) } else { stated_space(&param.ty, &self.facts) };
            let held = space.map(|space| Held::by(&param.ty, space, &self.facts));
            let local = Local { held: held.filter(|_| !param.pack), ..self.local_of_param(param) };
            self.scopes.declare(&param.name.text, local);
        }
    }

    fn local(&self, ty: &Type, adjust: fn(Shape) -> Shape) -> Local {
        let is_reference = self.facts.is_reference(ty);
        let shape = Shape::of(ty, &self.facts);
        Local {
            home: if is_reference { Home::Memory } else { Home::Own },
            shape: if is_reference { shape } else { adjust(shape) },
            callable: None,
            is_constant: false,
            held: None,
        }
    }

    /// A variable of a function, after its initial value was walked.
    pub(super) fn declare(&mut self, variable: &Variable) {
        let mut local = self.local(&variable.ty, |shape| shape);
        if let (Shape::Unknown, Some(Init::Value(value))) = (&local.shape, &variable.init)
            && self.shape(value) == Shape::Object
        {
            // `auto`
            local.shape = Shape::Object;
        }
        let is = |wanted: fn(&Qualifier) -> bool| variable.qualifiers.iter().any(wanted);
        let is_constant = is(|qualifier| matches!(qualifier, Qualifier::Const | Qualifier::Constexpr));
        match home_of(&variable.qualifiers, &variable.ty) {
            GlobalHome::Shared | GlobalHome::Device => local.home = Home::Memory,
            // What stands for it is a pointer of the thread.
            GlobalHome::DynamicShared => local.shape = Shape::Pointer(local.shape.inside().into()),
            GlobalHome::Host if is(|qualifier| matches!(qualifier, Qualifier::Static)) && !is_constant => {
                local.home = Home::Memory;
            }
            GlobalHome::Fixed | GlobalHome::Host => {}
        }
        if matches!(home_of(&variable.qualifiers, &variable.ty), GlobalHome::Shared | GlobalHome::DynamicShared) {
            local.held = Some(Held::by(&variable.ty, Space::Shared, &self.facts));
        }
        local.callable = self.callable_of(variable.init.as_ref());
        local.is_constant = self.is_constant(variable);
        if self.within.is_on_device()
            && matches!(&variable.ty.kind, TypeKind::Unsupported(it) if it == "decltype(auto)")
        {
            self.notes.leave_out(variable.span, "variable of type decltype(auto)".to_owned());
        }
        if self.within.is_on_device() && is_binding(&variable.ty) {
            self.notes.leave_out(variable.span, "structured binding".to_owned());
        }
        self.scopes.declare(&variable.name.text, local);
    }

    /// What a variable calls that is a lambda.
    fn callable_of(&self, init: Option<&Init>) -> Option<super::facts::Callable> {
        let Some(Init::Value(value)) = init else { return None };
        let range = self.tokens.range(value.span)?;
        let found = self.asides.iter().find(|(tokens, _)| *tokens == range)?;
        match &found.1.kind {
            crate::syntax::AsideKind::Lambda { params, .. } => Some(super::facts::passing(params, false, &self.facts)),
            _ => None,
        }
    }

    /// Device code that conditionals leave out is not instrumented; a compiler that takes it must stop.
    pub(super) fn guards(&self) -> Vec<(Span, String)> {
        let mut guards = guards(self.tokens, self.source, &self.device_bodies(), &["__global__", "__device__"]);
        if self.source.backend == Backend::Cuda {
            guards.iter_mut().for_each(|(_, message)| *message = super::native::for_device(message));
        }
        guards
    }

    /// The visible ranges of all functions that run on the device.
    fn device_bodies(&self) -> Vec<Span> {
        let mut found = Vec::new();
        let mut waiting: Vec<&Item> = self.source.unit.items.iter().collect();
        while let Some(item) = waiting.pop() {
            match &item.kind {
                ItemKind::Function(function) => {
                    let is_device = |it: &Qualifier| matches!(it, Qualifier::Device | Qualifier::Kernel);
                    if function.body.is_some() && function.qualifiers.iter().any(is_device) {
                        found.push(self.tokens.sources().visible(self.tokens.place_of(item.span)));
                    }
                }
                ItemKind::Namespace { items, .. } => waiting.extend(items),
                ItemKind::Record(record) => waiting.extend(record.members.iter().flatten()),
                _ => {}
            }
        }
        found
    }
}

fn is_binding(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Unsupported(reason) if reason == "structured binding")
}
