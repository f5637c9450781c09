//! A unit whose declarations are known and whose kernels are not resolved yet: all that code which reads host code may
//! ask of names, types and constants, and the way from there to the program.
//!
//! Host code names kernels and gives them arguments and template arguments. Whoever looks at it moves through scopes
//! ([`Declared::enter`]), declares its variables, says what is known of them at the place at hand
//! ([`Declared::set_constant`]), and asks what a name, a type or an expression means there. Then the kernels are
//! resolved with the template arguments that were found ([`Declared::resolve_kernels`]).
//!
//! Guarantees: what stands outside of this file is not to be seen from other rooms, but for the types of what is asked
//! and answered. Between [`Declared::begin_host`] and [`Declared::end_host`] calls are not followed, and what is not
//! understood is no reason to look for headers.
//!
//! Deliberately absent: what host code does, in what order, and what follows of it for launches.

use super::call::functions_of;
use super::context::{DEPTH_LIMIT, Frame, Resolver};
use super::entities::{Entity, Found, FunctionDecl, Scope, ScopeId, TemplateValue};
use super::kernel::Request;
use super::overload::Chosen;
use super::program::{Expr, FunctionId, RecordId, Storage, Type, TypeId, Variable, VariableId};
use super::qualified::Written;
use super::type_table::Common;
use super::{Parts, platform};
use crate::source::{Language, SourceMap, Span};
use crate::syntax::{self, Item, Path, Qualifier, TemplateArg, TemplateParam};

/// A unit whose declarations are known.
pub(crate) struct Declared<'u> {
    resolver: Resolver<'u>,
    /// Its kernels, in source order.
    kernels: Vec<FunctionDecl<'u>>,
    /// The arguments that explicit instantiations give to templates.
    requests: Vec<Request>,
}

/// What a name stands for that the unit declares.
pub(crate) struct Named<'u> {
    /// The functions among it, in the order of their declarations.
    pub(crate) functions: Vec<FunctionDecl<'u>>,
    /// The variables at namespace scope among it.
    pub(crate) globals: Vec<&'u syntax::Variable>,
    /// Whether a class is among it.
    pub(crate) has_class: bool,
    /// How much it stands for.
    pub(crate) count: usize,
}

/// A name that the unit does not declare, with aliases of namespaces expanded.
pub(crate) struct Undeclared(pub(crate) String);

/// What an object of a class may keep of what it is made from.
pub(crate) struct Class<'u> {
    pub(crate) name: &'u str,
    pub(crate) constructors: Vec<FunctionDecl<'u>>,
    pub(crate) bases: Vec<RecordId>,
    /// The types of its fields.
    pub(crate) fields: Vec<TypeId>,
    /// Whether its fields share their bytes.
    pub(crate) is_union: bool,
    /// Whether it has bases that are not known.
    pub(crate) has_unknown_base: bool,
    /// Whether fields of it are references.
    pub(crate) has_references: bool,
}

/// Lanes of a vector, as far as they are constants.
pub(crate) type Lanes = Vec<Option<i128>>;

impl<'u> Declared<'u> {
    /// The declarations of a unit.
    pub(crate) fn of(unit: &'u syntax::Unit) -> Self {
        let mut resolver = Resolver::new(unit.dialect, &unit.sources, &unit.made);
        resolver.declare_items(&unit.items);
        let mut kernels = Vec::new();
        resolver.collect_kernels(resolver.scope, &unit.items, &mut kernels);
        let mut requests = Vec::new();
        resolver.explicit_instances(resolver.scope, &unit.items, &mut requests);
        Declared { resolver, kernels, requests }
    }

    /// The arguments that explicit instantiations give to a template.
    pub(crate) fn stated_for(&self, function: &syntax::Function) -> Vec<Vec<TemplateValue>> {
        let key = std::ptr::from_ref(function) as usize;
        self.requests.iter().filter(|(wanted, _)| *wanted == key).map(|(_, values)| values.clone()).collect()
    }

    /// What stands between here and [`Declared::end_host`] is host code.
    pub(crate) fn begin_host(&mut self) {
        self.resolver.in_host = true;
    }

