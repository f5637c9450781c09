//! The prover on kernels: the catalogue (docs/RULES.md, "6. The catalogue"), tampered derivations,
//! enumeration of small geometries.

mod adversary;
mod catalogue;
mod enumeration;
mod kernels;
mod runs;
mod solvers;
mod tampering;

use raceproof::calculus::intervals;
use raceproof::calculus::validate::validate;
use raceproof::calculus::{Kernel, text};
use raceproof::memory_model::Level;
use raceproof::protocol::Protocol;
use raceproof::protocol::infer::infer;
use raceproof::prove::condition::pairs;
use raceproof::prove::premises::{self, Budget};
use raceproof::prove::rules::CheckError;
use raceproof::prove::{Open, Pair, Proof, Scope};

/// A kernel with its protocol, and the scope in which dimensions that it has no use for are 1.
pub(crate) struct Subject {
    pub(crate) kernel: Kernel,
    pub(crate) protocol: Protocol,
    pub(crate) scope: Scope,
}

impl Subject {
    /// Reads a kernel whose dimensions are the first `dimensions`.
    pub(crate) fn read(text: &str, dimensions: usize) -> Subject {
        Subject::try_read(text, dimensions).unwrap_or_else(|| panic!("not a kernel:\n{text}"))
    }

    /// The same, or nothing for a text that is no kernel.
    pub(crate) fn try_read(text: &str, dimensions: usize) -> Option<Subject> {
        let kernel = text::parse(text).ok()?;
        if !validate(&kernel).is_empty() {
            return None;
        }
        let protocol = infer(&kernel);
        let mut scope = Scope::default();
        for axis in dimensions..3 {
            scope.block[axis] = Some(1);
            scope.grid[axis] = Some(1);
        }
        Some(Subject { kernel, protocol, scope })
    }

    /// Its pairs, with no sync ordering anything across blocks and every sync within a block.
    pub(crate) fn pairs(&self, level: Level) -> Vec<Pair> {
        let intervals = intervals::analyze(&self.kernel, &|_| level == Level::Block);
        pairs(&self.protocol, &intervals, level)
    }

    pub(crate) fn prove(&self, pair: &Pair) -> Result<Proof, Open> {
        premises::prove_pair(&self.protocol, pair, &self.scope, &Budget::default())
    }

    pub(crate) fn check(&self, pair: &Pair, proof: &Proof) -> Result<(), CheckError> {
        premises::check_pair(&self.protocol, pair, &self.scope, &proof.derivation)
    }
}
