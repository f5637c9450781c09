//! What programs write, as far as runs of them are compared.

use crate::execute::process::Ended;

/// Words of lines that speak of time.
const OF_TIME: [&str; 14] = [
    "time",
    "elapsed",
    "second",
    " sec",
    " ms",
    " us",
    "µs",
    " ns",
    "gb/s",
    "mb/s",
    "flop",
    "bandwidth",
    "throughput",
    "speedup",
];

/// Whether a line speaks of time, or of what follows from it.
pub(super) fn is_of_time(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.contains(|c: char| c.is_ascii_digit()) && OF_TIME.iter().any(|word| lower.contains(word))
}

/// How a run ended, in words that go behind a subject.
pub(super) fn ended(ended: Ended) -> String {
    match ended {
        Ended::Exited(status) => format!("exits with status {status}"),
        Ended::Signalled(signal) => format!("is ended by signal {signal}"),
        Ended::TimedOut => "does not end in time".to_owned(),
    }
}
