//! Integer expressions as polynomials.
//!
//! The value of an expression is exact: a mathematical integer that the machine computes, under the
//! assumptions that were noted. Signed overflow is undefined behaviour and assumed absent. Unsigned sums are
//! read modulo two to the width as a whole, so that only the outermost value must fit: see
//! [`wrapping`](super::wrapping).

use super::builder::{Builder, EnvId, Key};
use super::sampling::Source;
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType, UnaryOp};
use super::readings::Reading;
use crate::prove::state::poly::{Atom, IDS, Poly, Side, UNKNOWN};
use crate::prove::state::Literal;

/// Nesting at which an expression is given up.
const DEPTH: u32 = 150;

pub(super) fn integer(ty: ScalarType) -> Option<(u8, bool)> {
    match ty {
        ScalarType::Int { width, signed } => Some((width, signed)),
        _ => None,
    }
}

impl Builder<'_> {
    pub(super) fn ty(&self, expr: ExprId) -> ScalarType {
        self.protocol.exprs.ty(expr)
    }

    /// The exact value of an integer (or boolean) expression; `None` if it cannot be expressed at all.
    pub(super) fn value(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        if let Some(known) = self.values.get(&(expr, env)) {
            let known = known.clone()?;
            return self.settled(&known);
        }
        if self.depth > DEPTH {
            return None;
        }
        self.depth += 1;
        let value = self.compute(expr, env).or_else(|| self.unknown(expr, env));
        self.depth -= 1;
        let value = value.and_then(|value| self.settled(&value));
        if let Some(value) = &value {
            self.note_order(expr, env, value);
        }
        self.values.insert((expr, env), value.clone());
        value
    }

    /// `poly` in the words of the digits that it was divided into.
    pub(super) fn settled(&self, poly: &Poly) -> Option<Poly> {
        let mut poly = self.normal(poly)?;
        for _ in 0..self.canonical.len() {
            let known = |entry: &&(Poly, Poly)| self.normal(&entry.0).as_ref() == Some(&poly);
            match self.canonical.iter().find(known) {
                Some((_, digits)) => poly = self.normal(digits)?,
                None => break,
            }
        }
        Some(poly)
    }

    /// Remembers sums of ids: ORDER may want them.
    fn note_order(&mut self, expr: ExprId, env: EnvId, value: &Poly) {
        if env > 1 || value.size() < 2 || !matches!(self.protocol.exprs[expr], Expr::Binary(BinaryOp::Add, ..)) {
            return;
        }
        let atoms = value.atoms();
        let plain = |atom: &Atom| !atom.is_private() || atom.level() == IDS;
        if atoms.iter().all(plain) && atoms.iter().filter(|atom| atom.is_private()).count() > 1 {
            let side = self.environments[env].side as usize;
            self.orders.entry(expr).or_default()[side] = Some(value.clone());
        }
    }

    fn compute(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        let ty = self.ty(expr);
        let protocol = self.protocol;
        match &protocol.exprs[expr] {
            Expr::Int(value, _) => i64::try_from(*value).ok().map(Poly::constant),
            Expr::Var(var) => self.variable(*var, env),
            Expr::Param(param) => {
                let param_info = &protocol.params[*param];
                integer(ty).or((ty == ScalarType::Bool).then_some((8, false)))?;
                self.param(param.index(), &param_info.name, ty)
            }
            Expr::Geometry(var) => self.geometry(*var, self.environments[env].side),
            Expr::Unary(UnaryOp::Not, _) => self.boolean(expr, env),
            Expr::Binary(op, ..) if op.is_boolean() => self.boolean(expr, env),
            Expr::Unary(..) | Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl, ..) => {
                self.arithmetic(expr, env, ty)
            }
            Expr::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) => self.division(expr, *op, (*a, *b), env),
            Expr::Binary(BinaryOp::Shr, a, b) => self.shift_right(expr, *a, *b, env),
            Expr::Binary(BinaryOp::BitAnd, a, b) => self.bit_and(expr, *a, *b, env),
            Expr::Binary(BinaryOp::BitOr, a, b) => self.bit_or(expr, *a, *b, env),
            Expr::Binary(BinaryOp::BitXor, a, b) => self.bit_xor(expr, *a, *b, env),
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => self.extremum(expr, *op, (*a, *b), env),
            Expr::Binary(..) | Expr::Opaque(..) | Expr::Call(..) => None,
            Expr::Select(cond, a, b) => self.select(expr, (*cond, *a, *b), env),
            Expr::Convert(_, a) => self.convert(expr, *a, env),
        }
    }

    /// Sums, products, negations and shifts to the left.
    fn arithmetic(&mut self, expr: ExprId, env: EnvId, ty: ScalarType) -> Option<Poly> {
        let (_, signed) = integer(ty)?;
        match self.protocol.exprs[expr] {
            Expr::Unary(UnaryOp::BitNot, a) if !signed => {
                let greatest = i64::try_from(ty.range()?.1).ok()?;
                Poly::constant(greatest).minus(&self.value(a, env)?)
            }
            // A shift to the left of a signed value loses bits without being undefined.
            Expr::Binary(BinaryOp::Shl, ..) if signed => {
                let shifted = self.combine(expr, env, Self::value)?;
                self.fit(expr, env, shifted, ty)
            }
            _ if signed => self.combine(expr, env, Self::value),
            _ => {
                let residue = self.residue(expr, env)?;
                self.fit(expr, env, residue, ty)
            }
        }
    }

    /// A polynomial that is equal to the value modulo two to the width of its type.
    pub(super) fn residue(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        if let Some(known) = self.residues.get(&(expr, env)) {
            let known = known.clone()?;
            return self.settled(&known);
        }
        if self.depth > DEPTH {
            return None;
        }
        self.depth += 1;
        let residue = self.compute_residue(expr, env);
        self.depth -= 1;
        let residue = residue.and_then(|residue| self.settled(&residue));
        if let Some(residue) = &residue {
            self.note_order(expr, env, residue);
        }
        self.residues.insert((expr, env), residue.clone());
        residue
    }

    fn compute_residue(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        let (width, _) = integer(self.ty(expr))?;
        match self.protocol.exprs[expr] {
            Expr::Unary(UnaryOp::Neg | UnaryOp::BitNot, _)
            | Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl, ..) => {
                self.combine(expr, env, Self::residue)
            }
            Expr::Convert(_, a) if integer(self.ty(a)).is_some_and(|(from, _)| width <= from) => self.residue(a, env),
            _ => self.value(expr, env),
        }
    }

    /// Applies the operator of `expr` to what `read` says about its operands.
    fn combine(
        &mut self,
        expr: ExprId,
        env: EnvId,
        read: fn(&mut Self, ExprId, EnvId) -> Option<Poly>,
    ) -> Option<Poly> {
        match self.protocol.exprs[expr] {
            Expr::Unary(UnaryOp::Neg, a) => read(self, a, env)?.negated(),
            Expr::Unary(UnaryOp::BitNot, a) => read(self, a, env)?.negated()?.plus_constant(-1),
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = self.both(a, b, env, read)?;
                a.plus(&b)
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                let (a, b) = self.both(a, b, env, read)?;
                a.minus(&b)
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = self.both(a, b, env, read)?;
                self.hint(&a);
                self.hint(&b);
                a.times(&b)
            }
            Expr::Binary(BinaryOp::Shl, a, b) => {
                let shifted = read(self, a, env)?;
                let power = self.power(b, env)?;
                self.hint(&power);
                shifted.times(&power)
            }
            _ => None,
        }
    }

    /// Both operands; the first is read again in case the second changed how it is to be read.
    pub(super) fn both(
        &mut self,
        a: ExprId,
        b: ExprId,
        env: EnvId,
        read: fn(&mut Self, ExprId, EnvId) -> Option<Poly>,
    ) -> Option<(Poly, Poly)> {
        let first = read(self, a, env)?;
        let second = read(self, b, env)?;
        Some((self.settled(&first)?, second))
    }

    fn convert(&mut self, expr: ExprId, a: ExprId, env: EnvId) -> Option<Poly> {
        let (to, from) = (self.ty(expr), self.ty(a));
        if to == ScalarType::Bool {
            return self.boolean(expr, env);
        }
        if from == ScalarType::Bool {
            return self.value(a, env);
        }
        let ((to_width, to_signed), (from_width, from_signed)) = (integer(to)?, integer(from)?);
        let contained =
            if to_signed == from_signed { to_width >= from_width } else { to_signed && to_width > from_width };
        if contained {
            return self.value(a, env);
        }
        if from_signed && !to_signed {
            // Only the lower end is new; the upper one is that of the source type.
            let value = self.value(a, env)?;
            if to_width >= from_width && self.shows(&value) {
                return Some(value);
            }
        }
        let residue = if to_width <= from_width { self.residue(a, env)? } else { self.value(a, env)? };
        self.fit(expr, env, residue, to)
    }

    /// Bounds by constants, from types and extents; `None` where there are none.
    pub(super) fn interval(&self, poly: &Poly) -> (Option<i128>, Option<i128>) {
        let mut low = Some(0i128);
        let mut high = Some(0i128);
        for &(monomial, coefficient) in poly.terms() {
            let (mut least, mut greatest) = (Some(1i128), Some(1i128));
            for atom in monomial.atoms() {
                let (from, to) = self.bounds.get(&atom).copied().unwrap_or((None, None));
                let from = if self.state.non_negative.contains(atom) { Some(from.unwrap_or(0).max(0)) } else { from };
                let to = match to {
                    Some(to) if monomial.degree() == 1 => {
                        Some(self.upper_from_facts(atom).map_or(to, |other| to.min(other)))
                    }
                    _ => to.or_else(|| self.upper_from_facts(atom)),
                };
                (least, greatest) = product((least, greatest), (from, to));
            }
            let factor = Some(i128::from(coefficient));
            let (from, to) = product((factor, factor), (least, greatest));
            low = low.zip(from).and_then(|(sum, next)| sum.checked_add(next));
            high = high.zip(to).and_then(|(sum, next)| sum.checked_add(next));
        }
        (low, high)
    }

    /// The least upper bound that a fact `bound - atom >= 0` gives.
    fn upper_from_facts(&self, atom: Atom) -> Option<i128> {
        let bounds = self.state.facts.iter().filter_map(|fact| {
            let mut sum = 0i128;
            let mut found = false;
            for &(monomial, coefficient) in fact.terms() {
                let mut atoms = monomial.atoms();
                match (atoms.next(), atoms.next()) {
                    (None, _) => sum += i128::from(coefficient),
                    (Some(one), None) if one == atom && coefficient == -1 => found = true,
                    (Some(one), None) if one != atom => {
                        let (low, high) = self.bounds.get(&one).copied().unwrap_or((None, None));
                        sum += i128::from(coefficient).checked_mul(if coefficient > 0 { high? } else { low? })?;
                    }
                    _ => return None,
                }
            }
            found.then_some(sum)
        });
        bounds.min()
    }

    /// An atom for a value that is not understood: equal expressions over equal leaves are equal.
    pub(super) fn unknown(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        let ty = self.ty(expr);
        ty.range()?;
        let leaves = self.leaves(expr, env);
        let uniform = leaves.as_ref().is_some_and(|leaves| leaves.iter().all(|leaf| !leaf.is_private()));
        let side = self.environments[env].side;
        let mut identity = leaves.unwrap_or_default();
        if !uniform && identity.is_empty() {
            identity.push(Poly::constant(env as i64));
        }
        self.unknown_atom(Key::Value(expr), identity, uniform, side, ty, "?")
    }

    /// The atom of an unknown value of this identity.
    pub(super) fn unknown_atom(
        &mut self,
        key: Key,
        identity: Vec<Poly>,
        uniform: bool,
        side: Side,
        ty: ScalarType,
        name: &str,
    ) -> Option<Poly> {
        let identity = (key.clone(), identity, (!uniform).then_some(side));
        if let Some(known) = self.unknowns.get(&identity) {
            let known = known.clone();
            return self.normal(&known);
        }
        let level = if uniform { 0 } else { UNKNOWN };
        let atom = self.atom(level, key, side, name, Source::Number)?;
        self.typed(atom, ty);
        self.unknowns.insert(identity, Poly::atom(atom));
        Some(Poly::atom(atom))
    }

    /// Values of the distinct leaves of an expression; `None` if one has none.
    fn leaves(&mut self, expr: ExprId, env: EnvId) -> Option<Vec<Poly>> {
        let mut leaves = Vec::new();
        let mut size = 0;
        self.protocol.exprs.visit(expr, |id, node| {
            size += 1;
            if matches!(node, Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_)) {
                leaves.push(id);
            }
        });
        if size > 4_000 {
            return None;
        }
        let opaque_leaf = |builder: &Self, leaf: ExprId| builder.ty(leaf).range().is_none();
        let mut values = Vec::new();
        for leaf in leaves {
            if opaque_leaf(self, leaf) && matches!(self.protocol.exprs[leaf], Expr::Param(_)) {
                continue;
            }
            values.push(self.value(leaf, env)?);
        }
        Some(values)
    }

    fn extremum(&mut self, expr: ExprId, op: BinaryOp, operands: (ExprId, ExprId), env: EnvId) -> Option<Poly> {
        let (a, b) = self.both(operands.0, operands.1, env, Self::value)?;
        let difference = b.minus(&a)?;
        let least = op == BinaryOp::Min;
        if self.shows(&difference) {
            return Some(if least { a } else { b });
        }
        if self.shows(&difference.negated()?) {
            return Some(if least { b } else { a });
        }
        let source = if least { Source::Least(a.clone(), b.clone()) } else { Source::Greatest(a.clone(), b.clone()) };
        let piece = self.piece(expr, env, &[&a, &b], source)?;
        if self.shows(&a) && self.shows(&b) {
            self.set_non_negative(piece.as_atom()?);
        }
        self.is_extremum(&piece, op, [a.clone(), b.clone()])?;
        let alternatives = [&a, &b].map(|value| piece.minus(value).map(|zero| vec![Literal::Zero(zero)]));
        self.disjunction(alternatives.into_iter().collect::<Option<Vec<_>>>()?);
        Some(piece)
    }

    /// Says that `piece` is the smaller, or the greater, of two values.
    pub(super) fn is_extremum(&mut self, piece: &Poly, op: BinaryOp, values: [Poly; 2]) -> Option<()> {
        let sign = if op == BinaryOp::Min { 1 } else { -1 };
        for value in &values {
            self.fact(value.minus(piece)?.scaled(sign)?);
        }
        self.extrema.push((piece.as_atom()?, op, values));
        Some(())
    }

    /// BEYOND: what is below the smaller of two values is below both.
    ///
    /// *Premises.* A fact `c*z + g >= 0` with a constant `c >= 1`, where `z` is the smaller of `a` and `b` and does
    /// not occur in `g` (or `c <= -1`, and `z` the greater). *Conclusion.* `c*a + g >= 0` and `c*b + g >= 0`.
    /// *Proof.* `z <= a`, `z <= b`. *Use.* The turns of `for (k = 0; k < min(n - first, 2); k++)`: `k < 2`.
    /// *Trap.* What is below the greater of two values is below one of them only.
    pub(super) fn look_beyond_extrema(&mut self) -> Option<()> {
        for (piece, op, values) in self.extrema.clone() {
            let wanted = if op == BinaryOp::Min { 1 } else { -1 };
            let bounded = |fact: &&Poly| {
                let mut terms = fact.terms().iter().filter(|term| term.0.contains(piece));
                let only = terms.next().filter(|term| term.0.degree() == 1 && term.1.signum() == wanted);
                only.is_some() && terms.next().is_none()
            };
            let facts: Vec<Poly> = self.state.facts.iter().filter(bounded).cloned().collect();
            for fact in facts {
                self.readings.insert(Reading::Beyond);
                for value in &values {
                    let value = self.normal(value)?;
                    self.fact(fact.substitute(piece, &value)?);
                }
            }
        }
        Some(())
    }
}

/// The product of two intervals.
fn product(a: (Option<i128>, Option<i128>), b: (Option<i128>, Option<i128>)) -> (Option<i128>, Option<i128>) {
    match (a, b) {
        ((Some(al), Some(ah)), (Some(bl), Some(bh))) => {
            let corners = [al.checked_mul(bl), al.checked_mul(bh), ah.checked_mul(bl), ah.checked_mul(bh)];
            let corners: Option<Vec<i128>> = corners.into_iter().collect();
            corners.map_or((None, None), |corners| (corners.iter().min().copied(), corners.iter().max().copied()))
        }
        // One end is missing: only signs that are known on both sides help.
        ((Some(al), ah), (Some(bl), bh)) if al >= 0 && bl >= 0 => {
            (al.checked_mul(bl), ah.zip(bh).and_then(|(x, y)| x.checked_mul(y)))
        }
        ((al, Some(ah)), (Some(bl), bh)) | ((Some(bl), bh), (al, Some(ah))) if ah <= 0 && bl >= 0 => {
            (al.zip(bh).and_then(|(x, y)| x.checked_mul(y)), ah.checked_mul(bl))
        }
        _ => (None, None),
    }
}
