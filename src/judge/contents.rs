//! Contents of memory for what is only possible: a pair that depends on what arrays hold at the launch is run with
//! contents that make it conflict, if some are found.
//!
//! The verdict on the kernel stays what it is: a program may well keep such contents out.

use super::attempt::Case;
use super::collectives::Ordered;
use super::scopes::Candidates;
use crate::calculus::Space;
use crate::calculus::eval::Program;
use crate::check::verdict::{PossibleRace, Verdict};
use crate::prove::Pair;
use crate::prove::refute::{free_arrays, with_contents};

/// Adds contents to the possible races of a verdict.
pub(super) fn find(case: &Case<'_>, candidates: &Candidates, program: &Program, verdict: &mut Verdict) {
    let Some(last) = candidates.proofs.last() else { return };
    let (opaque, mut known) = (case.opaque_arrays(), free_arrays(case.kernel));
    if known.is_empty() {
        return;
    }
    // What a block writes to its shared memory may follow from what was chosen.
    let arrays = case.kernel.arrays.iter();
    known.extend(arrays.filter(|(_, array)| array.space == Space::Shared).map(|(id, _)| id));
    let is_open = |race: &PossibleRace| {
        let array = case.protocol.accesses[race.pair.first].array;
        let depends = race.reasons.iter().any(|reason| reason.array.is_some_and(|read| known.contains(&read)));
        race.contents.is_none() && depends && !opaque.contains(&array)
    };
    // A barrier that nobody sees may stand between the two accesses.
    if case.passes_unseen_barriers() || Ordered::of(case.kernel).is_some() {
        return;
    }
    for part in &last.parts {
        let open: Vec<usize> = (0..verdict.possible.len()).filter(|&index| is_open(&verdict.possible[index])).collect();
        if open.is_empty() {
            return;
        }
        let pairs: Vec<Pair> = open.iter().map(|&index| verdict.possible[index].pair.clone()).collect();
        let found = with_contents(case.kernel, program, case.protocol, &pairs, &part.scope, case.search_levels());
        for (index, contents) in open.into_iter().zip(found) {
            verdict.possible[index].contents = contents;
        }
    }
}
