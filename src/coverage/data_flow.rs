//! Coverage of accesses to memory that threads share, and of the ways on which what a store leaves comes to a load.
//!
//! | what | reached when |
//! |---|---|
//! | access | some thread made it |
//! | pair in a way ([`Way`]) | a load read bytes of which that store was the last writer, and the two stood so to each other |
//!
//! A pair is there because somebody foresaw it or because a run showed it. What a run showed where nothing orders the two is
//! no pair: it stands beside ([`Unordered`]).
//!
//! Guarantees: as for points, accesses and pairs of one place are one, whichever units and runs they are of.
//!
//! Deliberately absent: who foresees pairs, and who finds them in runs.

use super::{Total, language};
use crate::memory_model::ways::Way;
use crate::source::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What runs show of accesses and of what comes from one to the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataFlow {
    /// Places that access shared or global memory, in the order of files and places.
    pub accesses: Vec<Access>,
    /// Pairs of a store and a load, each way for itself, in the order of the loads.
    pub pairs: Vec<Pair>,
    /// What was read with nothing between that orders it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unordered: Vec<Unordered>,
    /// What is not known, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A place in device code that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The path of its file.
    pub file: String,
    /// Where, from 1.
    pub line: u32,
    /// Where, from 1.
    pub column: u32,
    /// The kernel or device function around it.
    pub function: String,
    /// What is accessed, as it is written.
    pub array: String,
}

/// An access, and how it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What it is written in; left out of JSON for CUDA.
    #[serde(with = "language", default = "language::cuda", skip_serializing_if = "language::is_cuda")]
    pub language: Language,
    /// What it does: `read`, `write`, `read-write` or `atomic`.
    pub access: String,
    /// How often it read.
    pub reads: u64,
    /// How often it wrote.
    pub writes: u64,
    /// Intervals of blocks in which it was made, each block of each launch for itself.
    pub distinct_intervals: u64,
    /// Of these, those in which one thread made it, and those in which several did, by how many barriers stand before.
    pub intervals: Vec<Interval>,
}

/// The intervals of blocks behind so many barriers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// How many barriers of the block stand before; of all that are not told one by one there is no number.
    pub barriers: Option<u32>,
    /// How often the access was made, by all threads.
    pub times: u64,
    /// In how many blocks one thread made it.
    pub by_one: u64,
    /// In how many blocks several did.
    pub by_several: u64,
}

/// A store, a load, and a way from the one to the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The store, or the atomic.
    pub store: Place,
    /// The load, or the atomic.
    pub load: Place,
    /// What it is written in; left out of JSON for CUDA.
    #[serde(with = "language", default = "language::cuda", skip_serializing_if = "language::is_cuda")]
    pub language: Language,
    /// How they stand to each other.
    pub way: Way,
    /// Bytes that came so from the one to the other.
    pub bytes: u64,
    /// Whether it was foreseen, and not only seen.
    pub foreseen: bool,
}

/// A load that read what a store left, with nothing between that orders the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unordered {
    /// The store.
    pub store: Place,
    /// The load.
    pub load: Place,
    /// What it is written in; left out of JSON for CUDA.
    #[serde(with = "language", default = "language::cuda", skip_serializing_if = "language::is_cuda")]
    pub language: Language,
    /// Bytes.
    pub bytes: u64,
}

impl Access {
    /// Whether any thread made it.
    pub fn is_made(&self) -> bool {
        self.reads + self.writes > 0
    }

    fn add(&mut self, other: Access) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.distinct_intervals += other.distinct_intervals;
        for more in other.intervals {
            match self.intervals.iter_mut().find(|known| known.barriers == more.barriers) {
                Some(known) => {
                    known.times += more.times;
                    known.by_one += more.by_one;
                    known.by_several += more.by_several;
                }
                None => self.intervals.push(more),
            }
        }
        // What has no number is what comes last.
        self.intervals.sort_by_key(|interval| (interval.barriers.is_none(), interval.barriers));
    }
}

