//! All that is done with a kernel between resolution and judgement, as one list of passes: named, in their order, timed, and
//! in debug builds looked at by `calculus::validate` after each.
//!
//! | pass | where |
//! |---|---|
//! | `walk` | `src/lower`: statements in the order of the text |
//! | `objects` … `bounds` | `src/settle`: what only the complete kernel tells ([`settle::PASSES`]) |
//! | `launches` | `src/launch`: what the launches of its file state |
//! | `lockstep` | `src/settle/lockstep.rs`, where `--lockstep-warps` asks for it |
//! | `device` | here: what the user states of the device |
//! | `invariants` | `src/invariant`: statements that are proved of loops |
//! | `unrolling` | `src/settle/unrolling.rs`, of kernels that stay open: `src/judge` makes it |
//!
//! `show calculus --after PASS` prints the kernel between two of them.
//!
//! Guarantees: [`all`] says every pass in the order in which kernels go through them; a test compares it with what kernels
//! went through.
//!
//! Deliberately absent: passes over protocols, and barriers that `check --fix` and `--hints` put in or take out.

use super::crash;
use super::memo::{Entry, Memo};
use super::options::{Device, Externals, Options};
use crate::calculus::{Kernel, Reliance, Relied, Unsupported};
use crate::launch::Launched;
use crate::protocol::{Protocol, infer};
use crate::resolve::program::{FunctionId, Program};
use crate::settle::{self, Form, Unsettled, lockstep, unrolling, verify_if_debug};
use crate::source::Language;
use crate::work::{self, Stage};
use crate::{invariant, judge, launch, lower, prove};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A pass: what makes a kernel, or one kernel of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does or says.
    pub about: &'static str,
}

const WALK: Pass = Pass { name: "walk", about: "statements in the order of the text" };
const LAUNCHES: Pass = Pass { name: "launches", about: "what the launches of the file state" };
const LOCKSTEP: Pass = Pass { name: "lockstep", about: "barriers of warps that run in lock-step, if asked for" };
const DEVICE: Pass = Pass { name: "device", about: "what is stated of the device" };
const EXTERNALS: Pass =
    Pass { name: "externals", about: "functions that are not defined, of which nothing is assumed" };
pub(super) const INVARIANTS: Pass = Pass { name: "invariants", about: "what is proved of loops" };
const UNROLLING: Pass = Pass { name: "unrolling", about: "short loops around barriers, of kernels that stay open" };

/// All passes, in the order in which a kernel goes through them.
pub fn all() -> impl Iterator<Item = Pass> {
    let settling = settle::PASSES.iter().map(of_settle);
    [WALK].into_iter().chain(settling).chain([LAUNCHES, LOCKSTEP, DEVICE, EXTERNALS, INVARIANTS, UNROLLING])
}

/// The pass of a name.
pub fn named(name: &str) -> Option<Pass> {
    all().find(|pass| pass.name == name)
}

fn of_settle(pass: &settle::Pass) -> Pass {
    Pass { name: pass.name, about: pass.about }
}

/// How far a kernel goes through the passes, and what each took.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The last pass that is made.
    until: Option<Pass>,
    is_over: bool,
    /// Whether it is for any launch, whatever those that were found say.
    is_of_any_launch: bool,
    taken: Vec<(Pass, Duration)>,
}

impl Course {
    /// Through no pass after that one.
    pub(super) fn until(pass: Pass) -> Self {
        Course { until: Some(pass), ..Course::default() }
    }

    /// The passes that were made, and what each took.
    pub(super) fn taken(&self) -> &[(Pass, Duration)] {
        &self.taken
    }

    /// Makes what a kernel is made of.
    fn make<R>(&mut self, pass: Pass, make: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let made = make();
        self.taken.push((pass, start.elapsed()));
        self.is_over |= self.until == Some(pass);
        made
    }

    /// Takes a kernel through a pass, unless it has gone as far as it should.
    fn go_through(&mut self, pass: Pass, form: Form, kernel: &mut Kernel, make: impl FnOnce(&mut Kernel)) {
        if !self.is_over {
            self.make(pass, || make(kernel));
            verify_if_debug(pass.name, kernel, form);
        }
    }

    /// The kernel of a function after the walk and the passes of `settle`, as far as it goes through them, and what the walk
    /// noted.
    fn settled(&mut self, program: &Program, function: FunctionId) -> Unsettled {
        let Unsettled { mut kernel, notes } = self.make(WALK, || lower::lower(program, function));
        verify_if_debug(WALK.name, &kernel, Form::Unsettled);
        for (at, pass) in (1..).zip(settle::PASSES) {
            let form = if at == settle::PASSES.len() { Form::Settled } else { Form::Unsettled };
            self.go_through(of_settle(pass), form, &mut kernel, |kernel| pass.settle(kernel, &notes));
        }
        Unsettled { kernel, notes }
    }

