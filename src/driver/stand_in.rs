//! `nvcc`: what a build makes with nvcc, made with every access of its kernels logged.
//!
//! Each call is one command of a build of the user's. A source in CUDA is instrumented as its command reads it, and the
//! object that nvcc makes of the text has the runtime and its own tables in it (`execute/cuda/object.rs`); everything else
//! goes to nvcc as it is. Units know nothing of each other until their program starts: then each tells the runtime its
//! tables, as in a program that `run` builds.
//!
//! Guarantees: an object is logged, or says in every log that it is not; files of dependencies name the user's files.
//!
//! Deliberately absent: running the program, and relocatable device code, which is refused or not logged.

use super::Options;
use super::parallel::read;
use super::run::{RunError, Stop, logged_unit};
use super::store::Store;
use super::told::{left_out, place};
use crate::execute::ExecuteError;
use crate::execute::cuda::command::{Command, Goal, Kind};
use crate::execute::cuda::dryrun::{self, DeviceLinking, Dryrun};
use crate::execute::cuda::{nvcc, object, quietly};
use crate::execute::process::{self, Ended};
use crate::execute::scratch::Scratch;
use crate::instrument::unlogged;
use crate::preprocess::commands::{CompileCommands, Flags, split};
use crate::source::fingerprint::Fingerprint;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Registers that a thread may take: logging takes some, and with more a block of 1024 threads could not be launched.
const REGISTERS: &str = "-maxrregcount=64";
/// Response files may name each other this deeply.
const NESTING: usize = 8;

/// One command of a build.
#[derive(Debug)]
pub struct Request<'a> {
    /// The compiler that was named, if one was; else nvcc is sought.
    pub compiler: Option<String>,
    /// Its arguments.
    pub words: Vec<String>,
    /// What becomes of a unit that cannot be logged.
    pub unlogged: Unlogged,
    /// Where the runtime's object is kept.
    pub store: Option<&'a Store>,
}

/// What becomes of a unit that cannot be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlogged {
    /// It is an error.
    Refuse,
    /// It is compiled as it is, and says so in the log.
    Compile,
}

/// Why there is no object.
#[derive(Debug, Error)]
pub enum StandInError {
    /// A unit cannot be logged.
    #[error("{}: {why}; --raceproof-keep-going compiles this unit without logging it", path.display())]
    NotLogged {
        /// The unit.
        path: PathBuf,
        /// Why.
        why: String,
        /// What nvcc says of its logged text, if that is why.
        messages: Option<String>,
    },
    /// It cannot be read, or raceproof failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<ExecuteError> for StandInError {
    fn from(error: ExecuteError) -> Self {
        StandInError::Run(error.into())
    }
}

impl StandInError {
    /// What a compiler said, if it was one.
    pub fn compiler_messages(&self) -> Option<&str> {
        match self {
            StandInError::Run(error) => error.compiler_messages(),
            StandInError::NotLogged { messages, .. } => messages.as_deref(),
        }
    }
}

/// What becomes of a text.
enum Logged {
    /// The text with its accesses logged.
    Text(String),
    /// It cannot be, for this reason.
    Not(String),
}

/// A command that is carried out.
struct Work<'a> {
    request: &'a Request<'a>,
    nvcc: PathBuf,
    words: Vec<String>,
    command: Command,
    scratch: Scratch,
    tell: &'a dyn Fn(&str),
    stop: Stop<'a>,
}

/// Carries a command out; `tell` is given lines for the user. Gives the exit status of the compiler.
pub fn stand_in(request: &Request<'_>, tell: &dyn Fn(&str), stop: Stop<'_>) -> Result<i32, StandInError> {
    if let Some(compiler) = request.compiler.as_deref().filter(|compiler| !is_nvcc(compiler)) {
        return beside(compiler, request, tell, stop);
    }
    let nvcc = match &request.compiler {
        Some(named) => PathBuf::from(named),
        None => nvcc::find()?.program,
    };
    let words = expanded(&request.words, NESTING);
    let command = Command::of(&words);
    let scratch = Scratch::temporary()?;
    Work { request, nvcc, words, command, scratch, tell, stop }.carried_out()
}

/// Whether a program is an nvcc, by its name.
fn is_nvcc(program: &str) -> bool {
    Path::new(program).file_stem().is_some_and(|stem| stem.to_string_lossy().contains("nvcc"))
}

