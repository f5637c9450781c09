//! Names of what only tells or checks something: `log_error`, `CHECK`, `gpuAssert`.
//!
//! Where a header is missing nothing declares them, and they are no functions of any library: that they access no memory which
//! threads share is an assumption, which a verdict prints.
//!
//! Deliberately absent: what a front end or a library declares.

/// Words that such names are made of.
const WORDS: [&str; 10] =
    ["assert", "check", "print", "log", "trace", "debug", "unused", "unreachable", "likely", "throw"];

/// Whether a name that nothing declares says that it only tells or checks something.
pub fn only_tells(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}
