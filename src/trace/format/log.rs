//! A whole log but its accesses: launches, allocations, sites, where the accesses are, and what is missing.

use super::accesses::{AccessesHead, Begins, Run, Visitor};
use super::bytes::{Cursor, Malformed};
use super::chunk::{Chunk, ChunkKind, Chunks, HeadError, Next};
use super::{Allocation, Kind, Launch, Shard, Site, Space, Totals, sites, synchronisations, totals};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{self, Read, Seek};
use std::ops::Range;

/// Everything in a log but the accesses themselves.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Bytes of the file.
    pub bytes: u64,
    /// What part of a log it is, if it is not a whole one.
    pub shard: Option<Shard>,
    /// Sites by number.
    pub sites: BTreeMap<u32, Site>,
    /// Launches by number.
    pub launches: BTreeMap<u32, Launch>,
    /// Allocations by number.
    pub allocations: BTreeMap<u32, Allocation>,
    /// The chunks of accesses, in the order of the file.
    pub chunks: Vec<ChunkPlace>,
    /// The chunks of synchronisations, in the order of the file.
    pub synchronisations: Vec<ChunkPlace>,
    /// What each launch does with each allocation.
    pub uses: BTreeMap<(u32, u32), Use>,
    /// Places of device code that are not logged, as lines for the user.
    pub left_out: Vec<String>,
    /// Exit status of the program, if the log has its end marker.
    pub exit_status: Option<i64>,
    /// Everything that makes the log incomplete; empty for a complete one.
    pub problems: Vec<Problem>,
}

/// Where a chunk of accesses or of synchronisations is; these have no streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPlace {
    /// First byte of its payload in the file.
    pub start: u64,
    /// Bytes of its payload.
    pub bytes: u32,
    /// Its launch.
    pub launch: u32,
    /// Its stream.
    pub stream: u64,
    /// Its number in the stream.
    pub part: u64,
    /// See [`AccessesHead::continued`].
    pub continued: Option<(u32, u32)>,
    /// Number of accesses, or of synchronisations.
    pub accesses: u64,
}

/// What a launch does with an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Smallest range that holds all bytes read.
    pub read: Option<Range<u64>>,
    /// Smallest range that holds all bytes written, atomically or not.
    pub written: Option<Range<u64>>,
    /// Number of accesses by kind, in the order of [`Kind::ALL`].
    pub accesses: [u64; 8],
    /// Bytes of the largest access.
    pub largest: u32,
}

impl Use {
    fn add(&mut self, kind: Kind, range: Range<u64>, count: u64) {
        let hull = if kind.only_reads() { &mut self.read } else { &mut self.written };
        *hull = Some(joined(hull.take(), range));
        self.accesses[kind as usize] += count;
    }

    fn join(&mut self, other: &Use) {
        for (hull, more) in [(&mut self.read, &other.read), (&mut self.written, &other.written)] {
            if let Some(more) = more {
                *hull = Some(joined(hull.take(), more.clone()));
            }
        }
        for (count, more) in self.accesses.iter_mut().zip(other.accesses) {
            *count += more;
        }
        self.largest = self.largest.max(other.largest);
    }
}

fn joined(hull: Option<Range<u64>>, range: Range<u64>) -> Range<u64> {
    hull.map_or(range.clone(), |hull| hull.start.min(range.start)..hull.end.max(range.end))
}

