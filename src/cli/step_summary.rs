//! The page of a step of GitHub Actions, into the file that `GITHUB_STEP_SUMMARY` names.
//!
//! It is written with `--format github`, and where `--output github=PATH` is; other steps' tools do the same, so it is put
//! behind what is there, and takes no more than what is left of GitHub's limit.
//!
//! Deliberately absent: an exit code. A page that cannot be written is told, and the findings are in the log.

use super::args::Format;
use super::output::warn;
use super::outputs::Outputs;
use crate::diagnostic::render::github::summary::{MOST_BYTES, page};
use crate::diagnostic::report::Report;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Adds a page about `report`, if GitHub waits for one.
pub(super) fn write(report: &Report, outputs: &Outputs) {
    let file = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let Some(path) = file.filter(|_| outputs.formats().any(|format| format == Format::Github)) else { return };
    match append(report, &path) {
        Ok(Written::All) => {}
        Ok(Written::Nothing) => warn(&format!("{VARIABLE}: there is no room left for a summary of this step")),
        Err(error) => warn(&format!("{VARIABLE}: cannot write {}: {error}", path.display())),
    }
}

/// What became of a page.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    All,
    Nothing,
}

fn append(report: &Report, path: &Path) -> io::Result<Written> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let taken = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let room = MOST_BYTES.saturating_sub(taken).saturating_sub(1);
    let Some(page) = page(report, room) else { return Ok(Written::Nothing) };
    // What is there may end within a line.
    let page = if taken == 0 { page } else { format!("\n{page}") };
    file.write_all(page.as_bytes())?;
    Ok(Written::All)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_stands_behind_what_is_there_and_within_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("summary.md");
        std::fs::write(&path, "earlier").unwrap();
        assert_eq!(append(&Report::default(), &path).unwrap(), Written::All);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("earlier\n### raceproof\n"), "{text}");
        std::fs::write(&path, vec![b' '; MOST_BYTES - 20]).unwrap();
        assert_eq!(append(&Report::default(), &path).unwrap(), Written::Nothing);
        assert_eq!(std::fs::metadata(&path).unwrap().len() as usize, MOST_BYTES - 20);
        assert!(append(&Report::default(), place.path()).is_err());
    }
}
