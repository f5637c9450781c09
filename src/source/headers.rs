//! Headers that no include path leads to, found by their names in the project of the file that includes them.
//!
//! A checker that is started on a file knows nothing of the `-I` of its build. The header is mostly near: this
//! finds the one whose path ends with the name in the directive and that shares the longest path with the
//! including file, unless the build says by a path of its own where it is ([`ProjectHeaders::within`]). Where two different headers are equally near, none is taken: a guess between them would be
//! a guess about the program.
//!
//! Guarantees: the answer depends on the tree alone; each project is walked once, up to [`MOST_ENTRIES`]
//! entries (a larger one is not searched at all), hidden and ignored entries left alone. Headers of the system,
//! of the C and C++ libraries and of the CUDA toolkit are never sought.
//!
//! Every answer is recorded with its question ([`super::dependencies`]), and can be asked for again ([`ProjectHeaders::answer`]).
//!
//! Deliberately absent: what the name resolves to by the rules of the language, which comes first and is the
//! preprocessor's; what the other files of a project say ([`ProjectHeaders::around`] only finds them, and
//! [`ProjectHeaders::naming`] those in which others find a word).

use super::dependencies::{Dependency, Question, record};
use super::disk;
use super::fingerprint::Fingerprint;
use ignore::WalkBuilder;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Entries of a project that are looked at.
const MOST_ENTRIES: usize = 200_000;
/// What stands in the root of a project.
const ROOT_MARKS: [&str; 4] = [".git", ".hg", ".svn", ".jj"];
/// Directories of libraries that are known by what they do, not by their text.
const LIBRARIES: [&str; 9] =
    ["cub/", "thrust/", "cuda/", "nv/", "cooperative_groups/", "sys/", "hip/", "rocprim/", "hipcub/"];
/// Headers of systems and toolkits; those of C++ have no extension.
const SYSTEM: &str = " assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h \
    setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h \
    string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h unistd.h fcntl.h getopt.h pthread.h strings.h dlfcn.h \
    windows.h malloc.h memory.h omp.h mpi.h cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h cuda_bf16.h \
    cuda_fp8.h device_launch_parameters.h device_functions.h vector_types.h vector_functions.h cooperative_groups.h \
    curand.h curand_kernel.h cufft.h cublas.h cublas_v2.h cusparse.h cusolverDn.h mma.h sm_20_atomic_functions.h \
    cuda_gl_interop.h driver_types.h math_constants.h math_functions.h CL/cl.h opencl.h ";

/// Directories of libraries whose macros have names of their own.
const THIRD_PARTIES: [&str; 9] = ["GL/", "X11/", "boost/", "Eigen/", "opencv2/", "gtest/", "helper_", "cutil", "CL/"];
/// More headers of the toolkit, whose macros are known or are no conditions of anybody else.
const TOOLKIT: &str = " nvToolsExt.h cudnn.h nccl.h cuda_pipeline.h cuda_pipeline_primitives.h device_types.h host_defines.h \
    builtin_types.h channel_descriptor.h texture_types.h texture_fetch_functions.h texture_indirect_functions.h \
    surface_functions.h surface_types.h surface_indirect_functions.h sm_20_intrinsics.h sm_30_intrinsics.h \
    sm_32_intrinsics.h sm_35_intrinsics.h sm_60_atomic_functions.h device_atomic_functions.h device_double_functions.h \
    math_functions.hpp cuComplex.h cuda_runtime_wrapper.h cuda_device_runtime_api.h cuda_profiler_api.h \
    cudaProfiler.h cuda_texture_types.h cuda_surface_types.h curand_mtgp32.h curand_mtgp32_host.h curand_philox4x32_x.h \
    curand_mtgp32_kernel.h cufftXt.h cublasLt.h cusparse_v2.h nvrtc.h nvml.h npp.h cudaGL.h crt/host_defines.h \
    hip_runtime.h hip_runtime_api.h cuda_fp4.h cuda_fp6.h driver_functions.h vector_functions.hpp exception.h timer.h \
    cudpp.h alloca.h endian.h sched.h semaphore.h termios.h libgen.h dirent.h values.h argp.h ";

/// Whether a header is one of a system, a toolkit or a library, so that it defines no name that a project decides by.
pub fn is_known(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    is_of_a_library(name)
        || THIRD_PARTIES.iter().any(|start| name.starts_with(start) || file.starts_with(start))
        || [TOOLKIT, SYSTEM].iter().any(|list| list.split(' ').any(|known| known == name || known == file))
}

