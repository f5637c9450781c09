//! Claims in annotations: at a statement, and at the heads of loops.
//!
//! The program does not evaluate them, so they must not add accesses: a claim that needs more than the values of
//! variables is noted and left out. At the head of a loop (`for (…; __invariant(c), i < n; …)`) a claim is made
//! whenever the test is evaluated: at the start of each turn, and after the loop unless it was left by a jump.

use crate::builtins::{Builtin, Claim};
use crate::calculus::{Basis, Claimed, Stmt};
use crate::lower::pass::Pass;
use crate::lower::storage::facts::Target;
use crate::resolve::program::{Expr, ExprKind, Storage, VariableId};
use crate::source::Span;

/// A claim at the head of a loop.
#[derive(Clone, Copy)]
pub(in crate::lower) struct HeadClaim<'e> {
    claim: Claim,
    name: &'e str,
    args: &'e [Expr],
    span: Span,
}

impl<'p> Pass<'p> {
    /// A claim that an annotation makes here.
    pub(in crate::lower) fn annotated_claim(&mut self, claim: Claim, name: &str, args: &[Expr], span: Span) {
        let Some(arg) = args.first() else { return };
        if matches!(claim, Claim::FunctionWide | Claim::FunctionWideCandidate) {
            // It is made at the heads of loops.
            return;
        }
        if claim == Claim::Ensured && self.may_change(arg) {
            return self.note(span, format!("`{name}` of a value that changes in the function is not checked"));
        }
        let cond = match self.annotated(arg) {
            Ok(cond) => cond,
            Err(why) => return self.note(span, format!("`{name}` is not checked: {why}")),
        };
        if claim == Claim::Candidate {
            self.emit(Stmt::Assume { cond, basis: Basis::Candidate, span: Some(span) });
        } else {
            let site = self.site(span);
            self.emit(Stmt::Assert { cond, claimed: Claimed::Asserted, site });
        }
    }

    /// Whether an expression mentions a variable that the current function assigns.
    fn may_change(&mut self, expr: &Expr) -> bool {
        let Some(frame) = self.frames.last() else { return true };
        let assigned = self.scans.assigned(self.program, frame.function);
        crate::lower::walk::scan::mentions(expr, &assigned)
    }

    /// The claims of the current function about the heads of all its loops.
    pub(in crate::lower) fn function_wide(&mut self) -> Vec<HeadClaim<'p>> {
        let program = self.program;
        let function = self.frame().function;
        if !self.scans.claims_everywhere(program, function) {
            return Vec::new();
        }
        let body = program.functions[function].body.as_deref().unwrap_or_default();
        let mut claims = Vec::new();
        for call in crate::lower::walk::scan::function_wide(body) {
            let ExprKind::Builtin(builtin, name, args) = &call.kind else { continue };
            let claim = match builtin {
                Builtin::Claim(Claim::FunctionWide) => Claim::Asserted,
                _ => Claim::Candidate,
            };
            let unknown =
                crate::lower::walk::scan::variables(call).into_iter().find(|&variable| !self.is_declared(variable));
            match unknown {
                None => claims.push(HeadClaim { claim, name, args, span: call.span }),
                Some(variable) => {
                    let variable = &program.variables[variable].name;
                    let reason = format!("`{name}` is not checked at a loop before the declaration of '{variable}'");
                    self.note(call.span, reason);
                }
            }
        }
        claims
    }

    fn is_declared(&mut self, variable: VariableId) -> bool {
        let is_local = matches!(self.program.variables[variable].storage, Storage::Param | Storage::Local);
        let target = self.facts.target(Target::Variable(self.chain(), variable));
        !is_local || self.homes.get(target).is_some()
    }

    /// Makes the claims of the head of a loop.
    pub(in crate::lower) fn claim_all(&mut self, claims: &[HeadClaim<'_>]) {
        for head in claims {
            self.annotated_claim(head.claim, head.name, head.args, head.span);
        }
    }
}

/// The claims that stand before the test of a loop, and the test without them; `None` if there are none.
pub(in crate::lower) fn split(test: &Expr) -> Option<(Vec<HeadClaim<'_>>, Expr)> {
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