    /// The same with what the launches in its file say, and the user of the device.
    pub(super) fn lowered(&mut self, file: &Launched, function: FunctionId, options: &Options) -> Kernel {
        self.lowered_with(file, function, options, Relations::Stated)
    }

    fn lowered_with(
        &mut self,
        file: &Launched,
        function: FunctionId,
        options: &Options,
        relations: Relations,
    ) -> Kernel {
        crash::entering("lower");
        let Unsettled { mut kernel, notes } = self.settled(&file.program, function);
        let heeds_none = self.is_of_any_launch;
        self.go_through(LAUNCHES, Form::Settled, &mut kernel, |kernel| {
            // What the command line says of the launch comes instead of what the file says.
            if relations == Relations::Stated && counts_relations(options) && !heeds_none {
                launch::assume(kernel, file, function);
            }
        });
        self.go_through(LOCKSTEP, Form::Settled, &mut kernel, |kernel| {
            if let Some(threads) = in_step(options, file.program.language) {
                lockstep::in_step(kernel, threads, &notes.jumps);
            }
        });
        self.go_through(DEVICE, Form::Settled, &mut kernel, |kernel| run_by(kernel, &options.judging.device));
        self.go_through(EXTERNALS, Form::Settled, &mut kernel, |kernel| {
            refuse_externals(kernel, &options.judging.externals)
        });
        kernel
    }

    /// A kernel with the invariants of its loops, and its protocol. What the run knows of the kernel is in `memo`.
    pub(super) fn strengthened<'m>(
        &mut self,
        mut kernel: Kernel,
        options: &Options,
        memo: Option<&'m Memo>,
    ) -> Model<'m> {
        // It stands at the places of this kernel, whoever else is alike.
        let relies = std::mem::take(&mut kernel.relies);
        crash::entering("protocol");
        let mut protocol = infer::infer(&kernel);
        let (mut assumptions, mut rejected) = (BTreeSet::new(), Vec::new());
        let entry = memo.map(|memo| memo.entry(&kernel));
        crash::entering("invariant");
        let strengthen = || match &entry {
            Some(entry) => entry.strengthened(&kernel, &protocol, options.judging.proofs),
            None => invariant::strengthen(&kernel, &protocol, options.judging.proofs),
        };
        let strengthened = self.make(INVARIANTS, || {
            let allowance = options.judging.effort.allowance().invariants;
            let wanted = (!kernel.anything_may_happen()).then_some(strengthen);
            work::during(Stage::Invariants, || work::within(allowance, || wanted.and_then(|strengthen| strengthen())))
        });
        if let Some(strengthened) = strengthened {
            kernel = strengthened.kernel;
            (assumptions, rejected) = (strengthened.assumptions, strengthened.rejected);
            protocol = infer::infer(&kernel);
        }
        verify_if_debug(INVARIANTS.name, &kernel, Form::Settled);
        kernel.relies = relies;
        rejected.extend(judge::claims::adopt(&mut protocol, options.judging.proofs));
        Model { kernel, protocol, assumptions, rejected, entry }
    }

    /// The kernel of a function, as far as it goes.
    pub(super) fn kernel(&mut self, file: &Launched, function: FunctionId, options: &Options) -> Kernel {
        let mut kernel = self.lowered(file, function, options);
        if !self.is_over {
            kernel = self.strengthened(kernel, options, None).kernel;
        }
        self.go_through(UNROLLING, Form::Settled, &mut kernel, |kernel| {
            if let Some(unrolled) = unrolling::unrolled(kernel) {
                *kernel = unrolled;
            }
        });
        kernel
    }
}

/// What becomes of what launches say of their sizes and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relations {
    /// It is stated in the kernel.
    Stated,
    /// It is left out: the kernel stands for itself.
    LeftOut,
}

/// Whether what launches say counts: what the command line says of the launch comes instead.
pub(super) fn counts_relations(options: &Options) -> bool {
    !options.judging.gives_sizes() && options.judging.params.is_empty()
}

/// A kernel and what was inferred of it.
pub(super) struct Model<'m> {
    pub(super) kernel: Kernel,
    pub(super) protocol: Protocol,
    /// What its invariants rely on.
    pub(super) assumptions: BTreeSet<prove::Assumption>,
    /// Derivations of facts that the checker did not accept.
    pub(super) rejected: Vec<String>,
    /// Its place in what a run over several files knows.
    pub(super) entry: Option<Entry<'m>>,
}

