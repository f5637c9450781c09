//! A bound on memory, through the real binary: who needs more is told and costs itself alone.

use super::cli::Place;
use serde_json::Value;
use std::process::Output;

const SMALL: &str = "__global__ void small(int *y) { y[threadIdx.x] = 1; }
__global__ void racy(int *y) { y[threadIdx.x / 2] = threadIdx.x; }
";

/// A table of so many lines, about 700 bytes of memory each, and a kernel that reads it.
fn table(lines: usize) -> String {
    let rows: String = (0..lines).map(|line| format!("    {line} + {},\n", 3 * line)).collect();
    let kernel = "__global__ void reads(int *y) { y[threadIdx.x] = table[threadIdx.x]; }\n";
    format!("__constant__ int table[] = {{\n{rows}}};\n{kernel}")
}

fn check(place: &Place, arguments: &[&str]) -> Output {
    let plain = ["--front", "tree-sitter", "--solver", "none", "--no-cache", "--format", "json"];
    place.command(&[&["check", "."][..], &plain, arguments].concat()).output().unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn of<'a>(report: &'a Value, path: &str) -> &'a Value {
    report["files"].as_array().unwrap().iter().find(|file| file["path"].as_str().unwrap().ends_with(path)).unwrap()
}

#[test]
fn a_file_that_needs_more_than_there_is_costs_itself_alone() {
    let place = Place::with(&[("a.cu", SMALL), ("large.cu", &table(200_000)), ("z.cu", SMALL)]);
    let bounded = check(&place, &["--memory", "96M"]);
    let said = String::from_utf8_lossy(&bounded.stderr);
    assert_eq!(bounded.status.code(), Some(2), "{said}");
    assert!(
        said.contains("large.cu: it needs more memory than the 96 MiB that there may be (--memory allows more)"),
        "{said}"
    );
    let (bounded, free) = (report(&bounded), report(&check(&place, &[])));
    assert_eq!(of(&bounded, "large.cu")["parse"], "failed");
    assert_eq!(of(&free, "large.cu")["kernels"][0]["race"], "race-free");
    for other in ["a.cu", "z.cu"] {
        assert_eq!(of(&bounded, other), of(&free, other));
        assert_eq!(of(&bounded, other)["kernels"][1]["race"], "racy");
    }
}

#[test]
fn files_that_need_too_much_together_are_done_one_after_the_other() {
    let table = table(40_000);
    let files: Vec<String> = (0..8).map(|number| format!("large{number}.cu")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), table.as_str())).collect();
    let place = Place::with(&files);
    let bounded = check(&place, &["--memory", "160M", "--jobs", "8"]);
    assert_eq!(bounded.status.code(), Some(0), "{}", String::from_utf8_lossy(&bounded.stderr));
    assert_eq!(report(&bounded), report(&check(&place, &["--jobs", "1"])));
}

#[test]
fn amounts_that_are_none_are_refused() {
    let place = Place::with(&[("a.cu", SMALL)]);
    for wrong in ["0", "1M", "much"] {
        let output = check(&place, &["--memory", wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--memory"));
    }
}
