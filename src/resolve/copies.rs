//! Asynchronous copies of CUDA's C++ library (`cuda::memcpy_async` with a pipeline of one thread or a barrier) and of
//! cooperative groups. Pipelines that threads share have a file of their own ([`super::pipelines`]).

use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::builtins::collectives::Group;
use crate::builtins::pipelines::{self, CopyType, Method};
use crate::builtins::scopes::ThreadScope;
use crate::builtins::{Builtin, Copying, groups};
use crate::calculus::SyncScope;
use crate::source::Span;
use crate::syntax::{self, PathSegment, TemplateArg};

/// The type of a pipeline of one thread.
const PIPELINE: &str = "cuda::pipeline<thread_scope_thread>";

impl<'u> Resolver<'u> {
    /// A type of the library that means more than its name: a pipeline of one thread, an aligned size.
    pub(super) fn copying_type(&mut self, name: &str, segment: Option<&'u PathSegment>) -> Option<TypeId> {
        match CopyType::named(name)? {
            CopyType::AlignedSize => Some(self.types.common.ulong),
            CopyType::Pipeline => {
                let first = segment?.args.as_deref()?.first()?;
                match ThreadScope::named(last_name(first)?)? {
                    ThreadScope::Thread => Some(self.types.unknown(PIPELINE)),
                    ThreadScope::Of(SyncScope::Block) => Some(self.shared_pipeline()),
                    ThreadScope::Of(_) => None,
                }
            }
            CopyType::Role => Some(self.types.common.int),
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
        match (pipelines::Function::named(name)?, args) {
            (pipelines::Function::Make, []) => {
                let ty = self.types.unknown(PIPELINE);
                Some(expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), Vec::new()), ty, span))
            }
            (pipelines::Function::Copy, [to, from, bytes, pipeline]) if self.is_pipeline(pipeline) => {
                Some(self.copying(Copying::Copy, name, &[to, from, bytes], span))
            }
            (pipelines::Function::Copy, [to, from, bytes, barrier]) if self.is_barrier(barrier) => {
                let barrier = self.address_of(barrier.clone());
                Some(self.copying(Copying::BarrierCopy(None), name, &[to, from, bytes, &barrier], span))
            }
            (pipelines::Function::Copy, [group, to, from, bytes, barrier]) if self.is_barrier(barrier) => {
                let group = self.copying_group(group)?;
                let barrier = self.address_of(barrier.clone());
                Some(self.copying(Copying::BarrierCopy(Some(group)), name, &[to, from, bytes, &barrier], span))
            }
            (pipelines::Function::WaitPrior, [pipeline]) if self.is_pipeline(pipeline) => {
                let newest = match template_args? {
                    [TemplateArg::Value(newest)] => self.constant_of(newest)?,
                    _ => return None,
                };
                let newest = expr(ExprKind::Int(newest), self.types.common.ulong, span);
                Some(self.copying(Copying::WaitPrior, name, &[&newest], span))
            }
            (pipelines::Function::Make | pipelines::Function::Copy | pipelines::Function::WaitPrior, _) => None,
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
        Some(match Method::named(name)? {
            Method::Commit => self.copying(Copying::Commit, name, &[], span),
            Method::Wait => self.copying(Copying::WaitOldest, name, &[], span),
            // A pipeline of one thread has room for what the thread begins.
            Method::Acquire | Method::Release => {
                expr(ExprKind::Builtin(Builtin::Nothing, name.to_owned(), Vec::new()), self.types.common.void, span)
            }
        })
    }

    /// `memcpy_async(block, to, from, bytes)` and `wait(block)` of cooperative groups.
    pub(super) fn group_copy(
        &mut self,
        group: Group,
        function: groups::Function,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Option<Expr> {
        match (function, args) {
            (groups::Function::Copy, [_, to, from, bytes]) => {
                Some(self.copying(Copying::GroupCopy(group), name, &[to, from, bytes], span))
            }
            (groups::Function::Wait, [_]) => Some(self.copying(Copying::GroupWait(group), name, &[], span)),
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