/// Another compiler, whose objects may call functions of CUDA.
fn beside(compiler: &str, request: &Request<'_>, tell: &dyn Fn(&str), stop: Stop<'_>) -> Result<i32, StandInError> {
    let mut command = std::process::Command::new(compiler);
    let status = status(process::run(command.args(&request.words), None, stop)?);
    let output = request.words.iter().position(|word| word == "-o").and_then(|at| request.words.get(at + 1));
    let makes_object = request.words.iter().any(|word| word == "-c");
    if let Some(output) = output.map(Path::new).filter(|output| status == 0 && makes_object && output.is_file()) {
        let scratch = Scratch::temporary()?;
        if object::calls_cuda(output, &scratch, stop)? {
            let (nvcc, command) = (nvcc::find()?.program, Command::of(&[]));
            let work = Work { request, nvcc, words: Vec::new(), command, scratch, tell, stop };
            work.complete(output, output)?;
        }
    }
    Ok(status)
}

fn refused(path: &Path, why: &str, messages: Option<String>) -> StandInError {
    StandInError::NotLogged { path: path.to_path_buf(), why: why.to_owned(), messages }
}

/// A text that is a file as it is, whatever its bytes.
fn including(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    format!("#include \"{}\"\n", whole.display())
}

/// Bytes that are no characters would be others in the logged text, and in what the program says.
fn not_utf8(before: &[u8]) -> String {
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    format!("line {line} is not UTF-8; convert the file (`iconv -t UTF-8`)")
}

/// What a shell gives for the end of a process.
fn status(ended: Ended) -> i32 {
    match ended {
        Ended::Exited(status) => status,
        Ended::Signalled(signal) => 128 + signal,
        Ended::TimedOut => 124,
    }
}

/// The words with those of response files in the place of these. One that cannot be read is nvcc's to complain about.
fn expanded(words: &[String], nesting: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, attached) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        let is_response = matches!(flag, "--options-file" | "-optf") && nesting > 0;
        let value = if is_response { attached.or_else(|| words.clone().next().map(String::as_str)) } else { None };
        let texts = value.and_then(|files| files.split(',').map(|file| std::fs::read_to_string(file).ok()).collect());
        let Some(texts): Option<Vec<String>> = texts else {
            all.push(word.clone());
            continue;
        };
        if attached.is_none() {
            words.next();
        }
        all.extend(texts.iter().flat_map(|text| expanded(&split(text), nesting - 1)));
    }
    all
}

