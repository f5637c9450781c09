//! All classes, structures and unions of a program, and what is known of them beside their fields.
//!
//! Deliberately absent: how they are made ([`super::records`]) and laid out ([`super::record_layout`]).

use super::entities::{FunctionDecl, RecordDecl, ScopeId, TemplateValue};
use super::program::{Record, RecordId, TypeId};
use super::record_layout::{Builder, PartKind, Shapes};
use crate::arena::Arena;
use crate::syntax::{self, Qualifier};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Index, IndexMut};

/// The fields of a closure that hold the address of what they stand for, by index.
pub(super) type References = FxHashSet<usize>;

/// Where a base lies in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BasePlace {
    /// That many bytes behind its start.
    At(u64),
    /// Not known, or there are several.
    Unknown,
}

/// All records of a program.
#[derive(Default)]
pub(super) struct Records<'u> {
    pub(super) all: Arena<Record>,
    /// Their scopes, by index.
    pub(super) scopes: Vec<ScopeId>,
    /// Their bases and where these lie, as far as that is known, by index.
    pub(super) bases: Vec<Vec<(RecordId, Option<u64>)>>,
    /// The bases that depend on parameters of a template, with the records that they are bases of.
    pub(super) dependent_bases: FxHashSet<(RecordId, RecordId)>,
    /// Those of which it is not known whether a specialisation is meant instead.
    pub(super) open: FxHashSet<RecordId>,
    /// The types that stand for these.
    pub(super) open_types: FxHashSet<TypeId>,
    /// What is known of them beside their fields.
    pub(super) shapes: Shapes<'u>,
    /// The definition that each was made from: a template's, or a specialisation's.
    pub(super) definitions: FxHashMap<RecordId, &'u syntax::Record>,
    /// The declaration and template arguments that each comes from, by index.
    pub(super) origins: Vec<(usize, Vec<TemplateValue>)>,
    /// What the unit declares: records and record templates.
    pub(super) decls: Vec<RecordDecl<'u>>,
    /// Those that lambdas have become.
    pub(super) closures: FxHashMap<RecordId, References>,
    /// The fields that are declared as references, by index: pointers, of which every use is a dereference.
    pub(super) references: FxHashMap<RecordId, Vec<usize>>,
}

impl Index<RecordId> for Records<'_> {
    type Output = Record;

    fn index(&self, record: RecordId) -> &Record {
        &self.all[record]
    }
}

impl IndexMut<RecordId> for Records<'_> {
    fn index_mut(&mut self, record: RecordId) -> &mut Record {
        &mut self.all[record]
    }
}

impl<'u> Records<'u> {
    /// All of them.
    pub(super) fn all(&self) -> &Arena<Record> {
        &self.all
    }

    /// All of them, for the program.
    pub(super) fn into_all(self) -> Arena<Record> {
        self.all
    }

    /// Where a base lies in a record; `None` if it is no base of it.
    pub(super) fn base_place(&self, record: RecordId, base: RecordId) -> Option<BasePlace> {
        if record == base {
            return Some(BasePlace::At(0));
        }
        let mut found = None;
        for &(direct, offset) in &self.bases[record.index()] {
            let Some(inner) = self.base_place(direct, base) else { continue };
            let place = match (offset, inner) {
                (Some(offset), BasePlace::At(inner)) => BasePlace::At(offset + inner),
                _ => BasePlace::Unknown,
            };
            found = Some(if found.is_none() { place } else { BasePlace::Unknown });
        }
        found
    }

    /// Whether a class has the constructors of a base, which are not followed.
    pub(super) fn inherits_constructors(&self, record: RecordId) -> bool {
        let members = self.definitions.get(&record).and_then(|definition| definition.members.as_deref());
        members.unwrap_or(&[]).iter().any(|item| match &item.kind {
            syntax::ItemKind::UsingName { path, .. } => match path.segments.as_slice() {
                [.., class, name] => class.name.text == name.name.text,
                _ => false,
            },
            _ => false,
        })
    }

    /// The base that a field of a record belongs to.
    pub(super) fn base_of_field(&self, record: RecordId, index: usize) -> Option<RecordId> {
        let parts = self.shapes.get(&record).map_or(&[][..], |shape| shape.parts.as_slice());
        parts.iter().find_map(|part| match part.kind {
            PartKind::Base(base) if part.fields.contains(&index) => Some(base),
            _ => None,
        })
    }

    pub(super) fn is_final_class(&self, record: RecordId) -> bool {
        self.definitions.get(&record).is_some_and(|definition| has_final(&definition.qualifiers))
    }

    /// Whether a method of a record is its constructor.
    pub(super) fn is_constructor(&self, syntax: &syntax::Function, record: RecordId) -> bool {
        let name = self.decls[self.origins[record.index()].0].name;
        syntax.result.is_none() && syntax.path.segments.last().is_some_and(|segment| segment.name.text == name)
    }

    pub(super) fn field_named(&self, record: RecordId, name: &str) -> Option<usize> {
        self[record].fields.iter().position(|field| field.name == name)
    }

    /// Whether a field is declared as a reference.
    pub(super) fn is_reference_member(&self, record: RecordId, index: usize) -> bool {
        self.references.get(&record).is_some_and(|references| references.contains(&index))
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

    /// Whether a record takes no room as a base.
    pub(super) fn is_empty_record(&self, record: RecordId) -> bool {
        let is_plain = self
            .shapes
            .get(&record)
            .is_some_and(|shape| shape.data_end == 0 && !shape.is_dynamic && !shape.has_virtual_base);
        is_plain && self[record].fields.is_empty() && self[record].bytes.is_some()
    }

    /// The empty classes at the start of a base, itself among them.
    pub(super) fn empties_of(&self, base: RecordId) -> Vec<RecordId> {
        let mut empties = self.shapes.get(&base).map(|shape| shape.empties.clone()).unwrap_or_default();
        if self.is_empty_record(base) {
            empties.push(base);
        }
        empties
    }

    /// A pointer to a table of virtual functions lies before all fields, unless the first base that has one lends its
    /// own; the other bases lie somewhere behind it.
    pub(super) fn settle_bases(&mut self, record: RecordId, builder: &Builder<'u>) {
        if !builder.is_dynamic && !builder.has_virtual_base {
            return;
        }
        let mut bases = std::mem::take(&mut self.bases[record.index()]);
        let lends = |base: RecordId| self.shapes.get(&base).is_some_and(|shape| shape.is_dynamic);
        let mut has_lender = false;
        for (base, offset) in &mut bases {
            let is_first_lender = lends(*base) && !has_lender && offset.is_some() && !builder.has_virtual_base;
            has_lender |= lends(*base);
            *offset = if is_first_lender || self.is_empty_record(*base) && offset.is_some() { Some(0) } else { None };
        }
        self.bases[record.index()] = bases;
    }
}

/// Whether nothing overrides a method, or is derived from a class, with these qualifiers.
pub(super) fn has_final(qualifiers: &[Qualifier]) -> bool {
    qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Final))
}
