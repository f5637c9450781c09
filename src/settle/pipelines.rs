//! Pipelines that the threads of a block share: for how many arrivals the objects of their stages wait, and what their copies
//! meet that does not wait for them.
//!
//! A copy is done once its stage is full: to others it is an access of its thread between the call and the commit after it.
//! What does not wait for it, as a barrier or a fence does not, and what its own thread does to the same memory before its own
//! wait, is `unknown`.
//!
//! Deliberately absent: own accesses told apart by their elements where single threads copy; threads of a role that do not lie
//! side by side; pipelines that are made several times.

use super::notes::{CopiedBy, Pipelines};
use crate::calculus::arrivals::{self, Met, Needs, Order, Refusal};
use crate::calculus::definitions::Definitions;
use crate::calculus::statements::every;
use crate::calculus::{Among, ArrayId, Count, ExprId, Exprs, Kernel, SiteId, Stmt, Unsupported};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Whether the state of a pipeline lies in this array.
pub(super) fn have_state_in(pipelines: &Pipelines, array: ArrayId) -> bool {
    pipelines.made.iter().any(|made| made.object.array == array)
}

/// The sites of the steps of all pipelines.
pub(super) fn steps(kernel: &Kernel, pipelines: &Pipelines) -> BTreeSet<SiteId> {
    let mut sites = BTreeSet::new();
    every(&kernel.body, |stmt| {
        if let Stmt::Sync { among: Among::Arrivals(step), site, .. } = stmt
            && have_state_in(pipelines, step.array)
        {
            sites.insert(*site);
        }
    });
    sites
}

/// For how many arrivals the object at this place waits.
pub(super) fn count(
    kernel: &mut Kernel,
    pipelines: &Pipelines,
    (array, offset): (ArrayId, Option<i128>),
    step: SiteId,
) -> Result<Count, Refusal> {
    let refuse = |reason| Err(Refusal { site: step, reason });
    let place = |exprs: &Exprs, id: ExprId| exprs.as_int(id).filter(|_| offset.is_some());
    let of_array = pipelines.made.iter().filter(|made| made.object.array == array);
    let mut found = of_array.filter_map(|made| {
        let ends = [made.object.offset, made.empty].map(|id| place(&kernel.exprs, id));
        ends.iter().position(|end| *end == offset && end.is_some()).map(|at| (*made, at))
    });
    let (Some((made, at)), None) = (found.next(), found.next()) else {
        return refuse("which one it is is not known");
    };
    if is_in_loop(&kernel.body, made.site) {
        return refuse("it is made in a loop");
    }
    let Some(fills) = made.fills else { return Ok(Count::Block) };
    let fills = Definitions::of(kernel).inlined(&mut kernel.exprs, fills);
    let Some((threads, _)) = arrivals::threads(kernel, fills) else {
        return refuse("which threads fill it is not known");
    };
    let threads = if at == 0 { threads } else { threads.complement() };
    match threads.side_by_side() {
        Some((from, to)) => Ok(Count::Range(from, to)),
        None => refuse("the threads of a role do not lie side by side"),
    }
}

/// Says where a copy may be under way that something does not wait for; gives what more is assumed of the block.
pub(super) fn check(kernel: &mut Kernel, pipelines: &Pipelines, order: &Order) -> Needs {
    let touched = touched(kernel);
    for copied in &pipelines.copies {
        for (copy, what) in copied.sites.iter().filter_map(|site| Some((site, touched.get(site)?))) {
            for other in order.may_meet(*copy) {
                let by_itself = other.what == Met::Own;
                let conflicts = |own: &Touched| own.array == what.array && (own.writes || what.writes);
                // Of a copy that threads make together, each of them shows what it may meet.
                if by_itself && !(copied.by == CopiedBy::Thread && touched.get(&other.site).is_some_and(conflicts)) {
                    continue;
                }
                let reason = match other.what {
                    Met::Passes => {
                        "fence or barrier while an asynchronous copy is under way, which it does not wait for"
                    }
                    Met::Own => "access while an asynchronous copy of its own thread may be under way",
                };
                tell(kernel, kernel.sites[other.site].span, reason, vec![what.array], by_itself);
            }
        }
    }
    let fills: Vec<ExprId> = pipelines.made.iter().filter_map(|made| made.fills).collect();
    let line = fills.into_iter().any(|fills| {
        let fills = Definitions::of(kernel).inlined(&mut kernel.exprs, fills);
        arrivals::threads(kernel, fills).is_none_or(|(_, line)| line)
    });
    // Which thread copies which byte is not said, so that two threads show whatever one could.
    let by_group = pipelines.copies.iter().any(|copied| copied.by == CopiedBy::Group);
    Needs { line, threads: if by_group { 2 } else { 0 } }
}

/// Nothing is known of the steps, so that no copy is known to be done at any time.
pub(super) fn never_done(kernel: &mut Kernel, pipelines: &Pipelines) {
    let touched = touched(kernel);
    for copied in &pipelines.copies {
        let arrays: BTreeSet<ArrayId> = copied.sites.iter().filter_map(|site| Some(touched.get(site)?.array)).collect();
        let reason = "asynchronous copy into a pipeline of which is not known when it is done";
        tell(kernel, Some(copied.span), reason, arrays.into_iter().collect(), false);
    }
}

fn tell(kernel: &mut Kernel, span: Option<Span>, reason: &str, arrays: Vec<ArrayId>, is_of_thread: bool) {
    let (reason, arrays) = (reason.to_owned(), Some(arrays));
    let entry = Unsupported { span, reason, arrays, barriers: false, is_of_thread };
    if !kernel.unsupported.contains(&entry) {
        kernel.unsupported.push(entry);
    }
}

/// What an access does.
struct Touched {
    array: ArrayId,
    writes: bool,
}

fn touched(kernel: &Kernel) -> BTreeMap<SiteId, Touched> {
    let mut touched = BTreeMap::new();
    every(&kernel.body, |stmt| {
        if let Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
            let writes = !matches!(stmt, Stmt::Read { .. });
            touched.insert(access.site, Touched { array: access.array, writes });
        }
    });
    touched
}

/// Whether the barrier at a site stands in a loop.
fn is_in_loop(body: &[Stmt], at: SiteId) -> bool {
    let has_it = |body: &[Stmt]| {
        let mut found = false;
        every(body, |stmt| found |= matches!(stmt, Stmt::Sync { site, .. } if *site == at));
        found
    };
    body.iter().any(|stmt| match stmt {
        Stmt::If { then, otherwise, .. } => is_in_loop(then, at) || is_in_loop(otherwise, at),
        Stmt::For(each) => has_it(&each.body),
        Stmt::Loop { body, .. } => has_it(body),
        _ => false,
    })
}
