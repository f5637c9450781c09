//! Pipelines that the threads of a block share: `cuda::make_pipeline(block, &state)` and its kin.
//!
//! The pipeline itself is a pointer to its state, a structure of two barriers for each stage. What is done to it stands as a
//! builtin with that pointer.
//!
//! Deliberately absent: pipelines of other groups than the block or of several blocks, `quit`, waits with a limit of time;
//! they stay calls that are not known.

use super::context::{Resolver, expr};
use super::copies::last_name;
use super::program::{Expr, ExprKind, Record, Type, TypeId};
use crate::builtins::collectives::Group;
use crate::builtins::pipelines::{Function, Method, STATE};
use crate::builtins::{Builtin, Pipeline, scopes};
use crate::calculus::SyncScope;
use crate::source::Span;
use crate::syntax::TemplateArg;

/// What a pipeline points to.
const PIPELINE: &str = "cuda::pipeline<thread_scope_block>";

/// Bytes of the two barriers of a stage.
pub(super) const STAGE_BYTES: u64 = 16;

/// Whether a state with these template arguments is one that is followed.
pub(super) fn is_followed(args: &[TemplateArg]) -> bool {
    let [scope, _] = args else { return false };
    last_name(scope).and_then(scopes::scope) == Some(SyncScope::Block)
}

impl Resolver<'_> {
    /// The type of a pipeline that the threads of a block share.
    pub(super) fn shared_pipeline(&mut self) -> TypeId {
        let of = self.types.unknown(PIPELINE);
        self.types.pointer(of, None)
    }

    fn is_shared_pipeline(&self, value: &Expr) -> bool {
        let Type::Pointer { to, .. } = self.types[value.ty] else { return false };
        matches!(&self.types[to], Type::Unknown(name) if name == PIPELINE)
    }

    /// The number of stages of the pipeline whose state this points to.
    fn stages(&self, pointer: &Expr) -> Option<u32> {
        let Type::Pointer { to, .. } = self.types[pointer.ty] else { return None };
        let Type::Record(record) = self.types[to] else { return None };
        let Record { name, bytes, .. } = &self.records[record];
        name.starts_with(STATE).then_some(())?;
        u32::try_from((*bytes)? / STAGE_BYTES).ok()
    }

    /// A free function of the library; `None` if it is none that belongs to such a pipeline.
    pub(super) fn shared_pipeline_function(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        match (Function::named(name)?, args) {
            (Function::Make, [group, state, told @ ..]) if told.len() <= 1 => {
                let state = self.load(state.clone());
                let stages = self.stages(&state)?;
                self.copying_group(group).filter(|group| *group == Group::Block)?;
                let told = told.iter().map(|told| self.load(told.clone()));
                let args = std::iter::once(state).chain(told.collect::<Vec<_>>()).collect();
                let ty = self.shared_pipeline();
                let builtin = Builtin::Pipeline(Pipeline::Make(stages));
                Some(expr(ExprKind::Builtin(builtin, name.to_owned(), args), ty, span))
            }
            (Function::Copy, [to, from, bytes, pipeline]) if self.is_shared_pipeline(pipeline) => {
                Some(self.in_pipeline(Pipeline::Copy(None), name, &[pipeline, to, from, bytes], span))
            }
            (Function::Copy, [group, to, from, bytes, pipeline]) if self.is_shared_pipeline(pipeline) => {
                let group = self.copying_group(group)?;
                Some(self.in_pipeline(Pipeline::Copy(Some(group)), name, &[pipeline, to, from, bytes], span))
            }
            (Function::Make | Function::Copy | Function::WaitPrior, _) => None,
        }
    }

    /// A method of such a pipeline; `None` if the object is none or the method is not followed.
    pub(super) fn shared_pipeline_method(
        &mut self,
        object: &Expr,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Option<Expr> {
        if !self.is_shared_pipeline(object) || !args.is_empty() {
            return None;
        }
        let pipeline = match Method::named(name)? {
            Method::Acquire => Pipeline::Acquire,
            Method::Commit => Pipeline::Commit,
            Method::Wait => Pipeline::Wait,
            Method::Release => Pipeline::Release,
        };
        Some(self.in_pipeline(pipeline, name, &[object], span))
    }

    fn in_pipeline(&mut self, pipeline: Pipeline, name: &str, args: &[&Expr], span: Span) -> Expr {
        let args = args.iter().map(|&argument| self.load(argument.clone())).collect();
        expr(ExprKind::Builtin(Builtin::Pipeline(pipeline), name.to_owned(), args), self.types.common.void, span)
    }
}
