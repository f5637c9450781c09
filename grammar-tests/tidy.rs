//! Rules about the source itself, above all the table of rooms (docs/ARCHITECTURE.md, "The rooms"), held as data.
//!
//! If a wall stands wrong, move the wall and the table in one commit.
//!
//! - [`map`]: the same table in docs/ARCHITECTURE.md.
//! - [`references`]: what comments and documents cite.

mod map;
pub(crate) mod meanings;
mod references;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms each room may use. `arena`, `source` and `work` are open to all; a room may use itself, and a part of a room what
/// stands in the room but in none of its other parts. Who may use a room may use its parts.
const ROOMS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    ("lib", &[]),
    ("children", &[]),
    ("arena", &[]),
    ("source", &[]),
    ("work", &[]),
    ("diagnostic", &[]),
    ("models", &[]),
    ("preprocess", &["models", "diagnostic"]),
    ("syntax", &[]),
    // The front ends never use each other.
    ("front/clang", &["front/account", "syntax", "preprocess", "diagnostic", "children"]),
    ("front/tree_sitter", &["front/account", "front/mentions", "syntax", "preprocess", "diagnostic"]),
    ("front/account", &["syntax", "preprocess"]),
    ("front/mentions", &["syntax", "preprocess"]),
    ("front", &[]),
    // Scalar types, memory orders and scopes are named once, in the calculus, which itself uses nothing.
    ("builtins", &["syntax", "calculus"]),
    ("resolve", &["syntax", "builtins", "calculus", "diagnostic"]),
    ("calculus", &[]),
    ("memory_model", &["calculus"]),
    ("launch", &["resolve", "builtins", "calculus", "preprocess"]),
    // Host code asks `resolve` what names, types and constants are, through `resolve::Declared` alone.
    ("launch/host", &["resolve", "syntax", "builtins", "calculus", "diagnostic"]),
    // What the walk saw beside the statements is a type of the room that needs it.
    ("lower", &["resolve", "builtins", "calculus", "diagnostic", "memory_model", "settle"]),
    ("settle", &["calculus", "memory_model"]),
    ("flow", &["calculus"]),
    ("amplify", &["flow", "calculus"]),
    ("reaching", &["protocol", "prove", "calculus", "memory_model"]),
    ("coverage", &["diagnostic", "memory_model"]),
    ("mutation", &["diagnostic"]),
    ("schedule", &["diagnostic"]),
    ("adequacy", &["coverage", "mutation", "schedule", "diagnostic"]),
    ("generation", &["execute", "syntax"]),
    ("protocol", &["calculus", "flow", "memory_model"]),
    ("smt", &["children"]),
    // The words that all parts of the prover use. Conditions know nothing of rules, nor rules of conditions: both know
    // states, and `premises` alone knows both.
    ("prove", &["protocol", "calculus", "memory_model"]),
    ("prove/state", &[]),
    ("prove/hand_over", &["protocol", "calculus", "memory_model"]),
    ("prove/condition", &["prove/state", "prove/hand_over", "protocol", "calculus", "memory_model"]),
    ("prove/domains", &["calculus"]),
    ("prove/rules", &["prove/state", "prove/domains", "calculus"]),
    // What would have to hold is read off the state of a condition that is open; nothing is proved there.
    ("prove/abduction", &["prove/state", "prove/condition", "calculus"]),
    ("prove/premises", &["prove/state", "prove/hand_over", "prove/condition", "prove/rules", "protocol"]),
    ("prove/refute", &["prove/domains", "protocol", "calculus", "memory_model"]),
    ("prove/ask", &["prove/state", "prove/condition", "prove/premises", "protocol", "calculus", "memory_model", "smt"]),
    ("invariant", &["calculus", "protocol", "prove"]),
    // What users write beside their code is read from its tokens.
    ("suppress", &["diagnostic", "preprocess"]),
    ("edit", &[]),
    ("fix", &["syntax", "builtins", "calculus"]),
    // What is done to a program is named where its pages are.
    ("instrument", &["syntax", "preprocess", "builtins", "calculus", "flow", "edit", "mutation"]),
    ("trace", &["memory_model", "diagnostic"]),
    ("check", &["prove", "flow", "protocol", "calculus", "memory_model", "diagnostic"]),
    (
        "judge",
        &["calculus", "check", "diagnostic", "launch", "memory_model", "protocol", "prove", "settle", "smt", "resolve"],
    ),
    (
        "driver",
        &[
            "amplify",
            "adequacy",
            "reaching",
            "coverage",
            "generation",
            "mutation",
            "schedule",
            "children",
            "diagnostic",
            "models",
            "preprocess",
            "syntax",
            "front",
            "builtins",
            "resolve",
            "calculus",
            "memory_model",
            "launch",
            "lower",
            "settle",
            "flow",
            "protocol",
            "prove",
            "smt",
            "invariant",
            "judge",
            "check",
            "suppress",
            "edit",
            "fix",
            "instrument",
            "execute",
            "reproduce",
            "picture",
            "trace",
        ],
    ),
    ("execute", &["instrument", "trace"]),
    ("reproduce", &["calculus", "diagnostic", "preprocess", "syntax", "execute"]),
    ("picture", &["prove", "calculus", "diagnostic"]),
    ("site", &["driver", "picture", "calculus", "memory_model", "diagnostic"]),
    ("server", &["driver", "diagnostic"]),
    ("cli", &["driver", "server", "site", "diagnostic", "fix"]),
];

