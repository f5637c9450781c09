//! Broken, cut-off and monstrous text: always an answer, never silence.

use super::read;
use raceproof::front::tree_sitter::{Answer, ParseState};
use raceproof::source::Language;
use raceproof::syntax::print;

const NEXT: &str = "\n__global__ void next(int *p) { p[0] = 1; }\n";

/// The printed functions and whether each holds something unsupported.
#[track_caller]
fn check(text: &str, state: ParseState, lines: &[&str]) -> Answer {
    let answer = read(text, Language::Cuda);
    let printed = print(&answer.unit);
    assert_eq!(answer.parse, state, "{printed}");
    for line in lines {
        assert!(printed.lines().any(|printed| printed.trim() == *line), "no `{line}` in\n{printed}");
    }
    assert_eq!(answer.parse == ParseState::Ok, answer.diagnostics.is_empty());
    answer
}

#[test]
fn an_error_in_a_statement_stays_there() {
    let text = format!("__global__ void k(int *p) {{ p[0] = 1; p[1] = = 2; p[2] = 3; }}{NEXT}");
    check(&text, ParseState::Partial, &["p[0] = 1;", "«syntax error»", "p[2] = 3;", "kernel void next(int* p) {"]);
}

#[test]
fn an_error_between_functions_stays_there() {
    let text = format!("int a[ = 3;\n) foo {{\n__global__ void k(int *p) {{ p[0] = 1; }}{NEXT}");
    check(&text, ParseState::Partial, &["kernel void k(int* p) {", "p[0] = 1;", "kernel void next(int* p) {"]);
}

#[test]
fn a_missing_brace_does_not_swallow_the_next_kernel() {
    let text = format!("__global__ void k(int *p) {{ if (p[0]) {{ p[1] = 2; }}{NEXT}");
    let answer = check(&text, ParseState::Partial, &["kernel void next(int* p) {", "«syntax error»"]);
    let printed = print(&answer.unit);
    assert!(printed.contains("void k("), "{printed}");
}

#[test]
fn cut_off_text_says_so() {
    let whole =
        "template <typename T> __global__ void k(T *p, int n) { if (n < 3) { p[f(n)] = (T)(1); } else p[0] = 2; }";
    for end in 55..whole.len() {
        let answer = read(&whole[..end], Language::Cuda);
        assert_ne!(answer.parse, ParseState::Ok, "{}\n{}", &whole[..end], print(&answer.unit));
        assert!(!answer.diagnostics.is_empty());
    }
    for end in 0..whole.len() {
        read(&whole[end..], Language::Cuda);
    }
}

#[test]
fn undecided_conditionals_spoil_what_they_touch() {
    let text =
        "__global__ void k(int *p) {\n#if ABSENT(x)\np[0] = 1;\n#endif\n}\n__global__ void next(int *p) { p[0] = 1; }";
    let printed = print(&read(text, Language::Cuda).unit);
    assert_eq!(printed.matches("«`#if` on an unknown macro»").count(), 1, "{printed}");
}

#[test]
fn stray_characters_are_errors() {
    for text in ["p[0] = `;", "p[0] = \"abc;", "p[0] = 'a;", "p[0] = @;", "p[0] = 1 \\ 2;", "# x"] {
        let text = format!("__global__ void k(int *p) {{ p[1] = 1; {text}\n }}{NEXT}");
        let printed = print(&check(&text, ParseState::Partial, &["kernel void next(int* p) {"]).unit);
        assert!(printed.contains("«syntax error»"), "{printed}");
    }
}

