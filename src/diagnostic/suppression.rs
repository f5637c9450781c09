//! What users do not want to be told of, and who says so: a comment in the text, a baseline, the settings.
//!
//! A [`Comment`] is as it stands in the text; whether it reaches a finding is decided elsewhere (`suppress`). What is hidden stays
//! in the report with whoever hides it ([`Hidden`]): formats that can keep it do, all count it, and no verdict changes.
//!
//! Deliberately absent: how comments are found and matched, which findings a baseline holds.

use crate::source::Span;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

/// A comment that suppresses findings: `// raceproof: ignore[data-race] the caller pads the row`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// The comment.
    pub span: Span,
    /// What goes with it when it is taken away: the blanks before it, and its line where nothing else stands there.
    pub removal: Span,
    /// What it is about.
    pub reach: Reach,
    /// The rules that it names.
    pub rules: Vec<Named>,
    /// Why it stands there; empty if it does not say.
    pub reason: String,
    /// What is wrong with its form.
    pub slip: Option<Slip>,
    /// Whether the text around it was read, and not left out by `#if`.
    pub is_read: bool,
}

/// A name in a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// As it stands there.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// What a comment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// What stands in this line of its file, from 1.
    Line(u32),
    /// The kernel of its file whose name stands in this line; `None` if it stands at no kernel that was read.
    Kernel(Option<u32>),
    /// Its file.
    File,
}

/// What is wrong with the form of a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slip {
    /// Its first word is none; perhaps the other one is meant.
    Word(String, String),
    /// It names no rule.
    NoRules,
    /// Its bracket is not closed.
    Open,
}

/// Who does not want to be told of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hidden {
    /// Whoever wrote this comment.
    Comment {
        /// The comment.
        span: Span,
        /// Why.
        reason: String,
    },
    /// A baseline has it.
    Baseline {
        /// The file.
        path: PathBuf,
    },
    /// The settings leave it out.
    Settings {
        /// Where they do: `raceproof.toml:3`, `--config`.
        place: String,
    },
}

/// The words that programs see for those who hide something.
pub const HIDDEN_BY: [&str; 3] = ["comment", "baseline", "settings"];

/// How much is hidden, by who hides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenCounts {
    /// By comments.
    pub comments: usize,
    /// By the baseline.
    pub baseline: usize,
    /// By the settings.
    pub settings: usize,
}

impl HiddenCounts {
    /// Counts one more.
    pub fn count(&mut self, hidden: &Hidden) {
        match hidden {
            Hidden::Comment { .. } => self.comments += 1,
            Hidden::Baseline { .. } => self.baseline += 1,
            Hidden::Settings { .. } => self.settings += 1,
        }
    }
}

impl Hidden {
    /// Why: what the comment says, or who else does not want it.
    pub fn reason(&self) -> Cow<'_, str> {
        match self {
            Hidden::Comment { reason, .. } => reason.into(),
            Hidden::Baseline { path } => format!("in the baseline {}", path.display()).into(),
            Hidden::Settings { place } => format!("left out by {place}").into(),
        }
    }

    /// The word that programs see.
    pub fn name(&self) -> &'static str {
        match self {
            Hidden::Comment { .. } => HIDDEN_BY[0],
            Hidden::Baseline { .. } => HIDDEN_BY[1],
            Hidden::Settings { .. } => HIDDEN_BY[2],
        }
    }
}
