//! Mutation: programs that differ from the user's in one place, and which of them its tests tell apart from it.
//!
//! After docs/PAPERS.md, "Peng 2019" (CLTestCheck), with operators for the faults that GPU programs have ([`operator`]). This room names
//! what there is to know of a mutant, adds a campaign up, and writes reports: for people ([`text`], [`html`]), as JSON in the form of
//! mutation-testing-report-schema ([`schema`]), and SARIF for what no test tells apart ([`sarif`]).
//!
//! The score is the share of the mutants that tests detect ([`Status::is_detected`]) among those that they could have
//! ([`Status::counts`]): mutants that do not compile, that are proved to be the same program or proved to race, and those that
//! the source takes out, do not count.
//!
//! Guarantees: equal outcomes give equal reports, however often a campaign was interrupted.
//!
//! Deliberately absent: making mutants (`instrument/mutants.rs`), and running anything.

pub mod html;
pub mod operator;
pub mod sarif;
pub mod schema;
pub mod text;

pub use operator::Operator;

use serde::{Deserialize, Serialize};

/// The version of the JSON form.
pub const SCHEMA: &str = "raceproof-mutation/1";

/// Mutants, in the order of their files and places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// [`SCHEMA`].
    pub schema: String,
    /// All of them.
    pub mutants: Vec<Mutant>,
}

/// A program that differs from the user's in one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    /// Its number in the program, from 1.
    pub id: usize,
    /// What was done.
    pub operator: Operator,
    /// In which file.
    pub file: String,
    /// Where what was changed begins.
    pub start: Position,
    /// Where it ends, exclusive.
    pub end: Position,
    /// The kernel or function that holds it.
    pub function: String,
    /// What stood there.
    pub original: String,
    /// What stands there.
    pub replacement: String,
    /// All of the change, as a unified diff.
    pub diff: String,
    /// What became of it.
    pub status: Status,
    /// Why, if there is more to say.
    pub reason: Option<String>,
}

/// A place in a text; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The tests failed with it, each time.
    Killed,
    /// The tests took so much longer with it that they were ended.
    Timeout,
    /// The tests failed with it in some of its repetitions.
    Undecided,
    /// The tests passed.
    Survived,
    /// No test comes to it.
    NotReached,
    /// It means nothing for the types at hand, or does not compile.
    Unviable,
    /// It is proved to do what the program does.
    Equivalent,
    /// It is proved to race, or to be divergent, where the program is not.
    Racy,
    /// The source takes it out.
    Suppressed,
    /// Nothing is known yet.
    Pending,
}

impl Status {
    /// All of them, as reports list them.
    pub const ALL: [Status; 10] = [
        Status::Killed,
        Status::Timeout,
        Status::Undecided,
        Status::Survived,
        Status::NotReached,
        Status::Equivalent,
        Status::Racy,
        Status::Unviable,
        Status::Suppressed,
        Status::Pending,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Killed => "killed",
            Status::Timeout => "timeout",
            Status::Undecided => "undecided",
            Status::Survived => "survived",
            Status::NotReached => "not reached",
            Status::Unviable => "unviable",
            Status::Equivalent => "proved equivalent",
            Status::Racy => "proved racy",
            Status::Suppressed => "suppressed",
            Status::Pending => "pending",
        }
    }

    /// Whether tests tell it apart from the program.
    pub fn is_detected(self) -> bool {
        matches!(self, Status::Killed | Status::Timeout)
    }

    /// Whether tests pass with it though it is another program, as far as anybody knows.
    pub fn is_missed(self) -> bool {
        matches!(self, Status::Survived | Status::NotReached | Status::Undecided)
    }

    /// Whether it counts for the score.
    pub fn counts(self) -> bool {
        self.is_detected() || self.is_missed()
    }
}

impl Mutant {
    /// `file:line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.start.line, self.start.column)
    }

    /// What was changed, in one line.
    pub fn change(&self) -> String {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (original, replacement) = (one_line(&self.original), one_line(&self.replacement));
        match replacement.is_empty() {
            true => format!("`{original}` removed"),
            false => format!("`{original}` → `{replacement}`"),
        }
    }

    /// One line about it.
    pub fn line(&self) -> String {
        let inside = if self.function.is_empty() { String::new() } else { format!(" in {}", self.function) };
        format!("{}: {}: {}{inside}", self.place(), self.operator.name(), self.change())
    }
}

impl Campaign {
    /// A campaign of these.
    pub fn of(mutants: Vec<Mutant>) -> Campaign {
        Campaign { schema: SCHEMA.to_owned(), mutants }
    }

    /// Those of which that became.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Mutant> {
        self.mutants.iter().filter(move |mutant| mutant.status == status)
    }

    /// How many tests tell apart, and of how many.
    pub fn detected(&self) -> (usize, usize) {
        let count = |wanted: fn(Status) -> bool| self.mutants.iter().filter(|mutant| wanted(mutant.status)).count();
        (count(Status::is_detected), count(Status::counts))
    }

    /// The score, in percent; `None` if no mutant counts.
    pub fn score(&self) -> Option<f64> {
        let (detected, all) = self.detected();
        (all > 0).then(|| {
            #[expect(clippy::cast_precision_loss, reason = "a campaign has no 2^52 mutants")]
            let share = detected as f64 / all as f64;
            100.0 * share
        })
    }
}
