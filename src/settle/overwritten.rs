//! Variables without a value that get one in a loop before they are read.
//!
//! ```text
//! float low;                       // nothing reads what it has here
//! do { …; low = v; } while (low <= 0);
//! ```
//!
//! What such a variable has at the head of the loop comes from two ways, from before the loop and from the turn before, and
//! a value that is not known on one of them would make the other unknown. Nobody reads the first, so that it may as well be 0.
//!
//! *Premises.* Every way from the declaration to a read of the variable assigns it: in what follows in the block, statement by
//! statement, the first that touches it assigns it without reading it, or is a loop whose turns do. A loop that may have no
//! turn is passed; at the end of the block nothing outside of it touches the variable.
//! *Gives.* The value 0 in place of the unknown one. *Proof.* No run reads it.
//!
//! Deliberately absent: integers, for which loops say themselves whether they go on; variables that some way reads, which
//! stay unknown.

use crate::calculus::statements::{assigned, each_expr, replaced};
use crate::calculus::{Expr, Exprs, HavocReason, Kernel, ScalarType, Stmt, Test, VarId, nesting};
use rustc_hash::FxHashMap;

/// Statements nested deeper than this are left alone.
const MOST_NESTING: usize = 100;

/// What a statement does to a variable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// Nothing.
    Leaves,
    /// It gets a value.
    Assigns,
    /// It gets a value, if the statement does anything.
    MayAssign,
    /// It is read, or it is not known.
    Reads,
}

/// Gives variables that nobody reads before they are assigned a value.
pub(super) fn fill(kernel: &mut Kernel) {
    let has_floats = kernel.vars.iter().any(|(_, var)| matches!(var.ty, ScalarType::Opaque { .. }));
    if !has_floats || nesting(&kernel.body) > MOST_NESTING {
        return;
    }
    let touched = touches(&kernel.exprs, &kernel.body);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = filled(kernel, &touched, body);
}

fn filled(kernel: &mut Kernel, touched: &FxHashMap<VarId, usize>, body: Vec<Stmt>) -> Vec<Stmt> {
    let known: Vec<VarId> = (0..body.len()).filter_map(|at| unread(kernel, touched, &body[at..])).collect();
    replaced(body, |mut stmt, done| {
        match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                *then = filled(kernel, touched, std::mem::take(then));
                *otherwise = filled(kernel, touched, std::mem::take(otherwise));
            }
            Stmt::For(counted) => counted.body = filled(kernel, touched, std::mem::take(&mut counted.body)),
            Stmt::Loop { body, .. } => *body = filled(kernel, touched, std::mem::take(body)),
            &mut Stmt::Havoc { var, reason: HavocReason::Uninitialized, .. } if known.contains(&var) => {
                let zero = kernel.exprs.int(0, ScalarType::I32);
                let value = kernel.exprs.call("float", vec![zero], kernel.vars[var].ty);
                stmt = Stmt::Let { var, value };
            }
            _ => {}
        }
        done.push(stmt);
    })
}

/// The variable that the first of these statements leaves without a value, if none of the others reads it before a loop
/// gives it one.
fn unread(kernel: &Kernel, touched: &FxHashMap<VarId, usize>, body: &[Stmt]) -> Option<VarId> {
    let (&Stmt::Havoc { var, reason: HavocReason::Uninitialized, .. }, rest) = body.split_first()? else {
        return None;
    };
    if !matches!(kernel.vars[var].ty, ScalarType::Opaque { .. }) {
        return None;
    }
    let mut meets_loop = false;
    for stmt in rest {
        match first(&kernel.exprs, stmt, var) {
            First::Leaves => {}
            First::Assigns => return (meets_loop || matches!(stmt, Stmt::Loop { .. })).then_some(var),
            First::MayAssign => meets_loop = true,
            First::Reads => return None,
        }
    }
    let within = touches(&kernel.exprs, body);
    (meets_loop && within.get(&var) == touched.get(&var)).then_some(var)
}

