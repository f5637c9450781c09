//! The flow of inputs to accesses, kernel by kernel, for whoever composes it with something else.

use super::passes::model;
use super::{Options, read, selected};
use crate::calculus::Kernel;
use crate::flow::{Flow, analyze};
use crate::source::SourceMap;
use std::path::Path;

/// The kernels of one file.
#[derive(Debug)]
pub struct FileFlows {
    /// Those that the options ask for, in source order.
    pub kernels: Vec<KernelFlow>,
    /// The files that spans point into.
    pub sources: SourceMap,
    /// `path:line` where the text names `__CUDA_ARCH__`, by which another compiler may see another text.
    pub architecture: Option<String>,
}

/// A kernel and its flow.
#[derive(Debug)]
pub struct KernelFlow {
    /// The kernel.
    pub kernel: Kernel,
    /// What reaches its accesses.
    pub flow: Flow,
}

/// The kernels of a file, and what decides their accesses.
pub fn flows(path: &Path, text: &str, options: &Options) -> FileFlows {
    let file = read(path, text, options).launched;
    let kernels = selected(&file.program, options).map(|function| model(&file, function, options).kernel);
    let kernels = kernels.map(|kernel| KernelFlow { flow: analyze(&kernel), kernel }).collect();
    let architecture = architecture(&file.program.sources);
    FileFlows { kernels, sources: file.program.sources, architecture }
}

/// Where the files name the macro of the architecture, line comments apart.
fn architecture(sources: &SourceMap) -> Option<String> {
    // Raceproof's own text defines it.
    let own = |path: &Path| path.to_string_lossy().starts_with('<');
    sources.files().filter(|(_, file)| !own(&file.path)).find_map(|(_, file)| {
        let mut lines = file.text.lines().map(|line| line.split("//").next().unwrap_or(line));
        let line = lines.position(|line| line.contains("__CUDA_ARCH__"))?;
        Some(format!("{}:{}", file.path.display(), line + 1))
    })
}
