//! The files of a program, read, with the program that a launch description stands for behind its kernels.

use super::Options;
use super::described;
use super::isolate::isolated;
use super::parallel::{decode, on_workers, read};
use super::run::{Request, RunError};
use crate::execute::launch::host::Telling;
use crate::execute::launch::{self, Description, Problem};
use crate::execute::program::Logging;
use crate::execute::scratch::Scratch;
use crate::source::Language;
use crate::source::discover::is_host_code;
use std::path::{Path, PathBuf};

/// What is to be built.
#[derive(Debug)]
pub struct Prepared {
    pub(super) scratch: Scratch,
    pub(super) files: Vec<PreparedFile>,
    /// What is launched of a file of OpenCL kernels, which has no program around it.
    pub(super) opencl: Option<Description>,
    /// Files whose own `main` has to make room for that of the launch description.
    pub(super) set_aside: Vec<PathBuf>,
}

/// One of its files.
#[derive(Debug)]
pub(super) struct PreparedFile {
    pub(super) path: PathBuf,
    /// What is to be instrumented; `None`: nothing, it is host code.
    pub(super) text: Option<String>,
}

impl Prepared {
    /// The files that are instrumented, and their texts.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().filter_map(|file| Some((file.path.as_path(), file.text.as_deref()?)))
    }
}

/// Reads the files of a request.
pub fn prepare(request: &Request) -> Result<Prepared, RunError> {
    // What is wrong with a description is told before anything else is looked at.
    let description = request.launch.as_deref().map(launch::read).transpose()?;
    let mut files = Vec::new();
    for path in &request.files {
        let text = if is_host_code(path) { exists(path).map(|()| None)? } else { Some(device_text(path)?) };
        files.push(PreparedFile { path: path.clone(), text });
    }
    let scratch = match &request.keep {
        Some(directory) => Scratch::kept(directory)?,
        None => Scratch::temporary()?,
    };
    if let Some(path) = request.files.iter().find(|path| is_opencl(path)) {
        // Whoever searches makes the launches.
        if description.is_none() && request.build.logging != Logging::Search {
            return Err(RunError::NoLaunch(path.clone()));
        }
        if files.len() > 1 {
            return Err(RunError::NotAlone(path.clone()));
        }
        return Ok(Prepared { scratch, files, opencl: description, set_aside: Vec::new() });
    }
    let mut set_aside = Vec::new();
    if let Some(description) = &description {
        // A mutant is told from the program by what comes out.
        let telling = if request.build.logging == Logging::Mutants { Telling::Digests } else { Telling::Nothing };
        set_aside = add_program(&mut files, &request.options, description, (&scratch, telling))?;
    }
    Ok(Prepared { scratch, files, opencl: None, set_aside })
}

fn exists(path: &Path) -> Result<(), RunError> {
    let unreadable =
        |cause: std::io::Error| RunError::Unreadable { path: path.to_path_buf(), cause: cause.to_string() };
    std::fs::metadata(path).map(|_| ()).map_err(unreadable)
}

/// Whether a file has OpenCL kernels.
pub fn is_opencl(path: &Path) -> bool {
    crate::source::discover::language_of(path) == Some(Language::OpenCl)
}

/// The text of a file that is to be instrumented.
fn device_text(path: &Path) -> Result<String, RunError> {
    let bytes =
        read(path).map_err(|cause| RunError::Unreadable { path: path.to_path_buf(), cause: cause.to_string() })?;
    Ok(decode(&bytes))
}

/// Puts the program behind the first text that has all kernels of the description. Of files that have a `main` of their own it is set aside.
fn add_program(
    files: &mut [PreparedFile],
    options: &Options,
    description: &Description,
    (scratch, telling): (&Scratch, Telling),
) -> Result<Vec<PathBuf>, RunError> {
    let mut known: Vec<String> = Vec::new();
    let mut set_aside = Vec::new();
    let mut chosen = None;
    for (number, file) in files.iter_mut().enumerate() {
        let Some(text) = &mut file.text else { continue };
        let kernels = guarded(&file.path, || described::kernels(&file.path, text, options))?;
        if let Some(without) = kernels.without_main(text) {
            *text = without;
            set_aside.push(file.path.clone());
        }
        if chosen.is_none() && kernels.has_all(description) {
            chosen = Some(number);
        }
        known.extend(kernels.names().map(str::to_owned));
    }
    let Some(number) = chosen else {
        let is_there = |name: &str| known.iter().any(|known| known == name || known.ends_with(&format!("::{name}")));
        let mut named = description.launches.iter().map(|launch| (described::split(&launch.kernel).0, launch.place));
        let missing = named.clone().find(|(name, _)| !is_there(name.trim_start_matches("::")));
        let Some((name, place)) = missing.or_else(|| named.next()) else { return Ok(set_aside) };
        let suggestion = described::likely(name, &known);
        let problem = Problem::UnknownKernel { name: name.to_owned(), suggestion, known };
        return Err(description.error(place, "launch.kernel", problem).into());
    };
    let PreparedFile { path, text } = &mut files[number];
    let Some(text) = text else { return Ok(set_aside) };
    let host = guarded(path, || described::program(path, text, options, description, (scratch.path(), telling)))??;
    for (name, contents) in &host.files {
        scratch.write(name, contents)?;
    }
    text.push_str(&host.text);
    Ok(set_aside)
}

/// Runs `work` on a large stack; a panic is a bug, which is told with the file.
pub(super) fn guarded<T: Send>(path: &Path, work: impl FnOnce() -> T + Send) -> Result<T, RunError> {
    let done = on_workers(Some(1), || isolated(work));
    done.map_err(|panic| RunError::Bug { path: path.to_path_buf(), message: panic.to_string() })
}
