//! Marks the classes that `#pragma pack` packs.
//!
//! How their members lie is not modelled: a member that is not understood keeps their size and offsets from being known.

use super::{Item, ItemKind, Record, Stmt, StmtKind, Type, TypeKind};
use crate::source::{SourceMap, Span};

/// Adds a member that is not understood to every class that begins in one of `regions`.
pub fn mark(items: &mut [Item], sources: &SourceMap, regions: &[Span]) {
    if regions.is_empty() {
        return;
    }
    for item in items.iter_mut() {
        let at = sources.visible(item.span);
        let is_packed =
            regions.iter().any(|region| region.file == at.file && region.start < at.end && at.start < region.end);
        match &mut item.kind {
            ItemKind::Namespace { items, .. } => mark(items, sources, regions),
            ItemKind::Function(function) => {
                function.body.iter_mut().flatten().for_each(|stmt| mark_inside(stmt, sources, regions));
            }
            ItemKind::Record(record) if is_packed => pack(record, item.span),
            ItemKind::Alias { ty, .. } if is_packed => pack_inside(ty, item.span),
            ItemKind::Variables(variables) if is_packed => {
                variables.iter_mut().for_each(|variable| pack_inside(&mut variable.ty, item.span));
            }
            _ => {}
        }
    }
}

/// Classes that are defined in a function.
fn mark_inside(stmt: &mut Stmt, sources: &SourceMap, regions: &[Span]) {
    match &mut stmt.kind {
        StmtKind::Item(item) => mark(std::slice::from_mut(item), sources, regions),
        StmtKind::Block(stmts) => stmts.iter_mut().for_each(|stmt| mark_inside(stmt, sources, regions)),
        StmtKind::If { init, then, otherwise, .. } => {
            for stmt in init.iter_mut().chain(otherwise).chain([then]) {
                mark_inside(stmt, sources, regions);
            }
        }
        StmtKind::For { init, body, .. } => {
            for stmt in init.iter_mut().chain([body]) {
                mark_inside(stmt, sources, regions);
            }
        }
        StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::Do { body, .. }
        | StmtKind::Switch { body, .. } => mark_inside(body, sources, regions),
        _ => {}
    }
}

fn pack_inside(ty: &mut Type, span: Span) {
    match &mut ty.kind {
        TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) => {
            pack_inside(inner, span)
        }
        TypeKind::Record(record) => pack(record, span),
        _ => {}
    }
}

/// Classes inside it are packed, too.
fn pack(record: &mut Record, span: Span) {
    let Some(members) = &mut record.members else { return };
    for member in members.iter_mut() {
        match &mut member.kind {
            ItemKind::Record(inner) => pack(inner, span),
            ItemKind::Alias { ty, .. } => pack_inside(ty, span),
            ItemKind::Variables(variables) => {
                variables.iter_mut().for_each(|variable| pack_inside(&mut variable.ty, span));
            }
            _ => {}
        }
    }
    members.push(Item { kind: ItemKind::Unsupported("class in `#pragma pack`".to_owned()), span });
}
