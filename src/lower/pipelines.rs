//! Pipelines that the threads of a block share (`cuda::pipeline` with a `cuda::pipeline_shared_state`).
//!
//! Each stage has two objects that count arrivals: one for "full", where producers arrive (`producer_commit`) and consumers
//! wait (`consumer_wait`), and one for "empty", where consumers arrive (`consumer_release`) and producers wait
//! (`producer_acquire`), at first without need. A thread goes round the stages. So every call is a step at objects
//! ([`arrivals`]), and what orders two accesses is found there.
//!
//! A copy (`memcpy_async` with the pipeline) is done once its stage is full: to others it is an access of its thread between
//! the call and the commit behind it. What does not wait for it, as a barrier or a fence does not, and what its own thread does
//! to the same memory before its own wait, is `unknown` ([`Pipelines::check`] asks when the kernel is complete).
//!
//! Deliberately absent: own accesses told apart by their elements where single threads copy; threads of a role that do not lie
//! side by side; pipelines that are made several times.

use super::parties::Object;
use super::pass::Pass;
use super::value::Value;
use crate::builtins::Pipeline;
use crate::builtins::collectives::Group;
use crate::calculus::arrivals::{self, Met, Needs, Order, Refusal};
use crate::calculus::definitions::Definitions;
use crate::calculus::statements::every;
use crate::calculus::{
    Among, ArrayId, Arrivals, BinaryOp, Count, ExprId, Exprs, Kernel, Part, ScalarType, SiteId, Stmt, SyncMemory,
    SyncScope, Told, Unsupported,
};
use crate::resolve::program::Expr;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The pipelines of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipelines {
    made: Vec<Made>,
    copies: Vec<Copied>,
}

/// A pipeline.
#[derive(Clone, Copy, Debug)]
struct Made {
    object: Object,
    stages: u32,
    /// Where the objects start that say "empty"; those that say "full" start at its own.
    empty: ExprId,
    /// Whether a thread fills stages, where not all do.
    fills: Option<ExprId>,
    /// Where all threads make it.
    site: SiteId,
}

/// A copy.
#[derive(Clone, Debug)]
struct Copied {
    /// Whether single threads make it.
    alone: bool,
    /// The accesses.
    sites: BTreeSet<SiteId>,
    span: Span,
}

