//! Lowering from source text, one test for each trap: what is expected are lines of the calculus, in order.

use raceproof::calculus::{Kernel, text};
use raceproof::front::tree_sitter;
use raceproof::preprocess::Options;
use raceproof::settle::Unsettled;
use raceproof::source::{Language, SourceMap};
use raceproof::{launch, lower};

/// The kernels of a source text.
fn lowered(language: Language, source: &str) -> Vec<Kernel> {
    let mut sources = SourceMap::new();
    let main = sources.add_file("test", source);
    let answer = tree_sitter::parse(sources, main, &Options::new(language));
    lower::kernels(&launch::resolve(answer.unit).launched.program).into_iter().map(Unsettled::settled).collect()
}

/// Checks that the last kernel of `source` has these lines in this order; `!` before a line: nowhere.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    check_in(Language::Cuda, source, expected);
}

#[track_caller]
fn check_in(language: Language, source: &str, expected: &[&str]) {
    let kernels = lowered(language, source);
    let printed = text::print(kernels.last().expect("a kernel"));
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let mut rest = lines.as_slice();
    for line in expected {
        if let Some(absent) = line.strip_prefix('!') {
            assert!(!printed.contains(absent), "`{absent}` should not occur in\n{printed}");
            continue;
        }
        let Some(at) = rest.iter().position(|found| found == line) else {
            panic!("no line `{line}` (in this order) in\n{printed}");
        };
        rest = &rest[at + 1..];
    }
}

#[test]
fn saxpy_reads_both_arrays_and_writes_under_its_guard() {
    check(
        "__global__ void k(int n, float a, float *x, float *y) {
           int i = blockIdx.x * blockDim.x + threadIdx.x;
           if (i < n) y[i] = a * x[i] + y[i]; }",
        &[
            "let i = convert<i32>(bid.x * bdim.x + tid.x)",
            "if i < n {",
            "let x.1 = read x[convert<i64>(i) * 4; 4] @0",
            "let y.2 = read y[convert<i64>(i) * 4; 4] @1",
            "write y[convert<i64>(i) * 4; 4] := `f+`(`f*`(a, x.1):opaque4, y.2):opaque4 @2",
        ],
    );
}

#[test]
fn a_reduction_has_a_geometric_loop_and_both_barriers() {
    check(
        "__global__ void k(float *g) { extern __shared__ float s[]; unsigned t = threadIdx.x; s[t] = g[t];
           __syncthreads();
           for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); } }",
        &[
            "shared s: element 4",
            "sync block shared global @2",
            "for d = bdim.x / 2 while d > 0 step >> 1i32 @7 {",
            "let s.2 = read s[convert<i64>(t + d) * 4; 4] @3",
            "let s.3 = read s[convert<i64>(t) * 4; 4] @4",
            "write s[convert<i64>(t) * 4; 4] := `f+`(s.3, s.2):opaque4 @5",
            "sync block shared global @6",
        ],
    );
}

#[test]
fn subscripts_of_several_dimensions_become_bytes() {
    check(
        "__global__ void k(int y) { __shared__ float s[8][33]; s[y][threadIdx.x] = 0; }",
        &[
            "shared s: element 4, size 1056, inner [33]",
            "write s[convert<i64>(y) * 132 + convert<i64>(tid.x) * 4; 4] := float(0):opaque4 @0",
        ],
    );
}

#[test]
fn unsigned_index_arithmetic_stays_unsigned() {
    check("__global__ void k(int *a, unsigned n) { a[n - 1] = 1; }", &["write a[convert<i64>(n - 1) * 4; 4] := 1 @0"]);
}