    /// What stands from here on is another function of the host.
    pub(crate) fn begin_function(&mut self) {
        self.resolver.frame = Frame::none();
    }

    /// The end of host code.
    pub(crate) fn end_host(&mut self) {
        self.resolver.in_host = false;
        self.resolver.frame = Frame::none();
    }
}

/// The way from declarations to the program.
impl<'u> Declared<'u> {
    /// Resolves all kernels and what they reach, templates with the arguments of explicit instantiations and those that
    /// launches give.
    pub(crate) fn resolve_kernels(&mut self, launched: &[(FunctionDecl<'u>, &Vec<TemplateValue>)]) {
        let requests = std::mem::take(&mut self.requests);
        self.resolver.resolve_kernels(&self.kernels, requests, launched);
    }

    /// The function that a launch is of, once kernels are resolved.
    pub(crate) fn launched(&mut self, decl: FunctionDecl<'u>, values: Vec<TemplateValue>) -> Option<FunctionId> {
        self.resolver.launched(decl, values)
    }

    /// The kernels, with their syntax, once they are resolved.
    pub(crate) fn kernels(&self) -> Vec<(FunctionId, *const syntax::Function)> {
        self.resolver.kernels.iter().map(|&function| (function, self.syntax_of(function))).collect()
    }

    /// The syntax of a function.
    pub(crate) fn syntax_of(&self, function: FunctionId) -> *const syntax::Function {
        std::ptr::from_ref(self.resolver.functions.infos[function.index()].syntax)
    }

    /// The arguments of a launch as the kernel's parameters hold them.
    pub(crate) fn held_by_parameters(&self, function: FunctionId, args: &[Option<i128>]) -> Vec<Option<i128>> {
        let held = |(position, &param): (usize, &VariableId)| {
            let value = (*args.get(position)?)?;
            let ty = self.resolver.variables[param].ty;
            matches!(self.resolver.types[ty], Type::Int { .. } | Type::Bool)
                .then(|| self.resolver.types.wrap(value, ty))
        };
        self.resolver.functions[function].params.iter().enumerate().map(held).collect()
    }

    /// States how large the clusters are that a kernel is launched with, unless it says so itself.
    pub(crate) fn assume_clusters(&mut self, function: FunctionId, [x, y, z]: [u32; 3]) {
        let function = &mut self.resolver.functions[function];
        if function.geometry.cluster.is_none() {
            function.geometry.cluster = Some([x, y, z]);
            function.assumed.push(format!("clusters of ({x},{y},{z}) blocks, as in the launches in this file"));
        }
    }

    /// What has been resolved.
    pub(crate) fn finish(self) -> Parts {
        let resolver = self.resolver;
        Parts {
            language: resolver.language,
            platform: platform(resolver.dialect, resolver.uses_opencl_2),
            records: resolver.records.into_all(),
            variables: resolver.variables.into_all(),
            functions: resolver.functions.into_all(),
            kernels: resolver.kernels,
            numbers: resolver.types.numbers.clone(),
            types: resolver.types.into_all(),
            diagnostics: resolver.diagnostics,
            missed: resolver.missed.get(),
            told: resolver.told,
        }
    }
}

/// Scopes, and what is declared in them.
impl<'u> Declared<'u> {
    /// The files of the unit.
    pub(crate) fn sources(&self) -> &'u SourceMap {
        self.resolver.sources
    }

    /// The language of the unit.
    pub(crate) fn language(&self) -> Language {
        self.resolver.language
    }

    /// Where names are looked up now.
    pub(crate) fn scope(&self) -> ScopeId {
        self.resolver.scope
    }

    /// The scope of a namespace in another.
    pub(crate) fn inner_scope(&self, scope: ScopeId, name: &str) -> ScopeId {
        self.resolver.inner_scope(scope, name)
    }

    /// Looks names up in another scope from here on; gives the one at hand, to [`Declared::leave`] for.
    pub(crate) fn enter(&mut self, scope: ScopeId) -> ScopeId {
        std::mem::replace(&mut self.resolver.scope, scope)
    }

    /// Enters a new block.
    pub(crate) fn enter_block(&mut self) -> ScopeId {
        let block = self.resolver.add_scope(Scope::inside(self.resolver.scope));
        self.enter(block)
    }

    /// Goes back to a scope that was left.
    pub(crate) fn leave(&mut self, outer: ScopeId) {
        self.resolver.scope = outer;
    }

    /// Runs `work` with names looked up in `scope`.
    pub(crate) fn within<T>(&mut self, scope: ScopeId, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.enter(scope);
        let result = work(self);
        self.leave(outer);
        result
    }

    /// The scope of a template's parameters with these arguments.
    pub(crate) fn bind(&mut self, home: ScopeId, params: &'u [TemplateParam], values: &[TemplateValue]) -> ScopeId {
        self.resolver.bind(home, params, values)
    }

    /// A parameter of a template of the host that nothing gives.
    pub(crate) fn open_parameter(&mut self, name: &str) {
        let open = self.resolver.types.unknown(name);
        self.resolver.types.open.insert(open);
    }

    /// One statement deeper, unless the nesting is too deep to look at.
    pub(crate) fn nest(&mut self) -> bool {
        let is_bounded = self.resolver.depth <= DEPTH_LIMIT;
        self.resolver.depth += usize::from(is_bounded);
        is_bounded
    }

    /// Out of a statement again.
    pub(crate) fn unnest(&mut self) {
        self.resolver.depth -= 1;
    }

    /// Declares what an item in a function declares, if it declares no variables.
    pub(crate) fn declare_item(&mut self, item: &'u Item) {
        self.resolver.declare_item(item);
    }

    /// Declares the class or enumeration that a type defines.
    pub(crate) fn declare_inside(&mut self, ty: &'u syntax::Type) {
        self.resolver.declare_inside(ty);
    }

    /// Declares a variable by its name.
    pub(crate) fn declare(&mut self, name: &str, variable: VariableId) {
        self.resolver.declare(name, Entity::Variable(variable));
    }

    /// Adds a variable of the host that is no reference, without declaring it.
    pub(crate) fn add_variable(&mut self, name: &syntax::Name, ty: TypeId) -> VariableId {
        self.resolver.variables.add(Variable {
            name: name.text.clone(),
            ty,
            storage: Storage::Host,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span: name.span,
        })
    }

    /// Adds and declares a variable of the host as it is written.
    pub(crate) fn declare_written(&mut self, name: &syntax::Name, written: Written) -> VariableId {
        let ty = if written.is_reference { self.resolver.types.pointer(written.ty, None) } else { written.ty };
        let variable = self.add_variable(name, ty);
        let added = &mut self.resolver.variables[variable];
        added.is_reference = written.is_reference;
        added.is_volatile = written.is_volatile;
        self.declare(&name.text, variable);
        variable
    }

    /// Says how many elements an array has whose type leaves it out.
    pub(crate) fn complete_array(&mut self, variable: VariableId, elements: usize) {
        if let Type::Array { of, len: None } = self.resolver.types[self.resolver.variables[variable].ty] {
            let len = Some(elements as u64);
            self.resolver.variables[variable].ty = self.resolver.types.intern(Type::Array { of, len });
        }
    }
}

/// What names stand for.
impl<'u> Declared<'u> {
    /// The variable that a name means here.
    pub(crate) fn variable_named(&mut self, name: &str) -> Option<VariableId> {
        match self.resolver.lookup(name).as_slice() {
            [Entity::Variable(variable)] => Some(*variable),
            _ => None,
        }
    }

