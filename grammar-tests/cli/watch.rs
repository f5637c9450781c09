//! `check --watch`: real processes, files that change, and signals.

use super::Place;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// On a machine that is busy a check takes a while.
const PATIENCE: Duration = Duration::from_secs(120);

const FREE: &str = "__global__ void k(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";
const RACY: &str = "__global__ void k(int *x) { x[0] = threadIdx.x; }\n";

/// A process that watches, and all lines that it writes.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(place: &Place, arguments: &[&str]) -> Watching {
        let mut command = place.command(&["check", "--watch", "--front", "tree-sitter", "--solver", "none"]);
        command.args(arguments).env_remove("RACEPROOF_NO_CACHE").env("RACEPROOF_CACHE_DIR", place.path().join(".kept"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (said, lines) = channel();
        let pipes: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for pipe in pipes {
            let said = said.clone();
            thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    let _ = said.send(line);
                }
            });
        }
        Watching { child, lines }
    }

    /// All that it says until it waits for changes.
    #[track_caller]
    fn until_it_waits(&self) -> String {
        self.until("note: watching ")
    }

    #[track_caller]
    fn until(&self, part: &str) -> String {
        let (start, mut all) = (Instant::now(), String::new());
        while start.elapsed() < PATIENCE {
            let Ok(line) = self.lines.recv_timeout(Duration::from_millis(50)) else { continue };
            all.push_str(&line);
            all.push('\n');
            if line.contains(part) {
                // What the other pipe has may come a moment later.
                thread::sleep(Duration::from_millis(200));
                all.extend(self.lines.try_iter().map(|line| line + "\n"));
                return all;
            }
        }
        panic!("`{part}` was not said in {PATIENCE:?}: {all}");
    }

    fn signalled(mut self, signal: &str) -> Option<i32> {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it goes on");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As editors write: beside the file, and in its place by a rename.
fn renamed(place: &Place, name: &str, text: &str) {
    let beside = place.path().join("4913");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, place.path().join(name)).unwrap();
}

#[cfg(unix)]
#[test]
fn what_changes_is_checked_again_until_a_signal_ends_it() {
    let place = Place::with(&[("a.cu", FREE), ("b.cu", FREE), ("notes.txt", "")]);
    let watching = Watching::start(&place, &["."]);
    let first = watching.until_it_waits();
    assert!(first.contains("2 kernels in 2 files: 2 race-free") && !first.contains('\u{1b}'), "{first}");
    assert!(first.contains("watching 2 files in 1 directory; Ctrl-C ends"), "{first}");

    renamed(&place, "a.cu", RACY);
    let second = watching.until_it_waits();
    assert!(second.contains(" UTC: a.cu changed\n") && second.contains("1 race-free, 1 racy"), "{second}");

    place.put("sub/c.cu", RACY.as_bytes());
    let third = watching.until_it_waits();
    assert!(third.contains("sub/c.cu is new\n") && third.contains("1 race-free, 2 racy"), "{third}");

    // What is not read is no change.
    place.put("notes.txt", b"more");
    fs::remove_file(place.path().join("b.cu")).unwrap();
    let fourth = watching.until_it_waits();
    assert!(fourth.contains(" UTC: b.cu is gone\n") && fourth.contains("2 kernels in 2 files"), "{fourth}");

    // Files of a directory that came meanwhile.
    renamed(&place, "sub/c.cu", FREE);
    let fifth = watching.until_it_waits();
    assert!(fifth.contains("sub/c.cu changed\n") && fifth.contains("1 race-free, 1 racy"), "{fifth}");
    assert_eq!(watching.signalled("-INT"), Some(130));
}

