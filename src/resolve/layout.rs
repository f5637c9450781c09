//! Sizes and alignments of types, as nvcc and OpenCL lay them out on 64-bit devices.

use super::program::{Program, Record, Type, TypeId};
use crate::arena::Arena;
use crate::source::Language;

impl Program {
    /// Size of a type in bytes; `None` if it, or a part of it, is not known.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        Layout { language: self.language, types: &self.types, records: &self.records }.size_of(ty)
    }

    /// Alignment of a type in bytes; `None` if it is not known.
    pub fn align_of(&self, ty: TypeId) -> Option<u64> {
        Layout { language: self.language, types: &self.types, records: &self.records }.align_of(ty)
    }
}

/// What sizes depend on.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    /// The language: three lanes take the room of four in OpenCL.
    pub(super) language: Language,
    /// The types.
    pub(super) types: &'a Arena<Type>,
    /// The records, as far as they have been laid out.
    pub(super) records: &'a Arena<Record>,
}

impl Layout<'_> {
    /// Size in bytes.
    pub(super) fn size_of(self, ty: TypeId) -> Option<u64> {
        match &self.types[ty] {
            Type::Bool => Some(1),
            Type::Int { width, .. } | Type::Float { width } => Some(u64::from(*width) / 8),
            Type::Pointer { .. } => Some(8),
            Type::Array { of, len } => self.size_of(*of)?.checked_mul((*len)?),
            Type::Vector { of, lanes } => {
                let lane = self.size_of(*of)?;
                Some(lane * u64::from(self.room(*lanes)))
            }
            Type::Record(record) => self.records[*record].bytes,
            Type::Void | Type::Unknown(_) => None,
        }
    }

    /// Lanes that a vector has room for.
    fn room(self, lanes: u8) -> u8 {
        if self.language == Language::OpenCl && lanes == 3 { 4 } else { lanes }
    }

    /// Alignment in bytes.
    pub(super) fn align_of(self, ty: TypeId) -> Option<u64> {
        match &self.types[ty] {
            Type::Array { of, .. } => self.align_of(*of),
            Type::Record(record) => Some(self.records[*record].align),
            Type::Vector { of, lanes } => {
                let lane = self.size_of(*of)?;
                Some(match self.language {
                    Language::OpenCl => lane * u64::from(self.room(*lanes)),
                    // CUDA aligns the vectors of one and three lanes like a lane and none beyond 16 bytes.
                    Language::Cuda if lanes % 2 == 1 => lane,
                    Language::Cuda => (lane * u64::from(*lanes)).min(16),
                })
            }
            _ => self.size_of(ty),
        }
    }
}
