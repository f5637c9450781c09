//! What the text of an `asm` statement says, in PTX: its instructions one by one, as far as they do more than compute.
//!
//! Predicates that `setp` sets from operands are known by their comparison; any other may hold or not. Registers that the
//! text declares hold nothing that is followed, with one exception: an address that goes through one on its way from
//! `cvta` to an output. Outputs that a load, an atomic or a special register ([`registers`]) fills, and nothing else, are known.
//!
//! # Guarantees
//! [`steps`] is `None` if an instruction is not understood; such a text may do anything.

mod instructions;
pub(super) mod registers;
mod text;

use super::storage::access::Touch;
use crate::calculus::{AtomicOp, BinaryOp, MemoryOrder, ScalarType, SyncScope};
use instructions::{does, only_computes, waiting_loop};
use registers::Register;
use std::collections::BTreeMap;
use text::{lines, mentions, spoken};

/// A number in the text, or an operand of the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
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

/// A window of memory in which an address counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// That of shared memory.
    Shared,
    /// Any other, in which addresses are those of pointers.
    Generic,
}

/// The address in an operand, so many bytes further on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) window: Window,
    pub(super) operand: usize,
    pub(super) offset: i32,
}

/// A comparison that sets a predicate: operator, type, sides.
pub(super) type Comparison = (BinaryOp, ScalarType, [Operand; 2]);

/// When an instruction with a predicate is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    /// How the predicate was set, if that is known.
    pub(super) holds: Option<Comparison>,
    pub(super) is_negated: bool,
}

/// An instruction that does more than compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All threads of the block wait.
    Barrier,
    /// A fence.
    Fence(MemoryOrder, SyncScope),
    /// So many threads meet at a barrier.
    Named { id: Operand, count: Operand },
    /// A thread says that it has come to a barrier, and goes on.
    Arrive,
    /// The thread ends, and its launch with it: `trap`.
    End,
    /// An access.
    Access { touch: Touch, place: Place, bytes: u32 },
    /// A plain load of one value.
    Load { place: Place, ty: ScalarType, output: Option<usize> },
    /// A strong access or one that reads and writes at once.
    Strong(Strong),
    /// An output becomes what a special register holds.
    Register { output: usize, register: Register },
    /// The warp loads or stores matrices, of whose rows each of its first threads names one.
    Matrix { touch: Touch, place: Place, threads: u32 },
    /// The warp multiplies matrices that lie in its registers.
    Multiply,
    /// Something is done with a barrier in memory.
    Object { place: Place, does: OnObject },
    /// A copy from global to shared memory begins, of which so many bytes are read and the rest is zeros.
    Copy { to: Place, from: Place, bytes: Operand, read: Option<Operand> },
    /// The copies that were begun are a batch.
    Commit,
    /// All batches but the newest so many are done.
    WaitPrior(Operand),
    /// An output becomes the address in the window of shared memory that an operand has.
    SharedAddress { output: usize, operand: usize },
}

impl Step {
    /// Whether a predicate before the instruction is understood: a condition around what each thread does for itself.
    fn may_be_guarded(&self) -> bool {
        match self {
            Step::Access { .. } | Step::Load { .. } | Step::Strong(_) => true,
            Step::Copy { .. } | Step::Commit | Step::WaitPrior(_) | Step::End => true,
            Step::Object { does, .. } => matches!(does, OnObject::Init { .. } | OnObject::Arrive),
            _ => false,
        }
    }
}

/// An access that does not race with others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strong {
    pub(super) op: AtomicOp,
    pub(super) order: MemoryOrder,
    pub(super) scope: SyncScope,
    pub(super) place: Place,
    /// Of one lane.
    pub(super) ty: ScalarType,
    pub(super) lanes: u32,
    /// Those that the operation takes; `None` is one of which nothing is known.
    pub(super) operands: [Option<Operand>; 2],
    /// What takes the value that was there.
    pub(super) output: Option<usize>,
}

