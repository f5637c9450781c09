//! Conflicts of a launch whose threads hand over to each other by fences and atomics.
//!
//! Such a launch is checked as all others first, as if these ordered nothing. Only if that shows conflicts it is looked at
//! here: all its accesses are sorted by place, those of one place by the order in which they happened, and each is
//! compared with those before it that no later one stands for:
//! - a write stands for all that comes before it and happens before it, a read for earlier reads of its thread: what is
//!   unordered with those is unordered with it;
//! - the last atomic of a kind, and the last of another block, stand for those before, since all atomics of a cell have one
//!   order.
//!
//! So every byte at which something is unordered is found, with the pair of accesses nearest to each other. Memory is bounded
//! as elsewhere: places that are too many are looked at in slices, for each of which the launch is read again.
//!
//! Where atomics of one cell have different scopes, two that do not reach each other are told as a conflict unless
//! something but the order of that cell orders them.
//!
//! Deliberately absent: what orders ([`super::order`]).

use super::cell::access_kind;
use super::found::{Among, Found, Observed, Witness};
use super::order::Order;
use super::plan::Plan;
use super::{CheckError, Checking};
use crate::memory_model::clocks::Moment;
use crate::memory_model::{self, AccessKind, ByteRange, Level, Space, conflict, exempt, passed};
use crate::trace::format::accesses::Begins;
use crate::trace::format::bytes::Malformed;
use crate::trace::format::{AccessesHead, Kind, Run, Shape, Visitor};
use std::ops::Range;
use std::sync::PoisonError;

/// What a collected access takes, with what is needed beside it.
const ACCESS: u64 = 160;
/// After so many comparisons a place that has shown a conflict is left.
const ENOUGH: u64 = 1 << 20;

/// An access and all that orders it; sorted by where it is, then by when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    /// The block of shared memory, plus one.
    home: u64,
    start: u64,
    grid: u32,
    ticket: u64,
    block: u32,
    thread: u32,
    moment: Moment,
    site: u32,
    bytes: u32,
    kind: Kind,
}

impl Access {
    fn who(&self) -> (u32, u32) {
        (self.block, self.thread)
    }

    fn end(&self) -> u64 {
        self.start + u64::from(self.bytes)
    }

    fn touched(&self) -> (AccessKind, ByteRange) {
        (access_kind(self.kind), ByteRange { start: self.start.into(), bytes: self.bytes })
    }

    fn level(&self, other: &Access) -> Level {
        if self.block == other.block {
            passed::level_of_group(passed::common_group(self.thread, other.thread))
        } else {
            Level::Grid
        }
    }
}

/// Checks a launch, given what its synchronisations order.
pub(super) fn launch(checking: &Checking<'_>, plan: &Plan<'_>, order: &Order) -> Result<Found, CheckError> {
    let mut found = Found::default();
    let mut open = vec![plan.places()];
    while let Some(window) = open.pop() {
        let is_smallest = window.end - window.start <= 1;
        let limit = if is_smallest { usize::MAX } else { (checking.budget.share / ACCESS) as usize };
        let window_here = window.clone();
        let (shapes, all) = (Vec::new(), Vec::new());
        let mut gatherer = Gatherer { plan, order, window: window_here, limit, shapes, block: 0, all };
        if gatherer.read(checking)? {
            sweep(&mut gatherer.all, plan, order, &window, &mut found);
        } else {
            let middle = window.start + (window.end - window.start) / 2;
            open.extend([middle..window.end, window.start..middle]);
        }
    }
    Ok(found)
}

struct Gatherer<'a> {
    plan: &'a Plan<'a>,
    order: &'a Order,
    window: Range<u64>,
    limit: usize,
    /// Of the chunk: which shapes matter, as positions in the plan.
    shapes: Vec<Option<(Shape, usize)>>,
    block: u64,
    all: Vec<Access>,
}

