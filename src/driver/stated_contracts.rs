//! What a file of contracts states, and of which kernels.
//!
//! Guarantees: of several entries that mean a kernel the one that names it most exactly counts. Deliberately absent: the form
//! of such files ([`contract_file`]), and judging.

use super::asked::suggestion;
use super::contract_file::{self, Entry, Place, Unreadable};
use crate::diagnostic::report::{FileReport, KernelReport, Report, StatedAt};
use crate::judge::contract::Phrase;
use crate::preprocess::normalized;
use crate::resolve::program::{FunctionId, Program};
use std::path::{Path, PathBuf};

/// What a file states of kernels.
#[derive(Clone, Debug)]
pub struct StatedContracts {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// Why a file of contracts is not used.
#[derive(Debug, thiserror::Error)]
pub enum ContractsError {
    /// The system did not give it.
    #[error("cannot read {}: {cause}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// Lines of it cannot be read.
    #[error("{}", told(path, unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The lines.
        unreadable: Vec<Unreadable>,
    },
}

/// `a.txt:3: …; a.txt:7: …`
fn told(path: &Path, unreadable: &[Unreadable]) -> String {
    let lines = unreadable.iter().map(|it| format!("{}:{}: {}", path.display(), it.line, it.cause));
    lines.collect::<Vec<_>>().join("; ")
}

/// A kernel, as contracts name it.
struct Named {
    /// The file of its name, and the one that was checked: absolute paths.
    own: PathBuf,
    unit: PathBuf,
    name: String,
    instance: String,
    /// Which of its file's kernels of that instance it is, from 1.
    overload: usize,
}

impl StatedContracts {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<StatedContracts, ContractsError> {
        let unread = |cause| ContractsError::Unread { path: path.to_path_buf(), cause };
        let text = std::fs::read(path).map_err(unread)?;
        StatedContracts::of_text(path, &String::from_utf8_lossy(&text))
    }

    /// Reads the text of a file that stands at `path`.
    pub fn of_text(path: &Path, text: &str) -> Result<StatedContracts, ContractsError> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let unreadable = |unreadable| ContractsError::Unreadable { path: path.to_path_buf(), unreadable };
        let entries = contract_file::read(text, directory).map_err(unreadable)?;
        Ok(StatedContracts { path: path.to_path_buf(), entries })
    }

    /// What is stated of all kernels, at a place; `text` says which these are.
    pub(super) fn of_all(at: &StatedAt, text: &str, phrases: &[Phrase]) -> StatedContracts {
        let entry = Entry {
            line: at.line,
            text: text.to_owned(),
            place: Place::Everywhere,
            kernel: String::new(),
            overload: None,
            phrases: phrases.to_vec(),
        };
        StatedContracts { path: at.path.clone(), entries: vec![entry] }
    }

    /// What is stated of a kernel; what names it most exactly counts.
    fn entry(&self, kernel: &Named) -> Option<&Entry> {
        let ranked = self.entries.iter().filter_map(|entry| Some((rank(entry, kernel)?, entry)));
        // Of equals the first: `max_by_key` takes the last.
        ranked.rev().max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
    }

    pub(super) fn of(&self, program: &Program, function: FunctionId) -> Option<&Entry> {
        let kernel = named(program, function)?;
        self.entry(&kernel)
    }

    pub(super) fn at(&self, entry: &Entry) -> StatedAt {
        StatedAt { path: self.path.clone(), line: entry.line }
    }

    /// What is stated of kernels that a run did not meet: a line for each that stands in a file that was checked or is not
    /// there, and the number of the others.
    pub fn unmet(&self, report: &Report) -> (Vec<String>, usize) {
        let kernels: Vec<Named> = report.files.iter().flat_map(|file| kernels_of(file)).collect();
        let checked: Vec<PathBuf> = report.files.iter().map(|file| absolute(&file.path)).collect();
        let is_met = |entry: &&Entry| {
            kernels.iter().any(|kernel| self.entry(kernel).is_some_and(|other| other.line == entry.line))
        };
        let may_be_elsewhere = |entry: &Entry| match &entry.place {
            Place::At(paths) => {
                paths.iter().any(|path| path.is_file()) && !paths.iter().any(|path| checked.contains(path))
            }
            Place::EndsIn(_) | Place::Everywhere => false,
        };
        let unmet: Vec<&Entry> = self.entries.iter().filter(|entry| !is_met(entry)).collect();
        let (elsewhere, gone): (Vec<&Entry>, Vec<&Entry>) =
            unmet.into_iter().partition(|entry| may_be_elsewhere(entry));
        let line = |entry: &Entry| {
            if self.is_shadowed(entry, &kernels) {
                return format!("{}: {}: others name its kernels more exactly", self.at(entry), entry.text);
            }
            let why = "there is no such kernel in what was checked";
            let meant = suggestion(&entry.kernel, kernels.iter().map(|kernel| kernel.name.as_str()));
            format!("{}: {}: {why}{meant}", self.at(entry), entry.text)
        };
        (gone.into_iter().map(line).collect(), elsewhere.len())
    }

    fn is_shadowed(&self, entry: &Entry, kernels: &[Named]) -> bool {
        kernels.iter().any(|kernel| rank(entry, kernel).is_some())
    }
}

