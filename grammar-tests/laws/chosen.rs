//! Random CUDA kernels as text in which types decide what is called: overloads by `const`, references and value category,
//! by enumerations and integers of one width, by declarations before and after; templates and their specialisations, of
//! which one is more special; what a template parameter deduces; constructors and conversions by `explicit`, `const` and what
//! is given up; names in bases that depend on a parameter; names that arguments lead to; bit-fields, characters and strings.
//!
//! Each function gives a number of its own, which the kernel writes to `o`, of type `OUT`. Every call has one best function:
//! references and values of one type never stand side by side, and some overload always takes the argument's own type.

use super::maker::Maker;
use std::fmt::Write as _;

/// Types that are chosen between, with what makes a value of them from a number.
const TYPES: [(&str, &str); 10] = [
    ("int", "int(%)"),
    ("unsigned", "unsigned(%)"),
    ("long", "long(%)"),
    ("long long", "(long long)(%)"),
    ("char", "char(%)"),
    ("signed char", "(signed char)(%)"),
    ("double", "double(%)"),
    ("E", "E(%)"),
    ("C", "C(%)"),
    ("S", "S{int(%)}"),
];

const TYPES_OF_THE_KERNEL: &str = "enum E { e0, e1 }; enum class C : int { c0, c1 }; struct S { int v; }; struct T : S {};\n\
     template<class X> struct B { X v; };\n";

/// A kernel that is decided by `seed`.
pub(super) fn kernel(seed: u64) -> String {
    Maker::kernel(seed, TYPES_OF_THE_KERNEL, 13, |maker, piece| match piece {
        0 => maker.references(),
        1 => maker.types(),
        2 => maker.methods(),
        3 => maker.specialisations(),
        4 => maker.templates(),
        5 => maker.places(),
        6 => maker.conversions(),
        7 => maker.moves(),
        8 => maker.dependent_names(),
        9 => maker.bit_fields(),
        10 => maker.literals(),
        11 => maker.special_references(),
        _ => maker.deduced(),
    })
}

