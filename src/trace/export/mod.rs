//! A log as tables in files of Parquet: `docs/LOGS.md` says what their columns mean.
//!
//! - [`row`]: an access with all that orders it, and how it is kept on disk.
//! - [`sort`]: any number of rows in order, within bounds of memory.
//! - [`tables`]: the columns of every table.
//! - [`file`]: tables as files.
//!
//! # What is guaranteed
//! - Every access of the log is a row, as often as it was made. Accesses are sorted by launch, space and address.
//! - Only a complete log of a whole run is exported: whoever asks the tables need not ask what is missing.
//! - The same log gives the same bytes, whatever the memory and the number of threads.
//! - All files are there, or none is changed.
//!
//! Deliberately absent: reading tables, and conflicts: the page has a query for these.

mod file;
mod row;
mod sort;
mod tables;
#[cfg(test)]
mod tests;

use super::format::bytes::Malformed;
use super::format::chunk::HeadError;
use super::format::log::ChunkPlace;
use super::format::{AccessesHead, Log, Problem, read_log, synchronisations};
use file::TableFile;
use row::{Gathering, Row};
use sort::Sorter;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The version of the tables, in the metadata of every file under [`SCHEMA_KEY`].
pub const SCHEMA: &str = "raceproof.log.v1";

/// See [`SCHEMA`].
pub const SCHEMA_KEY: &str = "raceproof.schema";

/// Rows that are written together.
const GROUP: usize = 1 << 18;

/// Why a log was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It is no log.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// It is not complete.
    #[error("the log is incomplete ({0}); `raceproof trace check` checks what is whole of it")]
    Incomplete(Problem),
    /// It is a part of one.
    #[error("the log is a shard: merge all of them first")]
    IsShard,
    /// It is another one than at first.
    #[error("the log changed while it was exported; try again when the program has ended")]
    Changed,
    /// It cannot be read any more.
    #[error("cannot read the log: {0}")]
    Read(io::Error),
    /// What does not fit into memory cannot be put on disk.
    #[error("cannot use a temporary file ({0}); set TMPDIR to a directory with room, or allow more --memory")]
    Temporary(io::Error),
    /// A table cannot be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// No threads.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl From<Malformed> for ExportError {
    fn from(_: Malformed) -> Self {
        ExportError::Changed
    }
}

/// Writes the tables of the log at `path` into a directory, which is there; gives their names and rows.
pub fn export(
    path: &Path,
    directory: &Path,
    memory: u64,
    jobs: Option<usize>,
) -> Result<Vec<(PathBuf, u64)>, ExportError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build()?;
    pool.install(|| {
        let mut from = File::open(path).map_err(HeadError::Io)?;
        let log = read_log(&mut from)?;
        if let Some(problem) = log.problems.first() {
            return Err(ExportError::Incomplete(problem.clone()));
        }
        if log.shard.is_some() {
            return Err(ExportError::IsShard);
        }
        let tables = vec![
            small(directory, "launches", &log.launches.iter().collect::<Vec<_>>(), tables::launches)?,
            small(directory, "allocations", &log.allocations.iter().collect::<Vec<_>>(), tables::allocations)?,
            small(directory, "sites", &log.sites.values().collect::<Vec<_>>(), tables::sites)?,
            written_synchronisations(&log, &mut from, directory)?,
            written_accesses(&log, &mut from, directory, memory)?,
        ];
        tables.into_iter().map(TableFile::keep).collect()
    })
}

/// A table whose rows are in memory.
fn small<R>(
    directory: &Path,
    name: &'static str,
    rows: &[R],
    columns: impl Fn(&[R]) -> Vec<tables::Column>,
) -> Result<TableFile, ExportError> {
    let mut table = TableFile::new(directory, name, &columns(&[]), 1)?;
    rows.chunks(GROUP).try_for_each(|group| table.group(columns(group)))?;
    Ok(table)
}

/// Synchronisations as they stand in the log, chunk by chunk.
fn written_synchronisations(log: &Log, from: &mut File, directory: &Path) -> Result<TableFile, ExportError> {
    let mut table = TableFile::new(directory, "synchronisations", &tables::synchronisations(&[]), 0)?;
    for chunk in &log.synchronisations {
        let (launch, all) = synchronisations::read(&payload(chunk, from)?)?;
        let rows: Vec<_> = all.iter().map(|one| (launch, one)).collect();
        rows.chunks(GROUP).try_for_each(|group| table.group(tables::synchronisations(group)))?;
    }
    Ok(table)
}

fn written_accesses(log: &Log, from: &mut File, directory: &Path, memory: u64) -> Result<TableFile, ExportError> {
    let mut sorter = Sorter::new(memory);
    for chunk in &log.chunks {
        let payload = payload(chunk, from)?;
        let (head, steps) = AccessesHead::read(&payload)?;
        let mut gathering = Gathering::new(&head, log)?;
        head.visit(steps, &mut gathering)?;
        sorter.add(gathering.rows)?;
    }
    let mut table = TableFile::new(directory, "accesses", &tables::accesses(&[]), 3)?;
    let mut group: Vec<Row> = Vec::with_capacity(GROUP);
    sorter.each(|row| {
        group.push(row);
        if group.len() == GROUP {
            table.group(tables::accesses(&group))?;
            group.clear();
        }
        Ok(())
    })?;
    table.group(tables::accesses(&group))?;
    Ok(table)
}

fn payload(chunk: &ChunkPlace, from: &mut File) -> Result<Vec<u8>, ExportError> {
    chunk.payload(from).map_err(ExportError::Read)
}
