//! Which findings comments reach: each is hidden by the first comment that names its rule and reaches one of its two places.
//!
//! A finding that speaks for others of the same cause and is hidden does not hide those: the first of them that is not hidden
//! speaks for the rest.
//!
//! Deliberately absent: findings of other files than those that the comments of a report stand in.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report};
use crate::diagnostic::suppression::{Comment, Hidden, Reach};
use crate::preprocess::normalized;
use crate::source::{SourceMap, Span};
use std::path::{Path, PathBuf};

/// Hides what comments suppress.
pub fn hide(report: &mut Report) {
    report.files.iter_mut().filter(|file| !file.comments.is_empty()).for_each(of_file);
}

/// A comment that suppresses something, and where it stands.
struct Wish<'a> {
    comment: &'a Comment,
    path: PathBuf,
}

/// A place as comments see it: a file and its lines.
struct Lines {
    path: PathBuf,
    lines: [u32; 2],
}

fn of_file(file: &mut FileReport) {
    let FileReport { path, kernels, diagnostics, comments, sources, .. } = file;
    let wish = |comment| Wish { comment, path: normalized(&sources.file(comment.span.file).path) };
    let wishes: Vec<Wish<'_>> = comments.iter().filter(|it| counts(it)).map(wish).collect();
    for diagnostic in diagnostics.iter_mut().filter(|it| it.hidden.is_none()) {
        let places = [lines(sources, diagnostic.primary.span)];
        diagnostic.hidden = wishes.iter().find(|wish| wish.reaches(diagnostic.rule, &places, None)).map(Wish::hidden);
    }
    for kernel in kernels {
        let home = (normalized(kernel.path.as_ref().unwrap_or(path)), kernel.line);
        regroup(kernel, |finding| {
            let places = [Some(finding.primary), finding.secondary];
            let places: Vec<Lines> = places.into_iter().flatten().map(|it| lines(sources, it.span)).collect();
            let home = Some((home.0.as_path(), home.1));
            wishes.iter().find(|wish| wish.reaches(finding.rule, &places, home)).map(Wish::hidden)
        });
    }
}

/// Whether a comment says enough to suppress anything.
fn counts(comment: &Comment) -> bool {
    comment.slip.is_none() && !comment.reason.is_empty()
}

fn lines(sources: &SourceMap, span: Span) -> Lines {
    let path = normalized(&sources.file(sources.visible(span).file).path);
    Lines { path, lines: [sources.start_position(span).line, sources.end_position(span).line] }
}

impl Wish<'_> {
    /// Whether it is about what is said under a rule at these places, or of a kernel that is named at this one.
    fn reaches(&self, rule: RuleId, places: &[Lines], kernel: Option<(&Path, u32)>) -> bool {
        let is_named = self.comment.rules.iter().any(|named| named.name == rule.name());
        is_named
            && match self.comment.reach {
                Reach::Line(line) => places
                    .iter()
                    .any(|place| place.path == self.path && place.lines[0] <= line && line <= place.lines[1]),
                Reach::Kernel(line) => kernel.is_some_and(|(path, at)| path == self.path && Some(at) == line),
                Reach::File => {
                    places.iter().any(|place| place.path == self.path)
                        || kernel.is_some_and(|(path, _)| path == self.path)
                }
            }
    }

    fn hidden(&self) -> Hidden {
        Hidden::Comment { span: self.comment.span, reason: self.comment.reason.clone() }
    }
}

/// Hides those findings of a kernel that `wanted` says are to be hidden, each by itself.
pub fn regroup(kernel: &mut KernelReport, mut wanted: impl FnMut(&Finding) -> Option<Hidden>) {
    let mut all = Vec::with_capacity(kernel.findings.len());
    for mut head in std::mem::take(&mut kernel.findings) {
        let fix = head.fix.clone();
        let mut group = std::mem::take(&mut head.related);
        group.insert(0, head);
        for finding in group.iter_mut().filter(|finding| !finding.is_hidden()) {
            finding.telling.hidden = wanted(finding);
        }
        let (hidden, told): (Vec<Finding>, Vec<Finding>) = group.into_iter().partition(Finding::is_hidden);
        for group in [told, hidden] {
            let mut group = group.into_iter();
            let Some(mut head) = group.next() else { continue };
            head.fix.clone_from(&fix);
            head.related = group.collect();
            all.push(head);
        }
    }
    kernel.findings = all;
}
