//! Macros and include directories that makefiles and CMake's files state.
//!
//! Both are read as words: `-DNAME`, `-DNAME=VALUE` and `-D NAME` wherever they stand, `-IDIR` and `-I DIR` likewise, and in
//! CMake also the arguments of `add_compile_definitions`, `include_directories` and their kin for targets. Variables (`$(N)`, `${N}`) are replaced where
//! the file gives them one value, once and under no condition. What stands between `ifdef` and `endif`, or `if()` and
//! `endif()`, is left out: whether it counts is decided when the build runs.

use super::script::{self, is_script};
use super::{Stated, is_name, name_and_value};
use crate::preprocess::commands::split;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables may name each other this deeply.
const NESTING: usize = 8;

/// Whether `path` is one that [`of_build_file`] reads.
pub fn is_build_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    matches!(name, "Makefile" | "makefile" | "GNUmakefile") || is_of_cmake(path) || is_script(path)
}

fn is_of_cmake(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "CMakeLists.txt")
}

/// What the build file at `path` with that `text` states, in its order.
pub fn of_build_file(path: &Path, text: &str) -> Vec<Stated> {
    if is_script(path) {
        return script::stated(text);
    }
    let lines = if is_of_cmake(path) { commands(text) } else { make_lines(text) };
    let mut variables = Variables::default();
    lines.iter().for_each(|(_, line)| variables.note(line));
    let mut found = Vec::new();
    for (number, line) in &lines {
        for definition in arguments(&split(line), "-D", DEFINITIONS) {
            let Some((name, value)) = name_and_value(&definition) else { continue };
            let value = variables.expanded(value.unwrap_or("1"), NESTING);
            found.push(Stated { name: name.to_owned(), value, line: *number });
        }
    }
    found
}

/// A line, or a command of CMake on one line, with its number.
type Line = (u32, String);

/// The logical lines of a makefile that no condition decides about, without comments.
fn make_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut depth = 0_usize;
    let mut pending: Option<Line> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let (whole, continues) = match line.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        let (start, mut joined) = pending.take().unwrap_or((number, String::new()));
        joined.push_str(whole);
        if continues {
            joined.push(' ');
            pending = Some((start, joined));
            continue;
        }
        let line = without_comment(&joined);
        match line.split_whitespace().next().unwrap_or("") {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth = depth.saturating_sub(1),
            _ if depth == 0 => lines.push((start, line.to_owned())),
            _ => {}
        }
    }
    lines
}

/// The commands of CMake that no condition decides about, each with its arguments on one line.
fn commands(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut pending: Option<Line> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let (start, mut joined) = pending.take().unwrap_or((number, String::new()));
        joined.push_str(without_comment(line));
        joined.push(' ');
        if joined.matches('(').count() > joined.matches(')').count() {
            pending = Some((start, joined));
            continue;
        }
        let command = joined.split('(').next().unwrap_or("").trim().to_ascii_lowercase();
        match command.as_str() {
            // The body of a function counts where it is called, if it is.
            "if" | "function" | "macro" | "foreach" | "while" => depth += 1,
            "endif" | "endfunction" | "endmacro" | "endforeach" | "endwhile" => depth = depth.saturating_sub(1),
            _ if depth == 0 => found.push((start, joined)),
            _ => {}
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

/// The directories in which the build file at `path` with that `text` lets the compiler look for headers, in its order.
pub fn include_dirs(path: &Path, text: &str) -> Vec<PathBuf> {
    let beside = path.parent().unwrap_or(Path::new(""));
    if is_script(path) {
        return script::include_dirs(text).into_iter().map(|directory| beside.join(directory)).collect();
    }
    let lines = if is_of_cmake(path) { commands(text) } else { make_lines(text) };
    let mut variables = Variables::default();
    variables.0.insert("CMAKE_CURRENT_SOURCE_DIR".to_owned(), Some(".".to_owned()));
    lines.iter().for_each(|(_, line)| variables.note(line));
    let stated = lines.iter().flat_map(|(_, line)| arguments(&split(line), "-I", INCLUDES));
    let expanded = stated.filter_map(|directory| variables.expanded(&directory, NESTING));
    expanded.filter(|directory| !directory.is_empty()).map(|directory| beside.join(directory)).collect()
}

/// The commands of CMake that state definitions without `-D`.
const DEFINITIONS: [&str; 2] = ["add_compile_definitions", "target_compile_definitions"];
/// Those that state include directories.
const INCLUDES: [&str; 2] = ["include_directories", "target_include_directories"];

/// The texts behind a flag among `words`, and the arguments of the commands that state such things without it.
fn arguments(words: &[String], flag: &str, stating: [&str; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let line = words.join(" ");
    let (command, arguments) = line.split_once('(').unwrap_or(("", ""));
    if stating.contains(&command.trim()) {
        let mut arguments = arguments.trim_end().trim_end_matches(')').split_whitespace();
        if command.trim().starts_with("target") {
            arguments.next();
        }
        let is_keyword =
            |word: &&str| matches!(*word, "PRIVATE" | "PUBLIC" | "INTERFACE" | "BEFORE" | "AFTER" | "SYSTEM");
        found.extend(arguments.filter(|word| !is_keyword(word)).map(|it| it.trim_start_matches(flag).to_owned()));
        return found;
    }
    let mut words = words.iter().flat_map(|word| parts(word, flag));
    while let Some(word) = words.next() {
        // `add_definitions(-DX=1)` and `FLAGS=-DX=1` have something before the flag.
        let Some(at) = word.find(flag).filter(|&at| at == 0 || word[..at].ends_with(['(', '=', ','])) else { continue };
        match &word[at + 2..] {
            "" => found.extend(words.next().map(closed)),
            attached => found.push(closed(attached)),
        }
    }
    found
}

/// The flags that one word of the command line holds: a quoted one may hold several, or a value with spaces.
fn parts<'w>(word: &'w str, flag: &str) -> Vec<&'w str> {
    if word.starts_with(flag) && !word.contains(" -") { vec![word] } else { word.split_whitespace().collect() }
}

/// A word without the bracket that closes the command around it.
fn closed(word: &str) -> String {
    let is_open = word.matches('(').count() < word.matches(')').count();
    if is_open { word.strip_suffix(')').unwrap_or(word).to_owned() } else { word.to_owned() }
}

/// What the file says of its variables: a value, or `None` where it says more than one thing.
#[derive(Debug, Default)]
struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    fn note(&mut self, line: &str) {
        let Some((name, value)) = make_assignment(line).or_else(|| cmake_assignment(line)) else { return };
        let value = value.map(str::to_owned);
        self.0.entry(name.to_owned()).and_modify(|known| *known = None).or_insert(value);
    }

    /// `text` with its variables replaced, if all are known.
    fn expanded(&self, text: &str, nesting: usize) -> Option<String> {
        let Some((before, rest)) = text.split_once('$') else { return Some(text.to_owned()) };
        let close = match rest.chars().next()? {
            '(' => ')',
            '{' => '}',
            _ => return None,
        };
        let (name, after) = rest[1..].split_once(close)?;
        let value = self.0.get(name)?.as_deref().filter(|_| nesting > 0)?;
        let (value, after) = (self.expanded(value, nesting - 1)?, self.expanded(after, nesting)?);
        Some(format!("{before}{value}{after}"))
    }
}

