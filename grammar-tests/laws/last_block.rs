//! The block that is last: what is called race-free has no two accesses in any run that nothing orders, as the clocks of
//! the memory model say; and what the clocks find there is not called race-free.
//!
//! Kernels are made of a part that each block writes, fences of several scopes here and there, draws of several kinds, and
//! a region for whoever draws some number. Runs start with a counter that is 0, which proofs assume, and know it.

use super::source::Dice;
use raceproof::calculus::eval::{Blocks, Contents, Event, Fence, Kind, Program, Setup, Sink, ThreadId, Value, run};
use raceproof::calculus::{
    Access, AtomicOp, Geometry, Kernel, MemoryOrder, ScalarType, Site, Space, Stmt, SyncMemory, SyncScope,
};
use raceproof::diagnostic::report::Race;
use raceproof::driver::options::Proofs;
use raceproof::driver::{Options, check_source};
use raceproof::front::tree_sitter;
use raceproof::memory_model::clocks::{Clocks, Receiving, Step, Touch};
use raceproof::source::{Language, SourceMap};
use raceproof::{lower, preprocess, resolve};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Kernels that are tried, or as many as `RACEPROOF_KERNELS` says.
const KERNELS: u64 = 400;

const FENCES: [&str; 8] = [
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence_block();",
    "__threadfence_system();",
    "if (t == 0) __threadfence();",
    "",
];
const BARRIERS: [&str; 3] = ["__syncthreads();", "__syncthreads();", ""];
const PARTS: [&str; 5] = [
    "if (t == 0) p[b] = x[b];",
    "if (t == 0) p[b] = x[b];",
    "p[b * d + t] = x[t];",
    "if (t == 1) p[b] = x[b];",
    "for (int k = t; k < n; k += d) p[b * n + k] = x[k];",
];
const DRAWS: [&str; 10] = [
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicInc(c, g)",
    "atomicInc(c, g - 1)",
    "atomicInc(c, 1u)",
    "atomicAdd(c, 2u)",
    "atomicAdd_block(c, 1u)",
    "atomicSub(c, 1u)",
];
const LAST: [&str; 7] = ["== g - 1", "== g - 1", "== g - 1", ">= g - 1", "== g - 2", "== 0", "+ 2 > 2 * (g - 1)"];
const DRAWERS: [&str; 4] = ["if (t == 0)", "if (t == 0)", "if (t == 0)", ""];
const RESETS: [&str; 5] = ["", "", "if (t == 0) *c = 0;", "if (t == 0) atomicExch(c, 0u);", "*c = 0;"];

/// A kernel with a last block, or nearly.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut pick = |from: &[&str]| from[dice.below(from.len() as u64) as usize].to_owned();
    let (fence, barrier, part) = (pick(&FENCES), pick(&BARRIERS), pick(&PARTS));
    let inner = if pick(&["", "", "yes"]).is_empty() { String::new() } else { pick(&FENCES) };
    let (drawer, draw, last, reset) = (pick(&DRAWERS), pick(&DRAWS), pick(&LAST), pick(&RESETS));
    let late = if pick(&["", "", "", "", "", "late"]).is_empty() { String::new() } else { pick(&PARTS) };
    let early =
        if pick(&["", "", "", "", "", "", "", "early"]).is_empty() { "" } else { "if (b == 0 && t == 0) *c = 0;" };
    let receive = pick(&["", "", "__threadfence();", "__threadfence_block();"]);
    let read = pick(&["y[k] = p[k];", "y[k] = p[k];", "if (t == 0) y[0] = p[k];"]);
    let (is_carried, barrier_after) = (pick(&["yes", "yes", "no"]) == "yes", pick(&BARRIERS));
    let flag = if is_carried { "  __shared__ bool last;\n" } else { "  bool last = false;\n" };
    format!(
        "__global__ void k(unsigned *c, int *p, int *y, const int *x, int n) {{\n{flag}  int t = threadIdx.x;\n  int d = \
         blockDim.x;\n  int b = blockIdx.x;\n  unsigned g = gridDim.x;\n  {early}\n  {part}\n  {fence}\n  {barrier}\n  \
         {drawer} {{ {inner} unsigned a = {draw}; last = (a {last}); }}\n  {late}\n  {barrier_after}\n  if (last) {{\n    \
         {receive}\n    for (int k = t; k < g * n; k += d) {{ {read} }}\n    {reset}\n  }}\n}}\n"
    )
}