impl DataFlow {
    /// Of these, those of one place added up.
    pub fn of(all: impl IntoIterator<Item = DataFlow>) -> DataFlow {
        let mut accesses: BTreeMap<(Place, String), Access> = BTreeMap::new();
        let mut pairs: BTreeMap<(Place, Place, Way), Pair> = BTreeMap::new();
        let mut unordered: BTreeMap<(Place, Place), Unordered> = BTreeMap::new();
        let mut notes = Vec::new();
        for each in all {
            for access in each.accesses {
                match accesses.entry((access.place.clone(), access.access.clone())) {
                    Entry::Occupied(mut known) => known.get_mut().add(access),
                    Entry::Vacant(place) => _ = place.insert(access),
                }
            }
            for pair in each.pairs {
                match pairs.entry((pair.load.clone(), pair.store.clone(), pair.way)) {
                    Entry::Occupied(mut known) => {
                        known.get_mut().bytes += pair.bytes;
                        known.get_mut().foreseen |= pair.foreseen;
                    }
                    Entry::Vacant(place) => _ = place.insert(pair),
                }
            }
            for pair in each.unordered {
                match unordered.entry((pair.load.clone(), pair.store.clone())) {
                    Entry::Occupied(mut known) => known.get_mut().bytes += pair.bytes,
                    Entry::Vacant(place) => _ = place.insert(pair),
                }
            }
            notes.extend(each.notes);
        }
        notes.sort();
        notes.dedup();
        DataFlow {
            accesses: accesses.into_values().collect(),
            pairs: pairs.into_values().collect(),
            unordered: unordered.into_values().collect(),
            notes,
        }
    }

    /// How many accesses are made.
    pub(super) fn of_accesses(&self) -> Total {
        let mut total = Total::default();
        total.add(self.accesses.iter().map(Access::is_made));
        total
    }

    /// How many pairs are covered.
    pub(super) fn of_pairs(&self) -> Total {
        let mut total = Total::default();
        total.add(self.pairs.iter().map(|pair| pair.bytes > 0));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;

    fn place(line: u32) -> Place {
        let text = str::to_owned;
        Place { file: text("k.cu"), line, column: 1, function: text("k"), array: text("a") }
    }

    fn access(line: u32, reads: u64, barriers: Option<u32>) -> Access {
        let intervals = vec![Interval { barriers, times: reads, by_one: 1, by_several: 0 }];
        let language = Language::Cuda;
        let access = "read".to_owned();
        Access { place: place(line), language, access, reads, writes: 0, distinct_intervals: 1, intervals }
    }

    fn pair(way: Way, bytes: u64, foreseen: bool) -> Pair {
        Pair { store: place(1), load: place(2), language: Language::OpenCl, way, bytes, foreseen }
    }

    #[test]
    fn runs_add_up_and_each_way_is_a_pair_of_its_own() {
        let first = DataFlow {
            accesses: vec![access(2, 0, None), access(3, 0, Some(4))],
            pairs: vec![pair(Way::Own, 0, true), pair(Way::HandedOver, 0, true)],
            notes: vec!["n".to_owned()],
            ..DataFlow::default()
        };
        let second = DataFlow {
            accesses: vec![access(2, 5, Some(1))],
            pairs: vec![pair(Way::HandedOver, 8, false), pair(Way::BetweenLaunches, 4, false)],
            notes: vec!["n".to_owned()],
            ..DataFlow::default()
        };
        let with = |flow| Coverage::of([]).with_data_flow(Some(flow));
        let both = Coverage::together([with(first), with(second), Coverage::of([])]);
        assert_eq!(both.totals.accesses, Some(Total { reached: 1, all: 2 }));
        assert_eq!(both.totals.data_flow, Some(Total { reached: 2, all: 3 }));
        let flow = both.data_flow.as_ref().expect("two of them have some");
        let seen: Vec<_> = flow.pairs.iter().map(|pair| (pair.way, pair.bytes, pair.foreseen)).collect();
        assert_eq!(seen, [(Way::Own, 0, true), (Way::HandedOver, 8, true), (Way::BetweenLaunches, 4, false)]);
        assert_eq!(flow.accesses[0].intervals.iter().map(|it| it.barriers).collect::<Vec<_>>(), [Some(1), None]);
        assert_eq!(flow.notes, ["n"]);
        let json = serde_json::to_string(&both).expect("it can be written");
        assert!(json.contains("\"way\":\"between-launches\"") && json.contains("\"language\":\"opencl\""), "{json}");
        assert_eq!(serde_json::from_str::<Coverage>(&json).expect("it can be read"), both);
    }

    #[test]
    fn a_report_without_data_flow_is_what_it_was() {
        let json = serde_json::to_string(&Coverage::of([])).expect("it can be written");
        assert!(!json.contains("data_flow") && !json.contains("accesses"), "{json}");
    }
}