/// Whether a header is there wherever CUDA is compiled on Linux.
pub fn is_installed(name: &str) -> bool {
    const ELSEWHERE: [&str; 3] = ["windows.h", "mpi.h", "opencl.h"];
    const HIP: [&str; 3] = ["hip/", "rocprim/", "hipcub/"];
    let is_of_cxx = !name.contains(['.', '/']) && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    !ELSEWHERE.contains(&name)
        && !HIP.iter().any(|start| name.starts_with(start))
        && (is_of_cxx
            || name.contains('.') && SYSTEM.split(' ').any(|known| known == name)
            || LIBRARIES.iter().any(|library| name.starts_with(library)))
}

/// The headers of the projects that a run meets.
#[derive(Debug, Default)]
pub struct ProjectHeaders {
    /// Directories that the user gave: the projects of files that no repository holds.
    given: Vec<PathBuf>,
    /// Files that the user gave.
    files: Vec<PathBuf>,
    projects: Mutex<HashMap<PathBuf, Project>>,
    /// The roots of projects, by the directories that were asked about.
    roots: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
    /// The names of all files of a project, by its root.
    listings: Mutex<HashMap<PathBuf, Fingerprint>>,
    /// The files in which words were found, by the kind of word and the project; those without one are of the run.
    named: Mutex<HashMap<(&'static str, Option<PathBuf>), Arc<OnceLock<Named>>>>,
}

/// A file of the project that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where it is.
    pub path: PathBuf,
    /// Where it is inside the project.
    pub inside: PathBuf,
}

/// Files of a project that lie below one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The directory.
    pub directory: PathBuf,
    /// The files.
    pub files: Vec<Header>,
}

/// One project: walked when it is first asked.
type Project = Arc<OnceLock<Index>>;

/// Files by a word in their text.
type Named = HashMap<String, Vec<PathBuf>>;

/// Which files of a project are meant.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What they are called, to tell them from others.
    pub name: &'static str,
    /// Whether a file is one.
    pub is_wanted: fn(&Path) -> bool,
}

/// Which files of a project are read for words, and which words count.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What they are called, to tell them from others.
    pub name: &'static str,
    /// Whether a file is read.
    pub is_wanted: fn(&Path) -> bool,
    /// The words in its text.
    pub of_text: fn(&str) -> Vec<String>,
}

/// The files of a project, by their last name.
type Index = HashMap<OsString, Vec<PathBuf>>;

impl ProjectHeaders {
    /// Headers of repositories, and of `given` directories.
    pub fn new(given: &[PathBuf]) -> Self {
        let files = given.iter().filter_map(|path| std::path::absolute(path).ok().filter(|path| path.is_file()));
        let files = files.map(|path| plain(&path)).collect();
        let given = given.iter().filter(|path| path.is_dir()).cloned().collect();
        ProjectHeaders { given, files, ..ProjectHeaders::default() }
    }

    /// The header that `name` means in the file `includer`, if the project has exactly one that is nearest.
    pub fn find(&self, name: &str, includer: &Path) -> Option<Header> {
        if is_of_a_library(name) {
            return None;
        }
        let found = self.found(name, includer);
        recorded(&found, || Question::Header { name: name.to_owned(), includer: includer.to_path_buf() });
        found
    }

    fn found(&self, name: &str, includer: &Path) -> Option<Header> {
        let includer = std::path::absolute(includer).ok()?;
        let root = self.root_of(&includer)?;
        let project = self.project(&root);
        let index = project.get_or_init(|| walk(&root));
        let wanted: PathBuf = Path::new(name).components().filter(is_plain).collect();
        let candidates = index.get(wanted.file_name()?)?.iter().filter(|path| path.ends_with(&wanted));
        let path = nearest(candidates.filter(|path| **path != includer), &includer)?;
        let inside = inside(&path, &root);
        Some(Header { path, inside })
    }

    /// The header that `name` means in the first of these directories of the project that has it.
    pub fn within(&self, directories: &[PathBuf], name: &str, includer: &Path) -> Option<Header> {
        if directories.is_empty() || is_of_a_library(name) {
            return None;
        }
        let found = self.found_within(directories, name, includer);
        recorded(&found, || Question::HeaderWithin {
            directories: directories.to_vec(),
            name: name.to_owned(),
            includer: includer.to_path_buf(),
        });
        found
    }

