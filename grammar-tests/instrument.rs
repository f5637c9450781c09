//! Instrumented text: what stands where an access was, and what stays as it was.
//!
//! - [`by_hand`]: the commands at its head.

mod by_hand;

use crate::support::draw::part;
use crate::support::tier::tiers;
use crate::support::tools::cxx;
use raceproof::driver::Options;
use raceproof::driver::instrument::{Backend, InstrumentedFile, instrument, instrument_for};
use raceproof::instrument::runtime::cpu_files;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn instrumented(text: &str) -> InstrumentedFile {
    instrument(Path::new("k.cu"), text, &Options::default()).expect("the text can be instrumented")
}

/// The output without what precedes the user's text and without the table of sites.
fn body(text: &str) -> &str {
    let start = text.find("#line 1 \"").expect("the user's text is announced");
    let start = start + text[start..].find('\n').expect("the line ends") + 1;
    let end = text.rfind("#line 1 \"<sites>\"").expect("the table of sites is announced");
    &text[start..end]
}

/// Short names make the expectations readable.
fn short(text: &str) -> String {
    text.replace("::raceproof::", "@")
}

/// Instruments a statement of a device function with some parameters and compares what becomes of it.
#[track_caller]
fn check(statement: &str, expected: &str) {
    let parameters = "float *a, const float *b, int *c, float2 *v, P *p, int i, int &r";
    let text = format!(
        "struct P {{ int x; int bits : 3; int *q; float m[4]; }};\n__device__ void f({parameters}) {{\n{statement}\n}}\n"
    );
    let file = instrumented(&text);
    let found = short(body(&file.unit.text));
    assert_eq!(found.lines().nth(2), Some(expected));
}

/// Instruments a whole text and compares its body.
#[track_caller]
fn check_all(text: &str, expected: &str) {
    assert_eq!(short(body(&instrumented(text).unit.text)), expected);
}

#[test]
fn reads_and_writes_are_told_apart() {
    check("a[i] = b[i] + 1;", "@wr(0, a[i]) = @rd(1, b[i]) + 1;");
    check("a[i] += b[i];", "@rw(0, a[i]) += @rd(1, b[i]);");
    check("a[i]++; --a[i + 1];", "@rw(0, a[i])++; --@rw(1, a[i + 1]);");
    check("*a = *(b + i);", "@wr(0, *a) = @rd(1, *(b + i));");
    check("a[c[i]] = 0;", "@wr(0, a[@rd(1, c[i])]) = 0;");
    check("float t = a[i], u = -b[i];", "float t = @rd(0, a[i]), u = -@rd(1, b[i]);");
    check("(a)[i] = (b)[i];", "@wr(0, (a)[i]) = @rd(1, (b)[i]);");
}

#[test]
fn an_access_is_wrapped_with_the_part_that_it_touches() {
    check("v[i].x = v[i].y;", "@wr(0, v[i].x) = @rd(1, v[i].y);");
    check("p->x = (*p).x;", "@wr(0, p->x) = @rd(1, (*p).x);");
    check("p->q[i] = 1;", "@wr(0, @rd(1, p->q)[i]) = 1;");
    check("p->m[i] = 1;", "@wr(0, p->m[i]) = 1;");
}

#[test]
fn plain_locals_are_left_alone() {
    let same = "float t[4]; t[1] = 2; int n = i + 1; float2 w; w.x = n; P s; s.x = s.m[2];";
    check(same, same);
    check("P s; s.q[i] = 1;", "P s; @wr(0, s.q[i]) = 1;");
}

#[test]
fn an_address_is_no_access() {
    check("c = &c[i]; float *t = &v[i].x;", "c = &c[i]; float *t = &v[i].x;");
    check("int n = sizeof(a[i]);", "int n = sizeof(a[i]);");
    check("int *t = &c[c[i]];", "int *t = &c[@rd(0, c[i])];");
}

