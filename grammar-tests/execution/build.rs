//! Programs of fixtures: one a file, compiled without optimisation and with the runtime compiled once.

use super::cases::Case;
use super::gpu::{self, Gpu};
use raceproof::driver::Options;
use raceproof::driver::instrument::{instrument, instrument_for};
use raceproof::driver::run::{Backend, BuildOptions, Logging, Request, RunOptions, prepare};
use raceproof::instrument::runtime::cpu_files;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Flags by which the runtime and the programs agree.
const FLAGS: [&str; 7] = ["-std=gnu++17", "-O0", "-w", "-fno-strict-aliasing", "-pthread", "-x", "c++"];

/// How many seconds a program may run: on the CPU, and on a GPU.
const LIMITS: [&str; 2] = ["20", "8"];

/// A compiler and the runtime.
pub(super) struct Toolchain {
    directory: tempfile::TempDir,
    /// Where programs are for the GPU.
    gpu: Option<Gpu>,
    programs: AtomicUsize,
}

/// A program that launches the cases that it is told to.
pub(super) struct Built {
    directory: PathBuf,
    /// The kernels, by case.
    kernels: Vec<String>,
}

/// What a run left.
pub(super) struct Ran {
    /// Its log.
    pub(super) log: PathBuf,
    /// What should not happen in a kernel without a race, by case.
    pub(super) unexpected: Vec<(usize, String)>,
}

fn compiler() -> Command {
    let mut command = Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned()));
    // What it says is compared.
    command.env("LC_ALL", "C");
    command
}

impl Toolchain {
    pub(super) fn new() -> Toolchain {
        let directory = tempfile::tempdir().expect("a directory");
        let runtime = directory.path().join("runtime");
        if gpu::is_asked_for() {
            fs::create_dir_all(&runtime).expect("a directory");
            return Toolchain { directory, gpu: Some(Gpu::new(&runtime)), programs: AtomicUsize::new(0) };
        }
        for file in cpu_files() {
            let path = runtime.join(file.path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, file.text).expect("a file");
        }
        let header = runtime.join("raceproof.hpp");
        let mut command = compiler();
        command.args(&FLAGS[..FLAGS.len() - 1]).arg("c++-header").arg(&header);
        command.arg("-o").arg(runtime.join("raceproof.hpp.gch"));
        assert!(command.status().expect("a C++ compiler").success(), "the runtime compiles");
        Toolchain { directory, gpu: None, programs: AtomicUsize::new(0) }
    }

