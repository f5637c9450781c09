//! OpenCL kernels as a search needs them: in text that logs, and in text that counts.
//!
//! Deliberately absent: how near comparisons come to another outcome, which text for devices does not tell. Boundaries, the numbers of the
//! text, what the checker says, and draws have to do.

use super::Search;
use crate::driver::Options;
use crate::driver::described::Head;
use crate::driver::instrument::{InstrumentedFile, Purpose, instrument_to};
use crate::driver::prepared::guarded;
use crate::driver::run::{RunError, heads, opencl_unit, structures};
use crate::driver::told::{left_out, uncounted};
use crate::execute::opencl::{Structure, Trials};
use crate::execute::scratch::Scratch;
use crate::instrument::opencl::{Parameter, ParameterKind};
use std::path::Path;
use std::time::Duration;

/// A launch may make the device's compiler build its kernel for another size of work-groups: it has this many times as long.
const PATIENCE: u32 = 10;

/// The kernels of a file.
#[derive(Debug)]
pub(super) struct Texts {
    logging: InstrumentedFile,
    counting: [InstrumentedFile; 1],
    structs: Vec<Structure>,
    scratch: Scratch,
}

impl Texts {
    /// Reads a file.
    pub(super) fn read(path: &Path, text: &str, options: &Options, scratch: Scratch) -> Result<Texts, RunError> {
        let instrumented = |purpose: Purpose<'_>| {
            let unit = guarded(path, || instrument_to(purpose, path, text, options))?;
            unit.map_err(|cause| RunError::Instrument { path: path.to_path_buf(), cause })
        };
        let found: Vec<Head> = guarded(path, || heads(path, text, options))?;
        Ok(Texts {
            logging: instrumented(Purpose::Log)?,
            counting: [instrumented(Purpose::Cover)?],
            structs: found.into_iter().flat_map(structures).collect(),
            scratch,
        })
    }

    /// The text that counts.
    pub(super) fn counting(&self) -> &[InstrumentedFile] {
        &self.counting
    }

    /// Who tries launches of them.
    pub(super) fn trials(&self) -> Trials<'_> {
        let [counting] = &self.counting;
        Trials::new(opencl_unit(&self.logging, &self.structs), opencl_unit(counting, &self.structs), &self.scratch)
    }

    /// The parameters of a kernel that are pointers to local memory.
    pub(super) fn local(&self, kernel: &str) -> Vec<String> {
        let is_local = |parameter: &&Parameter| parameter.kind == ParameterKind::Local;
        let [counting] = &self.counting;
        let kernels = counting.unit.opencl.kernels.iter().filter(|it| it.name == kernel);
        kernels.flat_map(|it| &it.parameters).filter(is_local).map(|parameter| parameter.name.clone()).collect()
    }

    /// What code has no points, and what accesses nobody sees, as lines for the user.
    pub(super) fn notes(&self) -> Vec<String> {
        let [counting] = &self.counting;
        uncounted(counting, "not counted").into_iter().chain(left_out(&self.logging)).collect()
    }
}

/// When one launch is ended.
pub(super) fn timeout(plan: &Search) -> Duration {
    plan.timeout * PATIENCE
}
