//! The net under the launches that are seen: every place where the tokens of the unit name a kernel has to be one of these,
//! or the kernel is launched there in a way of which nothing is known:
//!
//! - the kernel of a launch that was understood, or of one on a way that is never taken,
//! - a name that goes where it is followed ([`super::host_escapes`]), by what was looked at,
//! - a name of something else: a local, a member, a function of another namespace.
//!
//! What the tokens alone show to launch nothing is not among the places. A launch that names no kernel and was not
//! understood may be one of any kernel whose name goes where it is followed.
//!
//! Deliberately absent: what is launched there, and how.

use super::context::Resolver;
use super::hidden::{Hidden, is_within};
use super::host::Walk;
use super::host_calls::name_of;
use super::host_escapes::{Kept, Uses, kernels_of};
use crate::source::Span;
use crate::syntax::{HiddenBy, Item, Mention, MentionKind};
use rustc_hash::FxHashSet;

/// What the walk through host code has understood.
#[derive(Default)]
pub(super) struct Understood {
    /// The names of kernels in launches.
    pub(super) names: FxHashSet<Span>,
    /// Names that are given to functions which were looked at with them.
    pub(super) given: FxHashSet<Span>,
    /// Launches.
    pub(super) launches: Vec<Span>,
    /// Statements that no way leads to.
    pub(super) dead: Vec<Span>,
}

impl<'u> Resolver<'u> {
    /// Lets the kernels escape that are named where nothing is understood.
    pub(super) fn escape_mentioned(
        &mut self,
        items: &'u [Item],
        mentions: &'u [Mention],
        uses: Uses<'u>,
        walk: &mut Walk<'u>,
    ) {
        let sources = self.sources;
        let kernels = kernels_of(items);
        let names: FxHashSet<&str> = kernels.keys().copied().collect();
        let mut hidden = Hidden::collect(items, &names, sources);
        for decl in &uses.functions {
            for field in walk.fields_of(decl.syntax) {
                let body = decl.syntax.body.as_deref().unwrap_or(&[]);
                body.iter().for_each(|stmt| hidden.hide(&field.name, stmt.span));
            }
        }
        let is_in = |place: Span, ranges: &[Span]| ranges.iter().any(|&range| is_within(sources, place, range));
        let is_lost = |mention: &Mention| {
            let understood = walk.understood.launches.iter().map(|&launch| sources.visible(launch));
            mention.kind == MentionKind::Launch
                && !is_in(mention.span, &walk.understood.dead)
                && !understood.into_iter().any(|launch| is_within(sources, mention.span, launch))
        };
        let has_lost = mentions.iter().any(is_lost);
        let is_followed = |kept: &Kept<'u>| match kept {
            Kept::Asked => true,
            Kept::Given(callee, place) => {
                !has_lost && (!walk.launching.contains(callee) || walk.understood.given.contains(place))
            }
            Kept::Held(function) => {
                !has_lost && (!walk.launching.contains(name_of(function)) || walk.looked_at(function))
            }
        };
        let mut lost = Vec::new();
        for mention in mentions {
            let MentionKind::Kernel { name, hidden_by } = &mention.kind else { continue };
            let Some(named) = kernels.get(name.as_str()) else { continue };
            let is_hidden = *hidden_by == HiddenBy::Declarations && hidden.has(name, mention.span);
            let is_understood = is_hidden
                || walk.understood.names.contains(&mention.span)
                || uses.foreign.contains(&mention.span)
                || uses.kept.get(&mention.span).is_some_and(is_followed)
                || is_in(mention.span, &walk.understood.dead);
            if !is_understood {
                lost.extend(named.iter().map(|&kernel| (std::ptr::from_ref(kernel), mention.span)));
            }
        }
        for (kernel, place) in lost {
            walk.escaped.entry(kernel).or_insert(place);
        }
    }
}
