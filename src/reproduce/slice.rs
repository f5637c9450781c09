//! The part of a program that a kernel needs, as text: the kernel, what it names, and what that names.
//!
//! Whole lines of the user's own text are kept, in their order, so that every line of the result has its line in the
//! user's files. Conditionals are resolved as they were for the check, headers that were found stand in the place of
//! their directive, macros are kept where a kept line names them. Of the headers that were not found those stay that
//! belong to the language or to CUDA; the others are told.
//!
//! Names decide, not meaning: what is declared under a name that is used is kept. Host code comes only where nothing else
//! has the name. What is left out in error is for the compiler to find; what is kept in error does no harm.

use super::directives::{Directive, conditionals, directives, open_comments, words};
use super::nodes::{Kind, Nodes};
use super::standard;
use crate::preprocess::Output;
use crate::source::{FileId, SourceMap, Span, own_header};
use crate::syntax::Item;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::PathBuf;
use thiserror::Error;

/// A unit, read so that the spans of its items are numbers of the tokens of `output`.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Its tokens.
    pub output: &'a Output,
    /// Its declarations.
    pub items: &'a [Item],
    /// The file that is compiled.
    pub main: FileId,
    /// Macros of the command line.
    pub defines: &'a [(String, String)],
}

/// The part that a kernel needs.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// Its lines, and where they come from.
    pub lines: Vec<(String, Option<(PathBuf, u32)>)>,
    /// Headers that were not found and are left out.
    pub left_out: Vec<String>,
    /// How the types of the kernel's parameters are written.
    pub parameters: Vec<ParameterText>,
}

/// How the type of a parameter is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterText {
    /// Whether it is a type of the language, for which any number goes.
    pub is_plain: bool,
    /// Its words, without `const`.
    pub text: String,
}

/// Why there is no such part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SliceError {
    /// The built-in front end does not see the kernel.
    #[error("the kernel at line {0} is not found by the built-in front end")]
    NoKernel(u32),
    /// Lines of a file that comes in several times.
    #[error("{0} is included more than once, and each time for something else")]
    Repeated(String),
    /// Lines of a file that no directive brings.
    #[error("{0} comes in without an include directive")]
    Unplaced(String),
}

/// Cuts the part out.
struct Cutter<'a> {
    unit: &'a Unit<'a>,
    /// Lines of declarations that are kept.
    kept: FxHashMap<FileId, FxHashSet<u32>>,
    directives: FxHashMap<FileId, Vec<Directive>>,
    /// The macros that are needed.
    macros: FxHashSet<String>,
    /// All words of kept lines and of these macros.
    words: FxHashSet<String>,
    entered: FxHashSet<FileId>,
    slice: Slice,
}

/// The part of a unit that the kernel at a line of a file needs, with the declarations of `names`.
pub fn slice(unit: &Unit<'_>, kernel: (&std::path::Path, u32), names: &[String]) -> Result<Slice, SliceError> {
    let nodes = Nodes::new(unit.output, unit.items);
    let sources = &unit.output.sources;
    let (path, line) = kernel;
    let is_it = |at: &usize| {
        let node = &nodes.all[*at];
        let covers = |&(file, first, last): &(FileId, u32, u32)| {
            first <= line && line <= last && sources.file(file).path == path
        };
        node.kind == Kind::Kernel && node.lines.iter().any(covers)
    };
    let roots: Vec<usize> = (0..nodes.all.len()).filter(is_it).collect();
    if roots.is_empty() {
        return Err(SliceError::NoKernel(line));
    }
    let mut kept: FxHashMap<FileId, FxHashSet<u32>> = FxHashMap::default();
    let needed = nodes.needed(&roots, names);
    refuse_repeated(unit, &nodes, &needed)?;
    for at in needed {
        for &(file, first, last) in &nodes.all[at].lines {
            kept.entry(file).or_default().extend(first..=last);
        }
    }
    let text_of = |file: FileId| directives(&sources.file(file).text);
    let directives = sources.files().map(|(file, _)| (file, text_of(file))).collect();
    let parameters = nodes.all[roots[0]].parameters.clone();
    let slice = Slice { parameters, ..Slice::default() };
    let (macros, words, entered) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
    let mut cutter = Cutter { unit, kept, directives, macros, words, entered, slice };
    cutter.add_comments();
    cutter.find_macros(names);
    cutter.add_defines();
    cutter.file(unit.main);
    let mut lost: Vec<FileId> = cutter.kept.keys().copied().filter(|file| !cutter.entered.contains(file)).collect();
    lost.sort_unstable();
    match lost.first() {
        Some(&file) => Err(SliceError::Unplaced(sources.file(file).path.display().to_string())),
        None => Ok(cutter.slice),
    }
}

