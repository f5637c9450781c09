//! What a kernel takes: its parameters, flattened into numbers and memory.

use crate::execute::launch::host::{ParameterKind, Pointee, Target};
use crate::execute::launch::record::{Member, Record};
use crate::execute::launch::{ElementType, Scalar};
use crate::source::Language;

/// A kernel and what a launch of it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// How a launch description names it.
    pub kernel: String,
    /// Its parameters, in order, by name.
    pub parameters: Vec<(String, Shape)>,
    /// The numbers among them.
    pub numbers: Vec<Slot>,
    /// The memory that pointers lead to; each has its own.
    pub memories: Vec<Memory>,
    /// Axes along which it looks at ids or extents: 1 to 3.
    pub axes: usize,
    /// Whether it has shared memory whose size the launch decides.
    pub has_dynamic_shared: bool,
    /// Whether its blocks may wait for each other.
    pub is_cooperative: bool,
    /// Extents that its contract wants to be 1: those of the grid, then those of a block.
    pub ones: [[bool; 3]; 2],
    /// What it is written in.
    pub language: Language,
}

/// How a parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A number, by its place in [`Signature::numbers`].
    Number(usize),
    /// Several, one behind the other: the first, and how many.
    Numbers(usize, usize),
    /// A pointer, by the place of its memory in [`Signature::memories`].
    Memory(usize),
    /// A pointer to so many bytes of local memory, which hold nothing.
    Local(u64),
    /// The members of a struct.
    Members(Vec<(String, Shape)>),
}

/// A number that a launch gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Which, in words: `n`, `image.width`.
    pub name: String,
    /// Its type.
    pub scalar: Scalar,
}

/// Memory that a launch gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Which, in words: `x`, `image.pixels`.
    pub name: String,
    /// What its elements are.
    pub element: ElementType,
    /// How many elements belong together: more than one where the pointer leads to structs, which are given as bytes.
    pub together: u64,
}

/// Local memory for each parameter that wants some: what all devices have for several.
const LOCAL_BYTES: u64 = 8 * 1024;

/// The most numbers of an array in a struct that are varied.
const MOST_OF_AN_ARRAY: u64 = 64;

impl Signature {
    /// Of a kernel as a program has it; nothing if it takes something that cannot be given. Parameters of these names are pointers to
    /// local memory.
    pub fn of(target: &Target, kernel: &str, (language, local): (Language, &[String])) -> Option<Signature> {
        let mut signature = Signature {
            kernel: kernel.to_owned(),
            parameters: Vec::new(),
            numbers: Vec::new(),
            memories: Vec::new(),
            axes: 1,
            has_dynamic_shared: false,
            is_cooperative: false,
            ones: [[false; 3]; 2],
            language,
        };
        for parameter in &target.parameters {
            let shape = match local.contains(&parameter.name) {
                true => Shape::Local(LOCAL_BYTES),
                false => signature.shape(&parameter.name, &parameter.kind)?,
            };
            signature.parameters.push((parameter.name.clone(), shape));
        }
        Some(signature)
    }

    fn shape(&mut self, name: &str, kind: &ParameterKind) -> Option<Shape> {
        match kind {
            ParameterKind::Scalars { scalar, lanes: 1 } => Some(Shape::Number(self.slots(name, *scalar, 1))),
            ParameterKind::Scalars { scalar, lanes } => {
                let lanes = usize::from(*lanes);
                Some(Shape::Numbers(self.slots(name, *scalar, lanes), lanes))
            }
            ParameterKind::Array { scalar, count } if *count <= MOST_OF_AN_ARRAY => {
                let count = *count as usize;
                Some(Shape::Numbers(self.slots(name, *scalar, count), count))
            }
            ParameterKind::Pointer(pointee) => {
                let bytes = ElementType { scalar: Scalar::Integer { bytes: 1, signed: false }, lanes: 1 };
                let (element, together) = match pointee {
                    Pointee::Numbers(element) => (*element, 1),
                    Pointee::Bytes(count) => (bytes, *count),
                    Pointee::Unknown => (bytes, 1),
                };
                self.memories.push(Memory { name: name.to_owned(), element, together });
                Some(Shape::Memory(self.memories.len() - 1))
            }
            ParameterKind::Struct(record) => self.members(name, record),
            _ => None,
        }
    }

    /// Of members that share their bytes, as those of a union do, the first is given.
    fn members(&mut self, name: &str, record: &Record) -> Option<Shape> {
        let mut given: Vec<&Member> = Vec::new();
        let mut shapes = Vec::new();
        for member in &record.members {
            if given.iter().any(|other| other.overlaps(member)) {
                continue;
            }
            given.push(member);
            shapes.push((member.name.clone(), self.shape(&format!("{name}.{}", member.name), &member.kind)?));
        }
        Some(Shape::Members(shapes))
    }

    fn slots(&mut self, name: &str, scalar: Scalar, count: usize) -> usize {
        let first = self.numbers.len();
        self.numbers.extend((0..count).map(|_| Slot { name: name.to_owned(), scalar }));
        first
    }
}
