//! The instructions of PTX, one by one: what each does besides computing.
//!
//! Source: the PTX ISA, by the name of the instruction. Deliberately absent: what is not in [`does`] or [`only_computes`],
//! which may do anything.

use super::{OnObject, Operand, Place, Step, Strong, Window};
use crate::calculus::{AtomicOp, MemoryOrder, ScalarType, SyncScope};
use crate::lower::fences::of_ptx;
use crate::lower::storage::access::Touch;

/// Instructions that touch neither memory nor other threads, without their suffixes.
const HARMLESS: &[&str] = &[
    "abs",
    "activemask",
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
        "ld" => vec![load(&Suffixes::read(parts)?, operands)?],
        "st" => vec![store(&Suffixes::read(parts)?, operands)?],
        "atom" | "red" => vec![update(&Suffixes::read(parts)?, operands)?],
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

/// What the suffixes of a load, a store or an atomic say, in whichever order they stand.
#[derive(Default)]
struct Suffixes {
    order: Option<MemoryOrder>,
    scope: Option<SyncScope>,
    is_volatile: Option<()>,
    is_shared: Option<()>,
    op: Option<AtomicOp>,
    lanes: Option<u32>,
    ty: Option<ScalarType>,
}

impl Suffixes {
    /// Reads them; `None` if one is not understood, or two say different things.
    fn read<'t>(suffixes: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut read = Suffixes::default();
        for suffix in suffixes {
            match suffix {
                "global" | "const" | "local" | "weak" | "nc" | "ca" | "cg" | "cs" | "cv" | "lu" | "wb" | "wt"
                | "noftz" => {}
                "shared" | "shared::cta" => once(&mut read.is_shared, ())?,
                "volatile" => once(&mut read.is_volatile, ())?,
                "relaxed" => once(&mut read.order, MemoryOrder::Relaxed)?,
                "acquire" => once(&mut read.order, MemoryOrder::Acquire)?,
                "release" => once(&mut read.order, MemoryOrder::Release)?,
                "acq_rel" => once(&mut read.order, MemoryOrder::AcquireRelease)?,
                "cta" => once(&mut read.scope, SyncScope::Block)?,
                "cluster" => once(&mut read.scope, SyncScope::Cluster)?,
                "gpu" => once(&mut read.scope, SyncScope::Grid)?,
                "sys" => once(&mut read.scope, SyncScope::System)?,
                "v2" => once(&mut read.lanes, 2)?,
                "v4" => once(&mut read.lanes, 4)?,
                "v8" => once(&mut read.lanes, 8)?,
                hint if hint.starts_with("L1::") || (hint.starts_with("L2::") && hint != "L2::cache_hint") => {}
                other => match (operation(other), scalar(other)) {
                    (Some(op), _) => once(&mut read.op, op)?,
                    (None, Some(ty)) => once(&mut read.ty, ty)?,
                    (None, None) => return None,
                },
            }
        }
        Some(read)
    }

    fn window(&self) -> Window {
        if self.is_shared.is_some() { Window::Shared } else { Window::Generic }
    }

    /// The order and scope of a load or store that is strong: `volatile` is relaxed for all devices (PTX ISA, "ld"). A strong
    /// one without a scope, or a plain one with one, is none.
    fn strength(&self) -> Option<Option<(MemoryOrder, SyncScope)>> {
        match (self.is_volatile, self.order, self.scope) {
            (None, None, None) => Some(None),
            (Some(()), None, None) => Some(Some((MemoryOrder::Relaxed, SyncScope::System))),
            (None, Some(order), Some(scope)) => Some(Some((order, scope))),
            _ => None,
        }
    }
}

/// Notes what a suffix says; `None` if another one said something else.
fn once<T: PartialEq>(said: &mut Option<T>, now: T) -> Option<()> {
    let is_new = said.as_ref().is_none_or(|before| *before == now);
    *said = Some(now);
    is_new.then_some(())
}

/// What an atomic does.
fn operation(suffix: &str) -> Option<AtomicOp> {
    Some(match suffix {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "inc" => AtomicOp::Increment,
        "dec" => AtomicOp::Decrement,
        "exch" => AtomicOp::Exchange,
        "cas" => AtomicOp::CompareExchange,
        _ => return None,
    })
}

