//! Shards in JSON: files in their places, findings that are told elsewhere among the `repeats`, counts added up.
//!
//! Deliberately absent: the fields of kernels and findings beside those that the whole run decides.

use super::error::MergeError;
use super::part::Part;
use super::piece::{Fields, Piece};
use crate::diagnostic::render::json::{InstanceJson, SCHEMA, SummaryJson};
use crate::diagnostic::report::Instance;
use crate::diagnostic::statement::{Number, Repeats};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::{BTreeMap, BTreeSet};

/// New texts of JSON, for as long as the report that they stand in.
struct Texts {
    instances: BTreeMap<Number, Vec<Box<RawValue>>>,
    schema: Box<RawValue>,
}

impl Texts {
    fn of(repeats: &Repeats) -> Result<Texts, MergeError> {
        let mut instances = BTreeMap::new();
        let told = repeats.told.iter().map(|(number, told)| (number, std::slice::from_ref(told)));
        let also = repeats.also.iter().map(|(number, also)| (number, also.as_slice()));
        for (number, all) in told.chain(also) {
            let texts = all.iter().map(|instance: &Instance| to_raw_value(&InstanceJson::of(instance)));
            instances.insert(*number, texts.collect::<Result<_, _>>()?);
        }
        Ok(Texts { instances, schema: to_raw_value(SCHEMA)? })
    }

    fn instances(&self, number: Number) -> impl Iterator<Item = Piece<'_>> {
        self.instances.get(&number).into_iter().flatten().map(|text| Piece::Raw(text))
    }
}

/// The report of the run.
pub(super) fn merge(parts: &[Part<'_>], repeats: &Repeats) -> Result<Vec<u8>, MergeError> {
    let texts = Texts::of(repeats)?;
    let mut files: BTreeMap<usize, (&RawValue, Piece<'_>)> = BTreeMap::new();
    let mut summary = SummaryJson::default();
    for part in parts {
        summary = summary.and(&part.body.read("summary")?);
        let own = part.body.elements("files")?;
        if own.len() != part.shard.positions.len() {
            return Err(MergeError::Differs("files are missing"));
        }
        for (&at, file) in part.shard.positions.iter().zip(own) {
            files.insert(at, (file, told_once(file, at, repeats, &texts)?));
        }
    }
    let summary = to_raw_value(&summary)?;
    let mut told = BTreeSet::new();
    let files =
        files.into_values().map(|(raw, file)| of_comments_once(raw, file, &mut told)).collect::<Result<_, _>>()?;
    let whole: Fields<'_> = [
        ("schema".to_owned(), Piece::Raw(&texts.schema)),
        ("files".to_owned(), Piece::List(files)),
        ("summary".to_owned(), Piece::Raw(&summary)),
    ]
    .into_iter()
    .collect();
    let mut text = serde_json::to_vec(&whole)?;
    text.push(b'\n');
    Ok(text)
}

/// A file without what was told before of comments: each shard tells it of headers that are no file of the run.
fn of_comments_once<'a>(
    raw: &'a RawValue,
    file: Piece<'a>,
    told: &mut BTreeSet<&'a str>,
) -> Result<Piece<'a>, MergeError> {
    let fields = Fields::of(raw)?;
    if fields.raw("findings").is_none() {
        return Ok(file);
    }
    let all = fields.elements("findings")?;
    let new: Vec<Piece<'a>> =
        all.iter().filter(|finding| told.insert(finding.get())).map(|finding| Piece::Raw(finding)).collect();
    if new.len() == all.len() {
        return Ok(file);
    }
    let mut fields = if let Piece::Object(fields) = file { fields } else { fields };
    if new.is_empty() {
        fields.remove("findings")
    } else {
        fields.replace("findings", Piece::List(new))
    }
    Ok(Piece::Object(fields))
}

/// A file with each of its findings where it is told.
fn told_once<'a>(file: &'a RawValue, at: usize, repeats: &Repeats, texts: &'a Texts) -> Result<Piece<'a>, MergeError> {
    let numbers: Vec<&Number> =
        repeats.told.keys().chain(repeats.also.keys()).filter(|number| number[0] == at).collect();
    if numbers.is_empty() {
        return Ok(Piece::Raw(file));
    }
    let mut fields = Fields::of(file)?;
    let mut kernels = Vec::new();
    for (at_kernel, kernel) in fields.elements("kernels")?.into_iter().enumerate() {
        let is_touched = numbers.iter().any(|number| number[1] == at_kernel);
        let touched = || of_kernel(kernel, [at, at_kernel], repeats, texts);
        kernels.push(if is_touched { touched()? } else { Piece::Raw(kernel) });
    }
    fields.replace("kernels", Piece::List(kernels));
    Ok(Piece::Object(fields))
}

/// A kernel, some findings of which are told elsewhere or are those of others, too.
fn of_kernel<'a>(
    kernel: &'a RawValue,
    [file, at]: [usize; 2],
    repeats: &Repeats,
    texts: &'a Texts,
) -> Result<Piece<'a>, MergeError> {
    let mut fields = Fields::of(kernel)?;
    let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
    for (number, finding) in fields.elements("findings")?.into_iter().enumerate() {
        let number = [file, at, number];
        if repeats.told.contains_key(&number) {
            let mut finding = Fields::of(finding)?;
            for of in texts.instances(number) {
                finding.put_behind("", "of", of);
            }
            elsewhere.push(Piece::Object(finding));
        } else if repeats.also.contains_key(&number) {
            let mut finding = Fields::of(finding)?;
            finding.push("also_in", Piece::List(texts.instances(number).collect()));
            here.push(Piece::Object(finding));
        } else {
            here.push(Piece::Raw(finding));
        }
    }
    fields.replace("findings", Piece::List(here));
    if !elsewhere.is_empty() {
        fields.put_behind("findings", "repeats", Piece::List(elsewhere));
    }
    Ok(Piece::Object(fields))
}
