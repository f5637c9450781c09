//! Blocks and barriers: who runs, who waits, who is let go.

use super::arrivals::Objects;
use super::machine::{Machine, Place, Reported, Stop, ThreadState, note_phase};
use super::memory::Memory;
use super::program::{MEMORIES, OWN, Program, SyncShape};
use super::together::run_together;
use super::value::Value;
use super::{Blocks, Divergence, Run, Setup, Sink, Stamp, ThreadId, WARP, value};
use crate::calculus::{Geometry, Space, SyncMemory, SyncScope, arithmetic};
use crate::work::spend;

/// Runs `program` under `setup`; accesses go to `sink` as they happen.
pub fn run<S: Sink>(program: &Program, setup: &Setup<'_>, sink: &mut S) -> Run {
    let mut machine = new_machine(program, setup, sink);
    let finished = run_blocks(&mut machine);
    let unsettled = machine.reported.unsettled.iter().zip(&program.claims).filter(|(open, _)| **open);
    let unsettled = unsettled.map(|(_, site)| *site).collect();
    let mut run = machine.run;
    run.unsettled_claims = unsettled;
    run.finished = finished;
    run.steps = setup.budget - machine.fuel;
    spend(run.steps - machine.left);
    let wrapped = machine.wrapped.iter().enumerate().filter(|(_, wrapped)| **wrapped);
    run.wrapped = wrapped.map(|(index, _)| crate::calculus::ExprId::from_index(index)).collect();
    run.wrapped_loops.sort_unstable();
    run.wrapped_loops.dedup();
    run
}

fn new_machine<'a, S>(program: &'a Program, setup: &'a Setup<'a>, sink: &'a mut S) -> Machine<'a, S> {
    let mut registers = vec![Value::UNKNOWN; program.registers];
    for (index, &constant) in program.constants.iter().enumerate() {
        registers[program.variables.len() + index] = Value::known(constant);
    }
    for (index, ty) in program.params.iter().enumerate() {
        let value = setup.params.get(index).copied().flatten();
        registers[program.first_param() + index] =
            value.map_or(Value::UNKNOWN, |value| Value::known(arithmetic::wrap(value, *ty) as i64));
    }
    let geometry = program.first_geometry();
    for axis in 0..3 {
        registers[geometry + 6 + axis] = Value::known(i64::from(setup.geometry.block[axis]));
        registers[geometry + 9 + axis] = Value::known(i64::from(setup.geometry.grid[axis]));
    }
    Machine {
        program,
        setup,
        sink,
        registers,
        memory: Memory::default(),
        run: Run::default(),
        fuel: setup.budget,
        left: 0,
        wrapped: vec![false; program.exprs],
        reported: Reported {
            out_of_bounds: vec![false; program.sites],
            claims: vec![false; program.claims.len()],
            unsettled: vec![false; program.claims.len()],
        },
        visits: program.relations.iter().map(|_| Vec::new()).collect(),
    }
}

/// Runs the blocks, one after the other where they do not wait for each other. False if the run was cut off.
fn run_blocks<S: Sink>(machine: &mut Machine<'_, S>) -> bool {
    let Geometry { block, grid } = machine.setup.geometry;
    let product = |extents: [u32; 3]| extents.iter().map(|&extent| u128::from(extent)).product::<u128>();
    let blocks = match machine.setup.blocks {
        Blocks::All => product(grid),
        Blocks::These(ids) => ids.len() as u128,
    };
    // Every thread takes an instruction at least, so that there is no use in making room for more of them.
    let together = machine.program.runs_blocks_together();
    if product(block) * if together { blocks } else { 1 } > u128::from(machine.setup.budget) {
        return false;
    }
    if together {
        let ids: Vec<_> = (0..blocks as u64).map(|index| block_id(machine.setup, index)).collect();
        return run_together(machine, &ids);
    }
    for index in 0..u64::try_from(blocks).unwrap_or(u64::MAX) {
        let id = block_id(machine.setup, index);
        let mut block = Block::new(machine, index as u32, id);
        machine.run.blocks.push(id);
        if block.run(machine) != Outcome::Ended {
            return false;
        }
    }
    true
}