/// Rooms that every other may use.
const OPEN: [&str; 3] = ["arena", "source", "work"];

/// No file is longer, tables apart.
const MAX_LINES: usize = 1000;

/// Macros that must not stand in what is shipped.
const FORBIDDEN: [&str; 3] = ["todo!(", "unimplemented!(", "dbg!("];

struct Source {
    path: PathBuf,
    text: String,
}

/// All Rust files below `root`, sorted.
fn sources(root: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(root)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("the directory can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("the file can be read");
                found.push(Source { path, text });
            }
        }
    }
    assert!(!found.is_empty(), "no Rust file below {root}");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The module that a file is: `src/cli/x.rs` is `cli`, `x`.
fn module_of(path: &Path) -> Vec<String> {
    let inner = path.strip_prefix("src").expect("the file is below src").with_extension("");
    let parts = inner.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.filter(|part| part != "mod").collect()
}

/// The room that a path of modules leads into: `front::tree_sitter::x` is in `front/tree_sitter`, `cli::x` in `cli`.
fn room_at(path: &[String]) -> String {
    let part = path.iter().take(2).cloned().collect::<Vec<_>>().join("/");
    if ROOMS.iter().any(|(name, _)| *name == part) { part } else { path.first().cloned().unwrap_or_default() }
}

/// The room of a file: `src/front/tree_sitter/x.rs` is in `front/tree_sitter`, `src/cli/x.rs` in `cli`. A room inside
/// of another is one of its own if the table names it.
fn room_of(path: &Path) -> String {
    room_at(&module_of(path))
}

/// The lines of a file with their numbers, comments left out.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines().map(|line| line.split("//").next().unwrap_or_default()))
}

/// Rooms that a line of a module names: `crate::a::b` is `a`, `crate::{a, b::c}` is both; `super::` is what the module
/// stands in.
fn rooms_in(line: &str, module: &[String]) -> Vec<String> {
    let mut rooms = Vec::new();
    let around = &module[..module.len().saturating_sub(1)];
    for (start, base) in [("crate::", &[][..]), ("super::", around)] {
        for (at, word) in line.match_indices(start) {
            let is_own_word = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c));
            for path in paths(&line[at + word.len()..], 2).into_iter().filter(|_| is_own_word) {
                let room = room_at(&[base, &path].concat());
                if !room.is_empty() && !rooms.contains(&room) {
                    rooms.push(room);
                }
            }
        }
    }
    rooms
}

/// The paths that begin with `a::b`, or with `{a, b::c, d::{e, f}}`, up to so many names each.
fn paths(text: &str, names: usize) -> Vec<Vec<String>> {
    if let Some(group) = text.strip_prefix('{') {
        return members(group).into_iter().flat_map(|member| paths(member, names)).collect();
    }
    let first = head(text);
    match text[first.len()..].strip_prefix("::") {
        Some(rest) if names > 1 => {
            paths(rest, names - 1).into_iter().map(|path| [vec![first.clone()], path].concat()).collect()
        }
        _ => vec![vec![first]],
    }
}

/// The members of `a, b::c, d::{e, f}}`.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut members = Vec::new();
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                members.push(group[start..at].trim());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members.retain(|member| !member.is_empty());
    members
}

fn head(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn allowed(room: &str) -> &'static [&'static str] {
    ROOMS.iter().find(|(name, _)| *name == room).map_or_else(|| panic!("no room `{room}` in the table"), |room| room.1)
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// `use crate::{` may run over several lines; they are joined before they are looked at.
fn joined_uses(text: &str) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in code_lines(text) {
        match joined.last_mut() {
            Some((_, start)) if open => start.push_str(line),
            _ => joined.push((number, line.to_string())),
        }
        let last = &joined.last().expect("a line was pushed").1;
        open = ["crate::", "super::"].iter().any(|start| last.contains(start))
            && last.contains("use ")
            && !last.contains(';');
    }
    joined
}

