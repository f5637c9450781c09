//! The instructions of PTX, one by one: what each does besides computing.
//!
//! Source: the PTX ISA, by the name of the instruction. Deliberately absent: what is not in [`does`] or [`only_computes`],
//! which may do anything.

use super::{OnObject, Operand, Place, Step, Window};
use crate::lower::fences::of_ptx;
use crate::lower::storage::access::Touch;

/// Instructions that touch neither memory nor other threads, without their suffixes.
const HARMLESS: &[&str] = &[
    "abs",
    "add",
    "addc",
    "and",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "createpolicy",
    "cvt",
    "cvta",
    "div",
    "dp2a",
    "dp4a",
    "ex2",
    "fma",
    "fns",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
    "mapa",
    "max",
    "min",
    "mov",
    "mul",
    "mul24",
    "nanosleep",
    "neg",
    "not",
    "or",
    "popc",
    "prefetch",
    "prefetchu",
    "prmt",
    "rcp",
    "rem",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setmaxnreg",
    "setp",
    "shf",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "sub",
    "subc",
    "szext",
    "tanh",
    "testp",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "xor",
];

/// Whether an instruction touches neither memory nor other threads.
pub(super) fn only_computes(name: &str) -> bool {
    let opcode = name.split('.').next().unwrap_or("");
    HARMLESS.contains(&opcode)
}

/// What an instruction does besides computing; `None` if it is not understood.
pub(super) fn does(name: &str, operands: &str) -> Option<Vec<Step>> {
    let mut parts = name.split('.');
    Some(match parts.next().unwrap_or("") {
        "membar" | "fence" => of_ptx(name).map(|(order, scope)| Step::Fence(order, scope)).into_iter().collect(),
        "bar" | "barrier" => match name {
            "bar.sync"
            | "barrier.sync"
            | "barrier.sync.aligned"
            | "bar.cta.sync"
            | "barrier.cta.sync"
            | "barrier.cta.sync.aligned" => vec![barrier(operands)?],
            "bar.arrive"
            | "barrier.arrive"
            | "barrier.arrive.aligned"
            | "bar.cta.arrive"
            | "barrier.cta.arrive"
            | "barrier.cta.arrive.aligned" => vec![Step::Arrive],
            _ => return None,
        },
        "trap" => vec![Step::End],
        "ld" => vec![access(Touch::Read, parts, operands.rsplit_once('[')?.1)?],
        "st" => vec![access(Touch::Write, parts, operands.split_once('[')?.1)?],
        "ldmatrix" => vec![matrix(Touch::Read, parts, operands)?],
        "stmatrix" => vec![matrix(Touch::Write, parts, operands)?],
        "mma" if is_of_whole_warp(name) => vec![Step::Multiply],
        "mbarrier" => vec![object(parts, operands)?],
        "cp" => match name {
            "cp.async.commit_group" => vec![Step::Commit],
            "cp.async.wait_group" => vec![Step::WaitPrior(Operand::of(operands)?)],
            "cp.async.wait_all" => vec![Step::Commit, Step::WaitPrior(Operand::Number(0))],
            _ => vec![copy(name, operands)?],
        },
        _ => return None,
    })
}

/// Whether all threads of a warp must come to an instruction together (PTX ISA, "mma": `.sync`, `.aligned`).
fn is_of_whole_warp(name: &str) -> bool {
    name.contains(".sync.aligned")
}

/// `bar.sync`, after the operands are known: of barrier 0 and the whole block, or of a number of threads.
fn barrier(operands: &str) -> Option<Step> {
    let mut operands = operands.split(',');
    let id = Operand::of(operands.next()?)?;
    match (operands.next().map(Operand::of), operands.next()) {
        // Whichever barrier it is, all threads of the block meet there.
        (None, _) => Some(Step::Barrier),
        (Some(Some(count)), None) => Some(Step::Named { id, count }),
        _ => None,
    }
}

/// A plain load or store at `%2+16], …`. Strong ones, which are atomic, are not understood.
fn access<'t>(touch: Touch, suffixes: impl Iterator<Item = &'t str>, address: &str) -> Option<Step> {
    let (mut lanes, mut width, mut window) = (1, None, Window::Generic);
    for suffix in suffixes {
        match suffix {
            "shared" | "shared::cta" => window = Window::Shared,
            "global" | "const" | "local" | "volatile" | "nc" | "ca" | "cg" | "cs" | "cv" | "lu" | "wb" | "wt" => {}
            "v2" => lanes = 2,
            "v4" => lanes = 4,
            "b8" | "u8" | "s8" => width = Some(1),
            "b16" | "u16" | "s16" => width = Some(2),
            "b32" | "u32" | "s32" | "f32" => width = Some(4),
            "b64" | "u64" | "s64" | "f64" => width = Some(8),
            hint if hint.starts_with("L1::") || hint.starts_with("L2::") => {}
            _ => return None,
        }
    }
    let place = place(window, address.split_once(']')?.0)?;
    Some(Step::Access { touch, place, bytes: lanes * width? })
}