#[cfg(unix)]
#[test]
fn headers_settings_and_baselines_count() {
    let header = "#define AT blockIdx.x * blockDim.x + threadIdx.x\n";
    let kernel = "#include \"../inc/at.h\"\n__global__ void k(int *x) { x[AT] = 1; }\n";
    let place =
        Place::with(&[("src/a.cu", kernel), ("inc/at.h", header), ("src/raceproof.toml", "effort = \"quick\"\n")]);
    let watching = Watching::start(&place, &["src/a.cu"]);
    assert!(watching.until_it_waits().contains("1 race-free"));
    place.put("inc/at.h", b"#define AT 0\n");
    let seen = watching.until_it_waits();
    assert!(seen.contains("inc/at.h changed") && seen.contains("same-value-write"), "{seen}");
    place.put("src/raceproof.toml", b"ignore = [\"same-value-write\"]\n");
    let seen = watching.until_it_waits();
    assert!(seen.contains("src/raceproof.toml changed") && seen.contains("left out by settings"), "{seen}");
    // What is wrong is told, and mended while it watches.
    place.put("src/raceproof.toml", b"ignored = []\n");
    let seen = watching.until_it_waits();
    assert!(seen.contains("src/raceproof.toml:1:1: there is no key `ignored`"), "{seen}");
    place.put("src/raceproof.toml", b"");
    assert!(watching.until_it_waits().contains("error["));
    fs::remove_file(place.path().join("src/a.cu")).unwrap();
    let seen = watching.until_it_waits();
    assert!(seen.contains("src/a.cu is gone") && seen.contains("cannot read src/a.cu"), "{seen}");
    place.put("src/a.cu", FREE.as_bytes());
    let seen = watching.until_it_waits();
    assert!(seen.contains("src/a.cu is new") && seen.contains("1 race-free"), "{seen}");
    assert_eq!(watching.signalled("-TERM"), Some(143));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_check_that_is_under_way() {
    let kernel = "__global__ void k(int *x, int n) { for (int i = 0; i < n; i++) x[i * i % n] = threadIdx.x; }\n";
    let many: String = (0..400).map(|at| kernel.replace("void k", &format!("void k{at}"))).collect();
    let place = Place::with(&[("a.cu", &many)]);
    let watching = Watching::start(&place, &[".", "--effort", "thorough"]);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(watching.signalled("-INT"), Some(130));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::with(&[("a.cu", FREE), ("raceproof.toml", "ignored = []\n")]);
    let refused = |arguments: &[&str], part: &str| {
        place.run(&[&["check", "--watch"], arguments].concat()).expect(2).complains(part);
    };
    refused(&["-"], "standard input does not change");
    for option in ["--fix", "--shard=1/2", "--reproduce=out", "--write-baseline=b.json", "--show-files"] {
        refused(&["a.cu", option], "cannot be used with");
    }
    // What is wrong before anything was checked.
    refused(&["a.cu"], "there is no key `ignored`");
}

#[cfg(target_os = "linux")]
#[test]
fn the_screen_is_cleared_on_a_terminal() {
    let place = Place::with(&[("a.cu", FREE)]);
    let run = format!("{} check --watch a.cu --solver none", env!("CARGO_BIN_EXE_raceproof"));
    let mut command = Command::new("script");
    command.args(["-qefc", &run, "seen"]).current_dir(place.path()).env("TERM", "xterm").env("RACEPROOF_NO_CACHE", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("script is there (util-linux)");
    let seen = || fs::read_to_string(place.path().join("seen")).unwrap_or_default();
    let until = |wanted: &dyn Fn(&str) -> bool| {
        let start = Instant::now();
        while !wanted(&seen()) {
            assert!(start.elapsed() < PATIENCE, "{}", seen());
            thread::sleep(Duration::from_millis(20));
        }
    };
    until(&|seen| seen.contains("Ctrl-C ends"));
    assert!(!seen().contains("\u{1b}[2J"), "the first report stands below what was there: {}", seen());
    renamed(&place, "a.cu", RACY);
    until(&|seen| seen.matches("Ctrl-C ends").count() == 2);
    assert!(seen().contains("\u{1b}[2J\u{1b}[H"), "{}", seen());
    // Ctrl-C, as it is typed.
    use std::io::Write;
    child.stdin.take().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
