//! Random CUDA kernels as text, of the C++ that lowering has to read: what an expression changes and when.
//!
//! Numbers of eight types and their conversions; increments, assignments and calls inside expressions; objects with
//! methods, arrays, references, pointers, lambdas; helpers that change what they are given and return early; loops that
//! are left or gone on with, switches that fall through. Each kernel writes numbers to `out`, of type `OUT`, and reads
//! nothing from it, also through pointers that move; its parameters are `n` and `m`.
//!
//! Every kernel ends, and nothing in it is undefined: signed arithmetic stays small, no divisor is zero, and where C++
//! leaves the order of two operands open, what one of them changes the other does not mention ([`Maker::apart`]).

use crate::support::dice::Dice;

/// What an expression may do with an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Right {
    Nothing,
    Read,
    Change,
}

/// By object.
type Rights = Vec<Right>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Int,
    /// Of a type that is not `int`.
    Number,
    /// It can be assigned to, not counted up.
    Bool,
    /// Four numbers.
    Array,
    Pair,
    Wide,
    /// A pointer to one number of an array.
    Pointer,
    /// A closure that takes a number; it changes an object, or its own copy.
    Closure,
    /// A pointer into `out`.
    Place,
    /// A place and how far it moves.
    Cursor,
}

#[derive(Clone)]
struct Variable {
    name: String,
    form: Form,
    object: usize,
}

#[derive(Clone)]
struct Helper {
    name: String,
    by_reference: bool,
}

/// A variable of each kind of number.
const NUMBERS: [Form; 3] = [Form::Int, Form::Number, Form::Bool];

struct Maker {
    dice: Dice,
    variables: Vec<Variable>,
    /// What a whole statement may do.
    rights: Rights,
    helpers: Vec<Helper>,
    names: u32,
    /// Whether `break` and `continue` lead somewhere.
    in_loop: bool,
    in_helper: bool,
}

const TYPES: [&str; 10] = [
    "int",
    "int",
    "int",
    "unsigned",
    "short",
    "signed char",
    "unsigned char",
    "long long",
    "unsigned long long",
    "bool",
];

/// What kernels use.
const GIVEN: &str = "struct Two { int first; int second; };
struct Pair {
  int a; short b; int c[4]; Two own;
  __device__ Pair(int x) : a(x % 101), b(x % 7), own{x % 5, x % 3} { for (int i = 0; i < 4; i++) c[i] = a + i * b; }
  __device__ int step(int d) { a += d % 11; return b++ - a--; }
  __device__ Pair &next() { ++b; c[b & 3] -= 1; return *this; }
  __device__ Pair &turn(int d) { own = {own.second, own.first + d % 5}; b = own.first % 97; return *this; }
  __device__ int sum() const { int s = a + own.second; for (int i = 0; i < 4; ++i) s += c[i] % 101; return s + b; }
  __device__ bool operator<(const Pair &other) const { return a < other.a; }
  __device__ Pair &operator+=(int d) { a = (a + d) % 101; return *this; }
  __device__ int operator()(int i) { return c[i]++; }
};
struct Base { int base; unsigned low : 3; int high : 5; __device__ int lift(int d) { high = low = d; return base += d % 7; } };
struct Wide : Base {
  int grid[2][3];
  __device__ Wide(int x) {
    base = x; low = x; high = x;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) grid[i][j] = x + i * 3 + j;
  }
  __device__ int &cell(int i) { return grid[i & 1][(i >> 1) & 1]; }
  static __device__ int twice(int x) { return 2 * x; }
};
enum class Color { red = 2, green, blue = 7 };
template <int N, typename T> __device__ T scaled(T x) { return (x % 101) * N; }
__device__ Two swapped(Two t) { int s = t.first; t.first = t.second; t.second = s; return t; }
__device__ Two both(Pair &p, int d = 3) { p.a -= d % 5; return {p.a, p.b++}; }
__device__ int largest(const int (&a)[4]) { int m = a[0]; for (int x : a) if (x > m) m = x; return m; }
__device__ int fill(int *p, int count, int x) { while (count-- > 0) *p++ = x++; return x; }
__device__ int put(OUT to, int x) { *to++ = x; to[1] = x + 1; return x - 2; }
__device__ int push(OUT &to, int x) { *to++ = x; return x & 3; }
struct Cursor { OUT at; int step; __device__ Cursor &put(int x) { at[0] = x; at += step; return *this; } };
";

