//! Splits a log by address.

use super::balance::Balance;
use super::batch::{Batches, jobs, whole_log};
use super::file::LogFile;
use super::rows::Rows;
use super::{Options, ShardError, Stale};
use crate::trace::format::bytes::{Cursor, checksum};
use crate::trace::format::chunk::{Chunk, ChunkKind};
use crate::trace::format::{AccessesHead, Log, Shard, Whole, totals};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The name of a shard's file: `run.shard-01-of-16.trace` of `run.trace`. `number` counts from 0.
pub fn file_name(log: &Path, number: u32, shards: u32) -> String {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let stem = text(log.file_stem()).unwrap_or_default();
    let extension = text(log.extension()).unwrap_or_else(|| "trace".to_owned());
    let digits = shards.to_string().len();
    format!("{stem}.shard-{:0digits$}-of-{shards}.{extension}", number + 1)
}

/// Splits the log at `path` into as many shards as there are paths in `to`; gives the accesses of each.
pub fn split(path: &Path, to: &[PathBuf], options: &Options) -> Result<Vec<u64>, ShardError> {
    let jobs = jobs(options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    pool.install(|| {
        let log = whole_log(path)?;
        if log.shard.is_some() {
            return Err(ShardError::IsShard(path.to_owned()));
        }
        let whole = cut(path, &log, to.len() as u32, jobs)?;
        let mut files = to.iter().map(|path| LogFile::new(path)).collect::<Result<Vec<_>, ShardError>>()?;
        for (number, file) in (0..).zip(&mut files) {
            file.chunk(ChunkKind::Shard, &Shard { number, whole: whole.clone() }.write())?;
        }
        let counts = deal(path, &whole, &mut files, jobs)?;
        files.into_iter().try_for_each(LogFile::keep)?;
        Ok(counts)
    })
}

/// Where the log is cut, and what it is known by.
fn cut(path: &Path, log: &Log, shards: u32, jobs: usize) -> Result<Whole, ShardError> {
    let balance = Balance::new(log);
    let mut batches = Batches::of(path)?;
    let mut identity = 0;
    loop {
        let batch = batches.next(jobs)?;
        if batch.is_empty() {
            break;
        }
        let accesses = batch.par_iter().filter(|chunk| chunk.kind == ChunkKind::Accesses);
        accesses.try_for_each(|chunk| balance.count(&chunk.payload)).map_err(|Stale| changed(path))?;
        identity = batch.iter().fold(identity, identified);
    }
    let accesses = log.chunks.iter().map(|chunk| chunk.accesses).sum();
    Ok(Whole { identity, accesses, borders: balance.borders(shards) })
}

fn identified(identity: u64, chunk: &Chunk) -> u64 {
    checksum(checksum(identity, &(chunk.kind as u64).to_le_bytes()), &chunk.payload)
}

fn changed(path: &Path) -> ShardError {
    ShardError::Changed(path.to_owned())
}

/// A chunk of accesses, dealt out: its launch, and a payload for each shard.
type Dealt = (u32, Vec<(u64, Vec<u8>)>);

/// Writes every chunk to the shards. Gives their accesses.
fn deal(path: &Path, whole: &Whole, files: &mut [LogFile], jobs: usize) -> Result<Vec<u64>, ShardError> {
    let mut batches = Batches::of(path)?;
    let mut identity = 0;
    let mut counts = Vec::new();
    loop {
        let batch = batches.next(jobs)?;
        if batch.is_empty() {
            break;
        }
        identity = batch.iter().fold(identity, identified);
        let dealt: Result<Vec<Option<Dealt>>, Stale> =
            batch.par_iter().map(|chunk| dealt(chunk, whole, files.len())).collect();
        for (chunk, dealt) in batch.iter().zip(dealt.map_err(|Stale| changed(path))?) {
            match dealt {
                Some((launch, payloads)) => {
                    for (file, (count, payload)) in files.iter_mut().zip(payloads) {
                        file.accesses(launch, count, &payload)?;
                    }
                }
                None => counts.extend(copied(path, chunk, files)?),
            }
        }
    }
    if identity == whole.identity { Ok(counts) } else { Err(changed(path)) }
}

fn dealt(chunk: &Chunk, whole: &Whole, shards: usize) -> Result<Option<Dealt>, Stale> {
    if chunk.kind != ChunkKind::Accesses {
        return Ok(None);
    }
    let (head, _) = AccessesHead::read(&chunk.payload)?;
    let mut rows = Rows::new(&head);
    rows.add(&chunk.payload, &|_, _| true)?;
    rows.sort();
    Ok(Some((head.launch, rows.write(shards, |shape, offset| whole.touched(shape, offset)))))
}

/// A chunk that all shards have; at the end of the log, the accesses of each.
fn copied(path: &Path, chunk: &Chunk, files: &mut [LogFile]) -> Result<Vec<u64>, ShardError> {
    let mut cursor = Cursor::new(&chunk.payload);
    match chunk.kind {
        ChunkKind::Finished => {
            let (launch, made) = totals::read_finished(&mut cursor).map_err(|_| changed(path))?;
            files.iter_mut().try_for_each(|file| file.finished(launch, made))?;
        }
        ChunkKind::End => {
            let (status, _) = totals::read_end(&mut cursor).map_err(|_| changed(path))?;
            return files.iter_mut().map(|file| file.end(status)).collect();
        }
        kind => files.iter_mut().try_for_each(|file| file.chunk(kind, &chunk.payload))?,
    }
    Ok(Vec::new())
}
