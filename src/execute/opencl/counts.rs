//! What kernels count in the place of logging (`src/instrument/runtime/opencl/counts.cl` says where each number stands), added up over
//! the launches of a unit.
//!
//! Guarantees: a buffer that is shorter than it has to be counts for nothing.

use super::records::Extents;
use crate::instrument::opencl::Counts;

/// Words of a buffer's head.
const HEAD: usize = 8;

/// What a unit's launches have counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Four numbers for each point.
    pub points: Vec<[u64; 4]>,
    /// For each agreement before a barrier: groups that part there, and their work-items that go to the barrier.
    pub agreements: Vec<[u64; 2]>,
    /// Groups that part, as far as there was room.
    pub parted: Vec<Parted>,
    /// The largest extents of a work-group, and the most work-groups, along each axis; 0 without launches.
    pub largest: [[u32; 3]; 2],
}

/// A group that parts before a barrier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parted {
    /// Which of the unit's barriers.
    pub agreement: usize,
    /// The launch, from 1.
    pub launch: u64,
    /// The kernel.
    pub kernel: String,
    /// Where the group is.
    pub group: [u64; 3],
    /// How many work-items it has along x and y.
    pub extents: [u64; 2],
    /// Those that do not go to the barrier, by number within the group: ranges whose ends count.
    pub missing: Vec<[u64; 2]>,
}

/// How many words the buffer of a unit has before the groups that part.
pub(super) fn words(counts: &Counts) -> usize {
    HEAD + 4 * counts.points + 2 * counts.agreed.len()
}

impl Counted {
    /// Of a unit without launches yet.
    pub(super) fn of(counts: &Counts) -> Counted {
        Counted {
            points: vec![[0; 4]; counts.points],
            agreements: vec![[0; 2]; counts.agreed.len()],
            parted: Vec::new(),
            largest: [[0; 3]; 2],
        }
    }

    /// Adds what a launch has counted; gives the groups that part in it, in their order.
    pub(super) fn add(&mut self, (number, kernel): (u64, &str), extents: Extents, words: &[u32]) -> Vec<Parted> {
        for (known, these) in self.largest.iter_mut().zip([extents.block, extents.grid]) {
            *known = [0, 1, 2].map(|axis| known[axis].max(these[axis]));
        }
        let (of_points, of_agreements) = (4 * self.points.len(), 2 * self.agreements.len());
        let Some((head, rest)) = words.split_at_checked(HEAD) else { return Vec::new() };
        let Some((points, rest)) = rest.split_at_checked(of_points) else { return Vec::new() };
        let Some((agreements, rest)) = rest.split_at_checked(of_agreements) else { return Vec::new() };
        let more = |known: &mut u64, more: &u32| *known += u64::from(*more);
        self.points.as_flattened_mut().iter_mut().zip(points).for_each(|(known, it)| more(known, it));
        self.agreements.as_flattened_mut().iter_mut().zip(agreements).for_each(|(known, it)| more(known, it));
        let taken = head[0].min(head[1]) as usize;
        let parted = |words: &[u32]| {
            let [agreement, group, bits @ ..] = words else { return None };
            let items = extents.block.iter().map(|&extent| u64::from(extent)).product();
            let grid = extents.grid.map(|extent| u64::from(extent.max(1)));
            let group = u64::from(*group);
            Some(Parted {
                agreement: *agreement as usize,
                launch: number,
                kernel: kernel.to_owned(),
                group: [group % grid[0], group / grid[0] % grid[1], group / grid[0] / grid[1]],
                extents: [extents.block[0], extents.block[1]].map(u64::from),
                missing: ranges(bits, items),
            })
        };
        let mut found: Vec<Parted> =
            rest.chunks_exact((head[2] as usize).max(1)).take(taken).filter_map(parted).collect();
        found.retain(|parted| parted.agreement < self.agreements.len());
        // They are told in the order of their groups, whichever came first.
        found.sort();
        self.parted.extend(found.iter().cloned());
        found
    }
}

/// The numbers below `count` whose bits are set, as ranges.
fn ranges(bits: &[u32], count: u64) -> Vec<[u64; 2]> {
    let is_set = |number: &u64| bits.get((number / 32) as usize).is_some_and(|word| word >> (number % 32) & 1 == 1);
    let mut found: Vec<[u64; 2]> = Vec::new();
    for number in (0..count).filter(is_set) {
        match found.last_mut().filter(|last| last[1] + 1 == number) {
            Some(last) => last[1] = number,
            None => found.push([number; 2]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_add_up_and_groups_that_part_are_told_in_their_order() {
        let counts = Counts { points: 1, agreed: vec![None] };
        let mut counted = Counted::of(&counts);
        let extents = Extents { grid: [2, 3, 1], block: [40, 1, 1], items: [80, 3, 1] };
        let mut buffer = vec![2, 256, 4, 0, 9, 9, 9, 0, 5, 6, 7, 8, 2, 41];
        assert_eq!(words(&counts), buffer.len());
        buffer.extend([0, 5, 0xFFFF_FFE0, 0xFF, 0, 1, 1, 0, 9, 9, 9, 9]);
        let parted = counted.add((3, "k"), extents, &buffer);
        let of = |group, missing: &[[u64; 2]]| Parted {
            agreement: 0,
            launch: 3,
            kernel: "k".to_owned(),
            group,
            extents: [40, 1],
            missing: missing.to_vec(),
        };
        assert_eq!(parted, [of([1, 0, 0], &[[0, 0]]), of([1, 2, 0], &[[5, 39]])]);
        assert!(counted.add((4, "k"), extents, &buffer[..11]).is_empty(), "it is too short");
        buffer[0] = 0;
        let wider = Extents { block: [8, 1, 2], ..extents };
        assert!(counted.add((5, "k"), wider, &buffer).is_empty());
        assert_eq!(counted.largest, [[40, 1, 2], [2, 3, 1]]);
        assert_eq!((&counted.points[..], &counted.agreements[..]), (&[[10, 12, 14, 16]][..], &[[4, 82]][..]));
    }
}
