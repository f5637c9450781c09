//! The examples of the rule pages: a block marked `bad` is reported under the page's rule, one marked `ok` is
//! not, and is clean unless the page is about what cannot be read.

use raceproof::diagnostic::RuleId;
use raceproof::diagnostic::report::{FileReport, Race};
use raceproof::driver::options::{Contracts, Hints, OpenContracts, Options};
use raceproof::driver::parallel::{Input, Unwatched, check_all};
use raceproof::driver::rule_page;

/// A code block of a page.
struct Example {
    language: &'static str,
    is_bad: bool,
    text: String,
}

/// The marked code blocks of a page, in order.
fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (fence, text) = block.split_once('\n').expect("a fence ends its line");
        let language = if fence.starts_with("opencl") { "cl" } else { "cu" };
        match fence.split_once(' ') {
            Some((_, "bad")) => examples.push(Example { language, is_bad: true, text: text.to_string() }),
            Some((_, "ok")) => examples.push(Example { language, is_bad: false, text: text.to_string() }),
            Some((_, other)) => panic!("a code block is marked `{other}`"),
            None => {}
        }
    }
    examples
}

fn checked(example: &Example) -> FileReport {
    let path = format!("example.{}", example.language);
    let input = Input::Text(path.into(), example.text.clone().into_bytes());
    let contracts = Contracts { open: OpenContracts::AsFindings, ..Contracts::default() };
    let options = Options { hints: Hints::Give, contracts, ..Options::default() };
    let mut run = check_all(&[input], &options, &Unwatched);
    assert!(run.problems.is_empty(), "{:?}", run.problems);
    run.report.files.remove(0)
}

fn is_reported(rule: RuleId, report: &FileReport) -> bool {
    let unknowns = report.kernels.iter().any(|kernel| !kernel.unknowns.is_empty());
    report.diagnostics.iter().any(|diagnostic| diagnostic.rule == rule)
        || report.kernels.iter().flat_map(|kernel| kernel.each_finding()).any(|finding| finding.rule == rule)
        || (rule == RuleId::Unsupported && unknowns)
}

#[test]
fn examples_are_reported_as_their_pages_say() {
    let mut wrong = Vec::new();
    for rule in RuleId::ALL {
        let examples = examples(rule_page(rule));
        assert!(examples.iter().any(|example| !example.is_bad), "{}: no example of what to do", rule.name());
        for example in examples {
            let report = checked(&example);
            let verdicts: Vec<_> = report.kernels.iter().map(|kernel| kernel.race.name()).collect();
            let is_clean = report.kernels.iter().all(|kernel| kernel.race == Race::RaceFree);
            let as_said = is_reported(rule, &report) == example.is_bad && (example.is_bad || is_clean);
            if !as_said || report.kernels.is_empty() && rule != RuleId::Parse {
                let word = if example.is_bad { "bad" } else { "ok" };
                wrong.push(format!("{}, {word} example ({verdicts:?}):\n{}", rule.name(), example.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
