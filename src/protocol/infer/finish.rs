//! Compaction: a protocol that holds only what its nodes, facts and claims refer to.
//!
//! Trial turns and values that flow nowhere leave variables, unknown values and expressions behind. They are
//! dropped; what stays keeps its order, so that the result depends on the kernel alone.

use super::state::rebuild;
use crate::arena::Arena;
use crate::calculus::{Expr, ExprId, VarId, operands};
use crate::protocol::{Claim, Fact, Guard, Node, OpaqueId, Origin, Protocol, Role, Step};
use rustc_hash::{FxHashMap, FxHashSet};

/// `from` without what nothing refers to.
pub(in crate::protocol) fn compact(from: &Protocol) -> Protocol {
    let needed = needed_vars(from);
    let mut mover = Mover::new(from, &needed);
    let mut to = Protocol {
        name: from.name.clone(),
        params: from.params.clone(),
        arrays: from.arrays.clone(),
        sites: from.sites.clone(),
        geometry: from.geometry.clone(),
        unsupported: from.unsupported.clone(),
        ..Protocol::default()
    };
    std::mem::swap(&mut mover.to, &mut to);
    mover.accesses_and_syncs();
    mover.loops();
    mover.opaques();
    mover.to.facts = from.facts.iter().map(|fact| mover.fact(fact)).collect();
    mover.to.claims = from.claims.iter().map(|claim| mover.claim(claim)).collect();
    mover.to.body = mover.nodes(&from.body);
    mover.roles();
    mover.spans();
    mover.to
}

/// Expressions that stand in the protocol whatever refers to what.
pub(in crate::protocol) fn roots(protocol: &Protocol) -> Vec<ExprId> {
    let mut roots = Vec::new();
    let guards = |guards: &[Guard], roots: &mut Vec<ExprId>| roots.extend(guards.iter().map(|guard| guard.cond));
    for (_, access) in protocol.accesses.iter() {
        roots.push(access.offset);
        roots.extend(access.value);
        guards(&access.guards, &mut roots);
    }
    for (_, sync) in protocol.syncs.iter() {
        guards(&sync.guards, &mut roots);
    }
    for (_, fence) in protocol.fences.iter() {
        guards(&fence.guards, &mut roots);
    }
    for (_, each) in protocol.loops.iter() {
        roots.extend([each.guard, each.continues]);
        guards(&each.guards, &mut roots);
    }
    for fact in &protocol.facts {
        roots.push(fact.cond);
        guards(&fact.guards, &mut roots);
    }
    for claim in &protocol.claims {
        roots.push(claim.cond);
        guards(&claim.guards, &mut roots);
    }
    let mut pending: Vec<&Node> = protocol.body.iter().collect();
    while let Some(node) = pending.pop() {
        match node {
            Node::If { cond, then, otherwise } => {
                roots.push(*cond);
                pending.extend(then.iter().chain(otherwise));
            }
            Node::Loop(_, body) => pending.extend(body),
            Node::Access(_) | Node::Sync(_) | Node::Fence(_) => {}
        }
    }
    roots
}

/// The expressions that an unknown value is described by.
pub(in crate::protocol) fn described_by(origin: &Origin) -> Vec<ExprId> {
    match origin {
        Origin::Read { offset, .. } => vec![*offset],
        Origin::Function { args, .. } => args.clone(),
        Origin::Loop { from, .. } => from.clone(),
        Origin::Complex { value } => vec![*value],
        Origin::Atomic { ticket, count, .. } => {
            let counted = count.iter().flat_map(|count| [Some(count.offset), count.limit]).flatten();
            let drawn = ticket.iter().flat_map(|ticket| [Some(ticket.offset), ticket.step.amount()]).flatten();
            drawn.chain(counted).collect()
        }
        Origin::Havoc(_) => Vec::new(),
    }
}

/// The variables that something refers to.
pub(super) fn needed_vars(protocol: &Protocol) -> FxHashSet<VarId> {
    let mut vars: FxHashSet<VarId> = protocol.loops.iter().map(|(_, each)| each.iteration).collect();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut pending = roots(protocol);
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = &protocol.exprs[id];
        pending.extend(operands(node));
        let &Expr::Var(var) = node else { continue };
        vars.insert(var);
        match protocol.roles.get(var) {
            Some(&Role::Opaque(opaque)) => pending.extend(described_by(&protocol.opaques[opaque].origin)),
            Some(&(Role::Geometric(id) | Role::Toggle(id))) => {
                let carried = protocol.loops[id].carried.iter().filter(|carried| carried.var == var);
                pending.extend(carried.flat_map(|carried| [carried.start, carried.next]));
            }
            Some(Role::Iteration(_)) | None => {}
        }
    }
    vars
}

struct Mover<'p> {
    from: &'p Protocol,
    to: Protocol,
    vars: FxHashMap<VarId, VarId>,
    opaques: FxHashMap<OpaqueId, OpaqueId>,
    exprs: FxHashMap<ExprId, ExprId>,
}

impl<'p> Mover<'p> {
    fn new(from: &'p Protocol, needed: &FxHashSet<VarId>) -> Self {
        let mut mover = Mover {
            from,
            to: Protocol::default(),
            vars: FxHashMap::default(),
            opaques: FxHashMap::default(),
            exprs: FxHashMap::default(),
        };
        mover.number(needed);
        mover
    }