/// What is done with a barrier in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnObject {
    /// It is told how many arrivals it waits for.
    Init { count: Operand },
    /// The thread arrives, and goes on.
    Arrive,
    /// The thread waits until the phase of that parity is over.
    Wait { parity: Operand },
}

/// A step and its predicate.
pub(super) type Guarded = (Option<Guard>, Step);

/// What the instructions of a template do, in order, besides computing; `None` if one of them is not understood.
pub(super) fn steps(text: &str) -> Option<Vec<Guarded>> {
    let text = spoken(text);
    let mut reader = Reader { text: &text, predicates: BTreeMap::new(), addresses: BTreeMap::new(), steps: Vec::new() };
    let lines = lines(&text)?;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some((step, length)) = waiting_loop(&lines[at..]) {
            reader.forget_all();
            reader.steps.push((None, step));
            at += length;
            continue;
        }
        // Names may mean others behind a brace.
        if *line == "}" {
            reader.forget_all();
        } else if line.starts_with(".reg") {
            reader.forget(line);
        } else if *line != "{" {
            reader.line(line)?;
        }
        at += 1;
    }
    Some(reader.steps)
}

/// What has been read of a text.
struct Reader<'t> {
    text: &'t str,
    predicates: BTreeMap<&'t str, Comparison>,
    /// Registers that hold the address that an operand has in the window of shared memory.
    addresses: BTreeMap<&'t str, usize>,
    steps: Vec<Guarded>,
}

impl<'t> Reader<'t> {
    /// Reads one instruction.
    fn line(&mut self, line: &'t str) -> Option<()> {
        let (guard, line) = match line.strip_prefix('@') {
            Some(guarded) => {
                let (predicate, line) = guarded.split_once(char::is_whitespace)?;
                (Some(self.guard(predicate)), line.trim())
            }
            None => (None, line),
        };
        let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if only_computes(name) {
            let is_followed = guard.is_none()
                && (self.compare(name, operands) || self.convert(name, operands) || self.special(name, operands));
            if !is_followed {
                self.forget(operands);
            }
            return Some(());
        }
        for step in does(name, operands)? {
            if guard.is_some() && !step.may_be_guarded() {
                return None;
            }
            self.steps.push((guard, self.with_own_output(step)));
        }
        self.forget(operands);
        Some(())
    }

    /// A step without an output that something else may fill, too.
    fn with_own_output(&self, step: Step) -> Step {
        let own = |output: Option<usize>| output.filter(|output| mentions(self.text, &format!("%{output}")) == 1);
        match step {
            Step::Load { place, ty, output } => Step::Load { place, ty, output: own(output) },
            Step::Strong(strong) => Step::Strong(Strong { output: own(strong.output), ..strong }),
            step => step,
        }
    }

    /// `mov.u32 %0, %%laneid`; false if it is anything else.
    fn special(&mut self, name: &str, operands: &str) -> bool {
        if !matches!(name, "mov.u32" | "mov.b32" | "mov.s32" | "mov.u64" | "mov.b64" | "mov.s64") {
            return false;
        }
        let Some((to, from)) = operands.split_once(',') else { return false };
        let to = to.trim();
        let (Some(Operand::Input(output)), Some(register)) = (Operand::of(to), Register::named(from.trim())) else {
            return false;
        };
        if mentions(self.text, to) != 1 {
            return false;
        }
        self.steps.push((None, Step::Register { output, register }));
        true
    }

    /// `p` or `!p`
    fn guard(&self, predicate: &str) -> Guard {
        let (name, is_negated) = match predicate.strip_prefix('!') {
            Some(name) => (name, true),
            None => (predicate, false),
        };
        Guard { holds: self.predicates.get(name).copied(), is_negated }
    }

