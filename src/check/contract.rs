//! Contracts in the words of the report.
//!
//! Deliberately absent: how they are found (`judge::contract`), and how they look.

use super::causes::Found;
use super::verdict::{Contract, Standing};
use super::{Context, assumption, witness};
use crate::diagnostic::report::{self, BreakingLaunch};
use crate::prove::Witness;

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
        stated: None,
    }
}

/// Names the launches of the program that make findings happen.
pub(super) fn name_launches(context: &Context<'_>, contract: &Contract, found: &mut [Found]) {
    for Found { finding, .. } in found {
        let Some(shown) = &finding.witness else { continue };
        let is_shown = |race: &Witness| {
            let race = witness::report(context, race, None);
            (race.block_dim, race.grid_dim, race.params) == (shown.block_dim, shown.grid_dim, shown.params.clone())
        };
        let launch = contract.launches.iter().find(|launch| launch.races.iter().any(is_shown));
        finding.launch = launch.and_then(|launch| {
            let &at = launch.launches.first()?;
            let breaks = launch.missing.iter().map(|&at| context.words().in_source(&contract.conjuncts[at].text));
            Some(BreakingLaunch { span: *context.launches.get(at)?.first()?, breaks: breaks.collect() })
        });
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
