//! Layout: alignment, unions, bit-fields, packing, nesting, vectors; members through pointers.

use super::{check_with, cuda, program};
use raceproof::resolve::program::{Program, Record, Type};
use raceproof::source::Language;

/// The record `S` of a text.
fn record(program: &Program) -> &Record {
    let found = program.records.iter().map(|(_, record)| record).find(|record| record.name == "S");
    found.unwrap_or_else(|| panic!("no S in {:?}", program.records))
}

/// Checks size, alignment and offsets of `S`.
#[track_caller]
fn layout_in(language: Language, text: &str, bytes: u64, align: u64, offsets: &[(&str, u64)]) {
    let qualifier = if language == Language::Cuda { "__global__" } else { "__kernel" };
    let space = if language == Language::Cuda { "" } else { "__global" };
    let tag = if language == Language::Cuda { "" } else { "struct" };
    let program = program(language, &format!("{text} {qualifier} void k({space} {tag} S *s) {{ }}"));
    let found = record(&program);
    assert_eq!((found.bytes, found.align), (Some(bytes), align), "{found:?}");
    let fields: Vec<_> = found.fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    assert_eq!(fields, offsets);
}

#[track_caller]
fn layout(text: &str, bytes: u64, align: u64, offsets: &[(&str, u64)]) {
    layout_in(Language::Cuda, text, bytes, align, offsets);
}

#[test]
fn fields_are_aligned_and_the_end_is_padded() {
    layout(
        "struct S { char a; int b; char c; double d; char e; };",
        32,
        8,
        &[("a", 0), ("b", 4), ("c", 8), ("d", 16), ("e", 24)],
    );
    layout("struct S { char a[3]; short b; bool c; };", 8, 2, &[("a", 0), ("b", 4), ("c", 6)]);
    layout("struct S { int *p; char c; };", 16, 8, &[("p", 0), ("c", 8)]);
}

#[test]
fn a_union_lays_its_fields_over_each_other() {
    layout("union S { int a; double b; char c[12]; };", 16, 8, &[("a", 0), ("b", 0), ("c", 0)]);
}

#[test]
fn records_nest_and_anonymous_members_are_lifted() {
    layout(
        "struct In { char x; int y; }; struct S { char a; In in; union { int u; float f; }; In v[2]; };",
        32,
        4,
        &[("a", 0), ("in", 4), ("u", 12), ("f", 12), ("v", 16)],
    );
}

#[test]
fn bases_come_first() {
    layout("struct B { int b; }; struct S : B { char c; };", 8, 4, &[("b", 0), ("c", 4)]);
    layout("struct E { }; struct S : E { int c; };", 4, 4, &[("c", 0)]);
}

#[test]
fn packed_and_aligned_records() {
    layout("struct __attribute__((packed)) S { char a; int b; short c; };", 7, 1, &[("a", 0), ("b", 1), ("c", 5)]);
    layout("struct __align__(16) S { int a; };", 16, 16, &[("a", 0)]);
    layout("struct alignas(8) S { int a; };", 8, 8, &[("a", 0)]);
}

#[test]
fn vectors_of_three_take_four_lanes_in_opencl_only() {
    layout("struct S { char a; float3 v; float3 w; };", 28, 4, &[("a", 0), ("v", 4), ("w", 16)]);
    layout("struct S { char a; float4 v; float2 w; };", 48, 16, &[("a", 0), ("v", 16), ("w", 32)]);
    layout("struct S { char a; double4 v; };", 48, 16, &[("a", 0), ("v", 16)]);
    let text = "struct S { char a; float3 v; float b; };";
    layout_in(Language::OpenCl, text, 48, 16, &[("a", 0), ("v", 16), ("b", 32)]);
    layout_in(Language::OpenCl, "struct S { char a; float8 v; };", 64, 32, &[("a", 0), ("v", 32)]);
}

#[test]
fn adjacent_bit_fields_are_one_location() {
    let program = cuda(
        "struct S { char c; int a : 3; int b : 7; short g; unsigned d : 20; unsigned e : 20; int f; }; __global__ void k(S *s) { s->b = s->e; }",
    );
    let found = record(&program);
    let groups: Vec<_> = found.fields.iter().map(|f| (f.name.as_str(), f.offset, f.bit_group_bytes)).collect();
    assert_eq!(
        groups,
        [
            ("c", 0, None),
            ("a", 1, Some(2)),
            ("b", 1, Some(2)),
            ("g", 4, None),
            ("d", 8, Some(7)),
            ("e", 8, Some(7)),
            ("f", 16, None)
        ]
    );
    assert_eq!(found.bytes, Some(20));
}

