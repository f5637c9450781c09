//! What a block does to global memory, as other blocks may meet it: one access of each kind and site for each
//! place, the one of the lowest thread; equal neighbours joined to spans.

use super::frame::Frame;
use super::partition::Partitions;
use super::sweep::{Access, bytes_of};
use std::ops::Range;

/// Spans that may grow at once: sites of a loop body.
const OPEN: usize = 16;

/// Accesses to `count` elements, one behind the other; element `i` by thread `thread + i * step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) block: u64,
    pub(super) site: u32,
    pub(super) manner: u32,
    pub(super) thread: u32,
    pub(super) step: i32,
    pub(super) count: u32,
    /// Syncs of the grid before.
    pub(super) grid: u32,
}

impl Span {
    pub(super) fn bytes(&self) -> u64 {
        u64::from(bytes_of(self.manner))
    }

    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes() * u64::from(self.count)
    }

    /// The element that holds a place: its start and its thread.
    pub(super) fn element(&self, place: u64) -> (u64, u32) {
        let index = (place - self.start) / self.bytes();
        let thread = i64::from(self.thread) + index as i64 * i64::from(self.step);
        (self.start + index * self.bytes(), thread as u32)
    }

    /// Whether the span grew by this access.
    fn grew(&mut self, access: &Access) -> bool {
        if access.start != self.end() || self.count == u32::MAX {
            return false;
        }
        let last = i64::from(self.thread) + i64::from(self.step) * i64::from(self.count - 1);
        let step = i64::from(access.thread) - last;
        if self.count == 1 {
            self.step = step as i32;
        } else if step != i64::from(self.step) {
            return false;
        }
        self.count += 1;
        true
    }
}

/// Takes the accesses of a block by rising place and hands spans on.
pub(super) struct Spans<'a> {
    to: &'a Partitions<'a>,
    block: u64,
    grid: u32,
    open: Vec<Span>,
    staged: &'a mut Vec<Frame>,
}

impl<'a> Spans<'a> {
    pub(super) fn new(to: &'a Partitions<'a>, block: u64, grid: u32, staged: &'a mut Vec<Frame>) -> Self {
        Spans { to, block, grid, open: Vec::new(), staged }
    }

    /// Adds accesses that overlap each other, of those that begin within `window`.
    pub(super) fn add_cluster(&mut self, cluster: &[Access], window: &Range<u64>, members: &mut Vec<Access>) {
        if let [access] = cluster {
            if window.contains(&access.start) {
                self.add(access);
            }
            return;
        }
        members.clear();
        members.extend(cluster.iter().filter(|access| window.contains(&access.start)));
        members.sort_unstable_by_key(|access| (access.start, access.site, access.manner, access.thread));
        members.dedup_by_key(|access| (access.start, access.site, access.manner));
        for access in &*members {
            self.add(access);
        }
    }

    fn add(&mut self, access: &Access) {
        let alike = |span: &Span| span.site == access.site && span.manner == access.manner;
        if let Some(at) = self.open.iter().position(alike) {
            if self.open[at].grew(access) {
                return;
            }
            let done = self.open.swap_remove(at);
            self.to.put(&done, self.staged);
        } else if self.open.len() == OPEN {
            let done = self.open.remove(0);
            self.to.put(&done, self.staged);
        }
        let Access { start, site, manner, thread, .. } = *access;
        self.open.push(Span { start, block: self.block, site, manner, thread, step: 0, count: 1, grid: self.grid });
    }

    /// Hands on what is left.
    pub(super) fn finish(self) {
        for span in &self.open {
            self.to.put(span, self.staged);
        }
    }
}
