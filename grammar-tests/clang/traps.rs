//! What libclang does that a front end must not fall into, each as a text and what is made of it.

use raceproof::diagnostic::report::{FileReport, Front, Parse, Race};
use raceproof::driver::options::Options;
use raceproof::driver::show::{Stage, show};
use raceproof::driver::{FrontEnd, check_source};
use std::fmt::Write as _;
use std::path::Path;

fn options(front: FrontEnd) -> Options {
    Options { front, ..Options::default() }
}

fn checked(path: &str, text: &str, front: FrontEnd) -> FileReport {
    check_source(Path::new(path), text, &options(front)).report
}

fn syntax(path: &str, text: &str, front: FrontEnd) -> String {
    show(Stage::Syntax, Path::new(path), text, &options(front)).expect("syntax is always shown")
}

/// Checks that both front ends read `text` alike, without refusal, and that the tree has these parts.
#[track_caller]
fn alike(path: &str, text: &str, parts: &[&str]) {
    let Some(clang) = super::clang() else { return };
    let tree = syntax(path, text, clang);
    assert_eq!(tree, syntax(path, text, FrontEnd::TreeSitter));
    for part in parts {
        assert!(tree.contains(part), "`{part}` is missing in\n{tree}");
    }
}

/// The verdict on the kernel `name` and the front end that read it.
#[track_caller]
fn verdict(report: &FileReport, name: &str) -> (Race, Front) {
    let kernel = report.kernels.iter().find(|kernel| kernel.name == name);
    let kernel = kernel.unwrap_or_else(|| panic!("no kernel {name} in {report:?}"));
    (kernel.race, kernel.front)
}

#[test]
fn an_error_makes_its_kernel_inadmissible_and_no_other() {
    let Some(clang) = super::clang() else { return };
    // After the error clang drops the statement, which is the only one that races.
    let text = "
__global__ void wrong(float *y) { y[threadIdx.x] = 1; y[nowhere_declared] = 2; }
__global__ void right(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }";
    let strict = checked("a.cu", text, clang);
    assert_eq!(verdict(&strict, "wrong"), (Race::Unknown, Front::Clang));
    assert_eq!(verdict(&strict, "right"), (Race::RaceFree, Front::Clang));
    assert_eq!(strict.parse, Parse::Partial);
    assert!(strict.kernels[0].unknowns.iter().any(|it| it.line == 2 && it.reason.contains("nowhere_declared")));
    let auto = checked("a.cu", text, super::auto().expect("there is a libclang"));
    assert_eq!(verdict(&auto, "wrong").1, Front::TreeSitter);
    assert_eq!(verdict(&auto, "right"), (Race::RaceFree, Front::Clang));
}

#[test]
fn an_error_in_a_declaration_reaches_what_uses_it() {
    let Some(auto) = super::auto() else { return };
    let text = "
struct S { unknown_type field; int n; };
struct T { S inner; };
__device__ float helper(float x) { return x + missing; }
__global__ void by_type(float *y, T t) { y[t.inner.n + threadIdx.x] = 1; }
__global__ void by_call(float *y) { y[threadIdx.x] = helper(1); }
__global__ void neither(float *y) { y[threadIdx.x] = 1; }";
    let report = checked("a.cu", text, auto);
    assert_eq!(verdict(&report, "by_type").1, Front::TreeSitter);
    // The body of what it calls is read by tree-sitter; the call itself is as clang read it.
    assert_eq!(verdict(&report, "by_call").1, Front::Clang);
    assert_eq!(verdict(&report, "neither").1, Front::Clang);
}

#[test]
fn a_kernel_in_a_linkage_specification_is_refused_like_any_other() {
    let Some(clang) = super::clang() else { return };
    let text = "
extern \"C\" __global__ void one(float *y) { y[threadIdx.x] = 1; y[missing] = 2; }
extern \"C\" { __global__ void two(float *y) { y[threadIdx.x] = 1; y[missing] = 2; } }
namespace n { namespace m { __global__ void three(float *y) { y[threadIdx.x] = 1; y[missing] = 2; } } }";
    let strict = checked("a.cu", text, clang);
    let auto = checked("a.cu", text, super::auto().expect("there is a libclang"));
    assert_eq!(strict.kernels.len(), 3);
    for (strict, auto) in strict.kernels.iter().zip(&auto.kernels) {
        assert_eq!(strict.race, Race::Unknown, "{}", strict.name);
        assert_eq!((&auto.name, auto.front), (&strict.name, Front::TreeSitter));
    }
}

