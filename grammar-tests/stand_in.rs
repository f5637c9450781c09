//! `raceproof nvcc` in builds of users: with make, with CMake, and one command at a time.
//!
//! nvcc compiles and links for real. There is no GPU: programs end saying so, and for logs a fake runtime of CUDA
//! (`run/fake_device.cpp`) is linked in the place of NVIDIA's.

use crate::cli::Place;
use crate::support::tools::{self, cxx};
use raceproof::execute::cuda::nvcc::{self, Nvcc};
use raceproof::instrument::runtime::cuda_files;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHARED: &str = "\
#pragma once
__device__ inline int twice(const int* a, int i) { return 2 * a[i]; }
void shift(int* a, int n);
void add(int* a, int n);
";
const SHIFT: &str = "\
#include \"shared.h\"
#include \"size.h\"
__global__ void shift_kernel(int* a, int n) {
    if (threadIdx.x < SIZE && threadIdx.x + 1 < n) a[threadIdx.x] = a[threadIdx.x + 1];
}
void shift(int* a, int n) { shift_kernel<<<1, 64>>>(a, n); }
";
const ADD: &str = "\
#include \"shared.h\"
__global__ void add_kernel(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = ADDEND;
    asm(\"\");
    if (i < n) a[i] = twice(a, i);
}
void add(int* a, int n) { add_kernel<<<1, 64>>>(a, n); }
";
const MAIN: &str = "\
#include <cuda_runtime.h>
#include <cstdio>
#include \"../inc/shared_by_hosts.h\"
int main() {
    int* a = nullptr;
    cudaMalloc(&a, 64 * sizeof(int));
    shift(a, 64);
    add(a, 64);
    std::printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));
}
";
const HOSTS: &str = "void shift(int* a, int n);\nvoid add(int* a, int n);\n";
const MAKEFILE: &str = "\
FLAGS = -arch=sm_75 -Iinc -DADDEND=3
prog: main.o libk.a
\t$(NVCC) main.o libk.a -o $@ $(LIBRARIES)
libk.a: shift.o add.o
\t$(AR) rc $@ shift.o add.o
%.o: src/%.cu
\t$(NVCC) $(FLAGS) -MMD -MP -c $< -o $@
main.o: src/main.cpp
\t$(NVCC) -c $< -o $@
-include *.d
";
const LISTS: &str = "\
cmake_minimum_required(VERSION 3.18)
project(p LANGUAGES CXX CUDA)
add_library(k STATIC src/shift.cu src/add.cu)
target_include_directories(k PRIVATE inc)
target_compile_definitions(k PRIVATE ADDEND=3)
add_executable(prog src/main.cpp)
target_include_directories(prog PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
target_link_libraries(prog k)
";

/// The program of two units, a library and a host.
fn project() -> Place {
    Place::with(&[
        ("inc/shared.h", SHARED),
        ("inc/shared_by_hosts.h", HOSTS),
        ("src/size.h", "#define SIZE 64\n"),
        ("src/shift.cu", SHIFT),
        ("src/add.cu", ADD),
        ("src/main.cpp", MAIN),
        ("Makefile", MAKEFILE),
        ("CMakeLists.txt", LISTS),
    ])
}

/// A command that may call `raceproof nvcc`, which keeps the object of its runtime for other tests.
fn building(place: &Place, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place.path()).env_remove("RACEPROOF_NO_CACHE").env_remove("RACEPROOF_LOG");
    command.env("RACEPROOF_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime_of_cuda"));
    command.env_remove("MAKEFLAGS").env_remove("NVCC_APPEND_FLAGS").env_remove("NVCC_PREPEND_FLAGS");
    command
}

/// `raceproof nvcc` itself.
fn stand_in(place: &Place, line: &str) -> Command {
    let mut command = building(place, env!("CARGO_BIN_EXE_raceproof"));
    command.arg("nvcc").args(line.split_whitespace());
    command
}

