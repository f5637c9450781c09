//! Lines that stop a compiler which takes another branch of a conditional than the one that was instrumented.

use super::Source;
use super::tokens::Tokens;
use crate::source::{FileId, Span, own_header};
use rustc_hash::FxHashMap;

/// What the compiler says that comes upon such code.
const MESSAGE: &str = "#error this code was left out by raceproof's preprocessor and is not instrumented";

/// Places of device code that conditionals leave out, with a line that stops a compiler there. `bodies` are the visible
/// ranges of functions of the device; outside of them, code that has one of `words` declares such functions.
pub(super) fn guards(tokens: &Tokens<'_>, source: &Source<'_>, bodies: &[Span], words: &[&str]) -> Vec<(Span, String)> {
    let sources = tokens.sources();
    let mut guards: Vec<(Span, String)> = Vec::new();
    let mut active: FxHashMap<FileId, Vec<u32>> = FxHashMap::default();
    for span in (0..tokens.len()).filter_map(|at| tokens.span(at)) {
        let visible = sources.visible(span);
        active.entry(visible.file).or_default().push(visible.start);
    }
    active.values_mut().for_each(|starts| starts.sort_unstable());
    for &span in &source.output.skipped {
        // raceproof's own header has nothing for the device, however it is read.
        if own_header::is_own(sources.file(span.file)) {
            continue;
        }
        // A header that came in a second time was left out only then.
        let starts = active.get(&span.file).map_or(&[][..], Vec::as_slice);
        let next = starts.partition_point(|&start| start < span.start);
        if starts.get(next).is_some_and(|&start| start < span.end) || is_guard(&sources.file(span.file).text, span) {
            continue;
        }
        let text = sources.text(span);
        let in_body =
            bodies.iter().any(|body| body.file == span.file && body.start < span.start && span.end < body.end);
        let declares = words.iter().any(|word| text.contains(word));
        let known = guards.iter().any(|(guarded, _)| *guarded == span);
        if (in_body || declares) && !known {
            guards.push((span, MESSAGE.to_owned()));
        }
    }
    guards
}

/// Whether what was left out is a whole header, by the guard that its first two directives are.
fn is_guard(text: &str, left_out: Span) -> bool {
    let directives = || text.match_indices('#').map(|(at, _)| at);
    let first = directives().next().and_then(|at| text.get(at + 1..)).map(str::trim_start);
    first.is_some_and(|first| first.starts_with("ifndef"))
        && directives().nth(1).is_some_and(|second| left_out.start as usize <= second && second < left_out.end as usize)
}
