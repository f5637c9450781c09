//! Figures of the house: how large types are, in how many files they are spread, which files use each other in circles, and
//! other measures of how crooked a room has grown. `scripts/house` prints them.
//!
//! `grammar-tests/house.txt` holds the figures of today. A test fails when one of them grows, but for the number of methods,
//! which work adds to; whoever makes one smaller writes the smaller one there.
//!
//! All is read from text as rustfmt leaves it. Deliberately absent: what macros expand to, traits, and whose method a call is
//! of where several types have one of its name: such calls are no edge. Types of one name in one room are counted together.

use crate::tidy::meanings::named_elsewhere;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Where the figures of today stand.
const KEPT: &str = "grammar-tests/house.txt";

/// What the figures begin with that may grow.
const METHODS: &str = "methods of ";

/// A type is large that has more fields, or whose methods stand in more files.
const MOST_FIELDS: usize = 15;
const MOST_FILES: usize = 6;

/// Methods of the standard library's types: a call of such a name leads to no file.
const STANDARD: [&str; 44] = [
    "all", "any", "as_str", "bytes", "chars", "clear", "clone", "cloned", "collect", "contains", "copied", "count",
    "drain", "entry", "extend", "find", "first", "flush", "fold", "get", "get_mut", "index", "insert", "is_empty",
    "iter", "join", "last", "len", "lines", "map", "max", "min", "next", "peek", "pop", "position", "push", "read",
    "remove", "retain", "rev", "splice", "split", "take",
];

/// A file below `src`, without its tests.
struct File {
    path: PathBuf,
    text: String,
}

impl File {
    /// Its name below `src`, as modules are named: `resolve/call`, `resolve` for `resolve/mod.rs`.
    fn name(&self) -> String {
        let inner = self.path.strip_prefix("src").expect("the file is below src").with_extension("");
        let name = inner.to_string_lossy().replace('\\', "/");
        name.strip_suffix("/mod").unwrap_or(&name).to_owned()
    }

    fn room(&self) -> String {
        self.name().split('/').next().unwrap_or_default().to_owned()
    }

    /// Its lines without comments.
    fn code(&self) -> impl Iterator<Item = &str> {
        self.text.lines().map(|line| line.split("//").next().unwrap_or_default())
    }
}

/// All files below `src`, sorted; what stands behind `#[cfg(test)] mod` is left out.
fn files() -> Vec<File> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("src")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("the directory can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).expect("the file can be read");
                let end = text.find("\n#[cfg(test)]\nmod ").unwrap_or(text.len());
                found.push(File { text: text[..end].to_owned(), path });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A type: its fields, its methods, and the files in which these stand.
#[derive(Debug, Default, PartialEq, Eq)]
struct Size {
    fields: usize,
    methods: usize,
    files: BTreeSet<String>,
}

/// The name that a declaration gives: of `pub(super) struct Pass<'p> {` it is `Pass`.
fn declared<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let at = line.find(keyword)?;
    let before = line[..at].trim_end();
    let rest = &line[at + keyword.len()..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let is_start = before.is_empty() || before.starts_with("pub");
    (is_start && end > 0).then(|| &rest[..end])
}

/// The type of an inherent implementation: of `impl<'u> Resolver<'u> {` it is `Resolver`.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generic) => &generic[generic.find('>')? + 1..],
        None => rest,
    };
    let rest = rest.strip_prefix(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (!rest.contains(" for ") && line.ends_with('{')).then(|| &rest[..end])
}

/// The name of the function that a line begins, at that indentation.
fn function(line: &str, indentation: &str) -> Option<String> {
    let rest = line.strip_prefix(indentation).filter(|rest| !rest.starts_with(' '))?;
    let words = ["pub(crate) ", "pub(super) ", "pub ", "const ", "unsafe ", "async "];
    let mut rest = rest;
    while let Some(shorter) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    let name = rest.strip_prefix("fn ")?;
    Some(name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

/// The sizes of types by room and name, and where methods stand by room and their own name.
fn sizes(files: &[File]) -> (BTreeMap<(String, String), Size>, BTreeMap<(String, String), BTreeSet<String>>) {
    let mut sizes: BTreeMap<(String, String), Size> = BTreeMap::new();
    let mut methods: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let (mut of_type, mut of_impl) = (None, None);
        for line in file.code() {
            if line == "}" || line.is_empty() {
                if line == "}" {
                    (of_type, of_impl) = (None, None);
                }
                continue;
            }
            if let Some(name) = declared(line, "struct ").filter(|_| line.ends_with('{')) {
                of_type = Some((file.room(), name.to_owned()));
            } else if let Some(name) = implemented(line) {
                of_impl = Some((file.room(), name.to_owned()));
            } else if let Some(key) = &of_type {
                let is_field = line.starts_with("    ") && !line.starts_with("     ") && line.contains(": ");
                sizes.entry(key.clone()).or_default().fields += usize::from(is_field);
            } else if let Some((key, method)) = of_impl.as_ref().zip(function(line, "    ")) {
                let size = sizes.entry(key.clone()).or_default();
                size.methods += 1;
                size.files.insert(file.name());
                methods.entry((file.room(), method)).or_default().insert(file.name());
            }
        }
    }
    (sizes, methods)
}

/// Which files of its room a file uses: by imports, and by methods that one other file of the room alone defines.
fn uses(files: &[File], methods: &BTreeMap<(String, String), BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let names: BTreeSet<String> = files.iter().map(File::name).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let (name, room) = (file.name(), file.room());
        let used = uses.entry(name.clone()).or_default();
        let code: String = file.code().collect::<Vec<_>>().join("\n");
        used.extend(imported(&code, &name).into_iter().filter(|it| names.contains(it) && *it != name));
        for called in called(&code).into_iter().filter(|name| !STANDARD.contains(name)) {
            if let Some(places) = methods.get(&(room.clone(), called.to_owned()))
                && let Some(only) = places.first().filter(|_| places.len() == 1)
                && *only != name
            {
                used.insert(only.clone());
            }
        }
    }
    uses
}

