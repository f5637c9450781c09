//! That an instrumented text is built by the commands at its head, word by word.

use crate::cli::{Place, Seen};
use crate::support::tools::{self, has_cxx};
use raceproof::execute::cuda::nvcc;
use std::fs;
use std::process::{Command, Stdio};

/// A program whose kernel races, with a header beside it and one in a directory of its own.
const PROGRAM: &str = "#include <cstdio>
#include \"beside.h\"
#include \"size.h\"
__global__ void k(int *x) {
  __shared__ int s[SIZE];
  s[threadIdx.x] = BESIDE;
  x[threadIdx.x] = s[SIZE - 1 - threadIdx.x];
}
int main() {
  int *x;
  cudaMalloc(&x, SIZE * sizeof(int));
  k<<<1, SIZE>>>(x);
  printf(\"ended\\n\");
  return cudaDeviceSynchronize();
}
";

fn place() -> Place {
    Place::with(&[
        ("my kernels/it's.cu", PROGRAM),
        ("my kernels/beside.h", "#define BESIDE 1\n"),
        ("inc/size.h", "#define SIZE 64\n"),
    ])
}

/// The commands at the head of a text.
fn commands(place: &Place, text: &str) -> Vec<String> {
    let text = fs::read_to_string(place.path().join(text)).unwrap();
    let head = text.lines().take_while(|line| line.starts_with("// "));
    head.filter_map(|line| line.strip_prefix("//   ")).map(str::to_owned).collect()
}

/// Runs a line as a shell does, with the binary under test on the PATH.
fn shell(place: &Place, line: &str) -> Seen {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(place.path()).env("PATH", tools::path()).stdin(Stdio::null());
    Seen::of(&command.output().unwrap())
}

#[test]
fn for_the_cpu_it_is_built_run_and_checked() {
    if !has_cxx() {
        return;
    }
    let place = place();
    let arguments = ["instrument", "my kernels/it's.cu", "-I", "inc", "-o", "logged.cpp", "--runtime", "the runtime"];
    place.run(&arguments).expect(0);
    let commands = commands(&place, "logged.cpp");
    let [build, run, check] = &commands[..] else { panic!("{commands:#?}") };
    shell(&place, build).expect(0);
    assert_eq!(shell(&place, run).expect(0).out, "ended\n");
    let checked = shell(&place, check).expect(1);
    let is_told = |text: &str| checked.out.contains(text);
    assert!(is_told("error[data-race]: data race on s") && is_told("my kernels/it's.cu:6:3"), "{}", checked.out);
    // Without its runtime the head says which option writes it.
    place.run(&["instrument", "my kernels/it's.cu", "-o", "bare.cpp", "-I", "inc"]).expect(0);
    let bare = fs::read_to_string(place.path().join("bare.cpp")).unwrap();
    assert!(bare.lines().next().unwrap().ends_with("--runtime bare.runtime writes what it needs:"), "{bare}");
    place
        .run(&["instrument", "my kernels/it's.cu", "-o", "x.cpp", "--runtime", "inc/size.h"])
        .expect(2)
        .complains("size.h");
}

#[test]
fn for_a_gpu_nvcc_builds_it() {
    let Some(_) = tools::used("nvcc", nvcc::find) else { return };
    let place = place();
    let arguments = ["instrument", "my kernels/it's.cu", "--backend", "cuda", "-I", "inc", "-o", "logged.cu"];
    place.run(&[&arguments[..], &["--runtime", "the runtime"]].concat()).expect(0);
    let commands = commands(&place, "logged.cu");
    let [unit, runtime, link, run, check] = &commands[..] else { panic!("{commands:#?}") };
    for line in [unit, runtime, link] {
        shell(&place, line).expect(0);
    }
    assert!(place.path().join("logged.program").is_file() && run.starts_with("RACEPROOF_LOG="), "{run}");
    if nvcc::has_gpu() {
        shell(&place, run).expect(0);
        shell(&place, check).expect(1);
    }
}
