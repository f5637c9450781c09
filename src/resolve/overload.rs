//! Overload resolution: candidates by arity, template deduction, and ranks of conversions.

use super::context::Resolver;
use super::program::{Expr, ExprKind, Type, TypeId};
use super::scope::FunctionDecl;
use super::template::TemplateValue;
use super::type_functions::Condition;
use super::types::Written;
use crate::syntax::{self, TemplateArg, TypeKind};

/// A function with its template arguments.
pub(super) struct Chosen<'u> {
    pub(super) decl: FunctionDecl<'u>,
    pub(super) values: Vec<TemplateValue>,
}

/// What candidates are compared by: ranks, whether it is a template, whether it has no body.
type Key = (Vec<Rank>, bool, bool);

/// How well a conversion fits: lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exact,
    Promotion,
    Conversion,
    UserDefined,
}

impl<'u> Resolver<'u> {
    /// The candidate that fits the arguments best; among equals, one that is no template, then one with a body.
    pub(super) fn choose(
        &mut self,
        functions: &[FunctionDecl<'u>],
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
    ) -> Option<Chosen<'u>> {
        let mut best: Option<(Key, Chosen<'u>)> = None;
        let mut rivals: Vec<(Key, Vec<TypeId>)> = Vec::new();
        let mut open: Vec<Key> = Vec::new();
        // A specialisation is chosen with its template, never by itself.
        let has_template = functions.iter().any(|decl| !self.own_template(*decl).is_empty());
        for &decl in functions {
            let is_special = is_specialization(decl) && (has_template || written_args(decl).is_some());
            if !accepts(functions, decl, args.len()) || is_special {
                continue;
            }
            let Some((ranks, values, types, condition)) = self.candidate(decl, template_args, args) else {
                continue;
            };
            let key = (ranks, !values.is_empty(), decl.syntax.body.is_none());
            if condition == Condition::Open {
                open.push(key.clone());
            }
            rivals.push((key.clone(), types));
            let better = match &best {
                None => true,
                Some((known, _)) => is_better(&key, known),
            };
            if better {
                best = Some((key, Chosen { decl, values }));
            }
        }
        let (key, chosen) = best?;
        // Whether it takes part depends on what is not known, as does which other one is called if it does not.
        if rivals.len() > 1 && open.iter().any(|open| *open == key || !is_better(&key, open)) {
            return None;
        }
        // Two that fit equally well and take different types: which one is called depends on what is not known
        // here (a type parameter, a missing header), and a guess could hide an access.
        let mut same_rank = rivals.iter().filter(|(rival, _)| rival.0 == key.0 && rival.1 == key.1);
        let first = same_rank.next().map(|(_, types)| types);
        if same_rank.any(|(_, types)| Some(types) != first) {
            return None;
        }
        Some(self.specialized(functions, chosen))
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

    /// The explicit specialisation of a function template for its arguments, if there is one.
    fn specialized(&mut self, functions: &[FunctionDecl<'u>], chosen: Chosen<'u>) -> Chosen<'u> {
        if chosen.values.is_empty() {
            return chosen;
        }
        let own = self.own_template(chosen.decl);
        for &decl in functions {
            if !is_specialization(decl) || decl.syntax.params.len() != chosen.decl.syntax.params.len() {
                continue;
            }
            let values = self.specialized_values(decl, chosen.decl, own);
            if self.complete_values(own, values, chosen.decl.scope) == chosen.values {
                return Chosen { decl, values: Vec::new() };
            }
        }
        chosen
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

    /// The ranks of the arguments' conversions, the template arguments, the types of the parameters and whether it
    /// takes part; `None` if it does not fit.
    fn candidate(
        &mut self,
        decl: FunctionDecl<'u>,
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
    ) -> Option<(Vec<Rank>, Vec<TemplateValue>, Vec<TypeId>, Condition)> {
        let params = self.own_template(decl);
        let mut scope = decl.scope;
        let mut values = Vec::new();
        if params.is_empty() {
            if template_args.is_some_and(|args| !args.is_empty()) {
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
        let (ranks, types) = self.within(scope, |this| {
            let (mut ranks, mut types) = (Vec::new(), Vec::new());
            for (param, argument) in decl.syntax.params.iter().zip(args) {
                let written = this.param_type(param);
                ranks.push(this.rank(argument, written)?);
                types.push(written.ty);
            }
            Some((ranks, types))
        })?;
        Some((ranks, values, types, condition))
    }

    /// The template parameters of a function itself, without those of the record that it is a member of.
    pub(super) fn own_template(&self, decl: FunctionDecl<'u>) -> &'u [syntax::TemplateParam] {
        let params = decl.syntax.template.as_deref().unwrap_or(&[]);
        let is_outside = decl.syntax.path.segments.len() > 1;
        let of_record = match decl.record {
            Some(record) if is_outside => {
                let (index, _) = &self.record_origins[record.index()];
                self.record_decls[*index].primary.template.as_ref().map_or(0, Vec::len)
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
            let actual = match param.ty.kind {
                TypeKind::Reference(_) => argument.ty,
                _ => match self.types[argument.ty] {
                    Type::Array { of, .. } => self.pointer(of, None),
                    _ => argument.ty,
                },
            };
            // Other names in the pattern are looked up where the function is declared.
            self.within(decl.scope, |this| this.deduce(params, &mut values, &param.ty, actual));
        }
        let values = self.complete_values(params, values, decl.scope);
        let complete = values.iter().zip(params).all(|(value, param)| {
            *value != TemplateValue::Unknown || args_are_untyped(self, args) || param.name.text.is_empty()
        });
        complete.then_some(values)
    }

    /// How well an argument fits a parameter.
    fn rank(&mut self, argument: &Expr, written: Written) -> Option<Rank> {
        let (from, to) = (argument.ty, written.ty);
        if written.is_reference {
            if from == to {
                return Some(Rank::Exact);
            }
            if !written.is_const
                && self.is_object(argument)
                && !self.is_record_or_unknown(from)
                && !self.is_record_or_unknown(to)
            {
                return None;
            }
        }
        let from = match self.types[from] {
            Type::Array { of, .. } if !written.is_reference => self.pointer(of, None),
            _ => from,
        };
        self.rank_types(from, to, matches!(argument.kind, ExprKind::Null | ExprKind::Int(0)))
    }

    fn is_record_or_unknown(&self, ty: TypeId) -> bool {
        matches!(self.types[ty], Type::Record(_) | Type::Unknown(_))
    }

    fn rank_types(&mut self, from: TypeId, to: TypeId, is_zero: bool) -> Option<Rank> {
        if from == to {
            return Some(Rank::Exact);
        }
        match (self.types[from].clone(), self.types[to].clone()) {
            (Type::Pointer { .. }, Type::Pointer { .. }) if is_zero => Some(Rank::Conversion),
            (Type::Unknown(_), _) | (_, Type::Unknown(_)) => Some(Rank::Conversion),
            (Type::Pointer { to: a, .. }, Type::Pointer { to: b, .. }) => {
                if a == b {
                    Some(Rank::Exact)
                } else if self.is_void_or_base(a, b) {
                    Some(Rank::Conversion)
                } else {
                    // C lets any pointer pass with a warning; C++ does not.
                    (self.language == crate::source::Language::OpenCl).then_some(Rank::UserDefined)
                }
            }
            (Type::Pointer { .. }, Type::Bool) => Some(Rank::Conversion),
            (Type::Int { .. }, Type::Pointer { .. }) if is_zero => Some(Rank::Conversion),
            (Type::Array { of: a, .. }, Type::Array { of: b, len: None }) if a == b => Some(Rank::Exact),
            _ if self.is_arithmetic(from) && self.is_arithmetic(to) => {
                let promotes = self.promoted(from) == to
                    || matches!(
                        (&self.types[from], &self.types[to]),
                        (Type::Float { width: 32 }, Type::Float { width: 64 })
                    );
                Some(if promotes { Rank::Promotion } else { Rank::Conversion })
            }
            (_, Type::Vector { .. })
                if self.is_arithmetic(from) && self.language == crate::source::Language::OpenCl =>
            {
                Some(Rank::Conversion)
            }
            (Type::Record(_), Type::Record(_)) if self.is_void_or_base(from, to) => Some(Rank::Conversion),
            (_, Type::Record(record)) => {
                let constructors = self.constructors(record);
                let converts = constructors.iter().any(|decl| {
                    let written = decl.syntax.params.first();
                    accepts(&constructors, *decl, 1)
                        && written.is_some_and(|param| !matches!(param.ty.kind, TypeKind::Reference(_)))
                });
                converts.then_some(Rank::UserDefined)
            }
            (Type::Record(_), _) if self.is_arithmetic(to) => Some(Rank::UserDefined),
            _ => None,
        }
    }

    /// Whether a pointer to the first type converts to a pointer to the second.
    fn is_void_or_base(&self, from: TypeId, to: TypeId) -> bool {
        if to == self.common.void || self.language == crate::source::Language::OpenCl && from == self.common.void {
            return true;
        }
        match (&self.types[from], &self.types[to]) {
            (Type::Record(from), Type::Record(to)) => {
                self.record_bases[from.index()].iter().any(|(base, _)| base == to)
            }
            _ => false,
        }
    }
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

/// Whether a candidate is better: better for some argument and worse for none, or equal and less general.
fn is_better(a: &Key, b: &Key) -> bool {
    let worse = a.0.iter().zip(&b.0).any(|(a, b)| a > b);
    let better = a.0.iter().zip(&b.0).any(|(a, b)| a < b);
    match (better, worse) {
        (true, false) => true,
        (false, false) => (a.1, a.2) < (b.1, b.2),
        // Neither is better: the lower sum of ranks is a guess that C++ would call ambiguous.
        (true, true) => a.0 < b.0,
        (false, true) => false,
    }
}
