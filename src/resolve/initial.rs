//! Initial values: conversions on initialisation, initialiser lists, constructors and vector literals.
//!
//! What a list leaves out is zero, but for the lanes of a `dim3`: its constructor makes them one, wherever it stands.

use super::classes::{Asked, MOST_MADE};
use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, RecordId, Type, TypeId};
use super::record_layout::{Part, PartKind};
use crate::source::{Language, Span};
use crate::syntax;

/// Elements beyond which a designator is not followed.
const LIST_LIMIT: usize = 1 << 16;

/// A value with its designator.
type Entry<'u> = (Option<&'u syntax::Designator>, &'u syntax::Expr);

/// The entries of a list that has not been used up yet.
struct Cursor<'u> {
    entries: Vec<Entry<'u>>,
    next: usize,
}

impl<'u> Resolver<'u> {
    /// The value of an initialiser, converted to a type.
    pub(super) fn initial(&mut self, value: &'u syntax::Expr, ty: TypeId) -> Expr {
        let ty = self.types.plain(ty);
        match &value.kind {
            syntax::ExprKind::InitList(entries) => {
                let entries = entries.iter().map(|(designator, value)| (designator.as_ref(), value)).collect();
                self.list(entries, ty, value.span)
            }
            _ => {
                let resolved = self.expr(value);
                self.implicit(resolved, ty, value.span)
            }
        }
    }

    /// An implicit conversion of an object or value to a value, which may call a constructor or drop a derived record's own
    /// fields.
    pub(super) fn implicit(&mut self, value: Expr, to: TypeId, span: Span) -> Expr {
        let to = self.types.plain(to);
        if let (ExprKind::String(_), Type::Array { .. }) = (&value.kind, &self.types[to]) {
            return Expr { ty: to, ..value };
        }
        let value = self.no_bit_field(value, span);
        if self.types.plain(value.ty) == to {
            return self.copy(value, span);
        }
        if let Type::Record(_) = self.types[to] {
            if !matches!(self.types[value.ty], Type::Unknown(_)) {
                return self.construct_record(to, vec![value], Asked::Nobody, span);
            }
            if self.copies_by_code(to) && !self.in_host {
                let reason = format!("{} from a value whose type is not known", self.type_name(to));
                return self.unsupported_with(span, reason, vec![value]);
            }
        }
        if let Type::Record(_) = self.types[value.ty]
            && let Some(converted) = self.conversion_call(&value, to, Asked::Nobody, span)
        {
            return converted;
        }
        let value = self.load(value);
        self.convert(value, to)
    }

    /// `T{a, b}` for a type.
    pub(super) fn braced(&mut self, values: &'u [syntax::Expr], ty: TypeId, span: Span) -> Expr {
        self.list(values.iter().map(|value| (None, value)).collect(), ty, span)
    }

