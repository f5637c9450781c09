//! The words of reports that are no rules: verdicts, scopes, reasons, levels and the rest of what programs match on and people
//! ask after. Each has a section in `words.md`, which `raceproof explain` prints; `unknown` has a page of its own.
//!
//! Guarantees: all variants of the types that are named here are listed: one that is missing does not compile. A word that
//! several reports use has one section, which says what it is in each.
//!
//! Deliberately absent: the rules and their pages (`check/pages.rs`), the operators of mutation (`mutation/pages.md`).

use crate::amplify::{self, ObstacleKind};
use crate::check::reason_name;
use crate::diagnostic::report::{
    ASSUMING, Certainty, ContractKind, Determinism, Divergence, Front, Keeping, Level, Parse, PlaceAccess, Race,
    ScopeKind,
};
use crate::diagnostic::suppression::HIDDEN_BY;
use crate::diagnostic::{Severity, UNKNOWN};
use crate::mutation::Status;
use crate::protocol::ReasonKind;
use crate::schedule::report::What;
use crate::trace::report as trace;
use std::collections::BTreeSet;

/// The sections of all words.
const PAGES: &str = include_str!("words.md");

/// Sets of launches that have a word; any other is named in a report by what it is.
static SCOPES: [ScopeKind; 4] = [ScopeKind::AllGeometries, ScopeKind::Launch, ScopeKind::Contract, ScopeKind::Given];

/// All variants of a type that has no others, through a function.
macro_rules! each {
    ($type:ty: $($variant:ident),+ => $name:expr) => {{
        // Who adds a variant is led here by the compiler.
        let _ = |one: $type| match one { $(<$type>::$variant => (),)+ };
        [$(<$type>::$variant),+].map($name).to_vec()
    }};
}

/// A word of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(&'static str);

impl Word {
    /// All of them, by name.
    pub fn all() -> Vec<Word> {
        let lists = [of_findings(), of_verdicts(), of_contracts(), of_files(), of_runs(), of_mutants()];
        let names: BTreeSet<&str> = lists.into_iter().flatten().filter(|name| *name != UNKNOWN).collect();
        names.into_iter().map(Word).collect()
    }

    /// The word of a name, in which hyphens and blanks are one.
    pub fn named(name: &str) -> Option<Word> {
        let plain = |name: &str| name.replace(' ', "-");
        Word::all().into_iter().find(|word| plain(word.0) == plain(name))
    }

    /// As reports write it.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// What it means and what can be done about it, in Markdown, below its title.
    pub fn page(self) -> &'static str {
        let head = format!("\n## {}\n", self.0);
        let from = PAGES.find(&head).map_or(PAGES.len(), |at| at + head.len());
        let rest = &PAGES[from..];
        rest[..rest.find("\n## ").unwrap_or(rest.len())].trim()
    }
}

fn of_findings() -> Vec<&'static str> {
    let mut all = each!(Severity: Hint, Note, Warning, Error => Severity::name);
    all.extend(each!(Certainty: Proved, Possible => Certainty::name));
    all.extend(each!(Level: Thread, Warp, Block, Grid => Level::name));
    all.extend(each!(PlaceAccess: Read, Write, Atomic, Barrier, Claim, Launch, Kernel => PlaceAccess::name));
    all.extend(each!(
        ReasonKind: DataDependentIndex, DataDependentGuard, UnknownLoopCount, UnsupportedCall, UnknownPointer,
        UnpromisedOrder, TooComplex => reason_name
    ));
    all.extend(HIDDEN_BY);
    all
}

fn of_verdicts() -> Vec<&'static str> {
    let mut all = each!(Race: RaceFree, Racy, PossiblyRacy, Unknown => Race::name);
    all.extend(each!(Divergence: Uniform, Divergent, PossiblyDivergent, Unknown => Divergence::name));
    all.extend([Determinism::Deterministic, Determinism::NotShown(String::new())].map(|it| it.name()));
    all.extend(SCOPES.iter().map(ScopeKind::name));
    all.push(ASSUMING);
    all
}

fn of_contracts() -> Vec<&'static str> {
    let mut all = each!(Keeping: Kept, Open, Broken => Keeping::name);
    let kinds = [ContractKind::Geometry, ContractKind::Scalar, ContractKind::Data, ContractKind::Unread(2)];
    all.extend(kinds.map(ContractKind::name));
    all
}

fn of_files() -> Vec<&'static str> {
    let mut all = each!(Parse: Ok, Partial, Failed => Parse::name);
    all.extend(each!(Front: TreeSitter, Clang => Front::name));
    all
}

/// Of `trace`, `run`, `amplify` and `schedule`.
fn of_runs() -> Vec<&'static str> {
    let mut all = each!(trace::Verdict: Racy, NoConflict, Partial => trace::Verdict::name);
    all.extend(each!(amplify::Verdict: Amplified, Race, ThisRunOnly, NotShown => amplify::Verdict::name));
    all.extend(each!(
        ObstacleKind: Incomplete, NotLaunched, Event, Data, Schedule, Unknown, Overlap, NoSource => ObstacleKind::name
    ));
    all.extend(each!(What: Difference, Deadlock, Divergence => What::name));
    all
}

fn of_mutants() -> Vec<&'static str> {
    each!(
        Status: Killed, Timeout, Undecided, Survived, NotReached, Unviable, Equivalent, Racy, Suppressed, Pending
            => Status::name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_a_section_and_each_section_a_word() {
        let heads: Vec<&str> = PAGES.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let words: Vec<&str> = Word::all().into_iter().map(Word::name).collect();
        let missing: Vec<_> = words.iter().filter(|word| !heads.contains(word)).collect();
        let idle: Vec<_> = heads.iter().filter(|head| !words.contains(head)).collect();
        assert!(missing.is_empty() && idle.is_empty(), "without a section: {missing:?}; of no word: {idle:?}");
        assert_eq!(heads.len(), words.len(), "a section is there twice");
        for word in Word::all() {
            assert!(word.page().len() > 40 && word.page().contains('.'), "{}: {}", word.name(), word.page());
            assert_eq!(Word::named(word.name()), Some(word));
        }
        assert_eq!(Word::named("unknown-loop-count").map(Word::name), Some("unknown loop count"));
        assert_eq!(Word::named("no such word"), None);
    }
}
