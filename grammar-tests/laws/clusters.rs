//! Clusters: kernels whose blocks share memory and wait for each other are race-free, racy, uniform or divergent as their
//! steps say.
//!
//! A kernel is a list of steps without loops. Who touches which cell in which step, and which barriers stand between, is
//! computed here from the steps alone, for every thread of a few clusters: neither the calculus nor its runs are asked.

use super::handed::rechecked;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::diagnostic::report::{Divergence, Race};

const LAW: Law = Law::new("clusters", tiers(25, 125, 1000));

const CLUSTERS: [[u32; 2]; 5] = [[2, 1], [2, 1], [4, 1], [2, 2], [1, 2]];
/// Clusters of the grid along each axis.
const GRID: [u32; 2] = [2, 2];
const THREADS: u32 = 3;

/// Which block's copy of the tile.
#[derive(Clone, Copy, Debug)]
enum Home {
    Own,
    Rank(u32),
    Next,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    /// `tile[t]` or `tile[0]` of a block.
    Tile(Home, bool),
    /// `row` at the block's number, or at that of its neighbour.
    Row(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    Everyone,
    FirstThread,
    FirstBlockOfTheCluster,
    EvenClusters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barrier {
    Block,
    Cluster,
    Grid,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Read(Cell, Guard),
    Write(Cell, Guard),
    /// An atomic, for the block or for the whole device.
    Update(Cell, Guard, bool),
    Meet(Barrier, Guard),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    block: [u32; 2],
    thread: u32,
}

struct Subject {
    cluster: [u32; 2],
    steps: Vec<Step>,
}

impl Subject {
    fn of(seed: u64) -> Subject {
        let mut dice = Dice(seed);
        let cluster = CLUSTERS[dice.below(5) as usize];
        let blocks = cluster[0] * cluster[1];
        let mut steps = Vec::new();
        for _ in 0..2 + dice.below(4) {
            let guard = |dice: &mut Dice| match dice.below(6) {
                0 | 1 => Guard::Everyone,
                2 | 3 => Guard::FirstThread,
                4 => Guard::FirstBlockOfTheCluster,
                _ => Guard::EvenClusters,
            };
            let cell = |dice: &mut Dice| match dice.below(7) {
                0 | 1 => Cell::Tile(Home::Own, dice.below(3) > 0),
                2 => Cell::Tile(Home::Rank(dice.below(blocks.into()) as u32), dice.below(3) > 0),
                3 | 4 => Cell::Tile(Home::Next, dice.below(3) > 0),
                5 => Cell::Row(0),
                _ => Cell::Row(1),
            };
            let step = match dice.below(3) {
                0 => Step::Read(cell(&mut dice), guard(&mut dice)),
                1 => Step::Write(cell(&mut dice), guard(&mut dice)),
                _ => Step::Update(cell(&mut dice), guard(&mut dice), dice.below(4) > 0),
            };
            steps.push(step);
            let barrier = match dice.below(8) {
                0 => continue,
                1 | 2 => Barrier::Block,
                3 => Barrier::Grid,
                _ => Barrier::Cluster,
            };
            let guard = if dice.below(6) == 0 { guard(&mut dice) } else { Guard::Everyone };
            steps.push(Step::Meet(barrier, guard));
        }
        Subject { cluster, steps }
    }

    fn text(&self) -> String {
        let [x, y] = self.cluster;
        let guarded = |guard: Guard, what: String| match guard {
            Guard::Everyone => format!("  {what}\n"),
            Guard::FirstThread => format!("  if (t == 0) {{ {what} }}\n"),
            Guard::FirstBlockOfTheCluster => format!("  if (cluster.block_rank() == 0) {{ {what} }}\n"),
            Guard::EvenClusters => format!("  if (blockIdx.x / {x}u % 2u == 0u) {{ {what} }}\n"),
        };
        let place = |cell: Cell| match cell {
            Cell::Tile(home, own) => {
                let index = if own { "t" } else { "0" };
                match home {
                    Home::Own => format!("tile[{index}]"),
                    Home::Rank(rank) => format!("cluster.map_shared_rank(tile, {rank})[{index}]"),
                    Home::Next => format!("next[{index}]"),
                }
            }
            Cell::Row(0) => "row[b]".to_owned(),
            Cell::Row(_) => "row[b ^ 1u]".to_owned(),
        };
        let body: String = self
            .steps
            .iter()
            .map(|step| match *step {
                Step::Read(cell, guard) => guarded(guard, format!("seen += {};", place(cell))),
                Step::Write(cell, guard) => guarded(guard, format!("{} = seen;", place(cell))),
                Step::Update(cell, guard, wide) => {
                    let name = if wide { "atomicAdd" } else { "atomicAdd_block" };
                    guarded(guard, format!("{name}(&{}, 1);", place(cell)))
                }
                Step::Meet(barrier, guard) => guarded(
                    guard,
                    match barrier {
                        Barrier::Block => "__syncthreads();".to_owned(),
                        Barrier::Cluster => "cluster.sync();".to_owned(),
                        Barrier::Grid => "grid.sync();".to_owned(),
                    },
                ),
            })
            .collect();
        format!(
            "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\
             __global__ void __cluster_dims__({x}, {y}, 1) k(int *row, int *out) {{\n  __shared__ int tile[64];\n  \
             cg::cluster_group cluster = cg::this_cluster();\n  cg::grid_group grid = cg::this_grid();\n  \
             int t = threadIdx.x;\n  unsigned b = blockIdx.y * gridDim.x + blockIdx.x;\n  int seen = 0;\n  \
             int *next = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % cluster.num_blocks());\n{body}  \
             out[b * blockDim.x + t] = seen;\n}}\n"
        )
    }

    fn threads(&self) -> Vec<Thread> {
        let [width, height] = [0, 1].map(|axis: usize| GRID[axis] * self.cluster[axis]);
        let blocks = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        blocks.flat_map(|block| (0..THREADS).map(move |thread| Thread { block, thread })).collect()
    }

    fn cluster_of(&self, thread: Thread) -> [u32; 2] {
        [0, 1].map(|axis: usize| thread.block[axis] / self.cluster[axis])
    }

    fn rank(&self, thread: Thread) -> u32 {
        let [x, y] = [0, 1].map(|axis: usize| thread.block[axis] % self.cluster[axis]);
        y * self.cluster[0] + x
    }

    fn takes_part(&self, thread: Thread, guard: Guard) -> bool {
        match guard {
            Guard::Everyone => true,
            Guard::FirstThread => thread.thread == 0,
            Guard::FirstBlockOfTheCluster => self.rank(thread) == 0,
            Guard::EvenClusters => thread.block[0] / self.cluster[0] % 2 == 0,
        }
    }

    /// Who waits for whom at a barrier.
    fn meet(&self, one: Thread, other: Thread, barrier: Barrier) -> bool {
        match barrier {
            Barrier::Block => one.block == other.block,
            Barrier::Cluster => self.cluster_of(one) == self.cluster_of(other),
            Barrier::Grid => true,
        }
    }

    /// Which memory a thread means: of whom, and which element.
    fn place(&self, thread: Thread, cell: Cell) -> (u32, Vec<u32>, u32) {
        let blocks = self.cluster[0] * self.cluster[1];
        match cell {
            Cell::Tile(home, own) => {
                let rank = match home {
                    Home::Own => self.rank(thread),
                    Home::Rank(rank) => rank,
                    Home::Next => (self.rank(thread) + 1) % blocks,
                };
                let [x, y] = self.cluster_of(thread);
                (0, vec![x, y, rank], if own { thread.thread } else { 0 })
            }
            Cell::Row(flip) => {
                let number = thread.block[1] * GRID[0] * self.cluster[0] + thread.block[0];
                (1, Vec::new(), number ^ flip)
            }
        }
    }

    /// Whether some barrier is not met by all that it waits for.
    fn diverges(&self) -> bool {
        let threads = self.threads();
        self.steps.iter().any(|step| {
            let Step::Meet(barrier, guard) = *step else { return false };
            threads.iter().any(|&one| {
                let misses = |&other: &Thread| self.meet(one, other, barrier) && !self.takes_part(other, guard);
                self.takes_part(one, guard) && threads.iter().any(misses)
            })
        })
    }

    /// Whether two threads conflict in a kernel whose barriers are all met.
    fn races(&self) -> bool {
        let threads = self.threads();
        let access = |at: usize| match self.steps[at] {
            Step::Read(cell, guard) => Some((cell, guard, false, None)),
            Step::Write(cell, guard) => Some((cell, guard, true, None)),
            Step::Update(cell, guard, wide) => Some((cell, guard, true, Some(wide))),
            Step::Meet(..) => None,
        };
        let conflict = |first: usize, second: usize, one: Thread, other: Thread| {
            let (Some(here), Some(there)) = (access(first), access(second)) else { return false };
            let exempt = match (here.3, there.3) {
                (Some(wide), Some(wider)) => one.block == other.block || (wide && wider),
                _ => false,
            };
            let ordered = self.steps[first..second].iter().any(|step| match *step {
                Step::Meet(barrier, guard) => {
                    self.meet(one, other, barrier) && self.takes_part(one, guard) && self.takes_part(other, guard)
                }
                _ => false,
            });
            one != other
                && (here.2 || there.2)
                && !exempt
                && !ordered
                && self.takes_part(one, here.1)
                && self.takes_part(other, there.1)
                && self.place(one, here.0) == self.place(other, there.0)
        };
        (0..self.steps.len()).any(|first| {
            (first..self.steps.len()).any(|second| {
                threads.iter().any(|&one| threads.iter().any(|&other| conflict(first, second, one, other)))
            })
        })
    }
}

#[test]
fn clusters_are_judged_as_their_steps_say() {
    let decided: Vec<[bool; 4]> = LAW.each(|seed| {
        let subject = Subject::of(seed);
        let text = subject.text();
        let report = rechecked(&text);
        let diverges = subject.diverges();
        match report.divergence {
            Divergence::Uniform => assert!(!diverges, "seed {seed} diverges\n{text}"),
            Divergence::Divergent => assert!(diverges, "seed {seed} does not diverge\n{text}"),
            _ => {}
        }
        let races = subject.races();
        match report.race {
            // Where a barrier is not met nobody knows what follows.
            _ if diverges => {}
            Race::RaceFree => assert!(!races, "seed {seed} races\n{text}"),
            Race::Racy => assert!(races, "seed {seed} does not race\n{text}"),
            _ => {}
        }
        [
            report.race == Race::RaceFree && !diverges,
            report.race == Race::Racy,
            report.divergence == Divergence::Uniform,
            report.divergence == Divergence::Divergent,
        ]
    });
    let count = |at: usize| decided.iter().filter(|outcome| outcome[at]).count();
    let [free, racy, uniform, divergent] = [0, 1, 2, 3].map(count);
    let shares = [(free, 12), (racy, 3), (uniform, 2), (divergent, 20)];
    let enough = shares.into_iter().all(|(count, one_in)| is_enough(count, decided.len(), one_in));
    assert!(enough, "of {} kernels {free} free, {racy} racy, {uniform} uniform, {divergent} divergent", decided.len());
}