/// How exactly an entry names a kernel; `None` if it means others.
fn rank(entry: &Entry, kernel: &Named) -> Option<(u8, bool, bool, usize)> {
    let place = match &entry.place {
        Place::Everywhere => return Some((3, false, false, 0)),
        // Of a kernel in a header, what is stated of one unit that includes it goes first.
        Place::At(paths) if paths.contains(&kernel.unit) => 2,
        Place::At(paths) if paths.contains(&kernel.own) => 1,
        Place::EndsIn(end) if kernel.own.ends_with(end) || kernel.unit.ends_with(end) => 0,
        _ => return None,
    };
    if entry.overload.is_some_and(|overload| overload != kernel.overload) {
        return None;
    }
    let wanted = squeezed(&entry.kernel);
    let is_named = |name: &str| {
        let name = squeezed(name);
        name == wanted || name.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with("::"))
    };
    let is_instance = kernel.instance != kernel.name && is_named(&kernel.instance);
    let is_it = is_instance || is_named(&kernel.name);
    is_it.then_some((place, entry.overload.is_some(), is_instance, wanted.len()))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn absolute(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}

fn named(program: &Program, function: FunctionId) -> Option<Named> {
    let instance = |function: FunctionId| {
        let function = &program.functions[function];
        match function.template_args.as_slice() {
            [] => function.name.clone(),
            arguments => format!("{}<{}>", function.name, arguments.join(", ")),
        }
    };
    let path = |function: FunctionId| {
        &program.sources.file(program.sources.visible(program.functions[function].span).file).path
    };
    let (_, unit) = program.sources.files().next()?;
    let alike = |&other: &FunctionId| instance(other) == instance(function) && path(other) == path(function);
    let overload = program.kernels.iter().copied().filter(alike).position(|other| other == function)? + 1;
    let name = program.functions[function].name.clone();
    let (own, unit) = (absolute(path(function)), absolute(&unit.path));
    Some(Named { own, unit, name, instance: instance(function), overload })
}

/// The kernels of a report, as contracts name them.
fn kernels_of(file: &FileReport) -> Vec<Named> {
    let path = |kernel: &KernelReport| kernel.path.clone().unwrap_or_else(|| file.path.clone());
    let alike =
        |one: &KernelReport, other: &KernelReport| one.instance() == other.instance() && path(one) == path(other);
    let named = |(at, kernel): (usize, &KernelReport)| Named {
        own: absolute(&path(kernel)),
        unit: absolute(&file.path),
        name: kernel.name.clone(),
        instance: kernel.instance(),
        overload: file.kernels[..=at].iter().filter(|other| alike(other, kernel)).count(),
    };
    file.kernels.iter().enumerate().map(named).collect()
}
