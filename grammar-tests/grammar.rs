//! The syntax and preprocessor corpus: small texts and what they are read as.

mod damage;
mod preprocessor;
mod shapes;

use raceproof::front::tree_sitter::{Answer, parse};
use raceproof::preprocess::Options;
use raceproof::source::{Language, SourceMap};

/// Parses `text` as a file of `language`.
fn read(text: &str, language: Language) -> Answer {
    let mut sources = SourceMap::new();
    let main = sources.add_file("test", text);
    parse(sources, main, &Options::new(language))
}

/// The tree of `text`, which must have no syntax error.
#[track_caller]
fn tree(text: &str, language: Language) -> String {
    let answer = read(text, language);
    assert!(answer.diagnostics.is_empty(), "{:#?}", answer.diagnostics);
    raceproof::syntax::print(&answer.unit)
}

/// The statements of one CUDA function whose body is `body`, without indentation.
#[track_caller]
fn body_of(before: &str, body: &str, language: Language) -> String {
    let printed = tree(&format!("{before}\nvoid subject(int n, int x, int y, int *p) {{ {body} }}"), language);
    let (_, inside) = printed.split_once("void subject").expect("the function is printed");
    let (_, inside) = inside.split_once("{\n").expect("it has a body");
    let lines: Vec<&str> = inside.lines().map(str::trim).collect();
    lines[..lines.len() - 1].join(" ")
}

#[track_caller]
fn cuda(body: &str, expected: &str) {
    assert_eq!(body_of("", body, Language::Cuda), expected, "{body}");
}

#[track_caller]
fn opencl(body: &str, expected: &str) {
    assert_eq!(body_of("", body, Language::OpenCl), expected, "{body}");
}
