//! From text to a protocol.

use super::guards::{Polarity, implied};
use super::{LOCKS, ParseError, REASONS};
use crate::calculus::text::{BASES, CLAIMED, MAX_DEPTH, ORDERS, Parsed, Parser, SCOPES};
use crate::calculus::{Basis, Claimed, ExprId, Function, HavocReason, Nature, ScalarType, SiteId, VarId};
use crate::memory_model::{AccessKind, Level};
use crate::protocol::{
    Access, Before, Carried, Claim, Count, Fact, Fence, Guard, Loop, LoopId, Node, Opaque, OpaqueId, Origin, Protocol,
    Reason, Role, Step, Sync, Ticket,
};
use crate::protocol::{counted, handed};
use rustc_hash::FxHashMap;

/// Reads one protocol.
pub fn parse(text: &str) -> Result<Protocol, ParseError> {
    let mut reader = Reader {
        parser: Parser::new(text)?,
        out: Protocol::default(),
        context: Vec::new(),
        loops: Vec::new(),
        by_site: FxHashMap::default(),
        named: Vec::new(),
        depth: 0,
    };
    reader.all()?;
    Ok(reader.finish())
}

struct Reader<'t> {
    parser: Parser<'t>,
    out: Protocol,
    context: Vec<Guard>,
    loops: Vec<LoopId>,
    by_site: FxHashMap<SiteId, LoopId>,
    /// Loops that stand in `in` clauses before the loops themselves.
    named: Vec<(OpaqueId, Vec<SiteId>)>,
    depth: usize,
}

