//! `check --changed-since REF`: which files git says have changed, and which of the files that were named these changes concern.
//!
//! What git tracks counts as it is now, committed or not, and what it does not track unless it ignores it.
//!
//! Deliberately absent: which files a change concerns ([`crate::driver::changed`]).

use super::output::remark;
use crate::driver::changed::{ChangedFile, concerned};
use crate::driver::options::{Options, Part};
use crate::driver::parallel::Input;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Leaves of the inputs those that what has changed since a revision may concern.
pub(super) fn choose(revision: &str, inputs: &mut Vec<Input>, options: &mut Options) -> Result<()> {
    let is_text = |input: &Input| matches!(input, Input::Text(..));
    ensure!(!inputs.iter().any(is_text), "--changed-since: standard input is no file; give files and directories");
    let files: Vec<PathBuf> = inputs.iter().map(|input| input.path().to_path_buf()).collect();
    let chosen = since(revision, &files, options).context("--changed-since")?;
    if chosen.len() < files.len() {
        let (left, all) = (chosen.len(), files.len());
        remark(&format!("{left} of {all} files are concerned by what has changed since {revision}"));
    }
    *inputs = chosen.into_iter().map(Input::File).collect();
    options.workload.part = Part::Chosen(files.into());
    Ok(())
}

/// The files among `files` that what has changed since a revision may concern.
fn since(revision: &str, files: &[PathBuf], options: &Options) -> Result<Vec<PathBuf>> {
    ensure!(!revision.is_empty() && !revision.starts_with('-'), "`{revision}` is no revision");
    let directories = files.iter().filter_map(|file| std::path::absolute(file).ok()?.parent().map(Path::to_path_buf));
    let mut repositories: BTreeSet<PathBuf> = BTreeSet::new();
    for directory in directories.collect::<BTreeSet<_>>() {
        if repositories.iter().all(|known| !directory.starts_with(known)) {
            let root = git(&directory, &["rev-parse", "--show-toplevel"])?;
            repositories.insert(PathBuf::from(String::from_utf8_lossy(&root).trim_end()));
        }
    }
    let mut changes = Vec::new();
    for repository in &repositories {
        changes.extend(in_repository(repository, revision)?);
    }
    Ok(concerned(files, &changes, &options.include_dirs, options.headers.project.as_deref()))
}

/// What has changed in a repository.
fn in_repository(repository: &Path, revision: &str) -> Result<Vec<ChangedFile>> {
    let tracked = git(repository, &["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", revision, "--"])?;
    let untracked = git(repository, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    let names = |list: Vec<u8>| -> Vec<String> {
        let names = list.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    let before = |name: &str| {
        let text = git(repository, &["cat-file", "blob", &format!("{revision}:{name}")]).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    let tracked = names(tracked).into_iter().map(|name| (before(&name), name));
    let untracked = names(untracked).into_iter().map(|name| (None, name));
    let changed = tracked.chain(untracked).map(|(before, name)| ChangedFile { path: repository.join(name), before });
    Ok(changed.collect())
}

/// What git answers in a directory. It runs nothing that the repository configures.
fn git(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let quiet = ["-c", "core.fsmonitor=false"];
    let output = Command::new("git")
        .args(quiet)
        .args(arguments)
        .current_dir(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .context("git is needed, and cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it ended without a word");
    ensure!(output.status.success(), "git, in {}: {said}", directory.display());
    Ok(output.stdout)
}

/// The lines of each file that git says are new since a revision.
pub(super) fn lines_since(revision: &str, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, BTreeSet<u32>>> {
    ensure!(!revision.is_empty() && !revision.starts_with('-'), "`{revision}` is no revision");
    let mut changed = BTreeMap::new();
    for file in files {
        let absolute = std::path::absolute(file)?;
        let directory = absolute.parent().unwrap_or(Path::new("."));
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_tracked = !git(directory, &["ls-files", "--", &name])?.is_empty();
        let told = git(directory, &["diff", "-U0", "--no-color", "--no-ext-diff", revision, "--", &name])?;
        let lines = match is_tracked {
            true => new_lines(&String::from_utf8_lossy(&told)),
            // All of it is new.
            false => (1..=std::fs::read(file)?.split(|&byte| byte == b'\n').count() as u32).collect(),
        };
        changed.insert(file.clone(), lines);
    }
    Ok(changed)
}

/// The lines that a diff without context puts in: `@@ -1,2 +3,4 @@` are 3 to 6.
fn new_lines(diff: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for hunk in diff.lines().filter(|line| line.starts_with("@@ ")) {
        let Some(new) = hunk.split(' ').find_map(|word| word.strip_prefix('+')) else { continue };
        let (first, count) = new.split_once(',').unwrap_or((new, "1"));
        if let (Ok(first), Ok(count)) = (first.parse::<u32>(), count.parse::<u32>()) {
            lines.extend(first..first.saturating_add(count));
        }
    }
    lines
}
