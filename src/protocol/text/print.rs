//! From a protocol to text.

use super::guards::{Polarity, implied};
use super::{LOCKS, REASONS};
use crate::calculus::text::{
    BASES, CLAIMED, KernelPrinter, Names, ORDERS, SCOPES, quoted, reason_text as havoc_text, word,
};
use crate::calculus::{ArrayId, ExprId, Exprs, Kernel, ScalarType};
use crate::memory_model::{AccessKind, Level};
use crate::protocol::infer::finish;
use crate::protocol::{
    AccessId, Before, Carried, Claim, Count, Fact, FenceId, Guard, LoopId, Node, Opaque, Origin, Protocol, Reason,
    ReasonKind, Role, Step, SyncId, Ticket,
};

/// The protocol as text.
pub fn print(protocol: &Protocol) -> String {
    let shell = shell(protocol);
    let roots = roots(protocol);
    let names = Names::of(&shell);
    let text = KernelPrinter::new(&shell, &names, &roots);
    let mut printer = Printer { protocol, exprs: protocol.exprs.clone(), text, context: Vec::new() };
    printer.all();
    printer.text.finish()
}

/// One expression of the protocol as text; `…` if it is too large to be read.
pub fn print_expr(protocol: &Protocol, id: ExprId) -> String {
    crate::calculus::text::print_expr(&shell(protocol), id)
}

/// Why something is approximate, as text.
pub fn print_reason(protocol: &Protocol, reason: &Reason) -> String {
    let array = reason.array.map_or_else(String::new, |array| format!(" ({})", protocol.arrays[array].name));
    format!("{}{array}", reason_text(reason.kind))
}

/// Expressions that the text will write, as often as it does.
fn roots(protocol: &Protocol) -> Vec<ExprId> {
    let mut roots = finish::roots(protocol);
    roots.extend(protocol.opaques.iter().flat_map(|(_, opaque)| finish::described_by(&opaque.origin)));
    let carried = protocol.loops.iter().flat_map(|(_, each)| &each.carried);
    roots.extend(carried.flat_map(|carried| [carried.start, carried.next]));
    roots
}

/// What protocols and kernels have in common, as a kernel.
fn shell(protocol: &Protocol) -> Kernel {
    Kernel {
        name: protocol.name.clone(),
        params: protocol.params.clone(),
        arrays: protocol.arrays.clone(),
        vars: protocol.vars.clone(),
        exprs: protocol.exprs.clone(),
        sites: protocol.sites.clone(),
        geometry: protocol.geometry.clone(),
        unsupported: protocol.unsupported.clone(),
        ..Kernel::default()
    }
}

struct Printer<'p> {
    protocol: &'p Protocol,
    /// A copy in which implied guards are looked up.
    exprs: Exprs,
    text: KernelPrinter<'p>,
    /// The guards that the place implies.
    context: Vec<Guard>,
}

