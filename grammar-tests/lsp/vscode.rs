//! The extension of `editors/vscode`: it compiles and packs, and the protocol library of its client has a conversation with the server.
//!
//! `RACEPROOF_NODE_MODULES` names its dependencies; `scripts/test` installs them.

use crate::support::tools::{self, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn the_extension_packs_and_its_client_understands_the_server() {
    let found = || Some((program("RACEPROOF_NPM", "npm")?, std::env::var_os("RACEPROOF_NODE_MODULES")?));
    let Some((npm, modules)) = tools::used("npm with the extension's dependencies", || found().ok_or(())) else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode");
    let kept: [PathBuf; 1] = [source.join("node_modules")];
    copy(&source, place.path(), &kept);
    std::os::unix::fs::symlink(modules, place.path().join("node_modules")).unwrap();
    let run = |program: &Path, arguments: &[&str]| {
        let ran =
            Command::new(program).args(arguments).current_dir(place.path()).env("RACEPROOF_NO_CACHE", "1").output();
        said(&ran.unwrap_or_else(|error| panic!("{}: {error}", program.display())))
    };
    run(&npm, &["run", "package"]);
    let packed = fs::read(place.path().join("raceproof.vsix")).expect("it is packed");
    assert!(packed.starts_with(b"PK"), "a package is a zip archive");
    let node = program("RACEPROOF_NODE", "node").expect("npm comes with node");
    let talked = run(&node, &["test/conversation.js", env!("CARGO_BIN_EXE_raceproof")]);
    assert!(talked.contains("ok"), "{talked}");
}

fn said(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    assert!(output.status.success(), "{text}");
    text
}

fn copy(from: &Path, to: &Path, left_out: &[PathBuf]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if left_out.contains(&path) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target, left_out);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
