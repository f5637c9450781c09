//! The report of a shard, as far as merging looks into it; the format is known by what stands in it.
//!
//! Deliberately absent: whether shards belong together ([`merge`](super::merge)).

use super::error::MergeError;
use super::piece::Fields;
use crate::diagnostic::render::json::SCHEMA;
use crate::diagnostic::render::sarif::{CARRIED, Carried};
use crate::diagnostic::shard::{self, Origin, Shard};

/// What a report is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The report for programs.
    Json,
    /// The log for code scanning.
    Sarif,
}

/// The report of a shard.
#[derive(Debug)]
pub struct Part<'a> {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) shard: Shard,
    /// The report itself; of SARIF, its only run is among the fields.
    pub(super) body: Fields<'a>,
    /// Where the results of SARIF belong.
    pub(super) origins: Vec<Origin>,
}

impl<'a> Part<'a> {
    /// Reads the report of a shard; `name` is what messages about others call it.
    pub fn read(name: &str, text: &'a str) -> Result<Part<'a>, MergeError> {
        let body: Fields<'a> = serde_json::from_str(text)?;
        let (format, shard, origins) = match (body.raw("schema"), body.raw("runs")) {
            (Some(_), _) => (Format::Json, of_json(&body)?, Vec::new()),
            (None, Some(_)) => of_sarif(&body).map(|(shard, origins)| (Format::Sarif, shard, origins))?,
            (None, None) => return Err(MergeError::NoReport),
        };
        let Shard { number, of, unfinished, .. } = shard;
        if number == 0 || number > of {
            return Err(MergeError::Differs("its number is none of a shard"));
        }
        if unfinished > 0 {
            return Err(MergeError::Unfinished { number, of, unfinished });
        }
        Ok(Part { name: name.to_owned(), format, shard, body, origins })
    }
}

fn of_json(body: &Fields<'_>) -> Result<Shard, MergeError> {
    let schema: String = body.read("schema")?;
    match schema.as_str() {
        shard::SCHEMA => body.read("shard"),
        SCHEMA => Err(MergeError::Whole),
        other if other.starts_with("raceproof.") => Err(MergeError::Schema(other.to_owned())),
        _ => Err(MergeError::NoReport),
    }
}

fn of_sarif(body: &Fields<'_>) -> Result<(Shard, Vec<Origin>), MergeError> {
    let run = only_run(body)?;
    let driver = Fields::of(Fields::of(run.needed("tool")?)?.needed("driver")?)?;
    if driver.read::<String>("name")? != "raceproof" {
        return Err(MergeError::NoReport);
    }
    let properties = run.raw("properties").map(Fields::of).transpose()?;
    let carried = properties.and_then(|properties| properties.raw(CARRIED)).ok_or(MergeError::Whole)?;
    let Carried { shard, results } = serde_json::from_str(carried.get())?;
    Ok((shard.into_owned(), results))
}

/// The only run of a log.
pub(super) fn only_run<'a>(log: &Fields<'a>) -> Result<Fields<'a>, MergeError> {
    match log.elements("runs")?.as_slice() {
        [run] => Fields::of(run),
        _ => Err(MergeError::NoReport),
    }
}
