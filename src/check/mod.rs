//! From the verdict on a kernel to what its user is told: findings, unknowns, assumptions.
//!
//! One file for each kind of finding; each user-visible rule has its page under `pages/`. Findings come in a
//! fixed order: proved before possible, then by the place of the first access. Those of one cause are one (`causes.rs`).
//!
//! Guarantees: every proved finding carries a witness; every possible one its reasons; every kernel that is
//! neither proved nor refuted has at least one unknown with a line and a reason.
//!
//! Deliberately absent: how verdicts are reached (`prove`, `driver`), how findings look (`diagnostic::render`).

mod agreement;
mod assertion;
mod barrier_divergence;
pub mod broken_contract;
mod causes;
pub mod contents;
mod contract;
mod data_race;
mod determinism;
mod element;
pub mod impossible_launch;
mod known;
pub mod open_contract;
pub mod pages;
mod places;
mod possible_race;
pub mod redundant_barrier;
mod undecided;
pub mod verdict;
mod witness;

use crate::calculus::{Claimed, Kernel, Reliance, Relied, SiteId, is_offset};
use crate::diagnostic::report::{self, AssumptionKind, Deciding, Front, KernelReport, Place, PlaceAccess};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::memory_model::{AccessKind, Level};
use crate::protocol::{Access, Protocol};
use crate::prove::Assumption;
use crate::source::{Language, SourceMap, Span};
use crate::work::Spent;
use causes::Found;
use std::path::PathBuf;
use verdict::Verdict;

pub use known::Known;
pub use possible_race::reason_name;

/// What findings are made from.
pub struct Context<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its protocol.
    pub protocol: &'a Protocol,
    /// Range of its name.
    pub span: Span,
    /// The files that spans point into.
    pub sources: &'a SourceMap,
    /// The language whose words messages use.
    pub language: Language,
    /// The launches that were found, as the verdict numbers them.
    pub launches: &'a [Vec<Span>],
    /// Places that were looked up.
    pub known: Known,
}

/// Puts a verdict into words.
pub fn report(context: &Context<'_>, verdict: &Verdict) -> KernelReport {
    let mut found: Vec<Found> = Vec::new();
    found.extend(data_race::findings(context, &verdict.conflicts));
    found.extend(barrier_divergence::proved(context, &verdict.divergences));
    found.extend(agreement::failed(context, &verdict.failed_claims));
    found.extend(assertion::failed(context, &verdict.failed_claims));
    found.extend(possible_race::findings(context, &verdict.possible));
    found.extend(barrier_divergence::possible(context, &verdict.possible_divergences));
    found.extend(agreement::possible(context, &verdict.possible_claims));
    found.extend(assertion::possible(context, &verdict.possible_claims));
    if let Some(contract) = &verdict.contract {
        contract::name_launches(context, contract, &mut found);
    }
    let flow = crate::flow::analyze(context.kernel);
    KernelReport {
        front: Front::TreeSitter,
        name: context.kernel.name.clone(),
        line: context.line(Some(context.span)),
        path: header(context),
        template_args: context.kernel.template_args.clone(),
        params: context
            .kernel
            .params
            .iter()
            .map(|(_, param)| param.name.clone())
            .filter(|name| !is_offset(name))
            .collect(),
        race: verdict.race,
        divergence: verdict.divergence,
        scope: verdict.scope.clone().map(|scope| scope_in_source(context, scope)),
        determinism: determinism::judge(context, verdict),
        deciding: Deciding { access_invariant: flow.access_invariant(), inputs: flow.input_names(context.kernel) },
        assumptions: verdict.assumptions.iter().map(|each| assumption(context, each)).collect(),
        spent: Spent::default(),
        contract: verdict.contract.as_ref().map(|contract| contract::report(context, contract)),
        findings: causes::grouped(context, found),
        unknowns: undecided::unknowns(context, verdict),
    }
}

