//! From a conflict of a run to a witness for people, and back.

use super::sweep::{Candidate, do_conflict};
use crate::calculus::eval::{Blocks, Contents, Event, Program, Run, Setup, Sink, ThreadId, Value, run};
use crate::calculus::{Geometry, Kernel, SiteId};
use crate::prove::{Witness, WitnessThread};

/// Instructions that a replay may take.
const REPLAY_BUDGET: u64 = 50_000_000;

/// A launch with values for the parameters.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub(super) geometry: Geometry,
    pub(super) params: Vec<Option<i128>>,
    /// The blocks that are run; `None` for all.
    pub(super) blocks: Option<Vec<[u32; 3]>>,
}

impl Launch {
    pub(super) fn setup(&self, budget: u64) -> Setup<'_> {
        Setup {
            geometry: self.geometry,
            params: &self.params,
            blocks: self.blocks.as_deref().map_or(Blocks::All, Blocks::These),
            contents: Contents::Unknown,
            budget,
        }
    }
}

/// Values of the parameters, by name.
pub(super) fn params(kernel: &Kernel, launch: &Launch) -> Vec<(String, i128)> {
    let named = kernel.params.iter().zip(&launch.params);
    named.filter_map(|((_, param), value)| Some((param.name.clone(), (*value)?))).collect()
}

/// The values of the user's variables; of several with one name the last that is known.
fn locals(kernel: &Kernel, values: &[Value]) -> Vec<(String, i128)> {
    let mut found: Vec<(String, i128)> = Vec::new();
    for ((id, variable), value) in kernel.vars.iter().zip(values) {
        let made_up = variable.name.contains('.') || kernel.returned == Some(id);
        let Some(number) = value.number(variable.ty).filter(|_| !made_up && variable.ty.range().is_some()) else {
            continue;
        };
        match found.iter_mut().find(|(name, _)| *name == variable.name) {
            Some((_, earlier)) => *earlier = number,
            None => found.push((variable.name.clone(), number)),
        }
    }
    found
}

pub(super) fn thread(kernel: &Kernel, launch: &Launch, run: &Run, id: ThreadId, values: &[Value]) -> WitnessThread {
    let [width, height, _] = launch.geometry.block;
    let linear = id.thread;
    WitnessThread {
        block: run.blocks[id.block as usize],
        thread: [linear % width, linear / width % height, linear / width / height],
        locals: locals(kernel, values),
    }
}

pub(super) fn witness(kernel: &Kernel, launch: &Launch, threads: [WitnessThread; 2], byte_offset: i128) -> Witness {
    Witness { geometry: launch.geometry, threads, params: params(kernel, launch), byte_offset }
}

/// Keeps the variables at two positions of the stream of events.
struct Snapshots {
    wanted: [u64; 2],
    ordinal: u64,
    taken: [Vec<Value>; 2],
}

impl Sink for Snapshots {
    fn access(&mut self, _event: &Event, locals: &[Value]) {
        for (wanted, taken) in self.wanted.iter().zip(&mut self.taken) {
            if *wanted == self.ordinal {
                *taken = locals.to_vec();
            }
        }
        self.ordinal += 1;
    }
}

/// Runs the launch once more for the values of variables; evaluation is deterministic, so positions agree.
pub(super) fn of_candidate(
    kernel: &Kernel,
    program: &Program,
    launch: &Launch,
    best: &Candidate,
    order: [usize; 2],
) -> Witness {
    let accesses = order.map(|index| best.accesses[index]);
    let mut sink = Snapshots { wanted: accesses.map(|(_, ordinal)| ordinal), ordinal: 0, taken: [vec![], vec![]] };
    let outcome = run(program, &launch.setup(REPLAY_BUDGET), &mut sink);
    let threads = [0, 1].map(|index| thread(kernel, launch, &outcome, accesses[index].0.thread, &sink.taken[index]));
    witness(kernel, launch, threads, i128::from(best.byte))
}

/// Keeps the exact accesses of two sites.
struct OfSites {
    sites: [SiteId; 2],
    events: Vec<Event>,
}

impl Sink for OfSites {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        if event.exact && self.sites.contains(&event.site) {
            self.events.push(*event);
        }
    }
}

/// Runs the kernel from its entry under the witness's launch, afresh, and looks whether its two threads have
/// conflicting accesses at these sites that touch its byte.
pub fn replay(kernel: &Kernel, witness: &Witness, sites: [SiteId; 2]) -> bool {
    let mut values = witness.params.iter().peekable();
    let params =
        kernel.params.iter().map(|(_, param)| values.next_if(|(name, _)| *name == param.name).map(|&(_, value)| value));
    let mut blocks = witness.threads.iter().map(|thread| thread.block).collect::<Vec<_>>();
    blocks.dedup();
    let launch = Launch { geometry: witness.geometry, params: params.collect(), blocks: Some(blocks.clone()) };
    let mut sink = OfSites { sites, events: Vec::new() };
    let outcome = run(&Program::new(kernel), &launch.setup(REPLAY_BUDGET), &mut sink);
    let is_defined = |event: &Event| outcome.misaligned_since.is_none_or(|since| event.phase < since);
    sink.events.retain(is_defined);
    let [width, height, _] = witness.geometry.block;
    let ids = [0, 1].map(|index| {
        let WitnessThread { block, thread: [x, y, z], .. } = &witness.threads[index];
        let position = blocks.iter().position(|candidate| candidate == block).unwrap_or(0);
        ThreadId { block: position as u32, thread: x + width * (y + height * z) }
    });
    let of = |index: usize| {
        sink.events.iter().filter(move |event| {
            let start = i128::from(event.offset.unwrap_or(0));
            event.thread == ids[index]
                && event.site == sites[index]
                && (start..start + i128::from(event.bytes)).contains(&witness.byte_offset)
        })
    };
    of(0).any(|one| of(1).any(|other| one.array == other.array && do_conflict(one, other)))
}
