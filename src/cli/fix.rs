//! `check --fix`: writes the fixes of a report into its files.
//!
//! A file is replaced in one step, by a new one beside it with the same permissions; one that has changed since it was
//! checked is left alone.
//!
//! All fixes of a file are written at once, whichever reports they are told with: comments that suppress nothing may stand in
//! headers, and a file may be judged as a part of another one.
//!
//! Deliberately absent: what a fix is (`driver::mend`, `suppress`).

use super::Exit;
use super::output::{complain, remark};
use crate::diagnostic::report::{FileReport, Fix, Report};
use crate::driver::mend::applied;
use crate::source::disk::normalized;
use crate::source::embedded::out_of_strings;
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What is to be done to a file.
struct Mending<'r> {
    path: &'r Path,
    /// The text that was checked; two if it changed meanwhile.
    checked: Vec<&'r str>,
    fixes: Vec<&'r Fix>,
    /// What is told of them, each once.
    told: Vec<String>,
}

/// Writes them; how many files were changed, and whether all that were to be could be.
pub(super) fn write(report: &Report) -> (usize, Exit) {
    let (mut changed, mut exit) = (0, Exit::Clean);
    for mending in mendings(report).into_values() {
        match mending.write() {
            Ok(()) => {
                changed += 1;
                let path = mending.path.display();
                mending.told.iter().for_each(|fix| remark(&format!("fixed {path}: {fix}")));
            }
            Err(error) => {
                complain(&format!("--fix: {}: {error:#}", mending.path.display()));
                exit = Exit::Usage;
            }
        }
    }
    (changed, exit)
}

/// The files that have fixes, by their paths.
fn mendings(report: &Report) -> BTreeMap<PathBuf, Mending<'_>> {
    let mut all: BTreeMap<PathBuf, Mending<'_>> = BTreeMap::new();
    for (file, fix, told) in report.files.iter().flat_map(fixes) {
        let Some(edit) = fix.edits.first() else { continue };
        let source = file.sources.file(edit.span.file);
        let new = || Mending { path: &source.path, checked: Vec::new(), fixes: Vec::new(), told: Vec::new() };
        let mending = all.entry(normalized(&source.path)).or_insert_with(new);
        if !mending.checked.contains(&&*source.text) {
            mending.checked.push(&source.text);
        }
        mending.fixes.push(fix);
        if !mending.told.contains(&told) {
            mending.told.push(told);
        }
    }
    all
}

/// All fixes that are told with a report, and what is said of each.
fn fixes(file: &FileReport) -> impl Iterator<Item = (&FileReport, &Fix, String)> {
    let of_comments = file.diagnostics.iter().filter_map(|it| it.fix.as_ref()).map(|fix| (fix, fix.message.clone()));
    let of_kernels = file.kernels.iter().flat_map(|kernel| {
        let wanted = kernel.findings.iter().filter(|finding| !finding.is_hidden());
        let fixes = wanted.filter_map(|finding| finding.fix.as_ref());
        fixes.map(move |fix| (fix, format!("{}: {}", kernel.name, fix.message)))
    });
    of_comments.chain(of_kernels).map(move |(fix, told)| (file, fix, told))
}

impl Mending<'_> {
    /// Writes the text with all fixes in the place of the one that was checked.
    fn write(&self) -> Result<()> {
        let now = std::fs::read(self.path).context("cannot read it")?;
        let now = String::from_utf8(now).map_err(|_| anyhow!("it is not UTF-8"))?;
        // Of programs with kernels in their strings, only these are checked; what is around them is blank.
        let is_it = matches!(self.checked[..], [checked] if checked == now || checked == out_of_strings(&now));
        ensure!(is_it, "it has changed since it was checked");
        let text = applied(&now, self.fixes.iter().copied()).context("its fixes cannot be made together")?;
        replace(self.path, &text).context("cannot write it")
    }
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
