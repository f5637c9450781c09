//! Fingerprints: whether two things are the same, told by two hashes of 64 bits.
//!
//! Deliberately absent: fingerprints that users keep, which must be those of every version (`diagnostic/render/fingerprint.rs`).

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

/// What something is, in 128 bits: equal ones have equal fingerprints, and others do not by any chance that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Fingerprint {
        let mut hashed = plain();
        hashed.add(bytes);
        Fingerprint(hashed.finish())
    }

    /// Of a value, by all that its `Debug` shows.
    pub fn of_value(value: &impl fmt::Debug) -> Fingerprint {
        let mut hashed = plain();
        write!(hashed, "{value:?}").expect("hashing does not fail");
        Fingerprint(hashed.finish())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

/// Two hashes of what is written, which begin differently.
pub struct Hashed<H>(pub [H; 2]);

impl<H: Hasher> Hashed<H> {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hasher| hasher.write(bytes));
    }

    /// The hashes of all that was written.
    pub fn finish(&self) -> [u64; 2] {
        self.0.each_ref().map(Hasher::finish)
    }
}

impl<H: Hasher> Write for Hashed<H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// The same in every process.
fn plain() -> Hashed<DefaultHasher> {
    let mut second = DefaultHasher::new();
    second.write_u64(1);
    Hashed([DefaultHasher::new(), second])
}
