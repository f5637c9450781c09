//! OpenCL programs as they are: what they build is instrumented while they run.
//!
//! A text has the name of a file that holds the same, if one is near the program, else one of its own (`program-1.cl`). It is read
//! with the options that the program builds it with, and as the device will: without a `-cl-std` as OpenCL C 1.2, without the
//! extensions that the device has not.
//!
//! Deliberately absent: which kernels the program has, before it builds them.

use super::Options;
use super::instrument::{InstrumentedFile, Purpose, instrument_to};
use super::prepared::guarded;
use super::run::{Ran, RunError};
use super::told::{left_out, tell, uncounted};
use crate::execute::ExecuteError;
use crate::execute::opencl;
use crate::execute::opencl::counts::Counted;
use crate::execute::opencl::host::{self, NotInstrumented, Text, Unit};
use crate::execute::program::{Output, Stop};
use crate::execute::report::EventKind;
use crate::execute::scratch::Scratch;
use crate::instrument::InstrumentError;
use crate::instrument::mutant::Untouched;
use crate::preprocess::commands::{Flags, split};
use crate::source::{Dialect, OpenClVersion, Span};
use crate::trace::pairs::HostWrite;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// What to run.
#[derive(Clone, Debug)]
pub struct HostRequest {
    /// The program and its arguments.
    pub program: Vec<OsString>,
    /// What its kernels do beside what they do.
    pub records: Records,
    /// Where the log is written; `None`: where it goes away with everything else.
    pub log: Option<PathBuf>,
    /// When the program is ended.
    pub timeout: Option<Duration>,
    /// Where its output goes.
    pub output: Output,
    /// Where everything that is made for the run stays; `None`: it is removed.
    pub keep: Option<PathBuf>,
}

/// What kernels leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// A log of their accesses.
    Accesses,
    /// Counts of what is reached.
    Counts,
    /// The same, and the texts are known with all of their mutants.
    Mutants,
}

/// A program that has run.
#[derive(Debug)]
pub struct Hosted {
    /// How it went.
    pub ran: Ran,
    /// What code of kernels is not logged, or not counted, as lines for the user.
    pub left_out: Vec<String>,
    /// How many kinds of launches are not logged, or not to their ends; what was told says which.
    pub unlogged: usize,
    /// The log; of a program that counts there is none.
    pub log: PathBuf,
    /// What the host has written to buffers, as far as it says so to the library.
    pub(super) host_writes: Vec<HostWrite>,
    /// The texts that were instrumented, each once for each way in which it was built.
    pub(super) texts: Vec<HostText>,
    /// What goes when nobody needs the log any more.
    _scratch: Scratch,
}

/// A text that was instrumented.
#[derive(Debug)]
pub(super) struct HostText {
    /// The instrumented text.
    pub(super) file: InstrumentedFile,
    /// How it is read.
    pub(super) options: Options,
    /// What its kernels have counted.
    pub(super) counted: Counted,
}

/// Without lines that stay as they are.
static ALL_LINES: Untouched = Untouched::new();

/// Why a text is not instrumented.
#[derive(Debug, Error)]
enum TextError {
    #[error(transparent)]
    Instrument(#[from] InstrumentError),
    #[error("its header `{0}` has a name that leads elsewhere")]
    Header(String),
    #[error(transparent)]
    Write(#[from] ExecuteError),
    #[error(transparent)]
    Bug(#[from] RunError),
}

/// Extensions that the preprocessor takes to be there, if the device does not say otherwise.
const EXTENSIONS: [&str; 10] = [
    "cl_khr_fp64",
    "cl_khr_fp16",
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_3d_image_writes",
];

/// Runs an OpenCL program with what its kernels access logged, or what is reached of them counted.
pub fn run_host(request: &HostRequest, stop: Stop<'_>) -> Result<Hosted, RunError> {
    let scratch = match &request.keep {
        Some(directory) => Scratch::kept(directory)?,
        None => Scratch::temporary()?,
    };
    let log = request.log.clone().unwrap_or_else(|| scratch.path().join("run.trace"));
    let purpose = match request.records {
        Records::Accesses => Purpose::Log,
        Records::Counts => Purpose::Cover,
        Records::Mutants => Purpose::Mutate(&ALL_LINES),
    };
    let library = Library::new(&scratch, Texts::of(request.keep.as_ref()), purpose);
    let wanted = (request.records == Records::Accesses).then(|| log.clone());
    let options = opencl::Options { log: wanted, timeout: request.timeout, output: request.output };
    let host::Hosted { outcome, mut counted, host_writes } =
        host::run(&request.program, &options, &scratch, &|text| library.unit_of(text), stop)?;
    let ReadTexts { files, readings, .. } = library.read.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told = outcome.events.iter().filter_map(|event| tell(event, "opencl", &files)).collect();
    let unlogged: Vec<&str> = outcome
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Unlogged)
        .map(|event| event.kernel.as_str())
        .collect();
    let mut launched: Vec<String> = Vec::new();
    for kernel in outcome.launched().chain(unlogged.iter().copied()) {
        if !launched.iter().any(|known| known == kernel) {
            launched.push(kernel.to_owned());
        }
    }
    let unlogged = unlogged.len();
    let lines = |file: &InstrumentedFile| match request.records {
        Records::Accesses => left_out(file),
        Records::Counts => uncounted(file, "not counted"),
        Records::Mutants => uncounted(file, "not mutated"),
    };
    let mut left_out: Vec<String> = files.iter().flat_map(lines).collect();
    // The same text may have been built in several ways.
    left_out.sort();
    left_out.dedup();
    let ran = Ran { back_end: "opencl", ended: outcome.ended, launched, told };
    counted.resize(files.len(), Counted::default());
    let of_texts = files.into_iter().zip(readings).zip(counted);
    let texts = of_texts.map(|((file, options), counted)| HostText { file, options, counted }).collect();
    Ok(Hosted { ran, left_out, unlogged, log, host_writes, texts, _scratch: scratch })
}

/// Whether instrumented texts stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// They go away with the run.
    Go,
    /// They are kept in files.
    Stay,
}

impl Texts {
    /// As the user asks for it.
    pub(super) fn of(keep: Option<&PathBuf>) -> Texts {
        if keep.is_some() { Texts::Stay } else { Texts::Go }
    }
}

/// The texts of a program.
pub(super) struct Library<'a> {
    scratch: &'a Scratch,
    texts: Texts,
    purpose: Purpose<'a>,
    read: Mutex<ReadTexts>,
}

