//! Which files of a run a change may concern: those that have changed, those that include one that has, those with kernels that
//! one of them launches or defines, too, those that launch kernels of one of them, and those that a build file, or host code that
//! hands options to a compiler, speaks for that has.
//!
//! Guarantees: everything that a verdict may hang on is looked at by its text, generously: a file that is left out has no way to
//! a file that has changed.
//!
//! Deliberately absent: the database of a build (`-p`); which files have changed (whoever asks says so); and what depends on them in fact, which only a check
//! shows ([`cache`](super::cache) keeps that).

use super::launched::{DEFINED, LAUNCHED};
use super::stated::{BUILD_FILES, HOST_FILES};
use crate::preprocess::normalized;
use crate::source::Language;
use crate::source::discover::language_of;
use crate::source::disk::decode;
use crate::source::headers::{ProjectHeaders, included};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file that has changed.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    /// Where it is, or was.
    pub path: PathBuf,
    /// Its text before, if it was there.
    pub before: Option<String>,
}

/// The files among `all` that these changes may concern, in their order.
pub fn concerned(
    all: &[PathBuf],
    changes: &[ChangedFile],
    include_dirs: &[PathBuf],
    headers: Option<&ProjectHeaders>,
) -> Vec<PathBuf> {
    let changed: BTreeSet<PathBuf> = changes.iter().map(|change| absolute(&change.path)).collect();
    let mut includes = Includes { changed: &changed, include_dirs, headers, known: BTreeMap::new() };
    let kernels = Kernels::of(changes);
    let builds: Vec<&Path> =
        changed.iter().filter(|path| (BUILD_FILES.is_wanted)(path)).filter_map(|path| path.parent()).collect();
    let states_options = changes.iter().any(may_state_options);
    let is_concerned = |path: &&PathBuf| {
        let file = absolute(path);
        let text = text_of(&file);
        changed.contains(&file)
            || states_options && language_of(&file) == Some(Language::OpenCl)
            || builds.iter().any(|directory| file.starts_with(directory))
            || includes.reach_a_change(&file)
            || kernels.concern(&text)
    };
    all.iter().filter(is_concerned).cloned().collect()
}

/// Whether a file may hand options to the compiler of OpenCL, which any program of the project may be compiled with.
fn may_state_options(change: &ChangedFile) -> bool {
    let has_options = |text: &str| text.contains("-D");
    (HOST_FILES.is_wanted)(&change.path)
        && (has_options(&text_of(&absolute(&change.path))) || change.before.as_deref().is_some_and(has_options))
}

fn absolute(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

fn text_of(path: &Path) -> String {
    std::fs::read(path).map(|bytes| decode(&bytes)).unwrap_or_default()
}

/// What files include.
struct Includes<'a> {
    changed: &'a BTreeSet<PathBuf>,
    include_dirs: &'a [PathBuf],
    headers: Option<&'a ProjectHeaders>,
    known: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Includes<'_> {
    /// Whether a file includes one that has changed, perhaps through others.
    fn reach_a_change(&mut self, file: &Path) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![file.to_path_buf()]);
        while let Some(file) = open.pop() {
            for included in self.of(&file) {
                if self.changed.contains(&included) {
                    return true;
                }
                if seen.insert(included.clone()) {
                    open.push(included);
                }
            }
        }
        false
    }

    /// The files that one includes by its text, whatever conditions say.
    fn of(&mut self, file: &Path) -> Vec<PathBuf> {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let text = text_of(file);
        let included: Vec<PathBuf> =
            text.lines().filter_map(included).flat_map(|(name, _)| self.named(name, file)).collect();
        self.known.insert(file.to_path_buf(), included.clone());
        included
    }

    /// All files that a name may mean: one that has gone stood where it would be found.
    fn named(&self, name: &str, includer: &Path) -> Vec<PathBuf> {
        let beside = includer.parent().into_iter().chain(self.include_dirs.iter().map(PathBuf::as_path));
        let places: Vec<PathBuf> = beside.map(|directory| absolute(&directory.join(name))).collect();
        let is_there = |path: &PathBuf| self.changed.contains(path) || path.is_file();
        let mut found: Vec<PathBuf> = places.into_iter().filter(is_there).collect();
        if found.is_empty() {
            let wanted: PathBuf = Path::new(name).components().filter(is_name).collect();
            let sought = self.headers.and_then(|headers| headers.find(name, includer));
            found.extend(sought.map(|header| absolute(&header.path)));
            // The header that a search finds may be another one since.
            found.extend(self.changed.iter().filter(|path| path.ends_with(&wanted)).cloned());
        }
        found
    }
}

fn is_name(component: &std::path::Component<'_>) -> bool {
    matches!(component, std::path::Component::Normal(_))
}

/// The kernels of files that have changed, before and after.
struct Kernels {
    launched: BTreeSet<String>,
    defined: BTreeSet<String>,
}

