//! The chunks of a log in order, some at a time, so that threads have work and memory is bounded.

use super::{Options, ShardError};
use crate::trace::format::chunk::{Chunk, Chunks, Next};
use crate::trace::format::{Log, read_log};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// What the accesses of a chunk take while they are put in order, with what they become.
const CHUNK: u64 = 96 << 20;

/// Threads, and chunks that are held at once: more threads than memory has room for do not help.
pub(super) fn jobs(options: &Options) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let room = (options.memory / CHUNK).max(1);
    options.jobs.unwrap_or(cores).clamp(1, room as usize)
}

/// What is in a log beside its accesses; only if all of it is whole.
pub(super) fn whole_log(path: &Path) -> Result<Log, ShardError> {
    let head = |reason| ShardError::Head { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| head(error.into()))?;
    let log = read_log(file).map_err(head)?;
    match log.problems.first() {
        Some(problem) => Err(ShardError::Incomplete { path: path.to_owned(), problem: problem.clone() }),
        None => Ok(log),
    }
}

/// The chunks of a log that has been found whole.
pub(super) struct Batches<'a> {
    path: &'a Path,
    chunks: Chunks<BufReader<File>>,
}

impl<'a> Batches<'a> {
    pub(super) fn of(path: &'a Path) -> Result<Self, ShardError> {
        let head = |reason| ShardError::Head { path: path.to_owned(), reason };
        let file = File::open(path).map_err(|error| head(error.into()))?;
        let chunks = Chunks::new(BufReader::with_capacity(1 << 16, file)).map_err(head)?;
        Ok(Batches { path, chunks })
    }

    /// As many chunks as there are left, `most` at most.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<Chunk>, ShardError> {
        let mut batch = Vec::new();
        while batch.len() < most {
            match self.chunks.next() {
                Ok(Next::Chunk(chunk)) => batch.push(chunk),
                Ok(Next::End) => break,
                Ok(Next::Damage { .. }) => return Err(ShardError::Changed(self.path.to_owned())),
                Err(error) => return Err(ShardError::Head { path: self.path.to_owned(), reason: error.into() }),
            }
        }
        Ok(batch)
    }
}