    /// Whether a name is that of a variable that has been declared.
    pub(crate) fn names_variable(&mut self, name: &str) -> bool {
        self.resolver.lookup(name).iter().any(|entity| matches!(entity, Entity::Variable(_)))
    }

    /// What a name stands for, if the unit declares it.
    pub(crate) fn named(&mut self, path: &'u Path) -> Result<Named<'u>, Undeclared> {
        let entities = match self.resolver.find(path) {
            Found::Entities(entities) => entities,
            Found::External(name) => return Err(Undeclared(name)),
        };
        let globals = entities.iter().filter_map(|entity| match entity {
            Entity::Global(global) => Some(self.resolver.globals[*global].syntax),
            _ => None,
        });
        Ok(Named {
            functions: functions_of(&entities),
            globals: globals.collect(),
            has_class: entities.iter().any(|entity| matches!(entity, Entity::Record(_))),
            count: entities.len(),
        })
    }

    /// The type that a name stands for.
    pub(crate) fn type_named(&mut self, path: &'u Path) -> Option<Written> {
        match self.resolver.find(path) {
            Found::Entities(entities) => {
                let last = path.segments.last()?;
                entities.iter().find_map(|entity| self.resolver.written_of_entity(entity, last))
            }
            Found::External(_) => self.resolver.path_as_type(path).map(Written::plain),
        }
    }

    /// The parameters of a function template that are its own.
    pub(crate) fn own_template(&self, decl: FunctionDecl<'u>) -> &'u [TemplateParam] {
        self.resolver.records.own_template(decl)
    }

    /// The arguments of a template: those written, then defaults.
    pub(crate) fn template_values(
        &mut self,
        params: &'u [TemplateParam],
        args: &'u [TemplateArg],
        home: ScopeId,
    ) -> Vec<TemplateValue> {
        self.resolver.template_values(params, args, home)
    }

    /// Whether every argument is known.
    pub(crate) fn is_complete(&self, values: &[TemplateValue]) -> bool {
        self.resolver.is_complete(values)
    }

    /// The function that fits a call best, with its template arguments.
    pub(crate) fn choose(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
    ) -> Option<Chosen<'u>> {
        self.resolver.choose(functions, template_args, None, args)
    }

    /// How many classes have been made so far, instances of templates each by itself.
    pub(crate) fn count_of_classes(&self) -> usize {
        self.resolver.records.all().len()
    }

    /// The arguments of a class that is an instance of a template, and its methods; nothing of one whose arguments are
    /// open.
    pub(crate) fn instance_of_class(&self, at: usize) -> Option<(Vec<TemplateValue>, Vec<FunctionDecl<'u>>)> {
        let (index, values) = self.resolver.records.origins[at].clone();
        let is_template =
            self.resolver.records.decls[index].primary.template.as_ref().is_some_and(|own| !own.is_empty());
        let scope = self.resolver.records.scopes[at];
        let methods = || self.resolver.scopes[scope.0].names.values().flat_map(|entities| functions_of(entities));
        (is_template && self.is_complete(&values)).then(|| (values, methods().collect()))
    }

    /// Whether a field shares its bytes with others, or holds fewer bits than its type.
    pub(crate) fn is_cut(&self, record: RecordId, field: usize) -> bool {
        let record = &self.resolver.records[record];
        record.is_union || record.fields.get(field).is_none_or(|field| field.bits.is_some())
    }

    /// What an object of a class may keep.
    pub(crate) fn class(&self, record: RecordId) -> Class<'u> {
        let resolver = &self.resolver;
        let (index, _) = resolver.records.origins[record.index()];
        let (name, definition) = (resolver.records.decls[index].name, resolver.records.decls[index].primary);
        let scope = resolver.records.scopes[record.index()];
        let constructors =
            resolver.scopes[scope.0].names.get(name).map(|named| functions_of(named)).unwrap_or_default();
        let bases: Vec<RecordId> = resolver.records.bases[record.index()].iter().map(|&(base, _)| base).collect();
        Class {
            name,
            is_union: resolver.records[record].is_union,
            has_unknown_base: constructors.is_empty() && bases.len() < definition.bases.len(),
            constructors,
            bases,
            fields: resolver.records[record].fields.iter().map(|field| field.ty).collect(),
            has_references: resolver.records.references.contains_key(&record),
        }
    }
}

/// Types and values.
impl<'u> Declared<'u> {
    /// Types that are needed everywhere.
    pub(crate) fn common(&self) -> Common {
        self.resolver.types.common
    }

