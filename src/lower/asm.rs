//! Inline assembly: instructions that only compute leave unknown values in their outputs; plain loads and stores
//! through pointer operands access memory; `bar.sync` is a barrier of the block, or of so many of its threads
//! ([`named`]); `membar` and `fence` are fences. Any other may do anything.

use super::access::Touch;
use super::fences::of_ptx;
use super::named;
use super::pass::Pass;
use super::value::Value;
use crate::calculus::{Among, BinaryOp, ExprId, HavocReason, MemoryOrder, ScalarType, Stmt, SyncMemory, SyncScope};
use crate::resolve::program::Expr;
use crate::source::Span;

/// An `asm` statement.
pub(super) struct Asm<'s> {
    pub(super) text: &'s str,
    pub(super) outputs: &'s [Expr],
    pub(super) inputs: &'s [Expr],
    pub(super) clobbers_memory: bool,
}

/// PTX instructions that touch neither memory nor other threads, without their suffixes.
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
    "cvt",
    "cvta",
    "div",
    "dp2a",
    "dp4a",
    "ex2",
    "fma",
    "fns",
    "isspacep",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
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

impl Pass<'_> {
    /// Lowers an `asm` statement.
    pub(super) fn inline_assembly(&mut self, asm: &Asm<'_>, span: Span) {
        match steps(asm.text) {
            Some(steps) if !steps.is_empty() => {
                let inputs: Vec<Value> = asm.inputs.iter().map(|input| self.value(input)).collect();
                inputs.iter().for_each(|input| self.escape(input));
                for step in steps {
                    // Without the clobber the compiler may move accesses over the fence.
                    if asm.clobbers_memory || !matches!(step, Step::Fence(..)) {
                        self.step(&step, &inputs, asm.outputs.len(), span);
                    }
                }
            }
            _ => {
                for input in asm.inputs {
                    // An address may come back as a number.
                    let input = self.value(input);
                    self.escape(&input);
                }
                if !is_harmless(asm.text) || (asm.clobbers_memory && !is_only_fence(asm.text)) {
                    self.unsupported(span, WHOLLY_UNKNOWN.to_owned());
                }
            }
        }
        let reason = if asm.text.contains("clock") || asm.text.contains("globaltimer") {
            HavocReason::Schedule("inline assembly".to_owned())
        } else {
            HavocReason::Other("inline assembly".to_owned())
        };
        for output in asm.outputs {
            self.forget(output, &reason, span);
        }
    }
}

/// What is said of assembly that is not understood.
const WHOLLY_UNKNOWN: &str = "inline assembly that may touch memory or other threads";

impl Pass<'_> {
    /// One instruction that does more than compute.
    fn step(&mut self, step: &Step, inputs: &[Value], outputs: usize, span: Span) {
        match *step {
            Step::Barrier => {
                let memory = SyncMemory::BOTH;
                let site = self.site(span);
                self.emit(Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site });
            }
            Step::Named { id, count } => {
                let id = self.count_of(id, inputs, outputs);
                let count = self.count_of(count, inputs, outputs);
                let memory = SyncMemory::BOTH;
                let among = Among::Named(named::arriving(self.exprs(), id, count));
                let site = self.site(span);
                self.emit(Stmt::Sync { scope: SyncScope::Block, memory, among, site });
            }
            Step::Arrive => {
                let reason = "`bar.arrive`, which waits for nobody, is not taken to order anything".to_owned();
                self.unsupported_call(span, reason, Vec::new());
            }
            Step::Fence(order, scope) => self.ptx_fence(order, scope, span),
            Step::Access { touch, operand, offset, bytes } => {
                let address = operand.checked_sub(outputs).and_then(|at| inputs.get(at));
                let Some(Value::Pointer(pointer)) = address else {
                    // An address in a window of its own, as `__cvta_generic_to_shared` gives.
                    return self.unsupported(span, WHOLLY_UNKNOWN.to_owned());
                };
                let mut pointer = pointer.clone();
                let by = self.exprs().int(offset.into(), ScalarType::I64);
                pointer.offset = self.exprs().binary(BinaryOp::Add, pointer.offset, by);
                let bytes = self.exprs().int(bytes.into(), ScalarType::I64);
                self.move_bytes(&pointer, touch, bytes, span);
            }
        }
    }
}

impl Pass<'_> {
    /// The value of an operand.
    fn count_of(&mut self, operand: Operand, inputs: &[Value], outputs: usize) -> ExprId {
        let given = match operand {
            Operand::Number(number) => return self.exprs().int(i128::from(number), ScalarType::U32),
            Operand::Input(operand) => operand.checked_sub(outputs).and_then(|at| inputs.get(at)),
        };
        match given {
            Some(Value::Scalar(value)) => *value,
            _ => self.exprs().opaque("operand of inline assembly", ScalarType::U32),
        }
    }
}

/// A number in the text, or an operand of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Number(u32),
    Input(usize),
}

impl Operand {
    fn of(text: &str) -> Option<Operand> {
        let text = text.trim();
        match text.strip_prefix('%') {
            Some(operand) => operand.parse().ok().map(Operand::Input),
            None => text.parse().ok().map(Operand::Number),
        }
    }
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

/// An instruction that does more than compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// All threads of the block wait.
    Barrier,
    /// A fence.
    Fence(MemoryOrder, SyncScope),
    /// So many threads meet at a barrier.
    Named { id: Operand, count: Operand },
    /// A thread says that it has come to a barrier, and goes on.
    Arrive,
    /// An access at the address in an operand, so many bytes further on.
    Access { touch: Touch, operand: usize, offset: i32, bytes: u32 },
}

