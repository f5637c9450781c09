//! Programs of fixtures, compiled without optimisation, several together ([`super::batch`]), and with the runtime
//! compiled once.
//!
//! What a program does under a schedule follows from its text, the runtime, and the compiler; it is remembered
//! ([`crate::support::answers`]), and a program whose runs are all known is not compiled.

use super::batch::{SECTIONS, Section, blamed, joined, section};
use super::cases::Case;
use super::gpu::{self, Gpu};
use crate::support::answers;
use crate::support::tools::cxx;
use raceproof::driver::Options;
use raceproof::driver::instrument::{instrument, instrument_for};
use raceproof::driver::run::{Backend, BuildOptions, Logging, Output, Request, RunOptions, prepare};
use raceproof::instrument::runtime::cpu_files;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
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
    /// Stands for the compiler and the runtime.
    version: u64,
    programs: AtomicUsize,
}

/// A program that launches the cases that it is told to.
pub(super) struct Built<'t> {
    toolchain: &'t Toolchain,
    directory: PathBuf,
    /// Where the headers of the fixture are.
    includes: PathBuf,
    defines: Vec<(String, String)>,
    /// What is compiled.
    unit: String,
    /// The outcome of compiling it, once that was needed.
    compiled: OnceLock<Result<Program, String>>,
    /// The kernels, by case.
    kernels: Vec<String>,
}

/// A program, and the arguments that come before those of the fixture.
#[derive(Clone)]
struct Program {
    path: PathBuf,
    section: Option<usize>,
}

/// What a run left.
pub(super) struct Ran {
    /// Its log.
    pub(super) log: PathBuf,
    /// What should not happen in a kernel without a race, by case.
    pub(super) unexpected: Vec<(usize, String)>,
}