/// The kernel of a seed, named `k`.
pub(super) fn kernel(seed: u64) -> String {
    let mut maker = Maker {
        dice: Dice(seed),
        variables: Vec::new(),
        rights: Vec::new(),
        helpers: Vec::new(),
        names: 0,
        in_loop: false,
        in_helper: true,
    };
    let mut text = GIVEN.to_owned();
    for _ in 0..maker.dice.below(4) {
        text += &maker.helper();
    }
    maker.in_helper = false;
    maker.enter(&["n", "m"], false);
    let declared: String = (0..4).map(|_| maker.declaration()).collect();
    let body = maker.block(3, 3);
    text + &format!("__global__ void k(OUT out, int n, int m) {{\n{declared}{body}}}\n")
}

impl Maker {
    fn one_in(&mut self, count: u64) -> bool {
        self.dice.below(count) == 0
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Starts a function with these numbers as its parameters.
    fn enter(&mut self, numbers: &[&str], changes: bool) {
        self.variables.clear();
        self.rights.clear();
        for name in numbers {
            self.declare((*name).to_owned(), Form::Int, if changes { Right::Change } else { Right::Read });
        }
    }

    fn declare(&mut self, name: String, form: Form, right: Right) {
        self.rights.push(right);
        self.variables.push(Variable { name, form, object: self.rights.len() - 1 });
    }

    fn helper(&mut self) -> String {
        let name = self.name("f");
        let by_reference = self.one_in(2);
        self.enter(&["n", "x", "y"], true);
        let body = self.block(2, 2);
        let result = self.small();
        let reference = if by_reference { "&" } else { "" };
        let ty = self.dice.pick(&["int", "unsigned", "short", "long long"]);
        let text =
            format!("__device__ {ty} {name}(OUT out, int n, int {reference}x, int y) {{\n{body}return {result};\n}}\n");
        self.helpers.push(Helper { name, by_reference });
        text
    }

    fn block(&mut self, least: u64, depth: u32) -> String {
        let outside = self.variables.len();
        let count = least + self.dice.below(4);
        let text = (0..count).map(|_| self.statement(depth)).collect();
        self.variables.truncate(outside);
        text
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.dice.below(if depth == 0 { 12 } else { 20 }) {
            0..=2 => self.declaration(),
            3..=6 => self.output(),
            7..=10 => {
                let rights = self.rights.clone();
                format!("{};\n", self.effect(2, &rights).unwrap_or_else(|| "(void)n".to_owned()))
            }
            11 if self.in_loop => {
                let condition = self.whole(2);
                format!("if ({condition}) {};\n", self.dice.pick(&["break", "continue"]))
            }
            11 if self.in_helper => {
                let (condition, result) = (self.whole(2), self.small());
                format!("if ({condition}) return {result};\n")
            }
            11 if self.one_in(3) => format!("if ({}) return;\n", self.whole(2)),
            11 => self.output(),
            12..=14 => {
                let (condition, then) = (self.whole(3), self.block(1, depth - 1));
                let otherwise =
                    if self.one_in(2) { format!(" else {{\n{}}}", self.block(1, depth - 1)) } else { String::new() };
                format!("if ({condition}) {{\n{then}}}{otherwise}\n")
            }
            15 => self.switch(depth - 1),
            16 => {
                let (name, value, outside) = (self.name("z"), self.small(), self.variables.len());
                self.declare(name.clone(), Form::Int, Right::Change);
                let (condition, then, otherwise) = (self.whole(2), self.block(1, depth - 1), self.block(1, depth - 1));
                self.variables.truncate(outside);
                format!("if (int {name} = {value}; {condition}) {{\n{then}}} else {{\n{otherwise}}}\n")
            }
            _ => self.looped(depth - 1),
        }
    }

    fn declaration(&mut self) -> String {
        match self.dice.below(9) {
            0 => {
                let (name, elements) = (self.name("a"), [0; 4].map(|_| self.small()));
                self.declare(name.clone(), Form::Array, Right::Change);
                format!("int {name}[4] = {{{}}};\n", elements.join(", "))
            }
            1 => {
                let (name, value) = (self.name("p"), self.small());
                let rights = self.rights.clone();
                let other = self.pick(&self.usable(&[Form::Pair], &rights, Right::Read));
                self.declare(name.clone(), Form::Pair, Right::Change);
                match other {
                    Some(other) if self.one_in(2) => format!("Pair {name} = {};\n", other.name),
                    _ => format!("Pair {name}({value});\n"),
                }
            }
            2 => self.alias().unwrap_or_else(|| self.output()),
            4 if self.one_in(2) => {
                let (name, value) = (self.name("w"), self.small());
                self.declare(name.clone(), Form::Wide, Right::Change);
                format!("Wide {name}({value});\n")
            }
            3 => self.closure().unwrap_or_else(|| self.output()),
            _ => {
                let (name, ty, value) = (self.name("v"), self.dice.pick(&TYPES), self.small());
                let form = match ty {
                    "int" => Form::Int,
                    "bool" => Form::Bool,
                    _ => Form::Number,
                };
                self.declare(name.clone(), form, Right::Change);
                format!("{ty} {name} = {value};\n")
            }
        }
    }

    /// Another name for what there is.
    fn alias(&mut self) -> Option<String> {
        let rights = self.rights.clone();
        let of = if self.one_in(2) { Form::Array } else { Form::Pair };
        let aliased = self.pick(&self.usable(&[of], &rights, Right::Change))?;
        let index = self.whole(1);
        let target = &aliased.name;
        let (form, stem, text) = match (of, self.one_in(2)) {
            (Form::Array, true) => (Form::Pointer, "q", format!("int *NAME = &{target}[({index}) & 3];\n")),
            (Form::Array, false) => (Form::Int, "r", format!("int &NAME = {target}[({index}) & 3];\n")),
            (_, true) if self.one_in(2) => {
                let name = self.name("q");
                self.variables.push(Variable { name: format!("(*{name})"), form: of, object: aliased.object });
                return Some(format!("Pair *{name} = &{target};\n"));
            }
            (_, true) => (Form::Pair, "r", format!("Pair &NAME = {target};\n")),
            (_, false) => (Form::Int, "r", format!("auto &NAME = {target}.a;\n")),
        };
        let name = self.name(stem);
        self.variables.push(Variable { name: name.clone(), form, object: aliased.object });
        Some(text.replace("NAME", &name))
    }

    fn closure(&mut self) -> Option<String> {
        let rights = self.rights.clone();
        let changed = self.pick(&self.usable(&[Form::Int, Form::Number], &rights, Right::Change))?;
        let name = self.name("g");
        let bodies = [
            "CAPTURED += z % 11; return CAPTURED;",
            "return CAPTURED++ - z;",
            "if (z & 1) return z; CAPTURED = z % 101; return -z;",
        ];
        let body = self.dice.pick(&bodies).replace("CAPTURED", &changed.name);
        if self.one_in(2) {
            self.variables.push(Variable { name: name.clone(), form: Form::Closure, object: changed.object });
            return Some(format!("auto {name} = [&](int z) -> int {{ {body} }};\n"));
        }
        self.declare(name.clone(), Form::Closure, Right::Change);
        Some(format!("auto {name} = [{}](int z) mutable -> int {{ {body} }};\n", changed.name))
    }

    fn output(&mut self) -> String {
        if self.one_in(2)
            && let Some(text) = self.through_pointer()
        {
            return text;
        }
        // What is stored comes before the place, so that both may change the same.
        let (place, value) = (self.whole(3), self.whole(3));
        format!("out[({place}) & 255] = {value};\n")
    }

    /// Stores through a pointer, or makes one.
    fn through_pointer(&mut self) -> Option<String> {
        let rights = self.rights.clone();
        let (place, value) = (self.whole(2), self.whole(2));
        let pointer = self.pick(&self.usable(&[Form::Place], &rights, Right::Change)).map(|it| it.name);
        let cursor = self.pick(&self.usable(&[Form::Cursor], &rights, Right::Change)).map(|it| it.name);
        let step = self.dice.below(3);
        Some(match (self.dice.below(9), pointer, cursor) {
            (0, Some(pointer), _) => format!("{pointer}[({place}) & 15] = {value};\n"),
            (1, Some(pointer), _) => format!("*{pointer}++ = {value};\n"),
            (2, Some(pointer), _) => format!("*(({place}) & 1 ? {pointer} : out + 7) = {value};\n"),
            (3, Some(pointer), _) => {
                let count = self.expression(2, &read_only(&rights));
                format!("({pointer} + (({count}) & 7))[1] = {value};\n")
            }
            (4, Some(pointer), _) => {
                let name = self.name("o");
                self.declare(name.clone(), Form::Cursor, Right::Change);
                format!("Cursor {name} = {{{pointer}, {step}}};\n")
            }
            (5 | 6, _, Some(cursor)) => format!("{cursor}.put(({value}) % 101).at[({place}) & 3] = 5;\n"),
            (7, _, Some(cursor)) => format!("*--{cursor}.at = {value};\n"),
            _ => {
                let name = self.name("o");
                self.declare(name.clone(), Form::Place, Right::Change);
                let start = self.dice.pick(&["out + (START & 63)", "&out[START & 63]", "&(out + 3)[START & 63]"]);
                format!("OUT {name} = {};\n", start.replace("START", &format!("({place})")))
            }
        })
    }

    fn switch(&mut self, depth: u32) -> String {
        let subject = self.whole(2);
        let outside = self.in_loop;
        // `continue` would leave the switch, too, but only in a loop.
        self.in_loop = false;
        let mut text = format!("switch (({subject}) & 3) {{\n");
        for label in ["case 0", "case 2", "default"] {
            text += &format!("{label}: {{\n{}}}\n", self.block(1, depth));
            if self.one_in(2) {
                text += "break;\n";
            }
        }
        self.in_loop = outside;
        text + "}\n"
    }

    fn looped(&mut self, depth: u32) -> String {
        let (counter, trips) = (self.name("i"), 1 + self.dice.below(4));
        let outside = (self.in_loop, self.variables.len());
        self.in_loop = true;
        let rights = self.rights.clone();
        let array = self.pick(&self.usable(&[Form::Array], &rights, Right::Change));
        let text = match (self.dice.below(6), array) {
            (5, Some(array)) => {
                self.variables.push(Variable { name: counter.clone(), form: Form::Int, object: array.object });
                format!("for (int &{counter} : {}) {{\n{}}}\n", array.name, self.block(1, depth))
            }
            (0, _) => {
                let body = self.block(1, depth);
                let condition = self.whole(1);
                format!("int {counter} = {trips};\nwhile ({counter}-- > 0 && ({condition})) {{\n{body}}}\n")
            }
            (1, _) => {
                let body = self.block(1, depth);
                let condition = self.whole(1);
                format!("int {counter} = 0;\ndo {{\n{body}}} while (++{counter} < {trips} && ({condition}));\n")
            }
            (2, _) => {
                self.declare(counter.clone(), Form::Number, Right::Read);
                let body = self.block(1, depth);
                format!("for (int {counter} = {trips}; {counter}; {counter} >>= 1) {{\n{body}}}\n")
            }
            (3, _) => {
                self.declare(counter.clone(), Form::Number, Right::Read);
                let body = self.block(1, depth);
                let rights = self.rights.clone();
                let step = self.effect(1, &rights).map(|step| format!(", {step}")).unwrap_or_default();
                format!(
                    "for (unsigned {counter} = threadIdx.x; {counter} < {trips} + 2u; {counter} += 2{step}) {{\n{body}}}\n"
                )
            }
            _ => {
                self.declare(counter.clone(), Form::Number, Right::Read);
                let body = self.block(1, depth);
                format!("for (int {counter} = 0; {counter} < {trips}; ++{counter}) {{\n{body}}}\n")
            }
        };
        self.in_loop = outside.0;
        self.variables.truncate(outside.1);
        format!("{{\n{text}}}\n")
    }

    /// A whole expression.
    fn whole(&mut self, depth: u32) -> String {
        let rights = self.rights.clone();
        self.expression(depth, &rights)
    }

    /// A whole expression whose value is small.
    fn small(&mut self) -> String {
        let depth = 1 + self.dice.below(3) as u32;
        format!("({}) % 101", self.whole(depth))
    }

    /// Rights for two operands in no order: what one may change, the other does not mention.
    fn apart(&mut self, rights: &Rights) -> [Rights; 2] {
        let both = rights.iter().map(|&right| match right {
            Right::Change => match self.dice.below(3) {
                0 => (Right::Change, Right::Nothing),
                1 => (Right::Nothing, Right::Change),
                _ => (Right::Read, Right::Read),
            },
            right => (right, right),
        });
        let (one, other) = both.unzip();
        [one, other]
    }

    /// What may be used so.
    fn usable(&self, forms: &[Form], rights: &Rights, least: Right) -> Vec<Variable> {
        let is_usable = |variable: &&Variable| forms.contains(&variable.form) && rights[variable.object] >= least;
        self.variables.iter().filter(is_usable).cloned().collect()
    }

    fn pick(&mut self, variables: &[Variable]) -> Option<Variable> {
        (!variables.is_empty()).then(|| variables[self.dice.below(variables.len() as u64) as usize].clone())
    }

    /// A number that is there, to read or to change, and whether it is a `bool`.
    fn place(&mut self, depth: u32, rights: &Rights, least: Right) -> Option<(String, bool)> {
        let forms: &[Form] = match self.dice.below(8) {
            0 | 1 => &[Form::Array],
            2 => &[Form::Pair],
            3 => &[Form::Wide],
            4 => &[Form::Pointer],
            _ => &NUMBERS,
        };
        let Variable { name, form, .. } = self.pick(&self.usable(forms, rights, least))?;
        let index = if depth == 0 { "1".to_owned() } else { self.expression(depth - 1, &read_only(rights)) };
        let text = match form {
            Form::Array => format!("{name}[({index}) & 3]"),
            Form::Pair => match self.dice.below(3) {
                0 => format!("{name}.a"),
                1 => format!("{name}.b"),
                _ => format!("{name}.c[({index}) & 3]"),
            },
            Form::Pointer => format!("*{name}"),
            Form::Wide => match self.dice.below(3) {
                0 => format!("{name}.base"),
                1 => format!("{name}.grid[({index}) & 1][2]"),
                _ => format!("{name}.cell((int)(({index}) % 1009))"),
            },
            _ => name,
        };
        Some((text, form == Form::Bool))
    }

    fn leaf(&mut self, rights: &Rights) -> String {
        match self.dice.below(6) {
            0 => format!("{}", self.dice.below(12)),
            1 => self
                .dice
                .pick(&["threadIdx.x", "blockIdx.x", "blockDim.x", "3u", "-2", "5ll", "'a'", "true"])
                .to_owned(),
            _ => self.place(0, rights, Right::Read).map_or("7".to_owned(), |(text, _)| text),
        }
    }

    fn expression(&mut self, depth: u32, rights: &Rights) -> String {
        if depth == 0 {
            return self.leaf(rights);
        }
        let depth = depth - 1;
        match self.dice.below(17) {
            0 => self.leaf(rights),
            1 => {
                let operator = self.dice.pick(&[
                    "-",
                    "~",
                    "!",
                    "(short)",
                    "(unsigned char)",
                    "(unsigned)",
                    "(signed char)",
                    "+",
                    "(bool)",
                ]);
                format!("({operator}({}))", self.expression(depth, rights))
            }
            2 => {
                let ty = self.dice.pick(&["int", "long long"]);
                format!("({ty})(({}) % 1009)", self.expression(depth, rights))
            }
            3 | 4 => {
                let [one, other] = self.apart(rights);
                let (one, other) = (self.expression(depth, &one), self.expression(depth, &other));
                format!("({one} {} {other})", self.dice.pick(&["+", "-", "&", "|", "^", "<", "<=", "==", "!=", ">"]))
            }
            5 => {
                let [one, other] = self.apart(rights);
                let (one, other) = (self.expression(depth, &one), self.expression(depth, &other));
                match self.dice.below(3) {
                    0 => format!("(({one}) % 97 * (({other}) % 13))"),
                    1 => format!("(({one}) / ((({other}) & 7) + 1))"),
                    _ => format!("(({one}) % ((({other}) & 7) - 9))"),
                }
            }
            // One after the other, so that both may change the same.
            6 => {
                let (one, other) = (self.expression(depth, rights), self.expression(depth, rights));
                match self.dice.below(6) {
                    0 => format!("((({one}) & 63) << (({other}) & 3))"),
                    1 => format!("(({one}) >> (({other}) & 7))"),
                    2 => {
                        let field = self.dice.pick(&["first", "second"]);
                        format!("Two{{int(({one}) % 101), int(({other}) % 101)}}.{field}")
                    }
                    _ => format!("({one} {} {other})", self.dice.pick(&["&&", "||", ","])),
                }
            }
            7 | 8 => {
                let (condition, then) = (self.expression(depth, rights), self.expression(depth, rights));
                format!("({condition} ? {then} : {})", self.expression(depth, rights))
            }
            14 => {
                let value = self.expression(depth, rights);
                match self.dice.below(5) {
                    0 => format!("scaled<3>((int)(({value}) % 101))"),
                    1 => format!("scaled<-2, long long>(({value}) % 101)"),
                    2 => format!("Wide::twice((int)(({value}) % 101))"),
                    3 => format!("(int)((({value}) & 1) ? Color::green : Color::blue)"),
                    _ => match self.pick(&self.usable(&[Form::Array], rights, Right::Read)) {
                        Some(array) => format!("largest({})", array.name),
                        None => format!("(int)sizeof(+({value}))"),
                    },
                }
            }
            9..=13 => match self.effect(depth, rights) {
                Some(effect) => format!("({effect})"),
                None => self.leaf(rights),
            },
            _ => self.place(depth, rights, Right::Read).map_or("6".to_owned(), |(text, _)| text),
        }
    }

    /// An expression that changes something.
    fn effect(&mut self, depth: u32, rights: &Rights) -> Option<String> {
        match self.dice.below(16) {
            14 | 15 => {
                let pointer = self.pick(&self.usable(&[Form::Place], rights, Right::Change))?.name;
                let value = self.expression(depth, &read_only(rights));
                Some(match self.dice.below(5) {
                    0 => format!("put({pointer}, ({value}) % 101)"),
                    1 => format!("push({pointer}, ({value}) % 101)"),
                    2 => format!("({pointer} += ({value}) & 3) - out"),
                    3 => format!("{pointer}++ - out"),
                    _ => format!("--{pointer} == out"),
                })
            }
            10 => {
                let wide = self.pick(&self.usable(&[Form::Wide], rights, Right::Change))?.name;
                Some(format!("{wide}.lift(({}) % 101)", self.expression(depth, &read_only(rights))))
            }
            11 => {
                let array = self.pick(&self.usable(&[Form::Array], rights, Right::Change))?.name;
                let value = self.expression(depth, &read_only(rights));
                Some(if self.one_in(2) {
                    format!("fill({array} + 1, 3, ({value}) % 101)")
                } else {
                    format!("fill(&{array}[({value}) & 1], 2, {array}[0])")
                })
            }
            12 => {
                // The value comes before the choice; not all compilers have it so.
                let [chosen, given] = self.apart(rights);
                let places = self.usable(&[Form::Int], rights, Right::Change);
                let (one, other) = (self.pick(&places)?.name, self.pick(&places)?.name);
                let (condition, value) = (self.expression(depth, &chosen), self.expression(depth, &given));
                Some(format!("({condition} ? {one} : {other}) += ({value}) % 11"))
            }
            13 => {
                let (one, _) = self.place(depth, rights, Right::Change)?;
                let (other, _) = self.place(depth, rights, Right::Change)?;
                Some(format!("{one} = {other} = ({}) % 101", self.expression(depth, rights)))
            }
            0 => {
                let closure = self.pick(&self.usable(&[Form::Closure], rights, Right::Change))?.name;
                Some(format!("{closure}(({}) % 101)", self.expression(depth, &read_only(rights))))
            }
            1 | 2 => {
                let pair = self.pick(&self.usable(&[Form::Pair], rights, Right::Change))?.name;
                let value = self.expression(depth, &read_only(rights));
                Some(match self.dice.below(8) {
                    7 => format!("{pair}.turn(({value}) % 101).b"),
                    5 => format!("both({pair}).second"),
                    6 => format!("swapped(both({pair}, ({value}) % 101)).second"),
                    0 => format!("{pair}.step(({value}) % 101)"),
                    1 => format!("{pair}.next().a"),
                    2 => format!("{pair}(({value}) & 3)"),
                    3 => format!("({pair} += ({value}) % 101).b"),
                    _ => format!("{pair}.sum() + ({pair} < {pair})"),
                })
            }
            3 | 4 => self.call(depth, rights),
            5 | 6 => {
                let (place, is_bool) = self.place(depth, rights, Right::Change)?;
                (!is_bool)
                    .then(|| self.dice.pick(&["PLACE++", "++PLACE", "PLACE--", "--PLACE"]).replace("PLACE", &place))
            }
            _ => {
                // The value comes before the place, so that both may change the same.
                let (place, is_bool) = self.place(depth, rights, Right::Change)?;
                let value = self.expression(depth, rights);
                Some(match self.dice.below(if is_bool { 1 } else { 9 }) {
                    0 => format!("{place} = ({value}) % 101"),
                    1 => format!("{place} += ({value}) % 11"),
                    2 => format!("{place} -= ({value}) % 11"),
                    3 => format!("{place} ^= ({value}) & 127"),
                    4 => format!("{place} |= ({value}) & 63"),
                    5 => format!("{place} &= ({value}) & 1023"),
                    6 => format!("{place} /= ((int)(({value}) % 1009) & 3) + 1"),
                    7 => format!("{place} %= ((int)(({value}) % 1009) & 15) + 1"),
                    _ => format!("{place} >>= ({value}) & 3"),
                })
            }
        }
    }

    /// A call of a helper.
    fn call(&mut self, depth: u32, rights: &Rights) -> Option<String> {
        let count = self.helpers.len() as u64;
        if count == 0 {
            return None;
        }
        let Helper { name, by_reference } = self.helpers[self.dice.below(count) as usize].clone();
        if by_reference {
            // The second argument has been computed when the body starts, so that it may change the first.
            let changed = self.pick(&self.usable(&[Form::Int], rights, Right::Change))?.name;
            return Some(format!("{name}(out, 3, {changed}, ({}) % 101)", self.expression(depth, rights)));
        }
        let [one, other] = self.apart(rights);
        let (one, other) = (self.expression(depth, &one), self.expression(depth, &other));
        Some(format!("{name}(out, 3, ({one}) % 101, ({other}) % 101)"))
    }
}

fn read_only(rights: &Rights) -> Rights {
    rights.iter().map(|&right| right.min(Right::Read)).collect()
}
