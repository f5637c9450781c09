//! Literals, promotions, the usual arithmetic conversions, pointers.

use super::{check, check_with, cuda};
use raceproof::resolve::program::{ExprKind, StmtKind};

/// The type of the initialiser of `auto v = …` in a kernel with one parameter of every type.
#[track_caller]
fn type_of(value: &str, expect: &str) {
    let params = "bool b, char c, unsigned char uc, short s, unsigned short us, int i, unsigned u, long l, \
                  unsigned long ul, float f, double d, int *p, float4 v4";
    let program = cuda(&format!("__global__ void k({params}) {{ auto v = {value}; }}"));
    let kernel = &program.functions[program.kernels[0]];
    let body = kernel.body.as_ref().expect("the kernel has a body");
    let StmtKind::Declare(variable, Some(init)) = &body[0].kind else { panic!("no declaration in {body:?}") };
    assert!(!matches!(init.kind, ExprKind::Unsupported(_)), "{}", program.print());
    assert_eq!(program.type_name(program.variables[*variable].ty), expect, "type of {value}");
}

#[test]
fn literals_take_the_first_type_that_holds_them() {
    type_of("2147483647", "int");
    type_of("2147483648", "long");
    type_of("0x7fffffff", "int");
    type_of("0x80000000", "unsigned int");
    type_of("0xffffffffff", "long");
    type_of("0xffffffffffffffff", "unsigned long");
    type_of("1u", "unsigned int");
    type_of("4294967296u", "unsigned long");
    type_of("1l", "long");
    type_of("1ul", "unsigned long");
    type_of("1ll", "long");
    type_of("1.0", "double");
    type_of("1.0f", "float");
    type_of("'a'", "char");
    type_of("true", "bool");
}

#[test]
fn small_integers_are_promoted() {
    for small in ["b", "c", "uc", "s", "us"] {
        type_of(&format!("{small} + {small}"), "int");
        type_of(&format!("-{small}"), "int");
        type_of(&format!("~{small}"), "int");
        type_of(&format!("{small} << 1ul"), "int");
    }
}

#[test]
fn operands_meet_in_their_common_type() {
    type_of("i + u", "unsigned int");
    type_of("u - i", "unsigned int");
    type_of("u + l", "long");
    type_of("l * ul", "unsigned long");
    type_of("i / ul", "unsigned long");
    type_of("c + l", "long");
    type_of("us + i", "int");
    type_of("i + f", "float");
    type_of("ul * f", "float");
    type_of("f + d", "double");
    type_of("b & b", "int");
    type_of("b ? i : u", "unsigned int");
    type_of("b ? 1 : 2.0", "double");
    type_of("b ? p : 0", "int *");
}

#[test]
fn shifts_keep_the_type_of_their_left_side() {
    type_of("i << ul", "int");
    type_of("u >> l", "unsigned int");
    type_of("l << i", "long");
}

#[test]
fn comparisons_and_logic_are_bool() {
    type_of("i < u", "bool");
    type_of("f == d", "bool");
    type_of("!i", "bool");
    type_of("i && p", "bool");
    type_of("p == 0", "bool");
}

#[test]
fn sizes_are_unsigned_long() {
    type_of("sizeof(int)", "unsigned long");
    type_of("sizeof i * 4", "unsigned long");
    type_of("i * sizeof(float)", "unsigned long");
}

#[test]
fn ids_are_unsigned() {
    type_of("threadIdx.x", "unsigned int");
    type_of("blockIdx.x * blockDim.x + threadIdx.x", "unsigned int");
    type_of("threadIdx.x - 1", "unsigned int");
    type_of("threadIdx", "uint3");
    type_of("warpSize", "int");
}

#[test]
fn pointers_differ_in_long() {
    type_of("p - p", "long");
    type_of("p + 1", "int *");
    type_of("&p[2]", "int *");
    type_of("*p", "int");
    type_of("&p", "int * *");
    type_of("v4.x", "float");
    type_of("&v4.y", "float *");
}

#[test]
fn conversions_are_written_out() {
    check(
        "int i, unsigned u, long l, float f, char c",
        "l = i; i = l; f = i; c = i + u; u = -1; bool b = f; if (i) c = 0;",
        "l = <long>*i
         i = <int>*l
         f = <float>*i
         c = <char>(<unsigned int>*i + *u)
         u = 4294967295
         Local b: bool = <bool>*f
         if <bool>*i
           c = 0",
    );
}

