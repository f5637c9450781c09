//! What OpenCL C that counts has besides its points of coverage: what a kernel begins with, what would stand in their way, and which
//! points agreements before barriers are about.
//!
//! A barrier that is told with an agreement is that point, or the first one of the function that is called there.
//!
//! Deliberately absent: sides of branches that differ within a sub-group, of whose members OpenCL C says nothing before 2.0.

use crate::instrument::coverage::{Point, PointKind};
use crate::instrument::tokens::Tokens;
use crate::source::Span;

/// What a kernel begins with.
pub(super) const BEGINNING: &str = " raceproof_item raceproof_me; __private raceproof_item *raceproof_self = &raceproof_me; \
                                    raceproof_begin(raceproof_self, raceproof_counts, 0, 0);";

/// What a kernel begins with that comes to barriers.
pub(super) const BEGINNING_WITH_BARRIERS: &str = " __local uint raceproof_arrived[2]; __local long raceproof_votes[3]; raceproof_item raceproof_me; \
     __private raceproof_item *raceproof_self = &raceproof_me; \
     raceproof_begin(raceproof_self, raceproof_counts, raceproof_arrived, raceproof_votes); \
     raceproof_meet(raceproof_self);";

/// The text without pragmas that have to stand right before a loop, where its counters stand. They say how it is compiled, and
/// nothing of what it does.
pub(super) fn without_hints(text: &str) -> String {
    let is_hint = |line: &str| {
        let mut words = line.trim_start().strip_prefix('#').unwrap_or_default().split_whitespace();
        words.next() == Some("pragma")
            && match words.next() {
                Some("GCC") => words.next() == Some("unroll"),
                Some("clang") => words.next() == Some("loop"),
                Some(word) => matches!(word.split('(').next(), Some("unroll" | "nounroll" | "ivdep")),
                None => false,
            }
    };
    text.split_inclusive('\n').map(|line| if is_hint(line) { "\n" } else { line }).collect()
}

/// The point of a barrier, or of the first one in the function that is called at that place.
pub(super) fn point_of(barrier: Span, points: &[Point], tokens: &Tokens<'_>) -> Option<usize> {
    let is_barrier = |point: &Point| point.kind == PointKind::Barrier;
    let own = points.iter().position(|point| is_barrier(point) && point.span == barrier);
    let text = tokens.sources().text(tokens.sources().visible(barrier));
    let called = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    own.or_else(|| points.iter().position(|point| is_barrier(point) && point.function == called))
}

#[cfg(test)]
mod tests {
    use super::without_hints;

    #[test]
    fn hints_about_loops_go_and_lines_keep_their_numbers() {
        let text =
            "a\n  # pragma unroll(4)\n#pragma OPENCL EXTENSION x : enable\n#pragma clang loop vectorize(enable)\nb";
        assert_eq!(without_hints(text), "a\n\n#pragma OPENCL EXTENSION x : enable\n\nb");
    }
}
