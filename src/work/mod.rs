//! Work: what analysis costs, counted where it is done and told by stage.
//!
//! A unit is about what one simple step takes: a term of a sum, a narrowed range, an instruction of a run. Units are counted
//! on every machine alike, so what is limited by them ([`within`]) ends at the same place everywhere; time is measured beside
//! them for people, and decides nothing.
//!
//! - [`spend`] counts; [`spent`] tells what this thread counted so far.
//! - [`within`] limits what a piece of work may take, and [`is_over`] tells those who do it that it is taken: they give up
//!   what they seek, as if there were none. What has to come to its end is [`unlimited`].
//! - [`during`] says to which stage work belongs, and [`measured`] gives what a piece of work took by stage.
//! - [`memory`] counts what the process holds, and bounds it.
//! - [`watched`] tells people what threads are at.
//!
//! Guarantees: all that is counted and timed here is of one thread. A piece of work that is begun while another one waits on
//! the same thread is not part of that.
//!
//! Deliberately absent: what a solver does, which counts its own resources (`smt`), and what libclang does; both are timed.

pub mod memory;
pub mod watched;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// What the work on a file or a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A front end reads a file, and names in it are resolved.
    Read,
    /// A kernel is lowered and settled, and its protocol is inferred.
    Lower,
    /// Invariants of loops are looked for.
    Invariants,
    /// Rules are tried.
    Rules,
    /// Launches are chosen and run.
    Runs,
    /// A solver is asked.
    Solver,
    /// Contents of memory that make a possible race one are looked for.
    Contents,
    /// Claims of the source are settled.
    Claims,
    /// Contracts are looked for, and launches held against them.
    Contracts,
    /// Whatever else, and waiting for other threads.
    Other,
}

impl Stage {
    /// All stages, in the order in which a kernel meets them.
    pub const ALL: [Stage; 10] = [
        Stage::Read,
        Stage::Lower,
        Stage::Invariants,
        Stage::Rules,
        Stage::Runs,
        Stage::Solver,
        Stage::Contents,
        Stage::Claims,
        Stage::Contracts,
        Stage::Other,
    ];

    /// The stage in one word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Lower => "lower",
            Stage::Invariants => "invariants",
            Stage::Rules => "rules",
            Stage::Runs => "runs",
            Stage::Solver => "solver",
            Stage::Contents => "contents",
            Stage::Claims => "claims",
            Stage::Contracts => "contracts",
            Stage::Other => "other",
        }
    }

    /// Whether what is done in this stage by others is theirs: rules ask runs; what a contract is proved by is work for it.
    fn gives_away(self) -> bool {
        matches!(self, Stage::Lower | Stage::Rules | Stage::Other)
    }
}

/// What one stage took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wall time.
    pub time: Duration,
    /// Units.
    pub units: u64,
}

/// What some work took, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent([Tally; Stage::ALL.len()]);

impl Spent {
    /// What one stage took.
    pub fn new(stage: Stage, tally: Tally) -> Spent {
        let mut spent = Spent::default();
        spent.0[stage as usize] = tally;
        spent
    }

    /// What a stage took.
    pub fn of(&self, stage: Stage) -> Tally {
        self.0[stage as usize]
    }

    /// The stages that took something, with what they took.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, Tally)> + '_ {
        Stage::ALL.into_iter().map(|stage| (stage, self.of(stage))).filter(|(_, tally)| *tally != Tally::default())
    }

    /// What all stages took.
    pub fn all(&self) -> Tally {
        let sum = |all: Tally, it: &Tally| Tally { time: all.time + it.time, units: all.units + it.units };
        self.0.iter().fold(Tally::default(), sum)
    }

    /// Adds what other work took.
    pub fn add(&mut self, other: &Spent) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.time += theirs.time;
            mine.units += theirs.units;
        }
    }
}

/// What is under way on this thread.
struct Meter {
    stage: Stage,
    /// When that stage began, or was come back to, and what was counted then.
    since: Instant,
    units: u64,
    spent: Spent,
}

thread_local! {
    static UNITS: Cell<u64> = const { Cell::new(0) };
    /// At how many units the work at hand ends.
    static END: Cell<u64> = const { Cell::new(u64::MAX) };
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Counts work.
pub fn spend(units: u64) {
    UNITS.with(|all| all.set(all.get().saturating_add(units)));
}

/// What this thread counted so far; differences alone mean something.
pub fn spent() -> u64 {
    UNITS.with(Cell::get)
}

impl Meter {
    fn new() -> Meter {
        Meter { stage: Stage::Other, since: Instant::now(), units: spent(), spent: Spent::default() }
    }

    /// Books what was done since the stage began, and begins anew.
    fn book(&mut self, next: Stage) -> Stage {
        watched::enters(next);
        let (now, units) = (Instant::now(), spent());
        let tally = &mut self.spent.0[self.stage as usize];
        tally.time += now - self.since;
        tally.units += units - self.units;
        (self.since, self.units) = (now, units);
        std::mem::replace(&mut self.stage, next)
    }
}

/// Does `work` as a part of `stage`, unless the stage under way keeps what is done for it.
pub fn during<R>(stage: Stage, work: impl FnOnce() -> R) -> R {
    memory::look();
    let before = METER.with_borrow_mut(|meter| {
        let meter = meter.as_mut().filter(|meter| meter.stage != stage && meter.stage.gives_away())?;
        Some(meter.book(stage))
    });
    let _before = Before(before);
    work()
}

/// The stage that waits, which is come back to after a panic, too.
struct Before(Option<Stage>);

impl Drop for Before {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            METER.with_borrow_mut(|meter| meter.as_mut().map(|meter| meter.book(before)));
        }
    }
}

