//! Terms as SMT-LIB 2 text.
//!
//! Every term that is not a leaf and is used more than once, or is large, gets a `define-fun` of its own, so
//! that text stays linear in the number of terms; smaller ones are written where they are used. Names of the
//! user are kept for people who read a dump, made unique by the handle's number.

use super::terms::{Op, Sort, Term, TermId, Terms, operands};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Text above this length is given a name.
const INLINE: usize = 120;

/// What has been said to a solver: symbols declared and terms defined.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    names: FxHashMap<TermId, String>,
    functions: FxHashSet<usize>,
}

impl Said {
    /// The name of a term; literals need none.
    pub(super) fn name(&self, terms: &Terms, id: TermId) -> Option<String> {
        let literal = matches!(terms.get(id), Term::Bool(_) | Term::Int(_) | Term::Bits(..));
        if literal {
            Some(composed(terms, terms.get(id), &FxHashMap::default(), self))
        } else {
            self.names.get(&id).cloned()
        }
    }

    /// Forgets what was said after `mark`.
    pub(super) fn forget(&mut self, since: &[TermId], functions: &[usize]) {
        for term in since {
            self.names.remove(term);
        }
        for function in functions {
            self.functions.remove(function);
        }
    }
}

/// Declarations and definitions that `roots` need and that have not been `said`, and what they introduce.
pub(super) struct Written {
    /// Declarations and definitions.
    pub(super) prelude: String,
    /// The text of each root.
    pub(super) roots: Vec<String>,
    /// Terms that have a name from now on.
    pub(super) named: Vec<TermId>,
    /// Functions that are declared from now on.
    pub(super) functions: Vec<usize>,
}

/// Writes `roots`; what gets a name is added to `said`.
pub(super) fn write(terms: &Terms, roots: &[TermId], said: &mut Said) -> Written {
    let order = reachable(terms, roots, said);
    let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
    for &id in &order {
        for &operand in operands(terms.get(id)) {
            *uses.entry(operand).or_default() += 1;
        }
    }
    let mut written = Written { prelude: String::new(), roots: Vec::new(), named: Vec::new(), functions: Vec::new() };
    let mut texts: FxHashMap<TermId, String> = FxHashMap::default();
    for &id in &order {
        let term = terms.get(id);
        if let Term::Call(function, _) = term
            && said.functions.insert(function.index())
        {
            declare_function(terms, function.index(), *function, &mut written);
        }
        if let Term::Symbol(symbol) = term {
            let symbol = terms.symbol_of(*symbol);
            let name = quoted(&symbol.name, id.index());
            let _ = writeln!(written.prelude, "(declare-const {name} {})", sort(symbol.sort));
            said.names.insert(id, name);
            written.named.push(id);
            continue;
        }
        let text = composed(terms, term, &texts, said);
        let leaf = operands(term).is_empty();
        if !leaf && (text.len() > INLINE || uses.get(&id).is_some_and(|&uses| uses > 1)) {
            let name = format!("t!{}", id.index());
            let _ = writeln!(written.prelude, "(define-fun {name} () {} {text})", sort(terms.sort(id)));
            said.names.insert(id, name);
            written.named.push(id);
        } else {
            texts.insert(id, text);
        }
    }
    written.roots = roots.iter().map(|root| text_of(*root, &texts, said)).collect();
    written
}

/// What `roots` use that has no name yet, operands first.
fn reachable(terms: &Terms, roots: &[TermId], said: &Said) -> Vec<TermId> {
    let mut seen = FxHashSet::default();
    let mut stack: Vec<TermId> = roots.to_vec();
    while let Some(id) = stack.pop() {
        if !said.names.contains_key(&id) && seen.insert(id) {
            stack.extend(operands(terms.get(id)));
        }
    }
    let mut order: Vec<TermId> = seen.into_iter().collect();
    order.sort_unstable();
    order
}

fn text_of(id: TermId, texts: &FxHashMap<TermId, String>, said: &Said) -> String {
    texts.get(&id).or_else(|| said.names.get(&id)).cloned().unwrap_or_default()
}

fn composed(terms: &Terms, term: &Term, texts: &FxHashMap<TermId, String>, said: &Said) -> String {
    let applied = |head: &str, arguments: &[TermId]| {
        let mut text = format!("({head}");
        for &argument in arguments {
            text.push(' ');
            text.push_str(&text_of(argument, texts, said));
        }
        text.push(')');
        text
    };
    match term {
        Term::Symbol(_) => String::new(),
        Term::Bool(value) => value.to_string(),
        Term::Int(value) if *value < 0 => format!("(- {})", value.unsigned_abs()),
        Term::Int(value) => value.to_string(),
        Term::Bits(value, width) => format!("(_ bv{value} {width})"),
        Term::Apply(op, arguments) => applied(&operator(*op), arguments),
        Term::Call(function, arguments) => {
            applied(&quoted(&terms.function_of(*function).name, function.index()), arguments)
        }
    }
}

fn declare_function(terms: &Terms, index: usize, id: super::FunctionId, written: &mut Written) {
    let function = terms.function_of(id);
    let arguments: Vec<String> = function.arguments.iter().map(|&argument| sort(argument)).collect();
    let name = quoted(&function.name, index);
    let _ = writeln!(written.prelude, "(declare-fun {name} ({}) {})", arguments.join(" "), sort(function.result));
    written.functions.push(index);
}

/// A quoted symbol: the user's name with what SMT-LIB forbids in it replaced, and a number.
fn quoted(name: &str, number: usize) -> String {
    let safe = |c: char| if (' '..='~').contains(&c) && c != '|' && c != '\\' { c } else { '_' };
    let name: String = name.chars().take(60).map(safe).collect();
    format!("|{name}!{number}|")
}

fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Int => "Int".to_owned(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
    }
}

fn operator(op: Op) -> String {
    let plain = match op {
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Ite => "ite",
        Op::Eq => "=",
        Op::Add => "+",
        Op::Sub | Op::Neg => "-",
        Op::Mul => "*",
        Op::Div => "div",
        Op::Mod => "mod",
        Op::Le => "<=",
        Op::Lt => "<",
        Op::BvNot => "bvnot",
        Op::BvNeg => "bvneg",
        Op::BvAnd => "bvand",
        Op::BvOr => "bvor",
        Op::BvXor => "bvxor",
        Op::BvAdd => "bvadd",
        Op::BvSub => "bvsub",
        Op::BvMul => "bvmul",
        Op::BvUdiv => "bvudiv",
        Op::BvUrem => "bvurem",
        Op::BvSdiv => "bvsdiv",
        Op::BvSrem => "bvsrem",
        Op::BvShl => "bvshl",
        Op::BvLshr => "bvlshr",
        Op::BvAshr => "bvashr",
        Op::BvUle => "bvule",
        Op::BvUlt => "bvult",
        Op::BvSle => "bvsle",
        Op::BvSlt => "bvslt",
        Op::Low(width) => return format!("(_ extract {} 0)", width - 1),
        Op::ZeroExtend(by) => return format!("(_ zero_extend {by})"),
        Op::SignExtend(by) => return format!("(_ sign_extend {by})"),
    };
    plain.to_owned()
}