    fn found_within(&self, directories: &[PathBuf], name: &str, includer: &Path) -> Option<Header> {
        let root = self.root_of(&std::path::absolute(includer).ok()?)?;
        let paths = directories.iter().map(|directory| plain(&directory.join(name)));
        let path = paths.filter(|path| path.starts_with(&root)).find(|path| path.is_file())?;
        let inside = inside(&path, &root);
        Some(Header { path, inside })
    }

    /// The files of the project of a kind, in groups: those below the directory of `file`, then those below
    /// the one around it that are not among these, and so on up to the root. Each group is in the order of its paths.
    pub fn around(&self, file: &Path, kind: Kind) -> Vec<Group> {
        let groups = self.groups(file, kind);
        recorded(&groups, || Question::Around { file: file.to_path_buf(), kind: kind.name.to_owned() });
        groups
    }

    fn groups(&self, file: &Path, kind: Kind) -> Vec<Group> {
        let Ok(file) = std::path::absolute(file) else { return Vec::new() };
        let Some(root) = self.root_of(&file) else { return Vec::new() };
        let project = self.project(&root);
        let index = project.get_or_init(|| walk(&root));
        let mut rest: Vec<&PathBuf> = index.values().flatten().filter(|path| (kind.is_wanted)(path)).collect();
        rest.sort();
        let directories = file.ancestors().skip(1).take_while(|directory| directory.starts_with(&root));
        let mut groups = Vec::new();
        for directory in directories {
            let (inner, outer): (Vec<_>, Vec<_>) = rest.into_iter().partition(|path| path.starts_with(directory));
            rest = outer;
            let found = |path: &PathBuf| Header { path: path.clone(), inside: inside(path, &root) };
            groups.push(Group { directory: directory.to_path_buf(), files: inner.into_iter().map(found).collect() });
        }
        groups
    }

    /// The files of the project, and of the run, in whose text `words` finds `word`: those that share most directories with
    /// `file` first. Each project is read once for each kind of words.
    pub fn naming(&self, file: &Path, word: &str, words: Words) -> Vec<Header> {
        let found = self.found_naming(file, word, words);
        let (word, kind) = (word.to_owned(), words.name.to_owned());
        recorded(&found, || Question::Naming { file: file.to_path_buf(), word, kind });
        found
    }

    fn found_naming(&self, file: &Path, word: &str, words: Words) -> Vec<Header> {
        let Ok(file) = std::path::absolute(file) else { return Vec::new() };
        let file = plain(&file);
        let root = self.root_of(&file);
        let key = (words.name, root.clone());
        let named = Arc::clone(self.named.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        let named = named.get_or_init(|| {
            let project = root.as_ref().map(|root| self.project(root));
            let index = project.as_ref().zip(root.as_ref()).map(|(project, root)| project.get_or_init(|| walk(root)));
            let mut files: Vec<&PathBuf> = index.into_iter().flat_map(HashMap::values).flatten().collect();
            files.extend(&self.files);
            files.retain(|path| (words.is_wanted)(path));
            files.sort();
            files.dedup();
            named_in(&files, words)
        });
        let mut found: Vec<&PathBuf> = named.get(word).into_iter().flatten().collect();
        found.sort_by_key(|path| (std::cmp::Reverse(shared(path, &file)), (*path).clone()));
        let inside = |path: &PathBuf| root.as_ref().map_or_else(|| path.clone(), |root| inside(path, root));
        found.into_iter().map(|path| Header { path: path.clone(), inside: inside(path) }).collect()
    }

    /// The answer to a question that was recorded, as the project is now: `kinds` and `words` are those that were asked about.
    /// `None` for a question that is not asked here.
    pub fn answer(&self, question: &Question, kinds: &[Kind], words: &[Words]) -> Option<Fingerprint> {
        match question {
            Question::Header { name, includer } => Some(Fingerprint::of_value(&self.found(name, includer))),
            Question::HeaderWithin { directories, name, includer } => {
                Some(Fingerprint::of_value(&self.found_within(directories, name, includer)))
            }
            Question::Around { file, kind } => {
                let kind = kinds.iter().find(|known| known.name == kind)?;
                Some(Fingerprint::of_value(&self.groups(file, *kind)))
            }
            Question::Naming { file, word, kind } => {
                let words = words.iter().find(|known| known.name == kind)?;
                Some(Fingerprint::of_value(&self.found_naming(file, word, *words)))
            }
            Question::Including { .. } | Question::Models { .. } => None,
        }
    }

    /// All files of the project of a file: as long as they are the same, so are the answers that hang on names alone.
    pub fn listing(&self, file: &Path) -> Option<Fingerprint> {
        let root = self.root_of(&std::path::absolute(file).ok()?)?;
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        Some(*listings.entry(root.clone()).or_insert_with(|| {
            let project = self.project(&root);
            let mut files: Vec<&PathBuf> = project.get_or_init(|| walk(&root)).values().flatten().collect();
            files.sort();
            Fingerprint::of_value(&files)
        }))
    }

    fn root_of(&self, file: &Path) -> Option<PathBuf> {
        let directory = file.parent()?;
        if let Some(known) = self.roots.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return known.clone();
        }
        let root = self.root_found(file);
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.insert(directory.to_path_buf(), root.clone());
        root
    }

