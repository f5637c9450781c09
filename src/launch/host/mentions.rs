//! The net under the launches that are seen: every place where the tokens of the unit name a kernel has to be one of
//! these, or the kernel is launched there in a way of which nothing is known:
//!
//! - the kernel of a launch that was understood, or of one on a way that is never taken,
//! - a name that goes where it is followed ([`super::escapes`]), by what was looked at,
//! - a name of something else: a local, a member, a function of another namespace.
//!
//! What the tokens alone show to launch nothing is not among the places. A launch that names no kernel and was not
//! understood may be one of any kernel whose name goes where it is followed.
//!
//! Deliberately absent: what is launched there, and how.

use super::calls::Calls;
use super::escapes::{Kept, Uses, kernels_of};
use super::found::{Found, Understood};
use super::hidden::{Hidden, is_within};
use super::unit::Code;
use crate::source::{SourceMap, Span};
use crate::syntax::{HiddenBy, Item, Mention, MentionKind};
use rustc_hash::FxHashSet;

/// What has been looked at, to hold the places against that name kernels.
pub(super) struct Seen<'a, 'u> {
    pub(super) sources: &'u SourceMap,
    pub(super) code: &'a Code<'u>,
    pub(super) calls: &'a Calls<'u>,
    pub(super) uses: &'a Uses<'u>,
}

impl<'u> Seen<'_, 'u> {
    /// Lets the kernels escape that are named where nothing is understood.
    pub(super) fn escape_mentioned(&self, items: &'u [Item], mentions: &'u [Mention], found: &mut Found<'u>) {
        let (sources, uses) = (self.sources, self.uses);
        let kernels = kernels_of(items);
        let names: FxHashSet<&str> = kernels.keys().copied().collect();
        let mut hidden = Hidden::collect(items, &names, sources);
        for decl in &uses.functions {
            for field in self.code.members_of(decl.syntax).unwrap_or_default() {
                let body = decl.syntax.body.as_deref().unwrap_or(&[]);
                body.iter().for_each(|stmt| hidden.hide(&field.name, stmt.span));
            }
        }
        let Found { understood, escaped, .. } = found;
        let followed = match mentions.iter().any(|mention| understood.misses_launch(mention, sources)) {
            true => Followed::OnlyWhereAsked,
            false => Followed::WhereLookedAt,
        };
        for mention in mentions {
            let MentionKind::Kernel { name, hidden_by } = &mention.kind else { continue };
            let is_hidden = || *hidden_by == HiddenBy::Declarations && hidden.has(name, mention.span);
            let is_followed =
                || uses.kept.get(&mention.span).is_some_and(|kept| self.follows(*kept, followed, understood));
            if understood.names.contains(&mention.span)
                || uses.foreign.contains(&mention.span)
                || is_followed()
                || is_hidden()
                || understood.is_dead(mention.span, sources)
            {
                continue;
            }
            for &kernel in kernels.get(name.as_str()).into_iter().flatten() {
                escaped.entry(std::ptr::from_ref(kernel)).or_insert(mention.span);
            }
        }
    }

    /// Whether what becomes of a name has been seen.
    fn follows(&self, kept: Kept<'_>, followed: Followed, understood: &Understood) -> bool {
        let is_looked_at = followed == Followed::WhereLookedAt;
        match kept {
            Kept::Asked => true,
            Kept::Given(callee, place) => {
                is_looked_at && (!self.code.launching.contains(callee) || understood.given.contains(&place))
            }
            Kept::Held(function) => {
                is_looked_at && (!self.code.launching.contains(function.name()) || self.calls.looked_at(function))
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

    /// Whether a launch stands at a place that was not understood as one.
    fn misses_launch(&self, mention: &Mention, sources: &SourceMap) -> bool {
        let is_of = |&launch: &Span| is_within(sources, mention.span, sources.visible(launch));
        mention.kind == MentionKind::Launch && !self.is_dead(mention.span, sources) && !self.launches.iter().any(is_of)
    }
}
