//! What a program lacks that compiles and does not link: which names nobody defines, where they are declared, and which file of
//! the project defines them.
//!
//! Linkers say the name and the object, which is a temporary file of ours. The user forgot a file, or a library.
//!
//! Guarantees: a file that is named has text that defines something of that name; what only looks like it in comments and texts
//! does not count. Deliberately absent: signatures. What a given file defines in another way, static or with other parameters, is
//! told as that.

use crate::source::discover::{dialect_of, is_host_code};
use crate::source::headers::{Kind, ProjectHeaders, included};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};

/// Names that are told at most; a forgotten file leaves many.
const MOST_TOLD: usize = 5;
/// Files that are read at most, for one program.
const MOST_READ: usize = 2_000;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    path: PathBuf,
    line: usize,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// A name that is used and that nobody defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    name: String,
    declared: Option<Line>,
    defined: Defined,
}

/// Who defines something of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Defined {
    Nowhere,
    /// A file of the project that was not given.
    Nearby(Line),
    /// A given file, in a way that does not serve.
    Otherwise(Line),
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Undefined { name, declared, defined } = self;
        write!(f, "`{name}` is ")?;
        if let Some(declared) = declared {
            write!(f, "declared in {declared} and ")?;
        }
        match defined {
            Defined::Nearby(line) => {
                write!(
                    f,
                    "defined in none of the given files; give {}, which defines it (line {})",
                    line.path.display(),
                    line.line
                )
            }
            Defined::Otherwise(line) => {
                write!(
                    f,
                    "not what {line} defines: that has other parameters, another namespace or linkage, or is static"
                )
            }
            Defined::Nowhere => {
                write!(
                    f,
                    "defined in none of the given files; give the file that defines it, or name its library by -l"
                )
            }
        }
    }
}

/// What the messages of a linker lack, for people: a line for each name, the first few.
pub(super) fn told(all: &[Undefined]) -> String {
    let mut lines: Vec<String> = all.iter().take(MOST_TOLD).map(Undefined::to_string).collect();
    match all.len().saturating_sub(MOST_TOLD) {
        0 => {}
        more => lines.push(format!("and {more} more")),
    }
    lines.join("; ")
}

/// The names that messages of a linker say nobody defines, of a program of these files.
pub(super) fn undefined(messages: &str, given: &[PathBuf], include_dirs: &[PathBuf]) -> Vec<Undefined> {
    let names = names(messages);
    if names.is_empty() {
        return Vec::new();
    }
    let mut read = Read { left: MOST_READ };
    let own: Vec<(PathBuf, String)> = given.iter().filter_map(|path| Some((path.clone(), read.text(path)?))).collect();
    let headers = read.headers(&own, include_dirs);
    let others = project(given);
    let explain = |name: String| {
        let word = last(&name).to_owned();
        let find = |kind: Mention, texts: &[(PathBuf, String)]| {
            let mut found = texts.iter().filter_map(|(path, text)| Some((path, line_of(text, &word, kind)?)));
            found.next().map(|(path, line)| Line { path: path.clone(), line })
        };
        let declared = find(Mention::Declares, &headers).or_else(|| find(Mention::Declares, &own));
        let mut nearby = || {
            others.iter().find_map(|path| {
                let line = line_of(&read.text(path)?, &word, Mention::Defines)?;
                Some(Line { path: shown(path), line })
            })
        };
        let defined = match find(Mention::Defines, &own) {
            Some(line) => Defined::Otherwise(line),
            None => nearby().map_or(Defined::Nowhere, Defined::Nearby),
        };
        Undefined { name, declared, defined }
    };
    names.into_iter().map(explain).collect()
}

/// What linkers say before a name: that of GNU, those of LLVM and mold.
const MARKS: [&str; 2] = ["undefined reference to ", "undefined symbol: "];