#[test]
fn reads_in_conditions_keep_their_short_circuit_guard() {
    check(
        "__global__ void k(int *a, int n) { int i = threadIdx.x; if (i < n && a[i] > 0) a[0] = 1; }",
        &[
            "let t.2 = i < n",
            "if t.2 {",
            "let a.1 = read a[convert<i64>(i) * 4; 4] @0",
            "let t.2 = a.1 > 0",
            "}",
            "if t.2 {",
            "write a[0; 4] := 1 @1",
        ],
    );
    check(
        "__global__ void k(int *a, int n) { if (n > 3 || a[n]) a[0] = 1; }",
        &["let t.2 = n > 3", "if !t.2 {", "let a.1 = read a[convert<i64>(n) * 4; 4] @0", "let t.2 = a.1 != 0"],
    );
}

#[test]
fn a_division_is_not_evaluated_outside_its_guard() {
    check(
        "__global__ void k(int *a, int n) { if (n != 0 && 8 / n > 2) a[0] = 1; }",
        &["let t.1 = n != 0", "if t.1 {", "let t.1 = 8 / n > 2"],
    );
}

#[test]
fn reads_in_loop_conditions_recur_at_every_test() {
    check(
        "__global__ void k(int *a, int *b) { while (a[0]) b[1] = 2; }",
        &[
            "let a.1 = read a[0; 4] @0",
            "let test.2 = a.1 != 0",
            "loop while test.2 @3 {",
            "write b[4; 4] := 2 @1",
            "let a.3 = read a[0; 4] @2",
            "let test.2 = a.3 != 0",
        ],
    );
    check(
        "__global__ void k(int *a) { for (int i = 0; i < a[0]; i++) a[i] = 2; }",
        &["loop while test.2 @3 {", "let i = i + 1", "let a.3 = read a[0; 4] @2", "let test.2 = i < a.3"],
    );
    // Where nobody writes what is read, the first bound holds, and it is read again all the same.
    check(
        "__global__ void k(int *a, int *b) { for (int i = 0; i < a[0]; i++) b[i] = 2; }",
        &["for i = i while i < a.1 step + 1 @3 {", "let a.3 = read a[0; 4] @2"],
    );
    check(
        "__global__ void k(int *a) { do { a[1] = 1; } while (a[0]); }",
        &["loop @2 {", "write a[4; 4] := 1 @0", "let a.1 = read a[0; 4] @1", "} while test.2"],
    );
}

#[test]
fn after_a_break_no_test_is_evaluated() {
    check(
        "__global__ void k(int *a) { while (a[0]) { if (a[1]) break; a[2] = 1; } }",
        &[
            "let break.3 = false",
            "loop while !break.3 && test.4 @4 {",
            "let break.3 = true",
            "if !break.3 {",
            "write a[8; 4] := 1 @2",
            "if !break.3 {",
            "let a.5 = read a[0; 4] @3",
        ],
    );
}

#[test]
fn continue_skips_the_body_and_not_the_step() {
    check(
        "__global__ void k(int *a, int n) { for (int i = 0; i < n; i++) { if (i == 3) continue; a[i] = 1; } }",
        &[
            "for i = 0 while i < n step + 1 @1 {",
            "let continue.1 = false",
            "let continue.1 = true",
            "if !continue.1 {",
            "write a[convert<i64>(i) * 4; 4] := 1 @0",
        ],
    );
}

#[test]
fn a_return_guards_what_follows_by_the_variable_alone() {
    let source = "__global__ void k(int *a, int n) { int i = threadIdx.x; if (i >= n) return; a[i] = 1;
                  for (int j = 0; j < n; j++) { if (j == 5) return; a[j] = 2; } a[i] = 3; }";
    check(
        source,
        &[
            "returned returned",
            "let returned = false",
            "if i >= n {",
            "let returned = true",
            "if !returned {",
            "write a[convert<i64>(i) * 4; 4] := 1 @0",
            "loop while !returned && j < n @2 {",
            "if !returned {",
            "write a[convert<i64>(j) * 4; 4] := 2 @1",
            "if !returned {",
            "write a[convert<i64>(i) * 4; 4] := 3 @3",
        ],
    );
    assert!(lowered(Language::Cuda, source)[0].returned.is_some());
}

#[test]
fn a_return_at_the_end_needs_no_flag() {
    check("__global__ void k(int *a, int n) { if (n) { a[0] = 1; return; } else a[1] = 2; }", &["!returned"]);
}

