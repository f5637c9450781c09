//! A simple writer for tests, generators and back ends without a runtime of their own: every segment literally, nothing
//! compressed across threads.
//!
//! Programs log through `src/instrument/runtime/log.hpp`, which writes the same format far smaller.

use super::accesses::{AccessesHead, Shape};
use super::bytes::{put, put_text, to_zigzag};
use super::chunk::{ChunkKind, framed, head};
use super::encode::put_syncs;
use super::sites::{Site, line};
use super::synchronisations::{self, Synchronisation};
use super::totals::{write_end, write_finished};
use super::{Allocation, Epochs, Kind, Launch, Totals};

/// A log in memory.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    ordinal: u64,
    launches: u32,
    allocations: u32,
    totals: Vec<Totals>,
    parts: u64,
}

/// The accesses of one thread between two syncs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The thread, linear in its block.
    pub thread: u32,
    /// The syncs before.
    pub epochs: Epochs,
    /// Shape and offset of each access.
    pub accesses: Vec<(Shape, u64)>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// A log without chunks.
    pub fn new() -> Self {
        Writer { bytes: head(), ordinal: 0, launches: 0, allocations: 0, totals: Vec::new(), parts: 0 }
    }

    fn chunk(&mut self, kind: ChunkKind, payload: &[u8]) {
        self.bytes.extend(framed(kind, self.ordinal, payload));
        self.ordinal += 1;
    }

    /// A table of sites.
    pub fn sites(&mut self, sites: &[Site]) {
        let mut payload = Vec::new();
        put_text(&mut payload, &sites.iter().map(line).collect::<String>());
        self.chunk(ChunkKind::Sites, &payload);
    }

    /// Places of device code are not logged.
    pub fn left_out(&mut self, what: &str) {
        let mut payload = vec![0];
        put_text(&mut payload, what);
        self.chunk(ChunkKind::LeftOut, &payload);
    }

    /// A launch begins; gives its number.
    pub fn launch(&mut self, launch: &Launch) -> u32 {
        let id = self.launches;
        self.launches += 1;
        self.totals.push(Totals::default());
        let mut payload = Vec::new();
        put(&mut payload, id.into());
        for extent in launch.grid.into_iter().chain(launch.block) {
            put(&mut payload, extent.into());
        }
        put(&mut payload, launch.dynamic_shared);
        put_text(&mut payload, &launch.kernel);
        let arguments: Vec<String> = launch.arguments.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        put_text(&mut payload, &arguments.concat());
        self.chunk(ChunkKind::Launch, &payload);
        id
    }

    /// An allocation begins; gives its number.
    pub fn allocation(&mut self, allocation: &Allocation) -> u32 {
        let id = self.allocations;
        self.allocations += 1;
        let mut payload = Vec::new();
        for number in [id.into(), allocation.base, allocation.bytes, allocation.space as u64] {
            put(&mut payload, number);
        }
        put_text(&mut payload, &allocation.name);
        self.chunk(ChunkKind::Allocation, &payload);
        id
    }

    /// A block: each item of `parts` in a chunk of its own.
    pub fn block(&mut self, launch: u32, block: u64, parts: &[&[Segment]]) {
        let stream = self.parts;
        self.parts += 1;
        for (part, segments) in (0..).zip(parts) {
            let payload = accesses(launch, block, (stream, part), segments);
            self.chunk(ChunkKind::Accesses, &payload);
            let made: usize = segments.iter().map(|segment| segment.accesses.len()).sum();
            self.totals[launch as usize].accesses += made as u64;
        }
        self.totals[launch as usize].blocks += 1;
    }

    /// What orders threads of a launch, in one chunk.
    pub fn synchronisations(&mut self, launch: u32, all: &[Synchronisation]) {
        self.chunk(ChunkKind::Synchronisations, &synchronisations::write(launch, all));
        self.totals[launch as usize].synchronisations += all.len() as u64;
    }

    /// The launch ends.
    pub fn finished(&mut self, launch: u32) {
        let payload = write_finished(launch, &self.totals[launch as usize]);
        self.chunk(ChunkKind::Finished, &payload);
    }

    /// The log ends; gives its bytes.
    pub fn close(mut self, exit_status: i64) -> Vec<u8> {
        let payload = write_end(exit_status, self.totals.iter().map(|totals| totals.accesses).sum());
        self.chunk(ChunkKind::End, &payload);
        self.bytes
    }

    /// What has been written since the last call, for a log that is larger than memory; `close` gives the rest.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The log as it is, without an end.
    pub fn cut_off(self) -> Vec<u8> {
        self.bytes
    }
}

fn accesses(launch: u32, block: u64, (stream, part): (u64, u64), segments: &[Segment]) -> Vec<u8> {
    let mut shapes: Vec<Shape> = segments.iter().flat_map(|segment| &segment.accesses).map(|access| access.0).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let count: usize = segments.iter().map(|segment| segment.accesses.len()).sum();
    let syncs = |segment: &Segment| (segment.epochs.grid, segment.epochs.block - segment.epochs.shared_only);
    let least = segments.iter().map(syncs).min().unwrap_or_default();
    let continued = (part > 0).then_some(least);
    let head = AccessesHead { launch, stream, part, continued, accesses: count as u64, shapes };
    let mut out = head.write();
    steps(&mut out, block, &head.shapes, segments);
    out
}

fn steps(out: &mut Vec<u8>, block: u64, shapes: &[Shape], segments: &[Segment]) {
    put(out, to_zigzag(block) << 3 | 7);
    let mut told = Epochs::default();
    let mut last = vec![0u64; shapes.len()];
    let mut stride = vec![0u64; shapes.len()];
    for segment in segments.iter().filter(|segment| !segment.accesses.is_empty()) {
        put_syncs(out, told, segment.epochs);
        told = segment.epochs;
        put(out, u64::from(segment.thread) << 3 | 5);
        put(out, (segment.accesses.len() as u64) << 3 | 4);
        for (shape, offset) in &segment.accesses {
            let id = shapes.binary_search(shape).unwrap_or_default();
            let difference = offset.wrapping_sub(last[id].wrapping_add(stride[id]));
            put(out, (id as u64 + 1) << 2 | 2);
            put(out, to_zigzag(difference));
            stride[id] = stride[id].wrapping_add(difference);
            last[id] = *offset;
        }
    }
}

/// A shape, in the order in which tests name its parts.
pub fn shape(site: u32, kind: Kind, allocation: u32, bytes: u32) -> Shape {
    Shape { site, allocation, bytes, kind }
}
