//! What becomes of the members of classes that `#pragma pack` packs.
//!
//! How they lie is not modelled: a member that is not understood keeps their size and offsets from being known. Both front ends ask
//! this wherever they read a class, so that classes in functions, methods and lambdas are packed like all others.

use super::{Item, ItemKind, Name};
use crate::source::{SourceMap, Span};

/// Adds a member that is not understood to a class that stands at `span`, where that touches one of `regions`.
pub fn mark(members: &mut Vec<Item>, name: &Name, span: Span, sources: &SourceMap, regions: &[Span]) {
    let at = sources.visible(span);
    let is_packed = |region: &Span| region.file == at.file && region.start < at.end && at.start < region.end;
    if regions.iter().any(is_packed) {
        let kind = ItemKind::Unsupported("class in `#pragma pack`".to_owned());
        members.push(Item { kind, span: name.span });
    }
}
