//! Producers and consumers: barriers that are objects and that threads use from several places.
//!
//! What [`super::parties`] cannot take for barriers of some threads is asked about here, all of it together: whether these
//! objects count the arrivals of all who come ([`arrivals`]), and whether nobody waits in vain. Then every use is a step
//! at its object; else it is none, and what it might order is no proved race either.
//!
//! Before the first step each object has to be told once, by one thread, for how many arrivals it waits. The number is a
//! constant, or that of all threads of the block, which is assumed and told where it is not plain.
//!
//! A wait that stands by itself names its phase by parity, or waits for the last arrival of its thread: both are asked about when
//! the order is known ([`arrivals`]).

use super::notes::{Init, Notes, Objects};
use super::{block_size, pipelines};
use crate::calculus::arrivals::{self, Needs, Refusal, Stands, Threads};
use crate::calculus::definitions::Definitions;
use crate::calculus::{
    Among, ArrayId, Arrivals, Axis, Basis, BinaryOp, Count, ExprId, GeometryVar, Kernel, ScalarType, SiteId, Space,
    Stmt, Unsupported,
};
use std::collections::{BTreeMap, BTreeSet};

/// Makes steps of the uses of objects at these sites, which are steps already but for their numbers of arrivals.
pub(super) fn order(kernel: &mut Kernel, inits: &[Init], notes: &Notes) -> Result<(), Refusal> {
    let Objects { waits, .. } = &notes.objects;
    let before = kernel.body.clone();
    let by_parity: Vec<(SiteId, ExprId)> = waits.iter().filter_map(|wait| Some((wait.site, wait.parity?))).collect();
    let result = count(kernel, inits, notes).and_then(|assumed| {
        for (site, part) in arrivals::parts(kernel, &by_parity)? {
            change_step(&mut kernel.body, site, &mut |step| step.part = part);
        }
        let refusal = |site| Refusal { site, reason: "it is not known to be an object that counts arrivals" };
        let order = arrivals::order(kernel)?.ok_or_else(|| refusal(first_site(kernel)))?;
        order.has_parities(kernel, &by_parity)?;
        let of_own: Vec<SiteId> = waits.iter().filter(|wait| wait.parity.is_none()).map(|wait| wait.site).collect();
        order.waits_for_own(&of_own)?;
        order.completes(kernel)?;
        for site in order.may_miss(&by_parity) {
            let reason = "wait by parity: the phase after the one that it waits for may be over, too".to_owned();
            let (span, arrays) = (kernel.sites[site].span, Some(Vec::new()));
            kernel.unsupported.push(Unsupported { span, reason, arrays, barriers: true, is_of_thread: false });
        }
        let more = pipelines::check(kernel, &notes.pipelines, &order);
        let needs = order.needs();
        let needs = Needs { line: needs.line | more.line, threads: needs.threads.max(more.threads) };
        Ok((assumed, needs))
    });
    match result {
        Ok((assumed, needs)) => {
            let conds: Vec<ExprId> = assumed.into_iter().chain(needed(kernel, needs)).collect();
            for cond in conds {
                kernel.body.insert(0, Stmt::Assume { cond, basis: Basis::Needed, span: None });
            }
            Ok(())
        }
        Err(refusal) => {
            kernel.body = before;
            Err(refusal)
        }
    }
}

fn first_site(kernel: &Kernel) -> SiteId {
    sites(kernel).first().copied().unwrap_or(SiteId::from_index(0))
}

/// The sites of all steps.
pub(super) fn sites(kernel: &Kernel) -> Vec<SiteId> {
    let mut sites = Vec::new();
    crate::calculus::statements::every(&kernel.body, |stmt| {
        if let Stmt::Sync { among: Among::Arrivals(_), site, .. } = stmt {
            sites.push(*site);
        }
    });
    sites.sort_unstable();
    sites
}