#[test]
fn names_of_overloaded_operators_are_no_operands() {
    alike(
        "a.cu",
        "struct V { float a; };
__device__ V operator+(V, V); __device__ V operator*(V); __device__ V &operator++(V &); __device__ float operator-(V);
template <typename T> __global__ void k(T *y, V v) { auto w = y + 1; *w = *y + -v; y[0] = *w; *v + v; ++v; }
__global__ void l(float *y, V v) { y[0] = -v + (*v + v).a; }",
        &["(*w) = ((*y) + (-v));"],
    );
}

#[test]
fn the_twenty_first_error_is_seen() {
    let Some(clang) = super::clang() else { return };
    let mut text = String::new();
    for at in 0..40 {
        writeln!(text, "__global__ void k{at}(float *y) {{ y[missing_{at}] = 1; }}").unwrap();
    }
    let report = checked("a.cu", &text, clang);
    assert_eq!(report.kernels.len(), 40);
    for kernel in &report.kernels {
        assert_eq!(kernel.race, Race::Unknown, "{}", kernel.name);
    }
}

#[test]
fn a_missing_header_is_no_error() {
    let Some(clang) = super::clang() else { return };
    let text = "#include <nowhere.h>\n#include \"nowhere_either.h\"\n
__global__ void k(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }";
    assert_eq!(verdict(&checked("a.cu", text, clang), "k"), (Race::RaceFree, Front::Clang));
}

#[test]
fn parts_of_a_for_that_are_not_there_stay_absent() {
    alike(
        "a.cu",
        "__global__ void k(int n) {
  for (;;) break;
  for (int i = 0;;) { if (i++ > n) break; }
  for (; n > 0;) n--;
  for (;; n++) if (n > 9) break;
}",
        &["for (; ; ) {", "for (; n > 0; ) {", "for (; ; n++) {"],
    );
}

#[test]
fn labels_stay_with_what_they_label() {
    let Some(clang) = super::clang() else { return };
    let text = "__global__ void k(float *y, int n) {
  switch (n) case 1: case 2: y[threadIdx.x] = 1;
  switch (n) { case 3: y[0] = 2; default: here: y[1] = 3; }
}";
    let tree = syntax("a.cu", text, clang);
    let outside = "switch (n) {\n    case 1:\n    case 2:\n    y[threadIdx.x] = 1;\n  }";
    assert!(tree.contains(outside), "{tree}");
    assert!(tree.contains("default:\n    y[1] = 3;"), "{tree}");
}

#[test]
fn pragmas_do_not_hide_their_loop() {
    alike(
        "a.cu",
        "__global__ void k(float *y, int n) {
#pragma unroll
  for (int i = 0; i < 4; i++) y[i] = 1;
  _Pragma(\"unroll\") for (int i = 0; i < 4; i++) y[i] = 1;
}",
        &["for (; i < 4; i++) {"],
    );
}

#[test]
fn literals_and_operators_from_macros_keep_their_spelling() {
    alike(
        "a.cu",
        "#define SIZE 0x10u
#define AT(i, j) ((i) * SIZE + (j))
#define TWICE(x) x, x
__device__ void f(unsigned, unsigned);
__global__ void k(float *y, unsigned i) { y[AT(i, SIZE)] += 1.5e3f; f(TWICE(i + 1)); }",
        &["(i * 0x10u) + 0x10u", "+= 1.5e3f", "f(i + 1, i + 1)"],
    );
}

