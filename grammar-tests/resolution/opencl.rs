//! OpenCL C: address spaces, vectors, work-item functions, barriers, atomics.

use super::{body, function, program};
use raceproof::builtins::{Builtin, FenceCall, WorkItem};
use raceproof::calculus::{AtomicOp, MemoryOrder, SyncMemory, SyncScope};
use raceproof::resolve::program::{AddressSpace, Expr, ExprKind, Program, StmtKind, Storage, Type};
use raceproof::source::Language;

fn opencl(text: &str) -> Program {
    program(Language::OpenCl, text)
}

#[track_caller]
fn check(params: &str, stmts: &str, expect: &str) {
    let program = opencl(&format!("__kernel void k({params}) {{ {stmts} }}"));
    let found = body(&program, "k");
    let found: Vec<&str> = found.lines().map(str::trim).collect();
    let expect: Vec<&str> = expect.lines().map(str::trim).collect();
    assert_eq!(found, expect);
}

#[test]
fn pointers_state_their_space() {
    let program = opencl(
        "__constant float t[] = {1, 2}; kernel void k(global float *a, __local int *b, constant float *c, __global const uint4 *d, __global int **e)
         { __local float s[4]; local float *p = s; __private int q; a[0] = t[1] + s[0] + *p + q; }",
    );
    let space = |name: &str| {
        let (_, variable) = program.variables.iter().find(|(_, v)| v.name == name).expect("it is declared");
        match program.types[variable.ty] {
            Type::Pointer { space, .. } => space,
            _ => panic!("{name} is no pointer"),
        }
    };
    assert_eq!(space("a"), Some(AddressSpace::Global));
    assert_eq!(space("b"), Some(AddressSpace::Shared));
    assert_eq!(space("c"), Some(AddressSpace::Constant));
    assert_eq!(space("d"), Some(AddressSpace::Global));
    assert_eq!(space("p"), Some(AddressSpace::Shared));
    let storage = |name: &str| program.variables.iter().find(|(_, v)| v.name == name).expect("declared").1.storage;
    assert_eq!(storage("t"), Storage::Constant);
    assert_eq!(storage("s"), Storage::Shared);
    assert_eq!(storage("p"), Storage::Local);
    assert_eq!(storage("q"), Storage::Local);
    let table = program.variables.iter().find(|(_, v)| v.name == "t").expect("declared").1.ty;
    assert_eq!(program.type_name(table), "float[2]");
}

#[test]
fn ids_are_sizes_with_constant_axes() {
    let program = opencl(
        "#define DIM 1\nkernel void k(global int *a) { size_t i = get_global_id(DIM - 1); int l = get_local_id(1); a[i] = l; }",
    );
    let kernel = function(&program, "k");
    let init = |at: usize| match &kernel.body.as_ref().expect("a body")[at].kind {
        StmtKind::Declare(_, Some(init)) => init.clone(),
        other => panic!("{other:?}"),
    };
    let ExprKind::Builtin(Builtin::WorkItem(WorkItem::GlobalId), _, args) = init(0).kind else { panic!() };
    assert!(matches!(args[..], [Expr { kind: ExprKind::Binary(..) | ExprKind::Int(0), .. }]), "{args:?}");
    assert_eq!(program.type_name(init(0).ty), "ulong");
    let ExprKind::Convert(inner) = init(1).kind else { panic!("get_local_id is a size_t") };
    assert!(matches!(inner.kind, ExprKind::Builtin(Builtin::WorkItem(WorkItem::LocalId), ..)));
}

#[test]
fn vectors_widen_scalars_and_compare_to_integers() {
    check(
        "__global float4 *v, __global double2 *d, float f, int4 i",
        "v[0] = v[1] * f + 2; v[0] += 1.0f; int4 m = v[0] < v[1]; long2 n = d[0] == d[1]; int4 s = i << 2; float4 w = (float4)(1.0f); v[2] = -v[1];",
        "[(*v @+ 0)] = ((*[(*v @+ 1)] * float4{*f}) + float4{<float>2})
         [(*v @+ 0)] +=<float4> float4{1.0f}
         Local m: int4 = (*[(*v @+ 0)] < *[(*v @+ 1)])
         Local n: long2 = (*[(*d @+ 0)] == *[(*d @+ 1)])
         Local s: int4 = (*i << int4{2})
         Local w: float4 = float4{1.0f}
         [(*v @+ 2)] = -*[(*v @+ 1)]",
    );
}

#[test]
fn lanes_are_named_in_all_ways() {
    check(
        "__global float8 *v, float4 f, float3 t, int i",
        "v[0].s7 = f.w; v[0].lo = f; v[0].hi.xy = f.zw; f.even = f.odd; f.sA = 1; f = v[0].s0246; t.z = f.x; f[2] = f[i]; v[0].even.y = 1;",
        "[(*v @+ 0)].s7 = *f.s3
         [(*v @+ 0)].s0_1_2_3 = *f
         [(*v @+ 0)].s4_5_6_7.s0_1 = *f.s2_3
         f.s0_2 = *f.s1_3
         unsupported(member `sA` of float4)
         f = *[(*v @+ 0)].s0_2_4_6
         t.s2 = *f.s0
         f.s2 = *[(<__private float *>&f @+ <long>*i)]
         [(*v @+ 0)].s0_2_4_6.s1 = <float>1"
            .replace("unsupported(member `sA` of float4)", "unsupported(member `sA` of float4)")
            .as_str(),
    );
}

