//! What no test tells apart, as SARIF 2.1.0: a result for each mutant, at the place that tests do not look at.

use super::{Campaign, Operator};
use serde_json::{Value, json};

/// The log.
pub fn log(campaign: &Campaign) -> Value {
    let rules: Vec<Value> = Operator::ALL
        .into_iter()
        .map(|operator| {
            json!({
                "id": operator.name(),
                "shortDescription": { "text": operator.summary() },
                "help": { "text": operator.page(), "markdown": operator.page() },
            })
        })
        .collect();
    let results: Vec<Value> = campaign
        .mutants
        .iter()
        .filter(|mutant| mutant.status.is_missed())
        .map(|mutant| {
            let region = json!({
                "startLine": mutant.start.line, "startColumn": mutant.start.column,
                "endLine": mutant.end.line, "endColumn": mutant.end.column,
            });
            let text = format!("no test fails with {} ({})", mutant.change(), mutant.status.name());
            json!({
                "ruleId": mutant.operator.name(),
                "level": "note",
                "message": { "text": text },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": mutant.file }, "region": region } }],
            })
        })
        .collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "raceproof mutate", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}
