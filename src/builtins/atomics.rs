//! Atomic functions of CUDA and OpenCL.

use super::functions::{Meaning, ResultType, fixed, meaning, unmodelled};
use super::types::Scalar;
use super::{Builtin, FenceCall};
use crate::calculus::{AtomicOp, MemoryOrder, SyncScope};
use crate::source::Language;

/// How the names of nvcc's own begin.
const OF_NVCC: &str = "__nv_atomic_";

/// The atomic function of that name.
pub(super) fn atomic(language: Language, name: &str) -> Option<Meaning> {
    match language {
        Language::Cuda => cuda(name),
        Language::OpenCl => opencl(name),
    }
}

fn made(op: AtomicOp, order: MemoryOrder, scope: SyncScope) -> Meaning {
    let result = if op == AtomicOp::Store { ResultType::Void } else { ResultType::Pointee };
    meaning(Builtin::Atomic { op, order, scope }, result)
}

/// `atomicAdd` and its kin, with `_block` and `_system`, and those that nvcc has since CUDA 12.8.
fn cuda(name: &str) -> Option<Meaning> {
    if let Some(rest) = name.strip_prefix(OF_NVCC) {
        return of_nvcc(rest);
    }
    // HIP says how floating additions are done; `atomicAddNoRet` is its name for one without a result.
    let name = name.strip_prefix("unsafe").or_else(|| name.strip_prefix("safe")).map_or(name, |rest| match rest {
        "AtomicAdd" => "atomicAdd",
        "AtomicMin" => "atomicMin",
        "AtomicMax" => "atomicMax",
        _ => name,
    });
    let rest = name.strip_prefix("atomic")?;
    let (stem, scope) = match (rest.strip_suffix("_block"), rest.strip_suffix("_system")) {
        (Some(stem), _) => (stem, SyncScope::Block),
        (_, Some(stem)) => (stem, SyncScope::System),
        _ => (rest, SyncScope::Grid),
    };
    let op = match stem {
        "Add" | "AddNoRet" => AtomicOp::Add,
        "Sub" => AtomicOp::Sub,
        "Exch" => AtomicOp::Exchange,
        "Min" => AtomicOp::Min,
        "Max" => AtomicOp::Max,
        "Inc" => AtomicOp::Increment,
        "Dec" => AtomicOp::Decrement,
        "CAS" => AtomicOp::CompareExchange,
        "And" => AtomicOp::And,
        "Or" => AtomicOp::Or,
        "Xor" => AtomicOp::Xor,
        _ => return None,
    };
    Some(made(op, MemoryOrder::Relaxed, scope))
}

/// `__nv_atomic_fetch_add`, `__nv_atomic_load_n` and their kin, whose order and scope stand in the arguments. Absent are
/// those that take what they store and return by address (`__nv_atomic_load`).
fn of_nvcc(rest: &str) -> Option<Meaning> {
    let (order, scope) = (MemoryOrder::SequentiallyConsistent, SyncScope::System);
    let op = match rest {
        "thread_fence" => return Some(meaning(Builtin::Fence(FenceCall::Numbered), ResultType::Void)),
        "compare_exchange_n" => {
            let builtin = Builtin::CompareAndExchange { orders: [order; 2], scope, weak: true };
            return Some(meaning(builtin, fixed(Scalar::Bool)));
        }
        "load_n" => AtomicOp::Load,
        "store_n" => AtomicOp::Store,
        "exchange_n" => AtomicOp::Exchange,
        "add" => AtomicOp::Add,
        "sub" => AtomicOp::Sub,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        _ if rest.starts_with("fetch_") => operation(rest)?,
        _ => return None,
    };
    Some(made(op, order, scope))
}