/// A line that comes in several times, each time with the same declaration, is kept once. One that declares something
/// else each time cannot be told apart.
fn refuse_repeated(unit: &Unit<'_>, nodes: &Nodes<'_>, needed: &FxHashSet<usize>) -> Result<(), SliceError> {
    let mut declared: FxHashMap<Span, &[String]> = FxHashMap::default();
    let mut all: Vec<usize> = needed.iter().copied().collect();
    all.sort_unstable();
    for node in all.iter().map(|&at| &nodes.all[at]) {
        let Some(start) = nodes.start(node) else { continue };
        if *declared.entry(start).or_insert(&node.names) != node.names {
            let path = &unit.output.sources.file(start.file).path;
            return Err(SliceError::Repeated(path.display().to_string()));
        }
    }
    Ok(())
}

impl Cutter<'_> {
    fn sources(&self) -> &SourceMap {
        &self.unit.output.sources
    }

    fn is_kept(&self, file: FileId, line: u32) -> bool {
        self.kept.get(&file).is_some_and(|lines| lines.contains(&line))
    }

    /// Comments that stand right above something that is kept belong to it.
    fn add_comments(&mut self) {
        let mut found: Vec<(FileId, u32)> = Vec::new();
        for (&file, kept) in &self.kept {
            let text = &self.sources().file(file).text;
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for &line in kept.iter().filter(|&&line| line > 1 && !kept.contains(&(line - 1))) {
                let above = &lines[..(line as usize - 1).min(lines.len())];
                let count = comment_lines(above);
                // What begins the file is about the file.
                if count < above.len() {
                    found.extend((line - count as u32..line).map(|line| (file, line)));
                }
            }
        }
        for (file, line) in found {
            self.kept.entry(file).or_default().insert(line);
        }
    }

    /// Whether a directive outside of all declarations was read.
    fn is_active(&self, file: FileId, directive: &Directive) -> bool {
        self.is_read(file, directive.start as u32)
    }

    /// Whether what stands at an offset was read.
    fn is_read(&self, file: FileId, at: u32) -> bool {
        let guard = self.guard_end(file);
        let skipped = self.unit.output.skipped.iter().filter(|span| span.file == file);
        // What a guard leaves out of a second inclusion was read the first time.
        let mut skipped = skipped.filter(|span| guard.is_none_or(|guard| span.start > guard));
        !skipped.any(|span| span.start <= at && at < span.end)
    }

    /// Lines that are kept and must not stay: a conditional of which only some directives are among the lines that are
    /// kept is resolved as it was for the check.
    fn resolved(&self, file: FileId, text: &str) -> FxHashSet<u32> {
        let mut dropped = FxHashSet::default();
        let directives = self.directives.get(&file).map_or(&[][..], Vec::as_slice);
        for group in conditionals(directives) {
            let lines = || group.iter().flat_map(|directive| directive.lines.clone());
            if lines().all(|line| self.is_kept(file, line)) || !lines().any(|line| self.is_kept(file, line)) {
                continue;
            }
            dropped.extend(lines());
            let (Some(first), Some(last)) = (lines().min(), lines().max()) else { continue };
            let mut start = 0;
            for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
                if (first..=last).contains(&number) && !self.is_read(file, start) {
                    dropped.insert(number);
                }
                start += line.len() as u32;
            }
        }
        dropped
    }

    /// Where the guard of a header ends that makes a second inclusion empty.
    fn guard_end(&self, file: FileId) -> Option<u32> {
        let [first, second, ..] = &self.directives.get(&file)?[..] else { return None };
        let is_guard = first.word == "ifndef" && second.macro_name() == first.rest.split_whitespace().next();
        is_guard.then_some(second.start as u32)
    }

    /// The macros that kept lines name, and those that these name.
    fn find_macros(&mut self, names: &[String]) {
        let mut open: Vec<String> = names.iter().flat_map(|name| words(name)).map(str::to_owned).collect();
        for (&file, kept) in &self.kept {
            let lines = (1u32..).zip(self.sources().file(file).text.lines());
            let lines = lines.filter(|(number, _)| kept.contains(number));
            open.extend(lines.flat_map(|(_, line)| words(line)).map(str::to_owned));
        }
        let mut bodies: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for directive in self.directives.values().flatten() {
            if let Some(name) = directive.macro_name() {
                bodies.entry(name).or_default().push(&directive.rest);
            }
        }
        for (name, value) in self.unit.defines {
            bodies.entry(name.split('(').next().unwrap_or(name)).or_default().push(value);
        }
        let mut macros = FxHashSet::default();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        while let Some(word) = open.pop() {
            if !seen.insert(word.clone()) {
                continue;
            }
            let Some(bodies) = bodies.get(&*word) else { continue };
            open.extend(bodies.iter().flat_map(|body| words(body)).map(str::to_owned));
            macros.insert(word);
        }
        (self.macros, self.words) = (macros, seen);
    }

    /// The macros of the command line.
    fn add_defines(&mut self) {
        for (name, value) in self.unit.defines {
            if self.macros.contains(name.split('(').next().unwrap_or(name)) {
                let value = value.split('\n').next().unwrap_or("");
                self.slice.lines.push((format!("#define {name} {value}"), None));
            }
        }
    }

    fn file(&mut self, file: FileId) {
        if !self.entered.insert(file) {
            return;
        }
        let source = self.sources().file(file).clone();
        let directives = self.directives.remove(&file).unwrap_or_default();
        self.directives.insert(file, directives.clone());
        let dropped = self.resolved(file, &source.text);
        let lines: Vec<&str> = source.text.lines().collect();
        let comments = open_comments(&source.text);
        let mut number = 1u32;
        let mut gap = false;
        while number as usize <= lines.len() {
            let text = lines[number as usize - 1];
            let directive = directives.iter().find(|directive| *directive.lines.start() == number);
            let last = match directive.filter(|_| !self.is_kept(file, number)) {
                None if dropped.contains(&number) => number,
                Some(directive) => {
                    if self.is_active(file, directive) {
                        self.directive(file, directive, &lines, &source.path);
                    }
                    *directive.lines.end()
                }
                None if self.is_kept(file, number) => {
                    if gap && self.slice.lines.last().is_some_and(|(last, _)| !last.trim().is_empty()) {
                        self.slice.lines.push((String::new(), None));
                    }
                    let is_open = |line: u32| comments.get(line as usize - 1).copied().unwrap_or(false);
                    let mut text = text;
                    if number > 1 && is_open(number - 1) && !self.is_kept(file, number - 1) {
                        text = text.split_once("*/").map_or(text, |(_, rest)| rest);
                    }
                    if is_open(number) && !self.is_kept(file, number + 1) {
                        text = text.rsplit_once("/*").map_or(text, |(before, _)| before);
                    }
                    self.slice.lines.push((text.to_owned(), Some((source.path.clone(), number))));
                    number
                }
                None => number,
            };
            gap = !self.is_kept(file, number);
            number = last + 1;
        }
    }

    /// What becomes of a directive outside of all declarations.
    fn directive(&mut self, file: FileId, directive: &Directive, lines: &[&str], path: &std::path::Path) {
        let is_needed = match directive.word.as_str() {
            "define" | "undef" => directive.macro_name().is_some_and(|name| self.macros.contains(name)),
            "pragma" => ["pack", "OPENCL"].iter().any(|word| directive.rest.starts_with(word)),
            "include" => return self.include(file, directive),
            _ => false,
        };
        if is_needed {
            for number in directive.lines.clone() {
                let text = lines.get(number as usize - 1).copied().unwrap_or("");
                self.slice.lines.push((text.to_owned(), Some((path.to_path_buf(), number))));
            }
        }
    }

    /// Annotations do nothing in a program that somebody else compiles, without the header: the witness keeps what they ask for.
    fn annotations(&mut self) {
        let mut lines: Vec<String> = own_header::forms()
            .filter(|(name, _)| self.macros.contains(*name))
            .filter_map(|(name, _)| own_header::empty(name))
            .collect();
        lines.retain(|line| self.slice.lines.iter().all(|(known, _)| known != line));
        self.slice.lines.extend(lines.into_iter().map(|line| (line, None)));
    }

    fn include(&mut self, file: FileId, directive: &Directive) {
        let line = |span: Span| self.sources().start_position(span).line;
        let is_here = |span: Span| directive.lines.contains(&line(span));
        let found = self.unit.output.includes.iter();
        let found: Vec<FileId> = found
            .filter(|include| include.span.file == file && is_here(include.span))
            .filter_map(|include| include.entered)
            .collect();
        if !found.is_empty() {
            for header in found {
                match own_header::is_own(self.sources().file(header)) {
                    true => self.annotations(),
                    false => self.file(header),
                }
            }
            return;
        }
        let missing = self.unit.output.missing_includes.iter();
        let mut missing = missing.filter(|include| include.span.file == file && is_here(include.span));
        let Some(name) = missing.next().map(|include| include.name.clone()) else { return };
        if standard::is_wanted(&name, &self.words) {
            let line = format!("#include <{name}>");
            if self.slice.lines.iter().all(|(known, _)| *known != line) {
                self.slice.lines.push((line, None));
            }
        } else if !standard::is_known(&name) && !self.slice.left_out.contains(&name) {
            self.slice.left_out.push(name);
        }
    }
}

/// How many lines at the end are a comment.
fn comment_lines(above: &[&str]) -> usize {
    let single = above.iter().rev().take_while(|line| line.starts_with("//")).count();
    if single > 0 || !above.last().is_some_and(|line| line.ends_with("*/")) {
        return single;
    }
    let start = above.iter().rposition(|line| line.contains("/*"));
    start.filter(|&at| above[at].starts_with("/*")).map_or(0, |at| above.len() - at)
}
