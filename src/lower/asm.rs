//! Inline assembly: instructions that only compute leave unknown values in their outputs; any other may
//! do anything.

use super::pass::Pass;
use crate::calculus::HavocReason;
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
    "membar",
    "fence",
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
    "vadd",
    "vmax",
    "vmin",
    "vset",
    "vsub",
    "xor",
];

impl Pass<'_> {
    /// Lowers an `asm` statement.
    pub(super) fn inline_assembly(&mut self, asm: &Asm<'_>, span: Span) {
        for input in asm.inputs {
            self.effect(input);
        }
        if !is_harmless(asm.text) || (asm.clobbers_memory && !is_only_fence(asm.text)) {
            self.unsupported(span, "inline assembly that may touch memory or other threads".to_owned());
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

/// Whether all instructions are known to compute only.
fn is_harmless(text: &str) -> bool {
    instructions(text).all(|opcode| HARMLESS.contains(&opcode))
}

/// Whether a "memory" clobber is explained by there being nothing but fences.
fn is_only_fence(text: &str) -> bool {
    instructions(text).all(|opcode| matches!(opcode, "membar" | "fence" | "mov" | "nanosleep"))
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