#[test]
fn two_accesses_of_one_macro_are_two_sites() {
    let Some(clang) = super::clang() else { return };
    let text = "#define SWAP(a, b) { float t = a; a = b; b = t; }
__global__ void k(float *y) { SWAP(y[threadIdx.x], y[threadIdx.x + 1]) }";
    let ours = checked("a.cu", text, FrontEnd::TreeSitter);
    let theirs = checked("a.cu", text, clang);
    assert_eq!(ours.kernels[0].findings.len(), theirs.kernels[0].findings.len());
    assert_eq!(theirs.kernels[0].race, Race::Racy);
}

#[test]
fn templates_are_read_as_patterns() {
    alike(
        "a.cu",
        "template <typename T, int N = 4> struct Tile { typedef T type; T cell[N][N + 1]; };
template <typename T, int N> __device__ T pick(T *p) { return p[N > 2 ? N : 2]; }
template <typename T, int N> __global__ void k(T *y, int n) {
  __shared__ Tile<T, (N > 4)> t;
  typename Tile<T>::type *q = nullptr;
  y[n] = pick<T, N>(y) + sizeof(T) + T(3) + t.cell[0][1];
}
template __global__ void k<float, 8>(float *, int);
template <> __global__ void k<int, 2>(int *y, int n) { y[n] = 1; }
void host(float *x) { k<float, 3 + 1><<<dim3(2), 256, 16>>>(x, 3); }",
        &[
            "k<float, 3 + 1><<<dim3(2), 256, 16>>>(x, 3)",
            "pick<T, N>(y)",
            "sizeof(T)",
            "template k<float, 8>(float*, int);",
        ],
    );
}

#[test]
fn attributes_keep_their_arguments() {
    alike(
        "a.cu",
        "#define B 128
template <int N> __global__ void __launch_bounds__(N * 2, 1) k(float *y) { y[0] = 1; }
__global__ __launch_bounds__(B) void l(float *y);
struct __align__(16) V { float x; };",
        &["launch_bounds(N * 2, 1)", "launch_bounds(128)", "align(16)"],
    );
    alike(
        "a.cl",
        "__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void k(__global float *y) { y[0] = 1; }",
        &["reqd_work_group_size(16, 16, 1)"],
    );
}

#[test]
fn operands_of_assembly_are_told_apart() {
    alike(
        "a.cu",
        "__global__ void k(unsigned *p, unsigned i) {
  unsigned lane;
  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));
  asm volatile(\"st.global.u32 [%1], %0;\" ::\"r\"(i), \"l\"(p) : \"memory\");
}",
        &["asm(\"mov.u32 %0, %%laneid;\" : lane", ": i, p : memory"],
    );
}

#[test]
fn declarations_are_read_as_clang_has_them() {
    alike(
        "a.cu",
        "struct P { int a : 3, : 2, b; float *p; P() : a(1), b{2} {} __device__ int get(int i) const { return p[i]; } operator float() const; };
namespace A { enum E { q, r = 3 }; enum class F : int { s }; typedef float Arr[4]; using B = int (*)(int); }
static __device__ int d1 = 4, d2[2] = {1, 2};
__constant__ float c[16];
extern \"C\" __global__ void k(const float *__restrict__ x, unsigned long int n, float (*rows)[8], int (&ref)[4]) {
  extern __shared__ float dyn[];
  dim3 g(1, 2), h = 3;
  float4 v = make_float4(1, 2, 3, 4), w{1, 2};
  int i = threadIdx.x, *pi = &i, m[2][3] = {{1}, {2, 3}};
  switch (n) { case 1: case 2: m[0][1] = 0; break; default:; }
  if (int t = i) m[0][0] = t; else if (i < (2)) { i = (int)n; } else i = static_cast<int>(n);
  do i--; while (i > 0);
  i = n ? -i++ : ~i, i <<= 2;
  auto q = reinterpret_cast<float4 *>(dyn)[i].x;
  (void)q;
}
static_assert(sizeof(int) == 4, \"\");",
        &["int a : 3;", "float[8]* rows", "if (t) {", "reinterpret_cast<float4*>(dyn)[i].x"],
    );
}