/// `ldmatrix.sync.aligned.m8n8.x4.shared.b16 {…}, [%4]`: eight rows of 16 bytes of each matrix.
fn matrix<'t>(touch: Touch, suffixes: impl Iterator<Item = &'t str>, operands: &str) -> Option<Step> {
    let (mut threads, mut window) = (None, Window::Generic);
    for suffix in suffixes {
        match suffix {
            "sync" | "aligned" | "m8n8" | "trans" | "b16" => {}
            "x1" => threads = Some(8),
            "x2" => threads = Some(16),
            "x4" => threads = Some(32),
            "shared" | "shared::cta" => window = Window::Shared,
            _ => return None,
        }
    }
    Some(Step::Matrix { touch, place: bracketed(window, operands)?, threads: threads? })
}

/// `mbarrier.init.shared.b64 [%0], %1` and `mbarrier.arrive.shared.b64 state, [%0]`
fn object<'t>(mut suffixes: impl Iterator<Item = &'t str>, operands: &str) -> Option<Step> {
    let operation = suffixes.next()?;
    let window = object_window(suffixes)?;
    let place = bracketed(window, operands)?;
    let (before, behind) = operands.split_once('[')?;
    let behind = behind.split_once(']')?.1.trim();
    match operation {
        "init" if before.trim().is_empty() => {
            let does = OnObject::Init { count: Operand::of(behind.strip_prefix(',')?)? };
            Some(Step::Object { place, does })
        }
        "arrive" if behind.is_empty() => Some(Step::Object { place, does: OnObject::Arrive }),
        _ => None,
    }
}

/// `mbarrier.try_wait.parity.shared.b64`, of `[%0], %1` and perhaps a time.
fn wait_at_object(name: &str, operands: &str) -> Option<Step> {
    let suffixes =
        name.strip_prefix("mbarrier.try_wait.parity.").or_else(|| name.strip_prefix("mbarrier.test_wait.parity."))?;
    let place = bracketed(object_window(suffixes.split('.'))?, operands)?;
    let parity = operands.split_once(']')?.1.trim().strip_prefix(',')?;
    let parity = Operand::of(parity.split(',').next()?)?;
    Some(Step::Object { place, does: OnObject::Wait { parity } })
}

/// The window of a barrier in memory, behind the operation: its arrivals release, its waits acquire.
fn object_window<'t>(suffixes: impl Iterator<Item = &'t str>) -> Option<Window> {
    let mut window = Window::Generic;
    for suffix in suffixes {
        match suffix {
            "b64" | "cta" | "cluster" | "release" | "acquire" => {}
            "shared" | "shared::cta" => window = Window::Shared,
            _ => return None,
        }
    }
    Some(window)
}

/// The only address between brackets.
fn bracketed(window: Window, operands: &str) -> Option<Place> {
    let (_, address) = operands.split_once('[')?;
    let (address, rest) = address.split_once(']')?;
    if rest.contains('[') { None } else { place(window, address) }
}

/// The address between brackets, `%2+16`.
fn place(window: Window, address: &str) -> Option<Place> {
    let address = address.trim().strip_prefix('%')?;
    let (operand, offset) = match address.split_once('+') {
        Some((operand, offset)) => (operand.trim(), offset.trim().parse().ok()?),
        None => (address, 0),
    };
    Some(Place { window, operand: operand.parse().ok()?, offset })
}

/// `cp.async.cg.shared.global [%0], [%1], 16, %2`. The form that ignores its source by a predicate is not understood.
fn copy(name: &str, operands: &str) -> Option<Step> {
    let name = name.strip_prefix("cp.async.ca.").or_else(|| name.strip_prefix("cp.async.cg."))?;
    let hints = name.strip_prefix("shared.global").or_else(|| name.strip_prefix("shared::cta.global"))?;
    let mut has_policy = false;
    for hint in hints.split('.').skip(1) {
        match hint {
            "L2::cache_hint" => has_policy = true,
            "L2::64B" | "L2::128B" | "L2::256B" => {}
            _ => return None,
        }
    }
    let mut operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    if has_policy {
        operands.pop();
    }
    let between = |text: &str, window| place(window, text.strip_prefix('[')?.strip_suffix(']')?);
    let (to, from, bytes, read) = match operands[..] {
        [to, from, bytes] => (to, from, bytes, None),
        [to, from, bytes, read] => (to, from, bytes, Some(Operand::of(read)?)),
        _ => return None,
    };
    let (to, from) = (between(to, Window::Shared)?, between(from, Window::Generic)?);
    Some(Step::Copy { to, from, bytes: Operand::of(bytes)?, read })
}

/// A loop that does nothing until a barrier in memory lets the thread go on, and its length.
pub(super) fn waiting_loop(lines: &[&str]) -> Option<(Step, usize)> {
    let [label, test, branch, rest @ ..] = lines else { return None };
    let label = label.strip_suffix(':')?;
    let (name, operands) = test.split_once(char::is_whitespace)?;
    let (predicate, operands) = operands.split_once(',')?;
    let step = wait_at_object(name, operands)?;
    let goes_to = |line: &str| {
        let (branch, to) = line.trim().split_once(char::is_whitespace)?;
        matches!(branch, "bra" | "bra.uni").then(|| to.trim().to_owned())
    };
    let (guard, branch) = branch.strip_prefix('@')?.split_once(char::is_whitespace)?;
    let to = goes_to(branch)?;
    let predicate = predicate.trim();
    if guard.strip_prefix('!').map(str::trim) == Some(predicate) && to == label {
        return Some((step, 3));
    }
    let [back, end, ..] = rest else { return None };
    let ends = guard == predicate && goes_to(back)? == label && end.strip_suffix(':') == Some(&to);
    ends.then_some((step, 5))
}
