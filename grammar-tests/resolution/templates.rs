//! Function and class templates: explicit, deduced and default arguments, kernels without an instance.

use super::{body, check_with, cuda, function};
use raceproof::resolve::program::{Storage, Type};

#[test]
fn arguments_are_deduced_from_types_pointers_arrays_and_instances() {
    check_with(
        "template <typename T> __device__ T id(T x) { return x; }
         template <typename T> __device__ T first(const T *p) { return *p; }
         template <typename T, int N> __device__ T last(T (&a)[N]) { return a[N - 1]; }
         template <typename T> struct Box { T v; }; template <typename T> __device__ T open(Box<T> b) { return b.v; }
         template <int N> __device__ int con() { return N; } template <int N, typename T> __device__ T mix(T x) { return x + N; }
         template <typename T, typename U = int> __device__ U def(T) { return 1; }",
        "float *f, long l, Box<double> b",
        "float s[7]; auto a = id(l); auto c = first(f); auto d = last(s); auto e = open(b); auto g = con<3>(); auto h = mix<2>(1.5f); auto i = def(l); auto j = id<float>(1);",
        "Local s: float[7]
         Local a: long = id<long>(*l)
         Local c: float = first<float>(*f)
         Local d: float = last<float, 7>(&s)
         Local e: double = open<double>(*b)
         Local g: int = con<3>()
         Local h: float = mix<2, float>(1.5f)
         Local i: int = def<long, int>(*l)
         Local j: float = id<float>(<float>1)",
    );
}

#[test]
fn one_function_for_each_set_of_arguments() {
    let program = cuda(
        "template <typename T> __device__ T id(T x) { return x; } __global__ void k(int a, float b) { id(a); id(b); id(a + 1); id<int>(b); }",
    );
    let instances: Vec<_> =
        program.functions.iter().filter(|(_, f)| f.name == "id").map(|(_, f)| f.template_args.join(",")).collect();
    assert_eq!(instances, ["int", "float"]);
}

#[test]
fn value_arguments_decide_branches_and_sizes() {
    let program = cuda(
        "template <int N, bool B> __device__ int f() { int a[N * 2]; a[0] = N; if constexpr (B) return a[0]; else return missing; }
         __global__ void k(int *p) { p[0] = f<4, true>(); }",
    );
    assert_eq!(body(&program, "f"), "Local a: int[8]\na[0] = 4\nreturn *a[0]\n");
}

#[test]
fn templates_that_call_themselves_end() {
    let program = cuda(
        "template <int N> struct Sum { static const int value = N + Sum<N - 1>::value; }; template <> struct Sum<0> { static const int value = 0; };
         template <int N> __device__ int down(int x) { return down<N - 1>(x + N); } template <> __device__ int down<0>(int x) { return x; }
         __global__ void k(int *p) { p[0] = Sum<4>::value; p[1] = down<3>(1); }",
    );
    assert!(body(&program, "k").starts_with("[(*p @+ 0)] = 10\n"), "{}", body(&program, "k"));
    let instances = program.functions.iter().filter(|(_, f)| f.name == "down").count();
    assert!((4..=5).contains(&instances), "{instances} instances");
}

#[test]
fn a_template_without_end_is_cut_off() {
    let program = cuda(
        "template <int N> __device__ int up(int x) { return up<N + 1>(x); } __global__ void k(int *p) { p[0] = up<0>(1); }",
    );
    assert!(program.functions.len() < 5_000);
    assert!(program.print().contains("too many instances of `up`"));
}

#[test]
fn class_templates_have_methods_constants_and_specialisations() {
    check_with(
        "template <typename T, int N> struct A { T v[N]; static const int size = N; typedef T type; __device__ T at(int i) const { return v[i]; } };
         template <typename T> struct A<T, 1> { T one; __device__ T at(int) const { return one; } };
         template <typename T> struct Traits { typedef int type; }; template <> struct Traits<float> { typedef double type; };",
        "A<float, 4> *a, A<int, 1> *b",
        "float x = a->at(A<float, 4>::size - 1); int y = b->at(0); Traits<float>::type z = 1; Traits<char>::type w = 1; typename A<long, 2>::type q = 3;",
        "Local x: float = A<float, 4>::at(*a, (4 - 1))
         Local y: int = A<int, 1>::at(*b, 0)
         Local z: double = <double>1
         Local w: int = 1
         Local q: long = 3",
    );
}

#[test]
fn kernels_have_an_instance_for_each_launch_and_instantiation() {
    let program = cuda(
        "template <typename T, int N> __global__ void k(T *a, int n) { __shared__ T s[N]; s[threadIdx.x] = a[n]; }
         template __global__ void k<float, 32>(float *, int);
         void host(double *d) { k<double, 64><<<1, 64>>>(d, 3); k<float, 32><<<2, 32>>>(0, 1); }
         template <typename T> __global__ void deduced(T *a) { a[0] = 1; } void host2(int *p) { deduced<<<1, 1>>>(p); }",
    );
    let names: Vec<_> = program
        .kernels
        .iter()
        .map(|&k| format!("{}<{}>", program.functions[k].name, program.functions[k].template_args.join(", ")))
        .collect();
    assert_eq!(names, ["k<float, 32>", "k<double, 64>", "deduced<int>"]);
}

#[test]
fn a_kernel_that_nothing_instantiates_keeps_its_parameters_open() {
    let program = cuda(
        "template <typename T, int N, typename I = unsigned, int D = 2> __global__ void k(T *a, I n) { I i = threadIdx.x; if (i < n && N > 3) a[i * D] = a[N]; }",
    );
    let kernel = function(&program, "k");
    assert!(kernel.template_args.is_empty());
    let params: Vec<_> = kernel
        .params
        .iter()
        .map(|&p| (program.variables[p].name.as_str(), program.type_name(program.variables[p].ty)))
        .collect();
    assert_eq!(params[0], ("a", "T *".to_owned()));
    assert_eq!(params[1], ("n", "unsigned int".to_owned()));
    assert_eq!(params[2], ("N", "int".to_owned()), "a value parameter is a uniform parameter");
    assert_eq!(params.len(), 3, "defaults are used");
    assert!(kernel.params.iter().all(|&p| program.variables[p].storage == Storage::Param));
    let Type::Pointer { to, .. } = program.types[program.variables[kernel.params[0]].ty] else { panic!() };
    assert_eq!(program.types[to], Type::Unknown("T".to_owned()));
    assert_eq!(program.size_of(to), None);
    assert_eq!(
        body(&program, "k"),
        "Local i: unsigned int = tid.x\nif ((*i < *n) && (*N > 3))\n  [(*a @+ <long>(*i * 2))] = *[(*a @+ <long>*N)]\n"
    );
}

/// The grammar does not read a default with a `*` before the last `>`.
#[test]
fn a_template_with_a_parameter_that_is_not_read_may_mean_another_specialisation() {
    let program = cuda(
        "template <class T, class U = T *> struct S { static const int v = 1; };
         template <class T> struct S<T, T *> { static const int v = 2; };
         __global__ void k(int *x) { x[0] = S<int>::v; }",
    );
    let body = body(&program, "k");
    assert!(body.contains("of which another specialisation may be meant"), "{body}");
}
