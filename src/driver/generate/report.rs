//! What was found for each kernel, and for people.

use crate::coverage::text::{missed, totals};
use crate::coverage::{Coverage, Totals};
pub use crate::execute::launch::Description;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What was generated for a file.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// By kernel, in the order of the text.
    pub kernels: Vec<Searched>,
    /// Kernels that were not searched.
    pub skipped: Vec<Skipped>,
    /// What is not counted, and what else is to be known.
    pub notes: Vec<String>,
    /// What all descriptions reach together, of the device code of the file.
    pub coverage: Coverage,
}

/// What was generated for a kernel.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Its name.
    pub kernel: String,
    /// Launches that are kept: in words, with what each reaches.
    pub launches: Vec<(String, Coverage)>,
    /// Cases that were run.
    pub tried: usize,
    /// Why cases failed, and how often.
    pub failures: BTreeMap<String, usize>,
    /// The launches; nothing if none reached anything.
    pub description: Option<Description>,
    /// Launches whose contents break the kernel's contract, for what only they reach.
    pub breaking: Option<Description>,
    /// What the contract asks of contents.
    pub contract: Vec<String>,
}

impl Searched {
    /// What its launches reach together.
    pub fn coverage(&self) -> Coverage {
        Coverage::together(self.launches.iter().map(|(_, coverage)| coverage.clone()))
    }
}

/// A kernel that was not searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub kernel: String,
    /// Why.
    pub reason: String,
}

impl Generated {
    /// Puts together what the kernels' launches reach; `untouched` has all points of the file.
    pub(super) fn conclude(&mut self, untouched: Coverage) {
        let reached = self.kernels.iter().map(Searched::coverage);
        self.coverage = Coverage::together(reached.chain([untouched]));
    }
}

/// Where the launches of a kernel were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Those that keep what the kernel asks of contents.
    pub launches: Option<String>,
    /// The others.
    pub breaking: Option<String>,
}

/// The version of the JSON form.
pub const SCHEMA: &str = "raceproof-generated/1";

/// The JSON form.
#[derive(Serialize)]
struct Json<'g> {
    schema: &'static str,
    totals: Totals,
    kernels: Vec<JsonKernel<'g>>,
    skipped: &'g [Skipped],
}

#[derive(Serialize)]
struct JsonKernel<'g> {
    kernel: &'g str,
    /// The file that holds its launches.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'g str>,
    /// The file that holds those whose contents break its contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    breaking: Option<&'g str>,
    /// What its contract asks of contents.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    contract: &'g [String],
    launches: usize,
    tried: usize,
    failures: &'g BTreeMap<String, usize>,
}

/// Writes the report as JSON; `files` are those of the kernels, in their order.
pub fn json(generated: &Generated, files: &[Written], out: &mut dyn Write) -> io::Result<()> {
    let kernels = generated.kernels.iter().zip(files).map(|(kernel, file)| JsonKernel {
        kernel: &kernel.kernel,
        file: file.launches.as_deref(),
        breaking: file.breaking.as_deref(),
        contract: &kernel.contract,
        launches: kernel.launches.len(),
        tried: kernel.tried,
        failures: &kernel.failures,
    });
    let json = Json {
        schema: SCHEMA,
        totals: generated.coverage.totals,
        kernels: kernels.collect(),
        skipped: &generated.skipped,
    };
    serde_json::to_writer_pretty(&mut *out, &json)?;
    writeln!(out)
}

/// Writes the report for people.
pub fn text(generated: &Generated, files: &[Written], out: &mut dyn Write) -> io::Result<()> {
    for (kernel, file) in generated.kernels.iter().zip(files) {
        let Searched { kernel: name, tried, failures, .. } = kernel;
        let kept = kernel.launches.len();
        let launches = if kept == 1 { "launch" } else { "launches" };
        match &file.launches {
            Some(file) => write!(out, "{name}: {kept} {launches} of {tried} tried in {file}")?,
            None => write!(out, "{name}: none of {tried} launches came to its end")?,
        }
        let failures: Vec<String> = failures.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if !failures.is_empty() {
            write!(out, " (left out: {})", failures.join(", "))?;
        }
        writeln!(out)?;
        if let Some(breaking) = &file.breaking {
            let contract = kernel.contract.join(" and ");
            writeln!(out, "  what only contents reach that break `{contract}` is in {breaking}")?;
        }
    }
    for Skipped { kernel, reason } in &generated.skipped {
        writeln!(out, "{kernel}: not searched: {reason}")?;
    }
    missed(&generated.coverage, out)?;
    totals(&generated.coverage, out)
}