/// The id of the block that is run at this position.
fn block_id(setup: &Setup<'_>, index: u64) -> [u32; 3] {
    let [width, height, _] = setup.geometry.grid.map(u64::from);
    match setup.blocks {
        Blocks::All => [index % width, index / width % height, index / width / height].map(|place| place as u32),
        Blocks::These(ids) => ids[index as usize],
    }
}

pub(super) fn is_ordered(program: &Program, memory: SyncMemory, array: crate::calculus::ArrayId) -> bool {
    if memory.array == Some(array) {
        return true;
    }
    match program.arrays[array.index()].space {
        Space::Shared | Space::Distributed => memory.shared,
        Space::Global | Space::Constant => memory.global,
        Space::Image => memory.images,
        Space::Private => true,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All threads ended.
    Ended,
    /// It has not come so far.
    Runs,
    /// All threads that have not ended wait at a sync for other blocks, this one.
    AtBlocks(u32),
    /// The run is over.
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    Waiting(u32),
    Ended,
}

/// Syncs passed, by the memory that they order: shared, global, images, and each array that has syncs of its own.
pub(super) type Passed = [u32; MEMORIES];

pub(super) fn count(program: &Program, passed: &mut Passed, memory: SyncMemory) {
    passed[0] += u32::from(memory.shared);
    passed[1] += u32::from(memory.global);
    passed[2] += u32::from(memory.images);
    for (own, &array) in passed[OWN..].iter_mut().zip(&program.own_syncs) {
        *own += u32::from(is_ordered(program, memory, array));
    }
}

pub(super) struct Block {
    pub(super) index: u32,
    id: [u32; 3],
    pub(super) extents: [u32; 3],
    threads: Vec<ThreadState>,
    pub(super) status: Vec<Status>,
    /// Variables of all threads, one after the other.
    variables: Vec<Value>,
    width: usize,
    pub(super) warps: Vec<Passed>,
    passed: Passed,
    in_cluster: Passed,
    grid: Passed,
    /// The first block of its cluster that is run, where blocks run together; otherwise the block itself.
    pub(super) cluster: u32,
    phase: u32,
    /// Meetings of some of its threads.
    pub(super) met: u32,
    pub(super) objects: Objects,
    /// Nobody knows whether all threads get past the barriers before.
    pub(super) doubt: bool,
}

impl Block {
    pub(super) fn new<S>(machine: &Machine<'_, S>, index: u32, id: [u32; 3]) -> Self {
        let extents = machine.setup.geometry.block;
        let count = extents.iter().map(|&extent| extent as usize).product();
        let width = machine.program.variables.len();
        let mut variables = vec![Value::UNKNOWN; count * width];
        if let Some(seed) = machine.setup.contents.seed() {
            for (place, value) in variables.iter_mut().enumerate() {
                let bits = value::mix(value::mix(seed, u64::from(index)), place as u64) as i64;
                *value = Value::known(value::reduce(bits, machine.program.variables[place % width]));
            }
        }
        Block {
            index,
            id,
            extents,
            threads: vec![ThreadState::default(); count],
            status: vec![Status::Ready; count],
            variables,
            width,
            warps: vec![[0; MEMORIES]; count.div_ceil(WARP as usize)],
            passed: [0; MEMORIES],
            in_cluster: [0; MEMORIES],
            grid: [0; MEMORIES],
            cluster: index,
            phase: 0,
            met: 0,
            objects: Objects::default(),
            doubt: false,
        }
    }

    /// Runs until all threads have ended or wait for other blocks.
    pub(super) fn run<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> Outcome {
        self.enter(machine);
        loop {
            if !self.run_ready_threads(machine) {
                return Outcome::Aborted;
            }
            if self.release_arrivals(machine)
                || self.release_in_step(machine)
                || self.release_groups(machine)
                || self.release_stuck_warps(machine)
            {
                continue;
            }
            let Some(first) = self.status.iter().position(|status| *status != Status::Ended) else {
                return Outcome::Ended;
            };
            let Status::Waiting(sync) = self.status[first] else { continue };
            if self.waits_at_objects(machine) {
                self.doubt = true;
                machine.run.inexact = true;
                self.objects.give_up();
                self.release_block(machine, SyncMemory::BOTH);
                continue;
            }
            let apart =
                self.status.iter().position(|status| matches!(status, Status::Waiting(other) if *other != sync));
            let ended = self.status.iter().position(|status| *status == Status::Ended);
            if let Some(other) = self.missing(machine, sync, first).or(apart).or(ended) {
                self.report(machine, sync, first, other);
            }
            let shape = machine.program.syncs[sync as usize];
            if apart.or(ended).is_none() && shape.among.named().is_some() {
                // Some of those that it is not for are there, and nobody else.
                self.report(machine, sync, first, first);
            }
            match apart {
                apart if apart.is_some() || shape.among.named().is_some() => {
                    self.doubt = true;
                    self.release_block(machine, SyncMemory::BOTH);
                }
                _ if machine.program.reach(shape.scope) > SyncScope::Block => return Outcome::AtBlocks(sync),
                _ => {
                    // A barrier that counts arrivals waits for those that have ended, too: nobody certainly passes it.
                    self.doubt |= ended.is_some() && shape.among.counts_arrivals(shape.scope);
                    self.release_block(machine, shape.memory);
                }
            }
        }
    }

    /// Tells the registers which block this is.
    fn enter<S>(&self, machine: &mut Machine<'_, S>) {
        let geometry = machine.program.first_geometry();
        for axis in 0..3 {
            machine.registers[geometry + 3 + axis] = Value::known(i64::from(self.id[axis]));
        }
    }

    fn stamps(&self, warp: usize) -> [Stamp; MEMORIES] {
        std::array::from_fn(|memory| Stamp {
            warp: self.warps[warp][memory],
            block: self.passed[memory],
            cluster: self.in_cluster[memory],
            grid: self.grid[memory],
            met: self.met,
        })
    }

    /// False if the run is over.
    fn run_ready_threads<S: Sink>(&mut self, machine: &mut Machine<'_, S>) -> bool {
        let geometry = machine.program.first_geometry();
        let [width, height, _] = self.extents;
        let mut doubt = self.doubt;
        for thread in 0..self.threads.len() {
            if self.status[thread] != Status::Ready {
                continue;
            }
            let linear = thread as u32;
            let position = [linear % width, linear / width % height, linear / width / height];
            for (axis, number) in position.into_iter().enumerate() {
                machine.registers[geometry + axis] = Value::known(i64::from(number));
            }
            let variables = thread * self.width..(thread + 1) * self.width;
            machine.registers[..self.width].copy_from_slice(&self.variables[variables.clone()]);
            let place = Place {
                thread: ThreadId { block: self.index, thread: linear },
                cluster: self.cluster,
                stamps: self.stamps(thread / WARP as usize),
                phase: self.phase,
            };
            self.threads[thread].inexact |= self.doubt;
            let stop = machine.resume(&mut self.threads[thread], place);
            self.variables[variables].copy_from_slice(&machine.registers[..self.width]);
            // If it is not certain what this thread does, it is not that others get past the next barrier.
            doubt |= self.threads[thread].inexact;
            self.status[thread] = match stop {
                Stop::Abort => return false,
                Stop::End => Status::Ended,
                Stop::Sync(sync) => Status::Waiting(sync),
            };
        }
        self.doubt = doubt;
        true
    }

    pub(super) fn release_warp<S>(
        &mut self,
        machine: &mut Machine<'_, S>,
        warp: usize,
        shape: SyncShape,
        members: std::ops::Range<usize>,
    ) {
        let program = machine.program;
        let index = self.index;
        machine.memory.publish(
            |thread| thread.block == index && members.contains(&(thread.thread as usize)),
            |array| is_ordered(program, shape.memory, array),
        );
        count(program, &mut self.warps[warp], shape.memory);
        for thread in members {
            // Threads of the warp that wait for the block go on waiting.
            if let Status::Waiting(sync) = self.status[thread]
                && program.syncs[sync as usize].scope == SyncScope::Warp
                && !program.syncs[sync as usize].among.is_in_step()
            {
                self.status[thread] = Status::Ready;
            }
        }
    }

    fn release_block<S: Sink>(&mut self, machine: &mut Machine<'_, S>, memory: SyncMemory) {
        let program = machine.program;
        let index = self.index;
        machine.sink.sync(index, SyncScope::Block, memory);
        machine.memory.publish(|thread| thread.block == index, |array| is_ordered(program, memory, array));
        self.pass(program, memory);
    }

    pub(super) fn release_with_others(&mut self, program: &Program, scope: SyncScope, memory: SyncMemory) {
        if scope == SyncScope::Grid {
            count(program, &mut self.grid, memory);
        }
        count(program, &mut self.in_cluster, memory);
        self.pass(program, memory);
    }

    /// All threads that wait go on, one block sync later.
    fn pass(&mut self, program: &Program, memory: SyncMemory) {
        count(program, &mut self.passed, memory);
        for warp in &mut self.warps {
            count(program, warp, memory);
        }
        self.phase += 1;
        for status in &mut self.status {
            if matches!(status, Status::Waiting(_)) {
                *status = Status::Ready;
            }
        }
    }

    pub(super) fn report<S>(&self, machine: &mut Machine<'_, S>, sync: u32, waiting: usize, other: usize) {
        let id = |thread: usize| ThreadId { block: self.index, thread: thread as u32 };
        report_divergence(machine, sync, (id(waiting), self, waiting), (id(other), self, other));
    }

    /// Whether the thread has ended by a `return`, as far as its own variables say.
    pub(super) fn has_returned(&self, program: &Program, thread: usize) -> bool {
        program.returned.and_then(|var| self.locals(thread)[var as usize].bits()) == Some(1)
    }

    pub(super) fn locals(&self, thread: usize) -> &[Value] {
        &self.variables[thread * self.width..(thread + 1) * self.width]
    }
}

/// Reports a sync that the first thread waits at and the second does not, unless one of them may not be there.
pub(super) fn report_divergence<S>(
    machine: &mut Machine<'_, S>,
    sync: u32,
    (waiting, home, waiting_index): (ThreadId, &Block, usize),
    (other, other_home, other_index): (ThreadId, &Block, usize),
) {
    let is_certain = |block: &Block, thread: usize| !block.doubt && !block.threads[thread].inexact;
    if !is_certain(home, waiting_index) || !is_certain(other_home, other_index) {
        machine.run.inexact = true;
        return;
    }
    let program = machine.program;
    let site = |sync: u32| program.syncs[sync as usize].site;
    let has_returned = |thread: usize| other_home.has_returned(program, thread);
    let shape = program.syncs[sync as usize];
    let ended = |thread: &usize| other_home.status[*thread] == Status::Ended;
    // Whom it waits for: those of a warp have nothing to do with what the rest of the block does.
    let of_warp = (shape.scope == SyncScope::Warp).then(|| home.members(machine, shape, waiting_index)).flatten();
    let awaited = of_warp.unwrap_or_else(|| (0..other_home.status.len()).collect());
    let is_here = |thread: usize| other_home.status[thread] == Status::Waiting(sync);
    let lets_go = ended(&other_index)
        && program.reach(shape.scope) <= SyncScope::Block
        && !shape.among.counts_arrivals(shape.scope)
        && awaited.iter().all(|thread| ended(thread) || is_here(*thread))
        && awaited.into_iter().filter(ended).all(has_returned);
    note_phase(if lets_go { &mut machine.run.returned_since } else { &mut machine.run.diverged_since }, home.phase);
    let other_site = match other_home.status[other_index] {
        Status::Waiting(sync) => Some(site(sync)),
        _ => None,
    };
    let unnamed = waiting == other;
    let other_site = other_site.filter(|_| !unnamed);
    let known = |seen: &Divergence| seen.sync == site(sync) && seen.other == other_site && seen.unnamed == unnamed;
    if machine.run.divergences.iter().any(known) {
        return;
    }
    machine.run.divergences.push(Divergence {
        sync: site(sync),
        other: other_site,
        returned: has_returned(other_index) && other_site.is_none(),
        unnamed,
        threads: [waiting, other],
        phase: home.phase,
        locals: [home.locals(waiting_index).to_vec(), other_home.locals(other_index).to_vec()],
    });
}
