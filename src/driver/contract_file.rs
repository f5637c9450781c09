//! Files of contracts: what `raceproof contracts` writes and `check --contracts` reads.
//!
//! ```text
//! # A comment, at the start of a line or behind a blank.
//! src/rows.cu: rows<float>
//!     pitch >= width
//!     gridDim.y == 1
//!
//! src/half.cu: half: blockDim.x <= 256, blockDim.x is a power of two
//! */cub/agent.cuh: cub::reduce
//!     blockDim.x is a power of two
//! src/saxpy.cu: saxpy
//!     any launch
//! ```
//!
//! A line that is not indented begins a contract: a path, the kernel, and perhaps conditions. Indented lines add conditions;
//! they stand one on a line or between commas. A path is relative to the directory of the file or to the one that raceproof
//! runs in; one that begins with `*/` is of every file that ends like it; one with a `: ` in it stands in quotes, as in JSON.
//! A kernel without template arguments means all its instances, and may lack its namespaces; `k@2` is the second overload of
//! that name in its file. `any launch` says that nothing is asked of launches.
//!
//! Guarantees: everything that cannot be read is named with its line. Deliberately absent: what conditions mean
//! ([`Phrase`]), and which kernels there are.

use crate::judge::contract::{Misread, Phrase};
use crate::preprocess::normalized;
use std::path::{Path, PathBuf};

/// The words that say that nothing is asked of launches.
pub const ANY_LAUNCH: &str = "any launch";

/// What a contract is stated for, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The line that begins it.
    pub line: u32,
    /// The path and the kernel, as they were written.
    pub text: String,
    pub(super) place: Place,
    pub(super) kernel: String,
    /// Which overload, from 1; `None` means all.
    pub(super) overload: Option<usize>,
    /// The conditions; none if any launch will do.
    pub(super) phrases: Vec<Phrase>,
}

/// Which files are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One of these, which are absolute.
    At(Vec<PathBuf>),
    /// All whose paths end so.
    EndsIn(PathBuf),
    /// All.
    Everywhere,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line.
    pub line: u32,
    /// What is wrong with it.
    pub cause: Wrong,
}

/// What is wrong with a line of a file of contracts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// No path and kernel stand where a contract begins.
    #[error("expected `path: kernel`{0}")]
    NoHead(String),
    /// What stands where a kernel is named is no name.
    #[error("`{0}` is no name of a kernel: expected `path: kernel: conditions`")]
    NoKernel(String),
    /// What stands behind `@` is no positive number.
    #[error("`@{0}` is no number of an overload; the first is `@1`")]
    NoOverload(String),
    /// A condition stands before all contracts.
    #[error("a condition without a kernel: `path: kernel` comes before it, at the start of a line")]
    NoContract,
    /// A condition that is not understood.
    #[error("`{text}`: {cause}")]
    Condition {
        /// The condition.
        text: String,
        /// Why.
        cause: Misread,
    },
    /// A contract that asks for nothing and does not say so.
    #[error("{0}: no conditions follow; write `{ANY_LAUNCH}` if it needs none")]
    Empty(String),
    /// A contract that asks for nothing and for something.
    #[error("{0}: `{ANY_LAUNCH}` beside conditions")]
    NothingAndSomething(String),
    /// A kernel with two contracts.
    #[error("{contract}: line {line} states a contract of it, too")]
    Twice {
        /// The second one.
        contract: String,
        /// Where the first one stands.
        line: u32,
    },
}

/// A contract that is being read.
struct Open {
    entry: Entry,
    is_any: bool,
}

/// Reads a file of contracts that stands in `directory`.
pub(super) fn read(text: &str, directory: &Path) -> Result<Vec<Entry>, Vec<Unreadable>> {
    let mut reading = Reading { directory, entries: Vec::new(), open: None, unreadable: Vec::new() };
    for (line, written) in (1..).zip(text.lines()) {
        if let Err(cause) = reading.line(line, without_comment(written)) {
            reading.unreadable.push(Unreadable { line, cause });
        }
    }
    reading.close();
    reading.unreadable.sort_by_key(|it| it.line);
    if reading.unreadable.is_empty() { Ok(reading.entries) } else { Err(reading.unreadable) }
}

