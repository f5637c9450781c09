//! Terms and sorts, hash-consed, with the foldings that keep generated text short.
//!
//! A constructor takes terms of the same table whose sorts agree (violations panic in debug builds: they are
//! bugs of the caller). Operands stand before what uses them, so passes need no recursion.

use crate::arena::{Arena, Handle};
use rustc_hash::{FxHashMap, FxHashSet};

/// Handle of a term.
pub type TermId = Handle<Term>;
/// Handle of a symbol.
pub type SymbolId = Handle<Symbol>;
/// Handle of an uninterpreted function.
pub type FunctionId = Handle<Function>;

/// The sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Mathematical integers.
    Int,
    /// Bit-vectors of this width, at most 128.
    Bits(u32),
}

/// A free constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, for people; it need not be unique.
    pub name: String,
    /// Its sort.
    pub sort: Sort,
}

/// An uninterpreted function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, for people.
    pub name: String,
    /// Sorts of its arguments.
    pub arguments: Vec<Sort>,
    /// Sort of its result.
    pub result: Sort,
}

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// A free constant.
    Symbol(SymbolId),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A bit-vector: value and width.
    Bits(u128, u32),
    /// An operator.
    Apply(Op, Vec<TermId>),
    /// An uninterpreted function.
    Call(FunctionId, Vec<TermId>),
}

/// Operators of SMT-LIB's theories `Core`, `Ints` and `FixedSizeBitVectors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the SMT-LIB operator that its name says")]
pub enum Op {
    Not,
    And,
    Or,
    Ite,
    Eq,
    Add,
    Sub,
    Mul,
    Neg,
    /// Division of integers, rounded so that the remainder is not negative.
    Div,
    /// The remainder of that.
    Mod,
    Le,
    Lt,
    BvNot,
    BvNeg,
    BvAnd,
    BvOr,
    BvXor,
    BvAdd,
    BvSub,
    BvMul,
    BvUdiv,
    BvUrem,
    BvSdiv,
    BvSrem,
    BvShl,
    BvLshr,
    BvAshr,
    BvUle,
    BvUlt,
    BvSle,
    BvSlt,
    /// The lowest bits, so many.
    Low(u32),
    /// Widens by so many zeros.
    ZeroExtend(u32),
    /// Widens by so many copies of the sign.
    SignExtend(u32),
}

/// A table of terms in which equal terms have equal handles.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Arena<Term>,
    sorts: Vec<Sort>,
    known: FxHashMap<Term, TermId>,
    symbols: Arena<Symbol>,
    functions: Arena<Function>,
}

impl Terms {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The term behind a handle.
    pub fn get(&self, id: TermId) -> &Term {
        &self.nodes[id]
    }

    /// The sort of a term.
    pub fn sort(&self, id: TermId) -> Sort {
        self.sorts[id.index()]
    }

