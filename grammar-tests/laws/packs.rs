//! Random CUDA kernels as text whose functions are templates with parameter packs: fold expressions from both ends, with and without a value,
//! patterns of one and of two packs, patterns in patterns, `sizeof...`, recursion, references that are forwarded, lists, lambdas, packs of
//! numbers and of types alone, and which of several templates is called.
//!
//! Nothing overflows, and every call has one best function.

use super::maker::Maker;
use std::fmt::Write as _;

/// A kernel that is decided by `seed`.
pub(super) fn kernel(seed: u64) -> String {
    Maker::kernel(seed, "", 11, |maker, piece| match piece {
        0 => maker.fold(),
        1 => maker.truth(),
        2 => maker.two_packs(),
        3 => maker.recursion(),
        4 => maker.forwarded(),
        5 => maker.list(),
        6 => maker.lambda(),
        7 => maker.packs_of_types(),
        8 => maker.specialised(),
        9 => maker.stated(),
        _ => maker.chosen(),
    })
}

impl Maker {
    fn function(&mut self, template: &str, head: &str, body: &str) {
        writeln!(self.before, "template <{template}> __device__ {head} {{ {body} }}").expect("text");
    }

    /// So many arguments, of several types.
    fn arguments(&mut self, count: u64) -> String {
        let forms =
            ["n", "m", "3", "(char)7", "(short)n", "11u", "5l", "(unsigned char)250", "(int)threadIdx.x", "(n - m)"];
        let all: Vec<&str> = (0..count).map(|_| self.dice.pick(&forms)).collect();
        all.join(", ")
    }

    /// `(x - ...)`, `(... - x)`, `(x - ... - 8)`, `(8 - ... - x)` of a pattern.
    fn folded(&mut self, pattern: &str, op: &str, value: &str) -> String {
        match self.dice.below(4) {
            0 => format!("({pattern} {op} ...)"),
            1 => format!("(... {op} {pattern})"),
            2 => format!("({pattern} {op} ... {op} {value})"),
            _ => format!("({value} {op} ... {op} {pattern})"),
        }
    }

    fn fold(&mut self) {
        let f = self.name("f");
        let pattern = self.dice.pick(&["x", "(x * 2)", "(x + 1)", "int(x)", "(2 - x)", "x"]);
        let op = self.dice.pick(&["+", "-", "*", "&", "|", "^"]);
        let fold = self.folded(pattern, op, "100");
        self.function("typename... T", &format!("int {f}(T... x)"), &format!("return (int){fold};"));
        let count = self.dice.below(3) + 1;
        let arguments = self.arguments(count);
        self.write(&format!("{f}({arguments})"));
    }

    /// Of no elements, too; and what stands behind one that decides is not called.
    fn truth(&mut self) {
        let (f, g) = (self.name("f"), self.name("g"));
        writeln!(self.before, "__device__ bool {g}(int &count, long x) {{ count++; return x > 5; }}").expect("text");
        let op = self.dice.pick(&["&&", "||"]);
        let fold = self.folded(&format!("{g}(count, x)"), op, "(count < 2)");
        let body = format!("int count = 0; bool truth = {fold}; return 10 * count + truth;");
        self.function("typename... T", &format!("int {f}(T... x)"), &body);
        let count = self.dice.below(4);
        let arguments = self.arguments(count);
        self.write(&format!("{f}({arguments})"));
    }

    fn two_packs(&mut self) {
        let f = self.name("f");
        let fold = self.folded("(Step * x)", "-", "9");
        self.function("int... Step, typename... T", &format!("int {f}(T... x)"), &format!("return (int){fold};"));
        let count = self.dice.below(3) + 1;
        let steps: Vec<String> = (0..count).map(|_| self.dice.below(6).to_string()).collect();
        let arguments = self.arguments(count);
        self.write(&format!("{f}<{}>({arguments})", steps.join(", ")));
    }

    fn recursion(&mut self) {
        let f = self.name("f");
        let step = self.dice.pick(&[
            "first + 2 * %",
            "first - %",
            "(int)sizeof...(rest) + %",
            "(int)sizeof...(R) * first + %",
        ]);
        let step = step.replace('%', &format!("{f}(rest...)"));
        if self.dice.chance(50) {
            let body = format!("if constexpr (sizeof...(rest) == 0) {{ return first; }} else {{ return {step}; }}");
            self.function("typename F, typename... R", &format!("int {f}(F first, R... rest)"), &body);
        } else {
            self.function("typename F", &format!("int {f}(F first)"), "return 3 * first;");
            self.function(
                "typename F, typename... R",
                &format!("int {f}(F first, R... rest)"),
                &format!("return {step};"),
            );
        }
        let count = self.dice.below(4) + 1;
        let arguments = self.arguments(count);
        self.write(&format!("{f}({arguments})"));
    }

    fn forwarded(&mut self) {
        let (f, a, b) = (self.name("f"), self.name("a"), self.name("b"));
        let change = self.dice.pick(&["(x = x + 3)", "(x += 2)", "x++", "(x *= 2)"]);
        let fold = if self.dice.chance(50) { format!("({change}, ...)") } else { format!("(..., {change})") };
        let reference = self.dice.pick(&["&", "&&"]);
        self.function("typename... T", &format!("void {f}(T {reference}...x)"), &format!("{fold};"));
        writeln!(self.body, "  int {a} = n; short {b} = 4; {f}({a}, {b}, {a});").expect("text");
        self.write(&format!("{a} + 100 * {b}"));
    }

