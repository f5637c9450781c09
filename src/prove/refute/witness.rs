//! From a conflict of a run to a witness for people, and back.

use super::sweep::{Candidate, do_conflict};
use crate::calculus::eval::{Blocks, Contents, Event, Meeting, Program, Run, Setup, Sink, ThreadId, Value, run};
use crate::calculus::{Geometry, Kernel, SiteId};
use crate::memory_model::met::Met;
use crate::prove::{Witness, WitnessThread};

/// Instructions that a replay may take.
const REPLAY_BUDGET: u64 = 50_000_000;

/// A launch with values for the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) geometry: Geometry,
    pub(super) params: Vec<Option<i128>>,
    /// The blocks that are run; `None` for all.
    pub(super) blocks: Option<Vec<[u32; 3]>>,
}

impl Launch {
    pub(super) fn setup(&self, budget: u64) -> Setup<'_> {
        self.setup_with(Contents::Unknown, budget)
    }

    pub(super) fn setup_with<'a>(&'a self, contents: Contents<'a>, budget: u64) -> Setup<'a> {
        Setup {
            geometry: self.geometry,
            params: &self.params,
            blocks: self.blocks.as_deref().map_or(Blocks::All, Blocks::These),
            contents,
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

/// Keeps the variables at positions of the stream of events.
struct Snapshots {
    /// The positions, ascending.
    wanted: Vec<u64>,
    ordinal: u64,
    /// The variables at as many of them as were met.
    taken: Vec<Vec<Value>>,
}

impl Sink for Snapshots {
    fn access(&mut self, _event: &Event, locals: &[Value]) {
        if self.wanted.get(self.taken.len()) == Some(&self.ordinal) {
            self.taken.push(locals.to_vec());
        }
        self.ordinal += 1;
    }

    fn wants_more(&self) -> bool {
        self.taken.len() < self.wanted.len()
    }
}

/// A conflict of a launch, as its witness names it.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) best: &'a Candidate,
    /// Which of its accesses is named first, and which second.
    pub(super) order: [usize; 2],
}

impl Named<'_> {
    fn accesses(self) -> [(Event, u64); 2] {
        self.order.map(|index| self.best.accesses[index])
    }
}

/// The witnesses of conflicts of one launch. Runs it once more for the values of variables, as far as they are met;
/// evaluation is deterministic, so positions agree.
pub(super) fn of_candidates(kernel: &Kernel, program: &Program, launch: &Launch, all: &[Named<'_>]) -> Vec<Witness> {
    of_candidates_with(kernel, program, launch, Contents::Unknown, all)
}

/// The same, where memory holds `contents`.
pub(super) fn of_candidates_with(
    kernel: &Kernel,
    program: &Program,
    launch: &Launch,
    contents: Contents<'_>,
    all: &[Named<'_>],
) -> Vec<Witness> {
    let mut wanted: Vec<u64> = all.iter().flat_map(|named| named.accesses()).map(|(_, ordinal)| ordinal).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut sink = Snapshots { wanted, ordinal: 0, taken: Vec::new() };
    let outcome = run(program, &launch.setup_with(contents, REPLAY_BUDGET), &mut sink);
    let at = |ordinal| sink.wanted.binary_search(&ordinal).ok().and_then(|index| sink.taken.get(index));
    let told = |(event, ordinal): (Event, u64)| {
        thread(kernel, launch, &outcome, event.thread, at(ordinal).map_or(&[], Vec::as_slice))
    };
    all.iter().map(|named| witness(kernel, launch, named.accesses().map(told), i128::from(named.best.byte))).collect()
}

/// Keeps the exact accesses of two sites.
struct OfSites {
    sites: [SiteId; 2],
    events: Vec<Event>,
    met: Met,
}

impl Sink for OfSites {
    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }

    fn access(&mut self, event: &Event, _locals: &[Value]) {
        if event.exact && self.sites.contains(&event.site) {
            self.events.push(*event);
        }
    }
}

/// Runs the kernel from its entry under the witness's launch, afresh, and looks whether its two threads have
/// conflicting accesses at these sites that touch its byte.
pub fn replay(kernel: &Kernel, witness: &Witness, sites: [SiteId; 2]) -> bool {
    replay_with(kernel, &Program::new(kernel), Contents::Unknown, witness, sites).conflicts
}

/// What a replay showed.
pub(super) struct Replayed {
    pub(super) conflicts: bool,
    /// Whether an assumption fails.
    pub(super) vacuous: bool,
    /// Instructions executed.
    pub(super) steps: u64,
}

/// The same, where memory holds `contents`; `program` is `kernel`, compiled.
pub(super) fn replay_with(
    kernel: &Kernel,
    program: &Program,
    contents: Contents<'_>,
    witness: &Witness,
    sites: [SiteId; 2],
) -> Replayed {
    let mut values = witness.params.iter().peekable();
    let params =
        kernel.params.iter().map(|(_, param)| values.next_if(|(name, _)| *name == param.name).map(|&(_, value)| value));
    let mut blocks = witness.threads.iter().map(|thread| thread.block).collect::<Vec<_>>();
    blocks.dedup();
    let launch = Launch { geometry: witness.geometry, params: params.collect(), blocks: Some(blocks.clone()) };
    let mut sink = OfSites { sites, events: Vec::new(), met: Met::default() };
    let outcome = run(program, &launch.setup_with(contents, REPLAY_BUDGET), &mut sink);
    let since = [outcome.misaligned_since, outcome.contested_since];
    let is_defined = |event: &Event| since.iter().flatten().all(|&since| event.phase < since);
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
    let conflicts = of(0).any(|one| {
        of(1).any(|other| {
            one.array == other.array
                && do_conflict((one, other), kernel.arrays[one.array].space, &kernel.sites, &sink.met)
        })
    });
    Replayed { conflicts, vacuous: outcome.vacuous, steps: outcome.steps }
}
