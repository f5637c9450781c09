//! Overload resolution: candidates by arity, template deduction, and which of several functions and templates is best (C++17,
//! [over.match.best], [temp.func.order]). How well one argument fits is said by [`super::ranks`].
//!
//! Guarantees: what is chosen is what the standard says, as far as the types are known; where they leave it open, nothing is.
//!
//! Deliberately absent: conversions by more than one function, and pointers to members.

use super::context::Resolver;
use super::entities::{Entity, Found, FunctionDecl, ScopeId, TemplateValue};
use super::packs::{before_pack, has_pack};
use super::program::visit::any_within;
use super::program::{Expr, ExprKind, Type, TypeId};
use super::qualified::Written;
use super::ranks::{Care, Fit, Rank};
use super::type_functions::Condition;
use crate::builtins::functions::operands_of_each_type;
use crate::syntax::{self, Binding, Qualifier, TemplateArg, TypeKind, unpack};

/// A function with its template arguments.
pub(crate) struct Chosen<'u> {
    pub(crate) decl: FunctionDecl<'u>,
    pub(crate) values: Vec<TemplateValue>,
}

/// What candidates are compared by: how well the object and the arguments fit, whether it is a template, whether it has no
/// body.
type Key = (Vec<Fit>, bool, bool);

/// What is called for an operator on an object of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// A method of its class.
    Method,
    /// A function outside of it.
    Function,
    /// One of them, and it is not known which.
    Open,
}

/// A function that takes part.
struct Candidate<'u> {
    key: Key,
    decl: FunctionDecl<'u>,
    values: Vec<TemplateValue>,
    /// What another declaration of the same function has in common with it.
    signature: Vec<TypeId>,
    /// For which arguments it takes pointers or references to what is `volatile`.
    takes_volatile: Vec<bool>,
    condition: Condition,
    /// How many of its parameters stand before its pack of parameters, if it has one.
    before_pack: usize,
}

