//! How well an argument fits a parameter, and an object a method: ranks of conversions, what references bind to, how far a base
//! is away (C++17, [over.ics.rank], [over.match.funcs]).
//!
//! Guarantees: of two fits the lesser is the better one, as far as the types are known.
//!
//! Deliberately absent: conversions by more than one function, and pointers to members.

use super::context::Resolver;
use super::decltype::NULL_TYPE;
use super::entities::FunctionDecl;
use super::overload::accepts;
use super::program::{Expr, ExprKind, RecordId, Type, TypeId};
use super::qualified::Written;
use crate::syntax::{Binding, TypeKind};

/// How well a conversion fits: lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Exact,
    Promotion,
    Conversion,
    UserDefined,
    Ellipsis,
}

/// A rank, and what decides between conversions of one rank ([over.ics.rank] paragraph 3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) rank: Rank,
    /// Bases that are further away, pointers that add `const`.
    distance: u8,
    /// References that add `const` or bind less closely. Between a reference and a value none of this decides.
    binding: Option<u8>,
}

pub(super) const EXACT: Fit = Fit::value(Rank::Exact, 0);

impl Fit {
    /// Of a parameter that is no reference.
    pub(super) const fn value(rank: Rank, distance: u8) -> Self {
        Fit { rank, distance, binding: None }
    }

    /// Of one that is.
    const fn reference(rank: Rank, distance: u8, binding: u8) -> Self {
        Fit { rank, distance, binding: Some(binding) }
    }

    /// Whether it is the better one.
    pub(super) fn is_better_than(&self, other: &Fit) -> bool {
        let binds_better = || match (self.binding, other.binding) {
            (Some(own), Some(other)) => own < other,
            _ => false,
        };
        let [own, others] = [self, other].map(|fit| (fit.rank, fit.distance));
        own < others || own == others && binds_better()
    }

    /// The same, but for whether it binds to what stays or to what is given up, which is not asked of the object of a method
    /// without `&` or `&&` ([over.ics.rank] paragraph 3.2.3).
    pub(super) fn whatever_it_binds_to(self) -> Fit {
        Fit { binding: self.binding.map(|binding| binding % LOOSE), ..self }
    }

    /// Whether none of them is better.
    pub(super) fn is_as_good_as(&self, other: &Fit) -> bool {
        !self.is_better_than(other) && !other.is_better_than(self)
    }

    /// Whether there is nothing to be said against it.
    pub(super) fn is_perfect(&self) -> bool {
        self.rank == Rank::Exact && self.distance == 0 && self.binding.unwrap_or(0) == 0
    }
}

/// Of references to `const` that bind to what is given up.
const LOOSE: u8 = 8;

/// What a pointer is converted to with more than any base.
const VOID: u8 = 254;

/// Whether `const` and what references bind to are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    Exact,
    Lenient,
}

impl<'u> Resolver<'u> {
    /// The object of a call: what a function returns as `const` is that although it is a value.
    pub(super) fn as_returned(&mut self, object: &Expr) -> Expr {
        let mut object = object.clone();
        if let (ExprKind::Call(function, _), Type::Record(_)) = (&object.kind, &self.types[object.ty])
            && let info = self.functions.infos[function.index()].clone()
            && let Some(result) = &info.syntax.result
            && self.within(info.scope, |this| this.resolve_type(result).is_const)
        {
            object.ty = self.types.with_const(object.ty);
        }
        object
    }

    /// How well methods take an object, the least the best; `None` for one that does not.
    pub(super) fn fits_of_object(&mut self, decls: &[FunctionDecl<'u>], object: &Expr) -> Vec<Option<u8>> {
        let object = self.as_returned(object);
        let fit = |decl: &FunctionDecl<'u>| {
            let fit = self.fit_of_object(*decl, Some(&object), Care::Exact)?;
            Some(fit.binding.unwrap_or(0))
        };
        decls.iter().map(fit).collect()
    }

    /// How well the object of a method fits.
    pub(super) fn fit_of_object(&self, decl: FunctionDecl<'u>, object: Option<&Expr>, care: Care) -> Option<Fit> {
        let Some(record) = decl.record.filter(|_| care == Care::Exact) else {
            return Some(EXACT);
        };
        let name = self.records.decls[self.records.origins[record.index()].0].name;
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
        let is_const = self.types.is_const(ty);
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
        Some(Fit::reference(Rank::Exact, 0, adds_const + is_loose))
    }

