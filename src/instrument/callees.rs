//! What calls mean by the names of what is called: whether the unit has such a function, else what the builtin does.

use super::facts::Facts;
use crate::builtins::{Builtin, Made, functions, groups};
use crate::calculus::SyncScope;
use crate::source::Language;
use crate::syntax::{Expr, ExprKind, Path};

/// The function of the runtime that stands for a call of a barrier.
pub(super) fn counting(meaning: Option<&Builtin>, name: &str) -> Option<&'static str> {
    if let Some(groups::Function::Method(method)) = groups::Function::named(name) {
        return (groups::Method::named(method) == Some(groups::Method::Sync)).then_some("sync");
    }
    Some(match meaning? {
        Builtin::Barrier { scope: SyncScope::Block, .. } => "syncthreads",
        Builtin::Barrier { scope: SyncScope::Warp, .. } => "syncwarp",
        Builtin::VotingBarrier(Made::Count) => "syncthreads_count",
        Builtin::VotingBarrier(Made::All) => "syncthreads_and",
        Builtin::VotingBarrier(Made::Any) => "syncthreads_or",
        _ => return None,
    })
}

/// What calls mean by the names of what is called.
#[derive(Clone, Copy)]
pub(super) struct Callees<'f> {
    pub(super) facts: &'f Facts,
    pub(super) language: Language,
}

impl Callees<'_> {
    /// What the builtin function of that name means, if the unit has none of its own.
    pub(super) fn builtin<'p>(&self, path: &'p Path, count: usize) -> Option<(&'p str, Option<Builtin>)> {
        let name = path.segments.last()?.name.text.as_str();
        self.facts.callables(name, count).is_empty().then_some(())?;
        Some((name, functions::function(self.language, name).map(|meaning| meaning.builtin)))
    }

    /// Whether a call waits for other threads of a block or a group: a barrier of its own, or `sync` of a group.
    pub(super) fn waits_for_others(&self, callee: &Expr, arguments: &[Expr]) -> bool {
        match &callee.kind {
            ExprKind::Path(path) => self.builtin(path, arguments.len()).is_some_and(|(name, meaning)| {
                (meaning.is_some() || arguments.len() == 1) && counting(meaning.as_ref(), name).is_some()
            }),
            ExprKind::Member { member, .. } => {
                let name = member.name.text.as_str();
                let is_own = !self.facts.callables(name, arguments.len()).is_empty();
                !is_own && arguments.is_empty() && groups::Method::named(name) == Some(groups::Method::Sync)
            }
            _ => false,
        }
    }
}
