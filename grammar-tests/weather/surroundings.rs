//! What goes wrong around a run.

use super::{assert_orderly, interrupt, raceproof, within};
use crate::support::draw;
use crate::support::tier::{Tier, tiers};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Output;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(120);
const RACY: &str = "__global__ void racy_k(float *y) {\n  y[0] = threadIdx.x;\n}\n";

fn place(files: &[(&str, &str)]) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(place.path().join(name), text).unwrap();
    }
    place
}

fn run(place: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output: Output = within(LIMIT, &mut raceproof(place.path(), arguments));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_full_device_is_an_error_with_its_reason() {
    let place = place(&[("k.cu", RACY)]);
    let mut command = raceproof(place.path(), &["check", "k.cu"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let output = within(LIMIT, &mut command);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("cannot write to standard output") && err.contains("space"), "{err}");
}

#[test]
fn ctrl_c_keeps_what_was_found_and_says_what_is_missing() {
    let place = tempfile::tempdir().unwrap();
    // One kernel that is done at once, then so many that the signal comes first.
    fs::write(place.path().join("a.cu"), RACY).unwrap();
    let slow = include_str!("../../fixtures/matmul/tiled.cu");
    for index in 0..6_000 {
        fs::write(place.path().join(format!("b{index:04}.cu")), slow).unwrap();
    }
    let child = raceproof(place.path(), &["check", ".", "--jobs", "1"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(out.contains("racy_k (a.cu:1): racy"), "{out}");
    assert!(err.contains("interrupted: ") && err.contains(" of 6001 files were not checked"), "{err}");
}

#[test]
fn cycles_of_links_and_includes_end() {
    let place = place(&[
        ("a.cu", "#include \"b.cuh\"\n__global__ void k(int *y) { y[threadIdx.x] = VALUE; }\n"),
        ("b.cuh", "#include \"c.cuh\"\n#define VALUE 1\n"),
        ("c.cuh", "#include \"b.cuh\"\n#include \"c.cuh\"\n"),
    ]);
    symlink(place.path(), place.path().join("again")).unwrap();
    symlink("loop.cu", place.path().join("loop.cu")).unwrap();
    let (code, out, err) = run(&place, &["check", ".", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    let listed: Vec<&str> =
        report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(listed, ["a.cu", "b.cuh", "c.cuh"], "{code:?} {err}");
    let (code, _, err) = run(&place, &["check", "loop.cu"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("loop.cu") && err.contains("symbolic link"), "{err}");
}

#[test]
fn text_that_ends_in_the_middle_is_said() {
    for (name, tail) in [
        ("comment.cu", "/* and then"),
        ("string.cu", "__device__ const char *s = \"and then"),
        ("macro.cu", "#define F(a, b) a + b\n__device__ int x = F(1,"),
        ("continued.cu", "#define G(a) \\"),
        ("condition.cu", "#if defined(X)\n"),
        ("kernel.cu", "__global__ void half(int *y) { y[0] = "),
    ] {
        let place = place(&[(name, &format!("{RACY}{tail}"))]);
        let output = within(LIMIT, &mut raceproof(place.path(), &["check", name, "--format", "json"]));
        assert_orderly(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = &report["files"][0];
        // Nothing is lost: the kernel above keeps its race.
        assert_eq!(file["kernels"][0]["race"], "racy", "{name}: {file}");
        if name != "continued.cu" {
            // Said where a kernel is concerned by `parse`, and elsewhere by a warning at the place.
            assert!(file["parse"] != "ok" || is_said(&place, name), "{name}: {file}");
        }
    }
}

/// Whether the text names a line of the file beside its kernel.
fn is_said(place: &TempDir, name: &str) -> bool {
    run(place, &["check", name, "--format", "gcc"]).1.contains("warning: ")
}

#[test]
fn megabytes_on_one_line_are_read_and_shown_in_part() {
    // Ten of them, in `quick` one.
    let statements = tiers(100_000, 1_000_000, 1_000_000).current();
    let filler = "y[1] = 2; ".repeat(statements);
    let comment = "x".repeat(10 * statements);
    let place = place(&[
        ("comment.cu", &format!("__global__ void k(int *y) {{ y[0] = threadIdx.x; /* {comment} */ }}\n")),
        ("statements.cu", &format!("__global__ void k(int *y) {{ y[0] = threadIdx.x; {filler} }}\n")),
    ]);
    let output = within(LIMIT, &mut raceproof(place.path(), &["check", "comment.cu"]));
    assert_orderly(&output);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("error[data-race]") && out.len() < 10_000, "{} bytes", out.len());
    let output = within(LIMIT, &mut raceproof(place.path(), &["check", "statements.cu", "--format", "json"]));
    assert_orderly(&output);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(report["files"][0]["kernels"][0]["race"], "race-free");
}

#[test]
fn a_file_without_a_kernel_is_listed_and_counted() {
    let place = place(&[("host.cu", "int main() { return 0; }\n")]);
    let (code, out, _) = run(&place, &["check", "host.cu"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("no kernel in 1 file"), "{out}");
}

#[test]
fn a_misspelt_flag_gets_a_suggestion() {
    let place = place(&[("k.cu", RACY)]);
    let (code, _, err) = run(&place, &["check", "k.cu", "--blockdim", "32"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--block-dim"), "{err}");
}

/// As root every file can be read, so a directory in a file's place stands for one that cannot be.
#[test]
fn what_cannot_be_read_costs_itself_only() {
    let place = place(&[("k.cu", RACY), ("closed.cu", RACY)]);
    fs::create_dir(place.path().join("folder.cu")).unwrap();
    let mut permissions = fs::metadata(place.path().join("closed.cu")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o000);
    fs::set_permissions(place.path().join("closed.cu"), permissions).unwrap();
    let (code, out, err) = run(&place, &["check", "k.cu", "closed.cu", "folder.cu"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(out.contains("racy_k (k.cu:1): racy"), "{out}");
    assert!(err.contains("folder.cu"), "{err}");
    let is_root = File::open(place.path().join("closed.cu")).is_ok();
    assert!(is_root || err.contains("closed.cu") && err.contains("denied"), "{err}");
}

#[test]
fn equal_input_gives_equal_bytes_over_fixtures() {
    let root = tempfile::tempdir().unwrap();
    symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"), root.path().join("fixtures")).unwrap();
    // The report is the same for all formats: whole in one, and the others must not reorder it.
    let folders =
        ["idioms", "soundness", "stencils", "traps", "types", "warps"].map(|name| format!("fixtures/{name}/"));
    let folders = draw::part("folders of equal bytes", folders.to_vec(), tiers(6, 6, 1), Clone::clone);
    let all = match Tier::current() {
        Tier::Quick => Vec::new(),
        Tier::Standard => folders,
        Tier::Full => vec!["fixtures/".to_owned()],
    };
    let json = all.iter().map(|part| ("json", part.as_str()));
    for (format, part) in json.chain([("text", "fixtures/quickstart/"), ("gcc", "fixtures/fences/")]) {
        let once = |jobs| {
            let arguments = ["check", part, "--format", format, "--jobs", jobs, "--solver", "none"];
            let output = within(5 * LIMIT, &mut raceproof(root.path(), &arguments));
            assert_eq!(output.status.code(), Some(1));
            output.stdout
        };
        let (one, many) = (once("1"), once("7"));
        assert!(one.len() > 500 && one == many, "{format} depends on the number of threads");
    }
}
