//! What kernels ask of the contents of memory, and whether a case keeps it.
//!
//! Cases that break such a contract are kept apart: what they reach, no test that keeps it can reach, and what they compute may hang on a race.
//!
//! Deliberately absent: conditions on extents and numbers, of which cases try both sides; contracts themselves, which whoever searches knows.

use super::approach::real;
use super::case::Case;
use super::signature::Signature;
use crate::source::Language;

/// A condition on what memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataContract {
    /// No two elements of this memory are equal, by its place in [`Signature::memories`].
    Distinct(usize),
    /// No element of it is less than the one before.
    Monotone(usize),
}

impl DataContract {
    /// As a contract says it; nothing if it says something else, or of memory that the signature has not.
    pub fn named(text: &str, signature: &Signature) -> Option<DataContract> {
        let (what, array) = text.strip_suffix(')')?.split_once('(')?;
        let memory = signature.memories.iter().position(|memory| memory.name == array)?;
        match what {
            "distinct" => Some(DataContract::Distinct(memory)),
            "monotone" => Some(DataContract::Monotone(memory)),
            _ => None,
        }
    }

    /// Whether a case keeps it.
    pub fn is_kept(self, signature: &Signature, case: &Case) -> bool {
        let (DataContract::Distinct(memory) | DataContract::Monotone(memory)) = self;
        let (contents, element) = (&case.memories[memory], signature.memories[memory].element);
        let bytes = contents.values.contents(element, contents.count, Language::Cuda);
        let each = bytes.chunks_exact(usize::from(element.scalar.bytes()));
        let mut numbers: Vec<f64> = each.map(|bytes| real(element.scalar.decode(bytes))).collect();
        if let DataContract::Distinct(_) = self {
            numbers.sort_by(f64::total_cmp);
            return numbers.windows(2).all(|pair| pair[0] != pair[1]);
        }
        numbers.is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::launch::{ElementType, Number, Scalar, Values};
    use crate::generation::{Contents, Memory};

    #[test]
    fn contents_are_held_against_a_contract() {
        let element = ElementType { scalar: Scalar::Integer { bytes: 4, signed: true }, lanes: 1 };
        let signature = Signature {
            kernel: "k".to_owned(),
            parameters: Vec::new(),
            numbers: Vec::new(),
            memories: vec![Memory { name: "idx".to_owned(), element, together: 1 }],
            axes: 1,
            has_dynamic_shared: false,
            is_cooperative: false,
            ones: [[false; 3]; 2],
            language: Language::Cuda,
        };
        let case = |numbers: &[i128]| Case {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            numbers: Vec::new(),
            memories: vec![Contents {
                count: numbers.len() as u64,
                values: Values::List(numbers.iter().map(|&number| Number::Integer(number)).collect()),
            }],
        };
        let distinct = DataContract::named("distinct(idx)", &signature).expect("it is one");
        let monotone = DataContract::named("monotone(idx)", &signature).expect("it is one");
        let keeps =
            |numbers: &[i128]| [distinct, monotone].map(|contract| contract.is_kept(&signature, &case(numbers)));
        assert_eq!(keeps(&[3, 1, 2]), [true, false]);
        assert_eq!(keeps(&[1, 1, 2]), [false, true]);
        assert_eq!(keeps(&[-1, 0, 7]), [true, true]);
        assert_eq!(DataContract::named("distinct(other)", &signature), None);
        assert_eq!(DataContract::named("n >= gridDim.x", &signature), None);
    }
}
