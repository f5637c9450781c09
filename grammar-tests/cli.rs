//! The real binary: exit codes, formats, odd input.
//!
//! - [`options`]: that each of them has a test.
//! - [`outputs`]: where reports go, and what each format is of a real run.
//! - [`schemas`]: what others hold our formats against.
//! - [`shards`]: runs that are divided, and put together again.
//! - [`watch`]: runs that go on while files change.

mod options;
mod outputs;
mod schemas;
mod shards;
mod terminal;
mod watch;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const FREE: &str = "__global__ void free_k(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";
/// A kernel that a barrier makes free of races.
const MENDABLE: &str = "__global__ void k(int *x) {\n    __shared__ int s[64];\n    if (blockDim.x != 64) return;\n    s[threadIdx.x] = 1;\n    x[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];\n}\n";
const RACY: &str = "__global__ void racy_k(float *y) {\n  y[0] = threadIdx.x;\n}\n";
const UNKNOWN: &str = "__device__ void mystery(float *);\n__global__ void odd_k(float *y) { mystery(y); }\n";

/// A directory with the files of a test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn with(files: &[(&str, &str)]) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        for (name, text) in files {
            place.put(name, text.as_bytes());
        }
        place
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(arguments).current_dir(self.0.path()).env_remove("NO_COLOR").env("RACEPROOF_NO_CACHE", "1");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Seen {
        Seen::of(&self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    fn run_with_stdin(&self, arguments: &[&str], input: &[u8]) -> Seen {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Seen::of(&child.wait_with_output().unwrap())
    }
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Seen {
    pub(crate) fn of(output: &Output) -> Seen {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
        Seen { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Seen {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn complains(self, part: &str) -> Seen {
        assert!(self.err.contains(part), "`{part}` is missing in: {}", self.err);
        self
    }
}

/// Messages go to people: whatever goes wrong, nobody sees Rust's own.
#[track_caller]
fn assert_no_panic(seen: &Seen) {
    for word in ["panicked", "RUST_BACKTRACE", "overflowed its stack", "bug in raceproof"] {
        assert!(!seen.err.contains(word) && !seen.out.contains(word), "{seen:?}");
    }
    assert!(matches!(seen.code, Some(0..=2)), "{seen:?}");
}

#[test]
fn exit_code_says_what_was_found() {
    let place = Place::with(&[("free.cu", FREE), ("racy.cu", RACY), ("odd.cu", UNKNOWN)]);
    place.run(&["check", "free.cu"]).expect(0);
    place.run(&["check", "racy.cu"]).expect(1);
    place.run(&["check", "odd.cu"]).expect(0);
    place.run(&["check"]).expect(1);
}

/// An overflow of the stack, which the variable plants, ends the program; the files around the one that it happens in
/// keep their answers.
#[cfg(unix)]
#[test]
fn a_crash_costs_one_file() {
    let place = Place::with(&[("a.cu", FREE), ("lost.cu", FREE), ("lost_too.cu", FREE), ("racy.cu", RACY)]);
    let mut command = place.command(&["check", "--format", "json"]);
    let output = command.env("RACEPROOF_PLANT_OVERFLOW", "lost").stdin(Stdio::null()).output().unwrap();
    let seen = Seen::of(&output).expect(101);
    let seen = seen.complains("while checking lost.cu").complains("while checking lost_too.cu");
    let report = seen.json();
    let files = report["files"].as_array().expect("files are listed");
    let kernels: Vec<usize> = files.iter().map(|file| file["kernels"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(kernels, [1, 0, 0, 1], "{report}");
    assert_eq!(files[3]["kernels"][0]["race"], "racy");
}

/// Wherever it happens: the rooms that the driver calls, and those that only some runs enter.
#[cfg(unix)]
#[test]
fn a_crash_in_any_room_costs_one_file() {
    let place = Place::with(&[("in/free.cu", FREE), ("in/lost.cu", MENDABLE), ("in/racy.cu", RACY)]);
    for room in ["front", "resolve", "lower", "protocol", "invariant", "prove", "check", "fix", "reproduce"] {
        let more: &[&str] = if room == "fix" { &["--fix"] } else { &["--reproduce", "races"] };
        let mut command = place.command(&[&["check", "in", "--format", "json"], more].concat());
        let output =
            command.env("RACEPROOF_PLANT_OVERFLOW", format!("lost@{room}")).stdin(Stdio::null()).output().unwrap();
        let seen = Seen::of(&output).expect(101).complains("while checking in/lost.cu");
        let report = seen.json();
        let files = report["files"].as_array().expect("files are listed");
        let verdict = |at: usize| files[at]["kernels"][0]["race"].as_str().unwrap_or("none");
        assert_eq!([0, 1, 2].map(verdict), ["race-free", "none", "racy"], "{room}: {report}");
    }
}

#[test]
fn fail_on_chooses_what_fails() {
    let place = Place::with(&[("free.cu", FREE), ("racy.cu", RACY), ("odd.cu", UNKNOWN)]);
    place.run(&["check", "racy.cu", "--fail-on", "divergent,possible"]).expect(0);
    place.run(&["check", "racy.cu", "--fail-on", "never"]).expect(0);
    place.run(&["check", "odd.cu", "--fail-on", "unknown"]).expect(1);
    place.run(&["check", "free.cu", "--fail-on", "racy,divergent,possible,unknown"]).expect(0);
    place.run(&["check", "free.cu", "--fail-on", "everything"]).expect(2);
}

#[test]
fn hints_are_told_and_fail_nothing() {
    let idle = "__global__ void k(int *x) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    x[i] = 1;\n    __syncthreads();\n    x[i] += 1;\n}\n";
    let place = Place::with(&[("idle.cu", idle)]);
    let asked = ["check", "idle.cu", "--hints", "--fail-on", "racy,divergent,possible,unknown", "--format"];
    let run = |format: &'static str| place.run(&[&asked[..], &[format]].concat()).expect(0).out;
    assert!(run("gcc").starts_with("idle.cu:4:5: note: redundant barrier: "), "{}", run("gcc"));
    assert!(run("text").starts_with("help[redundant-barrier]"), "{}", run("text"));
    let json: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    let kernel = &json["files"][0]["kernels"][0];
    assert_eq!((&kernel["race"], &kernel["findings"][0]["rule"]), (&"race-free".into(), &"redundant-barrier".into()));
    let sarif: serde_json::Value = serde_json::from_str(&run("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "note");
    assert!(run("github").starts_with("::notice file=idle.cu,line=4"), "{}", run("github"));
    assert_eq!(run("gitlab").trim(), "[]", "a suggestion is no defect");
    assert!(run("concise").starts_with("idle.cu:4:5: redundant-barrier hint: "), "{}", run("concise"));
    assert!(run("azure").starts_with("1 kernel in 1 file: "), "{}", run("azure"));
    assert!(run("rdjson").contains("\"severity\": \"INFO\""), "{}", run("rdjson"));
    assert!(
        run("json-lines").contains("\"severity\":\"hint\",\"rule\":\"redundant-barrier\""),
        "{}",
        run("json-lines")
    );
    assert!(run("junit").contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""), "{}", run("junit"));
    assert!(!place.run(&["check", "idle.cu"]).expect(0).out.contains("redundant"));
}

#[test]
fn fixes_are_told_and_written_when_asked() {
    let place = Place::with(&[("racy.cu", MENDABLE), ("free.cu", FREE)]);
    let told = place.run(&["check", "racy.cu"]).expect(1);
    assert!(told.out.contains("fix: insert `__syncthreads();` before line 5"), "{}", told.out);
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&["check", "racy.cu", "--format", "json"]).expect(1).out).unwrap();
    let edit = &json["files"][0]["kernels"][0]["findings"][0]["fix"]["edits"][0];
    assert_eq!((&edit["line"], &edit["column"], &edit["end_column"]), (&5.into(), &5.into(), &5.into()));
    assert_eq!(edit["text"], "__syncthreads();\n    ");
    let written = place.run(&["check", ".", "--fix"]).expect(0).complains("fixed racy.cu: k: insert");
    assert!(written.out.contains("2 race-free"), "{}", written.out);
    let text = || std::fs::read_to_string(place.0.path().join("racy.cu")).unwrap();
    let once = text();
    assert_eq!(once, MENDABLE.replace("    x[", "    __syncthreads();\n    x["));
    place.run(&["check", ".", "--fix"]).expect(0);
    assert_eq!(text(), once);
    place.run(&["check", "-", "--fix"]).expect(2).complains("--fix");
}

#[test]
fn text_ends_with_counts() {
    let place = Place::with(&[("free.cu", FREE), ("racy.cu", RACY), ("odd.cu", UNKNOWN)]);
    let seen = place.run(&["check", "."]).expect(1);
    assert!(seen.out.contains("free_k (free.cu:1): race-free for all launches in one dimension"), "{}", seen.out);
    let last = seen.out.lines().last().unwrap();
    assert!(last.starts_with("3 kernels in 3 files: 1 race-free, 1 racy, 0 possibly racy, 1 unknown"), "{last}");
}

#[test]
fn gcc_lines_name_place_and_rule() {
    let place = Place::with(&[("racy.cu", RACY)]);
    let seen = place.run(&["check", "racy.cu", "--format", "gcc"]).expect(1);
    let first = seen.out.lines().next().unwrap();
    assert!(first.starts_with("racy.cu:2:3: error: ") && first.ends_with("[data-race]"), "{first}");
}

#[test]
fn json_lists_every_file_and_counts() {
    let place = Place::with(&[("free.cu", FREE), ("racy.cu", RACY), ("empty.cu", "")]);
    let seen = place.run(&["check", ".", "--format", "json"]).expect(1);
    let value = seen.json();
    assert_eq!(value["schema"], "raceproof.check.v2");
    let paths: Vec<_> = value["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["empty.cu", "free.cu", "racy.cu"]);
    let summary = serde_json::json!(
        {"files": 3, "kernels": 2, "race_free": 1, "racy": 1, "possibly_racy": 0, "unknown": 0}
    );
    assert_eq!(value["summary"], summary);
    let finding = &value["files"][2]["kernels"][0]["findings"][0];
    assert_eq!(finding["primary"]["line"], 2);
    assert_eq!(finding["certainty"], "proved");
    assert_eq!(finding["witness"]["threads"].as_array().unwrap().len(), 2);
    assert!(value["files"][1]["kernels"][0]["time_ms"] == 0);
}

#[test]
fn equal_input_gives_equal_bytes_whatever_the_number_of_jobs() {
    let place = Place::with(&[]);
    for index in 0..12 {
        place.put(&format!("k{index}.cu"), if index % 2 == 0 { RACY } else { FREE }.as_bytes());
    }
    let one = place.run(&["check", ".", "--format", "json", "--jobs", "1"]).expect(1);
    let four = place.run(&["check", ".", "--format", "json", "--jobs", "4"]).expect(1);
    assert_eq!(one.out, four.out);
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let place = Place::with(&[]);
    let seen = place.run_with_stdin(&["check", "-", "--format", "json"], RACY.as_bytes()).expect(1);
    assert_eq!(seen.json()["files"][0]["path"], "<stdin>");
    let opencl = b"__kernel void k(__global float *y) { y[get_global_id(0)] = 1; }\n";
    let arguments = ["check", "-", "--stdin-filename", "src/k.cl", "--format", "json"];
    let seen = place.run_with_stdin(&arguments, opencl).expect(0);
    assert_eq!(seen.json()["files"][0]["path"], "src/k.cl");
    assert_eq!(seen.json()["summary"]["race_free"], 1);
    place.run(&["check", "--stdin-filename", "a.cu", "."]).expect(2).complains("add the path `-`");
}

#[test]
fn usage_errors_exit_with_two_and_say_what_to_do() {
    let place = Place::with(&[("free.cu", FREE)]);
    place.run(&["check", "free.cu", "--blockdim", "4"]).expect(2).complains("--block-dim");
    place.run(&["chekc"]).expect(2).complains("check");
    place.run(&[]).expect(2);
    place.run(&["check", "none.cu"]).expect(2).complains("none.cu");
    place.run(&["check", "free.cu", "--kernel", "nobody"]).expect(2).complains("no kernel named `nobody` in free.cu");
    let meant = "no kernel named `fre_k` in free.cu; did you mean `free_k`?";
    place.run(&["check", "free.cu", "--kernel", "fre_k"]).expect(2).complains(meant);
    place.run(&["contracts", "free.cu", "--kernel", "fre_k"]).expect(2).complains(meant);
    place.run(&["show", "calculus", "free.cu", "--kernel", "fre_k"]).expect(2).complains(meant);
    let searched = ["generate", "free.cu", "--kernel", "fre_k", "--output", "inputs"];
    place.run(&searched).expect(2).complains("did you mean `free_k`?");
    place.run(&["check", "free.cu", "--param", "n"]).expect(2).complains("n=64");
    place.run(&["check", "free.cu", "--param", "m=64"]).expect(2).complains("named `m`: free_k has none");
    place.run(&["check", "free.cu", "-D", "1x"]).expect(2).complains("NAME=VALUE");
    place.run(&["check", "free.cu", "-I", "nowhere"]).expect(2).complains("nowhere");
    place.run(&["check", "free.cu", "--solver-timeout", "0"]).expect(2).complains("--solver-timeout");
    // Its name of old.
    place.run(&["check", "free.cu", "--time-limit", "10"]).expect(0);
    place.run(&["check", "free.cu", "--effort", "much"]).expect(2).complains("quick");
    place.run(&["check", "free.cu", "--jobs", "0"]).expect(2);
    let mut without = place.command(&["check", "free.cu", "--front", "clang"]);
    Seen::of(&without.env("LIBCLANG_PATH", place.0.path()).output().unwrap()).expect(2).complains("LIBCLANG_PATH");
    place.put("libclang.so", b"no library");
    let mut broken = place.command(&["check", "free.cu", "--front", "clang"]);
    Seen::of(&broken.env("LIBCLANG_PATH", place.0.path()).output().unwrap()).expect(2).complains("libclang.so");
    place.run(&["explain", "data-rase"]).expect(2).complains("raceproof explain");
    place.run(&["show", "waves", "free.cu"]).expect(2);
    place.run(&["--version"]).expect(0);
    let help = place.run(&["check", "--help-all"]).expect(0);
    for flag in ["--block-dim", "--fail-on", "--stdin-filename", "Exit codes"] {
        assert!(help.out.contains(flag), "{}", help.out);
    }
}

#[test]
fn impossible_geometry_names_its_limit() {
    let place = Place::with(&[("free.cu", FREE)]);
    place.run(&["check", "free.cu", "--block-dim", "64,32"]).expect(2).complains("1024");
    place.run(&["check", "free.cu", "--block-dim", "1,1,65"]).expect(2).complains("64");
    place.run(&["check", "free.cu", "--grid-dim", "1,70000"]).expect(2).complains("65535");
    place.run(&["check", "free.cu", "--block-dim", "0"]).expect(2).complains("at least 1");
    place.run(&["check", "free.cu", "--block-dim", "256", "--grid-dim", "4"]).expect(0);
}

#[test]
fn kernels_are_chosen_by_name() {
    let place = Place::with(&[("both.cu", &format!("{FREE}{RACY}"))]);
    place.run(&["check", "both.cu", "--kernel", "free_k"]).expect(0);
    place.run(&["check", "both.cu", "--kernel", "free_k", "--kernel", "racy_k"]).expect(1);
}

#[test]
fn a_race_that_only_an_odd_number_shows_says_so() {
    let rows =
        "__global__ void rows(float *y, int pitch) {\n  if (threadIdx.x == 0) y[blockIdx.x * pitch] = blockIdx.x;\n}\n";
    let place = Place::with(&[("rows.cu", rows)]);
    // Without a launch in sight this is what the contract says.
    let said = place.run(&["check", "rows.cu", "--solver", "none"]).expect(0);
    assert!(said.out.contains("  contract: pitch >= 1 (no launch of it was found)"), "{}", said.out);
    let odd = place.run(&["check", "rows.cu", "--solver", "none", "--any-launch"]).expect(1);
    let note = "it was seen only with pitch = 0: if that never happens, say so with `__builtin_assume(pitch > 0)`";
    assert!(odd.out.contains(note), "{}", odd.out);
    let stated = rows.replace("  if", "  __builtin_assume(pitch > 0);\n  if");
    place.put("rows.cu", stated.as_bytes());
    place.run(&["check", "rows.cu", "--solver", "none", "--any-launch"]).expect(0);
    place.put("rows.cu", rows.replace("x * pitch", "x / 2 * pitch").as_bytes());
    let natural = place.run(&["check", "rows.cu", "--solver", "none", "--any-launch"]).expect(1);
    assert!(!natural.out.contains("it was seen only with"), "{}", natural.out);
}

#[test]
fn a_barrier_for_some_threads_says_nothing_of_larger_blocks() {
    let halves = "__global__ void halves(int *a) {\n  asm volatile(\"bar.sync 1, 64;\");\n  \
                  a[blockIdx.x * 64 + threadIdx.x] = 1;\n}\n";
    let place = Place::with(&[
        ("halves.cu", halves),
        ("stated.cu", &halves.replace("asm volatile(\"bar.sync 1, 64;\")", "__builtin_assume(blockDim.x == 64)")),
    ]);
    let race = |options: &[&str]| {
        let seen = place.run(&[&["check", "--solver", "none", "--format", "json"], options].concat());
        seen.json()["files"][0]["kernels"][0]["race"].as_str().unwrap().to_owned()
    };
    assert_eq!(race(&["halves.cu"]), "race-free");
    assert_eq!(race(&["halves.cu", "--block-dim", "64"]), "race-free");
    assert_ne!(race(&["halves.cu", "--block-dim", "128"]), "race-free");
    // What the source states is believed.
    assert_eq!(race(&["stated.cu", "--block-dim", "128"]), "race-free");
}

#[test]
fn directories_respect_ignore_files() {
    let files = [("a.cu", FREE), ("build/b.cu", RACY), ("c.txt", RACY), (".gitignore", "build/\n"), ("d/e.cl", "")];
    let place = Place::with(&files);
    let seen = place.run(&["check", ".", "--format", "json"]).expect(0);
    let files = seen.json()["files"].as_array().unwrap().len();
    assert_eq!(files, 2, "{}", seen.out);
    place.run(&["check", "build"]).expect(1);
}

#[test]
fn a_directory_without_kernels_is_no_success() {
    let place = Place::with(&[("notes.txt", "")]);
    place.run(&["check", "."]).expect(2).complains("no CUDA or OpenCL file");
}

#[test]
fn odd_files_get_a_message_and_no_crash() {
    let place = Place::with(&[("free.cu", FREE), ("empty.cu", "")]);
    place.put("binary.cu", &(0..=255).cycle().take(10_000).collect::<Vec<u8>>());
    place.put("latin1.cu", &[b"// \xe4 comment\n".as_slice(), FREE.as_bytes()].concat());
    place.put("bom.cu", format!("\u{feff}{FREE}").as_bytes());
    place.put("crlf.cu", RACY.replace('\n', "\r\n").as_bytes());
    for name in ["empty.cu", "binary.cu", "latin1.cu", "bom.cu", "crlf.cu"] {
        let seen = place.run(&["check", name, "--format", "json"]);
        assert_no_panic(&seen);
        assert_eq!(seen.json()["files"][0]["path"], name);
        assert_no_panic(&place.run(&["check", name]));
    }
    let latin1 = place.run(&["check", "latin1.cu"]).expect(0);
    assert!(latin1.out.contains("not UTF-8") && latin1.out.contains("1 race-free"), "{}", latin1.out);
    let crlf = place.run(&["check", "crlf.cu", "--format", "gcc"]).expect(1);
    assert!(crlf.out.starts_with("crlf.cu:2:3: error:"), "{}", crlf.out);
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_others_their_verdicts() {
    let place = Place::with(&[("racy.cu", RACY)]);
    let seen = place.run(&["check", "gone.cu", "racy.cu"]).expect(2).complains("gone.cu");
    assert!(seen.out.contains("racy_k"), "{}", seen.out);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_reported() {
    let place = Place::with(&[("racy.cu", RACY)]);
    std::os::unix::fs::symlink("nowhere.cu", place.0.path().join("link.cu")).unwrap();
    place.run(&["check", "link.cu"]).expect(2).complains("link.cu");
}

#[test]
fn nesting_a_hundred_thousand_deep_gives_a_message() {
    let place = Place::with(&[]);
    let deep = 100_000;
    let parentheses = format!("y[0] = {}1{};", "(".repeat(deep), ")".repeat(deep));
    let blocks = format!("{}{}", "{".repeat(deep), "}".repeat(deep));
    let ifs = format!("{};", "if (y[0] > 0) ".repeat(deep));
    let unary = format!("y[0] = {}1;", "- ".repeat(deep));
    let sums = format!("y[0] = 1{};", " + 1".repeat(deep));
    let indices = format!("y{} = 1;", "[0]".repeat(deep));
    for (name, body) in [
        ("parens", parentheses),
        ("blocks", blocks),
        ("ifs", ifs),
        ("unary", unary),
        ("sums", sums),
        ("index", indices),
    ] {
        for (file, head) in [("d.cu", "__global__ void k(int *y)"), ("d.cl", "__kernel void k(__global int *y)")] {
            place.put(file, format!("{head} {{ {body} }}\n").as_bytes());
            let seen = place.run(&["check", file, "--format", "json"]);
            assert_no_panic(&seen);
            let value = seen.json();
            let parse = value["files"][0]["parse"].as_str().unwrap();
            let kernels = value["files"][0]["kernels"].as_array().unwrap();
            let is_said = parse != "ok" || kernels.iter().any(|kernel| kernel["race"] != "race-free");
            assert!(is_said, "{name} in {file}: {}", &seen.out[..seen.out.len().min(500)]);
            assert_no_panic(&place.run(&["show", "syntax", file]));
        }
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::with(&[]);
    for index in 0..200 {
        place.put(&format!("m/k{index}.cu"), RACY.as_bytes());
    }
    let mut child = place
        .command(&["check", "m"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{err}");
    assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
}

#[test]
fn quiet_says_findings_only() {
    let place = Place::with(&[("free.cu", FREE), ("racy.cu", RACY)]);
    assert_eq!(place.run(&["check", "free.cu", "--quiet"]).expect(0).out, "");
    let seen = place.run(&["check", ".", "-q"]).expect(1);
    assert!(seen.out.contains("[data-race]") && !seen.out.contains("free_k"), "{}", seen.out);
}

#[test]
fn colours_only_where_wanted() {
    let place = Place::with(&[("racy.cu", RACY)]);
    assert!(!place.run(&["check", "racy.cu"]).expect(1).out.contains('\u{1b}'));
    assert!(place.run(&["check", "racy.cu", "--color", "always"]).expect(1).out.contains('\u{1b}'));
}

#[test]
fn rules_are_listed_and_explained() {
    let place = Place::with(&[]);
    let listing = place.run(&["explain"]).expect(0).out;
    for rule in raceproof::diagnostic::RuleId::ALL {
        assert!(listing.contains(rule.name()), "{listing}");
        assert!(place.run(&["explain", rule.name()]).expect(0).out.starts_with(&format!("# {}\n", rule.name())));
    }
}

#[test]
fn all_words_of_reports_are_listed_and_explained() {
    let place = Place::with(&[("odd.cu", UNKNOWN), ("racy.cu", RACY)]);
    let listing = place.run(&["explain"]).expect(0).out;
    for word in raceproof::driver::words::Word::all() {
        let name = word.name();
        assert!(listing.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {listing}");
        assert!(place.run(&["explain", name]).expect(0).out.starts_with(&format!("# {name}\n")), "{name}");
    }
    place.run(&["explain", "unknown-loop-count"]).expect(0);
    // What a run prints before its messages, and its verdicts, as they stand there.
    let said = place.run(&["check", ".", "--no-cache"]).expect(1).out;
    let tags: Vec<&str> = said.lines().filter_map(|line| line.split_once("]: ")).map(|(tag, _)| tag).collect();
    assert!(tags.contains(&"note[unknown") && tags.contains(&"error[data-race"), "{said}");
    for tag in tags {
        place.run(&["explain", &format!("{tag}]")]).expect(0);
    }
    let report = place.run(&["check", ".", "--format", "json"]).expect(1).json();
    for kernel in report["files"].as_array().unwrap().iter().flat_map(|file| file["kernels"].as_array().unwrap()) {
        for field in ["race", "divergence", "front", "scope"] {
            let word = &kernel[field];
            if let Some(word) = word.as_str().or(word["kind"].as_str()) {
                place.run(&["explain", word]).expect(0);
            }
        }
    }
}

/// Two files, with a proved race and a possible one.
fn two_files() -> Place {
    let may = "__global__ void may(int *x, const int *v) { x[v[threadIdx.x] / 2] = threadIdx.x; }\n";
    let does = "__global__ void does(int *x) { x[0] = threadIdx.x; }\n";
    Place::with(&[("a.cu", may), ("b.cu", does)])
}

#[test]
fn errors_come_first_and_verdicts_stand_together() {
    let place = two_files();
    let seen = place.run(&["check", "."]).expect(1).out;
    let at = |text: &str| seen.find(text).unwrap_or_else(|| panic!("{text}: {seen}"));
    assert!(at("error[") < at("warning["), "{seen}");
    assert!(at("warning[") < at("may (") && at("may (") < at("does ("), "{seen}");
}

#[test]
fn the_gravest_findings_are_kept_and_the_exit_code_is_about_all() {
    let place = two_files();
    let seen = place.run(&["check", ".", "-q", "--max-findings", "1"]).expect(1);
    assert!(seen.out.lines().count() == 1 && seen.out.contains("b.cu"), "{}", seen.out);
    assert!(place.run(&["check", ".", "-q", "--max-findings", "0"]).expect(1).out.is_empty());
}

#[test]
fn statistics_count_findings_by_file_and_rule() {
    let place = two_files();
    let seen = place.run(&["check", ".", "--statistics"]).expect(1).out;
    assert!(seen.contains("b.cu: data-race 1") && seen.contains("2  in all: "), "{seen}");
    assert!(!seen.contains("error["), "{seen}");
}

#[test]
fn what_a_proof_relies_on_is_told_in_full_where_it_is_asked_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_raceproof"))
        .args(["check", "fixtures/quickstart", "--verbose"])
        .current_dir(root)
        .output()
        .unwrap();
    let seen = Seen::of(&output).expect(1).out;
    assert!(
        seen.contains("launches in two dimensions") && seen.contains("in and out point to disjoint memory"),
        "{seen}"
    );
    assert!(!seen.contains("under "), "{seen}");
}

#[test]
fn a_header_that_is_not_found_is_told_once() {
    let kernel = "#include \"vec/vec.h\"\n__global__ void k(vec::v3 *y) { y[threadIdx.x] = vec::make(y); }\n\
                  __global__ void l(vec::v3 *y) { y[threadIdx.x] = vec::make(y); }\n";
    let place = Place::with(&[("a.cu", kernel)]);
    let seen = place.run(&["check", "a.cu"]).out;
    assert_eq!(seen.matches("`vec/vec.h` was not found").count(), 1, "{seen}");
}

#[test]
fn every_stage_is_shown() {
    let place = Place::with(&[("racy.cu", RACY)]);
    for stage in ["syntax", "calculus", "protocol", "intervals", "flow", "conditions"] {
        let seen = place.run(&["show", stage, "racy.cu"]).expect(0);
        assert!(!seen.out.trim().is_empty(), "{stage}");
    }
    place.run(&["show", "syntax", "none.cu"]).expect(2).complains("none.cu");
}

#[test]
fn the_quickstart_shows_a_proof_and_a_race_as_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_raceproof"))
        .args(["check", "fixtures/quickstart"])
        .current_dir(root)
        .output()
        .unwrap();
    let seen = Seen::of(&output).expect(1);
    assert!(seen.out.contains("race-free for all launches in two dimensions"), "{}", seen.out);
    assert!(seen.out.contains("error[data-race]") && seen.out.contains("witness:"), "{}", seen.out);
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```text\n").unwrap();
    let (shown, _) = rest.split_once("```\n").unwrap();
    assert_eq!(seen.out, shown, "the output that README.md shows is the real one");
}

#[test]
fn a_build_says_how_its_files_are_compiled() {
    let kernel = "#include \"size.h\"\n__global__ void k(float *y) { y[threadIdx.x / STEP % SIZE] = threadIdx.x; }\n";
    let place = Place::with(&[("src/k.cu", kernel), ("include/size.h", "#define SIZE 2048\n")]);
    let command =
        "nvcc -gencode arch=compute_80,code=sm_80 -rdc=true -Xcompiler -fPIC @flags.rsp -c ../src/k.cu -o k.o";
    let entry = format!(r#"[{{"directory": ".", "file": "../src/k.cu", "command": "{command}"}}]"#);
    place.put("build/compile_commands.json", entry.as_bytes());
    place.put("build/flags.rsp", b"-DSTEP=1 -I../include -lineinfo");
    place.run(&["check", "src/k.cu", "--grid-dim", "1", "-p", "build"]).expect(0);
    // What is typed precedes what the build says.
    place.run(&["check", "src/k.cu", "--grid-dim", "1", "-p", "build", "-D", "STEP=2"]).expect(1);
    place.run(&["check", "src/k.cu", "-p", "src"]).expect(2).complains("compile_commands.json");
}

#[test]
fn a_macro_that_nothing_defines_is_sought_in_what_the_project_tells_the_compiler() {
    let kernel = "__kernel void fill(__global float *y) {\n\
                  if (get_local_id(0) < WIDTH) y[get_group_id(0) * WIDTH + get_local_id(0)] = 1;\n}\n";
    let host = "#define WIDTH 64\nvoid build() { sprintf(options, \"-DWIDTH=%d\", WIDTH); }\n";
    let place = Place::with(&[("app/kernels/k.cl", kernel), ("app/src/host.c", host)]);
    let verdict = |arguments: &[&str]| {
        let report = place.run(arguments).json();
        let kernel = report["files"][0]["kernels"][0].clone();
        (kernel["race"].as_str().unwrap().to_owned(), kernel["assumptions"].to_string())
    };
    let (race, assumptions) = verdict(&["check", "--format", "json", "."]);
    assert_eq!(race, "race-free");
    assert!(assumptions.contains("`WIDTH` is `64`, as app/src/host.c:2 of the project states it"), "{assumptions}");
    assert_ne!(verdict(&["check", "--format", "json", "--headers", "none", "."]).0, "race-free");
    // What is typed is not sought.
    let (race, assumptions) = verdict(&["check", "--format", "json", "-D", "WIDTH=32", "."]);
    assert!(race == "race-free" && !assumptions.contains("states it"), "{assumptions}");
    // The nearest statement counts; which of two that are equally near is meant is not guessed.
    place.put("other/host.c", b"char *options = \"-DWIDTH=16\";\n");
    assert!(verdict(&["check", "--format", "json", "."]).1.contains("`WIDTH` is `64`"));
    place.put("app/src/other.c", b"char *options = \"-DWIDTH=16\";\n");
    assert_ne!(verdict(&["check", "--format", "json", "."]).0, "race-free");
}

#[test]
fn an_opencl_kernel_is_judged_for_the_launches_that_its_host_code_makes() {
    let kernel = "__kernel void rows(__global float *y) { y[get_group_id(0) * 16 + get_local_id(0)] = 1; }\n";
    let host = "void run() {\n cl_kernel k = clCreateKernel(program, \"rows\", &error);\n\
                size_t global[1] = {1024}, local[1] = {16};\n\
                clEnqueueNDRangeKernel(queue, k, 1, NULL, global, local, 0, NULL, NULL);\n}\n";
    let place = Place::with(&[("app/kernels/k.cl", kernel), ("app/src/host.c", host)]);
    let verdict = |arguments: &[&str]| {
        let report = place.run(arguments).json();
        let kernel = report["files"][0]["kernels"][0].clone();
        (kernel["race"].as_str().unwrap().to_owned(), kernel["scope"].to_string() + &kernel["assumptions"].to_string())
    };
    let (race, told) = verdict(&["check", "--format", "json", "."]);
    assert_eq!(race, "race-free");
    assert!(told.contains("launch") && told.contains("launched as app/src/host.c:4 of the project does"), "{told}");
    // Blocks of half a warp are no contract that excuses anything.
    assert_eq!(verdict(&["check", "--format", "json", "--headers", "none", "."]).0, "racy");
    assert_eq!(verdict(&["check", "--format", "json", "--block-dim", "32", "."]).0, "racy");
    // Another launch of the kernel races; one of which nothing is known leaves its contract open, which the other one keeps.
    place.put("app/src/wide.c", host.replace("{16}", "{32}").as_bytes());
    assert_eq!(verdict(&["check", "--format", "json", "."]).0, "racy");
    place.put("app/src/wide.c", host.replace("{16}", "{size}").as_bytes());
    let (race, told) = verdict(&["check", "--format", "json", "."]);
    assert!(race == "race-free" && told.starts_with("\"contract\""), "{race} {told}");
    assert_eq!(verdict(&["check", "--format", "json", "--any-launch", "."]).0, "racy");
}

#[test]
fn a_cuda_kernel_is_judged_for_the_launches_of_units_that_declare_it() {
    let kernel =
        "#include \"rows.h\"\n__global__ void rows(float *y, int n) { y[blockIdx.x * n + threadIdx.x] = 1; }\n";
    let main = "#include \"rows.h\"\nvoid run(float *y) {\n rows<<<8, 16>>>(y, 16);\n}\n";
    let header = "__global__ void rows(float *y, int n);\n";
    let place = Place::with(&[("app/rows.h", header), ("app/rows.cu", kernel), ("app/src/main.cu", main)]);
    let verdict = |arguments: &[&str]| {
        let report = place.run(arguments).json();
        let files = report["files"].as_array().unwrap();
        let own = files.iter().find(|file| file["path"].as_str().unwrap().ends_with("rows.cu")).unwrap();
        let kernel = own["kernels"][0].clone();
        (kernel["race"].as_str().unwrap().to_owned(), kernel["scope"].to_string() + &kernel["assumptions"].to_string())
    };
    let (race, told) = verdict(&["check", "--format", "json", "."]);
    assert_eq!(race, "race-free", "{told}");
    assert!(told.contains("launch") && told.contains("launched as app/src/main.cu:3 of the project does"), "{told}");
    let (race, told) = verdict(&["check", "--format", "json", "--headers", "none", "."]);
    assert!(race == "race-free" && told.starts_with("\"contract\""), "{race} {told}");
    assert_eq!(verdict(&["check", "--format", "json", "--headers", "none", "--any-launch", "."]).0, "racy");
    assert_eq!(verdict(&["check", "--format", "json", "--block-dim", "32", "."]).0, "racy");
    // A unit with a kernel of its own of that name launches that one.
    place.put(
        "app/src/other.cu",
        main.replace("#include \"rows.h\"", header.replace(';', " {}").trim()).replace("16>>>", "32>>>").as_bytes(),
    );
    assert_eq!(verdict(&["check", "--format", "json", "."]).0, "race-free");
    // A unit that includes the file has the kernel itself, whatever else the file launches.
    place.put(
        "app/rows.cu",
        format!("{kernel}__global__ void one() {{}}\nvoid go() {{ one<<<1, 1>>>(); }}\n").as_bytes(),
    );
    place.put("app/src/main.cu", main.replace("rows.h", "../rows.cu").as_bytes());
    let (race, told) = verdict(&["check", "--format", "json", "."]);
    assert!(race == "race-free" && told.contains("launched as app/src/main.cu:3"), "{race} {told}");
    // Another launch races; one of which nothing is known leaves the contract open.
    place.put("app/src/wide.cu", main.replace("16>>>", "32>>>").as_bytes());
    assert_eq!(verdict(&["check", "--format", "json", "."]).0, "racy");
    place.put("app/src/wide.cu", main.replace("16>>>", "size()>>>").as_bytes());
    let (race, told) = verdict(&["check", "--format", "json", "."]);
    assert!(race == "race-free" && told.starts_with("\"contract\""), "{race} {told}");
    assert_eq!(verdict(&["check", "--format", "json", "--any-launch", "."]).0, "racy");
}

#[test]
fn launches_of_a_cuda_kernel_count_wherever_they_lie_in_the_project() {
    let kernel = "__global__ void rows(float *y, int n) { y[threadIdx.x / n] = threadIdx.x; }\n";
    let launch = |n: u32| format!("__global__ void rows(float *y, int n);\nvoid go() {{ rows<<<1, 32>>>(0, {n}); }}\n");
    let place = Place::with(&[("src/k.cu", kernel), ("src/a.cu", &launch(1)), (".git/HEAD", "")]);
    let verdict = |arguments: &[&str]| {
        let told = place.run(arguments).out;
        told.lines().find(|line| line.starts_with("rows (")).unwrap_or_default().to_owned()
    };
    let told = verdict(&["check", "."]);
    assert!(told.contains("race-free for the launches in this project"), "{told}");
    place.put("app/deep/b.cu", launch(2).as_bytes());
    assert!(verdict(&["check", "."]).contains("racy"));
    assert!(verdict(&["check", "src/k.cu"]).contains("racy"), "the project counts, not only the run");
    // A definition that is nearer is the one that is launched there.
    place.put("app/deep/k.cu", kernel.as_bytes());
    assert!(verdict(&["check", "src/k.cu"]).contains("race-free for the launches in this project"));
    // A launch in the file itself is not all.
    place.put("src/k.cu", format!("{kernel}void own() {{ rows<<<1, 32>>>(0, 1); }}\n").as_bytes());
    place.put("src/a.cu", launch(2).as_bytes());
    assert!(verdict(&["check", "src/k.cu"]).contains("racy"));
}

#[test]
fn a_macro_that_a_script_above_the_source_states_opens_what_stands_under_it() {
    let place = Place::with(&[
        (".git/HEAD", ""),
        ("csrc/types.h", "#ifdef WITH_CUDA\ntypedef int3 cell;\n#endif\n"),
        ("csrc/k.cu", "#include \"types.h\"\n__global__ void k(cell *y) { y[threadIdx.x].x = 1; }\n"),
        ("setup.py", "if torch.cuda.is_available():\n    define_macros += [(\"WITH_CUDA\", None)]\n"),
    ]);
    let checked = || {
        let arguments = ["check", "csrc", "--format", "json", "--fail-on", "never", "--solver", "none"];
        let kernel = place.run(&arguments).json()["files"][0]["kernels"][0].clone();
        (kernel["race"] == "race-free", kernel["assumptions"].to_string())
    };
    let (is_free, told) = checked();
    assert!(is_free && told.contains("`WITH_CUDA` is `1`, as setup.py:2 of the project states it"), "{told}");
    place.put("setup.py", b"if sys.platform == 'win32':\n    define_macros += [(\"WITH_CUDA\", None)]\n");
    assert!(!checked().0);
}

#[test]
fn a_macro_that_a_build_file_beside_the_source_states_is_taken_where_a_kernel_needs_it() {
    let kernel = "__global__ void fill(float *y) {\n\
                  if (threadIdx.x < WIDTH) y[blockIdx.x * WIDTH + threadIdx.x] = 1;\n}\n";
    let place = Place::with(&[("app/k.cu", kernel), ("app/Makefile", "N = 64\nFLAGS += -DWIDTH=$(N)\n")]);
    let assumptions = || {
        let kernel = place.run(&["check", "--format", "json", "."]).json()["files"][0]["kernels"][0].clone();
        (kernel["race"] == "race-free", kernel["assumptions"].to_string())
    };
    let (is_free, told) = assumptions();
    assert!(is_free && told.contains("`WIDTH` is `64`, as app/Makefile:2 of the project states it"), "{told}");
    place.put("app/Makefile", b"ifdef WIDE\nFLAGS += -DWIDTH=64\nendif\n");
    assert!(!assumptions().0);
    // A text that explains itself is judged as it stands.
    place.put("app/Makefile", b"FLAGS += -DWIDTH=32\n");
    place.put("app/k.cu", format!("#ifndef WIDTH\n#define WIDTH 8\n#endif\n{kernel}").as_bytes());
    let (is_free, told) = assumptions();
    assert!(is_free && !told.contains("states it"), "{told}");
}

#[test]
fn a_header_that_no_include_path_leads_to_is_sought_in_the_project() {
    let kernel = "#include <size.h>\n\
                  __global__ void fill(float *y) {\n\
                  if (threadIdx.x < WIDTH) y[blockIdx.x * WIDTH + threadIdx.x] = 1;\n}\n";
    let place = Place::with(&[("cuda/app/k.cu", kernel), ("cuda/inc/size.h", "#define WIDTH 64\n")]);
    let verdict = |arguments: &[&str]| {
        let report = place.run(arguments).json();
        let kernel = report["files"][0]["kernels"][0].clone();
        (kernel["race"].as_str().unwrap().to_owned(), kernel["assumptions"].to_string())
    };
    let (race, assumptions) = verdict(&["check", "--format", "json", "."]);
    assert_eq!(race, "race-free");
    assert!(assumptions.contains("`size.h` is cuda/inc/size.h of the project, found by its name"), "{assumptions}");
    assert_ne!(verdict(&["check", "--format", "json", "--headers", "none", "."]).0, "race-free");
    // Which of two is meant is not guessed.
    place.put("cuda/other/size.h", b"#define WIDTH 32\n");
    assert_ne!(verdict(&["check", "--format", "json", "."]).0, "race-free");
    // The build says it.
    place.put("cuda/app/Makefile", b"FLAGS = -O3 -I../inc\n");
    let (race, assumptions) = verdict(&["check", "--format", "json", "."]);
    let told = "`size.h` is cuda/inc/size.h of the project, where a build file lets the compiler look";
    assert!(race == "race-free" && assumptions.contains(told), "{assumptions}");
    let (race, assumptions) = verdict(&["check", "--format", "json", "-I", "cuda/other", "."]);
    assert!(race == "race-free" && !assumptions.contains("found by its name"), "{assumptions}");
}

#[test]
fn timings_say_which_libclang_answered() {
    let place = Place::with(&[("free.cu", FREE)]);
    let with_library = |library: &std::ffi::OsStr, front: &str| {
        let mut command = place.command(&["check", "free.cu", "--timings", "--front", front]);
        Seen::of(&command.env("LIBCLANG_PATH", library).output().unwrap()).expect(0)
    };
    let nowhere = place.path().as_os_str();
    let seen = with_library(nowhere, "auto");
    let lines: Vec<&str> = seen.err.lines().collect();
    assert_eq!(lines[1], "note: no libclang was found; tree-sitter read 1 of 1 files");
    assert!(lines[2].contains(" s of work on all threads: ") && lines[2].contains(" %)"), "{}", lines[2]);
    assert_eq!(lines.len(), 3, "{}", seen.err);
    assert!(with_library(nowhere, "tree-sitter").err.contains("as --front says"));
    place.put("libclang.so", b"no library");
    let broken = with_library(nowhere, "auto");
    assert!(broken.err.contains("libclang.so") && broken.err.contains("tree-sitter read 1 of 1"), "{}", broken.err);
    let Some(pool) = crate::clang::pool() else { return };
    let seen = with_library(pool.library().as_os_str(), "auto");
    assert!(seen.err.contains("clang version") && seen.err.contains("read 1 of 1 files"), "{}", seen.err);
    assert_eq!(place.run(&["check", "free.cu"]).err, "");
}

/// A variable that leads to no libclang is told by whoever reads files, and the files are read all the same.
#[test]
fn a_library_that_is_named_in_vain_is_told() {
    let place = Place::with(&[("free.cu", FREE), ("empty/.keep", ""), ("broken/libclang.so", "no library")]);
    let told = |named: &str, arguments: &[&str]| {
        let mut command = place.command(arguments);
        Seen::of(&command.env("LIBCLANG_PATH", named).stdin(Stdio::null()).output().unwrap()).expect(0)
    };
    let gone = "warning: LIBCLANG_PATH names nowhere, where there is neither a file nor a directory; all files are read by tree-sitter";
    let empty = "warning: LIBCLANG_PATH names the directory empty, which has no libclang: libclang.so, libclang.so.*,";
    let broken = "warning: LIBCLANG_PATH: libclang cannot be used: broken/libclang.so: ";
    for (named, told_of_it) in [("nowhere", gone), ("empty", empty), ("broken", broken)] {
        for command in ["check", "contracts"] {
            let seen = told(named, &[command, "free.cu"]);
            assert_eq!(seen.err.matches("LIBCLANG_PATH").count(), 1, "{command}: {}", seen.err);
            assert!(seen.err.starts_with(told_of_it), "{command}: {}", seen.err);
        }
        let version = told(named, &["--version", "--verbose"]);
        let line = version.out.lines().find(|line| line.starts_with("libclang: ")).unwrap();
        assert!(line.contains(named), "{line}");
    }
    assert_eq!(told("nowhere", &["check", "free.cu", "--front", "tree-sitter"]).err, "");
    assert_eq!(told("", &["check", "free.cu", "--config", "front=tree-sitter"]).err, "");
    // What is found in the cache is no reason to say nothing.
    for _ in 0..2 {
        let mut command = place.command(&["check", "free.cu"]);
        let seen = command.env("LIBCLANG_PATH", "broken").env_remove("RACEPROOF_NO_CACHE").output().unwrap();
        Seen::of(&seen).expect(0).complains(broken);
    }
    let mut command = place.command(&["check", "free.cu", "--front", "clang"]);
    let seen = Seen::of(&command.env("LIBCLANG_PATH", "empty").output().unwrap()).expect(2);
    seen.complains("--front clang: LIBCLANG_PATH names the directory empty, which has no libclang");
    let Some(pool) = crate::clang::pool() else { return };
    assert_eq!(told(&pool.library().to_string_lossy(), &["check", "free.cu"]).err, "");
}

/// A value that its parameter cannot have is refused for that kernel alone; it proves nothing.
#[test]
fn values_that_a_parameter_cannot_have_are_refused() {
    // No two threads meet if `n` is 300, which it is in no launch.
    let narrow =
        "__global__ void narrow(int *x, unsigned char n) { x[threadIdx.x / (n > 255 ? 1 : 2)] = threadIdx.x; }\n";
    let wide = "typedef unsigned long long count;\n__global__ void wide(int *x, count n) { x[n == 300 ? threadIdx.x : 0] = threadIdx.x; }\n";
    let place = Place::with(&[("narrow.cu", narrow), ("wide.cu", wide)]);
    let one =
        ["--front", "tree-sitter", "--solver", "none", "--block-dim", "64", "--grid-dim", "1", "--format", "json"];
    let check = |arguments: &[&str]| place.run(&[&["check", ".", "--param", "n=300"], &one[..], arguments].concat());
    let told = "--param n=300: the parameter `n` of narrow (narrow.cu:1) is of type unsigned char, which holds 0 to 255; narrow is judged as \
                if the value were not given";
    let seen = check(&[]).expect(2).complains(told);
    assert_eq!(seen.err.matches("--param").count(), 1, "{}", seen.err);
    let race = |file: usize| seen.json()["files"][file]["kernels"][0]["race"].as_str().unwrap().to_owned();
    assert_eq!([race(0), race(1)], ["racy", "race-free"]);
    // Whoever asks about one kernel asks about its parameter.
    assert_eq!(check(&["--kernel", "wide"]).expect(0).err, "");
    let typed = ["--param", "n=-1", "--kernel", "wide"];
    check(&typed).expect(2).complains("is of type unsigned long, which holds 0 to 18446744073709551615");
    place.put("raceproof.toml", b"params = { n = 256 }\n");
    let seen = place.run(&[&["check", "narrow.cu"], &one[..]].concat()).expect(2);
    seen.complains("--param n=256: the parameter `n` of narrow (narrow.cu:1) is of type unsigned char");
    place.put("raceproof.toml", b"[[kernels]]\nname = \"narrow\"\nparams = { n = 257 }\n");
    let seen = place.run(&[&["check", "narrow.cu"], &one[4..]].concat()).expect(2);
    seen.complains("--param n=257: the parameter `n` of narrow (narrow.cu:1) is of type unsigned char");
}

/// The last kernel of a file of thousands is looked at as the first one is.
#[test]
fn the_five_thousandth_kernel_counts() {
    let text: String =
        (0..5_000).map(|at| format!("__global__ void k{at}(int *a) {{ a[0] = threadIdx.x; }}\n")).collect();
    let place = Place::with(&[("k.cu", &text)]);
    let arguments =
        ["check", "k.cu", "--kernel", "k4999", "--front", "tree-sitter", "--solver", "none", "--format", "gcc"];
    let seen = place.run(&arguments).expect(1);
    assert!(seen.out.starts_with("k.cu:5000:"), "{}", seen.out);
    // Of instances of templates there is a limit, and what is beyond it is unread.
    let template = |at: usize| {
        let instances = (0..100).map(|n| format!("template __global__ void t{at}<{n}>(int *);\n"));
        format!("template <int N> __global__ void t{at}(int *a) {{ a[N] = 1; }}\n{}", instances.collect::<String>())
    };
    place.put("t.cu", (0..42).map(template).collect::<String>().as_bytes());
    let arguments = ["check", "t.cu", "--kernel", "t41", "--front", "tree-sitter", "--solver", "none", "--fail-on"];
    let seen = place.run(&[&arguments[..], &["unread"]].concat()).expect(1);
    assert!(seen.out.contains("beyond the 4096 functions that are made of the templates of a file"), "{}", seen.out);
    place.run(&[&arguments[..], &["racy"]].concat()).expect(0);
}

/// A directory gives the same fixes as its files do, one by one.
#[test]
fn fixes_of_a_directory_are_those_of_its_files() {
    let other = MENDABLE.replace("void k(", "void other(").replace("s[63 - threadIdx.x]", "s[threadIdx.x ^ 1]");
    let place = Place::with(&[("a.cu", MENDABLE), ("sub/b.cu", &other), ("free.cu", FREE)]);
    let check = |path: &str| place.run(&["check", path, "--front", "tree-sitter", "--format", "json"]).json();
    let fixes = |report: &serde_json::Value| -> Vec<serde_json::Value> {
        let files = report["files"].as_array().unwrap().iter().flat_map(|file| file["kernels"].as_array().unwrap());
        files.flat_map(|kernel| kernel["findings"].as_array().unwrap()).map(|it| it["fix"].clone()).collect()
    };
    let each = [check("a.cu"), check("free.cu"), check("sub/b.cu")].iter().flat_map(fixes).collect::<Vec<_>>();
    assert!(each.len() == 2 && each.iter().all(|fix| fix["edits"][0]["text"].is_string()), "{each:#?}");
    assert_eq!(fixes(&check(".")), each);
    let told = place.run(&["check", ".", "--front", "tree-sitter"]).expect(1).out;
    assert_eq!(told.matches("fix: insert `__syncthreads();` before line 5").count(), 2, "{told}");
}

/// Comments of a header are told with whichever unit meets them first, and kernels in texts of C++ are a part of their file.
#[test]
fn fixes_are_written_wherever_they_stand() {
    let opencl = "kernel void k(global int *x, local int *s) {\n  s[get_local_id(0)] = 1;\n  x[get_global_id(0)] = s[get_local_size(0) - 1 - get_local_id(0)];\n}\n";
    let idle = "// raceproof: ignore[data-race] long gone\n";
    let header = format!(
        "#ifdef ONE\n{idle}__device__ inline int one() {{ return 1; }}\n#else\n{idle}__device__ inline int one() {{ return 2; }}\n#endif\n"
    );
    let unit = |define: &str, name: &str| {
        format!("{define}#include \"h.h\"\n{}", FREE.replace("free_k", name).replace("= 1", "= one()"))
    };
    let place = Place::with(&[
        ("h.h", &header),
        ("a.cu", &unit("#define ONE\n", "a")),
        ("b.cu", &unit("", "b")),
        ("t.cpp", &format!("const char *text = R\"(\n{opencl})\";\n")),
        (
            "part.cu",
            &format!(
                "{idle}__global__ void fill(float *a) {{ if (threadIdx.x < W) a[blockIdx.x * W + threadIdx.x] = 1; }}\n"
            ),
        ),
        ("whole.cu", &format!("{idle}#define W 64\n#include \"part.cu\"\n{MENDABLE}")),
    ]);
    let seen = place.run(&["check", ".", "--fix", "--front", "tree-sitter"]).expect(0);
    assert!(!seen.err.contains("error"), "{}", seen.err);
    let text = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    for name in ["h.h", "part.cu", "whole.cu"] {
        assert!(!text(name).contains("long gone"), "{name}: {}", text(name));
    }
    assert!(text("whole.cu").contains("    __syncthreads();\n    x["), "{}", text("whole.cu"));
    let with = "  s[get_local_id(0)] = 1;\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
    assert!(
        text("t.cpp").starts_with("const char *text = R\"(\nkernel") && text("t.cpp").contains(with),
        "{}",
        text("t.cpp")
    );
}
