//! Merges the shards of a log.

use super::batch::{Batches, jobs, whole_log};
use super::file::LogFile;
use super::rows::Rows;
use super::{Options, ShardError, Stale};
use crate::trace::format::bytes::Cursor;
use crate::trace::format::chunk::{Chunk, ChunkKind};
use crate::trace::format::{AccessesHead, Totals, Whole, totals};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Merges the logs at `paths`, in any order, to one at `to`; gives its accesses.
pub fn merge(paths: &[PathBuf], to: &Path, options: &Options) -> Result<u64, ShardError> {
    let jobs = jobs(options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    pool.install(|| {
        let (whole, paths) = ordered(paths)?;
        let mut shards = paths.iter().map(|path| Batches::of(path)).collect::<Result<Vec<_>, ShardError>>()?;
        // What they are shards of is known, and the whole is none.
        for shard in &mut shards {
            shard.next(1)?;
        }
        let mut file = LogFile::new(to)?;
        let mut found = 0;
        loop {
            let layers = layers(&mut shards, (jobs / paths.len()).max(1))?;
            if layers.is_empty() {
                break;
            }
            let joined: Result<Vec<_>, ShardError> = layers.par_iter().map(|layer| joined(layer, &whole)).collect();
            for (layer, joined) in layers.iter().zip(joined?) {
                match joined {
                    Some((launch, (count, payload))) => file.accesses(launch, count, &payload)?,
                    None => found += copied(layer, &mut file)?,
                }
            }
        }
        if found != whole.accesses {
            return Err(ShardError::Lost { found, made: whole.accesses });
        }
        file.keep()?;
        Ok(found)
    })
}

/// What the logs are all shards of, and their paths by number.
fn ordered(paths: &[PathBuf]) -> Result<(Whole, Vec<&Path>), ShardError> {
    let mut known: Option<(Whole, &Path)> = None;
    let mut by_number: Vec<Option<&Path>> = Vec::new();
    for path in paths {
        let shard = whole_log(path)?.shard.ok_or_else(|| ShardError::NoShard(path.clone()))?;
        let (whole, first) = known.get_or_insert_with(|| (shard.whole.clone(), path));
        if *whole != shard.whole {
            return Err(ShardError::Different { path: path.clone(), other: first.to_owned() });
        }
        by_number.resize(whole.shards() as usize, None);
        if let Some(other) = by_number[shard.number as usize].replace(path) {
            return Err(ShardError::Twice { path: path.clone(), other: other.to_owned() });
        }
    }
    let missing = (1..).zip(&by_number).filter(|(_, path)| path.is_none());
    let missing: Vec<String> = missing.map(|(number, _): (u32, _)| number.to_string()).collect();
    let present: Vec<&Path> = by_number.iter().flatten().copied().collect();
    match known {
        Some((whole, _)) if missing.is_empty() => Ok((whole, present)),
        _ => Err(ShardError::Missing { numbers: missing.join(", "), of: by_number.len() as u32 }),
    }
}

/// The next chunks of each shard, side by side.
fn layers(shards: &mut [Batches<'_>], most: usize) -> Result<Vec<Vec<Chunk>>, ShardError> {
    let mut layers: Vec<Vec<Chunk>> = Vec::new();
    for (number, shard) in shards.iter_mut().enumerate() {
        let batch = shard.next(most)?;
        if number == 0 {
            layers.resize_with(batch.len(), Vec::new);
        }
        if batch.len() != layers.len() {
            return Err(unfit(&batch));
        }
        layers.iter_mut().zip(batch).for_each(|(layer, chunk)| layer.push(chunk));
    }
    Ok(layers)
}

fn unfit(chunks: &[Chunk]) -> ShardError {
    ShardError::Unfit(chunks.first().map_or(0, |chunk| chunk.ordinal))
}

/// A chunk of accesses: its launch, and accesses and payload.
type Joined = (u32, (u64, Vec<u8>));

/// What the chunks of a layer have at home, if it is one of accesses.
fn joined(layer: &[Chunk], whole: &Whole) -> Result<Option<Joined>, ShardError> {
    if layer.iter().all(|chunk| chunk.kind != ChunkKind::Accesses) {
        return Ok(None);
    }
    joined_rows(layer, whole).map_err(|Stale| unfit(layer)).map(Some)
}

fn joined_rows(layer: &[Chunk], whole: &Whole) -> Result<Joined, Stale> {
    let (head, _) = AccessesHead::read(&layer[0].payload)?;
    let mut rows = Rows::new(&head);
    for (number, chunk) in layer.iter().enumerate() {
        let (head, _) = AccessesHead::read(&chunk.payload)?;
        if chunk.kind != ChunkKind::Accesses || !rows.is_like(&head) {
            return Err(Stale);
        }
        rows.add(&chunk.payload, &|shape, offset| *whole.touched(shape, offset).start() == number)?;
    }
    rows.sort();
    let written = rows.write(1, |_, _| 0..=0).pop().ok_or(Stale)?;
    Ok((rows.launch(), written))
}

/// Writes a chunk that all shards have. Gives the accesses of the log, if it ends.
fn copied(layer: &[Chunk], file: &mut LogFile) -> Result<u64, ShardError> {
    let first = &layer[0];
    let told = layer.iter().map(|chunk| told(chunk).ok_or_else(|| unfit(layer)));
    let told: Vec<Told> = told.collect::<Result<_, ShardError>>()?;
    if told.iter().any(|other| *other != told[0]) {
        return Err(unfit(layer));
    }
    match told[0] {
        Told::Finished(launch, made) => file.finished(launch, made)?,
        Told::End(status) => return file.end(status),
        Told::Other(..) => file.chunk(first.kind, &first.payload)?,
    }
    Ok(0)
}

/// What a chunk says but for its accesses.
#[derive(PartialEq, Eq)]
enum Told<'a> {
    Finished(u32, Totals),
    End(i64),
    Other(ChunkKind, &'a [u8]),
}

fn told(chunk: &Chunk) -> Option<Told<'_>> {
    let mut cursor = Cursor::new(&chunk.payload);
    Some(match chunk.kind {
        ChunkKind::Finished => {
            let (launch, made) = totals::read_finished(&mut cursor).ok()?;
            Told::Finished(launch, Totals { accesses: 0, ..made })
        }
        ChunkKind::End => Told::End(totals::read_end(&mut cursor).ok()?.0),
        kind => Told::Other(kind, &chunk.payload),
    })
}
