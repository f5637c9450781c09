//! Unrolling: loops around barriers whose turns can be counted, because constants alone decide them, turn by turn.
//!
//! `for (d = 256; d > 0; d >>= 1) { …; offset *= 2; }` becomes eight copies of its body. What is found of loops by
//! induction forgets how its variables relate, which turn is the last, and that there is one at all; copies do not.
//!
//! Guarantees: the kernel does what it did, access by access, and every copy has the span of what it copies. Sites of
//! the first copy are those of the loop's body; the others are new, so findings about them name no site of the original.
//! A loop that takes too many turns stays a loop, and so does everything in kernels that grow too much.
//!
//! Deliberately absent: loops without barriers, which induction serves better, and partial unrolling.

use crate::calculus::{Access, Expr, ExprId, For, Kernel, SiteId, Stmt, Test, VarId, nesting, statements};
use rustc_hash::FxHashMap;

/// Turns of a loop, at most.
const MOST_TURNS: usize = 16;
/// New sites, at most.
const MOST_SITES: usize = 400;
/// Statements that are looked at, at most: a loop that stays one is looked at twice.
const MOST_STATEMENTS: usize = 20_000;
/// Statements nested deeper than this are left alone.
const MOST_NESTING: usize = 100;

/// The kernel with such loops unrolled, if it has any.
pub fn unrolled(kernel: &Kernel) -> Option<Kernel> {
    if nesting(&kernel.body) > MOST_NESTING {
        return None;
    }
    let mut unroller = Unroller {
        sites: kernel.sites.len(),
        kernel: kernel.clone(),
        known: FxHashMap::default(),
        copying: Copying::First,
        statements: 0,
        found: false,
    };
    let body = unroller.block(&kernel.body)?;
    (unroller.found).then_some(Kernel { body, ..unroller.kernel })
}

/// Whether sites of what is being copied are taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copying {
    /// They are.
    First,
    /// There is a copy already.
    Again,
}

struct Unroller {
    kernel: Kernel,
    /// Constants that variables hold here.
    known: FxHashMap<VarId, ExprId>,
    copying: Copying,
    /// Sites of the original.
    sites: usize,
    /// Statements that were looked at.
    statements: usize,
    found: bool,
}

/// Where to go back to from a loop that stays one.
struct Head {
    known: FxHashMap<VarId, ExprId>,
    copying: Copying,
    /// Statements before the loop.
    statements: usize,
}

