//! How the parts of a record lie: offsets, padding and sizes of the Itanium C++ ABI, which nvcc follows on Linux, and the parts
//! themselves, in the order in which they are constructed.
//!
//! Where compilers differ, or the source as it is read leaves open what they do, the size is not known: tables of virtual
//! functions, virtual bases, tail padding of a base that something else fits into, two empty parts of one class in one place,
//! unnamed bit-fields, which align a record on Arm and do not on x86-64.

use super::program::{Field, RecordId, TypeId};
use crate::syntax::{self, Qualifier};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A base, a member, or the members of an anonymous structure, which count as one.
#[derive(Clone, Debug)]
pub(super) struct Part<'u> {
    pub(super) kind: PartKind<'u>,
    pub(super) ty: TypeId,
    /// Its fields among those of the record.
    pub(super) fields: Range<usize>,
}

/// The kinds of [`Part`].
#[derive(Clone, Debug)]
pub(super) enum PartKind<'u> {
    Base(RecordId),
    /// A member, with its declaration unless it was made without one.
    Member(Option<&'u syntax::Variable>),
    /// The parts of an anonymous structure or union.
    Anonymous {
        is_union: bool,
        parts: Vec<Part<'u>>,
    },
}

impl<'u> Part<'u> {
    /// A member that was made without a declaration.
    pub(super) fn member(field: usize, ty: TypeId) -> Part<'u> {
        Part { kind: PartKind::Member(None), ty, fields: field..field + 1 }
    }

    /// The initialiser that its declaration gives it.
    pub(super) fn default(&self) -> Option<&'u syntax::Init> {
        match self.kind {
            PartKind::Member(Some(declared)) => declared.init.as_ref(),
            _ => None,
        }
    }

    /// The same part of a record in which its own record lies, with its first field at `first`.
    fn shifted(&self, first: usize) -> Part<'u> {
        let kind = match &self.kind {
            PartKind::Anonymous { is_union, parts } => {
                let parts = parts.iter().map(|part| part.shifted(first)).collect();
                PartKind::Anonymous { is_union: *is_union, parts }
            }
            kind => kind.clone(),
        };
        Part { kind, ty: self.ty, fields: self.fields.start + first..self.fields.end + first }
    }
}

/// What is known of a record beside its fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape<'u> {
    /// Its parts, in the order of their construction.
    pub(super) parts: Vec<Part<'u>>,
    /// Where its data end: a record that is derived from it may use the padding behind them.
    pub(super) data_end: u64,
    /// The empty classes that lie at its start.
    pub(super) empties: Vec<RecordId>,
    /// Whether objects have a pointer to a table of virtual functions.
    pub(super) is_dynamic: bool,
    /// Whether it has a virtual base, or a base that has one.
    pub(super) has_virtual_base: bool,
}

/// The shapes of the records that have been laid out.
pub(super) type Shapes<'u> = FxHashMap<RecordId, Shape<'u>>;

/// Whether an attribute packs what it belongs to.
fn packs(qualifier: &Qualifier) -> bool {
    matches!(qualifier, Qualifier::Attribute(name, _) | Qualifier::Other(name) if name.trim_matches('_') == "packed")
}

/// Whether attributes leave it to the compiler to put other things into a member's padding.
fn shares_its_address(qualifiers: &[Qualifier]) -> bool {
    qualifiers.iter().any(|qualifier| {
        matches!(qualifier, Qualifier::Attribute(name, _) | Qualifier::Other(name) if name == "no_unique_address")
    })
}

/// Whether declarations say that something is packed.
pub(super) fn is_packed(qualifiers: &[Qualifier]) -> bool {
    qualifiers.iter().any(packs)
}

/// A record in the course of being laid out.
pub(super) struct Builder<'u> {
    is_union: bool,
    pub(super) is_packed: bool,
    /// Whether sizes are known so far.
    pub(super) is_known: bool,
    pub(super) fields: Vec<Field>,
    /// The fields that are declared as references.
    pub(super) references: Vec<usize>,
    pub(super) parts: Vec<Part<'u>>,
    /// Where the next part starts if nothing lies in the padding of a base.
    end: u64,
    /// Where it starts if that padding is used.
    reused_end: u64,
    pub(super) align: u64,
    /// The bit-fields in a row: the first field's index, the byte that the row starts at, and the next free bit.
    bits: Option<(usize, u64, u64)>,
    /// What unnamed bit-fields align the record to, where a platform's rules say that they do.
    align_of_unnamed: u64,
    empties: Vec<RecordId>,
    pub(super) is_dynamic: bool,
    pub(super) has_virtual_base: bool,
}

impl<'u> Builder<'u> {
    pub(super) fn new(definition: &syntax::Record) -> Self {
        Builder {
            is_union: definition.is_union,
            is_packed: is_packed(&definition.qualifiers),
            is_known: true,
            fields: Vec::new(),
            references: Vec::new(),
            parts: Vec::new(),
            end: 0,
            reused_end: 0,
            align: 1,
            bits: None,
            align_of_unnamed: 1,
            empties: Vec::new(),
            is_dynamic: false,
            has_virtual_base: false,
        }
    }

