//! How the memory that a check may use is shared out.

use super::Options;

/// Kept aside: the program itself, tables of launches, chunks that are being read.
const ASIDE: u64 = 24 << 20;
/// A worker with less would read chunks again and again.
const LEAST_SHARE: u64 = 32 << 20;
/// What a collected access takes: itself, the room that vectors keep, and a copy while they are sorted.
const ACCESS: u64 = 80;
/// What a span takes while it is swept: itself, and what those that overlap need beside it.
const SPAN: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Threads.
    pub(super) jobs: usize,
    /// Bytes for each of them, half of it for what partitions hold in memory.
    pub(super) share: u64,
}

impl Budget {
    pub(super) fn new(options: &Options) -> Self {
        let memory = options.memory.saturating_sub(ASIDE).max(LEAST_SHARE);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = (memory / LEAST_SHARE).max(1) as usize;
        let jobs = options.jobs.unwrap_or(cores).clamp(1, most);
        Budget { jobs, share: memory / jobs as u64 }
    }

    /// Accesses that one worker may hold.
    pub(super) fn accesses(&self) -> usize {
        (self.share / 2 / ACCESS) as usize
    }

    /// Bytes that all partitions may hold in memory.
    pub(super) fn partitions(&self) -> u64 {
        self.share / 2 * self.jobs as u64
    }

    /// Spans that one worker may sweep at once, while partitions are in memory, too.
    pub(super) fn spans(&self) -> usize {
        ((self.share / 2 / SPAN) as usize).max(1)
    }

    /// Launches with no more accesses are checked beside each other.
    pub(super) fn small_launch(&self) -> u64 {
        (self.accesses() / 4) as u64
    }
}
