//! Pictures of a launch: which threads touch which elements of an array, between which barriers, and where they collide.
//!
//! A [`Picture`] is a run of a small launch ([`shown`](crate::prove::refute::shown)) in panels, one for each array and barrier
//! interval: threads from top to bottom, elements from left to right, a mark for each access. [`svg`] draws it.
//!
//! Guarantees: what is marked as a collision is a conflict of two accesses that certainly happen. What is left out (threads,
//! elements, panels, accesses whose place memory decides) is counted.
//!
//! Deliberately absent: proofs. A picture shows one launch; what a verdict is about stands beside it.

pub mod svg;
#[cfg(test)]
mod tests;

use crate::calculus::eval::{Event, Kind, ThreadId};
use crate::calculus::{ArrayId, Geometry, Kernel, Space};
use crate::prove::refute::shown::Shown;
use std::collections::{BTreeMap, BTreeSet};

/// Threads of a launch that are all drawn, and how many of a larger one.
const MOST_ROWS: usize = 64;
const ROWS_OF_MANY: usize = 32;
/// Elements of a panel.
const MOST_CELLS: usize = 96;
/// Panels of a picture.
const MOST_PANELS: usize = 6;

/// A launch as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The launch.
    pub geometry: Geometry,
    /// Values of its scalar parameters, by name.
    pub params: Vec<(String, i128)>,
    /// The threads that are drawn, from top to bottom.
    pub rows: Vec<Row>,
    /// The panels: those with collisions first, then by interval and array.
    pub panels: Vec<Panel>,
    /// What is not drawn.
    pub left_out: LeftOut,
}

/// What a picture does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Threads of the launch.
    pub threads: u64,
    /// Panels.
    pub panels: usize,
    /// Accesses of which memory decides where they are.
    pub unplaced: usize,
    /// Whether the run has more accesses than these, or more than were compared.
    pub rest: bool,
}

/// A thread that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its block.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
}

/// What threads do with an array in a barrier interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// The array.
    pub array: String,
    /// Where it lies.
    pub space: Space,
    /// The barrier interval of a block, from 1; `None` if it is all of them, since no barrier orders the blocks that are drawn.
    pub interval: Option<u32>,
    /// The numbers of the elements that are drawn, ascending: those that somebody touches.
    pub cells: Vec<i64>,
    /// Elements that are touched and not drawn.
    pub more_cells: usize,
    /// Who touches what.
    pub touches: Vec<Touch>,
}

/// What a thread does with an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touch {
    /// The position of the thread.
    pub row: usize,
    /// The position of the element.
    pub cell: usize,
    /// What it does.
    pub how: How,
    /// Whether it certainly does.
    pub certain: bool,
    /// Whether that conflicts with what another thread does.
    pub collides: bool,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both in one step.
    Atomic,
}

impl Picture {
    /// The picture of a run.
    pub fn of(kernel: &Kernel, shown: &Shown) -> Picture {
        let rows = rows(shown);
        let at: BTreeMap<ThreadId, usize> = rows.iter().copied().zip(0..).collect();
        let grid_wide = shown.blocks.len() > 1;
        let mut groups: BTreeMap<(Option<u32>, ArrayId), Vec<(usize, &Event)>> = BTreeMap::new();
        let mut left_out = LeftOut { rest: !shown.is_whole, ..LeftOut::default() };
        for (position, event) in shown.events.iter().enumerate() {
            if event.offset.is_none() {
                left_out.unplaced += 1;
                continue;
            }
            let is_of_block = kernel.arrays[event.array].space == Space::Shared;
            let interval = (is_of_block || !grid_wide).then_some(event.phase + 1);
            groups.entry((interval, event.array)).or_default().push((position, event));
        }
        let panels: Vec<Panel> = groups
            .into_iter()
            .map(|((interval, array), events)| panel(kernel, shown, (interval, array), &events, &at))
            .filter(|panel| !panel.touches.is_empty())
            .collect();
        let panels = chosen(panels, &mut left_out);
        let threads = shown.geometry.block_threads().saturating_mul(shown.geometry.blocks());
        left_out.threads = threads.saturating_sub(rows.len() as u64);
        let row = |thread: ThreadId| Row {
            block: shown.blocks[thread.block as usize],
            thread: placed(thread.thread, shown.geometry.block),
        };
        Picture {
            geometry: shown.geometry,
            params: shown.params.clone(),
            rows: rows.into_iter().map(row).collect(),
            panels,
            left_out,
        }
    }

