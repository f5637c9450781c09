//! `open-contract`: a kernel that is free of races under a contract, which some launch is not shown to keep, or of which no launch is
//! in sight.
//!
//! Only possible findings: whoever launches it may keep the contract. They are made where settings ask for them alone.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{
    Certainty, Finding, FindingReason, Keeping, KernelReport, Level, Place, PlaceAccess, Telling, leaves_open,
};
use crate::source::Span;

/// Launches that are named.
const NAMED: usize = 4;

/// The finding on a kernel, whose name stands at `span`; nothing if its contract is kept, or it needs none.
pub fn finding(kernel: &KernelReport, span: Span) -> Option<Finding> {
    let contract = kernel.contract.as_ref().filter(|_| leaves_open(kernel))?;
    let conditions: Vec<&str> = match contract.stated {
        Some(_) => contract.conjuncts.iter().map(|conjunct| conjunct.text.as_str()).collect(),
        None => contract.to_keep().map(|conjunct| conjunct.text.as_str()).collect(),
    };
    let open: Vec<Span> =
        contract.launches.iter().filter(|it| it.keeping != Keeping::Kept).map(|launch| launch.span).collect();
    let who = match open.len() {
        0 => "no launch of it was found".to_owned(),
        1 => "a launch is not shown to keep it".to_owned(),
        many => format!("{many} launches are not shown to keep it"),
    };
    let reason = |span: Option<Span>| {
        let kind = if span.is_some() { "not shown to keep it" } else { "nobody was seen to launch it" };
        FindingReason { kind: kind.to_owned(), span }
    };
    let reasons = match open.as_slice() {
        [] => vec![reason(None)],
        launches => launches.iter().take(NAMED).map(|&span| reason(Some(span))).collect(),
    };
    let advice = "look at who launches it: a guard before the launch may state what holds, and so may `raceproof.toml` or the \
                  command line, with the launch (block-dim, grid-dim, params)";
    Some(Finding {
        rule: RuleId::OpenContract,
        certainty: Certainty::Possible,
        level: Level::Grid,
        array: None,
        message: format!(
            "open contract: {} is race-free if {}, and {who}",
            kernel.instance(),
            conditions.join(" and ")
        ),
        primary: Place { span, access: PlaceAccess::Kernel },
        secondary: None,
        reasons,
        witness: None,
        launch: None,
        contents: Vec::new(),
        notes: vec![advice.to_owned()],
        reproduction: None,
        fix: None,
        related: Vec::new(),
        telling: Telling::default(),
    })
}
