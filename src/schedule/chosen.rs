//! Which schedules are tried, for what a run of the baseline showed: orders of blocks that are forced, orders of threads, delays, and
//! stores that are late, in turns.
//!
//! Delays are those of probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): threads go on by priorities, which
//! their order is, and at each of d change points the one that runs gets the lowest. A change point is drawn by its place in the
//! text first, then among the events there, so that a store that a thousand threads execute once is found as easily as a loop's;
//! every place that writes comes before any of them comes twice.

use super::orders::Random;
use super::{At, Of, Order, Part, Schedule};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::source::Language;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is changed by a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The order of blocks.
    Blocks,
    /// The order of threads in each block.
    Threads,
    /// Change points, at which threads are delayed.
    Delays,
    /// Stores that are seen late.
    LateStores,
}

impl Kind {
    /// All of them, in the order in which they are told.
    pub const ALL: [Kind; 4] = [Kind::Blocks, Kind::Threads, Kind::Delays, Kind::LateStores];

    /// So many of it, in words.
    pub fn counted(self, count: usize, language: Language) -> String {
        let Vocabulary { thread, block, .. } = Vocabulary::of(language);
        let (one, several) = match self {
            Kind::Blocks => (format!("order of {block}s"), format!("orders of {block}s")),
            Kind::Threads => (format!("order of {thread}s"), format!("orders of {thread}s")),
            Kind::Delays => ("schedule with delays".to_owned(), "schedules with delays".to_owned()),
            Kind::LateStores => ("late store".to_owned(), "late stores".to_owned()),
        };
        format!("{count} {}", if count == 1 { one } else { several })
    }
}

/// A launch of the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its number, from 1.
    pub number: u64,
    /// The kernel.
    pub kernel: String,
    /// Blocks, or clusters.
    pub blocks: u64,
    /// Threads of each block.
    pub threads: u64,
    /// Some events, with what they are.
    pub points: Vec<Point>,
}

/// An event of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The block and its thread.
    pub of: (u64, u64),
    /// The event, of those of that thread.
    pub event: u64,
    /// The number of its place in the text.
    pub site: usize,
    /// What it does.
    pub does: Does,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Does {
    /// A store.
    Writes,
    /// An atomic that may change memory.
    Updates,
    /// Anything else.
    Reads,
}

/// In which order kinds are tried.
const TURNS: [Kind; 10] = {
    use Kind::{Blocks, Delays, LateStores, Threads};
    [Blocks, Delays, Threads, Delays, LateStores, Blocks, Delays, LateStores, Threads, Delays]
};

/// At most so many schedules, none twice, the baseline not among them. OpenCL has no warps that all drivers know.
pub fn chosen(launches: &[Launched], count: usize, seed: u64, language: Language) -> Vec<(Kind, Schedule)> {
    let mut source = Source::new(launches, seed, language);
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let mut dry = 0;
    for kind in TURNS.into_iter().cycle() {
        // Whoever has nothing new in so many turns has nothing.
        if found.len() == count || dry > 20 * TURNS.len() {
            break;
        }
        match source.next(kind).filter(|schedule| known.insert(schedule.clone())) {
            Some(schedule) => {
                dry = 0;
                found.push((kind, schedule));
            }
            None => dry += 1,
        }
    }
    found
}

/// The parts of which schedules with few of them are made: the events of each place that come first, and the blocks that may come
/// first, of the first launches.
pub fn parts(launches: &[Launched]) -> Vec<Part> {
    const MOST_BLOCKS: u64 = 8;
    const MOST_LAUNCHES: usize = 4;
    let mut parts = Vec::new();
    for launch in launches.iter().take(MOST_LAUNCHES) {
        let fronts =
            (1..launch.blocks.min(MOST_BLOCKS)).chain(launch.blocks.checked_sub(1).filter(|&last| last >= MOST_BLOCKS));
        parts.extend(fronts.map(|number| Part::Front { of: Of::Blocks, launch: launch.number, number }));
        let mut known = BTreeSet::new();
        for point in launch.points.iter().filter(|point| known.insert((point.site, point.does))) {
            let (block, thread) = point.of;
            let at = At { launch: launch.number, block, thread, event: point.event };
            parts.push(Part::Delay(at));
            if point.does == Does::Writes {
                parts.push(Part::Late(at));
            }
        }
    }
    parts
}

struct Source {
    language: Language,
    random: Random,
    seed: u64,
    most_blocks: u64,
    most_threads: u64,
    drawn: BTreeMap<Kind, u64>,
    places: Places,
    stores: Places,
}

/// Places in the text, each with some of its events, in the order in which they are drawn.
struct Places {
    places: Vec<Vec<At>>,
    next: usize,
}

impl Places {
    fn new(launches: &[Launched], takes: impl Fn(Does) -> bool, random: &mut Random) -> Places {
        let mut found: BTreeMap<(Does, usize, &str), Vec<At>> = BTreeMap::new();
        for launch in launches {
            for point in launch.points.iter().filter(|point| takes(point.does)) {
                let (block, thread) = point.of;
                let at = At { launch: launch.number, block, thread, event: point.event };
                found.entry((point.does, point.site, &launch.kernel)).or_default().push(at);
            }
        }
        let mut by_turn: Vec<(Does, u64, Vec<At>)> =
            found.into_iter().map(|((does, ..), events)| (does, random.next(), events)).collect();
        by_turn.sort();
        Places { places: by_turn.into_iter().map(|(.., events)| events).collect(), next: 0 }
    }