#[test]
fn an_unknown_field_makes_the_layout_unknown() {
    let program = cuda("struct S { int a; Mystery m; int b; }; __global__ void k(S *s) { s->a = 1; }");
    assert_eq!(record(&program).bytes, None);
    let forward = cuda("struct S; __global__ void k(S *s) { }");
    assert_eq!(record(&forward).bytes, None);
}

#[test]
fn records_that_point_to_themselves_are_complete() {
    let program = cuda("struct S { int key; S *next; }; __global__ void k(S *s) { s->next->next->key = 1; }");
    assert_eq!(record(&program).bytes, Some(16));
    let Type::Pointer { to, .. } = program.types[record(&program).fields[1].ty] else { panic!() };
    assert_eq!(program.size_of(to), Some(16));
}

#[test]
fn members_through_pointers_arrays_and_values() {
    check_with(
        "struct In { int x, y; }; struct S { In a[2]; In *p; float4 v; }; __device__ S make() { S s; return s; }",
        "S *s, int i, S val",
        "s->a[i].y = s[i].p->x; (*s).v.w = val.a[1].x; s->p[i].x = make().v.y; (&val)->v.x += 1; In c = {s->a[0].x, 2}; s->a[0] = c;",
        "[*s].0[<long>*i].1 = *[*[(*s @+ <long>*i)].1].0
         [*s].2.s3 = <float>*val.0[1].0
         [(*[*s].1 @+ <long>*i)].0 = <int>make().2.s1
         val.2.s0 +=<float> <float>1
         Local c: In = In{*[*s].0[0].0, 2}
         [*s].0[0] = *c",
    );
}

#[test]
fn constructors_run_on_their_variable() {
    check_with(
        "struct S { int a, b; int c = 7; __device__ S(int x) : a(x), b(x + 1) { a += b; } __device__ S() { a = 0; } };",
        "int *p, int i",
        "S s(i); S t; S u = S(2); p[0] = s.a;",
        "Local temporary: S
         Local s: S
         S::S(&s, *i)
         Local t: S
         S::S(&t)
         Local u: S = (S::S(&temporary, 2), *temporary)
         [(*p @+ 0)] = *s.0",
    );
}

#[test]
fn code_that_runs_unseen_is_not_dropped() {
    let guard = "struct G { int x; __device__ ~G() { __syncthreads(); } };";
    check_with(guard, "int *p", "G g;", "unsupported: destructor of G\nLocal g: G");
    // One that is only declared is defined elsewhere; one that is left to the compiler does nothing.
    let elsewhere = "struct E { int x; __device__ ~E(); };";
    check_with(elsewhere, "int *p", "E e;", "unsupported: destructor of E\nLocal e: E");
    check_with("struct L { int x; ~L() = default; };", "int *p", "L l;", "Local l: L");
    check_with(
        &format!("{guard} struct H {{ G inner[2]; }};"),
        "int *p",
        "H h;",
        "unsupported: destructor of H\nLocal h: H",
    );
    check_with(
        "struct C { int x; __device__ C() { x = 0; } __device__ C(const C &o) { x = o.x + 1; } };",
        "C *p",
        "C c = p[1];",
        "Local temporary: C\nLocal c: C = (C::C(&temporary, (*p @+ 1)), *temporary)",
    );
    check_with(
        "struct B { int b; __device__ B() { b = 1; } }; struct D : B { int d; __device__ D(int x) : d(x) { } };",
        "int *p",
        "D d(2); p[0] = d.b;",
        "Local d: D\nD::D(&d, 2)\n[(*p @+ 0)] = *d.0",
    );
}

#[test]
fn constructors_of_bases_run_first() {
    let program = cuda(
        "struct B { int b; __device__ B() { b = 1; } }; struct D : B { int d; __device__ D(int x) : d(x) { } }; __global__ void k() { D d(2); }",
    );
    assert_eq!(super::body(&program, "D::D"), "B::B(<B *>*this)\n[*this].1 = *x\n");
}

#[test]
fn defaulted_members_do_what_none_would_do() {
    check_with(
        "struct S { int a; S() = default; S(const S &) = default; __device__ S(int x) { a = x; } };",
        "S *p",
        "S s; S t = p[0]; p[1] = t;",
        "Local s: S
         Local t: S = *[(*p @+ 0)]
         [(*p @+ 1)] = *t",
    );
}