    /// `setp.ne.b32 p, %0, 0`; false if it is anything else.
    fn compare(&mut self, name: &str, operands: &'t str) -> bool {
        let mut suffixes = name.split('.');
        let (Some("setp"), Some(op), Some(ty), None) =
            (suffixes.next(), suffixes.next(), suffixes.next(), suffixes.next())
        else {
            return false;
        };
        let op = match op {
            "eq" => BinaryOp::Eq,
            "ne" => BinaryOp::Ne,
            "lt" => BinaryOp::Lt,
            "le" => BinaryOp::Le,
            "gt" => BinaryOp::Gt,
            "ge" => BinaryOp::Ge,
            _ => return false,
        };
        let ty = match ty {
            "b32" | "u32" => ScalarType::U32,
            "s32" => ScalarType::I32,
            "b64" | "u64" => ScalarType::U64,
            "s64" => ScalarType::I64,
            _ => return false,
        };
        let mut operands = operands.split(',').map(str::trim);
        let (Some(predicate), Some(left), Some(right), None) =
            (operands.next(), operands.next(), operands.next(), operands.next())
        else {
            return false;
        };
        let (Some(left), Some(right)) = (Operand::of(left), Operand::of(right)) else { return false };
        // `p|q` sets two.
        if mentions(predicate, predicate) != 1 {
            return false;
        }
        self.predicates.insert(predicate, (op, ty, [left, right]));
        true
    }

    /// `cvta.to.shared.u64 r, %1` and `cvt.u32.u64 %0, r`; false if it is anything else.
    fn convert(&mut self, name: &str, operands: &'t str) -> bool {
        let Some((to, from)) = operands.split_once(',') else { return false };
        let (to, from) = (to.trim(), from.trim());
        let operand = match (name, Operand::of(from)) {
            ("cvta.to.shared.u64", Some(Operand::Input(operand))) => operand,
            ("cvt.u32.u64", None) => match self.addresses.get(from) {
                Some(&operand) => operand,
                None => return false,
            },
            _ => return false,
        };
        match Operand::of(to) {
            // Nothing else may be in that output.
            Some(Operand::Input(output)) if mentions(self.text, to) == 1 => {
                self.steps.push((None, Step::SharedAddress { output, operand }));
                true
            }
            None if name == "cvta.to.shared.u64" => {
                self.addresses.insert(to, operand);
                true
            }
            _ => false,
        }
    }

    /// What names stand for is not known any more.
    fn forget_all(&mut self) {
        self.predicates.clear();
        self.addresses.clear();
    }