/// Something that makes a log incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no end marker.
    #[error("the log is cut off: the program was killed, crashed, or ran out of disk space before it ended")]
    CutOff,
    /// Bytes that are no whole chunk.
    #[error("{bytes} bytes at byte {start} are damaged or cut off")]
    Damage {
        /// Where.
        start: u64,
        /// How many.
        bytes: u64,
    },
    /// Chunks that are not there.
    #[error("chunks {first} to {last} are missing")]
    Missing {
        /// Number of the first.
        first: u64,
        /// Number of the last.
        last: u64,
    },
    /// A chunk whose number came before.
    #[error("chunk {0} stands in the wrong place")]
    Misplaced(u64),
    /// Chunks after the end marker.
    #[error("the log goes on at byte {0}, after its end")]
    AfterEnd(u64),
    /// A chunk that breaks the format.
    #[error("the chunk at byte {start} is not understood: {reason}")]
    Malformed {
        /// Where.
        start: u64,
        /// Why.
        reason: Malformed,
    },
    /// A block that began twice, so that parts of it are not compared with each other.
    #[error("block {block} of launch {launch} is told twice")]
    RepeatedBlock {
        /// The launch.
        launch: u32,
        /// The block.
        block: u64,
    },
    /// A launch that did not end.
    #[error("launch {launch} of {kernel} did not finish")]
    Unfinished {
        /// The launch.
        launch: u32,
        /// Its kernel.
        kernel: String,
    },
    /// A launch of which not all blocks or accesses are in the log.
    #[error("launch {launch} of {kernel} made {} accesses in {} blocks, and the log has {} in {}",
        .made.accesses, .made.blocks, .found.accesses, .found.blocks)]
    Lost {
        /// The launch.
        launch: u32,
        /// Its kernel.
        kernel: String,
        /// What the program counted.
        made: Totals,
        /// What is in the log.
        found: Totals,
    },
    /// Threads that hand over to each other too often for all of it to be in the log.
    #[error(
        "threads of launch {launch} of {kernel} synchronise {made} times by fences, atomics and barriers, of which the \
        log has {}; conflicts are told as if fences and atomics ordered nothing",
        synchronisations::MOST
    )]
    TooManySynchronisations {
        /// The launch.
        launch: u32,
        /// Its kernel.
        kernel: String,
        /// How many there were.
        made: u64,
    },
    /// Accesses to an allocation that the log does not tell.
    #[error("accesses to allocation {0} are not checked: what it is has been lost")]
    UnknownAllocation(u32),
    /// A line of the site table that is not understood.
    #[error("line {line} of a table of sites is not understood")]
    SiteTable {
        /// The line.
        line: usize,
    },
    /// Units of the program, memory, or all of it, that nobody logged.
    #[error("{0}")]
    LeftOut(String),
    /// Two sites with one number.
    #[error("site {0} is two places in the source")]
    AmbiguousSite(u32),
}

/// Reads all of a log but the accesses, which are checked for their form. Uses the threads of the current pool.
pub fn read_log(from: impl Read + Seek) -> Result<Log, HeadError> {
    let mut chunks = Chunks::new(from)?;
    let mut reading = Reading { log: Log { bytes: chunks.length(), ..Log::default() }, ..Reading::default() };
    let mut waiting: Vec<Chunk> = Vec::new();
    loop {
        let next = chunks.next()?;
        match next {
            Next::Chunk(chunk) if chunk.kind == ChunkKind::Accesses => {
                reading.number(&chunk);
                waiting.push(chunk);
                if waiting.len() >= 4 * rayon::current_num_threads() {
                    reading.take_accesses(&mut waiting);
                }
            }
            Next::Chunk(chunk) => {
                reading.take_accesses(&mut waiting);
                reading.number(&chunk);
                reading.take(&chunk);
            }
            Next::Damage { start, bytes } => {
                reading.take_accesses(&mut waiting);
                reading.log.problems.push(Problem::Damage { start, bytes });
            }
            Next::End => {
                reading.take_accesses(&mut waiting);
                return Ok(reading.finish());
            }
        }
    }
}

/// A log of which some chunks have been read.
#[derive(Default)]
struct Reading {
    log: Log,
    ordinal: u64,
    /// Of each launch, the blocks that have begun (64 to a word), and what was found.
    begun: FxHashMap<u32, (FxHashMap<u64, u64>, Totals)>,
    is_ended: bool,
}

impl Reading {
    fn number(&mut self, chunk: &Chunk) {
        if self.is_ended {
            self.log.problems.push(Problem::AfterEnd(chunk.start));
        }
        if chunk.ordinal > self.ordinal {
            self.log.problems.push(Problem::Missing { first: self.ordinal, last: chunk.ordinal - 1 });
        } else if chunk.ordinal < self.ordinal {
            self.log.problems.push(Problem::Misplaced(chunk.ordinal));
        }
        self.ordinal = self.ordinal.max(chunk.ordinal.saturating_add(1));
    }

    fn take(&mut self, chunk: &Chunk) {
        let mut cursor = Cursor::new(&chunk.payload);
        let taken = match chunk.kind {
            ChunkKind::Sites => self.sites(&mut cursor),
            ChunkKind::Launch => self.launch(&mut cursor),
            ChunkKind::Allocation => self.allocation(&mut cursor),
            ChunkKind::Release => cursor.small().map(drop),
            ChunkKind::Finished => self.finished(&mut cursor),
            ChunkKind::End => self.end(&mut cursor),
            ChunkKind::Synchronisations => {
                let taken = self.synchronisations(chunk);
                cursor = Cursor::new(&[]);
                taken
            }
            ChunkKind::Shard => self.shard(chunk.ordinal, &mut cursor),
            ChunkKind::LeftOut => self.left_out(&mut cursor),
            ChunkKind::Accesses => Ok(()),
        };
        if let Err(reason) = taken.and_then(|()| cursor.end()) {
            self.log.problems.push(Problem::Malformed { start: chunk.start, reason });
        }
    }

