//! Every `.cu` and `.cl` file below `fixtures/` is a test that states its own expectations.
//!
//! `fixtures/README.md` is the format. Set `RACEPROOF_FIXTURE` to a part of a path to run only some files.

mod compare;
mod copies;
pub(crate) mod expectation;

use crate::support::draw::part;
use crate::support::tier::tiers;
pub(crate) use expectation::Fixture;
use raceproof::diagnostic::report::FileReport;
use raceproof::driver::FrontEnd;
use raceproof::driver::parallel::{Input, Unwatched, check_all};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// All fixtures, sorted.
pub(crate) fn files() -> Vec<PathBuf> {
    let (files, errors) = raceproof::source::discover::discover(&[PathBuf::from("fixtures")]);
    assert!(errors.is_empty(), "{errors:?}");
    let wanted = std::env::var("RACEPROOF_FIXTURE").unwrap_or_default();
    files.into_iter().filter(|file| file.to_string_lossy().contains(&wanted)).collect()
}

/// The file's complaints; empty if it passes.
fn run(path: &Path, front: Option<&FrontEnd>) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut fixture = match Fixture::parse(&text) {
        Ok(fixture) => fixture,
        Err(complaints) => return complaints,
    };
    if let Some(front) = front {
        fixture.options.front = front.clone();
    }
    let known_wrong = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.starts_with("fp_") || name.starts_with("fn_")
    });
    let complaints = match checked(path, &text, &fixture) {
        Ok(report) => compare::compare(&report, &fixture),
        Err(complaint) => return vec![complaint],
    };
    match (known_wrong, fixture.reason.is_some(), complaints.is_empty()) {
        (false, _, _) => complaints,
        (true, false, _) => vec!["a file named fp_ or fn_ needs a line `// reason: …`".into()],
        (true, true, true) => vec!["the known wrong answer is mended: rename the file".into()],
        (true, true, false) => Vec::new(),
    }
}

/// Text is handed in, so that the file is read once; problems beside the report are failures whatever is expected.
fn checked(path: &Path, text: &str, fixture: &Fixture) -> Result<FileReport, String> {
    let input = Input::Text(path.to_path_buf(), text.as_bytes().to_vec());
    let mut run = check_all(&[input], &fixture.options, &Unwatched);
    match run.problems.pop() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(run.report.files.remove(0)),
    }
}

#[test]
fn every_fixture_gives_what_it_states() {
    all(None, files());
}

#[test]
fn every_fixture_gives_what_it_states_through_libclang() {
    let Some(clang) = crate::clang::clang() else { return };
    let files = drawn("fixtures through libclang");
    all(Some(&clang), files.into_iter().filter(|path| !crate::clang::agreement::is_exception(path)).collect());
}

#[test]
fn every_fixture_gives_what_it_states_through_both_front_ends() {
    let Some(auto) = crate::clang::auto() else { return };
    all(Some(&auto), drawn("fixtures through both front ends"));
}

/// Through tree-sitter each fixture is tried each time, through the others a part.
fn drawn(what: &str) -> Vec<PathBuf> {
    part(what, files(), tiers(1, 4, 1), |path| path.display().to_string())
}

fn all(front: Option<&FrontEnd>, files: Vec<PathBuf>) {
    assert!(!files.is_empty(), "no fixture is named like RACEPROOF_FIXTURE");
    let named =
        |path: &PathBuf| run(path, front).into_iter().map(|line| format!("{}: {line}", path.display())).collect();
    let failures: Vec<Vec<String>> = files.par_iter().map(named).collect();
    let failed = failures.iter().filter(|complaints| !complaints.is_empty()).count();
    assert!(failed == 0, "{failed} of {} fixtures fail\n{}", files.len(), failures.concat().join("\n"));
}
