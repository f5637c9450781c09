//! What makes a random kernel of C++ out of pieces, each of which writes numbers of its own to `o`.
//!
//! Deliberately absent: the pieces ([`super::chosen`], [`super::packs`]).

use crate::support::dice::Dice;
use std::fmt::Write as _;

pub(super) struct Maker {
    pub(super) dice: Dice,
    /// What stands before the kernel, and in it.
    pub(super) before: String,
    pub(super) body: String,
    names: u32,
    /// How many numbers were written: the next one goes there.
    pub(super) written: u32,
}

impl Maker {
    /// A kernel that is decided by `seed`: `before` stands at its head, and `piece` adds one of so many pieces.
    pub(super) fn kernel(seed: u64, before: &str, pieces: u64, piece: fn(&mut Maker, u64)) -> String {
        let mut maker = Maker { dice: Dice(seed), before: String::new(), body: String::new(), names: 0, written: 0 };
        for _ in 0..maker.dice.below(4) + 2 {
            let next = maker.dice.below(pieces);
            piece(&mut maker, next);
        }
        let Maker { before: own, body, .. } = maker;
        format!(
            "{before}{own}__global__ void k(OUT o, int n, int m) {{\n  \
             o += 64 * (blockIdx.x * blockDim.x + threadIdx.x);\n{body}}}\n"
        )
    }

    /// A name that nothing else has.
    pub(super) fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    pub(super) fn write(&mut self, value: &str) {
        writeln!(self.body, "  o[{}] = {value};", self.written).expect("text");
        self.written += 1;
    }
}
