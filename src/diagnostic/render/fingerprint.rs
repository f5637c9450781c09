//! Fingerprints of results, by which code scanning and code quality reports know a finding again after an edit.
//!
//! Deliberately absent: line numbers and witnesses, which change with edits elsewhere.

use super::uri;
use crate::diagnostic::report::FileReport;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The fingerprints that were given out.
#[derive(Default)]
pub(super) struct Fingerprints {
    given: FxHashMap<u64, u32>,
}

impl Fingerprints {
    /// The fingerprint of a result at `places`; `what` tells apart what else is said there.
    pub(super) fn of(&mut self, rule: &str, file: &FileReport, kernel: &str, places: &[Span], what: &str) -> String {
        let mut hash = Hash::new();
        for part in [rule, &uri::of_path(&file.path), kernel, what] {
            hash.part(part.as_bytes());
        }
        for &place in places {
            for word in file.sources.text(file.sources.visible(place)).split_whitespace() {
                hash.part(word.as_bytes());
            }
        }
        let before = self.given.entry(hash.0).or_default();
        *before += 1;
        format!("{:016x}:{before}", hash.0)
    }
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
pub(crate) struct Hash(u64);

impl Hash {
    /// Of nothing.
    pub(crate) fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a part.
    pub(crate) fn part(&mut self, bytes: &[u8]) {
        // The zero byte keeps parts apart.
        for &byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// As text.
    pub(crate) fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}
