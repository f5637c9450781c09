//! What a run logs and what raceproof's own semantics do are the same accesses.
//!
//! A launch whose accesses do not depend on what memory holds is run in the executable semantics, too. Each thread must
//! read, write and update the same bytes on the same lines: what lowering forgets is missing there, what instrumenting
//! forgets is missing in the log. Offsets are compared up to where an array begins, and where several arrays are accessed
//! on one line, only that they are.

use raceproof::calculus::eval::{History, Kind, Program, Setup, run};
use raceproof::calculus::{Among, ArrayId, HavocReason, Kernel, Space, Stmt};
use raceproof::source::SourceMap;
use raceproof::trace::format::accesses::Begins;
use raceproof::trace::format::bytes::Malformed;
use raceproof::trace::format::{self, AccessesHead, Log, Run, Shape, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// Accesses of a launch that are looked at.
const MOST: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Does {
    Read,
    Write,
    Update,
}

/// What happens on a line.
type Line = (u32, Does);

/// Bytes, by block and thread.
type ByThread = BTreeMap<(u64, u32), BTreeSet<i64>>;

/// Bytes of arrays or allocations that are accessed on a line.
type Touched<M> = BTreeMap<Line, BTreeMap<M, ByThread>>;

fn note<M: Ord>(all: &mut Touched<M>, line: Line, memory: M, who: (u64, u32), (offset, bytes): (i64, u32)) {
    let touched = all.entry(line).or_default().entry(memory).or_default().entry(who).or_default();
    touched.extend(offset..offset + i64::from(bytes));
}

/// Whether threads wait for each other at objects, or copy together what nothing says who copies: logs tell what that
/// orders, and the model takes every thread to copy all.
fn shares_work(kernel: &Kernel) -> bool {
    let mut bodies: Vec<&[Stmt]> = vec![&kernel.body];
    while let Some(body) = bodies.pop() {
        for stmt in body {
            match stmt {
                Stmt::Sync { among: Among::Arrivals(_) | Among::Counted | Among::Named(_), .. } => return true,
                Stmt::Havoc { reason: HavocReason::Implementation(_), .. } => return true,
                Stmt::Havoc { reason: HavocReason::Call(name), .. } if name.contains("arrive") => return true,
                Stmt::If { then, otherwise, .. } => bodies.extend([then.as_slice(), otherwise]),
                Stmt::For(counted) => bodies.push(&counted.body),
                Stmt::Loop { body, .. } => bodies.push(body),
                _ => {}
            }
        }
    }
    false
}

/// What raceproof says that a launch does; `None` if it does not know all.
fn said(kernel: &Kernel, sources: &SourceMap, setup: &Setup<'_>) -> Option<Touched<ArrayId>> {
    let mut history = History::default();
    let outcome = run(&Program::new(kernel), setup, &mut history);
    if !outcome.finished || outcome.inexact || !kernel.unsupported.is_empty() || shares_work(kernel) {
        return None;
    }
    let mut all = Touched::new();
    for event in history.accesses.iter().map(|recorded| recorded.event) {
        let does = match event.kind {
            Kind::Read => Does::Read,
            Kind::Write => Does::Write,
            Kind::Atomic { .. } => Does::Update,
        };
        let line = sources.start_position(kernel.sites[event.site].span?).line;
        let who = (u64::from(event.thread.block), event.thread.thread);
        note(&mut all, (line, does), event.array, who, (event.offset?, event.bytes));
    }
    Some(all)
}

/// Takes what one launch has logged.
struct Reader<'a> {
    log: &'a Log,
    shapes: Vec<Shape>,
    block: u64,
    all: Touched<u32>,
}

impl Visitor for Reader<'_> {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        for index in 0..run.count {
            let thread = run.thread + run.step * index as u32;
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let shape = self.shapes[shape as usize];
                let offset = offset.wrapping_add(stride.wrapping_mul(index)) as i64;
                let does = match shape.kind {
                    format::Kind::Read => Does::Read,
                    format::Kind::Write => Does::Write,
                    _ => Does::Update,
                };
                let line = self.log.sites[&shape.site].start.0;
                note(&mut self.all, (line, does), shape.allocation, (self.block, thread), (offset, shape.bytes));
            }
        }
        Ok(())
    }
}

fn logged(path: &Path, log: &Log, launch: u32) -> Option<Touched<u32>> {
    let mut file = File::open(path).ok()?;
    let mut reader = Reader { log, shapes: Vec::new(), block: 0, all: Touched::new() };
    let chunks = log.chunks.iter().filter(|chunk| chunk.launch == launch);
    if chunks.clone().map(|chunk| chunk.accesses).sum::<u64>() > MOST {
        return None;
    }
    for chunk in chunks {
        let payload = chunk.payload(&mut file).ok()?;
        let (head, steps) = AccessesHead::read(&payload).ok()?;
        reader.shapes.clone_from(&head.shapes);
        head.visit(steps, &mut reader).ok()?;
    }
    Some(reader.all)
}

/// How a log differs from what raceproof says of the launch; whether there is nothing to compare.
pub(super) fn difference(
    (kernel, sources): (&Kernel, &SourceMap),
    setup: &Setup<'_>,
    (path, log, launch): (&Path, &Log, u32),
) -> Compared {
    let Some(said) = said(kernel, sources, setup) else { return Compared::NotKnown };
    let Some(logged) = logged(path, log, launch) else { return Compared::NotKnown };
    let lines: BTreeSet<Line> = said.keys().chain(logged.keys()).copied().collect();
    let differs = lines.into_iter().find_map(|line| {
        let what = match (said.get(&line), logged.get(&line)) {
            (Some(arrays), Some(allocations)) => of_line(kernel, arrays, allocations)?,
            (said, _) => format!("only in the {}", if said.is_some() { "model" } else { "log" }),
        };
        Some(format!("line {}: {:?}: {what}", line.0, line.1))
    });
    differs.map_or(Compared::Same, Compared::Differs)
}

/// What comes of a comparison.
pub(super) enum Compared {
    /// The launch depends on what memory holds, or is large.
    NotKnown,
    Same,
    Differs(String),
}

fn of_line(
    kernel: &Kernel,
    arrays: &BTreeMap<ArrayId, ByThread>,
    allocations: &BTreeMap<u32, ByThread>,
) -> Option<String> {
    if arrays.len() > 1 || allocations.len() > 1 {
        return None;
    }
    let ((&array, ours), (_, theirs)) = (arrays.first_key_value()?, allocations.first_key_value()?);
    let least = |all: &ByThread| all.values().filter_map(|all| all.first().copied()).min();
    let shift = least(theirs)? - least(ours)?;
    let ours: ByThread = ours.iter().map(|(&who, all)| (who, all.iter().map(|byte| byte + shift).collect())).collect();
    // Offsets in a cluster's memory are those in the memory of one of its blocks, and the block's number.
    let is_apart = kernel.arrays[array].space == Space::Distributed;
    let differs = |who: &&(u64, u32)| ours.get(*who) != theirs.get(*who);
    let who = ours.keys().chain(theirs.keys()).find(differs).filter(|_| !is_apart)?;
    Some(format!("thread {who:?}: bytes {:?} in the model, {:?} in the log", ours.get(who), theirs.get(who)))
}