#[test]
fn an_early_return_of_a_device_function_does_not_constrain_its_caller() {
    check(
        "__device__ int f(int *p, int i) { if (i < 3) return p[i]; p[0] = 1; return 5; }
         __global__ void k(int *a, int n) { int v = f(a, n); a[v] = 7; }",
        &[
            "if n < 3 {",
            "let a.2 = read a[convert<i64>(n) * 4; 4] @0",
            "let f.result = a.2",
            "let f.returned.1 = true",
            "if !f.returned.1 {",
            "write a[0; 4] := 1 @1",
            "let f.result = 5",
            "}",
            "let v = f.result",
            "write a[convert<i64>(v) * 4; 4] := 7 @2",
            "!\n  if !f.returned.1 {\n    let v",
        ],
    );
}

#[test]
fn recursion_is_unsupported() {
    check(
        "__device__ int f(int n) { return n ? n * f(n - 1) : 1; }
         __global__ void k(int *a, int n) { a[f(n)] = 1; }",
        &["unsupported \"recursive call of 'f'\""],
    );
}

#[test]
fn calls_in_one_macro_are_told_apart() {
    check(
        "#define TWICE(x) (x + x)
         __device__ int f(int *p) { return p[0]; }
         __global__ void k(int *a) { a[1] = TWICE(f(a)); }",
        &["let a.1 = read a[0; 4] @0", "let t.2 = a.1", "let a.3 = read a[0; 4] @1", "write a[4; 4] := t.2 + a.3 @2"],
    );
}

#[test]
fn references_and_pointers_to_locals_stay_variables() {
    check(
        "__device__ void bump(int &x, int *y) { x += 2; *y = x; }
         __global__ void k(int *a) { int p = 1, q; bump(p, &q); a[q] = p; }",
        &["let p = p + 2", "let q = p", "write a[convert<i64>(q) * 4; 4] := p @0", "!private"],
    );
}

#[test]
fn local_arrays_are_split_unless_a_variable_indexes_them() {
    check(
        "__global__ void k(int *a) { int t[4] = {1, 2}; t[3] = t[1]; a[t[3]] = 0; }",
        &["let `t[3]` = `t[1]`", "write a[convert<i64>(`t[3]`) * 4; 4] := 0 @0", "!private"],
    );
    check(
        "__global__ void k(int *a, int n) { int t[4]; t[n] = 1; a[t[0]] = 0; }",
        &["private t: element 4, size 16", "write t[convert<i64>(n) * 4; 4] := 1 @0", "let t.1 = read t[0; 4] @1"],
    );
}

#[test]
fn a_private_array_keeps_each_initial_value() {
    check(
        "__global__ void k(int *a, int n) { int t[2] = {7, 8}; a[t[n]] = 0; }",
        &["write t[0; 4] := 7 @0", "write t[4; 4] := 8 @1", "let t.1 = read t[convert<i64>(n) * 4; 4] @2"],
    );
}

#[test]
fn a_device_pointer_that_only_the_host_sets_is_like_a_parameter() {
    check(
        "__device__ float *y; __global__ void k(int i) { y[i] = 1; }",
        &["global param y#2: element 4", "!unsupported", "let y.1 = read y[0; 8] @0"],
    );
    let set = "__device__ float *y; __global__ void s(float *a) { y = a; } __global__ void k(int i) { y[i] = 1; }";
    let elsewhere = "write loaded_memory[unknown.3 + convert<i64>(i) * 4; 4 align 4] := float(1):opaque4 @2";
    check(set, &["!unsupported", elsewhere]);
    let initial = "__device__ float b[4]; __device__ float *y = b; __global__ void k(int i) { y[i] = 1; }";
    check(initial, &["!unsupported", elsewhere]);
}

