//! Whether the pointers of a launch lead to different allocations, as flow assumes.

use super::{Argument, Launch, Subject};
use crate::calculus::{ArrayId, Stmt};
use std::collections::BTreeSet;

/// Pairs of pointer parameters of a launch for which it matters that they point into one allocation.
pub(super) fn overlaps(subject: &Subject<'_>, launch: &Launch) -> Vec<(String, String)> {
    let kernel = subject.kernel;
    let params: Vec<(ArrayId, &str, u32)> = kernel
        .arrays
        .iter()
        .filter(|(_, array)| array.is_param)
        .filter_map(|(id, array)| Some((id, array.name.as_str(), allocation(launch, &array.name)?)))
        .collect();
    let written = written(&kernel.body);
    let is_invariant = subject.flow.access_invariant() == Some(true);
    let mut found = Vec::new();
    for (index, &(first, first_name, first_allocation)) in params.iter().enumerate() {
        for &(second, second_name, second_allocation) in &params[index + 1..] {
            let pair = [first, second];
            let is_written = pair.iter().any(|array| written.contains(array));
            let decides = pair.iter().any(|array| subject.flow.read_for_sinks.contains(array));
            if first_allocation == second_allocation && is_written && (decides || !is_invariant) {
                found.push((first_name.to_owned(), second_name.to_owned()));
            }
        }
    }
    found
}

fn allocation(launch: &Launch, name: &str) -> Option<u32> {
    launch.arguments.iter().find_map(|(argument, value)| match value {
        Argument::Pointer { allocation, .. } if argument == name => Some(*allocation),
        _ => None,
    })
}

/// The arrays that statements write.
fn written(body: &[Stmt]) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    let mut stack: Vec<&[Stmt]> = vec![body];
    while let Some(body) = stack.pop() {
        for stmt in body {
            match stmt {
                Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                    found.insert(access.array);
                }
                Stmt::If { then, otherwise, .. } => stack.extend([then.as_slice(), otherwise]),
                Stmt::For(counted) => stack.push(&counted.body),
                Stmt::Loop { body, .. } => stack.push(body),
                _ => {}
            }
        }
    }
    found
}