#[test]
fn references_are_accesses_where_they_are_used() {
    check("r = 1; int n = r;", "@wr(0, r) = 1; int n = @rd(1, r);");
    check("int &s = c[i]; s += 2;", "int &s = c[i]; @rw(0, s) += 2;");
    check(
        "float4 t = reinterpret_cast<float4 &>(a[4 * i]);",
        "float4 t = @rd(0, reinterpret_cast<float4 &>(a[4 * i]));",
    );
    check_all(
        "__device__ void inc(int &x) { x += 1; }\n__device__ int two(int x) { return 2 * x; }\n__device__ void f(int *c) { inc(c[0]); two(c[1]); }\n",
        "__device__ void inc(int &x) { @rw(0, x) += 1; }\n__device__ int two(int x) { return 2 * x; }\n__device__ void f(int *c) { inc(c[0]); two(@rd(1, c[1])); }\n",
    );
    check_all(
        "struct M { int *d; __device__ int &at(int i) { return d[i]; } };\n__device__ void f(M m) { m.at(1) = m.at(2); }\n",
        "struct M { int *d; __device__ int &at(int i) { return @rd(0, d)[i]; } };\n__device__ void f(M m) { @wr(1, m.at(1)) = @rd(2, m.at(2)); }\n",
    );
}

#[test]
fn a_member_that_is_a_reference_leads_out_of_its_object() {
    check_all(
        "struct Room { int cells[64]; };
struct Writer { Room &room; int at; };
__device__ void f(Writer w, int i) { w.room.cells[w.at] = i; }
template <typename T> __device__ void g(T own, int *to) { own.room.cells[0] = 1; *to = own.at; }
",
        "struct Room { int cells[64]; };
struct Writer { Room &room; int at; };
__device__ void f(Writer w, int i) { @wr(0, w.room.cells[w.at]) = i; }
template <typename T> __device__ void g(T own, int *to) { @wr(1, @rd(2, own.room.cells)[0]) = 1; @wr(3, *to) = own.at; }
",
    );
}

#[test]
fn conditions_and_commas_hand_the_use_down() {
    check("float t = i ? a[0] : b[0];", "float t = i ? @rd(0, a[0]) : @rd(1, b[0]);");
    check("(i ? a[0] : a[1]) = 2;", "(i ? @wr(0, a[0]) : @wr(1, a[1])) = 2;");
    // `:::` would be read as `::` and `:`.
    check("float t = i?a[0]:b[0];", "float t = i?@rd(0, a[0]): @rd(1, b[0]);");
}

#[test]
fn atomics_and_copies_say_what_they_touch() {
    check("atomicAdd(&c[i], 1);", "atomicAdd(@at(0, &c[i], @device_scope), 1);");
    check("atomicMax_block(c + i, c[0]);", "atomicMax_block(@at(0, c + i, @block_scope), @rd(1, c[0]));");
    check("memcpy(a, b + i, 4 * i);", "memcpy(@wr_range(0, a, 4 * i), @rd_range(1, b + i, 4 * i), 4 * i);");
    check("float t = __ldg(&b[i]);", "float t = __ldg(@rd_range(0, &b[i], sizeof *(&b[i])));");
    let file = instrumented("__device__ void f(char *a, int *n) { memset(a, 0, (*n)++); }\n");
    assert_eq!(file.unit.left_out[0].what, "copy whose size cannot be evaluated twice");
}

#[test]
fn a_bit_field_is_accessed_with_its_object() {
    check("p->bits = 1;", "@wr(0, *(p)).bits = 1;");
    check("int n = p[i].bits;", "int n = @rd(0, p[i]).bits;");
}