    /// Registers may have been assigned.
    fn forget(&mut self, operands: &str) {
        self.predicates.retain(|name, _| mentions(operands, name) == 0);
        self.addresses.retain(|name, _| mentions(operands, name) == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether all instructions only compute.
    fn is_harmless(text: &str) -> bool {
        steps(text).is_some_and(|steps| steps.is_empty())
    }

    #[test]
    fn computing_instructions_are_harmless() {
        assert!(is_harmless("mov.u32 %0, %%warpid;"));
        assert!(is_harmless("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p add.u32 %0, %1, 1; }"));
        assert!(is_harmless(""));
    }

    #[test]
    fn plain_accesses_and_the_barrier_of_the_block_are_understood() {
        let access = |touch, operand, offset, bytes| Step::Access {
            touch,
            place: Place { window: Window::Generic, operand, offset },
            bytes,
        };
        let steps = |text| Some(steps(text)?.into_iter().map(|(_, step)| step).collect::<Vec<_>>());
        assert_eq!(steps("bar.sync 0;"), Some(vec![Step::Barrier]));
        assert_eq!(steps("barrier.sync 1;"), Some(vec![Step::Barrier]));
        let (id, count) = (Operand::Number(1), Operand::Input(0));
        assert_eq!(steps("bar.sync 1, %0;"), Some(vec![Step::Named { id, count }]));
        assert_eq!(steps("bar.arrive 1, 64;"), Some(vec![Step::Arrive]));
        assert_eq!(steps("ld.global.nc.v2.f32 {%0, %1}, [%2];"), Some(vec![access(Touch::Read, 2, 0, 8)]));
        let vector = "{ .reg .b32 a; ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4 + 16]; }";
        assert_eq!(steps(vector), Some(vec![access(Touch::Read, 4, 16, 16)]));
        assert_eq!(steps("mov.u32 %0, 1;\\n\\tst.global.u64 [%1], %0;"), Some(vec![access(Touch::Write, 1, 0, 8)]));
        for text in [
            "bar.red.popc.u32 %0, 0, p;",
            "bar.sync name, 64;",
            "@p bar.sync 0;",
            "ld.acquire.u32 %0, [%1];",
            "ld.mmio.relaxed.sys.global.u32 %0, [%1];",
            "ld.global.u32 %0, [addr];",
            "st.acquire.gpu.u32 [%0], %1;",
            "red.acquire.gpu.add.u32 [%0], 1;",
            "atom.add.u128 %0, [%1], %2;",
            "multimem.red.release.sys.global.add.s32 [%0], %1;",
            "exit;",
        ] {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn strong_accesses_say_order_and_scope_in_any_place() {
        use MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release};
        let place = |window, operand| Place { window, operand, offset: 0 };
        let strong = |op, order, scope, place, ty| Strong {
            op,
            order,
            scope,
            place,
            ty,
            lanes: 1,
            operands: [None; 2],
            output: None,
        };
        let read = |text: &str| match steps(text).as_deref() {
            Some([(None, Step::Strong(strong))]) => *strong,
            other => panic!("{text}: {other:?}"),
        };
        let loaded = Strong {
            output: Some(0),
            ..strong(AtomicOp::Load, Acquire, SyncScope::Grid, place(Window::Generic, 1), ScalarType::U32)
        };
        for text in [
            "ld.acquire.gpu.global.b32 %0, [%1];",
            "ld.global.acquire.gpu.b32 %0, [%1];",
            "ld.acquire.global.gpu.u32 %0,[%1];",
        ] {
            assert_eq!(read(text), loaded, "{text}");
        }
        let volatile = read("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];");
        let of_all = strong(AtomicOp::Load, Relaxed, SyncScope::System, place(Window::Shared, 4), ScalarType::U32);
        assert_eq!(volatile, Strong { lanes: 4, ..of_all });
        let number = |at| Some(Operand::Input(at));
        let stored = strong(AtomicOp::Store, Release, SyncScope::Block, place(Window::Generic, 0), ScalarType::U64);
        assert_eq!(read("st.release.cta.u64 [%0], %1;"), Strong { operands: [number(1), None], ..stored });
        let added = strong(AtomicOp::Add, Release, SyncScope::Grid, place(Window::Generic, 0), ScalarType::I32);
        let one = Some(Operand::Number(1));
        assert_eq!(read("red.release.gpu.global.add.s32 [%0], 1;"), Strong { operands: [one, None], ..added });
        let exchanged = strong(
            AtomicOp::CompareExchange,
            AcquireRelease,
            SyncScope::System,
            place(Window::Generic, 1),
            ScalarType::U32,
        );
        assert_eq!(
            read("atom.acq_rel.sys.global.cas.b32 %0, [%1], %2, %3;"),
            Strong { operands: [number(2), number(3)], output: Some(0), ..exchanged }
        );
        let relaxed = strong(AtomicOp::Increment, Relaxed, SyncScope::Grid, place(Window::Generic, 1), ScalarType::U32);
        let with_limit = Strong { operands: [number(2), None], output: Some(0), ..relaxed };
        assert_eq!(read("atom.inc.u32 %0, [%1], %2;"), with_limit);
        // What is added is computed here.
        let computed = read("{ .reg .u32 r; mov.u32 r, 1; red.relaxed.gpu.global.add.u32 [%0], r; }");
        assert_eq!((computed.op, computed.operands), (AtomicOp::Add, [None, None]));
        // Something else may be in the output.
        assert_eq!(read("atom.add.u32 %0, [%1], 1; add.u32 %0, %0, 1;").output, None);
    }

    #[test]
    fn special_registers_go_to_outputs_that_nothing_else_fills() {
        let lane = Some(vec![(None, Step::Register { output: 0, register: Register::Lane })]);
        assert_eq!(steps("mov.u32 %0, %%laneid;"), lane);
        assert_eq!(steps("mov.u32 %0, %laneid;"), lane);
        for text in [
            "mov.u32 %0, %%laneid; add.u32 %0, %0, 1;",
            "@p mov.u32 %0, %%laneid;",
            "mov.u32 r, %%laneid;",
            "mov.u32 %0, %%smid;",
        ] {
            assert_eq!(steps(text), Some(vec![]), "{text}");
        }
    }

    #[test]
    fn asynchronous_copies_are_understood() {
        let place = |window, operand, offset| Place { window, operand, offset };
        let (to, from) = (place(Window::Shared, 0, 0), place(Window::Generic, 1, 0));
        let copy = |bytes, read| Some(vec![(None, Step::Copy { to, from, bytes, read })]);
        let (bytes, read) = (Operand::Number(16), Some(Operand::Input(2)));
        let commit = || Some(vec![(None, Step::Commit)]);
        assert_eq!(steps("cp.async.ca.shared.global [%0], [%1], 16;"), copy(bytes, None));
        assert_eq!(steps("cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16, %2;"), copy(bytes, read));
        assert_eq!(steps("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"), copy(bytes, None));
        assert_eq!(steps("// cp.async.wait_all;\n cp.async.commit_group; // st.global.u32 [%0], 1;"), commit());
        assert_eq!(steps("cp.async.commit_group;"), commit());
        let all = vec![(None, Step::Commit), (None, Step::WaitPrior(Operand::Number(0)))];
        assert_eq!(steps("cp.async.wait_all;"), Some(all));
        for text in [
            "cp.async.ca.shared.global [%0], [%1], 16, p;",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];",
            "cp.async.mbarrier.arrive.shared.b64 [%0];",
            "cp.async.ca.shared.global [address], [%1], 16;",
            "/* cp.async.wait_all; */ cp.async.commit_group;",
        ] {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn predicates_are_known_by_what_sets_them_last() {
        let guard = |text| steps(text).and_then(|steps| steps.last().and_then(|(guard, _)| *guard));
        let zero = (BinaryOp::Ne, ScalarType::U32, [Operand::Input(0), Operand::Number(0)]);
        let text = r#""{\n" " .reg .pred p;\n" " setp.ne.b32 p, %0, 0;\n" " @p st.shared.u32 [%1], %2;\n" "}\n""#;
        assert_eq!(guard(text), Some(Guard { holds: Some(zero), is_negated: false }));
        let text = "setp.ne.b32 p, %0, 0; @!p ld.global.u32 %1, [%2];";
        assert_eq!(guard(text), Some(Guard { holds: Some(zero), is_negated: true }));
        let unknown = Some(Guard { holds: None, is_negated: false });
        assert_eq!(guard("setp.ne.b32 p, %0, 0; not.pred p, p; @p st.u32 [%1], 1;"), unknown);
        assert_eq!(guard("setp.ne.b32 p, %0, 0; @q setp.eq.b32 p, %0, 0; @p st.u32 [%1], 1;"), unknown);
        assert_eq!(guard("@p st.u32 [%1], 1;"), unknown);
        assert_eq!(guard("setp.ne.b32 p, %0, 0; setp.eq.b32 p|q, %0, 0; @p st.u32 [%1], 1;"), unknown);
        let inner = "setp.ne.b32 p, %0, 0; { .reg .pred p; setp.eq.b32 p, %0, 0; } @p st.u32 [%1], 1;";
        assert_eq!(guard(inner), unknown);
        assert_eq!(guard("setp.ne.b32 p, %0, 0; { .reg .pred p; @p st.u32 [%1], 1; }"), unknown);
    }

    #[test]
    fn what_tensor_cores_multiply_lies_in_registers() {
        let multiplied = "\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 \" \"{%0, %1}, {%2}, {%3}, {%4, %5};\\n\"";
        assert_eq!(steps(multiplied), Some(vec![(None, Step::Multiply)]));
        assert_eq!(steps("@p mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1}, {%2}, {%3}, {%0, %1};"), None);
        assert_eq!(steps("mma.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1}, {%2}, {%3}, {%0, %1};"), None);
        let place = Place { window: Window::Shared, operand: 2, offset: 32 };
        let row = |touch, threads| Some(vec![(None, Step::Matrix { touch, place, threads })]);
        let loaded = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2+32];";
        assert_eq!(steps(loaded), row(Touch::Read, 16));
        assert_eq!(steps(&loaded.replace("x2.trans.shared", "x4.shared::cta")), row(Touch::Read, 32));
        assert_eq!(steps("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%2+32], {%0};"), row(Touch::Write, 8));
        assert_eq!(steps(&loaded.replace("shared", "shared::cluster")), None);
        assert_eq!(steps(&loaded.replace("m8n8", "m8n16")), None);
    }

    #[test]
    fn barriers_in_memory_are_told_and_asked() {
        let place = Place { window: Window::Shared, operand: 0, offset: 0 };
        let init = Step::Object { place, does: OnObject::Init { count: Operand::Input(1) } };
        assert_eq!(steps("mbarrier.init.shared::cta.b64 [%0], %1;"), Some(vec![(None, init)]));
        let arrival = Some(vec![(None, Step::Object { place, does: OnObject::Arrive })]);
        assert_eq!(steps("{ .reg .b64 s; mbarrier.arrive.release.cta.shared::cta.b64 s, [%0]; }"), arrival);
        // Several arrivals, those of transactions, and those in other blocks are not followed.
        assert_eq!(steps("mbarrier.arrive.shared.b64 s, [%0], %1;"), None);
        assert_eq!(steps("mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;"), None);
        assert_eq!(steps("mbarrier.arrive.shared::cluster.b64 _, [%0];"), None);
        let wait = Some(vec![(None, Step::Object { place, does: OnObject::Wait { parity: Operand::Input(1) } })]);
        let polled = "{ .reg .pred P; AGAIN_%=: mbarrier.try_wait.parity.shared.b64 P, [%0], %1; @!P bra AGAIN_%=; }";
        assert_eq!(steps(polled), wait);
        let left = "{\n.reg .pred P;\nAGAIN:\nmbarrier.test_wait.parity.acquire.cta.shared::cta.b64 P, [%0], %1, %2;\n\
                    @P bra DONE;\nbra AGAIN;\nDONE:\n}";
        assert_eq!(steps(left), wait);
        // It goes on whether or not the phase is over.
        assert_eq!(steps(&polled.replace("@!P", "@P")), None);
        assert_eq!(steps(&polled.replace("@!P bra AGAIN_%=;", "")), None);
        assert_eq!(steps(&left.replace("bra AGAIN;", "bra ELSEWHERE;")), None);
    }

    #[test]
    fn addresses_go_through_one_register() {
        let address = Some(vec![(None, Step::SharedAddress { output: 0, operand: 1 })]);
        assert_eq!(steps("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }"), address);
        assert_eq!(steps("cvta.to.shared.u64 %0, %1;"), address);
        assert_eq!(steps("cvta.to.shared.u64 a, %1; add.u64 a, a, 8; cvt.u32.u64 %0, a;"), Some(vec![]));
        assert_eq!(steps("cvta.to.shared.u64 %0, %1; add.u64 %0, %0, 8;"), Some(vec![]));
        let loaded = steps("cvta.to.shared.u64 a, %1; ld.global.u64 a, [%2]; cvt.u32.u64 %0, a;").unwrap();
        assert!(matches!(loaded[..], [(None, Step::Load { output: None, .. })]), "{loaded:?}");
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
