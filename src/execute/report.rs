//! What the runtime tells besides the log: one line for each thing it met.
//!
//! A line is `kind TAB kernel TAB file TAB line TAB text`; the runtime never tells the same twice. Lines that are not of
//! that form are kept as they are, so that nothing that the runtime says is lost.

use std::path::Path;

/// Something that the runtime met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What kind of thing.
    pub kind: EventKind,
    /// The kernel that ran, if one did.
    pub kernel: String,
    /// The file and the line, from 1, if they are known.
    pub place: Option<(String, u32)>,
    /// What is to be told.
    pub text: String,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A kernel was launched for the first time.
    Launch,
    /// Threads of a block wait at different barriers, or for each other.
    Divergence,
    /// A site accesses memory outside of all allocations; the text begins with the number of the site.
    Wild,
    /// A site accesses memory that was allocated in a way that is not followed; the text is as of [`EventKind::Wild`].
    Foreign,
    /// A warp intrinsic is called by a thread that its mask does not name.
    Mask,
    /// An assertion failed.
    Assertion,
    /// The program crashed in a kernel.
    Crash,
    /// The program asks for something that the back end does not have.
    Unsupported,
    /// A launch is not logged, or not to its end.
    Unlogged,
    /// A scheduled run is in deadlock.
    Deadlock,
    /// Threads that are stuck in it: what they wait for, the number of a site, how many, the first thread and its block.
    Stuck,
    /// A schedule cannot be kept to.
    Unhonoured,
    /// Anything else.
    Other,
}

impl EventKind {
    fn of(word: &str) -> EventKind {
        match word {
            "launch" => EventKind::Launch,
            "divergence" => EventKind::Divergence,
            "wild" => EventKind::Wild,
            "foreign" => EventKind::Foreign,
            "mask" => EventKind::Mask,
            "assertion" => EventKind::Assertion,
            "crash" => EventKind::Crash,
            "unlogged" => EventKind::Unlogged,
            "unsupported" => EventKind::Unsupported,
            "deadlock" => EventKind::Deadlock,
            "stuck" => EventKind::Stuck,
            "unhonoured" => EventKind::Unhonoured,
            _ => EventKind::Other,
        }
    }
}

/// Events of a file, in the order in which they happened. No file means that there were none.
pub fn read(path: &Path) -> Vec<Event> {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter(|line| !line.is_empty()).map(event).collect()
}

fn event(line: &str) -> Event {
    let fields: Vec<&str> = line.splitn(5, '\t').collect();
    let [kind, kernel, file, number, text] = fields[..] else {
        return Event { kind: EventKind::Other, kernel: String::new(), place: None, text: line.to_owned() };
    };
    let line = number.parse().unwrap_or(0);
    Event {
        kind: EventKind::of(kind),
        kernel: kernel.to_owned(),
        place: (line > 0 && !file.is_empty()).then(|| (file.to_owned(), line)),
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_an_event_and_a_broken_one_is_kept() {
        let told = event("divergence\tk\ta.cu\t12\tthreads wait");
        assert_eq!(told.kind, EventKind::Divergence);
        assert_eq!((told.kernel.as_str(), told.text.as_str()), ("k", "threads wait"));
        assert_eq!(told.place, Some(("a.cu".to_owned(), 12)));
        assert_eq!(event("wild\tk\t\t0\t3\tread").place, None);
        assert_eq!(event("wild\tk\t\t0\t3\tread").text, "3\tread");
        assert_eq!(event("cut of").kind, EventKind::Other);
    }
}
