//! How a text that was instrumented is built without `run`: the commands, for people and for makefiles, and the files of the runtime.
//!
//! Guarantees: the flags are those that the back ends build with ([`cpu`], [`cuda`]). Deliberately absent: programs of several
//! instrumented files, whose sites `run` numbers through, and finding compilers.

use super::{ExecuteError, cpu, cuda};
use crate::instrument::Backend;
use crate::instrument::runtime::{self, CUDA_UNIT, CUDA_WRAPPED, RuntimeFile};
use std::path::{Path, PathBuf};

/// What is built.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Who builds it.
    pub backend: Backend,
    /// The user's file.
    pub file: PathBuf,
    /// The instrumented text.
    pub text: PathBuf,
    /// Where the runtime is, or will be.
    pub runtime: PathBuf,
    /// Where the user's includes are sought.
    pub include_dirs: Vec<PathBuf>,
}

/// The commands that build it, run it, and check its log, one a line.
pub fn commands(subject: &Subject) -> Vec<String> {
    let Subject { backend, file, text, runtime, include_dirs } = subject;
    let program = text.with_extension("program");
    let log = text.with_extension("trace");
    let beside = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let includes = include_dirs.iter().map(|directory| format!(" -I {}", quoted(directory))).collect::<String>();
    let (runtime, text, shown) = (runtime.as_path(), quoted(text), quoted(&program));
    let build = match backend {
        Backend::Cpu => {
            let flags = cpu::FLAGS.join(" ");
            let own = format!("-I {} -iquote {}{includes}", quoted(runtime), quoted(beside));
            vec![format!("c++ {flags} {own} {text} -pthread -lm -o {shown}")]
        }
        Backend::Cuda => {
            let (flags, device) = (cuda::FLAGS.join(" "), cuda::DEVICE_FLAGS.join(" "));
            let (unit, object) = (program.with_extension("unit.o"), program.with_extension("runtime.o"));
            let own = format!("-I {}{includes} -I {}", quoted(beside), quoted(runtime));
            let wrapped = CUDA_WRAPPED.iter().map(|name| format!("--wrap={name}")).collect::<Vec<_>>().join(",");
            let source = quoted(&runtime.join(CUDA_UNIT));
            // Where the nvcc of this machine needs more than its name, that is said, too.
            let found = cuda::nvcc::find().ok();
            let nvcc = found.as_ref().map_or_else(|| "nvcc".to_owned(), |found| quoted(&found.program));
            let libraries = found.and_then(|found| found.libraries);
            let libraries = libraries.map_or_else(String::new, |directory| format!(" -L {}", quoted(&directory)));
            vec![
                format!("{nvcc} {flags} {device} {own} -c -x cu {text} -o {}", quoted(&unit)),
                format!("{nvcc} {flags} -I {} -c -x c++ {source} -o {}", quoted(runtime), quoted(&object)),
                format!("{nvcc} {} {} -lm{libraries} -Xlinker {wrapped} -o {shown}", quoted(&unit), quoted(&object)),
            ]
        }
    };
    let run = if program.is_absolute() { shown } else { quoted(&Path::new(".").join(&program)) };
    let log = quoted(&log);
    build.into_iter().chain([format!("RACEPROOF_LOG={log} {run}"), format!("raceproof trace check {log}")]).collect()
}

/// Writes the files of the runtime.
///
/// # Errors
/// One of them cannot be written.
pub fn write_runtime(backend: Backend, directory: &Path) -> Result<(), ExecuteError> {
    let files: Vec<RuntimeFile> = match backend {
        Backend::Cpu => runtime::cpu_files(),
        Backend::Cuda => runtime::cuda_files(),
    };
    for file in files {
        let path = directory.join(file.path);
        let parent = path.parent().unwrap_or(directory);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, &file.text));
        written.map_err(|cause| ExecuteError::Write { path: path.clone(), cause })?;
    }
    Ok(())
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=,@%:".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_shell() {
        let word = |path: &str| quoted(Path::new(path));
        assert_eq!(word("a/b-c.cu"), "a/b-c.cu");
        assert_eq!(word("my kernels/it's.cu"), "'my kernels/it'\\''s.cu'");
    }
}
