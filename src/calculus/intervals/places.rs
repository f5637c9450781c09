//! Where accesses, syncs and loops stand in the tree of a kernel.

use super::endings;
use crate::calculus::{Kernel, SiteId, Stmt, VarId};
use rustc_hash::FxHashMap;

/// One thing around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// An arm of an `if`; both are numbered through the kernel.
    Arm(u32),
    /// A loop.
    Loop(SiteId),
}

/// The place of an access or sync.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) site: SiteId,
    /// Its number in program order.
    pub(super) order: u32,
    /// What is around it, outermost first.
    pub(super) around: Vec<Around>,
    /// Whether it is a sync that orders all threads of its scope that execute it.
    pub(super) is_for_all: bool,
}

impl Place {
    pub(super) fn loops(&self) -> impl Iterator<Item = SiteId> + '_ {
        loops_of(&self.around)
    }

    pub(super) fn is_in_loop(&self, each: SiteId) -> bool {
        self.loops().any(|site| site == each)
    }
}

/// The places of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    by_site: FxHashMap<SiteId, Place>,
    syncs: Vec<SiteId>,
    /// Of arms, the loops in whose turns they are taken, but for the last one.
    unless_ended: FxHashMap<u32, Vec<SiteId>>,
}

impl Places {
    /// Walks the tree without recursion.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut places = Places::default();
        let mut arms = 0;
        let mut around: Vec<Around> = Vec::new();
        let mut order = 0;
        let mut flags: FxHashMap<SiteId, Vec<VarId>> = FxHashMap::default();
        // A body still to be walked, and how much is around it with what innermost.
        let mut pending: Vec<(std::slice::Iter<'_, Stmt>, usize)> = vec![(kernel.body.iter(), 0)];
        let mut entered: Vec<(&[Stmt], Around, usize)> = Vec::new();
        while let Some((statements, depth)) = pending.last_mut() {
            around.truncate(*depth);
            let depth = *depth;
            let Some(statement) = statements.next() else {
                pending.pop();
                if let Some(&(_, _, at)) = entered.last()
                    && at == pending.len()
                    && let Some((body, inner, _)) = entered.pop()
                {
                    around.truncate(pending.last().map_or(0, |(_, depth)| *depth));
                    around.push(inner);
                    pending.push((body.iter(), around.len()));
                }
                continue;
            };
            let (site, sync) = match statement {
                Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                    (access.site, None)
                }
                Stmt::Sync { among, site, .. } => (*site, Some(among)),
                // A fence stands somewhere, as an access does.
                Stmt::Fence { site, .. } => (*site, None),
                Stmt::If { cond, then, otherwise } => {
                    arms += 2;
                    if let Some(asked) = endings::asked(kernel, *cond) {
                        let ends =
                            |each: &SiteId| flags.get(each).is_some_and(|of| asked.iter().all(|it| of.contains(it)));
                        let ended: Vec<SiteId> = loops_of(&around).filter(ends).collect();
                        places.unless_ended.insert(arms - 2, ended);
                    }
                    entered.push((otherwise, Around::Arm(arms - 1), pending.len()));
                    around.push(Around::Arm(arms - 2));
                    pending.push((then.iter(), depth + 1));
                    continue;
                }
                Stmt::For(each) => {
                    around.push(Around::Loop(each.site));
                    pending.push((each.body.iter(), depth + 1));
                    continue;
                }
                Stmt::Loop { body, site, .. } => {
                    flags.insert(*site, endings::flags(kernel, statement));
                    around.push(Around::Loop(*site));
                    pending.push((body.iter(), depth + 1));
                    continue;
                }
                _ => continue,
            };
            let is_for_all = sync.is_some_and(|among| among.named().is_none() && among.tile().is_none());
            places.by_site.insert(site, Place { site, order, around: around.clone(), is_for_all });
            // An object that counts arrivals orders by who arrived, wherever that was.
            if sync.is_some_and(|among| among.arrivals().is_none()) {
                places.syncs.push(site);
            }
            order += 1;
        }
        places
    }

    pub(super) fn get(&self, site: SiteId) -> Option<&Place> {
        self.by_site.get(&site)
    }

    /// Whether an arm is taken in every turn of a loop that is followed by another one.
    pub(super) fn is_taken_unless_ended(&self, arm: u32, each: SiteId) -> bool {
        self.unless_ended.get(&arm).is_some_and(|loops| loops.contains(&each))
    }

    pub(super) fn syncs(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.syncs.iter().copied()
    }
}

fn loops_of(around: &[Around]) -> impl Iterator<Item = SiteId> + '_ {
    around.iter().filter_map(|around| match around {
        Around::Loop(site) => Some(*site),
        Around::Arm(_) => None,
    })
}

/// The loops around both, outermost first.
pub(super) fn common_loops(one: &Place, two: &Place) -> Vec<SiteId> {
    let shared = one.around.iter().zip(&two.around).take_while(|(a, b)| a == b);
    shared
        .filter_map(|(around, _)| match around {
            Around::Loop(site) => Some(*site),
            Around::Arm(_) => None,
        })
        .collect()
}