#[test]
fn a_field_is_no_bit_field_because_another_record_has_one_of_its_name() {
    let check = |records: &str, parameters: &str, statement: &str, expected: &str| {
        let text = format!("{records}\n__device__ void f({parameters}) {{\n{statement}\n}}\n");
        let file = instrumented(&text);
        assert_eq!(short(body(&file.unit.text)).lines().nth(2), Some(expected), "{records}");
    };
    let named =
        "struct B { unsigned on : 1; }; struct L { char on; }; struct D : L { int n; }; struct C : B { int n; };";
    check(named, "L *l, B *b", "l[1].on = b->on;", "@wr(0, l[1].on) = @rd(1, *(b)).on;");
    check(named, "D *d, C *c", "d->on = c->on;", "@wr(0, d->on) = @rd(1, *(c)).on;");
    // The pointee is a parameter of the template: what has no address is not asked for one.
    check(named, "T *t", "t->on = 1;", "@wr(0, *(t)).on = 1;");
    let aliased = "typedef struct { unsigned on : 1; } B; typedef struct { char on; } L;";
    check(aliased, "L *l, B *b", "l->on = b->on;", "@wr(0, l->on) = @rd(1, *(b)).on;");
    let anonymous = "__device__ struct { unsigned on : 1; } b; __device__ struct { char on; } l[2];";
    check(anonymous, "", "l[1].on = b.on;", "@wr(0, l[1].on) = @rd(1, b).on;");
    let local = "struct B { unsigned on : 1; }; struct L { char on; };";
    let statement = "struct M { unsigned off : 1, : 2; }; __shared__ M m[2]; m[0].off = 1;";
    let expected = "struct M { unsigned off : 1, : 2; }; static thread_local M m[2]; @shared(\"m\", &m, sizeof m); @wr(0, m[0]).off = 1;";
    check(local, "", statement, expected);
    let method = "struct B { unsigned on : 1; }; struct L { char on; __device__ int get() { return on; } };";
    let text = short(body(&instrumented(method).unit.text));
    assert!(text.contains("return @rd(0, on);"), "{text}");
}

#[test]
fn macros_are_expanded_only_where_an_access_is_inside() {
    let head = "#define AT(x, i) x[i]\n#define TWICE(x) ((x) + (x))\n#define N 4\n";
    check_all(
        &format!("{head}__device__ void f(int *c) {{\n  AT(c, N) = TWICE(c[1]) + N;\n  int m[N];\n}}\n"),
        &format!(
            "{head}__device__ void f(int *c) {{\n   @wr(0, c[4])  =  (@rd(1, (c[1])) + @rd(2, (c[1])))  + N;\n  int m[N];\n}}\n"
        ),
    );
    // A call over several lines leaves as many behind.
    check_all(
        "#define PUT(x, y) x = y\n__device__ void f(int *c) {\n  PUT(c[0],\n      c[1]);\n  c[2] = 0;\n}\n",
        "#define PUT(x, y) x = y\n__device__ void f(int *c) {\n   @wr(0, c[0]) = @rd(1, c[1]) \n;\n  @wr(2, c[2]) = 0;\n}\n",
    );
}

#[test]
fn a_kernel_is_its_own_stub_and_a_launch_is_a_call() {
    check_all(
        "template <class T> __global__ void k(T *a, int n) { a[0] = n; }\nint main() { k<float><<<dim3(2), 32, 0>>>(0, 1); }\n",
        "template <class T> __global__ void k(T *a, int n) { @parameters(a, n); @kernel(0, \"k\", @argument(\"a\", a), @argument(\"n\", n), [=]() mutable { @wr(0, a[0]) = n; @at_end(); }); }\nint main() { (@configure(dim3(2), 32, 0), k<float>(0, 1)); }\n",
    );
    check_all(
        "#define RUN(k, n) k<<<1, n>>>(n)\n__global__ void k(int n) { }\nint main() { RUN(k, 7); }\n",
        "#define RUN(k, n) k<<<1, n>>>(n)\n__global__ void k(int n) { @parameters(n); @kernel(0, \"k\", @argument(\"n\", n), [=]() mutable { @at_end(); }); }\nint main() {  (@configure(1, 7), k(7)) ; }\n",
    );
}

