//! Atoms: the names for integers that the values of a condition are polynomials of, and where each is from.

use crate::calculus::{Axis, ExprId, GeometryVar, VarId};
use crate::protocol::{LoopId, OpaqueId};
use crate::prove::LaunchValue;
use crate::prove::state::Alternative;
use crate::prove::state::poly::{Atom, Poly, Side};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A value that both threads have and that may be divided into digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::prove::condition) enum Named {
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
pub(in crate::prove::condition) enum Key {
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

/// How an atom gets a value.
#[derive(Clone, Debug)]
pub(in crate::prove::condition) enum Source {
    /// A small positive number.
    Size,
    /// A number from 0 up to, and without, the value.
    Below(Poly),
    /// A small number from 0.
    Count,
    /// A parameter.
    Number,
    /// 0 or 1.
    Toggle,
    /// The value.
    Defined(Poly),
    /// The quotient, rounded down.
    Quotient(Poly, Poly),
    /// The remainder of that.
    Remainder(Poly, Poly),
    /// The smaller.
    Least(Poly, Poly),
    /// The greater.
    Greatest(Poly, Poly),
    /// The exclusive or.
    Xor(Poly, Poly),
    /// Two to the value.
    Power(Poly),
    /// The value of the first alternative that holds.
    Choice(Vec<(Alternative, Poly)>),
}

impl Source {
    /// Whether it is computed from a private value.
    pub(in crate::prove::condition) fn is_private(&self) -> bool {
        match self {
            Source::Size | Source::Count | Source::Number | Source::Toggle => false,
            Source::Below(a) | Source::Defined(a) | Source::Power(a) => a.is_private(),
            Source::Quotient(a, b)
            | Source::Remainder(a, b)
            | Source::Least(a, b)
            | Source::Greatest(a, b)
            | Source::Xor(a, b) => a.is_private() || b.is_private(),
            Source::Choice(choices) => choices
                .iter()
                .any(|(guard, value)| value.is_private() || guard.iter().any(|literal| literal.poly().is_private())),
        }
    }
}

/// The atoms of a condition.
#[derive(Clone, Default)]
pub(in crate::prove::condition) struct Atoms {
    /// Their names, for reading.
    pub(in crate::prove::condition) names: BTreeMap<Atom, String>,
    /// Which values of the launch they are.
    pub(in crate::prove::condition) of_launch: BTreeMap<Atom, LaunchValue>,
    /// How each gets a value at a concrete point, in the order in which they were made.
    pub(in crate::prove::condition) sources: Vec<(Atom, Source)>,
    /// Bounds by constants.
    pub(in crate::prove::condition) bounds: FxHashMap<Atom, (Option<i128>, Option<i128>)>,
    numbers: FxHashMap<(u8, Key), u16>,
    used: [u16; 16],
    taken: BTreeSet<Atom>,
}

impl Atoms {
    /// A new atom; at level 0 both threads share it.
    pub(in crate::prove::condition) fn add(
        &mut self,
        level: u8,
        key: Key,
        side: Side,
        name: &str,
        source: Source,
    ) -> Option<Atom> {
        let value = match key {
            Key::Geometry(size @ (GeometryVar::BlockDim(_) | GeometryVar::GridDim(_))) => Some(LaunchValue::Size(size)),
            Key::Param(position) => Some(LaunchValue::Param(position)),
            _ => None,
        };
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
        self.of_launch.extend(value.map(|value| (atom, value)));
        let mark = ["", ".1", ".2"][if level == 0 { 0 } else { side as usize + 1 }];
        self.names.insert(atom, format!("{name}{mark}"));
        self.sources.push((atom, source));
        Some(atom)
    }

    /// Its bounds by constants.
    pub(in crate::prove::condition) fn bounds(&self, atom: Atom) -> (Option<i128>, Option<i128>) {
        self.bounds.get(&atom).copied().unwrap_or((None, None))
    }

    /// That an atom is this value, as a point gets it.
    pub(in crate::prove::condition) fn define(&mut self, atom: Atom, source: Source) {
        if let Some(known) = self.sources.iter_mut().find(|known| known.0 == atom) {
            known.1 = source;
        }
    }
}
