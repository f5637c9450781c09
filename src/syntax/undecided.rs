//! Marks what lies in a conditional that could not be decided.
//!
//! A function, kernel or not, and a record whose text overlaps such a region may not be the one that the
//! compiler sees; the mark keeps it from ever being proved.

use super::{Item, ItemKind, Stmt, StmtKind};
use crate::source::{SourceMap, Span};

/// The reason that users read.
const REASON: &str = "`#if` on an unknown macro";

/// Puts an `Unsupported` statement into every function, and an `Unsupported` item beside every other item,
/// that overlaps one of `regions`.
pub fn mark(items: &mut Vec<Item>, sources: &SourceMap, regions: &[Span]) {
    if regions.is_empty() {
        return;
    }
    let mut marks = Vec::new();
    for item in items.iter_mut() {
        let region = regions.iter().copied().find(|&region| overlaps(sources.visible(item.span), region));
        match (&mut item.kind, region) {
            (ItemKind::Namespace { items, .. }, _) => mark(items, sources, regions),
            (_, None) | (ItemKind::Unsupported(_), _) => {}
            (ItemKind::Function(function), Some(region)) => {
                if let Some(body) = &mut function.body {
                    body.insert(0, Stmt { kind: StmtKind::Unsupported(REASON.to_owned()), span: region });
                }
            }
            (_, Some(region)) => {
                if let ItemKind::Record(record) = &mut item.kind
                    && let Some(members) = &mut record.members
                {
                    mark(members, sources, regions);
                }
                marks.push(Item { kind: ItemKind::Unsupported(REASON.to_owned()), span: region });
            }
        }
    }
    items.extend(marks);
}

fn overlaps(one: Span, other: Span) -> bool {
    one.file == other.file && one.start < other.end && other.start < one.end
}
