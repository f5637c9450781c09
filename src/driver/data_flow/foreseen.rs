//! Accesses and pairs that the models of the kernels foresee.
//!
//! Pairs of one kernel are those of [`reaching`](crate::reaching), for the extents that all launches of a run gave its blocks: a kernel
//! is written for some, and what others would allow is no pair of a test that never makes them. Between two launches there is a pair where a run gave both an
//! allocation: a store that may be the last to an array of the first launch, and a load that may be the first of an array of
//! the second, if both arrays lay in one allocation and the host did not write all of it in between. What host code hands to
//! kernels is not read from its text: a pair between kernels that no run launched is not foreseen.

use super::sites::{Sites, Subject};
use crate::calculus::{Kernel, Space};
use crate::driver::isolate::isolated;
use crate::driver::logged::is_named;
use crate::driver::passes::model;
use crate::driver::{read, selected};
use crate::memory_model::ways::Way;
use crate::protocol::{AccessId, Protocol};
use crate::reaching::reaching;
use crate::source::SourceMap;
use crate::trace::format::{self, Launch, Log};
use crate::trace::pairs::HostWrite;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is foreseen, by sites.
#[derive(Default)]
pub(super) struct Foreseen {
    pub(super) accesses: BTreeSet<usize>,
    pub(super) pairs: BTreeSet<(usize, usize, Way)>,
    /// What is not known, in words.
    pub(super) notes: Vec<String>,
}

/// What of a kernel others may read, or may have stored.
struct Ends {
    kernel: String,
    /// Sites that may store last and those that may read first, with their arrays.
    leaving: Vec<(Named, usize)>,
    entering: Vec<(Named, usize)>,
}

/// An array that outlives launches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    /// A parameter of this name points to it.
    Parameter(String),
    /// It is a variable of the program.
    Variable(String),
}

