//! What is proved of claims holds in runs, and no claim that is false makes anything true.
//!
//! Random kernels get random claims at random places: about variables, ids and parameters, and conditions of
//! branches repeated where they hold. Every proof is re-checked, held against runs with arbitrary contents of
//! memory, and, where a solver is on the machine, against the solver.

use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough, sums};
use crate::support::solvers::session;
use crate::support::tier::tiers;
use crate::theorem::random_kernel;
use raceproof::calculus::eval::{Blocks, Contents, Event, Program, Run, Setup, Sink, Value, run};
use raceproof::calculus::text::print;
use raceproof::calculus::{
    Axis, BinaryOp, Claimed, ExprId, Geometry, GeometryVar, Kernel, ScalarType, Site, SiteId, Stmt, VarId,
};
use raceproof::protocol::infer::infer;
use raceproof::prove::ask::{Asker, Budget as AskBudget};
use raceproof::prove::condition;
use raceproof::prove::premises::{Budget, Premises, check_claim};
use raceproof::prove::{Assumption, Scope};
use raceproof::smt::{Answer, SolverKind};
use std::sync::Mutex;
use std::time::Duration;

const LAW: Law = Law::new("claims", tiers(120, 600, 4800));
const BLOCKS: [u32; 5] = [1, 2, 3, 5, 34];

/// Listens to nothing.
pub(super) struct Deaf;

impl Sink for Deaf {
    fn access(&mut self, _event: &Event, _locals: &[Value]) {}
}

/// Runs of a kernel in small launches with arbitrary contents.
pub(super) fn runs(kernel: &Kernel, seed: u64) -> Vec<(String, Run)> {
    let mut dice = Dice(seed ^ 0x5eed);
    let program = Program::new(kernel);
    let launches = (0..6).map(|_| {
        let block = [BLOCKS[dice.below(5) as usize], 1 + dice.below(2) as u32, 1];
        let geometry = Geometry { block, grid: [1 + dice.below(3) as u32, 1, 1] };
        let params: Vec<_> = kernel.params.iter().map(|_| Some(i128::from(dice.below(9)) - 2)).collect();
        let contents = Contents::Seeded(dice.below(1_000));
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 60_000 };
        (format!("{geometry:?} {params:?} {contents:?}"), run(&program, &setup, &mut Deaf))
    });
    launches.filter(|(_, outcome)| !outcome.vacuous).collect()
}

struct Claimer<'d> {
    dice: &'d mut Dice,
    vars: Vec<VarId>,
}

impl Claimer<'_> {
    fn operand(&mut self, kernel: &mut Kernel) -> ExprId {
        match self.dice.below(5) {
            0 => {
                let id = kernel.exprs.geometry(GeometryVar::ThreadIdx(Axis::X));
                kernel.exprs.convert(ScalarType::I32, id)
            }
            1 => {
                let params: Vec<_> = kernel.params.iter().map(|(id, param)| (id, param.ty)).collect();
                let (param, ty) = params[self.dice.below(params.len() as u64) as usize];
                let param = kernel.exprs.param(param, ty);
                kernel.exprs.convert(ScalarType::I32, param)
            }
            2 => kernel.exprs.int(i128::from(self.dice.below(5)), ScalarType::I32),
            _ => {
                let var = self.vars[self.dice.below(self.vars.len() as u64) as usize];
                kernel.exprs.var(var, ScalarType::I32)
            }
        }
    }

    fn condition(&mut self, kernel: &mut Kernel) -> ExprId {
        use BinaryOp::{Eq, Ge, Le, Lt, Ne};
        let (a, b) = (self.operand(kernel), self.operand(kernel));
        let op = [Eq, Ge, Le, Lt, Ne][self.dice.below(5) as usize];
        if self.dice.below(4) == 0 {
            // Of two threads: of one value, of two, or of two blocks only.
            let other = kernel.exprs.other(if self.dice.below(2) == 0 { a } else { b });
            let related = kernel.exprs.binary(op, a, other);
            let own = kernel.exprs.geometry(GeometryVar::BlockIdx(Axis::X));
            let block = kernel.exprs.other(own);
            let apart = kernel.exprs.binary(BinaryOp::Ne, own, block);
            return if self.dice.below(2) == 0 { related } else { kernel.exprs.or(apart, related) };
        }
        if self.dice.below(4) > 0 {
            return kernel.exprs.binary(op, a, b);
        }
        let (three, one) = (kernel.exprs.int(3, ScalarType::I32), kernel.exprs.int(1, ScalarType::I32));
        let masked = kernel.exprs.binary(BinaryOp::BitAnd, a, three);
        kernel.exprs.binary(op, masked, one)
    }

    fn block(&mut self, kernel: &mut Kernel, body: Vec<Stmt>, known: Option<ExprId>) -> Vec<Stmt> {
        let mut claimed = Vec::new();
        if let Some(known) = known.filter(|_| self.dice.below(2) == 0) {
            claimed.push(claim(kernel, known));
        }
        for stmt in body {
            if self.dice.below(3) == 0 {
                let cond = self.condition(kernel);
                claimed.push(claim(kernel, cond));
            }
            claimed.push(match stmt {
                Stmt::If { cond, then, otherwise } => {
                    let not = kernel.exprs.not(cond);
                    let then = self.block(kernel, then, Some(cond));
                    let otherwise =
                        if otherwise.is_empty() { otherwise } else { self.block(kernel, otherwise, Some(not)) };
                    Stmt::If { cond, then, otherwise }
                }
                Stmt::For(mut each) => {
                    let ty = kernel.vars[each.var].ty;
                    let var = kernel.exprs.var(each.var, ty);
                    let test = kernel.exprs.binary(each.cmp, var, each.bound);
                    each.body = self.block(kernel, each.body, Some(test));
                    Stmt::For(each)
                }
                Stmt::Loop { test, body, site } => Stmt::Loop { test, body: self.block(kernel, body, None), site },
                other => other,
            });
        }
        claimed
    }
}