    /// `{…}` for a type.
    fn list(&mut self, entries: Vec<Entry<'u>>, ty: TypeId, span: Span) -> Expr {
        let ty = self.types.plain(ty);
        match self.types[ty].clone() {
            Type::Record(_)
                if entries.iter().all(|(designator, _)| designator.is_none()) && self.has_constructor(ty) =>
            {
                if let (Type::Record(record), false) = (&self.types[ty], entries.is_empty())
                    && let record = *record
                    && self.takes_list(record)
                {
                    let name = self.type_name(ty);
                    return self.unsupported(span, format!("constructor of {name} that takes a list"));
                }
                let args = entries.iter().map(|(_, value)| self.expr(value)).collect();
                self.construct_record(ty, args, Asked::Written, span)
            }
            Type::Vector { of, lanes } if self.types.is_dim3(ty) => {
                let parts = entries.into_iter().map(|(_, value)| match value.kind {
                    syntax::ExprKind::InitList(_) => self.initial(value, of),
                    _ => self.expr(value),
                });
                let parts = parts.collect();
                self.construct_vector(ty, of, lanes, parts, span)
            }
            Type::Array { of, .. } if self.types.is_integral(of) && is_one_string(&entries) => {
                self.initial(entries[0].1, ty)
            }
            Type::Record(_) | Type::Array { .. } | Type::Vector { .. } => {
                if let ([(None, only)], Type::Record(_)) = (entries.as_slice(), &self.types[ty])
                    && !matches!(only.kind, syntax::ExprKind::InitList(_))
                {
                    // `{other}` copies a record of the same type.
                    let value = self.expr(only);
                    if self.types.plain(value.ty) == ty {
                        return self.copy(value, span);
                    }
                }
                if entries.is_empty() && self.constructs(ty) {
                    let value = self.value_initial(ty, span);
                    return self.destroyed(value, span);
                }
                if let Type::Record(record) = self.types[ty]
                    && !entries.is_empty()
                    && self.records.inherits_constructors(record)
                {
                    let name = self.type_name(ty);
                    return self.unsupported(span, format!("inherited constructor of {name}"));
                }
                let mut cursor = Cursor { entries, next: 0 };
                let result = self.aggregate(&mut cursor, ty, span);
                let is_read = !matches!(result.kind, ExprKind::Unsupported(_));
                if is_read && cursor.next < cursor.entries.len() {
                    return self.unsupported(span, "initialiser list that is too long");
                }
                self.destroyed(result, span)
            }
            _ => match entries.as_slice() {
                [] => self.zero(ty, span),
                [(None, value)] => self.initial(value, ty),
                _ => self.unsupported(span, "initialiser list for a scalar"),
            },
        }
    }

    /// An aggregate from the entries of a list, with braces left out inside as C allows.
    fn aggregate(&mut self, cursor: &mut Cursor<'u>, ty: TypeId, span: Span) -> Expr {
        let parts_types: PartTypes = match self.types[ty].clone() {
            Type::Array { of, len } => PartTypes::Same(of, len.map_or(usize::MAX, |len| len as usize)),
            Type::Vector { of, lanes } => PartTypes::Same(of, usize::from(lanes)),
            Type::Record(record) => {
                let made = &self.records[record];
                if made.bytes.is_none() {
                    return self.unsupported(span, format!("initialiser of {}, whose layout is not known", made.name));
                }
                let is_union = made.is_union;
                let binds = !self.in_host && self.records.references.contains_key(&record);
                if !is_union && (binds || !self.is_plain(record)) {
                    return self.made(ty, span, |this, object| this.fill_parts(cursor, record, object, span));
                }
                let made = &self.records[record];
                let count = if made.is_union { 1 } else { made.fields.len() };
                PartTypes::Each(made.fields.iter().take(count).map(|field| field.ty).collect())
            }
            _ => return self.unsupported(span, "initialiser list for a scalar"),
        };
        let mut parts: Vec<Expr> = Vec::new();
        let mut at = 0;
        while cursor.next < cursor.entries.len() {
            let (designator, value) = cursor.entries[cursor.next];
            if let Some(designator) = designator {
                match self.designated(designator, ty) {
                    Some(position) if position < LIST_LIMIT => at = position,
                    _ => return self.unsupported(span, "designator"),
                }
            }
            let Some(part) = parts_types.at(at) else { break };
            let made = self.part(cursor, value, part);
            while parts.len() < at {
                let Some(filler) = parts_types.at(parts.len()) else { break };
                let left_out = self.value_initial(filler, span);
                parts.push(left_out);
            }
            match parts.get_mut(at) {
                Some(known) => *known = made,
                None => parts.push(made),
            }
            at += 1;
        }
        if let PartTypes::Same(of, len) = parts_types
            && parts.len() < len
            && self.constructs(of)
        {
            if len as u64 > MOST_MADE {
                return self.unsupported(span, "initialiser list for very many objects");
            }
            while parts.len() < len {
                let left_out = self.value_initial(of, span);
                parts.push(left_out);
            }
        }
        if let (Type::Vector { of, lanes }, 1) = (self.types[ty].clone(), parts.len()) {
            // One part alone would be a splat.
            parts.extend((1..lanes).map(|_| self.zero(of, span)));
        }
        // What no part is given for is zero unless something else is said.
        if let PartTypes::Each(types) = &parts_types
            && types.iter().skip(parts.len()).any(|&ty| self.holds_dim3(ty, 0))
        {
            for &ty in types.iter().skip(parts.len()) {
                let zero = self.zero(ty, span);
                parts.push(zero);
            }
        }
        expr(ExprKind::Construct(parts), ty, span)
    }

