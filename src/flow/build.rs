//! From a kernel to its graph of values: one walk over the statements, in order.
//!
//! The walk keeps the current definition of every variable. Where the arms of a branch meet, and at the head
//! and the end of a loop, variables that were assigned get a node that joins the definitions and depends on
//! the condition. A write depends on all conditions around it.

use super::branches::{Branches, FoundBranch, List};
use super::covered::{Covered, Place, Who};
use super::graph::{Graph, NodeId, NodeKind, SinkNode};
use super::uniform::Traits;
use super::uses::{content, uses};
use super::{AccessKind, Decides, Sink, Source, spin};
use crate::calculus::statements::{self, assigned};
use crate::calculus::{Access, ArrayId, ExprId, For, HavocReason, Kernel, SiteId, Space, Stmt, Test, VarId};
use rustc_hash::FxHashSet;

/// Statements nested deeper than this are not analysed; the walk recurses.
const MAX_NESTING: usize = 400;

/// What the walk made.
pub(super) struct Built {
    pub(super) graph: Graph,
    pub(super) sinks: Vec<SinkNode>,
    pub(super) branches: Vec<FoundBranch>,
}

/// The graph of a kernel; `None` if it is nested too deep.
pub(super) fn build(kernel: &Kernel) -> Option<Built> {
    if crate::calculus::nesting(&kernel.body) > MAX_NESTING {
        return None;
    }
    let mut walk = Walk::new(kernel);
    walk.statements(&kernel.body);
    for (array, writes) in walk.written.iter().enumerate() {
        walk.graph.nodes[walk.written_nodes[array]].uses.clone_from(writes);
    }
    Some(Built { graph: walk.graph, sinks: walk.sinks, branches: walk.branches.finish() })
}

pub(super) struct Walk<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) graph: Graph,
    /// The definition of each variable.
    pub(super) env: Vec<NodeId>,
    /// Definitions that were replaced, to return to where a branch began.
    journal: Vec<(VarId, NodeId)>,
    /// What is written to each array, and the node that stands for all of it.
    written: Vec<Vec<NodeId>>,
    written_nodes: Vec<NodeId>,
    pub(super) writers: FxHashSet<ArrayId>,
    /// The conditions around the current statement, outermost first.
    around: Vec<NodeId>,
    /// What each condition is known to decide.
    marked: Vec<Option<Decides>>,
    sinks: Vec<SinkNode>,
    covered: Covered,
    pub(super) traits: Traits,
    branches: Branches,
}

