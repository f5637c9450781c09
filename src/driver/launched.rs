//! Launches that other files of a project make, for kernels that are not settled without them.
//!
//! Kernels are written for the blocks that their host code launches. One that is race-free for every launch needs none of
//! this; for the others, files near them are read, the nearest first, and launches of the kernel count like those of its own
//! file: where they do not race, the verdict is about them, and says so.
//!
//! - OpenCL: host code names the kernel by a string ([`launch::enqueued`]).
//! - CUDA: a unit of its own launches it, which declares the kernel (`__global__ void step(float *);` in a header that both
//!   include), or has it by including the file. Where that is the only way to launch what the file has, the unit's
//!   verdicts count ([`units`](super::units)).
//!
//! Deliberately absent: files further than those of the nearest directory in which a kernel of the name is launched:
//! another program may have a kernel of that name; kernel templates, of which a unit launches its own instances.

use super::stated::host_files;
use super::{Options, parallel};
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::launch::enqueued::{Enqueued, enqueued};
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Launch, Program};
use crate::source::headers::{Group, Header, ProjectHeaders};
use crate::source::{Language, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the launches of some kernels were found.
pub(super) type Places = BTreeMap<FunctionId, Vec<Assumption>>;

/// More files near a kernel than that are not all of one program.
const MOST_FILES: usize = 300;

/// A launch in another file; its kernel is one of the program, its span one of the file.
struct Found {
    launch: Launch,
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
                Language::Cuda => by_declaration(program, &open, file, (options, headers)),
            };
            for Found { launch, text } in found {
                let span = place(program, file, launch.span, &text);
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
    let is_unit = |path: &Path| extension(path).is_some_and(|extension| extension == "cu" || extension == "hip");
    headers.around(path, is_unit).into_iter().take_while(|group| group.files.len() <= MOST_FILES).collect()
}

/// Launches by host code of OpenCL.
fn by_name(program: &Program, open: &[FunctionId], file: &Header, headers: &Arc<ProjectHeaders>) -> Vec<Found> {
    let Some(text) = text_of(file) else { return Vec::new() };
    let launches = enqueued(&file.path, &text, headers);
    let of_kernels = launches.iter().flat_map(|launch| {
        let named = open.iter().filter(|&&kernel| program.functions[kernel].name == launch.kernel);
        named.map(|&kernel| Found { launch: made(program, kernel, launch), text: Arc::clone(&text) })
    });
    of_kernels.collect()
}

fn made(program: &Program, kernel: FunctionId, launch: &Enqueued) -> Launch {
    let file = program.functions[kernel].span.file;
    Launch {
        kernel,
        grid: launch.grid,
        block: launch.block,
        args: Vec::new(),
        shared_bytes: None,
        relations: Vec::new(),
        same_pointers: Vec::new(),
        span: Span::new(file, launch.place.start, launch.place.end),
    }
}

/// Launches by a unit of CUDA that has a declaration of the kernel.
fn by_declaration(
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
    let named: Vec<FunctionId> = open.iter().filter(is_named).copied().collect();
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
        is_here.then(|| Found { launch: Launch { kernel, span, ..launch.clone() }, text: Arc::clone(&text) })
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
fn place(program: &mut Program, file: &Header, span: Span, text: &Arc<str>) -> Span {
    let known = program.sources.files().find(|(_, known)| known.path == file.path).map(|(id, _)| id);
    let id = known.unwrap_or_else(|| program.sources.add_file(&file.path, Arc::clone(text)));
    Span { file: id, ..span }
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
