//! Declarations that stand in for the headers of CUDA, OpenCL and the standard library.
//!
//! With them a file parses where no toolkit and no system header is installed. They are never part of the
//! answer: what their names mean is the business of later rooms.

use crate::preprocess::Output;
use crate::source::Language;

/// The declarations that precede the user's text.
pub(super) fn text(language: Language, _output: &Output) -> String {
    match language {
        Language::Cuda => include_str!("cuda.h").to_owned(),
        Language::OpenCl => include_str!("opencl.h").to_owned(),
    }
}
