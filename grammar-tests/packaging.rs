//! What users install and call beside the binary: the wheel, the hook that needs no Rust, what the action runs, the CMake module.
//!
//! `scripts/test` has maturin make the wheel out of the build under test; pre-commit, pip and CMake are real. What GitHub and GitLab themselves do is
//! not run: of their files the shell commands are.

use crate::cli::Place;
use crate::hook::{RACY, Repositories};
use crate::support::tools::{self, path, program};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A tool beside the Python of the tests, or on the PATH.
fn beside_python(name: &str) -> Result<PathBuf, String> {
    let beside = std::env::var_os("RACEPROOF_PYTHON").map(|python| Path::new(&python).with_file_name(name));
    let found = beside.filter(|program| program.is_file()).or_else(|| program("", name));
    found.ok_or_else(|| format!("no {name} beside RACEPROOF_PYTHON or on the PATH"))
}

/// The directory with the wheel of the build under test, which is made before any test runs: cargo takes the binary away while it links.
fn wheel() -> Option<PathBuf> {
    let directory = || std::env::var_os("RACEPROOF_WHEEL").map(PathBuf::from).ok_or("RACEPROOF_WHEEL names none");
    tools::used("a wheel made by maturin", directory)
}

fn wheel_file(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.extension().is_some_and(|it| it == "whl")).expect("a wheel")
}

fn success(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

/// A directory with all programs of the PATH but those of Rust.
fn path_without_rust() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for entries in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).map(fs::read_dir) {
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_of_rust = ["cargo", "rust", "clippy"].iter().any(|start| name.starts_with(start));
            // The first of a name counts.
            if !is_of_rust && name != "raceproof" {
                symlink(entry.path(), directory.path().join(name)).ok();
            }
        }
    }
    assert!(!directory.path().join("cargo").exists() && directory.path().join("git").exists());
    directory
}

#[test]
fn a_hook_from_the_wheel_needs_no_rust() {
    let Some(wheel) = wheel() else { return };
    let pre_commit = program("RACEPROOF_PRE_COMMIT", "pre-commit").expect("pre-commit is there");
    let users = Repositories::new("raceproof-wheel", &["pyproject.toml"]);
    let no_rust = path_without_rust();
    let run = |files: &[(&str, &str)]| {
        users.run(files, Command::new(&pre_commit).env("PATH", no_rust.path()).env("PIP_FIND_LINKS", &wheel))
    };
    let (passed, said) = run(&[("racy.cu", RACY)]);
    assert!(!passed && said.contains("error[data-race]") && said.contains("racy.cu:2"), "{said}");
    let mended = RACY.replace("y[0]", "y[blockIdx.x * blockDim.x + threadIdx.x]");
    let (passed, said) = run(&[("racy.cu", &mended)]);
    assert!(passed && said.contains("Passed"), "{said}");
}

#[test]
fn the_archive_of_a_release_holds_the_binary_of_the_wheel() {
    let Some(wheel) = wheel() else { return };
    let place = tempfile::tempdir().unwrap();
    let archive = Path::new(ROOT).join("packaging/ci/archive.sh");
    let made = Command::new(archive).arg(wheel_file(&wheel)).arg("some-target").arg(place.path()).output().unwrap();
    success(&made);
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("raceproof-some-target-v{version}");
    let unpacked =
        Command::new("tar").arg("-xzf").arg(format!("{name}.tgz")).current_dir(place.path()).output().unwrap();
    success(&unpacked);
    let checked =
        Command::new("sha256sum").args(["--check", &format!("{name}.tgz.sha256")]).current_dir(place.path()).output();
    success(&checked.unwrap());
    let binary = place.path().join(&name).join("raceproof");
    assert!(fs::metadata(&binary).unwrap().permissions().mode() & 0o111 != 0);
    assert!(success(&Command::new(binary).arg("--version").output().unwrap()).contains(version));
    assert!(place.path().join(&name).join("LICENSE-MIT").exists());
}

