//! Which variables of a kernel its accesses, barriers and claims depend on.
//!
//! The index of an access, the conditions and loops around accesses, barriers and claims, and what is stated are
//! asked about; so are, backwards, the values that the variables in them are set to and the conditions around these
//! assignments. An invariant of any other variable (a hash that is computed and stored) would help no proof.
//!
//! Guarantees: none are needed. A variable that is left out gets no candidates, and fewer invariants only leave more
//! open.
//!
//! Deliberately absent: values that are stored, and elements of private arrays, which no proof follows.

use crate::calculus::{Basis, Expr, ExprId, Kernel, Space, Stmt, Test, VarId};
use rustc_hash::FxHashSet;

/// Statements nested deeper than this are not looked at.
const MAX_NESTING: usize = 64;

/// The variables that matter.
pub(super) fn variables(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut slice = Slice { kernel, behind: vec![Vec::new(); kernel.vars.len()], roots: Vec::new() };
    slice.block(&kernel.body, None, 0);
    slice.reached()
}

/// A graph of variables, and of the conditions around statements, that point at what decides them.
struct Slice<'k> {
    kernel: &'k Kernel,
    /// By node: a variable has its own index, conditions have those after.
    behind: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Slice<'_> {
    fn block(&mut self, body: &[Stmt], around: Option<usize>, depth: usize) {
        for stmt in body.iter().filter(|_| depth <= MAX_NESTING) {
            self.statement(stmt, around, depth);
        }
    }

    fn statement(&mut self, stmt: &Stmt, around: Option<usize>, depth: usize) {
        match stmt {
            Stmt::Let { var, value } => {
                let from = self.mentioned(*value);
                self.behind[var.index()].extend(from.into_iter().chain(around));
            }
            Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                if self.kernel.arrays[access.array].space != Space::Private {
                    let index = self.mentioned(access.offset);
                    self.roots.extend(index.into_iter().chain(around));
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let condition = self.condition(&[*cond], around);
                self.block(then, Some(condition), depth + 1);
                self.block(otherwise, Some(condition), depth + 1);
            }
            Stmt::For(each) => {
                let turns = self.condition(&[each.start, each.bound, each.step.by], around);
                self.behind[each.var.index()].push(turns);
                // The guard of a turn is about the variable.
                self.behind[turns].push(each.var.index());
                self.block(&each.body, Some(turns), depth + 1);
            }
            Stmt::Loop { test: Test::Before(test) | Test::After(test), body, .. } => {
                let turns = self.condition(&[*test], around);
                self.block(body, Some(turns), depth + 1);
            }
            Stmt::Sync { among, .. } => {
                let named: Vec<usize> = among.mentioned().flat_map(|cond| self.mentioned(cond)).collect();
                self.roots.extend(named.into_iter().chain(around));
            }
            Stmt::Assert { cond, .. } => {
                let claimed = self.mentioned(*cond);
                self.roots.extend(claimed.into_iter().chain(around));
            }
            // It says something of what decides anyway.
            Stmt::Assume { basis: Basis::Given, .. } => {}
            Stmt::Assume { cond, .. } => {
                let stated = self.mentioned(*cond);
                self.roots.extend(stated);
            }
            Stmt::Fence { .. } | Stmt::Havoc { .. } => {}
        }
    }

    /// A node for conditions that decide together whether what stands under them is run.
    fn condition(&mut self, parts: &[ExprId], around: Option<usize>) -> usize {
        let mut behind: Vec<usize> = parts.iter().flat_map(|&part| self.mentioned(part)).collect();
        behind.extend(around);
        self.behind.push(behind);
        self.behind.len() - 1
    }

    fn mentioned(&self, root: ExprId) -> Vec<usize> {
        let mut variables = Vec::new();
        self.kernel.exprs.visit(root, |_, node| {
            if let Expr::Var(var) = node {
                variables.push(var.index());
            }
        });
        variables
    }

    fn reached(mut self) -> FxHashSet<VarId> {
        let mut reached = FxHashSet::default();
        while let Some(node) = self.roots.pop() {
            if reached.insert(node) {
                self.roots.append(&mut self.behind[node]);
            }
        }
        self.kernel.vars.handles().filter(|var| reached.contains(&var.index())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text::parse;

    /// The names of the variables that matter in a body.
    fn matter(body: &str) -> String {
        let head = "kernel k(n: i32) { global y: element 4 private p: element 4 \
                    var a: i32 var b: i32 var c: i32 var d: i32 var i: i32 var v: i32";
        let kernel = parse(&format!("{head} {body} }}")).unwrap_or_else(|error| panic!("{error}"));
        let mut names: Vec<String> = variables(&kernel).into_iter().map(|var| kernel.vars[var].name.clone()).collect();
        names.sort_unstable();
        names.concat()
    }

    #[test]
    fn what_is_only_computed_and_stored_does_not_matter() {
        assert_eq!(matter("let a = 1 let b = a + n write y[convert<i64>(c) * 4; 4] := b @0"), "c");
        assert_eq!(matter("let a = b let v = read y[convert<i64>(a) * 4; 4] @0 let c = v"), "ab");
        assert_eq!(matter("let a = 1 let v = read p[convert<i64>(a) * 4; 4] @0"), "");
        assert_eq!(matter("let v = atomic add y[convert<i64>(d) * 4; 4](a) relaxed grid @0"), "d");
    }

    #[test]
    fn conditions_around_accesses_and_around_what_they_use_matter() {
        let written = "write y[convert<i64>(i) * 4; 4] @0";
        assert_eq!(matter(&format!("if a < 1 {{ if b < 2 {{ {written} }} }} if c < 3 {{ let d = 1 }}")), "abi");
        assert_eq!(matter(&format!("if a < 1 {{ }} else {{ let i = b }} {written}")), "abi");
        assert_eq!(matter(&format!("for i = a while i < b step + c @1 {{ }} {written}")), "abci");
        assert_eq!(matter(&format!("loop while a < b @1 {{ let i = i + 1 }} {written} let c = d")), "abi");
        assert_eq!(matter(&format!("loop @1 {{ {written} let v = a }} while d < 1")), "di");
    }

    #[test]
    fn barriers_claims_and_what_is_stated_matter() {
        assert_eq!(matter("if a < 1 { sync block shared global @0 } sync block shared global @1 let b = c"), "a");
        assert_eq!(matter("if a < 1 { assert b < 2 @0 } let c = d"), "ab");
        assert_eq!(matter("if a < 1 { assume b < 2 } let c = d"), "b");
        assert_eq!(matter("let a = b havoc b uninitialized"), "");
    }

    #[test]
    fn what_is_nested_too_deeply_is_passed_over() {
        let nested = |depth: usize| {
            let (open, close) = ("if a < 1 { ".repeat(depth), " }".repeat(depth));
            matter(&format!("{open} write y[convert<i64>(i) * 4; 4] @0 {close}"))
        };
        assert_eq!(nested(MAX_NESTING), "ai");
        assert_eq!(nested(MAX_NESTING + 1), "");
    }
}
