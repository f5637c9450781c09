//! Formats that are lists: `concise`, JSON Lines, Azure's commands, Reviewdog's object, and what GitHub shows of a long one.

use super::{clean, file, one_file, place, race, scatter, shift, span};
use raceproof::diagnostic::render::{azure, concise, github, json, rdjson};
use raceproof::diagnostic::report::{Certainty, Finding, Fix, FixEdit, PlaceAccess, Race, Report};
use raceproof::source::{Language, Span};
use serde_json::Value;
use std::io::{self, Write};

fn written(render: fn(&Report, &mut dyn Write) -> io::Result<()>, report: &Report) -> String {
    let mut out = Vec::new();
    render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The last line, which every list has, and those before it.
#[track_caller]
fn with_counts(text: &str) -> (Vec<&str>, &str) {
    let mut lines: Vec<&str> = text.strip_suffix('\n').expect("the last line ends").split('\n').collect();
    let last = lines.pop().unwrap();
    assert!(last.contains(" kernel"), "{text}");
    (lines, last)
}

/// A line for each thing: place, rule, severity, message.
#[track_caller]
fn concise_of(report: &Report) -> String {
    let text = written(concise::render, report);
    for line in with_counts(&text).0 {
        assert!(["error: ", "warning: ", "note: ", "hint: "].iter().any(|word| line.contains(word)), "{line:?}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    text
}

/// A command on each line, with the properties that it must have and no others.
#[track_caller]
fn azure_of(report: &Report) -> String {
    let text = written(azure::render, report);
    for line in with_counts(&text).0 {
        let command = line.strip_prefix("##vso[task.logissue ").unwrap_or_else(|| panic!("{line:?}"));
        let (properties, message) = command.split_once(']').expect("the command ends");
        let pairs: Vec<(&str, &str)> = properties.split(';').map(|pair| pair.split_once('=').unwrap()).collect();
        let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["type", "sourcepath", "linenumber", "columnnumber", "code"], "{line:?}");
        assert!(["error", "warning"].contains(&pairs[0].1), "{line:?}");
        assert!(pairs[2..4].iter().all(|(_, number)| number.parse::<u32>().is_ok_and(|it| it >= 1)), "{line:?}");
        assert!(!message.is_empty() && !line.contains(char::is_control), "{line:?}");
    }
    text
}

/// What the JSON schema of `DiagnosticResult` says, and what its comments add: `start` is required, lines and columns count from 1.
#[track_caller]
fn rdjson_of(report: &Report) -> Value {
    let result: Value = serde_json::from_str(&written(rdjson::render, report)).unwrap();
    only(&result, &["source", "diagnostics"]);
    only(&result["source"], &["name"]);
    for diagnostic in result["diagnostics"].as_array().unwrap() {
        only(diagnostic, &["message", "location", "severity", "code", "suggestions", "related_locations"]);
        assert!(diagnostic["message"].is_string());
        assert!(["ERROR", "WARNING", "INFO"].contains(&diagnostic["severity"].as_str().unwrap()));
        only(&diagnostic["code"], &["value"]);
        is_location(&diagnostic["location"]);
        for related in diagnostic["related_locations"].as_array().unwrap_or(&Vec::new()) {
            only(related, &["message", "location"]);
            is_location(&related["location"]);
        }
        for suggestion in diagnostic["suggestions"].as_array().unwrap_or(&Vec::new()) {
            only(suggestion, &["range", "text"]);
            assert!(suggestion["text"].is_string());
            is_range(&suggestion["range"]);
        }
    }
    result
}

#[track_caller]
fn is_location(location: &Value) {
    only(location, &["path", "range"]);
    assert!(location["path"].as_str().is_some_and(|path| !path.starts_with("./")), "{location}");
    is_range(&location["range"]);
}

#[track_caller]
fn is_range(range: &Value) {
    only(range, &["start", "end"]);
    assert!(range["start"].is_object(), "{range}");
    for position in range.as_object().unwrap().values() {
        only(position, &["line", "column"]);
        assert!(position.as_object().unwrap().values().all(|it| it.as_u64().is_some_and(|it| it >= 1)), "{range}");
    }
}

#[track_caller]
fn only(object: &Value, known: &[&str]) {
    for key in object.as_object().expect("an object").keys() {
        assert!(known.contains(&key.as_str()), "{key} is no property here: {object}");
    }
}

/// An object on each line, the first of which is the header.
#[track_caller]
fn lines_of(report: &Report) -> Vec<Value> {
    let text = written(json::lines::render, report);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), text.matches('\n').count());
    assert_eq!((&lines[0]["type"], &lines[0]["schema"]), (&"header".into(), &"raceproof.check-lines.v1".into()));
    for line in &lines[1..] {
        assert!(["finding", "file-finding", "unknown"].contains(&line["type"].as_str().unwrap()), "{line}");
        assert!(line["file"].is_string(), "{line}");
    }
    lines
}

