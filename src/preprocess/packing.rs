//! Where `#pragma pack` holds: classes there lie otherwise than usual.

use crate::source::Span;

/// The pragmas that still hold, and where others did.
#[derive(Debug, Default)]
pub(super) struct Packing {
    open: Vec<Span>,
    packed: Vec<Span>,
}

impl Packing {
    /// `#pragma pack(…)`
    pub(super) fn begin(&mut self, at: Span) {
        self.open.push(at);
    }

    /// `#pragma pack(pop)`
    pub(super) fn end(&mut self, at: Span) {
        if let Some(start) = self.open.pop() {
            self.hold(start, at);
        }
    }

    /// `#pragma pack()`
    pub(super) fn end_all(&mut self, at: Span) {
        for start in std::mem::take(&mut self.open) {
            self.hold(start, at);
        }
    }

    /// Where classes lie otherwise, given the whole of the file that is compiled.
    pub(super) fn of_unit(mut self, main: Span) -> Vec<Span> {
        for start in std::mem::take(&mut self.open) {
            self.hold(start, main);
            self.packed.push(Span { end: u32::MAX, ..start });
        }
        self.packed
    }

    /// Between two places; where these are in different files, in both.
    fn hold(&mut self, start: Span, end: Span) {
        if start.file == end.file {
            self.packed.push(start.to(end));
        } else {
            self.packed.extend([start, end].map(|at| Span { start: 0, end: u32::MAX, ..at }));
        }
    }
}
