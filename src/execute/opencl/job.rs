//! What a worker is told, and what it answers; both are files in the run's directory.

use super::records::Extents;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io;
use std::path::{Path, PathBuf};

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
    /// There is no driver, or it has no device.
    NoDriver(String),
    /// The device's compiler does not accept the text; what it says.
    Refused(String),
    /// A launch could not be done, or its log could not be kept.
    Failed(String),
}

/// Writes a message to a file.
pub(super) fn write(path: &Path, message: &impl Serialize) -> io::Result<()> {
    std::fs::write(path, postcard::to_stdvec(message).map_err(io::Error::other)?)
}

/// Reads a message.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    postcard::from_bytes(&std::fs::read(path)?).map_err(io::Error::other)
}