#[test]
fn a_conditional_pointer_accesses_either_array_under_its_tag() {
    check(
        "__global__ void k(int *a, int *b, int n) { int *p = n > 3 ? a : b + 1; p[n] = 1; }",
        &[
            "if n > 3 {",
            "write a[(n > 3 ? 0i64 : 4) + convert<i64>(n) * 4; 4] := 1 @0",
            "} else {",
            "write b[(n > 3 ? 0i64 : 4) + convert<i64>(n) * 4; 4] := 1 @1",
        ],
    );
    check(
        "__global__ void k(int *a, int *b, int n) { (n > 3 ? a : b)[n] = 1; }",
        &[
            "if n > 3 {",
            "write a[convert<i64>(n) * 4; 4] := 1 @0",
            "} else {",
            "write b[convert<i64>(n) * 4; 4] := 1 @1",
        ],
    );
}

#[test]
fn swapped_buffers_are_followed_around_the_loop() {
    let source = "__global__ void k(float *in, float *out, int n) { float *p = in, *q = out;
        for (int i = 0; i < n; i++) { q[threadIdx.x] = p[threadIdx.x + 1]; __syncthreads();
          float *t = p; p = q; q = t; } }";
    let kernel = lowered(Language::Cuda, source).remove(0);
    let printed = text::print(&kernel);
    for access in ["read in[p.offset", "read out[p.offset", "write in[q.offset", "write out[q.offset"] {
        assert!(printed.contains(access), "{access} in\n{printed}");
    }
    assert!(kernel.unsupported.is_empty(), "{printed}");
}

#[test]
fn fields_lanes_and_casts_are_byte_ranges() {
    let head = "struct S { float4 v; int id; };";
    check(
        &format!(
            "{head} __global__ void k(S *s, float *f, int n) {{
            s[n].id = 3; s[n].v.y = 2; ((float4 *)f)[n].z = 1; S w = s[1]; s[2] = w; f[0] = w.v.x; }}"
        ),
        &[
            "global param s: element 32",
            "write s[convert<i64>(n) * 32 + 16; 4] := 3 @0",
            "write s[convert<i64>(n) * 32 + 4; 4] := float(2):opaque4 @1",
            "write f[convert<i64>(n) * 16 + 8; 4] := float(1):opaque4 @2",
            "let s.1 = read s[32; 32] @3",
            "write f[0; 4] := w.v.x @5",
        ],
    );
}

#[test]
fn an_atomic_on_a_field_is_an_atomic_access() {
    check(
        "struct S { int a, b; }; __global__ void k(S *s, int *o) { atomicAdd(&s[3].b, 1); o[atomicAdd(&s[0].a, 2)] = 1; }",
        &[
            "atomic add s[28; 4](1) relaxed grid @0",
            "let old.1 = atomic add s[0; 4](2) relaxed grid @1",
            "write o[convert<i64>(old.1) * 4; 4] := 1 @2",
        ],
    );
}

#[test]
fn scalars_and_methods_and_struct_parameters_are_accessed() {
    check(
        "__device__ int counter;
         struct V { float *d; int w; __device__ float &at(int i) { return d[i * w]; } };
         __global__ void k(V v, V u) { v.at(threadIdx.x) = u.d[u.w]; counter++; }",
        &[
            "global param v.d: element 4",
            "global counter: element 4, size 4, filled elsewhere",
            "let u.d.1 = read u.d[convert<i64>(u.w) * 4; 4] @0",
            "let t.2 = u.d.1",
            "write v.d[v.d.offset + convert<i64>(convert<i32>(tid.x) * v.w#2) * 4; 4 align 4] := t.2 @1",
            "let counter.3 = read counter[0; 4] @2",
            "write counter[0; 4] := counter.3 + 1 @3",
        ],
    );
}

#[test]
fn pointers_from_memory_may_point_anywhere() {
    check(
        "__global__ void k(float **p, int i) { p[i][1] = 2; }",
        &[
            "!unsupported",
            "global loaded_memory: element 1",
            "let p.1 = read p[convert<i64>(i) * 8; 8] @0",
            "havoc unknown.2 pointer \"a pointer that was loaded from 'p'\"",
            "write p[unknown.3 + 4; 4 align 4] := float(2):opaque4 @1",
            "write loaded_memory[unknown.3 + 4; 4 align 4] := float(2):opaque4 @2",
        ],
    );
}

