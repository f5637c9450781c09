//! The pairs of accesses that share a barrier interval, and how they meet.
//!
//! Only pairs that could conflict are listed: of one array, one of them writing. Every barrier of sufficient
//! scope is taken to order, as if it had been proved uniform; `show conditions` says which were.

use super::places::Places;
use crate::calculus::intervals::{Intervals, Meeting, Relation, SyncInstance, Turn, analyze};
use crate::calculus::{Kernel, SiteId, Space};
use crate::memory_model::{AccessKind, Level, may_meet, orders};
use crate::protocol::{Access, Protocol};
use std::fmt::Write as _;

/// More meetings than this are not listed: their number grows with the square of that of the accesses.
const MAX_LINES: usize = 10_000;

/// The intervals of a kernel as text.
pub(super) fn text(kernel: &Kernel, protocol: &Protocol, places: &Places) -> String {
    let mut out = format!("kernel {}\n", kernel.name);
    let has_clusters = kernel.geometry.clusters().is_some();
    let of_two = if has_clusters { "threads of two clusters" } else { "threads of two blocks" };
    let levels = [
        (Level::Block, "threads of one block"),
        (Level::Cluster, "threads of two blocks of a cluster"),
        (Level::Grid, of_two),
    ];
    let spaces = [
        (Space::Shared, "shared"),
        (Space::Distributed, "distributed shared"),
        (Space::Global, "global"),
        (Space::Image, "image"),
    ];
    for (space, space_name) in spaces {
        for (level, level_name) in levels {
            if may_meet(space, level) && (has_clusters || level != Level::Cluster) {
                let lines = pairs(kernel, protocol, places, space, level);
                if !lines.is_empty() {
                    let _ = writeln!(out, "  {space_name} memory, {level_name}:\n{}", lines.join("\n"));
                }
            }
        }
    }
    out
}

fn pairs(kernel: &Kernel, protocol: &Protocol, places: &Places, space: Space, level: Level) -> Vec<String> {
    let intervals = analyze(kernel, &|site| is_ordering(protocol, site, space, level));
    let accesses: Vec<&Access> = protocol
        .accesses
        .iter()
        .map(|(_, access)| access)
        .filter(|access| protocol.arrays[access.array].space == space)
        .collect();
    let mut lines = Vec::new();
    for (index, first) in accesses.iter().enumerate() {
        for second in &accesses[index..] {
            if lines.len() >= MAX_LINES {
                lines.push(format!("    … more than {MAX_LINES} meetings; choose a smaller kernel"));
                return lines;
            }
            if first.array == second.array && (first.kind.writes() || second.kind.writes()) {
                lines.extend(meetings(&intervals, protocol, first, second, places));
            }
        }
    }
    lines
}

fn is_ordering(protocol: &Protocol, site: SiteId, space: Space, level: Level) -> bool {
    protocol.syncs.iter().any(|(_, sync)| sync.site == site && orders(sync.scope, sync.memory, space, level))
}

fn meetings(
    intervals: &Intervals,
    protocol: &Protocol,
    first: &Access,
    second: &Access,
    places: &Places,
) -> Vec<String> {
    let array = &protocol.arrays[first.array].name;
    let (one, two) = (described(first, places), described(second, places));
    let describe = |meeting: &Meeting| format!("    {array}: {one} and {two}{}", circumstances(meeting, places));
    intervals.meetings(first.site, second.site).iter().map(describe).collect()
}

fn described(access: &Access, places: &Places) -> String {
    let kind = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic { .. } => "atomic",
    };
    format!("{kind} at {}", places.name(access.site))
}

fn circumstances(meeting: &Meeting, places: &Places) -> String {
    let mut parts: Vec<String> = meeting
        .relations
        .iter()
        .map(|&(site, relation)| {
            let words = match relation {
                Relation::Same => "in one turn",
                Relation::Next => "one turn later",
                Relation::Previous => "one turn earlier",
                Relation::Any => "in any turns",
            };
            format!("{words} of the loop at {}", places.name(site))
        })
        .collect();
    parts.extend(meeting.between.iter().map(|instance| skipped(instance, places)));
    if parts.is_empty() { String::new() } else { format!(", {}", parts.join(", ")) }
}

fn skipped(instance: &SyncInstance, places: &Places) -> String {
    let turns: Vec<String> = instance
        .iterations
        .iter()
        .map(|&(site, turn)| {
            let words = match turn {
                Turn::First => "in the first access's turn",
                Turn::AfterFirst => "in the turn after the first access's",
                Turn::Second => "in the second access's turn",
                Turn::AfterSecond => "in the turn after the second access's",
                Turn::BeforeFirst => "in the turn before the first access's",
                Turn::BeforeSecond => "in the turn before the second access's",
                Turn::Zero => "in turn 0",
            };
            format!(" {words} of the loop at {}", places.name(site))
        })
        .collect();
    format!("if the barrier at {} is skipped{}", places.name(instance.sync), turns.join(","))
}
