//! Reproductions: from a race with a witness to files that show it, which may be sent to somebody else.
//!
//! The story: [`launch_of`] turns the witness into a [`Plan`] (memory, sizes, scalars, the instance of a template), for
//! which [`needs`] runs the kernel in raceproof's own semantics; [`slice()`] takes the kernel and what it needs out of the
//! user's text; [`Draft`] puts both together: for CUDA one file with a `main`, for OpenCL the kernel with a launch
//! description and a file for Oclgrind beside it. [`store`] names the files and writes them.
//!
//! Guarantees: lines of the kernel are the user's own, and each race is told by its lines in the new file and in the old
//! one; what cannot be written is refused by name; only files that an earlier reproduction has written are overwritten;
//! nothing is compiled or executed.
//!
//! Deliberately absent: reading source text, judging it, and running what was written (`raceproof run` does).

mod cuda;
mod directives;
mod draft;
mod needs;
mod nodes;
mod opencl;
mod plan;
mod slice;
mod standard;
mod store;
mod witness;

pub use draft::{Draft, DraftError, Origin, RaceText, Shown, draft};
pub use needs::{Needs, measure};
pub use plan::{Given, Memory, Plan, PlanError, Subject, default, plan};
pub use slice::{ParameterText, Slice, SliceError, Unit, slice};
pub use store::{Store, StoreError};
pub use witness::{launch_of, proved_race, shown_race};
