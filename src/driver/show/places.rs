//! How sites are named in what is shown: by line and column.

use crate::calculus::{Kernel, SiteId};
use crate::source::SourceMap;

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
        let Some(span) = self.kernel.sites.get(site).and_then(|site| site.span) else {
            return format!("site {}", site.index());
        };
        let at = self.sources.start_position(span);
        let file = self.sources.visible(span).file;
        let path =
            if file.index() == 0 { String::new() } else { format!("{}:", self.sources.file(file).path.display()) };
        format!("{path}{}:{}", at.line, at.column)
    }
}
