//! Macros, conditionals, includes.

use raceproof::diagnostic::Diagnostic;
use raceproof::preprocess::{Choice, FileAccess, Options, Output, Token, preprocess, preprocess_with};
use raceproof::source::{Language, SourceMap};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn run(text: &str, options: &Options) -> Output {
    let mut sources = SourceMap::new();
    let main = sources.add_file("dir/main.cu", text);
    preprocess(sources, main, options)
}

fn words(output: &Output) -> String {
    output.tokens.iter().map(|token| output.text(token)).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let output = run(text, &Options::new(Language::Cuda));
    assert_eq!(words(&output), expected, "{text}");
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect()
}

#[test]
fn macros_follow_the_examples_of_the_standard() {
    let text = "\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };";
    let expected = "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
        f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; \
        int i [ ] = { 1 , 23 , 4 , 5 , } ; \
        char c [ 2 ] [ 6 ] = { \"hello\" , \"\" } ;";
    check(text, expected);
}

#[test]
fn stringizing_and_pasting() {
    check(
        r##"#define s(x) #x
s( a  "b\n" '"' )"##,
        r#""a \"b\\n\" '\"'""#,
    );
    check("#define hash_hash # ## #\n#define mk(a) # a\nhash_hash mk(x)", "## \"x\"");
    check("#define xs(s) str(s)\n#define str(s) #s\n#define F abc\nxs(F) str(F)", "\"abc\" \"F\"");
    check("#define cat(a,b) a##b\n#define ab 7\ncat(a,b) cat(a,) cat(<,<=)", "7 a <<=");
    let output = run("#define cat(a,b) a##b\ncat(+,x)", &Options::new(Language::Cuda));
    assert_eq!(words(&output), "+ x");
    assert_eq!(messages(&output.diagnostics), ["pasting forms `+x`, which is no token"]);
}

#[test]
fn variadic_macros() {
    check("#define e(f, ...) p(f, ## __VA_ARGS__)\ne(1) e(1,2,3)", "p ( 1 ) p ( 1 , 2 , 3 )");
    check("#define v(...) q(__VA_ARGS__)\nv() v(a, (b, c))", "q ( ) q ( a , ( b , c ) )");
    check("#define n(args...) q(args)\nn(a, b)", "q ( a , b )");
    check("#define o(a, ...) p(a __VA_OPT__(,) __VA_ARGS__)\no(1) o(1, 2)", "p ( 1 ) p ( 1 , 2 )");
}

#[test]
fn a_macro_call_may_span_lines_and_its_name_may_stand_alone() {
    check("#define f(a, b) [a|b]\nf (1,\n 2) f f\n;", "[ 1 | 2 ] f f ;");
    check("#define f(a) <a>\n#define g f\ng(1) g", "< 1 > f");
    check("#define nothing\n#define id(x) x\nid(nothing) nothing id(nothing 1)", "1");
}

#[test]
fn wrong_calls_keep_their_tokens() {
    let output = run("#define f(a, b) a b\nf(1) f(1,2,3) f(", &Options::new(Language::Cuda));
    assert_eq!(words(&output), "f ( 1 ) f ( 1 , 2 , 3 ) f (");
    assert_eq!(output.diagnostics.len(), 3);
}

#[test]
fn conditionals_compute() {
    let yes = [
        "1",
        "!0",
        "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700",
        "(1 ? 2 : 0) == 2",
        "-1 < 0",
        "-1 > 0u",
        "1 << 3 == 8",
        "07 + 0x10 + 0b11 == 26",
        "'a' == 97",
        "7 % 4 == 3 && 7 / 2 == 3",
        "defined __cplusplus",
        "UNDEFINED == 0",
        "1 || missing(2)",
        "~0 == -1",
        "(2 | 5) == 7 && (6 ^ 3) == 5 && (6 & 3) == 2",
        "true",
    ];
    for condition in yes {
        check(&format!("#if {condition}\nyes\n#else\nno\n#endif"), "yes");
    }
    for condition in ["0", "defined(NOTHING)", "__OPENCL_VERSION__", "1 - 1", "0 && missing(2)"] {
        check(&format!("#if {condition}\nyes\n#else\nno\n#endif"), "no");
    }
}

#[test]
fn conditionals_nest_and_skip() {
    check("#if 0\n# if 1\na\n# else\nb\n# endif\n don't \"\n#elif 1\nc\n#elif 1\nd\n#else\ne\n#endif\nf", "c f");
    check("#ifndef A\n#define A\n#ifdef A\n1\n#endif\n#endif\n#ifndef A\n2\n#elifdef A\n3\n#else\n4\n#endif", "1 3");
    check("#define f(x) x\nf(\n#if 0\n1\n#else\n2\n#endif\n)", "2");
}

#[test]
fn what_cannot_be_decided_is_listed() {
    let text = "a\n#if ABSENT(x)\nb\n#else\nc\n#endif\n#if MISSING(3) > 1\nd\n#endif\n#if )\n#endif\n#ifdef U\n#endif";
    let output = run(text, &Options::new(Language::Cuda));
    assert_eq!(words(&output), "a c");
    let lines: Vec<(u32, u32)> = output
        .undecided
        .iter()
        .map(|&span| (output.sources.start_position(span).line, output.sources.end_position(span).line))
        .collect();
    assert_eq!(lines, [(2, 6), (7, 9), (10, 11)]);
}

#[test]
fn text_is_read_as_c_reads_it() {
    check("a/* x */b // c\nd /* \n */ e", "a b d e");
    check("lo\\\nng // x \\\n still a comment\n\"a\\\nb\"", "long \"ab\"");
    check("a+++b->c>>=d...e##f", "a ++ + b -> c >>= d ... e ## f");
    check("1.5e-3f 0x1p-2 0xe+1 1'000 .5 1..2", "1.5e-3f 0x1p-2 0xe + 1 1'000 .5 1..2");
    check("R\"x(a \" )\" )x\" L'a' u8\"b\"", "R\"x(a \" )\" )x\" L'a' u8\"b\"");
    check("#pragma unroll\n_Pragma(\"unroll 4\") a\n#\n# 1 \"x\"\nb", "a b");
    check("__LINE__\n__LINE__ __COUNTER__ __COUNTER__ __FILE__", "1 2 0 1 \"dir/main.cu\"");
}

#[test]
fn line_directives_change_what_line_and_file_say() {
    check("#line 500 \"x.cu\"\n__LINE__ __FILE__\n__LINE__\n# 7\n__LINE__", "500 \"x.cu\" 501 7");
    let output = run("a\n#line 500\nb", &Options::new(Language::Cuda));
    let lines: Vec<u32> = output.tokens.iter().map(|token| output.sources.start_position(token.span).line).collect();
    assert_eq!(lines, [1, 3]);
}

#[test]
fn pushed_definitions_come_back() {
    check("#define N 0\n#pragma push_macro(\"N\")\n#define N 1\nN\n#pragma pop_macro(\"N\")\nN", "1 0");
    check("#pragma push_macro(\"N\")\n#define N 1\n_Pragma(\"pop_macro(\\\"N\\\")\") N", "N");
}

#[test]
fn splices_keep_positions() {
    let output = run("a\\\nb c\n  d", &Options::new(Language::Cuda));
    let at = |token: &Token| (token.span.start, token.span.end);
    assert_eq!(output.tokens.iter().map(at).collect::<Vec<_>>(), [(0, 4), (5, 6), (9, 10)]);
}

#[test]
fn the_command_line_defines() {
    let mut options = Options::new(Language::OpenCl);
    options.defines =
        [("A", ""), ("B", "1 + 2"), ("F(x)", "[x]")].map(|(name, value)| (name.into(), value.into())).into();
    let output = run("A B F(3) CLK_GLOBAL_MEM_FENCE __CUDACC__ __OPENCL_VERSION__", &options);
    assert_eq!(words(&output), "1 + 2 [ 3 ] 2 __CUDACC__ 300");
}

#[test]
fn errors_are_told_once_and_do_not_stop_reading() {
    let output = run("#if 0\n#error no\n#endif\n#error set N\n#endif\n#else\nx\n#if 1", &Options::new(Language::Cuda));
    assert_eq!(words(&output), "x");
    let expected =
        ["error set N", "`#endif` without `#if`", "`#else` without `#if`", "unterminated conditional directive"];
    assert_eq!(messages(&output.diagnostics), expected);
}

#[test]
fn two_uses_of_one_range_are_two_sites() {
    let output = run("#define M s[t] = 1\nM; M;\n#define SQ(x) x * x\nSQ(a[i])", &Options::new(Language::Cuda));
    let find =
        |text: &str| output.tokens.iter().filter(|token| output.text(token) == text).copied().collect::<Vec<_>>();
    for name in ["s", "a"] {
        let [first, second] = find(name)[..] else { panic!("two of {name}") };
        assert_eq!((first.span.start, first.span.end), (second.span.start, second.span.end));
        assert_ne!(first.span, second.span, "{name}");
    }
    let calls: Vec<u32> = find("s").iter().map(|token| output.sources.visible(token.span).start).collect();
    assert_eq!(calls, [19, 22]);
    let names: Vec<&str> =
        output.sources.expansion_chain(find("s")[0].span).map(|expansion| expansion.name.as_str()).collect();
    assert_eq!(names, ["M"]);
}

#[test]
fn nested_calls_have_nested_chains() {
    let output = run("#define A p[0]\n#define B A + 1\nB", &Options::new(Language::Cuda));
    let first = output.tokens[0];
    let names: Vec<&str> =
        output.sources.expansion_chain(first.span).map(|expansion| expansion.name.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    let visible = output.sources.visible(first.span);
    assert_eq!((visible.start, visible.end), (31, 32));
    assert_eq!(output.sources.text(first.span), "p");
}

/// Headers in memory.
struct Headers(BTreeMap<PathBuf, &'static str>);

impl FileAccess for Headers {
    fn read(&self, path: &Path) -> Option<String> {
        self.0.get(path).map(|&text| text.to_owned())
    }
}

fn with_headers(text: &str, headers: &[(&str, &'static str)], include_dirs: &[&str]) -> Output {
    let files = Headers(headers.iter().map(|&(path, text)| (PathBuf::from(path), text)).collect());
    let mut options = Options::new(Language::Cuda);
    options.include_dirs = include_dirs.iter().map(PathBuf::from).collect();
    let mut sources = SourceMap::new();
    let main = sources.add_file("dir/main.cu", text);
    preprocess_with(&files, sources, main, &options)
}

#[test]
fn includes_are_found_beside_the_includer_and_in_directories() {
    let headers = [
        ("dir/a.h", "#include \"sub/b.h\"\na"),
        ("dir/sub/b.h", "#pragma once\n#include \"../c.h\"\nb"),
        ("dir/c.h", "#ifndef C\n#define C\nc\n#endif"),
        ("inc/s.h", "s"),
    ];
    let text =
        "#include \"a.h\"\n#include \"sub/b.h\"\n#include <s.h>\n#define H \"c.h\"\n#include H\n#include <none.h>\nm";
    let output = with_headers(text, &headers, &["inc"]);
    assert_eq!(words(&output), "c b a s m");
    let missing: Vec<&str> = output.missing_includes.iter().map(|missing| missing.name.as_str()).collect();
    assert_eq!(missing, ["none.h"]);
    assert!(output.diagnostics.is_empty());
}

#[test]
fn include_cycles_end() {
    let output = with_headers("#include \"a.h\"", &[("dir/a.h", "#include \"a.h\"\n#include \"a.h\"\n")], &[]);
    assert!(messages(&output.diagnostics).contains(&"includes nested too deeply"));
}

#[test]
fn large_headers_that_include_themselves_end() {
    let header = format!("{}#include \"a.h\"\n#include \"a.h\"\n", "int x;\n".repeat(100_000));
    let output = with_headers("#include \"a.h\"", &[("dir/a.h", header.leak())], &[]);
    assert!(output.gave_up && output.tokens.is_empty());
    assert!(messages(&output.diagnostics).contains(&"includes bring in too many tokens; the file is not read"));
}

#[test]
fn macro_bombs_end() {
    let doubling: Vec<String> = (0..60).map(|at| format!("#define M{at} M{} M{}\n", at + 1, at + 1)).collect();
    let output = run(&format!("{}M0", doubling.concat()), &Options::new(Language::Cuda));
    assert!(output.gave_up && output.tokens.is_empty());
    let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(100_000), ")".repeat(100_000));
    assert!(!run(&nested, &Options::new(Language::Cuda)).diagnostics.is_empty());
}

/// What was taken by default, and the lines that depend on it.
fn choices(text: &str, options: &Options) -> Vec<(String, Vec<u32>)> {
    let output = run(text, options);
    let lines = |choice: &Choice| {
        choice.regions.iter().map(|&region| output.sources.start_position(region).line).collect::<Vec<u32>>()
    };
    output.uses.choices().iter().map(|choice| (choice.taken.clone(), lines(choice))).collect()
}

#[test]
fn what_a_missing_header_may_define_is_taken_by_default() {
    let cuda = Options::new(Language::Cuda);
    let told = |text: &str| choices(&format!("#include \"config.h\"\n{text}"), &cuda);
    let missing = |name: &str| format!("`{name}` is not defined (`config.h` was not found)");
    assert_eq!(told("#ifdef FAST\na\n#endif"), [(missing("FAST"), vec![2])]);
    assert_eq!(told("#ifndef N\n#define N 16\n#endif\nN\nb"), [(missing("N"), vec![2, 5])], "the default is told");
    assert_eq!(
        told("#ifdef F\n#define N 1\n#else\n#define N 2\n#endif\n#if N > 1\nx\n#endif"),
        [(missing("F"), vec![2, 7])]
    );
    assert_eq!(told("#ifdef F\n#define f(x) x\n#endif\nf(1)"), [(missing("F"), vec![2, 5])]);
    assert!(told("#ifndef GUARD\n#define GUARD\nx\n#endif").is_empty(), "an include guard chooses nothing");
    assert!(told("#ifndef MY_H\n#define MY_H 1\nx\n#endif").is_empty());
    assert!(told("#if defined(FAST) && 0\na\n#endif").is_empty(), "it comes to the same");
    assert!(told("#undef FAST\n#ifdef FAST\na\n#endif").is_empty());
    assert!(told("#define FAST 1\n#if FAST\na\n#endif").is_empty());
    assert!(
        choices("#include <cstdio>\n#ifdef FAST\na\n#endif", &cuda).is_empty(),
        "known headers define no such name"
    );
}

#[test]
fn what_compilers_and_devices_define_is_known_or_told() {
    let cuda = Options::new(Language::Cuda);
    check(
        "#if __INT_MAX__ == 2147483647 && __SIZEOF_POINTER__ == 8 && __cpp_if_constexpr && __BYTE_ORDER__ == 1234\na\n#endif",
        "a",
    );
    check("#if defined(__unix__) && defined(__DATE__) && __EXCEPTIONS\na\n#endif", "a");
    check(
        "#if __has_attribute(aligned) && __has_builtin(__builtin_popcount) && __has_cpp_attribute(nodiscard)\na\n#endif",
        "a",
    );
    check("#if __has_include(<vector>) && !__has_include(<no_such.h>) && !defined(__has_feature)\na\n#endif", "a");
    assert_eq!(
        choices("#ifdef __FAST_MATH__\n#endif", &cuda),
        [("`__FAST_MATH__` is not defined".to_owned(), vec![1])]
    );
    assert!(choices("#ifdef _WIN32\na\n#endif\n#ifdef __clang__\n#endif", &cuda).is_empty(), "g++ on Linux compiles");
    let cl = Options::new(Language::OpenCl);
    let told: Vec<String> = choices("#if __OPENCL_VERSION__ > 110\n#endif\n#ifdef cl_khr_fp64\n#endif\n#ifdef cl_amd_fp64\n#endif\n#ifdef __GNUC__\n#endif", &cl).into_iter().map(|(taken, _)| taken).collect();
    assert_eq!(
        told,
        [
            "`cl_khr_fp64` is 1",
            "`__OPENCL_VERSION__` is 300",
            "`cl_amd_fp64` is not defined",
            "`__GNUC__` is not defined"
        ]
    );
}

#[test]
fn lines_go_on_behind_a_backslash_and_blanks_and_digraphs_are_brackets() {
    check("#define X(i) i \\ \t\n / 2\nX(a) // text \\ \n still text\nb", "a / 2 b");
    check("%:define D(x) <: x :>\n<% D(1) %> vector<::n> a<:::b:>", "{ [ 1 ] } vector < :: n > a [ :: b ]");
}
