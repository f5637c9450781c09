//! What a run says, for programs: `raceproof.amplify.v1`.

use super::{Amplified, Answer, Conflict};
use serde_json::{Value, json};

/// All answers as one object.
pub fn json(amplified: &Amplified) -> Value {
    let kernels: Vec<Value> = amplified.kernels.iter().map(kernel).collect();
    json!({
        "schema": "raceproof.amplify.v1",
        "run": { "back_end": amplified.back_end, "complete": amplified.problems.is_empty(), "problems": amplified.problems },
        "kernels": kernels,
    })
}

fn kernel(answer: &Answer) -> Value {
    let statements = answer.statements.iter().map(|statement| {
        let fixed = statement.fixed.iter().map(|(name, value)| json!({ "name": name, "value": value }));
        json!({
            "block_dim": statement.block,
            "grid_dim": statement.grid,
            "dynamic_shared": statement.dynamic_shared,
            "fixed": fixed.collect::<Vec<_>>(),
            "launches": statement.launches,
        })
    });
    let obstacles = answer
        .obstacles
        .iter()
        .map(|each| json!({ "kind": each.kind.name(), "message": each.message, "chain": each.chain }));
    json!({
        "name": answer.name,
        "verdict": answer.verdict.name(),
        "launches": answer.launches,
        "statements": statements.collect::<Vec<_>>(),
        "covers": answer.covers,
        "does_not_cover": answer.excludes,
        "relies_on": answer.relies_on,
        "this_back_end_only": answer.restrictions,
        "obstacles": obstacles.collect::<Vec<_>>(),
        "races": answer.races.iter().map(race).collect::<Vec<_>>(),
    })
}

fn race(conflict: &Conflict) -> Value {
    let place = |index: usize| {
        let place = &conflict.places[index];
        let (block, thread) = conflict.threads[index];
        json!({
            "path": place.path, "line": place.line, "column": place.column,
            "access": place.access, "array": place.array, "block": block, "thread": thread,
        })
    };
    json!({ "launch": conflict.launch, "primary": place(0), "secondary": place(1), "bytes": conflict.bytes })
}
