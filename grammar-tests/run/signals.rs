//! What signals end: the program and all that it started, compilers at work, and raceproof's own passes; nothing is left behind.

use crate::cli::Place;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The signals that end a run, and the exit codes that shells have for them.
const ENDING: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// A run may take so long to end, on a machine with other work: it looks for signals every 20 milliseconds.
const SOON: Duration = Duration::from_secs(5);

/// A program that starts another process and waits for ever, as that one does. Each says which process it is.
const WAITS: &str = r#"
#include <cstdio>
#include <unistd.h>
static void wait_as(const char *name) {
  if (FILE *file = fopen(name, "w")) { fprintf(file, "%d\n", (int)getpid()); fclose(file); }
  for (;;) pause();
}
int main() {
  if (fork() == 0) wait_as("inner.pid");
  wait_as("outer.pid");
}
"#;

/// The same as a compiler, which leaves a file where it is told to put temporary ones.
const COMPILES: &str =
    "#!/bin/sh\ntouch \"$TMPDIR/left\"\nsleep 3600 &\necho $! > inner.pid\necho $$ > outer.pid\nwait\n";

/// `raceproof run`, with a directory of its own for temporary files.
fn started(place: &Place, arguments: &[&str], variables: &[(&str, &Path)]) -> Child {
    fs::create_dir_all(place.path().join("tmp")).unwrap();
    let mut command = place.command(&[&["run"], arguments].concat());
    command.env("TMPDIR", place.path().join("tmp")).env("RACEPROOF_CUDA_ARCH", "75").envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so, for a minute at most.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 60, "{what} took longer than a minute");
        sleep(Duration::from_millis(5));
    }
}

/// The process that a file names, once it does.
fn named(place: &Place, file: &str) -> String {
    let text = || fs::read_to_string(place.path().join(file)).unwrap_or_default();
    wait_until(file, || text().ends_with('\n'));
    text().trim().to_owned()
}

/// Whether a process still does something: one that nobody has collected yet does not.
fn lives(process: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

fn send(signal: &str, to: &Child) {
    assert!(Command::new("kill").args([&format!("-{signal}"), &to.id().to_string()]).status().unwrap().success());
}

/// The run ends soon, with its exit code, and leaves neither files nor these processes.
#[track_caller]
fn ends(place: &Place, child: Child, code: i32, processes: &[String]) -> Output {
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(start.elapsed() < SOON, "it took {:?}: {err}", start.elapsed());
    assert_eq!(output.status.code(), Some(code), "{err}");
    assert!(err.contains("error: interrupted"), "{err}");
    let left: Vec<_> = fs::read_dir(place.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    processes.iter().for_each(|process| wait_until("the end of a process", || !lives(process)));
    output
}

#[test]
fn a_signal_ends_the_program_with_all_that_it_started() {
    let place = Place::with(&[("waits.cpp", WAITS)]);
    for (signal, code) in ENDING {
        for name in ["inner.pid", "outer.pid"] {
            let _ = fs::remove_file(place.path().join(name));
        }
        let child = started(&place, &["--backend", "cpu", "waits.cpp"], &[]);
        let processes = ["inner.pid", "outer.pid"].map(|name| named(&place, name));
        assert!(processes.iter().all(|process| lives(process)));
        send(signal, &child);
        ends(&place, child, code, &processes);
    }
}

/// Terminals that are closed send a signal, and so does the shell.
#[test]
fn signals_that_come_together_leave_nothing_behind() {
    let place = Place::with(&[("waits.cpp", WAITS)]);
    let child = started(&place, &["--backend", "cpu", "waits.cpp"], &[]);
    let processes = ["inner.pid", "outer.pid"].map(|name| named(&place, name));
    let all = format!("kill -HUP {0}; kill -HUP {0}; kill -TERM {0}", child.id());
    Command::new("sh").args(["-c", &all]).status().unwrap();
    let code = child.wait_with_output().unwrap().status.code();
    assert!(matches!(code, Some(129 | 143)), "{code:?}");
    assert_eq!(fs::read_dir(place.path().join("tmp")).unwrap().count(), 0);
    processes.iter().for_each(|process| wait_until("the end of a process", || !lives(process)));
}

#[test]
fn a_signal_ends_compilers_and_removes_what_they_leave() {
    let kernel = "__global__ void k(int *a) { a[threadIdx.x] = 1; }\nint main() {}\n";
    for (backend, variable) in [("cpu", "CXX"), ("cuda", "RACEPROOF_NVCC")] {
        let place = Place::with(&[("k.cu", kernel), ("compiler", COMPILES)]);
        let compiler = place.path().join("compiler");
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let child = started(&place, &["--backend", backend, "k.cu"], &[(variable, &compiler)]);
        let processes = ["inner.pid", "outer.pid"].map(|name| named(&place, name));
        send("TERM", &child);
        ends(&place, child, 143, &processes);
    }
}

#[test]
fn a_signal_ends_what_raceproof_does_itself() {
    let statements = "y[1] = 2; ".repeat(400_000);
    let text = format!("__global__ void k(int *y) {{ {statements} }}\nint main() {{}}\n");
    let place = Place::with(&[("k.cu", &text)]);
    for command in ["run", "amplify"] {
        let child = {
            fs::create_dir_all(place.path().join("tmp")).unwrap();
            let mut command = place.command(&[command, "--backend", "cpu", "k.cu"]);
            command.env("TMPDIR", place.path().join("tmp")).env("CXX", "/nonexistent/c++");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        wait_until("a directory", || fs::read_dir(place.path().join("tmp")).unwrap().count() > 0);
        send("INT", &child);
        ends(&place, child, 130, &[]);
    }
}
