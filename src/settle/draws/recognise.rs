//! What is recognised: masks and whom they name, counts and ranks in them, lanes, leaders, and the draw behind a shuffle.
//!
//! Deliberately absent: other ways to count (`__popcll`, a loop over bits), and lanes that PTX reads from its registers.

use super::DEEPEST;
use super::place::{Around, Group, Known, Mask, Seen};
use crate::calculus::{
    Axis, BinaryOp, BitCount, Expr, ExprId, GeometryVar, Kernel, Nature, ScalarType, UnaryOp, VarId,
};
use crate::settle::notes::{Lanes, Shuffle, Source};

pub(super) const COUNT: Nature = Nature::Counts(BitCount::SetOf32);
const FIRST: Nature = Nature::Counts(BitCount::PlaceOf32);
const LEADING: Nature = Nature::Counts(BitCount::LeadingOf32);
const LANES: i128 = crate::calculus::eval::WARP as i128;

/// A lane that is the same for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The first of the warp, which every warp has.
    Zero,
    /// The first lane of a mask.
    First(VarId),
    /// The last one.
    Last(VarId),
}

/// Who makes a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    Lane(Lane),
    /// Whoever has rank 0 in a mask: its first lane is among them.
    Rank(VarId),
}

impl Seen<'_> {
    /// Whether a place says nothing of the thread.
    pub(super) fn is_one_place(&self, offset: ExprId) -> bool {
        let mut is_one = true;
        self.kernel.exprs.visit(offset, |_, node| {
            is_one &= !matches!(
                node,
                Expr::Var(_) | Expr::Opaque(..) | Expr::Call(..) | Expr::Geometry(GeometryVar::ThreadIdx(_))
            )
        });
        is_one
    }

    /// What a variable holds from here on, if it is a mask.
    pub(super) fn source(&mut self, var: VarId) -> Option<Mask> {
        let depth = self.around.len();
        match *self.calls.masks.get(&var)? {
            Source::Active(named) => Some(Mask { named, is_common: false, depth }),
            Source::Votes(named, voters) => {
                let voters = self.substituted(voters);
                (self.group(voters)? == Group::Warp).then_some(Mask { named, is_common: true, depth })
            }
        }
    }

    /// The variable of a mask.
    pub(super) fn mask(&mut self, value: ExprId) -> Option<VarId> {
        let value = self.substituted(value);
        match self.group(value)? {
            Group::Mask(var) => Some(var),
            Group::Warp => None,
        }
    }

    /// Whom a mask names, without variables of which something is known.
    fn group(&self, mask: ExprId) -> Option<Group> {
        match self.kernel.exprs[stripped(self.kernel, mask)] {
            Expr::Int(bits, _) => (bits & 0xffff_ffff == 0xffff_ffff).then_some(Group::Warp),
            Expr::Var(var) => self.state.masks.contains_key(&var).then_some(Group::Mask(var)),
            _ => None,
        }
    }

    /// Of whom this is the number.
    pub(super) fn count(&self, amount: ExprId) -> Option<Group> {
        match &self.kernel.exprs[stripped(self.kernel, amount)] {
            Expr::Int(amount, _) => (*amount >= LANES).then_some(Group::Warp),
            Expr::Var(var) => self.state.sizes.get(var).map(|&mask| Group::Mask(mask)),
            Expr::Call(function, args, _) if function.nature() == COUNT => self.group(*args.first()?),
            _ => None,
        }
    }

    /// Of whom this counts those before the thread.
    pub(super) fn rank(&self, value: ExprId) -> Option<Group> {
        let value = stripped(self.kernel, value);
        match &self.kernel.exprs[value] {
            Expr::Var(var) => self.state.ranks.get(var).map(|&mask| Group::Mask(mask)),
            Expr::Call(function, args, _) if function.nature() == COUNT => {
                let Expr::Binary(BinaryOp::BitAnd, a, b) = self.kernel.exprs[stripped(self.kernel, *args.first()?)]
                else {
                    return None;
                };
                let (mask, _) = [(a, b), (b, a)].into_iter().find(|&(_, below)| self.is_below(below))?;
                self.group(mask).filter(|group| *group != Group::Warp)
            }
            _ => self.is_lane(value).then_some(Group::Warp),
        }
    }

    /// Whether a mask names the lanes before the thread's: `(1 << lane) - 1`, `~(~0 << lane)`.
    fn is_below(&self, mask: ExprId) -> bool {
        let exprs = &self.kernel.exprs;
        let shifted = |value: ExprId, bits: &dyn Fn(i128) -> bool| match exprs[stripped(self.kernel, value)] {
            Expr::Binary(BinaryOp::Shl, base, by) => {
                exprs.as_int(stripped(self.kernel, base)).is_some_and(bits) && self.is_lane(by)
            }
            _ => false,
        };
        match exprs[stripped(self.kernel, mask)] {
            Expr::Binary(BinaryOp::Sub, power, one) => {
                exprs.as_int(one) == Some(1) && shifted(power, &|base| base == 1)
            }
            Expr::Unary(UnaryOp::BitNot, above) => shifted(above, &|base| base & 0xffff_ffff == 0xffff_ffff),
            _ => false,
        }
    }

    /// Whether a value is the number of the thread within its warp.
    fn is_lane(&self, value: ExprId) -> bool {
        let exprs = &self.kernel.exprs;
        let number = match exprs[stripped(self.kernel, value)] {
            Expr::Binary(BinaryOp::Rem, number, by) if exprs.as_int(by) == Some(LANES) => number,
            Expr::Binary(BinaryOp::BitAnd, number, by) if exprs.as_int(by) == Some(LANES - 1) => number,
            _ => return false,
        };
        let Some(mut products) = self.products(number, DEEPEST) else { return false };
        products.iter_mut().for_each(|product| product.sort_unstable());
        products.sort_unstable();
        let [x, y, z] = Axis::ALL.map(GeometryVar::ThreadIdx);
        let [width, height, _] = Axis::ALL.map(GeometryVar::BlockDim);
        let mut wanted = vec![vec![x]];
        if self.mentioned[Axis::Y.index()] {
            wanted.push(vec![y, width]);
        }
        if self.mentioned[Axis::Z.index()] {
            wanted.push(vec![z, width, height]);
        }
        wanted.iter_mut().for_each(|product| product.sort_unstable());
        wanted.sort_unstable();
        products == wanted
    }

    /// A sum of products of ids and sizes.
    fn products(&self, value: ExprId, depth: usize) -> Option<Vec<Vec<GeometryVar>>> {
        let depth = depth.checked_sub(1)?;
        match self.kernel.exprs[stripped(self.kernel, value)] {
            Expr::Geometry(var) => Some(vec![vec![var]]),
            Expr::Binary(BinaryOp::Add, a, b) => {
                let mut sum = self.products(a, depth)?;
                sum.extend(self.products(b, depth)?);
                (sum.len() <= 3).then_some(sum)
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (left, right) = (self.products(a, depth)?, self.products(b, depth)?);
                let products = left.iter().flat_map(|one| right.iter().map(|other| [one.as_slice(), other].concat()));
                let products: Vec<_> = products.collect();
                (products.len() <= 3 && products.iter().all(|product| product.len() <= 3)).then_some(products)
            }
            _ => None,
        }
    }

    /// A lane that all of a group agree about.
    fn lane(&self, value: ExprId) -> Option<Lane> {
        let exprs = &self.kernel.exprs;
        let of = |call: ExprId, wanted: Nature| match &exprs[stripped(self.kernel, call)] {
            Expr::Call(function, args, _) if function.nature() == wanted => match self.group(*args.first()?)? {
                Group::Mask(mask) => Some(mask),
                Group::Warp => None,
            },
            _ => None,
        };
        match exprs[stripped(self.kernel, value)] {
            Expr::Int(lane, _) => (lane == 0).then_some(Lane::Zero),
            Expr::Binary(BinaryOp::Sub, from, by) if exprs.as_int(by) == Some(1) => of(from, FIRST).map(Lane::First),
            Expr::Binary(BinaryOp::Add, from, by) if exprs.as_int(by) == Some(-1) => of(from, FIRST).map(Lane::First),
            Expr::Binary(BinaryOp::Sub, from, by) if exprs.as_int(from) == Some(LANES - 1) => {
                of(by, LEADING).map(Lane::Last)
            }
            _ => None,
        }
    }

    /// Whom a condition lets through.
    fn leader(&self, cond: ExprId) -> Option<Leader> {
        let Expr::Binary(BinaryOp::Eq, a, b) = self.kernel.exprs[cond] else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
            if self.is_lane(one) {
                return self.lane(other).map(Leader::Lane);
            }
            match self.rank(one) {
                Some(Group::Mask(mask)) if self.kernel.exprs.as_int(other) == Some(0) => Some(Leader::Rank(mask)),
                _ => None,
            }
        })
    }

    /// The draw that a shuffle hands on, and for whom it is.
    pub(super) fn given(&mut self, shuffle: &Shuffle) -> Option<(VarId, Group)> {
        let value = self.substituted(shuffle.value);
        let Expr::Var(holder) = self.kernel.exprs[stripped(self.kernel, value)] else { return None };
        let Some(&Known::Where(cond, value)) = self.state.known.get(&holder) else { return None };
        let Expr::Var(drawn) = self.kernel.exprs[stripped(self.kernel, value)] else { return None };
        let draw = self.state.draws.get(&drawn)?;
        let group = draw.group;
        let is_in_its_turn = draw.loops == self.loops;
        let leader = self.leader(cond)?;
        let lane = self.substituted(shuffle.lane);
        let among = match shuffle.mask {
            Some(mask) => {
                let mask = self.substituted(mask);
                self.group(mask)?
            }
            None => Group::Warp,
        };
        let giver = match (shuffle.lanes, among) {
            (Lanes::OfMask, Group::Mask(mask)) if self.kernel.exprs.as_int(lane) == Some(0) => Lane::First(mask),
            (Lanes::OfMask, _) => return None,
            (Lanes::OfWarp, _) => self.lane(lane)?,
        };
        let is_common = match group {
            Group::Warp => true,
            Group::Mask(mask) => self.state.masks.get(&mask)?.is_common,
        };
        let is_told = among == Group::Warp || among == group;
        let is_drawn = match giver {
            Lane::Zero => is_common && among == Group::Warp && leader == Leader::Lane(giver),
            Lane::First(mask) => {
                group == Group::Mask(mask) && (leader == Leader::Lane(giver) || leader == Leader::Rank(mask))
            }
            Lane::Last(mask) => group == Group::Mask(mask) && leader == Leader::Lane(giver),
        };
        (is_in_its_turn && is_told && is_drawn && self.is_there(giver)).then_some((drawn, group))
    }

    /// Whether a lane comes to this place if another thread of its group does. It has not ended, and makes the draw: nothing
    /// around the place, from where the lane was named on, lets it differ but what it was named for.
    fn is_there(&mut self, giver: Lane) -> bool {
        let named = match giver {
            Lane::Zero => None,
            Lane::First(mask) | Lane::Last(mask) => match self.state.masks.get(&mask) {
                Some(&mask) => Some(mask),
                None => return false,
            },
        };
        let voted = named.map(|mask| {
            let named = self.kernel.exprs.var(mask.named, ScalarType::Bool);
            self.substituted(named)
        });
        let from = named.map_or(0, |mask| mask.depth);
        self.around.get(from..).is_some_and(|around| {
            around.iter().all(|each| match *each {
                Around::Holds(cond) => Some(cond) == voted || self.is_level(cond),
                Around::Fails(cond) => self.is_level(cond),
                Around::Even => true,
                Around::Uneven => false,
            })
        })
    }

    /// Whether a value is the same for all threads of the warp.
    pub(super) fn is_level(&self, value: ExprId) -> bool {
        let mut is_level = true;
        self.kernel.exprs.visit(value, |_, node| {
            is_level &= match node {
                Expr::Var(var) => {
                    self.level.contains(var) || self.state.masks.get(var).is_some_and(|mask| mask.is_common)
                }
                Expr::Geometry(GeometryVar::ThreadIdx(_)) => false,
                _ => true,
            };
        });
        is_level
    }
}

/// A value without conversions between integers of 32 and 64 bits.
pub(super) fn stripped(kernel: &Kernel, mut value: ExprId) -> ExprId {
    let is_wide = |ty: ScalarType| matches!(ty, ScalarType::Int { width: 32 | 64, .. });
    while let Expr::Convert(ty, inner) = kernel.exprs[value] {
        if !is_wide(ty) || !is_wide(kernel.exprs.ty(inner)) {
            break;
        }
        value = inner;
    }
    value
}
