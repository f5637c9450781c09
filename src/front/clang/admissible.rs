//! Which items libclang may answer for.
//!
//! After an error clang drops statements and changes types without a word. So an item with an error in it is
//! refused, and so is whatever uses a name in whose declaration there is one. A function with an error in its
//! body only can still be called: its declaration is as it was written.

use super::convert::Place;
use super::text::Text;
use super::wire::Fault;
use crate::preprocess::Output;
use crate::source::Span;
use rustc_hash::FxHashSet;

/// An item that must be read by someone else.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The item's span.
    pub item: Span,
    /// Where the reason stands.
    pub span: Span,
    /// The reason.
    pub reason: String,
}

/// The items that are refused, in order.
pub(super) fn refused(places: &[Place], errors: &[Fault], text: &Text, output: &Output) -> Vec<Refusal> {
    let mut judged = Judged { places, output, reasons: vec![None; places.len()], tainted: FxHashSet::default() };
    for error in errors {
        // An error in declarations of our own may have anything behind it.
        match error.at {
            at if at >= text.from => judged.error(text.token_at(at), &error.message),
            _ => judged.everything(&error.message),
        }
    }
    judged.confusions();
    judged.spread();
    let reasons = judged.reasons.into_iter().zip(places);
    reasons
        .filter_map(|(reason, place)| reason.map(|(span, reason)| Refusal { item: place.span, span, reason }))
        .collect()
}

struct Judged<'a> {
    places: &'a [Place],
    output: &'a Output,
    reasons: Vec<Option<(Span, String)>>,
    /// Names in whose declaration there is an error.
    tainted: FxHashSet<String>,
}

impl Judged<'_> {
    fn error(&mut self, token: usize, message: &str) {
        let Some(span) = self.output.tokens.get(token).map(|token| token.span) else { return };
        for at in 0..self.places.len() {
            if self.places[at].tokens.contains(&token) {
                let in_body = self.places[at].body.contains(&token);
                self.refuse(at, (span, format!("clang: {message}")), in_body);
            }
        }
    }

    fn everything(&mut self, message: &str) {
        for at in 0..self.places.len() {
            self.refuse(at, (self.places[at].span, format!("clang: {message}")), false);
        }
    }

    fn refuse(&mut self, at: usize, reason: (Span, String), in_body: bool) {
        self.reasons[at].get_or_insert(reason);
        if !in_body {
            self.tainted.extend(self.places[at].names.iter().cloned());
        }
    }

    /// What could not be read although clang found no error.
    fn confusions(&mut self) {
        for at in 0..self.places.len() {
            if self.places[at].confused && self.reasons[at].is_none() {
                let reason = (self.places[at].span, super::CONFUSED.to_owned());
                self.refuse(at, reason, !self.places[at].body.is_empty());
            }
        }
    }

    /// Refuses whatever uses a tainted name, until nothing changes.
    fn spread(&mut self) {
        let mut known = 0;
        while known < self.tainted.len() {
            known = self.tainted.len();
            for at in 0..self.places.len() {
                self.spread_to(at);
            }
        }
    }

    fn spread_to(&mut self, at: usize) {
        let place = &self.places[at];
        let used = place.tokens.clone().find(|&token| {
            let token = &self.output.tokens[token];
            let text = self.output.text(token);
            self.tainted.contains(text) && !place.names.iter().any(|own| own == text)
        });
        if let Some(token) = used {
            let (span, text) = (self.output.tokens[token].span, self.output.text(&self.output.tokens[token]));
            let reason = format!("clang met an error in the declaration of `{text}`");
            let in_body = self.places[at].body.contains(&token);
            self.refuse(at, (span, reason), in_body);
        }
    }
}