impl Unroller {
    /// The statements with their loops unrolled; `None` if the kernel grows too much.
    fn block(&mut self, body: &[Stmt]) -> Option<Vec<Stmt>> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            self.statements += 1;
            if self.statements > MOST_STATEMENTS {
                return None;
            }
            self.statement(statement, &mut out)?;
        }
        Some(out)
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        match statement {
            Stmt::Let { var, value } => {
                match self.constant(*value) {
                    Some(value) => self.known.insert(*var, value),
                    None => self.known.remove(var),
                };
                out.push(statement.clone());
            }
            Stmt::Read { var, access } => {
                self.known.remove(var);
                out.push(Stmt::Read { var: *var, access: self.access(*access)? });
            }
            Stmt::Write { access, value } => {
                out.push(Stmt::Write { access: self.access(*access)?, value: *value });
            }
            Stmt::Atomic { var, access, op, operands, order, scope } => {
                var.iter().for_each(|var| _ = self.known.remove(var));
                let (access, operands) = (self.access(*access)?, operands.clone());
                out.push(Stmt::Atomic { var: *var, access, op: *op, operands, order: *order, scope: *scope });
            }
            Stmt::Havoc { var, .. } => {
                self.known.remove(var);
                out.push(statement.clone());
            }
            Stmt::If { cond, then, otherwise } => {
                let before = self.known.clone();
                let then = self.block(then)?;
                let after = std::mem::replace(&mut self.known, before);
                let otherwise = self.block(otherwise)?;
                self.known.retain(|var, value| after.get(var) == Some(value));
                out.push(Stmt::If { cond: *cond, then, otherwise });
            }
            Stmt::For(each) => self.counted(each, out)?,
            Stmt::Loop { test, body, site } => self.tested(*test, body, *site, out)?,
            Stmt::Sync { scope, memory, among, site } => {
                out.push(Stmt::Sync { scope: *scope, memory: *memory, among: *among, site: self.site(*site)? });
            }
            Stmt::Fence { order, scope, memory, site } => {
                let (order, scope, memory, site) = (*order, *scope, *memory, self.site(*site)?);
                out.push(Stmt::Fence { order, scope, memory, site });
            }
            Stmt::Assume { .. } => out.push(statement.clone()),
            Stmt::Assert { cond, claimed, site } => {
                out.push(Stmt::Assert { cond: *cond, claimed: *claimed, site: self.site(*site)? });
            }
        }
        Some(())
    }

    fn counted(&mut self, each: &For, out: &mut Vec<Stmt>) -> Option<()> {
        let head = Head { known: self.known.clone(), copying: self.copying, statements: out.len() };
        if has_sync(&each.body)
            && let Some(start) = self.constant(each.start)
        {
            out.push(Stmt::Let { var: each.var, value: start });
            self.known.insert(each.var, start);
            for _ in 0..=MOST_TURNS {
                let value = self.known[&each.var];
                let bound = self.constant(each.bound);
                let Some(bound) = bound else { break };
                let test = self.kernel.exprs.binary(each.cmp, value, bound);
                match self.kernel.exprs.as_int(test) {
                    Some(0) => return self.leave(head.copying),
                    Some(_) => {}
                    None => break,
                }
                out.extend(self.block(&each.body)?);
                self.copying = Copying::Again;
                let Some(by) = self.constant(each.step.by) else { break };
                let next = self.kernel.exprs.binary(each.step.op, value, by);
                if self.kernel.exprs.as_int(next).is_none() {
                    break;
                }
                out.push(Stmt::Let { var: each.var, value: next });
                self.known.insert(each.var, next);
            }
        }
        self.back_to(head, out);
        self.forget(statements::assigned(&each.body).into_iter().chain([each.var]));
        let body = self.block(&each.body)?;
        let site = self.site(each.site)?;
        out.push(Stmt::For(Box::new(For { body, site, ..each.clone() })));
        self.forget(statements::assigned(&each.body).into_iter().chain([each.var]));
        Some(())
    }

    fn tested(&mut self, test: Test, body: &[Stmt], site: SiteId, out: &mut Vec<Stmt>) -> Option<()> {
        let head = Head { known: self.known.clone(), copying: self.copying, statements: out.len() };
        if has_sync(body) {
            for turn in 0..=MOST_TURNS {
                let goes_on = match test {
                    Test::After(_) if turn == 0 => Some(true),
                    Test::Before(cond) | Test::After(cond) => {
                        self.constant(cond).and_then(|cond| self.kernel.exprs.as_int(cond)).map(|cond| cond != 0)
                    }
                };
                match goes_on {
                    Some(false) => return self.leave(head.copying),
                    Some(true) => {}
                    None => break,
                }
                out.extend(self.block(body)?);
                self.copying = Copying::Again;
            }
        }
        self.back_to(head, out);
        self.forget(statements::assigned(body));
        let inner = self.block(body)?;
        let site = self.site(site)?;
        out.push(Stmt::Loop { test, body: inner, site });
        self.forget(statements::assigned(body));
        Some(())
    }

    /// A loop is unrolled.
    fn leave(&mut self, copying: Copying) -> Option<()> {
        self.copying = copying;
        self.found = true;
        Some(())
    }

    /// Takes back what was done for a loop that stays one. Sites that were made for its copies stay, unused.
    fn back_to(&mut self, head: Head, out: &mut Vec<Stmt>) {
        self.known = head.known;
        self.copying = head.copying;
        out.truncate(head.statements);
    }

    fn forget(&mut self, vars: impl IntoIterator<Item = VarId>) {
        for var in vars {
            self.known.remove(&var);
        }
    }

    /// The constant that an expression has here.
    fn constant(&mut self, expr: ExprId) -> Option<ExprId> {
        let known = &self.known;
        let value = self.kernel.exprs.substitute(expr, |leaf| match leaf {
            Expr::Var(var) => known.get(var).copied(),
            _ => None,
        });
        self.kernel.exprs.as_int(value).map(|_| value)
    }

    fn access(&mut self, access: Access) -> Option<Access> {
        Some(Access { site: self.site(access.site)?, ..access })
    }

    fn site(&mut self, site: SiteId) -> Option<SiteId> {
        if self.copying == Copying::First {
            return Some(site);
        }
        let copy = self.kernel.sites[site].clone();
        let site = self.kernel.sites.push(copy);
        (self.kernel.sites.len() - self.sites <= MOST_SITES).then_some(site)
    }
}

fn has_sync(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Sync { .. } => true,
        Stmt::If { then, otherwise, .. } => has_sync(then) || has_sync(otherwise),
        Stmt::For(each) => has_sync(&each.body),
        Stmt::Loop { body, .. } => has_sync(body),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::unrolled;
    use crate::calculus::text::{parse, print};
    use crate::calculus::validate;

    /// The first loop halves, the second one takes as many turns as a parameter says, the third one counts.
    const KERNEL: &str = "kernel k(n: i32) {
  shared s: element 4, size 4096
  var d: i32
  var w: i32
  var i: i32
  let d = 4
  let w = 1
  loop while d > 0 @0 {
    sync block shared global @1
    write s[convert<i64>(w * convert<i32>(tid.x)) * 4; 4] := d @2
    let d = d >> 1
    let w = w * 2
  }
  for i = 0 while i < n step + 1 @3 {
    sync block shared global @4
  }
  for i = 0 while i < 2 step + 1 @5 {
    sync block shared global @6
    write s[convert<i64>(w) * 4; 4] := i @7
  }
}
";

    #[test]
    fn loops_that_constants_decide_are_copied() {
        let kernel = parse(KERNEL).unwrap_or_else(|error| panic!("{error:?}"));
        let unrolled = unrolled(&kernel).expect("two of its loops are decided");
        assert!(validate::validate(&unrolled).is_empty(), "{:?}", validate::validate(&unrolled));
        let text = print(&unrolled);
        assert_eq!(text.matches("sync").count(), 3 + 1 + 2, "{text}");
        assert_eq!(text.matches("for ").count(), 1, "{text}");
        assert!(!text.contains("loop"), "{text}");
        assert!(text.contains("let i = 2"), "the counter keeps the value that failed the test: {text}");
    }
}
