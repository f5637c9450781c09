//! Kernels between lowering and judgement, for whoever changes one and asks for its verdict again.
//!
//! [`Subjects::read`] reads a file as a check does; [`Subject::judge`] judges a kernel that was lowered from it, or
//! what somebody made of it, on the very path of a check: invariants, claims, proofs, runs. So whoever breaks a
//! kernel on purpose can see whether the proofs notice.
//!
//! Deliberately absent: what to change, and what a verdict ought to be.

use super::isolate::{Panic, isolated};
use super::passes::{lowered, strengthened};
use super::{Options, report_on, selected};
use crate::calculus::Kernel;
use crate::diagnostic::report::KernelReport;
use crate::judge::scopes;
use crate::launch::{self, Launched};
use crate::prove::Scope;
use crate::resolve::program::FunctionId;
use crate::source::{Language, SourceMap};
use std::path::Path;

/// The kernels of one file.
pub struct Subjects {
    file: Launched,
}

/// One of them.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    file: &'a Launched,
    function: FunctionId,
}

/// A verdict and what it is about.
#[derive(Debug)]
pub struct Judged {
    /// The verdict.
    pub report: KernelReport,
    /// The sets of launches that it is about; empty if it is about none.
    pub scopes: Vec<Scope>,
}

impl Subjects {
    /// Reads the text of a file. A panic is an error.
    pub fn read(path: &Path, text: &str, options: &Options) -> Result<Subjects, Panic> {
        isolated(|| Subjects { file: super::read(path, text, options).launched })
    }

    /// The kernels that the options ask for, in source order.
    pub fn selected<'a>(&'a self, options: &'a Options) -> impl Iterator<Item = Subject<'a>> {
        selected(&self.file.program, options).map(|function| Subject { file: &self.file, function })
    }

    /// Where their spans point.
    pub fn sources(&self) -> &SourceMap {
        &self.file.program.sources
    }

    /// The language of the file.
    pub fn written_in(&self) -> Language {
        self.file.program.language
    }
}

impl Subject<'_> {
    /// The kernel as it is lowered, with what its launches in the file say. A panic is an error.
    pub fn lower(&self, options: &Options) -> Result<Kernel, Panic> {
        isolated(|| lowered(self.file, self.function, options))
    }

    /// The verdict on `kernel`, which was lowered from this subject and may have been changed since. A panic is an
    /// error.
    pub fn judge(&self, kernel: Kernel, options: &Options) -> Result<Judged, Panic> {
        isolated(|| {
            let (report, kernel) = report_on(self.file, self.function, strengthened(kernel, options, None), options);
            let scopes = self.scopes(&report, &kernel, options);
            Judged { report, scopes }
        })
    }

    /// The sets of launches that a verdict holds for: the attempt that reached it.
    fn scopes(&self, report: &KernelReport, kernel: &Kernel, options: &Options) -> Vec<Scope> {
        let Some(reached) = &report.scope else { return Vec::new() };
        let (launches, _) = launch::facts(self.file, self.function);
        scopes::of_kind(kernel, &launches, &options.judging, &reached.kind)
    }
}
