//! Launches that other files of a project make, for kernels that are not settled without them.
//!
//! Kernels are written for the blocks that their host code launches. One that is race-free for every launch needs none of
//! this; for the others, files of the project are read, and launches of the kernel count like those of its own
//! file: where they do not race, the verdict is about them, and says so.
//!
//! - OpenCL: host code names the kernel by a string ([`launch::enqueued`]). Only the nearest directory counts in which a kernel of
//!   the name is launched: another program may have a kernel of that name.
//! - CUDA: another unit launches it, which declares the kernel (`__global__ void step(float *);` in a header that both
//!   include), or has it by including the file. Units count wherever they lie in the project or the run, unless another
//!   definition of a kernel of that name is nearer to them: then it is that one which they launch.
//!
//! Deliberately absent: kernels that share a name in one file; templates, of which a unit launches
//! instances of its own ([`units`](super::units)); units that take the address of a kernel which they only declare.

use super::Options;
use super::own_options::without_launch;
use super::read_units::{InUnit, OfUnit, ReadUnits};
use super::stated::host_files;
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::launch::enqueued::{Enqueued, enqueued};
use crate::launch::{Given, Launch, Launched};
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Program};
use crate::source::headers::{Header, ProjectHeaders, Words, shared};
use crate::source::{Language, Span, disk};
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

/// Adds the launches that other files of the project make of `kernels`, which stand in `path`.
pub(super) fn add(
    file: &mut Launched,
    path: &Path,
    kernels: &[FunctionId],
    options: &Options,
    known: Option<&ReadUnits>,
) -> Places {
    let mut places = Places::new();
    let is_given = options.judging.gives_sizes() || !options.judging.params.is_empty();
    let Some(headers) = options.headers.project.as_ref().filter(|_| !is_given) else {
        return places;
    };
    let kernels = &without_launch(options, &file.program, kernels);
    let found = match file.program.language {
        Language::OpenCl => of_host_code(file, path, kernels, headers),
        Language::Cuda => {
            let asked = Asked { options, headers, known };
            of_units(&file.program, path, kernels, &asked)
        }
    };
    for (other, Found { launch, place, text }) in found {
        let span = placed(&mut file.program, &other, place, &text);
        places.entry(launch.kernel).or_default().push(assumption(&file.program, &other, span));
        file.add(Launch { span, ..launch });
    }
    places
}

/// The launches of kernels of OpenCL: those in the nearest directory that has some.
fn of_host_code(
    launched: &Launched,
    path: &Path,
    kernels: &[FunctionId],
    headers: &Arc<ProjectHeaders>,
) -> Vec<(Header, Found)> {
    let mut open: Vec<FunctionId> = kernels.to_vec();
    open.retain(|&kernel| launched.launches_of(kernel).next().is_none());
    let mut all: Vec<(Header, Found)> = Vec::new();
    if open.is_empty() {
        return all;
    }
    for group in host_files(path, headers) {
        for file in group.files {
            let found = by_name(&launched.program, &open, &file, headers);
            all.extend(found.into_iter().map(|found| (file.clone(), found)));
        }
        open.retain(|&kernel| all.iter().all(|(_, found)| found.launch.kernel != kernel));
        if open.is_empty() {
            break;
        }
    }
    all
}

/// The launches of kernels of CUDA by other units of the project, the nearest first.
fn of_units(program: &Program, path: &Path, kernels: &[FunctionId], asked: &Asked<'_>) -> Vec<(Header, Found)> {
    let headers = asked.headers;
    let mut files: Vec<(Header, Vec<FunctionId>)> = Vec::new();
    for &kernel in kernels.iter().filter(|&&kernel| program.functions[kernel].template_args.is_empty()) {
        for file in headers.naming(path, short_name(program, kernel), LAUNCHED) {
            match files.iter_mut().find(|(known, _)| *known == file) {
                Some((_, named)) => named.push(kernel),
                None => files.push((file, vec![kernel])),
            }
        }
    }
    let mut all = Vec::new();
    for (file, named) in files {
        let found = by_unit(program, &named, &file, asked);
        all.extend(found.into_iter().map(|found| (file.clone(), found)));
    }
    all
}

