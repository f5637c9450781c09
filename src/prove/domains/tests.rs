//! Narrowing loses no solution, and what is found is one.

use super::{Effort, Op, Problem, Range};
use crate::calculus::{BinaryOp, ScalarType, UnaryOp, arithmetic};

const EFFORT: Effort = Effort { left: 2_000, breadth: usize::MAX };

/// Every operator on every small range, against enumeration: no value that an operand or the result can take
/// is narrowed away.
#[test]
fn narrowing_keeps_every_solution() {
    use BinaryOp::*;
    let types = [ScalarType::I32, ScalarType::U32, ScalarType::Int { width: 8, signed: true }];
    let ops = [Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor, Min, Max, Lt, Le, Gt, Ge, Eq, Ne];
    let ranges = [(-7, -3), (-2, 0), (0, 0), (0, 3), (1, 2), (2, 7), (-3, 4), (120, 127)];
    for ty in types {
        let (least, greatest) = ty.range().unwrap();
        for (op, a, b) in ops.iter().flat_map(|&op| ranges.iter().flat_map(move |&a| ranges.map(|b| (op, a, b)))) {
            if i128::from(a.0.min(b.0)) < least || i128::from(a.1.max(b.1)) > greatest {
                continue;
            }
            let results = (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y)));
            let results: Vec<(i64, i64, i64)> = results
                .filter_map(|(x, y)| Some((x, y, arithmetic::binary(op, x.into(), y.into(), ty).ok()?.value as i64)))
                .collect();
            for &(_, _, wanted) in &results {
                let mut problem = Problem::default();
                let left = problem.free(Range { low: a.0, high: a.1 }, Vec::new());
                let right = problem.free(Range { low: b.0, high: b.1 }, Vec::new());
                let node = problem.node(Op::Binary(op, left, right, ty));
                problem.require(node, Range::exactly(wanted));
                let mut narrowed = problem.ranges.clone();
                assert!(problem.narrow(&mut narrowed).is_ok(), "{a:?} {op:?} {b:?} = {wanted} in {ty:?}");
                for &(x, y, _) in results.iter().filter(|result| result.2 == wanted) {
                    let kept = |node: u32, value| {
                        (narrowed[node as usize].low..=narrowed[node as usize].high).contains(&value)
                    };
                    assert!(kept(left, x) && kept(right, y), "{x} {op:?} {y} = {wanted} in {ty:?}: {narrowed:?}");
                }
            }
        }
    }
}

#[test]
fn products_conversions_and_conditions_are_solved() {
    let mut problem = Problem::default();
    let whole = Range { low: 1, high: 1000 };
    let (n, t) = (problem.free(whole, vec![]), problem.free(Range { low: 0, high: 1023 }, vec![]));
    // t * n == 35 && t % 4 == 3 && !(n > 6)
    let product = problem.wide(BinaryOp::Mul, t, n);
    problem.require(product, Range::exactly(35));
    let four = problem.constant(4);
    let digit = problem.wide(BinaryOp::Rem, t, four);
    problem.require(digit, Range::exactly(3));
    let six = problem.constant(6);
    let above = problem.wide(BinaryOp::Gt, n, six);
    let not = problem.node(Op::Unary(UnaryOp::Not, above, ScalarType::Bool));
    let both = problem.node(Op::Convert(ScalarType::Bool, not));
    problem.require(both, Range::TRUE);
    let solution = problem.solve(&mut EFFORT.clone()).unwrap();
    assert_eq!((solution[n as usize], solution[t as usize]), (5, 7).min((1, 35)));
}

#[test]
fn selections_and_divisions_are_solved() {
    let mut problem = Problem::default();
    let x = problem.free(Range { low: 0, high: 1 << 20 }, vec![]);
    let (limit, three) = (problem.constant(100), problem.constant(3));
    let small = problem.wide(BinaryOp::Lt, x, limit);
    let third = problem.wide(BinaryOp::Div, x, three);
    let chosen = problem.node(Op::Select(small, three, third));
    problem.require(chosen, Range::exactly(77));
    let solution = problem.solve(&mut EFFORT.clone()).unwrap();
    assert_eq!(solution[x as usize] / 3, 77);
}

#[test]
fn contradictions_and_traps_have_no_solution() {
    let mut problem = Problem::default();
    let x = problem.free(Range { low: 0, high: 3 }, vec![]);
    let zero = problem.constant(0);
    let _trap = problem.wide(BinaryOp::Div, x, zero);
    assert!(problem.solve(&mut EFFORT.clone()).is_none());
    let mut problem = Problem::default();
    let x = problem.free(Range { low: 0, high: 3 }, vec![]);
    problem.require(x, Range { low: 4, high: 5 });
    assert!(problem.solve(&mut EFFORT.clone()).is_none());
}
