//! Shards in SARIF: results in the order of their files, without those that are told elsewhere, with fingerprints that count
//! over the whole run.
//!
//! Deliberately absent: what a result holds beside its message and its fingerprint.

use super::error::MergeError;
use super::part::{Part, only_run};
use super::piece::{Fields, Piece};
use crate::diagnostic::RuleId;
use crate::diagnostic::render::one_line;
use crate::diagnostic::render::places::same_in;
use crate::diagnostic::render::sarif::FINGERPRINT;
use crate::diagnostic::report::Instance;
use crate::diagnostic::shard::Origin;
use crate::diagnostic::statement::Repeats;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// The log of the run.
pub(super) fn merge(parts: &[Part<'_>], repeats: &Repeats) -> Result<Vec<u8>, MergeError> {
    let mut results: Vec<(usize, &Origin, &RawValue)> = Vec::new();
    for part in parts {
        let own = only_run(&part.body)?.elements("results")?;
        if own.len() != part.origins.len() {
            return Err(MergeError::Differs("results are missing"));
        }
        for (origin, result) in part.origins.iter().zip(own) {
            let file = part.shard.positions.get(origin.file).ok_or(MergeError::Differs("results are of no file"))?;
            results.push((*file, origin, result));
        }
    }
    // Those of one file are in one part and stay in their order.
    results.sort_by_key(|(file, ..)| *file);
    let mut given = BTreeMap::new();
    let mut told = Vec::new();
    let mut of_comments = BTreeSet::new();
    for (file, origin, result) in results {
        let number = origin.finding.map(|[kernel, finding]| [file, kernel, finding]);
        if number.is_some_and(|number| repeats.told.contains_key(&number)) {
            continue;
        }
        if origin.finding.is_none() && !is_new(result, &mut of_comments)? {
            continue;
        }
        let also = number.and_then(|number| repeats.also.get(&number));
        told.push(of_result(result, origin, also, &mut given)?);
    }
    let Some(first) = parts.first() else { return Err(MergeError::NoReport) };
    let mut whole = only_run(&first.body)?;
    whole.replace("results", Piece::List(told));
    whole.remove("properties");
    let mut log = first.body.clone();
    log.replace("runs", Piece::List(vec![Piece::Object(whole)]));
    let mut text = serde_json::to_vec_pretty(&log)?;
    text.push(b'\n');
    Ok(text)
}

/// Whether a result was not told before: each shard tells what is wrong with comments of headers that are no file of the run.
fn is_new<'a>(result: &'a RawValue, told: &mut BTreeSet<(&'a str, &'a str)>) -> Result<bool, MergeError> {
    let fields = Fields::of(result)?;
    let is_of_comments = RuleId::from_name(&fields.read::<String>("ruleId")?).is_some_and(RuleId::is_of_comments);
    Ok(!is_of_comments || told.insert((fields.needed("message")?.get(), fields.needed("locations")?.get())))
}

/// A result, with the kernels that have the same and the number that its fingerprint has in the whole run.
fn of_result<'a>(
    result: &'a RawValue,
    origin: &Origin,
    also: Option<&Vec<Instance>>,
    given: &mut BTreeMap<String, u32>,
) -> Result<Piece<'a>, MergeError> {
    let mut fields = Fields::of(result)?;
    let mut fingerprints = Fields::of(fields.needed("partialFingerprints")?)?;
    let old: String = fingerprints.read(FINGERPRINT)?;
    let hash = old.split(':').next().unwrap_or_default();
    let before = given.entry(hash.to_owned()).or_default();
    *before += 1;
    let new = format!("{hash}:{before}");
    if new == old && also.is_none() {
        return Ok(Piece::Raw(result));
    }
    fingerprints.replace(FINGERPRINT, Piece::Text(new));
    fields.replace("partialFingerprints", Piece::Object(fingerprints));
    if let Some(also) = also {
        let mut message = Fields::of(fields.needed("message")?)?;
        let text: String = message.read("text")?;
        message.replace("text", Piece::Text(with_same(&text, origin, also)));
        fields.replace("message", Piece::Object(message));
    }
    Ok(Piece::Object(fields))
}

/// A message with a line about the kernels that have the same, above what can be done.
fn with_same(text: &str, origin: &Origin, also: &[Instance]) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let note = one_line(&same_in(also));
    lines.insert(lines.len().saturating_sub(origin.below), &note);
    lines.join("\n")
}
