//! What well-formed text is read as, above all where the grammar alone would guess.

use super::{body_of, cuda, opencl, tree};
use raceproof::source::Language;

#[test]
fn casts_are_told_from_parenthesised_operands() {
    cuda("x = (y) - n;", "x = (y - n);");
    cuda("x = (y) * n + (y) & n;", "x = (((y * n) + y) & n);");
    cuda("x = (int)y * n;", "x = (((int)y) * n);");
    cuda("x = (size_t)-y;", "x = ((size_t)(-y));");
    cuda("x = (unsigned char)(y) - 1;", "x = (((unsigned char)y) - 1);");
    cuda("x = (real)y;", "x = ((real)y);");
    cuda("x = *(float *)(p) + (p)[1];", "x = ((*((float*)p)) + p[1]);");
    cuda("x = (p)->z;", "x = p->z;");
    cuda("x = (y);", "x = y;");
    cuda("(void)x; ((y)) = 2; (*p)++;", "(void)x; y = 2; (*p)++;");
    cuda("x = (float)(y) / (n);", "x = (((float)y) / n);");
    assert_eq!(body_of("typedef int T;", "x = (T)(y) + (T)-n;", Language::Cuda), "x = (((T)y) + ((T)(-n)));");
}

#[test]
fn comparisons_are_told_from_template_arguments() {
    cuda("if (x < n && y > (n)) ;", "if ((x < n) && (y > n)) { ; }");
    cuda("x = f(x < n, y > (3));", "x = f(x < n, y > 3);");
    cuda("x = x < y > n;", "x = ((x < y) > n);");
    cuda("x = p[0].a < n && p[1].b > (n);", "x = ((p[0].a < n) && (p[1].b > n));");
    cuda("x = g<4>(y) < 2;", "x = (g<4>(y) < 2);");
    cuda("std::vector<std::pair<int, float>> v; x = n >> 2;", "std::vector<std::pair<int, float>> v; x = (n >> 2);");
    cuda("x = static_cast<int>(y > 2);", "x = static_cast<int>(y > 2);");
    opencl("x = x < y && n > (y);", "x = ((x < y) && (n > y));");
}

#[test]
fn attributes_are_the_words_that_stand_for_them() {
    cuda("__attribute__((shared)) int s[64];", "shared int[64] s;");
    let kernel = tree("__attribute__((global)) void k(int *o) { o[0] = 1; }", Language::Cuda);
    assert!(kernel.starts_with("kernel void k(int* o) {"), "{kernel}");
}

#[test]
fn declarations_are_told_from_expressions() {
    cuda("x * y;", "x * y;");
    cuda("float4 * q;", "float4* q;");
    cuda("dim3 a(x, y), b(2);", "dim3 a(x, y); dim3 b(2);");
    cuda("float v(x * y);", "float v(x * y);");
    cuda("S s(p); s(p);", "S s(p); s(p);");
    cuda("int a = 1, *b = p, c[3], (*d)[4], **e;", "int a = 1; int* b = p; int[3] c; int[4]* d; int** e;");
    cuda(
        "for (int i = 0, j = n; i < j; ++i, --j) ;",
        "{ int i = 0; int j = n; for (; i < j; (++i), (--j)) { ; } }".trim(),
    );
}

#[test]
fn operators_bind_as_in_c() {
    cuda("x = -y++;", "x = (-(y++));");
    cuda("x = *p++ + !y--;", "x = ((*(p++)) + (!(y--)));");
    cuda("x = y ? n : y ? 1 : 2;", "x = (y ? n : (y ? 1 : 2));");
    cuda("x = y = n += 2;", "x = (y = (n += 2));");
    cuda("x = (y = 1, n);", "x = ((y = 1), n);");
    cuda("x = p[y, n];", "x = p[y, n];");
    cuda("x = y + n * 2 - 1 << 3 & 7 | 1 ^ 2;", "x = (((((y + (n * 2)) - 1) << 3) & 7) | (1 ^ 2));");
    cuda("x = y and n or not x; x and_eq y;", "x = ((y && n) || (!x)); x &= y;");
    cuda(
        "x = sizeof(int) + sizeof x + sizeof(x) + sizeof(p[0]);",
        "x = (((sizeof(int) + sizeof(x)) + sizeof(x)) + sizeof(p[0]));",
    );
    cuda("x = 0x10 + 'a' + 017u; p = NULL; p = nullptr;", "x = ((0x10 + char(97)) + 0xfu); p = nullptr; p = nullptr;");
}

