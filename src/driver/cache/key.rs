//! What results hang on beside files: the program, its options, its tools, and where relative paths begin.
//!
//! Guarantees: an option that is added does not compile until it is told here whether results hang on it.

use crate::driver::front::FrontEnd;
use crate::driver::options::{Contracts, Evidence, Headers, Options, Settings, Timings};
use crate::driver::store::Store;
use crate::source::fingerprint::Fingerprint;

/// The key of all results under these options; `None` where results are not kept.
pub(super) fn of(options: &Options, store: &Store) -> Option<Fingerprint> {
    let Options {
        judging,
        kernels,
        defines,
        undefined,
        include_dirs,
        headers,
        commands,
        front,
        dialect,
        evidence,
        hints,
        fixes,
        contracts,
        // How many threads and processes look changes nothing; which inputs include a file is asked for each.
        workload,
        // What is told is decided of what is kept.
        telling: _,
    } = options;
    let Headers { project, models } = headers;
    let Contracts { stated, by_name, logged, told, open } = contracts;
    if workload.timings == Timings::Measure || *evidence != Evidence::default() || logged.is_some() {
        return None;
    }
    // What is in the models themselves is asked for each file.
    let text = (kernels, defines, undefined, include_dirs, project.is_some(), models, dialect);
    let build = commands.as_deref().map(|commands| commands.all());
    let judged = (judged(judging, store)?, hints, fixes, (stated, by_name), (told, open));
    let program = store.identity(&std::env::current_exe().ok()?)?;
    let place = std::env::current_dir().ok()?;
    Some(Fingerprint::of_value(&(program, place, text, build, judged, front_end(front, store)?)))
}

/// How kernels are judged, and by which solver.
fn judged(judging: &Settings, store: &Store) -> Option<(Settings, Option<Fingerprint>)> {
    let solver = match &judging.solver {
        Some(solver) => Some(store.identity(&solver.program)?),
        None => None,
    };
    Some((judging.clone(), solver))
}

/// Which front end reads, and which libclang.
fn front_end(front: &FrontEnd, store: &Store) -> Option<(&'static str, Option<Fingerprint>)> {
    Some(match front {
        FrontEnd::TreeSitter => ("tree-sitter", None),
        FrontEnd::Clang(pool) => ("clang", Some(store.identity(pool.library())?)),
        FrontEnd::Auto(pool) => ("auto", Some(store.identity(pool.library())?)),
    })
}