    fn fresh(&self) -> PathBuf {
        let number = self.programs.fetch_add(1, Ordering::Relaxed);
        let path = self.directory.path().join(format!("program{number}"));
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    /// The text of the program that launches the cases.
    fn prepared(
        &self,
        path: &Path,
        text: &str,
        options: &Options,
        cases: &[Case],
    ) -> Result<(String, PathBuf), String> {
        let directory = self.fresh();
        let mut description = String::new();
        for (number, case) in cases.iter().enumerate() {
            let one = case.plan.description(&format!("b{number}_")).map_err(|error| error.to_string())?;
            description.push_str(&one.text());
        }
        let launch = directory.join("launch.toml");
        fs::write(&launch, description).expect("a file");
        // A `main` of the fixture's is no program: it launches kernels from pointers that lead nowhere.
        let file = directory.join(path.file_name().expect("a name"));
        fs::write(&file, without_main(text)).expect("a file");
        let request = Request {
            backend: if self.gpu.is_some() { Backend::Cuda } else { Backend::Cpu },
            files: vec![file],
            options: options.clone(),
            build: BuildOptions {
                include_dirs: Vec::new(),
                defines: Vec::new(),
                libraries: Vec::new(),
                library_dirs: Vec::new(),
                logging: Logging::Full,
            },
            run: RunOptions { log: None, arguments: Vec::new(), seed: 0, timeout: None, workers: None },
            keep: Some(directory.clone()),
            launch: Some(launch),
        };
        let prepared = prepare(&request).map_err(|error| {
            let text = error.to_string();
            text.split_once("launch.toml:")
                .map_or(text.clone(), |(_, rest)| rest.splitn(3, ':').last().unwrap_or("").trim().to_owned())
        })?;
        let (_, text) = prepared.texts().next().expect("one text");
        Ok((selectable(text), directory))
    }

    /// The cases that a description can give; the others are told.
    pub(super) fn usable(
        &self,
        path: &Path,
        text: &str,
        options: &Options,
        cases: Vec<Case>,
        told: &mut dyn FnMut(&str, String),
    ) -> Vec<Case> {
        if self.prepared(path, text, options, &cases).is_ok() {
            return cases;
        }
        let is_usable = |case: &Case| match self.prepared(path, text, options, std::slice::from_ref(case)) {
            Ok(_) => true,
            Err(why) => {
                told(&case.plan.kernel, why);
                false
            }
        };
        let mut is_usable = is_usable;
        cases.into_iter().filter(|case| is_usable(case)).collect()
    }

    pub(super) fn build(&self, path: &Path, text: &str, options: &Options, cases: &[Case]) -> Result<Built, String> {
        let (text, directory) = self.prepared(path, text, options, cases)?;
        self.compile(&directory, path, &text, options)?;
        Ok(Built { directory, kernels: cases.iter().map(|case| case.plan.kernel.clone()).collect() })
    }

    /// Builds a program that is complete.
    pub(super) fn build_whole(&self, path: &Path, text: &str) -> Result<Built, String> {
        let directory = self.fresh();
        self.compile(&directory, path, text, &Options::default())?;
        Ok(Built { directory, kernels: Vec::new() })
    }

    fn compile(&self, directory: &Path, path: &Path, text: &str, options: &Options) -> Result<(), String> {
        let includes = path.parent().expect("a parent");
        if let Some(gpu) = &self.gpu {
            let instrumented = instrument_for(Backend::Cuda, path, text, &gpu.options(options));
            let instrumented = instrumented.map_err(|error| error.to_string())?.unit;
            if let Some(unordered) = instrumented.unordered.first() {
                return Err(format!("what {} orders is not logged on a GPU", unordered.what));
            }
            let unit = directory.join("unit.cu");
            // It runs in the directory, and is the same wherever that is.
            fs::write(&unit, instrumented.text.replace(&directory.display().to_string(), ".")).expect("a file");
            let compiled = gpu.compile(&unit, includes, options, &directory.join("program"));
            return compiled.map_err(|error| format!("it does not compile: {error}"));
        }
        let instrumented = instrument(path, text, options).map_err(|error| error.to_string())?;
        let unit = directory.join("unit.cpp");
        fs::write(&unit, &instrumented.unit.text).expect("a file");
        let mut command = compiler();
        command.args(FLAGS).arg("-I").arg(self.directory.path().join("runtime"));
        command.arg("-iquote").arg(includes);
        command.args(options.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        command.arg(&unit).arg("-o").arg(directory.join("program")).stdin(Stdio::null());
        let output = command.output().expect("a C++ compiler");
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = messages.lines().find(|line| line.contains("error:")).unwrap_or(&messages).to_owned();
        let error = error.split_once("error:").map_or(&*error, |(_, what)| what.trim());
        Err(format!("it does not compile: {error}"))
    }
}

/// The text with its `main` under another name.
fn without_main(text: &str) -> String {
    text.replace("int main(", "int fixture_main(")
}

/// How the lines of launches begin.
const LAUNCHES: [&str; 3] =
    ["    ::", "    raceproof_check(raceproof_cooperative(", "    raceproof_check(raceproof_clustered("];

/// The generated program, made to launch only those whose numbers are between its two arguments.
fn selectable(text: &str) -> String {
    let mut number = 0;
    let mut lines = Vec::new();
    let mut is_main = false;
    for line in text.split('\n') {
        if line == "int main() {" {
            is_main = true;
            lines.push("int main(int, char** raceproof_range) {".to_owned());
        } else if is_main && LAUNCHES.iter().any(|start| line.starts_with(start)) {
            lines.push(format!(
                "if ({number} >= atoi(raceproof_range[1]) && {number} < atoi(raceproof_range[2])) {{{line}}}"
            ));
            number += 1;
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

impl Built {
    /// Launches some cases in an order of threads that the seed decides.
    pub(super) fn run(&self, cases: Range<usize>, seed: u64) -> Ran {
        let log = self.directory.join("run.trace");
        let report = self.directory.join("report");
        let _ = fs::remove_file(&log);
        let _ = fs::remove_file(&report);
        let mut command = Command::new("timeout");
        command
            .args(["-k", "1", LIMITS[usize::from(gpu::is_asked_for())]])
            .arg(self.directory.join("program"))
            .current_dir(&self.directory);
        command.args([cases.start.to_string(), cases.end.to_string()]);
        command.env("RACEPROOF_LOG", &log).env("RACEPROOF_REPORT", &report);
        command.env("RACEPROOF_SEED", seed.to_string()).env("RACEPROOF_WORKERS", "1");
        let output = command.stdin(Stdio::null()).output().expect("the program starts");
        let mut unexpected = Vec::new();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            unexpected.push((
                cases.start,
                format!("the program ends with {}: {}", output.status, said.lines().next().unwrap_or("").trim()),
            ));
        }
        for line in fs::read_to_string(&report).unwrap_or_default().lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            if ["launch", "mask"].contains(&fields[0]) {
                continue;
            }
            let kernel = fields.get(1).copied().unwrap_or("");
            let bare = |name: &String| {
                name.split('<').next() == Some(kernel)
                    || name.split('<').next().is_some_and(|name| name.ends_with(&format!("::{kernel}")))
            };
            let case = self.kernels.iter().position(bare).unwrap_or(cases.start);
            unexpected.push((case, format!("{}: {}", fields[0], fields.last().unwrap_or(&""))));
        }
        Ran { log, unexpected }
    }
}
