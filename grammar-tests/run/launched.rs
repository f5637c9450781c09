//! Kernels without a program, run as a launch description says.

use super::{Seen, run, seen};
use crate::cli::Place;
use std::process::Stdio;

/// Kernels that check what they are given; a name that is wrong anywhere makes a line of output differ.
const KERNELS: &str = r#"#include <cstdio>
enum Mode { copy, twice };
namespace deep {
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
}
template <typename T, int N>
__global__ void reduce(const T *in, T *out, T scale, Mode mode, int3 shift, unsigned char low, bool on) {
  __shared__ T s[N];
  s[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
  __syncthreads();
  for (int d = N / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = s[0] * scale;
    printf("%g %d %d,%d,%d %d %d %d\n", (double)out[blockIdx.x], mode == twice, shift.x, shift.y, shift.z, low, on, (int)sizeof(T));
  }
}
__global__ void racy(int *p) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  p[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}
struct Pair { int *left; };
__global__ void takes_struct(Pair pair) { pair.left[0] = 1; }
__global__ void takes_pointers(int **p) { p[0][0] = 1; }
"#;

const DESCRIPTION: &str = r#"
[[buffer]]
name = "x"
type = "float"
count = 128
values = { range = [0, 128] }
[[buffer]]
name = "y"
type = "float"
count = 128
[[buffer]]
name = "p"
type = "int"
count = 64

[[launch]]
kernel = "saxpy"
grid = [4]
block = [32]
arguments = { n = 128, a = 2.0, x = { buffer = "x" }, y = { buffer = "y" } }

[[launch]]
kernel = "reduce<float, 32>"
grid = [2]
block = 32
arguments.in = { buffer = "y", offset = 32 }
arguments.out = { buffer = "x" }
arguments.scale = 0.5
arguments.mode = 1
arguments.shift = [1, -2, 3]
arguments.low = 255
arguments.on = true

[[launch]]
kernel = "::racy"
grid = [1, 1, 1]
block = [8, 8]
shared = 256
arguments = { p = { buffer = "p" } }
"#;

fn place() -> Place {
    Place::with(&[("k.cu", KERNELS), ("l.toml", DESCRIPTION)])
}

#[test]
fn kernels_run_as_a_description_says_and_keep_their_lines() {
    let place = place();
    let seen = run(&place, &["k.cu", "--launch", "l.toml", "--seed", "0"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    // Twice the sums of 32..64 and of 64..96, halved.
    for line in ["1520 1 1,-2,3 255 1 4\n", "2544 1 1,-2,3 255 1 4\n"] {
        assert!(seen.out.contains(line), "{seen:?}");
    }
    assert!(seen.out.contains("k.cu:26:") && seen.out.contains("data race on s"), "{seen:?}");
    assert!(seen.out.contains("racy (1 launch, 192 accesses): racy"), "{seen:?}");
    assert!(seen.out.contains("saxpy (1 launch, 384 accesses): no conflict seen"), "{seen:?}");
}

#[test]
fn a_run_of_a_description_is_amplified_with_the_types_of_its_instances() {
    let place = place();
    let mut command = place.command(&["amplify", "--format", "json", "k.cu", "--launch", "l.toml"]);
    let seen = seen(command.stdin(Stdio::null()));
    let said: serde_json::Value = serde_json::from_str(&seen.out[seen.out.find("\n{").map_or(0, |at| at + 1)..])
        .unwrap_or_else(|error| panic!("{error}: {seen:?}"));
    let kernel = |name: &str| said["kernels"].as_array().unwrap().iter().find(|kernel| kernel["name"] == name).unwrap();
    assert_eq!(kernel("saxpy")["verdict"], "race-free-for-all-data", "{said:#}");
    assert_eq!(kernel("reduce")["verdict"], "race-free-for-all-data", "{said:#}");
    assert_eq!(kernel("racy")["verdict"], "racy", "{said:#}");
}

/// What is said about a description that differs in one place, on a machine without a compiler: nothing is built.
fn refused(files: &[(&str, &str)], arguments: &[&str], from: &str, to: &str) -> Seen {
    assert!(DESCRIPTION.contains(from), "{from}");
    let description = DESCRIPTION.replacen(from, to, 1);
    let mut all = files.to_vec();
    all.push(("l.toml", &description));
    let place = Place::with(&all);
    let mut command = place.command(&["run", "--launch", "l.toml"]);
    let seen = seen(command.args(arguments).env("CXX", "/nonexistent/c++"));
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(!seen.err.contains("no C++ compiler"), "something was built: {seen:?}");
    seen
}

#[test]
fn what_does_not_fit_the_kernels_is_refused_by_name_before_anything_is_built() {
    let cases = [
        (
            "\"saxpy\"",
            "\"saxpi\"",
            "l.toml:17:10: launch.kernel: there is no kernel `saxpi` (did you mean `deep::saxpy`?)",
        ),
        (
            "\"saxpy\"",
            "\"wide::saxpy\"",
            "there is no kernel `wide::saxpy` (did you mean `deep::saxpy`?); there are: deep::saxpy, reduce, racy",
        ),
        ("\"saxpy\"", "\"saxpy<float>\"", "launch.kernel: it is no template"),
        ("reduce<float, 32>", "reduce", "it is a template; name an instance"),
        ("reduce<float, 32>", "reduce<32>(0); exit(0); racy<>", "is no list of template arguments"),
        ("n = 128, ", "", "l.toml:17:10: launch.arguments.n: missing; write n = 1"),
        (", y = { buffer = \"y\" } }", " }", "launch.arguments.y: missing; write y = { buffer ="),
        (
            "n = 128, ",
            "nn = 128, ",
            "l.toml:20:20: launch.arguments.nn: saxpy has no such parameter (did you mean `n`?)",
        ),
        ("n = 128, ", "n = 2147483648, ", "l.toml:20:19: launch.arguments.n: 2147483648 is no value of type int"),
        ("n = 128, ", "n = 1.5, ", "launch.arguments.n: 1.5 is no value of type int"),
        ("n = 128, ", "n = [1, 2], ", "launch.arguments.n: expected a number, found a list of 2"),
        ("x = { buffer = \"x\" }", "x = 5", "launch.arguments.x: expected { buffer = \"name\" } for a pointer"),
        ("x = { buffer = \"x\" }", "x = { local = 5 }", "`local` is for kernels of OpenCL"),
        ("a = 2.0", "a = { buffer = \"x\" }", "launch.arguments.a: expected a number, found a buffer"),
        ("scale = 0.5", "scale = true", "launch.arguments.scale: true is no value of type float"),
        ("shift = [1, -2, 3]", "shift = [1, -2]", "expected a list of 3 numbers, found a list of 2"),
        ("shift = [1, -2, 3]", "shift = [1, -2, 0.5]", "launch.arguments.shift: 0.5 is no value of type int"),
        ("low = 255", "low = 256", "launch.arguments.low: 256 is no value of type uchar"),
        ("::racy", "takes_struct", "launch.arguments.p: takes_struct has no such parameter; it has: pair"),
        ("::racy", "takes_pointers", "the parameter `p` of takes_pointers is a pointer to pointers"),
    ];
    for (from, to, wanted) in cases {
        let seen = refused(&[("k.cu", KERNELS)], &["k.cu"], from, to);
        assert!(seen.err.contains(wanted), "no `{wanted}`: {seen:?}");
    }
}

#[test]
fn a_struct_is_what_no_description_can_give() {
    let place = Place::with(&[
        ("k.cu", KERNELS),
        ("l.toml", "[[launch]]\nkernel = \"takes_struct\"\ngrid = 1\nblock = 1\narguments = { pair = 1 }\n"),
    ]);
    let mut command = place.command(&["run", "k.cu", "--launch", "l.toml"]);
    let seen = seen(command.env("CXX", "/nonexistent/c++"));
    assert!(seen.err.contains("the parameter `pair` of takes_struct is the struct Pair"), "{seen:?}");
}

#[test]
fn a_program_needs_no_description_and_a_description_no_arguments() {
    let main = ("m.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n");
    let seen = refused(&[main], &["m.cu"], "kernel", "kernel");
    assert!(seen.err.contains("m.cu: it has a `main` of its own"), "{seen:?}");
    let seen = refused(&[("k.cu", KERNELS)], &["k.cu", "--", "5"], "kernel", "kernel");
    assert!(seen.err.contains("cannot be used with"), "{seen:?}");
    let seen = refused(&[("k.cu", KERNELS)], &["k.cu"], "[[launch]]", "[[lunch]]");
    assert!(seen.err.contains("did you mean `launch`?"), "{seen:?}");
}

#[test]
fn an_instance_that_does_not_compile_is_told_at_the_line_of_its_launch() {
    let place = Place::with(&[
        ("k.cu", "template <typename T> __global__ void k(T *p) { p[0] = T::nothing; }\n"),
        (
            "l.toml",
            "[[buffer]]\nname = \"b\"\ntype = \"int\"\ncount = 1\n\n[[launch]]\nkernel = \"k<Missing>\"\ngrid = 1\nblock = 1\narguments.p.buffer = \"b\"\n",
        ),
    ]);
    let seen = run(&place, &["k.cu", "--launch", "l.toml"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
    assert!(seen.err.contains("l.toml:7:") && seen.err.contains("Missing"), "{seen:?}");
}
