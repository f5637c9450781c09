//! From a comparison that came out one way to inputs for which it comes out the other way.
//!
//! A comparison `a < b` tells the operands that came nearest to each other. By how much their difference has to change follows from the
//! operator ([`Turn`]). Where an operand is itself a number of the input, that number is moved by as much; where it is not, the input is moved
//! by one to see what that does to the difference, and then along the slope.

use super::Near;
use super::case::{Case, Contents, number};
use super::signature::Signature;
use crate::execute::launch::{Number, Values};
use crate::source::Language;
use crate::syntax::BinaryOp;

/// Elements of memory that are looked through, and written down in a description.
const MOST_LISTED: u64 = 4096;

/// A comparison that is to come out another way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// What is compared.
    pub op: BinaryOp,
    /// How it is to come out.
    pub outcome: bool,
    /// Its operands so far.
    pub near: Near,
}

impl Turn {
    /// By how much `a - b` has to grow; the least change of whole numbers.
    fn lack(self) -> f64 {
        let difference = self.near.a - self.near.b;
        let target = match (self.op, self.outcome) {
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => 0.0,
            (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => difference + 1.0,
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => -1.0,
            (BinaryOp::Lt, false) | (BinaryOp::Ge, true) => 0.0,
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => 1.0,
            (BinaryOp::Gt, false) | (BinaryOp::Le, true) => 0.0,
            _ => difference,
        };
        target - difference
    }

    /// The same, and, for numbers that are not whole, just enough to be past the operand.
    pub fn lacks(self) -> Vec<f64> {
        let whole = self.lack();
        let to_be_equal = self.near.b - self.near.a;
        let just = self.near.b.abs().max(1e-3) * 1e-6;
        let mut all = vec![whole];
        if whole != to_be_equal {
            all.push(to_be_equal + just.copysign(whole - to_be_equal));
        }
        all
    }
}

/// A number of the input that may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// One of the numbers.
    Number(usize),
    /// All elements of memory that holds one number.
    Constant(usize),
    /// Blocks along an axis.
    Grid(usize),
    /// Threads of a block along an axis.
    Block(usize),
}

/// The most blocks along an axis, and threads of a block.
const MOST_BLOCKS: f64 = 4096.0;

impl Knob {
    /// All of a case.
    pub fn all(case: &Case, axes: usize) -> Vec<Knob> {
        let constants = (0..case.memories.len()).filter(|&at| matches!(case.memories[at].values, Values::Constant(_)));
        let extents = (0..axes).flat_map(|axis| [Knob::Grid(axis), Knob::Block(axis)]);
        (0..case.numbers.len()).map(Knob::Number).chain(constants.map(Knob::Constant)).chain(extents).collect()
    }

    /// Where it stands.
    pub fn value(self, case: &Case) -> f64 {
        match self {
            Knob::Number(at) => real(case.numbers[at]),
            Knob::Constant(at) => match case.memories[at].values {
                Values::Constant(value) => real(value),
                _ => 0.0,
            },
            Knob::Grid(axis) => f64::from(case.grid[axis]),
            Knob::Block(axis) => f64::from(case.block[axis]),
        }
    }

    /// The case with it set to `value`, if it can be.
    pub fn set(self, signature: &Signature, case: &Case, value: f64) -> Option<Case> {
        let mut case = case.clone();
        match self {
            Knob::Number(at) => case.numbers[at] = number(signature.numbers[at].scalar, value)?,
            Knob::Constant(at) => {
                case.memories[at].values = Values::Constant(number(signature.memories[at].element.scalar, value)?);
            }
            Knob::Grid(axis) if (1.0..=MOST_BLOCKS).contains(&value) => case.grid[axis] = value as u32,
            Knob::Block(axis) if (1.0..=1024.0).contains(&value) => case.block[axis] = value as u32,
            Knob::Grid(_) | Knob::Block(_) => return None,
        }
        (case.block.iter().product::<u32>() <= 1024).then_some(case)
    }
}

