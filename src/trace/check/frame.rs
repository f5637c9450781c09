//! Spans as bytes, in frames: each span is coded against those before it in its frame, so that frames may be put behind
//! each other in any order.
//!
//! A span is a head, of which the bits say what follows, and what differs from what is likely: the block of the span
//! before, the place behind the last span of the same site and kind, the thread where the span before ended.

use super::span::Span;
use crate::trace::format::bytes::{Cursor, Malformed, from_zigzag, put, to_zigzag};

/// Sites and kinds that are remembered.
const KINDS: usize = 6;
/// In the place of one that is remembered: site and manner follow.
const NEW_KIND: u8 = 7;
/// Block and syncs of the grid are those of the span before.
const SAME_BLOCK: u8 = 1 << 3;
/// Where the count stands, less one; the largest says that it follows.
const COUNT_SHIFT: u32 = 4;
const LARGE_COUNT: u8 = 3;
/// A step between threads follows.
const STEP: u8 = 1 << 6;
/// The thread is not the last one of the span before: the difference follows.
const OTHER_THREAD: u8 = 1 << 7;

/// A site and kind of access, and where its last span ended.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    site: u32,
    manner: u32,
    end: u64,
}

/// What the next span is coded against.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    block: u64,
    grid: u32,
    thread: u32,
    kinds: [Kind; KINDS],
    /// How many kinds there were so far.
    met: usize,
}

impl Before {
    fn find(&self, span: &Span) -> Option<usize> {
        let known = &self.kinds[..self.met.min(KINDS)];
        known.iter().position(|kind| kind.site == span.site && kind.manner == span.manner)
    }

    /// Where a new kind is kept.
    fn new_kind(&mut self, site: u32, manner: u32) -> usize {
        let at = self.met % KINDS;
        self.kinds[at] = Kind { site, manner, end: 0 };
        self.met += 1;
        at
    }

    fn follow(&mut self, kind: usize, span: &Span) {
        self.kinds[kind].end = span.end();
        (self.block, self.grid) = (span.block, span.grid);
        self.thread = span.thread.wrapping_add((span.step as u32).wrapping_mul(span.count - 1));
    }
}

/// Spans that are put into a partition together.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    bytes: Vec<u8>,
    spans: u64,
    before: Before,
}

impl Frame {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn spans(&self) -> u64 {
        self.spans
    }

    /// Makes it empty and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans = 0;
        self.before = Before::default();
    }

    pub(super) fn add(&mut self, span: &Span) {
        let (before, out) = (&mut self.before, &mut self.bytes);
        let known = before.find(span);
        let is_same_block = (span.block, span.grid) == (before.block, before.grid);
        let thread = i64::from(span.thread) - i64::from(before.thread);
        let head = known.map_or(NEW_KIND, |kind| kind as u8)
            | if is_same_block { SAME_BLOCK } else { 0 }
            | ((span.count - 1).min(LARGE_COUNT.into()) as u8) << COUNT_SHIFT
            | if span.step == 0 { 0 } else { STEP }
            | if thread == 0 { 0 } else { OTHER_THREAD };
        out.push(head);
        let kind = known.unwrap_or_else(|| {
            put(out, span.site.into());
            put(out, span.manner.into());
            before.new_kind(span.site, span.manner)
        });
        put(out, to_zigzag(span.start.wrapping_sub(before.kinds[kind].end)));
        if !is_same_block {
            put(out, span.block);
            put(out, span.grid.into());
        }
        if span.count > u32::from(LARGE_COUNT) {
            put(out, span.count.into());
        }
        if span.step != 0 {
            put(out, to_zigzag(i64::from(span.step) as u64));
        }
        if thread != 0 {
            put(out, to_zigzag(thread as u64));
        }
        before.follow(kind, span);
        self.spans += 1;
    }
}

/// Hands the spans of a frame to `take`.
pub(super) fn each(frame: &[u8], take: &mut impl FnMut(Span)) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(frame);
    let mut before = Before::default();
    while !cursor.is_empty() {
        take(next(&mut cursor, &mut before)?);
    }
    Ok(())
}

fn next(cursor: &mut Cursor<'_>, before: &mut Before) -> Result<Span, Malformed> {
    let head = cursor.byte()?;
    let kind = match head & 7 {
        NEW_KIND => {
            let (site, manner) = (cursor.small()?, cursor.small()?);
            before.new_kind(site, manner)
        }
        known if usize::from(known) < before.met.min(KINDS) => known.into(),
        _ => return Err(Malformed("a span is of a kind that was not met")),
    };
    let Kind { site, manner, end } = before.kinds[kind];
    let start = end.wrapping_add(from_zigzag(cursor.number()?));
    let (block, grid) = match head & SAME_BLOCK {
        0 => (cursor.number()?, cursor.small()?),
        _ => (before.block, before.grid),
    };
    let count = match head >> COUNT_SHIFT & LARGE_COUNT {
        LARGE_COUNT => cursor.small()?,
        less => u32::from(less) + 1,
    };
    let step = if head & STEP == 0 { 0 } else { from_zigzag(cursor.number()?) as i32 };
    let thread = if head & OTHER_THREAD == 0 { 0 } else { from_zigzag(cursor.number()?) as u32 };
    let span = Span { start, block, site, manner, thread: before.thread.wrapping_add(thread), step, count, grid };
    if count == 0 {
        return Err(Malformed("a span has no elements"));
    }
    before.follow(kind, &span);
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let number = prop_oneof![0..4u32, any::<u32>()];
        let place = prop_oneof![0..64u64, 0..1u64 << 62];
        let span = (place, any::<u64>(), number.clone(), 0..9u32, number.clone(), -3..3i32, 1..9u32, number);
        let span = span.prop_map(|(start, block, site, manner, thread, step, count, grid)| {
            let manner = manner + 1;
            Span { start, block: block % 3, site: site % 9, manner, thread: thread >> 1, step, count, grid }
        });
        proptest::collection::vec(span, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spans_come_back(spans in spans()) {
            let mut frame = Frame::default();
            for _ in 0..2 {
                frame.clear();
                spans.iter().for_each(|span| frame.add(span));
                prop_assert_eq!(frame.spans(), spans.len() as u64);
                let mut found = Vec::new();
                each(frame.bytes(), &mut |span| found.push(span)).expect("the frame is whole");
                prop_assert_eq!(&found, &spans);
            }
        }
    }

    #[test]
    fn damage_is_told() {
        for bytes in [&[0][..], &[NEW_KIND | LARGE_COUNT << COUNT_SHIFT, 1, 1, 0, 0, 0, 0], &[NEW_KIND, 1]] {
            assert!(each(bytes, &mut |_| ()).is_err(), "{bytes:?}");
        }
    }
}