impl Work<'_> {
    fn carried_out(&self) -> Result<i32, StandInError> {
        let cuda: Vec<&Path> = self.command.cuda().collect();
        match self.command.goal {
            Goal::Objects => self.objects(&cuda),
            Goal::Program | Goal::Archive => self.linked(&cuda),
            Goal::Device(option) => {
                for path in cuda {
                    let what = "device code that a program loads itself is not logged";
                    (self.tell)(&format!("{}: {option}: {what}", path.display()));
                }
                self.pass(&self.words)
            }
            Goal::Other => self.pass(&self.words),
        }
    }

    /// An object of each source.
    fn objects(&self, cuda: &[&Path]) -> Result<i32, StandInError> {
        for path in cuda {
            let object = self.command.object(path);
            let status = self.object(path, &object, &object)?;
            if status != 0 {
                return Ok(status);
            }
        }
        let Some(words) = self.command.without_cuda() else { return Ok(0) };
        let status = self.pass(&words)?;
        for (path, _) in self.command.inputs().filter(|(_, kind)| status == 0 && *kind == Kind::Host) {
            let object = self.command.object(path);
            if object::calls_cuda(&object, &self.scratch, self.stop)? {
                self.complete(&object, &object)?;
            }
        }
        Ok(status)
    }

    /// One file of all inputs.
    fn linked(&self, cuda: &[&Path]) -> Result<i32, StandInError> {
        let mut objects = Vec::new();
        for (number, path) in cuda.iter().enumerate() {
            let mut to = self.scratch.path().join(format!("object{number}"));
            std::fs::create_dir_all(&to).map_err(|cause| ExecuteError::Write { path: to.clone(), cause })?;
            let own = self.command.object(path);
            to.push(own.file_name().unwrap_or_default());
            let status = self.object(path, &to, &own)?;
            if status != 0 {
                return Ok(status);
            }
            objects.push(to);
        }
        let mut words = self.command.with_objects(&objects);
        let has_cuda = self.command.value("--cudart") != Some("none") || !objects.is_empty();
        if self.command.goal == Goal::Program && has_cuda {
            words.extend(object::link_arguments(&self.runtime()?));
        }
        self.pass(&words)
    }

    /// Makes a logged object of a source at `to`; the user knows it as `own`.
    fn object(&self, path: &Path, to: &Path, own: &Path) -> Result<i32, StandInError> {
        let said = match self.quietly(&[self.words.clone(), vec!["--dryrun".to_owned()]].concat()) {
            Ok(said) => dryrun::read(&said),
            // It has something to say to the user.
            Err(ExecuteError::Compile { .. }) => return self.pass(&self.words),
            Err(error) => return Err(error.into()),
        };
        if let Some(wanted) = self.command.dependencies(own) {
            let mut words = self.command.compiling();
            words.extend([wanted.option.to_owned(), path.display().to_string()]);
            words.extend(["-MT".to_owned(), wanted.target, "-MF".to_owned(), wanted.file.display().to_string()]);
            words.extend(wanted.more);
            let status = self.pass(&words)?;
            if status != 0 {
                return Ok(status);
            }
        }
        let made = self.scratch.path().join("made.o");
        let bytes =
            read(path).map_err(|cause| RunError::Unreadable { path: path.to_path_buf(), cause: cause.to_string() })?;
        let (text, logged) = match std::str::from_utf8(&bytes) {
            Ok(text) => (text.trim_start_matches('\u{feff}').to_owned(), self.logged_text(path, text, &said)?),
            Err(error) => (including(path), Logged::Not(not_utf8(&bytes[..error.valid_up_to()]))),
        };
        match logged {
            Logged::Text(logged) => self.compile_logged(path, (&text, &logged), &made)?,
            Logged::Not(why) => self.compile_unlogged(path, &text, &why, &made)?,
        }
        self.complete(&made, to)?;
        Ok(0)
    }

    /// The text with its accesses logged.
    fn logged_text(&self, path: &Path, text: &str, said: &Dryrun) -> Result<Logged, StandInError> {
        if said.linking == DeviceLinking::Later {
            return Ok(Logged::Not("relocatable device code (-rdc=true, -dc) is not logged".to_owned()));
        }
        let variable = |name: &str| split(&std::env::var(name).unwrap_or_default());
        let words = [variable("NVCC_PREPEND_FLAGS"), self.words.clone(), variable("NVCC_APPEND_FLAGS")].concat();
        // Relative to the working directory, so that places in the log are named as the build names them.
        let commands = Some(Arc::new(CompileCommands::one(path, Flags::of(&words, Path::new("")))));
        let options = Options { commands, defines: said.defines.clone(), ..Options::default() };
        let file = match logged_unit(path, text, &options) {
            Ok(file) => file,
            Err(RunError::Instrument { cause, .. }) => return Ok(Logged::Not(cause.to_string())),
            Err(error) => return Err(error.into()),
        };
        if let Some(unordered) = file.unit.unordered.first() {
            let place = place(&file, unordered.span);
            let why = "orders is not logged on a GPU, so that a log would show conflicts that are none";
            return Ok(Logged::Not(format!("{place}: what {} {why}", unordered.what)));
        }
        for line in left_out(&file) {
            (self.tell)(&line);
        }
        Ok(Logged::Text(file.unit.text))
    }

    fn compile_logged(&self, path: &Path, (text, logged): (&str, &str), made: &Path) -> Result<(), StandInError> {
        let source = self.written(path, logged)?;
        let mut words = self.compiling(path, &source, made)?;
        if !self.command.has("--maxrregcount") {
            words.push(REGISTERS.to_owned());
        }
        // What it has to say of the text it says where nothing is logged.
        words.push("-w".to_owned());
        match self.quietly(&words) {
            Ok(_) => Ok(()),
            Err(ExecuteError::Compile { messages, .. }) => {
                let why = "nvcc accepts it, but not its logged text";
                // If it is the user's text that nvcc does not accept, it says so here.
                self.compile_as_it_is(path, text, why, made)?;
                match self.request.unlogged {
                    Unlogged::Compile => self.tell_unlogged(path, why),
                    Unlogged::Refuse => return Err(refused(path, why, Some(messages))),
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn compile_unlogged(&self, path: &Path, text: &str, why: &str, made: &Path) -> Result<(), StandInError> {
        match self.request.unlogged {
            Unlogged::Compile => self.tell_unlogged(path, why),
            Unlogged::Refuse => return Err(refused(path, why, None)),
        }
        self.compile_as_it_is(path, text, why, made)
    }

    fn tell_unlogged(&self, path: &Path, why: &str) {
        (self.tell)(&format!("{}: none of its kernels is logged: {why}", path.display()));
    }

    fn compile_as_it_is(&self, path: &Path, text: &str, why: &str, made: &Path) -> Result<(), StandInError> {
        let source = self.written(path, &unlogged(path, text, why))?;
        self.quietly(&self.compiling(path, &source, made)?)?;
        Ok(())
    }

    /// A text under the name of its source, in a directory where nothing else is.
    fn written(&self, path: &Path, text: &str) -> Result<PathBuf, StandInError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(self.scratch.write(&format!("unit/{name}"), text)?)
    }

    /// The words that compile a text in the place of its source.
    fn compiling(&self, path: &Path, source: &Path, made: &Path) -> Result<Vec<String>, StandInError> {
        let mut words = self.command.compiling();
        let goal = self.command.only(&["--compile", "--device-c", "--device-w"]);
        words.extend(if goal.is_empty() { vec!["-c".to_owned()] } else { goal });
        words.extend([source.display().to_string(), "-o".to_owned(), made.display().to_string()]);
        // What a text includes between quotes lies beside the source, not beside the text.
        let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = beside.display().to_string();
        match beside.contains([',', ' ', '"', '\'']) {
            true => words.extend(["-I".to_owned(), beside]),
            false => words.extend(["-Xcompiler".to_owned(), "-iquote".to_owned(), "-Xcompiler".to_owned(), beside]),
        }
        // The runtime's last, whose names the program may have, too.
        let runtime = object::write_runtime(&self.scratch)?;
        words.extend(["-I".to_owned(), runtime.display().to_string()]);
        words.push(format!("-DRACEPROOF_MADE_FOR={}", object::made_for()));
        words.extend(["-Xcompiler".to_owned(), "-fno-lto".to_owned()]);
        Ok(words)
    }

    /// The runtime into an object.
    fn complete(&self, made: &Path, to: &Path) -> Result<(), StandInError> {
        let runtime = self.runtime()?;
        Ok(object::complete(made, &runtime, to, &self.scratch, self.stop)?)
    }

    /// The runtime's object, of an earlier command if there is one.
    fn runtime(&self) -> Result<PathBuf, StandInError> {
        let at = self.scratch.path().join("runtime.o");
        if at.is_file() {
            return Ok(at);
        }
        let same = self.command.only(&["--compiler-bindir", "--target-directory"]);
        let host = ["NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"].map(std::env::var_os);
        let identity = self.request.store.and_then(|store| store.identity(&self.nvcc));
        let name = Fingerprint::of_value(&("cuda runtime", object::made_for(), &self.nvcc, identity, &same, host));
        if let Some(bytes) = self.request.store.and_then(|store| store.read::<Vec<u8>>(&name)) {
            return Ok(self.scratch.write("runtime.o", bytes)?);
        }
        let directory = object::write_runtime(&self.scratch)?;
        let words = [same, object::runtime_arguments(&directory, &at)].concat();
        self.quietly(&words)?;
        if let (Some(store), Ok(bytes)) = (self.request.store, std::fs::read(&at)) {
            // Whoever cannot keep it makes it again.
            let _ = store.write(&name, &bytes);
        }
        Ok(at)
    }

    fn quietly(&self, words: &[String]) -> Result<String, ExecuteError> {
        quietly(&mut self.call(words), &self.scratch, self.stop)
    }

    fn call(&self, words: &[String]) -> std::process::Command {
        let mut command = std::process::Command::new(&self.nvcc);
        command.args(words);
        command
    }

    /// Leaves words to nvcc, which speaks to the user itself.
    fn pass(&self, words: &[String]) -> Result<i32, StandInError> {
        Ok(status(process::run(&mut self.call(words), None, self.stop)?))
    }
}
