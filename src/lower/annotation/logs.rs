//! Logs of accesses, for claims about them: `__no_write(a)`, `__read_implies(a, __read_offset_bytes(a) < n)`.
//!
//! A thread has one log for each array and direction that a claim is about: whether it has accessed the array since the
//! last barrier that orders its memory, and where. Of several accesses it is about any of them, chosen freely, so that
//! what is proved of the log is proved of them all. The log is made of variables of the thread; nothing that the program
//! does depends on them. It is kept when the kernel is complete (`src/settle/logs.rs`).

use crate::builtins;
use crate::calculus::{ArrayId, ScalarType};
use crate::lower::pass::Pass;
use crate::settle::notes::{Direction, Log};

impl Pass<'_> {
    /// The log of these accesses, which is kept from now on, also of what comes before.
    pub(in crate::lower) fn log(&mut self, array: ArrayId, direction: builtins::Direction) -> Log {
        let direction = match direction {
            builtins::Direction::Read => Direction::Read,
            builtins::Direction::Write => Direction::Write,
        };
        let known = self.notes.logs.iter().find(|log| (log.array, log.direction) == (array, direction));
        if let Some(known) = known {
            return *known;
        }
        let verb = if direction == Direction::Read { "read" } else { "written" };
        let stem = format!("{}.{verb}", self.kernel.arrays[array].name);
        let made = self.variable(stem.as_str(), ScalarType::Bool);
        let offset = self.variable(format!("{stem}.offset"), ScalarType::U64);
        let chosen = self.variable(format!("{stem}.chosen"), ScalarType::Bool);
        let log = Log { array, direction, made, offset, chosen };
        self.notes.logs.push(log);
        log
    }
}
