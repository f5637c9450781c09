//! Points of coverage in OpenCL C: which places have them ([`Counters`] puts them there), and what a kernel that counts begins with.
//!
//! A condition of `?:` may be a vector, which chooses by lanes; only those that declarations show to be none have a point. A
//! barrier that is told with an agreement is that point, or the first one of the function that is called there.
//!
//! Deliberately absent: sides of branches that differ within a sub-group, of whose members OpenCL C says nothing before 2.0.

use super::Translator;
use super::types::Shape;
use crate::instrument::Purpose;
use crate::instrument::coverage::{Counters, Point, PointKind};
use crate::instrument::tokens::Tokens;
use crate::source::{Language, Span};
use crate::syntax::{BinaryOp, Expr, ExprKind, UnaryOp};

/// What a kernel begins with.
pub(super) fn beginning(holds_barriers: bool) -> &'static str {
    if holds_barriers {
        " __local uint raceproof_arrived[2]; __local long raceproof_votes[3]; raceproof_item raceproof_me; \
         __private raceproof_item *raceproof_self = &raceproof_me; \
         raceproof_begin(raceproof_self, raceproof_counts, raceproof_arrived, raceproof_votes); \
         raceproof_meet(raceproof_self);"
    } else {
        " raceproof_item raceproof_me; __private raceproof_item *raceproof_self = &raceproof_me; \
         raceproof_begin(raceproof_self, raceproof_counts, 0, 0);"
    }
}

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

impl<'a> Translator<'a> {
    /// Whether the text counts what a test reaches, in the place of logging accesses.
    pub(super) fn counts(&self) -> bool {
        self.source.purpose != Purpose::Log
    }

    /// Puts points of coverage where they are wanted.
    pub(super) fn cover(&mut self, put: impl FnOnce(&mut Counters<'_, 'a>)) {
        if self.counts() {
            let language = Language::OpenCl;
            put(&mut Counters { language, tokens: self.tokens, edits: &mut self.edits, notes: &mut self.notes });
        }
    }

    /// The condition of `?:`.
    pub(super) fn choice(&mut self, cond: &'a Expr) {
        if !self.counts() {
            return;
        }
        if self.is_one_value(cond) {
            self.cover(|counters| counters.branch(cond, None));
        } else {
            self.notes.leave_uncounted(cond.span, "a condition of `?:` that may be a vector");
        }
    }

    /// Whether an expression is shown to be no vector.
    fn is_one_value(&self, expr: &'a Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.is_one_value(left) && self.is_one_value(right)
            }
            ExprKind::Unary(UnaryOp::Not, value) => self.is_one_value(value),
            _ => matches!(self.shape(expr), Shape::Scalar | Shape::Pointer(_)),
        }
    }
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
