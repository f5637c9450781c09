//! Statements whose effect may come later than they stand: their accesses once more, behind a barrier.
//!
//! What a thread does between its arrival at a barrier and its wait, and what an asynchronous copy does that nobody has
//! waited for, is not ordered by the barrier: it may happen before or behind. So it stands in both barrier intervals,
//! the second time with variables of its own, which start with the values that the first had.
//!
//! # Guarantees
//! Every access to memory that others see that may happen behind the barrier is in the copy, under a guard that holds at
//! least where the first one's does. The copy makes no value known: it happens once, so that what the first one has
//! written, and each thread's own memory, is not found or changed a second time.
//!
//! Deliberately absent: fences, which order only where they stand; claims, which are checked once.

use crate::calculus::statements::each_expr;
use crate::calculus::{
    Access, Among, ArrayId, AtomicOp, Expr, ExprId, For, HavocReason, MemoryOrder, ScalarType, SiteId, Space, Step,
    Stmt, SyncScope, Test, VarId,
};
use crate::lower::pass::Pass;
use crate::lower::walk::loops::collect_assigned;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// For variables their copies, also as values.
type Own = FxHashMap<VarId, (VarId, ExprId)>;

/// What statements are repeated with.
struct Again {
    own: Own,
    /// The sites of what is repeated; of the rest only values are.
    kept: FxHashSet<SiteId>,
    /// The arrays that the first run may have changed.
    written: FxHashSet<ArrayId>,
}

/// A place between two statements. It is a variable that is assigned there and used nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) struct Mark(VarId);

impl Mark {
    fn is_here(self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Let { var, .. } if *var == self.0)
    }

    /// Whether it is here or in a block of the statement.
    fn is_in(self, stmt: &Stmt) -> bool {
        self.is_here(stmt) || blocks_of(stmt).into_iter().flatten().any(|inner| self.is_in(inner))
    }
}

impl Again {
    fn mine(&self, var: VarId) -> VarId {
        self.own.get(&var).map_or(var, |&(copy, _)| copy)
    }
}