/// OpenCL 1's `atomic_add` and `atom_add`, and OpenCL 2's `atomic_fetch_add` and `atomic_fetch_add_explicit`,
/// whose order and scope stand in the arguments.
fn opencl(name: &str) -> Option<Meaning> {
    let rest = name.strip_prefix("atomic_").or_else(|| name.strip_prefix("atom_"))?;
    let op = match rest {
        "add" => AtomicOp::Add,
        "sub" => AtomicOp::Sub,
        "xchg" => AtomicOp::Exchange,
        // These add one and do not wrap at a limit as CUDA's do; the call is given the one.
        "inc" => AtomicOp::Add,
        "dec" => AtomicOp::Sub,
        "cmpxchg" => AtomicOp::CompareExchange,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        _ => return opencl2(rest),
    };
    Some(made(op, MemoryOrder::Relaxed, SyncScope::Grid))
}

fn opencl2(rest: &str) -> Option<Meaning> {
    let stem = rest.strip_suffix("_explicit").unwrap_or(rest);
    // The functions without `_explicit` are sequentially consistent for all devices.
    let (order, scope) = (MemoryOrder::SequentiallyConsistent, SyncScope::System);
    if let Some(weak) = compare_and_exchange(stem) {
        return Some(meaning(Builtin::CompareAndExchange { orders: [order; 2], scope, weak }, fixed(Scalar::Bool)));
    }
    match stem {
        // A flag is an atomic number that is 1 while it is set, and 0 while it is clear (OpenCL C 3.0, 6.15.12.7).
        "flag_test_and_set" => {
            Some(meaning(Builtin::Atomic { op: AtomicOp::Exchange, order, scope }, fixed(Scalar::Bool)))
        }
        "flag_clear" => Some(made(AtomicOp::Store, order, scope)),
        "init" => Some(unmodelled("atomic_init", ResultType::Void)),
        _ => Some(made(operation(stem)?, order, scope)),
    }
}

/// What C++ and OpenCL 2 call so: `fetch_add`, `load`.
fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "load" => AtomicOp::Load,
        "store" => AtomicOp::Store,
        "exchange" => AtomicOp::Exchange,
        "fetch_add" => AtomicOp::Add,
        "fetch_sub" => AtomicOp::Sub,
        "fetch_min" => AtomicOp::Min,
        "fetch_max" => AtomicOp::Max,
        "fetch_and" => AtomicOp::And,
        "fetch_or" => AtomicOp::Or,
        "fetch_xor" => AtomicOp::Xor,
        _ => return None,
    })
}

/// Whether a compare-exchange of C++ and OpenCL 2 may fail though it finds what is expected; `None` if it is none.
fn compare_and_exchange(name: &str) -> Option<bool> {
    match name {
        "compare_exchange_strong" => Some(false),
        "compare_exchange_weak" => Some(true),
        _ => None,
    }
}

/// A class of atomics that are objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It holds a value: `cuda::atomic`.
    Object,
    /// It refers to an object: `cuda::atomic_ref`.
    Reference,
}

impl Class {
    /// The class of that name, with its namespace.
    pub fn named(name: &str) -> Option<Class> {
        Self::in_library(name.strip_prefix("cuda::std::").or_else(|| name.strip_prefix("cuda::"))?)
    }

    /// The class of that name, without its namespace.
    pub fn in_library(name: &str) -> Option<Class> {
        Some(match name {
            "atomic" => Class::Object,
            "atomic_ref" => Class::Reference,
            _ => return None,
        })
    }
}

/// A method of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It wakes others up, which says nothing about order: `notify_all()`.
    Notify,
    /// It waits for another value: `wait(old)`.
    Wait,
    /// `compare_exchange_weak(expected, desired)`
    CompareAndExchange {
        /// Whether it may fail though it finds what is expected.
        weak: bool,
    },
    /// `fetch_add(value)`, `load()` …
    Operation(AtomicOp),
}

impl Method {
    /// The method of that name.
    pub fn named(name: &str) -> Option<Method> {
        if let Some(weak) = compare_and_exchange(name) {
            return Some(Method::CompareAndExchange { weak });
        }
        match name {
            "notify_one" | "notify_all" => Some(Method::Notify),
            "wait" => Some(Method::Wait),
            _ => operation(name).map(Method::Operation),
        }
    }
}