/// The name of a kernel without its namespaces.
fn short_name(program: &Program, kernel: FunctionId) -> &str {
    let name = &program.functions[kernel].name;
    name.rsplit("::").next().unwrap_or(name)
}

/// The names that units may launch kernels by.
pub(super) const LAUNCHED: Words = Words { name: "launched", is_wanted: is_unit, of_text: launched_in };
/// The names of the kernels that files define.
pub(super) const DEFINED: Words = Words { name: "defined", is_wanted: may_define, of_text: defined_in };

fn has_extension(path: &Path, wanted: &[&str]) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|it| wanted.contains(&it))
}

fn is_unit(path: &Path) -> bool {
    has_extension(path, &["cu", "hip"])
}

fn may_define(path: &Path) -> bool {
    has_extension(path, &["cu", "hip", "cuh", "h", "hpp", "inl"])
}

/// The names before `<<<` and in calls that launch; all words, where a macro launches what it is given.
fn launched_in(text: &str) -> Vec<String> {
    let is_of_macro =
        |line: &str| line.contains("<<<") && (line.trim_start().starts_with('#') || line.trim_end().ends_with('\\'));
    if text.lines().any(is_of_macro) {
        return words(text).map(str::to_owned).collect();
    }
    let mut found = Vec::new();
    for (at, _) in text.match_indices("<<<") {
        found.extend(name_before(&text[..at]).map(str::to_owned));
    }
    for launch in &LAUNCHES[1..] {
        for (at, _) in text.match_indices(launch) {
            let end = text[at..].find(';').map_or(text.len(), |end| at + end);
            found.extend(words(&text[at..end]).map(str::to_owned));
        }
    }
    found
}

/// The name that stands at the end of a text, behind it perhaps template arguments.
fn name_before(text: &str) -> Option<&str> {
    let mut text = text.trim_end();
    if text.ends_with('>') {
        let mut depth = 0_usize;
        let open = text.char_indices().rev().find(|&(_, it)| {
            match it {
                '>' => depth += 1,
                '<' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        text = text[..open?.0].trim_end();
    }
    words(text).last().filter(|word| text.ends_with(word))
}

/// The names of kernels with a body.
fn defined_in(text: &str) -> Vec<String> {
    let starts = text.match_indices("__global__").map(|(at, word)| &text[at + word.len()..]);
    starts.filter_map(defined_at).map(str::to_owned).collect()
}

/// The name of the kernel whose head starts a text, if its body follows.
fn defined_at(head: &str) -> Option<&str> {
    let mut from = 0;
    loop {
        let open = from + head[from..].find(['(', ';', '{'])?;
        if !head[open..].starts_with('(') {
            return None;
        }
        let close = open + closing(&head[open..])? + 1;
        let name = words(&head[..open]).last()?;
        match head[close..].trim_start().chars().next()? {
            '{' => return Some(name),
            ';' => return None,
            // `__launch_bounds__(256)` stands before the name.
            _ => from = close,
        }
    }
}

/// Where the bracket closes that a text starts with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let close = text.char_indices().find(|&(_, it)| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    close.map(|(at, _)| at)
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_').filter(|word| !word.is_empty())
}

/// Whether no other definition of a kernel's name is nearer to the file that launches it. One that is launched where it stands
/// is for that file.
fn is_nearest(program: &Program, kernel: FunctionId, file: &Header, headers: &ProjectHeaders) -> bool {
    let Some(own) = path_of(program, program.functions[kernel].span) else { return true };
    let launching = normalized(&file.path);
    let name = short_name(program, kernel);
    let own_launches = headers.naming(&file.path, name, LAUNCHED);
    let mut others = headers.naming(&file.path, name, DEFINED);
    others.retain(|other| !own_launches.contains(other));
    others.iter().all(|other| shared(&normalized(&other.path), &launching) <= shared(&own, &launching))
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
        given: [Given::Elsewhere; 2],
        span,
    }
}

/// What launches are looked for with.
struct Asked<'a> {
    options: &'a Options,
    headers: &'a Arc<ProjectHeaders>,
    /// Units that this run has read.
    known: Option<&'a ReadUnits>,
}