/// The conditions of a contract that stand in one text, between commas; none if any launch will do.
pub fn conditions(text: &str) -> Result<Vec<Phrase>, Wrong> {
    let (mut phrases, mut is_any) = (Vec::new(), false);
    for condition in text.split(',').map(str::trim).filter(|condition| !condition.is_empty()) {
        if condition == ANY_LAUNCH {
            is_any = true;
        } else {
            phrases.push(phrase(condition)?);
        }
    }
    match (phrases.is_empty(), is_any) {
        (true, false) => Err(Wrong::Empty("the contract".to_owned())),
        (false, true) => Err(Wrong::NothingAndSomething("the contract".to_owned())),
        _ => Ok(phrases),
    }
}

fn phrase(condition: &str) -> Result<Phrase, Wrong> {
    let misread = |cause| Wrong::Condition { text: condition.to_owned(), cause };
    condition.parse().map_err(misread)
}

/// A line without what stands behind ` #`.
fn without_comment(line: &str) -> &str {
    let is_start = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let end = line.match_indices('#').find(is_start).map_or(line.len(), |(at, _)| at);
    line[..end].trim_end()
}

struct Reading<'r> {
    directory: &'r Path,
    entries: Vec<Entry>,
    open: Option<Open>,
    unreadable: Vec<Unreadable>,
}

impl Reading<'_> {
    fn line(&mut self, line: u32, text: &str) -> Result<(), Wrong> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if text.starts_with(char::is_whitespace) {
            return self.conditions(text);
        }
        self.close();
        let (path, rest) = path_and_rest(text)?;
        let (kernel, conditions) = match rest.split_once(": ") {
            Some((kernel, conditions)) => (kernel.trim(), Some(conditions)),
            None => (rest.trim().trim_end_matches(':'), None),
        };
        let (name, overload) = overload(kernel)?;
        if !may_name_a_kernel(name) {
            return Err(Wrong::NoKernel(kernel.to_owned()));
        }
        let entry = Entry {
            line,
            text: format!("{path}: {kernel}"),
            place: self.place(&path),
            kernel: name.to_owned(),
            overload,
            phrases: Vec::new(),
        };
        self.open = Some(Open { entry, is_any: false });
        conditions.map_or(Ok(()), |conditions| self.conditions(conditions))
    }

    fn place(&self, path: &str) -> Place {
        if let Some(end) = path.strip_prefix("*/") {
            return Place::EndsIn(normalized(Path::new(end)));
        }
        let here = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let there = std::path::absolute(self.directory.join(path)).unwrap_or_else(|_| self.directory.join(path));
        let mut paths = vec![normalized(&here), normalized(&there)];
        paths.dedup();
        Place::At(paths)
    }

    fn conditions(&mut self, text: &str) -> Result<(), Wrong> {
        let open = self.open.as_mut().ok_or(Wrong::NoContract)?;
        for condition in text.split(',').map(str::trim).filter(|condition| !condition.is_empty()) {
            if condition == ANY_LAUNCH {
                open.is_any = true;
            } else {
                open.entry.phrases.push(phrase(condition)?);
            }
        }
        Ok(())
    }

    /// Ends the contract that was read last.
    fn close(&mut self) {
        let Some(Open { entry, is_any }) = self.open.take() else { return };
        let is_it = |other: &&Entry| {
            (&other.place, &other.kernel, other.overload) == (&entry.place, &entry.kernel, entry.overload)
        };
        let line = entry.line;
        let cause = if entry.phrases.is_empty() && !is_any {
            Some(Wrong::Empty(entry.text.clone()))
        } else if is_any && !entry.phrases.is_empty() {
            Some(Wrong::NothingAndSomething(entry.text.clone()))
        } else {
            let other = self.entries.iter().find(is_it);
            other.map(|other| Wrong::Twice { contract: entry.text.clone(), line: other.line })
        };
        match cause {
            // What is wrong inside of it was told.
            Some(cause) if self.unreadable.iter().all(|it| it.line < line) => {
                self.unreadable.push(Unreadable { line, cause });
            }
            Some(_) => {}
            None => self.entries.push(entry),
        }
    }
}