    fn number(&mut self, needed: &FxHashSet<VarId>) {
        for (var, _) in self.from.vars.iter().filter(|(var, _)| needed.contains(var)) {
            self.vars.insert(var, VarId::from_index(self.vars.len()));
        }
        for (id, opaque) in self.from.opaques.iter() {
            if needed.contains(&opaque.var) {
                self.opaques.insert(id, OpaqueId::from_index(self.opaques.len()));
            }
        }
    }

    fn expr(&mut self, root: ExprId) -> ExprId {
        if let Some(&done) = self.exprs.get(&root) {
            return done;
        }
        let mut order = Vec::new();
        self.from.exprs.visit(root, |id, _| order.push(id));
        for id in order {
            if self.exprs.contains_key(&id) {
                continue;
            }
            let node = &self.from.exprs[id];
            let ty = self.from.exprs.ty(id);
            let copy = match node {
                Expr::Var(var) => self.to.exprs.var(self.vars[var], ty),
                _ if operands(node).is_empty() => self.to.exprs.intern(node.clone(), ty),
                _ => rebuild(&mut self.to.exprs, node, |operand| self.exprs[&operand]),
            };
            self.exprs.insert(id, copy);
        }
        self.exprs[&root]
    }

    fn guards(&mut self, guards: &[Guard]) -> Vec<Guard> {
        guards.iter().map(|guard| Guard { cond: self.expr(guard.cond), ..*guard }).collect()
    }

    fn accesses_and_syncs(&mut self) {
        for (_, access) in self.from.accesses.iter() {
            let mut access = access.clone();
            access.offset = self.expr(access.offset);
            access.value = access.value.map(|value| self.expr(value));
            access.guards = self.guards(&access.guards);
            self.to.accesses.push(access);
        }
        for (_, sync) in self.from.syncs.iter() {
            let mut sync = sync.clone();
            sync.guards = self.guards(&sync.guards);
            sync.among = sync.among.with(|cond| self.expr(cond));
            self.to.syncs.push(sync);
        }
        for (_, fence) in self.from.fences.iter() {
            let mut fence = fence.clone();
            fence.guards = self.guards(&fence.guards);
            self.to.fences.push(fence);
        }
    }

    fn loops(&mut self) {
        for (_, each) in self.from.loops.iter() {
            let mut each = each.clone();
            each.iteration = self.vars[&each.iteration];
            each.guard = self.expr(each.guard);
            each.continues = self.expr(each.continues);
            each.guards = self.guards(&each.guards);
            each.carried.retain(|carried| self.vars.contains_key(&carried.var));
            for carried in &mut each.carried {
                carried.var = self.vars[&carried.var];
                carried.start = self.expr(carried.start);
                carried.next = self.expr(carried.next);
            }
            self.to.loops.push(each);
        }
    }

    fn opaques(&mut self) {
        for (id, opaque) in self.from.opaques.iter() {
            if !self.opaques.contains_key(&id) {
                continue;
            }
            let mut opaque = opaque.clone();
            opaque.var = self.vars[&opaque.var];
            match &mut opaque.origin {
                Origin::Read { offset, .. } => *offset = self.expr(*offset),
                Origin::Function { args: values, .. } | Origin::Loop { from: values, .. } => {
                    for value in values {
                        *value = self.expr(*value);
                    }
                }
                Origin::Complex { value } => *value = self.expr(*value),
                Origin::Atomic { ticket, count, .. } => {
                    if let Some(ticket) = ticket {
                        ticket.offset = self.expr(ticket.offset);
                        if let Step::Amount(amount) = &mut ticket.step {
                            *amount = self.expr(*amount);
                        }
                    }
                    if let Some(count) = count {
                        count.offset = self.expr(count.offset);
                        count.limit = count.limit.map(|limit| self.expr(limit));
                    }
                }
                Origin::Havoc(_) => {}
            }
            self.to.opaques.push(opaque);
        }
    }

    fn fact(&mut self, fact: &Fact) -> Fact {
        Fact { cond: self.expr(fact.cond), guards: self.guards(&fact.guards), ..fact.clone() }
    }

    fn claim(&mut self, claim: &Claim) -> Claim {
        Claim { cond: self.expr(claim.cond), guards: self.guards(&claim.guards), ..claim.clone() }
    }

    fn nodes(&mut self, nodes: &[Node]) -> Vec<Node> {
        let mut copies = Vec::with_capacity(nodes.len());
        for node in nodes {
            copies.push(match node {
                Node::Access(_) | Node::Sync(_) | Node::Fence(_) => node.clone(),
                Node::If { cond, then, otherwise } => {
                    let cond = self.expr(*cond);
                    Node::If { cond, then: self.nodes(then), otherwise: self.nodes(otherwise) }
                }
                Node::Loop(id, body) => Node::Loop(*id, self.nodes(body)),
            });
        }
        copies
    }

    fn roles(&mut self) {
        let mut vars = Arena::new();
        for (old, variable) in self.from.vars.iter() {
            let Some(&new) = self.vars.get(&old) else { continue };
            vars.push(variable.clone());
            let role = match self.from.roles.get(old) {
                Some(Role::Opaque(id)) => Role::Opaque(self.opaques[id]),
                Some(&role) => role,
                None => unreachable!("only symbols of trial turns have no role, and nothing refers to these"),
            };
            self.to.roles.insert(new, role);
        }
        self.to.vars = vars;
    }

    fn spans(&mut self) {
        for (old, &span) in self.from.spans.iter() {
            if let Some(&new) = self.exprs.get(&old)
                && self.to.spans.get(new).is_none()
            {
                self.to.spans.insert(new, span);
            }
        }
    }
}
