//! One line per finding and one with all counts, for people who read many.
//!
//! `a.cu:6:9: data-race error: data race on y: … [shift]`: place, rule, how grave it is, the message, and the kernel, if it is
//! about one. The form is that of ruff's `concise` (<https://docs.astral.sh/ruff/settings/#output-format>): what is sought for
//! stands in front, in words without blanks. The last line is that of `text`: `2 kernels in 1 file: …`.
//!
//! Guarantees: a line for each finding and each thing that is not decided, whatever stands in the source. Deliberately absent:
//! the second place, the witness and the advice, which `gcc` and `text` have.

use super::said::said;
use super::text;
use crate::diagnostic::report::Report;
use std::io::{self, Write};

/// Writes what `report` says.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for said in said(report) {
        let kernel = said.kernel.as_ref().map_or_else(String::new, |kernel| format!(" [{kernel}]"));
        let (place, rule, severity) = (said.location(), said.rule, said.severity.name());
        writeln!(out, "{place}: {rule} {severity}: {}{kernel}", said.message())?;
    }
    writeln!(out, "{}", text::summary(report))
}