impl Maker {
    /// Some of a list, in another order; always the first `sure` of them.
    fn some<'a>(&mut self, of: &[&'a str], sure: usize) -> Vec<&'a str> {
        let mut chosen: Vec<&str> = Vec::new();
        for (at, item) in of.iter().enumerate() {
            if at < sure || self.dice.below(3) > 0 {
                let place = self.dice.below(chosen.len() as u64 + 1) as usize;
                chosen.insert(place, item);
            }
        }
        chosen
    }

    fn number(&mut self) -> u64 {
        self.dice.below(1000)
    }

    fn own_type(&mut self) -> (&'static str, &'static str) {
        self.dice.pick(&TYPES)
    }

    /// An object of a type in the kernel, and an expression of it: with a place, without, constant, given up.
    fn argument(&mut self, ty: &str, value: &str) -> String {
        let x = self.name("x");
        let value = value.replace('%', self.dice.pick(&["n", "1", "m"]));
        writeln!(self.body, "  {ty} {x} = {value}; const {ty} c{x} = {x}; {ty} *p{x} = &{x}; const {ty} *q{x} = &{x};")
            .expect("text");
        writeln!(self.body, "  {ty} &r{x} = {x}; const {ty} &s{x} = {x}; {ty} a{x}[1] = {{{x}}};").expect("text");
        let forms = ["%", "c%", "*p%", "*q%", "r%", "s%", "a%[0]", "TY(%)", "static_cast<TY &&>(%)", "(n, %)"];
        let ty = if ty.contains(' ') { "auto" } else { ty };
        let form = self.dice.pick(&forms);
        // A type of two words makes no value by its name.
        let form = if ty == "auto" && form.contains("TY") { "%" } else { form };
        form.replace('%', &x).replace("TY", ty)
    }

    /// Overloads by what references bind to.
    fn references(&mut self) {
        let (f, (ty, value)) = (self.name("f"), self.own_type());
        for form in self.some(&["const TY &", "TY &", "TY &&"], 1) {
            let number = self.number();
            writeln!(self.before, "__device__ int {f}({}) {{ return {number}; }}", form.replace("TY", ty))
                .expect("text");
        }
        let argument = self.argument(ty, value);
        self.write(&format!("{f}({argument})"));
    }

    /// Overloads by types that look alike.
    fn types(&mut self) {
        let (f, (ty, value)) = (self.name("f"), self.own_type());
        let others: Vec<&str> = TYPES.iter().map(|(other, _)| *other).filter(|other| *other != ty).collect();
        let mut all = self.some(&others, 0);
        all.insert(0, ty);
        let pointers = self.dice.below(3) == 0;
        for ty in all {
            let (number, star) = (self.number(), if pointers { "*" } else { "" });
            writeln!(self.before, "__device__ int {f}({ty} {star}) {{ return {number}; }}").expect("text");
        }
        if pointers {
            let number = self.number();
            writeln!(self.before, "__device__ int {f}(const {ty} *) {{ return {number}; }}").expect("text");
            writeln!(self.before, "__device__ int {f}(const void *) {{ return {}; }}", number + 1).expect("text");
        }
        let argument = self.argument(ty, value);
        self.write(&if pointers { format!("{f}(&(const {ty} &)({argument}))") } else { format!("{f}({argument})") });
        if pointers {
            let x = self.name("y");
            writeln!(self.body, "  {ty} {x} = {};", value.replace('%', "n")).expect("text");
            self.write(&format!("{f}(&{x})"));
        }
    }

    /// Methods by what they are called on.
    fn methods(&mut self) {
        let r = self.name("R");
        let forms: &[&str] = match self.dice.below(2) {
            0 => &["const", ""],
            _ => &["const &", "&", "&&"],
        };
        writeln!(self.before, "struct {r} {{ int v;").expect("text");
        for name in ["f", "operator[]", "operator()"] {
            for form in self.some(forms, 1) {
                let number = self.number();
                writeln!(self.before, "  __device__ int {name}(int x) {form} {{ return v + x + {number}; }}")
                    .expect("text");
            }
        }
        let inner = self.dice.pick(&["const", ""]);
        writeln!(self.before, "  __device__ int g() {inner} {{ return f(1) + (*this)[2]; }} }};").expect("text");
        writeln!(self.before, "struct H{r} {{ {r} a; {r} b[2]; const {r} c; }};").expect("text");
        let x = self.name("x");
        writeln!(self.body, "  {r} {x}{{n}}; const {r} c{x}{{m}}; {r} *p{x} = &{x}; const {r} &s{x} = {x};")
            .expect("text");
        writeln!(
            self.body,
            "  H{r} h{x}{{{{1}}, {{{{2}}, {{3}}}}, {{4}}}}; const H{r} k{x}{{{{1}}, {{{{2}}, {{3}}}}, {{4}}}};"
        )
        .expect("text");
        for _ in 0..3 {
            let objects = ["%", "c%", "(*p%)", "s%", "h%.a", "h%.b[1]", "h%.c", "k%.a", "k%.b[0]", "R{5}"];
            let object = self.dice.pick(&objects).replace('%', &x).replace('R', &r);
            let call = self.dice.pick(&[".f(3)", "[4]", "(5)"]);
            self.write(&format!("{object}{call}"));
        }
        if inner == "const" {
            self.write(&format!("c{x}.g()"));
        }
        self.write(&format!("{x}.g()"));
    }

    /// Partial and full specialisations of a class template.
    fn specialisations(&mut self) {
        let p = self.name("P");
        writeln!(self.before, "template<class X, class Y = int> struct {p} {{ static const int v = 0; }};")
            .expect("text");
        let heads = [
            ("class X", "X *, int"),
            ("class X", "const X, int"),
            ("class X", "const X *, int"),
            ("class X", "X &, int"),
            ("class X", "X &&, int"),
            ("class X", "X **, int"),
            ("class X", "X[3], int"),
            ("class X", "B<X>, int"),
            ("template<class> class G, class X", "G<X>, int"),
            ("class X", "B<X *>, int"),
            ("class X", "X, X"),
            ("", "int, int"),
            ("", "long, int"),
            ("", "E, int"),
            ("", "char, int"),
        ];
        for (head, args) in heads {
            if self.dice.below(2) == 0 {
                let number = self.number();
                writeln!(self.before, "template<{head}> struct {p}<{args}> {{ static const int v = {number}; }};")
                    .expect("text");
            }
        }
        let args = [
            "int",
            "const int",
            "int *",
            "const int *",
            "int *const",
            "int **",
            "int &",
            "const int &",
            "int &&",
            "long",
            "long long",
            "E",
            "C",
            "char",
            "signed char",
            "S",
            "B<int>",
            "B<int *>",
            "B<const int>",
            "int[3]",
            "double",
        ];
        for _ in 0..4 {
            let first = self.dice.pick(&args);
            // Two that fit are only compared where one is known to be more special.
            let second = self.dice.pick(&["char", "short", "float"]);
            let whole = if self.dice.below(3) == 0 { format!("{first}, {second}") } else { first.to_owned() };
            if whole == "int" || whole == "long" || whole == "char" || whole == "E" {
                continue;
            }
            self.write(&format!("{p}<{whole}>::v"));
        }
    }

    /// Function templates of which one is more special, beside functions.
    fn templates(&mut self) {
        let f = self.name("f");
        for (head, param) in [("class X", "X"), ("class X", "X *"), ("class X", "const X *"), ("class X", "B<X>")] {
            if param == "X" || self.dice.below(3) > 0 {
                let number = self.number();
                writeln!(self.before, "template<{head}> __device__ int {f}({param}) {{ return {number}; }}")
                    .expect("text");
            }
        }
        if self.dice.below(2) == 0 {
            let number = self.number();
            let param = self.dice.pick(&["int", "long", "const int *", "E", "S"]);
            writeln!(self.before, "__device__ int {f}({param}) {{ return {number}; }}").expect("text");
        }
        let x = self.name("x");
        writeln!(self.body, "  int {x} = n; const int c{x} = m; B<int> b{x}{{n}}; B<int *> d{x}{{&{x}}}; S e{x}{{1}};")
            .expect("text");
        for _ in 0..3 {
            let forms = ["%", "c%", "&%", "&c%", "b%", "d%", "e%", "&e%", "e0", "C::c1", "1ll", "'a'", "1.0", "&b%"];
            let argument = self.dice.pick(&forms).replace('%', &x);
            self.write(&format!("{f}({argument})"));
        }
    }

    /// Function templates that take by value and by reference, of which those of one set are never equal for an argument.
    fn special_references(&mut self) {
        let (f, x) = (self.name("f"), self.name("x"));
        let set: &[&str] = self.dice.pick(&[
            &["X", "const B<X> &", "X *"] as &[&str],
            &["X", "B<X> &", "B<X> &&"],
            &["const X &", "X *", "B<X>"],
            &["const X &", "const B<X> &", "X *"],
            &["const X &", "X &"],
            &["const X &", "X &&"],
            &["const B<X> &", "B<X> &", "X &&"],
            &["X &", "const X &", "const B<X> &", "B<X *> &"],
        ]);
        for param in set {
            let number = self.number();
            writeln!(self.before, "template<class X> __device__ int {f}({param}) {{ return {number}; }}")
                .expect("text");
        }
        writeln!(
            self.body,
            "  int {x} = n, *p{x} = &{x}; const int c{x} = m; B<int> b{x}{{n}}; const B<int> cb{x}{{n}}; B<int *> d{x}{{&{x}}};"
        )
        .expect("text");
        let forms =
            ["%", "c%", "p%", "&%", "&c%", "b%", "cb%", "d%", "1", "1.0", "B<int>{1}", "static_cast<B<int> &&>(b%)"];
        for _ in 0..4 {
            let argument = self.dice.pick(&forms).replace('%', &x);
            self.write(&format!("{f}({argument})"));
        }
    }

    /// Declarations before and after a use, in namespaces that are used.
    fn places(&mut self) {
        let (f, space) = (self.name("f"), self.name("N"));
        let numbers: Vec<u64> = (0..4).map(|_| self.number()).collect();
        let [a, b, c, d] = numbers[..] else { return };
        let (first, second) = if self.dice.below(2) == 0 { ("int", "double") } else { ("double", "int") };
        writeln!(self.before, "__device__ int {f}({first}) {{ return {a}; }}").expect("text");
        writeln!(self.before, "template<class X> __device__ int g{f}(X x) {{ return {f}(1) + {f}(x) + {f}(2.0); }}")
            .expect("text");
        writeln!(self.before, "__device__ int h{f}() {{ return {f}(1) + {f}(2.0); }}").expect("text");
        writeln!(self.before, "namespace {space} {{ __device__ int w{f}(int) {{ return {c}; }} struct Q {{}};")
            .expect("text");
        writeln!(self.before, "  __device__ int v{f}(Q) {{ return {d}; }} }}").expect("text");
        writeln!(self.before, "__device__ int w{f}(double) {{ return {b}; }}").expect("text");
        writeln!(self.before, "__device__ int {f}({second}) {{ return {b}; }}").expect("text");
        for call in ["g%(1)", "g%(1.5)", "h%()", "%(1)", "%(1.5)", "w%(1)", "v%(NS::Q())"] {
            self.write(&call.replace('%', &f).replace("NS", &space));
        }
        writeln!(self.body, "  {{ using namespace {space}; o[{}] = w{f}(1) + w{f}(1.5); }}", self.written)
            .expect("text");
        self.written += 1;
    }

    /// Constructors and conversions, `explicit` or not, of objects that are constant or end.
    fn conversions(&mut self) {
        let (k, q, x) = (self.name("K"), self.name("Q"), self.name("x"));
        let [a, b, c, d] = [(); 4].map(|()| self.number());
        let explicit = self.dice.pick(&[["", ""], ["explicit ", ""], ["", "explicit "]]);
        writeln!(
            self.before,
            "struct {k} {{ int v; {}__device__ {k}(int i) : v(i + {a}) {{}} {}__device__ {k}(long i) : v(i + {b}) {{}} }};\n\
             __device__ int f{k}(const {k} &x) {{ return x.v; }} __device__ {k} g{k}(int x) {{ return x; }}",
            explicit[0], explicit[1]
        )
        .expect("text");
        for _ in 0..3 {
            let forms = ["f%(n)", "f%(5l)", "g%(n).v", "%(n).v", "%{n}.v", "static_cast<%>(m).v", "((%)7l).v"];
            let form = self.dice.pick(&forms).replace('%', &k);
            self.write(&form);
        }
        let made = self.dice.pick(&["% y = n;", "% y(n);", "% y{n}; y = m;", "% z[2] = {n, %(m)}, y = z[0];"]);
        writeln!(self.body, "  {{ {} o[{}] = y.v; }}", made.replace('%', &k), self.written).expect("text");
        self.written += 1;
        let kind = self.dice.below(4);
        let (operators, objects): (_, &[&str]) = match kind {
            3 => (["operator short() const", "operator double() const"], &["%", "c%", "Q{n}"]),
            0 => (["operator int()", "operator int() const"], &["%", "c%", "Q{n}", "s%"]),
            1 => (["operator int() &", "operator int() &&"], &["%", "Q{n}", "static_cast<Q &&>(%)"]),
            _ => (["explicit operator int() const", "operator long() const"], &["%", "c%", "Q{n}"]),
        };
        writeln!(
            self.before,
            "struct {q} {{ int v; __device__ {} {{ return v + {c}; }} __device__ {} {{ return v + {d}; }} }};",
            operators[0], operators[1]
        )
        .expect("text");
        writeln!(self.body, "  {q} {x}{{n}}; const {q} c{x}{{m}}; const {q} &s{x} = {x};").expect("text");
        for _ in 0..3 {
            let object = self.dice.pick(objects).replace('%', &x).replace('Q', &q);
            // Of several numbers none is an operand more than the others.
            let forms = ["static_cast<int>(%)", "int(%)", "% + 1", "-(%)"];
            let form = self.dice.pick(if kind == 3 { &forms[..2] } else { &forms });
            self.write(&form.replace('%', &object));
        }
    }

    /// Objects that are given up: by `return`, casts and assignment. What `const` functions give is constant.
    fn moves(&mut self) {
        let (k, x) = (self.name("M"), self.name("x"));
        let [a, b, c, d] = [(); 4].map(|()| self.number());
        writeln!(
            self.before,
            "struct {k} {{ int v; __device__ {k}(int i) : v(i) {{}} __device__ {k}(const {k} &x) : v(x.v + {a}) {{}}\n  \
             __device__ {k}({k} &&x) : v(x.v + {b}) {{}}\n  \
             __device__ {k} &operator=(const {k} &x) {{ v = x.v + {c}; return *this; }}\n  \
             __device__ {k} &operator=({k} &&x) {{ v = x.v + {d}; return *this; }}\n  \
             __device__ int f() {{ return v + 1; }} __device__ int f() const {{ return v + 2; }} }};\n\
             struct W{k} {{ int v; __device__ W{k}(const {k} &x) : v(x.v + {c}) {{}} __device__ W{k}({k} &&x) : v(x.v + {d}) {{}} }};\n\
             __device__ {k} f{k}({k} x) {{ return x; }} __device__ W{k} w{k}(int i) {{ {k} x(i); return x; }}\n\
             __device__ const {k} c{k}(int i) {{ return {k}(i); }}"
        )
        .expect("text");
        writeln!(self.body, "  {k} {x}(n), y{x}({x}), z{x}(static_cast<{k} &&>({x})); const {k} c{x}(m);")
            .expect("text");
        for _ in 0..3 {
            let forms =
                ["fM(x).v", "fM(M(3)).v", "fM(cx).v", "fM(static_cast<M &&>(x)).v", "wM(n).v", "cM(n).f()", "x.f()"];
            let form =
                self.dice.pick(&forms).replace('M', &k).replace("cx", "C").replace("(x", "(X").replace("x.f", "X.f");
            self.write(
                &form.replace("(X", &format!("({x}")).replace("X.f", &format!("{x}.f")).replace('C', &format!("c{x}")),
            );
        }
        let assigned = ["yX = X;", "yX = n;", "yX = M(n);", "yX = static_cast<M &&>(X);", "yX = zX = cX;"];
        let assigned = self.dice.pick(&assigned).replace('M', &k).replace('X', &x);
        writeln!(self.body, "  {assigned} o[{}] = y{x}.v + z{x}.v;", self.written).expect("text");
        self.written += 1;
        let both = self.dice.pick(&["static_cast<M &&>(X)", "X"]).replace('M', &k).replace('X', &x);
        writeln!(self.body, "  {{ {k} y = n > 2 ? {both} : {both}; o[{}] = y.v; }}", self.written).expect("text");
        self.written += 1;
    }

    /// Names that a base has which depends on a parameter, and names that only arguments lead to.
    fn dependent_names(&mut self) {
        let (f, base, space) = (self.name("f"), self.name("B"), self.name("N"));
        let [a, b, c, d] = [(); 4].map(|()| self.number());
        writeln!(
            self.before,
            "__device__ int {f}(int i) {{ return i + {a}; }} static const int k{f} = {a};\n\
             template<class X> struct {base} {{ static const int k{f} = {b}; \
             __device__ int {f}(int i) {{ return i + {b}; }} }};\n\
             template<class X> struct D{base} : {base}<X> {{ __device__ int g(int i) {{ return {f}(i) + k{f}; }}\n  \
             __device__ int h(int i) {{ return this->{f}(i) + D{base}::k{f}; }} }};\n\
             struct E{base} : {base}<int> {{ __device__ int g(int i) {{ return {f}(i) + k{f}; }} }};"
        )
        .expect("text");
        writeln!(
            self.before,
            "namespace {space} {{ enum E {{ e }}; struct O {{ struct I {{}}; }}; inline namespace V {{ struct J {{}}; }}\n  \
             __device__ int v{f}(E, int) {{ return {c}; }} __device__ int v{f}(O, int) {{ return {d}; }}\n  \
             __device__ int v{f}(O::I, int) {{ return {a}; }} __device__ int v{f}(J, int) {{ return {b}; }} }}\n\
             struct P{f} : {space}::O {{}};\n\
             __device__ int v{f}(double *, int) {{ return {a} + 1; }} template<class X> __device__ int w{f}(X x) {{ return v{f}(x, 1); }}"
        )
        .expect("text");
        for _ in 0..3 {
            let forms = [
                "D%<int>{}.g(n)",
                "D%<char>{}.h(m)",
                "E%{}.g(n)",
                "f(NS::e)",
                "f(NS::O())",
                "f(NS::O::I())",
                "f(NS::J())",
                "f(Pf())",
            ];
            let form = self.dice.pick(&forms);
            let form = match form.strip_prefix("f(") {
                Some(argument) => {
                    let stem = self.dice.pick(&["v", "w"]);
                    let argument = argument.trim_end_matches(')').replace("()", "").replace('(', "");
                    let value = if argument.ends_with("::e") { argument } else { format!("{argument}()") };
                    let value = value.replace("Pf", &format!("P{f}")).replace("NS", &space);
                    if stem == "v" { format!("v{f}({value}, 1)") } else { format!("w{f}({value})") }
                }
                None => form.replace('%', &base),
            };
            self.write(&form);
        }
    }

    /// What a parameter of a template deduces, and what is done with it.
    fn deduced(&mut self) {
        let f = self.name("f");
        writeln!(self.before, "template<class X> struct D{f} {{ static const int v = 1; }};").expect("text");
        for (form, number) in [("X &", 2), ("const X", 3), ("const X &", 4), ("X *", 5), ("const X *", 6)] {
            writeln!(self.before, "template<class X> struct D{f}<{form}> {{ static const int v = {number}; }};")
                .expect("text");
        }
        let form = self.dice.pick(&["X", "X &", "const X &", "X &&", "X *", "const X *"]);
        writeln!(self.before, "template<class X> __device__ int {f}({form}) {{ return D{f}<X>::v; }}").expect("text");
        let copies =
            self.dice.pick(&["X y = static_cast<X &&>(x); y += 3; return y;", "auto y = x; y += 3; return y;"]);
        writeln!(self.before, "template<class X> __device__ int g{f}(X &&x) {{ {copies} }}").expect("text");
        let x = self.name("x");
        writeln!(
            self.body,
            "  int {x} = n; const int c{x} = m; int &r{x} = {x}; int *p{x} = &{x}; const int *q{x} = &{x};"
        )
        .expect("text");
        let forms: &[&str] = match form {
            "X &" => &["%", "c%", "r%", "p%", "q%"],
            "X *" | "const X *" => &["p%", "q%", "&%", "&c%"],
            _ => &["%", "c%", "r%", "p%", "q%", "% + 1", "&%", "&c%"],
        };
        for _ in 0..2 {
            let argument = self.dice.pick(forms).replace('%', &x);
            self.write(&format!("{f}({argument})"));
        }
        self.write(&format!("g{f}({x})"));
        self.write(&x);
        let declared =
            self.dice.pick(&["decltype(auto) y = *pX;", "decltype((X)) y = X;", "decltype(X) y = X;", "auto &&y = X;"]);
        writeln!(self.body, "  {{ {} y += 2; o[{}] = {x}; }}", declared.replace('X', &x), self.written).expect("text");
        self.written += 1;
        writeln!(self.body, "  {{ g{f}({x}); o[{}] = {x}; }}", self.written).expect("text");
        self.written += 1;
    }

    /// In which type a bit-field counts, and what an assignment to one gives. Compilers agree up to the width of `int`.
    fn bit_fields(&mut self) {
        let (f, r, x) = (self.name("f"), self.name("R"), self.name("x"));
        for ty in ["int", "unsigned", "long", "unsigned long", "long long", "short", "unsigned char", "signed char"] {
            let number = self.number();
            writeln!(self.before, "__device__ int {f}({ty}) {{ return {number}; }}").expect("text");
        }
        let types =
            [("int", 32), ("unsigned", 32), ("short", 16), ("unsigned char", 8), ("long", 32), ("unsigned long", 32)];
        let ((one, most), (other, less)) = (self.dice.pick(&types), self.dice.pick(&types));
        let (width, narrow) = (1 + self.dice.below(most), 1 + self.dice.below(less));
        writeln!(self.before, "struct {r} {{ {one} a : {width}; {other} b : {narrow}; }};").expect("text");
        writeln!(self.body, "  {r} {x}{{}};").expect("text");
        for _ in 0..3 {
            let forms = [
                "+%",
                "-%",
                "~%",
                "% + 1",
                "1 - %",
                "% << 1",
                "1 << %",
                "% - 1u",
                "% * 1l",
                "% / TY(3)",
                "TY(%) + TY(1)",
                "(% = 1) + 1",
                "+(n, %)",
                "++% + 1",
                "%",
            ];
            let (field, ty) = self.dice.pick(&[("a", one), ("b", other)]);
            // A type of two words makes no value by its name.
            let form = self.dice.pick(&forms).replace("TY(%)", "static_cast<TY>(%)").replace("TY(", "(TY)(");
            let form = form.replace("TY", ty).replace('%', &format!("{x}.{field}"));
            self.write(&format!("{f}({form})"));
        }
        for _ in 0..3 {
            let forms =
                ["%a = #", "%b = #", "(%a = #) - 1 < 0", "%b = %a = #", "(%a = #, 0) + (%b = 7)", "-(%a = #) >> 1"];
            let value = self.dice.pick(&["n * 37", "-m", "255", "n - 4", "1 << 20", "n - m * 2"]);
            let form = self.dice.pick(&forms).replace('#', value).replace('%', &format!("{x}."));
            self.write(&format!("int({form})"));
        }
    }

    /// A string of some characters, in one or two parts, and the type of its elements.
    fn string(&mut self) -> (String, &'static str) {
        let (prefix, ty) = self.dice.pick(&[
            ("", "char"),
            ("", "char"),
            ("u8", "char"),
            ("L", "wchar_t"),
            ("u", "char16_t"),
            ("U", "char32_t"),
        ]);
        let mut text = String::new();
        let parts = 1 + self.dice.below(2);
        for part in 0..parts {
            // One prefix is enough for all parts.
            text += if part > 0 && self.dice.below(2) == 0 { " " } else { prefix };
            if self.dice.below(5) == 0 {
                text += "R\"x(z\\n\")x\" ";
                continue;
            }
            text += "\"";
            for _ in 0..self.dice.below(5) {
                text += self.dice.pick(&["z", "é", "\\n", "\\0", "\\x41z", "\\\\", "\\\"", "\\u00e9", "//", "\\101"]);
            }
            text += "\" ";
        }
        if text.starts_with(' ') { (format!("{prefix}\"\"{text}"), ty) } else { (text, ty) }
    }

    /// The types and values of characters, the lengths of strings.
    fn literals(&mut self) {
        let f = self.name("f");
        let types = ["char", "int", "unsigned", "wchar_t", "char16_t", "char32_t"];
        for ty in types {
            let numbers = [self.number(), self.number()];
            writeln!(self.before, "__device__ int {f}({ty}) {{ return {}; }}", numbers[0]).expect("text");
            writeln!(self.before, "__device__ int {f}(const {ty} *) {{ return {}; }}", numbers[1]).expect("text");
        }
        writeln!(self.before, "template<class X> __device__ int b{f}(const X &) {{ return sizeof(X); }}")
            .expect("text");
        writeln!(self.before, "template<class X, int N> __device__ int c{f}(const X (&)[N]) {{ return N; }}")
            .expect("text");
        for _ in 0..3 {
            let prefix = self.dice.pick(&["", "u8", "L", "u", "U"]);
            let inside = self.dice.pick(&["z", "\\n", "\\x41", "\\'", "\\101", "\\x7f"]);
            let literal = if self.dice.below(5) == 0 { "'z\\n'".to_owned() } else { format!("{prefix}'{inside}'") };
            let form =
                self.dice.pick(&["F(%)", "F(+%)", "F(% + 1)", "bF(%)", "int(%)", "int(sizeof(%))", "F(n > 1 ? % : %)"]);
            self.write(&form.replace('F', &f).replace('%', &literal));
        }
        for _ in 0..3 {
            let ((text, ty), s) = (self.string(), self.name("s"));
            let forms = ["const TY S[] = %;", "const TY S[] = {%};", "auto S = %;", "auto &S = %;", "const TY *S = %;"];
            let form = self.dice.pick(&forms).replace("TY", ty).replace('S', &s).replace('%', &text);
            writeln!(self.body, "  {form}").expect("text");
            self.write(&format!("int(sizeof({s}))"));
            let form = self.dice.pick(&[
                "F(%)",
                "bF(%)",
                "cF(%)",
                "int(sizeof(%))",
                "int(sizeof(% + 1))",
                "F(*%)",
                "F((%)[0])",
            ]);
            self.write(&form.replace('F', &f).replace('%', &text));
        }
    }
}