    /// How well the left operand fits a method that overloads its operator, to be compared with how it fits as an argument.
    pub(super) fn fit_of_operand(&self, decl: FunctionDecl<'u>, object: &Expr) -> Fit {
        let steps = decl.record.and_then(|record| {
            let Type::Record(own) = self.types[object.ty] else { return None };
            self.steps_between(own, record)
        });
        let adds_const = u8::from(decl.syntax.is_const && !self.types.is_const(object.ty));
        let is_loose = decl.syntax.called_on == Some(Binding::Lvalue) && !self.is_lvalue(object);
        let binding = adds_const + if is_loose { LOOSE } else { 0 };
        match steps {
            None => Fit::reference(Rank::Exact, 0, binding),
            Some(steps) => Fit::reference(Rank::Conversion, 2 * steps, binding),
        }
    }

    /// Whether an expression denotes an object that stays.
    pub(super) fn is_lvalue(&self, value: &Expr) -> bool {
        self.is_object(value) && !self.types.is_given_up(value)
    }

    /// How well an argument fits a parameter.
    pub(super) fn fit_of_argument(&mut self, argument: &Expr, written: Written, care: Care) -> Option<Fit> {
        let (from, to) = (argument.ty, written.ty);
        let is_zero = self.is_null_constant(argument);
        if !written.is_reference || self.language == crate::source::Language::OpenCl {
            let from = match self.types[from] {
                Type::Array { of, .. } => self.types.pointer(of, None),
                _ => self.types.plain(from),
            };
            let fit = self.fit_of_types(from, to, is_zero);
            let promotes = from != to && self.operand_type(argument) == to;
            return fit.map(|fit| if promotes { Fit::value(Rank::Promotion, 0) } else { fit });
        }
        let (object, _) = self.types.referred(from);
        // Arguments in host code are looked at as values.
        let cares = care == Care::Exact && !self.in_host;
        let is_const = self.types.is_const(object);
        if self.types.is_alike(object, to) {
            let adds = self.added_const(object, to) + u8::from(written.is_const && !is_const);
            let is_lvalue = self.is_lvalue(argument);
            if !cares {
                return Some(EXACT);
            }
            let bound = |binding| Some(Fit::reference(Rank::Exact, 0, binding));
            return match written.binding {
                Some(Binding::Rvalue) if is_lvalue || is_const && !written.is_const => None,
                Some(Binding::Rvalue) => bound(adds),
                _ if is_lvalue && (written.is_const || !is_const) => bound(adds),
                _ if !is_lvalue && written.is_const => bound(LOOSE + adds),
                _ => None,
            };
        }
        let is_open = |this: &Self, ty| matches!(this.types[ty], Type::Unknown(_));
        let is_base = self.steps_to_base(self.types.plain(object), to).is_some();
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
        let Fit { rank, distance, .. } = self.fit_of_types(self.types.plain(object), to, is_zero)?;
        let is_value = !is_base || !self.is_lvalue(argument);
        let is_loose = cares && is_value && written.binding != Some(Binding::Rvalue);
        let more = u8::from(is_base && written.is_const && !is_const) + if is_loose { LOOSE } else { 0 };
        Some(Fit::reference(rank, distance, more))
    }

    /// Whether an argument is a null pointer constant: `0`, or `nullptr`, whose type is here that of pointers to nothing.
    pub(super) fn is_null_constant(&self, argument: &Expr) -> bool {
        match argument.kind {
            ExprKind::Int(0) => true,
            ExprKind::Null => {
                matches!(self.types[argument.ty], Type::Pointer { to, .. } if to == self.types.common.void)
                    || self.language == crate::source::Language::OpenCl
            }
            _ => false,
        }
    }

    /// How often a conversion of pointers adds `const` behind them.
    fn added_const(&self, from: TypeId, to: TypeId) -> u8 {
        let (mut from, mut to, mut added) = (self.types.plain(from), self.types.plain(to), 0);
        while let (Type::Pointer { to: a, .. }, Type::Pointer { to: b, .. }) = (&self.types[from], &self.types[to]) {
            added += u8::from(self.types.is_const(*a) != self.types.is_const(*b));
            (from, to) = (self.types.plain(*a), self.types.plain(*b));
        }
        added
    }

