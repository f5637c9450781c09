//! Arrays that are addressed in units of unknown size and in others, too: offsets into them cannot be compared.
//!
//! Such an array has no common unit, and is named. Where it is only read, or the thread's own, no more follows than that nothing
//! is known of what is read.
//!
//! Deliberately absent: which of the accesses of such an array could be compared after all.

use super::notes::Units;
use crate::calculus::statements::{replaced, written};
use crate::calculus::{ArrayId, HavocReason, Kernel, Space, Stmt, Unsupported};
use std::collections::BTreeSet;

/// Says which arrays have no common unit, and that nothing is known of what is read of those that are not written.
pub(super) fn separate(kernel: &mut Kernel, units: &Units) {
    let mut changed = written(&kernel.body);
    changed.extend(kernel.unsupported.iter().filter_map(|entry| entry.arrays.as_ref()).flatten());
    let mut unwritten = units.forgotten.clone();
    for &array in &units.mixed {
        let each = &kernel.arrays[array];
        if each.space == Space::Private || !changed.contains(&array) {
            unwritten.insert(array);
            continue;
        }
        let Some(span) = each.span else { continue };
        let reason = format!("'{}' is accessed as elements of a type of unknown size and otherwise", each.name);
        let (span, arrays) = (Some(span), Some(vec![array]));
        let entry = Unsupported { span, reason, arrays, barriers: false, is_of_thread: false };
        if !kernel.unsupported.contains(&entry) {
            kernel.unsupported.push(entry);
        }
    }
    if !unwritten.is_empty() {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = forgotten(body, &unwritten);
    }
}

/// The statements, with what is read from the arrays made arbitrary.
fn forgotten(body: Vec<Stmt>, arrays: &BTreeSet<ArrayId>) -> Vec<Stmt> {
    replaced(body, |mut stmt, done| {
        match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                *then = forgotten(std::mem::take(then), arrays);
                *otherwise = forgotten(std::mem::take(otherwise), arrays);
            }
            Stmt::For(each) => each.body = forgotten(std::mem::take(&mut each.body), arrays),
            Stmt::Loop { body, .. } => *body = forgotten(std::mem::take(body), arrays),
            _ => {}
        }
        let read = match &stmt {
            Stmt::Read { var, access } if arrays.contains(&access.array) => Some(*var),
            _ => None,
        };
        done.push(stmt);
        done.extend(read.map(|var| {
            let reason = HavocReason::Other("elements of a type of unknown size".to_owned());
            Stmt::Havoc { var, reason, span: None }
        }));
    })
}
