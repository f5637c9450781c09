//! Commands that the editor may call.

/// Says what is known of a kernel: the path of its text, and its name with template arguments.
pub(super) const VERDICT: &str = "raceproof.verdict";

/// Explains a rule, by its name.
pub(super) const EXPLAIN: &str = "raceproof.explain";

/// All of them.
pub(super) const ALL: [&str; 2] = [VERDICT, EXPLAIN];