    fn root_found(&self, file: &Path) -> Option<PathBuf> {
        let of_repository = file.parent().and_then(root_around);
        let given = || self.given.iter().filter_map(|given| std::path::absolute(given).ok());
        of_repository.or_else(|| given().find(|given| file.starts_with(given)))
    }

    fn project(&self, root: &Path) -> Project {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(projects.entry(root.to_path_buf()).or_default())
    }
}

/// How a directive names a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiters {
    /// `"name"`
    Quotes,
    /// `<name>`
    Brackets,
}

/// The header that a line of text includes, as far as it is written out.
pub fn included(line: &str) -> Option<(&str, Delimiters)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let (close, delimiters, rest) = match rest.strip_prefix('"') {
        Some(rest) => ('"', Delimiters::Quotes, rest),
        None => ('>', Delimiters::Brackets, rest.strip_prefix('<')?),
    };
    Some((rest.split_once(close)?.0, delimiters))
}

/// The root of the repository that a directory belongs to.
pub fn root_around(directory: &Path) -> Option<PathBuf> {
    let is_root = |directory: &&Path| ROOT_MARKS.iter().any(|mark| directory.join(mark).exists());
    directory.ancestors().find(is_root).map(Path::to_path_buf)
}

/// The files by the words in their text.
fn named_in(files: &[&PathBuf], words: Words) -> Named {
    let mut named = Named::new();
    for path in files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let mut found = (words.of_text)(&String::from_utf8_lossy(&bytes));
        found.sort();
        found.dedup();
        for word in found {
            named.entry(word).or_default().push((*path).clone());
        }
    }
    named
}

/// The work at hand has asked this, and got that answer.
fn recorded(answer: &impl std::fmt::Debug, question: impl FnOnce() -> Question) {
    record(|| Dependency::Answer(question(), Fingerprint::of_value(answer)));
}

fn inside(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_path_buf()
}

/// An absolute path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => _ = plain.pop(),
            other => plain.push(other),
        }
    }
    plain
}

fn is_plain(component: &std::path::Component) -> bool {
    matches!(component, std::path::Component::Normal(_))
}

fn is_of_a_library(name: &str) -> bool {
    !name.contains('.')
        || LIBRARIES.iter().any(|library| name.starts_with(library))
        || SYSTEM.split(' ').any(|known| known == name)
}

fn walk(root: &Path) -> Index {
    let mut index = Index::new();
    // A tree that is not a repository has its ignore files respected, too.
    for (number, entry) in WalkBuilder::new(root).require_git(false).build().enumerate() {
        if number == MOST_ENTRIES {
            return Index::new();
        }
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            index.entry(entry.file_name().to_owned()).or_default().push(entry.into_path());
        }
    }
    index
}

/// The candidate that shares most directories with `includer`; among equals one of equal text, by name the first.
fn nearest<'a>(candidates: impl Iterator<Item = &'a PathBuf>, includer: &Path) -> Option<PathBuf> {
    let mut best: Vec<&PathBuf> = Vec::new();
    let mut most = 0;
    for candidate in candidates {
        let shared = shared(candidate, includer);
        if shared > most || best.is_empty() {
            best.clear();
            most = shared;
        }
        if shared == most {
            best.push(candidate);
        }
    }
    best.sort();
    let (first, others) = best.split_first()?;
    let text = |path: &Path| disk::read(path).ok();
    let is_same = others.is_empty() || others.iter().all(|other| text(other) == text(first));
    is_same.then(|| (*first).clone())
}

