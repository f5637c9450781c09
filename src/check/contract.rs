//! Contracts in the words of the report.
//!
//! Deliberately absent: how they are found (`judge::contract`), and how they look.

use super::verdict::{Contract, Standing};
use super::{Context, assumption, witness};
use crate::diagnostic::report;

/// The contract of a kernel.
pub(super) fn report(context: &Context<'_>, contract: &Contract) -> report::Contract {
    let conjuncts = contract.conjuncts.iter().map(|conjunct| report::Conjunct {
        text: context.words().in_source(&conjunct.text),
        kind: conjunct.kind,
        necessary: conjunct.necessary.as_ref().map(|race| witness::report(context, race, None)),
    });
    report::Contract {
        conjuncts: conjuncts.collect(),
        is_plausible: contract.standing == Standing::Plausible,
        assumptions: contract.assumptions.iter().map(|each| assumption(context, each)).collect(),
        launches: launches(context, contract),
    }
}

/// What each launch that was found says of it, in the order of their places.
fn launches(context: &Context<'_>, contract: &Contract) -> Vec<report::CheckedLaunch> {
    let mut launches = Vec::new();
    for checked in &contract.launches {
        let text = |&at: &usize| context.words().in_source(&contract.conjuncts[at].text);
        let missing: Vec<String> = checked.missing.iter().map(text).collect();
        for &span in checked.launches.iter().flat_map(|&at| &context.launches[at]) {
            launches.push(report::CheckedLaunch { span, keeping: checked.keeping, missing: missing.clone() });
        }
    }
    launches.sort_by_key(|launch| (launch.span.file.index(), launch.span.start));
    launches
}
