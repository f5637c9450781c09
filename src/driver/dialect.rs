//! Which language, and which variant of it, a file is read as.
//!
//! The command line decides, then the build (`-x`, `-cl-std`), then the extension. A `.cu` file that includes HIP's
//! headers or calls functions of its interface, and none of CUDA's, is HIP: that is how ported programs keep their names.
//! Versions of OpenCL C are also taken from `-D __OPENCL_C_VERSION__=…`.

use super::Options;
use crate::preprocess::commands::Flags;
use crate::source::discover;
use crate::source::{Dialect, Language, OpenClVersion, embedded};
use std::path::Path;

/// The language of `path`: what the options say, else what the build or its extension says, else CUDA.
pub fn language_of(path: &Path, options: &Options) -> Language {
    let flags = options.commands.as_deref().and_then(|commands| commands.flags(path));
    named(path, flags, options).unwrap_or(Dialect::Cuda).language()
}

/// What `text` is read as.
pub(super) fn dialect_of(path: &Path, text: &str, flags: Option<&Flags>, options: &Options) -> Dialect {
    match named(path, flags, options) {
        Some(Dialect::OpenCl(OpenClVersion::Unstated)) => Dialect::OpenCl(version(flags, options)),
        Some(dialect) => dialect,
        None if is_hip(text) => Dialect::Hip,
        None if is_opencl(path, text) => Dialect::OpenCl(version(flags, options)),
        None => Dialect::Cuda,
    }
}

/// What is said about `path` without a look at its text; nothing for a `.cu` file, which may be either.
fn named(path: &Path, flags: Option<&Flags>, options: &Options) -> Option<Dialect> {
    let of_extension = || discover::dialect_of(path).filter(|&dialect| dialect != Dialect::Cuda);
    options.dialect.or_else(|| flags.and_then(|flags| flags.dialect)).or_else(of_extension)
}

fn version(flags: Option<&Flags>, options: &Options) -> OpenClVersion {
    let defined = |name: &str| {
        let of_build = flags.into_iter().flat_map(|flags| &flags.defines);
        let found = options.defines.iter().chain(of_build).find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.trim().parse().ok()).map(OpenClVersion::from_number)
    };
    let stated = defined("__OPENCL_C_VERSION__").or_else(|| flags.and_then(|flags| flags.opencl));
    stated.or_else(|| defined("__OPENCL_VERSION__")).unwrap_or(OpenClVersion::Unstated)
}

/// Whether a file whose name does not say so holds kernels in OpenCL.
fn is_opencl(path: &Path, text: &str) -> bool {
    discover::dialect_of(path).is_none() && embedded::language_of_kernels(text) == Some(Language::OpenCl)
}

/// Whether the text includes HIP's headers or calls HIP's functions, and has none of CUDA's.
fn is_hip(text: &str) -> bool {
    // Where a header of the program includes HIP's, only the calls tell.
    let mut found = calls(text, "hip") && !calls(text, "cuda");
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let Some(header) = directive.trim_start().strip_prefix("include") else { continue };
        let header = header.trim_start().trim_start_matches(['<', '"']);
        if header.starts_with("cuda") {
            return false;
        }
        found |= header.starts_with("hip/");
    }
    found
}

/// Whether a function is called whose name is a prefix with a word behind it: `hipMalloc(`.
fn calls(text: &str, prefix: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(prefix).any(|(at, _)| {
        let rest = &text[at + prefix.len()..];
        let after = rest.trim_start_matches(is_letter);
        let is_word = !text[..at].ends_with(is_letter) && rest.starts_with(|c: char| c.is_ascii_uppercase());
        is_word && after.trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(path: &str, text: &str, flags: &str, defines: &[(&str, &str)]) -> Dialect {
        let words: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        let flags = Flags::of(&words, Path::new("/build"));
        let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let options = Options { defines, ..Options::default() };
        dialect_of(Path::new(path), text, Some(&flags), &options)
    }

    #[test]
    fn hip_is_known_by_extension_by_flag_and_by_its_headers() {
        assert_eq!(dialect("k.hip", "", "", &[]), Dialect::Hip);
        assert_eq!(dialect("k.cu", "", "hipcc -x hip", &[]), Dialect::Hip);
        assert_eq!(dialect("k.cu", "  # include <hip/hip_runtime.h>\n", "", &[]), Dialect::Hip);
        assert_eq!(dialect("k.cu", "#include <hip/hip_runtime.h>\n#include <cuda.h>\n", "", &[]), Dialect::Cuda);
        assert_eq!(dialect("k.cu", "// hip/hip_runtime.h", "nvcc", &[]), Dialect::Cuda);
        assert_eq!(dialect("k.cu", "#include \"own.h\"\n hipLaunchKernelGGL(k, 1, 32, 0, 0);", "", &[]), Dialect::Hip);
        assert_eq!(dialect("k.cu", "hipMalloc (&p, 4); cudaFree(q);", "", &[]), Dialect::Cuda);
        assert_eq!(dialect("k.cu", "int hips(); int shipMalloc(); hipster();", "", &[]), Dialect::Cuda);
        assert_eq!(dialect("k.hip", "", "hipcc -xcuda", &[]), Dialect::Cuda);
    }

    #[test]
    fn the_version_of_opencl_is_what_the_build_or_a_macro_says() {
        let version = |flags, defines: &[(&str, &str)]| dialect("k.cl", "", flags, defines);
        assert_eq!(version("", &[]), Dialect::OpenCl(OpenClVersion::Unstated));
        assert_eq!(version("clang -cl-std=CL1.2", &[]), Dialect::OpenCl(OpenClVersion::V1_2));
        assert_eq!(version("clang -std=cl3.0", &[]), Dialect::OpenCl(OpenClVersion::V3_0));
        assert_eq!(version("clang -x cl -D__OPENCL_VERSION__=110", &[]), Dialect::OpenCl(OpenClVersion::V1_1));
        let typed = [("__OPENCL_C_VERSION__", "200")];
        assert_eq!(version("clang -cl-std=CL1.2", &typed), Dialect::OpenCl(OpenClVersion::V2_0));
    }
}
