//! `--baseline`, `--write-baseline`, `--prune-baseline`: what becomes of the file once a tree is checked.
//!
//! Guarantees: a baseline is replaced in one step; a run that was interrupted, or in which files could not be read, writes
//! none. Deliberately absent: which findings a baseline has (`suppress::baseline`).

use super::args::BaselineArgs;
use crate::driver::baseline::{Baseline, Gone};
use crate::driver::options::Options;
use crate::driver::parallel::{Run, sought};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;

/// Findings that are named one by one; the rest is counted.
const MOST_NAMED: usize = 10;

/// Writes what is to be written, and says what is to be said of the baseline.
pub(super) fn after(args: &BaselineArgs, run: &mut Run, options: &Options) -> Result<Vec<String>> {
    let is_whole = run.unfinished == 0 && run.problems.is_empty();
    if let Some(path) = args.write_baseline.as_deref() {
        if !is_whole {
            return Ok(vec![format!("{}: not written, since not everything could be checked", path.display())]);
        }
        let baseline = Baseline::of(path, &run.report);
        write(path, &baseline.text())?;
        baseline.hide(&mut run.report);
        return Ok(vec![format!("{}: {}", path.display(), counted(baseline.count(), "is written", "are written"))]);
    }
    let Some(baseline) = options.telling.baseline.as_deref().filter(|_| is_whole) else { return Ok(Vec::new()) };
    let gone = baseline.gone(&run.report, &sought(options));
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let (path, count) = (baseline.path().display(), gone.iter().map(|gone| gone.count).sum());
    let mut told: Vec<String> = gone.iter().take(MOST_NAMED).map(|gone| format!("gone: {}", line(gone))).collect();
    if gone.len() > MOST_NAMED {
        told.push(format!("gone: {} more", gone.len() - MOST_NAMED));
    }
    if args.prune_baseline {
        write(baseline.path(), &baseline.without(&gone).text())?;
        told.push(format!("{path}: {}", counted(count, "is taken out", "are taken out")));
    } else {
        told.push(format!(
            "{path}: {} (--prune-baseline takes out what is gone)",
            counted(count, "is gone", "are gone")
        ));
    }
    Ok(told)
}

fn line(gone: &Gone) -> String {
    match gone.count {
        1 => gone.told(),
        count => format!("{} ({count} of them)", gone.told()),
    }
}

/// `1 finding is gone`, `2 findings are gone`
fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 finding {one}") } else { format!("{count} findings {many}") }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let about = || format!("cannot write {}", path.display());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(directory).with_context(about)?;
    new.write_all(text.as_bytes()).with_context(about)?;
    // Temporary files are for their owner alone; a baseline is committed and read by others.
    if let Ok(old) = std::fs::metadata(path) {
        new.as_file().set_permissions(old.permissions()).with_context(about)?;
    } else {
        readable(new.as_file()).with_context(about)?;
    }
    new.persist(path).with_context(about)?;
    Ok(())
}

#[cfg(unix)]
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
