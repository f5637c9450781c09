//! Values that may not fit their type: unsigned arithmetic, narrowing and sign-changing conversions
//! (docs/RULES.md, "2.8 NO-WRAP").
//!
//! A polynomial that is equal to a value modulo two to its width is the value itself if it lies in the range
//! of the type. That is shown from bounds and signs, or noted as an assumption, or not needed: the value is
//! the polynomial less a multiple of two to the width, with the multiple a digit of its own.
//!
//! *Assumed* is only an upper end that numbers of ordinary size respect, in a type of 32 bits or more, and
//! the lower end of a uniform value and of a thread's own that uniform values move up from zero. A narrow type, or a value that leaves the type for numbers as small as
//! [`ORDINARY`], gets the digit, since such code means the wrapping. So do the 24 bits that `mul24` looks at, but for what is
//! made of ids, sizes and parameters alone: that these fit is assumed.
//!
//! *Trap.* `unsigned char slot = threadIdx.x * 64` holds 0 for thread 0 and for thread 4.

use super::builder::Builder;
use super::environments::EnvId;
use super::integers::integer;
use crate::calculus::{Axis, Expr, ExprId, GeometryVar, ScalarType};
use crate::protocol::{Origin, Role, Step};
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::state::poly::{Atom, Monomial, Poly, Side, UNKNOWN};

/// A number that every size, id, parameter and counter may well reach.
const ORDINARY: i128 = 4;
/// The width that some multiplications look at.
const PARTIAL: u8 = 24;