impl Context<'_> {
    /// Words for threads, in the language of the source.
    fn words(&self) -> &'static Vocabulary {
        Vocabulary::of(self.language)
    }

    /// "two threads of one block", "threads of two blocks".
    fn parties(&self, level: Level) -> String {
        self.words().two_threads(report_level(level))
    }

    /// Line of a span in the text that the user sees; the kernel's own line if there is none.
    fn line(&self, span: Option<Span>) -> u32 {
        self.sources.start_position(span.unwrap_or(self.span)).line
    }

    /// The place of an access, sync or loop.
    fn span_of(&self, site: SiteId) -> Span {
        self.kernel.sites[site].span.unwrap_or(self.span)
    }

    /// Who makes the claim with that site.
    fn claimed(&self, site: SiteId) -> Claimed {
        let claim = self.protocol.claims.iter().find(|claim| claim.site == site);
        claim.map_or(Claimed::Asserted, |claim| claim.claimed)
    }

    /// The access of the protocol with that site.
    fn access_at(&self, site: SiteId) -> Option<&Access> {
        self.known.access_at(self.protocol, site).map(|id| &self.protocol.accesses[id])
    }

    /// The place of an access and what it does.
    fn place_of(&self, site: SiteId) -> Place {
        self.known.place_at(site, || match self.access_at(site) {
            Some(access) => self.place_of_access(access),
            None => Place { span: self.span_of(site), access: PlaceAccess::Barrier },
        })
    }

    fn place_of_access(&self, access: &Access) -> Place {
        let does = match access.kind {
            AccessKind::Read => PlaceAccess::Read,
            AccessKind::Write => PlaceAccess::Write,
            AccessKind::Atomic { .. } if self.protocol.is_shared_out(access) => PlaceAccess::Write,
            AccessKind::Atomic { .. } => PlaceAccess::Atomic,
        };
        Place { span: self.span_of(access.site), access: does }
    }
}

/// The file of the kernel, if it is not the one that is checked.
fn header(context: &Context<'_>) -> Option<PathBuf> {
    let own = context.sources.visible(context.span).file;
    let is_main = context.sources.files().next().is_none_or(|(main, _)| main == own);
    (!is_main).then(|| context.sources.file(own).path.clone())
}

/// The verb for what an access does.
fn verb(access: PlaceAccess) -> &'static str {
    match access {
        PlaceAccess::Read => "reads",
        PlaceAccess::Write => "writes",
        PlaceAccess::Atomic => "atomically updates",
        PlaceAccess::Barrier => "waits",
        PlaceAccess::Claim => "claims",
        PlaceAccess::Launch => "launches",
        PlaceAccess::Kernel => "begins",
    }
}

fn report_level(level: Level) -> report::Level {
    match level {
        Level::Warp => report::Level::Warp,
        Level::Block => report::Level::Block,
        Level::Cluster | Level::Grid => report::Level::Grid,
    }
}

fn scope_in_source(context: &Context<'_>, scope: report::Scope) -> report::Scope {
    let fixes = scope.fixes.iter().map(|fix| context.words().in_source(fix)).collect();
    report::Scope { fixes, ..scope }
}