impl<'u> Resolver<'u> {
    /// The candidate that fits the object and the arguments best; among equals, one that is no template, then the more
    /// special template, then one with a body.
    pub(super) fn choose(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        object: Option<&Expr>,
        args: &[Expr],
    ) -> Option<Chosen<'u>> {
        let object = object.map(|object| self.as_returned(object));
        let object = object.as_ref();
        // A declaration that could not be read may fit better than any other.
        if let Some(&decl) = functions.iter().find(|decl| decl.syntax.is_unread()) {
            return Some(Chosen { decl, values: Vec::new() });
        }
        let mut candidates = self.candidates(functions, template_args, object, args, Care::Exact);
        if candidates.is_empty() {
            // A program that compiles has one that fits: what is known of `const` here is wrong.
            candidates = self.candidates(functions, template_args, object, args, Care::Lenient);
        }
        // Of objects not every conversion is seen.
        let has_object = args.iter().any(|argument| matches!(self.types[argument.ty], Type::Record(_)));
        let rivals = functions.iter().filter(|decl| accepts(functions, **decl, args.len())).count();
        let best = self.best(&candidates, if has_object { rivals } else { 0 })?;
        for &decl in functions {
            let is_open = self.unpacked(decl, template_args, args.len()).is_none();
            if is_open && self.may_win_by_pack(decl, &candidates[best].key.0[1..]) {
                return None;
            }
        }
        let Candidate { key: (fits, is_template, _), decl, values, .. } = candidates.swap_remove(best);
        if object.is_none() && self.loses_to_builtin(decl, &fits[1..], args) {
            return None;
        }
        let chosen = Chosen { decl, values };
        if is_template { self.specialized(functions, chosen, template_args, args) } else { Some(chosen) }
    }

    /// Whether a function stands beside a builtin of its name that takes these numbers better: as they are, where the function
    /// makes objects of them, or where it is a template or converts them ([over.match.best]).
    fn loses_to_builtin(&self, decl: FunctionDecl<'u>, fits: &[Fit], args: &[Expr]) -> bool {
        let Some(name) = self.name_beside_builtin(decl) else { return false };
        let types: Vec<TypeId> = args.iter().map(|argument| self.types.plain(argument.ty)).collect();
        if !types.iter().all(|&ty| self.types.is_arithmetic(ty)) {
            return false;
        }
        let is_for_each_type =
            operands_of_each_type(name) == Some(args.len()) && types.iter().all(|&ty| self.types.promoted(ty) == ty);
        let is_template = !self.records.own_template(decl).is_empty();
        fits.iter().any(|fit| fit.rank == Rank::UserDefined)
            || is_for_each_type && (is_template || fits.iter().any(|fit| fit.rank != Rank::Exact))
    }

    /// Whether a template stands beside a builtin of its name that does more than compute. For some types there is such a builtin,
    /// which then is called, and for others there is none.
    pub(super) fn may_be_builtin(&self, decl: FunctionDecl<'u>) -> bool {
        let is_more = |name| self.is_builtin(name) && !self.only_computes(name);
        !self.records.own_template(decl).is_empty() && self.name_beside_builtin(decl).is_some_and(is_more)
    }

    /// The name of a function that is declared where the builtins are, if one of them has it.
    fn name_beside_builtin(&self, decl: FunctionDecl<'u>) -> Option<&'u str> {
        let [segment] = decl.syntax.path.segments.as_slice() else { return None };
        let name = segment.name.text.as_str();
        (decl.scope == ScopeId(0) && self.is_builtin(name)).then_some(name)
    }

    /// Whether methods of the left operand's class or functions outside of it are called for an operator
    /// ([over.match.oper]): that of all of them which fits best. `None` where none fits.
    pub(super) fn operator_of(
        &mut self,
        methods: &[FunctionDecl<'u>],
        functions: &[FunctionDecl<'u>],
        args: &[Expr],
    ) -> Option<Operator> {
        // A declaration that could not be read may fit better than any other, and is chosen where it stands.
        if methods.iter().any(|decl| decl.syntax.is_unread()) {
            return Some(Operator::Method);
        }
        if functions.iter().any(|decl| decl.syntax.is_unread()) {
            return Some(Operator::Function);
        }
        let (object, rest) = args.split_first()?;
        let object = self.as_returned(object);
        for care in [Care::Exact, Care::Lenient] {
            let of_class = self.candidates(methods, None, Some(&object), rest, care);
            let outside = self.candidates(functions, None, None, args, care);
            let (of_class, outside) = match (of_class.is_empty(), outside.is_empty()) {
                (true, true) => continue,
                (false, true) => return Some(Operator::Method),
                (true, false) => return Some(Operator::Function),
                (false, false) => (of_class, outside),
            };
            let (Some(method), Some(function)) = (self.best(&of_class, 0), self.best(&outside, 0)) else {
                return Some(Operator::Open);
            };
            return Some(self.better_operator(&of_class[method], &outside[function], &object));
        }
        None
    }

    /// Which of a method and a function is called for an operator.
    fn better_operator(&self, method: &Candidate<'u>, function: &Candidate<'u>, object: &Expr) -> Operator {
        let mut of_method = method.key.clone();
        let mut of_function = function.key.clone();
        of_function.0.remove(0);
        of_method.0[0] = self.fit_of_operand(method.decl, object);
        if method.decl.syntax.called_on.is_none() {
            of_function.0[0] = of_function.0[0].whatever_it_binds_to();
        }
        // Which of two templates is the more special one is not asked across classes, nor what `volatile` decides.
        let is_open = method.condition == Condition::Open
            || function.condition == Condition::Open
            || method.takes_volatile != function.takes_volatile.get(1..).unwrap_or(&[]);
        // A body makes none the better one.
        (of_method.2, of_function.2) = (false, false);
        if is_open {
            Operator::Open
        } else if is_better(&of_method, &of_function) {
            Operator::Method
        } else if is_better(&of_function, &of_method) {
            Operator::Function
        } else {
            Operator::Open
        }
    }

    fn candidates(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        object: Option<&Expr>,
        args: &[Expr],
        care: Care,
    ) -> Vec<Candidate<'u>> {
        // A specialisation is chosen with its template, never by itself.
        let has_template = functions.iter().any(|decl| !self.records.own_template(*decl).is_empty());
        let mut found = Vec::new();
        let calls_device = !self.in_host && functions.iter().any(|decl| !is_of_host(*decl));
        for &declared in functions.iter().filter(|decl| !calls_device || !is_of_host(**decl)) {
            // One whose packs have no known length is no candidate, and may be the one that is called.
            let Some(decl) = self.unpacked(declared, template_args, args.len()) else { continue };
            let is_special = is_specialization(decl) && (has_template || written_args(decl).is_some());
            if !accepts(functions, decl, args.len()) || is_special {
                continue;
            }
            // The type of `nullptr`, of which an instance would be made, is none that is modelled.
            if self.may_be_made_of_null(decl, args) {
                return Vec::new();
            }
            match self.candidate(decl, template_args, object, args, care) {
                // What an alias stands for is not seen through where parameters are deduced.
                None if self.has_alias_of_template(decl) => return Vec::new(),
                candidate => found.extend(candidate.map(|it| self.of_packs(it, declared))),
            }
        }
        found
    }

    /// The template without packs that one with packs is for so many arguments.
    fn unpacked(
        &mut self,
        decl: FunctionDecl<'u>,
        template_args: Option<&[TemplateArg]>,
        count: usize,
    ) -> Option<FunctionDecl<'u>> {
        let own = self.records.own_template(decl);
        let syntax = self.functions.packs.function(decl.syntax, own, template_args.unwrap_or(&[]), count)?;
        self.visible.stands_for(syntax, decl.syntax);
        Some(FunctionDecl { syntax, ..decl })
    }

    /// A candidate with what it is known by of its packs: without arguments for them it is a template all the same.
    fn of_packs(&self, candidate: Candidate<'u>, declared: FunctionDecl<'u>) -> Candidate<'u> {
        let (fits, is_template, is_declared) = candidate.key;
        let key = (fits, is_template || has_pack(self.records.own_template(declared)), is_declared);
        Candidate { key, before_pack: before_pack(declared.syntax), ..candidate }
    }

    /// Whether a parameter of a function template is of a type that is deduced, where `nullptr` is given for it.
    fn may_be_made_of_null(&self, decl: FunctionDecl<'u>, args: &[Expr]) -> bool {
        let params = self.records.own_template(decl);
        !params.is_empty()
            && decl.syntax.params.iter().zip(args).any(|(param, argument)| {
                let written = match &param.ty.kind {
                    TypeKind::Reference(inner, _) => inner,
                    _ => &param.ty,
                };
                let TypeKind::Named(path) = &written.kind else { return false };
                let is_deduced = path.segments.len() == 1
                    && params.iter().any(|param| param.name.text == path.segments[0].name.text);
                is_deduced && matches!(argument.kind, ExprKind::Null) && self.is_null_constant(argument)
            })
    }

    /// Whether a parameter of a function template is written by an alias template.
    fn has_alias_of_template(&mut self, decl: FunctionDecl<'u>) -> bool {
        if self.records.own_template(decl).is_empty() {
            return false;
        }
        decl.syntax.params.iter().any(|param| {
            let mut ty = &param.ty;
            while let TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) = &ty.kind {
                ty = inner;
            }
            let TypeKind::Named(path) = &ty.kind else { return false };
            let has_args = path.segments.last().is_some_and(|last| last.args.is_some());
            has_args
                && self.within(decl.scope, |this| match this.find(path) {
                    Found::Entities(entities) => matches!(entities.first(), Some(Entity::Alias(..))),
                    Found::External(_) => false,
                })
        })
    }

    /// The position of the best candidate; `None` where none is, or what is not known here decides.
    fn best(&mut self, candidates: &[Candidate<'u>], rivals: usize) -> Option<usize> {
        let mut best = 0;
        for (at, candidate) in candidates.iter().enumerate().skip(1) {
            if is_better(&candidate.key, &candidates[best].key) || self.is_more_special(candidate, &candidates[best]) {
                best = at;
            }
        }
        let winner = candidates.get(best)?;
        // What is no better than `...` may be converted by its class, which is.
        if candidates.len() < rivals && winner.key.0.iter().any(|fit| fit.rank == Rank::Ellipsis) {
            return None;
        }
        for (at, rival) in candidates.iter().enumerate() {
            if at == best {
                continue;
            }
            // Types do not tell what is `volatile`.
            if rival.takes_volatile != winner.takes_volatile {
                return None;
            }
            let is_same = fit_alike(&rival.key, &winner.key)
                && rival.key.1 == winner.key.1
                && rival.signature == winner.signature
                && !are_two_definitions(rival.decl, winner.decl)
                && self.is_as_special(rival, winner)
                && self.is_as_special(winner, rival);
            let loses = is_better(&winner.key, &rival.key) || self.is_more_special(winner, rival);
            if !is_same && !loses {
                return None;
            }
            // Whether it takes part depends on what is not known, as does which other one is called if it does not.
            let is_open = winner.condition == Condition::Open && !is_same
                || rival.condition == Condition::Open && !is_better(&winner.key, &rival.key);
            if is_open {
                return None;
            }
        }
        Some(best)
    }

    /// Whether a template with a pack, of which no candidate is made, may fit so many arguments better than the fits of the
    /// best candidate are. Where both fit alike, it is the one without a pack.
    fn may_win_by_pack(&self, decl: FunctionDecl<'u>, fits: &[Fit]) -> bool {
        if !self.records.own_template(decl).iter().any(|param| param.pack) {
            return false;
        }
        let (packs, others): (Vec<_>, Vec<_>) = decl.syntax.params.iter().partition(|param| param.pack);
        let needed = others.iter().filter(|param| param.default.is_none()).count();
        if needed > fits.len() || packs.is_empty() && others.len() < fits.len() {
            return false;
        }
        let binds = |param: &syntax::Param| match &param.ty.kind {
            TypeKind::Reference(of, _) => !of.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Const)),
            _ => false,
        };
        if fits.len() > others.len() || others.iter().any(|param| binds(param)) {
            !fits.iter().all(Fit::is_perfect)
        } else {
            fits.iter().any(|fit| fit.rank != Rank::Exact)
        }
    }

    /// Why none of these functions is chosen for a call.
    pub(super) fn why_none_fits(&mut self, name: &str, functions: &[FunctionDecl<'u>], args: &[Expr]) -> String {
        let has_pack = |decl: &FunctionDecl<'u>| self.records.own_template(*decl).iter().any(|param| param.pack);
        let is_volatile = functions.iter().any(|decl| are_volatile(*decl).contains(&true))
            || args.iter().any(|argument| self.may_be_volatile(argument));
        if is_volatile && functions.len() > 1 {
            format!("call of `{name}`, of which `volatile` may choose another")
        } else if functions.iter().any(has_pack) {
            format!("call of `{name}`, which may be one with a parameter pack")
        } else if functions.iter().any(|decl| self.has_alias_of_template(*decl)) {
            format!("call of `{name}`, a parameter of which an alias template writes")
        } else {
            format!("no function `{name}` fits this call")
        }
    }

    /// The type of a parameter that all functions have there which take `count` arguments; `None` for templates, whose
    /// parameters take no list without a type.
    pub(super) fn common_param_type(
        &mut self,
        functions: &[FunctionDecl<'u>],
        count: usize,
        position: usize,
    ) -> Option<TypeId> {
        let mut common = None;
        for &decl in functions.iter().filter(|decl| accepts(functions, **decl, count)) {
            let param = decl.syntax.params.get(position)?;
            if !self.records.own_template(decl).is_empty() {
                return None;
            }
            let ty = self.within(decl.scope, |this| this.param_type(param).ty);
            if common.replace(ty).is_some_and(|other| other != ty) {
                return None;
            }
        }
        common
    }

    /// The explicit specialisation of a function template for its arguments, if there is one; `None` where what is not known of
    /// them may choose it, or `volatile`, of which types do not tell.
    fn specialized(
        &mut self,
        functions: &[FunctionDecl<'u>],
        chosen: Chosen<'u>,
        template_args: Option<&[TemplateArg]>,
        args: &[Expr],
    ) -> Option<Chosen<'u>> {
        let own = self.records.own_template(chosen.decl);
        for &decl in functions {
            let is_of_more = written_args(decl).is_some_and(|written| written.len() > own.len());
            if !is_specialization(decl) || is_of_more || decl.syntax.params.len() != chosen.decl.syntax.params.len() {
                continue;
            }
            // It is one of the templates before it.
            let [special, general] =
                [decl, chosen.decl].map(|decl| decl.syntax.path.segments.last().map(|it| it.name.span));
            if let (Some(special), Some(general)) = (special, general)
                && special.file == general.file
                && special.expansion == general.expansion
                && special.start < general.start
            {
                continue;
            }
            let values = self.specialized_values(decl, chosen.decl, own);
            let values = self.complete_values(own, values, chosen.decl.scope);
            if values != chosen.values && self.may_be_same(&values, &chosen.values) {
                return None;
            }
            if values == chosen.values {
                let is_open = states_volatile(template_args.unwrap_or(&[]))
                    || states_volatile(written_args(decl).unwrap_or(&[]))
                    || are_volatile(decl) != are_volatile(chosen.decl)
                    || args.iter().zip(&chosen.decl.syntax.params).any(|(argument, param)| {
                        matches!(param.ty.kind, TypeKind::Pointer(_) | TypeKind::Reference(..))
                            && self.may_be_volatile(argument)
                    });
                return (!is_open).then_some(Chosen { decl, values: Vec::new() });
            }
        }
        Some(chosen)
    }

    /// The template arguments of an explicit specialisation: those that are written, then what its types say.
    fn specialized_values(
        &mut self,
        decl: FunctionDecl<'u>,
        primary: FunctionDecl<'u>,
        own: &'u [syntax::TemplateParam],
    ) -> Vec<TemplateValue> {
        let written = written_args(decl).unwrap_or(&[]);
        let (mut values, types, result) = self.within(decl.scope, |this| {
            let values = this.written_values(own, written);
            let types: Vec<TypeId> = decl.syntax.params.iter().map(|param| this.param_type(param).ty).collect();
            (values, types, decl.syntax.result.as_ref().map(|result| this.resolve_type(result).ty))
        });
        values.resize(own.len().max(values.len()), TemplateValue::Unknown);
        self.within(primary.scope, |this| {
            for (pattern, actual) in primary.syntax.params.iter().zip(types) {
                this.deduce(own, &mut values, &pattern.ty, actual);
            }
            if let (Some(pattern), Some(actual)) = (&primary.syntax.result, result) {
                this.deduce(own, &mut values, pattern, actual);
            }
        });
        values
    }

    /// A function with the fits of the object and the arguments; `None` if it does not fit.
    fn candidate(
        &mut self,
        decl: FunctionDecl<'u>,
        template_args: Option<&'u [TemplateArg]>,
        object: Option<&Expr>,
        args: &[Expr],
        care: Care,
    ) -> Option<Candidate<'u>> {
        let params = self.records.own_template(decl);
        let mut scope = decl.scope;
        let mut values = Vec::new();
        if params.is_empty() {
            // `f<>(x)` calls a template, too (C++17, [temp.arg.explicit] paragraph 4).
            if template_args.is_some() {
                return None;
            }
        } else {
            values = self.deduced_values(decl, params, template_args, args)?;
            scope = self.bind(scope, params, &values);
        }
        let condition = match params.is_empty() {
            true => Condition::Holds,
            false => self.within(scope, |this| this.condition_of(decl, params)),
        };
        if condition == Condition::Fails {
            return None;
        }
        // Whether an object is `volatile` is not known here.
        let is_volatile = decl.syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Volatile));
        let condition = if is_volatile && decl.record.is_some() { Condition::Open } else { condition };
        let mut fits = vec![self.fit_of_object(decl, object, care)?];
        let mut signature = Vec::new();
        let mut takes_volatile = Vec::new();
        let mut condition = condition;
        self.within(scope, |this| {
            for param in &decl.syntax.params {
                let written = this.param_type(param);
                signature.push(
                    this.types.argument_type(Written { is_const: written.is_const && written.is_reference, ..written }),
                );
                if let Some(argument) = args.get(fits.len() - 1) {
                    let refers = written.is_reference || matches!(this.types[written.ty], Type::Pointer { .. });
                    takes_volatile.push(refers && written.is_volatile);
                    if refers && !written.is_volatile && params.is_empty() && this.may_be_volatile(argument) {
                        condition = Condition::Open;
                    }
                    // That `const` is added to `void` is in no type.
                    if params.is_empty() && is_const_void(&param.ty) && this.types.is_void_pointer(argument.ty) {
                        condition = Condition::Open;
                    }
                    fits.push(this.fit_of_argument(argument, written, care)?);
                }
            }
            Some(())
        })?;
        fits.resize(args.len() + 1, Fit::value(Rank::Ellipsis, 0));
        if decl.syntax.is_const {
            signature.push(self.types.common.void);
        }
        let key = (fits, !values.is_empty(), decl.syntax.body.is_none());
        Some(Candidate { key, decl, values, signature, takes_volatile, condition, before_pack: usize::MAX })
    }

    /// Whether an argument may lead to what is `volatile`: a variable that is, or that points there, stands in it.
    fn may_be_volatile(&self, argument: &Expr) -> bool {
        any_within(argument, |part| matches!(part.kind, ExprKind::Variable(it) if self.variables[it].is_volatile))
    }

    /// Explicit, deduced and default template arguments; `None` if one is missing.
    fn deduced_values(
        &mut self,
        decl: FunctionDecl<'u>,
        params: &'u [syntax::TemplateParam],
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
    ) -> Option<Vec<TemplateValue>> {
        if unpack::is_open(template_args.unwrap_or(&[])) {
            return None;
        }
        let mut values = self.written_values(params, template_args.unwrap_or(&[]));
        if values.len() > params.len() && !params.iter().any(|param| param.pack) {
            return None;
        }
        let explicit = values.len();
        values.resize(params.len().max(explicit), TemplateValue::Unknown);
        if params.iter().any(|param| param.pack) {
            return None;
        }
        for (param, argument) in decl.syntax.params.iter().zip(args) {
            // The null pointer has a type of its own, which is no pointer's.
            if matches!(argument.kind, ExprKind::Null) && self.is_null_constant(argument) {
                continue;
            }
            let is_function = matches!(argument.kind, ExprKind::Function(_));
            // A reference is to the function itself.
            let object = match (&param.ty.kind, is_function) {
                (TypeKind::Reference(..), true) => self.types.function_behind(argument.ty),
                _ => self.types.referred(argument.ty).0,
            };
            let actual = match param.ty.kind {
                // `T &&` takes what has a place as `X &`.
                TypeKind::Reference(_, Binding::Rvalue) if is_function || self.is_lvalue(argument) => {
                    self.types.with_reference(object, Binding::Lvalue)
                }
                TypeKind::Reference(..) => object,
                _ => match self.types[object] {
                    Type::Array { of, .. } => self.types.pointer(of, None),
                    _ => self.types.plain(object),
                },
            };
            // Other names in the pattern are looked up where the function is declared.
            let mut found = vec![TemplateValue::Unknown; values.len()];
            self.within(decl.scope, |this| this.deduce(params, &mut found, &param.ty, actual));
            for (at, found) in found.into_iter().enumerate() {
                if values[at] == TemplateValue::Unknown {
                    values[at] = found;
                } else if at >= explicit && self.contradict(&values[at], &found) {
                    return None;
                }
            }
        }
        let values = self.complete_values(params, values, decl.scope);
        let complete = values.iter().zip(params).all(|(value, param)| {
            *value != TemplateValue::Unknown || args_are_untyped(self, args) || param.name.text.is_empty()
        });
        complete.then_some(values)
    }

    /// Whether two arguments of a template make a parameter two types, so that nothing is deduced.
    fn contradict(&self, one: &TemplateValue, other: &TemplateValue) -> bool {
        match (one, other) {
            (TemplateValue::Type(a), TemplateValue::Type(b)) => {
                let is_open = |ty: TypeId| matches!(self.types[ty], Type::Unknown(_));
                a != b && !self.types.is_alike(*a, *b) && !is_open(*a) && !is_open(*b)
            }
            (TemplateValue::Value(a, _), TemplateValue::Value(b, _)) => a != b,
            _ => false,
        }
    }

    fn is_more_special(&mut self, one: &Candidate<'u>, other: &Candidate<'u>) -> bool {
        fit_alike(&one.key, &other.key)
            && one.key.1
            && other.key.1
            && self.is_as_special(one, other)
            // Where nothing else decides, it is the one whose pack begins later ([temp.deduct.type] paragraph 10).
            && (!self.is_as_special(other, one) || one.before_pack > other.before_pack)
    }

    /// Whether a template takes nothing that another does not ([temp.deduct.partial]). What are no templates are equally special.
    fn is_as_special(&mut self, one: &Candidate<'u>, other: &Candidate<'u>) -> bool {
        if !one.key.1 || !other.key.1 || std::ptr::eq(one.decl.syntax, other.decl.syntax) {
            return true;
        }
        let (Some(there), Some(back)) = (self.taken_by(one, other), self.taken_by(other, one)) else { return false };
        there
            .iter()
            .zip(&back)
            .all(|((one, is_taken), (other, is_back))| *is_taken && !(*is_back && is_narrower_reference(*other, *one)))
    }

    /// The types of a template's parameters, made of types that are nothing else, and whether those of another one take them:
    /// of references the objects, and without the outermost `const` (paragraphs 5 and 7).
    fn taken_by(&mut self, one: &Candidate<'u>, other: &Candidate<'u>) -> Option<Vec<(Written, bool)>> {
        let count = one.key.0.len() - 1;
        let params = self.records.own_template(one.decl);
        let values = self.placeholders(params);
        let scope = self.bind(one.decl.scope, params, &values);
        let made = self.first_types(one.decl, scope, count);
        let params = self.records.own_template(other.decl);
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.within(other.decl.scope, |this| {
            for (pattern, written) in other.decl.syntax.params.iter().zip(&made) {
                let ty = this.types.object_type(*written);
                this.deduce(params, &mut found, &pattern.ty, ty);
            }
        });
        let found = self.complete_values(params, found, other.decl.scope);
        let scope = self.bind(other.decl.scope, params, &found);
        let rebuilt = self.first_types(other.decl, scope, count);
        let is_taken = |(made, rebuilt): (Written, &Written)| (made, made.ty == rebuilt.ty);
        (made.len() == rebuilt.len()).then(|| made.into_iter().zip(&rebuilt).map(is_taken).collect())
    }

    /// The types of the parameters that so many arguments are for.
    fn first_types(&mut self, decl: FunctionDecl<'u>, scope: ScopeId, count: usize) -> Vec<Written> {
        let params = decl.syntax.params.iter().take(count);
        self.within(scope, |this| params.map(|param| this.param_type(param)).collect())
    }

    /// Arguments that are equal to nothing else.
    pub(super) fn placeholders(&mut self, params: &[syntax::TemplateParam]) -> Vec<TemplateValue> {
        let mut values = Vec::new();
        for (at, param) in params.iter().enumerate() {
            values.push(match &param.kind {
                _ if param.pack => TemplateValue::Unknown,
                syntax::TemplateParamKind::Type(_) => TemplateValue::Type(self.types.placeholder(at)),
                syntax::TemplateParamKind::Value(..) => {
                    TemplateValue::Value(PLACEHOLDER + at as i128, self.types.common.ulong)
                }
                syntax::TemplateParamKind::Template(_) => TemplateValue::Unknown,
            });
        }
        values
    }
}