    /// Whether nothing has been placed yet.
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0 && self.bits.is_none()
    }

    /// Adds the fields of a part of the record, which starts at that offset, and returns their positions.
    pub(super) fn add_fields(
        &mut self,
        fields: Vec<Field>,
        offset: u64,
        references: Option<&Vec<usize>>,
    ) -> Range<usize> {
        let first = self.fields.len();
        self.references.extend(references.into_iter().flatten().map(|index| first + index));
        self.fields.extend(fields.into_iter().map(|field| Field { offset: field.offset + offset, ..field }));
        first..self.fields.len()
    }

    /// Adds an anonymous structure or union, of which the fields have been added.
    pub(super) fn add_anonymous(&mut self, ty: TypeId, is_union: bool, fields: Range<usize>, parts: &[Part<'u>]) {
        let parts = parts.iter().map(|part| part.shifted(fields.start)).collect();
        self.parts.push(Part { kind: PartKind::Anonymous { is_union, parts }, ty, fields });
    }

    /// Room for a member; `None` if its place is not known.
    pub(super) fn place(&mut self, size: Option<u64>, align: Option<u64>) -> Option<u64> {
        self.end_bits();
        let (Some(size), Some(align)) = (size, align) else {
            self.is_known = false;
            return None;
        };
        self.align = self.align.max(align);
        let offset = if self.is_union { 0 } else { self.end.checked_next_multiple_of(align)? };
        if !self.is_union && self.reused_end.next_multiple_of(align) != offset {
            self.is_known = false;
        }
        match offset.checked_add(size) {
            Some(end) if end < 1 << 60 => self.advance(end),
            _ => self.is_known = false,
        }
        Some(offset)
    }

    fn advance(&mut self, end: u64) {
        self.end = self.end.max(end);
        self.reused_end = self.end;
    }

    /// Room for a base whose data end before its size does.
    pub(super) fn place_base(&mut self, size: Option<u64>, align: Option<u64>, data_end: u64) -> Option<u64> {
        let is_first = self.is_empty() && self.is_known;
        let Some(offset) = self.place(size, align) else { return is_first.then_some(0) };
        self.reused_end = offset + data_end.min(size.unwrap_or(0));
        // A packed record's bases lie differently from compiler to compiler.
        self.is_known &= !self.is_packed || self.align == 1;
        Some(offset)
    }

    /// Empty classes at the start of the record; no two of one class lie in one place.
    pub(super) fn add_empties(&mut self, empties: &[RecordId]) {
        for empty in empties {
            if self.empties.contains(empty) {
                self.is_known = false;
            } else {
                self.empties.push(*empty);
            }
        }
    }

    /// Notes which empty classes a member at that offset has at its start.
    pub(super) fn meet_empties(&mut self, offset: u64, empties: &[RecordId]) {
        self.is_known &= offset > 0 || !empties.iter().any(|empty| self.empties.contains(empty));
    }

    /// Adds a bit-field after the last one, in a new unit of its type where it would cross one. All fields of a
    /// run share the bytes of the whole run, which are one memory location.
    pub(super) fn add_bits(
        &mut self,
        declared: &'u syntax::Variable,
        ty: TypeId,
        bits: Option<u64>,
        size: Option<u64>,
    ) {
        let (Some(bits), Some(size)) = (bits, size) else {
            self.is_known = false;
            return;
        };
        self.is_known &= self.end == self.reused_end && !is_packed(&declared.qualifiers);
        if bits == 0 {
            self.align_of_unnamed = self.align_of_unnamed.max(if self.is_packed { 1 } else { size });
            self.end_bits();
            self.advance(if self.is_union { self.end } else { self.end.next_multiple_of(size) });
            return;
        }
        if self.is_union {
            self.end_bits();
        }
        let unit = size * 8;
        let mut next = self.bits.map_or(if self.is_union { 0 } else { self.end * 8 }, |(_, _, next)| next);
        if !self.is_packed && next / unit != (next + bits - 1) / unit {
            next = next.next_multiple_of(unit);
        }
        let (first, start, _) = self.bits.unwrap_or((self.fields.len(), next / 8, next));
        if !self.is_packed && declared.name.text.is_empty() {
            self.align_of_unnamed = self.align_of_unnamed.max(size);
        } else if !self.is_packed {
            self.align = self.align.max(size);
        }
        next += bits;
        self.bits = Some((first, start, next));
        let name = declared.name.text.clone();
        if !name.is_empty() {
            let field = Field { name, ty, offset: start, bit_group_bytes: Some(0), bits: u32::try_from(bits).ok() };
            self.add_member(declared, field);
        }
    }

    /// Adds a member that has been placed.
    pub(super) fn add_member(&mut self, declared: &'u syntax::Variable, field: Field) {
        let at = self.fields.len();
        self.is_known &= !shares_its_address(&declared.qualifiers);
        self.parts.push(Part { kind: PartKind::Member(Some(declared)), ..Part::member(at, field.ty) });
        self.fields.push(field);
    }

    /// Ends a run of bit-fields.
    pub(super) fn end_bits(&mut self) {
        if let Some((first, start, next)) = self.bits.take() {
            let end = next.div_ceil(8);
            for field in &mut self.fields[first..] {
                field.bit_group_bytes = Some((end - start) as u32);
            }
            self.advance(end);
        }
    }

    /// The size, if it is known.
    pub(super) fn bytes(&self) -> Option<u64> {
        let whole = |end: u64| end.max(1).next_multiple_of(self.align);
        let is_certain =
            self.is_known && !self.is_dynamic && !self.has_virtual_base && self.align_of_unnamed <= self.align;
        (is_certain && whole(self.end) == whole(self.reused_end)).then(|| whole(self.end))
    }

    /// What there is to know beside fields and size.
    pub(super) fn shape(self) -> Shape<'u> {
        let Builder { parts, reused_end: data_end, empties, is_dynamic, has_virtual_base, .. } = self;
        Shape { parts, data_end, empties, is_dynamic, has_virtual_base }
    }
}
