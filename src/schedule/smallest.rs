//! The smallest schedule that still makes a difference: parts are taken out as long as it does.
//!
//! An order is first confined to one launch, then written as the blocks or threads that are pulled to the front one by one, so that most
//! of them can be taken out. Parts go in halves and ever smaller pieces (delta debugging: Zeller and Hildebrandt, 2002), so
//! that in the end none can be taken out alone; of a few, as most schedules have from the start, all subsets are tried, the smallest
//! first: no subset with fewer parts makes the difference. That others with fewer parts may, [`fewer`] tries. Effort is counted in
//! runs.

use super::orders::as_fronts;
use super::{Of, Part, Schedule};
use std::collections::BTreeMap;

/// Of so many parts all subsets are tried.
const FEW: usize = 5;

/// An order of so many is written as those that are pulled to the front: each of them has a run's time.
const MOST_PULLED: u64 = 1 << 13;

/// What is known of a launch: its blocks and the threads of each.
pub type Extents = BTreeMap<u64, (u64, u64)>;

/// A schedule that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    /// What is left.
    pub schedule: Schedule,
    /// How many runs that took.
    pub runs: usize,
    /// Whether no part of it can be taken out; else the runs came to an end before.
    pub is_minimal: bool,
}

/// Makes a schedule smaller that makes a difference; `differs` runs one.
pub fn smallest<E>(
    schedule: &Schedule,
    extents: &Extents,
    most_runs: usize,
    differs: &mut dyn FnMut(&Schedule) -> Result<bool, E>,
) -> Result<Smallest, E> {
    let mut search = Search { differs, known: BTreeMap::new(), left: most_runs };
    let few = search.fewest(schedule.parts.clone())?;
    let mut parts = search.minimal(few)?;
    for refined in [confined as fn(&Part, &Extents) -> Vec<Part>, expanded] {
        let finer: Vec<Part> = parts.iter().flat_map(|part| refined(part, extents)).collect();
        if finer != parts && search.differs(&finer)? {
            parts = search.minimal(finer)?;
        }
    }
    parts = search.fewest(parts)?;
    let is_minimal = search.left > 0;
    Ok(Smallest { schedule: Schedule { parts }, runs: most_runs - search.left, is_minimal })
}

/// A schedule of fewer of the parts that others are made of, if so many runs find one that differs: those of one part first, and those
/// of two, as long as they are fewer.
pub fn fewer<E>(
    than: &Schedule,
    candidates: &[Part],
    most_runs: usize,
    differs: &mut dyn FnMut(&Schedule) -> Result<bool, E>,
) -> Result<Option<Schedule>, E> {
    let alone = candidates.iter().map(|part| vec![part.clone()]);
    let pair = |(at, first): (usize, &Part)| {
        let first = first.clone();
        candidates[at + 1..].iter().map(move |second| vec![first.clone(), second.clone()])
    };
    let pairs = candidates.iter().enumerate().flat_map(pair);
    let smaller = alone.chain(pairs).filter(|parts| parts.len() < than.parts.len());
    for parts in smaller.take(most_runs) {
        let schedule = Schedule { parts };
        if differs(&schedule)? {
            return Ok(Some(schedule));
        }
    }
    Ok(None)
}

/// An order of all launches as one of each.
fn confined(part: &Part, extents: &Extents) -> Vec<Part> {
    match part {
        Part::Order { of, how, launch: None } => {
            extents.keys().map(|&launch| Part::Order { of: *of, how: *how, launch: Some(launch) }).collect()
        }
        _ => vec![part.clone()],
    }
}

/// An order of one launch as those that are pulled to the front, unless they are too many.
fn expanded(part: &Part, extents: &Extents) -> Vec<Part> {
    match part {
        Part::Order { of, how, launch: Some(launch) } => match extents.get(launch) {
            Some(&counts) if if *of == Of::Blocks { counts.0 } else { counts.1 } <= MOST_PULLED => {
                as_fronts(*of, *how, *launch, counts)
            }
            _ => vec![part.clone()],
        },
        _ => vec![part.clone()],
    }
}

struct Search<'d, E> {
    differs: &'d mut dyn FnMut(&Schedule) -> Result<bool, E>,
    known: BTreeMap<Vec<Part>, bool>,
    left: usize,
}

