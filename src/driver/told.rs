//! What a run says, in the user's words: what it met, and what of the program it knows nothing of.

use super::instrument::InstrumentedFile;
use crate::execute::report::{Event, EventKind};
use crate::instrument::LeftOut;
use crate::source::Span;

/// Something that the run met, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// `path:line:column` as far as it is known.
    pub place: Option<String>,
    /// One line.
    pub message: String,
    /// The rule it belongs to, if it is a finding and no mere note.
    pub rule: Option<&'static str>,
}

/// What device code of a file is not logged, as lines for the user.
pub(super) fn left_out(file: &InstrumentedFile) -> Vec<String> {
    file.unit.left_out.iter().map(|left_out| line(file, "not logged", left_out)).collect()
}

/// What of it has no counters.
pub(super) fn uncounted(file: &InstrumentedFile, not_done: &str) -> Vec<String> {
    file.unit.uncounted.iter().map(|uncounted| line(file, not_done, uncounted)).collect()
}

/// A line for the user about something that has not been done.
fn line(file: &InstrumentedFile, not_done: &str, left_out: &LeftOut) -> String {
    let place = place(file, left_out.span);
    let inside = if left_out.function.is_empty() { String::new() } else { format!(" in {}", left_out.function) };
    format!("{place}: {not_done}: {}{inside}", left_out.what)
}

/// `path:line:column` of a place in a file.
pub(super) fn place(file: &InstrumentedFile, span: Span) -> String {
    let visible = file.sources.visible(span);
    let position = file.sources.start_position(span);
    format!("{}:{}:{}", file.sources.file(visible.file).path.display(), position.line, position.column)
}

/// What a run of these files met, as users read it; nothing if it is no news.
pub(super) fn tell(event: &Event, back_end: &str, files: &[InstrumentedFile]) -> Option<Told> {
    let kernel = &event.kernel;
    let (message, rule) = match event.kind {
        // `driver/schedule` says the second three.
        EventKind::Launch | EventKind::Deadlock | EventKind::Stuck | EventKind::Unhonoured => return None,
        EventKind::Divergence => {
            (format!("divergent barriers in {kernel}: {}", event.text), Some("barrier-divergence"))
        }
        EventKind::Wild | EventKind::Foreign => return Some(wild(event, files)),
        EventKind::Mask => (format!("{} (in {kernel})", event.text), None),
        EventKind::Assertion => {
            let (what, who) = event.text.split_once('\t').unwrap_or((&event.text, "a thread"));
            (format!("the assertion `{what}` fails in {kernel} for {who}"), Some("assertion"))
        }
        EventKind::Crash => (format!("crash in {kernel}: {}", event.text), Some("array-bounds")),
        EventKind::Unsupported => (format!("the {} back end does not support {}", back_end, event.text), None),
        EventKind::Unlogged | EventKind::Other => (event.text.clone(), None),
    };
    let place = event.place.as_ref().map(|(file, line)| format!("{file}:{line}"));
    Some(Told { place, message, rule })
}

/// The text of such an event begins with the number of its site, counted over all files.
fn wild(event: &Event, files: &[InstrumentedFile]) -> Told {
    let (number, text) = event.text.split_once('\t').unwrap_or(("", &event.text));
    let mut left = number.parse().unwrap_or(usize::MAX);
    let mut found = None;
    for file in files {
        match file.unit.sites.get(left) {
            Some(site) => {
                found = Some((place(file, site.span), site.array.clone()));
                break;
            }
            None => left = left.saturating_sub(file.unit.sites.len()),
        }
    }
    let array = found.as_ref().map_or_else(String::new, |(_, array)| format!(" through `{array}`"));
    let place = found.map(|(place, _)| place);
    if event.kind == EventKind::Foreign {
        let kernel = &event.kernel;
        let message = format!(
            "access to memory that was allocated in a way that is not followed{array} in {kernel}: {text}; it is not logged"
        );
        return Told { place, message, rule: None };
    }
    let message = format!("access outside of all allocations{array} in {}: {text}", event.kernel);
    if allocates_in_kernels(files) {
        // It may well be memory of a kernel's own, which the runtime does not know.
        let message = format!("{message}; it is not logged: memory that kernels allocate is not followed");
        return Told { place, message, rule: None };
    }
    Told { place, message, rule: Some("array-bounds") }
}

/// Whether device code has `malloc` or `new`.
fn allocates_in_kernels(files: &[InstrumentedFile]) -> bool {
    let allocates = |what: &str| what.contains("dynamic memory") || what.contains("new expression");
    files.iter().flat_map(|file| &file.unit.left_out).any(|left_out| allocates(&left_out.what))
}
