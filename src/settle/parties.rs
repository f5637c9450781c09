//! Barriers that are objects: whom they are for.
//!
//! A `cuda::barrier` lets threads go on when as many have arrived as it was told at `init`, whoever they are. That it
//! orders anything is said only where the arriving threads are known:
//! - one `init` of this barrier, with a number that all threads agree about;
//! - all uses of it stand under the same conditions about `threadIdx.x`, and whatever else stands around them is asked
//!   like that of any barrier;
//! - the number is that of those threads. Of a block it is assumed, and told, unless it is written as the product of the
//!   block's extents.
//!
//! All others are asked about together ([`producers`]): barriers that some threads arrive at and others wait for, or that an
//! index chooses.
//!
//! Deliberately absent: barriers of several blocks. Such a barrier orders nothing in a proof; what it might order is no
//! proved race either.

use super::notes::{Init, Notes, Object, Objects};
use super::places::{self, At};
use super::{block_size, pipelines, producers};
use crate::calculus::definitions::Definitions;
use crate::calculus::statements::every;
use crate::calculus::{
    Among, ArrayId, Arrivals, Axis, Basis, BinaryOp, Count, ExprId, GeometryVar, Kernel, Part, Placeholder, ScalarType,
    SiteId, Space, Stmt, Unsupported,
};
use std::collections::BTreeSet;

/// A place where threads meet at a barrier, by array and offset.
type Place = (At, (ArrayId, ExprId));

/// Says whom the barriers of the kernel that are objects are for.
pub(super) fn name(kernel: &mut Kernel, notes: &Notes) {
    let Notes { objects: Objects { inits, dropped, waits, .. }, pipelines, .. } = notes;
    for site in dropped {
        places::change(&mut kernel.body, *site, None);
    }
    let arrivals = producers::sites(kernel);
    let definitions = Definitions::of(kernel);
    let told = |placeholder| match placeholder {
        Placeholder::Object { array, offset } => Some((array, offset)),
        Placeholder::Mask(_) | Placeholder::Numbered { .. } => None,
    };
    let mut all: Vec<Place> = places::of(kernel, &definitions, &told);
    for (_, (_, offset)) in &mut all {
        *offset = definitions.inlined(&mut kernel.exprs, *offset);
    }
    let inits: Vec<Init> = inits
        .iter()
        .map(|init| {
            let [offset, count] =
                [init.object.offset, init.count].map(|value| definitions.inlined(&mut kernel.exprs, value));
            Init { object: Object { offset, ..init.object }, count, site: init.site }
        })
        .collect();
    // Where some only arrive, others wait for them, so that no object of the array is for those at one place.
    let arrived_at: BTreeSet<ArrayId> = arrays_of(kernel, &arrivals);
    let (mut assumed, mut refused) = (Vec::new(), Vec::new());
    for place in &all {
        let span = kernel.sites[place.0.site].span;
        let parties = match arrived_at.contains(&place.1.0) {
            true => Err(NotKnown::ArrivedAtElsewhere),
            false => parties(kernel, place, &all, &inits),
        };
        match parties {
            Ok(Parties { among, size }) => {
                places::change(&mut kernel.body, place.0.site, Some(among));
                if let Some(cond) = size.filter(|cond| !assumed.contains(cond)) {
                    assumed.push(cond);
                    kernel.body.insert(0, Stmt::Assume { cond, basis: Basis::Needed, span });
                }
            }
            Err(why) => {
                let (array, offset) = place.1;
                let step = Arrivals { array, offset, circle: 1, count: Count::Open, part: Part::Meets };
                places::change(&mut kernel.body, place.0.site, Some(Among::Arrivals(step)));
                refused.push((place.0.site, why));
            }
        }
    }
    let is_wait = |site| waits.iter().any(|wait| wait.site == site);
    refused.extend(arrivals.into_iter().map(|site| match is_wait(site) {
        true => (site, NotKnown::UnknownPhase),
        false => (site, NotKnown::NoWait),
    }));
    if refused.is_empty() {
        return pipelines::never_done(kernel, pipelines);
    }
    let Err(refusal) = producers::order(kernel, &inits, notes) else { return };
    pipelines::never_done(kernel, pipelines);
    let of_pipelines = pipelines::steps(kernel, pipelines);
    for (site, why) in refused {
        places::change(&mut kernel.body, site, None);
        let (what, why) = match of_pipelines.contains(&site) {
            true => ("pipeline that threads share", "its steps are not understood".to_owned()),
            false => ("barrier that is an object", why.to_string()),
        };
        let why = if site == refusal.site { refusal.reason.to_owned() } else { why };
        let reason = format!("{what}: {why}, so that it is not taken to order anything");
        let (span, arrays) = (kernel.sites[site].span, Some(Vec::new()));
        kernel.unsupported.push(Unsupported { span, reason, arrays, barriers: true, is_of_thread: false });
    }
}

