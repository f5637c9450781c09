//! The log of a run on disk, and what is told besides, whoever launches the kernels.
//!
//! Guarantees: whatever becomes of the run, what was written is a log; it has no end unless [`Log::close`] gave it one, and a
//! launch is not finished unless all that its kernel did is there. Nothing is told twice.

use super::counts::Parted;
use super::job::{Launch, Value};
use super::records::{Divergence, Group, Range, Ranges, Record, Seen, groups};
use crate::trace::format::write::{Segment, Writer};
use crate::trace::format::{self, Allocation, Space, sites};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops;
use std::path::Path;

/// Where the sizes of variables stand in the head of a device's log, by words.
pub(super) const VARIABLES: ops::Range<usize> = 200..256;
/// Where those of the program begin among them.
const OF_PROGRAM: usize = 28;
/// Accesses of one chunk of the log.
const CHUNK: usize = 1 << 18;

/// A place in the source: file and line; without a file there is none.
type Place = (String, u32);

/// The log, and what is told besides.
pub(super) struct Log {
    /// The log, and where it goes; nothing if nothing is logged.
    writer: Option<(Writer, File)>,
    report: File,
    told: BTreeSet<String>,
    /// Allocations so far, and where the next one lies.
    allocations: u32,
    next_base: u64,
    /// The allocation of each buffer.
    buffers: Vec<u32>,
    /// The number of the next site.
    next_site: u32,
    /// Launches that have begun in it.
    launches: u32,
}

