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
struct Base { short tag; };
struct Size { int width, height; };
union Either { float real; int whole; };
struct alignas(16) Pair : Base {
  Pair(char low) : low(low) {}
  char low;
  int *left;
  struct { Size size; double weights[3]; float3 shift; } deep;
  const int *right;
  Either either;
  bool on;
private:
  unsigned long long hidden;
public:
  __device__ unsigned long long get() const { return hidden; }
};
__global__ void takes_struct(Pair pair, int last) {
  int i = threadIdx.x;
  if (i < pair.deep.size.width) pair.left[i] += pair.right[i] * 100;
  if (i == 0)
    printf("%d %d %d %d %g %g %g %g %g %d %llu %d\n", pair.tag, pair.low, pair.deep.size.width, pair.deep.size.height,
           pair.deep.weights[0], pair.deep.weights[2], pair.deep.shift.y, pair.deep.shift.z, pair.either.real, pair.on, pair.get(), last);
  __syncthreads();
  if (i == 1) printf("left %d\n", pair.left[1]);
}
template <typename T> struct Rows { T *cells; int width; };
template <typename T> __global__ void takes_rows(Rows<T> rows) { rows.cells[threadIdx.x / rows.width] = 1; }
struct Flags { unsigned low : 3; int *rest; };
__global__ void takes_bits(Flags flags) { *flags.rest = flags.low; }
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
        (
            "n = 128, ",
            "n = 2147483648, ",
            "l.toml:20:19: launch.arguments.n: 2147483648 is no value of type int, which holds -2147483648 to 2147483647 (a parameter of saxpy)",
        ),
        ("n = 128, ", "n = 1.5, ", "launch.arguments.n: 1.5 is no value of type int"),
        ("n = 128, ", "n = [1, 2], ", "launch.arguments.n: expected a number, found a list of 2"),
        ("x = { buffer = \"x\" }", "x = 5", "launch.arguments.x: expected { buffer = \"name\" } for a pointer"),
        ("x = { buffer = \"x\" }", "x = { local = 5 }", "`local` is for kernels of OpenCL"),
        ("a = 2.0", "a = { buffer = \"x\" }", "launch.arguments.a: expected a number, found a buffer"),
        ("scale = 0.5", "scale = true", "launch.arguments.scale: true is no value of type float"),
        ("shift = [1, -2, 3]", "shift = [1, -2]", "expected a list of 3 numbers, found a list of 2"),
        ("shift = [1, -2, 3]", "shift = [1, -2, 0.5]", "launch.arguments.shift: 0.5 is no value of type int"),
        (
            "low = 255",
            "low = 256",
            "launch.arguments.low: 256 is no value of type uchar, which holds 0 to 255 (a parameter of ",
        ),
        ("::racy", "takes_struct", "launch.arguments.p: takes_struct has no such parameter; it has: pair"),
        ("::racy", "takes_pointers", "the parameter `p` of takes_pointers is a pointer to pointers"),
    ];
    for (from, to, wanted) in cases {
        let seen = refused(&[("k.cu", KERNELS)], &["k.cu"], from, to);
        assert!(seen.err.contains(wanted), "no `{wanted}`: {seen:?}");
    }
}

/// A description that launches the kernels with structs.
const STRUCTS: &str = r#"
[[buffer]]
name = "p"
type = "int"
count = 64
values = { range = [0, 64] }

[[launch]]
kernel = "takes_struct"
grid = 1
block = 8
[launch.arguments]
last = 7
[launch.arguments.pair]
tag = -3
low = 9
left = { buffer = "p", offset = 8 }
deep = { size = { width = 8, height = 5 }, weights = [0.5, 1, 2.5], shift = [1, 2, 3] }
right = { buffer = "p" }
either.real = 1.25
on = true
hidden = 0xffffffffffffffff

[[launch]]
kernel = "takes_rows<short>"
grid = 1
block = 8
arguments.rows = { cells = { buffer = "p" }, width = 2 }
"#;

