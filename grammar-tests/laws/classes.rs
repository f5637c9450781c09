//! Random CUDA kernels as text, of what C++ runs by itself for objects of classes.
//!
//! A kernel declares classes with bases, members that are objects or arrays of them, default initialisers, constructors whose
//! lists leave members out and come in any order, and copies and assignments that show in the values: each of these may be
//! written, left to the compiler or said to be so. It makes objects in the ways that there are, copies, assigns, slices and
//! passes them on, and writes sums of their members and sizes of classes to `out`, of type `OUT`.
//!
//! Nothing in it is undefined: every number has a value before it is read. Where a compiler is free to leave a copy out, no
//! value depends on it.

use crate::support::dice::Dice;
use std::fmt::Write as _;

/// How a class comes to have a function that the compiler could make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Absent,
    Defaulted,
    Written,
}

/// A class that has been declared.
struct Class {
    name: String,
    /// Its bases, and theirs.
    ancestors: Vec<usize>,
    /// The bases that it names.
    bases: Vec<usize>,
    /// Whether braces give its parts their values.
    is_aggregate: bool,
    has_number: bool,
    is_polymorphic: bool,
}

/// A variable: its class and how many objects it has.
#[derive(Clone)]
struct Object {
    name: String,
    class: usize,
}

struct Maker {
    dice: Dice,
    classes: Vec<Class>,
    objects: Vec<Object>,
    names: u32,
}

/// The kernel of a seed, named `k`.
pub(super) fn kernel(seed: u64) -> String {
    let mut maker = Maker { dice: Dice(seed), classes: Vec::new(), objects: Vec::new(), names: 0 };
    let mut text = String::new();
    for _ in 0..2 + maker.dice.below(4) {
        text += &maker.class();
    }
    text += "__global__ void k(OUT out, int n, int m) {\nint t = threadIdx.x + 2 * n;\n";
    for _ in 0..4 + maker.dice.below(6) {
        text += &maker.statement();
    }
    for place in 0..maker.objects.len() {
        let name = maker.objects[place].name.clone();
        writeln!(text, "out[{place}] = {name}.sum();").expect("text");
    }
    text + "}\n"
}

impl Maker {
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    fn origin(&mut self) -> Origin {
        self.dice.pick(&[Origin::Absent, Origin::Absent, Origin::Defaulted, Origin::Written])
    }

    /// Bases among the classes that there are, none of which stands for the same class twice.
    fn bases(&mut self) -> Vec<usize> {
        let mut bases: Vec<usize> = Vec::new();
        let mut all: Vec<usize> = Vec::new();
        for class in 0..self.classes.len() {
            let mut own = self.classes[class].ancestors.clone();
            own.push(class);
            if bases.len() < 2 && self.dice.chance(25) && own.iter().all(|one| !all.contains(one)) {
                all.extend(own);
                bases.push(class);
            }
        }
        bases
    }

