//! That every option of every command is used by some test of that command.
//!
//! The options are those of the manual pages, which are made of the grammar of the command line. One that several commands have in the
//! same words is one option, for all of them. It counts as used where a file of tests names both the command and the option.

use super::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The commands that have an option, and the ways to type it.
#[derive(Default)]
struct Option {
    commands: BTreeSet<String>,
    forms: BTreeSet<String>,
}

/// All options by their names and what is said of them.
fn options(pages: &Path) -> BTreeMap<(String, String), Option> {
    let mut all: BTreeMap<(String, String), Option> = BTreeMap::new();
    for entry in fs::read_dir(pages).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let command = stem.split('-').nth(1).unwrap_or_default().to_owned();
        let text = fs::read_to_string(&path).unwrap().replace("\\-", "-");
        let lines: Vec<&str> = text.lines().collect();
        for at in (0..lines.len()).filter(|&at| lines[at] == ".TP") {
            let forms = lines[at + 1].split("\\fB").skip(1).filter_map(|part| part.split("\\fR").next());
            let forms: Vec<&str> = forms.filter(|form| form.starts_with('-')).collect();
            let Some(name) = forms.iter().find(|form| form.starts_with("--")).or(forms.first()) else { continue };
            let about = lines.get(at + 2).copied().unwrap_or_default();
            let option = all.entry(((*name).to_owned(), about.to_owned())).or_default();
            option.commands.insert(command.clone());
            option.forms.extend(forms.iter().map(|form| (*form).to_owned()));
        }
    }
    all
}

fn sources(directory: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("cli/options.rs") {
            all.push(fs::read_to_string(path).unwrap());
        }
    }
}

/// Whether a text types an option: in quotes by itself, with its value, or among others.
fn types(text: &str, form: &str) -> bool {
    text.match_indices(form).any(|(at, _)| {
        let begins = text[..at].ends_with(['"', ' ']);
        let next = text[at + form.len()..].chars().next();
        // The value of a short option may stand at once.
        let is_short = !form.starts_with("--");
        begins && !next.is_some_and(|c| c == '-' || (c.is_ascii_alphanumeric() && !is_short))
    })
}

#[test]
fn each_is_used_by_a_test_of_its_command() {
    let place = Place::with(&[]);
    place.run(&["man", "pages"]).expect(0);
    let mut texts = Vec::new();
    sources(Path::new("grammar-tests"), &mut texts);
    let names = |text: &str, command: &str| {
        command.is_empty() || ["\"", " "].iter().any(|end| text.contains(&format!("\"{command}{end}")))
    };
    let all = options(&place.path().join("pages"));
    assert!(all.len() > 100, "{} options", all.len());
    let is_used = |option: &Option| {
        texts.iter().any(|text| {
            option.commands.iter().any(|command| names(text, command))
                && option.forms.iter().any(|form| types(text, form))
        })
    };
    let unused: Vec<String> = all
        .iter()
        .filter(|((name, _), option)| name != "--help" && !is_used(option))
        .map(|((name, about), option)| format!("{name} of {:?}: {about}", option.commands))
        .collect();
    assert!(unused.is_empty(), "no test uses these options:\n{}", unused.join("\n"));
}
