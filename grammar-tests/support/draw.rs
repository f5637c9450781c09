//! Which cases are tried: seeds of laws, and parts of a whole that is too long to try each time.
//!
//! `RACEPROOF_TEST_SEED` decides; the same seed draws the same cases. `scripts/test` makes one of the date and the
//! commit and prints it, so that each day and each change tries others. Without it all seeds begin at 0.
//! `RACEPROOF_CASES` sets the number of cases of each law, `RACEPROOF_CASE` a single seed to try again.

use super::kept;
use super::tier::{Tier, Tiers};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// The number in an environment variable, if it is set.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, and must be a number")))
}

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| number("RACEPROOF_TEST_SEED").unwrap_or(0))
}

/// A number that the seed of this run and a name decide.
fn hash(name: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed(), name).hash(&mut hasher);
    hasher.finish()
}

/// A law that is tried on cases which a seed makes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    name: &'static str,
    cases: Tiers<u64>,
}

impl Law {
    /// The name is that under which seeds are kept.
    pub(crate) const fn new(name: &'static str, cases: Tiers<u64>) -> Law {
        Law { name, cases }
    }

    /// How many cases are drawn.
    pub(crate) fn cases(&self) -> u64 {
        number("RACEPROOF_CASES").unwrap_or_else(|| self.cases.current())
    }

    /// The seeds that are drawn, one behind the other.
    pub(crate) fn drawn(&self) -> Range<u64> {
        // Far enough from the end that a law may count on.
        let first = if seed() == 0 { 0 } else { hash(self.name) >> 16 };
        first..first + self.cases()
    }

    /// The seeds that are kept.
    pub(crate) fn kept(&self) -> Vec<u64> {
        kept::seeds(self.name)
    }

    /// The seeds that are tried: those that are kept, then those that are drawn.
    pub(crate) fn seeds(&self) -> Vec<u64> {
        match number("RACEPROOF_CASE") {
            Some(seed) => vec![seed],
            None => self.kept().into_iter().chain(self.drawn()).collect(),
        }
    }

    /// Tries each seed, on all cores. One on which `case` panics is kept, and the test fails.
    pub(crate) fn each<T: Send>(&self, case: impl Fn(u64) -> T + Sync) -> Vec<T> {
        self.seeds().into_par_iter().map(|seed| self.watched(seed, || case(seed))).collect()
    }

    /// Tries one seed, which is kept if that panics.
    pub(crate) fn watched<T>(&self, seed: u64, case: impl FnOnce() -> T) -> T {
        catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|panic| {
            self.failed(seed);
            resume_unwind(panic)
        })
    }

    /// Keeps a seed on which the law does not hold.
    pub(crate) fn failed(&self, seed: u64) {
        kept::keep(self.name, seed);
    }
}

/// Whether a law says something: of so many cases at least one in `one_in` is of the kind that it is about, but for the
/// luck of the draw, which is three standard deviations of such a count.
pub(crate) fn is_enough(found: usize, cases: usize, one_in: usize) -> bool {
    let wanted = cases as f64 / one_in as f64;
    found as f64 >= wanted - 3.0 * wanted.sqrt()
}

/// The sum of each column.
pub(crate) fn sums<const N: usize>(rows: &[[usize; N]]) -> [usize; N] {
    std::array::from_fn(|column| rows.iter().map(|row| row[column]).sum())
}

/// A part of `all`, in its order: one in as many as the tier says, drawn by the seed, and each one that was changed of
/// late (see [`is_recent`]). Everything is tried within days, and at once by `scripts/test full`.
pub(crate) fn part<T>(what: &str, all: Vec<T>, one_in: Tiers<usize>, name: impl Fn(&T) -> String) -> Vec<T> {
    let one_in = one_in.current();
    if one_in <= 1 {
        return all;
    }
    let mut by_luck: Vec<(u64, usize)> =
        all.iter().enumerate().map(|(position, each)| (hash((what, name(each))), position)).collect();
    by_luck.sort_unstable();
    by_luck.truncate(all.len().div_ceil(one_in));
    let chosen: BTreeSet<usize> = by_luck.into_iter().map(|(_, position)| position).collect();
    let is_chosen = |position: usize, each: &T| chosen.contains(&position) || is_recent(&name(each));
    let mut position = 0;
    all.into_iter()
        .filter(|each| {
            position += 1;
            is_chosen(position - 1, each)
        })
        .collect()
}

/// Whether a file was changed of late: `RACEPROOF_RECENT` names those files, a line each.
fn is_recent(file: &str) -> bool {
    static RECENT: OnceLock<BTreeSet<String>> = OnceLock::new();
    let recent = RECENT
        .get_or_init(|| std::env::var("RACEPROOF_RECENT").unwrap_or_default().lines().map(str::to_owned).collect());
    Tier::current() > Tier::Quick && recent.contains(file)
}

/// The settings of a law of proptest, which draws from the seed of this run, too, and keeps what fails by itself.
pub(crate) fn proptest(cases: Tiers<u32>) -> proptest::test_runner::Config {
    use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
    let cases = number("RACEPROOF_CASES").map_or_else(|| cases.current(), |cases| cases as u32);
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("grammar-tests/kept/proptest.txt"))),
        max_global_rejects: cases,
        ..Config::default()
    }
}
