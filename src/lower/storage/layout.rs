//! Sizes and leaves of types.
//!
//! A type whose size is not known (`T` of a template that nothing instantiates) counts as one *symbolic*
//! unit: offsets into an array of such elements count elements. That is sound as long as all accesses to
//! the array use the same unit, which [`super::access`] checks.

use crate::calculus::ScalarType;
use crate::resolve::program::{Program, Type, TypeId};
use crate::source::Language;

/// Leaves beyond which a local is kept in memory instead of being split.
const MAX_LEAVES: usize = 64;
/// Nesting of types beyond which nothing is known.
const MAX_DEPTH: usize = 32;

/// A scalar or pointer inside a larger type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Leaf {
    pub(in crate::lower) offset: u64,
    pub(in crate::lower) ty: TypeId,
}

/// Answers about the types of one program.
#[derive(Clone, Copy)]
pub(in crate::lower) struct Layout<'p> {
    pub(in crate::lower) program: &'p Program,
}

impl<'p> Layout<'p> {
    fn kind(self, ty: TypeId) -> &'p Type {
        &self.program.types[ty]
    }

    /// Size in bytes, or in symbolic units if [`Self::symbolic`] says so.
    pub(in crate::lower) fn size(self, ty: TypeId) -> u64 {
        match self.kind(ty) {
            Type::Void | Type::Bool | Type::Unknown(_) => 1,
            Type::Int { width, .. } | Type::Float { width } => u64::from(*width) / 8,
            Type::Pointer { .. } => 8,
            Type::Array { len: None, .. } => 1,
            Type::Array { of, len: Some(len) } => self.size(*of).saturating_mul(*len),
            Type::Vector { of, lanes } => self.size(*of) * u64::from(self.vector_room(*lanes)),
            Type::Record(record) => self.program.records[*record].bytes.unwrap_or(1),
        }
    }

    /// Alignment in bytes, if it is known and larger than a byte.
    pub(in crate::lower) fn alignment(self, ty: TypeId) -> Option<u32> {
        if self.symbolic(ty).is_some() {
            return None;
        }
        // `vload4` and `vstore4` ask for the alignment of a lane.
        let ty = match self.kind(ty) {
            Type::Vector { of, .. } if self.program.language == Language::OpenCl => *of,
            _ => ty,
        };
        self.program.align_of(ty).and_then(|align| u32::try_from(align).ok()).filter(|&align| align > 1)
    }

    /// Whether members of some record lie closer together than their types ask for: nobody knows which pointers lead
    /// to such members.
    pub(in crate::lower) fn has_packed_records(self) -> bool {
        self.program.records.iter().any(|(_, record)| {
            let needed = record.fields.iter().filter_map(|field| self.program.align_of(field.ty)).max();
            needed.is_some_and(|needed| needed > record.align)
        })
    }

    fn vector_room(self, lanes: u8) -> u8 {
        if lanes == 3 && self.program.language == Language::OpenCl { 4 } else { lanes }
    }

    /// The type whose unknown size is the unit of `ty`'s size, if there is one.
    pub(in crate::lower) fn symbolic(self, ty: TypeId) -> Option<TypeId> {
        match self.kind(ty) {
            Type::Unknown(_) => Some(ty),
            // Rows whose length is not known lie one unit apart, whatever a unit is.
            Type::Array { len: None, .. } => Some(ty),
            Type::Array { of, .. } | Type::Vector { of, .. } => self.symbolic(*of),
            Type::Record(record) if self.program.records[*record].bytes.is_none() => Some(ty),
            _ => None,
        }
    }

    /// Size in bytes, if it is known (an array of unknown extent has none).
    pub(in crate::lower) fn known_size(self, ty: TypeId) -> Option<u64> {
        if self.symbolic(ty).is_some() {
            return None;
        }
        match self.kind(ty) {
            Type::Array { of, len } => self.known_size(*of)?.checked_mul((*len)?),
            _ => Some(self.size(ty)),
        }
    }

    /// The scalar type that represents `ty`; `None` for pointers, aggregates and `void`.
    pub(in crate::lower) fn scalar(self, ty: TypeId) -> Option<ScalarType> {
        Some(match self.kind(ty) {
            Type::Bool => ScalarType::Bool,
            Type::Int { width, signed } => ScalarType::Int { width: *width, signed: *signed },
            Type::Float { width } => ScalarType::Opaque { bytes: u16::from(*width) / 8 },
            Type::Unknown(_) => ScalarType::Opaque { bytes: 1 },
            _ => return None,
        })
    }

    /// The opaque carrier for a whole value of type `ty`.
    pub(in crate::lower) fn carrier(self, ty: TypeId) -> ScalarType {
        ScalarType::Opaque { bytes: u16::try_from(self.size(ty).max(1)).unwrap_or(u16::MAX) }
    }

    /// Whether `ty` is a pointer.
    pub(in crate::lower) fn is_pointer(self, ty: TypeId) -> bool {
        matches!(self.kind(ty), Type::Pointer { .. })
    }

    /// What a pointer type points to.
    pub(in crate::lower) fn pointee(self, ty: TypeId) -> Option<TypeId> {
        match self.kind(ty) {
            Type::Pointer { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// The element type of an array or vector.
    pub(in crate::lower) fn element(self, ty: TypeId) -> Option<TypeId> {
        match self.kind(ty) {
            Type::Array { of, .. } | Type::Vector { of, .. } => Some(*of),
            _ => None,
        }
    }

    /// What stands behind a variable's name for its part at `offset`: `.rows[2]`.
    pub(in crate::lower) fn part_name(self, ty: TypeId, offset: u64) -> String {
        let (mut name, mut ty, mut offset) = (String::new(), ty, offset);
        for _ in 0..MAX_DEPTH {
            match self.kind(ty) {
                Type::Record(record) => {
                    let fields = &self.program.records[*record].fields;
                    let covers = |field: &&crate::resolve::program::Field| {
                        field.offset <= offset && offset - field.offset < self.size(field.ty).max(1)
                    };
                    let Some(field) = fields.iter().find(covers) else { break };
                    name = format!("{name}.{}", field.name);
                    (ty, offset) = (field.ty, offset - field.offset);
                }
                Type::Array { of, .. } => {
                    let size = self.size(*of).max(1);
                    name = format!("{name}[{}]", offset / size);
                    (ty, offset) = (*of, offset % size);
                }
                _ => break,
            }
        }
        name
    }

    /// Whether a value of that type, or what is behind it where it is a pointer, may hold pointers.
    pub(in crate::lower) fn leads_to_pointers(self, ty: TypeId) -> bool {
        self.may_hold_pointers(self.pointee(ty).unwrap_or(ty))
    }

    /// Whether objects of that type are of another one, or have parts of it.
    pub(in crate::lower) fn is_made_of(self, ty: TypeId, part: TypeId) -> bool {
        self.is_made_of_within(ty, part, MAX_DEPTH)
    }

    fn is_made_of_within(self, ty: TypeId, part: TypeId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        match self.kind(ty) {
            _ if ty == part => true,
            Type::Array { of, .. } | Type::Vector { of, .. } => self.is_made_of_within(*of, part, depth),
            Type::Record(record) => {
                let fields = &self.program.records[*record].fields;
                fields.iter().any(|field| self.is_made_of_within(field.ty, part, depth))
            }
            _ => false,
        }
    }

    /// Whether a value of that type may hold pointers.
    pub(in crate::lower) fn may_hold_pointers(self, ty: TypeId) -> bool {
        self.may_hold_pointers_within(ty, MAX_DEPTH)
    }

    fn may_hold_pointers_within(self, ty: TypeId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        match self.kind(ty) {
            Type::Pointer { .. } | Type::Unknown(_) => true,
            Type::Array { of, .. } | Type::Vector { of, .. } => self.may_hold_pointers_within(*of, depth),
            Type::Record(record) => {
                let record = &self.program.records[*record];
                record.bytes.is_none()
                    || record.fields.iter().any(|field| self.may_hold_pointers_within(field.ty, depth))
            }
            Type::Void | Type::Bool | Type::Int { .. } | Type::Float { .. } => false,
        }
    }

    /// The innermost element type of an array, and its inner dimensions.
    pub(in crate::lower) fn innermost(self, ty: TypeId) -> (TypeId, Vec<u64>) {
        let mut current = ty;
        let mut dims = Vec::new();
        while let Type::Array { of, len } = self.kind(current) {
            dims.push(len.unwrap_or(0));
            current = *of;
        }
        if !dims.is_empty() {
            dims.remove(0);
        }
        (current, dims)
    }

    /// The scalars and pointers that `ty` consists of, in order; `None` if it cannot be split (unions,
    /// bit-fields, unknown sizes, large arrays).
    pub(in crate::lower) fn leaves(self, ty: TypeId) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.collect(ty, 0, MAX_DEPTH, &mut leaves)?;
        Some(leaves)
    }

    fn collect(self, ty: TypeId, offset: u64, depth: usize, leaves: &mut Vec<Leaf>) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match self.kind(ty) {
            Type::Void => return None,
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::Pointer { .. } | Type::Unknown(_) => {
                leaves.push(Leaf { offset, ty });
            }
            Type::Array { of, len } => {
                let len = (*len)?;
                if len > MAX_LEAVES as u64 || self.symbolic(*of).is_some() {
                    return None;
                }
                for index in 0..len {
                    self.collect(*of, offset + index * self.size(*of), depth, leaves)?;
                }
            }
            Type::Vector { of, lanes } => {
                for lane in 0..*lanes {
                    self.collect(*of, offset + u64::from(lane) * self.size(*of), depth, leaves)?;
                }
            }
            Type::Record(record) => {
                let record = &self.program.records[*record];
                record.bytes?;
                if record.is_union || record.fields.iter().any(|field| field.bit_group_bytes.is_some()) {
                    return None;
                }
                for field in &record.fields {
                    self.collect(field.ty, offset + field.offset, depth, leaves)?;
                }
            }
        }
        (leaves.len() <= MAX_LEAVES).then_some(())
    }

    /// Names of the leaves of `ty` in order, as a user would write them after the variable's name.
    pub(in crate::lower) fn leaf_names(self, ty: TypeId) -> Vec<String> {
        match self.kind(ty) {
            Type::Array { of, len } => {
                let inner = self.leaf_names(*of);
                let names = |index| inner.iter().map(move |name| format!("[{index}]{name}"));
                (0..len.unwrap_or(0)).flat_map(names).collect()
            }
            Type::Vector { lanes, .. } => (0..usize::from(*lanes)).map(lane_name).collect(),
            Type::Record(record) => {
                let fields = self.program.records[*record].fields.iter();
                fields
                    .flat_map(|field| {
                        let inner = self.leaf_names(field.ty);
                        inner.into_iter().map(|name| format!(".{}{name}", field.name)).collect::<Vec<_>>()
                    })
                    .collect()
            }
            _ => vec![String::new()],
        }
    }
}

fn lane_name(lane: usize) -> String {
    match lane {
        0..=3 => format!(".{}", ["x", "y", "z", "w"][lane]),
        _ => format!(".s{lane:x}"),
    }
}
