//! `check --reproduce` through the real binary: what is written, what is told, what is refused.
//!
//! That the programs show their races is held by `execution`.

use crate::cli::Place;
use crate::support::tools;
use raceproof::execute::cuda::nvcc;
use std::process::Command;

const RACY: &str = "\
#include \"types.h\"
#include <cufft.h>

#define SCALE 2
#define UNUSED 3

int helper_of_the_host() { return UNUSED; }

/* Doubles. */
__device__ float twice(float x) { return SCALE * x; } /* and
   so on */
namespace deep {
__global__ void shift(real *a, const Size size, int n) {
  int i = threadIdx.x;
  if (i < size.width) a[i] = twice(a[i + n]);
}
}
int main() { return helper_of_the_host(); }
";

const TYPES: &str =
    "#pragma once\ntypedef float real;\ntypedef double unused;\nstruct Size { float *data; int width; };\n";

fn reproduced() -> Place {
    let place = Place::with(&[("racy.cu", RACY), ("types.h", TYPES)]);
    place.run(&["check", "racy.cu", "--param", "n=1", "--reproduce", "out"]).expect(1);
    place
}

#[test]
fn operators_come_with_the_types_that_they_are_for() {
    let racy = "#include \"vectors.h\"\n__global__ void k(float4 *a) {\n  float4 sum = a[threadIdx.x];\n  sum += a[threadIdx.x + 1];\n  a[threadIdx.x] = sum;\n}\n";
    let vectors = "inline __device__ void operator+=(float4 &a, float4 b) { a.x += b.x; }\ninline __device__ void operator+=(double4 &a, double4 b) { a.x += b.x; }\ninline __device__ float4 operator-(float4 a, float4 b) { a.x -= b.x; return a; }\n";
    let place = Place::with(&[("racy.cu", racy), ("vectors.h", vectors)]);
    place.run(&["check", "racy.cu", "--reproduce", "out"]).expect(1);
    let name = std::fs::read_dir(place.path().join("out")).expect("programs").flatten().next().expect("a program");
    let text = std::fs::read_to_string(name.path()).expect("it can be read");
    assert!(text.contains("operator+=(float4"), "{text}");
    assert!(!text.contains("double4") && !text.contains("operator-"), "{text}");
}

#[test]
fn a_program_holds_what_the_kernel_needs_and_nothing_else() {
    let place = reproduced();
    let text = std::fs::read_to_string(place.path().join("out/shift-15-data-race.cu")).expect("a program");
    for needed in [
        "typedef float real;",
        "struct Size {",
        "#define SCALE 2",
        "/* Doubles. */",
        "twice(float x)",
        "namespace deep {",
    ] {
        assert!(text.contains(needed), "{needed} is not in\n{text}");
    }
    for other in ["unused", "UNUSED", "helper_of_the_host", "and\n", "so on", "#pragma once", "#include <cufft.h>"] {
        assert!(!text.contains(other), "{other} is in\n{text}");
    }
    assert!(text.contains("size.width = ") && text.contains("deep::shift<<<"), "{text}");
    assert!(text.contains("Headers that were not found and are left out: cufft.h"), "{text}");
}

#[test]
fn json_names_the_file_and_the_lines_and_says_nothing_unasked() {
    let place = reproduced();
    let seen = place.run(&["check", "racy.cu", "--param", "n=1", "--reproduce", "out", "--format", "json"]).expect(1);
    let findings = seen.json()["files"][0]["kernels"][0]["findings"].clone();
    let reproduction = &findings[0]["reproduction"];
    assert_eq!(reproduction["path"], "out/shift-15-data-race.cu");
    let text = std::fs::read_to_string(place.path().join("out/shift-15-data-race.cu")).expect("a program");
    let line = reproduction["lines"][0].as_u64().expect("a line") as usize;
    assert_eq!(text.lines().nth(line - 1), Some("  if (i < size.width) a[i] = twice(a[i + n]);"));
    let plain = place.run(&["check", "racy.cu", "--param", "n=1", "--format", "json"]).expect(1);
    assert!(!plain.out.contains("reproduction"), "{}", plain.out);
}

