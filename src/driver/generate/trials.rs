//! Runs of cases, and what they tell in the numbers of goals.

use super::opencl::Texts;
use crate::coverage::counts::Counts;
use crate::coverage::{Coverage, Seen};
use crate::driver::cover;
use crate::driver::described::plain;
use crate::driver::instrument::InstrumentedFile;
use crate::driver::run::{Built, RunError, Stop};
use crate::execute::cases::{self as runs, CaseRun};
use crate::execute::launch::cases;
use crate::execute::launch::host::Target;
use crate::execute::opencl::{self, Tried};
use crate::execute::process::Ended;
use crate::execute::program::Program;
use crate::execute::report::EventKind;
use crate::generation::{Answer, Case, Goal, Miss, Near, Signature};
use crate::instrument::coverage::{Point, PointKind};
use crate::source::Language;
use crate::syntax::BinaryOp;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who runs cases of kernels.
pub(super) struct Trials<'b> {
    files: &'b [InstrumentedFile],
    language: Language,
    points: Vec<&'b Point>,
    /// The kernels, by their plain names.
    kernels: Vec<String>,
    runner: Runner<'b>,
    timeout: Duration,
}

/// What they run on.
enum Runner<'b> {
    /// The CPU, by a program that takes its launches from a file.
    Program { program: &'b Program, targets: Vec<Target>, directory: PathBuf },
    /// A device of OpenCL.
    Device(RefCell<opencl::Trials<'b>>),
}

/// How a case went.
struct Run {
    failed: Option<String>,
    missed: Option<Miss>,
    counts: Counts,
}

impl<'b> Trials<'b> {
    /// Of a program that was built; `None` if it does not run on the CPU.
    pub(super) fn of_program(built: &'b Built, targets: Vec<Target>, timeout: Duration) -> Option<Trials<'b>> {
        let directory = built.scratch_path().join("cases");
        let kernels = targets.iter().map(|target| plain(&target.name).to_owned()).collect();
        let runner = Runner::Program { program: built.program()?, targets, directory };
        Some(Trials::of((built.instrumented_files(), Language::Cuda), kernels, runner, timeout))
    }

    /// Of OpenCL kernels, on a device of the machine; it builds them now.
    pub(super) fn of_device(
        texts: &'b Texts,
        kernels: Vec<String>,
        timeout: Duration,
        stop: Stop<'_>,
    ) -> Result<Trials<'b>, RunError> {
        let mut device = texts.trials();
        device.start(stop)?;
        Ok(Trials::of((texts.counting(), Language::OpenCl), kernels, Runner::Device(RefCell::new(device)), timeout))
    }

    fn of(
        (files, language): (&'b [InstrumentedFile], Language),
        kernels: Vec<String>,
        runner: Runner<'b>,
        timeout: Duration,
    ) -> Trials<'b> {
        let points = files.iter().flat_map(|file| &file.unit.points).collect();
        Trials { files, language, points, kernels, runner, timeout }
    }

    /// What there is to reach in a kernel, and in each function that is no kernel of the program's.
    pub(super) fn goals(&self, kernel: &str) -> (BTreeSet<Goal>, Vec<BTreeSet<Goal>>) {
        let mut of: BTreeMap<String, BTreeSet<Goal>> = BTreeMap::new();
        for goal in self.all() {
            of.entry(plain(&self.points[goal.point].function).to_owned()).or_default().insert(goal);
        }
        let own = of.remove(plain(kernel)).unwrap_or_default();
        for name in &self.kernels {
            of.remove(name.as_str());
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
    pub(super) fn comparisons(&self) -> Vec<(usize, usize, BinaryOp)> {
        let mut found = Vec::new();
        let mut first = 0;
        for file in self.files {
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
        let Run { failed, missed, counts } = self.run(kernel, signature, case, stop)?;
        let near = counts.near().map(|(which, [a, b])| (which, Near { a, b })).collect();
        Ok(Answer { failed, missed, reached: self.reached(&counts), near })
    }

    /// What a case reaches, as reports have it.
    pub(super) fn coverage(
        &self,
        kernel: usize,
        signature: &Signature,
        case: &Case,
        stop: Stop<'_>,
    ) -> Result<Coverage, RunError> {
        let run = self.run(kernel, signature, case, stop)?;
        Ok(cover::counted_in((self.files, self.language), &run.counts, &|_| Vec::new()))
    }

    /// A report in which nothing is reached, and this cannot be.
    pub(super) fn untouched(&self, impossible: &BTreeSet<Goal>) -> Coverage {
        let sides = |number| impossible.iter().filter(|goal| goal.point == number).map(|goal| goal.side).collect();
        cover::counted_in((self.files, self.language), &Counts::default(), &sides)
    }

    fn run(&self, kernel: usize, signature: &Signature, case: &Case, stop: Stop<'_>) -> Result<Run, RunError> {
        let description = Case::description(signature, &[case]);
        match &self.runner {
            Runner::Program { program, targets, directory } => {
                let made = cases::case(&description, targets, &[kernel], directory)?;
                let run = runs::run(program, &made, directory, self.timeout, stop)?;
                let missed = run.missed.map(|(memory, byte)| Miss { memory, byte });
                Ok(Run { failed: failure(&run), missed, counts: Counts::read(&run.counts) })
            }
            Runner::Device(device) => {
                let tried = device.borrow_mut().attempt(&description, self.timeout, stop)?;
                let failed = |why: &str| Run { failed: Some(why.to_owned()), missed: None, counts: Counts::default() };
                Ok(match tried {
                    Tried::Counted(counted) => {
                        let counts = self.files.first().map(|file| cover::counts_of(file, &counted));
                        Run { failed: None, missed: None, counts: counts.unwrap_or_default() }
                    }
                    Tried::Needs { buffer, bytes } => {
                        let missed = i64::try_from(bytes).ok().map(|bytes| Miss { memory: buffer, byte: bytes - 1 });
                        Run { missed, ..failed("an access outside of its memory") }
                    }
                    Tried::Failed(why) => failed(&why),
                })
            }
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
