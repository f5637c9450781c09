//! Both front ends make the same of every fixture: the same tree, hence the same calculus.
//!
//! Every difference stands in [`EXCEPTIONS`] with its reason. An exception that is none any more fails.

use crate::support::draw::part;
use crate::support::tier::tiers;
use raceproof::driver::options::Options;
use raceproof::driver::show::{Stage, show};
use raceproof::driver::{FrontEnd, Pool};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that the front ends read differently, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("fixtures/libraries/matrix_fragments.cu", "the header of `wmma` is not there: clang drops what uses it"),
    ("fixtures/libraries/matrix_tiles.cu", "the header of `wmma` is not there: clang drops what uses it"),
    ("fixtures/classes/lists.cu", "its class needs a header of the C++ library, which libclang has not"),
    ("fixtures/overloads/packs_of_variables.cu", "libclang shows nothing of the value of a variable template"),
    ("fixtures/traps/host_strangers.cu", "libclang shows no call of a function that is not declared"),
    ("fixtures/traps/launches_in_try.cu", "clang drops what stands in `try`"),
    ("fixtures/traps/newer_cpp.cu", "libclang reads C++ of 2017, and takes for errors what came later"),
    ("fixtures/traps/not_modelled.cu", "each front end has its own words for what it does not read"),
    ("fixtures/traps/not_of_a_device.cu", "libclang takes it for an error"),
    ("fixtures/traps/lambdas_with_values.cu", "libclang shows nothing of the value that a capture is given"),
    ("fixtures/traps/unread.cu", "what is not read is a syntax error of the grammar, and none of clang"),
    ("fixtures/undeclared/calls.cl", "a call of what nothing declares is an error to clang"),
    ("fixtures/undeclared/effects.cu", "a call of what nothing declares is an error to clang"),
    ("fixtures/undeclared/externals.cu", "a call of what nothing declares is an error to clang"),
    ("fixtures/undeclared/macros.cu", "clang drops statements with names that nothing declares"),
    ("fixtures/undeclared/objects.cu", "clang drops statements with names that nothing declares"),
    ("fixtures/undeclared/operators.cu", "clang drops statements with names that nothing declares"),
    ("fixtures/undeclared/references.cu", "clang drops statements with names that nothing declares"),
    ("fixtures/undeclared/values.cu", "clang drops statements with names that nothing declares"),
];

/// Whether the front ends are known to read this file differently.
pub(crate) fn is_exception(path: &Path) -> bool {
    EXCEPTIONS.iter().any(|(file, _)| path == Path::new(file))
}

fn shown(stage: Stage, path: &Path, text: &str, front: FrontEnd) -> String {
    let options = Options { front, ..Options::default() };
    show(stage, path, text, &options).unwrap_or_else(|error| error.to_string())
}

/// The first lines that differ, if any do.
fn difference(path: &Path, pool: &Arc<Pool>) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("the fixture can be read");
    [Stage::Syntax, Stage::Calculus].into_iter().find_map(|stage| {
        let ours = shown(stage, path, &text, FrontEnd::TreeSitter);
        let theirs = shown(stage, path, &text, FrontEnd::Clang(Arc::clone(pool)));
        let mut lines = ours.lines().zip(theirs.lines());
        let first = lines.find(|(ours, theirs)| ours != theirs);
        (ours != theirs).then(|| format!("{}: {stage:?}: {first:?}", path.display()))
    })
}

#[test]
fn both_front_ends_read_every_fixture_alike() {
    let Some(pool) = super::pool() else { return };
    let (files, errors) = raceproof::source::discover::discover(&[PathBuf::from("fixtures")]);
    assert!(errors.is_empty() && !files.is_empty(), "{errors:?}");
    let files = part("agreement of front ends", files, tiers(1, 3, 1), |path| path.display().to_string());
    let wrong: Vec<String> = files
        .par_iter()
        .filter_map(|path| match (difference(path, &pool), is_exception(path)) {
            (Some(difference), false) => Some(difference),
            (None, true) => Some(format!("{}: the exception is none any more", path.display())),
            _ => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
