//! From a resolved kernel to the calculus: functions inlined, pointers resolved, loops normalised.
//!
//! # The story
//! A [`pass::Pass`] walks the kernel once and emits calculus statements. Every object is a byte range of a
//! *target* ([`storage::facts::Target`]): an array that threads share, a private array, or the scalar variables that
//! a local has been split into. A pointer is a target (or a tag that chooses among several) and a byte
//! offset. What a pointer variable may point to, and which locals need memory of their own (a local array
//! indexed by a variable, for instance), shows only while walking; a pass that learns such a fact finishes
//! and is thrown away, and the next one starts with what is known. Facts only grow, so this ends.
//!
//! What only the complete kernel tells, the walk leaves open, and notes what is needed to say it: [`settle`](crate::settle).
//!
//! # Where what is
//! - [`walk`]: statements, and the order of what they do.
//! - [`storage`]: where values live, and the accesses to them.
//! - [`deferred`]: copies and barriers whose effect comes later than they stand.
//! - [`annotation`]: claims, assumptions and formulas about accesses.
//! - [`ptx`]: inline assembly, parsed. The other files are expressions and calls.
//!
//! # Guarantees
//! - No access is dropped. Whatever is not understood becomes an entry of [`Kernel::unsupported`](crate::calculus::Kernel::unsupported).
//! - The order of effects is that of C++17: the right side of an assignment before its left.
//! - A counted [`For`](crate::calculus::For) is emitted only where bound and step cannot change; any other
//!   loop is a [`Loop`](crate::calculus::Stmt::Loop) whose test is evaluated as often as in the source.
//!
//! # Assumed, as the C standards let us
//! Reading or writing through a null pointer, and reading a variable before it has a value, do not happen.
//! The signed variable of a counted loop does not overflow when it is stepped by an unsigned amount.
//! Two pointer parameters point to different allocations (`is_param` says so).
//!
//! # Deliberately not done
//! Assumptions about the contents of memory are dropped: a missing assumption can make a proof fail, never succeed. Calls of functions that are not
//! defined are taken to change only what their pointer arguments reach and the unit's global variables.

mod annotation;
mod asm;
mod atomics;
mod barriers;
mod blocks;
mod builtin;
mod call;
mod closure;
mod clusters;
mod collectives;
mod convert;
mod deferred;
mod ends;
mod expr;
mod fences;
mod fragments;
mod image;
mod lanes;
mod library;
mod operator;
mod pass;
mod ptx;
mod storage;
mod surface;
mod together;
mod value;
mod votes;
mod walk;

#[cfg(test)]
mod tests;

use crate::calculus::Unsupported;
use crate::resolve::program::{FunctionId, Program};
use crate::settle::Unsettled;
use pass::Pass;
use storage::facts::Facts;

/// Passes after which pointers that still gain targets are given up on.
const MAX_PASSES: usize = 24;

/// Lowers every kernel of the program, in source order.
pub fn kernels(program: &Program) -> Vec<Unsettled> {
    program.kernels.iter().map(|&kernel| lower(program, kernel)).collect()
}

/// Lowers one kernel. What only the complete kernel tells is for [`settle`](crate::settle) to say.
pub fn lower(program: &Program, kernel: FunctionId) -> Unsettled {
    let mut facts = Facts::default();
    for _ in 0..MAX_PASSES {
        facts.changed = false;
        let lowered = run_pass(program, kernel, &mut facts);
        if !facts.changed {
            return lowered;
        }
    }
    let mut lowered = run_pass(program, kernel, &mut facts);
    lowered.kernel.unsupported.push(Unsupported {
        span: Some(program.functions[kernel].span),
        reason: "pointers of this kernel change in too many ways to be followed".to_owned(),
        arrays: None,
        barriers: true,
        is_of_thread: false,
    });
    lowered
}

fn run_pass(program: &Program, kernel: FunctionId, facts: &mut Facts) -> Unsettled {
    let function = &program.functions[kernel];
    let mut pass = Pass::new(program, kernel, facts);
    pass.kernel.name.clone_from(&function.name);
    pass.kernel.template_args.clone_from(&function.template_args);
    pass.kernel.geometry = function.geometry.clone();
    pass.kernel.geometry.platform = program.platform;
    pass.kernel_body();
    pass.finish()
}
