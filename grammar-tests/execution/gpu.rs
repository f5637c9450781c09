//! Programs of fixtures for a GPU, which run in place of those for the CPU where it is asked for.
//!
//! `RACEPROOF_BACKEND=cuda` asks for it. Where `RACEPROOF_PROGRAMS` names a directory, programs are kept there and used
//! again for the same text, so that one machine can build them, for the architecture that `RACEPROOF_CUDA_ARCH` names, and
//! another, which has the GPU, run them.

use raceproof::driver::Options;
use raceproof::execute::cuda::architecture;
use raceproof::execute::cuda::nvcc::{self, Nvcc};
use raceproof::instrument::runtime::{CUDA_UNIT, CUDA_WRAPPED, cuda_files};
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether fixtures run on a GPU.
pub(super) fn is_asked_for() -> bool {
    std::env::var("RACEPROOF_BACKEND").is_ok_and(|name| name == "cuda")
}

/// nvcc, and the runtime, compiled once.
pub(super) struct Gpu {
    nvcc: Nvcc,
    /// Such as 90.
    architecture: u32,
    runtime: PathBuf,
    /// Where programs stay.
    kept: Option<PathBuf>,
}

impl Gpu {
    /// Compiles the runtime in a directory that is there.
    pub(super) fn new(runtime: &Path) -> Gpu {
        let nvcc = nvcc::find().expect("nvcc");
        let architecture =
            architecture().expect("the driver says which GPU there is, or RACEPROOF_CUDA_ARCH does") / 10;
        for file in cuda_files() {
            fs::write(runtime.join(file.path), file.text).expect("a file");
        }
        let kept = std::env::var_os("RACEPROOF_PROGRAMS").map(PathBuf::from);
        let gpu = Gpu { nvcc, architecture, runtime: runtime.to_path_buf(), kept };
        let object = gpu.object();
        let mut command = gpu.command();
        command.args(["-O2", "-c"]).arg(runtime.join(CUDA_UNIT)).arg("-o").arg(object);
        said(&mut command).expect("the runtime compiles");
        gpu
    }

    fn object(&self) -> PathBuf {
        self.runtime.join("runtime.o")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.nvcc.program);
        command.args(["-std=c++17", "-w", "--extended-lambda", "--expt-relaxed-constexpr", "-Xcompiler", "-pthread"]);
        command.arg(format!("-arch=sm_{}", self.architecture)).arg("-I").arg(&self.runtime);
        command
    }

    /// What device code is read as.
    pub(super) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.defines.push(("__CUDA_ARCH__".to_owned(), (self.architecture * 10).to_string()));
        options
    }

    /// Makes `program` of one instrumented text.
    pub(super) fn compile(
        &self,
        unit: &Path,
        includes: &Path,
        options: &Options,
        program: &Path,
    ) -> Result<(), String> {
        let Some(kept) = self.kept.as_ref().map(|directory| directory.join(self.key(unit, options))) else {
            return self.compile_anew(unit, includes, options, program);
        };
        let refusal = kept.with_extension("refused");
        if let Ok(why) = fs::read_to_string(&refusal) {
            return Err(why);
        }
        if !kept.exists() {
            fs::create_dir_all(kept.parent().expect("a parent")).expect("a directory");
            if let Err(why) = self.compile_anew(unit, includes, options, program) {
                fs::write(&refusal, &why).expect("a file");
                return Err(why);
            }
            fs::copy(program, &kept).expect("a copy");
        }
        fs::copy(&kept, program).map(drop).map_err(|error| error.to_string())
    }

    /// A name for what is made of a text.
    fn key(&self, unit: &Path, options: &Options) -> String {
        let mut hasher = DefaultHasher::new();
        fs::read(unit).expect("it was written").hash(&mut hasher);
        (&options.defines, self.architecture).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn compile_anew(&self, unit: &Path, includes: &Path, options: &Options, program: &Path) -> Result<(), String> {
        let mut command = self.command();
        // Compiled in half of the time, and with few enough registers for the largest blocks.
        command.args(["-Xcicc", "-O0", "-Xptxas", "-O0", "-maxrregcount=64", "-I"]).arg(includes);
        command.args(options.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        command.args(CUDA_WRAPPED.iter().flat_map(|name| ["-Xlinker".to_owned(), format!("--wrap={name}")]));
        let libraries = self.nvcc.libraries.iter().flat_map(|path| [OsString::from("-L"), path.clone().into()]);
        command.arg(unit).arg(self.object()).args(libraries).arg("-o").arg(program);
        said(&mut command)
    }
}

/// Runs a compiler; if it fails, its first error.
fn said(command: &mut Command) -> Result<(), String> {
    let output = command.env("LC_ALL", "C").output().expect("nvcc runs");
    if output.status.success() {
        return Ok(());
    }
    let messages = [output.stdout, output.stderr].concat();
    let messages = String::from_utf8_lossy(&messages);
    let error = messages.lines().find(|line| line.contains("error")).unwrap_or(&messages).to_owned();
    Err(error.split_once("error").map_or(error.clone(), |(_, what)| what.trim_start_matches([':', ' ']).to_owned()))
}
