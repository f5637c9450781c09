//! `barrier-divergence`: barriers, and calls that threads make together, that some threads of a group reach and others
//! do not.

use super::causes::{Found, Kind};
use super::possible_race::{because, reasons};
use super::verdict::PossibleDivergence;
use super::{Context, witness};
use crate::calculus::{ExprId, SiteId, SyncScope};
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess, Telling};
use crate::prove::Divergence;

/// Divergences that were found by running the kernel.
pub(super) fn proved(context: &Context<'_>, divergences: &[Divergence]) -> Vec<Found> {
    let found = |divergence: &Divergence| Found {
        under: condition(context, divergence.sync),
        ..Found::new(Kind::Divergence, proved_finding(context, divergence))
    };
    divergences.iter().map(found).collect()
}

fn proved_finding(context: &Context<'_>, divergence: &Divergence) -> Finding {
    let words = context.words();
    let elsewhere = match (divergence.other, divergence.returned) {
        (Some(_), _) => "waits at another one".to_owned(),
        (None, true) => "has returned".to_owned(),
        (None, false) => "never reaches it".to_owned(),
    };
    let (thread, block, what) = (words.thread, words.block, what(context, divergence.sync));
    let group = everyone(context, waiting(context, divergence.sync).min(SyncScope::Block));
    let is_in_one_block = divergence.is_in_one_block();
    let message = if !is_in_one_block {
        format!("barrier divergence: one {block} waits at this barrier of blocks while another {elsewhere}")
    } else if divergence.unnamed {
        format!("barrier divergence: a {thread} executes this {what} that is not among those that it is for")
    } else {
        format!("barrier divergence: one {thread} of a {group} waits at this {what} while another {elsewhere}")
    };
    Finding {
        rule: RuleId::BarrierDivergence,
        certainty: Certainty::Proved,
        level: if is_in_one_block { Level::Block } else { Level::Grid },
        array: None,
        message,
        primary: barrier(context, divergence.sync),
        secondary: divergence.other.map(|other| barrier(context, other)),
        reasons: Vec::new(),
        witness: Some(witness::report(context, &divergence.witness, None)),
        contents: Vec::new(),
        notes: vec![if divergence.unnamed { naming(context, &what) } else { advice(context, divergence.sync) }],
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

/// Syncs whose guards depend on what is not known.
pub(super) fn possible(context: &Context<'_>, divergences: &[PossibleDivergence]) -> Vec<Found> {
    let found = |divergence| Found::new(Kind::Divergence, possible_finding(context, divergence));
    divergences.iter().map(found).collect()
}

fn possible_finding(context: &Context<'_>, divergence: &PossibleDivergence) -> Finding {
    let sync = &context.protocol.syncs[divergence.sync];
    let message = format!(
        "possible barrier divergence: {}s of one {} may disagree about reaching this {}: {}",
        context.words().thread,
        everyone(context, sync.scope),
        what(context, sync.site),
        divergence.reasons.first().map_or_else(String::new, |reason| because(context, reason))
    );
    Finding {
        rule: RuleId::BarrierDivergence,
        certainty: Certainty::Possible,
        level: Level::Block,
        array: None,
        message,
        primary: barrier(context, context.protocol.syncs[divergence.sync].site),
        secondary: None,
        reasons: reasons(&divergence.reasons),
        witness: None,
        contents: Vec::new(),
        notes: vec![advice(context, sync.site)],
        reproduction: None,
        fix: None,
        launch: None,
        related: Vec::new(),
        telling: Telling::default(),
    }
}

/// The innermost condition on the way to a barrier that is none of a loop's: what threads disagree about.
fn condition(context: &Context<'_>, site: SiteId) -> Option<ExprId> {
    let sync = context.protocol.syncs.iter().map(|(_, sync)| sync).find(|sync| sync.site == site)?;
    sync.guards.iter().rev().find(|guard| guard.of_loop.is_none()).map(|guard| guard.cond)
}

fn barrier(context: &Context<'_>, site: SiteId) -> Place {
    Place { span: context.span_of(site), access: PlaceAccess::Barrier }
}

fn naming(context: &Context<'_>, what: &str) -> String {
    format!("let the mask of the {what} name every {} that executes it, and no other", context.words().thread)
}

/// A barrier, or a call that threads make together and that orders no memory.
pub(super) fn what(context: &Context<'_>, site: SiteId) -> String {
    let words = context.words();
    let mut syncs = context.protocol.syncs.iter().map(|(_, sync)| sync).filter(|sync| sync.site == site).peekable();
    let orders_nothing = syncs.peek().is_some() && syncs.all(|sync| sync.memory.orders_nothing());
    match waiting(context, site) {
        _ if !orders_nothing => "barrier".to_owned(),
        SyncScope::Warp => format!("{} operation", words.warp),
        _ => format!("{} operation", words.block),
    }
}

/// The threads that a barrier waits for.
fn waiting(context: &Context<'_>, site: SiteId) -> SyncScope {
    let scopes = context.protocol.syncs.iter().filter(|(_, sync)| sync.site == site).map(|(_, sync)| sync.scope);
    scopes.max().unwrap_or(SyncScope::Block)
}

/// What holds all threads that a barrier of this scope waits for.
fn everyone(context: &Context<'_>, scope: SyncScope) -> &'static str {
    match scope {
        SyncScope::Warp => context.words().warp,
        SyncScope::Block => context.words().block,
        SyncScope::Cluster => "cluster",
        SyncScope::Grid | SyncScope::System => "grid",
    }
}

fn advice(context: &Context<'_>, site: SiteId) -> String {
    format!(
        "move the {} out of the condition or loop, so that all {}s of the {} reach it",
        what(context, site),
        context.words().thread,
        everyone(context, waiting(context, site))
    )
}
