//! How clang is called for each dialect.
//!
//! Headers, libraries and tools are looked for nowhere: the text carries declarations of its own, in front of the
//! preprocessed tokens. Only code for the device is analysed.

use crate::source::{Dialect, OpenClVersion};

/// The arguments for a text in `dialect`.
pub(super) fn arguments(dialect: Dialect) -> Vec<String> {
    let own: &[&str] = match dialect {
        Dialect::Cuda => CUDA,
        Dialect::Hip => HIP,
        Dialect::OpenCl(_) => OPENCL,
    };
    let standard = match dialect {
        Dialect::OpenCl(version) => standard(version),
        Dialect::Cuda | Dialect::Hip => "-std=c++17",
    };
    own.iter().chain([&standard]).chain(COMMON).map(|&argument| argument.to_owned()).collect()
}

/// The versions to try after the first where nobody says which one a program is written in: old programs use words
/// as names that newer versions reserve.
pub(super) fn alternatives(dialect: Dialect) -> &'static [Dialect] {
    match dialect {
        Dialect::OpenCl(OpenClVersion::Unstated) => {
            &[Dialect::OpenCl(OpenClVersion::V3_0), Dialect::OpenCl(OpenClVersion::V1_2)]
        }
        _ => &[],
    }
}

const CUDA: &[&str] = &[
    "-x",
    "cuda",
    "--cuda-device-only",
    "-nocudainc",
    "-nocudalib",
    "--cuda-gpu-arch=sm_75",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
];

const HIP: &[&str] = &[
    "-x",
    "hip",
    "--cuda-device-only",
    "-nogpuinc",
    "-nogpulib",
    "--offload-arch=gfx906",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
];

const OPENCL: &[&str] = &["-x", "cl", "-cl-no-stdinc", "-target", "spir64", "-Xclang", "-fdeclare-opencl-builtins"];

const COMMON: &[&str] = &["-nostdinc", "-nostdinc++", "-ferror-limit=0", "-fsyntax-only", "-w"];

fn standard(version: OpenClVersion) -> &'static str {
    match version {
        // `printf` came with 1.2, and earlier by extensions that every device has.
        OpenClVersion::V1_0 | OpenClVersion::V1_1 | OpenClVersion::V1_2 => "-cl-std=CL1.2",
        OpenClVersion::V2_0 | OpenClVersion::Unstated => "-cl-std=CL2.0",
        OpenClVersion::V3_0 => "-cl-std=CL3.0",
    }
}