impl Gatherer<'_> {
    /// Says whether all fits into memory.
    fn read(&mut self, checking: &Checking<'_>) -> Result<bool, CheckError> {
        for place in self.plan.chains.iter().flatten() {
            let payload = {
                let mut file = checking.file.lock().unwrap_or_else(PoisonError::into_inner);
                place.payload(&mut *file).map_err(CheckError::Read)?
            };
            let (head, steps) = AccessesHead::read(&payload).map_err(|_| CheckError::Changed)?;
            let watch = |shape: &Shape| Some((*shape, *self.plan.by_allocation.get(&shape.allocation)?));
            self.shapes = head.shapes.iter().map(watch).collect();
            head.visit(steps, self).map_err(|_| CheckError::Changed)?;
            if self.all.len() > self.limit {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn relieve(&mut self) {
        self.all.sort_unstable();
        self.all.dedup();
    }
}

impl Visitor for Gatherer<'_> {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        if self.all.len() > self.limit {
            return Ok(());
        }
        let moment = Moment { phase: run.epochs.block, steps: run.epochs.synchronised };
        let block = self.block as u32;
        for number in 0..run.count {
            let thread = run.thread + number as u32 * run.step;
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let Some((Shape { site, bytes, kind, .. }, at)) = self.shapes[shape as usize] else { continue };
                let watched = &self.plan.watched[at];
                let offset = offset.wrapping_add(stride.wrapping_mul(number));
                let end = offset + u64::from(bytes);
                let start = watched.place(offset);
                let is_written = offset < watched.written.end && end > watched.written.start;
                if !is_written || start >= self.window.end || start + u64::from(bytes) <= self.window.start {
                    continue;
                }
                let home = if watched.space == Space::Shared { self.block + 1 } else { 0 };
                let ticket = match kind {
                    Kind::Read | Kind::Write => self.order.ticket((block, thread), moment),
                    _ => self.order.ticket_of_atomic((block, thread), moment),
                };
                let grid = run.epochs.grid;
                self.all.push(Access { home, start, grid, ticket, block, thread, moment, site, bytes, kind });
            }
        }
        if self.all.len() > self.limit {
            self.relieve();
        }
        Ok(())
    }
}

/// Sweeps what was collected, cluster by cluster.
fn sweep(all: &mut Vec<Access>, plan: &Plan<'_>, order: &Order, window: &Range<u64>, found: &mut Found) {
    all.sort_unstable();
    all.dedup();
    let mut rest = &all[..];
    while !rest.is_empty() {
        let (mut end, mut length) = (rest[0].end(), 1);
        while let Some(next) = rest.get(length)
            && next.home == rest[0].home
            && next.start < end
        {
            end = end.max(next.end());
            length += 1;
        }
        let (cluster, others) = rest.split_at(length);
        rest = others;
        let writes = cluster.iter().any(|access| access.kind != Kind::Read);
        if writes && cluster.iter().any(|access| access.who() != cluster[0].who()) {
            stretches(cluster, plan, order, &plan.within(window, cluster[0].end()), found);
        }
    }
}

/// Judges each stretch of a cluster that the same accesses touch.
fn stretches(cluster: &[Access], plan: &Plan<'_>, order: &Order, window: &Range<u64>, found: &mut Found) {
    let mut bounds: Vec<u64> = cluster.iter().flat_map(|access| [access.start, access.end()]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut active: Vec<Access> = Vec::new();
    let mut next = 0;
    for stretch in bounds.windows(2) {
        active.retain(|access| access.end() > stretch[0]);
        while next < cluster.len() && cluster[next].start <= stretch[0] {
            active.push(cluster[next]);
            next += 1;
        }
        let (start, end) = (stretch[0].max(window.start), stretch[1].min(window.end));
        if start < end && active.len() > 1 {
            active.sort_unstable_by_key(|access| {
                (access.grid, access.ticket, access.block, access.thread, access.moment)
            });
            let mut judged = Judged {
                plan,
                order,
                place: start,
                bytes: end - start,
                found,
                counted: Vec::new(),
                compared: 0,
                writes: Vec::new(),
                reads: Vec::new(),
                atomics: Vec::new(),
            };
            for access in &active {
                if judged.compared > ENOUGH && !judged.counted.is_empty() {
                    break;
                }
                judged.judge(access);
            }
        }
    }
}

/// What has been said about a stretch of bytes, and the accesses that stand for all so far.
struct Judged<'a> {
    plan: &'a Plan<'a>,
    order: &'a Order,
    place: u64,
    bytes: u64,
    found: &'a mut Found,
    counted: Vec<([u32; 2], Among)>,
    compared: u64,
    writes: Vec<Access>,
    reads: Vec<Access>,
    /// The last atomics of each kind and the last of another block, and their numbers among all.
    atomics: Vec<(u64, Access)>,
}

