//! What holds for threads that reach a program point: facts, guards, and what facts say of two threads.
//!
//! Deliberately absent: which facts may be used at a point ([`program_point`](crate::prove::program_point)).

use crate::calculus::{Expr, ExprId};
use crate::protocol::{Fact, Guard, LoopId, Relational};
use crate::prove::condition::asking::sameness::{self, Besides};
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::environments::EnvId;
use crate::prove::condition::values::truth::Polarity;
use crate::prove::hand_over::Cells;
use crate::prove::program_point::{ProgramPoint, stated, stated_relation};
use crate::prove::state::Literal;
use crate::prove::state::poly::Poly;

/// Facts that hold for every thread: those that are stated without guards over uniform values.
pub(in crate::prove::condition) fn assume_launch(builder: &mut Builder<'_>) {
    for fact in &builder.protocol.facts {
        if is_of_the_launch(builder, fact) {
            assume_one(builder, fact, 0);
        }
    }
}

fn is_of_the_launch(builder: &mut Builder<'_>, fact: &Fact) -> bool {
    fact.basis.is_told()
        && fact.guards.is_empty()
        && fact.loops.is_empty()
        && sameness::holds(builder, fact.cond, Besides::Nothing)
}

/// Facts that stand on the path to a program point.
pub(in crate::prove::condition) fn assume(
    builder: &mut Builder<'_>,
    env: EnvId,
    point: ProgramPoint,
    loops: &[LoopId],
    guards: &[Guard],
) {
    for (index, fact) in builder.protocol.facts.iter().enumerate() {
        if point.may_use(index, fact) && fact.is_passed(loops, guards) && !is_of_the_launch(builder, fact) {
            assume_one(builder, fact, env);
        }
    }
}

pub(in crate::prove::condition) fn assume_one(builder: &mut Builder<'_>, fact: &Fact, env: EnvId) {
    let relates = builder.protocol.relation(fact.cond).is_some();
    if relates || matches!(builder.protocol.exprs[fact.cond], Expr::Int(1, _)) {
        return;
    }
    if fact.basis.is_told() && !is_of_fixed_sizes(builder, fact.cond) {
        builder.draft.assumptions.insert(stated(builder.protocol, fact));
    }
    builder.assume(fact.cond, env);
}

/// Whether a condition is about nothing but sizes that the launches fix: what it says of them is no assumption.
fn is_of_fixed_sizes(builder: &Builder<'_>, cond: ExprId) -> bool {
    let mut is_fixed = true;
    builder.protocol.exprs.visit(cond, |_, node| {
        is_fixed &= match node {
            Expr::Geometry(var) => builder.launch.fixed(*var).is_some(),
            Expr::Int(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::Unary(..) | Expr::Select(..) => true,
            Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Call(..) => false,
        };
    });
    is_fixed
}

/// The cells of two flags differ.
pub(in crate::prove::condition) fn tell_apart(builder: &mut Builder<'_>, cells: &Cells) {
    let Some(difference) = difference(builder, cells) else { return };
    let (above, below) = (difference.plus_constant(-1), difference.negated().and_then(|it| it.plus_constant(-1)));
    let (Some(above), Some(below)) = (above, below) else { return };
    builder.draft.disjunction(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]]);
    builder.draft.assumptions.extend(cells.assumptions.iter().cloned());
    builder.is_ordered = true;
}

fn difference(builder: &mut Builder<'_>, cells: &Cells) -> Option<Poly> {
    builder.value(cells.set, cells.setter)?.minus(&builder.value(cells.wait, 1 - cells.setter)?)
}

/// What a fact says about the values of two threads, where both have passed it in the same iterations.
pub(in crate::prove::condition) fn relate(builder: &mut Builder<'_>, fact: &Fact) {
    let said = match builder.protocol.relation(fact.cond) {
        Some(Relational::Distinct(value) | Relational::Uniform(value)) => relate_values(builder, value, fact.cond),
        Some(Relational::Formula(cond)) => {
            for env in [0, 1] {
                let alternatives = builder.truth(cond, env, Polarity::Holds);
                builder.draft.disjunction(alternatives);
            }
            Some(())
        }
        None => None,
    };
    if said.is_some() && fact.basis.is_told() {
        builder.draft.assumptions.insert(stated_relation(builder.protocol, fact));
    }
}

fn relate_values(builder: &mut Builder<'_>, value: ExprId, cond: ExprId) -> Option<()> {
    let difference = builder.value(value, 0)?.minus(&builder.value(value, 1)?)?;
    if difference.is_zero() {
        // That a uniform value differs between threads would prove anything.
        return None;
    }
    if let Some(Relational::Uniform(_)) = builder.protocol.relation(cond) {
        builder.draft.literal(Literal::Zero(difference));
        return Some(());
    }
    let above = difference.plus_constant(-1)?;
    let below = difference.negated()?.plus_constant(-1)?;
    builder.draft.disjunction(vec![vec![Literal::NonNegative(above)], vec![Literal::NonNegative(below)]]);
    Some(())
}

/// Guards of a place, and the tests of the loops around it.
pub(in crate::prove::condition) fn assume_guards(
    builder: &mut Builder<'_>,
    env: EnvId,
    loops: &[LoopId],
    guards: &[Guard],
) {
    let tests: Vec<ExprId> = loops.iter().map(|&id| builder.protocol.loops[id].guard).collect();
    let conditions = guards.iter().map(|guard| guard.cond).chain(tests);
    let mut seen = Vec::new();
    for cond in conditions {
        if !seen.contains(&cond) {
            seen.push(cond);
            builder.assume(cond, env);
        }
    }
}
