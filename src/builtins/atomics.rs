//! Atomic functions of CUDA and OpenCL.

use super::Builtin;
use super::functions::{Meaning, ResultType, fixed, meaning, unmodelled};
use super::types::Scalar;
use crate::calculus::{AtomicOp, MemoryOrder, SyncScope};
use crate::source::Language;

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

/// `atomicAdd` and its kin, with `_block` and `_system`.
fn cuda(name: &str) -> Option<Meaning> {
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
        "flag_test_and_set" | "flag_clear" => Some(unmodelled("atomic flag", true, fixed(Scalar::Bool))),
        "init" => Some(unmodelled("atomic_init", true, ResultType::Void)),
        _ => Some(made(operation(stem)?, order, scope)),
    }
}

/// What C++ and OpenCL 2 call so: `fetch_add`, `load`.
pub fn operation(name: &str) -> Option<AtomicOp> {
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
pub fn compare_and_exchange(name: &str) -> Option<bool> {
    match name {
        "compare_exchange_strong" => Some(false),
        "compare_exchange_weak" => Some(true),
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

/// The memory order that OpenCL's enumeration numbers.
pub fn order_of(value: i128) -> Option<MemoryOrder> {
    Some(match value {
        0 => MemoryOrder::Relaxed,
        2 => MemoryOrder::Acquire,
        3 => MemoryOrder::Release,
        4 => MemoryOrder::AcquireRelease,
        5 => MemoryOrder::SequentiallyConsistent,
        _ => return None,
    })
}

/// The scope that OpenCL's enumeration numbers.
pub fn scope_of(value: i128) -> Option<SyncScope> {
    Some(match value {
        1 => SyncScope::Block,
        2 => SyncScope::Grid,
        3 => SyncScope::System,
        4 => SyncScope::Warp,
        _ => return None,
    })
}
