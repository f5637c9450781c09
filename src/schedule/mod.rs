//! Schedules: which blocks and threads of a program come first, and who is delayed where; which of them are tried, and which
//! is the smallest that makes a difference.
//!
//! After docs/PAPERS.md, "Peng 2019" (CLTestCheck), whose amplifier forces orders of work-groups. A [`Schedule`] is a list of
//! [`Part`]s, each of which changes the baseline, in which blocks and threads go in the order of their numbers. [`chosen`] chooses
//! schedules for what a run of the baseline showed, [`smallest`] takes parts out of one as long as it makes a difference,
//! [`orders`] has the same orders as the runtime, and [`report`] says what was found.
//!
//! Guarantees: a schedule and its text are one to one; equal facts, seeds and answers give equal schedules.
//!
//! Deliberately absent: running anything, and what a difference is (`driver/schedule`); what a part does in a run
//! (`instrument/runtime/cpu/plan.hpp`).

pub mod chosen;
pub mod orders;
pub mod report;
pub mod smallest;
pub mod text;

use std::fmt;
use std::str::FromStr;

/// How a run differs from the baseline. No part: it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Schedule {
    /// What is changed, in order.
    pub parts: Vec<Part>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// An order of blocks, warps or threads.
    Order {
        /// Of what.
        of: Of,
        /// Which.
        how: Order,
        /// In one launch alone, from 1; else in all.
        launch: Option<u64>,
    },
    /// One block, or one thread of each block, comes first.
    Front {
        /// Of what: blocks or threads.
        of: Of,
        /// In this launch.
        launch: u64,
        /// Its number.
        number: u64,
    },
    /// A thread goes on when nobody else can.
    Delay(At),
    /// A store is seen late.
    Late(At),
}

/// An event of a thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The launch, from 1.
    pub launch: u64,
    /// The block, linear in the grid.
    pub block: u64,
    /// The thread, linear in the block.
    pub thread: u64,
    /// The event, of those of this thread, from 1.
    pub event: u64,
}

/// What is put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// Blocks of the grid; in a launch with clusters, clusters.
    Blocks,
    /// Warps of each block.
    Warps,
    /// Threads of each block.
    Threads,
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The highest number first.
    Reversed,
    /// The last one first, then the others.
    Last,
    /// That one first, then the others.
    First(u64),
    /// Drawn.
    Seed(u64),
}

/// Why a text is no schedule.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "`{0}` is no part of a schedule; take the text of a report, such as `blocks=reversed` or `front=1@3,delay=1@0.31.2`"
)]
pub struct NoSchedule(String);

impl Schedule {
    /// Whether it is the baseline.
    pub fn is_baseline(&self) -> bool {
        self.parts.is_empty()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_baseline() {
            return f.write_str("baseline");
        }
        for (number, part) in self.parts.iter().enumerate() {
            let separator = if number > 0 { "," } else { "" };
            write!(f, "{separator}{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Order { of, how, launch } => {
                let what = match of {
                    Of::Blocks => "blocks",
                    Of::Warps => "warps",
                    Of::Threads => "threads",
                };
                match how {
                    Order::Reversed => write!(f, "{what}=reversed")?,
                    Order::Last => write!(f, "{what}=last")?,
                    Order::First(number) => write!(f, "{what}=first:{number}")?,
                    Order::Seed(seed) => write!(f, "{what}=seed:{seed}")?,
                }
                launch.map_or(Ok(()), |launch| write!(f, "@{launch}"))
            }
            Part::Front { of: Of::Blocks, launch, number } => write!(f, "front={launch}@{number}"),
            Part::Front { launch, number, .. } => write!(f, "lead={launch}@{number}"),
            Part::Delay(at) => write!(f, "delay={at}"),
            Part::Late(at) => write!(f, "late={at}"),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}.{}.{}", self.launch, self.block, self.thread, self.event)
    }
}

impl FromStr for Schedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Schedule, NoSchedule> {
        if matches!(text.trim(), "" | "baseline") {
            return Ok(Schedule::default());
        }
        let part = |text: &str| part(text.trim()).ok_or_else(|| NoSchedule(text.trim().to_owned()));
        Ok(Schedule { parts: text.split(',').map(part).collect::<Result<_, _>>()? })
    }
}

fn part(text: &str) -> Option<Part> {
    let (name, value) = text.split_once('=')?;
    let (before, behind) = match value.split_once('@') {
        Some((before, behind)) => (before, Some(behind)),
        None => (value, None),
    };
    let launch = |text: &str| text.parse().ok().filter(|&launch: &u64| launch > 0);
    let front = |of| Some(Part::Front { of, launch: launch(before)?, number: behind?.parse().ok()? });
    let at = || {
        let numbers = behind?.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let [block, thread, event] = numbers[..] else { return None };
        Some(At { launch: launch(before)?, block, thread, event })
    };
    let order = |of| {
        let how = match before.split_once(':') {
            None if before == "reversed" => Order::Reversed,
            None if before == "last" => Order::Last,
            Some(("first", number)) => Order::First(number.parse().ok()?),
            Some(("seed", seed)) => Order::Seed(seed.parse().ok()?),
            _ => return None,
        };
        let launch = match behind {
            Some(text) => Some(launch(text)?),
            None => None,
        };
        Some(Part::Order { of, how, launch })
    };
    match name {
        "blocks" => order(Of::Blocks),
        "warps" => order(Of::Warps),
        "threads" => order(Of::Threads),
        "front" => front(Of::Blocks),
        "lead" => front(Of::Threads),
        "delay" => at().map(Part::Delay),
        "late" => at().map(Part::Late),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_its_text() {
        let text = "blocks=reversed,blocks=seed:7@2,threads=last,warps=first:3,front=1@5,lead=2@31,delay=1@0.31.2,late=3@9.0.1";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!((schedule.parts.len(), schedule.to_string()), (8, text.to_owned()));
        assert_eq!("baseline".parse::<Schedule>().unwrap().to_string(), "baseline");
        for wrong in [
            "blocks",
            "blocks=some",
            "delay=3",
            "delay=0@1.2.3",
            "late=1@x.1.1",
            "late=1@1.2",
            "front=1@2,,",
            "blocks=seed:",
        ] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
    }
}
