//! From the text of one file to the instrumented unit that a back end builds.
//!
//! Always by the built-in front end: the edits need the tokens of every node.

pub use crate::execute::by_hand::{Subject, commands, write_runtime};
pub use crate::instrument::{Backend, Purpose};

use super::Options;
use super::front::preprocessing;
use crate::diagnostic::Diagnostic;
use crate::front::tree_sitter;
use crate::instrument::{self, InstrumentError, Instrumented, Source};
use crate::preprocess;
use crate::source::{SourceMap, Span};
use std::path::Path;

/// An instrumented file.
#[derive(Debug)]
pub struct InstrumentedFile {
    /// The text, its sites, and what was left out.
    pub unit: Instrumented,
    /// The files that spans point into.
    pub sources: SourceMap,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Instruments the text of one file for the back end that runs on the CPU.
pub fn instrument(path: &Path, text: &str, options: &Options) -> Result<InstrumentedFile, InstrumentError> {
    instrument_for(Backend::Cpu, path, text, options)
}

/// The same for another purpose than a log.
pub(super) fn instrument_to(
    purpose: Purpose<'_>,
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<InstrumentedFile, InstrumentError> {
    instrumented((Backend::Cpu, purpose), path, text, options)
}

/// Instruments the text of one file.
pub fn instrument_for(
    backend: Backend,
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<InstrumentedFile, InstrumentError> {
    instrumented((backend, Purpose::Log), path, text, options)
}

fn instrumented(
    (backend, purpose): (Backend, Purpose<'_>),
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<InstrumentedFile, InstrumentError> {
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let told = preprocessing(path, text, options);
    let output = preprocess::preprocess(sources, main, &told);
    let mut answer = tree_sitter::read(instrument::numbered(&output), main, &told);
    let source = Source {
        backend,
        output: &output,
        unit: &answer.unit,
        asides: &answer.asides,
        main,
        defines: &told.defines,
        purpose,
    };
    let unit = instrument::instrument(&source)?;
    let mut diagnostics = output.diagnostics.clone();
    for mut diagnostic in answer.diagnostics.drain(..) {
        diagnostic.primary.span =
            instrument::place_of(&output, diagnostic.primary.span).unwrap_or(Span::new(main, 0, 0));
        diagnostics.push(diagnostic);
    }
    Ok(InstrumentedFile { unit, sources: output.sources, diagnostics })
}
