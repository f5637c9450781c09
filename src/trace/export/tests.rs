//! Rows come back from disk, and in order whatever the memory.

use super::row::{NONE, Row};
use super::sort::Sorter;
use crate::trace::format::bytes::Cursor;
use crate::trace::format::{Epochs, Kind};
use proptest::prelude::*;

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let small = || prop_oneof![0..3u32, any::<u32>()];
    let memory = (0..3u32, 0..5u8, 0..2u32, prop_oneof![Just(0u64), any::<u64>()], prop_oneof![0..9u64, 0..1u64 << 60]);
    let manner = (0..3u32, 0usize..8, small());
    let epochs = (prop::array::uniform5(small()), prop::array::uniform4(small()));
    let row =
        (memory, manner, epochs, any::<u64>(), small()).prop_map(|(memory, manner, (tile, syncs), block, thread)| {
            let (launch, space, allocation, base, offset) = memory;
            let (site, kind, bytes) = manner;
            let [grid, of_block, shared_only, synchronised] = syncs;
            Row {
                launch,
                space,
                address: base.wrapping_add(offset),
                allocation,
                block,
                thread,
                epochs: Epochs { grid, block: of_block, tile, shared_only, synchronised },
                offset,
                bytes,
                kind: Kind::ALL[kind],
                site,
            }
        });
    prop::collection::vec(row, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_come_back(rows in rows()) {
        let mut bytes = Vec::new();
        let mut before = NONE;
        for row in &rows {
            row.write(&before, &mut bytes);
            before = *row;
        }
        let mut cursor = Cursor::new(&bytes);
        let mut before = NONE;
        for row in &rows {
            before = Row::read(&before, &mut cursor).expect("it is whole");
            prop_assert_eq!(&before, row);
        }
        prop_assert!(cursor.is_empty());
        for length in 0..bytes.len().min(200) {
            let mut cursor = Cursor::new(&bytes[..length]);
            while !cursor.is_empty() && Row::read(&NONE, &mut cursor).is_ok() {}
        }
    }

    #[test]
    fn rows_are_sorted_in_any_memory(rows in rows(), at_once in 1usize..20, limit in 1usize..40) {
        let mut sorter = Sorter::with_limit(limit);
        for some in rows.chunks(at_once) {
            sorter.add(some.to_vec()).expect("it can be kept");
        }
        let mut sorted = Vec::new();
        sorter.each(|row| { sorted.push(row); Ok(()) }).expect("it can be read");
        let mut expected = rows;
        expected.sort_unstable();
        prop_assert_eq!(sorted, expected);
    }
}
