//! `impossible-launch`: launches in host code that fail on every device.
//!
//! Only possible findings: nobody asks whether the program gets to the launch.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, FindingReason, Level, Place, PlaceAccess, Telling};
use crate::source::Span;

const ADVICE: &str =
    "launch more blocks of fewer threads; a launch that fails says so only to who asks for the last error";

/// The finding on the launch of `kernel` at `span`; `why` says which of its sizes is too large.
pub fn finding(kernel: &str, span: Span, why: &str) -> Finding {
    Finding {
        rule: RuleId::ImpossibleLaunch,
        certainty: Certainty::Possible,
        // Of all threads of the launch none runs.
        level: Level::Grid,
        array: None,
        message: format!("impossible launch: {kernel} never runs here, {why}"),
        primary: Place { span, access: PlaceAccess::Launch },
        secondary: None,
        reasons: vec![FindingReason {
            kind: "whether the program gets to the launch is not known".to_owned(),
            span: None,
        }],
        witness: None,
        contents: Vec::new(),
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
        notes: vec![ADVICE.to_owned()],
        reproduction: None,
        fix: None,
    }
}