#[test]
fn shared_memory_belongs_to_the_block() {
    check(
        "__shared__ float t[4][5], u; t[i][0] = u;",
        "static thread_local float t[4][5], u; @shared(\"t\", &t, sizeof t); @shared(\"u\", &u, sizeof u); @wr(0, t[i][0]) = @rd(1, u);",
    );
    check(
        "__shared__ alignas(16) float t[4]; t[i] = 0;",
        " alignas(16) static thread_local float t[4]; @shared(\"t\", &t, sizeof t); @wr(0, t[i]) = 0;",
    );
    check(
        "extern __shared__ float s[]; s[i] = 0;",
        "  float (*s) = @dynamic_shared<::std::remove_pointer_t<decltype(s)>>(); @wr(0, s[i]) = 0;",
    );
    check_all(
        "extern __shared__ int s[];\n__device__ void f() { s[0] = 1; }\n",
        "typedef  int raceproof_dynamic_s[];\n__device__ void f() { @wr(0, (@dynamic_shared<::std::remove_extent_t<raceproof_dynamic_s>>())[0]) = 1; }\n",
    );
}

#[test]
fn device_variables_are_registered_and_logged() {
    check_all(
        "__device__ int n;\n__constant__ float t[4];\n__device__ void f(float *a) { n = 1; a[n] = t[0]; }\nint host(int *a) { return a[0]; }\n",
        "__device__ int n; static @symbol raceproof_symbol_0(\"n\", &n, sizeof n, @global_space);\n__constant__ float t[4]; static @symbol raceproof_symbol_1(\"t\", &t, sizeof t, @constant_space);\n__device__ void f(float *a) { @wr(0, n) = 1; @wr(1, a[@rd(2, n)]) = @rd(3, t[0]); }\nint host(int *a) { return a[0]; }\n",
    );
}

#[test]
fn lambdas_and_range_loops_are_walked() {
    check("auto g = [&](int j) { return a[j]; };", "auto g = [&](int j) { return @rd(0, a[j]); };");
    check("int t[3]; for (int &e : t) e = c[0];", "int t[3]; for (int &e : t) @wr(0, e) = @rd(1, c[0]);");
    check_all(
        "void host(int *c) { run([=] __device__(int i) { c[i] = i; }); c[0] = [&] { return c[1]; }(); }\n",
        "void host(int *c) { run([=] __device__(int i) { @wr(0, c[i]) = i; }); c[0] = [&] { return c[1]; }(); }\n",
    );
}

#[test]
fn what_is_not_instrumented_is_named() {
    let text = "__device__ int far(int *);\n__device__ void f(int *c) {\n  far(c);\n  asm(\"bar.sync 0;\");\n  nowhere(c);\n  \
                surf1Dwrite(1, lines, 0);\n}\n";
    let file = instrumented(text);
    let named: Vec<String> = file
        .unit
        .left_out
        .iter()
        .map(|it| format!("{}: {} in {}", file.sources.start_position(it.span).line, it.what, it.function))
        .collect();
    let expected = [
        "3: call of `far`, whose body is not in the unit in f",
        "4: inline assembly in f",
        "5: call of `nowhere`, which is not in the unit in f",
        "6: access to a surface (`surf1Dwrite`) in f",
    ];
    assert_eq!(named, expected);
}

#[test]
fn what_libraries_access_is_named() {
    let text = "__device__ void f(float *a, curandState *states, half *tile) {\n  __shared__ float s[32];\n  \
                __pipeline_memcpy_async(&s[0], a, 4);\n  curandState own = states[0];\n  curand_uniform(&own);\n  \
                curand_uniform(&states[1]);\n  nvcuda::wmma::load_matrix_sync(part, tile, 16);\n  \
                nvcuda::wmma::fill_fragment(part, 0.0f);\n}\n";
    let left_out = |backend| {
        let file = instrument_for(backend, Path::new("k.cu"), text, &Options::default()).expect("instrumented");
        let line = |span| file.sources.start_position(span).line;
        file.unit.left_out.iter().map(|it| format!("{}: {}", line(it.span), it.what)).collect()
    };
    let of_both = ["6: state of random numbers (`curand_uniform`)", "7: access to a matrix (`load_matrix_sync`)"];
    assert_eq!(left_out(Backend::Cpu), of_both.map(str::to_owned).to_vec());
    let of_a_gpu: Vec<String> = left_out(Backend::Cuda);
    assert_eq!(of_a_gpu, ["3: asynchronous copy (`__pipeline_memcpy_async`)", of_both[0], of_both[1]]);
}