/// What `work` gives, and what it took. What was under way on this thread waits meanwhile.
pub fn measured<R>(work: impl FnOnce() -> R) -> (R, Spent) {
    let _before = Ends::at(u64::MAX);
    let mut waiting = Waiting::new();
    let result = work();
    let spent = waiting.end();
    (result, spent)
}

/// What waits while something is measured, which goes on after a panic, too.
struct Waiting {
    meter: Option<Meter>,
    units: u64,
    is_over: bool,
}

impl Waiting {
    fn new() -> Waiting {
        let meter = METER.with_borrow_mut(|meter| {
            if let Some(meter) = meter {
                meter.book(meter.stage);
            }
            meter.replace(Meter::new())
        });
        Waiting { meter, units: spent(), is_over: false }
    }

    /// Goes on with what waits; what the other took.
    fn end(&mut self) -> Spent {
        if std::mem::replace(&mut self.is_over, true) {
            return Spent::default();
        }
        let waiting = self.meter.take();
        let done = METER.with_borrow_mut(|meter| {
            let mut done = std::mem::replace(meter, waiting);
            if let Some(done) = &mut done {
                done.book(Stage::Other);
            }
            if let Some(waiting) = meter {
                waiting.since = Instant::now();
            }
            done
        });
        UNITS.with(|all| all.set(self.units));
        done.map_or_else(Spent::default, |done| done.spent)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

/// Does `work`, which may take so many units, and no more than what it is a part of may take.
pub fn within<R>(units: u64, work: impl FnOnce() -> R) -> R {
    memory::look();
    let end = spent().saturating_add(units).min(END.with(Cell::get));
    let _before = Ends::at(end);
    work()
}

/// Does `work`, whatever it takes and whatever is limited around it: what has to come to its end.
pub fn unlimited<R>(work: impl FnOnce() -> R) -> R {
    let _before = Ends::at(u64::MAX);
    work()
}

/// Whether the work at hand has taken what it may: whoever looks for something gives up.
pub fn is_over() -> bool {
    spent() >= END.with(Cell::get)
}

/// Units that the work at hand may still take.
pub fn left() -> u64 {
    END.with(Cell::get).saturating_sub(spent())
}

/// The end of what waits, which counts again after a panic, too.
struct Ends(u64);

impl Ends {
    fn at(end: u64) -> Ends {
        Ends(END.with(|now| now.replace(end)))
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        END.with(|now| now.set(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(spent: &Spent) -> Vec<(&'static str, u64)> {
        spent.stages().map(|(stage, tally)| (stage.name(), tally.units)).filter(|(_, units)| *units > 0).collect()
    }

    #[test]
    fn work_is_booked_to_the_stage_that_it_is_for() {
        let ((), spent) = measured(|| {
            spend(1);
            during(Stage::Rules, || {
                spend(10);
                during(Stage::Runs, || spend(100));
                spend(20);
            });
            during(Stage::Contracts, || {
                spend(1_000);
                during(Stage::Rules, || spend(2_000));
            });
        });
        assert_eq!(units(&spent), [("rules", 30), ("runs", 100), ("contracts", 3_000), ("other", 1)]);
        assert_eq!(spent.all().units, 3_131);
    }

    #[test]
    fn what_is_measured_inside_is_not_measured_outside() {
        let (inner, outer) = measured(|| {
            spend(1);
            let ((), inner) = measured(|| during(Stage::Runs, || spend(5)));
            spend(2);
            inner
        });
        assert_eq!((units(&inner), units(&outer)), (vec![("runs", 5)], vec![("other", 3)]));
    }

    #[test]
    fn work_is_over_when_it_or_what_it_is_a_part_of_has_taken_its_units() {
        assert!(!is_over());
        within(10, || {
            within(3, || {
                spend(2);
                assert!(!is_over());
                spend(1);
                assert!(is_over());
            });
            assert_eq!(left(), 7);
            within(100, || assert_eq!(left(), 7));
            unlimited(|| assert_eq!(left(), u64::MAX - spent()));
            // Something else, which this thread does meanwhile.
            let ((), _) = measured(|| {
                spend(50);
                assert!(!is_over());
            });
            assert_eq!(left(), 7);
        });
        assert!(!is_over());
    }

    #[test]
    fn a_panic_leaves_no_limit_behind() {
        let panicked = std::panic::catch_unwind(|| {
            measured(|| within(1, || during(Stage::Runs, || -> () { std::panic::resume_unwind(Box::new(())) })))
        });
        assert!(panicked.is_err());
        spend(2);
        assert!(!is_over());
        assert_eq!(units(&measured(|| spend(3)).1), [("other", 3)]);
    }
}
