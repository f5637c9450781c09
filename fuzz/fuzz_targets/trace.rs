//! Any bytes are read as a log, or refused: no panic, and nothing that is damaged passes as complete.

#![no_main]

use libfuzzer_sys::fuzz_target;
use raceproof::trace::format::accesses::{AccessesHead, Begins, Run, Visitor};
use raceproof::trace::format::bytes::Malformed;
use raceproof::trace::format::chunk::{ChunkKind, framed, head};
use raceproof::trace::format::read_log;
use std::io::Cursor;

struct Count(u64);

impl Visitor for Count {
    fn block(&mut self, _: u64, _: Begins) -> Result<(), Malformed> {
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        self.0 += run.count * run.shapes.len() as u64;
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let _ = read_log(Cursor::new(bytes));
    // The same bytes as a chunk whose checksum is right, so that what lies behind it is reached.
    if let Ok((accesses, steps)) = AccessesHead::read(bytes) {
        let mut count = Count(0);
        if accesses.visit(steps, &mut count).is_ok() {
            assert_eq!(count.0, accesses.accesses);
        }
    }
    for kind in ChunkKind::ALL {
        let mut log = head();
        log.extend(framed(kind, 0, bytes));
        let log = read_log(Cursor::new(log)).expect("the head is whole");
        assert!(kind == ChunkKind::End || !log.problems.is_empty());
    }
});
