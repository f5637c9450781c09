//! What a worker is told, and what it answers; both are files in the run's directory.

use super::records::Extents;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io;
use std::path::{Path, PathBuf};

/// What a worker is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Work {
    /// One run.
    Run(Job),
    /// Many launches of the same kernels, each of which it is given by the path of a [`Try`], a line each.
    Trials(Offer),
}

/// Kernels of which many launches are tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Offer {
    /// The text that logs accesses, and the one that counts what is reached.
    pub(super) texts: [String; 2],
    /// Options of the device's compiler for each.
    pub(super) options: [String; 2],
    /// Words of the counts, without groups that part.
    pub(super) words: usize,
}

/// A launch that is tried, with what its buffers hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Try {
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) launch: Launch,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Became {
    /// It ran, and counted this.
    Counted(Vec<u32>),
    /// It needs that buffer to have so many bytes.
    Needs { buffer: usize, bytes: u64 },
    /// Nobody would keep it, for this reason.
    Failed(String),
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// Instrumented OpenCL C.
    pub(super) text: String,
    /// Options of the device's compiler.
    pub(super) options: String,
    /// The table of sites.
    pub(super) sites: String,
    /// Places of barriers by number: file and line.
    pub(super) barriers: Vec<(String, u32)>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) launches: Vec<Launch>,
    /// Where the log goes; nothing is logged without.
    pub(super) log: Option<PathBuf>,
    /// Where what is met on the way is told.
    pub(super) report: PathBuf,
}

/// Memory of the device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) contents: Vec<u8>,
}

/// A launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) kernel: String,
    /// Where the kernel is defined: file and line.
    pub(super) place: (String, u32),
    pub(super) extents: Extents,
    /// In the order of the parameters.
    pub(super) arguments: Vec<Argument>,
    /// Local variables of the kernel.
    pub(super) locals: Vec<String>,
    /// Variables of the program in global memory.
    pub(super) globals: Vec<String>,
}

/// What a parameter is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) value: Value,
}

/// A value for a parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Value {
    /// A pointer to `offset` bytes behind what the kernel is given, which is the buffer from `first_byte` on.
    Buffer { number: usize, offset: u64, first_byte: u64 },
    /// The null pointer.
    Null,
    /// So many bytes of local memory.
    Local(u64),
    /// Bytes, and how they read.
    Bytes(Vec<u8>, String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// All launches are done.
    Done,
    /// The texts are built; launches may be tried.
    Ready,
    /// There is no driver, or it has no device.
    NoDriver(String),
    /// The device's compiler does not accept the text; what it says.
    Refused(String),
    /// A launch could not be done, or its log could not be kept.
    Failed(String),
}

/// Writes a message to a file, which is there when it is whole.
pub(super) fn write(path: &Path, message: &impl Serialize) -> io::Result<()> {
    let beside = path.with_extension("part");
    std::fs::write(&beside, postcard::to_stdvec(message).map_err(io::Error::other)?)?;
    std::fs::rename(beside, path)
}

/// Reads a message.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    postcard::from_bytes(&std::fs::read(path)?).map_err(io::Error::other)
}
