//! Scopes and memory orders by the names that CUDA's C++ library has for them.

use crate::calculus::{MemoryOrder, SyncScope};

/// The threads for which an object of the library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadScope {
    /// One thread.
    Thread,
    /// Several.
    Of(SyncScope),
}

impl ThreadScope {
    /// The scope of that name, without its namespace: `thread_scope_block`.
    pub fn named(name: &str) -> Option<ThreadScope> {
        Some(match name {
            "thread_scope_thread" => ThreadScope::Thread,
            "thread_scope_block" => ThreadScope::Of(SyncScope::Block),
            "thread_scope_device" => ThreadScope::Of(SyncScope::Grid),
            "thread_scope_system" => ThreadScope::Of(SyncScope::System),
            _ => return None,
        })
    }
}

/// The scope of several threads that has that name.
pub fn scope(name: &str) -> Option<SyncScope> {
    match ThreadScope::named(name)? {
        ThreadScope::Of(scope) => Some(scope),
        ThreadScope::Thread => None,
    }
}

/// The order that a path names, by its last part and the one before: `memory_order_acquire`, `memory_order::acquire`.
pub fn order(last: &str, before: Option<&str>) -> Option<MemoryOrder> {
    let name = match last.strip_prefix("memory_order_") {
        Some(order) => order,
        None if before? == "memory_order" => last,
        None => return None,
    };
    Some(match name {
        "relaxed" => MemoryOrder::Relaxed,
        "acquire" | "consume" => MemoryOrder::Acquire,
        "release" => MemoryOrder::Release,
        "acq_rel" => MemoryOrder::AcquireRelease,
        "seq_cst" => MemoryOrder::SequentiallyConsistent,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_named_in_two_ways() {
        assert_eq!(order("memory_order_acquire", Some("cuda")), Some(MemoryOrder::Acquire));
        assert_eq!(order("acquire", Some("memory_order")), Some(MemoryOrder::Acquire));
        assert_eq!(order("acquire", Some("cuda")), None);
        assert_eq!(order("acquire", None), None);
        assert_eq!((scope("thread_scope_thread"), scope("thread_scope_device")), (None, Some(SyncScope::Grid)));
    }
}
