//! How much a run of the tests tries.
//!
//! A tier decides how many cases of a law and which part of the fixtures a test tries, not which tests there are. But
//! `quick` leaves out what needs more than Rust and a C compiler (see [`super::tools`]), and what builds whole programs,
//! which `scripts/test` does not ask for there.

use std::sync::OnceLock;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// A sample of everything that needs Rust and a C compiler alone: `scripts/test quick`, and plain `cargo test`.
    Quick,
    /// What every change must pass: `scripts/test`.
    Standard,
    /// All: `scripts/test full`.
    Full,
}

impl Tier {
    /// That of this run.
    pub(crate) fn current() -> Tier {
        static CURRENT: OnceLock<Tier> = OnceLock::new();
        *CURRENT.get_or_init(|| match std::env::var("RACEPROOF_TIER").as_deref() {
            Err(_) | Ok("quick") => Tier::Quick,
            Ok("standard") => Tier::Standard,
            Ok("full") => Tier::Full,
            Ok(other) => panic!("RACEPROOF_TIER is {other}, and must be quick, standard or full"),
        })
    }
}

/// Something for each tier: numbers of cases, mostly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiers<T> {
    pub(crate) quick: T,
    pub(crate) standard: T,
    pub(crate) full: T,
}

impl<T> Tiers<T> {
    /// That of the tier of this run.
    pub(crate) fn current(self) -> T {
        match Tier::current() {
            Tier::Quick => self.quick,
            Tier::Standard => self.standard,
            Tier::Full => self.full,
        }
    }
}

/// So many cases in each tier.
pub(crate) const fn tiers<T>(quick: T, standard: T, full: T) -> Tiers<T> {
    Tiers { quick, standard, full }
}