fn lowered(text: &str) -> Kernel {
    let mut sources = SourceMap::new();
    let main = sources.add_file("k.cu", text);
    let answer = tree_sitter::parse(sources, main, &preprocess::Options::new(Language::Cuda));
    lower::kernels(&resolve::resolve(answer.unit).program).remove(0)
}

/// The kernel after a start in which the counter becomes 0.
fn from_zero(mut kernel: Kernel) -> Kernel {
    let mut site = || kernel.sites.push(Site { span: None, inlined: Vec::new() });
    let (set, met) = (site(), site());
    let array = kernel.arrays.iter().find(|(_, array)| array.name == "c").expect("the counter").0;
    let (offset, zero) = (kernel.exprs.int(0, ScalarType::I64), kernel.exprs.int(0, ScalarType::U32));
    let access = Access { array, offset, bytes: 4, align: 4, site: set };
    let (op, order, scope) = (AtomicOp::Exchange, MemoryOrder::Relaxed, SyncScope::Grid);
    let memory = SyncMemory { shared: true, global: true, array: None };
    let start = [
        Stmt::Atomic { var: None, access, op, operands: vec![zero], order, scope },
        Stmt::Sync { scope: SyncScope::Grid, memory, site: met },
    ];
    kernel.body.splice(0..0, start);
    kernel
}

/// Looks for accesses that nothing orders, as they happen.
struct Watch<'k> {
    kernel: &'k Kernel,
    geometry: Geometry,
    clocks: Clocks,
    cells: BTreeMap<(usize, i64), Vec<(Event, Step)>>,
    /// Whether the start is over, and how many blocks have passed its barrier.
    passed: u32,
    found: Option<(Event, Event)>,
}

impl Watch<'_> {
    fn is_ordered(&self, earlier: &[(Event, Step)], at: usize, now: &Event) -> bool {
        let (event, step) = &earlier[at];
        let who = (now.thread.block, now.thread.thread);
        if event.thread.block == now.thread.block || self.kernel.arrays[now.array].space != Space::Global {
            return event.thread.block != now.thread.block || event.stamp.block != now.stamp.block;
        }
        // Coherence: an atomic before one that was seen is before what comes after that.
        let is_overtaken = matches!(event.kind, Kind::Atomic { .. })
            && earlier[at + 1..].iter().any(|(later, step)| {
                matches!(later.kind, Kind::Atomic { .. })
                    && (later.thread == now.thread || self.clocks.is_seen(*step, who))
            });
        self.clocks.is_seen(*step, who) || is_overtaken
    }
}

/// Whether both are atomics that reach each other.
fn are_exempt(one: &Event, other: &Event) -> bool {
    let reaches = |event: &Event| match event.kind {
        Kind::Atomic { scope, .. } => one.thread.block == other.thread.block || scope >= SyncScope::Grid,
        _ => false,
    };
    reaches(one) && reaches(other)
}

