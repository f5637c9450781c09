//! Pipelines that the threads of a block share (`cuda::pipeline` with a `cuda::pipeline_shared_state`).
//!
//! Each stage has two objects that count arrivals: one for "full", where producers arrive (`producer_commit`) and consumers
//! wait (`consumer_wait`), and one for "empty", where consumers arrive (`consumer_release`) and producers wait
//! (`producer_acquire`), at first without need. A thread goes round the stages. So every call is a step at objects
//! ([`arrivals`](crate::calculus::arrivals)), and what orders two accesses is found there. For how many arrivals the objects
//! wait, and what meets a copy (`memcpy_async` with the pipeline) that does not wait for it, is asked of the complete kernel
//! (`src/settle/pipelines.rs`).
//!
//! Deliberately absent: pipelines that are made several times.

use crate::builtins::Pipeline;
use crate::builtins::collectives::Group;
use crate::calculus::{
    Among, Arrivals, BinaryOp, Count, ExprId, Part, ScalarType, SiteId, Stmt, SyncMemory, SyncScope, Told,
};
use crate::lower::pass::Pass;
use crate::lower::value::Value;
use crate::resolve::program::Expr;
use crate::settle::notes::{Copied, CopiedBy, Made, Object};
use crate::source::Span;
use std::collections::BTreeSet;

impl Pass<'_> {
    /// A call that belongs to such a pipeline.
    pub(in crate::lower) fn pipeline(&mut self, pipeline: Pipeline, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [state, rest @ ..] = args else { return self.missing(call) };
        let span = call.span;
        if let Pipeline::Make(stages) = pipeline {
            return self.make_pipeline(stages, state, rest, call);
        }
        let object = self.barrier_at(state);
        let known = |made: &Made| Some(made.object) == object;
        let Some(at) = self.notes.pipelines.made.iter().position(known) else {
            self.ignore(rest);
            self.unsupported(span, format!("`{name}` of a pipeline of which is not known which it is"));
            return Value::Void;
        };
        let made = self.notes.pipelines.made[at];
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
            Some(object) if !self.notes.pipelines.made.iter().any(|made| made.object == object) => {
                let bytes = self.offset(u64::from(stages) * u64::from(Arrivals::BYTES));
                let empty = self.exprs().binary(BinaryOp::Add, object.offset, bytes);
                self.notes.pipelines.made.push(Made { object, stages, empty, fills, site });
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
        let among = Among::Arrivals(Arrivals { array, offset, circle: made.stages, count: Count::Open, part });
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
        let Object { array, offset } = self.notes.pipelines.made[pipeline].object;
        let known = self.kernel.exprs.as_int(offset).and_then(|start| i64::try_from(start).ok());
        match known {
            Some(start) => sites.iter().for_each(|&site| self.kernel.sites[site].told = Some(Told { array, start })),
            None => {
                self.unsupported(call.span, "copy into a pipeline of which is not known where its state is".to_owned());
            }
        }
        let by = if group.is_some() { CopiedBy::Group } else { CopiedBy::Thread };
        self.notes.pipelines.copies.push(Copied { by, sites, span: call.span });
    }
}
