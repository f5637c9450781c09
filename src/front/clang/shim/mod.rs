//! Declarations that stand in for the headers of CUDA, HIP, OpenCL and the standard library.
//!
//! With them a file parses where no toolkit and no system header is installed. They are never part of the
//! answer: what their names mean is the business of later rooms.

use crate::source::Dialect;

/// The declarations that precede the user's text.
pub(super) fn text(dialect: Dialect) -> String {
    match dialect {
        Dialect::Cuda => {
            concat!(include_str!("cuda.h"), include_str!("cub.h"), include_str!("structures.h")).to_owned()
        }
        Dialect::Hip => {
            concat!(include_str!("cuda.h"), include_str!("hip.h"), include_str!("cub.h"), include_str!("structures.h"))
                .to_owned()
        }
        Dialect::OpenCl(_) => include_str!("opencl.h").to_owned(),
    }
}
