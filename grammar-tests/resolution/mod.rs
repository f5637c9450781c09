//! Resolution of source text: what names, types, conversions, calls and launches come to.
//!
//! Expectations are the printed bodies of kernels: `*e` is a load, `[p]` a dereference, `<T>e` a conversion,
//! `p @+ i` a moved pointer, `f!()` a builtin and `f?()` a call of something unknown.

mod calls;
mod facts;
mod launches;
mod limits;
mod opencl;
mod operators;
mod records;
mod referee;
mod scopes;
mod templates;

use raceproof::front::tree_sitter;
use raceproof::launch::{Launched, resolve};
use raceproof::preprocess::Options;
use raceproof::resolve::program::{Function, Program};
use raceproof::source::{Language, SourceMap};

/// The program of a text, with its launches.
fn read(language: Language, text: &str) -> Launched {
    let mut sources = SourceMap::new();
    let main = sources.add_file(if language == Language::Cuda { "test.cu" } else { "test.cl" }, text);
    resolve(tree_sitter::parse(sources, main, &Options::new(language)).unit).launched
}

/// The program of a text.
fn program(language: Language, text: &str) -> Program {
    read(language, text).program
}

/// The program of a CUDA text, with its launches.
fn launched(text: &str) -> Launched {
    read(Language::Cuda, text)
}

/// The program of a CUDA text.
fn cuda(text: &str) -> Program {
    program(Language::Cuda, text)
}

/// The function of that name; of several, the first.
fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    let found = program.functions.iter().map(|(_, function)| function).find(|function| function.name == name);
    found.unwrap_or_else(|| panic!("no function {name} in\n{}", program.print()))
}

/// The printed statements of a function, one a line.
fn body(program: &Program, name: &str) -> String {
    let mut out = String::new();
    for stmt in function(program, name).body.as_ref().expect("the function has a body") {
        out.push_str(&program.print_stmt(stmt));
    }
    out
}

/// Checks the body of kernel `k` with these parameters and statements, after `before` at namespace scope.
#[track_caller]
fn check_with(before: &str, params: &str, stmts: &str, expect: &str) {
    let program = cuda(&format!("{before}\n__global__ void k({params}) {{ {stmts} }}"));
    // The first line stands after the quote, the others are indented like the test.
    let lines: Vec<&str> = expect.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let indent = lines.iter().skip(1).map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let expect: Vec<&str> =
        lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { &line[indent..] }).collect();
    let found = body(&program, "k");
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    assert_eq!(found, expect);
}

/// Checks the body of kernel `k`.
#[track_caller]
fn check(params: &str, stmts: &str, expect: &str) {
    check_with("", params, stmts, expect);
}
