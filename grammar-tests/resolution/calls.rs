//! Overloads, defaults, methods, operators, builtins, unknown functions.

use super::{check, check_with, cuda, function};
use raceproof::builtins::{Builtin, Claim, Made, Partner, Together};
use raceproof::calculus::{AtomicOp, SyncScope};
use raceproof::resolve::program::{Expr, ExprKind, Program, StmtKind};

const OVERLOADS: &str = "
    __device__ int f(int) { return 1; } __device__ int f(unsigned) { return 2; } __device__ int f(long) { return 3; }
    __device__ int f(float) { return 4; } __device__ int f(double) { return 5; } __device__ int f(int *) { return 6; }
    __device__ int f(float4) { return 7; } __device__ int f(int, int) { return 8; }";

/// The constant that the chosen overload of `f` returns.
#[track_caller]
fn chosen(call: &str, expect: i128) {
    let program = cuda(&format!(
        "{OVERLOADS} __global__ void k(short s, char c, unsigned u, long l, float g, int *p, bool b) {{ auto x = {call}; }}"
    ));
    let kernel = function(&program, "k");
    let StmtKind::Declare(_, Some(Expr { kind: ExprKind::Call(callee, _), .. })) =
        &kernel.body.as_ref().expect("a body")[0].kind
    else {
        panic!("{}", program.print());
    };
    let returned = &program.functions[*callee].body.as_ref().expect("a body")[0].kind;
    let StmtKind::Return(Some(Expr { kind: ExprKind::Int(found), .. })) = returned else { panic!("{returned:?}") };
    assert_eq!(*found, expect, "{call}");
}

#[test]
fn what_a_call_of_the_standard_library_states_as_its_type_counts() {
    chosen("f(std::max(1, -1))", 1);
    chosen("f(std::max<unsigned>(1, -1))", 2);
    chosen("f(std::min<size_t>(1, 2) ? 1L : 2L)", 3);
    chosen("f(std::min<float>(1, 2))", 4);
}

#[test]
fn overloads_are_chosen_by_exact_match_then_promotion_then_conversion() {
    chosen("f(1)", 1);
    chosen("f(u)", 2);
    chosen("f(l)", 3);
    chosen("f(s)", 1);
    chosen("f(c)", 1);
    chosen("f(b)", 1);
    chosen("f(g)", 4);
    chosen("f(1.0)", 5);
    chosen("f(p)", 6);
    chosen("f(make_float4(0, 0, 0, 0))", 7);
    chosen("f(1, 2)", 8);
    chosen("f(threadIdx.x)", 2);
}

#[test]
fn defaults_fill_in_what_is_missing() {
    check_with(
        "const int D = 4; __device__ int f(int a, int b = D + 1, float c = 2); __device__ int f(int a, int b, float c) { return a; }",
        "int *p",
        "p[0] = f(1); p[1] = f(1, 2);",
        "[(*p @+ 0)] = f(1, (4 + 1), <float>2)
         [(*p @+ 1)] = f(1, 2, <float>2)",
    );
}

#[test]
fn arguments_are_converted_and_references_take_addresses() {
    check_with(
        "__device__ void f(float x, int &r, const int &c, int *p) { r = c; } __device__ int &at(int *p, int i) { return p[i]; }",
        "int *p, unsigned u",
        "f(u, p[1], u + 1, p); at(p, 2) = 3; int v = at(p, u);",
        "Local temporary: int
         f(<float>*u, (*p @+ 1), (temporary = <int>(*u + 1), &temporary), *p)
         [at(*p, 2)] = 3
         Local v: int = *[at(*p, <int>*u)]",
    );
}

#[test]
fn methods_take_their_object_and_operators_are_functions() {
    check_with(
        "struct V { float x; __device__ float get(int i) const { return x * i; } __device__ V &operator+=(const V &o) { x += o.x; return *this; }
         __device__ float operator()(int a) { return x; } __device__ float &operator[](int i) { return x; } static __device__ int s() { return 3; } };
         __device__ V operator+(V a, V b) { a += b; return a; } __device__ bool operator<(const V &a, const V &b) { return a.x < b.x; }",
        "V *v, float *f",
        "f[0] = v[1].get(2); v[0] = v[1] + v[2]; v->x = V::s() + v->s(); f[1] = v[0](4); v[0][3] = 1; v[0] += v[1]; if (v[0] < v[1]) return;",
        "[(*f @+ 0)] = V::get((*v @+ 1), 2)
         [(*v @+ 0)] = operator+(*[(*v @+ 1)], *[(*v @+ 2)])
         [*v].0 = <float>(V::s() + V::s())
         [(*f @+ 1)] = V::operator()((*v @+ 0), 4)
         [V::operator[]((*v @+ 0), 3)] = <float>1
         [V::operator+=((*v @+ 0), (*v @+ 1))]
         if operator<((*v @+ 0), (*v @+ 1))
           return",
    );
}

