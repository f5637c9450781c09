//! Parts of vectors: `v.x`, `v.s01`, `v.lo.y`.
//!
//! They have no address. The vector has one; the bytes of its lanes are logged.

use super::Translator;
use super::expressions::number;
use super::types::Shape;
use crate::instrument::expressions::Use;
use crate::syntax::{Expr, ExprKind};

/// A part of a vector in an object.
pub(super) struct Part<'a> {
    /// The vector, or the pointer to it.
    object: &'a Expr,
    arrow: bool,
    /// Its lanes, in the order in which they are named.
    lanes: Vec<u8>,
}

/// The lanes that a name stands for in a vector of so many, if it is such a name.
pub(super) fn lanes(name: &str, of: u8) -> Option<Vec<u8>> {
    // A vector of three has the halves of one of four.
    let whole = if of == 3 { 4 } else { of };
    let found: Vec<u8> = match name {
        "lo" => (0..whole / 2).collect(),
        "hi" => (whole / 2..whole).collect(),
        "even" => (0..whole).step_by(2).collect(),
        "odd" => (1..whole).step_by(2).collect(),
        _ => match name.strip_prefix(['s', 'S']) {
            Some(digits) if !digits.is_empty() => {
                digits.chars().map(|digit| digit.to_digit(16).map(|lane| lane as u8)).collect::<Option<_>>()?
            }
            _ => {
                name.chars().map(|letter| "xyzwrgba".find(letter).map(|lane| lane as u8 % 4)).collect::<Option<_>>()?
            }
        },
    };
    (!found.is_empty() && found.iter().all(|&lane| lane < whole)).then_some(found)
}

impl<'a> Translator<'a> {
    /// The part of a vector that an expression names, if it does.
    pub(super) fn part(&mut self, expr: &'a Expr) -> Option<Part<'a>> {
        let ExprKind::Member { object, arrow, member } = &expr.kind else { return None };
        let whole = self.shape(object);
        let of = match if *arrow { whole.inside() } else { whole } {
            Shape::Vector(of) => of,
            // A value of an unknown type, or a place that no declaration describes.
            Shape::Unknown if !self.types.is_field(&member.name.text) && lanes(&member.name.text, 16).is_some() => {
                if !self.stays_own(expr) {
                    self.notes.leave_out(expr.span, "part of a vector of unknown type");
                }
                return Some(Part { object, arrow: *arrow, lanes: Vec::new() });
            }
            _ => return None,
        };
        let named = lanes(&member.name.text, of)?;
        match self.part(object).filter(|_| !*arrow) {
            Some(outer) => {
                let lanes = named.iter().filter_map(|&lane| outer.lanes.get(lane as usize).copied()).collect();
                Some(Part { lanes, ..outer })
            }
            None => Some(Part { object, arrow: *arrow, lanes: named }),
        }
    }

    /// Wraps the vector and logs the lanes.
    pub(super) fn access_lanes(&mut self, expr: &'a Expr, part: &Part<'a>, usage: Use) {
        let is_own = self.counts() || !part.arrow && self.stays_own(part.object);
        if let Some(kind) = usage.site().filter(|_| !is_own && !part.lanes.is_empty()) {
            let ranges = self.tokens.range(expr.span).zip(self.tokens.range(part.object.span));
            let Some((whole, inner)) = ranges else {
                return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart");
            };
            let site = self.notes.site(kind, expr.span, self.array(part.object));
            let logged: Vec<String> = runs(&part.lanes)
                .iter()
                .map(|(first, count)| format!(" RACEPROOF_LANES({site}, {}, {first}, {count});", number(kind)))
                .collect();
            let logged = logged.concat();
            let after = format!(");{logged} raceproof_at; }}))");
            if part.arrow {
                let Some(operator) = self.tokens.find(inner.end..whole.end, "->") else {
                    return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart");
                };
                self.edits.replace(operator..operator + 1, ".");
                self.edits.wrap(inner, "(*({ __auto_type raceproof_at = (", after);
            } else {
                self.edits.wrap(inner, "(*({ __auto_type raceproof_at = &(", after);
            }
        }
        if part.arrow { self.pointer(part.object) } else { self.expr(part.object, Use::Place) }
    }
}

/// Lanes as runs of neighbours: first and count.
fn runs(lanes: &[u8]) -> Vec<(u8, u8)> {
    let mut sorted = lanes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for lane in sorted {
        match runs.last_mut().filter(|(first, count)| first + count == lane) {
            Some((_, count)) => *count += 1,
            None => runs.push((lane, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lanes_are_read() {
        assert_eq!(lanes("x", 4), Some(vec![0]));
        assert_eq!(lanes("wzyx", 4), Some(vec![3, 2, 1, 0]));
        assert_eq!(lanes("sF0", 16), Some(vec![15, 0]));
        assert_eq!(lanes("hi", 8), Some(vec![4, 5, 6, 7]));
        assert_eq!(lanes("odd", 4), Some(vec![1, 3]));
        assert_eq!(lanes("rgba", 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(lanes("z", 2), None);
        assert_eq!(lanes("s", 4), None);
        assert_eq!(lanes("length", 4), None);
    }

    #[test]
    fn neighbouring_lanes_are_one_access() {
        assert_eq!(runs(&[0, 1, 3]), [(0, 2), (3, 1)]);
        assert_eq!(runs(&[3, 2, 1, 0]), [(0, 4)]);
    }
}