#[test]
fn deep_nesting_gives_a_message() {
    let deep = 100_000;
    let kernel = |body: String| format!("__global__ void k(int *p) {{ p[0] = 1; {body} p[2] = 3; }}{NEXT}");
    let cases = [
        kernel(format!("p[1] = {}1{};", "(".repeat(deep), ")".repeat(deep))),
        kernel(format!("{}p[1] = 1;{}", "{".repeat(deep), "}".repeat(deep))),
        kernel(format!("p[1] = {}1;", "- ".repeat(deep))),
        kernel(format!("p[1] = {}1;", "n + ".repeat(deep))),
        kernel(format!("p{} = 1;", "[0]".repeat(deep))),
        kernel(format!("p[1] = {}1{};", "f(".repeat(deep), ")".repeat(deep))),
        kernel(format!("int {}q;", "*".repeat(deep))),
    ];
    for text in cases {
        check(&text, ParseState::Partial, &["p[0] = 1;", "p[2] = 3;", "kernel void next(int* p) {"]);
    }
    let chains = [
        kernel(format!("{}p[1] = 1;", "if (p[1]) ".repeat(deep / 10))),
        kernel(format!("{}p[1] = 1;", "if (p[1]) ; else ".repeat(deep / 10))),
        kernel(format!("p[1] = {}1;", "p[1] ? 1 : ".repeat(deep / 10))),
        kernel(format!("p[1] = {}1;", "p[1] = ".repeat(deep / 10))),
        kernel(format!("{}p[1] = 1;", "p[1] = 1, ".repeat(deep / 10))),
    ];
    for text in chains {
        check(&text, ParseState::Partial, &["p[0] = 1;", "p[2] = 3;", "kernel void next(int* p) {"]);
    }
    for open in ["(", "{", "[", "namespace a {", "struct S {"] {
        let answer = read(&format!("__global__ void k(int *p) {{}}\n{}", open.repeat(deep)), Language::Cuda);
        assert_ne!(answer.parse, ParseState::Ok, "{open}");
    }
}

#[test]
fn monstrous_text_ends_quickly() {
    let many = 50_000;
    let kernel = |body: String| format!("__global__ void k(int *p) {{ {body} }}{NEXT}");
    let texts = [
        kernel("__launch_bounds__(".repeat(many)),
        kernel("[[".repeat(many)),
        format!("#define f(x) x\n{}", kernel("f(".repeat(many))),
        format!("template <typename T> {}", "template <> ".repeat(many)),
        format!("namespace {}b {{}}", "a::".repeat(many)),
        format!("struct {{}} {}", "__attribute__((packed)) ".repeat(many)),
        kernel("p[0] < ".repeat(many)),
        "A<".repeat(many),
        "extern \"C\" ".repeat(many),
        kernel("case 1: ".repeat(many / 5)),
        "typedef ".repeat(many),
        "#if 1\n".repeat(many),
        "\\\n".repeat(many),
    ];
    let start = std::time::Instant::now();
    for text in texts {
        let answer = read(&text, Language::Cuda);
        print(&answer.unit);
    }
    // Nothing here is quadratic: that would take hours, even where this bound is generous.
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

#[test]
fn nesting_that_people_write_is_read() {
    let text = format!("__global__ void k(int *p) {{ p[0] = {}1{}; }}", "(1 + ".repeat(100), ")".repeat(100));
    check(&text, ParseState::Ok, &["kernel void k(int* p) {"]);
}

/// Words of both languages, brackets that match and that do not, and what lexers trip over.
const WORDS: [&str; 64] = [
    "int",
    "x",
    "p",
    "T",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "<<",
    ">>",
    ";",
    ";",
    ",",
    ":",
    "::",
    "?",
    "*",
    "&",
    "=",
    "+",
    "-",
    "++",
    "->",
    ".",
    "...",
    "#",
    "##",
    "\n#define M(a, b) a ## b #a\n",
    "M(",
    "\n#if x\n",
    "\n#endif\n",
    "\n#else\n",
    "template",
    "typename",
    "struct",
    "union",
    "enum",
    "typedef",
    "using",
    "namespace",
    "operator",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case 1:",
    "return",
    "__global__ void k(int *p) {",
    "__shared__",
    "__kernel",
    "__global",
    "__attribute__((a(1)))",
    "[[b]]",
    "asm(\"\" : \"=r\"(x))",
    "1.5f",
    "0x1u",
    "\"s\"",
    "'c'",
];

proptest::proptest! {
    #![proptest_config(crate::support::draw::proptest(crate::support::tier::tiers(60, 300, 6_000)))]

    /// Any soup of words gives an answer, and errors in the tree are never called a clean parse.
    #[test]
    fn soups_of_words_are_survived(picks in proptest::collection::vec((0..WORDS.len(), 0..4_u8), 0..120)) {
        let text: String = picks.iter().map(|&(word, gap)| format!("{}{}", WORDS[word], if gap == 0 { "" } else { " " })).collect();
        for language in [Language::Cuda, Language::OpenCl] {
            let answer = read(&text, language);
            if print(&answer.unit).contains("«syntax error»") {
                proptest::prop_assert_ne!(answer.parse, ParseState::Ok);
                proptest::prop_assert!(!answer.diagnostics.is_empty());
            }
        }
    }
}