#[test]
fn what_a_pointer_at_a_fixed_place_leads_to_is_an_array() {
    check(
        "struct S { int n; float *rows; }; __global__ void k(S *s) { if (s[1].rows) s[1].rows[2] = s->n; }",
        &[
            "kernel k(`s[1].rows != 0`: bool) {",
            "global param s: element 16",
            "global param `s[1].rows`: element 4, held in s at 24, given `s[1].rows != 0`",
            "!havoc",
        ],
    );
}

#[test]
fn memory_functions_touch_their_ranges() {
    check(
        "__global__ void k(int *a, int *b, int n) { memcpy(a, b + 1, 16); memset(a + n, 0, n); }",
        &[
            "let copied.1 = read b[4; 16] @0",
            "write a[0; 16] @1",
            "for byte.2 = 0 while byte.2 < convert<i64>(n) step + 1 @3 {",
        ],
    );
}

#[test]
fn effects_happen_in_order_and_values_are_kept_from_them() {
    check(
        "__global__ void k(int *a, int *b) { int i = 0, j = 9, m; a[i++] = b[j--]; m = i = 5; i = j + (m = 3); a[m] = i;
           int x = 1; int y = (x = x + 1) * x; a[x] = y; a[i++] = i; a[--j] += j; }",
        &[
            "let t.1 = j",
            "let j = j - 1",
            "let b.2 = read b[convert<i64>(t.1) * 4; 4] @0",
            "let t.3 = b.2",
            "let t.4 = i",
            "let i = i + 1",
            "write a[convert<i64>(t.4) * 4; 4] := t.3 @1",
            "let i = 5",
            "let m = 5",
            "let t.5 = j",
            "let m = 3",
            "let i = t.5 + 3",
            "let t.6 = x + 1",
            "let x = t.6",
            "let y = t.6 * x",
            "let t.7 = i",
            "let t.8 = i",
            "let i = i + 1",
            "write a[convert<i64>(t.8) * 4; 4] := t.7 @4",
            "let t.9 = j",
        ],
    );
}

#[test]
fn operands_come_from_left_to_right() {
    check(
        "struct two { int x, y; };
         __device__ int next(int &i) { return ++i; }
         __global__ void k(int *a, int n) { int i = n; a[i << (i = 2)] = 0; int *p = a; p[(p = a + n, 1)] = 1;
           two t = {i, ++i}; a[t.x] = t.y; a[i - next(i)] = 2; }",
        &[
            "let t.1 = i",
            "let i = 2",
            "write a[convert<i64>(t.1 << 2) * 4; 4] := 0 @0",
            "let t.2 = p.offset",
            "let p.offset = convert<i64>(n) * 4",
            "write a[t.2 + 4; 4 align 4] := 1 @1",
            "let t.3 = i",
            "let t.4 = i + 1",
            "let t.x = t.3",
            "let t.y = t.4",
            "let t.5 = i",
            "let t.6 = i + 1",
            "write a[convert<i64>(t.5 - t.6) * 4; 4] := 2 @3",
        ],
    );
}

#[test]
fn compound_assignments_read_then_write() {
    check(
        "__global__ void k(int *a, int n) { a[n] += 2; a[n]++; --a[n]; }",
        &[
            "let a.1 = read a[convert<i64>(n) * 4; 4] @0",
            "write a[convert<i64>(n) * 4; 4] := a.1 + 2 @1",
            "let a.2 = read a[convert<i64>(n) * 4; 4] @2",
            "write a[convert<i64>(n) * 4; 4] := a.2 + 1 @3",
            "let a.3 = read a[convert<i64>(n) * 4; 4] @4",
            "write a[convert<i64>(n) * 4; 4] := a.3 - 1 @5",
        ],
    );
}

