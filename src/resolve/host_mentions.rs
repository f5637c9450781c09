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
use crate::source::{SourceMap, Span};
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
    /// Statements that no way led to when they were looked at.
    pub(super) dead: Vec<Span>,
    /// Statements that a way led to: a function is looked at once for each set of arguments.
    pub(super) reached: FxHashSet<Span>,
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
        let followed = match mentions.iter().any(|mention| walk.misses_launch(mention, sources)) {
            true => Followed::OnlyWhereAsked,
            false => Followed::WhereLookedAt,
        };
        for mention in mentions {
            let MentionKind::Kernel { name, hidden_by } = &mention.kind else { continue };
            let is_hidden = || *hidden_by == HiddenBy::Declarations && hidden.has(name, mention.span);
            let is_followed = || uses.kept.get(&mention.span).is_some_and(|kept| walk.follows(*kept, followed));
            if walk.understood.names.contains(&mention.span)
                || uses.foreign.contains(&mention.span)
                || is_followed()
                || is_hidden()
                || walk.understood.is_dead(mention.span, sources)
            {
                continue;
            }
            for &kernel in kernels.get(name.as_str()).into_iter().flatten() {
                walk.escaped.entry(std::ptr::from_ref(kernel)).or_insert(mention.span);
            }
        }
    }
}

/// Which names count as followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// All that go through what was looked at.
    WhereLookedAt,
    /// A launch was not understood, and may be one of what pointers hold: those alone that functions ask about.
    OnlyWhereAsked,
}

impl Understood {
    fn is_dead(&self, place: Span, sources: &SourceMap) -> bool {
        let is_dead = |range: &Span| !self.reached.contains(range) && is_within(sources, place, *range);
        self.dead.iter().any(is_dead)
    }
}

impl Walk<'_> {
    /// Whether a launch stands at a place that was not understood as one.
    fn misses_launch(&self, mention: &Mention, sources: &SourceMap) -> bool {
        let is_of = |&launch: &Span| is_within(sources, mention.span, sources.visible(launch));
        mention.kind == MentionKind::Launch
            && !self.understood.is_dead(mention.span, sources)
            && !self.understood.launches.iter().any(is_of)
    }

    /// Whether what becomes of a name has been seen.
    fn follows(&self, kept: Kept<'_>, followed: Followed) -> bool {
        let is_looked_at = followed == Followed::WhereLookedAt;
        match kept {
            Kept::Asked => true,
            Kept::Given(callee, place) => {
                is_looked_at && (!self.launching.contains(callee) || self.understood.given.contains(&place))
            }
            Kept::Held(function) => {
                is_looked_at && (!self.launching.contains(name_of(function)) || self.looked_at(function))
            }
        }
    }
}
