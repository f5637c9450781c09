//! Says of which commit a build is, for `raceproof --version --verbose`.
//!
//! It is known of what others get: what a packager names in `RACEPROOF_COMMIT`, what cargo notes in a package, and what git says where
//! the profile is `dist` or the sources are a checkout that cargo made. A build for development is not asked: each commit would
//! compile everything anew. Nothing fails without git.

use std::path::Path;
use std::process::Command;

const VARIABLE: &str = "RACEPROOF_COMMIT";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    if let Some(commit) = named().or_else(packaged).or_else(checked_out) {
        println!("cargo:rustc-env={VARIABLE}={commit}");
    }
}

fn named() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|commit| !commit.is_empty())
}

/// What `cargo package` writes beside the sources.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, behind) = text.split_once("\"sha1\"")?;
    let commit: String = behind.chars().skip_while(|c| !c.is_ascii_hexdigit()).take(12).collect();
    (commit.len() == 12).then_some(commit)
}

/// What git says, with the day of the commit, and whether files have changed since.
fn checked_out() -> Option<String> {
    let (sources, output) = (std::env::var("CARGO_MANIFEST_DIR").ok()?, std::env::var("OUT_DIR").ok()?);
    let names = |path: &str, wanted: &[&str]| {
        let all: Vec<String> = Path::new(path).iter().map(|it| it.to_string_lossy().into_owned()).collect();
        all.windows(wanted.len()).any(|names| names == wanted)
    };
    if !names(&output, &["dist", "build"]) && !names(&sources, &["git", "checkouts"]) {
        return None;
    }
    // Sources that lie in another repository are not of its commit.
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    let commit = git(&["show", "--no-patch", "--abbrev=12", "--format=%h (%cs)", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    // A commit, a switch to another one and a change of the sources are asked for again.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rerun-if-changed=src");
    Some(if changed.is_empty() { commit } else { format!("{commit}, changed") })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
