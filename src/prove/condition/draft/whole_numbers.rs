//! WHOLE (docs/RULES.md, "2.14 WHOLE"): what a fact says of whole numbers beyond what it says of fractions.
//!
//! *Premises.* `c*u + v >= 0` for constants `c >= 2` and `v` that `c` does not divide. *Conclusion.*
//! `u + floor(v/c) >= 0`. *Proof.* `u >= -v/c`, and `u` is whole. *Use.* `16*k < 32` in a loop of steps of 16:
//! `k <= 1`, so that `16*k + threadIdx.y` stays below 32 for `threadIdx.y < 16`. *Trap.* A bound that is met: of
//! `16*k <= 32` follows `k <= 2` only; and `c` divides what is multiplied as a whole, not one term of it.
//!
//! Deliberately absent: radices that are no constants, and rests that vary; those are ROUND's.

use crate::prove::state::poly::{Monomial, Poly};

/// What follows from `fact >= 0`, if anything does.
pub(in crate::prove::condition) fn in_whole_numbers(fact: &Poly) -> Option<Poly> {
    let constant = fact.coefficient(Monomial::ONE);
    let multiple = fact.plus_constant(constant.checked_neg()?)?;
    let content = multiple.content();
    if content < 2 || constant % content == 0 {
        return None;
    }
    multiple.divide_exactly(&Poly::constant(content))?.plus_constant(constant.div_euclid(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::{Atom, IDS, Side};

    fn atoms() -> [Poly; 2] {
        [0, 1].map(|number| Poly::atom(Atom::private(IDS, number, Side::First).unwrap()))
    }

    fn at(poly: &Poly, values: [i64; 2]) -> i64 {
        let of = |(monomial, coefficient): &(Monomial, i64)| {
            let product: i64 = monomial
                .atoms()
                .map(|atom| values[atoms().iter().position(|known| known.as_atom() == Some(atom)).unwrap()])
                .product();
            coefficient * product
        };
        poly.terms().iter().map(of).sum()
    }

    /// The conclusion holds exactly where the premise does: it neither says too much nor too little.
    #[test]
    fn it_is_the_fact_in_whole_numbers() {
        let [x, y] = atoms();
        let mut said = 0;
        for (a, b, v) in (-6..=6).flat_map(|a| (-6..=6).flat_map(move |b| (-13..=13).map(move |v| (a, b, v)))) {
            let fact = x.scaled(a).unwrap().plus(&y.scaled(b).unwrap()).unwrap().plus_constant(v).unwrap();
            let Some(whole) = in_whole_numbers(&fact) else { continue };
            said += 1;
            for values in (-9..=9).flat_map(|x| (-9..=9).map(move |y| [x, y])) {
                assert_eq!(at(&fact, values) >= 0, at(&whole, values) >= 0, "{a}*x + {b}*y + {v} at {values:?}");
            }
        }
        assert!(said > 700, "{said}");
    }

    #[test]
    fn what_has_no_common_divisor_says_no_more() {
        let [x, y] = atoms();
        let fact = |a: i64, b: i64, v: i64| {
            x.scaled(a).unwrap().plus(&y.scaled(b).unwrap()).unwrap().plus_constant(v).unwrap()
        };
        // A divisor of one term only; of all terms and the constant; none; nothing that varies.
        for silent in [fact(2, 1, 3), fact(-2, 3, 3), fact(2, 4, 6), fact(1, 1, 3), fact(0, 0, 3), fact(0, 0, -3)] {
            assert_eq!(in_whole_numbers(&silent), None, "{silent:?}");
        }
        // A bound that is met stays one: `16*k <= 32`.
        assert_eq!(in_whole_numbers(&fact(-16, 0, 32)), None);
        assert_eq!(in_whole_numbers(&fact(-16, 0, 31)), Some(fact(-1, 0, 1)));
        assert_eq!(in_whole_numbers(&fact(2, 0, -3)), Some(fact(1, 0, -2)));
        assert_eq!(in_whole_numbers(&fact(2, 0, i64::MIN)), None);
    }
}
