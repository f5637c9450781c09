//! Overload resolution: candidates by arity, template deduction, ranks of conversions, what references bind to, and which of
//! several templates is more special (C++17, [over.match.best], [over.ics.rank], [temp.func.order]).
//!
//! Guarantees: what is chosen is what the standard says, as far as the types are known; where they leave it open, nothing is.
//!
//! Deliberately absent: conversions by more than one function, and pointers to members.

use super::context::Resolver;
use super::program::visit::any_within;
use super::program::{Expr, ExprKind, Type, TypeId};
use super::scope::{Entity, Found, FunctionDecl};
use super::template::TemplateValue;
use super::type_functions::Condition;
use super::types::Written;
use crate::syntax::{self, Binding, Qualifier, TemplateArg, TypeKind};

/// A function with its template arguments.
pub(super) struct Chosen<'u> {
    pub(super) decl: FunctionDecl<'u>,
    pub(super) values: Vec<TemplateValue>,
}

/// What candidates are compared by: how well the object and the arguments fit, whether it is a template, whether it has no
/// body.
type Key = (Vec<Fit>, bool, bool);

/// How well a conversion fits: lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exact,
    Promotion,
    Conversion,
    UserDefined,
    Ellipsis,
}

/// A rank, and what decides between conversions of one rank: references that add `const` or bind less closely, bases
/// that are further away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit(Rank, u8);

const EXACT: Fit = Fit(Rank::Exact, 0);

/// What a pointer is converted to with more than any base.
const VOID: u8 = 254;