/// The modules that `use` names, as far as they are files beside, below or above: `use super::call::{…}` in `resolve/expr`
/// is `resolve/call`.
fn imported(code: &str, name: &str) -> Vec<String> {
    let parent = name.rsplit_once('/').map_or("", |(parent, _)| parent);
    let mut found = Vec::new();
    for line in code.lines() {
        let Some(path) = line.trim_start_matches("pub(super) ").trim_start_matches("pub ").strip_prefix("use ") else {
            continue;
        };
        let base = match path.split("::").next() {
            Some("super") => parent.to_owned(),
            Some("crate") => String::new(),
            Some("self") => name.to_owned(),
            _ => continue,
        };
        let mut at = base;
        for part in path.split("::").skip(1) {
            let part: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if part.is_empty() || part == "super" {
                break;
            }
            at = if at.is_empty() { part } else { format!("{at}/{part}") };
            found.push(at.clone());
        }
    }
    found
}

/// The names that stand between `.` and `(`.
fn called(code: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices('.') {
        let rest = &code[at + 1..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end > 0 && (rest[end..].starts_with('(') || rest[end..].starts_with("::<")) {
            found.insert(&rest[..end]);
        }
    }
    found
}

/// The largest set of files in which each leads to each other.
fn largest_circle(uses: &BTreeMap<String, BTreeSet<String>>, room: &str) -> usize {
    let in_room = |name: &&String| name.split('/').next() == Some(room);
    let reached = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open = vec![from];
        while let Some(name) = open.pop() {
            let next = uses.get(name).into_iter().flatten().filter(in_room);
            open.extend(next.filter(|name| seen.insert(*name)).collect::<Vec<_>>());
        }
        seen.into_iter().cloned().collect::<BTreeSet<String>>()
    };
    let names: Vec<&String> = uses.keys().filter(in_room).collect();
    let reach: BTreeMap<&String, BTreeSet<String>> = names.iter().map(|name| (*name, reached(name))).collect();
    let circle = |name: &&String| {
        let back = reach[*name].iter().filter(|other| reach.get(*other).is_some_and(|seen| seen.contains(*name)));
        back.count()
    };
    names.iter().map(circle).max().unwrap_or(0)
}

/// The parameters of truth values of functions.
fn boolean_parameters(code: &str) -> usize {
    let mut count = 0;
    for (at, word) in code.match_indices("fn ") {
        let signature = &code[at + word.len()..];
        let end = signature.find([';', '{']).unwrap_or(signature.len());
        let params = signature[..end].split("->").next().unwrap_or_default();
        count += params.matches(": bool").count();
    }
    count
}

/// The results whose error is a text; a map to texts is none.
fn texts_as_errors(code: &str) -> usize {
    let end = ", String>";
    let is_result = |at: usize| {
        let mut depth = 0_usize;
        let open = code[..at].char_indices().rev().find(|(_, character)| match character {
            '<' if depth == 0 => true,
            '<' => {
                depth -= 1;
                false
            }
            '>' => {
                depth += 1;
                false
            }
            _ => false,
        });
        open.is_some_and(|(open, _)| code[..open].ends_with("Result"))
    };
    code.match_indices(end).filter(|(at, _)| is_result(*at)).count()
}

