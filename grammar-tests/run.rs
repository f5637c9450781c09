//! `raceproof run` on the machine's own compiler: programs that check themselves, findings at run time, bad weather.
//!
//! A compile takes seconds, so there are few of them, and what needs no kernel is plain C++.

mod clusters;
mod launched;
#[cfg(unix)]
mod signals;

use crate::cli::Place;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run gave.
#[derive(Debug)]
struct Seen {
    code: Option<i32>,
    out: String,
    err: String,
}

fn seen(command: &mut Command) -> Seen {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Seen { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs `raceproof run` with a directory of its own for temporary files, which must be empty afterwards.
fn run(place: &Place, arguments: &[&str]) -> Seen {
    let temporary = place.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = place.command(&["run"]);
    if !arguments.contains(&"--backend") {
        // Whatever GPU this machine has.
        command.args(["--backend", "cpu"]);
    }
    let seen = seen(command.args(arguments).env("TMPDIR", &temporary));
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}\n{seen:?}");
    seen
}

#[test]
fn a_program_that_uses_everything_finds_its_own_results_right_under_every_schedule() {
    let place = Place::with(&[("everything.cu", include_str!("run/everything.cu"))]);
    let seen = run(&place, &["everything.cu", "--keep", "kept", "--log", "run.trace"]);
    assert!(seen.out.contains("0 failures in"), "{seen:?}");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.contains("no conflict in this run"), "{seen:?}");
    assert!(seen.err.contains("executing the program"), "{seen:?}");
    assert!(fs::metadata(place.path().join("run.trace")).unwrap().len() > 1000);
    for seed in 0..6 {
        let mut program = Command::new(place.path().join("kept/program"));
        program.env("RACEPROOF_SEED", seed.to_string()).env("RACEPROOF_REPORT", place.path().join("report"));
        let seen = self::seen(&mut program);
        assert_eq!(seen.code, Some(0), "seed {seed}: {seen:?}");
    }
}

/// Two kernels race in one function of the device, one of them twice.
const SHARED_FUNCTION: &str = r#"
__device__ void put(int *a) { a[0] = threadIdx.x; }
__global__ void first(int *a) { put(a); }
__global__ void second(int *a) { put(a); }
__global__ void third(int *a) { if (threadIdx.x == 0) put(a); }
int main() {
  int *a;
  cudaMalloc(&a, 4);
  first<<<1, 8>>>(a);
  third<<<1, 8>>>(a);
  second<<<1, 8>>>(a);
  first<<<1, 8>>>(a);
  return cudaDeviceSynchronize();
}
"#;

