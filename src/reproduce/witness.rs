//! From the witness of a race to the launch that shows it.

use super::needs::of_launch;
use super::plan::{Plan, PlanError, Subject, default, plan};
use crate::calculus::eval::{Chosen, Contents, Program};
use crate::calculus::{Geometry, Param, is_implicit, is_offset};
use crate::diagnostic::report::{Certainty, Finding, WitnessReport};

/// Instructions of the run that finds what a launch needs.
const BUDGET: u64 = 10_000_000;

/// The witness of a race that is proved; nothing for other findings.
pub fn proved_race(finding: &Finding) -> Option<&WitnessReport> {
    let is_race = finding.array.is_some() && finding.secondary.is_some();
    finding.witness.as_ref().filter(|_| finding.certainty == Certainty::Proved && is_race)
}

/// The witness of a race that is proved, or that happens with contents of memory that were found.
pub fn shown_race(finding: &Finding) -> Option<&WitnessReport> {
    let with_contents = || finding.witness.as_ref().filter(|_| !finding.contents.is_empty());
    proved_race(finding).or_else(with_contents)
}

/// The launch of a witness, where memory holds `contents`.
pub fn launch_of(subject: &Subject<'_>, witness: &WitnessReport, contents: &Chosen) -> Result<Plan, PlanError> {
    let kernel = subject.kernel;
    let geometry = Geometry { block: witness.block_dim, grid: witness.grid_dim };
    let value = |name: &str| witness.params.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    if let Some((name, _)) = witness.params.iter().find(|(name, _)| is_implicit(name)) {
        // A launch description has no place for it.
        let what = if is_offset(name) { "where the ids of a launch start" } else { "which lane has which element" };
        return Err(PlanError::Ungivable { name: name.clone(), what: what.to_owned() });
    }
    let usual = |param: &Param| if is_implicit(&param.name) { Some(0) } else { default(param.ty) };
    let params: Vec<Option<i128>> =
        kernel.params.iter().map(|(_, param)| value(&param.name).or_else(|| usual(param))).collect();
    // What the race itself breaks does not count here; it was replayed.
    let needs = of_launch(kernel, &Program::new(kernel), geometry, &params, Contents::Chosen(contents), BUDGET);
    let far = witness.byte_offset.unwrap_or(0);
    plan(subject, (geometry, &params), contents, &needs, (far, 0))
}
