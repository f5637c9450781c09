//! Build files that are scripts: `setup.py` of Python, `BUILD` of Bazel, `meson.build`.
//!
//! None of them is run. What their texts in quotes say is read: `'-DWIDTH=4'` and `'-I../include'` wherever they stand, and, of
//! Python, `("WIDTH", 4)` and `("WITH_CUDA", None)` in what is called `define_macros`, of Bazel, `"WIDTH=4"` in `defines` and
//! `local_defines`.
//!
//! Guarantees: what stands under a condition is read only where that asks for CUDA or HIP, which is what kernels are compiled with,
//! and never behind its `else`.
//!
//! Deliberately absent: values that are put together, paths by `os.path.join`, what a function is called with.

use super::{Stated, is_name, name_and_value};
use std::path::Path;

/// Whether the file is such a script.
pub(super) fn is_script(path: &Path) -> bool {
    matches!(
        path.file_name().and_then(|name| name.to_str()),
        Some("setup.py" | "BUILD" | "BUILD.bazel" | "meson.build")
    )
}

/// What a script states.
pub(super) fn stated(text: &str) -> Vec<Stated> {
    let mut found = Vec::new();
    for_each_line(text, |number, line, list| {
        let texts = quoted(line);
        for word in &texts {
            let definition = match (word.text.strip_prefix("-D"), list) {
                (Some(attached), _) => attached,
                (None, Some((List::Definitions, start))) if word.at >= start => &word.text,
                (None, _) => continue,
            };
            let Some((name, value)) = name_and_value(definition) else { continue };
            let value = match &word.role {
                Role::Alone => is_whole(value.unwrap_or("1")).then(|| value.unwrap_or("1").to_owned()),
                Role::Name(value) => value.clone(),
                Role::Value => continue,
            };
            found.push(Stated { name: name.to_owned(), value, line: number });
        }
    });
    found
}

/// The directories that a script lets the compiler look into, as they are written.
pub(super) fn include_dirs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_line(text, |_, line, list| {
        let is_include_dir = |word: &Quoted| match word.text.strip_prefix("-I") {
            Some(attached) => Some(attached.to_owned()),
            None => {
                list.filter(|&(list, start)| list == List::Directories && word.at >= start).map(|_| word.text.clone())
            }
        };
        found.extend(quoted(line).iter().filter_map(is_include_dir).filter(|directory| !directory.is_empty()));
    });
    found
}

/// Lists whose texts mean something without a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Definitions,
    Directories,
}

/// Calls with each line that no condition decides about but one on CUDA or HIP, its number, and the list that it is
/// part of, with where that begins in the line.
fn for_each_line(text: &str, mut see: impl FnMut(u32, &str, Option<(List, usize)>)) {
    // Conditions that are open, by their indentation, and whether what stands under them is read.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut list: Option<(List, i32)> = None;
    let mut depth = 0_i32;
    for (number, line) in (1..).zip(text.lines()) {
        let line = without_comment(line);
        let trimmed = line.trim_start();
        if trimmed.is_empty() {
            continue;
        }
        let indentation = line.len() - trimmed.len();
        if depth <= 0 {
            open.retain(|&(of, _)| of < indentation);
            let word = trimmed.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
            if matches!(word, "if" | "elif" | "else") {
                let lowered = trimmed.to_ascii_lowercase();
                let asks = ["cuda", "hip", "rocm", "gpu"].iter().any(|device| lowered.contains(device));
                open.push((indentation, word != "else" && asks && !lowered.contains("not ")));
            }
        }
        let starts = [
            ("define_macros", List::Definitions),
            ("local_defines", List::Definitions),
            ("defines", List::Definitions),
            ("include_dirs", List::Directories),
            ("includes", List::Directories),
            ("include_directories", List::Directories),
        ];
        let started = starts.into_iter().find_map(|(name, list)| Some((list, start_of_list(line, name)?)));
        if let Some((started, _)) = started {
            list = Some((started, depth));
        }
        if open.iter().all(|&(_, is_read)| is_read) {
            see(number, line, started.or(list.map(|(list, _)| (list, 0))));
        }
        depth += brackets(line);
        if list.is_some_and(|(_, before)| depth <= before) {
            list = None;
        }
    }
}

/// Where a line sets or extends the list of that name, if it does: `defines = [`, `define_macros += [(`, `include_directories('`.
fn start_of_list(line: &str, name: &str) -> Option<usize> {
    let at = line.find(name)?;
    let before = line[..at].chars().next_back();
    let is_word = before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    let rest = line[at + name.len()..].trim_start().trim_start_matches('+').trim_start_matches('=').trim_start();
    (is_word && rest.starts_with(['[', '(', '{'])).then_some(at)
}