/// A log of a GPU has no words for fences and their kin; a log of the CPU has.
#[test]
fn what_orders_threads_and_is_not_logged_on_a_gpu_is_named() {
    let text = "#include <cuda/atomic>\n__device__ int wait(int x) { return x; }\n\
                __global__ void f(int *c, cuda::atomic<int> *a) {\n  __threadfence();\n  \
                asm volatile(\"@p bar.sync 1, 64;\");\n  asm(\"ld.acquire.gpu.u32 %0, [%1];\" : \"=r\"(c[0]) : \"l\"(c));\n  \
                a->fetch_add(1);\n  __nv_atomic_store_n(c, 1, __NV_ATOMIC_RELEASE);\n  \
                cuda::atomic_ref<int>(c[1]).load();\n  \
                __syncthreads();\n  __syncwarp();\n  atomicAdd(c, wait(1));\n  asm(\"add.u32 %0, %0, 1;\" : \"+r\"(c[0]));\n}\n";
    let unordered = |backend| {
        let file = instrument_for(backend, Path::new("k.cu"), text, &Options::default()).expect("instrumented");
        let line = |span| file.sources.start_position(span).line;
        file.unit.unordered.iter().map(|it| format!("{}: {} in {}", line(it.span), it.what, it.function)).collect()
    };
    let named: Vec<String> = unordered(Backend::Cuda);
    let expected = [
        "4: `__threadfence` in f",
        "5: `bar.sync` in inline assembly in f",
        "6: `ld.acquire.gpu.u32` in inline assembly in f",
        "7: an object that threads synchronise by in f",
        "8: `__nv_atomic_store_n` in f",
        "9: `atomic_ref` in f",
    ];
    assert_eq!(named, expected);
    assert_eq!(unordered(Backend::Cpu), Vec::<String>::new());
}

#[test]
fn device_code_that_is_left_out_stops_a_compiler_that_takes_it() {
    let file = instrumented("__device__ void f(int *c) {\n#if 0\n  c[1] = 2;\n#endif\n  c[0] = 1;\n}\n");
    let body = body(&file.unit.text);
    assert!(body.contains("#if 0\n  #error"), "{body}");
    assert!(body.contains("#line 3 \"k.cu\"\nc[1] = 2;"), "{body}");
}

#[test]
fn headers_are_inlined_where_they_were_included() {
    let directory = tempfile::tempdir().expect("a directory");
    let main = directory.path().join("k.cu");
    let header = directory.path().join("h.cuh");
    std::fs::write(&header, "#pragma once\n__device__ void h(int *c) { c[0] = 1; }").expect("written");
    let text =
        "#include \"h.cuh\"\n#include \"h.cuh\"\n#include <vector>\n__device__ void f(int *c) { h(c); c[1] = 2; }\n";
    let file = instrument(&main, text, &Options::default()).expect("instrumented");
    let body = body(&file.unit.text).replace(&format!("{}/", directory.path().display()), "");
    let expected = "#line 1 \"h.cuh\"\n#pragma once\n__device__ void h(int *c) { ::raceproof::wr(0, c[0]) = 1; }\n#line 2 \"k.cu\"\n\n#include <vector>\n__device__ void f(int *c) { h(c); ::raceproof::wr(1, c[1]) = 2; }\n";
    assert_eq!(body, expected);
}

