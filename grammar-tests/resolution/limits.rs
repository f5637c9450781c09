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
