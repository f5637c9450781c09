//! The cuda back end: what its records become, and that nvcc accepts what it is given.
//!
//! No GPU is needed. The device's half of the runtime runs on the cpu back end in its place; nvcc compiles and links.

use crate::cli::Place;
use raceproof::instrument::runtime::{cpu_files, cuda_files};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program that runs kernels on the cpu back end with the records of the cuda back end.
fn protocol(directory: &Path) -> PathBuf {
    let files = cpu_files().into_iter().map(|file| (directory.join(file.path), file.text));
    let ours = cuda_files().into_iter().filter(|file| file.path != "log.hpp");
    for (path, text) in files.chain(ours.map(|file| (directory.join("cuda").join(file.path), file.text))) {
        fs::create_dir_all(path.parent().expect("it is in a directory")).expect("created");
        fs::write(path, text).expect("written");
    }
    let source = directory.join("protocol.cpp");
    fs::write(&source, include_str!("run/cuda_protocol.cpp")).expect("written");
    let program = directory.join("protocol");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=gnu++17", "-O2", "-w", "-fno-strict-aliasing", "-pthread", "-I"]).arg(directory);
    let output = compiler.arg(source).arg("-o").arg(&program).output().expect("a C++ compiler is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// What a kernel of that program left: what the runtime told, and the answers of `trace info` and `trace check`.
struct Left {
    told: String,
    info: String,
    check: String,
    code: Option<i32>,
}

fn left(place: &Place, program: &Path, kernel: &str) -> Left {
    let (log, report) = (place.path().join("run.trace"), place.path().join("report"));
    let _ = fs::remove_file(&report);
    let mut command = Command::new(program);
    command.arg(kernel).arg(&log).env("RACEPROOF_REPORT", &report).env_remove("RACEPROOF_LOG");
    // The smallest rings that there are: most kernels here fill them many times over.
    let ran = command.env("RACEPROOF_RING_MEGABYTES", "1").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "right\n", "{kernel}: {ran:?}");
    let answer = |word: &str| place.command(&["trace", word, "run.trace"]).output().expect("it runs");
    let (info, check) = (answer("info"), answer("check"));
    Left {
        told: fs::read_to_string(&report).unwrap_or_default(),
        info: String::from_utf8(info.stdout).expect("text"),
        check: String::from_utf8(check.stdout).expect("text"),
        code: check.status.code(),
    }
}

#[test]
fn records_of_warps_become_a_log_that_is_judged_right() {
    let place = Place::with(&[]);
    let program = protocol(place.path());

    let turned = left(&place, &program, "turned");
    assert!(turned.check.contains("no conflict in this run (5000 accesses"), "{}", turned.check);
    assert_eq!(turned.code, Some(0));
    let parameters = "a = @0+0, b = @1+0, n = 1000, factor = 0.10000000000000001, color = -3, yes = 1, \
                      pair = struct:01000200, big = 9223372036854775808";
    assert!(turned.info.contains(parameters), "{}", turned.info);
    assert!(turned.info.contains("grid (16,1,1) block (64,1,1)"), "{}", turned.info);
    assert!(turned.info.contains("shared memory, 256 bytes: row"), "{}", turned.info);

    let too_early = left(&place, &program, "too_early");
    assert!(too_early.check.contains("k.cu:6:1: error: data race on row"), "{}", too_early.check);
    assert!(too_early.check.contains("at 256 bytes"), "{}", too_early.check);
    assert_eq!(too_early.code, Some(1));

    // Four thousand threads, four hundred rounds, five accesses each, and one more: far more than the rings hold.
    let tiles = left(&place, &program, "tiles");
    assert!(tiles.check.contains("no conflict in this run (8196096 accesses"), "{}", tiles.check);

    let small_tiles = left(&place, &program, "small_tiles");
    assert!(small_tiles.check.contains("of two threads of one warp"), "{}", small_tiles.check);
    assert!(small_tiles.check.contains("k.cu:16:1: error: data race on a"), "{}", small_tiles.check);

    let copies = left(&place, &program, "wide_copies");
    assert!(copies.check.contains("one touches bytes 0 to 69999, the other bytes 69999 to 69999"), "{}", copies.check);

    let astray = left(&place, &program, "astray");
    assert!(astray.told.contains("wild\tastray\t\t0\t21\twrite of 4 bytes"), "{}", astray.told);

    let dies = left(&place, &program, "dies");
    assert!(dies.told.contains("tiles did not end well"), "{}", dies.told);
    assert!(dies.check.contains("incomplete: the log is cut off"), "{}", dies.check);
    assert_eq!(dies.code, Some(2), "{}", dies.check);
}
