//! Calls among host functions: which functions launch something, and with what arguments they are called.
//!
//! A host function that launches is looked at once for each set of template arguments and constant arguments
//! that the calls in the unit give it, and once with open parameters if it may be called in other ways: if
//! nothing in the unit calls it, if its name is used other than in a call, if a call does not show which
//! function it means, or if another unit may call it (see [`super::host`]).

use super::call::functions_of;
use super::context::Resolver;
use super::host::Walk;
use super::host_parts::{exprs_of_stmt, named_function, visit};
use super::launch_site::Target;
use super::program::{Expr, Type, VariableId};
use super::scope::{Found, FunctionDecl};
use super::template::TemplateValue;
use crate::syntax;
use rustc_hash::FxHashSet;

/// Instances of host functions beyond which calls are no longer told apart.
const HOST_LIMIT: usize = 256;

/// What is known of an argument of a host function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum HostValue<'u> {
    /// Nothing.
    #[default]
    Unknown,
    /// It is this number.
    Number(i128),
    /// It is a `dim3` with these lanes, as far as they are known.
    Lanes(Vec<Option<i128>>),
    /// It is a pointer to one of these kernels.
    Kernels(Vec<Target<'u>>),
}

impl<'u> HostValue<'u> {
    /// The kernels that it may point to.
    pub(super) fn kernels(&self) -> &[Target<'u>] {
        match self {
            HostValue::Kernels(kernels) => kernels,
            _ => &[],
        }
    }
}

/// A host function with the arguments of some of its calls.
#[derive(Clone, Debug)]
pub(super) struct HostInstance<'u> {
    pub(super) decl: FunctionDecl<'u>,
    /// Template arguments.
    pub(super) values: Vec<TemplateValue>,
    /// Arguments by position; those that are not there are unknown, and the last one is not.
    pub(super) args: Vec<HostValue<'u>>,
}

impl<'u> HostInstance<'u> {
    /// A function of which nothing is known.
    pub(super) fn open(decl: FunctionDecl<'u>) -> Self {
        let open = vec![TemplateValue::Unknown; decl.syntax.template.as_ref().map_or(0, Vec::len)];
        HostInstance { decl, values: open, args: Vec::new() }
    }

    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.decl.syntax, other.decl.syntax)
            && self.decl.scope == other.decl.scope
            && self.values == other.values
            && self.args == other.args
    }
}

impl<'u> Walk<'u> {
    /// Whether a function has to be looked at with open parameters.
    pub(super) fn needs_open(&self, function: &syntax::Function) -> bool {
        let is_template = self.is_template(function);
        let is_known = self.instances.iter().any(|known| std::ptr::eq(known.decl.syntax, function));
        !is_known || !is_template && self.open.contains(name_of(function))
    }

    /// Whether a function is a template, or a member of one.
    pub(super) fn is_template(&self, function: &syntax::Function) -> bool {
        function.template.as_ref().is_some_and(|params| !params.is_empty())
            || self.in_templates.contains_key(&std::ptr::from_ref(function))
    }

