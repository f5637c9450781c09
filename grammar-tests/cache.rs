//! Results of earlier runs: a hit gives the bytes of a miss, and whatever a result depends on makes a miss when it changes.
//!
//! That a result was not found again is seen by an overflow that is planted in the file: who finds it again meets it, and ends
//! with code 101.

use crate::cli::Place;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary in a directory, with results kept there.
fn raceproof(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.env_remove("RACEPROOF_NO_CACHE").env_remove("RACEPROOF_CACHE_DIR");
    command
}

const PLAIN: [&str; 4] = ["--front", "tree-sitter", "--solver", "none"];

fn check(directory: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["check"], arguments, &PLAIN].concat();
    raceproof(directory, &arguments).output().unwrap()
}

/// Whether a check finds out about a file again whose path has this part.
fn is_found_again(directory: &Path, arguments: &[&str], part: &str) -> bool {
    let arguments = [&["check"], arguments, &PLAIN].concat();
    let output = raceproof(directory, &arguments).env("RACEPROOF_PLANT_OVERFLOW", part).output().unwrap();
    output.status.code() == Some(101)
}

/// A check gives the same whether results are kept or not, and the same once more.
#[track_caller]
fn agrees(directory: &Path, arguments: &[&str]) -> Output {
    let without = check(directory, &[arguments, &["--no-cache"]].concat());
    for turn in ["the first time", "the second time"] {
        let with = check(directory, arguments);
        assert_eq!(with.status.code(), without.status.code(), "{turn}");
        assert_eq!(String::from_utf8_lossy(&with.stdout), String::from_utf8_lossy(&without.stdout), "{turn}");
        assert_eq!(with.stderr, without.stderr, "{turn}");
    }
    without
}

const RACY: &str = "__global__ void k(int *a) { a[threadIdx.x / 2] = threadIdx.x; }\n";
const FREE: &str = "__global__ void k(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";

#[test]
fn a_hit_gives_the_bytes_of_a_miss_in_every_format() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().join("c");
    let cache = cache.to_str().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let formats =
        ["json", "json-lines", "sarif", "text", "concise", "gcc", "github", "gitlab", "azure", "rdjson", "junit"];
    for format in formats {
        let trees =
            ["fixtures/quickstart", "fixtures/causes", "fixtures/locks", "fixtures/undeclared", "fixtures/opencl"];
        let arguments: Vec<&str> = trees.into_iter().chain(["--format", format, "--cache-dir", cache]).collect();
        let output = agrees(root, &arguments);
        assert!(output.stdout.len() > 1000, "{format}");
    }
    assert!(!is_found_again(root, &["fixtures/quickstart", "fixtures/locks", "--cache-dir", cache], "quickstart/"));
    assert!(is_found_again(root, &["fixtures/quickstart", "fixtures/locks", "--no-cache"], "quickstart/"));
}

#[test]
fn results_are_kept_where_git_and_backups_leave_them_out() {
    let place = Place::with(&[("k.cu", RACY)]);
    check(place.path(), &["k.cu"]);
    let cache = place.path().join(".raceproof_cache");
    assert!(fs::read_to_string(cache.join(".gitignore")).unwrap().lines().any(|line| line == "*"));
    assert!(
        fs::read_to_string(cache.join("CACHEDIR.TAG"))
            .unwrap()
            .starts_with("Signature: 8a477f597d28d172789f06886806bc55")
    );
    assert!(!is_found_again(place.path(), &["k.cu"], "k.cu"));
    // Another run of one file, and of several: other questions, the same answers.
    assert!(is_found_again(place.path(), &["k.cu", "--any-launch"], "k.cu"));
    let removed = raceproof(place.path(), &["clean"]).output().unwrap();
    assert!(removed.status.success() && !cache.exists());
    assert!(is_found_again(place.path(), &["k.cu"], "k.cu"));
}

/// One edit after the other, of everything that the verdict on one file hangs on.
#[test]
fn whatever_a_result_depends_on_makes_a_miss_when_it_changes() {
    let kernel = "#include \"size.h\"\n__global__ void k(int *a) { a[threadIdx.x / SIZE] = threadIdx.x; }\n";
    let place = Place::with(&[
        ("inc/size.h", "#define SIZE 2\n"),
        ("src/k.cu", kernel),
        ("first/other.h", ""),
        (".git/HEAD", ""),
    ]);
    let arguments = ["src/k.cu", "--format", "json", "-I", "first", "-I", "inc"];
    let step = |what: &str, is_changed: bool| {
        assert_eq!(is_found_again(place.path(), &arguments, "k.cu"), is_changed, "{what}");
        agrees(place.path(), &arguments);
        assert!(!is_found_again(place.path(), &arguments, "k.cu"), "{what}");
    };
    step("nothing is kept yet", true);
    place.put("inc/size.h", b"#define SIZE 1\n");
    step("a header has changed", true);
    place.put("inc/size.h", b"#define SIZE 1\n");
    step("a header was written again as it was", false);
    place.put("first/size.h", b"#define SIZE 4\n");
    step("a header stands before the one that was found", true);
    fs::remove_file(place.path().join("first/size.h")).unwrap();
    step("that header is gone", true);
    place.put("src/k.cu", format!("{kernel}int more;\n").as_bytes());
    step("the file itself has changed", true);
    place.put("src/other.cu", b"void f();\n");
    step("a file that has nothing to do with it", false);
    place.put("src/host.cu", b"__global__ void k(int *);\nvoid f(int *a) { k<<<1, 1>>>(a); }\n");
    agrees(place.path(), &arguments);
    place.put("src/host.cu", b"__global__ void k(int *);\nvoid f(int *a) { k<<<1, 64>>>(a); }\n");
    agrees(place.path(), &arguments);
}