/// The names, each once, in the order in which they were met.
fn names(messages: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in messages.lines() {
        let Some((_, rest)) = MARKS.iter().find_map(|mark| line.split_once(mark)) else { continue };
        let name = plain(rest.trim().trim_matches(['`', '\'', '"']));
        let is_word = last(&name).starts_with(|c: char| c.is_alphabetic() || c == '_');
        // Tables of classes and the like are made with other functions, which are missing, too.
        if is_word && !name.contains(' ') && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// `void n::f<int>(int*)`: `n::f`.
fn plain(symbol: &str) -> String {
    let mut depth = 0_usize;
    let mut name = String::new();
    for c in symbol.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    let is_special = ["vtable for", "typeinfo", "VTT", "guard variable"].iter().any(|start| name.starts_with(start));
    // The type of the result of a template stands before its name.
    if is_special { name } else { name.rsplit(' ').next().unwrap_or("").to_owned() }
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Who reads files, not without end.
struct Read {
    left: usize,
}

impl Read {
    /// The text of a file without comments and texts.
    fn text(&mut self, path: &Path) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        let bytes = std::fs::read(path).ok()?;
        Some(blanked(&String::from_utf8_lossy(&bytes)))
    }

    /// The headers that texts include, themselves or by way of others.
    fn headers(&mut self, own: &[(PathBuf, String)], include_dirs: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        let mut headers = Vec::new();
        let mut left: VecDeque<PathBuf> = own.iter().map(|(path, _)| path.clone()).collect();
        while let Some(path) = left.pop_front() {
            // Names of headers are texts.
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
            for (name, _) in text.lines().filter_map(included) {
                let mut places = std::iter::once(&directory).chain(include_dirs).map(|place| place.join(name));
                let Some(header) = places.find(|path| path.is_file()) else { continue };
                if !known.insert(header.clone()) {
                    continue;
                }
                let Some(text) = self.text(&header) else { return headers };
                headers.push((header.clone(), text));
                left.push_back(header);
            }
        }
        headers
    }
}

/// Files of sources that the project has beside the given ones, those that are nearest to the first of them first.
fn project(given: &[PathBuf]) -> Vec<PathBuf> {
    let Some(first) = given.first() else { return Vec::new() };
    let directory = first.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let around = ProjectHeaders::new(&[directory.to_path_buf()]);
    let absolute = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    let given: BTreeSet<PathBuf> = given.iter().map(absolute).collect();
    let kind = Kind { name: "sources", is_wanted: |path| is_host_code(path) || dialect_of(path).is_some() };
    let files = around.around(first, kind).into_iter().flat_map(|group| group.files).map(|file| file.path);
    files.filter(|path| !given.contains(&absolute(path))).collect()
}

/// A path as it is seen from the working directory.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}

/// How a text speaks of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mention {
    Declares,
    Defines,
}

/// The line, from 1, on which a text without comments declares or defines a function, or declares a variable, of this name.
fn line_of(text: &str, word: &str, wanted: Mention) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let places = text
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()));
    let is_it = |&at: &usize| mention(&text[..at], &text[at + word.len()..]) == Some(wanted);
    places.into_iter().find(is_it).map(|at| text[..at].matches('\n').count() + 1)
}

/// What is made of a name by what stands before and behind it.
fn mention(before: &str, behind: &str) -> Option<Mention> {
    let start = before.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    let head = &before[start..];
    // Lines of the preprocessor end by themselves.
    let head = head.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let own = head.trim_end().trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':').trim_end();
    // Of `int n::f`, the qualification belongs to the name.
    let head = if head.trim_end().ends_with("::") { own } else { head.trim_end() };
    let words: Vec<&str> =
        head.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|it| !it.is_empty()).collect();
    let is_statement = ["return", "else", "delete", "new", "throw", "case", "goto", "do"];
    let ends_well = head.ends_with(|c: char| c.is_alphanumeric() || ['_', '*', '&', '>', ')', ']'].contains(&c));
    if words.is_empty() || head.contains('=') || is_statement.contains(&words[0]) || !ends_well {
        return None;
    }
    let rest = behind.trim_start();
    if !rest.starts_with('(') {
        return (words.contains(&"extern") && rest.starts_with([';', '[', ','])).then_some(Mention::Declares);
    }
    let tail = rest[closing(rest)? + 1..].trim_start();
    match tail.find(['{', ';', '(', ')', ',', '=', '}']).map(|at| tail.as_bytes()[at]) {
        Some(b'{') if words.contains(&"static") => None,
        Some(b'{') => Some(Mention::Defines),
        Some(b';') => Some(Mention::Declares),
        _ => None,
    }
}