/// What a statement does to a variable first.
fn first(exprs: &Exprs, stmt: &Stmt, var: VarId) -> First {
    let one = std::slice::from_ref(stmt);
    if !touches(exprs, one).contains_key(&var) {
        return First::Leaves;
    }
    let of_turns = |body: &[Stmt]| {
        let found = body.iter().map(|stmt| first(exprs, stmt, var)).find(|found| *found != First::Leaves);
        found.unwrap_or(First::Leaves)
    };
    match stmt {
        Stmt::Loop { test, body, .. } => match (test, of_turns(body)) {
            // The body comes before the test.
            (Test::After(_), First::Assigns) => First::Assigns,
            (Test::Before(test), First::Assigns) if !reads(exprs, *test, var) => First::MayAssign,
            _ => First::Reads,
        },
        Stmt::If { .. } | Stmt::For(_) => First::Reads,
        simple => {
            let mut is_read = false;
            each_expr(std::slice::from_ref(simple), &mut |expr| is_read |= reads(exprs, expr, var));
            if is_read { First::Reads } else { First::Assigns }
        }
    }
}

fn reads(exprs: &Exprs, expr: crate::calculus::ExprId, var: VarId) -> bool {
    let mut found = false;
    exprs.visit(expr, |_, node| found |= matches!(node, Expr::Var(of) if *of == var));
    found
}

/// How often each variable is read or assigned in statements.
fn touches(exprs: &Exprs, body: &[Stmt]) -> FxHashMap<VarId, usize> {
    let mut touched: FxHashMap<VarId, usize> = FxHashMap::default();
    each_expr(body, &mut |expr| {
        exprs.visit(expr, |_, node| {
            if let Expr::Var(var) = node {
                *touched.entry(*var).or_default() += 1;
            }
        });
    });
    for var in assigned(body) {
        *touched.entry(var).or_default() += 1;
    }
    touched
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::text::{parse, print};

    /// Whether `low` gets a value before the statements.
    fn is_filled(rest: &str) -> bool {
        let text = format!(
            "kernel k(n: i32) {{ global y: element 4 var low: opaque4 var v: opaque4 \
             if n > 0 {{ havoc low uninitialized {rest} }} write y[0; 4] @0 }}"
        );
        let mut kernel = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        fill(&mut kernel);
        !print(&kernel).contains("havoc low")
    }

    #[test]
    fn what_a_loop_assigns_first_is_known() {
        assert!(is_filled("loop @1 { let v = read y[0; 4] @2 let low = v } while `f<=`(low, v):bool"));
        assert!(is_filled("let v = read y[0; 4] @1 loop @2 { let low = v } while `f<=`(low, v):bool"));
        // It has no turn, perhaps, and then nobody reads it.
        assert!(is_filled("loop while n > 1 @1 { let low = read y[0; 4] @2 write y[0; 4] := low @3 }"));
    }

    #[test]
    fn what_some_way_reads_is_not() {
        for rest in [
            "loop @1 { let v = low let low = v } while `f<=`(low, v):bool",
            "loop @1 { if n > 1 { let low = v } } while `f<=`(low, v):bool",
            "write y[0; 4] := low @1 loop @2 { let low = v } while `f<=`(low, v):bool",
            "loop while `f<=`(low, v):bool @1 { let low = v }",
            // Without a turn it is read behind the loop.
            "loop while n > 1 @1 { let low = read y[0; 4] @2 } write y[0; 4] := low @3",
            // No loop is about it.
            "let low = v write y[0; 4] := low @1",
        ] {
            assert!(!is_filled(rest), "{rest}");
        }
    }

    #[test]
    fn what_is_read_outside_of_the_block_is_not() {
        let text = "kernel k(n: i32) { global y: element 4 var low: opaque4 if n > 0 { havoc low uninitialized \
                    loop while n > 1 @1 { let low = read y[0; 4] @2 } } write y[0; 4] := low @0 }";
        let mut kernel = parse(text).unwrap_or_else(|error| panic!("{error}"));
        fill(&mut kernel);
        assert!(print(&kernel).contains("havoc low"));
    }
}
