//! Macros that a file needs and does not get: sought in what its project says to the compiler.
//!
//! For CUDA these are the build files in the directory of the file and in those around it, for OpenCL the options
//! that the project's host code hands to the compiler. Only macros are taken that the text of the unit mentions,
//! the nearest statement first; a macro of which statements that are equally near say different things, or
//! something that is not known, is not taken: which of them counts would be a guess. Each macro that is taken stands
//! with every verdict as an assumption ([`Found::assumption`]).
//!
//! Deliberately absent: how statements are read (`preprocess::stated`), and when they are sought: only where something
//! that a kernel reaches is not understood, so that a text that explains itself is judged as it stands.

use super::Options;
use crate::diagnostic::report::{Assumption, AssumptionKind};
use crate::preprocess;
use crate::preprocess::stated::{Stated, is_build_file, of_build_file, of_host_code};
use crate::resolve::program::Program;
use crate::source::discover::is_host_code;
use crate::source::headers::{Group, Header, Kind, ProjectHeaders};
use crate::source::{Language, disk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of host code below one directory that are looked at. Where there are more, the directory holds many programs,
/// and what one of them says is not near.
const MOST_FILES: usize = 300;

/// Files that say how programs are built.
pub(super) const BUILD_FILES: Kind = Kind { name: "build", is_wanted: is_build_file };
/// Host code and its headers.
pub(super) const HOST_FILES: Kind = Kind { name: "host", is_wanted: |path| is_host_code(path) || is_header(path) };

/// A macro that another file of the project states.
#[derive(Clone, Debug)]
pub(super) struct Found {
    name: String,
    value: String,
    /// Where, inside the project.
    inside: PathBuf,
    line: u32,
}

impl Found {
    /// What a verdict relies on.
    pub(super) fn assumption(&self) -> Assumption {
        let Found { name, value, inside, line } = self;
        let text = format!("`{name}` is `{value}`, as {}:{line} of the project states it", inside.display());
        Assumption { kind: AssumptionKind::Other, text }
    }
}

/// The options with the macros that were found.
pub(super) fn with(options: &Options, found: &[Found]) -> Options {
    let mut options = options.clone();
    options.defines.extend(found.iter().map(|it| (it.name.clone(), it.value.clone())));
    options
}

/// The macros that the unit of `path` mentions and that its project states.
pub(super) fn sought(path: &Path, program: &Program, options: &Options, headers: &Arc<ProjectHeaders>) -> Vec<Found> {
    let mentioned = mentioned(program);
    let given: BTreeSet<&str> = options.defines.iter().map(|(name, _)| name.as_str()).collect();
    let mut found: BTreeMap<String, Option<Found>> = BTreeMap::new();
    for group in groups(path, program.language, headers) {
        let mut nearest: BTreeMap<String, Option<Found>> = BTreeMap::new();
        for file in &group.files {
            let stated = statements(file, program.language, headers).into_iter();
            for Stated { name, value, line } in stated.filter(|it| mentioned.contains(it.name.as_str())) {
                let it = value.map(|value| Found { name: name.clone(), value, inside: file.inside.clone(), line });
                let value = |it: &Option<Found>| it.as_ref().map(|it| it.value.clone());
                let is_same = |known: &Option<Found>| value(known) == value(&it);
                match nearest.get_mut(&name) {
                    None => {
                        nearest.insert(name, it);
                    }
                    Some(known) if !is_same(known) => *known = None,
                    Some(_) => {}
                }
            }
        }
        for (name, it) in nearest {
            found.entry(name).or_insert(it);
        }
    }
    found.into_values().flatten().filter(|it| !given.contains(it.name.as_str())).collect()
}

/// The directories in which the build files of a CUDA file let the compiler look for headers, the nearest first.
pub(super) fn include_dirs(path: &Path, language: Language, headers: &ProjectHeaders) -> Vec<PathBuf> {
    if language != Language::Cuda {
        return Vec::new();
    }
    let files = groups(path, language, headers).into_iter().flat_map(|group| group.files);
    let text_of = |file: &Header| Some(disk::decode(&disk::read_source(&file.path).ok()?));
    files.filter_map(|file| Some(preprocess::stated::include_dirs(&file.path, &text_of(&file)?))).flatten().collect()
}

/// The files that may state something for `path`, the nearest first.
fn groups(path: &Path, language: Language, headers: &ProjectHeaders) -> Vec<Group> {
    match language {
        Language::OpenCl => host_files(path, headers),
        Language::Cuda => {
            let mut groups = headers.around(path, BUILD_FILES);
            for Group { directory, files } in &mut groups {
                // The build files of other directories are for other programs.
                files.retain(|file| file.path.parent() == Some(directory));
            }
            groups
        }
    }
}

/// The host code near `path`, the nearest first, as long as there are not so many files that they are hardly all of one
/// program.
pub(super) fn host_files(path: &Path, headers: &ProjectHeaders) -> Vec<Group> {
    let groups = headers.around(path, HOST_FILES);
    groups.into_iter().take_while(|group| group.files.len() <= MOST_FILES).collect()
}

fn is_header(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|it| matches!(it, "h" | "hpp" | "hh" | "hxx"))
}

fn statements(file: &Header, language: Language, headers: &Arc<ProjectHeaders>) -> Vec<Stated> {
    let Ok(bytes) = disk::read_source(&file.path) else { return Vec::new() };
    let text = disk::decode(&bytes);
    match language {
        Language::OpenCl => of_host_code(&file.path, &text, headers),
        Language::Cuda => of_build_file(&file.path, &text),
    }
}

/// All words in the texts of a unit that may be names of macros.
fn mentioned(program: &Program) -> BTreeSet<&str> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    program.sources.files().flat_map(|(_, file)| file.text.split(move |it| !is_part(it))).collect()
}
