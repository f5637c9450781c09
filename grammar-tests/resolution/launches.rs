//! Launches: geometry, arguments, shared bytes, and what a constant of the host is.

use super::launched;
use raceproof::calculus::{Axis, GeometryVar};
use raceproof::launch::{Given, Launch, Relation, Term};
use raceproof::work;
use std::collections::BTreeSet;

const KERNEL: &str = "__global__ void k(float *a, int n, unsigned short m) { a[n] = m; }\n";

/// The launches of host statements in a function with an `int` parameter `x`.
fn launches(before: &str, stmts: &str) -> Vec<Launch> {
    launched(&format!("{before}{KERNEL} void host(float *d, int x) {{ {stmts} }}")).launches().to_vec()
}

#[track_caller]
fn geometry(stmts: &str, grid: [Option<u64>; 3], block: [Option<u64>; 3]) {
    let found = launches("#define B 16\nconst int W = 128;", stmts);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].grid, found[0].block), (grid, block), "{stmts}");
}

const ONE: Option<u64> = Some(1);

#[test]
fn sizes_from_literals_macros_constants_and_arithmetic() {
    geometry("k<<<4, 256>>>(d, 1, 2);", [Some(4), ONE, ONE], [Some(256), ONE, ONE]);
    geometry("k<<<W / B, B * B>>>(d, 1, 2);", [Some(8), ONE, ONE], [Some(256), ONE, ONE]);
    geometry(
        "dim3 b(B, 4); dim3 g(W / b.x, 2, 3); k<<<g, b>>>(d, 1, 2);",
        [Some(8), Some(2), Some(3)],
        [Some(16), Some(4), ONE],
    );
    geometry("k<<<dim3(2, 2), dim3(8)>>>(d, 1, 2);", [Some(2), Some(2), ONE], [Some(8), ONE, ONE]);
    geometry(
        "int t = 64; int n = 1000; k<<<(n + t - 1) / t, t>>>(d, 1, 2);",
        [Some(16), ONE, ONE],
        [Some(64), ONE, ONE],
    );
    geometry("dim3 b = dim3(B, B); k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(16), Some(16), ONE]);
    geometry(
        "dim3 b{B, 2, 1}; if (x) { for (;;) { k<<<1, b>>>(d, 1, 2); } }",
        [ONE, ONE, ONE],
        [Some(16), Some(2), ONE],
    );
}

#[test]
fn what_may_change_is_not_known() {
    geometry("k<<<x, 32>>>(d, 1, 2);", [None, ONE, ONE], [Some(32), ONE, ONE]);
    geometry("dim3 g(x / 16, 4); k<<<g, 32>>>(d, 1, 2);", [None, Some(4), ONE], [Some(32), ONE, ONE]);
    geometry("int t = 64; if (x) t = 128; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("int t = 64; read(&t); k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("int t = 64; t += x; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("int t = 64; t++; t *= 2; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(130), ONE, ONE]);
    geometry("dim3 b(32); b.y = x; k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(32), None, ONE]);
    geometry("int t = 64; int &r = t; r = 3; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("for (int t = 32; t < x; t *= 2) k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("int t = 64; while (x) { k<<<1, t>>>(d, 1, 2); t = 32; }", [ONE, ONE, ONE], [None, ONE, ONE]);
}

#[test]
fn what_was_assigned_last_is_known() {
    geometry("int t; t = 64; k<<<1, t>>>(d, 1, 2); t = 32;", [ONE, ONE, ONE], [Some(64), ONE, ONE]);
    geometry("dim3 b; b.x = 8; b.y = 4; k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(8), Some(4), ONE]);
    geometry("int t = 9; if (x) t = 8; else t = 8; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(8), ONE, ONE]);
    geometry("char c; int t; t = c = 300; k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [None, ONE, ONE]);
    geometry("for (int t = 32; t < 64; t *= 2) k<<<1, t>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(32), ONE, ONE]);
}

#[test]
fn what_is_not_understood_may_change_everything_but_constants() {
    let found = launches("", "int t = 64; const int c = 32; auto set = [&]() { t = 3; }; set(); k<<<c, t>>>(d, 1, 2);");
    assert_eq!((found[0].grid[0], found[0].block[0]), (Some(32), None));
}

#[test]
fn a_host_function_may_change_what_it_takes_by_reference() {
    let found = launches(
        "void set(int &v) { v = 3; } void get(int v) { }",
        "int t = 64; set(t); int u = 8; get(u); k<<<u, t>>>(d, 1, 2);",
    );
    assert_eq!((found[0].grid[0], found[0].block[0]), (Some(8), None));
}

#[test]
fn arguments_and_shared_bytes() {
    let found = launches(
        "",
        "const int n = 1 << 10; k<<<1, 2, n * sizeof(float), 0>>>(d, n - 1, 70000); k<<<1, 2, x>>>(d, x, 3);",
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].args, [None, Some(1023), Some(4464)], "arguments are converted to the parameters' types");
    assert_eq!(found[0].shared_bytes, Some(4096));
    assert_eq!(found[1].args, [None, None, Some(3)]);
    assert_eq!(found[1].shared_bytes, None);
}

#[test]
fn a_launch_names_the_overload_and_instance_that_fits() {
    let found = launched(
        "__global__ void k(int *a) { } __global__ void k(float *a, int n) { } template <int N> __global__ void t(float *a) { a[N] = 1; }
         void host(float *f) { k<<<1, 2>>>(f, 3); const int n = 5; t<n * 2><<<1, 3>>>(f); }",
    );
    let named: Vec<_> = found
        .launches()
        .iter()
        .map(|launch| {
            let kernel = &found.program.functions[launch.kernel];
            (kernel.name.clone(), kernel.params.len(), kernel.template_args.join(","))
        })
        .collect();
    assert_eq!(named, [("k".to_owned(), 2, String::new()), ("t".to_owned(), 1, "10".to_owned())]);
}

#[test]
fn launches_stand_in_methods_and_templates() {
    let found = launched(&format!(
        "{KERNEL} struct R {{ void go(float *d) {{ k<<<7, 8>>>(d, 1, 2); }} }}; namespace n {{ template <int B> void run(float *d) {{ k<<<1, B>>>(d, 1, 2); }} }}
         void host(float *d) {{ n::run<32>(d); }}"
    ));
    let sizes: Vec<_> = found.launches().iter().map(|launch| (launch.grid[0], launch.block[0])).collect();
    assert_eq!(sizes, [(Some(7), Some(8)), (Some(1), Some(32))]);
}

#[test]
fn host_templates_give_their_arguments_to_the_kernels_that_they_launch() {
    let found = launched(
        "template <typename T, int B> __global__ void k(T *a) { a[B] = 1; }
         template <typename T> void inner(int s, T *d) { switch (s) { case 1: k<T, 64><<<1, 64>>>(d); break; case 2: k<T, 32><<<2, 32>>>(d); } }
         template <typename T> void outer(T *d) { inner<T>(1, d); }
         template void inner<double>(int, double *);
         template <int B> void open(float *d) { k<float, B><<<3, B>>>(d); }
         void host(int *d) { outer(d); }",
    );
    let named: Vec<_> = found
        .launches()
        .iter()
        .map(|launch| (found.program.functions[launch.kernel].template_args.join(","), launch.block[0]))
        .collect();
    let expect = [("double,64", 64), ("int,64", 64), ("double,32", 32), ("int,32", 32)];
    for (args, block) in expect {
        assert!(named.contains(&(args.to_owned(), Some(block))), "{args} in {named:?}");
    }
    assert!(named.contains(&(String::new(), None)), "a template that nothing calls keeps its kernel open: {named:?}");
    assert_eq!(named.len(), 5);
}

/// The sizes along x and the second arguments of all launches of a text after the kernel.
fn sizes(text: &str) -> Vec<(Option<u64>, Option<u64>, Option<i128>)> {
    let found = launched(&format!("{KERNEL}{text}"));
    found
        .launches()
        .iter()
        .map(|launch| (launch.grid[0], launch.block[0], launch.args.get(1).copied().flatten()))
        .collect()
}

#[test]
fn constant_arguments_of_host_functions_reach_their_launches() {
    let run = "static void run(float *d, int n, const dim3 &b) { k<<<(n + b.x - 1) / b.x, b>>>(d, n, 2); }";
    let once = format!("{run} void outer(float *d, int n) {{ run(d, n, dim3(32)); }} int main() {{ outer(0, 100); }}");
    assert_eq!(sizes(&once), [(Some(4), Some(32), Some(100))]);
    let twice = format!("{run} int main() {{ int m = 64; run(0, m, 16); run(0, 8, dim3(8)); }}");
    assert_eq!(sizes(&twice), [(Some(4), Some(16), Some(64)), (ONE, Some(8), Some(8))]);
}

#[test]
fn a_function_that_may_be_called_in_other_ways_stays_open() {
    let run = "void run(float *d, int n) { k<<<1, n>>>(d, n, 2); }";
    let open = (ONE, None, None);
    assert_eq!(sizes(run), [open], "nothing calls it");
    assert_eq!(sizes(&format!("{run} void other(float *d, int n) {{ run(d, n); }}")), [open]);
    let pointer = format!("{run} void (*table[])(float *, int) = {{ run }}; int main() {{ run(0, 4); }}");
    assert_eq!(sizes(&pointer), [(ONE, Some(4), Some(4)), open], "its address is taken");
    let recursive = "void run(float *d, int n) { k<<<1, n>>>(d, n, 2); if (d) run(d, n); }";
    assert_eq!(sizes(recursive), [open], "only itself calls it");
    let changed = "void run(float *d, int n) { n *= x; k<<<1, n>>>(d, n, 2); } int main() { run(0, 4); }";
    assert_eq!(sizes(changed), [open], "it changes its parameter");
    let doubled = "void run(float *d, int n) { n *= 2; k<<<1, n>>>(d, n, 2); } int main() { run(0, 4); }";
    assert_eq!(sizes(doubled), [(ONE, Some(8), Some(8))], "by a constant");
}

#[test]
fn a_branch_that_is_never_taken_launches_nothing() {
    let run = "void run(float *d, int b) { if (b == 8) { k<<<1, 8>>>(d, 1, 2); } else { k<<<2, b>>>(d, 3, 2); } }";
    assert_eq!(sizes(&format!("{run} int main() {{ run(0, 16); }}")), [(Some(2), Some(16), Some(3))]);
    assert_eq!(sizes(run), [(ONE, Some(8), ONE.map(i128::from)), (Some(2), None, Some(3))]);
}

#[test]
fn sizes_rounded_in_floating_point() {
    let round = "size_t";
    let rounded = |size: &str| sizes(&format!("int main() {{ dim3 b(32, 8); k<<<{size}, b>>>(0, 1, 2); }}"))[0].0;
    assert_eq!(rounded(&format!("({round})(ceil(((float)1000) / ((float)b.x)))")), Some(32));
    assert_eq!(rounded("(int)ceil(100 / 32.0)"), Some(4));
    assert_eq!(rounded("(int)floorf(100 / 32.0f)"), Some(3));
    assert_eq!(rounded("ceil(16777217.0f)"), Some(16_777_216), "a float has 24 bits");
    assert_eq!(rounded("(int)sqrt(16.0)"), None);
}

/// What the first launch in a function with an `int` parameter `x` says of its sizes and its second argument.
fn relations(stmts: &str) -> Vec<String> {
    said(&launches("", stmts).remove(0))
}

/// The relations of a launch in words: `g`, `b` for the sizes along x, `a0`, `a1` for the arguments.
fn said(launch: &Launch) -> Vec<String> {
    let term = |term: &Term| match *term {
        Term::Size(GeometryVar::GridDim(Axis::X)) => "g".to_owned(),
        Term::Size(GeometryVar::BlockDim(Axis::X)) => "b".to_owned(),
        Term::Size(other) => format!("{other:?}"),
        Term::Param(position) => format!("a{position}"),
    };
    let words = |relation: &Relation| match relation {
        Relation::NotNegative { terms, plus } => {
            let product = |(factor, product): &(i128, Vec<Term>)| {
                format!("{factor} {}", product.iter().map(term).collect::<Vec<_>>().join(" "))
            };
            let terms: Vec<String> = terms.iter().map(product).collect();
            format!("{} + {plus} >= 0", terms.join(" + "))
        }
        Relation::Power(of) => format!("{} is a power of two", term(of)),
        Relation::Multiple(of, divisor) => format!("{} is a multiple of {divisor}", term(of)),
    };
    let mut said: Vec<String> = launch.relations.iter().map(words).collect();
    said.sort();
    said
}

#[test]
fn a_size_is_related_to_the_argument_that_it_divides() {
    // The blocks fit, and one more would not.
    let blocks =
        |times: i32| [format!("-{times} g + 1 a1 + 0 >= 0"), format!("{times} g + -1 a1 + {} >= 0", times - 1)];
    assert_eq!(relations("k<<<x / 32, 32>>>(d, x, 2);"), blocks(32));
    assert_eq!(relations("int b = x >> 3; k<<<b / 4, 32>>>(d, x, 2);"), blocks(32));
    assert_eq!(relations("x += 1; dim3 g(x / 16, 2); k<<<g, 32>>>(d, x, 2);"), blocks(16));
    assert_eq!(relations("dim3 g(x / 16, 2); x += 16; k<<<g, 32>>>(d, x - 16, 2);"), blocks(16));
    let rest: [&str; 0] = [];
    assert_eq!(relations("dim3 g(x / 16, 2); x = f(); k<<<g, 32>>>(d, x, 2);"), rest, "it changes in between");
    assert_eq!(relations("int y = f(); k<<<x / 32, 32>>>(d, y, 2);"), rest, "another value");
    assert_eq!(
        relations("k<<<(x + 31) / 32, 32>>>(d, x, 2);"),
        ["-32 g + 1 a1 + 31 >= 0", "32 g + -1 a1 + 0 >= 0"],
        "rounded up"
    );
}

#[test]
fn an_argument_that_a_loop_counts_lies_between_its_bounds() {
    let bounds = ["-1 a1 + 9 >= 0", "1 a1 + -4 >= 0"];
    assert_eq!(relations("for (int i = 3; i < 9; i++) k<<<1, 32>>>(d, i + 1, 2);"), bounds);
    assert_eq!(relations("for (int i = 9; i > 3; --i) k<<<1, 32>>>(d, i, 2);"), bounds);
    let none: [&str; 0] = [];
    assert_eq!(
        relations("for (int i = 3; i < 9; i++) { if (x) i = 0; k<<<1, 32>>>(d, i, 2); }"),
        ["-1 a1 + 8 >= 0"],
        "no iteration starts beyond the bound"
    );
    assert_eq!(relations("for (int i = 3; i < 9; i++) { if (x) i = x; k<<<1, 32>>>(d, i, 2); }"), none);
    assert_eq!(relations("int i; for (i = 3; i < 9; i++) { } k<<<1, 32>>>(d, i, 2);"), none, "after the loop");
}

#[test]
fn one_pointer_for_two_parameters() {
    let found = launched(
        "__global__ void k(float *a, const float *b, int n) { }
         void host(float *p, float *q) { k<<<1, 1>>>(p, (const float *)p, 1); k<<<1, 1>>>(p, q, 1); }",
    );
    assert_eq!(found.launches()[0].same_pointers, [(0, 1)]);
    assert_eq!(found.launches()[1].same_pointers, []);
}

/// The second argument of the last launch of a text after the kernel.
fn argument(text: &str) -> Option<i128> {
    sizes(text).last().expect("there is a launch").2
}

/// Declarations that hostile and friendly host code uses.
const HOST: &str = "
    void set(int &v); void keep(int *v); int read(const int &v); int take(int v); typedef int &Other; void alias(Other v);
    struct Reader { Reader(int &v) : kept(v) {} int &kept; void fill(int &v); int size(int v); };
    struct Pair { int &first; int second; };
    struct Plain { Plain(int v); int size(int v); int value; };
    template <typename T> void generic(T &&v); template <typename T> T square(T v);
    int &same(int &v); Reader operator|(Reader r, int &v);";

#[test]
fn what_may_have_got_hold_of_a_variable_leaves_nothing_known_of_it() {
    let after = |stmts: &str| {
        argument(&format!("{HOST} int main(int c, char **v) {{ int n = 1, m = 2; {stmts} k<<<1, 32>>>(0, n, 2); }}"))
    };
    for stmts in [
        "int &r = c > 1 ? n : m; r = 2;",
        "int &r = (m, n); r = 2;",
        "auto &&r = n; r = 2;",
        "Other r = n; r = 2;",
        "decltype((n)) r = n; r = 2;",
        "(c > 1 ? n : m) = 2;",
        "(c ? n : m)++;",
        "std::tie(n, m) = f();",
        "auto t = std::tie(n, m); t = f();",
        "std::swap(n, m);",
        "swap(n, m);",
        "auto r = std::ref(n); r.get() = 2;",
        "std::reference_wrapper<int> r(n);",
        "std::thread t(work, std::ref(n));",
        "Reader r(n);",
        "Reader r = n;",
        "Reader r{n};",
        "Pair p{n, 3}; p.first = 2;",
        "Reader *r = new Reader(n);",
        "Reader(n).kept = 2;",
        "Unknown u(n);",
        "Unknown u{n};",
        "Holder<int &> h{n};",
        "set(n);",
        "alias(n);",
        "keep(&n);",
        "generic(n);",
        "same(n) = 2;",
        "void (*f)(int &) = set; f(n);",
        "getArg(v, \"n\", n);",
        "args::read(n);",
        "parser.read(n);",
        "Reader r(m); r.fill(n);",
        "std::cin >> n;",
        "std::cin >> m >> n;",
        "input() >> n;",
        "Reader r(m); r | n;",
        "sscanf(v[1], \"%d\", &n);",
        "scanf(\"%d\", &(n));",
        "int *p = &n; *p = 2;",
        "int *p = c ? &n : &m; *p = 2;",
        "for (int &e : {std::ref(n)}) e = 2;",
        "for (auto p : {&n, &m}) *p = 2;",
        "auto f = [&] { n = 2; }; f();",
        "auto f = [&n](int v) { n = v; }; f(2);",
        "again: n++; if (c-- > 0) goto again;",
        "try { n = f(); } catch (...) { }",
        "asm(\"\" : \"=r\"(n));",
        "const_cast<int &>(n) = 2;",
        "((int &)n) = 2;",
        "set((int &)n);",
        "std::from_chars(v[1], v[2], n);",
        "n = std::stoi(v[1]);",
        "if (c > 1) n = std::atoi(v[1]);",
        "keep(&n); n = 1;",
        "set(n); n = 1;",
    ] {
        assert_eq!(after(stmts), None, "{stmts}");
    }
}

#[test]
fn what_only_reads_a_variable_leaves_it_known() {
    let after = |stmts: &str| {
        argument(&format!(
            "{HOST} int main(int c, char **v) {{ int n = 1, m = 2; float *p; {stmts} k<<<1, 32>>>(0, n, 2); }}"
        ))
    };
    for stmts in [
        "cudaMalloc(&p, n * sizeof(float));",
        "cudaMalloc((void **)&p, n);",
        "cudaMallocManaged(&p, n); cudaMemset(p, 0, n);",
        "checkCudaErrors(cudaMemcpy(p, p, n, cudaMemcpyHostToDevice));",
        "printf(\"%d\", n); fprintf(stderr, \"%d\", n);",
        "float *h = (float *)malloc(n); h = new float[n]; memset(h, 0, n); free(h);",
        "std::vector<float> h(n); h.resize(n); h.push_back(n);",
        "thrust::device_vector<int> h(n, m); thrust::fill(h.begin(), h.end(), n);",
        "m = std::min(n, m); m = max(n, 3);",
        "std::cout << n << std::endl;",
        "read(n); take(n); square(n);",
        "Plain q(n); q.size(n);",
        "int o = n, w[] = {n, m}; dim3 b(n, m); float f = n; f = static_cast<float>(n);",
        "for (int i = 0; i < n; i++) { m += n; }",
        "const int &r = m; m = c ? n : 3; m = (m << n) + (m >> 1);",
        "int *q = &m; *q = n;",
        "if (argc > n) return 1;",
        "k<<<1, 32>>>(0, n, 2);",
        "auto f = [&](int v) { m = v; }; f(2); delete[] p; if (typeid(n) == typeid(m)) throw c;",
        "int4 v = make_int4(n, m, n, m); cudaExtent e = make_cudaExtent(n, m, n);",
        "assert(n > 0); srand(n); m = pow(2, n);",
        "char text[32]; sprintf(text, \"%d\", n);",
        "curandGenerator_t g; curandGenerateUniform(g, p, n); cublasSaxpy(h, n, &a, p, 1, p, 1);",
    ] {
        assert_eq!(after(stmts), Some(1), "{stmts}");
    }
}

#[test]
fn what_is_known_stays_so_until_something_gets_hold_of_it() {
    let before = "int main() { int n = 1; k<<<1, 32>>>(0, n, 2); getArg(n); }";
    assert_eq!(argument(before), Some(1));
    let around = "int main(int c, char **v) { int n = 1; while (c--) { k<<<1, 32>>>(0, n, 2); getArg(n); } }";
    assert_eq!(argument(around), None, "the next iteration");
    let between =
        "int main(int c, char **v) { int n = 1; if (c) getArg(n); else n = 1; n = 1; k<<<1, 32>>>(0, n, 2); }";
    assert_eq!(argument(between), None, "one way around");
    let counted = "int main() { int i; getArg(i); for (i = 0; i < 3; i++) k<<<i, 32>>>(0, i, 2); }";
    assert_eq!(argument(counted), None, "a counter that others have");
    let kept = "int main() { static int n = 1; k<<<1, 32>>>(0, n, 2); }";
    assert_eq!(argument(kept), None, "what is left from the call before");
    let hidden = "int main() { const int n = 1; { auto [n, m] = f(); k<<<1, 32>>>(0, n, 2); } }";
    assert_eq!(argument(hidden), None, "a structured binding");
    let jumped = "int main(int c, char **v) { goto in; if (false) { in: k<<<1, 32>>>(0, 2, 2); } }";
    assert_eq!(argument(jumped), Some(2), "a branch that is never taken is got into");
}

#[test]
fn a_function_that_other_units_may_call_stays_open() {
    let open = [(ONE, Some(32), ONE.map(i128::from)), (ONE, Some(32), None)];
    let known = [open[0]];
    let launch = "void launch(int n) { k<<<1, 32>>>(0, n, 2); }";
    assert_eq!(sizes(&format!("{launch} void a() {{ launch(1); }}")), open);
    assert_eq!(sizes(&format!("extern \"C\" {{ {launch} }} void a() {{ launch(1); }}")), open);
    assert_eq!(sizes(&format!("static {launch} void a() {{ launch(1); }}")), known);
    assert_eq!(sizes(&format!("namespace {{ {launch} }} void a() {{ launch(1); }}")), known);
    assert_eq!(sizes(&format!("{launch} int main() {{ launch(1); }}")), known, "the unit is the program");
    let once = format!("static {launch} static int once = (launch(2), 0); int main() {{ launch(1); }}");
    assert_eq!(sizes(&once), open, "an initialiser calls it, too");
    let unread = format!("static {launch} int main() {{ launch(1); try {{ launch(2); }} catch (...) {{ }} }}");
    assert_eq!(sizes(&unread), open, "so may text that is not read");
    let argument = format!(
        "static {launch} static int get(int n) {{ launch(n); return n; }} int main() {{ k<<<1, 32>>>(0, get(1), 2); }}"
    );
    assert!(sizes(&argument).contains(&open[0]), "an argument of a launch calls it");
    assert_eq!(sizes(&format!("void other(); {launch} int main() {{ launch(1); other(); }}")), open, "other() may");
}

#[test]
fn launches_through_pointers_and_helpers_are_followed() {
    let through = |text: &str| sizes(&format!("typedef void (*F)(float *, int, unsigned short); {text}"));
    let known = |n| (ONE, Some(32), Some(n));
    assert_eq!(
        through(
            "static void go(F f, int n) { f<<<1, 32>>>(0, n, 2); } int main() { k<<<1, 32>>>(0, 1, 2); go(k, 2); }"
        ),
        [known(2), known(1)]
    );
    assert_eq!(
        through(
            "static void go(F f) { f<<<1, 32>>>(0, 3, 2); } static void on(F f) { go(f); } int main() { F f = k; on(f); }"
        ),
        [known(3)]
    );
    assert_eq!(
        through(
            "template <typename K, typename... A> void launch(K f, int b, A... args) { f<<<1, b>>>(args...); }
             int main() { launch(k, 32, (float *)0, 2, 2); }"
        ),
        [known(2)]
    );
    assert_eq!(
        through(
            "template <typename... A> void twice(A &&...x) { ((x *= 2), ...); }
             int main() { int m = 1, n = 2; twice(m, n); k<<<1, 32>>>(0, n, 2); }"
        ),
        [(ONE, Some(32), None)],
        "any of what a pack is given may be changed"
    );
}

#[test]
fn where_a_kernel_s_address_escapes_it_is_launched_otherwise_too() {
    let last = |text: &str| {
        let found = launched(&format!("typedef void (*F)(float *, int, unsigned short); {KERNEL}{text}"));
        found.launches().last().map(|launch| launch.given[0])
    };
    for text in [
        "int main() { k<<<1, 32>>>(0, 1, 2); benchmark(k, 2); }",
        "int main() { k<<<1, 32>>>(0, 1, 2); benchmark((void *)&k); }",
        "F table[] = {k}; int main() { k<<<1, 32>>>(0, 1, 2); }",
        "F kept; int main() { k<<<1, 32>>>(0, 1, 2); kept = k; }",
        "template <F f> void run() { f<<<1, 32>>>(0, 2, 2); } int main() { k<<<1, 32>>>(0, 1, 2); run<k>(); }",
        "int main() { k<<<1, 32>>>(0, 1, 2); Runner<k> r; }",
        "int main() { k<<<1, 32>>>(0, 1, 2); Runner r(k); r.go(); }",
        "F get(); int main(int c, char **v) { k<<<1, 32>>>(0, 1, 2); F f = c ? k : get(); f<<<1, 32>>>(0, 2, 2); }",
        "int main() { k<<<1, 32>>>(0, 1, 2); try { k<<<1, 32>>>(0, 2, 2); } catch (...) { } }",
        "struct S { F f = k; }; int main() { k<<<1, 32>>>(0, 1, 2); }",
    ] {
        assert!(matches!(last(text), Some(Given::Elsewhere | Given::Unread)), "{text}");
    }
    for text in [
        "int main() { k<<<1, 32>>>(0, 1, 2); cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 9); }",
        "int main() { int b; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, k, 32, 0); k<<<1, 32>>>(0, 1, 2); }",
        "int main() { F f = k; f<<<1, 32>>>(0, 1, 2); f = nullptr; }",
        "static void go(F f) { f<<<1, 32>>>(0, 2, 2); } int main() { k<<<1, 32>>>(0, 1, 2); go(&k); }",
    ] {
        assert_eq!(last(text), Some(Given::ByAxis), "{text}");
    }
}

/// A kernel that is defined elsewhere is asked about and handed on like others.
#[test]
fn names_of_kernels_that_are_only_declared_are_followed() {
    let found = launched(
        "typedef void (*F)(float *); __global__ void far(float *); static void go(F f) { f<<<1, 32>>>(0); }
         int main() { cudaFuncSetAttribute(far, cudaFuncAttributeMaxDynamicSharedMemorySize, 9); far<<<1, 32>>>(0); go(far); }",
    );
    let given: Vec<Given> = found.launches().iter().map(|launch| launch.given[0]).collect();
    assert_eq!(given, [Given::ByAxis, Given::ByAxis]);
}

/// Of two functions that call each other, what holds of one while the other is looked at is not kept when it turns out that
/// the other lets the kernel escape.
#[test]
fn functions_that_call_each_other_let_kernels_escape_together() {
    let escaping = |first: &str, second: &str| {
        let found = launched(&format!(
            "typedef void (*F)(float *, int, unsigned short); {KERNEL}
             __global__ void j(float *, int, unsigned short) {{ }}
             F kept; void f(F); void g(F q) {{ q<<<1, 32>>>(0, 2, 2); f(q); }} void f(F p) {{ g(p); kept = p; }}
             int main() {{ {first}(j); {second}(k); }}"
        ));
        let is_elsewhere = |launch: &&Launch| matches!(launch.given[0], Given::Elsewhere | Given::Unread);
        found.launches().iter().filter(is_elsewhere).map(|launch| launch.kernel.index()).collect::<BTreeSet<_>>().len()
    };
    for (first, second) in [("f", "g"), ("g", "f"), ("f", "f"), ("g", "g")] {
        assert_eq!(escaping(first, second), 2, "{first}, {second}");
    }
}

/// Calls of a template beyond those that are told apart, and all once the work that a file may take is done: there is a launch of
/// which nothing is known.
#[test]
fn what_is_not_looked_at_for_itself_is_looked_at_with_open_parameters() {
    let go = "template <int N> void go(float *d) { k<<<1, N>>>(d, 1, 2); }";
    let calls = |count: usize| (1..=count).map(|at| format!("go<{at}>(0);")).collect::<String>();
    let text = |count| format!("{KERNEL}{go} int main() {{ {} }}", calls(count));
    let is_open = |text: &str| launched(text).launches().iter().any(|launch| launch.block[0].is_none());
    assert!(!is_open(&text(3)));
    assert!(is_open(&text(400)));
    assert!(work::within(0, || is_open(&text(3))));
}

#[test]
fn a_size_that_braces_make_is_one_where_they_leave_something_out() {
    geometry("dim3 b = {8, 2}; k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(8), Some(2), ONE]);
    geometry("dim3 b{8}; k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(8), ONE, ONE]);
    geometry("dim3 b = {}; k<<<x, b>>>(d, 1, 2);", [None, ONE, ONE], [ONE, ONE, ONE]);
    geometry("dim3 b; k<<<b, dim3()>>>(d, 1, 2);", [ONE, ONE, ONE], [ONE, ONE, ONE]);
    geometry("dim3 b(8, x); k<<<1, b>>>(d, 1, 2);", [ONE, ONE, ONE], [Some(8), None, ONE]);
    geometry("dim3 b(8, 4); while (x--) { b.x /= 2; k<<<1, b>>>(d, 1, 2); }", [ONE, ONE, ONE], [None, Some(4), ONE]);
    geometry("dim3 b(8, 4); if (x) b.y = 2; else b.x = 8; k<<<1, b>>>(d, 1, 2);", [ONE; 3], [Some(8), None, ONE]);
    geometry("dim3 b(8, 4); if (x) b = size(x); k<<<1, b>>>(d, 1, 2);", [ONE; 3], [None; 3]);
    let given = |stmts: &str| launches("", stmts)[0].given;
    assert_eq!(given("dim3 b(8, x); k<<<x, b>>>(d, 1, 2);"), [Given::ByAxis; 2]);
    assert_eq!(given("dim3 b = blocks(8, x); k<<<x, b>>>(d, 1, 2);"), [Given::ByAxis, Given::AsAWhole]);
}
