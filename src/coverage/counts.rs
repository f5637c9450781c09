//! The counts that instrumented programs leave (`instrument/runtime/cpu/coverage.hpp` says what they are).
//!
//! Guarantees: a line that is cut off, as of a program that was killed, is passed over; the others count.

use super::{Missing, Seen};
use std::collections::BTreeMap;
use std::path::Path;

/// What was counted, by the number of the point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    of: BTreeMap<usize, [u64; 4]>,
    missing: BTreeMap<usize, Missing>,
    near: BTreeMap<(usize, bool), [f64; 2]>,
}

impl Counts {
    /// Reads the counts of a run. No file means that nothing was reached.
    pub fn read(path: &Path) -> Counts {
        let bytes = std::fs::read(path).unwrap_or_default();
        Counts::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> Counts {
        let mut counts = Counts::default();
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            match line.split_once('\t') {
                Some(("missing", rest)) => counts.miss(rest),
                Some(("near", rest)) => counts.come_near(rest),
                _ => counts.count(line),
            };
        }
        counts
    }

    fn count(&mut self, line: &str) -> Option<()> {
        let mut fields = line.split('\t');
        let point = fields.next()?.parse().ok()?;
        let numbers: Vec<u64> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
        self.add(point, numbers.try_into().ok()?);
        Some(())
    }

    /// Adds what was counted at a point.
    pub fn add(&mut self, point: usize, numbers: [u64; 4]) {
        let known = self.of.entry(point).or_default();
        known.iter_mut().zip(numbers).for_each(|(known, more)| *known += more);
    }

    /// Adds a group of which not all come to a barrier. The first one is kept.
    pub fn add_missing(&mut self, point: usize, missing: Missing) {
        let known = self.missing.entry(point).or_insert_with(|| missing.clone());
        if missing < *known {
            *known = missing;
        }
    }

    fn miss(&mut self, line: &str) -> Option<()> {
        let (point, rest) = line.split_once('\t')?;
        // The name of a kernel may hold anything but a tab.
        let fields: Vec<&str> = rest.split('\t').collect();
        let [kernel, launch, x, y, z, wide, high, threads] = fields[..] else { return None };
        let number = |text: &str| text.parse::<u64>().ok();
        let range = |text: &str| text.split_once('-').and_then(|(first, last)| Some([number(first)?, number(last)?]));
        let missing = Missing {
            launch: number(launch)?,
            kernel: kernel.to_owned(),
            block: [number(x)?, number(y)?, number(z)?],
            extents: [number(wide)?, number(high)?],
            threads: threads.split(',').map(range).collect::<Option<_>>()?,
        };
        self.add_missing(point.parse().ok()?, missing);
        Some(())
    }

    /// Of operands that several threads of the system have met, the nearest to each other are kept.
    fn come_near(&mut self, line: &str) -> Option<()> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [point, holds, a, b] = fields[..] else { return None };
        let (a, b) = (a.parse::<f64>().ok()?, b.parse::<f64>().ok()?);
        let known = self.near.entry((point.parse().ok()?, holds == "1")).or_insert([a, b]);
        if (a - b).abs() < (known[0] - known[1]).abs() {
            *known = [a, b];
        }
        Some(())
    }

    /// The operands of comparisons that came nearest to each other, by the number of the point and the outcome.
    pub fn near(&self) -> impl Iterator<Item = ((usize, bool), [f64; 2])> + '_ {
        self.near.iter().map(|(&which, &operands)| (which, operands))
    }

    /// Statements that begin on these lines.
    pub fn run(&self, point: usize, lines: Vec<u32>) -> Seen {
        Seen::Run { lines, times: self.at(point)[0] }
    }

    /// A condition.
    pub fn branch(&self, point: usize) -> Seen {
        let [fails, holds, diverged_warps, uniform_warps] = self.at(point);
        Seen::Branch { holds, fails, diverged_warps, uniform_warps }
    }

    /// A loop.
    pub fn turns(&self, point: usize, may_be_skipped: bool) -> Seen {
        let [none, one, several, turns] = self.at(point);
        Seen::Loop { may_be_skipped, none, one, several, turns }
    }

    /// A barrier.
    pub fn barrier(&self, point: usize) -> Seen {
        let [whole, partial, arrivals, _] = self.at(point);
        Seen::Barrier { whole, partial, arrivals, missing: self.missing.get(&point).cloned() }
    }

    fn at(&self, point: usize) -> [u64; 4] {
        self.of.get(&point).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_several_threads_and_launches_add_up() {
        let counts = Counts::parse("0\t1\t2\t0\t1\n3\t5\t0\t0\t0\n0\t1\t0\t1\t0\n");
        assert_eq!(counts.branch(0), Seen::Branch { holds: 2, fails: 2, diverged_warps: 1, uniform_warps: 1 });
        assert_eq!(counts.run(3, vec![7]), Seen::Run { lines: vec![7], times: 5 });
        assert_eq!(counts.turns(9, true), Seen::Loop { may_be_skipped: true, none: 0, one: 0, several: 0, turns: 0 });
    }

    #[test]
    fn of_the_blocks_that_miss_a_barrier_the_first_is_told_and_lines_that_are_cut_off_are_not() {
        let text = "2\t0\t2\t10\t0\nmissing\t2\tk\t1\t3\t0\t0\t32\t1\t5-31\nmissing\t2\tk\t1\t1\t0\t0\t32\t1\t5-6,9-31\n2\t0\t1";
        let Seen::Barrier { whole: 0, partial: 2, arrivals: 10, missing: Some(missing) } =
            Counts::parse(text).barrier(2)
        else {
            panic!("{text}")
        };
        assert_eq!((missing.block, missing.threads), ([1, 0, 0], vec![[5, 6], [9, 31]]));
    }
}
