//! References to documents: each leads to a heading that exists, in one form.
//!
//! A comment or a document cites a heading as `docs/RULES.md, "3.2 SPLIT"`, on one line; a file without a heading after it
//! has to exist. Links between documents (`[text](#3-2-split)`) lead to a heading, too. Forms that lead nowhere are refused,
//! also where a line breaks them.

use super::assert_none;
use std::fs;
use std::path::{Path, PathBuf};

/// Forms in which comments once cited documents that nobody has, word for word. The last word need only begin so.
const OLD_FORMS: [&[&str]; 4] = [&["paper", "00"], &["the", "design"], &["design", "section"], &["RULES", ""]];

/// A mention of a document.
#[derive(Debug, PartialEq, Eq)]
struct Reference<'a> {
    line: usize,
    /// From the root of the repository: `docs/RULES.md`.
    file: &'a str,
    heading: Cited<'a>,
}

/// What stands after the name of a document.
#[derive(Debug, PartialEq, Eq)]
enum Cited<'a> {
    File,
    Heading(&'a str),
    /// A comma at the end of the line: the heading, if there is one, stands on the next.
    Cut,
}

/// The headings of a document, those in blocks of code left out.
fn headings(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with('#') {
            found.push(line.trim_start_matches('#').trim());
        }
    }
    found
}

/// What a link names a heading by: small letters, digits and hyphens.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The documents that a text mentions.
fn references(text: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        for (at, _) in content.match_indices("docs/") {
            let rest = &content[at..];
            let Some(length) = rest.find(".md").map(|end| end + ".md".len()) else { continue };
            let file = &rest[..length];
            if !file["docs/".len()..].chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) {
                continue;
            }
            let heading = match rest[length..].strip_prefix(", \"").map(|quoted| quoted.split_once('"')) {
                Some(Some((heading, _))) => Cited::Heading(heading),
                Some(None) => Cited::Cut,
                None if rest[length..].trim_end() == "," => Cited::Cut,
                None => Cited::File,
            };
            found.push(Reference { line, file, heading });
        }
    }
    found
}

/// Links of a document to headings: line, file (empty for the document itself), anchor.
fn links(text: &str) -> Vec<(usize, &str, &str)> {
    let mut found = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        for (at, start) in content.match_indices("](") {
            let target = content[at + start.len()..].split(')').next().unwrap_or_default();
            match target.split_once('#') {
                Some((file, anchor)) if !file.contains(':') => found.push((line, file, anchor)),
                _ => {}
            }
        }
    }
    found
}

/// Words of old forms, with the line on which each begins.
fn old_forms(text: &str) -> Vec<(usize, String)> {
    let words: Vec<(usize, &str)> = (1..)
        .zip(text.lines())
        .flat_map(|(line, content)| content.split_whitespace().map(move |word| (line, word)))
        .map(|(line, word)| (line, word.trim_matches(|c: char| !c.is_alphanumeric())))
        .filter(|(_, word)| !word.is_empty())
        .collect();
    let begins = |from: usize, form: &[&str]| {
        form.iter().enumerate().all(|(offset, part)| match words.get(from + offset) {
            None => part.is_empty(),
            Some((_, word)) if *part == "00" => word.starts_with(part),
            Some((_, word)) => part.is_empty() || word == part,
        })
    };
    let at = |from: usize| OLD_FORMS.iter().find(|form| begins(from, form)).map(|form| form.join(" "));
    (0..words.len()).filter_map(|from| Some((words[from].0, at(from)?))).collect()
}

/// What is wrong with the references of a text; `read` gives the text of another file, if there is one.
fn wrong(path: &Path, text: &str, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |line: usize, what: String| complaints.push(format!("{}:{line}: {what}", path.display()));
    for Reference { line, file, heading } in references(text) {
        match (read(Path::new(file)), heading) {
            (None, _) => complain(line, format!("there is no {file}")),
            (_, Cited::Cut) => complain(line, format!("the heading of {file} does not stand on this line")),
            (Some(cited), Cited::Heading(heading)) if !headings(&cited).contains(&heading) => {
                complain(line, format!("{file} has no heading `{heading}`"));
            }
            _ => {}
        }
    }
    if path.extension().is_some_and(|extension| extension == "md") {
        for (line, file, name) in links(text) {
            let at = path.parent().unwrap_or(Path::new("")).join(file);
            let cited = if file.is_empty() { Some(text.to_string()) } else { read(&at) };
            let Some(cited) = cited else {
                complain(line, format!("there is no {}", at.display()));
                continue;
            };
            if !headings(&cited).iter().any(|heading| anchor(heading) == name) {
                complain(line, format!("no heading is linked to by `#{name}`"));
            }
        }
    }
    for (line, form) in old_forms(text) {
        complain(line, format!("`{}` leads to no document; cite a heading: docs/NAME.md, \"HEADING\"", form.trim()));
    }
    complaints
}

