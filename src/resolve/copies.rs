//! Asynchronous copies of CUDA's C++ library (`cuda::memcpy_async` with a pipeline of one thread or a barrier) and of
//! cooperative groups. Pipelines that threads share have a file of their own ([`super::pipelines`]).

use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::builtins::collectives::Group;
use crate::builtins::{Builtin, Copying};
use crate::source::Span;
use crate::syntax::{self, PathSegment, TemplateArg};

/// The type of a pipeline of one thread.
const PIPELINE: &str = "cuda::pipeline<thread_scope_thread>";

impl<'u> Resolver<'u> {
    /// A type of the library that means more than its name: a pipeline of one thread, an aligned size.
    pub(super) fn copying_type(&mut self, name: &str, segment: Option<&'u PathSegment>) -> Option<TypeId> {
        match name {
            "cuda::aligned_size_t" => Some(self.types.common.ulong),
            "cuda::pipeline" => {
                let first = segment?.args.as_deref()?.first()?;
                match last_name(first)? {
                    "thread_scope_thread" => Some(self.types.unknown(PIPELINE)),
                    _ => self.shared_pipeline_type(first),
                }
            }
            "cuda::pipeline_role" => Some(self.types.common.int),
            _ => None,
        }
    }

    fn is_pipeline(&self, value: &Expr) -> bool {
        matches!(&self.types[value.ty], Type::Unknown(name) if name == PIPELINE)
    }

    /// A free function of the library; `None` if it is none that is modelled.
    pub(super) fn copying_function(
        &mut self,
        name: &str,
        template_args: Option<&'u [TemplateArg]>,
        args: &[Expr],
        span: Span,
    ) -> Option<Expr> {
        if let Some(shared) = self.shared_pipeline_function(name, args, span) {
            return Some(shared);
        }
        match (name, args) {
            ("cuda::make_pipeline", []) => {
                let ty = self.types.unknown(PIPELINE);
                Some(expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), Vec::new()), ty, span))
            }
            ("cuda::memcpy_async", [to, from, bytes, pipeline]) if self.is_pipeline(pipeline) => {
                Some(self.copying(Copying::Copy, name, &[to, from, bytes], span))
            }
            ("cuda::memcpy_async", [to, from, bytes, barrier]) if self.is_barrier(barrier) => {
                let barrier = self.address_of(barrier.clone());
                Some(self.copying(Copying::BarrierCopy(None), name, &[to, from, bytes, &barrier], span))
            }
            ("cuda::memcpy_async", [group, to, from, bytes, barrier]) if self.is_barrier(barrier) => {
                let group = self.copying_group(group)?;
                let barrier = self.address_of(barrier.clone());
                Some(self.copying(Copying::BarrierCopy(Some(group)), name, &[to, from, bytes, &barrier], span))
            }
            ("cuda::pipeline_consumer_wait_prior", [pipeline]) if self.is_pipeline(pipeline) => {
                let newest = match template_args? {
                    [TemplateArg::Value(newest)] => self.constant_of(newest)?,
                    _ => return None,
                };
                let newest = expr(ExprKind::Int(newest), self.types.common.ulong, span);
                Some(self.copying(Copying::WaitPrior, name, &[&newest], span))
            }
            _ => None,
        }
    }

    /// A method of a pipeline of one thread; `None` if the object is none.
    pub(super) fn pipeline_method(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        if let Some(shared) = self.shared_pipeline_method(object, name, args, span) {
            return Some(shared);
        }
        if !self.is_pipeline(object) || !args.is_empty() {
            return None;
        }
        match name {
            "producer_commit" => Some(self.copying(Copying::Commit, name, &[], span)),
            "consumer_wait" => Some(self.copying(Copying::WaitOldest, name, &[], span)),
            // A pipeline of one thread has room for what the thread begins.
            "producer_acquire" | "consumer_release" => Some(expr(
                ExprKind::Builtin(Builtin::Nothing, name.to_owned(), Vec::new()),
                self.types.common.void,
                span,
            )),
            _ => None,
        }
    }

    /// `memcpy_async(block, to, from, bytes)` and `wait(block)` of cooperative groups.
    pub(super) fn group_copy(&mut self, group: Group, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        match (name, args) {
            ("memcpy_async", [_, to, from, bytes]) => {
                Some(self.copying(Copying::GroupCopy(group), name, &[to, from, bytes], span))
            }
            ("wait", [_]) => Some(self.copying(Copying::GroupWait(group), name, &[], span)),
            _ => None,
        }
    }

    fn copying(&mut self, copying: Copying, name: &str, args: &[&Expr], span: Span) -> Expr {
        let args = args.iter().map(|&argument| self.load(argument.clone())).collect();
        expr(ExprKind::Builtin(Builtin::Copying(copying), name.to_owned(), args), self.types.common.void, span)
    }
}

/// The last part of the path that a template argument is.
pub(super) fn last_name(argument: &TemplateArg) -> Option<&str> {
    let path = match argument {
        TemplateArg::Value(syntax::Expr { kind: syntax::ExprKind::Path(path), .. }) => path,
        TemplateArg::Type(syntax::Type { kind: syntax::TypeKind::Named(path), .. }) => path,
        _ => return None,
    };
    Some(&path.segments.last()?.name.text)
}