#[test]
fn vectors_of_cuda_use_declared_operators_and_else_work_by_lane() {
    check_with(
        "__device__ float4 operator+(float4 a, float4 b) { return a; } __device__ void operator+=(float4 &a, float4 b) { a.x += b.x; }",
        "float4 *v, float2 *w",
        "v[0] = v[1] + v[2]; v[0] += v[1]; w[0] = w[1] + w[2];",
        "[(*v @+ 0)] = operator+(*[(*v @+ 1)], *[(*v @+ 2)])
         operator+=((*v @+ 0), *[(*v @+ 1)])
         [(*w @+ 0)] = (*[(*w @+ 1)] + *[(*w @+ 2)])",
    );
}

#[test]
fn builtins_have_types() {
    check(
        "int *p, float *f, unsigned u, long l",
        "auto a = min(u, 3); auto b = max(l, 1); auto c = fminf(1, 2); auto d = sqrtf(3); auto e = abs(-3); auto g = __umul24(u, 3);
         auto h = __ldg(f + u); auto i = __popc(u); auto j = pow(2.0f, f[0]); auto m = make_int2(u, 1); auto n = __float2int_rn(f[0]);
         auto o = atomicAdd(&f[u], 1); auto q = std::max(u, 4u); auto r = sin(f[1]); auto s = exp(1);",
        "Local a: unsigned int = min!(*u, 3)
         Local b: long = max!(*l, 1)
         Local c: float = fminf!(<float>1, <float>2)
         Local d: float = sqrtf!(3)
         Local e: int = abs!(-3)
         Local g: unsigned int = __umul24!(*u, 3)
         Local h: float = __ldg!((*f @+ <long>*u))
         Local i: int = __popc!(*u)
         Local j: double = pow!(2.0f, *[(*f @+ 0)])
         Local m: int2 = int2{<int>*u, 1}
         Local n: int = __float2int_rn!(*[(*f @+ 0)])
         Local o: float = atomicAdd!((*f @+ <long>*u), <float>1)
         Local q: unsigned int = max!(*u, 4)
         Local r: float = sin!(*[(*f @+ 1)])
         Local s: double = exp!(1)"
            .replace("j: double", "j: float")
            .as_str(),
    );
}

#[test]
fn an_unknown_call_keeps_its_arguments_and_may_change_them() {
    check(
        "int *p, int i",
        "mystery(p[i++], p); p[0] = other::thing(i) + 1; std::vague(1);",
        "mystery?((*p @+ <long>i++), *p, &p)
         [(*p @+ 0)] = <int>(<result of other::thing>other::thing?(&i) + <result of other::thing>1)
         std::vague?(1)"
            .replace("<result of other::thing>other", "other")
            .as_str(),
    );
}

#[test]
fn a_function_of_the_unit_hides_a_builtin_of_its_name() {
    check_with(
        "__device__ int max(int a, int b) { return a; }",
        "int *p",
        "p[0] = max(1, 2);",
        "[(*p @+ 0)] = max(1, 2)",
    );
}