    /// The kernels that a local or parameter of this name may point to.
    pub(super) fn targets_of(&self, path: &syntax::Path) -> Vec<Target<'u>> {
        match path.segments.as_slice() {
            [only] => {
                let of_name = self.pointers.iter().filter(|(name, _)| *name == only.name.text);
                of_name.map(|&(_, target)| target).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Adds a function to be looked at, unless it has been added before.
    pub(super) fn add_instance(&mut self, mut instance: HostInstance<'u>) {
        while instance.args.pop_if(|last| *last == HostValue::Unknown).is_some() {}
        if self.instances.len() >= HOST_LIMIT {
            self.open.insert(name_of(instance.decl.syntax));
        } else if !self.instances.iter().any(|known| known.is_same(&instance)) {
            self.instances.push(instance);
        }
    }

    /// Adds a function to be looked at with open parameters, of which there are no more than functions.
    pub(super) fn add_open(&mut self, decl: FunctionDecl<'u>) {
        let instance = HostInstance::open(decl);
        if !self.instances.iter().any(|known| known.is_same(&instance)) {
            self.instances.push(instance);
        }
    }
}

impl<'u> Resolver<'u> {
    /// Remembers the instance of a host function that a call asks for.
    pub(super) fn host_call(&mut self, callee: &'u syntax::Expr, args: &'u [syntax::Expr], walk: &mut Walk<'u>) {
        let syntax::ExprKind::Path(path) = &callee.kind else {
            return;
        };
        let Some(last) = path.segments.last().filter(|last| walk.launching.contains(last.name.text.as_str())) else {
            return;
        };
        let values: Vec<Expr> = args.iter().map(|argument| self.unevaluated(argument)).collect();
        let chosen = match self.find(path) {
            Found::Entities(entities) => self.host_callee(&functions_of(&entities), last, &values),
            Found::External(_) => None,
        };
        let kernels: Vec<Vec<Target<'u>>> = args.iter().map(|argument| self.kernels_in(argument, walk)).collect();
        let Some((decl, template)) = chosen else {
            walk.open.insert(&last.name.text);
            // Where they go is not known.
            for kernel in kernels.into_iter().flatten() {
                let scope = kernel.scope.unwrap_or(self.scope);
                self.escape(kernel.path, scope, callee.span, &mut walk.escaped);
            }
            return;
        };
        let named = args.iter().filter_map(named_function).filter_map(|path| path.segments.last());
        walk.understood.given.extend(named.map(|last| last.name.span));
        let known = values.iter().zip(kernels).map(|(value, kernels)| match kernels.is_empty() {
            true => self.host_value(value),
            false => HostValue::Kernels(kernels),
        });
        let args = known.collect();
        walk.add_instance(HostInstance { decl, values: template, args });
    }

    /// The kernels that an argument is a pointer to.
    fn kernels_in(&mut self, argument: &'u syntax::Expr, walk: &Walk<'u>) -> Vec<Target<'u>> {
        let Some(path) = named_function(argument) else { return Vec::new() };
        let held = walk.targets_of(path);
        if !held.is_empty() {
            let scope = Some(self.scope);
            return held.into_iter().map(|target| Target { scope: target.scope.or(scope), ..target }).collect();
        }
        let Found::Entities(entities) = self.find(path) else { return Vec::new() };
        let is_kernel =
            |decl: &FunctionDecl<'u>| decl.syntax.qualifiers.iter().any(|it| matches!(it, syntax::Qualifier::Kernel));
        match functions_of(&entities).iter().any(is_kernel) {
            true => vec![Target { path, scope: Some(self.scope) }],
            false => Vec::new(),
        }
    }

    /// Remembers the instance of a host function that its name stands for where it is no call: `&run<float>`.
    pub(super) fn host_named(&mut self, path: &'u syntax::Path, walk: &mut Walk<'u>) {
        let Some(args) = path.segments.last().and_then(|last| last.args.as_deref()) else { return };
        let Found::Entities(entities) = self.find(path) else { return };
        let functions = functions_of(&entities);
        let mut bodies = functions.iter().filter(|decl| decl.syntax.body.is_some());
        let (Some(&decl), None) = (bodies.next(), bodies.next()) else { return };
        let own = self.own_template(decl);
        if decl.record.is_some() || own.is_empty() || own.iter().any(|param| param.pack) {
            return;
        }
        let values = self.template_values(own, args, decl.scope);
        if self.is_complete(&values) {
            walk.add_instance(HostInstance { decl, values, args: Vec::new() });
        }
    }

    /// Remembers the methods that launch something of the class templates' instances that host code has named by now.
    pub(super) fn methods_of_instances(&mut self, walk: &mut Walk<'u>) {
        while let Some(record) = self.records.handles().nth(walk.records) {
            walk.records += 1;
            let (index, values) = self.record_origins[record.index()].clone();
            let is_template = self.record_decls[index].primary.template.as_ref().is_some_and(|own| !own.is_empty());
            if !is_template || !self.is_complete(&values) {
                continue;
            }
            let names = &self.scopes[self.record_scopes[record.index()].0].names;
            let mut methods: Vec<FunctionDecl<'u>> =
                names.values().flat_map(|entities| functions_of(entities)).collect();
            methods.retain(|decl| decl.syntax.body.is_some() && walk.launching.contains(name_of(decl.syntax)));
            methods.sort_by_key(|decl| {
                (decl.syntax.path.segments[0].name.span.file, decl.syntax.path.segments[0].name.span.start)
            });
            for decl in methods {
                if !self.own_template(decl).is_empty() {
                    continue;
                }
                let values = if decl.syntax.path.segments.len() > 1 { values.clone() } else { Vec::new() };
                walk.add_instance(HostInstance { decl, values, args: Vec::new() });
            }
        }
    }

    /// The function that a call means: the one that fits, else the only one of its name with so many parameters.
    fn host_callee(
        &mut self,
        functions: &[FunctionDecl<'u>],
        name: &'u syntax::PathSegment,
        values: &[Expr],
    ) -> Option<(FunctionDecl<'u>, Vec<TemplateValue>)> {
        if functions.iter().any(|decl| decl.record.is_some()) {
            return None;
        }
        if let Some(chosen) = self.choose(functions, name.args.as_deref(), None, values) {
            return chosen.decl.syntax.body.is_some().then_some((chosen.decl, chosen.values));
        }
        let mut bodies = functions.iter().filter(|decl| decl.syntax.body.is_some());
        match (bodies.next(), bodies.next()) {
            (Some(only), None) if only.syntax.params.len() == values.len() => {
                Some((*only, vec![TemplateValue::Unknown; self.own_template(*only).len()]))
            }
            // `template <class... A> void launch(void (*kernel)(A...), A... args)`
            (Some(only), None) if only.syntax.params.last().is_some_and(|last| is_pack(&last.ty)) => {
                Some((*only, vec![TemplateValue::Unknown; self.own_template(*only).len()]))
            }
            _ => None,
        }
    }

    fn host_value(&mut self, value: &Expr) -> HostValue<'u> {
        if let Some(number) = self.constant(value) {
            return HostValue::Number(number);
        }
        self.constant_lanes(value).map_or(HostValue::Unknown, HostValue::Lanes)
    }

    /// Gives a parameter that its function does not change the value of its argument.
    pub(super) fn bind_host_argument(&mut self, variable: VariableId, value: &HostValue<'u>) {
        let ty = self.variables[variable].ty;
        match (value, &self.types[ty]) {
            (&HostValue::Number(number), Type::Int { .. } | Type::Bool) => {
                self.variables[variable].constant = Some(self.wrap(number, ty));
            }
            (&HostValue::Number(number), Type::Vector { .. }) if self.is_dim3(ty) => {
                // A number converts to a `dim3` of one axis.
                self.vector_constants.insert(variable, vec![Some(number), Some(1), Some(1)]);
            }
            (HostValue::Lanes(lanes), Type::Vector { lanes: count, .. }) if lanes.len() == usize::from(*count) => {
                self.vector_constants.insert(variable, lanes.clone());
            }
            _ => {}
        }
    }
}

/// The names of `functions` that the unit uses other than by calling them, or that may be called as methods, and
/// the names that it calls.
pub(super) fn uses<'u>(
    functions: &[FunctionDecl<'u>],
    initializers: &[&'u syntax::Expr],
    launching: &FxHashSet<&'u str>,
) -> (FxHashSet<&'u str>, FxHashSet<&'u str>) {
    let (mut open, mut called) = (FxHashSet::default(), FxHashSet::default());
    let mut callees: FxHashSet<*const syntax::Expr> = FxHashSet::default();
    let bodies = functions.iter().flat_map(|decl| decl.syntax.body.as_deref().unwrap_or(&[]));
    let exprs = bodies.flat_map(|stmt| exprs_of_stmt(stmt));
    let members = functions.iter().flat_map(|decl| decl.syntax.initializers.iter().flat_map(|(_, values)| values));
    let defaults = functions.iter().flat_map(|decl| decl.syntax.params.iter().filter_map(|it| it.default.as_ref()));
    // Nobody looks at what is called here, and so not at its arguments.
    for value in initializers.iter().copied().chain(members).chain(defaults) {
        visit(value, |part| {
            if let syntax::ExprKind::Path(path) = &part.kind {
                open.extend(path.segments.last().map(|last| last.name.text.as_str()));
                called.extend(path.segments.last().map(|last| last.name.text.as_str()));
            }
        });
    }
    for value in exprs {
        visit(value, |part| match &part.kind {
            syntax::ExprKind::Call(callee, _) => {
                if let syntax::ExprKind::Member { member, .. } = &callee.kind {
                    open.insert(member.name.text.as_str());
                }
                if let syntax::ExprKind::Path(path) = &callee.kind {
                    callees.insert(std::ptr::from_ref(&**callee));
                    called.extend(path.segments.last().map(|last| last.name.text.as_str()));
                }
            }
            // A lambda may be called at any time, and with it what it calls.
            syntax::ExprKind::Lambda(_) | syntax::ExprKind::Statements(_) => visit(part, |inner| {
                if let syntax::ExprKind::Path(path) = &inner.kind {
                    open.extend(path.segments.last().map(|last| last.name.text.as_str()));
                }
            }),
            syntax::ExprKind::Path(path) if !callees.contains(&std::ptr::from_ref(part)) => {
                open.extend(path.segments.last().map(|last| last.name.text.as_str()));
            }
            _ => {}
        });
    }
    open.retain(|name| launching.contains(name));
    (open, called)
}

fn is_pack(ty: &syntax::Type) -> bool {
    matches!(ty.kind, syntax::TypeKind::Unsupported(_))
}

/// The last part of a function's name.
pub(super) fn name_of(function: &syntax::Function) -> &str {
    function.path.segments.last().map_or("", |segment| segment.name.text.as_str())
}
