//! Which files a run looks at.
//!
//! A path that names a file is taken whatever it is called; a directory gives the CUDA and OpenCL files below
//! it, `.gitignore` and `.ignore` respected, hidden entries and links to directories left alone. The answer is
//! sorted and without repetition, so that it depends on nothing but the tree.
//!
//! Deliberately absent: reading the files.

use super::{Dialect, Language, OpenClVersion};
use ignore::WalkBuilder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The extensions that a walk picks up.
pub const EXTENSIONS: [(&str, Dialect); 5] = [
    ("cu", Dialect::Cuda),
    ("cuh", Dialect::Cuda),
    ("hip", Dialect::Hip),
    ("cl", Dialect::OpenCl(OpenClVersion::Unstated)),
    ("ocl", Dialect::OpenCl(OpenClVersion::Unstated)),
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
    #[error("no CUDA or OpenCL file (.cu, .cuh, .hip, .cl, .ocl) below {}", path.display())]
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

fn walk(root: &Path, files: &mut BTreeSet<PathBuf>, errors: &mut Vec<DiscoverError>) {
    let mut found = false;
    // A tree that is not a repository (an unpacked archive) has its ignore files respected, too.
    for entry in WalkBuilder::new(root).require_git(false).build() {
        match entry {
            Err(error) => {
                errors.push(DiscoverError::Unreadable { path: root.to_path_buf(), cause: error.to_string() });
            }
            Ok(entry) if language_of(entry.path()).is_some() && entry.path().is_file() => {
                found = true;
                let path = entry.into_path();
                files.insert(path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path));
            }
            Ok(_) => {}
        }
    }
    if !found {
        errors.push(DiscoverError::Nothing { path: root.to_path_buf() });
    }
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
    fn a_missing_path_and_an_empty_directory_are_errors() {
        let root = tempfile::tempdir().unwrap();
        let (files, errors) = discover(&[root.path().join("none.cu"), root.path().to_path_buf()]);
        assert!(files.is_empty());
        assert!(matches!(errors[..], [DiscoverError::Unreadable { .. }, DiscoverError::Nothing { .. }]));
    }
}
