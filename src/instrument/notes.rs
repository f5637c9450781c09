//! What is said beside the edits: the sites, and what is not instrumented, each with the function that holds it.

use super::coverage::{Point, PointKind};
use super::mutant::{Claim, Edit, Mutant};
use super::sites::{Site, SiteKind};
use super::tokens::Tokens;
use crate::mutation::Operator;
use crate::source::Span;

/// Something in device code that is not instrumented: a run says nothing about the accesses in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// What it is, in the user's words.
    pub what: String,
    /// The kernel or device function that holds it.
    pub function: String,
    /// Where.
    pub span: Span,
}

/// What has been said of a unit, and of which function the next things are said.
pub(super) struct Notes<'a> {
    tokens: &'a Tokens<'a>,
    /// The function that is being walked, as users know it.
    function: String,
    pub(super) sites: Vec<Site>,
    pub(super) points: Vec<Point>,
    pub(super) mutants: Vec<Mutant>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) unordered: Vec<LeftOut>,
    pub(super) uncounted: Vec<LeftOut>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(tokens: &'a Tokens<'a>) -> Self {
        let function = String::new();
        let (sites, points, mutants) = (Vec::new(), Vec::new(), Vec::new());
        let (left_out, unordered, uncounted) = (Vec::new(), Vec::new(), Vec::new());
        Notes { tokens, function, sites, points, mutants, left_out, unordered, uncounted }
    }

    /// The function that is being walked; empty outside of all.
    pub(super) fn function(&self) -> &str {
        &self.function
    }

    /// What follows is said of this function. Gives the one before.
    pub(super) fn enter(&mut self, function: String) -> String {
        std::mem::replace(&mut self.function, function)
    }

    /// Adds a site and gives its id.
    pub(super) fn site(&mut self, kind: SiteKind, span: Span, array: String) -> usize {
        let span = self.tokens.place_of(span);
        self.sites.push(Site { kind, span, array, function: self.function.clone() });
        self.sites.len() - 1
    }

    /// Adds a point of coverage and gives its id.
    pub(super) fn point(&mut self, kind: PointKind, span: Span) -> usize {
        let kind = match kind {
            PointKind::Run(spans) => PointKind::Run(spans.into_iter().map(|span| self.tokens.place_of(span)).collect()),
            kind => kind,
        };
        let span = self.tokens.place_of(span);
        self.points.push(Point { kind, span, function: self.function.clone() });
        self.points.len() - 1
    }

    /// Adds a mutant and gives its id. Places are those of the text.
    pub(super) fn mutant(&mut self, operator: Operator, span: Span, edits: Vec<Edit>, claim: Option<Claim>) -> usize {
        self.mutants.push(Mutant { operator, span, edits, function: self.function.clone(), claim });
        self.mutants.len() - 1
    }

    /// Something that may access memory is not instrumented.
    pub(super) fn leave_out(&mut self, span: Span, what: impl Into<String>) {
        let left_out = self.named(span, what.into());
        self.left_out.push(left_out);
    }

    /// Something that orders threads is not logged.
    pub(super) fn leave_unordered(&mut self, span: Span, what: impl Into<String>) {
        let unordered = self.named(span, what.into());
        self.unordered.push(unordered);
    }

    /// Something that a test may reach is not counted.
    pub(super) fn leave_uncounted(&mut self, span: Span, what: &str) {
        let uncounted = self.named(span, what.to_owned());
        self.uncounted.push(uncounted);
    }

    fn named(&self, span: Span, what: String) -> LeftOut {
        LeftOut { what, function: self.function.clone(), span: self.tokens.place_of(span) }
    }
}