impl Pass<'_> {
    /// A call that belongs to such a pipeline.
    pub(super) fn pipeline(&mut self, pipeline: Pipeline, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [state, rest @ ..] = args else { return self.missing(call) };
        let span = call.span;
        if let Pipeline::Make(stages) = pipeline {
            return self.make_pipeline(stages, state, rest, call);
        }
        let object = self.barrier_at(state);
        let known = |made: &Made| Some(made.object) == object;
        let Some(at) = self.pipelines.made.iter().position(known) else {
            self.ignore(rest);
            self.unsupported(span, format!("`{name}` of a pipeline of which is not known which it is"));
            return Value::Void;
        };
        let made = self.pipelines.made[at];
        let full = made.object.offset;
        match pipeline {
            Pipeline::Make(..) => {}
            Pipeline::Copy(group) => self.copy_in_pipeline(at, group, rest, call),
            Pipeline::Acquire => self.step_in_circle(made, made.empty, Part::WaitsBefore, span),
            Pipeline::Commit => self.step_in_circle(made, full, Part::Arrives, span),
            Pipeline::Wait => self.step_in_circle(made, full, Part::Waits, span),
            Pipeline::Release => self.step_in_circle(made, made.empty, Part::Arrives, span),
        }
        Value::Void
    }

    fn make_pipeline(&mut self, stages: u32, state: &Expr, told: &[Expr], call: &Expr) -> Value {
        let span = call.span;
        let object = self.barrier_at(state);
        let told: Option<ExprId> = told.first().map(|told| self.scalar(told));
        let fills = told.map(|told| {
            let (rank, told) = (self.number_in_block(), self.exprs().convert(ScalarType::U64, told));
            self.exprs().binary(BinaryOp::Lt, rank, told)
        });
        let site = self.site(span);
        self.emit(Stmt::Sync { scope: SyncScope::Block, memory: SyncMemory::NONE, among: Among::All, site });
        match object {
            Some(object) if !self.pipelines.made.iter().any(|made| made.object == object) => {
                let bytes = self.offset(u64::from(stages) * u64::from(Arrivals::BYTES));
                let empty = self.exprs().binary(BinaryOp::Add, object.offset, bytes);
                self.pipelines.made.push(Made { object, stages, empty, fills, site });
            }
            Some(_) => self.unsupported(span, "pipeline that is made a second time".to_owned()),
            None => self.unsupported(span, "pipeline of which is not known where its state is".to_owned()),
        }
        Value::Pointer(self.pointer(state))
    }

    /// A step at the objects of the stages; for how many arrivals is said when the kernel is complete.
    fn step_in_circle(&mut self, made: Made, offset: ExprId, part: Part, span: Span) {
        let (site, array) = (self.site(span), made.object.array);
        let offset = self.placed(array, offset);
        let among = Among::Arrivals(Arrivals { array, offset, circle: made.stages, count: Count::Block, part });
        self.emit(Stmt::Sync { scope: SyncScope::Block, memory: SyncMemory::BOTH, among, site });
    }

    /// `memcpy_async(to, from, bytes, pipeline)`, without the pipeline.
    fn copy_in_pipeline(&mut self, pipeline: usize, group: Option<Group>, args: &[Expr], call: &Expr) {
        let [to, from, bytes] = args else {
            self.missing(call);
            return;
        };
        let (to, from, bytes) = (self.pointer(to), self.pointer(from), self.scalar(bytes));
        let bytes = self.exprs().convert(ScalarType::I64, bytes);
        let start = self.kernel.sites.len();
        match group {
            Some(group) => _ = self.copy_together(group, (&to, bytes.into()), (&from, bytes.into()), call.span),
            None => self.copy_now((&to, bytes), (&from, bytes), call.span),
        }
        let sites: BTreeSet<SiteId> = (start..self.kernel.sites.len()).map(SiteId::from_index).collect();
        let Object { array, offset } = self.pipelines.made[pipeline].object;
        let known = self.kernel.exprs.as_int(offset).and_then(|start| i64::try_from(start).ok());
        match known {
            Some(start) => sites.iter().for_each(|&site| self.kernel.sites[site].told = Some(Told { array, start })),
            None => {
                self.unsupported(call.span, "copy into a pipeline of which is not known where its state is".to_owned());
            }
        }
        self.pipelines.copies.push(Copied { alone: group.is_none(), sites, span: call.span });
    }
}

impl Pipelines {
    /// Whether the state of a pipeline lies in this array.
    pub(super) fn has_state_in(&self, array: ArrayId) -> bool {
        self.made.iter().any(|made| made.object.array == array)
    }

    /// The sites of the steps of all pipelines.
    pub(super) fn steps(&self, kernel: &Kernel) -> BTreeSet<SiteId> {
        let mut sites = BTreeSet::new();
        every(&kernel.body, |stmt| {
            if let Stmt::Sync { among: Among::Arrivals(step), site, .. } = stmt
                && self.has_state_in(step.array)
            {
                sites.insert(*site);
            }
        });
        sites
    }

    /// For how many arrivals the object at this place waits.
    pub(super) fn count(
        &self,
        kernel: &mut Kernel,
        (array, offset): (ArrayId, Option<i128>),
        step: SiteId,
    ) -> Result<Count, Refusal> {
        let refuse = |reason| Err(Refusal { site: step, reason });
        let place = |exprs: &Exprs, id: ExprId| exprs.as_int(id).filter(|_| offset.is_some());
        let of_array = self.made.iter().filter(|made| made.object.array == array);
        let mut found = of_array.filter_map(|made| {
            let ends = [made.object.offset, made.empty].map(|id| place(&kernel.exprs, id));
            ends.iter().position(|end| *end == offset && end.is_some()).map(|at| (*made, at))
        });
        let (Some((made, at)), None) = (found.next(), found.next()) else {
            return refuse("which one it is is not known");
        };
        if is_in_loop(&kernel.body, made.site, false) {
            return refuse("it is made in a loop");
        }
        let Some(fills) = made.fills else { return Ok(Count::Block) };
        let fills = Definitions::of(kernel).inlined(&mut kernel.exprs, fills);
        let Some((threads, _)) = arrivals::threads(kernel, fills) else {
            return refuse("which threads fill it is not known");
        };
        let threads = if at == 0 { threads } else { threads.complement() };
        match threads.side_by_side() {
            Some((from, to)) => Ok(Count::Range(from, to)),
            None => refuse("the threads of a role do not lie side by side"),
        }
    }

