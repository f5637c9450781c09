//! Names of CUDA that the back end does not have, found in what the compiler says.
//!
//! A program that uses surfaces or numbers of 8 bits fails to compile, because the runtime does not declare them. What the
//! compiler says about that is true but does not say whose fault it is.

/// How names of CUDA begin that no program would give to its own things without having defined them.
const PREFIXES: &[&str] = &[
    "cuda",
    "cublas",
    "cufft",
    "cusparse",
    "cusolver",
    "curand",
    "cudnn",
    "nccl",
    "npp",
    "tex1D",
    "tex2D",
    "tex3D",
    "texCubemap",
    "surf1D",
    "surf2D",
    "surf3D",
    "surfCubemap",
    "texture",
    "surface",
    "half",
    "__half",
    "__float2half",
    "__nv_",
    "nv_bfloat",
    "__hadd",
    "__hmul",
    "__hfma",
    "nvcuda",
    "wmma",
    "thrust",
    "cub",
    "nvtx",
    "cooperative_groups",
    "cg",
    "__pipeline",
    "make_cuda",
    "dim3",
    "CU_",
    "cu",
];

/// What compilers say around a name that they do not know: gcc first, then clang.
const MARKS: &[&str] = &[
    "was not declared",
    "has not been declared",
    "does not name a type",
    "is not a member of",
    "undeclared identifier",
    "unknown type name",
    "no member named",
    "no template named",
    "is not a class, namespace",
];

/// The names, without repetition, in the order in which the compiler met them.
pub(super) fn names(messages: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in messages.lines().filter(|line| line.contains("error:")) {
        let name = missing_header(line).or_else(|| unknown_name(line));
        if let Some(name) = name.filter(|name| is_of_cuda(name) && !found.contains(name)) {
            found.push(name);
        }
    }
    found
}

/// `fatal error: cufft.h: No such file or directory`, and clang's `'cufft.h' file not found`.
fn missing_header(line: &str) -> Option<String> {
    let (before, _) = line.split_once(": No such file").or_else(|| line.split_once(" file not found"))?;
    let name = before.rsplit([' ', ':']).next()?.trim_matches('\'');
    Some(name.to_owned())
}

fn unknown_name(line: &str) -> Option<String> {
    MARKS.iter().find(|mark| line.contains(**mark))?;
    let name = line.split('\'').nth(1)?;
    Some(name.split('<').next().unwrap_or(name).trim_end_matches("::").to_owned())
}

fn is_of_cuda(name: &str) -> bool {
    PREFIXES.iter().any(|&prefix| match name.strip_prefix(prefix) {
        // Many words begin with these two letters; functions go on with a capital.
        Some(rest) if prefix == "cu" => rest.starts_with(|c: char| c.is_uppercase()),
        rest => rest.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cuda_are_found_and_those_of_the_user_are_not() {
        let messages = "\
a.cu:3:5: error: 'tex2D' was not declared in this scope; did you mean 'text'?
a.cu:4:5: error: 'my_function' was not declared in this scope
a.cu:5:1: error: 'cudaTextureObject_t' has not been declared
a.cu:6:5: error: 'tex2D' was not declared in this scope
b.cu:1:10: fatal error: cufft.h: No such file or directory
b.cu:2:10: fatal error: 'cuda_fp8.h' file not found
b.cu:9:10: error: use of undeclared identifier 'cudaGraphCreate'
";
        assert_eq!(names(messages), ["tex2D", "cudaTextureObject_t", "cufft.h", "cuda_fp8.h", "cudaGraphCreate"]);
    }

    #[test]
    fn other_errors_name_nothing() {
        assert!(names("a.cu:3:5: error: expected ';' before 'cudaFree'\n").is_empty());
    }
}