fn seen(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn succeeds(command: &mut Command) -> String {
    let (code, text) = seen(command);
    assert_eq!(code, Some(0), "{command:?}: {text}");
    text
}

fn compiler() -> Option<Nvcc> {
    tools::used("nvcc", nvcc::find)
}

/// What a program needs of the toolkit to be linked.
fn libraries(nvcc: &Nvcc) -> String {
    nvcc.libraries.as_ref().map_or_else(String::new, |path| format!("-L{}", path.display()))
}

fn toolkit(nvcc: &Nvcc) -> PathBuf {
    nvcc.program.parent().and_then(Path::parent).expect("it is in the bin of its toolkit").to_path_buf()
}

fn trace(place: &Place, word: &str, log: &str) -> (Option<i32>, String) {
    seen(&mut place.command(&["trace", word, log]))
}

/// Links objects with the runtime that needs no device, by a compiler that knows nothing of raceproof.
fn with_fake_device(place: &Place, nvcc: &Nvcc, objects: &[&str]) {
    for file in cuda_files() {
        place.put(&format!("fake/{}", file.path), file.text.as_bytes());
    }
    place.put("fake/fake_device.cpp", include_bytes!("run/fake_device.cpp"));
    let mut command = building(place, cxx());
    command.args(["-std=c++17", "-w", "-I"]).arg(toolkit(nvcc).join("include")).args(["-o", "fake/prog"]);
    succeeds(command.args(objects).args(["fake/fake_device.cpp", "-pthread"]));
}

/// What the log of the fake device shows: each unit has its own first site, its kernels, and what it leaves out.
fn log_names_all_units(place: &Place) {
    let log = succeeds(building(place, place.path().join("fake/prog")).env("RACEPROOF_LOG", "run.trace"));
    assert_eq!(log, "no error\n");
    let (code, check) = trace(place, "check", "run.trace");
    assert_eq!(code, Some(1), "{check}");
    for line in ["src/shift.cu:4:52", "src/add.cu:4:5", "of shift_kernel; at 4 bytes", "of add_kernel; at 4 bytes"] {
        assert!(check.contains(line), "{line}: {check}");
    }
    assert!(check.contains("src/add.cu:5:5: inline assembly in add_kernel"), "{check}");
    assert!(check.contains("2 pairs of places conflict in this run (64 accesses in 2 launches)"), "{check}");
    let json = seen(&mut place.command(&["trace", "check", "--format", "json", "run.trace"])).1;
    let not_logged = json.split("\"not_logged\":[").nth(1).and_then(|rest| rest.split(']').next());
    assert!(not_logged.is_some_and(|one| one.ends_with("src/add.cu:5:5: inline assembly in add_kernel\"")), "{json}");
    let (_, info) = trace(place, "info", "run.trace");
    assert!(info.contains("2 launches, 6 sites, 64 accesses") && info.contains("complete; "), "{info}");
}

#[test]
fn make_builds_a_logged_program_with_a_library_between() {
    let Some(nvcc) = compiler() else { return };
    let place = project();
    let make = || {
        let mut make = building(&place, "make");
        make.arg(format!("NVCC={} nvcc", env!("CARGO_BIN_EXE_raceproof")));
        make.arg(format!("LIBRARIES={}", libraries(&nvcc)));
        make
    };
    let said = succeeds(&mut make());
    assert!(said.contains("src/add.cu:5:5: not logged: inline assembly in add_kernel"), "{said}");

    // Dependencies are the user's files, and what changes is built again.
    let dependencies = fs::read_to_string(place.path().join("shift.d")).expect("there are dependencies");
    assert!(dependencies.starts_with("shift.o : src/shift.cu"), "{dependencies}");
    assert!(
        ["inc/shared.h", "src/size.h", "\nsrc/size.h:"].iter().all(|name| dependencies.contains(name)),
        "{dependencies}"
    );
    assert!(!dependencies.contains("raceproof"), "{dependencies}");
    assert!(succeeds(&mut make()).contains("up to date"));
    place.put("src/size.h", b"#define SIZE 32\n");
    let again = succeeds(&mut make());
    assert!(again.contains("-c src/shift.cu") && !again.contains("-c src/add.cu"), "{again}");

    // The tables of both units are in the program.
    let program = fs::read(place.path().join("prog")).expect("there is a program");
    let text = String::from_utf8_lossy(&program);
    assert!(text.contains("\tsrc/shift.cu\t4\t52\t") && text.contains("\tsrc/add.cu\t4\t5\t"));
    if !nvcc::has_gpu() {
        // It begins a log of its own, and says what became of it.
        let said = succeeds(&mut building(&place, place.path().join("prog")));
        assert!(said.contains("raceproof: logs the accesses of kernels to prog.trace; RACEPROOF_LOG names"), "{said}");
        assert!(said.contains("raceproof: nothing is logged: no rings on this device"), "{said}");
        let (code, check) = trace(&place, "check", "prog.trace");
        assert_eq!(code, Some(2), "{check}");
        assert!(check.contains("incomplete: nothing is logged") && check.contains("no verdict on the run"), "{check}");
        assert_eq!(succeeds(building(&place, "./prog").env("RACEPROOF_LOG", "")).lines().count(), 1);
    }
    with_fake_device(&place, &nvcc, &["main.o", "libk.a"]);
    log_names_all_units(&place);

    // A host that another compiler made without a word allocates unseen: its accesses are told, and no log is complete.
    let include = toolkit(&nvcc).join("include");
    let compile = |command: &mut Command| {
        _ = succeeds(command.arg("-I").arg(&include).args(["-O0", "-c", "src/main.cpp", "-o", "plain.o"]))
    };
    compile(&mut building(&place, cxx()));
    with_fake_device(&place, &nvcc, &["plain.o", "libk.a"]);
    let said = succeeds(building(&place, "fake/prog").env("RACEPROOF_LOG", "run.trace"));
    assert!(said.contains("raceproof: src/shift.cu:4:52: write of 4 bytes"), "{said}");
    assert!(said.contains("allocated in a way that is not followed; it is not logged"), "{said}");
    assert_eq!(trace(&place, "check", "run.trace").0, Some(2));
    // With one it does not.
    compile(&mut stand_in(&place, &cxx()));
    with_fake_device(&place, &nvcc, &["plain.o", "libk.a"]);
    log_names_all_units(&place);
}

/// CMake, beside the Python that tests use or on the path.
fn cmake() -> Result<PathBuf, &'static str> {
    let beside = std::env::var_os("RACEPROOF_PYTHON").map(|python| Path::new(&python).with_file_name("cmake"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = beside.into_iter().chain(std::env::split_paths(&path).map(|directory| directory.join("cmake")));
    candidates.into_iter().find(|program| program.is_file()).ok_or("no cmake beside RACEPROOF_PYTHON or on the PATH")
}

#[test]
fn cmake_builds_a_logged_program_by_launchers() {
    let Some(nvcc) = compiler() else { return };
    let Some(cmake) = tools::used("cmake", cmake) else { return };
    let place = project();
    let mut configure = building(&place, &cmake);
    configure.args(["-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=75"]);
    configure.arg(format!("-DCMAKE_CUDA_COMPILER={}", nvcc.program.display()));
    configure.arg(format!("-DCMAKE_CUDA_FLAGS={}", libraries(&nvcc)));
    for language in ["CUDA", "CXX"] {
        configure.arg(format!("-DCMAKE_{language}_COMPILER_LAUNCHER={};nvcc", env!("CARGO_BIN_EXE_raceproof")));
    }
    succeeds(&mut configure);
    let build = || building(&place, &cmake).args(["--build", "build"]).output().expect("it runs");
    let first = build();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert!(String::from_utf8_lossy(&first.stderr).contains("src/add.cu:5:5: not logged: inline assembly"));
    place.put("src/size.h", b"#define SIZE 32\n");
    let again = String::from_utf8_lossy(&build().stdout).into_owned();
    assert!(again.contains("shift.cu.o") && !again.contains("add.cu.o"), "{again}");
    if !nvcc::has_gpu() {
        let said = succeeds(&mut building(&place, "build/prog"));
        assert!(said.contains("raceproof: logs the accesses of kernels to prog.trace"), "{said}");
    }
    with_fake_device(&place, &nvcc, &["build/CMakeFiles/prog.dir/src/main.cpp.o", "build/libk.a"]);
    log_names_all_units(&place);
}

#[test]
fn one_command_may_compile_several_files_and_link_them() {
    let Some(nvcc) = compiler() else { return };
    let place = project();
    let flags = "-Iinc -DADDEND=3 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90";
    let files = "src/shift.cu src/add.cu src/main.cpp";
    succeeds(&mut stand_in(&place, &format!("{flags} {files} -o prog {}", libraries(&nvcc))));
    let program = fs::read(place.path().join("prog")).expect("there is a program");
    assert!(String::from_utf8_lossy(&program).contains("\tsrc/shift.cu\t4\t52\t"));
    // Objects in a directory, flags in a file, a name that says what is meant.
    fs::create_dir(place.path().join("out")).expect("made");
    place.put("flags.rsp", flags.as_bytes());
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_raceproof"), place.path().join("raceproof-nvcc")).expect("linked");
    let mut command = building(&place, place.path().join("raceproof-nvcc"));
    succeeds(command.args(["--options-file", "flags.rsp", "-c", "-odir", "out"]).args(files.split(' ')));
    with_fake_device(&place, &nvcc, &["out/main.o", "out/shift.o", "out/add.o"]);
    log_names_all_units(&place);
    // Older standards, and warnings that are errors.
    for more in ["-std=c++11", "-std=c++14", "-std=c++20 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror"] {
        succeeds(&mut stand_in(&place, &format!("{more} -Iinc -c src/shift.cu -o s.o")));
    }
    // Who only names CUDA stays what it is.
    place.put("words.cpp", b"const char* words() { return \"cudaMalloc\"; }\n");
    succeeds(&mut stand_in(&place, &format!("{} -c words.cpp -o words.o", cxx())));
    let object = fs::read(place.path().join("words.o")).expect("there is an object");
    assert!(!String::from_utf8_lossy(&object).contains("raceproof"));
    // Without CUDA in it a program is linked as ever.
    place.put(
        "host.cpp",
        b"#include <cuda_runtime.h>\nint main() { void* a; return cudaMalloc(&a, 4) == cudaSuccess; }\n",
    );
    succeeds(&mut stand_in(&place, &format!("host.cpp -o host {}", libraries(&nvcc))));
    if !nvcc::has_gpu() {
        assert_eq!(succeeds(&mut building(&place, "./host")), "");
    }
}

#[test]
fn what_is_not_logged_is_refused_or_told_in_every_log() {
    let Some(nvcc) = compiler() else { return };
    let place = project();
    let fenced = SHIFT.replace("    if (thr", "    __threadfence();\n    if (thr");
    place.put("src/fenced.cu", fenced.as_bytes());
    place.put("src/latin.cu", b"// f\xfcr\n__global__ void k(int* a) { *a = 1; }\n");
    place.put("src/wrong.cu", b"__global__ void k(int* a) { *a = nobody_knows; }\n");
    let flags = "-arch=sm_75 -Iinc -DADDEND=3";
    let cases = [
        ("-dc src/shift.cu", "src/shift.cu: relocatable device code (-rdc=true, -dc) is not logged"),
        ("-rdc=true -c src/shift.cu", "src/shift.cu: relocatable device code (-rdc=true, -dc) is not logged"),
        ("-c src/latin.cu", "src/latin.cu: line 1 is not UTF-8; convert the file"),
        ("-c src/fenced.cu", "src/fenced.cu:4:5: what `__threadfence` orders is not logged on a GPU"),
    ];
    for (line, why) in cases {
        let (code, text) = seen(&mut stand_in(&place, &format!("{flags} {line} -o x.o")));
        assert_eq!(code, Some(2), "{line}: {text}");
        assert!(text.contains(why) && text.contains("--raceproof-keep-going compiles this unit"), "{line}: {text}");
        assert!(!place.path().join("x.o").exists(), "{line}");
    }
    let (code, text) = seen(&mut stand_in(&place, &format!("{flags} -c src/wrong.cu -o x.o --raceproof-keep-going")));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("src/wrong.cu(1): error") && text.contains("nobody_knows"), "{text}");

    let keep_going = format!("{flags} --raceproof-keep-going -c");
    let text = succeeds(&mut stand_in(&place, &format!("{keep_going} src/fenced.cu -o fenced.o")));
    assert!(text.contains("note: src/fenced.cu: none of its kernels is logged: "), "{text}");
    succeeds(&mut stand_in(&place, &format!("{keep_going} src/latin.cu -o latin.o")));
    succeeds(&mut stand_in(&place, &format!("{keep_going} src/add.cu -o add.o")));
    succeeds(&mut stand_in(&place, "-c src/main.cpp -o main.o"));
    with_fake_device(&place, &nvcc, &["main.o", "fenced.o", "add.o"]);
    succeeds(building(&place, "fake/prog").env("RACEPROOF_LOG", "run.trace"));
    let (_, info) = trace(&place, "info", "run.trace");
    assert!(
        info.contains("incomplete: src/fenced.cu: none of its kernels is logged: src/fenced.cu:4:5: what"),
        "{info}"
    );
    // A program of such units alone, whose device code is linked later, is a program all the same.
    let line = format!("{flags} -rdc=true --raceproof-keep-going src/shift.cu src/add.cu src/main.cpp -o prog");
    succeeds(&mut stand_in(&place, &format!("{line} {}", libraries(&nvcc))));
    if !nvcc::has_gpu() {
        succeeds(building(&place, "./prog").env("RACEPROOF_LOG", "run.trace"));
        let (code, check) = trace(&place, "check", "run.trace");
        assert_eq!(code, Some(2), "{check}");
        assert_eq!(check.matches("none of its kernels is logged: relocatable device code").count(), 2, "{check}");
    }
}

/// Objects that another raceproof made do not mix with those of this one.
#[test]
fn objects_of_another_version_end_the_program() {
    let Some(nvcc) = compiler() else { return };
    let place = project();
    for line in [
        "-Iinc -DADDEND=3 -c src/shift.cu -o shift.o",
        "-Iinc -DADDEND=3 -c src/add.cu -o add.o",
        "-c src/main.cpp -o main.o",
    ] {
        succeeds(&mut stand_in(&place, line));
    }
    // The name of the version is in the object of the unit and in that of its runtime: only the unit's is changed.
    let object = fs::read(place.path().join("add.o")).expect("there is an object");
    let version = raceproof::execute::cuda::object::made_for();
    let at = object.windows(version.len()).position(|part| part == version.as_bytes()).expect("it says its version");
    let mut other = object;
    other[at + 1] = b'x';
    place.put("add.o", &other);
    with_fake_device(&place, &nvcc, &["main.o", "shift.o", "add.o"]);
    let (code, text) = seen(&mut building(&place, "fake/prog"));
    assert_eq!(code, Some(71), "{text}");
    assert!(text.contains("different versions of raceproof") && text.contains("build all of them again"), "{text}");
}

/// What compiles nothing is nvcc's own business: the same words, and the same exit status.
#[test]
fn everything_else_goes_to_nvcc_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let script = "#!/bin/sh\necho \"$@\" >> \"$0.calls\"\nexit 7\n";
    let place = Place::with(&[("bin/nvcc", script), ("bin/g++-13.2", script), ("a.cu", ""), ("more.rsp", "-DX=1 -E")]);
    for name in ["bin/nvcc", "bin/g++-13.2"] {
        let permissions = fs::Permissions::from_mode(0o755);
        fs::set_permissions(place.path().join(name), permissions).expect("it can be made executable");
    }
    let lines = [
        "--version",
        "-E -x cu a.cpp",
        "-M a.cu -MF a.d",
        "-dlink a.o -o d.o",
        "-arch=sm_90 -ptx a.cu",
        "--help",
        "-c a.cu",
    ];
    for line in lines {
        let mut command = stand_in(&place, line);
        let (code, text) = seen(command.env("RACEPROOF_NVCC", place.path().join("bin")));
        assert_eq!(code, Some(7), "{line}: {text}");
        let is_told = text.contains("a.cu: --ptx: device code that a program loads itself is not logged");
        assert_eq!(is_told, line.contains("-ptx"), "{text}");
    }
    assert_eq!(seen(&mut stand_in(&place, "./bin/nvcc --options-file more.rsp a.cu")).0, Some(7));
    assert_eq!(seen(&mut stand_in(&place, "./bin/g++-13.2 -c b.cpp -o b.o")).0, Some(7));
    let calls = |name: &str| fs::read_to_string(place.path().join(name)).expect("it was called");
    let mut expected: Vec<String> = lines[..lines.len() - 1].iter().map(|&line| line.to_owned()).collect();
    // It is asked what it would do, and as it does not say, left to it.
    expected.extend(["-c a.cu --dryrun", "-c a.cu", "-DX=1 -E a.cu"].map(str::to_owned));
    assert_eq!(calls("bin/nvcc.calls").lines().collect::<Vec<_>>(), expected);
    assert_eq!(calls("bin/g++-13.2.calls"), "-c b.cpp -o b.o\n");
    // Its own help is what it says without arguments.
    let (code, text) = seen(&mut stand_in(&place, ""));
    assert!(code == Some(2) && text.contains("CMAKE_CUDA_COMPILER_LAUNCHER='raceproof;nvcc'"), "{text}");
    let (code, text) = seen(stand_in(&place, "-c a.cu").env("RACEPROOF_NVCC", "/nonexistent"));
    assert!(code == Some(2) && text.contains("no nvcc found (/nonexistent)"), "{text}");
}
