//! The solver stage through the real binary: solvers that lie, hang, print garbage or die, and real ones.

use super::cli::Place;
use crate::support::tools;
use raceproof::smt::{SolverKind, find};
use std::fs;
use std::path::PathBuf;

/// Two kernels that rules and runs leave open: an injective product modulo two to the 32, and a race that needs
/// one value of a parameter.
const OPEN: &str = "__global__ void hashed_k(float *y) {
    unsigned t = threadIdx.x;
    if (t < 8) y[(t * 2654435761u) >> 3] = t;
}
__global__ void hidden_k(float *y, int n) {
    int t = threadIdx.x;
    if ((unsigned)n * 2654435761u == 16625216u) y[t / 2] = t;
}
";
/// A kernel that rules decide.
const DECIDED: &str = "__global__ void free_k(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";

/// A shell script in the place of Z3; `on_check` is what it does when asked.
#[cfg(unix)]
fn fake(place: &Place, on_check: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let program = place.path().join("z3");
    let echo = "w=${line#'(echo \"'}; echo \"${w%'\")'}\"";
    let text = format!(
        "#!/bin/sh\necho started >> \"$0.log\"\nwhile read -r line; do\n  case \"$line\" in\n    '(check-sat)') {on_check} ;;\n    \
         '(get-value'*) echo '((a 1))' ;;\n    '(echo '*) {echo} ;;\n  esac\ndone\n"
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[cfg(unix)]
fn checked_with(place: &Place, solver: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = place.command(&[&["check", "--color", "never"], arguments].concat());
    let output = command.env("RACEPROOF_Z3", solver).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn whatever_a_solver_does_the_answer_is_unknown_with_a_reason() {
    let misbehaviours = [
        ("exec sleep 60", "did not answer in time"),
        ("exit 1", "ended before it answered"),
        ("echo uns; kill -9 $$", "ended before it answered"),
        ("echo '(error \"out of cheese\")'", "which is no answer"),
        ("echo unknown", "gave up"),
        // A lie: there is no model, or one that nothing confirms.
        ("echo sat", "finds it possible"),
    ];
    for (misbehaviour, reason) in misbehaviours {
        let place = Place::with(&[("open.cu", OPEN)]);
        let solver = fake(&place, misbehaviour);
        let out = checked_with(&place, &solver, &["open.cu", "--solver", "z3", "--solver-timeout", "1"]);
        assert!(out.contains("2 unknown"), "{misbehaviour}:\n{out}");
        assert!(!out.contains("race-free for"), "{misbehaviour}:\n{out}");
        // Of many questions the last ones are not asked any more.
        let is_told = out.contains(reason) || out.contains("failed too often");
        assert!(is_told, "{misbehaviour}: no word of `{reason}` in\n{out}");
    }
}

#[cfg(unix)]
#[test]
fn a_solver_is_not_started_where_rules_decide() {
    let place = Place::with(&[("free.cu", DECIDED), ("open.cu", OPEN)]);
    let solver = fake(&place, "echo unknown");
    let log = place.path().join("z3.log");
    checked_with(&place, &solver, &["free.cu"]);
    assert!(!log.exists(), "the solver was started for a kernel that rules decide");
    checked_with(&place, &solver, &["open.cu", "--jobs", "1"]);
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 1, "one process serves both kernels");
}

#[cfg(unix)]
#[test]
fn without_a_solver_nothing_is_asked_and_the_message_says_what_would_help() {
    let place = Place::with(&[("open.cu", OPEN)]);
    let solver = fake(&place, "echo unsat");
    let none = checked_with(&place, &solver, &["open.cu", "--solver", "none"]);
    assert!(none.contains("a solver, or a launch that is stated"), "{none}");
    assert!(!place.path().join("z3.log").exists());
    let nowhere = |wanted: &str| {
        let mut command = place.command(&["check", "open.cu", "--color", "never", "--solver", wanted]);
        for variable in ["RACEPROOF_Z3", "RACEPROOF_CVC5", "RACEPROOF_BITWUZLA"] {
            command.env(variable, "/nowhere");
        }
        command.output().unwrap()
    };
    assert_eq!(String::from_utf8(nowhere("auto").stdout).unwrap(), none, "byte for byte");
    let missing = nowhere("cvc5");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("RACEPROOF_CVC5"));
}

/// Two atomics exempt each other at equal addresses, which only a solver sees here; an atomic and a read of the same place
/// do not.
const ATOMIC_AND_PLAIN: &str = "__global__ void mixed_k(int *y) {
    __shared__ __align__(4) char s[64];
    bool unknown = __activemask() & 2;
    int x = 0;
    if (unknown) atomicOr((int *)(s + (threadIdx.x & 4)), 1);
    if (unknown) x = *(int *)(s + (threadIdx.x & 4));
    y[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
";

#[test]
fn what_is_proved_of_two_atomics_says_nothing_of_an_atomic_and_a_read() {
    if tools::used("z3", || find(SolverKind::Z3).ok_or(())).is_none() {
        return;
    }
    let place = Place::with(&[("mixed.cu", ATOMIC_AND_PLAIN)]);
    let output = place.command(&["check", "mixed.cu", "--color", "never", "--solver", "z3"]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("0 race-free, 0 racy, 1 possibly racy"), "{out}");
}

/// No run gets past a loop that asks what memory holds: the race behind it is possible, and the loop is named.
#[test]
fn a_race_behind_a_loop_that_may_not_end_is_possible_and_names_the_loop() {
    if tools::used("z3", || find(SolverKind::Z3).ok_or(())).is_none() {
        return;
    }
    let kernel = |index: &str| {
        format!(
            "__global__ void k(int *y, const int *x) {{\n  int v = x[threadIdx.x];\n  while (v > 0) v = x[v];\n  y[{index}] = v;\n}}\n"
        )
    };
    let own = kernel("blockIdx.x * blockDim.x + threadIdx.x");
    let place = Place::with(&[("one.cu", &kernel("0")), ("own.cu", &own)]);
    let checked = |name: &str| {
        let arguments = ["check", name, "--solver", "z3", "--format", "json", "--fail-on", "never"];
        place.run(&arguments).expect(0).json()["files"][0]["kernels"][0].clone()
    };
    let one = checked("one.cu");
    assert_eq!(one["race"], "possibly-racy", "{one}");
    let lines: Vec<&serde_json::Value> =
        one["findings"][0]["reasons"].as_array().unwrap().iter().map(|reason| &reason["line"]).collect();
    assert!(lines.iter().any(|line| **line == 3), "{one}");
    assert_eq!(checked("own.cu")["race"], "race-free");
}

#[test]
fn real_solvers_prove_and_refute_what_rules_leave_open() {
    for kind in [SolverKind::Z3, SolverKind::Cvc5] {
        if tools::used(kind.name(), || find(kind).ok_or(())).is_none() {
            continue;
        }
        let kind = kind.name();
        let place = Place::with(&[("open.cu", OPEN)]);
        let mut command =
            place.command(&["check", "open.cu", "--color", "never", "--effort", "thorough", "--solver", kind]);
        let output = command.output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains("hashed_k (open.cu:1): race-free"), "{kind}:\n{out}");
        assert!(out.contains("n = 123456") && out.contains("hidden_k (open.cu:5): racy"), "{kind}:\n{out}");
        let again =
            place.command(&["check", "open.cu", "--color", "never", "--effort", "thorough", "--solver", kind]).output();
        assert_eq!(String::from_utf8(again.unwrap().stdout).unwrap(), out, "the same input, the same answer");
    }
}

/// Waits until something is so, for a minute at most.
#[cfg(unix)]
#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 60, "it took longer than a minute");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_that_waits_for_a_solver_and_leaves_no_process() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // The first file is done when the solver is asked about the second one, for which it would take an hour.
        let place = Place::with(&[("a.cu", DECIDED), ("b.cu", OPEN)]);
        let solver = fake(&place, "echo $$ > \"$0.pid\"; exec sleep 3600");
        let arguments = ["check", "--color", "never", "--jobs", "1", "--solver-timeout", "3600", "a.cu", "b.cu"];
        let mut command = place.command(&arguments);
        command.env("RACEPROOF_Z3", solver).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        let asked = || fs::read_to_string(place.path().join("z3.pid")).is_ok_and(|text| text.ends_with('\n'));
        wait_until(asked);
        // `timeout` signals the process, and then the group that it is of.
        let twice = format!("kill -{signal} {0}; kill -{signal} {0}", child.id());
        let _ = std::process::Command::new("sh").args(["-c", &twice]).stderr(std::process::Stdio::null()).status();
        let output = child.wait_with_output().unwrap();
        let (out, err) = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).into();
        assert_eq!(output.status.code(), Some(code), "{signal}: {err}");
        assert!(out.contains("free_k (a.cu:1): race-free"), "{signal}: {out}");
        assert!(err.contains("interrupted: 1 of 2 files were not checked"), "{signal}: {err}");
        let solver = fs::read_to_string(place.path().join("z3.pid")).unwrap();
        let still_there = std::process::Command::new("kill").args(["-0", solver.trim()]).output().unwrap();
        assert!(!still_there.status.success(), "{signal}: the solver goes on");
    }
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn children(of: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_worker_of_libclang() {
    let Some(pool) = crate::clang::pool() else { return };
    let place = Place::with(&[("a.cu", DECIDED), ("b.cu", OPEN)]);
    let solver = fake(&place, "echo $$ > \"$0.pid\"; exec sleep 3600");
    let arguments = ["check", "--front", "clang", "--jobs", "1", "--solver-timeout", "3600", "a.cu", "b.cu"];
    let mut command = place.command(&arguments);
    command.env("RACEPROOF_Z3", solver).env("LIBCLANG_PATH", pool.library());
    let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_until(|| fs::read_to_string(place.path().join("z3.pid")).is_ok_and(|text| text.ends_with('\n')));
    let of_both = children(child.id());
    assert!(of_both.len() >= 2, "a worker and the solver wait: {of_both:?}");
    let started = std::time::Instant::now();
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert!(started.elapsed().as_secs() < 5, "it took {:?}", started.elapsed());
    for process in of_both {
        let is_there = std::path::Path::new("/proc").join(&process).exists();
        assert!(!is_there, "process {process} goes on");
    }
}

/// What a run writes to a terminal, which `script` is for it.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Place, solver: &std::path::Path, arguments: &str) -> String {
    let run = format!("{} check {arguments}", env!("CARGO_BIN_EXE_raceproof"));
    let mut command = std::process::Command::new("script");
    command
        .args(["-qec", &run, "/dev/null"])
        .current_dir(place.path())
        .env("RACEPROOF_Z3", solver)
        .env("TERM", "xterm");
    let output = command.stdin(std::process::Stdio::null()).output().expect("script is there (util-linux)");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn who_waits_at_a_terminal_sees_the_kernel_and_its_stage() {
    let place = Place::with(&[("a.cu", DECIDED), ("b.cu", OPEN)]);
    let solver = fake(&place, "sleep 3; echo unknown");
    let of_one = on_a_terminal(&place, &solver, "b.cu --front tree-sitter");
    assert!(of_one.contains("_k: solver, ") && !of_one.contains(" files  "), "{of_one:?}");
    let of_two = on_a_terminal(&place, &solver, ". --front tree-sitter --jobs 1");
    assert!(of_two.contains("1/2 files") && of_two.contains("_k: solver, "), "{of_two:?}");
    // Who has an answer at once, or wants to see nothing, sees no progress.
    for arguments in ["a.cu --front tree-sitter", "b.cu --front tree-sitter --quiet"] {
        let seen = on_a_terminal(&place, &solver, arguments);
        assert!(!seen.contains(" s\u{1b}") && !seen.contains(": solver, "), "{arguments}: {seen:?}");
    }
}
