//! What a launch needs: how far it reaches into each array.
//!
//! Found by running the kernel in raceproof's own semantics, with memory unknown but for what is chosen. Addresses that memory decides are not
//! known; an array that is accessed through them is `open`, and whoever makes room for it must guess.

use crate::calculus::eval::{self, Blocks, Contents, Event, Program, Run, Setup, Sink, Value};
use crate::calculus::{Array, ArrayId, Geometry, Kernel, Space};

/// Bytes of dynamic shared memory that a block is given at least if nobody knows what it needs.
const UNKNOWN_SHARED: u64 = 16 * 1024;

/// How far one launch reaches.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// First byte and the one past the last, by array.
    reach: Vec<Option<(i64, i64)>>,
    /// Whether addresses that are not known may reach further.
    open: Vec<bool>,
    /// Accesses that were seen.
    pub accesses: u64,
}

impl Sink for Needs {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        self.accesses += 1;
        let array = event.array.index();
        match event.offset {
            Some(offset) => {
                let end = offset + i64::from(event.bytes);
                let (low, high) = self.reach[array].unwrap_or((offset, end));
                self.reach[array] = Some((low.min(offset), high.max(end)));
            }
            None => self.open[array] = true,
        }
    }
}

impl Needs {
    /// Those of which nothing is known: every array is open.
    pub fn unknown(kernel: &Kernel) -> Needs {
        let arrays = kernel.arrays.iter().count();
        Needs { reach: vec![None; arrays], open: vec![true; arrays], accesses: 0 }
    }

    /// First byte and the one past the last that is certainly accessed.
    pub(super) fn reach(&self, array: ArrayId) -> Option<(i64, i64)> {
        self.reach[array.index()]
    }

    /// Whether an array may be accessed further away.
    pub(super) fn is_open(&self, array: ArrayId) -> bool {
        self.open[array.index()]
    }

    /// Bytes of dynamic shared memory that a block needs.
    pub fn dynamic_shared(&self, kernel: &Kernel) -> u64 {
        let is_dynamic = |array: &Array| array.space == Space::Shared && array.bytes.is_none() && !array.is_param;
        let of = |(id, _): (ArrayId, &Array)| self.shared(id);
        kernel.arrays.iter().filter(|(_, array)| is_dynamic(array)).map(of).max().unwrap_or(0)
    }

    /// Bytes of an array in shared memory.
    pub(super) fn shared(&self, array: ArrayId) -> u64 {
        let known = self.reach(array).map_or(0, |(_, high)| high.max(0).unsigned_abs());
        if self.is_open(array) { known.max(UNKNOWN_SHARED) } else { known }
    }
}

/// Runs `blocks` of a launch within a budget of instructions. What the run met on the way is beside what it needs.
pub fn measure(
    kernel: &Kernel,
    program: &Program,
    geometry: Geometry,
    params: &[Option<i128>],
    contents: Contents<'_>,
    (blocks, budget): (Blocks<'_>, u64),
) -> (Needs, Run) {
    let mut needs = Needs::unknown(kernel);
    needs.open.fill(false);
    let setup = Setup { geometry, params, blocks, contents, budget };
    let run = eval::run(program, &setup, &mut needs);
    (needs, run)
}

/// The needs of a whole launch, as far as the budget goes; then those of its first and last blocks, and what lies
/// further is open.
pub(super) fn of_launch(
    kernel: &Kernel,
    program: &Program,
    geometry: Geometry,
    params: &[Option<i128>],
    contents: Contents<'_>,
    budget: u64,
) -> Needs {
    let (mut needs, run) = measure(kernel, program, geometry, params, contents, (Blocks::All, budget));
    if run.finished {
        return needs;
    }
    let last = geometry.grid.map(|extent| extent - 1);
    let ends = [[0; 3], last];
    let ends = if last == [0; 3] { &ends[..1] } else { &ends[..] };
    let (far, _) = measure(kernel, program, geometry, params, contents, (Blocks::These(ends), budget));
    for (here, there) in needs.reach.iter_mut().zip(far.reach) {
        *here = match (*here, there) {
            (Some((low, high)), Some((lower, higher))) => Some((low.min(lower), high.max(higher))),
            (one, other) => one.or(other),
        };
    }
    needs.open.fill(true);
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text;

    #[test]
    fn shared_memory_reaches_as_far_as_is_known_and_some_further_where_memory_decides() {
        let source = |end: &str| {
            format!(
                "kernel k() {{ shared s: element 4  global p: element 8  var v: i64
                 write s[40000; 4] @0  let v = read p[0; 8] @1  {end} }}"
            )
        };
        let needed = |source: &str| {
            let kernel = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
            let geometry = Geometry { block: [1; 3], grid: [1; 3] };
            let (needs, _) =
                measure(&kernel, &Program::new(&kernel), geometry, &[], Contents::Unknown, (Blocks::All, 1000));
            needs.dynamic_shared(&kernel)
        };
        assert_eq!(needed(&source("")), 40004);
        assert_eq!(needed(&source("write s[v; 4] @2")), 40004);
        let near = source("write s[v; 4] @2").replace("40000", "4");
        assert_eq!(needed(&near), UNKNOWN_SHARED);
    }
}
