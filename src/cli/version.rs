//! `raceproof --version`, and with `--verbose` all that an answer may hang on: the commit, and which libclang, solver, OpenCL
//! driver and nvcc are found.
//!
//! Guarantees: each is sought as a run seeks it; one that does not answer in time, or that crashes, is said to be there and
//! without a version. Deliberately absent: whether they work, which a run finds out.

use super::output::to_stdout;
use super::{Exit, front, options};
use crate::driver::run::{OPENCL_PROBE, find_nvcc, opencl_device};
use anyhow::{Context, Result, anyhow};
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a tool may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much is said.
#[derive(Clone, Copy)]
pub(super) enum Length {
    /// The version.
    Short,
    /// The version and all tools.
    Long,
}

/// Prints it.
pub(super) fn print(length: Length) -> Result<Exit> {
    let text = match length {
        Length::Short => concat!("raceproof ", env!("CARGO_PKG_VERSION"), "\n").to_owned(),
        Length::Long => long(),
    };
    to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

/// Runs as the process of its own that asks the OpenCL driver.
pub(super) fn probe() -> Result<Exit> {
    let name = opencl_device().map_err(|error| anyhow!("{error}"))?;
    to_stdout(|out| writeln!(out, "{name}")).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

fn long() -> String {
    let parquet = if cfg!(feature = "parquet") { "parquet" } else { "none" };
    let lines = [
        ("commit", option_env!("RACEPROOF_COMMIT").unwrap_or("not recorded (a build for development)").to_owned()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("features", parquet.to_owned()),
        ("libclang", front::found().unwrap_or_else(|| "none is found; tree-sitter reads".to_owned())),
        ("solver", solver()),
        ("OpenCL driver", opencl_driver()),
        ("nvcc", nvcc()),
    ];
    let mut text = concat!("raceproof ", env!("CARGO_PKG_VERSION"), "\n").to_owned();
    for (name, found) in lines {
        let found: String = found.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}: {found}");
    }
    text
}

fn solver() -> String {
    let Some(found) = options::any_solver() else { return "none is found".to_owned() };
    let said = answer(Command::new(&found.program).arg("--version"));
    let first = said.as_deref().and_then(|said| said.lines().next()).unwrap_or(found.kind.name());
    at(first.trim(), &found.program)
}

fn nvcc() -> String {
    let Ok(found) = find_nvcc() else { return "none is found".to_owned() };
    let said = answer(Command::new(&found.program).arg("--version"));
    let release = said.as_deref().and_then(|said| said.lines().find(|line| line.contains("release")));
    let version =
        release.and_then(|line| line.rsplit(' ').next()).map_or("nvcc", |version| version.trim_start_matches('V'));
    at(version, &found.program)
}

/// A driver may crash; it is asked by this program in another process.
fn opencl_driver() -> String {
    let said = std::env::current_exe().ok().and_then(|program| answer(Command::new(program).arg(OPENCL_PROBE)));
    said.map(|said| said.trim().to_owned())
        .filter(|said| !said.is_empty())
        .unwrap_or_else(|| "none is found".to_owned())
}

/// `18.1.1 (/usr/lib/libclang.so)`
pub(super) fn at(version: &str, path: &Path) -> String {
    format!("{version} ({})", path.display())
}

/// What a program prints, if it ends well and in time.
fn answer(command: &mut Command) -> Option<String> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let said = printed(&mut child);
    // Who has not answered does not go on; who has is gone already.
    let _ = if said.is_none() { child.kill() } else { Ok(()) };
    let ended = child.wait().ok()?;
    said.filter(|_| ended.success())
}

fn printed(child: &mut Child) -> Option<String> {
    let mut stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.read_to_end(&mut bytes);
        // Nobody waits any more if it took too long.
        let _ = send.send(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()));
    });
    receive.recv_timeout(PATIENCE).ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_program_is_asked_once_and_a_failure_is_no_answer() {
        let shell = |script: &str| answer(Command::new("/bin/sh").args(["-c", script]));
        assert_eq!(shell("echo 1.2"), Some("1.2\n".to_owned()));
        assert_eq!(shell("echo 1.2; exit 1"), None);
        assert_eq!(shell("kill -SEGV $$"), None);
        assert_eq!(answer(&mut Command::new("/nowhere/at/all")), None);
    }
}