/// Something to be told.
pub(super) enum Told<'a> {
    /// A kernel is launched.
    Launch(&'a Launch),
    /// A launch is not logged, or not to its end, for this reason.
    Unlogged(&'a str, &'a Place, String),
    /// A group of a launch with so many work-items in each parts before one of these barriers.
    Parted(&'a Launch, &'a [Place], &'a Parted, u64),
}

/// A launch that has begun in the log.
pub(super) struct Begun {
    id: u32,
    ranges: Ranges,
    /// Whether all that the launch did is in the log.
    is_whole: bool,
}

impl Log {
    /// A log at `path`, if one is wanted, and a report.
    pub(super) fn new(report: &Path, path: Option<&Path>) -> io::Result<Log> {
        let report = OpenOptions::new().create(true).append(true).open(report)?;
        let writer = match path {
            None => None,
            Some(path) => {
                let named = |cause: io::Error| io::Error::new(cause.kind(), format!("{}: {cause}", path.display()));
                Some((Writer::new(), File::create(path).map_err(named)?))
            }
        };
        let (told, buffers) = (BTreeSet::new(), Vec::new());
        Ok(Log { writer, report, told, allocations: 0, next_base: 1 << 20, buffers, next_site: 0, launches: 0 })
    }

    /// Whether there is one.
    pub(super) fn is_kept(&self) -> bool {
        self.writer.is_some()
    }

    /// Adds a table of sites behind those that are there; gives the number of its first one.
    pub(super) fn sites(&mut self, table: &str) -> io::Result<u32> {
        let first = self.next_site;
        let mut sites = sites::parse(table).0;
        self.next_site += sites.len() as u32;
        sites.iter_mut().for_each(|site| site.id += first);
        if let Some((writer, _)) = &mut self.writer {
            writer.sites(&sites);
        }
        self.flush().map(|()| first)
    }

    /// Adds a buffer; launches name it by its number, from 0.
    pub(super) fn buffer(&mut self, name: &str, bytes: u64) -> usize {
        let allocation = self.allocation(name, bytes, Space::Global);
        self.buffers.push(allocation);
        self.buffers.len() - 1
    }

    /// The allocation of a buffer.
    pub(super) fn allocation_of(&self, buffer: usize) -> u32 {
        self.buffers[buffer]
    }

    /// How many launches have begun in it.
    pub(super) fn launches(&self) -> u32 {
        self.launches
    }

    /// Addresses of a device are nobody's concern; those in the log only keep allocations apart.
    fn allocation(&mut self, name: &str, bytes: u64, space: Space) -> u32 {
        let base = self.next_base;
        self.next_base += bytes.next_multiple_of(4096) + 4096;
        self.allocations += 1;
        if let Some((writer, _)) = &mut self.writer {
            return writer.allocation(&Allocation { base, bytes, space, name: name.to_owned() });
        }
        self.allocations - 1
    }

    /// Tells something once.
    pub(super) fn tell(&mut self, told: &Told<'_>) -> io::Result<()> {
        match told {
            Told::Launch(launch) => self.line("launch", &launch.kernel, &launch.place, ""),
            Told::Unlogged(kernel, place, reason) => self.line("unlogged", kernel, place, reason),
            Told::Parted(launch, barriers, parted, items) => self.parted(launch, barriers, parted, *items),
        }
    }

    fn parted(&mut self, launch: &Launch, barriers: &[Place], parted: &Parted, items: u64) -> io::Result<()> {
        let [x, y, z] = parted.group;
        let [wide, high, _] = launch.extents.grid.map(u64::from);
        let number = x + wide * (y + high * z);
        let is_missing = |item: &u64| parted.missing.iter().any(|range| range[0] <= *item && *item <= range[1]);
        let comes = (0..items).find(|item| !is_missing(item));
        let (Some(comes), Some([missing, _])) = (comes, parted.missing.first()) else { return Ok(()) };
        let nowhere = (String::new(), 0);
        let place = barriers.get(parted.agreement).unwrap_or(&nowhere);
        let text = comes_without(comes, *missing, number);
        self.divergence(("divergence", &launch.kernel), place, &text)
    }

    /// Tells of a barrier once.
    fn divergence(&mut self, (kind, kernel): (&str, &str), place: &Place, text: &str) -> io::Result<()> {
        let is_new = self.told.insert(format!("{kind}\t{kernel}\t{}\t{}", place.0, place.1));
        if is_new { self.line(kind, kernel, place, text) } else { Ok(()) }
    }

    fn line(&mut self, kind: &str, kernel: &str, place: &Place, text: &str) -> io::Result<()> {
        let line = format!("{kind}\t{kernel}\t{}\t{}\t{text}\n", place.0, place.1);
        if self.told.insert(line.clone()) { self.report.write_all(line.as_bytes()) } else { Ok(()) }
    }

    /// Puts everything so far on disk.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Some((writer, file)) => file.write_all(&writer.take()).map_err(|cause| of_log(&cause)),
            None => Ok(()),
        }
    }

    /// Ends the log of a program that ended with this status.
    pub(super) fn close(mut self, status: i32) -> io::Result<()> {
        self.flush()?;
        match self.writer {
            Some((writer, mut file)) => file.write_all(&writer.close(status.into())).map_err(|cause| of_log(&cause)),
            None => Ok(()),
        }
    }

    /// Begins a launch: its allocations and itself. `variables` are their sizes as the device has written them; the sites of its
    /// records count from `first_site`.
    pub(super) fn begin(&mut self, of: &Launch, first_site: u32, variables: &[u64]) -> Begun {
        let mut ranges = Ranges { first_site, ..Ranges::default() };
        let mut arguments = Vec::new();
        let mut dynamic_shared = 0;
        for argument in &of.arguments {
            let text = match &argument.value {
                Value::Buffer { number, offset, first_byte } => {
                    let allocation = self.buffers[*number];
                    ranges.global.push(Range { allocation, first_byte: *first_byte });
                    format!("@{allocation}+{}", first_byte + offset)
                }
                Value::Null => {
                    ranges.global.push(Range::whole(self.allocation(&argument.name, 0, Space::Global)));
                    "null".to_owned()
                }
                Value::Local(bytes) => {
                    dynamic_shared += bytes;
                    ranges.local.push(Range::whole(self.allocation(&argument.name, *bytes, Space::Shared)));
                    continue;
                }
                Value::Bytes(_, text) => text.clone(),
            };
            arguments.push((argument.name.clone(), text));
        }
        let size = |at: usize| variables.get(at).copied().unwrap_or(0);
        for (at, name) in of.globals.iter().enumerate() {
            ranges.global.push(Range::whole(self.allocation(name, size(OF_PROGRAM + at), Space::Global)));
        }
        for (at, name) in of.locals.iter().enumerate() {
            ranges.local.push(Range::whole(self.allocation(name, size(at), Space::Shared)));
        }
        let kernel = of.kernel.clone();
        let launch = format::Launch {
            kernel,
            grid: of.extents.grid,
            block: of.extents.block,
            dynamic_shared,
            arguments,
            finished: None,
        };
        let id = self.writer.as_mut().map_or(0, |(writer, _)| writer.launch(&launch));
        self.launches = id + 1;
        Begun { id, ranges, is_whole: true }
    }

    /// Puts what the work-groups of a run did into the log. Barriers are where they stand in the source, by number.
    pub(super) fn keep(
        &mut self,
        begun: &mut Begun,
        launch: &Launch,
        barriers: &[Place],
        records: Vec<Record>,
    ) -> io::Result<()> {
        for group in groups(records, &begun.ranges, launch.extents) {
            begun.is_whole &= self.tell_group(launch, barriers, &group)?;
            if let Some((writer, _)) = &mut self.writer {
                writer.block(begun.id, group.number.into(), &parts(&group.segments));
            }
            self.flush()?;
        }
        Ok(())
    }

    /// Tells what went wrong in a work-group. False if what it did from there on is not in the log.
    fn tell_group(&mut self, launch: &Launch, barriers: &[Place], group: &Group) -> io::Result<bool> {
        let (kernel, nowhere) = (&launch.kernel, (String::new(), 0));
        for (site, what, bytes) in &group.outside {
            self.line("wild", kernel, &nowhere, &format!("{site}\t{what} of {bytes} bytes"))?;
        }
        let Some(Divergence { barrier, comes, parts, seen }) = group.divergence else { return Ok(true) };
        let place = barriers.get(barrier as usize).unwrap_or(&nowhere);
        let kind = if seen == Seen::NobodyCame { "unsupported" } else { "divergence" };
        let number = group.number;
        let text = match seen {
            Seen::Passed => {
                format!("work-item {comes} of work-group {number} passes this barrier and work-item {parts} does not")
            }
            Seen::Parted => comes_without(comes.into(), parts.into(), number.into()),
            Seen::NobodyCame => format!(
                "work-items {comes} and {parts} of work-group {number} that part at a branch around this barrier, to which \
                 neither comes"
            ),
        };
        self.divergence((kind, kernel), place, &text)?;
        Ok(seen == Seen::Passed)
    }

    /// Ends a launch all of which was handed over.
    pub(super) fn finish(&mut self, begun: &Begun) -> io::Result<()> {
        if let Some((writer, _)) = self.writer.as_mut().filter(|_| begun.is_whole) {
            writer.finished(begun.id);
        }
        self.flush()
    }
}

fn comes_without(comes: u64, missing: u64, group: u64) -> String {
    format!("work-item {comes} of work-group {group} comes to this barrier and work-item {missing} does not")
}

fn of_log(cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("the log: {cause}"))
}

/// Segments in chunks of bounded size.
fn parts(segments: &[Segment]) -> Vec<&[Segment]> {
    let mut parts = Vec::new();
    let (mut start, mut held) = (0, 0);
    for (at, segment) in segments.iter().enumerate() {
        if held + segment.accesses.len() > CHUNK && at > start {
            parts.push(&segments[start..at]);
            (start, held) = (at, 0);
        }
        held += segment.accesses.len();
    }
    parts.push(&segments[start..]);
    parts
}