    /// What gives the parts of an object their values, one after the other: the entries of a list, and where these end what the
    /// members' declarations say.
    fn fill_parts(&mut self, cursor: &mut Cursor<'u>, record: RecordId, object: Expr, span: Span) -> Option<Expr> {
        let mut effects = Vec::new();
        for part in self.parts(record) {
            let entry = cursor.entries.get(cursor.next).copied();
            let is_meant = match entry {
                Some((Some(syntax::Designator::Field(name)), _)) => {
                    self.records[record].fields[part.fields.clone()].iter().any(|field| field.name == name.text)
                }
                Some((Some(syntax::Designator::Index(_)), _)) | None => false,
                Some((None, _)) => true,
            };
            let effect = match entry {
                Some((_, value)) if is_meant => self.given_part(cursor, value, record, &object, &part, span),
                _ => Some(self.left_out_part(record, &object, &part, span)),
            };
            effects.extend(effect);
        }
        effects.into_iter().reduce(|first, second| {
            let ty = second.ty;
            expr(ExprKind::Comma(Box::new(first), Box::new(second)), ty, span)
        })
    }

    /// A part of an object gets what stands in the list.
    fn given_part(
        &mut self,
        cursor: &mut Cursor<'u>,
        value: &'u syntax::Expr,
        record: RecordId,
        object: &Expr,
        part: &Part<'u>,
        span: Span,
    ) -> Option<Expr> {
        match &part.kind {
            PartKind::Member(_) if self.records.is_reference_member(record, part.fields.start) => {
                cursor.next += 1;
                let target = self.field_itself(object.clone(), record, part.fields.start, span);
                let bound = self.object(value);
                let bound = self.bound_member(bound, target.ty, span);
                Some(self.store(target, bound, span))
            }
            PartKind::Member(_) => {
                let target = self.field_itself(object.clone(), record, part.fields.start, span);
                let value = self.part(cursor, value, target.ty);
                Some(self.store(target, value, span))
            }
            PartKind::Base(_) => {
                let target = self.base_part(object.clone(), part.ty)?;
                let value = self.part(cursor, value, part.ty);
                Some(self.store(target, value, span))
            }
            PartKind::Anonymous { .. } => {
                cursor.next = cursor.entries.len();
                Some(self.unsupported(span, "initial value of an anonymous member"))
            }
        }
    }

    /// A part of an object that the list leaves out.
    fn left_out_part(&mut self, record: RecordId, object: &Expr, part: &Part<'u>, span: Span) -> Expr {
        if let (PartKind::Member(Some(_)), Some(_)) = (&part.kind, part.default()) {
            return self.default_member(object.clone(), part.fields.start, span);
        }
        match &part.kind {
            PartKind::Member(_) => {
                let target = self.field_itself(object.clone(), record, part.fields.start, span);
                let value = self.value_initial(target.ty, span);
                self.store(target, value, span)
            }
            PartKind::Base(_) => match self.base_part(object.clone(), part.ty) {
                Some(target) => {
                    let value = self.value_initial(part.ty, span);
                    self.store(target, value, span)
                }
                None => self.unsupported(span, "initial value of a base"),
            },
            PartKind::Anonymous { .. } => self.unsupported(span, "initial value of an anonymous member"),
        }
    }

