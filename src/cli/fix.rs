//! `check --fix`: writes the fixes of a report into its files.
//!
//! A file is replaced in one step, by a new one beside it with the same permissions; one that has changed since it was
//! checked is left alone.
//!
//! Deliberately absent: what a fix is (`driver::mend`).

use super::Exit;
use super::output::{complain, remark};
use crate::diagnostic::report::{FileReport, Report};
use crate::driver::mend::fixed;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::path::Path;

/// Writes them; how many files were changed, and whether all that were to be could be.
pub(super) fn write(report: &Report) -> (usize, Exit) {
    let (mut changed, mut exit) = (0, Exit::Clean);
    for file in &report.files {
        match fix(file) {
            Ok(false) => {}
            Ok(true) => changed += 1,
            Err(error) => {
                complain(&format!("--fix: {}: {error:#}", file.path.display()));
                exit = Exit::Usage;
            }
        }
    }
    (changed, exit)
}

/// Whether the file was changed.
fn fix(file: &FileReport) -> Result<bool> {
    let Some((_, main)) = file.sources.files().next() else { return Ok(false) };
    let Some(text) = fixed(&main.text, file) else { return Ok(false) };
    let now = std::fs::read(&file.path).context("cannot read it")?;
    ensure!(now == main.text.as_bytes(), "it has changed since it was checked, or is not UTF-8");
    replace(&file.path, &text).context("cannot write it")?;
    let fixes = file.kernels.iter().filter_map(|kernel| {
        let fix = kernel.findings.iter().find_map(|finding| finding.fix.as_ref())?;
        Some(format!("{}: {}", kernel.name, fix.message))
    });
    let mut told: Vec<String> = fixes.collect();
    told.dedup();
    told.iter().for_each(|fix| remark(&format!("fixed {}: {fix}", file.path.display())));
    Ok(true)
}

/// Puts `text` into the file at `path`, following links, in one step.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(directory)?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(std::fs::metadata(&path)?.permissions())?;
    new.persist(&path)?;
    Ok(())
}
