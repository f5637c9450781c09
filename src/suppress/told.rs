//! What is wrong with comments that suppress findings, and which of them suppress nothing.
//!
//! A comment stands in one file and is met in every unit that includes it: it is told once, with the report of its own file
//! where there is one, and suppresses something if it does so in any unit.
//!
//! Guarantees: that a comment suppresses nothing is said only if the text around it was read, all kernels of all units that
//! have it are decided, and its rule was looked for ([`Judged`]). Deliberately absent: what comments reach.

use crate::diagnostic::report::{Divergence, FileReport, Fix, FixEdit, Parse, Race, Report};
use crate::diagnostic::suppression::{Comment, Hidden, Named, Slip};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::normalized;
use crate::source::Span;
use crate::source::discover::is_header;
use crate::source::spelling::nearest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Which findings the run was able to make.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The rules of which every finding was made that there is; none where kernels, files or launches were left out.
    pub rules: BTreeSet<RuleId>,
    /// Files of the run that are not in the report: what is wrong with their comments is told with them.
    pub elsewhere: BTreeSet<PathBuf>,
}

/// Where a comment stands: its file, and its first byte there.
type Home = (PathBuf, u32);

/// A comment of the run.
struct Met {
    /// The report that it is told with, and its number there.
    at: [usize; 2],
    /// Whether that is the report of its own file.
    is_own: bool,
    /// The rules that it suppresses findings of.
    used: BTreeSet<RuleId>,
    is_read: bool,
    is_decided: bool,
    has_kernels: bool,
}

/// Adds to the reports what is to be said of comments.
pub fn tell(report: &mut Report, judged: &Judged) {
    let met = met(report);
    for (home, met) in met {
        let [at, number] = met.at;
        if !met.is_own && judged.elsewhere.contains(&home.0) {
            continue;
        }
        let file = &report.files[at];
        let comment = &file.comments[number];
        let mut told = slips(comment);
        if told.is_empty() {
            told.extend(unused(comment, &met, &home, judged, file));
        }
        report.files[at].diagnostics.extend(told);
    }
}

/// All comments, in the order of their places.
fn met(report: &Report) -> BTreeMap<Home, Met> {
    let mut met: BTreeMap<Home, Met> = BTreeMap::new();
    for (at, file) in report.files.iter().enumerate() {
        let is_decided = file.parse == Parse::Ok
            && file.kernels.iter().all(|it| it.race != Race::Unknown && it.divergence != Divergence::Unknown);
        for (number, comment) in file.comments.iter().enumerate() {
            let home = home(file, comment.span);
            let is_own = home.0 == normalized(&file.path);
            let new = || Met {
                at: [at, number],
                is_own,
                used: BTreeSet::new(),
                is_read: false,
                is_decided: true,
                has_kernels: false,
            };
            let known = met.entry(home).or_insert_with(new);
            if is_own {
                (known.at, known.is_own) = ([at, number], true);
            }
            known.is_read |= comment.is_read;
            known.is_decided &= is_decided;
            known.has_kernels |= !file.kernels.is_empty();
        }
        for (rule, hidden) in file.hidden() {
            let Hidden::Comment { span, .. } = hidden else { continue };
            if let Some(known) = met.get_mut(&home(file, *span)) {
                known.used.insert(rule);
            }
        }
    }
    met
}

fn home(file: &FileReport, span: Span) -> Home {
    (normalized(&file.sources.file(span.file).path), span.start)
}

/// What is wrong with what a comment says.
fn slips(comment: &Comment) -> Vec<Diagnostic> {
    let form = match &comment.slip {
        Some(Slip::Word(typed, meant)) => {
            Some(format!("`{typed}` is none of ignore, ignore-kernel and ignore-file (did you mean `{meant}`?)"))
        }
        Some(Slip::NoRules) => Some("this comment names no rule, and suppresses nothing".to_owned()),
        Some(Slip::Open) => Some("the bracket of this comment is not closed, and it suppresses nothing".to_owned()),
        None if comment.reason.is_empty() => Some("this comment gives no reason, and suppresses nothing".to_owned()),
        None => None,
    };
    let advice = "write `raceproof: ignore[rule] reason`; `raceproof explain` lists the rules";
    let mut told: Vec<Diagnostic> =
        form.map(|message| diagnostic(RuleId::InvalidSuppression, comment.span, message, advice)).into_iter().collect();
    for Named { name, span } in comment.rules.iter().filter(|named| RuleId::from_name(&named.name).is_none()) {
        let meant = nearest(name, RuleId::ALL.iter().map(|rule| rule.name()));
        let hint = meant.as_ref().map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default();
        let message = format!("no rule is named `{name}`{hint}");
        let advice = "`raceproof explain` lists the rules";
        told.push(Diagnostic {
            fix: meant.map(|meant| Fix {
                message: format!("write `{meant}`"),
                edits: vec![FixEdit { span: *span, text: meant }],
            }),
            ..diagnostic(RuleId::InvalidSuppression, *span, message, advice)
        });
    }
    told
}

/// What a comment names and does not suppress, if that is known.
fn unused(comment: &Comment, met: &Met, (path, _): &Home, judged: &Judged, file: &FileReport) -> Option<Diagnostic> {
    let rules = &judged.rules;
    if !met.is_read || !met.is_decided || (!met.has_kernels && is_header(path)) {
        return None;
    }
    let is_idle = |named: &&Named| {
        RuleId::from_name(&named.name).is_some_and(|rule| rules.contains(&rule) && !met.used.contains(&rule))
    };
    let (idle, kept): (Vec<&Named>, Vec<&Named>) = comment.rules.iter().partition(|named| is_idle(named));
    let names: Vec<String> = idle.iter().map(|named| format!("`{}`", named.name)).collect();
    let (first, last) = (comment.rules.first()?, comment.rules.last()?);
    let line = file.sources.start_position(comment.span).line;
    let (message, fix) = match (idle.is_empty(), kept.is_empty()) {
        (true, _) => return None,
        (false, true) => (
            "this comment suppresses nothing".to_owned(),
            Fix {
                message: format!("remove the comment in line {line}"),
                edits: vec![FixEdit { span: comment.removal, text: String::new() }],
            },
        ),
        (false, false) => (
            format!("this comment suppresses nothing of {}", names.join(", ")),
            Fix {
                message: format!("remove {} from the comment in line {line}", names.join(", ")),
                edits: vec![FixEdit {
                    span: Span { end: last.span.end, ..first.span },
                    text: kept.iter().map(|named| named.name.as_str()).collect::<Vec<_>>().join(", "),
                }],
            },
        ),
    };
    let advice = "remove it (`--fix` does), so that it hides nothing that comes later";
    Some(Diagnostic { fix: Some(fix), ..diagnostic(RuleId::UnusedSuppression, comment.span, message, advice) })
}

fn diagnostic(rule: RuleId, span: Span, message: String, advice: &str) -> Diagnostic {
    Diagnostic {
        rule,
        severity: Severity::Warning,
        message,
        primary: Label { span, text: String::new() },
        secondary: Vec::new(),
        notes: vec![advice.to_owned()],
        fix: None,
        hidden: None,
    }
}