/// Where the parenthesis closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (c == ')' && depth == 0).then_some(at)
    })
}

/// A text with blanks in the place of comments, texts and characters; lines stay.
fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest[2..].find("*/").map_or(rest.len(), |at| at + 4)
        } else if c == '"' || (c == '\'' && !out.ends_with(|c: char| c.is_ascii_hexdigit())) {
            quoted(rest, c)
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    out
}

/// The length of the literal that a text begins with, which ends with its line at the latest.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            c if c == quote && !is_escaped => return at + c.len_utf8(),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_name_what_is_missing() {
        let messages = "/usr/bin/ld: unit0.o: in function `main':\na.cu:(.text+0x1): undefined reference to `foo(int*)'\n\
                        /usr/bin/ld: a.cu:(.text+0x2): undefined reference to `foo(int*)'\n\
                        ld.lld: error: undefined symbol: void n::bar<int>(std::pair<int, int>)\n\
                        mold: error: undefined symbol: table\n\
                        ld: x.o: undefined reference to `vtable for Shape'\ncollect2: error: ld returned 1 exit status\n";
        assert_eq!(names(messages), ["foo", "n::bar", "table"]);
    }

    #[test]
    fn a_definition_is_told_from_a_declaration_and_from_a_call() {
        let text = blanked(
            "// void f() {}\n#include \"f.h\"\nvoid f(int *x); // f\nextern int table[4];\nint g() { return f(0); }\n\
             const char *s = \"void f(int) {\";\nvoid n::f(int (*x)(int)) noexcept\n{ f(1); }\nstatic void h() {}\n\
             int y = table[0];\ntemplate <class A, class B> __device__ A *p(A a, B) { if (f(2)) { p(1, 2); } }\n",
        );
        let lines = |word: &str| [Mention::Declares, Mention::Defines].map(|wanted| line_of(&text, word, wanted));
        assert_eq!(lines("f"), [Some(3), Some(7)]);
        assert_eq!(lines("table"), [Some(4), None]);
        assert_eq!(lines("g"), [None, Some(5)]);
        assert_eq!(lines("h"), [None, None]);
        assert_eq!(lines("p"), [None, Some(11)]);
        assert_eq!(lines("x"), [None, None]);
    }

    #[test]
    fn the_nearest_file_that_defines_it_is_named() {
        let place = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let main = put(
            "src/a.cu",
            "#include <x.h>\nint main() { foo(0); bar(); baz(); odd(); }\nstatic void odd() {}\nvoid odd(int) {}\n",
        );
        put(".git/HEAD", "");
        let header = put("include/x.h", "#pragma once\n// the one\nvoid foo(int *);\nvoid bar();\n");
        let near = put("src/deep/foo.cpp", "#include \"x.h\"\n\nvoid foo(int *x) {}\n");
        put("other/foo.cpp", "void foo(int *x) {}\n");
        let far = put("other/bar.cpp", "void bar() {}\n");
        let messages =
            ["foo(int*)", "bar()", "baz()", "odd()"].map(|it| format!("undefined reference to `{it}'\n")).concat();
        let found = undefined(&messages, &[main.clone()], &[place.path().join("include")]);
        let told: Vec<String> = found.iter().map(Undefined::to_string).collect();
        let (main, header, near, far) = (main.display(), header.display(), near.display(), far.display());
        let none = "defined in none of the given files; give";
        assert_eq!(told[0], format!("`foo` is declared in {header}:3 and {none} {near}, which defines it (line 3)"));
        assert_eq!(told[1], format!("`bar` is declared in {header}:4 and {none} {far}, which defines it (line 1)"));
        assert_eq!(told[2], format!("`baz` is {none} the file that defines it, or name its library by -l"));
        let otherwise = "that has other parameters, another namespace or linkage, or is static";
        assert_eq!(told[3], format!("`odd` is not what {main}:4 defines: {otherwise}"));
    }
}