/// Lowers one kernel, looks for invariants of its loops, and infers its protocol.
pub(super) fn model(file: &Launched, function: FunctionId, options: &Options) -> Model<'static> {
    model_with(file, function, options, (Relations::Stated, None))
}

/// The same, with or without what the launches say. What the run knows of the kernel is in `memo`.
pub(super) fn model_with<'m>(
    file: &Launched,
    function: FunctionId,
    options: &Options,
    (relations, memo): (Relations, Option<&'m Memo>),
) -> Model<'m> {
    let mut course = Course::default();
    work::during(Stage::Lower, || {
        let kernel = course.lowered_with(file, function, options, relations);
        course.strengthened(kernel, options, memo)
    })
}

/// One kernel, without anything that is said of its launches.
pub(super) fn settled(program: &Program, function: FunctionId) -> Kernel {
    Course::default().settled(program, function).kernel
}

/// One kernel, with what the launches in its file say.
pub(super) fn lowered(file: &Launched, function: FunctionId, options: &Options) -> Kernel {
    Course::default().lowered(file, function, options)
}

/// One kernel for any launch, with nothing of what those that were found say.
pub(super) fn lowered_for_any_launch(file: &Launched, function: FunctionId, options: &Options) -> Kernel {
    Course { is_of_any_launch: true, ..Course::default() }.lowered(file, function, options)
}

/// A kernel with the invariants of its loops, and its protocol.
pub(super) fn strengthened<'m>(kernel: Kernel, options: &Options, memo: Option<&'m Memo>) -> Model<'m> {
    Course::default().strengthened(kernel, options, memo)
}

/// How many threads run in lock-step; in OpenCL nothing says which work-items make up a sub-group.
pub(super) fn in_step(options: &Options, language: Language) -> Option<u32> {
    options.judging.lockstep.filter(|_| language == Language::Cuda)
}

/// What the user states of the device that runs a kernel.
fn run_by(kernel: &mut Kernel, device: &Device) {
    if kernel.geometry.platform.rules().most_threads.is_none() {
        kernel.geometry.max_threads = kernel.geometry.max_threads.or(device.most_work_items);
    }
    let counts_lanes = kernel.relies.iter().any(|reliance| reliance.what == Relied::LanesOf32);
    if counts_lanes && device.wave == Some(64) {
        let reason = "what the lanes of a wavefront do together, of which there are 64".to_owned();
        kernel.unsupported.push(Unsupported { span: None, reason, arrays: None, barriers: true, is_of_thread: false });
    }
    kernel.relies.retain(|reliance| match reliance.what {
        Relied::Unclobbered
        | Relied::External(_)
        | Relied::Member(..)
        | Relied::Numbers
        | Relied::Telling
        | Relied::FactorsOf24Bits
        | Relied::LeftToRight
        | Relied::WholeWarps
        | Relied::Divisors => true,
        Relied::LanesOf32 => device.wave.is_none(),
        Relied::BlocksOfOneSize => !device.uniform_work_groups,
    });
}

/// A function that is not defined, and that nobody may take for one of its arguments, may do anything.
fn refuse_externals(kernel: &mut Kernel, externals: &Externals) {
    let name_of = |what: &Relied| match what {
        Relied::External(name) => Some(name.clone()),
        Relied::Member(of, member) => Some(format!("{of}::{member}")),
        _ => None,
    };
    let refused = |reliance: &Reliance| name_of(&reliance.what).is_some_and(|name| !externals.takes(&name));
    let (out, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut kernel.relies).into_iter().partition(refused);
    kernel.relies = kept;
    for reliance in out {
        if let Some(name) = name_of(&reliance.what) {
            let reason = Unsupported::call_of(&name);
            let span = reliance.span;
            kernel.unsupported.push(Unsupported { span, reason, arrays: None, barriers: true, is_of_thread: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn kernels_go_through_the_passes_in_the_order_of_the_list() {
        let text = "__global__ void k(int *out) { out[threadIdx.x] = 0; }";
        let options = Options::default();
        let file = crate::driver::read(Path::new("k.cu"), text, &options).launched;
        let mut course = Course::default();
        course.kernel(&file, file.program.kernels[0], &options);
        let made: Vec<&str> = course.taken().iter().map(|(pass, _)| pass.name).collect();
        assert_eq!(made, all().map(|pass| pass.name).collect::<Vec<_>>());
        for (count, pass) in (1..).zip(all()) {
            let mut course = Course::until(pass);
            course.kernel(&file, file.program.kernels[0], &options);
            assert_eq!(course.taken().len(), count, "until {}", pass.name);
        }
    }
}
