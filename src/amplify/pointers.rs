//! Whether the pointers of a launch lead to different allocations, as flow assumes.
//!
//! Only pairs matter of which one is written and something that was read through one decides an access (or, where
//! data decides which elements are read, any pair of which one is written). A pointer that is a field of a struct is
//! not in the log: then the assumption is printed instead.

use super::{Argument, Launch, Subject};
use crate::calculus::statements::written;
use crate::calculus::{ArrayId, Space};

/// Two pointer parameters, by name.
pub(super) type Pair = (String, String);

/// Pairs of pointer parameters for which it matters whether they overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs {
    /// They point into one allocation.
    pub(super) overlapping: Vec<Pair>,
    /// The log does not say.
    pub(super) unchecked: Vec<Pair>,
}

/// The pairs of a launch that do not certainly point into different allocations, as far as that matters.
pub(super) fn pairs(subject: &Subject<'_>, launch: &Launch) -> Pairs {
    let kernel = subject.kernel;
    let params: Vec<(ArrayId, &str, Target)> = kernel
        .arrays
        .iter()
        .filter(|(_, array)| array.is_param && array.space != Space::Private)
        .map(|(id, array)| (id, array.name.as_str(), target(launch, &array.name)))
        .collect();
    let written = written(&kernel.body);
    let is_invariant = subject.flow.access_invariant() == Some(true);
    let mut found = Pairs::default();
    for (index, (first, first_name, first_target)) in params.iter().enumerate() {
        for (second, second_name, second_target) in &params[index + 1..] {
            let pair = [*first, *second];
            let is_written = pair.iter().any(|array| written.contains(array));
            let decides = pair.iter().any(|array| subject.flow.read_for_sinks.contains(array));
            if !is_written || (!decides && is_invariant) {
                continue;
            }
            let names = ((*first_name).to_owned(), (*second_name).to_owned());
            match (first_target, second_target) {
                (Target::Nothing, _) | (_, Target::Nothing) => {}
                (Target::Allocation(one), Target::Allocation(other)) if one != other => {}
                (Target::Allocation(_), Target::Allocation(_)) => found.overlapping.push(names),
                (Target::Unknown, _) | (_, Target::Unknown) => found.unchecked.push(names),
            }
        }
    }
    found
}

/// Where a pointer of a launch leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Allocation(u32),
    Nothing,
    Unknown,
}

fn target(launch: &Launch, name: &str) -> Target {
    match launch.arguments.iter().find(|(argument, _)| argument == name) {
        Some((_, Argument::Pointer { allocation, .. })) => Target::Allocation(*allocation),
        Some((_, Argument::Other(text))) if text == "null" => Target::Nothing,
        _ => Target::Unknown,
    }
}
