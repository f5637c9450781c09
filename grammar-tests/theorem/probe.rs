//! The same kernel with counters and probes, so that a run shows turns, trip counts and executed syncs.

use raceproof::arena::Arena;
use raceproof::calculus::{
    Access, Array, ArrayId, BinaryOp, Kernel, ScalarType, Site, SiteId, Space, Stmt, VarId, Variable,
};
use std::collections::BTreeMap;

/// A kernel with probes.
pub(crate) struct Probed {
    pub(crate) kernel: Kernel,
    /// The variable that counts the turns of each loop.
    pub(crate) counters: BTreeMap<SiteId, VarId>,
    /// The loops around each access and sync of the original kernel, outermost first.
    pub(crate) around: BTreeMap<SiteId, Vec<SiteId>>,
    /// What each probe says: a loop that has ended, or a sync that is about to happen.
    pub(crate) probes: BTreeMap<SiteId, Probe>,
}

/// What a probe stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    LoopEnded(SiteId),
    Sync(SiteId),
}

/// Adds counters and probes.
pub(crate) fn probed(kernel: &Kernel) -> Probed {
    let mut copy = kernel.clone();
    let array = copy.arrays.push(Array {
        name: "probe".to_owned(),
        space: Space::Global,
        bytes: None,
        element_bytes: 1,
        inner_dims: Vec::new(),
        is_param: true,
        is_filled_elsewhere: false,
        held_in: None,
        given: None,
        span: None,
    });
    let body = std::mem::take(&mut copy.body);
    let mut prober = Prober {
        array,
        within: Vec::new(),
        probed: Probed { kernel: copy, counters: BTreeMap::new(), around: BTreeMap::new(), probes: BTreeMap::new() },
    };
    let body = prober.body(body);
    prober.probed.kernel.body = body;
    prober.probed
}

struct Prober {
    array: ArrayId,
    within: Vec<SiteId>,
    probed: Probed,
}

fn site(sites: &mut Arena<Site>) -> SiteId {
    sites.push(Site { span: None, inlined: Vec::new(), told: None })
}

impl Prober {
    fn probe(&mut self, what: Probe) -> Stmt {
        let kernel = &mut self.probed.kernel;
        let site = site(&mut kernel.sites);
        let offset = kernel.exprs.int(0, ScalarType::I64);
        self.probed.probes.insert(site, what);
        self.probed.around.insert(site, self.within.clone());
        Stmt::Write { access: Access { array: self.array, offset, bytes: 1, align: 1, site }, value: None }
    }

    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        body.into_iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: Stmt) -> Vec<Stmt> {
        match statement {
            Stmt::If { cond, then, otherwise } => {
                vec![Stmt::If { cond, then: self.body(then), otherwise: self.body(otherwise) }]
            }
            Stmt::For(mut each) => {
                let body = std::mem::take(&mut each.body);
                let (site, (reset, body)) = (each.site, self.turns(each.site, body));
                each.body = body;
                vec![reset, Stmt::For(each), self.probe(Probe::LoopEnded(site))]
            }
            Stmt::Loop { test, body, site } => {
                let (reset, body) = self.turns(site, body);
                vec![reset, Stmt::Loop { test, body, site }, self.probe(Probe::LoopEnded(site))]
            }
            Stmt::Sync { site, .. } => {
                self.probed.around.insert(site, self.within.clone());
                vec![self.probe(Probe::Sync(site)), statement]
            }
            Stmt::Read { ref access, .. } | Stmt::Write { ref access, .. } | Stmt::Atomic { ref access, .. } => {
                self.probed.around.insert(access.site, self.within.clone());
                vec![statement]
            }
            other => vec![other],
        }
    }

    /// The statement that resets the counter of a loop, and its body with the counter.
    fn turns(&mut self, site: SiteId, body: Vec<Stmt>) -> (Stmt, Vec<Stmt>) {
        self.within.push(site);
        let mut body = self.body(body);
        self.within.pop();
        let kernel = &mut self.probed.kernel;
        let name = format!("turn.{}", site.index());
        let counter = kernel.vars.push(Variable { name, ty: ScalarType::I64 });
        self.probed.counters.insert(site, counter);
        let (zero, one) = (kernel.exprs.int(0, ScalarType::I64), kernel.exprs.int(1, ScalarType::I64));
        let now = kernel.exprs.var(counter, ScalarType::I64);
        let next = kernel.exprs.binary(BinaryOp::Add, now, one);
        body.push(Stmt::Let { var: counter, value: next });
        (Stmt::Let { var: counter, value: zero }, body)
    }
}