#[test]
fn a_compound_assignment_computes_in_the_common_type() {
    check(
        "char c, unsigned u, long l, float *f, int *p, int i",
        "c += u; u <<= l; l -= 1; f[i] *= 2; p += u; u >>= c; c++; --p;",
        "c +=<unsigned int> *u
         u <<=<unsigned int> *l
         l -=<long> 1
         [(*f @+ <long>*i)] *=<float> <float>2
         p +=<int *> <long>*u
         u >>=<unsigned int> <int>*c
         c++
         --p",
    );
}

#[test]
fn pointers_move_by_signed_elements() {
    check(
        "float *a, unsigned u, float (*m)[8]",
        "a[u] = *(a + 2); *a++ = 1.f; *(a - u) = a[-1]; m[1][u] = 2[a]; a = *m; a = &m[u][3];",
        "[(*a @+ <long>*u)] = *[(*a @+ 2)]
         [a++] = 1.f
         [(*a @+ -<long>*u)] = *[(*a @+ -1)]
         [(*m @+ 1)][<long>*u] = *[(*a @+ 2)]
         a = &[*m]
         a = &[(*m @+ <long>*u)][3]",
    );
}

#[test]
fn casts_of_pointers_keep_their_operand() {
    check(
        "float *a, int i",
        "float4 *v = (float4 *)a; v = reinterpret_cast<float4 *>(a + i); ((int *)a)[i] = (int)3.5f; \
         const float *r = const_cast<const float *>(a); *(volatile int *)(a + 1) = 2; (void)a;",
        "Local v: float4 * = <float4 *>*a
         v = <float4 *>(*a @+ <long>*i)
         [(<int *>*a @+ <long>*i)] = <int>3.5f
         Local r: float * = *a
         [<int *>(*a @+ 1)] = 2
         a",
    );
}

#[test]
fn objects_chosen_by_a_condition_are_chosen_by_address() {
    check(
        "int *a, int *b, bool c, int i",
        "(c ? a : b)[i] = 1; (c ? a[0] : b[i]) = 2; int &r = c ? *a : *b; r = (i++, *a); (i = 1, a[1]) = 3;",
        "[((*c ? *a : *b) @+ <long>*i)] = 1
         [(*c ? (*a @+ 0) : (*b @+ <long>*i))] = 2
         Local r: int * = (*c ? *a : *b)
         [*r] = (i++, *[*a])
         [(i = 1, (*a @+ 1))] = 3",
    );
}

#[test]
fn a_discarded_value_is_not_loaded() {
    check(
        "int *a, int i",
        "a[i]; a[0] = 1, a[1] = 2; i ? a[2] = 3 : a[4];",
        "[(*a @+ <long>*i)]
         ([(*a @+ 0)] = 1, [(*a @+ 1)] = 2)
         (<bool>*i ? [(*a @+ 2)] = 3 : [(*a @+ 4)])",
    );
}

#[test]
fn constants_are_known_where_they_are_used() {
    check_with(
        "#define W 8\nenum { E = W * 2, F }; const int K = E + 1; constexpr unsigned M = 1u << 4; int host;",
        "int *a",
        "const int n = K * 2; __shared__ float s[M][W + 1]; a[n] = F + M; static_assert(K == 17, \"\");",
        "Local n: int = (17 * 2)
         Shared s: float[16][9]
         [(*a @+ 34)] = <int>(17 + 16)",
    );
}

#[test]
fn a_constant_of_the_host_that_is_no_constant_stays_a_name() {
    let program = cuda("int host = 3; __constant__ int c = 4; __global__ void k(int *a) { a[0] = host + c; }");
    let known: Vec<_> = program.variables.iter().filter(|(_, v)| ["host", "c"].contains(&v.name.as_str())).collect();
    assert_eq!(known.len(), 2, "{}", program.print());
    assert!(known.iter().all(|(_, variable)| variable.constant.is_none()), "the host may change both");
}

#[test]
fn an_expression_list_gives_its_lists_parts() {
    check(
        "int *a, int i",
        "int x[4] = {1, i}; int y[] = {1, 2, 3}; float m[2][2] = {{1, 2}, {3}}; float w[2][2] = {1, 2, 3, 4}; \
         int z[4] = {[2] = 5}; float4 v = {1}; int q{i};",
        "Local x: int[4] = int[4]{1, *i}
         Local y: int[3] = int[3]{1, 2, 3}
         Local m: float[2][2] = float[2][2]{float[2]{<float>1, <float>2}, float[2]{<float>3}}
         Local w: float[2][2] = float[2][2]{float[2]{<float>1, <float>2}, float[2]{<float>3, <float>4}}
         Local z: int[4] = int[4]{0, 0, 5}
         Local v: float4 = float4{<float>1, 0, 0, 0}
         Local q: int = *i",
    );
}
