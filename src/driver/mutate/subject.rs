//! What has mutants: a CUDA program that was built with all of them in it, or an OpenCL program, which is run with the text of one in the
//! place of its own.
//!
//! Which mutants there are of an OpenCL program, and which of them are reached, a run of it says that counts (`driver/hosted.rs`). A mutant
//! is reached if the statement is executed that it stands in.
//!
//! Guarantees: a mutant of an OpenCL program is the text that its difference shows, and no other; one that the program does not build, or
//! the driver's compiler does not take, is told as that.
//!
//! Deliberately absent: mutants of what OpenCL texts include, which would be mutants of other texts, too; mutants of launches that the
//! host code of an OpenCL program makes; other orders of work-items than the driver's.

use super::candidate::{Candidate, bytes, edited};
use super::listing;
use super::plan::MutateError;
use crate::driver::Options;
use crate::driver::cover::text_of;
use crate::driver::hosted::{HostRequest, HostText, Hosted, Records, run_host};
use crate::driver::instrument::InstrumentedFile;
use crate::driver::run::{Built, RunError, Stop};
use crate::execute::ExecuteError;
use crate::execute::opencl::counts::Counted;
use crate::execute::opencl::host::{Replaced, Substitution, Substitutions};
use crate::execute::program::{Program, Trial, Tried, try_out};
use crate::instrument::coverage::PointKind;
use crate::mutation::Mutant;
use crate::source::{FileId, Span};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// A program whose mutants are tried.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'b> {
    /// One that was built for the CPU.
    Built(&'b Built),
    /// One of OpenCL.
    Host(&'b Host),
}

/// An OpenCL program that has run once.
#[derive(Debug)]
pub struct Host {
    hosted: Hosted,
    substitutions: Substitutions,
}

/// How a run of a mutant went.
pub(super) enum Run {
    /// It ran.
    Tried(Tried),
    /// It is no program.
    Unviable(&'static str),
    /// The run was none of the mutant.
    NotBuilt,
}

impl Host {
    /// Runs a program to learn what it builds and reaches.
    pub fn learn(program: &[OsString], request: &HostRequest, stop: Stop<'_>) -> Result<Host, RunError> {
        let hosted = run_host(&HostRequest { records: Records::Mutants, ..request.clone() }, stop)?;
        Ok(Host { hosted, substitutions: Substitutions::of(program, stop)? })
    }

    /// What of the run could not be followed, and which texts have no mutants, as lines for the user.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.hosted.ran.told.iter().map(|told| told.message.clone()).collect();
        for (file, main) in self.mutated_files().filter_map(|file| Some((file, main_of(file)?))) {
            let path = file.sources.file(main).path.display().to_string();
            if is_not_whole(&file.sources.file(main).text) {
                remarks.push(format!("{path}: not mutated: it is not UTF-8"));
            }
            if file.unit.mutants.iter().any(|mutant| mutant.span.file != main) {
                remarks.push(format!("{path}: not mutated: what it includes"));
            }
        }
        remarks
    }

    /// What code has no mutants that would have some elsewhere, as lines for the user, each once.
    pub fn unmutated(&self) -> &[String] {
        &self.hosted.left_out
    }

    /// Whether kernels were launched at all.
    pub fn has_launched(&self) -> bool {
        !self.hosted.ran.launched.is_empty()
    }

    fn mutated_files(&self) -> impl Iterator<Item = &InstrumentedFile> {
        self.hosted.texts.iter().map(|text| &text.file)
    }

    /// The mutants of all texts, each once and in the order of the texts, and those of them that are reached, by number.
    fn list(&self) -> (Vec<Candidate>, BTreeSet<usize>) {
        let mut found: Vec<(Candidate, bool)> = Vec::new();
        for candidate in listing::list(self.mutated_files()) {
            let text = &self.hosted.texts[candidate.file];
            let Some(main) = main_of(&text.file).filter(|main| candidate.of_unit.span.file == *main) else { continue };
            if is_not_whole(&text.file.sources.file(main).text) {
                continue;
            }
            // What could not be followed may have been reached.
            let is_reached = self.hosted.unlogged > 0 || is_reached(&text.file, &text.counted, candidate.of_unit.span);
            // A text may be built in several ways.
            let is_same = |(known, _): &&mut (Candidate, bool)| {
                (&known.mutant.file, known.mutant.operator) == (&candidate.mutant.file, candidate.mutant.operator)
                    && known.of_unit.edits == candidate.of_unit.edits
            };
            match found.iter_mut().find(is_same) {
                Some((_, known)) => *known |= is_reached,
                None => found.push((candidate, is_reached)),
            }
        }
        let place = |mutant: &Mutant| (mutant.file.clone(), mutant.start.line, mutant.start.column, mutant.id);
        found.sort_by_key(|(candidate, _)| place(&candidate.mutant));
        let reached = (0..found.len()).filter(|&number| found[number].1).collect();
        let numbered = |(number, (mut candidate, _)): (usize, (Candidate, bool))| {
            candidate.mutant.id = number + 1;
            candidate
        };
        (found.into_iter().enumerate().map(numbered).collect(), reached)
    }

    fn try_out(&self, of: Option<&Candidate>, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Run, ExecuteError> {
        let changed = of.and_then(|candidate| {
            let sources = &self.hosted.texts[candidate.file].file.sources;
            let text = &*sources.file(candidate.of_unit.span.file).text;
            Some((text, edited(text, &candidate.of_unit.edits)))
        });
        let replaced = changed.as_ref().map(|(text, by)| Replaced { text, by });
        let (tried, became) = self.substitutions.try_out(replaced, trial, stop)?;
        Ok(match became {
            _ if of.is_none() => Run::Tried(tried),
            Substitution::Built => Run::Tried(tried),
            Substitution::Refused => Run::Unviable("the driver's compiler does not take it"),
            Substitution::NotWanted => Run::NotBuilt,
        })
    }
}

/// The file that a text is.
fn main_of(file: &InstrumentedFile) -> Option<FileId> {
    file.sources.files().next().map(|(main, _)| main)
}

/// Whether a text is not what the program has, whose bytes are no UTF-8.
fn is_not_whole(text: &str) -> bool {
    text.contains(char::REPLACEMENT_CHARACTER)
}

/// Whether the statement of a place is executed: the innermost one that has the place in it.
fn is_reached(file: &InstrumentedFile, counted: &Counted, place: Span) -> bool {
    let holds = |span: &Span| {
        let span = file.sources.visible(*span);
        (span.file == place.file && span.start <= place.start && place.end <= span.end).then(|| bytes(span).len())
    };
    let runs = file.unit.points.iter().zip(&counted.points).filter_map(|(point, counts)| match &point.kind {
        PointKind::Run(statements) => Some((statements.iter().filter_map(holds).min()?, counts[0])),
        _ => None,
    });
    runs.min_by_key(|(length, _)| *length).is_none_or(|(_, times)| times > 0)
}

impl<'b> Subject<'b> {
    /// Its instrumented files, in the order of its units or of its builds.
    pub(super) fn mutated_files(self) -> Vec<&'b InstrumentedFile> {
        match self {
            Subject::Built(built) => built.instrumented_files().iter().collect(),
            Subject::Host(host) => host.mutated_files().collect(),
        }
    }

    /// The text of a file.
    pub fn text_at(self, path: &str) -> Option<&'b str> {
        text_of(self.mutated_files().into_iter(), path)
    }

    /// How a file is read whose mutants may be proved something of; of a text that is built in several ways nothing is.
    pub(super) fn reading(self, file: usize, of_request: &Options) -> Option<Options> {
        match self {
            Subject::Built(_) => Some(of_request.clone()),
            Subject::Host(host) => {
                let path = |file: &InstrumentedFile| file.sources.files().next().map(|(_, main)| main.path.clone());
                let HostText { file: own, options, counted } = &host.hosted.texts[file];
                if host.mutated_files().filter(|other| path(other) == path(own)).count() > 1 {
                    return None;
                }
                let mut options = options.clone();
                // Proofs are of its launches, as far as these have no extent along an axis.
                let flat = |extents: [u32; 3]| extents.map(|extent| (extent == 1).then_some(1));
                [options.judging.block, options.judging.grid] = counted.largest.map(flat);
                Some(options)
            }
        }
    }

    /// Its mutants, and the numbers of those that are reached, if that is known before the program has run as it is.
    pub(super) fn list(self) -> Result<(Vec<Candidate>, Option<BTreeSet<usize>>), MutateError> {
        match self {
            Subject::Built(built) => {
                built.program().ok_or(MutateError::NotOfCpu)?;
                Ok((listing::list(built.instrumented_files().iter()), None))
            }
            Subject::Host(host) => {
                let (found, reached) = host.list();
                Ok((found, Some(reached)))
            }
        }
    }

    /// Runs the program, or a mutant of it.
    pub(super) fn try_out(
        self,
        of: Option<&Candidate>,
        trial: &Trial<'_>,
        stop: Stop<'_>,
    ) -> Result<Run, ExecuteError> {
        match self {
            Subject::Built(built) => {
                let program: Option<&Program> = built.program();
                let Some(program) = program else { return Ok(Run::NotBuilt) };
                try_out(program, trial, stop).map(Run::Tried)
            }
            Subject::Host(host) => host.try_out(of, trial, stop),
        }
    }
}