/// Texts that may cite documents. What this file refuses stands in it.
fn texts() -> Vec<(PathBuf, String)> {
    let mut open: Vec<PathBuf> =
        ["src", "grammar-tests", "docs", "README.md", "CONTRIBUTING.md"].map(PathBuf::from).into();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the directory can be read");
            open.extend(entries.map(|entry| entry.expect("the entry can be read").path()));
        } else if path.extension().is_some_and(|extension| ["rs", "md", "txt"].iter().any(|known| extension == *known))
            && !path.ends_with("tidy/references.rs")
            && path.exists()
        {
            let text = fs::read_to_string(&path).expect("the file can be read");
            found.push((path, text));
        }
    }
    found.sort();
    found
}

#[test]
fn references_lead_to_headings() {
    let texts = texts();
    let cited: usize = texts.iter().map(|(_, text)| references(text).len()).sum();
    assert!(cited > 40, "only {cited} references were found");
    let read = |path: &Path| fs::read_to_string(path).ok();
    assert_none(&texts.iter().flat_map(|(path, text)| wrong(path, text, &read)).collect::<Vec<_>>());
}

/// What is wrong with a text, where `docs/R.md` has the headings `3.2 SPLIT` and `Other`.
fn complaints_of(path: &str, text: &str) -> Vec<String> {
    let read = |path: &Path| {
        (path == Path::new("docs/R.md")).then(|| "# R\n## 3.2 SPLIT\n```\n# code\n```\n### Other\n".into())
    };
    wrong(Path::new(path), text, &read)
}

#[test]
fn a_reference_needs_its_file_its_heading_and_one_line() {
    let right = "//! SPLIT (docs/R.md, \"3.2 SPLIT\"), and docs/R.md, \"Other\"; see docs/R.md.\n";
    assert_eq!(complaints_of("src/a.rs", right), [""; 0]);
    assert_eq!(
        complaints_of("src/a.rs", "//\n// docs/R.md, \"3.3 SPLIT\""),
        ["src/a.rs:2: docs/R.md has no heading `3.3 SPLIT`"]
    );
    assert_eq!(complaints_of("src/a.rs", "// docs/R.md, \"code\""), ["src/a.rs:1: docs/R.md has no heading `code`"]);
    assert_eq!(complaints_of("src/a.rs", "// docs/S.md, \"Other\""), ["src/a.rs:1: there is no docs/S.md"]);
    assert_eq!(complaints_of("src/a.rs", "// docs/S.md"), ["src/a.rs:1: there is no docs/S.md"]);
    let cut = "src/a.rs:1: the heading of docs/R.md does not stand on this line";
    assert_eq!(complaints_of("src/a.rs", "// docs/R.md,\n// \"Other\""), [cut]);
    assert_eq!(complaints_of("src/a.rs", "// docs/R.md, \"3.2\n// SPLIT\""), [cut]);
}

#[test]
fn links_lead_to_headings_by_their_anchors() {
    assert_eq!(anchor("3.2 SPLIT"), "32-split");
    let own = "# A b, c\n[x](#a-b-c) [y](R.md#32-split) [z](https://e.org/#f)\n";
    assert_eq!(complaints_of("docs/A.md", own), [""; 0]);
    assert_eq!(complaints_of("docs/A.md", "[x](#b)"), ["docs/A.md:1: no heading is linked to by `#b`"]);
    assert_eq!(complaints_of("docs/A.md", "\n[x](R.md#b)"), ["docs/A.md:2: no heading is linked to by `#b`"]);
    assert_eq!(complaints_of("docs/A.md", "[x](S.md#b)"), ["docs/A.md:1: there is no docs/S.md"]);
}

#[test]
fn old_forms_are_seen_across_lines_and_nothing_else_is() {
    let forms =
        |text| old_forms(text).into_iter().map(|(line, form)| (line, form.trim().to_string())).collect::<Vec<_>>();
    let one = |line, form: &str| vec![(line, form.to_string())];
    assert_eq!(forms("//! (paper 002, Figure 5)"), one(1, "paper 00"));
    assert_eq!(forms("//! of section 6 of the\n//! design."), one(1, "the design"));
    assert_eq!(forms("//! (design, section 7)"), one(1, "design section"));
    assert_eq!(forms("//! a\n//! (RULES, 2.2)"), one(2, "RULES"));
    assert_eq!(forms("//! the catalogue of RULES"), one(1, "RULES"));
    assert_eq!(forms("// the designator of an element; a paper of 2012; docs/RULES.md, by design; a section"), []);
}
