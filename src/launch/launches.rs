//! Launches of kernels, as far as they are known: what host code leaves for all who come after it.

use crate::calculus::GeometryVar;
use crate::resolve::program::{FunctionId, Program};
use crate::source::Span;

/// A program, and what is known of the launches of its kernels. Which parameters they give one pointer, the kernels
/// know themselves.
#[derive(Debug)]
pub struct Launched {
    /// The program.
    pub program: Program,
    launches: Vec<Launch>,
}

impl Launched {
    /// A program with the launches in its host code.
    pub fn new(program: Program, launches: Vec<Launch>) -> Launched {
        let mut launched = Launched { program, launches: Vec::new() };
        launches.into_iter().for_each(|launch| launched.add(launch));
        launched
    }

    /// The launches, those in its host code first, in source order.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// The launches of a kernel.
    pub fn launches_of(&self, kernel: FunctionId) -> impl Iterator<Item = &Launch> {
        self.launches.iter().filter(move |launch| launch.kernel == kernel)
    }

    /// Adds a launch.
    pub fn add(&mut self, launch: Launch) {
        self.program.functions[launch.kernel].same_pointers.extend(&launch.same_pointers);
        self.launches.push(launch);
    }

    /// Puts these launches in the place of all that are known.
    pub fn replace(&mut self, launches: Vec<Launch>) {
        for launch in self.launches.drain(..) {
            self.program.functions[launch.kernel].same_pointers.clear();
        }
        launches.into_iter().for_each(|launch| self.add(launch));
    }
}

/// A launch of a kernel from host code.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's instance.
    pub kernel: FunctionId,
    /// Blocks of the grid, as far as they are constants; `None` for a size that is not known.
    pub grid: [Option<u64>; 3],
    /// Threads of a block, likewise.
    pub block: [Option<u64>; 3],
    /// Arguments that are constants, by position of the kernel's parameters.
    pub args: Vec<Option<i128>>,
    /// Bytes of dynamically sized shared memory; `None` if not known, zero if not written.
    pub shared_bytes: Option<u64>,
    /// How sizes and arguments are related, where they are no constants.
    pub relations: Vec<Relation>,
    /// Positions of parameters that are given one and the same pointer, the earlier one first.
    pub same_pointers: Vec<(usize, usize)>,
    /// How the sizes of the grid and of a block are given, where they are not known.
    pub given: [Given; 2],
    /// Range of the launch.
    pub span: Span,
}

/// How a launch gives a size that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Given {
    /// Axis by axis: where one is not known it may have any extent, but the others are what they are (`dim3(8, n)`).
    ByAxis,
    /// As a whole that is not understood.
    AsAWhole,
    /// Nothing is known of it: the kernel is named at this place in a way that is not followed.
    Unread,
    /// Out of sight: the kernel may be launched where nobody looks, or who launches it is told the size there.
    Elsewhere,
}

/// What a launch says of its sizes and arguments, over the integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A sum of products with factors and a number is not negative.
    NotNegative {
        /// The products with their factors.
        terms: Vec<(i128, Vec<Term>)>,
        /// What is added to them.
        plus: i128,
    },
    /// It is zero or a power of two.
    Power(Term),
    /// It is a multiple of that.
    Multiple(Term, i128),
}

/// What a [`Relation`] speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A size of the launch.
    Size(GeometryVar),
    /// A parameter of the kernel, by position.
    Param(usize),
}