/// Checks that all of them can be written.
pub(super) fn can_be_written(report: &Report) {
    concise_of(report);
    azure_of(report);
    rdjson_of(report);
    lines_of(report);
    let page = github::summary::page(report, github::summary::MOST_BYTES).expect("there is room");
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "{page:?}");
}

#[test]
fn a_race_with_its_witness() {
    insta::assert_snapshot!("race.concise", concise_of(&shift()));
    insta::assert_snapshot!("race.azure", azure_of(&shift()));
    insta::assert_snapshot!("race.rdjson", serde_json::to_string_pretty(&rdjson_of(&shift())).unwrap());
    insta::assert_snapshot!("race.summary", github::summary::page(&shift(), 10_000).unwrap());
}

#[test]
fn possible_and_unknown_in_the_words_of_opencl() {
    insta::assert_snapshot!("possible.concise", concise_of(&scatter()));
    insta::assert_snapshot!("possible.azure", azure_of(&scatter()));
    insta::assert_snapshot!("possible.rdjson", serde_json::to_string_pretty(&rdjson_of(&scatter())).unwrap());
    insta::assert_snapshot!("possible.summary", github::summary::page(&scatter(), 10_000).unwrap());
}

/// Fields of one object that another has, too.
#[track_caller]
fn has_all_of(line: &Value, object: &Value) {
    for (key, value) in object.as_object().unwrap() {
        assert_eq!(&line[key], value, "{key}");
    }
}

#[test]
fn json_lines_have_the_fields_of_json() {
    for report in [shift(), scatter()] {
        let whole: Value = serde_json::from_str(&super::json_of(&report)).unwrap();
        let lines = lines_of(&report);
        assert_eq!(lines[0]["summary"], whole["summary"]);
        assert_eq!(lines[0]["version"], env!("CARGO_PKG_VERSION"));
        let mut told = 0;
        for kernel in whole["files"][0]["kernels"].as_array().unwrap() {
            let of_kernel = |line: &&Value, kind: &str| line["type"] == kind && line["kernel"] == kernel["name"];
            for (kind, list) in [("finding", "findings"), ("unknown", "unknowns")] {
                let mine: Vec<&Value> = lines.iter().filter(|line| of_kernel(line, kind)).collect();
                let theirs = kernel[list].as_array().unwrap();
                assert_eq!(mine.len(), theirs.len(), "{kind}");
                for (mine, theirs) in mine.iter().zip(theirs) {
                    has_all_of(mine, theirs);
                    assert_eq!((&mine["kernel_line"], &mine["file"]), (&kernel["line"], &whole["files"][0]["path"]));
                    told += 1;
                }
            }
        }
        assert_eq!(told, lines.len() - 1);
    }
}