#[test]
fn statements_keep_their_shape() {
    cuda("if (x) if (y) n = 1; else n = 2;", "if (x) { if (y) { n = 1; } else { n = 2; } }");
    cuda(
        "switch (x) { case 1: case 2: y = 1; break; default: ; }",
        "switch (x) { case 1: case 2: y = 1; break; default: ; }",
    );
    cuda("do x--; while (x);", "do { x--; } while (x);");
    cuda("while (x = 1, y) ;", "while ((x = 1), y) { ; }");
    cuda("do ; while (x = 1, y);", "do { ; } while ((x = 1), y);");
    cuda("x = long(y) + unsigned(n) + short(2);", "x = ((((long)y) + ((unsigned int)n)) + ((short)2));");
    cuda("while (x) { continue; }", "while (x) { continue; }");
    cuda("if (int t = n) x = t;", "{ int t = n; if (t) { x = t; } }");
    cuda("goto end; end: x = 1;", "«goto statement» x = 1;");
    cuda("auto f = [=] __device__ (int i) { return i; };", "auto f = [=]auto operator()(int i) const { return i; };");
    cuda("for (int e : v) x += e;", "for (int e : v) { x += e; }");
    cuda(
        "k<<<x, y, 0, s>>>(p); k<int> <<< dim3(1), n >>>(p, 1);",
        "k<<<x, y, 0, s>>>(p); k<int><<<dim3(1), n>>>(p, 1);",
    );
}

#[test]
fn assembly_keeps_operands_and_memory() {
    cuda("asm volatile(\"add %0, %1;\" : \"=r\"(x) : \"r\"(y), \"r\"(n));", "asm(\"add %0, %1;\" : x : y, n);");
    let text = body_of("", "asm(\"bar.sync 0;\" ::: \"memory\"); asm volatile(\"\" :: \"r\"(x));", Language::Cuda);
    assert!(text.starts_with("asm(\"bar.sync 0;\"") && text.contains("asm(\"\" :  : x)"), "{text}");
}

#[test]
fn kernels_of_cuda() {
    let text = "\
#define TILE 16
template <typename T, int N = 4>
__global__ void __launch_bounds__(256, 2) scale(T *__restrict__ out, const T *in, unsigned long long int n) {
  __shared__ __align__(16) T tile[TILE][TILE + 1];
  extern __shared__ char pool[];
  out[threadIdx.x] = tile[0][N];
}
template __global__ void scale<float, 8>(float *, const float *, unsigned long long);
extern \"C\" __global__ void plain(float (*rows)[4], cudaTextureObject_t t) {}
__constant__ float table[4] = {1, 2};
__device__ int counter;";
    let expected = "\
template<typename T, int N = 4> kernel launch_bounds(256, 2) void scale(T* restrict out, const T* in, unsigned long long n) {
  shared align(16) T[16][16 + 1] tile;
  extern shared char[] pool;
  out[threadIdx.x] = tile[0][N];
}
template scale<float, 8>(float*, const float*, unsigned long long);
namespace {
  kernel void plain(float[4]* rows, cudaTextureObject_t t) {
  }
}
constant float[4] table = {1, 2};
device int counter;
";
    assert_eq!(tree(text, Language::Cuda), expected);
}

