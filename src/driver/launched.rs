//! Launches that other files of a project make, for kernels that are not settled without them.
//!
//! Kernels are written for the blocks that their host code launches. One that is race-free for every launch needs none of
//! this; for the others, files near them are read, the nearest first, and launches of the kernel count like those of its own
//! file: where they do not race, the verdict is about them, and says so.
//!
//! - OpenCL: host code names the kernel by a string ([`launch::enqueued`]).
//! - CUDA: another unit launches it, which declares the kernel (`__global__ void step(float *);` in a header that both
//!   include), or has it by including the file.
//!
//! Deliberately absent: files further than those of the nearest directory in which a kernel of the name is launched:
//! another program may have a kernel of that name; kernels that share a name; templates, of which a unit launches
//! instances of its own ([`units`](super::units)).

use super::stated::{files_near, host_files};
use super::{Options, parallel};
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::launch::enqueued::{Enqueued, enqueued};
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Launch, Program};
use crate::source::headers::{Group, Header, ProjectHeaders};
use crate::source::{Language, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the launches of some kernels were found.
pub(super) type Places = BTreeMap<FunctionId, Vec<Assumption>>;

/// A launch of one of the program's kernels in another file.
struct Found {
    /// As it is, but for its span.
    launch: Launch,
    /// The bytes of the call in the text of the file.
    place: Range<usize>,
    text: Arc<str>,
}

/// Adds to `program` the launches that the files near `path` make of `kernels`, if nothing else says how they are launched.
pub(super) fn add(program: &mut Program, path: &Path, kernels: &[FunctionId], options: &Options) -> Places {
    let mut places = Places::new();
    let is_given = options.block != [None; 3] || options.grid != [None; 3] || !options.params.is_empty();
    let Some(headers) = options.headers.as_ref().filter(|_| !is_given) else {
        return places;
    };
    let mut open: Vec<FunctionId> = kernels.to_vec();
    open.retain(|&kernel| program.launches.iter().all(|launch| launch.kernel != kernel));
    if program.language == Language::Cuda {
        open.retain(|&kernel| program.functions[kernel].template_args.is_empty());
    }
    if open.is_empty() {
        return places;
    }
    let groups = match program.language {
        Language::OpenCl => host_files(path, headers),
        Language::Cuda => units(path, headers),
    };
    for group in groups {
        for file in &group.files {
            let found = match program.language {
                Language::OpenCl => by_name(program, &open, file, headers),
                Language::Cuda => by_unit(program, &open, file, (options, headers)),
            };
            for Found { launch, place, text } in found {
                let span = placed(program, file, place, &text);
                places.entry(launch.kernel).or_default().push(assumption(program, file, span));
                program.launches.push(Launch { span, ..launch });
            }
        }
        open.retain(|kernel| !places.contains_key(kernel));
        if open.is_empty() {
            break;
        }
    }
    places
}

/// The files near `path` that may be units with launches, the nearest first.
fn units(path: &Path, headers: &ProjectHeaders) -> Vec<Group> {
    let extension = |path: &Path| path.extension().and_then(|extension| extension.to_str()).map(str::to_owned);
    files_near(path, headers, |path| extension(path).is_some_and(|it| it == "cu" || it == "hip"))
}

/// Launches by host code of OpenCL.
fn by_name(program: &Program, open: &[FunctionId], file: &Header, headers: &Arc<ProjectHeaders>) -> Vec<Found> {
    let Some(text) = text_of(file) else { return Vec::new() };
    let launches = enqueued(&file.path, &text, headers);
    let of_kernels = launches.iter().flat_map(|launch| {
        let named = open.iter().filter(|&&kernel| program.functions[kernel].name == launch.kernel);
        named.map(|&kernel| {
            let span = program.functions[kernel].span;
            Found { launch: made(kernel, launch, span), place: launch.place.clone(), text: Arc::clone(&text) }
        })
    });
    of_kernels.collect()
}

fn made(kernel: FunctionId, launch: &Enqueued, span: Span) -> Launch {
    Launch {
        kernel,
        grid: launch.grid,
        block: launch.block,
        args: Vec::new(),
        shared_bytes: None,
        relations: Vec::new(),
        same_pointers: Vec::new(),
        span,
    }
}

/// Launches by a unit of CUDA that declares the kernel, or includes its file.
fn by_unit(
    program: &Program,
    open: &[FunctionId],
    file: &Header,
    (options, headers): (&Options, &Arc<ProjectHeaders>),
) -> Vec<Found> {
    if program.sources.files().any(|(_, known)| is_file(&known.path, file)) {
        return Vec::new();
    }
    let Some(text) = text_of(file) else { return Vec::new() };
    let is_named = |&&kernel: &&FunctionId| {
        let name = &program.functions[kernel].name;
        text.contains(name.rsplit("::").next().unwrap_or(name))
    };
    // Which of several of one name is launched, a declaration does not tell here.
    let is_only = |&&kernel: &&FunctionId| {
        let alike = |&other: &FunctionId| program.functions[other].name == program.functions[kernel].name;
        program.kernels.iter().copied().filter(alike).count() == 1
    };
    let named: Vec<FunctionId> = open.iter().filter(is_named).filter(is_only).copied().collect();
    if named.is_empty() || !LAUNCHES.iter().any(|launch| text.contains(launch)) {
        return Vec::new();
    }
    let mut other = super::read(&file.path, &text, options);
    if other.misses_headers {
        // The declaration may stand in a header that no include path leads to.
        other = super::read_with(&file.path, &text, options, Some(headers));
    }
    let other = other.program;
    let kernel_of = |launch: &Launch| {
        let function = &other.functions[launch.kernel];
        named.iter().copied().find(|&kernel| {
            let own = &program.functions[kernel];
            let is_it = own.name == function.name && own.params.len() == function.params.len();
            let is_ours = || path_of(&other, function.span) == path_of(program, own.span);
            is_it && function.template_args.is_empty() && (function.body.is_none() || is_ours())
        })
    };
    let of_kernels = other.launches.iter().filter_map(|launch| {
        let kernel = kernel_of(launch)?;
        let span = other.sources.visible(launch.span);
        let is_here = is_file(&other.sources.file(span.file).path, file);
        let place = span.start as usize..span.end as usize;
        is_here.then(|| Found { launch: Launch { kernel, ..launch.clone() }, place, text: Arc::clone(&text) })
    });
    of_kernels.collect()
}

/// What stands in a file that launches kernels.
const LAUNCHES: [&str; 3] = ["<<<", "LaunchKernel", "LaunchCooperativeKernel"];

fn text_of(file: &Header) -> Option<Arc<str>> {
    let bytes = parallel::read(&file.path).ok()?;
    Some(parallel::decode(&bytes).into())
}

/// The call among the sources of the program.
fn placed(program: &mut Program, file: &Header, place: Range<usize>, text: &Arc<str>) -> Span {
    let known = program.sources.files().find(|(_, known)| is_file(&known.path, file)).map(|(id, _)| id);
    let id = known.unwrap_or_else(|| program.sources.add_file(&file.path, Arc::clone(text)));
    Span::new(id, place.start, place.end)
}

/// Whether a file of the program is that file.
fn is_file(known: &Path, file: &Header) -> bool {
    std::path::absolute(known).is_ok_and(|known| normalized(&known) == normalized(&file.path))
}

/// The file that a place is in.
fn path_of(program: &Program, span: Span) -> Option<PathBuf> {
    let file = program.sources.file(program.sources.visible(span).file);
    Some(normalized(&std::path::absolute(&file.path).ok()?))
}

fn assumption(program: &Program, file: &Header, span: Span) -> Assumption {
    let line = program.sources.start_position(span).line;
    let text = format!("launched as {}:{line} of the project does", file.inside.display());
    Assumption { kind: AssumptionKind::Other, text }
}
