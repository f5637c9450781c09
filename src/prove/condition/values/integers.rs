//! Integer expressions as polynomials.
//!
//! The value of an expression is exact: a mathematical integer that the machine computes, under the
//! assumptions that were noted. Signed overflow is undefined behaviour and assumed absent. Unsigned sums are
//! read modulo two to the width as a whole, so that only the outermost value must fit: see
//! [`wrapping`](super::wrapping).

use super::builder::Builder;
use super::choices;
use super::environments::EnvId;
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType, UnaryOp};
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::Literal;
use crate::prove::state::poly::{Atom, IDS, Poly};

/// Nesting at which an expression is given up.
const DEPTH: u32 = 150;

pub(in crate::prove::condition) fn integer(ty: ScalarType) -> Option<(u8, bool)> {
    match ty {
        ScalarType::Int { width, signed } => Some((width, signed)),
        _ => None,
    }
}

impl Builder<'_> {
    pub(in crate::prove::condition) fn ty(&self, expr: ExprId) -> ScalarType {
        self.protocol.exprs.ty(expr)
    }

    /// The exact value of an integer (or boolean) expression; `None` if it cannot be expressed at all.
    pub(in crate::prove::condition) fn value(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        if let Some(known) = self.memoised.values.get(&(expr, env)) {
            let known = known.clone()?;
            return self.draft.settled(&known);
        }
        if self.depth > DEPTH {
            return None;
        }
        self.depth += 1;
        let value = self.compute(expr, env).or_else(|| self.unknown(expr, env));
        self.depth -= 1;
        let value = value.and_then(|value| self.draft.settled(&value));
        if let Some(value) = &value {
            self.note_order(expr, env, value);
        }
        self.memoised.values.insert((expr, env), value.clone());
        value
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
                self.launch.param(&mut self.draft, param.index(), &param_info.name, ty)
            }
            Expr::Geometry(var) => self.geometry(*var, self.environments[env].side),
            Expr::Unary(UnaryOp::Not, _) => choices::boolean(self, expr, env),
            Expr::Binary(op, ..) if op.is_boolean() => choices::boolean(self, expr, env),
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
            Expr::Select(cond, a, b) => choices::select(self, expr, (*cond, *a, *b), env),
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
    pub(in crate::prove::condition) fn residue(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        if let Some(known) = self.memoised.residues.get(&(expr, env)) {
            let known = known.clone()?;
            return self.draft.settled(&known);
        }
        if self.depth > DEPTH {
            return None;
        }
        self.depth += 1;
        let residue = self.compute_residue(expr, env);
        self.depth -= 1;
        let residue = residue.and_then(|residue| self.draft.settled(&residue));
        if let Some(residue) = &residue {
            self.note_order(expr, env, residue);
        }
        self.memoised.residues.insert((expr, env), residue.clone());
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
                self.draft.hint(&a);
                self.draft.hint(&b);
                a.times(&b)
            }
            Expr::Binary(BinaryOp::Shl, a, b) => {
                let shifted = read(self, a, env)?;
                let power = self.power(b, env)?;
                self.draft.hint(&power);
                shifted.times(&power)
            }
            _ => None,
        }
    }

    /// Both operands; the first is read again in case the second changed how it is to be read.
    pub(in crate::prove::condition) fn both(
        &mut self,
        a: ExprId,
        b: ExprId,
        env: EnvId,
        read: fn(&mut Self, ExprId, EnvId) -> Option<Poly>,
    ) -> Option<(Poly, Poly)> {
        let first = read(self, a, env)?;
        let second = read(self, b, env)?;
        Some((self.draft.settled(&first)?, second))
    }

    fn convert(&mut self, expr: ExprId, a: ExprId, env: EnvId) -> Option<Poly> {
        let (to, from) = (self.ty(expr), self.ty(a));
        if to == ScalarType::Bool {
            return choices::boolean(self, expr, env);
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
            if to_width >= from_width && self.draft.shows(&value) {
                return Some(value);
            }
        }
        let residue = if to_width <= from_width { self.residue(a, env)? } else { self.value(a, env)? };
        self.fit(expr, env, residue, to)
    }

    /// An atom for a value that is not understood: equal expressions over equal leaves are equal.
    pub(in crate::prove::condition) fn unknown(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        let ty = self.ty(expr);
        ty.range()?;
        let leaves = self.leaves(expr, env);
        let uniform = leaves.as_ref().is_some_and(|leaves| leaves.iter().all(|leaf| !leaf.is_private()));
        let side = self.environments[env].side;
        let mut identity = leaves.unwrap_or_default();
        if !uniform && identity.is_empty() {
            identity.push(Poly::constant(env as i64));
        }
        self.draft.unknown_atom(Key::Value(expr), identity, (!uniform).then_some(side), ty, "?")
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

    pub(in crate::prove::condition) fn division(
        &mut self,
        expr: ExprId,
        op: BinaryOp,
        operands: (ExprId, ExprId),
        env: EnvId,
    ) -> Option<Poly> {
        if op == BinaryOp::Div
            && let Some(quotient) = self.nested(expr, operands, env)
        {
            return Some(quotient);
        }
        let (quotient, remainder) = self.quotient_and_remainder(expr, operands, env)?;
        Some(if op == BinaryOp::Div { quotient } else { remainder })
    }

    /// What `/` and `%` make of two operands, for an expression that is known by `of`.
    fn quotient_and_remainder(&mut self, of: ExprId, operands: (ExprId, ExprId), env: EnvId) -> Option<(Poly, Poly)> {
        let (x, m) = self.both(operands.0, operands.1, env, Self::value)?;
        self.draft.is_divisor(self.ty(operands.1), &m, self.environments.thread(env))?;
        self.draft.divide_somehow(of, self.environments.thread(env), &x, &m)
    }

    /// NESTED: `(x / a) / b = (x / b) / a`, whatever the signs.
    ///
    /// *Proof.* Both are `x / (a*b)`: for numbers that are not negative the floor of the floor is the floor, and
    /// C's quotient is that of the absolute values with the sign of the product. *Use.* `x / a / b`, `x / b % a`,
    /// `x % b`: only if `x` is divided by `b` first are its digits those of a chain.
    /// *Trap.* `x / a % b` is not `x % b / a`: of remainders nothing of the kind holds.
    fn nested(&mut self, expr: ExprId, (inner, b): (ExprId, ExprId), env: EnvId) -> Option<Poly> {
        let protocol = self.protocol;
        let Expr::Binary(BinaryOp::Div, x, a) = protocol.exprs[inner] else { return None };
        let remainder_by = |divisor: ExprId| {
            let is_it =
                |node: &Expr| matches!(node, Expr::Binary(BinaryOp::Rem, one, other) if (*one, *other) == (x, divisor));
            protocol.exprs.iter().find(|(_, node)| is_it(node)).map(|(id, _)| id)
        };
        let of = remainder_by(b).filter(|_| remainder_by(a).is_none())?;
        let (high, _) = self.quotient_and_remainder(of, (x, b), env)?;
        let m = self.value(a, env)?;
        self.draft.is_divisor(self.ty(a), &m, self.environments.thread(env))?;
        let high = self.draft.settled(&high)?;
        self.draft.readings.insert(Reading::Nested);
        Some(self.draft.divide_somehow(expr, self.environments.thread(env), &high, &m)?.0)
    }

    fn extremum(&mut self, expr: ExprId, op: BinaryOp, operands: (ExprId, ExprId), env: EnvId) -> Option<Poly> {
        let (a, b) = self.both(operands.0, operands.1, env, Self::value)?;
        let difference = b.minus(&a)?;
        let least = op == BinaryOp::Min;
        if self.draft.shows(&difference) {
            return Some(if least { a } else { b });
        }
        if self.draft.shows(&difference.negated()?) {
            return Some(if least { b } else { a });
        }
        let source = if least { Source::Least(a.clone(), b.clone()) } else { Source::Greatest(a.clone(), b.clone()) };
        let piece = self.draft.piece(expr, self.environments[env].side, &[&a, &b], source)?;
        if self.draft.shows(&a) && self.draft.shows(&b) {
            self.draft.set_non_negative(piece.as_atom()?);
        }
        self.draft.is_extremum(&piece, op, [a.clone(), b.clone()])?;
        let alternatives = [&a, &b].map(|value| piece.minus(value).map(|zero| vec![Literal::Zero(zero)]));
        self.draft.disjunction(alternatives.into_iter().collect::<Option<Vec<_>>>()?);
        Some(piece)
    }
}