    /// Says where a copy may be under way that something does not wait for; gives what more is assumed of the block.
    pub(super) fn check(&self, kernel: &mut Kernel, order: &Order) -> Needs {
        let touched = touched(kernel);
        for copied in &self.copies {
            for (copy, what) in copied.sites.iter().filter_map(|site| Some((site, touched.get(site)?))) {
                for other in order.may_meet(*copy) {
                    let by_itself = other.what == Met::Own;
                    let conflicts = |own: &Touched| own.array == what.array && (own.writes || what.writes);
                    // Of a copy that threads make together, each of them shows what it may meet.
                    if by_itself && !(copied.alone && touched.get(&other.site).is_some_and(conflicts)) {
                        continue;
                    }
                    let reason = match other.what {
                        Met::Passes => {
                            "fence or barrier while an asynchronous copy is under way, which it does not wait for"
                        }
                        Met::Own => "access while an asynchronous copy of its own thread may be under way",
                    };
                    tell(kernel, kernel.sites[other.site].span, reason, vec![what.array], by_itself);
                }
            }
        }
        let fills: Vec<ExprId> = self.made.iter().filter_map(|made| made.fills).collect();
        let line = fills.into_iter().any(|fills| {
            let fills = Definitions::of(kernel).inlined(&mut kernel.exprs, fills);
            arrivals::threads(kernel, fills).is_none_or(|(_, line)| line)
        });
        // Which thread copies which byte is not said, so that two threads show whatever one could.
        let by_group = self.copies.iter().any(|copied| !copied.alone);
        Needs { line, threads: if by_group { 2 } else { 0 } }
    }

    /// Nothing is known of the steps, so that no copy is known to be done at any time.
    pub(super) fn never_done(&self, kernel: &mut Kernel) {
        let touched = touched(kernel);
        for copied in &self.copies {
            let arrays: BTreeSet<ArrayId> =
                copied.sites.iter().filter_map(|site| Some(touched.get(site)?.array)).collect();
            let reason = "asynchronous copy into a pipeline of which is not known when it is done";
            tell(kernel, Some(copied.span), reason, arrays.into_iter().collect(), false);
        }
    }
}

fn tell(kernel: &mut Kernel, span: Option<Span>, reason: &str, arrays: Vec<ArrayId>, is_of_thread: bool) {
    let (reason, arrays) = (reason.to_owned(), Some(arrays));
    let entry = Unsupported { span, reason, arrays, barriers: false, is_of_thread };
    if !kernel.unsupported.contains(&entry) {
        kernel.unsupported.push(entry);
    }
}

/// What an access does.
struct Touched {
    array: ArrayId,
    writes: bool,
}

fn touched(kernel: &Kernel) -> BTreeMap<SiteId, Touched> {
    let mut touched = BTreeMap::new();
    every(&kernel.body, |stmt| {
        if let Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
            let writes = !matches!(stmt, Stmt::Read { .. });
            touched.insert(access.site, Touched { array: access.array, writes });
        }
    });
    touched
}

fn is_in_loop(body: &[Stmt], at: SiteId, inside: bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Sync { site, .. } => inside && *site == at,
        Stmt::If { then, otherwise, .. } => is_in_loop(then, at, inside) || is_in_loop(otherwise, at, inside),
        Stmt::For(each) => is_in_loop(&each.body, at, true),
        Stmt::Loop { body, .. } => is_in_loop(body, at, true),
        _ => false,
    })
}