#[test]
fn vector_literals_conversions_and_reinterpretations() {
    check(
        "__global float4 *v, int2 i, uint4 u, float f",
        "v[0] = (float4)(i.x, 1, (float2)(f, 2)); v[1] = convert_float4(u); uint4 w = as_uint4(v[0]); int n = convert_int_sat(f); char c = (char)n; v[2] = (float4)(f); u = (uint4)(1, 2, 3, 4);",
        "[(*v @+ 0)] = float4{<float>*i.s0, <float>1, float2{*f, <float>2}}
         [(*v @+ 1)] = <float4>*u
         Local w: uint4 = as_uint4!(*[(*v @+ 0)])
         Local n: int = convert_int_sat!(*f)
         Local c: char = <char>*n
         [(*v @+ 2)] = float4{*f}
         u = uint4{<unsigned int>1, <unsigned int>2, <unsigned int>3, <unsigned int>4}"
            .replace("<unsigned int>", "")
            .as_str(),
    );
}

/// The builtins that stand as statements of a kernel.
fn statements(program: &Program) -> Vec<(Builtin, usize)> {
    let stmts = function(program, "k").body.as_ref().expect("a body");
    stmts
        .iter()
        .map(|stmt| match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Builtin(builtin, _, args), .. }) => (builtin.clone(), args.len()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn barriers_order_the_memory_that_their_flags_name() {
    let program = opencl(
        "kernel void k(int f) { barrier(CLK_LOCAL_MEM_FENCE); barrier(CLK_GLOBAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
         work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device); barrier(f); sub_group_barrier(CLK_LOCAL_MEM_FENCE); mem_fence(CLK_LOCAL_MEM_FENCE); }",
    );
    let found: Vec<Builtin> = statements(&program).into_iter().map(|(builtin, _)| builtin).collect();
    let barrier = |scope, shared, global| Builtin::Barrier {
        scope,
        memory: Some(SyncMemory { shared, global, ..SyncMemory::NONE }),
    };
    assert_eq!(
        found,
        [
            barrier(SyncScope::Block, true, false),
            barrier(SyncScope::Block, false, true),
            barrier(SyncScope::Block, true, true),
            barrier(SyncScope::Block, true, false),
            Builtin::Barrier { scope: SyncScope::Block, memory: None },
            barrier(SyncScope::Warp, true, false),
            Builtin::Fence(FenceCall::OfGroup(MemoryOrder::AcquireRelease)),
        ]
    );
}

#[test]
fn atomics_of_both_versions() {
    let program = opencl(
        "kernel void k(volatile global int *a, global atomic_int *b) { atomic_add(a, 2); atomic_inc(a); atom_cmpxchg(a, 1, 2); atomic_fetch_max(b, 3);
         atomic_fetch_add_explicit(b, 1, memory_order_acq_rel, memory_scope_work_group); atomic_store_explicit(b, 1, memory_order_release); }",
    );
    let atomic = |op, order, scope| Builtin::Atomic { op, order, scope };
    assert_eq!(
        statements(&program),
        [
            (atomic(AtomicOp::Add, MemoryOrder::Relaxed, SyncScope::Grid), 2),
            (atomic(AtomicOp::Add, MemoryOrder::Relaxed, SyncScope::Grid), 2),
            (atomic(AtomicOp::CompareExchange, MemoryOrder::Relaxed, SyncScope::Grid), 3),
            (atomic(AtomicOp::Max, MemoryOrder::SequentiallyConsistent, SyncScope::System), 2),
            (atomic(AtomicOp::Add, MemoryOrder::AcquireRelease, SyncScope::Block), 2),
            (atomic(AtomicOp::Store, MemoryOrder::Release, SyncScope::Grid), 2),
        ]
    );
}

#[test]
fn vector_loads_and_stores_know_their_lanes() {
    check(
        "__global float *a, size_t i",
        "float4 v = vload4(i, a); vstore4(v, i + 1, a); float3 t = vload3(0, a + 2); vstore2(v.xy, 0, a);",
        "Local v: float4 = vload4!(*i, *a)
         vstore4!(*v, (*i + <ulong>1), *a)
         Local t: float3 = vload3!(0, (*a @+ 2))
         vstore2!(*v.s0_1, 0, *a)"
            .replace("<ulong>1", "1")
            .as_str(),
    );
}

#[test]
fn the_required_size_is_read() {
    let program = opencl(
        "#define B 8\n__kernel __attribute__((reqd_work_group_size(B, B, 1))) void k(global int *a) { a[0] = 1; }",
    );
    assert_eq!(function(&program, "k").geometry.required_block, Some([8, 8, 1]));
}

#[test]
fn helpers_take_pointers_of_any_space() {
    let program = opencl(
        "int get(__local int *p, int i) { return p[i]; } inline void put(__global int *p, int v) { *p = v; }
         __kernel void k(__global int *a, __local int *b) { put(a + get(b, 1), 2); }",
    );
    assert_eq!(body(&program, "k"), "put((*a @+ <long>get(*b, 1)), 2)\n");
}