    fn class(&mut self) -> String {
        let name = format!("C{}", self.classes.len());
        let bases = self.bases();
        let default = self.origin();
        let has_number = self.dice.chance(60);
        let copy =
            if self.dice.chance(30) { Origin::Written } else { self.dice.pick(&[Origin::Absent, Origin::Defaulted]) };
        let assign =
            if self.dice.chance(30) { Origin::Written } else { self.dice.pick(&[Origin::Absent, Origin::Defaulted]) };
        // Each member: its declaration, its name, how it is summed, and what a constructor may give it.
        let (mut members, mut listable, mut sums) = (String::new(), Vec::new(), Vec::new());
        let mut numbers: Vec<String> = Vec::new();
        let is_empty = self.dice.chance(8);
        for _ in 0..if is_empty { 0 } else { 1 + self.dice.below(3) } {
            let member = self.name("m");
            let object = self.dice.below(self.classes.len() as u64 * 2 + 3) as usize;
            if object < self.classes.len() {
                let class = self.classes[object].name.clone();
                if self.dice.chance(30) {
                    writeln!(members, "{class} {member}[2];").expect("text");
                    sums.push(format!("{member}[0].sum() + 3 * {member}[1].sum()"));
                } else {
                    writeln!(members, "{class} {member};").expect("text");
                    sums.push(format!("{member}.sum()"));
                    if self.classes[object].has_number {
                        listable.push((member, true));
                    }
                }
            } else {
                let ty = self.dice.pick(&["int", "int", "short", "signed char", "long long"]);
                let value = match numbers.last() {
                    Some(before) if self.dice.chance(40) => format!("{before} % 9 + 2"),
                    _ => format!("{}", self.dice.below(50)),
                };
                let braces = self.dice.chance(30);
                let init = if braces { format!("{{({ty})({value})}}") } else { format!(" = {value}") };
                writeln!(members, "{ty} {member}{init};").expect("text");
                sums.push(format!("{member} % 97"));
                numbers.push(member.clone());
                listable.push((member, false));
            }
        }
        for base in &bases {
            sums.push(format!("5 * {}::sum()", self.classes[*base].name));
        }
        let mut text = format!("struct {name}");
        let written: Vec<&str> = bases.iter().map(|base| self.classes[*base].name.as_str()).collect();
        if !written.is_empty() {
            write!(text, " : {}", written.join(", ")).expect("text");
        }
        text += " {\n";
        text += &members;
        let based: Vec<String> = written.iter().map(|base| (*base).to_owned()).collect();
        let first = numbers.first().cloned();
        text += &self.constructors(&name, default, has_number, copy, &bases, &based, &listable, first.as_deref());
        match assign {
            Origin::Absent => {}
            Origin::Defaulted => writeln!(text, "{name} &operator=(const {name} &) = default;").expect("text"),
            Origin::Written => {
                let body =
                    first.as_ref().map(|first| format!("{first} = other.{first} % 50 + 7; ")).unwrap_or_default();
                writeln!(text, "__device__ {name} &operator=(const {name} &other) {{ {body}return *this; }}")
                    .expect("text");
                // What is assigned is not copied, and what has an assignment of its own has a copy as well.
            }
        }
        let sum = if sums.is_empty() { "1".to_owned() } else { sums.join(" + 2 * ") };
        let is_polymorphic = bases.iter().any(|base| self.classes[*base].is_polymorphic) || self.dice.chance(6);
        if is_polymorphic {
            writeln!(text, "__device__ virtual int tag() const {{ return {}; }}", self.classes.len()).expect("text");
        }
        writeln!(text, "__device__ int sum() const {{ return (int)(({sum}) % 1009); }}").expect("text");
        writeln!(
            text,
            "__device__ void change(int d) {{ {} }}",
            match &first {
                Some(first) => format!("{first} = ({first} + d) % 61;"),
                None => String::new(),
            }
        )
        .expect("text");
        text += "};\n";
        let mut ancestors: Vec<usize> = bases.iter().flat_map(|base| self.classes[*base].ancestors.clone()).collect();
        ancestors.extend(&bases);
        let is_aggregate = default == Origin::Absent && !has_number && copy == Origin::Absent && !is_polymorphic;
        self.classes.push(Class { name, ancestors, bases, is_aggregate, has_number, is_polymorphic });
        text
    }