#[test]
fn sites_are_numbered_in_the_order_of_the_table() {
    let file = instrumented("#define M(x) (x)[1]\n__global__ void k(int *c) {\n  c[0] = M(c);\n}\n");
    let table = file.unit.text.split("R\"raceproof(").nth(1).expect("there is a table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "0\twrite\tk.cu\t3\t3\t3\t7\tc\tk\t");
    assert_eq!(lines[1], "1\tread\tk.cu\t3\t10\t3\t14\tc\tk\tM");
    assert_eq!(file.unit.kernels, ["k"]);
}

#[test]
fn a_pair_for_host_and_device_is_told_apart() {
    check_all(
        "__host__ int side(int x) { return 0; }\n__device__ int side(int x) { return 1; }\n__global__ void k(int *c) { c[0] = side(1); }\nint main() { return side(2); }\n",
        "__host__ int side(int x) { return 0; }\n__device__ int raceproof_device_side(int x) { return 1; }\n__global__ void k(int *c) { @parameters(c); @kernel(0, \"k\", @argument(\"c\", c), [=]() mutable { @wr(0, c[0]) = raceproof_device_side(1); @at_end(); }); }\nint main() { return side(2); }\n",
    );
}

#[test]
fn what_members_are_initialised_by_is_logged_where_constructors_run_on_the_device() {
    check_all(
        "struct P { int *q; int v = q[2]; __device__ P(int *p) : q(p) {} };\nstruct H { int *q; int v = q[2]; H(int *p) : q(p) {} };\n",
        "struct P { int *q; int v = @rd(0, @rd(1, q)[2]); __device__ P(int *p) : q(p) {} };\nstruct H { int *q; int v = q[2]; H(int *p) : q(p) {} };\n",
    );
}

/// What the output defines is what the conditionals of its text were decided with.
#[test]
fn the_output_defines_what_was_taken_for_defined() {
    let names = ["__CUDA_ARCH__", "__CUDACC_VER_MAJOR__", "__CUDACC_VER_MINOR__", "CUDART_VERSION", "CUDA_VERSION"];
    for name in names {
        let file = instrumented(&format!("#define PUT(x) c[x] = 1\n__device__ void f(int *c) {{ PUT({name}); }}\n"));
        let defined = file.unit.text.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        let value = defined.expect("it is defined");
        assert!(file.unit.text.contains(&format!("c[{value}]")), "{name} is {value}: {}", file.unit.text);
    }
}

/// All CUDA fixtures.
fn fixtures() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("fixtures")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("the directory can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 100, "the fixtures are there");
    found.sort();
    found
}

/// Law: the same text twice gives the same output; lines keep their numbers; a line without an edit is untouched.
#[test]
fn every_fixture_keeps_what_is_not_edited() {
    for path in fixtures() {
        let text = std::fs::read_to_string(&path).expect("the fixture can be read");
        let file = instrument(&path, &text, &Options::default()).expect("the fixture can be instrumented");
        let again = instrument(&path, &text, &Options::default()).expect("the fixture can be instrumented");
        assert_eq!(file.unit.text, again.unit.text);
        // A guard and a header come with their own `#line`.
        let body = body(&file.unit.text);
        if body.contains("#error") || body.contains("#line") {
            continue;
        }
        assert_eq!(body.lines().count(), text.lines().count(), "{}", path.display());
        for (new, old) in body.lines().zip(text.lines()).filter(|(new, _)| !new.contains("raceproof")) {
            // A union without a name is shared by its specifier alone; what is put around an element of several lines ends on
            // its last.
            let new = new.replace("static thread_local union", "__shared__ union");
            let new = new.replace("})])", "})]");
            assert_eq!(new, old, "{}", path.display());
        }
    }
}

#[test]
fn deep_nesting_gives_a_message() {
    for (open, close) in [("(", ")"), ("a[", "]"), ("{", "}")] {
        let mut text = String::from("__global__ void k(int *a) { ");
        // Writing to a string cannot fail.
        let _ = write!(text, "{}0{}; }}", open.repeat(100_000), close.repeat(100_000));
        let file = instrumented(&text);
        assert!(file.unit.left_out.iter().any(|it| it.what == "nested too deeply"), "{open}: {:?}", file.unit.left_out);
    }
}

/// The same for nvcc.
#[track_caller]
fn check_native(text: &str, expected: &str) {
    let file = instrument_for(Backend::Cuda, Path::new("k.cu"), text, &Options::default()).expect("instrumented");
    assert_eq!(short(body(&file.unit.text)), expected);
}

#[test]
fn for_nvcc_kernels_and_launches_stay_what_they_are() {
    check_native(
        "__device__ int d; __constant__ int c[4]; extern __shared__ int all[];\n\
         template <class T> __global__ void k(T *a, int n) { a[n] = d + all[n]; }\n\
         __global__ void none(int) {}\nvoid host(int *a) { k<<<n[0], 32>>>(a, 3); }\n",
        "__device__ int d; __constant__ int c[4]; extern __shared__ int all[];\n\
         template <class T> __global__ void k(T *a, int n) { @kernel raceproof_kernel(0, a, n); \
         @wr(0, a[n]) = @rd(1, d) + @rd(2, all[n]); }\n\
         __global__ void none(int) { @kernel raceproof_kernel(1);}\nvoid host(int *a) { k<<<n[0], 32>>>(a, 3); }\n",
    );
}

#[test]
fn for_nvcc_shared_variables_are_told_and_barriers_are_counted() {
    check_native(
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int *a) {\n\
         __shared__ int s[4], t; s[1] = 2;\n__syncthreads(); __syncwarp(3);\n\
         cg::thread_block b = cg::this_thread_block(), *p = &b;\nb.sync(); cg::sync(b);\n\
         p->sync(); cg::this_grid().sync();\n}\n",
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\
         __global__ void k(int *a) { @kernel raceproof_kernel(0, a);\n\
         __shared__ int s[4], t; @shared(0, &s, sizeof s); @shared(1, &t, sizeof t); @wr(0, s[1]) = 2;\n\
         @syncthreads(); @syncwarp(3);\ncg::thread_block b = cg::this_thread_block(), *p = &b;\n\
         @sync(b); @sync(b);\n@sync(*(p)); @sync(cg::this_grid());\n}\n",
    );
}