#[test]
fn rooms_use_only_what_the_table_allows() {
    let mut complaints = Vec::new();
    for source in sources("src") {
        let (module, room) = (module_of(&source.path), room_of(&source.path));
        let around = room.split('/').next().unwrap_or_default();
        let allowed: BTreeSet<&str> =
            allowed(&room).iter().chain(&OPEN).copied().chain([room.as_str(), around]).collect();
        let is_test = module.last().is_some_and(|name| name == "tests");
        let may_use = |used: &str| {
            let whole = used.split('/').next().filter(|whole| *whole != around);
            // Tests of a part may use the parts beside it.
            let is_beside = is_test && whole.is_none();
            allowed.contains(used) || is_beside || whole.is_some_and(|whole| allowed.contains(whole))
        };
        for (number, line) in joined_uses(&source.text) {
            for used in rooms_in(&line, &module).into_iter().filter(|used| !may_use(used)) {
                complaints.push(format!("{}:{number}: `{room}` may not use `{used}`", source.path.display()));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn front_ends_do_not_use_each_other() {
    let mut complaints = Vec::new();
    for source in sources("src/front") {
        let other = match room_of(&source.path).as_str() {
            "front/tree_sitter" => "front::clang",
            "front/clang" => "front::tree_sitter",
            _ => continue,
        };
        let lines = code_lines(&source.text).filter(|(_, line)| line.contains(other));
        complaints.extend(lines.map(|(number, _)| format!("{}:{number}: uses {other}", source.path.display())));
    }
    assert_none(&complaints);
}

#[test]
fn modules_do_not_climb_two_levels() {
    let mut complaints = Vec::new();
    for source in sources("src") {
        let lines = code_lines(&source.text).filter(|(_, line)| line.contains("super::super::"));
        let found = lines.map(|(number, _)| format!("{}:{number}: `super::super::`", source.path.display()));
        complaints.extend(found);
    }
    assert_none(&complaints);
}

#[test]
fn every_module_says_what_it_is_and_none_is_too_long() {
    let mut complaints = Vec::new();
    for source in sources("src").into_iter().chain(sources("grammar-tests")) {
        let path = source.path.display();
        if !source.text.starts_with("//! ") {
            complaints.push(format!("{path}:1: the module does not open with what it is"));
        }
        if source.text.starts_with("//! Placeholder") {
            complaints.push(format!("{path}:1: a placeholder"));
        }
        let length = source.text.lines().count();
        if length > MAX_LINES {
            complaints.push(format!("{path}:{length}: more than {MAX_LINES} lines"));
        }
    }
    assert_none(&complaints);
}

#[test]
fn nothing_unfinished_and_no_path_of_one_machine_is_left() {
    let mut complaints = Vec::new();
    for source in sources("src").into_iter().chain(sources("grammar-tests")) {
        // This file names what it forbids.
        if source.path.ends_with("tidy.rs") {
            continue;
        }
        for (number, line) in (1..).zip(source.text.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            for word in FORBIDDEN.iter().filter(|word| code.contains(**word)) {
                complaints.push(format!("{}:{number}: `{word}…)`", source.path.display()));
            }
            for root in [concat!(env!("CARGO_MANIFEST_DIR"), "/"), "/home/", "/root/", "/Users/"]
                .iter()
                .filter(|root| line.contains(**root))
            {
                complaints.push(format!("{}:{number}: a path below {root}", source.path.display()));
            }
        }
    }
    assert_none(&complaints);
}

/// Rooms in which a clock would have a part in what is said of a kernel.
const WITHOUT_CLOCKS: [&str; 13] = [
    "calculus",
    "check",
    "flow",
    "invariant",
    "judge",
    "launch",
    "lower",
    "memory_model",
    "protocol",
    "prove",
    "resolve",
    "settle",
    "preprocess",
];

#[test]
fn no_clock_has_a_part_in_a_verdict() {
    let mut complaints = Vec::new();
    for source in WITHOUT_CLOCKS.iter().flat_map(|room| sources(&format!("src/{room}"))) {
        // Tests may; and a solver that is silent for long is broken.
        if source.path.ends_with("tests.rs") || source.path.ends_with("prove/ask/mod.rs") {
            continue;
        }
        for (number, line) in (1..).zip(source.text.lines()) {
            if ["Instant::", "time::Instant", "SystemTime", ".elapsed()"].iter().any(|clock| line.contains(clock)) {
                complaints.push(format!("{}:{number}: {}", source.path.display(), line.trim()));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn the_scanner_sees_grouped_and_nested_paths() {
    let at = |module: &str| module.split("::").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rooms_in("use crate::{a, b::c, d::{e, f}};", &at("m")), ["a", "b", "d"]);
    assert_eq!(rooms_in("fn f(x: crate::lower::X, y: &crate::calculus::Y)", &at("m")), ["lower", "calculus"]);
    assert_eq!(rooms_in("my_crate::a; $crate::b", &at("m")), [""; 0]);
    assert_eq!(
        rooms_in("use crate::prove::{Pair, rules::{a, b}, state};", &at("m")),
        ["prove", "prove/rules", "prove/state"]
    );
    assert_eq!(rooms_in("use super::rules::search;", &at("prove::condition")), ["prove/rules"]);
    assert_eq!(rooms_in("use super::rules::search;", &at("prove::condition::truth")), ["prove/condition"]);
    assert_eq!(room_of(Path::new("src/front/tree_sitter/items.rs")), "front/tree_sitter");
    assert_eq!(room_of(Path::new("src/launch/host/flow.rs")), "launch/host");
    assert_eq!(room_of(Path::new("src/launch/enqueued.rs")), "launch");
    assert_eq!(room_of(Path::new("src/main.rs")), "main");
    let joined = joined_uses("use crate::{\n    a,\n    b,\n};\nfn f() {}");
    assert_eq!(rooms_in(&joined[0].1, &at("m")), ["a", "b"]);
}
