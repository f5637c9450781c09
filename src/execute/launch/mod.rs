//! The launch description: the memory and the launches of a run of kernels that come without a program around them.
//!
//! A file in TOML, `launch.toml` by custom:
//!
//! ```toml
//! [[buffer]]
//! name = "x"                       # how launches refer to it
//! type = "float"                   # of an element, as in C: char … double, unsigned, size_t, uint8_t, half, vectors (float4)
//! count = 1024                     # elements; may be left out where `list` or `npy` give it
//! values = { range = [0, 1024] }   # see below; absent: zeros
//!
//! [[launch]]                       # in the order in which they run
//! kernel = "saxpy"                 # a template instance: "reduce<float, 64>"
//! grid = [4]                       # blocks (work-groups) in x, y, z
//! block = [256]                    # threads (work-items) of one
//! shared = 0                       # bytes of dynamic shared memory (CUDA); absent: none
//! cooperative = true               # blocks may wait for each other (CUDA); absent: they may not
//! cluster = [2]                    # blocks of a cluster (CUDA); absent: as the kernel states, or one
//! arguments = { n = 1024, a = 2.0, x = { buffer = "x" }, y = { buffer = "y", offset = 16 }, tile = { local = 4096 } }
//! ```
//!
//! | `values` | elements |
//! |---|---|
//! | `{ constant = 1 }` | all the same |
//! | `{ range = [low, high] }` | evenly from `low` to just below `high`: element `i` of `n` is `low + i * (high - low) / n`, rounded down in integer types |
//! | `{ seed = 7, low = 0, high = 10 }` | at random from `low` to just below `high`, always the same for one seed; absent: from 0 to 1 |
//! | `{ list = [1, 2] }` | one by one; of vectors lane by lane, or a list for each |
//! | `{ npy = "x.npy" }` | those of a file of NumPy's, whose path is relative to the description |
//!
//! Arguments go by the names of the parameters. A number, `true` or `false` is a scalar; a list of numbers is a vector;
//! `offset` counts elements of the buffer; `local` is the bytes of a `__local` parameter of OpenCL; the text `"null"` is
//! the null pointer. All lanes of a vector count in `range` and `seed`. A struct is a table of its members, all of them (one of those of a union), each
//! given like an argument; a list of numbers is also a member that is an array:
//!
//! ```toml
//! arguments.image = { width = 64, pixels = { buffer = "x" }, origin = { x = 0, y = 0 }, weights = [1, 2, 1] }
//! ```
//!
//! Guarantees: the same file gives the same bytes, on every machine; what is wrong is told with the file, the line and
//! the key; nothing that is written there is passed over.
//!
//! [`host`] makes a program of CUDA of it, [`cases`] one that takes its launches when it runs. Deliberately absent: what kernels there are and what their parameters are
//! called; whoever runs them says so.

pub mod cases;
mod element;
mod error;
pub mod host;
mod npy;
mod reader;
pub mod record;
mod values;
mod write;

pub use element::{ElementType, Number, Scalar};
pub use error::{DescriptionError, Problem};
pub use values::{Random, Values};

use crate::source::{Language, LineColumn};
use std::path::{Path, PathBuf};

/// What to allocate and what to launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The file.
    pub path: PathBuf,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Its launches, in order; there is at least one.
    pub launches: Vec<Launch>,
}

/// Memory of the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// What arguments call it.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// How many there are; at least one.
    pub count: u64,
    /// What they are.
    pub values: Values,
    /// Where it is described, if it is in a file.
    pub place: Option<LineColumn>,
}

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The kernel, with template arguments if it is an instance.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Whether its blocks may wait for each other.
    pub blocks: Blocks,
    /// Blocks of a cluster, if the launch says how many.
    pub cluster: Option<[u32; 3]>,
    /// What its parameters are given, in the order of the file.
    pub arguments: Vec<Argument>,
    /// Where the kernel is named.
    pub place: Option<LineColumn>,
}

/// How the blocks of a launch stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// None waits for another.
    Independent,
    /// All run at once and may pass barriers of the grid.
    Cooperative,
}

/// What one parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name of the parameter.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it is given.
    pub place: Option<LineColumn>,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar.
    Number(Number),
    /// A vector, lane by lane.
    Lanes(Vec<Number>),
    /// A pointer into a buffer.
    Buffer {
        /// The number of the buffer in [`Description::buffers`].
        buffer: usize,
        /// Elements before the one that it points to.
        offset: u64,
    },
    /// A pointer that leads nowhere.
    Null,
    /// Local memory of OpenCL.
    Local {
        /// How much.
        bytes: u64,
    },
    /// A struct, by its members.
    Fields(Vec<Argument>),
}

impl Description {
    /// Its text, which [`parse`] reads back; what was read from files of NumPy's stands in it byte by byte.
    pub fn text(&self) -> String {
        write::text(self)
    }

    /// An error at a place of this description.
    pub fn error(&self, place: Option<LineColumn>, key: impl Into<String>, problem: Problem) -> DescriptionError {
        DescriptionError { path: self.path.clone(), place, key: key.into(), problem: Box::new(problem) }
    }
}

impl Buffer {
    /// Bytes that it takes.
    pub fn bytes(&self, language: Language) -> u64 {
        self.count * self.element.bytes(language)
    }

    /// Whether it holds nothing but zeros, which need not be copied.
    pub fn is_zero(&self) -> bool {
        self.values == Values::Zero
    }

    /// What it holds, byte by byte (little-endian); as many as [`Buffer::bytes`].
    pub fn contents(&self, language: Language) -> Vec<u8> {
        self.values.contents(self.element, self.count, language)
    }
}

/// Reads a description.
pub fn read(path: &Path) -> Result<Description, DescriptionError> {
    let failed = |problem| DescriptionError {
        path: path.to_path_buf(),
        place: None,
        key: String::new(),
        problem: Box::new(problem),
    };
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Err(failed(Problem::Syntax("it is not UTF-8 text".to_owned()))),
        Err(cause) => return Err(failed(Problem::Unreadable(cause.to_string()))),
    };
    parse(path, &text)
}

/// Reads the text of a description; files that it names are sought beside `path`.
pub fn parse(path: &Path, text: &str) -> Result<Description, DescriptionError> {
    reader::parse(path, text)
}

#[cfg(test)]
mod tests;