    fn draw(&mut self, random: &mut Random) -> Option<At> {
        let events = self.places.get(self.next % self.places.len().max(1))?;
        self.next += 1;
        // Behind the first event of a place most others are still to come.
        if self.next <= self.places.len() {
            return events.first().copied();
        }
        events.get(usize::try_from(random.below(events.len() as u64)).unwrap_or(0)).copied()
    }
}

impl Source {
    fn new(launches: &[Launched], seed: u64, language: Language) -> Source {
        let mut random = Random(seed);
        let most = |count: fn(&Launched) -> u64| launches.iter().map(count).max().unwrap_or(0);
        Source {
            language,
            seed,
            most_blocks: most(|launch| launch.blocks),
            most_threads: most(|launch| launch.threads),
            drawn: BTreeMap::new(),
            places: Places::new(launches, |_| true, &mut random),
            stores: Places::new(launches, |does| does == Does::Writes, &mut random),
            random,
        }
    }

    fn next(&mut self, kind: Kind) -> Option<Schedule> {
        let turn = self.drawn.entry(kind).or_default();
        *turn += 1;
        let turn = *turn;
        let drawn = self.seed.wrapping_mul(1000).wrapping_add(turn);
        let order = |of, how| Part::Order { of, how, launch: None };
        let parts = match kind {
            Kind::Blocks if self.most_blocks > 1 => vec![order(
                Of::Blocks,
                match turn {
                    1 => Order::Reversed,
                    2 => Order::Last,
                    3 => Order::First(1),
                    4 => Order::First(self.most_blocks / 2),
                    _ => Order::Seed(drawn),
                },
            )],
            Kind::Threads if self.most_threads > 1 => vec![match turn {
                1 => order(Of::Threads, Order::Reversed),
                2 if self.most_threads > 32 && self.language == Language::Cuda => order(Of::Warps, Order::Reversed),
                _ => order(Of::Threads, Order::Seed(drawn)),
            }],
            Kind::Blocks | Kind::Threads => return None,
            Kind::Delays => self.change_points(turn, drawn),
            Kind::LateStores => self.stores.draw(&mut self.random).map(Part::Late).into_iter().collect(),
        };
        (!parts.is_empty()).then_some(Schedule { parts })
    }

    /// One change point in two of three schedules, else two or three, and priorities that are drawn.
    fn change_points(&mut self, turn: u64, drawn: u64) -> Vec<Part> {
        let several = turn.is_multiple_of(3);
        let count = if several { 2 + turn / 3 % 2 } else { 1 };
        let points: BTreeSet<At> = (0..count).filter_map(|_| self.places.draw(&mut self.random)).collect();
        let by_priority = several && self.most_blocks > 1 && !points.is_empty();
        let order = by_priority.then_some(Part::Order { of: Of::Blocks, how: Order::Seed(drawn), launch: None });
        order.into_iter().chain(points.into_iter().map(Part::Delay)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(blocks: u64, threads: u64, points: &[(u64, usize, Does)]) -> Launched {
        let points = points.iter().map(|&(event, site, does)| Point { of: (0, 1), event, site, does }).collect();
        Launched { number: 1, kernel: "k".to_owned(), blocks, threads, points }
    }

    #[test]
    fn every_place_that_writes_is_a_change_point_before_one_comes_twice() {
        let points: Vec<_> = (0..4).map(|site| (10 + site as u64, site, Does::Writes)).collect();
        let schedules = chosen(&[launch(4, 64, &points)], 12, 3, Language::Cuda);
        let first: BTreeSet<&Part> = schedules
            .iter()
            .filter(|(kind, _)| *kind == Kind::Delays)
            .flat_map(|(_, schedule)| &schedule.parts)
            .filter(|part| matches!(part, Part::Delay(_)))
            .take(4)
            .collect();
        assert_eq!(first.len(), 4, "{schedules:?}");
        assert_eq!(schedules.len(), 12);
    }

    #[test]
    fn what_a_program_does_not_have_is_not_tried() {
        let chosen = |launch: Launched, language| chosen(&[launch], 20, 0, language);
        assert!(chosen(launch(1, 1, &[]), Language::Cuda).is_empty());
        let alone = chosen(launch(1, 1, &[(3, 0, Does::Updates)]), Language::Cuda);
        assert_eq!(alone.len(), 1, "{alone:?}");
        let blocks = chosen(launch(2, 1, &[]), Language::Cuda);
        assert!(blocks.iter().all(|(kind, _)| *kind == Kind::Blocks), "{blocks:?}");
        let schedules = chosen(launch(9, 64, &[]), Language::OpenCl);
        assert_eq!(chosen(launch(9, 64, &[]), Language::OpenCl), schedules);
        let has_warps = |schedules: &[(Kind, Schedule)]| format!("{schedules:?}").contains("Warps");
        assert!(!has_warps(&schedules) && has_warps(&chosen(launch(9, 64, &[]), Language::Cuda)));
    }
}
