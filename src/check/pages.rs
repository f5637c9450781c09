//! The page of every rule, and of `unknown`, as `raceproof explain` prints it.
//!
//! A page is Markdown with fixed sections. Its code blocks that are marked `bad` or `ok` are tests: the first
//! must be reported under the rule, the second must not.

use crate::diagnostic::RuleId;

/// The page of what is no finding: why no verdict was reached.
const UNKNOWN: &str = include_str!("pages/unknown.md");

/// The page of what something is reported under: a rule, or `unknown`, which is none.
pub fn page_of(rule: Option<RuleId>) -> &'static str {
    rule.map_or(UNKNOWN, page)
}

/// The page of `rule`.
pub fn page(rule: RuleId) -> &'static str {
    match rule {
        RuleId::DataRace => include_str!("pages/data-race.md"),
        RuleId::WarpSynchronous => include_str!("pages/warp-synchronous.md"),
        RuleId::SameValueWrite => include_str!("pages/same-value-write.md"),
        RuleId::BarrierDivergence => include_str!("pages/barrier-divergence.md"),
        RuleId::DataDependentIndex => include_str!("pages/data-dependent-index.md"),
        RuleId::DataDependentControl => include_str!("pages/data-dependent-control.md"),
        RuleId::RedundantBarrier => include_str!("pages/redundant-barrier.md"),
        RuleId::ArrayBounds => include_str!("pages/array-bounds.md"),
        RuleId::Assertion => include_str!("pages/assertion.md"),
        RuleId::ImpossibleLaunch => include_str!("pages/impossible-launch.md"),
        RuleId::BrokenContract => include_str!("pages/broken-contract.md"),
        RuleId::OpenContract => include_str!("pages/open-contract.md"),
        RuleId::UnusedSuppression => include_str!("pages/unused-suppression.md"),
        RuleId::InvalidSuppression => include_str!("pages/invalid-suppression.md"),
        RuleId::Unsupported => include_str!("pages/unsupported.md"),
        RuleId::Parse => include_str!("pages/parse.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sections that some pages have besides.
    const OWN: &[&str] = &["## Contents that race", "## The last block"];

    #[test]
    fn unknown_has_a_page_without_examples() {
        let page = page_of(None);
        assert!(page.starts_with("# unknown\n\n## What it does\n") && !page.contains("```"));
        assert_eq!(page_of(Some(RuleId::Parse)), super::page(RuleId::Parse));
    }

    #[test]
    fn every_page_is_titled_by_its_rule_and_has_all_sections() {
        for rule in RuleId::ALL {
            // Directives of examples are no headings.
            let is_heading = |line: &str| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
            let is_common = |line: &&str| is_heading(line) && !OWN.contains(line);
            let headings: Vec<&str> = page(rule).lines().filter(is_common).collect();
            let title = format!("# {}", rule.name());
            let expected = [
                title.as_str(),
                "## What it does",
                "## Why is this bad?",
                "## Example",
                "## Use instead",
                "## Limits and soundness",
                "## References",
            ];
            assert_eq!(headings, expected);
        }
    }
}