#[test]
fn reads_in_arms_indices_arguments_and_unused_values_are_kept() {
    check(
        "__device__ int id(int x) { return 1; }
         __global__ void k(int *a, int n) { a[a[0]] = n ? a[1] : a[2]; id(a[3]); a[4]; }",
        &[
            "if n != 0 {",
            "let a.1 = read a[4; 4] @0",
            "} else {",
            "let a.2 = read a[8; 4] @1",
            "let a.4 = read a[0; 4] @2",
            "write a[convert<i64>(a.4) * 4; 4] := t.3 @3",
            "let a.5 = read a[12; 4] @4",
            "let a.6 = read a[16; 4] @5",
        ],
    );
}

#[test]
fn switch_cases_exclude_each_other() {
    check(
        "__global__ void k(int *a, int m) { switch (m) { case 1: a[1] = 1; break; default: a[9] = 9; break;
           case 2: case 3: a[2] = 2; break; } }",
        &[
            "if m == 1 {",
            "write a[4; 4] := 1 @0",
            "} else {",
            "if m == 2 || m == 3 {",
            "write a[8; 4] := 2 @2",
            "} else {",
            "write a[36; 4] := 9 @1",
        ],
    );
}

#[test]
fn switch_cases_fall_through_and_break_leaves_only_the_switch() {
    check(
        "__global__ void k(int *a, int m) { for (int i = 0; i < 4; i++) { switch (m) { case 1: a[1] = 1;
           default: if (i == 2) break; if (i == 3) continue; a[2] = 2; case 7: a[7] = 7; } a[8] = 8; } }",
        &[
            "let matched.1 = matched.1 || m == 1",
            "if matched.1 {",
            "write a[4; 4] := 1 @0",
            "let matched.1 = matched.1 || !(m == 1 || m == 7)",
            "let break.2 = true",
            "if !break.2 {",
            "let continue.3 = true",
            "write a[8; 4] := 2 @1",
            "let matched.1 = matched.1 || m == 7",
            "write a[28; 4] := 7 @2",
            "if !continue.3 {",
            "write a[32; 4] := 8 @3",
        ],
    );
}

#[test]
fn unknown_calls_reach_their_pointer_arguments() {
    check(
        "__global__ void k(int *a, int *b) { foo(a + 1); b[bar(3)] = 1; }",
        &[
            "unsupported \"call of 'foo', which is not defined\" touches a and barriers",
            "havoc unknown.2 call \"foo\"",
            "passes unknown.2",
            "write b[int(bar(3):opaque1):i64 * 4; 4] := 1 @0",
        ],
    );
}

#[test]
fn inline_assembly_that_computes_is_harmless_and_the_rest_is_not() {
    check(
        "__global__ void k(int *a) { int x; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); a[x] = 1; }",
        &[
            "!unsupported",
            "let lane.1 = ((tid.z * bdim.y + tid.y) * bdim.x + tid.x) % 32",
            "let x = convert<i32>(lane.1)",
        ],
    );
    check(
        "__global__ void k(int *a) { asm volatile(\"multimem.red.relaxed.sys.global.add.u32 [%0], 1;\" :: \"l\"(a)); }",
        &["unsupported \"inline assembly that may touch memory or other threads\""],
    );
}

/// CUDA declares `min` for each type that computes as it is: a template beside it is called for the others.
#[test]
fn templates_beside_builtins_are_called_where_no_builtin_takes_the_types() {
    check(
        "template <class T> __device__ T min(T a, T b) { return a + 0 * b; }
         __global__ void k(int *out, short s) { int i = threadIdx.x; out[min(i, 0)] = i; out[min(s, s)] = 1; }",
        &[
            "write out[convert<i64>(min(i, 0)) * 4; 4] := i @0",
            "write out[convert<i64>(convert<i16>(convert<i32>(s) + 0 * convert<i32>(s))) * 4; 4] := 1 @1",
        ],
    );
}

