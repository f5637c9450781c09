//! Which files a run looks at.
//!
//! A path that names a file is taken whatever it is called; a directory gives the CUDA, HIP and OpenCL files below it, and C++
//! sources and headers that hold kernels ([`embedded`]), but for headers that one of these files includes: their kernels are judged
//! there. `.gitignore` and `.ignore` are respected, hidden entries and links to directories left alone. The answer is sorted and without repetition, so that it depends on nothing but the tree.
//!
//! Deliberately absent: include paths. A header counts as included where a file of the tree names a file of its name.

use super::{Dialect, Language, OpenClVersion, embedded};
use ignore::WalkBuilder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The extensions that a walk picks up.
pub const EXTENSIONS: [(&str, Dialect); 6] = [
    ("cu", Dialect::Cuda),
    ("cuh", Dialect::Cuda),
    ("hip", Dialect::Hip),
    ("cl", Dialect::OpenCl(OpenClVersion::Unstated)),
    ("ocl", Dialect::OpenCl(OpenClVersion::Unstated)),
    ("opencl", Dialect::OpenCl(OpenClVersion::Unstated)),
];

/// What a path's extension says that the file is written in, if it says so.
pub fn dialect_of(path: &Path) -> Option<Dialect> {
    let extension = path.extension()?.to_str()?;
    EXTENSIONS.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known)).map(|&(_, dialect)| dialect)
}

/// Whether a path's extension is one of plain C and C++, whose files are compiled as they are.
pub fn is_host_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    ["c", "cc", "cpp", "cxx", "c++", "C"].contains(&extension)
}

/// Whether a path's extension is one of headers, whose text counts where it is included.
pub fn is_header(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    ["h", "hh", "hpp", "hxx", "cuh", "clh", "inl", "inc", ""].contains(&extension.to_ascii_lowercase().as_str())
}

/// The language that a path's extension says, if it says one.
pub fn language_of(path: &Path) -> Option<Language> {
    dialect_of(path).map(Dialect::language)
}

/// A path that gave no file.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// It does not exist or may not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// A directory without a file to check.
    #[error("no CUDA or OpenCL file (.cu, .cuh, .hip, .cl, .ocl, .opencl) and no C++ file with kernels below {}", path.display())]
    Nothing {
        /// The directory.
        path: PathBuf,
    },
}

/// The files that `paths` stand for, sorted, and the paths that stand for none.
pub fn discover(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<DiscoverError>) {
    let mut files = BTreeSet::new();
    let mut errors = Vec::new();
    for path in paths {
        match std::fs::metadata(path) {
            Err(error) => errors.push(DiscoverError::Unreadable { path: path.clone(), cause: error.to_string() }),
            Ok(metadata) if metadata.is_dir() => walk(path, &mut files, &mut errors),
            Ok(_) => {
                files.insert(path.clone());
            }
        }
    }
    (files.into_iter().collect(), errors)
}

/// The directories in which files that `paths` stand for are, or would be: those of files, and all that a walk comes through.
pub fn directories(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut directories = BTreeSet::new();
    for path in paths {
        if path.is_dir() {
            let entries = WalkBuilder::new(path).require_git(false).build().filter_map(Result::ok);
            let walked = entries.filter(|entry| entry.file_type().is_some_and(|it| it.is_dir()));
            directories.extend(walked.map(ignore::DirEntry::into_path));
            continue;
        }
        // A directory that vanishes comes again there, too.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        directories.insert(parent.to_path_buf());
    }
    directories
}

fn walk(root: &Path, files: &mut BTreeSet<PathBuf>, errors: &mut Vec<DiscoverError>) {
    let mut found = false;
    let mut others = Vec::new();
    let plain = |path: PathBuf| path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path);
    let mut units = BTreeSet::new();
    // A tree that is not a repository (an unpacked archive) has its ignore files respected, too.
    for entry in WalkBuilder::new(root).require_git(false).build() {
        match entry {
            Err(error) => {
                errors.push(DiscoverError::Unreadable { path: root.to_path_buf(), cause: error.to_string() });
            }
            Ok(entry) if language_of(entry.path()).is_some() && entry.path().is_file() => {
                found = true;
                units.insert(plain(entry.into_path()));
            }
            Ok(entry) if may_hold_kernels(entry.path()) && entry.path().is_file() => {
                others.push(plain(entry.into_path()));
            }
            Ok(_) => {}
        }
    }
    let holding = holding_kernels(&units, others);
    found |= !holding.is_empty();
    files.extend(units);
    files.extend(holding);
    if !found {
        errors.push(DiscoverError::Nothing { path: root.to_path_buf() });
    }
}

