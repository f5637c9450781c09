//! The columns of every table. `docs/LOGS.md` has the same, with their meaning; a test compares both.

use super::row::Row;
use crate::memory_model::clocks::Touch;
use crate::memory_model::{MemoryOrder, SyncScope};
use crate::trace::format::synchronisations::{Event, Synchronisation};
use crate::trace::format::{Allocation, Kind, Launch, Site, Space, Totals};
use parquet::data_type::ByteArray;

/// A column of some rows.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
    /// For each row whether it has a value, if rows may have none.
    pub(super) present: Option<Vec<i16>>,
}

/// Values of one type, of the rows that have one.
pub(super) enum Values {
    /// Of 32 bits without a sign.
    Small(Vec<i32>),
    /// Of 64 bits without a sign.
    Large(Vec<i64>),
    /// Of 64 bits with a sign.
    Signed(Vec<i64>),
    Text(Vec<ByteArray>),
}

fn small(name: &'static str, values: impl Iterator<Item = u32>) -> Column {
    Column { name, values: Values::Small(values.map(|value| value as i32).collect()), present: None }
}

fn large(name: &'static str, values: impl Iterator<Item = u64>) -> Column {
    Column { name, values: Values::Large(values.map(|value| value as i64).collect()), present: None }
}

/// For numbers that are subtracted: without a sign, a difference below 0 would be an error.
fn signed(name: &'static str, values: impl Iterator<Item = u64>) -> Column {
    Column { name, values: Values::Signed(values.map(|value| value as i64).collect()), present: None }
}

fn text<'a>(name: &'static str, values: impl Iterator<Item = &'a str>) -> Column {
    Column { name, values: Values::Text(values.map(ByteArray::from).collect()), present: None }
}

/// A text that is one of a few, without a copy for each row.
fn word(name: &'static str, values: impl Iterator<Item = &'static str>) -> Column {
    let mut known: Vec<(&str, ByteArray)> = Vec::new();
    let bytes = |value: &'static str| match known.iter().find(|(word, _)| *word == value) {
        Some((_, bytes)) => bytes.clone(),
        None => {
            known.push((value, ByteArray::from(value)));
            ByteArray::from(value)
        }
    };
    Column { name, values: Values::Text(values.map(bytes).collect()), present: None }
}

