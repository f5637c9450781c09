//! Claims in annotations: at a statement, and at the heads of loops.
//!
//! The program does not evaluate them, so they must not add accesses: a claim that needs more than the values of
//! variables is noted and left out. At the head of a loop (`for (…; __invariant(c), i < n; …)`) a claim is made
//! whenever the test is evaluated: at the start of each turn, and after the loop unless it was left by a jump.

use super::pass::Pass;
use crate::builtins::{Builtin, Claim};
use crate::calculus::{self, Basis, DISTINCT, ExprId, Stmt, UNIFORM};
use crate::resolve::program::{Expr, ExprKind};
use crate::source::Span;

/// A claim at the head of a loop.
#[derive(Clone, Copy)]
pub(super) struct HeadClaim<'e> {
    claim: Claim,
    name: &'e str,
    args: &'e [Expr],
    span: Span,
}

impl Pass<'_> {
    /// A claim that an annotation makes here.
    pub(super) fn annotated_claim(&mut self, claim: Claim, name: &str, args: &[Expr], span: Span) {
        let Some(arg) = args.first() else { return };
        if claim == Claim::Ensured && self.may_change(arg) {
            return self.note(span, format!("`{name}` of a value that changes in the function is not checked"));
        }
        let unsupported = self.kernel.unsupported.len();
        let (block, cond) = self.captured(|pass| pass.condition(arg));
        if !block.is_empty() {
            self.kernel.unsupported.truncate(unsupported);
            return self.note(span, format!("`{name}` of more than the values of variables is not checked"));
        }
        if self.relates_threads(cond) {
            return self.note(span, format!("`{name}` of the values of two threads is not checked"));
        }
        if claim == Claim::Candidate {
            self.emit(Stmt::Assume { cond, basis: Basis::Candidate, span: Some(span) });
        } else {
            let site = self.site(span);
            self.emit(Stmt::Assert { cond, site });
        }
    }

    /// Whether a condition speaks of more than one thread.
    fn relates_threads(&self, cond: ExprId) -> bool {
        let mut relates = false;
        self.kernel.exprs.visit(cond, |_, node| {
            relates |= matches!(node, calculus::Expr::Call(name, ..) if name == DISTINCT || name == UNIFORM);
        });
        relates
    }

    /// Whether an expression mentions a variable that the current function assigns.
    fn may_change(&mut self, expr: &Expr) -> bool {
        let Some(frame) = self.frames.last() else { return true };
        let assigned = self.scans.assigned(self.program, frame.function);
        super::scan::mentions(expr, &assigned)
    }

    /// Makes the claims of the head of a loop.
    pub(super) fn claim_all(&mut self, claims: &[HeadClaim<'_>]) {
        for head in claims {
            self.annotated_claim(head.claim, head.name, head.args, head.span);
        }
    }
}

/// The claims that stand before the test of a loop, and the test without them; `None` if there are none.
pub(super) fn split(test: &Expr) -> Option<(Vec<HeadClaim<'_>>, Expr)> {
    match &test.kind {
        ExprKind::Convert(inner) => {
            let (claims, inner) = split(inner)?;
            Some((claims, Expr { kind: ExprKind::Convert(Box::new(inner)), ..test.clone() }))
        }
        ExprKind::Comma(first, rest) => {
            let mut claims = claims_in(first)?;
            match split(rest) {
                Some((more, rest)) => {
                    claims.extend(more);
                    Some((claims, rest))
                }
                None => Some((claims, (**rest).clone())),
            }
        }
        _ => None,
    }
}

/// The claims of an expression that makes nothing else. Long chains of commas are nested on the left.
fn claims_in(expr: &Expr) -> Option<Vec<HeadClaim<'_>>> {
    let mut claims = Vec::new();
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ExprKind::Builtin(Builtin::Claim(claim), name, args) => {
                claims.push(HeadClaim { claim: *claim, name, args, span: expr.span });
            }
            ExprKind::Builtin(Builtin::Nothing, ..) => {}
            ExprKind::Convert(inner) => pending.push(inner),
            ExprKind::Comma(first, second) => pending.extend([&**second, &**first]),
            _ => return None,
        }
    }
    Some(claims)
}