impl Kernels {
    fn of(changes: &[ChangedFile]) -> Kernels {
        let mut kernels = Kernels { launched: BTreeSet::new(), defined: BTreeSet::new() };
        for ChangedFile { path, before } in changes {
            for text in before.iter().cloned().chain([text_of(&absolute(path))]) {
                let own: BTreeSet<String> = defined(&text).collect();
                // Kernels that a file has itself, it launches itself.
                kernels.launched.extend(launched(path, &text).filter(|name| !own.contains(name)));
                kernels.defined.extend(own);
            }
        }
        kernels
    }

    /// Whether a file has kernels that are launched there, or launches kernels that are defined there.
    fn concern(&self, text: &str) -> bool {
        let own: BTreeSet<String> = defined(text).collect();
        // Of two definitions of one name, the nearer one is launched.
        own.iter().any(|name| self.launched.contains(name) || self.defined.contains(name))
            || (LAUNCHED.of_text)(text).iter().any(|name| self.defined.contains(name))
    }
}

/// The kernels that a text defines, of CUDA and of OpenCL.
fn defined(text: &str) -> impl Iterator<Item = String> {
    let of_opencl = text.match_indices("kernel").filter_map(|(at, word)| {
        let head = text[at + word.len()..].split_once('(')?.0;
        head.trim_start_matches('_').split_whitespace().last().map(str::to_owned)
    });
    (DEFINED.of_text)(text).into_iter().chain(of_opencl)
}

/// The kernels that a text launches: host code of OpenCL names them by strings.
fn launched(path: &Path, text: &str) -> impl Iterator<Item = String> {
    let names = text.split('"').skip(1).step_by(2).filter(|_| (HOST_FILES.is_wanted)(path)).map(str::to_owned);
    (LAUNCHED.of_text)(text).into_iter().chain(names.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a change of `changed` concerns, by their names.
    fn concerned_by(files: &[(&str, &str)], changed: &str, before: Option<&str>) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let is_input = |name: &str| name.ends_with(".cu") || name.ends_with(".cl");
        let all: Vec<PathBuf> =
            files.iter().filter(|(name, _)| is_input(name)).map(|(name, _)| place.path().join(name)).collect();
        let change = ChangedFile { path: place.path().join(changed), before: before.map(str::to_owned) };
        let headers = ProjectHeaders::new(&[place.path().to_path_buf()]);
        let found = concerned(&all, &[change], &[], Some(&headers));
        found.iter().map(|path| path.strip_prefix(place.path()).unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn files_that_include_a_change_are_concerned() {
        let files = [
            ("a.cu", "#include \"one.h\"\n"),
            ("b.cu", "#  include <lib/two.h>\n"),
            ("c.cu", "// #include \"one.h\"\n"),
            ("one.h", "#include \"two.h\"\n"),
            ("lib/two.h", ""),
        ];
        assert_eq!(concerned_by(&files, "lib/two.h", None), ["a.cu", "b.cu"]);
        assert_eq!(concerned_by(&files, "one.h", None), ["a.cu"]);
        assert_eq!(concerned_by(&files, "c.cu", None), ["c.cu"]);
        // One that has gone, and one that comes before what was found.
        assert_eq!(concerned_by(&files[..3], "one.h", Some("")), ["a.cu"]);
        assert_eq!(
            concerned_by(&[("d/a.cu", "#include \"s.h\"\n"), ("s.h", ""), ("d/s.h", "")], "d/s.h", None),
            ["d/a.cu"]
        );
    }

    #[test]
    fn files_that_launch_and_are_launched_are_concerned() {
        let files = [
            ("k.cu", "__global__ void k(int *a) { }\n"),
            ("host.cu", "void f() { k<<<1, 2>>>(p); }\n"),
            ("own.cu", "__global__ void k(int *a) { }\nvoid f() { k<<<1, 2>>>(p); }\n"),
            ("x.cl", "__kernel void scale(global int *a) { }\n"),
            ("main.cpp", "clCreateKernel(p, \"scale\", 0);\n"),
            ("other.cu", "void g() {}\n"),
        ];
        assert_eq!(concerned_by(&files, "k.cu", None), ["k.cu", "host.cu", "own.cu"]);
        assert_eq!(concerned_by(&files, "host.cu", None), ["k.cu", "host.cu", "own.cu"]);
        assert_eq!(concerned_by(&files, "own.cu", None), ["k.cu", "host.cu", "own.cu"]);
        assert_eq!(concerned_by(&files, "main.cpp", None), ["x.cl"]);
        // A launch that is no longer there.
        assert_eq!(
            concerned_by(&files, "other.cu", Some("void g() { k<<<1, 2>>>(p); }")),
            ["k.cu", "own.cu", "other.cu"]
        );
    }

    #[test]
    fn a_build_file_speaks_for_what_lies_below() {
        let files = [("a/k.cu", ""), ("b/k.cu", ""), ("a/Makefile", "all:\n")];
        assert_eq!(concerned_by(&files, "a/Makefile", None), ["a/k.cu"]);
        let files = [("x/k.cl", ""), ("x/k.cu", ""), ("y/main.cpp", "build(\"-DN=4\");")];
        assert_eq!(concerned_by(&files, "y/main.cpp", None), ["x/k.cl"]);
    }
}
