//! SARIF, GitHub's annotations and GitLab's report, on the reports of the other formats.

use super::junit::junit_of;
use super::{clean, file, one_file, place, race, scatter, shift, span};
use raceproof::diagnostic::render::{github, gitlab, sarif};
use raceproof::diagnostic::report::{Finding, Fix, FixEdit, PlaceAccess, Report};
use raceproof::diagnostic::{Diagnostic, Label, RuleId, Severity};
use raceproof::driver::{page_of, rule_page};
use raceproof::source::{Language, Span};
use serde_json::Value;
use std::collections::BTreeSet;

fn github_of(report: &Report) -> String {
    let mut out = Vec::new();
    github::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn sarif_of(report: &Report) -> Value {
    let mut out = Vec::new();
    sarif::render(report, &page_of, &mut out).unwrap();
    let log: Value = serde_json::from_slice(&out).unwrap();
    is_valid(&log);
    log
}

/// GitLab's report, with the fields that it must have and no others.
#[track_caller]
fn gitlab_of(report: &Report) -> Value {
    let mut out = Vec::new();
    gitlab::render(report, &mut out).unwrap();
    let issues: Value = serde_json::from_slice(&out).unwrap();
    let mut fingerprints = BTreeSet::new();
    for issue in issues.as_array().unwrap() {
        let fields = ["description", "check_name", "fingerprint", "severity", "location"];
        only(issue, &fields, &fields);
        assert!(fingerprints.insert(issue["fingerprint"].as_str().unwrap()), "given twice: {issue}");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        let location = &issue["location"];
        only(location, &["path", "lines"], &["path", "lines"]);
        assert!(!location["path"].as_str().unwrap().starts_with("./"), "{location}");
        only(&location["lines"], &["begin", "end"], &["begin"]);
        assert!(location["lines"]["begin"].as_u64().is_some_and(|line| line >= 1), "{location}");
    }
    issues
}

/// Checks that all four can be written, and that every annotation is one line.
pub(super) fn can_be_written(report: &Report) {
    sarif_of(report);
    gitlab_of(report);
    junit_of(report);
    let lines = github_of(report);
    assert!(lines.lines().all(|line| line.starts_with("::")), "{lines:?}");
    assert_eq!(lines.matches('\r').count(), 0, "{lines:?}");
}

/// The results alone: the rules are the pages.
fn results(report: &Report) -> String {
    serde_json::to_string_pretty(&sarif_of(report)["runs"][0]["results"]).unwrap()
}

/// What the schema of SARIF 2.1.0 requires of the objects that are written, and what it restricts them to.
#[track_caller]
fn is_valid(log: &Value) {
    only(log, &["$schema", "version", "runs"], &["version", "runs"]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    only(run, &["tool", "columnKind", "results"], &["tool"]);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    only(driver, &["name", "fullName", "semanticVersion", "shortDescription", "rules"], &["name"]);
    let rules = driver["rules"].as_array().unwrap();
    let names: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(names.len(), rules.len());
    for rule in rules {
        is_valid_rule(rule);
    }
    for result in run["results"].as_array().unwrap() {
        is_valid_result(result, rules);
    }
}

#[track_caller]
fn is_valid_rule(rule: &Value) {
    let fields = ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"];
    only(rule, &fields, &["id"]);
    for message in ["shortDescription", "fullDescription", "help"] {
        assert!(rule[message]["text"].as_str().is_some_and(|text| text.len() > 10), "{rule}");
    }
    assert!(["none", "note", "warning", "error"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()));
}

#[track_caller]
fn is_valid_result(result: &Value, rules: &[Value]) {
    let fields = [
        "ruleId",
        "ruleIndex",
        "kind",
        "level",
        "message",
        "locations",
        "relatedLocations",
        "partialFingerprints",
        "fixes",
        "properties",
    ];
    only(result, &fields, &["message"]);
    assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    let (kind, level) = (result["kind"].as_str().unwrap(), result["level"].as_str().unwrap());
    // 3.27.10: whatever is no failure has no level.
    assert_eq!(kind == "fail", level != "none", "{result}");
    assert!(["fail", "open", "informational"].contains(&kind));
    assert!(result["message"]["text"].is_string());
    let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
    for (at, location) in related.iter().enumerate() {
        assert_eq!(location["id"], at + 1);
        assert!(location["message"]["text"].is_string());
    }
    for location in result["locations"].as_array().unwrap().iter().chain(&related) {
        only(location, &["id", "physicalLocation", "logicalLocations", "message"], &["physicalLocation"]);
        let physical = &location["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'<' && byte != b'\\'), "{uri}");
        is_valid_region(&physical["region"]);
    }
    for fix in result["fixes"].as_array().unwrap_or(&Vec::new()) {
        only(fix, &["description", "artifactChanges"], &["artifactChanges"]);
        assert!(fix["description"]["text"].is_string());
        let [change] = fix["artifactChanges"].as_array().unwrap().as_slice() else { panic!("one file: {fix}") };
        only(change, &["artifactLocation", "replacements"], &["artifactLocation", "replacements"]);
        let replacements = change["replacements"].as_array().unwrap();
        assert!(!replacements.is_empty(), "3.56.3: at least one");
        for replacement in replacements {
            only(replacement, &["deletedRegion", "insertedContent"], &["deletedRegion"]);
            assert!(replacement["insertedContent"]["text"].is_string());
            is_valid_region(&replacement["deletedRegion"]);
        }
    }
}

#[track_caller]
fn is_valid_region(region: &Value) {
    only(region, &["startLine", "startColumn", "endLine", "endColumn"], &["startLine"]);
    for number in region.as_object().unwrap().values() {
        assert!(number.as_u64().is_some_and(|number| number >= 1), "{region}");
    }
}

/// The object has these fields and no others, and the required ones among them.
#[track_caller]
fn only(object: &Value, known: &[&str], required: &[&str]) {
    let object = object.as_object().expect("an object");
    for key in object.keys() {
        assert!(known.contains(&key.as_str()), "{key} is no property here");
    }
    for key in required {
        assert!(object.contains_key(*key), "{key} is missing");
    }
}

#[test]
fn a_race_with_its_witness() {
    insta::assert_snapshot!("race.sarif", results(&shift()));
    insta::assert_snapshot!("race.github", github_of(&shift()));
    insta::assert_snapshot!("race.gitlab", serde_json::to_string_pretty(&gitlab_of(&shift())).unwrap());
}

#[test]
fn possible_and_unknown_in_the_words_of_opencl() {
    insta::assert_snapshot!("possible.sarif", results(&scatter()));
    insta::assert_snapshot!("possible.github", github_of(&scatter()));
    insta::assert_snapshot!("possible.gitlab", serde_json::to_string_pretty(&gitlab_of(&scatter())).unwrap());
}

#[test]
fn a_fix_is_told_edit_by_edit() {
    let mut report = shift();
    let file = &mut report.files[0];
    let main = file.kernels[0].findings[0].primary.span.file;
    let at = file.sources.file(main).text.find("y[").unwrap();
    let edit = |start, end, text: &str| FixEdit { span: Span::new(main, start, end), text: text.to_owned() };
    let edits = vec![edit(at, at, "__syncthreads(); "), edit(at, at + 1, "z")];
    file.kernels[0].findings[0].fix = Some(Fix { message: "insert it".to_owned(), edits });
    let log = sarif_of(&report);
    let fix = &log["runs"][0]["results"][0]["fixes"][0];
    assert_eq!(fix["description"]["text"], "insert it");
    let change = &fix["artifactChanges"][0];
    let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(&change["artifactLocation"], location);
    let [insertion, replacement] = change["replacements"].as_array().unwrap().as_slice() else { panic!("two: {fix}") };
    let columns = |of: &Value| ["startColumn", "endColumn"].map(|name| of["deletedRegion"][name].as_u64().unwrap());
    assert_eq!(insertion["insertedContent"]["text"], "__syncthreads(); ");
    let [start, end] = columns(insertion);
    assert_eq!(start, end);
    assert_eq!(columns(replacement), [start, start + 1]);
}

#[test]
fn every_rule_is_described_by_its_page() {
    let log = sarif_of(&Report::default());
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let names: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    let expected: Vec<&str> = RuleId::ALL.into_iter().map(RuleId::name).chain(["unknown"]).collect();
    assert_eq!(names, expected);
    assert_eq!(rules[0]["help"]["markdown"], rule_page(RuleId::DataRace));
    assert_eq!(rules.last().unwrap()["help"]["markdown"], page_of(None));
    let summary = rules[0]["shortDescription"]["text"].as_str().unwrap();
    assert!(summary.starts_with("Reports two threads") && summary.ends_with('.'), "{summary}");
    assert_eq!(rules[0]["name"], "DataRace");
    for rule in rules {
        let (id, name) = (rule["id"].as_str().unwrap(), rule["name"].as_str().unwrap());
        assert!(!id.eq_ignore_ascii_case(name), "a name that is the id says nothing (SARIF1001): {name}");
    }
}

/// The fingerprints of the results.
fn fingerprints(report: &Report) -> Vec<String> {
    let log = sarif_of(report);
    let results = log["runs"][0]["results"].as_array().unwrap();
    results.iter().map(|result| result["partialFingerprints"]["raceproof/v1"].as_str().unwrap().to_owned()).collect()
}

/// A race on `text`'s `y[0]` against itself.
fn on_y(text: &str, times: usize) -> Report {
    let (sources, id) = one_file("k.cu", text);
    let mut kernel = clean("k", 1);
    let at = place(span(&sources, id, "y[0]", 0), PlaceAccess::Write);
    let finding = Finding { primary: at, secondary: Some(at), ..race(&one_file("a.cu", super::SHIFT).0, id) };
    kernel.findings = vec![finding; times];
    file("k.cu", Language::Cuda, sources, vec![kernel])
}

#[test]
fn fingerprints_survive_edits_elsewhere_and_are_not_shared() {
    let one = fingerprints(&on_y("void k() { y[0] = 1; }", 1));
    assert_eq!(one, fingerprints(&on_y("// a comment\n\n  void k() {\n y[0] = 1; }", 1)));
    let two = fingerprints(&on_y("void k() { y[0] = 1; }", 2));
    assert_eq!(two[0], one[0]);
    assert_ne!(two[0], two[1]);
}

#[test]
fn gitlab_knows_a_finding_by_the_fingerprint_that_sarif_gives() {
    let report = on_y("void k() { y[0] = 1; }", 2);
    let issues = gitlab_of(&report);
    let given: Vec<&str> = issues.as_array().unwrap().iter().map(|it| it["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(given, fingerprints(&report));
}

#[test]
fn what_the_user_wrote_ends_no_command_and_no_property() {
    let path = "a,title=x::b%\n::error::c.cu";
    let (sources, id) = one_file(path, "y[0] = 1;\n");
    let mut kernel = clean("k", 1);
    kernel.findings = vec![Finding {
        primary: place(span(&sources, id, "y[0]", 0), PlaceAccess::Write),
        secondary: None,
        message: "100% of\n::set-output name=x::y".into(),
        notes: Vec::new(),
        ..race(&one_file("a.cu", super::SHIFT).0, id)
    }];
    let mut report = file(path, Language::Cuda, sources, vec![kernel]);
    report.files[0].diagnostics.push(Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Note,
        message: "one\ntwo".into(),
        primary: Label { span: Span::new(id, 0, 0), text: String::new() },
        secondary: vec![Label { span: Span::new(id, 0, 1), text: "here".into() }],
        notes: vec!["three".into()],
        fix: None,
        hidden: None,
    });
    let lines = github_of(&report);
    let place = "file=a%2Ctitle=x%3A%3Ab%25%0A%3A%3Aerror%3A%3Ac.cu,line=1,endLine=1";
    let expected = format!(
        "::error {place},col=1,endColumn=5,title=data-race::100%25 of ::set-output name=x::y%0A\
         with blocks of (64,1,1) threads, grid of (1,1,1) blocks, n = 2\n\
         ::notice {place},col=1,endColumn=1,title=parse::one two%0Athree\n"
    );
    assert_eq!(lines, expected);
    sarif_of(&report);
}
