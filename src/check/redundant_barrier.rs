//! `redundant-barrier`: barriers that a kernel is proved to do without.

use crate::calculus::SyncScope;
use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, Finding, Level, Place, PlaceAccess, Telling};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::source::{Language, SourceMap, Span};

/// Where the barriers stand.
pub struct Setting<'a> {
    /// The files that spans point into.
    pub sources: &'a SourceMap,
    /// The language whose words messages use.
    pub language: Language,
}

impl Setting<'_> {
    /// The hint on the barrier at `span`; `is_shared` if it stands in a function that kernels call.
    pub fn finding(&self, span: Span, scope: SyncScope, is_shared: bool) -> Finding {
        let words = Vocabulary::of(self.language);
        let line = self.sources.start_position(span).line;
        let whom = if is_shared { ", and so are all kernels of the file that pass it" } else { "" };
        let message = format!(
            "redundant barrier: the kernel is free of races, uniform and deterministic without the barrier at line {line}{whom}"
        );
        let advice = format!(
            "remove it; if it only keeps the {}s of a {} close together for the sake of speed, say so beside it",
            words.thread, words.block
        );
        Finding {
            rule: RuleId::RedundantBarrier,
            certainty: Certainty::Proved,
            level: if scope >= SyncScope::Grid { Level::Grid } else { Level::Block },
            array: None,
            message,
            primary: Place { span, access: PlaceAccess::Barrier },
            secondary: None,
            reasons: Vec::new(),
            witness: None,
            contents: Vec::new(),
            notes: vec![advice],
            reproduction: None,
            fix: None,
            launch: None,
            related: Vec::new(),
            telling: Telling::default(),
        }
    }
}