/// Whether a file may hold kernels although its name does not say so.
fn may_hold_kernels(path: &Path) -> bool {
    path.extension().is_some() && (is_host_code(path) || is_header(path))
}

/// Those of `others` that hold kernels, but for headers that `units` or C++ sources with kernels include, themselves or by way of
/// others.
fn holding_kernels(units: &BTreeSet<PathBuf>, others: Vec<PathBuf>) -> Vec<PathBuf> {
    let read = |path: &Path| {
        std::fs::read(path).map_or_else(|_| String::new(), |it| String::from_utf8_lossy(&it).into_owned())
    };
    let mut holding = BTreeSet::new();
    let mut by_name: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in others {
        let text = read(&path);
        let is_held = if is_header(&path) {
            embedded::language_of_kernels(&embedded::out_of_strings(&text)).is_some()
        } else {
            embedded::language_of_kernels(&text) == Some(Language::Cuda)
                || matches!(embedded::out_of_strings(&text), std::borrow::Cow::Owned(_))
        };
        if is_held {
            holding.insert(path.clone());
        }
        by_name.entry(name_of(&path)).or_default().push(path);
    }
    if holding.is_empty() {
        return Vec::new();
    }
    let sources = holding.iter().filter(|path| !is_header(path));
    let mut left: Vec<PathBuf> = units.iter().chain(sources).cloned().collect();
    let mut included = BTreeSet::new();
    while let Some(path) = left.pop() {
        for name in included_names(&read(&path)) {
            for header in by_name.get(&name).into_iter().flatten().filter(|header| is_header(header)) {
                if included.insert(header.clone()) {
                    left.push(header.clone());
                }
            }
        }
    }
    holding.into_iter().filter(|path| !included.contains(path)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The file names in the `#include` lines of a text.
fn included_names(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let rest = rest.trim_start().strip_prefix(['"', '<'])?;
        let path = &rest[..rest.find(['"', '>'])?];
        Some(name_of(Path::new(path)))
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn walks_respect_ignore_files_and_given_files_are_taken_as_they_are() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        create_dir_all(at("sub/build")).unwrap();
        for name in ["b.cu", "a.cl", "notes.txt", "sub/c.CUH", "sub/build/d.cu", ".hidden.cu"] {
            write(at(name), "").unwrap();
        }
        write(at(".gitignore"), "build/\n").unwrap();
        let (files, errors) = discover(&[root.path().to_path_buf(), at("notes.txt"), at("b.cu")]);
        assert_eq!(files, [at("a.cl"), at("b.cu"), at("notes.txt"), at("sub/c.CUH")]);
        assert!(errors.is_empty());
    }

    #[test]
    fn directories_are_those_of_a_walk_and_those_of_files() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for name in ["src/empty", "src/build", "src/.hidden", "other"] {
            create_dir_all(at(name)).unwrap();
        }
        write(at("src/.gitignore"), "build/\n").unwrap();
        let found = directories(&[at("src"), at("other/none.cu")]);
        assert_eq!(found, [at("other"), at("src"), at("src/empty")].into());
    }

    #[test]
    fn headers_and_sources_with_kernels_are_found_once() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let kernel = "__global__ void k(int *x) {}\n";
        for (name, text) in [
            ("alone.hpp", kernel),
            ("included.h", kernel),
            ("far.inl", kernel),
            ("near.h", "#include <sub/far.inl>\n"),
            ("plain.h", "int f();\n"),
            ("a.cu", "#include \"included.h\"\n  # include \"near.h\"\n"),
            ("h.hip.cpp", kernel),
            ("host.cpp", "int main() {}\n"),
            ("kept.cpp", "auto s = R\"(\n__kernel void k() {}\n)\";\n"),
            ("quoted.cpp", "auto s = \"__kernel void k() {}\";\n"),
            ("p.opencl", ""),
        ] {
            write(at(name), text).unwrap();
        }
        let (files, errors) = discover(&[root.path().to_path_buf()]);
        assert_eq!(files, ["a.cu", "alone.hpp", "h.hip.cpp", "kept.cpp", "p.opencl"].map(at));
        assert!(errors.is_empty());
    }

    #[test]
    fn a_missing_path_and_an_empty_directory_are_errors() {
        let root = tempfile::tempdir().unwrap();
        let (files, errors) = discover(&[root.path().join("none.cu"), root.path().to_path_buf()]);
        assert!(files.is_empty());
        assert!(matches!(errors[..], [DiscoverError::Unreadable { .. }, DiscoverError::Nothing { .. }]));
    }
}
