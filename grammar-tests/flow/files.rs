//! Kernels in `cases/`, each with what is expected above it:
//!
//! ```text
//! // flow: VERDICT[, INPUT]…[; NOTE]…
//! ```
//!
//! VERDICT is `invariant`, `variant`, `correctable same`, `correctable wider` or `unknown`. The inputs are all
//! property-integrity inputs, in any order (for `unknown` none are compared). A note is `reads` or `conflicts`
//! (what data decides at most) or `schedule WHAT` (what of the schedule reaches an access; without one nothing does).

use raceproof::driver::{FrontEnd, Options, flows};
use raceproof::flow::{Decides, Selection, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a comment says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    verdict: String,
    inputs: BTreeSet<String>,
    notes: BTreeSet<String>,
}

fn expected(line: &str) -> Option<Expected> {
    let (first, notes) = match line.trim().strip_prefix("// flow:")?.split_once(';') {
        Some((first, notes)) => (first, notes),
        None => (line.trim().strip_prefix("// flow:")?, ""),
    };
    let mut words = first.split(',').map(|word| word.trim().to_owned());
    let verdict = words.next()?;
    let notes = notes.split(';').map(|note| note.trim().to_owned()).filter(|note| !note.is_empty()).collect();
    Some(Expected { verdict, inputs: words.collect(), notes })
}

fn found(each: &flows::KernelFlow) -> Expected {
    let flow = &each.flow;
    let verdict = match flow.access_invariant() {
        Some(true) => "invariant".to_owned(),
        None => "unknown".to_owned(),
        Some(false) if flow.is_correctable => {
            let wider = flow.branches.iter().any(|branch| branch.selection == Selection::Wider);
            format!("correctable {}", if wider { "wider" } else { "same" })
        }
        Some(false) => "variant".to_owned(),
    };
    let mut notes = BTreeSet::new();
    for reached in &flow.reached {
        if let Source::Schedule { what, .. } = &reached.source {
            notes.insert(format!("schedule {what}"));
        }
    }
    if verdict == "variant" && notes.is_empty() {
        let reads = flow.inputs().filter(|each| each.source.is_data()).all(|each| each.decides == Decides::Reads);
        notes.insert(if reads { "reads" } else { "conflicts" }.to_owned());
    }
    let inputs =
        if verdict == "unknown" { BTreeSet::new() } else { flow.input_names(&each.kernel).into_iter().collect() };
    Expected { verdict, inputs, notes }
}

fn cases() -> Vec<PathBuf> {
    let (files, errors) = raceproof::source::discover::discover(&[PathBuf::from("grammar-tests/flow/cases")]);
    assert!(errors.is_empty() && files.len() >= 5, "{errors:?} {files:?}");
    files
}

fn complaints(path: &Path, front: &FrontEnd) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the case can be read");
    let options = Options { front: front.clone(), ..Options::default() };
    let kernels = flows::flows(path, &text, &options).kernels;
    let expectations: Vec<Expected> = text.lines().filter_map(expected).collect();
    if kernels.len() != expectations.len() {
        return vec![format!("{}: {} kernels, {} expectations", path.display(), kernels.len(), expectations.len())];
    }
    let pairs = kernels.iter().zip(expectations).map(|(kernel, expected)| (kernel, found(kernel), expected));
    let wrong = pairs.filter(|(_, found, expected)| found != expected);
    wrong
        .map(|(kernel, found, expected)| {
            format!("{}: {}: found {found:?}, expected {expected:?}", path.display(), kernel.kernel.name)
        })
        .collect()
}

fn check(front: &FrontEnd) {
    let wrong: Vec<String> = cases().iter().flat_map(|path| complaints(path, front)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kernel_has_the_flow_that_it_states() {
    check(&FrontEnd::TreeSitter);
}

#[test]
fn every_kernel_has_the_flow_that_it_states_through_libclang() {
    let Some(clang) = crate::clang::clang() else { return };
    check(&clang);
}