    /// Whether an object of the type is or holds a `dim3`, which no list of nothing makes zero.
    fn holds_dim3(&self, ty: TypeId, depth: usize) -> bool {
        match &self.types[ty] {
            Type::Array { of, .. } => self.holds_dim3(*of, depth),
            Type::Record(record) if depth < 8 => {
                self.records[*record].fields.iter().any(|field| self.holds_dim3(field.ty, depth + 1))
            }
            _ => self.types.is_dim3(ty),
        }
    }

    /// One part of an aggregate: a braced list, a value, or as many values as an inner aggregate takes.
    fn part(&mut self, cursor: &mut Cursor<'u>, value: &'u syntax::Expr, ty: TypeId) -> Expr {
        let ty = self.types.plain(ty);
        let is_list = matches!(value.kind, syntax::ExprKind::InitList(_) | syntax::ExprKind::String(_));
        if is_list || !matches!(self.types[ty], Type::Array { .. } | Type::Record(_) | Type::Vector { .. }) {
            cursor.next += 1;
            return self.initial(value, ty);
        }
        let temporaries = self.frame.temporaries.len();
        let whole = self.expr(value);
        let is_whole = self.types.plain(whole.ty) == ty || self.is_derived(whole.ty, ty);
        if is_whole || matches!(self.types[ty], Type::Record(_)) && self.has_constructor(ty) {
            cursor.next += 1;
            return self.implicit(whole, ty, value.span);
        }
        self.frame.temporaries.truncate(temporaries);
        self.aggregate(cursor, ty, value.span)
    }

    /// The position that a designator names.
    fn designated(&mut self, designator: &'u syntax::Designator, ty: TypeId) -> Option<usize> {
        match designator {
            syntax::Designator::Field(name) => match self.types[ty] {
                Type::Record(record) if !self.records[record].is_union => {
                    self.records[record].fields.iter().rposition(|field| field.name == name.text)
                }
                Type::Record(record) if self.records[record].fields.first()?.name == name.text => Some(0),
                _ => None,
            },
            syntax::Designator::Index(index) => usize::try_from(self.constant_of(index)?).ok(),
        }
    }

    /// The zero of a type; of `dim3`, what it holds where nothing is said.
    pub(super) fn zero(&mut self, ty: TypeId, span: Span) -> Expr {
        let ty = self.types.plain(ty);
        if self.holds_dim3(ty, 0) {
            return self.zero_around_dim3(ty, span);
        }
        let kind = match self.types[ty] {
            Type::Int { .. } | Type::Bool => ExprKind::Int(0),
            Type::Float { .. } => ExprKind::Float("0".to_owned()),
            Type::Pointer { .. } => ExprKind::Null,
            Type::Array { .. } | Type::Vector { .. } | Type::Record(_) => ExprKind::Construct(Vec::new()),
            Type::Void | Type::Unknown(_) => {
                let zero = expr(ExprKind::Int(0), self.types.common.int, span);
                return expr(ExprKind::Convert(Box::new(zero)), ty, span);
            }
        };
        expr(kind, ty, span)
    }

    /// The zero of a type in which each `dim3` is one along all axes.
    fn zero_around_dim3(&mut self, ty: TypeId, span: Span) -> Expr {
        let parts: Vec<TypeId> = match &self.types[ty] {
            Type::Array { of, len: Some(len) } if (*len as usize) < LIST_LIMIT => vec![*of; *len as usize],
            Type::Record(record) if !self.records[*record].is_union => {
                self.records[*record].fields.iter().map(|field| field.ty).collect()
            }
            &Type::Vector { of, .. } => {
                let ones = (0..3).map(|_| expr(ExprKind::Int(1), of, span)).collect();
                return expr(ExprKind::Construct(ones), ty, span);
            }
            _ => {
                let name = self.type_name(ty);
                return self.unsupported(span, format!("initial value of {name}"));
            }
        };
        let parts = parts.into_iter().map(|part| self.zero(part, span)).collect();
        expr(ExprKind::Construct(parts), ty, span)
    }