/// The figures, in the order in which they are printed.
fn figures() -> Vec<(String, usize)> {
    let files = files();
    let (sizes, methods) = sizes(&files);
    let uses = uses(&files, &methods);
    let mut figures = Vec::new();
    for ((room, name), size) in &sizes {
        if size.fields > MOST_FIELDS || size.files.len() > MOST_FILES {
            figures.push((format!("fields of {room}::{name}"), size.fields));
            figures.push((format!("{METHODS}{room}::{name}"), size.methods));
            figures.push((format!("files of {room}::{name}"), size.files.len()));
        }
    }
    let rooms: BTreeSet<String> = files.iter().map(File::room).collect();
    for room in rooms {
        let circle = largest_circle(&uses, &room);
        if circle > 0 {
            figures.push((format!("files in the largest circle of {room}"), circle));
        }
    }
    figures.push(("library functions named outside of builtins".to_owned(), named_elsewhere()));
    let code = |file: &File| file.code().collect::<Vec<_>>().join("\n");
    figures.push(("boolean parameters".to_owned(), files.iter().map(|file| boolean_parameters(&code(file))).sum()));
    let texts = files.iter().map(|file| texts_as_errors(&code(file))).sum();
    figures.push(("results whose error is a text".to_owned(), texts));
    figures
}

/// The figures that are kept, by name.
fn kept(text: &str) -> BTreeMap<&str, usize> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let pair = |line: &'_ str| -> Option<(usize, usize)> {
        let at = line.rfind(' ')?;
        Some((at, line[at + 1..].parse().ok()?))
    };
    lines.filter_map(|line| pair(line).map(|(at, figure)| (line[..at].trim_end(), figure))).collect()
}

/// What has grown beyond what is kept.
fn grown(figures: &[(String, usize)], kept: &BTreeMap<&str, usize>) -> Vec<String> {
    let complaint = |(name, figure): &(String, usize)| {
        let before = kept.get(name.as_str()).copied().unwrap_or(0);
        let may_grow = name.starts_with(METHODS);
        (*figure > before && !may_grow).then(|| format!("{name}: {figure}, and {before} in {KEPT}"))
    };
    figures.iter().filter_map(complaint).collect()
}

#[test]
fn no_figure_of_the_house_has_grown() {
    let figures = figures();
    for (name, figure) in &figures {
        println!("{name} {figure}");
    }
    let text = fs::read_to_string(KEPT).expect("the figures of today can be read");
    let complaints = grown(&figures, &kept(&text));
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn a_figure_that_grows_is_told_and_a_new_one_too() {
    let now = [("files of a::B".to_owned(), 8), ("files in the largest circle of c".to_owned(), 2)];
    let complaints = grown(&now, &kept("# figures\nfiles of a::B 7\n"));
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(grown(&now, &kept("files of a::B 8\nfiles in the largest circle of c 2\n")).is_empty());
}

#[test]
fn types_methods_and_their_files_are_counted() {
    let file = |name: &str, text: &str| File { path: PathBuf::from("src").join(name), text: text.to_owned() };
    let one = "pub(super) struct Pass<'p> {\n    a: u32, // of text\n    pub b: Vec<u32>,\n}\n\nimpl<'p> Pass<'p> {\n    \
        pub(super) fn one(&self) {\n        self.two();\n    }\n}\n";
    let two = "impl Pass<'_> {\n    const fn two(&self) {}\n}\nimpl Clone for Pass<'_> {\n    fn clone(&self) {}\n}\n";
    let files =
        [file("lower/pass.rs", one), file("lower/two.rs", two), file("lower/mod.rs", "use self::pass::Pass;\n")];
    let (sizes, methods) = sizes(&files);
    let size = &sizes[&("lower".to_owned(), "Pass".to_owned())];
    assert_eq!((size.fields, size.methods, size.files.len()), (2, 2, 2));
    let uses = uses(&files, &methods);
    assert_eq!(uses["lower/pass"], BTreeSet::from(["lower/two".to_owned()]));
    assert_eq!(uses["lower"], BTreeSet::from(["lower/pass".to_owned()]));
    assert_eq!(largest_circle(&uses, "lower"), 0);
}

#[test]
fn circles_are_found_by_imports_and_by_calls() {
    let file = |name: &str, text: &str| File { path: PathBuf::from("src").join(name), text: text.to_owned() };
    let one = "use super::two::Two;\nimpl One {\n    fn one(&self) {}\n}\n";
    let two = "impl Two {\n    fn two(one: One) {\n        one.one();\n    }\n}\n";
    let files = [file("a/one.rs", one), file("a/two.rs", two)];
    let (_, methods) = sizes(&files);
    assert_eq!(largest_circle(&uses(&files, &methods), "a"), 2);
}

#[test]
fn truth_values_are_counted() {
    assert_eq!(boolean_parameters("fn a(b: bool, c: u32) -> bool {}\nfn d(is_e: bool) {}\nlet f: bool = g;"), 2);
}

#[test]
fn results_with_texts_are_counted_and_maps_are_not() {
    assert_eq!(texts_as_errors("fn a() -> Result<Vec<u8>, String> {}\nlet b: BTreeMap<u32, String>;"), 1);
}