fn compiler() -> Command {
    let mut command = Command::new(cxx());
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
            return Toolchain { directory, gpu: Some(Gpu::new(&runtime)), version: 0, programs: AtomicUsize::new(0) };
        }
        let mut version = DefaultHasher::new();
        for file in cpu_files() {
            (file.path, &file.text).hash(&mut version);
            let path = runtime.join(file.path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, file.text).expect("a file");
        }
        let header = runtime.join("raceproof.hpp");
        let mut command = compiler();
        command.args(&FLAGS[..FLAGS.len() - 1]).arg("c++-header").arg(&header);
        command.arg("-o").arg(runtime.join("raceproof.hpp.gch"));
        assert!(command.status().expect("a C++ compiler").success(), "the runtime compiles");
        compiler().arg("--version").output().expect("a C++ compiler").stdout.hash(&mut version);
        Toolchain { directory, gpu: None, version: version.finish(), programs: AtomicUsize::new(0) }
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
            run: RunOptions {
                log: None,
                arguments: Vec::new(),
                seed: 0,
                timeout: None,
                workers: None,
                output: Output::Own,
            },
            keep: Some(directory.clone()),
            launch: Some(launch),
            untouched: BTreeSet::new(),
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

    pub(super) fn build(
        &self,
        path: &Path,
        text: &str,
        options: &Options,
        cases: &[Case],
    ) -> Result<Built<'_>, String> {
        let (text, directory) = self.prepared(path, text, options, cases)?;
        let kernels = cases.iter().map(|case| case.plan.kernel.clone()).collect();
        self.instrumented(directory, path, &text, options, kernels)
    }

    /// Builds a program that is complete.
    pub(super) fn build_whole(&self, path: &Path, text: &str) -> Result<Built<'_>, String> {
        self.instrumented(self.fresh(), path, text, &Options::default(), Vec::new())
    }

    fn instrumented(
        &self,
        directory: PathBuf,
        path: &Path,
        text: &str,
        options: &Options,
        kernels: Vec<String>,
    ) -> Result<Built<'_>, String> {
        let includes = path.parent().expect("a parent").to_path_buf();
        if let Some(gpu) = &self.gpu {
            let instrumented = instrument_for(Backend::Cuda, path, text, &gpu.options(options));
            let instrumented = instrumented.map_err(|error| error.to_string())?.unit;
            if let Some(unordered) = instrumented.unordered.first() {
                return Err(format!("what {} orders is not logged on a GPU", unordered.what));
            }
            let unit = directory.join("unit.cu");
            // It runs in the directory, and is the same wherever that is.
            fs::write(&unit, instrumented.text.replace(&directory.display().to_string(), ".")).expect("a file");
            let compiled = gpu.compile(&unit, &includes, options, &directory.join("program"));
            compiled.map_err(|error| format!("it does not compile: {error}"))?;
            let program = Program { path: directory.join("program"), section: None };
            let (unit, compiled) = (String::new(), OnceLock::from(Ok(program)));
            let defines = Vec::new();
            return Ok(Built { toolchain: self, directory, includes, defines, unit, compiled, kernels });
        }
        let instrumented = instrument(path, text, options).map_err(|error| error.to_string())?;
        // It runs in the directory, and is the same wherever that is.
        let unit = instrumented.unit.text.replace(&directory.display().to_string(), ".");
        let defines = options.defines.clone();
        Ok(Built { toolchain: self, directory, includes, defines, unit, compiled: OnceLock::new(), kernels })
    }

    /// Compiles programs that are not known to compile, several together where that is the same.
    pub(super) fn compile_together<'b, 't>(&self, programs: &[&'b Built<'t>]) {
        let is_new = |built: &&&'b Built<'t>| built.compiled.get().is_none() && !built.is_known_to_compile();
        let sectioned = |&&built: &&&'b Built<'t>| {
            let section = section(&built.unit).filter(|_| built.defines.is_empty());
            section.map(|section| (built, section))
        };
        let mut all: Vec<(&Built<'t>, Section)> =
            programs.iter().filter(is_new).filter_map(|built| sectioned(&built)).collect();
        eprintln!("{} of {} programs are compiled together", all.len(), programs.len());
        // The last program is not much smaller than the others.
        let size = all.len().div_ceil(all.len().div_ceil(SECTIONS).max(2)).max(1);
        let mut batches = Vec::new();
        while !all.is_empty() {
            batches.push(all.split_off(all.len().saturating_sub(size)));
        }
        batches.into_par_iter().for_each(|batch| self.compile_batch(batch));
    }

    /// Compiles a batch without those that cannot be in it, which are left.
    fn compile_batch(&self, mut batch: Vec<(&Built<'_>, Section)>) {
        let directory = self.fresh();
        while batch.len() > 1 {
            let sections: Vec<&Section> = batch.iter().map(|(_, section)| section).collect();
            let unit = directory.join("unit.cpp");
            fs::write(&unit, joined(&sections, false)).expect("a file");
            let path = directory.join("program");
            let linked = self.command(&unit).arg("-o").arg(&path).output().expect("a C++ compiler");
            if linked.status.success() {
                for (number, (built, _)) in batch.iter().enumerate() {
                    let _ = built.compiled.set(Ok(Program { path: path.clone(), section: Some(number) }));
                    answers::remember("compiles", &built.key(), &[]);
                }
                return;
            }
            fs::write(&unit, joined(&sections, true)).expect("a file");
            let said = self.command(&unit).arg("-fsyntax-only").output().expect("a C++ compiler").stderr;
            let blamed = blamed(&String::from_utf8_lossy(&[linked.stderr, said].concat()));
            let mut number = 0..;
            let before = batch.len();
            batch.retain(|_| number.next().is_some_and(|number| !blamed.contains(&number)));
            eprintln!("{} of {before} programs do not compile beside others", before - batch.len());
            if batch.len() == before {
                return;
            }
        }
    }

    /// The compiler, for a text that needs the runtime.
    fn command(&self, unit: &Path) -> Command {
        let mut command = compiler();
        command.args(FLAGS).arg("-I").arg(self.directory.path().join("runtime")).arg(unit).stdin(Stdio::null());
        command
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

/// What is remembered of a run that ended well.
#[derive(serde::Serialize, serde::Deserialize)]
struct Remembered {
    log: Vec<u8>,
    report: String,
}

impl Built<'_> {
    /// All that decides what the program does.
    fn key(&self) -> impl Hash + use<> {
        (self.toolchain.version, FLAGS, self.unit.clone(), self.defines.clone())
    }

    fn is_known_to_compile(&self) -> bool {
        answers::known("compiles", &self.key()).is_some()
    }

    /// Whether it compiles: a text that does not has no run that would tell.
    pub(super) fn compiles(&self) -> Result<(), String> {
        if self.compiled.get().is_some() || !self.is_known_to_compile() {
            self.compiled()?;
            answers::remember("compiles", &self.key(), &[]);
        }
        Ok(())
    }

    /// Makes the program, unless that is done.
    fn compiled(&self) -> Result<Program, String> {
        self.compiled.get_or_init(|| self.compile()).clone()
    }

    fn compile(&self) -> Result<Program, String> {
        let unit = self.directory.join("unit.cpp");
        fs::write(&unit, &self.unit).expect("a file");
        let mut command = self.toolchain.command(&unit);
        command.arg("-iquote").arg(&self.includes);
        command.args(self.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        let path = self.directory.join("program");
        command.arg("-o").arg(&path);
        let output = command.output().expect("a C++ compiler");
        if output.status.success() {
            return Ok(Program { path, section: None });
        }
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = messages.lines().find(|line| line.contains("error:")).unwrap_or(&messages).to_owned();
        let error = error.split_once("error:").map_or(&*error, |(_, what)| what.trim());
        Err(format!("it does not compile: {error}"))
    }

    /// Launches some cases in an order of threads that the seed decides.
    pub(super) fn run(&self, cases: Range<usize>, seed: u64) -> Ran {
        let (log, report) = (self.directory.join("run.trace"), self.directory.join("report"));
        let key = (self.key(), cases.start, cases.end, seed);
        // On a GPU the order of threads is its own, and another one each time.
        let known = if gpu::is_asked_for() { None } else { answers::known("run", &key) };
        let failure = match known {
            Some(known) => {
                let known: Remembered = postcard::from_bytes(&known).expect("it was written so");
                fs::write(&log, &known.log).and_then(|()| fs::write(&report, &known.report)).expect("files");
                None
            }
            None => self.execute(cases.clone(), seed),
        };
        let said = fs::read_to_string(&report).unwrap_or_default();
        if let (None, false, Ok(written)) = (&failure, gpu::is_asked_for(), fs::read(&log)) {
            let remembered = Remembered { log: written, report: said.clone() };
            answers::remember("run", &key, &postcard::to_stdvec(&remembered).expect("it can be written"));
        }
        let mut unexpected: Vec<(usize, String)> = Vec::new();
        unexpected.extend(failure.map(|failure| (cases.start, failure)));
        for line in said.lines() {
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

    /// Runs the program; how it ended, if not well.
    fn execute(&self, cases: Range<usize>, seed: u64) -> Option<String> {
        let program = self.compiled().expect("it was compiled before");
        let (log, report) = (self.directory.join("run.trace"), self.directory.join("report"));
        let _ = fs::remove_file(&log);
        let _ = fs::remove_file(&report);
        let mut command = Command::new("timeout");
        command
            .args(["-k", "1", LIMITS[usize::from(gpu::is_asked_for())]])
            .arg(program.path)
            .args(program.section.map(|section| section.to_string()))
            .current_dir(&self.directory);
        command.args([cases.start.to_string(), cases.end.to_string()]);
        command.env("RACEPROOF_LOG", &log).env("RACEPROOF_REPORT", &report);
        command.env("RACEPROOF_SEED", seed.to_string()).env("RACEPROOF_WORKERS", "1");
        let output = command.stdin(Stdio::null()).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = || said.lines().next().unwrap_or("").trim().to_owned();
        (!output.status.success()).then(|| format!("the program ends with {}: {}", output.status, first()))
    }
}