/// A column of which some rows have no value.
fn optional<T>(
    name: &'static str,
    rows: impl Iterator<Item = Option<T>>,
    column: impl Fn(&'static str, std::vec::IntoIter<T>) -> Column,
) -> Column {
    let rows: Vec<Option<T>> = rows.collect();
    let present = rows.iter().map(|row| i16::from(row.is_some())).collect();
    let values: Vec<T> = rows.into_iter().flatten().collect();
    Column { present: Some(present), ..column(name, values.into_iter()) }
}

pub(super) fn launches(rows: &[(&u32, &Launch)]) -> Vec<Column> {
    let extent = |of: fn(&Launch) -> u32| rows.iter().map(move |(_, launch)| of(launch));
    let total = |of: fn(Totals) -> u64| rows.iter().map(move |(_, launch)| of(launch.finished.unwrap_or_default()));
    let line = |(name, value): &(String, String)| format!("{name}={value}\n");
    let arguments: Vec<String> = rows.iter().map(|(_, launch)| launch.arguments.iter().map(line).collect()).collect();
    vec![
        small("launch", rows.iter().map(|(id, _)| **id)),
        text("kernel", rows.iter().map(|(_, launch)| launch.kernel.as_str())),
        small("grid_x", extent(|launch| launch.grid[0])),
        small("grid_y", extent(|launch| launch.grid[1])),
        small("grid_z", extent(|launch| launch.grid[2])),
        small("block_x", extent(|launch| launch.block[0])),
        small("block_y", extent(|launch| launch.block[1])),
        small("block_z", extent(|launch| launch.block[2])),
        large("dynamic_shared", rows.iter().map(|(_, launch)| launch.dynamic_shared)),
        text("arguments", arguments.iter().map(String::as_str)),
        large("accesses", total(|totals| totals.accesses)),
        large("blocks", total(|totals| totals.blocks)),
        large("synchronisations", total(|totals| totals.synchronisations)),
    ]
}

pub(super) fn allocations(rows: &[(&u32, &Allocation)]) -> Vec<Column> {
    vec![
        small("allocation", rows.iter().map(|(id, _)| **id)),
        word("space", rows.iter().map(|(_, allocation)| allocation.space.name())),
        large("base", rows.iter().map(|(_, allocation)| allocation.base)),
        large("bytes", rows.iter().map(|(_, allocation)| allocation.bytes)),
        text("name", rows.iter().map(|(_, allocation)| allocation.name.as_str())),
    ]
}

pub(super) fn sites(rows: &[&Site]) -> Vec<Column> {
    vec![
        small("site", rows.iter().map(|site| site.id)),
        text("access", rows.iter().map(|site| site.access.as_str())),
        text("path", rows.iter().map(|site| site.path.as_str())),
        small("start_line", rows.iter().map(|site| site.start.0)),
        small("start_column", rows.iter().map(|site| site.start.1)),
        small("end_line", rows.iter().map(|site| site.end.0)),
        small("end_column", rows.iter().map(|site| site.end.1)),
        text("array_name", rows.iter().map(|site| site.array.as_str())),
        text("function", rows.iter().map(|site| site.function.as_str())),
        text("expansion", rows.iter().map(|site| site.expansion.as_str())),
    ]
}

pub(super) fn accesses(rows: &[Row]) -> Vec<Column> {
    let number = |of: fn(&Row) -> u32| rows.iter().map(of);
    let space = |row: &Row| Space::ALL.get(row.space as usize).map_or("", |space| space.name());
    vec![
        small("launch", number(|row| row.launch)),
        word("space", rows.iter().map(space)),
        large("address", rows.iter().map(|row| row.address)),
        small("allocation", number(|row| row.allocation)),
        signed("byte_offset", rows.iter().map(|row| row.offset)),
        small("bytes", number(|row| row.bytes)),
        word("kind", rows.iter().map(|row| kind(row.kind))),
        small("site", number(|row| row.site)),
        signed("block", rows.iter().map(|row| row.block)),
        small("thread", number(|row| row.thread)),
        small("grid_syncs", number(|row| row.epochs.grid)),
        small("block_syncs", number(|row| row.epochs.block)),
        small("shared_only_syncs", number(|row| row.epochs.shared_only)),
        small("tile_2_syncs", number(|row| row.epochs.tile[0])),
        small("tile_4_syncs", number(|row| row.epochs.tile[1])),
        small("tile_8_syncs", number(|row| row.epochs.tile[2])),
        small("tile_16_syncs", number(|row| row.epochs.tile[3])),
        small("tile_32_syncs", number(|row| row.epochs.tile[4])),
        small("synchronised", number(|row| row.epochs.synchronised)),
    ]
}

pub(super) fn synchronisations(rows: &[(u32, &Synchronisation)]) -> Vec<Column> {
    let parts: Vec<Parts> = rows.iter().map(|(_, one)| Parts::of(&one.event)).collect();
    vec![
        small("launch", rows.iter().map(|(launch, _)| *launch)),
        large("ticket", rows.iter().map(|(_, one)| one.ticket)),
        signed("block", rows.iter().map(|(_, one)| one.block)),
        small("thread", rows.iter().map(|(_, one)| one.thread)),
        word("event", parts.iter().map(|parts| parts.event)),
        optional("memory_order", parts.iter().map(|parts| parts.order), word),
        optional("scope", parts.iter().map(|parts| parts.scope), word),
        optional("cell_block", parts.iter().map(|parts| parts.block), signed),
        optional("cell", parts.iter().map(|parts| parts.cell), large),
        optional("lanes", parts.iter().map(|parts| parts.lanes), small),
    ]
}

/// What a synchronisation is, field by field.
#[derive(Default)]
struct Parts {
    event: &'static str,
    order: Option<&'static str>,
    scope: Option<&'static str>,
    block: Option<u64>,
    cell: Option<u64>,
    lanes: Option<u32>,
}

impl Parts {
    fn of(event: &Event) -> Parts {
        let memory = |event, order, reach| Parts {
            event,
            order: Some(memory_order(order)),
            scope: Some(scope(reach)),
            ..Parts::default()
        };
        match *event {
            Event::Fence(order, reach) => memory("fence", order, reach),
            Event::Atomic(touch, (block, cell), order, reach) => {
                let word = match touch {
                    Touch::Load => "load",
                    Touch::Store => "store",
                    Touch::Update => "update",
                };
                Parts { block, cell: Some(cell), ..memory(word, order, reach) }
            }
            Event::Barrier => Parts { event: "barrier", ..Parts::default() },
            Event::Meeting(lanes) => Parts { event: "meeting", lanes: Some(lanes), ..Parts::default() },
        }
    }
}

fn memory_order(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::Relaxed => "relaxed",
        MemoryOrder::Acquire | MemoryOrder::AcquireOnExchange => "acquire",
        MemoryOrder::Release => "release",
        MemoryOrder::AcquireRelease | MemoryOrder::AcquireReleaseOnExchange => "acquire-release",
        MemoryOrder::SequentiallyConsistent => "sequentially consistent",
    }
}

fn scope(scope: SyncScope) -> &'static str {
    match scope {
        SyncScope::Warp => "warp",
        SyncScope::Block => "block",
        SyncScope::Cluster => "cluster",
        SyncScope::Grid => "device",
        SyncScope::System => "system",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::AtomicBlock => "atomic block",
        Kind::AtomicDevice => "atomic device",
        Kind::AtomicSystem => "atomic system",
        Kind::LoadBlock => "load block",
        Kind::LoadDevice => "load device",
        Kind::LoadSystem => "load system",
    }
}
