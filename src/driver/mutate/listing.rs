//! The mutants of a program as people see them: places, texts, differences.

use super::candidate::{Candidate, bytes, edited};
use crate::driver::instrument::InstrumentedFile;
use crate::instrument::mutant::{self, Edit};
use crate::mutation::{Mutant, Operator, Position, Status};
use crate::source::{SourceMap, Span};
use similar::TextDiff;

/// How a comment begins that takes mutants of its line out.
const SUPPRESSION: &str = "raceproof: no-mutants";

/// All mutants of all units, with the numbers that the program knows them by, less one.
pub(super) fn list<'f>(files: impl Iterator<Item = &'f InstrumentedFile>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (file, instrumented) in files.enumerate() {
        for of_unit in &instrumented.unit.mutants {
            let mutant = described(candidates.len() + 1, of_unit, &instrumented.sources);
            candidates.push(Candidate { mutant, file, of_unit: of_unit.clone() });
        }
    }
    candidates
}

fn described(id: usize, mutant: &mutant::Mutant, sources: &SourceMap) -> Mutant {
    let file = sources.file(mutant.span.file);
    let (path, text) = (file.path.display().to_string(), &*file.text);
    let changed = edited(text, &mutant.edits);
    let (start, end) = (sources.start_position(mutant.span), sources.end_position(mutant.span));
    let diff = TextDiff::from_lines(text, &changed);
    let diff = diff.unified_diff().context_radius(2).header(&path, &path).to_string();
    let suppressed = suppressed(text, mutant.span, mutant.operator);
    Mutant {
        id,
        operator: mutant.operator,
        file: path,
        start: Position { line: start.line, column: start.column },
        end: Position { line: end.line, column: end.column },
        function: mutant.function.clone(),
        original: text.get(bytes(mutant.span)).unwrap_or_default().to_owned(),
        replacement: replacement(text, mutant),
        diff,
        status: if suppressed.is_some() { Status::Suppressed } else { Status::Pending },
        reason: suppressed.filter(|reason| !reason.is_empty()),
    }
}

/// What stands in the mutant's place.
fn replacement(text: &str, mutant: &mutant::Mutant) -> String {
    let inside = |edit: &&Edit| mutant.span.start <= edit.span.start && edit.span.end <= mutant.span.end;
    let moved: Vec<Edit> = mutant
        .edits
        .iter()
        .filter(inside)
        .map(|edit| {
            let at = |byte: u32| (byte - mutant.span.start) as usize;
            Edit { span: Span::new(edit.span.file, at(edit.span.start), at(edit.span.end)), text: edit.text.clone() }
        })
        .collect();
    edited(text.get(bytes(mutant.span)).unwrap_or_default(), &moved)
}

/// Why the line of a mutant takes it out, if a comment there does: `// raceproof: no-mutants[operator, …] reason`.
fn suppressed(text: &str, span: Span, operator: Operator) -> Option<String> {
    let start = text.get(..span.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?;
    let comment = line.split_once("//")?.1;
    let rest = comment.split_once(SUPPRESSION)?.1;
    let (named, reason) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((names, reason)) => (Some(names), reason),
        None => (None, rest),
    };
    let is_named = |names: &str| names.split(',').any(|name| name.trim() == operator.name());
    named.is_none_or(is_named).then(|| reason.trim().to_owned())
}