/// Launches by a unit of CUDA that declares the kernel, or includes its file.
fn by_unit(program: &Program, open: &[FunctionId], file: &Header, asked: &Asked<'_>) -> Vec<Found> {
    if program.sources.files().any(|(_, known)| is_file(&known.path, file)) {
        return Vec::new();
    }
    // Which of several of one name is launched, a declaration does not tell here.
    let is_only = |&&kernel: &&FunctionId| {
        let alike = |&other: &FunctionId| program.functions[other].name == program.functions[kernel].name;
        program.kernels.iter().copied().filter(alike).count() == 1
    };
    let named: Vec<FunctionId> = open.iter().filter(is_only).copied().collect();
    if named.is_empty() {
        return Vec::new();
    }
    let read = || of_unit(file, asked);
    let unit = match asked.known {
        Some(known) => known.unit(&file.path, asked.options, read),
        None => read().map(Arc::new),
    };
    let Some(unit) = unit else { return Vec::new() };
    let kernel_of = |there: &InUnit| {
        named.iter().copied().find(|&kernel| {
            let own = &program.functions[kernel];
            let is_it = own.name == there.name && own.params.len() == there.params;
            let is_ours = || there.path == path_of(program, own.span);
            let is_declared = || !there.has_body && is_nearest(program, kernel, file, asked.headers);
            is_it && !there.is_instance && (is_declared() || is_ours())
        })
    };
    let of_kernels = unit.launches.iter().filter_map(|there| {
        let kernel = kernel_of(there)?;
        let place = there.place.clone()?;
        Some(Found { launch: Launch { kernel, ..there.launch.clone() }, place, text: Arc::clone(&unit.text) })
    });
    of_kernels.collect()
}

/// Reads a unit for its launches.
fn of_unit(file: &Header, asked: &Asked<'_>) -> Option<OfUnit> {
    let text = text_of(file)?;
    if !LAUNCHES.iter().any(|launch| text.contains(launch)) {
        return Some(OfUnit { text, launches: Vec::new() });
    }
    let mut read = super::read(&file.path, &text, asked.options);
    if !read.missing.is_empty() {
        // The declaration may stand in a header that no include path leads to.
        read = super::resolved(super::front::read(&file.path, &text, asked.options, Some(asked.headers)));
    }
    let program = &read.launched.program;
    let launches = read.launched.launches().iter().map(|launch| {
        let function = &program.functions[launch.kernel];
        let span = program.sources.visible(launch.span);
        let is_here = is_file(&program.sources.file(span.file).path, file);
        InUnit {
            name: function.name.clone(),
            params: function.params.len(),
            is_instance: !function.template_args.is_empty(),
            has_body: function.body.is_some(),
            path: path_of(program, function.span),
            launch: launch.clone(),
            place: is_here.then_some(span.start as usize..span.end as usize),
        }
    });
    let launches = launches.collect();
    Some(OfUnit { text, launches })
}

/// What stands in a file that launches kernels.
const LAUNCHES: [&str; 3] = ["<<<", "LaunchKernel", "LaunchCooperativeKernel"];

fn text_of(file: &Header) -> Option<Arc<str>> {
    Some(disk::decode(&disk::read_source(&file.path).ok()?).into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_launches_are_found() {
        assert_eq!(launched_in("a::k<<<1, 2>>>(); t<float, B<4> > <<<1, 2>>>();"), ["k", "t"]);
        assert_eq!(
            launched_in("cudaLaunchKernel((void *)k, 1, 2, args);"),
            ["LaunchKernel", "void", "k", "1", "2", "args"]
        );
        assert_eq!(launched_in("#define GO(f) f<<<1, 2>>>()\nGO(k);"), ["define", "GO", "f", "f", "1", "2", "GO", "k"]);
        assert!(launched_in("int k = 1 << 2;").is_empty());
    }

    #[test]
    fn kernels_with_a_body_are_found() {
        let text = "__global__ void a(int *x);\n__global__ void __launch_bounds__(256) b(int (*x)(int)) {}\n\
                    template <int N> static __global__ void c(float *x = f(1))\n{ }";
        assert_eq!(defined_in(text), ["b", "c"]);
    }
}
