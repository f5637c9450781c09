//! Members: fields of records and lanes of vectors.

use super::context::{Resolver, expr};
use super::dependent::Bases;
use super::entities::Entity;
use super::program::{Expr, ExprKind, RecordId, Type};
use super::record_layout::PartKind;
use crate::builtins::Builtin;
use crate::builtins::structures::FRAGMENT;
use crate::source::{Language, Span};

impl Resolver<'_> {
    /// The object behind `->`.
    pub(super) fn arrow(&mut self, pointer: Expr) -> Expr {
        if let Type::Record(_) = self.types[pointer.ty]
            && let Some(result) = self.operator_call("operator->", vec![pointer.clone()], pointer.span)
        {
            let pointer = self.load(result);
            return self.deref(pointer);
        }
        let pointer = self.load(pointer);
        self.deref(pointer)
    }

    /// `object.name`
    pub(super) fn member(&mut self, object: Expr, name: &str, span: Span) -> Expr {
        match self.types[object.ty].clone() {
            Type::Record(record) => self.record_member(object, record, name, span),
            Type::Vector { of, lanes } => match lanes_of(self.language, name, lanes) {
                Some(chosen) => self.lanes(object, of, chosen, span),
                None => {
                    let ty = self.type_name(object.ty);
                    self.unsupported_with(span, format!("member `{name}` of {ty}"), vec![object])
                }
            },
            _ => {
                if let Some(member) = self.undeclared_member(&object, name, span) {
                    return member;
                }
                let ty = self.type_name(object.ty);
                self.unsupported_with(span, format!("member `{name}` of a value of type {ty}"), vec![object])
            }
        }
    }

    fn record_member(&mut self, object: Expr, record: RecordId, name: &str, span: Span) -> Expr {
        if let Some(index) = self.field_seen(record, name, Bases::All) {
            return self.field(object, record, index, span);
        }
        if name == "num_elements" && self.records[record].name.starts_with(FRAGMENT) {
            let reason = "how many elements of a matrix a thread holds, which the device decides".to_owned();
            let builtin = Builtin::Unmodelled { reason, touches_memory: false };
            return expr(ExprKind::Builtin(builtin, name.to_owned(), Vec::new()), self.types.common.int, span);
        }
        let scope = self.records.scopes[record.index()];
        let entity = self.lookup_in(scope, name).into_iter().next();
        let member = match entity {
            Some(Entity::Constant(value, ty)) => expr(ExprKind::Int(value), ty, span),
            Some(Entity::Global(index)) => match self.global(index) {
                Some(variable) => self.variable(variable, span),
                None => self.unsupported(span, format!("`{name}` depends on itself")),
            },
            _ => {
                let ty = self.type_name(object.ty);
                return self.unsupported_with(span, format!("member `{name}` of {ty}"), vec![object]);
            }
        };
        self.comma(object, member, span)
    }

    /// A field by index; one that is a reference stands for what it refers to.
    pub(super) fn field(&mut self, object: Expr, record: RecordId, index: usize, span: Span) -> Expr {
        let field = self.field_itself(object, record, index, span);
        if self.records.closures.get(&record).is_some_and(|references| references.contains(&index))
            || self.records.is_reference_member(record, index)
        {
            let pointer = self.load(field);
            return self.deref(pointer);
        }
        field
    }

    /// The position among the fields of a class of a field of one of its bases, or its own.
    pub(super) fn field_of_base(&self, own: RecordId, base: RecordId, field: usize) -> Option<usize> {
        if own == base {
            return Some(field);
        }
        self.parts(own).into_iter().find_map(|part| match part.kind {
            PartKind::Base(between) => Some(part.fields.start + self.field_of_base(between, base, field)?),
            _ => None,
        })
    }

    /// A field by index; one that is a reference is the pointer that it holds.
    pub(super) fn field_itself(&mut self, object: Expr, record: RecordId, index: usize, span: Span) -> Expr {
        let ty = self.records[record].fields[index].ty;
        let ty = if self.types.is_const(object.ty) { self.types.with_const(ty) } else { ty };
        // Whether such a field has a sign depends on which constants there are.
        if self.records[record].fields[index].bit_group_bytes.is_some() && self.types.behind_enumeration(ty).is_some() {
            return self.unsupported_with(span, "bit-field of an enumeration".to_owned(), vec![object]);
        }
        // A part of what is given up, or of a value, is given up ([expr.ref]).
        if self.types.is_given_up(&object) && !self.in_host && !self.records.is_reference_member(record, index) {
            let part = expr(ExprKind::Field(Box::new(object), index), ty, span);
            return self.given_up(part);
        }
        let ends = !self.is_object(&object);
        if !ends || self.in_host || !self.copies_by_code(ty) || self.records.is_reference_member(record, index) {
            return expr(ExprKind::Field(Box::new(object), index), ty, span);
        }
        let address = self.address_of_any(object);
        let object = self.deref(address);
        let part = expr(ExprKind::Field(Box::new(object), index), ty, span);
        self.given_up(part)
    }

    /// The address that a field holds which is declared as a reference.
    pub(super) fn bound_member(&mut self, object: Expr, pointer: super::program::TypeId, span: Span) -> Expr {
        let Type::Pointer { to, .. } = self.types[pointer] else { return object };
        if !self.is_object(&object)
            || !self.types.is_alike(object.ty, to) && !matches!(self.types[to], Type::Unknown(_))
        {
            return self.unsupported_with(span, "reference member that is bound to no object".to_owned(), vec![object]);
        }
        let address = self.address_of(object);
        self.convert(address, pointer)
    }

    /// Lanes of a vector; of one that has just been built, the parts themselves.
    fn lanes(&mut self, object: Expr, of: super::program::TypeId, chosen: Vec<u8>, span: Span) -> Expr {
        let ty = match chosen.as_slice() {
            [_] => of,
            _ => self.types.intern(Type::Vector { of, lanes: chosen.len() as u8 }),
        };
        if let (ExprKind::Construct(parts), [lane]) = (&object.kind, chosen.as_slice())
            && parts.iter().all(|part| matches!(part.kind, ExprKind::Geometry(_) | ExprKind::Int(_)))
            && let Some(part) = parts.get(usize::from(*lane))
        {
            return Expr { span, ..part.clone() };
        }
        expr(ExprKind::Lanes(Box::new(object), chosen), ty, span)
    }
}

/// The lanes that a member of a vector of so many lanes names.
fn lanes_of(language: Language, name: &str, lanes: u8) -> Option<Vec<u8>> {
    let in_range = |chosen: Vec<u8>| {
        (!chosen.is_empty() && chosen.len() <= 16 && chosen.iter().all(|&lane| lane < lanes)).then_some(chosen)
    };
    if language == Language::Cuda {
        let position = "xyzw".chars().position(|lane| name.len() == 1 && name.starts_with(lane))?;
        return in_range(vec![position as u8]);
    }
    // A vector of three lanes has halves as if it had four.
    let whole = if lanes == 3 { 4 } else { lanes };
    match name {
        "lo" => return in_range((0..whole / 2).collect()),
        "hi" => return in_range((whole / 2..lanes).collect()),
        "even" => return in_range((0..lanes).step_by(2).collect()),
        "odd" => return in_range((1..lanes).step_by(2).collect()),
        _ => {}
    }
    if let Some(digits) = name.strip_prefix(['s', 'S']) {
        return in_range(digits.chars().map(|digit| digit.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?);
    }
    let position = |letter: char| "xyzw".find(letter).or_else(|| "rgba".find(letter)).map(|at| at as u8);
    in_range(name.chars().map(position).collect::<Option<_>>()?)
}