impl Sink for Watch<'_> {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        let Some(offset) = event.offset.filter(|_| self.passed >= self.geometry.grid[0]) else { return };
        let (who, cell) = ((event.thread.block, event.thread.thread), (event.array.index(), offset / 4));
        let earlier = self.cells.remove(&cell).unwrap_or_default();
        for at in 0..earlier.len() {
            let other = &earlier[at].0;
            let writes = event.kind != Kind::Read || other.kind != Kind::Read;
            if other.thread != event.thread
                && writes
                && !are_exempt(event, other)
                && !self.is_ordered(&earlier, at, event)
            {
                self.found.get_or_insert((*other, *event));
            }
        }
        let step = self.clocks.step(who);
        if let Kind::Atomic { order, scope } = event.kind {
            self.clocks.atomic(who, cell, Touch::Update, order, scope);
        }
        let mut all = earlier;
        all.push((*event, step));
        self.cells.insert(cell, all);
    }

    fn fence(&mut self, thread: ThreadId, fence: &Fence, _certain: bool) {
        self.clocks.fence((thread.block, thread.thread), fence.order, fence.scope);
    }

    fn sync(&mut self, block: u32, scope: SyncScope, _memory: SyncMemory) {
        if scope >= SyncScope::Grid {
            self.passed += 1;
        } else {
            self.clocks.barrier(block, self.geometry.block[0]);
        }
    }
}

/// A run of the kernel with two accesses that nothing orders.
fn refutation(kernel: &Kernel, receiving: Receiving) -> Option<String> {
    let program = Program::new(kernel);
    let sizes = [(1, 2), (1, 4), (3, 2), (4, 3), (33, 3)];
    sizes.into_iter().find_map(|(threads, blocks)| {
        (0..2).find_map(|seed| {
            let params = [Some(1 + i128::from(seed))];
            let geometry = Geometry { block: [threads, 1, 1], grid: [blocks, 1, 1] };
            let contents = Contents::Seeded(seed);
            let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 200_000 };
            let clocks = Clocks::new(receiving);
            let mut watch = Watch { kernel, geometry, clocks, cells: BTreeMap::new(), passed: 0, found: None };
            let outcome = run(&program, &setup, &mut watch);
            // Sums that wrap are assumed away: a counter that goes down.
            let usable = outcome.finished && outcome.wrapped.is_empty() && outcome.divergences.is_empty();
            let found = watch.found.filter(|_| usable)?;
            Some(format!("{geometry:?} seed {seed}: {found:?}"))
        })
    })
}

#[test]
fn what_is_proved_of_last_blocks_holds_by_the_clocks_of_runs() {
    let kernels = std::env::var("RACEPROOF_KERNELS").ok().and_then(|count| count.parse().ok()).unwrap_or(KERNELS);
    let outcomes: Vec<[usize; 3]> = (0..kernels)
        .into_par_iter()
        .map(|seed| {
            let text = kernel(seed);
            let options = Options { proofs: Proofs::Recheck, ..Options::default() };
            let checked = check_source(Path::new("k.cu"), &text, &options);
            assert!(checked.bugs.is_empty(), "{:?}\n{text}", checked.bugs);
            let report = &checked.report.kernels[0];
            let rejected = report.unknowns.iter().find(|unknown| unknown.reason.contains("bug in raceproof"));
            assert!(rejected.is_none(), "{rejected:?}\n{text}");
            let says = |what: &str| report.assumptions.iter().any(|assumption| assumption.text.contains(what));
            let receiving = if says("without a fence after the draw") { Receiving::Always } else { Receiving::InOrder };
            let is_free = report.race == Race::RaceFree;
            let refuted = refutation(&from_zero(lowered(&text)), receiving);
            if let Some(found) = refuted.as_ref().filter(|_| is_free) {
                panic!("seed {seed}: {found}\n{text}\n{:?}", report.assumptions);
            }
            let relies = is_free && says("c is 0 when the kernel starts");
            [
                usize::from(relies),
                usize::from(relies && receiving == Receiving::InOrder),
                usize::from(refuted.is_some()),
            ]
        })
        .collect();
    let [proved, received, refuted] = [0, 1, 2].map(|column| outcomes.iter().map(|row| row[column]).sum::<usize>());
    assert!(
        proved * 50 >= outcomes.len() && received > 0 && refuted * 5 >= outcomes.len(),
        "of {} kernels {proved} are proved by their draws, {received} with a fence after them, and {refuted} conflict",
        outcomes.len()
    );
    if kernels > KERNELS {
        eprintln!(
            "of {} kernels {proved} proved ({received} with a fence after the draw), {refuted} conflict",
            outcomes.len()
        );
    }
}
