//! The record of a campaign: a line for each outcome, written as it comes, so that a campaign that was ended goes on
//! where it was.
//!
//! The first line says of which campaign it is; the record of another one is not taken for this one's. A last line that was cut
//! off counts for nothing.

use super::plan::Plan;
use super::subject::Subject;
use crate::mutation::{Campaign, Mutant, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What makes two campaigns the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    schema: String,
    version: String,
    /// Of the units' texts, and of how mutants are tried.
    fingerprint: u64,
}

/// One outcome.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    id: usize,
    status: Status,
    reason: Option<String>,
}

/// The outcomes so far.
#[derive(Debug)]
pub struct Record {
    known: BTreeMap<usize, (Status, Option<String>)>,
    file: Mutex<File>,
}

fn head(subject: Subject<'_>, plan: &Plan) -> Head {
    // The same in every process of this version.
    let mut hasher = DefaultHasher::new();
    for file in subject.mutated_files() {
        file.unit.text.hash(&mut hasher);
    }
    plan.arguments.hash(&mut hasher);
    plan.repetitions.hash(&mut hasher);
    plan.timeout_multiplier.to_bits().hash(&mut hasher);
    plan.proves.hash(&mut hasher);
    Head {
        schema: crate::mutation::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint: hasher.finish(),
    }
}

impl Record {
    /// Opens the record at that path, and begins it anew if it is of another campaign.
    pub fn resume(path: &Path, subject: Subject<'_>, plan: &Plan) -> io::Result<Record> {
        let head = head(subject, plan);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let is_same =
            lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok()).is_some_and(|it| it == head);
        let kept: Vec<Line> = match is_same {
            true => lines.filter_map(|line| serde_json::from_str(line).ok()).collect(),
            false => Vec::new(),
        };
        // Written anew, so that a line that was cut off is gone, and put in place in one step.
        let beside = path.with_extension("new");
        let mut text = serde_json::to_string(&head)? + "\n";
        for line in &kept {
            text += &(serde_json::to_string(line)? + "\n");
        }
        std::fs::write(&beside, text)?;
        std::fs::rename(&beside, path)?;
        let file = Mutex::new(OpenOptions::new().append(true).open(path)?);
        let known = kept.into_iter().map(|line| (line.id, (line.status, line.reason))).collect();
        Ok(Record { known, file })
    }

    /// What was known of a mutant when the record was opened.
    pub fn outcome_of(&self, mutant: &Mutant) -> Option<(Status, Option<String>)> {
        self.known.get(&mutant.id).cloned()
    }

    /// How many outcomes there were.
    pub fn known_outcomes(&self) -> usize {
        self.known.len()
    }

    /// Adds an outcome.
    pub fn note_outcome(&self, mutant: &Mutant) -> io::Result<()> {
        let line = Line { id: mutant.id, status: mutant.status, reason: mutant.reason.clone() };
        let text = serde_json::to_string(&line)? + "\n";
        match self.file.lock() {
            Ok(mut file) => file.write_all(text.as_bytes()),
            Err(_) => Ok(()),
        }
    }
}

/// What is alike in a mutant of two versions of a program: everything but where it stands.
fn key(mutant: &Mutant) -> (&str, &str, &str, &str, &str) {
    (&mutant.file, &mutant.function, mutant.operator.name(), &mutant.original, &mutant.replacement)
}

/// The outcomes of an earlier campaign, perhaps of another version of the program.
#[derive(Debug)]
pub struct Earlier(Campaign);

impl Earlier {
    /// Reads what a campaign left at that path.
    pub fn read(path: &Path) -> io::Result<Earlier> {
        Ok(Earlier(serde_json::from_str(&std::fs::read_to_string(path)?)?))
    }

    /// Whether all of the mutants that are like that one were detected.
    pub fn detected(&self, mutant: &Mutant) -> bool {
        let mut alike = self.0.mutants.iter().filter(|other| key(other) == key(mutant)).peekable();
        alike.peek().is_some() && alike.all(|other| other.status.is_detected())
    }
}

/// Where the record of a campaign is, in its directory.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("progress.jsonl")
}