/// Inline PTX means what the functions of the language mean, for every operation, scope and address space.
#[test]
fn atomics_of_ptx_are_those_of_the_language() {
    let operations = [
        ("add.u32", "atomicAdd", "unsigned", "r"),
        ("add.s32", "atomicAdd", "int", "r"),
        ("add.u64", "atomicAdd", "unsigned long long", "l"),
        ("min.s32", "atomicMin", "int", "r"),
        ("min.u32", "atomicMin", "unsigned", "r"),
        ("max.s32", "atomicMax", "int", "r"),
        ("max.u64", "atomicMax", "unsigned long long", "l"),
        ("and.b32", "atomicAnd", "unsigned", "r"),
        ("or.b32", "atomicOr", "unsigned", "r"),
        ("xor.b64", "atomicXor", "unsigned long long", "l"),
        ("inc.u32", "atomicInc", "unsigned", "r"),
        ("dec.u32", "atomicDec", "unsigned", "r"),
        ("exch.b32", "atomicExch", "unsigned", "r"),
        ("cas.b32", "atomicCAS", "unsigned", "r"),
        ("cas.b64", "atomicCAS", "unsigned long long", "l"),
    ];
    let scopes = [("", ""), (".gpu", ""), (".cta", "_block"), (".sys", "_system")];
    let atomics = |body: &str, ty: &str| -> Vec<String> {
        let source =
            format!("__global__ void k({ty} *a, {ty} *o, {ty} v) {{ {ty} x = 0; {body} o[threadIdx.x] = x; }}");
        let printed = text::print(lowered(Language::Cuda, &source).last().expect("a kernel"));
        let atomic = |line: &str| line.find("atomic ").map(|at| line[at..].to_owned());
        printed.lines().filter_map(atomic).collect()
    };
    for (operation, function, ty, register) in operations {
        let (name, _) = operation.split_once('.').expect("an operation and a type");
        let is_exchange = name == "cas";
        for (scope, suffix) in scopes {
            let compared = if is_exchange { ", v" } else { "" };
            let wanted = atomics(&format!("x = {function}{suffix}(&a[threadIdx.x]{compared}, v + 1);"), ty);
            assert_eq!(wanted.len(), 1, "{function}{suffix}");
            let place = "a + threadIdx.x";
            for space in ["", ".global"] {
                let (more, given) = match is_exchange {
                    true => (", %3", format!("\"{register}\"(v), \"{register}\"(v + 1)")),
                    false => ("", format!("\"{register}\"(v + 1)")),
                };
                let asm = format!(
                    "asm volatile(\"atom.relaxed{scope}{space}.{operation} %0, [%1], %2{more};\" \
                     : \"={register}\"(x) : \"l\"({place}), {given} : \"memory\");"
                );
                // A scope comes with an order.
                let asm = if scope.is_empty() { asm.replace("atom.relaxed", "atom") } else { asm };
                assert_eq!(atomics(&asm, ty), wanted, "{asm}");
            }
        }
    }
}

#[test]
fn counted_loops_need_a_fixed_bound_and_a_variable_of_their_own() {
    check(
        "__global__ void k(int *a, int n) { for (int i = 0; i < n; i++) { n--; a[i] = 1; } }",
        &["loop while i < n#2 @1 {"],
    );
    check(
        "__global__ void k(int *a, int n) { for (int i = 0; i < n; i++) { i += a[i]; } }",
        &["loop while i < n @1 {"],
    );
    check(
        "__global__ void k(int *a, unsigned n) { for (int i = 0; i < n; i++) a[i] = 1; }",
        &["loop while convert<u32>(i) < n @1 {"],
    );
    check(
        "__global__ void k(int *a) { for (int i = threadIdx.x; i < blockDim.x; i += blockDim.x) a[i] = 1; }",
        &["for i = convert<i32>(tid.x) while i < convert<i32>(bdim.x) step + convert<i32>(bdim.x) @1 {"],
    );
    check(
        "__global__ void k(int *a, int n) { for (int i = n; i < blockDim.x; i++) a[i] = 1; }",
        &["loop while convert<u32>(i) < bdim.x @1 {"],
    );
}