impl<E> Search<'_, E> {
    /// Without runs that are left nothing is known to differ.
    fn differs(&mut self, parts: &[Part]) -> Result<bool, E> {
        if let Some(&known) = self.known.get(parts) {
            return Ok(known);
        }
        if self.left == 0 || parts.is_empty() {
            return Ok(false);
        }
        self.left -= 1;
        let answer = (self.differs)(&Schedule { parts: parts.to_vec() })?;
        self.known.insert(parts.to_vec(), answer);
        Ok(answer)
    }

    /// Parts none of which can be taken out alone.
    fn minimal(&mut self, mut parts: Vec<Part>) -> Result<Vec<Part>, E> {
        let mut pieces = 2;
        while parts.len() > 1 {
            let size = parts.len().div_ceil(pieces);
            let mut smaller = None;
            for start in (0..parts.len()).step_by(size) {
                let piece = &parts[start..(start + size).min(parts.len())];
                let rest = [&parts[..start], &parts[start + piece.len()..]].concat();
                for candidate in [piece.to_vec(), rest] {
                    if candidate.len() < parts.len() && self.differs(&candidate)? {
                        smaller = Some(candidate);
                        break;
                    }
                }
                if smaller.is_some() {
                    break;
                }
            }
            match smaller {
                Some(smaller) => {
                    pieces = 2.max(pieces - 1);
                    parts = smaller;
                }
                None if size == 1 => break,
                None => pieces = (pieces * 2).min(parts.len()),
            }
        }
        Ok(parts)
    }

    /// The fewest of a few parts.
    fn fewest(&mut self, parts: Vec<Part>) -> Result<Vec<Part>, E> {
        if parts.len() > FEW {
            return Ok(parts);
        }
        let mut subsets: Vec<u32> = (1..(1_u32 << parts.len())).collect();
        subsets.sort_by_key(|subset| subset.count_ones());
        for subset in subsets {
            let chosen: Vec<Part> =
                (0..parts.len()).filter(|at| subset >> at & 1 == 1).map(|at| parts[at].clone()).collect();
            if chosen.len() < parts.len() && self.differs(&chosen)? {
                return Ok(chosen);
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn reduced(text: &str, differs: impl Fn(&str) -> bool) -> Smallest {
        let extents = Extents::from([(1, (6, 64)), (2, (40, 1))]);
        let mut run = |schedule: &Schedule| Ok::<_, Infallible>(differs(&format!(",{schedule},")));
        smallest(&text.parse().unwrap(), &extents, 200, &mut run).unwrap()
    }

    #[test]
    fn an_order_becomes_the_block_that_counts() {
        let seen = |schedule: &str| {
            schedule.contains("blocks=reversed,")
                || schedule.contains("blocks=reversed@2")
                || schedule.contains(",front=2@17,")
        };
        let smallest = reduced("blocks=reversed,delay=1@0.0.5,late=1@0.0.6", seen);
        assert_eq!((smallest.schedule.to_string().as_str(), smallest.is_minimal), ("front=2@17", true));
    }

    #[test]
    fn what_needs_two_change_points_keeps_two() {
        let seen = |schedule: &str| {
            schedule.contains(",delay=1@0.0.5,") && schedule.contains(",delay=1@0.0.9,")
                || schedule.contains(",late=2@0.0.3,late=2@0.0.4,late=2@0.0.5,")
        };
        let few = "delay=1@0.0.5,late=2@0.0.3,late=2@0.0.4,late=2@0.0.5,delay=1@0.0.9";
        assert_eq!(reduced(few, seen).schedule.to_string(), "delay=1@0.0.5,delay=1@0.0.9");
        // Of more parts not all subsets are tried: none can be taken out of what is left.
        let many = format!("delay=1@0.0.1,{few},delay=1@0.0.11");
        let left = reduced(&many, seen).schedule.to_string();
        assert!(["delay=1@0.0.5,delay=1@0.0.9", "late=2@0.0.3,late=2@0.0.4,late=2@0.0.5"].contains(&&*left), "{left}");
    }

    #[test]
    fn fewer_parts_are_found_elsewhere() {
        let schedule: Schedule = "front=1@1,front=1@2,delay=1@0.0.1".parse().unwrap();
        let candidates = "front=1@3,delay=1@1.0.1,late=1@2.0.1".parse::<Schedule>().unwrap().parts;
        let found = |wanted: &str, runs| {
            let mut run = |schedule: &Schedule| Ok::<_, Infallible>(schedule.to_string() == wanted);
            fewer(&schedule, &candidates, runs, &mut run).unwrap().is_some()
        };
        assert!(found("late=1@2.0.1", 3) && found("delay=1@1.0.1,late=1@2.0.1", 6));
        assert!(!found("late=1@2.0.1", 2) && !found("front=1@3,delay=1@1.0.1,late=1@2.0.1", 99));
    }

    #[test]
    fn runs_are_counted() {
        let mut run = |_: &Schedule| Ok::<_, Infallible>(true);
        let schedule: Schedule = "delay=1@0.0.1,delay=1@0.0.2,delay=1@0.0.3,delay=1@0.0.4".parse().unwrap();
        let smallest = smallest(&schedule, &Extents::new(), 1, &mut run).unwrap();
        assert_eq!((smallest.runs, smallest.is_minimal, smallest.schedule.parts.len()), (1, false, 1));
    }
}
