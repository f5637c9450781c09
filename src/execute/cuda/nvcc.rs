//! nvcc: where it is, and whether there is a GPU for what it makes.
//!
//! It is sought in what `RACEPROOF_NVCC` names (the program, or a directory that holds it), in `CUDA_HOME` and
//! `CUDA_PATH`, on the `PATH`, in `/usr/local/cuda`, and among the packages of the Python that is on the `PATH` or active:
//! PyPI's wheels (`nvidia-cuda-nvcc` and its kin) put a whole toolkit under `site-packages/nvidia/cu13`.
//!
//! Deliberately absent: versions of CUDA.

use crate::execute::ExecuteError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler for CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvcc {
    /// The program.
    pub program: PathBuf,
    /// Where its libraries are, beside those directories that it knows itself.
    pub libraries: Option<PathBuf>,
}

/// What the search reads of the world.
struct Surroundings {
    named: Option<PathBuf>,
    homes: Vec<PathBuf>,
    path: Vec<PathBuf>,
    pythons: Vec<PathBuf>,
}

impl Surroundings {
    fn of_this_process() -> Surroundings {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let path: Vec<PathBuf> =
            std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        let python = path.iter().find(|directory| directory.join("python3").is_file());
        // The prefix of a Python is beside its `bin`.
        let prefix = python.and_then(|bin| bin.parent()).map(Path::to_path_buf);
        let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable);
        Surroundings {
            named: variable("RACEPROOF_NVCC"),
            homes: ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).collect(),
            pythons: active.chain(prefix).collect(),
            path,
        }
    }
}

/// Finds nvcc.
pub fn find() -> Result<Nvcc, ExecuteError> {
    find_in(&Surroundings::of_this_process())
}

fn find_in(around: &Surroundings) -> Result<Nvcc, ExecuteError> {
    if let Some(named) = &around.named {
        // Whoever names one means no other.
        let found = if named.is_file() { Some(named.clone()) } else { below(named) };
        return found.map(with_libraries).ok_or_else(|| ExecuteError::NoNvcc { tried: named.display().to_string() });
    }
    let homes = around.homes.iter().map(|home| home.join("bin/nvcc"));
    let path = around.path.iter().map(|directory| directory.join("nvcc"));
    let usual = std::iter::once(PathBuf::from("/usr/local/cuda/bin/nvcc"));
    let found = homes.chain(path).chain(usual).find(|program| program.is_file());
    found
        .or_else(|| around.pythons.iter().find_map(|prefix| wheel(prefix)))
        .map(with_libraries)
        .ok_or_else(|| ExecuteError::NoNvcc { tried: "CUDA_HOME, PATH, /usr/local/cuda, Python's packages".to_owned() })
}

/// The program in a directory: a toolkit, its `bin`, a Python's prefix, or what that has for packages.
fn below(directory: &Path) -> Option<PathBuf> {
    let near = ["bin/nvcc", "nvcc"].into_iter().map(|name| directory.join(name)).find(|program| program.is_file());
    near.or_else(|| wheel(directory)).or_else(|| among_packages(directory))
}

/// The program among the packages of a Python.
fn wheel(prefix: &Path) -> Option<PathBuf> {
    let pythons = sorted(&prefix.join("lib")).into_iter();
    pythons.filter(|path| name_begins(path, "python3")).find_map(|python| among_packages(&python.join("site-packages")))
}

fn among_packages(packages: &Path) -> Option<PathBuf> {
    let toolkits = sorted(&packages.join("nvidia")).into_iter().rev().filter(|path| name_begins(path, "cu"));
    toolkits.map(|toolkit| toolkit.join("bin/nvcc")).find(|program| program.is_file())
}

fn name_begins(path: &Path, with: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with))
}

/// What a directory holds, by name.
fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The wheels have their libraries in `lib`, where this nvcc does not look.
fn with_libraries(program: PathBuf) -> Nvcc {
    let real = program.canonicalize().unwrap_or_else(|_| program.clone());
    let root = real.parent().and_then(Path::parent);
    let library = root.map(|root| root.join("lib")).filter(|lib| lib.join("libcudart_static.a").is_file());
    Nvcc { program, libraries: library }
}

/// Whether this machine seems to have a GPU of NVIDIA's: the driver's device files are there.
pub fn has_gpu() -> bool {
    ["/dev/nvidia0", "/dev/dxg"].iter().any(|file| Path::new(file).exists())
}

/// The architecture of the first GPU, such as 90, if the driver's own program says so.
pub(super) fn architecture_of_gpu() -> Option<u32> {
    let asked = Command::new("nvidia-smi").args(["--query-gpu=compute_cap", "--format=csv,noheader"]).output().ok()?;
    architecture_in(&String::from_utf8_lossy(&asked.stdout))
}

fn architecture_in(said: &str) -> Option<u32> {
    let (major, minor) = said.lines().next()?.trim().split_once('.')?;
    Some(major.parse::<u32>().ok()? * 10 + minor.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn nothing() -> Surroundings {
        Surroundings { named: None, homes: Vec::new(), path: Vec::new(), pythons: Vec::new() }
    }

    fn put(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn a_name_may_be_the_program_a_toolkit_or_a_python() {
        let root = tempfile::tempdir().unwrap();
        let program = put(root.path(), "lib/python3.12/site-packages/nvidia/cu13/bin/nvcc");
        put(root.path(), "lib/python3.12/site-packages/nvidia/cu13/lib/libcudart_static.a");
        let toolkit = program.parent().unwrap().parent().unwrap().to_path_buf();
        for named in [program.clone(), toolkit.join("bin"), toolkit.clone(), root.path().to_path_buf()] {
            let found = find_in(&Surroundings { named: Some(named), ..nothing() }).unwrap();
            assert_eq!(found.program, program);
            assert_eq!(
                found.libraries.map(|it| it.canonicalize().unwrap()),
                Some(toolkit.join("lib").canonicalize().unwrap())
            );
        }
        let elsewhere = Surroundings { named: Some(root.path().join("lib")), ..nothing() };
        let error = find_in(&elsewhere).unwrap_err().to_string();
        assert!(error.contains("no nvcc") && error.contains("RACEPROOF_NVCC"), "{error}");
    }

    #[test]
    fn the_driver_says_which_architecture_a_gpu_has() {
        assert_eq!(architecture_in("9.0\n7.5\n"), Some(90));
        assert_eq!(architecture_in("No devices were found\n"), None);
    }

    #[test]
    fn a_home_goes_before_the_path_and_that_before_packages() {
        let root = tempfile::tempdir().unwrap();
        let wheel = put(root.path(), "python/lib/python3.9/site-packages/nvidia/cu13/bin/nvcc");
        let in_path = put(root.path(), "path/nvcc");
        let home = put(root.path(), "home/bin/nvcc");
        let mut around = Surroundings { pythons: vec![root.path().join("python")], ..nothing() };
        let found = |around: &Surroundings| find_in(around).unwrap().program;
        if !Path::new("/usr/local/cuda/bin/nvcc").is_file() {
            assert_eq!(found(&around), wheel);
        }
        around.path.push(root.path().join("path"));
        assert_eq!(found(&around), in_path);
        around.homes.push(root.path().join("home"));
        assert_eq!(found(&around), home);
    }
}