impl<'k> Walk<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let mut graph = Graph::default();
        let mut traits = Traits::default();
        // What a variable holds before its first assignment is of no account: see `Source::Unset`.
        let nothing = graph.node(NodeKind::Joined, Vec::new());
        let env = vec![nothing; kernel.vars.len()];
        let written_nodes: Vec<NodeId> =
            kernel.arrays.handles().map(|_| graph.node(NodeKind::Written, Vec::new())).collect();
        let mut written = vec![Vec::new(); kernel.arrays.len()];
        let mut writers = statements::written(&kernel.body);
        for entry in &kernel.unsupported {
            let what = graph.source(Source::Unknown { what: entry.reason.clone(), span: entry.span });
            let all: Vec<ArrayId> = kernel.arrays.handles().collect();
            for &array in entry.arrays.as_ref().unwrap_or(&all) {
                written[array.index()].push(what);
                writers.insert(array);
            }
        }
        traits.grow(graph.nodes.len());
        Walk {
            kernel,
            graph,
            env,
            journal: Vec::new(),
            written,
            written_nodes,
            writers,
            around: Vec::new(),
            marked: Vec::new(),
            sinks: Vec::new(),
            covered: Covered::default(),
            traits,
            branches: Branches::default(),
        }
    }

    fn node(&mut self, kind: NodeKind, uses: Vec<NodeId>) -> NodeId {
        let node = self.graph.node(kind, uses);
        self.traits.grow(self.graph.nodes.len());
        node
    }

    fn uses(&mut self, exprs: &[ExprId]) -> Vec<NodeId> {
        let mut into = Vec::new();
        for &expr in exprs {
            uses(self.kernel, &mut self.graph, &self.env, expr, &mut into);
        }
        self.traits.grow(self.graph.nodes.len());
        into
    }

    fn define(&mut self, var: VarId, node: NodeId) {
        let before = std::mem::replace(&mut self.env[var.index()], node);
        self.journal.push((var, before));
    }

    fn statements(&mut self, body: &[Stmt]) {
        self.branches.enter();
        for stmt in body {
            self.statement(stmt);
        }
        self.branches.leave();
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value } => {
                let uses = self.uses(&[*value]);
                let node = self.node(NodeKind::Assigned(*var, *value), uses);
                self.traits.assigned(node, self.kernel, &self.env, *value);
                self.define(*var, node);
            }
            Stmt::Read { var, access } => {
                let node = self.read(access);
                self.define(*var, node);
            }
            Stmt::Write { access, value } => {
                let mut uses = self.uses(&[access.offset]);
                match value {
                    Some(value) => uses.extend(self.uses(&[*value])),
                    None => uses.push(self.unknown("bytes that are copied", self.kernel.sites[access.site].span)),
                }
                self.access(AccessKind::Write, access);
                self.write(access, uses);
                let constant = self.kernel.exprs.as_int(access.offset);
                let place = self.place(access);
                let is_shared = self.kernel.arrays[access.array].space == Space::Shared;
                self.covered.write(place, constant, is_shared);
            }
            Stmt::Atomic { var, access, operands, .. } => self.atomic(*var, access, operands),
            Stmt::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            Stmt::For(counted) => self.counted(counted),
            Stmt::Loop { test, body, site } => self.tested(*test, body, *site),
            Stmt::Sync { among, .. } if among.is_in_step() => {}
            Stmt::Sync { scope, memory, among, site } => {
                let sink = Sink::GuardOfSync(*site);
                self.mark_around(sink, Decides::Conflicts);
                self.branches.barrier();
                if among.is_everyone() {
                    self.covered.sync(*scope, *memory);
                }
            }
            Stmt::Havoc { var, reason, span } => {
                let source = havoc(&self.kernel.vars[*var].name, reason, *span);
                let node = self.graph.source(source);
                self.traits.grow(self.graph.nodes.len());
                self.define(*var, node);
            }
            Stmt::Fence { .. } | Stmt::Assume { .. } | Stmt::Assert { .. } => {}
        }
    }

    fn unknown(&mut self, what: &str, span: Option<crate::source::Span>) -> NodeId {
        self.graph.source(Source::Unknown { what: what.to_owned(), span })
    }

    /// The location of an access, as the thread names it here.
    fn place(&self, access: &Access) -> Place {
        let mut definitions = Vec::new();
        self.kernel.exprs.visit(access.offset, |_, node| {
            if let crate::calculus::Expr::Var(var) = node {
                definitions.push(self.env[var.index()]);
            }
        });
        Place { array: access.array, offset: access.offset, definitions, bytes: access.bytes }
    }

    /// What a read finds: what is written to the array anywhere, or what it held at the start.
    fn found(&mut self, access: &Access) -> Vec<NodeId> {
        let mut found = self.uses(&[access.offset]);
        if self.writers.contains(&access.array) {
            found.push(self.written_nodes[access.array.index()]);
        }
        let constant = self.kernel.exprs.as_int(access.offset);
        if !self.covered.covers(&self.place(access), constant) {
            found.push(content(self.kernel, &mut self.graph, access.array));
        }
        found
    }

    fn read(&mut self, access: &Access) -> NodeId {
        self.access(AccessKind::Read, access);
        let found = self.found(access);
        self.node(NodeKind::Read(access.array, access.site), found)
    }

    /// A write depends on where it goes, on what it stores, and on all conditions around it.
    fn write(&mut self, access: &Access, mut uses: Vec<NodeId>) {
        uses.extend(self.around.iter().copied());
        let node = self.node(NodeKind::Write(access.array, access.site), uses);
        self.written[access.array.index()].push(node);
    }

    fn atomic(&mut self, var: Option<VarId>, access: &Access, operands: &[ExprId]) {
        self.branches.obstacle();
        self.access(AccessKind::Atomic, access);
        let span = self.kernel.sites[access.site].span;
        let schedule = self.graph.source(Source::Schedule { what: "atomic".to_owned(), span });
        let mut uses = self.uses(&[access.offset]);
        uses.extend(self.uses(operands));
        uses.push(schedule);
        let mut found = self.found(access);
        found.push(schedule);
        self.write(access, uses);
        let node = self.node(NodeKind::Atomic(access.array, access.site), found);
        if let Some(var) = var {
            self.define(var, node);
        }
    }

    /// Notes the sinks of an access: its index, and the conditions around it.
    fn access(&mut self, kind: AccessKind, access: &Access) {
        let array = access.array;
        let space = self.kernel.arrays[array].space;
        if space == Space::Private {
            return;
        }
        let decides =
            if self.writers.contains(&array) && space != Space::Constant { Decides::Conflicts } else { Decides::Reads };
        let place = self.place(access);
        self.branches.access(place, kind, access.site);
        for node in self.uses(&[access.offset]) {
            let sink = Sink::Index(kind, array, access.site);
            self.sinks.push(SinkNode { node, sink, decides });
        }
        self.mark_around(Sink::GuardOfAccess(kind, array, access.site), decides);
    }

    /// Makes sinks of the conditions around the current statement, unless they are.
    fn mark_around(&mut self, sink: Sink, decides: Decides) {
        self.marked.resize(self.graph.nodes.len(), None);
        for &node in self.around.iter().rev() {
            let known = &mut self.marked[node.index()];
            if known.is_some_and(|known| known <= decides) {
                return;
            }
            *known = Some(decides);
            self.sinks.push(SinkNode { node, sink, decides });
        }
    }

    fn branch(&mut self, cond: ExprId, then: &[Stmt], otherwise: &[Stmt]) {
        if let Some(value) = self.kernel.exprs.as_int(cond) {
            // What a template argument or macro decides is no branch.
            let taken = if value == 0 { otherwise } else { then };
            for stmt in taken {
                self.statement(stmt);
            }
            return;
        }
        let uses = self.uses(&[cond]);
        let condition = self.node(NodeKind::Condition(cond), uses);
        let who = if self.first_thread_is_here() && self.traits.holds_at_first(self.kernel, &self.env, cond) {
            Who::FirstThread
        } else {
            Who::Some
        };
        self.traits.condition(condition, self.kernel, &self.env, cond);
        let (after_then, then) = self.arm(condition, then, who);
        self.traits.negate(condition);
        let (after_otherwise, otherwise) = self.arm(condition, otherwise, Who::Some);
        self.branches.branch((cond, condition), &then, &otherwise);
        let mut joined: Vec<VarId> = after_then.iter().chain(&after_otherwise).map(|&(var, _)| var).collect();
        joined.sort_unstable();
        joined.dedup();
        for var in joined {
            let of = |arm: &[(VarId, NodeId)]| {
                arm.binary_search_by_key(&var, |&(var, _)| var).ok().map(|place| arm[place].1)
            };
            let before = self.env[var.index()];
            let (a, b) = (of(&after_then).unwrap_or(before), of(&after_otherwise).unwrap_or(before));
            if a != b {
                let node = self.node(NodeKind::Joined, vec![a, b, condition]);
                self.traits.joined(node, &[a, b, condition]);
                self.define(var, node);
            }
        }
    }

    /// Whether the first thread of the block certainly runs the current statement, if any thread of it does.
    fn first_thread_is_here(&self) -> bool {
        self.around.iter().all(|&node| self.traits.is_met_by_first(node))
    }

    /// Walks an arm of a branch; what it assigns, sorted by variable. The environment is as it was.
    fn arm(&mut self, condition: NodeId, body: &[Stmt], who: Who) -> (Vec<(VarId, NodeId)>, List) {
        if body.is_empty() {
            return Default::default();
        }
        let (start, mark) = (self.journal.len(), self.covered.mark());
        self.around.push(condition);
        self.statements(body);
        self.around.pop();
        self.covered.leave(mark, who);
        let mut changed: Vec<VarId> = self.journal[start..].iter().map(|&(var, _)| var).collect();
        changed.sort_unstable();
        changed.dedup();
        let after = changed.iter().map(|&var| (var, self.env[var.index()])).collect();
        for (var, before) in self.journal.drain(start..).rev() {
            self.env[var.index()] = before;
        }
        (after, self.branches.take_last())
    }

    /// A node for each variable that the body assigns, as the turns of the loop find them.
    fn turn(&mut self, body: &[Stmt]) -> Vec<(VarId, NodeId)> {
        let mut assigned = assigned(body);
        assigned.sort_unstable();
        assigned.dedup();
        let turns: Vec<(VarId, NodeId)> = assigned
            .into_iter()
            .map(|var| {
                let before = self.env[var.index()];
                (var, self.node(NodeKind::Turn, vec![before]))
            })
            .collect();
        for &(var, node) in &turns {
            self.define(var, node);
        }
        turns
    }

    /// Closes the circle: what a turn leaves is what the next one finds. After the loop each variable depends
    /// on the test, too. `exit` says what a variable is there.
    fn after(&mut self, turns: &[(VarId, NodeId)], test: NodeId, exit: impl Fn(NodeId, NodeId) -> NodeId) {
        for &(var, turn) in turns {
            let end = self.env[var.index()];
            self.graph.nodes[turn].uses.push(end);
            let node = self.node(NodeKind::Joined, vec![exit(turn, end), test]);
            self.define(var, node);
        }
    }

    fn body(&mut self, condition: NodeId, body: &[Stmt]) {
        let mark = self.covered.mark();
        self.branches.obstacle();
        self.around.push(condition);
        self.statements(body);
        self.around.pop();
        self.covered.leave(mark, Who::Some);
        self.branches.barrier();
    }

    fn counted(&mut self, counted: &For) {
        let uses = self.uses(&[counted.start, counted.bound, counted.step.by]);
        let test = self.node(NodeKind::LoopTest(counted.site), uses);
        let bounds = [counted.start, counted.bound, counted.step.by];
        self.traits.counted(test, self.kernel, &self.env, &bounds);
        let moves = self.uses(&[counted.start, counted.step.by]);
        let turns = self.turn(&counted.body);
        let var = self.node(NodeKind::LoopTest(counted.site), moves);
        self.traits.counted(var, self.kernel, &self.env, &bounds);
        self.define(counted.var, var);
        self.body(test, &counted.body);
        self.after(&turns, test, |turn, _| turn);
        let left = self.node(NodeKind::Joined, vec![var, test]);
        self.define(counted.var, left);
    }

    fn tested(&mut self, test: Test, body: &[Stmt], site: SiteId) {
        let first = self.graph.nodes.len();
        let turns = self.turn(body);
        let node = self.node(NodeKind::LoopTest(site), Vec::new());
        if let Test::Before(cond) = test {
            let uses = self.uses(&[cond]);
            self.graph.nodes[node].uses = uses;
        }
        self.body(node, body);
        if let Test::After(cond) = test {
            let uses = self.uses(&[cond]);
            self.graph.nodes[node].uses = uses;
        }
        match test {
            Test::Before(_) => self.after(&turns, node, |turn, _| turn),
            Test::After(_) => self.after(&turns, node, |_, end| end),
        }
        if spin::waits(self, node, first, body) {
            let what = "loop that waits for another thread".to_owned();
            let schedule = self.graph.source(Source::Schedule { what, span: self.kernel.sites[site].span });
            self.traits.grow(self.graph.nodes.len());
            self.graph.nodes[node].uses.push(schedule);
        }
    }
}

fn havoc(name: &str, reason: &HavocReason, span: Option<crate::source::Span>) -> Source {
    match reason {
        HavocReason::Uninitialized => Source::Unset { name: name.to_owned(), span },
        HavocReason::Schedule(what) => Source::Schedule { what: what.clone(), span },
        HavocReason::Call(what) | HavocReason::Common(_, what) => {
            Source::Unknown { what: format!("the result of {what}"), span }
        }
        HavocReason::Undeclared(what) => Source::Unknown { what: format!("the undeclared name `{what}`"), span },
        HavocReason::Choice => Source::Named(name.to_owned()),
        HavocReason::Implementation(what) | HavocReason::Pointer(what) | HavocReason::Other(what) => {
            Source::Unknown { what: what.clone(), span }
        }
    }
}
