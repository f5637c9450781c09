//! Barriers in two steps: the methods of `cuda::barrier`, and the functions on barriers.
//!
//! Deliberately absent: `arrive_and_drop`, arrivals that count several times, transactions of bytes (`barrier_arrive_tx`).

use super::Phase;

/// The class, with its namespace.
pub const BARRIER: &str = "cuda::barrier";

/// What a function on the barrier that its first argument points to does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `init(&barrier, number)`, if it is a `cuda::barrier`.
    OfObject(Phase),
    /// `__mbarrier_arrive(&barrier)`, whatever it points to.
    OfAny(Phase),
}

impl Function {
    /// The function of that name, with its namespace, and number of arguments.
    pub fn named(name: &str, arity: usize) -> Option<Function> {
        Some(match (name, arity) {
            ("init" | "cuda::init", 2) => Function::OfObject(Phase::Init),
            ("__mbarrier_init", 2) => Function::OfAny(Phase::Init),
            ("__mbarrier_arrive", 1) => Function::OfAny(Phase::Arrive),
            ("__mbarrier_test_wait", 2) => Function::OfAny(Phase::Test),
            _ => return None,
        })
    }
}

/// What the method of a `cuda::barrier` of that name and number of arguments does.
pub fn method(name: &str, arity: usize) -> Option<Phase> {
    Some(match (name, arity) {
        ("arrive", 0) => Phase::Arrive,
        ("wait", 1) => Phase::Wait,
        ("arrive_and_wait", 0) => Phase::ArriveAndWait,
        ("try_wait_for" | "try_wait_until", 2) => Phase::Test,
        ("wait_parity", 1) => Phase::WaitParity,
        ("try_wait_parity_for" | "try_wait_parity_until", 2) => Phase::TestParity,
        _ => return None,
    })
}

/// Whether that is the name of the class, without its namespace.
pub fn is_barrier(name: &str) -> bool {
    name == "barrier"
}

/// Whether that is the name of the function that tells a barrier how many arrivals it waits for, without its namespace.
pub fn is_init(name: &str) -> bool {
    name == "init"
}

/// Whether a function is one on a barrier of the hardware; `__mbarrier_maximum_count` is about none.
pub fn is_of_hardware(name: &str) -> bool {
    name.starts_with("__mbarrier_")
}

/// Whether it is about all barriers, and takes none.
pub fn is_about_all(name: &str) -> bool {
    name == "__mbarrier_maximum_count"
}
