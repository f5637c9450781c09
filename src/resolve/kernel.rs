//! The roots of a resolution: kernels, and the instances of kernel templates.

use super::context::Resolver;
use super::entities::{Entity, Found, FunctionDecl, Outside, ScopeId, TemplateValue};
use super::function::INSTANCE_LIMIT;
use super::program::{FunctionId, LEFT_OUT, Storage, Variable, VariableId};
use super::template_use::is_index_type;
use crate::syntax::{self, Item, ItemKind, Path, Qualifier, TemplateParamKind};
use rustc_hash::FxHashSet;

/// Instances of a kernel template beyond which it is looked at once for all arguments: dispatchers ask for hundreds.
const MOST_INSTANCES: usize = 100;

/// Arguments that something gives to a template, by the address of its syntax.
pub(super) type Request = (usize, Vec<TemplateValue>);

impl<'u> Resolver<'u> {
    /// Resolves all kernels, with one instance of a template for each set of arguments that the unit gives it: by
    /// explicit instantiations, the `requests`, and by what is `launched`.
    pub(super) fn resolve_kernels(
        &mut self,
        kernels: &[FunctionDecl<'u>],
        mut requests: Vec<Request>,
        launched: &[(FunctionDecl<'u>, &Vec<TemplateValue>)],
    ) {
        let of_launches =
            launched.iter().map(|(decl, values)| (std::ptr::from_ref(decl.syntax) as usize, (*values).clone()));
        requests.extend(of_launches);
        for decl in self.without_packs(kernels, &requests, launched) {
            let key = std::ptr::from_ref(decl.syntax) as usize;
            if self.records.own_template(decl).is_empty() {
                let function = self.kernel(decl, Vec::new());
                self.kernels.push(function);
                continue;
            }
            let mut made = false;
            let of_launches = launched.iter().filter(|(launched, _)| std::ptr::eq(launched.syntax, decl.syntax));
            let distinct: FxHashSet<&Vec<TemplateValue>> = of_launches.map(|(_, values)| *values).collect();
            if distinct.len() > MOST_INSTANCES {
                self.kernels_in_general.insert(key);
            }
            let is_wanted = |(wanted, _): &&Request| *wanted == key && !self.kernels_in_general.contains(&key);
            let wanted: Vec<_> = requests.iter().filter(is_wanted).map(|(_, values)| values).collect();
            for values in &wanted {
                if !self.is_complete(values) {
                    continue;
                }
                let function = self.kernel(decl, (*values).clone());
                made = true;
                if !self.kernels.contains(&function) {
                    self.kernels.push(function);
                }
            }
            if !made || wanted.iter().any(|values| !self.is_complete(values)) {
                let function = self.pattern(decl);
                self.kernels.push(function);
            }
        }
        self.drain();
    }

    /// The kernels, those of templates with packs as launches need them. Of such a template that nothing launches, or that is asked for in
    /// another way, nothing is known but its name.
    fn without_packs(
        &self,
        kernels: &[FunctionDecl<'u>],
        requests: &[Request],
        launched: &[(FunctionDecl<'u>, &Vec<TemplateValue>)],
    ) -> Vec<FunctionDecl<'u>> {
        let mut found: Vec<FunctionDecl<'u>> = Vec::new();
        for &kernel in kernels {
            let first = found.len();
            for &(made, _) in
                launched.iter().filter(|(decl, _)| self.functions.packs.is_made_of(decl.syntax, kernel.syntax))
            {
                if !found[first..].iter().any(|known| std::ptr::eq(known.syntax, made.syntax)) {
                    found.push(made);
                }
            }
            let is_asked_for = requests.iter().any(|(wanted, _)| *wanted == std::ptr::from_ref(kernel.syntax) as usize);
            if found.len() == first || is_asked_for {
                found.push(kernel);
            }
        }
        found
    }

    /// The function that a launch of a kernel with these template arguments is of.
    pub(super) fn launched(&mut self, decl: FunctionDecl<'u>, values: Vec<TemplateValue>) -> Option<FunctionId> {
        let is_general = self.kernels_in_general.contains(&(std::ptr::from_ref(decl.syntax) as usize));
        if self.records.own_template(decl).is_empty() || !is_general && self.is_complete(&values) {
            self.instance(decl, values)
        } else {
            Some(self.pattern(decl))
        }
    }

    /// Definitions of kernels, in source order.
    pub(super) fn collect_kernels(&mut self, scope: ScopeId, items: &'u [Item], kernels: &mut Vec<FunctionDecl<'u>>) {
        for item in items {
            match &item.kind {
                ItemKind::Function(function)
                    if function.body.is_some()
                        && function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel)) =>
                {
                    kernels.push(FunctionDecl { syntax: function, scope, record: None });
                }
                ItemKind::Namespace { name, items, .. } => {
                    let inner = self.inner_scope(scope, &name.text);
                    self.collect_kernels(inner, items, kernels);
                }
                _ => {}
            }
        }
    }

    /// The scope of a namespace; one without a name shares the scope around it.
    pub(super) fn inner_scope(&self, scope: ScopeId, name: &str) -> ScopeId {
        let entities = self.scopes[scope.0].names.get(name);
        entities
            .and_then(|entities| {
                entities.iter().find_map(|entity| match entity {
                    Entity::Namespace(inner) => Some(*inner),
                    _ => None,
                })
            })
            .unwrap_or(scope)
    }

    /// Arguments that explicit instantiations give to templates.
    pub(super) fn explicit_instances(&mut self, scope: ScopeId, items: &'u [Item], requests: &mut Vec<Request>) {
        for item in items {
            match &item.kind {
                ItemKind::ExplicitInstantiation { path, params } => {
                    let outer = std::mem::replace(&mut self.scope, scope);
                    if let Found::Entities(entities) = self.find(path) {
                        let args = path.segments.last().and_then(|segment| segment.args.as_deref()).unwrap_or(&[]);
                        let types: Vec<_> =
                            params.iter().map(|param| self.declared_type(&param.ty, &param.qualifiers)).collect();
                        for decl in super::call::functions_of(&entities) {
                            let own = self.records.own_template(decl);
                            if own.is_empty() || decl.syntax.params.len() != params.len() && !params.is_empty() {
                                continue;
                            }
                            let mut values: Vec<TemplateValue> =
                                args.iter().map(|argument| self.template_value(argument)).collect();
                            values.resize(own.len().max(values.len()), TemplateValue::Unknown);
                            for (pattern, actual) in decl.syntax.params.iter().zip(&types) {
                                self.within(decl.scope, |this| this.deduce(own, &mut values, &pattern.ty, actual.ty));
                            }
                            let values = self.complete_values(own, values, decl.scope);
                            requests.push((std::ptr::from_ref(decl.syntax) as usize, values));
                        }
                    }
                    self.scope = outer;
                }
                ItemKind::RecordInstantiation(path) => {
                    let outer = std::mem::replace(&mut self.scope, scope);
                    requests.extend(self.instances_of_members(path));
                    self.scope = outer;
                }
                ItemKind::Namespace { name, items, .. } => {
                    let inner = self.inner_scope(scope, &name.text);
                    self.explicit_instances(inner, items, requests);
                }
                _ => {}
            }
        }
    }

    /// The arguments that the instantiation of a class template gives to its members that are defined outside of it.
    fn instances_of_members(&mut self, path: &'u Path) -> Vec<Request> {
        let Found::Entities(entities) = self.find(path) else { return Vec::new() };
        let index = entities.iter().find_map(|entity| match entity {
            Entity::Record(index) => Some(*index),
            _ => None,
        });
        let (Some(index), Some(last)) = (index, path.segments.last()) else { return Vec::new() };
        let args = last.args.as_deref().unwrap_or(&[]);
        let values: Vec<TemplateValue> = args.iter().map(|argument| self.template_value(argument)).collect();
        let decl = &self.records.decls[index];
        let (scope, own) = (decl.scope, decl.primary.template.as_deref().unwrap_or(&[]));
        let functions = decl.outside.iter().filter_map(|member| match member {
            Outside::Function(function) => Some(*function),
            _ => None,
        });
        let outside: Vec<&'u syntax::Function> = functions.collect();
        let values = self.complete_values(own, values, scope);
        let of_the_class = outside.into_iter().filter(|member| {
            // A member template has parameters of its own behind those of its class.
            member.template.as_ref().is_some_and(|params| params.len() == values.len())
        });
        of_the_class.map(|member| (std::ptr::from_ref(member) as usize, values.clone())).collect()
    }

    /// A kernel, or an instance of a kernel template. Where there are too many instances to look at, it is listed all
    /// the same, or it would look as if it had been checked.
    fn kernel(&mut self, decl: FunctionDecl<'u>, values: Vec<TemplateValue>) -> FunctionId {
        if let Some(function) = self.instance(decl, values.clone()) {
            return function;
        }
        let function = self.head(decl, &values, &[]);
        self.functions.infos[function.index()].started = true;
        let reason = format!(
            "{LEFT_OUT} the {INSTANCE_LIMIT} functions that are made of the templates of a file (divide the file)"
        );
        let span = self.functions[function].span;
        self.functions[function].unsupported.push((span, reason));
        self.functions[function].body = Some(Vec::new());
        function
    }

    /// A kernel template that nothing instantiates: type parameters without a default stay unknown types, or are
    /// taken as `int` if the kernel indexes by them; value parameters without one become uniform parameters after
    /// the kernel's own.
    pub(super) fn pattern(&mut self, decl: FunctionDecl<'u>) -> FunctionId {
        let params = self.records.own_template(decl);
        let mut assumed = Vec::new();
        let mut values: Vec<TemplateValue> = Vec::new();
        let mut added: Vec<VariableId> = Vec::new();
        for (index, param) in params.iter().enumerate() {
            let scope = self.bind(decl.scope, &params[..index], &values);
            let value = match &param.kind {
                TemplateParamKind::Value(ty, None) if !param.pack => {
                    let ty = self.within(scope, |this| this.resolve_type(ty).ty);
                    let variable = self.variables.add(Variable {
                        name: param.name.text.clone(),
                        ty,
                        storage: Storage::Param,
                        is_reference: false,
                        is_volatile: false,
                        constant: None,
                        range: None,
                        is_extern: false,
                        has_initializer: false,
                        span: param.name.span,
                    });
                    added.push(variable);
                    TemplateValue::Symbol(variable)
                }
                TemplateParamKind::Type(None) if !param.pack && is_index_type(decl.syntax, &param.name.text) => {
                    assumed.push(format!("{} = int (nothing in this file says which type it is)", param.name.text));
                    TemplateValue::Type(self.types.common.int)
                }
                TemplateParamKind::Type(None) if !param.pack => {
                    TemplateValue::Type(self.types.unknown(param.name.text.clone()))
                }
                TemplateParamKind::Template(None) => TemplateValue::Unknown,
                _ => {
                    let one = &params[index..=index];
                    self.complete_values(one, Vec::new(), scope).pop().unwrap_or(TemplateValue::Unknown)
                }
            };
            values.push(value);
        }
        let key = (std::ptr::from_ref(decl.syntax) as usize, decl.scope, Vec::new(), Vec::new());
        if let Some(&known) = self.functions.instances.get(&key) {
            return known;
        }
        let function = self.head(decl, &values, &[]);
        self.functions[function].template_args.clear();
        self.functions[function].assumed = assumed;
        self.functions[function].params.extend(added);
        self.functions.instances.insert(key, function);
        self.functions.queue.push_back(function);
        function
    }

    /// Whether every argument is known.
    pub(super) fn is_complete(&self, values: &[TemplateValue]) -> bool {
        values.iter().all(|value| match value {
            TemplateValue::Unknown | TemplateValue::Symbol(_) => false,
            TemplateValue::Pack(values) => self.is_complete(values),
            TemplateValue::Type(ty) => !self.types.open.contains(ty),
            TemplateValue::Value(..) | TemplateValue::Function(_) | TemplateValue::Template(_) => true,
        })
    }
}
