//! Bounds of loops that are read again in each turn from memory that nobody writes, taken as what they were at the first.
//!
//! `for (int j = row[r]; j < row[r + 1]; j++)` reads its bound before every test, so that the walk makes a loop of it whose
//! number of turns no formula gives. Where all turns read the same place and nobody writes the array, they get the same
//! number, and the loop is a counted one.
//!
//! *Premises.* The array is one that the kernel is given, and neither the kernel nor anything in it that is not modelled
//! writes it. The reads before the first test and those at the end of a turn are of the same places, which no variable decides
//! that the loop changes. The two tests are the same but for what was read; they compare the loop variable, in its own
//! type, with a bound that the loop does not change; the variable moves by a step that stays, and nothing else sets it.
//! *Gives.* The counted loop with the bound that was read first. *Proof.* By induction over the turns, each read at the
//! end of a turn gives what the read before the loop gave, so the tests agree. The reads at the ends of turns stay, so that
//! runs notice them.
//!
//! That nobody else writes memory while the kernel runs is taken for granted, as wherever two threads read one place,
//! `volatile` or not.
//!
//! Deliberately absent: bounds that pointers of other names may write (arrays of two parameters are taken as disjoint, which
//! verdicts say), loops with `break`, and steps that wrap on purpose.

use crate::arena::Arena;
use crate::calculus::statements::{assigned, each_expr, every, replaced, written};
use crate::calculus::{
    Access, ArrayId, BinaryOp, Expr, ExprId, Exprs, For, Kernel, ScalarType, Step, Stmt, Test, VarId, Variable, nesting,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Statements nested deeper than this are left alone.
const MOST_NESTING: usize = 100;

/// Counts the turns of loops whose bounds stay.
pub(super) fn keep(kernel: &mut Kernel) {
    let mut tests_memory = false;
    every(&kernel.body, |stmt| tests_memory |= matches!(stmt, Stmt::Loop { test: Test::Before(_), .. }));
    if !tests_memory || nesting(&kernel.body) > MOST_NESTING {
        return;
    }
    let written = written(&kernel.body);
    let stays = |array: ArrayId| {
        let reached = |arrays: &Option<Vec<ArrayId>>| arrays.as_ref().is_none_or(|arrays| arrays.contains(&array));
        kernel.arrays[array].is_given()
            && !written.contains(&array)
            && !kernel.unsupported.iter().any(|entry| reached(&entry.arrays))
    };
    let staying: FxHashSet<ArrayId> = kernel.arrays.handles().filter(|&array| stays(array)).collect();
    let mut mentioned: FxHashMap<VarId, usize> = FxHashMap::default();
    each_expr(&kernel.body, &mut |expr| {
        kernel.exprs.visit(expr, |_, node| {
            if let Expr::Var(var) = node {
                *mentioned.entry(*var).or_default() += 1;
            }
        });
    });
    let body = std::mem::take(&mut kernel.body);
    let mut keeping = Keeping { exprs: &mut kernel.exprs, vars: &kernel.vars, staying: &staying, mentioned };
    kernel.body = keeping.block(body);
}

struct Keeping<'k> {
    exprs: &'k mut Exprs,
    vars: &'k Arena<Variable>,
    staying: &'k FxHashSet<ArrayId>,
    /// In how many expressions each variable stands.
    mentioned: FxHashMap<VarId, usize>,
}

/// The last statements of a list, which end in a test.
struct Ending {
    /// What is read for the test, in order.
    reads: Vec<(VarId, Access)>,
    test: ExprId,
}

