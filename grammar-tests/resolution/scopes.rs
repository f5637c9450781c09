//! Scopes, shadowing, namespaces, aliases.

use super::{body, check, check_with, cuda, function};
use raceproof::resolve::program::Storage;

#[test]
fn an_inner_name_hides_an_outer_one_until_its_block_ends() {
    let program = cuda(
        "__device__ int x; __global__ void k(int *a, int x) { a[0] = x; { float x = 1; a[1] = x; } a[2] = x; \
         for (long x = 0; x < 2; ++x) a[3] = x; a[4] = ::x; }",
    );
    let found = body(&program, "k");
    assert!(found.contains("[(*a @+ 1)] = <int>*x\n"), "the float: {found}");
    assert!(found.contains("[(*a @+ 2)] = *x\n"), "the parameter: {found}");
    assert!(found.contains("[(*a @+ 3)] = <int>*x\n"), "the loop's: {found}");
    let global = program.variables.iter().find(|(_, v)| v.storage == Storage::Global).expect("the global is used").0;
    assert_eq!(program.variables[global].name, "x");
}

#[test]
fn namespaces_nest_open_again_and_are_used() {
    check_with(
        "namespace a { __device__ int f(int x) { return x; } namespace b { const int N = 3; } }
         namespace a { __device__ int g() { return f(b::N); } } namespace c = a::b; using a::g;
         namespace { __device__ int hidden() { return 1; } } namespace d { using namespace a; __device__ int h() { return f(1); } }",
        "int *p",
        "p[0] = a::f(1) + g() + c::N + hidden() + d::h(); using namespace a; p[1] = f(b::N);",
        "[(*p @+ 0)] = ((((a::f(1) + a::g()) + 3) + hidden()) + d::h())
         [(*p @+ 1)] = a::f(3)",
    );
}

#[test]
fn aliases_stand_for_pointers_arrays_and_records() {
    check_with(
        "typedef float row[8]; typedef int *ip; using real = double; typedef struct { int a; } S; typedef struct T T;
         struct T { S s; }; template <int N> using arr = int[N];",
        "row *m, ip p, T *t",
        "real d = m[1][2]; *p = t->s.a; arr<4> q; q[3] = p[0];",
        "Local d: double = <double>*[(*m @+ 1)][2]
         [*p] = *[*t].0.0
         Local q: int[4]
         q[3] = *[(*p @+ 0)]",
    );
}

#[test]
fn enumerators_count_on_and_scoped_ones_are_qualified() {
    check_with(
        "enum E { A, B = 5, C }; enum class K : unsigned char { X = 3, Y };",
        "int *p, E e",
        "p[C] = (int)K::Y + B; p[e] = E::A; switch (p[0]) { case A: break; case C: p[1] = 2; default: ; }",
        "[(*p @+ 6)] = (4 + 5)
         [(*p @+ <long>*e)] = 0
         switch *[(*p @+ 0)]
           {
             case 0
             break
             case 6
             [(*p @+ 1)] = 2
             default
           }",
    );
}

#[test]
fn storage_follows_from_qualifiers() {
    let program = cuda(
        "__shared__ int s; __device__ float g[4]; __constant__ float c[4]; const float t[] = {1, 2, 3};
         __global__ void k(int *p, int n) { extern __shared__ float dyn[]; __shared__ int q; static int st; volatile int l;
         p[0] = s + g[0] + c[1] + t[2] + dyn[n] + q + st + l; }",
    );
    let storage = |name: &str| {
        let found = program.variables.iter().find(|(_, variable)| variable.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).1.clone()
    };
    assert_eq!(storage("s").storage, Storage::Shared);
    assert_eq!(storage("g").storage, Storage::Global);
    assert_eq!(storage("c").storage, Storage::Constant);
    assert_eq!(storage("t").storage, Storage::Constant);
    assert_eq!(program.type_name(storage("t").ty), "float[3]");
    assert!(storage("dyn").is_extern && storage("dyn").storage == Storage::Shared);
    assert!(!storage("q").is_extern && storage("q").storage == Storage::Shared);
    assert_eq!(storage("st").storage, Storage::Global);
    assert!(storage("l").is_volatile && storage("l").storage == Storage::Local);
    assert_eq!(storage("n").storage, Storage::Param);
}

#[test]
fn references_are_pointers_and_their_uses_dereferences() {
    check_with(
        "typedef int two[2];",
        "int *a, int i",
        "int &r = a[i]; r = r + 1; int &q = r; q++; const int &c = 5; a[0] = c; two &v = *(two *)a; v[1] = 2;",
        "Local temporary: int
         Local r: int * = (*a @+ <long>*i)
         [*r] = (*[*r] + 1)
         Local q: int * = *r
         [*q]++
         Local c: int * = (temporary = 5, &temporary)
         [(*a @+ 0)] = *[*c]
         Local v: int[2] * = <int[2] *>*a
         [*v][1] = 2",
    );
}

#[test]
fn a_name_that_nothing_declares_is_a_value_and_no_statement() {
    check("int *a", "a[0] = mystery; mystery;", "[(*a @+ 0)] = <int>mystery!()\n unsupported(unknown name `mystery`)");
}

#[test]
fn declared_bounds_of_kernels_are_read() {
    let program = cuda("#define T 64\n__global__ void __launch_bounds__(T * 2, 1) k(int *a) { a[0] = 1; }");
    assert_eq!(function(&program, "k").geometry.max_threads, Some(128));
}
