//! The cases that are kept: as few as reach together what all of them reach.

use super::Goal;
use std::collections::BTreeSet;

/// Which of the cases to keep, by number, in their order: first those that reach most of what is left, the smaller one of two; of these none
/// that the others make superfluous.
pub fn fewest<S: Ord>(cases: &[(S, BTreeSet<Goal>)]) -> Vec<usize> {
    let mut left: BTreeSet<Goal> = cases.iter().flat_map(|(_, goals)| goals.iter().copied()).collect();
    let mut kept: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let gain = |number: &usize| cases[*number].1.intersection(&left).count();
        let by_gain = |one: &usize, other: &usize| {
            gain(one).cmp(&gain(other)).then_with(|| cases[*other].0.cmp(&cases[*one].0)).then(other.cmp(one))
        };
        let Some(best) = (0..cases.len()).max_by(by_gain) else { break };
        left.retain(|goal| !cases[best].1.contains(goal));
        kept.push(best);
    }
    // What was taken early may have become superfluous.
    for candidate in kept.clone() {
        let others = kept.iter().filter(|&&number| number != candidate);
        let reached: BTreeSet<Goal> = others.flat_map(|&number| cases[number].1.iter().copied()).collect();
        if cases[candidate].1.is_subset(&reached) {
            kept.retain(|&number| number != candidate);
        }
    }
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goals(points: &[usize]) -> BTreeSet<Goal> {
        points.iter().map(|&point| Goal { point, side: 0 }).collect()
    }

    #[test]
    fn what_others_reach_together_is_left_out() {
        // The first reaches most and is superfluous in the end.
        let cases = [(1, goals(&[1, 2, 3, 4])), (1, goals(&[1, 2, 5])), (1, goals(&[3, 4, 6]))];
        assert_eq!(fewest(&cases), [1, 2]);
    }

    #[test]
    fn of_two_that_reach_the_same_the_smaller_is_kept() {
        assert_eq!(fewest(&[(9, goals(&[1])), (2, goals(&[1])), (5, goals(&[]))]), [1]);
        assert!(fewest::<u8>(&[]).is_empty());
    }
}
