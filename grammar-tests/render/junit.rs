//! The JUnit report, on the reports of the other formats.

use super::{clean, file, one_file, place, race, scatter, shift, span};
use raceproof::diagnostic::render::junit;
use raceproof::diagnostic::report::{Finding, Parse, PlaceAccess, Race, Report};
use raceproof::source::Language;
use raceproof::work::{Spent, Stage, Tally};
use std::time::Duration;

/// The report, which is well-formed and has the elements and attributes that servers read, and no others.
#[track_caller]
pub(super) fn junit_of(report: &Report) -> String {
    let mut out = Vec::new();
    junit::render(report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    is_valid(&text);
    text
}

const ALL_COUNTS: [&str; 5] = ["name", "tests", "failures", "errors", "time"];
const COUNTS: [&str; 6] = ["name", "tests", "failures", "errors", "skipped", "time"];

/// The elements that may be, each with the one around it and its attributes.
const ELEMENTS: [(&str, &str, &[&str]); 5] = [
    ("testsuites", "", &ALL_COUNTS),
    ("testsuite", "testsuites", &COUNTS),
    ("testcase", "testsuite", &["classname", "name", "file", "line", "time"]),
    ("failure", "testcase", &["type", "message"]),
    ("skipped", "testcase", &["message"]),
];

#[track_caller]
fn is_valid(text: &str) {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
    let mut open: Vec<&str> = Vec::new();
    while let Some(start) = rest.find('<') {
        let (plain, tag) = rest.split_at(start);
        is_text(plain);
        assert!(plain.trim().is_empty() || open.last() == Some(&"failure"), "text in {open:?}: {plain:?}");
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{inside}");
            continue;
        }
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let (name, attributes) = inside.split_once(' ').expect("attributes");
        let (_, around, known) = ELEMENTS.into_iter().find(|(known, ..)| *known == name).expect("a known element");
        assert_eq!(open.last().copied().unwrap_or(""), around, "{inside}");
        assert_eq!(names_of(attributes), known, "{inside}");
        if !is_empty {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest == "\n", "{open:?} are open, {rest:?} is left");
}

/// The names of attributes, whose values are text.
#[track_caller]
fn names_of(attributes: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = attributes.split('"').collect();
    assert_eq!(parts.pop(), Some(""), "{attributes}");
    parts.chunks(2).for_each(|pair| is_text(pair[1]));
    parts.chunks(2).map(|pair| pair[0].trim_start().strip_suffix('=').expect("a value")).collect()
}

/// No character that is none of XML 1.0, and no `&` that starts nothing known.
#[track_caller]
fn is_text(text: &str) {
    let is_char = |c: char| (!c.is_control() || c == '\n' || c == '\t') && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    assert!(text.chars().all(is_char), "{text:?}");
    for (at, _) in text.match_indices('&') {
        assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|known| text[at..].starts_with(known)), "{text:?}");
    }
}

#[test]
fn a_race_fails_and_a_free_kernel_passes() {
    insta::assert_snapshot!("race.junit", junit_of(&shift()));
}

#[test]
fn what_is_possible_fails_and_what_is_unknown_is_skipped() {
    insta::assert_snapshot!("possible.junit", junit_of(&scatter()));
}

#[test]
fn tests_of_one_file_have_names_of_their_own() {
    let (sources, _) = one_file("./a\\b.cu", "");
    let mut instance = clean("k", 3);
    instance.template_args = vec!["float".to_owned()];
    let time = Duration::from_millis(1042);
    instance.spent = Spent::new(Stage::Rules, Tally { time, units: 1 });
    let mut report = file("./a\\b.cu", Language::Cuda, sources, vec![clean("k", 1), clean("k", 2), instance]);
    report.files[0].parse = Parse::Partial;
    let text = junit_of(&report);
    let named: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("<testcase ")).collect();
    assert_eq!(named.len(), 4);
    for (case, start) in named.iter().zip([
        "classname=\"a/b.cu\" name=\"(the file)\" file=\"a/b.cu\" line=\"1\"",
        "classname=\"a/b.cu\" name=\"k\" ",
        "classname=\"a/b.cu\" name=\"k (2)\" ",
        "classname=\"a/b.cu\" name=\"k&lt;float&gt;\" file=\"a/b.cu\" line=\"3\" time=\"1.042\"/>",
    ]) {
        assert!(case.starts_with(start), "{case}");
    }
    assert!(
        text.contains(
            "<testsuite name=\"a/b.cu\" tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"1\" time=\"1.042\">"
        )
    );
    assert!(text.contains("<skipped message=\"read only in part\"/>"));
}

#[test]
fn a_file_without_kernels_has_no_suite() {
    let (sources, _) = one_file("a.h", "");
    let text = junit_of(&file("a.h", Language::Cuda, sources, Vec::new()));
    assert!(!text.contains("<testsuite "), "{text}");
}

#[test]
fn what_the_user_wrote_ends_no_element_and_no_attribute() {
    let path = "a\"/></testsuites>&\u{FFFE}\u{1b}[0m.cu";
    let (sources, id) = one_file(path, "y[0] = 1;\n");
    let mut kernel = clean("k<&>", 1);
    kernel.race = Race::Racy;
    kernel.findings = vec![Finding {
        primary: place(span(&sources, id, "y[0]", 0), PlaceAccess::Write),
        secondary: None,
        message: "<failure>\n\"]]>&".into(),
        ..race(&one_file("a.cu", super::SHIFT).0, id)
    }];
    let text = junit_of(&file(path, Language::Cuda, sources, vec![kernel]));
    assert!(text.contains("message=\"&lt;failure&gt; &quot;]]&gt;&amp;\""), "{text}");
}