    fn fit_of_types(&mut self, from: TypeId, to: TypeId, is_zero: bool) -> Option<Fit> {
        let of = |rank| Some(Fit::value(rank, 0));
        if from == to {
            return Some(EXACT);
        }
        let is_c = self.language == crate::source::Language::OpenCl;
        match (self.types[from].clone(), self.types[to].clone()) {
            // To the type of the null pointer converts nothing else than that.
            (_, Type::Unknown(name)) if name == NULL_TYPE => is_zero.then_some(EXACT),
            (Type::Pointer { .. }, Type::Pointer { .. }) if is_zero => of(Rank::Conversion),
            (Type::Unknown(_), _) | (_, Type::Unknown(_)) => of(Rank::Conversion),
            (Type::Pointer { to: a, .. }, Type::Pointer { to: b, .. }) => {
                let loses_const =
                    !is_c && self.types.is_const(a) && !self.types.is_const(b) && !matches!(self.types[b], Type::Void);
                let adds = u8::from(self.types.is_const(b) && !self.types.is_const(a));
                if loses_const {
                    None
                } else if self.types.is_alike(a, b) {
                    Some(Fit::value(Rank::Exact, self.added_const(from, to)))
                } else if self.types.drops_noexcept(a, b) {
                    Some(Fit::value(Rank::Exact, 1))
                } else if b == self.types.common.void || is_c && a == self.types.common.void {
                    Some(Fit::value(Rank::Conversion, VOID))
                } else if let Some(steps) = self.steps_to_base(self.types.plain(a), self.types.plain(b)) {
                    Some(Fit::value(Rank::Conversion, 2 * steps + adds))
                } else {
                    // C lets any pointer pass with a warning; C++ does not.
                    is_c.then_some(Fit::value(Rank::UserDefined, 0))
                }
            }
            (Type::Pointer { .. }, Type::Bool) => Some(Fit::value(Rank::Conversion, u8::MAX)),
            (Type::Int { .. }, Type::Pointer { .. }) if is_zero => of(Rank::Conversion),
            (Type::Array { of: a, .. }, Type::Array { of: b, len: None }) if a == b => Some(EXACT),
            _ if self.types.is_arithmetic(from) && self.types.is_arithmetic(to) => self.fit_of_numbers(from, to),
            (_, Type::Vector { .. }) if self.types.is_arithmetic(from) && is_c => of(Rank::Conversion),
            (Type::Record(_), Type::Record(_)) if self.steps_to_base(from, to).is_some() => {
                Some(Fit::value(Rank::Conversion, 2 * self.steps_to_base(from, to).unwrap_or(0)))
            }
            // By a constructor of `dim3`, or its conversion to `uint3`.
            (_, Type::Vector { .. }) if self.types.is_dim3(to) && self.types.is_arithmetic(from) => {
                of(Rank::UserDefined)
            }
            (from_content, to_content)
                if from_content == to_content && (self.types.is_dim3(from) || self.types.is_dim3(to)) =>
            {
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
                converts.then_some(Fit::value(Rank::UserDefined, 0))
            }
            (Type::Record(_), _) if self.types.is_arithmetic(to) => of(Rank::UserDefined),
            _ => None,
        }
    }

    pub(super) fn fit_of_numbers(&self, from: TypeId, to: TypeId) -> Option<Fit> {
        // Nothing becomes an enumeration by itself, and a scoped one becomes nothing.
        let converts = self.types.behind_enumeration(from).is_none_or(|(_, converts)| converts);
        if self.types.behind_enumeration(to).is_some() || !converts {
            return None;
        }
        // An enumeration with a small type behind it promotes to that, or less closely to what that promotes to.
        if let Some((integer, _)) = self.types.behind_enumeration(from)
            && self.types.promoted(integer) != integer
            && (to == integer || to == self.types.promoted(integer))
        {
            return Some(Fit::value(Rank::Promotion, u8::from(to != integer)));
        }
        let promotes = self.types.promoted(from) == to
            || matches!((&self.types[from], &self.types[to]), (Type::Float { width: 32 }, Type::Float { width: 64 }));
        Some(Fit::value(if promotes { Rank::Promotion } else { Rank::Conversion }, 0))
    }

    /// How many steps lead from a class to one of its bases; `None` if it is none.
    fn steps_to_base(&self, from: TypeId, to: TypeId) -> Option<u8> {
        match (&self.types[from], &self.types[to]) {
            (Type::Record(from), Type::Record(to)) => self.steps_between(*from, *to),
            _ => None,
        }
    }

    fn steps_between(&self, from: RecordId, to: RecordId) -> Option<u8> {
        let mut reached = vec![(from, 0_u8)];
        let mut next = 0;
        while let Some(&(record, steps)) = reached.get(next) {
            next += 1;
            if record == to {
                return (steps > 0).then_some(steps);
            }
            if steps < 64 {
                reached.extend(self.records.bases[record.index()].iter().map(|(base, _)| (*base, steps + 1)));
            }
        }
        None
    }
}