/// What was read so far.
#[derive(Default)]
struct ReadTexts {
    /// What was instrumented, in this order.
    files: Vec<InstrumentedFile>,
    /// How each was read.
    readings: Vec<Options>,
    names: BTreeMap<String, PathBuf>,
    /// Texts for which there is no file.
    unnamed: usize,
    with_headers: usize,
}

impl<'a> Library<'a> {
    /// Without a text yet; headers go into the scratch directory.
    pub(super) fn new(scratch: &'a Scratch, texts: Texts, purpose: Purpose<'a>) -> Library<'a> {
        Library { scratch, texts, purpose, read: Mutex::default() }
    }

    /// A text as the program is to build it.
    pub(super) fn unit_of(&self, text: &Text) -> Result<Unit, NotInstrumented> {
        self.instrumented(text).map_err(|cause| NotInstrumented(cause.into()))
    }

    fn instrumented(&self, text: &Text) -> Result<Unit, TextError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let path = read.name_of(text);
        let headers = self.headers(text, &mut read)?;
        let options = options(text, headers);
        let instrumented = guarded(&path, || instrument_to(self.purpose, &path, &text.text, &options));
        let file = instrumented??;
        let line = |span: &Span| {
            let path = &file.sources.file(file.sources.visible(*span).file).path;
            (path.display().to_string(), file.sources.start_position(*span).line)
        };
        let shared = file.unit.opencl.clone();
        let unit = Unit {
            text: file.unit.text.clone(),
            kernels: shared.kernels.iter().map(|kernel| line(&kernel.span)).collect(),
            barriers: shared.barriers.iter().map(line).collect(),
            shared,
        };
        if self.texts == Texts::Stay {
            let name = format!("kernels-{}.cl", read.files.len() + 1);
            self.scratch.write(&name, &unit.text)?;
        }
        read.files.push(file);
        read.readings.push(options);
        Ok(unit)
    }

    /// Writes the headers that a text comes with; gives their directory, if there are any.
    fn headers(&self, text: &Text, read: &mut ReadTexts) -> Result<Option<PathBuf>, TextError> {
        if text.headers.is_empty() {
            return Ok(None);
        }
        read.with_headers += 1;
        let directory = PathBuf::from(format!("headers-{}", read.with_headers));
        for (name, contents) in &text.headers {
            let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            if !is_below {
                return Err(TextError::Header(name.clone()));
            }
            let path = directory.join(name);
            self.scratch.write(&path.to_string_lossy(), contents)?;
        }
        Ok(Some(self.scratch.path().join(directory)))
    }
}

/// How a text is read.
fn options(text: &Text, headers: Option<PathBuf>) -> Options {
    let flags = Flags::of(&split(&text.options), &text.directory);
    let has = |name: &&str| text.extensions.split_whitespace().any(|extension| extension == *name);
    let is_defined = |name: &&str| flags.defines.iter().any(|(defined, _)| defined == name);
    let undefined = EXTENSIONS.iter().filter(|name| !has(name) && !is_defined(name));
    Options {
        undefined: undefined.map(|&name| name.to_owned()).collect(),
        // Drivers look into the working directory, too.
        include_dirs: headers.into_iter().chain(flags.include_dirs).chain([text.directory.clone()]).collect(),
        defines: flags.defines.iter().cloned().chain(version(&text.version)).collect(),
        dialect: Some(Dialect::OpenCl(flags.opencl.unwrap_or(OpenClVersion::V1_2))),
        ..Options::default()
    }
}