/// The arrays of the objects of these steps.
fn arrays_of(kernel: &Kernel, steps: &[SiteId]) -> BTreeSet<ArrayId> {
    let mut arrays = BTreeSet::new();
    every(&kernel.body, |stmt| match stmt {
        Stmt::Sync { among: Among::Arrivals(what), site, .. } if steps.contains(site) => _ = arrays.insert(what.array),
        _ => {}
    });
    arrays
}

/// Whom a barrier is for.
struct Parties {
    among: Among,
    /// What is assumed of the size of the block.
    size: Option<ExprId>,
}

/// Why it is not known for whom a barrier is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NotKnown {
    #[error("it is no object in shared memory")]
    NotShared,
    #[error("which of several it is depends on an index")]
    Indexed,
    #[error("it is told twice how many arrivals it waits for")]
    ToldTwice,
    #[error("which of several is told how many arrivals it waits for depends on an index")]
    ToldByIndex,
    #[error("the kernel does not say how many arrivals it waits for")]
    NeverTold,
    #[error("other threads may arrive at it elsewhere")]
    ArrivedAtElsewhere,
    #[error("which threads of a block of several dimensions arrive is not known")]
    SeveralDimensions,
    #[error("the number of arrivals that it waits for is no constant")]
    NoConstant,
    #[error("which phase the thread waits for is not understood")]
    UnknownPhase,
    #[error("the thread arrives and does not wait for it")]
    NoWait,
    #[error("it waits for {count} arrivals, and {threads} threads can arrive")]
    OtherThreads { count: i128, threads: usize },
    #[error(transparent)]
    NotUniform(#[from] block_size::NotUniform),
}

fn parties(kernel: &mut Kernel, place: &Place, all: &[Place], inits: &[Init]) -> Result<Parties, NotKnown> {
    let (at, (array, offset)) = place;
    if kernel.arrays[*array].space != Space::Shared {
        return Err(NotKnown::NotShared);
    }
    let Some(start) = kernel.exprs.as_int(*offset) else {
        return Err(NotKnown::Indexed);
    };
    let of_array = inits.iter().filter(|init| init.object.array == *array);
    let mut count = None;
    for init in of_array {
        match kernel.exprs.as_int(init.object.offset) {
            Some(other) if other != start => {}
            Some(_) if count.is_none() => count = Some(init.count),
            Some(_) => return Err(NotKnown::ToldTwice),
            None => {
                return Err(NotKnown::ToldByIndex);
            }
        }
    }
    let Some(count) = count else {
        return Err(NotKnown::NeverTold);
    };
    let is_other = |(other, (of, start_of)): &Place| {
        of == array
            && kernel.exprs.as_int(*start_of).is_none_or(|start_of| start_of == start)
            && other.named != at.named
    };
    if all.iter().any(is_other) {
        return Err(NotKnown::ArrivedAtElsewhere);
    }
    if kernel.exprs.as_int(at.named) == Some(1) {
        let size = block_size::is_count(&mut kernel.exprs, count)?;
        return Ok(Parties { among: Among::Counted, size });
    }
    if !places::is_flat(kernel) {
        return Err(NotKnown::SeveralDimensions);
    }
    let named = places::threads(&kernel.exprs, at.named);
    match (kernel.exprs.as_int(count), named.last()) {
        (Some(count), Some(&last)) if count == named.len() as i128 => {
            let size = kernel.exprs.geometry(GeometryVar::BlockDim(Axis::X));
            let least = kernel.exprs.int(i128::from(last) + 1, ScalarType::U32);
            let cond = kernel.exprs.binary(BinaryOp::Ge, size, least);
            Ok(Parties { among: Among::Named(at.named), size: Some(cond) })
        }
        (Some(count), _) => Err(NotKnown::OtherThreads { count, threads: named.len() }),
        (None, _) => Err(NotKnown::NoConstant),
    }
}
