//! Runs of cases, and what they tell in the numbers of goals.

use crate::coverage::counts::Counts;
use crate::coverage::{Coverage, Seen};
use crate::driver::cover;
use crate::driver::described::plain;
use crate::driver::instrument::InstrumentedFile;
use crate::driver::run::{Built, RunError, Stop};
use crate::execute::ExecuteError;
use crate::execute::cases::{self as runs, CaseRun};
use crate::execute::launch::cases;
use crate::execute::launch::host::Target;
use crate::execute::process::Ended;
use crate::execute::program::Program;
use crate::execute::report::EventKind;
use crate::generation::{Answer, Case, Goal, Miss, Near, Signature};
use crate::instrument::coverage::{Point, PointKind};
use crate::syntax::BinaryOp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who runs cases of a program.
pub(super) struct Trials<'b> {
    program: Option<&'b Program>,
    files: &'b [InstrumentedFile],
    points: Vec<&'b Point>,
    targets: Vec<Target>,
    directory: PathBuf,
    timeout: Duration,
}

impl<'b> Trials<'b> {
    pub(super) fn new(built: &'b Built, targets: Vec<Target>, timeout: Duration) -> Trials<'b> {
        let points = built.instrumented_files().iter().flat_map(|file| &file.unit.points).collect();
        let directory = built.scratch_path().join("cases");
        Trials { program: built.program(), files: built.instrumented_files(), points, targets, directory, timeout }
    }

    /// What there is to reach in a kernel, and in each function that is no kernel of the program's.
    pub(super) fn goals(&self, kernel: &str) -> (BTreeSet<Goal>, Vec<BTreeSet<Goal>>) {
        let mut of: BTreeMap<String, BTreeSet<Goal>> = BTreeMap::new();
        for goal in self.all() {
            of.entry(plain(&self.points[goal.point].function).to_owned()).or_default().insert(goal);
        }
        let own = of.remove(plain(kernel)).unwrap_or_default();
        for target in &self.targets {
            of.remove(plain(&target.name));
        }
        (own, of.into_values().collect())
    }

    /// All that there is to reach.
    fn all(&self) -> BTreeSet<Goal> {
        let sides = |point: &Point| match point.kind {
            PointKind::Branch => 0..2,
            PointKind::Loop { may_be_skipped } => u8::from(!may_be_skipped)..3,
            PointKind::Run(_) | PointKind::Barrier => 0..1,
            PointKind::Comparison { .. } => 0..0,
        };
        let numbered = self.points.iter().enumerate();
        numbered.flat_map(|(number, point)| sides(point).map(move |side| Goal { point: number, side })).collect()
    }

    /// What a goal is about, and where that stands: line and column of its point; nothing for what stands in another file.
    pub(super) fn place(&self, goal: Goal, path: &Path) -> Option<(&'b PointKind, (u32, u32))> {
        let mut left = goal.point;
        for file in self.files {
            if let Some(point) = file.unit.points.get(left) {
                let position = file.sources.start_position(point.span);
                let is_there = file.sources.file(file.sources.visible(point.span).file).path == path;
                return is_there.then_some((&point.kind, (position.line, position.column)));
            }
            left -= file.unit.points.len();
        }
        None
    }

    /// The comparisons of conditions, with the number of what they decide.
    pub(super) fn comparisons(&self, built: &Built) -> Vec<(usize, usize, BinaryOp)> {
        let mut found = Vec::new();
        let mut first = 0;
        for file in built.instrumented_files() {
            for (number, point) in file.unit.points.iter().enumerate() {
                if let PointKind::Comparison { of, op } = point.kind {
                    found.push((first + number, first + of, op));
                }
            }
            first += file.unit.points.len();
        }
        found
    }

    /// Runs a case of the kernel of that number.
    pub(super) fn answer(
        &self,
        kernel: usize,
        signature: &Signature,
        case: &Case,
        stop: Stop<'_>,
    ) -> Result<Answer, RunError> {
        let run = self.run(kernel, signature, case, stop)?;
        let counts = Counts::read(&run.counts);
        let missed = run.missed.map(|(memory, byte)| Miss { memory, byte });
        let near = counts.near().map(|(which, [a, b])| (which, Near { a, b })).collect();
        Ok(Answer { failed: failure(&run), missed, reached: self.reached(&counts), near })
    }

    /// What a case reaches, as reports have it.
    pub(super) fn coverage(
        &self,
        built: &Built,
        kernel: usize,
        signature: &Signature,
        case: &Case,
        stop: Stop<'_>,
    ) -> Result<Coverage, RunError> {
        let run = self.run(kernel, signature, case, stop)?;
        Ok(cover::counted(built, &Counts::read(&run.counts)))
    }

    /// A report in which nothing is reached, and this cannot be.
    pub(super) fn untouched(&self, built: &Built, impossible: &BTreeSet<Goal>) -> Coverage {
        let sides = |number| impossible.iter().filter(|goal| goal.point == number).map(|goal| goal.side).collect();
        cover::counted_but(built, &Counts::default(), &sides)
    }

    fn run(&self, kernel: usize, signature: &Signature, case: &Case, stop: Stop<'_>) -> Result<CaseRun, RunError> {
        let Some(program) = self.program else { unreachable!("cases run on the CPU") };
        let description = Case::description(signature, &[case]);
        let made = cases::case(&description, &self.targets, &[kernel], &self.directory)?;
        match runs::run(program, &made, &self.directory, self.timeout, stop) {
            Err(cause @ ExecuteError::Interrupted) => Err(cause.into()),
            other => Ok(other?),
        }
    }

    fn reached(&self, counts: &Counts) -> BTreeSet<Goal> {
        let mut found = BTreeSet::new();
        for (point, of) in self.points.iter().enumerate() {
            let sides: &[bool] = match &of.kind {
                PointKind::Run(_) => &[matches!(counts.run(point, Vec::new()), Seen::Run { times: 1.., .. })],
                PointKind::Branch => match counts.branch(point) {
                    Seen::Branch { holds, fails, .. } => &[fails > 0, holds > 0],
                    _ => &[],
                },
                PointKind::Loop { may_be_skipped } => match counts.turns(point, *may_be_skipped) {
                    Seen::Loop { none, one, several, .. } => &[none > 0, one > 0, several > 0],
                    _ => &[],
                },
                PointKind::Barrier => match counts.barrier(point) {
                    Seen::Barrier { whole, partial, arrivals, .. } => &[whole > 0 || partial == 0 && arrivals > 0],
                    _ => &[],
                },
                PointKind::Comparison { .. } => &[],
            };
            let reached = (0..).zip(sides).filter(|(_, is_reached)| **is_reached);
            found.extend(reached.map(|(side, _)| Goal { point, side }));
        }
        found
    }
}

/// Why nobody would keep a case.
fn failure(run: &CaseRun) -> Option<String> {
    let told = run.events.iter().find_map(|event| match event.kind {
        EventKind::Crash => Some("crash".to_owned()),
        EventKind::Divergence => Some("barrier divergence".to_owned()),
        EventKind::Assertion => Some("a failed assertion".to_owned()),
        _ => None,
    });
    told.or_else(|| match run.ended {
        Ended::Exited(0) => None,
        Ended::Exited(status) => Some(format!("exit status {status}")),
        Ended::Signalled(signal) => Some(format!("signal {signal}")),
        Ended::TimedOut => Some("no end in time".to_owned()),
    })
}
