//! From the kernel that the walk of `lower` emits to the kernel that is judged: what only the complete kernel tells.
//!
//! # The story
//! The walk emits statements in the order of the text, and cannot know what stands behind. So for whom a barrier is that has a
//! mask, a number of its own or an object in memory, it leaves open ([`Placeholder`](crate::calculus::Placeholder)); what a
//! shuffle gives stays unknown. What is needed to say it later and stands in no statement is in the [`Notes`]. The passes of
//! [`PASSES`], in their order, then take the kernel from calculus to calculus: each says one kind of thing, and leaves what it
//! is not about as it was.
//!
//! # Guarantees
//! - A pass hides no access and drops no statement that could matter: what it cannot say becomes an entry of
//!   [`Kernel::unsupported`].
//! - Each pass leaves the kernel well-formed ([`verify`]); after [`PASSES`] no placeholder is left.
//! - The order of the list is part of the meaning: draws are looked for before shuffles replace what they hand on, and masks
//!   come last, since what they mention says nothing of what the source uses.
//!
//! [`lockstep`] and [`unrolling`] are passes as well, which the driver and the judge make where they are asked for. The list
//! of all that is done with a kernel before it is judged, with names, is `src/driver/passes.rs`.
//!
//! Deliberately absent: functions, pointers and names of CUDA or OpenCL; proofs, which `invariant` and `prove` make.

pub mod lockstep;
pub mod notes;
pub mod tables;
pub mod unrolling;

mod block_size;
mod bounds;
mod draws;
mod lanes;
mod library_order;
mod logs;
mod masks;
mod named_barriers;
mod overwritten;
mod parties;
mod pipelines;
mod places;
mod producers;
mod shuffles;
mod units;

pub use notes::Notes;

use crate::calculus::Kernel;
use crate::calculus::validate::{Violation, validate, validate_on_the_way};

/// What the walk makes of a kernel: its statements, and what it saw beside them.
#[derive(Clone, Debug, Default)]
pub struct Unsettled {
    /// The kernel, in which placeholders may stand for threads of barriers.
    pub kernel: Kernel,
    /// What the walk saw beside the statements.
    pub notes: Notes,
}

/// A pass from calculus to calculus.
pub struct Pass {
    /// Its name, for whoever wants to see the kernel after it.
    pub name: &'static str,
    /// What it says of a kernel.
    pub about: &'static str,
    run: fn(&mut Kernel, &Notes),
}

/// The passes that every kernel goes through, in their order.
pub const PASSES: &[Pass] = &[
    Pass { name: "objects", about: "for whom barriers are that are objects in memory", run: parties::name },
    Pass {
        name: "library-order",
        about: "which barriers of libraries order nothing of the program's",
        run: |kernel, notes| library_order::limit(kernel, &notes.of_libraries),
    },
    Pass {
        name: "units",
        about: "which arrays have no common unit",
        run: |kernel, notes| units::separate(kernel, &notes.units),
    },
    Pass {
        name: "logs",
        about: "logs of the accesses that claims are about",
        run: |kernel, notes| logs::keep(kernel, &notes.logs),
    },
    Pass {
        name: "named-barriers",
        about: "for whom barriers are that have a number",
        run: |kernel, _| named_barriers::name(kernel),
    },
    Pass {
        name: "lanes",
        about: "whether the number of threads of a warp counts, and which axes the source uses",
        run: |kernel, notes| {
            lanes::count(kernel);
            lanes::unmentioned(kernel);
            lanes::number(kernel, notes.warps.lane);
        },
    },
    Pass {
        name: "draws",
        about: "numbers that one thread of a warp draws for others, drawn by each",
        run: |kernel, notes| {
            if has_known_warps(kernel) {
                draws::share_out(kernel, &notes.warps);
            }
        },
    },
    Pass {
        name: "shuffles",
        about: "what shuffles give, where it is a formula",
        run: |kernel, notes| {
            if has_known_warps(kernel) {
                shuffles::name(kernel, &notes.warps.exchanges);
            }
        },
    },
    Pass {
        name: "masks",
        about: "for whom barriers are that have masks",
        run: |kernel, notes| {
            masks::name(kernel, &notes.warps.masks);
            lanes::numbered(kernel);
        },
    },
    Pass { name: "tables", about: "private tables, read as formulas", run: |kernel, _| tables::tabulate(kernel) },
    Pass {
        name: "overwritten",
        about: "variables without a value that loops assign before anything reads them",
        run: |kernel, _| overwritten::fill(kernel),
    },
    Pass {
        name: "bounds",
        about: "bounds of loops that are read again in each turn, kept where nobody writes them",
        run: |kernel, _| bounds::keep(kernel),
    },
];

impl Pass {
    /// Makes it.
    pub fn settle(&self, kernel: &mut Kernel, notes: &Notes) {
        (self.run)(kernel, notes);
    }
}

impl Unsettled {
    /// The kernel after all of [`PASSES`].
    pub fn settled(self) -> Kernel {
        let Unsettled { mut kernel, notes } = self;
        for pass in PASSES {
            pass.settle(&mut kernel, &notes);
        }
        kernel
    }
}

/// How far a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// On its way through [`PASSES`]: placeholders may be left.
    Unsettled,
    /// Behind them.
    Settled,
}

/// What a pass has damaged: a bug in raceproof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel `{kernel}` is not well-formed after the pass `{pass}`: {violation}")]
pub struct Damage {
    kernel: String,
    pass: &'static str,
    violation: Violation,
}

/// Whether a kernel is well-formed after the pass of that name.
pub fn verify(pass: &'static str, kernel: &Kernel, form: Form) -> Result<(), Damage> {
    let violations = match form {
        Form::Unsettled => validate_on_the_way(kernel),
        Form::Settled => validate(kernel),
    };
    match violations.into_iter().next() {
        Some(violation) => Err(Damage { kernel: kernel.name.clone(), pass, violation }),
        None => Ok(()),
    }
}

/// In debug builds, panics where a pass has damaged a kernel. Release builds look at nothing.
pub fn verify_if_debug(pass: &'static str, kernel: &Kernel, form: Form) {
    if cfg!(debug_assertions)
        && let Err(damage) = verify(pass, kernel, form)
    {
        panic!("{damage}");
    }
}

/// Whether it is known how many threads a warp has.
fn has_known_warps(kernel: &Kernel) -> bool {
    kernel.geometry.platform.rules().warp.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text::parse;

    fn kernel(body: &str) -> Kernel {
        let text = format!("kernel k(n: i32) {{ global y: element 4 var i: i32 {body} }}");
        parse(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_damaged_kernel_is_told_with_the_pass() {
        let damaged = kernel("let i = convert<i64>(n)");
        let damage = verify("masks", &damaged, Form::Unsettled).expect_err("its types do not agree");
        let said = damage.to_string();
        assert!(said.starts_with("the kernel `k` is not well-formed after the pass `masks`: `i`"), "{said}");
    }

    #[test]
    fn a_placeholder_is_damage_only_where_the_kernel_is_settled() {
        let open = kernel("sync warp shared mask n @0");
        assert_eq!(verify("walk", &open, Form::Unsettled), Ok(()));
        assert!(verify("tables", &open, Form::Settled).is_err());
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "not well-formed after the pass `draws`")]
    fn a_pass_that_damages_a_kernel_ends_debug_builds() {
        verify_if_debug("draws", &kernel("write y[n; 4] @0"), Form::Unsettled);
    }
}