#[test]
fn attributes_may_stand_anywhere_before_a_kernel() {
    for text in [
        "__launch_bounds__(64) __global__ void k(int *p) {}",
        "__global__ __launch_bounds__(64) void k(int *p) {}",
        "__global__ void __launch_bounds__(64) k(int *p) {}",
        "int x; __attribute__((launch_bounds(64))) __global__ void k(int *p) {}",
        "[[launch_bounds(64)]] __global__ void k(int *p) {}",
    ] {
        let printed = tree(text, Language::Cuda);
        assert!(printed.contains("kernel") && printed.contains("launch_bounds(64)"), "{text}\n{printed}");
    }
}

#[test]
fn conversions_keep_all_their_specifiers() {
    let text = "\
struct S {
  __device__ __host__ inline constexpr operator int() const;
  constexpr __host__ __device__ operator float() const;
};";
    let printed = tree(text, Language::Cuda);
    assert!(printed.contains("device host constexpr int operator int() const;"), "{printed}");
    assert!(printed.contains("constexpr host device float operator float() const;"), "{printed}");
}

#[test]
fn kernels_of_opencl() {
    let text = "\
__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void blur(
    __global const float4 *restrict in, global float *out, __local half *l, constant int *c,
    __read_only image2d_t image, const uint n) {
  local float tile[64];
  size_t class = get_global_id(0);
  float4 v = (float4)(1.0f, in[0].xyz);
  v.s01 = (float2)(0.0f);
  out[class] = convert_float(v.x) < n ? vload4(0, in).x : (float)n;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
kernel void other(global int *this) { this[0] = true; }";
    let printed = tree(text, Language::OpenCl);
    let expected = "\
kernel reqd_work_group_size(16, 4, 1) void blur(global const float4* restrict in, global float* out, shared half* l, constant int* c, read_only image2d_t image, const uint n) {
  shared float[64] tile;
  size_t class = get_global_id(0);
  float4 v = float4{1.0f, in[0].xyz};
  v.s01 = ((float2)0.0f);
  out[class] = ((convert_float(v.x) < n) ? vload4(0, in).x : ((float)n));
  barrier(1 | 2);
}
kernel void other(global int* this) {
  this[0] = true;
}
";
    assert_eq!(printed, expected);
}

#[test]
fn records_and_aliases() {
    let text = "\
struct __align__(8) P { float x, y; unsigned a : 3, : 2; union { int i; float f; }; };
typedef struct { int v; } Q, *R;
typedef void (*callback)(int, float *);
using V = P[4];
enum class E : unsigned char { A, B = 4 };
template <typename T> struct S : Base<T> { T v; __device__ S(int k) : v(k) {} __device__ T &operator[](int i) const; __device__ operator T() const { return v; } };
template <> struct S<float> {};
struct A { int z; } first, *second;
namespace a::b { using namespace c; using d::e; }
static_assert(sizeof(int) == 4, \"int\");";
    let printed = tree(text, Language::Cuda);
    for expected in [
        "align(8) struct P {",
        "float x;",
        "unsigned int a : 3;",
        "unsigned int  : 2;",
        "using Q = struct",
        "using R = Q*;",
        "using callback = void(int, float*)*;",
        "using V = P[4];",
        "enum class E : unsigned char { A, B = 4 };",
        "template<typename T> struct S : Base<T> {",
        "device S(int k) : v(k) {",
        "device T& operator[](int i) const;",
        "device T operator T() const {",
        "template<> struct S<float> {",
        "A* second;",
        "namespace a {",
        "using namespace c;",
        "using e = d::e;",
        "static_assert(sizeof(int) == 4);",
    ] {
        assert!(printed.contains(expected), "{expected}\nin\n{printed}");
    }
}

#[test]
fn a_site_in_a_macro_is_one_site_a_use() {
    let answer =
        super::read("#define SET(a) a[i] = a[i] + 1\nvoid f(int *p, int i) { SET(p); SET(p); }", Language::Cuda);
    let printed = format!("{:?}", answer.unit.items);
    let mut spans: Vec<&str> =
        printed.split("Index(").skip(1).filter_map(|rest| rest.split("span: Span").nth(1)).collect();
    spans.sort_unstable();
    let all = spans.len();
    spans.dedup();
    assert_eq!(all, 4);
    assert_eq!(spans.len(), 4, "{spans:?}");
}
