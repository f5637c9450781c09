//! The flow of inputs to accesses, kernel by kernel, for whoever composes it with something else.

use super::{Options, model, read, selected};
use crate::calculus::Kernel;
use crate::flow::{Flow, analyze};
use std::path::Path;

/// A kernel and its flow.
#[derive(Debug)]
pub struct KernelFlow {
    /// The kernel.
    pub kernel: Kernel,
    /// What reaches its accesses.
    pub flow: Flow,
}

/// The kernels of a file that the options ask for, in source order.
pub fn flows(path: &Path, text: &str, options: &Options) -> Vec<KernelFlow> {
    let program = read(path, text, options).program;
    let kernels = selected(&program, options).map(|function| model(&program, function, options).0);
    kernels.map(|kernel| KernelFlow { flow: analyze(&kernel), kernel }).collect()
}