    /// The symbol behind a handle.
    pub fn symbol_of(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id]
    }

    /// The function behind a handle.
    pub fn function_of(&self, id: FunctionId) -> &Function {
        &self.functions[id]
    }

    fn intern(&mut self, term: Term, sort: Sort) -> TermId {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let id = self.nodes.push(term.clone());
        self.sorts.push(sort);
        self.known.insert(term, id);
        id
    }

    /// A new free constant, different from all others.
    pub fn symbol(&mut self, name: impl Into<String>, sort: Sort) -> TermId {
        let symbol = self.symbols.push(Symbol { name: name.into(), sort });
        self.intern(Term::Symbol(symbol), sort)
    }

    /// A new uninterpreted function.
    pub fn function(&mut self, name: impl Into<String>, arguments: Vec<Sort>, result: Sort) -> FunctionId {
        self.functions.push(Function { name: name.into(), arguments, result })
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> TermId {
        self.intern(Term::Bool(value), Sort::Bool)
    }

    /// An integer.
    pub fn int(&mut self, value: i128) -> TermId {
        self.intern(Term::Int(value), Sort::Int)
    }

    /// A bit-vector that holds the low `width` bits of `value`.
    pub fn bits(&mut self, value: i128, width: u32) -> TermId {
        let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        self.intern(Term::Bits(value as u128 & mask, width), Sort::Bits(width))
    }

    /// The truth value that a term is, if it is a literal one.
    pub fn as_bool(&self, id: TermId) -> Option<bool> {
        match self.nodes[id] {
            Term::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer that a term is, if it is a literal one.
    pub fn as_int(&self, id: TermId) -> Option<i128> {
        match self.nodes[id] {
            Term::Int(value) => Some(value),
            _ => None,
        }
    }

    /// How many products of bit-vectors there are in terms of which neither side is a literal: what a solver has to spell out
    /// bit by bit.
    pub fn products(&self, roots: &[TermId]) -> usize {
        let (mut open, mut seen) = (roots.to_vec(), FxHashSet::default());
        let mut products = 0;
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &self.nodes[id] {
                Term::Apply(op, parts) => {
                    let is_open = |part: &TermId| !matches!(self.nodes[*part], Term::Bits(..));
                    products += usize::from(*op == Op::BvMul && parts.iter().all(is_open));
                    open.extend(parts);
                }
                Term::Call(_, parts) => open.extend(parts),
                Term::Symbol(_) | Term::Bool(_) | Term::Int(_) | Term::Bits(..) => {}
            }
        }
        products
    }

    /// `function(arguments…)`
    pub fn call(&mut self, function: FunctionId, arguments: Vec<TermId>) -> TermId {
        let wanted = &self.functions[function];
        debug_assert!(
            arguments.len() == wanted.arguments.len()
                && arguments.iter().zip(&wanted.arguments).all(|(&argument, &sort)| self.sort(argument) == sort),
            "arguments of {}",
            wanted.name
        );
        let result = wanted.result;
        self.intern(Term::Call(function, arguments), result)
    }

    /// `!a`
    pub fn not(&mut self, a: TermId) -> TermId {
        match &self.nodes[a] {
            Term::Bool(value) => {
                let value = !*value;
                self.bool(value)
            }
            Term::Apply(Op::Not, inner) => inner[0],
            _ => self.intern(Term::Apply(Op::Not, vec![a]), Sort::Bool),
        }
    }

    /// The conjunction.
    pub fn and(&mut self, parts: Vec<TermId>) -> TermId {
        self.junction(Op::And, parts)
    }

    /// The disjunction.
    pub fn or(&mut self, parts: Vec<TermId>) -> TermId {
        self.junction(Op::Or, parts)
    }

    fn junction(&mut self, op: Op, mut parts: Vec<TermId>) -> TermId {
        let neutral = op == Op::And;
        if parts.iter().any(|&part| self.as_bool(part) == Some(!neutral)) {
            return self.bool(!neutral);
        }
        parts.retain(|&part| self.as_bool(part).is_none());
        let mut seen = rustc_hash::FxHashSet::default();
        parts.retain(|&part| seen.insert(part));
        match parts.len() {
            0 => self.bool(neutral),
            1 => parts[0],
            _ => self.intern(Term::Apply(op, parts), Sort::Bool),
        }
    }

    /// `c ? a : b`
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b));
        match self.as_bool(c) {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => {
                let sort = self.sort(a);
                self.intern(Term::Apply(Op::Ite, vec![c, a, b]), sort)
            }
        }
    }

    /// `a = b`
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        debug_assert_eq!(self.sort(a), self.sort(b));
        let literal = |term: &Term| matches!(term, Term::Bool(_) | Term::Int(_) | Term::Bits(..));
        if a == b {
            return self.bool(true);
        }
        if literal(&self.nodes[a]) && literal(&self.nodes[b]) {
            return self.bool(false);
        }
        self.intern(Term::Apply(Op::Eq, vec![a, b]), Sort::Bool)
    }

    /// An operator of integers or bit-vectors on its operands; [`Op::Low`] and extensions take one.
    pub fn apply(&mut self, op: Op, operands: Vec<TermId>) -> TermId {
        if let Some(folded) = self.fold(op, &operands) {
            return folded;
        }
        let sort = match op {
            Op::Le | Op::Lt | Op::BvUle | Op::BvUlt | Op::BvSle | Op::BvSlt => Sort::Bool,
            Op::Not => return self.not(operands[0]),
            Op::And | Op::Or => return self.junction(op, operands),
            Op::Eq => return self.eq(operands[0], operands[1]),
            Op::Ite => return self.ite(operands[0], operands[1], operands[2]),
            Op::Low(width) => Sort::Bits(width),
            Op::ZeroExtend(by) | Op::SignExtend(by) => match self.sort(operands[0]) {
                Sort::Bits(width) => Sort::Bits(width + by),
                other => other,
            },
            _ => self.sort(operands[0]),
        };
        debug_assert!(
            matches!(op, Op::Low(_) | Op::ZeroExtend(_) | Op::SignExtend(_))
                || operands.iter().all(|&operand| self.sort(operand) == self.sort(operands[0])),
            "operands of {op:?}"
        );
        self.intern(Term::Apply(op, operands), sort)
    }

    /// Literal operands of integer operators, and neutral ones.
    fn fold(&mut self, op: Op, operands: &[TermId]) -> Option<TermId> {
        let number = |at: usize| operands.get(at).and_then(|&operand| self.as_int(operand));
        let (a, b) = (number(0), number(1));
        match (op, a, b) {
            (Op::Neg, Some(a), _) => Some(self.int(a.checked_neg()?)),
            (Op::Add, Some(a), Some(b)) if operands.len() == 2 => Some(self.int(a.checked_add(b)?)),
            (Op::Sub, Some(a), Some(b)) => Some(self.int(a.checked_sub(b)?)),
            (Op::Mul, Some(a), Some(b)) if operands.len() == 2 => Some(self.int(a.checked_mul(b)?)),
            (Op::Le, Some(a), Some(b)) => Some(self.bool(a <= b)),
            (Op::Lt, Some(a), Some(b)) => Some(self.bool(a < b)),
            (Op::Div, Some(a), Some(b)) if b > 0 => Some(self.int(a.div_euclid(b))),
            (Op::Mod, Some(a), Some(b)) if b > 0 => Some(self.int(a.rem_euclid(b))),
            (Op::Add, Some(0), None) if operands.len() == 2 => Some(operands[1]),
            (Op::Add | Op::Sub, None, Some(0)) if operands.len() == 2 => Some(operands[0]),
            (Op::Mul, Some(1), None) if operands.len() == 2 => Some(operands[1]),
            (Op::Mul, None, Some(1)) if operands.len() == 2 => Some(operands[0]),
            _ => None,
        }
    }
}

/// The direct operands of a term.
pub(super) fn operands(term: &Term) -> &[TermId] {
    match term {
        Term::Apply(_, operands) | Term::Call(_, operands) => operands,
        _ => &[],
    }
}
