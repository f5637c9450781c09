//! OpenCL: what instrumented kernels look like, and what a run of them on a real driver shows.

mod annotations;
mod by_hand;
mod cover;
mod data_flow;
mod fixtures;
mod generate;
mod host;
mod mutants;
mod run;
mod schedule;

use raceproof::driver::Options;
use raceproof::driver::instrument::{InstrumentedFile, instrument};
use raceproof::instrument::opencl::ParameterKind;
use std::path::Path;

fn instrumented(text: &str) -> InstrumentedFile {
    instrument(Path::new("k.cl"), text, &Options::default()).expect("the text can be instrumented")
}

/// The output without what precedes the user's text and without the table of sites, macros written shortly.
fn body(text: &str) -> String {
    let start = text.find("#line 1 \"k.cl\"\n").expect("the user's text is announced") + 15;
    let end = text.rfind("#line 1 \"<sites>\"").expect("the table of sites is announced");
    text[start..end].replace("RACEPROOF_OBJECT", "@").replace("RACEPROOF_POINTER", "@p").replace("raceproof_", "@")
}

/// Instruments a statement of a function with some parameters and compares what becomes of it.
#[track_caller]
fn check(statement: &str, expected: &str) {
    let text = format!(
        "typedef struct {{ int x; float4 v; float m[4]; }} P;\n\
         void f(__global float *a, __global const float *b, __local int *c, __global float4 *v, __global P *p, int i) {{\n\
         {statement}\n}}\n"
    );
    assert_eq!(body(&instrumented(&text).unit.text).lines().nth(2), Some(expected));
}

#[test]
fn accesses_are_wrapped_with_what_happens_to_them() {
    check("a[i] = b[i] + 1;", "@(0, 1, (a[i])) = @(1, 0, (b[i])) + 1;");
    check("a[i] += b[c[i]];", "@(0, 2, (a[i])) += @(1, 0, (b[@(2, 0, (c[i]))]));");
    check("*a = p->m[2]; (*p).x++;", "@(0, 1, (*a)) = @(1, 0, (p->m[2])); @(2, 2, ((*p).x))++;");
    check("*p = p[1];", "@(0, 1, (*p)) = @(1, 0, (p[1]));");
    check("float t[4]; t[1] = i; P q = *p; q.x = 2;", "float t[4]; t[1] = i; P q = @(0, 0, (*p)); q.x = 2;");
    check("__global float *q = &a[c[0]];", "__global float *q = &a[@(0, 0, (c[0]))];");
    check("int n = sizeof(a[i]);", "int n = sizeof(a[i]);");
    check("a[(i, 2)] = i ? b[0] : b[1];", "@(0, 1, (a[(i, 2)])) = i ? @(1, 0, (b[0])) : @(2, 0, (b[1]));");
}

#[test]
fn lanes_of_vectors_are_logged_by_their_bytes() {
    let lanes = |object: &str, logged: &str| format!("(*({{ __auto_type @at = &({object});{logged} @at; }}))");
    let of_v = lanes("v[i]", " RACEPROOF_LANES(0, 1, 1, 1);");
    check("v[i].y = 1;", &format!("{of_v}.y = 1;"));
    let twice = lanes("v[i]", " RACEPROOF_LANES(0, 1, 0, 1); RACEPROOF_LANES(0, 1, 3, 1);");
    check("v[i].s03 = 1;", &format!("{twice}.s03 = 1;"));
    let nested = lanes("p->v", " RACEPROOF_LANES(0, 0, 3, 1);");
    check("float t = p->v.hi.y;", &format!("float t = {nested}.hi.y;"));
    check("float4 w; w.x = w.y;", "float4 w; w.x = w.y;");
    check("float t = (v[i] + v[0]).x;", "float t = (@(0, 0, (v[i])) + @(1, 0, (v[0]))).x;");
}