#[test]
fn a_shift_that_may_leave_the_type_is_not_counted() {
    check(
        "__global__ void k(int *a) { for (int i = 1; i < gridDim.x; i <<= 1) a[i] = 1; }",
        &["loop while convert<u32>(i) < gdim.x @1 {"],
    );
    check(
        "__global__ void k(int *a) { for (int i = 1; i < blockDim.x; i <<= 1) a[i] = 1; }",
        &["for i = 1 while i < convert<i32>(bdim.x) step << 1 @1 {"],
    );
}

#[test]
fn pointers_are_compared_by_target_and_offset() {
    check(
        "__global__ void k(int *a, int *b, int n) { int *p = a; if (n) p = b; if (p == a) a[0] = 1; if (a == b) a[1] = 1; }",
        &["if p.tag == 2 && p.offset == 0 {", "write a[0; 4] := 1 @0", "!write a[4"],
    );
}

#[test]
fn an_unknown_element_type_is_one_symbolic_unit() {
    check(
        "template <typename T> __global__ void k(T *a, int n) { __shared__ T s[64]; s[threadIdx.x] = a[n]; }",
        &["!unsupported", "let a.1 = read a[convert<i64>(n); 1] @0", "write s[convert<i64>(tid.x); 1] := a.1 @1"],
    );
    check(
        "template <typename T> __global__ void k(T *a, int n) { a[n] = a[0]; ((int *)a)[n] = 1; }",
        &["unsupported \"'a' is accessed as elements of a type of unknown size and otherwise\" touches a"],
    );
}

#[test]
fn all_dynamic_shared_arrays_are_one() {
    check(
        "__device__ void f(int i) { extern __shared__ int b[]; b[i] = 1; }
         __global__ void k() { extern __shared__ float a[]; a[1] = 0; f(2); f(3); }",
        &[
            "shared a: element 4",
            "!shared b",
            "write a[4; 4] := float(0):opaque4 @0",
            "write a[8; 4] := 1 @1",
            "write a[12; 4] := 1 @2",
        ],
    );
    check(
        "__device__ void f(int i) { __shared__ int b[4]; b[i] = 1; } __global__ void k() { f(2); f(3); }",
        &["shared b: element 4, size 16", "!b#2", "write b[8; 4] := 1 @0", "write b[12; 4] := 1 @1"],
    );
}

#[test]
fn opencl_ids_are_size_t_and_barriers_order_what_their_flags_say() {
    check_in(
        Language::OpenCl,
        "__kernel void k(__global int *a, __local int *s, __constant int *c) {
           int i = get_global_id(0); s[get_local_id(0)] = c[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = s[0];
           barrier(CLK_GLOBAL_MEM_FENCE); }",
        &[
            "global param a: element 4",
            "shared param s: element 4",
            "constant param c: element 4",
            "let i = convert<i32>(convert<u64>(bid.x) * convert<u64>(bdim.x) + convert<u64>(tid.x) + convert<u64>(`get_global_offset(0)`))",
            "sync block shared @2",
            "sync block global @5",
        ],
    );
}

#[test]
fn assumptions_about_memory_are_dropped_without_an_access() {
    check(
        "__global__ void k(int *a, int n) { __builtin_assume(n > 3 && a[0] > 1); assert(n < 9); a[1] = 0; }",
        &["assume n > 3", "!read", "assert n < 9 @2"],
    );
}

#[test]
fn deep_nesting_gives_a_message() {
    let deep = format!("__global__ void k(int *a) {{ a[0] = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let kernels = lowered(Language::Cuda, &deep);
    assert!(kernels.iter().all(|kernel| !kernel.unsupported.is_empty()));
    let blocks = format!("__global__ void k(int *a) {{ {} a[0] = 1; {} }}", "{".repeat(3_000), "}".repeat(3_000));
    let kernels = lowered(Language::Cuda, &blocks);
    assert!(kernels.iter().all(|kernel| !kernel.unsupported.is_empty()));
}