/// How many more brackets a line opens than it closes, outside of texts.
fn brackets(line: &str) -> i32 {
    let mut count = 0;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => count += 1,
            (None, ')' | ']' | '}') => count -= 1,
            _ => {}
        }
    }
    count
}

/// A line without what stands behind `#`, where that is in no text.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Whether a value is none that is put together when the script runs: `'-DN=' + n`, `f'-DN={n}'`.
fn is_whole(value: &str) -> bool {
    !value.is_empty() && !value.contains(['{', '%', '$', '@'])
}

/// A text in quotes.
struct Quoted {
    /// Where it begins in the line.
    at: usize,
    text: String,
    role: Role,
}

/// What a text is in `("A", None)`, `("A", 4)` and `("A", "4")`.
enum Role {
    /// It stands in no pair.
    Alone,
    /// It is the name, and this the value, if that is known.
    Name(Option<String>),
    /// It is the value.
    Value,
}

fn quoted(line: &str) -> Vec<Quoted> {
    let mut found: Vec<Quoted> = Vec::new();
    let mut rest = line;
    let mut in_pair = false;
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        in_pair &= !rest[..at].contains(')');
        let begin = line.len() - rest.len() + at;
        let is_first = rest[..at].trim_end().ends_with('(');
        let Some(length) = rest[at + 1..].find(quote) else { break };
        let text = rest[at + 1..at + 1 + length].to_owned();
        rest = &rest[at + length + 2..];
        let role = match () {
            () if in_pair => Role::Value,
            () if is_first && is_name(&text) && rest.trim_start().starts_with(',') => Role::Name(value_in(rest)),
            () => Role::Alone,
        };
        in_pair |= matches!(role, Role::Name(_));
        found.push(Quoted { at: begin, text, role });
    }
    found
}

/// The value of a pair, from behind its name: `, None)`.
fn value_in(rest: &str) -> Option<String> {
    let value = rest.trim_start().strip_prefix(',')?;
    let value = value.split_once(')')?.0.trim().trim_end_matches(',').trim();
    let unquoted = value.trim_matches(['\'', '"']);
    let is_word = !unquoted.is_empty() && unquoted.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_number = unquoted.starts_with(|c: char| c.is_ascii_digit());
    match value {
        "None" => Some("1".to_owned()),
        _ => (is_word && (value != unquoted || is_number)).then(|| unquoted.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        stated(text).into_iter().map(|it| format!("{}={}@{}", it.name, it.value.unwrap_or_default(), it.line)).collect()
    }

    #[test]
    fn python_states_macros_in_pairs_and_flags() {
        let text = "define_macros = []\nif torch.cuda.is_available():\n    define_macros += [('WITH_CUDA', None), (\"WIDTH\", 4)]\n    \
                    args = {'nvcc': ['-O3', '-DFAST', '-DSIDE=16']}  # '-DNOT'\nelse:\n    define_macros += [('CPU_ONLY', None)]\n\
                    if debug:\n    args.append('-DSLOW')\nsetup(name='x', include_dirs=['inc'])\n";
        assert_eq!(all(text), ["WITH_CUDA=1@3", "WIDTH=4@3", "FAST=1@4", "SIDE=16@4"]);
        assert_eq!(include_dirs(text), ["inc"]);
    }

    #[test]
    fn bazel_and_meson_state_them_in_lists_and_flags() {
        let bazel = "cuda_library(\n    name = \"k\",\n    srcs = [\"k.cu\"],\n    defines = [\n        \"TILE=8\",\n        \"FAST\",\n    ],\n    \
                     copts = [\"-DROWS=2\", \"-Iinc\"],\n)\n";
        assert_eq!(all(bazel), ["TILE=8@5", "FAST=1@6", "ROWS=2@8"]);
        assert_eq!(include_dirs(bazel), ["inc"]);
        let meson = "add_project_arguments('-DTILE=8', language: 'cuda')\nif get_option('slow')\n  add_project_arguments('-DSLOW', language: 'cuda')\nendif\n\
                     inc = include_directories('include')\n";
        assert_eq!(all(meson), ["TILE=8@1"]);
        assert_eq!(include_dirs(meson), ["include"]);
    }

    #[test]
    fn values_that_are_put_together_are_not_known() {
        let found = stated("define_macros = [('A', str(n)), ('B', version)]\nargs = ['-DC=' + n, f'-DD={n}']\n");
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["A", "B", "C", "D"]);
        assert!(found.iter().all(|it| it.value.is_none()), "{found:?}");
    }
}