    /// A type by its handle.
    pub(crate) fn ty(&self, ty: TypeId) -> &Type {
        &self.resolver.types[ty]
    }

    /// A type of that name that is not known.
    pub(crate) fn unknown_type(&mut self, name: &str) -> TypeId {
        self.resolver.types.unknown(name)
    }

    /// Whether a type is one of integers, or `bool`.
    pub(crate) fn is_integral(&self, ty: TypeId) -> bool {
        self.resolver.types.is_integral(ty)
    }

    /// Whether a type is `dim3`.
    pub(crate) fn is_dim3(&self, ty: TypeId) -> bool {
        self.resolver.types.is_dim3(ty)
    }

    /// Whether a type is one of pointers.
    pub(crate) fn is_pointer(&self, ty: TypeId) -> bool {
        self.resolver.types.is_pointer(ty)
    }

    /// A type as it is written.
    pub(crate) fn resolve_type(&mut self, ty: &'u syntax::Type) -> Written {
        self.resolver.resolve_type(ty)
    }

    /// The type of a declaration with these qualifiers.
    pub(crate) fn declared_type(&mut self, ty: &'u syntax::Type, qualifiers: &'u [Qualifier]) -> Written {
        self.resolver.declared_type(ty, qualifiers)
    }

    /// Whether a function gives an integer, and no reference to one.
    pub(crate) fn gives_number(&mut self, decl: FunctionDecl<'u>) -> bool {
        let (ty, is_reference) = self.within(decl.scope, |this| this.resolver.result_type(decl.syntax, ""));
        !is_reference && self.is_integral(ty)
    }

