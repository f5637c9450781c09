//! Which findings of a run state the same, in however many kernels they are found.
//!
//! A [`Statement`] is what a finding has to say for itself: where it stands, and the keys that it shares with others of the
//! same. It needs no source text, so that the statements of several processes can be compared ([`merge`](super::merge)).
//!
//! Guarantees: the answer depends on the statements alone, not on the order in which they are handed over; a proved finding
//! never refers to a possible one. Deliberately absent: which keys a finding has (`driver/repeats.rs`).

use super::report::Instance;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of a file, of a kernel in it, and of a finding of that.
pub type Number = [usize; 3];

/// Where something stands, alike in every file that includes it: path, line, column.
pub type At = (String, u32, u32);

/// Whose statement it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Owner {
    /// Of all instances of a kernel: its path, line and name.
    Kernel(String, u32, String),
    /// Of a header.
    Header,
}

/// Findings of two kinds are never one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Two accesses conflict.
    Race,
    /// Threads part ways before a barrier.
    Divergence,
    /// What the source claims does not hold.
    Claim,
}

/// Findings with one key are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Whose it is.
    pub owner: Owner,
    /// What it says.
    pub kind: Kind,
    /// Of which places, in their order.
    pub places: [At; 2],
}

/// What a finding states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Which finding it is.
    pub number: Number,
    /// Whether it is possible only.
    pub is_possible: bool,
    /// The file of its kernel.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The name of its kernel, with template arguments.
    pub kernel: String,
    /// The line of its kernel.
    pub line: u32,
    /// The keys of what it states itself.
    pub own: Vec<Key>,
    /// The keys of those that it speaks for.
    pub related: Vec<Key>,
}

/// Which findings are told with which.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Findings that are told with another kernel, and that kernel.
    pub told: BTreeMap<Number, Instance>,
    /// Findings that others are told with, and the kernels of those.
    pub also: BTreeMap<Number, Vec<Instance>>,
}

impl Statement {
    fn instance(&self) -> Instance {
        Instance { path: self.path.clone(), kernel: self.kernel.clone(), line: self.line }
    }
}

/// Reports name files as text, whatever bytes a name has.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Finds what is stated twice. The first statement counts, where proved ones come before possible ones.
pub fn repeats(mut statements: Vec<Statement>) -> Repeats {
    statements.sort_by_key(|statement| (statement.is_possible, statement.number));
    let mut first: FxHashMap<&Key, &Statement> = FxHashMap::default();
    let mut repeats = Repeats::default();
    for statement in &statements {
        match statement.own.iter().find_map(|key| first.get(key)) {
            Some(told) => {
                repeats.told.insert(statement.number, told.instance());
                let (also, here) = (repeats.also.entry(told.number).or_default(), statement.instance());
                if !also.contains(&here) {
                    also.push(here);
                }
            }
            None => statement.own.iter().chain(&statement.related).for_each(|key| {
                first.entry(key).or_insert(statement);
            }),
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(line: u32) -> Key {
        let at = ("h.cuh".to_owned(), line, 1);
        Key { owner: Owner::Header, kind: Kind::Race, places: [at.clone(), at] }
    }

    fn statement(file: usize, is_possible: bool, own: u32, related: &[u32]) -> Statement {
        let related = related.iter().map(|&line| key(line)).collect();
        let path = format!("{file}.cu").into();
        Statement {
            number: [file, 0, 0],
            is_possible,
            path,
            kernel: "k".to_owned(),
            line: 1,
            own: vec![key(own)],
            related,
        }
    }

    #[test]
    fn the_first_tells_it_and_names_the_others_in_their_order() {
        let repeats =
            repeats(vec![statement(2, false, 1, &[]), statement(0, false, 1, &[]), statement(1, false, 1, &[])]);
        assert_eq!(repeats.told.keys().map(|number| number[0]).collect::<Vec<_>>(), [1, 2]);
        let also = &repeats.also[&[0, 0, 0]];
        assert_eq!(also.iter().map(|it| it.path.to_str().unwrap()).collect::<Vec<_>>(), ["1.cu", "2.cu"]);
    }

    #[test]
    fn a_proved_one_is_never_told_with_a_possible_one() {
        let repeats = repeats(vec![statement(0, true, 1, &[]), statement(1, false, 1, &[])]);
        assert_eq!(repeats.told.keys().collect::<Vec<_>>(), [&[0, 0, 0]]);
    }

    #[test]
    fn what_is_itself_told_elsewhere_speaks_for_nobody() {
        let all = [statement(0, false, 1, &[]), statement(1, false, 1, &[2]), statement(2, false, 2, &[])];
        assert_eq!(repeats(all[1..].to_vec()).told.len(), 1);
        assert!(!repeats(all.to_vec()).told.contains_key(&[2, 0, 0]));
    }
}
