//! Standard output that survives a closed pipe, and errors on standard error.

use super::Exit;
use super::args::When;
use crate::diagnostic::render::text::Color;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

/// In fewer columns nothing can be read; lines are then left to the terminal.
const NARROWEST: usize = 40;

/// Hands a locked, buffered standard output to `write`. Whoever closed the pipe has seen enough: no error.
pub(super) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // Dropping the writer would try once more to write what is left.
            let _ = out.into_parts();
            Ok(())
        }
        result => result,
    }
}

/// Writes what is wrong as one line to standard error.
pub(super) fn complain(message: &str) {
    say("error", message);
}

/// Writes what may be wrong as one line to standard error.
pub(super) fn warn(message: &str) {
    say("warning", message);
}

/// Writes what is worth knowing as one line to standard error.
pub(super) fn remark(message: &str) {
    say("note", message);
}

/// One line on standard error; nothing can be done if that fails.
fn say(kind: &str, message: &str) {
    let clean: String = message.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    let _ = writeln!(io::stderr().lock(), "{kind}: {clean}");
}

/// Writes one line to standard error that is no error.
pub(super) fn note(message: &str) {
    let clean: String = message.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    let _ = writeln!(io::stderr().lock(), "note: {clean}");
}

/// Says what was wrong with the command line or with reading and writing.
pub(super) fn failed(error: &anyhow::Error) -> Exit {
    // Some errors repeat in their own words what caused them.
    let mut texts: Vec<String> = Vec::new();
    for text in error.chain().map(ToString::to_string) {
        if !texts.last().is_some_and(|last| last.ends_with(&text)) {
            texts.push(text);
        }
    }
    complain(&texts.join(": "));
    Exit::Usage
}

/// Whether standard output is coloured.
pub(super) fn color(when: When) -> Color {
    let coloured = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => io::stdout().is_terminal() && environment_allows_color(),
    };
    if coloured { Color::Ansi } else { Color::Plain }
}

/// Columns of the terminal that standard output is; `None` if it is none, or does not say.
pub(super) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    columns().filter(|&columns| columns >= NARROWEST)
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// <https://no-color.org>, and terminals that say that they are dumb.
fn environment_allows_color() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
