//! `broken-contract`: what is stated of the launches of a kernel, and is no longer enough, or not kept by a launch.
//!
//! At a kernel it is proved if a race was run for a launch that keeps what is stated. At a launch it is only possible: its
//! constants break what is stated, and no race is shown.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, FindingReason, Level, Place, PlaceAccess, StatedAt, Telling};
use crate::source::Span;

/// What is stated of a kernel, and where.
#[derive(Clone, Copy, Debug)]
pub struct StatedOf<'a> {
    /// The kernel, with template arguments.
    pub kernel: &'a str,
    /// Where its name stands.
    pub span: Span,
    /// The conditions; empty if any launch is said to do.
    pub conditions: &'a [String],
    /// Where they are stated.
    pub at: &'a StatedAt,
}

impl StatedOf<'_> {
    fn words(&self) -> String {
        let StatedOf { conditions, at, .. } = self;
        match conditions {
            [] => format!("for any launch, as {at} states"),
            conditions => format!("under its stated contract `{}` ({at})", conditions.join(", ")),
        }
    }
}

/// The finding that a kernel races under what is stated of it; `besides` are conditions that it would need, too.
pub fn at_kernel(stated: StatedOf<'_>, certainty: Certainty, besides: &[String]) -> Finding {
    let races = if certainty == Certainty::Proved { "races" } else { "may race" };
    let needed = match besides {
        [] => "no conditions on launches are known under which it does not".to_owned(),
        besides => {
            format!("it would take `{}`{}", besides.join(", "), if stated.conditions.is_empty() { "" } else { ", too" })
        }
    };
    let reasons = match certainty {
        Certainty::Proved => Vec::new(),
        Certainty::Possible => vec![reason("whether threads race depends on what memory holds", None)],
    };
    let notes = vec![needed, "mend the kernel, or state what it needs now and look at who launches it".to_owned()];
    let message = format!("broken contract: {} {races} {}", stated.kernel, stated.words());
    let primary = Place { span: stated.span, access: PlaceAccess::Kernel };
    Finding { reasons, notes, ..finding(message, certainty, primary) }
}

/// The finding that the constants of a launch break what is stated, where no race is shown.
pub fn at_launch(stated: StatedOf<'_>, span: Span, broken: &[String]) -> Finding {
    let StatedOf { kernel, at, .. } = stated;
    let message = format!("broken contract: this launch of {kernel} does not keep `{}` ({at})", broken.join(", "));
    let reasons = vec![reason("no race of this launch is shown", Some(stated.span))];
    let notes = vec!["launch it as its contract says, or state a weaker contract if the kernel has one".to_owned()];
    Finding { reasons, notes, ..finding(message, Certainty::Possible, Place { span, access: PlaceAccess::Launch }) }
}

fn reason(kind: &str, span: Option<Span>) -> FindingReason {
    FindingReason { kind: kind.to_owned(), span }
}

fn finding(message: String, certainty: Certainty, primary: Place) -> Finding {
    Finding {
        rule: RuleId::BrokenContract,
        certainty,
        level: Level::Grid,
        array: None,
        message,
        primary,
        secondary: None,
        reasons: Vec::new(),
        witness: None,
        contents: Vec::new(),
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
        notes: Vec::new(),
        reproduction: None,
        fix: None,
    }
}