/// How many directories two files have in common.
pub fn shared(one: &Path, other: &Path) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        root
    }

    fn found(root: &Path, name: &str, includer: &str) -> Option<String> {
        let headers = ProjectHeaders::new(&[root.to_path_buf()]);
        let header = headers.find(name, &root.join(includer))?;
        assert_eq!(header.path, std::path::absolute(root.join(&header.inside)).unwrap());
        Some(header.inside.to_str().unwrap().to_owned())
    }

    #[test]
    fn includes_are_found_in_lines() {
        assert_eq!(included("  # include \"a/b.cu\" // c"), Some(("a/b.cu", Delimiters::Quotes)));
        assert_eq!(included("#include <a.h>"), Some(("a.h", Delimiters::Brackets)));
        assert_eq!(included("// #include \"a.h\""), None);
        assert_eq!(included("#include NAME"), None);
    }

    #[test]
    fn the_nearest_header_of_the_name_is_found() {
        let root = tree(&[("cuda/inc/size.h", "1"), ("opencl/inc/size.h", "2"), ("cuda/app/k.cu", "")]);
        assert_eq!(found(root.path(), "size.h", "cuda/app/k.cu").as_deref(), Some("cuda/inc/size.h"));
        assert_eq!(found(root.path(), "inc/size.h", "opencl/k.cl").as_deref(), Some("opencl/inc/size.h"));
        assert_eq!(found(root.path(), "../../inc/size.h", "cuda/app/k.cu").as_deref(), Some("cuda/inc/size.h"));
        assert_eq!(found(root.path(), "other.h", "cuda/app/k.cu"), None);
    }

    #[test]
    fn the_header_of_a_stated_directory_is_found_among_others() {
        let root = tree(&[("a/size.h", "1"), ("b/size.h", "2"), ("c/k.cu", "")]);
        let headers = ProjectHeaders::new(&[root.path().to_path_buf()]);
        let stated = [root.path().join("c/../none"), root.path().join("c/../b"), root.path().join("a")];
        let within = |name, stated: &[PathBuf]| headers.within(stated, name, &root.path().join("c/k.cu"));
        assert_eq!(within("size.h", &stated).unwrap().inside, Path::new("b/size.h"));
        assert_eq!(within("other.h", &stated), None);
        assert_eq!(within("size.h", &[root.path().join("c/../..")]), None);
    }

    #[test]
    fn two_different_headers_equally_near_are_none_and_two_equal_ones_are_one() {
        let root = tree(&[("a/size.h", "1"), ("b/size.h", "2"), ("a/same.h", "1"), ("b/same.h", "1")]);
        assert_eq!(found(root.path(), "size.h", "k.cu"), None);
        assert_eq!(found(root.path(), "same.h", "k.cu").as_deref(), Some("a/same.h"));
    }

    #[test]
    fn headers_of_systems_and_libraries_are_not_sought() {
        let root = tree(&[("win/unistd.h", ""), ("vendor/cub/cub.cuh", ""), ("vendor/vector", "")]);
        for name in ["unistd.h", "cub/cub.cuh", "vector"] {
            assert_eq!(found(root.path(), name, "k.cu"), None, "{name}");
        }
    }

    #[test]
    fn files_are_grouped_by_how_near_they_are() {
        let root =
            tree(&[("a/b/k.cl", ""), ("a/b/host/main.c", ""), ("a/main.c", ""), ("c/main.c", ""), ("a/x.h", "")]);
        let headers = ProjectHeaders::new(&[root.path().to_path_buf()]);
        let kind = Kind { name: "main", is_wanted: |path| path.ends_with("main.c") };
        let groups = headers.around(&root.path().join("a/b/k.cl"), kind);
        let names = |group: &Group| group.files.iter().map(|file| file.inside.to_str().unwrap().to_owned()).collect();
        let found: Vec<Vec<String>> = groups.iter().map(names).collect();
        assert_eq!(found, [["a/b/host/main.c"], ["a/main.c"], ["c/main.c"]]);
    }

    #[test]
    fn a_file_outside_of_all_projects_has_no_headers() {
        let (root, other) = (tree(&[("inc/size.h", "")]), tree(&[("k.cu", "")]));
        let headers = ProjectHeaders::new(&[root.path().to_path_buf()]);
        assert_eq!(headers.find("size.h", &other.path().join("k.cu")), None);
    }
}