    #[allow(clippy::too_many_arguments, reason = "each is one decision about the class")]
    fn constructors(
        &mut self,
        name: &str,
        default: Origin,
        has_number: bool,
        copy: Origin,
        bases: &[usize],
        based: &[String],
        listable: &[(String, bool)],
        first: Option<&str>,
    ) -> String {
        let mut text = String::new();
        let must_default = has_number || copy != Origin::Absent;
        match default {
            Origin::Absent if !must_default => {}
            Origin::Absent | Origin::Defaulted => writeln!(text, "{name}() = default;").expect("text"),
            Origin::Written if has_number && self.dice.chance(20) => {
                writeln!(text, "__device__ {name}() : {name}(17) {{}}").expect("text");
            }
            Origin::Written => {
                let list = self.list(bases, based, listable, "9");
                writeln!(text, "__device__ {name}(){list} {{}}").expect("text");
            }
        }
        if has_number {
            let list = self.list(bases, based, listable, "x");
            let body = match first {
                Some(first) if self.dice.chance(40) => format!("{first} = ({first} + x) % 59;"),
                _ => String::new(),
            };
            writeln!(text, "__device__ {name}(int x){list} {{ {body} }}").expect("text");
        }
        match copy {
            Origin::Absent => {}
            Origin::Defaulted => writeln!(text, "{name}(const {name} &) = default;").expect("text"),
            Origin::Written => {
                let based: Vec<String> = based.iter().map(|base| format!("{base}(other)")).collect();
                let list = if based.is_empty() { String::new() } else { format!(" : {}", based.join(", ")) };
                let body = first.map(|first| format!("{first} = other.{first} % 50 + 3;")).unwrap_or_default();
                writeln!(text, "__device__ {name}(const {name} &other){list} {{ {body} }}").expect("text");
            }
        }
        text
    }

    /// A list that names some of the bases and members, in any order.
    fn list(&mut self, bases: &[usize], based: &[String], listable: &[(String, bool)], value: &str) -> String {
        let mut entries: Vec<String> = Vec::new();
        for (base, name) in bases.iter().zip(based) {
            if self.classes[*base].has_number && self.dice.chance(50) {
                entries.push(format!("{name}({value} % 31 + 1)"));
            }
        }
        for (member, _) in listable {
            if self.dice.chance(50) {
                let braces = self.dice.chance(20);
                let argument = format!("(signed char)({value} % 23 + {})", self.dice.below(5));
                entries.push(if braces { format!("{member}{{{argument}}}") } else { format!("{member}({argument})") });
            }
        }
        for at in (1..entries.len()).rev() {
            entries.swap(at, self.dice.below(at as u64 + 1) as usize);
        }
        if entries.is_empty() { String::new() } else { format!(" : {}", entries.join(", ")) }
    }

    fn some_object(&mut self) -> Option<Object> {
        let count = self.objects.len() as u64;
        (count > 0).then(|| self.objects[self.dice.below(count) as usize].clone())
    }

    fn declare(&mut self, class: usize) -> (String, String) {
        let name = self.name("o");
        self.objects.push(Object { name: name.clone(), class });
        (self.classes[class].name.clone(), name)
    }

