//! JSON Lines: the findings of `json`, an object on each line, for programs that read a line at a time.
//!
//! The contract `raceproof.check-lines.v1` (docs/ARCHITECTURE.md, "Contracts"). The first line is the header: the version and all
//! counts. Each other line is one thing that is said, the gravest first: a finding of a kernel with the fields of
//! `raceproof.check.v2`, something about a file, or what is not decided. The form is that of <https://jsonlines.org>.
//!
//! Guarantees: one object a line, a line break behind each; fields are only added with a new version. Deliberately absent: kernels
//! of which nothing is said, and what is suppressed or told with another kernel; `json` has them.

use super::{FileFindingJson, FindingJson, SummaryJson, UnknownJson};
use crate::diagnostic::render::order::{Item, items};
use crate::diagnostic::report::{FileReport, KernelReport, Report};
use serde::Serialize;
use std::io::{self, Write};

/// The version of the contract.
pub const SCHEMA: &str = "raceproof.check-lines.v1";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line<'a> {
    Header {
        schema: &'static str,
        version: &'static str,
        summary: SummaryJson,
    },
    Finding {
        #[serde(flatten)]
        of: Of<'a>,
        severity: &'static str,
        #[serde(flatten)]
        finding: Box<FindingJson<'a>>,
    },
    FileFinding {
        file: String,
        #[serde(flatten)]
        finding: FileFindingJson<'a>,
    },
    Unknown {
        #[serde(flatten)]
        of: Of<'a>,
        #[serde(flatten)]
        unknown: UnknownJson<'a>,
    },
}

/// Of which kernel something is said.
#[derive(Serialize)]
struct Of<'a> {
    /// The file that was checked.
    file: String,
    kernel: &'a str,
    kernel_line: u32,
    template_args: &'a [String],
}

/// Writes `report`, a line for each thing that it says.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let summary = SummaryJson::of(report);
    line(&Line::Header { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), summary }, out)?;
    items(report).into_iter().try_for_each(|item| line(&line_of(item), out))
}

fn line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

fn line_of(item: Item<'_>) -> Line<'_> {
    match item {
        Item::Diagnostic(file, diagnostic) => {
            Line::FileFinding { file: path(file), finding: FileFindingJson::of(diagnostic, &file.sources) }
        }
        Item::Finding(file, kernel, finding) => Line::Finding {
            of: Of::kernel(kernel, file),
            severity: finding.severity().name(),
            finding: Box::new(FindingJson::of(finding, kernel, &file.sources)),
        },
        Item::Unknown(file, kernel, unknown) => {
            Line::Unknown { of: Of::kernel(kernel, file), unknown: UnknownJson::of(unknown) }
        }
    }
}

impl<'a> Of<'a> {
    fn kernel(kernel: &'a KernelReport, file: &FileReport) -> Self {
        Of { file: path(file), kernel: &kernel.name, kernel_line: kernel.line, template_args: &kernel.template_args }
    }
}

fn path(file: &FileReport) -> String {
    file.path.to_string_lossy().into_owned()
}