/// Cases in which the input has the value that an operand lacks, if an operand is a number of the input.
pub fn copied(signature: &Signature, case: &Case, near: Near, lack: f64) -> Vec<Case> {
    let mut found = Vec::new();
    for (operand, wanted) in [(near.a, near.a + lack), (near.b, near.b - lack)] {
        let at = |knob: &Knob| knob.value(case) == operand;
        let knobs = Knob::all(case, signature.axes).into_iter().filter(at);
        found.extend(knobs.filter_map(|knob| knob.set(signature, case, wanted)));
        for memory in 0..case.memories.len() {
            found.extend(with_element(signature, case, memory, operand, wanted));
        }
    }
    found
}

/// The case in which the first element that is `operand` is `wanted`, and the one in which all are.
fn with_element(signature: &Signature, case: &Case, memory: usize, operand: f64, wanted: f64) -> Vec<Case> {
    let (element, Contents { count, values }) = (signature.memories[memory].element, &case.memories[memory]);
    let scalar = element.scalar;
    let Some(wanted) = number(scalar, wanted).filter(|_| *count <= MOST_LISTED) else { return Vec::new() };
    let bytes = values.contents(element, *count, Language::Cuda);
    let mut numbers: Vec<Number> =
        bytes.chunks_exact(usize::from(scalar.bytes())).map(|bytes| scalar.decode(bytes)).collect();
    let Some(first) = numbers.iter().position(|&number| real(number) == operand) else { return Vec::new() };
    numbers[first] = wanted;
    let with = |values| {
        let mut case = case.clone();
        case.memories[memory].values = values;
        case
    };
    vec![with(Values::List(numbers)), with(Values::Constant(wanted))]
}

/// A case beside this one, to see what a knob does.
pub fn moved(signature: &Signature, case: &Case, knob: Knob) -> Option<(Case, f64)> {
    let value = knob.value(case);
    [1.0, -1.0].into_iter().find_map(|step| Some((knob.set(signature, case, value + step)?, step)))
}

/// Where a knob has to stand, by the slope of the difference: cases on both sides if that is between two numbers.
pub fn along(signature: &Signature, case: &Case, knob: Knob, (lack, slope): (f64, f64)) -> Vec<Case> {
    if slope == 0.0 || !slope.is_finite() {
        return Vec::new();
    }
    let value = knob.value(case) + lack / slope;
    let mut found: Vec<Case> = Vec::new();
    for value in [value.floor(), value.ceil(), value] {
        if let Some(case) = knob.set(signature, case, value).filter(|case| !found.contains(case)) {
            found.push(case);
        }
    }
    found
}

/// As a double.
pub fn real(number: Number) -> f64 {
    match number {
        Number::Integer(value) => value as f64,
        Number::Float(value) => value,
        Number::Truth(value) => f64::from(u8::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generation::case::whole;

    fn turn(op: BinaryOp, outcome: bool, a: f64, b: f64) -> Turn {
        Turn { op, outcome, near: Near { a, b } }
    }

    #[test]
    fn what_a_difference_lacks_follows_from_the_operator() {
        let lack = |op, outcome| turn(op, outcome, 3.0, 10.0).lack();
        assert_eq!(lack(BinaryOp::Eq, true), 7.0);
        assert_eq!(lack(BinaryOp::Gt, true), 8.0);
        assert_eq!(lack(BinaryOp::Lt, false), 7.0);
        assert_eq!(lack(BinaryOp::Le, false), 8.0);
        assert_eq!(turn(BinaryOp::Ge, false, 5.0, 5.0).lack(), -1.0);
        assert_eq!(turn(BinaryOp::Ne, true, 5.0, 5.0).lack(), 1.0);
    }

    #[test]
    fn numbers_that_are_not_whole_need_only_be_past_each_other() {
        let lacks = turn(BinaryOp::Gt, true, 2.0, 1234.5).lacks();
        assert_eq!(lacks[0], 1233.5);
        assert!(lacks[1] > 1232.5 && lacks[1] < 1232.6, "{lacks:?}");
    }

    #[test]
    fn whole_numbers_stay_in_their_type() {
        use crate::execute::launch::Scalar;
        let byte = Scalar::Integer { bytes: 1, signed: false };
        assert_eq!(number(byte, 255.2), Some(Number::Integer(255)));
        assert_eq!((number(byte, 256.0), whole(byte, -1)), (None, None));
    }
}