#[test]
fn for_nvcc_a_branch_of_the_host_stops_no_compiler() {
    let text =
        "__host__ __device__ int f(int *a) {\n#ifdef __CUDA_ARCH__\nreturn a[0];\n#else\nreturn a[1];\n#endif\n}\n";
    let file = instrument_for(Backend::Cuda, Path::new("k.cu"), text, &Options::default()).expect("instrumented");
    let guard = "#else\n#ifdef __CUDA_ARCH__\n#error";
    assert!(file.unit.text.contains(guard), "{}", file.unit.text);
    assert!(!file.unit.text.contains("#define __CUDA_ARCH__"), "{}", file.unit.text);
}

/// What was instrumented is C++ for a compiler.
#[test]
fn a_compiler_accepts_the_fixtures_of_the_traps() {
    let directory = tempfile::tempdir().expect("a directory");
    for file in cpu_files() {
        let path = directory.path().join(file.path);
        std::fs::create_dir_all(path.parent().expect("it is in a directory")).expect("created");
        std::fs::write(path, file.text).expect("written");
    }
    let names = ["macros", "references", "methods", "struct_fields", "bit_fields", "templates", "memory_copies"];
    for name in part("traps for a compiler", names.to_vec(), tiers(7, 7, 1), |name| (*name).to_owned()) {
        let path = PathBuf::from(format!("fixtures/traps/{name}.cu"));
        let text = std::fs::read_to_string(&path).expect("the fixture can be read");
        let file = instrument(&path, &text, &Options::default()).expect("the fixture can be instrumented");
        let output = directory.path().join(format!("{name}.cpp"));
        std::fs::write(&output, &file.unit.text).expect("written");
        let compiled = Command::new(cxx())
            .args(["-std=c++17", "-fsyntax-only", "-w", "-I"])
            .arg(directory.path())
            .arg(&output)
            .output()
            .expect("a C++ compiler is installed");
        assert!(compiled.status.success(), "{name}: {}", String::from_utf8_lossy(&compiled.stderr));
    }
}
