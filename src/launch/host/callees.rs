//! Which functions calls of host code mean, and what they give them.

use super::calls::{Argument, Instance};
use super::changes::named_function;
use super::found::Target;
use super::walk::{Walk, escape};
use crate::launch::Relation;
use crate::resolve::program::{Expr, Type, VariableId};
use crate::resolve::{FunctionDecl, TemplateValue};
use crate::syntax;

impl<'u> Walk<'_, 'u> {
    /// Remembers the instance of a host function that a call asks for.
    pub(super) fn call(&mut self, callee: &'u syntax::Expr, args: &'u [syntax::Expr]) {
        let syntax::ExprKind::Path(path) = &callee.kind else {
            return;
        };
        let Some(last) =
            path.segments.last().filter(|last| self.place.code.launching.contains(last.name.text.as_str()))
        else {
            return;
        };
        let values: Vec<Expr> = args.iter().map(|argument| self.place.names.value(argument)).collect();
        let named = self.place.names.named(path).ok();
        let chosen = named.and_then(|named| self.callee_of(&named.functions, last, &values));
        let kernels: Vec<Vec<Target<'u>>> = args.iter().map(|argument| self.kernels_in(argument)).collect();
        let Some((decl, template)) = chosen else {
            self.calls.open.insert(&last.name.text);
            // Where they go is not known.
            for kernel in kernels.into_iter().flatten() {
                let scope = kernel.scope.unwrap_or(self.place.names.scope());
                escape(self.place.names, (kernel.path, scope), callee.span, &mut self.found.escaped);
            }
            return;
        };
        let named = args.iter().filter_map(named_function).filter_map(|path| path.segments.last());
        self.found.understood.given.extend(named.map(|last| last.name.span));
        let known = values.iter().zip(kernels).map(|(value, kernels)| match kernels.is_empty() {
            true => self.argument(value),
            false => Argument::Kernels(kernels),
        });
        let args = known.collect();
        let relations = self.relations_of_arguments(decl, &values);
        self.calls.add_instance(Instance { decl, values: template, args, relations });
    }

    /// How the arguments of a call are related, as the function's parameters hold them.
    fn relations_of_arguments(&mut self, decl: FunctionDecl<'u>, values: &[Expr]) -> Vec<Relation> {
        let before = self.place.values.constraints.state();
        let held = self.as_parameters(decl, values);
        let relations = self.place.reader().relations_of(&held);
        self.place.values.constraints.restore(before);
        relations
    }

    /// The kernels that an argument is a pointer to.
    fn kernels_in(&mut self, argument: &'u syntax::Expr) -> Vec<Target<'u>> {
        let Some(path) = named_function(argument) else { return Vec::new() };
        let held = self.place.targets_of(path);
        if !held.is_empty() {
            let scope = Some(self.place.names.scope());
            return held.into_iter().map(|target| Target { scope: target.scope.or(scope), ..target }).collect();
        }
        let Ok(named) = self.place.names.named(path) else { return Vec::new() };
        match named.functions.iter().any(|decl| decl.syntax.is_kernel()) {
            true => vec![Target { path, scope: Some(self.place.names.scope()) }],
            false => Vec::new(),
        }
    }

    /// Remembers the instance of a host function that its name stands for where it is no call: `&run<float>`.
    pub(super) fn mention(&mut self, path: &'u syntax::Path) {
        let Some(args) = path.segments.last().and_then(|last| last.args.as_deref()) else { return };
        let Ok(named) = self.place.names.named(path) else { return };
        let mut bodies = named.functions.iter().filter(|decl| decl.syntax.body.is_some());
        let (Some(&decl), None) = (bodies.next(), bodies.next()) else { return };
        let own = self.place.names.own_template(decl);
        if decl.record.is_some() || own.is_empty() || own.iter().any(|param| param.pack) {
            return;
        }
        let values = self.place.names.template_values(own, args, decl.scope);
        if self.place.names.is_complete(&values) {
            self.calls.add_instance(Instance { decl, values, args: Vec::new(), relations: Vec::new() });
        }
    }

    /// The function that a call means: the one that fits, else the only one of its name with so many parameters.
    fn callee_of(
        &mut self,
        functions: &[FunctionDecl<'u>],
        name: &'u syntax::PathSegment,
        values: &[Expr],
    ) -> Option<(FunctionDecl<'u>, Vec<TemplateValue>)> {
        if functions.iter().any(|decl| decl.record.is_some()) {
            return None;
        }
        if let Some(chosen) = self.place.names.choose(functions, name.args.as_deref(), values) {
            return chosen.decl.syntax.body.is_some().then_some((chosen.decl, chosen.values));
        }
        let mut bodies = functions.iter().filter(|decl| decl.syntax.body.is_some());
        match (bodies.next(), bodies.next()) {
            (Some(only), None) if only.syntax.params.len() == values.len() => {
                Some((*only, vec![TemplateValue::Unknown; self.place.names.own_template(*only).len()]))
            }
            // `template <class... A> void launch(void (*kernel)(A...), A... args)`
            (Some(only), None) if only.syntax.params.last().is_some_and(|last| last.pack) => {
                Some((*only, vec![TemplateValue::Unknown; self.place.names.own_template(*only).len()]))
            }
            _ => None,
        }
    }

    fn argument(&mut self, value: &Expr) -> Argument<'u> {
        if let Some(number) = self.place.names.constant(value) {
            return Argument::Number(number);
        }
        self.place.names.constant_lanes(value).map_or(Argument::Unknown, Argument::Lanes)
    }

    /// Gives a parameter that its function does not change the value of its argument.
    pub(super) fn bind_argument(&mut self, variable: VariableId, value: &Argument<'u>) {
        let ty = self.place.names.variable(variable).ty;
        match (value, self.place.names.ty(ty)) {
            (&Argument::Number(number), Type::Int { .. } | Type::Bool) => {
                let number = self.place.names.wrapped(number, ty);
                self.place.names.set_constant(variable, Some(number));
            }
            (&Argument::Number(number), Type::Vector { .. }) if self.place.names.is_dim3(ty) => {
                // A number converts to a `dim3` of one axis.
                self.place.names.set_lanes(variable, Some(vec![Some(number), Some(1), Some(1)]));
            }
            (Argument::Lanes(lanes), Type::Vector { lanes: count, .. }) if lanes.len() == usize::from(*count) => {
                self.place.names.set_lanes(variable, Some(lanes.clone()));
            }
            _ => {}
        }
    }
}