    fn shard(&mut self, ordinal: u64, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if ordinal != 0 {
            return Err(Malformed("a log turns into a shard"));
        }
        self.log.shard = Some(Shard::read(cursor)?);
        Ok(())
    }

    fn left_out(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (is_incomplete, what) = (cursor.number()?, cursor.text()?);
        match is_incomplete {
            0 => self.log.left_out.push(what),
            1 => self.log.problems.push(Problem::LeftOut(what)),
            _ => return Err(Malformed("what is left out has no known extent")),
        }
        Ok(())
    }

    fn sites(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (sites, refused) = sites::parse(&cursor.text()?);
        self.log.problems.extend(refused.into_iter().map(|line| Problem::SiteTable { line }));
        for site in sites {
            let known = self.log.sites.entry(site.id).or_insert_with(|| site.clone());
            if *known != site {
                self.log.problems.push(Problem::AmbiguousSite(site.id));
            }
        }
        Ok(())
    }

    fn launch(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let id = cursor.small()?;
        let grid = [cursor.small()?, cursor.small()?, cursor.small()?];
        let block = [cursor.small()?, cursor.small()?, cursor.small()?];
        let (dynamic_shared, kernel, arguments) = (cursor.number()?, cursor.text()?, cursor.text()?);
        let arguments = arguments.lines().filter_map(|line| line.split_once('='));
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let launch = Launch { kernel, grid, block, dynamic_shared, arguments, finished: None };
        if self.log.launches.insert(id, launch).is_some() {
            return Err(Malformed("a launch begins twice"));
        }
        Ok(())
    }

    fn allocation(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (id, base, bytes) = (cursor.small()?, cursor.number()?, cursor.number()?);
        let space =
            Space::ALL.get(cursor.number()? as usize).copied().ok_or(Malformed("an allocation has no known space"))?;
        let allocation = Allocation { base, bytes, space, name: cursor.text()? };
        if self.log.allocations.insert(id, allocation).is_some() {
            return Err(Malformed("an allocation begins twice"));
        }
        Ok(())
    }

    fn finished(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (id, made) = totals::read_finished(cursor)?;
        let launch = self.log.launches.get_mut(&id).ok_or(Malformed("a launch ends that never began"))?;
        if launch.finished.replace(made).is_some() {
            return Err(Malformed("a launch ends twice"));
        }
        // The set of blocks is not needed any more.
        if let Some((blocks, _)) = self.begun.get_mut(&id) {
            *blocks = FxHashMap::default();
        }
        Ok(())
    }

    fn end(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (status, accesses) = totals::read_end(cursor)?;
        self.is_ended = true;
        let made: u64 =
            self.log.launches.values().filter_map(|launch| launch.finished).map(|totals| totals.accesses).sum();
        if self.log.exit_status.replace(status).is_some() || made != accesses {
            return Err(Malformed("the end does not fit what is before"));
        }
        Ok(())
    }

    fn synchronisations(&mut self, chunk: &Chunk) -> Result<(), Malformed> {
        let (launch, all) = synchronisations::read(&chunk.payload)?;
        let extents = self.log.launches.get(&launch).ok_or(Malformed("the beginning of its launch has been lost"))?;
        let (blocks, threads) = (extents.blocks(), extents.threads());
        if all.iter().any(|one| one.block >= blocks || u64::from(one.thread) >= threads) {
            return Err(Malformed("a thread lies outside the launch"));
        }
        let accesses = all.len() as u64;
        self.begun.entry(launch).or_default().1.synchronisations += accesses;
        let (start, bytes) = (chunk.start, chunk.payload.len() as u32);
        self.log.synchronisations.push(ChunkPlace {
            start,
            bytes,
            launch,
            stream: 0,
            part: 0,
            continued: None,
            accesses,
        });
        Ok(())
    }

