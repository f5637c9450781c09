//! Warps: what it means for two threads of a block to be of one warp, or of two.
//!
//! The number of a thread within its block is `x + dx*(y + dy*z)`, its warp that number divided by the size of
//! a warp. Threads of one warp have equal quotients. Threads of two warps have different ones, so that the
//! quotients alone tell them apart and serve as coordinates.
//!
//! Deliberately absent: OpenCL's sub-groups, whose size is the device's; nobody asks about them here.

use super::builder::{Builder, EnvId, Named, Record};
use super::division::Rounding;
use crate::calculus::Axis;
use crate::calculus::GeometryVar::{BlockDim, ThreadIdx};
use crate::calculus::eval::WARP;
use crate::prove::Warps;
use crate::prove::rules::poly::Poly;
use crate::prove::rules::state::{Alternative, Literal};

impl Builder<'_> {
    /// Adds what is known of the warps of the two threads; after the guards, which bound quotients.
    pub(super) fn assume_warps(&mut self, warps: Warps) -> Option<()> {
        if warps == Warps::Any {
            return Some(());
        }
        let (first, second) = (self.warp(0)?, self.warp(1)?);
        let (first, second) = (self.normal(&first)?, self.normal(&second)?);
        match warps {
            Warps::Any => {}
            Warps::Same => self.literal(Literal::Zero(first.minus(&second)?)),
            Warps::Different if first == second => self.state.facts.push(Poly::constant(-1)),
            Warps::Different => self.state.coordinates = vec![(first, second)],
        }
        Some(())
    }

    /// The ways in which the two threads are in different aligned groups of so many.
    pub(super) fn apart(&mut self, threads: u32) -> Option<Vec<Alternative>> {
        let (first, second) = (self.group(0, threads)?, self.group(1, threads)?);
        let difference = self.normal(&first)?.minus(&self.normal(&second)?)?;
        let (above, below) = (difference.plus_constant(-1)?, difference.negated()?.plus_constant(-1)?);
        Some(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]])
    }

    /// Says that the two threads are in one aligned group of so many.
    pub(super) fn assume_one_group(&mut self, threads: u32) -> Option<()> {
        let (first, second) = (self.group(0, threads)?, self.group(1, threads)?);
        let difference = self.normal(&first)?.minus(&self.normal(&second)?)?;
        self.literal(Literal::Zero(difference));
        Some(())
    }

    /// The number of the warp of the thread of `env`.
    fn warp(&mut self, env: EnvId) -> Option<Poly> {
        self.group(env, WARP)
    }

    /// The number of the aligned group of so many threads that the thread of `env` is in.
    fn group(&mut self, env: EnvId, size: u32) -> Option<Poly> {
        let side = self.environments[env].side;
        let (mut number, mut threads) = (Poly::ZERO, Poly::constant(1));
        for axis in Axis::ALL {
            let (id, extent) = (self.geometry(ThreadIdx(axis), side)?, self.geometry(BlockDim(axis), side)?);
            number = number.plus(&threads.times(&id)?)?;
            threads = threads.times(&extent)?;
            if threads.as_constant() != Some(1) {
                // So that 32 divides by way of a row of 16 threads.
                self.records.push(Record { side, divisor: threads.clone(), remainder: number.clone() });
            }
        }
        Some(self.divide(Named::Thread, env, &number, &Poly::constant(i64::from(size)), Rounding::Down, 0)?.0)
    }
}
