//! `check --fix`: writes the fixes of a report into its files.
//!
//! A file is replaced in one step, by a new one beside it with the same permissions; one that has changed since it was
//! checked is left alone.
//!
//! Comments that suppress nothing may stand in headers, too: these are written once, whoever includes them.
//!
//! Deliberately absent: what a fix is (`driver::mend`, `suppress`).

use super::Exit;
use super::output::{complain, remark};
use crate::diagnostic::report::Fix;
use crate::diagnostic::report::{FileReport, Report};
use crate::driver::mend::{applied, fixed};
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::path::Path;

/// Writes them; how many files were changed, and whether all that were to be could be.
pub(super) fn write(report: &Report) -> (usize, Exit) {
    let (mut changed, mut exit) = (0, Exit::Clean);
    for file in &report.files {
        match fix(file) {
            Ok(count) => changed += count,
            Err(error) => {
                complain(&format!("--fix: {}: {error:#}", file.path.display()));
                exit = Exit::Usage;
            }
        }
    }
    (changed, exit)
}

/// How many files were changed: this one, and headers in which comments stand that are told with it.
fn fix(file: &FileReport) -> Result<usize> {
    let Some((main, source)) = file.sources.files().next() else { return Ok(0) };
    let mut changed = 0;
    for (id, header) in file.sources.files().filter(|(id, _)| *id != main) {
        let stands_there = |fix: &&Fix| fix.edits.iter().any(|edit| edit.span.file == id);
        let fixes = || file.diagnostics.iter().filter_map(|it| it.fix.as_ref()).filter(stands_there);
        if let Some(text) = applied(&header.text, fixes()) {
            write_checked(&header.path, &header.text, &text)?;
            fixes().for_each(|fix| remark(&format!("fixed {}: {}", header.path.display(), fix.message)));
            changed += 1;
        }
    }
    let Some(text) = fixed(&source.text, file) else { return Ok(changed) };
    write_checked(&file.path, &source.text, &text)?;
    let stands_here = |fix: &&Fix| fix.edits.iter().any(|edit| edit.span.file == main);
    let of_comments = file.diagnostics.iter().filter_map(|it| it.fix.as_ref()).filter(stands_here);
    of_comments.for_each(|fix| remark(&format!("fixed {}: {}", file.path.display(), fix.message)));
    let fixes = file.kernels.iter().filter_map(|kernel| {
        let fix = kernel.told().find_map(|finding| finding.fix.as_ref())?;
        Some(format!("{}: {}", kernel.name, fix.message))
    });
    let mut told: Vec<String> = fixes.collect();
    told.dedup();
    told.iter().for_each(|fix| remark(&format!("fixed {}: {fix}", file.path.display())));
    Ok(changed + 1)
}

/// Writes a text in the place of the one that was checked.
fn write_checked(path: &Path, checked: &str, text: &str) -> Result<()> {
    let now = std::fs::read(path).context("cannot read it")?;
    ensure!(now == checked.as_bytes(), "it has changed since it was checked, or is not UTF-8");
    replace(path, text).context("cannot write it")
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