impl Builder<'_> {
    /// The value of `expr`, of type `ty`, whose residue is `residue`.
    pub(in crate::prove::condition) fn fit(
        &mut self,
        expr: ExprId,
        env: EnvId,
        residue: Poly,
        ty: ScalarType,
    ) -> Option<Poly> {
        let (least, greatest) = ty.range()?;
        let (width, _) = integer(ty)?;
        let (low, high) = self.draft.interval(&residue);
        let too_high = high.is_none_or(|high| high > greatest);
        let too_low = low.is_none_or(|low| low < least) && (least < 0 || !self.draft.shows(&residue));
        if !too_high && !too_low {
            return Some(residue);
        }
        let below_zero = too_low && least == 0;
        let leaves = leaves_at_once(&residue, greatest) || self.draws_too_much(expr, env, ty);
        let means_it = (too_high || least < 0) && (width < 32 || leaves);
        if width == PARTIAL && (!too_low || least < 0) && means_it && self.is_of_the_launch(&residue) {
            self.assume_fits(expr, width);
            return Some(residue);
        }
        let is_own = below_zero && residue.is_private() && !self.is_shifted(&residue);
        if means_it || is_own || below_zero && self.is_surely_negative(&residue) {
            return self.wrapped(expr, env, &residue, ty);
        }
        if below_zero {
            self.draft.fact(residue.clone());
        }
        self.assume_no_wrap(expr);
        Some(residue)
    }

    /// Whether a number that is drawn from a counter stands in `expr`, of which no few fit into the type.
    fn draws_too_much(&mut self, expr: ExprId, env: EnvId, ty: ScalarType) -> bool {
        let protocol = self.protocol;
        let mut steps = Vec::new();
        protocol.exprs.visit(expr, |_, node| {
            if let Expr::Var(var) = node
                && let Some(&Role::Opaque(opaque)) = protocol.roles.get(*var)
                && let Origin::Atomic { ticket: Some(ticket), .. } = protocol.opaques[opaque].origin
            {
                steps.push(ticket.step);
            }
        });
        steps.into_iter().any(|step| self.overflows_soon(step, ty, env))
    }

    /// Whether a counter that is moved by that much leaves a type after a few draws, so that nobody can mean it not to.
    pub(in crate::prove::condition) fn overflows_soon(&mut self, step: Step, ty: ScalarType, env: EnvId) -> bool {
        let Some((_, greatest)) = ty.range() else { return false };
        // What is a multiple of so much is zero or at least so much.
        let least = match step {
            Step::Constant(step) => Some(step),
            Step::Amount(amount) => self.value(amount, env).map(|amount| amount.content()),
        };
        least.is_some_and(|least| i128::from(least).abs() * ORDINARY > greatest)
    }

    /// Whether a value is made of what the launch counts, and of parameters: nobody multiplies these by such means in a grid, or by
    /// strides, so large that they do not fit.
    fn is_of_the_launch(&self, residue: &Poly) -> bool {
        let values = self.launch.geometry.values().chain(self.launch.params.values());
        let counted: Vec<Atom> = values.filter_map(Poly::as_atom).collect();
        residue.terms().iter().all(|(monomial, _)| monomial.atoms().all(|atom| counted.contains(&atom)))
    }

    /// Whether assuming that the value is not negative would contradict what is known, as for `-n`.
    fn is_surely_negative(&mut self, residue: &Poly) -> bool {
        let positive = residue.terms().iter().any(|term| term.1 > 0);
        !positive
            || residue
                .negated()
                .and_then(|negated| negated.plus_constant(-1))
                .is_some_and(|goal| self.draft.shows(&goal))
    }

    /// Whether a value of a thread is one that is not negative, moved up by uniform values, or by multiples of them, that
    /// need not be positive: `base + t`, `blockIdx.x * rows + t`. What is subtracted (`t - width`) is meant to go below
    /// zero in some threads.
    fn is_shifted(&mut self, residue: &Poly) -> bool {
        let (own, shift): (Vec<_>, Vec<_>) = residue.terms().iter().partition(|(monomial, _)| {
            let mut atoms = monomial.atoms();
            let is_own = monomial.atoms().any(Atom::is_private);
            is_own && atoms.all(|atom| atom.is_private() || self.draft.state.non_negative.contains(atom))
        });
        let (Some(own), Some(shift)) = (Poly::from_terms(own), Poly::from_terms(shift)) else { return false };
        let is_up = |term: &(Monomial, i64)| {
            term.1 > 0 && term.0.private_part().atoms().all(|atom| self.draft.state.non_negative.contains(atom))
        };
        shift.terms().iter().all(is_up) && shift.as_constant().is_none() && self.draft.shows(&own)
    }

    /// The residue less a multiple of two to the width, so that it lies in the range of `ty`.
    fn wrapped(&mut self, expr: ExprId, env: EnvId, residue: &Poly, ty: ScalarType) -> Option<Poly> {
        let (least, greatest) = ty.range()?;
        let (width, _) = integer(ty)?;
        self.has_wrapped = true;
        if width > 32 {
            // Two to the 64 is no coefficient.
            return self.unknown(expr, env);
        }
        let modulus = 1i64 << width;
        let multiple = self.multiple(expr, env, residue, (least as i64, modulus))?;
        let value = residue.minus(&Poly::atom(multiple).scaled(modulus)?)?;
        self.draft.fact(value.plus_constant(-(least as i64))?);
        self.draft.fact(Poly::constant(greatest as i64).minus(&value)?);
        self.bound_sizes()?;
        Some(value)
    }

    /// The atom for how often the residue has wrapped; equal residues of uniform values share it.
    fn multiple(&mut self, expr: ExprId, env: EnvId, residue: &Poly, (least, modulus): (i64, i64)) -> Option<Atom> {
        let private = residue.is_private();
        let side = self.environments[env].side;
        let identity = (Key::Quotient(expr.into()), vec![residue.clone()], private.then_some(side));
        if let Some(known) = self.draft.unknowns.get(&identity) {
            return known.as_atom();
        }
        let source = Source::Quotient(residue.plus_constant(-least)?, Poly::constant(modulus));
        let level = if private { UNKNOWN } else { 0 };
        let atom = self.draft.atom(level, Key::Quotient(expr.into()), side, "wrap", source)?;
        self.draft.unknowns.insert(identity, Poly::atom(atom));
        Some(atom)
    }

    /// What devices allow: without it two ids may differ by as much as a type can hold.
    fn bound_sizes(&mut self) -> Option<()> {
        let rules = self.protocol.geometry.platform.rules();
        let (block, grid) = (rules.block[0], rules.grid[0]);
        for axis in Axis::ALL {
            for (var, greatest) in [(GeometryVar::BlockDim(axis), block), (GeometryVar::GridDim(axis), grid)] {
                let size = self.geometry(var, Side::First)?;
                self.draft.fact(Poly::constant(greatest.into()).minus(&size)?);
            }
        }
        Some(())
    }
}

/// Whether the value leaves the type above for numbers of ordinary size.
fn leaves_at_once(residue: &Poly, greatest: i128) -> bool {
    let size = residue.terms().iter().fold(0i128, |sum, &(monomial, coefficient)| {
        let product =
            monomial.atoms().fold(i128::from(coefficient.max(0)), |product, _| product.saturating_mul(ORDINARY));
        sum.saturating_add(product)
    });
    size > greatest
}
