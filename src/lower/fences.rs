//! Fences of CUDA, OpenCL and PTX.
//!
//! A fence whose order, scope or memory is no constant is left out, since what is left out orders nothing: then less is
//! proved, and nothing that is not so.
//!
//! Deliberately absent: what a fence is good for, which `memory_model` says.

use super::pass::Pass;
use super::value::Value;
use crate::builtins::FenceCall;
use crate::builtins::atomics::Numbering;
use crate::calculus::{MemoryOrder, Stmt, SyncMemory, SyncScope};
use crate::resolve::program::Expr;
use crate::source::Span;

/// All memory that threads share.
const ALL: SyncMemory = SyncMemory::BOTH;

impl Pass<'_> {
    /// A call of a fence.
    pub(super) fn fence(&mut self, call: FenceCall, args: &[Expr], span: Span) -> Value {
        let numbers: Vec<Option<i128>> = args.iter().map(|arg| self.number(arg)).collect();
        if let Some((order, scope, memory)) = meaning(call, &numbers) {
            self.emit_fence(order, scope, memory, span);
        }
        Value::Void
    }

    fn number(&mut self, arg: &Expr) -> Option<i128> {
        match self.value(arg) {
            Value::Scalar(expr) => self.kernel.exprs.as_int(expr),
            _ => None,
        }
    }

    /// A fence of PTX, which orders all memory.
    pub(super) fn ptx_fence(&mut self, order: MemoryOrder, scope: SyncScope, span: Span) {
        self.emit_fence(order, scope, ALL, span);
    }

    fn emit_fence(&mut self, order: MemoryOrder, scope: SyncScope, memory: SyncMemory, span: Span) {
        let site = self.site(span);
        self.emit(Stmt::Fence { order, scope, memory, site });
    }
}

/// What a call orders, and for whom, if its arguments say so.
fn meaning(call: FenceCall, args: &[Option<i128>]) -> Option<(MemoryOrder, SyncScope, SyncMemory)> {
    match (call, args) {
        (FenceCall::All { order, scope }, []) => Some((order, scope, ALL)),
        (FenceCall::OfGroup(order), &[Some(flags)]) => Some((order, SyncScope::Block, SyncMemory::of_flags(flags))),
        (FenceCall::Flagged, &[Some(flags), order, scope]) => {
            let (order, scope) = Numbering::OpenCl.stated(&[order, scope])?;
            Some((order, scope, SyncMemory::of_flags(flags)))
        }
        (FenceCall::Numbered, stated) => {
            let (order, scope) = Numbering::Nvcc.stated(stated)?;
            Some((order, scope, ALL))
        }
        _ => None,
    }
}

/// What `membar` or `fence` of PTX with these suffixes orders, and for whom; `None` for fences of other kinds, between
/// proxies for instance.
pub(super) fn of_ptx(name: &str) -> Option<(MemoryOrder, SyncScope)> {
    let (opcode, suffixes) = name.split_once('.')?;
    match (opcode, suffixes.split_once('.')) {
        ("membar", None) => {
            let scope = match suffixes {
                "cta" => SyncScope::Block,
                "gl" => SyncScope::Grid,
                "sys" => SyncScope::System,
                _ => return None,
            };
            Some((MemoryOrder::SequentiallyConsistent, scope))
        }
        ("fence", split) => {
            let (order, scope) = match split {
                Some(("sc", scope)) => (MemoryOrder::SequentiallyConsistent, scope),
                Some(("acq_rel", scope)) => (MemoryOrder::AcquireRelease, scope),
                Some(("acquire", scope)) => (MemoryOrder::Acquire, scope),
                Some(("release", scope)) => (MemoryOrder::Release, scope),
                // Without an order it is that of both directions.
                _ => (MemoryOrder::AcquireRelease, suffixes),
            };
            let scope = match scope {
                "cta" => SyncScope::Block,
                "cluster" => SyncScope::Cluster,
                "gpu" => SyncScope::Grid,
                "sys" => SyncScope::System,
                _ => return None,
            };
            Some((order, scope))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{AcquireRelease, Release, SequentiallyConsistent};

    #[test]
    fn fences_of_ptx_have_order_and_scope() {
        assert_eq!(of_ptx("membar.gl"), Some((SequentiallyConsistent, SyncScope::Grid)));
        assert_eq!(of_ptx("membar.cta"), Some((SequentiallyConsistent, SyncScope::Block)));
        assert_eq!(of_ptx("fence.acq_rel.gpu"), Some((AcquireRelease, SyncScope::Grid)));
        assert_eq!(of_ptx("fence.sc.sys"), Some((SequentiallyConsistent, SyncScope::System)));
        assert_eq!(of_ptx("fence.cta"), Some((AcquireRelease, SyncScope::Block)));
        assert_eq!(of_ptx("fence.proxy.async"), None);
    }

    #[test]
    fn a_fence_of_opencl_says_what_it_orders() {
        let global = SyncMemory { global: true, ..SyncMemory::NONE };
        let group = FenceCall::OfGroup(Release);
        assert_eq!(meaning(group, &[Some(2)]), Some((Release, SyncScope::Block, global)));
        assert_eq!(meaning(group, &[None]), None);
        let flagged = [Some(2), Some(4), Some(2)];
        assert_eq!(meaning(FenceCall::Flagged, &flagged), Some((AcquireRelease, SyncScope::Grid, global)));
        assert_eq!(meaning(FenceCall::Flagged, &[Some(2), Some(1), Some(2)]), None);
        assert_eq!(meaning(FenceCall::Flagged, &flagged[..2]), None);
    }

    #[test]
    fn a_fence_of_nvcc_is_for_the_system_unless_it_says_otherwise() {
        let numbered = |stated: &[Option<i128>]| meaning(FenceCall::Numbered, stated);
        assert_eq!(numbered(&[Some(5)]), Some((SequentiallyConsistent, SyncScope::System, ALL)));
        assert_eq!(numbered(&[Some(4), Some(1)]), Some((AcquireRelease, SyncScope::Block, ALL)));
        assert_eq!(numbered(&[Some(4), Some(2)]), Some((AcquireRelease, SyncScope::Cluster, ALL)));
        assert_eq!(numbered(&[Some(4), Some(3)]), Some((AcquireRelease, SyncScope::Grid, ALL)));
        // A fence for the thread itself orders nothing for others.
        assert_eq!(numbered(&[Some(4), Some(0)]), None);
        assert_eq!(numbered(&[Some(4), None]), None);
    }
}