impl Keeping<'_> {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        replaced(body, |mut stmt, done| {
            match &mut stmt {
                Stmt::If { then, otherwise, .. } => {
                    *then = self.block(std::mem::take(then));
                    *otherwise = self.block(std::mem::take(otherwise));
                }
                Stmt::For(counted) => counted.body = self.block(std::mem::take(&mut counted.body)),
                Stmt::Loop { body, .. } => *body = self.block(std::mem::take(body)),
                _ => {}
            }
            match self.counted(&stmt, done) {
                Some(counted) => {
                    // The test is the loop's own now.
                    done.pop();
                    done.push(Stmt::For(Box::new(counted)));
                }
                None => done.push(stmt),
            }
        })
    }

    /// The counted form of a loop behind these statements, if it has one.
    fn counted(&mut self, stmt: &Stmt, before: &[Stmt]) -> Option<For> {
        let Stmt::Loop { test: Test::Before(test), body, site } = stmt else { return None };
        let Expr::Var(flag) = self.exprs[*test] else { return None };
        // The counted loop does without the flag: nothing else may ask for it.
        if self.mentioned.get(&flag) != Some(&1) {
            return None;
        }
        let first = ending(before, flag)?;
        let again = ending(body, flag)?;
        let kept = again.reads.len();
        if kept == 0 || first.reads.len() < kept {
            return None;
        }
        let first_reads = &first.reads[first.reads.len() - kept..];
        let (turn, tail) = body.split_at(body.len() - 1 - kept);
        let (&Stmt::Let { var, value: next }, turn) = turn.split_last()? else { return None };

        let mut changed: FxHashSet<VarId> = assigned(turn).into_iter().collect();
        if changed.contains(&var) || changed.contains(&flag) {
            return None;
        }
        changed.insert(var);
        let mut same: FxHashMap<VarId, VarId> = FxHashMap::default();
        for ((one, place), (other, place_again)) in first_reads.iter().zip(&again.reads) {
            let is_same = one != other
                && place.array == place_again.array
                && place.bytes == place_again.bytes
                && self.staying.contains(&place.array)
                && !changed.contains(one)
                && self.renamed(place_again.offset, &same) == place.offset
                && !self.mentions(place.offset, &changed);
            if !is_same || self.vars[*one].ty != self.vars[*other].ty {
                return None;
            }
            same.insert(*other, *one);
        }
        if self.renamed(again.test, &same) != first.test {
            return None;
        }
        // What was read again is nothing but the test's: a turn would see that of the turn before.
        let own: FxHashSet<VarId> = same.keys().copied().collect();
        if self.uses(turn, &own) || self.mentions(next, &own) {
            return None;
        }
        let (cmp, bound) = self.compared(first.test, var)?;
        let step = self.step(var, next)?;
        let is_fixed = !self.mentions(bound, &changed) && !self.mentions(step.by, &changed);
        let counted =
            For { var, start: self.exprs.var(var, self.vars[var].ty), cmp, bound, step, body: Vec::new(), site: *site };
        let reads = &tail[..kept];
        is_fixed.then(|| For { body: turn.iter().chain(reads).cloned().collect(), ..counted })
    }

    /// How the loop variable is compared in its own type, and with what.
    fn compared(&self, test: ExprId, var: VarId) -> Option<(BinaryOp, ExprId)> {
        let Expr::Binary(op, left, right) = self.exprs[test] else { return None };
        let is_var = |expr: ExprId| matches!(self.exprs[expr], Expr::Var(found) if found == var);
        let (cmp, bound) = if is_var(left) { (op, right) } else { (op.mirrored().filter(|_| is_var(right))?, left) };
        matches!(cmp, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge).then_some((cmp, bound))
    }

    /// How the loop variable moves, in its own type.
    fn step(&self, var: VarId, next: ExprId) -> Option<Step> {
        let ScalarType::Int { width: 32 | 64, .. } = self.vars[var].ty else { return None };
        let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, by) = self.exprs[next] else { return None };
        let is_var = matches!(self.exprs[left], Expr::Var(found) if found == var);
        is_var.then_some(Step { op, by })
    }

    fn renamed(&mut self, expr: ExprId, same: &FxHashMap<VarId, VarId>) -> ExprId {
        let vars: FxHashMap<VarId, ExprId> =
            same.iter().map(|(&from, &to)| (from, self.exprs.var(to, self.vars[to].ty))).collect();
        self.exprs.substitute(expr, |leaf| match leaf {
            Expr::Var(var) => vars.get(var).copied(),
            _ => None,
        })
    }

    fn mentions(&self, expr: ExprId, vars: &FxHashSet<VarId>) -> bool {
        let mut found = false;
        self.exprs.visit(expr, |_, node| found |= matches!(node, Expr::Var(var) if vars.contains(var)));
        found
    }

    fn uses(&self, body: &[Stmt], vars: &FxHashSet<VarId>) -> bool {
        let mut found = false;
        each_expr(body, &mut |expr| found |= self.mentions(expr, vars));
        found
    }
}

/// What ends a list of statements: reads, and behind them the test that a flag takes.
fn ending(body: &[Stmt], flag: VarId) -> Option<Ending> {
    let (Stmt::Let { var, value }, before) = body.split_last()? else { return None };
    let read = |stmt: &Stmt| match stmt {
        Stmt::Read { var, access } => Some((*var, access.clone())),
        _ => None,
    };
    let mut reads: Vec<_> = before.iter().rev().map_while(read).collect();
    reads.reverse();
    (*var == flag).then_some(Ending { reads, test: *value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text::parse;

    /// Whether the loop becomes a counted one, with so much before its step, behind it, and behind the loop.
    fn is_counted(turn: &str, again: &str, behind: &str) -> bool {
        let text = format!(
            "kernel k(n: i32) {{ global param a: element 4 global param y: element 4 var i: i32 var first: i32 var again: i32
             var test: bool
             let i = 0 let first = read a[0; 4] @0 let test = i < first
             loop while test @4 {{ {turn} let i = i + 1 {again} }} {behind} }}"
        );
        let mut kernel = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        keep(&mut kernel);
        kernel.body.iter().any(|stmt| matches!(stmt, Stmt::For(_)))
    }

    #[test]
    fn a_bound_is_kept_if_nothing_moves_it_and_nobody_asks_for_its_test() {
        let write = "write y[convert<i64>(i) * 4; 4] := i @1";
        let again = "let again = read a[0; 4] @2 let test = i < again";
        assert!(is_counted(write, again, ""));
        // Another place, another test, a variable that is read into itself.
        assert!(!is_counted(write, "let again = read a[4; 4] @2 let test = i < again", ""));
        assert!(!is_counted(write, "let again = read a[0; 4] @2 let test = i <= again", ""));
        assert!(!is_counted(write, "let first = read a[0; 4] @2 let test = i < first", ""));
        // The array is written; the variable is moved; what was read again is used in the turn, the flag behind the loop.
        assert!(!is_counted("write a[convert<i64>(i) * 4; 4] := i @1", again, ""));
        assert!(!is_counted("let i = i + 1", again, ""));
        assert!(!is_counted("write y[convert<i64>(again) * 4; 4] := i @1", again, ""));
        assert!(!is_counted(write, again, "if test { write y[0; 4] := 1 @3 }"));
    }
}