/// What the files' kernels may do, in the launches of a log.
pub(super) fn foreseen(subjects: &[Subject<'_>], sites: &Sites, (log, host): (&Log, &[HostWrite])) -> Foreseen {
    let mut foreseen = Foreseen::default();
    let mut ends = Vec::new();
    for subject in subjects {
        let Some((_, main)) = subject.file.sources.files().next() else { continue };
        let (path, text) = (main.path.clone(), main.text.to_string());
        let looked = isolated(|| of_file(subject, sites, (&path, &text), log));
        match looked {
            Ok((of_file, of_kernels)) => {
                foreseen.accesses.extend(of_file.accesses);
                foreseen.pairs.extend(of_file.pairs);
                foreseen.notes.extend(of_file.notes);
                ends.extend(of_kernels);
            }
            Err(panic) => {
                let path = path.display();
                foreseen.notes.push(format!("{path}: a bug in raceproof: nothing is foreseen of its kernels: {panic}"));
            }
        }
    }
    let pairs = between_launches(&ends, log, host);
    foreseen.pairs.extend(pairs.into_iter().map(|(store, load)| (store, load, Way::BetweenLaunches)));
    foreseen
}

/// The same for the kernels of one file, each for itself.
fn of_file(subject: &Subject<'_>, sites: &Sites, (path, text): (&Path, &str), log: &Log) -> (Foreseen, Vec<Ends>) {
    let file = read(path, text, subject.options).launched;
    let (mut foreseen, mut ends) = (Foreseen::default(), Vec::new());
    for function in selected(&file.program, subject.options) {
        let model = model(&file, function, subject.options);
        let block = block_of(&model.kernel.name, log);
        let kernel = (&model.kernel, &model.protocol, block);
        ends.push(of_kernel(kernel, &file.program.sources, sites, &mut foreseen));
    }
    (foreseen, ends)
}

/// The extents that blocks of a kernel have in all of its launches.
fn block_of(kernel: &str, log: &Log) -> [Option<u32>; 3] {
    let launches = log.launches.values().filter(|launch| is_named(kernel, &launch.kernel));
    let blocks: BTreeSet<[u32; 3]> = launches.map(|launch| launch.block).collect();
    let same = |axis: usize| {
        let first = blocks.first()?[axis];
        blocks.iter().all(|block| block[axis] == first).then_some(first)
    };
    [same(0), same(1), same(2)]
}

fn of_kernel(
    (kernel, protocol, block): (&Kernel, &Protocol, [Option<u32>; 3]),
    sources: &SourceMap,
    sites: &Sites,
    foreseen: &mut Foreseen,
) -> Ends {
    let name = &kernel.name;
    if kernel.anything_may_happen() {
        foreseen
            .notes
            .push(format!("{name} is not understood in full: not all of its accesses and pairs are foreseen"));
    }
    let is_shared = |space| matches!(space, Space::Shared | Space::Distributed | Space::Global);
    let of_access = |id: AccessId| {
        let access = &protocol.accesses[id];
        let span = protocol.sites[access.site].span.filter(|_| is_shared(protocol.arrays[access.array].space));
        span.map(|span| sites.that_log(sources, span, access.kind)).unwrap_or_default()
    };
    let of: BTreeMap<AccessId, Vec<usize>> = protocol.accesses.handles().map(|id| (id, of_access(id))).collect();
    foreseen.accesses.extend(of.values().flatten());
    let reaching = reaching(kernel, protocol, block);
    if reaching.is_cut {
        foreseen.notes.push(format!("{name} has too many accesses: none of its pairs are foreseen"));
    }
    for (store, load, way) in reaching.pairs {
        let loads = &of[&load];
        foreseen.pairs.extend(of[&store].iter().flat_map(|&store| loads.iter().map(move |&load| (store, load, way))));
    }
    let named = |ids: &[AccessId]| {
        let array = |id: &AccessId| {
            let array = &protocol.arrays[protocol.accesses[*id].array];
            let name = array.name.clone();
            if array.is_param { Named::Parameter(name) } else { Named::Variable(name) }
        };
        ids.iter().flat_map(|id| of[id].iter().map(move |&site| (array(id), site))).collect()
    };
    Ends { kernel: name.clone(), leaving: named(&reaching.leaving), entering: named(&reaching.entering) }
}

/// Pairs between two launches of a log.
fn between_launches(ends: &[Ends], log: &Log, host: &[HostWrite]) -> BTreeSet<(usize, usize)> {
    let variables: BTreeMap<&str, u32> = log
        .allocations
        .iter()
        .filter(|(_, it)| matches!(it.space, format::Space::Global | format::Space::Managed) && !it.name.is_empty())
        .map(|(&id, it)| (it.name.as_str(), id))
        .collect();
    let mut pairs = BTreeSet::new();
    // Which sites may have stored last in each allocation.
    let mut stored: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let mut host = host.iter().peekable();
    for (&id, launch) in &log.launches {
        while let Some(write) = host.next_if(|write| write.launches <= id) {
            let whole = log.allocations.get(&write.allocation).map_or(0, |it| it.bytes);
            if write.bytes.start == 0 && write.bytes.end >= whole {
                stored.remove(&write.allocation);
            }
        }
        let of_kernel: Vec<&Ends> = ends.iter().filter(|ends| is_named(&ends.kernel, &launch.kernel)).collect();
        let at = |named: &Named| match named {
            Named::Parameter(name) => argument(launch, name),
            Named::Variable(name) => variables.get(name.as_str()).copied(),
        };
        for (named, load) in of_kernel.iter().flat_map(|ends| &ends.entering) {
            let stores = at(named).and_then(|allocation| stored.get(&allocation));
            pairs.extend(stores.into_iter().flatten().map(|&store| (store, *load)));
        }
        for (named, store) in of_kernel.iter().flat_map(|ends| &ends.leaving) {
            if let Some(allocation) = at(named) {
                stored.entry(allocation).or_default().insert(*store);
            }
        }
    }
    pairs
}

/// The allocation that a parameter points into.
fn argument(launch: &Launch, name: &str) -> Option<u32> {
    let (_, value) = launch.arguments.iter().find(|(known, _)| known == name)?;
    value.strip_prefix('@')?.split_once('+')?.0.parse().ok()
}