#[test]
fn structs_are_passed_by_value() {
    let place = Place::with(&[("k.cu", KERNELS), ("l.toml", STRUCTS)]);
    let seen = run(&place, &["k.cu", "--launch", "l.toml", "--seed", "0"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    assert!(seen.out.contains("-3 9 8 5 0.5 2.5 2 3 1.25 1 18446744073709551615 7\n"), "{seen:?}");
    assert!(seen.out.contains("left 109\n"), "{seen:?}");
    assert!(seen.out.contains("data race on rows"), "{seen:?}");
    assert!(seen.out.contains("takes_struct (1 launch, "), "{seen:?}");
}

const COOPERATIVE: &str = r#"#include <cooperative_groups.h>
#include <cstdio>
struct Pair { int *to; int by; };
template <typename T> __global__ void shifted(T *cells, Pair pair, T last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cells[i] = i;
  cooperative_groups::this_grid().sync();
  int next = (i + pair.by) % (gridDim.x * blockDim.x);
  pair.to[i] = cells[next] + last;
  if (i == 0) printf("%d of %d\n", pair.to[0], (int)cooperative_groups::this_grid().is_valid());
}
__global__ void alone() { cooperative_groups::this_grid().sync(); }
"#;

const COOPERATIVE_LAUNCH: &str = r#"
[[buffer]]
name = "x"
type = "int"
count = 64
[[buffer]]
name = "y"
type = "int"
count = 64
[[launch]]
kernel = "shifted<int>"
grid = 4
block = 16
cooperative = true
arguments = { cells = { buffer = "x" }, pair = { to = { buffer = "y" }, by = 17 }, last = 100 }
[[launch]]
kernel = "alone"
grid = 2
block = 8
cooperative = true
"#;

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let told = |description: &str| {
        let place = Place::with(&[("k.cu", COOPERATIVE), ("l.toml", description)]);
        run(&place, &["k.cu", "--launch", "l.toml"])
    };
    let seen = told(COOPERATIVE_LAUNCH);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.contains("117 of 1\n"), "{seen:?}");
    assert!(seen.out.contains("shifted (1 launch, 193 accesses): no conflict seen"), "{seen:?}");
    let seen = told(&COOPERATIVE_LAUNCH.replace("cooperative = true", "cooperative = false"));
    assert_ne!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains("a barrier of the grid in a kernel that is not launched cooperatively"), "{seen:?}");
    let seen = told(&COOPERATIVE_LAUNCH.replacen("cooperative = true", "cooperative = 1", 1));
    assert!(seen.err.contains("launch.cooperative: expected true or false, found the number 1"), "{seen:?}");
}

#[test]
fn what_does_not_fit_a_struct_is_refused_by_its_member() {
    let cases = [
        ("tag = -3\n", "", "l.toml:14:1: launch.arguments.pair.tag: missing; write tag = 1"),
        (
            "tag = -3",
            "tags = -3",
            "l.toml:15:8: launch.arguments.pair.tags: Pair has no such member (did you mean `tag`?); it has: tag, low",
        ),
        ("tag = -3", "tag = 40000", "l.toml:15:7: launch.arguments.pair.tag: 40000 is no value of type short"),
        ("width = 8,", "", "launch.arguments.pair.deep.size.width: missing; write width = 1"),
        (
            "width = 8",
            "width = 8.5",
            "l.toml:18:27: launch.arguments.pair.deep.size.width: 8.5 is no value of type int",
        ),
        (
            "[0.5, 1, 2.5]",
            "[0.5]",
            "launch.arguments.pair.deep.weights: expected a list of 3 numbers, found a list of 1",
        ),
        (
            "either.real = 1.25",
            "either = { real = 1, whole = 2 }",
            "launch.arguments.pair.either.whole: it shares its bytes with `real`; give one of them",
        ),
        (
            "right = { buffer = \"p\" }",
            "right = 4",
            "launch.arguments.pair.right: expected { buffer = \"name\" } for a pointer, found the number 4",
        ),
        (
            "right = { buffer = \"p\" }",
            "right = { bufer = \"p\" }",
            "launch.arguments.pair.right.bufer: unknown key (did you mean `buffer`?)",
        ),
        (
            "right = { buffer = \"p\" }",
            "right = { offset = 3 }",
            "launch.arguments.pair.right: expected { buffer = \"name\" } for a pointer, found members of a struct",
        ),
        ("last = 7", "last = { a = 1 }", "launch.arguments.last: expected a number, found members of a struct"),
        (
            "kernel = \"takes_rows<short>\"\ngrid = 1\nblock = 8\narguments.rows",
            "kernel = \"takes_bits\"\ngrid = 1\nblock = 8\narguments.flags",
            "launch.arguments.flags.cells: Flags has no such member",
        ),
        (
            "kernel = \"takes_rows<short>\"\ngrid = 1\nblock = 8\narguments.rows = { cells = { buffer = \"p\" }, width = 2 }",
            "kernel = \"takes_bits\"\ngrid = 1\nblock = 8\narguments.flags = { low = 1, rest = { buffer = \"p\" } }",
            "the parameter `flags.low` of takes_bits is a bit-field, which a launch description cannot give",
        ),
        (
            "arguments.rows = { cells = { buffer = \"p\" }, width = 2 }",
            "arguments.rows = 1",
            "launch.arguments.rows: expected { cells = …, width = … } for the struct Rows",
        ),
    ];
    for (from, to, wanted) in cases {
        assert!(STRUCTS.contains(from), "{from}");
        let description = STRUCTS.replacen(from, to, 1);
        let place = Place::with(&[("k.cu", KERNELS), ("l.toml", &description)]);
        let mut command = place.command(&["run", "k.cu", "--launch", "l.toml"]);
        let seen = seen(command.env("CXX", "/nonexistent/c++"));
        assert_eq!(seen.code, Some(2), "{to}: {seen:?}");
        assert!(seen.err.contains(wanted), "{to}: {seen:?}");
    }
}

#[test]
fn a_description_takes_no_arguments_and_its_keys_are_known() {
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