#[test]
fn the_archive_for_windows_holds_the_program_under_its_name_there() {
    let Some(python) = tools::used("python", || beside_python("python")) else { return };
    let place = tempfile::tempdir().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let wheel = format!("raceproof-{version}-py3-none-win_amd64.whl");
    let entry = format!("raceproof-{version}.data/scripts/raceproof.exe");
    let write = "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr(sys.argv[2], 'program')";
    let mut made = Command::new(python);
    success(&made.args(["-c", write, &wheel, &entry]).current_dir(place.path()).output().unwrap());
    let archive = Path::new(ROOT).join("packaging/ci/archive.sh");
    success(&Command::new(archive).args([&wheel, "windows", "."]).current_dir(place.path()).output().unwrap());
    let mut listed = Command::new("tar");
    listed.args(["-tzf", &format!("raceproof-windows-v{version}.tgz")]).current_dir(place.path());
    let listed = success(&listed.output().unwrap());
    assert!(listed.contains(&format!("raceproof-windows-v{version}/raceproof.exe")), "{listed}");
}

#[test]
fn all_that_is_published_has_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    let text = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    for path in ["pyproject.toml", "packaging/wheel/pyproject.toml"] {
        assert!(text(path).contains(&format!("version = \"{version}\"")), "{path}");
    }
    assert!(text("pyproject.toml").contains(&format!("\"raceproof=={version}\"")));
}

#[test]
fn what_the_action_runs_annotates_lines_and_writes_sarif() {
    let place = Place::with(&[("src dir/racy.cu", RACY), ("free.cu", "__global__ void k(int *x) {}\n")]);
    let action = fs::read_to_string(Path::new(ROOT).join("action.yml")).unwrap();
    assert!(action.contains("run: '\"$GITHUB_ACTION_PATH/packaging/ci/check.sh\"'"));
    let run = |paths: &str| {
        let mut command = Command::new(Path::new(ROOT).join("packaging/ci/check.sh"));
        command.current_dir(place.path()).env("PATH", path()).env("GITHUB_OUTPUT", place.path().join("outputs"));
        command
            .env("RACEPROOF_PATHS", paths)
            .env("RACEPROOF_ARGUMENTS", "--no-cache --solver none")
            .env("RACEPROOF_SARIF", "r.sarif");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = run(".");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("::error ") && said.contains("racy.cu"), "{said}");
    assert_eq!(fs::read_to_string(place.path().join("outputs")).unwrap(), "exit-code=1\n");
    let sarif = fs::read_to_string(place.path().join("r.sarif")).unwrap();
    assert!(sarif.contains("\"data-race\""), "{sarif}");
    let (code, said) = run("free.cu");
    assert_eq!(code, Some(0), "{said}");
}

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.18)
project(kernels LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH \"${MODULES}\")
include(CTest)
include(Raceproof)
add_library(host host.cpp)
target_compile_definitions(host PRIVATE WIDTH=32)
raceproof_add_check(NAME kernels PATHS src ARGUMENTS --no-cache --solver none)
";

#[test]
fn a_cmake_build_checks_its_kernels_as_a_target_and_as_a_test() {
    let Some(cmake) = tools::used("cmake", || beside_python("cmake")) else { return };
    let place =
        Place::with(&[("CMakeLists.txt", CMAKE), ("host.cpp", "int host() { return 0; }\n"), ("src/k.cu", RACY)]);
    let configure = |executable: &str| {
        let mut command = Command::new(&cmake);
        command.args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]).current_dir(place.path());
        command.arg(format!("-DMODULES={ROOT}/packaging/cmake")).arg(format!("-DRACEPROOF_EXECUTABLE={executable}"));
        success(&command.output().unwrap())
    };
    let build = || {
        let output =
            Command::new(&cmake).args(["--build", "build", "--target", "kernels"]).current_dir(place.path()).output();
        let output = output.unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    configure(env!("CARGO_BIN_EXE_raceproof"));
    let (passed, said) = build();
    assert!(!passed && said.contains("error[data-race]"), "{said}");
    let ctest = cmake.with_file_name("ctest");
    let tested = || Command::new(&ctest).args(["--test-dir", "build"]).current_dir(place.path()).output().unwrap();
    assert!(!tested().status.success());
    place.put("src/k.cu", b"__global__ void k(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = WIDTH; }\n#ifndef WIDTH\n#define WIDTH 1\n#endif\n");
    let (passed, said) = build();
    assert!(passed, "{said}");
    success(&tested());
    // Where it is missing, nothing passes.
    assert!(configure("RACEPROOF_EXECUTABLE-NOTFOUND").contains("raceproof is not installed"));
    let (passed, said) = build();
    assert!(!passed && said.contains("pip install raceproof"), "{said}");
}
