//! A campaign in the form of mutation-testing-report-schema, version 2, which dashboards and viewers of other languages' tools
//! take (<https://github.com/stryker-mutator/mutation-testing-elements>, `packages/report-schema`).
//!
//! What it has no word for: a mutant that only some repetitions kill is `Survived`, and what a proof settles is
//! `Ignored`; the reason of both says so.

use super::{Campaign, Mutant, Status};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The word of the schema.
fn word(status: Status) -> &'static str {
    match status {
        Status::Killed => "Killed",
        Status::Timeout => "Timeout",
        Status::Survived | Status::Undecided => "Survived",
        Status::NotReached => "NoCoverage",
        Status::Unviable => "CompileError",
        Status::Equivalent | Status::Racy | Status::Suppressed => "Ignored",
        Status::Pending => "Pending",
    }
}

fn reason(mutant: &Mutant) -> Option<String> {
    let named = matches!(mutant.status, Status::Equivalent | Status::Racy | Status::Undecided | Status::Suppressed);
    match (&mutant.reason, named) {
        (Some(reason), true) => Some(format!("{}: {reason}", mutant.status.name())),
        (None, true) => Some(mutant.status.name().to_owned()),
        (reason, false) => reason.clone(),
    }
}

fn of_mutant(mutant: &Mutant) -> Value {
    let mut value = json!({
        "id": mutant.id.to_string(),
        "mutatorName": mutant.operator.name(),
        "description": mutant.operator.summary(),
        "replacement": mutant.replacement,
        "location": { "start": mutant.start, "end": mutant.end },
        "status": word(mutant.status),
    });
    if let Some(reason) = reason(mutant) {
        value["statusReason"] = Value::String(reason);
    }
    value
}

/// The report; `source` gives the text of a file of the program.
pub fn report<'s>(campaign: &Campaign, source: &dyn Fn(&str) -> Option<&'s str>) -> Value {
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for mutant in &campaign.mutants {
        files.entry(&mutant.file).or_default().push(of_mutant(mutant));
    }
    let files: serde_json::Map<String, Value> = files
        .into_iter()
        .map(|(path, mutants)| {
            let text = source(path).unwrap_or_default();
            (path.to_owned(), json!({ "language": "cuda", "source": text, "mutants": mutants }))
        })
        .collect();
    json!({
        "schemaVersion": "2",
        "thresholds": { "high": 80, "low": 60 },
        "framework": { "name": "raceproof", "version": env!("CARGO_PKG_VERSION") },
        "files": files,
    })
}