    /// A variable by its handle.
    pub(crate) fn variable(&self, variable: VariableId) -> &Variable {
        &self.resolver.variables[variable]
    }

    /// The lanes of a vector that is a variable, as far as they are constants here.
    pub(crate) fn lanes(&self, variable: VariableId) -> Option<&Lanes> {
        self.resolver.variables.lanes.get(&variable)
    }

    /// Says which constant an integer is from here on.
    pub(crate) fn set_constant(&mut self, variable: VariableId, constant: Option<i128>) {
        self.resolver.variables[variable].constant = constant;
    }

    /// Says which constants the lanes of a vector are from here on; gives what was said before.
    pub(crate) fn set_lanes(&mut self, variable: VariableId, lanes: Option<Lanes>) -> Option<Lanes> {
        match lanes {
            Some(lanes) => self.resolver.variables.lanes.insert(variable, lanes),
            None => self.resolver.variables.lanes.remove(&variable),
        }
    }

    /// What an expression of the host means.
    pub(crate) fn value(&mut self, value: &'u syntax::Expr) -> Expr {
        self.resolver.unevaluated(value)
    }

    /// What an expression means that denotes an object.
    pub(crate) fn object(&mut self, value: &'u syntax::Expr) -> Expr {
        self.resolver.expr(value)
    }

    /// What an expression means that a variable of a type is given.
    pub(crate) fn value_as(&mut self, value: &'u syntax::Expr, ty: TypeId) -> Expr {
        let temporaries = self.resolver.frame.temporaries.len();
        let value = self.resolver.initial(value, ty);
        self.resolver.frame.temporaries.truncate(temporaries);
        value
    }

    /// What a variable of a type is initialised by.
    pub(crate) fn initial_value(&mut self, init: &'u syntax::Init, ty: TypeId, span: Span) -> Expr {
        self.resolver.init_value(init, ty, span)
    }

    /// A value as one of another type.
    pub(crate) fn converted(&mut self, value: Expr, ty: TypeId) -> Expr {
        self.resolver.convert(value, ty)
    }

    /// A number as an integer of a type holds it.
    pub(crate) fn wrapped(&self, number: i128, ty: TypeId) -> i128 {
        self.resolver.types.wrap(number, ty)
    }

    /// The value of an expression, if it is an integer constant here.
    pub(crate) fn constant(&mut self, value: &Expr) -> Option<i128> {
        self.resolver.constant(value)
    }

    /// The same, of one as it is written.
    pub(crate) fn constant_of(&mut self, value: &'u syntax::Expr) -> Option<i128> {
        self.resolver.constant_of(value)
    }

    /// The lanes of a vector, as far as they are constants here.
    pub(crate) fn constant_lanes(&mut self, value: &Expr) -> Option<Lanes> {
        self.resolver.constant_lanes(value)
    }
}