    /// Checks the form of these chunks and notes what they hold.
    fn take_accesses(&mut self, chunks: &mut Vec<Chunk>) {
        let launches = &self.log.launches;
        let surveys: Vec<_> = chunks.par_iter().map(|chunk| survey(chunk, launches)).collect();
        for (chunk, survey) in chunks.drain(..).zip(surveys) {
            match survey {
                Ok(survey) => self.take_survey(&chunk, &survey),
                Err(reason) => self.log.problems.push(Problem::Malformed { start: chunk.start, reason }),
            }
        }
    }

    fn take_survey(&mut self, chunk: &Chunk, survey: &Survey) {
        let AccessesHead { launch, stream, part, continued, accesses, .. } = survey.head;
        let (begun, found) = self.begun.entry(launch).or_default();
        found.accesses += accesses;
        found.blocks += survey.begun.len() as u64;
        let is_finished = self.log.launches[&launch].finished.is_some();
        for &block in &survey.begun {
            let word = begun.entry(block / 64).or_default();
            if *word >> (block % 64) & 1 == 1 || is_finished {
                self.log.problems.push(Problem::RepeatedBlock { launch, block });
            }
            *word |= 1 << (block % 64);
        }
        for (shape, used) in survey.head.shapes.iter().zip(&survey.uses) {
            self.log.uses.entry((launch, shape.allocation)).or_default().join(used);
        }
        let bytes = chunk.payload.len() as u32;
        self.log.chunks.push(ChunkPlace { start: chunk.start, bytes, launch, stream, part, continued, accesses });
    }

    fn finish(mut self) -> Log {
        for (&id, launch) in &self.log.launches {
            let found = self.begun.get(&id).map(|(_, found)| *found).unwrap_or_default();
            let kernel = launch.kernel.clone();
            match launch.finished {
                None => self.log.problems.push(Problem::Unfinished { launch: id, kernel }),
                Some(Totals { synchronisations: made, .. }) if made > synchronisations::MOST => {
                    self.log.problems.push(Problem::TooManySynchronisations { launch: id, kernel, made });
                }
                Some(made) if made != found => {
                    self.log.problems.push(Problem::Lost { launch: id, kernel, made, found });
                }
                Some(_) => {}
            }
        }
        let used: std::collections::BTreeSet<u32> = self.log.uses.keys().map(|&(_, allocation)| allocation).collect();
        let unknown = used.into_iter().filter(|id| !self.log.allocations.contains_key(id));
        self.log.problems.extend(unknown.map(Problem::UnknownAllocation));
        if self.log.exit_status.is_none() {
            self.log.problems.insert(0, Problem::CutOff);
        }
        self.log
    }
}

/// What a chunk of accesses holds.
struct Survey {
    head: AccessesHead,
    /// Extents of the launch.
    blocks: u64,
    threads: u64,
    begun: Vec<u64>,
    /// For each shape.
    uses: Vec<Use>,
}

fn survey(chunk: &Chunk, launches: &BTreeMap<u32, Launch>) -> Result<Survey, Malformed> {
    let (head, steps) = AccessesHead::read(&chunk.payload)?;
    let launch = launches.get(&head.launch).ok_or(Malformed("the beginning of its launch has been lost"))?;
    let uses = vec![Use::default(); head.shapes.len()];
    let (blocks, threads) = (launch.blocks(), launch.threads());
    let mut survey = Survey { head: head.clone(), blocks, threads, begun: Vec::new(), uses };
    head.visit(steps, &mut survey)?;
    Ok(survey)
}

impl Visitor for Survey {
    fn block(&mut self, block: u64, begins: Begins) -> Result<(), Malformed> {
        if block >= self.blocks {
            return Err(Malformed("a block lies outside the grid"));
        }
        if begins == Begins::Here {
            self.begun.push(block);
        }
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        let last = run.count - 1;
        if u64::from(run.thread) + last * u64::from(run.step) >= self.threads {
            return Err(Malformed("a thread lies outside the block"));
        }
        for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
            let Some(used) = self.uses.get_mut(shape as usize) else { continue };
            let shape = self.head.shapes[shape as usize];
            let end = offset.wrapping_add(stride.wrapping_mul(last));
            let range = offset.min(end)..offset.max(end) + u64::from(shape.bytes);
            used.add(shape.kind, range, run.count);
            used.largest = used.largest.max(shape.bytes);
        }
        Ok(())
    }
}

impl ChunkPlace {
    /// The payload, from the file that the log was read from.
    pub fn payload(&self, from: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
        let mut payload = vec![0; self.bytes as usize];
        from.seek(io::SeekFrom::Start(self.start))?;
        from.read_exact(&mut payload)?;
        Ok(payload)
    }
}
