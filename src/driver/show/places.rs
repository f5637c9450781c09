//! How sites are named in what is shown: by line and column.

use crate::calculus::{Kernel, SiteId};
use crate::source::{SourceMap, Span};

/// More characters of the source are not quoted.
const MAX_TEXT: usize = 70;

/// Names of the sites of one kernel.
pub(super) struct Places<'a> {
    sources: &'a SourceMap,
    kernel: &'a Kernel,
}

impl<'a> Places<'a> {
    /// Names for the sites of `kernel`.
    pub(super) fn new(sources: &'a SourceMap, kernel: &'a Kernel) -> Self {
        Places { sources, kernel }
    }

    /// `7:12`, with the path in front if it is not the main file; `site 3` if it has no place.
    pub(super) fn name(&self, site: SiteId) -> String {
        match self.kernel.sites.get(site).and_then(|site| site.span) {
            Some(span) => self.at(span),
            None => format!("site {}", site.index()),
        }
    }

    /// The place of a span, likewise.
    pub(super) fn at(&self, span: Span) -> String {
        let at = self.sources.start_position(span);
        let file = self.sources.visible(span).file;
        let path =
            if file.index() == 0 { String::new() } else { format!("{}:", self.sources.file(file).path.display()) };
        format!("{path}{}:{}", at.line, at.column)
    }

    /// The text that the user sees there, on one line, its end cut off if it is long.
    pub(super) fn text(&self, span: Span) -> String {
        let words: Vec<&str> = self.sources.text(self.sources.visible(span)).split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{} …", &text[..end]),
            None => text,
        }
    }
}