    fn list(&mut self) {
        let f = self.name("f");
        let pattern = self.dice.pick(&["int(x)...", "(int)sizeof(x)...", "int(x + 1)...", "7, int(x)..."]);
        let at = self.dice.below(2);
        let body = format!("int all[] = {{{pattern}, 5}}; return all[{at}] + all[sizeof...(x)];");
        self.function("typename... T", &format!("int {f}(T... x)"), &body);
        let count = self.dice.below(3) + 1;
        let arguments = self.arguments(count);
        self.write(&format!("{f}({arguments})"));
    }

    fn lambda(&mut self) {
        let (f, g) = (self.name("f"), self.name("g"));
        let fold = self.folded("x", "-", "1");
        self.function("typename... T", &format!("int {g}(T... x)"), &format!("return (int){fold};"));
        let capture = self.dice.pick(&["&", "="]);
        let nested = self.dice.pick(&["%(x...)", "%(%(x, y)...)", "%(x * %(x...)...)", "%(y, x...)"]).replace('%', &g);
        let body = format!("auto call = [{capture}](int y) {{ return {nested}; }}; return call(3) + call(4);");
        self.function("typename... T", &format!("int {f}(T... x)"), &body);
        let count = self.dice.below(3) + 1;
        let arguments = self.arguments(count);
        self.write(&format!("{f}({arguments})"));
    }

    fn packs_of_types(&mut self) {
        let f = self.name("f");
        let value = self.dice.pick(&[
            "(int)(sizeof(T) + ... + 0)",
            "(int)sizeof...(T)",
            "((sizeof(T) == sizeof(F)) + ... + 0)",
            "(int)((T(300) + ... + F(2)))",
        ]);
        self.function("typename F, typename... T", &format!("int {f}()"), &format!("return {value};"));
        let count = self.dice.below(4) + 1;
        let types = ["int", "char", "short", "long", "unsigned", "long long"];
        let all: Vec<&str> = (0..count).map(|_| self.dice.pick(&types)).collect();
        self.write(&format!("{f}<{}>()", all.join(", ")));
    }

    /// Explicit specialisations, for no argument, too.
    fn specialised(&mut self) {
        let f = self.name("f");
        self.function("typename... T", &format!("int {f}(T... x)"), "return 10 + (int)sizeof...(x);");
        for (number, params) in ["()", "(int)", "(int, long)", "(char, int)"].into_iter().enumerate() {
            if self.dice.chance(60) {
                let arguments = if params == "()" { "<>" } else { "" };
                writeln!(self.before, "template <> __device__ int {f}{arguments}{params} {{ return {number}; }}")
                    .expect("text");
            }
        }
        let types = ["n", "5l", "(char)7", "(short)n"];
        for count in [0, 1, 2] {
            let all: Vec<&str> = (0..count).map(|_| self.dice.pick(&types)).collect();
            self.write(&format!("{f}({})", all.join(", ")));
        }
    }

    /// A pack of which the first arguments are written, and objects of which one is chosen where they are given.
    fn stated(&mut self) {
        let (f, g, a, b) = (self.name("f"), self.name("g"), self.name("a"), self.name("b"));
        self.function("typename... T", &format!("int {f}(T... x)"), "return (int)((sizeof(T) * x) + ...);");
        let first = self.dice.pick(&["char", "short", "long"]);
        let count = self.dice.below(3) + 1;
        let arguments = self.arguments(count);
        self.write(&format!("{f}<{first}>({arguments})"));
        self.function("typename... T", &format!("void {g}(T &&...x)"), "((x += 5), ...);");
        writeln!(self.body, "  int {a} = n, {b} = m; {g}({a}, threadIdx.x == 1 ? {a} : {b}, {b});").expect("text");
        self.write(&format!("{a} + 1000 * {b}"));
    }

    /// Each is more special than the one before it.
    fn chosen(&mut self) {
        let f = self.name("f");
        let all = [
            ("typename... T", "(T...)"),
            ("typename A, typename... T", "(A, T...)"),
            ("typename A, typename B, typename... T", "(A, B, T...)"),
            ("typename A, typename... T", "(A, A, T...)"),
            ("typename A", "(A, A)"),
        ];
        let mut left: Vec<usize> = (1..all.len()).filter(|_| self.dice.chance(70)).collect();
        left.push(0);
        while !left.is_empty() {
            let next = left.swap_remove(self.dice.below(left.len() as u64) as usize);
            let (template, params) = all[next];
            self.function(template, &format!("int {f}{params}"), &format!("return {next};"));
        }
        if self.dice.chance(40) {
            let params = self.dice.pick(&["(int)", "(int, int)", "(long, long)", "(char)"]);
            writeln!(self.before, "__device__ int {f}{params} {{ return 9; }}").expect("text");
        }
        for _ in 0..3 {
            let count = self.dice.below(4);
            let arguments = self.arguments(count);
            self.write(&format!("{f}({arguments})"));
        }
    }
}