/// `NAME = value`; without a value where more is added to it than this.
fn make_assignment(line: &str) -> Option<(&str, Option<&str>)> {
    let (left, value) = line.split_once('=')?;
    let is_added = left.ends_with('+');
    let name = left.trim_end_matches([':', '?', '+']).trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim);
    is_name(name).then_some((name, (!is_added).then_some(value.trim())))
}

/// `set(NAME value)`.
fn cmake_assignment(line: &str) -> Option<(&str, Option<&str>)> {
    let (command, arguments) = line.split_once('(')?;
    if command.trim() != "set" {
        return None;
    }
    let mut words = arguments.trim_end().strip_suffix(')')?.split_whitespace();
    let (name, value, next) = (words.next()?, words.next(), words.next());
    let is_one_value = matches!(next, None | Some("CACHE" | "PARENT_SCOPE"));
    Some((name, value.map(|value| value.trim_matches('"')).filter(|_| is_one_value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(name: &str, text: &str) -> Vec<String> {
        let found = of_build_file(Path::new(name), text);
        found.iter().map(|it| format!("{}:{}={}", it.line, it.name, it.value.as_deref().unwrap_or("?"))).collect()
    }

    #[test]
    fn flags_of_a_makefile_are_found_with_the_values_of_its_variables() {
        let text = "N ?= 4\nM = 1\nM = 2\nFLAGS = -O3 -DN=$(N) \\\n  -DWIDE '-DT=unsigned int' # -DOLD=1\n\
                    all:\n\tnvcc -D K=$(M) -DL=$(shell x) main.cu\n";
        assert_eq!(stated("src/Makefile", text), ["4:N=4", "4:WIDE=1", "4:T=unsigned int", "7:K=?", "7:L=?"]);
    }

    #[test]
    fn include_directories_are_those_beside_the_build_file() {
        let dirs = |name: &str, text: &str| {
            let found = include_dirs(Path::new(name), text);
            found.iter().map(|it| it.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let text =
            "INC = ../inc\nFLAGS = -O3 -I$(INC) -I. \\\n  -I ../more -I$(UNKNOWN)\nifdef X\nFLAGS += -Iother\nendif\n";
        assert_eq!(dirs("src/Makefile", text), ["src/../inc", "src/.", "src/../more"]);
        let text = "include_directories(BEFORE ../inc ${CMAKE_CURRENT_SOURCE_DIR}/own)\n\
                    target_include_directories(app PRIVATE wide)\nset(CMAKE_CUDA_FLAGS \"-Ideep\")\n";
        assert_eq!(dirs("CMakeLists.txt", text), ["../inc", "./own", "wide", "deep"]);
    }

    #[test]
    fn what_a_condition_decides_is_left_out() {
        let text =
            "ifdef DEBUG\nFLAGS += -DDEBUG=1\nifeq ($(X),1)\nN = 1\nendif\nelse\nF = -DFAST\nendif\nG = -DSURE\n";
        assert_eq!(stated("Makefile", text), ["9:SURE=1"]);
        let text = "if(FAST)\n add_definitions(-DFAST)\nendif()\nadd_definitions(-DSURE)\n";
        assert_eq!(stated("CMakeLists.txt", text), ["4:SURE=1"]);
    }

    #[test]
    fn definitions_of_cmake_are_found_with_and_without_the_flag() {
        let text = "set(TILE 32)\nadd_compile_definitions(TILE=${TILE} WIDE)\n\
                    target_compile_definitions(app PRIVATE\n  A=1 # one\n  -DB=2)\n\
                    set(CMAKE_CUDA_FLAGS \"${CMAKE_CUDA_FLAGS} -DC=3\")\n";
        assert_eq!(stated("CMakeLists.txt", text), ["2:TILE=32", "2:WIDE=1", "3:A=1", "3:B=2", "6:C=3"]);
    }
}