impl Printer<'_> {
    fn all(&mut self) {
        self.text.head("protocol");
        let protocol = self.protocol;
        for (_, opaque) in protocol.opaques.iter() {
            let line = self.opaque(opaque);
            self.text.line(1, &line);
        }
        self.nodes(&protocol.body, 1);
        for fact in &protocol.facts {
            let line = self.fact(fact);
            self.text.line(1, &line);
        }
        for claim in &protocol.claims {
            let line = self.claim(claim);
            self.text.line(1, &line);
        }
    }

    fn condition(&self, cond: ExprId) -> String {
        self.text.own(cond, ScalarType::Bool)
    }

    fn value(&self, value: ExprId) -> String {
        self.text.own(value, ScalarType::I32)
    }

    fn values(&self, values: &[ExprId]) -> String {
        values.iter().map(|&value| self.value(value)).collect::<Vec<_>>().join(", ")
    }

    fn sites_of(&mut self, loops: &[LoopId]) -> String {
        let sites: Vec<_> = loops.iter().map(|&id| self.text.site(self.protocol.loops[id].site)).collect();
        if sites.is_empty() { String::new() } else { format!(" in {}", sites.join(" ")) }
    }

    fn opaque(&mut self, opaque: &Opaque) -> String {
        let name = self.text.var(opaque.var).to_owned();
        let what = match &opaque.origin {
            Origin::Read { array, site, offset, bytes, stable, constant } => {
                let site = self.text.site(*site);
                let marks = [if *stable { " stable" } else { "" }, if *constant { " constant" } else { "" }].concat();
                format!("read {} {site}{marks}", self.text.place(*array, *offset, *bytes))
            }
            Origin::Atomic { array, site, ticket, count } => {
                let (array, site) = (self.text.array(*array).to_string(), self.text.site(*site));
                let drawn = ticket.map(|Ticket { offset, step }| {
                    let step = match step {
                        Step::Constant(step) if step < 0 => format!("subtracts {}", step.unsigned_abs()),
                        Step::Constant(step) => format!("adds {step}"),
                        Step::Amount(amount) => format!("takes {}", self.value(amount)),
                    };
                    format!(" {step} at {}", self.value(offset))
                });
                // That a ticket was counted goes without saying.
                let counted = count.filter(|_| ticket.is_none()).map(|Count { offset, step, limit }| {
                    let limit = limit.map_or(String::new(), |limit| format!(" up to {}", self.value(limit)));
                    format!(" counts {step} at {}{limit}", self.value(offset))
                });
                format!("atomic {array} {site}{}{}", drawn.unwrap_or_default(), counted.unwrap_or_default())
            }
            Origin::Havoc(reason) => format!("havoc {}", havoc_text(reason)),
            Origin::Loop { site, name, from } => {
                let site = self.text.site(*site);
                format!("loop {site} {} from ({})", quoted(name, '"'), self.values(from))
            }
            Origin::Function { function, args } => {
                format!("function {}({})", quoted(function.name(), '"'), self.values(args))
            }
            Origin::Complex { value } => format!("complex {}", self.value(*value)),
        };
        let uniform = match opaque.uniform {
            None => "",
            Some(Level::Warp) => " uniform warp",
            Some(Level::Block) => " uniform block",
            Some(Level::Cluster) => " uniform cluster",
            Some(Level::Grid) => " uniform grid",
        };
        format!("where {name} is {what}{uniform}{}", self.sites_of(&opaque.loops))
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            match node {
                Node::Access(id) => {
                    let line = self.access(*id);
                    self.text.line(depth, &line);
                }
                Node::Sync(id) => {
                    let line = self.sync(*id);
                    self.text.line(depth, &line);
                }
                Node::Fence(id) => {
                    let line = self.fence(*id);
                    self.text.line(depth, &line);
                }
                Node::If { cond, then, otherwise } => self.branch(*cond, then, otherwise, depth),
                Node::Loop(id, body) => self.turns(*id, body, depth),
            }
        }
    }

    fn access(&mut self, id: AccessId) -> String {
        let access = &self.protocol.accesses[id];
        let place = self.text.aligned_place(access.array, access.offset, (access.bytes, access.align));
        let value = access.value.map_or(String::new(), |value| format!(" := {}", self.value(value)));
        let what = match access.kind {
            AccessKind::Read => "rd".to_owned(),
            AccessKind::Write => "wr".to_owned(),
            AccessKind::Atomic { writes, order, scope } => {
                let load = if writes { "" } else { "load " };
                let lock = access.lock.map_or(String::new(), |lock| format!(" {}", word(LOCKS, &lock)));
                format!("atomic {load}{} {}{lock}", word(ORDERS, &order), word(SCOPES, &scope))
            }
        };
        let site = self.text.site(access.site);
        format!("{what} {place}{value} {site}{}{}", self.when_other(&access.guards), self.exactness(&access.reasons))
    }

    fn sync(&mut self, id: SyncId) -> String {
        let sync = &self.protocol.syncs[id];
        let site = self.text.site(sync.site);
        let among = self.text.among(sync.among);
        let marks = [self.when_other(&sync.guards), self.exactness(&sync.reasons)].concat();
        format!("sync {} {}{among}{site}{marks}", word(SCOPES, &sync.scope), self.text.memory(sync.memory))
    }

    fn fence(&mut self, id: FenceId) -> String {
        let fence = &self.protocol.fences[id];
        let site = self.text.site(fence.site);
        let (order, scope) = (word(ORDERS, &fence.order), word(SCOPES, &fence.scope));
        format!("fence {order} {scope} {}{site}{}", self.text.memory(fence.memory), self.when_other(&fence.guards))
    }

    /// The guards, if they are not those of the place.
    fn when_other(&mut self, guards: &[Guard]) -> String {
        if guards == self.context { String::new() } else { self.when(guards) }
    }

    fn when(&mut self, guards: &[Guard]) -> String {
        let parts: Vec<_> = guards
            .iter()
            .map(|guard| {
                let cond = self.condition(guard.cond);
                let returned = if guard.not_returned { " not returned" } else { "" };
                let of = guard.of_loop.map(|id| format!(" of {}", self.text.site(self.protocol.loops[id].site)));
                format!("{cond}{returned}{}", of.unwrap_or_default())
            })
            .collect();
        format!(" when ({})", parts.join(", "))
    }

    fn exactness(&self, reasons: &[Reason]) -> String {
        if reasons.is_empty() {
            return " exact".to_owned();
        }
        let reasons: Vec<_> = reasons.iter().map(|reason| self.reason(reason)).collect();
        format!(" approximate: {}", reasons.join(", "))
    }

    fn reason(&self, reason: &Reason) -> String {
        let array = reason.array.map_or(String::new(), |array: ArrayId| format!(" ({})", self.text.array(array)));
        format!("{}{array}", reason_text(reason.kind))
    }

    fn branch(&mut self, cond: ExprId, then: &[Node], otherwise: &[Node], depth: usize) {
        let outer = self.context.len();
        let when = self.enter_arm(cond, Polarity::Holds, then);
        let line = format!("if {}{when} {{", self.condition(cond));
        self.text.line(depth, &line);
        self.nodes(then, depth + 1);
        self.context.truncate(outer);
        if !otherwise.is_empty() {
            let when = self.enter_arm(cond, Polarity::Fails, otherwise);
            self.text.line(depth, &format!("}} else{when} {{"));
            self.nodes(otherwise, depth + 1);
            self.context.truncate(outer);
        }
        self.text.line(depth, "}");
    }

    /// Adds the guards of an arm to the context; their text, if the condition does not imply them.
    fn enter_arm(&mut self, cond: ExprId, polarity: Polarity, nodes: &[Node]) -> String {
        let implied = implied(&mut self.exprs, cond, polarity, None);
        let actual = self.guards_of(nodes, &implied);
        self.enter(implied, actual)
    }

    fn enter(&mut self, implied: Vec<Guard>, actual: Vec<Guard>) -> String {
        let when = if implied == actual { String::new() } else { self.when(&actual) };
        self.context.extend(actual);
        when
    }

    /// The guards that everything in `nodes` has beyond the context: those of what stands there directly, or
    /// else as many as all have in common, of which the implied ones suffice.
    fn guards_of(&self, nodes: &[Node], implied: &[Guard]) -> Vec<Guard> {
        let own = |guards: &[Guard]| guards.strip_prefix(&self.context[..]).map(<[Guard]>::to_vec);
        let mut common: Option<Vec<Guard>> = None;
        let mut pending: Vec<(&Node, bool)> = nodes.iter().rev().map(|node| (node, true)).collect();
        while let Some((node, direct)) = pending.pop() {
            let guards = match node {
                Node::Access(id) => own(&self.protocol.accesses[*id].guards),
                Node::Sync(id) => own(&self.protocol.syncs[*id].guards),
                Node::Fence(id) => own(&self.protocol.fences[*id].guards),
                Node::Loop(id, _) => own(&self.protocol.loops[*id].guards),
                Node::If { then, otherwise, .. } => {
                    pending.extend(then.iter().chain(otherwise).map(|node| (node, false)));
                    continue;
                }
            };
            let Some(guards) = guards else { continue };
            if direct {
                return guards;
            }
            let known = common.get_or_insert_with(|| guards.clone());
            let shared = known.iter().zip(&guards).take_while(|(a, b)| a == b).count();
            known.truncate(shared);
        }
        match common {
            Some(common) if !common.starts_with(implied) => common,
            _ => implied.to_vec(),
        }
    }

    fn turns(&mut self, id: LoopId, body: &[Node], depth: usize) {
        let each = &self.protocol.loops[id];
        let (name, site) = (self.text.var(each.iteration).to_owned(), self.text.site(each.site));
        let mut line = format!("for {name} {site} while {}", self.condition(each.guard));
        if self.protocol.exprs.as_int(each.continues) != Some(1) {
            line.push_str(&format!(" continues {}", self.condition(each.continues)));
        }
        for (index, carried) in each.carried.iter().enumerate() {
            line.push_str(if index == 0 { " carry " } else { ", " });
            line.push_str(&self.carried(carried));
        }
        line.push_str(&self.when_other(&each.guards));
        line.push_str(&self.exactness(&each.reasons));
        let outer = std::mem::replace(&mut self.context, each.guards.clone());
        let implied = implied(&mut self.exprs, each.guard, Polarity::Holds, Some(id));
        let actual = self.guards_of(body, &implied);
        let inside = self.enter(implied, actual);
        if !inside.is_empty() {
            line.push_str(&format!(" body{inside}"));
        }
        self.text.line(depth, &format!("{line} {{"));
        self.nodes(body, depth + 1);
        self.text.line(depth, "}");
        self.context = outer;
    }

    fn carried(&self, carried: &Carried) -> String {
        let ty = self.protocol.vars[carried.var].ty;
        let verb = match self.protocol.roles.get(carried.var) {
            Some(Role::Toggle(_)) => "toggles",
            _ => "moves",
        };
        let (start, next) = (self.text.own(carried.start, ty), self.text.own(carried.next, ty));
        format!("{} = {start} {verb} {next}", self.text.var(carried.var))
    }

    fn fact(&mut self, fact: &Fact) -> String {
        let (basis, cond) = (word(BASES, &fact.basis), self.condition(fact.cond));
        let guards = self.when_other(&fact.guards);
        format!("{basis} {cond}{guards}{}{}", self.sites_of(&fact.loops), before(fact.before))
    }

    fn claim(&mut self, claim: &Claim) -> String {
        let (cond, site) = (self.condition(claim.cond), self.text.site(claim.site));
        let guards = self.when_other(&claim.guards);
        let place = [self.sites_of(&claim.loops), before(claim.before), self.exactness(&claim.reasons)].concat();
        format!("{} {cond} {site}{guards}{place}", word(CLAIMED, &claim.claimed))
    }
}

/// ` after 2 1 0`; nothing if nothing stands before.
fn before(place: Before) -> String {
    let Before { accesses, syncs, facts } = place;
    if place == Before::default() { String::new() } else { format!(" after {accesses} {syncs} {facts}") }
}

/// `data-dependent index`
pub(super) fn reason_text(kind: ReasonKind) -> String {
    let words = REASONS.iter().find(|(_, other)| *other == kind).map_or(&[][..], |(words, _)| words);
    words.join(" ").replace(" - ", "-")
}