/// A number that no program uses as an argument of a template.
const PLACEHOLDER: i128 = 0x5eed_0000_0000;

/// Whether a number stands for nothing else.
pub(super) fn is_placeholder(value: i128) -> bool {
    (PLACEHOLDER..PLACEHOLDER + (1 << 16)).contains(&value)
}

/// Whether a function is an explicit specialisation (`template <> int f<0>(int)`, `template <> int f(float)`).
fn is_specialization(decl: FunctionDecl<'_>) -> bool {
    let is_free = decl.syntax.path.segments.len() == 1;
    decl.syntax.template.as_ref().is_some_and(Vec::is_empty) && (is_free || written_args(decl).is_some())
}

/// The template arguments that a function's name is written with.
fn written_args(decl: FunctionDecl<'_>) -> Option<&[TemplateArg]> {
    decl.syntax.path.segments.last()?.args.as_deref()
}

/// Whether `volatile` stands in arguments of a template.
pub(super) fn states_volatile(args: &[TemplateArg]) -> bool {
    args.iter().any(|argument| match argument {
        TemplateArg::Type(ty) => is_volatile(ty),
        TemplateArg::Value(_) => false,
        // What the pack holds may be.
        TemplateArg::Expansion(_) => true,
    })
}

/// For which parameters of a function `volatile` stands in the type.
fn are_volatile(decl: FunctionDecl<'_>) -> Vec<bool> {
    decl.syntax.params.iter().map(|param| is_volatile(&param.ty)).collect()
}