impl Reader<'_> {
    fn all(&mut self) -> Parsed<()> {
        self.parser.head("protocol")?;
        while self.parser.take_word("where") {
            self.opaque()?;
        }
        self.out.body = self.nodes()?;
        for (id, sites) in std::mem::take(&mut self.named) {
            self.out.opaques[id].loops = self.found_loops(&sites)?;
        }
        self.parser.end()
    }

    fn finish(mut self) -> Protocol {
        let shell = std::mem::take(self.parser.kernel());
        self.out.name = shell.name;
        self.out.params = shell.params;
        self.out.arrays = shell.arrays;
        self.out.sites = shell.sites;
        self.out.vars = shell.vars;
        self.out.exprs = shell.exprs;
        self.out.geometry = shell.geometry;
        self.out.unsupported = shell.unsupported;
        handed::mark(&mut self.out);
        counted::mark(&mut self.out);
        self.out
    }

    fn found_loops(&mut self, sites: &[SiteId]) -> Parsed<Vec<LoopId>> {
        let mut found = Vec::new();
        for site in sites {
            match self.by_site.get(site) {
                Some(&id) => found.push(id),
                None => return self.parser.error(format!("no loop stands at @{}", site.index())),
            }
        }
        Ok(found)
    }

    fn condition(&mut self) -> Parsed<ExprId> {
        self.parser.expr(ScalarType::Bool)
    }

    fn value(&mut self) -> Parsed<ExprId> {
        self.parser.expr(ScalarType::I32)
    }

    fn values(&mut self) -> Parsed<Vec<ExprId>> {
        self.parser.sign("(")?;
        self.parser.arguments()
    }

    fn in_sites(&mut self) -> Parsed<Vec<SiteId>> {
        let mut sites = Vec::new();
        if self.parser.take_word("in") {
            while self.parser.at_sign("@") {
                sites.push(self.parser.site()?);
            }
        }
        Ok(sites)
    }

    // ---- unknown values ----

    fn opaque(&mut self) -> Parsed<()> {
        let var = self.parser.var()?;
        self.parser.word("is")?;
        let origin = self.origin()?;
        let uniform = match self.parser.take_word("uniform") {
            false => None,
            true if self.parser.take_word("grid") => Some(Level::Grid),
            true if self.parser.take_word("cluster") => Some(Level::Cluster),
            true if self.parser.take_word("warp") => Some(Level::Warp),
            true => {
                self.parser.word("block")?;
                Some(Level::Block)
            }
        };
        let id = self.out.opaques.push(Opaque {
            var,
            origin,
            loops: Vec::new(),
            uniform,
            handed: None,
            counted: None,
            span: None,
        });
        self.out.roles.insert(var, Role::Opaque(id));
        let sites = self.in_sites()?;
        self.named.push((id, sites));
        Ok(())
    }

    fn origin(&mut self) -> Parsed<Origin> {
        if self.parser.take_word("read") {
            let place = self.parser.access()?;
            let site = self.parser.site()?;
            let (stable, constant) = (self.parser.take_word("stable"), self.parser.take_word("constant"));
            let (array, offset, bytes) = (place.array, place.offset, place.bytes);
            return Ok(Origin::Read { array, site, offset, bytes, stable, constant });
        }
        if self.parser.take_word("atomic") {
            let (array, site) = (self.parser.array_ref()?, self.parser.site()?);
            let ticket = self.ticket()?;
            let count = match ticket {
                Some(Ticket { offset, step: Step::Constant(step) }) => Some(Count { offset, step, limit: None }),
                Some(Ticket { step: Step::Amount(_), .. }) => None,
                None => self.count()?,
            };
            return Ok(Origin::Atomic { array, site, ticket, count });
        }
        if self.parser.take_word("havoc") {
            let reason: HavocReason = self.parser.havoc_reason()?;
            return Ok(Origin::Havoc(reason));
        }
        if self.parser.take_word("loop") {
            let (site, name) = (self.parser.site()?, self.parser.string()?);
            self.parser.word("from")?;
            return Ok(Origin::Loop { site, name, from: self.values()? });
        }
        if self.parser.take_word("function") {
            let function = Function::of_text(&self.parser.string()?, Nature::default());
            return Ok(Origin::Function { function, args: self.values()? });
        }
        self.parser.word("complex")?;
        Ok(Origin::Complex { value: self.value()? })
    }

    fn ticket(&mut self) -> Parsed<Option<Ticket>> {
        if self.parser.take_word("takes") {
            let amount = self.value()?;
            self.parser.word("at")?;
            return Ok(Some(Ticket { offset: self.value()?, step: Step::Amount(amount) }));
        }
        let adds = self.parser.take_word("adds");
        if !adds && !self.parser.take_word("subtracts") {
            return Ok(None);
        }
        let amount = i64::try_from(self.parser.number()?).or_else(|_| self.parser.error("the number is too large"))?;
        self.parser.word("at")?;
        Ok(Some(Ticket { offset: self.value()?, step: Step::Constant(if adds { amount } else { -amount }) }))
    }

    fn count(&mut self) -> Parsed<Option<Count>> {
        if !self.parser.take_word("counts") {
            return Ok(None);
        }
        let is_negative = self.parser.take_sign("-");
        let amount = i64::try_from(self.parser.number()?).or_else(|_| self.parser.error("the number is too large"))?;
        self.parser.word("at")?;
        let offset = self.value()?;
        let mut limit = None;
        if self.parser.take_word("up") {
            self.parser.word("to")?;
            limit = Some(self.value()?);
        }
        Ok(Some(Count { offset, step: if is_negative { -amount } else { amount }, limit }))
    }

    // ---- the tree ----

    /// Nodes, facts and claims up to a closing brace, which is taken.
    fn nodes(&mut self) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        while !self.parser.take_sign("}") {
            nodes.extend(self.node()?);
        }
        Ok(nodes)
    }

    fn block(&mut self) -> Parsed<Vec<Node>> {
        self.parser.sign("{")?;
        if self.depth >= MAX_DEPTH {
            return self.parser.error(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let nodes = self.nodes();
        self.depth -= 1;
        nodes
    }

    fn node(&mut self) -> Parsed<Option<Node>> {
        let p = &mut self.parser;
        if p.take_word("rd") {
            return self.access(AccessKind::Read).map(Some);
        }
        if p.take_word("wr") {
            return self.access(AccessKind::Write).map(Some);
        }
        if p.take_word("atomic") {
            let writes = !p.take_word("load");
            let order = p.entry(ORDERS, "a memory order")?;
            let scope = p.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
            let lock = LOCKS.iter().find(|(word, _)| p.take_word(word)).map(|&(_, lock)| lock);
            let node = self.access(AccessKind::Atomic { writes, order, scope })?;
            if let Node::Access(id) = node {
                self.out.accesses[id].lock = lock;
            }
            return Ok(Some(node));
        }
        if p.take_word("sync") {
            return self.sync().map(Some);
        }
        if p.take_word("fence") {
            return self.fence().map(Some);
        }
        if p.take_word("if") {
            return self.branch().map(Some);
        }
        if p.take_word("for") {
            return self.turns().map(Some);
        }
        for &(word, claimed) in CLAIMED {
            if self.parser.take_word(word) {
                let claim = self.claim(claimed)?;
                self.out.claims.push(claim);
                return Ok(None);
            }
        }
        for &(word, basis) in BASES {
            if self.parser.take_word(word) {
                let fact = self.fact(basis)?;
                self.out.facts.push(fact);
                return Ok(None);
            }
        }
        self.parser.error("expected `rd`, `wr`, `atomic`, `sync`, `fence`, `if`, `for`, `assume`, `assert` or `}`")
    }

    fn access(&mut self, kind: AccessKind) -> Parsed<Node> {
        let place = self.parser.access()?;
        let value = if self.parser.take_sign(":=") { Some(self.value()?) } else { None };
        let site = self.parser.site()?;
        let guards = self.when_other()?;
        let reasons = self.exactness()?;
        let loops = self.loops.clone();
        let (array, offset, bytes, align) = (place.array, place.offset, place.bytes, place.align);
        let access = Access { site, array, offset, bytes, align, kind, value, lock: None, guards, loops, reasons };
        Ok(Node::Access(self.out.accesses.push(access)))
    }

    fn sync(&mut self) -> Parsed<Node> {
        let scope = self.parser.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
        let memory = self.parser.sync_memory()?;
        let among = self.parser.among()?;
        let site = self.parser.site()?;
        let guards = self.when_other()?;
        let reasons = self.exactness()?;
        let loops = self.loops.clone();
        Ok(Node::Sync(self.out.syncs.push(Sync { site, scope, memory, among, guards, loops, reasons })))
    }

    fn fence(&mut self) -> Parsed<Node> {
        let order = self.parser.entry(ORDERS, "a memory order")?;
        let scope = self.parser.entry(SCOPES, "a scope: warp, block, cluster, grid or system")?;
        let memory = self.parser.sync_memory()?;
        let site = self.parser.site()?;
        let guards = self.when_other()?;
        let (loops, after) = (self.loops.clone(), self.out.accesses.len());
        Ok(Node::Fence(self.out.fences.push(Fence { site, order, scope, memory, guards, loops, after })))
    }

    fn when_other(&mut self) -> Parsed<Vec<Guard>> {
        Ok(self.when()?.unwrap_or_else(|| self.context.clone()))
    }

    fn when(&mut self) -> Parsed<Option<Vec<Guard>>> {
        if !self.parser.take_word("when") {
            return Ok(None);
        }
        self.parser.sign("(")?;
        let mut guards = Vec::new();
        while !self.parser.take_sign(")") {
            if !guards.is_empty() {
                self.parser.sign(",")?;
            }
            let cond = self.condition()?;
            let not_returned = self.parser.take_word("not");
            if not_returned {
                self.parser.word("returned")?;
            }
            let of_loop = if self.parser.take_word("of") {
                let site = self.parser.site()?;
                self.found_loops(&[site])?.pop()
            } else {
                None
            };
            guards.push(Guard { cond, not_returned, of_loop });
        }
        Ok(Some(guards))
    }

    fn exactness(&mut self) -> Parsed<Vec<Reason>> {
        if self.parser.take_word("exact") {
            return Ok(Vec::new());
        }
        self.parser.word("approximate")?;
        self.parser.sign(":")?;
        let mut reasons = vec![self.reason()?];
        while self.parser.take_sign(",") {
            reasons.push(self.reason()?);
        }
        Ok(reasons)
    }

    fn reason(&mut self) -> Parsed<Reason> {
        let found = REASONS.iter().find(|(words, _)| self.parser.starts_with(words));
        let Some((words, kind)) = found else { return self.parser.error("expected a reason") };
        for word in *words {
            if *word == "-" { self.parser.sign("-")? } else { self.parser.word(word)? }
        }
        let mut array = None;
        if self.parser.take_sign("(") {
            array = Some(self.parser.array_ref()?);
            self.parser.sign(")")?;
        }
        Ok(Reason { kind: *kind, span: None, array })
    }

    fn branch(&mut self) -> Parsed<Node> {
        let cond = self.condition()?;
        let then = self.arm(cond, Polarity::Holds)?;
        let otherwise = if self.parser.take_word("else") { self.arm(cond, Polarity::Fails)? } else { Vec::new() };
        Ok(Node::If { cond, then, otherwise })
    }

    fn arm(&mut self, cond: ExprId, polarity: Polarity) -> Parsed<Vec<Node>> {
        let outer = self.context.len();
        let guards = match self.when()? {
            Some(guards) => guards,
            None => implied(&mut self.parser.kernel().exprs, cond, polarity, None),
        };
        self.context.extend(guards);
        let nodes = self.block()?;
        self.context.truncate(outer);
        Ok(nodes)
    }

    fn turns(&mut self) -> Parsed<Node> {
        let iteration = self.parser.var()?;
        let site = self.parser.site()?;
        self.parser.word("while")?;
        let guard = self.condition()?;
        let continues =
            if self.parser.take_word("continues") { self.condition()? } else { self.parser.kernel().exprs.bool(true) };
        let id = self.out.loops.push(Loop {
            site,
            iteration,
            guard,
            continues,
            carried: Vec::new(),
            loops: self.loops.clone(),
            guards: Vec::new(),
            has_sync: false,
            reasons: Vec::new(),
        });
        self.by_site.insert(site, id);
        self.out.roles.insert(iteration, Role::Iteration(id));
        if self.parser.take_word("carry") {
            self.carried(id)?;
            while self.parser.take_sign(",") {
                self.carried(id)?;
            }
        }
        let guards = self.when_other()?;
        self.out.loops[id].reasons = self.exactness()?;
        let inside = match if self.parser.take_word("body") { self.when()? } else { None } {
            Some(guards) => guards,
            None => implied(&mut self.parser.kernel().exprs, guard, Polarity::Holds, Some(id)),
        };
        let outer = std::mem::replace(&mut self.context, guards.clone());
        self.out.loops[id].guards = guards;
        self.context.extend(inside);
        self.loops.push(id);
        let syncs = self.out.syncs.len();
        let body = self.block()?;
        self.loops.pop();
        self.context = outer;
        self.out.loops[id].has_sync = self.out.syncs.len() > syncs;
        Ok(Node::Loop(id, body))
    }

    fn carried(&mut self, id: LoopId) -> Parsed<()> {
        let var: VarId = self.parser.var()?;
        let ty = self.parser.kernel().vars[var].ty;
        self.parser.sign("=")?;
        let start = self.parser.expr(ty)?;
        let toggles = self.parser.take_word("toggles");
        if !toggles {
            self.parser.word("moves")?;
        }
        let next = self.parser.expr(ty)?;
        self.out.roles.insert(var, if toggles { Role::Toggle(id) } else { Role::Geometric(id) });
        self.out.loops[id].carried.push(Carried { var, start, next });
        Ok(())
    }

    fn fact(&mut self, basis: Basis) -> Parsed<Fact> {
        let cond = self.condition()?;
        let (guards, loops, before) = self.place()?;
        Ok(Fact { cond, basis, guards, loops, before, span: None })
    }

    fn claim(&mut self, claimed: Claimed) -> Parsed<Claim> {
        let cond = self.condition()?;
        let site = self.parser.site()?;
        let (guards, loops, before) = self.place()?;
        let reasons = self.exactness()?;
        Ok(Claim { site, claimed, cond, guards, loops, before, reasons })
    }

    fn place(&mut self) -> Parsed<(Vec<Guard>, Vec<LoopId>, Before)> {
        let guards = self.when_other()?;
        let sites = self.in_sites()?;
        let loops = self.found_loops(&sites)?;
        let mut before = Before::default();
        if self.parser.take_word("after") {
            let mut number = || self.parser.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            before = Before { accesses: number()?, syncs: number()?, facts: number()? };
        }
        Ok((guards, loops, before))
    }
}