impl Pass<'_> {
    /// Marks the place behind the last statement.
    pub(in crate::lower) fn mark(&mut self) -> Mark {
        let var = self.temporary("here", ScalarType::Bool);
        self.set_flag(var, 1);
        Mark(var)
    }

    /// Emits once more what stands between two places of one block. `None`, and nothing is emitted, if that block stands in
    /// no open one, or if a barrier of the block or of more stands between.
    ///
    /// If the block is closed already, the branches and loops around it are repeated with it, and of what else they do
    /// only the values of variables.
    pub(in crate::lower) fn repeat(&mut self, part: [Mark; 2]) -> Option<()> {
        let (block, place) = self.find(part)?;
        let around = self.blocks.block(block)[place.clone()].to_vec();
        let part = between(&around, part)?;
        let (mut kept, mut written) = (FxHashSet::default(), FxHashSet::default());
        if !sites_of(part, &mut kept) {
            return None;
        }
        written_by(part, &mut written);
        let (own, starts) = self.own_variables(&around, block, place.clone());
        let again = self.block_again(&around, &Again { own, kept, written });
        self.blocks.put_in(block, place.start, starts);
        self.emit_all(again);
        Some(())
    }

    /// The open block that holds two marks, and the statements there from the one to the other.
    fn find(&self, [from, to]: [Mark; 2]) -> Option<(usize, Range<usize>)> {
        (0..self.blocks.depth()).rev().find_map(|block| {
            let at = |mark: Mark| self.blocks.block(block).iter().rposition(|stmt| mark.is_in(stmt));
            Some((block, at(from)?..at(to)? + 1))
        })
    }

    /// Whether a place is in the innermost open block itself.
    pub(in crate::lower) fn is_in_this_block(&self, mark: Mark) -> bool {
        self.blocks.block(self.blocks.depth() - 1).iter().any(|stmt| mark.is_here(stmt))
    }

    /// Whether a place is in an open block or in a block of it that is closed.
    pub(in crate::lower) fn is_open(&self, mark: Mark) -> bool {
        self.find([mark, mark]).is_some()
    }

    /// Variables for a copy of statements, and what they start with: those that the statements assign, and those that may
    /// have changed since.
    fn own_variables(&mut self, part: &[Stmt], block: usize, place: Range<usize>) -> (Own, Vec<Stmt>) {
        let mut mine = FxHashSet::default();
        collect_assigned(part, &mut mine);
        let mut changed = FxHashSet::default();
        collect_assigned(&self.blocks.block(block)[place.end..], &mut changed);
        // In a block that is open within that one, what comes later in it may come before in another turn.
        let is_within = block + 1 < self.blocks.depth();
        each_expr(part, &mut |expr| {
            self.kernel.exprs.visit(expr, |_, node| match node {
                Expr::Var(var) if is_within || changed.contains(var) => _ = mine.insert(*var),
                _ => {}
            });
        });
        let known = self.assigned_before(block, place.start);
        let mut mine: Vec<VarId> = mine.into_iter().collect();
        mine.sort_unstable();
        let (mut own, mut starts) = (Own::default(), Vec::new());
        for var in mine {
            let (ty, name) = (self.kernel.vars[var].ty, self.kernel.vars[var].name.clone());
            let copy = self.temporary(&name, ty);
            let value = self.var(copy);
            own.insert(var, (copy, value));
            if known.contains(&var) {
                let value = self.var(var);
                starts.push(Stmt::Let { var: copy, value });
            }
        }
        (own, starts)
    }

    /// What has a value at a place.
    fn assigned_before(&self, block: usize, at: usize) -> FxHashSet<VarId> {
        let mut assigned = FxHashSet::default();
        (0..block).for_each(|outer| collect_assigned(self.blocks.block(outer), &mut assigned));
        collect_assigned(&self.blocks.block(block)[..at], &mut assigned);
        assigned
    }

    fn renamed(&mut self, stmt: &Stmt, again: &Again) -> Option<Stmt> {
        let mine = |var: VarId| again.mine(var);
        Some(match stmt {
            Stmt::Let { var, value } => Stmt::Let { var: mine(*var), value: self.value_again(*value, again) },
            Stmt::Read { var, access } if !self.is_repeated(access, again) => unknown(mine(*var)),
            Stmt::Atomic { var, access, .. } if !self.is_repeated(access, again) => unknown(mine((*var)?)),
            Stmt::Write { access, .. } if !self.is_repeated(access, again) => return None,
            Stmt::Sync { site, .. } if !again.kept.contains(site) => return None,
            Stmt::Read { var, access } => Stmt::Read { var: mine(*var), access: self.access_again(access, again) },
            Stmt::Write { access, value } => Stmt::Write {
                access: self.access_again(access, again),
                value: value.filter(|&value| self.is_immutable(value)),
            },
            // What it found and left is told by the first one.
            Stmt::Atomic { var, access, op, scope, .. } => Stmt::Atomic {
                var: var.map(mine),
                access: self.access_again(access, again),
                op: if *op == AtomicOp::Load { AtomicOp::Load } else { AtomicOp::Or },
                operands: Vec::new(),
                order: MemoryOrder::Relaxed,
                scope: *scope,
            },
            Stmt::If { cond, then, otherwise } => {
                let cond = self.value_again(*cond, again);
                let [then, otherwise] = [then, otherwise].map(|arm| self.block_again(arm, again));
                Stmt::If { cond, then, otherwise }
            }
            Stmt::For(each) => {
                let For { var, start, cmp, bound, step, body, site } = &**each;
                Stmt::For(Box::new(For {
                    var: mine(*var),
                    start: self.value_again(*start, again),
                    cmp: *cmp,
                    bound: self.value_again(*bound, again),
                    step: Step { op: step.op, by: self.value_again(step.by, again) },
                    body: self.block_again(body, again),
                    site: self.site_again(*site),
                }))
            }
            Stmt::Loop { test, body, site } => {
                let test = match *test {
                    Test::Before(cond) => Test::Before(self.value_again(cond, again)),
                    Test::After(cond) => Test::After(self.value_again(cond, again)),
                };
                Stmt::Loop { test, body: self.block_again(body, again), site: self.site_again(*site) }
            }
            Stmt::Sync { scope, memory, among, site } => {
                let among = among.with(|cond| self.value_again(cond, again));
                Stmt::Sync { scope: *scope, memory: *memory, among, site: self.site_again(*site) }
            }
            Stmt::Havoc { var, reason, span } => Stmt::Havoc { var: mine(*var), reason: reason.clone(), span: *span },
            Stmt::Assume { cond, basis, span } => {
                Stmt::Assume { cond: self.value_again(*cond, again), basis: *basis, span: *span }
            }
            Stmt::Fence { .. } | Stmt::Assert { .. } => return None,
        })
    }

    fn is_repeated(&self, access: &Access, again: &Again) -> bool {
        again.kept.contains(&access.site) && self.kernel.arrays[access.array].space != Space::Private
    }

    fn block_again(&mut self, block: &[Stmt], again: &Again) -> Vec<Stmt> {
        let mut all = Vec::new();
        for stmt in block {
            all.extend(self.renamed(stmt, again));
            // The first run found what was there before it wrote.
            let found = match stmt {
                Stmt::Read { var, access } => Some((*var, access)),
                Stmt::Atomic { var: Some(var), access, .. } => Some((*var, access)),
                _ => None,
            };
            if let Some((var, access)) = found
                && again.written.contains(&access.array)
                && self.is_repeated(access, again)
            {
                all.push(unknown(again.mine(var)));
            }
        }
        all
    }

    fn value_again(&mut self, value: ExprId, again: &Again) -> ExprId {
        self.exprs().substitute(value, |node| match node {
            Expr::Var(var) => again.own.get(var).map(|&(_, copy)| copy),
            _ => None,
        })
    }

    fn access_again(&mut self, access: &Access, again: &Again) -> Access {
        Access { offset: self.value_again(access.offset, again), site: self.site_again(access.site), ..*access }
    }

    fn site_again(&mut self, site: SiteId) -> SiteId {
        let own = self.kernel.sites.push(self.kernel.sites[site].clone());
        if self.notes.of_libraries.contains(&site) {
            self.notes.of_libraries.insert(own);
        }
        own
    }
}