/// Says for how many arrivals each step's object waits; gives what is assumed for that.
fn count(kernel: &mut Kernel, inits: &[Init], notes: &Notes) -> Result<Vec<ExprId>, Refusal> {
    let steps = arrivals::steps(kernel)?;
    let told = told(kernel, inits);
    let written = written_otherwise(kernel, inits);
    let mut assumed = Vec::new();
    for step in &steps {
        let refuse = |reason| Err(Refusal { site: step.site, reason });
        let (array, offsets) = &step.objects;
        if kernel.arrays[*array].space != Space::Shared {
            return refuse("it is no object in shared memory");
        }
        if pipelines::have_state_in(&notes.pipelines, *array) {
            if written.contains(array) {
                return refuse("its state is written by more than that which makes it");
            }
            let object = (*array, offsets.first().copied());
            let count = pipelines::count(kernel, &notes.pipelines, object, step.site)?;
            set_count(&mut kernel.body, step.site, count);
            continue;
        }
        if written.contains(array) {
            return refuse("its memory is written by more than that which tells it how many arrivals it waits for");
        }
        if notes.objects.waited_for.contains(array) {
            return refuse("some threads wait for it elsewhere than where they arrive");
        }
        let mut counts = offsets.iter().map(|offset| told.get(&(*array, *offset)).copied().flatten());
        let Some(count) = counts.next().flatten() else {
            return refuse("the kernel does not say once how many arrivals it waits for");
        };
        if counts.any(|other| other != Some(count)) {
            return refuse("several objects that take turns do not wait for as many arrivals");
        }
        let everyone = together(&steps, step) == Threads::ALL;
        let number = if everyone {
            match block_size::is_count(&mut kernel.exprs, count) {
                Ok(cond) => assumed.extend(cond.filter(|cond| !assumed.contains(cond))),
                Err(_) => return refuse("the number of arrivals that it waits for is not known"),
            }
            Count::Block
        } else {
            match kernel.exprs.as_int(count).map(u32::try_from) {
                Some(Ok(number)) => Count::Number(number),
                _ => return refuse("the number of arrivals that it waits for is no constant"),
            }
        };
        set_count(&mut kernel.body, step.site, number);
    }
    Ok(assumed)
}

/// For each object how many arrivals it is told to wait for; `None` where it is told several times.
fn told(kernel: &mut Kernel, inits: &[Init]) -> BTreeMap<(ArrayId, i128), Option<ExprId>> {
    let definitions = Definitions::of(kernel);
    let mut told: BTreeMap<(ArrayId, i128), Option<ExprId>> = BTreeMap::new();
    for init in inits {
        let count = definitions.inlined(&mut kernel.exprs, init.count);
        match arrivals::written_before(kernel, init.site, init.object.offset) {
            Some(offsets) => {
                for offset in offsets {
                    // A second time, even with the same number, starts it anew.
                    told.entry((init.object.array, offset)).and_modify(|known| *known = None).or_insert(Some(count));
                }
            }
            None => return BTreeMap::new(),
        }
    }
    told
}

/// The arrays that are written by anything but these.
fn written_otherwise(kernel: &Kernel, inits: &[Init]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    crate::calculus::statements::every(&kernel.body, |stmt| {
        if let Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt
            && !inits.iter().any(|init| init.site == access.site)
        {
            written.insert(access.array);
        }
    });
    written
}

/// The threads that arrive at the objects of a step.
fn together(steps: &[Stands], step: &Stands) -> Threads {
    let shares = |other: &&Stands| {
        other.arrives
            && other.objects.0 == step.objects.0
            && other.objects.1.iter().any(|offset| step.objects.1.contains(offset))
    };
    steps.iter().filter(shares).fold(Threads::NONE, |all, other| all.or(&other.threads))
}

/// What is assumed of the block.
fn needed(kernel: &mut Kernel, needs: arrivals::Needs) -> Vec<ExprId> {
    let exprs = &mut kernel.exprs;
    let one = exprs.int(1, ScalarType::U32);
    let mut conds = Vec::new();
    if needs.line {
        for axis in [Axis::Y, Axis::Z] {
            let extent = exprs.geometry(GeometryVar::BlockDim(axis));
            conds.push(exprs.binary(BinaryOp::Eq, extent, one));
        }
    }
    if needs.threads > 1 {
        let axes = if needs.line { &Axis::ALL[..1] } else { &Axis::ALL[..] };
        let threads = axes.iter().fold(one, |product, axis| {
            let extent = exprs.geometry(GeometryVar::BlockDim(*axis));
            if product == one { extent } else { exprs.binary(BinaryOp::Mul, product, extent) }
        });
        let least = exprs.int(needs.threads.into(), ScalarType::U32);
        conds.push(exprs.binary(BinaryOp::Ge, threads, least));
    }
    conds
}

fn set_count(body: &mut [Stmt], at: SiteId, number: Count) {
    change_step(body, at, &mut |step| step.count = number);
}

fn change_step(body: &mut [Stmt], at: SiteId, change: &mut impl FnMut(&mut Arrivals)) {
    for stmt in body {
        match stmt {
            Stmt::Sync { among: Among::Arrivals(step), site, .. } if *site == at => change(step),
            Stmt::If { then, otherwise, .. } => {
                change_step(then, at, change);
                change_step(otherwise, at, change);
            }
            Stmt::For(each) => change_step(&mut each.body, at, change),
            Stmt::Loop { body, .. } => change_step(body, at, change),
            _ => {}
        }
    }
}
