//! Logs that are written: under another name until they are whole.

use super::ShardError;
use crate::trace::format::Totals;
use crate::trace::format::chunk::{ChunkKind, framed, head};
use crate::trace::format::totals::{write_end, write_finished};
use rustc_hash::FxHashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A log of which some chunks have been written.
pub(super) struct LogFile {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
    ordinal: u64,
    /// Accesses by launch.
    accesses: FxHashMap<u32, u64>,
}

impl LogFile {
    /// A log without chunks, which shall be at `path`.
    pub(super) fn new(path: &Path) -> Result<Self, ShardError> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut named = tempfile::Builder::new();
        named.prefix(".raceproof-");
        // As any other program would make it: who may read it is for the user's mask to say.
        #[cfg(unix)]
        named.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = named.tempfile_in(directory);
        let file = file.map_err(|reason| ShardError::Write { path: path.to_owned(), reason })?;
        let out = BufWriter::with_capacity(1 << 18, file);
        let mut log = LogFile { out, path: path.to_owned(), ordinal: 0, accesses: FxHashMap::default() };
        log.write(&head())?;
        Ok(log)
    }

    /// Adds a chunk that counts no accesses.
    pub(super) fn chunk(&mut self, kind: ChunkKind, payload: &[u8]) -> Result<(), ShardError> {
        let bytes = framed(kind, self.ordinal, payload);
        self.ordinal += 1;
        self.write(&bytes)
    }

    /// Adds accesses of a launch.
    pub(super) fn accesses(&mut self, launch: u32, count: u64, payload: &[u8]) -> Result<(), ShardError> {
        *self.accesses.entry(launch).or_default() += count;
        self.chunk(ChunkKind::Accesses, payload)
    }

    /// A launch ends; its accesses are those that were written.
    pub(super) fn finished(&mut self, launch: u32, made: Totals) -> Result<(), ShardError> {
        let accesses = self.accesses.get(&launch).copied().unwrap_or(0);
        self.chunk(ChunkKind::Finished, &write_finished(launch, &Totals { accesses, ..made }))
    }

    /// The log ends; gives its accesses.
    pub(super) fn end(&mut self, exit_status: i64) -> Result<u64, ShardError> {
        let accesses = self.accesses.values().sum();
        self.chunk(ChunkKind::End, &write_end(exit_status, accesses))?;
        Ok(accesses)
    }

    /// Puts it where it shall be.
    pub(super) fn keep(self) -> Result<(), ShardError> {
        let LogFile { out, path, .. } = self;
        let kept = out.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|file| {
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)
        });
        kept.map(drop).map_err(|reason| ShardError::Write { path, reason })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ShardError> {
        self.out.write_all(bytes).map_err(|reason| ShardError::Write { path: self.path.clone(), reason })
    }
}