/// What the instructions of a template do, in order, besides computing; `None` if one of them is not understood.
fn steps(text: &str) -> Option<Vec<Step>> {
    let text = text.replace("\\n", "\n").replace("\\t", " ");
    let mut steps = Vec::new();
    for line in text.split([';', '\n']).map(|line| line.trim().trim_matches('"').trim()) {
        // Braces around instructions, not those around the lanes of an operand.
        let line = line.strip_prefix(['{', '}']).unwrap_or(line).trim();
        let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let mut parts = name.split('.');
        match parts.next().unwrap_or("") {
            "" if line.is_empty() || line.starts_with(".reg") => {}
            opcode if HARMLESS.contains(&opcode) => {}
            "membar" | "fence" => steps.extend(of_ptx(name).map(|(order, scope)| Step::Fence(order, scope))),
            "bar" | "barrier" => match name {
                "bar.sync"
                | "barrier.sync"
                | "barrier.sync.aligned"
                | "bar.cta.sync"
                | "barrier.cta.sync"
                | "barrier.cta.sync.aligned" => steps.push(barrier(operands)?),
                "bar.arrive"
                | "barrier.arrive"
                | "barrier.arrive.aligned"
                | "bar.cta.arrive"
                | "barrier.cta.arrive"
                | "barrier.cta.arrive.aligned" => steps.push(Step::Arrive),
                _ => return None,
            },
            "ld" => steps.push(access(Touch::Read, parts, operands.rsplit_once('[')?.1)?),
            "st" => steps.push(access(Touch::Write, parts, operands.split_once('[')?.1)?),
            _ => return None,
        }
    }
    Some(steps)
}

/// A plain load or store at `%2+16], …`. Strong ones, which are atomic, are not understood.
fn access<'t>(touch: Touch, suffixes: impl Iterator<Item = &'t str>, address: &str) -> Option<Step> {
    let (mut lanes, mut width) = (1, None);
    for suffix in suffixes {
        match suffix {
            "global" | "shared" | "const" | "local" | "volatile" | "nc" | "ca" | "cg" | "cs" | "cv" | "lu" | "wb"
            | "wt" => {}
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
    let address = address.split_once(']')?.0.trim().strip_prefix('%')?;
    let (operand, offset) = match address.split_once('+') {
        Some((operand, offset)) => (operand.trim(), offset.trim().parse().ok()?),
        None => (address, 0),
    };
    Some(Step::Access { touch, operand: operand.parse().ok()?, offset, bytes: lanes * width? })
}

/// The instructions of a template, without predicates, labels, suffixes and declarations.
fn instructions(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '\n', '{', '}']).flat_map(|line| line.split("\\n")).filter_map(|line| {
        let line = line.trim().trim_start_matches("\\t").trim_start_matches('"').trim();
        let line = match line.strip_prefix('@') {
            Some(predicated) => predicated.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim()),
            None => line,
        };
        let line = line.trim_end_matches('"').trim_end_matches("\\t").trim();
        let opcode = line.split(|c: char| c.is_whitespace() || c == '.').next().unwrap_or("");
        (!line.is_empty() && !line.starts_with(".reg") && !line.starts_with("//")).then_some(opcode)
    })
}

fn is_fence(opcode: &str) -> bool {
    matches!(opcode, "membar" | "fence")
}

/// Whether all instructions are known to compute only.
fn is_harmless(text: &str) -> bool {
    instructions(text).all(|opcode| HARMLESS.contains(&opcode) || is_fence(opcode))
}

/// Whether a "memory" clobber is explained by there being nothing but fences.
fn is_only_fence(text: &str) -> bool {
    instructions(text).all(|opcode| is_fence(opcode) || matches!(opcode, "mov" | "nanosleep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_instructions_are_harmless() {
        assert!(is_harmless("mov.u32 %0, %%laneid;"));
        assert!(is_harmless("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p add.u32 %0, %1, 1; }"));
        assert!(is_harmless(""));
    }

    #[test]
    fn plain_accesses_and_the_barrier_of_the_block_are_understood() {
        let access = |touch, operand, offset, bytes| Step::Access { touch, operand, offset, bytes };
        assert_eq!(steps("bar.sync 0;"), Some(vec![Step::Barrier]));
        assert_eq!(steps("barrier.sync 1;"), Some(vec![Step::Barrier]));
        let (id, count) = (Operand::Number(1), Operand::Input(0));
        assert_eq!(steps("bar.sync 1, %0;"), Some(vec![Step::Named { id, count }]));
        assert_eq!(steps("bar.arrive 1, 64;"), Some(vec![Step::Arrive]));
        assert_eq!(steps("ld.global.nc.f32 %0, [%1];"), Some(vec![access(Touch::Read, 1, 0, 4)]));
        let vector = "{ .reg .b32 a; ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4 + 16]; }";
        assert_eq!(steps(vector), Some(vec![access(Touch::Read, 4, 16, 16)]));
        assert_eq!(steps("mov.u32 %0, 1;\\n\\tst.global.u64 [%1], %0;"), Some(vec![access(Touch::Write, 1, 0, 8)]));
        for text in [
            "bar.red.popc.u32 %0, 0, p;",
            "bar.sync name, 64;",
            "@p st.shared.u32 [%0], 1;",
            "ld.acquire.gpu.u32 %0, [%1];",
            "ld.global.u32 %0, [addr];",
            "red.add.f32 [%0], 1;",
            "exit;",
        ] {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn memory_and_barriers_are_not() {
        for text in [
            "ld.global.f32 %0, [%1];",
            "@p st.shared.u32 [%0], 1;",
            "bar.sync 0;",
            "red.add.f32 [%0], 1;",
            "exit;",
            "frobnicate;",
        ] {
            assert!(!is_harmless(text), "{text}");
        }
        assert!(!is_harmless("mov.u32 %0, 1;\\n\\tst.global.u32 [%1], %0;"));
    }
}
