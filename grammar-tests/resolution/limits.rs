//! Nesting, chains and recursion beyond the limits give a message and no overflow.

use super::{body, cuda};

#[test]
fn long_chains_are_cut_off_and_short_ones_are_not() {
    let chain = |terms: usize| vec!["a[0]"; terms].join(" + ");
    let program = cuda(&format!("__global__ void k(int *a) {{ a[1] = {}; }}", chain(200)));
    assert!(!body(&program, "k").contains("unsupported"));
    let program = cuda(&format!("__global__ void k(int *a) {{ a[1] = {}; }}", chain(20_000)));
    assert!(body(&program, "k").contains("unsupported("), "{}", body(&program, "k"));
}

#[test]
fn records_and_constants_that_need_themselves_end() {
    let program = cuda(
        "template <int N> struct R { R<N + 1> r; int x; }; const int a = b; const int b = a + 1; struct S { S s; };
         constexpr int loop(int n) { return loop(n + 1); } using A = A;
         __global__ void k(int *p, R<0> *r, S *s, A *q) { p[a] = b; p[loop(1)] = 2; int t[loop(0)]; r->x = 1; }",
    );
    assert_eq!(program.kernels.len(), 1);
}

#[test]
fn functions_that_deduce_their_result_from_themselves_end() {
    let program = cuda(
        "template <int N> __device__ auto f() { return f<N + 1>(); } __device__ auto g() { return g(); }
         __global__ void k(int *p) { p[0] = f<0>() + g(); }",
    );
    assert_eq!(program.kernels.len(), 1);
}

/// A file may have any number of kernels and of functions that are no templates.
#[test]
fn kernels_are_not_counted() {
    let kernel = |at: usize| {
        format!("__device__ int f{at}(int i) {{ return i; }}\n__global__ void k{at}(int *a) {{ a[f{at}(0)] = 1; }}\n")
    };
    let program = cuda(&(0..5_000).map(kernel).collect::<String>());
    assert_eq!(program.kernels.len(), 5_000);
    assert!(program.functions.iter().all(|(_, function)| function.unsupported.is_empty()));
    assert!(!body(&program, "k4999").contains("unsupported"), "{}", body(&program, "k4999"));
}

/// Instances of templates are, and one that is not looked at says so.
#[test]
fn instances_of_kernel_templates_beyond_the_limit_are_listed_and_open() {
    let templates = |at: usize| {
        let instances = (0..100).map(|n| format!("template __global__ void k{at}<{n}>(int *);\n"));
        format!("template <int N> __global__ void k{at}(int *a) {{ a[N] = 1; }}\n{}", instances.collect::<String>())
    };
    let program = cuda(&(0..42).map(templates).collect::<String>());
    assert_eq!(program.kernels.len(), 4_200);
    let open = program.kernels.iter().filter(|&&kernel| program.functions[kernel].is_left_out());
    let reasons: Vec<&str> = open.map(|&kernel| program.functions[kernel].unsupported[0].1.as_str()).collect();
    assert_eq!(reasons.len(), 4_200 - 4_096);
    assert!(reasons.iter().all(|reason| reason.contains("beyond the 4096 functions")), "{}", reasons[0]);
}
