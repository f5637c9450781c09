//! Choosing values where narrowing alone does not settle them.

use super::{Choice, NodeId, Problem, Range};
use crate::work;

/// Values of a range that are tried from its lower end.
const LEAST: i64 = 4;
/// Ranges of no more values are tried in full.
const SMALL: i64 = 6;

/// Negative values that are tried of a range around zero.
const BELOW_ZERO: [i64; 2] = [-2, -1];

/// What may still be done.
#[derive(Clone, Copy, Debug)]
pub(in crate::prove) struct Effort {
    /// Narrowings.
    pub(in crate::prove) left: u32,
    /// Values that are tried of each free value. Few of many are a better start than many of the last ones, since
    /// a wrong first choice otherwise takes all the effort.
    pub(in crate::prove) breadth: usize,
}

impl Problem {
    /// Values of all nodes under which every requirement holds; `None` if none was found within the effort.
    pub(in crate::prove) fn solve(&self, effort: &mut Effort) -> Option<Vec<i64>> {
        if self.contradictory {
            return None;
        }
        self.choose(self.ranges.clone(), 0, effort)
    }

    fn choose(&self, mut ranges: Vec<Range>, first: usize, effort: &mut Effort) -> Option<Vec<i64>> {
        effort.left = effort.left.checked_sub(1).filter(|_| !work::is_over())?;
        self.narrow(&mut ranges).ok()?;
        let is_open = |choice: &Choice| ranges[choice.node as usize].value().is_none();
        let next = (first..self.choices.len()).find(|&index| is_open(&self.choices[index]));
        let Some(next) = next else {
            return ranges.iter().map(|range| range.value()).collect();
        };
        let choice = &self.choices[next];
        candidates(ranges[choice.node as usize], choice)
            .into_iter()
            .take(effort.breadth)
            .find_map(|value| self.choose(chosen(&ranges, choice.node, value), next + 1, effort))
    }
}

fn chosen(ranges: &[Range], node: NodeId, value: i64) -> Vec<Range> {
    let mut ranges = ranges.to_vec();
    ranges[node as usize] = Range::exactly(value);
    ranges
}

/// Values that are tried, in order: the least ones, the likely ones, the greatest.
fn candidates(range: Range, choice: &Choice) -> Vec<i64> {
    let Range { low, high } = range;
    if high - low < SMALL {
        return (low..=high).collect();
    }
    // A range around zero starts there: far negative numbers are nobody's idea of an example.
    let start = if low < 0 && high > 0 { 0 } else { low };
    let mut values: Vec<i64> = (start..=high.min(start + LEAST - 1)).collect();
    values.extend(choice.likely.iter().copied().filter(|value| (low..=high).contains(value)));
    // Just below zero before the ends: what divides by a negative number does so already for -1 and -2.
    values.extend(BELOW_ZERO.into_iter().filter(|value| (low..=high).contains(value)));
    values.extend([high, low]);
    let mut seen = Vec::with_capacity(values.len());
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