/// One assumption as one line of text, in the language of the source.
fn assumption(context: &Context<'_>, assumption: &Assumption) -> report::Assumption {
    let (kind, text) = match assumption {
        Assumption::NoUnsignedWrap { expression, span } => {
            let at = span.map_or_else(String::new, |span| format!(" (line {})", context.line(Some(span))));
            (AssumptionKind::NoUnsignedWrap, format!("no unsigned wrap in {expression}{at}"))
        }
        Assumption::FitsInto { expression, bits, span } => {
            let at = span.map_or_else(String::new, |span| format!(" (line {})", context.line(Some(span))));
            (AssumptionKind::Other, format!("{expression} fits into {bits} bits{at}"))
        }
        Assumption::InBounds { array } => {
            (AssumptionKind::Other, format!("subscripts of {array} stay within its dimensions"))
        }
        Assumption::DisjointPointers(names) => {
            (AssumptionKind::Other, format!("{} point to disjoint memory", listed(names)))
        }
        Assumption::DimensionIsOne(dimension) => {
            (AssumptionKind::DimensionIsOne, format!("{dimension} = 1 (the kernel never reads it)"))
        }
        Assumption::NoOffset(offset) => (AssumptionKind::Other, format!("{offset} = 0")),
        Assumption::Stated(condition) => (AssumptionKind::Other, format!("{condition} (stated in the source)")),
        Assumption::Needed(condition) => {
            (AssumptionKind::Other, format!("{condition} (a barrier or a copy counts on it)"))
        }
        Assumption::StartsAtZero(counter) => (AssumptionKind::Other, format!("{counter} is 0 when the kernel starts")),
        Assumption::DrawsFromZero(counter) => {
            (AssumptionKind::Other, format!("no number that is drawn from {counter} is negative"))
        }
        Assumption::LastSees(counter) => (
            AssumptionKind::Other,
            format!(
                "the last {} to draw from {counter} sees what the others wrote, without a fence after the draw",
                context.words().block
            ),
        ),
        Assumption::HasValue(name) => (AssumptionKind::Other, format!("{name} has a value where it is read")),
        Assumption::Aligned(array) => (
            AssumptionKind::Other,
            format!("no access to {array} lies at an address that its type does not admit, which is undefined"),
        ),
        Assumption::BlockLimit(most) => {
            (AssumptionKind::Other, format!("blocks have at most {most} threads, which no device exceeds"))
        }
        Assumption::ExitedThreadsReleaseBarriers => {
            (AssumptionKind::Other, "threads that have returned do not hold up a barrier (CUDA since Volta)".to_owned())
        }
    };
    report::Assumption { kind, text: context.words().in_source(&without_numbers(&text)) }
}

/// Names as they stand in the source: the second `index` of a kernel is `index.1` in the calculus.
fn without_numbers(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut is_name = false;
    while let Some(c) = rest.next() {
        if c == '.' && is_name && rest.peek().is_some_and(char::is_ascii_digit) {
            while rest.peek().is_some_and(char::is_ascii_digit) {
                rest.next();
            }
            continue;
        }
        // A number has a point of its own.
        is_name = c == '_' || c.is_alphabetic() || (is_name && c.is_ascii_digit());
        clean.push(c);
    }
    clean
}

/// Something that the meaning of the kernel counts on, as an assumption.
pub fn reliance(context: &Context<'_>, reliance: &Reliance) -> report::Assumption {
    let text = match &reliance.what {
        Relied::External(name) => {
            let is_operator = name.rsplit("::").next().is_some_and(|last| last.starts_with("operator"));
            return external(format!(
                "`{name}` is a function of its {}",
                if is_operator { "operands" } else { "arguments" }
            ));
        }
        Relied::Member(of, member) => return external(format!("`{member}` of `{of}` is data inside of the object")),
        Relied::Unclobbered => "the compiler moves no access over a barrier without a \"memory\" clobber",
        Relied::LanesOf32 => "wavefronts have 32 lanes",
        Relied::WholeWarps => "whole warps move each matrix, all lanes of a warp with one pointer",
        Relied::Numbers => "types that nothing declares are numbers",
        Relied::Telling => "what is called here without a declaration only tells or checks something",
        Relied::Divisors => "no integer is divided by 0",
        Relied::LeftToRight => "arguments and operands are evaluated from left to right",
        Relied::FactorsOf24Bits => "the factors of `mul24` fit into 24 bits, or are cut off",
        Relied::BlocksOfOneSize => "work-groups are all of one size, as with -cl-uniform-work-group-size",
    };
    let at = reliance.span.map_or_else(String::new, |span| format!(" (line {})", context.line(Some(span))));
    report::Assumption { kind: AssumptionKind::Other, text: format!("{text}{at}") }
}

fn external(text: String) -> report::Assumption {
    report::Assumption { kind: AssumptionKind::External, text }
}

/// "a", "a and b", "a, b and c".
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names_are_not_shown() {
        assert_eq!(without_numbers("index.1 differs from x2.13 and 1.5"), "index differs from x2 and 1.5");
        assert_eq!(without_numbers("blockDim.x = 4"), "blockDim.x = 4");
    }
}
