//! The shards of a run become its report: the same bytes that one run over all files writes.
//!
//! - [`json`]: the report for programs.
//! - [`sarif`]: the log for code scanning.
//! - [`part`]: the report of one shard, and in which format it is.
//! - [`piece`]: what is not looked at stays as it was written.
//!
//! Guarantees: all shards of one run, each once, or an error that says which is missing or does not belong; what counts
//! over the whole run (statements that are told once, counts, numbers of fingerprints) is made anew.
//!
//! Deliberately absent: reading and writing files, exit codes (`cli/merge.rs`).

mod error;
mod json;
mod part;
mod piece;
mod sarif;

pub use error::MergeError;
pub use part::Part;

use super::shard::Shard;
use super::statement::{Repeats, repeats};
use part::Format;
use std::collections::BTreeMap;

/// The report of a run.
#[derive(Debug)]
pub struct Merged {
    /// The report.
    pub text: Vec<u8>,
    /// The shards in their order, without what they state.
    pub shards: Vec<Shard>,
}

/// Whether the parts are the shards of one run; the error is about the part at that position, or about all.
fn fitting(parts: &[Part<'_>]) -> Result<(), (Option<usize>, MergeError)> {
    let Some(first) = parts.first() else { return Ok(()) };
    let mut seen: BTreeMap<usize, &str> = BTreeMap::new();
    for (position, part) in parts.iter().enumerate() {
        let error = differs(first, part).or_else(|| {
            let other = seen.insert(part.shard.number, &part.name)?;
            Some(MergeError::Twice { number: part.shard.number, of: part.shard.of, other: other.to_owned() })
        });
        if let Some(error) = error {
            return Err((Some(position), error));
        }
    }
    let of = first.shard.of;
    let missing: Vec<usize> = (1..=of).filter(|number| !seen.contains_key(number)).collect();
    if missing.is_empty() { Ok(()) } else { Err((None, MergeError::Missing { missing, of })) }
}

/// In what a part is not of the run that the first one is of.
fn differs(first: &Part<'_>, part: &Part<'_>) -> Option<MergeError> {
    let other = || first.name.clone();
    if part.format != first.format {
        return Some(MergeError::Format(other()));
    }
    let (run, its) = (&first.shard.run, &part.shard.run);
    let what = if run.version != its.version {
        format!("raceproof {} and {}", its.version, run.version)
    } else if run.inputs != its.inputs || first.shard.files != part.shard.files {
        "other files, or other text in them".to_owned()
    } else if run.options != its.options {
        "other options".to_owned()
    } else if run.tools != its.tools {
        format!("{}, there {}", its.tools, run.tools)
    } else {
        let Shard { number, of, .. } = part.shard;
        let division = || MergeError::Division { number, of, other: other(), others: first.shard.of };
        return (of != first.shard.of).then(division);
    };
    Some(MergeError::Run { other: other(), what })
}

/// Merges the shards of a run, in whatever order they are given. An error names the part that it is about, if it is one.
pub fn merge(mut parts: Vec<Part<'_>>) -> Result<Merged, (Option<usize>, MergeError)> {
    fitting(&parts)?;
    parts.sort_by_key(|part| part.shard.number);
    let repeats = divided(&parts).and_then(|()| told_once(&mut parts)).map_err(|error| (None, error))?;
    let text = match parts.first().map(|part| part.format) {
        Some(Format::Json) => json::merge(&parts, &repeats),
        Some(Format::Sarif) => sarif::merge(&parts, &repeats),
        None => Err(MergeError::NoReport),
    };
    let text = text.map_err(|error| (None, error))?;
    Ok(Merged { text, shards: parts.into_iter().map(|part| part.shard).collect() })
}

/// Whether each file of the run is in one of its shards.
fn divided(parts: &[Part<'_>]) -> Result<(), MergeError> {
    let mut positions: Vec<usize> = parts.iter().flat_map(|part| &part.shard.positions).copied().collect();
    positions.sort_unstable();
    let files = parts.first().map_or(0, |part| part.shard.files);
    let are_all = positions.iter().copied().eq(0..files);
    if are_all { Ok(()) } else { Err(MergeError::Differs("its files are not those of the run")) }
}

/// What is stated twice in the whole run.
fn told_once(parts: &mut [Part<'_>]) -> Result<Repeats, MergeError> {
    let mut all = Vec::new();
    for part in parts {
        for mut statement in std::mem::take(&mut part.shard.statements) {
            let number = part.shard.whole(statement.number);
            statement.number = number.ok_or(MergeError::Differs("findings are of no file"))?;
            all.push(statement);
        }
    }
    Ok(repeats(all))
}
