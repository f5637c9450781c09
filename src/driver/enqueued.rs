//! Launches of OpenCL kernels that the host code of their project makes, for kernels that are not settled without them.
//!
//! Kernels are written for the work-groups that their host code launches. One that is race-free for every launch needs
//! none of this; for the others, the host files near them are read, the nearest first, and launches of the kernel count
//! like those of a CUDA file: where they do not race, the verdict is about them, and says so.
//!
//! Deliberately absent: how launches are read ([`launch::enqueued`]); host files further than those of the nearest
//! directory in which a kernel of the name is launched: another program may have a kernel of that name.

use super::Options;
use super::stated::host_files;
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::launch::enqueued::{Enqueued, enqueued};
use crate::resolve::program::{FunctionId, Launch, Program};
use crate::source::headers::{Header, ProjectHeaders};
use crate::source::{Language, Span};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Where the launches of some kernels were found.
pub(super) type Places = BTreeMap<FunctionId, Vec<Assumption>>;

/// Adds to `program` the launches that the host code near `path` makes of `kernels`, if nothing else says how they are launched.
pub(super) fn add(program: &mut Program, path: &Path, kernels: &[FunctionId], options: &Options) -> Places {
    let mut places = Places::new();
    let is_given = options.block != [None; 3] || options.grid != [None; 3];
    let Some(headers) = options.headers.as_ref().filter(|_| program.language == Language::OpenCl && !is_given) else {
        return places;
    };
    let mut open: Vec<FunctionId> = kernels.to_vec();
    open.retain(|&kernel| program.launches.iter().all(|launch| launch.kernel != kernel));
    for group in host_files(path, headers) {
        if open.is_empty() {
            break;
        }
        for file in &group.files {
            for (launch, text) in launches_of(file, headers) {
                let named = open.iter().filter(|&&kernel| program.functions[kernel].name == launch.kernel);
                for kernel in named.copied().collect::<Vec<_>>() {
                    let span = place(program, file, &launch, &text);
                    places.entry(kernel).or_default().push(assumption(program, file, span));
                    program.launches.push(made(kernel, &launch, span));
                }
            }
        }
        open.retain(|kernel| !places.contains_key(kernel));
    }
    places
}

fn launches_of(file: &Header, headers: &Arc<ProjectHeaders>) -> Vec<(Enqueued, Arc<str>)> {
    let Ok(bytes) = super::parallel::read(&file.path) else { return Vec::new() };
    let text: Arc<str> = super::parallel::decode(&bytes).into();
    enqueued(&file.path, &text, headers).into_iter().map(|launch| (launch, Arc::clone(&text))).collect()
}

/// The call among the sources of the program.
fn place(program: &mut Program, file: &Header, launch: &Enqueued, text: &Arc<str>) -> Span {
    let known = program.sources.files().find(|(_, known)| known.path == file.path).map(|(id, _)| id);
    let id = known.unwrap_or_else(|| program.sources.add_file(&file.path, Arc::clone(text)));
    Span::new(id, launch.place.start, launch.place.end)
}

fn assumption(program: &Program, file: &Header, span: Span) -> Assumption {
    let line = program.sources.start_position(span).line;
    let text = format!("launched as {}:{line} of the project does", file.inside.display());
    Assumption { kind: AssumptionKind::Other, text }
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
