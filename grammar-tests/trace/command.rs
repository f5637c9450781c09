//! `raceproof trace check|info` on logs of the C++ writer.

use super::cpp::play;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Threads 0 and 40 of block 1 write byte 8 without a barrier between; block 0 does not.
const RACY: &str = "sites\nallocation 64 0\nlaunch 2 64\n\
    block 0 0\nsegment 0 0 0 0 0 0 0 0 0 0\naccess 1 1 0 0 4\n\
    block 0 1\nsegment 0 0 0 0 0 0 0 0 0 0\naccess 1 1 0 8 4\nsegment 40 0 0 0 0 0 0 0 0 0\naccess 0 0 0 8 4\n\
    finished 0\nclose 0\n";

fn trace(arguments: &[&str], log: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("trace").args(&arguments[..1]).arg(log).args(&arguments[1..]);
    command.output().expect("raceproof runs")
}

fn logged(calls: &str) -> tempfile::TempPath {
    let path = tempfile::NamedTempFile::new().expect("a file can be made").into_temp_path();
    play(calls, &path);
    path
}

#[test]
fn a_race_is_told_with_places_and_threads() {
    let log = logged(RACY);
    let output = trace(&["check"], &log);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("a.cu:2:1: error: data race on b: of two threads of one block, one writes byte 8 of it while the other reads it [data-race]"), "{text}");
    assert!(text.contains("thread (0,0,0) of block (1,0,0) and thread (40,0,0) of block (1,0,0)"), "{text}");
    assert!(text.contains("k (1 launch, 3 accesses): racy: 1 pair of places conflicts"), "{text}");
}

#[test]
fn json_has_the_same_in_fields() {
    let log = logged(RACY);
    let output = trace(&["check", "--format", "json"], &log);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(json["schema"], "raceproof.trace.v1");
    assert_eq!(json["log"]["complete"], true);
    assert_eq!(json["summary"]["verdict"], "racy");
    let finding = &json["findings"][0];
    assert_eq!(
        (&finding["rule"], &finding["certainty"], &finding["level"]),
        (&"data-race".into(), &"proved".into(), &"block".into())
    );
    assert_eq!((&finding["primary"]["line"], &finding["secondary"]["line"]), (&2.into(), &1.into()));
    assert_eq!(finding["witness"]["threads"][1]["thread"][0], 40);
    assert_eq!((&finding["witness"]["byte_offset"], &finding["bytes"]), (&8.into(), &4.into()));
}

#[test]
fn excerpts_show_the_source_where_it_is() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let log = logged(RACY);
    std::fs::write(directory.path().join("a.cu"), "x = a[i];\ny[i] = 1;\n").expect("a file can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_raceproof"))
        .args(["trace", "check"])
        .arg(&*log)
        .current_dir(directory.path())
        .output()
        .expect("raceproof runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("error[data-race]") && text.contains("y[i] = 1;") && text.contains("x = a[i];"), "{text}");
}

#[test]
fn a_barrier_between_ends_the_race() {
    let log = logged(&RACY.replace("segment 40 0 0", "segment 40 0 1"));
    let output = trace(&["check"], &log);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("no conflict in this run (3 accesses in 1 launch, the log is complete)"), "{text}");
}

#[test]
fn a_log_without_an_end_is_no_verdict() {
    let log = logged(&RACY.replace("segment 40 0 0", "segment 40 0 1").replace("close 0\n", ""));
    let output = trace(&["check"], &log);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("incomplete: the log is cut off") && text.contains("no verdict on the run"), "{text}");
}

#[test]
fn info_describes_a_log() {
    let log = logged(RACY);
    let output = trace(&["info"], &log);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("launch 0: k grid (2,1,1) block (64,1,1), 3 accesses; n = 3"), "{text}");
    assert!(
        text.contains("allocation 0: global memory, 64 bytes: memory")
            && text.contains("complete; the program ended with status 0"),
        "{text}"
    );
    let json: serde_json::Value =
        serde_json::from_slice(&trace(&["info", "--format", "json"], &log).stdout).expect("it is JSON");
    assert_eq!((&json["accesses"], &json["sites"]), (&3.into(), &3.into()));
}

#[test]
fn what_is_no_log_is_refused() {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    std::fs::write(file.path(), "hello, this is a text and no log").expect("a file can be written");
    let output = trace(&["check"], file.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("this is no log of raceproof"));
    assert_eq!(trace(&["check", "--memory", "1M"], file.path()).status.code(), Some(2));
    assert_eq!(trace(&["check"], Path::new("no/such/file")).status.code(), Some(2));
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads_and_any_memory() {
    let mut calls = String::from("sites\nallocation 4096 0\nallocation 256 2\n");
    let (launches, blocks, threads) = (3, 16, 64);
    for launch in 0..launches {
        let _ = writeln!(calls, "launch {blocks} {threads}");
        for block in 0..blocks {
            let _ = writeln!(calls, "block {launch} {block}");
            for thread in 0..threads {
                let _ = writeln!(calls, "segment {thread} 0 {} 0 0 0 0 0 0 0", thread % 2);
                for turn in 0..4 {
                    let number = launch * 7919 + block * 613 + thread * 37 + turn * 101;
                    let (site, allocation) = (number % 3, number % 5 / 4);
                    let place = number * number % if allocation == 0 { 1000 } else { 60 };
                    let _ = writeln!(calls, "access {site} {} {allocation} {} 4", [0, 1, 3][site], 4 * place);
                }
            }
        }
        let _ = writeln!(calls, "finished {launch}");
    }
    calls.push_str("close 0\n");
    let log = logged(&calls);
    for format in ["text", "json"] {
        let ask = |jobs, memory| trace(&["check", "--format", format, "--jobs", jobs, "--memory", memory], &log);
        let expected = ask("1", "512M");
        assert_eq!(expected.status.code(), Some(1));
        let text = String::from_utf8_lossy(&expected.stdout);
        assert!(text.matches("data-race").count() >= 5, "{text}");
        for (jobs, memory) in [("1", "512M"), ("2", "512M"), ("4", "512M"), ("4", "512M"), ("2", "64M"), ("4", "160M")]
        {
            assert_eq!(ask(jobs, memory), expected, "{jobs} threads, {memory}");
        }
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_an_export_says_how_to_get_it() {
    let log = logged(RACY);
    let directory = tempfile::tempdir().expect("a directory can be made");
    let output = trace(&["export", "--format", "parquet", &directory.path().to_string_lossy()], &log);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--features parquet"));
}

/// Excerpts are coloured; what has none is plain, whatever is asked for.
#[test]
fn colours_are_there_if_they_are_asked_for() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let log = logged(RACY);
    std::fs::write(directory.path().join("a.cu"), "x = a[i];\ny[i] = 1;\n").expect("a file can be written");
    for (command, has_excerpts) in [("check", true), ("info", false)] {
        let is_coloured = |when: &str| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_raceproof"));
            program.args(["trace", command]).arg(&log).args(["--color", when]).current_dir(directory.path());
            String::from_utf8_lossy(&program.output().expect("raceproof runs").stdout).contains('\u{1b}')
        };
        assert_eq!(["never", "auto", "always"].map(is_coloured), [false, false, has_excerpts], "{command}");
    }
}