impl Judged<'_> {
    fn is_before(&self, one: &Access, other: &Access) -> bool {
        // What an acquiring atomic sees happens before it.
        let steps = other.moment.steps + u32::from(!matches!(other.kind, Kind::Read | Kind::Write));
        let then = Moment { steps, ..other.moment };
        one.grid < other.grid || self.order.is_before((one.who(), one.moment), (other.who(), then))
    }

    /// Whether an atomic is before an access, or another one that comes after it and is before the access.
    fn is_overtaken(&self, (number, atomic): &(u64, Access), access: &Access) -> bool {
        let is_seen = |(later, other): &(u64, Access)| {
            later >= number
                && exempt(atomic.touched(), other.touched(), atomic.level(other))
                && (other.who() == access.who() || self.is_before(other, access))
        };
        self.atomics.iter().any(is_seen)
    }

    fn judge(&mut self, access: &Access) {
        let is_read = access.kind == Kind::Read;
        let mut unordered: Vec<Access> = Vec::new();
        unordered.extend(self.writes.iter().filter(|one| !self.is_before(one, access)));
        if !is_read {
            unordered.extend(self.reads.iter().filter(|one| !self.is_before(one, access)));
        }
        self.compared += (self.writes.len() + self.atomics.len() + if is_read { 0 } else { self.reads.len() }) as u64;
        let of_atomics = self.atomics.iter().filter(|one| {
            conflict(one.1.touched(), access.touched(), one.1.level(access)) && !self.is_overtaken(one, access)
        });
        unordered.extend(of_atomics.map(|one| one.1));
        for one in unordered {
            self.tell(&one, access);
        }
        self.keep(access);
    }

    fn keep(&mut self, access: &Access) {
        match access.kind {
            Kind::Read => {
                if self.reads.last().is_some_and(|last| last.who() == access.who() && last.site == access.site) {
                    self.reads.pop();
                }
                self.reads.push(*access);
            }
            Kind::Write => {
                let (reads, writes) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.writes));
                self.reads = reads.into_iter().filter(|one| !self.is_before(one, access)).collect();
                self.writes = writes.into_iter().filter(|one| !self.is_before(one, access)).collect();
                self.writes.push(*access);
            }
            _ => {
                let number = self.atomics.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
                let alike = |other: &Access| {
                    (other.site, other.start, other.bytes, other.kind)
                        == (access.site, access.start, access.bytes, access.kind)
                        && exempt(other.touched(), access.touched(), other.level(access))
                };
                // An atomic of the last one's block conflicts with others where it does not conflict with that one.
                let elsewhere = self.atomics.iter().filter(|(_, other)| alike(other) && other.block != access.block);
                let elsewhere = elsewhere.max_by_key(|(number, _)| *number).copied();
                self.atomics.retain(|(_, other)| !alike(other));
                self.atomics.extend(elsewhere);
                self.atomics.push((number, *access));
            }
        }
    }

    fn tell(&mut self, one: &Access, other: &Access) {
        let level = one.level(other);
        let watched = self.plan.watched_at(self.place);
        let is_met = memory_model::may_meet(watched.space, level);
        if one.who() == other.who() || !is_met || !conflict(one.touched(), other.touched(), level) {
            return;
        }
        let observed = |access: &Access| Observed {
            block: access.block.into(),
            thread: access.thread,
            site: access.site,
            kind: access.kind,
            offset: watched.offset(access.start),
            bytes: access.bytes,
        };
        let mut accesses = [observed(one), observed(other)];
        accesses.sort_unstable();
        let witness = Witness {
            launch: self.plan.id,
            allocation: watched.allocation,
            byte: watched.offset(self.place),
            accesses,
        };
        let key = ([one.site.min(other.site), one.site.max(other.site)], super::found::among(level));
        let bytes = if self.counted.contains(&key) { 0 } else { self.bytes };
        if bytes > 0 {
            self.counted.push(key);
        }
        self.found.add(level, bytes, witness);
    }
}