/// The version of a device as its compiler defines it: `OpenCL 3.0 …` is 300.
fn version(words: &str) -> Option<(String, String)> {
    let (major, minor) = words.split_whitespace().nth(1)?.split_once('.')?;
    let number = 100 * major.parse::<u32>().ok()? + 10 * minor.parse::<u32>().ok()?;
    Some(("__OPENCL_VERSION__".to_owned(), number.to_string()))
}

impl ReadTexts {
    /// The name under which a text is reported.
    fn name_of(&mut self, text: &Text) -> PathBuf {
        if let Some(known) = self.names.get(&text.text) {
            return known.clone();
        }
        let roots = [Path::new("."), &text.directory, text.executable.parent().unwrap_or(Path::new("."))];
        let name = roots.into_iter().find_map(|root| file_with(&text.text, root)).unwrap_or_else(|| {
            self.unnamed += 1;
            PathBuf::from(format!("program-{}.cl", self.unnamed))
        });
        self.names.insert(text.text.clone(), name.clone());
        name
    }
}

/// How many entries of directories are looked at.
const MOST_ENTRIES: usize = 20_000;
/// By how many bytes of white space at their ends texts may differ.
const BLANKS: u64 = 16;

/// A file below `root` that holds a text, the nearest first; white space at the end does not count.
fn file_with(text: &str, root: &Path) -> Option<PathBuf> {
    let wanted = text.trim_end();
    if wanted.is_empty() {
        return None;
    }
    let (mut open, mut seen) = (VecDeque::from([root.to_path_buf()]), 0);
    while let Some(directory) = open.pop_front() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => open.push_back(path),
                Ok(kind) if kind.is_dir() => {}
                _ if holds(&path, wanted) => return Some(as_named(path)),
                _ => {}
            }
        }
    }
    None
}

fn holds(path: &Path, wanted: &str) -> bool {
    let bytes = wanted.len() as u64;
    let may_be = std::fs::metadata(path).is_ok_and(|it| it.is_file() && (bytes..=bytes + BLANKS).contains(&it.len()));
    may_be && std::fs::read(path).is_ok_and(|read| String::from_utf8_lossy(&read).trim_end() == wanted)
}

/// A path as a user in the working directory would type it.
fn as_named(path: PathBuf) -> PathBuf {
    let working = std::env::current_dir().unwrap_or_default();
    let typed = path.strip_prefix(".").or_else(|_| path.strip_prefix(&working));
    typed.map(Path::to_path_buf).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_name_of_the_nearest_file_that_holds_it() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("deep/er/a.cl", "kernel void k() {}\n\n");
        write("other.cl", "kernel void q() {}\n");
        write(".hidden/a.cl", "kernel void k() {}\n");
        let found = |text: &str| file_with(text, directory.path());
        assert_eq!(found("kernel void k() {}"), Some(directory.path().join("deep/er/a.cl")));
        assert_eq!(found("kernel void k() { }"), None);
        write("near.cl", "kernel void k() {}\n");
        assert_eq!(found("kernel void k() {}"), Some(directory.path().join("near.cl")));
        assert_eq!(found(" \n"), None);
    }

    #[test]
    fn a_text_is_read_as_the_device_will_read_it() {
        let text = Text {
            options: "-DN=4 -D M -I inc -cl-std=CL2.0".to_owned(),
            directory: "/project".into(),
            extensions: "cl_khr_fp64 cl_khr_icd".to_owned(),
            ..Text::default()
        };
        let read = options(&text, Some("/headers".into()));
        assert_eq!(read.defines, [("N".to_owned(), "4".to_owned()), ("M".to_owned(), "1".to_owned())]);
        assert_eq!(read.include_dirs, ["/headers", "/project/inc", "/project"].map(PathBuf::from));
        assert_eq!(read.dialect, Some(Dialect::OpenCl(OpenClVersion::V2_0)));
        assert!(read.undefined.contains(&"cl_khr_fp16".to_owned()));
        assert!(!read.undefined.contains(&"cl_khr_fp64".to_owned()));
        assert_eq!(version("OpenCL 1.2 pocl"), Some(("__OPENCL_VERSION__".to_owned(), "120".to_owned())));
        assert_eq!(version("unknown"), None);
        assert_eq!(options(&Text::default(), None).dialect, Some(Dialect::OpenCl(OpenClVersion::V1_2)));
    }
}