    /// `(T)(a, …)`, `T{a, …}`
    pub(super) fn construct(&mut self, ty: &'u syntax::Type, parts: &'u [syntax::Expr], span: Span) -> Expr {
        let written = ty;
        let ty = self.resolve_type(ty).ty;
        if let Some(object) = self.undeclared_object(written, ty, parts, span) {
            return object;
        }
        if let Type::Record(record) = self.types[ty]
            && !self.in_host
            && self.collective_of(ty).is_none()
            && !self.is_atomic_reference(ty)
            && (!self.has_constructor(ty) || !parts.is_empty() && self.takes_list(record))
        {
            return self.braced(parts, ty, span);
        }
        let parts = parts.iter().map(|part| self.expr(part)).collect();
        self.construct_from(ty, parts, span)
    }

    /// A value of a type from parts: a vector, a record, or one scalar.
    pub(super) fn construct_from(&mut self, ty: TypeId, parts: Vec<Expr>, span: Span) -> Expr {
        let ty = self.types.plain(ty);
        if self.collective_of(ty).is_some() {
            return self.collective_object(ty, parts, span);
        }
        match self.types[ty].clone() {
            Type::Vector { of, lanes } => self.construct_vector(ty, of, lanes, parts, span),
            Type::Record(_) => self.construct_record(ty, parts, Asked::Written, span),
            _ if parts.is_empty() => self.zero(ty, span),
            _ if parts.len() == 1 => {
                let mut parts = parts;
                let only = parts.swap_remove(0);
                let only = self.load(only);
                self.functional_cast(only, ty, span)
            }
            Type::Array { of, .. } => {
                let parts = parts.into_iter().map(|part| self.implicit(part, of, span)).collect();
                expr(ExprKind::Construct(parts), ty, span)
            }
            _ => {
                let name = self.type_name(ty);
                self.unsupported_with(span, format!("{name} from several values"), parts)
            }
        }
    }

    /// A vector from scalars and, in OpenCL, shorter vectors; from one scalar it is a splat.
    pub(super) fn construct_vector(&mut self, ty: TypeId, of: TypeId, lanes: u8, parts: Vec<Expr>, span: Span) -> Expr {
        let mut built = Vec::new();
        let mut count = 0_u32;
        let only = parts.len() == 1;
        for part in parts {
            let part = self.load(part);
            match self.types[part.ty] {
                Type::Vector { .. } if only && part.ty == ty => return part,
                // `dim3(threadIdx)`
                Type::Vector { lanes: inner, .. } if only && inner == lanes && self.language == Language::Cuda => {
                    return self.convert(part, ty);
                }
                Type::Vector { lanes: inner, .. } => {
                    count += u32::from(inner);
                    let to = self.types.intern(Type::Vector { of, lanes: inner });
                    built.push(self.convert(part, to));
                }
                _ => {
                    count += 1;
                    built.push(self.implicit(part, of, span));
                }
            }
        }
        // `dim3(n)` has ones where a vector's missing lanes would be zero or copies.
        if self.types.is_dim3(ty) && count < 3 {
            while built.len() < 3 {
                built.push(expr(ExprKind::Int(1), of, span));
            }
        } else if count > u32::from(lanes) {
            return self.unsupported_with(span, "vector of too many parts".to_owned(), built);
        }
        expr(ExprKind::Construct(built), ty, span)
    }
}

/// Whether a list is a string in braces.
fn is_one_string(entries: &[Entry<'_>]) -> bool {
    matches!(entries, [(None, only)] if matches!(only.kind, syntax::ExprKind::String(_)))
}

/// The types of an aggregate's parts.
enum PartTypes {
    Same(TypeId, usize),
    Each(Vec<TypeId>),
}

impl PartTypes {
    fn at(&self, index: usize) -> Option<TypeId> {
        match self {
            PartTypes::Same(ty, len) => (index < *len).then_some(*ty),
            PartTypes::Each(types) => types.get(index).copied(),
        }
    }
}