#[test]
fn opencl_is_read_as_clang_has_it() {
    alike(
        "a.cl",
        "typedef struct { float4 lo; int n; } S;
__constant float table[4] = {1, 2, 3, 4};
float4 twice(float4 v);
kernel void k(global float *restrict y, __local float *tile, const S s, read_only image2d_t image) {
  private int i = get_global_id(0);
  float4 v = (float4)(1.0f, y[0], 2, 3), w = (float4)(0.5f);
  v.xy = twice(w).zw;
  vstore4(v * vload4(i, y), 0, y);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  atomic_add((volatile __global int *)y, convert_int(v.s0));
  tile[i] = as_float(i) + table[i & 3];
}",
        &["float4{1.0f, y[0], 2, 3}", "v.xy = "],
    );
}

#[test]
fn nesting_is_stopped_before_libclang_sees_it() {
    let Some(clang) = super::clang() else { return };
    for (open, close) in [("(", ")"), ("{", "}"), ("[", "]")] {
        let deep = format!("{}0{}", open.repeat(50_000), close.repeat(50_000));
        let text = format!("__global__ void k(float *y) {{ y[0] = {deep}; }}");
        let report = checked("a.cu", &text, clang.clone());
        assert_eq!(report.parse, Parse::Failed);
        assert!(report.diagnostics.iter().any(|it| it.message.contains("nest")), "{:?}", report.diagnostics);
    }
    // Without brackets it is the worker that dies, or libclang that gives up; never this process.
    for chain in ["- ", "*", "!"].map(|operator| operator.repeat(100_000)) {
        let text = format!("__global__ void k(int *y) {{ y[0] = {chain}y[1]; }}");
        let report = checked("a.cu", &text, super::auto().expect("there is a libclang"));
        assert!(report.kernels.iter().all(|kernel| kernel.race == Race::Unknown));
    }
    let text = "__global__ void k(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }";
    assert_eq!(verdict(&checked("a.cu", text, clang), "k").0, Race::RaceFree, "the pool is as good as new");
}

#[test]
fn what_headers_declare_is_known_without_them() {
    let Some(clang) = super::clang() else { return };
    let text = "#include <fstream>
#include <sys/time.h>
texture<float, 1, cudaReadModeElementType> values;
texture<float4, cudaTextureType2D> image;
surface<void, 2> result;
__global__ void k(float *y) { int i = threadIdx.x; y[i] = tex1Dfetch(values, i) + tex2D(image, i, 1).x; }
__global__ void s(float x) { surf2Dwrite(x, result, 4, threadIdx.x); }
__global__ void h(half *x, __half2 *y) { x[threadIdx.x] = __float2half(1.0f) * x[threadIdx.x]; y[threadIdx.x].x = x[0]; }
int main(int count, char **words) {
  struct timeval now; gettimeofday(&now, 0);
  std::ifstream in(words[1], std::ios::binary); int n; in >> n; std::ofstream out; out << n << std::endl;
  FILE *file = fopen(words[1], \"r\"); if (feof(file) || fgetc(file) == EOF) fseek(file, 0, SEEK_SET);
  std::vector<float> v(n); std::sort(v.begin(), v.end());
  k<<<1, n>>>(v.data());
}";
    let report = checked("a.cu", text, clang.clone());
    assert_eq!(report.parse, Parse::Ok, "{:?}", report.diagnostics);
    let hip = "#include <hip/hip_runtime.h>
__global__ void k(float *y) { y[threadIdx.x] = __shfl_down(y[0], 1); if (threadIdx.x == 0) safeAtomicAdd(y, 1.0f); }
int main() {
  float *y; hipStream_t stream; hipEvent_t event; hipDeviceProp_t properties;
  if (hipMalloc(&y, 64) != hipSuccess || hipStreamCreate(&stream) != hipSuccess) return 1;
  hipGetDeviceProperties(&properties, 0); int lanes = properties.warpSize; hipEventCreate(&event);
  hipLaunchKernelGGL(k, dim3(lanes), dim3(64), 0, stream, y);
  hipMemcpy(y, y, 64, hipMemcpyDeviceToHost); puts(hipGetErrorString(hipGetLastError()));
}";
    let report = checked("a.hip", hip, clang);
    assert_eq!(report.parse, Parse::Ok, "{:?}", report.diagnostics);
}
