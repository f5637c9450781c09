//! Bad weather: thousands of damaged files, and everything else that goes wrong around a run.
//!
//! - [`damage`]: files made from the fixtures by truncation, byte flips, token deletion and nesting; no crash,
//!   no hang, every file accounted for.
//! - [`surroundings`]: full devices, interrupts, cycles of links and includes, lines of megabytes.

mod damage;
mod surroundings;

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The binary, in `directory`.
fn raceproof(directory: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.env("RACEPROOF_NO_CACHE", "1");
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a run gives within `limit`; one that takes longer is killed and fails the test.
fn within(limit: Duration, command: &mut Command) -> Output {
    let child = command.spawn().expect("the binary starts");
    let id = child.id();
    let (done, watched) = std::sync::mpsc::channel();
    // Reading both pipes and watching the clock need a thread each: a full pipe would block the child.
    let reader = std::thread::spawn(move || {
        let output = child.wait_with_output();
        let _ = done.send(());
        output
    });
    let start = Instant::now();
    if watched.recv_timeout(limit).is_err() {
        let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
        panic!("killed after {} s: {command:?}", start.elapsed().as_secs());
    }
    reader.join().unwrap().expect("the output can be read")
}

/// Ends with an exit code that is not 101, and without words of Rust's.
#[track_caller]
fn assert_orderly(output: &Output) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=2)), "{:?}\n{err}", output.status);
    for word in ["panicked", "RUST_BACKTRACE", "overflowed its stack", "bug in raceproof"] {
        assert!(!err.contains(word), "{err}");
    }
}

/// Sends the signal that Ctrl-C sends.
#[cfg(unix)]
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}
