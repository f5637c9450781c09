//! The hook, run by the real `pre-commit` in a throw-away repository.
//!
//! `RACEPROOF_PRE_COMMIT` names the program; `scripts/test` installs it.

use crate::support::tools::{self, path, program};
use std::path::Path;
use std::process::{Command, Output};

pub(crate) const RACY: &str = "__global__ void racy_k(float *y) {\n  y[0] = threadIdx.x;\n}\n";
const FREE: &str = "__kernel void free_k(__global int *y) { y[get_global_id(0)] = 1; }\n";

/// A repository with hooks, and one of somebody who uses one of them.
pub(crate) struct Repositories {
    _hooks: tempfile::TempDir,
    user: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Repositories {
    /// A user of the hook of that name, whose repository has these files of ours beside the list of hooks.
    pub(crate) fn new(hook: &str, ours: &[&str]) -> Repositories {
        let read = |name: &&str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        let names: Vec<&str> = std::iter::once(".pre-commit-hooks.yaml").chain(ours.iter().copied()).collect();
        let texts: Vec<String> = names.iter().map(read).collect();
        let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let hooks = repository(&files);
        let revision = text(&git(hooks.path(), &["rev-parse", "HEAD"]).stdout);
        let config = format!(
            "repos:\n- repo: {}\n  rev: {}\n  hooks:\n  - id: {hook}\n",
            hooks.path().display(),
            revision.trim()
        );
        let user = repository(&[(".pre-commit-config.yaml", &config), ("notes.txt", "no kernel\n")]);
        Repositories { _hooks: hooks, user, home: tempfile::tempdir().unwrap() }
    }

    /// Whether the hook lets these files pass, and what it said. `command` is pre-commit with its environment.
    pub(crate) fn run(&self, files: &[(&str, &str)], command: &mut Command) -> (bool, String) {
        for (name, content) in files {
            std::fs::write(self.user.path().join(name), content).unwrap();
        }
        git(self.user.path(), &["add", "-A"]);
        command.arg("run").current_dir(self.user.path()).env("PRE_COMMIT_HOME", self.home.path());
        let output = command.output().expect("pre-commit starts");
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }
}

#[test]
fn pre_commit_stops_a_race_and_passes_what_is_free() {
    let Some(pre_commit) = tools::used("pre-commit", || program("RACEPROOF_PRE_COMMIT", "pre-commit").ok_or(())) else {
        return;
    };
    let users = Repositories::new("raceproof-system", &[]);
    let run = |files: &[(&str, &str)]| users.run(files, Command::new(&pre_commit).env("PATH", path()));
    let (passed, said) = run(&[("notes.txt", "still none\n")]);
    assert!(passed && said.contains("no files to check"), "{said}");
    let (passed, said) = run(&[("free.cl", FREE)]);
    assert!(passed && said.contains("Passed"), "{said}");
    let (passed, said) = run(&[("racy.cuh", RACY)]);
    assert!(!passed && said.contains("error[data-race]") && said.contains("racy.cuh:2"), "{said}");
    let (passed, said) = run(&[("racy.cuh", "#pragma once\n")]);
    assert!(passed, "{said}");
    let (passed, said) = run(&[("free.cl", &FREE.replace("= 1;", "= ;"))]);
    assert!(!passed && said.contains("syntax error"), "{said}");
}

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(place.path().join(name), content).unwrap();
    }
    git(place.path(), &["init", "--quiet"]);
    git(place.path(), &["add", "-A"]);
    git(place.path(), &["-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "-m", "files"]);
    place
}

fn git(directory: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("git").args(arguments).current_dir(directory).output().expect("git starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
