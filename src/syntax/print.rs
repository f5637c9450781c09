//! The tree as text, for `raceproof show syntax` and for tests.

use super::Unit;
use std::fmt::Write as _;

/// Prints `unit` as an indented tree, one node a line.
pub fn print(unit: &Unit) -> String {
    let mut out = String::new();
    for item in &unit.items {
        let _ = writeln!(out, "{:?}", item.kind);
    }
    out
}