#[test]
fn a_race_counts_for_every_launch_that_has_it() {
    let place = Place::with(&[("k.cu", SHARED_FUNCTION)]);
    let found = run(&place, &["k.cu", "--log", "run.trace"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    assert_eq!(found.out.matches("data race on a").count(), 1, "{found:?}");
    assert!(found.out.contains("first (2 launches, 16 accesses): racy: 1 pair of places conflicts"), "{found:?}");
    assert!(
        found.out.contains("second (1 launch, 8 accesses): racy: at places that are told of another kernel"),
        "{found:?}"
    );
    assert!(found.out.contains("third (1 launch, 1 access): no conflict seen"), "{found:?}");
    let told = seen(place.command(&["trace", "check", "--format", "json", "run.trace"]).current_dir(place.path()));
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    let verdicts: Vec<&str> =
        told["launches"].as_array().unwrap().iter().filter_map(|it| it["race"].as_str()).collect();
    assert_eq!(verdicts, ["racy", "no-conflict", "racy", "racy"]);
}

const DIVERGENT: &str = r#"
__global__ void apart(int *a) {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    a[threadIdx.x] = 1;
}
__global__ void stuck() {
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __syncthreads();
}
__global__ void outside(int *a) {
    a[threadIdx.x] = 1;
}
__global__ void waits(volatile int *flag) {
    if (threadIdx.x == 0) while (flag[0] == 0);
    if (threadIdx.x == 31) flag[0] = 1;
}
int main() {
    int *a, host[32];
    cudaMalloc(&a, 32 * sizeof(int));
    cudaMemset(a, 0, 32 * sizeof(int));
    waits<<<1, 32>>>(a);
    apart<<<1, 32>>>(a);
    stuck<<<1, 32>>>();
    outside<<<1, 32>>>(host);
    return 0;
}
"#;

#[test]
fn numbers_of_sixteen_bits_are_rounded_as_they_must_be() {
    let place = Place::with(&[("halves.cu", include_str!("run/halves.cu"))]);
    let seen = run(&place, &["halves.cu"]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(seen.out.contains("no conflict in this run"), "{}", seen.out);
    assert!(!seen.err.contains("not logged"), "{}", seen.err);
    assert_eq!(crate::cuda::said_by_nvcc(&place.path().join("halves.cu")), None);
}

#[test]
fn races_divergent_barriers_and_wild_accesses_are_told_with_their_lines() {
    let place = Place::with(&[("d.cu", DIVERGENT)]);
    let seen = run(&place, &["d.cu"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    let line = |number: u32, words: &[&str]| {
        let start = format!("d.cu:{number}:");
        let found = seen.out.lines().find(|line| line.starts_with(&start));
        let found = found.unwrap_or_else(|| panic!("nothing is told about line {number}: {seen:?}"));
        for word in words {
            assert!(found.contains(word), "no `{word}` in {found}");
        }
    };
    line(4, &["different barriers", "apart", "on line 6", "[barrier-divergence]"]);
    line(12, &["deadlock", "stuck", "line 14", "[barrier-divergence]"]);
    assert!(seen.out.contains("d.cu:20:34") && seen.out.contains("data race on flag"), "{seen:?}");
    line(17, &["outside of all allocations", "`a`", "write of 4 bytes", "[array-bounds]"]);
}

#[test]
fn a_compile_error_is_told_in_the_lines_of_the_user() {
    let place = Place::with(&[("e.cu", "__global__ void k(int *a) { a[0] = 1; }\nint main() { nonsense(); }\n")]);
    let seen = run(&place, &["e.cu"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("e.cu:2:") && seen.err.contains("nonsense"), "{seen:?}");
    assert!(seen.err.contains("does not compile") && !seen.err.contains("does not support"), "{seen:?}");
}

#[test]
fn what_is_not_supported_is_refused_by_name_before_anything_runs() {
    let text = "#include <stdio.h>\n__global__ void k(cudaSurfaceObject_t t, float *a) { a[0] = surf2Dread<float>(t, 0, 0); }\n\
                int main() { puts(\"it runs\"); }\n";
    let place = Place::with(&[("t.cu", text)]);
    let seen = run(&place, &["t.cu"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("does not support") && seen.err.contains("`cudaSurfaceObject_t`"), "{seen:?}");
    assert!(!seen.out.contains("it runs"), "{seen:?}");
}

#[test]
fn back_ends_that_are_not_there_are_refused() {
    let place = Place::with(&[("a.cu", "int main() {}\n")]);
    let seen = run(&place, &["a.cu", "--backend", "opencl"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("no file of OpenCL kernels"), "{seen:?}");
}

#[test]
fn a_launch_description_is_no_program() {
    let place = Place::with(&[("k.toml", "[[launch]]\nkernel = \"k\"\n")]);
    let seen = run(&place, &["k.toml"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("k.toml is a launch description: give it by --launch"), "{seen:?}");
}

#[test]
fn what_is_not_logged_is_part_of_the_result() {
    let text = "__global__ void k(int *p) { asm volatile(\"\" ::: \"memory\"); p[threadIdx.x] = 1; }\n\
                int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return cudaDeviceSynchronize(); }\n";
    let place = Place::with(&[("a.cu", text)]);
    let seen = run(&place, &["a.cu"]);
    assert!(seen.err.contains("a.cu:1:29: not logged: inline assembly in k"), "{seen:?}");
    assert!(
        seen.out.contains("not logged in device code: 1 place (see the notes); races there do not show\n"),
        "{seen:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_run_is_no_verdict() {
    let text = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\n\
                int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); return cudaDeviceSynchronize(); }\n";
    let place = Place::with(&[("a.cu", text)]);
    let seen = run(&place, &["a.cu", "--log", "/dev/full"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("cannot write the log /dev/full: No space left on device"), "{seen:?}");
    assert!(!seen.out.contains("no conflict in this run"), "{seen:?}");
}

#[test]
fn a_machine_without_a_compiler_is_told_what_to_do() {
    let place = Place::with(&[("a.cpp", "int main() {}\n")]);
    for (variable, value) in [("CXX", "/nonexistent/c++"), ("PATH", "/nonexistent")] {
        let mut command = place.command(&["run", "--backend", "cpu", "a.cpp"]);
        command.env_remove("CXX").env(variable, value);
        let seen = seen(&mut command);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains("no C++ compiler found") && seen.err.contains("CXX"), "{seen:?}");
    }
}

#[test]
fn programs_that_do_not_end_well_are_told_apart() {
    let cases = [
        ("int main() { return 3; }\n", "exited with status 3"),
        ("#include <signal.h>\nint main() { raise(SIGSEGV); }\n", "signal 11 (segmentation fault)"),
        ("int main() {}\n", "launched no kernel"),
        ("int main() { for (volatile int i = 0;; i = 1) {} }\n", "ended after 0.5 seconds"),
    ];
    for (text, told) in cases {
        let place = Place::with(&[("a.cpp", text)]);
        let start = Instant::now();
        let seen = run(&place, &["a.cpp", "--timeout", "0.5"]);
        assert!(start.elapsed() < Duration::from_secs(30));
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains(told), "no `{told}`: {seen:?}");
    }
}

#[test]
fn programs_are_linked_with_the_libraries_that_are_named() {
    let text = "#include <stdio.h>\nextern \"C\" int given();\nint main() { printf(\"%d\\n\", given()); }\n";
    let place = Place::with(&[("a.cpp", text), ("given.c", "int given(void) { return 42; }\n")]);
    let done = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(place.path()).status();
        assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
    };
    done("cc", &["-c", "given.c", "-o", "given.o"]);
    done("ar", &["rcs", "libgiven.a", "given.o"]);
    let seen = run(&place, &["a.cpp", "-L", ".", "-l", "given"]);
    assert_eq!(seen.out, "42\n", "{seen:?}");
    let seen = run(&place, &["a.cpp", "-lnowhere"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("nowhere"), "{seen:?}");
}

#[test]
fn the_program_gets_its_arguments_and_its_output_is_the_users() {
    let text = "#include <stdio.h>\nint main(int n, char **v) { for (int i = 1; i < n; i++) puts(v[i]); }\n";
    let place = Place::with(&[("a.cpp", text)]);
    let seen = run(&place, &["a.cpp", "--", "one", "--two"]);
    assert_eq!(seen.out, "one\n--two\n", "{seen:?}");
}

#[test]
fn a_crash_in_a_kernel_names_the_thread() {
    let text = "__global__ void falls(int *a) { if (threadIdx.x == 7) *(volatile int *)16 = 1; else a[threadIdx.x] = 1; }\n\
                int main() { int *a; cudaMalloc(&a, 128); falls<<<3, 32>>>(a); }\n";
    let place = Place::with(&[("c.cu", text)]);
    let seen = run(&place, &["c.cu", "--jobs", "1"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    assert!(seen.out.contains("crash in falls: thread 7,0,0 of block 0,0,0"), "{seen:?}");
    assert!(seen.err.contains("signal 11"), "{seen:?}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let place = Place::with(&[]);
    for file in ["missing.cu", "missing.cpp"] {
        let seen = run(&place, &[file]);
        assert_eq!(seen.code, Some(2));
        assert!(seen.err.contains(file), "{seen:?}");
    }
    assert!(!Path::new("missing.cu").exists());
}

/// A file that was forgotten: what it defines, where that is declared, and which file of the tree has it.
#[test]
fn a_program_that_does_not_link_says_which_file_is_missing() {
    let place = Place::with(&[
        (".git/HEAD", ""),
        (
            "a.cu",
            "#include \"x.h\"\n__global__ void k(int *x) { x[threadIdx.x] = 1; }\nint main() { foo(0); bar(); return 0; }\n",
        ),
        ("x.h", "#pragma once\n\nvoid foo(int *x);\nvoid bar();\n"),
        ("lib/foo.cpp", "void foo(int *x) { if (x) *x = 1; }\n"),
    ]);
    let seen = run(&place, &["a.cu"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    let told = seen.err.lines().last().unwrap();
    let expected = "error: the program does not link: `foo` is declared in x.h:3 and defined in none of the given files; give lib/foo.cpp, \
                    which defines it (line 1); `bar` is declared in x.h:4 and defined in none of the given files; give the file that \
                    defines it, or name its library by -l";
    assert_eq!(told, expected);
}