/// A fence of CUDA's C++ library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// For the whole system: `cuda::std::atomic_thread_fence(order)`.
    OfSystem,
    /// For the scope that the second argument names, if there is one: `cuda::atomic_thread_fence(order, scope)`.
    OfScope,
}

impl Fence {
    /// The fence of that name, with its namespace.
    pub fn named(name: &str) -> Option<Fence> {
        Some(match name {
            "cuda::atomic_thread_fence" => Fence::OfScope,
            "cuda::std::atomic_thread_fence" => Fence::OfSystem,
            _ => return None,
        })
    }

    /// Whether a name without its namespace is one of theirs.
    pub fn is_in_library(name: &str) -> bool {
        name == "atomic_thread_fence"
    }

    /// Whether a name without its namespace is that of a fence between a thread and what interrupts it.
    pub fn is_of_signals(name: &str) -> bool {
        name == "atomic_signal_fence"
    }
}

/// The operand that a call does not write because the name says it: `atomic_inc(p)` of OpenCL adds one, and
/// `atomic_flag_clear(p)` stores none.
pub fn implied_operand(language: Language, name: &str) -> Option<i128> {
    if language != Language::OpenCl {
        return None;
    }
    match name.strip_suffix("_explicit").unwrap_or(name) {
        "atomic_inc" | "atom_inc" | "atomic_dec" | "atom_dec" | "atomic_flag_test_and_set" => Some(1),
        "atomic_flag_clear" => Some(0),
        _ => None,
    }
}

/// The number of operands after the address, beyond which OpenCL 2 states order and scope.
pub fn operand_count(op: AtomicOp) -> usize {
    match op {
        AtomicOp::Load => 0,
        AtomicOp::CompareExchange => 2,
        _ => 1,
    }
}

/// Whose enumerations number the orders and scopes in the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// `memory_order` and `memory_scope` of OpenCL 2.
    OpenCl,
    /// `__NV_ATOMIC_…` and `__NV_THREAD_SCOPE_…` of nvcc.
    Nvcc,
}

impl Numbering {
    /// The numbering of the arguments of an atomic function; `None` if none of them names an order.
    pub fn of(language: Language, name: &str) -> Option<Numbering> {
        match language {
            Language::Cuda => name.starts_with(OF_NVCC).then_some(Numbering::Nvcc),
            Language::OpenCl => name.ends_with("_explicit").then_some(Numbering::OpenCl),
        }
    }

    /// The memory order of that number.
    pub fn order(self, value: i128) -> Option<MemoryOrder> {
        Some(match (self, value) {
            (_, 0) => MemoryOrder::Relaxed,
            (Numbering::Nvcc, 1) | (_, 2) => MemoryOrder::Acquire,
            (_, 3) => MemoryOrder::Release,
            (_, 4) => MemoryOrder::AcquireRelease,
            (_, 5) => MemoryOrder::SequentiallyConsistent,
            _ => return None,
        })
    }

    /// The scope of that number, of which no thread is one.
    pub fn scope(self, value: i128) -> Option<SyncScope> {
        Some(match (self, value) {
            (_, 1) => SyncScope::Block,
            (Numbering::OpenCl, 4) => SyncScope::Warp,
            (Numbering::Nvcc, 2) => SyncScope::Cluster,
            (Numbering::OpenCl, 2) | (Numbering::Nvcc, 3) => SyncScope::Grid,
            (Numbering::OpenCl, 3) | (Numbering::Nvcc, 4) => SyncScope::System,
            _ => return None,
        })
    }

    /// The scope of a call that names none.
    pub fn usual_scope(self) -> SyncScope {
        match self {
            Numbering::OpenCl => SyncScope::Grid,
            Numbering::Nvcc => SyncScope::System,
        }
    }

    /// Order and scope of a call, as the constants say that follow its operands; `None` if they do not.
    pub fn stated(self, constants: &[Option<i128>]) -> Option<(MemoryOrder, SyncScope)> {
        match *constants {
            [order] => Some((self.order(order?)?, self.usual_scope())),
            [order, scope] => Some((self.order(order?)?, self.scope(scope?)?)),
            _ => None,
        }
    }
}
