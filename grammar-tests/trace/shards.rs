//! Logs of fixtures, split and merged by the command: what is said of the parts is what is said of the whole.

use crate::cli::Place;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

/// Two kernels that race, within a block and between blocks, and a launch for each.
pub(super) const PROGRAM: &str = include_str!("shards.cu");

fn trace(place: &Place, arguments: &[&str]) -> Output {
    place.command(&["trace"]).args(arguments).output().expect("raceproof runs")
}

/// A directory with the log of a run of a program.
pub(super) fn logged(program: &str) -> Place {
    let place = Place::with(&[("shards.cu", program)]);
    let mut run = place.command(&["run", "shards.cu", "--backend", "cpu", "--log", "run.trace"]);
    assert_eq!(run.output().expect("raceproof runs").status.code(), Some(1));
    place
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// What the check of a log finds: sites, level and bytes.
fn findings(place: &Place, log: &str) -> Vec<Value> {
    let output = trace(place, &["check", log, "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["log"]["complete"], true, "{report}");
    report["findings"].as_array().expect("there are findings").clone()
}

fn lines(findings: &[Value]) -> BTreeSet<String> {
    let line = |finding: &Value| {
        format!("{} {} {}", finding["level"], finding["primary"]["line"], finding["secondary"]["line"])
    };
    findings.iter().map(line).collect()
}

#[test]
fn shards_of_a_run_are_checked_one_by_one_and_merged() {
    let place = logged(PROGRAM);
    let split = trace(&place, &["split", "run.trace", "--by", "address", "-n", "3", "-o", "shards"]);
    assert_eq!(split.status.code(), Some(0), "{}", text(&split));
    let shards = [1, 2, 3].map(|number| format!("shards/run.shard-{number}-of-3.trace"));
    assert!(shards.iter().all(|shard| text(&split).contains(shard.as_str())), "{}", text(&split));
    let whole = findings(&place, "run.trace");
    assert_eq!(whole.len(), 2, "{whole:#?}");
    let parts: Vec<Value> = shards.iter().flat_map(|shard| findings(&place, shard)).collect();
    assert_eq!(lines(&parts), lines(&whole));
    let bytes = |findings: &[Value]| findings.iter().filter_map(|finding| finding["bytes"].as_u64()).sum::<u64>();
    assert_eq!(bytes(&parts), bytes(&whole));
    let merge = trace(&place, &["merge", &shards[2], &shards[0], &shards[1], "-o", "merged.trace"]);
    assert_eq!(merge.status.code(), Some(0), "{}", text(&merge));
    let said = |log: &str| trace(&place, &["check", log]);
    assert_eq!(said("merged.trace"), said("run.trace"));
}

#[test]
fn a_shard_says_that_it_is_one() {
    let place = logged(PROGRAM);
    let split = trace(&place, &["split", "run.trace", "-n", "40"]);
    assert_eq!(split.status.code(), Some(0), "{}", text(&split));
    // There are more shards than addresses that conflict.
    let checks = (1..=40).map(|number| trace(&place, &["check", &format!("run.shard-{number:02}-of-40.trace")]));
    let checks: Vec<Output> = checks.collect();
    let clean = checks.iter().find(|check| check.status.code() == Some(0)).expect("one has no conflict");
    assert!(text(clean).contains("the shard is complete): the run has none if no shard has one"), "{}", text(clean));
    assert!(checks.iter().any(|check| check.status.code() == Some(1)));
    let info = trace(&place, &["info", "run.shard-07-of-40.trace", "--format", "json"]);
    let info: Value = serde_json::from_slice(&info.stdout).expect("it is JSON");
    assert_eq!((&info["log"]["shard"]["number"], &info["log"]["shard"]["of"]), (&7.into(), &40.into()));
}

#[test]
fn a_log_is_not_made_of_some_shards_and_no_shards_of_a_log_that_is_cut_off() {
    let place = logged(PROGRAM);
    assert_eq!(trace(&place, &["split", "run.trace", "-n", "2"]).status.code(), Some(0));
    let merge = trace(&place, &["merge", "run.shard-2-of-2.trace", "-o", "merged.trace"]);
    assert_eq!(merge.status.code(), Some(2));
    assert!(text(&merge).contains("incomplete: of 2 shards number 1 is missing"), "{}", text(&merge));
    assert!(!place.path().join("merged.trace").exists());
    let log = fs::read(place.path().join("run.trace")).expect("it is there");
    fs::write(place.path().join("cut.trace"), &log[..log.len() - 1]).expect("a file can be written");
    let split = trace(&place, &["split", "cut.trace", "-n", "2", "-o", "none"]);
    assert_eq!(split.status.code(), Some(2));
    assert!(text(&split).contains("cut.trace is incomplete (the log is cut off"), "{}", text(&split));
    assert_eq!(fs::read_dir(place.path().join("none")).expect("it is there").count(), 0);
}