fn is_volatile(ty: &syntax::Type) -> bool {
    syntax::type_text(ty).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "volatile")
}

/// Whether a reference of two that take the same is the more special one ([temp.deduct.partial] paragraph 9): one to what has a
/// place beside one to what ends, then one to what is `const`.
fn is_narrower_reference(one: Written, other: Written) -> bool {
    let is_lvalue = |written: Written| written.binding != Some(Binding::Rvalue);
    let key = |written: Written| (is_lvalue(written), written.is_const);
    one.is_reference && other.is_reference && key(one) > key(other)
}

/// Whether no argument has a type, as in a kernel template that nothing instantiates.
fn args_are_untyped(resolver: &Resolver<'_>, args: &[Expr]) -> bool {
    args.iter().any(|argument| resolver.is_untyped(argument.ty))
}

/// Whether a function takes that many arguments; defaults may stand on another declaration of it.
pub(super) fn accepts(functions: &[FunctionDecl<'_>], decl: FunctionDecl<'_>, count: usize) -> bool {
    let params = &decl.syntax.params;
    if count > params.len() {
        return decl.syntax.variadic;
    }
    params.iter().enumerate().skip(count).all(|(position, param)| {
        param.default.is_some()
            || functions.iter().any(|other| {
                // Another declaration of the function may state it; what has a body of its own is another function.
                let may_be_same = decl.syntax.body.is_none() || other.syntax.body.is_none();
                may_be_same
                    && other.syntax.params.len() == params.len()
                    && other.syntax.params[position].default.is_some()
            })
    })
}

/// Whether two functions are defined in one scope: what tells them apart (a constraint, or a namespace that shares its names
/// with that around it) is not known here. Of a member, one definition may replace another.
fn are_two_definitions(one: FunctionDecl<'_>, other: FunctionDecl<'_>) -> bool {
    let is_template = one.syntax.template.is_some();
    one.scope == other.scope
        && (is_template || one.record.is_none())
        && one.syntax.body.is_some()
        && other.syntax.body.is_some()
        && !std::ptr::eq(one.syntax, other.syntax)
}

/// `const void *`
fn is_const_void(ty: &syntax::Type) -> bool {
    let TypeKind::Pointer(inner) = &ty.kind else { return false };
    let is_const = inner.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Const));
    is_const && matches!(&inner.kind, TypeKind::Builtin(words) if words == "void")
}

/// Whether a function is for the host alone.
fn is_of_host(decl: FunctionDecl<'_>) -> bool {
    let is = |wanted: fn(&Qualifier) -> bool| decl.syntax.qualifiers.iter().any(wanted);
    is(|qualifier| matches!(qualifier, Qualifier::Host)) && !is(|qualifier| matches!(qualifier, Qualifier::Device))
}

/// Whether two candidates fit the object and the arguments equally well.
fn fit_alike(a: &Key, b: &Key) -> bool {
    a.0.iter().zip(&b.0).all(|(a, b)| a.is_as_good_as(b))
}

/// Whether a candidate is better: better for some argument and worse for none, or equal and less general.
fn is_better(a: &Key, b: &Key) -> bool {
    let worse = a.0.iter().zip(&b.0).any(|(a, b)| b.is_better_than(a));
    let better = a.0.iter().zip(&b.0).any(|(a, b)| a.is_better_than(b));
    match (better, worse) {
        (true, false) => true,
        (false, false) => (a.1, a.2) < (b.1, b.2),
        // C++ calls it ambiguous, where both are.
        (_, true) => false,
    }
}