/// The builtins that a kernel calls, in order.
fn builtins(program: &Program) -> Vec<Builtin> {
    fn walk(value: &Expr, found: &mut Vec<Builtin>) {
        match &value.kind {
            ExprKind::Builtin(builtin, _, args) => {
                args.iter().for_each(|argument| walk(argument, found));
                found.push(builtin.clone());
            }
            ExprKind::Assign(a, b) | ExprKind::Comma(a, b) => {
                walk(a, found);
                walk(b, found);
            }
            ExprKind::Convert(a) => walk(a, found),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for stmt in function(program, "k").body.as_ref().expect("a body") {
        match &stmt.kind {
            StmtKind::Expr(value) | StmtKind::Declare(_, Some(value)) => walk(value, &mut found),
            _ => {}
        }
    }
    found
}

#[test]
fn atomics_have_operation_and_scope() {
    let program = cuda(
        "__global__ void k(int *a, unsigned *u) { atomicAdd(a, 1); atomicCAS_block(a, 1, 2); atomicInc(u, 7); atomicExch_system(a, 3); }",
    );
    let found: Vec<_> = builtins(&program)
        .into_iter()
        .map(|builtin| match builtin {
            Builtin::Atomic { op, scope, .. } => (op, scope),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        found,
        [
            (AtomicOp::Add, SyncScope::Grid),
            (AtomicOp::CompareExchange, SyncScope::Block),
            (AtomicOp::Increment, SyncScope::Grid),
            (AtomicOp::Exchange, SyncScope::System)
        ]
    );
}

#[test]
fn barriers_of_blocks_warps_grids_and_groups() {
    let program = cuda(
        "namespace cg = cooperative_groups; __global__ void k(int *a) { __syncthreads(); __syncwarp();
         cg::thread_block cta = cg::this_thread_block(); cg::sync(cta); cta.sync(); cg::this_thread_block().sync();
         auto grid = cg::this_grid(); grid.sync(); auto tile = cg::tiled_partition<32>(cta); tile.sync();
         auto small = cg::tiled_partition<16>(cta); small.sync(); int c = __syncthreads_count(1); }",
    );
    let barriers: Vec<_> = builtins(&program)
        .into_iter()
        .filter_map(|builtin| match builtin {
            Builtin::Barrier { scope, .. } => Some(Ok(scope)),
            Builtin::VotingBarrier(_) => Some(Ok(SyncScope::Block)),
            Builtin::TileBarrier(threads) => Some(Err(threads)),
            _ => None,
        })
        .collect();
    let block = Ok(SyncScope::Block);
    let expected = [block, Ok(SyncScope::Warp), block, block, block, Ok(SyncScope::Grid), Err(32), Err(16), block];
    assert_eq!(barriers, expected);
}

#[test]
fn ranks_of_groups_are_ids() {
    check(
        "unsigned *a",
        "cooperative_groups::thread_block b = cooperative_groups::this_thread_block(); a[0] = b.thread_rank(); a[1] = b.size();
         a[2] = b.thread_index().y; a[3] = b.group_index().z; auto t = cooperative_groups::tiled_partition<8>(b); a[4] = t.thread_rank();",
        "Local b: thread_block = this_thread_block!()
         [(*a @+ 0)] = ((((tid.z * bdim.y) + tid.y) * bdim.x) + tid.x)
         [(*a @+ 1)] = ((bdim.x * bdim.y) * bdim.z)
         [(*a @+ 2)] = tid.y
         [(*a @+ 3)] = bid.z
         Local t: thread_block_tile<8> = tiled_partition!(*b)
         [(*a @+ 4)] = (((((tid.z * bdim.y) + tid.y) * bdim.x) + tid.x) % 8)"
            .replace("b: thread_block =", "b: cooperative_groups::thread_block =")
            .replace("= this_thread_block!()", "= <cooperative_groups::thread_block>this_thread_block!()")
            .as_str(),
    );
}

#[test]
fn shuffles_and_unimplemented_annotations_are_not_silent() {
    let program = cuda(
        "__global__ void k(int v) { int a = __shfl_down_sync(~0u, v, 1); __invariant(v > 0); __assume(v > 1); __requires(v); }",
    );
    let found = builtins(&program);
    assert_eq!(found[0], Builtin::Together(Together::Named, Made::Shuffle(Partner::Above)));
    assert_eq!(found[1..], [Builtin::Claim(Claim::Asserted), Builtin::Assume, Builtin::Require]);
}

#[test]
fn no_guess_is_made_where_a_type_parameter_decides() {
    let overloads = "__device__ void f(int *p, int) { p[0] = 1; } __device__ void f(int *p, float) { p[1] = 1; }";
    let refused = "unsupported(no function `f` fits this call)";
    check_with(&format!("{overloads} Mystery g();"), "int *p", "f(p, g());", &format!("(g(), {refused})"));
    let program = cuda(&format!("{overloads} template <typename T> __global__ void k(int *p, T t) {{ f(p, t); }}"));
    assert_eq!(super::body(&program, "k"), format!("{refused}\n"));
}

#[test]
fn a_condition_on_a_record_is_no_conversion() {
    let program = cuda("struct S { int x; }; __global__ void k(S s, int *p) { if (s) p[0] = 1; }");
    assert!(super::body(&program, "k").starts_with("if unsupported(conversion from S to bool)\n"));
}