fn claim(kernel: &mut Kernel, cond: ExprId) -> Stmt {
    let site = kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
    Stmt::Assert { cond, claimed: Claimed::Asserted, site }
}

/// `kernel` with random claims.
fn claimed(mut kernel: Kernel, seed: u64) -> Kernel {
    let mut dice = Dice(seed ^ 0xc1a1);
    let vars = kernel.vars.iter().filter(|(_, var)| var.ty == ScalarType::I32).map(|(id, _)| id).collect();
    let body = std::mem::take(&mut kernel.body);
    kernel.body = Claimer { dice: &mut dice, vars }.block(&mut kernel, body, None);
    kernel
}

#[test]
fn what_is_proved_of_claims_holds_in_every_run_and_for_the_solver() {
    let solver = session(SolverKind::Z3).map(Mutex::new);
    let tried = LAW.each(|seed| {
        let (mut failed, mut related) = (0, [0; 2]);
        let kernel = claimed(random_kernel(seed), seed);
        let protocol = infer(&kernel);
        let scope = Scope::default();
        let premises = Premises::new(&protocol, &scope);
        let mut holds: Vec<(SiteId, bool)> = Vec::new();
        for claim in &protocol.claims {
            let Ok(proof) = premises.prove_claim(claim, &Budget::SMALL) else { continue };
            let checked = check_claim(&protocol, claim, &scope, &proof.derivation);
            assert!(checked.is_ok(), "seed {seed}: {checked:?}\n{}", print(&kernel));
            let no_wrap = proof.assumptions.iter().any(|each| matches!(each, Assumption::NoUnsignedWrap { .. }));
            holds.push((claim.site, no_wrap));
            related[0] += usize::from(protocol.relates_threads(claim.cond));
            if let Some(session) = solver.as_ref().filter(|_| seed % 8 == 0) {
                let session = &mut session.lock().expect("no test that asked has failed");
                let budget = AskBudget { questions: u32::MAX, integers: 20_000, bits: 20_000, ..AskBudget::default() };
                let mut asker = Asker::new(session, budget, Duration::from_secs(600));
                let conditions = condition::failures(&protocol, claim, &scope, &mut None).expect("it was expressible");
                let possible = conditions.iter().any(|condition| asker.state(&condition.state) == Answer::Sat);
                assert!(!possible, "seed {seed}\n{}", print(&kernel));
            }
        }
        for (launch, outcome) in runs(&kernel, seed) {
            let wrapped = !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
            failed += outcome.failed_assertions.len();
            related[1] += outcome.failed_assertions.iter().filter(|seen| seen.with.is_some()).count();
            for seen in &outcome.failed_assertions {
                let wrong = holds.iter().any(|&(site, no_wrap)| site == seen.site && !(no_wrap && wrapped));
                assert!(!wrong, "seed {seed}: @{} fails in {launch}\n{}", seen.site.index(), print(&kernel));
            }
        }
        [holds.len(), failed, related[0], related[1]]
    });
    let [proved, failed, related, failed_of_two] = sums(&tried);
    let is_enough = |count, one_in| is_enough(count, tried.len(), one_in);
    assert!(is_enough(proved, 6) && is_enough(failed, 6), "only {proved} claims are proved, and {failed} fail");
    assert!(
        is_enough(related, 30) && is_enough(failed_of_two, 30),
        "of two threads {related} are proved, and {failed_of_two} fail"
    );
}