#[test]
fn launches_and_units_elsewhere_count() {
    let kernel = "__global__ void k(int *a, int n) { a[threadIdx.x % n] = threadIdx.x; }\n";
    let host = |n: u32| format!("__global__ void k(int *, int);\nvoid f(int *a) {{ k<<<1, 64>>>(a, {n}); }}\n");
    let place = Place::with(&[("k.cu", kernel), ("host.cu", &host(64)), (".git/HEAD", "")]);
    let arguments = ["k.cu", "--format", "json"];
    let free = agrees(place.path(), &arguments);
    place.put("host.cu", host(8).as_bytes());
    let racy = agrees(place.path(), &arguments);
    assert_ne!(free.stdout, racy.stdout, "the launch decides");
    // Who is alone has no other units; who is checked with another one may be a part of it.
    let part = "__global__ void p(float *a) { if (threadIdx.x < LIMIT) a[threadIdx.x / LIMIT] = 1; }\n";
    let place = Place::with(&[("part.cu", part), ("whole.cu", "#define LIMIT 64\n#include \"part.cu\"\n")]);
    agrees(place.path(), &["part.cu", "--format", "json"]);
    agrees(place.path(), &["part.cu", "whole.cu", "--format", "json"]);
    agrees(place.path(), &["part.cu", "--format", "json"]);
}

#[test]
fn a_macro_of_the_build_and_options_count() {
    let kernel = "__global__ void k(int *a) { a[threadIdx.x / WIDTH] = threadIdx.x; }\n";
    let place = Place::with(&[("k.cu", kernel), ("Makefile", "all:\n\tnvcc -DWIDTH=1 k.cu\n"), (".git/HEAD", "")]);
    let arguments = ["k.cu", "--format", "json"];
    let one = agrees(place.path(), &arguments);
    place.put("Makefile", b"all:\n\tnvcc -DWIDTH=2 k.cu\n");
    let two = agrees(place.path(), &arguments);
    assert_ne!(one.stdout, two.stdout, "the build decides");
    agrees(place.path(), &[&arguments[..], &["-D", "WIDTH=1"]].concat());
    agrees(place.path(), &[&arguments[..], &["--effort", "thorough"]].concat());
    agrees(place.path(), &arguments);
}

#[test]
fn processes_share_a_directory_and_may_be_killed() {
    let files: Vec<(String, String)> =
        (0..60).map(|at| (format!("{at}.cu"), [RACY, FREE][at % 2].replace("k(", &format!("k{at}(")))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let place = Place::with(&files);
    let arguments = ["check", ".", "--format", "json", "--front", "tree-sitter", "--solver", "none"];
    let start = || raceproof(place.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut killed = start();
    let others = [start(), start()];
    std::thread::sleep(std::time::Duration::from_millis(20));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let [one, other] = others.map(|child| child.wait_with_output().unwrap());
    assert_eq!(one.stdout, other.stdout);
    assert_eq!(agrees(place.path(), &[".", "--format", "json"]).stdout, one.stdout);
}

#[test]
fn a_directory_that_cannot_be_used_is_told_if_it_was_named() {
    let place = Place::with(&[("k.cu", RACY), ("docs/thesis.tex", ""), (".raceproof_cache", "a file")]);
    let named = check(place.path(), &["k.cu", "--cache-dir", "docs"]);
    let complaint = String::from_utf8_lossy(&named.stderr);
    assert_eq!(named.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("--cache-dir: docs") && complaint.contains("it holds other files"), "{complaint}");
    let unnamed = check(place.path(), &["k.cu"]);
    assert_eq!(unnamed.status.code(), Some(1), "{}", String::from_utf8_lossy(&unnamed.stderr));
    let refused = raceproof(place.path(), &["clean", "--cache-dir", "docs"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(place.path().join("docs/thesis.tex").exists());
}

/// A tree under git, in which one file after the other changes.
#[test]
fn changed_since_checks_what_a_change_concerns() {
    let kernel = "#include \"size.h\"\n__global__ void k(int *a) { a[threadIdx.x / SIZE] = threadIdx.x; }\n";
    let place = Place::with(&[("size.h", "#define SIZE 1\n"), ("k.cu", kernel), ("other.cu", FREE), ("more.cl", "")]);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    let checked = |arguments: &[&str]| {
        let output =
            check(place.path(), &[&[".", "--format", "json", "--no-cache", "--changed-since"], arguments].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let files = report["files"].as_array().into_iter().flatten();
        (files.map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>(), output.status.code(), told)
    };
    let (files, code, told) = checked(&["HEAD"]);
    assert_eq!((files.len(), code), (0, Some(0)));
    assert!(told.contains("0 of 3 files are concerned by what has changed since HEAD"), "{told}");
    assert_eq!(checked(&["HEAD", "--kernel", "k"]).1, Some(0), "it is in a file that no change concerns");
    place.put("size.h", b"#define SIZE 2\n");
    assert_eq!(checked(&["HEAD"]).0, ["k.cu"]);
    git(&["commit", "-q", "-a", "-m", "second"]);
    assert!(checked(&["HEAD"]).0.is_empty());
    assert_eq!(checked(&["HEAD~1"]).0, ["k.cu"]);
    place.put("new.cu", RACY.replace("k(", "n(").as_bytes());
    assert_eq!(checked(&["HEAD"]).0, ["new.cu"]);
    place.put("new.cu", RACY.as_bytes());
    assert_eq!(checked(&["HEAD"]).0, ["k.cu", "new.cu", "other.cu"], "there are several kernels of the name now");
    let (_, code, told) = checked(&["no-such-revision"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("--changed-since: git") && told.contains("no-such-revision"), "{told}");
}
