//! One launch of a kernel with the memory that it is given.

use super::signature::{Shape, Signature};
use crate::execute::launch::{Argument, Blocks, Buffer, Description, Launch, Number, Scalar, Value, Values};
use std::path::PathBuf;

/// A launch, as far as it is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// The numbers of [`Signature::numbers`].
    pub numbers: Vec<Number>,
    /// What the memory of [`Signature::memories`] holds.
    pub memories: Vec<Contents>,
}

/// What memory holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// Elements.
    pub count: u64,
    /// What they are.
    pub values: Values,
}

impl Case {
    /// Threads along x of all blocks.
    pub fn threads(&self) -> u64 {
        u64::from(self.grid[0]) * u64::from(self.block[0])
    }

    /// How much work it is, roughly: threads, then numbers, for whoever prefers the smaller of two cases.
    pub fn size(&self) -> (u64, u64) {
        let extents = self.grid.iter().chain(&self.block).map(|&extent| u64::from(extent));
        (extents.product(), self.memories.iter().map(|memory| memory.count).sum())
    }

    /// It in words: extents and numbers.
    pub fn words(&self, signature: &Signature) -> String {
        let plain = |extents: [u32; 3]| {
            let used = extents.iter().rposition(|&extent| extent > 1).map_or(1, |last| last + 1);
            extents[..used].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
        };
        let mut words = format!("grid {}, block {}", plain(self.grid), plain(self.block));
        for (slot, number) in signature.numbers.iter().zip(&self.numbers) {
            words += &format!(", {} = {number}", slot.name);
        }
        words
    }

    /// A description of several cases of one kernel, one launch for each; buffers of the second and later ones are named after their launch.
    pub fn description(signature: &Signature, cases: &[&Case]) -> Description {
        let mut description = Description { path: PathBuf::new(), buffers: Vec::new(), launches: Vec::new() };
        for (number, case) in cases.iter().enumerate() {
            let first = description.buffers.len();
            for (memory, contents) in signature.memories.iter().zip(&case.memories) {
                let name = if number == 0 { memory.name.clone() } else { format!("{}-{}", memory.name, number + 1) };
                let (element, count, values) = (memory.element, contents.count, contents.values.clone());
                description.buffers.push(Buffer { name, element, count, values, place: None });
            }
            let arguments = signature.parameters.iter().map(|(name, shape)| case.argument(name, shape, first));
            description.launches.push(Launch {
                kernel: signature.kernel.clone(),
                grid: case.grid,
                block: case.block,
                shared: case.shared,
                blocks: if signature.is_cooperative { Blocks::Cooperative } else { Blocks::Independent },
                cluster: None,
                arguments: arguments.collect(),
                place: None,
            });
        }
        description
    }

    fn argument(&self, name: &str, shape: &Shape, first: usize) -> Argument {
        let value = match shape {
            Shape::Number(at) => Value::Number(self.numbers[*at]),
            Shape::Numbers(at, count) => Value::Lanes(self.numbers[*at..*at + *count].to_vec()),
            Shape::Memory(at) => Value::Buffer { buffer: first + at, offset: 0 },
            Shape::Local(bytes) => Value::Local { bytes: *bytes },
            Shape::Members(members) => {
                Value::Fields(members.iter().map(|(name, shape)| self.argument(name, shape, first)).collect())
            }
        };
        Argument { name: name.to_owned(), value, place: None }
    }
}

/// A number of that type which is as near to `value` as it can be.
pub fn number(scalar: Scalar, value: f64) -> Option<Number> {
    match scalar {
        Scalar::Float { .. } => Some(Number::Float(value)),
        _ => whole(scalar, value.round() as i128),
    }
}

/// A whole number of that type, if it has it.
pub fn whole(scalar: Scalar, value: i128) -> Option<Number> {
    let number = match scalar {
        Scalar::Bool => Number::Truth(value != 0),
        Scalar::Float { .. } => Number::Float(value as f64),
        Scalar::Integer { .. } => Number::Integer(value),
    };
    scalar.holds(number).then_some(number)
}