/// Whether `const` and what references bind to are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    Exact,
    Lenient,
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
        if functions.iter().any(|decl| self.may_win_by_pack(*decl, &candidates[best].key.0[1..])) {
            return None;
        }
        let chosen = candidates.swap_remove(best);
        self.specialized(functions, Chosen { decl: chosen.decl, values: chosen.values }, template_args, args)
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
        let has_template = functions.iter().any(|decl| !self.own_template(*decl).is_empty());
        let mut found = Vec::new();
        let calls_device = !self.in_host && functions.iter().any(|decl| !is_of_host(*decl));
        for &decl in functions.iter().filter(|decl| !calls_device || !is_of_host(**decl)) {
            let is_special = is_specialization(decl) && (has_template || written_args(decl).is_some());
            if !accepts(functions, decl, args.len()) || is_special {
                continue;
            }
            match self.candidate(decl, template_args, object, args, care) {
                // What an alias stands for is not seen through where parameters are deduced.
                None if self.has_alias_of_template(decl) => return Vec::new(),
                candidate => found.extend(candidate),
            }
        }
        found
    }

    /// Whether a parameter of a function template is written by an alias template.
    fn has_alias_of_template(&mut self, decl: FunctionDecl<'u>) -> bool {
        if self.own_template(decl).is_empty() {
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
        if candidates.len() < rivals && winner.key.0.iter().any(|fit| fit.0 == Rank::Ellipsis) {
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
            let is_same = rival.key.0 == winner.key.0
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
        if !self.own_template(decl).iter().any(|param| param.pack) {
            return false;
        }
        // Of a parameter that is a pack the syntax does not tell whether it is a reference.
        let is_pack = |param: &&syntax::Param| matches!(param.ty.kind, TypeKind::Unsupported(_));
        let (packs, others): (Vec<_>, Vec<_>) = decl.syntax.params.iter().partition(is_pack);
        let needed = others.iter().filter(|param| param.default.is_none()).count();
        if needed > fits.len() || packs.is_empty() && others.len() < fits.len() {
            return false;
        }
        let binds = |param: &syntax::Param| match &param.ty.kind {
            TypeKind::Reference(of, _) => !of.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Const)),
            _ => false,
        };
        if fits.len() > others.len() || others.iter().any(|param| binds(param)) {
            fits.iter().any(|fit| *fit != EXACT)
        } else {
            fits.iter().any(|fit| fit.0 != Rank::Exact)
        }
    }

    /// Why none of these functions is chosen for a call.
    pub(super) fn why_none_fits(&self, name: &str, functions: &[FunctionDecl<'u>], args: &[Expr]) -> String {
        let has_pack = |decl: &FunctionDecl<'u>| self.own_template(*decl).iter().any(|param| param.pack);
        let is_volatile = functions.iter().any(|decl| are_volatile(*decl).contains(&true))
            || args.iter().any(|argument| self.may_be_volatile(argument));
        if is_volatile && functions.len() > 1 {
            format!("call of `{name}`, of which `volatile` may choose another")
        } else if functions.iter().any(has_pack) {
            format!("call of `{name}`, which may be one with a parameter pack")
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
            if !self.own_template(decl).is_empty() {
                return None;
            }
            let ty = self.within(decl.scope, |this| this.param_type(param).ty);
            if common.replace(ty).is_some_and(|other| other != ty) {
                return None;
            }
        }
        common
    }

    /// The explicit specialisation of a function template for its arguments, if there is one; `None` where `volatile`, of which
    /// types do not tell, may choose it.
    fn specialized(
        &mut self,
        functions: &[FunctionDecl<'u>],
        chosen: Chosen<'u>,
        template_args: Option<&[TemplateArg]>,
        args: &[Expr],
    ) -> Option<Chosen<'u>> {
        if chosen.values.is_empty() {
            return Some(chosen);
        }
        let own = self.own_template(chosen.decl);
        for &decl in functions {
            if !is_specialization(decl) || decl.syntax.params.len() != chosen.decl.syntax.params.len() {
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
            if self.complete_values(own, values, chosen.decl.scope) == chosen.values {
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
        let params = self.own_template(decl);
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
                    this.argument_type(Written { is_const: written.is_const && written.is_reference, ..written }),
                );
                if let Some(argument) = args.get(fits.len() - 1) {
                    let refers = written.is_reference || matches!(this.types[written.ty], Type::Pointer { .. });
                    takes_volatile.push(refers && written.is_volatile);
                    if refers && !written.is_volatile && params.is_empty() && this.may_be_volatile(argument) {
                        condition = Condition::Open;
                    }
                    fits.push(this.fit_of_argument(argument, written, care)?);
                }
            }
            Some(())
        })?;
        fits.resize(args.len() + 1, Fit(Rank::Ellipsis, 0));
        if decl.syntax.is_const {
            signature.push(self.common.void);
        }
        let key = (fits, !values.is_empty(), decl.syntax.body.is_none());
        Some(Candidate { key, decl, values, signature, takes_volatile, condition })
    }

    /// Whether an argument may lead to what is `volatile`: a variable that is, or that points there, stands in it.
    fn may_be_volatile(&self, argument: &Expr) -> bool {
        any_within(argument, |part| matches!(part.kind, ExprKind::Variable(it) if self.variables[it].is_volatile))
    }

    /// The object of a call: what a function returns as `const` is that although it is a value.
    fn as_returned(&mut self, object: &Expr) -> Expr {
        let mut object = object.clone();
        if let (ExprKind::Call(function, _), Type::Record(_)) = (&object.kind, &self.types[object.ty])
            && let info = self.infos[function.index()].clone()
            && let Some(result) = &info.syntax.result
            && self.within(info.scope, |this| this.resolve_type(result).is_const)
        {
            object.ty = self.with_const(object.ty);
        }
        object
    }

    /// How well methods take an object, the least the best; `None` for one that does not.
    pub(super) fn fits_of_object(&mut self, decls: &[FunctionDecl<'u>], object: &Expr) -> Vec<Option<u8>> {
        let object = self.as_returned(object);
        let fit = |decl: &FunctionDecl<'u>| self.fit_of_object(*decl, Some(&object), Care::Exact).map(|fit| fit.1);
        decls.iter().map(fit).collect()
    }

    /// How well the object of a method fits.
    fn fit_of_object(&self, decl: FunctionDecl<'u>, object: Option<&Expr>, care: Care) -> Option<Fit> {
        let Some(record) = decl.record.filter(|_| care == Care::Exact) else {
            return Some(EXACT);
        };
        let name = self.record_decls[self.record_origins[record.index()].0].name;
        let is_constructor = decl.syntax.result.is_none()
            && decl.syntax.path.segments.last().is_some_and(|segment| segment.name.text == name);
        if is_constructor || self.is_static(decl, record) {
            return Some(EXACT);
        }
        let of_this = || match self.types[self.variables[self.frame.this?].ty] {
            Type::Pointer { to, .. } => Some((to, true)),
            _ => None,
        };
        let given = object.map(|object| (object.ty, self.is_lvalue(object)));
        let Some((ty, is_lvalue)) = given.or_else(of_this) else {
            return Some(EXACT);
        };
        let is_const = self.is_const(ty);
        let binds = match decl.syntax.called_on {
            None => true,
            Some(Binding::Lvalue) => is_lvalue || decl.syntax.is_const,
            Some(Binding::Rvalue) => !is_lvalue,
        };
        if is_const && !decl.syntax.is_const || !binds {
            return None;
        }
        let adds_const = u8::from(decl.syntax.is_const && !is_const);
        let is_loose = u8::from(!is_lvalue && decl.syntax.called_on != Some(Binding::Rvalue));
        Some(Fit(Rank::Exact, adds_const + is_loose))
    }

    /// Whether an expression denotes an object that stays.
    pub(super) fn is_lvalue(&self, value: &Expr) -> bool {
        self.is_object(value) && !self.is_given_up(value)
    }

    /// The template parameters of a function itself, without those of the record that it is a member of.
    pub(super) fn own_template(&self, decl: FunctionDecl<'u>) -> &'u [syntax::TemplateParam] {
        let params = decl.syntax.template.as_deref().unwrap_or(&[]);
        let is_outside = decl.syntax.path.segments.len() > 1;
        let of_record = match decl.record {
            Some(record) if is_outside => {
                let template = |definition: &&'u syntax::Record| definition.template.as_ref().map(Vec::len);
                self.definitions.get(&record).and_then(template).unwrap_or(0)
            }
            _ => 0,
        };
        params.get(of_record..).unwrap_or(&[])
    }

    /// Explicit, deduced and default template arguments; `None` if one is missing.
    fn deduced_values(
        &mut self,
        decl: FunctionDecl<'u>,
        params: &'u [syntax::TemplateParam],
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
    ) -> Option<Vec<TemplateValue>> {
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
            if matches!(argument.kind, ExprKind::Null) {
                continue;
            }
            let (object, _) = self.referred(argument.ty);
            let actual = match param.ty.kind {
                // `T &&` takes what has a place as `X &`.
                TypeKind::Reference(_, Binding::Rvalue) if self.is_lvalue(argument) => {
                    self.with_reference(object, Binding::Lvalue)
                }
                TypeKind::Reference(..) => object,
                _ => match self.types[object] {
                    Type::Array { of, .. } => self.pointer(of, None),
                    _ => self.plain(object),
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
                a != b && !self.is_alike(*a, *b) && !is_open(*a) && !is_open(*b)
            }
            (TemplateValue::Value(a, _), TemplateValue::Value(b, _)) => a != b,
            _ => false,
        }
    }

    /// How well an argument fits a parameter.
    fn fit_of_argument(&mut self, argument: &Expr, written: Written, care: Care) -> Option<Fit> {
        let (from, to) = (argument.ty, written.ty);
        let is_zero = matches!(argument.kind, ExprKind::Null | ExprKind::Int(0));
        if !written.is_reference || self.language == crate::source::Language::OpenCl {
            let from = match self.types[from] {
                Type::Array { of, .. } => self.pointer(of, None),
                _ => self.plain(from),
            };
            let fit = self.fit_of_types(from, to, is_zero);
            let promotes = from != to && self.operand_type(argument) == to;
            return fit.map(|fit| if promotes { Fit(Rank::Promotion, 0) } else { fit });
        }
        let (object, _) = self.referred(from);
        // Arguments in host code are looked at as values.
        let cares = care == Care::Exact && !self.in_host;
        let is_const = self.is_const(object);
        if self.is_alike(object, to) {
            let adds = self.added_const(object, to) + u8::from(written.is_const && !is_const);
            let is_lvalue = self.is_lvalue(argument);
            if !cares {
                return Some(EXACT);
            }
            return match written.binding {
                Some(Binding::Rvalue) if is_lvalue || is_const && !written.is_const => None,
                Some(Binding::Rvalue) => Some(Fit(Rank::Exact, adds)),
                _ if is_lvalue && (written.is_const || !is_const) => Some(Fit(Rank::Exact, adds)),
                _ if !is_lvalue && written.is_const => Some(Fit(Rank::Exact, 8 + adds)),
                _ => None,
            };
        }
        let is_open = |this: &Self, ty| matches!(this.types[ty], Type::Unknown(_));
        let is_base = self.steps_to_base(self.plain(object), to).is_some();
        // What is converted is a value, to which `&` does not bind.
        if cares && !is_open(self, object) && !is_open(self, to) {
            let is_lvalue = self.is_lvalue(argument);
            let binds = match written.binding {
                Some(Binding::Rvalue) => !is_base || !is_lvalue,
                _ if is_base => written.is_const || is_lvalue && !is_const,
                _ => written.is_const,
            };
            if !binds {
                return None;
            }
        }
        let Fit(rank, detail) = self.fit_of_types(self.plain(object), to, is_zero)?;
        let is_value = !is_base || !self.is_lvalue(argument);
        let is_loose = cares && is_value && written.binding != Some(Binding::Rvalue);
        let more = u8::from(is_base && written.is_const && !is_const) + if is_loose { 8 } else { 0 };
        Some(Fit(rank, detail.saturating_add(more)))
    }

    /// How often a conversion of pointers adds `const` behind them.
    fn added_const(&self, from: TypeId, to: TypeId) -> u8 {
        let (mut from, mut to, mut added) = (self.plain(from), self.plain(to), 0);
        while let (Type::Pointer { to: a, .. }, Type::Pointer { to: b, .. }) = (&self.types[from], &self.types[to]) {
            added += u8::from(self.is_const(*a) != self.is_const(*b));
            (from, to) = (self.plain(*a), self.plain(*b));
        }
        added
    }

    fn fit_of_types(&mut self, from: TypeId, to: TypeId, is_zero: bool) -> Option<Fit> {
        let of = |rank| Some(Fit(rank, 0));
        if from == to {
            return Some(EXACT);
        }
        let is_c = self.language == crate::source::Language::OpenCl;
        match (self.types[from].clone(), self.types[to].clone()) {
            (Type::Pointer { .. }, Type::Pointer { .. }) if is_zero => of(Rank::Conversion),
            (Type::Unknown(_), _) | (_, Type::Unknown(_)) => of(Rank::Conversion),
            (Type::Pointer { to: a, .. }, Type::Pointer { to: b, .. }) => {
                let loses_const =
                    !is_c && self.is_const(a) && !self.is_const(b) && !matches!(self.types[b], Type::Void);
                let adds = u8::from(self.is_const(b) && !self.is_const(a));
                if loses_const {
                    None
                } else if self.is_alike(a, b) {
                    Some(Fit(Rank::Exact, self.added_const(from, to)))
                } else if b == self.common.void || is_c && a == self.common.void {
                    Some(Fit(Rank::Conversion, VOID))
                } else if let Some(steps) = self.steps_to_base(self.plain(a), self.plain(b)) {
                    Some(Fit(Rank::Conversion, 2 * steps + adds))
                } else {
                    // C lets any pointer pass with a warning; C++ does not.
                    is_c.then_some(Fit(Rank::UserDefined, 0))
                }
            }
            (Type::Pointer { .. }, Type::Bool) => Some(Fit(Rank::Conversion, u8::MAX)),
            (Type::Int { .. }, Type::Pointer { .. }) if is_zero => of(Rank::Conversion),
            (Type::Array { of: a, .. }, Type::Array { of: b, len: None }) if a == b => Some(EXACT),
            _ if self.is_arithmetic(from) && self.is_arithmetic(to) => self.fit_of_numbers(from, to),
            (_, Type::Vector { .. }) if self.is_arithmetic(from) && is_c => of(Rank::Conversion),
            (Type::Record(_), Type::Record(_)) if self.steps_to_base(from, to).is_some() => {
                Some(Fit(Rank::Conversion, 2 * self.steps_to_base(from, to).unwrap_or(0)))
            }
            // By a constructor of `dim3`, or its conversion to `uint3`.
            (_, Type::Vector { .. }) if self.is_dim3(to) && self.is_arithmetic(from) => of(Rank::UserDefined),
            (from_content, to_content) if from_content == to_content && (self.is_dim3(from) || self.is_dim3(to)) => {
                of(Rank::UserDefined)
            }
            (_, Type::Record(record)) => {
                let constructors = self.constructors(record);
                let constructors = self.converting(&constructors);
                let converts = constructors.iter().any(|decl| {
                    let written = decl.syntax.params.first();
                    accepts(&constructors, *decl, 1)
                        && written.is_some_and(|param| !matches!(param.ty.kind, TypeKind::Reference(..)))
                });
                converts.then_some(Fit(Rank::UserDefined, 0))
            }
            (Type::Record(_), _) if self.is_arithmetic(to) => of(Rank::UserDefined),
            _ => None,
        }
    }

    fn fit_of_numbers(&self, from: TypeId, to: TypeId) -> Option<Fit> {
        // Nothing becomes an enumeration by itself, and a scoped one becomes nothing.
        let converts = self.behind_enumeration(from).is_none_or(|(_, converts)| converts);
        if self.behind_enumeration(to).is_some() || !converts {
            return None;
        }
        // An enumeration with a small type behind it promotes to that, or less closely to what that promotes to.
        if let Some((integer, _)) = self.behind_enumeration(from)
            && self.promoted(integer) != integer
            && (to == integer || to == self.promoted(integer))
        {
            return Some(Fit(Rank::Promotion, u8::from(to != integer)));
        }
        let promotes = self.promoted(from) == to
            || matches!((&self.types[from], &self.types[to]), (Type::Float { width: 32 }, Type::Float { width: 64 }));
        Some(Fit(if promotes { Rank::Promotion } else { Rank::Conversion }, 0))
    }

    /// How many steps lead from a class to one of its bases; `None` if it is none.
    fn steps_to_base(&self, from: TypeId, to: TypeId) -> Option<u8> {
        let (Type::Record(from), Type::Record(to)) = (&self.types[from], &self.types[to]) else { return None };
        let mut reached = vec![(*from, 0_u8)];
        let mut next = 0;
        while let Some(&(record, steps)) = reached.get(next) {
            next += 1;
            if record == *to {
                return (steps > 0).then_some(steps);
            }
            if steps < 64 {
                reached.extend(self.record_bases[record.index()].iter().map(|(base, _)| (*base, steps + 1)));
            }
        }
        None
    }

    fn is_more_special(&mut self, one: &Candidate<'u>, other: &Candidate<'u>) -> bool {
        one.key.0 == other.key.0
            && one.key.1
            && other.key.1
            && self.is_as_special(one, other)
            && !self.is_as_special(other, one)
    }

    /// Whether a template takes nothing that another does not: its parameters, made of types that are nothing else, fit those
    /// of the other. What are no templates are equally special.
    fn is_as_special(&mut self, one: &Candidate<'u>, other: &Candidate<'u>) -> bool {
        if !one.key.1 || !other.key.1 || std::ptr::eq(one.decl.syntax, other.decl.syntax) {
            return true;
        }
        let count = one.key.0.len() - 1;
        let params = self.own_template(one.decl);
        let values = self.placeholders(params);
        let scope = self.bind(one.decl.scope, params, &values);
        let made = self.first_types(one.decl, scope, count);
        let params = self.own_template(other.decl);
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.within(other.decl.scope, |this| {
            for (pattern, written) in other.decl.syntax.params.iter().zip(&made) {
                let ty = this.object_type(*written);
                this.deduce(params, &mut found, &pattern.ty, ty);
            }
        });
        let found = self.complete_values(params, found, other.decl.scope);
        let scope = self.bind(other.decl.scope, params, &found);
        let rebuilt = self.first_types(other.decl, scope, count);
        made.len() == rebuilt.len()
            && made.iter().zip(&rebuilt).all(|(a, b)| {
                a.ty == b.ty && a.is_reference == b.is_reference && (!a.is_reference || a.is_const == b.is_const)
            })
    }

    /// The types of the parameters that so many arguments are for.
    fn first_types(&mut self, decl: FunctionDecl<'u>, scope: super::scope::ScopeId, count: usize) -> Vec<Written> {
        let params = decl.syntax.params.iter().take(count);
        self.within(scope, |this| params.map(|param| this.param_type(param)).collect())
    }

    /// Arguments that are equal to nothing else.
    pub(super) fn placeholders(&mut self, params: &[syntax::TemplateParam]) -> Vec<TemplateValue> {
        let mut values = Vec::new();
        for (at, param) in params.iter().enumerate() {
            values.push(match &param.kind {
                _ if param.pack => TemplateValue::Unknown,
                syntax::TemplateParamKind::Type(_) => TemplateValue::Type(self.placeholder(at)),
                syntax::TemplateParamKind::Value(..) => {
                    TemplateValue::Value(PLACEHOLDER + at as i128, self.common.ulong)
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
    })
}

/// For which parameters of a function `volatile` stands in the type.
fn are_volatile(decl: FunctionDecl<'_>) -> Vec<bool> {
    decl.syntax.params.iter().map(|param| is_volatile(&param.ty)).collect()
}

fn is_volatile(ty: &syntax::Type) -> bool {
    syntax::type_text(ty).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "volatile")
}

/// Whether no argument has a type, as in a kernel template that nothing instantiates.
fn args_are_untyped(resolver: &Resolver<'_>, args: &[Expr]) -> bool {
    args.iter().any(|argument| resolver.is_untyped(argument.ty))
}

/// Whether a function takes that many arguments; defaults may stand on another declaration of it.
fn accepts(functions: &[FunctionDecl<'_>], decl: FunctionDecl<'_>, count: usize) -> bool {
    let params = &decl.syntax.params;
    if count > params.len() {
        return decl.syntax.variadic;
    }
    params.iter().enumerate().skip(count).all(|(position, param)| {
        param.default.is_some()
            || functions.iter().any(|other| {
                other.syntax.params.len() == params.len() && other.syntax.params[position].default.is_some()
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

/// Whether a function is for the host alone.
fn is_of_host(decl: FunctionDecl<'_>) -> bool {
    let is = |wanted: fn(&Qualifier) -> bool| decl.syntax.qualifiers.iter().any(wanted);
    is(|qualifier| matches!(qualifier, Qualifier::Host)) && !is(|qualifier| matches!(qualifier, Qualifier::Device))
}

/// Whether a candidate is better: better for some argument and worse for none, or equal and less general.
fn is_better(a: &Key, b: &Key) -> bool {
    let worse = a.0.iter().zip(&b.0).any(|(a, b)| a > b);
    let better = a.0.iter().zip(&b.0).any(|(a, b)| a < b);
    match (better, worse) {
        (true, false) => true,
        (false, false) => (a.1, a.2) < (b.1, b.2),
        // C++ calls it ambiguous, where both are.
        (_, true) => false,
    }
}
