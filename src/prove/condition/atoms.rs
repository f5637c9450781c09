//! Atoms: the names for integers that the values of a condition are polynomials of, and where each is from.

use super::sampling::Source;
use crate::calculus::{Axis, ExprId, GeometryVar, VarId};
use crate::protocol::{LoopId, OpaqueId};
use crate::prove::state::poly::{Atom, Side};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A value that both threads have and that may be divided into digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Named {
    /// An expression of the protocol.
    Expr(ExprId),
    /// The number of the thread within its block.
    Thread,
    /// The position of the block along an axis.
    Block(Axis),
}

impl From<ExprId> for Named {
    fn from(expr: ExprId) -> Self {
        Named::Expr(expr)
    }
}

/// What an atom was made for; equal keys give the two threads' copies one number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Geometry(GeometryVar),
    Param(usize),
    Iteration(LoopId),
    Carried(VarId),
    Opaque(OpaqueId),
    Quotient(Named),
    Remainder(Named),
    Value(ExprId),
    Power(ExprId),
    Function(OpaqueId),
    Byte,
}

/// The atoms of a condition.
#[derive(Clone, Default)]
pub(super) struct Atoms {
    /// Their names, for reading.
    pub(super) names: BTreeMap<Atom, String>,
    /// How each gets a value at a concrete point, in the order in which they were made.
    pub(super) sources: Vec<(Atom, Source)>,
    /// Bounds by constants.
    pub(super) bounds: FxHashMap<Atom, (Option<i128>, Option<i128>)>,
    numbers: FxHashMap<(u8, Key), u16>,
    used: [u16; 16],
    taken: BTreeSet<Atom>,
}

impl Atoms {
    /// A new atom; at level 0 both threads share it.
    pub(super) fn add(&mut self, level: u8, key: Key, side: Side, name: &str, source: Source) -> Option<Atom> {
        let atom = if level == 0 {
            let atom = Atom::uniform(self.used[0]).filter(|_| self.used[0] < 100)?;
            self.used[0] += 1;
            atom
        } else {
            let used = &mut self.used[usize::from(level)];
            let mut number = *self.numbers.entry((level, key.clone())).or_insert_with(|| {
                *used += 1;
                *used - 1
            });
            if Atom::private(level, number, side).is_some_and(|atom| self.taken.contains(&atom)) {
                // A second value of one expression in one thread: its copy in the other is not its twin.
                number = *used;
                *used += 1;
                self.numbers.insert((level, key), number);
            }
            Atom::private(level, number, side)?
        };
        self.taken.insert(atom);
        let mark = ["", ".1", ".2"][if level == 0 { 0 } else { side as usize + 1 }];
        self.names.insert(atom, format!("{name}{mark}"));
        self.sources.push((atom, source));
        Some(atom)
    }

    /// Its bounds by constants.
    pub(super) fn bounds(&self, atom: Atom) -> (Option<i128>, Option<i128>) {
        self.bounds.get(&atom).copied().unwrap_or((None, None))
    }

    /// That an atom is this value, as a point gets it.
    pub(super) fn define(&mut self, atom: Atom, source: Source) {
        if let Some(known) = self.sources.iter_mut().find(|known| known.0 == atom) {
            known.1 = source;
        }
    }
}