    fn statement(&mut self) -> String {
        let other = self.some_object();
        match (self.dice.below(18), other) {
            (0..=4, _) | (_, None) => self.fresh(),
            (5 | 6, Some(other)) => {
                let (class, name) = self.declare(other.class);
                let other = other.name;
                self.dice
                    .pick(&[
                        "CLASS NAME = OTHER;\n",
                        "CLASS NAME(OTHER);\n",
                        "auto NAME = OTHER;\n",
                        "auto NAME{OTHER};\n",
                        "CLASS NAME{OTHER};\n",
                        "CLASS NAME = t & 1 ? OTHER : OTHER;\n",
                        "auto NAME = static_cast<CLASS>(OTHER);\n",
                        "auto NAME = CLASS(OTHER);\n",
                    ])
                    .replace("CLASS", &class)
                    .replace("NAME", &name)
                    .replace("OTHER", &other)
            }
            (7 | 8, Some(other)) => {
                let same: Vec<Object> = self.objects.iter().filter(|one| one.class == other.class).cloned().collect();
                let target = self.dice.pick(&(0..same.len()).collect::<Vec<_>>());
                format!("{} = {};\n", same[target].name, other.name)
            }
            (9, Some(other)) => {
                let ancestors = self.classes[other.class].ancestors.clone();
                if ancestors.is_empty() {
                    return format!("{}.change(t % 5);\n", other.name);
                }
                let base = self.dice.pick(&ancestors);
                let (class, name) = self.declare(base);
                format!("{class} {name} = {};\n", other.name)
            }
            (10 | 11, Some(other)) => {
                let ancestors = self.classes[other.class].ancestors.clone();
                if ancestors.is_empty() {
                    return format!("{{ auto &r = {}; r.change(t % 7); }}\n", other.name);
                }
                let base = self.dice.pick(&ancestors);
                let class = &self.classes[base].name;
                self.dice
                    .pick(&[
                        "{ CLASS *p = &OTHER; p->change(3); }\n",
                        "{ CLASS &r = OTHER; r.change(t % 7 + 1); }\n",
                        "{ const CLASS &r = OTHER; out[40] = r.sum(); }\n",
                        "{ CLASS *p = &OTHER; out[41] = static_cast<DERIVED *>(p)->sum(); }\n",
                        "static_cast<CLASS &>(OTHER).change(5);\n",
                        "{ CLASS *p = t > 1000 ? nullptr : &OTHER; if (p) p->change(9); }\n",
                    ])
                    .replace("CLASS", class)
                    .replace("DERIVED", &self.classes[other.class].name)
                    .replace("OTHER", &other.name)
            }
            (12, Some(other)) => {
                let text = self.dice.pick(&[
                    "{ auto f = [](CLASS c) { return c.sum(); }; out[42] = f(OTHER); }\n",
                    "{ auto f = [OTHER]() { return OTHER.sum(); }; out[43] = f(); }\n",
                    "{ CLASS a[2] = {OTHER, OTHER}; out[44] = a[0].sum() + a[1].sum(); }\n",
                    "{ CLASS a[2] = {OTHER, OTHER}; for (CLASS c : a) out[45] = c.sum(); }\n",
                    "{ CLASS a[2] = {OTHER, OTHER}; for (const CLASS &c : a) out[46] = c.sum(); }\n",
                    "{ struct In { CLASS c; int d = 4; }; In i{OTHER}; In j = i; out[47] = j.c.sum() + j.d; }\n",
                    "{ struct In { CLASS c[2]; }; In i{{OTHER, OTHER}}, j; j = i; out[48] = j.c[1].sum(); }\n",
                ]);
                text.replace("CLASS", &self.classes[other.class].name).replace("OTHER", &other.name)
            }
            (13, Some(other)) => {
                let class = &self.classes[other.class];
                if class.is_polymorphic {
                    return format!("out[50] = {}.tag();\n", other.name);
                }
                format!("out[51] = (int)sizeof({});\n", class.name)
            }
            (14, Some(other)) => format!("if (t & 1) {{ {}.change(t); }}\n", other.name),
            (_, Some(_)) => self.fresh(),
        }
    }

    /// A new object, from nothing or numbers.
    fn fresh(&mut self) -> String {
        let class = self.dice.below(self.classes.len() as u64) as usize;
        let (has_number, is_aggregate) = (self.classes[class].has_number, self.classes[class].is_aggregate);
        let _ = (is_aggregate, &self.classes[class].bases);
        let (class, name) = self.declare(class);
        let forms: &[&str] = if has_number && self.dice.chance(60) {
            &[
                "CLASS NAME(t % 19);\n",
                "CLASS NAME{t % 19};\n",
                "CLASS NAME = CLASS(t % 19);\n",
                "CLASS NAME = t % 19;\n",
                "auto NAME = CLASS{7};\n",
                "CLASS NAME = {t % 3};\n",
            ]
        } else {
            &[
                "CLASS NAME;\n",
                "CLASS NAME{};\n",
                "CLASS NAME = CLASS();\n",
                "auto NAME = CLASS{};\n",
                "CLASS NAME = {};\n",
            ]
        };
        self.dice.pick(forms).replace("CLASS", &class).replace("NAME", &name)
    }
}