/// The path that a line begins with, and what stands behind its colon.
fn path_and_rest(text: &str) -> Result<(String, &str), Wrong> {
    if text.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let path = stream
            .next()
            .and_then(Result::ok)
            .ok_or_else(|| Wrong::NoHead(", and the path in quotes as in JSON".into()))?;
        let rest = text[stream.byte_offset()..].strip_prefix(':').ok_or_else(|| Wrong::NoHead(String::new()))?;
        return Ok((path, rest.trim_start()));
    }
    let (path, rest) = text.split_once(": ").ok_or_else(|| Wrong::NoHead(format!(", found `{text}`")))?;
    Ok((path.trim().to_owned(), rest.trim_start()))
}

/// `k@2` is the second overload of `k`.
fn overload(kernel: &str) -> Result<(&str, Option<usize>), Wrong> {
    match kernel.rsplit_once('@') {
        None => Ok((kernel, None)),
        Some((name, number)) => match number.parse() {
            Ok(number) if number > 0 => Ok((name, Some(number))),
            _ => Err(Wrong::NoOverload(number.to_owned())),
        },
    }
}

/// Whether a text is made of names, perhaps with template arguments behind them.
fn may_name_a_kernel(text: &str) -> bool {
    let mut depth = 0_i32;
    for it in text.chars() {
        match it {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth <= 0 && !it.is_alphanumeric() && !"_:".contains(it) => return false,
            _ => {}
        }
    }
    !text.is_empty() && !text.starts_with('<') && depth <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(u32, String, Vec<String>)> {
        let entries = read(text, Path::new("/repo/ci")).expect("it can be read");
        let words = |entry: Entry| (entry.line, entry.text, entry.phrases.iter().map(ToString::to_string).collect());
        entries.into_iter().map(words).collect()
    }

    fn wrong(text: &str) -> Vec<(u32, String)> {
        let unreadable = read(text, Path::new("/repo/ci")).expect_err("it cannot be read");
        unreadable.into_iter().map(|it| (it.line, it.cause.to_string())).collect()
    }

    #[test]
    fn conditions_stand_below_a_kernel_or_beside_it() {
        let text = "# all\na/b.cu: ns::k<float, 4>  # mine\n    p >= q  # scalar\n\n    gridDim.y == 1,\n\
                    c.cu: k: p >= 1, q >= 2\n*/lib/d.cuh: any_k: any launch\n\"e: f#.cu\": k@2\n\tp < 3\n";
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>();
        assert_eq!(
            said(text),
            [
                (2, "a/b.cu: ns::k<float, 4>".to_owned(), words(&["p >= q", "gridDim.y == 1"])),
                (6, "c.cu: k".to_owned(), words(&["p >= 1", "q >= 2"])),
                (7, "*/lib/d.cuh: any_k".to_owned(), words(&[])),
                (8, "e: f#.cu: k@2".to_owned(), words(&["p < 3"])),
            ]
        );
    }

    #[test]
    fn paths_are_of_the_directory_of_the_file_or_of_the_working_directory() {
        let entries = read("../a.cu: k: n >= 1\n", Path::new("/repo/ci")).unwrap();
        let Place::At(paths) = &entries[0].place else { panic!("{entries:?}") };
        assert!(paths.contains(&PathBuf::from("/repo/a.cu")), "{paths:?}");
        assert!(paths.contains(&normalized(&std::path::absolute("../a.cu").unwrap())), "{paths:?}");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (text, line, part) in [
            ("a.cu\n", 1, "expected `path: kernel`"),
            ("a.cu: \n", 1, "expected `path: kernel`"),
            ("\n  n >= 1\n", 2, "without a kernel"),
            ("a.cu: k\n\nb.cu: k: n >= 1\n", 1, "no conditions follow"),
            ("a.cu: k: n >= 1, n ! 3\n", 1, "found `!`"),
            ("a.cu: k\n  n >= 1\n  any launch\n", 1, "beside conditions"),
            ("a.cu: k: n >= 1\n./a.cu: k: n >= 2\n", 2, "line 1 states a contract of it, too"),
            ("k: n >= 1\n", 1, "`n >= 1` is no name of a kernel"),
            ("a.cu: n < 1\n", 1, "is no name of a kernel"),
            ("a.cu: k@0: n >= 1\n", 1, "no number of an overload"),
            ("\"a.cu: k: n >= 1\n", 1, "in quotes"),
        ] {
            let found = wrong(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].0, line, "{text}: {found:?}");
            assert!(found[0].1.contains(part), "{text}: {found:?}");
        }
        assert_eq!(wrong("a.cu: k: n >=\nb.cu: k: m >=\n").len(), 2);
    }
}