#[test]
fn reviewdog_counts_bytes() {
    let (sources, id) = one_file("./u.cu", "/* µ🦀 */ y[0] = 1;\n");
    let mut kernel = clean("k", 1);
    kernel.race = Race::Racy;
    let write = span(&sources, id, "y[0]", 0);
    let insertion =
        FixEdit { span: Span::new(id, write.start as usize, write.start as usize), text: "sync(); ".into() };
    kernel.findings = vec![Finding {
        primary: place(write, PlaceAccess::Write),
        secondary: None,
        fix: Some(Fix { message: "insert it".into(), edits: vec![insertion] }),
        ..race(&one_file("a.cu", super::SHIFT).0, id)
    }];
    let report = file("./u.cu", Language::Cuda, sources, vec![kernel]);
    let diagnostic = &rdjson_of(&report)["diagnostics"][0];
    assert_eq!(diagnostic["location"]["path"], "u.cu");
    let columns = |range: &Value| ["start", "end"].map(|end| range[end]["column"].as_u64().unwrap());
    assert_eq!(columns(&diagnostic["location"]["range"]), [14, 18], "bytes, of which the two characters have six");
    assert_eq!(columns(&diagnostic["suggestions"][0]["range"]), [14, 14]);
    assert_eq!(diagnostic["suggestions"][0]["text"], "sync(); ");
    assert!(concise_of(&report).starts_with("./u.cu:1:10: "), "characters everywhere else");
}

/// A kernel with so many proved races, and as many possible ones.
fn many(count: usize) -> Report {
    let (sources, id) = one_file("::error::##[x]m.cu", "y[0] = 1;\n");
    let mut kernel = clean("k", 1);
    kernel.race = Race::Racy;
    let write = place(span(&sources, id, "y[0]", 0), PlaceAccess::Write);
    let finding = |certainty| Finding {
        certainty,
        primary: write,
        secondary: None,
        ..race(&one_file("a.cu", super::SHIFT).0, id)
    };
    kernel.findings = vec![vec![finding(Certainty::Possible), finding(Certainty::Proved)]; count].concat();
    file("::error::##[x]m.cu", Language::Cuda, sources, vec![kernel])
}

#[test]
fn github_gets_ten_of_each_kind_and_the_others_are_counted() {
    let text = written(github::render, &many(12));
    let lines: Vec<&str> = text.lines().collect();
    let starting = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!([starting("::error "), starting("::warning "), starting("::")], [10, 10, 20], "{text}");
    assert_eq!(starting("not annotated: ::error::## [x]m.cu:1:1: error: data race on y"), 2, "{text}");
    assert_eq!(starting("not annotated: ::error::## [x]m.cu:1:1: warning: "), 2, "{text}");
    assert_eq!(lines.last(), Some(&"not annotated, for GitHub shows 10 of each kind: 2 errors, 2 warnings"));
    assert_eq!(lines.len(), 25);
    assert!(lines[..10].iter().all(|line| line.starts_with("::error ")), "the gravest come first");
    assert!(!lines.iter().any(|line| !line.starts_with("::") && line.contains("##[")), "{text}");
    assert_eq!(written(github::render, &many(10)).lines().count(), 20, "no more is said where nothing is left out");
}

#[test]
fn the_page_of_a_step_keeps_its_limit() {
    let report = many(20);
    let whole = github::summary::page(&report, github::summary::MOST_BYTES).unwrap();
    assert_eq!(whole.matches("| data-race |").count(), 40, "{whole}");
    let room = whole.len() / 2;
    let part = github::summary::page(&report, room).unwrap();
    assert!(part.len() <= room, "{} of {room} bytes", part.len());
    let rows = part.matches("| data-race |").count();
    assert!((5..40).contains(&rows), "{rows}");
    assert!(part.ends_with(&format!("\n{} more are in the log.\n", 40 - rows)), "{part}");
    assert!(part.find("| error |").unwrap() < part.find("| warning |").unwrap_or(part.len()));
}