/// What an access finds that is not repeated, or whose memory has changed since.
fn unknown(var: VarId) -> Stmt {
    Stmt::Havoc { var, reason: HavocReason::Other("what was read before".to_owned()), span: None }
}

/// What stands between two marks of one block, in that block or within.
fn between(block: &[Stmt], [from, to]: [Mark; 2]) -> Option<&[Stmt]> {
    if let (Some(start), Some(end)) =
        (block.iter().rposition(|stmt| from.is_here(stmt)), block.iter().rposition(|stmt| to.is_here(stmt)))
    {
        return block.get(start..end);
    }
    block.iter().find_map(|stmt| blocks_of(stmt).into_iter().find_map(|inner| between(inner, [from, to])))
}

/// The blocks of a statement.
fn blocks_of(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::For(each) => vec![&each.body],
        Stmt::Loop { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Collects the arrays that statements may change.
fn written_by(block: &[Stmt], arrays: &mut FxHashSet<ArrayId>) {
    for stmt in block {
        if let Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
            arrays.insert(access.array);
        }
        blocks_of(stmt).into_iter().for_each(|inner| written_by(inner, arrays));
    }
}

/// Collects the sites of accesses and barriers; false if there is a barrier that others could wait at in vain.
fn sites_of(block: &[Stmt], sites: &mut FxHashSet<SiteId>) -> bool {
    block.iter().all(|stmt| {
        match stmt {
            Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                sites.insert(access.site);
            }
            Stmt::Sync { scope, among, site, .. } => {
                sites.insert(*site);
                return *scope < SyncScope::Block && !matches!(among, Among::Named(_) | Among::Placeholder(_));
            }
            _ => {}
        }
        blocks_of(stmt).into_iter().all(|inner| sites_of(inner, sites))
    })
}