    /// Whether two threads collide in it.
    pub fn has_collisions(&self) -> bool {
        self.panels.iter().any(Panel::has_collisions)
    }
}

impl Panel {
    /// Whether two threads collide in it.
    pub fn has_collisions(&self) -> bool {
        self.touches.iter().any(|touch| touch.collides)
    }
}

/// The threads that are drawn: the first ones, and those of the first collisions.
fn rows(shown: &Shown) -> Vec<ThreadId> {
    let threads = shown.geometry.block_threads() as u32;
    let all =
        || (0..shown.blocks.len() as u32).flat_map(|block| (0..threads).map(move |thread| ThreadId { block, thread }));
    if threads as usize * shown.blocks.len() <= MOST_ROWS {
        return all().collect();
    }
    let colliding: Vec<ThreadId> = shown.conflicting.iter().map(|&at| shown.events[at].thread).collect();
    let mut chosen: BTreeSet<ThreadId> = colliding.into_iter().take(ROWS_OF_MANY / 2).collect();
    let of_each = ROWS_OF_MANY as u32 / shown.blocks.len().max(1) as u32;
    for thread in all().filter(|thread| thread.thread < of_each.max(1)) {
        if chosen.len() < ROWS_OF_MANY {
            chosen.insert(thread);
        }
    }
    chosen.into_iter().collect()
}

/// A place in a block, of its linear number.
fn placed(linear: u32, block: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = block.map(|extent| extent.max(1));
    [linear % x, linear / x % y, linear / x / y]
}

fn panel(
    kernel: &Kernel,
    shown: &Shown,
    (interval, array): (Option<u32>, ArrayId),
    events: &[(usize, &Event)],
    at: &BTreeMap<ThreadId, usize>,
) -> Panel {
    let about = &kernel.arrays[array];
    let unit = i64::from(about.element_bytes.max(1));
    let cells_of = |event: &Event| {
        let first = event.offset.unwrap_or(0);
        first.div_euclid(unit)..=(first + i64::from(event.bytes.max(1)) - 1).div_euclid(unit)
    };
    let drawn = || events.iter().filter(|(_, event)| at.contains_key(&event.thread));
    let is_colliding = |position: &usize| shown.conflicting.contains(position);
    let of = |wanted: &dyn Fn(&usize) -> bool| -> BTreeSet<i64> {
        drawn().filter(|(position, _)| wanted(position)).flat_map(|(_, event)| cells_of(event)).collect()
    };
    let all = of(&|_| true);
    // Where not all have room, those that threads collide at have it first.
    let mut cells: BTreeSet<i64> = of(&is_colliding).into_iter().take(MOST_CELLS).collect();
    for &cell in &all {
        if cells.len() == MOST_CELLS {
            break;
        }
        cells.insert(cell);
    }
    let cells: Vec<i64> = cells.into_iter().collect();
    let mut touches: BTreeMap<(usize, usize, How), Touch> = BTreeMap::new();
    for (position, event) in drawn() {
        for cell in cells_of(event) {
            let Ok(cell) = cells.binary_search(&cell) else { continue };
            let row = at[&event.thread];
            let how = how(event.kind);
            let collides = is_colliding(position);
            let touch = Touch { row, cell, how, certain: event.exact, collides };
            let known = touches.entry((row, cell, how)).or_insert(touch);
            if (touch.collides, touch.certain) > (known.collides, known.certain) {
                *known = touch;
            }
        }
    }
    Panel {
        array: about.name.clone(),
        space: about.space,
        interval,
        more_cells: all.len() - cells.len(),
        cells,
        touches: touches.into_values().collect(),
    }
}

fn how(kind: Kind) -> How {
    match kind {
        Kind::Read => How::Read,
        Kind::Write => How::Write,
        Kind::Atomic { .. } => How::Atomic,
    }
}

/// Those with collisions, then the first others.
fn chosen(panels: Vec<Panel>, left_out: &mut LeftOut) -> Vec<Panel> {
    let mut order: Vec<usize> = (0..panels.len()).collect();
    order.sort_by_key(|&at| !panels[at].has_collisions());
    let kept: BTreeSet<usize> = order.into_iter().take(MOST_PANELS).collect();
    left_out.panels = panels.len() - kept.len();
    let mut panels: Vec<Panel> =
        panels.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, panel)| panel).collect();
    panels.sort_by_key(|panel| !panel.has_collisions());
    panels
}
