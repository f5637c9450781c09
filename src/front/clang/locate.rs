//! Where a libclang may be.
//!
//! The order: what `LIBCLANG_PATH` names, and nothing else if it is set; the wheel that PyPI has, in the active
//! virtual environment, then where `pip` puts it for the user and the system; LLVM's own directories, the
//! newest first.
//!
//! Guarantees: a variable that leads to no library is told ([`misled`]), with what was looked for.
//!
//! Deliberately absent: whether what is found can be loaded. A worker finds out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `LIBCLANG_PATH` leads to where it leads to no libclang.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misled {
    /// Nothing is there, or something that is neither.
    #[error("LIBCLANG_PATH names {}, where there is neither a file nor a directory", .0.display())]
    Nothing(PathBuf),
    /// A directory that has none.
    #[error(
        "LIBCLANG_PATH names the directory {}, which has no libclang: libclang.so, libclang.so.*, libclang-*.so*, \
         libclang.dylib and libclang.dll were looked for",
        .0.display()
    )]
    Empty(PathBuf),
}

/// What is wrong with `LIBCLANG_PATH`, if it is set and leads to no file that may be a libclang.
pub fn misled(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<Misled> {
    let path = named(environment).filter(|_| locate(environment).is_none())?;
    Some(if path.is_dir() { Misled::Empty(path) } else { Misled::Nothing(path) })
}

/// What the user names.
fn named(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    environment("LIBCLANG_PATH").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The libclang to load; `None` if there is none.
pub fn locate(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = named(environment) {
        return if path.is_dir() { library_in(&path) } else { path.is_file().then_some(path) };
    }
    directories(environment).iter().find_map(|directory| library_in(directory))
}

/// Directories that may hold a libclang, best first.
fn directories(environment: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for variable in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        found.extend(environment(variable).into_iter().flat_map(|root| wheels(Path::new(&root))));
    }
    found.extend(environment("HOME").into_iter().flat_map(|home| wheels(&Path::new(&home).join(".local"))));
    found.extend(wheels(Path::new("/usr/local")));
    found.extend(wheels(Path::new("/usr")));
    found.extend(versions(Path::new("/usr/lib"), "llvm-", "lib"));
    found.extend(versions(Path::new("/usr/lib/llvm"), "", "lib64"));
    found.extend(["/opt/homebrew/opt/llvm/lib", "/usr/local/opt/llvm/lib"].map(PathBuf::from));
    found.extend(["/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map(PathBuf::from));
    found.extend(["/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    found
}

/// The `native` directories of the wheel below a prefix of Python.
fn wheels(prefix: &Path) -> Vec<PathBuf> {
    let inside = |packages: PathBuf| packages.join("clang").join("native");
    let mut found = vec![inside(prefix.join("Lib").join("site-packages"))];
    for python in numbered(&prefix.join("lib"), "python3") {
        found.push(inside(python.join("site-packages")));
        found.push(inside(python.join("dist-packages")));
    }
    found.push(inside(prefix.join("lib").join("python3").join("dist-packages")));
    found
}

/// `root/PREFIX…/inner`, the highest version first.
fn versions(root: &Path, prefix: &str, inner: &str) -> Vec<PathBuf> {
    numbered(root, prefix).into_iter().map(|directory| directory.join(inner)).collect()
}

/// The directories in `root` that are named `PREFIX` and a version, the highest first.
fn numbered(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('.').split('.').map(str::parse);
            Some((version.collect::<Result<Vec<u32>, _>>().ok()?, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// The libclang in `directory`: the plain name, else the highest of those with a version.
fn library_in(directory: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?;
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| is_library(name));
    names.sort_by_key(|name| {
        (!matches!(name.as_str(), "libclang.so" | "libclang.dylib"), std::cmp::Reverse(name.clone()))
    });
    names.into_iter().map(|name| directory.join(name)).find(|path| path.is_file())
}

fn is_library(name: &str) -> bool {
    let versioned = |rest: &str| rest.starts_with(".so") || (rest.starts_with('-') && rest.contains(".so"));
    let is_elf = name.strip_prefix("libclang").is_some_and(|rest| versioned(rest) && !rest.starts_with("-cpp"));
    is_elf || name == "libclang.dylib" || name == "libclang.dll"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_wheel_of_the_virtual_environment_is_found() {
        let root = tempfile::tempdir().unwrap();
        let native = root.path().join("lib/python3.11/site-packages/clang/native");
        fs::create_dir_all(&native).unwrap();
        fs::write(native.join("libclang.so"), "").unwrap();
        let prefix = root.path().as_os_str().to_owned();
        let environment = |name: &str| (name == "VIRTUAL_ENV").then(|| prefix.clone());
        assert_eq!(locate(&environment), Some(native.join("libclang.so")));
    }

    #[test]
    fn what_the_user_names_is_the_only_place() {
        let root = tempfile::tempdir().unwrap();
        let environment = |name: &str| (name == "LIBCLANG_PATH").then(|| root.path().as_os_str().to_owned());
        assert_eq!(locate(&environment), None);
        assert_eq!(misled(&environment), Some(Misled::Empty(root.path().to_path_buf())));
        for (name, found) in [("libclang-cpp.so.18", false), ("libclang-18.so.1", true), ("libclang-19.so.1", true)] {
            fs::write(root.path().join(name), "").unwrap();
            assert_eq!(locate(&environment), found.then(|| root.path().join(name)), "{name}");
        }
        fs::write(root.path().join("libclang.so"), "").unwrap();
        assert_eq!(locate(&environment), Some(root.path().join("libclang.so")));
        assert_eq!(misled(&environment), None);
        let file = root.path().join("libclang-18.so.1").into_os_string();
        let environment = |name: &str| (name == "LIBCLANG_PATH").then(|| file.clone());
        assert_eq!(locate(&environment), Some(PathBuf::from(&file)));
        fs::remove_file(&file).unwrap();
        assert_eq!(misled(&environment), Some(Misled::Nothing(PathBuf::from(&file))));
        assert_eq!(misled(&|_| None), None);
        assert_eq!(misled(&|_| Some(OsString::new())), None);
    }

    #[test]
    fn the_newest_version_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for name in ["llvm-9", "llvm-19", "llvm-18", "llvm-x", "other"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let names: Vec<_> = versions(root.path(), "llvm-", "lib");
        let expected = ["llvm-19", "llvm-18", "llvm-9"].map(|name| root.path().join(name).join("lib"));
        assert_eq!(names, expected);
    }
}