#[test]
fn the_program_shows_the_race_when_it_is_run() {
    let place = reproduced();
    let seen = place.run(&["run", "--backend", "cpu", "out/shift-15-data-race.cu"]).expect(1);
    assert!(seen.out.contains("data race on a"), "{}", seen.out);
}

#[test]
fn nvcc_accepts_the_program() {
    let Some(nvcc) = tools::used("nvcc", nvcc::find) else { return };
    let place = reproduced();
    let mut command = Command::new(&nvcc.program);
    command.args(["-std=c++17", "-w", "-c", "-arch=sm_90", "out/shift-15-data-race.cu", "-o", "out/x.o"]);
    let output = command.current_dir(place.path()).output().expect("nvcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_racecheck_keeps_to_itself_is_said() {
    let racy = "__global__ void k(int *a) {\n  __shared__ int s[64];\n  s[threadIdx.x / 2] = 1;\n  a[threadIdx.x] = 1;\n}\n\
                __global__ void l(int *a) {\n  __shared__ int s[64];\n  s[threadIdx.x] = a[threadIdx.x];\n  \
                a[threadIdx.x] = s[threadIdx.x ^ 32];\n}\n";
    let place = Place::with(&[("racy.cu", racy)]);
    place.run(&["check", "racy.cu", "--reproduce", "out"]).expect(1);
    let said = |name: &str| {
        let text = std::fs::read_to_string(place.path().join("out").join(name)).expect("a program");
        assert!(text.contains("compute-sanitizer --tool racecheck"), "{text}");
        text.contains("try --print-level info")
    };
    assert!(said("k-3-same-value-write.cu"));
    assert!(!said("l-8-data-race.cu"));
}

#[test]
fn only_own_files_are_overwritten() {
    let place = reproduced();
    let file = "out/shift-15-data-race.cu";
    place.run(&["check", "racy.cu", "--param", "n=1", "--reproduce", "out"]).expect(1);
    place.put(file, b"int mine;\n");
    let arguments = ["check", "racy.cu", "--param", "n=1", "--reproduce", "out"];
    let seen = place.run(&arguments).expect(2).complains("is not overwritten");
    assert!(seen.out.contains("no reproduction: "), "{}", seen.out);
    assert_eq!(std::fs::read(place.path().join(file)).expect("the file"), b"int mine;\n");
}

#[test]
fn a_directory_that_cannot_be_made_is_told() {
    let place = Place::with(&[("racy.cu", RACY), ("types.h", TYPES), ("file", "")]);
    place.run(&["check", "racy.cu", "--reproduce", "file/out"]).expect(2).complains("cannot write file/out");
}

#[test]
fn kernels_of_one_name_get_files_of_their_own() {
    let text = "__global__ void k(int *a) { a[0] = threadIdx.x; }\n";
    let place = Place::with(&[("a.cu", text), ("b.cu", text)]);
    place.run(&["check", ".", "--level", "block", "--jobs", "2", "--reproduce", "out"]).expect(1);
    let read = |name: &str| std::fs::read_to_string(place.path().join("out").join(name)).expect(name);
    assert!(read("k-1-data-race.cu").contains("a.cu") && read("k-1-data-race-2.cu").contains("b.cu"));
}

#[test]
fn what_cannot_be_made_up_is_named() {
    let text = "__global__ void k(cudaSurfaceObject_t pictures, int *a) { a[0] = threadIdx.x; }\n";
    let place = Place::with(&[("a.cu", text)]);
    let seen = place.run(&["check", "a.cu", "--level", "block", "--reproduce", "out"]).expect(1);
    assert!(
        seen.out.contains("no reproduction: parameter pictures is of the type cudaSurfaceObject_t"),
        "{}",
        seen.out
    );
}

#[test]
fn a_kernel_that_reads_textures_is_given_one() {
    let text = "__global__ void k(cudaTextureObject_t rows, cudaTextureObject_t row, int *a) {\n\
                float got = tex2D<float>(rows, 0.5f, 0.5f) + tex2D<float4>(row, 1, 1).y;\n\
                if (got >= 0) a[1] = 0;\n  a[1] = threadIdx.x;\n}\n";
    let place = Place::with(&[("a.cu", text)]);
    place.run(&["check", "a.cu", "--level", "block", "--reproduce", "out"]).expect(1);
    let seen = place.run(&["run", "out/k-4-data-race.cu", "--backend", "cpu"]).expect(1);
    assert!(seen.out.contains("data race"), "{}", seen.out);
}

#[test]
fn blocks_that_wait_for_each_other_are_launched_together() {
    let text = "#include <cooperative_groups.h>\n\
                __global__ void k(int *a, float scale) {\n\
                cooperative_groups::this_grid().sync();\n  a[0] = threadIdx.x + blockIdx.x;\n}\n";
    let place = Place::with(&[("a.cu", text)]);
    place.run(&["check", "a.cu", "--level", "grid", "--reproduce", "out"]).expect(1);
    let seen = place.run(&["run", "out/k-4-data-race.cu", "--backend", "cpu"]).expect(1);
    assert!(seen.out.contains("data race"), "{}", seen.out);
}

#[test]
fn clusters_that_the_launch_makes_are_launched() {
    let text = std::fs::read_to_string("fixtures/clusters/launched.cu").expect("the fixture can be read");
    let place = Place::with(&[("a.cu", &text)]);
    place.run(&["check", "a.cu", "--reproduce", "out"]).expect(1);
    let made = place.path().join("out/exchanged_too_early_bad-20-data-race.cu");
    let written = std::fs::read_to_string(&made).expect("a reproduction");
    assert!(written.contains("cluster.val.clusterDim.x = 2;"), "{written}");
    assert!(written.contains("cudaLaunchKernelEx(&config, ::exchanged_too_early_bad, out)"), "{written}");
    assert_eq!(super::cuda::said_by_nvcc(&made), None, "{written}");
}

#[test]
fn conditionals_that_are_cut_apart_are_resolved() {
    let text = "#ifdef __CUDACC__\n__host__\n#else\n#error never\n#endif\n__device__ int one() { return 1; }\n\
                __global__ void k(int *a) { a[0] = threadIdx.x + one(); }\n";
    let place = Place::with(&[("a.cu", text)]);
    place.run(&["check", "a.cu", "--level", "block", "--reproduce", "out"]).expect(1);
    let seen = place.run(&["run", "out/k-7-data-race.cu", "--backend", "cpu"]).expect(1);
    assert!(seen.out.contains("data race"), "{}", seen.out);
}

#[test]
fn an_opencl_kernel_gets_a_launch_description() {
    let text = "__kernel void k(__global int *a, __local int *t, float x) {\n\
                t[0] = get_local_id(0);\n  a[get_global_id(0)] = t[0] + x;\n}\n";
    let place = Place::with(&[("k.cl", text)]);
    place.run(&["check", "k.cl", "--level", "block", "--reproduce", "out"]).expect(1);
    let read = |name: &str| std::fs::read_to_string(place.path().join("out").join(name)).expect(name);
    assert!(read("k-2-data-race.cl").contains("raceproof run k-2-data-race.cl --launch k-2-data-race.toml"));
    let description = read("k-2-data-race.toml");
    assert!(description.contains("arguments.t = { local = 4 }"), "{description}");
    let simulation = read("k-2-data-race.sim");
    assert!(
        simulation.starts_with("k-2-data-race.cl\nk\n") && simulation.contains("<size=4 float fill=1>"),
        "{simulation}"
    );
}