/// The type of one lane; bits without a meaning are taken for numbers without a sign.
fn scalar(suffix: &str) -> Option<ScalarType> {
    let int = |width, signed| ScalarType::Int { width, signed };
    Some(match suffix {
        "b8" | "u8" => int(8, false),
        "s8" => int(8, true),
        "b16" | "u16" => int(16, false),
        "s16" => int(16, true),
        "b32" | "u32" => int(32, false),
        "s32" => int(32, true),
        "b64" | "u64" => int(64, false),
        "s64" => int(64, true),
        "f16" | "bf16" => ScalarType::Opaque { bytes: 2 },
        "f32" | "f16x2" | "bf16x2" => ScalarType::Opaque { bytes: 4 },
        "f64" => ScalarType::Opaque { bytes: 8 },
        _ => return None,
    })
}

/// `%0, [%1+16]`
fn load(suffixes: &Suffixes, operands: &str) -> Option<Step> {
    let (output, address) = operands.rsplit_once('[')?;
    let (address, rest) = address.split_once(']')?;
    let place = place(suffixes.window(), address)?;
    let (ty, lanes) = (suffixes.ty?, suffixes.lanes.unwrap_or(1));
    if suffixes.op.is_some() || !rest.trim().is_empty() {
        return None;
    }
    let output = if lanes == 1 { operand_before(output) } else { None };
    match suffixes.strength()? {
        None if lanes == 1 => Some(Step::Load { place, ty, output }),
        None => Some(Step::Access { touch: Touch::Read, place, bytes: lanes * ty.bytes() }),
        Some((order @ (MemoryOrder::Relaxed | MemoryOrder::Acquire), scope)) => {
            let op = AtomicOp::Load;
            Some(Step::Strong(Strong { op, order, scope, place, ty, lanes, operands: [None; 2], output }))
        }
        Some(_) => None,
    }
}

/// `[%0+16], %1`
fn store(suffixes: &Suffixes, operands: &str) -> Option<Step> {
    let (before, address) = operands.split_once('[')?;
    let (address, stored) = address.split_once(']')?;
    let place = place(suffixes.window(), address)?;
    let (ty, lanes) = (suffixes.ty?, suffixes.lanes.unwrap_or(1));
    if suffixes.op.is_some() || !before.trim().is_empty() {
        return None;
    }
    match suffixes.strength()? {
        None => Some(Step::Access { touch: Touch::Write, place, bytes: lanes * ty.bytes() }),
        Some((order @ (MemoryOrder::Relaxed | MemoryOrder::Release), scope)) => {
            let stored = Operand::of(stored.trim().strip_prefix(',')?).filter(|_| lanes == 1);
            let (op, operands) = (AtomicOp::Store, [stored, None]);
            Some(Step::Strong(Strong { op, order, scope, place, ty, lanes, operands, output: None }))
        }
        Some(_) => None,
    }
}

/// `%0, [%1], %2` of `atom`, and `[%0], %1` of `red`, which has no output.
fn update(suffixes: &Suffixes, operands: &str) -> Option<Step> {
    let (output, address) = operands.split_once('[')?;
    let (address, given) = address.split_once(']')?;
    let place = place(suffixes.window(), address)?;
    let (op, ty, lanes) = (suffixes.op?, suffixes.ty?, suffixes.lanes.unwrap_or(1));
    // Without an order it is relaxed, and without a scope for the device (PTX ISA, "atom").
    let (order, scope) = (suffixes.order.unwrap_or(MemoryOrder::Relaxed), suffixes.scope.unwrap_or(SyncScope::Grid));
    let is_reduction = output.trim().is_empty();
    if suffixes.is_volatile.is_some() || is_reduction && order == MemoryOrder::Acquire {
        return None;
    }
    let output = if lanes == 1 { operand_before(output) } else { None };
    let mut given =
        given.trim().strip_prefix(',')?.split(',').map(|operand| Operand::of(operand).filter(|_| lanes == 1));
    let operands = [given.next().flatten(), given.next().flatten()];
    Some(Step::Strong(Strong { op, order, scope, place, ty, lanes, operands, output }))
}

/// The operand before an address, `%0, `.
fn operand_before(text: &str) -> Option<usize> {
    match Operand::of(text.trim().strip_suffix(',')?)? {
        Operand::Input(operand) => Some(operand),
        Operand::Number(_) => None,
    }
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