#[test]
fn calls_that_access_memory_are_taken_apart() {
    check("atomic_add(&c[0], i);", "atomic_add(@p(0, 4, (&c[0])), i);");
    check(
        "atomic_store_explicit((volatile __global atomic_int *)p, 1, memory_order_relaxed, memory_scope_work_group);",
        "atomic_store_explicit(@p(0, 3, ((volatile __global atomic_int *)p)), 1, memory_order_relaxed, \
         memory_scope_work_group);",
    );
    check(
        "float4 w = vload4(i, a);",
        "float4 w = ({ size_t @offset = (i); __auto_type @at = ( a); @at = (__typeof__(@at))@access(@self, 0, 0, @at, \
         @offset * 4 * sizeof *@at, 4 * sizeof *@at); vload4(@offset, @at); });",
    );
    check("barrier(CLK_LOCAL_MEM_FENCE);", "(@barrier(@self, 0, (1)), barrier(CLK_LOCAL_MEM_FENCE));");
    check("float f; a[i] = fract(2.5f, &f);", "float f; @(0, 1, (a[i])) = fract(2.5f, &f);");
}

#[test]
fn functions_hand_their_work_item_on_and_kernels_take_the_log() {
    let text = "float g(float x);\nfloat g(float x) { return x; }\nint z() { return 1; }\n\
                kernel void k(global float *const y, float s, local int *t) {\n  local float u[2];\n  \
                y[0] = g(s) + z();\n}\nkernel void none(void) { }\n";
    let file = instrumented(text);
    let body = body(&file.unit.text);
    let lines: Vec<&str> = body.lines().collect();
    assert_eq!(lines[0], "float g(__private @item *@self, float x);");
    assert_eq!(lines[2], "int z(__private @item *@self) { return 1; }");
    assert!(lines[3].starts_with("kernel void k(global float * y, float s, local int *t, __global ulong *@log) {"));
    assert!(lines[3].contains(" y = (__typeof__(y))@parameter(@self, 0, 0, y);"), "{}", lines[3]);
    assert!(lines[3].contains(" t = (__typeof__(t))@parameter(@self, 1, 0, t);"), "{}", lines[3]);
    assert_eq!(lines[4], "  local float u[2]; @variable(@self, 0, 1, &u, sizeof u);");
    assert_eq!(lines[5], "  @(0, 1, (y[0])) = g(@self, s) + z(@self);");
    assert!(lines[7].starts_with("kernel void none(__global ulong *@log) {"), "{}", lines[7]);
    let kernel = &file.unit.opencl.kernels[0];
    let kinds: Vec<&ParameterKind> = kernel.parameters.iter().map(|parameter| &parameter.kind).collect();
    assert_eq!(kinds, [&ParameterKind::Global, &ParameterKind::Value("float".to_owned()), &ParameterKind::Local]);
    assert_eq!(kernel.local_ranges().collect::<Vec<_>>(), ["t", "u"]);
}

#[test]
fn what_is_not_logged_is_named_and_what_cannot_run_is_refused() {
    let file = instrumented(
        "kernel void k(read_only image2d_t i, write_only image2d_t o, global float4 *y, sampler_t s) {\n  \
         y[0] = read_imagef(i, s, (int2)(0));\n  write_imagef(o, (int2)(0), y[0]);\n  sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n  other(y);\n  \
         y[1][get_local_id(0)] = 0;\n}\n",
    );
    let whats: Vec<&str> = file.unit.left_out.iter().map(|left_out| left_out.what.as_str()).collect();
    let expected = [
        "image read",
        "image write",
        "order by a barrier of sub-groups",
        "call of `other`, which is not in the unit",
        "lane of a vector in memory, chosen by an index",
    ];
    assert_eq!(whats, expected);
    let text = "kernel void one(global int *y) { }\nkernel void two(global int *y) { one(y); }\n";
    let error = instrument(Path::new("k.cl"), text, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "k.cl:2: a call of the kernel `one` cannot be instrumented");
}
